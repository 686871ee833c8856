"""Tests of rules of what is looked up in tables: they are for what has a place there."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def log_survival(t, rates, knots):
    edges = np.concatenate([[0.0], knots, [np.inf]])
    return -np.sum(rates * np.clip(t - edges[:-1], 0.0, np.diff(edges)))


def log_survival_with(wrong):
    def rule(t, rates, knots):
        edges = np.concatenate([[0.0], knots, [np.inf]])
        spent = np.clip(t - edges[:-1], 0.0, np.diff(edges))
        place = np.searchsorted(knots, t)

        def pullback(y_bar):
            knots_bar = np.where(t > knots, y_bar * (rates[1:] - rates[:-1]), 0.0)
            slope = rates[0] if wrong else rates[place]
            return NO, -y_bar * slope, -y_bar * spent, knots_bar

        return -np.sum(rates * spent), pullback

    return rule


def discounted(t, rates):
    """By a rate for each year, of which the last stays."""
    total = 0.0
    for year in range(len(rates)):
        span = t - year if year == len(rates) - 1 else min(t - year, 1.0)
        total += rates[year] * max(span, 0.0)
    return np.exp(-total)


def discounted_with(wrong):
    def rule(t, rates):
        y, year = discounted(t, rates), min(int(t), len(rates) - 1)

        def pullback(y_bar):
            rates_bar = np.zeros(len(rates))
            rates_bar[:year] = -y * y_bar
            rates_bar[year] = -y * y_bar * (1.0 if wrong else t - year)
            return NO, -y * y_bar * rates[year], rates_bar

        return y, pullback

    return rule


PAIRS = [(log_survival, log_survival_with), (discounted, discounted_with)]


@pytest.mark.slow
@pytest.mark.parametrize(("f", "rule_with"), PAIRS, ids=lambda one: one.__name__)
def test_a_rule_is_judged_at_what_has_a_place_in_its_table(f, rule_with):
    """Before the first edge there is none, and `rates[int(t)]` is one from the end for what is negative."""
    right, wrong = (rule_check(f, registry=registry_with(f, rule_with(which))) for which in (0, 1))
    assert (right.verdict, wrong.verdict) == ("right", "wrong")


@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "rule_with"), PAIRS, ids=lambda one: one.__name__)
def test_no_proof_refutes_it_elsewhere(f, rule_with):
    assert prove(f, registry=registry_with(f, rule_with(0))).verdict.word != "REFUTED"


def ramp(t, rate):
    return rate * np.maximum(t - 0.0, 0.0)


def test_a_bound_alone_is_no_table():
    """Below it the function is flat, and its rule has to be."""

    def rule(t, rate):
        return ramp(t, rate), lambda y_bar: (NO, y_bar * rate, y_bar * np.maximum(t, 0.0))

    assert rule_check(ramp, registry=registry_with(ramp, rule)).verdict == "wrong"
