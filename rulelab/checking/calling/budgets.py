"""How much time a search has used: its own time only, so that other processes on the machine change no
verdict. And how much memory it may use.
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
"""How many seconds of waiting count as one second of processor time."""
LONGEST_WAIT = 0.1
"""The longest time that one voluntary wait counts for. A thread that others keep from running does not wait
voluntarily.
"""


class Budget:
    """The seconds used since it was created: processor time of this thread, and half of the time it slept.

    Time in which the thread was ready but had no core does not count, or a busy machine would use up the
    budget of a search.

    >>> 0.0 <= Budget().used() < 1.0
    True
    """

    def __init__(self) -> None:
        self._own, self._clock, self._waits = time.thread_time(), time.perf_counter(), _waits()
        self._ready = _without_a_core()

    def used(self) -> float:
        """Seconds of processor time, and half of those in which the thread slept."""
        own, waits = time.thread_time() - self._own, _waits() - self._waits
        if not waits:  # it never gave up the processor voluntarily
            return own
        asleep = time.perf_counter() - self._clock - own - (_without_a_core() - self._ready)
        return own + min(max(0.0, asleep), LONGEST_WAIT * waits) / WAITING


class Limit(Budget):
    """A budget with a limit: ten times what is usually needed, so that it is not exceeded on a busy machine
    either.

    `was_over` says whether it was ever found to be used up, so that something was left undone.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.was_over = seconds, False

    def is_over(self) -> bool:
        """Whether the seconds are used up."""
        self.was_over = self.was_over or self.used() > self.seconds
        return self.was_over


def took_more(what: str, seconds: float) -> str:
    """The message for something that was not finished in time.

    >>> took_more("the scan", 2.0)
    'the scan took more than 2 s'
    """
    return f"{what} took more than {seconds:g} s"


class ThreadTimes(NamedTuple):
    """Seconds in which a thread ran, and in which it was ready but had no core."""

    running: float
    ready: float


def thread_times_of(pid: int) -> ThreadTimes | None:
    """The time used so far by a thread, or the first thread of a process, by its id; None if the system does
    not report it.

    The rest of the wall-clock time it waited voluntarily: asleep, or for a lock or a device.
    """
    try:
        running, ready, _ = _told(f"/proc/{pid}/schedstat").split()
    except (OSError, ValueError):
        return None
    return ThreadTimes(int(running) / 1e9, int(ready) / 1e9)


def _told(path: str) -> bytes:
    """A line from a file of the kernel. A file object would take three times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 256)
    finally:
        os.close(descriptor)


class ProcessClock:
    """A process watched from outside: how much of the wall-clock time it has used.

    Waiting for a core is not its own doing and does not count.
    """

    def __init__(self, pid: int) -> None:
        self.pid, self._clock, self._spent = pid, time.monotonic(), thread_times_of(pid)

    def running(self) -> float | None:
        """Seconds in which it ran; None if the system does not report it."""
        now = thread_times_of(self.pid)
        return None if now is None or self._spent is None else now.running - self._spent.running

    def waiting(self) -> float | None:
        """Seconds in which it neither ran nor was ready to: asleep, or waiting for something."""
        now = thread_times_of(self.pid)
        if now is None or self._spent is None:
            return None
        busy = sum(now) - sum(self._spent)
        return max(0.0, time.monotonic() - self._clock - busy)

    def used(self) -> float:
        """Seconds in which it ran or waited; all of them if the system does not report it."""
        running, waiting = self.running(), self.waiting()
        return self.on_the_wall() if running is None or waiting is None else running + waiting

    def on_the_wall(self) -> float:
        """Seconds of wall-clock time."""
        return time.monotonic() - self._clock


def limit_memory(more: int) -> tuple[int, int] | None:
    """Limit the memory that this process may map to `more` bytes beyond the present, so that one array cannot
    exhaust the machine's memory.

    Anything beyond raises MemoryError. Return the previous limits, for `resource.setrlimit`, or None if there
    is no such limit, as on all systems except Linux.
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
    """Seconds in which this thread was ready but had no core; 0.0 if the system does not report it."""
    spent = thread_times_of(threading.get_native_id())
    return 0.0 if spent is None else spent.ready


def _waits() -> int:
    """How often this thread has given up the processor voluntarily, as in a sleep."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return int(time.perf_counter() / LONGEST_WAIT)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
