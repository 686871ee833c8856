"""B1 to B12: mutation, aliasing, repeated calls. Right, or a typed refusal.

Elsewhere: B2, B3, B4 and B12 in tests/compiler/test_hazards.py and test_ownership.py, B1 and B6 for arguments
and views in tests/ad/test_pullback.py, B9 for thunks by themselves in tests/tangents/test_thunks.py. Not here
yet: B5, B7 and B8 as verdicts on a rule, which are for a checker of rules to give.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutatedAfterCaptureError, RuleLabError

X = np.array([1.0, -2.0, 0.5])


def ruled(pullback_of):
    """A function with derivative 2x whose rule makes its pullback by `pullback_of(x)`."""

    def f(x):
        return np.sum(x * x)

    rl.rrule_for(f)(lambda x: (np.sum(x * x), pullback_of(x)))
    return f


class Kept:
    """A pullback that is an object and holds the array."""

    def __init__(self, x):
        self.x = x

    def __call__(self, y_bar):
        return rl.NoTangent(), 2.0 * self.x * y_bar


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def __call__(self, y_bar):
        return rl.NoTangent(), 2.0 * self.x * y_bar


HOLDERS = {
    "closure": lambda x: lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar),
    "object": Kept,
    "slots": Slotted,
    "method": lambda x: Kept(x).__call__,
    "default": lambda x: lambda y_bar, x=x: (rl.NoTangent(), 2.0 * x * y_bar),
    "dict": lambda x: (lambda held: lambda y_bar: (rl.NoTangent(), 2.0 * held["x"] * y_bar))({"x": x}),
    "inside": lambda x: (lambda held: lambda y_bar: (rl.NoTangent(), 2.0 * held.x * y_bar))(Kept(x)),
}


@pytest.mark.parametrize("holder", list(HOLDERS))
def test_b1_array_that_a_rule_kept(holder):
    """An array that a rule's pullback holds, in any way, and that changed: the old answer or an error."""
    f = ruled(HOLDERS[holder])
    for g in (f, lambda v: f(v) * 1.0):
        x = X.copy()
        _, back = rl.pullback(g, x)
        x[:] = 7.0
        try:
            found = back(1.0)[0]
        except MutatedAfterCaptureError:
            continue
        np.testing.assert_array_equal(found, 2.0 * X)


@pytest.mark.parametrize("holder", ["closure", "object", "slots", "method", "default", "dict", "inside"])
def test_b1_captured_array_that_a_rule_kept(holder):
    """The same for an array that is no argument."""
    w = X.copy()

    def f(x):
        return np.sum(w * w) * x

    def stated(x):
        inner = HOLDERS[holder](w)
        return np.sum(w * w) * x, lambda y_bar: (rl.NoTangent(), float(np.sum(inner(y_bar)[1])))

    rl.rrule_for(f)(stated)
    _, back = rl.pullback(f, 3.0)
    w[:] = 7.0
    try:
        assert back(1.0) == (float(np.sum(2.0 * X)),)
    except MutatedAfterCaptureError:
        pass


@pytest.mark.parametrize("holder", list(HOLDERS))
def test_b6_called_twice(holder):
    """`back` called again gives the same; twice the seed gives twice the gradient."""
    _, back = rl.pullback(ruled(HOLDERS[holder]), X.copy())
    once, again, twice = back(1.0)[0], back(1.0)[0], back(2.0)[0]
    assert np.array_equal(once, again) and np.array_equal(2.0 * once, twice)
    assert not np.shares_memory(once, again)


BUFFER = np.zeros(3)


def two(pullback):
    def f(x, y):
        return x + y

    rl.rrule_for(f)(lambda x, y: (x + y, lambda y_bar: (rl.NoTangent(), *pullback(x, y, y_bar))))
    return f


def into_buffer(y_bar):
    BUFFER[:] = y_bar
    return BUFFER


def read_only(y_bar):
    shown = y_bar.view()
    shown.flags.writeable = False
    return shown


