"""Tests of stating, asking for and taking back rules."""

import functools
import math

import numpy as np
import pytest

from rulelab.errors import RuleRegistrationError
from rulelab.rules import authoring
from rulelab.rules.authoring import (
    frule,
    frule_for,
    has_rrule,
    non_differentiable,
    opt_out,
    remove_rule,
    rrule,
    rrule_for,
    which_rule,
    without_rule,
)
from rulelab.rules.registry import DEFAULT, Registry
from rulelab.tangents.zeros import NoTangent


def square(x, y=0.0):
    return x * x + y


@pytest.fixture
def registry():
    registry = Registry()

    @rrule_for(square, registry=registry)
    def square_rrule(x: float, y=0.0):
        def square_pullback(y_bar):
            return NoTangent(), 2 * x * y_bar, y_bar

        return square(x, y), square_pullback

    return registry


def test_a_rule_is_applied_and_agrees_with_finite_differences(registry):
    """`rl.rrule` gives the value and a pullback that may be called again."""
    y, back = rrule(square, 3.0, registry=registry)
    h = 1e-6
    assert y == 9.0 and np.isclose(back(1.0)[1], (square(3 + h) - square(3 - h)) / (2 * h))
    assert back(2.0)[1] == 2 * back(1.0)[1] and len(back(1.0)) == 3


def test_no_rule_is_none(registry):
    """Where no rule applies the answer is None, in both modes."""
    assert rrule(square, "a", registry=registry) is None
    assert frule((NoTangent(), 1.0), square, 3.0, registry=registry) is None
    assert rrule(math.sin, 1.0, registry=registry) is None and not has_rrule(math.sin, registry=registry)


def test_which_rule_says_where_it_was_written(registry):
    """I can ask which rule applies, where it is, or why none does and what there is instead."""
    found = which_rule(square, 3.0, registry=registry)
    assert repr(found).startswith("rrule square(x: float, y) by square_rrule at test_authoring.py, line ")
    assert (
        found.place.filename == __file__
        and has_rrule(square, 3, registry=registry)
        and has_rrule(square, registry=registry)
    )
    text = repr(which_rule(square, "a", registry=registry))
    assert text.startswith("no rrule for square(str); there is square(x: float, y) by square_rrule")
    opt_out(square, float, registry=registry)
    assert "square(float): opt-out of square" in repr(which_rule(square, 3.0, registry=registry))
    with without_rule(square, registry=registry):
        assert "without_rule" in repr(which_rule(square, 3.0, registry=registry))
    assert repr(which_rule(math.sin, 1.0, registry=registry)) == "no rrule for math.sin(float)"


def test_taking_back(registry):
    """A rule can be taken back once; the second time says that there is none."""
    remove_rule(square, registry=registry)
    assert rrule(square, 3.0, registry=registry) is None
    with pytest.raises(RuleRegistrationError, match="square has no rule of yours"):
        remove_rule(square, registry=registry)


def test_non_differentiable(registry):
    """A function stated to have no derivative gives NoTangent, for the types I named only."""
    non_differentiable(square, (str,), registry=registry)
    non_differentiable(len, registry=registry)
    assert rrule(len, [1.0], registry=registry)[1](1.0) == (NoTangent(), NoTangent())
    assert frule((NoTangent(), 1.0), len, [1.0], registry=registry) == (1, NoTangent())
    assert rrule(square, 3.0, registry=registry)[1](1.0)[1] == 6.0


@pytest.mark.parametrize(
    "target, why",
    [
        (type, "apply to every"), (object, "apply to every"), (object.__init__, "apply to every"),
        (type("Meta", (type,), {}), "apply to every"),
        (functools.partial(square, 1.0), "write the rule for square"), (3, "for a callable"),
    ],
)  # fmt: skip
def test_targets_that_are_refused(target, why):
    """A rule that would catch everything, or never be found again, is refused with the reason."""
    with pytest.raises(RuleRegistrationError, match=why):
        rrule_for(target, registry=Registry())


def test_rules_that_could_never_work_are_refused_when_stated():
    """A rule with the wrong number of parameters, or a generator, is refused at once and nothing changes."""
    registry = Registry()

    def short(x): ...

    def generator(x, y=0.0):
        yield x

    for bad, why in [
        (short, "square has 2 positional ones: x, y"),
        (generator, "yields"),
        (math.sin, "Python function"),
    ]:
        with pytest.raises(RuleRegistrationError, match=why):
            rrule_for(square, registry=registry)(bad)
    for requires, leading in [(None, "the tangents"), ("reverse", "the config and then the tangents")]:
        with pytest.raises(RuleRegistrationError, match=f"must take {leading} before the arguments"):
            frule_for(square, registry=registry, requires=requires)(lambda: None)
    assert registry.epoch == 0


def test_forward_rules():
    """A forward rule takes the tangents first; a tangent left None counts as zero."""
    registry = Registry()

    @frule_for(square, registry=registry)
    def square_frule(tangents, x, y=0.0):
        _, x_dot, y_dot = tangents
        return square(x, y), 2 * x * x_dot + y_dot

    assert frule((NoTangent(), 1.0), square, 3.0, registry=registry) == (9.0, 6.0)
    assert frule((None, 1.0, 2.0), square, 3.0, 1.0, registry=registry) == (10.0, 8.0)


def test_rules_on_c_functions_and_constructors():
    """A rule takes effect for a C function, a ufunc and a class's constructor."""
    registry = Registry()

    class Box:
        def __init__(self, x):
            self.x = x

    for target in (math.sin, np.sum, Box):

        @rrule_for(target, registry=registry)
        def rule(x):
            return target(x), lambda y_bar: (NoTangent(), 5.0)

        assert rrule(target, 1.0, registry=registry) is not None
    assert rrule(np.sum, np.ones(2), 0, registry=registry) is None


def test_the_default_registry_is_used_without_one():
    """Without `registry=` a rule goes where everybody looks."""

    def f(x):
        return x

    @rrule_for(f)
    def f_rrule(x):
        return x, lambda y_bar: (NoTangent(), y_bar)

    assert rrule(f, 1.0) is not None and DEFAULT.entry(f) is not None and authoring.DEFAULT is DEFAULT
    remove_rule(f)
