"""Generator expressions are read where a builtin consumes them at once; elsewhere they are refused."""

import ast
import math
import statistics

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.front.consumers import consumes_first

from ...differences import gradient_by_differences

NAMES = {"sum": sum, "sorted": sorted, "max": max, "math": math, "mine": lambda items: items}


def known(node):
    if isinstance(node, ast.Attribute):
        return getattr(known(node.value), node.attr, None)
    return NAMES.get(node.id) if isinstance(node, ast.Name) else None


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("sum(v for v in xs)", True),
        ("sum((v for v in xs), 2.0)", True),
        ("sorted((v for v in xs), key=lambda v: -v, reverse=True)", True),
        ("math.fsum(v for v in xs)", True),
        ("', '.join(v for v in xs)", True),
        ("sep.join(v for v in xs)", False),
        ("sum((v for v in xs), start())", False),
        ("mine(v for v in xs)", False),
        ("unknown(v for v in xs)", False),
        ("sum()", False),
    ],
)
def test_consumers(text, wanted):
    """Nothing else may happen between the first item and the last."""
    assert consumes_first(ast.parse(text, mode="eval").body, known) is wanted


@pytest.mark.parametrize(
    "text",
    [
        "mine(v * x for v in [x])",
        "next(v * x for v in [x])",
        "sum((v * x for v in [x]), mine(x))",
        "[v * x for v in (w for w in [x])][0] * next(iter((v for v in [x])))",
        "sum(a * b for a, b in zip((v for v in [x] if v), [x]))",
    ],
)
def test_elsewhere_handed_on(cells, text):
    """The value, or the error, is the program's own, and so is the slope."""
    cells.names["mine"] = lambda xs: sum(list(xs)) if hasattr(xs, "__iter__") else xs
    f = cells.run(f"def f(x):\n    return {text}\n")["f"]
    assert rl.withgradient(f, 2.0)[0] == f(2.0)
    assert abs(rl.gradient(f, 2.0)[0] - (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6) < 1e-6


def test_any_and_all_look_no_further():
    """What comes after the answer is not computed, and cannot fail."""

    def program(x):
        if any(1 / v > 0.4 for v in [x, 0.0]) and not all(1 / v < 0.4 for v in [x, 0.0]):
            return x * x
        return x

    assert rl.withgradient(program, 2.0) == (4.0, (4.0,))


def test_a_loop_takes_one_item_at_a_time():
    """The items after a break are not computed."""

    def program(x):
        total = 0.0
        for k, v in enumerate((1 / (w - 3) for w in [x, x + 2, 3.0, 3.0] if w), 1):
            total = total + v * k
            if k == 2:
                break
        return total

    def zipped(x):
        total = 0.0
        for v, k in zip((1 / w for w in [x, 0.0]), [1, 2]):
            total = total + v * k
            if k == 1:
                return total

    assert rl.withgradient(program, 2.0) == (1.0, (-3.0,))
    assert rl.withgradient(zipped, 2.0) == (0.5, (-0.25,))


def test_a_set_of_what_varies():
    """It may be counted and tested; what is computed from its items is refused, for equal ones are one."""
    assert rl.gradient(lambda x: x * len({v * x for v in [1.0, 1.0, 2.0]}), 2.0) == (2.0,)
    assert rl.gradient(lambda x: x if 2.0 in {v for v in [x]} else 0.0, 2.0) == (1.0,)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda x: sum({v * x for v in [1.0, 1.0, 2.0]}), 2.0)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda x: max({v for v in [x, 1.0]}), 2.0)


def listed(v):
    return sum([x * y * y for x, y in list(zip(v, v[1:]))])


def in_a_tuple(v):
    first, second = tuple(zip(v, v[::-1]))[1]
    return first * first * second


def numbered(v):
    total = 0.0
    for i, x in list(enumerate(v, start=2)):
        total += x**i
    return total


def by_key(v):
    table = dict(zip(["x", "y", "z"], v))
    return table["x"] * table["y"] + table["z"] ** 2


def in_order(v):
    return sum([w * x for w, x in sorted(zip([3.0, 1.0, 2.0], v))][:2])


def of_a_shared_iterator(v):
    items = iter(v)
    return sum([x * y for x, y in list(zip(items, items, strict=True))])


def before_it_grows(v):
    items = [v[0], v[1] * v[1]]
    total = 0.0
    for x, y in list(zip(items, items)):
        items.append(x)
        total += x * y
    return total * len(items)


def before_it_is_written(v):
    items, total = [2.0 * x for x in v], 0.0
    for i, x in list(enumerate(items)):
        items[0] = items[0] + x * i
        total += x * items[0]
    return total


OF_PAIRS = [listed, in_a_tuple, numbered, by_key, in_order, of_a_shared_iterator]
OF_PAIRS += [before_it_grows, before_it_is_written]


@pytest.mark.parametrize("f", OF_PAIRS)
@pytest.mark.parametrize("kind", [np.array, list])
def test_pairs_that_are_read_at_once(f, kind):
    """A list of what `zip` or `enumerate` gives is taken before anything else happens, as in Python."""
    point = np.array([0.7, 1.2, 0.4, 1.1][: 3 if f in (by_key, in_order) else 4])
    wanted = gradient_by_differences(lambda x: f(kind(x)), point)
    for _ in range(3):
        (found,) = rl.gradient(f, kind(point))
        assert np.array([x or 0.0 for x in found]) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("f", [listed, numbered, by_key])
def test_pairs_that_are_read_at_once_ask_nothing_of_zip(f):
    """They are loops of the pass itself, and not answers to calls that are looked up."""
    text = rl.adjoint_source(f, np.array([0.7, 1.2, 0.4]))
    assert not any(word in text for word in ("zip_back", "enumerate_back", "list_back", "dict_back"))


