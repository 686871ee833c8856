"""Which calls consume a generator expression at once, so that nobody can tell it from a list."""

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


def is_side_effect_free(node: ast.expr) -> bool:
    """Whether an expression does nothing but give a value."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Attribute):
        return is_side_effect_free(node.value)
    return isinstance(node, (ast.Constant, ast.Name, ast.Lambda))
