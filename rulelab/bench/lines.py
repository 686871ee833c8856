"""The results of a profile: seconds and bytes by line, and their layout beside the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..tables import Page, Report, Table, engineering
from ..verdicts import HEADLINE

COLUMNS = ("line", "source", "runs", "forward", "reverse", "share", "# = 10%", "held", "remark")
SHOWN_LINES = 40
"""A function with more lines than this is shown without the lines that did not run."""


@dataclass(frozen=True)
class Line:
    """The costs of one line of the author's code in one call: seconds, and bytes held for the reverse sweep.

    `forward`, `reverse` and `held` include everything that the line calls; `own` (seconds of both sweeps)
    excludes the author's functions that have a table of their own. `runs` is how often the forward sweep
    reached the line. The seconds of a recursive call count once, at the lines where they are spent.
    """

    number: int
    text: str
    runs: int = 0
    forward: float = 0.0
    reverse: float = 0.0
    own: float = 0.0
    held: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """The seconds of both sweeps."""
        return self.forward + self.reverse

    @property
    def ran(self) -> bool:
        """Whether the line ran, took time or holds memory."""
        return bool(self.runs or self.seconds or self.held)


@dataclass(frozen=True)
class FunctionLines:
    """The lines of one of the author's functions for which a pass was compiled."""

    name: str
    file: str
    place: str
    calls: int
    lines: tuple[Line, ...]

    @property
    def own(self) -> float:
        """Seconds spent in its lines in one profiled call, without functions that have their own table."""
        return sum(line.own for line in self.lines)


