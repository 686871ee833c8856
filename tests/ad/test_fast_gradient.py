"""The quickest way of `gradient` gives what the slow way gives, in each case that it is not for as well."""

import copy
import dataclasses
import functools
import inspect
import itertools
import linecache
import math
import pickle
import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad import fast_gradient, natural, reverse
from rulelab.compiler.calls.cache import DEFAULT, Cache, refresh
from rulelab.compiler.calls.entries import KEPT
from rulelab.compiler.memory import heap
from rulelab.rules.lent import DEBUGGING

X = np.array([1.0, -2.0, 3.0])
pytestmark = pytest.mark.usefixtures("as_users_run_it")


@pytest.fixture
def at_once(monkeypatch):
    """Calls gradient where only the quickest way may answer."""

    def ask(f, *args, **options):
        def refuse(*_):
            raise AssertionError("the quickest way was not taken")

        with monkeypatch.context() as patch:
            patch.setattr(reverse, "_quickly", refuse)
            return rl.gradient(f, *args, **options)

    return ask


def settled(f, *args):
    """The function, after calls that open the quick way for these arguments."""
    for _ in range(3):
        rl.gradient(f, *args)
    return f


def doubled():
    """A new function of one array, with a rule that says twice the truth."""

    def f(x):
        return np.sum(x * x)

    rl.rrule_for(f)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 4.0 * y_bar * x)))
    return f


def ruled(answer):
    """A new function of one argument by this rule."""

    def f(x):
        return np.sum(x * x)

    rl.rrule_for(f)(answer)
    return f


@pytest.mark.parametrize(
    "x", [1.5, X, X[None], np.arange(4.0).reshape(2, 2), np.array(2.0), X[::-1]], ids=repr
)
@pytest.mark.parametrize("make", [doubled, lambda: lambda x: np.sum(x * x)], ids=["rule", "pass"])
def test_one_argument(at_once, make, x):
    """Floats and arrays of any shape, by a rule and by a pass."""
    f = make()
    wanted = rl.gradient(f, x)
    found = at_once(settled(f, x), x)
    assert type(found) is tuple and type(found[0]) is type(wanted[0]) and np.shape(found[0]) == np.shape(x)
    np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.parametrize("a, b", [(1.5, 2.0), (X, X + 1), (X, 2.0), (2.0, X), (X[None], X[None])], ids=repr)
@pytest.mark.parametrize("by_rule", [True, False])
def test_two_arguments(at_once, by_rule, a, b):
    """The same of two."""

    def f(a, b):
        return np.sum(a * b) * 1.0

    def slope(x, bar):
        return float(np.sum(bar)) if np.ndim(x) == 0 else bar * np.ones(np.shape(x))

    def f_rrule(a, b):
        return f(a, b), lambda y_bar: (rl.NoTangent(), slope(a, y_bar * b), slope(b, y_bar * a))

    if by_rule:
        rl.rrule_for(f)(f_rrule)
    wanted = rl.gradient(f, a, b)
    found = at_once(settled(f, a, b), a, b)
    assert list(map(type, found)) == list(map(type, wanted))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "make, args",
    [
        (lambda: lambda x, k: np.sum(x[k] * 2.0), (X, np.array([0, 2]))),
        (lambda: lambda k, y: np.sum(y * X[k]), (np.array([1, 2]), 3.0)),
        (lambda: lambda n: n * n * 1.0, (2,)),
        (lambda: lambda x: np.sum(x * x), (X.astype(np.float32),)),
        (lambda: lambda a, b, c: a * b - c, (1.0, 2.0, 3.0)),
        (lambda: lambda x, y, none, on: np.sum(x * y) if on else none, (X, 2.0, None, True)),
        (lambda: lambda x, n, name, y: np.sum(x**n * y) * len(name), (X[None], 2, "a", np.float32(2.0))),
        (lambda: lambda z, y: (z * y).real, (1.0 + 2.0j, 2.0)),
    ],
    ids=lambda made: "" if callable(made) else repr(made),
)
def test_any_number_of_arguments_of_any_kinds(at_once, make, args):
    """What holds no other values is taken at once, until something is of another kind."""
    f = make()
    wanted = rl.gradient(f, *args)
    found = at_once(settled(f, *args), *args)
    assert list(map(type, found)) == list(map(type, wanted))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    others = [np.float32(x) if type(x) is float else np.float64(x) if type(x) is int else x for x in args]
    again, fresh = rl.gradient(f, *others), rl.gradient(make(), *others)
    assert list(map(type, again)) == list(map(type, fresh))


def shifted_log(x):
    return math.log(x - 1.0)


@pytest.mark.parametrize("more", [(), (2.0,), (2.0, 3.0)])
def test_an_error_in_an_inlined_function_names_it(more):
    """The frames of an error are those of plain Python, each time that it is met."""
    of_one, of_two = lambda x: shifted_log(x * 2.0), lambda x, y: shifted_log(x * y)
    of_three = lambda x, y, z: shifted_log(x * y) * z  # noqa: E731
    f = settled((of_one, of_two, of_three)[len(more)], 3.0, *more)
    with pytest.raises(ValueError, match="domain|expected a positive input") as found:
        rl.gradient(f, 0.25, *more)
    names = [frame.name for frame in found.traceback if frame.path == Path(__file__)]
    assert names[-2:] == ["<lambda>", "shifted_log"]


def test_other_kinds_go_another_way():
    """The way for float64 arrays is none for float32 ones, integers, subclasses or lists."""
    f = settled(lambda x: np.sum(np.asarray(x) * 2.0), X)
    assert rl.gradient(f, X.astype(np.float32))[0].dtype == np.float32
    assert rl.gradient(f, 2) == (2.0,)
    assert rl.gradient(f, [1.0, 2.0]) == ([2.0, 2.0],)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [2.0] * 3)
    g = settled(doubled(), X)
    assert rl.gradient(g, X.astype(np.float32))[0].dtype == np.float32
    assert rl.gradient(g, 3.0) == (12.0,)


def product():
    """A new function of two arguments, with a rule that says twice the truth."""

    def f(a, b):
        return np.sum(a * b) * 1.0

    def f_rrule(a, b):
        return f(a, b), lambda y_bar: (rl.NoTangent(), 2.0 * y_bar * b, 2.0 * y_bar * a)

    rl.rrule_for(f)(f_rrule)
    return f


