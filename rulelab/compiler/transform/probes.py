"""Calls put into a pass wherever it goes on to another of the author's lines, for whoever follows it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Probes(Protocol):
    """What follows the passes of a cache: numbers are those that `site` gave out."""

    enter: Callable[[int], int]  # a sweep begins, at its first line; the depth of the calls so far
    tick: Callable[[int], None]  # it comes to a line
    leave: Callable[[int], None]  # it is about to return to the caller at this depth

    def sweep(self, code: types.CodeType) -> int:
        """The number of one more sweep that was compiled for the function with this code."""

    def site(self, sweep: int, line: int) -> int:
        """The number of one more place at which this sweep comes to a line."""


@dataclass(frozen=True)
class Probing:
    """The probes of one pass: whose lines they tell of, and the names by which the pass calls them."""

    probes: Probes
    code: types.CodeType
    names: dict[str, str]
    depth: str

    def insert(self, function: ast.FunctionDef) -> None:
        """Put the calls into a located sweep, and into the reverse sweep that it makes."""
        sweep, line = self.probes.sweep(self.code), function.lineno
        opening = [s for s in function.body[:1] if _is_text(s)]  # the mark of a pass stays its first constant
        entered = ast.Assign(
            [ast.Name(self.depth, ast.Store())], self._call("enter", self._site(sweep, line))
        )
        body, _ = self._block(function.body[len(opening) :], line, sweep)
        function.body = [*opening, _at(entered, function), *body]

    def _block(self, body: list[ast.stmt], line: int | None, sweep: int) -> tuple[list[ast.stmt], int | None]:
        """The statements with their probes, and the line that the sweep is at behind them, if that is
        certain; `line` is the one it comes from.
        """
        made: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.FunctionDef):
                self.insert(statement)
                made.append(statement)
                continue
            if isinstance(statement, ast.Return):  # a line of ours: it belongs to whatever came before
                leaving = ast.Expr(self._call("leave", ast.Name(self.depth, ast.Load())))
                made += [_at(leaving, statement), statement]
                continue
            if statement.lineno != line:
                made.append(self._tick(statement, sweep))
                line = statement.lineno
            made.append(statement)
            if self._inside(statement, sweep):
                line = None
        return made, line

    def _inside(self, statement: ast.stmt, sweep: int) -> bool:
        """Probe the blocks of a statement; whether it has any."""
        line, found = statement.lineno, False
        for holder in (statement, *getattr(statement, "handlers", ())):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(holder, name, None)
                if not block:
                    continue
                found = True
                start = line if holder is statement and name == "body" else None
                block, last = self._block(block, start, sweep)
                if isinstance(statement, (ast.For, ast.While)) and name == "body" and last != line:
                    block.append(self._tick(statement, sweep))  # the next round begins at the loop's line
                setattr(holder, name, block)
        return found

    def _tick(self, statement: ast.stmt, sweep: int) -> ast.stmt:
        return _at(ast.Expr(self._call("tick", self._site(sweep, statement.lineno))), statement)

    def _site(self, sweep: int, line: int) -> ast.expr:
        return ast.Constant(self.probes.site(sweep, line))

    def _call(self, probe: str, argument: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(self.names[probe], ast.Load()), [argument], [])


def _at(made: Any, place: ast.stmt) -> Any:
    for node in ast.walk(made):
        ast.copy_location(node, place)
    return made


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
