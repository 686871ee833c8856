"""Every check that numbers allow, at points of many kinds, in pieces."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..errors import (
    KeywordError,
    NotDifferentiableError,
    NotImplementedTangentError,
    RuleError,
    RuleLabError,
    RuleShapeError,
)
from ..pieces import Progress
from ..tables import engineering
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent
from . import doctor, effects
from .beside import NUMBERS, SHAPE, Answered, in_doubt, in_words
from .budgets import Budget
from .by_name import is_a_guard
from .closeness import BARS, LOST, LOST_FAR, Closeness, Tolerance, closeness, digits, rounding
from .complex_meant import may_be_of_complex
from .counts import gone_through
from .difference_methods import FiniteDifferenceMethod
from .findings import UNKNOWN, WARNING, WRONG, Diagnosis, Finding
from .kinds import MATRICES
from .kinks import kink_findings
from .leaps import beside_leaps, ways
from .lengths_meant import shapes_meant
from .lengths_taken import is_longer, is_taken_by_accident, raises_when_longer
from .orders import second_order_findings
from .parameters import default_of
from .perturb import fresh, laid_out_otherwise, mirrored, nudged, revalued
from .plain_calls import HEEDED, plainly
from .points import ATTEMPTS_APART, Source, heeded_at, lines_of, odd_points, reaching, usable
from .probes import (
    Point,
    Probe,
    Truth,
    answers,
    answers_again,
    moving,
    named_leaves,
    parts_dropped,
    probe_forward,
    probe_reverse,
    quiet,
    truth_at,
    value_again,
)
from .ranks import tells_matrices
from .refusals import is_about_shapes, is_own_fault
from .reports import Checked, LookedAt, RuleCheck
from .said import complex_said, says_real, says_vectors, wholes_said
from .shortening import shortened
from .subjects import Subject, author_of
from .symmetric_meant import is_symmetric_matrix, meant_symmetric
from .variants import (
    OBLONG,
    along_each_axis,
    along_other_axes,
    annotated_complex,
    answered_as_real,
    as_matrices,
    called_complex,
    has_arrays,
    in_complex,
    in_floats,
    in_whole_numbers,
    is_called_complex_by_rule,
    makes_complex,
    may_be_complex,
    meant_complex,
    meant_real,
    mentions_complex,
    of_other_lengths,
    same_numbers,
    smaller_in_complex,
    with_fractions,
    with_larger_counts,
    with_numbers_for_none,
    with_other_counts,
    with_other_defaults,
)
from .vectors import cotangent_vec, leaves, to_vec

POINTS = {"quick": 3, "normal": 8, "deep": 40}
"""Points drawn for each depth of a check, before those that reach further lines."""
MORE = {"quick": 2, "normal": 8, "deep": 24}
QUICK_SECONDS = 1.0
"""Of the processor, after which a quick check looks at no further point: eight times what one takes usually.
A busy machine, where each point costs half as much again, is to leave none out."""
FINDING = {"quick": 1.0, "normal": 5.0, "deep": 20.0}
"""Seconds that may be spent on finding arguments that a function takes."""
QUICK_CALLS = 60
"""Calls for each number that is moved, about what a quick check makes."""
QUICK_CORRECTIONS = 200
"""Changes of the rule that a quick check tries to find the corrected line."""
ODD = 14
"""Kinds of points with ties, on numbers of the code or around them, that are looked at in any case."""
LENGTHS = {"quick": 1, "normal": 5, "deep": 12}
"""Points of other lengths than the first one with arrays."""
COUNTED = {"quick": 1, "normal": 3, "deep": 8}
"""Points with other whole numbers than those drawn."""
AT_EDGES = 1e-6
"""And by how many such derivatives exactly at a number of the code, where a series may take over."""
FAR_OFF = 1e-4
"""And how far off relatively, at points far away."""
ODD_ORIGINS = ("all equal", "with ties", "in equal pairs")
BESIDE_BORDERS = 16
"""Points beside borders of the rule."""
KINKS = 3
"""Points at a kink whose neighbourhood is searched."""
NUDGES = 6
"""How often the inputs of a rule that seems to be wrong are moved by a last digit, to see its rounding."""
VALUE_NUDGES = 16
"""And those of a rule whose value differs from that of its function: this may be the same number most "
  "of the time."""