@pytest.mark.parametrize("factor, make", [(2.0, product), (1.0, lambda: lambda a, b: np.sum(a * b) * 1.0)])
def test_each_of_two_has_its_kind(factor, make):
    """A way for two arrays is none where one of them is of another dtype, or a number."""
    single = X.astype(np.float32)
    f = settled(make(), X, X + 1)
    for a, b in ((X, single), (single, X), (X[:1], X[:1, None]), (2.0, 3.0)):
        found = rl.gradient(f, a, b)
        assert [np.asarray(x).dtype for x in found] == [np.asarray(x).dtype for x in (a, b)]
        assert [np.shape(x) for x in found] == [np.shape(a), np.shape(b)]
        settled(f, X, X + 1)
    assert rl.gradient(settled(f, 2.0, 3.0), 2.0, 3.0) == (factor * 3.0, factor * 2.0)
    np.testing.assert_array_equal(rl.gradient(f, X, X + 1), [factor * (X + 1), factor * X])


def test_other_counts_go_another_way():
    """A way for one argument is none for two: the call fails in its own words."""
    f = settled(lambda x: x * x, 2.0)
    with pytest.raises(TypeError):
        rl.gradient(f, 2.0, 3.0)
    with pytest.raises(TypeError):
        rl.gradient(f)


def test_keywords_and_argnums_count():
    """They are no part of the way that was opened without them."""
    f = settled(lambda x, y=2.0: x * y, 3.0)
    settled(f, 3.0, 5.0)
    assert rl.gradient(f, 3.0, y=7.0) == (7.0,)
    assert rl.gradient(f, 3.0, 5.0, argnums=1) == (3.0,)
    assert rl.gradient(f, 3.0) == (2.0,)


def test_another_rule_counts():
    """A rule that replaces another, and its going, count from the next call on."""
    f = settled(doubled(), X)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 4 * X)
    rl.rrule_for(f)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 7.0 * x)))
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 7 * X)
    settled(f, X)
    rl.remove_rule(f)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 2 * X)
    settled(f, X)
    rl.rrule_for(f)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 9.0 * x)))
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 9 * X)


def test_another_rule_of_two_counts():
    """The same of a function of two arguments."""
    f = settled(product(), X, X)
    rl.rrule_for(f)(lambda a, b: (np.sum(a * b), lambda y_bar: (rl.NoTangent(), 7.0 * b, 7.0 * a)))
    np.testing.assert_array_equal(rl.gradient(f, X, X)[0], 7 * X)
    settled(f, X, X)
    rl.remove_rule(f)
    np.testing.assert_array_equal(rl.gradient(f, X, X)[0], X)


def test_a_rule_for_what_a_pass_calls_counts(monkeypatch):
    """A pass of one or of two arguments is made anew when a function it calls gets a rule."""
    one, two = settled(lambda x: halved(x) * 1.0, 3.0), settled(lambda x, y: halved(x) * y, 3.0, 2.0)
    rl.rrule_for(halved)(lambda x: (x / 2.0, lambda y_bar: (rl.NoTangent(), 5.0 * y_bar)))
    try:
        assert rl.gradient(one, 3.0) == (5.0,)
        assert rl.gradient(two, 3.0, 2.0) == (10.0, 1.5)
    finally:
        rl.remove_rule(halved)
    assert rl.gradient(two, 3.0, 2.0) == (1.0, 1.5)


def halved(x):
    return x / 2.0


def test_rules_hidden_for_a_block_are_hidden():
    """`without_rule` counts while it is open."""
    f = settled(doubled(), X)
    with rl.without_rule(f):
        np.testing.assert_array_equal(rl.gradient(f, X)[0], 2 * X)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 4 * X)
    g = settled(product(), X, X)
    with rl.without_rule(g):
        np.testing.assert_array_equal(rl.gradient(g, X, X)[0], X)
    np.testing.assert_array_equal(rl.gradient(g, X, X)[0], 2 * X)


def test_rules_by_type_of_the_second_argument():
    """Each kind of the second argument has the rule that is for it."""

    def f(x, y):
        return np.sum(x * y)

    @rl.rrule_for(f)
    def of_array(x, y: np.ndarray):
        return np.sum(x * y), lambda c: (rl.NoTangent(), np.full(3, 5.0), np.full(3, 6.0))

    @rl.rrule_for(f)
    def of_float(x, y: float):
        return np.sum(x * y), lambda c: (rl.NoTangent(), np.full(3, 7.0), 8.0)

    for _ in range(3):
        assert rl.gradient(settled(f, X, X), X, X)[0][0] == 5.0
        found = rl.gradient(f, X, 2.0)
        assert found[0][0] == 7.0 and found[1] == 8.0


@pytest.mark.parametrize("make", [doubled, lambda: lambda x: np.sum(x * x)], ids=["rule", "pass"])
def test_new_code_counts(make):
    """Code that is put into a function takes part at once; a rule goes by the function, not by its code."""
    f = settled(make(), X)
    before = rl.gradient(f, X)[0]
    f.__code__ = (lambda x: np.sum(x * x) * 5.0).__code__
    ruled = make is doubled
    np.testing.assert_array_equal(rl.gradient(f, X)[0], before if ruled else 5.0 * before)


@pytest.mark.parametrize("count", [1, 2])
def test_code_with_another_parameter_counts(count):
    """A rule is handed the default of a parameter that the function has got since."""

    def rule(*xs):
        slope = xs[-1] if len(xs) > count else 1.0
        return 1.0, lambda y_bar: (rl.NoTangent(), *[slope * y_bar for _ in xs])

    f = (lambda x: x) if count == 1 else (lambda x, y: x + y)
    rl.rrule_for(f)(rule)
    xs = (2.0,) * count
    assert rl.gradient(settled(f, *xs), *xs) == (1.0,) * count
    f.__code__ = (lambda x, k: x).__code__ if count == 1 else (lambda x, y, k: x + y).__code__
    f.__defaults__ = (3.0,)
    assert rl.gradient(f, *xs) == (3.0,) * count


FACTOR = 2.0


