"""How long a matrix of derivatives may take, and what of it is there when that is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .progress import Progress


class Allowance:
    """The time that somebody gives a Jacobian or a Hessian: `seconds`, None for as long as it takes.

    No row or column is begun when it is over, and the first Ctrl-C ends it as well, once there is one. What
    was not computed is nan. Afterwards `done` of `total` `parts` ("rows" or "columns") are there.

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
        """Whether something was left out."""
        return self.done < self.total

    @property
    def words(self) -> str:
        """What there is, in words; nothing where all of it is."""
        if not self.is_partial:
            return ""
        why = "stopped" if self.interrupted else f"at the limit of {self.seconds:g} s"
        return f"partial, {why}: {self.done:,} of {self.total:,} {self.parts}; the others are nan"

    @property
    def is_over(self) -> bool:
        """Whether no further part is to be begun; the first one always is."""
        over = self.seconds is not None and self._clock() - self._start >= self.seconds
        return bool(self.done) and over


def counted(
    total: int, doing: str, parts: str, compute: Callable[[int], Any], allowance: Allowance | None
) -> int:
    """How many of `total` parts were computed, by `compute(number)` one after the other, all of them unless
    an allowance says otherwise.
    """
    __tracebackhide__ = True
    if allowance is not None:
        allowance.total, allowance.parts = total, parts
    with Progress(total, f"{doing}, {parts}") as progress:
        return _computed(total, compute, allowance, progress)


def _computed(
    total: int, compute: Callable[[int], Any], allowance: Allowance | None, progress: Progress
) -> int:
    """The same beside a bar that is open. A function of its own: a loop in the block that closes the bar
    could be left, by Ctrl-C at its jump back, without closing it.
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
