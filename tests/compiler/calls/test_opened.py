"""Gradients of what is in tuples, lists and dicts, by a pass that takes the parts one by one."""

import copy
import gc
import math
import statistics
import warnings
import weakref

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT, Cache
from rulelab.compiler.calls.opened import MOST, MOST_OFTEN, PARTS_A_CALL, Way

pytestmark = pytest.mark.usefixtures("as_users_run_it")

A = np.arange(1.0, 4.0)
M = np.arange(6.0).reshape(2, 3) + 1.0


def random(*shape):
    return np.random.default_rng(0).random(shape)


LAYERS = [(random(4, 5), random(5)), (random(5, 5), random(5)), (random(5, 2), random(2))]
ROWS = random(8, 4)


def layer(p, h):
    return np.tanh(h @ p["W"] + p["b"])


def predict(params, x):
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return x @ W + b


def only(t):
    return t[0] * 2


def by_name(t):
    return t["a"] * 2


def deep(t):
    return t[0][0] * 2


def dead(t):
    return t[0] * 2 + 0 * t[1]


def compared(t):
    return float(t[0][0] > 1) * t[1]


def firsts(t):
    s = 0.0
    for a, _ in t:
        s = s + a
    return s


def weighted(t):
    s = 0.0
    for part in t:
        s = s + np.sum(part["w"] * A) * part["b"]
    return s


def product(t):
    return np.sum(t[0] * t[1])


def numbered(t):
    s = 1.0
    for i, a in enumerate(t):
        s = s * a + i
    return s


def backwards(t):
    s = 1.0
    for a in reversed(t):
        s = np.sin(s) * a
    return s


def by_number(t):
    s = 1.0
    for i in range(len(t)):
        s = s * t[i] + i
    return s


def ends(t):
    return t[-1] * t[0]


def total(t):
    return sum(t)


def squares(t):
    return sum(v * v for v in t)


def filled(t):
    s = [v * v for v in t]
    return s[0] * s[1]


def values(t):
    s = 0.0
    for v in t.values():
        s = s + np.sum(v * v)
    return s


def pairs(t):
    return sum(np.sum(v**2) for _, v in t.items())


def keys(t):
    return sum(np.sum(t[k]) for k in t)


def some_keys(t):
    return sum(np.sum(t[k]) for k in t if k != "b")


def rest(t):
    return t[1:][0] * t[0]


def unpacked(t):
    (a, b), c = t
    a, b = b, a
    return a * b * c / (a + 1)


def one_arm(t):
    return t[0] * t[1] if t[0] < 0 else t[0]


def unpacked_one_arm(t):
    a, b = t
    return a * b if a < 0 else a


def cancelled(t):
    return t[0] * t[1] - t[0] * t[1]


def clipped(t):
    return np.sum(np.maximum(t[0], 0) * t[1])


def last(t):
    for a in t:  # noqa: B007
        pass
    return a * a


def twice(t):
    s = 0.0
    for a in t:
        for b in t:
            s = s + a * b
    return s


def signs(t):
    s = 0.0
    for i, (a, b) in enumerate(t):
        if i % 2:
            s = s + a * b
        else:
            s = s - a
    return s


def left_early(t):
    s = 0.0
    for a in t:
        if a > 2:
            break
        s = s + a * a
    return s


def floors(t):
    return np.floor(t[0]) * t[1] + np.sign(t[0])


def one_of_many(t):
    return max(t) * math.prod(t) + min([v * v for v in t])


def statistics_of(t):
    return math.fsum([math.sin(v) for v in t]) * statistics.mean(t) + statistics.median(t)


def neighbours(t):
    return sum([x * y * y for x, y in zip(t, t[1:])]) + sum([x * y for x, y in zip(reversed(t), t[:2])])


def beside_fewer(t):
    return sum([x * y for x, y in zip(t[:2], t[2])])


def beside_fewer_strictly(t):
    return sum([x * y for x, y in zip(t, t[1:], strict=True)])


def largest_row(t):
    return max(t)[0] * t[0][1]


def recurrent(t, n):
    h = 0.0
    for _ in range(n):
        h = np.tanh(t["w"] * h + t["b"])
    return h * t["c"]



