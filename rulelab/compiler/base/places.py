"""The author's lines in running code: passes are known by a mark, generated stand-ins by their file."""

from __future__ import annotations

import ast
import itertools
import sys
import types

from ...errors import Place, PlaceInlined
from ...own_code import is_stand_in
from . import ir

MARK = "A pass of rulelab: the forward sweep of the author's function."


class Bodies(tuple[Place, ...]):
    """Among the constants of a pass: the places of the statements inlined into it. The code of an inlined
    statement is recognised by its end column, which is beyond any in a source text.
    """


_FIRST = 1 << 20


class Spots:
    """Assigns positions to emitted code; `places` collects those of inlined statements."""

    def __init__(self) -> None:
        self.places: dict[tuple[Place, tuple[Place, ...]], int] = {}

    def of(self, position: ir.Position) -> tuple[int, int, int, int]:
        """The position for emitted code; the end column of an inlined statement identifies its place."""
        if not isinstance(position, ir.PositionInlined):
            return position
        line, _, column, _ = position
        place = position.place
        number = self.places.setdefault((place, place.calls), len(self.places))
        return (line, line, column, _FIRST + number)

    def bodies(self) -> Bodies:
        return Bodies(PlaceInlined.reached(*found) for found in self.places)


def _place_of(frame: types.FrameType, step: int, line: int) -> Place:
    """The author's line that a pass is at, given a frame, and an instruction and a line of its code."""
    code = frame.f_code
    spots = itertools.islice(code.co_positions(), step // 2, None) if step >= 0 else iter(())
    end_column = next(spots, (None,) * 4)[3]
    if end_column is None or end_column < _FIRST:
        return Place.of_frame(frame)._replace(line=line)
    bodies = next(constant for constant in code.co_consts if type(constant) is Bodies)
    return bodies[end_column - _FIRST]


def tell_bodies(error: BaseException) -> None:
    """Make the traceback of an author's error show inlined functions as if they had been called."""
    steps = []
    trace = error.__traceback__
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    if not any(_is_of_bodies(step.tb_frame.f_code) for step in steps):
        return
    told: types.TracebackType | None = None
    for step in reversed(steps):
        frame = step.tb_frame
        place = _place_of(frame, step.tb_lasti, step.tb_lineno) if _is_of_bodies(frame.f_code) else None
        for spot in reversed((*place.calls, place) if isinstance(place, PlaceInlined) else ()):
            shown = _frame_at(spot, frame)
            told = types.TracebackType(told, shown, shown.f_lasti, spot.line)
        if not isinstance(place, PlaceInlined):
            told = types.TracebackType(told, frame, step.tb_lasti, step.tb_lineno)
    error.__traceback__ = told


def _is_of_bodies(code: types.CodeType) -> bool:
    return any(type(constant) is Bodies for constant in code.co_consts)


def _frame_at(place: Place, frame: types.FrameType) -> types.FrameType:
    """A frame of another function at a place, with the variables of the frame in which its body ran."""
    call = ast.Expression(ast.Call(ast.Name("frame_here", ast.Load()), [], []))
    start = place.column or 0
    end = max(start, len(place.source().encode()) if place.end_column is None else place.end_column)
    for node in (call.body, call.body.func):  # type: ignore[attr-defined]
        node.lineno = node.end_lineno = place.line
        node.col_offset, node.end_col_offset = start, end
    code = compile(call, place.filename, "eval").replace(co_name=place.function or "<lambda>")
    return eval(code, frame.f_globals, {**frame.f_locals, "frame_here": sys._getframe})


def calls_leading_here() -> tuple[Place, ...]:
    """The author's lines that the running passes are at, outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(_place_of(frame, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(found))


def place_in_passes(error: BaseException) -> tuple[Place | None, tuple[Place, ...]]:
    """The innermost line of the author's that an error passed through, and the lines that led there,
    outermost first.
    """
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(_place_of(trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    return (found[-1], tuple(found[:-1])) if found else (None, ())
