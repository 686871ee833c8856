"""What a check of a rule gives: the verdict, each check, the mistake, and where it was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import Place, RuleError
from ..tables import Page, Report, Table
from .comparison import plain_data, shortened
from .findings import UNKNOWN, WARNING, WRONG, Diagnosis, Finding

RIGHT = "right"


class WrongRuleError(RuleError, AssertionError):
    """A test found that a rule is wrong. `report` is the whole `RuleCheck`."""

    report: RuleCheck


class InconclusiveCheckError(RuleError, AssertionError):
    """A test could neither confirm a rule nor find it wrong. `report` is the whole `RuleCheck`."""

    report: RuleCheck


@dataclass(frozen=True)
class Checked:
    """One kind of check: how often it was made, and with which verdict, in words."""

    name: str
    verdict: str
    times: int
    words: str = ""


@dataclass(frozen=True)
class LookedAt:
    """A point of a check as it is shown: where its numbers come from, and the inputs in short."""

    origin: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class RuleCheck(Report):
    """Whether a rule is right, as far as numbers can say.

    `verdict` is "right", "wrong" or "inconclusive": right only if every check found its numbers and all of
    them agree with two families of differences. It is true where the rule is right. `checks` are the kinds
    of checks with their verdicts, `findings` what was found, `diagnoses` the mistakes behind that, `points`
    where it was looked at. `interrupted` says that it was stopped before its end: then it is never right.
    """

    function: str
    mode: str
    by: str
    names: tuple[str, ...] = ()
    place: Place | None = None
    checks: tuple[Checked, ...] = ()
    findings: tuple[Finding, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    points: tuple[LookedAt, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

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
        """The verdict as a sentence: the mistake where it is known, else what was found first."""
        who = f"{self.by} of {self.function}" if self.by != self.function else self.function
        if self.verdict == RIGHT:
            return f"{who} is right at {_counted(len(self.points), 'point')}."
        if self.verdict == WRONG:
            words = self.diagnoses[0].words if self.diagnoses else self._first(WRONG).words
            return f"{who} is wrong: {words}."
        if self.interrupted and not any(f.level == UNKNOWN for f in self.findings):
            return f"{who}: stopped after {_counted(len(self.points), 'point')}, at which it is right."
        words = self._first(UNKNOWN).words if any(f.level == UNKNOWN for f in self.findings) else "no point"
        return f"{who} can be neither confirmed nor refuted: {words}."

    def _first(self, level: str) -> Finding:
        return next(finding for finding in self.findings if finding.level == level)

    def lines(self) -> Iterator[str]:
        """Everything below the verdict that is said in sentences: mistakes, worst numbers, notes."""
        for number, one in enumerate(self.diagnoses):
            if number:
                yield f"also: {one.words}"
            if one.advice:
                yield f"do: {one.advice}"
            if one.place is not None:
                yield from one.place.lines()
            if one.diff:
                yield "corrected, and right at every point of this check:"
                yield from (f"    {line}" for line in one.diff.splitlines())
        yield from self.worst_lines()
        said = next((f.words for f in self.findings if f.level == self.verdict), "")  # in the sentence
        shown = {*(d.words for d in self.diagnoses), said}
        for finding in self.findings:
            if finding.level == WARNING or (finding.words not in shown and finding.worst is None):
                yield f"{'warning' if finding.level == WARNING else 'found'}: {finding.words}"
        yield from (f"note: {note}" for note in self.notes)

    def worst_lines(self) -> Iterator[str]:
        """The number that is furthest off, with both values and the error bar, and where that was."""
        bad = [finding for finding in self.findings if finding.worst is not None]
        if not bad:
            return
        finding = bad[0]
        worst = finding.worst
        assert worst is not None
        yield (
            f"{finding.check} {worst.name}: the rule gives {worst.found:.10g}, "
            f"differences {worst.expected:.10g} ± {worst.error:.1g}"
        )
        if finding.probe is not None:
            at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.names, finding.probe.point.inputs))
            seed = f", for the cotangent {_numbers(worst.seed)}" if worst.seed else ""
            yield f"at {at}{seed}"

    def page(self) -> Page:
        rows = tuple((c.name, c.verdict, str(c.times), c.words) for c in self.checks)
        tables = [Table("Checks", ("check", "verdict", "times", ""), rows, folded=not rows or bool(self))]
        points = tuple((str(i), p.origin, *p.inputs) for i, p in enumerate(self.points, 1))
        if points:
            columns = ("point", "from", *self.names)
            caption = f"Inputs of the {_counted(len(points), 'point')}"
            tables.append(Table(caption, columns, points, folded=True))
        closing = f"{self.seconds:.2g} s" + (", stopped before its end" if self.interrupted else "")
        return Page((self.sentence, *self.lines()), tuple(tables), (closing,))

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
                }
                for d in self.diagnoses
            ],
            "points": [{"from": p.origin, "inputs": list(p.inputs)} for p in self.points],
            "notes": list(self.notes),
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }

    def raise_unless_right(self) -> RuleCheck:
        """This report, if the rule is right; WrongRuleError or InconclusiveCheckError otherwise."""
        if self:
            return self
        kind = WrongRuleError if self.verdict == WRONG else InconclusiveCheckError
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


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number != 1 else "")


def _numbers(seed: tuple[float, ...]) -> str:
    return f"{seed[0]:g}" if len(seed) == 1 else f"[{', '.join(f'{s:g}' for s in seed)}]"
