"""The list of what writes into its argument."""

import operator
import random

import numpy as np
import pytest
from rule_points import registry_of

from rulelab.rules.targets import resolve
from rulelab.rulesets.mutators import TABLE

REGISTRY = registry_of(TABLE)


@pytest.mark.parametrize(
    "callee",
    [
        np.copyto,
        np.put,
        np.fill_diagonal,
        np.random.shuffle,
        np.random.default_rng(0).shuffle,
        random.shuffle,
        np.zeros(2).sort,
        np.zeros(2).fill,
        np.zeros(2).__setitem__,
        np.zeros(2).__iadd__,
        np.ndarray.partition,
        np.add.at,
        operator.setitem,
        operator.iadd,
        [].append,
        [].sort,
        {}.update,
        {}.pop,
        set().add,
    ],
    ids=lambda f: str(f).lower().partition(" at 0x")[0],
)
def test_writers_are_known_however_they_are_reached(callee):
    """A write is recognised through a bound method as well as through the class or the module."""
    target, _ = resolve(callee)
    assert REGISTRY.mutator(target)


@pytest.mark.parametrize(
    "callee",
    [np.sort, np.add, sorted, [].index, {}.get, np.zeros(2).sum, operator.add],
    ids=lambda f: str(f).partition(" at 0x")[0],
)
def test_readers_are_not(callee):
    """What only reads is not called a mutation."""
    target, _ = resolve(callee)
    assert REGISTRY.mutator(target) is None


def test_a_description_names_the_method():
    """The message can say which call it was: `ndarray.sort`."""
    assert "ndarray.sort" in REGISTRY.mutator(np.ndarray.sort)
