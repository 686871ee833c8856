"""`sorted`, `max` and `min` with a key, and `heapq.nsmallest` and `nlargest`, choose what Python's own do."""

import functools
import heapq
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError
from rulelab.tangents.ranks import order_of, place_of_greatest, place_of_least

from ...differences import gradient_by_differences
from ..agreeing import check_second_derivative, check_slope

A = np.array([3.0, -1.0, 2.0])


@functools.total_ordering
class Ranked:
    def __init__(self, by):
        self.by = by

    def __eq__(self, other):
        return self.by == other.by

    def __lt__(self, other):
        return self.by > other.by


def negative(t):
    return -t


def by_a_lambda(x):
    return sum(k * v for k, v in enumerate(sorted([x * x, 3 * x, x], key=lambda t: -t)))


def by_a_function(x):
    return sorted([x * x, 3 * x, x], key=negative)[0] * min([x, 2 * x], key=negative)


def by_a_function_of_its_own(x):
    def apart(t):
        return abs(t - x)

    return max([x * x, 3 * x, x], key=apart) * sorted([x, 5.0, 2 * x], key=apart, reverse=True)[0]


def by_a_function_of_c(x):
    return max([x, -4 * x], key=abs) * sorted([-2 * x, x], key=abs)[1] * min((x, x + 1), key=math.sin)


def of_equal_keys(x):
    xs = [x, 2 * x, 3 * x, 4 * x]
    up, down = sorted(xs, key=lambda t: 0), sorted(xs, key=lambda t: 0, reverse=True)
    first = max(xs, key=lambda t: 1) * min(xs, key=lambda t: 1)
    return sum(k * v * w for k, (v, w) in enumerate(zip(up, down))) + first


def of_rows(x):
    rows = [(x, "b", 2.0), (x * x, "a", 1.0), (3 * x, "c", x)]
    by_name = sorted(rows, key=lambda row: row[1])
    return by_name[0][0] * max(rows, key=lambda row: row[2])[0] + by_name[1][0]


def of_generators(x):
    found = max((v * x for v in [x, 2.0]), key=lambda v: -v) * min((v + x for v in A), key=lambda v: v * v)
    found = found + max((v * w * x for v in A if v > 0 for w in (x, 1.0) if w > v - 9), key=lambda v: -v)
    return found + sorted((v * x for v in A if v > 0), key=lambda v: -v)[0]


def of_arrays(x):
    return max(A * x, key=lambda v: -v) * sorted(x * A, key=abs)[1] + min(np.outer(A, A) * x, key=np.sum)[0]


def of_dicts(x):
    d = {"a": x, "b": 3 * x, "c": x * x}
    best = max(d, key=lambda k: d[k])
    ordered = sorted(d.items(), key=lambda pair: pair[1])
    return d[best] * ordered[0][1] * max(d.values(), key=lambda v: -v)


def with_a_default(x):
    none = max([], key=lambda v: v, default=x * x)
    some = min([x, 2 * x], key=lambda v: -v, default=0.0)
    return none * some + max((v for v in [x] if v < 0), key=lambda v: v, default=x)


def by_objects(x):
    return sorted([x, 3 * x, 2 * x], key=lambda t: Ranked(t))[0] * max([x, 2 * x], key=Ranked)


def of_lists_that_change(x):
    xs = [x, 3 * x]
    ys = xs
    ys.append(2 * x)
    best = sorted(xs, key=lambda t: -t)
    best[0] = x * x
    xs[2] = 7 * x
    return best[0] * best[1] + max(ys, key=lambda t: t) + len(xs)


def in_loops(x):
    found = 0.0
    for k in range(3):
        found = found * x + min([x * k, x, 2.0], key=lambda t: abs(t - k))
        found = found + sorted([x, 2 * x], key=lambda t: -k * t)[0]
    return found


def some_of_them(x):
    xs, n = [x * x, 3 * x, x], 2
    less = heapq.nsmallest(n, xs)[1] * heapq.nsmallest(2, xs, key=lambda t: -t)[1]
    more = heapq.nlargest(1, (v * x for v in xs))[0] + heapq.nlargest(n - 1, xs, negative)[0]
    return less + more + len(heapq.nsmallest(9, xs)) + len(heapq.nsmallest(-n, xs))


def none_of_them(x):
    n = -1
    return x * len(heapq.nlargest(n, [x, 2 * x], lambda t: t)) + x * len(heapq.nsmallest(0, [x]))


def sorted_by_another(x):
    def sorted(xs, key):
        return [key(v) for v in xs]

    return sorted([x, 2 * x], key=lambda t: t * t)[1]


