"""The points at which a rule is checked before it is exported, as values and as text, and the results."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..advice import FOR_FLOATS, SHOWS_WHAT, with_at
from ..checking.arguments.guesser import NoInputsError
from ..checking.judgement.reports import RuleCheck
from ..checking.measuring.vectors import to_vec
from ..checking.probing.findings import WRONG
from ..checking.reading.parameters import required_names
from ..checking.testing.testers import checking, report_of_check
from ..errors import ExportError, RuleLabError
from ..rules.registry import DEFAULT, Registry
from .answers import Answer, answer_at
from .gathering import Gathered
from .pieces import FRULE, PARTIALS, RRULE

MOST_POINTS = 4


@dataclass(frozen=True)
class Point:
    """Arguments at which a rule was checked."""

    args: tuple
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class CheckedRule:
    """The rules of a function with the check of each mode, and the points of these checks."""

    gathered: Gathered
    checks: tuple[tuple[str, RuleCheck], ...]
    points: tuple[Point, ...]
    symmetric: tuple[int, ...] = ()  # the positions of arguments that are meant to be symmetric
    notes: tuple[str, ...] = ()

    @property
    def right(self) -> tuple[str, ...]:
        """The modes in which the rule was found right."""
        return tuple(mode for mode, check in self.checks if check)

    def answers(self, registry: Registry = DEFAULT) -> tuple[tuple[str, tuple[Answer, ...]], ...]:
        """For each mode, the answers of the rule at the points."""
        f = self.gathered.primal
        return tuple(
            (mode, tuple(answer_at(f, p.args, p.kwargs, mode=mode, registry=registry) for p in self.points))
            for mode, _ in self.checks
        )


def modes_of(gathered: Gathered) -> tuple[str, ...]:
    """The modes in which a function has rules by its author."""
    kinds = {piece.kind for piece in gathered.rules}
    return tuple(mode for mode in (RRULE, FRULE) if mode in kinds or PARTIALS in kinds)


def checked_rule(
    gathered: Gathered, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *,
    depth: str = "normal", registry: Registry = DEFAULT,
) -> CheckedRule:  # fmt: skip
    """The check of each rule of a function at these arguments, or at drawn ones if there are none.

    Raises ExportError if a rule is found wrong: a wrong rule is not exported. If arguments are given and none
    of them is an integer array, the export is meant for such arguments: a rule that is wrong only for
    integers is exported, and a note says so.
    """
    given, checks = (tuple(args), dict(kwargs or {})), []
    points: list[Point] = []
    notes: list[str] = []
    symmetric: tuple[int, ...] = ()
    f = gathered.primal
    to_give = (with_at("give arguments", required_names(f)),)
    is_for_floats = bool(args) and not any(map(_is_of_integers, args))

    def judged(mode: str, *, whole_numbers: bool = True) -> tuple[Any, RuleCheck]:
        arguments = copy.deepcopy(given[0])
        check = checking(f, *arguments, mode=mode, depth=depth, fkwargs=given[1], registry=registry)
        check.asks_whole_numbers &= whole_numbers
        return check, report_of_check(check)

    for mode in modes_of(gathered):
        try:
            check, report = judged(mode)
            if report.verdict == "wrong" and is_for_floats and _for_floats(report):
                notes.append(
                    f"the {mode} of {gathered.target} is wrong for arrays of whole numbers; it was exported"
                    " for floats, as they were given"
                )
                check, report = judged(mode, whole_numbers=False)
        except RuleLabError as error:
            raise ExportError(
                f"the rule of {gathered.target} cannot be checked: {error.found}",
                asked=f"an export of {gathered.target}",
                place=error.place,
                fixes=to_give if isinstance(error, NoInputsError) else error.fixes or to_give,
            ) from None
        except TypeError as error:
            raise ExportError(
                f"{gathered.target} does not take these arguments: {error}",
                asked=f"an export of {gathered.target}",
                fixes=to_give,
            ) from None
        if report.interrupted:  # a check reports what it has found so far; an export stops
            raise KeyboardInterrupt
        if report.verdict == "wrong":
            raise ExportError(
                report.sentence.removesuffix("."),
                asked=f"an export of {gathered.target}",
                place=report.diagnoses[0].place if report.diagnoses else report.place,
                fixes=(SHOWS_WHAT, "change the rule", *_for_floats(report)),
            )
        checks.append((mode, report))
        if not points:
            symmetric = tuple(i for i in range(len(check.first.inputs)) if check.first.symmetric(i))
            points = [Point(tuple(p.inputs), dict(p.kwargs)) for p in _chosen(check)]
    return CheckedRule(gathered, tuple(checks), tuple(points), symmetric, tuple(notes))


def _is_of_integers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "iu"


def _for_floats(report: RuleCheck) -> tuple[str, ...]:
    """Advice for a rule that is wrong only for integers."""
    wrong = [one.probe for one in report.findings if one.level == WRONG]
    of_integers = all(p is not None and any(map(_is_of_integers, p.point.inputs)) for p in wrong)
    return (FOR_FLOATS,) if wrong and of_integers else ()


def _chosen(check: Any) -> list[Any]:
    """The first point of a check and some others, but none that is far off, at an edge, or a copy of another
    point's numbers in a different layout.
    """
    tried = [probe.point for probe in check.probes if probe.failure is None and probe.truth.is_smooth]
    plain = [p for p in tried if not (p.far or p.edge or p.turned or p.like is not None)]
    chosen = {_numbers_of(p): p for p in reversed([check.first, *plain])}
    return list(reversed(chosen.values()))[:MOST_POINTS]


def _numbers_of(point: Any) -> tuple[tuple[float, ...], str]:
    """What distinguishes two points: their numbers, and the repr of everything else they hold."""
    vector, back = to_vec(point.inputs)
    return tuple(map(float, vector)), repr(back(0 * vector))
