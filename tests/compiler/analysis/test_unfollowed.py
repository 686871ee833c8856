"""Whether the text of code that is not followed shows that it only gives a value."""

import functools
import io
import itertools
from collections import ChainMap, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.compiler.analysis import unfollowed
from rulelab.compiler.analysis.unfollowed import is_pure, is_pure_function, of_class


class Rows:
    def __init__(self, rows):
        self.rows, self.scale = rows, 2.0

    def __iter__(self):
        for k in range(len(self.rows)):
            yield self.row(k)

    def __getitem__(self, k):
        return self.rows[k] * self.scale

    def row(self, k):
        return np.asarray(self.rows[k])

    @property
    def mean(self):
        total, count = 0.0, 0
        for row in self.rows:
            total += np.sum(row)
            count += 1
        return total / count

    @functools.cached_property
    def first(self):
        return self.rows[0].copy()


@dataclass(frozen=True)
class Vector:
    x: float
    y: float = 0.0
    tags: list = field(default_factory=list)

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return type(self)(self.x * k, self.y * k)

    @property
    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)


class Point(NamedTuple):
    x: float
    y: float


class Colour(Enum):
    RED = 1


class Plain:
    """No code behind its operators."""

    def __init__(self, k):
        self.k = k

    def grow(self):
        self.k += 1


PURE = {
    "rows of an array": Rows(np.ones((2, 3))),
    "rows of a list": Rows([np.ones(3)]),
    "rows of rows": Rows(Rows(np.ones((2, 3)))),
    "a frozen dataclass": Vector(1.0),
    "a NamedTuple": Point(1.0, 2.0),
    "an Enum": Colour.RED,
    "an object without operators": Plain(1.0),
    "a fraction": Fraction(1, 2),
    "an array": np.ones(3),
    "a list of arrays": [np.ones(3)],
    "an iterator of a list": iter([1.0]),
    "zip": zip([1.0], np.ones(3)),
    "map of a ufunc": map(np.sin, [1.0]),
    "map of a function that only computes": map(lambda v: v * 2, [1.0]),
    "a file": io.StringIO("a"),
    "count": itertools.count(),
}


@pytest.mark.parametrize("case", PURE)
def test_what_only_gives_values(case):
    """Datasets over arrays, vectors, records and Python's own iterators are compared and cost no copies."""
    assert is_pure(PURE[case])


class Telling:
    """A number that says when it is asked."""

    def __float__(self):
        print("asked")
        return 1.0

    def __eq__(self, other):
        print("asked")
        return True

    def __hash__(self):
        return 1


def telling():
    print("asked")
    return 1.0


OPEN_INSIDE = {
    "the last of many": [0] * 2000 + [Telling()],
    "in the middle of many": (0,) * 17 + (Telling(),) + (0,) * 17,
    "the last of many that are looked at": [Vector(1.0)] * 20 + [Telling()],
    "the last of many rows": [[1.0]] * 20 + [[1.0, Telling()]],
    "more objects than are looked at": [Vector(1.0)] * 5000,
    "a key": {Telling(): 1.0},
    "a part of a key": {(1, Telling()): 1.0},
    "the last key": {**dict.fromkeys(range(2, 22), 1.0), Telling(): 1.0},
    "the last value": {**dict.fromkeys(range(20), 1.0), 20: Telling()},
    "in a set": {Telling()},
    "in a deque": deque([0] * 20 + [Telling()]),
    "a key of one of many": ChainMap({}, {Telling(): 1.0}),
    "in a field": Rows([0] * 20 + [Telling()]),
    "behind an iterator": iter([0] * 20 + [Telling()]),
    "what is missing": defaultdict(telling),
}


@pytest.mark.parametrize("case", OPEN_INSIDE)
def test_one_that_is_open_leaves_all_open(case, capsys):
    """Wherever in a container it stands; and it is not asked to tell."""
    assert not is_pure(OPEN_INSIDE[case])
    assert not capsys.readouterr().out


PURE_INSIDE = {
    "many numbers": [0.0] * 100_000,
    "many rows": [[1.0, (2, "a")]] * 2000,
    "objects": [Vector(1.0)] * 100,
    "by plain keys": {(1, "a"): [Vector(1.0)] * 20, None: {}},
    "what is missing is a list": defaultdict(list, {1: [1.0]}),
    "many dicts": ChainMap({}, {"a": 1.0}),
    "nothing": [[], {}],
}


@pytest.mark.parametrize("case", PURE_INSIDE)
def test_containers_of_which_all_only_gives_values(case):
    """All is looked at, however many there are: by the kinds where these tell it."""
    assert is_pure(PURE_INSIDE[case])


