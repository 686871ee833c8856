"""The `math` module: derivatives, and values at kinks."""

import math
import statistics

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.python_math import TABLE, digamma


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every function of `math` has the derivative that its values show, for floats, integers and NumPy
    numbers.
    """
    at_each(points, check)


@pytest.mark.parametrize(
    ("target", "args", "expected"),
    [
        (math.sqrt, (0.0,), (math.inf,)),
        (math.cbrt, (0.0,), (math.inf,)),
        (math.asin, (1.0,), (math.inf,)),
        (math.acos, (-1.0,), (-math.inf,)),
        (math.acosh, (1.0,), (math.inf,)),
        (math.fabs, (0.0,), (0.0,)),
        (math.hypot, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        (math.pow, (0.0, 1.0), (1.0, 0.0)),
        (math.pow, (0.0, 0.0), (0.0, math.nan)),
        (math.pow, (0.0, 2.0), (0.0, 0.0)),
        (math.pow, (-2.0, 3.0), (12.0, -8.0 * math.log(2.0))),
        (math.fmod, (4.0, 2.0), (math.nan, math.nan)),
        (math.fmod, (4.0, math.inf), (1.0, 0.0)),
        (math.remainder, (3.0, 2.0), (math.nan, math.nan)),
        (math.remainder, (4.0, 2.0), (1.0, -2.0)),
        (math.atan2, (0.0, 0.0), (math.nan, math.nan)),
        (math.copysign, (0.0, -1.0), (0.0, 0.0)),
        (math.floor, (2.0,), (0.0,)),
    ],
)
def test_conventions_where_there_is_no_one_derivative(target, args, expected):
    """Where Python's arithmetic would raise or no derivative exists, the documented value is given."""
    np.testing.assert_allclose(cotangents(TABLE, target, *args), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.prod(x),
        lambda x: math.prod([x[0], x[1]]),
        lambda x: statistics.median(x[:1]),
        lambda x: statistics.median_low([x[0]]),
    ],
)
def test_arrays_in_the_place_of_numbers_are_refused(f):
    """Python multiplies and sorts what it is given; these rules are those of numbers."""
    with pytest.raises(NotDifferentiableError, match="called with arrays"):
        rl.gradient(lambda x: np.sum(f(x)), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert rl.gradient(lambda x: f(x).sum(), np.array([[2.0], [3.0]]))[0].shape == (2, 1)


def test_dist_of_a_point_to_itself_has_zero_slope():
    """Two points that meet: the kink of the distance gets the derivative 0, not NaN."""
    p_bar, q_bar = cotangents(TABLE, math.dist, [1.0, 2.0], (1.0, 2.0))
    assert list(p_bar) == [0.0, 0.0] == list(q_bar)


@pytest.mark.parametrize(
    ("x", "value"),
    [
        (1.0, -0.5772156649015329),
        (0.5, -1.9635100260214235),
        (10.0, 2.251752589066721),
        (-0.5, 0.03648997397857652),
        (1e-8, -100000000.57721564),
        (1e8, 18.420680738952367),
    ],
)
def test_digamma_has_its_published_values(x, value):
    """The derivative of `gamma` and `lgamma` is good to the last digits on both sides of zero."""
    assert digamma(x) == pytest.approx(value, rel=1e-13)


def test_every_public_function_is_covered():
    """A function of `math` is either differentiated or declared to have no derivative; none is forgotten."""
    functions = [f for name, f in vars(math).items() if callable(f) and not name.startswith("_")]
    registry = registry_of(TABLE)
    arguments = ((0.5,), (0.5, 2.0), (0.5, 2), (2,), (2, 1), ([0.5],), ([0.5], [1.0]), (0.5, 1.0, 2.0))
    missing = [f.__name__ for f in functions if not any(rule_at(registry, f, a, "rrule") for a in arguments)]
    assert missing == []
