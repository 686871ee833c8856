"""Tests of the registry."""

import functools
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import AmbiguousRuleError
from rulelab.rules.authoring import opt_out, rrule, rrule_for
from rulelab.rules.registry import Found, NoRule, OptedOut, Registry
from rulelab.rules.rule_table import RuleTable
from rulelab.rules.signatures import types_of
from rulelab.tangents.zeros import NoTangent


def state(registry, f, function=None):
    """A rule for `f` that answers 1."""

    def rule(x):
        def rule_pullback(y_bar):
            return NoTangent(), y_bar

        return f(x), rule_pullback

    return rrule_for(f, registry=registry)(function or rule)


def test_of_a_function_whose_rules_are_removed_nothing_is_known():
    """As before there were any; `undo` still knows the way back."""
    registry = Registry()
    registry.remembers = 1

    def f(x):
        return x

    assert registry.has_nothing_for(f) and registry.entry(f) is None
    state(registry, f)
    assert not registry.has_nothing_for(f) and registry.entry(f).user
    registry.remove(f)
    assert registry.has_nothing_for(f) and registry.entry(f) is None
    registry.undo(f)
    assert not registry.has_nothing_for(f)
    assert isinstance(registry.ask(f, (float,)), Found)


def test_a_rule_counts_at_once_and_the_epoch_rises():
    """A rule stated now is found now; one for the same types replaces it; a removed one is gone."""
    registry = Registry()

    def f(x):
        return x

    assert registry.ask(f, (float,)) == NoRule()
    epochs = [registry.epoch]
    first = state(registry, f)
    assert registry.ask(f, (float,)).rule.function is first
    epochs.append(registry.epoch)
    second = state(registry, f)
    assert registry.ask(f, (float,)).rule.function is second and len(registry.rules()) == 1
    epochs.append(registry.epoch)
    registry.remove(f)
    assert registry.ask(f, (float,)) == NoRule()
    epochs.append(registry.epoch)
    assert epochs == sorted(set(epochs))


def test_the_most_specific_wins():
    """Of two rules that apply, the one for the narrower types is used, whichever came first."""
    registry = Registry()

    def f(x, y):
        return x

    @rrule_for(f, registry=registry)
    def narrow(x: int, y: float): ...

    @rrule_for(f, registry=registry)
    def wide(x: float, y): ...

    @rrule_for(f, registry=registry)
    def arrays(x: np.ndarray | list, y): ...

    ask = lambda *args: registry.ask(f, types_of(args)).rule.function.__name__
    assert (
        ask(1, 2.0) == "narrow"
        and ask(1.0, 2.0) == "wide"
        and ask(1, "a") == "wide"
        and ask([1.0], 2) == "arrays"
    )
    assert registry.ask(f, types_of(("a", "b"))) == NoRule()


def test_ambiguity_is_an_error_that_names_both():
    """Two rules that fit equally well are an error that shows where both are."""
    registry = Registry()

    def f(x, y):
        return x

    @rrule_for(f, registry=registry)
    def left(x: float, y): ...

    @rrule_for(f, registry=registry)
    def right(x, y: float): ...

    with pytest.raises(AmbiguousRuleError) as caught:
        registry.ask(f, (float, float))
    text = str(caught.value)
    assert "in left" in text and "in right" in text and "(x: float, y)" in text and "(x, y: float)" in text
    assert registry.ask(f, (float, str)).rule.function is left

    @rrule_for(f, registry=registry)
    def both(x: float, y: float): ...

    assert registry.ask(f, (float, float)).rule.function is both


def test_opt_outs():
    """An opt-out for types covers these types only; one without types covers the rules there are."""
    registry = Registry()

    def f(x):
        return x

    state(registry, f)
    opt_out(f, int, registry=registry)
    assert isinstance(registry.ask(f, (int,)), OptedOut) and isinstance(registry.ask(f, (float,)), Found)
    opt_out(f, registry=registry)
    assert isinstance(registry.ask(f, (float,)), OptedOut)
    state(registry, f)
    assert isinstance(registry.ask(f, (float,)), Found)


def test_redefining_a_function_leaks_nothing():
    """A thousand functions, each with a rule that closes over it, are gone when I drop them."""
    registry, gone = Registry(), []
    for _ in range(200):

        def f(x):
            return x

        state(registry, f)
        assert rrule(f, 1.0, registry=registry)[0] == 1.0
        gone.append(weakref.ref(f))
    del f
    gc.collect()
    assert not [one for one in gone if one() is not None]
    state(registry, lambda x: x)
    assert len(registry.snapshot.entries) <= 1


