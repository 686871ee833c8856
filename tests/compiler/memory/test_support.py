"""The helpers of emitted code: sums of cotangents that write to nobody's array, and Python's own errors."""

import itertools

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.base import ir
from rulelab.compiler.memory import support
from rulelab.compiler.memory.support import NO, ZERO, Items
from rulelab.errors import RuleShapeError
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import thunk


def items(size, **given):
    made = Items(size)
    for name, value in given.items():
        made[int(name[1:])] = value
    return made


def test_items_reads_as_a_sequence():
    """Cotangents by position have a length, unpack, count from the end and read zero where nothing flowed."""
    a, b, c = t = items(3, _1=5.0)
    assert (len(t), a, b, c) == (3, ZERO, 5.0, ZERO)
    assert t[-2] == 5.0 and t[0] is ZERO


def test_add():
    """A sum is right for every kind of cotangent, and writes to no array."""
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert np.array_equal(support.add(x, y), [4.0, 6.0])
    assert np.array_equal(x, [1.0, 2.0]) and np.array_equal(y, [3.0, 4.0])
    assert support.add(ZERO, 2.0) == 2.0 and support.add(2.0, ZERO) == 2.0 and support.add(NO, 2.0) == 2.0
    assert support.add(ZERO, thunk(lambda: 3.0)) == 3.0
    assert support.add(2.0, thunk(lambda: 3.0)) == 5.0


def test_add_items():
    """Running sums of items add by position to each other and to the cotangents that rules give."""
    total = support.add(items(2, _0=1.0), items(2, _0=2.0, _1=3.0))
    assert list(total) == [3.0, 3.0]
    assert list(support.add(items(2, _0=1.0), Tangent(list, 1.0, 5.0))) == [2.0, 5.0]
    assert list(support.add(Tangent(list, 1.0, 5.0), items(2, _0=1.0))) == [2.0, 5.0]
    assert list(support.add(items(2, _1=1.0), ZERO)) == [ZERO, 1.0]


def test_put_item():
    """What flows to one item is added at its place, counted from either end."""
    t = support.put_item(ZERO, -1, 3, 2.0, tuple)
    t = support.put_item(t, 2, 3, 5.0, tuple)
    assert list(t) == [ZERO, ZERO, 7.0]
    assert support.settle(t) == Tangent(tuple, ZERO, ZERO, 7.0)


def test_put_each():
    """What flows to several items is added at their places, to what is there: nothing, a sum, a Tangent."""
    bars = {0: 1.0, 2: support.value(5.0)}
    assert list(support.put_each(ZERO, 3, bars)) == [1.0, ZERO, 5.0]
    assert list(support.put_each(items(3, _0=1.0, _1=4.0), 3, bars)) == [2.0, 4.0, 5.0]
    assert list(support.put_each(Tangent(tuple, 1.0, 2.0, 3.0), 3, bars)) == [2.0, 2.0, 8.0]
    delayed = thunk(lambda: 7.0)
    assert support.settle(support.put_each(ZERO, 2, {1: delayed})) == Tangent(tuple, ZERO, 7.0)
    nested = support.put_each(ZERO, 1, {0: items(2, _1=3.0)})
    assert support.settle(nested)[0][1] == 3.0


def test_put_items():
    """What flows to a slice is added at the places of the slice."""
    t = support.put_items(items(4, _1=1.0), slice(None, None, -2), 4, Tangent(list, 10.0, 20.0), list)
    assert list(t) == [ZERO, 21.0, ZERO, 10.0]
    assert list(support.put_items(ZERO, slice(1, 2), 2, ZERO, list)) == [ZERO, ZERO]
    with pytest.raises(ValueError):
        support.put_items(ZERO, slice(0, 2), 4, Tangent(list, 1.0), list)


def test_pop_item():
    """Before an append, the list had all items but the last."""
    before, item = support.pop_item(items(3, _0=1.0, _2=5.0), 2)
    assert (list(before), item) == ([1.0, ZERO], 5.0)
    assert support.pop_item(ZERO, 2) == (ZERO, ZERO)
    before, item = support.pop_item(Tangent(list, 1.0, 2.0), 1)
    assert (list(before), item) == ([1.0], 2.0)


def test_too_many_cotangents():
    """More cotangents than items is an error, never cut off."""
    with pytest.raises(RuleShapeError, match="2 items.*3 items"):
        support.put_item(Tangent(list, 1.0, 2.0, 3.0), 0, 2, 1.0, list)


