"""Derivatives of any structure by differences that choose their steps themselves and extrapolate, and the
noise of a function.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import an

LEVELS = 9
"""Halvings of the step in `derivative`. The first step is an eighth of the argument's size, the last 1/2048
of it."""


def noise_level(values: np.ndarray) -> np.ndarray:
    """How far off the values of a function are, from seven or so of them at equal and very small distances.

    `values` has the shape (points, …), the result (…). The differences of high order of a smooth function
    vanish; what is left is noise. The largest of the estimates by the third differences and higher ones.

    R. W. Hamming, Introduction to Applied Numerical Analysis, McGraw-Hill 1971; J. J. Moré and S. M. Wild,
    "Estimating Computational Noise", SIAM Journal on Scientific Computing 33 (2011) 1292-1314,
    doi:10.1137/100786125.

    >>> level = noise_level(1.0 + 1e-6 * np.array([0.3, -0.8, 0.1, 0.9, -0.4, -0.6, 0.5]))
    >>> round(float(level), 9)
    4.83e-07
    """
    found, table, weight = np.zeros(values.shape[1:]), values, 1.0
    for k in range(1, len(values)):
        table = np.diff(table, axis=0)
        weight *= k / (4 * k - 2)  # (k!)^2 / (2k)!
        if k >= 3:
            found = np.maximum(found, np.sqrt(weight * np.mean(np.abs(table) ** 2, axis=0)))
    return found


class Estimate(NamedTuple):
    """A derivative and how far off it may be; both are nan where the function gave no finite value on both
    sides.
    """

    value: complex | float
    error: float


def derivative(f: Callable[[float], complex], x: float) -> Estimate:
    """The derivative of a function of one real number at `x`.

    A step at which `f` raises an arithmetic or value error (the edge of its domain) is left out.

    Richardson extrapolation in the tableau of C. J. F. Ridders, "Accurate computation of F'(x) and
    F'(x)F''(x)", Advances in Engineering Software 4 (1982) 75-76, doi:10.1016/S0141-1195(82)80057-0: each
    halving of the step removes one more even power of it; the entry that changed least from its neighbours is
    the answer, and that change is the error estimate.

    >>> round(derivative(math.exp, 0.0).value, 10)
    1.0
    """
    wide = _extrapolated(f, x, 0.125 * max(abs(x), 0.1))
    if wide.error <= 1e-6 * abs(wide.value) or not 0.0 < abs(x) < 0.1:
        return wide
    narrow = _extrapolated(f, x, 0.125 * abs(x))  # near the edge of a domain that ends at zero: log(1e-3)
    return wide if wide.error <= narrow.error else narrow


def _extrapolated(f, x: float, step: float) -> Estimate:
    best = Estimate(math.nan, math.nan)
    above: list[complex] = []
    for level in range(LEVELS):
        row = [_central(f, x, step / 2**level)]
        for order, previous in enumerate(above, start=1):
            row.append(row[-1] + (row[-1] - previous) / (4.0**order - 1.0))
            change = max(abs(row[-1] - row[-2]), abs(row[-1] - previous))
            if change < best.error or (math.isnan(best.error) and not math.isnan(change)):
                best = Estimate(row[-1], float(change))
        above = row
    return best


def _central(f, x: float, step: float):
    high, low = x + step, x - step
    try:
        with np.errstate(all="ignore"):
            return (f(high) - f(low)) / (high - low)
    except (ArithmeticError, ValueError):
        return math.nan


def gradient(f: Callable, *args, **kwargs) -> tuple:
    """The gradient of a scalar function by differences, one entry for each positional argument.

    An array gives an array of its shape, a number a float, a tuple, list or dict the same structure;
    anything else (text, bools, functions) gives None, and so does an integer that `f` cannot take as a
    float (an axis, an index). A complex argument gives d/dRe + i d/dIm. Numbers are moved in double
    precision, whatever their dtype. `f` gets fresh copies at each call, so one that writes to its arguments
    does no harm. Raises TypeError where `f` returns no real scalar.

    >>> gradient(lambda a, b: a * b, 2.0, np.array(3.0))
    (3.0, array(2.))
    """
    value = f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    if not isinstance(value, (int, float, np.number, np.ndarray)) or np.ndim(value) or np.iscomplexobj(value):
        raise TypeError(
            f"finite differences need a real scalar, but the function returned {an(type(value).__name__)}"
        )

    def at(position: int):
        def moved(new):
            fresh = list(copy.deepcopy(args))
            fresh[position] = new
            return float(f(*fresh, **copy.deepcopy(kwargs)))

        return moved

    return tuple(_entry(at(position), arg) for position, arg in enumerate(args))


def _entry(moved: Callable[[object], float], x):
    """The cotangent of `x` where `moved(new)` is the function's value with `new` in the place of `x`."""
    if isinstance(x, (bool, np.bool_)):
        return None
    if isinstance(x, (int, float, np.integer, np.floating)):
        return _of_number(moved, x)
    if isinstance(x, (complex, np.complexfloating)):
        return _of_complex(moved, complex(x))
    if isinstance(x, np.ndarray) and x.dtype.kind in "iufc":
        return _of_array(moved, x)
    if isinstance(x, dict):
        return {k: _entry(_at_key(moved, x, k), v) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        return _like(x, [_entry(_at_position(moved, x, i), v) for i, v in enumerate(x)])
    return None


def _at_key(moved, x: dict, key):
    return lambda new: moved({**copy.deepcopy(x), key: new})


def _at_position(moved, x, position: int):
    return lambda new: moved(_like(x, _replaced(x, position, new)))


def _of_number(moved, x):
    if isinstance(x, (float, np.floating)):
        return derivative(moved, float(x)).value
    try:
        return derivative(moved, float(x)).value
    except (TypeError, IndexError):
        return None  # an integer that is used as one


def _of_complex(moved, x: complex) -> complex:
    real = derivative(lambda t: moved(complex(t, x.imag)), x.real).value
    return complex(real, derivative(lambda t: moved(complex(x.real, t)), x.imag).value)


def _of_array(moved, x: np.ndarray) -> np.ndarray | None:
    wide = x.astype(complex if x.dtype.kind == "c" else float)

    def entry(index):
        def replaced(new):
            fresh = wide.copy()
            fresh[index] = new
            return moved(fresh)

        return (
            _of_complex(replaced, wide[index])
            if x.dtype.kind == "c"
            else derivative(replaced, wide[index]).value
        )

    out = np.zeros_like(wide)
    try:
        for index in np.ndindex(wide.shape):
            out[index] = entry(index)
    except (TypeError, IndexError):
        if x.dtype.kind in "iu":
            return None  # an index array
        raise
    return out


def _replaced(x, position: int, new) -> list:
    return [new if i == position else copy.deepcopy(v) for i, v in enumerate(x)]


def _like(x, values: list):
    if hasattr(type(x), "_make"):
        return type(x)._make(values)
    return type(x)(values)
