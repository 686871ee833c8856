"""Gradients with respect to dataclasses, NamedTuples, containers and objects, against finite differences."""

from __future__ import annotations

import copy
import dataclasses
import functools
import sys
from collections import OrderedDict, deque, namedtuple
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.structures import check  # noqa: E402

import rulelab as rl  # noqa: E402

W = np.array([[0.1, 0.2], [0.3, -0.4]])
B = np.array([0.5, -0.1])
X = np.array([1.0, 2.0])
PROGRAMS = []


def program(*args):
    """Put the decorated function into the table, to be differentiated at these arguments."""

    def register(f):
        PROGRAMS.append(pytest.param(f, args, id=f.__name__))
        return f

    return register


@dataclass
class Point:
    x: Any
    y: Any


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float
    name: str = "n"


@dataclass(frozen=True, slots=True)
class Affine:
    w: Any
    b: Any


@dataclass
class Squared:
    a: float
    c: float = field(init=False)
    k: InitVar[float] = 2.0

    def __post_init__(self, k):
        self.c = self.a * self.a * k


@dataclass(frozen=True)
class Cubed:
    a: float
    c: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "c", self.a**3)


class Sides(NamedTuple):
    u: Any
    v: Any = 1.0

    def area(self):
        return self.u * self.v


Pair = namedtuple("Pair", "p q")


class Base:
    scale = 3.0

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def total(self, t):
        return self.a * t + self.b * self.scale

    @property
    def product(self):
        return self.a * self.b

    @property
    def half(self):
        return self.a / 2

    @half.setter
    def half(self, v):
        self.a = 2 * v

    def __call__(self, x):
        return np.sum(self.a * x) + self.b

    @classmethod
    def squared(cls, a):
        return cls(a, a * a)

    @staticmethod
    def twice(a):
        return 2 * a

    def bump(self, v):
        self.a = self.a + v
        return self


class Derived(Base):
    def __init__(self, a, b, c):
        super().__init__(a, b)
        self.c = c

    def total(self, t):
        return super().total(t) * self.c


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def product(self):
        return self.a * self.b


class MoreSlots(Slotted):
    __slots__ = ("c",)

    def __init__(self, a, b, c):
        super().__init__(a, b)
        self.c = c


class Private:
    def __init__(self, a):
        self.__a = a

    def get(self):
        return self.__a


class Protocols:
    def __init__(self, a):
        self._a = a

    @functools.cached_property
    def square(self):
        return self._a**2

    def __getattr__(self, name):
        if name == "sevenfold":
            return self._a * 7
        raise AttributeError(name)

    def __getitem__(self, k):
        return self._a * k

    def __iter__(self):
        return iter([self._a, self._a * 2])

    def __add__(self, other):
        return Protocols(self._a + (other._a if isinstance(other, Protocols) else other))


class Layer:
    def __init__(self, w, b, act):
        self.w = w
        self.b = b
        self.act = act

    def __call__(self, x):
        return self.act(self.w @ x + self.b)


class Chain:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@dataclass
class Model:
    layers: list
    scale: float = 2.0
    options: dict = field(default_factory=dict)

    def __call__(self, x):
        for w, b in self.layers:
            x = np.tanh(w @ x + b)
        return np.sum(x) * self.scale


# -- reading -------------------------------------------------------------------------------------------------


@program(Point(2.0, 3.0))
def dataclass_fields(p):
    return p.x**2 * p.y


@program(Frozen(2.0, 3.0))
def frozen_fields(p):
    return p.x**2 * p.y


@program(Affine(W, B), X)
def frozen_with_slots(p, x):
    return np.sum(p.w @ x + p.b)


@program(Sides(Point(1.0, 2.0), [3.0, (4.0, 5.0)]))
def nested_in_a_named_tuple(n):
    return n.u.x * n.v[1][0] + n.v[0] * n.u.y


@program(Pair(2.0, W))
def old_named_tuple_unpacked(n):
    p, q = n
    return p * np.sum(q)


@program({"a": Point(1.0, 2.0), "b": [W, {"c": 3.0}]}, X)
def dict_of_everything(d, x):
    return d["a"].x * np.sum(d["b"][0] @ x) * d["b"][1]["c"]


@program(OrderedDict(a=1.0, b=2.0))
def ordered_dict(d):
    return sum([v * v for v in d.values()]) * d["a"] + sum([v for _, v in d.items()])


@program(SimpleNamespace(a=2.0, b=[1.0, 2.0]))
def namespace(n):
    return n.a * n.b[1]


@program({1: 1.0, (2, 3): 2.0})
def keys_that_are_not_text(d):
    return d[1] * d[(2, 3)]


