"""The amount of work that a judge has done, counted in operations on traced numbers.

Time measured by a clock depends on the machine and its load; a count is the same everywhere. So is what is
tried, and what is left out because it would be too much work.
"""

from __future__ import annotations

PER_SECOND = 80_000
"""Operations that count as one second of work: about as many as a processor does in a second."""
A_RUN = 40
"""Operations that take as long as starting and ending a run on traced numbers."""


class _Counter:
    """Counts all operations of this process."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = 0


COUNTER = _Counter()


class WorkCounter:
    """The work done since the object was created.

    >>> work = WorkCounter()
    >>> COUNTER.done += PER_SECOND
    >>> work.used()
    1.0
    """

    def __init__(self) -> None:
        self._begun = COUNTER.done

    def used(self) -> float:
        """Seconds of work."""
        return (COUNTER.done - self._begun) / PER_SECOND


class WorkLimit(WorkCounter):
    """A limit of a number of seconds of work."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.used() >= self.seconds
