"""The multivariate normal and the Dirichlet distribution of `scipy.stats`."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotImplementedTangentError  # noqa: E402
from rulelab.rulesets import scipy_stats_multivariate as rules  # noqa: E402

COVARIANCE_BAR = rules.covariance_bar
RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3))
COV, MEAN, POINTS, WEIGHTS = (
    A @ A.T + 3 * np.eye(3),
    RNG.normal(size=3),
    RNG.normal(size=(4, 3)),
    RNG.normal(size=4),
)
PARTS, ALPHA = np.array([[0.2, 0.3], [0.5, 0.1]]), np.array([1.5, 2.5, 0.8])
DIAGONAL = stats.Covariance.from_diagonal([1.0, 2.0, 3.0])
normal, dirichlet = stats.multivariate_normal, stats.dirichlet

CALLS = [
    call("multivariate_normal", normal.logpdf, POINTS, MEAN, COV),
    call("multivariate_normal pdf", lambda x, m, c: 1e3 * normal.pdf(x, mean=m, cov=c), POINTS, MEAN, COV),
    call("multivariate_normal of one point", normal.logpdf, POINTS[0], MEAN, COV),
    call("multivariate_normal one variance", normal.logpdf, POINTS[0], MEAN, 2.0),
    call("multivariate_normal variances", normal.logpdf, POINTS[0], MEAN, np.array([1.0, 2.0, 3.0])),
    call("multivariate_normal of one dimension", lambda x, c: normal.logpdf(x, 0.3, c), POINTS[:, 0], 2.0),
    call("multivariate_normal without a mean", lambda x, c: normal.logpdf(x, cov=c), POINTS[0], COV),
    call("multivariate_normal frozen", lambda x, m, c: normal(m, c).logpdf(x), POINTS, MEAN, COV),
    call(
        "multivariate_normal frozen variances",
        lambda m, c: normal(m, cov=c).logpdf(POINTS[0]),
        MEAN,
        np.array([1.0, 2.0, 3.0]),
    ),
    call("dirichlet", dirichlet.logpdf, PARTS, ALPHA),
    call("dirichlet of one", dirichlet.pdf, PARTS[:, 0], ALPHA),
    call("dirichlet frozen", lambda x, a: dirichlet(a).logpdf(x), PARTS, ALPHA),
    call("dirichlet frozen of one", lambda x, a: dirichlet(a, seed=1).pdf(x), PARTS[:, 0], ALPHA),
    call("dirichlet frozen twice", lambda a: dirichlet(a).pdf(PARTS) * dirichlet(a**2).logpdf(PARTS), ALPHA),
    call("dirichlet frozen at whole numbers", lambda x: dirichlet([2, 3, 1]).logpdf(x), PARTS),
]

WRONG = [
    ("multivariate_normal", "covariance_bar", lambda *args: 2 * COVARIANCE_BAR(*args)),
    ("multivariate_normal", "covariance_bar", lambda *args: -COVARIANCE_BAR(*args)),
    ("multivariate_normal", "covariance_bar", lambda *args: COVARIANCE_BAR(*args) + 0.01),
]


def test_what_may_be_singular_is_refused():
    """By name, where it would have to be known; with constants it is not in the way."""
    for f in (
        lambda x: normal.logpdf(x, MEAN, COV, allow_singular=True),
        lambda x: normal(MEAN, COV, allow_singular=True).logpdf(x),
        lambda x: normal.logpdf(x, MEAN, DIAGONAL),
    ):
        with pytest.raises(NotImplementedTangentError, match="singular"):
            rl.gradient(f, POINTS[0])
    value = normal.logpdf(POINTS[0], MEAN, COV, allow_singular=True)
    assert (
        rl.gradient(lambda x: x * normal.logpdf(POINTS[0], MEAN, COV, allow_singular=True), 0.5)[0] == value
    )
