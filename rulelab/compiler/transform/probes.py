"""Calls inserted into a pass wherever it reaches another of the author's lines, for tools that follow it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Probes(Protocol):
    """A tool that follows the passes of a cache; `enter` and `tick` get the numbers that `site` returned."""

    enter: Callable[[int], int]  # a sweep begins, at its first line; returns the depth of calls so far
    tick: Callable[[int], None]  # the sweep reaches a line
    leave: Callable[[int], None]  # the sweep is about to return to the caller at this depth

    def sweep(self, code: types.CodeType) -> int:
        """Register a sweep compiled for the function with this code, and return its number."""

    def site(self, sweep: int, line: int) -> int:
        """Register a place at which this sweep reaches a line, and return its number."""


@dataclass(frozen=True)
class Probing:
    """The probes of one pass: the code whose lines they report, and the names that the pass has for them."""

    probes: Probes
    code: types.CodeType
    names: dict[str, str]
    depth: str

    def insert(self, function: ast.FunctionDef) -> None:
        """Insert the calls into a sweep whose nodes have places, and into the reverse sweep nested in it."""
        sweep, line = self.probes.sweep(self.code), function.lineno
        opening = [s for s in function.body[:1] if _is_text(s)]  # the mark of a pass stays its first constant
        entered = ast.Assign(
            [ast.Name(self.depth, ast.Store())], self._call("enter", self._site(sweep, line))
        )
        body, _ = self._block(function.body[len(opening) :], line, sweep)
        function.body = [*opening, _at(entered, function), *body]

    def _block(self, body: list[ast.stmt], line: int | None, sweep: int) -> tuple[list[ast.stmt], int | None]:
        """The statements with their probes, and the line that the sweep is at after them, or None if that is
        not certain; `line` is the one it comes from.
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
        """Insert probes into the blocks of a statement; return whether it has any."""
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
                    block.append(self._tick(statement, sweep))  # the next iteration begins at the loop's line
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
