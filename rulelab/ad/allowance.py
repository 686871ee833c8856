"""The time limit of a matrix of derivatives, and which part of it was computed by then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .progress import Progress


class Allowance:
    """The time limit of a Jacobian or a Hessian: `seconds`, or None for no limit.

    Once the time is up, no further row or column is started. The first Ctrl-C ends the computation as well,
    provided that one part is complete. Entries that were not computed are nan. Afterwards `done` of `total`
    `parts` ("rows" or "columns") are complete.

    >>> allowance = Allowance(None)
    >>> allowance.is_partial, allowance.words
    (False, '')
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock, self._start = seconds, clock, clock()
        self.interrupted = False
        self.done = self.total = 0
        self.parts = "rows"

    @property
    def is_partial(self) -> bool:
        """Whether some parts were not computed."""
        return self.done < self.total

    @property
    def words(self) -> str:
        """What was computed, in words; empty if all of it was."""
        if not self.is_partial:
            return ""
        why = "stopped" if self.interrupted else f"at the limit of {self.seconds:g} s"
        return f"partial, {why}: {self.done:,} of {self.total:,} {self.parts}; the others are nan"

    @property
    def is_over(self) -> bool:
        """Whether no further part may be started; the first always may."""
        over = self.seconds is not None and self._clock() - self._start >= self.seconds
        return bool(self.done) and over


def counted(
    total: int, doing: str, parts: str, compute: Callable[[int], Any], allowance: Allowance | None
) -> int:
    """Call `compute(number)` for each of `total` parts in order, and return how many were computed: all of
    them unless an allowance ends it earlier.
    """
    __tracebackhide__ = True
    if allowance is not None:
        allowance.total, allowance.parts = total, parts
    with Progress(total, f"{doing}, {parts}") as progress:
        return _computed(total, compute, allowance, progress)


def _computed(
    total: int, compute: Callable[[int], Any], allowance: Allowance | None, progress: Progress
) -> int:
    """`counted` below an open progress bar. It is a separate function because a loop inside the `with` block
    could be left without closing the bar, by Ctrl-C at the jump back.
    """
    __tracebackhide__ = True
    for number in range(total):
        if allowance is not None and allowance.is_over:
            return number
        try:
            compute(number)
        except KeyboardInterrupt:
            if allowance is None or not number:
                raise
            allowance.interrupted = True
            return number
        progress.step()
        if allowance is not None:
            allowance.done = number + 1
    return total