@program(Base(2.0, 3.0), 4.0)
def methods_and_properties(o, t):
    return o.total(t) * o.product * o.half + Base.twice(o.a)


@program(Derived(2.0, 3.0, 5.0), 4.0)
def inherited(o, t):
    return o.total(t) * o.product


@program(MoreSlots(2.0, 3.0, 4.0))
def slots_of_two_classes(o):
    return o.product() * o.c


@program(Private(3.0))
def mangled_name(o):
    return o.get() ** 2


@program(Protocols(2.0))
def protocols(p):
    return p.square * p.sevenfold + p[3] + sum(p) + (p + p)._a + (p + 3.0)._a


@program(Base(X, 3.0), X)
def callable_object(o, x):
    return o(x)


@program(Chain(Layer(W, B, np.tanh), Layer(W.T, B, lambda v: v * v)), X)
def chain_of_callables(m, x):
    return np.sum(m(x))


@program(Model([(W, B), (W.T, B)]), X)
def model_with_layers(m, x):
    return m(x)


@program(Base(2.0, 3.0), 2.0)
def partials_of_methods(o, t):
    bound = functools.partial(o.total, t)
    free = functools.partial(Base.total, o)
    return bound() * o.a + free(t)


@program(Base(2.0, 3.0))
def bound_method_kept(o):
    m = o.total
    return m(3.0) + m(2.0) * o.b


@program(Point(2.0, 3.0))
def names_at_run_time(p):
    return sum([getattr(p, f.name) ** 2 for f in dataclasses.fields(p)])


@program(Point(2.0, 3.0))
def matched_by_pattern(p):
    match p:
        case Point(x=a, y=b):
            return a * b


@program([Base(2.0, 3.0), Base(1.0, 1.0)])
def sorted_by_a_field(items):
    return sorted(items, key=lambda o: o.a)[0].b * items[0].a


# -- making --------------------------------------------------------------------------------------------------


@program(2.0)
def post_init(a):
    p, q = Squared(a, a * 3), Cubed(a)
    return p.c * p.a * q.c


@program(Point(2.0, 3.0), 1.5)
def replaced(p, t):
    q = dataclasses.replace(p, x=t)
    return q.x * q.y * p.x


@program(Squared(2.0), Cubed(2.0), 1.5)
def replaced_with_post_init(p, c, t):
    q, d = dataclasses.replace(p, a=t * p.a, k=t), dataclasses.replace(c, a=t * c.a)
    return q.c * p.c * d.c * c.c


@program(Point(Point(1.0, 2.0), Point(3.0, 4.0)))
def replaced_inside(p):
    q = dataclasses.replace(p, x=dataclasses.replace(p.x, y=p.y.x * 2))
    return q.x.y * q.x.x * q.y.y


@program(Sides(2.0, 3.0))
def named_tuple_made_anew(n):
    by_make = Sides._make([n.u * 2, n.v])
    return n._replace(u=n.v * 2).area() + n._asdict()["u"] * Sides(*n).area() + by_make.area()


@program(Point(Point(2.0, [3.0, X]), 4.0))
def as_dict_and_as_tuple(p):
    d, t = dataclasses.asdict(p), dataclasses.astuple(p)
    d["y"] = d["y"] * d["x"]["x"]
    return d["y"] * np.sum(d["x"]["y"][1]) + t[0][1][0] * t[1]


@program(2.0)
def made_and_written(a):
    o = Base.squared(a)
    o.half = a
    o.bump(a).bump(2 * a)
    setattr(o, "b", o.b * a)
    return o.a * o.b


@program(Point(2.0, 3.0))
def made_by_its_own_class(p):
    return type(p)(p.y * p.x, p.x).x * p.__class__(**{"x": p.y, "y": p.x}).x


# -- copying -------------------------------------------------------------------------------------------------


@program(Point(2.0, 3.0), Slotted(4.0, 5.0), Base(1.0, 2.0))
def copies_are_written(p, s, o):
    q, t, u = copy.copy(p), copy.copy(s), copy.copy(o)
    q.x = q.x * 3
    t.a = t.a * q.x
    u.a = u.b * u.total(2.0)
    return q.x * p.x * q.y + t.a * s.a + u.a * o.a


@program(Point([2.0, 3.0], 3.0))
def deep_copy_of_an_object(p):
    q = copy.deepcopy(p)
    q.x[0] = q.x[1] * 3
    return q.x[0] * p.x[0] * q.y