def test_classes_are_not_kept_either():
    """A class with a rule on its constructor is collected with its rule, and a subclass does not inherit the
    rule.
    """
    registry = Registry()

    class Thing:
        def __init__(self, x):
            self.x = x

    class Child(Thing):
        pass

    rule = lambda x, *, made=Thing: (made(x), None)
    rrule_for(Thing, registry=registry)(rule)
    assert isinstance(registry.ask(Thing, (float,)), Found) and registry.ask(Child, (float,)) == NoRule()
    gone = weakref.ref(Thing)
    del Thing, Child, rule
    gc.collect()
    assert gone() is None


def test_wraps_does_not_carry_a_rule_over():
    """`functools.wraps` copies attributes; the wrapper has no rule, and a rule for it leaves the first one
    alone.
    """
    registry = Registry()

    def f(x):
        return x

    first = state(registry, f)

    @functools.wraps(f)
    def g(x):
        return f(x)

    assert registry.ask(g, (float,)) == NoRule()
    second = state(registry, g)
    gc.collect()
    assert (
        registry.ask(f, (float,)).rule.function is first and registry.ask(g, (float,)).rule.function is second
    )
    assert dict(pickle.loads(pickle.dumps(f.__dict__["__rulelab_rules__"]))) == {}


def test_without_is_restored_after_an_error():
    """Inside `without` no rule is found; after it they are back, also if the block raised; blocks nest."""
    registry = Registry()
    state(registry, np.sin)
    before = registry.epoch
    with pytest.raises(ZeroDivisionError), registry.without(np.sin):
        with registry.without(np.sin):
            pass
        assert registry.ask(np.sin, (float,)) == NoRule() and registry.epoch > before
        1 / 0
    assert isinstance(registry.ask(np.sin, (float,)), Found) and not registry.snapshot.hidden


def test_answers_are_equal_if_they_are_the_same_rule():
    """A compiled pass can compare answers to see whether it is stale."""
    registry = Registry()
    state(registry, np.sin)
    first = registry.ask(np.sin, (float,))
    state(registry, np.cos)
    assert registry.ask(np.sin, (float,)) == first
    state(registry, np.sin)
    assert registry.ask(np.sin, (float,)) != first


def test_readers_and_writers_in_threads():
    """While rules are being redefined in one thread, others find one of them every time."""
    registry = Registry()

    def f(x):
        return x

    state(registry, f)
    missed, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            if not isinstance(registry.ask(f, (float,)), Found):
                missed.append(1)

    readers = [threading.Thread(target=read) for _ in range(4)]
    [r.start() for r in readers]
    for _ in range(300):
        state(registry, f)
    stop.set()
    [r.join() for r in readers]
    assert not missed


def test_a_function_that_reuses_an_old_id_has_no_rule():
    """The rule of a dead function never turns up on a new one."""
    registry = Registry()
    for _ in range(300):

        def f(x):
            return x

        assert registry.ask(f, (float,)) == NoRule()
        state(registry, f)
        del f


def test_built_in_rules_are_for_plain_arrays():
    """Built-in rules know the arithmetic of ndarray; a user's rule for a subclass is the user's affair."""
    registry = Registry()
    table = RuleTable("plain")
    table.scalar(np.sin, lambda out, x: np.cos(x))
    table.non_differentiable(np.shape)
    table.install(registry)
    plain, masked = types_of((np.ones(2),)), types_of((np.ma.ones(2),))
    assert isinstance(registry.ask(np.sin, plain), Found)
    assert isinstance(registry.ask(np.sin, masked), NoRule)
    assert isinstance(registry.ask(np.shape, masked), Found)


def test_changes_are_remembered_as_far_as_asked():
    """Else not at all, so that an old rule goes; rules that are stated at once are one change."""
    registry = Registry()

    def f(x):
        return x

    def constant(slope):
        return lambda out, x: slope

    def known():
        return [r.mode for r in registry.rules()]

    rl.scalar_rule(f, lambda out, x: 1.0, registry=registry)
    with pytest.raises(rl.RuleRegistrationError, match="there is nothing to undo"):
        rl.undo_rule(f, registry=registry)
    registry.remembers = 2
    rl.remove_rule(f, registry=registry)
    for slope in (1.0, 2.0, 3.0):
        rl.scalar_rule(f, constant(slope), registry=registry)
    assert known() == ["rrule", "frule"]
    for slope in (2.0, 1.0):
        assert len(rl.undo_rule(f, registry=registry).back) == 2
        assert rl.rrule(f, 0.0, registry=registry)[1](1.0)[1] == slope
    with pytest.raises(rl.RuleRegistrationError):
        rl.undo_rule(f, registry=registry)
