"""Is every rule of a set right? Many checks of rules, one report."""

from __future__ import annotations

import concurrent.futures as futures
import operator
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import github
from ..errors import RuleLabError
from ..tables import Page, Report, Table
from ..verdicts import CANNOT_TELL, NOT_JUDGED_BY_AN_ERROR, word_of
from .batch import junit
from .batch.jobs import ERROR, RIGHT, UNKNOWN, WRONG, Job, module_jobs, shipped_jobs
from .batch.spreading import ExecutorError, Work

__all__ = ["ExecutorError", "Job", "ManyChecks", "Outcome", "check_all", "module_jobs", "shipped_jobs"]

LIMIT = 60.0
"""Seconds that one check may take, where nothing else is said."""
_SHOWN = 12
_ROWS = 40


class WorkersError(RuleLabError):
    """A number of processes, or a limit of time, that cannot be."""


@dataclass(frozen=True)
class Outcome:
    """What became of one job: its verdict, the sentence that says why, and the report as plain data.

    `verdict` is "right", "wrong", "inconclusive", or "error" where the check itself could not be made.
    Seconds do not count in comparisons.
    """

    job: Job
    verdict: str
    sentence: str
    lines: tuple[str, ...] = ()
    report: dict[str, Any] | None = None
    seconds: float = field(default=0.0, compare=False)
    spot: tuple[str, int, int] = field(default=("", 0, 0), compare=False)  # file, line, column of the mistake

    @classmethod
    def of(cls, job: Job, told: dict[str, Any]) -> Outcome:
        """The outcome that a worker tells."""
        words = told["verdict"], told["sentence"], tuple(told["lines"])
        return cls(job, *words, told["report"], told["seconds"], tuple(told.get("spot", ("", 0, 0))))

    def to_dict(self) -> dict[str, Any]:
        """In plain Python types."""
        return {
            "check": self.job.label,
            "target": self.job.target,
            "mode": self.job.mode,
            "family": self.job.family,
            "seed": self.job.seed,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "report": self.report,
        }


