"""Rules for what `scipy.signal` does to a sequence as a whole: trends, analytic signals, other rates."""

import operator

import numpy as np

from ..tangents.zeros import NoTangent
from .array_likes import dense, like_argument, refuse
from .given_values import unmoved
from .scipy_optional import LibraryTable, optional

signal = optional("scipy.signal")
fft = optional("scipy.fft")
TABLE = LibraryTable("scipy_signal_resampling", rounds=True)


def to_end(x, axis):
    """`x` with an axis moved to the end; no new view where it is there."""
    return x if axis == -1 or axis == np.ndim(x) - 1 else np.moveaxis(x, axis, -1)


def from_end(x, axis):
    """`x` with its last axis moved to where it belongs."""
    return x if axis == -1 or axis == np.ndim(x) - 1 else np.moveaxis(x, -1, axis)


# -- trends --------------------------------------------------------------------------------------------------


@TABLE.rrule(signal.detrend, leading=1)
def detrend_rrule(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    """What is left beside the lines of least squares is a projection, and its own transpose."""

    def detrend_pullback(y_bar):
        return NoTangent(), like_argument(data, signal.detrend(np.asarray(y_bar), axis, type, bp))

    return signal.detrend(data, axis, type, bp), detrend_pullback


@TABLE.frule(signal.detrend)
def detrend_frule(tangents, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    y_dot = signal.detrend(dense(data, tangents[1]), axis, type, bp)
    return signal.detrend(data, axis, type, bp), y_dot


# -- analytic signals ----------------------------------------------------------------------------------------


def _one_sided(n, dtype):
    """The weights of a spectrum of which the negative frequencies are left out."""
    weights = np.zeros(n, dtype)
    weights[: (n + 1) // 2] = 2.0
    weights[0] = 1.0
    if n % 2 == 0 and n > 1:
        weights[n // 2] = 1.0
    return weights


def _check_real(x):
    if np.iscomplexobj(x):
        raise ValueError("x must be real.")


TABLE.non_differentiable(_one_sided, _check_real)


@TABLE.stands_in(signal.hilbert)
def hilbert(x, N=None, axis=-1):
    x = np.asarray(x)
    _check_real(x)
    along = to_end(x, axis)
    n = np.shape(along)[-1] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    spectrum = fft.fft(along, n)
    weights = _one_sided(n, np.real(spectrum).dtype)
    return from_end(fft.ifft(spectrum * weights), axis)


# -- other rates ---------------------------------------------------------------------------------------------


def spectral_window(window, n):
    """What a spectrum of `n` frequencies is multiplied by; None for nothing."""
    if window is None:
        return None
    if callable(window):
        return window(fft.fftfreq(n))
    if isinstance(window, np.ndarray):
        if np.shape(window) != (n,):
            raise ValueError(
                f"the window must have shape ({n},), one number for each frequency, not {np.shape(window)}"
            )
        return window
    return fft.fftshift(signal.get_window(window, n))


def _check_num(num, n):
    if operator.index(num) < 1 or n < 1:
        raise ValueError(f"num must be a positive whole number, not {num}")
    return operator.index(num)


TABLE.non_differentiable(_check_num)


def _resampled_real(x, num, window):
    """Along the last axis, by the spectrum of positive frequencies."""
    n = np.shape(x)[-1]
    m = min(num, n)
    spectrum = fft.rfft(x)
    if window is not None:
        weights = _folded(window, np.shape(spectrum)[-1])
        kind = spectrum.dtype if np.iscomplexobj(weights) else np.real(spectrum).dtype
        spectrum = spectrum * np.asarray(weights, kind)
    spectrum = spectrum[..., : m // 2 + 1] * _at_the_end(m, n, num, np.real(spectrum).dtype)
    return fft.irfft(spectrum * (num / n), num)


def _folded(window, count):
    """Each frequency's weight, the mean of its own and of that of the opposite one."""
    rest = window[1:count] + np.flip(window[len(window) - count + 1 :])
    return np.concatenate([window[:1], rest / 2])


def _at_the_end(m, n, num, dtype):
    """The weights of the frequencies that both rates have: of the last one, where it has no partner."""
    weights = np.ones(m // 2 + 1, dtype)
    if m % 2 == 0 and num != n:
        weights[m // 2] = 2.0 if num < n else 0.5
    return weights


TABLE.non_differentiable(_at_the_end)


def _resampled_complex(x, num, window):
    """Along the last axis, by the whole spectrum."""
    n = np.shape(x)[-1]
    m = min(num, n)
    spectrum = fft.fft(x)
    if window is not None:
        spectrum = spectrum * window
    positive = (m + 1) // 2
    low, high = spectrum[..., :positive], spectrum[..., n - (m - positive) :]
    rest = np.zeros((*np.shape(x)[:-1], num - m), spectrum.dtype)
    if m % 2 == 0:
        # The highest frequency stands for both signs where it is alone.
        last = high[..., :1]
        if num < n:
            high = np.concatenate([last + spectrum[..., m // 2 : m // 2 + 1], high[..., 1:]], axis=-1)
        elif num > n:
            low = np.concatenate([low, last / 2], axis=-1)
            high = np.concatenate([last / 2, high[..., 1:]], axis=-1)
            rest = rest[..., 1:]
    return fft.ifft(np.concatenate([low, rest, high], axis=-1) * (num / n))


@TABLE.stands_in(signal.resample)
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    if domain != "time":
        refuse(f"scipy.signal.resample with domain={domain!r} is not differentiated", "use domain='time'")
    x = to_end(np.asarray(x), axis)
    n = np.shape(x)[-1]
    num, weights = _check_num(num, n), spectral_window(window, n)
    resampled = _resampled_complex if np.iscomplexobj(x) else _resampled_real
    y = from_end(resampled(x, num, weights), axis)
    if t is None:
        return y
    return y, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


@TABLE.stands_in(signal.upfirdn)
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or type(cval) is not int or cval != 0:
        refuse("scipy.signal.upfirdn with mode= or cval= is not differentiated",
               "extend the sequence first, with np.pad")
    h, x = np.asarray(h), np.asarray(x)
    _check_rates(h, up, down)
    if np.size(x) == 0:
        return unmoved(lambda *given: signal.upfirdn(*given, up, down, axis), h, x)
    kind = np.result_type(h, x, np.float32)  # as SciPy: whole numbers and halves become longer floats
    h = h if h.dtype == kind else h.astype(kind)
    x = to_end(x, axis)
    n = np.shape(x)[-1]
    wide = np.concatenate([x[..., None], np.zeros((*np.shape(x), up - 1), x.dtype)], axis=-1)
    apart = np.reshape(wide, (*np.shape(x)[:-1], n * up))[..., : (n - 1) * up + 1]
    kernel = np.reshape(h, (*[1] * (np.ndim(x) - 1), len(h)))
    return from_end(signal.convolve(apart, kernel, method="direct")[..., ::down], axis)


def _check_rates(h, up, down):
    signal.upfirdn(h, np.zeros(1), up, down)  # which says what is wrong


TABLE.non_differentiable(_check_rates)
