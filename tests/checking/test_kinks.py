"""Tests of what is said at kinks: right conventions pass, whatever they are, and wrong ones do not."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.probing.closeness import Tolerance, closeness
from rulelab.checking.probing.kinks import kink_findings
from rulelab.checking.probing.probes import Point, probe_reverse, truth_at
from rulelab.checking.testing.checks import Checking
from rulelab.checking.testing.testers import checking

from .rules import counts_all_rrule, largest, largest_rrule, registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def at(f, rule, x):
    """The findings of a check that begins at x."""
    return rule_check(f, x, registry=registry_with(f, rule))


def modulus(x):
    return np.sum(np.abs(x))


def modulus_rrule(slope):
    """A rule with this slope at zero."""

    def rule(x):
        def pullback(y_bar):
            return rl.NoTangent(), y_bar * np.where(x == 0, slope, np.sign(x))

        return np.sum(np.abs(x)), pullback

    return rule


@pytest.mark.every(2)
@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0, 0.3])
def test_any_subgradient_of_the_modulus_is_right(slope):
    """Which one is a convention."""
    assert at(modulus, modulus_rrule(slope), np.array([0.0, 1.5, -2.0]))


@pytest.mark.parametrize("slope", [1.5, -2.0, 1e6])
def test_no_other_number_is(slope):
    """It is not among the slopes close by."""
    found = at(modulus, modulus_rrule(slope), np.array([0.0, 1.5, -2.0]))
    assert found.verdict == "wrong" and any(f.check == "kink" for f in found.findings)


def test_a_nan_at_a_kink_is_a_convention_too():
    """Some say that there is no derivative."""
    assert at(modulus, modulus_rrule(np.nan), np.array([0.0, 1.5]))


@pytest.mark.every(3)
@pytest.mark.parametrize("x", [[2.0, 2.0], [1.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]])
def test_ties_of_a_maximum(x):
    """One of them, or a part for each; not all of it for each."""

    def shared_rrule(x):
        def shared_pullback(y_bar):
            chosen = x == np.max(x)
            return rl.NoTangent(), y_bar * chosen / np.sum(chosen)

        return np.max(x), shared_pullback

    x = np.array(x)
    assert at(largest, largest_rrule, x) and at(largest, shared_rrule, x)
    assert at(largest, counts_all_rrule, x).verdict == "wrong"


@pytest.mark.slow
def test_the_middle_one_of_equal_numbers():
    """Its one-sided slopes are zero in every direction; close by they are not."""
    assert rule_check(np.median, np.array([1.0, 1.0, 1.0]))
    assert rule_check(sorted, [1.0, 1.0, 1.0])


def test_a_jump_is_no_kink():
    """There are slopes of any size close by: nothing can be said, and nothing is."""

    def stairs(x):
        return np.sum(np.floor(x) + x)

    def stairs_rrule(x):
        return stairs(x), lambda y_bar: (rl.NoTangent(), y_bar * np.ones_like(x))

    assert at(stairs, stairs_rrule, np.array([1.0, 2.0]))


def test_only_some_neighbourhoods_are_searched():
    """A function that is all kinks does not make a check slow."""
    from rulelab.checking.judgement import judging

    check = checking(modulus, np.zeros(3), registry=registry_with(modulus, modulus_rrule(0.0)))
    assert isinstance(check, Checking)
    for _ in check.pieces():
        pass
    assert check.kinks <= judging.KINKS


def test_a_right_rule_is_settled_by_a_few_slopes():
    """A number that lies among some of them lies among all, and a slow function is called a few times."""
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return np.max(x)

    def findings_with(rule):
        nonlocal calls
        subject = checking(counted, np.ones(4), registry=registry_with(counted, rule)).subject
        rng, point = np.random.default_rng(0), Point((np.ones(4),))
        probe = probe_reverse(subject, point, truth_at(subject, point, rng), rng)
        compared, calls = closeness(probe, Tolerance.of(probe), False), 0
        return list(kink_findings(subject, probe, compared, rng)), calls

    found, few = findings_with(largest_rrule)
    assert not found and few <= 300
    found, many = findings_with(counts_all_rrule)
    assert found and many > few


def log_of_determinant_rrule(a):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * np.linalg.inv(a).T

    return np.linalg.slogdet(a)[1], pullback


def test_what_a_singular_matrix_gives_by_rounding_is_no_kink():
    """A pole that rounding has missed has slopes that grow towards it, and numbers that cancel."""

    def log_of_determinant(a):
        return np.linalg.slogdet(a)[1]

    x = np.array([[1.1, 1.1], [1.1, np.nextafter(1.1, 2.0)]])
    registry = registry_with(log_of_determinant, log_of_determinant_rrule)
    subject = checking(log_of_determinant, x, registry=registry).subject
    point = Point((x,))
    probe = probe_reverse(
        subject, point, truth_at(subject, point, np.random.default_rng(0)), np.random.default_rng(7)
    )
    compared = closeness(probe, Tolerance.of(probe), False)
    assert not compared.known.all()
    for seed in range(15, 30):  # of which one has met slopes that grow by less than others
        assert not list(kink_findings(subject, probe, compared, np.random.default_rng(seed)))


def in_pairs(x):
    return x.reshape(-1, 2).max(axis=1)


def counts_all_of_pairs(factor):
    """The rule that gives the whole cotangent to each of two equal numbers."""

    def rule(x):
        y = in_pairs(x)

        def pullback(y_bar):
            return rl.NoTangent(), factor * np.repeat(y_bar, 2) * (x == np.repeat(y, 2))

        return y, pullback

    return rule


def test_a_rule_that_counts_all_of_several_equal_numbers_is_right_but_at_ties_that_nobody_gave():
    """Each of them has the slope that it has on one side."""
    found = rule_check(in_pairs, registry=registry_with(in_pairs, counts_all_of_pairs(1.0)))
    assert found.verdict == "right" and ", but at ties: " in found.sentence


@pytest.mark.every(2)
@pytest.mark.parametrize(("factor", "args"), [(1.0, (np.array([1.0, 1.0]),)), (2.0, ())])
def test_it_is_wrong_at_ties_that_are_given_and_where_it_gives_more_than_that(factor, args):
    registry = registry_with(in_pairs, counts_all_of_pairs(factor))
    assert rule_check(in_pairs, *args, registry=registry, depth="quick").verdict == "wrong"


def logistic(x, r):
    for _ in range(60):
        x = r * x * (1 - x)
    return x


def logistic_rrule(x, r):
    """The derivative of each step, as it is."""
    kept, y = [], x
    for _ in range(60):
        kept.append(y)
        y = r * y * (1 - y)

    def pullback(y_bar):
        r_bar = 0.0
        for state in reversed(kept):
            r_bar += y_bar * state * (1 - state)
            y_bar = y_bar * r * (1 - 2 * state)
        return rl.NoTangent(), y_bar, r_bar

    return y, pullback


def test_a_function_that_turns_within_a_step_has_no_slopes_to_judge_by():
    """A chaotic one has large derivatives which no difference meets; a right rule is not blamed for them."""
    report = rule_check(logistic, 0.3, 3.9, registry=registry_with(logistic, logistic_rrule))
    assert report.verdict == "right", report.details()


def test_a_wrong_rule_of_a_chaotic_function_is_found_where_it_is_calm():
    """The points at which it can be measured still decide."""

    def doubled(x, r):
        y, back = logistic_rrule(x, r)
        return y, lambda y_bar: tuple(2 * b if isinstance(b, float) else b for b in back(y_bar))

    assert rule_check(logistic, 0.3, 0.9, registry=registry_with(logistic, doubled)).verdict == "wrong"


def unequal(x, y):
    return 1e13 * x + 1e-4 * y


def unequal_rrule(of_x):
    def rule(x, y):
        return unequal(x, y), lambda z_bar: (rl.NoTangent(), of_x * z_bar, 1e-4 * z_bar)

    return rule


@pytest.mark.parametrize("of_x, verdict", [(1e13, "right"), (2e13, "wrong")])
def test_a_slope_that_goes_under_in_the_rounding_of_the_value_is_no_kink(of_x, verdict):
    """Of `1e13 * x + 1e-4 * y` nearly no digit depends on y, so differences see none of its slope."""
    registry = registry_with(unequal, unequal_rrule(of_x))
    assert rule_check(unequal, 0.7, 0.9, registry=registry, depth="quick").verdict == verdict


def step(x, v):
    return np.where(x > 0, 1.0, np.where(x < 0, 0.0, v))


@pytest.mark.parametrize(
    "args", [(0.0, 0.0), (np.array([0.0, 1.0]), np.array([0.0, 2.0]))], ids=["numbers", "vectors"]
)
def test_where_a_function_jumps_no_slopes_nearby_bound_a_rule(args):
    """It has a slope by its height at the jump alone."""

    def rule(x, v):
        return step(x, v), lambda y_bar: (rl.NoTangent(), 0.0 * x * y_bar, np.where(x == 0, y_bar, 0.0))

    report = rule_check(step, *args, registry=registry_with(step, rule))
    assert report.verdict == "right", report
