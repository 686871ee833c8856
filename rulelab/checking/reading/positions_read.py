"""The parameters of a function that are positions between the elements of an array: the function rounds them
down and uses the result as an index.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .anatomy import last_name
from .by_name import names_several
from .docstrings import docstring_text
from .kinds import Kind
from .texts import identifier, text_of, values_by_name

_HIGHEST = 2.0
"""The upper end of the positions drawn: arrays have at least three elements, so each position has a next
element.
"""
_ROUNDING = frozenset(("int", "floor", "trunc", "astype"))
_ARRAYS = {1: Kind("vector", dims=("n+2",)), 2: Kind("matrix", dims=("h+2", "w+2"))}
_INSIDE = re.compile(r"\b(?:within|inside)\b")


class Position(NamedTuple):
    """A parameter that is rounded down to an index, the forms it may have, the array it indexes, on which of
    how many axes, and whether it may be at the very last element, as one that is clipped may.
    """

    name: str
    forms: tuple[str, ...]
    array: str
    axis: int
    axes: int
    may_be_last: bool


def positions_in(f: Callable) -> Iterator[Position]:
    """The positions that a function rounds down and uses as indices.

    A position that the function clips may lie outside the array; it counts only if the docstring says
    "inside" or "within".
    """
    allowed = _ROUNDING | {"clip"} if _INSIDE.search(docstring_text(f)) else _ROUNDING
    return (position for position, called in _rounded_in(f) if called <= allowed)


def several_positions(f: Callable) -> frozenset[str]:
    """The parameters with a plural name that a function rounds as an array and uses as indices, clipped or
    not.

    >>> def sampled(row, places):
    ...     k = np.clip(np.floor(places).astype(int), 0, len(row) - 2)
    ...     return row[k] + (places - k) * (row[k + 1] - row[k])
    >>> sorted(several_positions(sampled))
    ['places']
    """
    held = (position.name for position, called in _rounded_in(f) if "astype" in called)
    return frozenset(filter(names_several, held))


def picked_side_by_side(f: Callable) -> frozenset[str]:
    """The parameters by which a function indexes the same array on both sides of an operator: both sides have
    as many elements, which flags need not select.

    >>> def margins(strength, winner, loser):
    ...     return strength[winner] - strength[loser]
    >>> sorted(picked_side_by_side(margins))
    ['loser', 'winner']
    """
    node, names = text_of(f)
    found: set[str] = set()
    for inner in ast.walk(node or ast.Pass()):
        sides = (inner.left, inner.right) if isinstance(inner, ast.BinOp) else ()
        picks = [side for side in sides if isinstance(side, ast.Subscript)]
        by = {identifier(pick.slice) for pick in picks} & names
        if len(by) == 2 and len({identifier(pick.value) for pick in picks} - {""}) == 1:
            found |= by
    return frozenset(found)


def _rounded_in(f: Callable) -> Iterator[tuple[Position, frozenset[str]]]:
    """The positions that a function rounds and uses as indices, and the functions it calls to do so."""
    node, names = text_of(f)
    made = values_by_name(node) if node is not None else {}
    picks = (n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Subscript))
    for pick in (n for n in picks if identifier(n.value) in names):
        at = pick.slice.elts if isinstance(pick.slice, ast.Tuple) else [pick.slice]
        for axis, part in enumerate(at if len(at) in _ARRAYS else ()):
            place, called = _rounded(part, made, names)
            is_column = isinstance(place, ast.Subscript)
            name = identifier(place.value if isinstance(place, ast.Subscript) else place)
            forms = ("matrix",) if is_column else ("vector", "number") if "astype" in called else ("number",)
            if name in names and called:
                yield Position(name, forms, identifier(pick.value), axis, len(at), "clip" in called), called


def positions_read(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The positions that a function rounds down and uses as indices, and the arrays that it indexes, which
    have elements on both sides of each.

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


def _rounded(
    part: ast.expr, made: Mapping[str, ast.expr], names: frozenset[str]
) -> tuple[ast.expr, frozenset[str]]:
    """The expression from which an index is made, as `t` in `k + 1` where `k = int(t)`, and the functions
    called for it.
    """
    if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
        part = part.left
    place, called = made.get(identifier(part), part), set()
    while isinstance(place, ast.Call):
        called.add(last_name(place.func) or "")
        is_method = isinstance(place.func, ast.Attribute) and last_name(place.func) == "astype"
        if not is_method and not place.args:
            break
        place = place.func.value if is_method else place.args[0]  # type: ignore[attr-defined]
        if identifier(place) not in names:
            place = made.get(identifier(place), place)
    return place, frozenset(called)
