"""Forward rules of iteration: an iterator and that of its tangents are never a step apart."""

import functools
import itertools
import math
import operator
import re
from collections import deque

import numpy as np
import pytest
from forward_oracle import NO, Handed, check, push

from rulelab.errors import NotDifferentiableError


def without_addresses(x):
    """What to call a value in a test's name, which must be the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(x))



XS, YS = [0.3, -1.2, 2.0], (5.0, 7.0)
D = {"a": 0.3, "b": 2.0}
ROWS = np.arange(6.0).reshape(3, 2)


def product(x, y):
    return x * y


def square(x):
    return x * x


def positive(x):
    return x > 0


handed, ENDLESS = Handed, Handed()


CALLS = [
    (iter, XS), (iter, ROWS), (iter, D), (iter, handed(XS)), (iter, "ab"),
    (reversed, XS), (reversed, YS), (reversed, ROWS), (reversed, D), (reversed, D.values()),
    (reversed, D.items()), (reversed, deque(XS)),
    (zip, XS, YS), (zip, XS, "abc"), (zip, "abc", XS), (zip, handed(XS), YS), (zip, YS, ENDLESS),
    (zip, D.items(), XS), (zip,), (zip, range(9), ROWS),
    (enumerate, XS), (enumerate, XS, 3), (enumerate, handed(XS), 3), (enumerate, D.values()),
    (enumerate, "ab"),
    (map, square, XS), (map, product, XS, YS), (map, product, handed(XS), ENDLESS),
    (map, str.upper, "ab"), (map, float, XS),
    (filter, positive, XS), (filter, None, [0, 1.0, 2.0]), (filter, positive, handed(XS)),
    (itertools.chain, XS, YS), (itertools.chain, XS, handed(YS)), (itertools.chain, "ab", XS),
    (itertools.chain, [1, 2], XS),
    (itertools.chain.__dict__["from_iterable"], itertools.chain, [XS, YS]),
    (itertools.product, XS, YS), (itertools.product, "ab", handed(XS)),
    (itertools.combinations, XS, 2), (itertools.combinations_with_replacement, XS, 2),
    (itertools.permutations, XS, 2), (itertools.permutations, XS),
    (itertools.islice, XS, 2), (itertools.islice, ENDLESS, 1, 5, 2),
    (itertools.islice, handed(XS), 1, None),
    (itertools.starmap, product, [(1.0, 2.0), (3.0, 4.0)]),
    (itertools.starmap, product, handed(list(zip(XS, YS)))),
    (itertools.repeat, 2.0), (itertools.repeat, [2.0], 3),
    (itertools.cycle, XS), (itertools.count, 2.0), (itertools.count, 2.0, 0.5), (itertools.count,),
    (itertools.takewhile, positive, [1.0, 2.0, -1.0, 3.0]), (itertools.dropwhile, positive, [1.0, -1.0, 3.0]),
    (itertools.filterfalse, positive, XS), (itertools.filterfalse, None, [0, 1.0]),
    (itertools.groupby, ["a", "a", "b"]), (itertools.pairwise, XS), (itertools.tee, XS),
    (itertools.tee, handed(XS), 3), (itertools.compress, XS, [1, 0, 1]),
    (itertools.compress, handed(XS), XS),
    (itertools.zip_longest, XS, YS), (itertools.zip_longest, handed(YS), XS),
    (itertools.accumulate, XS), (itertools.accumulate, XS, product), (itertools.accumulate, ROWS),
    (functools.reduce, product, XS), (functools.reduce, product, XS, 5.0), (functools.reduce, product, [2.0]),
    (functools.reduce, operator.add, handed(XS)), (functools.reduce, product, [], 2.0),
    (sum, XS), (sum, XS, 2.5), (sum, []), (sum, [1, 2]), (sum, ROWS), (sum, [ROWS, 0.5]), (sum, handed(XS)),
    (sum, [[1.0], [2.0, 3.0]], []), (sum, [1.0, 2j]), (sum, D.values()), (sum, [ROWS[0], "abc"][:1]),
    (math.fsum, XS), (math.fsum, handed(XS)), (math.prod, XS), (math.prod, handed([2.0, 0.0])),
    (max, XS), (min, XS), (max, 1.0, 3.0), (min, 1.0, 3, 2.0), (max, handed(XS)), (max, np.array(XS)),
    (max, [[1.0, 5.0], [3.0]]), (min, D.values()), (max, D),
    (sorted, XS), (sorted, handed(XS)), (sorted, D), (sorted, np.array(XS)),
    (any, [0, 1.0]), (all, XS), (any, []), (len, XS), (any, handed(XS)),
    (next, handed(XS)), (next, iter([]), 5.0), (next, ENDLESS, 5.0),
    (operator.contains, handed(["a", 1.0]), "a"), (operator.countOf, handed(["a", 1.0]), "a"),
    (operator.indexOf, handed([1.0, "a"]), "a"),
    (list, handed(XS)), (tuple, handed(list(zip(XS, YS)))), (dict, handed(list(zip("ab", XS)))),
    (float, 0.3), (float, np.array(0.5)), (float,), (complex, 0.3, 1.0), (complex, 1 - 2j), (int, 2.6),
    (round, 2.6), (round, 2.64, 1), (divmod, 7.3, 1.5), (abs, -0.3), (pow, 0.5, 1.5), (bool, 0.3),
    (str, 0.3), (isinstance, 0.3, float), (range, 3),
]  # fmt: skip
if hasattr(itertools, "batched"):
    CALLS.append((itertools.batched, XS, 2))


@pytest.mark.every(5)
@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0].__name__}-{len(call)}")
def test_items_come_with_their_tangents(call):
    """What is handed out, or computed of it, agrees with finite differences; so does what is left of the
    arguments.
    """
    check(call[0], *call[1:])


def test_keywords():
    """`key=`, `default=`, `initial=`, `fillvalue=`, with their tangents."""
    check(max, XS, key=abs)
    check(min, 1.0, -3.0, key=square)
    check(max, [], default=2.0)
    check(max, XS, default=2.0, key=square)
    check(itertools.accumulate, XS, initial=2.0)
    check(itertools.accumulate, iterable=XS, func=product)
    check(itertools.zip_longest, YS, XS, fillvalue=4.0)
    check(itertools.zip_longest, handed(YS), XS, fillvalue=4.0)
    check(itertools.repeat, object=2.0, times=2)
    check(itertools.count, step=0.5)
    check(sum, XS, start=2.0)
    check(math.prod, XS, start=2.0)
    check(itertools.groupby, ["a", "b"], key=len)


def linked(target, *args, dots):
    """An iterator that varies, and that of its tangents."""
    return push((NO, *dots), target, *args)


DOTS = [1.0, 2.0, 3.0]
ITERATORS = {
    "iter": lambda: linked(iter, XS, dots=(DOTS,)),
    "zip": lambda: linked(zip, XS, "abc", dots=(DOTS, NO)),
    "map": lambda: linked(map, square, XS, dots=(NO, DOTS)),
    "chain": lambda: linked(itertools.chain, XS, [1.0], dots=(DOTS, [4.0])),
    "enumerate": lambda: linked(enumerate, XS, dots=(DOTS,)),
    "filter": lambda: linked(filter, positive, [1.0, -1.0, 2.0, 3.0], dots=(NO, [1.0, 9.0, 2.0, 3.0])),
}


def take(it, it_dot):
    return push((NO, it_dot), next, it)


@pytest.mark.parametrize("name", ITERATORS)
def test_they_stay_in_step_however_they_are_read(name):
    """`next`, a `for` that breaks, `islice`, `zip` that ends early and `list`, one after another."""
    make = ITERATORS[name]
    it, it_dot = make()
    expected = list(zip(*[list(side) for side in make()]))
    got = [take(it, it_dot)]
    rows = linked(zip, it, [0.0], dots=(it_dot, [0.0]))  # ends, and has taken one more of `it`
    for row, row_dot in zip(*rows):
        got.append((row[0], row_dot[0]))
    left = list(zip(*push((NO, it_dot), list, it)))
    assert got == expected[:2] and left == expected[3:]
    with pytest.raises(StopIteration):
        take(it, it_dot)


def test_questions_take_the_tangents_along():
    """`any`, `all` and `in` stop in the middle of an iterator; the next item has its own tangent."""
    for question in (
        lambda it, dot: push((NO, dot), any, it),
        lambda it, dot: push((NO, dot, NO), operator.contains, it, 2.0),
        lambda it, dot: push((NO, dot, NO), operator.indexOf, it, 2.0),
    ):
        it, dot = linked(iter, [0, 2.0, 3.0], dots=(DOTS,))
        question(it, dot)
        assert take(it, dot) == (3.0, 3.0)
    it, dot = linked(iter, [1.0, 0.0, 3.0], dots=(DOTS,))
    assert push((NO, dot), all, it)[0] is False
    assert take(it, dot) == (3.0, 3.0)


def test_map_calls_when_the_item_is_taken():
    """A lazy map over an endless iterator; the function runs once for each item."""
    seen = []

    def noted(x):
        seen.append(x)
        return 2.0 * x

    y, y_dot = linked(map, noted, itertools.count(), dots=(NO, NO))
    assert seen == []
    assert take(y, y_dot)[0] == 0.0 and seen == [0]
    assert take(y, y_dot)[0] == 2.0 and seen == [0, 1]


def test_an_error_in_a_mapped_function_costs_one_item():
    """After the exception the iterator goes on where Python's would, with the tangents of those items."""
    y, y_dot = linked(map, lambda x: 1 / x, [1.0, 0.0, 2.0], dots=(NO, DOTS))
    assert take(y, y_dot)[1] == pytest.approx(-1.0)
    with pytest.raises(ZeroDivisionError):
        take(y, y_dot)
    assert take(y, y_dot) == (0.5, pytest.approx(-0.75))