ISOLATED = 1e-3
"""The part of their distance to an answer within which those at moved inputs lie, where it stands alone."""
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
        f: Callable[..., Any] | None = None,
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
        self.far_off: list[Finding] = []  # what was found far away, where nobody asked
        self.diagnoses: tuple[Diagnosis, ...] = ()
        self.compared: list[tuple[Probe, Closeness]] = []
        self.times: dict[str, int] = {}
        self.skipped = 0
        self.refused: list[Probe] = []
        self.unanswered: list[Probe] = []  # what a rule raised at arguments that nobody gave
        self.valueless: list[tuple[Probe, list[Finding], tuple[Probe, Closeness]]] = []  # at length 1 alone
        self.lost: list[Probe] = []  # where its numbers are off by no more than digits that got lost
        self.effects_seen: set[tuple[bool, ...]] = set()
        self.varied: set[str] = set()
        self.asks_whole_numbers = True  # other frameworks do not differentiate by them
        self.is_witness = False  # beside a proof, which needs no diagnosis: see `witness.py`
        self.heeded: tuple[type[Warning], ...] = HEEDED  # by them the function says that its value is no good
        self.reference: dict[str, float] | None = None
        self.sizes: dict[str, float] = {}  # of each input and, by "", of the value at ordinary points
        self.not_for_matrices = False  # whether it is wrong for these, and the function may not mean them
        self.not_for_complex = False  # the same of complex numbers
        self.beside: list[Answered] = []  # the same of other kinds, where nobody gave arguments
        self.not_comparable = False  # whether the function has another value for the same numbers
        self.kinks = 0
        self.at_ties = ""  # what a right rule does there, in words
        self.like: Any = None
        self.reached: set[tuple[types.CodeType, int]] = set()
        self.seconds = 0.0
        self._started, self._budget = 0.0, Budget()
        self.fdm = fdm
        self.output_tangent, self.order, self.other = output_tangent, order, other

    # -- the work --------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[Progress]:
        """Do the check, a point at each step."""
        self._started, self._budget = time.perf_counter(), Budget()
        total = POINTS[self.depth] + 3
        try:
            for done, words in enumerate(self._until_enough(), 1):
                yield Progress(min(done, total), total, words)
            self._settle_valueless()
            self._settle_far_off()
            self._settle_longer()
            self._settle_refusals()
            self.findings = _each_once([*self.findings, *self._unknown_findings()])
            self._settle_ties()
            self._settle_numberless()
            self._settle_lengths()
            self._diagnose()  # a correction is looked for where something is left to be wrong
            self._settle_symmetric()
            self._look_beside()
            yield Progress(total, total, "the mistake" if self.findings else "all checks")
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
                if not self.subject.raised(error):
                    raise
                self.findings.append(effects.again_failing(error))  # it had an answer before
                return
            yield words
            if self._is_enough():
                return

    def _settle_longer(self) -> None:
        """A rule that is right at several lengths, and raises at a longer one for its shapes, is wrong there
        if each number of the arguments counts: it is made for the lengths that somebody tried.
        """
        if any(finding.level == WRONG for finding in self.findings):
            return
        off = {id(probe) for probe, compared in self.compared if compared.wrong.any()}
        right = [p for p in self.probes if p.failure is None and id(p) not in off]
        own = (*self.subject.rule_codes, *self.subject.helpers)
        for probe in self.unanswered:
            counts = probe.truth.whole and not _looks_at_part(probe)
            if counts and raises_when_longer(probe, right, own):
                self.unanswered = [one for one in self.unanswered if one is not probe]
                self.probes.append(probe)
                self.findings.append(_failed(probe))
                return

    def _settle_refusals(self) -> None:
        """A rule that raises at most of the points says nothing about them by being right at the others."""
        if self.probes and len(self.unanswered) > len(self.probes):
            words = f"not judged at most points: it {_failed(self.unanswered[0]).words}"
            self.findings.append(Finding("answer", words, UNKNOWN, probe=self.unanswered[0]))

    def _settle_symmetric(self) -> None:
        """A rule that is wrong for square matrices of ours, or near symmetric ones that were given, in
        several cotangents, and right for symmetric ones, is written for these where no single change makes it
        right for the others.
        """
        wrong = [finding for finding in self.findings if finding.level == WRONG]
        of = {finding.argument for finding in wrong}
        if self.source.drawn:
            is_open = self.source.is_guessed
        else:
            is_open = any(map(is_symmetric_matrix, self.first.inputs))
        is_of_numbers = all(one.argument is not None or one.check == "value" for one in wrong)
        is_named = len(of) < 2 or any(one.diff for one in self.diagnoses)
        if not is_open or self.subject.reverse is None or is_named or not is_of_numbers:
            return
        drawn = [self.first, *(self._point(number) for number in range(1, 3))]
        found = meant_symmetric(drawn, self._probe_at)
        if not self.source.drawn and not all(is_symmetric_matrix(self.first.inputs[i]) for i in found):
            return
        those = [self.subject.names[i] for i in found]
        if those:
            domain = ", ".join(f'"{name}": "symmetric"' for name in those)
            words = (
                f"right for symmetric {' and '.join(those)}, and wrong for others: "
                f'say which are meant, domain={{{domain}}} or "square"'
            )
            self.findings = [finding for finding in self.findings if finding.level != WRONG]
            self.findings.append(Finding("answer", words, UNKNOWN))
            self.diagnoses = ()

    def _settle_ties(self) -> None:
        """A rule that counts each of several equal numbers, at ties that nobody gave, gives each of them a
        slope that it has on one side: where it is right otherwise that is told, and condemns no rule.
        """
        wrong = [finding for finding in self.findings if finding.level == WRONG]
        if wrong and all(one.of_several for one in wrong) and self._right_elsewhere(wrong):
            self.findings = [finding for finding in self.findings if finding.level != WRONG]
            self.at_ties = wrong[0].words

    def _settle_numberless(self) -> None:
        """A rule that gives nan or inf at arguments that nobody gave, and is right at others, need not be for
        them: whether it is, cannot be told.
        """
        wrong = [finding for finding in self.findings if finding.level == WRONG]
        if not wrong or any(np.any(c.wrong & np.isfinite(c.found)) for _, c in self.compared):
            return
        if all(map(_has_no_number, wrong)) and (points := self._right_elsewhere(wrong)):
            at = self.shown(wrong[0].probe.point)  # type: ignore[union-attr]
            words = (
                f"right at {points} points, and nan or infinite where the derivative is finite, at {at}: "
                "give --at to judge it there"
            )
            self.findings = [finding for finding in self.findings if finding.level != WRONG]
            self.findings.append(Finding("no number", words, UNKNOWN, probe=wrong[0].probe))

    def _settle_lengths(self) -> None:
        """A rule that is right for arrays of a length that stands in its text, and answers with such for
        others, may be for these alone: whether others are meant nobody has said.
        """
        wrong = [finding.probe for finding in self.findings if finding.level == WRONG]
        if None in wrong or not self.source.drawn or not self.source.is_guessed:
            return
        right = [probe for probe in self.probes if probe.failure is None]
        literals = {c for code in self.subject.rule_codes for c in code.co_consts if type(c) is int}
        meant = shapes_meant([probe for probe in wrong if probe], right, literals.__contains__)
        if meant:
            names = [self.subject.names[i] for i in meant]
            lengths = " x ".join(map(str, next(iter(meant.values()))))
            words = (
                f"right for {' and '.join(names)} of length {lengths}, and answers with that length for "
                "others: give --at to judge it at those that are meant"
            )
            self.findings = [finding for finding in self.findings if finding.level != WRONG]
            self.findings.append(Finding("answer", words, UNKNOWN, probe=wrong[0]))

    def _right_elsewhere(self, wrong: list[Finding]) -> int:
        """At how many points a rule is right that is wrong at others which nobody gave; none where there are
        too few.
        """
        if not self.source.drawn or not self.source.is_guessed:
            return 0
        found = {id(one.probe) for one in wrong} | {id(p) for p, c in self.compared if c.wrong.any()}
        usual = [p for p in self.probes if id(p) not in found and p.failure is None and not _is_odd(p.point)]
        return len(self.probes) - len(found) if len(usual) > 1 else 0

    def shown(self, point: Point) -> str:
        """The arguments of a point in short, by their names."""
        return ", ".join(f"{name} = {shortened(x)}" for name, x in zip(self.subject.names, point.inputs))

    def _look_beside(self) -> None:
        """Note for which kinds close to those judged a rule that is right has another answer, or wrong
        numbers: whether they are meant nobody has said.
        """
        is_right = not any(finding.level in (WRONG, UNKNOWN) for finding in self.findings)
        is_brief = self.depth == "quick" or self.is_witness
        if not is_right or is_brief or self.subject.reverse is None:
            return
        self._look_at_complex()
        for one, args in self.source.beside():
            found = self._probe_at(self._point_of(args))
            if found is None or _is_refusal(found.failure, odd=True):
                continue
            if isinstance(found.failure, RuleShapeError):
                self.beside.append(Answered(one, SHAPE))
            elif found.failure is None:
                compared = closeness(found, Tolerance.of(found, self.rtol, self.atol), forward=False)
                if compared.wrong.any():
                    self.beside.append(Answered(one, NUMBERS))
        name = in_doubt(self.beside, self.subject.names, self.first.constant)
        if name is not None and any(np.ndim(probe.truth.y) for probe in self.probes):
            words = (
                f"right for an array as {name}, and for a number, as its name suggests, it lacks a sum: "
                f'say which is meant, domain={{"{name}": "number"}} or "vector"'
            )
            self.findings.append(Finding("answer", words, UNKNOWN))

    def _look_at_complex(self) -> None:
        """Whether the rule of a function that is as usual for complex numbers, and says nothing of them, is
        right for these: at the first point of as many axes as any.
        """
        primal = self.subject.primal
        if "complex" in self.varied or not may_be_of_complex(primal) or says_real(primal):
            return
        plain = [p.point for p in self.probes if p.failure is None and not _is_odd(p.point)]
        first = max(plain, key=lambda point: max(map(np.ndim, point.inputs), default=0), default=None)
        point = None if first is None else in_complex(first, np.random.default_rng(0))
        y = None if point is None else self._in_complex_value(point)
        if point is not None and y is not None:
            found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
            self.not_for_complex = found.failure is None and self._is_wrong_at(found)

    def _probe_at(self, point: Point) -> Probe | None:
        """The rule asked at a point; None where the function has no value there."""
        y = self._usable(point)
        return None if y is None else self._probe(point, truth_at(self.subject, point, self.rng, y))

    def _settle_far_off(self) -> None:
        """What was found far away confirms what was found elsewhere; alone it condemns no rule, for there
        the function itself may have lost its digits.
        """
        wrong = [finding for finding in self.far_off if finding.level == WRONG]
        if not wrong or any(finding.level == WRONG for finding in self.findings):
            self.findings += self.far_off
            return
        self.findings += [finding for finding in self.far_off if finding.level != WRONG]
        words = f"right at ordinary numbers, but not far from them: {wrong[0].words}"
        self.findings.append(dataclasses.replace(wrong[0], check="far away", words=words, level=UNKNOWN))

    def _is_enough(self) -> bool:
        wrong = any(finding.level == WRONG for finding in self.findings)
        late = self._budget.used() > QUICK_SECONDS
        usual = sum(not _is_odd(probe.point) for probe in self.probes)
        return self.depth == "quick" and (wrong and usual > 1 or late and bool(self.probes))

    def _steps(self) -> Iterator[str]:
        began = Budget()
        y = plainly(self.subject.primal, self.first.inputs, self.first.kwargs)
        self.like, took = y, began.used()
        if self.depth == "quick" and self._is_slow(took) and self._is_slow(took := self._time_of_a_call()):
            words = f"a call takes {engineering(took, 's')}, too long for a quick check"
            self.findings.append(Finding("time", words, UNKNOWN))
            return
        unsteady = effects.primal_is_steady(self.subject, self.first, y)
        if unsteady is not None:
            self.findings.append(unsteady)
            yield "the function"
            return
        self.heeded = heeded_at(self.subject, self.first)
        self._look(self.first, y)
        yield self.first.origin
        yield from self._variants()
        for number in range(1, POINTS[self.depth]):
            self._look_somewhere(number)
            yield f"point {number + 1}"
            yield from self._variants()
        if self.depth != "quick":
            for point in self._odd_ones():
                self._look(point)
                yield point.origin
        for point in reaching(
            self.subject, self._candidates(), self.reached, MORE[self.depth], self._is_usable
        ):
            self._look(point)
            yield point.origin
        if self.depth != "quick" or self.is_witness:
            for point in self._beside_borders():
                self._look(point)
                yield point.origin
        yield from self._last_steps()

    def _beside_borders(self) -> Iterator[Point]:
        """Points beside borders of the rule, where nothing is wrong so far."""
        if any(finding.level == WRONG for finding in self.findings) or self.subject.reverse is None:
            return
        if not doctor.has_branches(self.subject):
            return
        usual = [p.point for p in self.probes if p.failure is None and p.point.like is None]
        pairs = ways([point for point in usual if not point.far])
        beside = (point for pair in pairs for point in beside_leaps(self.subject, *pair))
        yield from itertools.islice(filter(self._is_usable, beside), BESIDE_BORDERS)

    def _is_slow(self, took: float) -> bool:
        """Whether a call that takes so long is too long for a quick check."""
        return took * QUICK_CALLS * max(1, to_vec(self.first.inputs)[0].size) > 1.0

    def _time_of_a_call(self) -> float:
        """The seconds of one call that is not the first: that one may have loaded a library."""
        began = Budget()
        plainly(self.subject.primal, self.first.inputs, self.first.kwargs)
        return began.used()

    def _last_steps(self) -> Iterator[str]:
        whole = [probe for probe in self.probes if probe.failure is None]
        asked = [probe for probe in whole if probe.truth.is_smooth] or whole
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
        """Points of each odd kind: one with ties, one on each side of every number in the code."""
        seen: dict[str, int] = {}
        for point in self._odd_points(self.first):
            times = seen.get(point.origin, 0)
            most = 1 if point.origin in ODD_ORIGINS else 2
            if times < most and (times or len(seen) < ODD) and self._is_usable(point):
                seen[point.origin] = times + 1
                yield point

        yield from self._mirrored_arrays()

    def _mirrored_arrays(self) -> Iterator[Point]:
        """The first point with arrays, in each argument with the other sign, if the very first has none."""
        if has_arrays(self.first):
            return
        drawn = (p.point for p in self.probes if p.point.origin in _PLAIN and not p.point.far)
        given = len(self.first.inputs) - self._defaults()
        for first in itertools.islice(filter(has_arrays, drawn), 1):
            for inputs in itertools.islice(mirrored(first.inputs), given):
                point = first.moved(inputs, "with another sign")
                if self._is_usable(point):
                    yield point

    def _odd_points(self, point: Point) -> Iterator[Point]:
        """Odd points, with defaults of the sign that they have, for a width or a bound is positive, and with
        shares and weights, which lie in an interval, in this.
        """
        defaults = range(len(point.inputs) - self._defaults(), len(point.inputs))
        intervals = self.source.intervals()
        for odd in odd_points(self.subject, point, self.rng):
            pairs = enumerate(zip(odd.inputs, point.inputs))
            signed = [x if i not in defaults or _have_same_signs(x, mine) else mine for i, (x, mine) in pairs]
            outside = {i for i, interval in intervals.items() if not _lies_in(signed[i], *interval)}
            inputs = tuple(point.inputs[i] if i in outside else x for i, x in enumerate(signed))
            if not outside or any(map(_differ, inputs, point.inputs)):
                yield dataclasses.replace(odd, inputs=inputs)

    def _candidates(self) -> Iterator[Point]:
        for probe in self.probes[:3]:
            yield from self._odd_points(probe.point)
        for number in range(20):
            yield self._point(number + 1)

    def _point(self, number: int) -> Point:
        inputs = self._inputs(self.source.args_at(number))
        far = self.source.is_far(number)
        return self.first.moved(inputs, self.source.origin(number), far=far, guessed=self.source.is_guessed)

    def _point_of(self, args: tuple) -> Point:
        """The point of arguments that were drawn of kinds beside those judged."""
        first = dataclasses.replace(self.first, forms=())  # they are of what is judged
        return first.moved(self._inputs(args), "of other kinds", guessed=True)

    def _usable(self, point: Point) -> Any:
        y, iterated = usable(self.subject, point, self.like, self.heeded), self.source.iterated
        if y is None or iterated is None or iterated.has_ended(point.inputs, point.kwargs, y):
            return y
        return None

    def _is_usable(self, point: Point) -> bool:
        return self._usable(point) is not None

    # -- the same otherwise ----------------------------------------------------------------------------------

    def _variants(self) -> Iterator[str]:
        """The last point as users have it, where it is the first with arrays, or the first at all."""
        probe = self.probes[-1] if self.probes else None
        if probe is None or probe.failure is not None or probe.point.far or probe.point.origin not in _PLAIN:
            return
        arrays = has_arrays(probe.point)
        if "axes" not in self.varied:
            yield from self._along_other_axes(probe)
        apart = len({x.shape for x in probe.point.floats if isinstance(x, np.ndarray)}) > 1
        if (defaults := "defaults apart" if apart else "defaults") not in self.varied:
            self.varied.add(defaults)
            yield from self._with_other_defaults(probe)
        if ("arrays" if arrays else "numbers") in self.varied:
            if apart and "longer apart" not in self.varied:
                self.varied.add("longer apart")
                yield from self._of_other_lengths(probe, is_longer)
            return
        self.varied.add("arrays" if arrays else "numbers")
        for point in same_numbers(probe.point, probe.truth.y):
            self._look_like(point, probe)
            yield point.origin
        yield from self._in_whole_numbers(probe)
        yield from self._with_larger_counts(probe)
        if arrays:
            yield from self._of_other_lengths(probe)
            yield from self._with_other_counts(probe)
            if self.depth != "quick" or self.is_witness:
                yield from self._as_matrices(probe)
        spoken = bool(self._mentions_complex() or called_complex(self.subject))
        spoken = spoken and not says_real(self.subject.primal)
        if "complex" not in self.varied and (spoken or complex_said(self.subject.primal)):
            self.varied.add("complex")
            yield from self._in_complex(probe)

    def _along_other_axes(self, probe: Probe) -> Iterator[str]:
        """Other axes than that by default, where nobody gave one."""
        names, keyword = self.subject.names, default_of(self.subject.primal, "axis")
        said = "axis" in names[: len(self.source.args)] or "axis" in probe.point.kwargs
        for point in () if said else along_other_axes(probe.point, names, keyword):
            self.varied.add("axes")
            y = self._usable(point)
            if y is not None:
                self._look(point, y)
                yield point.origin

    def _with_other_defaults(self, probe: Probe) -> Iterator[str]:
        """Other flags and whole numbers than those by default, where nobody gave one."""
        given, left = len(self.first.inputs) - self._defaults(), COUNTED[self.depth]
        for point in with_other_defaults(probe.point, self.subject.names, given, self.subject.primal):
            y = self._usable(point) if left else None
            if y is not None:
                left -= 1
                self._look(point, y)
                yield point.origin
        for i, point in with_numbers_for_none(probe.point, self.subject.names, given, self.rng):
            y = self._usable(point) if left else None
            bar = self._cotangent_of(i, point, y) if y is not None else None
            if bar is not None and _same_form(y, probe.truth.y):
                left -= 1
                is_constant = isinstance(bar, NoTangent)
                constant = point.constant | {i} if is_constant else point.constant - {i}
                self._look(dataclasses.replace(point, constant=constant), y)
                yield point.origin

    def _cotangent_of(self, position: int, point: Point, y: Any) -> Any:
        """What the rule answers for an input; None where it refuses these, which nobody gave."""
        if self.subject.reverse is None:
            return None
        with contextlib.suppress(Exception), quiet():
            _, back = self.subject.reverse(*fresh(point.inputs), **point.kwargs)
            return back(y)[position]
        return None

    def _defaults(self) -> int:
        """How many of the inputs stand for defaults: the last ones, which nobody gave."""
        inputs, args = self.first.inputs, self.source.args
        is_bound = bool(inputs) and bool(args) and inputs[0] is not args[0]
        return len(inputs) - len(args) - is_bound

    def _with_other_counts(self, probe: Probe) -> Iterator[str]:
        """Other whole numbers than those that we have drawn: of one part, or of parts of one number, there is
        no telling in which order they are.
        """
        drawn = enumerate(probe.point.inputs[: len(self.source.args)] if self.source.drawn else ())
        counts = [i for i, x in drawn if type(x) is int and self.subject.names[i] != "axis"]
        left = COUNTED[self.depth]
        for point in with_other_counts(probe.point, counts, self.rng):
            y = self._usable(point) if left else None
            if y is not None and _ranks(y) == _ranks(probe.truth.y):
                left -= 1
                self._look(point, y)
                yield point.origin

    def _with_larger_counts(self, probe: Probe) -> Iterator[str]:
        """Larger whole numbers than those that we have drawn: what stops at five is right for the others."""
        kinds = self.source.choices[0] if self.source.drawn else ()
        counts = [i for i, kind in enumerate(kinds) if kind.form == "integer" and not kind.dims]
        counts = [i for i in counts if np.isinf(kinds[i].high) and type(probe.point.inputs[i]) is int]
        names = {i: self.subject.names[i] for i in counts}
        stay = gone_through(self.subject.primal).issuperset(names.values())
        for point in with_larger_counts(probe.point, names, self.subject.codes, self.rng, stay):
            y = self._usable(point)
            if y is not None and _ranks(y) == _ranks(probe.truth.y):
                self._look(point, y)
                yield point.origin

    def _in_whole_numbers(self, probe: Probe) -> Iterator[str]:
        """Whole numbers instead of floats: the derivative is the same, a buffer like the argument is not."""
        if not self.asks_whole_numbers:
            return
        given = self.source.whole if probe.point is self.first else None
        floats = in_floats(probe.point, None if given is None else self._inputs(given))
        yield from self._judged_in_whole_numbers(floats, in_whole_numbers(floats))
        mixed = with_fractions(floats, probe.point) if given is None else None
        if mixed is not None:
            yield from self._judged_in_whole_numbers(mixed, in_whole_numbers(mixed))

    def _judged_in_whole_numbers(self, floats: Point, whole: Point | None) -> Iterator[str]:
        y = self._usable(floats)
        if whole is None or y is None or not self._agrees_in_whole_numbers(whole, y):
            return
        truth = truth_at(self.subject, floats, self.rng, y, self.fdm)
        found = self._probe(whole, truth)
        if found.failure is None and not _is_held(found):
            value = _floats_of(found.y)
            if value.shape == to_vec(y)[0].shape:
                # Whole numbers are compared as floats.
                found = dataclasses.replace(found, y=to_vec(y)[1](value))
            self._judge(found)
            yield whole.origin

    def _agrees_in_whole_numbers(self, whole: Point, y: Any) -> bool:
        try:
            found = plainly(self.subject.primal, whole.inputs, whole.kwargs)
        except Exception:
            return False
        one, other = _floats_of(found), to_vec(y)[0]
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-12, atol=1e-12))

    def _of_other_lengths(
        self, probe: Probe, is_meant: Callable[[Point, Point], bool] = lambda point, usual: True
    ) -> Iterator[str]:
        """The point at other lengths, those that are meant beside those it has."""
        left = LENGTHS["normal" if self.is_witness else self.depth]
        codes = (*self.subject.codes, *self.subject.helpers)
        for point in of_other_lengths(probe.point, codes, self.rng):
            if not left:
                return
            y = self._usable(point) if is_meant(point, probe.point) else None
            if y is None or _ranks(y) != _ranks(probe.truth.y):
                continue
            if is_taken_by_accident(self.subject.primal, point, probe.point):
                continue
            left -= 1
            self._look(point, y)
            yield point.origin

    def _as_matrices(self, probe: Probe) -> Iterator[str]:
        """Matrices for vectors, where the function does to each number of them what it does to a vector's; a
        rule that fails for matrices was written for vectors. Where it makes the same number, or the same
        vector, of them, matrices may not be meant, and a rule that is wrong there (`/ len(x)`) is condemned
        only where it tells them from vectors, or is right if they are not transposed in memory. None are
        asked about where the function says that it is for vectors.
        """
        points = as_matrices(probe.point, self.rng, OBLONG)
        if points is None or says_vectors(self.subject.primal):
            return
        y, flat = map(self._usable, points)
        if y is None or flat is None or not _is_the_same_flat(y, flat):
            return
        found = self._probe(points[0], truth_at(self.subject, points[0], self.rng, y, self.fdm))
        if found.failure is not None:
            return
        if self._is_of_matrices(y) or not self._is_wrong_at(found):
            self._judge(found)
            turned = laid_out_otherwise(points[0].inputs, "transposed")
            if turned is not None:
                self._look_like(points[0].having(turned, f"{points[0].origin}, transposed in memory"), found)
        else:
            self.not_for_matrices = True
        yield points[0].origin

    def _is_of_matrices(self, y: Any) -> bool:
        """Whether a value is a matrix as the arguments are, or some text tells matrices from vectors."""
        with_numbers = any(kind.form == "number" for kinds in self.source.choices for kind in kinds)
        rule = self.subject.rule
        authors = (self.subject.primal, *(() if rule is None else (author_of(rule),)))
        return np.ndim(y) > 1 or any(tells_matrices(author, with_numbers) for author in authors)

    def _is_wrong_at(self, probe: Probe) -> bool:
        limit = Tolerance.of(probe, self.rtol, self.atol)
        return bool(closeness(probe, limit, forward=self.subject.reverse is None).wrong.any())

    def _in_complex(self, probe: Probe) -> Iterator[str]:
        """Complex numbers, where the code has words for them: for what it takes apart as one does with these,
        for each argument alone where the others may be real, and for all.

        A rule that answers with real numbers for some of them was written for these, unless it is right but
        for the imaginary parts, which it drops. Without such words that is all that is asked, of arguments
        called `z`.
        """
        meant = meant_complex(self.subject)
        each = [frozenset([i]) for i in may_be_complex(self.subject, probe.point)]
        every = frozenset(i for one in each for i in one) or None  # a rate beside a signal is real
        mentioned, real = self._mentions_complex(), meant_real(self.subject, probe.point)
        real |= self._answered_as_real(probe.point) - meant - called_complex(self.subject)
        called = called_complex(self.subject)
        if meant and all(isinstance(probe.point.inputs[i], np.ndarray) for i in meant):  # a bound is real
            real |= {i for i, x in enumerate(probe.point.inputs) if type(x) is float}
        kinds = (*([meant] if meant else []), *each, every) if mentioned else (called,)
        if makes_complex(self.subject):
            kinds = tuple(filter(None, (meant, called)))
        said = complex_said(self.subject.primal)
        if said:  # and the others are real
            kinds = (frozenset(i for i, name in enumerate(self.subject.names) if name in said),)
        for positions in dict.fromkeys(kinds):
            point = in_complex(probe.point, self.rng, positions, real)
            for one in (point, point and smaller_in_complex(point)):  # on both sides of a bound beside them
                if one is None or not self._is_judged_in_complex(one, mentioned, positions == meant):
                    break
                yield one.origin

    def _mentions_complex(self) -> bool:
        """Whether the code, or an annotation of the function, has words for complex numbers."""
        return mentions_complex(self.subject) or bool(annotated_complex(self.subject))

    def _answered_as_real(self, point: Point) -> frozenset[int]:
        """The positions of the inputs for which the rule itself makes a real number of a complex cotangent
        where another input alone is complex: a bound or a width is real, and no complex one is meant.
        """
        found: set[int] = set()
        for i in range(len(point.inputs)):
            one = in_complex(point, np.random.default_rng(0), frozenset([i]))
            y = None if one is None else self._in_complex_value(one)
            if one is not None and any(leaf.dtype.kind == "c" for leaf in leaves(y)):
                found.update(j for j in answered_as_real(self.subject, one, y) if j != i)
        return frozenset(found)

    def _is_judged_in_complex(self, point: Point, mentioned: bool, is_meant: bool) -> bool:
        y = self._in_complex_value(point) if point.is_inside() else None
        if y is None:
            return False
        found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
        if found.failure is not None or self._takes_reals_for(found):
            return False
        held = mentioned and (is_meant or _answers_in_complex(found))
        is_judged = held or _drops_imaginary_parts(self.subject, found)
        if is_judged:
            self._judge(found)
        return is_judged

    def _takes_reals_for(self, probe: Probe) -> bool:
        """Whether a rule has a real value where that of its function is complex, and the rule alone speaks of
        complex numbers: it finds real ones by way of them.
        """
        is_other = _is_made_of_complex(probe.truth.y) and not _is_made_of_complex(probe.y)
        return is_other and is_called_complex_by_rule(self.subject)

    def _in_complex_value(self, point: Point) -> Any:
        try:
            y = plainly(self.subject.primal, point.inputs, point.kwargs)
        except Exception:
            return None
        return y if to_vec(y)[0].size and np.all(np.isfinite(to_vec(y)[0])) else None

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
            point = self._point(number + ATTEMPTS_APART * attempt)
            y = self._usable(point)
            if y is not None:
                self._look(point, y)
                return
            self.skipped += 1

    def _look(self, point: Point, y: Any = None) -> None:
        truth = truth_at(self.subject, point, self.rng, y, self.fdm)
        self._judge(self._probe(point, truth))

    def _look_like(self, point: Point, like: Probe) -> None:
        """At the numbers of a point whose derivative is known."""
        y = self._usable(point)
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
        may_be_guess = probe.point.guessed and not probe.spent
        if probe.failure is not None and may_be_guess and self._may_be_the_guess(probe):
            self.unanswered.append(probe)
            return
        self.reached |= probe.lines
        findings = list(self._of_probe(probe))
        if probe.point.guessed and _is_of_one(probe) and probe.failure is None:
            if _has_another_value(findings) or self._has_no_number(probe, findings):
                self.valueless.append((probe, findings, self.compared.pop()))
                return
        self.probes.append(probe)
        (self.far_off if probe.point.far else self.findings).extend(findings)
        self._ask_effects_of_new(probe)

    def _has_no_number(self, probe: Probe, findings: list[Finding]) -> bool:
        """Whether all that is wrong with an answer is that it has nan or inf for numbers."""
        wrong = [finding for finding in findings if finding.level == WRONG]
        if not wrong or probe.failure is not None or not self.compared or self.compared[-1][0] is not probe:
            return False
        compared, value = self.compared[-1][1], to_vec(probe.y)[0]
        is_other = any(finding.check == "value" for finding in wrong)
        if is_other and (np.all(np.isfinite(value)) or not _is_off_by_digits(probe)):
            return False
        return not np.any(compared.wrong & np.isfinite(compared.found))

    def _settle_valueless(self) -> None:
        """That a rule divides by zero at a length of one, where all vectors are in line, or has another value
        there, where the first element is the last, and is right at longer ones, is no mistake; a rule that
        nobody has asked at longer ones is judged at that.
        """
        if any(not _is_of_one(probe) for probe in self.probes):
            return
        for probe, findings, compared in self.valueless:
            self.probes.append(probe)
            self.compared.append(compared)
            self.findings += findings
        self.valueless = []

    def _may_be_the_guess(self, probe: Probe) -> bool:
        """Whether what a rule raised may be owing to arguments that it is not for, and is no mistake.

        What it would raise at any arguments is one, and so is an answer of another form, but for
        one that leaves out what the function does not look at: a polynomial has as many coefficients as it
        has.
        """
        error = probe.failure
        if isinstance(error, RuleShapeError):
            return _looks_at_part(probe) or self._ignores_the_rest(probe)
        if is_own_fault(error, probe.point.inputs) or isinstance(error, RuleError):
            return False
        return not (is_about_shapes(error) and self._answers_along_another_axis(probe))

    def _answers_along_another_axis(self, probe: Probe) -> bool:
        """Whether the rule has an answer for the same arrays where a flag or the axis is another: it is for
        arrays of this kind, then.
        """
        for point in along_each_axis(probe.point, self.subject.names):
            y = self._usable(point)
            if y is not None and answers(self.subject, point, y):
                return True
        return False

    def _ignores_the_rest(self, probe: Probe) -> bool:
        """Whether the function does not change with the numbers of arrays beyond those for which the rule has
        cotangents.
        """
        inputs, bars = probe.point.floats, probe.raw if isinstance(probe.raw, tuple) else ()
        moved = tuple(map(_beyond, inputs, bars[max(0, len(bars) - len(inputs)) :]))
        if len(moved) < len(inputs) or all(new is old for new, old in zip(moved, inputs)):
            return False
        try:
            y = plainly(self.subject.primal, moved, probe.point.kwargs)
        except Exception:
            return False
        return bool(np.array_equal(to_vec(y)[0], to_vec(probe.truth.y)[0]))

    def _ask_effects_of_new(self, probe: Probe) -> None:
        """What the rule does besides computing, where arrays come in another way than before."""
        new = tuple(isinstance(x, np.ndarray) for x in (*probe.point.inputs, probe.truth.y))
        if probe.failure is None and probe.truth.is_smooth and new not in self.effects_seen:
            self.effects_seen.add(new)
            self._ask_effects(probe, None)
        elif probe.failure is None and self.subject.reverse is not None and any(new):
            # By chance what is written may be what was there: `y_bar *= mask` where the mask is true.
            self.findings += effects.writes(self.subject, probe)

    def _of_probe(self, probe: Probe) -> Iterator[Finding]:
        forward = self.subject.reverse is None
        self._count("answer")
        if probe.failure is not None:
            yield _failed(probe)
            return
        self._count("value")
        wrong_value = list(_value_findings(probe))
        if wrong_value and self._is_off_by_rounding(probe):
            self.lost.append(probe)
            wrong_value = []
        yield from wrong_value
        self._count("linear")
        compared = closeness(probe, Tolerance.of(probe, self.rtol, self.atol), forward)
        if compared.wrong.any():
            compared = compared.with_noise(self._noise(probe, compared))
        if compared.wrong.any():
            compared = self._without_lost_digits(probe, compared)
        self.compared.append((probe, compared))
        if compared.wrong.any():
            yield from _linear_findings(probe, forward)
        what = "tangent of" if forward else "cotangent of"
        for leaf in compared.columns:
            self._count(f"{what} {leaf.name}")
        for leaf in compared.wrong_leaves():
            worst = compared.of_rows(probe.usual).worst(leaf) if probe.odd else None
            worst = compared.worst(leaf) if worst is None else worst
            words = f"the {what} {leaf.name} is wrong"
            yield Finding(what, words, WRONG, leaf.name, worst, probe)
        if not probe.truth.is_smooth and self.kinks < KINKS:
            self.kinks += 1
            yield from kink_findings(self.subject, probe, compared, self.rng)

    def _is_off_by_rounding(self, probe: Probe) -> bool:
        """Whether the value by the rule is off by no more than digits that far away get lost, or than what
        function and rule move by when their inputs do by a last digit: an angle of nearly zero by its cosine.
        """
        one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
        if _is_another_kind(probe.y, probe.truth.y):
            return False
        if probe.point.far and _is_off_by_digits(probe):
            return True
        noise = np.zeros(one.shape)
        for _ in range(VALUE_NUDGES):
            inputs = nudged(probe.point.inputs, self.rng)
            noise = np.fmax(noise, _moved_by(partial(self._value_at, probe), inputs, one))
            noise = np.fmax(noise, _moved_by(partial(value_again, self.subject, probe), inputs, other))
        with np.errstate(all="ignore"):
            return bool(np.all((one == other) | (np.abs(one - other) <= BARS * noise)))

    def _value_at(self, probe: Probe, inputs: tuple) -> Any:
        return plainly(self.subject.primal, inputs, probe.point.kwargs)

    def _without_lost_digits(self, probe: Probe, compared: Closeness) -> Closeness:
        """The same without numbers that are off by roundings of the derivative at ordinary points, and far
        away without all that rounding and overflow explain.
        """
        size = np.maximum(np.abs(compared.found), np.abs(compared.expected))
        with np.errstate(all="ignore"):
            apart = np.abs(compared.found - compared.expected)
            seeds = np.abs(compared.seeds).max(1, initial=0.0, keepdims=True)
            usual = seeds * self._usual_slopes(probe, compared)
            lost = apart <= LOST * EPS[digits(probe)] * usual
            # Of `1 + erf(x)` no more may be left than a rounding of the 1, or than some.
            is_flat = np.abs(compared.expected) <= LOST * EPS[digits(probe)] * usual
            lost |= (is_flat | probe.point.far) & (apart <= LOST_FAR * EPS[digits(probe)] * usual)
            whole = seeds * self._values_to_inputs(compared)
            lost |= is_flat & (apart <= LOST_FAR * EPS[digits(probe)] * whole)
            if probe.point.edge:
                lost |= apart <= AT_EDGES * usual
            if probe.point.far:
                lost |= apart <= FAR_OFF * size
            if probe.point.far or probe.point.edge:
                lost |= ~np.isfinite(compared.found)
        if np.any(lost & compared.wrong):
            self.lost.append(probe)
        return dataclasses.replace(compared, wrong=compared.wrong & ~lost)

    def _usual_slopes(self, probe: Probe, compared: Closeness) -> np.ndarray:
        """The largest derivative at ordinary points by what each column is of: here, before, and at the first
        point with the other sign.
        """
        if self.reference is None:
            self.reference, self.sizes = {}, {}
            vector = to_vec(self.first.floats)[0]
            size = float(np.abs(vector).max(initial=0.0)) or 1.0
            others = (self.first.moved(_divided(self.first.floats, by), "") for by in (-1.0, size, -size))
            for point in (self.first, *others):
                y = self._usable(point)
                if y is not None:
                    self._note_slopes(point, truth_at(self.subject, point, self.rng, y))
        if not probe.point.far:
            self._note_slopes(probe.point, probe.truth)
        largest = np.zeros(compared.found.shape[1])
        for leaf in compared.columns:
            block = slice(leaf.start, leaf.stop)
            name = leaf.name if self.subject.reverse is not None and compared.whole else ""
            largest[block] = np.maximum(largest[block], self.reference.get(name, 0.0))
        return largest

    def _values_to_inputs(self, compared: Closeness) -> np.ndarray:
        """The largest value at ordinary points for the size of what each column is of: the slope that a whole
        value would have. Where a function is flat at all points that somebody gave, no other is known.
        """
        value, *others = self.sizes.get("", 0.0), *(x for name, x in self.sizes.items() if name)
        by_name = self.subject.reverse is not None and compared.whole
        slopes = np.zeros(compared.found.shape[1])
        for leaf in compared.columns:
            size = self.sizes.get(leaf.name, 0.0) if by_name else min(filter(None, others), default=0.0)
            slopes[leaf.start : leaf.stop] = value / size if size else 0.0
        return slopes

    def _note_slopes(self, point: Point, truth: Truth) -> None:
        assert self.reference is not None
        inputs, outputs = to_vec(moving(point.floats, point))[0], to_vec(truth.y)[0]
        parts = {leaf.name: inputs[leaf.start : leaf.stop] for leaf in truth.inputs} | {"": outputs}
        for name, numbers in parts.items():
            found = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))
            self.sizes[name] = max(found, self.sizes.get(name, 0.0))
        value = np.abs(np.where(truth.slopes.known(), truth.slopes.value, 0.0))
        whole = float(value.max(initial=0.0))
        for leaf in truth.inputs:
            found = float(value[:, leaf.start : leaf.stop].max(initial=0.0)) if truth.whole else whole
            self.reference[leaf.name] = max(found, self.reference.get(leaf.name, 0.0))
        self.reference[""] = max(whole, self.reference.get("", 0.0))

    def _noise(self, probe: Probe, compared: Closeness) -> np.ndarray:
        """How far the rule's answers move when its inputs do by their last digits: its own rounding."""
        moves = [np.zeros(compared.found.shape)]
        for _ in range(NUDGES):
            again = answers_again(self.subject, probe, nudged(probe.point.inputs, self.rng))
            if again is not None and again.shape == probe.answers.shape:
                with np.errstate(all="ignore"):
                    moved = (again - probe.answers)[: len(moves[0])]
                    if not compared.whole and self.subject.reverse is not None:
                        moved = moved @ probe.truth.directions
                moves.append(moved)
        with np.errstate(all="ignore"):
            noise = np.fmax.reduce(np.abs(moves))
            around = np.array(moves[1:] or moves)
            spread = np.fmax.reduce(around) - np.fmin.reduce(around)
        # One answer beside others that are all alike is no rounding: it is a branch for this number alone.
        return np.where(spread < ISOLATED * noise, spread, noise)

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
        if not self.is_witness and any(finding.level == WRONG for finding in self.findings):
            tries = QUICK_CORRECTIONS if self.depth == "quick" else None
            probes, compared = self._for_the_doctor()
            shown = {id(probe.point) for probe in probes}
            whole = (p for p in self.probes if p.point.like is not None and p.failure is None)
            others = [probe for probe in whole if id(probe.point) not in shown]
            elsewhere = self._elsewhere()
            try:
                self.diagnoses = tuple(
                    doctor.diagnose(self.subject, probes, compared, self.findings, tries, elsewhere, others)
                )
            except Exception as error:
                if not self.subject.raised(error):
                    raise

    def _elsewhere(self) -> list[Point]:
        """Points of other kinds than those judged, at which a corrected rule has to be right."""
        return [self.first.moved(self._inputs(args), doctor.OF_OTHER_KINDS) for args in self.source.elsewhere]

    def _for_the_doctor(self) -> tuple[list[Probe], list[tuple[Probe, Closeness]]]:
        """The probes and what was compared, without odd points and odd cotangents if the mistake is seen
        without them: there a mistake may look like another one, or be none by chance.
        """
        usual = [(p, c) for p, c in self.compared if not _is_odd(p.point)]
        if not any(c.wrong.any() for _, c in usual):
            usual = self.compared
        cut = [(p.of_usual_seeds(), c.of_rows(p.usual)) if p.odd else (p, c) for p, c in usual]
        if any(c.wrong.any() for _, c in cut):
            kept = {id(p): q for (p, _), (q, _) in zip(usual, cut)}
        else:
            kept, cut = {id(p): p for p, _ in usual}, usual
        failed = [p for p in self.probes if p.failure is not None]
        if not any(c.wrong.any() for _, c in cut):
            plain = [p for p in self.probes if not _is_odd(p.point)]
            if any(f.level == WRONG and any(f.probe is p for p in plain) for f in self.findings):
                return plain, [(p, c) for p, c in self.compared if not _is_odd(p.point)]
            return self.probes, self.compared
        return [kept.get(id(p), p) for p in self.probes if id(p) in kept or any(p is q for q in failed)], cut

    def _unknown_findings(self) -> Iterator[Finding]:
        """Leaves of which no number could be measured at any point, and arguments without any."""
        if self.unanswered and not self.probes:
            words = (
                f"not judged: it {_failed(self.unanswered[0]).words} at arguments that were guessed; "
                "give some with --at"
            )
            yield Finding("answer", words, UNKNOWN)
        if self.refused and not self.probes:
            words = f"the rule refuses every point: {_failed(self.refused[0]).words}"
            yield Finding("answer", words, UNKNOWN)
        if self.probes and not any(probe.truth.inputs for probe in self.probes):
            words = "no number among the arguments can vary"
            yield Finding("measurement", words, UNKNOWN)
        forward = self.subject.reverse is None
        known: dict[str, bool] = {}
        usual = [(p, c) for p, c in self.compared if not _is_odd(p.point)]
        for compared in [c.of_rows(p.usual) for p, c in usual or self.compared]:
            for leaf in compared.columns:
                block = slice(leaf.start, leaf.stop)
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
            loses=self._loses(),
            at_ties=self.at_ties,
            beside=in_words(self.beside, self._arrays_judged()),
        )

    def _arrays_judged(self) -> set[str]:
        """The names of the arguments that were drawn as arrays."""
        arrays = ("vector", *MATRICES)
        choices = self.source.choices
        return {n for kinds in choices for n, k in zip(self.subject.names, kinds) if k.form in arrays}

    def _loses(self) -> str:
        """Where digits get lost, in words; empty where none do."""
        if not self.lost:
            return ""
        point = max(self.lost, key=lambda p: np.abs(to_vec(p.point.floats)[0]).max(initial=0.0)).point
        return ", ".join(
            f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, point.inputs) if to_vec(x)[0].size
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
        for i in sorted(self.first.constant):
            name, x = self.subject.names[i], self.first.inputs[i]
            if i >= len(self.first.inputs) - self._defaults() and is_a_guard(name, x):
                yield f"{name} is held at {x:g}: the rule says NoTangent() of it"
            elif name in wholes_said(self.subject.primal):
                yield f"{name} is held: its numbers are said to be whole, and the rule says NoTangent() of it"
        if self.source.iterated is not None:
            yield f"judged where {self.subject.name} has converged: more steps change nothing there"
        if self.not_for_matrices:
            what = "matrices in place of vectors"
            yield f"not right for {what}, which may not be meant; give --at to judge it there"
        if self.not_for_complex:
            yield "not right for complex numbers, which may not be meant; give --at to judge it there"
        if self.skipped:
            left = "1 point was" if self.skipped == 1 else f"{self.skipped} points were"
            yield f"{left} left out: {self.subject.name} has no finite value there"
        if self.unanswered and self.probes:
            times = "1 point" if len(self.unanswered) == 1 else f"{len(self.unanswered)} points"
            first = self.unanswered[0]
            at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, first.point.inputs))
            yield f"not judged at {times} that were not given, such as {at}: it {_failed(first).words}"
        if self.valueless:
            point = self.valueless[0][0].point
            at = ", ".join(f"{n} = {shortened(x)}" for n, x in zip(self.subject.names, point.inputs))
            what = "another value" if _has_another_value(self.valueless[0][1]) else "no number"
            yield f"{what} at the length 1, as at {at}: not counted as a mistake"
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
    "effects": "called again and with calls in between; writes to nothing, shares nothing",
}


