"""What an expression of a rule lacks, or what should replace it, found among expressions elsewhere in the
texts.

The values that the expression would need are known from its numbers, so that thousands of parts, alone and in
pairs, are compared with them without running the rule.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..reading.editing import Edit, instead
from .edits import chain, is_zero, joined
from .observing import Observation, as_row, real_rows

MOST_PARTS, MOST_IN_PAIRS, MOST_HELD = 360, 64, 24
"""How many parts are compared alone and in pairs, and how many that fit at one point are tried at others."""
DEAREST = 90.0
"""The price above which a graft says more about the texts than about the mistake."""
MOST_OFFERED = 3
"""How many grafts are offered for one expression."""
_TIMES = {1.0: None, 2.0: ast.Constant(2), 0.5: ast.Constant(0.5), 3.0: ast.Constant(3), 4.0: ast.Constant(4)}
_CLOSE = 1e-6


@dataclass(frozen=True)
class Part:
    """An expression that may be grafted, with its code."""

    node: ast.expr
    code: types.CodeType
    length: int

    @staticmethod
    def of(node: ast.expr) -> Part | None:
        """The part for an expression; None if it is not valid on its own."""
        text = ast.unparse(node)
        try:
            return Part(node, compile(text, "<a part>", "eval"), len(text))
        except (SyntaxError, ValueError):
            return None


@dataclass(frozen=True)
class Graft:
    """One or two parts, and how they are combined with an expression."""

    form: str
    parts: tuple[Part, ...]
    factor: float = 1.0

    @property
    def price(self) -> float:
        """The complexity of the graft: the simplest is the likeliest."""
        own = sum(part.length + 3 * isinstance(part.node, ast.UnaryOp) for part in self.parts)
        own += 3 * len(self.parts)
        return own + 4 * (abs(self.factor) != 1) + (self.factor < 0)


class Grafting:
    """The comparison of parts with the values that one expression needs."""

    def __init__(self, node: ast.expr, seen: list[Observation], space: dict[str, Any]) -> None:
        self.node, self.space = node, space
        first = max(seen, key=lambda one: float(np.abs(one.lacking).max(initial=0.0)))
        self.seen = [first, *(one for one in seen if one is not first)]

    def edits(self, parts: Sequence[Part], own: Sequence[Part] = ()) -> list[tuple[float, Edit]]:
        """The expression with each graft that was found, and its price. Parts that are its `own` may only
        replace it.
        """
        first = self.seen[0]
        if len(self.seen) < 4 or not np.abs(first.lacking).max(initial=0.0) > 1e-9:
            return []
        with np.errstate(all="ignore"):
            rows, kept = self._rows(parts)
            grafts = [*self._alone(rows, kept), *self._paired(rows, kept)] if kept else []
            rows, kept = self._rows(own)
            grafts += self._instead(rows, kept) if kept else []
            text = len(ast.unparse(self.node)) if not isinstance(self.node, ast.Name) else 0
            priced = [(g.price + (0.8 * text + 2) * (g.form in ("=", "=*", "=/")), g) for g in grafts]
            priced = [one for one in priced if one[0] <= DEAREST]
            priced.sort(key=lambda one: one[0])
            held = [one for one in priced[:MOST_HELD] if self._holds(one[1])]
        return [(price, self._edit(graft)) for price, graft in held[:MOST_OFFERED]]

    def _value(self, one: Observation) -> np.ndarray:
        return np.concatenate([turn.value.ravel() for turn in one.turns])

    def _row(self, part: Part, one: Observation) -> np.ndarray | None:
        """The values of a part in all evaluations of an observation; None if there are none or do not fit."""
        found = []
        for turn in one.turns:
            try:
                value = eval(part.code, self.space, dict(turn.names))
                row = as_row(value, turn.value.shape)
            except Exception:
                return None
            if row is None or row.dtype.kind not in "fciu" or not np.all(np.isfinite(row)):
                return None
            if row.dtype.kind == "c" and turn.value.dtype.kind != "c":
                return None
            found.append(row)
        return np.concatenate(found)

    def _rows(self, parts: Sequence[Part]) -> tuple[np.ndarray, list[Part]]:
        """The values of the parts at the first observation; of parts with equal values only one."""
        rows, kept, known = [], [], set()
        for part in parts[:MOST_PARTS]:
            row = self._row(part, self.seen[0])
            if row is None:
                continue
            key = tuple(np.round(row, 10))
            if key not in known:
                known.add(key)
                rows.append(row)
                kept.append(part)
        return np.array(rows), kept

    def _fit(self, changes: np.ndarray) -> np.ndarray:
        """The changes of the value, as rows, that are what is needed."""
        first = self.seen[0]
        moved = real_rows(changes, self._value(first)) @ first.map.T
        size = float(np.abs(first.lacking).max())
        return np.flatnonzero(np.abs(moved - first.lacking).max(1) <= _CLOSE * size)

    def _fit_times(self, changes: np.ndarray) -> Iterator[tuple[int, float]]:
        """The changes that are, when multiplied by a simple number, and that number."""
        first = self.seen[0]
        moved = real_rows(changes, self._value(first)) @ first.map.T
        factors = (moved @ first.lacking) / (moved * moved).sum(1)
        size = float(np.abs(first.lacking).max())
        fits = np.abs(moved * factors[:, None] - first.lacking).max(1) <= _CLOSE * size
        for row in np.flatnonzero(fits):
            near = next((n for n in _TIMES if abs(abs(factors[row]) - n) <= 1e-5 * n), None)
            if near is not None:
                yield int(row), float(np.copysign(near, factors[row]))

    def _alone(self, rows: np.ndarray, parts: list[Part]) -> Iterator[Graft]:
        value = self._value(self.seen[0])
        for at, factor in self._fit_times(rows):
            yield Graft("+", (parts[at],), factor)
        yield from self._instead(rows, parts)
        forms = {"*": value * rows, "/": value / rows, "-": rows - value}
        for form, new in forms.items():
            yield from (Graft(form, (parts[at],)) for at in self._fit(new - value))

    def _instead(self, rows: np.ndarray, parts: list[Part]) -> Iterator[Graft]:
        value = self._value(self.seen[0])
        for sign in (1.0, -1.0):
            yield from (Graft("=", (parts[at],), sign) for at in self._fit(sign * rows - value))

    def _paired(self, rows: np.ndarray, parts: list[Part]) -> Iterator[Graft]:
        value = self._value(self.seen[0])
        rows, parts = rows[:MOST_IN_PAIRS], parts[:MOST_IN_PAIRS]
        count = len(parts)
        # A combination of two constants can only be right by accident.
        plain = np.array([isinstance(part.node, ast.Constant) for part in parts], bool)
        mixed = ~(plain[:, None] & plain[None, :])
        one, other = np.nonzero(np.triu(mixed))
        above, below = np.nonzero(mixed & ~np.eye(count, dtype=bool))
        tables = (("*", one, other, rows[one] * rows[other]), ("/", above, below, rows[above] / rows[below]))
        for sign, left, right, table in tables:
            for at, factor in self._fit_times(table):
                yield Graft("+" + sign, (parts[left[at]], parts[right[at]]), factor)
            for at in self._fit(table - value):
                yield Graft("=" + sign, (parts[left[at]], parts[right[at]]))

    def _changed(self, graft: Graft, value: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
        """The value with a graft."""
        made = rows[0]
        if len(rows) > 1:
            made = rows[0] * rows[1] if graft.form.endswith("*") else rows[0] / rows[1]
        made = graft.factor * made
        plain = {"+": value + made, "=": made}
        if graft.form[0] in plain:
            return plain[graft.form[0]]
        return value * made if graft.form == "*" else value / made if graft.form == "/" else made - value

    def _holds(self, graft: Graft) -> bool:
        for one in self.seen[1:]:
            rows = [self._row(part, one) for part in graft.parts]
            if any(row is None for row in rows):
                return False
            value = self._value(one)
            change = self._changed(graft, value, rows) - value  # type: ignore[arg-type]
            off = np.abs(one.map @ real_rows(change, value) - one.lacking)
            size = float(np.abs(one.lacking).max(initial=0.0))
            if not np.all(off <= _CLOSE * (1e-3 + size)):
                return False
        return True

    def _edit(self, graft: Graft) -> Edit:
        """The expression with the graft, named after what it lacked."""
        node, form, factor = self.node, graft.form[0], graft.factor
        bare = [part.node for part in graft.parts]
        for at, one in enumerate(bare) if form in "+=" else ():
            if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub):  # one sign before the whole
                bare[at], factor = one.operand, -factor
        made = bare[0]
        if len(bare) > 1:
            operator: ast.operator = ast.Mult() if graft.form.endswith("*") else ast.Div()
            made = ast.BinOp(made, operator, bare[1])
        number = _TIMES[abs(factor)]
        if form == "+" and ast.dump(made) == ast.dump(node):  # adding an expression to itself doubles it
            made, form = ast.BinOp(ast.Constant(_shown(1 + factor)), ast.Mult(), made), "="
        elif number is not None:
            made = ast.BinOp(number, ast.Mult(), made)
        if form == "+":
            new = joined(node, ast.Add() if factor > 0 else ast.Sub(), made)
        elif form == "=":
            new = made if graft.form[0] == "+" or factor > 0 else ast.UnaryOp(ast.USub(), made)
        elif form == "-":
            new = ast.BinOp(made, ast.Sub(), node)
        else:
            new = ast.BinOp(node, ast.Mult() if form == "*" else ast.Div(), made)
        mistake = "lacks_term" if is_zero(node) else _mistake(node, new)
        words = instead(new, node)
        return Edit(node, new, mistake, f"lacks a term: {words}" if mistake == "lacks_term" else words)


def _shown(factor: float) -> float:
    """A number, as an int if it is whole."""
    return int(factor) if factor == int(factor) else factor


def _is_of_a_part(new: ast.Call, old: ast.Call) -> bool:
    """Whether two calls are of the same function, one of them on a part of the other's argument."""
    if len(new.args) != 1 or len(old.args) != 1 or ast.dump(new.func) != ast.dump(old.func):
        return False
    part = new.args[0]
    return isinstance(part, ast.Subscript) and ast.dump(part.value) == ast.dump(old.args[0])


