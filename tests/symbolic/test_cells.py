"""Samples cover every orthant and both sides of the borders that were met."""

import itertools

import numpy as np

from rulelab.symbolic.cells import Static, beside_borders, samples
from rulelab.symbolic.scalars import Trace


def test_samples_visit_every_orthant_and_size():
    """For two arguments all four sign patterns come up, small and large."""
    points = list(samples(("scalar", "scalar"), np.random.default_rng(1)))
    assert {(x > 0, y > 0) for x, y in points} == set(itertools.product((True, False), repeat=2))
    assert min(abs(x) for x, _ in points) < 1 < 2.9 < max(abs(x) for x, _ in points)


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
