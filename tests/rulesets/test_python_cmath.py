"""The `cmath` module: derivatives, holomorphic and not."""

import cmath
import math

import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

from rulelab.rulesets.python_cmath import TABLE


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every function has the derivative that its values show, along the real and the imaginary axis."""
    at_each(points, check)


@pytest.mark.parametrize(
    ("target", "args"),
    [
        (cmath.sqrt, (0j,)),
        (cmath.log10, (0.5,)),
        (cmath.asin, (1.0,)),
        (cmath.phase, (0j,)),
        (cmath.atanh, (0.5,)),
    ],
)
def test_poles_give_nan_and_do_not_raise(target, args):
    """A derivative that does not exist is NaN; the value is there all the same."""
    (found,) = cotangents(TABLE, target, *args)
    pole = args[0] in (0j, 1.0)
    assert cmath.isnan(found) == pole


def test_a_real_argument_gets_a_real_cotangent():
    """∂/∂x alone: the imaginary direction is not there."""
    (found,) = cotangents(TABLE, cmath.exp, 0.5)
    assert found == pytest.approx(math.exp(0.5)) and not isinstance(found, complex)


def test_every_public_function_is_covered():
    """A function of `cmath` is either differentiated or declared to have no derivative."""
    functions = [f for name, f in vars(cmath).items() if callable(f) and not name.startswith("_")]
    registry = registry_of(TABLE)
    missing = [
        f.__name__
        for f in functions
        if not any(rule_at(registry, f, a, "rrule") for a in ((0.5j,), (0.5, 2.0)))
    ]
    assert missing == []
