"""Which variables a piece of code gives new values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .ownership import is_append

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def assigned(nodes: Sequence[ast.AST]) -> list[str]:
    """The variables that these nodes bind, in textual order; the scopes of comprehensions are their own."""
    found: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, Comprehension):
            found.update(dict.fromkeys(walrus_names(node)))
            return
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                found[node.name] = None
            for part in _evaluated_at_once(node):
                visit(part)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found[node.id] = None
        if is_append(node):
            found[node.func.value.id] = None  # type: ignore[attr-defined]
        if isinstance(node, ast.ExceptHandler) and node.name:
            found[node.name] = None
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return list(found)


def walrus_names(node: ast.AST) -> list[str]:
    """What `:=` inside of a comprehension binds: variables of the function around it."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        return [name for outside in _evaluated_at_once(node) for name in walrus_names(outside)]
    inner = [name for child in ast.iter_child_nodes(node) for name in walrus_names(child)]
    return [*inner, node.target.id] if isinstance(node, ast.NamedExpr) else inner


def _evaluated_at_once(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """The parts of a function definition that belong to the scope around it."""
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return [*getattr(node, "decorator_list", ()), *defaults]


def binders(node: ast.AST, name: str) -> list[ast.AST]:
    """The nodes inside of this one that give a variable a new value."""
    found = [
        n
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return found + [
        n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name == name
    ]
