"""Whether an author's function seems to change its arguments, as far as its source tells.

The answer only decides what is compiled: if a function is wrongly taken to change nothing (it was redefined,
or hides the change too well), its write is noticed when it happens, and refused.
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
from .source import find_source, first_name

# The names of methods of Python's and NumPy's types that change nothing.
_VALUES = (np.ndarray, str, list, dict, tuple, set, deque, float, complex)
HARMLESS = frozenset(
    name
    for name in names_that(READS, *_VALUES) - names_that(WRITES, *_VALUES) - names_that(TELLS, *_VALUES)
    if not name.startswith("__")
)


# (globals, or None for those of the function that relies on it; a name in them; a weak reference to the code
# of the function that it referred to)
Named = tuple[dict[str, Any] | None, str, Any]


def seems_to_change(
    function: types.FunctionType, seen: frozenset[Any] = frozenset(), relied: list[Named] | None = None
) -> bool:
    """Whether the function, or one that it calls, may change an argument or a captured container.

    If the answer is no, the functions that it relies on, by their current names, are added to `relied`.
    """
    return text_changes(function.__code__, function.__globals__, seen, relied)


def text_changes(
    code: types.CodeType,
    names: dict[str, Any],
    seen: frozenset[Any] = frozenset(),
    relied: list[Named] | None = None,
) -> bool:
    """Whether a function with this code and these globals may change an argument or a captured container."""
    if code in seen:
        return False
    try:
        asked = _asked_of(code)
    except RuleLabError:
        return True
    relied = [] if relied is None else relied
    return any(_changes(name, of_module, names, seen | {code}, relied) for name, of_module in asked)


def is_as_it_was(named: Named, namespace: dict[str, Any]) -> bool:
    """Whether a name still means the function that was read; globals of None mean `namespace`."""
    names, name, code = named
    meant = code()
    found = (namespace if names is None else names).get(name)
    return meant is not None and getattr(found, "__code__", None) is meant


Asked = tuple[str | None, bool]
_ASKED: dict[int, tuple[weakref.ref[types.CodeType], tuple[Asked, ...]]] = {}  # by the id of the code


def _asked_of(code: types.CodeType) -> tuple[Asked, ...]:
    """The names on which the answer depends besides the source: those that are called, and (with True) those
    whose attributes are called. The last entry is `_CHANGE` if the source itself changes something.
    """
    known = _ASKED.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    local = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) | set(code.co_freevars)
    asked: list[Asked] = []
    for node in ast.walk(find_source(code).node):
        found = _asked_by(node, local, parameters)
        if found is not None:
            asked.append(found)
            if found is _CHANGE:
                break
    number = id(code)
    _ASKED[number] = weakref.ref(code, lambda _: _ASKED.pop(number, None)), tuple(asked)
    return tuple(asked)


_CHANGE: Asked = (None, False)


def _asked_by(node: ast.AST, local: set[str], parameters: set[str]) -> Asked | None:
    """The entry of `_asked_of` for one node of the source; None if the node certainly changes nothing."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        changes = isinstance(node.ctx, (ast.Store, ast.Del))
    elif isinstance(node, ast.AugAssign):
        changes = isinstance(node.target, ast.Name) and node.target.id in parameters
    elif not isinstance(node, ast.Call):
        changes = isinstance(node, ast.Nonlocal)
    elif isinstance(node.func, ast.Attribute):
        owner = first_name(node.func)
        changes = node.func.attr not in HARMLESS
        if changes and owner is not None and owner not in local:
            return owner, True
    else:
        changes = not isinstance(node.func, ast.Name) or node.func.id in local
        if not changes:
            return node.func.id, False  # type: ignore[attr-defined]
    return _CHANGE if changes else None


def _changes(
    name: str | None, of_module: bool, names: dict[str, Any], seen: frozenset[Any], relied: list[Named]
) -> bool:
    """Whether an entry of `_asked_of` means a change, given what names refer to now."""
    if name is None:
        return True
    if of_module:
        return not _is_of_arithmetic(names.get(name))
    called = names.get(name, vars(builtins).get(name))
    if isinstance(called, types.FunctionType):
        relied.append((names, name, weakref.ref(called.__code__)))
        return seems_to_change(called, seen, relied)
    return not isinstance(called, (types.BuiltinFunctionType, np.ufunc, type)) or called in (setattr, delattr)


def _is_of_arithmetic(module: Any) -> bool:
    """Whether a value is a module whose functions leave lists and objects unchanged."""
    return isinstance(module, types.ModuleType) and module.__name__.partition(".")[0] in _MODULES


_MODULES = frozenset({"numpy", "math", "cmath"})
