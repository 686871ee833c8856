"""What a bad rule says, in a gradient and without debug mode: each fault has a message of its own, with the
place and what to do.
"""

import builtins
import functools

import numpy as np
import pytest

import rulelab as rl

NO = rl.NoTangent()
X = np.arange(3.0)


def f(x, y):
    return np.sum(x) * y


def gives(*answer):
    """A rule whose pullback gives these for any cotangent."""

    def f_rrule(x, y):
        def f_pullback(s):
            return answer

        return np.sum(x) * y, f_pullback

    return f_rrule


def changes_a_thunk(x, y):
    def f_pullback(s):
        x_bar = rl.thunk(lambda: np.full(3, y * s))
        x_bar[0] = 0.0
        return NO, x_bar, np.sum(x) * s

    return np.sum(x) * y, f_pullback


BAD = {
    "wrong count": (
        gives(NO, X.copy()),
        rl.RuleCountError,
        "f_pullback returned 2 cotangents, expected 3: for f itself, x, y",
        "return rl.NoTangent() first, for the function itself",
    ),
    "wrong shape": (
        gives(NO, np.ones(2), 1.0),
        rl.RuleShapeError,
        "f_pullback returned for x: variable with shape (3,) cannot have a gradient with shape (2,)",
        "undo the broadcasting",
    ),
    "wrong dtype": (
        gives(NO, np.array(["a", "b", "c"]), 1.0),
        rl.RuleDtypeError,
        "f_pullback returned for x: ",
        "",
    ),
    "a None for a cotangent": (
        gives(NO, None, 1.0),
        rl.RuleError,
        "f_pullback returned None for x",
        "return rl.ZeroTangent() if its derivative is zero, rl.NoTangent() if it has none",
    ),
    "a None for the function": (
        gives(None, X.copy(), 1.0),
        rl.RuleError,
        "f_pullback returned None first, where the cotangent of the function f itself belongs",
        "return rl.NoTangent() first: a function has no cotangent",
    ),
    "a class for a cotangent": (
        gives(NO, rl.NoTangent, 1.0),
        rl.RuleError,
        "f_pullback returned the class NoTangent for x",
        "call it: rl.NoTangent()",
    ),
    "a number for the function": (
        gives(1.0, X.copy(), 1.0),
        rl.RuleError,
        "f_pullback returned the number 1 for f itself, which holds no numbers",
        "the cotangent of the function comes first",
    ),
    "no tuple": (
        lambda x, y: (np.sum(x) * y, lambda s: [NO, x, 1.0]),
        rl.RuleError,
        "<lambda> must return a tuple of cotangents, not a list",
        "return rl.NoTangent(), x_bar",
    ),
    "the rule returns None": (
        lambda x, y: None,
        rl.RuleError,
        "the rrule <lambda> of f returned None, not (y, pullback)",
        "end it with `return y, pullback`",
    ),
    "the rule returns a value": (
        lambda x, y: np.sum(x) * y,
        rl.RuleError,
        "the rrule <lambda> of f must return (y, pullback), not a float64",
        "end it with `return y, pullback`",
    ),
    "no pullback": (
        lambda x, y: (np.sum(x) * y, 3.0),
        rl.RuleError,
        "the rrule <lambda> of f must return a pullback, not a float",
        "",
    ),
    "a thunk changed": (
        changes_a_thunk,
        rl.ThunkMutationError,
        "Tried to mutate a thunk, this is not supported. `unthunk` it first.",
        "",
    ),
    "not implemented": (
        gives(NO, rl.not_implemented("see the paper"), 1.0),
        rl.NotImplementedTangentError,
        "tangent not implemented: see the paper",
        "derive it in the rule named above",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_each_fault_has_its_message(fault):
    """At the first gradient and at the second, where a quicker way is known."""
    rule, kind, found, fix = BAD[fault]
    rl.rrule_for(f)(rule)
    try:
        for _ in range(2):
            with pytest.raises(kind) as error:
                rl.gradient(f, X, 2.0)
            assert error.value.found.startswith(found) and fix in " ".join(error.value.fixes)
            assert type(error.value) is kind and (error.value.place or fault == "a thunk changed")
    finally:
        rl.remove_rule(f)


def test_a_cotangent_that_is_written_is_found_in_debug_mode():
    """It would change what others were handed."""

    @rl.rrule_for(f)
    def f_rrule(x, y):
        def f_pullback(s):
            s[...] = 0.0
            return NO, x * 0.0, 0.0

        return np.array(np.sum(x) * y), f_pullback

    try:
        with (
            rl.debug_mode(rules=True),
            pytest.raises(rl.RuleLabError, match="f_pullback changed its cotangent"),
        ):
            _, back = rl.rrule(f, X, 2.0)
            back(np.array(1.0))
    finally:
        rl.remove_rule(f)


def test_ambiguous_rules_are_listed_with_their_places():
    """Both, and what to do."""

    def g(x, y):
        return x

    @rl.rrule_for(g)
    def one(x: float, y):
        return x, lambda s: (NO, s, 0.0)

    @rl.rrule_for(g)
    def other(x, y: float):
        return x, lambda s: (NO, s, 0.0)

    with pytest.raises(rl.AmbiguousRuleError) as error:
        rl.gradient(g, 1.0, 2.0)
    text = str(error.value)
    assert text.startswith("two rules for g fit equally well: ")
    assert all(f"test_bad_rules.py, line {r.__code__.co_firstlineno}" in text for r in (one, other))
    assert "add a rule for the types where both apply" in text
    rl.rrule_for(g)(lambda x, y: (x, lambda s: (NO, s, 0.0)))  # less specific: no way out
    with pytest.raises(rl.AmbiguousRuleError):
        rl.gradient(g, 1.0, 2.0)

    @rl.rrule_for(g)
    def most(x: float, y: float):
        return x, lambda s: (NO, 7.0 * s, 0.0)

    assert rl.gradient(g, 1.0, 2.0)[0] == 7.0


class Meta(type):
    pass


@pytest.mark.parametrize("state", ["rrule", "frule", "scalar", "constant", "opt out"])
@pytest.mark.parametrize(
    "target",
    [type, object, type.__call__, object.__new__, object.__init__, type.__new__, type.__init__, Meta],
    ids=lambda t: getattr(t, "__qualname__", str(t)),
)
def test_what_would_catch_every_constructor_is_refused(target, state):
    """Whichever way it is stated, and nothing is registered."""
    ways = {
        "rrule": lambda: rl.rrule_for(target)(lambda *xs: None),
        "frule": lambda: rl.frule_for(target)(lambda t, *xs: None),
        "scalar": lambda: rl.scalar_rule(target, lambda out, x: 1.0),
        "constant": lambda: rl.non_differentiable(target),
        "opt out": lambda: rl.opt_out(target),
    }
    with pytest.raises(rl.RuleRegistrationError, match="would apply to every constructor or object there is"):
        ways[state]()
    assert not rl.which_rule(target) or rl.which_rule(target).rule.built_in


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (3.0, "a rule must be for a callable, not for a float"),
        (functools.partial(f, X), "f with bound arguments is a new object each time"),
    ],
)
def test_what_no_rule_can_find_is_refused(target, words):
    """With the reason."""
    with pytest.raises(rl.RuleRegistrationError, match=words):
        rl.rrule_for(target)


def test_scalar_rules_of_what_holds_something_are_refused():
    """A closure, a method, a callable object: what they hold would need a cotangent."""
    k = 2.0

    def closed(x):
        return k * x

    class Box:
        def method(self, x):
            return x

        def __call__(self, x):
            return x

    for target, why in (
        (closed, "it closes over k"),
        (Box().method, "it belongs to an object"),
        (Box(), "object"),
    ):
        with pytest.raises(rl.RuleRegistrationError, match=f"scalar_rule cannot be used on .*{why}"):
            rl.scalar_rule(target, lambda out, x: 1.0)


def test_a_builtin_and_every_name_it_goes_by():
    """A rule sits on the object, so it counts under each name; the built-in one of `abs` is asked second."""
    again = builtins.abs

    @rl.rrule_for(abs)
    def abs_rrule(x: float):
        return again(x), lambda s: (NO, 1000.0 * s)

    try:
        assert rl.gradient(lambda x: again(x), -2.0) == (1000.0,)
    finally:
        rl.remove_rule(abs)
    assert rl.gradient(lambda x: again(x), -2.0) == (-1.0,)
