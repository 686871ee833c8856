"""Integrals by Leibniz's rule: by limits, by arguments, by what the integrand captures."""

import math

import numpy as np
import pytest

integrate = pytest.importorskip("scipy.integrate")

from implicit_slopes import agree, agree_again, is_refused  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError  # noqa: E402
from rulelab.rulesets import scipy_quadrature  # noqa: E402
from rulelab.tangents.algebra import scale  # noqa: E402

quad = integrate.quad


def by_parts_of_a_dict(a):
    held = {"w": [a[0]], "v": a}
    return quad(lambda t: held["w"][0] * t**2 + np.dot(held["v"], held["v"]) * t, 0, 1)[0]


CASES = {
    "captured": (lambda a: quad(lambda t: math.exp(-a * t * t) * math.sin(t), 0, 2)[0], 1.3),
    "arguments": (lambda a: quad(lambda t, a, b: math.exp(-a * t) * b, 0, 2, args=(a, a * a))[0], 1.3),
    "in the limits and inside": (lambda a: quad(lambda t: math.exp(-a * t * t), a, a**2 + 3)[0], 1.3),
    "up to infinity": (lambda a: quad(lambda t: math.exp(-a * t), a, np.inf)[0], 1.3),
    "over all": (lambda a: quad(lambda t: math.exp(-a * t * t) * math.cos(a * t), -np.inf, np.inf)[0], 1.3),
    "a singular end": (lambda a: quad(lambda t: math.exp(-a * t) / math.sqrt(t), 0, a)[0], 1.3),
    "a kink": (lambda a: quad(lambda t: abs(t - a), 0, 3)[0], 1.3),
    "an array": (lambda a: quad(lambda t: np.sum(np.sin(a * t)), 0, a[1])[0], [1.3, 2.0, 0.4]),
    "structures": (by_parts_of_a_dict, [1.3, 2.0, 0.4]),
    "complex": (lambda a: np.abs(quad(lambda t: np.exp(1j * a * t), 0, a, complex_func=True)[0]) ** 2, 1.3),
    "a branch": (lambda a: quad(lambda t: a * t if t < 1 else t * a * a + a - a * a, 0, 2)[0], 1.3),
    "a jump that stays": (lambda a: quad(lambda t: a * t if t <= 1 else a * a, 0, a, points=[1.0])[0], 1.3),
    "a vector": (lambda a: np.sum(integrate.quad_vec(lambda t: np.exp(-a * t), 0, np.inf)[0] ** 2), [1.3, 2]),
    "a vector of arguments": (
        lambda a: integrate.quad_vec(lambda t, a: a * np.array([t, t * a]), 0, a, args=(a,))[0][1],
        1.3,
    ),
    "fixed nodes": (lambda a: integrate.fixed_quad(lambda t: np.exp(-a * t), 0, a, n=4)[0], 1.3),
}


@pytest.mark.every(11)
@pytest.mark.parametrize("name", CASES)
def test_an_integral(name):
    """By all that it depends on, in both modes."""
    assert agree(*CASES[name])


@pytest.mark.every(14)
@pytest.mark.parametrize("name", [name for name in CASES if name != "a kink"])
def test_the_second_derivative_of_an_integral(name):
    """The slope is an integral, and so differentiated as one."""
    assert agree_again(*CASES[name])


def test_an_integral_of_an_integral():
    """Inner limits that depend on the outer variable, and on what varies."""

    def f(a):
        return integrate.dblquad(lambda y, x: x * math.exp(-a * y), 0, a, 0.0, lambda x: a * x)[0]

    assert agree(f, 1.3)


@pytest.mark.campaign
def test_the_second_derivative_of_an_integral_of_an_integral():
    """By limits of both, and what is inside."""

    def f(a):
        return integrate.dblquad(lambda y, x: x * math.exp(-a * y), 0, a, 0.0, lambda x: a * x)[0]

    assert agree_again(f, 1.3)


@pytest.mark.campaign
def test_an_integral_over_space():
    """Three of them."""
    ends = lambda a: (0, a, 0.0, lambda x: a * x, 0.0, lambda x, y: a * x * y)
    assert agree(lambda a: integrate.tplquad(lambda z, y, x: a * x * y * z, *ends(a))[0], 1.3)


