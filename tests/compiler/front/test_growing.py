"""A list or dict of the function's own that grows by several items is what it is in Python, whichever way
this is said, and whatever happens in between.
"""

from collections import deque

import pytest

import rulelab as rl
from rulelab.errors import MutationError, NotDifferentiableError, UnsupportedSyntaxError

from ..agreeing import check_second_derivative, check_slope

TABLE = [2.0, 3.0]
SEEN = []


class Grown:
    def __init__(self):
        self.got = 0.0

    def extend(self, items):
        self.got = 3.0 * sum(items)


def seen(v):
    rl.ignore_derivatives(lambda: SEEN.append(1))
    return v


def by_a_generator(x):
    xs = [x]
    xs.extend(v * x for v in [x, 2.0, 0.5] if v > 0.6)
    return xs[1] * xs[2] + len(xs)


def by_a_comprehension(x):
    xs = [x]
    xs.extend([v * x for v in xs])
    return xs[1] * xs[0]


def by_a_display(x):
    xs = []
    xs.extend([x, x * x])
    xs.extend((2.0, xs[0] * x))
    return xs[1] * xs[3] + len(xs)


def in_place(x):
    xs = [x]
    xs += (v * x for v in xs[:1])
    xs += [v + x for v in xs]
    xs += [x, 3.0 * x]
    xs += (x**3,)
    return sum(k * v for k, v in enumerate(xs))


def by_another_name(x):
    xs = ys = [x]
    ys.append(x * x)
    zs, ks = [x], []
    ws = zs
    zs.extend(v * x for v in xs)
    ks.extend(v for v in ws)
    ws[0] = 2.0
    return ws[1] * ks[0] * zs[2] + zs[0]


def of_itself(x):
    xs = [x, 2.0]
    xs.extend(xs[-1] * v for v in [x, 3.0, x])
    return xs[2] * xs[4]


def of_what_it_is_by_then(x):
    xs = [x]
    xs.extend(len(xs) * x for _ in range(3))
    return xs[1] + 10 * xs[2] + 100 * xs[3]


def in_loops(x):
    rows, found = [], 0.0
    for k in range(3):
        row = [x]
        row.extend(x**k * w for w in (1.0, x))
        rows.extend(v * k for v in row)
        found = found + sum(row)
    while len(rows) < 12:
        rows += [x * len(rows)]
    return sum(rows) * found


def by_branches(x):
    xs = []
    if x > 1:
        xs.extend(v * x for v in (1.0, x))
    else:
        xs = [x]
    xs += [x]
    return sum(xs) * xs[0]


def with_an_end(x):
    xs = [x]
    xs.extend(v / x for v in ())
    xs.extend([])
    return xs[-1] * x


def until_an_error(x):
    xs = [x]
    try:
        xs.extend(x * TABLE[k] for k in [0, 1, 9, 1])
    except IndexError:
        pass
    return x**2 * len(xs)


def not_one_before_an_error(x):
    xs = [x]
    try:
        xs.extend([x * TABLE[k] for k in [0, 1, 9, 1]])
    except IndexError:
        pass
    return x**2 * len(xs)


def stopping(v):
    if v > 2.0:
        raise StopIteration
    return v


def by_a_function_that_ends_it(x):
    xs, fs = [x], [stopping]
    try:
        xs.extend(f(v) * x for f in fs for v in [1.0, 3.0])
    except RuntimeError:
        pass
    return x**2 * len(xs)


def once_each(x):
    xs = [x]
    xs.extend(seen(v) * x for v in [x, 2.0])
    return xs[1] * xs[2]


def by_a_slice(x):
    xs = [x, 2.0, x * x]
    xs[1:2] = (v * x for v in [x, 3.0])
    return xs[1] * xs[2] * xs[3]


def by_a_slice_of_each_kind(x):
    xs = [1.0, 2.0, 3.0, 4.0]
    xs[::2] = (v * x for v in [x, 3.0])
    k = 1
    xs[k:] = (v * x for v in xs[k:])
    return sum(k * v for k, v in enumerate(xs))


def pairs(x):
    d = {"a": x}
    d.update((k, v * x) for k, v in zip("abc", [x, 2.0, 3.0]))
    return d["a"] * d["b"] + d["c"] * len(d)


def words(x):
    d = {}
    d.update(a=x, b=x * x)
    d.update({"b": 3.0 * x, "c": d["b"], **{}} if x < 0 else {"b": 3.0 * x, "c": d["b"]})
    d.update({1: x, 1.0: x * x})  # noqa: F601
    return d["a"] * d["b"] + d["c"] * d[1]


def order_of_entries(x):
    d = {"b": x, "a": 1.0}
    d.update(c=x, b=x * x)
    return sum(k * v for k, v in enumerate(d.values()))


def pairs_of_several_kinds(x):
    d, e = {}, {}
    d.update(((k, x * k) for k in range(3)))
    e.update([("a", x)], b=x * x)
    e.update((k, v) for k, v in d.items() if k)
    return d[2] * e["a"] * e["b"] + e[1]


def another_thing(x):
    xs = [x]
    xs = Grown()
    xs.extend(v * x for v in [x, 2.0])
    return xs.got


def a_deque(x):
    xs = deque(v * x for v in [x, 1.0])
    xs.extend(v + x for v in [1.0])
    ys = deque((v * x for v in [x, 1.0, x * x]), maxlen=2)
    return xs[0] * xs[2] + ys[0] * ys[1]


