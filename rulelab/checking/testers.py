"""Is this rule right? Every check that numbers allow, at points of many kinds: `rule_check` and the testers."""

from __future__ import annotations

import dataclasses
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import RuleLabError
from ..pieces import Progress
from ..rules.registry import DEFAULT, Registry
from ..tangents.zeros import AbstractZero
from . import doctor, effects
from .closeness import Closeness, Tolerance, closeness
from .comparison import shortened
from .findings import UNKNOWN, WRONG, Diagnosis, Finding
from .kinks import kink_findings
from .perturb import Kind, WithTangent, kind_named, plainly
from .points import Source, lines_of, odd_points, reaching, required_names, twins_of, usable
from .probes import Point, Probe, named_leaves, probe_forward, probe_reverse, truth_at
from .reports import Checked, LookedAt, RuleCheck
from .subjects import Subject, subject_of
from .vectors import leaves, to_vec

POINTS = {"quick": 3, "normal": 8, "deep": 24}
"""Points drawn for each depth of a check, before those that reach further lines."""
MORE = {"quick": 2, "normal": 8, "deep": 24}
QUICK_SECONDS = 0.25


class Checking:
    """A check in pieces, one point each; `result` may be asked for at any moment.

    `depth` is "quick" (stops at the first wrong point, and after a quarter of a second), "normal" or "deep".
    """

    def __init__(
        self,
        subject: Subject,
        source: Source,
        first: Point,
        *,
        f: Callable | None = None,
        depth: str = "normal",
        rng: np.random.Generator,
        rtol: float | None = None,
        atol: float | None = None,
        interval: Any = None,
        seeds: np.ndarray | None = None,
        registry: Registry = DEFAULT,
    ) -> None:
        self.subject, self.source, self.first, self.f = subject, source, first, f
        self.depth, self.rng, self.rtol, self.atol = depth, rng, rtol, atol
        self.interval, self.registry = interval, registry
        self.probes: list[Probe] = []
        self.findings: list[Finding] = []
        self.diagnoses: tuple[Diagnosis, ...] = ()
        self.compared: list[tuple[Probe, Closeness]] = []
        self.times: dict[str, int] = {}
        self.skipped = 0
        self.reached: set[tuple[types.CodeType, int]] = set()
        self.seconds = 0.0
        self._started = 0.0
        self.own_seeds = seeds

    # -- the work --------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[Progress]:
        """Do the check, a point at each step."""
        self._started = time.perf_counter()
        total = POINTS[self.depth] + 3
        try:
            for done, words in enumerate(self._steps(), 1):
                yield Progress(min(done, total), total, words)
                if self._is_enough():
                    break
            self._diagnose()
            yield Progress(total, total, "the mistake" if self.findings else "all checks")
        finally:
            self.seconds = time.perf_counter() - self._started

    def _is_enough(self) -> bool:
        wrong = any(finding.level == WRONG for finding in self.findings)
        late = time.perf_counter() - self._started > QUICK_SECONDS
        return self.depth == "quick" and (wrong and len(self.probes) > 1 or late and bool(self.probes))

    def _steps(self) -> Iterator[str]:
        y = plainly(self.subject.primal, self.first.inputs, self.first.kwargs)
        unsteady = effects.primal_is_steady(self.subject, self.first, y)
        if unsteady is not None:
            self.findings.append(unsteady)
            yield "the function"
            return
        self._look(self.first, y)
        yield self.first.origin
        if self.probes and self.probes[0].failure is None:
            self._ask_effects(self.probes[0], None)
            for point in twins_of(self.first):
                self._look_like(point, self.probes[0])
                yield point.origin
        for number in range(1, POINTS[self.depth]):
            self._look_somewhere(number)
            yield f"point {number + 1}"
        for point in reaching(self.subject, self._candidates(), self.reached, MORE[self.depth]):
            self._look(point)
            yield point.origin
        if len(self.probes) > 1 and self.depth != "quick":
            self._ask_effects(self.probes[-1], self.probes[0])
            yield "effects"

    def _candidates(self) -> Iterator[Point]:
        for probe in self.probes[:3]:
            yield from odd_points(self.subject, probe.point, self.rng)
        for number in range(20):
            yield self._point(number + 1)

    def _point(self, number: int) -> Point:
        inputs = self._inputs(self.source.args_at(number))
        return Point(inputs, self.first.kwargs, self.source.origin(number), self.first.constant)

    def _inputs(self, args: tuple) -> tuple:
        """The inputs that go with arguments: the object of a method before them, defaults after."""
        extra = len(self.first.inputs) - len(args)
        if not extra:
            return args
        if self.source.args and self.first.inputs[0] is not self.source.args[0]:
            return (self.first.inputs[0], *args)
        return (*args, *self.first.inputs[len(args) :])

    def _look_somewhere(self, number: int) -> None:
        for attempt in range(4):
            point = self._point(number + 7 * attempt)
            y = usable(self.subject, point)
            if y is not None:
                self._look(point, y)
                return
            self.skipped += 1

    def _look(self, point: Point, y: Any = None) -> None:
        truth = truth_at(self.subject, point, self.rng, self.interval, y)
        self._judge(self._probe(point, truth))

    def _look_like(self, point: Point, like: Probe) -> None:
        """At the numbers of a point whose derivative is known."""
        y = usable(self.subject, point)
        if y is None or not _same_form(y, like.truth.y):
            return
        truth = dataclasses.replace(
            like.truth, y=y, inputs=named_leaves(self.subject, point), outputs=leaves(y, "y")
        )
        self._judge(self._probe(point, truth))

    def _probe(self, point: Point, truth: Any) -> Probe:
        ask = probe_reverse if self.subject.reverse is not None else probe_forward
        return ask(self.subject, point, truth, self.rng)

    # -- the judgement ---------------------------------------------------------------------------------------

    def _judge(self, probe: Probe) -> None:
        self.probes.append(probe)
        self.reached |= probe.lines
        self.findings += self._of_probe(probe)

    def _of_probe(self, probe: Probe) -> Iterator[Finding]:
        forward = self.subject.reverse is None
        self._count("answer")
        if probe.failure is not None:
            yield _failed(probe)
            return
        self._count("value")
        yield from _value_findings(probe)
        yield from _linear_findings(probe, forward)
        self._count("linear")
        compared = closeness(probe, Tolerance.of(probe, self.rtol, self.atol), forward)
        self.compared.append((probe, compared))
        what = "tangent of" if forward else "cotangent of"
        for leaf in compared.columns:
            self._count(f"{what} {leaf.name}")
        for leaf in compared.wrong_leaves():
            worst = compared.worst(leaf)
            words = f"the {what} {leaf.name} is wrong" if compared.whole else f"a {what.split()[0]} is wrong"
            yield Finding(what, words, WRONG, leaf.name, worst, probe)
        yield from kink_findings(self.subject, probe, compared)

    def _ask_effects(self, probe: Probe, other: Probe | None) -> None:
        if probe.failure is None:
            self._count("effects")
            self.findings += effects.effects_of(self.subject, probe, other)
            if self.f is not None and self.subject.reverse is not None and self.depth != "quick":
                taken = self.registry is DEFAULT and len(self.subject.names) == len(probe.point.inputs)
                self.findings += effects.changed_later(self.subject, probe, self.f, taken)

    def _count(self, check: str) -> None:
        self.times[check] = self.times.get(check, 0) + 1

    def _diagnose(self) -> None:
        self.findings += self._unknown_findings()
        self.findings = _each_once(self.findings)
        if any(finding.level == WRONG for finding in self.findings):
            self.diagnoses = tuple(doctor.diagnose(self.subject, self.probes, self.compared, self.findings))

    def _unknown_findings(self) -> Iterator[Finding]:
        """Leaves of which no number could be measured at any point."""
        forward = self.subject.reverse is None
        known: dict[str, bool] = {}
        for _, compared in self.compared:
            for leaf in compared.columns:
                block = slice(leaf.start, leaf.stop) if compared.whole else slice(None)
                there = bool(compared.known[:, block].any()) or leaf.start == leaf.stop
                known[leaf.name] = known.get(leaf.name, False) or there
        for name, is_known in known.items():
            if not is_known:
                what = f"the {'tangent' if forward else 'cotangent'} of {name}"
                yield Finding(
                    "measurement",
                    f"no two differences agree on {what} at any point: a kink, a jump, or noise",
                    UNKNOWN,
                    name,
                )

    # -- the report ------------------------------------------------------------------------------------------

    def result(self, *, interrupted: bool = False) -> RuleCheck:
        """The report of what is there."""
        points = tuple(
            LookedAt(p.point.origin, tuple(shortened(x) for x in p.point.inputs)) for p in self.probes
        )
        return RuleCheck(
            function=self.subject.name,
            mode=self.subject.mode,
            by=self.subject.by,
            names=self.subject.names,
            place=self.subject.place,
            checks=tuple(self._checks()),
            findings=tuple(self.findings),
            diagnoses=self.diagnoses,
            points=points,
            notes=tuple(self._notes()),
            seconds=self.seconds or time.perf_counter() - self._started,
            interrupted=interrupted,
        )

    def _checks(self) -> Iterator[Checked]:
        for name, times in self.times.items():
            found = [f for f in self.findings if _is_of(f, name)]
            levels = {f.level for f in found}
            verdict = next((level for level in (WRONG, UNKNOWN) if level in levels), "right")
            yield Checked(name, verdict, times, found[0].words if found else _PROMISES.get(name, ""))

    def _notes(self) -> Iterator[str]:
        if self.source.drawn:
            shown = ", ".join(f"{n}: {k}" for n, k in zip(self.subject.names, self.source.kinds))
            yield f"arguments were drawn ({shown}); --at or domain= chooses others"
        if self.skipped:
            yield f"{self.skipped} points were left out, because {self.subject.name} has no finite value there"
        missed = lines_of(self.subject.rule_codes) - self.reached
        if self.reached and missed and self.depth != "quick":
            numbers = sorted({line for _, line in missed})
            at = ", ".join(map(str, numbers[:6]))
            yield (
                f"no point reached line {at} of the rule"
                if len(numbers) == 1
                else (f"no point reached the lines {at} of the rule")
            )


