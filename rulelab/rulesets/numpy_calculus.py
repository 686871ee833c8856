"""Rules for interpolation, finite differences, convolution, polynomials and spaced samples."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..rules.formulas import of_numbers, of_tuples, strong_zero
from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of, laid_out
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import as_written, dense, gradient_dtype, is_zero, like_argument, refuse
from .given_values import for_lapack
from .linalg_factorisations import LeastSquares
from .numpy_elementwise import Number, floating
from .numpy_nondiff import can_carry, sample_weights

TABLE = RuleTable("numpy_calculus")

_V = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
_W = np.array([1.0, 3.0, -0.5])
_X = np.array([0.0, 1.0, 2.5, 3.0, 5.0])
_M = np.cos(np.arange(12.0)).reshape(3, 4)
_C = np.sin(np.arange(24.0)).reshape(2, 3, 4)


# -- interp --------------------------------------------------------------------------------------------------


class Interpolation:
    """Between which two knots each `x` of `np.interp(x, xp, fp)` lies, how far, and how steep it is there.

    A knot belongs to the piece on its right, the last one to that on its left; outside the slope is 0.
    """

    def __init__(self, x, xp, fp, period):
        if period is not None:
            refuse("np.interp with period= is not differentiated",
                   "bring x and the knots into one period first")
        self.x, self.xp, self.fp = np.asarray(x, float), np.asarray(xp, float), real_or_complex(fp)
        x, xp, last = self.x, self.xp, len(xp) - 1
        if (xp[1:] <= xp[:-1]).any():
            refuse("np.interp between knots xp that do not increase is not differentiated", "sort them")
        after = xp.searchsorted(x, side="right")
        if x.ndim == 0:
            self.left = min(max(int(after) - 1, 0), max(last - 1, 0))
            self.right = min(self.left + 1, last)
        else:
            after -= 1
            self.left = np.minimum(np.maximum(after, 0, out=after), max(last - 1, 0), out=after)
            self.right = np.minimum(self.left + 1, last)

        self.below, self.above = x < xp[0], x > xp[-1]
        self.inside = ~(self.below | self.above)
        self.width = xp[self.right] - xp[self.left] if last else 1.0

    def share(self):
        return np.where(self.inside, (self.x - self.xp[self.left]) / self.width, 0.0)

    def slope(self):
        return np.where(self.inside, (self.fp[self.right] - self.fp[self.left]) / self.width, 0.0)

    def to_knots(self, of_left, of_right, dtype):
        """What flows to the knots on the left and on the right of each `x`, added up knot by knot."""
        knots_bar = np.zeros(self.fp.shape, dtype)
        if self.x.ndim == 0:
            knots_bar[self.left] += of_left
            knots_bar[self.right] += of_right
            return knots_bar
        np.add.at(knots_bar, self.left, of_left)
        np.add.at(knots_bar, self.right, of_right)
        return knots_bar

    def to_values(self, y_bar, left, right):
        """What flows to the values at the knots: the first and the last one stand for what is outside."""
        share = self.share()
        fp_bar = self.to_knots((self.inside - share) * y_bar, share * y_bar, np.result_type(y_bar, float))
        if left is None and self.below.any():
            fp_bar[0] += np.sum(y_bar[self.below])
        if right is None and self.above.any():
            fp_bar[-1] += np.sum(y_bar[self.above])
        return fp_bar


@of_tuples
@of_numbers
@strong_zero
def interp_x_bar(y_bar, x, xp, fp, left=None, right=None, period=None):
    """The cotangent of `x` for that of `np.interp(x, xp, fp)`, of real numbers."""
    at = Interpolation(x, xp, fp, period)
    if at.x.ndim:
        return at.slope() * y_bar
    if at.below or at.above:
        slope = np.float64(0.0)
    else:
        slope = (at.fp[at.right] - at.fp[at.left]) / at.width
    return unbroadcast(slope * y_bar, x)


@of_tuples
@of_numbers
@strong_zero
def interp_xp_bar(y_bar, x, xp, fp, left=None, right=None, period=None):
    """The same of the knots."""
    at = Interpolation(x, xp, fp, period)
    share, steep = at.share(), at.slope() * y_bar
    return at.to_knots((share - 1) * steep, -share * steep, float)


@of_tuples
@of_numbers
@strong_zero
def interp_fp_bar(y_bar, x, xp, fp, left=None, right=None, period=None):
    """The same of the values at the knots."""
    return Interpolation(x, xp, fp, period).to_values(np.asarray(y_bar), left, right)


@TABLE.rrule(
    np.interp,
    leading=5,
    cotangents=(interp_x_bar, interp_xp_bar, interp_fp_bar),
    points=[
        (np.array([0.3, 2.75, -1.0, 4.0, 6.0]), _X, _V),
        (0.3, _X, _V),
        (_M * 2 + 2.2, _X, _V),
        (2.2, [0.0, 1.5, 4.0], [1.0, 2, 3]),
        (np.array([-1.0, 0.5, 9.0]), _X, _V, 2.5, -1.5),
        (np.array([-1.0, 0.5]), _X, _V, None, 2.0),
        (np.array([0.3, 7.0]), _X, _V + 1j * _V[::-1]),
        (np.array([-1.0, 2.0]), np.array([0.5]), np.array([3.0])),
        (np.zeros(0), _X, _V),
        (np.array([0, 2]) + 0.25, np.arange(4), np.array([1, 5, 2, 4])),
    ],
)
@as_written
def interp_rrule(x, xp, fp, left=None, right=None, period=None):
    """`y = (1 - t) fp[i] + t fp[i + 1]`: the slope of the piece goes to `x`, the opposite to its knots."""
    at = Interpolation(x, xp, fp, period)

    def interp_pullback(y_bar):
        y_bar = np.asarray(y_bar)
        steep = np.real(np.conj(at.slope()) * y_bar)

        def xp_bar():
            share = at.share()
            return like_argument(xp, at.to_knots((share - 1) * steep, -share * steep, float))

        def fp_bar():
            return like_argument(fp, at.to_values(y_bar, left, right))

        ends_bar = [
            NoTangent() if end is None else unbroadcast(np.sum(np.where(out, y_bar, 0.0)), end)
            for end, out in ((left, at.below), (right, at.above))
        ]
        x_bar = like_argument(x, unbroadcast(steep, x) if np.ndim(x) == 0 else steep)
        return NoTangent(), x_bar, Thunk(xp_bar), Thunk(fp_bar), *ends_bar

    return np.interp(x, xp, fp, left, right), interp_pullback


@TABLE.frule(np.interp)
def interp_frule(tangents, x, xp, fp, left=None, right=None, period=None):
    y, at = np.interp(x, xp, fp, left, right), interpolation_of(x, xp, fp, period)
    x_dot, xp_dot, fp_dot = dense(x, tangents[1]), dense(xp, tangents[2]), dense(fp, tangents[3])
    xs, knots, values = np.asarray(x, float), np.asarray(xp, float), real_or_complex(fp)
    width = np.where(at.right > at.left, knots[at.right] - knots[at.left], 1.0)
    share = np.where(at.inside, (xs - knots[at.left]) / width, 0.0)
    slope = np.where(at.inside, (values[at.right] - values[at.left]) / width, 0.0)
    y_dot = slope * (x_dot - (1 - share) * xp_dot[at.left] - share * xp_dot[at.right])
    y_dot = y_dot + np.where(at.inside, (1 - share) * fp_dot[at.left] + share * fp_dot[at.right], 0.0)
    left_dot = fp_dot[0] if left is None else tangents[4] if len(tangents) > 4 else NoTangent()
    right_dot = fp_dot[-1] if right is None else tangents[5] if len(tangents) > 5 else NoTangent()
    if not is_zero(left_dot):
        y_dot = y_dot + np.where(at.below, left_dot, 0.0)
    if not is_zero(right_dot):
        y_dot = y_dot + np.where(at.above, right_dot, 0.0)
    return y, form_of(y, y_dot)


def real_or_complex(fp):
    """The values at the knots as np.interp reads them: differences of unsigned integers would wrap around."""
    return np.asarray(fp, complex if np.iscomplexobj(fp) else float)


def interpolation_of(x, xp, fp, period):
    """Between which knots each `x` lies: constant where the interpolation has a derivative."""
    return Interpolation(x, xp, fp, period)


# -- gradient ------------------------------------------------------------------------------------------------


def stencil(n, spacing, edge_order, kind=float):
    """The coefficients of `np.gradient` of `n` samples: `(n, 5)`, those of the neighbours two before to two
    after.

    NumPy is asked: the gradient of samples that are 1 at every fifth place shows the coefficients of these.
    Of real samples it gives the real part, of complex ones all that complex spacings make of them.
    """
    places = np.arange(n)
    combs = [np.gradient((places % 5 == k).astype(kind), *spacing, edge_order=edge_order) for k in range(5)]
    combs = np.stack(combs, -1)
    reached = (places[:, None] + np.arange(-2, 3)) % 5
    return np.take_along_axis(combs, reached, -1)


def apply_transposed(coefficients, y_bar, axis):
    """The transpose of that stencil along `axis`."""
    y_bar = np.moveaxis(y_bar, axis, 0)
    weights = np.conj(np.reshape(coefficients, coefficients.shape + (1,) * (y_bar.ndim - 1)))
    kind = np.result_type(y_bar, weights) if np.iscomplexobj(weights) else y_bar.dtype
    n, x_bar = len(y_bar), np.zeros(y_bar.shape, kind)
    for k, offset in enumerate(range(-2, 3)):
        to, of = slice(max(offset, 0), n + min(offset, 0)), slice(max(-offset, 0), n + min(-offset, 0))
        x_bar[to] += weights[of, k] * y_bar[of]
    return np.moveaxis(x_bar, 0, axis)


def _spacings(f, varargs, axis):
    """The axes, and the spacing argument of each."""
    axes = tuple(range(np.ndim(f))) if axis is None else normalize_axis_tuple(axis, np.ndim(f))
    if len(varargs) <= 1:
        return axes, [varargs] * len(axes)
    return axes, [(spacing,) for spacing in varargs]


@TABLE.rrule(
    np.gradient,
    leading=1,
    points=[
        (_V,),
        (_V, 2.0),
        (_V, _X),
        (_M,),
        ((_C,), {"axis": 1}),
        ((_M, 0.5, np.array([0.0, 1.0, 3.0, 4.0])), {}),
        ((_V,), {"edge_order": 2}),
        ((_M,), {"axis": (1, 0), "edge_order": 2}),
        ((_V, _X), {"edge_order": 2}),
        (np.array([1, 4, 9]),),
        (_V[:2],),
        ([1.0, 3.0, 2.0],),
        (_V.astype(np.float32),),
        (_V + 0.4j * _X, _X + 0.3j * _X**2),
        (_C[0] - 1j * _C[1], 2.0 - 0.5j),
    ],
)
def gradient_rrule(f, *varargs, axis=None, edge_order=1):
    """A linear stencil along each axis; its spacings are constants here."""
    y = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)

    def gradient_pullback(y_bar):
        axes, spacings = _spacings(f, varargs, axis)
        bars = [y_bar] if len(axes) == 1 else list(y_bar)
        f_bar = np.zeros(np.shape(f), gradient_dtype(f))
        for k, spacing, bar in zip(axes, spacings, bars):
            if not is_zero(bar):
                kind = complex if np.iscomplexobj(f) and any(map(np.iscomplexobj, spacing)) else float
                coefficients = stencil(np.shape(f)[k], spacing, edge_order, kind)
                f_bar = f_bar + apply_transposed(coefficients, np.asarray(bar), k)
        return NoTangent(), like_argument(f, f_bar.astype(gradient_dtype(f)))

    return y, gradient_pullback


@TABLE.frule(np.gradient)
def gradient_frule(tangents, f, *varargs, axis=None, edge_order=1):
    y = sampled_gradient(f, varargs, axis, edge_order)
    return y, sampled_gradient(dense(f, tangents[1]), varargs, axis, edge_order)


def sampled_gradient(f, spacings, axis, edge_order):
    """`np.gradient` with the spacings in a tuple, which are constants."""
    return np.gradient(f, *spacings, axis=axis, edge_order=edge_order)


@TABLE.rrule(sampled_gradient, leading=1)
def sampled_gradient_rrule(f, spacings, axis, edge_order):
    return gradient_rrule(f, *spacings, axis=axis, edge_order=edge_order)


@TABLE.frule(sampled_gradient)
def sampled_gradient_frule(tangents, f, spacings, axis, edge_order):
    y = sampled_gradient(f, spacings, axis, edge_order)
    return y, sampled_gradient(dense(f, tangents[1]), spacings, axis, edge_order)


# -- convolution ---------------------------------------------------------------------------------------------


def full_start(n, m, mode, reverses):
    """Where the result of a mode starts in the full convolution of lengths `n` and `m`.

    `correlate` of a short with a long array is the reverse of that of the long with the short.

    >>> full_start(5, 3, "full", False), full_start(5, 3, "same", False), full_start(5, 3, "valid", False)
    (0, 1, 2)
    """
    short = min(n, m)
    if mode == "full":
        return 0
    if mode == "valid":
        return short - 1
    return short - 1 - (short - 1) // 2 if reverses and m > n else (short - 1) // 2


def convolution_cotangents(y_bar, a, v, start):
    """ā and v̄ of a convolution whose result starts at `start` of the full one."""
    full = np.zeros(len(a) + len(v) - 1, np.asarray(y_bar).dtype)
    full[start : start + len(y_bar)] = y_bar
    return np.correlate(full, v, "valid"), np.correlate(full, a, "valid")


_SIGNALS = [
    (_V, _W),
    (_W, _V),
    (_V, _V[::-1]),
    (_V, _W[:2]),
    (_W[:2], _V),
    (_V + 0.5j, _W),
    (_V, _W - 1j),
    (_V.astype(np.float32), _W.astype(np.float32)),
    ([1.0, 2.0], _W),
    (2.0, _W),
    (np.array([1, 2, 3]), _W),
]
_MODES = [(*signals, mode) for mode in ("full", "same", "valid") for signals in _SIGNALS]


@TABLE.rrule(np.convolve, leading=2, points=_MODES)
def convolve_rrule(a, v, mode="full"):
    """`ā` is the correlation of ȳ with v, `v̄` that with a."""
    y = np.convolve(a, v, mode)

    def convolve_pullback(y_bar):
        left, right = np.atleast_1d(a), np.atleast_1d(v)
        start = full_start(len(left), len(right), mode, False)
        a_bar, v_bar = convolution_cotangents(y_bar, left, right, start)
        return (
            NoTangent(),
            like_argument(a, np.reshape(a_bar, np.shape(a))[()]),
            like_argument(v, np.reshape(v_bar, np.shape(v))[()]),
        )

    return y, convolve_pullback


@TABLE.frule(np.convolve)
def convolve_frule(tangents, a, v, mode="full"):
    a_dot, v_dot = dense(a, tangents[1]), dense(v, tangents[2])
    return np.convolve(a, v, mode), np.convolve(a_dot, v, mode) + np.convolve(a, v_dot, mode)


@TABLE.rrule(np.correlate, leading=2, points=[*[p for p in _MODES if np.ndim(p[0])], (_V, _W)])
def correlate_rrule(a, v, mode="valid"):
    """The convolution of `a` with the reversed conjugate of `v`."""
    y = np.correlate(a, v, mode)

    def correlate_pullback(y_bar):
        left, right = np.asarray(a), np.conj(v)[::-1]
        start = full_start(len(left), len(right), mode, True)
        a_bar, r_bar = convolution_cotangents(y_bar, left, right, start)
        return NoTangent(), like_argument(a, a_bar), like_argument(v, np.conj(r_bar[::-1]))

    return y, correlate_pullback


@TABLE.frule(np.correlate)
def correlate_frule(tangents, a, v, mode="valid"):
    a_dot, v_dot = dense(a, tangents[1]), dense(v, tangents[2])
    return np.correlate(a, v, mode), np.correlate(a_dot, v, mode) + np.correlate(a, v_dot, mode)


# -- polynomials ---------------------------------------------------------------------------------------------


def _coefficients(p, what):
    """A plain array of coefficients, highest power first."""
    if isinstance(p, np.poly1d):
        refuse(f"{what} of a np.poly1d is not differentiated", "give its coefficients, p.coeffs")
    return np.atleast_1d(p)


def _of_one_polynomial(p, what):
    """The coefficients of one polynomial: NumPy takes rows of them as well, in Horner's scheme."""
    c = _coefficients(p, what)
    if c.ndim > 1:
        refuse(f"{what} of coefficients with {c.ndim} axes is not differentiated",
               "call it for each polynomial")
    return c


