"""Convert traced graphs to SymPy expressions, and these to text and LaTeX with safe names."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from ..tables import name_latex
from .scalars import CannotTrace, Constant, Scalar
from .transcendents import IN_SYMPY

MAX_NODES = 3000  # beyond this, SymPy's differentiation is unacceptably slow
MAX_WRITTEN = 20_000  # the same for operations with shared ones counted at each use
MAX_SHOWN = 220  # operations; longer formulas are unreadable

_CONSTANTS = {
    None: sp.Integer(1),
    "pi": sp.pi,
    "E": sp.E,
    "sqrt(pi)": sp.sqrt(sp.pi),
    "1/pi": 1 / sp.pi,
    "1/sqrt(pi)": 1 / sp.sqrt(sp.pi),
    "sqrt(2)": sp.sqrt(2),
    "sqrt(3)": sp.sqrt(3),
    "sqrt(2*pi)": sp.sqrt(2 * sp.pi),
    "1/sqrt(2*pi)": 1 / sp.sqrt(2 * sp.pi),
    "log(2)": sp.log(2),
    "log(10)": sp.log(10),
    "1/log(2)": 1 / sp.log(2),
    "1/log(10)": 1 / sp.log(10),
    "oo": sp.oo,
}

_OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": sp.Pow,
    "sqrt": sp.sqrt,
    "integral": lambda integrand, t, a, b: sp.Integral(integrand, (t, a, b)),
} | {
    name: getattr(sp, name)
    for name in (
        "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log erf erfc gamma loggamma "
        "digamma trigamma erfinv atan2"
    ).split()
} | IN_SYMPY


def expression(node, symbols, memo):
    """The SymPy expression of a traced number; `symbols` maps each argument's name to its symbol.

    Shared parts of the graph are converted once: `memo` is keyed by identity and must not outlive the graph.
    """
    stack = [node]
    while stack:
        top = stack[-1]
        if id(top) in memo:
            stack.pop()
        elif top.op == "argument":
            # Otherwise the variable of an integral.
            memo[id(top)] = symbols.get(top.args) or sp.Symbol(top.args)
        elif top.op == "constant":
            memo[id(top)] = constant_expression(top)
        else:
            missing = [a for a in top.args if id(a) not in memo]
            if missing:
                stack.extend(missing)
                continue
            if len(memo) > MAX_NODES:
                raise TooLarge(f"more than {MAX_NODES} operations")
            memo[id(top)] = _OPERATIONS[top.op](*(memo[id(a)] for a in top.args))
    return memo[id(node)]


_OPERATION_OF = {made: op for op, made in _OPERATIONS.items() if isinstance(made, type)} | {sp.Pow: "pow"}


def graph_of(expr, trace, nodes):
    """The graph of a SymPy expression, with `nodes` for its symbols; it has no shadows, only a structure.

    Raises NotImplementedError for an expression without a graph.
    """
    if expr in nodes:
        return nodes[expr]
    if expr.is_Rational:
        return Scalar(trace, "constant", Constant(Fraction(int(expr.p), int(expr.q))), None)
    if expr is sp.pi:
        return Scalar(trace, "constant", Constant(Fraction(1), "pi"), None)
    parts = [graph_of(a, trace, nodes) for a in expr.args]
    if expr.is_Add or expr.is_Mul:
        op = "add" if expr.is_Add else "mul"
        return functools.reduce(lambda a, b: Scalar(trace, op, (a, b), None), parts)
    if expr.func not in _OPERATION_OF:
        raise NotImplementedError(expr.func.__name__)
    return Scalar(trace, _OPERATION_OF[expr.func], tuple(parts), None)


class TooLarge(Exception):
    """The graph is too large for SymPy."""


def constant_expression(node):
    """The SymPy number for a constant in a graph."""
    if node.args is None:
        node.trace.halt(CannotTrace("arithmetic with an infinite constant"))
    return sp.Rational(node.args.factor.numerator, node.args.factor.denominator) * _CONSTANTS[node.args.name]


def size(node, limit=60):
    """The number of operations of a node, counted up to `limit`."""
    return sum_of_sizes([node], limit)


def sum_of_sizes(nodes, limit):
    """The number of operations of some nodes together, counted up to `limit`, shared ones once."""
    seen: set[int] = set()
    stack = list(nodes)
    while stack and len(seen) <= limit:
        top = stack.pop()
        if id(top) not in seen:
            seen.add(id(top))
            stack.extend(() if top.op in ("argument", "constant") else top.args)
    return len(seen)


def written_size(nodes):
    """The number of operations of some nodes when written out, with shared ones counted at each use, as
    differentiation by SymPy traverses them.
    """
    sizes: dict[int, int] = {}
    stack = list(nodes)
    while stack:
        top = stack[-1]
        parts = () if top.op in ("argument", "constant") else top.args
        missing = [part for part in parts if id(part) not in sizes]
        if missing and id(top) not in sizes:
            stack.extend(missing)
            continue
        sizes[id(top)] = 1 + sum(sizes[id(part)] for part in parts)
        stack.pop()
    return sum(sizes[id(node)] for node in nodes)


# --- names and display --------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Formula:
    """A formula for display: `text` in SymPy's notation, `latex` for typesetting. If it is not `whole`, they
    give its length instead.
    """

    text: str
    latex: str
    whole: bool = True


def formula(expr):
    """The Formula that displays `expr`; a long one is replaced by its number of operations."""
    if expr.count_ops() > MAX_SHOWN:
        shown = f"({expr.count_ops()} operations)"
        return Formula(shown, rf"\text{{{shown}}}", whole=False)
    names = {s: name_latex(s.name) for s in expr.free_symbols}
    for constant, (symbol, latex) in _SPELT_OUT.items():
        if sp.Symbol(str(constant)) in names:  # an argument has that name
            expr, names[symbol] = expr.xreplace({constant: symbol}), latex
    return Formula(sp.sstr(expr), sp.latex(expr, symbol_names=names))


_SPELT_OUT = {
    sp.pi: (sp.Symbol("math.pi"), r"\mathrm{math.pi}"),
    sp.E: (sp.Symbol("math.e"), r"\mathrm{math.e}"),
}


def has_small_powers(expr):
    """Whether expansion cannot explode, because sums are raised to small powers only."""
    return all(
        abs(power.exp) <= 8 for power in expr.atoms(sp.Pow) if power.base.is_Add and power.exp.is_Integer
    )


SHORT = 12  # operations of a formula that is readable as it is


@functools.lru_cache(maxsize=256)
def shortest_form(expr, short=SHORT):
    """The shortest of a few equal forms of `expr`, for display.

    SymPy's simplification takes a twentieth of a second even for sin(x)*cos(x); it is skipped for expressions
    that are `short` after cancelling, and for those whose expansion would take many seconds.
    """
    if expr.count_ops() > 60 or not has_small_powers(expr) or expr.has(sp.Integral):
        return expr  # SymPy would try to evaluate an integral
    best = expr
    for step in (_cancelled, sp.simplify):
        if best.count_ops() <= (3 if step is _cancelled else short):
            return best
        if step is sp.simplify and _has_several_sums_of_exponentials(best):
            return best
        try:
            best = min(best, step(best), key=lambda form: form.count_ops())
        except Exception:  # SymPy's heuristics may raise almost anything; the plain form remains
            continue
    return best


MOST_POWERS = 3


def _has_several_sums_of_exponentials(expr):
    """Whether several divisors are sums of exponentials of sums, as that of `tanh(a + b)` is, with more than
    a few terms in total: SymPy brings them to a common denominator and expands, with a power for each term as
    an unknown.
    """
    divisors = {p.base for p in expr.atoms(sp.Pow) if p.base.is_Add and p.exp.is_negative}
    sums = [{p.exp for p in base.atoms(sp.Pow, sp.exp) if p.exp.has(sp.Add)} for base in divisors]
    sums += [{f.args[0]} for f in expr.atoms(sp.tanh, sp.coth, sp.sech, sp.csch) if f.args[0].has(sp.Add)]
    if sum(map(bool, sums)) < 2:
        return False
    exponents = (exponent for one in sums for exponent in one)
    terms = {t.as_coeff_Mul()[1] for exponent in exponents for t in sp.Add.make_args(sp.expand_mul(exponent))}
    return len(terms) > MOST_POWERS


MOST_TIDIED = 100  # operations in the formulas of one proof that are not short


class Tidying:
    """`shortest_form` for the formulas of one proof, up to a total number of operations, so that a proof of
    many cases does not take longer for formulas that few will read; later ones are shown as they are.
    """

    def __init__(self, most=MOST_TIDIED):
        self.left = most

    def __call__(self, expr):
        operations = expr.count_ops()
        if operations <= SHORT:
            return shortest_form(expr)
        if self.left <= 0:
            return expr
        self.left -= operations
        return shortest_form(expr)


def _cancelled(expr):
    return sp.factor_terms(sp.cancel(expr))