def test_pairs_that_do_not_fit_raise_what_python_raises():
    """So does a `zip` of another's."""

    def uneven(v):
        return sum([x * y for x, y in list(zip(v, v[1:], strict=True))])

    def of_no_row(v):
        return sum([x for x, _ in list(zip(v, 3))])

    for f in (uneven, of_no_row):
        with pytest.raises((TypeError, ValueError)) as wanted:
            f(np.arange(3.0))
        with pytest.raises(wanted.type) as found:
            rl.gradient(f, np.arange(3.0))
        assert str(found.value).splitlines()[0] == str(wanted.value)


def test_a_zip_of_the_authors_is_called():
    """Only that of Python is known to give pairs."""
    zip = lambda xs, ys: [(x * 10.0, y) for x, y in [(xs[0], ys[0])]]  # noqa: A001, E731

    def f(v):
        return sum([x * y for x, y in list(zip(v, v))])

    assert rl.gradient(f, [2.0, 3.0]) == ([40.0, None],)


def largest_square(v):
    return max(map(lambda x: x * x, v)) * min(iter(v)) + math.prod(map(abs, v))


def with_a_captured_number(v):
    k = v[0] + 2.0
    total = sum(map(lambda x, y: x * y * k, v, v[1:]))
    for i, s in enumerate(map(math.sin, v)):
        k = k + i * s
    return total * k


def late(v):
    """A lambda reads what a variable stands for when it is called."""
    k, total = 1.0, 0.0
    for y in map(lambda x: x * k, v):
        k = k + y
        total += y * y
    return total


def the_same_names(v):
    x, y = v[0], v[1]
    total = sum([x * w for w in map(lambda x: x * y, reversed(list(v)))])
    return total * x + sum(filter(lambda y: y > x, v)) + len(list(filter(None, v)))


def statistics_of(v):
    logs = list(map(lambda x: [math.log(x), np.sqrt(x)], v))
    return statistics.mean(map(math.exp, v)) * logs[1][0] * logs[0][1] + sum(sorted(map(np.cos, v))[:2])


def rows_of(v):
    rows = [[v[0], v[1]], [v[2], v[0]]]
    return math.prod(map(sum, rows)) + sum(map(max, rows)) + sum(map(lambda r: sum([x * x for x in r]), rows))


CALLED_AT_ONCE = [largest_square, with_a_captured_number, late, the_same_names, statistics_of, rows_of]


@pytest.mark.parametrize("f", CALLED_AT_ONCE)
@pytest.mark.parametrize("kind", [np.array, list])
def test_calls_that_are_read_at_once(f, kind):
    """What `map` calls for each item stands in a loop, in which it reads and gives the same."""
    point = np.array([0.7, 1.2, 0.4])
    wanted = gradient_by_differences(lambda x: f(kind(x)), point)
    for _ in range(3):
        (found,) = rl.gradient(f, kind(point))
        assert np.array([x or 0.0 for x in found]) == pytest.approx(wanted, rel=1e-6)
    for k, step in enumerate(np.eye(3)):
        assert rl.pushforward(f, kind(point))(kind(step)) == pytest.approx(wanted[k], rel=1e-6)


@pytest.mark.parametrize("f", CALLED_AT_ONCE)
def test_calls_that_are_read_at_once_ask_nothing_of_map(f):
    """They are loops of the pass itself, whose calls have kinds."""
    assert "map" not in rl.adjoint_source(f, np.array([0.7, 1.2, 0.4])).replace("mapping", "")


def ended_by_next(v):
    items = iter([3.0, 4.0])
    return sum(map(lambda x: x * next(items), v))


def ended_by_its_function(v):
    items = iter([3.0, 4.0])

    def scaled(x):
        return x * next(items)

    return sum(map(scaled, v)) + sum(map(next, [iter(v), iter(v)]))


def functions_of_its_items(v):
    doubled = list(map(lambda x: lambda: x * 2.0, v))
    return sum([f() * k for k, f in enumerate(doubled)])


def with_a_default(v):
    return sum(map(lambda x, k=3.0: x * k, v))


@pytest.mark.parametrize("f", [ended_by_next, ended_by_its_function, functions_of_its_items, with_a_default])
def test_calls_that_a_loop_would_not_make_alike(f):
    """Where a function ends the iteration, keeps its items or counts its calls, it is called by `map`."""
    point = np.array([0.7, 1.2, 0.4])
    wanted = gradient_by_differences(lambda x: f(list(x)), point)
    value, (found,) = rl.withgradient(f, list(point))
    assert value == f(list(point))
    assert np.array([x or 0.0 for x in found]) == pytest.approx(wanted, rel=1e-6)


def test_a_map_beside_another_is_called_once_more_than_there_are_pairs():
    """As by Python's `zip`, which asks it first: here it fails."""

    def f(v):
        return sum([x * y for x, y in zip(map(lambda x: 1.0 / x, v), [1.0])])

    with pytest.raises(ZeroDivisionError):
        f([2.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        rl.gradient(f, [2.0, 0.0])


def test_a_map_of_the_authors_is_called():
    """Only that of Python is known to call; and what does not fit raises what Python raises."""
    map = lambda f, xs: [f(10.0 * xs[0])]  # noqa: A001, E731

    def own(v):
        return sum(map(lambda x: x * x, v))

    assert rl.gradient(own, [2.0, 3.0]) == ([400.0, None],)


def test_a_map_whose_function_does_not_fit():
    """It raises what Python raises."""

    def f(v):
        return sum(map(lambda x, y: x * y, v))

    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        rl.gradient(f, [2.0, 3.0])
