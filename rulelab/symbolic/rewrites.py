"""A short search for a formula that loses fewer digits: known rewritings, each measured in floats."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp
from sympy.codegen.cfunctions import expm1, hypot, log1p

from .forms import forms, result_or_none
from .printers import Unprintable, cost

DEPTH, BEAM, MAX_TRIED = 3, 6, 150


class Rewritten(NamedTuple):
    """A formula, its loss (the mean number of lost bits over the points), and its worst error in ulps."""

    expr: sp.Expr
    loss: float
    worst: float


def best_rewriting(slope, values, measure, analytic=False):
    """Return the formula with the smallest loss among rewritings of `slope`, including itself.

    `values` maps the function's value to its symbol. `measure(expr)` returns (loss, worst, tree) in floats;
    with `analytic` only rewritings that hold for complex numbers are tried.
    """
    known: dict[sp.Expr, tuple] = {}

    def note(expr):
        if expr is None or expr in known or len(known) >= MAX_TRIED or expr.has(sp.nan, sp.zoo, sp.oo):
            return
        try:
            loss, worst, tree = measure(expr)
        except (Unprintable, RecursionError, TypeError):
            return
        known[expr] = (round(4 * loss), cost(tree), loss, worst)

    back = {symbol: value for value, symbol in values.items()}
    plain = slope.subs(back)
    note(slope)
    for start in dict.fromkeys((slope, plain)):
        for form in forms(start, values):
            note(form)
    done: set[sp.Expr] = set()
    for _ in range(DEPTH):
        front = [e for e in sorted(known, key=lambda e: known[e][:2]) if e not in done][:BEAM]
        for expr in (*front, *([plain] if plain not in done else [])):
            done.add(expr)
            for made in rewritings(expr, analytic):
                note(made)
    if not known:
        return None
    best = min(known, key=lambda e: known[e][:2])
    return Rewritten(best, *known[best][2:])


def rewritings(expr, analytic=False):
    """Yield the expressions that result from one rewriting of one part of `expr`."""
    rules = ANALYTIC if analytic else (*ANALYTIC, *REAL)
    for part in sp.preorder_traversal(expr):
        for rule in rules:
            made = result_or_none(rule, part)
            if made is not None and made != part:
                yield expr.xreplace({part: made})
    if not analytic:
        yield from _even(expr)


def _even(expr):
    """For an even function of one number, use its absolute value, so that exponentials decay."""
    if len(expr.free_symbols) == 1 and expr.has(sp.exp):
        (x,) = expr.free_symbols
        if result_or_none(sp.simplify, expr - expr.subs(x, -x)) == 0:
            size = sp.Symbol("size", positive=True)
            for form in (expr.subs(x, size), expr.subs(x, -size)):
                for made in (form, result_or_none(_decaying, form)):
                    if made is not None:
                        yield made.xreplace({size: sp.Abs(x)})


def _decaying(expr):
    over, under = sp.fraction(sp.together(expr))
    for kernel in expr.atoms(sp.exp):
        for times in (1, 2):
            made = sp.factor(sp.powsimp(sp.expand(over / kernel**times))) / sp.factor(
                sp.powsimp(sp.expand(under / kernel**times))
            )
            if all(e.args[0].could_extract_minus_sign() for e in made.atoms(sp.exp)):
                return made
    return None


# --- the individual rewritings ------------------------------------------------------------------------------


def _squares(e):
    """(a, b) if the expression is a**2 - b**2."""
    if not e.is_Add or len(e.args) != 2:
        return None
    minus = [t for t in e.args if t.could_extract_minus_sign()]
    plus = [t for t in e.args if not t.could_extract_minus_sign()]
    if len(minus) != 1 or len(plus) != 1:
        return None
    roots = [_root(plus[0]), _root(-minus[0])]
    return None if None in roots else roots


def _root(e):
    if e.is_Rational:
        root = sp.sqrt(e)
        return root if root.is_Rational else None
    if e.is_Pow and e.exp.is_Integer and e.exp % 2 == 0:
        return e.base ** (e.exp / 2)
    if e.is_Mul:
        roots = [_root(a) for a in e.args]
        return None if None in roots else sp.Mul(*roots)
    return None


def _difference_of_squares(e):
    found = _squares(e)
    return None if found is None else (found[0] - found[1]) * (found[0] + found[1])


def _pythagoras(e):
    """1 - tanh(u)**2, 1 + tan(u)**2, 1 - sin(u)**2 and similar, up to the sign."""
    if not e.is_Add or len(e.args) != 2:
        return None
    for kind, sign, made in (
        (sp.tanh, -1, lambda u: 1 / sp.cosh(u) ** 2),
        (sp.tan, 1, lambda u: 1 / sp.cos(u) ** 2),
        (sp.sin, -1, lambda u: sp.cos(u) ** 2),
        (sp.cos, -1, lambda u: sp.sin(u) ** 2),
        (sp.sinh, 1, lambda u: sp.cosh(u) ** 2),
    ):
        for f in e.atoms(kind):
            for factor in (1, -1):
                if e == factor * (1 + sign * f**2):
                    return factor * made(f.args[0])
    return None


def _one_minus_cos(e):
    for f in e.atoms(sp.cos) if e.is_Add and len(e.args) == 2 else ():
        for factor in (1, -1):
            if e == factor * (1 - f):
                return factor * 2 * sp.sin(f.args[0] / 2) ** 2
    return None


def _with_expm1(e):
    for f in e.args if e.is_Add else ():
        if isinstance(f, sp.exp) and -1 in e.args:
            return e - f + 1 + expm1(f.args[0])
        if isinstance(-f, sp.exp) and 1 in e.args:
            return e - f - 1 - expm1((-f).args[0])
    return None


def _with_log1p(e):
    if isinstance(e, sp.log) and e.args[0].is_Add and 1 in e.args[0].args:
        return log1p(e.args[0] - 1)
    return None


def _difference_of_logs(e):
    if not e.is_Add or len(e.args) != 2:
        return None
    plus = [t for t in e.args if isinstance(t, sp.log)]
    minus = [-t for t in e.args if isinstance(-t, sp.log)]
    if len(plus) != 1 or len(minus) != 1:
        return None
    a, b = plus[0].args[0], minus[0].args[0]
    return log1p(sp.simplify((a - b) / b))


def _conjugate_root(e):
    """sqrt(a) - b as (a - b**2)/(sqrt(a) + b)."""
    if not e.is_Add or len(e.args) != 2:
        return None
    for first, second in (e.args, e.args[::-1]):
        if first.is_Pow and first.exp == sp.Rational(1, 2) and second.could_extract_minus_sign():
            return sp.simplify(first.base - second**2) / (first - second)
    return None


def _with_hypot(e):
    if e.is_Pow and abs(e.exp) == sp.Rational(1, 2) and e.base.is_Add and len(e.base.args) == 2:
        roots = [_root(a) for a in e.base.args]
        if None not in roots:
            return hypot(*roots) ** (2 * e.exp)
    return None


def _inverse_cosh(e):
    """A power of 1/cosh(u), in terms of exp(-abs(u)), which does not overflow."""
    if e.is_Pow and isinstance(e.base, sp.cosh) and e.exp.is_Integer and e.exp < 0:
        u = e.base.args[0]
        small = sp.exp(-sp.Abs(u))
        return (2 * small / (1 + small**2)) ** (-e.exp)
    return None


ANALYTIC = (
    _difference_of_squares,
    _pythagoras,
    _one_minus_cos,
    _with_expm1,
    _with_log1p,
    _difference_of_logs,
    _conjugate_root,
)
REAL = (_with_hypot, _inverse_cosh)
