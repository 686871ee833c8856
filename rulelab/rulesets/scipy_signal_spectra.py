"""Rules for the spectra of `scipy.signal`: by parts of a sequence, their transforms and mean squares.

Plain NumPy and functions with rules, in place of SciPy's own: windows by name are constants, numbers of a
window vary.
"""

import numpy as np

from .array_likes import refuse
from .given_values import as_given, as_precise
from .scipy_optional import LibraryTable, default_of, optional
from .scipy_signal_filters import extended
from .scipy_signal_resampling import from_end, to_end

signal = optional("scipy.signal")
fft = optional("scipy.fft")
TABLE = LibraryTable("scipy_signal_spectra", rounds=True)

_WINDOW = {
    name: default_of(getattr(signal, name), "window")
    for name in ("welch", "csd", "coherence", "spectrogram", "stft")
}


# -- parts of a sequence -------------------------------------------------------------------------------------


def _window_of(window, size, n, kind):
    """The numbers of a window: those of a name are as many as the parts are long, at most as the sequence."""
    if isinstance(window, (str, tuple)):
        return _named_window(window, min(256 if size is None else size, n), kind)
    window = np.asarray(window)
    if np.ndim(window) != 1 or np.iscomplexobj(window):
        refuse("a spectrum of scipy.signal with a window that is not a vector of real numbers is not "
               "differentiated")
    if size is not None and size != len(window) or len(window) > n:
        raise ValueError(
            f"a window of {len(window)} samples does not fit segments of {size}, in a signal of {n}"
        )
    return window if window.dtype == kind else window.astype(kind)


def _named_window(window, size, kind):
    if size < 1:
        raise ValueError(f"nperseg must be a positive integer, not {size}")
    return signal.get_window(window, size).astype(np.result_type(kind, np.float32))


