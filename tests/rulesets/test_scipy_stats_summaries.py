"""Functions of `scipy.stats` that summarise data: means, moments, scores, distances."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402

RNG = np.random.default_rng(0)
A, B, W = (RNG.uniform(0.5, 2.0, (5, 3)) for _ in range(3))

CALLS = {
    "gmean": (lambda a: stats.gmean(a), A),
    "gmean of rows": (lambda a: stats.gmean(a, axis=1, keepdims=True), A),
    "gmean of all": (lambda a: stats.gmean(a, axis=None), A),
    "gmean with weights": (lambda a: stats.gmean(a, weights=W), A),
    "gmean by its weights": (lambda w: stats.gmean(B, weights=w), A),
    "hmean": (lambda a: stats.hmean(a, weights=W), A),
    "pmean": (lambda a: stats.pmean(a, 2), A),
    "pmean of power 0": (lambda a: stats.pmean(a, 0), A),
    "pmean by its power": (lambda p: stats.pmean(B, p), 1.5),
    "trim_mean": (lambda a: stats.trim_mean(a, 0.2), A),
    "trim_mean of all": (lambda a: stats.trim_mean(a, 0.2, axis=None), A),
    "moment": (lambda a: stats.moment(a, 3), A),
    "moment of order 1": (lambda a: stats.moment(a, 1), A),
    "moment from a centre": (lambda a: stats.moment(a, 3, center=0.3), A),
    "skew": (lambda a: stats.skew(a), A),
    "skew without bias": (lambda a: stats.skew(a, bias=False, axis=None), A),
    "kurtosis": (lambda a: stats.kurtosis(a), A),
    "kurtosis without bias": (lambda a: stats.kurtosis(a, bias=False, fisher=False), A),
    "sem": (lambda a: stats.sem(a), A),
    "variation": (lambda a: stats.variation(a, ddof=1), A),
    "zscore": (lambda a: stats.zscore(a), A),
    "zmap": (lambda a: stats.zmap(a, B), A),
    "zmap by what is compared": (lambda a: stats.zmap(B, a, axis=None), A),
    "gzscore": (lambda a: stats.gzscore(a), A),
    "gstd": (lambda a: stats.gstd(a), A),
    "iqr": (lambda a: stats.iqr(a), A),
    "iqr in units": (lambda a: stats.iqr(a, axis=0, scale="normal"), A),
    "median_abs_deviation": (lambda a: stats.median_abs_deviation(a, scale="normal", axis=None), A),
    "entropy": (lambda a: stats.entropy(a), A),
    "entropy against another": (lambda a: stats.entropy(a, B, base=2), A),
    "entropy by the other": (lambda a: stats.entropy(B, a, axis=1), A),
    "wasserstein_distance": (lambda a: stats.wasserstein_distance(a[:, 0], B[:4, 1]), A),
    "energy_distance": (lambda a: stats.energy_distance(a[:, 0], B[:4, 1]), A),
    "boxcox": (lambda a: stats.boxcox(a[:, 0], 0.3), A),
    "boxcox by its power": (lambda power: stats.boxcox(B[:, 0], power), 0.3),
    "boxcox_llf": (lambda a: stats.boxcox_llf(0.3, a), A),
    "boxcox_llf by its power": (lambda power: stats.boxcox_llf(power, B[:, 0]), 0.3),
}


def weighted(f, x):
    """The sum of a result with weights that are not alike."""
    weights = np.cos(np.arange(np.size(f(x))) + 1.0).reshape(np.shape(f(x)))
    return lambda x: np.sum(weights * f(x))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", CALLS)
def test_slopes_in_both_modes(name):
    """What the values of SciPy's function show; and its value, bit by bit."""
    f, x = CALLS[name]
    f = weighted(f, x)
    y, (bar,) = rl.withgradient(f, x)
    assert y == f(x)
    step = 1e-5
    for k, dot in enumerate(np.eye(np.size(x)).reshape(-1, *np.shape(x))[:7]):
        dot = dot[()] if np.ndim(x) else 1.0
        slope = (f(x + step * dot) - f(x - step * dot)) / (2 * step)
        assert np.sum(bar * dot) == pytest.approx(slope, rel=1e-6, abs=1e-8), k
        if k < 2:
            assert rl.pushforward(f, x)(dot) == pytest.approx(np.sum(bar * dot), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: stats.gmean(a, nan_policy="omit")[0],
        lambda a: stats.wasserstein_distance(a[:, 0], a[:, 1], a[:, 2]),
        lambda a: stats.boxcox(a[:, 0])[1],
        lambda a: stats.median_abs_deviation(a, center=np.mean)[0],
    ],
)
def test_options_that_are_not_followed_are_refused(f):
    """By a typed error, not by a number of another function."""
    with pytest.raises(NotDifferentiableError, match=r"scipy\.stats"):
        rl.gradient(f, A)


def test_ranks_are_constant():
    """A gradient by what is ranked alone is None."""
    assert rl.gradient(lambda a: np.sum(stats.rankdata(a) * 2.0), A[0])[0] is None


def test_constant_data_have_no_skewness():
    """NaN, as in SciPy, and so is the slope."""
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        assert np.all(np.isnan(rl.gradient(lambda a: stats.skew(a), np.ones(4))[0]))
