"""The report of a check of a rule: the verdict, each check, the mistake, and the points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ...errors import Place, RuleError, printable
from ...tables import Page, Report, Table, engineering
from ...verdicts import CANNOT_TELL, RIGHT, headed, word_of
from ..measuring.shortening import plain_data, shortened
from ..probing.findings import UNKNOWN, WARNING, WRONG, Diagnosis, Finding
from .report_page import changed_lines, html_of_check

MOST_FOUND, MOST_ROWS, MOST_LINES = 3, 6, 8
"""How many lines of each kind the text of a report has at most, so that it fits on a screen."""


class WrongRuleError(RuleError, AssertionError):
    """A test found that a rule is wrong. `report` is the whole `RuleCheck`."""

    report: RuleCheck


class InconclusiveCheckError(RuleError, AssertionError):
    """A test could neither confirm a rule nor find it wrong. `report` is the whole `RuleCheck`."""

    report: RuleCheck


@dataclass(frozen=True)
class CheckSummary:
    """One kind of check: how often it was made, its verdict, and that in words."""

    name: str
    verdict: str
    times: int
    words: str = ""


@dataclass(frozen=True)
class PointShown:
    """A point of a check as it is shown: where its numbers come from, and its inputs in short form."""

    origin: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class RuleCheck(Report):
    """Whether a rule is right, as far as numbers can say.

    `verdict` is "right", "wrong" or "inconclusive": right only if every check found its numbers and all of
    them agree with two families of differences. The report is true if the rule is right.

    Attributes
    ----------
    function : str
        The function that the rule is for.
    mode : str
        "rrule", or "frule" for a forward rule.
    by : str
        The name of the rule in the report.
    names : tuple of str
        The parameters of the function.
    place : Place or None
        Where the rule is stated.
    checks : tuple of Checked
        The kinds of checks, each with its verdict.
    findings : tuple of Finding
        What was found, including warnings and what could not be judged.
    diagnoses : tuple of Diagnosis
        The mistakes behind the findings, each with a corrected line if one was found.
    points : tuple of PointShown
        The arguments at which it was checked.
    notes : tuple of str
        What else should be known: that arguments were drawn, for instance.
    seconds : float
        How long the check took.
    interrupted : bool
        Whether it was stopped before its end: then the verdict is never "right".
    loses : str
        Where the rule loses digits, which is no mistake; empty if it does not.
    no_number_at : str
        Where a right rule gives nan or infinity although the function has a slope: far away, or at a number
        in the code that was not given.
    beside : str
        For which other kinds of arguments a right rule has a different answer, if nothing says which are
        intended.
    at_ties : str
        What the rule does at ties that were not given.
    unreached : str
        Which lines of the rule no point reached, so that it is not known whether they are right.
    """

    function: str
    mode: str
    by: str
    names: tuple[str, ...] = ()
    place: Place | None = None
    checks: tuple[CheckSummary, ...] = ()
    findings: tuple[Finding, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    points: tuple[PointShown, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    loses: str = ""
    no_number_at: str = ""
    beside: str = ""
    at_ties: str = ""
    unreached: str = ""

    @property
    def verdict(self) -> str:
        levels = {finding.level for finding in self.findings}
        if WRONG in levels:
            return WRONG
        return UNKNOWN if UNKNOWN in levels or self.interrupted or not self.points else RIGHT

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    @property
    def sentence(self) -> str:
        """The verdict as a sentence, with the mistake if it is known, otherwise with the first finding."""
        who = f"{self.by} of {self.function}" if self.by != self.function else self.function
        if self.verdict == RIGHT:
            where = f"; it loses digits at {self.loses}" if self.loses else ""
            where += f"; nan or infinite at {self.no_number_at}" if self.no_number_at else ""
            where += f", but at ties: {self.at_ties}" if self.at_ties else ""
            other = "".join(f"; {words}" for words in (self.unreached, self.beside) if words)
            return f"{who} is right at {_counted(len(self.points), 'point')}{where}{other}."
        if self.verdict == WRONG:
            return f"{who} is {self.reason if self.reason.startswith('wrong ') else f'wrong: {self.reason}'}."
        if self.interrupted and not any(f.level == UNKNOWN for f in self.findings):
            points = _counted(len(self.points), "point")
            return f"{who}: {CANNOT_TELL}: stopped after {points}, at which it is right."
        return f"{who}: {CANNOT_TELL}: {self.reason}."

    @property
    def headlines(self) -> tuple[str, ...]:
        """The sentence as a headline, with a line below if it is too long for one."""
        return headed(self.sentence, self.function, self.by, *self.names)

    @property
    def reason(self) -> str:
        """Why the verdict is not "right", in words: the mistake, or the first finding. Empty if it is
        "right".
        """
        if self.verdict == WRONG:
            return self.diagnoses[0].words if self.diagnoses else self._first(WRONG).words
        if any(finding.level == UNKNOWN for finding in self.findings):
            return self._first(UNKNOWN).words
        return "" if self.verdict == RIGHT else "it was stopped" if self.points else "no point"

    @property
    def in_short(self) -> str:
        """The verdict in one line, with the line of the mistake, for where space is short."""
        if self.verdict == RIGHT:
            points = _counted(len(self.points), "point")
            where = f", loses digits at {self.loses}" if self.loses else ""
            where += f", nan or infinite at {self.no_number_at}" if self.no_number_at else ""
            where += f", but at ties: {self.at_ties}" if self.at_ties else ""
            where += "".join(f", {words}" for words in (self.unreached, self.beside) if words)
            return f"right at {points}{where}, in {engineering(self.seconds, 's')}"
        place = self.diagnoses[0].place if self.diagnoses else None
        where = f" ({place.label()})" if place is not None else ""
        word, reason = word_of(self.verdict), self.reason
        return f"{reason}{where}" if reason.startswith(f"{word} ") else f"{word}: {reason}{where}"

    def _first(self, level: str) -> Finding:
        return next(finding for finding in self.findings if finding.level == level)

    def lines(self) -> Iterator[str]:
        """The report as lines of text, at most a screen: what is left out is counted."""
        yield from self.headlines
        yield from self.details()
        if self.failed_checks():
            table = _checks_table(self.failed_checks()[:MOST_ROWS], "Checks that are not right")
            yield from table.text().split("\n")
        yield f"{self.extent}, {self.closing}"

    def details(self) -> Iterator[str]:
        """The lines between the verdict and the times: the mistake, the worst number, findings, notes."""
        for one in self.diagnoses[:1]:
            yield from _diagnosis_lines(one)
        yield from _at_most(MOST_FOUND, [f"also: {one.words}" for one in self.diagnoses[1:]], "mistake")
        yield from self.worst_lines()
        yield from _at_most(MOST_FOUND, list(self.other_findings()), "finding")
        yield from (f"note: {note}" for note in self.notes)

    def other_findings(self) -> Iterator[str]:
        """Warnings and, if no diagnosis explains them, findings besides the verdict; each once."""
        shown = {self.reason}
        for finding in self.findings:
            told = finding.level == WARNING or (not self.diagnoses and finding.worst is None)
            if told and finding.words not in shown:
                shown.add(finding.words)
                yield f"{'warning' if finding.level == WARNING else 'found'}: {finding.words}"

    def failed_checks(self) -> list[CheckSummary]:
        """The kinds of checks whose verdict is not "right"."""
        return [check for check in self.checks if check.verdict != RIGHT]

    @property
    def extent(self) -> str:
        """The number of checks and of points, in words."""
        if not self.points:
            return "No point was checked"
        return f"{_counted(len(self.checks), 'check')} at {_counted(len(self.points), 'point')}"

    @property
    def closing(self) -> str:
        """How long the check took, and whether it was stopped."""
        return engineering(self.seconds, "s") + (", stopped early" if self.interrupted else "")

    @property
    def worst(self) -> Finding | None:
        """The first finding with a number: its `worst` is the one that is furthest off."""
        return next((finding for finding in self.findings if finding.worst is not None), None)

    def worst_lines(self) -> Iterator[str]:
        """The number that is furthest off with both values and the error bar, and the inputs there."""
        finding = self.worst
        if finding is None or finding.worst is None:
            return
        worst = finding.worst
        yield (
            f"{finding.check} {worst.name}: {self.says} {worst.found:.10g}, "
            f"differences {worst.expected:.10g} ± {worst.error:.1g}"
        )
        where = self.where(finding)
        if where:
            yield f"at {where}"

    says = "the rule gives"
    wrong_error: ClassVar[type[RuleError]] = WrongRuleError

    def where(self, finding: Finding) -> str:
        """The inputs at a finding, and the cotangent or tangent."""
        if finding.probe is None:
            return ""
        at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.names, finding.probe.point.inputs))
        seed = finding.worst.seed if finding.worst is not None else ()
        what = "tangent" if self.mode == "frule" else "cotangent"
        return at + (f", for the {what} {_numbers(seed)}" if seed else "")

    def __str__(self) -> str:
        return "\n".join(printable(line) for line in self.lines())

    def _repr_html_(self) -> str:
        return html_of_check(self)

    def page(self) -> Page:
        tables = [
            Table(f"The mistake: {one.words}", ("", "text"), tuple(_diagnosis_rows(one)), verbatim=("text",))
            for one in self.diagnoses
        ]
        tables.append(self.checks_table(folded=bool(self)))
        if self.points:
            tables.append(self.points_table())
        lead = (*self.headlines, *self.worst_lines())
        notes = (*self.other_findings(), *(f"note: {note}" for note in self.notes), self.closing)
        return Page(lead, tuple(tables), notes, self.verdict)

    def numbers_table(self) -> Table | None:
        """A table of the number that is furthest off and what it should be; None if none is wrong."""
        finding = self.worst
        if finding is None or finding.worst is None:
            return None
        worst = finding.worst
        row = (
            f"{finding.check} {worst.name}",
            f"{worst.found:.10g}",
            f"{worst.expected:.10g} ± {worst.error:.1g}",
            f"{abs(worst.found - worst.expected):.3g}",
        )
        return Table("Furthest off", ("", self.says, "differences", "apart"), (row,))

    def checks_table(self, folded: bool = False) -> Table:
        """A table with a row for each kind of check."""
        return _checks_table(self.checks, "Checks", folded)

    def points_table(self) -> Table:
        """A table with a row for each point."""
        rows = tuple((str(i), p.origin, *p.inputs) for i, p in enumerate(self.points, 1))
        count = max((len(p.inputs) for p in self.points), default=0)
        names = (*self.names, *("" for _ in range(len(self.names), count)))[:count]
        return Table(
            f"Inputs of the {_counted(len(rows), 'point')}", ("point", "from", *names), rows, folded=True
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "mode": self.mode,
            "by": self.by,
            "place": None if self.place is None else self.place.label(),
            "verdict": self.verdict,
            "sentence": self.sentence,
            "checks": [
                {"name": c.name, "verdict": c.verdict, "times": c.times, "words": c.words}
                for c in self.checks
            ],
            "findings": [_finding(f) for f in self.findings],
            "diagnoses": [
                {
                    "mistake": d.mistake,
                    "words": d.words,
                    "argument": d.argument,
                    "place": None if d.place is None else d.place.label(),
                    "diff": d.diff,
                    "advice": d.advice,
                    "left": d.left,
                }
                for d in self.diagnoses
            ],
            "points": [{"from": p.origin, "inputs": list(p.inputs)} for p in self.points],
            "notes": list(self.notes),
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "loses": self.loses,
            "no_number_at": self.no_number_at,
            "beside": self.beside,
            "unreached": self.unreached,
        }

    def raise_unless_right(self) -> RuleCheck:
        """This report, if the rule is right; WrongRuleError or InconclusiveCheckError otherwise."""
        __tracebackhide__ = True
        if self:
            return self
        kind: Any = self.wrong_error if self.verdict == WRONG else InconclusiveCheckError
        fixes = [d.advice for d in self.diagnoses if d.advice] or ["print the report: error.report"]
        where = next((d.place for d in self.diagnoses if d.place is not None), self.place)
        error = kind(
            self.sentence.rstrip("."),
            asked=f"a check of the {self.mode} of {self.function}; " + "; ".join(self.worst_lines()),
            place=where,
            fixes=fixes[:1],
        )
        error.report = self
        raise error


def _finding(finding: Finding) -> dict[str, Any]:
    worst = finding.worst
    return {
        "check": finding.check,
        "words": finding.words,
        "level": finding.level,
        "argument": finding.argument,
        "worst": None
        if worst is None
        else {"name": worst.name, "found": worst.found, "expected": worst.expected, "error": worst.error},
        "inputs": None if finding.probe is None else plain_data(list(finding.probe.point.inputs)),
    }


def _diagnosis_lines(one: Diagnosis) -> Iterator[str]:
    """The line of the mistake with a caret, what to do, and the corrected line."""
    if one.place is not None:
        yield from one.place.lines()
    if one.advice:
        yield f"do: {one.advice}"
    if one.diff:
        yield f"{one.corrected}:"
        yield from _at_most(MOST_LINES, [f"    {line}" for line in changed_lines(one.diff)], "line")


def _diagnosis_rows(one: Diagnosis) -> Iterator[tuple[str, str]]:
    if one.place is not None:
        first, *caret = one.place.lines()
        yield "where", first
        yield from (("", line) for line in caret)
    if one.advice:
        yield "do", one.advice
    for number, line in enumerate(changed_lines(one.diff)):
        yield ("" if number else "corrected"), line


def _checks_table(checks: Iterable[CheckSummary], caption: str, folded: bool = False) -> Table:
    rows = tuple((c.name, word_of(c.verdict), str(c.times), c.words) for c in checks)
    columns = ("check", "verdict", "times", "in words")
    return Table(caption, columns, rows, folded, verdicts=tuple(c.verdict for c in checks))


def _at_most(most: int, lines: list[str], what: str) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        yield f"and {_counted(len(lines) - most, f'more {what}')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number != 1 else "")


def _numbers(seed: tuple[float, ...]) -> str:
    return f"{seed[0]:g}" if len(seed) == 1 else f"[{', '.join(f'{s:g}' for s in seed)}]"
