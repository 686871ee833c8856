"""Derivatives of functions of one float in all modes, beside differences of the functions themselves."""

import pytest

import rulelab as rl

from ..differences import gradient_by_differences


def check_slope(f, x):
    """The value and the slope at x, by both modes; called again, which takes the quick ways, as well."""
    wanted = gradient_by_differences(lambda t: f(float(t)), x)
    value, (slope,) = rl.withgradient(f, x)
    assert value == f(x) and slope == pytest.approx(wanted, rel=1e-6)
    for _ in range(3):
        assert rl.gradient(f, x) == (slope,)
    assert rl.pushforward(f, x)(1.0) == pytest.approx(slope, rel=1e-12)


def check_second_derivative(f, x):
    """That of reverse over forward and of reverse over reverse mode."""
    wanted = gradient_by_differences(lambda t: rl.gradient(f, float(t))[0], x)
    for slope in (lambda y: rl.pushforward(f, y)(1.0), lambda y: rl.gradient(f, y)[0]):
        assert rl.gradient(slope, x)[0] == pytest.approx(wanted, rel=1e-5, abs=1e-6)
