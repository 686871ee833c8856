"""Discrete Fourier transforms of traced numbers, written out as sums; the other functions of `np.fft` are
built from these.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .complexes import as_complex, unit_root
from .scalars import first_trace


def _scale(trace, n, norm, inverse):
    """The factor of a transform of length `n` for NumPy's `norm`, which is "backward" by default."""
    if norm == "ortho":
        return trace.constant(n) ** Fraction(-1, 2)
    whole = inverse == (norm in (None, "backward"))
    return trace.constant(Fraction(1, n) if whole else 1)


def _lines(a, n, axis):
    """The entries along an axis, truncated or zero-padded to `n`, as the last axis of an object array."""
    lines = np.moveaxis(np.asarray(a).view(np.ndarray).astype(object), axis, -1)
    n = lines.shape[-1] if n is None else n
    filled = np.zeros((*lines.shape[:-1], n), object)
    kept = min(n, lines.shape[-1])
    filled[..., :kept] = lines[..., :kept]
    return filled


def _transformed(a, n, axis, norm, inverse, count=None):
    trace = first_trace(a)
    lines = _lines(a, n, axis)
    n = lines.shape[-1]
    turns = [unit_root(trace, Fraction(k if inverse else -k, n)) for k in range(n)]
    made = np.empty((*lines.shape[:-1], n if count is None else count), object)
    for k in range(made.shape[-1]):
        made[..., k] = sum(lines[..., j] * turns[j * k % n] for j in range(n)) * _scale(
            trace, n, norm, inverse
        )
    return np.moveaxis(made, -1, axis)


def fft(a, n=None, axis=-1, norm=None, out=None):
    return _transformed(a, n, axis, norm, False)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    return _transformed(a, n, axis, norm, True)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The first half of the transform of real numbers."""
    n = np.shape(a)[axis] if n is None else n
    return _transformed(a, n, axis, norm, False, n // 2 + 1)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The real inverse transform: the second half is the conjugate of the first, whose end points are treated
    as real.
    """
    trace = first_trace(a)
    n = 2 * (np.shape(a)[axis] - 1) if n is None else n
    half = _lines(a, n // 2 + 1, axis)
    whole = np.empty((*half.shape[:-1], n), object)
    for index in np.ndindex(half.shape[:-1]):
        for k in range(n):
            value = as_complex(half[(*index, min(k, n - k))], trace)
            is_end = k == 0 or 2 * k == n
            whole[(*index, k)] = value.re if is_end else value if 2 * k < n else value.conjugate()
    made = np.moveaxis(_transformed(whole, n, -1, norm, True), -1, axis)
    return np.frompyfunc(lambda z: as_complex(z, trace).re, 1, 1)(made)


_OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(a, n=None, axis=-1, norm=None, out=None):
    return irfft(_conjugated(a), n, axis, _OPPOSITE[norm])


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return _conjugated(rfft(a, n, axis, _OPPOSITE[norm]))


def _conjugated(a):
    return np.frompyfunc(lambda z: z.conjugate(), 1, 1)(np.asarray(a).view(np.ndarray))


def _along_several(first, last, axes=None):
    """A transform along several axes: `last` along the last one, `first` along the others. The transform to
    real numbers ends with the last axis, all others begin with it.
    """

    def transform(a, s=None, axes=axes, norm=None, out=None):
        axes = range(-len(np.shape(a) if s is None else s), 0) if axes is None else axes
        stages = [(last if k == len(axes) - 1 else first, k) for k in range(len(axes))]
        for one, k in stages if last is irfft else stages[::-1]:
            a = one(a, None if s is None else s[k], axes[k], norm)
        return a

    return transform


TRANSFORMS = {
    np.fft.fft: fft,
    np.fft.ifft: ifft,
    np.fft.rfft: rfft,
    np.fft.irfft: irfft,
    np.fft.hfft: hfft,
    np.fft.ihfft: ihfft,
    np.fft.fftn: _along_several(fft, fft),
    np.fft.ifftn: _along_several(ifft, ifft),
    np.fft.rfftn: _along_several(fft, rfft),
    np.fft.irfftn: _along_several(ifft, irfft),
    np.fft.fft2: _along_several(fft, fft, (-2, -1)),
    np.fft.ifft2: _along_several(ifft, ifft, (-2, -1)),
    np.fft.rfft2: _along_several(fft, rfft, (-2, -1)),
    np.fft.irfft2: _along_several(ifft, irfft, (-2, -1)),
}
