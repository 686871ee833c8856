"""Every check that numbers allow, at points of many kinds, in pieces."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...advice import TO_JUDGE
from ...errors import NotImplementedTangentError
from ...pieces import Progress
from ...tables import engineering
from ...tangents.missing import NotImplementedTangent
from ...tangents.thunks import unthunk
from .. import doctor
from ..arguments.alternative_kinds import alternatives_in_words
from ..arguments.borders import beside_missed_borders
from ..arguments.points import (
    ATTEMPTS_APART,
    arms_at,
    branching_numbers,
    heeded_warnings_at,
    is_single,
    lines_of,
    odd_points,
    points_reaching_new_lines,
    raising_lines,
)
from ..calling.budgets import Budget, took_more
from ..calling.plain_calls import value_of
from ..doctor.verifying import complex_for_real
from ..judgement import effects
from ..judgement.answer_findings import failure_found, has_another_value, is_odd
from ..judgement.judging import ODD_ORIGINS, lies_in
from ..judgement.nonfinite_places import NonfinitePlaces
from ..judgement.orders import second_order_findings
from ..judgement.reports import CheckSummary, PointShown, RuleCheck
from ..judgement.variant_judging import PLAIN, VariantJudging
from ..measuring.shortening import shortened
from ..measuring.vectors import cotangent_vec, to_vec
from ..probing.closeness import Closeness, Tolerance, most, rounding
from ..probing.findings import UNKNOWN, WARNING, WRONG, Finding
from ..probing.leaps import beside_leaps, point_pairs
from ..probing.perturb import fresh, mirrored, revalued
from ..probing.probes import Point, Probe, probe_forward, probe_reverse
from ..probing.variants import has_arrays
from ..reading.by_name import is_a_guard
from ..reading.kinds import MATRICES
from ..reading.stated_kinds import wholes_said

POINTS = {"quick": 3, "normal": 8, "deep": 40}
"""The number of points drawn at each depth of a check, before those that reach further lines."""
MORE = {"quick": 2, "normal": 8, "deep": 24}
PLANNED = {"quick": 6, "normal": 40, "deep": 90}
"""The number of steps that a check of each depth usually takes, including points at zeros, ties and
borders.
"""
FINDING = {"quick": 4.0, "normal": 10.0, "deep": 40.0}
"""Seconds that may be spent on finding arguments that a function takes; usually a hundredth of that
suffices.
"""
QUICK_CALLS = 60
"""Calls for each number that is perturbed, about as many as a quick check makes."""
MOST_KINDS_SHOWN = 2
"""How many kinds of drawn arguments are told in full, if there are several more."""
QUICK_SECONDS = 3.0
"""Processor time that these calls may take; for most functions they take a hundredth of it."""
MOST_QUICK_SECONDS = 12.0
"""Processor time after which a quick check tries no further point and has no verdict: some calls took far
longer than the first. On a busy machine each call costs half as much again, which must not exceed this limit.
"""
CALLS_TIMED = 3
"""The number of calls of which the shortest counts if the first seems to take too long."""
QUICK_CORRECTIONS = 200
"""The number of changes of the rule that a quick check tries to find the corrected line."""
BEYOND = (64.0, 1 / 64, 2.0**16, 2.0**-16)
"""Factors by which a single argument is changed, to reach where a function compares it with others."""
ODD = 14
"""How many kinds of points with ties, or on or around constants of the code, are tried in any case."""
MOST_LINES = 6
"""The largest number of unreached lines that are named."""
BESIDE_BORDERS = 16
"""The number of points beside borders between branches of the rule."""


class Checking(VariantJudging, NonfinitePlaces):
    """A check in pieces, one point each; `result` may be called at any time.

    `depth` is "quick" (stops at the first wrong point), "normal" or "deep".
    """

    def pieces(self) -> Iterator[Progress]:
        """Run the check, one point per step."""
        self._started, self._budget = time.perf_counter(), Budget()
        done = 0
        try:
            for done, words in enumerate(self._until_enough(), 1):
                yield Progress(done, max(PLANNED[self.depth], done + 1), words)  # more follows
            self._settle_valueless()
            self._settle_far_off()
            self._settle_longer()
            self._settle_refusals()
            self.findings = _each_once([*self.findings, *self._unknown_findings()])
            self._settle_ties()
            self._settle_numberless()
            self._settle_searches()
            self._settle_repeated()
            self._settle_ends()
            self._settle_defaults()
            self._settle_lengths()
            self._look_for_numberless()
            self._settle_one_length()
            self._diagnose()  # only if something is still wrong
            self._settle_symmetric()
            self._look_beside()
            yield Progress(done + 1, done + 1, "the mistake" if self.findings else "all checks")
        finally:
            self.seconds = time.perf_counter() - self._started

    def _until_enough(self) -> Iterator[str]:
        steps = self._steps()
        while True:
            try:
                words = next(steps)
            except StopIteration:
                return
            except Exception as error:
                if not self.subject.is_raised_by_rule(error):
                    raise
                self.findings.append(effects.failing_again(error))  # it did not raise before
                return
            yield words
            if self.depth != "quick":
                continue
            is_late = self._budget.used() > MOST_QUICK_SECONDS
            if is_late and not self._wrong():
                self._exceeds(took_more("a quick check", MOST_QUICK_SECONDS))
            if is_late or self._is_enough():
                return

    def _is_enough(self) -> bool:
        return bool(self._wrong()) and sum(not is_odd(probe.point) for probe in self.probes) > 1

    def _exceeds(self, words: str) -> None:
        """Record that there is no verdict because something takes too long: how far it got may depend on the
        load of the machine.
        """
        self.findings.append(Finding("time", words, UNKNOWN))

    def _steps(self) -> Iterator[str]:
        if self.source.took_more:
            self._exceeds(f"{self.source.took_more}: give some")
            return
        began = Budget()
        y = value_of(self.subject.primal, self.first.inputs, self.first.kwargs)
        self.like, took = y, began.used()
        if self.depth == "quick" and self._is_slow(took) and self._is_slow(took := self._time_of_a_call()):
            self._exceeds(f"a call takes {engineering(took, 's')}, too long for a quick check")
            return
        unsteady = effects.primal_is_steady(self.subject, self.first, y)
        if unsteady is not None:
            self.findings.append(unsteady)
            yield "the function"
            return
        self.heeded = heeded_warnings_at(self.subject, self.first)
        self._look(self.first, y)
        if self._holds_what_is_missing():
            self._look(self.first, y)
        yield self.first.origin
        yield from self._variants()
        each = 0 if self.depth == "quick" else len(self.source.choices)
        for number in range(1, max(POINTS[self.depth], each)):
            self._look_somewhere(number)
            yield f"point {number + 1}"
            yield from self._variants()
        yield from self._options_elsewhere()
        if self.depth != "quick":
            for point in self._odd_ones():
                self._look(point)
                yield point.origin
        with_arms = not self.is_witness  # a proof treats each arm as a case of its own
        for probe in self.probes if with_arms else ():
            self.reached |= arms_at(self.subject, probe.point)
        for point, lines in points_reaching_new_lines(
            self.subject, self._candidates(), self.reached, MORE[self.depth], self._is_usable, with_arms
        ):
            self._look(point)
            if self.probes and self.probes[-1].point is point:
                self.reached |= lines
            yield point.origin
        if self.depth != "quick" or self.is_witness:
            for point in self._beside_borders():
                self._look(point)
                yield point.origin
        yield from self._last_steps()
        if not any(finding.level == WRONG for finding in self.findings):
            yield from self._defaults_elsewhere()
            yield from self._options_where_it_varies()

    def _beside_borders(self) -> Iterator[Point]:
        """Points beside borders between branches of the rule, if nothing is wrong so far."""
        if any(finding.level == WRONG for finding in self.findings) or self.subject.reverse is None:
            return
        if not doctor.has_branches(self.subject):
            return
        usual = [p.point for p in self.probes if p.failure is None and p.point.like is None]
        usual = [point for point in usual if not point.far]
        leaps = (p for pair in point_pairs(usual) for p in beside_leaps(self.subject, *pair))
        for beside in (leaps, beside_missed_borders(self.subject, usual)):
            yield from itertools.islice(filter(self._is_usable, beside), BESIDE_BORDERS)

    def _is_slow(self, took: float) -> bool:
        """Whether a call of this duration is too slow for a quick check."""
        return took * QUICK_CALLS * max(1, to_vec(self.first.inputs)[0].size) > QUICK_SECONDS

    def _time_of_a_call(self) -> float:
        """The duration of the shortest of some calls, in seconds: the very first may have loaded a
        library.
        """

        def timed() -> float:
            began = Budget()
            value_of(self.subject.primal, self.first.inputs, self.first.kwargs)
            return began.used()

        return min(timed() for _ in range(CALLS_TIMED))

    def _last_steps(self) -> Iterator[str]:
        whole = [probe for probe in self.probes if probe.failure is None]
        smooth = [probe for probe in whole if probe.truth.is_smooth]
        # Answers that are not finite are judged point by point.
        asked = [probe for probe in smooth if np.all(np.isfinite(probe.answers))] or smooth or whole
        # A rule may return double precision for single: that is no effect of a call.
        asked = [probe for probe in asked if not is_single(probe.point.inputs)] or asked
        if len(asked) > 1:
            if self.depth != "quick":
                self._ask_effects(asked[-1], asked[0])
            for probe, other in _of_most_numbers(asked) if self.subject.reverse is not None else ():
                self.findings += effects.state_kept(self.subject, probe, other)
            yield "effects"
        if self.output_tangent is not None and self.probes:
            self._ask_given_tangent(self.probes[0])
            yield "the given tangent"
        if self.other is not None and self.depth != "quick":
            self._ask_other_mode()
            yield "frule against rrule"
        if self.order == 2 and self.f is not None:
            for probe in [p for p in self.probes if p.failure is None and p.point.like is None][:3]:
                self._count("second order")
                self.findings += second_order_findings(self.f, probe, self.rng)
                yield "second order"

    def _odd_ones(self) -> Iterator[Point]:
        """Points of each odd kind: one with ties, one on each side of every constant in the code, and in any
        case around those compared with.
        """
        seen: dict[str, int] = {}
        deciding = {f"around {mark:g}" for mark in branching_numbers(self.subject)}
        for point in self._odd_points(self.first):
            times = seen.get(point.origin, 0)
            most = 1 if point.origin in ODD_ORIGINS else 2
            is_wanted = times or len(seen) < ODD or point.origin in deciding
            if times < most and is_wanted and self._is_usable(point):
                seen[point.origin] = times + 1
                yield point

        yield from self._mirrored_arrays()

    def _mirrored_arrays(self) -> Iterator[Point]:
        """The first point with arrays, with the sign of one argument at a time changed, if the very first
        point has no arrays.
        """
        if has_arrays(self.first):
            return
        drawn = (p.point for p in self.probes if p.point.origin in PLAIN and not p.point.far)
        given = len(self.first.inputs) - self._defaults()
        for first in itertools.islice(filter(has_arrays, drawn), 1):
            for inputs in itertools.islice(mirrored(first.inputs), given):
                point = first.moved(inputs, "with another sign")
                if self._is_usable(point):
                    yield point

    def _odd_points(self, point: Point) -> Iterator[Point]:
        """Odd points in which defaults keep their sign, since a width or a bound is positive, and arguments
        that lie in an interval, such as shares and weights, stay in it.
        """
        defaults = self._positions_of_defaults()
        intervals = self.source.intervals()
        for odd in odd_points(self.subject, point, self.rng):
            pairs = enumerate(zip(odd.inputs, point.inputs))
            signed = [x if i not in defaults or _have_same_signs(x, mine) else mine for i, (x, mine) in pairs]
            outside = {i for i, interval in intervals.items() if not lies_in(signed[i], *interval)}
            inputs = tuple(point.inputs[i] if i in outside else x for i, x in enumerate(signed))
            if not outside or any(map(_differ, inputs, point.inputs)):
                yield dataclasses.replace(odd, inputs=inputs)

    def _candidates(self) -> Iterator[Point]:
        for probe in self.probes[:3]:
            yield from self._odd_points(probe.point)
        for number in range(20):
            yield self._point(number + 1)
        # A branch at a constant, `gamma == 1.0`, may need positive arguments, because of a logarithm.
        for probe in self.probes[:3]:
            for odd in self._odd_points(probe.point):
                yield dataclasses.replace(odd, inputs=self._positive(odd.inputs))
        for probe in self.probes[:3]:  # one argument larger than the others, like a bound of their size
            yield from self._with_one_beyond(probe.point)

    def _with_one_beyond(self, point: Point) -> Iterator[Point]:
        """A point with one of its arguments many times larger, and many times smaller, than it is."""
        held = self.source.intervals()
        for i, x in enumerate(point.inputs):
            for factor in BEYOND if i not in held else ():
                changed = revalued((x,), partial(np.multiply, factor))
                inputs = (*point.inputs[:i], *changed, *point.inputs[i + 1 :])
                yield point.moved(inputs, "with one argument of another size")

    def _positive(self, inputs: tuple) -> tuple:
        """The absolute values of the inputs, except of those that lie in an interval."""
        held = self.source.intervals()
        return tuple(x if i in held else revalued((x,), np.abs)[0] for i, x in enumerate(inputs))

    def _holds_what_is_missing(self) -> bool:
        """Whether the rule says that the cotangents of some inputs are not implemented but returns others:
        those are judged, and these inputs are held fixed.
        """
        if not self.refused or not isinstance(self.refused[-1].failure, NotImplementedTangentError):
            return False
        y, back = self.subject.reverse(*fresh(self.first.inputs), **self.first.kwargs)  # type: ignore[misc]
        missing = [i for i, bar in enumerate(back(y)) if isinstance(unthunk(bar), NotImplementedTangent)]
        constant = self.first.constant.union(missing)
        floats = enumerate(self.first.floats)
        if not missing or not any(to_vec(x)[0].size for i, x in floats if i not in constant):
            return False
        self.missing = [self.subject.names[i] for i in missing]
        self.first = dataclasses.replace(self.first, constant=constant)
        self.refused.pop()
        return True

    def _look_somewhere(self, number: int) -> None:
        for attempt in range(4):
            point = self._point(number + ATTEMPTS_APART * attempt)
            y = self._usable(point)
            if y is not None:
                self._look(point, y)
                return
            self.skipped += 1

    def _ask_given_tangent(self, probe: Probe) -> None:
        """Check the cotangent that the caller gave, as one more seed; ones and zeros hide mistakes."""
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
        """Run the dot-product test: the forward and reverse rules are one linear map and its transpose."""
        assert self.other is not None
        for probe in [p for p in self.probes if p.failure is None and p.units][:3]:
            self._count("frule against rrule")
            forward = probe_forward(self.other, probe.point, probe.truth, self.rng)
            if forward.failure is not None:
                self.findings.append(
                    Finding("frule against rrule", f"the frule {failure_found(forward).words}")
                )
                continue
            columns = forward.answers[: probe.truth.directions.shape[1]].T
            limit = Tolerance.of(probe)
            with np.errstate(all="ignore"):
                allowed = limit.rtol * np.abs(columns) + limit.atol * most(columns)
                off = np.abs(columns - probe.matrix) > allowed + rounding(probe, np.eye(len(columns)))
            if np.any(off):
                k, i = (int(j) for j in np.argwhere(off)[0])
                name = next(leaf.spot(i) for leaf in probe.truth.inputs if leaf.start <= i < leaf.stop)
                words = (
                    f"the frule and the rrule disagree: for {name} "
                    f"{columns[k, i]:.8g} forwards, {probe.matrix[k, i]:.8g} in reverse"
                )
                self.findings.append(Finding("frule against rrule", words, probe=probe))

    def _diagnose(self) -> None:
        if not any(finding.level == WRONG for finding in self.findings):
            return
        # A correction shows that general matrices are intended, not only symmetric ones.
        if not self.is_witness or self._right_if_symmetric():
            tries = QUICK_CORRECTIONS if self.depth == "quick" else None
            probes, compared = self._for_the_doctor()
            shown = {id(probe.point) for probe in probes}
            whole = (p for p in self.probes if p.point.like is not None and p.failure is None)
            others = [probe for probe in whole if id(probe.point) not in shown]
            elsewhere, off = self._elsewhere(), self._probes_off(self._wrong())
            wrong = [p for p in self.probes if id(p) in off and p.failure is None]
            try:
                self.diagnoses = tuple(
                    doctor.diagnose(
                        self.subject, probes, compared, self.findings, tries, elsewhere, others, wrong
                    )
                )
            except Exception as error:
                if not self.subject.is_raised_by_rule(error):
                    raise

    def _elsewhere(self) -> list[Point]:
        """Points of other kinds than those judged, at which a corrected rule must be right."""
        return [self.first.moved(self._inputs(args), doctor.OF_OTHER_KINDS) for args in self.source.elsewhere]

    def _for_the_doctor(self) -> tuple[list[Probe], list[tuple[Probe, Closeness]]]:
        """The probes and comparisons, without odd points and odd cotangents if the mistake is visible without
        them: at these, a mistake may look like another one, or have no effect by chance.
        """
        usual = [(p, c) for p, c in self.compared if not is_odd(p.point)]
        if not any(c.wrong.any() for _, c in usual):
            usual = self.compared
        cut = [(p.of_usual_seeds(), c.of_rows(p.usual)) if p.odd else (p, c) for p, c in usual]
        if any(c.wrong.any() for _, c in cut):
            kept = {id(p): q for (p, _), (q, _) in zip(usual, cut)}
        else:
            kept, cut = {id(p): p for p, _ in usual}, usual
        failed = [p for p in self.probes if p.failure is not None]
        if not any(c.wrong.any() for _, c in cut):
            plain = [p for p in self.probes if not is_odd(p.point)]
            if any(f.level == WRONG and any(f.probe is p for p in plain) for f in self.findings):
                return plain, [(p, c) for p, c in self.compared if not is_odd(p.point)]
            return self.probes, self.compared
        return [kept.get(id(p), p) for p in self.probes if id(p) in kept or any(p is q for q in failed)], cut

    def result(self, *, interrupted: bool = False) -> RuleCheck:
        """The report of the results so far."""
        points = tuple(
            PointShown(p.point.origin, tuple(shortened(x) for x in p.point.inputs)) for p in self.probes
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
            loses=self._loses(),
            no_number_at=self.no_number_at,
            at_ties=self.at_ties,
            unreached=self._unreached(),
            beside=alternatives_in_words(self.beside, self._arrays_judged()),
        )

    def _arrays_judged(self) -> set[str]:
        """The names of the arguments that were drawn as arrays."""
        arrays = ("vector", *MATRICES)
        choices = self.source.choices
        return {n for kinds in choices for n, k in zip(self.subject.names, kinds) if k.form in arrays}

    def _loses(self) -> str:
        """Where digits are lost, in words; empty if none are."""
        if not self.lost:
            return ""
        point = max(self.lost, key=lambda p: np.abs(to_vec(p.point.floats)[0]).max(initial=0.0)).point
        return ", ".join(
            f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, point.inputs) if to_vec(x)[0].size
        )

    def _is_open(self) -> bool:
        """Whether something is wrong or unknown: then the headline says nothing else."""
        return not self.probes or any(finding.level in (WRONG, UNKNOWN) for finding in self.findings)

    def _checks(self) -> Iterator[CheckSummary]:
        for name, times in self.times.items():
            found = [f for f in self.findings if _is_of(f, name)]
            levels = {f.level for f in found}
            verdict = next((level for level in (WRONG, UNKNOWN) if level in levels), "right")
            yield CheckSummary(name, verdict, times, found[0].words if found else _PROMISES.get(name, ""))

    def _given_complex(self) -> list[str]:
        """The arguments that are real at all points and for which the rule gives complex numbers."""
        found = frozenset().union(*(complex_for_real(self.subject, probe) for probe in self.probes))
        inputs = [zip(self.subject.names, probe.point.inputs) for probe in self.probes if found]
        are_complex = {name for each in inputs for name, x in each if np.iscomplexobj(x)}
        return [name for name in self.subject.names if name in found - are_complex]

    def _notes(self) -> Iterator[str]:
        yield from self.source.notes
        if self.source.drawn:
            each = (
                ", ".join(f"{n}: {k}" for n, k in zip(self.subject.names, kinds))
                for kinds in self.source.choices
            )
            shown = _first_of([*dict.fromkeys(each)])
            yield f"arguments were drawn ({shown}); give others, or a domain, to look elsewhere"
        for i in sorted(self.first.constant):
            name, x = self.subject.names[i], self.first.inputs[i]
            if i >= len(self.first.inputs) - self._defaults() and is_a_guard(name, x):
                yield f"{name} is held at {x:g}: the rule returns NoTangent() for it"
            elif name in wholes_said(self.subject.primal):
                yield (
                    f"{name} is held fixed: its numbers are declared to be integers, and the rule returns "
                    "NoTangent() for it"
                )
        if those := self._given_complex():
            yield f"gives complex numbers for the real {', '.join(those)}: a gradient has their real parts"
        if self.source.iterated is not None:
            yield f"judged where {self.subject.name} has converged: more steps change nothing there"
        if self.not_for_matrices:
            what = "matrices in place of vectors"
            yield f"not right for {what}, which may not be intended; {TO_JUDGE} there"
        if self.not_for_complex:
            yield f"not right for complex numbers, which may not be intended; {TO_JUDGE} there"
        if unmeasured := self._unmeasured_as_given():
            yield (
                f"the derivative for {', '.join(unmeasured)} could not be measured at the arguments given (a "
                "kink, a jump, or lost digits): what the rule gives there was not judged"
            )
        if self.skipped:
            left = "1 point was" if self.skipped == 1 else f"{self.skipped} points were"
            yield f"{left} left out: {self.subject.name} has no finite value there"
        if self.at_edges:
            left = "1 point was" if self.at_edges == 1 else f"{self.at_edges} points were"
            yield (
                f"{left} left out where the rule gives nan: {self.subject.name} has no finite value there "
                "once an argument has the other sign"
            )
        said = {finding.words for finding in self.findings}
        unanswered = [p for p in self.unanswered if failure_found(p).words not in said]
        if unanswered and self.probes:
            count, first = len(unanswered), unanswered[0]
            times = "1 point that was" if count == 1 else f"{count} points that were"
            at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, first.point.inputs))
            words = failure_found(first).words
            by = "the rule " if words.startswith("raises") else ""
            yield f"not judged at {times} not given, such as {at}: {by}{words}"
        if self.valueless:
            point = self.valueless[0][0].point
            at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, point.inputs))
            what = "a different value" if has_another_value(self.valueless[0][1]) else "no number"
            yield f"the rule gives {what} at length 1, as at {at}: not counted as a mistake"
        if self.refused:
            times = "1 point" if len(self.refused) == 1 else f"{len(self.refused)} points"
            yield f"the rule refuses {times}: {failure_found(self.refused[0]).words}"
        if self._is_open() and (unreached := self._unreached()):
            yield f"{unreached} of the rule"
        if self.not_comparable:
            yield (
                f"{self.subject.name} has a different value for the same numbers in single precision or in "
                "another memory layout: the rule was not judged there"
            )

    def _unmeasured_as_given(self) -> list[str]:
        """The arguments for which no two differences agree on any slope at the point that the caller gave."""
        if self.source.drawn or not self.compared or self._is_open():
            return []
        probe = self.compared[0][0]
        known = probe.truth.slopes.known()
        if probe.point is not self.first or not probe.truth.whole:
            return []
        blocks = ((leaf.name, known[:, leaf.start : leaf.stop]) for leaf in probe.truth.inputs)
        return [name for name, block in blocks if block.size and not block.any()]

    def _unreached(self) -> str:
        """The lines of the rule that no point reached, in words: nothing is known about them. A line that
        only refuses an argument needs no point, and a quick check has too few points to say so.
        """
        missed = lines_of(self.subject.rule_codes) - self.reached
        numbers = sorted({line for _, line in missed - raising_lines(self.subject.rule_codes)})
        if not self.reached or not numbers or self.depth == "quick":
            return ""
        at = ", ".join(map(str, numbers[:MOST_LINES]))
        more = " and more" if len(numbers) > MOST_LINES else ""
        return f"no point reached {'line' if len(numbers) == 1 else 'lines'} {at}{more}"


_PROMISES = {
    "answer": "a tuple of the right count, shapes and dtypes",
    "value": "the rule gives the value of the function",
    "linear": "for cotangents s and t: 0, 2s, s + t",
    "effects": "called again and with calls in between; writes to nothing, shares nothing",
}


def _first_of(kinds: list[str]) -> str:
    """The first kinds of arguments, and how many others there are."""
    if len(kinds) <= MOST_KINDS_SHOWN + 1:
        return "; or ".join(kinds)
    left = len(kinds) - MOST_KINDS_SHOWN
    return "; or ".join([*kinds[:MOST_KINDS_SHOWN], f"{left} other kinds, such as {kinds[-1]}"])


def _is_of(finding: Finding, name: str) -> bool:
    return name in (finding.check, f"{finding.check} {finding.argument}") or (
        finding.check == "measurement" and name.endswith(f" of {finding.argument}")
    )


def _of_most_numbers(probes: list[Probe]) -> Iterator[tuple[Probe, Probe]]:
    """The probe with most numbers among its inputs, paired with the next and with the one with fewest: what a
    rule stores for two small inputs may be equal. For two numbers that are centred and scaled, for example,
    only a sign remains.
    """
    by_size = sorted(probes, key=lambda probe: to_vec(probe.point.floats)[0].size)
    if to_vec(by_size[-1].point.floats)[0].size > 1:
        yield from ((by_size[-1], other) for other in {id(p): p for p in (by_size[-2], by_size[0])}.values())


def _differ(x: Any, y: Any) -> bool:
    return not np.array_equal(to_vec(x)[0], to_vec(y)[0])


def _have_same_signs(x: Any, other: Any) -> bool:
    return type(x) is not float or type(other) is not float or np.sign(x) == np.sign(other)


def _each_once(findings: list[Finding]) -> list[Finding]:
    """The findings, without repetitions of the same statement."""
    first: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.check, finding.words, finding.level), finding)
    return list(first.values())
