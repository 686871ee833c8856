"""Tangents in forward mode brought to the form of their primals: shape, real or complex, memory layout."""

from __future__ import annotations

import numpy as np

from ..own_code import stands_in
from .missing import NotImplementedTangent
from .zeros import AbstractZero, NoTangent, ZeroTangent  # noqa: F401 (in doctests)

stands_in(__file__)


def form_of(y, y_dot):
    """The tangent `y_dot` in the form of its primal `y`: of its shape and memory layout, an array or a
    number, real or complex as `y` is. If `y_dot` is zero: zeros for an array, NoTangent() for anything else.

    >>> form_of(np.ones(2), 3.0), form_of(2.0, ZeroTangent())
    (array([3., 3.]), NoTangent())
    """
    if isinstance(y_dot, NotImplementedTangent):
        return y_dot
    if isinstance(y_dot, AbstractZero):
        return no_change(y)
    if np.iscomplexobj(y_dot) != np.iscomplexobj(y):
        y_dot = y_dot + 0j if np.iscomplexobj(y) else np.real(y_dot)
    if np.shape(y_dot) != np.shape(y):
        y_dot = np.broadcast_to(y_dot, np.shape(y)).copy()
    if isinstance(y, np.ndarray):
        return laid_out(y, np.asarray(y_dot))
    return y_dot[()] if isinstance(y_dot, np.ndarray) else y_dot


def form_beside(x, y, y_dot):
    """The same for a result that may be a view of the argument `x`: then `y_dot` is already a view of the
    tangent of `x`, whose strides may differ, and stays one.

    >>> x, x_dot = np.ones((2, 9))[:, ::4], np.ones((2, 6))[:, ::2]
    >>> form_beside(x, x.T, x_dot.T).base is x_dot.base
    True
    """
    arrays = all(isinstance(part, np.ndarray) for part in (x, y, y_dot))
    return y_dot if arrays and np.may_share_memory(x, y) else form_of(y, y_dot)


def by_missing(slope, x_dot):
    """The contribution of a slope that is missing: zero if its argument does not move, for instance as one of
    several unpacked from a tuple or a list; otherwise the missing slope itself.

    >>> by_missing(NotImplementedTangent("none"), 0.0)
    0.0
    """
    return slope if isinstance(x_dot, NotImplementedTangent) or np.any(x_dot) else 0.0 * x_dot


def no_change(y):
    """The tangent of a result that does not vary: writable zeros for an array, also inside a list, tuple or
    dict; NoTangent() otherwise.
    """
    if type(y) in (list, tuple):
        return type(y)([no_change(item) for item in y])
    if type(y) is dict:
        return {key: no_change(item) for key, item in y.items()}
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fciub":
        return NoTangent()
    return laid_out(y, np.zeros_like(y, dtype=y.dtype if y.dtype.kind in "fc" else float))


def laid_out(y, y_dot):
    """The tangent of the array `y`, which owns its memory, as an array with the same memory layout as `y`, so
    that an operation gives a view of one exactly if it gives a view of the other.

    >>> laid_out(np.ones((2, 3)), np.ones((3, 2)).T).strides
    (24, 8)
    """
    if not isinstance(y, np.ndarray) or not isinstance(y_dot, np.ndarray):
        return y_dot
    strides = tuple(stride // y.itemsize * y_dot.itemsize for stride in y.strides)
    if strides == y_dot.strides and (y_dot.flags.writeable or not y.flags.writeable):
        return y_dot
    before = sum((n - 1) * stride for n, stride in zip(y.shape, strides, strict=True) if stride < 0)
    after = sum((n - 1) * stride for n, stride in zip(y.shape, strides, strict=True) if stride > 0)
    if not y.size or any(not stride and n > 1 for n, stride in zip(y.shape, strides, strict=True)):
        return y_dot.copy()
    memory = np.zeros(after - before + y_dot.itemsize, np.uint8)
    out = np.ndarray(y.shape, y_dot.dtype, memory, -before, strides)
    out[...] = y_dot
    return out