def _is_of(finding: Finding, name: str) -> bool:
    return name in (finding.check, f"{finding.check} {finding.argument}") or (
        finding.check == "measurement" and name.endswith(f" of {finding.argument}")
    )


_PLAIN = ("given", "near those given", "drawn")
EPS = {8: 2.0**-52, 4: 2.0**-23, 2: 2.0**-10}


def _is_odd(point: Point) -> bool:
    """Whether wrong rules may be right by chance at a point: at round numbers, at other lengths."""
    return point.like is not None or point.origin.startswith(("exactly", "of ", "near the first"))


def _has_another_value(findings: list[Finding]) -> bool:
    """Whether a rule has a finite value other than that of the function."""
    return any(finding.check == "value" and finding.level == WRONG for finding in findings)


def _has_no_number(finding: Finding) -> bool:
    """Whether what is wrong with an answer is nan or inf."""
    probe = finding.probe
    if probe is None or probe.failure is not None:
        return False
    return not np.all(np.isfinite(probe.answers)) or not np.all(np.isfinite(to_vec(probe.y)[0]))


def _is_of_one(probe: Probe) -> bool:
    """Whether there is an array with an axis of length 1 among the inputs."""
    return any(isinstance(x, np.ndarray) and 1 in x.shape for x in probe.point.inputs)


