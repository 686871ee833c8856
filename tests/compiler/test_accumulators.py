"""Objects, lists and dicts that begin as constants and are given what varies later, in every mode."""

import types
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import pytest

import rulelab as rl


class Total:
    def __init__(self):
        self.s = 0.0

    def add(self, v):
        self.s = self.s + v

    def __call__(self, v):
        self.s = self.s + v
        return self.s

    def __iadd__(self, v):
        self.s = self.s + v
        return self


class Scaled(Total):
    def __init__(self, k):
        super().__init__()
        self.k = k


class Slotted:
    __slots__ = ("s",)

    def __init__(self):
        self.s = 0.0


class Bare:
    s = 0.0


T = TypeVar("T")


class Typed(Generic[T]):
    def __init__(self):
        self.s = 0.0


class Nested:
    def __init__(self):
        self.inner = Total()
        self.log = []
        self.by_name = {}


class Momentum:
    def __init__(self):
        self.m = None

    def step(self, g):
        self.m = g if self.m is None else 0.5 * self.m + g
        return self.m


@dataclass
class Record:
    s: float = 0.0
    log: list = field(default_factory=list)


def by_method(x):
    a = Total()
    a.add(x**3)
    return a.s


def by_attribute(x):
    a = Total()
    a.s = x**3
    return a.s


def by_call_and_in_place(x):
    a = Total()
    a(x**2)
    a += x**3 - x**2
    return a.s


def of_a_subclass(x):
    a = Scaled(1.0)
    a.add(x**3)
    return a.s * a.k


def with_slots(x):
    a = Slotted()
    a.s = x**3
    return a.s


def without_init(x):
    a = Bare()
    a.s = x**3
    return a.s


def generic(x):
    a = Typed()
    a.s = a.s + x**3
    return a.s


def nested(x):
    a = Nested()
    a.inner.add(x**2)
    a.log.append(x)
    a.by_name["x"] = x
    return a.inner.s * a.log[0] + a.by_name["x"] - x


def many(x):
    several = [Total() for _ in range(3)]
    for a in several:
        a.add(x**3 / 3.0)
    return sum([a.s for a in several])


def none_at_first(x):
    o = Momentum()
    o.step(2.0 * x**3)
    return o.step(0.0)


def dataclass_by_default(x):
    d = Record()
    d.s = d.s + x**2
    d.log.append(x)
    return d.s * d.log[0]


def dataclass_by_constant(x):
    d = Record(1.0)
    d.s += x**3
    return d.s - 1.0


def namespace(x):
    a = types.SimpleNamespace(s=0.0)
    a.s = a.s + x**3
    return a.s


def dict_display(x):
    d = {"s": 0.0}
    d["s"] = d["s"] + x**3
    return d["s"]


def dict_in_a_helper(x):
    def put(d, v):
        d["s"] = d["s"] + v

    d = {"s": 0.0}
    put(d, x**3)
    return d["s"]


def default_dict(x):
    d = defaultdict(float)
    d["s"] += x**3
    return d["s"]


def ordered_dict(x):
    d = OrderedDict(s=0.0)
    d["s"] += x**3
    return d["s"]


def dict_comprehension(x):
    d = {k: 0.0 for k in "ab"}
    d["a"] = x**3
    return d["a"]


def list_display(x):
    xs = [0.0]
    xs[0] += x**3
    return xs[0]


def repeated_list(x):
    xs = [0.0] * 3
    xs[1] += x**3
    return xs[1]


def list_of_lists(x):
    xs = [[0.0] * 2 for _ in range(2)]
    xs[0][1] = x**3
    return xs[0][1]


def joined_list(x):
    xs = [0.0] + [1.0]
    xs[0] = x**3
    return xs[0]


def copied_list(x):
    xs = [0.0].copy()
    xs[0] = x**3
    return xs[0]


def sorted_list(x):
    xs = sorted([1.0, 0.0])
    xs[0] = x**3
    return xs[0]


def sliced_list(x):
    xs = [1.0, 2.0][:1]
    xs[0] = x**3
    return xs[0]


def in_a_deque(x):
    xs = deque([0.0])
    xs[0] = x**3
    return xs[0]


def nonlocal_number(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v

    add(x**3)
    return s


CUBES = [
    by_method, by_attribute, by_call_and_in_place, of_a_subclass, with_slots, without_init, generic, nested,
    many, none_at_first, dataclass_by_default, dataclass_by_constant, namespace, dict_display,
    dict_in_a_helper, default_dict, ordered_dict, dict_comprehension, list_display, repeated_list,
    list_of_lists, joined_list, copied_list, sorted_list, sliced_list, in_a_deque, nonlocal_number,
]  # fmt: skip


@pytest.mark.every(11)
@pytest.mark.parametrize("f", CUBES, ids=lambda f: f.__name__)
def test_a_cube_however_it_is_kept(f):
    """What takes a number's cube by way of something that began as a constant has the cube's derivatives."""
    assert f(2.0) == 8.0
    assert rl.gradient(f, 2.0)[0] == pytest.approx(12.0)
    assert rl.pushforward(f, 2.0)(1.0) == pytest.approx(12.0)
    assert rl.hessian(f, 2.0) == pytest.approx(12.0)
    assert rl.gradient(lambda x: rl.gradient(f, x)[0], 2.0)[0] == pytest.approx(12.0)
    assert rl.gradient(lambda x: rl.pushforward(f, x)(1.0), 2.0)[0] == pytest.approx(12.0)
    assert rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), 2.0)(1.0) == pytest.approx(12.0)


def test_an_optimiser_with_state():
    """Two steps of an optimiser object inside the loss: its state is differentiated, twice over."""

    class Adam:
        def __init__(self):
            self.m, self.v, self.t = 0.0, 0.0, 0

        def step(self, w, g):
            self.t += 1
            self.m = 0.9 * self.m + 0.1 * g
            self.v = 0.99 * self.v + 0.01 * g * g
            return w - 0.1 * (self.m / (1 - 0.9**self.t)) / np.sqrt(self.v / (1 - 0.99**self.t) + 1e-8)

    def loss(a):
        adam, w = Adam(), 1.0
        for _ in range(2):
            w = adam.step(w, a * w**2)
        return (w - a) ** 2

    h = 1e-4
    first, second = rl.gradient(loss, 0.7)[0], rl.hessian(loss, 0.7)
    assert first == pytest.approx((loss(0.7 + h) - loss(0.7 - h)) / (2 * h), rel=1e-6)
    assert second == pytest.approx((loss(0.7 + h) - 2 * loss(0.7) + loss(0.7 - h)) / h**2, rel=1e-4)
