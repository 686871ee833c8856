"""How much time a search has used: its own, so that other people's work on the machine changes no verdict.
And how much memory it may take.
"""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

WAITING = 2.0
"""How many seconds of waiting count as one of the processor."""
LONGEST_WAIT = 0.1
"""Seconds that one wait may have taken. A thread that others keep from running does not wait by itself."""


class Budget:
    """Seconds used since it was made: of the processor by this thread, and half of those in which it slept.

    To be ready and have no core is no sleep: a busy machine would use up what a search may take.

    >>> 0.0 <= Budget().used() < 1.0
    True
    """

    def __init__(self) -> None:
        self._own, self._clock, self._waits = time.thread_time(), time.perf_counter(), _waits()
        self._ready = _without_a_core()

    def used(self) -> float:
        """Seconds of the processor, and half of those in which the thread slept."""
        own, waits = time.thread_time() - self._own, _waits() - self._waits
        if not waits:  # it never gave up the processor by itself
            return own
        asleep = time.perf_counter() - self._clock - own - (_without_a_core() - self._ready)
        return own + min(max(0.0, asleep), LONGEST_WAIT * waits) / WAITING


class Limit(Budget):
    """A budget of so many seconds: ten times what is usually needed, so that a busy machine exceeds none.

    `was_over` tells whether it has ever been found to be used up, so that something was left undone.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.was_over = seconds, False

    def is_over(self) -> bool:
        """Whether they are used up."""
        self.was_over = self.was_over or self.used() > self.seconds
        return self.was_over


def took_more(what: str, seconds: float) -> str:
    """What is said of something for which there was not time enough.

    >>> took_more("the scan", 2.0)
    'the scan took more than 2 s'
    """
    return f"{what} took more than {seconds:g} s"


class Spent(NamedTuple):
    """Seconds of another process: those in which it ran, and those in which it was ready and had no core."""

    running: float
    ready: float


def spent_by(pid: int) -> Spent | None:
    """What a thread has spent until now, the first one of a process by its number; None where nobody tells.

    What is missing to the time on the wall it has waited by itself: asleep, or for a lock or a device.
    """
    try:
        running, ready, _ = _told(f"/proc/{pid}/schedstat").split()
    except (OSError, ValueError):
        return None
    return Spent(int(running) / 1e9, int(ready) / 1e9)


def _told(path: str) -> bytes:
    """A line that the kernel has for us: as a file object it would take three times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 256)
    finally:
        os.close(descriptor)


class Watched:
    """A process that is looked after from outside: how much of its time on the wall it has used.

    Waiting for a core is not its own doing, and counts for nothing.
    """

    def __init__(self, pid: int) -> None:
        self.pid, self._clock, self._spent = pid, time.monotonic(), spent_by(pid)

    def running(self) -> float | None:
        """Seconds in which it ran; None where nobody tells."""
        now = spent_by(self.pid)
        return None if now is None or self._spent is None else now.running - self._spent.running

    def waiting(self) -> float | None:
        """Seconds in which it did nothing, and could not have: asleep, or waiting for something."""
        now = spent_by(self.pid)
        if now is None or self._spent is None:
            return None
        busy = sum(now) - sum(self._spent)
        return max(0.0, time.monotonic() - self._clock - busy)

    def used(self) -> float:
        """Seconds in which it ran or waited; where nobody tells, all of them."""
        running, waiting = self.running(), self.waiting()
        return self.on_the_wall() if running is None or waiting is None else running + waiting

    def on_the_wall(self) -> float:
        """Seconds that a clock on the wall has gone on."""
        return time.monotonic() - self._clock


def limit_memory(more: int) -> tuple[int, int] | None:
    """Lets this process map so many bytes more than it has, so that one array cannot fill the machine.

    What goes beyond raises MemoryError. The limits from before, for `resource.setrlimit`; None where there is
    no such limit, which is on all but Linux.
    """
    try:
        mapped = int(_told("/proc/self/statm").split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_lower(mapped + more, before[0]), before[1]))
    except (AttributeError, OSError, ValueError):
        return None
    return before


def _lower(limit: int, present: int) -> int:
    return limit if present == resource.RLIM_INFINITY else min(limit, present)


def _without_a_core() -> float:
    """Seconds in which this thread was ready to run and others did; 0.0 where nobody tells."""
    spent = spent_by(threading.get_native_id())
    return 0.0 if spent is None else spent.ready


def _waits() -> int:
    """How often this thread has given up the processor by itself, as in a sleep."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return int(time.perf_counter() / LONGEST_WAIT)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
