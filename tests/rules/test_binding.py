"""Tests of the binding of arguments."""

import builtins
import collections
import dataclasses
import inspect
import itertools
import math
import operator
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.rules import binding
from rulelab.rules.binding import Binder


def plain(x, y=2.0):
    return x


def wide(x, /, y, z=3.0, *rest, k, flag=True, **others):
    return x


class Maker:
    def __init__(self, a, b=1):
        pass


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Bag(dict):
    def __init__(self, items=None, /, **words):
        super().__init__(items or (), **words)


class Pair(NamedTuple):
    left: float
    right: float = 4.0


CALLS = [
    (plain, (1,), {}), (plain, (1, 2), {}), (plain, (), {"y": 1, "x": 5}),
    (wide, (1, 2), {"k": 0}), (wide, (1, 2, 3, 4, 5), {"k": 0, "flag": False, "x": 9, "q": 1}),
    (wide, (1,), {"y": 7, "k": 1}),
    (Maker, (1,), {}), (Maker, (), {"b": 2, "a": 3}), (Point, (1.0,), {}), (Pair, (), {"left": 1.0}),
    (Bag, (), {}), (Bag, ({1: 2},), {"a": 3}), (Counter, (), {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize("target, args, kwargs", CALLS)
def test_it_binds_as_python_does(target, args, kwargs):
    """A rule gets the arguments in the order of the signature, defaults included, however I wrote the
    call.
    """
    bound = inspect.signature(target).bind(*args, **kwargs)
    bound.apply_defaults()
    positional, keyword_only = Binder.of(target).bind(args, kwargs)
    assert tuple(positional) == bound.args and keyword_only == bound.kwargs


@pytest.mark.parametrize("args, kwargs", [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"q": 2})])
def test_a_wrong_call_is_a_type_error(args, kwargs):
    """A call that Python would refuse is refused."""
    with pytest.raises(TypeError):
        Binder.of(plain).bind(args, kwargs)
    with pytest.raises(TypeError):
        Binder.of(wide).bind((1, 2), {})


def test_defaults_are_those_of_the_moment():
    """Defaults changed after the first call count."""

    def f(x, y=1.0):
        return x

    assert Binder.of(f).bind((0,), {})[0] == (0, 1.0)
    f.__defaults__ = (9.0,)
    assert Binder.of(f).bind((0,), {})[0] == (0, 9.0)


def test_c_functions():
    """C functions that state a signature are bound by it, up to the last argument that was given."""
    assert Binder.of(np.sin).bind((1.0,), {}) == ((1.0,), {})
    assert Binder.of(np.sum).bind((1.0,), {"axis": 0}) == ((1.0, 0), {})
    assert Binder.of(math.hypot).bind((1.0, 2.0), {})[0] == (1.0, 2.0)
    assert Binder.of(wide).names(5) == ("x", "y", "z", "rest[0]", "rest[1]")


@pytest.mark.parametrize("module", [math, operator, builtins], ids=lambda module: module.__name__)
def test_plain_signatures_are_those_of_inspect(module):
    """Those that are read without its tokenizer: each as `inspect` gives it, and a good part of `math`."""
    functions = [f for f in vars(module).values() if callable(f)]
    read = [(f, binding._plain_signature(f)) for f in functions]
    known = [(f, found) for f, found in read if found is not None]
    assert all(found == inspect.signature(f) for f, found in known)
    assert module is not math or len(known) > 20


@pytest.mark.parametrize("target", [itertools.accumulate, collections.deque, math.sin])
def test_a_signature_of_c_is_read_once(target, monkeypatch):
    """It is a text, which takes as long to read as a hundred calls."""
    first = Binder.of(target)
    monkeypatch.setattr(inspect, "signature", lambda _: pytest.fail("read again"))
    assert getattr(Binder.of(target), "signature", None) is getattr(first, "signature", None)


def test_a_class_that_changes_is_read_again():
    class Row(tuple):
        def __new__(cls, x, y):
            return tuple.__new__(cls, (x, y))

        def __init__(self, x, y):
            pass

    assert Binder.of(Row).bind((1, 2), {}) == ((1, 2), {})
    Row.__new__ = lambda cls, z=3: tuple.__new__(cls, (z, z))
    Row.__init__ = lambda self, z=3: None
    assert Binder.of(Row).bind((), {})[0] == (3,)