def test_two_readers_of_one_iterator():
    """`zip(it, it)` pairs the items of one iterator, and the tangents."""
    it, dot = linked(iter, [1.0, 2.0, 3.0, 4.0], dots=([1.0, 2.0, 3.0, 4.0],))
    y, y_dot = linked(zip, it, it, dots=(dot, dot))
    assert push((NO, y_dot), list, y) == ([(1.0, 2.0), (3.0, 4.0)], [(1.0, 2.0), (3.0, 4.0)])


def test_a_list_that_grows_while_it_is_read():
    """New items are met, on both sides."""
    xs, dots = [1.0], [10.0]
    y, y_dot = linked(enumerate, xs, dots=(dots,))
    first = take(y, y_dot)
    push((NO, dots, 20.0), list.append, xs, 2.0)
    assert (first, take(y, y_dot)) == (((0, 1.0), (NO, 10.0)), ((1, 2.0), (NO, 20.0)))


def test_an_iterator_of_the_items_of_a_constant_is_a_constant():
    """No tangents are made up for it."""
    assert linked(iter, XS, dots=(NO,))[1] is NO and linked(zip, XS, YS, dots=(NO, NO))[1] is NO


class Countdown:
    """An iterable of an author's class, with an iterator of another."""

    def __init__(self, top):
        self.top = top

    def __iter__(self):
        return Steps(self.top)