def test_a_changed_global_counts(monkeypatch):
    """A pass is guarded by the globals that it read."""
    f, g = settled(lambda x: x * FACTOR, 3.0), settled(lambda x, y: x * y * FACTOR, 3.0, 2.0)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)
    assert rl.gradient(f, 3.0) == (5.0,)
    assert rl.gradient(g, 3.0, 2.0) == (10.0, 15.0)


@pytest.mark.parametrize("make", [doubled, lambda: lambda x: np.sum(x * x)], ids=["rule", "pass"])
def test_a_wrapper_has_no_part_in_it(make):
    """functools.wraps gives a wrapper the very dict of what it wraps, whose ways are not the wrapper's."""

    def twice(g):
        @functools.wraps(g)
        def call(x):
            return 2.0 * g(x)

        return call

    f = settled(make(), X)
    slope = rl.gradient(f, X)[0]
    once = settled(twice(f), X)
    np.testing.assert_array_equal(rl.gradient(once, X)[0], 2 * slope)
    np.testing.assert_array_equal(rl.gradient(twice(once), X)[0], 4 * slope)  # of the same code
    np.testing.assert_array_equal(rl.gradient(f, X)[0], slope)


@pytest.mark.parametrize("xs", [(X,), (X, X)], ids=["one", "two"])
def test_a_wrapper_of_a_ruled_wrapper_has_no_part_in_it(xs):
    """Nor where it has the same code as what it wraps, and that has a rule."""

    def tenfold(g):
        @functools.wraps(g)
        def one(x):
            return 10.0 * g(x)

        @functools.wraps(g)
        def two(x, y):
            return 10.0 * g(x, y)

        return one if len(xs) == 1 else two

    inner = tenfold(lambda *xs: np.sum(xs[0]) * 1.0)
    nothing = [rl.ZeroTangent() for _ in xs[1:]]
    rl.rrule_for(inner)(lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), y_bar * np.ones(3), *nothing)))
    settled(inner, *xs)
    np.testing.assert_array_equal(rl.gradient(tenfold(inner), *xs)[0], [10.0] * 3)
    plain = settled(tenfold(lambda *xs: np.sum(xs[0]) * 1.0), *xs)
    np.testing.assert_array_equal(rl.gradient(tenfold(plain), *xs)[0], [100.0] * 3)


def test_debug_mode_watches():
    """A rule that gives away memory of its own is caught while the debug mode is on."""
    kept = np.ones(3)
    f = settled(ruled(lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), kept))), X)
    with rl.debug_mode(), pytest.raises(rl.RuleEffectsError):
        rl.gradient(f, X)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], kept)


@pytest.mark.parametrize("xs", [(X,), (X, X)], ids=["one", "two"])
def test_debug_mode_that_was_interrupted_as_it_began(monkeypatch, xs):
    """An interrupt after the first of its assignments leaves it on, and no way past it."""
    kept = np.ones(3)

    f = (lambda x: np.sum(x)) if len(xs) == 1 else (lambda x, y: np.sum(x) + np.sum(y))
    rl.rrule_for(f)(lambda *xs: (np.sum(xs), lambda y_bar: (rl.NoTangent(), *[kept for _ in xs])))
    settled(f, *xs)
    monkeypatch.setattr(DEBUGGING, "rules", True)
    with pytest.raises(rl.RuleEffectsError):
        rl.gradient(f, *xs)


def test_values_are_compared_when_asked(monkeypatch):
    """With compare=True the function itself runs too."""
    runs = []

    def f(x):
        return x * x

    settled(f, 2.0)
    monkeypatch.setattr(reverse, "note_way", lambda *_: runs.append("a way was opened"))
    with rl.debug_mode(rules=False, compare=True):
        assert not reverse._AT_ONCE
        rl.gradient(f, 2.0)
    assert reverse._AT_ONCE and not runs


def test_manual_mode_keeps_the_old_answer():
    """In manual mode the first answer counts until a refresh, and its use is noticed."""
    f = doubled()
    refresh("manual")
    try:
        settled(f, X)
        rl.rrule_for(f)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 7.0 * x)))
        with pytest.warns(rl.StaleRuleWarning):
            np.testing.assert_array_equal(rl.gradient(f, X)[0], 4 * X)
        refresh()
        np.testing.assert_array_equal(rl.gradient(f, X)[0], 7 * X)
    finally:
        refresh("auto")


def test_manual_mode_after_a_way_was_opened():
    """The same where the way was opened before the mode changed."""
    f = settled(doubled(), X)
    refresh("manual")
    try:
        np.testing.assert_array_equal(rl.gradient(f, X)[0], 4 * X)
        rl.rrule_for(f)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 7.0 * x)))
        with pytest.warns(rl.StaleRuleWarning):
            np.testing.assert_array_equal(rl.gradient(f, X)[0], 4 * X)
    finally:
        refresh("auto")
    np.testing.assert_array_equal(rl.gradient(f, X)[0], 7 * X)


BASE = np.ones((2, 3))
FROZEN = np.ones(3)
FROZEN.setflags(write=False)


def frozen(x):
    y = np.ones(3)
    y.setflags(write=False)
    return y


@pytest.mark.parametrize(
    "bar",
    [
        lambda x: x,
        lambda x: BASE[0],
        lambda x: FROZEN,
        frozen,
        lambda x: np.broadcast_to(1.0, 3),
        lambda x: np.ones(3, np.float32),
        lambda x: np.ones(3, int),
        lambda x: np.ones(3, complex),
        lambda x: rl.ZeroTangent(),
        lambda x: rl.thunk(lambda: np.ones(3)),
        lambda x: np.ones(3).view(np.matrix)[0].A1,
    ],
)
def test_cotangents_that_do_not_fit_at_a_glance(bar):
    """They become new, writable arrays of the shape and dtype of the argument, as they do the slow way."""
    x, y = X.copy(), X.copy()
    one = ruled(lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), bar(x))))
    first, second = (lambda x, y: np.sum(x * y)), (lambda x, y: np.sum(x * y))
    rl.rrule_for(first)(lambda x, y: (np.sum(x), lambda y_bar: (rl.NoTangent(), bar(x), 2.0 * x)))
    rl.rrule_for(second)(lambda x, y: (np.sum(x), lambda y_bar: (rl.NoTangent(), 2.0 * x, bar(y))))
    for f, xs in ((one, (x,)), (first, (x, y)), (second, (x, y))):
        for k, found in enumerate(rl.gradient(settled(f, *xs), *xs)):
            assert type(found) is np.ndarray and found.flags.writeable
            assert (found.dtype, found.shape) == (float, (3,))
            assert not any(np.shares_memory(found, given) for given in (x, y, BASE, FROZEN))
            np.testing.assert_array_equal(found, rl.gradient(f, *xs, argnums=k)[0])


