"""The quick way in gives what the slow way gives, notices every change, and keeps nothing alive."""

import gc
import weakref

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.entries import varies
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.compiler.memory import heap
from rulelab.compiler.memory.support import NO, ZERO

X = np.array([1.0, -2.0, 3.0])


@pytest.fixture
def pullbacks():
    """Pullbacks over a cache of their own."""
    return Pullbacks(Cache())


def run(pullbacks, f, *args):
    """Differentiate once by the slow way, which leaves an entry where there can be one."""
    pullbacks.find(f, args, {}, (False, *(True,) * len(args)), None)(*args)
    return pullbacks.entries.find(f, args)


def plain(x):
    return (x * x).sum()


def other(x):
    return (x * 5.0).sum()


def test_an_entry_is_found_for_the_same_kinds(pullbacks):
    """An entry serves arguments of the same types, dtypes and dimensions, and no others."""
    assert pullbacks.entries.find(plain, (X,)) is None
    assert run(pullbacks, plain, X) is not None
    assert pullbacks.entries.find(plain, (X[:2],)) is not None
    for argument in (X.astype(np.float32), X[None], [1.0], 1.0, np.arange(3), X.view(np.matrix)):
        assert pullbacks.entries.find(plain, (argument,)) is None
    assert pullbacks.entries.find(other, (X,)) is None


def test_an_entry_computes(pullbacks):
    """What an entry runs is the value and the pullback."""
    y, back = run(pullbacks, plain, X).forward(X)
    assert y == plain(X)
    np.testing.assert_allclose(back(1.0)[1], 2 * X)


def test_only_what_is_asked(pullbacks):
    """An entry for some of the arguments is not one for all of them."""
    f = lambda x, y: x * y
    pullbacks.find(f, (2.0, 3.0), {}, (False, True, False), None)(2.0, 3.0)
    assert pullbacks.entries.find(f, (2.0, 3.0)) is None
    assert pullbacks.entries.find(f, (2.0, 3.0), (True, False)) is not None


@pytest.mark.parametrize(
    "text, args",
    [
        ("def f(*, k=1, **xs):\n    return 1.0\n", ()),
        ("def f(x, *xs, **words):\n    return x * len(words)\n", (1.0, 2.0)),
        ("def f(x, *xs):\n    return x * xs[0][0]\n", (1.0, (2.0, 3.0))),
        ("def f(x, *xs, k=1):\n    return x\n", (1.0, 2.0)),
        ("def f(x, k=2.0, *xs):\n    return x * k\n", (1.0,)),
        ("def f(x, *, k=1):\n    return x\n", (1.0,)),
        ("def f(x, k=[2.0]):\n    return x * k[0]\n", (1.0,)),
        ("def f(t):\n    return t[0] * 2.0\n", ((1.0, 2),)),
    ],
)
def test_no_entry_where_more_must_be_looked_at(pullbacks, cells, text, args):
    """Defaults that change, keywords and tuples are for the slow way, also among what `*xs` takes."""
    f = cells.run(text)["f"]
    try:
        assert run(pullbacks, f, *args) is None
    except rl.UnsupportedSyntaxError:
        pass


def test_a_call_without_the_words_that_a_function_takes(pullbacks, cells):
    """The dict is new at each call, also where the function hands it out."""
    f = cells.run("def f(x, k=2.0, **words):\n    words['x'] = x * k\n    return words\n")["f"]
    outer = heap.enter()
    try:
        forward = run(pullbacks, f, 3.0).forward
        one, back = forward(3.0)
        other, _ = forward(4.0, 5.0)
        assert (one, other) == ({"x": 6.0}, {"x": 20.0})
        assert back(rl.Tangent(dict, {"x": 1.0}))[1] == 2.0
    finally:
        heap.leave(outer)