class Steps:
    def __init__(self, left):
        self.left = left

    def __iter__(self):
        return self

    def __next__(self):
        if self.left <= 0:
            raise StopIteration
        self.left = self.left - 1.0
        return self.left


class Squares:
    """Items by number, without `__iter__`."""

    def __init__(self, scale):
        self.scale = scale

    def __getitem__(self, k):
        if k > 2:
            raise IndexError(k)
        return self.scale * k * k


def forwards_of_objects(tangents, f, *args):
    """The derivatives of the methods above, as the compiler would find them."""
    import types

    if f is Countdown.__iter__:
        return Steps(args[0].top), types.SimpleNamespace(left=tangents[1].top)
    if f is Steps.__next__:
        return f(args[0]), tangents[1].left
    assert f is Squares.__getitem__
    return f(*args), tangents[1].scale * args[1] ** 2


def test_objects_of_the_authors_are_iterated_by_their_own_methods():
    """`__iter__`, `__next__` and `__getitem__` are asked for their derivatives."""
    import types

    from rulelab.rules.capabilities import RuleConfig
    from rulelab.tangents.paired_iteration import pairs

    config = RuleConfig(forwards=forwards_of_objects)
    assert list(pairs(config, Countdown(2.5), types.SimpleNamespace(top=3.0))) == [
        (1.5, 3.0),
        (0.5, 3.0),
        (-0.5, 3.0),
    ]
    assert list(pairs(config, Squares(2.0), types.SimpleNamespace(scale=1.0))) == [
        (0.0, 0.0),
        (2.0, 1.0),
        (8.0, 4.0),
    ]