def _refuse_poly1d(x):
    if isinstance(x, np.poly1d):
        refuse("np.polyval at a np.poly1d is not differentiated: it composes polynomials",
               "use np.convolve of the coefficients")


def _polynomial_slope(c, x):
    """The derivative polynomial at `x`, no wider than the coefficients."""
    c = floating(c)
    return np.polyval(np.polyder(c).astype(c.dtype), x) if len(c) > 1 else np.zeros(np.shape(x))


@TABLE.rrule(
    np.polyval,
    leading=2,
    points=[
        (_W, _M),
        (_W, 0.3),
        (_V, _V),
        ([1.0, 2.0, 3.0], 0.5),
        (_W + 1j, _V),
        (_W, _V + 0.5j),
        (_W[:1], _V),
        (np.array([1, 2]), np.array([0.5, 1.5])),
        (_W.astype(np.float32), _V.astype(np.float32)),
    ],
)
def polyval_rrule(p, x):
    """`Σ p_k x^(n-1-k)`: the powers go to the coefficients, the derivative polynomial to `x`."""
    _refuse_poly1d(x)
    c, at = _of_one_polynomial(p, "np.polyval"), np.asarray(x)

    def polyval_pullback(y_bar):
        slope = _polynomial_slope(c, at)
        x_bar = unbroadcast(np.conj(slope) * y_bar, x)
        p_bar = np.array([np.sum(np.conj(at**k) * y_bar) for k in range(len(c) - 1, -1, -1)])
        return NoTangent(), like_argument(p, p_bar.astype(np.result_type(p_bar, gradient_dtype(p)))), x_bar

    return np.polyval(p, x), polyval_pullback


