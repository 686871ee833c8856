"""What no trace of a rule shows is asked on floats: layouts, buffers, what is kept of earlier calls.

Each wrong rule stands beside one that looks like it and is right: the one is not proved, the other is.
"""

import functools

import numpy as np
import pytest

from rulelab import symbolic
from rulelab.tangents.thunks import Thunk
from rulelab.tangents.zeros import NoTangent

NOTHING = NoTangent()
VECTOR = np.array([1.0, 2.0, 3.0])
MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
WEIGHTS = np.array([1.0, 2.0, 3.0])
prove = functools.partial(symbolic.prove, time_limit=60)  # however busy the machine is


def double(x):
    return 2 * x


def weighted(t):
    return t * WEIGHTS


def average(x):
    return np.sum(x) / len(x)


def row_means(a, b):
    return np.outer(a, b).sum(axis=0) / len(a)


def by_cotangent(f, cotangent):
    return lambda x: (f(x), lambda y_bar: (NOTHING, cotangent(y_bar)))


# --- layouts ------------------------------------------------------------------------------------------------


def in_order(which):
    return lambda y_bar: 2 * y_bar.ravel(order=which).reshape(y_bar.shape)


def as_it_lies(y_bar):
    return y_bar if not isinstance(y_bar, np.ndarray) or y_bar.flags.c_contiguous else 2 * y_bar


LYING = {
    "Fortran's order": (double, (MATRIX,), in_order("K"), in_order("C")),
    "not contiguous": (double, (VECTOR,), lambda g: 2 * as_it_lies(g), lambda g: 2 * g),
    "not contiguous, of a number": (
        weighted,
        (2.5,),
        lambda g: as_it_lies(g) @ WEIGHTS,
        lambda g: g @ WEIGHTS,
    ),
    "read-only": (
        double,
        (VECTOR,),
        lambda g: (2 if g.flags.writeable else 3) * g,
        lambda g: 2 * (g if g.flags.writeable else g.copy()),
    ),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", LYING)
def test_an_answer_that_depends_on_how_its_cotangent_lies_in_memory_is_refuted(name):
    f, at, wrong, right = LYING[name]
    assert prove(f, by_cotangent(f, right), at=at).verdict.word == "PROVED"
    verdict = prove(f, by_cotangent(f, wrong), at=at).verdict
    assert verdict.word == "REFUTED" and "cotangent" in verdict.sentence()


# --- one buffer for all answers -----------------------------------------------------------------------------


def buffer_of_a_pullback(handed_out):
    def rule(x):
        made = np.zeros(np.shape(x))

        def back(y_bar):
            made[...] = 2 * y_bar
            return NOTHING, handed_out(made)

        return 2 * x, back

    return rule


def buffer_like(kept, x):
    return kept.setdefault((np.shape(x), type(np.ravel(x)[0])), np.zeros_like(x))


def buffer_of_a_rule(handed_out):
    kept = {}

    def rule(x):
        def back(y_bar):
            made = buffer_like(kept, x)
            made[...] = 2 * y_bar
            return NOTHING, handed_out(made)

        return 2 * x, back

    return rule


def delayed_buffer(handed_out):
    def rule(x):
        made = np.zeros(np.shape(x))

        def back(y_bar):
            def later():
                made[...] = 2 * y_bar
                return handed_out(made)

            return NOTHING, Thunk(later)

        return 2 * x, back

    return rule


def buffer_of_values(handed_out):
    kept = {}

    def rule(x):
        made = buffer_like(kept, x)
        made[...] = 2 * x
        return handed_out(made), lambda y_bar: (NOTHING, 2 * y_bar)

    return rule


@pytest.mark.every(11)
@pytest.mark.parametrize("at", [None, (VECTOR,)], ids=["given nothing", "given"])
@pytest.mark.parametrize(
    "make",
    [buffer_of_a_pullback, buffer_of_a_rule, delayed_buffer, buffer_of_values],
    ids=lambda make: make.__name__,
)
def test_one_buffer_for_all_answers_is_not_proved(make, at):
    """And a copy of it is no mistake."""
    assert prove(double, make(np.copy), at=at).verdict.word != "REFUTED"
    assert prove(double, make(lambda made: made), at=at).verdict.word not in ("PROVED", "AGREES")


# --- what is kept of an earlier call ------------------------------------------------------------------------


def rule_of_average(length):
    kept = {}

    def rule(x):
        known = length(kept, x)
        return average(x), lambda y_bar: (NOTHING, np.full(len(x), y_bar / known()))

    return rule


def of_the_last_call(kept, x):
    kept["length"] = len(x)
    return lambda: kept["length"]


def of_its_own_call(kept, x):
    length = kept["length"] = len(x)
    return lambda: length


def rule_of_row_means(length):
    kept = {}

    def rule(a, b):
        known = length(kept, a)

        def back(y_bar):
            return NOTHING, np.full(len(a), y_bar @ b) / known(), y_bar * np.sum(a) / known()

        return row_means(a, b), back

    return rule


@pytest.mark.every(2)
@pytest.mark.parametrize("given", [False, True], ids=["given nothing", "given"])
@pytest.mark.parametrize(
    "f, make, at",
    [(average, rule_of_average, (VECTOR,)), (row_means, rule_of_row_means, (VECTOR, VECTOR[:2]))],
)
def test_a_length_that_is_held_from_another_call_is_not_proved(f, make, at, given):
    """All calls of one length hide it."""
    assert prove(f, make(of_its_own_call), at=at if given else None).verdict.word == "PROVED"
    verdict = prove(f, make(of_the_last_call), at=at if given else None).verdict
    assert verdict.word == "REFUTED" and "called with other arguments" in verdict.sentence()


# --- whole numbers that were given --------------------------------------------------------------------------


def jumps_with(dtype):
    def cotangent(y_bar, x):
        x_bar = np.zeros_like(x, dtype=dtype)
        x_bar[1:] += y_bar / 3
        x_bar[:-1] -= y_bar / 3
        return x_bar

    return lambda x: (jumps(x), lambda y_bar: (NOTHING, cotangent(y_bar, x)))


def jumps(x):
    return np.diff(x) / 3


def test_a_rule_that_fails_at_the_whole_numbers_given_is_refuted():
    """A buffer of whole numbers takes no fractions: an exception at what was given condemns a rule."""
    whole, floats = np.array([1, 4, 2]), np.array([1.0, 4.0, 2.0])
    wrong = prove(jumps, jumps_with(None), at=(whole,)).verdict
    assert wrong.word == "REFUTED" and "whole numbers that were given" in wrong.reason
    assert prove(jumps, jumps_with(None), at=(floats,)).verdict.word == "PROVED"
    assert prove(jumps, jumps_with(float), at=(whole,)).verdict.word == "PROVED"
