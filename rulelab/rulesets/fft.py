"""Rules for the discrete Fourier transforms of `numpy.fft`: linear, so each has its transposed transform.

The transpose of a transform is the opposite one with the other normalisation: what `norm="backward"` leaves
out going one way, `"forward"` leaves out going the other. What `n=` or `s=` cut off gets zeros back, what was
padded is dropped. The half spectrum of a real transform counts its inner frequencies twice.
"""

import operator

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.zeros import NoTangent
from .array_likes import dense, is_zero, like_argument, refuse

TABLE = RuleTable("fft")

_V = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
_E = np.array([0.5, -1.0, 2.0, 0.25])
_Z = _V * (1 + 0.5j) - 0.25j
_M = np.cos(np.arange(12.0)).reshape(3, 4)
_C = np.sin(np.arange(24.0)).reshape(2, 3, 4)
_W = _M + 1j * _M[::-1]

OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The normalisation of the transposed transform."""


def resized(x, n, axis):
    """`x` cut off or padded with zeros at the end of `axis`, to length `n`.

    >>> resized(np.array([1.0, 2.0]), 3, 0), resized(np.array([1.0, 2.0]), 1, -1)
    (array([1., 2., 0.]), array([1.]))
    """
    if x.shape[axis] >= n:
        return x[(slice(None),) * (axis % x.ndim) + (slice(n),)]
    missing = np.zeros_like(x, shape=[n - m if k == axis % x.ndim else m for k, m in enumerate(x.shape)])
    return np.concatenate([x, missing], axis)


def transposed_stage(kind, y_bar, n, axis, m, norm):
    """x̄ of one transform of length `n` along `axis` of an array with `m` entries there."""
    norm = OPPOSITE[norm]
    if kind == "fft":
        x_bar = np.fft.ifft(y_bar, n, axis, norm)
    elif kind == "ifft":
        x_bar = np.fft.fft(y_bar, n, axis, norm)
    elif kind == "rfft":
        x_bar = np.real(np.fft.ifft(resized(y_bar, n, axis), n, axis, norm))
    else:
        x_bar = np.fft.rfft(np.real(y_bar), n, axis, norm) * _multiplicity(n, axis, y_bar)
    return resized(x_bar, m, axis)


def _multiplicity(n, axis, like):
    """How often each entry of a half spectrum of length `n` stands in the whole one, along `axis`."""
    times = np.full(n // 2 + 1, 2.0, np.real(like).dtype)
    times[0] = 1.0
    if n % 2 == 0:
        times[-1] = 1.0
    return times.reshape([-1 if k == axis % like.ndim else 1 for k in range(like.ndim)])


def _length_after(kind, n):
    return n // 2 + 1 if kind == "rfft" else n


def transposed(stages, y_bar, shape, norm):
    """x̄, of `shape`, of the transforms `(kind, n, axis)` done one after another."""
    lengths, before = list(shape), []
    for kind, n, axis in stages:
        before.append(lengths[axis])
        lengths[axis] = _length_after(kind, n)
    for (kind, n, axis), m in zip(stages[::-1], before[::-1]):
        y_bar = transposed_stage(kind, y_bar, n, axis, m, norm)
    return y_bar


# -- along one axis ------------------------------------------------------------------------------------------


def _state_one(target, kind, points):
    def stages(a, n, axis):
        if n is None:
            n = np.shape(a)[axis] if kind != "irfft" else 2 * (np.shape(a)[axis] - 1)
        return [(kind, operator.index(n), axis)]

    @TABLE.rrule(target, leading=1, points=points)
    def fft_rrule(a, n=None, axis=-1, norm=None, out=None):
        def fft_pullback(y_bar):
            x_bar = transposed(stages(a, n, axis), y_bar, np.shape(a), norm)
            return NoTangent(), like_argument(a, x_bar)

        return target(a, n, axis, norm), fft_pullback

    @TABLE.frule(target)
    def fft_frule(tangents, a, n=None, axis=-1, norm=None, out=None):
        return target(a, n, axis, norm), target(dense(a, tangents[1]), n, axis, norm)


def _one_axis(*values):
    norms = [((values[0],), {"norm": norm}) for norm in ("ortho", "forward", "backward")]
    return [
        *[(v,) for v in values],
        (values[0], 3),
        (values[0], 8),
        (values[0], 7),
        (_M, None, 0),
        (_C, 4, 1),
        *norms,
    ]


_state_one(np.fft.fft, "fft", [*_one_axis(_V, _E, _Z, _W), (_V.astype(np.float32),), ([1.0, 2.0, 4.0],)])
_state_one(np.fft.ifft, "ifft", _one_axis(_Z, _V, _W))
_state_one(np.fft.rfft, "rfft", [*_one_axis(_V, _E, _M), (_V.astype(np.float32),), (np.arange(4),)])
_state_one(np.fft.irfft, "irfft", [*_one_axis(_Z, _V, _W), (_W, 6, 0), (_Z, 2), (_Z, 9)])


def _state_hermitian(target, kind, points):
    """`hfft(a)` is the real inverse of the conjugate of `a`, `ihfft(a)` the conjugate of the real transform,
    both with the opposite normalisation.
    """

    @TABLE.rrule(target, leading=1, points=points)
    def hermitian_rrule(a, n=None, axis=-1, norm=None, out=None):
        y = target(a, n, axis, norm)

        def hermitian_pullback(y_bar):
            m = np.shape(a)[axis]
            if n is None:
                length = m if kind == "rfft" else 2 * (m - 1)
            else:
                length = operator.index(n)
            seed = np.conj(y_bar) if kind == "rfft" else y_bar
            x_bar = transposed_stage(kind, seed, length, axis, m, OPPOSITE[norm])
            return NoTangent(), like_argument(a, x_bar if kind == "rfft" else np.conj(x_bar))

        return y, hermitian_pullback

    @TABLE.frule(target)
    def hermitian_frule(tangents, a, n=None, axis=-1, norm=None, out=None):
        return target(a, n, axis, norm), target(dense(a, tangents[1]), n, axis, norm)


_state_hermitian(np.fft.hfft, "irfft", _one_axis(_Z, _V, _W))
_state_hermitian(np.fft.ihfft, "rfft", _one_axis(_V, _E, _M))


# -- along several axes --------------------------------------------------------------------------------------


def lengths_and_axes(shape, s, axes, inverse_real):
    """The length and the axis of each transform, as NumPy chooses them; -1 keeps the length."""
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    axes = [operator.index(axis) for axis in axes]
    lengths = [shape[axis] for axis in axes]
    if inverse_real and s is None and axes:
        lengths[-1] = 2 * (shape[axes[-1]] - 1)
    if s is not None:
        lengths = [shape[axis] if n == -1 else operator.index(n) for n, axis in zip(s, axes)]
    return list(zip(lengths, axes))


def stages_of(kind, shape, s, axes):
    """The transforms in the order in which they are done."""
    pairs = lengths_and_axes(shape, s, axes, kind == "irfft")
    if kind == "rfft":
        (last, axis), rest = pairs[-1], pairs[:-1]
        return [("rfft", last, axis), *[("fft", n, k) for n, k in rest[::-1]]]
    if kind == "irfft":
        (last, axis), rest = pairs[-1], pairs[:-1]
        return [*[("ifft", n, k) for n, k in rest], ("irfft", last, axis)]
    return [(kind, n, k) for n, k in pairs[::-1]]


def _several(kind):
    def back(a, s, axes, norm):
        def fft_pullback(y_bar):
            stages = stages_of(kind, np.shape(a), s, axes)
            return NoTangent(), like_argument(a, transposed(stages, np.asarray(y_bar), np.shape(a), norm))

        return fft_pullback

    return back


def _state_many(target, kind, points):
    back = _several(kind)

    @TABLE.rrule(target, leading=1, points=points)
    def fftn_rrule(a, s=None, axes=None, norm=None, out=None):
        return target(a, s, axes, norm), back(a, s, axes, norm)

    @TABLE.frule(target)
    def fftn_frule(tangents, a, s=None, axes=None, norm=None, out=None):
        return target(a, s, axes, norm), target(dense(a, tangents[1]), s, axes, norm)


def _state_two(target, kind, points):
    back = _several(kind)

    @TABLE.rrule(target, leading=1, points=points)
    def fft2_rrule(a, s=None, axes=(-2, -1), norm=None, out=None):
        return target(a, s, axes, norm), back(a, s, axes, norm)

    @TABLE.frule(target)
    def fft2_frule(tangents, a, s=None, axes=(-2, -1), norm=None, out=None):
        return target(a, s, axes, norm), target(dense(a, tangents[1]), s, axes, norm)


def _grids(whole, cube):
    return [
        (whole,),
        (cube, None, (0, 2)),
        (whole, (2, 6), (0, 1)),
        (cube, (3, 3), (-1, 0)),
        ((whole,), {"norm": "ortho"}),
        ((cube,), {"norm": "forward", "axes": (1, 2)}),
    ]


_state_many(np.fft.fftn, "fft", [*_grids(_W, _C), (_M, None, (1, 1))])
_state_many(np.fft.ifftn, "ifft", _grids(_W, _C))
_state_many(np.fft.rfftn, "rfft", _grids(_M, _C))
_state_many(np.fft.irfftn, "irfft", _grids(_W, _C))
_state_two(np.fft.fft2, "fft", _grids(_W, _C))
_state_two(np.fft.ifft2, "ifft", _grids(_W, _C))
_state_two(np.fft.rfft2, "rfft", _grids(_M, _C))
_state_two(np.fft.irfft2, "irfft", _grids(_W, _C))


# -- shifts and frequencies ----------------------------------------------------------------------------------


def _state_shift(target, opposite):
    @TABLE.rrule(target, leading=1, points=[(_V,), (_E,), (_M,), (_C, 1), (_C, (0, 2)), (_Z,)])
    def shift_rrule(x, axes=None):
        def shift_pullback(y_bar):
            return NoTangent(), like_argument(x, opposite(y_bar, axes))

        return target(x, axes), shift_pullback

    @TABLE.frule(target)
    def shift_frule(tangents, x, axes=None):
        return target(x, axes), target(dense(x, tangents[1]), axes)


_state_shift(np.fft.fftshift, np.fft.ifftshift)
_state_shift(np.fft.ifftshift, np.fft.fftshift)


def _state_frequencies(target):
    """`k / (n d)`: the sample spacing `d` scales them, the number of samples is a whole number."""

    @TABLE.rrule(target, leading=2, points=[(5, 0.5), (4, 2.0)])
    def freq_rrule(n, d=1.0, device=None):
        y = target(n, d)

        def freq_pullback(y_bar):
            return NoTangent(), NoTangent(), -np.sum(np.conj(y / d) * y_bar)

        if np.ndim(d):
            refuse(
                f"np.fft.{target.__name__} of an array of spacings is not differentiated",
                "call it for each spacing",
            )
        return y, freq_pullback

    @TABLE.frule(target)
    def freq_frule(tangents, n, d=1.0, device=None):
        y = target(n, d)
        d_dot = tangents[2] if len(tangents) > 2 else NoTangent()
        return y, np.zeros_like(y) if is_zero(d_dot) else -y * d_dot / d


_state_frequencies(np.fft.fftfreq)
_state_frequencies(np.fft.rfftfreq)
