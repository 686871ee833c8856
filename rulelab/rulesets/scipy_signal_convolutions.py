"""Rules for the convolutions and correlations of `scipy.signal`: bilinear, with any number of axes."""

import numpy as np

from ..tangents.forms import form_of
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent
from .array_likes import like_argument, only_real, refuse
from .given_values import unmoved
from .linalg_products import bilinear_tangent
from .scipy_optional import LibraryTable, optional

signal = optional("scipy.signal")
TABLE = LibraryTable("scipy_signal_convolutions", rounds=True)


# -- where a result lies in the full one ---------------------------------------------------------------------


def full_convolution_cotangent(y_bar, left, right, mode, axes):
    """The cotangent of the full convolution of arrays of these shapes, from that of the part of a mode."""
    widths = [(0, 0)] * y_bar.ndim
    for axis, (n, m) in enumerate(zip(left, right, strict=True)):
        if axis not in axes:  # SciPy cuts the middle out of what is broadcast, too
            beyond = max(n, m) - y_bar.shape[axis]
            widths[axis] = (beyond // 2, beyond - beyond // 2)
            continue
        start = 0 if mode == "full" else (m - 1) // 2 if mode == "same" else min(n, m) - 1
        widths[axis] = (start, n + m - 1 - start - y_bar.shape[axis])
    return np.pad(y_bar, widths)


def _all_axes(ndim, axes):
    """The axes along which is convolved, counted from the front."""
    if axes is None:
        return tuple(range(ndim))
    return tuple([axis % ndim for axis in (axes if np.iterable(axes) else (axes,))])


TABLE.non_differentiable(_all_axes)


def reversed_conjugate(x, axes):
    """The conjugate of an array in reverse order: the convolution with it is the transposed one."""
    return np.conj(np.flip(x, axes))


def _is_empty(left, right):
    return np.size(left) == 0 or np.size(right) == 0


# -- convolve: along all axes --------------------------------------------------------------------------------


@TABLE.rrule(signal.convolve, leading=2)
def convolve_rrule(in1, in2, mode="full", method="auto"):
    """`ā` is the part of the convolution of ȳ with the reversed conjugate of the other one that is of its
    shape.
    """
    y = signal.convolve(in1, in2, mode, method)

    def convolve_pullback(y_bar):
        a, b, y_bar = np.asarray(in1), np.asarray(in2), np.asarray(y_bar)
        if a.ndim == 0 or _is_empty(a, b):
            return (
                NoTangent(),
                like_argument(in1, _product_bar(y_bar, b, a)),
                like_argument(in2, _product_bar(y_bar, a, b)),
            )
        axes = _all_axes(a.ndim, None)
        full = full_convolution_cotangent(y_bar, a.shape, b.shape, mode, axes)
        return (
            NoTangent(),
            like_argument(in1, signal.convolve(full, reversed_conjugate(b, axes), "valid", method)),
            like_argument(in2, signal.convolve(full, reversed_conjugate(a, axes), "valid", method)),
        )

    return y, convolve_pullback


def _product_bar(y_bar, other, own):
    """Of numbers, whose convolution is their product, and of arrays without entries."""
    return np.conj(other) * y_bar if own.ndim == 0 else np.zeros(own.shape, own.dtype)


@TABLE.frule(signal.convolve)
def convolve_frule(tangents, in1, in2, mode="full", method="auto"):
    y = signal.convolve(in1, in2, mode, method)
    return y, form_of(y, bilinear_tangent(signal.convolve, tangents, in1, in2, mode, method))


# -- fftconvolve, oaconvolve: along some axes, broadcast along the others ------------------------------------


def _state_along_axes(target):
    @TABLE.rrule(target, leading=2)
    def along_axes_rrule(in1, in2, mode="full", axes=None):
        y = target(in1, in2, mode, axes)

        def along_axes_pullback(y_bar):
            a, b, y_bar = np.asarray(in1), np.asarray(in2), np.asarray(y_bar)
            if a.ndim == 0 or _is_empty(a, b):
                return (
                    NoTangent(),
                    like_argument(in1, _product_bar(y_bar, b, a)),
                    like_argument(in2, _product_bar(y_bar, a, b)),
                )
            along = _all_axes(a.ndim, axes)
            full = full_convolution_cotangent(y_bar, a.shape, b.shape, mode, along)
            return (
                NoTangent(),
                like_argument(
                    in1, unbroadcast(target(full, reversed_conjugate(b, along), "valid", along), a)
                ),
                like_argument(
                    in2, unbroadcast(target(full, reversed_conjugate(a, along), "valid", along), b)
                ),
            )

        return y, along_axes_pullback

    @TABLE.frule(target)
    def along_axes_frule(tangents, in1, in2, mode="full", axes=None):
        y = target(in1, in2, mode, axes)
        return y, form_of(y, bilinear_tangent(target, tangents, in1, in2, mode, axes))


_state_along_axes(signal.fftconvolve)
_state_along_axes(signal.oaconvolve)


# -- made of these -------------------------------------------------------------------------------------------


@TABLE.stands_in(signal.correlate)
def correlate(in1, in2, mode="full", method="auto"):
    return signal.convolve(np.asarray(in1), np.conj(np.flip(np.asarray(in2))), mode, method)


_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _check_plane(a, b, mode, boundary):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("convolve2d and correlate2d inputs must both be 2-D arrays")
    if boundary not in _BOUNDARIES or mode not in ("full", "same", "valid"):
        refuse(f"a convolution in the plane with mode={mode!r} and boundary={boundary!r} is not "
               "differentiated",
               "give both as strings, such as mode='same', boundary='fill'")
    if _is_empty(a, b) and boundary != "fill":
        refuse(f"a convolution in the plane with an empty array and boundary={boundary!r} is not "
               "differentiated",
               "use boundary='fill'")


TABLE.non_differentiable(_check_plane)


def _inside(a, widths):
    """Where the numbers of an array are, once something is around it."""
    return np.pad(np.ones(np.shape(a), bool), widths)


TABLE.non_differentiable(_inside)


def _check_filling(name, a, b, fillvalue):
    """Refuse complex numbers around real planes, where SciPy makes them real."""
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        only_real(f"scipy.signal.{name} with a fillvalue=", fillvalue)


TABLE.non_differentiable(_check_filling)


def _beyond_edges(a, shape, boundary, fillvalue):
    """The array with what the boundary stands for around it, as far as an array of `shape` reaches."""
    widths = [(n - 1, n - 1) for n in shape]
    if boundary == "fill":
        return np.where(_inside(a, widths), np.pad(a, widths), fillvalue)
    return np.pad(a, widths, mode=_BOUNDARIES[boundary])


def _in_plane(in1, kernel, mode, boundary, fillvalue, start):
    """The convolution of the plane in a mode, `same` from `start` of the full one on."""
    if mode == "valid":
        return signal.convolve(in1, kernel, "valid", "direct")
    wide = _beyond_edges(in1, np.shape(kernel), boundary, fillvalue)
    full = signal.convolve(wide, kernel, "valid", "direct")
    if mode == "full":
        return full
    (i, j), (m, n) = start, np.shape(in1)
    return full[i : i + m, j : j + n]


@TABLE.stands_in(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    a, b = np.asarray(in1), np.asarray(in2)
    _check_plane(a, b, mode, boundary)
    _check_filling("convolve2d", a, b, fillvalue)
    if _is_empty(a, b):
        return unmoved(lambda x, y: signal.convolve2d(x, y, mode), a, b)
    start = [(n - 1) // 2 for n in np.shape(b)]
    return _in_plane(a, b, mode, boundary, fillvalue, start)


def _check_conjugated(a, b, mode):
    """Refuse what SciPy turns round by itself: it conjugates the first array then, not the second."""
    turned_round = mode == "valid" and any(m < n for m, n in zip(np.shape(a), np.shape(b)))
    if turned_round and (np.iscomplexobj(a) or np.iscomplexobj(b)):
        refuse(
            "scipy.signal.correlate2d(mode='valid') of complex arrays of which the second is the larger is "
            "not differentiated",
            "give the larger one first",
        )


TABLE.non_differentiable(_check_conjugated)


@TABLE.stands_in(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    a, b = np.asarray(in1), np.asarray(in2)
    _check_plane(a, b, mode, boundary)
    _check_filling("correlate2d", a, b, fillvalue)
    if _is_empty(a, b):
        return unmoved(lambda x, y: signal.correlate2d(x, y, mode), a, b)
    _check_conjugated(a, b, mode)
    start = [n // 2 for n in np.shape(b)]
    return _in_plane(a, np.conj(b[::-1, ::-1]), mode, boundary, fillvalue, start)


@TABLE.stands_in(signal.deconvolve)
def deconvolve(signal, divisor):
    return _deconvolved(np.atleast_1d(signal), np.atleast_1d(divisor))


def _deconvolved(numbers, divisor):
    if len(divisor) > len(numbers):
        return [], numbers
    pulse = np.zeros(len(numbers) - len(divisor) + 1)
    pulse[0] = 1
    quotient = signal.lfilter(numbers, divisor, pulse)
    return quotient, numbers - signal.convolve(divisor, quotient, mode="full")
