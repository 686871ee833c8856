"""Methods of distributions of `scipy.stats` as they are called: by position, by name, frozen; and draws."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, NotImplementedTangentError  # noqa: E402

X = np.array([0.7, 1.9, 3.1])


def by_place(x, a, loc, scale):
    return np.sum(stats.gamma.logpdf(x, a, loc, scale))


CALLS = [
    lambda x, a, loc, scale: np.sum(stats.gamma.logpdf(x, a, loc=loc, scale=scale)),
    lambda x, a, loc, scale: np.sum(stats.gamma.logpdf(x, scale=scale, a=a, loc=loc)),
    lambda x, a, loc, scale: np.sum(stats.gamma.logpdf(x=x, a=a, loc=loc, scale=scale)),
    lambda x, a, loc, scale: np.sum(stats.gamma.logpdf(*(x, a), **{"loc": loc, "scale": scale})),
    lambda x, a, loc, scale: np.sum(stats.gamma(a, loc, scale).logpdf(x)),
    lambda x, a, loc, scale: np.sum(stats.gamma(a=a, loc=loc, scale=scale).logpdf(x)),
    lambda x, a, loc, scale: np.sum(stats.gamma.freeze(a, loc, scale=scale).logpdf(x)),
    lambda x, a, loc, scale: np.sum(np.log(stats.gamma(a, loc, scale=scale).pdf(x))),
    lambda x, a, loc, scale: sum([stats.gamma(a, loc, scale).logpdf(each) for each in x]),
]


@pytest.mark.parametrize("f", CALLS, ids=range(len(CALLS)))
def test_parameters_get_their_slopes_however_they_are_given(f):
    """By position, by name, out of a dict, or held by a frozen distribution: the same, in both modes."""
    at = (X, 1.4, 0.2, 1.3)
    for found, wanted in zip(rl.gradient(f, *at), rl.gradient(by_place, *at), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    dots = (np.array([0.3, -0.2, 0.5]), 0.7, -0.4, 0.6)
    assert rl.pushforward(f, *at)(*dots) == pytest.approx(rl.pushforward(by_place, *at)(*dots), rel=1e-12)


@pytest.mark.every(3)
@pytest.mark.parametrize("f", [CALLS[0], CALLS[4], CALLS[5]], ids=["by name", "frozen", "frozen by name"])
def test_second_derivatives_reach_the_parameters(f):
    """Also those that a frozen distribution holds."""

    def at(v):
        return f(X, v[0], v[1], v[2])

    v, step = np.array([1.4, 0.2, 1.3]), 1e-5
    found = rl.hessian(at, v)
    for k, e in enumerate(np.eye(3) * step):
        line = (rl.gradient(at, v + e)[0] - rl.gradient(at, v - e)[0]) / (2 * step)
        np.testing.assert_allclose(found[k], line, rtol=1e-7, atol=1e-8)


def test_a_frozen_distribution_is_a_value():
    """Made outside it holds constants; as an argument it has a gradient; it may be handed on and kept."""
    frozen = stats.norm(0.2, scale=1.5)
    assert rl.gradient(lambda x: frozen.logpdf(x), 0.7)[0] == pytest.approx(-0.5 / 2.25)
    of_x, of_frozen = rl.gradient(lambda x, d: d.logpdf(x), 0.7, frozen)
    assert of_frozen.args[0] == pytest.approx(-of_x)
    assert of_frozen.kwds["scale"] == pytest.approx(0.25 / 1.5**3 - 1 / 1.5)

    def handed_on(mu, scale):
        held = {"d": [stats.norm(mu, scale)]}
        return held["d"][0].cdf(0.3) * held["d"][0].mean() + held["d"][0].args[1]

    by_mu, by_scale = rl.gradient(handed_on, 0.2, 1.5)
    assert by_mu == pytest.approx(stats.norm.cdf(0.3, 0.2, 1.5) - 0.2 * stats.norm.pdf(0.3, 0.2, 1.5))
    assert by_scale == pytest.approx(1 - 0.2 * stats.norm.pdf(0.3, 0.2, 1.5) * (0.1 / 1.5))


def test_moments_of_frozen_distributions():
    """Mean, deviation, variance, median and entropy."""

    def f(a, scale):
        d = stats.gamma(a, scale=scale)
        return d.mean() + 2 * d.std() + 3 * d.var() + 4 * d.entropy()

    by_a, by_scale = rl.gradient(f, 2.5, 1.3)
    step = 1e-6
    assert by_a == pytest.approx((f(2.5 + step, 1.3) - f(2.5 - step, 1.3)) / (2 * step), rel=1e-7)
    assert by_scale == pytest.approx((f(2.5, 1.3 + step) - f(2.5, 1.3 - step)) / (2 * step), rel=1e-7)
    assert rl.gradient(lambda s: stats.lognorm(s, scale=2.0).median(), 0.7)[0] == 0


def test_discrete_distributions_are_frozen_too():
    """With the slope by a probability, and none by a count."""
    by_p, by_n = rl.gradient(lambda p, n: stats.binom(n, p).logpmf(2), 0.3, 5)
    assert by_p == pytest.approx(2 / 0.3 - 3 / 0.7) and by_n is None
    assert rl.gradient(lambda mu: stats.poisson(mu=mu).cdf(1), 1.5)[0] == pytest.approx(
        -stats.poisson.pmf(1, 1.5)
    )


def test_errors_are_those_of_scipy():
    """A parameter that is missing, given twice or unknown."""
    for call in (
        lambda x: stats.gamma.logpdf(x),
        lambda x: stats.gamma.logpdf(x, 2.0, a=2.0),
        lambda x: stats.norm.logpdf(x, wrong=2.0),
        lambda x: stats.norm.logpdf(x, 0.0, 1.0, 2.0),
    ):
        with pytest.raises(TypeError):
            rl.gradient(call, 0.7)


# -- draws ---------------------------------------------------------------------------------------------------

DRAWS = [
    (lambda loc, scale: stats.norm.rvs(loc, scale, size=4, random_state=1), (0.3, 1.2)),
    (lambda loc, scale: stats.gamma.rvs(2.0, loc=loc, scale=scale, size=4, random_state=1), (0.3, 1.2)),
    (lambda loc, scale: stats.norm(loc, scale=scale).rvs(4, random_state=1), (0.3, 1.2)),
    (lambda loc, scale: stats.expon.rvs(loc, scale, 4, random_state=1), (0.3, 1.2)),
    (lambda s, scale: stats.lognorm.rvs(s, scale=scale, size=4, random_state=1), (0.7, 1.2)),
    (lambda c, scale: stats.weibull_min.rvs(c, scale=scale, size=4, random_state=1), (1.7, 1.2)),
    (lambda b, scale: stats.pareto(b, scale=scale).rvs(size=4, random_state=1), (2.7, 1.2)),
    (lambda c, scale: stats.genextreme.rvs(c, scale=scale, size=4, random_state=1), (0.3, 1.2)),
    (lambda a, b: stats.truncnorm.rvs(a, b, size=4, random_state=1), (-1.0, 2.0)),
    (lambda c, loc: stats.triang.rvs(c, loc, size=4, random_state=1), (0.4, 0.2)),
]


@pytest.mark.parametrize(("draw", "at"), DRAWS, ids=range(len(DRAWS)))
def test_draws_move_with_their_parameters(draw, at):
    """With the same seed: by place and scale, and by shapes where the draw is a quantile."""
    weights, step = np.array([1.0, -0.5, 2.0, 0.3]), 1e-6

    def f(p, q):
        return np.sum(weights * draw(p, q))

    for k, slope in enumerate(rl.gradient(f, *at)):
        ahead, behind = ([x + s * step * (i == k) for i, x in enumerate(at)] for s in (1, -1))
        assert slope == pytest.approx((f(*ahead) - f(*behind)) / (2 * step), rel=1e-6)
        dots = [float(i == k) for i in range(2)]
        assert rl.pushforward(f, *at)(*dots) == pytest.approx(slope, rel=1e-12)


def test_a_draw_is_made_once():
    """The stream is that of the plain function."""
    rng = np.random.default_rng(7)
    plain = [stats.norm.rvs(0.3, 1.2, size=2, random_state=rng) for _ in range(2)]
    rng = np.random.default_rng(7)
    for k in range(2):
        y, slopes = rl.withgradient(lambda s: np.sum(stats.norm.rvs(0.3, s, size=2, random_state=rng)), 1.2)
        assert y == np.sum(plain[k]) and slopes[0] == pytest.approx((y - 0.6) / 1.2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.norm.fit(x)[0],
        lambda x: stats.norm.interval(0.9, loc=x[0])[0],
        lambda x: stats.norm.expect(lambda t: t * x[0]),
        lambda x: stats.gaussian_kde(x)(0.3)[0],
        lambda x: stats.vonmises.rvs(x[0]),
    ],
)
def test_other_methods_are_refused_by_name(f):
    """By a typed error."""
    with pytest.raises((ForeignCallError, NotImplementedTangentError)):
        rl.gradient(f, X)