def _of_most_numbers(probes: list[Probe]) -> Iterator[tuple[Probe, Probe]]:
    """The probe with most numbers among its inputs, beside the next and the one with fewest: what a rule
    keeps of two small ones may be alike, as of two numbers that are centred and scaled there is but a sign.
    """
    by_size = sorted(probes, key=lambda probe: to_vec(probe.point.floats)[0].size)
    if to_vec(by_size[-1].point.floats)[0].size > 1:
        yield from ((by_size[-1], other) for other in {id(p): p for p in (by_size[-2], by_size[0])}.values())


def _answers_in_complex(probe: Probe) -> bool:
    """Whether cotangents of complex arguments have imaginary parts, but for those that have none to have."""
    slopes = np.where(probe.truth.slopes.known(), probe.truth.slopes.value, 1.0)
    imaginary = [_imaginary(leaf) for leaf in probe.truth.inputs if leaf.dtype.kind == "c"]
    answered = [bool(np.any(probe.answers[:, parts])) for parts in imaginary]
    wanted = [not probe.truth.whole or bool(np.any(slopes[:, parts])) for parts in imaginary]
    return any(answered) and all(has or not wants for has, wants in zip(answered, wanted))


def _drops_imaginary_parts(subject: Subject, probe: Probe) -> bool:
    """Whether a rule of a real value has the real parts of the right cotangents, and has computed complex
    numbers that it put into a real buffer.
    """
    leaves_in, slopes = probe.truth.inputs, probe.truth.slopes
    if not probe.units or any(leaf.dtype.kind == "c" for leaf in probe.truth.outputs):
        return False
    imaginary = np.concatenate([np.zeros(0, int), *(_imaginary(leaf) for leaf in leaves_in)])
    real = np.delete(np.arange(slopes.value.shape[1]), imaginary)
    there, found = np.where(slopes.known(), slopes.value, 0.0), probe.matrix
    if np.any(found[:, imaginary]) or not np.any(there[:, imaginary]):
        return False
    if not np.allclose(found[:, real], there[:, real], rtol=FAR_OFF):
        return False
    return parts_dropped(subject, probe)


