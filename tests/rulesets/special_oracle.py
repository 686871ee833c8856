"""What mpmath says of the functions of `scipy.special`: their values, from which derivatives are taken by
differences at many digits. It knows nothing of the rules, nor of SciPy's own code.
"""

import mpmath as mp
import numpy as np
from mpmath import mpf

DIGITS = 32


def _gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def _gammaincc(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def _betaincc(a, b, x):
    return 1 - _betainc(a, b, x)


def _ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def _dawsn(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _wofz(z):
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def _bisected(f, value, low, high):
    """Where an increasing or decreasing function has a value: by halves, then by Newton's method."""
    up = f(high) > f(low)
    for _ in range(20):
        middle = (low + high) / 2
        if (f(middle) < value) == up:
            low = middle
        else:
            high = middle
    return mp.findroot(lambda x: f(x) - value, (low, high), tol=mpf(10) ** (-1.6 * DIGITS), verify=False)


def inverse(f, low, high, last=-1):
    """The inverse of a function in one of its arguments, between two numbers."""

    def of(*xs):
        given = list(xs)
        value = given[last]

        def at(x):
            given[last] = x
            return f(*given)

        return _bisected(at, value, mpf(low), mpf(high))

    return of


def _voigt(x, sigma, gamma):
    u = 1 / (sigma * mp.sqrt(2))
    w = lambda z: _wofz(z * u) * u
    return (w(x + 1j * gamma) + w(-x + 1j * gamma)) / (2 * mp.sqrt(mp.pi))


def _owens_t(h, a):
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def _spherical(bessel):
    def of(n, z, derivative=False):
        f = lambda t: mp.sqrt(mp.pi / (2 * t)) * bessel(n + mpf(1) / 2, t)
        return mp.diff(f, z) if derivative else f(z)

    return of


def _airye(x):
    t = mpf(2) / 3 * x * mp.sqrt(x)
    up, down = mp.exp(t), mp.exp(-t)
    return (
        mp.airyai(x) * up,
        mp.airyai(x, derivative=1) * up,
        mp.airybi(x) * down,
        mp.airybi(x, derivative=1) * down,
    )


def _ellipj(u, m):
    sn, cn, dn = (mp.ellipfun(kind, u, m=m) for kind in ("sn", "cn", "dn"))
    ph = mp.atan2(sn, cn)
    return sn, cn, dn, ph + 2 * mp.pi * mp.nint((mp.pi * u / (2 * mp.ellipk(m)) - ph) / (2 * mp.pi))


def _kelvin(which, kind):
    return lambda x: mp.diff(lambda t: getattr(mp, which)(0, t), x) if kind else getattr(mp, which)(0, x)


def _power_over(x, p):
    return mp.log(x) if p == 0 else mp.expm1(p * mp.log(x)) / p


def _inverse_power_over(y, p):
    return mp.exp(y) if p == 0 else mp.exp(mp.log1p(p * y) / p)


def _chdtr(v, x):
    return _gammainc(v / 2, x / 2)


def _fdtr(n, d, x):
    return _betainc(n / 2, d / 2, n * x / (d + n * x))


def _stdtr(df, t):
    tail = _betainc(df / 2, mpf(1) / 2, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


def _sh_jacobi(n, p, q, x):
    return mp.jacobi(n, p - q, q - 1, 2 * x - 1) / mp.binomial(2 * n + p - 1, n)


def _integral(f):
    """One of the integrals of a smooth function: from a number near by, which stays where it is."""
    return lambda x: mp.quad(f, [mp.nint(8 * x) / 8, x], method="gauss-legendre", maxdegree=2)


def _wright(a, b, x):
    return mp.nsum(lambda k: x**k / mp.factorial(k) * mp.rgamma(a * k + b), [0, mp.inf])


def _lpmv(m, v, x):
    return mp.legenp(v, m, x, type=2)


def _besselpoly(a, lmb, nu):
    return mp.quad(lambda x: x**lmb * mp.besselj(nu, 2 * a * x), [0, 1])


DEGREE = mp.pi / 180

ORACLE = {
    # the gamma family
    "gamma": mp.gamma,
    "rgamma": mp.rgamma,
    "gammaln": lambda x: mp.re(mp.log(abs(mp.gamma(x)))),
    "loggamma": mp.loggamma,
    "psi": lambda x: mp.psi(0, x),
    "gammasgn": lambda x: mp.sign(mp.gamma(x)),
    "polygamma": lambda n, x: mp.psi(n, x),
    "multigammaln": lambda a, d: (
        sum(mp.loggamma(a - mpf(j) / 2) for j in range(d)) + mpf(d * (d - 1)) / 4 * mp.log(mp.pi)
    ),
    "beta": mp.beta,
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "binom": mp.binomial,
    "poch": mp.rf,
    "gammainc": _gammainc,
    "gammaincc": _gammaincc,
    "gammaincinv": inverse(_gammainc, 1e-4, 20),
    "gammainccinv": inverse(_gammaincc, 1e-4, 20),
    "betainc": _betainc,
    "betaincc": _betaincc,
    "betaincinv": inverse(_betainc, 1e-6, 1 - 1e-6),
    "betainccinv": inverse(_betaincc, 1e-6, 1 - 1e-6),
    # error functions and exponential integrals
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfi": mp.erfi,
    "erfcx": _erfcx,
    "dawsn": _dawsn,
    "wofz": _wofz,
    "erfinv": mp.erfinv,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "ndtr": _ndtr,
    "log_ndtr": lambda x: mp.log(_ndtr(x)),
    "ndtri": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "ndtri_exp": inverse(lambda x: mp.log(_ndtr(x)), -12, 8),
    "owens_t": _owens_t,
    "voigt_profile": _voigt,
    "exp1": mp.e1,
    "expi": mp.ei,
    "expn": mp.expint,
    "sici": lambda x: (mp.si(x), mp.ci(x)),
    "shichi": lambda x: (mp.shi(x), mp.chi(x)),
    "fresnel": lambda x: (mp.fresnels(x), mp.fresnelc(x)),
    "exprel": lambda x: mp.expm1(x) / x,
    "spence": lambda z: mp.polylog(2, 1 - z),
    # logarithms, powers, angles
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "logit": lambda x: mp.log(x / (1 - x)),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log(1 + y),
    "entr": lambda x: -x * mp.log(x),
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "huber": lambda delta, r: r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2),
    "pseudo_huber": lambda delta, r: delta**2 * (mp.sqrt(1 + (r / delta) ** 2) - 1),
    "boxcox": _power_over,
    "boxcox1p": lambda x, p: _power_over(1 + x, p),
    "inv_boxcox": _inverse_power_over,
    "inv_boxcox1p": lambda y, p: _inverse_power_over(y, p) - 1,
    "powm1": lambda x, y: x**y - 1,
    "exp2": lambda x: mpf(2) ** x,
    "exp10": lambda x: mpf(10) ** x,
    "expm1": mp.expm1,
    "log1p": mp.log1p,
    "cosm1": lambda x: mp.cos(x) - 1,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "sindg": lambda x: mp.sin(DEGREE * x),
    "cosdg": lambda x: mp.cos(DEGREE * x),
    "tandg": lambda x: mp.tan(DEGREE * x),
    "cotdg": lambda x: mp.cot(DEGREE * x),
    "radian": lambda d, m, s: DEGREE * (d + m / 60 + s / 3600),
    "round": mp.nint,
    "diric": lambda x, n: mp.sin(n * x / 2) / (n * mp.sin(x / 2)),
    # Bessel functions
    "jv": mp.besselj,
    "yv": mp.bessely,
    "hankel1": mp.hankel1,
    "hankel2": mp.hankel2,
    "iv": mp.besseli,
    "kv": mp.besselk,
    "kve": lambda v, z: mp.besselk(v, z) * mp.exp(z),
    "hankel1e": lambda v, z: mp.hankel1(v, z) * mp.exp(-1j * z),
    "hankel2e": lambda v, z: mp.hankel2(v, z) * mp.exp(1j * z),
    "jve": mp.besselj,
    "yve": mp.bessely,
    "ive": lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
    "yn": mp.bessely,
    "kn": mp.besselk,
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "k0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
    "jvp": lambda v, z, n=1: mp.besselj(v, z, derivative=n),
    "yvp": lambda v, z, n=1: mp.bessely(v, z, derivative=n),
    "ivp": lambda v, z, n=1: mp.besseli(v, z, derivative=n),
    "kvp": lambda v, z, n=1: mp.diff(lambda t: mp.besselk(v, t), z, n),
    "h1vp": lambda v, z, n=1: mp.diff(lambda t: mp.hankel1(v, t), z, n),
    "h2vp": lambda v, z, n=1: mp.diff(lambda t: mp.hankel2(v, t), z, n),
    "spherical_jn": _spherical(mp.besselj),
    "spherical_yn": _spherical(mp.bessely),
    "spherical_in": _spherical(mp.besseli),
    "spherical_kn": _spherical(mp.besselk),
    "airy": lambda z: (mp.airyai(z), mp.airyai(z, derivative=1), mp.airybi(z), mp.airybi(z, derivative=1)),
    "airye": _airye,
    "itairy": lambda x: (
        mp.airyai(x, derivative=-1),
        mp.airybi(x, derivative=-1),
        -mp.airyai(-x, derivative=-1),
        -mp.airybi(-x, derivative=-1),
    ),
    **{name: _kelvin(name[:3], name[3:]) for name in "ber bei ker kei berp beip kerp keip".split()},
    "struve": mp.struveh,
    "modstruve": mp.struvel,
    "itj0y0": lambda x: (_integral(lambda t: mp.besselj(0, t))(x), _integral(lambda t: mp.bessely(0, t))(x)),
    "iti0k0": lambda x: (_integral(lambda t: mp.besseli(0, t))(x), _integral(lambda t: mp.besselk(0, t))(x)),
    "it2j0y0": lambda x: (
        _integral(lambda t: (1 - mp.besselj(0, t)) / t)(x),
        -_integral(lambda t: mp.bessely(0, t) / t)(x),
    ),
    "it2i0k0": lambda x: (
        _integral(lambda t: (mp.besseli(0, t) - 1) / t)(x),
        -_integral(lambda t: mp.besselk(0, t) / t)(x),
    ),
    "itstruve0": _integral(lambda t: mp.struveh(0, t)),
    "itmodstruve0": _integral(lambda t: mp.struvel(0, t)),
    "it2struve0": lambda x: -_integral(lambda t: mp.struveh(0, t) / t)(x),
    "besselpoly": _besselpoly,
    # elliptic, hypergeometric, zeta
    "ellipk": mp.ellipk,
    "ellipe": mp.ellipe,
    "ellipkm1": lambda p: mp.ellipk(1 - p),
    "ellipkinc": mp.ellipf,
    "ellipeinc": mp.ellipe,
    "ellipj": _ellipj,
    "elliprf": mp.elliprf,
    "elliprd": mp.elliprd,
    "hyp0f1": mp.hyp0f1,
    "hyp1f1": mp.hyp1f1,
    "hyp2f1": mp.hyp2f1,
    "hyperu": mp.hyperu,
    "wright_bessel": _wright,
    "log_wright_bessel": lambda a, b, x: mp.log(_wright(a, b, x)),
    "zeta": mp.zeta,
    "zetac": lambda x: mp.zeta(x) - 1,
    "lambertw": lambda z, k, tol: mp.lambertw(z, int(k)),
    "wrightomega": lambda z: mp.lambertw(mp.exp(z)),
    # orthogonal polynomials
    "eval_legendre": mp.legendre,
    "eval_sh_legendre": lambda n, x: mp.legendre(n, 2 * x - 1),
    "eval_chebyt": mp.chebyt,
    "eval_chebyu": mp.chebyu,
    "eval_chebyc": lambda n, x: 2 * mp.chebyt(n, x / 2),
    "eval_chebys": lambda n, x: mp.chebyu(n, x / 2),
    "eval_sh_chebyt": lambda n, x: mp.chebyt(n, 2 * x - 1),
    "eval_sh_chebyu": lambda n, x: mp.chebyu(n, 2 * x - 1),
    "eval_laguerre": lambda n, x: mp.laguerre(n, 0, x),
    "eval_genlaguerre": mp.laguerre,
    "eval_gegenbauer": mp.gegenbauer,
    "eval_jacobi": mp.jacobi,
    "eval_sh_jacobi": _sh_jacobi,
    "eval_hermite": mp.hermite,
    "eval_hermitenorm": lambda n, x: mp.hermite(n, x / mp.sqrt(2)) * mpf(2) ** (-mpf(n) / 2),
    "lpmv": _lpmv,
    "assoc_laguerre": lambda x, n, k=0: mp.laguerre(n, k, x),
    # distributions
    "chdtr": _chdtr,
    "chdtrc": lambda v, x: 1 - _chdtr(v, x),
    "chdtri": inverse(lambda v, x: 1 - _chdtr(v, x), 1e-4, 40),
    "fdtr": _fdtr,
    "fdtrc": lambda n, d, x: 1 - _fdtr(n, d, x),
    "fdtri": inverse(_fdtr, 1e-3, 60),
    "stdtr": _stdtr,
    "stdtrit": inverse(_stdtr, -12, 12),
    "gdtr": lambda a, b, x: _gammainc(b, a * x),
    "gdtrc": lambda a, b, x: _gammaincc(b, a * x),
    "gdtrix": inverse(lambda a, b, x: _gammainc(b, a * x), 1e-4, 40),
    "gdtria": lambda p, b, x: _bisected(lambda a: _gammainc(b, a * x), p, mpf("1e-4"), mpf(60)),
    "pdtr": lambda k, m: _gammaincc(mp.floor(k) + 1, m),
    "pdtri": inverse(lambda k, m: _gammaincc(k + 1, m), 1e-4, 40),
    "bdtri": inverse(lambda k, n, p: _betainc(n - k, k + 1, 1 - p), 1e-6, 1 - 1e-6),
    "nbdtri": inverse(lambda k, n, p: _betainc(n, k + 1, p), 1e-6, 1 - 1e-6),
    "nrdtrimn": lambda p, std, x: x - std * mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "nrdtrisd": lambda mn, p, x: (x - mn) / (mp.sqrt(2) * mp.erfinv(2 * p - 1)),
    "pdtrc": lambda k, m: _gammainc(mp.floor(k) + 1, m),
    "bdtr": lambda k, n, p: _betainc(n - mp.floor(k), mp.floor(k) + 1, 1 - p),
    "bdtrc": lambda k, n, p: _betainc(mp.floor(k) + 1, n - mp.floor(k), p),
    "nbdtr": lambda k, n, p: _betainc(n, k + 1, p),
    "nbdtrc": lambda k, n, p: _betainc(k + 1, n, 1 - p),
}


def exact(x):
    """A number of Python's or NumPy's as one of mpmath's, an int as it is."""
    if isinstance(x, (int, np.integer)):
        return x
    return mp.mpc(x) if isinstance(x, complex) else mpf(float(x))


def derivative(name, args, orders):
    """A derivative of a function at numbers, as complex numbers in a tuple, one for each result."""
    with mp.workdps(DIGITS):
        given = [exact(x) for x in args]
        moved = [i for i, n in enumerate(orders) if n]
        several = isinstance(ORACLE[name](*given), tuple)

        def at(k):
            def f(*xs):
                there = list(given)
                for i, x in zip(moved, xs, strict=True):
                    there[i] = x
                y = ORACLE[name](*there)
                return y[k] if several else y

            return f

        count = len(ORACLE[name](*given)) if several else 1
        xs, ns = tuple(given[i] for i in moved), tuple(orders[i] for i in moved)
        if len(moved) == 1:
            return tuple(complex(mp.diff(at(k), xs[0], ns[0])) for k in range(count))
        return tuple(complex(mp.diff(at(k), xs, ns)) for k in range(count))
