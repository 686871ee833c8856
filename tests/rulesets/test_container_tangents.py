"""Forward rules of containers: what is done to one is done to its tangent."""

import collections
import copy
import functools
import operator
import re
import types
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest
from forward_oracle import CONFIG, NO, check, push

import rulelab as rl
from rulelab.errors import MutationError, NotDifferentiableError


def without_addresses(x):
    """What to call a value in a test's name, which must be the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(x))



XS = (0.3, np.array([1.0, -2.0]), "a", [2.0])
D = {"a": 0.3, "b": np.array([1.0, 2.0]), "c": [4.0]}
Point = collections.namedtuple("Point", "x y")


def fresh(x):
    """A copy of what a test changes."""
    return copy.deepcopy(x)


CALLS = [
    (list.append, [1.0], 2.0),
    (list.append, [1.0], [2.0, "a"]),
    (list.append, [1.0], np.ones(2)),
    (list.extend, [1.0], [2.0, 3.0]),
    (list.extend, [1.0], (2.0, 3)),
    (list.extend, [1.0], np.ones(2)),
    (list.extend, [1.0], {"a": 2.0}),
    (list.insert, [1.0, 2.0], 1, 5.0),
    (list.insert, [1.0, 2.0], -7, 5.0),
    (list.pop, [1.0, 2.0, 3.0]),
    (list.pop, [1.0, 2.0, 3.0], 0),
    (list.remove, [1.0, "a", 3.0], "a"),
    (list.reverse, [1.0, 2.0, 3.0]),
    (list.sort, [3.0, 1.0, 2.0]),
    (list.copy, [3.0, [1.0]]),
    (list.clear, [3.0, [1.0]]),
    (list.index, [3.0, "a"], "a"),
    (list.count, [3.0, 1.0], 1.0),
    (list.__iadd__, [3.0, 1.0], [1.0]),
    (list.__imul__, [3.0, 1.0], 2),
    (list.__delitem__, [3.0, 1.0], 1),
    (operator.iadd, [3.0, 1.0], (1.0,)),
    (operator.imul, [3.0, 1.0], 2),
    (operator.add, [3.0], [1.0]),
    (operator.add, (3.0,), Point(1.0, 2.0)),
    (operator.concat, [3.0], [1.0]),
    (operator.mul, [3.0, 1.0], 2),
    (operator.mul, 2, (3.0, 1.0)),
    (operator.contains, ["b", 1.0], "b"),
    (operator.getitem, [3.0, 1.0], -1),
    (operator.getitem, [3.0, 1.0, 2.0], slice(None, None, -2)),
    (operator.getitem, (3.0, "a"), 0),
    (operator.getitem, Point(1.0, 2.0), 1),
    (operator.getitem, "abc", 1),
    (operator.getitem, range(3), 1),
    (operator.getitem, deque([1.0, 2.0]), 1),
    (operator.getitem, D, "b"),
    (operator.getitem, np.arange(6.0).reshape(2, 3), (1, slice(None))),
    (operator.getitem, np.arange(6.0), 2),
    (operator.getitem, np.arange(6.0), [2, 2]),
    (operator.getitem, np.arange(6), np.arange(6) > 2),
    (operator.setitem, [3.0, 1.0], 0, 2.0),
    (operator.setitem, [3.0, 1.0, 4.0], slice(0, 2), [7.0, 8.0, 9.0]),
    (operator.setitem, [3.0, 1.0, 4.0], slice(0, 3, 2), (7.0, 8.0)),
    (operator.setitem, deque([3.0, 1.0]), 0, 2.0),
    (operator.setitem, {"a": 1.0}, "a", 2.0),
    (operator.setitem, {"a": 1.0}, 3, [2.0]),
    (operator.setitem, np.zeros(3), 1, 2.0),
    (operator.setitem, np.zeros((2, 3)), (slice(None), 1), np.ones(2)),
    (operator.setitem, np.zeros((2, 3)), 0, [1.0, 2.0, 3]),
    (operator.setitem, np.zeros(3), [0, 2], 2.0),
    (operator.setitem, np.zeros(3), np.array([True, False, True]), np.ones(2)),
    (operator.setitem, np.zeros(2, complex), 0, 2.0 + 1j),
    (operator.setitem, np.zeros((2, 2)), Ellipsis, np.ones(2)),
    (operator.setitem, np.array(1.0), (), 2.0),
    (operator.delitem, [3.0, 1.0, 2.0], slice(0, 2)),
    (operator.delitem, {"a": 1.0, "b": 2.0}, "a"),
    (deque.append, deque([1.0, 2.0], 2), 3.0),
    (deque.appendleft, deque([1.0, 2.0], 2), 3.0),
    (deque.extend, deque([1.0]), [3.0, 4.0]),
    (deque.extendleft, deque([1.0]), [3.0, 4.0]),
    (deque.pop, deque([1.0, 2.0])),
    (deque.popleft, deque([1.0, 2.0])),
    (deque.rotate, deque([1.0, 2.0, 3.0]), 1),
    (deque.reverse, deque([1.0, 2.0])),
    (deque.remove, deque([1.0, "b", 2.0]), "b"),
    (deque.insert, deque([1.0, 2.0]), 1, 5.0),
    (deque.clear, deque([1.0])),
    (deque.copy, deque([1.0], 3)),
    (deque.index, deque([1.0, "a"]), "a"),
    (operator.add, deque([1.0]), deque([2.0])),
    (operator.iadd, deque([1.0]), [2.0]),
]


def called(call):
    return f"{call[0].__qualname__}-{without_addresses(call[1:])[:40]}"


@pytest.mark.parametrize("call", CALLS, ids=called)
def test_a_container_and_its_tangent_change_together(call):
    """The result, its tangent and what became of the arguments agree with finite differences."""
    check(call[0], *fresh(call[1:]))


@pytest.mark.parametrize(
    "words",
    [{}, {"reverse": True}, {"key": abs}, {"key": lambda x: -x * x, "reverse": True}],
    ids=without_addresses,
)
def test_sorting_takes_the_tangents_along(words):
    """`sort` and `sorted` with every keyword."""
    check(list.sort, [0.5, -3.0, 2.0, 1.0], **words)
    check(sorted, (0.5, -3.0, 2.0, 1.0), **words)


def test_a_sort_leaves_a_list_alone_whose_key_raises():
    """The error of the key comes out and both are as they were."""
    xs, dots = [1.0, 0.0, 2.0], [1.0, 2.0, 3.0]
    with pytest.raises(ZeroDivisionError):
        push((NO, dots), list.sort, xs, key=lambda x: 1 / x)
    assert xs == [1.0, 0.0, 2.0] and dots == [1.0, 2.0, 3.0]


FAILING = [
    (list.pop, []),
    (list.pop, [1.0], 5),
    (list.remove, [1.0], 2.0),
    (list.insert, [1.0], "a", 2.0),
    (list.extend, [1.0], 2.0),
    (operator.getitem, [1.0], 3),
    (operator.getitem, [1.0], "a"),
    (operator.getitem, {"a": 1.0}, "b"),
    (operator.getitem, np.ones(2), 5),
    (operator.setitem, [1.0], 3, 2.0),
    (operator.setitem, [1.0, 2.0, 3.0], slice(0, 3, 2), [1.0]),
    (operator.setitem, np.ones(2), 5, 1.0),
    (operator.setitem, np.ones(2), 0, 1j),
    (operator.setitem, np.ones(2), slice(None), np.ones(3)),
    (operator.delitem, {"a": 1.0}, "b"),
    (operator.delitem, [1.0], 4),
    (deque.pop, deque()),
    (deque.popleft, deque()),
    (deque.insert, deque([1.0], 1), 0, 2.0),
]


@pytest.mark.parametrize("call", FAILING, ids=called)
def test_errors_are_pythons_and_change_nothing(call):
    """The exception and its message are those of the plain call; the tangent is as it was."""
    target, args = call[0], fresh(call[1:])
    with pytest.raises(Exception) as plain:
        target(*fresh(args))
    dots = tuple(np.zeros_like(x, dtype=float) if isinstance(x, np.ndarray) else fresh(x) for x in args)
    with pytest.raises(type(plain.value)) as ours:
        push((NO, *dots), target, *args)
    assert str(ours.value) == str(plain.value)
    assert len(dots[0]) == len(args[0]) if not isinstance(dots[0], np.ndarray) else not dots[0].any()


@pytest.mark.parametrize(
    "call",
    [
        (list.append, [1.0], 2.0),
        (list.extend, [1.0], [2.0]),
        (list.insert, [1.0], 0, 2.0),
        (operator.setitem, [1.0], 0, 2.0),
        (operator.setitem, [1.0], slice(None), [2.0]),
        (operator.setitem, {}, "a", 2.0),
        (operator.setitem, np.ones(2), 0, 2.0),
        (operator.iadd, [1.0], [2.0]),
        (deque.append, deque(), 2.0),
        (dict.update, {}, {"a": 2.0}),
        (dict.setdefault, {}, "a", 2.0),
        (operator.ior, {}, {"a": 2.0}),
    ],
    ids=lambda call: call[0].__qualname__,
)
def test_a_constant_container_refuses_what_varies(call):
    """A tangent that nobody would find again is refused before the write; constants may be written."""
    target, (xs, *rest) = call[0], fresh(call[1:])
    before = fresh(xs)
    with pytest.raises(MutationError, match="constant here"):
        push((NO, NO, *rest), target, xs, *rest)  # a tangent may be any number
    assert str(xs) == str(before)
    y, y_dot = push((NO,) * (2 + len(rest)), target, xs, *rest)
    assert y_dot is NO and str(xs) != str(before) or target is operator.setitem


def test_a_constant_written_to_an_array_clears_its_tangent():
    """`a[i] = 0.0` forgets what was there."""
    a, a_dot = np.ones(3), np.ones(3)
    push((NO, a_dot, NO, NO), operator.setitem, a, 1, 5.0)
    assert a.tolist() == [1.0, 5.0, 1.0] and a_dot.tolist() == [1.0, 0.0, 1.0]


def test_a_float_written_to_integers_is_refused():
    """The digits are cut off, so there is no derivative; an integer may be written."""
    a, a_dot = np.arange(3), np.zeros(3)
    with pytest.raises(NotDifferentiableError, match="int64"):
        push((NO, a_dot, NO, 1.0), operator.setitem, a, 1, 5.5)
    push((NO, a_dot, NO, 1.0), operator.setitem, a, 1, 5)
    assert a.tolist() == [0, 5, 2] and a_dot.tolist() == [0.0, 1.0, 0.0]


def test_the_imaginary_part_is_dropped_where_numpy_drops_it():
    """A complex array written to a real one."""
    a, a_dot = np.zeros(2), np.zeros(2)
    with pytest.warns(np.exceptions.ComplexWarning):
        push(
            (NO, a_dot, NO, np.array([1 + 2j, 3j])), operator.setitem, a, slice(None), np.array([1 + 1j, 2j])
        )
    assert a.tolist() == [1.0, 0.0] and a_dot.tolist() == [1.0, 0.0]


def test_an_item_is_a_view_where_python_gives_one():
    """What is written through a part is found in the whole."""
    xs, dots = [[1.0], np.zeros(2)], [[0.5], np.zeros(2)]
    part, part_dot = push((NO, dots, NO), operator.getitem, xs, 0)
    push((NO, part_dot, 7.0), list.append, part, 2.0)
    view, view_dot = push((NO, dots[1], NO), operator.getitem, xs[1], slice(1, None))
    push((NO, view_dot, NO, 3.0), operator.setitem, view, 0, 9.0)
    assert xs[0] == [1.0, 2.0] and dots[0] == [0.5, 7.0]
    assert xs[1].tolist() == [0.0, 9.0] and dots[1].tolist() == [0.0, 3.0]


def test_a_container_that_was_changed_unseen_is_refused():
    """A list that grew behind its tangent has no tangents for the new items."""
    with pytest.raises(MutationError, match="cannot be followed"):
        push((NO, [1.0], NO), operator.getitem, [1.0, 2.0], 1)


def test_a_shared_list_that_is_a_constant_stays_one():
    """A constant list put into another one is not written to through it."""
    shared, out, out_dot = [1.0], [], []
    push((NO, out_dot, NO), list.append, out, shared)
    part, part_dot = push((NO, out_dot, NO), operator.getitem, out, 0)
    with pytest.raises(MutationError):
        push((NO, part_dot, 1.0), list.append, part, 2.0)


def test_the_config_is_of_the_forward_kind():
    """The rules that call functions state it, and the config of this test provides it."""
    assert CONFIG.provides(frozenset(CONFIG.traits))


DICTS = [
    (dict.get, D, "b"),
    (dict.get, D, "z", 2.0),
    (dict.get, D, "z"),
    (dict.items, D),
    (dict.keys, D),
    (dict.values, D),
    (dict.pop, D, "a"),
    (dict.pop, D, "z", 4.0),
    (dict.popitem, D),
    (dict.setdefault, D, "a", 5.0),
    (dict.setdefault, D, "z", 5.0),
    (dict.setdefault, D, "z"),
    (dict.update, D, {"a": 3.0, "n": 1.0}),
    (dict.update, D, [("a", 3.0), ["n", 1.0]]),
    (dict.update, D),
    (dict.copy, D),
    (dict.clear, D),
    (dict.__dict__["fromkeys"], dict, ["a", "b"], 2.0),
    (dict.__dict__["fromkeys"], dict, "ab"),
    (operator.or_, D, {"a": 3.0, "n": 1.0}),
    (operator.ior, D, {"a": 3.0, "n": 1.0}),
    (OrderedDict.move_to_end, OrderedDict(D), "a"),
    (OrderedDict.popitem, OrderedDict(D), False),
    (OrderedDict.pop, OrderedDict(D), "a"),
    (OrderedDict.setdefault, OrderedDict(D), "n", 2.0),
    (OrderedDict.update, OrderedDict(D), {"n": 2.0}),
    (OrderedDict.copy, OrderedDict(D)),
    (OrderedDict.items, OrderedDict(D)),
    (OrderedDict.values, OrderedDict(D)),
    (OrderedDict.__setitem__, OrderedDict(D), "n", 2.0),
    (operator.getitem, defaultdict(float, {"a": 2.0}), "a"),
    (operator.getitem, defaultdict(float, {"a": 2.0}), "n"),
    (operator.getitem, defaultdict(list), "n"),
    (operator.setitem, defaultdict(list), "n", 2.0),
    (defaultdict.copy, defaultdict(float, {"a": 2.0})),
    (list, [1.0, [2.0]]),
    (list, (1.0, "a")),
    (list, np.arange(4.0).reshape(2, 2)),
    (list, D),
    (list, "ab"),
    (list,),
    (tuple, [1.0, 2.0]),
    (tuple, deque([1.0])),
    (deque, [1.0, 2.0, 3.0], 2),
    (deque,),
    (dict, D),
    (dict, [("a", 1.0), ("a", 2.0)]),
    (dict,),
    (OrderedDict, [("a", 1.0)]),
    (set, [1, 2, 2]),
    (frozenset, ["a"]),
    (set,),
    (set.add, {1}, 2),
    (set.union, {1}, [2]),
    (set.pop, {1}),
]


@pytest.mark.parametrize("call", DICTS, ids=lambda call: f"{call[0]}-{without_addresses(call[1:])[:30]}")
def test_dicts_and_what_makes_containers(call):
    """As for lists, with the keys in the same order on both sides."""
    check(call[0], *fresh(call[1:]))


def test_keywords_bring_their_tangents():
    """`dict(a=x)`, `d.update(a=x)`, `deque(iterable=xs)`."""
    check(dict, a=2.0, b=[1.0])
    check(dict, {"a": 1.0}, a=2.0)
    check(dict.update, {"a": 1.0}, {"b": 2.0}, a=3.0)
    check(deque, iterable=[1.0, 2.0], maxlen=1)
    check(OrderedDict, a=1.0)
    check(defaultdict, float, {"a": 1.0}, b=2.0)


def test_a_view_of_a_dict_is_live():
    """What is put in later is found by a view that was taken before."""
    d, d_dot = {"a": 1.0}, {"a": 0.5}
    view, view_dot = push((NO, d_dot), dict.items, d)
    push((NO, d_dot, NO, 3.0), operator.setitem, d, "b", 2.0)
    assert push((NO, view_dot), list, view) == ([("a", 1.0), ("b", 2.0)], [(NO, 0.5), (NO, 3.0)])


def test_a_factory_may_hold_what_varies():
    """The tangent of a defaultdict's factory is used where the factory makes an entry."""
    seen = []

    def forwards(tangents, f, *args):
        seen.append(tangents)
        return f(), 5.0

    from forward_oracle import rule_for

    from rulelab.rules.capabilities import RuleConfig

    config, factory = RuleConfig(forwards=forwards), lambda: 2.0
    make = rule_for(defaultdict, (factory,)).function
    d, d_dot = make(config, (NO, ((1.0,), (), ())), factory)
    item = rule_for(operator.getitem, (d, "a")).function
    assert item(config, (NO, d_dot, NO), d, "a") == (2.0, 5.0)
    assert seen == [(((1.0,), (), ()),)] and d == {"a": 2.0} and d_dot == {"a": 5.0}


