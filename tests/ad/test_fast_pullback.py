"""The quick way of `pullback` gives what the slow way gives, and notices what that notices."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad import fast_pullback as quick
from rulelab.ad import reverse
from rulelab.errors import MutatedAfterCaptureError

X = np.array([1.0, -2.0, 3.0])
F = np.float64
pytestmark = pytest.mark.usefixtures("as_users_run_it")


@pytest.fixture
def at_once(monkeypatch):
    """`pullback` where only the quick way may answer."""

    def ask(f, *args):
        def refuse(*_):
            raise AssertionError("the quick way was not taken")

        with monkeypatch.context() as patch:
            patch.setattr(reverse, "_forward", refuse)
            return rl.pullback(f, *args)

    return ask


def slowly(f, *args):
    """`pullback` the slow way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reverse, "_AT_ONCE", False)
        return rl.pullback(f, *args)


def same(a, b):
    """Whether two results are of the same kinds, and equal."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.array_equal(a, b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0)


def product(a, b):
    return a * b


def energy(x):
    return (x * x).sum()


def scaled(x):
    return x * 2.0


def two(a, b):
    return a * b, a + b


def rest(a, *xs):
    p, q, r = xs
    return a * p + q * math.sin(r), p * q * r


def all_of_them(*xs):
    total = 0.0
    for x in xs:
        total = total * 0.5 + x * x
    return total


def unused(a, *xs):
    return a * xs[0]


def branch(a, b):
    if a > b:
        c = a * b
        return c * c
    d = a - b
    return d * d


def swapped(*xs):
    return xs


CASES = [
    (product, (2.0, 3.0), (1.0, 2, None, F(3.0), np.float32(2.0))),
    (product, (F(2.0), 3.0), (1.0, F(2.0))),
    (product, (2, 3.0), (1.0,)),
    (product, (X, 3.0), (X + 1, None)),
    (energy, (X,), (1.0, 2.0)),
    (energy, (X.astype(np.float32),), (1.0,)),
    (scaled, (X,), (X, [1.0, 2.0, 3.0])),
    (two, (2.0, 3.0), ((1.0, 0.0), (F(1.0), 2.0), (None, 1.0), [1.0, 2.0], (1, 2), None)),
    (two, (F(2.0), 3.0), ((1.0, 0.0), (None, 1.0))),
    (two, (X, X + 1), ((X, None), (X, X))),
    (rest, (1.0, 2.0, 3.0, 0.5), ((1.0, 0.0), (0.0, 1.0), (None, 1.0))),
    (rest, (F(1.0), 2.0, F(3.0), 0.5), ((1.0, 0.0), (0.0, 1.0))),
    (all_of_them, (1.0, 2.0, 3.0, 4.0), (1.0, 3.0)),
    (all_of_them, (X, 2.0), (X,)),
    (unused, (2.0, 3.0, 4.0), (1.0,)),
    (branch, (3.0, 2.0), (1.0,)),
    (branch, (2.0, 3.0), (1.0,)),
    (swapped, (1.0, 2.0), ((1.0, 2.0), (None, 1.0))),
]


@pytest.mark.parametrize("f, args, seeds", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_as_the_slow_way(at_once, f, args, seeds):
    """Value, cotangents, their kinds and dtypes, for each seed, twice; and the name of the pullback."""
    rl.pullback(f, *args)
    y, back = at_once(f, *args)
    wanted, slow = slowly(f, *args)
    assert same(y, wanted) and back.__name__ == slow.__name__
    for seed in (*seeds, *seeds):
        assert same(back(seed), slow(seed)), seed


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_arguments_is_another_call(count):
    """Of `*args`, each length has sweeps of its own."""
    for _ in range(2):
        xs = tuple(float(k) for k in range(1, count + 1))
        y, back = rl.pullback(all_of_them, *xs)
        assert y == all_of_them(*xs) and len(back(1.0)) == count


def test_seeds_are_checked():
    """A cotangent that is not one of the value is refused in the same words."""
    for f, args, seed in (
        (product, (2.0, 3.0), X),
        (two, (2.0, 3.0), (1.0, 2.0, 3.0)),
        (scaled, (X,), X[:2]),
    ):
        for _ in range(3):
            with pytest.raises(rl.RuleLabError) as found:
                rl.pullback(f, *args)[1](seed)
        with pytest.raises(rl.RuleLabError) as wanted:
            slowly(f, *args)[1](seed)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(
    "f, args", [(energy, (X,)), (two, (X, X + 1)), (lambda a, *xs: a * xs[0], (X, X + 1))]
)
def test_an_array_that_was_changed_is_noticed(at_once, f, args):
    """An argument that the pullback needs and that is written to before it is called."""
    rl.pullback(f, *args)
    args = tuple(x.copy() for x in args)
    y, back = at_once(f, *args)
    seed = 1.0 if np.ndim(y) == 0 and not isinstance(y, tuple) else (X, X) if isinstance(y, tuple) else X
    back(seed)
    args[0][1] = 7.0
    with pytest.raises(MutatedAfterCaptureError, match="float64"):
        back(seed)


WEIGHTS = np.array([1.0, 2.0, 3.0])


def test_a_global_array_that_was_changed_is_noticed(at_once):
    """So is one that the pass read in a module."""

    def f(x):
        return (x * x * WEIGHTS).sum()

    rl.pullback(f, X)
    _, back = at_once(f, X)
    WEIGHTS[0] += 1.0
    try:
        with pytest.raises(MutatedAfterCaptureError):
            back(1.0)
    finally:
        WEIGHTS[0] -= 1.0


def test_what_a_rule_keeps_is_watched_in_full():
    """A list that a rule's pullback holds is not a number or array: it is watched as ever."""
    kept = [2.0]

    def f(x):
        return x * kept[0]

    def f_rrule(x):
        held = kept
        return x * held[0], lambda y_bar: (rl.NoTangent(), y_bar * held[0])

    rl.rrule_for(f)(f_rrule)
    for _ in range(3):
        y, back = rl.pullback(f, 3.0)
        assert back(1.0) == (2.0,)
    kept[0] = 5.0
    with pytest.raises(MutatedAfterCaptureError):
        back(1.0)


