"""Many forms of one derivative, and the one that is cheap where it is accurate: with the function's own value
in it, factored, simplified, without exponentials that overflow."""

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

MAX_OPERATIONS = 150  # of a derivative whose forms are looked for
MORE_OPERATIONS = 6  # that another form may have
MAX_POINTS = 40
STEP_SECONDS = 1.0  # of the processor, of SymPy's for one form, which takes less than a tenth as a rule
CLOSE = 1e-6  # relative, for a form to be taken; what remains is for the stability scan
FLOOR = 1e-13  # absolute, in units of the function's value: 1 - y*y may be this far off


@dataclass(frozen=True)
class Point:
    """Where forms are tried: floats by symbol, and the exact values of these floats."""

    floats: dict
    exact: dict
    known: dict = field(default_factory=dict)

    def value(self, expr):
        """The value of an expression that many derivatives share."""
        if expr not in self.known:
            self.known[expr] = exact_value(expr, self)
        return self.known[expr]


def points_of(runs, names):
    """Points of the runs that took one path, spread over them; `names` are the symbols' names."""
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
    """The value of an expression at the exact floats of a point, or None where it is no finite real."""
    try:
        with at_most(STEP_SECONDS):
            value = expr.evalf(25, subs=point.exact)
    except (Exception, TooLong):  # evalf may raise almost anything outside a domain
        return None
    return float(value) if value.is_Float and math.isfinite(float(value)) else None


class Patience:
    """So many operations of derivatives of which every form is looked for; of others those that are quickly
    found.

    It is counted in operations and not in seconds: a busy machine makes no other rule.

    >>> patience, x = Patience(3), sp.Symbol("x")
    >>> [patience.bears(x * sp.exp(x)) for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, operations):
        self.left = operations

    def bears(self, derivative):
        """Whether there is any left for this one too."""
        bears = self.left > 0
        self.left -= derivative.count_ops()
        return bears


def best_form(derivative, values, points, numpy, patience):
    """The form of `derivative` to print: the fewest failures, then accurate, then cheap.

    `values` maps the function's own results to the symbols under which the rule has them. Where the
    `patience` is at its end only forms that are quickly found are tried.
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
        _rank(derivative, values, wanted, numpy)  # which says what cannot be printed
    return best


def _rank(form, values, wanted, numpy):
    tree, function, symbols = runnable(form, numpy)
    failures = inaccurate = 0
    for floats, exact in wanted:
        found = evaluated(function, [floats[s] for s in symbols])
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
    """What the form divides by that might be zero: y*n/x has one, n*x**(n - 1) none."""
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


def runnable(form, numpy=False):
    """(tree, function, symbols): an expression as code, in our own spelling, to be tried on floats."""
    symbols = sorted(form.free_symbols, key=lambda s: s.name)
    names = [f"v{i}" for i in range(len(symbols))]
    spelling = Spelling(plain_scope(), numpy, taken=names)
    tree = Printer(spelling, {s: name_tree(n) for s, n in zip(symbols, names, strict=True)}).tree(form)
    return tree, compiled(tree, names, spelling.scope), symbols


def evaluated(function, values, number=float):
    """The `number`, float or complex, that it gives; nan where it raises: an overflow fails like a nan."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return number(function(*values))
        except (ArithmeticError, ValueError, TypeError):
            return number(math.nan)


# --- the forms ----------------------------------------------------------------------------------------------


def forms(derivative, values, thorough=True):
    """Equal forms of a derivative, each once; the first is the one SymPy's `diff` gave."""
    seen: dict[Any, None] = {}
    plain = [derivative]
    if derivative.count_ops() <= MAX_OPERATIONS and has_small_powers(derivative):
        slow = (sp.factor, _cancelled, sp.powsimp, sp.simplify, _without_growing) if thorough else ()
        for step in (*slow, _one_exponent):
            plain.append(attempted(step, derivative))
    for form in dict.fromkeys(f for f in plain if f is not None):
        seen[form] = None
        for replaced in (*_with_values(form, values, thorough), *_divided(form, values)):
            seen[replaced] = None
    room = derivative.count_ops() + MORE_OPERATIONS  # loops multiplied out are read by nobody
    return [form for form in seen if form is derivative or form.count_ops() <= room]


@functools.lru_cache(2048)  # several ways lead to the same form, which takes as long each time
def attempted(step, *args):
    """What a step of SymPy's gives, or None: its heuristics may raise almost anything, or not end."""
    try:
        with at_most(STEP_SECONDS):
            found = step(*args)
    except (Exception, TooLong):
        return None
    return found if found is not None and not found.has(sp.nan, sp.zoo, sp.oo, sp.Piecewise, sp.I) else None


def _cancelled(expr):
    return sp.cancel(sp.together(expr))


def _without_growing(expr):
    """A quotient of exponentials divided through by one of them: exp(x)/(1 + exp(x)) is 1/(1 + exp(-x))."""
    over, under = sp.fraction(sp.together(expr))
    for kernel in sorted(under.atoms(sp.exp), key=sp.default_sort_key):
        small = 1 / kernel
        made = sp.powsimp(sp.expand(over * small)) / sp.powsimp(sp.expand(under * small))
        if made != expr:
            return made
    return None


def _one_exponent(expr):
    """x**n*n/x as n*x**(n - 1): no division by a number that may be zero."""
    return sp.powsimp(sp.expand_power_base(expr), combine="exp")


def _with_values(form, values, thorough):
    for value, symbol in values.items():
        if value.is_Atom:
            continue
        for step in (_substituted, _eliminated, _shifted):
            replaced = attempted(step, form, value, symbol)
            if replaced is None or replaced == form:
                continue
            yield replaced
            if thorough and replaced.count_ops() <= 40:
                for tidied in (attempted(sp.factor, replaced), attempted(sp.simplify, replaced)):
                    if tidied is not None:
                        yield tidied


def _divided(form, values):
    """A result times what else is in the derivative: y_0*y_1 for exp(x_0)*exp(x_1)/(…)**2, whose square
    overflows."""
    for value, symbol in values.items():
        rest = attempted(_quotient, form, value)
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
    """A function inside the value, f(u) in a*f(u) + b, taken from the value."""
    for inner in sorted(value.atoms(sp.Function), key=lambda e: -e.count_ops()):
        mark = sp.Dummy()
        marked = value.xreplace({inner: mark})
        if marked.is_polynomial(mark) and sp.degree(marked, mark) == 1 and form.has(inner):
            slope, rest = sp.Poly(marked, mark).all_coeffs()
            if slope.is_number:
                return form.subs(inner, (symbol - rest) / slope)
    return None


def _eliminated(form, value, symbol):
    """An exponential of which value and derivative are rational functions, eliminated: y*(1 - y) for
    1/(1 + exp(-x))."""
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
