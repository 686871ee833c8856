"""Tests of borders: a rule whose branch has another border than its function is caught, however close the two
are, and one with the same border stays right and proved.
"""

import numpy as np
import pytest

from rulelab.checking.probing.leaps import are_a_pair, leaps
from rulelab.checking.probing.probes import Point
from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

INTO_BALL = """
def f(x, radius):
    n = np.linalg.norm(x)
    return x if n <= radius else x * (radius / n)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, radius):
    n = np.linalg.norm(x)

    def back(y_bar):
        if n <= {}:
            return rl.NoTangent(), y_bar, 0.0
        u = x / n
        return rl.NoTangent(), (y_bar - u * (u @ y_bar)) * radius / n, u @ y_bar

    return f(x, radius), back
"""

TAX = """
def f(income):
    if income < 12.5:
        return 0.0 * income
    if income < 50.0:
        return 0.2 * (income - 12.5)
    if income < 150.0:
        return 7.5 + 0.4 * (income - 50.0)
    return 47.5 + 0.45 * (income - 150.0)


@rl.rrule_for(f, registry=registry)
def f_rrule(income):
    def back(y_bar):
        rate = 0.0 if income < 12.5 else 0.2 if income < 50.0 else 0.4 if income < {} else 0.45
        return rl.NoTangent(), rate * y_bar

    return f(income), back
"""

MASKED = """
def f(x, a):
    return np.where(x * a > 2.0, 3 * (x * a) - 4.0, x * a)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a: float):
    slope = np.where(x * a > {}, 3.0, 1.0)

    def back(y_bar):
        return rl.NoTangent(), y_bar * slope * a, np.sum(y_bar * slope * x)

    return f(x, a), back
"""

DRAG = """
def f(speed: float, size: float) -> float:
    re = speed * size / 1e-6
    if re < 1000.0:
        return 24.0 / re * speed**2
    return 0.44 * speed**2 + 1e-3 * size


@rl.rrule_for(f, registry=registry)
def f_rrule(speed, size):
    def back(y_bar):
        if speed * size / 1e-6 < {}:
            slope = 24.0 * 1e-6 / size
            return rl.NoTangent(), y_bar * slope, -y_bar * slope * speed / size
        return rl.NoTangent(), y_bar * 0.88 * speed, y_bar * 1e-3

    return f(speed, size), back
"""

CURVES = """
def f(x, a: float):
    n = 1e4 * np.sum(x * x)
    return a * n if n < 2.0 else a * (4.0 - 4.0 / n)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a):
    n = 1e4 * np.sum(x * x)

    def back(y_bar):
        slope, y = (a, n) if n < {} else (4.0 * a / n**2, 4.0 - 4.0 / n)
        return rl.NoTangent(), y_bar * slope * 2e4 * x, y_bar * y

    return f(x, a), back
"""

BORDERS = {
    "a size": (INTO_BALL, "radius", "1.2 * radius"),
    "one of several steps": (TAX, "150.0", "125.0"),
    "a mask": (MASKED, "2.0", "2.2"),
    "what is computed from several arguments": (DRAG, "1000.0", "100.0"),
    "arms within a line": (CURVES, "2.0", "1.0"),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("text, border, other", BORDERS.values(), ids=BORDERS)
def test_another_border_than_that_of_the_function_is_caught(text, border, other):
    assert judged(text.format(border)).verdict == "right"
    assert judged(text.format(other)).verdict == "wrong"


def test_a_proof_of_the_right_border_stays():
    made = written(TAX.format("150.0"))
    assert prove(made["f"], registry=made["registry"]).verdict.word == "PROVED"


def test_leaps_are_found_beside_steep_slopes():
    (leap,) = leaps(lambda t: np.array([np.exp(5 * t), 40.0 if t > 0.7 else 0.0]))
    assert leap == pytest.approx(0.7, abs=1e-6)
    assert leaps(lambda t: np.array([np.nan if t > 0.5 else t])) == []
    assert leaps(lambda t: np.zeros(3)) == []


def test_points_are_on_a_way_where_all_between_them_are_alike():
    x = np.ones(2)
    assert are_a_pair(Point((x, 2.0, 3, "a")), Point((2 * x, 1.0, 3, "a")))
    assert not are_a_pair(Point((x, 2)), Point((x, 3)))
    assert not are_a_pair(Point((x,)), Point((np.ones(3),)))
    assert are_a_pair(Point(({"w": x},)), Point(({"w": 2 * x},)))


COOLED = """
def f(speed: float, heat: float) -> float:
    nu = 4e-5 * (heat / 500.0) ** 1.7
    re = speed / nu
    if re < 1000.0:
        return 2.0 + 0.6 * re**0.5
    return 0.4 * re**0.6


@rl.rrule_for(f, registry=registry)
def f_rrule(speed, heat):
    re = speed / (4e-5 * (heat / 500.0) ** 1.7)
    if re < 1000.0:
        slope = {} / re**0.5
    else:
        slope = 0.24 * re**-0.4

    def back(y_bar):
        return rl.NoTangent(), y_bar * slope * re / speed, -1.7 * y_bar * slope * re / heat

    return f(speed, heat), back
"""


def test_a_branch_in_which_the_rule_raised_counts_as_not_reached():
    """At a speed of zero the rule divides by it: what it says of slow flow has not been looked at there."""
    assert judged(COOLED.format("0.3")).verdict == "right"
    assert judged(COOLED.format("0.6")).verdict == "wrong"
