"""Whether an author's function seems to change what it is handed, as far as its text tells.

This only decides what is compiled: a function that is taken for one that changes nothing, and does (it was
redefined, or hides it too well), is noticed when it writes, and refused.
"""

from __future__ import annotations

import ast
import builtins
import types
import weakref
from collections import deque
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...python_facts import READS, TELLS, WRITES, names_that
from .source import find_source

# The names of methods of Python's values and NumPy's that leave everything as it is.
_VALUES = (np.ndarray, str, list, dict, tuple, set, deque, float, complex)
HARMLESS = frozenset(
    name
    for name in names_that(READS, *_VALUES) - names_that(WRITES, *_VALUES) - names_that(TELLS, *_VALUES)
    if not name.startswith("__")
)


# (the globals or None for the reader's own, a name in them, a weak reference to the code it meant)
Named = tuple[dict[str, Any] | None, str, Any]


def seems_to_change(
    function: types.FunctionType, seen: frozenset[Any] = frozenset(), relied: list[Named] | None = None
) -> bool:
    """Whether the function, or one that it calls, may change an argument or a captured container.

    The functions that a denial relies on, by the names they have now, are added to `relied`.
    """
    return text_changes(function.__code__, function.__globals__, seen, relied)


def text_changes(
    code: types.CodeType,
    names: dict[str, Any],
    seen: frozenset[Any] = frozenset(),
    relied: list[Named] | None = None,
) -> bool:
    """The same of a function that is not made yet, from its code and the globals that it will see."""
    if code in seen:
        return False
    try:
        node = find_source(code).node
    except RuleLabError:
        return True
    relied = [] if relied is None else relied
    local = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) | set(code.co_freevars)
    return any(_changes(inner, local, parameters, names, seen | {code}, relied) for inner in ast.walk(node))


def is_as_it_was(named: Named, namespace: dict[str, Any]) -> bool:
    """Whether a name still means the function that was looked at; None stands for `namespace`."""
    names, name, code = named
    meant = code()
    found = (namespace if names is None else names).get(name)
    return meant is not None and getattr(found, "__code__", None) is meant


def _changes(
    node: ast.AST,
    local: set[str],
    parameters: set[str],
    names: dict[str, Any],
    seen: frozenset[Any],
    relied: list[Named],
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
        return node.func.attr not in HARMLESS and not _is_of_module(node.func, local, names)
    if not isinstance(node.func, ast.Name) or node.func.id in local:
        return True
    called = names.get(node.func.id, vars(builtins).get(node.func.id))
    if isinstance(called, types.FunctionType):
        relied.append((names, node.func.id, weakref.ref(called.__code__)))
        return seems_to_change(called, seen, relied)
    return not isinstance(called, (types.BuiltinFunctionType, np.ufunc, type)) or called in (setattr, delattr)


def _is_of_module(node: ast.Attribute, local: set[str], names: dict[str, Any]) -> bool:
    """Whether an attribute is that of a module whose functions leave lists and objects alone."""
    owner: ast.expr = node.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    if not isinstance(owner, ast.Name) or owner.id in local:
        return False
    module = names.get(owner.id)
    return isinstance(module, types.ModuleType) and module.__name__.partition(".")[0] in _MODULES


_MODULES = frozenset({"numpy", "math", "cmath"})
