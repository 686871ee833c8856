"""Rules of functions whose values and slopes are tiny: as strictly judged as any."""

import math

import numpy as np
import pytest

from rulelab.symbolic import Proved, Refuted, prove
from rulelab.symbolic.scalars import CONTEXT
from rulelab.symbolic.small_slopes import wrong_though_small

PLANCK = 6.62607015e-34


def rule_of(f, slope):
    return lambda x: (f(x), lambda y_bar: (None, y_bar * slope(x)))


@pytest.mark.every(2)
@pytest.mark.parametrize("size", [1e-23, PLANCK, 1e-45])
def test_a_rule_off_by_a_factor_is_refuted_however_small_the_numbers_are(size):
    """Physical constants in SI units are such numbers."""

    def energy(x):
        return size * x

    assert isinstance(prove(energy, rule_of(energy, lambda x: size)).verdict, Proved)
    for slope in (2 * size, -size, 0.0, 1.0001 * size):
        verdict = prove(energy, rule_of(energy, lambda x, slope=slope: slope)).verdict
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient", slope


def test_a_tiny_value_that_is_not_the_functions_is_refuted():
    """The value of the rule too is compared at its own size."""

    def energy(x):
        return PLANCK * x

    verdict = prove(energy, lambda x: (2 * PLANCK * x, lambda y_bar: (None, PLANCK * y_bar))).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == "value"


@pytest.mark.slow
def test_what_remains_of_a_difference_refutes_nothing():
    """Far to the left its slope is lost in the hundredth digit of the value, at any step."""
    c, d = 0.7978845608, 0.044715

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(c * (x + d * x**3)))

    def slope(x):
        t = np.tanh(c * (x + d * x**3))
        return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * c * (1 + 3 * d * x * x)

    assert isinstance(prove(gelu, rule_of(gelu, slope), time_limit=30.0).verdict, Proved)


def test_rounding_of_a_slope_that_is_zero_refutes_nothing():
    """A sum that cancels leaves a hundredth digit, which is no derivative."""

    def same(x):
        return math.exp(x + 1) / math.e - math.exp(x)

    assert not isinstance(prove(same, rule_of(same, lambda x: 0.0)).verdict, Refuted)


def test_a_slope_counts_where_two_steps_have_the_same():
    """And what changes with the step is rounding."""
    tiny = CONTEXT.mpf("1e-45")
    assert wrong_though_small([tiny], [2 * tiny], lambda width: [tiny]) == [0]
    assert wrong_though_small([tiny], [2 * tiny], lambda width: [tiny / 1000]) == []
    assert wrong_though_small([0 * tiny], [tiny], lambda width: [0 * tiny]) == [0]
    assert wrong_though_small([0 * tiny], [tiny**2], lambda width: [0 * tiny]) == []


def test_beside_values_that_are_large_a_slope_that_was_lost_refutes_nothing():
    """Of e**139 a hundred digits end far above the slope of e**-67."""

    def sums(x, y):
        return np.exp(x) + np.exp(y)

    def with_slope(factor):
        return lambda x, y: (sums(x, y), lambda y_bar: (None, y_bar * np.exp(x), factor * y_bar * np.exp(y)))

    at = (139.0, -67.0)
    assert prove(sums, with_slope(1.0), at=at).verdict.word not in ("REFUTED", "UNSUPPORTED")
    assert prove(sums, with_slope(2.0), at=at).verdict.word != "PROVED"
