"""Traps for containers that change: aliases, helpers, factories, rules that look twice, orders of events."""

import copy
import dataclasses
import functools
import sys
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import Case, check  # noqa: E402

import rulelab as rl  # noqa: E402


def right(f, *args):
    """The gradient of f at args is that of finite differences, at the first call and at the second."""
    for _ in range(2):
        check(Case(f, (args,)), rl.withgradient)


# --- helpers that make what the caller changes -------------------------------------------------------------


class Point:
    def __init__(self, x):
        self.x = x
        self.log = []

    @staticmethod
    def twice(x):
        return Point(x + x)

    def note(self, value):
        self.log.append(value * self.x)


def made_point(x):
    return Point(x + x)


def object_made_by_a_helper(x):
    return made_point(x).x * 3


def object_made_by_a_static_method(x):
    point = Point.twice(x)
    point.note(x)
    return point.log[0]


def zeros(n):
    return [0.0] * n


def zero_matrix(n):
    return [[0.0] * n for _ in range(n)]


def made_record(x):
    return {"w": [x, 2 * x], "constant": [1.0], "inner": {"rows": [[1.0], [x]]}}


def two_lists(x):
    a, b = [], []
    for k in range(3):
        a.append(x * k)
        b.append(x**k)
    return a, b


def one_list_twice(x):
    if x > 1:
        return [x], [x * x]
    a = [x]
    return a, a


def ragged(x):
    rows = []
    for k in range(3):
        row = []
        for j in range(k + 1):
            row.append(x * j)
        rows.append(row)
    return rows


def constant_list_of_a_helper_filled(x):
    xs, m = zeros(3), zero_matrix(2)
    for k in range(3):
        xs[k] = x * k
    m[0][1] = xs[2] * x
    m[1].append(m[0][1])
    return sum(xs) * m[1][2] * m[0][1]


def record_of_a_helper_changed(x):
    p = made_record(x)
    p["w"][0] *= 3
    p["constant"].append(p["w"][0] * x)
    p["inner"]["rows"][0][0] = x**3
    p["inner"]["rows"][1].append(p["inner"]["rows"][0][0])
    p["new"] = x
    return sum(p["w"]) * p["constant"][1] + sum(p["inner"]["rows"][1]) * p["new"]


def two_lists_of_a_helper_changed(x):
    a, b = two_lists(x)
    a[0] = b[2] * x
    b.append(a[0])
    return sum(a) * sum(b)


def one_list_of_a_helper_changed_by_two_names(x):
    a, b = one_list_twice(x)
    a.append(x)
    b[0] *= a[-1]
    return sum(a) * sum(b)


def rows_of_a_helper_changed(x):
    rows = ragged(x)
    rows[0].append(x)
    rows[1][0] = rows[0][1]
    rows[2], rows[0] = rows[0], rows[2]
    rows[0][1] *= x
    return sum([sum(row) for row in rows])


def array_as_list_changed(v):
    xs = v.tolist()
    xs.append(xs[0] * 2)
    xs[0] *= xs[1]
    return sum(xs) * xs[2]


@pytest.mark.parametrize("x", [1.3, 0.7])
@pytest.mark.parametrize(
    "f",
    [
        object_made_by_a_helper,
        object_made_by_a_static_method,
        constant_list_of_a_helper_filled,
        record_of_a_helper_changed,
        two_lists_of_a_helper_changed,
        one_list_of_a_helper_changed_by_two_names,
        rows_of_a_helper_changed,
    ],
)
def test_what_a_helper_made_belongs_to_the_caller(f, x):
    """What a helper makes and gives back, nested or not, constant or not, may be changed by the caller."""
    right(f, x)


def test_the_list_of_an_array_may_be_changed():
    """A rule that keeps the list it gave out does not see the changes that the caller makes to it."""
    right(array_as_list_changed, np.array([1.0, 2.0]))


