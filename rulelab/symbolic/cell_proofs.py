"""A cell of the arguments: its state during a proof, and the formulas that show the result."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any

import sympy as sp

from . import worker
from .cells import complex_part, conditions
from .field_graphs import ERROR, METHOD, is_identity
from .formulas import (
    MAX_SHOWN,
    MAX_WRITTEN,
    Formula,
    TooLarge,
    expression,
    formula,
    shortest_form,
    size,
    sum_of_sizes,
    written_size,
)
from .report import ArgumentFinding, CellFinding
from .scalars import CONTEXT
from .scopes import sizes_of
from .transcendents import is_open
from .verdicts import Refuted
from .zerotest import is_identically_zero

FORMULA_SECONDS = 2.0  # for the formulas of a refuted rule, which is reported without them otherwise
NO_FORMULA = f"no formula is shown: it took more than {FORMULA_SECONDS:g} s"
TOO_DEEP = "it nests too deeply, as the formula of a loop of many steps does"
MAX_SHOWN_GRAPH = 60  # operations; cells of larger graphs are proved in the field only
MOST_ROWS = 6  # arguments of a cell whose formulas are shown
NO_SLOPE = CONTEXT.mpf(10) ** -20  # the difference quotient of a zero derivative
MAX_SHOWN_PLANE = 30  # as MAX_SHOWN_GRAPH, for complex arguments, whose formulas are long


class Cell:
    """The state of one cell during a proof."""

    def __init__(self, condition, count, sizes=""):
        self.condition, self.count, self.sizes = condition, count, sizes
        self.rows, self.method, self.error, self.why = [], "SymPy's normal form", "none", None
        self.tidy: Any = shortest_form
        self.moves = False  # whether a number shown as an argument has a nonzero derivative

    def settle(self, i, difference, derivative, visit):
        name = visit.leaves[i].args
        if is_open(derivative):
            self.why = self.why or f"SymPy has no closed form of the derivative with respect to {name}"
            return
        if not _agrees(derivative, visit, i):
            self.why = self.why or f"SymPy's derivative for {name} differs from the difference quotient"
            return
        self.judge(difference, visit, f"SymPy could not show that the difference for {name} is zero")

    def settle_in_field(self, visit):
        """Try to prove the whole cell in the field, without formulas; return whether that succeeded. A
        failure means nothing.
        """
        shown = is_identity(visit.leaves, visit.seeds, visit.y, visit.found, visit.rule_y)
        if shown:
            self.method, self.error = METHOD, ERROR
        return bool(shown)

    def settle_value(self, visit, symbols, memo):
        for y, rule_y in zip(visit.y, visit.rule_y, strict=True):
            difference = expression(y, symbols, memo) - expression(rule_y, symbols, memo)
            self.judge(difference, visit, "SymPy could not show that the rule's y is f of the arguments")

    def judge(self, difference, visit, why):
        negative = [sp.Symbol(leaf.args) for leaf in (*visit.leaves, *visit.seeds) if leaf.shadow < 0]
        proof = is_identically_zero(difference, negative)
        if proof is None:
            self.why = self.why or why
        elif _WEIGHT.get(proof[0], 9) > _WEIGHT.get(self.method, 0):
            self.method, self.error = proof

    def is_of_zeros(self):
        """Whether all derivatives that are shown are 0."""
        return not self.moves and all(
            shortest_form(derivative) == 0 for _, derivative, _ in self.rows[:MOST_ROWS]
        )

    @functools.cached_property
    def shown(self):
        """The finding, with formulas."""
        rows = []
        for name, derivative, given in self.rows[:MOST_ROWS]:
            zero = self.why is None and self.count > 0
            rows.append(
                ArgumentFinding(
                    name,
                    formula(self.tidy(derivative)),
                    formula(given),
                    Formula("0", "0") if zero else formula(self.tidy(derivative - given)),
                )
            )
        return CellFinding(self.condition, self.count, tuple(rows), self.sizes)


# The verdict names the strongest method that was needed.
_WEIGHT = {
    "SymPy's normal form": 0,
    "expansion": 1,
    "cancellation of rational functions": 2,
    "SymPy's simplification": 3,
    "identity test in a finite field": 4,
    "SymPy's integration": 5,
}


def _agrees(derivative, visit, i):
    """Whether SymPy's derivative has the value of the difference quotient: two independent results."""
    point = {
        sp.Symbol(leaf.args): sp.Float(CONTEXT.nstr(leaf.shadow, 60), 60)
        for leaf in (*visit.leaves, *visit.seeds)
    }
    value = CONTEXT.mpf(str(sp.re(derivative.evalf(50, subs=point))))
    expected = visit.expected[i]
    scale = max(abs(expected), CONTEXT.mpf(10) ** -15)
    return abs(value - expected) <= CONTEXT.mpf(10) ** -25 * scale


def _condition_text(decisions, symbols):
    real = {symbol: sp.Symbol(symbol.name, real=True) for symbol in symbols.values()}

    def shown(node):
        return expression(node, symbols, {}) if size(node) <= 8 else None

    def show(node):
        return None if (expr := shown(node)) is None else sp.sstr(expr)

    def always(left, relation, right):
        """Whether SymPy knows that the condition holds for all real arguments; then it is omitted."""
        if size(left) > 8 or size(right) > 8 or relation not in _ALWAYS:
            return False
        return bool(getattr((shown(left) - shown(right)).xreplace(real), _ALWAYS[relation]))

    return conditions(decisions, show, always)


