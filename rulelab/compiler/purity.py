"""Whether an author's function seems to change what it is handed, as far as its text tells.

This only decides what is compiled: a function that is taken for one that changes nothing, and does (it was
redefined, or hides it too well), is noticed when it writes, and refused.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections import deque
from typing import Any

import numpy as np

from ..errors import RuleLabError
from .source import find_source

_CHANGING = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "clear"}
    | {"sort", "reverse", "rotate", "update", "setdefault", "add", "discard"}
)
_KNOWN = frozenset(
    name
    for owner in (np, np.linalg, np.ndarray, math, str, list, dict, tuple, set, deque, float, complex)
    for name in dir(owner)
)
_HARMLESS = _KNOWN - _CHANGING


def seems_to_change(function: types.FunctionType, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether the function, or one that it calls, may change an argument or a captured container."""
    code = function.__code__
    if code in seen:
        return False
    try:
        node = find_source(code).node
    except RuleLabError:
        return True
    local = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) | set(code.co_freevars)
    return any(
        _changes(inner, local, parameters, function.__globals__, seen | {code}) for inner in ast.walk(node)
    )


def _changes(
    node: ast.AST, local: set[str], parameters: set[str], names: dict[str, Any], seen: frozenset[Any]
) -> bool:
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return isinstance(node.ctx, (ast.Store, ast.Del))
    if isinstance(node, ast.Nonlocal):
        return True
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id in parameters
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr not in _HARMLESS
    if not isinstance(node.func, ast.Name) or node.func.id in local:
        return True
    called = names.get(node.func.id, vars(builtins).get(node.func.id))
    if isinstance(called, types.FunctionType):
        return seems_to_change(called, seen)
    return not isinstance(called, (types.BuiltinFunctionType, np.ufunc, type)) or called in (setattr, delattr)