@pytest.mark.parametrize("f", [two_lists, one_list_twice, ragged])
def test_seeds_for_what_is_returned_in_containers(f):
    """A pullback of nested lists takes a seed for each number in them, again and again."""
    flat = lambda y: np.concatenate([np.ravel(row) for row in y])
    y, back = rl.pullback(f, 1.3)
    rng = np.random.default_rng(0)
    for _ in range(3):
        seed = type(y)([rng.normal(size=len(row)).tolist() for row in y])
        step = 1e-6
        numeric = (flat(f(1.3 + step)) - flat(f(1.3 - step))) @ flat(seed) / (2 * step)
        assert back(seed)[0] == pytest.approx(numeric, rel=1e-7, abs=1e-8)


# --- rules that look at their arguments again later --------------------------------------------------------


def norm(xs):
    return sum([v * v for v in xs])


@rl.rrule_for(norm)
def norm_rrule(xs):
    return norm(xs), lambda y_bar: (rl.NoTangent(), [2 * v * y_bar for v in xs])


class Model:
    def __init__(self, w):
        self.w = w
        self.items = [w]
        self.me = self


def energy(model):
    return model.w**2 * sum(model.items)


@rl.rrule_for(energy)
def energy_rrule(model):
    def energy_pullback(y_bar):
        w_bar = 2 * model.w * sum(model.items) * y_bar
        return rl.NoTangent(), rl.Tangent(Model, w=w_bar, items=[model.w**2 * y_bar for _ in model.items])

    return energy(model), energy_pullback


def weighted(pair):
    return pair[0][0] * pair[1]


@rl.rrule_for(weighted)
def weighted_rrule(pair):
    return weighted(pair), lambda y_bar: (rl.NoTangent(), ([pair[1] * y_bar], pair[0][0] * y_bar))


def list_changed_between_two_calls_of_a_rule(x):
    xs = [x, x * 2]
    a = norm(xs)
    xs[0] = a
    b = norm(xs)
    xs.append(b)
    xs.reverse()
    return norm(xs) * 0.01 + a


def object_changed_between_two_calls_of_a_rule(x):
    model = Model(x)
    a = energy(model)
    model.w = a
    model.items.append(x)
    model.items[0] = model.w * x
    return energy(model) * model.w


def list_in_a_tuple_changed_between_two_calls_of_a_rule(x):
    xs = [x]
    pair = (xs, x * x)
    a = weighted(pair)
    xs[0] = a * x
    return weighted(pair) * a + weighted((xs, xs[0]))


@pytest.mark.parametrize(
    "f",
    [
        list_changed_between_two_calls_of_a_rule,
        object_changed_between_two_calls_of_a_rule,
        list_in_a_tuple_changed_between_two_calls_of_a_rule,
    ],
)
def test_a_rule_sees_its_arguments_as_they_were(f):
    """A user's pullback that reads the containers it was called with finds what they held at the call."""
    right(f, 0.7)


def push(xs, value):
    xs.append(value)


@rl.rrule_for(push)
def push_rrule(xs, value):
    xs.append(value)
    return None, lambda y_bar: (rl.NoTangent(), rl.ZeroTangent(), 0.0)


def set_first(model, value):
    model.items[0] = value


@rl.rrule_for(set_first)
def set_first_rrule(model, value):
    set_first(model, value)
    return None, lambda y_bar: (rl.NoTangent(), rl.ZeroTangent(), 0.0)


def same(xs):
    return xs


@rl.rrule_for(same)
def same_rrule(xs):
    return (xs, 1.0), lambda y_bar: (rl.NoTangent(), y_bar[0])


def test_a_rule_that_writes_to_its_argument_is_refused():
    """A user's rule that changes the list or object it was given gets an error, not a lost change."""

    def pushes(x):
        xs = [x]
        push(xs, x * x)
        return sum(xs)

    def sets(x):
        model = Model(x)
        set_first(model, x * x)
        return model.items[0]

    for f in (pushes, sets):
        for _ in range(2):
            with pytest.raises(rl.MutationError, match="changes its argument"):
                rl.gradient(f, 2.0)


