"""The filter of Savitzky and Golay, other rates by filters, and states before a filter of `scipy.signal`."""

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
X, ROWS, W = RNG.normal(size=12), RNG.normal(size=(3, 14)), RNG.normal(size=21)
LONG, APART = RNG.normal(size=60), RNG.permutation(np.linspace(-1.0, 1.0, 12))


def smoothed(*sizes, **words):
    return lambda x: signal.savgol_filter(x, *sizes, **words)


def at_rate(up, down, **words):
    return lambda x: signal.resample_poly(x, up, down, **words)


CALLS = [
    call("savgol_filter", smoothed(5, 2), X),
    *[
        call(f"savgol_filter {size} {mode} {deriv}", smoothed(size, 3, deriv, mode=mode), X)
        for size in (5, 6, 12)
        for mode in ("interp", "mirror", "nearest", "wrap", "constant")
        for deriv in (0, 1)
    ],
    call("savgol_filter step", lambda x, delta: signal.savgol_filter(x, 5, 2, 1, delta), X, 0.7),
    call("savgol_filter far", smoothed(9, 2, mode="mirror"), X[:4]),
    call(
        "savgol_filter beyond",
        lambda x, cval: signal.savgol_filter(x, 5, 2, mode="constant", cval=cval),
        X,
        0.7,
    ),
    call("savgol_filter columns", smoothed(5, 2, axis=0), ROWS.T),
    call("savgol_filter rows", smoothed(5, 2), ROWS),
    call("savgol_filter short", smoothed(5, 2), X.astype(np.float32)),
    call("savgol_filter strided", smoothed(3, 1), LONG[::5]),
    call("savgol_filter too high", smoothed(5, 2, 3), X),
    call("savgol_coeffs", lambda delta: signal.savgol_coeffs(7, 3, 2, delta), 0.7),
    call("savgol_coeffs place", lambda delta, pos: signal.savgol_coeffs(7, 3, 1, delta, pos), 0.7, 2.3),
    call("savgol_coeffs dot", lambda pos: signal.savgol_coeffs(6, 2, pos=pos, use="dot"), 2.3),
    call("resample_poly", given(signal.resample_poly, up=3, down=2), X),
    *[
        call(f"resample_poly {up} {down} {kind}", at_rate(up, down, padtype=kind), APART)
        for up, down in ((1, 3), (4, 2), (5, 7))
        for kind in ("constant", "mean", "median", "minimum", "maximum")
    ],
    call("resample_poly filter", lambda x, w: signal.resample_poly(x, 3, 4, window=w), X, W),
    call("resample_poly rows", given(signal.resample_poly, up=2, down=3, axis=1), ROWS),
    call("resample_poly same", given(signal.resample_poly, up=2, down=2), X),
    call("resample_poly complex", given(signal.resample_poly, up=2, down=3, window="hamming"), X + 1j),
    call("resample_poly short", given(signal.resample_poly, up=2, down=3), X.astype(np.float32)),
    call("decimate", given(signal.decimate, q=2), LONG),
    call("decimate at once", given(signal.decimate, q=3, n=3, zero_phase=False), X),
    call("decimate fir", given(signal.decimate, q=2, ftype="fir", axis=0), ROWS.T),
    call("decimate fir at once", given(signal.decimate, q=2, n=6, ftype="fir", zero_phase=False), ROWS),
    call("decimate short", given(signal.decimate, q=2, ftype="fir"), X.astype(np.float32)),
    call("lfiltic", signal.lfiltic, W[:3], W[4:8], X[:3]),
    call("lfiltic complex numerator", signal.lfiltic, W[:3] + 1j, W[4:8], X[:3]),
    call("lfiltic both", signal.lfiltic, W[:5], W[4:7], X[:2], X[3:9]),
    call("lfiltic few", signal.lfiltic, W[:2], W[4:8], X[:2], X[3:4]),
    call("lfiltic long", signal.lfiltic, W[:5], W[4:6], X, X),
]