@pytest.mark.parametrize("f", [lambda x: x, lambda x: BASE[0] * x, lambda x: x[::-1], lambda x: x.T])
def test_results_of_passes_are_nobody_elses(f):
    """What a pass hands through, or makes as a view, is copied."""
    one, two = settled(lambda x: np.sum(f(x)), X), settled(lambda x, y: np.sum(f(x) * f(y)), X, X + 1)
    for g, xs in ((one, (X.copy(),)), (two, (X.copy(), X + 1))):
        first, again = rl.gradient(g, *xs), rl.gradient(g, *xs)
        for k, found in enumerate(first):
            others = (*xs, BASE, *again, *first[:k])
            assert found.flags.writeable and not any(np.shares_memory(found, x) for x in others)
            np.testing.assert_array_equal(found, again[k])


@pytest.mark.parametrize(
    "answer, error",
    [
        (lambda x: np.sum(x), rl.RuleError),
        (lambda x: (np.sum(x), None), rl.RuleError),
        (lambda x: [np.sum(x), lambda y_bar: (rl.NoTangent(), x)], rl.RuleError),
        (lambda x: (np.sum(x), lambda y_bar: x), rl.RuleError),
        (lambda x: (np.sum(x), lambda y_bar: (x,)), rl.RuleCountError),
        (lambda x: (np.sum(x), lambda y_bar: (x, x)), rl.RuleError),
        (lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), x, x)), rl.RuleCountError),
        (lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), np.ones(2))), rl.RuleShapeError),
        (lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), np.ones((2, 3)))), rl.RuleShapeError),
        (lambda x: (x * 1.0, lambda y_bar: (rl.NoTangent(), x)), rl.ScalarOutputError),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(answer, error):
    """A rule that was right when the way was opened and is not now is refused in the same words."""
    now = [lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), 1.0 * x))]
    f = settled(ruled(lambda x: now[0](x)), X)
    now[0] = answer
    with pytest.raises(error) as quick:
        rl.gradient(f, X)
    with pytest.raises(error) as slow:
        rl.gradient(f, X, argnums=0)
    assert str(quick.value) == str(slow.value)


def test_a_rule_runs_once_a_call():
    """Whatever it gives: what it prints or counts happens once."""
    runs = []

    def rule(x):
        runs.append("value")

        def back(y_bar):
            runs.append("cotangent")
            return rl.NoTangent(), np.ones(3, np.float32)

        return np.sum(x), back

    f = settled(ruled(rule), X)
    runs.clear()
    rl.gradient(f, X)
    assert runs == ["value", "cotangent"]


def test_levels_are_counted_once():
    """A rule sees one derivative around it, and two when it is asked within another."""
    seen = []

    def rule(x):
        seen.append((rl.nest_level(), rl.isderiving()))
        return np.sum(x), lambda y_bar: (rl.NoTangent(), y_bar * np.ones(3))

    f = settled(ruled(rule), X)
    seen.clear()
    rl.gradient(f, X)
    assert seen == [(1, True)] and rl.nest_level() == 0

    outer = ruled(lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), rl.gradient(f, x)[0])))
    rl.gradient(settled(outer, X), X)
    assert seen[-1] == (2, True)


def test_gradients_of_structures_go_another_way():
    """A list may be changed while the function runs: it is looked after."""

    def f(xs):
        xs[0] = xs[0] * 2.0
        return xs[0]

    for _ in range(4):
        xs = [3.0]
        assert rl.gradient(f, xs) == ([2.0],)


def test_what_is_noted_may_be_copied():
    """Copies of what a function remembers start without its ways; nothing of them is pickled."""
    f = settled(doubled(), X)
    for copied in (copy.deepcopy(f.__dict__[KEPT]), pickle.loads(pickle.dumps(f.__dict__[KEPT]))):
        assert copied.of_one(f, X) is None and not copied.entries


