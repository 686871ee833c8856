"""Distributions of `scipy.stats`: the slopes of each, mistakes in them, and what holds for all."""

import math

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
mp = pytest.importorskip("mpmath")

from stats_rows import (  # noqa: E402
    ROWS,
    check_integrals,
    check_mpmath,
    check_slopes,
    methods,
    missed_mistakes,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotImplementedTangentError  # noqa: E402

NAN, INF = math.nan, math.inf
CONTINUOUS = [row for row in ROWS.values() if not row.discrete]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ROWS)
def test_slopes_in_both_modes(name):
    """Of density, distribution function and quantile by the value, each shape, place and scale: what the
    values of SciPy's methods show.
    """
    row = ROWS[name]
    count = check_slopes(row, ("logpmf", "cdf", "logsf") if row.discrete else ("logpdf", "cdf", "ppf"))
    assert count >= (3 if row.discrete else 9)


@pytest.mark.every(13)
@pytest.mark.parametrize("name", ROWS)
def test_slopes_of_all_methods(name):
    """And of the other methods, of means, variances and entropies."""
    count = check_slopes(ROWS[name])
    assert count >= (7 if ROWS[name].discrete else 26)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ROWS)
def test_slopes_of_densities_are_those_of_mpmath(name):
    """By value, shapes, place and scale, of the density as the textbooks have it, to ten digits; and those of
    probabilities and quantiles by the value.
    """
    assert check_mpmath(ROWS[name]) >= (0 if ROWS[name].discrete else 6)


WITH_SHAPES = [name for name, row in ROWS.items() if row.shapes]


@pytest.mark.every(27)
@pytest.mark.parametrize("name", WITH_SHAPES)
def test_slopes_by_shapes_are_those_of_integrals(name):
    """Of probabilities, means, variances and entropies: the density has been integrated by mpmath."""
    check_integrals(ROWS[name])


def test_integrals_of_most_shapes():
    """There is a slope to look at by most of them."""
    known = [name for name in WITH_SHAPES if any(callable(slope) for slope in ROWS[name].moves)]
    assert len(known) >= 14


def test_as_many_distributions_as_people_use():
    """Thirty continuous ones and five discrete ones, at least."""
    assert len(CONTINUOUS) >= 30 and len(ROWS) - len(CONTINUOUS) >= 5


@pytest.mark.every(17)
@pytest.mark.parametrize("name", ROWS)
def test_mistakes_are_caught(name):
    """A sign, a factor, a constant in any slope that a row states: none passes the check."""
    assert missed_mistakes(ROWS[name]) == []


# -- another implementation ----------------------------------------------------------------------------------

OF_MPMATH = {
    "norm": (lambda z: -z * z / 2 - mp.log(2 * mp.pi) / 2, lambda z: mp.ncdf(z)),
    "gamma": (
        lambda z, a: (a - 1) * mp.log(z) - z - mp.loggamma(a),
        lambda z, a: mp.gammainc(a, 0, z, regularized=True),
    ),
    "beta": (
        lambda z, a, b: (a - 1) * mp.log(z) + (b - 1) * mp.log(1 - z) - mp.log(mp.beta(a, b)),
        lambda z, a, b: mp.betainc(a, b, 0, z, regularized=True),
    ),
    "t": (
        lambda z, v: (
            mp.loggamma((v + 1) / 2)
            - mp.loggamma(v / 2)
            - mp.log(mp.pi * v) / 2
            - (v + 1) / 2 * mp.log(1 + z * z / v)
        ),
        None,
    ),
    "genextreme": (
        lambda z, c: (1 / c - 1) * mp.log(1 - c * z) - (1 - c * z) ** (1 / c),
        lambda z, c: mp.exp(-((1 - c * z) ** (1 / c))),
    ),
    "invgauss": (
        lambda z, m: -mp.log(2 * mp.pi * z**3) / 2 - (z - m) ** 2 / (2 * z * m * m),
        lambda z, m: mp.ncdf((z / m - 1) / mp.sqrt(z)) + mp.exp(2 / m) * mp.ncdf(-(z / m + 1) / mp.sqrt(z)),
    ),
    "skewnorm": (lambda z, a: mp.log(2 * mp.npdf(z) * mp.ncdf(a * z)), None),
}


