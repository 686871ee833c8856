"""`functools.reduce` and `heapq.merge` are code of the pass where nobody can tell, and else Python's own."""

import pytest

import rulelab as rl
from rulelab.errors import RuleLabError

from ...differences import gradient_by_differences
from ..agreeing import check_second_derivative, check_slope

AROUND = """
import functools, heapq, itertools, math, operator
import numpy as np
import rulelab as rl
SEEN = []
def noted(v, what="here"):
    rl.ignore_derivatives(lambda: SEEN.append(what))
    return v
def times(p, q):
    return p * q
def in_turn(p, q=2.0, *rest):
    return p - q * q
"""
REDUCED = {
    "a generator": "return functools.reduce(lambda p, q: p * q, (v + x for v in [x, 2.0, 3.0]))",
    "a list": "return functools.reduce(lambda p, q: p - q * x, [x, x * x, 2.0])",
    "one item": "return functools.reduce(lambda p, q: p - q * x, [x * x])",
    "with a start": "return functools.reduce(lambda p, q: p - q * q, [v * x for v in (x, 2.0)], 1.0)",
    "nothing but a start": (
        "return x * functools.reduce(lambda p, q: p - q * q, [v for v in [x] if v > 9], "
        "2.0)"
    ),
    "a list and a start": "return functools.reduce(lambda p, q: p - q * q, [x, 2.0], x)",
    "a variable": "xs = [x, 2.0, x * x]\n    return functools.reduce(lambda p, q: p / q + x, xs)",
    "a function of the author's": "return functools.reduce(times, (v + x for v in [x, 2.0]))",
    "one with more parameters": "return functools.reduce(in_turn, (v + x for v in [x, 2.0]))",
    "one that effects": "return functools.reduce(lambda p, q: noted(p) * q, (v + x for v in [x, 2.0]))",
    "a nested function": (
        "def by(p, q):\n        return p * q + x\n    return functools.reduce(by, (v for v in [x, 2.0, x]))"
    ),
    "one of C": "return functools.reduce(operator.mul, (v + x for v in [x, 2.0, 3.0]))",
    "another of C": "return functools.reduce(math.hypot, [v + x for v in range(4)], 0.5)",
    "the greatest": (
        "return x * functools.reduce(lambda p, q: p if p > q else q, (v * x for v in [1.0, "
        "3.0, 2.0]))"
    ),
    "some of them": "return functools.reduce(lambda p, q: p * q, (v + x for v in [x, 0.1, 2.0] if v > 1.0))",
    "a map": "return functools.reduce(lambda p, q: p * q, map(lambda v: v + x, [x, 2.0]))",
    "a call between": (
        "g = (v + x for v in [x, 2.0])\n    s = math.sin(x)\n    return s * "
        "functools.reduce(times, g)"
    ),
    "arrays": (
        "ms = [np.array([[x, 1.0], [0.5, k]]) for k in range(3)]\n"
        "    return functools.reduce(lambda a, b: a @ b, ms)[0, 1]"
    ),
    "lists of functions": (
        "return functools.reduce(lambda v, g: g(v), [math.sin, lambda v: v * x, lambda v: v + v * x], x)"
    ),
    "within a comprehension": (
        "return sum([functools.reduce(lambda p, q: p * q + k, (v + x for v in [x, 2.0])) for k in range(3)])"
    ),
    "of rebound variables": (
        "k = 2.0\n    a = functools.reduce(lambda p, q: p * q + k, (v * k for v in [x, 2.0]))\n"
        "    k = 3.0\n    return a * functools.reduce(lambda p, q: p * q + k, (v * k for v in [x, 2.0]))"
    ),
    "names of the function": (
        "p, q = x, 3.0\n    a = functools.reduce(lambda p, q: p * q + x, [q, p, 2.0])\n    return a * p + q"
    ),
}
MERGED = {
    "lists": "return sum(k * v for k, v in enumerate(heapq.merge([x, 3 * x], [0.5, 2 * x])))",
    "generators": (
        "return sum([k * v for k, v in enumerate(heapq.merge((v * x for v in [1.0, 3.0]), [x "
        "* x]))])"
    ),
    "backwards": "return list(heapq.merge([3 * x, x], [2 * x], reverse=True))[1] ** 2",
    "equal ones": "return sum([k * v for k, v in enumerate(heapq.merge([1.0, x], [1.0 * x, x, x]))])",
    "a variable": (
        "rows = heapq.merge([x, 3 * x], (v + x for v in [1.0, 5.0]), (0.1, 8 * x))\n"
        "    s = x * x\n    return s * sum([i * v for i, v in enumerate(rows)])"
    ),
    "a loop": (
        "t = 1.0\n    for v in heapq.merge([x, 3 * x], [2 * x]):\n        t = t * v + x\n    return t"
    ),
    "a loop that stops": (
        "t = 1.0\n    for v in heapq.merge([x, 3 * x], [2 * x]):\n        if t > 2.0:\n            break\n"
        "        t = t * v + x\n    return t"
    ),
    "names": (
        "xs = [x, 3 * x]\n    ys = [2 * x]\n"
        "    return sum([i * v for i, v in enumerate(heapq.merge(xs, ys))])"
    ),
    "within a comprehension": (
        "return sum([sum(i * v for i, v in enumerate(heapq.merge([k * x], [x, 5.0]))) for k in range(3)])"
    ),
    "one row": "return list(heapq.merge([x, 3 * x]))[1]",
    "an empty one": "return list(heapq.merge([], [x, 3 * x], []))[1]",
}
OTHERWISE = {
    "a key": "return list(heapq.merge([3 * x, x], [2 * x], key=lambda v: -v))[1]",
    "a row that changes": (
        "xs, t = [x, 3 * x], 0.0\n    for v in heapq.merge(xs, [0.5]):\n        if len(xs) < 4:\n"
        "            xs.append(7.0)\n        t += v * v\n    return t"
    ),
    "an item that changes": (
        "xs, t = [x, 3 * x], 0.0\n    for v in heapq.merge(xs, [0.5]):\n        xs[1] = 9 * x\n"
        "        t += v * v\n    return t"
    ),
    "a factor that changes": (
        "k, t = 1.0, 0.0\n    for v in heapq.merge((k * v for v in [x, 2 * x]), [0.5]):\n        k += 1.0\n"
        "        t += v * v\n    return t"
    ),
    "the first item": "return next(heapq.merge([2 * x, 3 * x], [x])) * x",
    "stars": "rows = [[2 * x], [x]]\n    return list(heapq.merge(*rows))[1]",
    "a start that is computed": "return functools.reduce(lambda p, q: p * q, (v for v in [x, x]), x * x)",
    "starred arguments": "return functools.reduce(*[lambda p, q: p * q, [x, x]])",
    "a function that may be none": "return functools.reduce(functools.partial(times), [x, x, 2.0])",
    "a short one": "return sum(v * w for v, w in zip(heapq.merge([x], [2 * x]), [3.0], strict=False))",
    "any of them": "return x * any(v > 2 for v in heapq.merge([x, 3 * x], [2 * x]))",
    "a new variable": "return sum((y := v) * y for v in heapq.merge([x, 3 * x], [2 * x]))",
}
PROGRAMS = {
    **{f"reduced: {name}": body for name, body in REDUCED.items()},
    **{f"merged: {name}": body for name, body in MERGED.items()},
    **{f"otherwise: {name}": body for name, body in OTHERWISE.items()},
}


