"""Lists, dicts and objects changed where they were made; and those that others hold, which are left alone."""

import copy
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.features import FEATURES, MEANINGS  # noqa: E402
from corpus.harness import check, finite_differences, registered, waiting_cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.memory import heap  # noqa: E402
from rulelab.compiler.memory.support import NO, ZERO  # noqa: E402

WAITING = waiting_cases()


@pytest.mark.parametrize("case", WAITING, ids=[case.name for case in WAITING])
def test_what_waits_is_right_or_refused(case):
    """A construct that is not promised yet gets a typed error or the right gradient, never another number."""
    try:
        check(case, rl.withgradient)
    except rl.RuleLabError:
        pass


@pytest.mark.parametrize("case", WAITING, ids=[case.name for case in WAITING])
def test_the_witness_can_judge_what_waits(case):
    """The function runs at every point and its finite differences are sharp enough to judge a gradient."""
    for args in case.points:
        for i in case.active(args):
            numeric, error = finite_differences(case.function, args, i, case.kwargs)
            assert np.all(error <= case.tolerance / 3 * max(1.0, np.abs(numeric).max(initial=0.0)))


def test_what_works_is_promised():
    """A construct whose waiting cases are all right belongs into TAKEN; `pytest -s` shows how far each is."""
    counts = {}
    for case in WAITING:
        try:
            check(case, rl.withgradient)
            verdict = "right"
        except rl.RuleLabError as error:
            verdict = type(error).__name__
        for need in case.needs - FEATURES:
            counts.setdefault(need, Counter())[verdict] += 1
    for need in sorted(counts):
        print(f"{need:20} {dict(counts[need].most_common())}")
    ready = [need for need in sorted(counts) if set(counts[need]) == {"right"}]
    assert not ready, f"put into TAKEN of tests/corpus/features.py: {ready}"


def test_the_heap_is_covered():
    """At least 60 functions change lists, dicts, objects or closures; each needs something by name."""
    cases = [case for case in registered() if case.name.startswith("heap.")]
    assert len(cases) >= 60
    assert {need for case in cases for need in case.needs} <= set(MEANINGS)


# --- what others hold ---

SEEN = [1.0]
TABLE = {"a": 1.0}


class Config:
    scale = 2.0
    history: ClassVar = [1.0]


class Model:
    def __init__(self, weight):
        self.weight = weight
        self.losses = [1.0]

    def loss(self, x):
        y = self.weight * x
        self.losses.append(y)
        return y * y

    def grow(self, x):
        self.weight = self.weight * x
        return self.weight * x


@dataclass(frozen=True)
class Holder:
    items: list = field(default_factory=lambda: [1.0, 2.0])


def push(items, value):
    items.append(value)
    return items


def registry():
    return SEEN


def appends_to_argument(x, items):
    items.append(x)
    return x * items[0]


def assigns_item_of_argument(x, items):
    items[0] = x * x
    return items[0] * items[1]


def augments_item_of_argument(x, items):
    items[0] += x
    return items[0] * items[1]


def extends_argument_by_augmenting(x, items):
    items += [x]
    return items[0] * x


def pops_from_argument(x, items):
    return items.pop() * x


def sorts_argument(x, items):
    items.sort()
    return items[0] * x


def empties_argument(x, items):
    first = items[0]
    items.clear()
    return first * x


def changes_argument_by_another_name(x, items):
    other = items
    other.append(x)
    return other[0] * x


def changes_argument_inside_a_list(x, items):
    box = [items, [x]]
    box[0][1] = x
    return items[1] * box[1][0]


def changes_argument_in_a_helper(x, items):
    return push(items, x)[0] * x


def changes_argument_in_a_closure(x, items):
    def note(value):
        items.append(value)

    note(x)
    return items[0] * x


def changes_row_of_argument(x, rows):
    rows[0][0] = x
    return rows[0][0] * rows[1][0]


def changes_dict_argument(x, table):
    table["a"] = x * table["a"]
    return table["a"] ** 2


def updates_dict_argument(x, table):
    table.update({"b": x})
    return table["a"] * x


def sets_attribute_of_argument(x, model):
    model.weight = x
    return model.weight * x


def changes_list_of_an_argument_object(x, model):
    model.losses[0] = x
    return model.losses[0] * x


def changes_list_of_a_frozen_argument(x, holder):
    holder.items.append(x)
    return holder.items[0] * x


def appends_to_global(x):
    SEEN.append(x)
    return SEEN[0] * x


def assigns_item_of_global_dict(x):
    TABLE["a"] = x
    return TABLE["a"] * x


def changes_what_a_helper_gives(x):
    registry().append(x)
    return x * x


def sets_class_attribute(x):
    Config.scale = x
    return Config.scale * x


def changes_list_of_a_class(x):
    Config.history.append(x)
    return Config.history[0] * x


def remembers(x, seen=[1.0]):
    seen.append(x)
    return seen[0] * x


