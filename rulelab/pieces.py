"""Measurements in steps, so that the caller may stop, or let other code run, between any two of them."""

from __future__ import annotations

import gc
import numbers
import operator
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from .errors import MeasurementError
from .tables import Report

Found = TypeVar("Found", bound=Report, covariant=True)


class Progress(NamedTuple):
    """The progress of a measurement.

    Attributes
    ----------
    done, total : int
        The number of completed steps, and of all planned steps; a measurement with a time limit may end
        earlier.
    doing : str
        The last step, in words.
    """

    done: int
    total: int
    doing: str


def percent(progress: Progress) -> int:
    """The progress of a measurement in percent.

    >>> percent(Progress(1, 8, "round 1"))
    12
    """
    return round(100 * share_of(progress))


def share_of(progress: Progress) -> float:
    """The progress of a measurement as a fraction, at most 1."""
    return min(1.0, progress.done / max(1, progress.total))


LEAST_SHARE, LEAST_SECONDS = 0.1, 1.0
"""The fraction of a run, and its time in seconds, before which the remaining time is not estimated."""
_KEPT = 200
"""The approximate number of past states of a run that are kept."""


class Pace:
    """An estimate of the remaining time of a run, in seconds, from its speed in the second half of its time
    so far, because earlier steps may have been of another kind, and faster.

    `started` is the time of its start.

    >>> pace = Pace(0.0)
    >>> pace.left(0.25, 10.0), pace.left(0.5, 20.0)
    (30.0, 20.0)
    """

    def __init__(self, started: float):
        self.started = started
        self._seen: deque[tuple[float, float]] = deque([(started, 0.0)])

    def left(self, share: float, now: float) -> float | None:
        """The remaining seconds when this fraction of the work is done; None if it is too early to tell."""
        passed = now - self.started
        while len(self._seen) > 1 and self._seen[1][0] <= self.started + passed / 2:
            self._seen.popleft()
        then, done = self._seen[0]
        if now - self._seen[-1][0] >= passed / _KEPT:
            self._seen.append((now, share))
        if share < LEAST_SHARE or passed < LEAST_SECONDS or not done < share < 1:
            return None
        return (1 - share) * (now - then) / (share - done)


def left_in_words(seconds: float | None) -> str:
    """The remaining time in words; empty if it is unknown.

    >>> left_in_words(0.4), left_in_words(30.2), left_in_words(600.0), left_in_words(8000.0)
    ('less than 1 s left', 'about 30 s left', 'about 10 min left', 'about 2.2 h left')
    """
    if seconds is None:
        return ""
    if seconds < 1:
        return "less than 1 s left"
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.2g} h left"


class Measurement(Protocol[Found]):
    """A measurement in steps, each of them one timed block: about 2 ms, or one call if that is longer.

    `pieces` does the work and is iterated over once; nothing runs before its first step. `result` may be
    called at any time: it reports what is complete by then, even if that is nothing.
    """

    def pieces(self) -> Iterator[Progress]:
        """Do the work, one piece per step."""
        ...

    def result(self, *, interrupted: bool = False) -> Found:
        """The report of what is complete; `interrupted` says that it was stopped before its end."""
        ...


def run(measurement: Measurement[Found]) -> Found:
    """Run all steps and return the report; Ctrl-C ends it early, with what is complete.

    Any other exception is passed on: a function that cannot be called cannot be timed.
    """
    collecting = gc.isenabled()
    __tracebackhide__ = True
    try:
        for _ in measurement.pieces():
            pass
    except KeyboardInterrupt:
        return measurement.result(interrupted=True)
    finally:
        if collecting:  # timeit leaves it off if it is interrupted just after switching it off
            gc.enable()
    return measurement.result()


class Limited:
    """A measurement that ends after the step in which the limit of `seconds` is reached; None for no limit.

    `is_over` says whether the limit cut it short; its result is then that of an interrupted measurement.
    """

    def __init__(
        self,
        measurement: Measurement,
        seconds: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.measurement, self.seconds, self.clock = measurement, checked_seconds(seconds), clock
        self.is_over = False

    def pieces(self) -> Iterator[Progress]:
        """The steps within the time limit; the first one in any case."""
        __tracebackhide__ = True
        start = self.clock()
        for step in self.measurement.pieces():
            yield step
            over = self.seconds is not None and self.clock() - start >= self.seconds
            if over and step.done < step.total:
                self.is_over = True
                return

    def result(self, *, interrupted: bool = False) -> Any:
        """The report of what is complete."""
        return self.measurement.result(interrupted=interrupted or self.is_over)


def checked_rounds(rounds: int) -> int:
    """A number of rounds; MeasurementError unless it is whole and at least 1."""
    try:
        count = operator.index(rounds)
    except TypeError:
        raise MeasurementError(f"rounds must be a whole number, not {rounds!r}") from None
    if count < 1:
        raise MeasurementError(f"rounds must be a whole number of at least 1, not {count}")
    return count


def checked_seconds(seconds: float | None) -> float | None:
    """A time limit in seconds, or None for none; MeasurementError unless it is a non-negative number."""
    if seconds is None:
        return None
    if not isinstance(seconds, numbers.Real) or not seconds >= 0:
        raise MeasurementError(f"seconds must be a number of at least 0, not {seconds!r}")
    return float(seconds)
