"""A call site that has found a handler uses it again, and only where the same handler would be found."""

import contextlib
import threading

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import methods, remembered
from rulelab.compiler.calls.cache import DEFAULT, refresh
from rulelab.compiler.calls.pullbacks import Pullbacks


class Opaque:
    """Hands back what it is given, so that the compiler knows nothing of it."""

    def __init__(self):
        self.same = lambda x: x


HOLDER = Opaque()


@contextlib.contextmanager
def ruled(rule, *targets):
    """A block in which a rule of the user's counts for these functions."""
    try:
        for target in targets:
            rl.rrule_for(target)(rule)
        yield
    finally:
        for target in targets:
            rl.remove_rule(target)


@pytest.fixture
def asked(monkeypatch):
    """The targets that the slow way is asked for, in order."""
    seen, find_target = [], Pullbacks.find_target

    def noting(self, target, *rest):
        seen.append(target)
        return find_target(self, target, *rest)

    monkeypatch.setattr(Pullbacks, "find_target", noting)
    return seen


def test_a_keyword_call_is_looked_for_once(asked):
    """`np.sum(x, axis=1)` with arrays of one dtype does not bind its signature anew at each call."""

    def f(x, holder):
        x = holder.same(x)
        return np.sum(np.sum(x, axis=1) ** 2, axis=0)

    x = np.arange(6.0).reshape(2, 3)
    rl.gradient(f, x, HOLDER)
    asked.clear()
    found = rl.gradient(f, x, HOLDER)[0]
    assert np.sum not in asked
    np.testing.assert_array_equal(found, 2 * np.repeat(x.sum(axis=1, keepdims=True), 3, axis=1))


def test_a_method_of_an_array_is_looked_for_once(asked):
    """So does `x.reshape(6)`, and `x.max(axis=0)`."""

    def f(x, holder):
        x = holder.same(x)
        return (x.reshape(6) ** 2).sum() + x.max(axis=0).sum()

    x = np.arange(6.0).reshape(2, 3)
    rl.gradient(f, x, HOLDER)
    asked.clear()
    found = rl.gradient(f, x, HOLDER)[0]
    assert not {np.ndarray.reshape, np.ndarray.max, np.ndarray.sum} & set(asked)
    np.testing.assert_array_equal(found, 2 * x + [[0.0] * 3, [1.0] * 3])


def test_a_rule_of_the_users_counts_from_the_next_call_on():
    """A rule for a method that a site has remembered takes its place, and goes again."""

    def f(x, holder):
        x = holder.same(x)
        return x.mean() + np.mean(x, axis=None)

    x = np.ones(4)
    before = rl.gradient(f, x, HOLDER)[0]

    def tenfold(a, *axis):
        nothing = [rl.NoTangent() for _ in axis]
        return np.ndarray.mean(a), lambda y_bar: (rl.NoTangent(), np.full(a.shape, 10.0 * y_bar), *nothing)

    for target in (np.ndarray.mean, np.mean):
        with ruled(tenfold, target):
            assert rl.gradient(f, x, HOLDER)[0][0] == 10.25
        np.testing.assert_array_equal(rl.gradient(f, x, HOLDER)[0], before)


def test_an_opt_out_counts_from_the_next_call_on():
    """A site forgets a handler whose function is opted out of its rule."""

    def f(x, holder):
        return np.sum(holder.same(x), axis=0)

    x = np.ones(4)
    rl.gradient(f, x, HOLDER)
    rl.opt_out(np.sum)
    try:
        with pytest.raises(rl.RuleLabError):
            rl.gradient(f, x, HOLDER)
    finally:
        rl.remove_rule(np.sum)
    np.testing.assert_array_equal(rl.gradient(f, x, HOLDER)[0], x)


def test_another_dtype_is_another_call():
    """What is refused for floats and not for integers is refused after a call with integers, too."""

    def f(x, holder, counts):
        x = holder.same(x)
        total = 0.0
        for c in counts:
            total = total + np.sum(np.average(x, weights=c, axis=0))
        return total

    x = np.arange(1.0, 7.0).reshape(3, 2)
    integers, floats = np.array([1, 2, 3]), np.array([3.0, 1.0, 1.0])
    found = rl.gradient(f, x, HOLDER, [integers, floats])[0]
    np.testing.assert_allclose(found[:, 0], integers / 6 + floats / 5)


def test_an_array_to_write_to_is_refused_after_none():
    """`out=None` is remembered; `out=y` at the same site is still refused, and nothing is written."""

    def f(x, y, holder, outs):
        x = holder.same(x)
        for out in outs:
            x = np.sum(x, axis=0, out=out, keepdims=True) + x
        return x.sum()

    x, y = np.ones((1, 2)), np.zeros((1, 2))
    rl.gradient(f, x, y, HOLDER, [None, None])
    with pytest.raises(rl.MutationError):
        rl.gradient(f, x, y, HOLDER, [None, y])
    assert not y.any()


