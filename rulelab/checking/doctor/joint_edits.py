"""Changes in several places at once: one mistake that occurs in each of them, or two statements in place of
one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ..reading.anatomy import names_in
from ..reading.editing import Edit, instead
from .statements import target_of

_WITH_AXIS_BEHIND = frozenset(
    "expand_dims squeeze sum mean max min prod cumsum cumprod flip take repeat concatenate stack".split()
)
"""Functions of NumPy whose second argument is an axis, or may be one."""


def updated_together(scope: Any) -> Iterator[Edit]:
    """Two values that are updated one after the other, the second with the new value of the first, although
    both should be updated with their old values: `a, b = a + b, a - b` for `a = a + b` and `b = a - b`.
    """
    for one, other in _pairs(scope):
        if not isinstance(one, ast.Assign) or not isinstance(other, ast.Assign):
            continue
        first, last = target_of(one), target_of(other)
        if not isinstance(first, ast.Name) or not isinstance(last, ast.Name) or first.id == last.id:
            continue
        if first.id in names_in(other.value) and {first.id, last.id} & names_in(one.value):
            both = ast.Tuple([first, last], ast.Store()), ast.Tuple([one.value, other.value], ast.Load())
            new = ast.copy_location(ast.Assign([both[0]], both[1]), one)
            words = f"overwrites `{first.id}` too early: `{last.id}` is computed from it in the next line"
            yield Edit(one, new, "order", words, (Edit(other, ast.copy_location(ast.Pass(), other)),))


def _pairs(scope: Any) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Consecutive statements."""
    for holder in ast.walk(scope):
        for name in ("body", "orelse"):
            body = getattr(holder, name, None)
            if isinstance(body, list):
                yield from itertools.pairwise(body)


def axes_by_parameter(scope: Any, names: Sequence[str]) -> Iterator[Edit]:
    """The parameter `axis` in place of a literal: in all places together, and in each."""
    if "axis" not in names:
        return
    literals = {id(n): n for n in _literal_axes(scope)}.values()
    axis = ast.Name("axis", ast.Load())
    edits = [Edit(n, axis, "wrong_axis", instead(axis, n)) for n in literals]
    if len(edits) > 1:
        yield Edit(edits[0].old, axis, "wrong_axis", f"{edits[0].words}, and so on", tuple(edits[1:]))
    yield from edits


def _literal_axes(scope: Any) -> Iterator[ast.expr]:
    """The expressions that give an axis as a literal: `axis=0`, `np.expand_dims(y, -1)`, `x.shape[0]`."""
    for node in ast.walk(scope):
        found: list[ast.expr] = []
        if isinstance(node, ast.Call):
            found = [keyword.value for keyword in node.keywords if keyword.arg == "axis"]
            if getattr(node.func, "attr", "") in _WITH_AXIS_BEHIND:
                found += node.args[1:2]
        elif isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
            found = [node.slice]
        yield from (one for one in found if _is_whole(one))


def _is_whole(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and type(inner.value) is int