def _is_made_of_complex(y: Any) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in leaves(y))


def _imaginary(leaf: Any) -> np.ndarray:
    """Where the imaginary parts of an argument stand."""
    return np.arange(leaf.start + 1, leaf.stop, 2) if leaf.dtype.kind == "c" else np.zeros(0, int)


def _looks_at_part(probe: Probe) -> bool:
    """Whether the function does not change with some numbers of an argument, and does with others, so that it
    may be meant for other sizes. It is not where an array of more axes has an answer of another shape and is
    looked at in each of its rows and columns, as a trace does.
    """
    if not probe.truth.whole:
        return False
    met = np.any(probe.truth.slopes.value != 0, axis=0)
    if not any(0 < met[leaf.start : leaf.stop].sum() < leaf.stop - leaf.start for leaf in probe.truth.inputs):
        return False
    bars = probe.raw if isinstance(probe.raw, tuple) else ()
    start, own = 0, bars[max(0, len(bars) - len(probe.point.floats)) :]
    for i, (x, x_bar) in enumerate(zip(probe.point.floats, own)):
        size = 0 if i in probe.point.constant else to_vec(x)[0].size
        if isinstance(x, np.ndarray) and x.ndim > 1 and size == x.size:
            is_met = met[start : start + size].reshape(x.shape)
            if np.shape(unthunk(x_bar)) != x.shape and _is_met_throughout(is_met):
                return False
        start += size
    return True