_PROMISES = {
    "answer": "a tuple of the right count, shapes and dtypes",
    "value": "the rule gives the value of the function",
    "linear": "for cotangents s and t: 0, 2s, s + t",
    "effects": "asked twice and in between, writes to nothing, shares nothing",
}


def _is_of(finding: Finding, name: str) -> bool:
    return name in (finding.check, f"{finding.check} {finding.argument}") or (
        finding.check == "measurement" and name.endswith(f" of {finding.argument}")
    )


def _each_once(findings: list[Finding]) -> list[Finding]:
    """The first of those that say the same."""
    first: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.check, finding.words, finding.level), finding)
    return list(first.values())


def _same_form(y: Any, like: Any) -> bool:
    return to_vec(y)[0].size == to_vec(like)[0].size


def _failed(probe: Probe) -> Finding:
    error = probe.failure
    if isinstance(error, RuleLabError):
        return Finding("answer", error.found, probe=probe)
    text = " ".join(str(error).split())
    return Finding("answer", f"raises {type(error).__name__}: {text}", probe=probe)


def _value_findings(probe: Probe) -> Iterator[Finding]:
    """Whether the rule gives the value of the function, to rounding."""
    plain, given = probe.truth.y, probe.y
    one, other = to_vec(plain)[0], to_vec(given)[0]
    if one.shape != other.shape or np.shape(plain) != np.shape(given):
        words = f"the rule gives {shortened(given)} for a value of {shortened(plain)}"
        yield Finding("value", words, probe=probe)
        return
    limit = Tolerance.of(probe)
    off = np.abs(one - other) > limit.rtol * np.maximum(np.abs(one), np.abs(other)) + limit.atol * 1e-3
    if np.any(off):
        words = f"the value by the rule is {shortened(given)}, by the function {shortened(plain)}"
        yield Finding("value", words, probe=probe)


