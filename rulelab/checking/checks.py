"""Every check that numbers allow, at points of many kinds, in pieces."""

from __future__ import annotations

import dataclasses
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import KeywordError, NotDifferentiableError, NotImplementedTangentError, RuleLabError
from ..pieces import Progress
from ..tables import engineering
from . import doctor, effects
from .closeness import Closeness, Tolerance, closeness, rounding
from .comparison import shortened
from .findiff import FiniteDifferenceMethod
from .findings import UNKNOWN, WARNING, WRONG, Diagnosis, Finding
from .kinks import kink_findings
from .orders import second_order_findings
from .perturb import nudged, plainly
from .points import Source, lines_of, odd_points, reaching, twins_of, usable
from .probes import Point, Probe, answers_again, named_leaves, probe_forward, probe_reverse, truth_at
from .reports import Checked, LookedAt, RuleCheck
from .subjects import Subject
from .vectors import cotangent_vec, leaves, to_vec

POINTS = {"quick": 3, "normal": 8, "deep": 32}
"""Points drawn for each depth of a check, before those that reach further lines."""
MORE = {"quick": 2, "normal": 8, "deep": 24}
QUICK_SECONDS = 0.25
FINDING = {"quick": 0.2, "normal": 5.0, "deep": 20.0}
"""Seconds that may be spent on finding arguments that a function takes."""
QUICK_CALLS = 60
"""Calls for each number that is moved, about what a quick check makes."""
QUICK_CORRECTION = 0.1
"""Seconds in which a quick check looks for the corrected line."""
ODD = 8
"""Points with ties or around numbers of the code that are looked at in any case."""
ODD_ORIGINS = ("all equal", "with ties")
KINKS = 3
"""Points at a kink whose neighbourhood is searched."""
NUDGES = 4
"""How often the inputs of a rule that seems to be wrong are moved by a last digit, to see its rounding."""
LINEAR = 1e3
"""The tolerance of linearity, in those of a number: only rounding stands against it, and it may add up."""


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
        output_tangent: Any = None,
        fdm: FiniteDifferenceMethod | None = None,
        order: int = 1,
        other: Subject | None = None,
    ) -> None:
        self.subject, self.source, self.first, self.f = subject, source, first, f
        self.depth, self.rng, self.rtol, self.atol = depth, rng, rtol, atol
        self.probes: list[Probe] = []
        self.findings: list[Finding] = []
        self.diagnoses: tuple[Diagnosis, ...] = ()
        self.compared: list[tuple[Probe, Closeness]] = []
        self.times: dict[str, int] = {}
        self.skipped = 0
        self.refused: list[Probe] = []
        self.not_comparable = False  # whether the function has another value for the same numbers
        self.kinks = 0
        self.like: Any = None
        self.reached: set[tuple[types.CodeType, int]] = set()
        self.seconds = 0.0
        self._started = 0.0
        self.fdm = fdm
        self.output_tangent, self.order, self.other = output_tangent, order, other

    # -- the work --------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[Progress]:
        """Do the check, a point at each step."""
        self._started = time.perf_counter()
        total = POINTS[self.depth] + 3
        try:
            for done, words in enumerate(self._until_enough(), 1):
                yield Progress(min(done, total), total, words)
            self._diagnose()
            yield Progress(total, total, "the mistake" if self.findings else "all checks")
        finally:
            self.seconds = time.perf_counter() - self._started

    def _until_enough(self) -> Iterator[str]:
        for words in self._steps():
            yield words
            if self._is_enough():
                return

    def _is_enough(self) -> bool:
        wrong = any(finding.level == WRONG for finding in self.findings)
        late = time.perf_counter() - self._started > QUICK_SECONDS
        return self.depth == "quick" and (wrong and len(self.probes) > 1 or late and bool(self.probes))

    def _steps(self) -> Iterator[str]:
        began = time.perf_counter()
        y = plainly(self.subject.primal, self.first.inputs, self.first.kwargs)
        self.like, took = y, time.perf_counter() - began
        if self.depth == "quick" and took * QUICK_CALLS * max(1, to_vec(self.first.inputs)[0].size) > 1.0:
            words = f"a call takes {engineering(took, 's')}, too long for a quick check"
            self.findings.append(Finding("time", words, UNKNOWN))
            return
        unsteady = effects.primal_is_steady(self.subject, self.first, y)
        if unsteady is not None:
            self.findings.append(unsteady)
            yield "the function"
            return
        self._look(self.first, y)
        yield self.first.origin
        if self.probes and self.probes[0].failure is None:
            if self.probes[0].truth.is_smooth:
                self._ask_effects(self.probes[0], None)
            for point in twins_of(self.first):
                self._look_like(point, self.probes[0])
                yield point.origin
        for number in range(1, POINTS[self.depth]):
            self._look_somewhere(number)
            yield f"point {number + 1}"
        if self.depth != "quick":
            for point in self._odd_ones():
                self._look(point)
                yield point.origin
        for point in reaching(self.subject, self._candidates(), self.reached, MORE[self.depth], self.like):
            self._look(point)
            yield point.origin
        yield from self._last_steps()

    def _last_steps(self) -> Iterator[str]:
        whole = [probe for probe in self.probes if probe.failure is None]
        asked = [probe for probe in whole if probe.truth.is_smooth] or whole
        if len(asked) > 1 and self.depth != "quick":
            self._ask_effects(asked[-1], asked[0])
            yield "effects"
        if self.output_tangent is not None and self.probes:
            self._ask_given_tangent(self.probes[0])
            yield "the given tangent"
        if self.other is not None and self.depth != "quick":
            self._ask_other_mode()
            yield "frule against rrule"
        if self.order == 2 and self.f is not None:
            for probe in [p for p in self.probes if p.failure is None][:3]:
                self._count("second order")
                self.findings += second_order_findings(self.f, probe, self.rng)
                yield "second order"

    def _odd_ones(self) -> Iterator[Point]:
        """Points of each odd kind: one with ties, one on each side of every number in the code."""
        seen: dict[str, int] = {}
        for point in odd_points(self.subject, self.first, self.rng):
            times = seen.get(point.origin, 0)
            most = 1 if point.origin in ODD_ORIGINS else 2
            if (
                times < most
                and (times or len(seen) < ODD)
                and usable(self.subject, point, self.like) is not None
            ):
                seen[point.origin] = times + 1
                yield point

    def _candidates(self) -> Iterator[Point]:
        for probe in self.probes[:3]:
            yield from odd_points(self.subject, probe.point, self.rng)
        for number in range(20):
            yield self._point(number + 1)

    def _point(self, number: int) -> Point:
        inputs = self._inputs(self.source.args_at(number))
        return self.first.moved(inputs, self.source.origin(number))

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
            y = usable(self.subject, point, self.like)
            if y is not None:
                self._look(point, y)
                return
            self.skipped += 1

    def _look(self, point: Point, y: Any = None) -> None:
        truth = truth_at(self.subject, point, self.rng, y, self.fdm)
        self._judge(self._probe(point, truth))

    def _look_like(self, point: Point, like: Probe) -> None:
        """At the numbers of a point whose derivative is known."""
        y = usable(self.subject, point, self.like)
        if y is None or not _same_form(y, like.truth.y):
            return
        if not _same_in_short(y, like.truth.y):  # it looks at the dtype, and is another function there
            self.not_comparable = True
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
        if _is_refusal(probe.failure, odd=probe.point.origin in ODD_ORIGINS):
            self.refused.append(probe)
            return
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
        self._count("linear")
        compared = closeness(probe, Tolerance.of(probe, self.rtol, self.atol), forward)
        if compared.wrong.any():
            compared = compared.with_noise(self._noise(probe, compared))
        self.compared.append((probe, compared))
        if compared.wrong.any():
            yield from _linear_findings(probe, forward)
        what = "tangent of" if forward else "cotangent of"
        for leaf in compared.columns:
            self._count(f"{what} {leaf.name}")
        for leaf in compared.wrong_leaves():
            worst = compared.worst(leaf)
            words = f"the {what} {leaf.name} is wrong" if compared.whole else f"a {what.split()[0]} is wrong"
            yield Finding(what, words, WRONG, leaf.name, worst, probe)
        if not probe.truth.is_smooth and self.kinks < KINKS:
            self.kinks += 1
            yield from kink_findings(self.subject, probe, compared, self.rng)

    def _noise(self, probe: Probe, compared: Closeness) -> np.ndarray:
        """How far the rule's answers move when its inputs do by their last digits: its own rounding."""
        noise = np.zeros(compared.found.shape)
        for _ in range(NUDGES):
            again = answers_again(self.subject, probe, nudged(probe.point.inputs, self.rng))
            if again is not None and again.shape == probe.answers.shape:
                with np.errstate(invalid="ignore"):
                    moved = (again - probe.answers)[: len(noise)]
                if not compared.whole and self.subject.reverse is not None:
                    moved = moved @ probe.truth.directions
                noise = np.fmax(noise, np.abs(moved))
        return noise

    def _ask_effects(self, probe: Probe, other: Probe | None) -> None:
        if probe.failure is None:
            self._count("effects")
            self.findings += effects.effects_of(self.subject, probe, other)
            if self.f is not None and self.subject.reverse is not None and self.depth != "quick":
                self.findings += effects.changed_later(probe, self.f)

    def _ask_given_tangent(self, probe: Probe) -> None:
        """The cotangent that the caller gave, as one more seed; ones and zeros hide mistakes."""
        seed = cotangent_vec(probe.truth.y, self.output_tangent)
        if seed.size and (np.all(seed == 1) or np.all(seed == 0)):
            what = "ones" if np.all(seed) else "zeros"
            words = f"the output tangent given is all {what}, which hides mistakes"
            self.findings.append(Finding("output tangent", words, WARNING))
        if self.subject.reverse is None or probe.failure is not None:
            return
        given = probe_reverse(self.subject, probe.point, probe.truth, self.rng, seed[None, :])
        self.findings += self._of_probe(given)

    def _ask_other_mode(self) -> None:
        """The dot-product test: forward and reverse rule are one linear map and its transpose."""
        assert self.other is not None
        for probe in [p for p in self.probes if p.failure is None and p.units][:3]:
            self._count("frule against rrule")
            forward = probe_forward(self.other, probe.point, probe.truth, self.rng)
            if forward.failure is not None:
                self.findings.append(Finding("frule against rrule", f"the frule {_failed(forward).words}"))
                continue
            columns = forward.answers[: probe.truth.directions.shape[1]].T
            limit = Tolerance.of(probe)
            with np.errstate(all="ignore"):
                scale = np.abs(columns).max(initial=0.0)
                off = np.abs(columns - probe.matrix) > limit.rtol * np.abs(
                    columns
                ) + limit.atol * scale + rounding(probe)
            if np.any(off):
                k, i = (int(j) for j in np.argwhere(off)[0])
                name = next(leaf.spot(i) for leaf in probe.truth.inputs if leaf.start <= i < leaf.stop)
                words = (
                    f"the frule and the rrule disagree: for {name} "
                    f"{columns[k, i]:.8g} forwards, {probe.matrix[k, i]:.8g} in reverse"
                )
                self.findings.append(Finding("frule against rrule", words, probe=probe))

    def _count(self, check: str) -> None:
        self.times[check] = self.times.get(check, 0) + 1

    def _diagnose(self) -> None:
        self.findings += self._unknown_findings()
        self.findings = _each_once(self.findings)
        if any(finding.level == WRONG for finding in self.findings):
            limit = QUICK_CORRECTION if self.depth == "quick" else None
            self.diagnoses = tuple(
                doctor.diagnose(self.subject, self.probes, self.compared, self.findings, limit)
            )

    def _unknown_findings(self) -> Iterator[Finding]:
        """Leaves of which no number could be measured at any point, and arguments without any."""
        if self.refused and not self.probes:
            words = f"the rule refuses every point: {_failed(self.refused[0]).words}"
            yield Finding("answer", words, UNKNOWN)
        if self.probes and not any(probe.truth.inputs for probe in self.probes):
            words = "there is no number among the arguments that can be moved"
            yield Finding("measurement", words, UNKNOWN)
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
        yield from self.source.notes
        if self.source.drawn:
            shown = "; or ".join(
                ", ".join(f"{n}: {k}" for n, k in zip(self.subject.names, kinds))
                for kinds in self.source.choices
            )
            yield f"arguments were drawn ({shown}); give others, or a domain, to look elsewhere"
        if self.skipped:
            left = "1 point was" if self.skipped == 1 else f"{self.skipped} points were"
            yield f"{left} left out: {self.subject.name} has no finite value there"
        if self.refused:
            times = "1 point" if len(self.refused) == 1 else f"{len(self.refused)} points"
            yield f"the rule refuses {times}: {_failed(self.refused[0]).words}"
        if self.not_comparable:
            yield (
                f"{self.subject.name} has another value for the same numbers in single precision or laid out "
                "otherwise: the rule was not judged there"
            )
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


