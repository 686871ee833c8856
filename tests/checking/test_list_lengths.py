"""Lists have several lengths in a check: a rule that is right for lists of one length only is wrong."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.symbolic import prove

from .rules import pair_in, registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def mean(xs):
    total = 0.0
    for x in xs:
        total += x
    return total / len(xs)


def mean_rule(divisor, made=list):
    def rule(xs):
        def back(y_bar):
            return rl.NoTangent(), made([y_bar / (divisor or len(xs)) for _ in xs])

        return mean(xs), back

    return rule


def weighted(xs, w):
    return sum(x * weight for x, weight in zip(xs, w, strict=True)) / len(w)


def weighted_rule(divisor):
    def rule(xs, w):
        def back(y_bar):
            by = y_bar / (divisor or len(w))
            return rl.NoTangent(), [by * weight for weight in w], by * np.array(xs)

        return weighted(xs, w), back

    return rule


PAIRS = {}
pair = pair_in(PAIRS)


def poly(c, x):
    total = 0.0
    for a in c[::-1]:
        total = total * x + a
    return total


@pair(poly)
def poly_rule(wrong):
    def rule(c, x):
        def back(y_bar):
            factors = [1 if wrong else k for k in range(len(c))]
            x_bar = y_bar * sum(factors[k] * c[k] * x ** (k - 1) for k in range(1, len(c)))
            return rl.NoTangent(), [y_bar * x**k for k in range(len(c))], x_bar

        return poly(c, x), back

    return rule


def norms(parts):
    return sum(np.sum(part**2) for part in parts) / len(parts)


@pair(norms)
def norms_rule(wrong):
    def rule(parts):
        def back(y_bar):
            return rl.NoTangent(), [2 * part * y_bar / (3 if wrong else len(parts)) for part in parts]

        return norms(parts), back

    return rule


@pytest.mark.parametrize("name", PAIRS)
def test_a_rule_for_drawn_lists_of_one_length_is_wrong(name):
    """Coefficients of a line have no factor 2, 3, ...: a rule without them is right for two of them."""
    f, rule_with = PAIRS[name]
    right, wrong = (registry_with(f, rule_with(is_wrong)) for is_wrong in (False, True))
    assert rule_check(f, registry=right).verdict == "right"
    assert rule_check(f, registry=wrong).verdict == "wrong"


@pytest.mark.parametrize("made", [list, tuple])
def test_given_lists_are_judged_at_other_lengths_too(made):
    given = made([1.0, 2.0, 4.0])
    for divisor, verdict in ((None, "right"), (3, "wrong")):
        found = rule_check(mean, given, registry=registry_with(mean, mean_rule(divisor, made)))
        assert found.verdict == verdict


def test_arrays_that_are_as_long_as_a_list_stay_so():
    given = [1.0, 2.0, 4.0], np.array([0.5, 1.5, -1.0])
    for divisor, verdict in ((None, "right"), (3, "wrong")):
        registry = registry_with(weighted, weighted_rule(divisor))
        assert rule_check(weighted, *given, registry=registry).verdict == verdict


def test_a_proof_for_one_length_of_a_list_is_no_proof():
    assert prove(mean, mean_rule(None)).verdict.word == "PROVED"
    assert prove(mean, registry=registry_with(mean, mean_rule(3))).verdict.word == "REFUTED"


def test_a_list_of_a_fixed_number_of_parameters_stays_as_it_is():
    """The function has no use for a third element, and the rule need not answer for it."""

    def line(p, x):
        return p[0] * x + p[1]

    def line_rule(p, x):
        return line(p, x), lambda y_bar: (rl.NoTangent(), [x * y_bar, y_bar], p[0] * y_bar)

    registry = registry_with(line, line_rule)
    assert rule_check(line, [2.0, 3.0], 0.5, registry=registry).verdict == "right"


def test_a_rule_that_answers_for_fewer_elements_than_are_drawn_is_not_condemned():
    """A list that nobody gave may be longer than those that are meant."""

    def total(p):
        return sum(p) ** 2

    def total_rule(p):
        return total(p), lambda y_bar: (rl.NoTangent(), [2 * sum(p) * y_bar] * 2)

    registry = registry_with(total, total_rule)
    assert rule_check(total, [2.0, 3.0], registry=registry).verdict == "right"
