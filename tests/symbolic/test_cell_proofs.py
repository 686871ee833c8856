"""Formulas that SymPy cannot follow: the proof says so and goes on, and what numbers refute stays refuted."""

import math

import pytest

from rulelab.symbolic import prove
from rulelab.symbolic.cell_proofs import TOO_DEEP


def settled(a):
    """Where `x = log(a**2 + 4 + x)` comes to rest."""
    x = 2.0
    for _ in range(80):
        x = math.log(a * a + 4 + x)
    return x


def settled_rrule(a):
    """By the implicit function."""
    x = settled(a)
    return x, lambda y_bar: (None, y_bar * 2 * a / (a * a + 3 + x))


def settled_rrule_of_last_step(a):
    """Wrong: `x` is held fixed."""
    x = settled(a)
    return x, lambda y_bar: (None, y_bar * 2 * a / (a * a + 4 + x))


def test_a_formula_that_nests_too_deeply_is_told_in_words():
    report = prove(settled, settled_rrule)
    assert report.verdict.word == "UNDECIDED" and report.verdict.digits == 40
    assert report.verdict.why == f"too large for SymPy: {TOO_DEEP}"
    assert "RecursionError" not in str(report)


def test_numbers_refute_what_nests_too_deeply():
    report = prove(settled, settled_rrule_of_last_step)
    assert report.verdict.word == "REFUTED"
    assert "RecursionError" not in str(report)


@pytest.mark.first(1)
@pytest.mark.parametrize("steps", [1, 3])
def test_a_few_steps_are_proved(steps):
    def stepped(x):
        for _ in range(steps):
            x = math.log(x * x + 4)
        return x

    def stepped_rrule(x):
        slope = 1.0
        for _ in range(steps):
            slope, x = slope * 2 * x / (x * x + 4), math.log(x * x + 4)
        return x, lambda y_bar: (None, y_bar * slope)

    assert prove(stepped, stepped_rrule).verdict.word == "PROVED"
