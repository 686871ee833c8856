"""What an attribute is, is told once: reverse and forward mode give the same derivative, or refuse."""

import functools
import types

import pytest

import rulelab as rl

from ..agreeing import check_second_derivative, check_slope


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


READ = {
    "__dict__": lambda p: p.__dict__["x"] * p.y,
    "vars": lambda p: vars(p)["x"] * vars(p)["y"],
    "items": lambda p: sum([v * len(k) * p.x for k, v in vars(p).items()]),
    "two ways": lambda p: vars(p)["x"] * p.x + p.y,
}


@pytest.mark.parametrize("kind", [Point, lambda x, y: types.SimpleNamespace(x=x, y=y)])
@pytest.mark.parametrize("name", READ)
def test_the_dict_of_an_object_that_is_given(name, kind):
    """Its entries are the attributes: both modes follow what is read from it."""
    f, p, step = READ[name], kind(2.0, 3.0), 1e-6
    x_bar = rl.gradient(f, p)[0].x
    y_dot = rl.pushforward(lambda x: f(kind(x, 3.0)), 2.0)(1.0)
    difference = (f(kind(2.0 + step, 3.0)) - f(kind(2.0 - step, 3.0))) / (2 * step)
    assert x_bar == pytest.approx(difference, rel=1e-8) and y_dot == pytest.approx(difference, rel=1e-8)


def set_meanwhile(x):
    p = Point(x, 1.0)
    held = p.__dict__
    p.x = 3.0 * x
    return held["x"] * x


def by_vars(x):
    p = Point(x, 1.0)
    return vars(p)["x"] * x


def of_a_function(x):
    return len(vars(lambda: x)) + x


@pytest.mark.parametrize("f", [set_meanwhile, by_vars, of_a_function])
def test_the_dict_of_what_is_made_in_the_sweep_is_refused(f):
    """Attributes may be set after the dict was read, which shows in it; a function holds more than that."""
    with pytest.raises((rl.NotDifferentiableError, rl.ForeignCallError)):
        rl.gradient(f, 2.0)


# --- writes to which code of the class says what happens ---


class Doubling:
    """A descriptor whose setter and deleter change the value."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, x, owner=None):
        return self if x is None else getattr(x, self.name)

    def __set__(self, x, value):
        setattr(x, self.name, 2 * value)

    def __delete__(self, x):
        setattr(x, self.name, 3 * getattr(x, self.name))


class Written:
    """The class has the attributes too: nothing tells a lost cotangent from one of a constant."""

    _twice = _square = 1.0
    twice = Doubling()

    @property
    def square(self):
        return self._square

    @square.setter
    def square(self, value):
        self._square = value * value

    @square.deleter
    def square(self):
        self._square = 5 * self._square


class Tripled(Written):
    """Its `__setattr__` and `__delattr__` come before the setters, which they may reach."""

    def __setattr__(self, name, value):
        super().__setattr__(name, 3 * value)

    def __delattr__(self, name):
        self._square = 7 * self._square


class SetDirectly(Written):
    """Its `__setattr__` goes past those of the class."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 11 * value)


def by_statement(p, name, value):
    setattr(p, "plain", value)
    if name == "twice":
        p.twice = value
        p.twice += p.plain
    else:
        p.square = value
        p.square *= p.plain


def by_function(p, name, value):
    setattr(p, name, value * value)


def past_the_class(p, name, value):
    object.__setattr__(p, name, value * value)


def after_deletion(p, name, value):
    setattr(p, name, value)
    delattr(p, name)
    if name == "twice":
        del p.twice
    else:
        del p.square


@pytest.mark.parametrize("name", ["twice", "square"])
@pytest.mark.parametrize("kind", [Written, Tripled, SetDirectly])
@pytest.mark.parametrize("write", [by_statement, by_function, past_the_class, after_deletion])
def test_code_of_the_class_that_sets_an_attribute_is_followed(write, kind, name):
    """Properties, descriptors and `__setattr__` run in Python's own order, in both modes."""

    def f(x):
        p = kind()
        write(p, name, x)
        return getattr(p, name) * x + p._square * p._twice

    check_slope(f, 1.3)


class Named:
    """Only sets: what is read is the entry of the object, which the descriptor has changed."""

    def __set__(self, x, value):
        x.__dict__["entry"] = 2 * value


class WithEntry:
    entry = Named()


def by_an_entry(x):
    p = WithEntry()
    p.entry = x
    return p.entry * x


