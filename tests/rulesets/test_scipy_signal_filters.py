"""Filters of `scipy.signal`, by their coefficients, what is filtered and the states at both ends."""

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
from rulelab.rulesets import scipy_signal_filters as rules  # noqa: E402

PRODUCTS = rules.delayed_products
RNG = np.random.default_rng(0)
B, A = np.array([0.2, 0.4, -0.1]), np.array([1.5, -0.6, 0.3, 0.1])
LONG, SHORT = RNG.normal(size=4), np.array([2.0, -0.5])
X, ROWS, STATE = RNG.normal(size=12), RNG.normal(size=(3, 9)), RNG.normal(size=3)
FAR, FAR_ROWS = RNG.normal(size=30), RNG.normal(size=(2, 30))
SECTIONS = np.delete(signal.butter(3, 0.3, output="sos"), 3, 1) + 0.01 * np.arange(10.0).reshape(2, 5)


def with_ones(sections):
    """Sections from what may vary of them."""
    return np.concatenate([sections[:, :3], np.ones((2, 1)), sections[:, 3:]], axis=1)


def by_sections(f, **words):
    return lambda sections, x: f(with_ones(sections), x, **words)


def from_state(**words):
    return lambda b, a, x, zi: signal.lfilter(b, a, x, zi=zi, **words)


def sections_from_state(**words):
    return lambda sections, x, zi: signal.sosfilt(with_ones(sections), x, zi=zi, **words)


CALLS = [
    call("lfilter", signal.lfilter, B, A, X),
    call("lfilter long numerator", signal.lfilter, LONG, SHORT, X),
    call("lfilter without recursion", lambda b, x: signal.lfilter(b, [2.0], x), LONG, X),
    call("lfilter by a number", signal.lfilter, LONG, 2.0, X),
    call("lfilter columns", given(signal.lfilter, axis=0), B, A, ROWS.T),
    call("lfilter rows", signal.lfilter, B, A, ROWS),
    call("lfilter state", from_state(), B, A, X, STATE),
    call("lfilter states", from_state(axis=0), B, A, ROWS.T, RNG.normal(size=(3, 3))),
    call("lfilter one state", from_state(axis=-1), B, A, ROWS, STATE[None]),
    call("lfilter longer state", from_state(), B, A, X[:2], STATE),
    call("lfilter state of a long numerator", from_state(), LONG, SHORT, X, STATE),
    call(
        "lfilter state without recursion", lambda b, x, z: signal.lfilter(b, [2.0], x, zi=z), LONG, X, STATE
    ),
    call("lfilter complex", from_state(), B + 0.1j, A - 0.2j, X, STATE + 1j),
    call("lfilter complex by real", signal.lfilter, B, A, X + 1j * X[::-1]),
    call("lfilter short", signal.lfilter, B.astype(np.float32), A.astype(np.float32), X.astype(np.float32)),
    call("lfilter strided", signal.lfilter, B[::-1], A, X[::2]),
    call("lfilter lists", lambda x: signal.lfilter([1.0, x], [1.0, -x / 2], [x, 1.0, 2.0]), 0.7),
    call("lfilter_zi", signal.lfilter_zi, B, A),
    call("lfilter_zi long numerator", signal.lfilter_zi, LONG, SHORT),
    call("sosfilt", by_sections(signal.sosfilt), SECTIONS, X),
    call("sosfilt state", sections_from_state(), SECTIONS, X, RNG.normal(size=(2, 2))),
    call("sosfilt states", sections_from_state(axis=0), SECTIONS, ROWS.T, RNG.normal(size=(2, 2, 3))),
    call("sosfilt_zi", lambda sections: signal.sosfilt_zi(with_ones(sections)), SECTIONS),
    call("sosfiltfilt", by_sections(signal.sosfiltfilt), SECTIONS, FAR),
    call("sosfiltfilt even", by_sections(signal.sosfiltfilt, padtype="even", padlen=4), SECTIONS, FAR_ROWS),
    call("filtfilt", signal.filtfilt, B, A, FAR),
    call("filtfilt even", given(signal.filtfilt, padtype="even", axis=0), B, A, FAR_ROWS.T),
    call("filtfilt constant", given(signal.filtfilt, padtype="constant", padlen=5), LONG, SHORT, FAR_ROWS),
    call("filtfilt as it is", given(signal.filtfilt, padtype=None), B, A, FAR),
    call("freqz", lambda b, a: signal.freqz(b, a, 16)[1], B, A),
    call("freqz whole", lambda b: signal.freqz(b, worN=8, whole=True), LONG),
    call("freqz at", lambda b: signal.freqz(b, worN=[0.1, 0.5], fs=2.0), LONG + 1j),
    call(
        "freqz by frequency", lambda b, w, fs: signal.freqz(b, worN=w, fs=fs), LONG, np.array([0.1, 0.5]), 2.5
    ),
    call("freqz whole numbers", lambda w: signal.freqz([1, 2], [3, 1], w), np.array([0.1, 0.5])),
    call("freqz table", lambda b, a, w: signal.freqz(b, a, w), B, A, np.array([[0.1, 0.5], [0.2, 1.1]])),
    call("freqz one coefficient", lambda b, w: signal.freqz(b, 2, w), B, np.array([[0.1, 0.5], [0.2, 1.1]])),
    call("freqz by rate", lambda b, fs: signal.freqz(b, A, 5, fs=fs), LONG, 2.5),
]

