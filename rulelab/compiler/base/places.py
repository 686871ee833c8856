"""The author's lines in what runs: passes are known by a mark, what stands in for a function by its file."""

from __future__ import annotations

import sys

from ...errors import Place
from ...own_code import is_stand_in

MARK = "A pass of rulelab: the forward sweep of the author's function."


def calls_leading_here() -> tuple[Place, ...]:
    """The author's lines that the running passes are at, outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(Place.of_frame(frame))
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
            found.append(Place.of_frame(trace.tb_frame)._replace(line=trace.tb_lineno))
        trace = trace.tb_next
    return (found[-1], tuple(found[:-1])) if found else (None, ())
