"""Results saved as JSON files, loaded again, and compared with newer ones."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RecordError, an
from ..files import write_whole
from ..tables import Page, Report, Table, engineering
from .duel import BAND, CONFIDENCE, Duel, Timings, ratio_in_words
from .environment import differences, warnings_of
from .first import FirstGradient
from .scaling import Scaling

FORMAT = "rulelab-bench/1"
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Duel, Scaling, Timings, FirstGradient)}


def save(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a result of the bench as JSON.

    The file is replaced only when the new one is complete. Raises RecordError if `report` is not a result of
    the bench, or the file cannot be written.
    """
    kind = type(report).__name__
    if KINDS.get(kind) is not type(report):
        raise RecordError(f"An object of class {kind} cannot be saved; these can: {', '.join(KINDS)}")
    head = {"format": FORMAT, "kind": kind}
    text = json.dumps({**head, "result": json.loads(report.to_json())}, indent=1)
    try:
        write_whole(Path(path), text + "\n")
    except OSError as error:
        raise RecordError(f"Cannot write {Path(path).name}: {_why(error)}") from None


def load(path: str | os.PathLike[str]) -> Any:
    """The result written by `save`: a `Duel`, `Scaling`, `Timings` or `FirstGradient`.

    Raises RecordError if there is none, or none that this version can read.
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"Cannot read {name}: {_why(error)}") from None
    except UnicodeDecodeError:
        raise RecordError(f"{name} is not a saved result: it is not text") from None
    return _read(name, text)


def _read(name: str, text: str) -> Any:
    try:
        record = json.loads(text, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise RecordError(f"{name} is not a saved result: it is not JSON") from None
    except OverflowError:
        raise RecordError(f"{name} is damaged: it contains a number larger than any measurement") from None
    stamp = record.get("format") if isinstance(record, dict) else None
    if stamp != FORMAT:
        raise RecordError(f"{name} {_unread(stamp)}")
    kind = KINDS.get(record.get("kind")) if isinstance(record.get("kind"), str) else None
    if kind is None:
        raise RecordError(f"{name} holds a result of an unknown kind; the known kinds are {', '.join(KINDS)}")
    try:
        found = kind.from_dict(record["result"])
        found.page(), found.to_json()  # unusable contents fail here, not when they are shown
        return found
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise RecordError(f"{name} is damaged: it does not hold what {an(kind.__name__)} needs") from None


def _whole_number(text: str) -> int:
    """A whole number of JSON, which may have any length; OverflowError if it exceeds the range of floats."""
    number = int(text)
    float(number)
    return number


def _unread(stamp: object) -> str:
    if isinstance(stamp, str) and re.fullmatch(r"rulelab-bench/\d+", stamp):
        return f"was written by another version of rulelab, as {stamp}; this one reads {FORMAT}"
    return f'is not a saved result: its "format" is not {FORMAT}'


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


@dataclass(frozen=True)
class Change:
    """The change of one call: seconds before and now, and the interval of their ratio, if there is one."""

    name: str
    old: float
    new: float
    interval: tuple[float, float] | None = None

    @property
    def ratio(self) -> float:
        """The old time divided by the new one: 2.0 means half the time."""
        return self.old / self.new if self.new else math.nan

    @property
    def verdict(self) -> str:
        """ "faster", "slower" or "cannot tell": the new time compared with the old one."""
        if self.interval is None:
            return "cannot tell"
        low, high = self.interval
        return "faster" if low > BAND else "slower" if high < 1 / BAND else "cannot tell"

    def to_dict(self) -> dict:
        """The numbers in plain Python types."""
        interval = None if self.interval is None else list(self.interval)
        return {
            "name": self.name,
            "old": self.old,
            "new": self.new,
            "ratio": self.ratio,
            "interval": interval,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, repr=False)
class RecordComparison(Report):
    """An older result compared with a newer one.

    Attributes
    ----------
    changes : tuple of Change
        One entry for each call that is in both.
    surroundings : tuple of str
        How the environments of the two differ, or that one is unknown: then there is no interval and no
        verdict.
    missing : tuple of str
        The calls that are in only one of them.
    notes : tuple of str
        Warnings about the environments of the two.
    """

    changes: tuple[Change, ...]
    surroundings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "faster" or "slower" if all calls with a verdict agree, else "cannot tell"."""
        told = {change.verdict for change in self.changes} - {"cannot tell"}
        return told.pop() if len(told) == 1 else "cannot tell"

    def page(self) -> Page:
        lead = []
        if self.surroundings:
            lead.append("Cannot tell: measured in different or unknown environments.")
        rows = [
            (
                change.name,
                engineering(change.old, "s"),
                engineering(change.new, "s"),
                ratio_in_words(change.ratio),
                "–" if change.interval is None else " to ".join(map(ratio_in_words, change.interval)),
                change.verdict,
            )
            for change in self.changes
        ]
        columns = ("call", "median before", "median now", "before : now", "99% interval", "now")
        notes = [*self.surroundings, *self.notes]
        notes += [f"Only in one of them: {name}." for name in self.missing]
        verdicts = tuple(change.verdict for change in self.changes)
        table = Table("Before and now", columns, tuple(rows), verdicts=verdicts)
        return Page(tuple(lead), (table,), tuple(notes), self.verdict if lead else "")

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "changes": [change.to_dict() for change in self.changes],
            "surroundings": list(self.surroundings),
            "missing": list(self.missing),
            "notes": list(self.notes),
        }