def test_a_rule_that_gives_back_its_argument_is_refused():
    """A list that a user's rule returns as it came in would no longer be the caller's list."""

    def f(x):
        xs = [x]
        ys, _ = same(xs)
        xs[0] = x * x
        return ys[0]

    with pytest.raises(rl.NotDifferentiableError, match="returns its argument"):
        rl.gradient(f, 2.0)


# --- containers of the standard library --------------------------------------------------------------------


def factory_captures_what_varies(x):
    d = defaultdict(lambda: x)
    d[1] += x * x
    d[2] *= 2
    return d[1] * d[2] * d[3]


def factory_makes_lists_of_what_varies(x):
    d = defaultdict(lambda: [x, 1.0])
    d["a"][1] = x**3
    d["b"].append(d["a"][1])
    return sum(d["a"]) * sum(d["b"])


def factory_of_factories(x):
    d = defaultdict(lambda: defaultdict(float))
    d["a"]["b"] += x
    d["a"]["c"] += d["a"]["b"] * x
    d["z"]["b"] -= x
    return d["a"]["c"] * d["z"]["b"] + d["z"]["q"]


def groups_of_indices(x):
    groups = defaultdict(list)
    for k in range(5):
        groups[k % 2].append(k)
    s = 0.0
    for k in groups[0]:
        s += x**k
    return s * len(groups[1])


def bounded_queue(x):
    d = deque([1.0, x], maxlen=3)
    for k in range(4):
        d.append(x * (k + 1))
    d.appendleft(x**3)
    d.rotate(1)
    d[1] = d[0] * d[2]
    s = 0.0
    for v in d:
        s += v * v
    for k, v in enumerate(reversed(d)):
        s += k * v
    return s + d.popleft() * d.pop() + len(d)


def queue_made_too_short(x):
    d = deque([x, x * x, x**3], maxlen=2)
    return d[0] * d[1] ** 2


def seen_before(x):
    seen = set()
    s = 0.0
    for k in [1, 2, 1, 3]:
        if k in seen:
            continue
        seen.add(k)
        s += x * k
    seen |= {7}
    return s * len(seen)


def visit(n, seen, graph, order):
    if n in seen:
        return
    seen.add(n)
    for m in graph[n]:
        visit(m, seen, graph, order)
    order.append(n)


def nodes_in_topological_order(x):
    graph = {0: [1, 2], 1: [3], 2: [3], 3: []}
    seen, order, value = set(), [], {}
    visit(0, seen, graph, order)
    for n in order:
        total = x
        for m in graph[n]:
            total = total + value[m] * x
        value[n] = total
    return value[0]


class Value:
    """A scalar that knows how to hand a derivative to what it was made of."""

    def __init__(self, data, children=()):
        self.data = data
        self.grad = 0.0
        self.children = children
        self.back = lambda: None

    def times(self, other):
        out = Value(self.data * other.data, (self, other))

        def back():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.back = back
        return out

    def backward(self):
        order, visited = [], set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v.children:
                    build(child)
                order.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(order):
            v.back()


def derivative_of_a_tape(x, y):
    a, b = Value(x), Value(y)
    c = a.times(b).times(a)
    c.backward()
    return a.grad * b.grad


def objects_of_a_set(x):
    a = Value(x)
    visited = {a}
    visited.add(a)
    s = 0.0
    for v in visited:
        v.data *= x
        s += v.data
    return s * a.data


@pytest.mark.parametrize(
    "f",
    [
        factory_captures_what_varies,
        factory_makes_lists_of_what_varies,
        factory_of_factories,
        groups_of_indices,
        bounded_queue,
        queue_made_too_short,
        seen_before,
        nodes_in_topological_order,
        objects_of_a_set,
    ],
)
def test_containers_of_the_standard_library(f):
    """Defaultdicts with any factory, deques with a bound, and sets of what has no cotangent of its own."""
    right(f, 1.3)


