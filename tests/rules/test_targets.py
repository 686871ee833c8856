"""Tests of what rules sit on."""

import functools
import math

import numpy as np

from rulelab.rules.targets import name_of, resolve


class Bar:
    def method(self, x):
        return x

    @classmethod
    def make(cls, x):
        return x

    @staticmethod
    def plain(x):
        return x

    def __call__(self, x):
        return x


class Sub(Bar):
    pass


def test_every_way_to_call_a_thing_finds_the_same_target():
    """A rule for a method counts on every instance and subclass, a rule for `ndarray.sum` on every array."""
    bar, x = Sub(), np.ones(2)
    assert resolve(bar.method) == (Bar.method, (bar,)) and resolve(Bar.method) == (Bar.method, ())
    assert resolve(bar) == (Bar.__call__, (bar,)) and resolve(bar.plain) == (Bar.plain, ())
    assert resolve(Sub.make) == (Bar.__dict__["make"].__func__, (Sub,))
    target, bound = resolve(x.sum)
    assert target is np.ndarray.sum and bound[0] is x
    assert resolve(x.__add__)[0] is np.ndarray.__add__
    assert (
        resolve(Bar) == (Bar, ()) and resolve(math.sin) == (math.sin, ()) and resolve(np.sum) == (np.sum, ())
    )
    target, bound = resolve(float.fromhex)
    assert target is resolve(float.fromhex)[0] and target(*bound, "0x10") == 16.0
    assert resolve("a-b".split)[0] is str.split


def test_ufunc_methods_are_one_object():
    """`np.add.reduce` is made anew at each access, and still is one target."""
    assert resolve(np.add.reduce)[0] is resolve(np.add.reduce)[0] is not resolve(np.multiply.reduce)[0]
    assert resolve(np.add.reduce)[1] == ()


def test_names_in_messages():
    """A message calls a target as I would write it."""
    named = {
        "np.sin": np.sin, "np.sum": np.sum, "math.sin": math.sin, "ndarray.sum": np.ndarray.sum,
        "Bar.method": Bar.method,
        "Bar": Bar, "abs": abs, "np.linalg.inv": np.linalg.inv, "np.add.reduce": np.add.reduce,
    }  # fmt: skip
    assert {name: name_of(target) for name, target in named.items()} == {name: name for name in named}
    assert name_of(functools.partial(math.sin)).startswith("functools.partial")


def test_a_method_that_super_went_past_is_not_the_target():
    """`super().__getitem__` of a list subclass is the list's, not the override it was asked from."""

    class Own(list):
        def __getitem__(self, key):
            return super().__getitem__(key)

    own = Own([1.0])
    target, bound = resolve(super(Own, own).__getitem__)
    assert target is list.__getitem__ and bound[0] is own