def _beyond(x: Any, x_bar: Any) -> Any:
    """An array with its numbers moved beyond the shape of a smaller answer of the same rank."""
    if not isinstance(x, np.ndarray):
        return x  # a list of arrays need not have a shape
    shape = () if isinstance(x_bar, AbstractZero) else np.shape(unthunk(x_bar))
    if len(shape) != x.ndim or not shape < x.shape:
        return x
    if any(found > size for found, size in zip(shape, x.shape)):
        return x
    moved = x + 1.0
    kept = tuple(slice(0, size) for size in shape)
    moved[kept] = x[kept]
    return moved


def _is_met_throughout(met: np.ndarray) -> bool:
    """Whether there is something at each place of each axis."""
    axes = range(met.ndim)
    return all(met.any(axis=tuple(other for other in axes if other != axis)).all() for axis in axes)


def _is_off_by_digits(probe: Probe) -> bool:
    one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
    if one.shape != other.shape:
        return False
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= FAR_OFF * np.maximum(np.abs(one), np.abs(other))
    return bool(np.all(near | ~np.isfinite(other)))


def _lies_in(x: Any, low: float, high: float) -> bool:
    return bool(np.all((low <= to_vec(x)[0]) & (to_vec(x)[0] <= high)))


def _differ(x: Any, y: Any) -> bool:
    return not np.array_equal(to_vec(x)[0], to_vec(y)[0])


