"""Special functions in a graph: their SymPy form, and recurrences in their order.

Arguments follow SciPy's conventions: the parameter m = k**2 of elliptic integrals, regularized incomplete
gamma and beta functions, the order first. Functions that SymPy has are taken from it, with their derivatives;
the others are classes here. A derivative without a closed form (that of a Bessel function with respect to its
order) stays an unevaluated `Derivative`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import sympy as sp

from . import special_values
from .scalars import CONTEXT

# --- functions that SymPy lacks, or has with other arguments ------------------------------------------------


class _OfScipy(sp.Function):
    """A function with SciPy's name and arguments; `slope(i, *args)` is the derivative with respect to the
    i-th.
    """

    evaluate: Callable
    latex_name = ""

    def fdiff(self, argindex=1):
        """The derivative with respect to an argument, counted from 1; unevaluated if there is no closed
        form.
        """
        slope = self.slope(argindex, *self.args)
        return sp.Function.fdiff(self, argindex) if slope is None else slope

    def slope(self, i, *args):
        return None

    def _eval_evalf(self, prec):
        numbers = [sp.Float(a, 60) if a.is_Rational else a.evalf(60) for a in self.args]
        if not all(n.is_Float for n in numbers):
            return None
        try:
            value = type(self).evaluate(*(CONTEXT.make_mpf(n._mpf_) for n in numbers))
        except (ArithmeticError, ValueError):
            return None
        return sp.Float._new(value._mpf_, prec) if isinstance(value, CONTEXT.mpf) else None

    def _latex(self, printer, exp=None):
        shown = rf"{self.latex_name}\left({', '.join(map(printer._print, self.args))}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"


class gammainc(_OfScipy):
    """The regularized lower incomplete gamma function."""

    nargs, latex_name = 2, "P"
    evaluate = staticmethod(special_values.gammainc)

    def slope(self, i, a, x):
        return sp.exp(-x) * x ** (a - 1) / sp.gamma(a) if i == 2 else None


class gammaincc(_OfScipy):
    """One minus `gammainc`, accurate also where that is nearly one."""

    nargs, latex_name = 2, "Q"
    evaluate = staticmethod(special_values.gammaincc)

    def slope(self, i, a, x):
        return -gammainc(a, x).fdiff(i)


class betainc(_OfScipy):
    """The regularized incomplete beta function, from 0 to x."""

    nargs, latex_name = 3, "I"
    evaluate = staticmethod(lambda a, b, x: CONTEXT.betainc(a, b, 0, x, regularized=True))

    def slope(self, i, a, b, x):
        if i != 3:
            return None
        return x ** (a - 1) * (1 - x) ** (b - 1) * sp.gamma(a + b) / (sp.gamma(a) * sp.gamma(b))


class struve(_OfScipy):
    """The Struve function of an order, first, and a number."""

    nargs, latex_name = 2, r"\mathbf{H}"
    evaluate = staticmethod(CONTEXT.struveh)

    def slope(self, i, v, x):
        return struve(v - 1, x) - v / x * struve(v, x) if i == 2 else None


class modstruve(_OfScipy):
    """The modified Struve function."""

    nargs, latex_name = 2, r"\mathbf{L}"
    evaluate = staticmethod(CONTEXT.struvel)

    def slope(self, i, v, x):
        return modstruve(v - 1, x) - v / x * modstruve(v, x) if i == 2 else None


class jacobi_am(_OfScipy):
    """The amplitude of u for the parameter m: Jacobi's three functions are its sine, its cosine and a
    root.
    """

    nargs, latex_name = 2, r"\operatorname{am}"
    evaluate = staticmethod(special_values.jacobi_am)

    def slope(self, i, u, m):
        sn, cn = sp.sin(self), sp.cos(self)
        dn = sp.sqrt(1 - m * sn**2)
        if i == 1:
            return dn
        return (((1 - m) * u - sp.elliptic_e(self, m)) * dn + m * sn * cn) / (2 * m * (1 - m))


class hyp1f1(_OfScipy):
    """Kummer's function."""

    nargs, latex_name = 3, r"{}_1F_1"
    evaluate = staticmethod(CONTEXT.hyp1f1)

    def slope(self, i, a, b, x):
        return a / b * hyp1f1(a + 1, b + 1, x) if i == 3 else None