def test_ties_go_by_the_conventions():
    """Of equal arguments `max` takes the tangent of the last, `min` of the first; of a sequence the first."""
    assert push((NO, 1.0, 2.0), max, 3.0, 3.0) == (3.0, 2.0)
    assert push((NO, 1.0, 2.0), min, 3.0, 3.0) == (3.0, 1.0)
    assert push((NO, [1.0, 2.0]), max, [3.0, 3.0]) == (3.0, 1.0)
    assert type(push((NO, NO, 2.0), max, 3, 3.0)[0]) is int


@pytest.mark.parametrize(
    "call",
    [
        (iter, 2.0), (next, [1.0]), (next, iter([])), (zip, 2.0), (enumerate, 2.0), (map, square),
        (map, square, 2.0), (sum, ["a"], ""), (sum, 2.0), (max, []), (max,), (max, 2.0), (min, 1.0, 2.0, "a"),
        (sorted, ["a", 1.0]), (functools.reduce, product, []), (reversed, {1}), (list, 2.0), (dict, [1.0]),
        (dict, [(1, 2.0, 3.0)]), (int, "a"), (float, "a"), (divmod, 1.0, 0.0),
    ],
    ids=lambda call: f"{call[0].__name__}-{without_addresses(call[1:])}",
)  # fmt: skip
def test_errors_are_pythons(call):
    """The exception and its words are those of the plain call."""
    with pytest.raises(Exception) as plain:
        call[0](*call[1:])
    dots = tuple(x if isinstance(x, (float, list)) else NO for x in call[1:])
    with pytest.raises(type(plain.value)) as ours:
        push((NO, *dots), call[0], *call[1:])
    assert str(ours.value) == str(plain.value)


def test_groups_by_a_number_that_varies_are_refused():
    """Where the border between two groups lies has no derivative, and the key would carry one."""
    y, y_dot = linked(itertools.groupby, XS, dots=(DOTS,))
    with pytest.raises(NotDifferentiableError, match="groupby"):
        take(y, y_dot)


def test_groups_by_a_word():
    """The items of each group have their tangents."""
    rows, dots = [("a", 1.0), ("a", 2.0), ("b", 3.0)], [(NO, 1.0), (NO, 2.0), (NO, 3.0)]

    def name(row):
        return row[0]

    found = {}
    for (key, group), (_, group_dot) in zip(*linked(itertools.groupby, rows, name, dots=(dots, NO))):
        found[key] = push((NO, group_dot), list, group)
    assert found == {
        "a": ([("a", 1.0), ("a", 2.0)], [(NO, 1.0), (NO, 2.0)]),
        "b": ([("b", 3.0)], [(NO, 3.0)]),
    }


def test_iter_of_a_function_calls_it_until_the_sentinel():
    """`iter(f, end)`."""
    left = [3.0, 2.0, 1.0]
    y, y_dot = push((NO, NO), iter, left.pop, 3.0)
    assert push((NO, y_dot), list, y)[0] == [1.0, 2.0]
