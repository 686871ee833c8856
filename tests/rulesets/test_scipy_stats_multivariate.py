"""The multivariate normal and the Dirichlet distribution of `scipy.stats`."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

from special_rows import EIGHTH  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import NotImplementedTangentError  # noqa: E402

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

FORMS = {
    "logpdf": (lambda x, m, c: np.sum(WEIGHTS * normal.logpdf(x, m, c)), POINTS, MEAN, COV),
    "pdf by name": (lambda x, m, c: 1e3 * np.sum(WEIGHTS * normal.pdf(x, mean=m, cov=c)), POINTS, MEAN, COV),
    "of one point": (lambda x, m, c: normal.logpdf(x, m, c), POINTS[0], MEAN, COV),
    "one variance": (lambda x, m, c: normal.logpdf(x, m, c), POINTS[0], MEAN, 2.0),
    "variances": (lambda x, m, c: normal.logpdf(x, m, c), POINTS[0], MEAN, np.array([1.0, 2.0, 3.0])),
    "of one dimension": (lambda x, c: np.sum(WEIGHTS * normal.logpdf(x, 0.3, c)), POINTS[:, 0], 2.0),
    "without a mean": (lambda x, c: normal.logpdf(x, cov=c), POINTS[0], COV),
    "frozen": (lambda x, m, c: np.sum(WEIGHTS * normal(m, c).logpdf(x)), POINTS, MEAN, COV),
    "frozen variances": (lambda m, c: normal(m, cov=c).logpdf(POINTS[0]), MEAN, np.array([1.0, 2.0, 3.0])),
    "dirichlet": (lambda x, a: np.sum(WEIGHTS[:2] * dirichlet.logpdf(x, a)), PARTS, ALPHA),
    "dirichlet of one": (lambda x, a: dirichlet.pdf(x, a), PARTS[:, 0], ALPHA),
}


def differences(f, args, i):
    """The derivative of a function by each number of an argument."""
    x = np.asarray(args[i], float)
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = 2e-3
        found[place] = sum(
            w
            * (f(*args[:i], x + k * step, *args[i + 1 :]) - f(*args[:i], x - k * step, *args[i + 1 :]))
            / 2e-3
            for k, w in EIGHTH.items()
        )
    return found


@pytest.mark.parametrize("name", FORMS)
def test_slopes_in_both_modes(name):
    """By points, mean and covariance, of which the lower triangle is read; by parts and parameters."""
    f, *args = FORMS[name]
    for i, bar in enumerate(rl.gradient(f, *args)):
        np.testing.assert_allclose(bar, differences(f, args, i), rtol=1e-8, atol=1e-9)
        dot = np.cos(np.arange(np.size(args[i])) + 1.0).reshape(np.shape(args[i]))[()]
        still = [np.zeros(np.shape(x))[()] for x in args]
        along = rl.pushforward(f, *args)(*still[:i], dot, *still[i + 1 :])
        assert along == pytest.approx(np.sum(bar * dot), rel=1e-10)


@pytest.mark.every(11)
@pytest.mark.parametrize("name", FORMS)
def test_second_derivatives(name):
    """Of each argument, also of what a frozen distribution holds."""
    f, *args = FORMS[name]
    for i, x in enumerate(args):
        weights = np.cos(np.arange(np.size(x)) + 1.0).reshape(np.shape(x))

        def along(x, i=i, weights=weights):
            return np.sum(weights * rl.gradient(f, *args[:i], x, *args[i + 1 :])[i])

        found = rl.gradient(along, x)[0]
        np.testing.assert_allclose(found, differences(along, [x], 0), rtol=1e-7, atol=1e-8)


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


def test_a_wrong_slope_is_caught(monkeypatch):
    """A factor, a sign and a missing half."""
    from rulelab.rulesets import scipy_stats_multivariate as rules

    right = rules.covariance_bar
    for wrong in (
        lambda *args: 2 * right(*args),
        lambda *args: -right(*args),
        lambda *args: right(*args) + 0.01,
    ):
        monkeypatch.setattr(rules, "covariance_bar", wrong)
        with pytest.raises(AssertionError):
            test_slopes_in_both_modes("logpdf")