class OfObjectsOnly:
    """Reads and sets the entry of its object; asked of the class, it has no answer, and raises."""

    error = AttributeError

    def __get__(self, x, owner=None):
        if x is None:
            raise self.error("of the class")
        return x.__dict__["entry"] * 5.0

    def __set__(self, x, value):
        x.__dict__["entry"] = value * value


class RaisesAnother(OfObjectsOnly):
    error = LookupError


class Unreadable:
    entry = OfObjectsOnly()


class UnreadableOtherwise:
    entry = RaisesAnother()


@pytest.mark.parametrize("kind", [Unreadable, UnreadableOtherwise])
@pytest.mark.parametrize("read", [lambda p: p.entry, lambda p: getattr(p, "entry", 0.0)])
def test_a_descriptor_that_raises_on_its_class_is_read_all_the_same(read, kind):
    """It stands before the entry of the object: as in Python, in forward mode; refused as a dict in reverse
    mode, also of an object that is an argument and at the calls that follow.
    """

    def made(x):
        p = kind()
        p.entry = x
        return p

    slope = (read(made(1.3 + 1e-5)) - read(made(1.3 - 1e-5))) / 2e-5
    assert rl.pushforward(lambda x: read(made(x)), 1.3)(1.0) == pytest.approx(slope)
    for _ in range(4):
        for f, x in [(lambda x: read(made(x)), 1.3), (read, made(1.3))]:
            with pytest.raises(rl.NotDifferentiableError, match="as a dict"):
                rl.gradient(f, x)


class WithDict:
    a = 1.0

    def __init__(self, x):
        self.__dict__ = {"a": x}


@pytest.mark.parametrize("f", [by_an_entry, lambda x: WithDict(x).a * x])
def test_attributes_set_as_a_dict_are_refused(f):
    """In reverse mode: no record tells what became of the single attributes."""
    with pytest.raises(rl.NotDifferentiableError, match="as a dict|cannot be followed"):
        rl.gradient(f, 2.0)


def test_a_new_dict_of_attributes_is_refused_in_forward_mode():
    """Beside the object stands one namespace of tangents."""
    with pytest.raises(rl.NotDifferentiableError, match="as a dict"):
        rl.pushforward(lambda x: WithDict(x).a * x, 2.0)(1.0)


# --- two ways to an attribute ---


class Reading:
    """A descriptor in Python."""

    def __get__(self, x, owner=None):
        return x.missing if x.raw < 0 else x.raw * x.raw


class TwoWays:
    def __init__(self, raw):
        self.raw = raw

    @property
    def by_property(self):
        return self._hidden if self.raw < 0 else self.raw**2

    @functools.cached_property
    def cached(self):
        if self.raw < 0:
            raise AttributeError("cached")
        return self.raw**2

    described = Reading()

    def __getattr__(self, name):
        if name in ("by_property", "cached", "described", "free"):
            return self.raw * 3.0
        raise AttributeError(name)


TWO_WAYS = {
    "by_property": lambda x: TwoWays(x).by_property * x,
    "cached": lambda x: TwoWays(x).cached * x,
    "described": lambda x: TwoWays(x).described * x,
}


@pytest.mark.parametrize("name", TWO_WAYS)
def test_an_attribute_for_which_python_calls_getattr_after_an_error_is_refused(name):
    """As is any other handler that has run; in both modes, at the second order, and where it is given."""
    f = TWO_WAYS[name]
    assert f(-2.0) == 12.0
    for ask in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0), rl.hessian):
        with pytest.raises(rl.NotDifferentiableError, match=f"The {name} of a TwoWays raises AttributeError"):
            ask(f, -2.0)
    with pytest.raises(rl.NotDifferentiableError, match="__getattr__"):
        rl.gradient(lambda p: getattr(p, name) * p.raw, TwoWays(-2.0))
    check_slope(f, 2.0)
    check_second_derivative(f, 2.0)


def test_the_second_way_alone_is_followed():
    check_slope(lambda x: TwoWays(x).free * x, -2.0)


@pytest.mark.parametrize("ask", [rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0), rl.hessian])
def test_without_a_second_way_the_error_is_the_propertys_own(ask):
    class OneWay:
        def __init__(self, raw):
            self.raw = raw

        @property
        def hidden(self):
            return self._hidden

    with pytest.raises(AttributeError, match="_hidden"):
        ask(lambda x: OneWay(x).hidden, 2.0)


def copied(x):
    p = Point(x, 1.0)
    q = p.__class__(p.x * 2.0, x)
    return q.x * q.y if q.__class__ is Point else x


def test_the_class_of_an_object_has_no_tangent():
    check_slope(copied, 2.0)
    check_second_derivative(copied, 2.0)