@pytest.mark.parametrize("name", OF_MPMATH)
def test_slopes_are_those_of_mpmath(name):
    """Ten digits of another implementation, of density and distribution function."""
    row, (log_density, cdf) = ROWS[name], OF_MPMATH[name]
    at = [column[1] for column in row.at]
    for method, of_mpmath in (("logpdf", log_density), ("cdf", cdf)):
        if of_mpmath is None:
            continue
        for i in range(len(at)):
            orders = tuple(int(i == k) for k in range(len(at)))

            def f(x, i=i, method=method):
                return getattr(row.instance, method)(*at[:i], x, *at[i + 1 :])

            try:
                found = rl.gradient(f, at[i])[0]
            except NotImplementedTangentError:
                assert method == "cdf" and i > 0
                continue
            with mp.workdps(30):
                wanted = mp.diff(of_mpmath, tuple(map(mp.mpf, at)), orders)
            assert found == pytest.approx(float(wanted), rel=1e-10), (name, method, i)


# -- tails, ends, what is no number --------------------------------------------------------------------------

FAR = [
    (stats.norm.logcdf, -1e8, 1e8),
    (stats.norm.logsf, 1e8, -1e8),
    (stats.norm.logcdf, 40.0, 0.0),
    (stats.expon.logsf, 1e5, -1.0),
    (stats.laplace.logsf, 700.0, -1.0),
    (stats.logistic.logsf, 1e4, -1.0),
    (stats.logistic.logcdf, -1e4, 1.0),
    (stats.halfnorm.logsf, 1e8, -1e8),
    (stats.rayleigh.logsf, 1e6, -1e6),
    (lambda x: stats.weibull_min.logsf(x, 3.0), 1e4, -3e8),
    (lambda x: stats.genpareto.logsf(x, 0.5), 1e9, -1 / (1 + 0.5e9)),
    (lambda x: stats.pareto.logsf(x, 2.0), 1e200, -2e-200),
    (stats.gumbel_r.logcdf, -500.0, math.exp(500.0)),
    (stats.gumbel_l.logsf, 500.0, -math.exp(500.0)),
    (stats.norm.logpdf, 1e160, -1e160),
]


@pytest.mark.parametrize(("f", "x", "slope"), FAR)
def test_tails_lose_no_digits(f, x, slope):
    """Where probabilities are rounded to 0 or 1 the slopes of their logarithms have their digits."""
    with np.errstate(all="ignore"):
        assert rl.gradient(f, x)[0] == pytest.approx(slope, rel=1e-13, abs=1e-300)
        assert rl.pushforward(f, x)(1.0) == pytest.approx(slope, rel=1e-13, abs=1e-300)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ROWS)
def test_outside_of_the_support_slopes_are_0(name):
    """Of the density, its logarithm, and both probabilities; and NaN where a parameter makes NaN of them."""
    row = ROWS[name]
    shapes = [column[0] for column in row.at[1:]]
    low, high = row.instance.support(*shapes)
    outside = np.array([low - 1.5 if np.isfinite(low) else -INF, high + 1.5 if np.isfinite(high) else INF])
    if row.discrete:
        outside = outside[:1]
    given = (0.0,) if row.discrete else (0.0, 1.0)
    for method in methods(row)[: 6 if row.discrete else 6]:
        with np.errstate(all="ignore"):
            y, back = rl.rrule(getattr(row.instance, method), outside, *shapes, *given)
            found = [bar for bar in back(np.ones_like(y))[1:]]
        for bar in found:
            bar = rl.unthunk(bar)
            if isinstance(bar, np.ndarray):
                np.testing.assert_array_equal(bar, np.where(np.isnan(y), np.nan, 0.0), f"{name}.{method}")
            elif isinstance(bar, (float, np.generic)):
                assert bar == 0 or np.any(np.isnan(y)), (name, method, bar)
        if not row.discrete:
            with np.errstate(all="ignore"):
                bad = rl.rrule(getattr(row.instance, method), 0.5, *shapes, 0.0, -1.0)[1](1.0)[1:]
            for bar in map(rl.unthunk, bad):
                assert not isinstance(bar, (float, np.generic)) or np.isnan(bar), (name, method)