@pytest.mark.parametrize("name", ["mean", "first", "row", "rows", "scale"])
def test_attributes_that_only_give_values(name):
    """Reading a field, a method or a property that computes runs nothing else."""
    assert is_pure(Rows(np.ones((2, 3))), name) and is_pure(Vector(1.0), "norm")


# --- what leaves it open ------------------------------------------------------------------------------------


def counting(self):
    self.count = 1


def filling(self):
    self.buffer[:] = 1.0


def adding(self):
    b = self.buffer
    b += 1.0
    return b


def adding_to_an_alias(self):
    n = 1
    n = self.buffer
    n += 1.0
    return n


def with_out(self):
    return np.add(self.buffer, 1.0, out=self.buffer)


def with_out_by_position(self):
    return np.add(self.buffer, 1.0, self.buffer)


def sum_into(self):
    return np.sum(self.buffer, None, None, self.buffer)


def copying(self):
    return np.copyto(self.buffer, 1.0)


def appending(self):
    self.log.append(1)


def drawing(self):
    return self.rng.random(3)


def drawing_globally(self):
    return np.random.rand()


def printing(self):
    print(self.buffer)


def asking(self):
    return self.store.get(0)


def asking_an_alias(self):
    get = self.store.get
    return get(0)


def by_global(self):
    global COUNT
    COUNT = 1


def by_setattr(self):
    setattr(self, "count", 1)  # noqa: B010


def by_helper(self):
    return helper(self.buffer)


def helper(b):
    b[:] = 1.0
    return b


def by_key(self):
    return sorted([1, 2], key=helper)


def by_map(self):
    return list(map(self.refill, [1]))


def by_import(self):
    import random

    return random.random()


def by_next(self):
    return next(self.rows)


def by_with(self):
    with self.store:
        return 1.0


def making(self):
    return Marking(self)


class Marking:
    made = 0

    def __init__(self, owner):
        owner.count += 1


def of_a_closure():
    buffer = np.ones(3)

    def refill(self):
        return buffer.sum()

    return refill


OPEN = (counting, filling, adding, adding_to_an_alias, with_out, with_out_by_position, sum_into, copying)
OPEN = (*OPEN, appending, drawing, drawing_globally, printing, asking, asking_an_alias, by_global, by_setattr)
OPEN = (*OPEN, by_helper, by_key, by_map, by_import, by_next, by_with, making, of_a_closure())


class Store:
    def get(self, k):
        helper(np.ones(3))


@pytest.mark.parametrize("behind", OPEN, ids=lambda f: f.__name__)
def test_what_may_do_more(behind):
    """A write, a draw, a record, or a call that leads nobody knows where is not taken for harmless, behind an
    operator, a property, in a base class, in a field of a wrapper or in a `map`."""
    base = type("Base", (), {"__neg__": behind, "value": property(behind), "refill": helper})
    kind = type("Derived", (base,), {})
    x = kind()
    x.buffer, x.log, x.rng, x.store = np.ones(3), [], np.random.default_rng(0), Store()
    assert not is_pure(x) and not is_pure(x, "value") and not of_class(kind, None)
    assert is_pure(x, "buffer") and is_pure(x, "refill")
    wrapped = Rows(x)
    assert not is_pure(wrapped) and not is_pure(zip([1], [x]))


@pytest.mark.parametrize("function", (filling, with_out, drawing_globally, by_helper, by_key, making))
def test_functions_that_may_do_more(function):
    """A function that Python's own calls for each item is read the same way."""
    assert not is_pure_function(function) and not is_pure(map(function, [Plain(1.0)]))


def test_iterators_that_run_code():
    """A generator, an iterator over one, and NumPy's buffered iterator are open."""
    for x in ((k for k in [1]), zip(k for k in [1]), map(helper, [np.ones(3)]), np.nditer(np.ones(3))):
        assert not is_pure(x)


def test_a_class_that_leads_back_to_itself():
    """Linked objects are looked at to a depth, and no further."""
    first = Rows([])
    first.rows = first
    assert not is_pure(first)


def test_names_of_a_function_that_is_made_again_are_read_once(monkeypatch):
    def made():
        return lambda rows: [row + 1 for row in rows]

    assert is_pure_function(made())
    monkeypatch.setattr(unfollowed.ast, "walk", lambda _: pytest.fail("read again"))
    assert is_pure_function(made())


def test_a_list_that_holds_itself_many_times_is_looked_at_once():
    rows = [1.0]
    rows.extend([rows] * 1000)
    assert not is_pure(rows)  # no end is found
