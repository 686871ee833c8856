"""What a callable holds: every kind of callable, and every place where it may keep something."""

import functools

import numpy as np
import pytest

from rulelab.tangents.holding import (
    UNBOUND,
    TooMuch,
    captured,
    carrier,
    cells_and_defaults,
    everything_held,
    held_by,
    inside,
)
from rulelab.tangents.shadows import natural, zero_of


class Model:
    def __init__(self, k):
        self.k = k

    def run(self, a):
        return self.k * a

    @classmethod
    def made(cls):
        return cls(1.0)


def holder(k):
    def f(a, b=2.0, *, c=3.0):
        return a * b * c * k

    return f


def test_a_function():
    """By name, in the order of its code object."""
    assert held_by(holder(1.0)) == ({"k": 1.0}, {"b": 2.0}, {"c": 3.0})
    assert list(held_by(holder(1.0)).by_name().values()) == [1.0, 2.0, 3.0]
    assert list(inside(holder(1.0))) == [1.0, 2.0, 3.0]
    assert [name for name, _ in cells_and_defaults(holder(1.0))] == ["k", "b", "c"]


def test_a_variable_that_is_not_set_yet():
    """It is no part to look into."""

    def f():
        return later

    assert held_by(f).captured == {"later": UNBOUND} and list(inside(f)) == []
    later = 1.0
    assert list(inside(f)) == [later]


def test_keyword_defaults_go_by_the_order_of_the_parameters():
    """Not by that of the dict, which may be set."""
    f = holder(1.0)
    f.__kwdefaults__ = {"d": 5.0, "c": 4.0}
    assert held_by(f).keyword_defaults == {"c": 4.0}


MODEL, ARRAY = Model(1.5), np.ones(2)


@pytest.mark.parametrize(
    ("x", "behind", "parts"),
    [
        (MODEL.run, MODEL, [Model.run, MODEL]),
        (ARRAY.sum, ARRAY, [ARRAY]),
        ((2.0).__add__, 2.0, [2.0]),
        (functools.cache(MODEL.run), MODEL, [MODEL.run]),
        (len, len, []),
        (np.sin, np.sin, []),
        (2.0, 2.0, []),
    ],
)
def test_what_stands_for_a_callable(x, behind, parts):
    """The object of a method, and what a cached function wraps; of other values nothing is inside."""
    assert carrier(x) is behind or carrier(x) == behind
    assert list(inside(x)) == parts


def test_a_class_method_and_a_partial():
    """A class stands for its method, and has no tangent; a partial has parts of its own."""
    assert carrier(Model.made) is Model
    held = functools.partial(MODEL.run, 1.0, k=2.0)
    assert carrier(held) is held and list(inside(held)) == [MODEL.run, 1.0, 2.0]
    assert list(inside(np.vectorize(MODEL.run))) == [MODEL.run]


def test_the_tangent_of_a_method_is_that_of_its_object():
    """Whoever makes zeros for a method can put the tangent of its object there."""
    zero = zero_of(MODEL.run)
    assert zero == zero_of(MODEL) and zero.k == 0.0
    zero.k = 2.0
    assert natural(MODEL.run, zero).k == 2.0
    assert zero_of(np.vectorize(MODEL.run)).pyfunc.k == 0.0


def test_captured_variables_with_a_value():
    """A variable that is assigned later is none yet; what is no Python function captures nothing."""

    def f():
        return now, later

    now = 1.0
    assert captured(f) == {"now": 1.0}
    later = 2.0
    assert captured(f) == {"now": 1.0, "later": 2.0}
    assert captured(len) == captured(3.0) == {}


def test_everything_held_comes_once():
    """Whatever leads back, and each value before what is in it; leaves and stops are not gone into."""
    inner = {"a": 1.0}
    xs = [inner, (inner, "text")]
    xs.append(xs)
    parts = lambda x: x.values() if isinstance(x, dict) else x  # noqa: E731
    found = list(everything_held([xs], parts, leaves=(float, str)))
    assert sorted(map(id, found)) == sorted({id(xs), id(inner), id(xs[1])})
    without_tuples = everything_held([xs], parts, (float, str), stops=lambda x: isinstance(x, tuple))
    assert list(without_tuples) == [xs, inner]
    assert list(everything_held([xs], parts, (float, str), but=(inner,))) == [xs, xs[1]]


def test_a_walk_that_would_be_too_long_says_so():
    for limit in ({"most": 10}, {"at_once": 10}):
        with pytest.raises(TooMuch):
            list(everything_held([[[k] for k in range(100)]], iter, leaves=(int,), **limit))


def test_parts_are_asked_for_when_their_holder_has_been_looked_at():
    """Who looks may note something of it first."""
    noted = []

    def parts(x):
        assert x in noted
        return x

    for x in everything_held([[1.0, (2.0,)]], parts, leaves=(float,)):
        noted.append(x)
    assert len(noted) == 2