@dataclass(frozen=True, repr=False)
class ManyChecks(Report):
    """Whether all rules of a set are right, as far as numbers can say.

    `outcomes` are in the order of the jobs, whatever order they ended in; `waiting` are the jobs that were
    not reached before it was stopped. `verdict` is "wrong" if any rule is, else "inconclusive" if anything is
    not known; it is true where all are right. Two runs of the same jobs are equal, wherever they were made:
    `seconds` and `events` (processes that were lost, and the like) do not count.
    """

    outcomes: tuple[Outcome, ...]
    waiting: tuple[Job, ...] = ()
    events: tuple[str, ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its end."""
        return bool(self.waiting)

    @property
    def verdict(self) -> str:
        """That of the whole: "right", "wrong" or "inconclusive"."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        if WRONG in verdicts:
            return WRONG
        return UNKNOWN if verdicts != {RIGHT} or self.interrupted else RIGHT

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def with_verdict(self, *verdicts: str) -> tuple[Outcome, ...]:
        """The outcomes with one of these verdicts."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict in verdicts)

    @property
    def sentence(self) -> str:
        """How many checks of how many rules there were, and with which verdicts."""
        counts = Counter(outcome.verdict for outcome in self.outcomes)
        told = [
            f"{counts[WRONG]} wrong" if counts[WRONG] else "",
            f"{counts[UNKNOWN]} {CANNOT_TELL}" if counts[UNKNOWN] else "",
            f"{counts[ERROR]} {NOT_JUDGED_BY_AN_ERROR}" if counts[ERROR] else "",
            f"{len(self.waiting)} not reached" if self.waiting else "",
            f"{counts[RIGHT]} right",
        ]
        total = len(self.outcomes) + len(self.waiting)
        words = ", ".join(filter(None, told)) if total != counts[RIGHT] else "all right"
        rules = len({job.rule for job in (*(o.job for o in self.outcomes), *self.waiting)})
        return f"{_counted(total, 'check')} of {_counted(rules, 'rule')}: {words}."

    def lines(self) -> Iterator[str]:
        """The sentences of all that is not right, wrong rules first, with what was found there."""
        bad = [o for verdict in (WRONG, ERROR, UNKNOWN) for o in self.with_verdict(verdict)]
        for outcome in bad[:_SHOWN]:
            told_below = outcome.verdict == WRONG or not outcome.job.place
            place = "" if told_below else f" ({outcome.job.place})"
            yield f"{word_of(outcome.verdict)}: {outcome.job.label}{place}: {outcome.sentence}"
            if outcome.verdict == WRONG or outcome.report is None:  # then these are what to do
                yield from (f"    {line}" for line in outcome.lines)
        if len(bad) > _SHOWN:
            yield f"and {len(bad) - _SHOWN} more that are not right, in the table"

    def page(self) -> Page:
        bad = [_row(o) for o in self.outcomes if o.verdict != RIGHT]
        good = [_row(o) for o in self.outcomes if o.verdict == RIGHT]
        columns = ("check", "from", "verdict", "in words")
        verdicts = tuple(o.verdict for o in self.outcomes if o.verdict != RIGHT)
        caption, told_above = f"Not right: {_counted(len(bad), 'check')}", len(bad) <= _SHOWN
        tables = [Table(caption, columns, tuple(bad), told_above, verdicts=verdicts)] if bad else []
        if good:
            caption = f"Right: {_counted(len(good), 'check')}"
            tables.append(Table(caption, columns, tuple(good), folded=len(good) > _ROWS))
        stopped = (f"stopped early: {_counted(len(self.waiting), 'check')} not made",)
        closing = (f"{self.seconds:.2g} s", *self.events, *(stopped if self.interrupted else ()))
        return Page((self.sentence, *self.lines()), tuple(tables), closing, self.verdict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "waiting": [job.label for job in self.waiting],
        }

    def to_junit(self) -> str:
        """The report as JUnit XML, which CI services read: a test case for each check.

        A wrong rule is a failure; a check that cannot tell or could not be made is an error, so that it
        is not taken for passed; one that was not reached is skipped.
        """
        cases = [
            junit.Case(
                o.job.label, o.job.family, o.verdict, o.sentence, "\n".join((o.sentence, *o.lines)), o.seconds
            )
            for o in self.outcomes
        ]
        cases += [junit.Case(job.label, job.family, "skipped", "not reached") for job in self.waiting]
        return junit.document("rulelab check", cases, self.seconds)

    def to_github(self) -> str:
        """The report as commands that GitHub shows beside lines, and then its sentence.

        The line is that of the mistake where it is known, else that of the rule.
        """
        return github.document(
            [
                github.Note(
                    o.verdict,
                    o.job.label,
                    "\n".join((o.sentence, *o.lines)),
                    *(o.spot if o.spot[0] else (o.job.file, o.job.line)),
                )
                for o in self.outcomes
            ],
            self.sentence,
        )

    def save_junit(self, path: str | Path) -> None:
        """Write `to_junit()` to a file, whole or not at all."""
        junit.save(self.to_junit(), Path(path))


def _row(outcome: Outcome) -> tuple[str, str, str, str]:
    job = outcome.job
    return job.label, job.place or job.family, word_of(outcome.verdict), outcome.sentence


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("s" if number != 1 else "")


def check_all(
    jobs: Iterable[Job],
    *,
    executor: futures.Executor | None = None,
    workers: int = 1,
    limit: float | None = LIMIT,
    told: Callable[[int, int], None] | None = None,
) -> ManyChecks:
    """Check many rules: the report of all `jobs` (see `module_jobs`, `shipped_jobs`), in their order.

    With one of the `workers` the checks are made in this process, with more in so many new ones; on an
    `executor`, any `concurrent.futures.Executor`, they are made there. Jobs travel as names: each process
    imports the module of its rules itself. A job whose process dies is given to another one, three times at
    most, then its outcome is an error. A check that takes more than `limit` seconds of the processor (None:
    no limit) cannot tell, and a process of ours that is stuck in one is ended. `told(done, total)` is
    called as they end. Ctrl-C gives the report of what there is.

    ExecutorError where the executor takes no jobs, WorkersError for a wrong number.

    >>> jobs = shipped_jobs(["math.sin"])
    >>> bool(check_all(jobs[:2]))
    True
    """
    jobs, workers, limit = tuple(jobs), _whole(workers), _positive(limit)
    outcomes: dict[int, Outcome] = {}

    def settle(index: int, answer: dict[str, Any]) -> None:
        outcomes[index] = Outcome.of(jobs[index], answer)
        if told is not None:
            told(len(outcomes), len(jobs))

    work, started = Work(jobs, limit, settle), time.perf_counter()
    try:
        if executor is not None:
            work.on_executor(executor, max(2, workers))
        elif workers > 1:
            work.in_processes(workers)
        else:
            work.run_in_this_process()
    except KeyboardInterrupt:
        pass  # those without an outcome are reported as not reached
    return ManyChecks(
        tuple(outcomes[index] for index in sorted(outcomes)),
        tuple(job for index, job in enumerate(jobs) if index not in outcomes),
        work.events.lines(),
        time.perf_counter() - started,
    )


def _whole(workers: int) -> int:
    try:
        count = operator.index(workers)
    except TypeError:
        raise WorkersError(f"workers must be a whole number, not {workers!r}") from None
    if count < 1:
        raise WorkersError(f"workers must be a whole number of at least 1, not {count}")
    return count


def _positive(limit: float | None) -> float | None:
    if limit is not None and not (isinstance(limit, (int, float)) and limit > 0):
        raise WorkersError(f"limit must be a positive number of seconds, or None, not {limit!r}")
    return limit
