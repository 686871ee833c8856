"""Where a function writes to something that it did not make: to its arguments, or to something outside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..reading.anatomy import own_nodes

_INTO_FIRST = frozenset("at copyto put place putmask put_along_axis fill_diagonal shuffle".split())
"""Functions that write to their first argument: `np.add.at(a, i, b)`, `np.copyto(a, b)`."""
_CHANGING = frozenset(
    "sort fill resize partition append extend insert pop popitem popleft clear update remove reverse".split()
)
"""Methods that change their object."""
_VIEWS = frozenset(
    "asarray asanyarray ascontiguousarray atleast_1d atleast_2d reshape ravel view transpose squeeze "
    "swapaxes moveaxis broadcast_to real imag T flat".split()
)
"""Functions, methods and attributes that return the same memory, or may."""


def first_write(function: Any, lent: Iterable[str]) -> ast.AST | None:
    """The first expression or statement of a function that writes to something with one of these names. If it
    does so through another name, the statement that assigns this name, where a copy is missing.

    >>> made = ast.parse("def back(g):\\n    h = g[1:].T\\n    k = g * 2\\n    k += 1\\n    h *= 3")
    >>> ast.unparse(first_write(made.body[0], ["g"]))
    'h = g[1:].T'
    """
    names: dict[str, ast.AST | None] = dict.fromkeys(lent)
    for node in own_nodes(function):
        written = next((root for root in map(_root_of, _written_by(node)) if root in names), None)
        if written is not None:
            return names[written] or node
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            is_view = _root_of(node.value) in names
            names.pop(node.targets[0].id, None)
            if is_view:
                names[node.targets[0].id] = node
    return None


def _written_by(node: ast.AST) -> list[ast.expr]:
    """The expressions whose memory a node writes to."""
    if isinstance(node, ast.AugAssign):
        return [node.target]
    if isinstance(node, (ast.Assign, ast.Delete)):
        return [one for one in _parts(node.targets) if isinstance(one, ast.Subscript)]
    if not isinstance(node, ast.Call):
        return []
    into = [keyword.value for keyword in node.keywords if keyword.arg == "out"]
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    into += node.args[:1] if called in _INTO_FIRST else []
    into += [node.func.value] if isinstance(node.func, ast.Attribute) and called in _CHANGING else []
    return into


def _parts(targets: Iterable[ast.expr]) -> list[ast.expr]:
    """The targets of an assignment, with tuples unpacked."""
    found: list[ast.expr] = []
    for target in targets:
        found += _parts(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return found


def _root_of(node: ast.expr) -> str:
    """The name of the object that an expression is a part of, or shares memory with; empty if it is a new
    object.
    """
    while not isinstance(node, ast.Name):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _VIEWS):
            node = node.value
        elif isinstance(called, ast.Attribute) and called.attr in _VIEWS:
            of_numpy = isinstance(called.value, ast.Name) and called.value.id in ("np", "numpy")
            first = node.args[0] if node.args else None  # type: ignore[attr-defined]
            node = first if of_numpy and first is not None else called.value
        else:
            return ""
    return node.id