@TABLE.frule(np.polyval)
def polyval_frule(tangents, p, x):
    _refuse_poly1d(x)
    c = _of_one_polynomial(p, "np.polyval")
    y_dot = np.polyval(dense(p, tangents[1]), x)
    slope = _polynomial_slope(c, x)
    return np.polyval(p, x), y_dot if is_zero(tangents[2]) else y_dot + slope * dense(x, tangents[2])


@TABLE.rrule(np.polyder, leading=1, points=[(_V,), (_V, 2), (_W, 5), (_V, 0), ([1.0, 2.0, 3.0],)])
def polyder_rrule(p, m=1):
    """Each coefficient times the falling product of its power."""
    c = _coefficients(p, "np.polyder")
    y = np.polyder(p, m)

    def polyder_pullback(y_bar):
        factors = np.polyder(np.ones(len(c)), m)
        p_bar = np.zeros(len(c), np.asarray(y_bar).dtype)
        p_bar[: len(factors)] = factors * y_bar if len(c) > m else 0.0
        return NoTangent(), like_argument(p, p_bar)

    return y, polyder_pullback


@TABLE.frule(np.polyder)
def polyder_frule(tangents, p, m=1):
    _coefficients(p, "np.polyder")
    return np.polyder(p, m), np.polyder(dense(p, tangents[1]), m)


