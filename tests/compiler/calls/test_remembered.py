"""A call site that has found a handler uses it again, and only where the same handler would be found."""

import contextlib
import functools
import threading

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import methods, remembered
from rulelab.compiler.calls.cache import DEFAULT, refresh
from rulelab.compiler.calls.pullbacks import Pullbacks

from ...differences import gradient_by_differences


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


def test_a_method_of_a_ufunc_is_looked_for_once(asked):
    """So is `np.add.reduce(x)`, and `np.maximum.reduce(x, axis=1)`, though NumPy makes them anew."""

    def f(x, holder):
        x = holder.same(x)
        return np.add.reduce(np.maximum.reduce(x, axis=1)) + np.add.reduce(x, None)

    x = np.arange(6.0).reshape(2, 3)
    rl.gradient(f, x, HOLDER)
    asked.clear()
    found = rl.gradient(f, x, HOLDER)[0]
    assert not {np.add.reduce, np.maximum.reduce} & set(asked)
    np.testing.assert_array_equal(found, [[1.0, 1.0, 2.0]] * 2)


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


# --- functions of which the items tell who answers ----------------------------------------------------------


def test_a_sum_of_numbers_is_looked_for_once(asked):
    """What is in the list is looked at each time, the question is asked once."""

    def f(xs, holder):
        return sum(holder.same(xs)) * sum(holder.same(tuple(xs)), 1.0)

    xs = [1.0, np.float64(2.0), 3]
    for _ in range(2):
        asked.clear()
        found = rl.gradient(f, xs, HOLDER)[0]
    assert sum not in asked
    assert found == [13.0, 13.0, 13.0]


class Pair:
    """An object with a sum of its own."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __radd__(self, other):
        return other + self.a * self.b


@pytest.mark.parametrize(
    ("late", "wanted"),
    [
        ([Pair(2.0, 5.0), 1.0], 6.0),
        ([np.array(3.0), 1.0], 2.0),
        ([np.ones(2), 1.0], None),
        ([True, 1.5], 1.5),
        ([], 1.0),
    ],
    ids=["objects", "arrays without dimensions", "arrays", "truths", "nothing"],
)
def test_other_items_are_asked_about(late, wanted):
    """A site that has summed numbers, and is handed other things, gives what a new one gives."""

    def f(x, xs, holder):
        return x * np.sum(sum([t * x for t in holder.same(xs)], holder.same(1.0)))

    def new(x, xs, holder):
        return x * np.sum(sum([t * x for t in holder.same(xs)], holder.same(1.0)))

    for _ in range(2):
        assert rl.gradient(f, 2.0, [1.0, 2.0], HOLDER)[0] == 13.0
    if wanted is not None:
        late = [Scaled(t) if isinstance(t, Pair) else t for t in late]
    found = [rl.gradient(g, 2.0, late, HOLDER)[0] for g in (f, new, f)]
    assert found[0] == found[1] == found[2]
    assert rl.gradient(f, 2.0, [1.0, 2.0], HOLDER)[0] == 13.0


class Scaled:
    """A pair that can be scaled."""

    def __init__(self, pair):
        self.pair = pair

    def __mul__(self, x):
        return Pair(self.pair.a * x, self.pair.b)


def test_a_rule_for_sum_counts_at_a_site_that_remembers_it():
    def f(xs, holder):
        return sum(holder.same(xs))

    xs = [1.0, 2.0]
    for _ in range(2):
        assert rl.gradient(f, xs, HOLDER)[0] == [1.0, 1.0]
    with ruled(lambda xs: (sum(xs), lambda y_bar: (rl.NoTangent(), [10.0 * y_bar for _ in xs])), sum):
        assert rl.gradient(f, xs, HOLDER)[0] == [10.0, 10.0]
    assert rl.gradient(f, xs, HOLDER)[0] == [1.0, 1.0]


# --- functions that are new at each call --------------------------------------------------------------------


def scaled(f):
    """What a rule that says ten times the truth gives."""
    return lambda x: (f(x), lambda y_bar: (rl.NoTangent(), 10.0 * y_bar))


def test_a_closure_of_a_known_text_is_looked_for_by_its_text_alone(asked):
    def f(x):
        def by(k):
            return lambda t: t * k * x

        return by(2.0)(x) + by(3.0)(x * x)

    for _ in range(3):
        asked.clear()
        assert rl.gradient(f, 2.0)[0] == pytest.approx(8.0 + 36.0)
    assert not [target for target in asked if getattr(target, "__name__", "") == "<lambda>"]


def test_a_rule_for_one_closure_is_for_no_other_of_its_text():
    """It counts where that closure is called, and where another is nothing is changed."""
    first, second = [(lambda k: lambda t: t * k)(k) for k in (2.0, 3.0)]

    def f(x):
        return first(x) + second(x)

    for _ in range(3):
        assert rl.gradient(f, 1.5)[0] == 5.0
    with ruled(scaled(first), first):
        assert rl.gradient(f, 1.5)[0] == 13.0
    assert rl.gradient(f, 1.5)[0] == 5.0


def test_a_closure_that_is_handed_a_text_or_a_list_of_the_sweep():
    """It is looked at as ever: a number read from a text has no derivative, a list is changed for all."""

    def f(x):
        def put(items, item):
            items.append(item * x)
            return items[-1]

        items = [x]
        return put(items, x) * put(items, 2.0) + items[2] * len(items)

    def g(x):
        def read(text, x):
            return float(text) * x

        return read("3.0", x) + read(f"{x}", x)

    for _ in range(3):
        assert rl.gradient(f, 1.5)[0] == pytest.approx(6.0 * 1.5**2 + 6.0)
        with pytest.raises(rl.RuleLabError):
            rl.gradient(g, 1.5)


def test_a_closure_with_another_count_of_arguments():
    """Defaults, stars and misfits go the long way, with Python's own error where there is one."""

    def f(x, *given):
        def inner(t, k=2.0, *more):
            return t * k * x + sum(more)

        return inner(x, *given)

    def g(x):
        def inner(t):
            return t * x

        return inner(x, 1.0)

    for _ in range(3):
        assert [rl.gradient(f, 1.5, *given)[0] for given in ((), (3.0,), (3.0, 4.0))] == [6.0, 9.0, 9.0]
        with pytest.raises(TypeError, match="positional argument"):
            rl.gradient(g, 1.5)


