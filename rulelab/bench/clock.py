"""The clock a measurement reads, and how one block of calls is timed on it."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from timeit import Timer

Clock = Callable[[], float]
"""A function without arguments that returns seconds; only differences of its values are used."""

wall: Clock = time.perf_counter

LEAST_BLOCK = 5e-4
"""Seconds a block of calls should last: long beside the clock's resolution, short beside the time for which
the system leaves a process in peace (some 3 ms under load).
"""
LONGEST_DISTURBANCE = 0.05
"""Seconds by which the system may have held up a block; a block that took longer did so by itself."""


def seconds_per_call(thunk: Callable[[], object], loops: int, clock: Clock = wall) -> float:
    """The mean time of one call in a block of `loops` calls, in seconds; the garbage collector rests
    meanwhile.
    """
    return Timer(thunk, timer=clock).timeit(loops) / loops


def calibrate(thunk: Callable[[], object], clock: Clock = wall, least: float = LEAST_BLOCK) -> int:
    """How many calls make a block of at least `least` seconds: 1, 2, 5, 10, …

    A block counts as long enough when it was so three times: the first time may have been an interruption.
    `timeit.Timer.autorange` does this with a fixed fifth of a second, which is too long for rounds that
    take turns.
    """
    scale = 1
    while True:
        for step in (1, 2, 5):
            loops = step * scale
            if loops >= 1_000_000 or _lasts(thunk, loops, clock, least):
                return loops
        scale *= 10


def _lasts(thunk: Callable[[], object], loops: int, clock: Clock, least: float) -> bool:
    for _ in range(3):
        seconds = seconds_per_call(thunk, loops, clock) * loops
        if seconds < least:
            return False
        if seconds > LONGEST_DISTURBANCE:
            return True
    return True


@dataclass(frozen=True)
class Memory:
    """What one call asks of the memory.

    `peak_bytes` is the most it held at once beyond what was there before (NumPy's buffers included);
    `kept_blocks` is the number of Python's memory blocks that its result still holds. Blocks that came and
    went within the call are not counted: CPython keeps no count of them.
    """

    peak_bytes: int
    kept_blocks: int


def memory_of(thunk: Callable[[], object]) -> Memory:
    """The memory of one call of `thunk`, measured apart from the timing, because tracing slows what it
    traces.
    """
    return Memory(_peak_bytes(thunk), _kept_blocks(thunk))


def _peak_bytes(thunk: Callable[[], object]) -> int:
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        thunk()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_tracing:
            tracemalloc.stop()


def _kept_blocks(thunk: Callable[[], object]) -> int:
    before = sys.getallocatedblocks()
    result = thunk()
    kept = sys.getallocatedblocks() - before
    del result
    return max(0, kept)