@TABLE.rrule(np.polyint, leading=1, points=[(_V,), (_V, 2), (_W, 1, 3.0)])
def polyint_rrule(p, m=1, k=None):
    """Each coefficient over the rising product of its power; the constants `k` are constants here."""
    c = _coefficients(p, "np.polyint")

    def polyint_pullback(y_bar):
        return NoTangent(), like_argument(p, np.polyint(np.ones(len(c)), m)[: len(c)] * y_bar[: len(c)])

    return np.polyint(p, m, k), polyint_pullback


@TABLE.frule(np.polyint)
def polyint_frule(tangents, p, m=1, k=None):
    _coefficients(p, "np.polyint")
    return np.polyint(p, m, k), np.polyint(dense(p, tangents[1]), m)


def _state_sum_of_polynomials(target, sign):
    def _summands(a1, a2):
        """Their coefficients; NumPy would repeat one polynomial for the rows of another."""
        name = f"np.{target.__name__}"
        first, second = _coefficients(a1, name), _coefficients(a2, name)
        if first.ndim != second.ndim:
            refuse(
                f"{name} of coefficients with {first.ndim} and {second.ndim} axes is not differentiated",
                "call it for each polynomial",
            )
        return first, second

    @TABLE.rrule(target, leading=2, points=[(_V, _W), (_W, _V), (_W, 2 * _W), ([1.0, 2.0], _W)])
    def polyadd_rrule(a1, a2):
        first, second = _summands(a1, a2)

        def polyadd_pullback(y_bar):
            return (
                NoTangent(),
                like_argument(a1, y_bar[len(y_bar) - len(first) :].copy()),
                like_argument(a2, sign * y_bar[len(y_bar) - len(second) :]),
            )

        return target(a1, a2), polyadd_pullback

    @TABLE.frule(target)
    def polyadd_frule(tangents, a1, a2):
        _summands(a1, a2)
        return target(a1, a2), target(dense(a1, tangents[1]), dense(a2, tangents[2]))


