"""What a function reaches is put back as it was, and afterwards as it is."""

import copy
import functools
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from rulelab.tangents.moments import StateSnapshot, agree


class Plain:
    def __init__(self):
        self.a = 1.0


class Slotted:
    __slots__ = ("a", "b")


@pytest.mark.parametrize(
    "x, change",
    [
        ([1.0, 2.0], lambda x: x.append(3.0)),
        ({"a": 1.0}, lambda x: x.update(b=2.0)),
        (OrderedDict(a=1.0, b=2.0), lambda x: x.move_to_end("a")),
        (defaultdict(list, a=[1.0]), lambda x: x["b"].append(1.0)),
        (deque([1.0, 2.0], maxlen=2), lambda x: x.append(3.0)),
        (Plain(), lambda x: setattr(x, "b", 2.0)),
        (Plain(), lambda x: delattr(x, "a")),
        (Slotted(), lambda x: setattr(x, "b", 2.0)),
        ([[1.0]], lambda x: x[0].append(2.0)),
    ],
)
def test_contents_are_put_back_for_a_while(x, change):
    """Inside the block it is as it was, afterwards as it was changed, also if the block fails."""

    def shown(x):
        if isinstance(x, (Plain, Slotted)):
            return {name: getattr(x, name) for name in ("a", "b") if hasattr(x, name)}
        return repr(x)

    ways = (lambda x: x, lambda x: functools.partial(len, x), lambda x: lambda: x, lambda x: {"in": [x]})
    for reached in ways:
        new = copy.deepcopy(x)
        before = shown(new)
        moment = StateSnapshot(reached(new))
        assert not moment.changed()
        change(new)
        after = shown(new)
        assert after != before and moment.changed()
        with pytest.raises(ZeroDivisionError), moment:
            assert shown(new) == before
            1 / 0
        assert shown(new) == after
        moment.take()
        assert not moment.changed()


def test_only_what_is_ours_is_put_back():
    """What others may know stays as it is."""
    mine, other = [1.0], [1.0]
    moment = StateSnapshot([mine, other], mine=lambda x: x is mine)
    mine.append(2.0)
    other.append(2.0)
    with moment:
        assert (mine, other) == ([1.0], [1.0, 2.0])
    assert (mine, other) == ([1.0, 2.0], [1.0, 2.0])


def test_variables_that_are_rebound():
    """Captured variables are part of it, also those that are not assigned yet."""

    def make():
        def read():
            return a

        def rebind(value):
            nonlocal a
            a = value

        moment = StateSnapshot(read)
        a = 1.0
        return read, rebind, moment, StateSnapshot(read)

    read, rebind, unbound, moment = make()
    rebind(2.0)
    with moment:
        assert read() == 1.0
    with unbound, pytest.raises(NameError):
        read()
    assert read() == 2.0


def test_what_the_block_changes_is_undone():
    """Whatever runs inside leaves nothing behind."""
    x = [1.0]
    moment = StateSnapshot(x)
    with moment:
        x.append(2.0)
    assert x == [1.0]


def test_arrays():
    """Whether their numbers have changed is known where it was asked for."""
    x = np.zeros(3)
    with_arrays, without = StateSnapshot([x], arrays=True), StateSnapshot([x])
    x[0] = 1.0
    assert with_arrays.changed() and not without.changed()


@pytest.mark.parametrize(
    "a, b, wanted",
    [
        (1.0, 1.0 + 1e-12, True), (1.0, 1.1, False), (np.nan, np.nan, True), (np.ones(2), np.ones(3), False),
        ((1.0, [2.0]), (1.0, [2.0]), True), ((1.0,), (2.0,), False), ("a", "b", True), (True, False, False),
        (10**400, 10**400, True), (10**400, 10**399, False), (1, 1.0, True), (np.inf, np.inf, True),
        (1.0, np.inf, False),
    ],
)  # fmt: skip
def test_agree(a, b, wanted):
    """Numbers up to their last digits; what is not a number is not looked at."""
    assert agree(a, b) is wanted