AT_ENDS = [
    (stats.expon.logpdf, 0.0, -1.0),
    (stats.expon.pdf, 0.0, -1.0),
    (stats.uniform.pdf, 0.0, 0.0),
    (stats.uniform.cdf, 1.0, 1.0),
    (lambda x: stats.gamma.logpdf(x, 1.0), 0.0, -1.0),
    (lambda x: stats.gamma.logpdf(x, 2.0), 0.0, INF),
    (lambda x: stats.gamma.cdf(x, 0.5), 0.0, INF),
    (lambda x: stats.beta.logpdf(x, 1.0, 2.0), 0.0, -1.0),
    (lambda s: stats.gamma.cdf(0.0, 0.5, scale=s), 1.0, 0.0),
    (stats.norm.ppf, 1.0, INF),
    (stats.norm.isf, 1.0, -INF),
    (stats.norm.cdf, INF, 0.0),
    (lambda s: stats.norm.cdf(-INF, scale=s), 2.0, 0.0),
    (stats.laplace.logpdf, 0.0, 0.0),
    (lambda p: stats.binom.logpmf(0, 5, p), 0.0, -5.0),
    (lambda p: stats.bernoulli.pmf(1, p), 1.0, 1.0),
    (lambda p: stats.binom.cdf(5, 5, p), 0.3, 0.0),
    (lambda m: stats.poisson.logpmf(2.5, m), 1.3, 0.0),
]


@pytest.mark.parametrize(("f", "x", "slope"), AT_ENDS)
def test_at_ends_the_slope_is_that_from_inside(f, x, slope):
    """As the density says, in both modes."""
    with np.errstate(all="ignore"):
        assert rl.gradient(f, x)[0] == slope and rl.pushforward(f, x)(1.0) == slope


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: stats.gamma.pdf(x, 2.0), 0.0),
        (lambda p: stats.bernoulli.pmf(1, p), 0.0),
        (stats.norm.pdf, NAN),
    ],
)
def test_where_a_slope_is_not_known_it_is_no_number(f, x):
    """At an end where the density is 0 and its logarithm infinite."""
    with np.errstate(all="ignore"):
        assert np.isnan(rl.gradient(f, x)[0]) and np.isnan(rl.pushforward(f, x)(1.0))


# -- forms of arguments --------------------------------------------------------------------------------------


def test_a_quantile_that_is_rounded_to_the_end():
    """Its slope by the shape is that at the end; the one by the probability comes from the probability, or
    no digit of it is left.
    """
    q, c = 0.9993, 5.5
    with np.errstate(all="ignore"):
        by_q, by_c = rl.gradient(lambda q, c: stats.genextreme.ppf(q, c), q, c)
        lost = [rl.gradient(lambda q: stats.beta.ppf(q, 2.0, 0.5), 1 - s)[0] for s in (1e-6, 1e-8)]
        kept = rl.gradient(lambda q: stats.beta.ppf(q, 2.0, 0.5), 0.9999)[0]
        half = rl.gradient(lambda q: stats.beta.ppf(q, 1.0, 0.5), 0.9999)[0]
        moved = rl.pushforward(lambda c: stats.genpareto.isf(1e-5, c), -5.5)(1.0)
        at_0 = rl.gradient(lambda q: stats.gamma.ppf(q, 2.5), 0.0)[0]
    assert by_q == pytest.approx((-np.log(q)) ** (c - 1) / q) and by_c == pytest.approx(-1 / c**2)
    assert np.all(np.isnan(lost)) and np.isfinite(kept)
    assert half == pytest.approx(2 * (1 - 0.9999), rel=1e-6)  # it is 1 - (1 - q)**2
    assert moved == pytest.approx(1 / 5.5**2) and at_0 == np.inf


