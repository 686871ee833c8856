"""A rule that follows its name onto another function does not give that one a wrong derivative."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleError, RuleRegistrationError
from rulelab.rules.authoring import rrule, rrule_for
from rulelab.rules.doubt import move_rule
from rulelab.rules.registry import Registry
from rulelab.tangents.zeros import NoTangent


def square_rrule(x):
    def square_pullback(y_bar):
        return NoTangent(), 2 * x * y_bar

    return x * x, square_pullback


def moved(f, rule=square_rrule):
    registry = Registry()
    move_rule(rule, f, "cell In [3]", registry=registry)
    return registry


def test_another_value_is_an_error_that_says_both_and_what_to_do():
    """Each time, and no number is given."""

    def f(x):
        return x**3

    registry = moved(f)
    for _ in range(5):
        with pytest.raises(RuleError) as caught:
            rrule(f, 2.0, registry=registry)
    assert caught.value.found == (
        "f was redefined and its rule square_rrule (cell In [3]) gives a different value: 4.0 against 8.0"
    )
    assert "do: change the rule, or run its cell again if it is right; or use rl.remove_rule(" in str(
        caught.value
    )


@pytest.mark.parametrize("x", [0.0, 1.0, 1, np.ones(3), np.zeros(2, np.float32)])
def test_functions_that_meet_at_the_first_point_are_told_apart(x):
    """x*x and x**3 have the same value at 0 and at 1, where their derivatives differ."""

    def f(x):
        return x**3

    with pytest.raises(RuleError, match="gives a different value"):
        rrule(f, x, registry=moved(f))


@pytest.mark.parametrize("x", [1.5, 2, np.linspace(-1, 1, 5), np.float32(0.3), 1e300, float("nan")])
def test_the_same_function_in_other_words_agrees(x):
    """Also where the last digits differ, at infinity and at nan; after a few calls nothing is compared."""
    calls = []

    def f(x):
        calls.append(x)
        return (x + 1) * (x - 1) + 1 if np.max(np.abs(x)) < 1e100 else x * x

    registry = moved(f)
    for _ in range(10):
        _, back = rrule(f, x, registry=registry)
        assert np.array_equal(back(np.ones_like(x))[1], 2 * x, equal_nan=True)
    assert len(calls) == 6


def test_the_arguments_are_lent_as_copies():
    """A function that writes to its argument leaves the caller's alone."""

    def f(x):
        x *= x
        return x

    x = np.array([2.0, 3.0])
    y, _ = rrule(f, x, registry=moved(f))
    assert list(x) == [2.0, 3.0] and list(y) == [4.0, 9.0]


def test_what_cannot_be_compared_stays_in_doubt():
    """A function that raises says nothing; the next call is compared."""
    broken = True

    def f(x):
        if broken:
            raise ValueError("not now")
        return x**3

    registry = moved(f)
    assert rrule(f, 2.0, registry=registry)[0] == 4.0
    broken = False
    with pytest.raises(RuleError):
        rrule(f, 2.0, registry=registry)


def test_a_rule_stated_again_is_trusted():
    """The author has seen it; one may compute something else on purpose."""

    def f(x):
        return x**3

    registry = moved(f)
    rrule_for(f, registry=registry)(square_rrule)
    assert rrule(f, 2.0, registry=registry)[0] == 4.0


def test_structures_and_shapes_are_compared():
    """A tuple with one other part, and an array of another shape."""

    def pair(x):
        return x, {"a": x + 1}

    def pair_rrule(x):
        return (x, {"a": x + 2}), None

    with pytest.raises(RuleError):
        rrule(pair, 2.0, registry=moved(pair, pair_rrule))

    def f(x):
        return np.array([x * x])

    with pytest.raises(RuleError):
        rrule(f, 2.0, registry=moved(f))


def test_a_rule_that_does_not_fit_is_refused():
    """Nothing is registered."""
    registry = Registry()
    with pytest.raises(RuleRegistrationError):
        move_rule(square_rrule, lambda x, y: x * y, "cell In [3]", registry=registry)
    assert registry.rules() == []


def test_gradients_of_callers_are_guarded_too():
    """The rule is met in a compiled pass, first and after the pass is known."""

    def f(x):
        return x**3

    def loss(x):
        return 2.0 * f(x)

    assert rl.gradient(loss, 2.0) == (24.0,)
    move_rule(square_rrule, f, "cell In [3]")
    for _ in range(3):
        with pytest.raises(RuleError, match="gives a different value: 4.0 against 8.0"):
            rl.gradient(loss, 2.0)
        with pytest.raises(RuleError, match="gives a different value: 4.0 against 8.0"):
            rl.gradient(f, 2.0)
    rl.remove_rule(f)
    assert rl.gradient(loss, 2.0) == (24.0,)