def labelled(t):
    label = "".join(str(i) for i in range(3))
    return t[0] * len(label) * t[1]


READ = [
    (labelled, [1.0, 2.0]),
    *((only, z([1.0, 3.0])) for z in (tuple, list)),
    *((dead, z([1.0, 3.0])) for z in (tuple, list)),
    *((one_arm, z([a, 2.0])) for z in (tuple, list) for a in (1.5, -1.5)),
    *((unpacked_one_arm, z([a, 2.0])) for z in (tuple, list) for a in (1.5, -1.5)),
    *((cancelled, z([1.5, 2.0])) for z in (tuple, list)),
    *((clipped, z([A - shift, A])) for z in (tuple, list) for shift in (2, 20)),
    *((floors, z([1.5, 2.0])) for z in (tuple, list)),
    *((f, z([1.5, 0.5, 2.5])) for z in (tuple, list) for f in (one_of_many, statistics_of)),
    (statistics_of, [1.5, 0.0, 2.5]),
    *((neighbours, z([1.5, 0.5, 2.5, 4.0])) for z in (tuple, list)),
    (beside_fewer, [1.5, 0.5, [2.0, 3.0, 4.0]]),
    (by_name, {"a": 1.0, "b": 3.0}),
    (deep, [[1.0, A], A, 3, "s", None, True]),
    (deep, ((1.0, A), A)),
    (compared, [[2.0], 2.0]),
    (compared, [(2.0, 3.0), 2.0]),
    (firsts, [(1.0, 2.0), (3.0, 4.0)]),
    (firsts, ((1.0, 2.0), [3.0, 4.0])),
    (weighted, [{"w": A, "b": 2.0}, {"w": A + 1, "b": 3.0}]),
    (product, [A, A]),
    (product, [np.ones(3, "f4"), A]),
    (product, [2, A]),
    (product, (np.arange(3), A)),
    (product, [np.zeros(0), np.zeros(0)]),
    (product, [np.array(2.0), A[::-1]]),
    (product, [A > 1, A]),
    (numbered, [1.0, 2.0, 3.0]),
    (backwards, [1.0, 2.0, 3.0]),
    (by_number, [1.0, 2.0, 3.0]),
    (ends, [1.0, 2.0, 3.0]),
    (total, (1.0, 2.0)),
    (total, [1.0, 2.0]),
    (squares, [1.0, 2.0]),
    (filled, [1.0, 2.0]),
    (values, {"a": 1.0, "b": A}),
    (pairs, {"a": 1.0, "b": A}),
    (keys, {"a": 1.0, "b": A}),
    (rest, [1.0, 2.0]),
    (unpacked, [(1.0, 2.0), 3.0]),
    (last, [1.0, 2.0, 3.0]),
    (twice, [1.0, 2.0, 3.0]),
    (signs, [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]),
    (left_early, [1.0, 3.0, 1.0]),
    (recurrent, {"w": 1.0, "b": 2.0, "c": 3.0}, 3),
    (recurrent, {"w": 1.0, "b": 2.0, "c": 3.0}, 0),
    (lambda params, x: np.sum(predict(params, x) ** 2), LAYERS, ROWS),
    (lambda p, x: np.sum(layer(p, x)) * p["scale"], {"W": M, "b": A, "scale": 2.0}, np.ones((4, 2))),
    (lambda t, u: sum(a * b for a, b in zip(t, u)), [1.0, 2.0], (3.0, 4.0)),
    (lambda t, i: t[i] * 2, [1.0, 2.0, 3.0], 1),
]


def appended(t):
    t.append(3.0)
    return t[0] * t[-1]


def overwritten(t):
    t[0] = t[0] * 2
    return t[0] * t[1]


def taken_out(t):
    return t.pop() * t[0]


def kind_asked(t):
    return t[0] * t[1] if isinstance(t, list) else t[0]


def missing(t):
    return t[5] * 2.0


def unknown(t):
    return t["zz"] * 2.0


def by_array(t):
    return np.sum(np.array(t) ** 2)


def captured(t):
    def g(x):
        return x * t[0]

    return g(t[1])


def two_results(t):
    return t[0], t[1]


def identity(t, u):
    return t[0] * 2 if t is u else t[0] * 3


def by_get(t):
    return t.get("a") * 2.0


