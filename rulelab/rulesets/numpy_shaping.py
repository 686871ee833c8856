"""Rules for making, joining, splitting and rearranging arrays: functions that only move numbers."""

import itertools
import operator

import numpy as np

from ..rules.formulas import of_numbers, of_tuples, strong_zero
from ..rules.rule_table import RuleTable
from ..tangents.forms import form_beside, laid_out, no_change
from ..tangents.missing import NotImplementedTangent
from ..tangents.projection import unbroadcast
from ..tangents.structural import Tangent
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .array_likes import (
    ABSENT,
    as_written,
    check_plain,
    cotangent_of_items,
    dense,
    given,
    gradient_dtype,
    is_zero,
    items_of,
    like_argument,
    refuse,
)
from .numpy_indexing import labels, scatter

TABLE = RuleTable("numpy_shaping")

_V = np.array([0.5, -1.0, 2.0])
_M = np.arange(6.0).reshape(2, 3) - 2.5
_C = np.arange(24.0).reshape(2, 3, 4) - 7.5
_M32 = _M.astype(np.float32)


def linear(*targets, points):
    """State both rules of functions that are linear in their first argument, from the transposed map.

    The decorated `transposed(y_bar, x, …)` repeats the other parameters of the targets and returns x̄.
    """
    def declare(transposed):
        for target in targets:
            _state_linear(target, transposed, points)
        return transposed
    return declare


def _state_linear(target, transposed, points):
    @TABLE.rrule(target, leading=1, points=points, cotangents=(strong_zero(transposed),))
    def linear_rrule(x, *args, **kwargs):
        def linear_pullback(y_bar):
            return NoTangent(), like_argument(x, transposed(y_bar, x, *args, **kwargs))
        return target(x, *args, **kwargs), linear_pullback

    @TABLE.frule(target, linear=True)
    def linear_frule(tangents, x, *args, **kwargs):
        y, y_dot = target(x, *args, **kwargs), target(dense(x, tangents[1]), *args, **kwargs)
        return y, form_beside(x, y, y_dot)


# -- reshape, ravel, flatten: which order the numbers are read in --------------------------------------------

def resolved_order(x, order):
    """`'C'` or `'F'`: what the orders that ask how `x` lies in memory (`'A'`, `'K'`) mean for this `x`.

    >>> resolved_order(np.ones((2, 3)).T, "A")
    'F'
    """
    if order in ("C", "F", None):
        return order or "C"
    x = np.asarray(x)
    if x.flags.c_contiguous or order == "A":
        return "F" if x.flags.fnc else "C"
    if x.flags.f_contiguous:
        return "F"
    refuse(f"order={order!r} reads an array with strides {x.strides} in the order of its memory",
           "ask for order='C' or order='F'")


def ravel_bar(y_bar, a_shape):
    """The cotangent of an array of this shape whose numbers, read in C order, have the cotangents `y_bar`."""
    return y_bar if isinstance(y_bar, AbstractZero) else y_bar.reshape(a_shape)


def reshape_bar(y_bar, a_shape, shape):
    """The same; `shape` is that of `y_bar`."""
    return ravel_bar(y_bar, a_shape)


def reshape_method_bar(y_bar, a_shape, *shape):
    """The same; `shape` is that of `y_bar`, as the method takes it."""
    return ravel_bar(y_bar, a_shape)


def _state_reading(target, shape_of, points):
    """State the rules of one function; `shape_of(args, order)` parts its arguments from the order."""
    cotangent = {np.reshape: reshape_bar, np.ndarray.reshape: reshape_method_bar}.get(target, ravel_bar)

    @TABLE.rrule(target, leading=1, points=points, cotangents=(cotangent,))
    def reading_rrule(x, *args, **kwargs):
        args, order = shape_of(args, kwargs.pop("order", "C"))
        order = resolved_order(x, order)

        def reading_pullback(y_bar):
            return NoTangent(), like_argument(x, np.reshape(y_bar, np.shape(x), order=order))
        return target(x, *args, order=order, **kwargs), reading_pullback

    @TABLE.frule(target, linear=True)
    def reading_frule(tangents, x, *args, **kwargs):
        args, order = shape_of(args, kwargs.get("order", "C"))
        words = {**kwargs, "order": resolved_order(x, order)}
        return target(x, *args, **words), target(dense(x, tangents[1]), *args, **words)


def _order_second(args, order):
    return args[:1], (args[1] if len(args) > 1 else order)


def _order_first(args, order):
    return (), (args[0] if args else order)


def _order_by_name(args, order):
    return args, order


_state_reading(np.reshape, _order_second, [
    (_M, (3, 2)), (_M, -1), (_M.T, (2, 3)), (_M, (3, 2), "F"), (_C[:, ::2], (4, -1)),
    (3.0, (1, 1)), (np.zeros((0, 2)), (2, 0)), (np.arange(4), (2, 2)), ([1.0, 2.0], (2, 1)), (_M32, 6)])
_state_reading(np.ndarray.reshape, _order_by_name, [
    (_M, 3, 2), (_M, (3, 2)), (_M, -1), ((_M, 3, 2), {"order": "F"})])
for _target in (np.ravel, np.ndarray.ravel):
    _state_reading(_target, _order_first, [(_M,), (_M.T,), (_M, "F"), ((_M.T,), {"order": "F"})])
_state_reading(np.ndarray.flatten, _order_first, [(_M,), (_M.T, "F"), (_C[:, 1],)])


# -- axes ----------------------------------------------------------------------------------------------------

@linear(np.squeeze, np.ndarray.squeeze, points=[
    (_M[:, None],), (_M[None, :, None], 0), (_M[None, :, None], (0, -2)), (np.array([[1.5]]),), (_V,)])
def squeeze_transposed(y_bar, a, axis=None):
    return np.reshape(y_bar, np.shape(a))


@linear(np.expand_dims, points=[(_M, 1), (_M, -1), (_V, (0, 2)), (np.float64(2.0), 0), ([1.0, 2.0], 0)])
def expand_dims_transposed(y_bar, a, axis):
    return np.reshape(y_bar, np.shape(a))