@pytest.mark.parametrize(
    "x_bar, key, wanted",
    [
        (Tangent(tuple, 1.0, 2.0), 1, 2.0),
        (Tangent(list, 1.0, 2.0), -1, 2.0),
        (Tangent(dict, {"a": 1.0}), "a", 1.0),
        (Tangent(dict, {"a": 1.0}), "b", ZERO),
        ({"a": 1.0, "b": None}, "b", NO),
        ((1.0, None), 1, NO),
        (support.captured(k=3.0), "k", 3.0),
        (support.captured(k=3.0), "other", ZERO),
        (items(2, _1=4.0), 1, 4.0),
        (items(2, _1=4.0), 0, ZERO),
        (thunk(lambda: (1.0, 2.0)), 0, 1.0),
        (ZERO, 0, ZERO),
        (NO, "k", NO),
    ],
)
def test_part(x_bar, key, wanted):
    """The cotangent of a part is found in every form that that of the whole may have; None is none."""
    assert support.part(x_bar, key) == wanted


@pytest.mark.parametrize(
    "x_bar, wanted",
    [
        (2.0, 2.0),
        (ZERO, 0.0),
        (NO, 0.0),
        (1 + 2j, 1.0),
        (np.array([3.0]), 3.0),
        (np.array(3.0), 3.0),
        (thunk(lambda: 4.0), 4.0),
    ],
)
def test_real(x_bar, wanted):
    """The cotangent of a real number is a real number, in whatever form it came."""
    assert support.real(x_bar) == wanted
    assert isinstance(support.real(x_bar), float)


def test_real_of_an_array():
    """An array is not a cotangent of a number."""
    with pytest.raises(RuleShapeError):
        support.real(np.ones(2))


def test_add_slice():
    """What flows to a view is added in its place."""
    total = np.ones((2, 3))
    support.add_slice(total, (slice(None), 0), np.array([1.0, 2.0]))
    support.add_slice(total, 1, thunk(lambda: np.array([0.0, 0.0, 5.0])))
    support.add_slice(total, 0, ZERO)
    support.add_slice(total, (0, 1), 4.0)
    assert total.tolist() == [[2.0, 5.0, 1.0], [3.0, 1.0, 6.0]]
    with pytest.raises(RuleShapeError):
        support.add_slice(total, 0, 1.0)


ODD = [
    [1],
    [1, 2, 3],
    (),
    5,
    2.5,
    None,
    "abc",
    "a",
    {"a": 1},
    np.ones(3),
    np.ones(1),
    np.array(1.0),
    range(3),
    np.float64(1.0),
    object(),
]


@pytest.mark.parametrize("value", ODD, ids=lambda v: f"{type(v).__name__}-{str(v)[:9]}")
def test_unpack_errors(value):
    """What cannot be unpacked into two is Python's own error, word for word."""
    with pytest.raises((TypeError, ValueError)) as pythons:
        a, b = value
    with pytest.raises(type(pythons.value)) as ours:
        support.unpack(value, 2)
    assert str(ours.value) == str(pythons.value)


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1, 2), "ab", {"a": 1, "b": 2}, np.array([1, 2]), range(2), (c for c in "ab")],
    ids=lambda v: str(v).partition(" at 0x")[0],
)
def test_unpack(value):
    """What can be unpacked into two has two items."""
    assert len(tuple(support.unpack(value, 2))) == 2


def test_unpack_reads_no_further():
    """Of an iterator one item too many is read, as Python does: one without end is an error, not a hang."""
    ours, pythons = itertools.count(), itertools.count()
    with pytest.raises(ValueError):
        a, b = pythons
    with pytest.raises(ValueError):
        support.unpack(ours, 2)
    assert next(ours) == next(pythons)


def test_unpack_in_a_function():
    """The error of an unpacking in the author's function is Python's."""

    def f(x):
        a, b = x
        return a * b

    for x in ([1.0], [1.0, 2.0, 3.0], 1.0):
        with pytest.raises((TypeError, ValueError)) as pythons:
            f(x)
        with pytest.raises(type(pythons.value)) as ours:
            rl.gradient(f, x)
        assert str(ours.value) == str(pythons.value)


def test_bound():
    """A variable without a value is Python's error; any value, even None, is itself."""
    assert support.bound(None, "v") is None
    with pytest.raises(UnboundLocalError, match="'v'"):
        support.bound(ir.UNBOUND, "v")


def test_format_string():
    """Values, conversions and format specs make the string that Python's f-string makes."""
    x = 2.5
    parts = [(x, -1, ".2f"), (" ", -1, ""), ("é", ord("a"), ""), ("a", ord("r"), ">5"), (x, ord("s"), "")]
    assert support.format_string(parts) == f"{x:.2f} {'é'!a}{'a'!r:>5}{x!s}"


def test_unpack_with_a_star():
    """Any number of items from `count` on; too few is Python's own error."""
    assert support.unpack([1, 2, 3], 2, or_more=True) == [1, 2, 3]
    assert support.unpack(iter("ab"), 1, or_more=True) == ("a", "b")
    with pytest.raises(ValueError) as pythons:
        a, b, *c = [1]
    with pytest.raises(ValueError) as ours:
        support.unpack([1], 2, or_more=True)
    assert str(ours.value) == str(pythons.value)