def test_values_of_keywords_are_not_remembered():
    """The axis of each call is its own, also by the same site."""

    def f(x, holder, axes):
        x = holder.same(x)
        total = 0.0
        for k, axis in enumerate(axes):
            total = total + np.sum(x.sum(axis=axis) ** (k + 2)) + np.sum(np.sum(x, axis=axis, keepdims=True))
        return total

    x = np.arange(1.0, 7.0).reshape(3, 2)
    found = rl.gradient(f, x, HOLDER, [0, 1, (0, 1), None])[0]
    eps, wanted = 1e-6, np.empty_like(x)
    for at in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[at] = eps
        axes = [0, 1, (0, 1), None]
        wanted[at] = (f(x + d, HOLDER, axes) - f(x - d, HOLDER, axes)) / (2 * eps)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_call_that_fails_by_itself_fails_in_its_own_words():
    """A keyword that NumPy does not take is NumPy's error, after calls that it took."""

    def f(x, holder, words):
        x = holder.same(x)
        for each in words:
            x = x + x.sum(**each)
        return x.sum()

    def g(x, holder, wrong):
        x = holder.same(x)
        return x.sum(axis=0) if not wrong else x.sum(axes=0)

    with pytest.raises(TypeError, match="axes"):
        rl.gradient(g, np.ones(2), HOLDER, True)
    with pytest.raises(TypeError, match="axes"):
        rl.gradient(f, np.ones(2), HOLDER, [{"axis": 0}, {"axes": 0}])


def test_an_object_of_the_authors_is_asked_each_time(asked):
    """Its code may do another thing at each call: nothing is remembered of a call that is handed it."""

    class Axis(int):
        pass

    def f(x, holder, axis):
        return np.sum(holder.same(x), axis=axis)

    for _ in range(2):
        asked.clear()
        rl.gradient(f, np.ones(2), HOLDER, Axis(0))
        assert np.sum in asked


def test_nothing_is_remembered_in_manual_mode(asked):
    """What counts there is the cache's first answer, and each use of an old one is noticed."""

    def f(x, holder):
        return np.sum(holder.same(x), axis=0)

    refresh("manual")
    try:
        for _ in range(2):
            asked.clear()
            rl.gradient(f, np.ones(2), HOLDER)
            assert np.sum in asked
    finally:
        refresh("auto")
    assert DEFAULT.mode == "auto"


@pytest.mark.parametrize("module", [remembered, methods])
def test_a_rule_that_comes_while_a_handler_is_looked_for(monkeypatch, module):
    """A handler that was found under the old rules is not kept for the new ones."""
    keep = module.Remembered.keep
    stack = []

    def keep_late(self, known, key, target, *rest):
        if target in (np.cumsum, np.ndarray.cumsum) and not stack:
            stack.append(ruled(tenfold, np.cumsum, np.ndarray.cumsum))
            stack[0].__enter__()
        return keep(self, known, key, target, *rest)

    def tenfold(a, *axis):
        nothing = [rl.NoTangent() for _ in axis]
        return np.cumsum(a), lambda y_bar: (rl.NoTangent(), np.full(a.shape, 10.0), *nothing)

    def by_name(x, holder):
        return np.cumsum(holder.same(x), axis=0).sum()

    def by_method(x, holder):
        return holder.same(x).cumsum(axis=0).sum()

    f = by_name if module is remembered else by_method
    monkeypatch.setattr(module.Remembered, "keep", keep_late)
    try:
        rl.gradient(f, np.ones(3), HOLDER)
        assert stack
        assert rl.gradient(f, np.ones(3), HOLDER)[0][0] == 10.0
    finally:
        for block in stack:
            block.__exit__(None, None, None)
    assert rl.gradient(f, np.ones(3), HOLDER)[0][0] == 3.0


def test_threads_share_a_site():
    """Sites are asked by several threads while rules come and go: each answer is of before or after."""

    def f(x, holder):
        return np.mean(holder.same(x), axis=0) + holder.same(x).mean(axis=0)

    def doubled(a, *axis):
        slopes = np.full(a.shape, 2.0 / a.size)
        return np.ndarray.mean(a), lambda y_bar: (
            rl.NoTangent(),
            y_bar * slopes,
            *[rl.NoTangent() for _ in axis],
        )

    x, wrong, done = np.ones(4), [], threading.Event()

    def ask():
        while not done.is_set():
            found = rl.gradient(f, x, HOLDER)[0][0]
            if found not in (0.5, 0.75):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        with ruled(doubled, np.mean):
            pass
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
