"""Lists, tuples and numbers that stand for arrays: their tangents and cotangents as arrays, and back."""

import functools

import numpy as np

from ..errors import NotDifferentiableError, an
from ..tangents.forms import laid_out
from ..tangents.missing import MissingSlope, NotImplementedTangent
from ..tangents.structural import Tangent
from ..tangents.zeros import NoTangent, ZeroTangent

PLAIN_CLASSES = frozenset({np.ndarray, np.memmap})
"""The array classes whose operators and functions are those of ndarray."""


def check_plain(items):
    """Refuse a sequence that holds an array of a class with arithmetic of its own: masked, a matrix, …"""
    for x in items if isinstance(items, (list, tuple)) else ():
        if isinstance(x, np.ndarray) and type(x) not in PLAIN_CLASSES:
            refuse(
                f"an array of the class {type(x).__name__} in {an(type(items).__name__)} is not "
                "differentiated",
                "pass np.asarray of it",
            )
        if isinstance(x, (list, tuple)):
            check_plain(x)


def is_zero(x_bar):
    """Whether `x_bar` is one of the two zero objects (an array full of zeros is not)."""
    return isinstance(x_bar, (NoTangent, ZeroTangent))


def gradient_dtype(x):
    """The dtype of a cotangent of `x`: its own if that can hold one, float64 for integers and numbers.

    >>> gradient_dtype(np.float32(1)), gradient_dtype([1, 2])
    (dtype('float32'), dtype('float64'))
    """
    dtype = x.dtype if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x).dtype
    return dtype if dtype.kind in "fc" else np.dtype(float)


def like_argument(x, x_bar):
    """The array `x_bar` in the form of the argument `x`: real if `x` is, a `Tangent` for a list or tuple.

    `x_bar` has the shape that NumPy gives to `x`; a nested list gets nested Tangents down to its arrays.
    """
    kind = type(x)
    if isinstance(x_bar, MissingSlope):
        return x_bar
    if kind is list or kind is tuple:
        return Tangent(kind, *[like_argument(item, x_bar[i]) for i, item in enumerate(x)])
    if type(x_bar) is np.ndarray and x_bar.dtype.kind == "f":
        return x_bar
    if np.iscomplexobj(x_bar) and not np.iscomplexobj(x):
        return np.real(x_bar)
    return x_bar


def dense(x, x_dot):
    """The tangent (or cotangent) `x_dot` of `x` as one array of the shape of `x`, whatever it arrives as.

    >>> dense([1.0, 2.0], [ZeroTangent(), 3.0])
    array([0., 3.])
    """
    if is_zero(x_dot):
        if isinstance(x, np.ndarray):
            return laid_out(x, np.zeros_like(x, dtype=gradient_dtype(x)))
        zeros = np.zeros(np.shape(x), gradient_dtype(x))
        return zeros if isinstance(x, (list, tuple)) else zeros[()]
    if isinstance(x, (list, tuple)) and not isinstance(x_dot, (np.ndarray, np.generic)):
        parts = [dense(item, item_dot) for item, item_dot in zip(x, x_dot, strict=True)]
        for part in parts:
            if isinstance(part, NotImplementedTangent):
                return part
        return np.array(parts) if parts else np.zeros(np.shape(x))
    if isinstance(x_dot, MissingSlope):
        return x_dot
    x_dot = np.asarray(x_dot)
    return x_dot if x_dot.ndim or isinstance(x, np.ndarray) else x_dot[()]


def tangent_like(value, x_dot):
    """The array `x_dot` in the form of `value`, the nested lists of an array or a number.

    >>> tangent_like([[1.0], [2.0]], np.array([[0.5], [0.25]]))
    [[0.5], [0.25]]
    """
    return np.asarray(x_dot).tolist()


def items_of(xs, xs_dot):
    """The tangents of the items of `xs` (list, tuple, or array taken along its first axis), each dense."""
    if is_zero(xs_dot):
        return [dense(x, xs_dot) for x in xs]
    return [dense(x, x_dot) for x, x_dot in zip(xs, xs_dot, strict=True)]


def cotangent_of_items(xs, x_bars):
    """The cotangent of the sequence `xs`, from a cotangent array for each item."""
    if isinstance(xs, np.ndarray):
        return np.stack(x_bars)
    return Tangent(type(xs), *[like_argument(x, x_bar) for x, x_bar in zip(xs, x_bars, strict=True)])


ABSENT = object()
"""The default of a parameter that NumPy tells apart from every value: `initial=`, `where=`, `prepend=`."""


def given(names, values):
    """The options that were given, to be passed on.

    >>> given(("initial", "where"), (2.0, ABSENT))
    {'initial': 2.0}
    """
    return {name: value for name, value in zip(names, values, strict=True) if value is not ABSENT}


def reduced(function, a, axis, keepdims, initial, where):
    """`function(a, axis, …)` with the options that were given; written out, because what is passed on with
    stars counts as varying together.
    """
    if initial is ABSENT:
        if where is ABSENT:
            return function(a, axis, keepdims=keepdims)
        return function(a, axis, keepdims=keepdims, where=where)
    if where is ABSENT:
        return function(a, axis, keepdims=keepdims, initial=initial)
    return function(a, axis, keepdims=keepdims, initial=initial, where=where)


def reduced_in(function, dtype, a, axis, keepdims, initial, where):
    """The same of a function that takes a dtype."""
    if initial is ABSENT:
        if where is ABSENT:
            return function(a, axis, dtype, keepdims=keepdims)
        return function(a, axis, dtype, keepdims=keepdims, where=where)
    if where is ABSENT:
        return function(a, axis, dtype, keepdims=keepdims, initial=initial)
    return function(a, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def as_written(rrule):
    """Decorator of an rrule with optional arguments: the pullback answers for those given by position."""
    @functools.wraps(rrule)
    def rrule_as_written(*args, **kwargs):
        y, pullback = rrule(*args, **kwargs)

        def pullback_as_written(y_bar):
            return pullback(y_bar)[:1 + len(args)]
        return y, pullback_as_written
    return rrule_as_written


def refuse(found, *fixes):
    """Raise the error that says what has no derivative here, so that it never becomes a wrong number."""
    raise NotDifferentiableError(found, fixes=fixes)


def only_real(name, *xs):
    """Refuse complex numbers where a library drops their imaginary parts, with a warning or without one."""
    for x in xs:
        if np.iscomplexobj(x):
            refuse(f"{name} of complex numbers is not differentiated: their imaginary parts are dropped",
                   "pass np.real of them")