@dataclass(frozen=True, repr=False)
class Profile(Report):
    """The time and the memory of both sweeps of one call, by line of the author's code.

    Attributes
    ----------
    call : str
        The call, as it was written.
    forward, reverse : float
        The seconds of the sweeps without probes, the minimum of `rounds` runs; nan if none was finished:
        then the seconds of the lines are those of one run, compiling included.
    outside : float
        The seconds that belong to no line: the rule of the function itself, or the binding of its
        arguments.
    held, peak : int or None
        The bytes that live from the forward to the reverse sweep, and the peak of what the reverse sweep
        allocated in addition; None if the profile was stopped before they were measured.
    functions : tuple of FunctionLines
        The lines of each of the author's functions, the hottest function first.
    rounds, calls : int
        The number of timed runs, and of all calls of the function.
    answered : str or None
        The rule that was used for the call itself, if there was one.
    interrupted : bool
        Whether it was stopped before its end.
    mode : str
        The refresh mode, "auto" or "manual".
    """

    call: str
    forward: float
    reverse: float
    outside: float
    held: int | None
    peak: int | None
    functions: tuple[FunctionLines, ...]
    rounds: int
    calls: int
    answered: str | None = None
    interrupted: bool = False
    mode: str = "auto"

    @property
    def seconds(self) -> float:
        """The total time, of which the shares are fractions."""
        both = self.forward + self.reverse
        return both if both == both else self.outside + sum(function.own for function in self.functions)

    @property
    def hottest(self) -> tuple[FunctionLines, Line] | None:
        """The line with the largest time of its own, and its function."""
        lines = [(function, line) for function in self.functions for line in function.lines if line.own]
        return max(lines, key=lambda pair: pair[1].own, default=None)

    def share(self, seconds: float) -> float:
        """The fraction of the total time that some seconds are; 0 if nothing was measured."""
        return seconds / self.seconds if self.seconds else 0.0

    @property
    def sentence(self) -> str:
        """The totals, and the line to look at first."""
        if not self.seconds:
            return f"{self.call}: nothing measured, stopped before the first run finished."
        parts = [f"{engineering(self.forward, 's')} forward, {engineering(self.reverse, 's')} reverse"]
        if self.forward != self.forward or self.reverse != self.reverse:
            parts = ["stopped in its first run, which includes compiling"]
        if self.held is not None:
            parts[0] += f", {engineering(self.held, 'B')} held between them"
        if self.answered is not None:
            parts.append(self.answered)
        if self.answered is not None and not self.functions:
            parts.append("a rule has no times line by line")
        if self.hottest is not None:
            function, line = self.hottest
            where = f" of {function.name}" if len(self.functions) > 1 else ""
            parts.append(f"{_percent(self.share(line.own))} at line {line.number}{where}")
            text = line.text.strip()
            if text and len(f"{self.call}: {'; '.join(parts)}: {text}") <= HEADLINE:
                parts[-1] += f": {text}"
        return f"{self.call}: {'; '.join(parts)}"

    def page(self) -> Page:
        if self.functions:
            tables = tuple(self._table(function) for function in self.functions)
        else:
            tables = (self._whole(),) if self.seconds else ()
        return Page((self.sentence,), tables, tuple(self._notes()))

    def _table(self, function: FunctionLines) -> Table:
        own = _percent(self.share(function.own))
        calls = "1 call" if function.calls == 1 else f"{function.calls:,} calls"
        caption = f"{function.name}, {function.place}: {own} of the time in its own lines, {calls}"
        rows = [self._row(line) for line in _shown(function.lines)]
        most = len(COLUMNS) if any(row[-1] for row in rows) else len(COLUMNS) - 1
        return Table(caption, COLUMNS[:most], tuple(row[:most] for row in rows), verbatim=("source",))

    def _row(self, line: Line | None) -> tuple[str, ...]:
        if line is None:
            return ("…", *[""] * 8)
        if not line.ran:
            return (str(line.number), line.text, *[""] * 7)
        share = self.share(line.seconds)
        return (
            str(line.number),
            line.text,
            f"{line.runs:,}",
            engineering(line.forward, "s") if line.forward else "",
            engineering(line.reverse, "s") if line.reverse else "",
            _percent(share),
            "#" * round(10 * share),
            engineering(line.held, "B") if line.held else "",
            "; ".join(line.remarks),
        )

    def _whole(self) -> Table:
        row = (
            self.call,
            engineering(self.forward, "s"),
            engineering(self.reverse, "s"),
            "–" if self.held is None else engineering(self.held, "B"),
        )
        return Table("The rule as a whole", ("call", "forward", "reverse", "held"), (row,))

    def _notes(self) -> Iterator[str]:
        if self.functions and len(self.functions) > 1:
            yield "A line's time and bytes include what it calls; the hottest function comes first."
        if self.functions and self.share(self.outside) >= 0.02:
            part = _percent(self.share(self.outside))
            yield f"{part} of the time belongs to no line: passing the arguments, reading the clock."
        if self._lines_are_shared():
            yield "Functions that share a line share its bytes."
        if self.mode == "manual":
            yield "The refresh mode is manual: totals are of the passes in use, lines of newly compiled ones."
        if self.peak is not None:
            yield f"At its peak the reverse sweep took {engineering(self.peak, 'B')} more than was held."
        if self.interrupted:
            yield f"Stopped after {self.rounds} rounds; the table shows the results so far."
        else:
            yield f"The minimum of {self.rounds} rounds; the function ran {self.calls} times."

    def _lines_are_shared(self) -> bool:
        seen = [
            (function.file, line.number)
            for function in self.functions
            for line in function.lines
            if line.held
        ]
        return len(seen) > len(set(seen))

    def to_dict(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "forward": self.forward,
            "reverse": self.reverse,
            "outside": self.outside,
            "held": self.held,
            "peak": self.peak,
            "rounds": self.rounds,
            "calls": self.calls,
            "answered": self.answered,
            "interrupted": self.interrupted,
            "mode": self.mode,
            "functions": [
                {
                    "name": function.name,
                    "file": function.file,
                    "place": function.place,
                    "calls": function.calls,
                    "own": function.own,
                    "lines": [
                        {**vars(line), "remarks": list(line.remarks)} for line in function.lines if line.ran
                    ],
                }
                for function in self.functions
            ],
        }


def _shown(lines: Sequence[Line]) -> list[Line | None]:
    """The lines that a table shows; None stands for those left out of a long function."""
    if len(lines) <= SHOWN_LINES:
        return list(lines)
    shown: list[Line | None] = []
    for number, line in enumerate(lines):
        if line.ran or number == 0:
            shown.append(line)
        elif shown[-1] is not None:
            shown.append(None)
    return shown


def _percent(share: float) -> str:
    return "< 1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"
