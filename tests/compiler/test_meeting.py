"""Where the parts of the compiler meet: iterators with containers that change, keys and callbacks that write,
objects in loops. Witness: finite differences of the function itself.
"""

import copy
import functools
import itertools
import math
import operator
import sys
from collections import deque
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import Case, check  # noqa: E402

import rulelab as rl  # noqa: E402

POINT = (1.3, 0.7)


def right(f):
    """The gradient of f is that of finite differences, at the first call and at the second."""
    for _ in range(2):
        check(Case(f, (POINT,)), rl.withgradient)


# --- lists that are copied, grown and returned --------------------------------------------------------------


def test_a_copy_that_grows_and_is_returned_may_be_read_and_changed_by_the_caller():
    """`new = list(old); new.append(v); return new`: every item has its cotangent."""

    def longer(items, v):
        new = list(items)
        new.append(v * items[-1])
        return new

    def summed(x, y):
        return sum(longer(longer([x], x), y))

    def reduced(x, y):
        return functools.reduce(longer, [x, y], [x])[2] * x

    def changed(x, y):
        new = longer([x], y)
        new[1] *= x
        new.append(new[0])
        return sum(v * v for v in new)

    for f in (summed, reduced, changed):
        right(f)


def longer_dict(entries, v):
    new = dict(entries)
    new["z"] = v * entries["a"]
    return new


def sorted_and_longer(items, v):
    new = sorted(items)
    new.append(v * items[0])
    return [new, new]


def test_other_copies_that_grow_and_are_returned():
    """The same for dicts, for sorted lists and for a list that is returned twice."""

    def of_dicts(x, y):
        d = longer_dict(longer_dict({"a": x}, x), y)
        return d["z"] * d["a"]

    def of_sorted(x, y):
        first, second = sorted_and_longer([x, y], x)
        first.append(y)
        return sum(second) * first[0]

    right(of_dicts)
    right(of_sorted)


def insert(tree, v):
    if tree is None:
        return {"v": v, "left": None, "right": None}
    side = "left" if v < tree["v"] else "right"
    tree[side] = insert(tree[side], v)
    return tree


def inorder(tree):
    return [] if tree is None else [*inorder(tree["left"]), tree["v"], *inorder(tree["right"])]


def test_a_search_tree_of_dicts_is_built_by_recursion():
    """What is returned is new on one path and an argument on the other."""

    def f(x, y):
        tree = None
        for v in (x, y, x * y, x + y):
            tree = insert(tree, v)
        return sum(k * v * v for k, v in enumerate(inorder(tree)))

    right(f)


def test_a_shallow_copy_holds_the_very_items():
    """`copy.copy(rows)[0]` is `rows[0]`, also to one who changes it."""

    def f(x, y):
        rows = [[x], [y]]
        other = copy.copy(rows)
        other[0].append(y)
        other.append([x])
        return sum(rows[0]) * len(rows) * other[2][0]

    right(f)


# --- one thing under two names of a callee ------------------------------------------------------------------


def grown_and_read(a, b, v):
    a.append(v)
    return b[2]


def test_an_argument_may_be_another_one_or_a_captured_list():
    """What is changed under one name is read under the other."""

    def two_arguments(x, y):
        items = [x, y]
        return grown_and_read(items, items, x * y) * y

    def argument_and_captured(x, y):
        items = [x, y]

        def grown(a):
            a.append(x)
            return items[:]

        return sum(grown(items)) * y

    def inside_another(x, y):
        table = {"k": [x]}

        def scaled(items):
            items[0] = items[0] * y
            return table["k"][0]

        return scaled(table["k"])

    for f in (two_arguments, argument_and_captured, inside_another):
        right(f)


def repeated(items):
    return items * 2


def joined(items, v):
    return items + [v]


def test_a_list_that_a_callee_has_read_may_change_after_the_call():
    """`items * 2` and `items + [v]` of an argument that the caller changes when it has the result."""

    def of_repeated(x, y):
        items = [x, y]
        found = repeated(items)
        items.append(x)
        return sum(found) * items[2]

    def of_joined(x, y):
        items = [x, y]
        found = joined(items, x)
        items.append(x)
        del items[0]
        return sum(found) * items[0]

    right(of_repeated)
    right(of_joined)


# --- calls behind iterators ---------------------------------------------------------------------------------