def inverse_permutation(axes):
    """The axes that bring a transposed array back, or None if they were simply reversed.

    >>> inverse_permutation((1, -1, 0))
    (2, 0, 1)
    """
    if axes is None:
        return None
    return tuple(int(k) for k in np.argsort([axis % len(axes) for axis in axes]))


@linear(np.transpose, points=[(_M,), (_C, (1, 2, 0)), (_C, (-1, 0, 1)), (_V,), (2.0,), ([[1.0, 2.0]],)])
def transpose_transposed(y_bar, a, axes=None):
    return np.transpose(y_bar, inverse_permutation(axes))


@linear(np.ndarray.transpose, points=[(_M,), (_C, 1, 2, 0), (_C, (1, 2, 0)), (_C, None), (_C, -1, 0, 1)])
def transpose_method_transposed(y_bar, a, *axes):
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    return np.transpose(y_bar, inverse_permutation(axes or None))


@linear(np.swapaxes, np.ndarray.swapaxes, points=[(_M, 0, 1), (_C, -1, 0), (_V, 0, 0)])
def swapaxes_transposed(y_bar, a, axis1, axis2):
    return np.swapaxes(y_bar, axis1, axis2)


@linear(np.matrix_transpose, np.linalg.matrix_transpose, points=[(_M,), (_C,)])
def matrix_transpose_transposed(y_bar, x):
    return np.swapaxes(y_bar, -1, -2)


@linear(np.moveaxis, points=[(_C, 0, -1), (_C, (0, 1), (2, 0)), (_C, [-1], [0])])
def moveaxis_transposed(y_bar, a, source, destination):
    return np.moveaxis(y_bar, destination, source)


@linear(np.rollaxis, points=[(_C, 2), (_C, 0, 3), (_C, -1, 1)])
def rollaxis_transposed(y_bar, a, axis, start=0):
    # An array whose axis k has length k + 1 shows in its shape where each axis went.
    went = np.rollaxis(np.broadcast_to(0, range(1, np.ndim(a) + 1)), axis, start).shape
    return np.transpose(y_bar, inverse_permutation([length - 1 for length in went]))


@linear(np.flip, points=[(_M,), (_M, 0), (_C, (0, -1)), (_V[::2],)])
def flip_transposed(y_bar, m, axis=None):
    return np.flip(y_bar, axis)


@linear(np.fliplr, points=[(_M,), (_C,)])
def fliplr_transposed(y_bar, m):
    return np.fliplr(y_bar)


@linear(np.flipud, points=[(_M,), (_V,)])
def flipud_transposed(y_bar, m):
    return np.flipud(y_bar)


@linear(np.rot90, points=[(_M,), (_M, 2), (_M, -1), (_C, 3, (2, 0))])
def rot90_transposed(y_bar, m, k=1, axes=(0, 1)):
    return np.rot90(y_bar, -k, axes)


@linear(np.roll, points=[(_V, 1), (_M, -2), (_M, 4, 1), (_C, (1, -2), (0, -1)), (_M, 1, (0, 1)),
                         (np.zeros(0), 1)])
def roll_transposed(y_bar, a, shift, axis=None):
    back = tuple(-np.asarray(shift)) if np.ndim(shift) else -shift
    return np.roll(y_bar, back, axis)


# -- repeating -----------------------------------------------------------------------------------------------

@linear(np.broadcast_to, points=[(_V, (2, 3)), (_M[:, :1], (4, 2, 3)), (1.5, (2,)), (1.5, ()), (_V, 3),
                                 (_V, (0, 3))])
def broadcast_to_transposed(y_bar, array, shape, subok=False):
    return unbroadcast(y_bar, np.asarray(array))


@linear(np.tile, points=[(_V, 2), (_V, (2, 2)), (_M, (2, 1, 3)), (_M, 2), (1.5, 3), (_V, 0), (_M, ())])
def tile_transposed(y_bar, A, reps):
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    ndim = max(len(reps), np.ndim(A))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - np.ndim(A)) + np.shape(A)
    both = np.reshape(y_bar, tuple(itertools.chain(*zip(reps, shape))))
    return np.reshape(np.sum(both, axis=tuple(range(0, 2 * ndim, 2))), np.shape(A))


@linear(np.repeat, np.ndarray.repeat, points=[
    (_V, 2), (_M, 3), (_M, 2, 1), (_C, [1, 0, 2], -2), (_M, [2, 1], 0), (_M, [2], 0), (_V, 0)])
def repeat_transposed(y_bar, a, repeats, axis=None):
    flat = axis is None or np.ndim(a) == 0  # a number is repeated along an axis of its own
    shape, axis = ((np.size(a),), 0) if flat else (np.shape(a), axis % np.ndim(a))
    read = np.repeat(np.arange(shape[axis]), repeats)
    x_bar = scatter(y_bar, (slice(None),) * axis + (read,), shape, gradient_dtype(a))
    return np.reshape(x_bar, np.shape(a))


# -- joining -------------------------------------------------------------------------------------------------

def joining(target, promoted, points):
    """State both rules of a function that joins a sequence of arrays along an axis that it knows.

    `promoted(shapes)` gives the shapes that are really joined, and the axis.
    """
    @TABLE.rrule(target, leading=1, points=points)
    def joining_rrule(tup, **options):
        return _joined(tup, promoted, lambda arrays: target(arrays, **options))

    @TABLE.frule(target, linear=True)
    def joining_frule(tangents, tup, **options):
        return target(tup, **options), target(items_of(tup, tangents[1]))