def _linear_findings(probe: Probe, forward: bool) -> Iterator[Finding]:
    """Whether an answer to a random seed is made of the answers to unit seeds."""
    basis = probe.units or (probe.truth.directions.shape[1] if forward and probe.truth.whole else 0)
    if not basis:
        return
    units, seeds = probe.answers[:basis], probe.seeds[basis:]
    made = seeds @ units
    given = probe.answers[basis:]
    limit = Tolerance.of(probe)
    scale = np.abs(seeds) @ np.abs(units)
    with np.errstate(all="ignore"):
        off = np.abs(given - made) > limit.rtol * 10 * np.maximum(scale, np.abs(given)) + 1e-300
    if np.any(off):
        what = "tangent" if forward else "cotangent"
        yield Finding("linear", f"the answer is not linear in the {what}", probe=probe)


# --- what authors call --------------------------------------------------------------------------------------


def checking(
    f: Callable,
    *args: Any,
    mode: str = "rrule",
    depth: str = "normal",
    domain: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    fkwargs: Mapping[str, Any] | None = None,
    config: Any = None,
    seed: int = 0,
    rng: np.random.Generator | None = None,
    registry: Registry = DEFAULT,
) -> Checking:
    """The check of the rule of `f`, not begun: for whoever drives it in pieces. See `rule_check`."""
    rng = np.random.default_rng(seed) if rng is None else rng
    kwargs = dict(fkwargs or {})
    kinds, interval = _domain(f, domain)
    source = Source(f, args or None, kwargs, kinds, rng, mode, registry)
    subject, inputs = subject_of(f, source.args, kwargs, mode, config, registry)
    constant = frozenset(
        i for i, x in enumerate(args) if isinstance(x, WithTangent) and isinstance(x.tangent, AbstractZero)
    )
    shift = len(inputs) - len(source.args) if args and inputs and inputs[0] is not source.args[0] else 0
    first = Point(inputs, kwargs, source.origin(0), frozenset(i + shift for i in constant))
    return Checking(
        subject,
        source,
        first,
        f=f,
        depth=depth,
        rng=rng,
        rtol=rtol,
        atol=atol,
        interval=interval,
        registry=registry,
    )


