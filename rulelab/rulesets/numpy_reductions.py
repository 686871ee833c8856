"""Rules for functions that reduce or accumulate along axes: sums, products, moments, extremes, norms."""

import functools
import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..errors import MutationError
from ..rules.formulas import new_memory, off, onto, spreading
from ..rules.rule_table import RuleTable
from ..tangents.forms import laid_out
from ..tangents.missing import MissingSlope
from ..tangents.projection import unbroadcast
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .array_likes import (
    ABSENT,
    as_written,
    dense,
    given,
    gradient_dtype,
    is_zero,
    like_argument,
    reduced,
    reduced_in,
    refuse,
)
from .kinks import past_kink
from .numpy_indexing import scatter

TABLE = RuleTable("numpy_reductions")

_V = np.array([0.5, -1.5, 2.0, 3.5])
_M = np.array([[0.5, -1.0, 2.0], [3.0, 1.5, -2.5]])
_C = np.sin(np.arange(24.0)).reshape(2, 3, 4)
_FULL = _C + np.cos(_C * 7)  # full rank, which the sines of whole numbers have not
_M32 = _M.astype(np.float32)
_I = np.array([[1, 2, 3], [4, 6, 5]])
_ZEROS = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.0, -2.0, 4.0]])
_Z = np.array([1.0 + 2.0j, -0.5j, 2.0 + 0.0j])
_MASK = np.array([[True, False, True], [False, True, True]])

_EVERY_AXIS = [(_V,), (_M,), (_M, 0), (_M, -1), (_C, (0, 2)), (_C, (-1, 0)),
               ((_M,), {"axis": 1, "keepdims": True}),
               ((_M,), {"keepdims": True}), (_M.T, 0), (_C[:, ::2], 1), (_M32, 1), (_M32,), (_I,), (_I, 0),
               ([1.5, 2.5],)]
_NUMBERS = [(np.array(2.5),), (2.5,)]
_MASKED = [((_M,), {"where": _MASK}), ((_C, 1), {"where": _C > -0.6}),
           ((_M,), {"axis": -1, "where": np.array([True, False, True]), "keepdims": True})]
_EMPTY = [(np.zeros((0, 3)),), (np.zeros((2, 0)), 0)]
_METHOD = [(_M,), (_M, -1), ((_M,), {"axis": (0, 1), "keepdims": True}), (_I, 0)]


# -- shapes --------------------------------------------------------------------------------------------------

def kept_shape(shape, axis):
    """The shape of a reduction over `axis` that keeps its dimensions.

    >>> kept_shape((2, 3, 4), (0, -1)), kept_shape((2, 3), None)
    ((1, 3, 1), (1, 1))
    """
    if axis is None or not shape:
        return (1,) * len(shape)
    kept = list(shape)
    if type(axis) is int:
        kept[axis] = 1
    else:
        for k in axis if type(axis) is tuple else normalize_axis_tuple(axis, len(shape)):
            kept[k] = 1
    return tuple(kept)


def outline_of(a):
    """What has the shape and dtype of an array and no memory of its own, for a pullback that needs no more;
    other arguments as they are."""
    return np.broadcast_to(np.zeros((), a.dtype), a.shape) if type(a) is np.ndarray and a.size > 4096 else a


def spread(y_bar, x, axis, where=True):
    """The cotangent of a sum of `x` over `axis`: `y_bar` at every summand, zero where `where` left one out.

    Pure, so that it has a derivative itself; large results are read-only views of `y_bar`.
    """
    dtype = gradient_dtype(x)
    x_bar = spread_to(y_bar, np.shape(x), axis, dtype)
    return x_bar if where is True else np.where(where, x_bar, dtype.type(0))


def spread_to(y_bar, shape, axis, dtype=float):
    """`y_bar` at every summand of a sum over `axis` of an array of this shape.

    >>> spread_to(np.array([1.0, 2.0]), (2, 3), 1)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    if axis is not None and getattr(y_bar, "shape", ()) != (kept := kept_shape(shape, axis)):
        y_bar = np.reshape(y_bar, kept)
    if math.prod(shape) >= 4096:
        return np.broadcast_to(np.asarray(y_bar, dtype), shape)
    x_bar = np.empty(shape, dtype)
    x_bar[...] = y_bar
    return x_bar


def check_dtype(a, dtype):
    """Refuse a reduction in an integer dtype of numbers that are not integers: it rounds them on the way."""
    if dtype is not None and np.dtype(dtype).kind not in "fc" and np.asarray(a).dtype.kind in "fc":
        refuse(f"a reduction of {np.asarray(a).dtype} numbers with dtype={np.dtype(dtype)} is not "
               "differentiated: it rounds",
               "leave dtype out, or name a floating dtype")


def reduced_axes(axis, ndim):
    """The axes that are reduced, from 0 on; of a single number NumPy takes axis 0, and there is none.

    >>> reduced_axes(None, 2), reduced_axes(-1, 2), reduced_axes(0, 0)
    ((0, 1), (1,), ())
    """
    return tuple(range(ndim)) if axis is None or not ndim else normalize_axis_tuple(axis, ndim)


def lanes(a, axis):
    """`a` with the reduced axes moved last and made one: shape `(…, n)`.

    >>> lanes(np.zeros((2, 3, 4)), (0, -1)).shape
    (3, 8)
    """
    axes = reduced_axes(axis, np.ndim(a))
    rest = tuple(k for k in range(np.ndim(a)) if k not in axes)
    moved = np.transpose(a, rest + axes)
    shape = np.shape(moved)
    return np.reshape(moved, shape[:len(rest)] + (int(np.prod(shape[len(rest):])),))


def from_lanes(b, shape, axis):
    """The inverse of `lanes`: back to an array of `shape`."""
    axes = reduced_axes(axis, len(shape))
    order = tuple(k for k in range(len(shape)) if k not in axes) + axes
    moved = np.reshape(b, tuple(shape[k] for k in order))
    return np.transpose(moved, tuple(int(k) for k in np.argsort(order)))


# -- sum, mean -----------------------------------------------------------------------------------------------

@spreading()
def sum_bar(y_bar, a_shape, axis=None, keepdims=False):
    """The cotangent of the array whose sum over `axis` has the cotangent `y_bar`."""
    return y_bar if isinstance(y_bar, AbstractZero) else spread_to(y_bar, a_shape, axis)


def mean_share(y_bar, a_shape, axis=None):
    """What each number of an array of this shape has of `y_bar`, the cotangent of its mean over `axis`."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    if axis is None:
        count = math.prod(a_shape)
    elif type(axis) is int:
        count = a_shape[axis]
    else:
        count = math.prod([a_shape[k] for k in normalize_axis_tuple(axis, len(a_shape))])
    return y_bar / count if count else y_bar


@spreading(mean_share)
def mean_bar(y_bar, a_shape, axis=None, keepdims=False):
    """The cotangent of the array whose mean over `axis` has the cotangent `y_bar`."""
    if isinstance(y_bar, (AbstractZero, MissingSlope)):
        return y_bar
    return spread_to(mean_share(y_bar, a_shape, axis), a_shape, axis)


def _state_sum(target, points):
    @TABLE.rrule(target, leading=1, points=points, cotangents=(sum_bar,))
    def sum_rrule(a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        check_dtype(a, dtype)
        plain = initial is ABSENT and where is ABSENT
        options = {} if plain else given(("initial", "where"), (initial, where))
        y, like = target(a, axis, dtype, keepdims=keepdims, **options), outline_of(a)

        def sum_pullback(y_bar):
            return NoTangent(), like_argument(like, spread(y_bar, like, axis, options.get("where", True)))
        return y, sum_pullback

    @TABLE.frule(target, linear=True)
    def sum_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        check_dtype(a, dtype)
        y = reduced_in(target, dtype, a, axis, keepdims, initial, where)
        return y, reduced(target, dense(a, tangents[1]), axis, keepdims, ABSENT, where)
    return sum_rrule, sum_frule


_SUM = _state_sum(np.sum, [*_EVERY_AXIS, *_NUMBERS, *_MASKED, *_EMPTY, ((_M,), {"initial": 2.0}), (_Z,),
                           (_M, None, np.float64)])
_state_sum(np.ndarray.sum, _METHOD)
_state_sum(np.generic.sum, [(np.float64(2.0),)])


def summand_count(x, axis, where=True):
    """How many numbers each sum over `axis` adds up: a number, or an array if `where` makes them differ."""
    if where is True:
        shape = np.shape(x)
        return int(np.prod([shape[k] for k in reduced_axes(axis, len(shape))]))
    return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=True)