def joining_along_axis(target, promoted, points):
    """The same for `np.concatenate` and `np.stack`, which take the axis, and an array to write to."""

    @of_tuples
    @strong_zero
    def joined_bar(y_bar, arrays, axis=0):
        if axis == 0 and target is np.concatenate and type(arrays) is tuple:
            return _cut(y_bar, arrays)
        shapes, axis = promoted([x.shape for x in arrays], axis)
        bars = tuple(map(np.reshape, unjoined(y_bar, shapes, axis), [x.shape for x in arrays]))
        return bars if type(arrays) is tuple else np.stack(bars)

    @TABLE.rrule(target, leading=1, points=points, cotangents=(joined_bar,))
    def joining_rrule(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
        return _joined(arrays, lambda shapes: promoted(shapes, axis),
                       lambda arrays: target(arrays, axis, dtype=dtype, casting=casting))

    @TABLE.frule(target, linear=True)
    def joining_frule(tangents, arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
        y = target(arrays, axis, dtype=dtype, casting=casting)
        return y, target(items_of(arrays, tangents[1]), axis)


def _cut(y_bar, arrays):
    """`y_bar` cut along its first axis into pieces as long as the arrays (views)."""
    pieces, start = [], 0
    for x in arrays:
        stop = start + len(x)
        pieces.append(y_bar[start:stop])
        start = stop
    return tuple(pieces)


def _joined(arrays, promoted, join):
    arrays = arrays if isinstance(arrays, (list, tuple, np.ndarray)) else tuple(arrays)
    check_plain(arrays)

    def joining_pullback(y_bar):
        shapes, axis = promoted([np.shape(x) for x in arrays])
        parts = unjoined(y_bar, shapes, axis)
        x_bars = [np.reshape(part, np.shape(x)) for x, part in zip(arrays, parts)]
        return NoTangent(), cotangent_of_items(arrays, x_bars)
    return join(arrays), joining_pullback


def unjoined(y_bar, shapes, axis):
    """`y_bar` cut along `axis` into pieces of `shapes` (views)."""
    parts, start, before = [], 0, (slice(None),) * axis
    for shape in shapes:
        stop = start + shape[axis]
        parts.append(y_bar[before + (slice(start, stop),)])
        start = stop
    return parts


def _concatenated(shapes, axis):
    if axis is None:
        return [(int(np.prod(shape)),) for shape in shapes], 0
    return shapes, axis % len(shapes[0])


def _stacked(shapes, axis):
    axis = axis % (len(shapes[0]) + 1)
    return [shape[:axis] + (1,) + shape[axis:] for shape in shapes], axis


# `np.r_[…]` and `np.c_[…]`: numbers and arrays joined along the first and along the last axis.

_V2 = 2 * _V


@TABLE.rrule(operator.getitem, leading=2, points=[
    (np.r_, (_V, 2.5, _V2)), (np.r_, (_M, _M[:1])), (np.r_, _V), (np.r_, 2.5), (np.r_, ([1.0, 2.0], _V)),
    (np.r_, (0.5, slice(0, 3), _V))])
def row_joined_rrule(a: type(np.r_), b, /):
    return _joined_in_brackets(a, b, 0)


@TABLE.rrule(operator.getitem, leading=2, points=[
    (np.c_, (_V, _V2)), (np.c_, (_M, _V[:2])), (np.c_, (1.0, 2.5)), (np.c_, _V), (np.c_, (slice(0, 3), _V)),
    (np.c_, (_C, _C[..., :1]))])
def column_joined_rrule(a: type(np.c_), b, /):
    return _joined_in_brackets(a, b, -1)


def _joined_in_brackets(joiner, key, axis):
    y = joiner[key]
    check_parts(key)

    def brackets_pullback(y_bar):
        parts = key if isinstance(key, tuple) else (key,)
        shapes = [np.shape(joiner[part]) for part in parts]
        cut = unjoined(y_bar, shapes, axis % np.ndim(y))
        bars = [
            NoTangent() if isinstance(part, slice) else like_argument(part, np.reshape(bar, np.shape(part)))
            for part, bar in zip(parts, cut, strict=True)
        ]
        return NoTangent(), NoTangent(), Tangent(tuple, *bars) if isinstance(key, tuple) else bars[0]

    return y, brackets_pullback


@TABLE.frule(operator.getitem)
def row_joined_frule(tangents, a: type(np.r_), b, /):
    check_parts(b)
    return a[b], _brackets_tangent(a, b, tangents[2], 0)


@TABLE.frule(operator.getitem)
def column_joined_frule(tangents, a: type(np.c_), b, /):
    check_parts(b)
    return a[b], _brackets_tangent(a, b, tangents[2], -1)


def _brackets_tangent(joiner, key, key_dot, axis):
    if is_zero(key_dot):
        return no_change(joiner[key])
    pairs = zip(key, key_dot, strict=True) if isinstance(key, tuple) else [(key, key_dot)]
    parts = [np.reshape(moved(part, dot), np.shape(joiner[part])) for part, dot in pairs]
    return np.concatenate(parts, axis)


def moved(part, dot):
    """The tangent of a number, an array or a constant slice in brackets."""
    return np.zeros(np.size(np.r_[part])) if isinstance(part, slice) else dense(part, dot)


def check_parts(key):
    """NotDifferentiableError for the texts that give `np.r_` and `np.c_` directions."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, str):
            refuse("np.r_ and np.c_ are not differentiated with directions in a string",
                   "use np.concatenate or np.stack")
        if not isinstance(part, slice):
            check_plain([part])


TABLE.non_differentiable(check_parts)


def _at_least(ndim, shape):
    """The shape that `np.atleast_1d`, `_2d` or `_3d` gives an array of `shape`."""
    if ndim == 3 and len(shape) in (1, 2):
        return ((1,) + shape if len(shape) == 1 else shape) + (1,)
    return (1,) * (ndim - len(shape)) + shape


def _vstacked(shapes):
    return [_at_least(2, shape) for shape in shapes], 0


def _hstacked(shapes):
    shapes = [_at_least(1, shape) for shape in shapes]
    return shapes, 0 if len(shapes[0]) == 1 else 1


def _dstacked(shapes):
    return [_at_least(3, shape) for shape in shapes], 2


def _column_stacked(shapes):
    return [shape if len(shape) > 1 else (*shape, 1)[-2:] if shape else (1, 1) for shape in shapes], 1


joining_along_axis(np.concatenate, _concatenated, points=[
    ([_V, 2 * _V],), ((_M, _M[:1]),), ([_M, _M[:, :1]], -1), ([_M, _V], None), ([_M32, _V[None]], 0), (_C, 1),
    ([_V, np.zeros(0)],), ([_V, np.arange(2)],), (([1.0, 2.0], _V),), (([_M.T, _M.T],), {"axis": 1})])
joining_along_axis(
    np.stack, _stacked, points=[([_V, 2 * _V],), ((_M, _M), 1), ([_M, 2 * _M], -1), ([1.0, 2.0],), (_C, 2)]
)
joining(np.vstack, _vstacked, points=[([_V, _M],), ((1.0, 2.0),), (_C,), ([_C, _C],)])
joining(np.hstack, _hstacked, points=[([_V, _V[:1]],), ([_M, _M[:, :1]],), ([1.0, 2.0],), ((1.0, _V),)])
joining(np.dstack, _dstacked, points=[([_V, 2 * _V],), ([_M, 2 * _M],), ([_C, _C[..., :1]],), ([1.0, 2.0],)])
joining(np.column_stack, _column_stacked, points=[([_V, 2 * _V],), ((_M, _V[:2]),), ([1.0, 2.0],)])


@TABLE.rrule(np.append, leading=2, points=[(_V, 2.5), (_M, _V), (_M, _M[:1], 0), (_M, _M[:, 1:], -1),
                                           ([1.0], [2.0])])
def append_rrule(arr, values, axis=None):
    def append_pullback(y_bar):
        shapes, along = _concatenated([np.shape(arr), np.shape(values)], axis)
        x_bar, values_bar = unjoined(y_bar, shapes, along)
        return (NoTangent(), like_argument(arr, np.reshape(x_bar, np.shape(arr))),
                like_argument(values, np.reshape(values_bar, np.shape(values))))
    return np.append(arr, values, axis), append_pullback


@TABLE.frule(np.append)
def append_frule(tangents, arr, values, axis=None):
    return np.append(arr, values, axis), np.append(dense(arr, tangents[1]), dense(values, tangents[2]), axis)


def _numbered(blocks, start=0):
    """Nested lists like these of arrays that number all their elements, and how many there are."""
    if isinstance(blocks, list):
        made = []
        for block in blocks:
            numbers, start = _numbered(block, start)
            made.append(numbers)
        return made, start
    return start + labels(blocks), start + np.size(blocks)


def _in_blocks(blocks, flat, start=0):
    """The cotangent of nested lists of arrays, from one long vector for all elements."""
    if isinstance(blocks, list):
        parts = []
        for block in blocks:
            part, start = _in_blocks(block, flat, start)
            parts.append(part)
        return Tangent(list, *parts), start
    stop = start + np.size(blocks)
    return like_argument(blocks, np.reshape(flat[start:stop], np.shape(blocks))[()]), stop


def _blocks_tangent(blocks, dots):
    if isinstance(blocks, list):
        dots = [dots] * len(blocks) if is_zero(dots) else dots
        return [_blocks_tangent(block, dot) for block, dot in zip(blocks, dots, strict=True)]
    return dense(blocks, dots)


@TABLE.rrule(
    np.block,
    leading=1,
    points=[
        ([_V, 2 * _V],),
        ([[_M, _M], [_V, 2 * _V]],),
        ([[_M, 1.5 * _M[:, :1]], [3 * _V, 2.5]],),
        ([1.0, 2.0],),
        (_M,),
        ([[_M32, _M32]],),
        ([[[_C, _C[..., :1]]]],),
    ],
)
def block_rrule(arrays):
    """Every element goes to one place and gets its cotangent."""
    check_plain(arrays)
    numbers, count = _numbered(arrays)
    read = np.block(numbers)

    def block_pullback(y_bar):
        return NoTangent(), _in_blocks(arrays, scatter(y_bar, read, (count,), np.asarray(y_bar).dtype))[0]
    return np.block(arrays), block_pullback


@TABLE.frule(np.block)
def block_frule(tangents, arrays):
    return np.block(arrays), np.block(_blocks_tangent(arrays, tangents[1]))


def _check_inserted(arr, values):
    if gradient_dtype(arr) != _dtype_of(arr) and _dtype_of(values).kind in "fc":
        refuse(f"np.insert of {_dtype_of(values)} values into {_dtype_of(arr)} is not differentiated: it "
               "rounds them",
               "convert the array to float first")


@TABLE.rrule(
    np.insert,
    leading=3,
    points=[
        (_V, 1, 2.5),
        (_V, [0, 2], [1.5, 2.5]),
        (_M, 1, 3.5, 1),
        (_M, 1, _V, 0),
        (_M, [0, 2], _M[:, :2], 1),
        (_M, 2, 0.5),
        (_V, slice(0, 3, 2), 4.5),
        (_M32, 0, 1.0, -1),
        ([1.0, 2.0], -1, [0.5]),
    ],
)
def insert_rrule(arr, obj, values, axis=None):
    """Every element of the result is one of `arr`, or one of `values`, perhaps repeated."""
    _check_inserted(arr, values)
    read = np.insert(labels(arr), obj, -1 - labels(values), axis)

    def insert_pullback(y_bar):
        kept = read >= 0
        arr_bar = scatter(y_bar[kept], read[kept], (np.size(arr),), gradient_dtype(arr))
        values_bar = scatter(y_bar[~kept], -1 - read[~kept], (np.size(values),), gradient_dtype(values))
        return (NoTangent(), like_argument(arr, np.reshape(arr_bar, np.shape(arr))), NoTangent(),
                like_argument(values, np.reshape(values_bar, np.shape(values))[()]))
    return np.insert(arr, obj, values, axis), insert_pullback


@TABLE.frule(np.insert)
def insert_frule(tangents, arr, obj, values, axis=None):
    _check_inserted(arr, values)
    arr_dot, values_dot = dense(arr, tangents[1]), dense(values, tangents[3])
    y = np.insert(arr, obj, values, axis)
    return y, laid_out(y, np.insert(arr_dot, obj, values_dot, axis))


# -- splitting -----------------------------------------------------------------------------------------------

def splitting(target, axis_of, points):
    """State both rules of a function that cuts an array into a list along `axis_of(x, …)`."""
    @TABLE.rrule(target, leading=1, points=points)
    def splitting_rrule(ary, *args, **kwargs):
        parts = target(ary, *args, **kwargs)

        def splitting_pullback(y_bar):
            if not parts:  # of an axis without entries
                return NoTangent(), ZeroTangent()
            axis = axis_of(ary, *args, **kwargs)
            join = np.concatenate if parts[0].ndim == np.ndim(ary) else np.stack
            return NoTangent(), like_argument(ary, join(items_of(parts, y_bar), axis=axis))
        if _overlap(parts, ary):
            refuse("the cuts are not in increasing order, so the parts overlap or leave gaps",
                   "sort the cuts")
        return parts, splitting_pullback

    @TABLE.frule(target)
    def splitting_frule(tangents, ary, *args, **kwargs):
        parts, ary_dot = target(ary, *args, **kwargs), dense(ary, tangents[1])
        if isinstance(ary, np.ndarray) or np.ndim(parts[0]) != np.ndim(ary):
            return parts, target(ary_dot, *args, **kwargs)
        axis = axis_of(ary, *args, **kwargs)
        return parts, np.split(ary_dot, _cuts(parts, ary, axis), axis=axis)


def _cuts(parts, ary, axis):
    """Where a list was cut: NumPy takes its own length for that along any axis."""
    if _overlap(parts, ary):
        refuse("a list whose parts overlap or leave gaps is not differentiated", "make it an array first")
    return np.cumsum([np.shape(part)[axis] for part in parts])[:-1]


def _overlap(parts, ary):
    return sum(np.size(part) for part in parts) != np.size(ary)


def _split_axis(ary, indices_or_sections, axis=0):
    return axis


splitting(np.split, _split_axis, points=[(_V, 3), (_M, [1, 1, 2], 1), (_C, 2, -1), (_V, [1, 5])])
splitting(np.array_split, _split_axis, points=[
    (_V, 2), (_C, 3, -1), (_M, [1], 1), ([1.0, 2.0, 0.5], 2), ([[1.0], [2.0]], 2, 1)])
splitting(np.hsplit, lambda ary, indices_or_sections: 0 if np.ndim(ary) == 1 else 1,
          points=[(_V, 3), (_M, [1])])
splitting(np.vsplit, lambda ary, indices_or_sections: 0, points=[(_M, 2)])
splitting(np.dsplit, lambda ary, indices_or_sections: 2, points=[(_C, 2)])
if hasattr(np, "unstack"):
    splitting(np.unstack, lambda x, axis=0: axis, points=[(_M,), ((_C,), {"axis": -1})])


# -- several arrays in, as many out --------------------------------------------------------------------------

def _promote_one_or_many(target, ndim, points):
    @TABLE.rrule(target, leading=None, points=points)
    def atleast_rrule(*arys):
        def atleast_pullback(y_bar):
            y_bars = [y_bar] if len(arys) == 1 else y_bar
            return NoTangent(), *[_reshaped_like(x, x_bar) for x, x_bar in zip(arys, y_bars, strict=True)]
        return target(*arys), atleast_pullback

    @TABLE.frule(target)
    def atleast_frule(tangents, *arys):
        arys_dot = [target(dense(x, x_dot)) for x, x_dot in zip(arys, tangents[1:])]
        return target(*arys), (arys_dot[0] if len(arys) == 1 else tuple(arys_dot))


def _reshaped_like(x, x_bar):
    return x_bar if is_zero(x_bar) else like_argument(x, np.reshape(x_bar, np.shape(x)))


_promote_one_or_many(np.atleast_1d, 1, points=[(2.0,), (_V,), (2.0, _M), ([1.0, 2.0],)])
_promote_one_or_many(np.atleast_2d, 2, points=[(2.0,), (_V,), (_C,), (_V, 1.0)])
_promote_one_or_many(np.atleast_3d, 3, points=[(2.0,), (_V,), (_M,), (_C, _V)])


@TABLE.rrule(np.broadcast_arrays, leading=None, points=[(_M, _V), (_M[:, :1], 2.0, _V), (_V,)])
def broadcast_arrays_rrule(*args, subok=False):
    def broadcast_arrays_pullback(y_bar):
        return NoTangent(), *[x_bar if is_zero(x_bar) else unbroadcast(x_bar, np.asarray(x))
                              for x, x_bar in zip(args, y_bar, strict=True)]
    return np.broadcast_arrays(*args), broadcast_arrays_pullback


@TABLE.frule(np.broadcast_arrays)
def broadcast_arrays_frule(tangents, *args, subok=False):
    dots = [dense(x, x_dot) for x, x_dot in zip(args, tangents[1:])]
    return np.broadcast_arrays(*args), np.broadcast_arrays(*dots)


@TABLE.rrule(np.meshgrid, leading=None, points=[
    (_V, _V[:2]), ((_V, _V[:2], _V[1:]), {"indexing": "ij"}), ((_V, _V[:2]), {"sparse": True}), (_V, 2.0),
    (_V,)])
def meshgrid_rrule(*xi, copy=True, sparse=False, indexing="xy"):
    def meshgrid_pullback(y_bar):
        x_bars = []
        for k, (x, x_bar) in enumerate(zip(xi, y_bar, strict=True)):
            own = {0: 1, 1: 0}.get(k, k) if indexing == "xy" and len(xi) > 1 else k
            others = tuple(axis for axis in range(len(xi)) if axis != own)
            x_bars.append(x_bar if is_zero(x_bar) else _reshaped_like(x, np.sum(x_bar, axis=others)))
        return NoTangent(), *x_bars
    return np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing), meshgrid_pullback


@TABLE.frule(np.meshgrid)
def meshgrid_frule(tangents, *xi, copy=True, sparse=False, indexing="xy"):
    dots = [dense(x, x_dot) for x, x_dot in zip(xi, tangents[1:])]
    return (np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing),
            np.meshgrid(*dots, copy=copy, sparse=sparse, indexing=indexing))


# -- padding -------------------------------------------------------------------------------------------------

_COPYING_PADS = ("edge", "reflect", "symmetric", "wrap")


@TABLE.rrule(np.pad, leading=1, points=[
    (_V, 2), (_M, ((1, 2), (0, 1))), ((_M, 1), {"constant_values": 3.0}), (_M, (1, 0), "constant"),
    (_V, 2, "edge"),
    (_V, 2, "reflect"), (_M, ((1, 1), (2, 0)), "symmetric"), (_V, (4, 1), "wrap"), (_M, {-1: (1, 2)})])
def pad_rrule(array, pad_width, mode="constant", **kwargs):
    y = np.pad(array, pad_width, mode, **kwargs)
    read = padded_labels(array, pad_width, mode, kwargs)

    def pad_pullback(y_bar):
        inside = read >= 0
        x_bar = scatter(np.reshape(y_bar, np.shape(y))[inside], read[inside], (np.size(array),),
                        gradient_dtype(array))
        return NoTangent(), like_argument(array, np.reshape(x_bar, np.shape(array)))
    return y, pad_pullback


@TABLE.frule(np.pad)
def pad_frule(tangents, array, pad_width, mode="constant", *, constant_values=ABSENT, reflect_type=ABSENT):
    if constant_values is ABSENT:
        y = np.pad(array, pad_width, mode, **given(("reflect_type",), (reflect_type,)))
    else:
        y = np.pad(array, pad_width, mode, constant_values=constant_values)
    read = padded_labels(array, pad_width, mode, given(("reflect_type",), (reflect_type,)))
    inside, flat = read >= 0, np.ravel(dense(array, tangents[1]))
    return y, laid_out(y, np.where(inside, flat[np.where(inside, read, 0)] if np.size(array) else 0.0, 0.0))


def padded_labels(array, pad_width, mode, options):
    """For each element of the padded array the flat index of the one it copies, -1 for none."""
    if mode == "constant":
        return np.pad(labels(array), pad_width, constant_values=-1)
    if mode not in _COPYING_PADS or options.get("reflect_type", "even") != "even":
        given = ", ".join(f"{name}={value!r}" for name, value in {"mode": mode, **options}.items())
        refuse(f"np.pad with {given} is not differentiated: it does not pad with copies of elements",
               f"use one of the modes constant, {', '.join(_COPYING_PADS)}")
    return np.pad(labels(array), pad_width, mode, **options)


@TABLE.rrule(np.trim_zeros, leading=1, points=[
    (_V,), (_V, "b")])
def trim_zeros_rrule(filt, trim="fb"):
    """The zeros at the ends are not in the result: they get nothing."""
    start = _trimmed_start(filt, trim)
    y = np.trim_zeros(filt, trim)

    def trim_zeros_pullback(y_bar):
        return NoTangent(), scatter(y_bar, slice(start, start + len(y)), np.shape(filt), gradient_dtype(filt))
    return y, trim_zeros_pullback


@TABLE.frule(np.trim_zeros)
def trim_zeros_frule(tangents, filt, trim="fb"):
    start, y = _trimmed_start(filt, trim), np.trim_zeros(filt, trim)
    return y, dense(filt, tangents[1])[start:start + len(y)]


def _trimmed_start(filt, trim):
    if not isinstance(filt, np.ndarray) or filt.ndim != 1:
        refuse("np.trim_zeros of anything but an array with one axis is not differentiated",
               "make it one with np.ravel")
    if not np.any(filt):
        return 0
    return int(np.flatnonzero(filt)[0]) if "f" in trim.lower() else 0


# -- triangles and diagonals ---------------------------------------------------------------------------------

@linear(np.tril, points=[(_M,), (_M, 1), (_C, -1), (_M32,), (_V,), (_V, -1)])
def tril_transposed(y_bar, m, k=0):
    return _of_rows(np.tril(y_bar, k), m)


@linear(np.triu, points=[(_M,), (_M.T, -1), (_C, 1), (_V, 1), ([1.0, 2.0],)])
def triu_transposed(y_bar, m, k=0):
    return _of_rows(np.triu(y_bar, k), m)


def _of_rows(y_bar, m):
    """The cotangent of a matrix, or of a vector, which NumPy takes for each row of one."""
    return np.sum(y_bar, axis=0) if np.ndim(m) == 1 else y_bar


def diagonal_index(shape, offset):
    """The rows and columns of a diagonal of a matrix of `shape`.

    >>> diagonal_index((2, 3), 1)
    (array([0, 1]), array([1, 2]))
    """
    length = max(0, min(shape[0] + min(offset, 0), shape[1] - max(offset, 0)))
    steps = np.arange(length)
    return steps + max(-offset, 0), steps + max(offset, 0)


@linear(np.diagonal, np.ndarray.diagonal, points=[
    (_M,), (_M, 1), (_M, -1), (_C, 0, 1, 2), (_C, 1, -1, 0), (_M, 7)])
def diagonal_transposed(y_bar, a, offset=0, axis1=0, axis2=1):
    shape = np.shape(a)
    axis1, axis2 = axis1 % len(shape), axis2 % len(shape)
    index = diagonal_index((shape[axis1], shape[axis2]), offset)
    if (axis1, axis2) == (0, 1) and len(shape) == 2:
        x_bar = np.zeros(shape, gradient_dtype(a))
        x_bar[index] = y_bar
        return x_bar
    rest = tuple(n for k, n in enumerate(shape) if k not in (axis1, axis2))
    x_bar = scatter(np.moveaxis(y_bar, -1, 0), index, (shape[axis1], shape[axis2], *rest), gradient_dtype(a))
    return np.moveaxis(x_bar, (0, 1), (axis1, axis2))


@linear(np.linalg.diagonal, points=[(_M,), ((_C,), {"offset": 1})])
def linalg_diagonal_transposed(y_bar, x, offset=0):
    return diagonal_transposed(y_bar, x, offset, -2, -1)


@linear(np.diag, points=[(_V,), (_V, -1), (_M,), (_M, 1), ([1.0, 2.0], 2)])
def diag_transposed(y_bar, v, k=0):
    return np.diagonal(y_bar, k) if np.ndim(v) == 1 else diagonal_transposed(y_bar, v, k)


@linear(np.diagflat, points=[(_V,), (_M, 1), (2.0,)])
def diagflat_transposed(y_bar, v, k=0):
    return np.reshape(np.diagonal(y_bar, k), np.shape(v))


# -- sort ----------------------------------------------------------------------------------------------------

_TIED = np.array([[2.0, 1.0, 3.0], [-1.0, 0.5, -2.0]])


@TABLE.rrule(np.sort, leading=1, points=[
    (_TIED,), (_TIED, 0), (_TIED, None), (_TIED[0],), (_C[:, ::-1], 1),
    ((_TIED[:, ::-1],), {"kind": "stable"})])
def sort_rrule(a, axis=-1, kind=None, order=None, *, stable=None):
    """Each sorted value sends its cotangent to where it came from; equal values keep their order."""
    flat, axis, read = _sorting_index(a, axis, order)

    def sort_pullback(y_bar):
        x_bar = np.take_along_axis(np.reshape(y_bar, flat.shape), np.argsort(read, axis), axis)
        return NoTangent(), like_argument(a, np.reshape(x_bar, np.shape(a)))
    return np.take_along_axis(flat, read, axis), sort_pullback


@TABLE.frule(np.sort)
def sort_frule(tangents, a, axis=-1, kind=None, order=None, *, stable=None):
    flat, axis, read = _sorting_index(a, axis, order)
    a_dot = np.reshape(dense(a, tangents[1]), flat.shape)
    return np.take_along_axis(flat, read, axis), np.take_along_axis(a_dot, read, axis)


def _sorting_index(a, axis, order):
    """The array that is sorted, the axis, and the index that sorts it."""
    if order is not None:
        refuse(f"sorting is not differentiated with order={order!r}, the fields of a structured array")
    flat, axis = (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)
    return flat, axis, np.argsort(flat, axis, kind="stable")


# -- making and casting --------------------------------------------------------------------------------------

def is_flat_cast(x, dtype):
    """Whether going to `dtype` throws the derivative away: from float or complex to integer or bool."""
    kind = np.dtype(dtype).kind
    return kind == "b" or (kind in "iu" and gradient_dtype(x) == _dtype_of(x))


def _dtype_of(x):
    return x.dtype if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x).dtype


def making(*targets, points):
    """State both rules of functions that give their first argument as an array, its numbers unchanged.

    To an integer or bool dtype the derivative is zero everywhere it exists, and ZeroTangent is what flows.
    """
    for target in targets:
        _state_making(target, points)


@of_numbers
@of_tuples
def made_bar(y_bar, x):
    """The cotangent of what an array was made of, real numbers or arrays of these in a tuple, or an array."""
    if type(x) is not tuple or isinstance(y_bar, AbstractZero):
        return y_bar
    return (y_bar,) * len(x) if isinstance(y_bar, NotImplementedTangent) else tuple(y_bar)


def _state_making(target, points):
    @TABLE.rrule(target, leading=1, points=points, cotangents=(made_bar,))
    def making_rrule(x, *args, **kwargs):
        y = target(x, *args, **kwargs)
        _check_numeric(y)

        def making_pullback(y_bar):
            if is_flat_cast(x, y.dtype):
                return NoTangent(), ZeroTangent()
            return NoTangent(), like_argument(x, np.reshape(y_bar, np.shape(x)))
        return y, making_pullback

    @TABLE.frule(target, linear=True)
    def making_frule(tangents, x, *args, **kwargs):
        y = target(x, *args, **kwargs)
        _check_numeric(y)
        if is_flat_cast(x, y.dtype):
            return y, no_change(y)
        return y, cast_tangent(x, dense(x, tangents[1]), y)


def cast_tangent(x, x_dot, y):
    """The tangent `x_dot` of `x` as one of `y`, which has the same numbers: of its dtype, shape and layout;
    a view of it where `y` is one of `x`.
    """
    if isinstance(x, np.ndarray) and np.may_share_memory(x, y):
        return np.reshape(x_dot, np.shape(y))
    y_dot = np.reshape(np.real(x_dot) if y.dtype.kind == "f" else x_dot, np.shape(y))
    if not isinstance(y, np.ndarray):
        return np.asarray(y_dot).astype(y.dtype)[()]
    return np.asarray(y_dot).astype(gradient_dtype(y), order="F" if y.flags.fnc else "C")


@TABLE.rrule(np.ndarray.view, leading=1, points=[(_V,), (_M.T,)])
def view_rrule(a):
    """`a.view()`, the same array; to read its bytes as something else (`dtype`, `type`) is not covered."""
    def view_pullback(y_bar):
        return NoTangent(), y_bar
    return a.view(), view_pullback


@TABLE.frule(np.ndarray.view)
def view_frule(tangents, a):
    return a.view(), dense(a, tangents[1])


@TABLE.rrule(np.ndarray.to_device, leading=1, points=[(_V, "cpu")])
def to_device_rrule(a, device, /, *, stream=None):
    def to_device_pullback(y_bar):
        return NoTangent(), y_bar
    return a.to_device(device, stream=stream), to_device_pullback


@TABLE.frule(np.ndarray.to_device)
def to_device_frule(tangents, a, device, /, *, stream=None):
    return a.to_device(device, stream=stream), dense(a, tangents[1])


def _check_numeric(y):
    if y.dtype.kind not in "fciub":
        refuse(f"an array of dtype {y.dtype} was made; its elements have no derivative here",
               "make an array of numbers")


making(np.array, points=[
    ([1.0, 2.0],), (_V,), ([_V, 2 * _V],), ([[1.0, 2.0], (3.0, 4.0)],), (((_V, _V), [_V, _V]),), (2.5,),
    ((_V,), {"ndmin": 3}), ([np.array(1.0), 2.0],), ([1, 2],), ([[1.0], [2]],)])
making(np.asarray, points=[(_V,), ([1.0, 2.0],), (_M.T,), ((1.0, 2),), (_M32, float)])
making(np.asanyarray, points=[(_V,), ([1.0, 2.0],)])
making(np.asarray_chkfinite, points=[(_V,)])
making(np.ascontiguousarray, points=[(_M.T,), (2.0,)])
making(np.asfortranarray, points=[(_M,)])
making(np.copy, points=[(_M.T,), ([1.0, 2.0],)])
making(np.ndarray.copy, points=[(_M.T,), (_V, "F")])
making(np.ndarray.__copy__, points=[(_V,)])
making(np.astype, points=[(_M32, float), (_V, complex), (np.arange(3), float)])
making(np.ndarray.astype, points=[(_M32, np.float64), (_V, "f8"), (_V, complex), (np.arange(3), float)])
making(np.generic.astype, points=[(np.float64(2.0), complex)])
making(np.require, points=[(_M.T, float, "C"), (_V,), (_M32, np.float64, ["C", "W"])])
making(np.float64, points=[(2.5,), (np.float32(2.5),), (3,), ([1.0, 2.0],)])
making(np.float32, points=[])


# -- filling -------------------------------------------------------------------------------------------------

@TABLE.rrule(np.full, leading=2, points=[((2, 3), 1.5), (3, 2.0), ((2, 3), _V), ((0, 3), 1.5), ((), 2.0)])
@as_written
def full_rrule(shape, fill_value, dtype=None, order="C"):
    y = np.full(shape, fill_value, dtype, order)

    def full_pullback(y_bar):
        if is_flat_cast(fill_value, y.dtype):
            return NoTangent(), NoTangent(), ZeroTangent()
        return NoTangent(), NoTangent(), like_argument(fill_value, unbroadcast(y_bar, np.asarray(fill_value)))
    return y, full_pullback


@TABLE.frule(np.full)
def full_frule(tangents, shape, fill_value, dtype=None, order="C"):
    y = np.full(shape, fill_value, dtype, order)
    if is_flat_cast(fill_value, y.dtype):
        return y, no_change(y)
    return y, np.full(shape, dense(fill_value, tangents[2]), gradient_dtype(y))


@TABLE.rrule(np.full_like, leading=2, points=[(_M, 1.5), (_M, _V), (_V, np.float32(2.0))])
@as_written
def full_like_rrule(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    y = np.full_like(a, fill_value, dtype, order, subok, shape)

    def full_like_pullback(y_bar):
        if is_flat_cast(fill_value, y.dtype):
            return NoTangent(), ZeroTangent(), ZeroTangent()
        return NoTangent(), ZeroTangent(), like_argument(fill_value,
                                                         unbroadcast(y_bar, np.asarray(fill_value)))
    return y, full_like_pullback


@TABLE.frule(np.full_like)
def full_like_frule(tangents, a, fill_value, dtype=None, order="K", subok=True, shape=None):
    y = np.full_like(a, fill_value, dtype, order, subok, shape)
    if is_flat_cast(fill_value, y.dtype):
        return y, no_change(y)
    return y, laid_out(y, np.full(y.shape, dense(fill_value, tangents[2]), gradient_dtype(y)))


# -- attributes ----------------------------------------------------------------------------------------------

def transposed_attribute(x):
    """`x.T` and its pullback."""
    def T_pullback(y_bar):
        return y_bar.T
    return x.T, T_pullback


def matrix_transposed_attribute(x):
    """`x.mT` and its pullback."""
    def mT_pullback(y_bar):
        return y_bar.mT
    return x.mT, mT_pullback


def real_attribute(x):
    """`x.real` and its pullback; by the convention for complex gradients ȳ itself is the real part of x̄."""
    def real_pullback(y_bar):
        return y_bar
    return x.real, real_pullback


def imag_attribute(x):
    """`x.imag` and its pullback: `i ȳ` for a complex `x`, nothing for a real one."""
    def imag_pullback(y_bar):
        return 1j * y_bar if np.iscomplexobj(x) else ZeroTangent()
    return x.imag, imag_pullback


def flat_attribute(x):
    """`x.flat` is an iterator that sees later writes: refused."""
    refuse("ndarray.flat was read; rulelab does not follow it", "use x.ravel() instead")


ATTRIBUTES = {"T": transposed_attribute, "mT": matrix_transposed_attribute, "real": real_attribute,
              "imag": imag_attribute, "flat": flat_attribute}
"""Differentiable attributes of arrays: name to `attribute(x) -> (value, pullback)`; pullbacks give x̄."""

PLAIN_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "flags",
                              "device"})
"""Attributes of arrays that carry no derivative."""


def _attribute_rule(attribute):
    """The rule of an attribute, on its descriptor: `x.T` asks for it as a call asks for that of its
    function.
    """

    def attribute_rrule(x):
        y, pullback = attribute(x)

        def attribute_pullback(y_bar):
            return NoTangent(), pullback(y_bar)

        return y, attribute_pullback

    return attribute_rrule


def _attribute_forward_rule(name):
    """Attributes are linear: that of the tangent is the tangent of it."""

    def attribute_frule(tangents, x):
        if name == "flat":
            flat_attribute(x)
        x_dot = dense(x, tangents[1])
        if name == "imag" and not np.iscomplexobj(x):
            return x.imag, np.zeros(np.shape(x))
        return getattr(x, name), getattr(x_dot, name)

    return attribute_frule


@strong_zero
def transposed_bar(y_bar):
    """The cotangent of an array whose transpose has the cotangent `y_bar`."""
    return y_bar.T


@strong_zero
def matrix_transposed_bar(y_bar):
    """The same of the matrices in its last two axes."""
    return y_bar.mT


for _name, _attribute in ATTRIBUTES.items():
    if hasattr(np.ndarray, _name):
        _cotangents = {"T": (transposed_bar,), "mT": (matrix_transposed_bar,)}.get(_name, ())
        TABLE.rrule(getattr(np.ndarray, _name), cotangents=_cotangents)(_attribute_rule(_attribute))
    if hasattr(np.ndarray, _name):
        TABLE.frule(getattr(np.ndarray, _name))(_attribute_forward_rule(_name))
TABLE.non_differentiable(
    *(getattr(np.ndarray, name) for name in sorted(PLAIN_ATTRIBUTES) if hasattr(np.ndarray, name)),
    *(getattr(np.generic, name) for name in sorted(PLAIN_ATTRIBUTES) if hasattr(np.generic, name)),
)