_state_sum_of_polynomials(np.polyadd, 1.0)
_state_sum_of_polynomials(np.polysub, -1.0)


def _factors(a1, a2):
    factors = [_coefficients(a, "np.polymul") for a in (a1, a2)]
    if not all(map(len, factors)):
        refuse("np.polymul of no coefficients is not differentiated")
    if any(c[0] == 0 for c in factors):
        refuse("np.polymul of coefficients that start with 0 is not differentiated: NumPy drops the zeros",
               "use np.convolve(a1, a2)")
    return factors


@TABLE.rrule(np.polymul, leading=2, points=[(_V, _W), (_W, _V), ([1.0, 2.0], _W)])
def polymul_rrule(a1, a2):
    """The convolution of the coefficients."""
    first, second = _factors(a1, a2)

    def polymul_pullback(y_bar):
        bars = convolution_cotangents(y_bar, first, second, 0)
        return NoTangent(), like_argument(a1, bars[0]), like_argument(a2, bars[1])

    return np.polymul(a1, a2), polymul_pullback


@TABLE.frule(np.polymul)
def polymul_frule(tangents, a1, a2):
    first, second = _factors(a1, a2)
    y_dot = np.convolve(dense(a1, tangents[1]), second) + np.convolve(first, dense(a2, tangents[2]))
    return np.polymul(a1, a2), y_dot


