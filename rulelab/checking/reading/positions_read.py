"""Which parameters of a function are positions between the elements of an array: it rounds them down, and
picks there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from .anatomy import last_name
from .kinds import Kind
from .texts import identifier, text_of, values_by_name

_HIGHEST = 2.0
"""Between three elements at least lie the positions that are drawn: there is a next one behind each."""
_SCALAR, _ELEMENTWISE = frozenset(("int", "floor", "trunc")), frozenset(("astype", "floor"))
_ARRAYS = {1: Kind("vector", dims=("n+2",)), 2: Kind("matrix", dims=("h+2", "w+2"))}


def positions_read(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The positions that a function rounds down and picks by, and the arrays that it picks from, which have
    elements on both sides of each.

    >>> def blended(row, t):
    ...     k = int(np.floor(t))
    ...     return (1 - (t - k)) * row[k] + (t - k) * row[k + 1]
    >>> {name: str(kinds[0]) for name, kinds in positions_read(blended).items()}
    {'t': 'a number, between 0 and 2', 'row': 'a vector (n+2)'}
    """
    node, names = text_of(f)
    made = values_by_name(node) if node is not None else {}
    found: dict[str, tuple[Kind, ...]] = {}
    for inner in ast.walk(node or ast.Pass()):
        if not isinstance(inner, ast.Subscript) or identifier(inner.value) not in names:
            continue
        at = inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]
        positions = {name: forms for part in at for name, forms in _positions_in(part, made) if name in names}
        if positions and len(at) in _ARRAYS:
            found |= {name: tuple(Kind(form, 0.0, _HIGHEST) for form in of) for name, of in positions.items()}
            found[identifier(inner.value)] = (_ARRAYS[len(at)],)
    return found


def _positions_in(part: ast.expr, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of what is rounded down to an index, `k + 1` of `k = int(t)`, and the forms it may have."""
    if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
        part = part.left
    place = made.get(identifier(part), part)
    forms: tuple[str, ...] = ("number",)
    is_rounded = False
    while isinstance(place, ast.Call):
        called = last_name(place.func)
        is_method = isinstance(place.func, ast.Attribute) and called == "astype"
        if called not in _SCALAR | _ELEMENTWISE or not (is_method or len(place.args) == 1):
            return
        forms = ("vector", "number") if is_method else forms
        place, is_rounded = place.func.value if is_method else place.args[0], True  # type: ignore[attr-defined]
    if is_rounded and identifier(place):
        yield identifier(place), forms
