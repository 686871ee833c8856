"""Copies of structures: changed on their own, with the cotangents of the originals."""

import copy
import dataclasses

import pytest

import rulelab as rl
from rulelab.compiler.memory import heap
from rulelab.compiler.memory.copies import conversion, copier, made_plain


@dataclasses.dataclass
class Point:
    x: object
    y: object


class Own:
    def __init__(self, x):
        self.x = x

    def __deepcopy__(self, memo):
        return Own(0.0)


def test_only_structures_are_answered_for():
    """Numbers and other functions are left to their rules."""
    assert copier(copy.copy, (1.0,), copy.copy) is None
    assert copier(len, ([1.0],), len) is None
    assert copier(copy.deepcopy, ([1.0],), copy.deepcopy) is not None
    assert conversion(dataclasses.asdict, (1.0,)) is None
    assert conversion(dataclasses.asdict, (Point(1.0, 2.0),)) is not None


def test_a_plain_copy_may_be_changed_unseen():
    """All of its containers are new."""
    outer = heap.enter()
    try:
        heap.written()
        found = made_plain(copy.deepcopy)(copy.deepcopy, Point([1.0], 2.0))
        assert heap.may_change_unseen(found) and heap.may_change_unseen(found.x)
    finally:
        heap.leave(outer)


def test_the_original_stays():
    """What is written to the copy is not in it, and has no part in its cotangent."""
    p = Point([1.0, 2.0], 3.0)

    def f(p):
        q = copy.deepcopy(p)
        q.x[0] = 5.0
        return q.x[0] * q.x[1] * p.x[0] * q.y

    (found,) = rl.gradient(f, p)
    assert (found.x, found.y) == ([5.0 * 2 * 3, 5.0 * 3], 5.0 * 2)
    assert p == Point([1.0, 2.0], 3.0)


def test_a_class_that_says_how_it_is_copied_is_refused():
    """What happens there is not known."""
    with pytest.raises(rl.NotDifferentiableError, match="copied by its own __deepcopy__"):
        rl.gradient(lambda o: copy.deepcopy([o])[0].x, Own(1.0))