PROGRAMS = [
    *(by_a_lambda, by_a_function, by_a_function_of_its_own, by_a_function_of_c, of_equal_keys, of_rows),
    *(of_generators, of_arrays, of_dicts, with_a_default, by_objects, of_lists_that_change, in_loops),
    *(some_of_them, none_of_them, sorted_by_another),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_slopes(f):
    check_slope(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second_derivative(f, 1.3)


def test_keys_are_code_of_the_pass():
    for f in (by_a_lambda, of_generators, some_of_them):
        assert "make_function" not in rl.adjoint_source(f, 1.3)


KEYS = [[], [2.0, 1.0], [1.0, math.nan, 0.0, math.nan, -1.0], [3, 3, 1, 1], ["b", "a"], [(1, 2.0), (0, 3.0)]]


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_places_are_those_of_pythons_own(keys):
    xs = list(range(len(keys)))
    for reverse in (False, True):
        wanted = sorted(xs, key=keys.__getitem__, reverse=reverse)
        assert order_of(keys, reverse).tolist() == wanted
    for place, own in ((place_of_greatest, max), (place_of_least, min)):
        if keys:
            assert place(keys) == own(xs, key=keys.__getitem__)
        else:
            with pytest.raises(ValueError, match=own.__name__):
                place(keys)


ERRORS = {
    "no items": ("max([], key=lambda t: t)", ValueError),
    "keys that cannot be compared": ("sorted([x, 2.0], key=lambda t: t * 1j)", TypeError),
    "no items at all": ("min(x, key=lambda t: t)", TypeError),
    "a key of two": ("sorted([x, 2.0], key=lambda t, u: t)", TypeError),
    "a key of one that fails": ("max([x, 2.0], key=lambda t: [][0])", IndexError),
    "none to call": ("sorted([x, 2.0], key=unknown)", NameError),
    "another word": ("sorted([x, 2.0], key=lambda t: t, default=0.0)", TypeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_pythons_own(cells, name):
    text, kind = ERRORS[name]
    f = cells.run(f"def f(x):\n    return {text}\n")["f"]
    with pytest.raises(kind) as own:
        f(1.3)
    with pytest.raises(kind) as ours:
        rl.gradient(f, 1.3)
    assert str(ours.value).splitlines()[0] == str(own.value)


def test_rules_count(cells):
    """A user's rule for one of these answers from then on, and no longer once it is gone."""
    cells.run("import heapq\n")
    texts = {sorted: "sorted([x, 3 * x], key=lambda t: -t)[0]", max: "max([x, 3 * x], key=lambda t: t)"}
    texts[heapq.nlargest] = "heapq.nlargest(1, [x, 3 * x], key=lambda t: t)[0]"
    for target, text in texts.items():
        f = cells.run(f"def f(x):\n    return {text}\n")["f"]
        assert [rl.gradient(f, 1.3) for _ in range(3)] == [(3.0,)] * 3
        rl.non_differentiable(target)
        try:
            assert rl.gradient(f, 1.3) == (0.0,)
        finally:
            rl.remove_rule(target)
        assert rl.gradient(f, 1.3) == (3.0,)


def test_redefinitions_count(cells):
    f = cells.run("def f(x):\n    return sorted([x, 3 * x], key=lambda t: -t)[0]\n")["f"]
    assert [rl.gradient(f, 1.3) for _ in range(3)] == [(3.0,)] * 3
    cells.run("def sorted(xs, key):\n    return [5.0 * xs[0]]\n")
    assert rl.gradient(f, 1.3) == (5.0,)
    cells.run("del sorted\n")
    assert rl.gradient(f, 1.3) == (3.0,)


def test_all_items_come_before_the_first_key(cells):
    """But for `max`, which asks for a key as soon as it has an item."""
    cells.run(
        "import rulelab as rl\nSEEN = []\n"
        "def seen(what, v):\n    rl.ignore_derivatives(lambda: SEEN.append(what))\n    return v\n"
    )
    for call in (
        "sorted(ITEMS, key=lambda t: seen('key', -t))[0]",
        "max(ITEMS, key=lambda t: seen('key', t))",
    ):
        f = cells.run(
            f"def f(x):\n    return {call.replace('ITEMS', '(seen(0, v) * x for v in [1.0, 2.0])')}\n"
        )["f"]
        seen = cells.names["SEEN"]
        seen.clear()
        f(1.3)
        wanted = list(seen)
        seen.clear()
        assert rl.gradient(f, 1.3) == (2.0,)
        assert seen[: len(wanted)] == wanted


NAN = float("nan")
KEYS = [1.0, NAN, 0.5, 2.0, NAN, 0.1, -3.0, 7.0]


def of_a_variable_with_the_name_of_the_loop(x):
    v, w = 2.9 * x, 1.0
    found = max((v * w for v in [x, 3.0] for w in (1.0, x)), key=lambda t: -abs(t - v) * w)
    return found + min((v * 1.0 for v in [x, 3.0, 4.0] if v > 0), key=lambda t: abs(t - v)) * 10


def of_a_function_with_the_name_of_the_loop(x):
    def u(t):
        return -abs(t - 2 * x)

    return max((u * w for u in [x, 3.0] for w in (1.0, x)), key=u)


def by_perhaps_a_key(x, key=None):
    other = abs if x < 0 else None
    found = max([x, 2 * x], key=key) * sorted([x, 3 * x], key=key)[0]
    return found * min([x, 2 * x], key=other) * heapq.nsmallest(1, [x, 2 * x], key)[0]


def by_a_key_that_changes_the_list(x):
    xs = [x, 2 * x]
    found = max([x, 5 * x], key=lambda t: xs.append(t) or t)
    return found * len(xs) * xs[3]


def with_keys_without_order(x):
    total = 0.0
    for count in (1, 2, 3, 7, 8, 9):
        for k, at in enumerate(heapq.nsmallest(count, range(8), key=lambda i: KEYS[i])):
            total = total + (k + 1) ** 2 * at * x
        for k, at in enumerate(heapq.nlargest(count, (i for i in range(8)), key=lambda i: KEYS[i])):
            total = total + (k + 1) ** 2 * at * x * 100
        keys = [key for key in heapq.nlargest(count, KEYS) if key == key]
        total = total + x * len(keys) * sum(keys)
    return total


def of_none_at_all(x):
    xs = [x]
    for count in (0, -1):
        xs = xs + heapq.nsmallest(count, [x, x * x], key=lambda t: 1 / 0) + heapq.nlargest(count, [x])
    none, items = 0, iter([x, x * x])
    xs = xs + heapq.nsmallest(none, items)
    return len(xs) * sum(items)


HIDDEN = [
    *(of_a_variable_with_the_name_of_the_loop, of_a_function_with_the_name_of_the_loop, by_perhaps_a_key),
    *(by_a_key_that_changes_the_list, with_keys_without_order, of_none_at_all),
]


@pytest.mark.parametrize("f", HIDDEN)
def test_what_must_not_be_mixed_up(f):
    wanted = gradient_by_differences(lambda x: f(float(x)), 1.3)
    value, (slope,) = rl.withgradient(f, 1.3)
    assert value == f(1.3) and slope == pytest.approx(float(wanted), rel=1e-6)
    assert rl.pushforward(f, 1.3)(1.0) == pytest.approx(slope, rel=1e-12)


CHANGING = {
    "another key": (
        "def other(t): return -t\n    def k(t):\n        nonlocal k\n        k = other\n        return t\n"
        "    return max([x, 2 * x, 3 * x], key=k)"
    ),
    "another order": (
        "down = True\n    def k(t):\n        nonlocal down\n        down = False\n        return t\n"
        "    return sorted([x, 2 * x], key=k, reverse=down)[0]"
    ),
    "another count": (
        "n = 2\n    def k(t):\n        nonlocal n\n        n = 1\n        return t\n"
        "    return sum(heapq.nsmallest(n, [x, 2 * x], key=k))"
    ),
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_key_that_changes_an_argument_is_no_bug_of_ours(cells, name):
    f = cells.run(f"import heapq\ndef f(x):\n    {CHANGING[name]}\n")["f"]
    try:
        value = rl.withgradient(f, 1.3).val
    except MutationError:
        return
    assert value == f(1.3)


@pytest.mark.parametrize(
    "text",
    [
        "max([x, 2 * x], key=abs, default=d)",
        "sorted([x, 2 * x], key=abs, reverse=d)",
        "sorted([], key=d)",
        "max([x], key=d)",
        "heapq.nsmallest(d, [x], key=abs)",
    ],
)
def test_an_argument_without_a_value(cells, text):
    f = cells.run(f"import heapq\ndef f(x):\n    if x > 5:\n        d = abs\n    return {text}\n")["f"]
    with pytest.raises(UnboundLocalError):
        rl.gradient(f, 1.3)


def of_an_argument(xs):
    first, second, *_ = sorted((v * xs[1] for v in xs), reverse=True)
    return first * 2.0 + second


def without_a_key(xs):
    ordered = sorted(xs, reverse=True)
    return ordered[0] * ordered[1] + 0.5 * sorted(xs, reverse=False)[0]


@pytest.mark.parametrize("f", [of_an_argument, without_a_key])
@pytest.mark.parametrize("xs", [[1.0, 3.0, 2.0], (2.0, 2.0, 1.0), [4, 1.5, 2.5]])
def test_the_items_of_an_argument_in_order(f, xs):
    """`sorted` with `reverse`, which needs no key: equal items stay in their order."""
    pieces = [list(xs[:k]) + [xs[k] + 1e-6] + list(xs[k + 1 :]) for k in range(len(xs))]
    wanted = [(f(type(xs)(moved)) - f(xs)) / 1e-6 for moved in pieces]
    first = rl.gradient(f, xs)[0]
    if len(set(xs)) == len(xs):
        assert np.allclose(first, wanted, atol=1e-4)
    for _ in range(4):
        assert rl.gradient(f, xs)[0] == first
