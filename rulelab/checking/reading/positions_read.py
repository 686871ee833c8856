"""Which parameters of a function are positions between the elements of an array: it rounds them down, and
picks there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .anatomy import last_name
from .docstrings import said_of
from .kinds import Kind
from .texts import identifier, text_of, values_by_name

_HIGHEST = 2.0
"""Between three elements at least lie the positions that are drawn: there is a next one behind each."""
_ROUNDING = frozenset(("int", "floor", "trunc", "astype"))
_ARRAYS = {1: Kind("vector", dims=("n+2",)), 2: Kind("matrix", dims=("h+2", "w+2"))}
_INSIDE = re.compile(r"\b(?:within|inside)\b")


class Position(NamedTuple):
    """A parameter that is rounded down to an index, the forms it may have, and the axis of an array on which
    it lies, of so many; whether it may lie on the very last place, as one that is held inside may.
    """

    name: str
    forms: tuple[str, ...]
    array: str
    axis: int
    axes: int
    may_be_last: bool


def positions_in(f: Callable) -> Iterator[Position]:
    """The positions that a function rounds down and picks by.

    Those that it holds inside an array, by `clip`, may lie outside, unless its docstring says otherwise.
    """
    node, names = text_of(f)
    made = values_by_name(node) if node is not None else {}
    allowed = _ROUNDING | {"clip"} if _INSIDE.search(said_of(f)) else _ROUNDING
    picks = (n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Subscript))
    for pick in (n for n in picks if identifier(n.value) in names):
        at = pick.slice.elts if isinstance(pick.slice, ast.Tuple) else [pick.slice]
        for axis, part in enumerate(at if len(at) in _ARRAYS else ()):
            place, called = _rounded(part, made)
            if not called or not called <= allowed:
                continue
            is_column = isinstance(place, ast.Subscript)
            name = identifier(place.value if isinstance(place, ast.Subscript) else place)
            forms = ("matrix",) if is_column else ("vector", "number") if "astype" in called else ("number",)
            if name in names:
                yield Position(name, forms, identifier(pick.value), axis, len(at), "clip" in called)


def positions_read(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The positions that a function rounds down and picks by, and the arrays that it picks from, which have
    elements on both sides of each.

    >>> def blended(row, t):
    ...     k = int(np.floor(t))
    ...     return (1 - (t - k)) * row[k] + (t - k) * row[k + 1]
    >>> {name: str(kinds[0]) for name, kinds in positions_read(blended).items()}
    {'t': 'a number, between 0 and 2', 'row': 'a vector (n+2)'}
    """
    found: dict[str, tuple[Kind, ...]] = {}
    for position in positions_in(f):
        found[position.name] = tuple(Kind(form, 0.0, _HIGHEST) for form in position.forms)
        found[position.array] = (_ARRAYS[position.axes],)
    return found


def _rounded(part: ast.expr, made: Mapping[str, ast.expr]) -> tuple[ast.expr, frozenset[str]]:
    """What an index is made of, `t` of `k + 1` where `k = int(t)`, and what is called for that."""
    if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
        part = part.left
    place, called = made.get(identifier(part), part), set()
    while isinstance(place, ast.Call):
        called.add(last_name(place.func) or "")
        is_method = isinstance(place.func, ast.Attribute) and last_name(place.func) == "astype"
        if not is_method and not place.args:
            break
        place = place.func.value if is_method else place.args[0]  # type: ignore[attr-defined]
    return place, frozenset(called)
