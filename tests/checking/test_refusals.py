"""Tests of whom an exception of a rule is held against."""

import numpy as np
import pytest

from rulelab.checking import NoInputsError, rule_check
from rulelab.checking.arguments.guesser import Guesser
from rulelab.checking.arguments.refusals import is_own_fault

from .rules import registry_with

X = np.array([0.5, 1.5, 2.5])


def misspelled(x):
    return np.tahn(x)


def unknown(x):
    return lenght(x)  # noqa: F821


def of_no_such_keyword(x):
    return np.sum(x, axs=0)


def into_integers(x):
    buffer = np.zeros(np.shape(x), dtype=int)
    buffer += x
    return buffer


def only_updated(x):
    total = 0.0

    def add():
        total += np.sum(x)  # noqa: F821, F823
        return total

    return add() + total


def updated_after_a_branch(x):
    if x.size > 9:
        total = 1.0
    total += np.sum(x)
    return total


def of_other_rank(x):
    return np.sum(x, axis=(0, 1))


def unpacked(x):
    rows, columns = np.shape(x)
    return rows * columns


def refusing(x):
    raise TypeError("strings alone")


def raised_by(rule, x):
    with pytest.raises(Exception) as raised:
        rule(x)
    return raised.value


@pytest.mark.parametrize("rule", [misspelled, unknown, of_no_such_keyword, into_integers, only_updated])
def test_what_is_raised_at_any_arguments_is_the_fault_of_the_rule(rule):
    assert is_own_fault(raised_by(rule, X), (X,))


@pytest.mark.parametrize("rule", [of_other_rank, unpacked, refusing, updated_after_a_branch])
def test_what_depends_on_what_was_guessed_is_not(rule):
    assert not is_own_fault(raised_by(rule, X), (X,))


def test_a_buffer_of_integers_is_none_where_a_mask_may_be_meant():
    mask = np.array([True, False, True])
    assert not is_own_fault(raised_by(into_integers, X), (X, mask))


def weighed(x, w):
    return np.bincount(np.arange(3), x)[0] * w.sum()


def weighed_with(x, w):
    return weighed(x, w), lambda y_bar: (None, y_bar * np.eye(3)[0] * w.sum(), y_bar * x[0] * w**0)


def test_arguments_that_a_function_refuses_after_all_are_none_that_were_found(monkeypatch):
    """They may have other lengths than those by which their kinds were found: no error of the check."""
    monkeypatch.setattr(Guesser, "drawn", lambda self, kinds: (np.ones(2), np.ones(3)))
    with pytest.raises(NoInputsError, match="were found that weighed takes: ValueError: The weights"):
        rule_check(weighed, registry=registry_with(weighed, weighed_with))
