"""Rules for reading parts of arrays: indexing, take, masks, item and tolist."""

import operator
from types import EllipsisType

import numpy as np

from ..rules.formulas import at_distinct_rows, new_memory, onto, repeats_itself, strong_zero
from ..rules.rule_table import RuleTable
from ..tangents.forms import laid_out, no_change
from ..tangents.missing import MissingSlope, NotImplementedTangent
from ..tangents.projection import unbroadcast
from ..tangents.thunks import InplaceableThunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .array_likes import (
    as_written,
    check_plain,
    cotangent_of_items,
    dense,
    gradient_dtype,
    is_zero,
    items_of,
    like_argument,
    refuse,
    tangent_like,
)

TABLE = RuleTable("numpy_indexing")

_MATRIX = np.arange(12.0).reshape(3, 4) + 0.5
_VECTOR = np.array([0.5, -1.0, 2.0, 4.0])


# -- adding into the places that an index names --------------------------------------------------------------

def names_each_place_once(index):
    """Whether no element can occur twice in `x[index]`: numbers, slices, newaxis, ellipsis, one boolean mask.

    >>> names_each_place_once((slice(2), 0)), names_each_place_once([0, 0])
    (True, False)
    """
    if isinstance(index, tuple):
        return all(isinstance(part, (int, slice, EllipsisType, type(None), np.integer)) for part in index)
    if isinstance(index, np.ndarray):
        return index.dtype.kind == "b"
    return isinstance(index, (int, slice, EllipsisType, type(None), np.integer))


def scatter_add(buffer, index, y_bar):
    """Add `y_bar`, the cotangent of `x[index]`, into `buffer`, one of `x`; places named twice get both.

    >>> g = np.zeros(3); scatter_add(g, [0, 0, 2], np.array([1.0, 2.0, 5.0])); g
    array([3., 0., 5.])
    """
    if isinstance(y_bar, NotImplementedTangent):  # NumPy would take it for a sequence, and say so
        raise y_bar.error()
    if names_each_place_once(index):
        buffer[index] += y_bar
    else:
        np.add.at(buffer, index, y_bar)


def scatter(y_bar, index, shape, dtype=float):
    """Zeros of `shape` with `y_bar` added at `index`: the transpose of `x[index]`.

    >>> scatter(np.array([1.0, 2.0]), [1, 1], (3,))
    array([0., 3., 0.])
    """
    if isinstance(y_bar, MissingSlope):
        return y_bar
    x_bar = np.zeros(shape, dtype)
    scatter_add(x_bar, index, y_bar)
    return x_bar


@TABLE.rrule(scatter, leading=1, points=[(np.array([1.0, 2.0, -1.0]), [1, 1, 0], (3,)),
                                         (2.5, (0, -1), (2, 3))])
def scatter_rrule(y_bar, index, shape, dtype=float):
    def scatter_pullback(z_bar):
        return NoTangent(), unbroadcast(z_bar[index], y_bar)
    return scatter(y_bar, index, shape, dtype), scatter_pullback


@TABLE.frule(scatter)
def scatter_frule(tangents, y_bar, index, shape, dtype=float):
    return scatter(y_bar, index, shape, dtype), scatter(dense(y_bar, tangents[1]), index, shape, dtype)


# -- x[index] ------------------------------------------------------------------------------------------------

def _check_elements(x):
    if x.dtype.kind not in "fciub":
        refuse(f"an array of dtype {x.dtype} was indexed; its elements have no derivative here",
               "convert it to a floating dtype first")


@new_memory
@repeats_itself
def item_bar(y_bar, a_shape, b):
    """The cotangent of an array of this shape, of which `[b]` has the cotangent `y_bar`."""
    return y_bar if isinstance(y_bar, AbstractZero) else _add_at(np.zeros(a_shape), y_bar, b)


