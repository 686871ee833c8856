"""The functions of `scipy.special` on traced numbers, if SciPy is installed: for one element, or for a whole
array.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import math
import sys
from fractions import Fraction

import numpy as np

from .functions import MATH, apply_elementary, apply_to, element_version, require_domain
from .scalars import CannotTrace, NoRealValue, Scalar


def _half_root(x):
    """x over the square root of 2."""
    return x / x.trace.constant(2) ** x.trace.constant(0.5)


def _expit(x):
    return 1 / (1 + apply_elementary("exp", -x))


def _logit(x):
    return apply_elementary("log", x / (1 - x), False)


def _ndtr(x):
    return apply_elementary("erfc", -_half_root(x)) / 2


def _ndtri(p):
    return apply_elementary("erfinv", 2 * p - 1, False) * p.trace.constant(2) ** p.trace.constant(0.5)


def _gammaln(x):
    return apply_elementary("loggamma", x, False)


def _gamma(x):
    return apply_elementary("gamma", x, False)


def _beta(a, b):
    return _gamma(a) * _gamma(b) / _gamma(a + b)


def _betaln(a, b):
    return _gammaln(a) + _gammaln(b) - _gammaln(a + b)


def _binom(n, k):
    return _gamma(n + 1) / (_gamma(k + 1) * _gamma(n - k + 1))


def _xlogy(x, y):
    return x * apply_elementary("log", y, False)


def _rel_entr(x, y):
    return x * apply_elementary("log", x / y, False)


def _boxcox(x, power):
    return apply_elementary("log", x, False) if power == 0 else (x**power - 1) / power


def _inv_boxcox(y, power):
    return apply_elementary("exp", y) if power == 0 else (1 + power * y) ** (1 / power)


def _huber(delta, r):
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def _pseudo_huber(delta, r):
    return delta * delta * (apply_elementary("sqrt", 1 + (r / delta) ** 2) - 1)


def _bessel(name, order=None, times=None):
    """A Bessel or Struve function of a given `order`, or of an order and a number; `times(x)` is a factor.
    For negative numbers only integer orders have values.
    """

    def of(*xs):
        v, x = xs if order is None else (xs[0].trace.constant(order), *xs)
        if not _is_whole(v):
            require_domain(x, ">=", 0, name)
        value = apply_to(name, v, x)
        return value if times is None else value * times(x)

    return _lifted(of)


def _is_whole(x):
    return x.is_constant and x.shadow == int(x.shadow)


def _of_whole_order(on_scalars):
    """For a function whose order SciPy truncates to an int: any other order stops the trace."""

    def of(n, x):
        return on_scalars(n, x) if _is_whole(n) else n.__float__()

    return _lifted(of)


def _of_count(on_scalars):
    """For a function that truncates its first argument to an int: any other value stops the trace."""

    def of(k, *xs):
        return on_scalars(k, *xs) if _is_whole(k) else k.__float__()

    return _lifted(of)


def _bessel_slope(value, sign):
    """The n-th derivative: n times, half the sum of the function of lower order and `sign` times that of
    higher order.
    """

    def of(v, x, n=1):
        if n == 0:
            return value(v, x)
        return (of(v - 1, x, n - 1) + sign * of(v + 1, x, n - 1)) / 2

    return of


def _decaying(x):
    return apply_elementary("exp", -abs(x))


def _growing(x):
    return apply_elementary("exp", x)


def _lambertw(x, k=0, tol=1e-8):
    if k != 0 or isinstance(k, Scalar):
        why = "only the principal one is followed"
        x.trace.halt(CannotTrace("scipy.special.lambertw on another branch", why=why))
    if x <= -apply_elementary("exp", x.trace.constant(-1)):
        x.trace.halt(NoRealValue("lambertw outside its domain"))
    return apply_elementary("LambertW", x, False)


def _zeta(x, q=None):
    return apply_to("zeta", x) if q is None else _lifted(_hurwitz)(x, q)


def _hurwitz(x, q):
    require_domain(x, ">", 1, "zeta")
    require_domain(q, ">", 0, "zeta")
    return apply_to("zeta", x, q)


def _ellipe(m):
    require_domain(m, "<=", 1, "ellipe")
    return apply_to("elliptic_e", m)


def _ellipeinc(phi, m):
    require_domain(m, "<=", 1, "ellipeinc")
    return apply_to("elliptic_e", phi, m)


def _ellipj(u, m):
    amplitude = apply_to("jacobi_am", u, m)
    sn = apply_elementary("sin", amplitude)
    return sn, apply_elementary("cos", amplitude), (1 - m * sn * sn) ** Fraction(1, 2), amplitude


def _with_pole(name, other):
    """A function with a value at 0, paired with one that is minus infinity there."""

    def of(x):
        at_pole = x.trace.constant(-math.inf) if x.shadow == 0 else apply_to(other, x)
        return apply_to(name, x), at_pole

    return of


def _named(name):
    return _lifted(functools.partial(apply_to, name))


def _in_degrees(name):
    return lambda x: apply_elementary(name, x * math.pi / 180)


def _polygamma(n, x):
    if isinstance(n, Scalar) or n != int(n) or n < 0:
        return x.__float__()  # stops the trace: there is no such function
    if n in (0, 1):
        return apply_elementary("digamma" if n == 0 else "trigamma", x)
    return apply_to("polygamma", x.trace.constant(int(n)), x)


def _multigammaln(a, d):
    logs = sum(_gammaln(a - Fraction(j, 2)) for j in range(int(d)))
    return logs + int(d) * (int(d) - 1) / 4 * math.log(math.pi)


def _hyp1f1(a, b, x):
    """Two elementary cases (DLMF 13.6.1, 13.3.3), else the function itself."""
    parameters = [p.shadow if p.is_constant else None for p in (a, b)]
    if parameters == [1, 2]:
        return (apply_elementary("exp", x) - 1) / x
    if parameters == [2, 3]:
        return 2 * (apply_elementary("exp", x) * (x - 1) + 1) / (x * x)
    return apply_to("hyp1f1", a, b, x)


def _elliprd(x, y, z):
    """The complete integral, in terms of the classical ones (DLMF 19.25.1); others stop the trace."""
    if x.is_constant and x.shadow == 0:
        if y.is_constant and y.shadow == 1:
            first, second = apply_to("elliptic_k", 1 - z), apply_to("elliptic_e", 1 - z)
            return 3 * (second - z * first) / (z * (1 - z))
        if z.is_constant and z.shadow == 1:
            return 3 * (apply_to("elliptic_k", 1 - y) - apply_to("elliptic_e", 1 - y)) / (1 - y)
    return x.__float__()


def _airy(x):
    return tuple(apply_to(name, x) for name in ("airyai", "airyaiprime", "airybi", "airybiprime"))


def _dawsn(x):
    return apply_elementary("exp", -x * x) * apply_to("erfi", x) * math.sqrt(math.pi) / 2


def _spherical(name, sign):
    """A spherical Bessel function of integer order; its derivative is `n / x f(n) + sign f(n + 1)` (DLMF
    10.51.2).
    """

    def of_order(n, x):
        return apply_to(name, x.trace.constant(n + Fraction(1, 2)), x) * (math.pi / (2 * x)) ** Fraction(1, 2)

    def of(n, x, derivative=False):
        n = int(n)
        require_domain(x, ">", 0, name)
        return n / x * of_order(n, x) + sign * of_order(n + 1, x) if derivative else of_order(n, x)

    return of


def _of_degree(on_scalars):
    """A polynomial of integer degree; any other degree stops the trace."""

    def of(n, *xs):
        return on_scalars(int(n.shadow), *xs) if _is_whole(n) and n.shadow >= 0 else n.__float__()

    return _lifted(of)


def _by_recurrence(start, step):
    """Return the n-th polynomial of a recurrence: `start(*xs)` gives the first two polynomials, `step(n,
    *xs)` the factors of the last two for the n-th.
    """

    def of(n, *xs):
        before, last = start(*xs)
        if n == 0:
            return before
        for k in range(2, n + 1):
            by_last, by_before = step(k, *xs)
            before, last = last, by_last * last + by_before * before
        return last

    return of


def _one(x):
    return x.trace.constant(1)


# The recurrences of DLMF 18.9.1-2.
_gegenbauer = _by_recurrence(
    lambda a, x: (_one(x), 2 * a * x), lambda k, a, x: (2 * (k + a - 1) * x / k, -(k + 2 * a - 2) / k)
)
_laguerre = _by_recurrence(
    lambda a, x: (_one(x), 1 + a - x), lambda k, a, x: ((2 * k - 1 + a - x) / k, -(k - 1 + a) / k)
)
_chebyt = _by_recurrence(lambda x: (_one(x), x), lambda k, x: (2 * x, -_one(x)))
_chebyu = _by_recurrence(lambda x: (_one(x), 2 * x), lambda k, x: (2 * x, -_one(x)))
_hermite = _by_recurrence(lambda x: (_one(x), 2 * x), lambda k, x: (2 * x, -2 * (k - 1) * _one(x)))
_hermitenorm = _by_recurrence(lambda x: (_one(x), x), lambda k, x: (x, -(k - 1) * _one(x)))


def _legendre(n, x):
    return _gegenbauer(n, x.trace.constant(Fraction(1, 2)), x)


def _falling_binomial(z, k):
    product = z * 0 + 1
    for j in range(k):
        product = product * (z - j) / (j + 1)
    return product


def _jacobi(n, a, b, x):
    """The sum of DLMF 18.5.8."""
    return sum(
        _falling_binomial(n + a, n - s) * ((x - 1) / 2) ** s
        * (_falling_binomial(n + b, s) * ((x + 1) / 2) ** (n - s))
        for s in range(n + 1)
    )


def _sh_jacobi(n, p, q, x):
    return _jacobi(n, p - q, q - 1, 2 * x - 1) / _falling_binomial(2 * n + p - 1, n)


def _gdtr(a, b, x):
    return apply_to("gammainc", b, a * x)


def _chdtr(v, x):
    return apply_to("gammainc", v / 2, x / 2)


def _fdtr(n, d, x):
    return apply_to("betainc", n / 2, d / 2, n * x / (d + n * x))


def _stdtr(df, t):
    tail = apply_to("betainc", df / 2, t.trace.constant(Fraction(1, 2)), df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


def _pdtrc(k, m):
    return apply_to("gammainc", k + 1, m)


def _bdtrc(k, n, p):
    return apply_to("betainc", k + 1, n - k, p)


def _nbdtr(k, n, p):
    return apply_to("betainc", n, k + 1, p)


def _diric(x, n):
    return apply_elementary("sin", n * x / 2) / (n * apply_elementary("sin", x / 2))


def _lifted(on_scalars):
    """`on_scalars` with all of its arguments converted to traced numbers."""

    def of(*xs):
        trace = next(x.trace for x in xs if isinstance(x, Scalar))
        return on_scalars(*map(trace.constant, xs))

    return of


# The version for one element.
_SPECIAL = {
    name: MATH[name](False) for name in ("erf", "erfc", "log1p", "expm1", "exp2", "cbrt")
} | {
    "gamma": _gamma,
    "rgamma": lambda x: 1 / _gamma(x),
    "gammaln": _gammaln,
    "loggamma": lambda x: apply_elementary("loggamma", x),
    "multigammaln": _multigammaln,
    "gammasgn": lambda x: 1.0 if _gamma(x) > 0 else -1.0,
    "digamma": functools.partial(apply_elementary, "digamma", raising=False),
    "psi": functools.partial(apply_elementary, "digamma", raising=False),
    "polygamma": _polygamma,
    "erfi": _named("erfi"),
    "dawsn": _dawsn,
    "owens_t": _named("owens_t"),
    "spence": _named("spence"),
    "airy": _airy,
    "spherical_jn": _spherical("besselj", -1),
    "spherical_yn": _spherical("bessely", -1),
    "spherical_in": _spherical("besseli", 1),
    "spherical_kn": _spherical("besselk", -1),
    "elliprd": _lifted(_elliprd),
    "hyp0f1": _named("hyp0f1"),
    "hyperu": _named("hyperu"),
    "eval_legendre": _of_degree(_legendre),
    "eval_sh_legendre": _of_degree(lambda n, x: _legendre(n, 2 * x - 1)),
    "eval_chebyt": _of_degree(_chebyt),
    "eval_chebyu": _of_degree(_chebyu),
    "eval_chebyc": _of_degree(lambda n, x: 2 * _chebyt(n, x / 2)),
    "eval_chebys": _of_degree(lambda n, x: _chebyu(n, x / 2)),
    "eval_sh_chebyt": _of_degree(lambda n, x: _chebyt(n, 2 * x - 1)),
    "eval_sh_chebyu": _of_degree(lambda n, x: _chebyu(n, 2 * x - 1)),
    "eval_laguerre": _of_degree(lambda n, x: _laguerre(n, x.trace.constant(0), x)),
    "eval_genlaguerre": _of_degree(_laguerre),
    "eval_gegenbauer": _of_degree(_gegenbauer),
    "eval_jacobi": _of_degree(_jacobi),
    "eval_sh_jacobi": _of_degree(_sh_jacobi),
    "eval_hermite": _of_degree(_hermite),
    "eval_hermitenorm": _of_degree(_hermitenorm),
    "chdtr": _lifted(_chdtr),
    "chdtrc": _lifted(lambda v, x: 1 - _chdtr(v, x)),
    "fdtr": _lifted(_fdtr),
    "fdtrc": _lifted(lambda n, d, x: 1 - _fdtr(n, d, x)),
    "stdtr": _lifted(_stdtr),
    "gdtr": _lifted(_gdtr),
    "gdtrc": _lifted(lambda a, b, x: 1 - _gdtr(a, b, x)),
    "pdtr": _of_count(lambda k, m: 1 - _pdtrc(k, m)),
    "pdtrc": _of_count(_pdtrc),
    "bdtr": _of_count(lambda k, n, p: 1 - _bdtrc(k, n, p)),
    "bdtrc": _of_count(_bdtrc),
    "nbdtr": _lifted(_nbdtr),
    "nbdtrc": _lifted(lambda k, n, p: 1 - _nbdtr(k, n, p)),
    "nrdtrimn": _lifted(lambda p, std, x: x - std * _ndtri(p)),
    "nrdtrisd": _lifted(lambda mn, p, x: (x - mn) / _ndtri(p)),
    "ndtri_exp": lambda y: _ndtri(apply_elementary("exp", y)),
    "erfinv": functools.partial(apply_elementary, "erfinv", raising=False),
    "erfcinv": lambda x: apply_elementary("erfinv", 1 - x, False),
    "erfcx": lambda x: apply_elementary("exp", x * x) * apply_elementary("erfc", x),
    "expit": _expit,
    "log_expit": lambda x: -apply_elementary("log", 1 + apply_elementary("exp", -x)),
    "softplus": lambda x: apply_elementary("log", 1 + apply_elementary("exp", x)),
    "logit": _logit,
    "ndtr": _ndtr,
    "log_ndtr": lambda x: apply_elementary("log", _ndtr(x), False),
    "ndtri": _ndtri,
    "beta": _lifted(_beta),
    "betaln": _lifted(_betaln),
    "binom": _lifted(_binom),
    "poch": _lifted(lambda x, m: _gamma(x + m) / _gamma(x)),
    "xlogy": _lifted(_xlogy),
    "xlog1py": _lifted(lambda x, y: _xlogy(x, 1 + y)),
    "entr": lambda x: -x * apply_elementary("log", x, False),
    "rel_entr": _lifted(_rel_entr),
    "kl_div": _lifted(lambda x, y: _rel_entr(x, y) - x + y),
    "boxcox": _lifted(_boxcox),
    "boxcox1p": _lifted(lambda x, power: _boxcox(1 + x, power)),
    "inv_boxcox": _lifted(_inv_boxcox),
    "huber": _lifted(_huber),
    "pseudo_huber": _lifted(_pseudo_huber),
    "inv_boxcox1p": lambda y, power: _inv_boxcox(y, power) - 1,
    "powm1": _lifted(lambda x, y: x**y - 1),
    "diric": _diric,
    "radian": _lifted(lambda d, m, s: (d + m / 60 + s / 3600) * math.pi / 180),
    "exprel": lambda x: (apply_elementary("exp", x) - 1) / x,
    "exp10": lambda x: 10**x,
    "cosm1": lambda x: apply_elementary("cos", x) - 1,
    "sindg": _in_degrees("sin"),
    "cosdg": _in_degrees("cos"),
    "tandg": _in_degrees("tan"),
    "cotdg": lambda x: 1 / _in_degrees("tan")(x),
    "j0": _bessel("besselj", 0),
    "j1": _bessel("besselj", 1),
    "jv": _bessel("besselj"),
    "jn": _bessel("besselj"),
    "jve": _bessel("besselj"),
    "y0": _bessel("bessely", 0),
    "y1": _bessel("bessely", 1),
    "yv": _bessel("bessely"),
    "yve": _bessel("bessely"),
    "yn": _of_whole_order(_bessel("bessely")),
    "i0": _bessel("besseli", 0),
    "i1": _bessel("besseli", 1),
    "iv": _bessel("besseli"),
    "i0e": _bessel("besseli", 0, _decaying),
    "i1e": _bessel("besseli", 1, _decaying),
    "ive": _bessel("besseli", None, _decaying),
    "k0": _bessel("besselk", 0),
    "k1": _bessel("besselk", 1),
    "kv": _bessel("besselk"),
    "kn": _of_whole_order(_bessel("besselk")),
    "k0e": _bessel("besselk", 0, _growing),
    "k1e": _bessel("besselk", 1, _growing),
    "kve": _bessel("besselk", None, _growing),
    "struve": _bessel("struve"),
    "modstruve": _bessel("modstruve"),
    "gammainc": _named("gammainc"),
    "gammaincc": _named("gammaincc"),
    "betainc": _named("betainc"),
    "betaincc": _lifted(lambda a, b, x: apply_to("betainc", b, a, 1 - x)),
    "lambertw": _lambertw,
    "wrightomega": lambda x: apply_elementary("LambertW", apply_elementary("exp", x)),
    "ellipk": _named("elliptic_k"),
    "ellipkm1": lambda p: apply_to("elliptic_k", 1 - p),
    "ellipe": _ellipe,
    "ellipkinc": _named("elliptic_f"),
    "ellipeinc": _lifted(_ellipeinc),
    "ellipj": _lifted(_ellipj),
    "expn": _of_whole_order(_named("expint")),
    "exp1": lambda x: apply_to("expint", x.trace.constant(1), x),
    "expi": _named("Ei"),
    "shichi": _with_pole("Shi", "Chi"),
    "sici": _with_pole("Si", "Ci"),
    "fresnel": lambda x: (apply_to("fresnels", x), apply_to("fresnelc", x)),
    "zeta": _zeta,
    "zetac": lambda x: apply_to("zeta", x) - 1,
    "hyp1f1": _lifted(_hyp1f1),
    "hyp2f1": _named("hyp2f1"),
    "jvp": _bessel_slope(_bessel("besselj"), -1),
    "yvp": _bessel_slope(_bessel("bessely"), -1),
    "ivp": _bessel_slope(_bessel("besseli"), 1),
    "kvp": lambda v, x, n=1: (-1) ** n * _bessel_slope(_bessel("besselk"), 1)(v, x, n),
}


def _softmax(x, axis=None):
    grown = np.exp(x)
    return grown / np.sum(grown, axis=axis, keepdims=True)


def _logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    total = np.exp(a) if b is None else b * np.exp(a)
    if return_sign:
        raise TypeError("return_sign=True")
    return np.log(np.sum(total, axis=axis, keepdims=keepdims))


# The versions for a whole array: no shift against overflow is needed, since numbers have any magnitude.
_OF_ARRAYS = {
    "softmax": _softmax,
    "log_softmax": lambda x, axis=None: x - _logsumexp(x, axis, keepdims=True),
    "logsumexp": _logsumexp,
}


def has_scipy():
    """Whether SciPy can be imported, without importing it."""
    return importlib.util.find_spec("scipy") is not None


def works_on_arrays(word):
    """Whether an author's name refers to NumPy, `scipy.special` or a ufunc, that is, to code that also works
    on arrays.
    """
    return word is np or isinstance(word, np.ufunc) or word is sys.modules.get("scipy.special", np)


def elements():
    """The version for one element of each ufunc of `scipy.special` in the table, by the ufunc; empty if
    `scipy.special` is not imported.
    """
    return {f: on_element for f, on_element in _known(_SPECIAL).items() if isinstance(f, np.ufunc)}


def functions():
    """The same for Python functions, for arguments of any shape."""
    return {
        f: _over_elements(f, on_element)
        for f, on_element in _known(_SPECIAL).items()
        if not isinstance(f, np.ufunc)
    } | _known(_OF_ARRAYS)


def _known(table):
    special = sys.modules.get("scipy.special")  # otherwise nothing in the code can call it
    named = ((getattr(special, name, None), known) for name, known in table.items())
    return {original: known for original, known in named if original is not None}


def _over_elements(original, on_element):
    one, signature = element_version(original, on_element), inspect.signature(original)

    def of_arrays(*given, **options):
        xs = signature.bind(*given, **options).args
        return np.frompyfunc(one, len(xs), 1)(*(np.asarray(x, object) for x in xs))

    return of_arrays


def name_of(ufunc):
    """The name of a ufunc of `scipy.special`; None for any other."""
    special = sys.modules.get("scipy.special")
    name = ufunc.__name__
    return f"scipy.special.{name}" if getattr(special, name, None) is ufunc else None
