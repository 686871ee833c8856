"""Which calls consume an iterator at once, so that nobody can tell it from a list, and iterators that a
generator expression says as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...python_facts import CONSUMING


def consumes_first(call: ast.Call, known: Callable[[ast.expr], Any]) -> bool:
    """Whether the call goes through its first argument to its end before anything else happens.

    `known(expression)` is the object that a global name stands for. Not so if the other arguments do
    something, which would come before the first item.
    """
    others = [*call.args[1:], *(k.value for k in call.keywords)]
    if not call.args or not all(map(is_side_effect_free, others)):
        return False
    function = known(call.func)
    if any(function is consumer for consumer in CONSUMING):
        return True
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "join"
        and isinstance(call.func.value, ast.Constant)
        and isinstance(call.func.value.value, (str, bytes))
    )


def as_generator(node: ast.expr, is_builtin: Callable[[ast.expr, str], bool]) -> ast.GeneratorExp | None:
    """`((x, y) for x, y in zip(xs, ys))` for `zip(xs, ys)`, and the same of `enumerate`; None of anything
    else.
    """
    if not isinstance(node, ast.Call) or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    if is_builtin(node.func, "zip"):
        words, count = ("strict",), len(node.args)
    elif is_builtin(node.func, "enumerate"):
        words, count = ("start",), 2
    else:
        return None
    if not node.args or any(k.arg not in words for k in node.keywords):
        return None
    if any(k.arg == "strict" and not isinstance(k.value, ast.Constant) for k in node.keywords):
        return None

    def items(context: ast.expr_context) -> ast.Tuple:
        names: list[ast.expr] = [ast.Name(f"item_{number}", context) for number in range(count)]
        return ast.Tuple(names, context)

    through = ast.comprehension(items(ast.Store()), node, [], 0)
    made = ast.copy_location(ast.GeneratorExp(items(ast.Load()), [through]), node)
    for part in (made.elt, through.target, *made.elt.elts, *through.target.elts):  # type: ignore[attr-defined]
        ast.copy_location(part, node)
    return made


def is_side_effect_free(node: ast.expr) -> bool:
    """Whether an expression does nothing but give a value."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Attribute):
        return is_side_effect_free(node.value)
    return isinstance(node, (ast.Constant, ast.Name, ast.Lambda))
