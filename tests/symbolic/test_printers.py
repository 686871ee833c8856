"""From SymPy's trees to Python's: the text computes the expression, in the author's words."""

import math

import numpy as np
import pytest
import sympy as sp
from sympy.codegen import cfunctions

from rulelab.symbolic.printers import (
    Printer,
    Spelling,
    Unprintable,
    compiled,
    cost,
    name_tree,
    plain_scope,
    text,
)

x, y = sp.symbols("x y")


def printed(expr, scope=None, numpy=False, used=()):
    names = {s: name_tree(s.name) for s in expr.free_symbols}
    return text(Printer(Spelling(scope or {"math": math}, numpy, {"x", "y"}, used), names).tree(expr))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (1 - x**2, "1 - x * x"),
        (-x / 2, "-0.5 * x"),
        (x / 3, "x / 3"),
        (x / (2 * y), "x / (2 * y)"),
        (-2 * x, "-2 * x"),
        (sp.exp(-x), "math.exp(-x)"),
        (1 / sp.sqrt(x), "1 / math.sqrt(x)"),
        (sp.Rational(1, 10) * x, "0.1 * x"),
        (2 * sp.pi * x, "2 * math.pi * x"),
        (x**y, "x**y"),
        (1 / sp.tan(x), "1 / math.tan(x)"),
        (cfunctions.expm1(x), "math.expm1(x)"),
        (-x - y, "-x - y"),
        (x - (y - 1), "x + 1 - y"),
    ],
)
def test_expressions_look_as_written_by_hand(expr, expected):
    """Divisions and differences, not negative powers and sums of negatives."""
    assert printed(expr) == expected


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(40))
def test_the_text_computes_the_expression(seed):
    """Random expressions: what was printed, compiled and run gives SymPy's number."""
    rng = np.random.default_rng(seed)
    expr = sp.Integer(1)
    parts = [
        x,
        y,
        sp.sin(x),
        sp.exp(-y),
        sp.sqrt(x),
        sp.log(y),
        1 / x,
        sp.Rational(2, 7),
        -x * y,
        sp.pi,
        1 - y,
    ]
    for _ in range(7):
        part = parts[rng.integers(len(parts))]
        expr = (expr + part, expr - part, expr * part, expr / part, part / (2 + expr**2))[rng.integers(5)]
    names = {s: name_tree(s.name) for s in (x, y)}
    tree = Printer(Spelling(plain_scope(), False, {"x", "y"}), names).tree(expr)
    found = compiled(tree, ["x", "y"], plain_scope())(0.7, 1.9)
    assert found == pytest.approx(
        float(expr.subs({x: sp.Float("0.7", 30), y: sp.Float("1.9", 30)})), rel=1e-9
    )


def test_names_of_the_scope_are_used():
    """A module under another name, a function without its module."""
    assert printed(sp.sin(x), {"m": math}) == "m.sin(x)"
    assert printed(sp.sin(x), {"sin": math.sin, "math": math}, used={"sin"}) == "sin(x)"
    assert printed(sp.asin(x), {"np": np}, numpy=True) == "np.arcsin(x)"


def test_a_name_that_is_taken_is_not_used():
    """An argument x that hides a module x."""
    spelling = Spelling({"x": math}, False, {"x"})
    assert text(spelling.function(sp.sin)) == "math.sin" and list(spelling.imports) == ["import math"]


def test_functions_that_nobody_has_are_refused():
    """With their name."""
    with pytest.raises(Unprintable, match="airyai"):
        printed(sp.airyai(x))


def test_special_functions_keep_the_arguments_of_scipy():
    """One of several results by its place; a slope without a closed form is refused in words."""
    pytest.importorskip("scipy.special")
    assert printed(sp.besselj(2, x)).endswith("jv(2, x)")
    assert printed(sp.Ci(x)).endswith("sici(x)[1]")
    assert printed(sp.LambertW(x)).endswith("lambertw(x).real")
    assert printed(sp.elliptic_e(x, sp.Rational(1, 4))).endswith("ellipeinc(x, 0.25)")
    with pytest.raises(Unprintable, match="no closed form"):
        printed(sp.Derivative(sp.besselj(x, 2), x))


def test_what_stands_twice_costs_once():
    """As it will be worked out once."""
    names = {x: name_tree("x")}
    printer = Printer(Spelling({"math": math}, False, {"x"}), names)
    once = printer.tree(sp.exp(x) + 1)
    twice = printer.tree((sp.exp(x) + 1) * sp.exp(x))
    assert cost(twice) < cost(once) + 3