def _domain(f: Callable, domain: Any) -> tuple[dict[str, Kind], Any]:
    if domain is None:
        return {}, None
    if isinstance(domain, Mapping):
        return {name: kind_named(words) for name, words in domain.items()}, None
    kind = kind_named(domain)
    interval = (kind.low, kind.high) if np.isfinite(kind.low) or np.isfinite(kind.high) else None
    return dict.fromkeys(required_names(f), kind), interval


def finished(check: Checking) -> RuleCheck:
    """The report of a check that is driven to its end; Ctrl-C gives a partial one."""
    try:
        for _ in check.pieces():
            pass
    except KeyboardInterrupt:
        return check.result(interrupted=True)
    return check.result()


def rule_check(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Whether the reverse rule of `f` is right, as far as numbers can say.

    The rule is asked at points around `args`, or where none are given at points drawn by its annotations and
    the names of the parameters; every cotangent is compared with two families of differences of `f`, and
    what the rule does besides is watched. The report, a `RuleCheck`, says right, wrong (with the mistake) or
    inconclusive; it is true where the rule is right.

    Options: `mode` "rrule" or "frule"; `depth` "quick", "normal" or "deep"; `domain`, an interval, words such
    as "positive" or a dict of them by parameter; `rtol` and `atol` (by dtype: 1e-9 for float64); `fkwargs`,
    keyword arguments of `f`; `config`, `registry`; `seed` or `rng` for the points. NoRuleError where no rule
    applies, NoInputsError where no arguments are found.

    >>> import rulelab as rl
    >>> def cube(x): return x**3
    >>> @rl.rrule_for(cube)
    ... def cube_rrule(x):
    ...     def cube_pullback(y_bar):
    ...         return rl.NoTangent(), 3 * x**2 * y_bar
    ...     return x**3, cube_pullback
    >>> bool(rule_check(cube, 2.0))
    True
    """
    return finished(checking(f, *args, **options))


def test_rrule(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Passes if the reverse rule of `f` is right at points around `args`; the report.

    For test suites: WrongRuleError or InconclusiveCheckError (both are AssertionErrors) otherwise, with the
    mistake and the report in them. Options as for `rule_check`.
    """
    return rule_check(f, *args, mode="rrule", **options).raise_unless_right()


def test_frule(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Passes if the forward rule of `f` is right at points around `args`; else as `test_rrule`."""
    return rule_check(f, *args, mode="frule", **options).raise_unless_right()


for _tester in (test_rrule, test_frule):
    _tester.__test__ = False  # type: ignore[attr-defined]  # pytest takes whatever is called test… for a test
check_rrule, check_frule = test_rrule, test_frule
