"""Rules for `logsumexp`, `softmax` and `log_softmax` of `scipy.special`, with all their keywords.

A logarithm of a sum has the shares of the summands for its slopes. Where the sum is 0 or infinite they are
NaN, but where a single summand is infinite; a summand with weight 0 moves nothing.
"""

import numpy as np
from numpy.typing import NDArray

from ..rules.kinds import NUMERIC, Array, item_of
from ..rules.results import stated_by
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .numpy_elementwise import conjugate
from .numpy_reductions import kept_shape
from .scipy_rows import SpecialTable, special

TABLE = SpecialTable("scipy_reductions")

Floats = NDArray[np.number] | list | tuple | int | float | complex | np.number


# -- the logarithm of a sum ----------------------------------------------------------------------------------


def shares(a, axis, b, total, sign):
    """What each summand is of the sum by its exponential, and by its weight: `b exp(a) / sum` and
    `exp(a) / sum`. Of large numbers the logarithm is rounded too much to be subtracted alone: what has one
    sign adds up to one.
    """
    gap = a - total
    alone = np.equal(a, total)  # also where both are infinite
    with np.errstate(invalid="ignore"):
        each = (
            np.exp(np.where(np.logical_and(alone, np.isposinf(np.real(a))), np.zeros_like(gap), gap)) * sign
        )
        by_a = each if b is None else np.where(np.equal(b, 0), np.zeros_like(each), b * each)
        if np.iscomplexobj(by_a) or not (b is None or np.all(b >= 0) or np.all(b <= 0)):
            return by_a, each
        whole = np.sum(by_a, axis=axis if np.ndim(by_a) else None, keepdims=True)
        whole = np.where(np.logical_and(np.isfinite(whole), np.not_equal(whole, 0)), whole, 1.0)
        return by_a / whole, each / whole


def _parts(a, axis, b, keepdims, return_sign):
    """The result as SciPy gives it, and the shares of the summands of the whole."""
    a_there, b_there = np.asarray(a), None if b is None else np.asarray(b)
    if return_sign and (np.iscomplexobj(a_there) or np.iscomplexobj(b_there)):
        refuse("scipy.special.logsumexp of complex numbers with return_sign=True is not differentiated",
               "leave return_sign out")
    shape = np.shape(a_there) if b is None else np.broadcast_shapes(np.shape(a_there), np.shape(b_there))
    result = special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    kept = kept_shape(shape, axis)
    total = np.reshape(result[0] if return_sign else result, kept)
    sign = np.reshape(result[1], kept) if return_sign else 1.0
    if b is not None:
        a_there = np.broadcast_to(a_there, shape)  # a weight for each of its places, though it has fewer axes
    by_a, by_b = shares(a_there, axis, b_there, total, sign)
    return result, kept, by_a, by_b


_MATRIX = np.array([[0.3, -1.2, 2.0], [1.5, 0.4, -0.7]])
_WEIGHTS = np.array([0.5, 2.0, 1.5])
_CUBE = np.linspace(-1.0, 2.0, 12).reshape(2, 3, 2)
LOGSUMEXPS = [
    (_MATRIX,),
    (_MATRIX, 1),
    (_MATRIX, 0, _WEIGHTS),
    (_MATRIX[0], None, np.array([0.5, -2.0, 1.5])),
    (_CUBE, (0, 2)),
    ((_MATRIX,), {"axis": -1, "keepdims": True}),
    ((_MATRIX,), {"b": np.array([[2.0], [0.5]]), "axis": 0}),
    ((_MATRIX, 1, -_WEIGHTS), {"return_sign": True}),
    (_MATRIX.astype(np.float32), 1),
    (0.7,),
    (np.array(0.7),),
    ([0.3, -1.2],),
    (np.array([0.3 - 1.0j, 1.2 + 0.4j]),),
    (np.array([0.3, -1.2, 800.0, -900.0]),),
    (np.array([0.3, -np.inf, 1.0]),),
]