QUANTILES = {
    "genextreme": (
        lambda q, c: -mp.log(-mp.log(q)) if c == 0 else (1 - (-mp.log(q)) ** c) / c,
        (-0.5, -1e-6, 0.0, 1e-10, 0.5, 2.0),
    ),
    "genpareto": (
        lambda q, c: -mp.log(1 - q) if c == 0 else ((1 - q) ** -c - 1) / c,
        (-2.0, -0.5, -1e-6, 0.0, 1e-10, 0.5),
    ),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles_near_an_end_keep_their_digits(name):
    """Where the density at the rounded quantile has none: of `1 - 1e-9`, and of what is left."""
    function, shapes = QUANTILES[name]
    distribution = getattr(stats, name)

    def slope(q, c):
        step = min(q, 1 - q) * mp.mpf(10) ** -20
        return (function(q + step, mp.mpf(c)) - function(q - step, mp.mpf(c))) / (2 * step)

    with mp.workdps(120):
        for c in shapes:
            for q in (1e-9, 0.3, 1 - 1e-6, 1 - 1e-9):
                by_q = rl.gradient(lambda q, c=c: distribution.ppf(q, c), q)[0]
                assert by_q == pytest.approx(float(slope(mp.mpf(q), c)), rel=1e-12)
                assert rl.pushforward(lambda q, c=c: distribution.ppf(q, c), q)(1.0) == by_q
            for p in (1e-30, 1e-9, 0.3):
                by_p = rl.gradient(lambda p, c=c: distribution.isf(p, c), p)[0]
                assert by_p == pytest.approx(-float(slope(1 - mp.mpf(p), c)), rel=1e-12)


@pytest.mark.parametrize("name", ["norm", "t", "gumbel_r", "genextreme"])
def test_a_large_place_takes_no_digits(name):
    """A quantile beside it is rounded, its slopes are those beside 0."""
    distribution, loc = getattr(stats, name), 1e12
    shapes = (0.7,) * distribution.numargs
    near = rl.gradient(lambda q, s: distribution.ppf(q, *shapes, 0.0, s), 0.3, 1.5)
    far = rl.gradient(lambda q, s: distribution.ppf(q, *shapes, loc, s), 0.3, 1.5)
    assert far == pytest.approx(near, rel=1e-14)
    by_loc, by_scale = rl.gradient(lambda m, s: distribution.isf(0.3, *shapes, m, s), loc, 1.5)
    assert by_loc == 1.0 and by_scale == pytest.approx(distribution.isf(0.3, *shapes), rel=1e-14)


def test_numbers_lists_and_short_floats():
    """A number, a list, arrays of no dimension, empty, of float32 and without order give the same slopes."""
    x = np.array([0.3, -1.2, 2.1])
    plain = rl.gradient(lambda x: np.sum(stats.norm.logpdf(x, 0.2, 1.5)), x)[0]
    assert rl.gradient(lambda x: np.sum(stats.norm.logpdf([x, -1.2, 2.1], 0.2, 1.5)), 0.3)[0] == plain[0]
    assert rl.gradient(lambda x: stats.norm.logpdf(x, 0.2, 1.5), np.array(0.3))[0] == plain[0]
    assert rl.gradient(lambda x: np.sum(stats.norm.logpdf(x)), np.empty((0, 2)))[0].shape == (0, 2)
    short = rl.gradient(lambda x: np.sum(stats.norm.logpdf(x, 0.2, 1.5)), x.astype(np.float32))[0]
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, plain, rtol=1e-6)
    back = rl.gradient(lambda x: np.sum(stats.norm.logpdf(x[::-1], 0.2, 1.5)), x)[0]
    np.testing.assert_allclose(back, plain)


def test_arguments_are_broadcast():
    """A column of values against a row of parameters: each gets the sum over what it was repeated along."""
    x, a, scale = np.array([[0.3], [1.2]]), np.array([2.0, 0.7, 3.5]), 1.3

    def f(x, a, scale):
        return np.sum(stats.gamma.logpdf(x, a, scale=scale))

    of_x, of_a, of_scale = rl.gradient(f, x, a, scale)
    one = [
        [rl.gradient(lambda *p: stats.gamma.logpdf(p[0], p[1], scale=p[2]), u, v, scale) for v in a]
        for u in x[:, 0]
    ]
    np.testing.assert_allclose(of_x[:, 0], [sum(p[0] for p in line) for line in one])
    np.testing.assert_allclose(of_a, [sum(line[k][1] for line in one) for k in range(3)])
    assert of_scale == pytest.approx(sum(p[2] for line in one for p in line))


