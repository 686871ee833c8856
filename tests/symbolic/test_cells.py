"""Samples cover every orthant and both sides of the borders that were met."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic.cells import (
    Array,
    ComplexNumbers,
    Static,
    Symmetric,
    beside_borders,
    more_samples,
    positive_samples,
    samples,
)
from rulelab.symbolic.scalars import Trace


def test_samples_visit_every_orthant_and_size():
    """For two arguments all four sign patterns come up, small and large."""
    points = list(samples(("scalar", "scalar"), np.random.default_rng(1)))
    assert {(x > 0, y > 0) for x, y in points} == set(itertools.product((True, False), repeat=2))
    assert min(abs(x) for x, _ in points) < 1 < 2.9 < max(abs(x) for x, _ in points)


def test_an_array_that_is_held_is_shown_on_one_line():
    """Its repr is one of several lines, with spaces that align them; a long one is shown by its ends."""
    assert Static(np.array([[0, 2], [10, 2]])).shown() == "[[0, 2], [10, 2]]"
    assert Static(np.array([True])).shown() == "[True]"
    assert Static(np.arange(100)).shown() == "int64[100] [0, 1, ..., 98, 99]"


def test_held_arguments_are_left_alone():
    """An int that is held fixed is the same in each sample."""
    assert {p[1].value for p in samples(("scalar", Static(3)), np.random.default_rng(1))} == {3}


def test_borders_are_tried_on_both_sides():
    """After `x < 100` was seen there are samples just below and just above 100."""
    trace = Trace()
    x = trace.argument("x", 2)
    assert x < 100
    moved = [float(p[0]) for p in beside_borders((2,), ("x",), trace.decisions)]
    assert any(99 < v < 100 for v in moved) and any(100 < v < 101 for v in moved)


def test_each_entry_of_an_array_is_the_largest_and_the_smallest_once():
    """A maximum, a median or a sort of arrays is seen to take each of the entries."""
    found = list(more_samples(((4,),), np.random.default_rng(0), 0))
    values = [np.array([float(v) for v in sample[0].entries]) for sample in found]
    assert {int(v.argmax()) for v in values} == {int(v.argmin()) for v in values} == {0, 1, 2, 3}
    assert any((v < 0).all() for v in values) and any((v > 0).all() for v in values)


def test_one_entry_of_an_array_is_moved_beside_what_it_was_compared_with():
    """Of an array compared with 100 entry by entry one entry goes to both sides, once in a check."""
    trace = Trace()
    for i in range(3):
        trace.argument(f"x[{i}]", Fraction(i + 1)) < 100
    sample, moved = (Array((Fraction(1), Fraction(2), Fraction(3)), (3,)),), set()
    found = [s[0].entries for s in beside_borders(sample, ("x",), trace.decisions, moved)]
    assert {entries[0] > 100 for entries in found} == {True, False}
    assert {entries[1:] for entries in found} == {(2, 3)}
    assert list(beside_borders(sample, ("x",), trace.decisions, moved)) == []


def test_what_is_held_can_be_told_apart_whatever_it_is():
    """Arrays and lists by their identity, numbers by their value; samples with them go into sets."""
    held = np.array([[0], [1]])
    assert len({(Static(held), Fraction(1)), (Static(held), Fraction(1))}) == 1
    assert Static([1]) != Static([1]) and Static(2) == Static(2)
    assert Static(held) != Static(held.copy()) and Static(2) != 2


ANY_KIND = ("scalar", (), (3,), (2, 3), Symmetric(2), Static(3), ComplexNumbers(), ComplexNumbers((2,)))


@pytest.mark.parametrize("kind", ANY_KIND, ids=repr)
def test_there_are_samples_of_every_kind(kind):
    """Of numbers and arrays, real and complex, beside a vector: by orthants, of all signs, and positive."""
    spec = (kind, (2,))
    for draw in (samples, positive_samples, lambda spec, rng: more_samples(spec, rng, 2)):
        found = list(draw(spec, np.random.default_rng(0)))
        assert found and all(len(sample) == 2 for sample in found)
