"""Tests of the tables that the built-in rules are stated in."""

import math

import numpy as np
import pytest

from rulelab.errors import RuleRegistrationError
from rulelab.rules.authoring import frule, rrule, rrule_for, which_rule
from rulelab.rules.registry import NO_RULE, Found, Registry
from rulelab.rules.rule_table import RuleTable
from rulelab.rules.signatures import Accepts, ClassAtom
from rulelab.tangents.zeros import NoTangent, ZeroTangent

TABLE = RuleTable("example")
TABLE.scalar(np.sin, lambda out, x: np.cos(x), points=[(0.3,), (np.array([-1.0, 0.5]),)])
TABLE.non_differentiable(np.argmax, np.floor)
TABLE.mutates(np.copyto, np.ndarray.sort)


@TABLE.rrule(np.sum, np.add.reduce, np.ndarray.sum, points=[(np.ones(3),), ((np.ones((2, 3)),), {"axis": 0})])
def sum_rrule(a, axis=None):
    def sum_pullback(y_bar):
        return NoTangent(), np.broadcast_to(y_bar if axis is None else np.expand_dims(y_bar, axis), a.shape)

    return np.sum(a, axis), sum_pullback


@TABLE.frule(np.sum)
def sum_frule(tangents, a, axis=None):
    return np.sum(a, axis), np.sum(tangents[1], axis)


@pytest.fixture
def registry():
    registry = Registry()
    TABLE.install(registry)
    return registry


def test_a_table_is_installed_in_one_step(registry):
    """All rules of a family are there after one change of the registry."""
    assert registry.epoch == 1 and len(registry.rules()) == len(TABLE.rules) == 10
    assert registry.mutator(np.copyto) == "np.copyto" and registry.mutator(np.ndarray.sort) == "ndarray.sort"
    assert registry.mutator(np.sin) is None


def test_check_points_are_kept_beside_the_rules():
    """Each check point names its target, arguments and keywords, so the tests can run all of them."""
    assert [(t, k) for t, _, k in TABLE.points][-2:] == [(np.ndarray.sum, {}), (np.ndarray.sum, {"axis": 0})]
    assert len(TABLE.points) == 8 and TABLE.points[0] == (np.sin, (0.3,), {})


def test_built_in_rules_are_padded_and_get_numbers(registry):
    """A built-in rule answers for its first arguments; the rest get NoTangent, and zeros do not reach
    it.
    """
    x = np.ones((2, 3))
    y, back = rrule(np.sum, x, 0, registry=registry)
    itself, x_bar, axis_bar = back(np.ones(3))
    assert itself is axis_bar is NoTangent() and x_bar.shape == (2, 3)
    assert back(ZeroTangent())[1] is ZeroTangent()
    assert np.array_equal(rrule(x.sum, axis=0, registry=registry)[1](np.ones(3))[0], np.ones((2, 3)))
    assert rrule(np.add.reduce, np.ones(3), registry=registry)[0] == 3.0
    assert frule((NoTangent(), ZeroTangent()), np.sum, x, registry=registry) == (6.0, 0.0)


def test_constants(registry):
    """A function without a derivative gives its value and no cotangents."""
    y, back = rrule(np.argmax, np.array([1.0, 3.0]), registry=registry)
    assert y == 1 and back(1.0) == (NoTangent(), ZeroTangent()) or back(1.0)[1] is NoTangent()
    assert registry.ask(np.floor, (float,)).rule.differentiable is False


def test_my_rule_goes_before_the_built_in_one(registry):
    """A rule of mine for np.sin replaces the built-in one, whatever its annotations, until I take it back."""

    @rrule_for(np.sin, registry=registry)
    def my_sin(x):
        return np.sin(x), lambda y_bar: (NoTangent(), 42.0)

    assert rrule(np.sin, 1.0, registry=registry)[1](1.0)[1] == 42.0
    registry.remove(np.sin)
    assert rrule(np.sin, 1.0, registry=registry)[1](1.0)[1] == math.cos(1.0)
    assert repr(which_rule(np.sin, 1.0, registry=registry)).startswith(
        "built-in rrule np.sin(x) by sin_rrule at test_rule_table.py"
    )


def test_bound_targets_are_refused():
    """A table names a method on its type, not on one object."""
    with pytest.raises(RuleRegistrationError, match="bound"):
        RuleTable("x").mutates(np.ones(2).sort)


def test_stand_ins_are_installed_with_the_rules(registry):
    """A table says what stands in for a function, how it takes its arguments, and when before a rule."""
    table = RuleTable("standing")

    @table.stands_in(math.dist, math.hypot, rest=1, instead=callable)
    def plain(first, others=()):
        return first

    table.reads_items(math.fsum)
    epoch = registry.epoch
    table.install(registry)
    assert registry.epoch == epoch + 1
    found = registry.stand_in(math.dist)
    assert found.function is plain and (found.rest, found.instead, found.reads_items) == (1, callable, False)
    assert registry.stand_in(math.hypot).function is plain and registry.stand_in(math.sin) is None
    assert registry.stand_in(math.fsum).function is None and registry.stand_in(math.fsum).reads_items
    with registry.without(np.sin):
        assert registry.stand_in(math.dist) is found


def test_several_results_have_no_partials_in_forward_mode():
    """Who writes a tangent out of partials has one for each argument, and here is a row of them for each
    result.
    """
    table = RuleTable("several")
    table.scalar(np.modf, lambda out, x: ((1.0,), (0.0,)))
    by_mode = {rule.mode: rule for _, rule in table.rules}
    assert by_mode["frule"].partials is None and by_mode["rrule"].partials is not None


def test_what_is_accepted_may_be_given():
    """In place of annotations, which take their time to be read."""
    table = RuleTable("given")
    table.scalar(np.sin, lambda out, x: np.cos(x), accepts=Accepts(((ClassAtom(float),),), names=("x",)))
    registry = Registry()
    table.install(registry)
    assert isinstance(registry.ask(np.sin, (float,)), Found) and registry.ask(np.sin, (str,)) == NO_RULE


def test_cotangents_of_keywords_follow_those_of_positions(registry):
    """A function that takes parameters by any name: its rule answers for all that it is given, and who asks
    for the rule gets those of positions.
    """
    table = RuleTable("test")

    @table.rrule(math.hypot, leading=None, keyword_cotangents=True)
    def hypot_rrule(*args, **words):
        y = sum(args) + sum(words.values())
        return y, lambda y_bar: (NoTangent(), *[2 * y_bar for _ in args], *[3 * y_bar for _ in words])

    table.install(registry)
    y, back = rrule(math.hypot, 1.0, second=2.0, registry=registry)
    assert y == 3.0 and back(1.0) == (NoTangent(), 2.0)