def _state_mean(target, points):
    @TABLE.rrule(target, leading=1, points=points, cotangents=(mean_bar,))
    def mean_rrule(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
        check_dtype(a, dtype)

        def mean_pullback(y_bar):
            x_bar = spread(y_bar, a, axis, where) / summand_count(a, axis, where)
            return NoTangent(), like_argument(a, x_bar)
        return target(a, axis, dtype, keepdims=keepdims, where=where), mean_pullback

    @TABLE.frule(target, linear=True)
    def mean_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
        check_dtype(a, dtype)
        return (target(a, axis, dtype, keepdims=keepdims, where=where),
                target(dense(a, tangents[1]), axis, keepdims=keepdims, where=where))


_state_mean(np.mean, [*_EVERY_AXIS, *_NUMBERS, *_MASKED, (_Z,)])
_state_mean(np.ndarray.mean, _METHOD)
_state_mean(np.generic.mean, [(np.float64(2.0),)])


# -- variance and standard deviation -------------------------------------------------------------------------

def _deviations(a, axis, ddof, options):
    """`(a - mean, N - ddof)`, both with the reduced axes kept."""
    if "mean" in options:
        refuse("var and std are not differentiated with mean=: the rule would not see where it comes from",
               "leave mean= out")
    where = options.get("where", True)
    ddof = options.get("correction", ddof)
    a = np.asarray(a)
    return a - np.mean(a, axis=axis, keepdims=True, where=where), summand_count(a, axis, where) - ddof


def _state_moment(target, is_std, points):
    def scale(y, a, axis, count):
        """dy by deviation over deviation: 2/(N-ddof), for std divided by 2 y (0 where y is 0)."""
        if not is_std:
            return 2.0 / np.asarray(count, float)
        y = np.reshape(y, kept_shape(np.shape(a), axis))
        return np.where(y == 0, 0.0, 1.0 / (np.where(y == 0, 1.0, y) * count))

    @TABLE.rrule(target, leading=1, points=points)
    def moment_rrule(
        a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=ABSENT, mean=ABSENT,
        correction=ABSENT
    ):
        check_dtype(a, dtype)
        options = given(("where", "mean", "correction"), (where, mean, correction))
        deviation, count = _deviations(a, axis, ddof, options)
        y = target(a, axis, dtype, ddof=ddof, keepdims=keepdims, **options)

        def moment_pullback(y_bar):
            factor = np.reshape(y_bar, kept_shape(np.shape(a), axis)) * scale(y, a, axis, count)
            x_bar = np.asarray(np.where(options.get("where", True), deviation * factor, 0.0),
                               gradient_dtype(a))
            return NoTangent(), like_argument(a, x_bar)
        return y, moment_pullback

    @TABLE.frule(target)
    def moment_frule(
        tangents, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=ABSENT, mean=ABSENT,
        correction=ABSENT
    ):
        check_dtype(a, dtype)
        options = given(("where", "mean", "correction"), (where, mean, correction))
        deviation, count = _deviations(a, axis, ddof, {**options})
        y = target(a, axis, dtype, ddof=ddof, keepdims=keepdims, **options)
        a_dot = dense(a, tangents[1])
        products = np.real(np.conj(deviation) * a_dot)
        y_dot = np.sum(products, axis=axis, keepdims=True, **given(("where",), (where,)))
        y_dot = y_dot * scale(y, a, axis, count)
        if is_std:
            moving = a_dot if where is ABSENT else np.where(where, a_dot, 0.0)
            y_dot = past_kink(y_dot, np.reshape(y, kept_shape(np.shape(a), axis)), deviation, moving)
        return y, np.reshape(y_dot, np.shape(y))
    return moment_rrule, moment_frule


_DDOF = [((_M, 1), {"ddof": 1}), ((_M,), {"correction": 1}), (_M, 0, None, None, 1), (_Z,)]
_MOMENTS = {}
_MOMENTS[np.var] = _state_moment(np.var, False, [*_EVERY_AXIS, *_NUMBERS, *_MASKED, *_DDOF])
_state_moment(np.ndarray.var, False, [*_METHOD, ((_M,), {"ddof": 1})])
_MOMENTS[np.std] = _state_moment(np.std, True, [*_EVERY_AXIS, *_MASKED, *_DDOF])
_state_moment(np.ndarray.std, True, [*_METHOD, ((_M,), {"ddof": 1})])


# -- average -------------------------------------------------------------------------------------------------

def _full_weights(a, axis, weights):
    """The weights with the number of axes of `a`, as `np.average` aligns them, as floats, as it adds them."""
    weights = np.asarray(weights).astype(gradient_dtype(weights), copy=False)
    if weights.shape == np.shape(a):
        return weights
    axes = normalize_axis_tuple(axis, np.ndim(a))
    ordered = np.transpose(weights, np.argsort(axes))
    return np.reshape(ordered, tuple(n if k in axes else 1 for k, n in enumerate(np.shape(a))))


def _weights_back(w_bar, a, axis, weights):
    """The cotangent of the weights as given, from that of the aligned ones."""
    if np.shape(weights) == np.shape(a):
        return w_bar
    axes = normalize_axis_tuple(axis, np.ndim(a))
    ordered = np.reshape(w_bar, tuple(n for k, n in enumerate(np.shape(a)) if k in axes))
    return np.transpose(ordered, np.argsort(np.argsort(axes)))


def _check_average(returned):
    if returned:
        refuse("np.average with returned=True is not differentiated",
               "compute the sum of the weights with np.sum")


@TABLE.rrule(np.average, leading=3, points=[
    (_M,), (_M, 0), (_M, None, np.abs(_M)), (_M, 1, _V[:3]), (_M, -2, np.abs(_M) + 1),
    (_C, (2, 0), np.ones((4, 2)) + _C[:, 0].T),
    ((_M, 1, _V[:3]), {"keepdims": True}), (_I, 0, [1.0, 2.0]), ([1.0, 2.0], None, [0.5, 2.5])])
@as_written
def average_rrule(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """`y = Σ w a / Σ w`: `ā = ȳ w / Σ w` and `w̄ = ȳ (a - y) / Σ w`."""
    _check_average(returned)
    axis = tuple(axis) if isinstance(axis, list) else axis  # which np.average takes, and np.sum does not
    y = np.average(a, axis, weights, keepdims=keepdims)

    def average_pullback(y_bar):
        if weights is None:
            return NoTangent(), like_argument(a,
                                              spread(y_bar, a, axis) / summand_count(a,
                                                  axis)), NoTangent(), NoTangent()
        kept, w = kept_shape(np.shape(a), axis), _full_weights(a, axis, weights)
        total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)
        share = np.reshape(y_bar, kept) / np.conj(total)
        w_bar = unbroadcast(share * np.conj(np.asarray(a) - np.reshape(y, kept)), w)
        a_bar = np.broadcast_to(share * np.conj(w), np.shape(a))
        return (NoTangent(), like_argument(a, a_bar), NoTangent(),
                like_argument(weights, _weights_back(w_bar, a, axis, weights)))
    return y, average_pullback


@TABLE.frule(np.average)
def average_frule(tangents, a, axis=None, weights=None, returned=False, *, keepdims=False):
    _check_average(returned)
    axis = tuple(axis) if isinstance(axis, list) else axis
    y, a_dot = np.average(a, axis, weights, keepdims=keepdims), dense(a, tangents[1])
    y_dot = np.average(a_dot, axis, weights, keepdims=keepdims)
    if weights is None or len(tangents) < 4 or is_zero(tangents[3]):
        return y, y_dot
    w, w_dot = (_full_weights(a, axis, v) for v in (weights, dense(weights, tangents[3])))
    kept = np.reshape(y, kept_shape(np.shape(a), axis))
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=keepdims)
    return y, y_dot + np.sum(w_dot * (np.asarray(a) - kept), axis=axis, keepdims=keepdims) / total