def compare_records(old: Report, new: Report, *, rng: np.random.Generator | None = None) -> RecordComparison:
    """The changes from an older result to a newer one of the same kind.

    For duels and timings, each call's ratio of medians has a bootstrap interval. It covers the noise within
    each measurement but not the differences between two starts of a program, so a difference of a few per
    cent is better measured by a duel. Scalings and first gradients are saved as single numbers, which have no
    interval.

    Parameters
    ----------
    old, new : Report
        Two results of the same kind, as returned by `load`.
    rng : numpy.random.Generator, optional
        The generator for the bootstrap.

    Returns
    -------
    RecordComparison
        The changes, each with a verdict where possible.

    Raises
    ------
    RecordError
        If the two are not of the same kind.

    Examples
    --------
    >>> from rulelab.bench import measure
    >>> timings = measure(lambda: sum(range(100)), rounds=3)
    >>> type(compare_records(timings, timings)).__name__
    'RecordComparison'
    """
    if type(old) is not type(new) or type(old).__name__ not in KINDS:
        kinds = f"{type(old).__name__} and {type(new).__name__}"
        raise RecordError(f"Only results of the same kind can be compared, not {kinds}")
    before, now = dict(_calls(old)), dict(_calls(new))
    surroundings = tuple(_surroundings(_stamp(old), _stamp(new)))
    rng = np.random.default_rng(20) if rng is None else rng
    changes = [
        _change(name, before[name], now[name], None if surroundings else rng)
        for name in before
        if name in now
    ]
    missing = tuple(name for name in [*before, *now] if (name in before) != (name in now))
    both = (("Before", old), ("Now", new))
    notes = [f"{when}: {said}" for when, report in both for said in warnings_of(_stamp(report))]
    return RecordComparison(tuple(changes), surroundings, missing, tuple(notes))


def _stamp(report: Any) -> dict:
    return getattr(report, "environment", {})


def _surroundings(old: dict, new: dict) -> list[str]:
    """How two environments differ; the timings of a duel have none of their own."""
    if old and new:
        return differences(old, new)
    unknown = " and ".join(when for when, stamp in (("before", old), ("now", new)) if not stamp)
    return [f"Where it was measured is not known: {unknown}."]


def _calls(report: Any) -> Iterator[tuple[str, Sequence[float]]]:
    """Each call of a result by name, with its seconds per call: those of all blocks, or one number."""
    if isinstance(report, Timings):
        yield report.name, report.timings
    elif isinstance(report, Duel):
        for timings in (report.left, report.right, *report.others):
            yield timings.name, timings.timings
    elif isinstance(report, FirstGradient):
        yield f"first gradient of {report.name}", [report.first]
        yield f"second gradient of {report.name}", [report.second]
    elif isinstance(report, Scaling):
        for line in report.lines:
            for size, median in zip(line.sizes, line.medians):
                yield f"{line.name}, N = {size:,}", [median]


def _change(name: str, old: Sequence[float], new: Sequence[float], rng: np.random.Generator | None) -> Change:
    before, now = (float(np.median(seconds)) if len(seconds) else math.nan for seconds in (old, new))
    if rng is None or min(len(old), len(new)) < 2:
        return Change(name, before, now)
    return Change(name, before, now, _interval(old, new, rng))


def _interval(
    old: Sequence[float], new: Sequence[float], rng: np.random.Generator, samples: int = 2000
) -> tuple[float, float]:
    """The bootstrap interval of the ratio of two medians that were measured independently."""
    before, now = (
        np.median(np.asarray(seconds)[rng.integers(0, len(seconds), (samples, len(seconds)))], axis=1)
        for seconds in (old, new)
    )
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(before / now, [tail, 1 - tail])
    return float(low), float(high)
