"""Unpacking, slicing and reading a sequence give the right derivative whatever kind of sequence it is."""

import itertools
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl

from ..differences import gradient_by_differences
from .agreeing import check_slope

X = np.array([0.7, -1.2, 2.1])


class Triple(NamedTuple):
    a: float
    b: float
    c: float


@dataclass
class Fields:
    a: float
    b: float
    c: float

    def __iter__(self):
        return iter((self.a, self.b, self.c))

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return (self.a, self.b, self.c)[key]


class Items:
    """Iterated by the old protocol: indices from zero until there is an IndexError."""

    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, key):
        return self.items[key]

    def __len__(self):
        return len(self.items)


KINDS = {
    "tuple": lambda v: (v[0], v[1], v[2]),
    "list": lambda v: [v[0], v[1], v[2]],
    "NamedTuple": lambda v: Triple(v[0], v[1], v[2]),
    "array": lambda v: v * 1.0,
    "deque": lambda v: deque([v[0], v[1], v[2]]),
    "dataclass": lambda v: Fields(v[0], v[1], v[2]),
    "object": lambda v: Items(v[0], v[1], v[2]),
    "values": lambda v: {"a": v[0], "b": v[1], "c": v[2]}.values(),
}
UNSLICED = ("deque", "values")


def tail(p):
    a, *b = p
    return a * b[0] ** 2 * b[1]


def head(p):
    *a, b = p
    return a[0] * a[1] ** 2 * b


def middle(p):
    a, *b, c = p
    return a * b[0] ** 2 * c + len(b)


def empty(p):
    a, b, c, *d = p
    return a * b**2 * c + len(d)


def nested(p):
    (a, *b), c = p, 2.0
    return a * b[0] ** 2 * b[1] * c


def stars_in_stars(p):
    (a, *b), *c = (p, p)
    (d, *e) = c[0]
    return a * b[0] ** 2 * e[1] + d


def loop(p):
    s = 0.0
    for a, *b in [p, p]:
        s = s + a * b[0] ** 2 * b[1]
    return s


def comprehension(p):
    return sum([a * b[0] ** 2 * b[1] for a, *b in [p, p]])


def dict_comprehension(p):
    found = {k: a * b[0] ** 2 for k, (a, *b) in enumerate([p, p])}
    return found[0] * found[1]


def to_places(p):
    d = {}
    d["a"], *d["b"] = p
    return d["a"] * d["b"][0] ** 2 * d["b"][1]


def handed_on(p):
    return (lambda a, *b: a * b[0] ** 2 * b[1])(*p)


def displayed(p):
    q = [*p, *p, 1.0]
    return q[0] * q[4] ** 2 * q[5] * q[-1]


def by_slices(p):
    q, r = p[1:], p[::-2]
    return q[0] ** 2 * r[0] * r[1] + p[-1]


def by_numbers(p):
    return p[0] * p[1] ** 2 * p[-1]


def walked(p):
    s = 0.0
    for k, v in enumerate(p):
        s = s + (k + 1) * v**2
    return s


def in_pairs(p):
    return sum([u * v for u, v in zip(p, list(p)[1:])])


def numbered(p):
    return sum([k * v**2 for k, v in zip(itertools.count(1), p)])


SLICING = (by_slices,)
INDEXING = (by_slices, by_numbers)
USES = [
    tail, head, middle, empty, nested, stars_in_stars, loop, comprehension, dict_comprehension, to_places,
    handed_on, displayed, by_slices, by_numbers, walked, in_pairs, numbered,
]  # fmt: skip
CASES = [
    pytest.param(kind, use, id=f"{kind}-{use.__name__}")
    for kind in KINDS
    for use in USES
    if not (kind in UNSLICED and use in SLICING) and not (kind == "values" and use in INDEXING)
]