# --- items of what the sweep has made -----------------------------------------------------------------------


class Key(int):
    """A key that a dict asks."""

    asked = 0

    def __hash__(self):
        Key.asked += 1
        return int.__hash__(self)


def test_items_by_whole_numbers_and_texts_are_not_asked_about(asked):
    def f(x):
        found = {"a": x, 1: x * x}
        rows = [found, x]
        found["a"] = found["a"] * x
        return rows[0]["a"] * rows[0][1] + rows[-1]

    rl.gradient(f, 1.5)
    asked.clear()
    assert rl.gradient(f, 1.5)[0] == pytest.approx(4 * 1.5**3 + 1.0)
    assert not asked


def test_keys_of_the_authors_are_asked_about(asked):
    def f(x):
        found = {Key(1): x, "b": x * x}
        return found[Key(1)] * found["b"]

    for _ in range(2):
        asked.clear()
        assert rl.gradient(f, 1.5)[0] == pytest.approx(3 * 1.5**2)
    assert asked


def test_appending_to_a_list_with_a_method_of_its_own(asked):
    """A class of the author's appends as it says; a list of Python's is not asked about."""

    class Doubling(list):
        def append(self, item):
            super().append(item)
            super().append(item * 2.0)

    def f(x, kind):
        items = kind()
        items.append(x * x)
        return items[-1] * len(items)

    for _ in range(3):
        assert rl.gradient(f, 1.5, Doubling)[0] == 12.0
        asked.clear()
        assert rl.gradient(f, 1.5, list)[0] == 3.0
        assert list.append not in asked
    with pytest.raises(TypeError, match="exactly one argument"):
        rl.gradient(lambda x: [x].append(x, x), 1.5)


@functools.singledispatch
def content(shape, k):
    return shape * k


