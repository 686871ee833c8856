"""Tests of what is a whole number by its use: right rules that hold it are right, wrong ones are caught."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

special = pytest.importorskip("scipy.special")
NO = rl.NoTangent()


def log_probability(trials, hits, share):
    left = trials - hits
    ways = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(left + 1)
    return ways + hits * math.log(share) + left * math.log1p(-share)


def log_probability_with(wrong):
    def rule(trials, hits, share):
        def pullback(y_bar):
            missed = trials if wrong else trials - hits
            return NO, NO, NO, y_bar * (hits / share - missed / (1 - share))

        return log_probability(trials, hits, share), pullback

    return rule


def seen_often(numbers, log_mean, spread):
    """Log-likelihood of numbers of events, up to a constant, with more spread than a Poisson process has."""
    mean = np.exp(log_mean)
    of_each = special.gammaln(numbers + spread) - special.gammaln(numbers + 1) - special.gammaln(spread)
    return np.sum(of_each + numbers * np.log(mean) - (numbers + spread) * np.log(mean + spread))


def seen_often_with(wrong):
    def rule(numbers, log_mean, spread):
        mean = np.exp(log_mean)

        def pullback(y_bar):
            of_mean = np.sum(numbers - (numbers + spread) * mean / (mean + spread))
            of_spread = special.digamma(numbers + spread) - special.digamma(spread) - np.log(mean + spread)
            of_spread = np.sum(of_spread - (numbers + spread) / (mean + spread))
            return NO, NO, y_bar * of_mean, y_bar * (of_spread / 2 if wrong else of_spread)

        return seen_often(numbers, log_mean, spread), pullback

    return rule


def by_kind(kind, x):
    return x**3 if kind == 2 else x**2 if kind == 1 else kind + np.sin(x)


def by_kind_with(wrong):
    def rule(kind, x):
        slope = 3 * x**2 if kind == 2 else (x if wrong else 2 * x) if kind == 1 else np.cos(x)
        return by_kind(kind, x), lambda y_bar: (NO, NO, y_bar * slope)

    return rule


def echoed(x, share, delay):
    y = x.copy()
    y[delay:] += share * x[:-delay]
    return y


def echoed_with(wrong):
    def rule(x, share, delay):
        def pullback(y_bar):
            x_bar = y_bar.copy()
            x_bar[:-delay] += (1 if wrong else share) * y_bar[delay:]
            return NO, x_bar, y_bar[delay:] @ x[:-delay], NO

        return echoed(x, share, delay), pullback

    return rule


def worth(payment, interest, years):
    total = 0.0
    for year in range(1, years + 1):
        total += payment / (1 + interest) ** year
    return total


def worth_with(wrong):
    def rule(payment, interest, years):
        year = np.arange(1, years + (0 if wrong else 1))

        def pullback(y_bar):
            parts = (1 + interest) ** -year.astype(float)
            slope = -payment * np.sum(year * parts) / (1 + interest)
            return NO, y_bar * np.sum(parts), y_bar * slope, NO

        return worth(payment, interest, years), pullback

    return rule


PAIRS = [
    (log_probability, log_probability_with),
    (seen_often, seen_often_with),
    (by_kind, by_kind_with),
    (echoed, echoed_with),
    (worth, worth_with),
]


@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "rule_with"), PAIRS, ids=lambda one: one.__name__)
def test_what_is_counted_is_held(f, rule_with):
    """By its factorial, by a cut, by a range, by whole numbers that it is compared with: a rule that says
    `NoTangent()` of it drops nothing, and what is wrong with its other numbers is seen.
    """
    right, wrong = (rule_check(f, registry=registry_with(f, rule_with(which))) for which in (0, 1))
    assert (right.verdict, wrong.verdict) == ("right", "wrong")
    assert wrong.findings[0].argument not in ("trials", "hits", "numbers", "kind", "delay", "years")


@pytest.mark.parametrize(("f", "rule_with"), PAIRS[:3], ids=lambda one: one.__name__)
def test_no_proof_refutes_a_rule_by_what_it_holds(f, rule_with):
    assert prove(f, registry=registry_with(f, rule_with(0))).verdict.word != "REFUTED"


def eased(x, part):
    return x if part == 0 else x * np.sin(part) / part


def test_what_is_compared_with_one_number_varies():
    """At zero a formula is another one; a rule that holds the argument drops it."""

    def rule(x, part):
        return eased(x, part), lambda y_bar: (NO, y_bar * eased(1.0, part), NO)

    report = rule_check(eased, registry=registry_with(eased, rule))
    assert report.verdict == "wrong" and report.findings[0].argument == "part"


def log_beta(a, b):
    return special.gammaln(a + 1) + special.gammaln(b + 1) - special.gammaln(a + b + 2)


@pytest.mark.first(1)
@pytest.mark.parametrize(("of_sum", "verdict"), [(2, "right"), (1, "wrong")])
def test_a_rule_that_has_a_cotangent_for_it_is_judged_at_fractions(of_sum, verdict):
    def rule(a, b):
        def pullback(y_bar):
            both = special.digamma(a + b + of_sum)
            own = [special.digamma(x + 1) - both for x in (a, b)]
            return NO, y_bar * own[0], y_bar * own[1]

        return log_beta(a, b), pullback

    report = rule_check(log_beta, registry=registry_with(log_beta, rule))
    assert report.verdict == verdict


def sizes_of_blocks(x, count, size):
    return np.sqrt(np.sum(x.reshape(count, size) ** 2, axis=1))


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", [False, True])
def test_what_is_cut_into_so_many_parts_is_as_long(wrong):
    def rule(x, count, size):
        X = x.reshape(count, size)
        y = np.sqrt(np.sum(X**2, axis=1))

        def pullback(y_bar):
            return NO, (X if wrong else X * (y_bar / y)[:, None]).ravel(), NO, NO

        return y, pullback

    report = rule_check(sizes_of_blocks, registry=registry_with(sizes_of_blocks, rule))
    assert report.verdict == ("wrong" if wrong else "right")
