"""Rules for reading methods of containers and for copies, at their check points."""

import copy

import pytest
from rule_points import at_each, by_rule, check

import rulelab as rl
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.containers import TABLE


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rule(points):
    """Value, shapes, linearity and finite differences at every check point."""
    at_each(points, check)


class Doubling(dict):
    def __getitem__(self, key):
        return 2.0 * dict.__getitem__(self, key)


def test_get_reads_what_is_stored():
    """`dict.get` does not ask an overridden `__getitem__`, so neither does its rule."""
    assert rl.withgradient(lambda d: d.get("a") * d["a"], Doubling(a=3.0)) == (18.0, ({"a": 12.0},))


def test_a_view_is_a_view():
    """What `values` gives is the dict's own view, with its length and its members."""
    d = {"a": 1.0, "b": 2.0}
    assert rl.gradient(lambda d: sum(d.values()) * len(d.values()), d) == ({"a": 2.0, "b": 2.0},)


def test_a_key_that_varies_is_not_dropped():
    """A float as the key has no derivative, and that is said."""
    with pytest.raises(NotDifferentiableError, match="gives no derivative for its argument key"):
        rl.gradient(lambda x: {1.5: x}.get(x, 2.0), 1.5)


class Copied:
    def __init__(self, x):
        self.x = x

    def __deepcopy__(self, memo):
        return Copied(2 * self.x)


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: [c], lambda c: {"c": (c,)}])
def test_a_copy_that_is_no_copy_is_refused(wrap):
    """A class with a `__deepcopy__` of its own may do anything in it, also deep inside."""
    with pytest.raises(NotDifferentiableError, match="copied by its own __deepcopy__"):
        rl.gradient(lambda c: innermost(copy.deepcopy(c)), wrap(Copied(1.0)))


def innermost(c):
    while isinstance(c, (list, dict, tuple)):
        c = next(iter(c.values())) if isinstance(c, dict) else c[0]
    return c.x