WRONG = {
    "no limits": ("_at_limit", lambda right: lambda f, t, sign, y_bar: 0.0),
    "limits of the wrong sign": ("_at_limit", lambda right: lambda f, t, sign, y_bar: -sign * f(t) * y_bar),
    "limits of one sign": ("_at_limit", lambda right: lambda f, t, sign, y_bar: f(t) * y_bar),
    "an upper limit alone": ("_at_limit", lambda right: lambda f, t, sign, y_bar: (sign > 0) * f(t) * y_bar),
    "beside a limit": ("_at_limit", lambda right: lambda f, t, sign, y_bar: sign * f(1.001 * t) * y_bar),
    "the cotangent left out": ("_at_limit", lambda right: lambda f, t, sign, y_bar: sign * f(t)),
    "a hundredth more": ("_integrated", lambda right: lambda *given: scale(1.01, right(*given))),
    "the integrand's other sign": ("_integrated", lambda right: lambda *given: scale(-1.0, right(*given))),
    "no integrand": ("_integrated", lambda right: lambda *given: scipy_quadrature.NO),
    "no limits forwards": ("is_finite", lambda right: lambda t: False),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("broken", WRONG)
def test_a_wrong_rule_is_caught(monkeypatch, broken):
    """Whatever is wrong in it, at a limit or inside; the result is squared, so that the cotangent counts."""
    part, wrong = WRONG[broken]
    f, *rest = CASES["in the limits and inside"]
    assert agree(squared := lambda a: f(a) ** 2, *rest)
    monkeypatch.setattr(scipy_quadrature, part, wrong(getattr(scipy_quadrature, part)))
    assert not agree(squared, *rest)


def test_an_integral_that_is_slow_where_its_slope_is():
    """A slope needs more steps than its integral, and gets them: ∫ (t² + a²)^(3/2) for a small a."""
    f = lambda a: quad(lambda t: (t * t + a * a) ** 1.5, -1, 1)[0]
    slope = lambda a: 3 * a * quad(lambda t: math.sqrt(t * t + a * a), -1, 1, points=[0.0])[0]
    assert rl.gradient(f, 1e-3)[0] == pytest.approx(slope(1e-3), rel=1e-7)
    assert rl.pushforward(f, 1e-3)(1.0) == pytest.approx(slope(1e-3), rel=1e-7)


def test_a_slope_is_not_missed_where_it_is_a_peak():
    """A steep step is resolved by the solver; its slope is 0 at all the numbers of one rule."""
    f = lambda c: quad(lambda t: math.tanh((t - c) / 1e-4), 0, 1)[0]
    assert rl.gradient(f, 0.37)[0] == pytest.approx(-2.0, rel=1e-6)
    assert rl.pushforward(f, 0.37)(1.0) == pytest.approx(-2.0, rel=1e-6)
    g = lambda c: quad(lambda t: math.exp(-t) * math.tanh((t - c) / 1e-2), 0, np.inf)[0]
    assert agree(g, 0.37, 5e-4, 1e-5)


JUMPS = [
    lambda a: quad(lambda t: 1.0 if t < a else 0.0, 0, 3)[0],
    lambda a: quad(lambda t: a * math.exp(-t * t) if t < 1.1 else math.sin(t * a), 0, 3)[0],
    lambda a: quad(lambda t: np.sign(t - a) * math.exp(-t), 0, np.inf)[0],
]


@pytest.mark.every(2)
@pytest.mark.parametrize("at", [1.3, 1.5])
@pytest.mark.parametrize("f", JUMPS)
def test_a_jump_that_might_move_is_refused(f, at):
    """Also in the middle of the interval, where the solver does not notice it, and in the slope at a kink."""
    is_refused(f, at, "the integrand jumps at", NotDifferentiableError)


@pytest.mark.slow
def test_what_fades_away_does_not_jump():
    """The last numbers before 0 are steps, in the tails of a density as well."""
    f = lambda a: quad(lambda t: math.exp(-a * t * t), -np.inf, np.inf)[0]
    second = rl.gradient(lambda a: rl.gradient(f, a)[0], 0.83)[0]
    assert second == pytest.approx(0.75 * math.sqrt(math.pi) * 0.83**-2.5, rel=1e-7)


@pytest.mark.campaign
def test_a_kink_has_no_second_derivative():
    """Its slope jumps."""
    is_refused(lambda a: rl.gradient(CASES["a kink"][0], a)[0], 1.3, "the integrand jumps at")


def test_a_jump_in_a_limit_is_differentiated():
    """The way out that the refusal tells."""
    assert agree(lambda a: quad(lambda t: 1.0, 0, a)[0] + quad(lambda t: a * t, a, 3)[0], 1.3)


def test_slopes_in_short_floats_are_not_resolved_beyond_their_rounding(monkeypatch):
    """The tolerance that the function itself meets by chance is below their noise: ten thousand intervals."""
    asked = []
    computed = scipy_quadrature.IntegrationOptions.__call__

    def counted(how, f, *over):
        return computed(how, lambda t: asked.append(t) or f(t), *over)

    monkeypatch.setattr(scipy_quadrature.IntegrationOptions, "__call__", counted)
    f = lambda a: integrate.quad_vec(lambda t: np.array([t, a[0] * t * t]), 0, a[1])[0]
    a, along = np.array([0.7, 1.3], np.float32), np.array([0.3, -0.4], np.float32)
    np.testing.assert_allclose(rl.pushforward(f, a)(along), [-0.52, -0.2535], rtol=2e-6)
    assert 0 < len(asked) < 5_000


def test_what_has_no_rule_is_refused_by_name():
    """Weights, points that move; the error that is estimated is a constant."""
    is_refused(lambda a: quad(lambda t: t * a, 0, 3, weight="cos", wvar=2)[0], 1.5, "weight=")
    is_refused(lambda a: quad(lambda t: t * a, 0, 3, full_output=1)[0], 1.5, "full_output=")
    is_refused(
        lambda a: quad(lambda t: t * a, 0, 3, points=[a])[0], 1.5, "points=", NotImplementedTangentError
    )
    f = lambda a: a * quad(lambda t: t * a, 0, 3)[1]
    assert rl.gradient(f, 1.5)[0] == rl.pushforward(f, 1.5)(1.0) == f(1.5) / 1.5
