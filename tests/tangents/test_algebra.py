"""Tests of the arithmetic of cotangents."""

import itertools

import numpy as np
import pytest

from rulelab.errors import RuleDtypeError, RuleError, RuleShapeError
from rulelab.tangents.algebra import add, add_into, scale
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

ARRAY = [lambda: np.array([1.0, 2.0]), lambda: thunk(lambda: np.array([1.0, 2.0]))]
PAIR = [lambda: Tangent(tuple, 1.0, 2.0), lambda: (1.0, 2.0), lambda: thunk(lambda: Tangent(tuple, 1.0, 2.0))]


@pytest.mark.parametrize("a, b", list(itertools.product(ARRAY, repeat=2)))
def test_array_kinds_add_to_an_array(a, b):
    """Arrays and delayed arrays add to the sum of their values."""
    assert np.array_equal(add(a(), b()), [2.0, 4.0])


@pytest.mark.parametrize("a, b", list(itertools.product(PAIR, repeat=2)))
def test_structure_kinds_add_to_a_tangent(a, b):
    """Raw tuples, Tangents and delayed ones add entry by entry."""
    assert add(a(), b()) == Tangent(tuple, 2.0, 4.0)


@pytest.mark.parametrize("make", ARRAY + PAIR)
@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()])
def test_zeros_hand_on_the_other_uncomputed(make, zero):
    """A zero in a sum costs nothing and does not force a thunk."""
    x = make()
    assert add(x, zero) is x and add(zero, x) is x and add_into(x, zero) is x


def test_a_sum_never_broadcasts():
    """Two cotangents of different shapes are an error, not a larger array."""
    for a, b in [
        (np.ones(3), np.ones((3, 1))),
        (np.ones(3), 1.0),
        (np.ones(1), np.ones(3)),
        (np.ones((1, 2)), np.ones(2)),
    ]:
        with pytest.raises(RuleShapeError, match="shapes"):
            add(a, b)
        with pytest.raises(RuleShapeError, match="shapes"):
            add_into(a, b)
    assert add(np.array(1.0), 2.0) == 3.0
    with pytest.raises(RuleShapeError, match="lengths"):
        add((1.0,), (1.0, 2.0))


def test_things_that_are_no_cotangents_are_refused():
    """A string or None in a sum is an error."""
    for bad in ("a", None, object()):
        with pytest.raises(RuleDtypeError):
            add(bad, 1.0)
        with pytest.raises(RuleDtypeError):
            add(np.ones(2), bad)


def test_a_sum_writes_to_neither():
    """`add` leaves both arrays as they were, also when they are one."""
    a = np.ones(2)
    assert np.array_equal(add(a, a), [2, 2]) and np.array_equal(a, [1, 1])


def test_mixed_dicts_and_objects():
    """Cotangents of dicts may have different keys; a raw dict counts for an object's fields."""

    class Plain:
        pass

    assert add({"a": 1.0}, Tangent(dict, {"a": 1.0, "b": 2.0})) == Tangent(dict, {"a": 2.0, "b": 2.0})
    assert add(Tangent(Plain, a=1.0), {"a": 1.0, "b": None}) == Tangent(Plain, a=2.0)


def test_accumulation_writes_only_where_nothing_is_lost():
    """An accumulator is written in place for its own dtype; a wider or complex term gives a new array."""
    acc = np.zeros(2, np.float32)
    assert add_into(acc, np.ones(2, np.float32)) is acc
    wider = add_into(acc, np.ones(2))
    assert wider is not acc and wider.dtype == np.float64
    assert np.array_equal(add_into(np.zeros(2), np.array([1j, 0])), [1j, 0])
    assert np.array_equal(add_into(np.zeros(2, int), np.array([0.5, 0])), [0.5, 0])
    frozen = np.broadcast_to(0.0, 3)
    assert np.array_equal(add_into(frozen, np.ones(3)), np.ones(3)) and frozen[0] == 0
    acc = np.arange(4.0)
    assert np.array_equal(add_into(acc, acc[::-1]), [3, 3, 3, 3])
    zero_d = np.array(1.0)
    assert add_into(zero_d, np.array(2.0)) is zero_d and zero_d == 3.0


def test_inplaceable_thunks_add_themselves():
    """An InplaceableThunk adds into the accumulator without computing its value, and must return it."""
    acc = np.zeros(2)
    t = InplaceableThunk(lambda out: np.add(out, 1.0, out=out), lambda: 1 / 0)
    assert add_into(acc, t) is acc and np.array_equal(acc, [1, 1])
    with pytest.raises(RuleError, match="return"):
        add_into(acc, InplaceableThunk(lambda out: None, lambda: 1 / 0))


def test_scaling():
    """A multiple of any kind of cotangent is of that kind; thunks stay delayed."""
    assert scale(2.0, ZeroTangent()) is ZeroTangent()
    delayed = scale(2.0, thunk(lambda: np.ones(2)))
    assert isinstance(delayed, Thunk) and np.array_equal(unthunk(delayed), [2, 2])
    assert scale(2.0, (1.0, None)) == Tangent.at((0, 0), 0, 2.0)
    assert scale(2.0, np.ones(2, np.float32)).dtype == np.float32
    with pytest.raises(RuleShapeError):
        scale(np.ones(2), np.ones(2))


def test_a_long_chain_of_delayed_sums():
    """Accumulating many thousands of thunks does not run out of stack."""
    total = ZeroTangent()
    for _ in range(5000):
        total = add(total, thunk(lambda: 1.0))
    assert unthunk(total) == 5000.0
