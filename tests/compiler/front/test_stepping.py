"""Loops over `pairwise`, `accumulate`, `chain` and `starmap`, and `next`, are what they are in Python."""

import pytest

import rulelab as rl
from rulelab.errors import RuleLabError

from ..agreeing import check_second_derivative, check_slope

AROUND = """
import itertools, math, operator
from itertools import accumulate, chain, pairwise
import numpy as np
import rulelab as rl
SEEN = []
class Place:
    def __init__(self, at):
        self.at = at
def noted(v, what="here"):
    rl.ignore_derivatives(lambda: SEEN.append(what))
    return v
def times(p, q):
    return p * q
"""
STEPPED = {
    "pairs": "return sum(a * b for a, b in pairwise([x, 2 * x, 3.0, x * x]))",
    "pairs in a loop": (
        "t = 0.0\n    for a, b in pairwise((x, 3.0, x * x)):\n        t += a * b\n    return "
        "t"
    ),
    "pairs left": (
        "t = 0.0\n    for a, b in itertools.pairwise([x, 3.0, x * x, 9.0]):\n        if b > 3.5:\n"
        "            break\n        t += a * b\n    return t * a"
    ),
    "some pairs": "return sum([(b - a) ** 2 for a, b in pairwise([x, 2 * x, 3.0, x]) if b > a])",
    "no pairs": "return x + sum(a * b for a, b in pairwise([x]))",
    "whole pairs": "return sum(p[0] * p[1] for p in pairwise([x, 2 * x, 3.0]))",
    "pairs of a generator": "return sum(a * b for a, b in pairwise(v * x for v in [x, 2.0, 3.0]))",
    "pairs of pairs": (
        "return sum(a * d - b * c for (a, b), (c, d) in pairwise([(x, 1.0), (2.0, x), (x, "
        "x)]))"
    ),
    "pairs of arrays": "return sum(a @ b for a, b in pairwise([np.array([x, k]) for k in range(3)]))",
    "pairs of rows": "return sum(a @ b for a, b in pairwise(np.array([[x, 1.0], [2.0, x], [x, x]])))",
    "pairs of objects": "return sum(a.at * b.at for a, b in pairwise([Place(x), Place(2.0), Place(x * x)]))",
    "pairs of whole numbers": "return sum(a * b * x for a, b in pairwise(range(4)))",
    "pairs in pairs": (
        "return sum(sum(a * c for a in r) * b for r, b in [((x, 2.0), 3.0)] for _, c in pairwise([x, b, x]))"
    ),
    "sums": "return list(accumulate([x, 2 * x, 3.0]))[2] * x",
    "sums in a loop": (
        "t = 0.0\n    for s in accumulate(v * x for v in (1.0, x)):\n        t += s * s\n    "
        "return t"
    ),
    "products": "return sum(itertools.accumulate([x, 2 * x, 3.0], lambda p, q: p * q))",
    "by a function": "return max(accumulate([x, 2 * x, 3.0], times))",
    "by one of C": "return sum(accumulate([x, 2 * x, 3.0], operator.mul))",
    "the greatest so far": "return sum(accumulate([x, 2 * x, 0.5], max))",
    "sums of none": "return x + sum(accumulate([]))",
    "sums of arrays": "return sum(s @ s for s in accumulate([np.array([x, k]) for k in range(3)]))",
    "sums of tuples": "return [t[-1] * t[0] for t in accumulate([(x,), (2.0, x * x)])][-1]",
    "one after the other": "return sum(v * v for v in chain([x, 2 * x], (3.0, x * x)))",
    "of generators": "return sum([v * v for v in chain((u * x for u in [x, 2.0]), (u + x for u in [3.0]))])",
    "of names": "xs, ys = [x, 2.0], [x * x]\n    return sum(v * v for v in chain(xs, ys, xs))",
    "a map after a list": "return max(chain([x, 2.0], map(lambda v: v * x, [x, 3.0])))",
    "flattened": "return sum(chain.from_iterable([v * x, v] for v in [x, 2.0]))",
    "by pairs": "return sum(itertools.starmap(lambda a, b: a * b, zip([x, 2.0], [x, 3.0])))",
    "by pairs and a function": "return sum(itertools.starmap(times, zip([x, 2.0, 5.0], [x, 3.0])))",
    "by pairs and one of C": "return sum(itertools.starmap(operator.mul, zip([x, 2.0], [x, 3.0])))",
    "the first": "return next(v * x for v in [0.5, x, 2.0] if v > 1)",
    "the first or else": "return next((v * x for v in [0.5, 0.6] if v > 1), x) * x",
    "the first of several": "return next(v * w for v in [0.5, x] for w in [v, x * x] if v * w > 1) * x",
    "the first, under a new name": "g = ((w := v * x) for v in [x, 2.0])\n    return next(g) * w",
    "the first of a variable": "g = (v * x for v in [x, 2.0])\n    s = x\n    return next(g) * s",
    "within a comprehension": (
        "return sum([next(v * k for v in [x, 5.0] if v > k) for k in range(3)])"
        " + sum([sum(a * b * k for a, b in pairwise([x, k, x])) for k in range(3)])"
    ),
    "of rebound variables": (
        "k = 2.0\n    a = next(v * k for v in [x, 2.0])\n    b = sum(p * q * k for p, q in "
        "pairwise([x, k, x]))\n"
        "    k = 3.0\n    return a * b * sum(chain((v * k for v in [x]), [k * x]))"
    ),
}
OTHERWISE = {
    "flattened in part": (
        "return sum(v for v in chain.from_iterable((v, x) for v in [x, 9.0] if v < 5) if v > "
        "1)"
    ),
    "a start": "return sum(accumulate([x, 2.0], initial=x))",
    "stars": "rows = [[x, 2.0], [x]]\n    return sum(v * v for v in chain(*rows))",
    "a loop over a chain": "t = 0.0\n    for v in chain([x], [2.0, x]):\n        t += v * v\n    return t",
    "any of a chain": "return x * any(v > 2 for v in chain([x], [2.0, 3.0]))",
    "rows that are no zip": "return sum(itertools.starmap(times, [(x, 2.0), (x, x)]))",
    "two of a name": "g = (v * x for v in [x, 2.0])\n    return next(g) * next(g)",
    "a pair of more": "t = 0.0\n    for a, *b in pairwise([x, 2.0, x]):\n        t += a * b[0]\n    return t",
    "what a chain runs over changes": (
        "d = {1.0: x}\n    def more(v):\n        d[2.0 + v] = x\n        return v\n"
        "    return sum([more(v) for v in chain([x], (k for k in d))])"
    ),
}
PROGRAMS = {**STEPPED, **{f"otherwise: {name}": body for name, body in OTHERWISE.items()}}


