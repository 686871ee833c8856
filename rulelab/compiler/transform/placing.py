"""Code that stands where other text does: what is emitted line by line has a place of the author's for each
line.

A syntax tree could be given places, and be compiled; to build it takes twice the time of all else that
Python does with the text. So the code of the text itself is given other tables of places. Only what puts
probes into a pass works on its tree.
"""

from __future__ import annotations

import ast
import itertools
import operator
import types
from typing import Any

from ...parsing import compiled, nodes_of
from ..base import ir
from ..base.places import Spots

Spot = tuple[int, int, int, int]  # line, end line, column, end column, as `ast` has them
_UNITS = 8  # of code, at most, for which one entry of a table tells the place
# The first byte of an entry for so many units: with line and columns in full; of code that has no place.
_HEADS = [[bytes((0x80 | kind << 3 | max(n - 1, 0),)) for n in range(_UNITS + 1)] for kind in (14, 15)]
_LONG, _NOWHERE = _HEADS
_number_of = operator.itemgetter(2)  # that of the line, of what `co_lines` gives
_SMALL = [bytes((value,)) for value in range(64)]


def spots_of_lines(
    positions: list[ir.Position | None], first_line: int, spots: Spots, reverse: range
) -> list[Spot]:
    """The place of each line, from 1; those of ours stand with what is before them. What was inlined is told
    of in the forward sweep, where the author's code runs, not in the lines of the `reverse` one.
    """
    places: list[Any] = [(first_line, first_line, 0, 0)] * (len(positions) + 1)
    for number, position in enumerate(positions, 1):
        if position is None:
            places[number] = places[number - 1]
        else:
            places[number] = tuple(position) if number in reverse else spots.of(position)
    return places


def placed_function(
    lines: list[str], name: str, constants: dict[str, Any], filename: str, places: list[Spot]
) -> types.FunctionType:
    """The function of these lines, called `name`; they name the constants, which become variables of a
    function around it, and no globals.
    """
    text = "\n ".join([f"def factory({', '.join(constants)}):", *lines, f"return {name}"])
    made = factory_of(compiled(text, filename))(*constants.values())
    made.__code__ = _placed(made.__code__, [places[0], *places], {})  # the function around it takes a line
    return made


def factory_of(code: types.CodeType) -> types.FunctionType:
    """The function that a module of nothing else defines."""
    return types.FunctionType(next(c for c in code.co_consts if isinstance(c, types.CodeType)), {})


def locate(tree: ast.AST, places: list[Spot]) -> None:
    """Give every node of a tree its place."""
    for node in nodes_of(tree):
        if node._attributes:
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = places[node.lineno]


def _placed(code: types.CodeType, places: list[Spot], spans: dict[Spot, bytes]) -> types.CodeType:
    """The code with its lines at these places, and so what is defined in it; `spans` are the entries of
    places so far, but for what says where they begin.
    """
    first = last = places[code.co_firstlineno][0]
    table: list[bytes] = []
    runs = [(next(run)[0], number) for number, run in itertools.groupby(code.co_lines(), _number_of)]
    ends = [start for start, _ in runs[1:]]
    for (start, number), end in zip(runs, [*ends, len(code.co_code)], strict=True):
        units, heads, moved, rest = (end - start) // 2, _NOWHERE, b"", b""
        if number is not None:
            spot = places[number]
            heads, moved, last = _LONG, b"\0" if spot[0] == last else _signed(spot[0] - last), spot[0]
            rest = spans.get(spot) or spans.setdefault(spot, _span(*spot))
        more, units = divmod(units - 1, _UNITS)
        table += (heads[units + 1], moved, rest)
        if more:
            table.append((heads[_UNITS] + (moved and b"\0") + rest) * more)
    inner = [_placed(c, places, spans) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(co_linetable=b"".join(table), co_firstlineno=first, co_consts=tuple(inner))


def _span(line: int, end_line: int, column: int, end_column: int) -> bytes:
    return _number(end_line - line) + _number(column + 1) + _number(end_column + 1)


def _number(value: int) -> bytes:
    """A number as tables of places have it: six bits a byte, and one that says that more follow."""
    return _SMALL[value] if value < 64 else bytes((0x40 | value & 0x3F,)) + _number(value >> 6)


def _signed(value: int) -> bytes:
    return _number(-value << 1 | 1 if value < 0 else value << 1)
