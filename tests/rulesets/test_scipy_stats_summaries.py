"""Functions of `scipy.stats` that summarise data: means, moments, scores, distances."""

import re

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402

RNG = np.random.default_rng(0)
A, B, W = (RNG.uniform(0.5, 2.0, (5, 3)) for _ in range(3))
APART = RNG.permutation(np.cumsum(RNG.uniform(0.3, 0.9, 15))).reshape(5, 3)  # no small step orders it anew

CALLS = [
    call("gmean", lambda a: stats.gmean(a), A),
    call("gmean of rows", lambda a: stats.gmean(a, axis=1, keepdims=True), A),
    call("gmean of all", lambda a: stats.gmean(a, axis=None), A),
    call("gmean with weights", lambda a: stats.gmean(a, weights=W), A),
    call("gmean by its weights", lambda w: stats.gmean(B, weights=w), A),
    call("hmean", lambda a: stats.hmean(a, weights=W), A),
    call("pmean", lambda a: stats.pmean(a, 2), A),
    call("pmean of power 0", lambda a: stats.pmean(a, 0), A),
    call("pmean by its power", lambda p: stats.pmean(B, p), 1.5),
    call("trim_mean", lambda a: stats.trim_mean(a, 0.2), APART),
    call("trim_mean of all", lambda a: stats.trim_mean(a, 0.2, axis=None), APART),
    call("moment", lambda a: stats.moment(a, 3), A),
    call("moment of order 1", lambda a: stats.moment(a, 1), A),
    call("moment from a centre", lambda a: stats.moment(a, 3, center=0.3), A),
    call("skew", lambda a: stats.skew(a), A),
    call("skew without bias", lambda a: stats.skew(a, bias=False, axis=None), A),
    call("kurtosis", lambda a: stats.kurtosis(a), A),
    call("kurtosis without bias", lambda a: stats.kurtosis(a, bias=False, fisher=False), A),
    call("sem", lambda a: stats.sem(a), A),
    call("variation", lambda a: stats.variation(a, ddof=1), A),
    call("zscore", lambda a: stats.zscore(a), A),
    call("zmap", lambda a: stats.zmap(a, B), A),
    call("zmap by what is compared", lambda a: stats.zmap(B, a, axis=None), A),
    call("gzscore", lambda a: stats.gzscore(a), A),
    call("gstd", lambda a: stats.gstd(a), A),
    call("iqr", lambda a: stats.iqr(a), APART),
    call("iqr in units", lambda a: stats.iqr(a, axis=0, scale="normal"), APART),
    call("median_abs_deviation", lambda a: stats.median_abs_deviation(a, scale="normal", axis=None), APART),
    call("entropy", lambda a: stats.entropy(a), A),
    call("entropy against another", lambda a: stats.entropy(a, B, base=2), A),
    call("entropy by the other", lambda a: stats.entropy(B, a, axis=1), A),
    call("wasserstein_distance", lambda a: stats.wasserstein_distance(a[:, 0], APART[:4, 1]), APART),
    call("energy_distance", lambda a: stats.energy_distance(a[:, 0], APART[:4, 1]), APART),
    call("boxcox", lambda a: stats.boxcox(a[:, 0], 0.3), A),
    call("boxcox by its power", lambda power: stats.boxcox(B[:, 0], power), 0.3),
    call("boxcox_llf", lambda a: stats.boxcox_llf(0.3, a), A),
    call("boxcox_llf by its power", lambda power: stats.boxcox_llf(power, B[:, 0]), 0.3),
]


@pytest.mark.every(3)
@pytest.mark.parametrize("one", CALLS, ids=str)
def test_the_value_is_scipys(one):
    """Bit by bit."""
    y, _ = rl.pullback(one.function, *one.args)
    np.testing.assert_array_equal(y, one.function(*one.args))


@pytest.mark.parametrize(
    ("f", "found"),
    [
        (lambda a: stats.gmean(a, nan_policy="omit")[0], "gmean with nan_policy='omit'"),
        (lambda a: stats.hmean(a, dtype=np.float64)[0], "hmean with dtype="),
        (lambda a: stats.moment(a[:, 0], [2, 3])[0], "moment with several orders"),
        (lambda a: stats.iqr(a, interpolation="lower"), "iqr with interpolation='lower'"),
        (lambda a: stats.energy_distance(a[:, 0], a[:, 1], a[:, 2]), "energy_distance with weights"),
        (lambda a: stats.boxcox(a[:, 0])[1], "boxcox without lmbda"),
        (
            lambda a: stats.median_abs_deviation(a, center=np.mean)[0],
            "median_abs_deviation with a center other than np.median",
        ),
    ],
)
def test_options_that_are_not_followed_are_refused(f, found):
    """By an error that names the option, not by a number of another function."""
    with pytest.raises(NotDifferentiableError, match=re.escape(f"scipy.stats.{found} is not differentiated")):
        rl.gradient(f, A)


def test_ranks_are_constant():
    """A gradient by what is ranked alone is None."""
    assert rl.gradient(lambda a: np.sum(stats.rankdata(a) * 2.0), A[0])[0] is None


def test_constant_data_have_no_skewness():
    """NaN, as in SciPy, and so is the slope."""
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        assert np.all(np.isnan(rl.gradient(lambda a: stats.skew(a), np.ones(4))[0]))