def _have_same_signs(x: Any, other: Any) -> bool:
    return type(x) is not float or type(other) is not float or np.sign(x) == np.sign(other)


def _is_the_same_flat(y: Any, flat: Any) -> bool:
    """Whether a value is one number, or a matrix like the arguments, or a vector of as many numbers, and that
    of vectors of the same numbers is the same number by number.
    """
    shapes = [leaf.shape for leaf in leaves(y)], [leaf.shape for leaf in leaves(flat)]
    whole = (OBLONG[0] * OBLONG[1],)
    if shapes not in (([()], [()]), ([OBLONG], [whole]), ([whole], [whole])):
        return False
    return bool(np.allclose(to_vec(y)[0], to_vec(flat)[0], rtol=1e-12, atol=0.0))


def _ranks(y: Any) -> list[tuple[str, int]]:
    return [(leaf.name, len(leaf.shape)) for leaf in leaves(y, "y")]


def _is_held(probe: Probe) -> bool:
    """Whether a rule says of an argument of whole numbers that it has no derivative."""
    bars = probe.raw[1:] if isinstance(probe.raw, tuple) else ()
    return any(
        x is not floats and isinstance(bar, AbstractZero)
        for x, floats, bar in zip(probe.point.inputs, probe.point.floats, bars)
    )