def test_deep_recursion_ends_in_an_error():
    """Gradients within rules within gradients, deeper than the C stack would be: an error, and no crash."""
    text = """
    import sys
    import rulelab as rl
    sys.setrecursionlimit(10**6)

    def f(x):
        return x

    DEPTH = [0]

    @rl.rrule_for(f)
    def f_rrule(x):
        DEPTH[0] += 1
        slope = rl.gradient(f, x)[0] if DEPTH[0] < 20000 else 1.0
        return x, lambda y_bar: (rl.NoTangent(), slope * y_bar)

    DEPTH[0] = 10**9
    for _ in range(3):
        rl.gradient(f, 1.0)
    DEPTH[0] = 0
    try:
        print(rl.gradient(f, 1.0))
    except RecursionError:
        print("too deep")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() in ("(1.0,)", "too deep")


@pytest.mark.parametrize("xs", [(X,), (X, X)], ids=["one", "two"])
def test_dropped_passes_are_not_used(xs):
    """Once a cache has dropped its passes, because one was found wrong, the ways by them are closed."""
    f = settled((lambda x: np.sum(x)) if len(xs) == 1 else (lambda x, y: np.sum(x * y)), *xs)
    known = f.__dict__[KEPT]
    way = known.of_one if len(xs) == 1 else known.of_two
    assert way(f, *xs) is not None
    DEFAULT.drop_passes()
    assert way(f, *xs) is None


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_a_cotangent_of_the_wrong_shape_is_refused_for_each_of_two(number, shape):
    """Also where the other one fits."""
    f = lambda a, b: np.sum(a * b)
    bars = [np.ones(3), np.ones(3)]
    rl.rrule_for(f)(
        lambda a, b: (np.sum(a * b), lambda y_bar: (rl.NoTangent(), *[1.0 * bar for bar in bars]))
    )
    settled(f, X, X)
    bars[number] = np.ones(shape)
    with pytest.raises(rl.RuleShapeError):
        rl.gradient(f, X, X)


wave = math.sin


def test_a_global_function_that_is_replaced_counts(monkeypatch):
    """A pass that has the slope of one function in it is not that of another one of its name."""
    f, g = settled(lambda x: wave(x), 0.3), settled(lambda x, y: wave(x) * y, 0.3, 2.0)
    monkeypatch.setattr(sys.modules[__name__], "wave", math.exp)
    assert rl.gradient(f, 0.3) == (math.exp(0.3),)
    assert rl.gradient(g, 0.3, 2.0) == (2.0 * math.exp(0.3), math.exp(0.3))


@pytest.mark.parametrize("xs", [(3.0,), (3.0, 2.0)], ids=["one", "two"])
def test_the_same_code_with_other_globals_has_no_part_in_it(xs):
    """Such a function reads its own module, though it was given the dict of the first."""
    f = (lambda x: x * FACTOR) if len(xs) == 1 else (lambda x, y: x * FACTOR + y)
    settled(f, *xs)
    other = types.FunctionType(f.__code__, {"FACTOR": 7.0})
    other.__dict__.update(f.__dict__)
    for _ in range(3):
        assert rl.gradient(other, *xs)[0] == 7.0
        assert rl.gradient(f, *xs)[0] == 2.0


STRUCTURES = {
    "a list": (lambda xs: xs[0] * xs[1], ([2.0, 3.0],), ([3.0, 2.0],)),
    "a dict": (lambda d, x: d["a"] * x, ({"a": 2.0, "b": X}, 3.0), ({"a": 3.0, "b": None}, 2.0)),
    "lists in a list": (lambda xs: xs[0][0] * xs[1][0], ([[2.0], [3.0]],), ([[3.0], [2.0]],)),
    "arrays in a list": (lambda xs: np.sum(xs[0] * xs[1]), ([X, X + 1],), ([X + 1, X],)),
}


@pytest.mark.parametrize("kind", STRUCTURES)
def test_structures_that_are_only_read_are_found_again(kind):
    """From the second call on, with the gradient of the first."""
    f, args, wanted = STRUCTURES[kind]
    first = rl.gradient(f, *args)
    found = reverse._quickly(f, args)
    assert found is not None
    for got in (first, found[1], rl.gradient(f, *args)):
        np.testing.assert_equal(got, wanted)


def test_what_is_in_a_structure_counts():
    """Whoever was asked before, another kind of number has a gradient of its kind, and a text none."""
    f = settled(lambda xs: xs[0] * xs[1], [2.0, 3.0])
    assert rl.gradient(f, [2, 3]) == ([3.0, 2.0],)
    assert rl.gradient(f, [2, 3.0]) == ([3.0, 2.0],)
    assert rl.gradient(f, [2.0, 3.0]) == ([3.0, 2.0],)
    found = rl.gradient(f, [np.float32(2.0), np.float32(3.0)])[0]
    assert found == [3.0, 2.0] and {type(x) for x in found} == {np.float32}
    with pytest.raises(TypeError):
        rl.gradient(f, ["a", "b"])


def test_a_structure_that_comes_to_be_written_to_is_looked_after():
    """Another helper, bound to the name that the function calls, may write to the list."""
    text = "def helper(xs):\n    return xs[0]\ndef f(xs):\n    return helper(xs) * 2.0\n"
    names = written(text)
    f = settled(names["f"], [3.0])
    names["helper"] = written("def helper(xs):\n    xs[0] = xs[0] * 5.0\n    return xs[0]\n")["helper"]
    for _ in range(3):
        assert rl.gradient(f, [3.0]) == ([10.0],)


def written(text):
    """The names that a text of ours gives, which can be found again."""
    filename = f"<written {next(_COUNT)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"__name__": "__main__"}
    exec(compile(text, filename, "exec"), names)
    return names


_COUNT = itertools.count()


@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
@pytest.mark.parametrize("x", [0.7, -1.5, 0.0])
def test_powers_of_numbers_of_unknown_kind(kind, n, x):
    """Whole powers, asked at run time, have the slopes of the rule, also at 0."""

    def f(xs, n):
        return xs[0] ** n

    if x == 0.0 and n < 0:
        return
    for _ in range(3):
        (slope,), _ = rl.gradient(f, [kind(x)], n)
        assert slope == (n * x ** (n - 1) if n else 0.0)


@pytest.mark.parametrize(
    "of", ["xs[0] + n", "n + xs[0]", "xs[0] - n", "n - xs[0]", "xs[0] * n", "n * xs[0]", "n / xs[0]"]
)
def test_whole_numbers_beside_others(of):
    """A whole number beside a float whose kind is told at run time: the same numbers as with a float."""
    f = written(f"def f(xs, n):\n    return {of}\n")["f"]
    for n in (3, 0, True, 2**70):
        for _ in range(3):
            found = rl.gradient(f, [2.0], n)[0]
        assert found == rl.gradient(f, [2.0], float(n))[0] and type(found[0]) is float


@pytest.mark.parametrize("count", [1, 2])
def test_rules_by_type_of_every_argument(count):
    """The rule that is for arrays is asked for no number, and the other way round."""
    f = (lambda x: np.sum(x)) if count == 1 else (lambda x, y: np.sum(x) * y)
    nothing = [rl.ZeroTangent()] * (count - 1)

    @rl.rrule_for(f)
    def of_array(x: np.ndarray, *rest):
        return 1.0, lambda y_bar: (rl.NoTangent(), np.full(3, 5.0), *nothing)

    @rl.rrule_for(f)
    def of_float(x: float, *rest):
        return 1.0, lambda y_bar: (rl.NoTangent(), 7.0, *nothing)

    rest = (2.0,) * (count - 1)
    for _ in range(2):
        assert rl.gradient(settled(f, X, *rest), 2.0, *rest)[0] == 7.0
        assert rl.gradient(settled(f, 2.0, *rest), X, *rest)[0][0] == 5.0


def way_of(f, *args, **changes):
    """The quickest way of a function, made of an entry in which something is changed."""
    known = settled(f, *args).__dict__[KEPT]
    entry = dataclasses.replace(next(iter(known.entries.values())), **changes)
    return fast_gradient._way(known, entry, args, DEFAULT)


@pytest.mark.parametrize("xs", [(X,), (X, X)], ids=["one", "two"])
def test_a_rule_that_is_gone_is_not_asked(xs):
    """Another thread may take it away between the look at the registry and the call."""
    f = doubled() if len(xs) == 1 else product()
    assert way_of(f, *xs)(f, *xs) is not None
    assert way_of(f, *xs, rule=lambda: None)(f, *xs) is None


@pytest.mark.parametrize("own", [None, 0.0, 1.0, X, rl.ZeroTangent(), rl.NoTangent()], ids=repr)
@pytest.mark.parametrize("xs", [(X,), (X, X), (2.0,), (2.0, 3.0)], ids=["one", "two", "number", "numbers"])
def test_what_a_rule_says_of_the_function_itself_is_looked_at(own, xs):
    """What is not a cotangent of a function is refused on the quick way as on the slow one."""
    said = [rl.NoTangent()]
    f = (lambda x: np.sum(x)) if len(xs) == 1 else (lambda x, y: np.sum(x * y))
    rl.rrule_for(f)(lambda *xs: (1.0, lambda y_bar: (said[0], *[1.0 * x for x in xs])))
    settled(f, *xs)
    said[0] = own
    found = [outcome(f, *xs), outcome(f, *xs, argnums=tuple(range(len(xs))))]
    np.testing.assert_equal(*found)


def outcome(f, *xs, **words):
    """A gradient, or what was raised instead."""
    try:
        return rl.gradient(f, *xs, **words)
    except rl.RuleLabError as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize(
    "answer",
    [
        lambda *xs: 1.0,
        lambda *xs: (1.0, None),
        lambda *xs: [1.0, lambda y_bar: (rl.NoTangent(), *xs)],
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *xs), 2.0),
        lambda *xs: (X, lambda y_bar: (rl.NoTangent(), *xs)),
        lambda *xs: (1, lambda y_bar: (rl.NoTangent(), *xs)),
        lambda *xs: (1j, lambda y_bar: (rl.NoTangent(), *xs)),
        lambda *xs: (1.0, functools.partial(lambda xs, y_bar: (rl.NoTangent(), *xs), xs)),
        lambda *xs: (1.0, lambda y_bar: xs),
        lambda *xs: (1.0, lambda y_bar: [rl.NoTangent(), *xs]),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *xs, 1.0)),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[[1.0]] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[np.float64(1.0)] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[1.0] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[np.ones(2)] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[np.ones((1, 3))] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[np.ones(3)[None][0]] * len(xs))),
        lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[None] * len(xs))),
    ],
)
@pytest.mark.parametrize("xs", [(X,), (X, X + 1), (2.0,), (2.0, 3.0), (X, 2.0), (2.0, X)], ids=repr)
def test_whatever_a_rule_answers_is_taken_as_on_the_slow_way(answer, xs):
    """The same gradient, or the same words of what is wrong, of a rule that was right so far."""
    now = [lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *[1.0 * x for x in xs]))]
    f = (lambda x: np.sum(x)) if len(xs) == 1 else (lambda x, y: np.sum(x * y))
    rl.rrule_for(f)(lambda *xs: now[0](*xs))
    settled(f, *xs)
    now[0] = answer
    found, wanted = outcome(f, *xs), outcome(f, *xs, argnums=tuple(range(len(xs))))
    assert str(found) == str(wanted)
    for got, other in zip(found, wanted, strict=True):
        assert type(got) is type(other)
        assert not isinstance(got, np.ndarray) or not any(np.shares_memory(got, x) for x in (X, *xs))


class Odd(np.ndarray):
    """An array of a class of one's own."""


