"""NumPy functions without derivatives, and the ranges, which have one."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets.numpy_nondiff import TABLE
from rulelab.tangents.zeros import NoTangent, ZeroTangent


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_ranges_agree_with_finite_differences(points):
    """`linspace` and `arange` move with their ends and their step."""
    at_each(points, check)


@pytest.mark.parametrize(
    "target", [np.argmax, np.less, np.isnan, np.shape, np.zeros_like, np.searchsorted, np.ndarray.any]
)
def test_questions_have_no_derivative(target):
    """Comparisons, positions and shapes are known to carry nothing."""
    rule = rule_at(registry_of(TABLE), target, (np.ones(3),), "rrule")
    assert rule is not None and not rule.differentiable


@pytest.mark.parametrize(
    "target", [np.sum, np.where, np.full, np.random.normal, np.bincount, np.sort, np.unique]
)
def test_nothing_that_carries_values_is_declared_constant(target):
    """A function whose result depends smoothly on its argument is not silenced here."""
    assert rule_at(registry_of(TABLE), target, (np.ones(3),), "rrule") is None


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: np.random.gamma(x, 1.0),
        lambda x: np.random.default_rng(0).triangular(0.0, x, 3.0),
        lambda x: np.random.default_rng(0).permutation(np.array([x, x * x]))[0],
        lambda x: np.random.poisson(x),
    ],
)
def test_draws_that_depend_on_the_argument_are_refused(draw):
    """A sample moves with its parameters; where no rule says how it is an error, and never a constant."""
    with pytest.raises(RuleLabError):
        rl.gradient(lambda x: draw(x) * x, 2.0)


def test_draws_that_do_not_are_constants():
    """A sample of fixed parameters is a number like any other."""
    def f(x):
        rng = np.random.default_rng(3)
        return np.sum(x * rng.normal(size=2))

    np.testing.assert_array_equal(rl.gradient(f, np.ones(2))[0], np.random.default_rng(3).normal(size=2))


def test_arange_of_one_argument_does_not_move():
    """`arange(n)` starts at 0 whatever `n` is."""
    assert isinstance(cotangents(TABLE, np.arange, 3.5)[0], ZeroTangent)


def test_arange_of_integers_carries_nothing():
    """A range of whole numbers is a range of whole numbers."""
    assert all(isinstance(b, (ZeroTangent, NoTangent)) for b in cotangents(TABLE, np.arange, 1, 5))


@pytest.mark.parametrize("kwargs", [{"retstep": True}, {"dtype": int}])
def test_linspace_that_rounds_or_returns_its_step_is_refused(kwargs):
    """What the rule does not cover is an error, not a wrong gradient."""
    with pytest.raises(RuleLabError, match="linspace"):
        cotangents(TABLE, np.linspace, 0.0, 1.0, 3, **kwargs)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, h: rng.random(h.shape) > 0.3,
        lambda rng, h: rng.random(size=h.shape, dtype=np.float32),
        lambda rng, h: rng.standard_normal(h.shape),
        lambda rng, h: rng.standard_normal(len(h)),
    ],
)
def test_a_draw_of_a_size_read_from_what_varies_is_a_constant(draw):
    """Dropout masks and noise of the shape of a hidden layer, drawn layer by layer."""

    def f(x):
        rng, h = np.random.default_rng(3), x
        for scale in (1.0, 2.0):
            h = h * draw(rng, h) * scale + h
        return np.sum(h)

    x = np.array([0.5, -1.0, 2.0])
    (x_bar,) = rl.gradient(f, x)
    assert x_bar == pytest.approx([f(x + e) - f(x) for e in np.eye(3)], rel=1e-9)
    assert rl.pushforward(f, x)(np.ones(3)) == pytest.approx(np.sum(x_bar), rel=1e-9)


def test_a_draw_into_an_array_is_refused():
    """`out=` would write to it."""
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda x: np.sum(np.random.default_rng(0).random(out=x * 2.0)), np.ones(2))
