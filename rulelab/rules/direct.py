"""The ufunc methods that may replace NumPy functions written in Python, if the argument certainly is an
array.

`np.sum(x)` examines `x` in a few Python functions and then calls `np.add.reduce(x, None)`, which takes a
third of the time if `x` is small. Numbers, warnings and errors are those of that call, so it may replace the
function. These are facts about NumPy, not about rules; the tests compare them with the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .kinds import Array, Type


class Direct(NamedTuple):
    """A replacement `call(x, axis, keepdims=…)` for a function; `name` is its name in emitted code."""

    call: Callable[..., Any]
    name: str
    of_floats: bool = False  # whether only for float64 arrays


def direct(target: Any, kind: Type) -> Direct | None:
    """Return what may replace a function whose first argument is of this kind; None if nothing may.

    >>> direct(np.sum, Array("f8", 1)).name
    'add_reduce'
    >>> direct(np.sum, Array("f8", 1)).call(np.array([1.0, 2.0]), None)
    np.float64(3.0)
    """
    if type(kind) is not Array:
        return None
    try:
        found = _DIRECT.get(target)
    except TypeError:  # not hashable
        return None
    return None if found is None or (found.of_floats and kind.dtype != "f8") else found


def mean_reduce(x: Any, axis: int | tuple[int, ...] | None, keepdims: bool = False) -> Any:
    """The mean of a float64 array, computed as `np.mean` does.

    >>> mean_reduce(np.array([[1.0, 2.0], [3.0, 6.0]]), 0)
    array([2., 4.])
    """
    if axis is None:
        count = x.size
        if count and not keepdims:  # the most frequent case
            return _ADD(x, None) / count
    else:
        count = 1
        for number in axis if type(axis) is tuple else (axis,):
            if not -x.ndim <= number < x.ndim:
                return np.mean(x, axis, keepdims=keepdims)  # which raises the error
            count *= x.shape[number]
    if not x.size:
        return np.mean(x, axis, keepdims=keepdims)  # which gives nan and the warning
    total = _ADD(x, axis, None, None, keepdims)
    return np.true_divide(total, count, out=total) if type(total) is np.ndarray else total / count


_ADD: Callable[..., Any] = np.add.reduce
_SUM, _PRODUCT = Direct(_ADD, "add_reduce"), Direct(np.multiply.reduce, "multiply_reduce")
_MAXIMUM, _MINIMUM = Direct(np.maximum.reduce, "maximum_reduce"), Direct(np.minimum.reduce, "minimum_reduce")
_MEAN = Direct(mean_reduce, "mean_reduce", of_floats=True)
_DIRECT: dict[Any, Direct] = {
    **dict.fromkeys((np.sum, np.ndarray.sum), _SUM),
    **dict.fromkeys((np.prod, np.ndarray.prod), _PRODUCT),
    **dict.fromkeys((np.max, np.amax, np.ndarray.max), _MAXIMUM),
    **dict.fromkeys((np.min, np.amin, np.ndarray.min), _MINIMUM),
    **dict.fromkeys((np.mean, np.ndarray.mean), _MEAN),
}