def _mistake(old: ast.expr, new: ast.expr) -> str:
    """The mistake that replacing one expression by another corrects."""
    inside = {ast.dump(node) for node in ast.walk(new)}
    if ast.dump(old) in inside:
        if isinstance(new, ast.BinOp) and isinstance(new.op, (ast.Add, ast.Sub)):
            return "lacks_term"
        if "cumsum" in ast.dump(new):
            return "lacks_sum"
        if "conj" in ast.dump(new) and "conj" not in ast.dump(old):
            return "conjugate"
        return "other_function" if isinstance(new, ast.Call) else "factor"
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        return "wrong_element" if _is_of_a_part(new, old) else "other_function"
    if isinstance(old, (ast.Name, ast.Subscript)):
        return "wrong_variable"
    return "factor" if _called(new) <= _called(old) or _are_factors_kept(old, new) else "other_function"


def _called(node: ast.expr) -> set[str]:
    """The functions that are called in an expression."""
    return {ast.dump(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}


def _are_factors_kept(old: ast.expr, new: ast.expr) -> bool:
    """Whether an expression has all factors of another one."""
    before, after = ([[ast.dump(one) for one in side] for side in chain(node)] for node in (old, new))
    return all(set(mine) <= set(theirs) for mine, theirs in zip(before, after))
