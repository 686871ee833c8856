"""Forward rules of objects and of callables that hold others."""

import copy
import dataclasses
import functools
import operator
import types

import numpy as np
import pytest
from forward_oracle import NO, check, push

import rulelab as rl
from rulelab.errors import MutationError, NotDifferentiableError
from rulelab.rules.capabilities import RuleConfig


class Body:
    """Attributes, a property with a setter, a cached property, a slot and a class attribute."""

    size = 2.0

    def __init__(self, x, y):
        self.x, self.y = x, y

    @property
    def double(self):
        return 2.0 * self.x

    @double.setter
    def double(self, value):
        self.x = value / 2.0

    @functools.cached_property
    def squared(self):
        return self.x**2

    def scaled(self, by):
        return self.x * by


@dataclasses.dataclass
class Model:
    w: object
    bias: float = 0.5
    name: str = "m"


def body():
    return Body(3.0, np.ones(2)), types.SimpleNamespace(x=0.5, y=np.array([1.0, 2.0]))


def space(**parts):
    return types.SimpleNamespace(**parts)


def asked_by_hand(tangents, f, *args, **words):
    """The derivatives of the methods of Body, as the compiler would find them."""
    if f is Body.double.fget:
        return f(*args), 2.0 * tangents[1].x
    if f is Body.double.fset:
        tangents[1].x = tangents[2] / 2.0
        return f(*args), NO
    if f is Body.__dict__["squared"].func:
        return f(*args), 2.0 * args[0].x * tangents[1].x
    if f is Body.scaled:
        return f(*args), tangents[1].x * args[1]
    return push(tangents, f, *args, **words)


CONFIG = RuleConfig(forwards=asked_by_hand)


def rule(target, *args):
    from forward_oracle import rule_for

    return rule_for(target, args).function


def test_attributes_are_read_with_their_tangents():
    """A field, a property, a cached property that is kept, a method, what the class gives, and a default."""
    x, x_dot = body()

    def read(name):
        return push((NO, x_dot, NO), getattr, x, name)

    assert read("x") == (3.0, 0.5)
    assert read("y")[1] is x_dot.y
    assert read("double") == (6.0, 1.0)
    assert read("squared") == (9.0, 3.0)
    assert x.__dict__["squared"] == 9.0 and x_dot.squared == 3.0
    assert read("size") == (2.0, 0.0)
    method, method_dot = read("scaled")
    assert method(2.0) == 6.0 and method_dot is x_dot
    assert push((NO, x_dot, NO, 4.0), getattr, x, "z", 1.0) == (1.0, 4.0)
    with pytest.raises(AttributeError, match="no attribute 'z'"):
        read("z")


def test_attributes_of_arrays_and_numbers():
    """By the rules of their descriptors."""
    a, a_dot = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    y, y_dot = push((NO, a_dot, NO), getattr, a, "T")
    assert y.shape == (3, 2) and np.array_equal(y_dot, a_dot.T)
    assert push((NO, a_dot, NO), getattr, a, "shape")[0] == (2, 3)


def test_attributes_are_written_with_their_tangents():
    """`setattr`, `object.__setattr__`, `delattr` and a property with a setter."""
    x, x_dot = body()
    put = rule(setattr, x, "x", 1.0)
    put(CONFIG, (NO, x_dot, NO, 7.0), x, "z", 1.0)
    put(CONFIG, (NO, x_dot, NO, 8.0), x, "double", 2.0)
    push((NO, x_dot, NO, NO), object.__setattr__, x, "y", 5.0)
    assert (x.z, x.x, x.y) == (1.0, 1.0, 5.0) and (x_dot.z, x_dot.x, x_dot.y) == (7.0, 4.0, 0.0)
    push((NO, x_dot, NO), delattr, x, "z")
    assert not hasattr(x, "z") and not hasattr(x_dot, "z")


def test_an_object_that_is_a_constant_refuses_what_varies():
    """A global object would keep the value and lose the tangent."""
    x, _ = body()
    with pytest.raises(MutationError, match="a Body that is a constant"):
        push((NO, NO, NO, 1.0), setattr, x, "x", 2.0)
    push((NO, NO, NO, NO), setattr, x, "x", 2.0)
    assert x.x == 2.0


def test_vars_writes_through():
    """The dict of an object and that of its tangent are live."""
    x, x_dot = body()
    d, d_dot = push((NO, x_dot), vars, x)
    push((NO, d_dot, NO, 9.0), operator.setitem, d, "x", 4.0)
    assert x.x == 4.0 and x_dot.x == 9.0


