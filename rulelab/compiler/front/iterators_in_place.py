"""Moves an iterator that only the next statement reads into that statement.

`g = (v * v for v in xs)` followed by `total = sum(g)` becomes `total = sum(v * v for v in xs)`, which is
lowered to a loop. Read through the variable, each item of the generator would be a call resolved at run time.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from ...parsing import cloned
from .consumers import is_side_effect_free

_MAKERS = ("map", "filter", "zip", "enumerate", "reversed")
_ACTING = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def in_place(statements: list[ast.stmt], nodes: Callable[[], list[Any]]) -> list[ast.stmt]:
    """The statements of a block; an iterator assigned to a variable is moved into the next statement, if only
    that reads the variable, and does so before it does anything else. `nodes` returns all nodes of the
    function.
    """
    out: list[ast.stmt] = []
    for statement in statements:
        name = _held(out[-1]) if out else None
        passed: list[ast.expr] = [statement.target] if isinstance(statement, ast.AugAssign) else []
        read = None if name is None else _first(_evaluated(statement), str(name), passed)
        if read is not None and _is_read_once(str(name), nodes()) and _may_pass(out[-1], passed, nodes()):
            made = out.pop()
            assert isinstance(made, ast.Assign)
            statement = cloned(statement, {id(read): made.value})
        out.append(statement)
    return out


def _held(statement: ast.stmt) -> str | None:
    """The variable to which a statement assigns an iterator; None if it does not."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    makes = isinstance(value, ast.GeneratorExp) or called in _MAKERS
    return target.id if isinstance(target, ast.Name) and makes else None


def _is_read_once(name: str, nodes: list[Any]) -> bool:
    """Whether a variable is bound once and read once in a function, including functions inside it."""
    found = Counter(type(n.ctx) for n in nodes if isinstance(n, ast.Name) and n.id == name)
    declared = any(name in n.names for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)))
    return found == {ast.Store: 1, ast.Load: 1} and not declared


def _may_pass(made: Any, passed: list[ast.expr], nodes: list[Any]) -> bool:
    """Whether making the iterator changes nothing that the next statement reads before it."""
    value = made.value
    begun = [value.generators[0].iter] if isinstance(value, ast.GeneratorExp) else value.args
    if not any(isinstance(n, _ACTING) for part in begun for n in ast.walk(part)):
        return True
    declared = {name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    walrus = {n.target.id for n in nodes if isinstance(n, ast.NamedExpr)}
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    stays = own - declared - walrus
    return all(
        isinstance(each, ast.Constant) or (isinstance(each, ast.Name) and each.id in stays) for each in passed
    )


def _evaluated(statement: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates first; None if there is none, or it is not known."""
    if isinstance(statement, ast.For):
        return statement.iter
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name):
        return None
    return getattr(statement, "value", None)  # of an assignment, an expression or `return`


def _first(node: ast.expr | None, name: str, passed: list[ast.expr]) -> ast.Name | None:
    """The node in which an expression reads a variable; None if anything before it may have a side effect.
    What is read before it, except the functions that are called, is added to `passed`.
    """
    if isinstance(node, ast.Name):
        return node if node.id == name else None
    for part in _in_order(node):
        if (found := _first(part, name, passed)) is not None:
            return found
        if part is None or not is_side_effect_free(part):
            return None
        if not isinstance(node, ast.Call) or part is not node.func:
            passed.append(part)
    return None


def _in_order(node: ast.expr | None) -> list[Any]:
    """The parts that an expression certainly evaluates, in this order, before it does anything else."""
    if isinstance(node, ast.Call):
        return [node.func, *node.args, *(word.value for word in node.keywords)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return list(node.elts)
    if isinstance(node, _COMPREHENSIONS):
        return [node.generators[0].iter]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return [node.value] if isinstance(node, (ast.Subscript, ast.Starred, ast.Attribute)) else []
