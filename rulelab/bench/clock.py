"""The clock a measurement reads, and how one block of calls is timed on it."""

from __future__ import annotations

import math
import sys
import time
import timeit
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

    On the wall clock, the time for which this thread was ready to run and had no core is taken off, where
    the system tells it (Linux does), and never more than is sure to lie within the block. A call that
    sleeps, or waits for other threads or a disk, keeps that time. Without this, a call of 20 ms beside busy
    processes takes 20, 40 or 60 ms, as their slices fall.
    """
    __tracebackhide__ = True
    timer = Timer(thunk, timer=clock)
    if clock is not wall:
        return _timed(timer, loops) / loops
    start, before = clock(), waited()
    seconds = _timed(timer, loops)
    after, end = waited(), clock()
    if before is None or after is None:
        return seconds / loops
    # What was waited between the readings, but before or after the timed block, is not in its seconds.
    outside = (end - start) - seconds
    return (seconds - max(0.0, after - before - outside)) / loops


def _timed(timer: Timer, loops: int) -> float:
    """The seconds of a block of calls; an error in one is shown without the frames of timeit."""
    __tracebackhide__ = True
    try:
        return timer.timeit(loops)
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in _OURS:
            trace = trace.tb_next
        error.__traceback__ = trace
        raise


_OURS = (__file__, timeit.__file__, "<timeit-src>")


def waited() -> float | None:
    """The seconds for which this thread was ready and had no core since it began; None if nobody tells."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read(100).split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return None


def calibrate(thunk: Callable[[], object], clock: Clock = wall, least: float = LEAST_BLOCK) -> int:
    """How many calls make a block of at least `least` seconds: 1, 2, 5, 10, …

    A block counts as long enough when it was so three times: the first time may have been an interruption.
    `timeit.Timer.autorange` does this with a fixed fifth of a second, which is too long for rounds that
    take turns.
    """
    __tracebackhide__ = True
    return calibrated(thunk, clock, least)[0]


def calibrated(
    thunk: Callable[[], object], clock: Clock = wall, least: float = LEAST_BLOCK
) -> tuple[int, float]:
    """What `calibrate` gives, and the seconds such a block takes."""
    __tracebackhide__ = True
    scale = 1
    while True:
        for step in (1, 2, 5):
            loops = step * scale
            seconds = _shortest_block(thunk, loops, clock, least)
            if seconds >= least or loops >= 1_000_000:
                return loops, seconds
        scale *= 10


def _shortest_block(thunk: Callable[[], object], loops: int, clock: Clock, least: float) -> float:
    """The shortest of three blocks, or the first that says enough: it is too short, or too long to be an
    interruption.
    """
    __tracebackhide__ = True
    shortest = math.inf
    for _ in range(3):
        seconds = seconds_per_call(thunk, loops, clock) * loops
        shortest = min(shortest, seconds)
        if seconds < least or seconds > LONGEST_DISTURBANCE:
            break
    return shortest


@dataclass(frozen=True)
class Memory:
    """What one call asks of the memory.

    Attributes
    ----------
    peak_bytes : int
        The most that it held at once beyond what was there before, in bytes, NumPy's buffers included.
    kept_blocks : int
        Python's memory blocks that its result still holds. Blocks that came and went within the call are
        not counted: CPython keeps no count of them.
    """

    peak_bytes: int
    kept_blocks: int


def memory_of(thunk: Callable[[], object]) -> Memory:
    """The memory of one call of `thunk`, measured apart from the timing, because tracing slows what it
    traces.
    """
    __tracebackhide__ = True
    return Memory(_peak_bytes(thunk), _kept_blocks(thunk))


def _peak_bytes(thunk: Callable[[], object]) -> int:
    __tracebackhide__ = True
    was_tracing = tracemalloc.is_tracing()
    try:
        if not was_tracing:
            tracemalloc.start()  # inside: an interrupt that comes meanwhile must not leave it on
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        thunk()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not was_tracing:
            tracemalloc.stop()


def _kept_blocks(thunk: Callable[[], object]) -> int:
    __tracebackhide__ = True
    before = sys.getallocatedblocks()
    result = thunk()
    kept = sys.getallocatedblocks() - before
    del result
    return max(0, kept)