# -- products ------------------------------------------------------------------------------------------------

def product_of_others(b, axis=-1):
    """For each entry along an axis the product of all the others; exact where some are zero.

    >>> product_of_others(np.array([0.0, 2.0, 3.0]))
    array([6., 0., 0.])
    """
    # Without writing into anything: second derivatives lead through here.
    at = (slice(None),) * (axis % b.ndim)
    size = slice(None, b.shape[axis])
    ones = np.ones(kept_shape(b.shape, axis), b.dtype)
    before = np.concatenate([ones, np.cumprod(b[(*at, slice(None, -1))], axis=axis)], axis=axis)
    after = np.concatenate([ones, np.cumprod(b[(*at, slice(None, 0, -1))], axis=axis)], axis=axis)
    return before[(*at, size)] * after[(*at, size)][(*at, slice(None, None, -1))]


def _slopes_of_product(a, axis, where=True):
    """The slope of the product over `axis` in each factor, an array of the shape of `a`, in a floating dtype;
    one stands for a factor that `where` leaves out.
    """
    a = np.asarray(a).astype(gradient_dtype(a), copy=False)
    if where is not True:
        a = np.where(where, a, a.dtype.type(1))
    if a.ndim and (type(axis) is int or (axis is None and a.ndim == 1)):
        return product_of_others(a, -1 if axis is None else axis)
    return from_lanes(product_of_others(lanes(a, axis)), np.shape(a), axis)


@new_memory
def prod_bar(y_bar, a, axis=None, keepdims=False):
    """The cotangent of the float64 array whose product over `axis` has the cotangent `y_bar`."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    return np.reshape(y_bar, kept_shape(a.shape, axis)) * _slopes_of_product(a, axis)


def _state_prod(target, points):
    def slopes(a, axis, options):
        """dy/da as an array of the shape of `a`, for `y` without its `initial` factor left out."""
        part = _slopes_of_product(a, axis, options.get("where", True)) * options.get("initial", 1)
        return part if options.get("where", True) is True else np.where(options["where"], part,
            part.dtype.type(0))

    @TABLE.rrule(target, leading=1, points=points, cotangents=(prod_bar,))
    def prod_rrule(a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        check_dtype(a, dtype)
        options = given(("initial", "where"), (initial, where))

        def prod_pullback(y_bar):
            x_bar = np.reshape(y_bar, kept_shape(np.shape(a), axis)) * np.conj(slopes(a, axis, options))
            return NoTangent(), like_argument(a, x_bar)
        return target(a, axis, dtype, keepdims=keepdims, **options), prod_pullback

    @TABLE.frule(target)
    def prod_frule(
        tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT
    ):
        check_dtype(a, dtype)
        slope = slopes(a, axis, given(("initial", "where"), (initial, where)))
        y_dot = np.sum(dense(a, tangents[1]) * slope, axis=axis, keepdims=keepdims)
        y = reduced_in(target, dtype, a, axis, keepdims, initial, where)
        return y, laid_out(y, y_dot)
    return prod_rrule, prod_frule


_PROD = [(_ZEROS,), (_ZEROS, 0), (_ZEROS, -1), (_ZEROS[0], 0), ((_ZEROS, 1), {"keepdims": True}), (_Z,),
         (_C, (0, 2)),
         ((_ZEROS, 1), {"initial": 3.0}), ((_ZEROS, 1), {"where": _ZEROS != 2.0})]
_PRODUCT = _state_prod(np.prod, [*_EVERY_AXIS, *_NUMBERS, *_MASKED, *_EMPTY, *_PROD])
_state_prod(np.ndarray.prod, [*_METHOD, (_ZEROS, 1)])


# -- extremes ------------------------------------------------------------------------------------------------

def _check_ordered(a):
    if np.asarray(a).dtype.kind not in "fiub":
        refuse(f"a maximum or minimum of {np.asarray(a).dtype} numbers is not differentiated",
               "take it of real numbers")


class Extreme:
    """Which entry of each lane an extreme picks: the first of equals, none where `initial` lies beyond."""

    def __init__(self, a, axis, y, sign, options, skip_nan=False):
        _check_ordered(a)
        self.shape, self.axis, self.dtype = np.shape(a), axis, gradient_dtype(a)
        where, a = options.get("where", True), np.asarray(a)
        if where is not True or skip_nan:
            where = np.logical_and(where, ~np.isnan(a)) if skip_nan else where
            a = np.where(where, a, np.array(-sign * np.inf, self.dtype))
        b = lanes(a, axis)
        self.count = b.shape[-1]
        self.index = (b.argmax(-1) if sign > 0 else b.argmin(-1))[..., None]
        self.picked = True
        if "initial" in options or where is not True:
            best = np.take_along_axis(b, self.index, -1)
            self.picked = (best == np.reshape(y, best.shape)) | np.isnan(best)

    def give_back(self, y_bar):
        """x̄: `y_bar` at the entries picked."""
        y_bar = np.reshape(y_bar, self.index.shape)
        if self.index.size == 1 and self.picked is True:
            x_bar = scatter(np.reshape(y_bar, ()), int(self.index.item()), (self.count,), self.dtype)
        else:
            hit = np.logical_and(np.arange(self.count) == self.index, self.picked)
            x_bar = np.where(hit, y_bar, 0.0).astype(self.dtype)
        return from_lanes(x_bar, self.shape, self.axis)

    def pick(self, a_dot):
        """The entries of `a_dot` at the places picked, with the lane axis kept."""
        picked = np.take_along_axis(lanes(a_dot, self.axis), self.index, -1)
        return picked if self.picked is True else np.where(self.picked, picked, 0.0)


def extreme_of(a, axis, y, sign, options, skip_nan=False):
    """Which entry each lane's extreme is: constant where it has a derivative."""
    return Extreme(a, axis, y, sign, options, skip_nan)


def _extreme_of_all(a, position):
    """The common case, a whole float64 array: the first of equals (or of NaNs) takes all of ȳ."""

    def extreme_pullback(y_bar):
        a_bar = np.zeros(a.shape)
        a_bar.flat[position] = y_bar
        return NoTangent(), a_bar

    return a.flat[position], extreme_pullback


@new_memory
def max_bar(y_bar, a, axis=None, keepdims=False):
    """The cotangent of the float64 array whose maximum over `axis` has the cotangent `y_bar`: the first of
    equals has all of it.
    """
    return y_bar if isinstance(y_bar, AbstractZero) else _at_extreme(y_bar, a, axis, 1)


@new_memory
def min_bar(y_bar, a, axis=None, keepdims=False):
    """The same of the minimum."""
    return y_bar if isinstance(y_bar, AbstractZero) else _at_extreme(y_bar, a, axis, -1)


@onto(max_bar)
def max_bar_onto(a_bar, y_bar, a, axis=None, keepdims=False):
    """`a_bar + max_bar(y_bar, a, …)`."""
    if type(y_bar) in _REALS and type(a_bar) is np.ndarray and a.ndim == 1:  # the most common
        a_bar[a.argmax()] += y_bar
        return a_bar
    if isinstance(a_bar, AbstractZero) or isinstance(y_bar, AbstractZero):
        return a_bar + max_bar(y_bar, a, axis)
    return _add_at_extreme(a_bar, y_bar, a, axis, 1)