WRONG = [
    ("lfilter", "delayed_products", lambda x, bar, count: PRODUCTS(x[..., ::-1], bar, count)),
    ("lfilter complex", "delayed_products", lambda x, bar, count: PRODUCTS(np.conj(x), bar, count)),
    ("lfilter state", "_at_start", lambda z, y: np.zeros_like(y)),
    ("lfilter rows", "by_numerator", lambda b, x: x),
    ("lfilter state", "_first", lambda bar, count: 2 * bar[..., :count]),
]


def test_what_is_not_covered_is_refused():
    """Gustafsson's ends, several filters at once."""
    with pytest.raises(NotDifferentiableError, match="gust"):
        rl.gradient(lambda b: np.sum(signal.filtfilt(b, A, FAR, method="gust")), B)
    with pytest.raises(NotDifferentiableError, match="freqz"):
        rl.gradient(lambda b: np.sum(np.abs(signal.freqz(b, worN=4)[1])), np.ones((2, 3)))


@pytest.mark.parametrize("count", [5, np.array([0.1, 0.5])])
def test_a_complex_rate_of_which_scipy_takes_the_real_part_is_refused(count):
    """The frequencies would be complex, and are not."""

    def f(fs):
        return signal.freqz([1.0, 2.0], [3.0, 1.0], count, fs=fs)

    rate = np.complex128(2.5 + 0.2j)
    for ask in (lambda: rl.pullback(f, rate), lambda: rl.pushforward(f, rate)(1.0)):
        with pytest.raises(NotDifferentiableError, match="parts are dropped"):
            ask()


def test_errors_are_those_of_scipy():
    """Sections that are none, and a sequence that is too short."""
    with pytest.raises(ValueError, match="sos"):
        rl.gradient(lambda x: np.sum(signal.sosfilt(2 * with_ones(SECTIONS), x)), X)
    with pytest.raises(ValueError, match="padlen"):
        rl.gradient(lambda x: np.sum(signal.filtfilt(B, A, x)), X[:5])


def test_a_long_sequence():
    """The cost of the gradient is that of the filter: no matrix is made."""
    slope = rl.gradient(lambda a: np.sum(signal.lfilter([1.0], [1.0, a], np.ones(100_000))), -0.5)[0]
    assert slope == pytest.approx(-400_000, rel=1e-3)


def test_short_coefficients_beside_what_is_precise():
    """SciPy computes in the most precise kind of its arguments, and so do the states and the slopes."""
    b, a, zi = np.array([0.2, 0.4, -0.1]), np.array([1.5, -0.6, 0.3], np.float32), np.array([0.3, -0.2])
    x = np.linspace(0.3, 2.0, 6) ** 2
    # Before 1.18 SciPy divides by a[0] in the kind of `a` for a steady state: there what is wide is compared.
    steady = (lambda a: signal.lfilter_zi(b, a), a.astype(float))
    for f, like in ((lambda a: signal.lfilter(b, a, x, zi=zi)[1], a), steady):
        y, back = rl.pullback(f, a)
        bar = np.array([1.0, -2.0])
        (wide,) = rl.pullback(f, a.astype(float))[1](bar)
        (found,) = back(bar)
        np.testing.assert_allclose(y, f(like), rtol=1e-13)
        np.testing.assert_allclose(found, wide, rtol=1e-5)
        assert found.dtype == np.float32
        np.testing.assert_allclose(rl.pushforward(f, a)(np.ones_like(a)) @ bar, np.sum(wide), rtol=1e-5)