@pytest.mark.parametrize("count", [1, 2])
def test_cotangents_of_other_classes_become_plain_arrays(count):
    """Though they are new, writable and of the right shape."""
    odd = [False]

    def bar(x):
        found = Odd(3) if odd[0] else np.empty(3)
        found[...] = x
        return found

    f = (lambda x: np.sum(x)) if count == 1 else (lambda x, y: np.sum(x * y))
    rl.rrule_for(f)(lambda *xs: (1.0, lambda y_bar: (rl.NoTangent(), *map(bar, xs))))
    xs = (X,) * count
    settled(f, *xs)
    odd[0] = True
    assert [type(found) for found in rl.gradient(f, *xs)] == [np.ndarray] * count


@pytest.mark.parametrize("xs", [(2.0,), (2.0, 3.0)], ids=["one", "two"])
def test_the_sweep_is_left(at_once, xs):
    """Also by a pass that makes lists, and where it raises."""

    def one(x):
        items = [x, 1.0]
        items.append(1.0 / items.pop(0))
        return items[1] * 2.0

    def two(x, y):
        items = [x, y]
        items.append(1.0 / items.pop(0))
        return items[1] * items[0]

    f = settled(one if len(xs) == 1 else two, *xs)
    at_once(f, *xs)
    assert heap._STATE.here.depth == 0
    with pytest.raises(ZeroDivisionError):
        at_once(f, 0.0, *xs[1:])
    assert heap._STATE.here.depth == 0


@pytest.mark.parametrize("kind", ["i8", "i4", "f4", ">f8"])
def test_arrays_of_any_dtype_beside_one_of_numbers(at_once, kind):
    x, beside = np.arange(6.0).reshape(2, 3), np.array([1, 0]).astype(kind)

    def rows(x, beside):
        return np.sum(x[beside.astype(int)] * x[beside.astype(int)])

    wanted = rl.pullback(rows, x, beside)[1](1.0)
    settled(rows, x, beside)
    np.testing.assert_array_equal(at_once(rows, x, beside)[0], wanted[0])
    np.testing.assert_array_equal(at_once(rows, x, beside.copy())[0], wanted[0])
    other = np.array([0, 1]).astype(kind)
    np.testing.assert_array_equal(rl.gradient(rows, x, other)[0], rl.pullback(rows, x, other)[1](1.0)[0])


def weighed(w, x, b):
    return np.sum(w * x * x) + b * w[0]


@pytest.mark.parametrize("argnums", [0, 2, -2, (0,), (2, 0), (1, -1), (0, 1, 2)], ids=str)
def test_chosen_arguments(at_once, argnums):
    args = (np.array([1.0, 3.0]), np.array([2.0, -1.0]), 0.5)
    whole = rl.gradient(weighed, *args)
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    for _ in range(3):
        rl.gradient(weighed, *args, argnums=argnums)
    found = at_once(weighed, *args, argnums=argnums)
    assert len(found) == len(chosen)
    for number, bar in zip(chosen, found):
        np.testing.assert_array_equal(bar, whole[number])
        assert type(bar) is type(whole[number]) and bar is not args[number]


