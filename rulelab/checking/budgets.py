"""How much time a search has used: its own, so that other people's work on the machine changes no verdict."""

from __future__ import annotations

import time

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

WAITING = 2.0
"""How many seconds of waiting count as one of the processor."""
LONGEST_WAIT = 0.1
"""Seconds that one wait may have taken. A thread that others keep from running does not wait by itself."""


class Budget:
    """Seconds used since it was made: of the processor by this thread, and half of those spent in waiting.

    >>> 0.0 <= Budget().used() < 1.0
    True
    """

    def __init__(self) -> None:
        self._own, self._clock, self._waits = time.thread_time(), time.perf_counter(), _waits()

    def used(self) -> float:
        """Seconds of the processor, and half of those in which the thread slept."""
        own, clock = time.thread_time() - self._own, time.perf_counter() - self._clock
        return own + min(max(0.0, clock - own), LONGEST_WAIT * (_waits() - self._waits)) / WAITING


class Limit(Budget):
    """A budget of so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def is_over(self) -> bool:
        """Whether they are used up."""
        return self.used() > self.seconds


def _waits() -> int:
    """How often this thread has given up the processor by itself, as in a sleep."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return int(time.perf_counter() / LONGEST_WAIT)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