def program(cells, body):
    cells.run(AROUND)
    return cells.run(f"def f(x):\n    {body}\n")["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes(cells, name):
    f = program(cells, PROGRAMS[name])
    try:
        check_slope(f, 1.3)
    except RuleLabError:
        assert name.startswith("otherwise")
        return
    if "effects" not in name:
        check_second_derivative(f, 1.3)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.startswith("otherwise")])
def test_it_is_code_of_the_pass(cells, name):
    text = str(rl.adjoint_source(program(cells, PROGRAMS[name]), 1.3))
    assert "reduce_at" not in text and "merge_at" not in text and "generated_at" not in text


SHARED = {
    "one iterator": "it = iter([4 * x, x, 3 * x, 2 * x, 0.5 * x])\n    rows = heapq.merge(it, it)",
    "two names of it": "it = iter([4 * x, x, 3 * x])\n    jt = it\n    rows = heapq.merge(it, [x], jt)",
    "one of them takes some first": (
        "it = iter([4 * x, x, 3 * x])\n    rows = [next(heapq.merge(it, [2 * x])), 2 * next(it, x)]"
    ),
    "a generator over the other": "it = iter([4 * x, x])\n    rows = heapq.merge(it, (2 * v for v in it))",
    "a list twice": "xs = [4 * x, x, 3 * x]\n    rows = heapq.merge(xs, xs)",
}


@pytest.mark.parametrize("name", SHARED)
def test_one_iterable_twice(cells, name):
    """Of an iterator, each takes what the other does not have; a list is read by both."""
    f = program(cells, f"{SHARED[name]}\n    return sum([k * v for k, v in enumerate(rows)])")
    try:
        check_slope(f, 1.3)
    except RuleLabError:
        assert "list" not in name


