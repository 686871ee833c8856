"""What the code of a function can get hold of by itself."""

import functools
import types

import pytest

from rulelab.ad.nested_functions import grad_, nth_derivative
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.memory.reach import reached_by, walked

HELD = [1.0]
MODULE = types.ModuleType("somebodys_settings")
MODULE.held = HELD
MODULE.inner = types.ModuleType("somebodys_settings.inner")
MODULE.inner.held = HELD


class Holder:
    held = HELD


class Property:
    @property
    def held(self):
        return HELD


def by_global():
    return HELD[0]


def by_helper():
    return by_global()


def by_class():
    return Holder.held


def by_property():
    return Property().held


def by_module():
    return MODULE.held


def by_inner_module():
    return MODULE.inner.held


def by_computed_name(name="held"):
    return getattr(MODULE, name)


def by_default(held=HELD):
    return held


def by_keyword_default(*, held=HELD):
    return held


def by_nested():
    return (lambda: [HELD for _ in range(2)])()


def made():
    kept = {"inside": (HELD,)}
    return lambda: kept["inside"]


@functools.lru_cache
def cached():
    return HELD


def by_cached():
    return cached()


@pytest.mark.parametrize(
    "f",
    [by_global, by_helper, by_class, by_property, by_module, by_inner_module, by_computed_name, by_default]
    + [
        by_keyword_default,
        by_nested,
        made(),
        by_cached,
        functools.partial(len, HELD),
        Holder,
        [by_global].copy,
    ],
    ids=lambda f: getattr(f, "__name__", type(f).__name__),
)
def test_it_is_found(f):
    """Through globals, helpers, classes, modules, defaults, closures and what wraps functions."""
    found = reached_by([f])
    assert id(HELD) in found.objects and found.complete


def other_name():
    held = [1.0]
    return held


def test_local_names_reach_nothing():
    """An attribute or a local of the same name is another thing."""
    assert id(HELD) not in reached_by([other_name, lambda o: o.HELD]).objects


def writes_attribute(o):
    o.a = 1.0


class Written:
    def __init__(self, a):
        self.a = a

    def change(self):
        self.a = 2.0

    def __iadd__(self, k):
        self.a += k
        return self

    def read(self):
        return self.a


def adds_to_its_argument(x, y):
    x += y
    return x


def adds_on_one_line(x, y):
    x += y; return x  # fmt: skip  # noqa: E702


def adds_twice_on_one_line(x, y):
    x += y; y -= x  # fmt: skip  # noqa: E702


def adds_to_what_it_lends(x, y):
    x += y
    return lambda: x


def writes_a_slice(x, y):
    x[1:2] = y


def adds_to_its_own(x, y):
    z = x + y; z += y; return z  # fmt: skip  # noqa: E702


@pytest.mark.parametrize(
    "f, writes",
    [
        (adds_to_its_argument, True),
        (adds_on_one_line, True),
        (adds_twice_on_one_line, True),
        (adds_to_what_it_lends, True),
        (writes_a_slice, True),
        (adds_to_its_own, False),
        (writes_attribute, True),
        (lambda o: writes_attribute(o), True),
        (lambda xs: xs.append(1), True),
        (lambda d: d.get("a"), False),
        (lambda o: setattr(o, "a", 1), True),
        (lambda o: Written(o).read(), False),
        (lambda o: Written(o).change(), True),
    ],
)
def test_writing_is_seen_in_the_text(f, writes):
    """A method that writes counts if something of its name is called; constructors write to what is new."""
    assert reached_by([f]).writes is writes


def test_operators_that_write_count_where_there_is_one():
    """`+=` may call `__iadd__`; without it, that the class has one says nothing."""

    def adds(o):
        o += 1.0

    def reads(o):
        return o.read()

    def counts(n):
        total = 0
        for k in range(n):
            total += k
        return total

    assert reached_by([adds, Written]).writes and not reached_by([reads, Written]).writes
    assert not reached_by([counts]).writes


@pytest.mark.parametrize(
    "f", [lambda: globals()["HELD"], lambda: eval("HELD"), lambda: vars(MODULE), lambda o: __import__(o)]
)
def test_looking_around_is_noticed(f):
    """What such code can get hold of cannot be told."""
    assert reached_by([f]).hides and not reached_by([by_global]).hides


def test_what_the_package_remembers_is_not_reached():
    """A derivative holds its function and the way to the cache, which changes while it runs."""

    def squared(x):
        return x * x

    for derivative in (grad_(squared), nth_derivative(squared, 2)):
        held, _ = walked([derivative])
        assert any(x is squared for x in held) and not any(isinstance(x, Cache) for x in held)
