"""Which variables a piece of code assigns."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ...parsing import LEAVES, children
from ...python_facts import SCOPES
from .ownership import is_append

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def assigned(nodes: Iterable[ast.AST], appends: bool = True) -> list[str]:
    """The variables that these nodes bind or delete, in source order. Variables of nested functions and
    comprehensions do not count, except those bound by `:=`. With `appends`, `xs.append(x)` outside
    comprehensions counts as binding `xs`.
    """
    found: dict[str | None, None] = {}

    def visit(node: Any, appends: bool) -> None:
        kind = type(node)
        if kind in LEAVES:
            if kind is ast.Name and type(node.ctx) is not ast.Load:
                found[node.id] = None
            return
        if kind is ast.Call and appends and is_append(node):
            found[node.func.value.id] = None
        if kind in _NAMED:
            found[_NAMED[kind](node)] = None
        if isinstance(node, Comprehension):
            appends = False
        for part in _AROUND.get(kind, children)(node):
            visit(part, appends)

    for node in nodes:
        visit(node, appends)
    return [name for name in found if name is not None]


_NAMED: dict[type, Callable[[Any], str | None]] = {
    **dict.fromkeys((*SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar), operator.attrgetter("name")),
    ast.MatchMapping: lambda node: node.rest,
    ast.alias: lambda node: node.asname or node.name.partition(".")[0],
}


def named_by(node: ast.AST) -> str | None:
    """The variable that a definition, import, exception handler or pattern binds; None for any other node."""
    name = _NAMED.get(type(node))
    return None if name is None else name(node)


def evaluated_at_once(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """The decorators and defaults of a function definition, which are evaluated in the enclosing scope."""
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return [*getattr(node, "decorator_list", ()), *defaults]


# The parts of a node with its own scope that are evaluated in the enclosing one.
_AROUND: dict[type, Callable[[Any], Iterable[ast.AST]]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), evaluated_at_once),
    ast.ClassDef: lambda node: (),
    ast.comprehension: lambda node: (node.iter, *node.ifs),
}


def is_function_alone(function: ast.AST, name: str) -> bool:
    """Whether a variable of a function is bound by `def` and to lambdas alone, and once."""
    return function_alone(function, name) is not None


def function_alone(function: ast.AST, name: str) -> ast.FunctionDef | ast.Lambda | None:
    """The only function to which a variable of a function is ever bound, and once; else None."""
    nodes = list(ast.walk(function))
    lambdas = {
        id(n.targets[0]): n.value
        for n in nodes
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)
    }
    if any(isinstance(n, ast.arg) and n.arg == name for n in nodes):
        return None
    bound = binders(function, name)
    if len(bound) != 1:
        return None
    if isinstance(bound[0], ast.FunctionDef):
        return None if bound[0].decorator_list else bound[0]
    return lambdas.get(id(bound[0]))


def is_bound_to(function: ast.AST, name: str, kinds: tuple[type, ...]) -> bool:
    """Whether a variable of a function is ever assigned only expressions of these kinds."""
    nodes = list(ast.walk(function))
    given = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, kinds)]
    targets = {id(n.targets[0]) for n in given if len(n.targets) == 1}
    bound = binders(function, name)
    is_argument = any(isinstance(n, ast.arg) and n.arg == name for n in nodes)
    return bool(bound) and not is_argument and all(id(n) in targets for n in bound)


def binders(node: ast.AST, name: str) -> list[ast.AST]:
    """The nodes inside this one that assign a variable."""
    found = [
        n
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return found + [
        n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name == name
    ]
