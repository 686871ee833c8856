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


@pytest.mark.first(1)
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


def pooled(x, width):
    rows, length = x.shape
    return x.reshape(rows, length // width, width).max(axis=2)


def pooled_by(size):
    def rule(x, width):
        rows, length = x.shape
        blocks = x.reshape(rows, length // width, width)
        first = np.expand_dims(size(blocks).argmax(axis=2), 2)

        def back(y_bar):
            bar = np.zeros(blocks.shape)
            np.put_along_axis(bar, first, y_bar[:, :, None], axis=2)
            return NO, bar.reshape(x.shape), NO

        return pooled(x, width), back

    return rule


@pytest.mark.slow
def test_lengths_that_are_refused_say_nothing_of_signs():
    """Where a width does not divide a length, numbers of any sign seemed to be refused, and positive ones
    were taken: a rule that picks the largest by size was right, and proved."""
    for size, word in ((np.asarray, "right"), (np.abs, "wrong")):
        assert rule_check(pooled, registry=registry_with(pooled, pooled_by(size))).verdict == word