def _solved(a, b):
    """`np.linalg.solve` in the precision of `b`, also where LAPACK has none such."""
    return np.linalg.solve(for_lapack(a), for_lapack(b)).astype(b.dtype, copy=False)


def _divided(u, v):
    """`np.polydiv`, and the matrix of `v` whose product with the quotient is taken off `u`."""
    dividend, divisor = _of_one_polynomial(u, "np.polydiv"), _of_one_polynomial(v, "np.polydiv")
    if len(divisor) and not divisor[0]:
        refuse("np.polydiv by coefficients that start with 0 is not differentiated", "leave the zeros out")
    q, r = np.polydiv(u, v)
    count = max(len(dividend) - len(divisor) + 1, 0)
    if len(r) < max(len(dividend) - count, 1):
        refuse(
            "np.polydiv is not differentiated where it leaves leading zeros in the remainder, which NumPy "
            "drops",
            "use np.linalg.solve with the coefficients of the divisor as a matrix",
        )
    taken = sum(v_i * np.eye(len(dividend), count, -i, q.dtype) for i, v_i in enumerate(divisor))
    return q, r, taken


@TABLE.rrule(
    np.polydiv,
    leading=2,
    points=[
        (_V, _W),
        (_V, _V[:2]),
        (_W, 2 * _W - 1),
        (_V, _W[:1]),
        (_W, _V),
        ([1.0, 2.0, 4.0], [2.0, 3.0]),
        (np.array([1, 2, 4]), np.array([2, 3])),
        (_V, 0.5),
        (_V + 1j * _V**2, _W),
        (_V, _W + 0.5j),
        (_V.astype(np.float32), _W.astype(np.float32)),
    ],
)
def polydiv_rrule(u, v):
    """`u = q * v + r`: what is left of `ū` when the remainder has had its part is solved for the quotient."""
    q, r, taken = _divided(u, v)
    count = taken.shape[1]

    def polydiv_pullback(y_bar):
        q_bar, r_bar = (dense(part, bar) for part, bar in zip((q, r), y_bar, strict=True))
        r_bar = r_bar[len(r) - (len(taken) - count) :]
        adjoint = np.conj(taken.T)
        solved = _solved(adjoint[:, :count], q_bar[:count] - adjoint[:, count:] @ r_bar)
        u_bar = np.concatenate([solved, r_bar])
        steps = range(np.size(v) if count else 0)
        v_bar = -np.array([np.sum(np.conj(q) * u_bar[i : i + count]) for i in steps] or np.zeros(np.size(v)))
        return (
            NoTangent(),
            like_argument(u, np.reshape(u_bar, np.shape(u))[()]),
            like_argument(v, np.reshape(v_bar, np.shape(v))[()]),
        )

    return (q, r), polydiv_pullback


@TABLE.frule(np.polydiv)
def polydiv_frule(tangents, u, v):
    q, r, taken = _divided(u, v)
    count = taken.shape[1]
    u_dot, v_dot = np.atleast_1d(dense(u, tangents[1])), np.atleast_1d(dense(v, tangents[2]))
    if not count:
        return (q, r), (0 * q, u_dot.copy())
    left = u_dot - np.convolve(q, v_dot)
    q_dot = _solved(taken[:count], left[:count])
    if len(taken) == count:
        return (q, r), (q_dot, 0 * r)
    r_dot = left[count:] - taken[count:] @ q_dot
    rounded = np.zeros(len(r) - len(r_dot), r_dot.dtype)  # what NumPy has not dropped from before it
    return (q, r), (q_dot, np.concatenate([rounded, r_dot]))


