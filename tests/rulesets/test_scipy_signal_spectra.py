"""Spectra of `scipy.signal`."""

import numpy as np
import pytest

signal = pytest.importorskip("scipy.signal")

from library_calls import call, given  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402

pytestmark = pytest.mark.slow_file  # filters and convolutions stand for them in the suite

RNG = np.random.default_rng(0)
X, Y, ROWS = RNG.normal(size=25), RNG.normal(size=25), RNG.normal(size=(3, 20))
W = np.arange(1.0, 9.0)


def of_parts(f, **words):
    return given(f, nperseg=8, **words)


CALLS = [
    call("periodogram", signal.periodogram, X),
    call("periodogram longer", given(signal.periodogram, nfft=32, scaling="spectrum"), X),
    call("periodogram cut", given(signal.periodogram, nfft=16, window="hann"), X),
    call("periodogram window", lambda x, w, fs: signal.periodogram(x, fs, w), X[:8], W, 2.5),
    call("periodogram complex", given(signal.periodogram, detrend="linear"), X + 1j * Y),
    call("periodogram columns", given(signal.periodogram, detrend=False, axis=0), ROWS.T),
    call("periodogram both sides", given(signal.periodogram, return_onesided=False), X),
    call("periodogram short", signal.periodogram, X.astype(np.float32)),
    call("welch", of_parts(signal.welch), X),
    call("welch median", of_parts(signal.welch, average="median", noverlap=2), X),
    call("welch window", lambda x, w, fs: signal.welch(x, fs, w, scaling="spectrum"), X, W, 2.5),
    call("welch complex", of_parts(signal.welch, nfft=11), X + 1j * Y),
    call("welch middle axis", of_parts(signal.welch, axis=1), RNG.normal(size=(2, 17, 3))),
    call("welch short", of_parts(signal.welch), X.astype(np.float32)),
    call("welch strided", of_parts(signal.welch, window="boxcar"), X[::2]),
    call("csd", of_parts(signal.csd), X, Y),
    call("csd median", of_parts(signal.csd, average="median", nfft=9), X, Y),
    call("csd complex", of_parts(signal.csd, detrend="linear"), X + 1j * Y, Y - 1j),
    call("csd rows", of_parts(signal.csd), ROWS, ROWS[:1]),
    call("coherence", of_parts(signal.coherence), X, Y),
    call("coherence columns", of_parts(signal.coherence, axis=0, window="hamming"), ROWS.T, ROWS.T[::-1]),
    call("spectrogram", of_parts(signal.spectrogram), X),
    call("spectrogram complex", of_parts(signal.spectrogram, mode="complex", noverlap=3), X + 1j * Y),
    call("spectrogram magnitude", of_parts(signal.spectrogram, mode="magnitude", nfft=10), X),
    call("spectrogram columns", of_parts(signal.spectrogram, axis=0), ROWS.T),
    call("spectrogram rate", lambda x, fs: signal.spectrogram(x, fs, nperseg=8), X, 2.5),
    call("stft", of_parts(signal.stft), X),
    *[
        call(f"stft {ends}", of_parts(signal.stft, boundary=ends, padded=False, scaling="psd"), X)
        for ends in (None, "even", "odd", "constant")
    ],
    call("stft columns", of_parts(signal.stft, axis=0, detrend="constant", noverlap=5), ROWS.T),
    call("stft complex", of_parts(signal.stft, window="hamming"), X + 1j * Y),
    call("stft window", lambda x, w, fs: signal.stft(x, fs, w, nperseg=8), X, W, 2.5),
]

