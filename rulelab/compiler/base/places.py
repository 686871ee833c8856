"""The author's lines in what runs: passes are known by a mark, what stands in for a function by its file."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable

from ...errors import Place, PlaceInlined
from ...own_code import is_stand_in
from . import ir

MARK = "A pass of rulelab: the forward sweep of the author's function."


class Bodies(tuple[tuple[int, Place], ...]):
    """Among the constants of a pass: the lines in it that are those of inlined functions, each with a place
    in the function of that line.
    """


def bodies_among(positions: Iterable[ir.Position | None]) -> Bodies:
    """Those of the lines at which emitted code stands. A line that is the function's own as well is left out;
    of a body that stands there for several calls it is not known which of them it is.
    """
    found: dict[int, Place] = {}
    own = set()
    for position in positions:
        if position is None:
            continue
        if not isinstance(position, ir.PositionInlined) or position.place.line != position[0]:
            own.add(position[0])
            continue
        place = position.place
        known = found.setdefault(position[0], place)
        if known.calls != place.calls:
            found[position[0]] = PlaceInlined.reached(place, ())
    return Bodies((line, place) for line, place in found.items() if line not in own)


def _place_of(frame: types.FrameType, line: int | None = None) -> Place:
    """The author's line that a pass is at."""
    place = Place.of_frame(frame)
    if line is not None:
        place = place._replace(line=line)
    for constant in frame.f_code.co_consts:
        if type(constant) is Bodies:
            body = dict(constant).get(place.line)
            if body is not None:
                return PlaceInlined.reached(place._replace(function=body.function), body.calls)
    return place


def calls_leading_here() -> tuple[Place, ...]:
    """The author's lines that the running passes are at, outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(_place_of(frame))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(found))


def place_in_passes(error: BaseException) -> tuple[Place | None, tuple[Place, ...]]:
    """The author's line that an error passed through, innermost, and the lines that called it, outermost
    first.
    """
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(_place_of(trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return (found[-1], tuple(found[:-1])) if found else (None, ())