class hyp0f1(_OfScipy):
    """The confluent limit function."""

    nargs, latex_name = 2, r"{}_0F_1"
    evaluate = staticmethod(CONTEXT.hyp0f1)

    def slope(self, i, v, x):
        return hyp0f1(v + 1, x) / v if i == 2 else None


class hyperu(_OfScipy):
    """Tricomi's function."""

    nargs, latex_name = 3, "U"
    evaluate = staticmethod(CONTEXT.hyperu)

    def slope(self, i, a, b, x):
        return -a * hyperu(a + 1, b + 1, x) if i == 3 else None


class spence(_OfScipy):
    """The dilogarithm of 1 - x."""

    nargs, latex_name = 1, r"\operatorname{Sp}"
    evaluate = staticmethod(lambda x: CONTEXT.polylog(2, 1 - x))

    def slope(self, i, x):
        return sp.log(x) / (1 - x)


class owens_t(_OfScipy):
    """Owen's T function: the probability of X > h and 0 < Y < a*X for independent standard normal X, Y."""

    nargs, latex_name = 2, "T"
    evaluate = staticmethod(special_values.owens_t)

    def slope(self, i, h, a):
        if i == 1:
            return -sp.exp(-(h**2) / 2) / sp.sqrt(2 * sp.pi) * sp.erf(a * h / sp.sqrt(2)) / 2
        return sp.exp(-(h**2) * (1 + a**2) / 2) / (2 * sp.pi * (1 + a**2))


class hyp2f1(_OfScipy):
    """Gauss' function."""

    nargs, latex_name = 4, r"{}_2F_1"
    evaluate = staticmethod(special_values.hyp2f1)

    def slope(self, i, a, b, c, x):
        return a * b / c * hyp2f1(a + 1, b + 1, c + 1, x) if i == 4 else None


NAMED_AS_IN_SCIPY = (
    *(gammainc, gammaincc, betainc, struve, modstruve, hyp0f1, hyp1f1, hyp2f1, hyperu, spence, owens_t),
)
IN_SYMPY: dict[str, Callable] = {
    name: getattr(sp, name)
    for name in (
        "besselj bessely besseli besselk LambertW elliptic_k elliptic_e elliptic_f expint Ei Shi Chi Si Ci "
        "fresnels fresnelc zeta erfi polygamma airyai airybi airyaiprime airybiprime"
    ).split()
} | {own.__name__: own for own in (*NAMED_AS_IN_SCIPY, jacobi_am)}
"""By operation in a graph: the function that combines the SymPy forms of its operands."""

# --- recurrences in an order --------------------------------------------------------------------------------

MOST_STEPS = 12


def _half_power(v, x):
    return (x / 2) ** v / (sp.sqrt(sp.pi) * sp.gamma(v + sp.Rational(3, 2)))


def _two_back(f, sign, factor=2, extra=None):
    """(from below, from above) for f(v - 1) + sign*f(v + 1) = factor*v/x*f(v) + extra(v)."""

    def rest(v, x):
        return factor * v / x * f(v, x) + (extra(v, x) if extra else 0)

    return (
        lambda v, x: sign * (rest(v - 1, x) - f(v - 2, x)),
        lambda v, x: rest(v + 1, x) - sign * f(v + 2, x),
    )