def _same_in_short(y: Any, like: Any) -> bool:
    """Whether two values are the same, but for what single precision and cancellation take away."""
    found, wanted = to_vec(y)[0], to_vec(like)[0]
    return bool(np.all(np.abs(found - wanted) <= 1e-3 * np.abs(wanted).max(initial=0.0)))


def _is_refusal(error: Exception | None, odd: bool) -> bool:
    """Whether a rule has said that it has no derivative there, which is no mistake; at odd points, where
    matrices are singular, by the error of linear algebra too.
    """
    refused = (NotDifferentiableError, NotImplementedTangentError, KeywordError)
    return isinstance(error, refused) or (odd and isinstance(error, np.linalg.LinAlgError))


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
    if one.shape != other.shape or _shape(plain) != _shape(given):
        words = f"the rule gives {shortened(given)} for a value of {shortened(plain)}"
        yield Finding("value", words, probe=probe)
        return
    limit = Tolerance.of(probe)
    off = np.abs(one - other) > limit.rtol * np.maximum(np.abs(one), np.abs(other)) + limit.atol * 1e-3
    if np.any(off):
        words = f"the value by the rule is {shortened(given)}, by the function {shortened(plain)}"
        yield Finding("value", words, probe=probe)


def _shape(y: Any) -> tuple[int, ...] | None:
    return np.shape(y) if isinstance(y, np.ndarray) else None


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
        off = np.abs(given - made) > LINEAR * limit.rtol * np.maximum(scale, np.abs(given))
        off &= np.abs(given - made) > 1e3 * rounding(probe) * np.abs(seeds).max(1, initial=0.0, keepdims=True)
        off &= np.isfinite(made) & np.isfinite(given)
    if np.any(off):
        what = "tangent" if forward else "cotangent"
        yield Finding("linear", f"the answer is not linear in the {what}", probe=probe)
