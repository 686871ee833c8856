"""What a pullback keeps alive: the bytes that were made for it, by the author's line that made them."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FRAMES = 20
"""Frames that may lie between an allocation and the author's line."""
FRAMES_OF_A_CALL = 5
"""Frames that one of the author's functions and what finds its pass may take."""
MOST_FRAMES = 500

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


def held_by(forward: Callable[[], tuple[Any, Any]], seed: Any, lines: set[Line], depth: int = 1) -> Held:
    """Run both sweeps once and account for what the forward sweep left to the reverse sweep.

    Counted is what can be reached from the pullback and was not there before: neither the arguments nor
    the result, unless the pullback needs it. The author's functions call each other `depth` deep: a line
    further out than about 100 calls may lack what they hold. Where somebody traces memory already, their
    limit of frames counts.
    """
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start(min(MOST_FRAMES, FRAMES + FRAMES_OF_A_CALL * depth))
    try:
        gc.collect()  # empties the free lists of floats and tuples, whose blocks nobody would have traced
        y, back = forward()
        del y
        sizes = [(traceback, sys.getsizeof(found)) for found, traceback in _made_since(back)]
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        back(seed)
        peak = max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_tracing:
            tracemalloc.stop()  # before the tracebacks are looked at: each frame would be traced itself
    return Held(sum(size for _, size in sizes), _by_line(sizes, lines), peak)


def _by_line(sizes: list[tuple[tracemalloc.Traceback, int]], lines: set[Line]) -> dict[Line, int]:
    by_traceback: Counter[tracemalloc.Traceback] = Counter()
    for traceback, size in sizes:
        by_traceback[traceback] += size
    within = dict.fromkeys(lines, 0)
    for traceback, size in by_traceback.items():
        for line in {(frame.filename, frame.lineno) for frame in traceback} & lines:
            within[line] += size
    return within


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
