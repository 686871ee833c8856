"""Tests of arguments that are drawn because a mistake shows at them alone: right rules are right, wrong ones
caught.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()
PAIRS = {}


def log_odds(index, y):
    """The log-likelihood of a logit model, of the linear predictor that is called its index."""
    return np.sum(y * index - np.logaddexp(0.0, index))


@pair(log_odds)
def log_odds_with(wrong):
    def rule(index: np.ndarray, y: np.ndarray):
        p = 1 / (1 + np.exp(-np.abs(index) if wrong else -index))

        def pullback(y_bar):
            return NO, y_bar * (y - p), y_bar * index

        return log_odds(index, y), pullback

    return rule


def spun(w, frame):
    """The velocities of the columns of a frame that turns."""
    return np.cross(w, frame, axisb=0, axisc=0)


@pair(spun)
def spun_with(wrong):
    def rule(w: np.ndarray, frame: np.ndarray):
        def pullback(y_bar):
            w_bar = np.cross(frame, y_bar, axis=0).sum(axis=1)
            return NO, -w_bar if wrong else w_bar, np.cross(y_bar, w, axisa=0, axisc=0)

        return spun(w, frame), pullback

    return rule


def response(kernel, patch):
    """The response of a kernel to a patch that is laid out row by row."""
    return kernel.reshape(-1) @ patch


@pair(response)
def response_with(wrong):
    def rule(kernel: np.ndarray, patch: np.ndarray):
        def pullback(y_bar):
            flat = kernel.ravel(order="K" if wrong else "C")
            return NO, (y_bar * patch).reshape(kernel.shape), y_bar * flat

        return response(kernel, patch), pullback

    return rule


@pytest.mark.parametrize("name", PAIRS)
def test_a_mistake_is_seen_at_what_is_drawn_for_it(name):
    """Given nothing, the wrong rule is called wrong and the right one right."""
    f, rule_with = PAIRS[name]
    said = [rule_check(f, registry=registry_with(f, rule_with(wrong))).verdict for wrong in (0, 1)]
    assert said == ["right", "wrong"]


@pytest.mark.parametrize("name", PAIRS)
def test_a_proof_goes_with_what_numbers_say_there(name):
    """The right rule is PROVED, and the wrong one REFUTED."""
    f, rule_with = PAIRS[name]
    said = [prove(f, registry=registry_with(f, rule_with(wrong))).verdict.word for wrong in (0, 1)]
    assert said == ["PROVED", "REFUTED"]
