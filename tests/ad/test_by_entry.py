"""A call with keywords, or with parameters left to their defaults, goes by an entry from the second time on,
and gives what it gave the first time.
"""

import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad import reverse
from rulelab.compiler.calls.cache import Cache

from ..differences import gradient_by_differences

X, W = np.array([1.0, -2.0, 3.0]), np.array([0.5, 2.0, -1.0])
pytestmark = pytest.mark.usefixtures("as_users_run_it")


@pytest.fixture
def by_entry(monkeypatch):
    """Calls gradient where only an entry may answer."""

    def ask(f, *args, **options):
        def refuse(*_, **__):
            raise AssertionError("no entry answered")

        with monkeypatch.context() as patch:
            patch.setattr(reverse, "_value_and_gradient", refuse)
            return rl.gradient(f, *args, **options)

    return ask


def weighted(x, *, weights, power=2):
    return np.sum(weights * x**power)


def with_default(x, scale=3.0):
    return np.sum(np.sin(scale * x))


def mixed(x, y, scale=2.0, *, shift=0.5):
    return np.sum(x * y) * scale + np.sum(np.exp(shift * x))


def branching(x, *, mode):
    return x * x if mode == "square" else x + 1.0


def test_keywords_go_by_an_entry(by_entry):
    """Keyword-only parameters, defaults and parameters named out of order: the second call is looked up, and
    agrees with differences.
    """
    calls = (
        (weighted, (X,), {"weights": W}),
        (weighted, (X,), {"power": 3, "weights": W}),
        (with_default, (X,), {"scale": 0.7}),
        (mixed, (X, W), {"shift": 0.1}),
        (mixed, (X, W), {"shift": 0.1, "scale": -1.0}),
        (mixed, (X, W), {}),
        (mixed, (X,), {"y": W}),
    )
    for f, args, words in calls:
        first = rl.gradient(f, *args, **words)
        second = by_entry(f, *args, **words)
        assert len(second) == len(args)
        for number, (a, b) in enumerate(zip(first, second)):
            np.testing.assert_array_equal(a, b)
            along = lambda x, n=number: f(*args[:n], x, *args[n + 1 :], **words)  # noqa: B023
            np.testing.assert_allclose(b, gradient_by_differences(along, args[number]), rtol=1e-6, atol=1e-7)


def test_each_call_has_its_own_values(by_entry):
    """An entry depends on the kinds of what is given, and on nothing that it was."""
    rl.gradient(weighted, X, weights=W)
    np.testing.assert_allclose(by_entry(weighted, X, weights=2 * W)[0], 4 * W * X)
    np.testing.assert_allclose(by_entry(weighted, 2 * X, weights=W, power=2)[0], 4 * W * X)
    rl.gradient(branching, 3.0, mode="square")
    assert by_entry(branching, 3.0, mode="square") == (6.0,)
    assert by_entry(branching, 3.0, mode="other") == (1.0,)


def test_another_default_counts(by_entry):
    """A default that was changed is the one that is taken."""

    def scaled(x, scale=3.0, *, power=2):
        return scale * x**power

    rl.gradient(scaled, 2.0)
    assert rl.gradient(scaled, 2.0) == (12.0,)
    scaled.__defaults__ = (5.0,)
    assert rl.gradient(scaled, 2.0) == (20.0,)
    scaled.__kwdefaults__ = {"power": 3}
    assert rl.gradient(scaled, 2.0) == (60.0,)
    assert rl.gradient(scaled, 2.0, power=1) == (5.0,)


def dotted(x, *, w):
    return np.sum(np.asarray(w) * x)


def test_other_kinds_go_the_slow_way():
    """A keyword of another kind has a pass of its own; what may hold something is looked at each time."""
    assert rl.gradient(branching, 3.0, mode=None) == (1.0,)
    for w in (W, W.astype(np.float32), list(W), tuple(W), 2.0, 2, W[:1]):
        for _ in range(2):
            wanted = np.broadcast_to(np.asarray(w, float), 3)
            np.testing.assert_allclose(rl.gradient(dotted, X, w=w)[0], wanted)
            np.testing.assert_allclose(rl.withgradient(dotted, X, w=w).grad[0], wanted)