def test_lists_that_a_pass_keeps_are_watched_in_full():
    """The tape of a loop is a list: what it holds is looked at the slow way, and arrays in it as well."""

    def f(x, n):
        s = x
        for _ in range(n):
            s = np.sin(s) * x
        return s.sum()

    for _ in range(3):
        x = X.copy()
        _, back = rl.pullback(f, x, 3)
        assert same(back(1.0), slowly(f, x, 3)[1](1.0))
    x[0] = 9.0
    with pytest.raises(MutatedAfterCaptureError):
        back(1.0)


def test_results_are_nobody_elses():
    """What a pullback gives may be written to, and is new each time."""
    _, back = [rl.pullback(scaled, X) for _ in range(3)][-1]
    first = back(X)[0]
    again = back(X)[0]
    assert first is not again and not np.shares_memory(first, again) and not np.shares_memory(first, X)
    seed = X.copy()
    _, through = [rl.pullback(lambda x: x * 1.0 if x.ndim else x, X) for _ in range(3)][-1]
    assert not np.shares_memory(through(seed)[0], seed)
    _, handed = [rl.pullback(lambda x, y: x, X, X) for _ in range(3)][-1]
    assert not np.shares_memory(handed(seed)[0], seed)


def test_rules_count_as_they_come_and_go():
    """A rule for the function or for what it calls takes part from the next call on."""

    def f(a, *xs):
        return halved(a) * xs[0]

    for _ in range(3):
        assert rl.pullback(f, 3.0, 2.0)[1](1.0) == (1.0, 1.5)
    rl.rrule_for(halved)(lambda x: (x / 2.0, lambda y_bar: (rl.NoTangent(), 5.0 * y_bar)))
    try:
        for _ in range(3):
            assert rl.pullback(f, 3.0, 2.0)[1](1.0) == (10.0, 1.5)
    finally:
        rl.remove_rule(halved)
    assert rl.pullback(f, 3.0, 2.0)[1](1.0) == (1.0, 1.5)
    rl.rrule_for(f)(lambda a, *xs: (a, lambda y_bar: (rl.NoTangent(), 8.0, 9.0)))
    assert rl.pullback(f, 3.0, 2.0)[1](1.0) == (8.0, 9.0)


