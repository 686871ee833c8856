"""The `cmath` module: derivatives, holomorphic and not."""

import cmath
import math

import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
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


CUTS = {  # points on the branch cuts but for the signed zero, and which way they run
    **{f: ((-2.5, -0.3), 1.0) for f in (cmath.log, cmath.log10, cmath.sqrt)},
    **{f: ((-3.0, 2.0), 1.0) for f in (cmath.asin, cmath.acos, cmath.atanh)},
    **{f: ((-3.0, 2.0), 1j) for f in (cmath.asinh, cmath.atan)},
    cmath.acosh: ((-3.0, 0.5), 1.0),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("f", CUTS)
def test_on_a_cut_the_derivative_is_that_of_the_side_of_the_value(f, zero):
    """The sign of a zero says on which side of its branch cut a function is taken, and so do its slope and
    its curvature, in both modes.
    """
    positions, along = CUTS[f]
    for t in positions:

        def beside(s, t=t):
            return f(complex(t + s, zero) if along == 1.0 else complex(zero, t + s))

        def slope(z):
            return rl.pushforward(f, z)(1.0 + 0j)

        h, z = 1e-4, complex(t, zero) if along == 1.0 else complex(zero, t)
        first = (beside(h) - beside(-h)) / (2 * h * along)
        second = (beside(h) - 2 * beside(0.0) + beside(-h)) / (h * along) ** 2
        assert abs(rl.pullback(f, z)[1](1.0)[0].conjugate() - first) < 1e-5
        assert abs(slope(z) - first) < 1e-5
        assert abs(rl.pushforward(slope, z)(1.0 + 0j) - second) < 1e-4
        assert abs(rl.pullback(slope, z)[1](1.0)[0].conjugate() - second) < 1e-4