_ALWAYS = {
    ">": "is_positive",
    ">=": "is_nonnegative",
    "<": "is_negative",
    "<=": "is_nonpositive",
    "!=": "is_nonzero",
}


def finding(leaves, found, y, seeds, decisions, members=None, first=0, brief=False):
    """The formulas of one cell and, with `members` (its visits), the proof; without formulas if `brief` and
    the field suffices. Raises TooLarge if these are too long or too deeply nested for SymPy.
    """
    try:
        return _finding(leaves, found, y, seeds, decisions, members, first, brief)
    except RecursionError:
        raise TooLarge(TOO_DEEP) from None


def _finding(leaves, found, y, seeds, decisions, members, first, brief):
    symbols = {leaf.args: sp.Symbol(leaf.args) for leaf in (*leaves, *seeds)}
    cell = Cell(_condition_text(decisions, symbols), len(members or ()), sizes_of(leaves))
    operations = sum_of_sizes([*y, *found], MAX_SHOWN_GRAPH)
    if not members and sum_of_sizes([*y, *found], 2 * MAX_SHOWN) > 2 * MAX_SHOWN:
        raise TooLarge("no formula of it would be shown")
    in_plane = any(complex_part(leaf.args) is not None for leaf in leaves)
    large = operations > (MAX_SHOWN_PLANE if in_plane else MAX_SHOWN_GRAPH)
    in_field = brief or large or in_plane or (bool(members) and members[0].trace.integrands)
    shown = members and in_field and cell.settle_in_field(members[0])
    if (shown and (brief or large)) or (in_plane and large and not members):
        return cell
    if written_size([*y, *found]) > MAX_WRITTEN:
        raise TooLarge(f"more than {MAX_WRITTEN} operations, written out")
    cell.tidy = (
        (lambda expr: expr) if in_plane else shortest_form
    )  # two angles at once take seconds to simplify
    memo: dict[Any, Any] = {}
    loss = sum(symbols[s.args] * expression(v, symbols, memo) for s, v in zip(seeds, y, strict=True))
    order = [first, *(i for i in range(len(leaves)) if i != first)] if leaves else []
    if members:
        cell.moves = any(abs(members[0].expected[i]) > NO_SLOPE for i in order[:MOST_ROWS])
    for i in order:
        derivative = sp.diff(loss, symbols[leaves[i].args])
        given = expression(found[i], symbols, memo)
        cell.rows.append((leaves[i].args, derivative, given))
        if shown:
            continue
        if members:
            cell.settle(i, derivative - given, derivative, members[0])
        elif operations > MAX_SHOWN_GRAPH:
            break  # one formula of a refuted rule suffices
    if members and not shown:
        for v in members[:1]:
            cell.settle_value(v, symbols, memo)
    return cell


def with_formulas(report):
    """The report with the formulas of its cells. They take longer to make than a proof, so they are made once
    it is known which are shown.
    """
    if not any(isinstance(cell, Cell) for cell in report.cells):
        return report
    is_refuted = isinstance(report.verdict, Refuted)
    try:
        with worker.at_most(FORMULA_SECONDS) if is_refuted else contextlib.nullcontext():
            cells = tuple(cell.shown if isinstance(cell, Cell) else cell for cell in report.cells)
    except worker.TooLong:
        return dataclasses.replace(report, cells=(), notes=(*report.notes, NO_FORMULA))
    except RecursionError:
        told = f"no formula is shown: {TOO_DEEP}"
        return dataclasses.replace(report, cells=(), notes=(*report.notes, told))
    return dataclasses.replace(report, cells=cells)


def factor_hint(cell, reason):
    """The factor by which the wrong cotangent differs from the right one, in words, if it is simple."""
    if "is not y_bar times the derivative" not in reason:
        return ""
    _, derivative, given = cell.rows[0]
    if given == 0 or derivative == 0 or given.count_ops() + derivative.count_ops() > 80:
        return ""
    if _is_ratio_of_many(given, derivative):
        return ""
    ratio = shortest_form(sp.cancel(given / derivative), short=MOST_IN_HINT)
    return f", but {sp.sstr(ratio)} times that" if ratio.count_ops() <= MOST_IN_HINT else ""


MOST_IN_HINT = 3  # operations in a factor that is shown
_LEAST = sp.Rational(1, 7)


def _is_ratio_of_many(one, other):
    """Whether the ratio of two formulas depends on more symbols than a factor that is shown can contain. A
    few numbers decide this, whereas SymPy first spends long searching for common factors.
    """
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    # Around 1, where `1 - tanh(W @ x)**2` is accurate in plain arithmetic: `evalf(subs=)` takes a hundred
    # times as long.
    numbers = {symbol: sp.sqrt(sp.prime(i + 2)).evalf(20) % 1 + _LEAST for i, symbol in enumerate(symbols)}

    def ratio(point):
        divisor = other.xreplace(point).evalf(20)
        return complex(one.xreplace(point).evalf(20) / divisor) if divisor else float("nan")

    with contextlib.suppress(TypeError, ValueError, ArithmeticError):
        return len(symbols) > MOST_IN_HINT + 1 and _changes_with_many(ratio, numbers)
    return False


def _changes_with_many(ratio, numbers):
    """Whether the ratio at these numbers changes with more than a few of them, each moved separately."""
    usual, changing = ratio(numbers), 0
    for symbol, value in numbers.items():
        off = abs(ratio({**numbers, symbol: value + sp.Rational(1, 3)}) - usual)
        changing += bool(off > 1e-6 * abs(usual))
        if changing > MOST_IN_HINT + 1:
            return True
    return False