@pytest.mark.parametrize("kind, use", CASES)
@pytest.mark.every(47)
def test_every_use_of_every_kind(kind, use):
    """A sequence made of an array's entries: gradient, pushforward and Hessian are those of the numbers."""

    def f(v):
        return use(KINDS[kind](v))

    assert rl.gradient(f, X)[0] == pytest.approx(gradient_by_differences(f, X), rel=1e-6, abs=1e-6)
    v = np.array([0.3, 1.1, -0.4])
    assert rl.pushforward(f, X)(v) == pytest.approx(gradient_by_differences(f, X) @ v, rel=1e-6, abs=1e-6)
    by_rows = np.array([gradient_by_differences(lambda x, k=k: rl.gradient(f, x)[0][k], X) for k in range(3)])
    assert rl.hessian(f, X) == pytest.approx(by_rows, rel=1e-5, abs=1e-5)


@pytest.mark.every(3)
@pytest.mark.parametrize("use", USES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["tuple", "list", "NamedTuple"])
def test_the_argument_itself(kind, use):
    """The gradient by a sequence that is the argument has an entry for each item, of the same kind."""
    x = KINDS[kind](X)
    (x_bar,) = rl.gradient(use, x)
    assert [float(part) for part in (x_bar[0], x_bar[1], x_bar[2])] == pytest.approx(
        gradient_by_differences(lambda v: use(KINDS[kind](v)), X), rel=1e-6, abs=1e-6
    )


@pytest.mark.parametrize("use", [tail, middle, displayed, walked, in_pairs], ids=lambda f: f.__name__)
def test_a_dataclass_argument(use):
    """The gradient by an object that unpacks like a sequence has its fields by name."""
    (x_bar,) = rl.gradient(use, Fields(*X))
    assert [x_bar.a, x_bar.b, x_bar.c] == pytest.approx(
        gradient_by_differences(lambda v: use(Fields(*v)), X), rel=1e-6, abs=1e-6
    )


class Entry(NamedTuple):
    key: str
    value: float


def as_list(key, value):
    return [key, value]


@pytest.mark.parametrize("pair", [Entry, as_list])
def test_pairs_for_a_dict(pair):
    """A dict made of pairs, or updated with them, whatever kind of pair it is."""

    def made(x):
        d = dict([pair("a", x * x), pair("b", 2.0)])
        d.update([pair("b", x), pair("c", 1.0)])
        return d["a"] * d["b"]

    assert rl.gradient(made, 1.5)[0] == pytest.approx(3 * 1.5**2)
    assert rl.pushforward(made, 1.5)(1.0) == pytest.approx(3 * 1.5**2)
    assert rl.hessian(made, 1.5) == pytest.approx(6 * 1.5)


def the_tuple_itself(x):
    t = (x, 2.0)
    return t[0] * 3.0 if tuple(t) is t else t[0]


def another_tuple_of_a_star(x):
    t = (x, 2.0)
    return t[0] * 3.0 if (*t,) is t else t[0]


def another_tuple_of_stars(x):
    t = (x, 2.0)
    return t[0] * 3.0 if (*t, *()) is t else t[0]


def a_part_of_it(x):
    t = (x, 2.0)
    return t[0] * 3.0 if t[:] is t else t[0]


def the_tuple_and_nothing(x):
    t = (x, 2.0)
    return t[0] * 3.0 if t + () is t else t[0]


def another_list(x):
    t = [x, 2.0]
    return t[0] * 3.0 if list(t) is t else t[0]


@pytest.mark.parametrize(
    "f",
    [
        *(the_tuple_itself, another_tuple_of_a_star, another_tuple_of_stars),
        *(a_part_of_it, the_tuple_and_nothing, another_list),
    ],
    ids=lambda f: f.__name__,
)
def test_a_sequence_made_of_another_is_that_one_where_python_says_so(f):
    """Python has the same tuple where nothing could tell a copy but `is`, which chooses the branch."""
    check_slope(f, 1.3)