def test_other_chosen_arguments_go_another_way():
    def product(a, b, c=1.0):
        return a * b * c

    both = (0, 1)
    for _ in range(3):
        assert rl.gradient(product, 2.0, 3.0, argnums=both) == (3.0, 2.0)
    assert rl.gradient(product, 2.0, 3.0, argnums=(1, 0)) == (2.0, 3.0)
    assert rl.gradient(product, 2.0, 3.0, argnums=1) == (2.0,)
    assert rl.gradient(product, 2.0, 3.0, 5.0, argnums=both) == (15.0, 10.0)
    assert rl.gradient(product, 2, 3.0, argnums=both) == (3.0, 2.0)
    assert rl.gradient(product, 2.0, 3.0, argnums=both) == (3.0, 2.0)


def test_a_rule_counts_for_chosen_arguments():
    def inner(x):
        return x * 2.0

    def outer(x, y):
        return inner(x) * y

    for _ in range(3):
        assert rl.gradient(outer, 3.0, 5.0, argnums=0) == (10.0,)

    @rl.rrule_for(inner)
    def inner_rrule(x):
        return inner(x), lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)

    for _ in range(4):
        assert rl.gradient(outer, 3.0, 5.0, argnums=0) == (35.0,)

    @rl.rrule_for(outer)
    def outer_rrule(x, y):
        return outer(x, y), lambda y_bar: (rl.NoTangent(), 1.0 * y_bar, 2.0 * y_bar)

    for _ in range(4):
        assert rl.gradient(outer, 3.0, 5.0, argnums=0) == (1.0,)
        assert rl.gradient(outer, 3.0, 5.0, argnums=1) == (2.0,)


# --- arguments with parts ---


PARTS = {
    **STRUCTURES,
    "a tuple": (lambda t, x: t[0] * t[1] * x, ((2.0, 3.0), 4.0), ((12.0, 8.0), 6.0)),
    "three": (lambda t, x, y: t[0] * x + y, ([2.0], 3.0, 1.0), ([3.0], 2.0, 1.0)),
    "layers": (
        lambda layers, x: np.sum(layers[0]["w"] * x + layers[0]["b"]),
        ([{"w": X, "b": 1.0}], X),
        ([{"w": X, "b": 3.0}], X),
    ),
}


@pytest.mark.parametrize("kind", PARTS)
def test_parts_go_at_once(at_once, kind):
    """Arguments that are only read: numbers and arrays in lists, tuples and dicts, and the same numbers."""
    f, args, wanted = PARTS[kind]
    settled(f, *args)
    for _ in range(3):
        np.testing.assert_equal(at_once(f, *args), wanted)
    last = len(args) - 1
    for argnums in (0, -1, (last, 0)):
        for _ in range(3):
            rl.gradient(f, *args, argnums=argnums)
        chosen = [argnums] if isinstance(argnums, int) else argnums
        np.testing.assert_equal(at_once(f, *args, argnums=argnums), tuple([wanted[k] for k in chosen]))


def first(t):
    return t[0] * FACTOR


def test_what_a_way_for_parts_relies_on():
    """Globals, rules, marks, code, and whose function it is."""
    f = settled(types.FunctionType(first.__code__, {"FACTOR": 2.0}), [3.0])
    f.__globals__["FACTOR"] = 5.0
    assert rl.gradient(f, [3.0]) == ([5.0],)

    f.__globals__["FACTOR"] = 2.0
    rl.rrule_for(f)(lambda t: (f(t), lambda y_bar: (rl.NoTangent(), [7.0 * y_bar])))
    assert rl.gradient(f, [3.0]) == ([7.0],)
    rl.remove_rule(f)
    assert rl.gradient(f, [3.0]) == ([2.0],)

    wrapped = functools.wraps(f)(lambda t: t[0] * 9.0)
    settled(f, [3.0])
    assert rl.gradient(wrapped, [3.0]) == ([9.0],) and rl.gradient(f, [3.0]) == ([2.0],)
    f.__code__ = (lambda t: t[0] * 11.0).__code__
    assert rl.gradient(f, [3.0]) == ([11.0],)


def test_other_parts_go_another_way():
    """Another structure, another number of arguments, kinds and shapes of which nothing is known yet."""
    f = settled(lambda t, x=2.0: np.sum(t[0]) * x, [X], 3.0)
    for _ in range(4):
        np.testing.assert_equal(rl.gradient(f, [X], 3.0), ([3.0 * np.ones(3)], np.sum(X)))
        np.testing.assert_equal(rl.gradient(f, [X[:2]], 3.0), ([3.0 * np.ones(2)], np.sum(X[:2])))
        assert rl.gradient(f, [2.0], 3.0) == ([3.0], 2.0)
        assert rl.gradient(f, (2.0,), 3.0) == ((3.0,), 2.0)
        assert rl.gradient(f, [2.0])[0] == [2.0]
        np.testing.assert_equal(rl.gradient(f, [X], 3), ([3.0 * np.ones(3)], np.sum(X)))
    with pytest.raises(TypeError):
        rl.gradient(f, [X], 3.0, 4.0)


def test_what_a_way_for_parts_does_not_find():
    """An error is that of the function, and a zero that of the sweeps on containers. The pass for parts runs
    once before them, and not again on the way of calls without a note.
    """
    f = settled(lambda t: 1.0 / t[0] + 0.0 * t[1], [2.0, 3.0])
    with pytest.raises(ZeroDivisionError):
        rl.gradient(f, [0.0, 3.0])

    g, heard = settled(lambda t: np.sum(1.0 / t[0]) + 0.0 * t[1], [X, 3.0]), []
    with np.errstate(divide="call", call=lambda *what: heard.append(what)):
        rl.gradient(g, [np.array([0.0, 1.0]), 3.0], cache=Cache())
        alone = len(heard)
        found = rl.gradient(g, [np.array([0.0, 1.0]), 3.0])
    assert found[0][1] == 0.0 and 0 < len(heard) - alone <= 2 * alone

    for argnums in (0, (1, 0)):
        h = lambda t, x: 1.0 / t[0] * x + 0.0 * t[1]
        for _ in range(4):
            wanted = rl.gradient(h, [2.0, 3.0], 5.0, argnums=argnums, cache=Cache())
            assert rl.gradient(h, [2.0, 3.0], 5.0, argnums=argnums) == wanted
            with pytest.raises(ZeroDivisionError):
                rl.gradient(h, [0.0, 3.0], 5.0, argnums=argnums)


