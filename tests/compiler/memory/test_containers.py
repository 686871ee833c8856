"""Each operation on lists, dicts and deques: any sequence of them has the gradient of finite differences."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelab as rl
from rulelab.compiler.memory import containers, heap
from rulelab.compiler.memory.support import ZERO

from ...differences import difference

X = (0.7, -1.2)


def run_list(steps, x, y):
    """Carry out the steps on a list; the numbers of a step pick values, places and names."""
    xs = [x, y, x * y]
    alias = xs
    total = 0.0
    for name, i, j in steps:
        value = (x, y, x * x, 2.0)[i % 4] * (1 + j)
        n = len(xs)
        if name == "append":
            xs.append(value)
        elif name == "insert":
            alias.insert(j - 2, value)
        elif name == "write" and n:
            xs[i % n - n * (j % 2)] = value
        elif name == "augment" and n:
            alias[i % n] *= value
        elif name == "pop" and n:
            total += xs.pop() * (1 + j)
        elif name == "pop at" and n:
            total += alias.pop(i % n - n * (j % 2)) * value
        elif name == "read" and n:
            total += xs[i % n] * alias[j % n]
        elif name == "slice" and n:
            part = xs[i % n :: 1 + j % 2]
            part.append(value)
            part[0] *= 2.0
            total += sum(part)
        elif name == "write slice":
            xs[i % 3 : i % 3 + j % 3] = [value, x]
        elif name == "write steps" and n:
            alias[::2] = [value * k for k in range((n + 1) // 2)]
        elif name == "extend":
            xs.extend([value, y])
        elif name == "extend by itself" and n < 6:
            xs.extend(alias)
        elif name == "add in place":
            xs += [value]
        elif name == "repeat in place" and n < 6:
            xs *= 2
        elif name == "reverse":
            alias.reverse()
        elif name == "sort":
            xs.sort(key=lambda v: np.sin(37.0 * v), reverse=j % 2 == 0)
        elif name == "remove" and n:
            xs.remove(xs[i % n])
        elif name == "clear" and j == 3:
            alias.clear()
        elif name == "add":
            more = xs + [value]
            more[-1] *= x
            total += more[-1]
        elif name == "sum":
            total += sum(xs) * y
    for k, v in enumerate(alias):
        total += v * (k + 1)
    return total


def run_dict(steps, x, y):
    d = {"a": x, "b": y}
    alias = d
    total = 0.0
    for name, i, j in steps:
        value = (x, y, x * x, 2.0)[i % 4] * (1 + j)
        key = "abcd"[j]
        if name == "write":
            d[key] = value
        elif name == "augment" and key in d:
            alias[key] *= value
        elif name == "read" and key in d:
            total += d[key] * alias[key]
        elif name == "get":
            total += d.get(key, value) * x
        elif name == "pop":
            total += alias.pop(key, value) * y
        elif name == "popitem" and d:
            _, v = d.popitem()
            total += v * value
        elif name == "setdefault":
            total += d.setdefault(key, value) * y
        elif name == "update":
            alias.update({key: value, "b": x})
        elif name == "update by pairs":
            alias.update([(key, value), ("a", y), (key, x)])
        elif name == "update by words":
            d.update(a=value, c=y)
        elif name == "or in place":
            d |= {key: value}
        elif name == "clear" and i == 0:
            alias.clear()
        for k in d:
            total += d[k] * 0.5
    return total


def run_deque(steps, x, y):
    d = deque([x, y, x * y], maxlen=4)
    alias = d
    total = 0.0
    for name, i, j in steps:
        value = (x, y, x * x, 2.0)[i % 4] * (1 + j)
        n = len(d)
        if name == "append":
            d.append(value)
        elif name == "appendleft":
            alias.appendleft(value)
        elif name == "extend":
            d.extend([value, y])
        elif name == "extendleft":
            d.extendleft((value, y))
        elif name == "pop" and n:
            total += alias.pop() * x
        elif name == "popleft" and n:
            total += d.popleft() * value
        elif name == "rotate":
            alias.rotate(j - 2)
        elif name == "write" and n:
            d[i % n - n * (j % 2)] = value
        elif name == "augment" and n:
            alias[i % n] *= value
        elif name == "reverse":
            d.reverse()
        elif name == "clear" and i == 0:
            alias.clear()
        for k, v in enumerate(d):
            total += v * (k + 0.5)
    return total


LIST = (
    ["append", "insert", "write", "augment", "pop", "pop at", "read", "slice", "write slice", "write steps"]
    + ["extend", "extend by itself", "add in place", "repeat in place", "reverse", "sort", "remove", "clear"]
    + ["add", "sum"]
)
DICT = ["write", "augment", "read", "get", "pop", "popitem", "setdefault", "update", "update by pairs"] + [
    "update by words",
    "or in place",
    "clear",
]
DEQUE = ["append", "appendleft", "extend", "extendleft", "pop", "popleft", "rotate", "write", "augment"] + [
    "reverse",
    "clear",
]


def steps_of(names):
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 3), st.integers(0, 3)), max_size=7)


def check(run, steps):
    value, found = rl.withgradient(lambda x, y: run(steps, x, y), *X)
    assert value == pytest.approx(run(steps, *X), rel=1e-12)
    for k in range(2):
        numeric = slope(run, steps, k, 1e-4)
        assert found[k] == pytest.approx(numeric, rel=1e-5, abs=1e-5 * (1 + abs(value)))


def slope(run, steps, k, h):
    """The derivative by one of the two numbers, by differences of order four with a step."""

    def at(t):
        return run(steps, *(X[:k] + (X[k] + t,) + X[k + 1 :]))

    close, wide = (difference(lambda s, w=width: at(s * w), width) for width in (h, 2 * h))
    return (4 * close - wide) / 3


@settings(max_examples=60, deadline=None)
@given(steps_of(LIST))
def test_any_sequence_on_a_list(steps):
    """Whatever is done to a list of floats, under two names, the gradient is that of finite differences."""
    if any(name == "sort" for name, _, _ in steps) and not settled(run_list, steps):
        return
    check(run_list, steps)


@settings(max_examples=60, deadline=None)
@given(steps_of(DICT))
def test_any_sequence_on_a_dict(steps):
    """Whatever is done to a dict of floats, under two names, the gradient is that of finite differences."""
    check(run_dict, steps)


@settings(max_examples=60, deadline=None)
@given(steps_of(DEQUE))
def test_any_sequence_on_a_deque(steps):
    """Whatever is done to a bounded deque, under two names, the gradient is that of finite differences."""
    check(run_deque, steps)


def settled(run, steps):
    """Whether the order that sorting gives is the same nearby, so that finite differences mean something."""
    allowed = 1e-5 * (1 + abs(run(steps, *X)))
    pairs = ((slope(run, steps, k, 1e-4), slope(run, steps, k, 1e-5)) for k in range(2))
    return all(wide == pytest.approx(close, rel=1e-5, abs=allowed) for wide, close in pairs)


def test_a_sort_with_another_order_close_by_is_not_settled():
    """Not even where the value jumps by little."""
    steps = [("append", 0, 3), ("augment", 2, 2), ("sort", 0, 0), ("augment", 1, 2), ("augment", 3, 3)]
    assert settled(run_list, steps)
    assert not settled(run_list, [*steps, ("sort", 0, 0)])


@pytest.mark.parametrize("name", LIST)
def test_each_operation_on_a_list(name):
    """Each operation alone, before and after a write."""
    if name != "sort":
        check(run_list, [("write", 0, 1), (name, 1, 2), ("write", 2, 0), (name, 2, 1)])


@pytest.mark.parametrize("name", DICT)
def test_each_operation_on_a_dict(name):
    """Each operation alone, before and after a write."""
    check(run_dict, [("write", 0, 1), (name, 1, 2), ("write", 2, 0), (name, 0, 0)])


# --- the table of cotangents ------------------------------------------------------------------------------


def test_a_write_takes_the_cotangent_of_what_it_wrote(sweep):
    """Undoing a write gives the written item its cotangent; before it, the place has none."""
    xs = heap.own([1.0, 2.0], True)
    _, read = containers.read_item(xs, -1)
    _, write = containers.write_item(xs, 1, 5.0)
    _, read_again = containers.read_item(xs, np.int64(1))
    read_again(3.0)
    read_again(4.0)
    assert write(ZERO)[3] == 7.0
    assert heap.take_all(xs) == {}
    read(2.0)
    assert heap.take_all(xs) == {1: 2.0}


def test_undoing_a_removal_puts_the_later_items_back(sweep):
    """After `pop(0)` the items moved down: their cotangents move up again, and the popped one joins."""
    xs = heap.own([1.0, 2.0, 3.0], True)
    y, pop = containers.pop(xs, 0)
    _, read = containers.read_item(xs, 0)
    assert y == 1.0
    read(10.0)
    pop(7.0)
    assert heap.take_all(xs) == {0: 7.0, 1: 10.0}


def test_a_failed_operation_leaves_no_trace(sweep):
    """An operation that raises Python's own error changes neither the container nor the table."""
    xs, d = heap.own([], True), heap.own({}, True)
    for act, error in (
        (lambda: containers.pop(xs), IndexError),
        (lambda: containers.read_item(xs, 0), IndexError),
        (lambda: containers.write_item(xs, 0, 1.0), IndexError),
        (lambda: containers.remove(xs, 1.0), ValueError),
        (lambda: containers.pop_entry(d, "a"), KeyError),
        (lambda: containers.read_item(d, "a"), KeyError),
        (lambda: containers.popitem(d), KeyError),
    ):
        with pytest.raises(error):
            act()
    assert (xs, d) == ([], {})
    assert not heap.any_cotangent()