@off(max_bar)
def max_bar_off(a_bar, y_bar, a, axis=None, keepdims=False):
    """`a_bar - max_bar(y_bar, a, …)`."""
    return _less_extreme(a_bar, y_bar, a, axis, 1)


@onto(min_bar)
def min_bar_onto(a_bar, y_bar, a, axis=None, keepdims=False):
    """The same of the minimum."""
    if type(y_bar) in _REALS and type(a_bar) is np.ndarray and a.ndim == 1:
        a_bar[a.argmin()] += y_bar
        return a_bar
    if isinstance(a_bar, AbstractZero) or isinstance(y_bar, AbstractZero):
        return a_bar + min_bar(y_bar, a, axis)
    return _add_at_extreme(a_bar, y_bar, a, axis, -1)


@off(min_bar)
def min_bar_off(a_bar, y_bar, a, axis=None, keepdims=False):
    """The same of the minimum."""
    return _less_extreme(a_bar, y_bar, a, axis, -1)


_REALS = frozenset({float, np.float64})


def _less_extreme(a_bar, y_bar, a, axis, sign):
    """`a_bar`, with `y_bar` subtracted at the extreme of each lane of `a`."""
    if (
        type(y_bar) is np.ndarray
        and type(a_bar) is np.ndarray
        and a.ndim == 2
        and axis in (1, -1)
        and a_bar.flags.c_contiguous
    ):  # as below, without an array for the sign
        where = (a.argmax if sign > 0 else a.argmin)(1)
        where += _starts(a.size, a.shape[1])
        a_bar.ravel()[where] -= y_bar.ravel()
        return a_bar
    adding = max_bar_onto if sign > 0 else min_bar_onto
    return adding(a_bar, -y_bar, a, axis)


def _at_extreme(y_bar, a, axis, sign):
    """Zeros like `a` with `y_bar` at the extreme of each lane."""
    return _add_at_extreme(np.zeros(a.shape), y_bar, a, axis, sign)


def _add_at_extreme(a_bar, y_bar, a, axis, sign):
    """`a_bar`, with `y_bar` added at the extreme of each lane of `a`."""
    if type(axis) is tuple:
        return np.add(a_bar, Extreme(a, axis, None, sign, {}).give_back(y_bar), out=a_bar)
    position = a.argmax if sign > 0 else a.argmin
    if axis is None or a.ndim == 1:
        numbers = a_bar if a.ndim == 1 else a_bar.flat
        numbers[position()] += y_bar if type(y_bar) in (float, np.float64) else np.reshape(y_bar, ())
        return a_bar
    where = position(axis)
    if a.ndim == 2:
        last, y_bar = axis in (1, -1), y_bar.ravel()
        if a_bar.flags.c_contiguous:  # numbers are found quicker by one index than by two
            count = a.shape[1]
            if last:
                where += _starts(a.size, count)
            else:
                where *= count
                where += _starts(count, 1)
            a_bar.ravel()[where] += y_bar  # a view of all that is contiguous
        else:
            lanes_bar = a_bar if last else a_bar.T
            lanes_bar[np.arange(len(where)), where] += y_bar
    else:
        where = np.expand_dims(where, axis)
        there = np.take_along_axis(a_bar, where, axis)
        np.put_along_axis(a_bar, where, there + y_bar.reshape(where.shape), axis)
    return a_bar


def _starts(stop, step):
    """`np.arange(0, stop, step)`, to be read only; short ones are made once."""
    return _short_starts(stop, step) if stop <= _SHORT * step else np.arange(0, stop, step)


_SHORT = 256


@functools.lru_cache(maxsize=64)
def _short_starts(stop, step):
    starts = np.arange(0, stop, step)
    starts.flags.writeable = False
    return starts


