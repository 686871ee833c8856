"""Every rewriting is an identity, and the search keeps what measures best."""

import pytest
import sympy as sp

from rulelab.symbolic.rewrites import best_rewriting, rewritings

x, y = sp.symbols("x y", positive=True)

EXPRESSIONS = [
    1 - x**2,
    1 - sp.tanh(x) ** 2,
    1 + sp.tan(x) ** 2,
    1 - sp.cos(x),
    sp.exp(x) - 1,
    1 - sp.exp(-x),
    sp.log(1 + x),
    sp.log(x + 1) - sp.log(x),
    sp.sqrt(x + 1) - sp.sqrt(x),
    sp.sqrt(x**2 + y**2),
    1 / sp.cosh(x) ** 2,
    sp.exp(-x) / (1 + sp.exp(-x)) ** 2,
    4 * x**2 - y**4,
]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_rewritings_are_identities(expr):
    """At a point, with thirty digits, and there is one for each of these."""
    point = {x: sp.Rational(3, 7), y: sp.Rational(5, 11)}
    exact = expr.evalf(30, subs=point)
    made = list(rewritings(expr))
    assert made
    for form in made:
        assert abs(form.expand(func=True).evalf(30, subs=point) - exact) < sp.Float("1e-25") * abs(exact)


def test_the_search_takes_the_smallest_loss():
    """By the measure that it is given, through two rewritings."""

    def measure(expr):
        import ast

        return (0.0 if expr.has(sp.sin) else 5.0), 1.0, ast.Constant(1)

    found = best_rewriting(3 * (1 - sp.cos(x)), {}, measure)
    assert found.expr == 6 * sp.sin(x / 2) ** 2 and found.loss == 0.0
