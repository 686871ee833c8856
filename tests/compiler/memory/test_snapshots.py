"""What a user's rule reads again in the reverse sweep stays as it was when it was asked, or is refused."""

import array
import bisect
import heapq
import random
from collections import deque

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError


def factor_of(held):
    """A number that is in a container of any kind."""
    if isinstance(held, dict):
        return held["rate"][0]
    return held.rate if isinstance(held, Holder) else held[0]


class Holder:
    def __init__(self, rate):
        self.rate = rate


KINDS = {
    "list": lambda: [3.0, 5.0, 7.0],
    "deque": lambda: deque([3.0, 5.0, 7.0]),
    "dict": lambda: {"rate": [3.0, 5.0]},
    "bytes": lambda: array.array("d", [3.0, 5.0, 7.0]),
    "object": lambda: Holder(3.0),
    "array": lambda: np.array([3.0, 5.0]),
}


def scaled_by_list(x):
    return x * LIST[0]


def scaled_by_deque(x):
    return x * DEQUE[0]


def scaled_by_given(x, held):
    return x * factor_of(held)


LIST, DEQUE = [3.0, 5.0, 7.0], deque([3.0, 5.0, 7.0])


@pytest.fixture
def rules():
    """Rules that read a global, or what they are handed, once more in the pullback."""

    def by_list(x):
        return x * LIST[0], lambda y_bar: (rl.NoTangent(), LIST[0] * y_bar)

    def by_deque(x):
        def back(y_bar):
            return rl.NoTangent(), DEQUE[0] * y_bar

        return x * DEQUE[0], back

    def by_given(x, held):
        return x * factor_of(held), lambda y_bar: (rl.NoTangent(), factor_of(held) * y_bar, rl.NoTangent())

    rl.rrule_for(scaled_by_list)(by_list)
    rl.rrule_for(scaled_by_deque)(by_deque)
    rl.rrule_for(scaled_by_given)(by_given)
    LIST[:] = [3.0, 5.0, 7.0]
    DEQUE.clear()
    DEQUE.extend([3.0, 5.0, 7.0])
    yield
    for f in (scaled_by_list, scaled_by_deque, scaled_by_given):
        rl.remove_rule(f)


def pushed(x):
    y = scaled_by_list(x)
    heapq.heappush(LIST, 0.5)
    return y


def inserted(x):
    y = scaled_by_list(x)
    bisect.insort(LIST, 0.5)
    return y


def rotated(x):
    y = scaled_by_deque(x)
    DEQUE.rotate(1)
    return y


def rotated_by_its_class(x):
    y = scaled_by_deque(x)
    deque.rotate(DEQUE, 1)
    return y


def overwritten_out_of_sight(x):
    y = scaled_by_list(x)
    with rl.ignore_derivatives():
        LIST[0] = 11.0
    return y


def pushed_out_of_sight(x):
    y = scaled_by_list(x)
    rl.ignore_derivatives(lambda: heapq.heappush(LIST, 0.5))
    return y


def pushed_in_a_callee(x):
    def callee(v):
        heapq.heappush(LIST, 0.5)
        return v

    return callee(scaled_by_list(x))


def pushed_in_an_inner_gradient(x):
    def inner(v):
        heapq.heappush(LIST, 0.5)
        return v

    y = scaled_by_list(x)
    return y * rl.gradient(inner, 1.0)[0]


CHANGING = (
    pushed,
    inserted,
    rotated,
    rotated_by_its_class,
    overwritten_out_of_sight,
    pushed_out_of_sight,
    pushed_in_a_callee,
    pushed_in_an_inner_gradient,
)


@pytest.mark.parametrize("f", CHANGING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_change_of_what_a_rule_reads_again_is_refused(f, again, rules):
    """Whoever changes it: C code, or what runs under `ignore_derivatives`."""
    if again:  # by the quick way of what was found before
        rl.gradient(scaled_by_list, 2.0)
        rl.gradient(scaled_by_deque, 2.0)
    with pytest.raises(MutationError, match="changed in code that cannot be followed") as caught:
        rl.gradient(f, 2.0)
    assert caught.value.place is None or caught.value.place.filename == __file__


CHANGES = {
    "list": lambda held: heapq.heappush(held, 0.5),
    "deque": lambda held: held.rotate(1),
    "dict": lambda held: heapq.heappush(held["rate"], 0.5),
    "bytes": lambda held: held.reverse(),
    "object": lambda held: held.__dict__.update(rate=11.0),
    "array": lambda held: held.__setitem__(0, 11.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_what_a_rule_was_handed_is_refused(kind, rules):
    """At whatever depth, for what a pullback has captured."""
    held, change = KINDS[kind](), CHANGES[kind]

    def f(x):
        y = scaled_by_given(x, held)
        rl.ignore_derivatives(lambda: change(held))
        return y

    with pytest.raises(MutationError):
        rl.gradient(f, 2.0)


def test_what_no_rule_reads_may_change(rules):
    """Records of C code, and of rules themselves, before and after."""
    others, ring = [3.0], deque([1.0, 2.0])

    def f(x):
        heapq.heappush(LIST, 0.5)
        y = scaled_by_list(x)
        heapq.heappush(others, 0.5)
        ring.rotate(1)
        rl.ignore_derivatives(lambda: others.append(1.0))
        return y * ring[0]

    assert rl.gradient(f, 2.0) == (0.5 * 2.0,)
    assert len(others) == 3


def test_what_reads_what_a_rule_reads_may_run(rules):
    def f(x):
        y = scaled_by_list(x)
        return y * heapq.nsmallest(1, LIST)[0] * random.Random(1).choice([1.0])

    assert rl.gradient(f, 2.0) == (9.0,)


def test_a_rule_may_keep_records_of_its_own(rules):
    """What the rule itself writes, forwards or backwards, is its own affair."""
    asked = {"forwards": 0, "backwards": 0}

    def squared(x):
        return x * x

    @rl.rrule_for(squared)
    def by_rule(x):
        asked["forwards"] += 1

        def back(y_bar):
            asked["backwards"] += 1
            return rl.NoTangent(), 2.0 * x * y_bar

        return x * x, back

    assert rl.gradient(lambda x: squared(x) + squared(2.0 * x), 3.0) == (30.0,)
    assert asked == {"forwards": 2, "backwards": 2}


def test_a_change_is_no_affair_of_a_later_derivative(rules):
    """Whose rules were asked before is forgotten with the sweep."""
    rl.gradient(scaled_by_list, 2.0)
    assert rl.gradient(lambda x: x * heapq.heappushpop(LIST, 4.0), 2.0) == (3.0,)
