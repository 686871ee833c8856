"""Trends, analytic signals and other rates of `scipy.signal`."""

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

RNG = np.random.default_rng(0)
X, ROWS, W = RNG.normal(size=12), RNG.normal(size=(3, 9)), RNG.normal(size=4)

CALLS = [
    call("detrend", signal.detrend, X),
    *[
        call(f"detrend {kind} {bp}", given(signal.detrend, type=kind, bp=bp), X)
        for kind in ("linear", "constant")
        for bp in (0, [4])
    ],
    call("detrend columns", given(signal.detrend, axis=0), ROWS),
    call("detrend complex", signal.detrend, X + 1j * X[::-1] ** 2),
    call("detrend short", signal.detrend, X.astype(np.float32)),
    call("hilbert", signal.hilbert, X),
    call("hilbert 7", given(signal.hilbert, N=7), X),
    call("hilbert 16", given(signal.hilbert, N=16), X),
    call("hilbert columns", given(signal.hilbert, axis=0), ROWS),
    call("resample", given(signal.resample, num=5), X),
    *[
        call(
            f"resample {n} {m} {kind}",
            given(signal.resample, num=m),
            RNG.normal(size=n) * (1 if kind == "real" else 1 - 2j),
        )
        for n in (8, 9)
        for m in (4, 5, 8, 9, 11, 12)
        for kind in ("real", "complex")
    ],
    call("resample window", given(signal.resample, num=5, window="hamming"), X),
    call("resample window complex", given(signal.resample, num=14, window=("kaiser", 3.0)), X + 1j * X[::-1]),
    call("resample function", given(signal.resample, num=7, window=lambda f: np.exp(-(f**2))), X),
    call("resample weights", lambda x, w: signal.resample(x, 7, window=w), X, np.arange(12.0)),
    call(
        "resample complex weights",
        lambda x, w: signal.resample(x, 7, window=w),
        X,
        np.arange(12.0) * (1 + 0.25j),
    ),
    call("resample times", lambda x, t: signal.resample(x, 7, t), X, np.arange(12.0) * 0.5),
    call("resample rows", given(signal.resample, num=5, axis=1), ROWS),
    call("resample short", given(signal.resample, num=5), X.astype(np.float32)),
    call("upfirdn", given(signal.upfirdn, up=3, down=2), W, X),
    call("upfirdn columns", given(signal.upfirdn, up=2, axis=0), W, ROWS),
    call("upfirdn complex", given(signal.upfirdn, down=3), W + 1j, X),
]

WRONG = [
    ("hilbert", "_one_sided", lambda n, dtype: np.ones(n, dtype)),
    ("resample 8 12 real", "_at_the_end", lambda m, n, num, dtype: np.ones(m // 2 + 1)),
    ("detrend", "dense", lambda x, x_dot: 2 * x_dot),
]


def test_whole_numbers_become_floats():
    """As SciPy's do; the kernel is of them, or the sequence, or both."""
    whole = np.array([3, 2, 5])
    y, _ = rl.pullback(lambda h, x: signal.upfirdn(h, x, 2), whole, whole)
    assert y.dtype == signal.upfirdn(whole, whole, 2).dtype == float
    (of_x,) = rl.gradient(lambda x: signal.upfirdn(whole, x, 2)[1], X)
    assert of_x[0] == 2.0


def test_what_is_not_covered_is_refused():
    """Spectra in the place of sequences, and other ends."""
    with pytest.raises(NotDifferentiableError, match="domain"):
        rl.gradient(lambda x: np.sum(np.abs(signal.resample(x, 5, domain="freq"))), X)
    with pytest.raises(NotDifferentiableError, match="mode"):
        rl.gradient(lambda x: np.sum(signal.upfirdn(W, x, mode="wrap")), X)
