"""Tests of the cotangents of structures."""

import dataclasses
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.errors import RuleShapeError
from rulelab.tangents.structural import Tangent, canonicalize
from rulelab.tangents.zeros import ZeroTangent


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    at: float = 0.0


class Pair(NamedTuple):
    left: float
    right: float


class Plain:
    def __init__(self):
        self.w, self.b = 1.0, 2.0


def test_it_unpacks_as_its_primal():
    """The cotangent of a tuple output unpacks in a pullback; parts where nothing flowed are zeros."""
    a, b = Tangent(tuple, 1.0, 2.0)
    assert (a, b) == (1.0, 2.0)
    a, b, c = Tangent.at((0.0, 0.0, 0.0), 1, 5.0)
    assert a is c is ZeroTangent() and b == 5.0
    left, right = Tangent(Pair, 1.0, 2.0)
    assert (left, right) == (1.0, 2.0) and Tangent(Pair, right=3.0).left is ZeroTangent()
    assert len(Tangent(list, 1, 2, 3)) == 3 and Tangent(list, 1, 2, 3)[1:] == Tangent(list, 2, 3)
    assert list(Tangent(dict, {"a": 1.0})) == ["a"] and Tangent(dict, {"a": 1.0})["b"] is ZeroTangent()


def test_fields_go_by_name_even_awkward_ones():
    """A field is read by its name, also one called like a method of ours."""
    t = Tangent(Point, at=2.0)
    assert t.at == 2.0 and t.x is ZeroTangent()
    assert Tangent.at(Point(1.0), "x", 3.0) == Tangent(Point, x=3.0)


def test_mistakes_are_refused():
    """A field or a position that the primal does not have is an error that lists what it has."""
    with pytest.raises(RuleShapeError, match="has no field 'z'; it has x, at"):
        Tangent(Point, z=1.0)
    with pytest.raises(RuleShapeError, match="by name"):
        Tangent(Point, 1.0)
    with pytest.raises(RuleShapeError, match="position 5"):
        Tangent(tuple, 1.0)[5]
    with pytest.raises(RuleShapeError, match="has no field"):
        Tangent(Point, x=1.0).nope
    with pytest.raises(TypeError):
        Tangent(Point, x=1.0).x = 2.0


def test_arithmetic_acts_on_entries():
    """Sums and multiples of structural cotangents are those of their entries."""
    t = Tangent(Plain, w=np.ones(2)) + Tangent(Plain, w=np.ones(2), b=1.0)
    assert t == Tangent(Plain, w=np.full(2, 2.0), b=1.0)
    assert 2.0 * Tangent(tuple, 1.0, ZeroTangent()) == Tangent(tuple, 2.0, ZeroTangent())
    assert np.float64(2.0) * Tangent(tuple, 1.0) == Tangent(tuple, 2.0)
    assert Tangent(tuple, 3.0) - Tangent(tuple, 1.0) == Tangent(tuple, 2.0)
    with pytest.raises(RuleShapeError):
        Tangent(tuple, 1.0) + Tangent(tuple, 1.0, 2.0)
    with pytest.raises(RuleShapeError):
        Tangent(Point, x=1.0) + Tangent(Plain, w=1.0)


def test_primal_plus_tangent_is_a_primal():
    """A structure moved by its tangent is a structure of the same class."""
    assert Point(1.0) + Tangent(Point, x=0.5) == Point(1.5)
    assert Pair(1.0, 2.0) + Tangent(Pair, right=1.0) == Pair(1.0, 3.0)
    assert [1.0, 2.0] + Tangent(list, 1.0, 1.0) == [2.0, 3.0]
    moved = Plain() + Tangent(Plain, w=1.0)
    assert (moved.w, moved.b) == (2.0, 2.0)


def test_canonical_form_and_pickle():
    """The canonical form has every field in the primal's order, and cotangents travel to workers."""
    assert repr(canonicalize(Tangent(Pair, right=1.0))) == "Tangent(Pair, left=ZeroTangent(), right=1.0)"
    t = Tangent.at((1.0, 2.0), -1, 3.0)
    assert pickle.loads(pickle.dumps(t)) == t