@TABLE.rrule(special.logsumexp, leading=3, points=LOGSUMEXPS)
def logsumexp_rrule(a: Floats, axis=None, b: Floats | None = None, keepdims=False, return_sign=False):
    """The shares of the summands; the sign of the sum is constant."""
    result, kept, by_a, by_b = _parts(a, axis, b, keepdims, return_sign)

    def logsumexp_pullback(y_bar):
        total_bar = y_bar[0] if return_sign else y_bar
        if is_zero(total_bar):
            return NoTangent(), total_bar, NoTangent(), NoTangent() if b is None else total_bar
        total_bar = np.reshape(np.asarray(total_bar), kept)
        a_bar = unbroadcast(conjugate(by_a) * total_bar, a)
        return (
            NoTangent(),
            a_bar,
            NoTangent(),
            NoTangent() if b is None else unbroadcast(conjugate(by_b) * total_bar, b),
        )

    return result, logsumexp_pullback


@TABLE.frule(special.logsumexp)
def logsumexp_frule(
    tangents, a: Floats, axis=None, b: Floats | None = None, keepdims=False, return_sign=False
):
    result, _, by_a, by_b = _parts(a, axis, b, keepdims, return_sign)
    moved = 0.0
    if not is_zero(tangents[1]):
        moved = by_a * dense(a, tangents[1])
    if b is not None and len(tangents) > 3 and not is_zero(tangents[3]):
        moved = moved + by_b * dense(b, tangents[3])
    moved = moved + np.zeros_like(by_b)
    over = None if axis is None or not np.ndim(by_b) else axis
    total_dot = np.sum(moved, axis=over, keepdims=keepdims)
    total = result[0] if return_sign else result
    total_dot = np.reshape(total_dot, np.shape(total)) if isinstance(total, np.ndarray) else total_dot
    return result, (total_dot, NoTangent()) if return_sign else total_dot


# -- softmax -------------------------------------------------------------------------------------------------

SOFTMAXES = [
    (_MATRIX,),
    (_MATRIX, 1),
    ((_MATRIX,), {"axis": 0}),
    (_CUBE, (0, 2)),
    (_MATRIX.astype(np.float32), -1),
    ([0.3, -1.2],),
    (np.array([0.3, -1.2, 800.0, -900.0]),),
    (np.array([0.3, -np.inf, 1.0]),),
]


def _softmax_slope(y, y_bar, axis):
    return y * (y_bar - np.sum(y * y_bar, axis=axis, keepdims=True))


@TABLE.rrule(special.softmax, leading=1, points=SOFTMAXES)
def softmax_rrule(x: Floats, axis=None):
    """`y * (y_bar - sum(y * y_bar))` along the axis: symmetric, so forward mode has the same."""
    y = special.softmax(x, axis=axis)

    def softmax_pullback(y_bar):
        x_bar = conjugate(_softmax_slope(y, conjugate(y_bar), axis))
        return NoTangent(), like_argument(x, x_bar)

    return y, softmax_pullback


@TABLE.frule(special.softmax)
def softmax_frule(tangents, x: Floats, axis=None):
    y = special.softmax(x, axis=axis)
    return y, _softmax_slope(y, dense(x, tangents[1]), axis)


@TABLE.rrule(special.log_softmax, leading=1, points=SOFTMAXES)
def log_softmax_rrule(x: Floats, axis=None):
    """`y_bar - exp(y) * sum(y_bar)` along the axis."""
    y = special.log_softmax(x, axis=axis)

    def log_softmax_pullback(y_bar):
        x_bar = y_bar - conjugate(np.exp(y)) * np.sum(y_bar, axis=axis, keepdims=True)
        return NoTangent(), like_argument(x, x_bar)

    return y, log_softmax_pullback


@TABLE.frule(special.log_softmax)
def log_softmax_frule(tangents, x: Floats, axis=None):
    y = special.log_softmax(x, axis=axis)
    x_dot = dense(x, tangents[1])
    return y, x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)


# -- what they give ------------------------------------------------------------------------------------------


@stated_by(special.softmax, special.log_softmax)
def _of_the_same_shape(x, axis=None):
    return x.kind if isinstance(x.kind, Array) and x.kind.dtype == "f8" else NUMERIC


@stated_by(special.logsumexp)
def _of_fewer_axes(a, axis=None, b=None, keepdims=None, return_sign=None):
    if (
        not isinstance(a.kind, Array)
        or a.kind.dtype != "f8"
        or keepdims is not None
        or return_sign is not None
    ):
        return NUMERIC
    if b is not None or (axis is not None and type(axis.literal) is not int):
        return NUMERIC
    return item_of("f8", 0 if axis is None else a.kind.ndim - 1)
