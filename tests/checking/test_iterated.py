"""Functions that come to their end by repeating a step, and rules of what they come to."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.arguments.iterated import Iterated, iteration_of, with_more_steps
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()
TIMES = 40


def square_root(a):
    x = 1.0
    for _ in range(TIMES):
        x = 0.5 * (x + a / x)
    return x


def square_root_with(slope):
    def rule(a):
        x = square_root(a)
        return x, lambda y_bar: (NO, y_bar * slope(x))

    return rule


def _anomaly(M, e, times=50):
    E = M
    for _ in range(times):
        E = E - (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
    return E


def radius(M, e):
    return 1 - e * math.cos(_anomaly(M, e))


def settled(a, b):
    x = 0.0
    for _ in range(100):
        x = math.cos(a * x) + b
    return x


def doubled(x, k):
    for _ in range(20):
        x = x + 0.1 * k * x
    return x


def summed(x):
    total = 0.0
    for i in range(10):
        total = total + x**i
    return total


ENDS = {
    square_root: ((2.0,), (-2.0,)),
    radius: ((1.0, 0.5), (1.0, 2.0)),
    settled: ((0.5, 0.1), (3.0, 0.1)),
    doubled: (None, (1.0, 0.5)),
}


@pytest.mark.parametrize("f", ENDS, ids=lambda f: f.__name__)
def test_more_steps_change_nothing_where_it_has_come_to_its_end(f):
    """The number of steps stands in the loop, in a default of a helper, or under a name of the module."""
    found, (there, elsewhere) = Iterated(f, with_more_steps(f)), ENDS[f]
    assert there is None or found.has_ended(there, {})
    assert not found.has_ended(elsewhere, {})


def test_a_loop_that_looks_at_its_number_is_none_that_comes_to_an_end():
    assert with_more_steps(summed) is None


def test_a_rule_that_repeats_the_steps_itself_is_for_any_number_of_them():
    def unrolled(a):
        steps = [1.0]
        for _ in range(TIMES):
            steps.append(0.5 * (steps[-1] + a / steps[-1]))
        return steps[-1], None

    assert iteration_of(square_root, registry_with(square_root, unrolled)) is None
    of_root = registry_with(square_root, square_root_with(lambda x: 0.5 / x))
    assert iteration_of(square_root, of_root) is not None


def test_a_rule_of_the_root_is_judged_where_it_is_found():
    """Of a negative number there is none, and Newton's method never ends."""
    right = registry_with(square_root, square_root_with(lambda x: 0.5 / x))
    report = rule_check(square_root, registry=right)
    assert report.verdict == "right" and any("converged" in note for note in report.notes)
    wrong = registry_with(square_root, square_root_with(lambda x: 1 / x))
    assert rule_check(square_root, registry=wrong, depth="quick").verdict == "wrong"


def test_a_proof_refutes_no_rule_by_numbers_on_the_way_to_the_root():
    right = registry_with(square_root, square_root_with(lambda x: 0.5 / x))
    assert prove(square_root, registry=right).verdict.word != "REFUTED"
    wrong = registry_with(square_root, square_root_with(lambda x: 1 / x))
    assert prove(square_root, registry=wrong).verdict.word == "REFUTED"


@pytest.mark.slow
def test_a_function_that_comes_to_no_end_is_judged_as_others_are():
    def rule(x, k):
        def pullback(y_bar):
            return NO, y_bar * (1 + 0.1 * k) ** 20, y_bar * x * 2 * (1 + 0.1 * k) ** 19

        return doubled(x, k), pullback

    assert rule_check(doubled, registry=registry_with(doubled, rule)).verdict == "right"
    assert np.isfinite(doubled(1.0, 0.5))


def infiltrated(K, a, t):
    """Green and Ampt's depth of infiltration, by substitution: slow where little has come in."""
    F = K * t
    for _ in range(60):
        F = K * t + a * np.log(1.0 + F / a)
    return F


@pytest.mark.first(1)
@pytest.mark.parametrize(("sign", "verdict"), [(1, "right"), (-1, "wrong")])
def test_a_rule_of_the_limit_is_judged_where_the_slopes_have_settled_too(sign, verdict):
    """Each step is a factor of the slopes, which are further from their limit than the value is."""

    def rule(K, a, t):
        F = infiltrated(K, a, t)

        def pullback(F_bar):
            s = F_bar * (a + F) / F
            return NO, s * t, sign * s * (np.log1p(F / a) - F / (a + F)), s * K

        return F, pullback

    domain = dict.fromkeys(("K", "a", "t"), "positive number")
    report = rule_check(infiltrated, registry=registry_with(infiltrated, rule), domain=domain)
    assert report.verdict == verdict


def fading(rate):
    x = 0.5
    for _ in range(40):
        x = x * rate
    return x


def test_what_fades_away_has_no_end():
    found = Iterated(fading, with_more_steps(fading))
    assert not found.has_ended((0.4,), {}) and found.has_ended((0.0,), {})


@pytest.mark.parametrize(("slope", "verdict"), [(0.5, "right"), (1.0, "wrong")])
def test_beside_given_arguments_it_is_to_have_come_to_its_end_as_there(slope, verdict):
    """With another sign there is no root, which nobody gave."""
    registry = registry_with(square_root, square_root_with(lambda x: slope / x))
    assert rule_check(square_root, 2.0, registry=registry).verdict == verdict


def test_a_number_of_steps_that_is_the_usual_one_is_no_other():
    """Where all arguments are given, the number of steps among them, it is still asked with more."""

    def root(a, steps=50):
        x = a
        for _ in range(steps):
            x = 0.5 * (x + 2.0 / x)
        return x

    found = Iterated(root, with_more_steps(root))
    assert found.has_ended((3.0, 50), {}) and not found.has_ended((1e60, 50), {})
    assert not found.has_ended((1e60,), {}) and found.has_ended((1e60, 400), {})
