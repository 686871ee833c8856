"""Tests of functions whose loops look for something: their rules where there is nothing to be found."""

import numpy as np
import pytest

from rulelab.checking.reading.searches import Searches
from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

LEVEL = """
def f(floor, volume):
    heights = np.sort(floor)
    for k in range(len(floor), 0, -1):
        level = (volume + np.sum(heights[:k])) / k
        if level > heights[k - 1]:
            break
    return level


@rl.rrule_for(f, registry=registry)
def f_rrule(floor, volume):
    y = f(floor, volume)

    def back(y_bar):
        wet = floor < y
        return rl.NoTangent(), {}, {}

    return y, back
"""
RIGHT = ("y_bar * wet / max(np.sum(wet), 1)", "y_bar / max(np.sum(wet), 1)")


@pytest.mark.slow
def test_a_right_rule_is_not_wrong_where_a_search_finds_nothing():
    """The level of water of a negative volume is below the floor, and no place is wet."""
    text = LEVEL.format(*RIGHT)
    report, made = judged(text), written(text)
    assert report.verdict == "inconclusive" and "never meets" in report.sentence
    assert prove(made["f"], registry=made["registry"]).verdict.word != "REFUTED"


@pytest.mark.first(1)
@pytest.mark.parametrize("number, answer", [(0, "y_bar * wet"), (1, "y_bar"), (1, "y_bar / len(floor)")])
def test_a_wrong_rule_is_wrong_where_the_search_finds_something(number, answer):
    answers = list(RIGHT)
    answers[number] = answer
    text = LEVEL.format(*answers)
    made = written(text)
    assert judged(text).verdict == "wrong"
    assert prove(made["f"], registry=made["registry"]).verdict.word == "REFUTED"


CAPPED = """
def f(x, most):
    total = 0.0
    for k in range(len(x)):
        total = total + np.abs(x[k])
        if total > np.abs(most):
            break
    return total * np.cos(most)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, most):
    total, counted = 0.0, np.zeros(len(x))
    for k in range(len(x)):
        total, counted[k] = total + np.abs(x[k]), np.sign(x[k])
        if total > np.abs(most):
            break
    else:
        counted[-1] = counted[-1] * {}

    def back(y_bar):
        return rl.NoTangent(), y_bar * counted * np.cos(most), -y_bar * total * np.sin(most)

    return total * np.cos(most), back
"""


@pytest.mark.slow
def test_a_rule_that_is_wrong_only_where_nothing_is_found_is_not_right():
    """Where all are counted it is wrong, and nobody has said whether that is meant."""
    assert judged(CAPPED.format("1")).verdict == "right"
    assert judged(CAPPED.format("np.cos(x[0] * most)")).verdict in ("wrong", "inconclusive")


def test_which_loops_look_for_something():
    def found_at_last(x):
        for v in x:
            if v > 0:
                break
        return v

    def with_a_word_for_none(x):
        for v in x:
            if v > 0:
                break
        else:
            v = 0.0
        return v

    def counted_up(x):
        total = 0.0
        for v in x:
            if v < 0:
                break
            total += v
        return total

    nothing = (np.array([-1.0, -2.0]),)
    assert Searches(found_at_last).find_nothing(nothing, {})
    assert not Searches(found_at_last).find_nothing((np.array([-1.0, 2.0]),), {})
    assert not Searches(with_a_word_for_none).has_any and not Searches(counted_up).has_any
    assert not Searches(np.sum).has_any and not Searches(np.sum).find_nothing(nothing, {})


HALVED = """
def f(push, slack):
    low, high = 0.0, push
    while high - low > 1e-15 * push:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if middle + slack * middle**3 > push:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@rl.rrule_for(f, registry=registry)
def f_rrule(push, slack):
    x = f(push, slack)
    stiffness = 1 + {} * slack * x**2
    return x, lambda y_bar: (rl.NoTangent(), y_bar / stiffness, -(x**3) * y_bar / stiffness)
"""


@pytest.mark.slow
@pytest.mark.parametrize("at", [(), (1.5, 0.2)])
def test_what_halving_comes_to_is_not_wrong_where_it_finds_nothing(at):
    """Below zero nothing is halved, or there is no root; and the steps, halved or not, are no formula."""
    report, made = judged(HALVED.format(3), *at), written(HALVED.format(3))
    assert report.verdict == "inconclusive" and "other signs" in report.reason
    assert prove(made["f"], at=at or None, registry=made["registry"]).verdict.word == "UNDECIDED"
    wrong = judged(HALVED.format(2), *at), written(HALVED.format(2))
    assert wrong[0].verdict == "wrong"
    assert prove(wrong[1]["f"], at=at or None, registry=wrong[1]["registry"]).verdict.word == "REFUTED"


BRACKET = """
def f(c, lo=0.0, hi=10.0):
    while hi - lo > 1e-14 * max(1.0, hi):
        mid = 0.5 * (lo + hi)
        if mid**3 + mid < c:
            lo = mid
        else:
            hi = mid
        if hi - lo < 4e-16 * hi:
            break
    return 0.5 * (lo + hi)


@rl.rrule_for(f, registry=registry)
def f_rrule(c, lo=0.0, hi=10.0):
    x = f(c, lo, hi)

    def back(y_bar):
        return rl.NoTangent(), y_bar / (3 * x**2 + 1), rl.ZeroTangent(), rl.ZeroTangent()

    return x, back
"""


@pytest.mark.slow
def test_a_bisection_that_comes_to_an_end_of_what_it_halves_condemns_no_rule():
    """Nobody said that there is a root between the ends; a rule that is wrong where there is one is wrong."""
    report = judged(BRACKET)
    assert report.verdict == "inconclusive" and "an end of the interval that it searches" in report.sentence
    assert judged(BRACKET.replace("3 * x**2 + 1", "3 * x**2")).verdict == "wrong"


SPLIT = """
def f(z, a, b):
    low, high = 0.0, 1.0
    for _ in range(60):
        v = 0.5 * (low + high)
        if z * (a - 1) / (1 + v * (a - 1)) + (1 - z) * (b - 1) / (1 + v * (b - 1)) > 0:
            low = v
        else:
            high = v
    return 0.5 * (low + high)


@rl.rrule_for(f, registry=registry)
def f_rrule(z, a, b):
    v = f(z, a, b)
    p, q = 1 + v * (a - 1), 1 + v * (b - 1)
    slope = z * (a - 1) ** 2 / p**2 + (1 - z) * (b - 1) ** 2 / q**2

    def back(v_bar):
        g = v_bar / slope
        return rl.NoTangent(), g * ((a - 1) / p - (b - 1) / q), g * z / p**2, FACTOR * g * (1 - z) / q**2

    return v, back
"""


@pytest.mark.slow
@pytest.mark.parametrize("factor, verdict, word", [(1, "inconclusive", "UNDECIDED"), (2, "wrong", "REFUTED")])
def test_numbers_and_proof_agree_on_what_a_bracket_without_a_root_says(factor, verdict, word):
    """A liquid that nothing boils from has no fraction of vapour; the bisection comes to an end of its
    bracket, of which the rule of a root says nothing.
    """
    text = SPLIT.replace("FACTOR", str(factor))
    report, made = judged(text), written(text)
    assert report.verdict == verdict, report.sentence
    assert prove(made["f"], registry=made["registry"], time_limit=60.0).verdict.word == word
