"""NumPy's functions that no cotangent passes, and the ranges, which one does: linspace and arange."""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of, laid_out, no_change
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import is_zero, refuse
from .numpy_elementwise import Number

TABLE = RuleTable("numpy_nondiff")


# -- questions about values ----------------------------------------------------------------------------------

TABLE.non_differentiable(
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.isfinite,
    np.isinf,
    np.isnan,
    np.isnat,
    np.isclose,
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.isin,
    np.iscomplex,
    np.isreal,
    np.signbit,
    np.bool_,
)

TABLE.non_differentiable(
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.left_shift,
    np.right_shift,
    np.invert,
    np.gcd,
    np.lcm,
    *[getattr(np, name) for name in ("bitwise_count",) if hasattr(np, name)],
)

# -- positions -----------------------------------------------------------------------------------------------

TABLE.non_differentiable(
    np.argsort,
    np.argpartition,
    np.lexsort,
    np.nonzero,
    np.argwhere,
    np.flatnonzero,
    np.count_nonzero,
    np.searchsorted,
    np.digitize,
    np.ndarray.argsort,
    np.ndarray.argpartition,
    np.ndarray.nonzero,
    np.ndarray.searchsorted,
    np.ravel_multi_index,
    np.unravel_index,
    np.indices,
    np.diag_indices,
    np.diag_indices_from,
    np.tril_indices,
    np.tril_indices_from,
    np.triu_indices,
    np.triu_indices_from,
    np.mask_indices,
    np.ndindex,
)

# -- answers that can be written to an array -----------------------------------------------------------------
# Their rules repeat the parameters, so that an `out` given by position is seen for what it is and refused.


def _no_pullback(y_bar):
    return (NoTangent(),)


def _state_draw(target):
    """Draws that ask for a size alone; it may be read from an array that varies."""

    @TABLE.rrule(target, leading=0, differentiable=False)
    def draw_rrule(self, size=None, dtype=np.float64):
        return _drawn(target, self, size, dtype), _no_pullback

    @TABLE.frule(target, differentiable=False)
    def draw_frule(tangents, self, size=None, dtype=np.float64):
        return _drawn(target, self, size, dtype), NoTangent()


def _state_filling_draw(target):
    """Draws that can be written to an array."""

    @TABLE.rrule(target, leading=0, differentiable=False)
    def draw_rrule(self, size=None, dtype=np.float64, out=None):
        return _drawn(target, self, size, dtype), _no_pullback

    @TABLE.frule(target, differentiable=False)
    def draw_frule(tangents, self, size=None, dtype=np.float64, out=None):
        return _drawn(target, self, size, dtype), NoTangent()


def _drawn(target, generator, size, dtype):
    return target(generator, size) if dtype is np.float64 else target(generator, size, dtype)


_state_filling_draw(np.random.Generator.random)
_state_filling_draw(np.random.Generator.standard_normal)
for _draw in (
    np.random.RandomState.random,
    np.random.RandomState.random_sample,
    np.random.RandomState.standard_normal,
):
    _state_draw(_draw)
TABLE.non_differentiable(np.random.RandomState.rand, np.random.RandomState.randn)


def _state_test(target):
    """`isneginf` and its like: an answer for each element."""

    @TABLE.rrule(target, leading=0, differentiable=False)
    def test_rrule(x, out=None):
        return target(x), _no_pullback

    @TABLE.frule(target, differentiable=False)
    def test_frule(tangents, x, out=None):
        return target(x), NoTangent()


def _state_quantifier(target):
    """`any` and `all` along axes."""

    @TABLE.rrule(target, leading=0, differentiable=False)
    def quantifier_rrule(a, axis=None, out=None, keepdims=False, *, where=True):
        return target(a, axis, keepdims=keepdims, where=where), _no_pullback

    @TABLE.frule(target, differentiable=False)
    def quantifier_frule(tangents, a, axis=None, out=None, keepdims=False, *, where=True):
        return target(a, axis, keepdims=keepdims, where=where), NoTangent()


def _state_position(target):
    """The position of an extreme along an axis."""

    @TABLE.rrule(target, leading=0, differentiable=False)
    def position_rrule(a, axis=None, out=None, *, keepdims=False):
        return target(a, axis, keepdims=keepdims), _no_pullback

    @TABLE.frule(target, differentiable=False)
    def position_frule(tangents, a, axis=None, out=None, *, keepdims=False):
        return target(a, axis, keepdims=keepdims), NoTangent()


for _target in (np.isneginf, np.isposinf):
    _state_test(_target)
for _target in (np.any, np.all, np.ndarray.any, np.ndarray.all):
    _state_quantifier(_target)
for _target in (np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.ndarray.argmax, np.ndarray.argmin):
    _state_position(_target)

# -- shapes and dtypes ---------------------------------------------------------------------------------------

TABLE.non_differentiable(
    np.shape,
    np.ndim,
    np.size,
    np.broadcast_shapes,
    np.result_type,
    np.can_cast,
    np.promote_types,
    np.min_scalar_type,
    np.common_type,
    np.issubdtype,
    np.isdtype,
    np.iscomplexobj,
    np.isrealobj,
    np.isscalar,
    np.iterable,
    np.finfo,
    np.iinfo,
    np.dtype,
    np.shares_memory,
    np.may_share_memory,
)

