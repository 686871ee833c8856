import math

import pytest

from rulelab.symbolic import prove
from rulelab.symbolic.verdicts import Proved, Refuted


def intensity(v, i0):
    if abs(v) < 1e-6:
        return i0
    return i0 * math.sin(v) / v


def intensity_rule(inside, outside=lambda v: math.cos(v) / v - math.sin(v) / v**2):
    def rule(v, i0):
        def pullback(y_bar):
            if abs(v) < 1e-6:
                return None, i0 * inside(v) * y_bar, y_bar
            return None, i0 * outside(v) * y_bar, math.sin(v) / v * y_bar

        return intensity(v, i0), pullback

    return rule


@pytest.mark.slow
def test_a_series_inside_of_a_narrow_guard_is_no_mistake():
    """What is asked there is the derivative of the function that is meant, to the width of the guard."""
    verdict = prove(intensity, intensity_rule(lambda v: -v / 3)).verdict
    assert isinstance(verdict, Proved)
    assert "not within abs(v) < 1e-06" in verdict.sentence() and "abs(v) < 1e-06" in verdict.scope


@pytest.mark.parametrize("slope", [0.5, 0.0])
def test_the_limit_of_the_slope_is_as_right_as_the_slope_of_the_limit(slope):
    def relative(x):
        return 1.0 if abs(x) < 1e-8 else math.expm1(x) / x

    def rule(x):
        def pullback(y_bar):
            d = slope if abs(x) < 1e-8 else (math.exp(x) - relative(x)) / x
            return None, d * y_bar

        return relative(x), pullback

    verdict = prove(relative, rule).verdict
    assert isinstance(verdict, Proved)
    assert ("not within" in verdict.sentence()) == (slope != 0)


def test_another_number_inside_of_a_narrow_guard_is_wrong():
    assert isinstance(prove(intensity, intensity_rule(lambda v: 0.25)).verdict, Refuted)


def test_a_mistake_outside_of_the_guard_is_found():
    wrong = intensity_rule(lambda v: -v / 3, lambda v: math.cos(v) / v + math.sin(v) / v**2)
    assert isinstance(prove(intensity, wrong).verdict, Refuted)


def test_a_wide_guard_is_a_branch_like_any_other():
    def wide(v):
        return 1.0 if abs(v) < 0.01 else math.sin(v) / v

    def rule(v):
        def pullback(y_bar):
            d = -v / 3 if abs(v) < 0.01 else math.cos(v) / v - math.sin(v) / v**2
            return None, d * y_bar

        return wide(v), pullback

    assert isinstance(prove(wide, rule).verdict, Refuted)
