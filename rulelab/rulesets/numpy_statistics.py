"""Rules for quantiles, reductions that skip NaN, covariances, counts and what sorting leaves."""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import laid_out, no_change
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import (
    ABSENT,
    as_written,
    dense,
    given,
    gradient_dtype,
    is_zero,
    like_argument,
    refuse,
)
from .numpy_indexing import scatter, selected, selected_tangent
from .numpy_reductions import FUNCTION_RULES, check_not_overwriting, from_lanes, lanes

TABLE = RuleTable("numpy_statistics")

_V = np.array([0.5, -1.5, 2.0, 3.5, -0.25])
_M = np.array([[0.5, -1.0, 2.0], [3.0, 1.5, -2.5]])
_C = np.sin(np.arange(24.0)).reshape(2, 3, 4)
_I = np.array([[1, 2, 3], [4, 6, 5]])
_M32 = _M.astype(np.float32)


# -- quantiles -----------------------------------------------------------------------------------------------


def sorted_weights(n, q, method):
    """How much of each of `n` sorted values the quantiles `q` (flat) hold, `(q, n)`; NumPy is asked by the
    quantile of 0, 1, 2, …, which says between which two values it lies, and where.

    >>> sorted_weights(3, [0.5, 0.75], "linear")
    array([[0. , 1. , 0. ],
           [0. , 0.5, 0.5]])
    """
    places = np.quantile(np.arange(float(n)), np.asarray(q, float), method=method)
    below = np.clip(np.floor(places).astype(int), 0, n - 1)
    above, share = np.minimum(below + 1, n - 1), places - below
    columns = np.arange(n)
    return np.where(columns == below[:, None], 1 - share[:, None], 0.0) + np.where(
        columns == above[:, None], share[:, None], 0.0
    )


def quantile_weights(b, q, method, skip_nan):
    """The weight of each entry of the lanes `b` (lane, n) in each quantile: `(lane, q, n)`.

    A lane with a NaN has NaN weights, unless NaNs are skipped.
    """
    lane_count, n = b.shape
    weights = np.zeros((lane_count, len(q), n))
    order = np.argsort(b, axis=-1, kind="stable")  # NaN last
    if not skip_nan and n:
        np.put_along_axis(weights, order[:, None, :], sorted_weights(n, q, method)[None], -1)
        weights[np.isnan(b).any(-1)] = np.nan
        return weights
    for lane, present in enumerate(np.count_nonzero(~np.isnan(b), axis=-1)):
        if present:
            weights[lane][:, order[lane, :present]] = sorted_weights(present, q, method)
    return weights


class Quantiles:
    """The quantiles `q` of the lanes of `a` along `axis`: a linear map, kept as its weights."""

    def __init__(self, a, q, axis, method, skip_nan):
        b = lanes(np.asarray(a), axis)
        self.lanes_shape, self.axis, self.shape, self.dtype = b.shape, axis, np.shape(a), gradient_dtype(a)
        self.flat_shape = int(np.prod(b.shape[:-1])), b.shape[-1]  # said in full: -1 of nothing is unknown
        flat = np.reshape(b, self.flat_shape)
        self.weights = quantile_weights(flat, np.ravel(np.asarray(q, float)), method, skip_nan)

    def cotangent(self, y_bar):
        lane_count, q_count, _ = self.weights.shape
        seeds = np.reshape(y_bar, (q_count, lane_count))
        x_bar = np.einsum("ql,lqn->ln", seeds, self.weights).astype(self.dtype)
        return from_lanes(np.reshape(x_bar, self.lanes_shape), self.shape, self.axis)

    def tangent(self, a_dot, shape):
        flat = np.reshape(lanes(a_dot, self.axis), self.flat_shape)
        return np.reshape(np.einsum("ln,lqn->ql", flat, self.weights), shape)


def quantiles_of(a, q, axis, method, skip_nan):
    """The weights of the quantiles: constant where they have a derivative."""
    return Quantiles(a, q, axis, method, skip_nan)