def changes_mutable_default(x):
    return remembers(x) * 2.0


def changes_what_is_ignored(x):
    items = rl.ignore_derivatives(lambda: SEEN)
    items[0] = x
    return items[0] * x


def calls_a_method_that_keeps_a_log(x, model):
    return model.loss(x)


def calls_a_method_that_sets_its_object(x, model):
    return model.grow(x)


def writes_array_argument_through_a_list(x, v):
    parts = [v]
    parts[0][0] = x
    return v[0] * x


OF_ARGUMENTS = [
    (appends_to_argument, (2.0, [1.0, 3.0])),
    (assigns_item_of_argument, (2.0, [1.0, 3.0])),
    (augments_item_of_argument, (2.0, [1.0, 3.0])),
    (extends_argument_by_augmenting, (2.0, [1.0, 3.0])),
    (pops_from_argument, (2.0, [1.0, 3.0])),
    (sorts_argument, (2.0, [3.0, 1.0])),
    (empties_argument, (2.0, [3.0, 1.0])),
    (changes_argument_by_another_name, (2.0, [1.0, 3.0])),
    (changes_argument_inside_a_list, (2.0, [1.0, 3.0])),
    (changes_argument_in_a_helper, (2.0, [1.0, 3.0])),
    (changes_argument_in_a_closure, (2.0, [1.0, 3.0])),
    (changes_row_of_argument, (2.0, [[1.0], [3.0]])),
    (changes_dict_argument, (2.0, {"a": 1.0})),
    (updates_dict_argument, (2.0, {"a": 1.0})),
    (sets_attribute_of_argument, (2.0, Model(3.0))),
    (changes_list_of_an_argument_object, (2.0, Model(3.0))),
    (changes_list_of_a_frozen_argument, (2.0, Holder())),
    (calls_a_method_that_keeps_a_log, (2.0, Model(3.0))),
    (calls_a_method_that_sets_its_object, (2.0, Model(3.0))),
]

CHANGES = [
    (appends_to_global, (2.0,)),
    (assigns_item_of_global_dict, (2.0,)),
    (changes_what_a_helper_gives, (2.0,)),
    (sets_class_attribute, (2.0,)),
    (changes_list_of_a_class, (2.0,)),
    (changes_mutable_default, (2.0,)),
    (changes_what_is_ignored, (2.0,)),
    (writes_array_argument_through_a_list, (2.0, np.array([1.0, 3.0]))),
]


def everything_held(args):
    """What a refused write must leave as it was: the arguments, the globals, the class, the default."""
    held = (args, SEEN, TABLE, Config.scale, Config.history, remembers.__defaults__)
    plain = lambda v: {**vars(v)} if hasattr(v, "__dict__") else v
    return repr([[plain(a) for a in held[0]], *held[1:]])


@pytest.mark.parametrize("f, args", CHANGES, ids=[f.__name__ for f, _ in CHANGES])
def test_what_others_hold_is_not_changed(f, args):
    """Changing a list, dict or object that was there before the call is refused, and does not happen."""
    args = copy.deepcopy(args)
    before = everything_held(args)
    with pytest.raises(rl.MutationError):
        rl.withgradient(f, *args)
    assert everything_held(args) == before


@pytest.mark.parametrize("f, args", OF_ARGUMENTS, ids=[f.__name__ for f, _ in OF_ARGUMENTS])
def test_what_the_caller_hands_over_is_changed(f, args):
    """Its old contents are known: value and arguments are as after a plain call, the gradient is right."""
    mine, plain = copy.deepcopy(args), copy.deepcopy(args)
    value, (slope, *_) = rl.withgradient(f, *mine)
    assert value == f(*plain)
    assert everything_held(mine) == everything_held(plain)
    h = 1e-6
    above, below = (f(args[0] + by, *copy.deepcopy(args[1:])) for by in (h, -h))
    assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6)


def made_with_a_list(items):
    def appends(x):
        items.append(x)
        return items[0] * x

    return appends


def made_with_a_dict(table):
    def sets(x):
        table["a"] = x
        return table["a"] * x

    return sets


@pytest.mark.parametrize("make, held", [(made_with_a_list, [1.0]), (made_with_a_dict, {"a": 1.0})])
def test_what_the_function_holds_is_not_changed(make, held):
    """A list or dict captured by the differentiated function outlives the call: a write is refused."""
    before = copy.deepcopy(held)
    with pytest.raises(rl.MutationError):
        rl.gradient(make(held), 2.0)
    assert held == before


def made_with_a_number(total):
    def adds(x):
        nonlocal total
        total += x
        return total * x

    return adds, lambda: total


def test_a_variable_the_function_holds_is_not_rebound():
    """`nonlocal` of a variable that outlives the call is refused, and the variable stays."""
    adds, read = made_with_a_number(1.0)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(adds, 2.0)
    assert read() == 1.0


