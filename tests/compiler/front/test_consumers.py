"""Generator expressions are read where a builtin consumes them at once; elsewhere they are refused."""

import ast
import math

import pytest

import rulelab as rl
from rulelab.compiler.front.consumers import consumes_first

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