def _check_weights(target, weights):
    if weights is not None:
        refuse(f"np.{target.__name__} with weights= is not differentiated", "leave weights= out")


def _check_order(target, a, q, axis, skip_nan):
    """NumPy mixes up axes of its result here: what stands where is not what it documents."""
    if skip_nan and np.ndim(q) > 1 and isinstance(axis, tuple) and 1 < len(axis) < np.ndim(a):
        name = target.__name__
        refuse(
            f"np.{name} along several axes, for quantiles that lie in a matrix, is not differentiated: NumPy "
            "does not order its results as documented",
            f"call np.{name} for a vector of quantiles, and reshape the result",
        )


def _state_quantile(target, scale, skip_nan, points):
    @TABLE.rrule(target, leading=1, points=points)
    def quantile_rrule(
        a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
    ):
        """Each quantile lies between two sorted values, which share its cotangent."""
        check_not_overwriting(target, overwrite_input)
        _check_weights(target, weights)
        _check_order(target, a, q, axis, skip_nan)
        y = target(a, q, axis, method=method, keepdims=keepdims)
        quantiles = Quantiles(a, np.asarray(q) / scale, axis, method, skip_nan)

        def quantile_pullback(y_bar):
            return NoTangent(), like_argument(a, quantiles.cotangent(y_bar))

        return y, quantile_pullback

    @TABLE.frule(target)
    def quantile_frule(
        tangents,
        a,
        q,
        axis=None,
        out=None,
        overwrite_input=False,
        method="linear",
        keepdims=False,
        *,
        weights=None,
    ):
        check_not_overwriting(target, overwrite_input)
        _check_weights(target, weights)
        _check_order(target, a, q, axis, skip_nan)
        y = target(a, q, axis, method=method, keepdims=keepdims)
        quantiles = quantiles_of(a, np.asarray(q) / scale, axis, method, skip_nan)
        return y, laid_out(y, quantiles.tangent(dense(a, tangents[1]), np.shape(y)))


def _quantile_points(of):
    return [
        (_V, of(0.3)),
        (_V, of(0.5)),
        (_M, of(0.7), 1),
        (_C, of(0.25), (0, 2)),
        (_M, [of(0.2), of(0.9)], 0),
        (_C, [[of(0.1)], [of(1.0)]], -1),
        ((_M, of(0.4)), {"keepdims": True}),
        (_V, of(0.0)),
        (_M32, of(0.3), 0),
        *[
            ((_V, of(0.37)), {"method": m})
            for m in ("lower", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "inverted_cdf")
        ],
        (_I, of(0.3)),
        ([1.5, 2.5, 0.5], of(0.3)),
    ]


_state_quantile(np.quantile, 1.0, False, _quantile_points(lambda q: q))
_state_quantile(np.percentile, 100.0, False, _quantile_points(lambda q: 100 * q))
_state_quantile(np.nanquantile, 1.0, True, _quantile_points(lambda q: q)[:9])
_state_quantile(np.nanpercentile, 100.0, True, _quantile_points(lambda q: 100 * q)[:9])