def test_a_refused_write_is_not_caught_by_the_function():
    """`except Exception` around a refused write does not turn the refusal into a number."""
    items = [1.0]

    def hopeful(x):
        try:
            items.append(x)
            return items[-1] * x
        except Exception:
            return x

    with pytest.raises(rl.MutationError):
        rl.gradient(hopeful, 2.0)
    assert items == [1.0]


def test_what_is_returned_is_the_callers():
    """A list or dict made inside may be changed by the caller after `pullback`, or `back` refuses."""

    def made(x):
        items = [x, x * x]
        items.append(items[1] * x)
        return items

    items, back = rl.pullback(made, 2.0)
    items[1] = 100.0
    try:
        (x_bar,) = back([0.0, 0.0, 1.0])
    except rl.RuleLabError:
        return
    assert x_bar == pytest.approx(12.0)


# --- the truth of a list, which changes with it ---


class Alternating:
    """An object whose truth is another one each time that it is asked for."""

    def __init__(self):
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        return self.asked % 2 == 1


def empty_before_the_append(x):
    out = []
    y = x * 2.0 if out else x * 3.0
    out.append(y)
    return out[0]


def not_empty_from_the_second_round(x):
    out, total = [], 0.0
    for k in range(3):
        if out:
            total = total * x
        else:
            total = total + x * x
        out.append(k)
    return total


def not_empty_from_the_third_round(x):
    seen, total = [], 1.0
    for k in range(4):
        total = total * x if seen else total + x
        if k == 1:
            seen.append(k)
    return total


def last_item_if_there_is_one(x):
    out = []
    for _ in range(3):
        out.append(out[-1] * x if out else x)
    return out[2] * out[0]


@pytest.mark.parametrize(
    "f",
    [
        empty_before_the_append,
        not_empty_from_the_second_round,
        not_empty_from_the_third_round,
        last_item_if_there_is_one,
    ],
)
def test_the_branch_taken_is_the_one_differentiated(f):
    """`if items:` is decided once, when it runs, however the list is changed later."""
    numeric, error = finite_differences(f, (1.7,), 0)
    (x_bar,) = rl.gradient(f, 1.7)
    assert x_bar == pytest.approx(numeric[0], rel=1e-8) and error[0] < 1e-8


def chosen_by(x, flags):
    return x * 2.0 if flags else x * 3.0


@pytest.mark.parametrize(
    "flags, change", [([], lambda flags: flags.append(1)), (Alternating(), lambda flags: None)]
)
def test_the_branch_taken_is_kept_for_back(flags, change):
    """What the caller does to a list between `pullback` and `back` does not choose another branch."""
    with rl.debug_mode(compare=False):  # asked once more, it would answer otherwise
        y, back = rl.pullback(chosen_by, 1.7, flags)
    change(flags)
    assert back(1.0)[0] == y / 1.7


# --- indices that only the run can tell ---

ORDER = {"first": 1}


def last_of(n):
    return n - 1


def index_from_a_helper(x):
    items = [x, x * x]
    return items[last_of(2)] * x


def index_from_a_list(x):
    items, order = [x, x * x], [1, 0]
    return items[order[0]] * items[order[1]]


def index_from_a_dict(x):
    return (x, x * x)[ORDER["first"]] * x


def index_from_a_search(x):
    items, best = [x, x * x, 0.5], None
    for k in range(3):
        if best is None or items[k] > items[best]:
            best = k
    return items[best] * x


def index_of_the_largest(x):
    items = [x, x * x, 0.5]
    return items[max(range(3), key=lambda k: items[k])] * x


@pytest.mark.parametrize(
    "f",
    [
        index_from_a_helper,
        index_from_a_list,
        index_from_a_dict,
        index_from_a_search,
        index_of_the_largest,
    ],
)
def test_an_index_known_at_run_time(f):
    """A list made inside may be read at an index that a helper, a container or a search gives."""
    numeric, error = finite_differences(f, (1.7,), 0)
    (x_bar,) = rl.gradient(f, 1.7)
    assert x_bar == pytest.approx(numeric[0], rel=1e-8) and error[0] < 1e-8


# --- sweeps ---


def test_sweeps_do_not_meet():
    """What one sweep made is not another's: inside a sweep of its own it may not be changed."""
    outer = heap.enter()
    try:
        xs = heap.own([1.0], True)
        assert heap.is_followed(xs)
        inner = heap.enter()
        assert not heap.is_own(xs)
        heap.leave(inner)
        assert heap.is_own(xs)
    finally:
        heap.leave(outer)


def test_idle_pullbacks_need_not_be_asked():
    """Only a pullback with effects is called where nothing flowed to its result."""
    plain, changing = lambda _: NO, heap.effectful(lambda _: NO)
    assert heap.is_idle(plain, ZERO)
    assert not heap.is_idle(changing, ZERO)
    assert not heap.is_idle(plain, 1.0)
    assert not heap.is_idle(heap.like(changing, lambda _: NO), NO)
