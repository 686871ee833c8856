"""Rules for the smoothing filter of Savitzky and Golay, and for other rates by filters, of `scipy.signal`.

Each is linear in the sequence: plain NumPy and functions with rules, with what SciPy chooses as constants.
"""

import math

import numpy as np

from .array_likes import only_real, refuse
from .given_values import as_given, as_precise, unmoved
from .scipy_optional import LibraryTable, optional
from .scipy_signal_filters import padded_to
from .scipy_signal_resampling import from_end, to_end

signal = optional("scipy.signal")
TABLE = LibraryTable("scipy_signal_smoothing", rounds=True)


# -- Savitzky and Golay --------------------------------------------------------------------------------------


def _check_window(window_length, polyorder, deriv, pos, use):
    signal.savgol_coeffs(window_length, polyorder, deriv, 1.0, pos, use)  # which says what is wrong


def _orders(polyorder, deriv):
    """The powers of a polynomial, and what the derivative of each is at 0."""
    powers = np.arange(polyorder + 1)
    return powers, np.where(powers == deriv, float(math.factorial(deriv)), 0.0)


TABLE.non_differentiable(_check_window, _orders)


@TABLE.stands_in(signal.savgol_coeffs)
def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use="conv"):
    _check_window(window_length, polyorder, deriv, pos, use)
    only_real("scipy.signal.savgol_coeffs", delta, 0.0 if pos is None else pos)
    if deriv > polyorder:
        return np.zeros(window_length)
    at = (window_length // 2 if window_length % 2 else window_length // 2 - 0.5) if pos is None else pos
    places = np.arange(window_length) - at
    if use == "conv":
        places = places[::-1]
    powers, slopes = _orders(polyorder, deriv)
    q, r = np.linalg.qr(places[:, None] ** powers)
    return q @ np.linalg.solve(r.T, slopes) / delta**deriv  # the shortest of the solutions


def _in_the_middle(window_length, polyorder, deriv, kind):
    return signal.savgol_coeffs(window_length, polyorder, deriv).astype(kind)


def _at_the_ends(window_length, polyorder, deriv, kind):
    """By which weights of a window at each end half of its numbers are smoothed."""
    half = window_length // 2
    places = [*range(half), *range(window_length - half, window_length)]
    rows = [signal.savgol_coeffs(window_length, polyorder, deriv, pos=p, use="dot") for p in places]
    rows = np.reshape(np.array(rows, kind), (2 * half, window_length))
    return rows[:half], rows[half:]


def _check_smoothed(x, mode, window_length):
    if mode not in _PADS and mode != "interp":
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    if mode == "interp" and window_length > x.shape[-1]:
        raise ValueError(
            "If mode is 'interp', window_length must be less than or equal to the size of x."
        )
    if np.iscomplexobj(x):
        refuse("scipy.signal.savgol_filter of complex numbers is not differentiated: SciPy takes their real "
               "part",
               "pass np.real of them")


def _as_scipy_smooths(x, *how):
    return signal.savgol_filter(x, *how)


TABLE.non_differentiable(_in_the_middle, _at_the_ends, _check_smoothed, _as_scipy_smooths)

_PADS = {"mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap"}


@TABLE.stands_in(signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    along = to_end(np.asarray(x), axis)
    _check_smoothed(along, mode, window_length)
    only_real("scipy.signal.savgol_filter", delta, cval)
    if np.size(along) == 0:
        return unmoved(lambda y: signal.savgol_filter(y, window_length, polyorder, deriv, 1.0, axis, mode), x)
    if along.dtype != np.float32:
        along = along.astype(float)
    weights = _in_the_middle(window_length, polyorder, deriv, along.dtype)
    if mode == "interp":
        y = _fitted_at_the_ends(along, weights, _at_the_ends(window_length, polyorder, deriv, along.dtype))
    else:
        later = window_length // 2
        widths = [(0, 0)] * (np.ndim(along) - 1) + [(window_length - 1 - later, later)]
        if mode == "constant":
            y = _within(np.pad(along - cval, widths) + cval, weights)
        else:
            y = _within(np.pad(along, widths, _PADS[mode]), weights)
    if deriv == 0:
        return from_end(y, axis)
    # The weights of a derivative add up to 0: numbers that hardly change leave nothing but what is rounded.
    value = _as_scipy_smooths(x, window_length, polyorder, deriv, delta, axis, mode, cval)
    return as_given(value, from_end(y / delta**deriv, axis))


def _within(x, weights):
    """The convolution where all weights meet numbers."""
    weights = np.reshape(weights, (1,) * (np.ndim(x) - 1) + (len(weights),))
    return signal.convolve(x, weights, mode="valid", method="direct")


def _fitted_at_the_ends(x, weights, ends):
    """Half a window at each end is read off the polynomial that is fitted to the whole one there."""
    count, half = len(weights), len(ends[0])
    middle = _within(x, weights)
    over, n = half - (count - 1) // 2, np.shape(x)[-1]
    first, last = x[..., :count] @ ends[0].T, x[..., n - count :] @ ends[1].T
    return np.concatenate([first, middle[..., over : over + n - 2 * half], last], axis=-1)


# -- other rates ---------------------------------------------------------------------------------------------


def _low_pass(up, down, window, kind):
    """The filter that `resample_poly` designs."""
    rate = max(up, down)
    return signal.firwin(2 * 10 * rate + 1, 1.0 / rate, window=window).astype(
        kind if kind.kind in "fc" else float
    )


def _lowest_terms(up, down):
    if up != int(up):
        raise ValueError("up must be an integer")
    if down != int(down):
        raise ValueError("down must be an integer")
    if up < 1 or down < 1:
        raise ValueError("up and down must be >= 1")
    shared = math.gcd(int(up), int(down))
    return int(up) // shared, int(down) // shared


def _spans(taps, n, up, down):
    """The zeros before and behind a filter, and which numbers of the result are kept."""
    half = (taps - 1) // 2
    before, wanted = down - half % down, -(-n * up // down)
    left_out, behind = (half + before) // down, 0
    while ((n - 1) * up + taps + before + behind - 1) // down + 1 < wanted + left_out:
        behind += 1
    return before, behind, left_out, left_out + wanted


TABLE.non_differentiable(_low_pass, _lowest_terms, _spans)

_BACKGROUNDS = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}


@TABLE.stands_in(signal.resample_poly)
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    if padtype not in _BACKGROUNDS and padtype != "constant" or cval is not None:
        refuse(
            f"scipy.signal.resample_poly with padtype={padtype!r}, cval={cval!r} is not differentiated",
            f"use padtype='constant', or one of {', '.join(_BACKGROUNDS)}",
        )
    up, down = _lowest_terms(up, down)
    if up == 1 and down == 1:
        return np.array(x)
    along = to_end(np.asarray(x), axis)
    if isinstance(window, (str, tuple)):
        taps = _low_pass(up, down, window, along.dtype)
    else:
        taps = np.asarray(window)
    before, behind, first, last = _spans(len(taps), np.shape(along)[-1], up, down)
    taps = np.concatenate([np.zeros(before, taps.dtype), up * taps, np.zeros(behind, taps.dtype)])
    ground = 0
    if padtype != "constant":
        ground = _BACKGROUNDS[padtype](along, axis=-1, keepdims=True)
        along = along - ground
    return from_end(signal.upfirdn(taps, along, up, down)[..., first:last] + ground, axis)


def _decimating(q, n, ftype, kind):
    """The filter that `decimate` designs: sections, or a sequence."""
    kind = kind if kind.kind in "fc" and kind != np.float16 else np.dtype(float)
    if ftype == "iir":
        return signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(kind)
    if ftype == "fir":
        return signal.firwin((20 * q if n is None else n) + 1, 1.0 / q, window="hamming").astype(kind)
    refuse(f"scipy.signal.decimate with ftype={ftype!r} is not differentiated", "use ftype='iir' or 'fir'")


TABLE.non_differentiable(_decimating)


@TABLE.stands_in(signal.decimate)
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    along = to_end(np.asarray(x), axis)
    taps = _decimating(q, n, ftype, along.dtype)
    if ftype == "iir":
        y = signal.sosfiltfilt(taps, along) if zero_phase else signal.sosfilt(taps, along)
        return from_end(y[..., ::q], axis)
    if zero_phase:
        return from_end(signal.resample_poly(along, 1, q, axis=-1, window=taps), axis)
    kept = -(-np.shape(along)[-1] // q)
    return from_end(signal.upfirdn(taps, along, 1, q)[..., :kept], axis)


# -- the state that follows from what came before ------------------------------------------------------------


def _check_before(b, a):
    if np.ndim(a) > 1 or np.ndim(b) > 1:
        raise ValueError("Filter coefficients must be 1-D.")
    if np.asarray(a)[0] == 0:
        raise ValueError("First `a` filter coefficient must be non-zero.")


def _divides():
    """Whether this SciPy divides by the first coefficient, as the filter does; 1.13 does not."""
    return bool(signal.lfiltic([1.0], [2.0, 1.0], [1.0])[0] == -0.5)


TABLE.non_differentiable(_check_before, _divides)


@TABLE.stands_in(signal.lfiltic)
def lfiltic(b, a, y, x=None):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    _check_before(b, a)
    count, y = max(len(a), len(b)) - 1, np.atleast_1d(y)
    y = as_precise(y, b, a)
    z = -_summed(a, y, count)
    if z.dtype != np.result_type(z, b):  # as SciPy, also where nothing is multiplied by b
        z = z.astype(np.result_type(z, b))
    if x is not None:
        z = z + _summed(b, np.atleast_1d(x), count)
    return z / a[0] if _divides() else z


def _summed(c, past, count):
    """What the past numbers, the latest first, add to each place of the state."""
    c = padded_to(c * 1.0, count + 1)
    past = padded_to(past * 1.0, count + 1)
    sums = [np.sum(c[m + 1 : count + 1] * past[: count - m]) for m in range(count)]
    return np.stack(sums) if count else np.zeros(0, np.result_type(c, past))
