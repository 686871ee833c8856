"""The elementary and special functions of traced numbers: their value in mpmath, their name in SymPy, their
domain.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from . import special_values, transcendents
from .scalars import CONTEXT, CannotTrace, NoRealValue, Scalar
from .work_counter import COUNTER


class Border(NamedTuple):
    """A condition on the argument with the number `which`."""

    relation: str
    bound: int | Fraction
    which: int = 0


class Elementary(NamedTuple):
    """A function in a graph: `evaluate` for mpmath numbers; `borders` are the limits of its real domain."""

    evaluate: Callable
    borders: tuple[Border, ...] = ()


def _log_of_size_of_gamma(x):
    """What `math.lgamma` computes; below zero this is the real part of SymPy's `loggamma`, with the same
    slope.
    """
    return CONTEXT.loggamma(x) if x > 0 else CONTEXT.log(abs(CONTEXT.gamma(x)))


def _remembered(evaluate, work=0):
    """A slow function with a cache, since the entries of an array are evaluated again and again while one of
    them is moved. A new value counts as this much `work` (by number of arguments, if that is a tuple) at the
    usual number of digits.
    """

    @functools.lru_cache(4096)
    def known(precision, *xs):
        once = work[len(xs) - 1] if isinstance(work, tuple) else work
        COUNTER.done += int(once * (precision / _USUAL_PRECISION) ** 1.5)
        return evaluate(*xs)

    return lambda *xs: known(CONTEXT.prec, *xs)


_USUAL_PRECISION = CONTEXT.prec

# Special functions: their work at the usual number of digits, their values, their borders.
_SLOW: dict[str, tuple] = {
    "besselj": (30, CONTEXT.besselj),
    "bessely": (150, special_values.bessely, Border(">", 0, 1)),
    "besseli": (30, CONTEXT.besseli),
    "besselk": (150, special_values.besselk, Border(">", 0, 1)),
    "LambertW": (20, CONTEXT.lambertw),
    "elliptic_k": (10, CONTEXT.ellipk, Border("<", 1)),
    "elliptic_e": ((20, 200), CONTEXT.ellipe),
    "elliptic_f": (100, CONTEXT.ellipf, Border("<=", 1, 1)),
    "expint": (20, CONTEXT.expint, Border(">=", 0, 1)),
    "Ei": (10, CONTEXT.ei),
    "Shi": (20, CONTEXT.shi),
    "Chi": (20, lambda x: CONTEXT.chi(abs(x))),
    "Si": (10, CONTEXT.si),
    "Ci": (10, lambda x: CONTEXT.ci(abs(x))),
    "fresnels": (30, CONTEXT.fresnels),
    "fresnelc": (30, CONTEXT.fresnelc),
    "zeta": (400, CONTEXT.zeta),
    "gammainc": (30, transcendents.gammainc.evaluate, Border(">", 0), Border(">=", 0, 1)),
    "gammaincc": (40, transcendents.gammaincc.evaluate, Border(">", 0), Border(">=", 0, 1)),
    "betainc": (
        80, transcendents.betainc.evaluate,
        Border(">", 0), Border(">", 0, 1), Border(">=", 0, 2), Border("<=", 1, 2),
    ),
    "struve": (30, transcendents.struve.evaluate),
    "modstruve": (30, transcendents.modstruve.evaluate),
    "jacobi_am": (150, transcendents.jacobi_am.evaluate, Border(">=", 0, 1), Border("<=", 1, 1)),
    "erfi": (10, CONTEXT.erfi),
    "polygamma": (30, lambda n, x: CONTEXT.polygamma(int(n), x)),
    "airyai": (30, CONTEXT.airyai),
    "airybi": (30, CONTEXT.airybi),
    "airyaiprime": (30, lambda x: CONTEXT.airyai(x, derivative=1)),
    "airybiprime": (30, lambda x: CONTEXT.airybi(x, derivative=1)),
    "spence": (20, transcendents.spence.evaluate, Border(">", 0)),
    "owens_t": (300, transcendents.owens_t.evaluate),
    "hyp0f1": (20, transcendents.hyp0f1.evaluate),
    "hyperu": (100, transcendents.hyperu.evaluate, Border(">", 0, 2)),
    "hyp1f1": (20, transcendents.hyp1f1.evaluate),
    "hyp2f1": (100, transcendents.hyp2f1.evaluate, Border("<=", 1, 3)),
}  # fmt: skip

ELEMENTARY = {
    "sin": Elementary(CONTEXT.sin),
    "cos": Elementary(CONTEXT.cos),
    "tan": Elementary(CONTEXT.tan),
    "asin": Elementary(CONTEXT.asin, (Border(">=", -1), Border("<=", 1))),
    "acos": Elementary(CONTEXT.acos, (Border(">=", -1), Border("<=", 1))),
    "atan": Elementary(CONTEXT.atan),
    "sinh": Elementary(CONTEXT.sinh),
    "cosh": Elementary(CONTEXT.cosh),
    "tanh": Elementary(CONTEXT.tanh),
    "asinh": Elementary(CONTEXT.asinh),
    "acosh": Elementary(CONTEXT.acosh, (Border(">=", 1),)),
    "atanh": Elementary(CONTEXT.atanh, (Border(">", -1), Border("<", 1))),
    "exp": Elementary(CONTEXT.exp),
    "log": Elementary(CONTEXT.log, (Border(">", 0),)),
    "sqrt": Elementary(CONTEXT.sqrt, (Border(">=", 0),)),
    "erf": Elementary(_remembered(CONTEXT.erf)),
    "erfc": Elementary(_remembered(CONTEXT.erfc)),
    "gamma": Elementary(_remembered(CONTEXT.gamma)),
    "digamma": Elementary(_remembered(lambda x: CONTEXT.psi(0, x))),
    "loggamma": Elementary(_remembered(_log_of_size_of_gamma)),
    "trigamma": Elementary(_remembered(lambda x: CONTEXT.polygamma(1, x))),
    "erfinv": Elementary(_remembered(CONTEXT.erfinv), (Border(">", -1), Border("<", 1))),
} | {
    name: Elementary(_remembered(evaluate, work), tuple(borders))
    for name, (work, evaluate, *borders) in _SLOW.items()
}

_HOLDS = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


def require_domain(x, relation, bound, name, raising=False):
    """Record the decision that a number is inside the real domain of the function `name`. Outside:
    ValueError, as in `math`, if `raising`; otherwise no real value, as for NumPy's nan.
    """
    inside = bool(_HOLDS[relation](x.shadow, bound))
    if not x.is_constant:
        x.trace.decide(x, relation, x.trace.constant(bound), inside)
    if not inside and raising:
        raise ValueError("math domain error")
    if not inside:
        x.trace.halt(NoRealValue(f"{name} outside its domain"))


def apply_elementary(name, x, raising=True):
    """`name(x)` as a traced number. Outside the domain: ValueError, as in `math`, if `raising`; otherwise no
    real value, as for NumPy's nan.
    """
    if x.op == "complex":
        return x.apply(name)
    return _applied(name, (x,), raising)


def apply_to(name, *xs):
    """The same for several traced numbers; outside the domain there is no real value."""
    for x in xs:
        if x.op == "complex":
            x.trace.halt(CannotTrace(f"{name} of a complex number"))
    return _applied(name, xs, False)


def _applied(name, xs, raising):
    trace = xs[0].trace
    known = ELEMENTARY[name]
    for border in known.borders:
        if border.which < len(xs):
            require_domain(xs[border.which], border.relation, border.bound, name, raising)
    try:
        value = known.evaluate(*(x.shadow for x in xs))
    except (ValueError, CONTEXT.NoConvergence):  # at a pole, or if a series does not converge
        trace.beyond_decisions = True
        if not raising:
            trace.halt(NoRealValue(f"{name} at a pole"))
        raise
    return trace.node(name, xs, value)


def _unary(name):
    return lambda raising: lambda x: apply_elementary(name, x, raising)


def _trace_of(*args):
    return next(a.trace for a in args if isinstance(a, Scalar))


def _lift(*args):
    trace = _trace_of(*args)
    lifted = tuple(trace.constant(a) for a in args)
    if any(a is None for a in lifted):
        raise TypeError("must be real number")
    return lifted


def _log(raising):
    def log(x, base=None):
        if base is None:
            (x,) = _lift(x)
            return apply_elementary("log", x, raising)
        x, base = _lift(x, base)
        return apply_elementary("log", x, raising) / apply_elementary("log", base, raising)

    return log


def _log_to(base):
    return lambda raising: (
        lambda x: apply_elementary("log", x, raising) / apply_elementary("log", x.trace.constant(base))
    )


def atan2(y, x):
    y, x = _lift(y, x)
    trace = y.trace
    # The angle jumps by 2 pi across the negative half-axis, which is a border between cells.
    if x < 0:
        trace.decide(y, ">=", trace.constant(0), bool(y.shadow >= 0))
    if x.shadow == 0 and y.shadow == 0:
        trace.halt(NoRealValue("atan2 at the origin"))
    return trace.node("atan2", (y, x), CONTEXT.atan2(y.shadow, x.shadow))


def _hypot(*xs):
    return apply_elementary("sqrt", sum(x * x for x in xs))


def _copysign(x, y):
    x, y = _lift(x, y)
    return abs(x) if y >= 0 else -abs(x)


def _sign(x):
    if x.op == "complex":
        return x / abs(x)
    return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)


def _maximum(x, y):
    return y if y > x else x


def _minimum(x, y):
    return y if y < x else x


def _logaddexp(x, y):
    x, y = _lift(x, y)
    return apply_elementary("log", apply_elementary("exp", x) + apply_elementary("exp", y))


def _fmod(x, y):
    x, y = _lift(x, y)
    return x - y * float((x / y).__trunc__())


def _remainder(x, y):
    x, y = _lift(x, y)
    return x - y * float(round(x / y))


def _power(x, y):
    x, y = _lift(x, y)
    return x**y


def _isclose(x, y, rel_tol=1e-9, abs_tol=0.0):
    return abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol)


def _frexp(x):
    """Mantissa and exponent; the exponent is constant on the cell."""
    exponent = CONTEXT.frexp(x.shadow)[1]
    x.trace.decide(x, "exponent", x.trace.constant(exponent), exponent)
    return x / Fraction(2) ** exponent, exponent


def _nextafter(x, y):
    """The neighbour of a float: for derivatives, its distance from the float is constant."""
    x, y = _lift(x, y)
    x.trace.decide(x, "<", y, bool(x.shadow < y.shadow))
    here = float(x.shadow)
    return x + (Fraction(math.nextafter(here, float(y.shadow))) - Fraction(here))


def _plain(function):
    return lambda raising: function


def _prod(values, *, start=1):
    for value in values:
        start = start * value
    return start


def _sumprod(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


# By name in `math`; each makes the function for a given behaviour at the border of the domain.
MATH = {name: _unary(name) for name in ELEMENTARY if hasattr(math, name) and name != "log"} | {
    "log": _log,
    "log2": _log_to(2),
    "log10": _log_to(10),
    "lgamma": lambda raising: lambda x: apply_elementary("loggamma", x, False),
    "log1p": lambda raising: lambda x: apply_elementary("log", 1 + x, raising),
    "expm1": _plain(lambda x: apply_elementary("exp", x) - 1),
    "exp2": _plain(lambda x: _power(2, x)),
    "cbrt": _plain(lambda x: _copysign(abs(x) ** Fraction(1, 3), x)),
    "atan2": _plain(atan2),
    "hypot": _plain(_hypot),
    "pow": _plain(_power),
    "fabs": _plain(abs),
    "copysign": _plain(_copysign),
    "fmod": _plain(_fmod),
    "remainder": _plain(_remainder),
    "floor": _plain(lambda x: x.__floor__()),
    "ceil": _plain(lambda x: x.__ceil__()),
    "trunc": _plain(lambda x: x.__trunc__()),
    "degrees": _plain(lambda x: x * 180 / math.pi),
    "radians": _plain(lambda x: x * math.pi / 180),
    "ldexp": _plain(lambda x, n: x * Fraction(2) ** int(n)),
    "frexp": _plain(_frexp),
    "modf": _plain(lambda x: (x - float(x.__trunc__()), float(x.__trunc__()))),
    "nextafter": _plain(_nextafter),
    "fma": _plain(lambda x, y, z: x * y + z),
    "fsum": _plain(sum),
    "prod": _plain(_prod),
    "sumprod": _plain(_sumprod),
    "dist": _plain(lambda p, q: _hypot(*(a - b for a, b in zip(p, q, strict=True)))),
    "isfinite": _plain(lambda x: True),
    "isnan": _plain(lambda x: False),
    "isinf": _plain(lambda x: False),
    "isclose": _plain(_isclose),
}

# NumPy's elementwise functions, by NumPy's name.
_NUMPY_SPELLING = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "absolute": "fabs",
    "fabs": "fabs",
    "copysign": "copysign",
    "hypot": "hypot",
    "fmod": "fmod",
    "deg2rad": "radians",
    "rad2deg": "degrees",
    "radians": "radians",
    "degrees": "degrees",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "expm1": "expm1",
    "exp2": "exp2",
    "cbrt": "cbrt",
    "isfinite": "isfinite",
    "isnan": "isnan",
    "isinf": "isinf",
    "power": "pow",
    "float_power": "pow",
}
_NUMPY_OWN = {
    "sign": _sign,
    "maximum": _maximum,
    "minimum": _minimum,
    "fmax": _maximum,
    "fmin": _minimum,
    "logaddexp": _logaddexp,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "positive": operator.pos,
    "divmod": lambda x, y: (x // y, x - y * (x // y)),
    "modf": lambda x: (x - float(x.__trunc__()), float(x.__trunc__())),
    "ldexp": lambda x, n: x * Fraction(2) ** int(n),
    "frexp": _frexp,
    "nextafter": _nextafter,
    "signbit": lambda x: x < 0,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
    "logical_not": lambda x: not x,
    "clip": lambda x, low, high: _minimum(_maximum(x, low), high),
    "logaddexp2": lambda x, y: _log_to(2)(False)(_power(2, x) + _power(2, y)),
    "remainder": lambda x, y: x % y,
    "floor_divide": lambda x, y: x // y,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "floor": lambda x: float(x.__floor__()),
    "ceil": lambda x: float(x.__ceil__()),
    "trunc": lambda x: float(x.__trunc__()),
    "rint": lambda x: float(round(x)),
    "round": lambda x: float(round(x)),
    "around": lambda x: float(round(x)),
    "heaviside": lambda x, h: 1.0 if x > 0 else (0.0 if x < 0 else h),
    "conjugate": lambda x: x.conjugate(),
    "i0": lambda x: apply_to("besseli", x.trace.constant(0), x),
    "sinc": lambda x: apply_elementary("sin", x * math.pi) / (x * math.pi),
}


def _traced(value):
    """Whether a value is or contains a traced number (an object array or a short container)."""
    if isinstance(value, np.ndarray):
        return value.dtype.hasobject or type(value) is not np.ndarray
    if isinstance(value, (tuple, list)):
        return any(_traced(v) for v in value)
    return isinstance(value, Scalar)


def any_traced(args, kwargs):
    return any(_traced(a) for a in args) or any(_traced(v) for v in kwargs.values())


def _number_in(a):
    return a.view(np.ndarray).item() if isinstance(a, np.ndarray) and a.ndim == 0 else a


def scalar_version(original, on_scalars):
    """`original` for plain arguments; `on_scalars` if a traced number is among them."""

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        return on_scalars(*map(_number_in, args), **kwargs)

    return function


def element_version(original, on_scalars):
    """A ufunc for one element: `on_scalars` for a traced number, else the ufunc itself; no infinite
    values.
    """

    def on_element(*xs):
        traced = [x for x in xs if isinstance(x, Scalar)]
        if not traced:
            return original(*xs)
        try:
            return on_scalars(*xs)
        except ZeroDivisionError:
            traced[0].trace.halt(NoRealValue(f"np.{original.__name__} by zero"))

    return on_element


def elementwise_version(original, on_scalars, on_arrays):
    """The ufunc `original` for plain arguments, `on_scalars` for traced numbers, `on_arrays` for arrays of
    them.
    """
    on_element = element_version(original, on_scalars)

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        if kwargs or any(isinstance(a, (np.ndarray, list, tuple)) for a in args):
            return on_arrays(original, args, kwargs)
        return on_element(*args)

    return function


def math_replacements():
    """All functions of `math` in the table, by identity, each with its version for traced numbers."""
    return {
        getattr(math, name): scalar_version(getattr(math, name), make(True))
        for name, make in MATH.items()
        if hasattr(math, name)
    }


# The version of a ufunc for one element, by the ufunc's name.
NUMPY_ELEMENTS = (
    {name: MATH[name](False) for name in "sin cos tan sinh cosh tanh exp log sqrt".split()}
    | {name: MATH[known](False) for name, known in _NUMPY_SPELLING.items()}
    | _NUMPY_OWN
)

# Loops over object arrays call the method of each number that has the ufunc's name.
for _name, _function in NUMPY_ELEMENTS.items():
    if isinstance(getattr(np, _name, None), np.ufunc) and not hasattr(Scalar, _name):
        setattr(Scalar, _name, _function)