def lists_together(x):
    xs = [x]
    xs = xs + [x * x]
    xs += [2.0 * x]
    return xs[0] * xs[1] * xs[2]


def of_an_argument(x):
    def grown(xs):
        xs.extend(v * x for v in [x, 2.0])
        xs += [x]
        return xs

    return sum(grown([x])) * x


def captured(x):
    xs = [x]

    def last():
        return xs[-1]

    xs.extend(v * x for v in [x, 2.0])
    return last() * xs[1]


def rebound_inside(x):
    xs = [x]

    def change():
        nonlocal xs
        xs = [3.0 * x]

    change()
    xs.extend(v * x for v in [x, 2.0])
    return xs[0] * xs[2]


def variables_of_its_own(x):
    v, xs = 2.0, []
    xs.extend(v * x for v in [x, 3.0])
    xs += [v * x for v in [x]]
    return xs[0] * v


def finally_as_well(x):
    xs = [x]
    for k in range(2):
        try:
            if k:
                continue
            xs.extend(v * x for v in [x])
        finally:
            xs += [x, x * x]
    return sum(k * v for k, v in enumerate(xs))


PROGRAMS = [
    *(by_a_generator, by_a_comprehension, by_a_display, in_place, by_another_name, of_itself, in_loops),
    *(of_what_it_is_by_then, by_branches, with_an_end, until_an_error, not_one_before_an_error, once_each),
    *(by_a_slice, by_a_slice_of_each_kind, pairs, words, order_of_entries, a_deque),
    *(pairs_of_several_kinds, another_thing, lists_together, of_an_argument, captured, rebound_inside),
    *(variables_of_its_own, finally_as_well, by_a_function_that_ends_it),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_slopes(f):
    check_slope(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second_derivative(f, 1.3)


def test_items_are_made_in_the_pass():
    for f in (by_a_generator, in_place, pairs):
        assert "genexpr" not in rl.adjoint_source(f, 1.3)


def test_each_item_is_made_once():
    def looped(x):
        xs = [x]
        for v in [x, 2.0]:
            xs.append(seen(v) * x)
        return xs[1] * xs[2]

    counts = []
    for f in (once_each, looped):
        rl.gradient(f, 1.3)
        del SEEN[:]
        rl.gradient(f, 1.3)
        counts.append(len(SEEN))
    assert counts[0] == counts[1]


def test_a_variable_without_a_value():
    def f(x):
        if x > 5:
            xs = [x]
        xs.extend(v for v in ())
        return x

    def deleted(x):
        xs = [x]
        del xs
        xs += [v for v in ()]  # noqa: F821
        return x

    for g in (f, deleted):
        with pytest.raises(UnboundLocalError):
            rl.gradient(g, 1.3)


def while_a_loop_reads_it(x):
    xs, total = [x, 2 * x], 0.0
    for v in (w * x for w in xs):
        total = total + v
        if len(xs) < 4:
            xs.append(v + x)
    return total


def while_a_loop_chooses_from_it(x):
    xs, total = [x, 2 * x], 0.0
    for k, v in enumerate(w for u in [1.0, x] for w in xs if w > 0):
        total = total + v * k
        if len(xs) < 5:
            xs.append(v * x)
    return total


def while_an_iterator_reads_it(x):
    xs = [x, 2 * x]
    items = (v for v in xs)
    for v in items:
        if len(xs) < 5:
            xs.append(v * x)
    return sum(xs)


def while_a_generator_inside_reads_it(x):
    xs, total = [x, 2 * x], 0.0
    for v in (w for w in (u * x for u in xs)):
        total = total + v
        if len(xs) < 4:
            xs.append(v)
    return total


def by_the_value_of_an_append(x):
    xs = [x, 2 * x]
    ys = [xs.append(t) or t for t in [x, 3 * x]]
    last = xs.append(x * x) or x
    return ys[0] * len(xs) * xs[3] * xs[4] * last


@pytest.mark.parametrize(
    "f",
    [
        *(while_a_loop_reads_it, while_a_loop_chooses_from_it, while_an_iterator_reads_it),
        *(while_a_generator_inside_reads_it, by_the_value_of_an_append),
    ],
)
def test_a_list_that_grows_while_it_is_read(f):
    test_values_and_slopes(f)
    test_second_derivatives(f)


SLICED = {
    "an end of its items": "it = iter([x])\n    xs[1:] = (next(it) for _ in range(3))",
    "another bound": "n = 0\n    xs[n:] = ((n := v) * x for v in [1, 2])",
    "fewer items": "xs[-1:] = (xs.pop() * v for v in [1, 2])",
    "fewer by another name": "ys = xs\n    xs[1:] = (ys.pop() * v for v in [1, 2])",
    "fewer by way of a generator": "xs[-1:] = (v for v in (xs.pop() * v for v in [1, 2]))",
}


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_that_is_looked_at_before_its_items(cells, name):
    """Right, or a refusal: Python looks at the bounds and at the length before it makes the first item."""
    text = f"xs = [x, 2 * x, 3 * x]\n    {SLICED[name]}\n"
    f = cells.run(f"def f(x):\n    {text}    return sum(k * v for k, v in enumerate(xs, 1))\n")["f"]
    try:
        value = rl.withgradient(f, 1.3).val
    except (MutationError, NotDifferentiableError, UnsupportedSyntaxError):
        return
    except RuntimeError as error:  # Python's own
        with pytest.raises(RuntimeError, match=str(error)):
            f(1.3)
        return
    assert value == f(1.3)