def _root_slopes(p, roots):
    """∂r_j/∂p_k at simple roots: `-r_j^(n-k) / p'(r_j)` (implicit function theorem)."""
    c = _coefficients(p, "np.roots")
    if len(c) and c[0] == 0:
        refuse("np.roots of coefficients that start with 0 is not differentiated: NumPy drops the zeros",
               "leave the zeros out")
    if not len(roots):
        return np.zeros((0, len(c)))
    slopes = np.polyval(np.polyder(c), roots)
    if np.any(np.abs(slopes) <= 1e-9 * np.max(np.abs(c))):
        refuse("np.roots has no derivative at a repeated root")
    return -np.vander(roots, len(c)) / slopes[:, None]


@TABLE.rrule(
    np.roots,
    leading=1,
    points=[(np.array([1.0, -3.0, 1.0]),), (np.array([2.0, 1.0, 4.0, -1.0]),), (np.array([1.0, 2j, 0.5]),)],
)
def roots_rrule(p):
    """`p(r) = 0` differentiated: each coefficient gets `-r^k / p'(r)` of every root."""
    y = np.roots(p)

    def roots_pullback(y_bar):
        return NoTangent(), like_argument(p, np.conj(_root_slopes(p, y)).T @ y_bar)

    return y, roots_pullback


@TABLE.frule(np.roots)
def roots_frule(tangents, p):
    y = np.roots(p)
    return y, _root_slopes(p, y) @ dense(p, tangents[1])


def _powers(x, N, increasing):
    count = len(x) if N is None else N
    return np.arange(count) if increasing else np.arange(count)[::-1]


TABLE.non_differentiable(_powers)


def _vander_slope(x, N, increasing):
    x, powers = np.asarray(x), _powers(x, N, increasing)
    return powers * x[:, None] ** np.maximum(powers - 1, 0)


@TABLE.rrule(
    np.vander, leading=1, points=[(_V,), (_V, 3), ((_W, 4), {"increasing": True}), ([1.0, 2.0],), (_W * 1j,)]
)
def vander_rrule(x, N=None, increasing=False):
    """Columns of powers: `k x^(k-1)` of each."""

    def vander_pullback(y_bar):
        slope = np.conj(_vander_slope(x, N, increasing))
        return NoTangent(), like_argument(x, np.sum(slope * y_bar, axis=-1))

    return np.vander(x, N, increasing), vander_pullback


@TABLE.frule(np.vander)
def vander_frule(tangents, x, N=None, increasing=False):
    return np.vander(x, N, increasing), _vander_slope(x, N, increasing) * dense(x, tangents[1])[:, None]


class Fit:
    """`np.polyfit(x, y, deg)` as least squares on powers of `x`, whose columns are scaled to length 1.

    The scale drops out of the solution, so it is a constant to the derivative.
    """

    def __init__(self, x, y, deg, options):
        for name, value in options.items():
            if value is not None and value is not False:
                refuse(f"np.polyfit with {name}= is not differentiated", "use np.linalg.lstsq of np.vander")
        if np.ndim(deg):
            refuse("np.polyfit with a list of degrees is not differentiated", "give one degree")
        self.x, self.count = np.asarray(x, gradient_dtype(x)), int(deg) + 1
        powers = np.vander(self.x, self.count)
        self.scale = np.sqrt(np.sum(np.abs(powers) ** 2, axis=0))
        self.solved = LeastSquares(np.linalg.lstsq(powers / self.scale, y, None), powers / self.scale, y)

    def columns(self, c):
        return np.reshape(self.scale, (-1,) + (1,) * (np.ndim(c) - 1))

    def cotangents(self, c_bar):
        a_bar, y_bar = self.solved.cotangents(c_bar / self.columns(c_bar), ZeroTangent())
        slope = _vander_slope(self.x, self.count, False)
        return np.sum(np.conj(slope) * (a_bar / self.scale), axis=-1), y_bar

    def tangent(self, x_dot, y_dot):
        powers_dot = _vander_slope(self.x, self.count, False) * x_dot[:, None]
        c_dot, _ = self.solved.tangent(powers_dot / self.scale, y_dot)
        return c_dot / self.columns(c_dot)