@TABLE.rrule(
    np.nanmedian, leading=1, points=[(_V,), (_M,), (_M, 0), (_C, (0, 2)), ((_M, 1), {"keepdims": True})]
)
def nanmedian_rrule(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    check_not_overwriting(np.nanmedian, overwrite_input)
    quantiles = Quantiles(a, 0.5, axis, "linear", True)

    def nanmedian_pullback(y_bar):
        return NoTangent(), like_argument(a, quantiles.cotangent(y_bar))

    return np.nanmedian(a, axis, keepdims=keepdims), nanmedian_pullback


@TABLE.frule(np.nanmedian)
def nanmedian_frule(tangents, a, axis=None, out=None, overwrite_input=False, keepdims=False):
    check_not_overwriting(np.nanmedian, overwrite_input)
    y = np.nanmedian(a, axis, keepdims=keepdims)
    quantiles = quantiles_of(a, 0.5, axis, "linear", True)
    return y, quantiles.tangent(dense(a, tangents[1]), np.shape(y))


# -- reductions that skip NaN --------------------------------------------------------------------------------


def _without_nan(a, fill):
    """`a` with `fill` for each NaN, and where the others are."""
    a = np.asarray(a)
    present = ~np.isnan(a)
    return np.where(present, a, np.asarray(fill, a.dtype)), present


def _masked(x_bar, present):
    x_bar = unthunk(x_bar)
    return x_bar if is_zero(x_bar) else np.where(present, x_bar, np.zeros((), np.asarray(x_bar).dtype))


def _state_nan_prod():
    rrule, frule = FUNCTION_RULES[np.prod]

    @TABLE.rrule(np.nanprod, leading=1, points=[(_V,), (_M,), (_M, 0), ((_C, (0, 2)), {"keepdims": True})])
    def nanprod_rrule(a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        clean, present = _without_nan(a, 1)
        y, pullback = rrule(clean, axis, dtype, keepdims=keepdims, initial=initial, where=where)

        def nanprod_pullback(y_bar):
            return NoTangent(), like_argument(a, _masked(pullback(y_bar)[1], present))

        return y, nanprod_pullback

    @TABLE.frule(np.nanprod)
    def nanprod_frule(
        tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT
    ):
        clean, present = _without_nan(a, 1)
        dots = (NoTangent(), _masked(dense(a, tangents[1]), present))
        return frule(dots, clean, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def _state_nan_moment(target, function):
    rrule, frule = FUNCTION_RULES[function]
    points = [(_V,), (_M,), (_M, 1), ((_C, (0, 2)), {"keepdims": True}), ((_M, 0), {"ddof": 1})]

    def where_present(a, where):
        present = ~np.isnan(a)
        return present if where is ABSENT else np.logical_and(present, where)

    @TABLE.rrule(target, leading=1, points=points)
    def nan_moment_rrule(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=ABSENT,
        mean=ABSENT,
        correction=ABSENT,
    ):
        options = given(("mean", "correction"), (mean, correction))
        _, pullback = rrule(
            a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where_present(a, where), **options
        )
        options = given(("where", "mean", "correction"), (where, mean, correction))
        return target(a, axis, dtype, ddof=ddof, keepdims=keepdims, **options), pullback

    @TABLE.frule(target)
    def nan_moment_frule(
        tangents,
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=ABSENT,
        mean=ABSENT,
        correction=ABSENT,
    ):
        options = given(("mean", "correction"), (mean, correction))
        dots = (NoTangent(), _masked(dense(a, tangents[1]), ~np.isnan(a)))
        _, y_dot = frule(
            dots, a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where_present(a, where), **options
        )
        options = given(("where", "mean", "correction"), (where, mean, correction))
        return target(a, axis, dtype, ddof=ddof, keepdims=keepdims, **options), y_dot


def _state_nan_running(target, function, fill):
    rrule, frule = FUNCTION_RULES[function]

    @TABLE.rrule(target, leading=1, points=[(_V,), (_M,), (_M, 1), (_C, -2)])
    def nan_running_rrule(a, axis=None, dtype=None, out=None):
        clean, present = _without_nan(a, fill)
        y, pullback = rrule(clean, axis, dtype)

        def nan_running_pullback(y_bar):
            return NoTangent(), like_argument(a, _masked(pullback(y_bar)[1], present))

        return y, nan_running_pullback

    @TABLE.frule(target)
    def nan_running_frule(tangents, a, axis=None, dtype=None, out=None):
        clean, present = _without_nan(a, fill)
        return frule((NoTangent(), _masked(dense(a, tangents[1]), present)), clean, axis, dtype)


_state_nan_prod()
_state_nan_moment(np.nanvar, np.var)
_state_nan_moment(np.nanstd, np.std)
_state_nan_running(np.nancumsum, np.cumsum, 0)
_state_nan_running(np.nancumprod, np.cumprod, 1)


def _state_cumulative(target, function):
    """`cumulative_sum` and `cumulative_prod`: the running function, with the empty one in front if asked."""
    rrule, frule = FUNCTION_RULES[function]
    points = [
        (_V,),
        ((_M,), {"axis": 1}),
        ((_C,), {"axis": -2, "include_initial": True}),
        ((_V,), {"include_initial": True}),
    ]

    @TABLE.rrule(target, leading=1, points=points)
    def cumulative_rrule(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        y = target(x, axis=axis, dtype=dtype, include_initial=include_initial)
        along = -1 if axis is None else axis
        _, pullback = rrule(x, along, dtype)

        def cumulative_pullback(y_bar):
            if include_initial:
                y_bar = np.take(y_bar, np.arange(1, np.shape(y)[along]), along)
            return NoTangent(), pullback(y_bar)[1]

        return y, cumulative_pullback

    @TABLE.frule(target)
    def cumulative_frule(tangents, x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        y = target(x, axis=axis, dtype=dtype, include_initial=include_initial)
        along = -1 if axis is None else axis
        _, y_dot = frule((NoTangent(), dense(x, tangents[1])), x, along, dtype)
        if include_initial:
            y_dot = np.concatenate([np.zeros_like(np.take(y, [0], along)), y_dot], along)
        return y, laid_out(y, y_dot)


if hasattr(np, "cumulative_sum"):
    _state_cumulative(np.cumulative_sum, np.cumsum)
    _state_cumulative(np.cumulative_prod, np.cumprod)


# -- covariances ---------------------------------------------------------------------------------------------


class Samples:
    """The variables of `np.cov(m, y)` as centred rows, and the number that their products are divided by."""

    def __init__(self, m, y, rowvar, ddof):
        self.m, self.y, self.rowvar = m, y, rowvar
        self.of_none = NoTangent() if y is None else ZeroTangent()
        self.rows = self.stack(np.asarray(m))
        if len(self.rows) == 0:
            self.y = None  # NumPy does not look at more variables if `m` has none
        elif y is not None:
            self.rows = self.stack(np.asarray(m), np.asarray(y))
        self.count = self.rows.shape[1] - ddof
        self.centred = self.without_mean(self.rows)

    def without_mean(self, rows):
        return rows - np.mean(rows, axis=1, keepdims=True) if len(rows) else rows

    def stack(self, *parts):
        parts = [np.atleast_2d(part) for part in parts if part is not None]
        flipped = [part.T if not self.rowvar and part.shape[0] != 1 else part for part in parts]
        return np.concatenate(flipped)

    def unstack(self, rows_bar):
        """The cotangents of `m` and `y` from that of the rows."""
        bars, start = [], 0
        for x in (self.m, self.y):
            if x is None:
                bars.append(self.of_none)
                continue
            flipped = not self.rowvar and np.atleast_2d(x).shape[0] != 1
            length = np.shape(x)[1] if flipped else np.atleast_2d(x).shape[0]
            part = rows_bar[start : start + length]
            start += length
            bars.append(like_argument(x, np.reshape(part.T if flipped else part, np.shape(x))))
        return bars

    def cotangent(self, c_bar):
        """From the cotangent of `rows rowsᴴ / count` to those of `m` and `y`."""
        rows_bar = (c_bar + np.conj(c_bar.T)) @ self.centred / self.count
        return self.unstack(self.without_mean(rows_bar))

    def tangent(self, m_dot, y_dot):
        dots = self.stack(dense(self.m, m_dot), None if self.y is None else dense(self.y, y_dot))
        dots = self.without_mean(dots)
        half = dots @ np.conj(self.centred.T) / self.count
        return half + np.conj(half.T)


def _check_cov(fweights, aweights, dtype):
    for name, value in (("fweights", fweights), ("aweights", aweights), ("dtype", dtype)):
        if value is not None:
            refuse(f"np.cov with {name}= is not differentiated", f"leave {name}= out")


def _square(c):
    return np.reshape(c, (int(np.sqrt(np.size(c))),) * 2)


_PAIRS = [
    (_M,),
    (_M, _M[::-1] ** 2),
    (_V, _V[::-1] + 0.5),
    (_V,),
    ((_M,), {"rowvar": False}),
    (_C[0],),
    ((_M.T, _M.T**2), {"rowvar": False}),
    (_M + 1j * _M[::-1] ** 2,),
    ([[1.0, 2.0, 4.0], [0.5, -1.0, 2.0]],),
]


@TABLE.rrule(np.cov, leading=2, points=[*_PAIRS, ((_M,), {"bias": True}), ((_M,), {"ddof": 0})])
@as_written
def cov_rrule(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """`c = x xᴴ / N` of centred rows: `x̄ = (c̄ + c̄ᴴ) x / N`, centred."""
    _check_cov(fweights, aweights, dtype)
    samples = Samples(m, y, rowvar, (0 if bias else 1) if ddof is None else ddof)

    def cov_pullback(c_bar):
        return NoTangent(), *samples.cotangent(_square(c_bar))

    return np.cov(m, y, rowvar, bias, ddof), cov_pullback


@TABLE.frule(np.cov)
def cov_frule(
    tangents, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
):
    _check_cov(fweights, aweights, dtype)
    samples = Samples(m, y, rowvar, (0 if bias else 1) if ddof is None else ddof)
    c = np.cov(m, y, rowvar, bias, ddof)
    return c, np.reshape(samples.tangent(*_two(tangents)), np.shape(c))


def _two(tangents):
    return tangents[1], tangents[2] if len(tangents) > 2 else NoTangent()


def _correlation(samples):
    """The covariances and the standard deviations of the samples."""
    c = samples.centred @ np.conj(samples.centred.T) / samples.count
    return c, np.sqrt(np.real(np.diagonal(c)))


@TABLE.rrule(np.corrcoef, leading=2, points=_PAIRS)
@as_written
def corrcoef_rrule(x, y=None, rowvar=True, *, dtype=None):
    """`r_ij = c_ij / (s_i s_j)`, `s` the standard deviations; the diagonal is constant."""
    _check_cov(None, None, dtype)
    samples = Samples(x, y, rowvar, 1)

    def corrcoef_pullback(r_bar):
        c, s = _correlation(samples)
        r_bar = _square(r_bar)
        c_bar = r_bar / np.outer(s, s)
        moved = np.real(np.conj(c_bar) * c)
        variances_bar = -0.5 * (np.sum(moved, 1) + np.sum(moved, 0)) / s**2
        return NoTangent(), *samples.cotangent(c_bar + np.diag(variances_bar))

    return np.corrcoef(x, y, rowvar), corrcoef_pullback


@TABLE.frule(np.corrcoef)
def corrcoef_frule(tangents, x, y=None, rowvar=True, *, dtype=None):
    _check_cov(None, None, dtype)
    samples = Samples(x, y, rowvar, 1)
    r, (c, s) = np.corrcoef(x, y, rowvar), _correlation(samples)
    c_dot = samples.tangent(*_two(tangents))
    relative = 0.5 * np.real(np.diagonal(c_dot)) / s**2
    r_dot = (c_dot - c * (relative[:, None] + relative)) / np.outer(s, s)
    return r, np.reshape(r_dot, np.shape(r))


# -- what sorting leaves -------------------------------------------------------------------------------------


def _partition_index(a, kth, axis, kind, order):
    if order is not None:
        refuse(f"partitioning is not differentiated with order={order!r}, the fields of a structured array")
    flat, axis = (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)
    y, read = np.partition(flat, kth, axis, kind), np.argpartition(flat, kth, axis, kind)
    if not np.array_equal(np.take_along_axis(flat, read, axis), y, equal_nan=flat.dtype.kind in "fc"):
        # Of float16 NumPy has two algorithms, which order the parts differently: as `partition` does.
        np.put_along_axis(read, np.argsort(y, axis), np.argsort(flat, axis), axis)
    return flat, axis, read


@TABLE.rrule(np.partition, leading=1, points=[(_V, 2), (_M, 1), (_M, 1, 0), (_M, [0, 2], None), (_C, 1, 1)])
def partition_rrule(a, kth, axis=-1, kind="introselect", order=None):
    """Each value sends its cotangent to where it came from."""
    flat, axis, read = _partition_index(a, kth, axis, kind, order)

    def partition_pullback(y_bar):
        x_bar = np.take_along_axis(np.reshape(y_bar, flat.shape), np.argsort(read, axis), axis)
        return NoTangent(), like_argument(a, np.reshape(x_bar, np.shape(a)))

    return np.take_along_axis(flat, read, axis), partition_pullback


@TABLE.frule(np.partition)
def partition_frule(tangents, a, kth, axis=-1, kind="introselect", order=None):
    flat, axis, read = _partition_index(a, kth, axis, kind, order)
    a_dot = np.reshape(dense(a, tangents[1]), flat.shape)
    return np.take_along_axis(flat, read, axis), np.take_along_axis(a_dot, read, axis)


@TABLE.rrule(np.sort_complex, leading=1, points=[(_V,), (_M + 1j * _M[::-1],)])
def sort_complex_rrule(a):
    read = np.argsort(a, kind="stable")

    def sort_complex_pullback(y_bar):
        return NoTangent(), like_argument(a, np.take_along_axis(y_bar, np.argsort(read), -1))

    return np.sort_complex(a), sort_complex_pullback


@TABLE.frule(np.sort_complex)
def sort_complex_frule(tangents, a):
    y, dots = np.sort_complex(a), np.take_along_axis(dense(a, tangents[1]), np.argsort(a, kind="stable"), -1)
    return y, laid_out(y, dots + 0j)


_REPEATED = np.array([[2.0, 0.5, 3.0], [-1.0, 1.5, 0.0]])


def _first_of_each(ar, axis, equal_nan, sorted):
    if axis is not None:
        refuse("np.unique along an axis is not differentiated", "use np.unique of the flattened array")
    if not sorted:
        refuse("np.unique with sorted=False is not differentiated: its order is arbitrary",
               "leave sorted=False out")
    _, first = np.unique(ar, return_index=True, equal_nan=equal_nan)
    return (np.size(ar),), first


@TABLE.rrule(
    np.unique,
    leading=1,
    points=[(_REPEATED,), (_V,), ((_REPEATED,), {"return_index": True}), ((_V,), {"return_counts": True})],
)
def unique_rrule(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """Each value is that of its first occurrence, which gets its cotangent."""
    shape, first = _first_of_each(ar, axis, equal_nan, sorted)
    y = np.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    _, pullback = selected(np.ravel(ar)[first], ar, shape, first)

    def unique_pullback(y_bar):
        values_bar = unthunk(y_bar[0]) if isinstance(y, tuple) else y_bar
        return (NoTangent(), ZeroTangent()) if is_zero(values_bar) else pullback(values_bar)

    return y, unique_pullback


@TABLE.frule(np.unique)
def unique_frule(
    tangents,
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    y = np.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    values, found = y[0] if isinstance(y, tuple) else y, _first_of_each(ar, axis, equal_nan, sorted)
    values_dot = selected_tangent(values, ar, tangents[1], *found)
    if not isinstance(y, tuple):
        return y, values_dot
    return y, (values_dot, *[NoTangent()] * (len(y) - 1))


def _state_unique(target):
    """The rules of a function that calls np.unique and names its results. Only the values move."""

    @TABLE.rrule(
        target,
        leading=1,
        points=[
            (_REPEATED,),
            (_V.astype(np.float32),),
            ([0.5, 2.0, -0.5],),
            (np.array([1.0 + 2j, 0.5, -0.75 + 3j]),),
            (np.array([4, 2, 7]),),
        ],
    )
    def named_rrule(x, /):
        y = target(x)
        _, pullback = selected(y.values, x, *_first_of_each(x, None, False, True))

        def named_pullback(y_bar):
            values_bar = unthunk(y_bar[0])
            return (NoTangent(), ZeroTangent()) if is_zero(values_bar) else pullback(values_bar)

        return y, named_pullback

    @TABLE.frule(target)
    def named_frule(tangents, x, /):
        y = target(x)
        values_dot = selected_tangent(y.values, x, tangents[1], *_first_of_each(x, None, False, True))
        return y, type(y)(values_dot, *[NoTangent()] * (len(y) - 1))


for _function in (np.unique_all, np.unique_counts, np.unique_inverse):
    _state_unique(_function)


def _those_not_in(ar1, ar2, assume_unique):
    """Where they stand in `ar1`, asked as NumPy asks: of values wrongly said to be unique it drops some."""
    values, others = np.ravel(ar1), np.ravel(ar2) if assume_unique else np.unique(ar2)
    taken = np.arange(values.size) if assume_unique else np.unique(values, return_index=True)[1]
    return (values.size,), taken[np.isin(values[taken], others, assume_unique=True, invert=True)]


@TABLE.rrule(
    np.setdiff1d,
    leading=2,
    points=[
        (_V, _REPEATED + 0.125),
        (_M, _REPEATED[0] + 5.0),
        (_V, _M + 0.125, True),
        ([0.5, 2.0, -0.5], [2.5]),
        (np.array([1.0 + 2j, 0.5, 3j]), np.array([2j])),
        (_V.astype(np.float32), _V[:1].astype(np.float32) + 1),
        (np.array([4, 2, 7]), np.array([3])),
    ],
)
def setdiff1d_rrule(ar1, ar2, assume_unique=False):
    """Each value is that of its first occurrence in `ar1`; what is left out does not move with `ar2`."""
    y = np.setdiff1d(ar1, ar2, assume_unique)
    _, pullback = selected(y, ar1, *_those_not_in(ar1, ar2, assume_unique))

    def setdiff1d_pullback(y_bar):
        return *pullback(y_bar), ZeroTangent()

    return y, setdiff1d_pullback


@TABLE.frule(np.setdiff1d)
def setdiff1d_frule(tangents, ar1, ar2, assume_unique=False):
    y = np.setdiff1d(ar1, ar2, assume_unique)
    return y, selected_tangent(y, ar1, tangents[1], *_those_not_in(ar1, ar2, assume_unique))


# -- counts --------------------------------------------------------------------------------------------------


@TABLE.rrule(np.bincount, leading=2, points=[(np.array([0, 2, 2, 1]), _V[:4]), (np.array([1, 1]), _V[:2], 4)])
@as_written
def bincount_rrule(x, /, weights=None, minlength=0):
    """Counts have no derivative; sums of weights give each weight that of its bin."""

    def bincount_pullback(y_bar):
        if weights is None:
            return NoTangent(), NoTangent(), NoTangent()
        return NoTangent(), NoTangent(), like_argument(weights, np.asarray(y_bar)[np.asarray(x)])

    return np.bincount(x, weights, minlength), bincount_pullback


@TABLE.frule(np.bincount)
def bincount_frule(tangents, x, /, weights=None, minlength=0):
    y = np.bincount(x, weights, minlength)
    if weights is None:
        return y, no_change(y)
    return y, scatter(dense(weights, tangents[2]), (np.asarray(x),), y.shape)


def _check_histogram(bins, span, density, weights):
    if density or weights is not None:
        refuse("np.histogram with density or weights is not differentiated",
               "divide the counts, or use np.bincount with weights")
    if np.ndim(bins) == 0 and span is None:
        refuse("np.histogram with edges that it makes from the data is not differentiated",
               "give range=, or the edges as bins")


def _state_histogram(target):
    @TABLE.rrule(target, leading=1)
    def histogram_rrule(a, bins=10, range=None, density=None, weights=None):
        """Counts have no derivative; the edges must not depend on the data."""
        _check_histogram(bins, range, density, weights)

        def histogram_pullback(y_bar):
            return NoTangent(), ZeroTangent()

        return target(a, bins, range), histogram_pullback

    @TABLE.frule(target)
    def histogram_frule(tangents, a, bins=10, range=None, density=None, weights=None):
        _check_histogram(bins, range, density, weights)
        counts, edges = target(a, bins, range)
        return (counts, edges), (no_change(counts), no_change(edges))


_state_histogram(np.histogram)
