"""What is measured in pieces, so that whoever drives it may stop, or let others run, between any two."""

from __future__ import annotations

import gc
import numbers
import operator
from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeVar

from .errors import MeasurementError
from .tables import Report

Found = TypeVar("Found", bound=Report, covariant=True)


class Progress(NamedTuple):
    """How far a measurement is: `done` of `total` pieces, and what was `doing` in the last one, in words.

    `total` is what is planned; a measurement with a limit of time may end before.
    """

    done: int
    total: int
    doing: str


class Measurement(Protocol[Found]):
    """Something measured in pieces, each of them one timed block: about 2 ms, or one call if that is longer.

    `pieces` does the work and is gone through once; nothing runs before its first step. `result` may be
    asked for at any moment: it is the report of what is whole by then, also when that is nothing.
    """

    def pieces(self) -> Iterator[Progress]:
        """Do the work, a piece at each step."""
        ...

    def result(self, *, interrupted: bool = False) -> Found:
        """The report of what is there; `interrupted` says that it was stopped before its end."""
        ...


def run(measurement: Measurement[Found]) -> Found:
    """Do all the pieces and give the report; Ctrl-C ends it early, with what there is.

    Any other error is the caller's: a function that cannot be called cannot be timed.
    """
    collecting = gc.isenabled()
    __tracebackhide__ = True
    try:
        for _ in measurement.pieces():
            pass
    except KeyboardInterrupt:
        return measurement.result(interrupted=True)
    finally:
        if collecting:  # timeit leaves it off where an interrupt comes just after it was switched off
            gc.enable()
    return measurement.result()


def checked_rounds(rounds: int) -> int:
    """A number of rounds; MeasurementError unless it is whole and at least 1."""
    try:
        count = operator.index(rounds)
    except TypeError:
        raise MeasurementError(f"rounds is a whole number, not {rounds!r}") from None
    if count < 1:
        raise MeasurementError(f"rounds is a whole number from 1 on, not {count}")
    return count


def checked_seconds(seconds: float | None) -> float | None:
    """A limit of time in seconds, None for none; MeasurementError unless it is a number and not negative."""
    if seconds is None:
        return None
    if not isinstance(seconds, numbers.Real) or not seconds >= 0:
        raise MeasurementError(f"seconds is a number from 0 on, not {seconds!r}")
    return float(seconds)
