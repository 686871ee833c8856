"""One check of one rule as data that can be sent to another process: names and numbers, no code."""

from __future__ import annotations

import copy
import dataclasses
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import github
from ...errors import RuleLabError, to_do
from ...nearest import did_you_mean
from ...rules.authoring import ask
from ...rules.listing import has_word
from ...rules.registry import DEFAULT, Found, Registry
from ...rules.rule import Rule
from ...rules.signatures import types_of
from ...rules.targets import name_of
from ...rulesets import catalogue
from ..arguments.guesser import NoInputsError
from ..calling.budgets import Limit
from ..judgement.reports import RuleCheck
from ..reading.kinds import kind_named
from ..reading.parameters import required_names
from ..testing.testers import Checking, checking
from .modules import (
    ModuleLocation,
    NoRulesError,
    StatedRule,
    all_stated,
    load_module,
    locate_module,
    points_stated,
    rules_stated,
)

RIGHT, WRONG, UNKNOWN, ERROR = "right", "wrong", "inconclusive", "error"


class JobError(RuleLabError):
    """Checks that cannot be set up as requested, or a worker that finds a different rule than intended."""


@dataclass(frozen=True)
class Job:
    """One check of one rule, named so that any process that can import its module finds it.

    `target` is the function's name as a person calls it, and `mode` is "rrule" or "frule". A built-in rule is
    checked at check point `point` of its `table`; a rule of a module, stated `where`, at arguments drawn for
    it: `accepts` and `place` identify the rule of the target, and `number` one of several alike.
    """

    target: str
    mode: str
    where: ModuleLocation | None = None
    accepts: str = ""
    place: str = ""
    number: int = 0
    table: str = ""
    point: int = 0
    seed: int = 0
    depth: str = "normal"
    domain: str | tuple[tuple[str, str], ...] = ()
    file: str = dataclasses.field(default="", compare=False)  # where the rule is written
    line: int = dataclasses.field(default=0, compare=False)

    @property
    def family(self) -> str:
        """Where the rule comes from: the name of the module or of the table."""
        return self.table or (self.where.name if self.where is not None else "")

    @property
    def label(self) -> str:
        """The check in words: `rrule of np.sin, point 3`, `frule of area(r)`."""
        at = f", point {self.point + 1}" if self.table else self.accepts
        number = f", number {self.number + 1}" if self.number else ""
        return f"{self.mode} of {self.target}{at}{number}" + (f", seed {self.seed}" if self.seed else "")

    @property
    def rule(self) -> tuple:
        """The values that all checks of one rule share."""
        return self.family, self.target, self.mode, self.accepts, self.place, self.number

    def start(self) -> Checking:
        """The check, ready to be run in this process."""
        return _at_point(self) if self.table else _of_module(self)


# --- which checks there are ---------------------------------------------------------------------------------


def module_jobs(
    module: str,
    names: Sequence[str] = (),
    *,
    seed: int = 0,
    depth: str = "normal",
    domain: str | Sequence[tuple[str, str]] = (),
    folder: Path | None = None,
) -> tuple[Job, ...]:
    """Checks of every rule that the import of a module states, in the order of the module.

    `module` is a dotted name or the path of a file. `names` are words from the names of functions: only rules
    of these are checked. `domain` gives kinds of arguments as for `rule_check`: words for all, or pairs of a
    parameter and words. Statements that a function has no derivative need no check. ModuleError or JobError,
    with a message of one line, if there is nothing to check.
    """
    where = locate_module(module, folder)
    stated = [s for s in rules_stated(where) if s.rule.differentiable]
    if not stated:
        raise NoRulesError(
            f"{where} states no rules",
            fixes=("state one with @rl.rrule_for(f), @rl.frule_for(f) or rl.scalar_rule(f, …)",),
        )
    chosen = [s for s in stated if _is_named(name_of(s.target), names)]
    _all_met(names, [name_of(s.target) for s in chosen], [name_of(s.target) for s in stated])
    wanted = _domain(domain, chosen)
    numbers: dict[tuple, int] = {}
    jobs = []
    for one in chosen:
        rule = one.rule
        job = Job(
            name_of(one.target), rule.mode, where, str(rule.accepts), _place(rule), seed=seed, depth=depth
        )
        if rule.place is not None:
            job = dataclasses.replace(job, file=rule.place.filename, line=rule.place.line)
        key = job.rule
        numbers[key] = numbers.get(key, -1) + 1
        own = wanted if isinstance(wanted, str) else _of_parameters(one.target, wanted)
        jobs.append(dataclasses.replace(job, number=numbers[key], domain=own))
    return tuple(jobs)