def test_a_default_counts_as_long_as_it_is_that_of_the_function(pullbacks, cells):
    """A number left out is the default, and another one as soon as the function has another."""
    f = cells.run("def f(x, k=2.0):\n    return x * k\n")["f"]
    y, back = run(pullbacks, f, 3.0).forward(3.0)
    assert (y, back(1.0)[1]) == (6.0, 2.0)
    assert [rl.gradient(f, 3.0) for _ in range(4)] == [(2.0,)] * 4
    f.__defaults__ = (5.0,)
    assert pullbacks.entries.find(f, (3.0,)) is None
    assert [rl.gradient(f, 3.0) for _ in range(4)] == [(5.0,)] * 4
    f.__defaults__ = None
    assert pullbacks.entries.find(f, (3.0,)) is None
    with pytest.raises(TypeError):
        rl.gradient(f, 3.0)


def test_each_number_of_rest_arguments_has_its_entry(cells, pullbacks):
    """Of `*xs`, which takes what is left over, and gives a cotangent for each."""
    f = cells.run("def f(x, *xs):\n    return x * xs[0] * xs[-1]\n")["f"]
    for args in ((2.0, 3.0), (2.0, 3.0, 5.0), (2.0, 3.0, X, 5.0)):
        assert pullbacks.entries.find(f, args) is None
        entry = run(pullbacks, f, *args)
        y, back = entry.forward(*args)
        assert y == f(*args)
        bars = [0.0 if bar is ZERO or bar is NO else bar for bar in back(1.0)]
        middle = [0.0] * (len(args) - 3)
        wanted = [y / 2.0, 12.0] if len(args) == 2 else [y / 2.0, y / 3.0, *middle, y / 5.0]
        assert bars == [0.0, *wanted]
    assert pullbacks.entries.find(f, (2.0,)) is None


def test_dropped_with_new_code(pullbacks):
    """A function whose code is replaced has no entry any more, and its gradient is that of the new code."""

    def f(x):
        return (x * x).sum()

    assert run(pullbacks, f, X) is not None
    rl.gradient(f, X)
    f.__code__ = other.__code__
    assert pullbacks.entries.find(f, (X,)) is None
    assert rl.gradient(f, X)[0].tolist() == [5.0, 5.0, 5.0]


def test_dropped_with_a_new_epoch(pullbacks):
    """Any change of the registry puts entries out of use until the slow way has looked."""

    def ruled(x):
        return x

    assert run(pullbacks, plain, X) is not None
    rl.scalar_rule(ruled, lambda out, x: 1.0)
    assert pullbacks.entries.find(plain, (X,)) is None
    assert run(pullbacks, plain, X) is not None


def test_dropped_with_a_changed_global(cells, pullbacks):
    """An entry whose pass relied on the kind of a global is not used when that has changed."""
    names = cells.run("k = 2.0\ndef f(x):\n    return x * k\n")
    f = names["f"]
    assert run(pullbacks, f, 1.0) is not None
    names["k"] = 7.0
    assert pullbacks.entries.find(f, (1.0,)).forward(1.0)[1](1.0)[1] == 7.0
    names["k"] = np.ones(2)
    assert pullbacks.entries.find(f, (1.0,)) is None


def test_no_entry_in_manual_mode(pullbacks):
    """In manual mode old answers count, which the slow way keeps: there are no entries."""
    pullbacks.cache.refresh("manual")
    assert run(pullbacks, plain, X) is None


def test_functions_are_not_kept(cells):
    """A function that was differentiated, by a pass or by a rule, goes when its last name goes."""
    cells.run("def f(x):\n    return x * x\ndef g(x):\n    return f(x) * 2.0\ndef r(x):\n    return x\n")
    rl.scalar_rule(cells.names["r"], lambda out, x: 3.0)
    held = []
    for name in "rgf":
        for _ in range(3):
            rl.gradient(cells.names[name], 1.5)
        held.append(weakref.ref(cells.names[name]))
        del cells.names[name]
    gc.collect()
    assert [h() for h in held] == [None, None, None]


def test_callees_are_not_kept(cells):
    """A caller that lives on does not keep the old version of a function it calls."""
    cells.run("def f(x):\n    return x * x\ndef g(x):\n    return f(x) * 2.0\n")
    rl.gradient(cells.names["g"], 1.5)
    held = weakref.ref(cells.names["f"])
    cells.run("def f(x):\n    return x * 3.0\n")
    gc.collect()
    assert held() is None
    assert rl.gradient(cells.names["g"], 1.5) == (6.0,)