SHARERS = {
    "one array twice": lambda x, y, y_bar: (lambda s: (s, s))(1.0 * y_bar),
    "the seed": lambda x, y, y_bar: (y_bar, y_bar),
    "a kept buffer": lambda x, y, y_bar: (into_buffer(y_bar), 1.0 * y_bar),
    "a read-only view": lambda x, y, y_bar: (read_only(y_bar), read_only(y_bar)),
    "a broadcast": lambda x, y, y_bar: (np.broadcast_to(y_bar, y_bar.shape), y_bar[:]),
}


@pytest.mark.parametrize("sharer", list(SHARERS))
def test_b5_rules_that_share_what_they_return(sharer):
    """What a rule returns is copied before anything is added to it, and before a caller gets it."""
    f = two(SHARERS[sharer])

    def twice_over(x, y):
        z = f(x, y)
        return np.sum(f(z, x) * X) + np.sum(f(x, x)) + np.sum(z * X)

    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    for _ in range(2):
        x_bar, y_bar = rl.gradient(twice_over, x, y)
        np.testing.assert_allclose(x_bar, 3.0 * X + 2.0)
        np.testing.assert_allclose(y_bar, 2.0 * X)
        assert not np.shares_memory(x_bar, y_bar)
        x_bar[:], y_bar[:] = np.nan, np.nan
    _, back = rl.pullback(f, x, y)
    seed = np.ones(3)
    for entry in back(seed):
        assert not np.shares_memory(entry, seed)
        entry[:] = np.nan
    assert seed.tolist() == [1.0] * 3 and back(seed)[1].tolist() == [1.0] * 3


def test_b5_rule_that_returns_an_input():
    """A rule whose cotangent is its argument itself: the argument is not written to, nor handed out."""

    def half_square(x):
        return np.sum(x * x) / 2.0

    rl.rrule_for(half_square)(lambda x: (np.sum(x * x) / 2.0, lambda y_bar: (rl.NoTangent(), x)))
    x = X.copy()
    (x_bar,) = rl.gradient(lambda v: half_square(v) + half_square(v), x)
    assert np.array_equal(x_bar, 2.0 * X) and np.array_equal(x, X) and not np.shares_memory(x, x_bar)


def test_b8_pullback_that_writes_in_the_seed():
    """A rule's pullback that scales its seed in place: the other users of that cotangent are not hurt, or it
    is refused.
    """

    def scaled(x):
        return 3.0 * x

    def pullback(y_bar):
        y_bar *= 3.0
        return rl.NoTangent(), y_bar

    rl.rrule_for(scaled)(lambda x: (3.0 * x, pullback))

    def f(x):
        y = x * 2.0
        return np.sum((scaled(y) + y) * X)

    for _ in range(2):
        try:
            found = rl.gradient(f, X.copy())[0]
        except (RuleLabError, ValueError):
            continue
        np.testing.assert_allclose(found, 8.0 * X)
    seed = np.ones(3)
    _, back = rl.pullback(scaled, X.copy())
    try:
        np.testing.assert_allclose(back(seed)[0], 3.0)
    except (RuleLabError, ValueError):
        pass
    assert seed.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x),
        lambda x: np.sum(x * x),
        lambda x: x[0] * x[1],
        lambda x: np.sum(x.reshape(3, 1)),
    ],
)
def test_b10_gradient_edited_by_the_caller(f):
    """Editing a gradient in place changes neither the next one nor the argument."""
    x = X.copy()
    first = rl.gradient(f, x)[0]
    wanted = first.copy()
    first[:] = np.nan
    assert np.array_equal(rl.gradient(f, x)[0], wanted) and np.array_equal(x, X)


def test_b11_one_array_as_two_arguments():
    """The same array given twice, and twice in a list: one cotangent for each place, sharing nothing."""
    first, second = rl.gradient(lambda a, b: np.sum(a * a * b), X, X)
    np.testing.assert_allclose(first, 2.0 * X * X)
    np.testing.assert_allclose(second, X * X)
    (items,) = rl.gradient(lambda xs: np.sum(xs[0] * xs[0] * xs[1]), [X, X])
    np.testing.assert_allclose(items[0], 2.0 * X * X)
    np.testing.assert_allclose(items[1], X * X)
    for a, b in ((first, second), items):
        assert not np.shares_memory(a, b)
