"""Tests of the cotangents of structures."""

import copy
import dataclasses
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.errors import NotImplementedTangentError, RuleDtypeError, RuleShapeError
from rulelab.tangents.missing import not_implemented
from rulelab.tangents.structural import Tangent, canonicalize, parts
from rulelab.tangents.thunks import thunk
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
    with pytest.raises(AttributeError, match="Point has no field 'nope'; it has x, at"):
        Tangent(Point, x=1.0).nope
    assert getattr(Tangent(Point, x=1.0), "nope", None) is None
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


class Slotted:
    __slots__ = ("u", "v")

    def __init__(self):
        self.u, self.v = 1.0, 2.0


@dataclasses.dataclass
class Derived:
    x: float
    double: float = dataclasses.field(init=False, default=0.0)

    def __post_init__(self):
        self.double = 2 * self.x


@pytest.mark.parametrize("cls", [int, float, bool, complex, str, np.ndarray, np.float32])
def test_what_has_no_parts_has_no_tangent_of_parts(cls):
    """A number, a text or an array is not taken apart by a Tangent."""
    with pytest.raises(RuleShapeError, match="has no parts"):
        Tangent(cls, 1.0)


@pytest.mark.parametrize(
    "make",
    [lambda: Tangent(dict, {"a": 1.0}, {"b": 2.0}), lambda: Tangent(dict, 1.0), lambda: Tangent(dict, "ab")],
)
def test_the_entries_of_a_dict_go_by_key(make):
    """A second dict is not dropped, and what is no dict is refused."""
    with pytest.raises(RuleShapeError, match="go by key"):
        make()


def test_that_of_a_dict_is_gone_through_as_a_dict():
    """A rule whose value is a dict goes through its cotangent by `items()`; a missing entry is zero."""
    t = Tangent(dict, {"a": 1.0, "b": 2.0})
    assert list(t.items()) == [("a", 1.0), ("b", 2.0)] and sum(t.values()) == 3.0
    assert list(t.keys()) == ["a", "b"] and dict(t) == {"a": 1.0, "b": 2.0}
    assert t.get("c", 0.0) == 0.0
    assert not hasattr(Tangent(tuple, 1.0), "items")


class Shelf(NamedTuple):
    items: float
    values: float


def test_fields_called_as_the_methods_of_dicts_are_fields():
    """An object may have a field `items`."""
    t = Tangent(Shelf, items=1.0)
    assert t.items == 1.0 and t.values == ZeroTangent()


def test_an_index_that_the_primal_does_not_take_is_an_error():
    """An object's fields go by name; a number as an index is a mistake, not a zero."""
    with pytest.raises(RuleShapeError, match="go by name, not by 0"):
        Tangent(Point, x=1.0)[0]
    with pytest.raises(RuleShapeError, match="has no field 'z'"):
        Tangent(Point, x=1.0)["z"]
    with pytest.raises(RuleShapeError, match="position 7"):
        Tangent(Pair, 1.0, 2.0)[7]
    assert Tangent(Point, x=1.0)["x"] == 1.0


def test_a_front_end_finds_no_fields_of_its_own():
    """A notebook that asks a Tangent how to show itself hears that it has no such way."""
    for t in (Tangent(Plain, w=1.0), Tangent(Point, x=1.0), Tangent(tuple, 1.0), Tangent(Pair, 1.0, 2.0)):
        assert not hasattr(t, "_repr_html_") and not hasattr(t, "_ipython_display_")


def test_length_and_iteration_agree():
    """An object's Tangent has as many entries as it unpacks to."""
    t = Tangent(Point, at=1.0)
    assert (
        len(t) == len(list(t)) == 2 and len(Tangent(Pair, right=1.0)) == 2 and len(Tangent(Plain, w=1.0)) == 1
    )


def test_a_copy_has_arrays_of_its_own_only_if_deep():
    """`copy` shares the entries, `deepcopy` does not; both are equal to the original."""
    t = Tangent(Plain, w=np.ones(2), b=thunk(lambda: 3.0))
    shallow, deep = copy.copy(t), copy.deepcopy(t)
    assert shallow == t == deep and shallow.w is t.w and deep.w is not t.w


def test_entries_stay_delayed():
    """Sums with other fields and multiples leave a thunk in a field uncomputed."""
    dear = thunk(lambda: 1 / 0)
    assert (Tangent(Plain, w=dear) + Tangent(Plain, b=1.0)).w is dear
    assert not (2.0 * Tangent(Plain, w=dear)).w.evaluated
    assert Tangent(Plain, w=thunk(lambda: 2.0)) == Tangent(Plain, w=2.0)


def test_differences_and_signs():
    """A thunk, a raw tuple and a zero may be taken off; None may not."""
    t = Tangent(tuple, 3.0, 1.0)
    assert t - thunk(lambda: Tangent(tuple, 1.0, 1.0)) == t - (1.0, 1.0) == Tangent(tuple, 2.0, 0.0)
    assert t - ZeroTangent() == +t == -(-t) == t and t / 2 == Tangent(tuple, 1.5, 0.5)
    with pytest.raises(RuleDtypeError):
        t - None


def test_more_primals_are_moved():
    """Slots, frozen dataclasses and fields that `__init__` does not take."""
    moved = Slotted() + Tangent(Slotted, u=1.0)
    assert (moved.u, moved.v) == (2.0, 2.0)
    x = Derived(1.0)
    moved = x + Tangent(Derived, x=1.0, double=2.0)
    assert (moved.x, moved.double) == (2.0, 4.0) and x.x == 1.0
    inner = (Point(1.0), {"w": np.ones(2)}) + Tangent(
        tuple, Tangent(Point, at=1.0), Tangent(dict, {"w": np.ones(2)})
    )
    assert inner[0] == Point(1.0, 1.0) and np.array_equal(inner[1]["w"], [2, 2])
    with pytest.raises(NotImplementedTangentError):
        (1.0,) + Tangent(tuple, not_implemented("why"))


def test_the_canonical_form_of_what_is_no_tangent():
    """A zero, a number and a dict's Tangent are as they are; a thunk is computed."""
    assert canonicalize(ZeroTangent()) is ZeroTangent() and canonicalize(1.0) == 1.0
    t = Tangent(dict, {"a": 1.0})
    assert canonicalize(t) is t and repr(canonicalize(thunk(lambda: Tangent(Point, at=1.0)))) == (
        "Tangent(Point, x=ZeroTangent(), at=1.0)"
    )


def test_a_slot_without_a_value_is_no_attribute_whatever_getattr_does():
    """What stands for a missing derivative raises its error for each name that it does not have."""

    class Missing:
        __slots__ = ("left", "there")

        def __init__(self):
            self.there = 2.0

        def __getattr__(self, name):
            raise AttributeError(name) if name.startswith("__") else ValueError(name)

    assert parts(Missing()) == {"there": 2.0}
