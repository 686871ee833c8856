"""The table of functions that traced numbers go through: their value in mpmath, their name in SymPy, their
domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .scalars import CONTEXT, CannotTrace, NoRealValue, Scalar


class Elementary(NamedTuple):
    """One function of the graph: `evaluate` on mpmath numbers; `borders` name where its real domain ends."""

    evaluate: Callable
    borders: tuple = ()  # of (relation, bound): the argument must satisfy each


ELEMENTARY = {
    "sin": Elementary(CONTEXT.sin),
    "cos": Elementary(CONTEXT.cos),
    "tan": Elementary(CONTEXT.tan),
    "asin": Elementary(CONTEXT.asin, ((">=", -1), ("<=", 1))),
    "acos": Elementary(CONTEXT.acos, ((">=", -1), ("<=", 1))),
    "atan": Elementary(CONTEXT.atan),
    "sinh": Elementary(CONTEXT.sinh),
    "cosh": Elementary(CONTEXT.cosh),
    "tanh": Elementary(CONTEXT.tanh),
    "asinh": Elementary(CONTEXT.asinh),
    "acosh": Elementary(CONTEXT.acosh, ((">=", 1),)),
    "atanh": Elementary(CONTEXT.atanh, ((">", -1), ("<", 1))),
    "exp": Elementary(CONTEXT.exp),
    "log": Elementary(CONTEXT.log, ((">", 0),)),
    "sqrt": Elementary(CONTEXT.sqrt, ((">=", 0),)),
    "erf": Elementary(CONTEXT.erf),
    "erfc": Elementary(CONTEXT.erfc),
    "gamma": Elementary(CONTEXT.gamma),
    "loggamma": Elementary(CONTEXT.loggamma, ((">", 0),)),
    "digamma": Elementary(CONTEXT.digamma),
    "trigamma": Elementary(lambda x: CONTEXT.polygamma(1, x)),
    "erfinv": Elementary(CONTEXT.erfinv, ((">", -1), ("<", 1))),
}

_HOLDS = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


def apply(name, x, raising=True):
    """`name(x)` as a traced number. Outside the domain: ValueError as `math` does, or no real value as
    NumPy's nan."""
    for relation, bound in ELEMENTARY[name].borders:
        inside = bool(_HOLDS[relation](x.shadow, bound))
        if not x.is_constant:
            x.trace.decide(x, relation, x.trace.constant(bound), inside)
        if not inside and raising:
            raise ValueError("math domain error")
        if not inside:
            x.trace.halt(NoRealValue(f"{name} outside its domain"))
    return x.trace.node(name, (x,), ELEMENTARY[name].evaluate(x.shadow))


def _unary(name):
    return lambda raising: lambda x: apply(name, x, raising)


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
            return apply("log", x, raising)
        x, base = _lift(x, base)
        return apply("log", x, raising) / apply("log", base, raising)

    return log


def _log_to(base):
    return lambda raising: lambda x: apply("log", x, raising) / apply("log", x.trace.constant(base))


def _atan2(y, x):
    y, x = _lift(y, x)
    trace = y.trace
    # The angle jumps by 2 pi across the negative half-axis: a border between cells.
    if x < 0:
        trace.decide(y, ">=", trace.constant(0), bool(y.shadow >= 0))
    if x.shadow == 0 and y.shadow == 0:
        trace.halt(NoRealValue("atan2 at the origin"))
    return trace.node("atan2", (y, x), CONTEXT.atan2(y.shadow, x.shadow))


def _hypot(*xs):
    return apply("sqrt", sum(x * x for x in xs))


def _copysign(x, y):
    x, y = _lift(x, y)
    return abs(x) if y >= 0 else -abs(x)


def _sign(x):
    return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)


def _maximum(x, y):
    return y if y > x else x


def _minimum(x, y):
    return y if y < x else x


def _logaddexp(x, y):
    x, y = _lift(x, y)
    return apply("log", apply("exp", x) + apply("exp", y))


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


def _plain(function):
    return lambda raising: function


def _prod(values, *, start=1):
    for value in values:
        start = start * value
    return start


def _sumprod(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


# By the name `math` has for it; each makes the function for given manners at the border of the domain.
MATH = {name: _unary(name) for name in ELEMENTARY if hasattr(math, name) and name != "log"} | {
    "log": _log,
    "log2": _log_to(2),
    "log10": _log_to(10),
    "lgamma": lambda raising: lambda x: apply("loggamma", x, False),
    "log1p": lambda raising: lambda x: apply("log", 1 + x, raising),
    "expm1": _plain(lambda x: apply("exp", x) - 1),
    "exp2": _plain(lambda x: _power(2, x)),
    "cbrt": _plain(lambda x: _copysign(abs(x) ** Fraction(1, 3), x)),
    "atan2": _plain(_atan2),
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
    "conjugate": lambda x: x,
    "sinc": lambda x: apply("sin", x * math.pi) / (x * math.pi),
}


def _traced(value):
    """Whether a traced number is `value`, or sits inside it (an object array or a short container)."""
    if isinstance(value, np.ndarray):
        return value.dtype == object
    if isinstance(value, (tuple, list)):
        return any(_traced(v) for v in value)
    return isinstance(value, Scalar)


def any_traced(args, kwargs):
    return any(_traced(a) for a in args) or any(_traced(v) for v in kwargs.values())


def scalar_version(original, on_scalars):
    """`original` for plain arguments, `on_scalars` where a traced number is among them."""

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        return on_scalars(*args, **kwargs)

    return function


def elementwise_version(original, on_scalars):
    """The ufunc `original` for plain arguments, else `on_scalars` on each element, with broadcasting."""

    def on_element(*xs):
        return on_scalars(*xs) if any(isinstance(x, Scalar) for x in xs) else original(*xs)

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        if kwargs:
            trace = _first_trace(args)
            trace.halt(
                CannotTrace(
                    f"np.{original.__name__} with {', '.join(kwargs)}=", "call it without keyword arguments"
                )
            )
        if not any(isinstance(a, (np.ndarray, list, tuple)) for a in args):
            return on_element(*args)
        return np.frompyfunc(on_element, len(args), 1)(*args)

    return function


def _first_trace(values):
    for value in values:
        if isinstance(value, Scalar):
            return value.trace
        if isinstance(value, (np.ndarray, list, tuple)):
            found = _first_trace(np.asarray(value, dtype=object).ravel().tolist())
            if found is not None:
                return found
    return None


def replacements():
    """Every function of `math` and NumPy that the table knows, by identity, with its version for traced
    numbers."""
    table = {}
    for name, make in MATH.items():
        original = getattr(math, name, None)
        if original is not None:
            table[original] = scalar_version(original, make(True))
    for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"):
        table[getattr(np, name)] = elementwise_version(getattr(np, name), MATH[name](False))
    for name, known in _NUMPY_SPELLING.items():
        table[getattr(np, name)] = elementwise_version(getattr(np, name), MATH[known](False))
    for name, function in _NUMPY_OWN.items():
        table[getattr(np, name)] = elementwise_version(getattr(np, name), function)
    return table
