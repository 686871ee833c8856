"""Where the tables begin in which a function or its rule looks something up: values before that are not
intended.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .anatomy import last_name
from .texts import text_nodes, text_of, values_by_name

_JOINING = frozenset("concatenate hstack append array asarray r_".split())
_CUTTING = frozenset("clip maximum fmax max".split())
_PLACED = {"searchsorted": (0, 1), "digitize": (1, 0)}
"""Functions that find positions in increasing numbers: the positions of the table and of what is looked up
among their arguments.
"""
_WHOLE_PARTS = frozenset("int floor astype min minimum".split())


class Table(NamedTuple):
    """Numbers that increase from `first` on, the parameters among them, and the parameters that are looked up
    in it.
    """

    first: float
    of: frozenset[str]
    looked_up: frozenset[str]


def tables_read(f: Callable) -> Iterator[Table]:
    """The tables that begin with a number and in which a function looks up a parameter, or computes how much
    of it lies in each interval: a value less than the first has no place.

    >>> def exposure(t, knots):
    ...     edges = np.concatenate([[0.0], knots, [np.inf]])
    ...     return np.clip(t - edges[:-1], 0.0, np.diff(edges))
    >>> [(table.first, *table.of, *table.looked_up) for table in tables_read(exposure)]
    [(0.0, 'knots', 't')]
    """
    node, names = text_of(f)
    if node is None:
        return
    made = values_by_name(node)
    tables = {name: parts for name, value in made.items() if len(parts := list(_joined(value))) > 1}
    for name, (first, *others) in tables.items():
        if isinstance(first, float):
            looked_up = names & set(_looked_up_in(name, node, made))
            if looked_up:
                yield Table(first, names & {one for one in others if isinstance(one, str)}, looked_up)


def _joined(node: ast.AST) -> Iterator[str | float | None]:
    """The items of which an array is built, in order: numbers, names, and None for anything else."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            yield from _joined(part.value if isinstance(part, ast.Starred) else part)
    elif isinstance(node, ast.Call) and last_name(node.func) in _JOINING and node.args:
        for arg in node.args:
            yield from _joined(arg)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield float(node.value)
    elif isinstance(node, ast.Attribute) and node.attr == "inf":
        yield math.inf
    else:
        yield node.id if isinstance(node, ast.Name) else None


def _looked_up_in(table: str, node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[str]:
    """The names of what is looked up in a table of this name."""
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
        word = last_name(call.func)
        if word in _CUTTING:  # how much of it lies in each interval of the table
            for arg in call.args:
                yield from _less(made.get(arg.id, arg) if isinstance(arg, ast.Name) else arg, table)
        elif word in _PLACED and len(call.args) > 1:
            of, what = (call.args[place] for place in _PLACED[word])
            if _is_of(of, table) and isinstance(what, ast.Name):
                yield what.id


def _less(node: ast.AST, table: str) -> Iterator[str]:
    """The name from which a table is subtracted."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_of(node.right, table):
        left = node.left.value if isinstance(node.left, ast.Subscript) else node.left
        if isinstance(left, ast.Name):
            yield left.id


def _is_of(node: ast.AST, table: str) -> bool:
    """Whether an expression is a table, or a slice of it: `edges[:-1]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name) and node.id == table


def places_by_whole_part(f: Callable) -> frozenset[str]:
    """The parameters whose integer part is used as an index: that of a negative number would count from the
    end.

    >>> def read(x, table):
    ...     i = min(int(x), len(table) - 1)
    ...     return table[i]
    >>> sorted(places_by_whole_part(read))
    ['x']
    """
    nodes, names, made = text_nodes(f)
    found: set[str] = set()
    for inner in (one for one in nodes if isinstance(one, ast.Subscript)):
        for part in ast.walk(inner.slice):
            if isinstance(part, ast.Name) and part.id in made:
                found.update(_in_whole_part(made[part.id]))
            elif isinstance(part, ast.Call):
                found.update(_in_whole_part(part))
    return names & found


def _in_whole_part(node: ast.AST) -> Iterator[str]:
    """The name whose integer part an expression is, possibly limited by a minimum."""
    called: list[str] = []
    while isinstance(node, ast.Call):
        word = last_name(node.func)
        called.append(word)
        if word not in _WHOLE_PARTS or not (node.args or isinstance(node.func, ast.Attribute)):
            return
        node = node.func.value if word == "astype" else node.args[0]  # type: ignore[attr-defined]
    if isinstance(node, ast.Name) and not {"int", "astype"}.isdisjoint(called):
        yield node.id