def test_a_frozen_object_says_no_as_python_does():
    """And its tangent is as it was."""
    point = dataclasses.make_dataclass("P", ["x"], frozen=True)(1.0)
    x_dot = space(x=1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        push((NO, x_dot, NO, 2.0), setattr, point, "x", 2.0)
    assert x_dot.x == 1.0


@pytest.mark.parametrize(
    "x", [2.0, [1.0, [2.0]], (1.0, [2.0]), np.arange(4.0)[::2], {"a": [1.0]}, Model([1.0]), "a"], ids=repr
)
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_copies(way, x):
    """A copy has a tangent of its own."""
    check(way, x)


def test_a_deep_copy_shares_what_the_original_shares():
    """One list twice in the original is one list twice in the copy, and beside it."""
    a, d = [1.0], [2.0]
    y, y_dot = push((NO, [d, d]), copy.deepcopy, [a, a])
    assert y[0] is y[1] and y_dot[0] is y_dot[1] and y_dot[0] is not d
    _, dots = push((NO, [d]), copy.copy, [a])
    assert dots[0] is d


def test_dataclasses_unfold():
    """`asdict` and `astuple`, with dataclasses in lists and a field that the class fills in."""
    model = Model([Model(2.0), (1.0,)], 3.0)
    inside, outside = space(w=5.0), (6.0,)
    y, y_dot = push((NO, space(w=[inside, outside], bias=7.0)), dataclasses.asdict, model)
    assert y == dataclasses.asdict(model)
    assert (y_dot["w"][0]["w"], y_dot["w"][1], y_dot["bias"]) == (5.0, outside, 7.0)
    y, y_dot = push((NO, space(w=[inside, outside], bias=7.0)), dataclasses.astuple, model)
    assert y == dataclasses.astuple(model) and (y_dot[0][0][0], y_dot[0][1], y_dot[1]) == (5.0, outside, 7.0)


def test_a_dataclass_with_other_values():
    """`replace` by the constructor; Python's own errors."""
    model = Model(2.0)
    y, y_dot = push((NO, space(w=1.0), 5.0), dataclasses.replace, model, bias=4.0)
    assert y == Model(2.0, 4.0) and (y_dot.w, y_dot.bias) == (1.0, 5.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        push((NO, space(w=1.0), 5.0), dataclasses.replace, model, nope=4.0)


def test_partials():
    """Made, nested and called, with positional and keyword arguments."""
    f = functools.partial(max, 1.0)
    y, y_dot = push((NO, NO, 2.0), functools.partial, max, 1.0)
    assert y.args == f.args and y_dot == space(func=NO, args=(2.0,), keywords={})
    assert push((NO, y_dot, 5.0), functools.partial.__call__, y, 3.0) == (3.0, 5.0)
    assert push((NO, y_dot, 5.0), functools.partial.__call__, y, 0.0) == (1.0, 2.0)
    z, z_dot = push((NO, y_dot, 7.0), functools.partial, y, 9.0)
    assert z.func is max and push((NO, z_dot), functools.partial.__call__, z) == (9.0, 7.0)
    words, words_dot = push((NO, NO, 4.0), functools.partial, max, default=1.0)
    assert push((NO, words_dot, NO), functools.partial.__call__, words, []) == (1.0, 4.0)
    assert push((NO, NO, NO), functools.partial, max, 1.0)[1] is NO


def test_cached_functions_are_called():
    """What a cache keeps is of other calls."""
    calls = []

    def square(x):
        calls.append(x)
        return x * x

    f, f_dot = push((NO, NO), functools.cache, square)
    f(3.0)
    y, y_dot = push((NO, f_dot, 1.0), type(f).__call__, f, 3.0)
    assert y == 9.0 and y_dot == pytest.approx(6.0) and len(calls) > 1


def test_getters():
    """`itemgetter`, `attrgetter` and `methodcaller`, with one part and several."""
    call = {kind: getattr(operator, kind).__call__ for kind in ("itemgetter", "attrgetter", "methodcaller")}
    xs, dots = [1.0, 2.0], [3.0, 4.0]
    assert push((NO, NO, dots), call["itemgetter"], operator.itemgetter(1), xs) == (2.0, 4.0)
    assert push((NO, NO, dots), call["itemgetter"], operator.itemgetter(1, 0), xs) == ((2.0, 1.0), (4.0, 3.0))
    x, x_dot = space(a=space(b=1.0)), space(a=space(b=5.0))
    assert push((NO, NO, x_dot), call["attrgetter"], operator.attrgetter("a.b"), x) == (1.0, 5.0)
    assert push((NO, NO, dots), call["methodcaller"], operator.methodcaller("pop"), xs) == (2.0, 4.0)
    assert xs == [1.0] and dots == [3.0]
    x, x_dot = body()
    caller = operator.methodcaller("scaled", 2.0)
    assert push((NO, NO, x_dot), call["methodcaller"], caller, x) == (6.0, 1.0)
    keyed = operator.methodcaller("sort", key=abs)
    xs, dots = [-3.0, 1.0], [1.0, 2.0]
    push((NO, NO, dots), call["methodcaller"], keyed, xs)
    assert xs == [1.0, -3.0] and dots == [2.0, 1.0]


def test_vectorize():
    """The function is called for each element, with broadcasting."""
    held = np.vectorize(lambda x, y: x * y)
    x, y = np.array([1.0, 2.0]), np.array([[3.0], [4.0]])
    z, z_dot = push((NO, NO, np.ones(2), NO), np.vectorize.__call__, held, x, y)
    assert np.array_equal(z, x * y) and np.allclose(z_dot, np.ones(2) * y)
    made, made_dot = push((NO, ((1.0,), (), ())), np.vectorize, held.pyfunc)
    assert made.pyfunc is held.pyfunc and made_dot.pyfunc == ((1.0,), (), ())
    with pytest.raises(NotDifferentiableError, match="signature"):
        push((NO, NO, x), np.vectorize.__call__, np.vectorize(len, signature="(n)->()"), x)
    with pytest.raises(NotDifferentiableError, match="truncates"):
        push((NO, NO, x), np.vectorize.__call__, np.vectorize(lambda x: x / 2, otypes=[int]), x)


def test_namespaces():
    """Made of keywords."""
    assert push((NO, 2.0), types.SimpleNamespace, a=1.0) == (space(a=1.0), space(a=2.0))


class Doubled:
    def __init__(self, value):
        self.value = value

    def seen(self):
        return 2.0 * self.value


class Squared(Doubled):
    def seen(self):
        return self.value * self.value


def test_an_object_may_change_its_class():
    """Its attributes keep their tangents, and the methods are those of the new class."""

    def f(x):
        made = Doubled(x)
        made.__class__ = Squared
        return made.seen()

    assert rl.pushforward(f, 1.5)(1.0) == 3.0 and rl.gradient(f, 1.5) == (3.0,)
