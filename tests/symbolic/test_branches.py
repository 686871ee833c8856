"""A function read as a tree of formulas."""

import math

import numpy as np
import pytest
import sympy as sp

from rulelab.errors import DerivationError
from rulelab.symbolic.branches import Branch, Leaf, is_literal, read_function

SCALE = 2.0


def read(f, spec=("scalar",), names=("x",)):
    return read_function(f, names, spec, (), np.random.default_rng(0))


def test_a_function_without_branches_is_one_formula():
    """In symbols of its arguments and of the numbers of its module."""
    reading = read(lambda x: SCALE * math.sin(x))
    assert reading.tree.values == (sp.Symbol("SCALE") * sp.sin(sp.Symbol("x")),)
    assert set(reading.constants) == {"SCALE"}


def test_a_condition_is_a_branch():
    """Both sides with their formulas."""
    tree = read(lambda x: x if x > 1 else x * x).tree
    assert isinstance(tree, Branch) and (tree.relation, tree.right) == (">", 1)
    assert isinstance(tree.yes, Leaf) and tree.no.values == (sp.Symbol("x") ** 2,)


def test_a_condition_that_follows_from_another_is_none():
    """The second asks what the first has answered."""
    tree = read(lambda x: (x if x > 1 else 0.0) + (1.0 if x > 0.5 and x > 1 else 2.0)).tree
    assert isinstance(tree, Branch) and isinstance(tree.yes, Leaf)


def test_a_border_of_the_domain_is_no_branch():
    """log(x) asks for x > 0; where it is not, there is no value."""
    assert isinstance(read(lambda x: math.log(x)).tree, Leaf)


def test_values_beyond_the_formula_are_refused():
    """NumPy's nan made a number: a branch that the formula does not show."""

    def patched(x):
        y = np.log(x)
        return y if y == y else 0.0

    with pytest.raises(DerivationError, match="its formula has none"):
        read(patched)


@pytest.mark.parametrize(
    ("value", "is_one"), [(1, True), ("a", True), ([1, 2], True), (np.ones(2), False), (len, False)]
)
def test_literals_can_be_written_down(value, is_one):
    """Plain numbers, words, short containers."""
    assert is_literal(value) is is_one
