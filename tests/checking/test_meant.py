"""Which arguments are meant by a function, where nobody gave any."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.testing.meant import IntendedArguments
from rulelab.symbolic import prove

from .rules import registry_with

NO = rl.NoTangent()


def pooled(tokens, mask):
    return (tokens * mask[:, None]).sum(axis=0) / np.maximum(mask.sum(), 1e-9)


def pooled_with(factor):
    def rule(tokens, mask):
        total = np.maximum(mask.sum(), 1e-9)
        y = mask @ tokens / total

        def pullback(y_bar):
            return NO, factor * np.outer(mask, y_bar) / total, (tokens - y) @ y_bar / total

        return y, pullback

    return rule


def degree_days(temp, base, cap):
    return np.sum(np.clip(temp - base, 0, cap))


def degree_days_with(factor):
    def rule(temp, base, cap):
        over = temp - base

        def pullback(y_bar):
            grows = (over > 0) & (over < cap)
            return NO, y_bar * grows, -factor * y_bar * np.sum(grows), y_bar * np.sum(over >= cap)

        return degree_days(temp, base, cap), pullback

    return rule


def mean_path(vols, z, drift, start):
    return start * np.mean(np.exp(np.cumsum(drift - 0.5 * vols**2 + vols * z)))


def mean_path_with(factor):
    def rule(vols, z, drift, start):
        path = np.exp(np.cumsum(drift - 0.5 * vols**2 + vols * z))

        def pullback(y_bar):
            step_bar = factor * np.cumsum(path[::-1])[::-1] * start * y_bar / len(z)
            return NO, step_bar * (z - vols), step_bar * vols, np.sum(step_bar), y_bar * np.mean(path)

        return start * np.mean(path), pullback

    return rule


OUTSIDE = {
    "an interval": (pooled, pooled_with, (np.ones((2, 3)), np.array([-2.0, 1.0]))),
    "an order": (degree_days, degree_days_with, (np.array([1.0, 3.0]), 2.0, -0.5)),
    "a rank": (mean_path, mean_path_with, (np.ones(2), np.ones(2), 0.5, np.ones(2))),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("name", OUTSIDE)
def test_arguments_outside_of_what_is_meant_are_excluded_for_right_rules(name):
    """A wrong rule is wrong where it is meant to be right, and may be shown so anywhere."""
    f, rule_with, args = OUTSIDE[name]
    right, wrong = (IntendedArguments(f, {}, registry_with(f, rule_with(factor))) for factor in (1.0, 2.0))
    assert right.excludes(args) and not wrong.excludes(args)
    assert not right.excludes(right.guesser.drawn(right.kinds[0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTSIDE)
def test_no_right_rule_is_refuted_there(name):
    """It is proved for what is meant, with that in the headline, or it cannot be told."""
    f, rule_with, _ = OUTSIDE[name]
    found = prove(f, registry=registry_with(f, rule_with(1.0))).verdict
    assert found.word != "REFUTED", found
    assert prove(f, registry=registry_with(f, rule_with(2.0))).verdict.word == "REFUTED"


def diode(voltage, resistance, saturation=0.01, thermal=0.5):
    i = 0.0
    for _ in range(100):
        grown = saturation * np.exp((voltage - i * resistance) / thermal)
        i = i - (i - grown + saturation) / (1 + grown * resistance / thermal)
    return i


def diode_with(factor):
    def rule(voltage, resistance, saturation=0.01, thermal=0.5):
        i = diode(voltage, resistance, saturation, thermal)
        u, slope = (voltage - i * resistance) / thermal, (i + saturation) / thermal

        def pullback(i_bar):
            w = i_bar / (1 + slope * resistance)
            return NO, factor * w * slope, -w * slope * i, w * i / saturation, -w * slope * u

        return i, pullback

    return rule


@pytest.mark.slow
def test_a_default_at_which_newton_s_method_finds_no_root_refutes_no_rule():
    """Of a negative saturation there is no current: the steps end somewhere."""
    found = prove(diode, registry=registry_with(diode, diode_with(1.0)))
    assert found.verdict.word != "REFUTED", str(found)
    assert prove(diode, registry=registry_with(diode, diode_with(2.0))).verdict.word == "REFUTED"
