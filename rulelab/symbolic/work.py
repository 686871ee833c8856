"""How much work a judge has done, counted in operations on traced numbers.

A clock of any kind gives a different answer on another machine, or beside other programs; a count is the same
everywhere. So what is tried, and what is left out because it would be too much, is the same everywhere too.
"""

from __future__ import annotations

PER_SECOND = 80_000
"""Operations that make what is called a second of work: about as many as a processor does in one."""
A_RUN = 40
"""Operations that take as long as beginning and ending a run on traced numbers."""


class _Counter:
    """All operations of this process."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = 0


COUNTER = _Counter()


class Work:
    """The work done since it was made.

    >>> work = Work()
    >>> COUNTER.done += PER_SECOND
    >>> work.used()
    1.0
    """

    def __init__(self) -> None:
        self._begun = COUNTER.done

    def used(self) -> float:
        """Seconds of work."""
        return (COUNTER.done - self._begun) / PER_SECOND


class WorkLimit(Work):
    """So many seconds of work."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def is_over(self) -> bool:
        """Whether they are used up."""
        return self.used() >= self.seconds