@content.register
def _of_list(shape: list, k):
    return shape[0] * shape[1] * k


def contents_of(x, given):
    total = 0.0
    for shape in given:
        total += content(shape, x) * content([x, 3.0], k=x)
    return total


def test_what_singledispatch_chooses_is_asked_at_each_call():
    """By the class of the argument of the moment; a class that is registered later counts, and so does a rule
    for the function that chooses, or for one that it chose.
    """
    slope = lambda f, x, h=1e-6: (f(x + h) - f(x - h)) / (2 * h)
    for given in ((2.0, [2.0, 5.0]), ([1.0, 2.0], 3.0), (3, np.float64(2.0))):
        f = lambda x, given=given: contents_of(x, given)
        for _ in range(2):
            np.testing.assert_allclose(rl.gradient(f, 0.7)[0], slope(f, 0.7), rtol=1e-6)
    alone = lambda x: content((2.0, x), x)
    with pytest.raises(TypeError):
        rl.gradient(alone, 0.7)
    content.register(tuple, lambda shape, k: shape[1] * k * 4.0)
    np.testing.assert_allclose(rl.gradient(alone, 0.7)[0], 8.0 * 0.7)
    f = lambda x: content([x, 2.0], 3.0) + content(x, 5.0)
    try:

        @rl.rrule_for(_of_list)
        def of_list_rrule(shape, k):
            return shape[0] * shape[1] * k, lambda y_bar: (rl.NoTangent(), [100.0 * y_bar, 0.0], 0.0)

        np.testing.assert_allclose(rl.gradient(f, 0.7)[0], 105.0)

        @rl.rrule_for(content)
        def content_rrule(shape, k):
            return content.dispatch(type(shape))(shape, k), lambda y_bar: (
                rl.NoTangent(),
                [1000.0 * y_bar, 0.0] if isinstance(shape, list) else 1000.0 * y_bar,
                0.0,
            )

        np.testing.assert_allclose(rl.gradient(f, 0.7)[0], 2000.0)
    finally:
        rl.remove_rule(content)
        rl.remove_rule(_of_list)
    np.testing.assert_allclose(rl.gradient(f, 0.7)[0], 11.0)


def test_a_method_of_a_dict_that_does_not_change_is_looked_for_once(asked):
    """Its handler serves every dict, whatever is in it; one that changes goes by identity."""

    def read(d, x):
        return d.get("a", 0.0) * d.get("b", x) + sum(d.values()) * len(d.copy())

    def f(x):
        found = 0.0
        for d in ({"a": x}, {"b": x * x, "c": x}, {}):
            found = found + read(d, x)
        grown = {"a": x}
        grown["b"] = x * x
        return found + read(grown, x)

    (slope,) = rl.gradient(f, 1.3)
    assert slope == pytest.approx(float(gradient_by_differences(f, 1.3)), rel=1e-6)
    assert rl.gradient(f, 1.3) == (slope,)
    assert rl.pushforward(f, 1.3)(1.0) == pytest.approx(slope, rel=1e-12)

    def g(x):
        d = {"a": x}
        return d.get("a", 0.0) * d.get("b", x)

    rl.gradient(g, 1.3)
    asked.clear()
    assert rl.gradient(g, 1.3) == (2.6,) and dict.get not in asked


class Asking:
    def __init__(self):
        self.asked = 0

    def __hash__(self):
        return 1

    def __eq__(self, other):
        self.asked += 1
        return self is other


def test_a_key_of_the_authors_is_looked_at_each_time():
    """That what it writes out of sight is refused does not depend on what was read before."""

    def f(x, key):
        d = {"a": x, 1: x * x}
        return d.get("a", 0.0) * d.get(key, x)

    assert rl.gradient(f, 1.3, "b")[0] == 2.6
    assert rl.gradient(f, 1.3, 1)[0] == pytest.approx(3 * 1.3**2)
    assert rl.gradient(f, 1.3, "b")[0] == 2.6

    def g(x):
        d = {"a": x, 1: x * x}
        return d.get("a", 0.0) * d.get(Asking(), x)

    assert rl.gradient(g, 1.3)[0] == 2.6