EFFECTS = {
    "items and calls in turn": (
        "functools.reduce(lambda p, q: noted(p, 'call') * q, (noted(v, 'item') * x for v in [x, 2.0, 3.0]))"
    ),
    "the items of a display first": (
        "functools.reduce(lambda p, q: noted(p, 'call') * q, [noted(x, 'one'), noted(x, "
        "'two')], noted(x, '0'))"
    ),
    "a start": (
        "functools.reduce(lambda p, q: noted(p, 'call') * q, (noted(v, 'item') for v in [x, "
        "noted(x, 'x')]), 2.0)"
    ),
    "no items": "functools.reduce(lambda p, q: p * q, [v for v in noted([], 'none')])",
    "no items of a generator": (
        "functools.reduce(lambda p, q: p * q, (v for v in [x] if noted(v, 'test') > "
        "9))"
    ),
    "an error of an item": (
        "functools.reduce(lambda p, q: noted(p, 'call') * q, (v * [x][noted(int(v), 'i')] for "
        "v in [0.0, 0.5, x]))"
    ),
    "an error of a call": (
        "functools.reduce(lambda p, q: [p][noted(int(q), 'i')], (noted(v, 'item') for v in "
        "[0.0, 0.5, x, 0.0]))"
    ),
    "an item that ends": "functools.reduce(lambda p, q: p * q, (next(iter([])) for v in [x, x]))",
    "a call that ends": "functools.reduce(lambda p, q: next(iter([])), (v for v in [x, x]))",
    "merged in the loop": "sum([noted(v, v) for v in heapq.merge([noted(x, 'a')], [noted(x * x, 'b')])])",
    "no order": "list(heapq.merge([noted(1j, 'a')], [noted(x, 'b')]))[0].real",
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_happens_happens_in_the_same_order(cells, name):
    f = program(cells, f"return x * {EFFECTS[name]}")
    seen, found = cells.names["SEEN"], []
    for call in (f, lambda x: rl.withgradient(f, x)[0]):
        seen.clear()
        try:
            value = call(1.3)
        except RuleLabError:
            return
        except Exception as error:
            value = type(error), str(error).splitlines()[:1]
        found.append((value, list(seen)))
    assert found[1][0] == found[0][0] and found[1][1][: len(found[0][1])] == found[0][1]


REDEFINED = {
    "reduce": (
        "def reduce(f, xs):\n    return 7.0 * next(iter(xs))\nfunctools = type('M', (), "
        "{'reduce': reduce})\n"
    ),
    "merge": "def merge(*rows):\n    return [7.0 * rows[0][0]]\nheapq = type('M', (), {'merge': merge})\n",
}


@pytest.mark.parametrize("name", REDEFINED)
def test_what_is_redefined_counts(cells, name):
    call = {
        "reduce": "functools.reduce(lambda p, q: p * q, [x, 2.0])",
        "merge": "sum(v * v for v in heapq.merge([x], [2.0]))",
    }
    f = program(cells, f"return {call[name]}")
    check_slope(f, 1.3)
    cells.run(REDEFINED[name])
    check_slope(f, 1.3)
    assert f(1.3) == {"reduce": 7 * 1.3, "merge": (7 * 1.3) ** 2}[name]


@pytest.mark.parametrize("name", ["reduce", "merge"])
def test_a_rule_for_it_counts(cells, name):
    """What has a rule is called."""
    call = {
        "reduce": "functools.reduce(lambda p, q: p * q, [x, 2.0])",
        "merge": "list(heapq.merge([x], [2.0]))[0]",
    }[name]
    f = program(cells, f"return {call}")
    check_slope(f, 1.3)
    target = {"reduce": cells.names["functools"].reduce, "merge": cells.names["heapq"].merge}[name]
    given = {"reduce": 5.0, "merge": [5.0]}[name]
    rl.rrule_for(target)(lambda *args: (given, lambda y_bar: (rl.NoTangent(),) * 3))
    try:
        assert rl.withgradient(f, 1.3)[0] == 5.0
    finally:
        rl.remove_rule(target)
    check_slope(f, 1.3)


def test_values_of_reduce_by_differences_of_both_modes(cells):
    """Several variables that a reduced function captures, and the place where it is."""
    f = program(
        cells,
        "t = x\n    for k in range(3):\n"
        "        t = t * functools.reduce(lambda p, q: p + q * t, (v * k + x for v in [t, "
        "1.0]), 0.5)\n    return t",
    )
    assert rl.gradient(f, 0.3)[0] == pytest.approx(
        float(gradient_by_differences(lambda x: f(float(x)), 0.3)), rel=1e-6
    )