def changed_copy(t):
    t = dict(t)
    t["a"] = t["a"] * 2
    return t["a"] * t["b"]


class Number(float):
    pass


SHARED = (1.0, 2.0)

MORE = [
    (largest_row, [[1.0, 2.0], [3.0, 4.0]]),
    (beside_fewer_strictly, [1.0, 2.0, 3.0]),
    (appended, [1.0, 2.0]),
    (overwritten, [1.0, 2.0]),
    (taken_out, [1.0, 2.0]),
    (kind_asked, [1.0, 2.0]),
    (kind_asked, (1.0, 2.0)),
    (missing, [1.0, 2.0]),
    (missing, (1.0, 2.0)),
    (unknown, {"a": 1.0}),
    (by_array, [1.0, 2.0]),
    (captured, [1.0, 2.0]),
    (two_results, [1.0, 2.0]),
    (identity, SHARED, SHARED),
    (identity, [1.0], [1.0]),
    (by_get, {"a": 1.0}),
    (changed_copy, {"a": 1.0, "b": 2.0}),
    (some_keys, {"a": 1.0, "b": A}),
    (product, [1 + 2j, A]),
    (product, [np.float32(2), A]),
    (ends, [Number(1.0), 2.0]),
    (lambda t: t[0] * len("-".join([str(v) for v in t])), [1.0, 0.0]),
    (lambda t: t[0] * len("-".join([v for v in t])), [1.0, 0.0]),
    (lambda t: t[0] * len("-".join(["a", 1, "b"])), [1.0, 0.0]),
    (lambda t: t[0] / t[1], [1.0, 0.0]),
    (lambda t: np.log(t[0]) * t[1], [np.float64(0.0), 2.0]),
    (lambda t: np.sum(t[0] / t[1]), [A, A - 1]),
    (lambda t, u: sum(a * b for a, b in zip(t, u, strict=True)), [1.0, 2.0], [3.0]),
]


def alike(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True)
    return a == b or (a != a and b != b)


