"""Random programs that change their arguments, against finite differences of fresh ones."""

import copy
import linecache
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus.structures import check  # noqa: E402

import rulelab as rl  # noqa: E402

HELPERS = '''
class O:
    def __init__(self, a, b):
        self.a = a
        self.b = b
    def mul(self, k):
        self.a = self.a * k
        return self.b
def setter(o, v):
    o.b = v * o.a
    return o.b
def push(xs, v):
    xs.append(v)
    return xs[0]
def swap(xs):
    xs[0], xs[-1] = xs[-1], xs[0]
def total(xs):
    s = 0.0
    for x in xs:
        s = s + x * x
    return s
'''
PLACES = ["o.a", "o.b", "xs[0]", "xs[-1]", "d['p']", "d['q'].a", "d['q'].b", "d['r'][0]", "x", "t"]
EXPRESSIONS = ["{} * {} * 0.5", "{} + 0.3 * {}", "np.sin({})", "{} * 0.7", "total(xs) * 0.1", "sum(xs) * 0.2"]
STATEMENTS = [
    "o.a = {e}", "o.b = {e}", "xs[0] = {e}", "xs.append({e})", "t = t * xs.pop() if len(xs) > 1 else t",
    "d['p'] = {e}", "d['q'].a = {e}", "d['q'].mul({v})", "t = {e} + setter(o, {v})",
    "t = {e} + push(xs, {v})",
    "swap(xs)", "xs.sort()", "xs.reverse()", "xs.insert(0, {e})",
    "d['r'] = [{e}, {v}]", "d['r'].append({e})",
    "o, d['q'] = d['q'], o", "d.update(p={e})", "xs += [{e}]", "o.a += {v} * 0.5", "xs[0] *= 0.9",
    "xs[:] = [v * 0.8 for v in xs]", "t = t + copy.copy(o).mul({v})", "t = t + copy.deepcopy(d)['q'].mul(t)",
]  # fmt: skip


def program(rng):
    """The text of a function of an object, a list, a dict and a number."""

    def expression():
        return rng.choice(EXPRESSIONS).format(rng.choice(PLACES), rng.choice(PLACES))

    def statement():
        return rng.choice(STATEMENTS).format(e=expression(), v=rng.choice(PLACES))

    lines = ["def f(o, xs, d, x):", "    t = x"]
    for _ in range(rng.randint(3, 9)):
        kind = rng.random()
        if kind < 0.2:
            lines += [f"    for _ in range({rng.randint(1, 3)}):", f"        {statement()}"]
        elif kind < 0.35:
            lines += [f"    if {rng.choice(PLACES)} > 0.517:", f"        {statement()}"]
        else:
            lines.append(f"    {statement()}")
    lines.append("    return t * o.a + total(xs) + o.a * d['q'].b + d['r'][0] * d['p'] + xs[0] * x")
    return HELPERS + "\n".join(lines) + "\n"


@pytest.mark.every(11)
@pytest.mark.parametrize("seed", range(60))
def test_random_changes_of_arguments(seed):
    """Each write, method, exchange and copy in any order."""
    text, name = program(random.Random(seed)), f"<random changes {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np, "copy": copy, "__name__": "random_changes"}
    exec(compile(text, name, "exec"), names)
    made = names["O"]
    args = (made(0.7, 1.1), [0.9, 0.4, 1.3], {"p": 0.6, "q": made(0.8, 0.5), "r": [0.35, 0.2]}, 1.2)
    assert abs(names["f"](*copy.deepcopy(args))) < 1e6, text
    check(rl.gradient, names["f"], *args, tolerance=2e-5)
