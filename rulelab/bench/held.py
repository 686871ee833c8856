"""What a pullback keeps alive: the bytes that were made for it, by the author's line that made them."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

FRAMES = 20
"""Frames that may lie between an allocation and the author's line."""
FRAMES_OF_A_CALL = 5
"""Frames that one of the author's functions and what finds its pass may take."""
MOST_FRAMES = 500
MOST_OBJECTS = 1000
"""So many objects are looked up one by one, which takes a tenth of a millisecond each."""

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
    the result, unless the pullback needs it. Where that is more than 1,000 objects, counted is whatever is
    left of what the forward sweep made, which may be a few kB more. The author's functions call each other
    `depth` deep: a line further out than about 100 calls may lack what they hold. Where somebody traces
    memory already, their limit of frames counts.
    """
    __tracebackhide__ = True
    was_tracing = tracemalloc.is_tracing()
    try:
        if not was_tracing:  # inside: an interrupt that comes meanwhile must not leave it on
            tracemalloc.start(min(MOST_FRAMES, FRAMES + FRAMES_OF_A_CALL * depth))
        gc.collect()  # empties the free lists of floats and tuples, whose blocks nobody would have traced
        y, back = forward()
        del y
        found = _found(back)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        back(seed)
        peak = max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_tracing:
            tracemalloc.stop()  # before they are looked at: what that takes would be traced itself
    sizes = found if isinstance(found, list) else _left(found)
    return Held(sum(size for _, size in sizes), _by_line(sizes, lines), peak)


Sizes = list[tuple[tracemalloc.Traceback, int]]
"""Bytes and where they were taken, in no order."""


def _found(back: Any) -> Sizes | tracemalloc.Snapshot:
    """What a pullback reaches, one by one; if that is too much, all there is."""
    found = [(traceback, sys.getsizeof(x)) for x, traceback in islice(_made_since(back), MOST_OBJECTS + 1)]
    if len(found) <= MOST_OBJECTS:
        return found
    del found
    gc.collect()  # else the free lists hold what was dropped
    return tracemalloc.take_snapshot()


def _left(snapshot: tracemalloc.Snapshot) -> Sizes:
    """All there is but what looking took."""
    ours = (__file__, tracemalloc.__file__)
    return [
        (statistic.traceback, statistic.size)
        for statistic in snapshot.statistics("traceback")
        if statistic.traceback[-1].filename not in ours
    ]


def _by_line(sizes: Sizes, lines: set[Line]) -> dict[Line, int]:
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
        elif type(found) is tuple:  # it may be new, in the place of one that was dropped meanwhile
            waiting.extend(found)


def _parts(found: Any) -> list[Any]:
    if isinstance(found, np.ndarray):  # the collector does not look into arrays
        return [found.base, *(found.ravel() if found.dtype.hasobject else ())]
    return gc.get_referents(found)
