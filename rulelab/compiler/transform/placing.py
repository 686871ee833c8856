"""Code whose positions are the author's: each emitted line gets a place in the author's source.

One could set the places in a syntax tree and compile that, but building the tree takes twice as long as all
else that Python does with the text. So the text is compiled as it is, and the position tables of its code
are replaced. Only the insertion of probes into a pass works on its tree.
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
_UNITS = 8  # the most code units that one entry of a position table covers
# The first bytes of entries, by number of units: for a place with line and columns, and for no place.
_HEADS = [[bytes((0x80 | kind << 3 | max(n - 1, 0),)) for n in range(_UNITS + 1)] for kind in (14, 15)]
_LONG, _NOWHERE = _HEADS
_number_of = operator.itemgetter(2)  # the line number in an item of `co_lines`
_SMALL = [bytes((value,)) for value in range(64)]


def spots_of_lines(
    positions: list[ir.Position | None], first_line: int, spots: Spots, reverse: range
) -> list[Spot]:
    """The place of each line, by its number from 1; a line of ours has the place of the line before it.
    Inlined code is noted in `spots` for the forward sweep, where it runs, not for the `reverse` lines.
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
    """Compile these lines into the function `name`; the constants that they name become closure variables,
    since the function has no globals.
    """
    text = "\n ".join([f"def factory({', '.join(constants)}):", *lines, f"return {name}"])
    made = factory_of(compiled(text, filename))(*constants.values())
    made.__code__ = _placed(made.__code__, [places[0], *places], {})  # the factory's header is one line more
    return made


def factory_of(code: types.CodeType) -> types.FunctionType:
    """The only function that a module's code defines."""
    return types.FunctionType(next(c for c in code.co_consts if isinstance(c, types.CodeType)), {})


def locate(tree: ast.AST, places: list[Spot]) -> None:
    """Give every node of a tree its place."""
    for node in nodes_of(tree):
        if node._attributes:
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = places[node.lineno]


def _placed(code: types.CodeType, places: list[Spot], spans: dict[Spot, bytes]) -> types.CodeType:
    """The code, and the code nested in it, with its lines at these places; `spans` caches the encoding of a
    place, without its start line.
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
    """A number as position tables encode it: six bits per byte, and a seventh if more bytes follow."""
    return _SMALL[value] if value < 64 else bytes((0x40 | value & 0x3F,)) + _number(value >> 6)


def _signed(value: int) -> bytes:
    return _number(-value << 1 | 1 if value < 0 else value << 1)