# -- arrays of constants -------------------------------------------------------------------------------------

TABLE.non_differentiable(
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye, np.identity, np.tri
)

# -- text and settings ---------------------------------------------------------------------------------------

TABLE.non_differentiable(
    np.array2string,
    np.array_repr,
    np.array_str,
    np.format_float_positional,
    np.format_float_scientific,
    np.base_repr,
    np.binary_repr,
    np.errstate,
    np.geterr,
    np.seterr,
    np.set_printoptions,
    np.get_printoptions,
    np.printoptions,
    np.ndarray.tofile,
    np.save,
    np.savez,
    np.savetxt,
)


# -- ranges ------------------------------------------------------------------------------------


def can_carry(y):
    """Whether an array can carry a cotangent back to the numbers it was made of: not if making it rounded."""
    return y.dtype.kind in "fc"


def sample_weights(num, endpoint, ndim, axis):
    """How much of `stop` each sample holds, along `axis` of an array of `ndim` dimensions."""
    shape = [1] * ndim
    shape[axis] = num
    return np.linspace(0.0, 1.0, num, endpoint).reshape(shape)


def _check_samples(y, retstep):
    if retstep:
        refuse("np.linspace with retstep=True is not differentiated",
               "compute the step: (stop - start) / (num - 1)")
    if not can_carry(y):
        refuse(f"np.linspace rounded to {y.dtype} is not differentiated", "leave out dtype=")


@TABLE.rrule(
    np.linspace,
    leading=2,
    points=[
        (0.3, 2.0),
        (0.3, -1.2, 4),
        (0, 3, 7),
        (np.array([0.3, 1.0]), 2.0, 4),
        (0.3, 2.0, 0),
        (0.3, 2.0, 1),
        ((0.3, 2.0, 5, False)),
        ((0.3, 1 - 2j, 3)),
        ((np.array([0.3, 1.0]), np.array([[2.0], [5.0]]), 4), {"axis": -1}),
    ],
)
def linspace_rrule(start: Number, stop: Number, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """`(1 - t) start + t stop` for evenly spaced `t`: both ends get their share of the seed."""
    y = np.linspace(start, stop, num, endpoint, False, dtype, axis)
    _check_samples(y, retstep)
    t = sample_weights(num, endpoint, y.ndim, axis)

    def linspace_pullback(y_bar):
        return (
            NoTangent(),
            Thunk(lambda: unbroadcast(np.sum((1 - t) * y_bar, axis=axis), start)),
            Thunk(lambda: unbroadcast(np.sum(t * y_bar, axis=axis), stop)),
        )

    return y, linspace_pullback


@TABLE.frule(np.linspace)
def linspace_frule(
    tangents, start: Number, stop: Number, num=50, endpoint=True, retstep=False, dtype=None, axis=0
):
    y = np.linspace(start, stop, num, endpoint, False, dtype, axis)
    _check_samples(y, retstep)
    t, y_dot = sample_weights(num, endpoint, y.ndim, axis), np.zeros(y.shape)
    for weight, end_dot in ((1 - t, tangents[1]), (t, tangents[2])):
        if not is_zero(end_dot):
            ends = np.broadcast_to(end_dot, np.broadcast_shapes(np.shape(start), np.shape(stop)))
            y_dot = y_dot + weight * np.expand_dims(ends, axis)
    return y, form_of(y, laid_out(y, y_dot))


@TABLE.rrule(np.arange, leading=3, points=[(0.3, 4.0), (0.3, 4.0, 0.7), (3.5,), (0.5, -2.0, -0.6)])
def arange_rrule(start: Number, stop: Number | None = None, step: Number | None = None, dtype=None):
    """`start + k step`; with one argument that is `stop`. `stop` decides only how many there are."""
    y = _arange(start, stop, step, dtype)
    one = stop is None and step is None

    def arange_pullback(y_bar):
        if one or not can_carry(y):
            return NoTangent(), ZeroTangent(), NoTangent(), NoTangent()
        counts = np.arange(y.size)
        return (
            NoTangent(),
            np.sum(y_bar),
            NoTangent() if stop is None else ZeroTangent(),
            NoTangent() if step is None else np.sum(counts * y_bar),
        )

    return y, arange_pullback


def _arange(start, stop, step, dtype):
    if stop is None and step is not None:
        refuse("np.arange(stop, step=…) without a start is not differentiated",
               "write np.arange(0, stop, step)")
    return np.arange(start, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype)


@TABLE.frule(np.arange)
def arange_frule(tangents, start: Number, stop: Number | None = None, step: Number | None = None, dtype=None):
    y = _arange(start, stop, step, dtype)
    if stop is None or not can_carry(y):
        return y, no_change(y)
    start_dot, step_dot = tangents[1], tangents[3] if len(tangents) > 3 else ZeroTangent()
    y_dot = np.zeros(y.shape)
    if not is_zero(start_dot):
        y_dot = y_dot + start_dot
    if not is_zero(step_dot):
        y_dot = y_dot + step_dot * np.arange(y.size)
    return y, y_dot
