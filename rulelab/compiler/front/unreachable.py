"""Removes code that can never run: CPython compiles none of it, so it is neither lowered nor refused."""

from __future__ import annotations

import ast
from typing import Any

from ...python_facts import STATEMENTS
from ..base.copying import shallow
from ..base.source import Source

_UNKNOWN = object()
_BLOCKS = ("body", "orelse", "finalbody")
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def without_unreachable(source: Source) -> Source:
    """The function without arms of constant tests that are never taken, and without what follows a jump.

    `global` and `nonlocal` stay, since they apply to the whole function; which names are local is read from
    the code object, not from the source. Nested functions are left as they are.
    """
    if isinstance(source.node, ast.Lambda):
        return source
    node = _Pruner().pruned(source.node)
    return source if node is source.node else source.of(node)


class _Pruner:
    """Copies only nodes that change, since the trees of a file are shared. Expressions are left alone: the
    lowering resolves constant tests in them.
    """

    def pruned(self, node: Any) -> Any:
        """The statement without its unreachable parts; the statement itself if it has none."""
        changed = {}
        for field, old in ast.iter_fields(node):
            if not isinstance(old, list) or not old or not isinstance(old[0], _HOLDERS):
                continue
            new = self._block(old) if field in _BLOCKS else [self.pruned(part) for part in old]
            if not new and field == "body":
                new = [ast.copy_location(ast.Pass(), old[0])]
            if len(new) != len(old) or any(a is not b for a, b in zip(new, old)):
                changed[field] = new
        if not changed:
            return node
        made = shallow(node)
        for field, new in changed.items():
            setattr(made, field, new)
        return made

    def _block(self, statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for number, statement in enumerate(statements):
            out += self._taken(statement)
            if out and isinstance(out[-1], _LEAVING):
                return out + _declarations(statements[number + 1 :])
        return out

    def _taken(self, statement: Any) -> list[Any]:
        """What remains of a statement in a block without the parts that can never run."""
        if isinstance(statement, _NESTED):
            return [statement]
        if isinstance(statement, ast.Assert) and not __debug__:
            return []
        if isinstance(statement, (ast.If, ast.While)):
            test = _truth(statement.test)
            if test is False:
                return [*_declarations(statement.body), *self._block(statement.orelse)]
            if test is True and isinstance(statement, ast.If):
                return [*_declarations(statement.orelse), *self._block(statement.body)]
        return [self.pruned(statement) if STATEMENTS[type(statement)].blocks else statement]


def _truth(test: ast.expr) -> Any:
    """Whether a test is always true or always false, judged by its source; `_UNKNOWN` otherwise."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name) and test.id == "__debug__":  # reserved: it cannot be assigned
        return __debug__
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand)
        return inner if inner is _UNKNOWN else not inner
    if isinstance(test, ast.BoolOp):
        ends = isinstance(test.op, ast.Or)
        for value in test.values:
            found = _truth(value)
            if found is not (not ends):  # the first that decides the chain, or that is unknown
                return found
        return not ends
    return _UNKNOWN


def _declarations(statements: list[Any]) -> list[Any]:
    """The declarations in these unreachable statements, which hold for the whole function."""
    return [node for statement in statements for node in _declared(statement)]


def _declared(node: ast.AST) -> list[Any]:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return [node]
    if isinstance(node, (*_NESTED, ast.expr)):
        return []
    return [found for child in ast.iter_child_nodes(node) for found in _declared(child)]