@at_distinct_rows(item_bar)
@new_memory
@repeats_itself
def rows_item_bar(y_bar, a_shape, b):
    """The same where `b` names rows that all differ, and a place in each: no place occurs twice."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    a_bar = np.zeros(a_shape)
    if b[0].shape != b[1].shape:  # one of them is repeated
        return _add_at(a_bar, y_bar, b)
    a_bar[b] = y_bar + 0.0  # which is what -0.0 added to zeros is, too
    return a_bar


@onto(item_bar)
@onto(rows_item_bar)
def item_bar_onto(a_bar, y_bar, a_shape, b):
    """`a_bar + item_bar(y_bar, a_shape, b)`."""
    if isinstance(a_bar, AbstractZero) or isinstance(y_bar, AbstractZero):
        return a_bar + item_bar(y_bar, a_shape, b)
    return _add_at(a_bar, y_bar, b)


def _add_at(a_bar, y_bar, b):
    """`a_bar`, with `y_bar` added at `[b]`."""
    if type(b) is int:
        a_bar[b] += y_bar
    elif type(b) is tuple and np.ndarray in map(type, b):
        np.add.at(a_bar, b, y_bar)
    else:
        scatter_add(a_bar, b, y_bar)
    return a_bar


@TABLE.rrule(operator.getitem, leading=1, cotangents=(item_bar,), points=[
    (_VECTOR, 1), (_VECTOR, -1), (_VECTOR, slice(None, None, -2)), (_VECTOR, [0, 0, 3]),
    (_VECTOR, np.array([], int)),
    (_VECTOR, _VECTOR > 0), (_VECTOR, np.array([[0, 1], [1, -4]])), (_VECTOR, None), (_VECTOR, Ellipsis),
    (_MATRIX, 1), (_MATRIX, (1, -1)), (_MATRIX, (slice(None), 2)), (_MATRIX, (Ellipsis, None, 1)),
    (_MATRIX, ([0, 0, 2], [1, 1, 3])), (_MATRIX, ([0, 0], slice(1, 3))),
    (_MATRIX, (np.array([True, False, True]), 1)),
    (_MATRIX, (slice(None), np.array([3, 3]))), (_MATRIX, _MATRIX > 5),
    (_MATRIX, (np.array([[0], [2]]), [1, 1])),
    (_MATRIX.T, (slice(1, None), 0)), (np.arange(4), 2), (np.array(2.0), ()), (np.zeros((0, 2)), slice(None)),
    (_MATRIX.astype(np.float32), (0, [1, 1])), (_VECTOR + 1j, [0, 0, 1]), (_VECTOR, True),
    (_MATRIX, np.int64(2))])
def getitem_rrule(a: np.ndarray, b):
    """`x[index]` for every form of index. The cotangent is a thunk that adds itself into a buffer."""
    _check_elements(a)
    shape, dtype = a.shape, gradient_dtype(a)

    def getitem_pullback(y_bar):
        def add_into(x_bar):
            scatter_add(x_bar, b, y_bar)
            return x_bar
        return NoTangent(), InplaceableThunk(add_into, lambda: scatter(y_bar, b, shape, dtype))
    return a[b], getitem_pullback


@TABLE.frule(operator.getitem)
def getitem_frule(tangents, a: np.ndarray, b):
    _check_elements(a)
    return a[b], dense(a, tangents[1])[b]


# -- functions that select -----------------------------------------------------------------------------------

def selected(y, x, shape, index, before=0):
    """`(y, pullback)` of the value `y = x.reshape(shape)[index]`; `before` arguments stand before `x`.

    What nothing is selected by may lead out of the array: of one without entries NumPy does not look at it.
    """
    def selection_pullback(y_bar):
        if np.size(y):
            x_bar = scatter(y_bar, index, shape, gradient_dtype(x)).reshape(np.shape(x))
        else:
            x_bar = np.zeros(np.shape(x), gradient_dtype(x))
        return NoTangent(), *[NoTangent()] * before, like_argument(x, x_bar)
    return y, selection_pullback


def selected_tangent(y, x, x_dot, shape, index):
    """The elements of the tangent of `x` that were selected as `y`."""
    return dense(x, x_dot).reshape(shape)[index] if np.size(y) else no_change(y)


def selection(*targets, points, x_position=0):
    """State both rules of functions that return elements of their argument, from the index they read.

    The decorated `index_of(*args, **kwargs)` gives `(shape, index)`: the value is `x.reshape(shape)[index]`.
    For functions without `out`, which a rule names in its own parameters.
    """
    def declare(index_of):
        for target in targets:
            _state_selection(target, index_of, points, x_position)
        return index_of
    return declare


def _state_selection(target, index_of, points, x_position):
    @TABLE.rrule(target, leading=x_position + 1, points=points)
    def selection_rrule(*args, **kwargs):
        shape, index = index_of(*args, **kwargs)
        return selected(target(*args, **kwargs), args[x_position], shape, index, x_position)

    @TABLE.frule(target)
    def selection_frule(tangents, *args, **kwargs):
        x = args[x_position]
        shape, index = index_of(*args, **kwargs)
        y = target(*args, **kwargs)
        return y, selected_tangent(y, x, tangents[x_position + 1], shape, index)


def flat_or_whole(x, axis):
    """`(shape, axis)` of what a function with `axis=None` for "flattened" works on."""
    flat = axis is None or np.ndim(x) == 0  # NumPy takes from a number as from an array of one
    return ((np.size(x),), 0) if flat else (np.shape(x), axis % np.ndim(x))


def take_index(a, indices, axis, mode):
    (shape, axis), indices = flat_or_whole(a, axis), np.asarray(indices)
    if mode == "wrap":
        indices = np.mod(indices, shape[axis])
    elif mode == "clip":
        indices = np.clip(indices, 0, shape[axis] - 1)
    return shape, (slice(None),) * axis + (np.asarray(indices, dtype=np.intp),)


@TABLE.rrule(np.take, np.ndarray.take, leading=1, points=[
    (_VECTOR, 2), (_VECTOR, [1, 1, -1]), (_MATRIX, [[0, 0], [5, -1]]), (_MATRIX, [2, 2], 0), (_MATRIX, 1, -1),
    ((_MATRIX, [-7, 1, 9, 9]), {"axis": 1, "mode": "clip"}),
    ((_MATRIX, [-7, 1, 9]), {"axis": 0, "mode": "wrap"}),
    (_MATRIX.T, [[0, 3], [3, 3]], 0), (np.arange(4), [0, 0]),
    (_VECTOR.astype(np.float32), np.array([], int))])
def take_rrule(a, indices, axis=None, out=None, mode="raise"):
    y = np.take(a, indices, axis, mode=mode)
    return selected(y, a, *take_index(a, indices, axis, mode))


@TABLE.frule(np.take, np.ndarray.take)
def take_frule(tangents, a, indices, axis=None, out=None, mode="raise"):
    y = np.take(a, indices, axis, mode=mode)
    return y, laid_out(y, selected_tangent(y, a, tangents[1], *take_index(a, indices, axis, mode)))


def along_axis(shape, indices, axis):
    """The full index that `take_along_axis` reads: `indices` along `axis`, every place along the others."""
    ndim = len(shape)
    return tuple(indices if k == axis else np.arange(n).reshape((1,) * k + (-1,) + (1,) * (ndim - k - 1))
                 for k, n in enumerate(shape))


@selection(np.take_along_axis, points=[
    (_MATRIX, np.array([[0, 0, 3]] * 3), 1), (_MATRIX, np.array([[2, 2, 0, -1]]), 0),
    (_MATRIX, np.array([5, 5]), None),
    (_MATRIX, np.array([[1], [1], [3]])), (_MATRIX.T, np.array([[1, 1, -2]]), -2)])
def take_along_axis_index(arr, indices, axis=-1):
    shape, axis = flat_or_whole(arr, axis)
    return shape, along_axis(shape, np.asarray(indices), axis)


def compress_index(a, condition, axis=None):
    shape, axis = flat_or_whole(a, axis)
    return shape, (slice(None),) * axis + (np.flatnonzero(condition),)


@TABLE.rrule(np.compress, leading=2, points=[
    ([True, False, True], _MATRIX, 0), ([0, 1, 1], _MATRIX, -1), ([True, False, True, True], _MATRIX)])
def compress_rrule(condition, a, axis=None, out=None):
    return selected(np.compress(condition, a, axis), a, *compress_index(a, condition, axis), before=1)


@TABLE.frule(np.compress)
def compress_frule(tangents, condition, a, axis=None, out=None):
    y = np.compress(condition, a, axis)
    return y, laid_out(y, selected_tangent(y, a, tangents[2], *compress_index(a, condition, axis)))


@TABLE.rrule(np.ndarray.compress, leading=1, points=[
    (_MATRIX, [True, False, True], 0), (_VECTOR, [False, True])])
def compress_method_rrule(a, condition, axis=None, out=None):
    return selected(a.compress(condition, axis), a, *compress_index(a, condition, axis))


@TABLE.frule(np.ndarray.compress)
def compress_method_frule(tangents, a, condition, axis=None, out=None):
    y = a.compress(condition, axis)
    return y, laid_out(y, selected_tangent(y, a, tangents[1], *compress_index(a, condition, axis)))


@selection(np.extract, x_position=1, points=[(_MATRIX > 4, _MATRIX), ([1, 0, 1, 0], _VECTOR)])
def extract_index(condition, arr):
    return (np.size(arr),), np.flatnonzero(condition)


def labels(x):
    """An integer array of the shape of `x` that numbers its elements, to see what a function reads."""
    return np.arange(np.size(x)).reshape(np.shape(x))


@selection(np.delete, points=[(_VECTOR, 1), (_MATRIX, [0, 2], 1), (_MATRIX, slice(0, 2), -2),
                              (_MATRIX, [0, 5])])
def delete_index(arr, obj, axis=None):
    return (np.size(arr),), np.delete(labels(arr), obj, axis)


@selection(np.resize, points=[(_VECTOR, (2, 3)), (_MATRIX, 5), (_VECTOR, (3, 3))])
def resize_index(a, new_shape):
    if not np.size(a):
        refuse("np.resize of an array without entries is not differentiated: NumPy fills it with zeros")
    return (np.size(a),), np.resize(labels(a), new_shape)


# -- windows -------------------------------------------------------------------------------------------------


@TABLE.rrule(np.lib.stride_tricks.sliding_window_view, leading=1, points=[
    (_VECTOR, 2), (_MATRIX, (2, 2)), (_MATRIX, 3, 1), (_MATRIX, (2, 2), (1, 0)), (_VECTOR, 4)])
def sliding_window_view_rrule(x, window_shape, axis=None, *, subok=False, writeable=False):
    index = np.lib.stride_tricks.sliding_window_view(labels(x), window_shape, axis)
    y = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis, subok=subok, writeable=writeable)
    return selected(y, x, (np.size(x),), index)


@TABLE.frule(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view_frule(tangents, x, window_shape, axis=None, *, subok=False, writeable=False):
    """The same view of the tangent."""
    y = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis, subok=subok, writeable=writeable)
    x_dot = dense(x, tangents[1])
    return y, np.lib.stride_tricks.sliding_window_view(x_dot, window_shape, axis, writeable=writeable)


@TABLE.rrule(np.lib.stride_tricks.as_strided, leading=1)  # no points: strides fit one layout of x alone
def as_strided_rrule(x, shape=None, strides=None, subok=False, writeable=True):
    index = strided_index(x, shape, strides)
    y = np.lib.stride_tricks.as_strided(x, shape, strides, subok, writeable)
    return selected(y, x, (np.size(x),), index)


@TABLE.frule(np.lib.stride_tricks.as_strided)
def as_strided_frule(tangents, x, shape=None, strides=None, subok=False, writeable=True):
    """The same view of the tangent, whose gaps in memory may be others."""
    y = np.lib.stride_tricks.as_strided(x, shape, strides, subok, writeable)
    x_dot = dense(x, tangents[1])
    steps = strides_in(x_dot, strided_index(x, shape, strides))
    if steps is None:  # no view of the tangent reads these elements
        x_dot, steps = laid_out(x, x_dot), y.strides
    return y, np.lib.stride_tricks.as_strided(x_dot, y.shape, steps, writeable=writeable)


def strided_index(x, shape, strides):
    """Which elements of `x`, counted in C order, a view with these strides reads."""
    x = np.asarray(x)
    own = _offsets(x.shape, x.strides).ravel()
    order = np.argsort(own)
    shape, strides = x.shape if shape is None else shape, x.strides if strides is None else strides
    wanted = _offsets(shape if np.iterable(shape) else (shape,), strides)
    found = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
    if wanted.size and not (len(own) and np.array_equal(own[order[found]], wanted)):
        refuse("np.lib.stride_tricks.as_strided is not differentiated where it reads memory outside its "
               "array",
               "use sliding_window_view, which stays inside")
    return order[found]


def strides_in(x, index):
    """The strides of a view of `x` whose elements have this `index`, if there is one.

    >>> strides_in(np.zeros((2, 4))[:, ::2], np.array([[0, 1], [2, 3]]))
    (32, 16)
    """
    if not index.size:
        return (0,) * index.ndim
    where = _offsets(x.shape, x.strides).ravel()[index]
    second = [np.take(where, min(1, count - 1), axis).flat[0] for axis, count in enumerate(index.shape)]
    strides = tuple([int(one - where.flat[0]) for one in second])
    return strides if np.array_equal(where - where.flat[0], _offsets(index.shape, strides)) else None


TABLE.non_differentiable(strided_index, strides_in)


def _offsets(shape, strides):
    """Where the elements of an array lie in memory, in bytes from the first."""
    where = np.zeros((), int)
    for count, stride in zip(shape, strides, strict=True):
        where = where[..., None] + stride * np.arange(count)
    return where


# -- select --------------------------------------------------------------------------------------------------

@TABLE.rrule(np.select, leading=3, points=[
    ([_VECTOR > 3, _VECTOR > 0], [_VECTOR, 2.0 * _VECTOR], 0.5), ([_VECTOR > 0], [2.5], _VECTOR),
    ([_MATRIX > 2, _MATRIX > 5], [_VECTOR, _MATRIX])])
@as_written
def select_rrule(condlist, choicelist, default=0):
    check_plain(choicelist)
    masks = _deciding_masks(condlist)

    def select_pullback(y_bar):
        parts = [np.where(mask, y_bar, 0.0) for mask in masks]
        choices_bar = [unbroadcast(part, choice) for part, choice in zip(parts, choicelist)]
        return NoTangent(), NoTangent(), choices_bar, unbroadcast(parts[-1], default)
    return np.select(condlist, choicelist, default), select_pullback


@TABLE.frule(np.select)
def select_frule(tangents, condlist, choicelist, default=0):
    choices_dot = items_of(choicelist, tangents[2])
    default_dot = tangents[3] if len(tangents) > 3 else ZeroTangent()
    return (np.select(condlist, choicelist, default),
            np.select(condlist, choices_dot, dense(default, default_dot)))


def _deciding_masks(condlist):
    """For each condition where it is the first that holds, and last where none does."""
    masks, undecided = [], True
    for condition in condlist:
        masks.append(np.logical_and(condition, undecided))
        undecided = np.logical_and(undecided, np.logical_not(condition))
    return [*masks, undecided]


# -- choose, ix_ ---------------------------------------------------------------------------------------------

def _chosen(a, count, mode):
    """Which of `count` choices each element of `a` names."""
    if mode == "clip":
        return np.clip(a, 0, count - 1)
    return np.mod(a, count) if mode == "wrap" else np.asarray(a)


_PICK = np.array([0, 1, 1, 0])


def _choices_cotangent(y_bar, a, choices, mode):
    """A cotangent array for each choice: ȳ where it was taken."""
    picked = _chosen(a, len(choices), mode)
    return [unbroadcast(np.where(picked == k, y_bar, 0.0), np.asarray(x)) for k, x in enumerate(choices)]


_CHOICES = [_VECTOR, 2.0 * _VECTOR]


@TABLE.rrule(np.choose, leading=2, points=[
    (_PICK, _CHOICES), (_PICK, (1.5, _VECTOR)), (_PICK[:2], _MATRIX[:2, :2]),
    ((_PICK * 5 - 2, _CHOICES), {"mode": "wrap"}), ((_PICK * 5 - 2, _CHOICES), {"mode": "clip"})])
def choose_rrule(a, choices, out=None, mode="raise"):
    """Each choice gets the cotangent of the places where it was taken."""
    check_plain(choices)

    def choose_pullback(y_bar):
        return (
            NoTangent(),
            NoTangent(),
            cotangent_of_items(choices, _choices_cotangent(y_bar, a, choices, mode)),
        )

    return np.choose(a, choices, mode=mode), choose_pullback


@TABLE.frule(np.choose)
def choose_frule(tangents, a, choices, out=None, mode="raise"):
    dots = items_of(choices, tangents[2])
    return np.choose(a, choices, mode=mode), np.choose(_chosen(a, len(choices), mode), dots)


@TABLE.rrule(np.ndarray.choose, leading=None, points=[(_PICK, _CHOICES), (_PICK, _VECTOR, 1.5)])
def choose_method_rrule(a, *choices, out=None, mode="raise"):
    """The method takes the choices in a sequence or one by one."""
    given = choices[0] if len(choices) == 1 else choices
    check_plain(given)

    def choose_pullback(y_bar):
        bars = _choices_cotangent(y_bar, a, given, mode)
        if len(choices) == 1:
            return NoTangent(), NoTangent(), cotangent_of_items(given, bars)
        return NoTangent(), NoTangent(), *[like_argument(x, bar[()]) for x, bar in zip(given, bars)]
    return a.choose(given, mode=mode), choose_pullback


@TABLE.frule(np.ndarray.choose)
def choose_method_frule(tangents, a, *choices, out=None, mode="raise"):
    if len(choices) == 1:
        given, dots = choices[0], items_of(choices[0], tangents[2])
    else:
        given, dots = choices, [dense(x, x_dot) for x, x_dot in zip(choices, tangents[2:])]
    return np.choose(a, given, mode=mode), np.choose(_chosen(a, len(given), mode), dots)


@TABLE.rrule(np.ix_, leading=None, points=[(_VECTOR, _VECTOR[:2]), (_VECTOR,)])
def ix_rrule(*args):
    """An open mesh: each argument along its own axis. Masks and indices come through as indices."""
    y = np.ix_(*args)

    def ix_pullback(y_bar):
        bars = [np.reshape(bar, np.shape(x)) if _is_inexact(x) and not is_zero(bar) else ZeroTangent()
                for x, bar in zip(args, y_bar, strict=True)]
        return NoTangent(), *[bar if is_zero(bar) else like_argument(x, bar) for x, bar in zip(args, bars)]
    return y, ix_pullback


@TABLE.frule(np.ix_)
def ix_frule(tangents, *args):
    y = np.ix_(*args)
    y_dot = [np.reshape(dense(x, x_dot), np.shape(part)) if _is_inexact(x) else no_change(part)
             for x, x_dot, part in zip(args, tangents[1:], y)]
    return y, tuple(y_dot)


def _is_inexact(x):
    return np.asarray(x).dtype.kind in "fc"


# -- leaving NumPy -------------------------------------------------------------------------------------------

def item_index(a, args):
    """The index that `a.item(*args)` reads: zeros for the only element, a flat one unravelled, a tuple."""
    where = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if not where:
        return (0,) * np.ndim(a)
    return np.unravel_index(where[0] % np.size(a), np.shape(a)) if len(where) == 1 else tuple(where)


@strong_zero
def read_bar(y_bar, a, *place):
    """The cotangent of an array, for that of the number `a.item(*place)`."""
    return scatter(y_bar, item_index(a, place), np.shape(a), gradient_dtype(a))


def _state_item(target, points, *cotangents):
    @TABLE.rrule(target, leading=1, points=points, cotangents=cotangents)
    def item_rrule(a, *args):
        def item_pullback(y_bar):
            return NoTangent(), scatter(y_bar, item_index(a, args), np.shape(a), gradient_dtype(a))
        return a.item(*args), item_pullback

    @TABLE.frule(target)
    def item_frule(tangents, a, *args):
        return a.item(*args), np.asarray(dense(a, tangents[1])).item(*args)


_state_item(np.ndarray.item, [(np.array([2.5]),), (_VECTOR, -1), (_MATRIX, 5), (_MATRIX, 1, -1),
                              (_MATRIX, (2, 0))], read_bar)
_state_item(np.generic.item, [(np.float64(2.5),)])


@TABLE.rrule(np.ndarray.tolist, leading=1, points=[(_VECTOR,), (_MATRIX,), (np.arange(3),), (_MATRIX.T,)])
def tolist_rrule(a):
    value = a.tolist()

    def tolist_pullback(y_bar):
        return NoTangent(), np.reshape(dense(value, y_bar), a.shape)  # of no numbers there are fewer lists
    return value, tolist_pullback


@TABLE.frule(np.ndarray.tolist)
def tolist_frule(tangents, a):
    value = a.tolist()
    return value, tangent_like(value, dense(a, tangents[1]))