@program({"a": [1.0, 2.0], "b": (Point(1.0, 2.0), [3.0])})
def deep_copy_of_a_dict(d):
    e = copy.deepcopy(d)
    e["a"].append(e["a"][0] * d["a"][1])
    e["b"][0].x = e["b"][1][0] * 2
    e["b"][1].append(e["a"][2])
    return e["a"][2] * e["a"][0] * e["b"][0].x * e["b"][1][1] * d["b"][0].x


@program(2.0)
def shared_within_a_deep_copy(a):
    inner = [a]
    twice = [inner, inner]
    other = copy.deepcopy(twice)
    other[0].append(a * a)
    return other[1][1] * inner[0] * len(inner)


@program(2.0)
def copy_of_what_was_made(a):
    p = Point(a, [a * a])
    q = copy.copy(p)
    q.x = q.x * 5
    q.y.append(q.x)
    return p.y[1] * q.x * p.x


# -- keywords that are named as our own parameters are -----------------------------------------------------


def unlucky(g, function, target, method):
    return g * function * target * method


class Unlucky:
    def __init__(self, cls, place):
        self.owner = cls * place

    def call(self, owner, args):
        return self.owner * owner * args


@program(1.5)
def unlucky_keywords(x):
    o = Unlucky(cls=x, place=x)
    return unlucky(g=x, function=x, target=x, method=x) + o.call(owner=x, args=x)


@pytest.mark.every(3)
@pytest.mark.parametrize("f, args", PROGRAMS)
def test_every_part_has_its_derivative(f, args):
    """The gradient has the structure of its argument, and the numbers of finite differences."""
    check(rl.gradient, f, *args)


def test_the_form_of_a_gradient():
    """Objects give their fields by name, NamedTuples their own class; where nothing flowed there is None."""
    (of_point,) = rl.gradient(lambda p: p.x * 2, Point(1.0, "text"))
    assert (of_point.x, of_point.y) == (2.0, None)
    assert rl.gradient(lambda n: n.u * 2, Sides(1.0, 5.0)) == (Sides(2.0, None),)
    assert rl.gradient(lambda d: d["a"] * 2, {"a": 1.0, "b": "text"}) == ({"a": 2.0, "b": None},)
    assert rl.gradient(lambda t: t[0] * 2, (1.0, 5.0)) == ((2.0, None),)


def test_a_callable_object_is_its_own_argument():
    """`gradient(model, x)` is by x; by the model it is that of a function of the model."""
    model = Base(np.array([2.0, 3.0]), 1.0)
    np.testing.assert_allclose(rl.gradient(model, X)[0], model.a)
    (of_model,) = rl.gradient(lambda m: m(X), model)
    np.testing.assert_allclose(of_model.a, X)
    assert of_model.b == 1.0


def test_a_constant_copy_may_be_written():
    """A copy of a constant is the function's own, whatever it holds."""
    settings = Point("text", [1, 2])

    def f(x):
        mine = copy.deepcopy(settings)
        mine.y[0] = 5
        return x * mine.y[0]

    assert rl.gradient(f, 2.0) == (5.0,)
    assert settings.y == [1, 2]


def test_attrs_classes():
    """Classes by `attrs.define` and `attrs.frozen`, with factories, made inside and given as arguments."""
    attrs = pytest.importorskip("attrs")
    plain = attrs.make_class("plain", {"x": attrs.field(), "y": attrs.field(default=2.0)})
    fixed = attrs.make_class(
        "fixed", {"x": attrs.field(), "items": attrs.field(factory=list)}, frozen=True, slots=True
    )

    def made(v):
        a, b = plain(v), fixed(v, [v])
        a.x = a.x * 3
        b.items.append(v * v)
        return a.x * a.y * b.items[1]

    assert rl.gradient(made, 2.0)[0] == pytest.approx(6.0 * 3 * 4.0)
    (found,) = rl.gradient(lambda a: a.x * a.y, plain(2.0, 5.0))
    assert (found.x, found.y) == (5.0, 2.0)


def test_a_deque_argument_is_refused_in_words():
    """What has no gradient says so."""
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda d: d[0] * d[1], deque([1.0, 2.0]))


def test_a_gradient_is_a_structure_itself():
    """What `gradient` gave for an object may be read in a function, as a constant and as an argument."""
    (g,) = rl.gradient(lambda p: p.x * p.y, Point(2.0, 3.0))
    assert rl.gradient(lambda r: r * g.x + r**2 * g.y, 1.0) == (7.0,)
    (of_g,) = rl.gradient(lambda g: g.x * g.y + sum([v * v for v in g._asdict().values()]), g)
    assert (of_g.x, of_g.y) == (2.0 + 2 * 3.0, 3.0 + 2 * 2.0)
