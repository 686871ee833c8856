"""Which captured variables may be reassigned while a nested function can still see them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from .bindings import binders
from .generators import handed_on

Nested = ast.FunctionDef | ast.Lambda | ast.GeneratorExp


def rebound_captures(
    node: ast.FunctionDef | ast.Lambda, captured: set[str], reads_first: Callable[[ast.Call], bool]
) -> set[str]:
    """The captured variables that are reassigned while a nested function, or a generator expression that is
    passed on, can see them (`reads_first` as for `generators.handed_on`).
    """
    if not captured:
        return set()
    body: list[Any] = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    found = set()
    for function in (n for s in body for n in _nested(s, reads_first)):
        inner = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} & captured
        found |= {name for name in inner if _changes_after(name, function, body)}
        if getattr(function, "decorator_list", None):  # the name is bound to what the decorators return
            found |= inner & {function.name}  # type: ignore[union-attr]
        found |= {n for x in ast.walk(function) if isinstance(x, ast.Nonlocal) for n in x.names} & captured
    return found


def _nested(tree: ast.AST, reads_first: Callable[[ast.Call], bool]) -> list[Nested]:
    """The functions in a tree, and the generator expressions that are passed on."""
    functions = (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)))
    return [*functions, *handed_on(tree, reads_first)]


def _changes_after(name: str, function: Nested, body: list[ast.stmt]) -> bool:
    """Whether a captured variable may be reassigned after the function is made, or by a loop around it."""
    own = name == own_name(body, function)
    if any(n is not function and _start(n) > _start(function) for s in body for n in binders(s, name)):
        return True
    if not own and any(_gives_its_result_to(s, function, name) for s in body):
        return True
    return any(
        n is not function
        for loop in _enclosing_loops(body, function)
        for s in (*loop.body, *([loop.target] if isinstance(loop, ast.For) else []))
        for n in binders(s, name)
    )


def captured_inside(node: ast.expr, reads_first: Callable[[ast.Call], bool]) -> set[str]:
    """The names used in an expression by lambdas and by generator expressions that are passed on."""
    nested = (function for function in _nested(node, reads_first) if function is not node)
    return {name for function in nested for name in _names_around(function)}


def _names_around(function: Nested) -> set[str]:
    """The names in a function, except those that a generator expression gives to its own variables."""
    names = _names_in([function])
    if not isinstance(function, ast.GeneratorExp):
        return names
    own = _names_in([each.target for each in function.generators])
    return (names - own) | _names_in([function.generators[0].iter])  # which is evaluated outside of it


def _names_in(nodes: Sequence[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def own_name(body: list[ast.stmt], function: Nested) -> str | None:
    """The variable that a function is directly assigned to: `def name` or `name = lambda`."""
    if isinstance(function, ast.FunctionDef):
        return function.name
    for statement in (n for s in body for n in ast.walk(s) if isinstance(n, ast.Assign)):
        if (
            statement.value is function
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            return statement.targets[0].id
    return None


def _gives_its_result_to(statement: ast.stmt, function: ast.AST, name: str) -> bool:
    """Whether the variable is assigned an expression that contains the function, so after it is made."""
    for node in ast.walk(statement):
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if (
            isinstance(node, ast.stmt)
            and isinstance(value, ast.expr)
            and any(n is function for n in ast.walk(value))
            and any(binders(t, name) for t in targets if t is not None)
        ):
            return True
    return False


def _start(node: ast.AST) -> tuple[int, int]:
    return (node.lineno, node.col_offset)  # type: ignore[attr-defined]


def _enclosing_loops(body: list[ast.stmt], function: ast.AST) -> list[ast.For | ast.While]:
    """The loops around a function, outermost first."""
    return [
        node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, (ast.For, ast.While)) and any(n is function for n in ast.walk(node))
    ]