def _steps(size, noverlap, nfft):
    """How far the parts are from each other, and how long their transforms."""
    step, count = size - (size // 2 if noverlap is None else noverlap), size if nfft is None else nfft
    if step < 1:
        raise ValueError("noverlap must be less than nperseg.")
    if count < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    return step, count


def _places(n, size, step):
    """Where the numbers of each part are."""
    return step * np.arange((n - size) // step + 1)[:, None] + np.arange(size)


TABLE.non_differentiable(_named_window, _steps, _places)


def _check_trend(detrend):
    if detrend not in (False, None, "constant", "linear"):
        refuse(
            "a spectrum of scipy.signal with a function for detrend= is not differentiated",
            "use detrend='constant' or 'linear', or remove the trend first",
        )


def transforms(x, window, step, nfft, detrend, onesided):
    """The transform of each part of a sequence, in the last axis."""
    _check_trend(detrend)
    x = as_precise(x, window)
    parts = x[..., _places(np.shape(x)[-1], len(window), step)]
    if detrend:
        parts = signal.detrend(parts, type=detrend)
    parts = parts * window
    return fft.rfft(parts, nfft) if onesided else fft.fft(parts, nfft)


def frequencies(nfft, fs, onesided):
    if np.iscomplexobj(fs):
        refuse("a spectrum of scipy.signal with a complex rate is not differentiated",
               "give a real one: fs=np.real(fs)")
    return fft.rfftfreq(nfft, 1 / fs) if onesided else fft.fftfreq(nfft, 1 / fs)


def scale_of(window, fs, scaling):
    """What squares are multiplied by, in the precision of the window, whatever kind of number the rate is."""
    if scaling == "density":
        scale = 1 / (fs * np.sum(window * window))
        return scale if window.dtype == np.float64 else np.asarray(scale, window.dtype)
    if scaling == "spectrum":
        return 1 / np.sum(window) ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def both_signs(nfft):
    """The weights of the frequencies of a real sequence: those that stand for both signs count twice."""
    weights = np.full(nfft // 2 + 1, 2.0)
    weights[0] = 1.0
    if nfft % 2 == 0:
        weights[-1] = 1.0
    return weights


TABLE.non_differentiable(both_signs)


def products(x, y, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling):
    """The frequencies, and for each part of two sequences the product of their transforms, one of them
    conjugated; of one sequence, where `y` is None, real squares.
    """
    kind = np.result_type(x, np.float32) if y is None else np.result_type(x, y, np.float32)
    window = _window_of(window, nperseg, np.shape(x)[-1], np.finfo(kind).dtype)
    step, nfft = _steps(len(window), noverlap, nfft)
    fx = transforms(x, window, step, nfft, detrend, onesided)
    if y is None:
        power = np.real(fx) ** 2 + np.imag(fx) ** 2
    else:
        power = np.conj(fx) * transforms(y, window, step, nfft, detrend, onesided)
    power = power * scale_of(window, fs, scaling)
    if onesided:
        power = power * both_signs(nfft).astype(np.finfo(kind).dtype)
    return frequencies(nfft, fs, onesided), power


# -- numbers of several precisions ---------------------------------------------------------------------------


def _digits(x):
    return np.finfo(np.result_type(x, np.float16)).eps


def _is_shorter(power, *given):
    """Whether some of what a spectrum is of has fewer digits than the spectrum. SciPy then rounds what it
    computes of that alone; where it does depends on its version, and so the value is its own.
    """
    return any(_digits(x) > _digits(power) for x in given if isinstance(x, np.ndarray))


def _as_scipy(function, *args):
    return function(*args)[-1]


TABLE.non_differentiable(_is_shorter, _as_scipy)


def _valued(function, given, found):
    """A spectrum with its own derivative, and the value of SciPy's function where that rounds on the way."""
    return as_given(_as_scipy(function, *given), found) if _is_shorter(found, *given) else found


# -- mean squares --------------------------------------------------------------------------------------------


def _bias_of_median(n):
    """What the median of squares is of their mean (Allen et al. 2012, appendix B)."""
    even = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return float(1 + np.sum(1.0 / (even + 1) - 1.0 / even))


TABLE.non_differentiable(_bias_of_median)


def averaged(power, average):
    """Over the parts, in the axis before the last."""
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median":
        raise ValueError(f"average must be 'median' or 'mean', got {average!r}")
    count = np.shape(power)[-2]
    if np.iscomplexobj(power):
        return (np.median(np.real(power), axis=-2) + 1j * np.median(np.imag(power), axis=-2)) / (
            _bias_of_median(count)
        )
    return np.median(power, axis=-2) / _bias_of_median(count)


def _check_lengths(name, x, y):
    if np.size(x) == 0 or np.size(y) == 0:
        refuse(f"scipy.signal.{name} of an empty sequence is not differentiated")
    if np.shape(x)[-1] != np.shape(y)[-1]:
        refuse(f"scipy.signal.{name} of sequences of different lengths is not differentiated",
               "pad the shorter one with zeros")
    if np.iscomplexobj(x) != np.iscomplexobj(y):
        refuse(f"scipy.signal.{name} of a real and a complex sequence is not differentiated",
               "make both complex: x + 0j")


TABLE.non_differentiable(_check_lengths)


@TABLE.stands_in(signal.periodogram)
def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density",
    axis=-1,
):  # fmt: skip
    given = (x, fs, window, nfft, detrend, return_onesided, scaling, axis)
    x = to_end(np.asarray(x), axis)
    _check_lengths("periodogram", x, x)
    if nfft is not None and nfft < np.shape(x)[-1]:
        x, nfft = x[..., :nfft], None
    n = np.shape(x)[-1]
    window = "boxcar" if window is None else window
    onesided = return_onesided and not np.iscomplexobj(x)
    f, power = products(x, None, fs, window, n, 0, nfft, detrend, onesided, scaling)
    power = from_end(power[..., 0, :], axis)
    return f, _valued(signal.periodogram, given, power)


@TABLE.stands_in(signal.welch)
def welch(
    x, fs=1.0, window=_WINDOW["welch"], nperseg=None, noverlap=None, nfft=None,
    detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    given = (x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    x = to_end(np.asarray(x), axis)
    _check_lengths("welch", x, x)
    onesided = return_onesided and not np.iscomplexobj(x)
    f, power = products(x, None, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling)
    power = from_end(averaged(power, average), axis)
    return f, _valued(signal.welch, given, power)


@TABLE.stands_in(signal.csd)
def csd(
    x, y, fs=1.0, window=_WINDOW["csd"], nperseg=None, noverlap=None, nfft=None,
    detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    given = (x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    x, y = to_end(np.asarray(x), axis), to_end(np.asarray(y), axis)
    _check_lengths("csd", x, y)
    onesided = return_onesided and not np.iscomplexobj(x)
    f, power = products(x, y, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling)
    power = from_end(averaged(power, average), axis)
    return f, _valued(signal.csd, given, power)


@TABLE.stands_in(signal.coherence)
def coherence(
    x, y, fs=1.0, window=_WINDOW["coherence"], nperseg=None, noverlap=None, nfft=None,
    detrend="constant", axis=-1,
):  # fmt: skip
    words = {"window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "detrend": detrend}
    x, y = np.asarray(x), np.asarray(y)
    given = (x, y, fs, *words.values(), axis)
    x, y = as_precise(x, y), as_precise(y, x)
    f, of_x = signal.welch(x, fs, axis=axis, **words)
    of_y = signal.welch(y, fs, axis=axis, **words)[1]
    of_both = signal.csd(x, y, fs, axis=axis, **words)[1]
    found = (np.real(of_both) ** 2 + np.imag(of_both) ** 2) / of_x / of_y
    return f, _valued(signal.coherence, given, found)


# -- along time ----------------------------------------------------------------------------------------------


def _time(n, size, step):
    """The middle of each part."""
    return size / 2 + step * np.arange((n - size) // step + 1)


TABLE.non_differentiable(_time)


def _parts_last(values, axis):
    """With the parts in the last axis, and the frequencies where the numbers were."""
    values = np.swapaxes(values, -1, -2)
    return values if axis in (-1, np.ndim(values) - 2) else np.moveaxis(values, -2, axis - (axis < 0))


@TABLE.stands_in(signal.spectrogram)
def spectrogram(
    x, fs=1.0, window=_WINDOW["spectrogram"], nperseg=None, noverlap=None, nfft=None,
    detrend="constant", return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    if mode not in ("psd", "complex", "magnitude"):
        refuse(f"scipy.signal.spectrogram with mode={mode!r} is not differentiated",
               "use mode='complex', and np.angle")
    given = (x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, mode)
    x = to_end(np.asarray(x), axis)
    _check_lengths("spectrogram", x, x)
    onesided = return_onesided and not np.iscomplexobj(x)
    window = _window_of(window, nperseg, np.shape(x)[-1], np.finfo(np.result_type(x, np.float32)).dtype)
    size = len(window)
    noverlap = size // 8 if noverlap is None else noverlap
    step, count = _steps(size, noverlap, nfft)
    time = _time(np.shape(x)[-1], size, step) / fs
    if mode == "psd":
        f, power = products(x, None, fs, window, size, noverlap, nfft, detrend, onesided, scaling)
    else:
        f, scale = frequencies(count, fs, onesided), np.sqrt(scale_of(window, fs, scaling))
        power = transforms(x, window, step, count, detrend, onesided) * scale
    power = _parts_last(np.abs(power) if mode == "magnitude" else power, axis)
    return f, time, _valued(signal.spectrogram, given, power)


@TABLE.stands_in(signal.stft)
def stft(
    x, fs=1.0, window=_WINDOW["stft"], nperseg=256, noverlap=None, nfft=None, detrend=False,
    return_onesided=True, boundary="zeros", padded=True, axis=-1, scaling="spectrum",
):  # fmt: skip
    given = (
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling,
    )  # fmt: skip
    x = to_end(np.asarray(x), axis)
    _check_lengths("stft", x, x)
    onesided = return_onesided and not np.iscomplexobj(x)
    window = _window_of(window, nperseg, np.shape(x)[-1], np.finfo(np.result_type(x, np.float32)).dtype)
    size = len(window)
    step, count = _steps(size, noverlap, nfft)
    x = _beyond(x, size // 2, boundary)
    if padded:
        x = _behind(x, (-(np.shape(x)[-1] - size) % step) % size)
    scale = np.sqrt(scale_of(window, fs, "density" if scaling == "psd" else scaling))
    time = _time(np.shape(x)[-1], size, step)
    if boundary is not None:
        time = time - size / 2
    found = _parts_last(transforms(x, window, step, count, detrend, onesided) * scale, axis)
    return frequencies(count, fs, onesided), time / fs, _valued(signal.stft, given, found)


def _behind(x, count):
    return np.concatenate([x, np.zeros((*np.shape(x)[:-1], count), x.dtype)], axis=-1)


def _beyond(x, edge, boundary):
    """A sequence continued at both ends."""
    if boundary is None:
        return x
    if boundary == "zeros":
        none = np.zeros((*np.shape(x)[:-1], edge), x.dtype)
        return np.concatenate([none, x, none], axis=-1)
    if boundary not in ("even", "odd", "constant"):
        raise ValueError(f"Unknown boundary option {boundary!r}")
    return extended(x, edge, boundary)
