"""Writes to items and attributes: followed where these were made inside, else refused before they happen."""

import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.memory import heap
from rulelab.compiler.memory.support import ZERO
from rulelab.compiler.memory.writes import refusal, write_finder, write_plain
from rulelab.errors import MutationError, Place

PLACE = Place("somewhere.py", 3, 0, 5, "f", "xs[0] = 1.0")
pytestmark = pytest.mark.usefixtures("sweep")


@pytest.mark.parametrize(
    "target, kind, key, shown",
    [
        ([1.0], "item", 0, "list.__setitem__(list)"),
        ({"a": 1.0}, "delete item", "a", "dict.__delitem__(dict)"),
        (types.SimpleNamespace(a=1.0), "attribute", "a", "SimpleNamespace.__setattr__('a')"),
        (types.SimpleNamespace(a=1.0), "delete attribute", "a", "SimpleNamespace.__delattr__('a')"),
        (np.ones(2), "item", 0, "ndarray.__setitem__(float64[2])"),
    ],
)
@pytest.mark.parametrize("make", [write_finder, write_plain])
def test_what_others_hold_is_refused(make, target, kind, key, shown):
    """A write to what came from outside names the method and leaves the target as it was."""
    before = repr(target)
    with pytest.raises(MutationError) as caught:
        make(None, kind, PLACE)(target, key, 5.0)
    assert shown in str(caught.value)
    assert repr(target) == before


@pytest.mark.parametrize(
    "target, kind, key", [([1.0], "item", 0), ({}, "item", "a"), (types.SimpleNamespace(), "attribute", "a")]
)
def test_a_followed_write_happens_and_is_undone(target, kind, key):
    """What was made inside is written to, and back takes the cotangent of the written part."""
    heap.own(target, True)
    _, back = write_finder(None, kind, PLACE)(target, key, 5.0)(target, key, 5.0)
    assert (getattr(target, key) if kind == "attribute" else target[key]) == 5.0
    heap.deposit(target, key, 7.0)
    assert back(ZERO)[3] == 7.0
    assert heap.take(target, key) is ZERO


def test_followed_and_unfollowed_are_not_mixed():
    """A container whose changes are recorded may not be written without a record, nor the reverse."""
    followed, unseen = heap.own([1.0], True), heap.own([1.0], False)
    with pytest.raises(MutationError):
        write_plain(None, "item", PLACE)(followed, 0, 5.0)
    with pytest.raises(MutationError):
        write_finder(None, "item", PLACE)(unseen, 0, 5.0)
    write_plain(None, "item", PLACE)(unseen, 0, 5.0)
    assert (followed, unseen) == ([1.0], [5.0])


def test_the_refusal_of_an_array_speaks_of_arrays():
    """Arrays and other objects are refused in words of their own."""
    assert "Mutating arrays" in str(refusal(np.ones(2), "item", 0, PLACE))
    assert "Changing an object" in str(refusal([], "item", 0, PLACE))


class Guarded:
    """A class with its own idea of writing."""

    def __init__(self, x):
        self._x = x
        self.items = [0.0, 0.0]

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value * value

    def __setitem__(self, k, value):
        self.items[k] = value * self._x

    def __delitem__(self, k):
        self.items[k] = self._x


def test_the_authors_own_methods_run():
    """Setters and `__setitem__` of an author's class are differentiated like any other method."""

    def f(x):
        o = Guarded(x)
        o.x = 3 * x
        o[0] = x
        return o._x * o.items[0]

    assert f(1.3) == pytest.approx(81 * 1.3**5)
    assert rl.gradient(f, 1.3)[0] == pytest.approx(81 * 5 * 1.3**4)


# --- copies and parameters that are changed in place -------------------------------------------------------


def descended(w0, rate):
    w = w0.copy()
    for _ in range(3):
        slope = 2 * (w - 1.5) + np.cos(w)
        w -= rate * slope
    return np.sum((w - 1.5) ** 2)


def normalised(w0, rate):
    for _ in range(2):
        w0 = w0 * rate + np.roll(w0, 1)
        w0 /= np.linalg.norm(w0)
    return w0 @ np.arange(3.0)


def integer_steps(w0, rate):
    n = np.arange(3).copy()
    n += 2
    return np.sum(w0**n * rate)


@pytest.mark.parametrize("f", [descended, normalised, integer_steps], ids=lambda f: f.__name__)
def test_a_copy_or_a_parameter_bound_anew_may_be_changed_in_place(f):
    """`w = w0.copy()` and then `w -= step` is how such programs are written: the argument stays as it is."""
    w0, rate = np.array([0.5, -1.0, 2.0]), 0.3
    value, (w_bar, rate_bar) = rl.withgradient(f, w0, rate)
    assert value == f(w0, rate) and np.array_equal(w0, [0.5, -1.0, 2.0])
    h = 1e-6
    for k, step in enumerate(np.eye(3) * h):
        wanted = (f(w0 + step, rate) - f(w0 - step, rate)) / (2 * h)
        assert w_bar[k] == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    assert rate_bar == pytest.approx((f(w0, rate + h) - f(w0, rate - h)) / (2 * h), rel=1e-6)


class Holder:
    """Its `copy` is none."""

    def __init__(self, data):
        self.data = data

    def copy(self):
        return self.data


def test_a_copy_method_that_hands_out_what_it_holds():
    """The array is the object's: the change would be seen there, and is refused."""

    def f(x):
        holder = Holder(x * 1.0)
        w = holder.copy()
        w += x
        return np.sum(w * holder.data)

    with pytest.raises(rl.MutationError, match=r"in-place operator on the result of Holder\.copy"):
        rl.gradient(f, np.array([1.0, 2.0]))