def test_a_rule_counts_from_the_moment_it_is_there():
    """A rule for the function, and one that goes, are noticed by calls with keywords."""

    def cube(x, *, scale=1.0):
        return scale * x**3

    assert [rl.gradient(cube, 2.0, scale=0.5) for _ in range(2)] == [(6.0,)] * 2

    @rl.rrule_for(cube)
    def cube_rrule(x, *, scale=1.0):
        return scale * x**3, lambda y_bar: (rl.NoTangent(), 100.0 * scale * y_bar)

    assert rl.gradient(cube, 2.0, scale=0.5) == (50.0,)


def outer(x, *, k):
    return k * inner(x)


def inner(x):
    return x * x


def test_a_function_that_is_defined_again_counts(monkeypatch):
    """A function that a global names is the one that it names now, also where it was inlined."""
    assert [rl.gradient(outer, 3.0, k=2.0) for _ in range(2)] == [(12.0,)] * 2
    monkeypatch.setitem(globals(), "inner", np.exp)
    np.testing.assert_allclose(rl.gradient(outer, 3.0, k=2.0)[0], 2.0 * np.exp(3.0))


def test_calls_that_do_not_fit_say_so():
    """Python's own errors, before and after there are entries."""
    for _ in range(2):
        for args, words in (
            ((X,), {}),
            ((X,), {"weights": W, "other": 1.0}),
            ((X, W), {}),
            ((X,), {"x": X, "weights": W}),
            ((), {"weights": W}),
        ):
            with pytest.raises((TypeError, rl.RuleLabError)):
                rl.gradient(weighted, *args, **words)
        rl.gradient(weighted, X, weights=W)
    with pytest.raises(TypeError):
        rl.gradient(weighted, X, W, argnums=0)  # weights goes by name only


def only_by_position(x, /, k=2.0):
    return k * x * x


def test_parameters_by_position_only():
    """A parameter that goes by position only is not found by its name."""
    assert [rl.gradient(only_by_position, 3.0, k=1.0) for _ in range(2)] == [(6.0,)] * 2
    with pytest.raises((TypeError, rl.RuleLabError)):
        rl.gradient(only_by_position, x=3.0, k=1.0)


def test_argnums_beside_keywords(by_entry):
    """Some of the arguments by position, the keyword a constant."""
    for argnums, wanted in ((0, (2.0 * W,)), (1, (2.0 * X,)), ((1, 0), (2.0 * X, 2.0 * W)), (-1, (2.0 * X,))):
        rl.gradient(mixed, X, W, argnums=argnums, shift=0.0)
        found = by_entry(mixed, X, W, argnums=argnums, shift=0.0)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b)

    def named(x, argnums):
        return x * argnums

    for _ in range(2):
        with pytest.raises(rl.KeywordError):
            rl.gradient(named, 2.0, 3.0, argnums=0, cache=Cache())


def test_no_path_is_none(by_entry):
    """An argument that nothing leads from is None, one with a slope of zero is zeros."""

    def f(x, n, *, k):
        return np.sum(x * 0.0) * k + n

    rl.gradient(f, X, True, k=2.0)
    found = by_entry(f, X, True, k=2.0)
    np.testing.assert_array_equal(found[0], np.zeros(3))
    assert found[1] is None


def test_the_result_is_the_callers(by_entry):
    """Two gradients share no memory, with each other or with what was given."""
    rl.gradient(mixed, X, W, shift=0.2)
    first, second = by_entry(mixed, X, W, shift=0.2), by_entry(mixed, X, W, shift=0.2)
    first[0][:] = 0.0
    assert not np.array_equal(first[0], second[0])
    assert not np.may_share_memory(second[1], X)


def test_warnings_are_those_of_the_function():
    """A division by zero warns at each call."""

    def divided(x, *, by):
        return np.sum(x / by)

    for _ in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            rl.gradient(divided, X, by=np.zeros(3))
        assert any("divide by zero" in str(one.message) for one in told)
