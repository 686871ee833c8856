"""Arrays that a function splits into pieces, between successive bounds in a parameter: `x[starts[i]:starts[i
+ 1]]`, as for the rows of a sparse matrix.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .kinds import Kind
from .texts import identifier, text_of

_BOUNDS, _CUT, _ROWS = "n+1", "m", "n"
"""Lengths of the bounds, of what is split, and of arrays with one element for each piece, as letters."""


class Pieces(NamedTuple):
    """The parameters split at these bounds, pairs of those that hold indices and the array they index, and
    the parameters with one element for each piece.
    """

    bounds: str
    cut: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    rows: tuple[str, ...]


def pieces_read(f: Callable) -> tuple[Pieces, ...]:
    """The parameters that a function splits into pieces, with their bounds.

    >>> def product(data, places, starts, x):
    ...     y = []
    ...     for i in range(len(starts) - 1):
    ...         row = slice(starts[i], starts[i + 1])
    ...         y.append(data[row] @ x[places[row]])
    ...     return np.array(y)
    >>> found, = pieces_read(product)
    >>> found.bounds, found.cut, found.places
    ('starts', ('data', 'places'), (('places', 'x'),))
    """
    node, names = text_of(f)
    if node is None:
        return ()
    found: dict[str, tuple[set[str], set[str]]] = {}  # by the bounds: what is split, and names of pieces
    counters: dict[str, set[str]] = {}
    for inner, low, high in _intervals(node):
        bounds, counter = _between(low, high) or _in_step(node, low, high) or ("", "")
        if bounds in names:
            cut, pieces = found.setdefault(bounds, (set(), set()))
            counters.setdefault(bounds, set()).add(counter)
            if isinstance(inner, ast.Subscript):
                cut.add(identifier(inner.value))
            else:
                pieces.update(_names_of(node, inner))
    picks = [n for n in ast.walk(node) if isinstance(n, ast.Subscript)]
    cuts = ((bounds, cut, pieces, counters[bounds]) for bounds, (cut, pieces) in found.items())
    return tuple(_pieces(*each, picks, names) for each in cuts)


def kinds_of_pieces(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of the parameters that are split, as long as the bounds say, and of the bounds."""
    kinds: dict[str, tuple[Kind, ...]] = {}
    for bounds, cut, places, rows in pieces_read(f):
        kinds |= dict.fromkeys(cut, (Kind("vector", dims=(_CUT,)), Kind("matrix", dims=(_CUT, "p"))))
        for name, of in places:
            kinds[name] = (Kind("indices", dims=(_CUT, _ROWS)),)
            kinds[of] = (Kind("vector", dims=(_ROWS,)),)
        kinds |= dict.fromkeys(rows, (Kind("vector", dims=(_ROWS,)),))
        kinds[bounds] = (Kind("indices", dims=(_BOUNDS, _CUT)),)
    return kinds


def _pieces(
    bounds: str,
    cut: set[str],
    pieces: set[str],
    counters: set[str],
    picks: list[ast.Subscript],
    names: frozenset[str],
) -> Pieces:
    cut |= {identifier(pick.value) for pick in picks if identifier(pick.slice) in pieces}
    cut &= names - {bounds}
    places = {
        (identifier(pick.slice.value), identifier(pick.value))
        for pick in picks
        if isinstance(pick.slice, ast.Subscript) and identifier(pick.slice.value) in cut
    }
    rows = {identifier(pick.value) for pick in picks if identifier(pick.slice) in counters - {""}}
    of = {(name, x) for name, x in places if x in names}
    return Pieces(bounds, tuple(sorted(cut)), tuple(sorted(of)), tuple(sorted((rows & names) - {bounds})))


def _intervals(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """What is taken from one number to another: by a slice, `slice(low, high)` or `range(low, high)`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Slice):
            if inner.slice.lower is not None and inner.slice.upper is not None:
                yield inner, inner.slice.lower, inner.slice.upper
        elif isinstance(inner, ast.Call) and identifier(inner.func) in ("slice", "range"):
            if len(inner.args) == 2:
                yield inner, inner.args[0], inner.args[1]


def _between(low: ast.expr, high: ast.expr) -> tuple[str, str] | None:
    """The bounds of `bounds[i]` and `bounds[i + 1]`, and `i`; None for any others."""
    if not isinstance(low, ast.Subscript) or not isinstance(high, ast.Subscript):
        return None
    bounds, at, behind = identifier(low.value), ast.unparse(low.slice), ast.unparse(high.slice)
    follows = behind == f"{at} + 1" or at == f"{behind} - 1"
    return (bounds, identifier(low.slice)) if follows and bounds == identifier(high.value) else None


def _in_step(node: ast.AST, low: ast.expr, high: ast.expr) -> tuple[str, str] | None:
    """The bounds of `for a, b in zip(bounds[:-1], bounds[1:])`, given `a` and `b`."""
    for loop in ast.walk(node):
        if not isinstance(loop, (ast.For, ast.comprehension)) or not isinstance(loop.target, ast.Tuple):
            continue
        named = tuple(map(identifier, loop.target.elts))
        if named == (identifier(low), identifier(high)) and isinstance(loop.iter, ast.Call):
            texts = [ast.unparse(arg) for arg in loop.iter.args]
            bounds = texts[0].partition("[")[0] if texts else ""
            in_step = ([f"{bounds}[:-1]", f"{bounds}[1:]"], [bounds, f"{bounds}[1:]"])
            if identifier(loop.iter.func) == "zip" and texts in in_step:
                return bounds, ""
    return None


def _names_of(node: ast.AST, made: ast.AST) -> Iterator[str]:
    """The name to which a slice is assigned, or the counter of a range."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and inner.value is made:
            yield from map(identifier, inner.targets)
        elif isinstance(inner, (ast.For, ast.comprehension)) and inner.iter is made:
            yield identifier(inner.target)
