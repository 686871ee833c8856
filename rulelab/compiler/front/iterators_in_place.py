"""Moves an iterator that only the next statement reads into that statement.

`g = (v * v for v in xs)` followed by `total = sum(g)` becomes `total = sum(v * v for v in xs)`, which is
lowered to a loop. Read through the variable, each item of the generator would be a call resolved at run time.
Where other statements come between, what Python evaluates at once stays where it is (`parting`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...parsing import cloned
from .consumers import is_side_effect_free

_MAKERS = ("map", "filter", "zip", "enumerate", "reversed", "merge")
_ACTING = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.If)

# What making an iterator evaluates, as statements that come before, and the rest; None if they cannot part.
Parting = Callable[[ast.expr], tuple[list[ast.stmt], ast.expr] | None]


def in_place(statements: list[ast.stmt], nodes: Callable[[], list[Any]], parting: Parting) -> list[ast.stmt]:
    """The statements of a block; an iterator assigned to a variable is moved into the next statement, if only
    that reads the variable, and does so before it does anything else. It is moved to a later one if what
    Python evaluates when it makes the iterator can stay where it is (`parting`). `nodes` returns all nodes
    of the function.
    """
    out, here = list(statements), 0
    while here < len(out):
        name = _held(out[here])
        if name is None or not _is_read_once(name, nodes()):
            here += 1
        elif (new := _with_next(name, *out[here : here + 2], nodes=nodes)) is not None:
            out[here : here + 2] = [new]
        else:
            made = _with_later(name, out[here:], parting)
            out[here:] = made or out[here:]
            here += 1
    return out


def _with_next(
    name: str, made: ast.stmt, following: ast.stmt | None = None, *, nodes: Callable[[], list[Any]]
) -> ast.stmt | None:
    """The next statement with the iterator in place of the variable; None if it does more before."""
    if following is None:
        return None
    passed: list[ast.expr] = [following.target] if isinstance(following, ast.AugAssign) else []
    read = _first(_evaluated(following), name, passed)
    if read is None or not _may_pass(made, passed, nodes()):
        return None
    assert isinstance(made, ast.Assign)
    return cloned(following, {id(read): made.value})


def _with_later(name: str, statements: list[ast.stmt], parting: Parting) -> list[ast.stmt] | None:
    """The statements, the first of which makes the iterator: it makes what it runs over instead, and the
    iterator itself is in place of the variable; None if that is not certain to be the same.
    """
    made, *others = statements
    assert isinstance(made, ast.Assign)
    for number, statement in enumerate(others):
        read = next((node for node in _once(statement) if node.id == name), None)
        if read is not None:
            parted = parting(made.value)
            if parted is None:
                return None
            before, late = parted
            others[number] = cloned(statement, {id(read): late})
            return [*before, *others]
    return None


def _once(node: ast.AST) -> Iterator[ast.Name]:
    """The variables that a statement reads at most once, itself: not again and again, as in a loop, and not
    later, as in a function.
    """
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.For):
        yield from _once(node.iter)
    elif isinstance(node, _COMPREHENSIONS):
        yield from _once(node.generators[0].iter)
    elif isinstance(node, _SIMPLE) or (isinstance(node, ast.expr) and not isinstance(node, ast.Lambda)):
        for part in ast.iter_child_nodes(node):
            yield from _once(part)
    elif isinstance(node, ast.keyword):
        yield from _once(node.value)


def _held(statement: ast.stmt) -> str | None:
    """The variable to which a statement assigns an iterator; None if it does not."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    function = value.func if isinstance(value, ast.Call) else None
    called = getattr(function, "id", getattr(function, "attr", None))
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