def test_what_a_mapped_function_makes_may_be_changed():
    """`map` of a function that gives fresh lists, which are changed when they are taken."""

    def pair(v):
        return [v, v * v]

    def listed(x, y):
        rows = list(map(pair, [x, y]))
        rows[0].append(rows[1][0])
        return rows[0][0] * rows[1][1] + rows[0][2]

    def unpacked(x, y):
        a, b = map(pair, [x, y])
        a.append(x)
        return a[0] * b[0] * a[2]

    def in_turn(x, y):
        items = map(pair, [x, y])
        a = next(items)
        a[0] *= y
        return a[0] * next(items)[1] * a[0]

    for f in (listed, unpacked, in_turn):
        right(f)


def test_functions_that_build_lists_are_mapped_and_reduced():
    """A function that makes a list and fills it changes nothing of its surroundings."""

    def powers(v):
        found = []
        for k in range(3):
            found.append(v**k)
        return found

    def products(p, q):
        found = [0.0] * 5
        for i, a in enumerate(p[:3]):
            for j, b in enumerate(q):
                found[i + j] += a * b
        return found

    def f(x, y):
        return sum(functools.reduce(products, map(powers, [x, y, x * y])))

    right(f)


def test_a_mapped_function_sees_what_changes_before_it_is_called():
    """It is called where the items are read."""

    def f(x, y):
        scale = [x]
        items = map(lambda v: v * scale[0], [x, y])
        scale[0] = y * y
        return sum(items)

    right(f)


def test_running_totals_that_are_changed_between():
    """`accumulate` gives its own next argument away, and goes on with what became of it."""

    def f(x, y):
        found = []
        for total in itertools.accumulate([[x], [y], [x * y]], lambda a, b: [a[0] * b[0]]):
            total[0] = total[0] * 2
            found.append(total[0])
        return sum(found)

    right(f)


def test_a_view_shows_the_dict_as_it_is_when_it_is_read():
    """`d.values()` and `d.items()` taken before d is changed."""

    def values(x, y):
        d = {"a": x, "b": y}
        seen = d.values()
        d["c"] = x * y
        d["a"] = y * y
        return sum(seen) * x

    def items(x, y):
        d = {"a": x, "b": y}
        seen = d.items()
        d["a"] = x * y
        return sum(v * v for _, v in seen)

    right(values)
    right(items)


def test_reversed_reads_when_an_item_is_taken():
    """A list that is changed between is refused, for the item would be another."""

    def f(x, y):
        items = [x, y]
        backwards = reversed(items)
        items[0] = y * y
        return sum(k * v for k, v in enumerate(backwards, 1))

    with pytest.raises(rl.MutationError, match="changed while an iterator"):
        rl.gradient(f, *POINT)

    def unchanged(x, y):
        items = [x, y]
        backwards = reversed(items)
        return sum(k * v for k, v in enumerate(backwards, 1)) + items[0]

    right(unchanged)


def test_partial_holds_the_list_that_the_function_changes():
    """Also a bound method, and words given later."""

    def put(out, scale, v):
        out.append(v * scale)
        return len(out)

    def of_function(x, y):
        out = []
        add = functools.partial(put, out, x)
        add(y)
        add(x)
        add(v=y * y)
        return sum(out) * out[1]

    def of_method(x, y):
        out = []
        functools.partial(out.append)(y * x)
        return sum(out) * out[0]

    right(of_function)
    right(of_method)


class Score:
    def __init__(self, scale):
        self.scale = scale
        self.seen = []

    def of(self, v):
        self.seen.append(v)
        return v * self.scale


def test_a_key_that_keeps_what_varies_is_refused():
    """Nobody sees what a key does that is no code of the function: not with a method, not in place."""

    def in_place(x, y):
        seen, xs = [], [x, y]

        def key(v):
            seen.append(v)
            return v

        xs.sort(key=key)
        return xs[0] * seen[1]

    def by_method(x, y):
        score = Score(x)
        return sorted([x, y], key=score.of)[0] * score.seen[1]

    def by_max(x, y):
        score = Score(x)
        return max([x, y], key=score.of) * score.seen[1]

    for f in (in_place, by_method, by_max):
        with pytest.raises(rl.MutationError):
            rl.gradient(f, *POINT)


def test_a_key_that_keeps_what_varies_and_is_called_by_its_name():
    """What a closure does to a list is followed where it is the key of `sorted` or `max`."""

    def in_order(x, y):
        seen = []

        def key(v):
            seen.append(v * x)
            return v

        return sorted([x, y], key=key)[0] * seen[1]

    def greatest(x, y):
        seen = []

        def key(v):
            seen.append(v * y)
            return v

        return max([x, y], key=key) * seen[1]

    for f in (in_order, greatest):
        check(Case(f, (POINT,)), rl.withgradient)