def _of_parameters(target: Any, domain: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    names = required_names(target)
    return tuple(pair for pair in domain if pair[0] in names)


def shipped_jobs(
    names: Sequence[str] = (), *, seeds: Iterable[int] = (0,), depth: str = "normal"
) -> tuple[Job, ...]:
    """Checks of every rule that comes with rulelab, in both modes, at every check point of its table.

    `names` as for `module_jobs`; each check is made once with each of the `seeds`.
    """
    seeds = tuple(seeds)
    tables = catalogue.tables()
    known = [name_of(target) for table in tables for target, _, _ in table.points]
    jobs = tuple(
        Job(name_of(target), mode, table=table.name, point=number, seed=seed, depth=depth)
        for table in tables
        for number, (target, args, kwargs) in enumerate(table.points)
        if _is_named(name_of(target), names)
        for mode in ("rrule", "frule")
        if _has_derivative(target, args, kwargs, mode)
        for seed in seeds
    )
    _all_met(names, [job.target for job in jobs], known)
    return jobs


def _has_derivative(target: Any, args: tuple, kwargs: dict, mode: str) -> bool:
    answer = ask(target, args, kwargs, mode, None, DEFAULT)
    return isinstance(answer, Found) and answer.rule.differentiable


def _is_named(name: str, names: Sequence[str]) -> bool:
    return not names or any(has_word(name, text) for text in names)


def _all_met(names: Sequence[str], met: Sequence[str], known: Sequence[str]) -> None:
    """Raise JobError for the first of the names that no function with a rule has."""
    for text in names:
        if not any(has_word(name, text) for name in met):
            near = did_you_mean(text, _words_of(known), 3)
            raise JobError(f"there is no rule for a function named {text!r}{near}")


def _words_of(names: Iterable[str]) -> set[str]:
    """The names, and the last part of each."""
    return {word for name in names for word in (name, name.rpartition(".")[2])}


def _domain(
    domain: str | Sequence[tuple[str, str]], stated: Sequence[StatedRule]
) -> str | tuple[tuple[str, str], ...]:
    """The domain, after checking that its words are kinds and its parameters those of some function."""
    if isinstance(domain, str):
        kind_named(domain)
        return domain
    names = {name for one in stated for name in required_names(one.target)}
    for name, words in domain:
        kind_named(words)
        if name not in names:
            raise JobError(f"no function here has a parameter {name!r}")
    return tuple((name, words) for name, words in domain)


def _place(rule: Rule) -> str:
    return rule.place.label() if rule.place is not None else ""


# --- in the process that checks -----------------------------------------------------------------------------


def _at_point(job: Job) -> Checking:
    table = next((t for t in catalogue.tables() if t.name == job.table), None)
    points = table.points if table is not None else []
    if job.point >= len(points) or name_of(points[job.point][0]) != job.target:
        raise JobError(f"the worker has a different {job.table}: does it run another version of rulelab?")
    target, args, kwargs = points[job.point]
    return checking(target, *args, mode=job.mode, fkwargs=kwargs, depth=job.depth, seed=job.seed)


def _of_module(job: Job) -> Checking:
    assert job.where is not None
    module = load_module(job.where)
    same = [s for s in all_stated() if (name_of(s.target), s.rule.mode) == (job.target, job.mode)]
    alike = [s for s in same if (str(s.rule.accepts), _place(s.rule)) == (job.accepts, job.place)]
    stated = [s for s in alike if s.rule.differentiable]
    if job.number >= len(stated):
        raise JobError(f"the worker cannot find this rule: does it have another version of {job.where}?")
    target, rule = stated[job.number]
    options: dict[str, Any] = {"mode": job.mode, "depth": job.depth, "seed": job.seed}
    options["domain"] = job.domain if isinstance(job.domain, str) else dict(job.domain) or None
    args, kwargs = (None if job.domain else points_stated(module, target)) or ((), {})
    if len([s for s in same if s.target is target]) == 1:
        return checking(target, *copy.deepcopy(args), fkwargs=kwargs, **options)
    alone = Registry()  # arguments are drawn for this rule, not for others of its function
    alone.register(rule, target)
    if args and not isinstance(alone.ask(target, types_of(args), job.mode), Found):
        args, kwargs = (), {}
    check = checking(target, *copy.deepcopy(args), fkwargs=kwargs, registry=alone, **options)
    if DEFAULT.ask(target, types_of(check.first.inputs), job.mode) == Found(rule):
        check.f = check.subject.primal  # then `rulelab.pullback` with this rule is checked, too
    return check


def run_job(job: Job, limit: float | None = None) -> dict[str, Any]:
    """Run a check and return the outcome as plain data, whatever happens: verdict, sentence, lines, report,
    time.

    After `limit` seconds of processor time no further point is checked. A failure of the check itself is
    reported as the verdict "error".
    """
    started = time.perf_counter()
    try:
        told = _outcome_as_data(job, None if limit is None else Limit(limit))
    except NoInputsError as error:
        told = _not_judged(UNKNOWN, error.found, error.fixes)
    except RuleLabError as error:
        told = _not_judged(ERROR, error.found, error.fixes)
    except Exception as error:
        text = " ".join(str(error).split())
        told = _not_judged(ERROR, f"the check itself failed: {type(error).__name__}: {text}"[:300])
    return {**told, "seconds": time.perf_counter() - started}


def _outcome_as_data(job: Job, limit: Limit | None) -> dict[str, Any]:
    check, late = job.start(), False
    for _ in check.pieces():
        if limit is not None and limit.is_over():
            late = True
            break
    report = check.result(interrupted=late)
    more = (over_limit_message(limit.seconds),) if late and limit is not None else ()
    return {
        "verdict": report.verdict,
        "sentence": report.sentence,
        "lines": [*more, *report.details()],
        "report": report_as_data(report),
        "spot": list(github.spot(next((d.place for d in report.diagnoses if d.place is not None), None))),
    }


def over_limit_message(limit: float) -> str:
    """The statement about a check that took too long."""
    return f"it took more than {limit:g} s, the limit of a check"


def report_as_data(report: RuleCheck) -> dict[str, Any]:
    """A report as data for JSON, without the seconds: two runs of one check give the same."""
    data = json.loads(report.to_json())
    data.pop("seconds", None)
    return data


def _not_judged(verdict: str, words: str, fixes: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"verdict": verdict, "sentence": words, "lines": [to_do(fixes)] if fixes else [], "report": None}