@pytest.mark.parametrize(
    ("target", "args"),
    [
        (set, ([1.0, 2.0],)),
        (set.add, (set(), 2.0)),
        (operator.setitem, ({}, 2.0, 1.0)),
        (operator.setitem, ({}, (1, 2.0), 1.0)),
        (dict, ([(2.0, 1.0)],)),
        (dict.get, ({}, 2.0)),
        (dict.__dict__["fromkeys"], (dict, [1.0])),
    ],
    ids=without_addresses,
)
def test_a_number_that_varies_is_no_key(target, args):
    """Two numbers that meet are one key: refused, never a zero."""
    dots = tuple(fresh(x) for x in args)
    with pytest.raises(NotDifferentiableError, match="key of a dict or an item of a set"):
        push((NO, *dots), target, *args)


def _by_held(x):
    return defaultdict(lambda: x**3)["a"]


def _by_union(x):
    return (defaultdict(lambda: x**3) | {})["a"]


def _by_union_from_the_right(x):
    return ({} | defaultdict(lambda: x**3))["a"]


def _by_method_copy(x):
    return defaultdict(lambda: x**3).copy()["a"]


def _by_copy(x):
    return copy.copy(defaultdict(lambda: x**3))["a"]


def _by_attribute(x):
    return defaultdict(lambda: x**3).default_factory()


def _by_partial(x):
    return defaultdict(functools.partial(pow, x, 3))["a"]


def _by_list(x):
    d = defaultdict(list)
    d["a"].append(x)
    return d["a"][0] ** 3


def _by_code(x):
    d = defaultdict(lambda: [1.0])
    d["a"].append(x)
    return d["a"][1] ** 3


def _by_class(x):
    d = defaultdict(types.SimpleNamespace)
    d["a"].part = x
    return d["a"].part ** 3


FACTORIES = (
    _by_held, _by_union, _by_union_from_the_right, _by_method_copy, _by_copy, _by_attribute, _by_partial,
    _by_list, _by_code, _by_class,
)  # fmt: skip


@pytest.mark.parametrize("f", FACTORIES, ids=[f.__name__[1:] for f in FACTORIES])
def test_what_a_factory_holds_moves_and_what_it_makes_may_be_filled(f):
    """In forward mode, once and twice: entries that the factory of a defaultdict makes, also of a
    copy, have the tangent of what the factory holds, and a new list may be given what varies.
    """
    assert rl.pushforward(f, 1.3)(1.0) == pytest.approx(3 * 1.3**2)
    twice = rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), 1.3)
    assert twice(1.0) == pytest.approx(6 * 1.3)