def test_an_autodiff_of_the_authors():
    """A reverse mode written with objects, closures and a set is itself differentiated."""
    right(derivative_of_a_tape, 1.2, 0.7)


def number_of_a_set(x):
    s = 0.0
    for v in {x, 2.0}:
        s += v
    return s


def number_added_to_a_set(x):
    seen = set()
    seen.add(x)
    s = 0.0
    for v in seen:
        s += v
    return s


def number_as_a_key(x):
    d = {x: 1.0, "a": [x]}
    d["a"].append(x)
    s = 0.0
    for k in d:
        if k != "a":
            s += k
    return s


def entry_made_by_the_way(x):
    d = defaultdict(lambda: x)
    d[1]
    return d[1] * x


def entry_of_a_union(x):
    return (defaultdict(lambda: x) | {})[1]


def entry_of_a_copy(x):
    return copy.copy(defaultdict(lambda: x))[1]


def entry_of_a_deep_copy(x):
    return copy.deepcopy(defaultdict(lambda: x))[1]


def factory_assigned(x):
    d = defaultdict(float)
    d.default_factory = lambda: x
    return d[1]


LOSERS = (
    number_of_a_set, number_added_to_a_set, number_as_a_key, entry_made_by_the_way, entry_of_a_union,
    entry_of_a_copy, entry_of_a_deep_copy, factory_assigned,
)  # fmt: skip


@pytest.mark.parametrize("f", LOSERS, ids=[f.__name__ for f in LOSERS])
def test_numbers_that_would_lose_their_cotangent(f):
    """A varying number that goes into a set, a key, an unused entry or one of a factory that the dict was not
    made with is refused, never dropped.
    """
    with pytest.raises(rl.RuleLabError):
        rl.gradient(f, 2.0)


def test_a_deque_that_changes_under_a_loop():
    """A deque that its loop makes longer is Python's own error."""

    def f(x):
        d = deque([x])
        for v in d:
            d.append(v)
        return d[0]

    with pytest.raises(RuntimeError, match="mutated during iteration"):
        rl.gradient(f, 2.0)


# --- dataclasses -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frozen:
    a: float
    pair: tuple = ()
    items: list = field(default_factory=list)

    def __post_init__(self):
        object.__setattr__(self, "pair", (self.a, self.a**2))
        self.items.append(self.pair[1])


def test_a_frozen_class_that_sets_its_own_fields():
    """`object.__setattr__` in `__post_init__`, the usual way for frozen classes, is followed."""

    def f(x):
        frozen = Frozen(x)
        frozen.items[0] *= x
        return frozen.a * frozen.pair[1] + frozen.items[0]

    right(f, 1.3)


def test_a_frozen_class_refuses_in_its_own_words():
    """The assignment to a field of a frozen object is the error that Python gives."""

    def f(x):
        frozen = Frozen(x)
        frozen.a = 2.0
        return frozen.a

    with pytest.raises(dataclasses.FrozenInstanceError):
        rl.gradient(f, 2.0)


# --- helpers that are not what they were -------------------------------------------------------------------


def reads(xs):
    return sum(xs)


def writes(xs):
    xs[0] = xs[1] * 5
    return sum(xs)


def calls_a_helper(x):
    xs = [x, x * x]
    a = helper(xs)
    return a * xs[0]


def calls_a_helper_of_a_helper(x):
    xs = [x, x * x]
    a = through(xs)
    return a * xs[0]


def through(xs):
    return helper(xs)


helper = reads


@pytest.mark.parametrize("f", [calls_a_helper, calls_a_helper_of_a_helper])
def test_a_helper_that_is_redefined_to_write(f, monkeypatch):
    """A helper that only read its list and now writes to it is followed, at whatever depth it is called."""
    for meaning in (reads, writes, reads, writes):
        monkeypatch.setitem(globals(), "helper", meaning)
        right(f, 0.7)


