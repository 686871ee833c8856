"""Intervals of arguments: as wide as the function takes them, each by itself."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def angle(s):
    return math.asin(s)


def rapidity(v):
    return np.arctanh(v)


def grown(start, rate):
    return start**rate


def log_odds(p):
    return math.log(p / (1 - p))


def signed(of):
    """The rule with a slope that is right above zero."""

    def angle_rule(s):
        return angle(s), lambda y_bar: (NO, of(y_bar, s) / math.sqrt(1 - s * s))

    def rapidity_rule(v):
        return rapidity(v), lambda y_bar: (NO, of(y_bar, v) / (1 - v * v))

    def grown_rule(start, rate):
        y = grown(start, rate)
        return y, lambda y_bar: (NO, y_bar * rate * y / start, of(y_bar, rate) * y * math.log(start))

    return {angle: angle_rule, rapidity: rapidity_rule, grown: grown_rule}


@pytest.mark.parametrize("f", [angle, rapidity, grown])
def test_a_slope_that_is_right_above_zero_alone_is_wrong(f):
    """Between 0 and 1, and where all arguments are positive, such a rule was right, and proved."""
    for of, word in ((lambda y_bar, _: y_bar, "right"), (lambda y_bar, x: y_bar * np.sign(x), "wrong")):
        rule = signed(of)[f]
        assert rule_check(f, registry=registry_with(f, rule)).verdict == word
        assert prove(f, rule).verdict.sentence().startswith(word)


def test_a_function_of_probabilities_is_asked_between_zero_and_one():
    """There are signs by luck: of four draws between -1 and 1 three may be positive."""

    def rule(p):
        return log_odds(p), lambda y_bar: (NO, y_bar / (p * (1 - p)))

    found = rule_check(log_odds, registry=registry_with(log_odds, rule))
    assert found.verdict == "right" and "p: a number, between 0 and 1" in found.notes[0]