WRONG = [
    ("savgol_filter", "_at_the_ends", lambda n, order, deriv, kind: (np.ones((2, 5)), np.ones((2, 5)))),
    ("savgol_filter", "_in_the_middle", lambda n, order, deriv, kind: np.arange(5.0)),
    ("savgol_filter step", "_in_the_middle", lambda n, order, deriv, kind: np.arange(5.0)),
    ("resample_poly", "_spans", lambda taps, n, up, down: (0, 0, 0, 18)),
    ("lfiltic", "_summed", lambda c, past, count: np.zeros(count)),
]


def test_what_is_not_covered_is_refused():
    """Other ends, other filters, what SciPy makes real."""
    with pytest.raises(NotDifferentiableError, match="padtype"):
        rl.gradient(lambda x: np.sum(signal.resample_poly(x, 2, 3, padtype="line")), X)
    with pytest.raises(NotDifferentiableError, match="complex"):
        rl.gradient(lambda x: np.sum(signal.savgol_filter(x + 1j, 5, 2)), X)
    with pytest.raises(NotDifferentiableError, match="ftype"):
        rl.gradient(lambda x: np.sum(signal.decimate(x, 2, ftype=signal.dlti([1.0], [1.0, 0.5]))), LONG)


@pytest.mark.parametrize(
    "f",
    [
        lambda c: signal.savgol_filter(X, 5, 2, mode="constant", cval=c),
        lambda c: signal.savgol_filter(X, 5, 2, 1, c),
        lambda c: signal.savgol_coeffs(7, 3, 1, c),
        lambda c: signal.savgol_coeffs(7, 3, 1, pos=c),
    ],
)
def test_an_imaginary_part_that_scipy_drops_is_refused(f):
    """It makes real numbers of NumPy's complex ones, in silence: a complex slope would be another's."""
    number = np.complex128(1.3 + 0.2j)
    for ask in (lambda: rl.gradient(lambda c: np.sum(f(c)), number), lambda: rl.pushforward(f, number)(1.0)):
        with pytest.raises(NotDifferentiableError, match="parts are dropped"):
            ask()


def test_errors_are_those_of_scipy():
    """Windows that are none."""
    with pytest.raises(ValueError, match="polyorder"):
        rl.gradient(lambda x: np.sum(signal.savgol_filter(x, 3, 3)), X)
    with pytest.raises(ValueError, match="less than or equal"):
        rl.gradient(lambda x: np.sum(signal.savgol_filter(x, 13, 3)), X)
    with pytest.raises(ValueError, match=">= 1"):
        rl.gradient(lambda x: np.sum(signal.resample_poly(x, 0, 3)), X)


@pytest.mark.parametrize("mode", ["mirror", "nearest", "wrap"])
@pytest.mark.parametrize("x", [np.array([0.1]), np.full(4, 0.1)], ids=len)
def test_what_cancels_has_the_value_of_scipy(mode, x):
    """A constant has no slope: what is left is rounded, and its last digits are SciPy's."""

    def f(x):
        return signal.savgol_filter(x, 5, 2, 1, mode=mode)

    y, back = rl.pullback(f, x)
    assert np.array_equal(y, f(x))
    wanted = sum(f(e) for e in np.eye(len(x)))
    np.testing.assert_allclose(rl.pushforward(f, x)(np.ones(len(x))), wanted, atol=1e-15)
    weights = np.arange(1.0, 1.0 + len(x))
    np.testing.assert_allclose(back(weights)[0], [weights @ f(e) for e in np.eye(len(x))], atol=1e-15)


def test_a_long_sequence():
    """The cost of the gradient is that of the filter: no matrix is made."""
    slope = rl.gradient(lambda x: np.sum(signal.savgol_filter(x, 5, 2)), np.ones(100_000))[0]
    assert slope[50_000] == pytest.approx(1.0)