def test_nothing_is_done_twice_within_another_derivative():
    """Within a rule that is asked there is one derivative more around it."""
    f = settled(lambda t: t[0] * t[0], [3.0])
    outer = ruled(lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), rl.gradient(f, [2.0])[0][0] * x)))
    for _ in range(3):
        np.testing.assert_array_equal(rl.gradient(settled(outer, X), X)[0], 4.0 * X)


def test_parts_in_other_modes():
    """In debug mode, in manual mode and after a cache has dropped its passes another way answers."""
    f = settled(lambda t: t[0] * t[0], [3.0])
    way = f.__dict__[KEPT].of_one
    assert way(f, [3.0]) == ([6.0],)
    refresh("manual")
    try:
        assert way(f, [3.0]) is None and rl.gradient(f, [3.0]) == ([6.0],)
    finally:
        refresh("auto")
    settled(f, [3.0])
    way = f.__dict__[KEPT].of_one
    DEFAULT.drop_passes()
    assert way(f, [3.0]) is None and rl.gradient(f, [3.0]) == ([6.0],)
    settled(f, [3.0])
    f.mark = "something of the author's"
    assert f.__dict__[KEPT].of_one(f, [3.0]) is None and rl.gradient(f, [3.0]) == ([6.0],)


SCALE = np.float64(2.0)


def of_numpys(x):
    return math.sin(x) * SCALE


def of_pythons(x):
    return math.sin(x) * x if x > 0 else -x


def of_no_path(x):
    return 1.5


@pytest.mark.parametrize("x", [0.3, -0.3, np.float64(0.3), np.float64(-0.3), 1])
@pytest.mark.parametrize("f", [of_numpys, of_pythons, of_no_path])
def test_gradients_of_numbers_are_those_of_the_two_sweeps(at_once, f, x):
    """Bit by bit, and of the kind of the argument, also where NumPy's numbers come in between."""
    _, back = rl.pullback(f, x)
    (wanted,) = back(1.0)
    settled(f, x)
    (found,) = at_once(f, x)
    assert type(found) is type(wanted) and repr(found) == repr(wanted)


def test_a_name_that_changes_is_seen_by_a_way_of_numbers(monkeypatch):
    """A global, a builtin that is hidden, and an attribute of a module."""
    f = settled(of_numpys, 0.3)
    monkeypatch.setitem(globals(), "SCALE", np.float64(5.0))
    assert rl.gradient(f, 0.3)[0] == 5.0 * math.cos(0.3)
    monkeypatch.setattr(math, "sin", math.cos)
    assert rl.gradient(f, 0.3)[0] == pytest.approx(-5.0 * math.sqrt(1 - math.cos(0.3) ** 2))
    monkeypatch.undo()
    assert rl.gradient(f, 0.3)[0] == 2.0 * math.cos(0.3)

    def g(x):
        return abs(x) * x

    settled(g, -2.0)
    monkeypatch.setitem(globals(), "abs", lambda x: 3.0 * x)
    assert rl.gradient(g, -2.0)[0] == -12.0
    monkeypatch.delitem(globals(), "abs")
    assert rl.gradient(g, -2.0)[0] == 4.0


@pytest.mark.parametrize("count", [1, 2])
def test_an_array_that_a_pass_has_made_is_handed_over_uncopied(monkeypatch, at_once, count):
    """Also where the pass does not vouch for it: nobody else has it, as a count of references shows."""

    def one(x):
        return np.sum(x + 1)

    def two(x, y):
        return np.sum(x + 1) * np.sum(y + 1)

    f, args = (one, two)[count - 1], (X, X.copy())[:count]
    settled(f, *args)

    def refuse(*_):
        raise AssertionError("it was copied")

    monkeypatch.setattr(natural, "to_natural", refuse)
    for found in at_once(f, *args):
        assert found.base is None and found.flags.writeable


def test_the_first_argument_has_no_name():
    """All arguments of the function are in `*args`, and its keywords may have any name."""

    def f(x=3.0, f=2.0):
        return f * x * x

    parameters = inspect.signature(rl.gradient).parameters
    assert [*parameters] == ["f", "args", "argnums", "cache", "kwargs"]
    for _ in range(4):
        assert rl.gradient(f, 3.0) == (12.0,)
    assert rl.gradient(f, 3.0, f=5.0) == (30.0,)
    assert (
        rl.gradient(f) == rl.gradient(f, f=2.0) == rl.gradient(f, x=3.0) == rl.gradient(f, argnums=()) == ()
    )
    assert rl.gradient(f, 3.0, argnums=0) == (12.0,)
    with pytest.raises(rl.RuleLabError, match="float cannot be called"):
        rl.gradient(3.0, f=f)
    with pytest.raises(TypeError, match="'f'"):
        rl.gradient(f=f)


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda v: v[0] * v[0] + v[1], (X,)),
        (lambda v, w: np.sum(v * w * w), (X, X + 1.0)),
        (lambda v, w, u: np.sum(v * w * u), (X, X + 1.0, X - 2.0)),
        (lambda p: np.sum(p[0] * p[1]), ([X, X + 1.0],)),
        (lambda v: np.sum(v * v) / v[0], (X,)),
    ],
)
def test_without_the_value_the_gradient_is_the_same(f, args):
    """Bit by bit, by every way, and so are its warnings, which the value alone may give."""
    settled(f, *args)
    for _ in range(3):
        for one, other in zip(rl.gradient(f, *args), rl.withgradient(f, *args).grad, strict=True):
            assert np.array_equal(one, other)
    huge = [x * 1e200 if type(x) is np.ndarray else [part * 1e200 for part in x] for x in args]
    with warnings.catch_warnings(record=True) as alone, np.errstate(all="warn"):
        warnings.simplefilter("always")
        rl.gradient(f, *huge)
    with warnings.catch_warnings(record=True) as both, np.errstate(all="warn"):
        warnings.simplefilter("always")
        rl.withgradient(f, *huge)
    assert alone and sorted(str(w.message) for w in alone) == sorted(str(w.message) for w in both)
