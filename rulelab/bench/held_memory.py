"""The memory that a pullback keeps alive, in bytes, by the author's line that allocated it."""

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
"""Frames between an allocation and the author's line, at most."""
FRAMES_OF_A_CALL = 5
"""Frames that a call of an author's function takes, with the lookup of its pass."""
MOST_FRAMES = 500
MOST_OBJECTS = 1000
"""Up to this many objects are looked up one by one, which takes 0.1 ms each."""

Line = tuple[str, int]
"""A file name and a line number."""


@dataclass(frozen=True)
class HeldMemory:
    """The bytes that live from the forward to the reverse sweep.

    `within` has them by line: those allocated at the line and in what it called; `total` also includes those
    of no line. `peak` is the peak of what the reverse sweep allocated in addition.
    """

    total: int
    within: dict[Line, int]
    peak: int


def memory_held_by(
    forward: Callable[[], tuple[Any, Any]], seed: Any, lines: set[Line], depth: int = 1
) -> HeldMemory:
    """Run both sweeps once and measure the memory that the forward sweep leaves to the reverse sweep.

    Objects count if they are reachable from the pullback and did not exist before: not the arguments, and
    not the result unless the pullback needs it. If there are more than 1,000 of them, everything that is left
    of the forward sweep's allocations counts, which may be a few kB more. The author's functions call each
    other `depth` deep: a line more than about 100 calls further out may lack the bytes that they hold. If
    memory is already being traced, the limit of frames set there applies.
    """
    __tracebackhide__ = True
    was_tracing = tracemalloc.is_tracing()
    try:
        if not was_tracing:  # inside `try`: an interrupt must not leave tracing on
            tracemalloc.start(min(MOST_FRAMES, FRAMES + FRAMES_OF_A_CALL * depth))
        gc.collect()  # empties the free lists of floats and tuples, whose blocks would not be traced
        y, back = forward()
        del y
        found = _found(back)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        back(seed)
        peak = max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_tracing:
            tracemalloc.stop()  # before the evaluation, whose own memory would be traced as well
    sizes = found if isinstance(found, list) else _left(found)
    return HeldMemory(sum(size for _, size in sizes), _by_line(sizes, lines), peak)


Sizes = list[tuple[tracemalloc.Traceback, int]]
"""Bytes, each with the traceback of its allocation, in no particular order."""


def _found(back: Any) -> Sizes | tracemalloc.Snapshot:
    """The sizes of the objects that a pullback reaches, or a snapshot of all memory if there are too many."""
    found = [(traceback, sys.getsizeof(x)) for x, traceback in islice(_made_since(back), MOST_OBJECTS + 1)]
    if len(found) <= MOST_OBJECTS:
        return found
    del found
    gc.collect()  # otherwise the free lists still hold what was dropped
    return tracemalloc.take_snapshot()


def _left(snapshot: tracemalloc.Snapshot) -> Sizes:
    """The sizes in a snapshot, without those allocated by the measurement itself."""
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
    """The objects that are reachable from a pullback and were allocated since tracing began, each with the
    traceback of its allocation, outermost call first.
    """
    seen: set[int] = set()
    waiting = [back]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        traceback = tracemalloc.get_object_traceback(found)
        if traceback is not None:  # an older object can hold nothing new
            yield found, traceback
            waiting.extend(_parts(found))
        elif type(found) is tuple:  # it may be new, but reused from the free list
            waiting.extend(found)


def _parts(found: Any) -> list[Any]:
    if isinstance(found, np.ndarray):  # the garbage collector does not look into arrays
        return [found.base, *(found.ravel() if found.dtype.hasobject else ())]
    return gc.get_referents(found)