def program(cells, body):
    cells.run(AROUND)
    return cells.run(f"def f(x):\n    {body}\n")["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes(cells, name):
    f = program(cells, PROGRAMS[name])
    try:
        check_slope(f, 1.3)
    except (RuleLabError, RuntimeError):
        assert name.startswith("otherwise")
        return
    if "objects" not in name:
        check_second_derivative(f, 1.3)


@pytest.mark.parametrize("name", STEPPED)
def test_it_is_code_of_the_pass(cells, name):
    text = str(rl.adjoint_source(program(cells, STEPPED[name]), 1.3))
    calls = ("pairwise_at", "accumulate_at", "chain_at", "from_iterable_at", "starmap_at", "next_at")
    assert "genexpr" not in text
    assert not any(call in text for call in calls)


EFFECTS = {
    "pairs": "sum([noted(a, 'pair') * b for a, b in pairwise(noted(v, 'item') * x for v in [x, 2.0, 3.0])])",
    "sums": (
        "sum([noted(s, 'sum') for s in accumulate(noted(v, 'item') for v in [x, noted(2.0, "
        "'two'), 3.0])])"
    ),
    "calls": (
        "sum([noted(s, 'sum') for s in accumulate([noted(x, 'a'), noted(x, 'b')],"
        " lambda p, q: noted(p * q, 'call'))])"
    ),
    "one after the other": (
        "sum([noted(v, 'v') for v in chain([noted(x, 'a')], (noted(u, 'u') for u in [noted(2.0, 'b')]))])"
    ),
    "flattened": "sum(chain.from_iterable([noted(v, 'v')] for v in [x, noted(2.0, 'b')]))",
    "the first": "next(noted(v, 'v') for v in [0.5, x, 9.0] if noted(v, 'test') > 1)",
    "the first or else": "next((noted(v, 'v') for v in [0.5] if noted(v, 'test') > 1), x)",
    "none": "next(noted(v, 'v') for v in [0.5] if noted(v, 'test') > 1)",
    "an error of a pair": "sum([[a][noted(int(b), 'i')] for a, b in pairwise([x, 0.0, 3.0, 0.0])])",
    "an item that ends": "sum([a for a, b in pairwise(next(iter([])) for v in [x, 2.0])])",
    "a first that ends": "next(next(iter([])) for v in [x, 2.0])",
    "no iterable": "sum([v for v in chain([noted(x, 'a')], 5)])",
    "no pairs": "sum([a * b for a, b in pairwise(noted(5, 'five'))])",
    "no numbers": "sum(accumulate([noted(x, 'a'), 'b']))",
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
            assert name in ("an item that ends", "a first that ends")
            return
        except Exception as error:
            value = type(error)
        found.append((value, list(seen)))
    assert found[1][0] == found[0][0] and found[1][1][: len(found[0][1])] == found[0][1]


def test_what_is_redefined_counts(cells):
    f = program(cells, "return sum(a * b for a, b in pairwise([x, 2.0, x]))")
    check_slope(f, 1.3)
    cells.run("def pairwise(xs):\n    return [(xs[0], xs[0])]\n")
    check_slope(f, 1.3)
    assert f(1.3) == 1.3**2


def test_of_arguments(cells):
    """Lists, tuples, arrays and iterators that the function is given."""
    cells.run(AROUND)
    text = "sum(a * b for a, b in pairwise(xs)) + next(v for v in xs) ** 2"
    f = cells.run(f"def f(xs):\n    return {text}\n")["f"]
    for _ in range(3):
        assert rl.gradient(f, [1.0, 2.0, 4.0]) == ([4.0, 5.0, 2.0],)
        assert rl.gradient(f, (1.0, 2.0, 4.0)) == ((4.0, 5.0, 2.0),)
        assert list(rl.gradient(f, cells.names["np"].array([1.0, 2.0, 4.0]))[0]) == [4.0, 5.0, 2.0]
