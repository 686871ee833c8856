"""The clock that measurements read, and the timing of one block of calls."""

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
"""Seconds that a block of calls should last: long compared with the clock's resolution, short compared with
the time for which the system does not interrupt a process (about 3 ms under load).
"""
LONGEST_DISTURBANCE = 0.05
"""Seconds for which the system may interrupt a block; a block that took longer is slow by itself."""


def seconds_per_call(thunk: Callable[[], object], loops: int, clock: Clock = wall) -> float:
    """The mean time of one call in a block of `loops` calls, in seconds, with the garbage collector off.

    On the wall clock, the time for which this thread was ready to run but had no core is subtracted, if the
    system reports it (Linux does), and never more than is certain to lie within the block. The time for which
    a call sleeps, or waits for other threads or a disk, is not subtracted. Without this correction, a call of
    20 ms beside busy processes takes 20, 40 or 60 ms, depending on their time slices.
    """
    __tracebackhide__ = True
    timer = Timer(thunk, timer=clock)
    if clock is not wall:
        return _timed(timer, loops) / loops
    start, before = clock(), seconds_without_core()
    seconds = _timed(timer, loops)
    after, end = seconds_without_core(), clock()
    if before is None or after is None:
        return seconds / loops
    # Waiting between the two readings, but before or after the timed block, is not part of its seconds.
    outside = (end - start) - seconds
    return (seconds - max(0.0, after - before - outside)) / loops


def _timed(timer: Timer, loops: int) -> float:
    """The seconds of a block of calls; an error in a call is raised without the frames of timeit."""
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


def seconds_without_core() -> float | None:
    """The seconds since its start for which this thread was ready but had no core; None if unknown."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read(100).split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return None


def calibrate(thunk: Callable[[], object], clock: Clock = wall, least: float = LEAST_BLOCK) -> int:
    """How many calls make a block of at least `least` seconds: 1, 2, 5, 10, …

    A block must be long enough three times, because a single one may have been interrupted.
    `timeit.Timer.autorange` uses a fixed fifth of a second, which is too long for alternating blocks.
    """
    __tracebackhide__ = True
    return calibrated(thunk, clock, least)[0]


def calibrated(
    thunk: Callable[[], object], clock: Clock = wall, least: float = LEAST_BLOCK
) -> tuple[int, float]:
    """The result of `calibrate`, and the seconds that such a block takes."""
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
    """The shortest of three blocks; fewer are run if one is too short, or too long for an interruption to be
    the cause.
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
    """The memory that one call uses.

    Attributes
    ----------
    peak_bytes : int
        The peak of the memory allocated by the call, in bytes, NumPy's buffers included.
    kept_blocks : int
        Python's memory blocks that its result still holds. Blocks allocated and freed within the call are
        not counted: CPython does not count them.
    """

    peak_bytes: int
    kept_blocks: int


def memory_of(thunk: Callable[[], object]) -> Memory:
    """The memory of one call of `thunk`, measured separately from the time, because tracing slows the call
    down.
    """
    __tracebackhide__ = True
    return Memory(_peak_bytes(thunk), _kept_blocks(thunk))


def _peak_bytes(thunk: Callable[[], object]) -> int:
    __tracebackhide__ = True
    was_tracing = tracemalloc.is_tracing()
    try:
        if not was_tracing:
            tracemalloc.start()  # inside `try`: an interrupt must not leave tracing on
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