def test_functions_given_as_arguments_may_write():
    """What a function handed as an argument does to a list is asked of that function, call by call."""

    def f(act, x):
        xs = [x, x * x]
        a = act(xs)
        return a * xs[0]

    for act in (reads, writes, lambda xs: xs.pop(), reads):
        right(lambda x, act=act: f(act, x), 0.7)


class Shelf:
    """A class with methods that are named like those of arrays, and write."""

    def __init__(self):
        self.items = []

    def put(self, value):
        self.items.append(value)

    def fill(self, value):
        self.items[0] = value


def fills(shelf, value):
    shelf.put(value)
    shelf.fill(value * value)


def test_methods_named_like_those_of_arrays():
    """`put` and `fill` of an author's class, called by a helper, may write."""

    def f(x):
        shelf = Shelf()
        shelf.put(x)
        fills(shelf, x * 3)
        return shelf.items[0] * shelf.items[1]

    right(f, 1.3)


def test_namespaces_hold_lists():
    """A namespace made by a helper with nested lists, some constant, may be changed through and through."""

    def make(x):
        return SimpleNamespace(w=[x, 2 * x], m=[[1.0], [x]])

    def f(x):
        p = make(x)
        p.w[0] *= 3
        p.m[0].append(x * x)
        p.m[1][0] = p.w[0]
        return sum(p.w) * sum(p.m[0]) * p.m[1][0]

    right(f, 1.3)


# --- functions handed to rules -----------------------------------------------------------------------------


def doubled(f, v):
    return 2 * f(v)


@rl.rrule_for(doubled, requires={"reverse"})
def doubled_rrule(config, f, v):
    if v > 1:
        y, back = config.rrule_via_ad(f, v)
        return 2 * y, lambda y_bar: (rl.NoTangent(), *back(2 * y_bar))

    def runs_again(y_bar):
        _, back = config.rrule_via_ad(f, v)
        return rl.NoTangent(), *back(2 * y_bar)

    return 2 * f(v), runs_again


def function_that_captures_a_list(x):
    xs = [x, 1.0]

    def f(v):
        return v * xs[0] + xs[1]

    xs[0] = x * x
    a = doubled(f, x)
    xs[0] = a
    xs[1] = x
    return doubled(f, x) * a


def function_that_captures_a_rebound_variable(x):
    k = x

    def f(v):
        return v * k

    a = doubled(f, x)
    k = a * x
    return doubled(f, x)


def function_that_captures_an_object(x):
    o = SimpleNamespace(w=x)

    def f(v):
        return v * o.w

    a = doubled(f, x)
    o.w = a * x
    return doubled(f, x)


def function_with_a_list_as_default(x):
    xs = [x]

    def f(v, held=xs):
        return v * held[0]

    a = doubled(f, x)
    xs[0] = a * x
    return doubled(f, x)


@pytest.mark.parametrize("x", [0.7, 1.3])
@pytest.mark.parametrize(
    "f",
    [
        function_that_captures_a_list,
        function_that_captures_a_rebound_variable,
        function_that_captures_an_object,
        function_with_a_list_as_default,
    ],
)
def test_functions_handed_to_rules_bring_what_they_capture(f, x):
    """A rule that differentiates its function argument, now or in back, finds what that captured then."""
    right(f, x)


def list_as_default_of_a_reading_function(x):
    xs, ys = [x], [x, 2.0]

    def f(v, held=xs, *, more=ys):
        return v * held[0] + more[1] * more[0]

    a = f(x)
    xs[0] = a * x
    ys[1] = a
    return f(x) * f(a, [2.0]) * f(x, more=[a, x])


def test_lists_as_defaults():
    """A function that reads a list it has as a default reads it as it is at the call."""
    right(list_as_default_of_a_reading_function, 1.3)