def _floats_of(y: Any) -> np.ndarray:
    """All numbers of a value, whole ones too."""
    if isinstance(y, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(_floats_of, y)])
    if isinstance(y, (int, np.integer, np.bool_)) or (isinstance(y, np.ndarray) and y.dtype.kind in "iub"):
        return np.asarray(y, float).ravel()
    return to_vec(y)[0]


def _divided(args: tuple, by: float) -> tuple:
    return revalued(args, lambda vector: vector / by)


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
    if probe.spent and error is not None:
        return effects.again_failing(error, probe)
    if isinstance(error, RuleLabError):
        return Finding("answer", error.found, probe=probe)
    text = " ".join(str(error).split())
    return Finding("answer", f"raises {type(error).__name__}: {text}", probe=probe)


def _value_findings(probe: Probe) -> Iterator[Finding]:
    """Whether the rule gives the value of the function, to rounding."""
    plain, given = probe.truth.y, probe.y
    one, other = to_vec(plain)[0], to_vec(given)[0]
    if _is_another_kind(given, plain):
        words = f"the rule gives {shortened(given)} for a value of {shortened(plain)}"
        yield Finding("value", words, probe=probe)
        return
    limit = Tolerance.of(probe)
    off = np.abs(one - other) > limit.rtol * np.maximum(np.abs(one), np.abs(other)) + limit.atol * 1e-3
    if np.any(off):
        words = f"the value by the rule is {shortened(given)}, by the function {shortened(plain)}"
        yield Finding("value", words, probe=probe)


def _is_another_kind(given: Any, plain: Any) -> bool:
    """Whether a value is made of other things than that of the function. An array of no axes is a number of
    NumPy, which does the same: `np.squeeze` gives the one where `np.sum` gives the other.
    """
    of_python = type(plain) in (float, complex) and isinstance(given, np.ndarray)
    return of_python or _form(given) != _form(plain)


def _form(y: Any) -> Any:
    """What a value is made of: lists and tuples, and numbers and arrays by their shapes."""
    if isinstance(y, (tuple, list)):
        return isinstance(y, list), *map(_form, y)
    return [(leaf.shape, leaf.dtype.kind) for leaf in leaves(y)]


def _moved_by(value: Callable[[tuple], Any], inputs: tuple, before: np.ndarray) -> np.ndarray:
    """How far the numbers of a value are from those before; zero where there is none."""
    try:
        with np.errstate(all="ignore"):
            moved = np.abs(to_vec(value(inputs))[0] - before)
    except Exception:
        return np.zeros(before.shape)
    return np.where(np.isfinite(moved), moved, 0.0)


def _linear_findings(probe: Probe, forward: bool) -> Iterator[Finding]:
    """Whether an answer to a random seed is made of the answers to unit seeds."""
    basis = probe.units or (probe.truth.directions.shape[1] if forward and probe.truth.whole else 0)
    if not basis:
        return
    units, seeds = probe.answers[:basis], probe.seeds[basis:]
    given = probe.answers[basis:]
    limit = Tolerance.of(probe)
    with np.errstate(all="ignore"):
        made, scale = seeds @ units, np.abs(seeds) @ np.abs(units)
    with np.errstate(all="ignore"):
        off = np.abs(given - made) > LINEAR * limit.rtol * np.maximum(scale, np.abs(given))
        off &= np.abs(given - made) > 1e3 * rounding(probe) * np.abs(seeds).max(1, initial=0.0, keepdims=True)
        off &= np.isfinite(made) & np.isfinite(given)
    if np.any(off):
        what = "tangent" if forward else "cotangent"
        yield Finding("linear", f"the answer is not linear in the {what}", probe=probe)