SECOND = [
    lambda v: stats.norm.logpdf(v[0], v[1], v[2] + 1),
    lambda v: stats.norm.logsf(v[0], v[1], v[2] + 1),
    lambda v: stats.gamma.logpdf(v[0] + 1, v[1] + 1, scale=v[2] + 1),
    lambda v: stats.t.logpdf(v[0], v[1] + 2, v[2]),
    lambda v: stats.beta.pdf(v[0], v[1] + 1, v[2] + 2),
    lambda v: stats.lognorm.cdf(v[0] + 0.3, v[1] + 1, scale=v[2] + 1),
    lambda v: stats.weibull_min.ppf(v[0], v[1] + 1, scale=v[2] + 1),
    lambda v: stats.genextreme.logpdf(v[0], v[1] - 0.4, v[2]),
    lambda v: stats.truncnorm.logpdf(v[0], v[1] - 1, v[2] + 1),
    lambda v: stats.truncnorm.cdf(v[0], v[1] - 1, v[2] + 1),
    lambda v: stats.skewnorm.cdf(v[0], v[1], v[2]),
    lambda v: stats.nbinom.logpmf(2, v[0] + 1, v[1]) + stats.poisson.logsf(1, v[2]),
    lambda v: stats.gamma.entropy(v[0] + 1) * stats.beta.var(v[1] + 1, v[2] + 1),
    lambda v: stats.norm(v[0], scale=v[1] + 1).logpdf(v[2]),
]


@pytest.mark.every(17)
@pytest.mark.parametrize("f", SECOND, ids=range(len(SECOND)))
def test_second_derivatives(f):
    """The derivatives of the slopes are what the slopes show."""
    v, step = np.array([0.35, 0.42, 0.61]), 1e-5
    found = rl.hessian(f, v)
    for k in range(3):
        e = np.zeros(3)
        e[k] = step
        line = (rl.gradient(f, v + e)[0] - rl.gradient(f, v - e)[0]) / (2 * step)
        np.testing.assert_allclose(found[k], line, rtol=2e-7, atol=1e-8)


AT_ZEROS = [
    (stats.norm.pdf, 0.0),
    (lambda t: stats.norm.cdf(t - 1.3, 0.0, t), 1.3),
    (lambda x: stats.gamma.pdf(x, 3.0), 2.0),
    (lambda a: stats.gamma.pdf(0.7, a), 1.0),
    (lambda m: stats.poisson.pmf(2, m), 2.0),
    (lambda c: stats.genextreme.logpdf(0.5, c), 0.0),
    (lambda s: stats.lognorm.cdf(1.0, s), 0.7),
    (lambda a: stats.skewnorm.cdf(0.3, a), 0.0),
    (lambda m: stats.norm.logpdf(m, m * m, m + 1), 1.0),
]


@pytest.mark.every(11)
@pytest.mark.parametrize(("f", "x"), AT_ZEROS, ids=range(len(AT_ZEROS)))
def test_second_derivatives_where_a_slope_or_a_factor_is_0(f, x):
    """At modes, in the middle, at parameters where a term falls away."""
    step = 1e-4
    wanted = (f(x + step) - 2 * f(x) + f(x - step)) / step**2
    found = rl.gradient(lambda t: rl.gradient(f, t)[0], x)[0]
    assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)


def test_where_a_second_derivative_is_infinite_it_is_no_other_number():
    """The slope of the log-density of a gamma distribution by its argument, by the shape, at an end."""
    with np.errstate(all="ignore"):
        mixed = rl.gradient(lambda a: rl.gradient(lambda z: stats.gamma.logpdf(z, a), 0.0)[0], 1.0)[0]
    assert mixed == INF


# -- what has no closed form ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "word"),
    [
        (lambda df: stats.t.cdf(0.7, df), "shape"),
        (lambda a: stats.gamma.sf(0.7, a), "shape"),
        (lambda a: stats.beta.ppf(0.7, a, 2.0), "shape"),
        (lambda n: stats.nbinom.cdf(2, n, 0.3), "shape"),
        (lambda a: stats.gamma.median(a), "shape"),
        (lambda df: stats.chi.mean(df), "moment"),
        (lambda mu: stats.poisson.entropy(mu), "moment"),
        (lambda x: stats.dweibull.logpdf(x, 2.0), "logpdf of the distribution dweibull"),
        (lambda c: stats.dweibull(c).cdf(0.5), "cdf of the distribution dweibull"),
        (lambda mu: np.sum(stats.poisson.rvs(mu, size=3)), "rvs of the distribution poisson"),
        (lambda a: np.sum(stats.gamma.rvs(a, size=3)), "draws"),
        (lambda a: stats.gamma(a).a, "sets the ends"),
    ],
)
def test_a_slope_that_is_not_known_is_refused_by_name(f, word):
    """In both modes, of numbers and arrays: never None, never zero."""
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.gradient(f, 2.5)
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.gradient(lambda a: f(a[0]) * a[1], np.array([2.5, 1.0]))
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.pushforward(f, 2.5)(1.0)