def _state_extreme(target, sign, points, skip_nan=False):
    cotangents = () if skip_nan else (max_bar if sign > 0 else min_bar,)

    @TABLE.rrule(target, leading=1, points=points, cotangents=cotangents)
    def extreme_rrule(a, axis=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        options = given(("initial", "where"), (initial, where))
        plain = axis is None and not keepdims and not options and not skip_nan
        if plain and type(a) is np.ndarray and a.dtype == float and a.size:
            return _extreme_of_all(a, a.argmax() if sign > 0 else a.argmin())
        y = target(a, axis, keepdims=keepdims, **options)
        extreme = Extreme(a, axis, y, sign, options, skip_nan)

        def extreme_pullback(y_bar):
            return NoTangent(), like_argument(a, extreme.give_back(y_bar))
        return y, extreme_pullback

    @TABLE.frule(target)
    def extreme_frule(tangents, a, axis=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        y = reduced(target, a, axis, keepdims, initial, where)
        extreme = extreme_of(a, axis, y, sign, given(("initial", "where"), (initial, where)), skip_nan)
        return y, laid_out(y, np.reshape(extreme.pick(dense(a, tangents[1])), np.shape(y)))
    return extreme_rrule, extreme_frule


_EXTREMES = [*_EVERY_AXIS, *_NUMBERS]
_BOUNDED = [((_M, 1), {"initial": 1.75}), ((_M, 0), {"where": _MASK, "initial": -9.0}),
            ((_M, 0), {"where": _MASK, "initial": 9.0})]
_EXTREME_RULES = {}
for _target, _sign in ((np.max, 1), (np.amax, 1), (np.min, -1), (np.amin, -1)):
    _EXTREME_RULES[_target] = _state_extreme(_target, _sign, [*_EXTREMES, *_BOUNDED])
for _target, _sign in ((np.ndarray.max, 1), (np.ndarray.min, -1)):
    _state_extreme(_target, _sign, _METHOD)
for _target, _sign in ((np.nanmax, 1), (np.nanmin, -1)):
    _EXTREME_RULES[_target] = _state_extreme(
        _target, _sign, [(_M,), (_M, 0), ((_M,), {"axis": -1, "keepdims": True})], skip_nan=True
    )


@TABLE.rrule(np.ptp, leading=1, points=_EXTREMES)
def ptp_rrule(a, axis=None, out=None, keepdims=False):
    y = np.ptp(a, axis, keepdims=keepdims)
    top, bottom = Extreme(a, axis, None, 1, {}), Extreme(a, axis, None, -1, {})

    def ptp_pullback(y_bar):
        return NoTangent(), like_argument(a, top.give_back(y_bar) - bottom.give_back(y_bar))
    return y, ptp_pullback


@TABLE.frule(np.ptp)
def ptp_frule(tangents, a, axis=None, out=None, keepdims=False):
    y, a_dot = np.ptp(a, axis, keepdims=keepdims), dense(a, tangents[1])
    top, bottom = extreme_of(a, axis, None, 1, {}), extreme_of(a, axis, None, -1, {})
    kept = kept_shape(np.shape(a), axis)
    y_dot = np.reshape(top.pick(a_dot) - bottom.pick(a_dot), kept)
    if np.size(a) > np.size(y):  # between one number and itself there is no kink
        y_dot = past_kink(y_dot, np.reshape(y, kept), a, a_dot)
    return y, laid_out(y, np.reshape(y_dot, np.shape(y)))


def middles_of(a, axis):
    """For each lane the indices of its two middle entries in sorted order (one twice for odd lengths), none
    where there are no entries.
    """
    _check_ordered(a)
    b = lanes(np.asarray(a), axis)
    n = b.shape[-1]
    middle = [(n - 1) // 2, n // 2] if n else []
    return np.argsort(b, axis=-1, kind="stable")[..., np.array(middle, int)], n


def check_not_overwriting(target, overwrite_input):
    """Refuse `overwrite_input=True`: it writes to the argument."""
    if overwrite_input:
        raise MutationError(
            f"Mutating arrays is not supported -- called np.{target.__name__}(..., overwrite_input=True)",
            fixes=("leave out overwrite_input=True",))


@TABLE.rrule(np.median, leading=1, points=[*_EXTREMES, (_V,), (_C, 1), (_M, (0, 1))])
def median_rrule(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle entry of each lane, or half of each of the two middle ones."""
    check_not_overwriting(np.median, overwrite_input)
    y = np.median(a, axis, keepdims=keepdims)
    middles, n = middles_of(a, axis)

    def median_pullback(y_bar):
        halves = 0.5 * np.reshape(y_bar, middles.shape[:-1] + (1,))
        hits = sum(np.where(np.arange(n) == middles[..., k:k + 1], halves, 0.0) for k in (0, 1))
        return NoTangent(), like_argument(a, from_lanes(hits.astype(gradient_dtype(a)), np.shape(a), axis))
    return y, median_pullback


@TABLE.frule(np.median)
def median_frule(tangents, a, axis=None, out=None, overwrite_input=False, keepdims=False):
    check_not_overwriting(np.median, overwrite_input)
    y, middles = np.median(a, axis, keepdims=keepdims), middles_of(a, axis)[0]
    picked = np.take_along_axis(lanes(dense(a, tangents[1]), axis), middles, -1)
    return y, laid_out(y, np.reshape(0.5 * np.sum(picked, axis=-1), np.shape(y)))


# -- sums that skip NaN --------------------------------------------------------------------------------------

def _present(a, options):
    return np.logical_and(~np.isnan(a), options.get("where", True))


@TABLE.rrule(np.nansum, leading=1, points=_EXTREMES)
def nansum_rrule(a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
    check_dtype(a, dtype)
    options = given(("initial", "where"), (initial, where))

    def nansum_pullback(y_bar):
        return NoTangent(), like_argument(a, spread(y_bar, a, axis, _present(a, options)))
    return np.nansum(a, axis, dtype, keepdims=keepdims, **options), nansum_pullback


@TABLE.frule(np.nansum)
def nansum_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
    check_dtype(a, dtype)
    present = _present(a, given(("where",), (where,)))
    y_dot = np.sum(dense(a, tangents[1]), axis=axis, keepdims=keepdims, where=present)
    return reduced_in(np.nansum, dtype, a, axis, keepdims, initial, where), y_dot


@TABLE.rrule(np.nanmean, leading=1, points=_EXTREMES)
def nanmean_rrule(a, axis=None, dtype=None, out=None, keepdims=False, *, where=ABSENT):
    check_dtype(a, dtype)
    options = given(("where",), (where,))

    def nanmean_pullback(y_bar):
        present = _present(a, options)
        share = spread(y_bar, a, axis, present) / np.maximum(summand_count(a, axis, present), 1)
        return NoTangent(), like_argument(a, np.asarray(share, gradient_dtype(a)))
    return np.nanmean(a, axis, dtype, keepdims=keepdims, **options), nanmean_pullback


@TABLE.frule(np.nanmean)
def nanmean_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=False, *, where=ABSENT):
    check_dtype(a, dtype)
    present = _present(a, given(("where",), (where,)))
    y_dot = np.mean(dense(a, tangents[1]), axis=axis, keepdims=keepdims, where=present)
    return np.nanmean(a, axis, dtype, keepdims=keepdims, **given(("where",), (where,))), y_dot


# -- running sums and products -------------------------------------------------------------------------------

def _running(x, axis):
    """`x` as a running function with `axis=None` sees it, and the axis it runs along."""
    return (np.ravel(x), 0) if axis is None else (np.atleast_1d(x), axis)


def _from_the_end(y_bar, axis):
    """Sums of `y_bar` from each place to the end."""
    return np.flip(np.cumsum(np.flip(y_bar, axis), axis), axis)


def _state_cumsum(target, points):
    @TABLE.rrule(target, leading=1, points=points)
    def cumsum_rrule(a, axis=None, dtype=None, out=None):
        check_dtype(a, dtype)

        def cumsum_pullback(y_bar):
            x_bar = _from_the_end(y_bar, 0 if axis is None else axis)
            return NoTangent(), like_argument(a, np.reshape(x_bar, np.shape(a)))
        return target(a, axis, dtype), cumsum_pullback

    @TABLE.frule(target)
    def cumsum_frule(tangents, a, axis=None, dtype=None, out=None):
        check_dtype(a, dtype)
        return target(a, axis, dtype), target(dense(a, tangents[1]), axis)
    return cumsum_rrule, cumsum_frule


_RUNNING = [(_V,), (_M,), (_M, 0), (_M, -1), (_C, 1), (_M.T, 1), (_M32, 0), (_I, 1), (2.5,), (np.zeros(0),),
            ([1.0, 2.0],)]
_CUMSUM = _state_cumsum(np.cumsum, _RUNNING)
_state_cumsum(np.ndarray.cumsum, [(_M,), (_M, 1)])


def cumprod_cotangent(y_bar, x, axis):
    """x̄ of a running product, by Horner's rule from the end.

    `x̄_j = (Π_{i<j} x_i) s_j` with `s_j = ȳ_j + x_{j+1} s_{j+1}`: no division, so exact at zeros.
    """
    x, y_bar = np.moveaxis(x, axis, 0), np.moveaxis(y_bar, axis, 0)
    if not len(x):
        return np.moveaxis(y_bar, 0, axis)
    x = np.conj(x.astype(gradient_dtype(x)))
    tails = [y_bar[-1]]
    for y_bar_j, x_next in zip(y_bar[-2::-1], x[:0:-1]):
        tails.append(y_bar_j + x_next * tails[-1])
    before = np.concatenate([np.ones_like(x[:1]), np.cumprod(x[:-1], axis=0)])
    return np.moveaxis(before * np.stack(tails[::-1]), 0, axis)


def cumprod_tangent(x, x_dot, axis):
    """ẏ of a running product: `ẏ_j = ẏ_{j-1} x_j + y_{j-1} ẋ_j`."""
    x, x_dot = np.moveaxis(x, axis, 0), np.moveaxis(x_dot, axis, 0)
    if not len(x):
        return np.moveaxis(x_dot, 0, axis)
    y, y_dots = np.cumprod(x, axis=0), [x_dot[0]]
    for before, x_j, x_dot_j in zip(y, x[1:], x_dot[1:]):
        y_dots.append(y_dots[-1] * x_j + before * x_dot_j)
    return np.moveaxis(np.stack(y_dots), 0, axis)


def _state_cumprod(target, points):
    @TABLE.rrule(target, leading=1, points=points)
    def cumprod_rrule(a, axis=None, dtype=None, out=None):
        check_dtype(a, dtype)

        def cumprod_pullback(y_bar):
            return NoTangent(), like_argument(a, np.reshape(cumprod_cotangent(y_bar, *_running(a, axis)),
                                                            np.shape(a)))
        return target(a, axis, dtype), cumprod_pullback

    @TABLE.frule(target)
    def cumprod_frule(tangents, a, axis=None, dtype=None, out=None):
        check_dtype(a, dtype)
        x, along = _running(a, axis)
        y = target(a, axis, dtype)
        return y, laid_out(y, cumprod_tangent(x, np.reshape(dense(a, tangents[1]), x.shape), along))
    return cumprod_rrule, cumprod_frule


_CUMPROD = _state_cumprod(np.cumprod, [*_RUNNING, (_ZEROS,), (_ZEROS, 0), (_ZEROS, -1), (_Z,)])
_state_cumprod(np.ndarray.cumprod, [(_M,), (_ZEROS, 1)])


# -- methods of ufuncs ---------------------------------------------------------------------------------------

FUNCTION_RULES = {np.prod: _PRODUCT, np.cumsum: _CUMSUM, np.cumprod: _CUMPROD, **_MOMENTS}
"""The rules of some functions, `(rrule, frule)`, for others that are these of something else."""

METHODS_OF_UFUNCS = {}
"""The methods of ufuncs that have their rules here, with these: `(ufunc, name)` to `(rrule, frule)`."""


def _known_method(target, rrule, frule):
    METHODS_OF_UFUNCS[target.__self__, target.__name__] = rrule, frule


def _reducing_ufunc(target, function_rrule, function_frule, points):
    """`ufunc.reduce` differs from the function it stands behind in its default axis, 0."""
    @TABLE.rrule(target, leading=1, points=points)
    def reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        return function_rrule(array, axis, dtype, keepdims=keepdims, initial=initial, where=where)

    @TABLE.frule(target)
    def reduce_frule(
        tangents, array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT
    ):
        return function_frule(tangents, array, axis, dtype, keepdims=keepdims, initial=initial, where=where)

    _known_method(target, reduce_rrule, reduce_frule)


def _extreme_ufunc(target, function, points):
    """That of an extreme, which has no use for a dtype."""
    function_rrule, function_frule = _EXTREME_RULES[function]

    def check(dtype):
        if dtype is not None:
            refuse(f"np.{target.__self__.__name__}.reduce with dtype= is not differentiated",
                   "convert the array first")

    @TABLE.rrule(target, leading=1, points=points)
    def reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        check(dtype)
        return function_rrule(array, axis, keepdims=keepdims, initial=initial, where=where)

    @TABLE.frule(target)
    def reduce_frule(
        tangents, array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT
    ):
        check(dtype)
        return function_frule(tangents, array, axis, keepdims=keepdims, initial=initial, where=where)

    _known_method(target, reduce_rrule, reduce_frule)


_BY_UFUNC = [(_V,), (_M,), (_M, -1), (_M, None), ((_M,), {"keepdims": True}), (_C, (0, 2)), (_M32,), (_I, 1)]
_reducing_ufunc(np.add.reduce, *_SUM, [*_BY_UFUNC, ((_M,), {"where": _MASK, "initial": 2.0})])
_reducing_ufunc(np.multiply.reduce, *_PRODUCT, [*_BY_UFUNC, (_ZEROS,), ((_M,), {"where": _MASK})])
for _method, _target in (
    (np.maximum.reduce, np.max),
    (np.minimum.reduce, np.min),
    (np.fmax.reduce, np.nanmax),
    (np.fmin.reduce, np.nanmin),
):
    _extreme_ufunc(_method, _target, _BY_UFUNC)


def _accumulating_ufunc(target, function_rrule, function_frule, points):
    @TABLE.rrule(target, leading=1, points=points)
    def accumulate_rrule(array, axis=0, dtype=None, out=None):
        return function_rrule(array, axis, dtype)

    @TABLE.frule(target)
    def accumulate_frule(tangents, array, axis=0, dtype=None, out=None):
        return function_frule(tangents, array, axis, dtype)

    _known_method(target, accumulate_rrule, accumulate_frule)


_accumulating_ufunc(np.add.accumulate, *_CUMSUM, [(_V,), (_M,), (_M, 1), (_I,)])
_accumulating_ufunc(np.multiply.accumulate, *_CUMPROD, [(_V,), (_ZEROS,), (_M, 1)])


def _softmax(array, y, axis):
    """dy/da of log Σ exp a, zero where the sum is empty. Of large numbers `y` is rounded too much to be
    subtracted alone: the shares of one sum add up to one.
    """
    axis = reduced_axes(axis, np.ndim(array))
    y = np.reshape(y, kept_shape(np.shape(array), axis))
    lost, at_infinity = np.isneginf(y), np.isinf(y) & np.equal(array, y)
    below = np.where(at_infinity, 0.0, array) - np.where(at_infinity, 0.0, y)
    share = np.exp(np.where(lost, -np.inf, below))
    return share / np.where(lost, 1.0, np.sum(share, axis, keepdims=True))


@TABLE.rrule(np.logaddexp.reduce, leading=1, points=[
    (_V,), (_M,), (_M, -1), (_M, None), ((_M, 1), {"keepdims": True}), (_V * 400,), (_I,), (_M32, 1)])
def logaddexp_reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False):
    y = np.logaddexp.reduce(array, axis, dtype, keepdims=keepdims)

    def logaddexp_reduce_pullback(y_bar):
        x_bar = np.reshape(y_bar, kept_shape(np.shape(array), axis)) * _softmax(array, y, axis)
        return NoTangent(), like_argument(array, x_bar)
    return y, logaddexp_reduce_pullback


@TABLE.frule(np.logaddexp.reduce)
def logaddexp_reduce_frule(tangents, array, axis=0, dtype=None, out=None, keepdims=False):
    y = np.logaddexp.reduce(array, axis, dtype, keepdims=keepdims)
    return y, np.sum(_softmax(array, y, axis) * dense(array, tangents[1]), axis=axis, keepdims=keepdims)


_known_method(np.logaddexp.reduce, logaddexp_reduce_rrule, logaddexp_reduce_frule)


# -- trapezoid, differences ----------------------------------------------------------------------------------

def _spacing(y, x, dx, axis):
    """The widths of the panels, shaped to multiply slices of `y` along `axis`."""
    if x is None:
        return np.asarray(dx)
    x = np.asarray(x)
    if x.ndim != 1:
        return np.diff(x, axis=axis)
    return np.reshape(np.diff(x), tuple(-1 if k == axis % np.ndim(y) else 1 for k in range(np.ndim(y))))


def _check_places(y, x):
    """Refuse samples that are repeated along axes of their places."""
    if x is not None and np.ndim(x) > np.ndim(y):
        refuse("np.trapezoid with more axes of x than of y is not differentiated",
               "give y as many axes, with np.broadcast_to")


def _ends(y, axis):
    """`y` without its last, and without its first, entry along `axis`."""
    before = (slice(None),) * (axis % np.ndim(y))
    return y[before + (slice(None, -1),)], y[before + (slice(1, None),)]


def _pad_sum(first, second, axis, count):
    """`first` followed by a zero plus a zero followed by `second`, along `axis`: the transpose of `_ends`, of
    which both ends of no entry are none.
    """
    zero = np.zeros_like(np.sum(first, axis, keepdims=True))
    whole = np.concatenate([first, zero], axis) + np.concatenate([zero, second], axis)
    return whole[(slice(None),) * (axis % np.ndim(whole)) + (slice(count),)]


@TABLE.rrule(np.trapezoid, leading=3, points=[
    (_V,), (_M,), (_M, _V[:3]), (_M, _M[::-1], 1.0, 0), (_M, None, 0.5, 0),
    (_C, np.array([0.0, 1.0, 3.0]), 1.0, 1),
    (_C, _C[:, ::-1], 1.0, -1), (_I, None, 2.0), ([1.0, 2.0, 4.0], [0.0, 0.5, 2.5]),
    (_M, None, np.array([0.5, 1.5]))])
@as_written
def trapezoid_rrule(y, x=None, dx=1.0, axis=-1):
    """`Σ d (y_i + y_{i+1}) / 2`, the widths `d` from `x` or `dx`."""
    _check_places(y, x)

    def trapezoid_pullback(z_bar):
        z_bar = np.expand_dims(z_bar, axis)
        first, second = _ends(np.asarray(y), axis)
        d = _spacing(y, x, dx, axis)
        half = 0.5 * np.conj(d) * z_bar  # a spacing may have more axes than what is spaced
        half = unbroadcast(np.broadcast_to(half, np.broadcast_shapes(half.shape, first.shape)), first)
        y_bar = like_argument(y, _pad_sum(half, half, axis, np.shape(y)[axis]))
        d_bar = 0.5 * z_bar * np.conj(first + second)
        if x is None:
            return NoTangent(), y_bar, NoTangent(), like_argument(dx, unbroadcast(d_bar, np.asarray(dx)))
        d_bar = unbroadcast(d_bar, d)
        if np.ndim(x) == 1:
            d_bar = np.reshape(d_bar, -1)
        along = axis if np.ndim(x) > 1 else 0
        x_bar = _pad_sum(-d_bar, d_bar, along, np.shape(x)[along])
        return NoTangent(), y_bar, like_argument(x, x_bar), ZeroTangent()
    return np.trapezoid(y, x, dx, axis), trapezoid_pullback


@TABLE.frule(np.trapezoid)
def trapezoid_frule(tangents, y, x=None, dx=1.0, axis=-1):
    _check_places(y, x)
    x_dot, dx_dot = (*tangents[2:4], NoTangent(), NoTangent())[:2]
    z_dot = np.trapezoid(dense(y, tangents[1]), x, dx, axis)
    if x is not None and not is_zero(x_dot):
        z_dot = z_dot + np.trapezoid(y, dense(x, x_dot), 1.0, axis)
    if x is None and len(tangents) > 3 and not is_zero(dx_dot):
        z_dot = z_dot + np.trapezoid(y, None, dense(dx, dx_dot), axis)
    return np.trapezoid(y, x, dx, axis), z_dot


@TABLE.rrule(np.diff, leading=5, points=[
    (_V,), (_V, 2), (_M, 1, 0), (_C, 2, 1), (_V, 0), (_M, 1, -1, 0.5), (_M, 2, 0, _M[:1], 1.5), (_I, 1, 1),
    ([1.0, 3.0],),
    (_M32,), (_V, 3, -1, [1.0, 2.0], 2.5), (_V, 9), (_V, 0, -1, 0.5, _V)])
@as_written
def diff_rrule(a, n=1, axis=-1, prepend=ABSENT, append=ABSENT):
    """The transpose of a difference is minus a difference of the cotangent between zeros."""
    def diff_pullback(y_bar):
        if n == 0:  # NumPy then gives the array itself, without the ends
            ends_bar = [NoTangent() if end is ABSENT else ZeroTangent() for end in (prepend, append)]
            return NoTangent(), like_argument(a, y_bar), NoTangent(), NoTangent(), *ends_bar
        zero = np.zeros_like(y_bar, shape=())
        sizes = [0 if end is ABSENT else _end_size(end, a, axis) for end in (prepend, append)]
        total = np.shape(a)[axis] + sum(sizes)
        x_bar = y_bar
        for _ in range(min(n, total)):
            x_bar = -np.diff(x_bar, axis=axis, prepend=zero, append=zero)
        if n > total:  # nothing was left to differ, so nothing flows
            x_bar = np.zeros([total if k == axis % np.ndim(a) else length for k,
                              length in enumerate(np.shape(a))])
        pieces = np.split(x_bar, [sizes[0], total - sizes[1]], axis=axis)
        ends_bar = [NoTangent() if end is ABSENT else like_argument(end, unbroadcast(piece, np.asarray(end)))
                    for end, piece in ((prepend, pieces[0]), (append, pieces[2]))]
        return NoTangent(), like_argument(a, pieces[1]), NoTangent(), NoTangent(), *ends_bar
    return np.diff(a, n, axis, **given(("prepend", "append"), (prepend, append))), diff_pullback


def _end_size(end, a, axis):
    """How many entries along `axis` what is put before or after `a` adds; a number adds one."""
    return 1 if np.ndim(end) == 0 else np.shape(end)[axis]


@TABLE.frule(np.diff)
def diff_frule(tangents, a, n=1, axis=-1, prepend=ABSENT, append=ABSENT):
    ends_dot = {name: dense(end, end_dot) for name, end, end_dot
                in zip(("prepend", "append"), (prepend, append), _at(tangents, 4, 2)) if end is not ABSENT}
    return (np.diff(a, n, axis, **given(("prepend", "append"), (prepend, append))),
            np.diff(dense(a, tangents[1]), n, axis, **ends_dot))


@TABLE.rrule(np.ediff1d, leading=3, points=[(_V,), (_M,), (_V, 1.5), (_V, [1.0, 2.0], _V[:1]), (_M32,)])
@as_written
def ediff1d_rrule(ary, to_end=None, to_begin=None):
    def ediff1d_pullback(y_bar):
        start = 0 if to_begin is None else np.size(to_begin)
        stop = len(y_bar) - (0 if to_end is None else np.size(to_end))
        inner = y_bar[start:stop]
        x_bar = -np.diff(inner, prepend=0.0, append=0.0) if np.size(ary) > 1 else np.zeros(np.size(ary))
        ends_bar = [NoTangent() if end is None else like_argument(end, np.reshape(end_bar, np.shape(end)))
                    for end, end_bar in ((to_end, y_bar[stop:]), (to_begin, y_bar[:start]))]
        return NoTangent(), like_argument(ary,
                                          np.reshape(x_bar,
                                                     np.shape(ary)).astype(gradient_dtype(ary))), *ends_bar
    return np.ediff1d(ary, to_end, to_begin), ediff1d_pullback


@TABLE.frule(np.ediff1d)
def ediff1d_frule(tangents, ary, to_end=None, to_begin=None):
    ends_dot = [None if end is None else dense(end, end_dot) for end,
                end_dot in zip((to_end, to_begin), _at(tangents, 2, 2))]
    return np.ediff1d(ary, to_end, to_begin), np.ediff1d(dense(ary, tangents[1]), *ends_dot)


def _at(tangents, first, count):
    """The `count` tangents from place `first` on, NoTangent() for those left out."""
    return (*tangents[first:first + count], NoTangent(), NoTangent())[:count]


# -- norms ---------------------------------------------------------------------------------------------------

def norm_kind(ndim, ord, axis):
    """`(p, axes)`: which norm it is, over which axes; a number for that of vectors, text for one of matrices.

    >>> norm_kind(2, "fro", None), norm_kind(1, None, -1), norm_kind(2, 1, None)
    ((2, (0, 1)), (2, (0,)), ('columns', (0, 1)))
    """
    axes = tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return 2, axes
    if len(axes) == 1 and isinstance(ord, (int, float, np.number)):
        if ord != 0:
            return ord, axes
        refuse("np.linalg.norm with ord=0 is not differentiated: it counts", "use np.count_nonzero")
    if len(axes) == 2 and ord in _MATRIX_NORMS:
        return _MATRIX_NORMS[ord], axes
    refuse(f"np.linalg.norm with ord={ord!r} over {len(axes)} axes is not differentiated")


_MATRIX_NORMS = {
    1: "columns", -1: "fewest in columns", np.inf: "rows", -np.inf: "fewest in rows",
    2: "largest", -2: "smallest", "nuc": "nuclear",
}


def singular_triples(a):
    """The reduced SVD for formulas in which the phases of the vectors cancel: those of complex ones are
    LAPACK's choice, and the derivative of such a formula does not depend on it. Its rules stand beside those
    of `svd`.
    """
    infinite = np.any(np.isinf(a), axis=(-2, -1))
    if not np.any(infinite):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return u, s, vh
    # LAPACK may never return where an entry is infinite and vectors are asked for; its values are NaN there.
    parts = np.linalg.svd(np.where(infinite[..., None, None], np.zeros_like(a), a), full_matrices=False)
    for part in parts:
        part[infinite] = np.nan
    return tuple(parts)


def check_values(a):
    """NumPy's own error where it finds no singular values, as with newer versions of LAPACK if an entry is
    infinite.
    """
    if np.any(np.isinf(a)):
        np.linalg.svd(a, compute_uv=False)


def singular_values_and_vectors(a):
    """The reduced SVD for the slopes of the values alone."""
    if np.any(np.isinf(a)):
        check_values(a)
        return singular_triples(a)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh


def _matrix_norm_slope(x, p, axes):
    """dy/dx of a norm of matrices, which lie in `axes`; where values coincide the first has it all."""
    a = np.moveaxis(x, axes, (-2, -1))
    if p in ("largest", "smallest", "nuclear"):
        u, s, vh = singular_triples(a)
        there = s > max(a.shape[-2:]) * np.finfo(s.dtype).eps * s[..., :1]  # 0 in the directions that are not
        if p == "nuclear":
            slope = (u * there[..., None, :]) @ vh
        else:
            k = 0 if p == "largest" else s.shape[-1] - 1
            slope = u[..., :, k, None] * vh[..., None, k, :] * there[..., k, None, None]
    else:
        sums, along = _sums_of_sizes(a, p)
        extreme = extreme_of(sums, along, None, -1 if p.startswith("fewest") else 1, {})
        slope = unit(a) * extreme.give_back(np.ones(extreme.index.shape))
    return np.moveaxis(slope, (-2, -1), axes)


def _sums_of_sizes(a, p):
    """The sums among which a norm of matrices (…, m, n) by columns or rows chooses, and their axis."""
    of, along = (-2, -1) if p.endswith("columns") else (-1, -2)
    return np.sum(np.abs(a), axis=of, keepdims=True), along


def _with_kinks(x, p, axes):
    """The numbers whose sizes a norm may add up, which has a kink where one is 0; 1 in place of the others.
    Of equally extreme sums or sizes each may be the one.
    """
    if p == 1:
        return x
    if not isinstance(p, str):
        return _of_the_extreme(x, np.abs(x), axes, least=p < 0)
    a = np.moveaxis(x, axes, (-2, -1))
    found = _of_the_extreme(a, *_sums_of_sizes(a, p), least=p.startswith("fewest"))
    return np.moveaxis(found, (-2, -1), axes)


def _of_the_extreme(x, sizes, axes, least):
    extreme = (np.min if least else np.max)(sizes, axis=axes, keepdims=True)
    return np.where(sizes == extreme, x, 1.0)


TABLE.non_differentiable(_with_kinks)


_SUMS_OF_SIZES = (1, np.inf, -np.inf, "columns", "fewest in columns", "rows", "fewest in rows")
"""The norms made of the sizes of single numbers, with a kink at each that is 0.

The others have one where their slope is 0.
"""


def unit(x):
    """`x / abs(x)`, 0 at 0."""
    if np.asarray(x).dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0.0, x / np.where(size == 0, 1.0, size))


def _norm_slope(x, y, p, axes):
    """dy/dx of the p-norm over `axes`, an array of the shape of `x`; zero where the norm is."""
    if isinstance(p, str):
        return _matrix_norm_slope(x, p, axes)
    y = np.reshape(y, kept_shape(np.shape(x), axes))
    if p == 2:
        return np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y))
    if p == 1:
        return unit(x)
    if np.isinf(p):
        extreme = extreme_of(np.abs(x), axes, None, 1 if p > 0 else -1, {})
        return unit(x) * extreme.give_back(np.ones_like(y, dtype=float))
    with np.errstate(all="ignore"):  # (|x| / y) ** (p - 1), which overflows less than its parts
        return np.where(y == 0, 0.0, unit(x) * (np.abs(x) / np.where(y == 0, 1.0, y)) ** (p - 1))


def norm_with_pullback(x, y, p, axes):
    values = np.asarray(x)

    def norm_pullback(y_bar):
        slope = _norm_slope(values, y, p, axes)
        x_bar = np.reshape(y_bar, kept_shape(np.shape(x), axes)) * slope
        return NoTangent(), like_argument(x, np.asarray(x_bar, gradient_dtype(x)))
    return y, norm_pullback


def norm_tangent(x, x_dot, y, p, axes):
    x, x_dot = np.asarray(x), dense(x, x_dot)
    slope = _norm_slope(x, y, p, axes)
    y_dot = np.sum(np.real(np.conj(slope) * x_dot), axis=axes, keepdims=True)
    is_sum = p in _SUMS_OF_SIZES
    kink = _with_kinks(x, p, axes) if is_sum else np.any(slope != 0, axis=axes, keepdims=True)
    past = past_kink(y_dot, kink, x, x_dot)
    if p == "smallest":  # only nearly 0, and so is the seed: another one stands in for it
        past = y_dot + 0.0 * past
    return np.reshape(past, np.shape(y))


@TABLE.rrule(
    np.linalg.norm,
    leading=1,
    points=[
        (_V,),
        (_M,),
        (_C,),
        (_V, 1),
        (_V, np.inf),
        (_V, 2),
        (_M, "fro"),
        (_M, None, 0),
        (_M, 1, -1),
        (_M, np.inf, 0),
        (_C, None, (0, 2)),
        (_C, "fro", (-1, 1)),
        ((_M,), {"keepdims": True}),
        ((_M, None, 1), {"keepdims": True}),
        (_M32,),
        (_I,),
        (_Z,),
        (_Z, 1),
        (_M.T, 2, 0),
        ([3.0, 4.0],),
        (_V, 3),
        (_V, 2.5),
        (_V, 0.5),
        (_V, -1),
        (_V, -np.inf),
        (_M, 4, 0),
        (_Z, 3),
        (_Z, np.inf),
        *[(_M, ord) for ord in (1, -1, np.inf, -np.inf, 2, -2, "nuc")],
        (_FULL, "nuc", (0, 2)),
        (_FULL, 2, (2, 1)),
        (_C, 1, (-1, 0)),
        ((_C, np.inf, (1, 2)), {"keepdims": True}),
        (_M + 1j * _M[::-1] ** 2, "nuc"),
        (_M + 1j * _M[::-1] ** 2, 2),
        (_M + 1j * _M[::-1] ** 2, 1),
    ],
)
def norm_rrule(x, ord=None, axis=None, keepdims=False):
    """`x̄ = ȳ x / y` for the 2-norm, `ȳ sign(x)` for the 1-norm; for inf the first largest entry gets all."""
    p, axes = norm_kind(np.ndim(x), ord, axis)
    return norm_with_pullback(x, np.linalg.norm(x, ord, axis, keepdims), p, axes)


@TABLE.frule(np.linalg.norm)
def norm_frule(tangents, x, ord=None, axis=None, keepdims=False):
    p, axes = norm_kind(np.ndim(x), ord, axis)
    y = np.linalg.norm(x, ord, axis, keepdims)
    return y, norm_tangent(x, tangents[1], y, p, axes)


def _vector_norm_kind(x, axis, ord):
    if ord == 0:
        refuse("np.linalg.vector_norm with ord=0 is not differentiated: it counts", "use np.count_nonzero")
    return ord, tuple(range(np.ndim(x))) if axis is None else normalize_axis_tuple(axis, np.ndim(x))


@TABLE.rrule(np.linalg.vector_norm, leading=1, points=[
    (_V,), (_M,), ((_M,), {"axis": 0}), ((_C,), {"axis": (0, -1), "keepdims": True}), ((_M,), {"ord": 1}),
    ((_C,), {"ord": np.inf, "axis": (1, 2)}), ((_C,), {"ord": 3, "axis": (0, 1)}), ((_Z,), {"ord": 1.5})])
def vector_norm_rrule(x, /, *, axis=None, keepdims=False, ord=2):
    p, axes = _vector_norm_kind(x, axis, ord)
    return norm_with_pullback(x, np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), p, axes)


@TABLE.frule(np.linalg.vector_norm)
def vector_norm_frule(tangents, x, /, *, axis=None, keepdims=False, ord=2):
    p, axes = _vector_norm_kind(x, axis, ord)
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return y, norm_tangent(x, tangents[1], y, p, axes)


@TABLE.rrule(
    np.linalg.matrix_norm,
    leading=1,
    points=[
        (_M,),
        (_C,),
        ((_M,), {"keepdims": True}),
        ((_FULL,), {"ord": "nuc"}),
        ((_FULL,), {"ord": -2, "keepdims": True}),
    ],
)
def matrix_norm_rrule(x, /, *, keepdims=False, ord="fro"):
    p, axes = norm_kind(np.ndim(x), ord, (-2, -1))
    return norm_with_pullback(x, np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord), p, axes)


@TABLE.frule(np.linalg.matrix_norm)
def matrix_norm_frule(tangents, x, /, *, keepdims=False, ord="fro"):
    p, axes = norm_kind(np.ndim(x), ord, (-2, -1))
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return y, norm_tangent(x, tangents[1], y, p, axes)
