"""Find a form of a derivative that is accurate and cheap: in terms of the function's own value, factored,
simplified, without exponentials that overflow.
"""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from .formulas import has_small_powers
from .printers import Printer, Spelling, Unprintable, compiled, cost, name_tree, plain_scope
from .scalars import CONTEXT
from .worker import TooLong, at_most

MAX_OPERATIONS = 150  # operations of a derivative for which all forms are tried
MORE_OPERATIONS = 6  # additional operations that another form may have
MAX_POINTS = 40
STEP_SECONDS = 1.0  # processor seconds for one form in SymPy, which usually takes less than a tenth of that
CLOSE = 1e-6  # relative error for a form to be accepted; the rest is left to the stability scan
FLOOR = 1e-13  # absolute error, in units of the function's value, which 1 - y*y may have


@dataclass(frozen=True)
class Point:
    """A point at which forms are compared: floats by symbol, and their exact values."""

    floats: dict
    exact: dict
    known: dict = field(default_factory=dict)

    def value(self, expr):
        """The value of an expression that many derivatives share, cached."""
        if expr not in self.known:
            self.known[expr] = exact_value(expr, self)
        return self.known[expr]


def points_of(runs, names):
    """Yield points from runs along the same path, spread evenly over them; `names` are the names of the
    symbols.
    """
    chosen = (
        runs if len(runs) <= MAX_POINTS else [runs[i * len(runs) // MAX_POINTS] for i in range(MAX_POINTS)]
    )
    for run in chosen:
        values = {}
        for node in _arguments_of(run):
            if node.args in names:
                values[sp.Symbol(node.args)] = node.shadow
        if len(values) == len(names):
            floats = {symbol: float(value) for symbol, value in values.items()}
            yield Point(
                floats, {s: sp.Float(CONTEXT.nstr(CONTEXT.mpf(v), 40), 40) for s, v in floats.items()}
            )


def _arguments_of(run):
    seen: set[int] = set()
    stack = [*run.y, *(side for d in run.trace.decisions for side in (d.left, d.right))]
    while stack:
        node = stack.pop()
        if id(node) in seen or node.op == "constant":
            continue
        seen.add(id(node))
        if node.op == "argument":
            yield node
        else:
            stack.extend(node.args)


def exact_value(expr, point):
    """The value of an expression at the exact floats of a point; None if it is not finite and real."""
    try:
        with at_most(STEP_SECONDS):
            value = expr.evalf(25, subs=point.exact)
    except (Exception, TooLong):  # evalf may raise almost anything outside a domain
        return None
    return float(value) if value.is_Float and math.isfinite(float(value)) else None


class SimplificationBudget:
    """A budget of operations of derivatives for which every form is tried; for the others only forms that are
    found quickly.

    It is counted in operations, not in seconds, so that the derived rule does not depend on the machine's
    load.

    >>> patience, x = SimplificationBudget(3), sp.Symbol("x")
    >>> [patience.bears(x * sp.exp(x)) for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, operations):
        self.left = operations

    def bears(self, derivative):
        """Whether any of the budget is left; deduct this derivative."""
        bears = self.left > 0
        self.left -= derivative.count_ops()
        return bears


def best_form(derivative, values, points, numpy, patience):
    """The form of `derivative` to print: the one with the fewest failures, then the most accurate, then the
    cheapest.

    `values` maps the function's own results to their symbols in the rule. Once `patience` is used up, only
    forms that are found quickly are tried.
    """
    wanted = []
    for point in points:
        exact, ys = exact_value(derivative, point), [point.value(value) for value in values]
        if exact is not None and None not in ys:
            wanted.append((point.floats | dict(zip(values.values(), ys, strict=True)), exact))
    best, best_rank = derivative, None
    for form in forms(derivative, values, patience.bears(derivative)):
        try:
            rank = _rank(form, values, wanted, numpy)
        except (Unprintable, RecursionError):
            continue
        if best_rank is None or rank < best_rank:
            best, best_rank = form, rank
    if best_rank is None:
        _rank(derivative, values, wanted, numpy)  # which raises the error for what cannot be printed
    return best


def _rank(form, values, wanted, numpy):
    tree, function, symbols = compiled_form(form, numpy)
    failures = inaccurate = 0
    for floats, exact in wanted:
        found = value_or_nan(function, [floats[s] for s in symbols])
        if not math.isfinite(found):
            failures += 1
        scale = max([1.0, *(abs(v) for v in floats.values())])
        if not abs(found - exact) <= CLOSE * abs(exact) + FLOOR * min(scale, 1e3):
            inaccurate += 1
    return (
        failures,
        inaccurate,
        len(_divisors(form.xreplace({symbol: value for value, symbol in values.items()}))),
        cost(tree),
        form.count_ops(),
        sp.default_sort_key(form),
    )


def _divisors(form):
    """The divisors in the form that might be zero: y*n/x has one, n*x**(n - 1) none."""
    powers = (p.as_base_exp() for p in form.atoms(sp.Pow))
    return {
        base for base, exponent in powers if exponent.could_extract_minus_sign() and not _is_positive(base)
    }


def _is_positive(expr):
    if expr.is_Add:
        return any(map(_is_positive, expr.args)) and all(map(_is_not_negative, expr.args))
    if expr.is_Mul:
        return all(map(_is_positive, expr.args))
    if expr.is_Pow:
        return _is_positive(expr.base)
    return isinstance(expr, (sp.exp, sp.cosh)) or expr.is_positive is True


def _is_not_negative(expr):
    if expr.is_Add or expr.is_Mul:
        return all(map(_is_not_negative, expr.args))
    return _is_positive(expr) or (expr.is_Pow and expr.exp.is_even is True)


def compiled_form(form, numpy=False):
    """(tree, function, symbols) of an expression: its code, with placeholder names, and a function to
    evaluate it on floats.
    """
    symbols = sorted(form.free_symbols, key=lambda s: s.name)
    names = [f"v{i}" for i in range(len(symbols))]
    spelling = Spelling(plain_scope(), numpy, taken=names)
    tree = Printer(spelling, {s: name_tree(n) for s, n in zip(symbols, names, strict=True)}).tree(form)
    return tree, compiled(tree, names, spelling.scope), symbols


def value_or_nan(function, values, number=float):
    """The value as a `number`, float or complex; nan if the function raises, since an overflow counts as a
    failure like nan.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return number(function(*values))
        except (ArithmeticError, ValueError, TypeError):
            return number(math.nan)


# --- the forms ----------------------------------------------------------------------------------------------


def forms(derivative, values, thorough=True):
    """The distinct equal forms of a derivative; the first is the result of SymPy's `diff`."""
    seen: dict[Any, None] = {}
    plain = [derivative]
    if derivative.count_ops() <= MAX_OPERATIONS and has_small_powers(derivative):
        slow = (sp.factor, _cancelled, sp.powsimp, sp.simplify, _without_growing) if thorough else ()
        for step in (*slow, _one_exponent):
            plain.append(result_or_none(step, derivative))
    for form in dict.fromkeys(f for f in plain if f is not None):
        seen[form] = None
        for replaced in (*_with_values(form, values, thorough), *_divided(form, values)):
            seen[replaced] = None
    room = derivative.count_ops() + MORE_OPERATIONS  # loops that are multiplied out are unreadable
    return [form for form in seen if form is derivative or form.count_ops() <= room]


@functools.lru_cache(2048)  # several paths lead to the same form, which takes as long each time
def result_or_none(step, *args):
    """The result of a SymPy step, or None: SymPy's heuristics may raise almost anything, or not terminate."""
    try:
        with at_most(STEP_SECONDS):
            found = step(*args)
    except (Exception, TooLong):
        return None
    return found if found is not None and not found.has(sp.nan, sp.zoo, sp.oo, sp.Piecewise, sp.I) else None


def _cancelled(expr):
    return sp.cancel(sp.together(expr))


def _without_growing(expr):
    """A quotient of exponentials, divided through by one of them: exp(x)/(1 + exp(x)) becomes 1/(1 +
    exp(-x)).
    """
    over, under = sp.fraction(sp.together(expr))
    for kernel in sorted(under.atoms(sp.exp), key=sp.default_sort_key):
        small = 1 / kernel
        made = sp.powsimp(sp.expand(over * small)) / sp.powsimp(sp.expand(under * small))
        if made != expr:
            return made
    return None


def _one_exponent(expr):
    """x**n*n/x as n*x**(n - 1): without division by a number that may be zero."""
    return sp.powsimp(sp.expand_power_base(expr), combine="exp")


def _with_values(form, values, thorough):
    for value, symbol in values.items():
        if value.is_Atom:
            continue
        for step in (_substituted, _eliminated, _shifted):
            replaced = result_or_none(step, form, value, symbol)
            if replaced is None or replaced == form:
                continue
            yield replaced
            if thorough and replaced.count_ops() <= 40:
                for tidied in (result_or_none(sp.factor, replaced), result_or_none(sp.simplify, replaced)):
                    if tidied is not None:
                        yield tidied


def _divided(form, values):
    """A result times the remaining factor of the derivative: y_0*y_1 for exp(x_0)*exp(x_1)/(…)**2, whose
    square overflows.
    """
    for value, symbol in values.items():
        rest = result_or_none(_quotient, form, value)
        if value.is_Atom or rest is None or rest.count_ops() >= form.count_ops():
            continue
        for other, its in values.items():
            rest = rest if other.is_Atom else rest.subs(other, its)
        yield symbol * rest


def _quotient(form, value):
    return sp.expand(form / value)


def _substituted(form, value, symbol):
    return form.subs(value, symbol)


def _shifted(form, value, symbol):
    """Express a function inside the value, f(u) in a*f(u) + b, in terms of the value."""
    for inner in sorted(value.atoms(sp.Function), key=lambda e: -e.count_ops()):
        mark = sp.Dummy()
        marked = value.xreplace({inner: mark})
        if marked.is_polynomial(mark) and sp.degree(marked, mark) == 1 and form.has(inner):
            slope, rest = sp.Poly(marked, mark).all_coeffs()
            if slope.is_number:
                return form.subs(inner, (symbol - rest) / slope)
    return None


def _eliminated(form, value, symbol):
    """Eliminate an exponential of which value and derivative are rational functions: y*(1 - y) for 1/(1 +
    exp(-x)).
    """
    for kernel in sorted(value.atoms(sp.exp), key=sp.default_sort_key):
        mark = sp.Dummy("k", positive=True)

        def in_mark(expr, kernel=kernel, mark=mark):
            return expr.replace(
                lambda e: isinstance(e, sp.exp) and (e.args[0] / kernel.args[0]).is_Integer,
                lambda e: mark ** (e.args[0] / kernel.args[0]),
            )

        over, under = sp.fraction(sp.together(in_mark(value)))
        equation = sp.Poly(sp.expand(over - symbol * under), mark)
        if equation.degree() != 1:
            continue
        slope, rest = equation.all_coeffs()
        return sp.factor(sp.cancel(in_mark(form).subs(mark, -rest / slope)))
    return None