# --- operators and attributes ------------------------------------------------------------------------------


def list_repeated_in_place(x):
    xs = [x]
    ys = xs
    xs *= 3
    ys[0] = x * x
    xs += (x, 1.0)
    xs += range(2)
    ys.extend({5: 1})
    return sum([v * (k + 1) for k, v in enumerate(ys)]) * ys[-1]


def array_added_to_a_constant_list(x):
    xs = [1.0, 2.0]
    ys = xs
    xs += np.array([2.0, 3.0])
    ys.append(1.0)
    return np.sum(xs) * x * len(ys)


def array_added_to_a_list(x):
    xs = [x, x * x]
    ys = xs
    ys[0] *= 2
    xs += np.array([2.0, 3.0])
    return np.sum(xs) * ys[0]


def test_operators_in_place():
    """`*=` and `+=` change the list that other names mean, as Python has it; an array makes an array."""
    right(list_repeated_in_place, 1.3)
    right(array_added_to_a_constant_list, 1.3)
    right(array_added_to_a_list, 1.3)


def scaling(k):
    def scale(v, k=k):
        return v * k

    return scale


def function_as_attribute(x):
    held = [x]
    o = SimpleNamespace(f=lambda v: v * held[0])
    a = o.f(x)
    held[0] = a * x
    b = o.f(x)
    o.f = scaling(b)
    return o.f(a) * o.f(x)


def callable_object_as_attribute(x):
    o = SimpleNamespace(f=Scale(x))
    a = o.f(x)
    o.f.k = a
    return o.f(x)


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, v):
        return v * self.k


@pytest.mark.parametrize("f", [function_as_attribute, callable_object_as_attribute])
def test_what_is_called_by_an_attribute(f):
    """A function or object that is an attribute, not a method, keeps its cotangent when it is called."""
    right(f, 1.3)


def equal_keys(x, y):
    k = "b"
    d = {k: x, "b": y * x, "c": x, k + "c": y, "bc": x * y}
    return d["b"] * d["c"] + d["bc"]


def keys_equal_by_value(x, y):
    d = {1: x, True: y, 1.0: x * y, 0: x}  # noqa: F601
    return d[1] * 2.0 + d[False]


def keys_equal_now_and_then(x, y):
    s = 0.0
    for k in range(3):
        d = {k: x, k % 2: y}
        for key in d:
            s += d[key] * (k + 1)
    return s


@pytest.mark.parametrize("f", [equal_keys, keys_equal_by_value, keys_equal_now_and_then])
def test_equal_keys_of_one_display(f):
    """Of equal keys in a dict display the last one counts; computed keys are keys like others."""
    right(f, 1.3, 0.4)


class Square:
    def __init__(self, side):
        self.side = side

    @functools.cached_property
    def area(self):
        return self.side**2


@pytest.mark.parametrize(
    "f", [lambda x: Square(x).area * x, lambda x: SimpleNamespace(a=x).__dict__["a"] * x]
)
def test_attributes_that_are_no_parts(f):
    """What an object computes for itself or shows as a dict is followed or refused, never constant."""
    try:
        right(f, 1.3)
    except rl.RuleLabError:
        pass


def changed_by_an_ignored_function(x):
    items = [x, x * x]
    note(items)
    rl.ignore_derivatives(lambda: items.insert(0, 5.0))
    return items[1] * items[2]


def changed_by_a_key(x):
    items, seen = [x, -x], [x]
    note(seen)

    def rank(v):
        seen.append(v)
        return v

    items.sort(key=rank)
    return items[0] * seen[0]


def note(items):
    items.append(1.0)


@pytest.mark.parametrize("f", [changed_by_an_ignored_function, changed_by_a_key])
def test_changes_out_of_sight_are_refused(f):
    """A function that is called without being differentiated may not change what is."""
    with pytest.raises(rl.MutationError):
        rl.gradient(f, 1.7)
