"""What can have a cotangent, and what the author's code may hold it in."""

import array
import collections
import enum
import functools
import itertools
import random

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.memory.operands import carries


class Holder:
    def __init__(self, x):
        self.x = x

    def method(self):
        return self.x


class Colour(enum.Enum):
    RED = 1.0


HOLDING = {
    "bound method": Holder(1.0).method,
    "C method": [1.0].append,
    "method of an array": np.ones(2).sum,
    "partial": functools.partial(max, 1.0),
    "partial by keyword": functools.partial(max, default=1.0),
    "partial of a method": functools.partial(Holder(1.0).method),
    "vectorize of a method": np.vectorize(Holder(1.0).method),
    "values": {"a": 1.0}.values(),
    "items": {"a": 1.0}.items(),
    "iterator": iter([1.0]),
    "zip": zip([1.0]),
    "generator": (x for x in [1.0]),
    "chain": itertools.chain([1.0]),
    "set": {1.0},
    "deque": collections.deque([1.0]),
    "array of the standard library": array.array("d", [1.0]),
}
EMPTY = {
    "function": len,
    "partial of text": functools.partial(str.join, ","),
    "vectorize": np.vectorize(len),
    "member of an enumeration": Colour.RED,
    "values of text": {"a": "b"}.values(),
    "keys": {1.0: 1.0}.keys(),
    "method of text": "a".join,
    "generator of random numbers": np.random.default_rng(0).normal,
    "class": random.Random,
    "set of indices": {0, 2},
    "deque of text": collections.deque("ab"),
}


@pytest.mark.parametrize("name", HOLDING)
def test_what_holds_a_number_carries(name):
    """Such a value is not handed to unknown code unnoticed."""
    assert carries(HOLDING[name])


@pytest.mark.parametrize("name", EMPTY)
def test_what_holds_none_does_not(name):
    """Such a value is a constant."""
    assert not carries(EMPTY[name])


def web_of_functions(*values):
    """Functions made inside another that call one another, each of which may hold a value."""

    def first(x):
        return second(x) if x > 1 else values

    def second(x):
        return third(x) if x > 2 else first(x)

    def third(x):
        return first(x) + second(x)

    return first


def test_functions_that_hold_one_another_are_asked_once():
    assert not carries(web_of_functions("text"))
    assert carries(web_of_functions("text", 1.0))


def test_functions_that_call_one_another_have_gradients():
    def made():
        def even(x, n):
            return x if n == 0 else odd(2 * x, n - 1)

        def odd(x, n):
            return x * x if n == 0 else even(3 * x, n - 1)

        return lambda x: even(x, 3)

    for _ in range(2):
        assert rl.gradient(made(), 1.5) == (2 * 12 * 12 * 1.5,)