def test_sorting_numbers_by_a_list_that_varies():
    """`sorted(range(n), key=lambda i: xs[i])`"""

    def f(x, y):
        xs = [x, y, x * y]
        order = sorted(range(3), key=lambda i: xs[i])
        return sum((k + 1) * xs[i] for k, i in enumerate(order))

    right(f)


def test_a_window_of_the_last_values():
    """A deque of this function's own is summed and looped over."""

    def f(x, y):
        window, total = deque(maxlen=2), 0.0
        for v in (x, y, x * y, y * y):
            window.append(v)
            total += sum(window) * max(window) * window[0]
        return total

    def unpacked(x, y):
        queue = deque([x, y])
        doubled = [v * 2 for v in queue]
        queue.append(doubled[0])
        a, b, c = queue
        return a * b * c + sum(u * v for u, v in zip(queue, doubled, strict=False))

    right(f)
    right(unpacked)


# --- functions and classes of the author's ------------------------------------------------------------------


def test_words_may_be_changed_by_the_function_that_collects_them():
    """`**words` is a dict of the call's own, also for one that keeps or returns it."""

    def kept(x, y):
        saved = []

        def save(**words):
            words.setdefault("z", x * x)
            saved.append(words)

        save(a=x)
        save(a=y, z=y)
        saved[0]["a"] *= 2
        return saved[0]["a"] * saved[0]["z"] + saved[1]["z"]

    def returned(x, y):
        def moved(**words):
            words["b"] = words["a"] * y
            words["a"] = words.pop("c")
            return words

        d = {"a": x, "c": y * x}
        found = moved(**d)
        found["b"] += x
        return found["a"] * found["b"] * d["a"]

    right(kept)
    right(returned)


class Vector:
    def __init__(self, *items):
        self.items = list(items)

    def __iadd__(self, other):
        for k, v in enumerate(other.items):
            self.items[k] += v
        return self

    def __imul__(self, scale):
        return Vector(*[v * scale for v in self.items])

    def norm(self):
        return math.sqrt(sum(map(operator.mul, self.items, self.items)))


def test_in_place_operators_of_an_authors_class():
    """`v += w` changes v where `__iadd__` does, and rebinds it where that gives a new one."""

    def changed(x, y):
        v = Vector(x, y)
        alias = v
        v += Vector(y, x * x)
        alias.items[0] *= y
        return v.norm() * v.items[0]

    def rebound(x, y):
        v = Vector(x, y)
        old = v
        v *= x
        v += old
        return v.norm() * old.norm()

    def in_loop(x, y):
        vectors = [Vector(x, y), Vector(y, 1.0)]
        for v in vectors:
            v += Vector(x, x)
        return vectors[0].norm() * vectors[1].norm()

    for f in (changed, rebound, in_loop):
        right(f)


def test_a_function_with_words_may_be_called_without_any():
    """Also one that puts constants, or what varies, into the dict of its words."""

    def counted(v, **words):
        words["own"] = 1.0
        return v * len(words)

    def stored(v, **words):
        words["own"] = v
        return words["own"] * words["scale"]

    def f(x, y):
        return counted(x, scale=2.0) * counted(y) * stored(x, scale=2.0) * stored(y, scale=x)

    def constant(x, y):
        return counted(2.0) * counted(3.0, scale=1.0) * x * y

    right(f)
    right(constant)


def test_a_seed_for_a_view_has_to_be_a_tangent():
    """`pullback` of a function that returns `d.values()` says so, in an error of ours."""
    _, back = rl.pullback(lambda x: {"a": x}.values(), 3.0)
    with pytest.raises(rl.RuleDtypeError, match="dict_values"):
        back([1.0])


class Lazy:
    def __init__(self, items):
        self.items = items

    @functools.cached_property
    def total(self):
        return sum(self.items)

    @functools.cached_property
    def scaled(self):
        return [v * self.total for v in self.items]


def test_a_cached_property_is_kept_while_what_it_was_made_of_changes():
    """The value is that of the first read, until it is deleted; a cached list may be changed."""

    def f(x, y):
        items = [x, y]
        lazy = Lazy(items)
        first = lazy.total
        items.append(x)
        lazy.scaled.append(y)
        lazy.scaled[0] *= x
        second = lazy.total
        del lazy.total
        return first * second * lazy.total * sum(lazy.scaled)

    right(f)