def test_rules_are_not_kept():
    """A rule that was replaced or removed goes, though gradients were taken with it."""

    def f(x):
        return x

    def rule_with(slope):
        def f_rrule(x):
            return x, lambda y_bar: (rl.NoTangent(), slope * y_bar)

        rl.rrule_for(f)(f_rrule)
        return weakref.ref(f_rrule)

    first = rule_with(2.0)
    assert [rl.gradient(f, 1.0), rl.gradient(f, 1.0)] == [(2.0,), (2.0,)]
    second = rule_with(3.0)
    assert [rl.gradient(f, 1.0), rl.gradient(f, 1.0)] == [(3.0,), (3.0,)]
    gc.collect()
    assert first() is None
    rl.remove_rule(f)
    assert [rl.gradient(f, 1.0), rl.gradient(f, 1.0)] == [(1.0,), (1.0,)]
    gc.collect()
    assert second() is None


def test_rule_removed_between_look_up_and_call(pullbacks):
    """A rule that another thread removes after its entry was found: the gradient is that without the rule."""

    def f(x):
        return x * x

    rl.rrule_for(f)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 50.0 * y_bar)))
    entry = run(pullbacks, f, 3.0)
    assert entry.forward(3.0)[1](1.0)[1] == 50.0
    rl.remove_rule(f)
    gc.collect()
    assert entry.forward(3.0)[1](1.0)[1] == 6.0


def test_the_number_of_entries_is_bounded(pullbacks):
    """A function called with ever new kinds of arguments does not gather entries without end."""

    def f(x):
        return x.sum()

    for ndim in range(1, 30):
        for dtype in (float, np.float32, int, np.float16):
            run(pullbacks, f, np.ones((1,) * ndim, dtype))
    known = [
        x
        for ndim in range(1, 30)
        for x in (np.ones((1,) * ndim),)
        if pullbacks.entries.find(f, (x,)) is not None
    ]
    assert 0 < len(known) < 29


KEPT = np.ones(3)


def ruled(x):
    return x.sum()


def same_for_both(x, y):
    return (x + y).sum()


def gives_its_argument(x):
    return (x * x).sum() / 2


@pytest.fixture(scope="module")
def sharing_rules():
    """Rules that hand out arrays that somebody holds."""
    rl.rrule_for(ruled)(lambda x: (x.sum(), lambda y_bar: (rl.NoTangent(), KEPT)))

    @rl.rrule_for(same_for_both)
    def same_rrule(x, y):
        def same_pullback(y_bar):
            x_bar = np.full(3, y_bar)
            return rl.NoTangent(), x_bar, x_bar

        return (x + y).sum(), same_pullback

    rl.rrule_for(gives_its_argument)(lambda x: ((x * x).sum() / 2, lambda y_bar: (rl.NoTangent(), x)))


@pytest.mark.parametrize(
    "f, count",
    [
        (plain, 1),
        (ruled, 1),
        (same_for_both, 2),
        (gives_its_argument, 1),
        (lambda x: x.sum(), 1),
        (lambda x, y: (x + y).sum(), 2),
        (lambda x, y: x @ y, 2),
        (lambda x: x.T.sum(), 1),
    ],
)
def test_results_are_fresh(sharing_rules, f, count):
    """A gradient is writable and shares memory with no argument, no rule and no other gradient."""
    args = [X + k for k in range(count)]
    found = [rl.gradient(f, *args) for _ in range(3)]
    arrays = [x_bar for entries in found for x_bar in entries]
    wanted = [x_bar.copy() for x_bar in found[0]]
    for number, x_bar in enumerate(arrays):
        assert not any(np.shares_memory(x_bar, a) for a in (*args, KEPT, *arrays[:number]))
        x_bar[:] = 99.0
    assert all(map(np.array_equal, rl.gradient(f, *args), wanted))


@pytest.mark.parametrize(
    "value, wanted",
    [
        (1.0, True),
        (2, True),
        (np.float64(1.0), True),
        (True, False),
        ("a", False),
        (None, False),
        (X, True),
        (X > 0, False),
        ([1.0], None),
        (np.array(["a"]), False),
    ],
)
def test_varies(value, wanted):
    """Of numbers and arrays the type tells whether there can be a gradient; of a structure it does not."""
    assert varies(value) is wanted