# How many neighbours are independent; the function in terms of those below it, and of those above.
_NEIGHBOURS: dict[type, tuple[int, Callable, Callable]] = {
    sp.besselj: (2, *_two_back(sp.besselj, 1)),
    sp.bessely: (2, *_two_back(sp.bessely, 1)),
    sp.besseli: (2, *_two_back(sp.besseli, -1)),
    sp.besselk: (2, *_two_back(sp.besselk, -1, factor=-2)),
    struve: (2, *_two_back(struve, 1, extra=_half_power)),
    modstruve: (2, *_two_back(modstruve, -1, extra=_half_power)),
    gammainc: (
        1,
        lambda a, x: gammainc(a - 1, x) - x ** (a - 1) * sp.exp(-x) / sp.gamma(a),
        lambda a, x: gammainc(a + 1, x) + x**a * sp.exp(-x) / sp.gamma(a + 1),
    ),
    sp.expint: (
        2,
        lambda n, x: (sp.exp(-x) - x * sp.expint(n - 1, x)) / (n - 1),
        lambda n, x: (sp.exp(-x) - n * sp.expint(n + 1, x)) / x,
    ),
    sp.gamma: (1, lambda x: (x - 1) * sp.gamma(x - 1), lambda x: sp.gamma(x + 1) / x),
}
# Functions that equal another one, at every order (None) or at this order.
_ANOTHER: dict[tuple[type, int | None], Callable] = {
    (gammaincc, None): lambda a, x: 1 - gammainc(a, x),
    (gammainc, 0): lambda a, x: sp.Integer(1),
    (sp.gamma, 1): lambda x: sp.Integer(1),
    (sp.expint, 0): lambda n, x: sp.exp(-x) / x,
    (sp.expint, 1): lambda n, x: -sp.Ei(-x),
}
REDUCED = frozenset((*_NEIGHBOURS, *(kind for kind, _ in _ANOTHER)))


def step_from(kind, constant, alone):
    """The step from a function with an order to the neighbours that it is computed from, or to another
    function; None if there is none. `constant` is the rational part of the order, `alone` says that it has no
    other.
    """
    for order in (None, constant) if alone else (None,):
        if (kind, order) in _ANOTHER:
            return _ANOTHER[kind, order]
    if kind not in _NEIGHBOURS:
        return None
    independent, from_below, from_above = _NEIGHBOURS[kind]
    whole = constant.numerator // constant.denominator
    if abs(whole) > MOST_STEPS or 0 <= whole < independent:
        return None
    return from_below if whole > 0 else from_above


def reflected(expr):
    """The expression with gamma and digamma of `c - x` expressed by those of `x` (DLMF 5.5.3, 5.5.4)."""

    def is_mirrored(part):
        if not isinstance(part, (sp.gamma, sp.polygamma)):
            return False
        _, varying = part.args[-1].as_coeff_Add()
        return varying.could_extract_minus_sign()  # true for exactly one of `z` and `1 - z`

    def mirrored(part):
        z = part.args[-1]
        constant, varying = z.as_coeff_Add()
        sign, angle = ((-1) ** constant, varying) if constant.is_Integer else (1, z)
        sine, cosine = (sign * f(sp.pi * angle) for f in (sp.sin, sp.cos))
        if isinstance(part, sp.gamma):
            return sp.pi / (sine * sp.gamma(1 - z))
        return sp.digamma(1 - z) - sp.pi * cosine / sine if part.args[0] == 0 else part

    return expr.replace(is_mirrored, mirrored)


@functools.cache
def written_out(step, count):
    """(symbols, expression) of a step for `count` arguments."""
    symbols = sp.symbols(f"a:{count}", cls=sp.Dummy)
    return symbols, step(*symbols)


@functools.cache
def slopes_of(kind, count):
    """(symbols, derivatives) of a function, one for each of its arguments; None for one without a closed
    form.
    """
    symbols = sp.symbols(f"a:{count}", cls=sp.Dummy)
    value = kind(*symbols)
    return symbols, tuple(_closed(sp.diff(value, symbol)) for symbol in symbols)


def _closed(slope):
    return None if is_open(slope) else slope


def is_open(slope):
    """Whether a derivative contains a part without a closed form in SymPy."""
    return slope.has(sp.Derivative, sp.Subs, sp.meijerg)