def outcome(f, args, **words):
    """The gradient or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = rl.gradient(f, *copy.deepcopy(args, {id(SHARED): SHARED}), **words)
        except Exception as error:
            found = (type(error).__name__, str(error).splitlines()[0])
    return [found, sorted({str(one.message) for one in caught})]


def ways(f):
    """The ways of the text of a function."""
    found = DEFAULT.memory.ways.get(id(f.__code__))
    return [way for way in found.by_key.values() if isinstance(way, Way)] if found else []


@pytest.mark.every(3)
@pytest.mark.parametrize("number", range(len(READ) + len(MORE)))
def test_it_is_the_gradient_of_the_containers(number):
    """In each of four calls, the same as by the sweeps that know nothing of what is in them: numbers, None,
    kinds, order of keys, warnings and errors.
    """
    f, *args = [*READ, *MORE][number]
    for words in ({}, {"argnums": 0}):
        wanted = outcome(f, args, cache=Cache(), **words)
        for _ in range(4):
            assert alike(outcome(f, args, **words), wanted)


@pytest.mark.parametrize("number", range(len(READ)))
def test_what_is_only_read_is_opened(number):
    """Each of these gets a pass that takes the parts."""
    f, *args = READ[number]
    for _ in range(3):
        rl.gradient(f, *args)
    assert ways(f)


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda t: t["a"] * 2, ({"a": 1.0, 3.0: 2.0},)),
        (lambda t: t[0] * 2, ([1.0] * (MOST_OFTEN + 1),)),
        (lambda t: 3.0, ([],)),
        (lambda t: t[0][0][0][0][0][0][0] * 2, ([[[[[[[1.0]]]]]]],)),
    ],
    ids=["keys", "many", "empty", "deep"],
)
def test_what_is_not_taken_one_by_one(f, args):
    """Keys that may be equal and not alike, many parts, nothing, and what is nested too deep."""
    wanted = outcome(f, args, cache=Cache())
    assert all(alike(outcome(f, args), wanted) for _ in range(4))
    assert not ways(f)


def test_what_has_many_parts_is_opened_when_it_is_called_often():
    """The calls before it is and those after it give the same; one more part is another structure."""
    f = lambda t: sum([v * v * k for k, v in enumerate(t, 1)]) / len(t)  # noqa: E731
    opened = lambda: len(set(map(id, ways(f))))  # noqa: E731
    for count in (MOST + 1, MOST + 2):
        t = [1.0 + k / 7 for k in range(count)]
        wanted = outcome(f, [t], cache=Cache())
        before = opened()
        for number in range(count // PARTS_A_CALL + 3):
            assert alike(outcome(f, [t]), wanted)
            assert opened() == before + (number >= count // PARTS_A_CALL)


def test_the_value_comes_with_it():
    params = [(M, A)]
    f = lambda params: np.sum(params[0][0] * params[0][1])  # noqa: E731
    for _ in range(4):
        value, gradient = rl.withgradient(f, params)
        assert value == np.sum(M * A) and np.array_equal(gradient[0][0][0], np.broadcast_to(A, M.shape))
    assert ways(f)


def test_nothing_is_shared_with_the_arguments():
    """The entries are arrays of their own, and stay so at the next call."""
    f = lambda t: np.sum(t[0] * t[1])  # noqa: E731
    t = [A.copy(), A.copy()]
    for _ in range(4):
        (found,) = rl.gradient(f, t)
        assert not any(np.shares_memory(a, b) for a in found for b in t)
        found[0][:] = 0.0
    assert np.array_equal(t[1], A)


def test_the_structure_counts():
    """Other lengths, keys, kinds and shapes are other passes, and one does not answer for another."""
    f = lambda t: sum(np.sum(v * v) for v in t)  # noqa: E731
    for t in ([1.0, 2.0], [1.0, 2.0, 3.0], [A, 2.0], (1.0, 2.0), [M], [A]):
        for _ in range(3):
            (found,) = rl.gradient(f, t)
            assert type(found) is type(t) and all(np.array_equal(g, 2 * v) for g, v in zip(found, t))


def test_rules_that_come_later_count():
    """A rule for a function that was inlined is used from the next call on, and gone when it is removed."""

    def run():
        return [rl.gradient(squared_first, [3.0, 1.0])[0][0] for _ in range(4)]

    assert run() == [6.0] * 4
    rl.rrule_for(squared)(lambda x: (squared(x), lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)))
    try:
        assert run() == [100.0] * 4
    finally:
        rl.remove_rule(squared)
    assert run() == [6.0] * 4


def squared(x):
    return x * x


def squared_first(t):
    return squared(t[0])


def test_globals_that_change_count():
    global FACTOR
    for FACTOR in (2.0, 3.0, A, 4.0):
        for _ in range(4):
            assert np.sum(rl.gradient(by_factor, [1.0])[0][0]) == np.sum(FACTOR)


FACTOR = 2.0


def by_factor(t):
    return np.sum(t[0] * FACTOR)


def test_nothing_is_kept_alive():
    """Neither the function nor what was handed to it."""
    f = lambda t: np.sum(t[0])  # noqa: E731
    t = [np.ones(3)]
    for _ in range(4):
        rl.gradient(f, t)
    assert ways(f)
    held = weakref.ref(f), weakref.ref(t[0])
    del f, t
    gc.collect()
    assert held[0]() is None and held[1]() is None


def test_a_zero_that_comes_often_ends_it():
    """Where zeros have the other sweeps answer each time, the pass is not run for nothing for ever."""
    f = lambda t: t[0] * 2 + max(t[1], 0.0)  # noqa: E731
    for _ in range(20):
        assert rl.gradient(f, [1.0, -3.0]) == ([2.0, 0.0],)
    assert ways(f)[0].misses < 10


def test_a_zero_now_and_then_does_not_end_it():
    """It ends where they come in a row."""
    f = lambda t: t[0] * 2 + max(t[1], 0.0)  # noqa: E731
    for number in range(40):
        x = -3.0 if number % 3 else 3.0
        assert rl.gradient(f, [1.0, x]) == ([2.0, float(x > 0.0)],)
    assert ways(f)[0].misses < 3


def of_functions(t):
    return math.sin(t[0]) * np.exp(t[1]) - t[2] ** 3 / 2.0 + sum([v * t[0] for v in t])


def of_names(t):
    return squared(t["a"]) * t["b"] + t["b"] * 0.0


@pytest.mark.parametrize(
    "f, t",
    [
        (squares, [0.0, 1.0]),
        (squares, (0.0, 0.0)),
        (of_functions, [0.0, 1.0, 0.0]),
        (of_names, {"a": 0.0, "b": 2.0}),
        (statistics_of, [0.0, 3.0, 1.5]),
        (lambda t: math.prod([v * t[1] for v in t]), [0.0, 0.0, 2.0]),
    ],
)
def test_zeros_of_numbers_that_certainly_have_a_slope(f, t):
    """They are no reason to ask the other sweeps, which give the same."""
    wanted = outcome(f, [t], cache=Cache())
    for _ in range(6):
        assert repr(outcome(f, [t])) == repr(wanted)
    assert ways(f) and all(way.misses == 0 for way in ways(f))


def some_of_them(xs):
    total = xs[0]
    for v in xs:
        if v > 1.5:
            total = total + v * v
    return total


def one_of_a_list(xs):
    return [v * v for v in xs][-1]


def in_pairs(xs):
    total = 0.0
    for k, (v, w) in enumerate(zip(xs, [2.0, 3.0])):
        total += v * w if k else 0.5
    return total


def left_early(xs):
    total = 1.0
    for v in xs:
        if v > 1.5:
            return total * v
        total = total * v
    return total


def steep_in_part(xs):
    total = 0.0
    for v in xs:
        total = total + v**0.5
    return xs[0] * 2.0 if xs[0] > 0.5 else total


@pytest.mark.parametrize("f", [some_of_them, one_of_a_list, in_pairs, left_early, steep_in_part])
@pytest.mark.parametrize("xs", [[1.0, 2.0, 0.5], (0.3, 1.0, 2.0), [1, 2.0, 3.0], [5.0, 0.1]])
def test_items_that_a_loop_goes_through(f, xs):
    """Each has an entry, though nothing flowed to it: the pass for the parts gives it, too."""
    wanted = outcome(f, [xs], cache=Cache())
    for _ in range(6):
        assert repr(outcome(f, [xs])) == repr(wanted)
    assert ways(f) and all(way.misses == 0 for way in ways(f))


def left_early_with_more_readers(xs):
    total = xs[0]
    for v in xs:
        if v > 1.5:
            break
        total = total + v
    return total


def of_one_branch(xs):
    total = xs[1] * 2.0
    if xs[0] > 1.0:
        for v in xs:
            total = total + v
    return total


def without_slopes(xs):
    count = 0
    for v in xs:
        count += v > 1.0
    return xs[0] * count


@pytest.mark.parametrize("f", [left_early_with_more_readers, of_one_branch, without_slopes])
@pytest.mark.parametrize("xs", [[1.0, 2.0, 0.5], [2.0, 1.0, 0.7]])
def test_items_that_may_have_no_entry(f, xs):
    """There the sweeps on containers say which it is."""
    wanted = outcome(f, [xs], cache=Cache())
    for _ in range(6):
        assert repr(outcome(f, [xs])) == repr(wanted)


# --- functions that are made anew ---


def residuals(X, y):
    def loss(w):
        return np.sum((X @ w - y) ** 2)

    return loss


def distance(w, X, y):
    return np.sum((X @ w - y) ** 2)


def test_closures_of_one_text():
    """Each over its own arrays, of which the shapes and kinds may change from one to the next."""
    for X, y in ((M, np.ones(2)), (M + 1, np.ones(2)), (M[:1], 2.0), (M.astype("f4"), np.ones(2, "f4"))) * 2:
        for w in (A, A * 2):
            (found,) = rl.gradient(residuals(X, y), w)
            assert np.allclose(found, 2 * (X @ w - y) @ X)
    assert ways(residuals(M, 1.0))


def test_lambdas_of_one_text():
    """With containers, too, and with an argument chosen."""
    for k in range(6):
        X = M * (k + 1.0)
        wanted = 2 * (X @ A - 1.0) @ X
        made = lambda p, x: distance(p["w"], x, 1.0) + p["c"]  # noqa: E731
        (found,) = rl.gradient(lambda p: distance(p["w"], X, 1.0) + p["c"], {"w": A, "c": 2.0})  # noqa: B023
        assert np.allclose(found["w"], wanted) and found["c"] == 1.0
        (found,) = rl.gradient(made, {"w": A, "c": 2.0}, X, argnums=0)
        assert np.allclose(found["w"], wanted)
    assert ways(made)


def test_a_rule_of_one_of_them():
    """It is of that function, and of no other with the same text, be it there before or later."""

    def make():
        return lambda t: t[0] * t[0]

    first, others = make(), [make() for _ in range(5)]
    rl.rrule_for(first)(lambda t: (t[0] * t[0], lambda y_bar: (rl.NoTangent(), [100.0 * y_bar])))
    for f in others:
        assert rl.gradient(f, [3.0]) == ([6.0],)
    for _ in range(4):
        assert rl.gradient(first, [3.0]) == ([100.0],)
    rl.rrule_for(others[0])(lambda t: (t[0] * t[0], lambda y_bar: (rl.NoTangent(), [7.0 * y_bar])))
    for _ in range(4):
        assert rl.gradient(others[0], [3.0]) == ([7.0],) and rl.gradient(others[1], [3.0]) == ([6.0],)
    rl.remove_rule(first)
    assert all(rl.gradient(first, [3.0]) == ([6.0],) for _ in range(4))


def test_a_captured_variable_that_is_rebound():
    scale = 2.0
    f = lambda x: np.sum(x * scale)  # noqa: E731
    for scale in (2.0, 3.0, A, 4.0):  # noqa: B007
        for _ in range(4):
            assert np.allclose(rl.gradient(f, A)[0], np.broadcast_to(scale, 3))


CAPTURED = [[1.0, 2.0], {"a": 2.0}, np.sin, squared, Number(2.0), None, "a"]


@pytest.mark.parametrize("content", CAPTURED, ids=lambda content: type(content).__name__)
def test_whatever_is_captured(content):
    """It is as by the slow way, refusals included."""

    def make():
        return lambda x: x * 2.0 if content is None or type(content) is str else x * reading(content)

    def reading(content):
        if callable(content):
            return content(0.5)
        return content if type(content) is Number else len(content)

    wanted = outcome(make(), [1.5], cache=Cache())
    assert all(alike(outcome(make(), [1.5]), wanted) for _ in range(4))


def test_counters_are_counted():
    """What a function does besides computing is done at each call."""
    calls = []

    def f(x):
        rl.ignore_derivatives(lambda: calls.append(1))
        return x * x

    for k in range(1, 6):
        assert rl.gradient(f, 3.0) == (6.0,) and rl.gradient(lambda x: f(x), 3.0) == (6.0,)
    assert len(calls) == 2 * k


def test_the_text_goes_with_its_functions(cells):
    """A cell that is run again leaves no way behind, and no namespace is held by one."""
    for _ in range(3):
        f = cells.run("import numpy as np\ndef f(t):\n    return np.sum(t[0])\n", "<one cell>")["f"]
        for _ in range(4):
            rl.gradient(f, [A])
        assert ways(f)
        held = weakref.ref(f.__code__)
        del f
        cells.names.clear()
        gc.collect()
        assert held() is None


# --- random structures, read in random ways ---


class Reader:
    """Writes a program that reads a random structure."""

    ways = ("np.sin({})", "{} * {}", "{} * s", "np.exp(-{}) + {}")

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.count = 0

    def pick(self, *options):
        return options[self.random.integers(len(options))]

    def name(self):
        self.count += 1
        return f"a{self.count}"

    def structure(self, depth=0):
        if depth == 3 or (depth and self.random.random() < 0.4):
            return self.leaf()
        kind = self.pick("list", "tuple", "dict", "alike")
        if kind == "alike":
            part = self.structure(depth + 1)
            return [copy.deepcopy(part) for _ in range(self.pick(1, 2, 3))]
        parts = [self.structure(depth + 1) for _ in range(self.pick(1, 2, 3))]
        return dict(zip("pqr", parts)) if kind == "dict" else {"list": list, "tuple": tuple}[kind](parts)

    def leaf(self):
        size = self.pick(0, 2, 3)
        return self.random.normal(size=size) if size else float(self.random.normal())

    def read(self, name, x, pad):
        """Lines that add something of `x`, which `name` stands for, to `s`."""
        if self.random.random() < 0.1:
            return []
        if isinstance(x, (float, np.ndarray)):
            how = self.pick(*self.ways)
            lines = [f"{pad}s = s + np.sum({how.replace('{}', name)})"]
            return [f"{pad}if s > 0.5:", f"    {lines[0]}"] if self.random.random() < 0.1 else lines
        if isinstance(x, dict):
            return self.read_dict(name, x, pad)
        if len({repr(shapes(part)) for part in x}) == 1 and self.random.random() < 0.7:
            return self.read_row(name, x, pad)
        if self.random.random() < 0.5:
            names = [self.name() for _ in x]
            lines = [f"{pad}{', '.join(names)}, = {name}"]
        else:
            names, lines = [f"{name}[{self.pick(i, i - len(x))}]" for i in range(len(x))], []
        return lines + [line for n, part in zip(names, x) for line in self.read(n, part, pad)]

    def read_row(self, name, x, pad):
        item, number, other = self.name(), self.name(), self.name()
        head, at = self.pick(
            (f"for {item} in {name}:", item),
            (f"for {item} in reversed({name}):", item),
            (f"for {number}, {item} in enumerate({name}):", item),
            (f"for {item}, {other} in zip({name}, {name}):", other),
            (f"for {number} in range(len({name})):", f"{name}[{number}]"),
            (f"for {item} in {name}[1:]:", item),
        )
        return [f"{pad}{head}", f"{pad}    s = s * 0.9", *self.read(at, x[0], pad + "    ")]

    def read_dict(self, name, x, pad):
        if len({repr(shapes(part)) for part in x.values()}) == 1 and self.random.random() < 0.5:
            key, item = self.name(), self.name()
            head, at = self.pick(
                (f"for {item} in {name}.values():", item),
                (f"for {key}, {item} in {name}.items():", item),
                (f"for {key} in {name}:", f"{name}[{key}]"),
            )
            part = next(iter(x.values()))
            return [f"{pad}{head}", f"{pad}    s = s * 0.9", *self.read(at, part, pad + "    ")]
        return [line for key, part in x.items() for line in self.read(f'{name}["{key}"]', part, pad)]


def shapes(x):
    if isinstance(x, dict):
        return {key: shapes(part) for key, part in x.items()}
    return list(map(shapes, x)) if isinstance(x, (list, tuple)) else np.shape(x)


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(k, marks=pytest.mark.campaign) for k in range(20, 1000, 20))]
)
def test_random_structures(cells, start):
    """The gradient is that of the sweeps that know nothing of what is in a container."""
    assert sum(is_opened(cells, Reader(seed), 4) for seed in range(start, start + 20)) > 8


def is_opened(cells, reader, times):
    """Whether a random function goes by a pass for the parts, with the gradient of the sweeps each time."""
    x = reader.structure()
    lines = reader.read("t", x, "    ")
    text = "\n".join(["import numpy as np", "def f(t):", "    s = 0.1", *lines, "    return s", ""])
    f = cells.run(text)["f"]
    wanted = outcome(f, [x], cache=Cache())
    for _ in range(times):
        assert alike(outcome(f, [x]), wanted), text
    return bool(ways(f))


class ReaderOfZeros(Reader):
    """Of numbers that often are zero, in ways of which some have no slope there, or nothing flows back."""

    ways = ("{} * {}", "{} * s", "-{} * 0.0", "{} ** 3", "np.maximum({}, 0.0)", "np.floor({})")
    ways += ("np.sign({}) * s", "({} > 0) * {}", "np.abs({})", "s / (1.0 + {} * {})", "np.cos({})")
    ways += ("sum([{}, {} * s])", "max({}, 0.0)", "{} - {}")

    def leaf(self):
        return self.pick(0.0, 0.0, -0.0, 1.0, -2.0)


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize(
    "start", [0, 40, *(pytest.param(k, marks=pytest.mark.campaign) for k in range(80, 2000, 40))]
)
def test_whether_a_zero_is_none(cells, start):
    """That is what the sweeps say that know nothing of what is in a container, whichever answer."""
    assert sum(is_opened(cells, ReaderOfZeros(seed), 5) for seed in range(start, start + 40)) > 16