def test_what_is_not_known_is_not_in_the_way_of_the_rest():
    """With the shape held, and of a distribution without rules with constants, there is a slope."""
    assert rl.gradient(lambda x: stats.t.cdf(x, 3.0), 0.7)[0] == pytest.approx(stats.t.pdf(0.7, 3.0))
    assert rl.gradient(lambda x: x * stats.dweibull.cdf(0.5, 2.0), 0.7)[0] == stats.dweibull.cdf(0.5, 2.0)
    assert rl.gradient(lambda x: x * stats.poisson.pmf(2, 1.5), 0.7)[0] == stats.poisson.pmf(2, 1.5)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.t.cdf(*(x, 3.0)),
        lambda x: stats.gamma.logsf(*(2.5, x)[::-1], 0.1, x + 1),
        lambda p: stats.nbinom.logcdf(3, 1.5, p),
        lambda x: stats.t(3.0, x, 1.3).ppf(0.7),
    ],
)
def test_a_shape_that_is_held_is_not_in_the_way_of_second_derivatives(f):
    """Beside others that move, given by a tuple or by place: in all four orders of modes."""

    def forwards(g):
        return lambda x: rl.pushforward(g, x)(1.0)

    def backwards(g):
        return lambda x: rl.gradient(g, x)[0]

    step = 1e-4
    wanted = (backwards(f)(0.6 + step) - backwards(f)(0.6 - step)) / (2 * step)
    assert forwards(f)(0.6) == pytest.approx(backwards(f)(0.6), rel=1e-12)
    for outer in (forwards, backwards):
        for inner in (forwards, backwards):
            assert outer(inner(f))(0.6) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_a_shape_that_moves_in_a_second_derivative_is_refused():
    """Where it stands still itself, too: along it there is no slope, however it is asked for."""

    def along(v):
        return rl.pushforward(stats.t.cdf, 0.3, 4.0)(1.0, v)

    assert along(0.0) == pytest.approx(stats.t.pdf(0.3, 4.0))
    for ask in (
        lambda: along(0.5),
        lambda: rl.gradient(along, 0.0),
        lambda: rl.pushforward(along, 0.0)(1.0),
        lambda: rl.hessian(lambda p: stats.t.cdf(p[0], p[1]), np.array([0.3, 4.0])),
    ):
        with pytest.raises(NotImplementedTangentError, match="shape"):
            ask()


def test_a_distribution_of_the_authors_is_its_own():
    """One that only inherits from SciPy's is not taken for it."""

    class Other(type(stats.norm)):
        def _logpdf(self, x):
            return -np.abs(x)

    with pytest.raises(NotImplementedTangentError, match="Other|other"):
        rl.gradient(Other(name="other").logpdf, 0.7)
    with pytest.raises(NotImplementedTangentError, match="cut"):
        rl.gradient(type(stats.norm)(a=0.5, name="cut").logpdf, 0.7)


def test_whole_numbers_are_constants():
    """A gradient by a count, its place or a number of trials is None."""
    by_k, by_n, by_p = rl.gradient(lambda k, n, p: stats.binom.logpmf(k, n, p), 2, 5, 0.3)
    assert by_k is None and by_n is None and by_p == pytest.approx(2 / 0.3 - 3 / 0.7)
    assert rl.gradient(lambda k: stats.poisson.pmf(k, 1.5), 2.0)[0] == 0


def test_rows_say_what_their_density_is():
    """Each has a slope by the value, if it has one, and by each shape, and as many numbers to check it at."""
    for row in ROWS.values():
        assert len(row.density) == len(row.shapes) + (not row.discrete), row.name
        assert len(row.at) == 1 + len(row.shapes) and len(row.moves) == len(row.shapes), row.name