@TABLE.rrule(
    np.polyfit,
    leading=2,
    points=[
        (_X, _V, 2),
        (_X, _V, 4),
        (_X, _V, 0),
        (_X, np.stack([_V, _V**2], 1), 1),
        (_X, _V + 1j * _X, 1),
        (list(_X), list(_V), 1),
    ],
)
def polyfit_rrule(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The derivative of the least squares solution, to the values and through the powers to their places."""
    fit = Fit(x, y, deg, {"rcond": rcond, "full": full, "w": w, "cov": cov})

    def polyfit_pullback(c_bar):
        x_bar, y_bar = fit.cotangents(np.asarray(c_bar))
        return NoTangent(), like_argument(x, x_bar), like_argument(y, y_bar)

    return np.polyfit(x, y, deg), polyfit_pullback


@TABLE.frule(np.polyfit)
def polyfit_frule(tangents, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = Fit(x, y, deg, {"rcond": rcond, "full": full, "w": w, "cov": cov})
    return np.polyfit(x, y, deg), fit.tangent(dense(x, tangents[1]), dense(y, tangents[2]))


# -- samples spaced by ratios --------------------------------------------------------------------------------


def _check_samples(y, what):
    if not can_carry(y):
        refuse(f"{what} rounded to {y.dtype} is not differentiated", "leave out dtype=")


@TABLE.rrule(
    np.logspace,
    leading=2,
    points=[
        (0.3, 2.0),
        (0.3, -1.2, 4),
        (0, 2, 5),
        (np.array([0.3, 1.0]), 2.0, 4),
        (0.3, 2.0, 5, False),
        (0.3, 2.0, 4, True, 2.0),
    ],
)
def logspace_rrule(start: Number, stop: Number, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`base ** linspace(start, stop)`."""
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)
    _check_samples(y, "np.logspace")
    t, rate = sample_weights(num, endpoint, y.ndim, axis), np.log(base)

    def logspace_pullback(y_bar):
        moved = np.conj(rate * y) * y_bar
        return (
            NoTangent(),
            Thunk(lambda: unbroadcast(np.sum((1 - t) * moved, axis=axis), start)),
            Thunk(lambda: unbroadcast(np.sum(t * moved, axis=axis), stop)),
        )

    if np.ndim(base):
        refuse("np.logspace with an array of bases is not differentiated", "write base ** np.linspace(...)")
    return y, logspace_pullback


def _moving_ends(y, t, start, stop, axis, dots, scale):
    """`scale * ((1 - t) start_dot + t stop_dot)` with the ends broadcast and spread along `axis`."""
    y_dot = np.zeros(y.shape)
    for weight, end_dot in ((1 - t, dots[0]), (t, dots[1])):
        if not is_zero(end_dot):
            ends = np.broadcast_to(end_dot, np.broadcast_shapes(np.shape(start), np.shape(stop)))
            y_dot = y_dot + weight * np.expand_dims(ends, axis)
    return form_of(y, laid_out(y, scale * y_dot))


@TABLE.frule(np.logspace)
def logspace_frule(
    tangents, start: Number, stop: Number, num=50, endpoint=True, base=10.0, dtype=None, axis=0
):
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)
    _check_samples(y, "np.logspace")
    if np.ndim(base):
        refuse("np.logspace with an array of bases is not differentiated", "write base ** np.linspace(...)")
    t = sample_weights(num, endpoint, y.ndim, axis)
    return y, _moving_ends(y, t, start, stop, axis, tangents[1:3], np.log(base) * y)


def _check_geometric(y, start, stop):
    _check_samples(y, "np.geomspace")
    if np.iscomplexobj(y):
        refuse("np.geomspace of complex ends is not differentiated",
               "write np.exp(np.linspace(np.log(start), np.log(stop)))")


@TABLE.rrule(
    np.geomspace,
    leading=2,
    points=[(0.3, 2.0), (-0.3, -1.2, 4), (1, 9, 5), (np.array([0.3, 1.0]), 2.0, 4), (0.3, 2.0, 5, False)],
)
def geomspace_rrule(start: Number, stop: Number, num=50, endpoint=True, dtype=None, axis=0):
    """`start ** (1 - t) stop ** t`: the relative change is shared like that of evenly spaced logarithms."""
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    _check_geometric(y, start, stop)
    t = sample_weights(num, endpoint, y.ndim, axis)

    def geomspace_pullback(y_bar):
        moved = y * y_bar
        return (
            NoTangent(),
            Thunk(lambda: unbroadcast(np.sum((1 - t) * moved, axis=axis) / start, start)),
            Thunk(lambda: unbroadcast(np.sum(t * moved, axis=axis) / stop, stop)),
        )

    return y, geomspace_pullback


@TABLE.frule(np.geomspace)
def geomspace_frule(tangents, start: Number, stop: Number, num=50, endpoint=True, dtype=None, axis=0):
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    _check_geometric(y, start, stop)
    t = sample_weights(num, endpoint, y.ndim, axis)
    relative = [dot if is_zero(dot) else dot / end for dot, end in zip(tangents[1:3], (start, stop))]
    return y, _moving_ends(y, t, start, stop, axis, relative, y)


TABLE.non_differentiable(np.bartlett, np.blackman, np.hamming, np.hanning)
