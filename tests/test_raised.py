"""What is said of an exception that somebody's code has raised."""

from __future__ import annotations

import numpy as np
import pytest

import rulelab as rl
from rulelab.raised import raised_words, who_recurses
from rulelab.symbolic import derive_rule, prove


def square(x):
    return x * x


def endless(x):
    return endless(x) + 1.0


def even(x):
    return odd(x) * 2.0


def odd(x):
    return even(x) + 1.0


def many_steps(x):
    y = x
    for _ in range(150):
        y = np.sin(y) + x
    return y


LIMIT = "until Python's recursion limit is reached"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: endless(2.0), f"endless calls itself {LIMIT}"),
        (lambda: rl.gradient(endless, 2.0), f"endless calls itself {LIMIT}"),
        (lambda: even(2.0), f"even and odd call each other {LIMIT}"),
    ],
)
def test_a_recursion_is_told_by_who_calls_whom(call, words):
    """The same words wherever it ends, where Python says of which operation of its own came last."""
    with pytest.raises(RecursionError) as found:
        call()
    assert raised_words(found.value) == f"RecursionError: {words}"


def test_a_recursion_of_libraries_alone_is_nobody_elses():
    """Of a list that holds itself too deep, no function of the author's is named."""
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError) as found:
        repr(deep)
    assert who_recurses(found.value) == ""
    words = ("maximum recursion depth exceeded", "Stack overflow")  # the second from Python 3.14 on
    assert raised_words(found.value).startswith(tuple(f"RecursionError: {w}" for w in words))


@pytest.mark.rest
def test_a_rule_that_asks_for_its_own_derivative_is_told_so():
    """By numbers and by proof: such a rule calls itself by way of the AD."""
    twin = rl.twin(square, "twin")

    @rl.rrule_for(twin)
    def twin_rrule(x):
        y, back = rl.pullback(twin, x)
        return y, lambda y_bar: (rl.NoTangent(), *back(y_bar))

    words = f"twin_rrule asks for a derivative that calls twin_rrule again, {LIMIT}"
    report = rl.rule_check(twin, 1.5, depth="quick")
    assert report.verdict == "wrong" and f"raises RecursionError: {words}" in report.sentence
    assert "maximum recursion depth" not in str(report)
    assert words in " ".join(str(prove(twin, time_limit=60)).split())


def test_formulas_too_deep_for_sympy_are_said_to_be_so():
    """With what to do about it, instead of the error that SymPy raises."""
    with pytest.raises(rl.DerivationError) as found:
        derive_rule(many_steps, time_limit=60)
    assert "nest deeper than SymPy can follow" in str(found.value)
    assert "fewer steps" in str(found.value) and "RecursionError" not in str(found.value)
