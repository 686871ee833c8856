"""What a pullback keeps alive: the bytes that were made for it, by the author's line that made them."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_FRAMES = 200
"""Frames that a traceback of an allocation keeps: a line further out than that is not told of."""

Line = tuple[str, int]
"""File name and number of a line."""


@dataclass(frozen=True)
class Held:
    """The bytes that live from the forward to the reverse sweep.

    `within` gives them by line: what was taken there and in what the line called; `total` has also those of
    no line. `peak` is the most that the reverse sweep took beyond them.
    """

    total: int
    within: dict[Line, int]
    peak: int


def held_by(forward: Callable[[], tuple[Any, Any]], seed: Any, lines: set[Line]) -> Held:
    """Run both sweeps once and account for what the forward sweep left to the reverse sweep.

    Counted is what can be reached from the pullback and was not there before: neither the arguments nor
    the result, unless the pullback needs it. Where somebody traces memory already, their limit of frames
    counts.
    """
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start(MOST_FRAMES)
    try:
        gc.collect()  # empties the free lists of floats and tuples, whose blocks nobody would have traced
        y, back = forward()
        del y
        total, within = _account(back, lines)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        back(seed)
        return Held(total, within, max(0, tracemalloc.get_traced_memory()[1] - before))
    finally:
        if not was_tracing:
            tracemalloc.stop()


def _account(back: Any, lines: set[Line]) -> tuple[int, dict[Line, int]]:
    total, within = 0, dict.fromkeys(lines, 0)
    for found, traceback in _made_since(back):
        size = sys.getsizeof(found)
        total += size
        for line in {(frame.filename, frame.lineno) for frame in traceback} & lines:
            within[line] += size
    return total, within


def _made_since(back: Any) -> Iterator[tuple[Any, tracemalloc.Traceback]]:
    """What can be reached from a pullback and was made since memory is traced, each with the calls that made
    it, outermost first.
    """
    seen: set[int] = set()
    waiting = [back]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        traceback = tracemalloc.get_object_traceback(found)
        if traceback is not None:  # what was there before can hold nothing that is new
            yield found, traceback
            waiting.extend(_parts(found))


def _parts(found: Any) -> list[Any]:
    if isinstance(found, np.ndarray):  # the collector does not look into arrays
        return [found.base, *(found.ravel() if found.dtype.hasobject else ())]
    return gc.get_referents(found)