WRONG = [
    ("welch", "both_signs", lambda nfft: np.ones(nfft // 2 + 1)),
    ("csd", "transforms", lambda x, *words: np.ones((5, 5)) + 0j),
    ("welch median", "_bias_of_median", lambda n: 1.0),
    ("stft", "scale_of", lambda window, fs, scaling: 1.0),
    ("spectrogram", "_steps", lambda size, noverlap, nfft: (size, size)),
]


@pytest.mark.parametrize(
    "f, word",
    [
        (lambda x: signal.welch(x, nperseg=8, detrend=lambda d: d - 1.0)[1], "detrend"),
        (lambda x: signal.spectrogram(x, nperseg=8, mode="phase")[2], "mode"),
        (lambda x: signal.csd(x, Y + 1j, nperseg=8)[1], "real and a complex"),
        (lambda x: signal.csd(x, Y[:20], nperseg=8)[1], "as long"),
    ],
)
def test_what_is_not_covered_is_refused(f, word):
    """In both modes, by a typed error that names it."""
    with pytest.raises(NotDifferentiableError, match=word):
        rl.gradient(lambda x: np.sum(np.abs(f(x))), X)
    with pytest.raises(NotDifferentiableError, match=word):
        rl.pushforward(f, X)(Y)


@pytest.mark.parametrize("f", [signal.welch, signal.spectrogram, signal.stft])
def test_a_rate_of_numpys_makes_nothing_longer(f):
    """A spectrum has the precision of the sequence; a scalar of NumPy's would lengthen it."""
    short, rate = X.astype(np.float32), np.float64(2.0)
    (*_, power), back = rl.pullback(lambda x: f(x, rate, nperseg=8), short)
    assert power.dtype == f(short, rate, nperseg=8)[-1].dtype
    assert rl.gradient(lambda x: np.sum(np.abs(f(x, rate, nperseg=8)[-1])), short)[0].dtype == np.float32


@pytest.mark.first(7)
@pytest.mark.parametrize(
    "f, args",
    [
        (lambda x, w: signal.periodogram(x, 2.5, w), (X[:8], W)),
        (lambda x, w: signal.welch(x, 2.5, w), (X, W)),
        (lambda x, y: signal.csd(x, y, nperseg=8), (X, Y)),
        (lambda x, y: signal.csd(x, y, nperseg=8), (ROWS, ROWS[:1])),
        (lambda x, y: signal.coherence(x, y, nperseg=8), (X, Y)),
        (lambda x, w: signal.spectrogram(x, 2.5, w, mode="complex")[::2], (X, W)),
        (lambda x, w: signal.stft(x, 2.5, w, 8)[::2], (X, W)),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_a_short_array_beside_one_of_doubles(f, args, place, kind):
    """SciPy rounds what it computes of the short one; the value is its own, the slope that of the formula."""
    mixed = tuple(x.astype(kind) if i == place else x for i, x in enumerate(args))
    y, back = rl.pullback(f, *mixed)
    given = f(*mixed)[1]
    assert y[1].dtype == given.dtype
    if np.finfo(given.dtype).eps < np.finfo(kind).eps:
        assert np.array_equal(y[1], given)
    wide = tuple(x.astype(float) for x in mixed)
    y_bar = np.cos(np.arange(given.size)).reshape(given.shape).astype(given.dtype)
    wanted = rl.pullback(f, *wide)[1]((None, y_bar.astype(np.result_type(given, float))))
    for x, found, bar in zip(mixed, back((None, y_bar)), wanted, strict=True):
        assert found.dtype == x.dtype
        within = 20 * max(np.finfo(x.dtype).eps, np.finfo(given.dtype).eps) * np.max(np.abs(bar))
        np.testing.assert_allclose(found, bar, atol=within)


def test_errors_are_those_of_scipy():
    """Parts that lie on each other, and too few frequencies."""
    with pytest.raises(ValueError, match="noverlap"):
        rl.gradient(lambda x: np.sum(signal.welch(x, nperseg=8, noverlap=8)[1]), X)
    with pytest.raises(ValueError, match="nfft"):
        rl.gradient(lambda x: np.sum(signal.welch(x, nperseg=8, nfft=4)[1]), X)
