"""Tests of arguments that are drawn because a mistake shows at them alone: right rules are right, wrong ones
caught.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.probing.drawing import draw
from rulelab.checking.reading.kinds import Kind
from rulelab.symbolic import prove

from .rules import pair_in, registry_with
from .written_rules import judged as judged_by_text

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()
PAIRS = {}
pair = pair_in(PAIRS)


def horner(x, terms: int):
    """A geometric series of so many terms."""
    y = 0.0
    for _ in range(terms):
        y = y * x + 1.0
    return y


@pair(horner)
def horner_with(wrong):
    def rule(x: float, terms: int):
        def pullback(y_bar):
            most = min(terms, 5) if wrong else terms
            return NO, y_bar * sum(k * x ** (k - 1) for k in range(1, most)), NO

        return horner(x, terms), pullback

    return rule


def lagged(x, k: int):
    """The sum of products of numbers that are so many places apart."""
    return np.sum(x[k:] * x[: len(x) - k])


@pair(lagged)
def lagged_with(wrong):
    def rule(x: np.ndarray, k: int):
        def pullback(y_bar):
            x_bar, n = np.zeros(len(x)), min(k, 5) if wrong else k
            x_bar[k:] += y_bar * x[: len(x) - k]
            x_bar[: len(x) - n] += y_bar * np.resize(x[n:], len(x) - n)
            return NO, x_bar, NO

        return lagged(x, k), pullback

    return rule


def stepped(A, B, x, u):
    """A step of a linear system with an input."""
    return A @ x + B @ u


@pair(stepped)
def stepped_with(wrong):
    def rule(A, B, x, u):
        def pullback(y_bar):
            x_bar = rl.thunk(lambda: (A if wrong else A.T) @ y_bar)
            return NO, np.outer(y_bar, x), np.outer(y_bar, u), x_bar, B.T @ y_bar

        return stepped(A, B, x, u), pullback

    return rule


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


def recent(x, weights):
    """The last numbers, weighted, the newest first."""
    last = x[::-1][: len(weights)]
    return last @ weights[: len(last)]


@pair(recent)
def recent_with(wrong):
    def rule(x: np.ndarray, weights: np.ndarray):
        n, m = len(x), min(len(x), len(weights))
        end = min(n, 6) if wrong else n

        def pullback(y_bar):
            x_bar, weights_bar = np.zeros(n), np.zeros(len(weights))
            x_bar[max(0, end - m) : end] = y_bar * weights[:m][::-1]
            weights_bar[:m] = y_bar * x[::-1][:m]
            return NO, x_bar, weights_bar

        return recent(x, weights), pullback

    return rule


_FEW = (1.0, -2.0, 3.0, -4.0, 5.0, -6.0)


def weighed(x):
    """A sum with weights of either sign."""
    return sum((-1.0) ** k * (k + 1) * x_k for k, x_k in enumerate(x))


@pair(weighed)
def weighed_with(wrong):
    def rule(x: np.ndarray):
        def pullback(y_bar):
            if wrong:
                return NO, np.array([_FEW[k] for k in range(len(x))]) * y_bar
            return NO, np.array([(-1.0) ** k * (k + 1) for k in range(len(x))]) * y_bar

        return weighed(x), pullback

    return rule


def coupled(x, log_scale, shift):
    """A coupling layer: the second half of x is scaled and shifted."""
    k = len(log_scale)
    return np.concatenate([x[:k], x[k:] * np.exp(log_scale) + shift])


@pair(coupled)
def coupled_with(wrong):
    def rule(x, log_scale, shift):
        k = len(log_scale)
        e = np.exp(log_scale)

        def pullback(y_bar):
            x_bar = np.concatenate([y_bar[:k], y_bar[k:] * (1.0 if wrong else e)])
            return NO, x_bar, x[k:] * e * y_bar[k:], y_bar[k:]

        return coupled(x, log_scale, shift), pullback

    return rule


def infections(contacts, infected, population):
    """New infections of each group for a matrix of contacts."""
    return contacts @ (infected / population)


@pair(infections)
def infections_with(wrong):
    def rule(contacts, infected, population):
        share = infected / population

        def pullback(y_bar):
            share_bar = contacts.T @ y_bar
            outer = np.outer(share, y_bar) if wrong else np.outer(y_bar, share)
            return NO, outer, share_bar / population, -share_bar * share / population

        return contacts @ share, pullback

    return rule


@pytest.mark.first(1)
@pytest.mark.parametrize("name", PAIRS)
def test_a_mistake_is_seen_at_what_is_drawn_for_it(name):
    """Given nothing, the wrong rule is called wrong and the right one right."""
    f, rule_with = PAIRS[name]
    said = [rule_check(f, registry=registry_with(f, rule_with(wrong))).verdict for wrong in (0, 1)]
    assert said == ["right", "wrong"]


@pytest.mark.first(1)
@pytest.mark.parametrize("name", PAIRS)
def test_a_proof_goes_with_what_numbers_say_there(name):
    """The right rule is PROVED, and the wrong one REFUTED."""
    f, rule_with = PAIRS[name]
    said = [prove(f, registry=registry_with(f, rule_with(wrong))).verdict.word for wrong in (0, 1)]
    assert said == ["PROVED", "REFUTED"]


def strength(conc, charges):
    """Ionic strength of a solution; the charges are whole numbers."""
    return 0.5 * np.sum(conc * charges**2)


GIVEN = (np.array([1.0, 0.5, 2.0]), np.array([1, -2, 3]))


@pytest.mark.first(1)
@pytest.mark.parametrize("given", [(), GIVEN], ids=["drawn", "given"])
def test_whole_numbers_that_are_reckoned_with_are_asked_beside_fractions(given):
    """The rule has a cotangent of them: it is compared, and a buffer of integers cuts it off."""

    def rule_in(make):
        def rule(conc, charges):
            def pullback(y_bar):
                charges_bar = make(charges)
                charges_bar[:] = conc * charges * y_bar
                return NO, 0.5 * charges**2 * y_bar, charges_bar

            return strength(conc, charges), pullback

        return registry_with(strength, rule)

    assert rule_check(strength, *given, registry=rule_in(lambda x: np.zeros(len(x)))).verdict == "right"
    assert rule_check(strength, *given, registry=rule_in(np.zeros_like)).verdict == "wrong"


SPREAD = '''
def f(values, labels, k):
    """Sum of squares of each group.

    Parameters
    ----------
    values : ndarray, shape (n,)
    labels : ndarray of int, shape (n,)
        Group of each value, 0 to k - 1.
    k : int
    """
    return np.bincount(labels, weights=values**2, minlength=k)


@rl.rrule_for(f, registry=registry)
def f_rrule(values, labels, k):
    def back(y_bar):
        values_bar = np.zeros(len(values))
        for j in range({groups}):
            values_bar[labels == j] = 2 * y_bar[j] * values[labels == j]
        return rl.NoTangent(), values_bar, rl.NoTangent(), rl.NoTangent()

    return f(values, labels, k), back
'''


@pytest.mark.parametrize(("groups", "verdict"), [("k", "right"), ("k - 1", "wrong")])
def test_there_are_no_labels_beyond_the_count(groups, verdict):
    """Not where the count is varied, either."""
    assert judged_by_text(SPREAD.format(groups=groups)).verdict == verdict


def test_indices_that_are_drawn_are_neither_all_the_same_nor_in_order():
    """What sorts them first, as a rule of a sum into places may, is wrong for them."""
    for seed in range(200):
        drawn = draw(Kind("indices"), np.random.default_rng(seed))
        assert drawn.size == 3 and np.any(np.diff(drawn) < 0) and drawn.min() >= 0 and drawn.max() < 3
