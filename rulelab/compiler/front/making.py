"""Generates statements from templates written in Python, filled in with parts of the author's code.

Generated names start with a dot, so no author can write them.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Sequence
from typing import Any

from ...parsing import cloned, nodes_of, parse
from . import asking


class Ask(ast.expr):
    """A question of the compiler about the values of `args`; see `ir.Ask`."""

    _fields = ("args",)

    def __init__(self, function: Any = None, args: Sequence[ast.expr] = ()) -> None:
        super().__init__()  # deepcopy calls it without arguments and fills in the fields
        self.function, self.args = function, args


def made(text: str, at: ast.AST, **parts: Any) -> list[ast.stmt]:
    """The statements of a template, at the position of `at`.

    A name in it that is a key of `parts` is replaced by that part: another variable name (a str), an
    expression, or a list of statements (if the name is a whole statement). A call of a function in `asking`
    becomes an `Ask`.
    """
    body = cloned(_parsed(text))
    for node in nodes_of(body):
        if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler)):
            _put(node, at)
    return placed(_Filled(parts).visit(body), at).body


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> ast.Module:
    return parse(textwrap.dedent(text))


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def visit_Expr(self, node: ast.Expr) -> Any:
        part = self.parts.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return part if isinstance(part, list) else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        part = self.parts.get(node.id)
        if node.id == "BaseException":
            return ast.Constant(BaseException)  # type: ignore[arg-type]
        if isinstance(part, ast.expr):
            return part
        node.id = part or node.id
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        asked = node.func.id if isinstance(node.func, ast.Name) else ""
        self.generic_visit(node)
        return Ask(getattr(asking, asked), node.args) if hasattr(asking, asked) else node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self.parts[node.name or ""]
        return self.generic_visit(node)


def _put(node: Any, at: Any) -> Any:
    """Give a node the position of another; `ast.copy_location` takes six times as long."""
    node.lineno, node.end_lineno = at.lineno, at.end_lineno
    node.col_offset, node.end_col_offset = at.col_offset, at.end_col_offset
    return node


def placed(node: Any, at: ast.AST) -> Any:
    """Give a node, and everything in it, the position of `at` unless it has one."""
    for inner in nodes_of(node):
        if isinstance(inner, (ast.expr, ast.stmt, ast.excepthandler)) and not hasattr(inner, "lineno"):
            _put(inner, at)
    return node


def _made_of(node: Any, at: ast.AST, *parts: ast.AST) -> Any:
    """A new node at the position of `at`; parts of it without a position get the same."""
    for part in parts:
        if not hasattr(part, "lineno"):
            placed(part, at)
    return _put(node, at)


def variable(name: str, at: ast.AST) -> ast.Name:
    return _put(ast.Name(name, ast.Load()), at)


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    target = _put(ast.Name(name, ast.Store()), at)
    return _made_of(ast.Assign([target], value), at, value)


def flag(name: str, value: bool, at: ast.AST) -> ast.stmt:
    return assign(name, ast.Constant(value), at)


def branch(test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], at: ast.AST) -> ast.stmt:
    return _made_of(ast.If(test, then, orelse), at, test, *then, *orelse)
