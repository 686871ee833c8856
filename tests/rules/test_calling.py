"""Tests of what a rule may answer, and how wrong answers are told."""

import dataclasses

import numpy as np
import pytest

from rulelab.errors import KeywordError, RuleCountError, RuleError, RuleShapeError
from rulelab.rules.authoring import frule, frule_for, rrule, rrule_for
from rulelab.rules.calling import pullback_is_anonymous
from rulelab.rules.registry import Registry
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import thunk, unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent


def mse(a, b, scale=1.0):
    return scale * np.sum((a - b) ** 2)


def answering(*cotangents):
    """The pullback's answer to 1.0, from a rule for `mse` that returns these."""
    registry = Registry()

    @rrule_for(mse, registry=registry)
    def mse_rrule(a, b, scale=1.0):
        def mse_pullback(y_bar):
            return cotangents if len(cotangents) != 1 else cotangents[0]

        return mse(a, b, scale), mse_pullback

    return rrule(mse, np.ones(2), np.zeros(2), registry=registry)[1](1.0)


def test_a_wrong_count_names_the_arguments():
    """Too few cotangents: the error says how many were expected, and for what."""
    with pytest.raises(RuleCountError) as caught:
        answering(np.ones(2), np.ones(2))
    text = str(caught.value)
    assert "mse_pullback returned 2 cotangents, expected 4: for mse itself, a, b, scale" in text
    assert "def mse_pullback" in text and "rl.NoTangent() first" in text


@pytest.mark.parametrize(
    "answer, message",
    [
        ((NoTangent(), None, NoTangent(), NoTangent()), "returned None for a"),
        ((NoTangent, np.ones(2), np.ones(2), NoTangent()), "returned the class NoTangent for mse itself"),
        ((NoTangent(), ZeroTangent, np.ones(2), NoTangent()), r"call it: rl.ZeroTangent\(\)"),
        (([1, 2],), "must return a tuple"),
    ],
)
def test_things_that_are_no_cotangents(answer, message):
    """None, a class instead of an object and a list are refused with what to write instead."""
    with pytest.raises(RuleError, match=message):
        answering(*answer)


def test_a_wrong_shape_names_the_argument():
    """A cotangent of another shape is refused at the rule, with both shapes."""
    with pytest.raises(RuleShapeError, match=r"returned for b: variable with shape \(2,\) .* shape \(3,\)"):
        answering(NoTangent(), np.ones(2), np.ones(3), NoTangent())
    late = answering(NoTangent(), thunk(lambda: np.ones(3)), np.ones(2), NoTangent())
    with pytest.raises(RuleShapeError, match="for a"):
        unthunk(late[1])


def test_cotangents_are_brought_to_the_argument():
    """A rule may return a column for a vector or a complex number for a real: it is projected."""
    _, a_bar, b_bar, scale_bar = answering(NoTangent(), np.ones((2, 1)), np.ones(2) * 1j, 2)
    assert a_bar.shape == (2,) and b_bar.dtype == float and scale_bar == 2.0


def pair(x):
    return x, np.array([x, x])


def test_seeds_of_several_outputs():
    """The cotangent of a tuple unpacks into numbers in the pullback, whatever the caller left out."""
    registry, seen = Registry(), []

    @rrule_for(pair, registry=registry)
    def pair_rrule(x):
        def pair_pullback(y_bar):
            first, second = y_bar
            seen.append((first, second))
            return NoTangent(), first + second.sum()

        return pair(x), pair_pullback

    _, back = rrule(pair, 2.0, registry=registry)
    assert back((None, np.ones(2)))[1] == 2.0 and back(Tangent.at((0, 0), 0, 3.0))[1] == 3.0
    assert back(ZeroTangent()) == (NoTangent(), ZeroTangent()) and len(seen) == 2
    with pytest.raises(RuleShapeError):
        back((1.0, np.ones(3)))


@dataclasses.dataclass(frozen=True)
class Scale:
    k: float

    def __call__(self, x):
        return self.k * x

    def times(self, x):
        return self.k * x


@pytest.mark.parametrize("count", [2, 3])
def test_rules_on_callable_objects(count):
    """A rule on `Bar.__call__` may return the object's cotangent as that of the function itself."""
    registry = Registry()

    @rrule_for(Scale.__call__, registry=registry)
    def scale_rrule(self, x):
        def scale_pullback(y_bar):
            both = Tangent(Scale, k=x * y_bar), self.k * y_bar
            return both if count == 2 else (NoTangent(), *both)

        return self(x), scale_pullback

    y, back = rrule(Scale(3.0), 2.0, registry=registry)
    assert y == 6.0 and back(1.0) == (Tangent(Scale, k=2.0), 3.0)


def test_rules_on_methods_in_forward_mode():
    """A rule on a method takes self first; a bound method's own tangent is that of the object."""
    registry = Registry()

    @frule_for(Scale.times, registry=registry)
    def times_frule(tangents, self, x):
        _, self_dot, x_dot = tangents
        return self.times(x), self_dot.k * x + self.k * x_dot

    assert frule((Tangent(Scale, k=1.0), 1.0), Scale(3.0).times, 2.0, registry=registry) == (6.0, 5.0)
    with pytest.raises(RuleCountError, match="tangent of the function itself first"):
        frule((1.0,), Scale.times, Scale(3.0), 2.0, registry=registry)


def test_keywords():
    """Keyword-only parameters reach the rule with their defaults; one that the rule does not take is an
    error.
    """
    registry, seen = Registry(), []

    def f(x, *, power=2, mode="a"):
        return x**power

    @rrule_for(f, registry=registry)
    def f_rrule(x, *, power):
        seen.append(power)
        return f(x, power=power), lambda y_bar: (NoTangent(), power * y_bar)

    rrule(f, 2.0, registry=registry)
    rrule(f, 2.0, power=3, registry=registry)
    assert seen == [2, 3] and registry.rules()[0].keyword_only == ("power",)
    with pytest.raises(KeywordError, match="mode="):
        rrule(f, 2.0, mode="b", registry=registry)


def test_lambda_pullbacks_are_noticed():
    """A pullback without a name can be told, also behind its checks."""
    registry = Registry()
    rrule_for(mse, registry=registry)(lambda a, b, scale=1.0: (0.0, lambda y_bar: ()))
    assert pullback_is_anonymous(rrule(mse, 1.0, 2.0, registry=registry)[1])


@pytest.mark.parametrize("answer", [3.0, (1, 2, 3), (1.0, "no pullback")])
def test_a_rule_that_returns_no_pair(answer):
    """A rule that does not return (y, pullback) is an error that names it."""
    registry = Registry()

    @rrule_for(mse, registry=registry)
    def mse_rrule(a, b, scale=1.0):
        return answer

    with pytest.raises(RuleError, match="rrule mse_rrule of mse must return"):
        rrule(mse, 1.0, 2.0, registry=registry)