def halved(x):
    return x / 2.0


def test_new_code_counts():
    """Code that is put into a function with `*args` takes part at once."""
    f = lambda a, *xs: a * xs[0]
    for _ in range(3):
        rl.pullback(f, 3.0, 2.0)
    f.__code__ = (lambda a, *xs: a + xs[0]).__code__
    assert rl.pullback(f, 3.0, 2.0)[1](1.0) == (1.0, 1.0)


def test_debug_mode_watches():
    """With the debug mode on, rules are watched."""
    kept = np.ones(3)

    def f(x):
        return x.sum()

    rl.rrule_for(f)(lambda x: (x.sum(), lambda y_bar: (rl.NoTangent(), kept)))
    for _ in range(3):
        rl.pullback(f, X)[1](1.0)
    with rl.debug_mode(), pytest.raises(rl.RuleEffectsError):
        rl.pullback(f, X)[1](1.0)


def test_effects_happen_once(capsys):
    """A function that prints does so once a call, and its effect is noticed."""

    def f(x, *xs):
        print("called")
        return x * xs[0]

    for _ in range(3):
        assert rl.pullback(f, 2.0, 3.0)[1](1.0) == (3.0, 2.0)
    capsys.readouterr()
    rl.pullback(f, 2.0, 3.0)
    assert capsys.readouterr().out == "called\n"


def test_errors_of_the_author_are_the_authors():
    """An error in the function comes out as it is, and the next call is as ever."""
    f = lambda a, *xs: a / xs[0]
    for _ in range(3):
        rl.pullback(f, 1.0, 2.0)
    with pytest.raises(ZeroDivisionError):
        rl.pullback(f, 1.0, 0.0)
    assert rl.pullback(f, 1.0, 2.0)[1](1.0) == (0.5, -0.25)


def test_levels_are_counted_once():
    """A rule and its pullback see one derivative around them."""
    seen = []

    def rule(x):
        seen.append(rl.nest_level())

        def back(y_bar):
            seen.append(rl.nest_level())
            return rl.NoTangent(), y_bar

        return x, back

    f = lambda x: x
    rl.rrule_for(f)(rule)
    for _ in range(3):
        rl.pullback(f, 1.0)[1](1.0)
    assert set(seen) == {1} and len(seen) == 6


def test_functions_with_rest_arguments_called_inside():
    """A call site that calls a function with `*args` goes by its sweeps, at each length, and deep within."""

    def inner(*xs):
        return xs[0] * xs[-1]

    def outer(a, b):
        return inner(a, b) + inner(a) + inner(b, a, a)

    for _ in range(3):
        assert rl.gradient(outer, 2.0, 3.0) == (3.0 + 4.0 + 3.0, 2.0 + 2.0)

    def down(n, *xs):
        return xs[0] if n == 0 else down(n - 1, xs[0] * 1.0, *xs[1:])

    for _ in range(2):
        assert rl.gradient(lambda x, y: down(50, x, y) * y, 2.0, 3.0) == (3.0, 2.0)


def test_helpers_of_a_pass_are_no_variables():
    """What is looked at between the sweeps is what the pass has computed, not what it is made of."""
    rl.pullback(rest, 1.0, 2.0, 3.0, 0.5)
    entry = reverse.PULLBACKS.entries.find(rest, (1.0, 2.0, 3.0, 0.5))
    _, inner = entry.whole(1.0, 2.0, 3.0, 0.5)
    assert quick.arrays_kept(entry, inner) == []
    (own_cells,) = entry.kept.values()
    assert 0 < len(own_cells(inner.__closure__)) < len(inner.__closure__)
