"""The rule called and judged at one point: its answer against differences, its rounding and its effects."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import re
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...errors import RuleDtypeError, RuleError, RuleShapeError
from ..arguments.alternative_kinds import AlternativeAnswer
from ..arguments.points import Source, value_if_usable
from ..arguments.refusals import is_about_shapes, is_own_fault
from ..calling.budgets import Budget
from ..calling.plain_calls import HEEDED, value_of
from ..calling.subjects import Subject
from ..measuring.difference_methods import FiniteDifferenceMethod
from ..measuring.vectors import leaves, shape_of_answer, to_vec
from ..probing.closeness import BARS, LOST, LOST_FAR, Closeness, Tolerance, closeness, digits, value_sizes
from ..probing.findings import WRONG, Diagnosis, Finding
from ..probing.kinks import is_twice_differentiable, kink_findings
from ..probing.perturb import equality_numbers, nudged, revalued
from ..probing.probes import (
    Point,
    Probe,
    answers_again,
    has_answer_to,
    named_leaves,
    probe_forward,
    probe_reverse,
    truth_at,
    value_again,
)
from ..probing.typical_sizes import TypicalSizes, slopes_of_values, typical_sizes_at, usual_slopes
from ..probing.variants import along_each_axis
from ..reading.docstrings import docstring_text
from ..reading.stated_kinds import intervals_said
from ..reading.usage import has_said_shape
from . import effects
from .answer_findings import (
    FAR_OFF,
    failure_found,
    has_another_value,
    has_axis_of_one,
    is_another_kind,
    is_near_the_ends_of_floats,
    is_off_by_digits,
    is_refusal,
    linear_findings,
    looks_at_part,
    same_form,
    value_findings,
)

AT_EDGES = 1e-6
"""The tolerance, relative to slopes at ordinary points, exactly at a number of the code, where a series may
take over.
"""
IN_SINGLE = 1e-3
"""The same in single precision, if arguments were not given: when numbers in the thousands cancel, no digits
are left. A rule that is off for another reason, such as a constant of 1e-8, is off by more.
"""
ODD_ORIGINS = ("all equal", "with ties", "in equal pairs")
KINKS = 3
"""At how many kinks the slopes nearby are searched."""
NUDGES = 6
"""How often the inputs of a rule that seems to be wrong are moved by their last digits, to measure its
rounding.
"""
VALUE_NUDGES = 16
"""The same for a rule whose value differs from that of its function: most nudges may show no difference."""
ISOLATED = 1e-3
"""An answer stands alone if the spread of those at nudged inputs is less than this fraction of their distance
to it.
"""
BLOWN_UP = 1e8
"""An ordinary point is not used to recognise lost digits if its value is larger than all numbers at a point
by this factor: slopes of something that is multiplied by itself step by step grow beyond all bounds.
"""
EPS = {8: 2.0**-52, 4: 2.0**-23, 2: 2.0**-10}


class Judging:
    """The rule called and judged at one point after another, with what has been found so far."""

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
        self.far_off: list[Finding] = []  # what was found at far points that were not given
        self.diagnoses: tuple[Diagnosis, ...] = ()
        self.compared: list[tuple[Probe, Closeness]] = []
        self.times: dict[str, int] = {}
        self.skipped = 0
        self.at_edges = 0  # the points left out where the rule gives nan, and with another sign the function
        self.refused: list[Probe] = []
        self.missing: list[str] = []  # the inputs whose cotangents the rule does not implement
        self.unanswered: list[Probe] = []  # where the rule raised at arguments that were not given
        self.valueless: list[tuple[Probe, list[Finding], tuple[Probe, Closeness]]] = []  # only at length 1
        self.lost: list[Probe] = []  # where its numbers are off by lost digits only
        self.numberless: list[Probe] = []  # where it gives nan or inf at points not given
        self.effects_seen: set[tuple[bool, ...]] = set()
        self.varied: set[str] = set()
        self.asks_whole_numbers = True  # other frameworks have no derivatives for them
        self.is_witness = False  # beside a proof, which needs no diagnosis: see `witness.py`
        self.heeded: tuple[type[Warning], ...] = HEEDED  # these mean that a value is unusable
        self.set_aside = ""  # what is wrong at arguments that may not be intended
        self.noted: list[TypicalSizes] | None = None  # at ordinary points, once needed
        self.not_for_matrices = False  # it is wrong for these, which may not be intended
        self.not_for_complex = False  # the same of complex numbers
        self.answers_as_real = False  # whether its cotangents of complex numbers are all real
        self.beside: list[AlternativeAnswer] = []  # the same for other kinds, if no arguments were given
        self.not_comparable = False  # the function has another value for the same numbers
        self.kinks = 0
        self.at_ties = ""  # what a right rule does at ties, in words
        self.no_number_at = ""  # where a right rule gives nan or inf and the slope is finite
        self.like: Any = None
        self.reached: set[tuple[types.CodeType, int]] = set()
        self.seconds = 0.0
        self._started, self._budget = 0.0, Budget()
        self.fdm = fdm
        self.output_tangent, self.order, self.other = output_tangent, order, other

    def _inputs(self, args: tuple) -> tuple:
        """The inputs that belong to arguments: the object of a method before them, defaults after them."""
        extra = len(self.first.inputs) - len(args)
        if not extra:
            return args
        if self.source.args and self.first.inputs[0] is not self.source.args[0]:
            return (self.first.inputs[0], *args)
        return (*args, *self.first.inputs[len(args) :])

    def _defaults(self) -> int:
        """How many inputs are defaults that were not given: the last ones."""
        inputs, args = self.first.inputs, self.source.args
        is_bound = bool(inputs) and bool(args) and inputs[0] is not args[0]
        return len(inputs) - len(args) - is_bound

    def _positions_of_defaults(self) -> range:
        return range(len(self.first.inputs) - self._defaults(), len(self.first.inputs))

    def _point(self, number: int) -> Point:
        inputs = self._inputs(self.source.args_at(number))
        far = self.source.is_far(number)
        marks = {
            "far": far,
            "guessed": self.source.is_guessed,
            "is_from_docstring": self.source.is_told(number),
        }
        return self.first.moved(inputs, self.source.origin(number), **marks)

    @functools.cached_property
    def _defaults_said(self) -> Mapping[int, tuple[float, float]]:
        """The intervals that the docstring states for defaults, by position, if the defaults lie in them."""
        inputs, names = self.first.inputs, self.subject.names
        said = intervals_said(self.subject.primal) if self.source.drawn else {}
        defaults = self._positions_of_defaults()
        found = {i: said[names[i]] for i in defaults if names[i] in said}
        return {i: ends for i, ends in found.items() if lies_in(inputs[i], *ends)}

    @functools.cached_property
    def _odd_defaults(self) -> list[int]:
        """The positions of defaults that are odd numbers, if the docstring mentions "odd"."""
        inputs = self.first.inputs
        defaults = self._positions_of_defaults() if self.source.drawn else range(0)
        is_said = bool(re.search(r"\bodd\b", docstring_text(self.subject.primal))) if defaults else False
        return [i for i in defaults if is_said and type(inputs[i]) is int and inputs[i] % 2]

    def _usable(self, point: Point) -> Any:
        if any(type(point.inputs[i]) is int and point.inputs[i] % 2 == 0 for i in self._odd_defaults):
            return None
        if not all(lies_in(point.inputs[i], *ends) for i, ends in self._defaults_said.items()):
            return None
        if self.source.needs_two and has_axis_of_one(point.inputs):
            return None
        y, iterated = value_if_usable(self.subject, point, self.like, self.heeded), self.source.iterated
        if y is None or iterated is None or iterated.has_ended(point.inputs, point.kwargs, y):
            return y
        return None

    def _is_usable(self, point: Point) -> bool:
        return self._usable(point) is not None

    def _look(self, point: Point, y: Any = None) -> None:
        truth = truth_at(self.subject, point, self.rng, y, self.fdm)
        self._judge(self._probe(point, truth))

    def _look_like(self, point: Point, like: Probe) -> None:
        """Judge the rule at the numbers of a point whose derivative is known, in another form."""
        y = self._usable(point)
        if y is None or not same_form(y, like.truth.y):
            return
        if not _same_in_short(y, like.truth.y):  # it tests the dtype, and is another function there
            self.not_comparable = True
            return
        truth = dataclasses.replace(
            like.truth, y=y, inputs=named_leaves(self.subject, point), outputs=leaves(y, "y")
        )
        self._judge(self._probe(point, truth))

    def _probe(self, point: Point, truth: Any) -> Probe:
        ask = probe_reverse if self.subject.reverse is not None else probe_forward
        return ask(self.subject, point, truth, self.rng)

    def _probe_at(self, point: Point) -> Probe | None:
        """The probe at a point; None if the function has no value there."""
        y = self._usable(point)
        return None if y is None else self._probe(point, truth_at(self.subject, point, self.rng, y))

    def _is_wrong_at(self, probe: Probe) -> bool:
        limit = Tolerance.of(probe, self.rtol, self.atol)
        return bool(closeness(probe, limit, forward=self.subject.reverse is None).wrong.any())

    def _in_complex_value(self, point: Point) -> Any:
        try:
            y = value_of(self.subject.primal, point.inputs, point.kwargs)
        except Exception:
            return None
        return y if to_vec(y)[0].size and np.all(np.isfinite(to_vec(y)[0])) else None

    def _judge(self, probe: Probe) -> None:
        if is_refusal(probe.failure, odd=probe.point.origin in ODD_ORIGINS):
            self.refused.append(probe)
            return
        is_about_form = probe.failure is not None and is_about_shapes(probe.failure)
        is_said = is_about_form and (probe.point.is_from_docstring or self._has_said_shape(probe))
        may_be_guess = probe.point.guessed and not probe.spent and not is_said
        if probe.failure is not None and may_be_guess and self._may_be_the_guess(probe):
            self.unanswered.append(probe)
            return
        self.reached |= probe.lines
        findings = list(self._of_probe(probe))
        if probe.point.guessed and has_axis_of_one(probe.point.inputs) and probe.failure is None:
            if has_another_value(findings) or self._has_no_number(probe, findings):
                self.valueless.append((probe, findings, self.compared.pop()))
                return
        if self.source.drawn and self._has_no_number(probe, findings) and self._is_at_the_edge(probe.point):
            self.compared.pop()
            self.at_edges += 1
            return
        self.probes.append(probe)
        loses_digits = probe.point.far and not isinstance(probe.failure, RuleShapeError)
        (self.far_off if loses_digits else self.findings).extend(findings)
        self._ask_effects_of_new(probe)

    def _has_said_shape(self, probe: Probe) -> bool:
        """Whether the docstring states the lengths at a point and the length of its value: then an impulse
        response longer than the signal, for instance, is intended as well.
        """
        return has_said_shape(self.subject.primal, probe.point.inputs, probe.truth.y)

    def _has_no_number(self, probe: Probe, findings: list[Finding]) -> bool:
        """Whether nan and inf are all that is wrong with an answer."""
        wrong = [finding for finding in findings if finding.level == WRONG]
        if not wrong or probe.failure is not None or not self.compared or self.compared[-1][0] is not probe:
            return False
        compared, value = self.compared[-1][1], to_vec(probe.y)[0]
        is_other = any(finding.check == "value" for finding in wrong)
        if is_other and (np.all(np.isfinite(value)) or not is_off_by_digits(probe)):
            return False
        return not np.any(compared.wrong & np.isfinite(compared.found))

    def _is_at_the_edge(self, point: Point) -> bool:
        """Whether the function has no finite value at a point once one argument that may have both signs has
        the other one: some number in an object beside it is outside the function's domain, and the function
        does not use it at the point. (For other numbers, trials have shown their intervals.)
        """
        if all(kind.made is None for kinds in self.source.choices for kind in kinds):
            return False
        each = [*zip(*self.source.choices)]
        has_both = [min(k.low for k in kinds) < 0.0 < max(k.high for k in kinds) for kinds in each]
        for i, x in enumerate(point.inputs[: len(each)]):
            if i in point.constant or not has_both[i]:
                continue
            if type(x) is float or isinstance(x, np.ndarray) and x.dtype.kind == "f":
                turned = point.moved((*point.inputs[:i], -x, *point.inputs[i + 1 :]), point.origin)
                if self._usable(turned) is None:
                    return True
        return False

    def _may_be_the_guess(self, probe: Probe) -> bool:
        """Whether the rule may have raised because it is not intended for such arguments, which is no
        mistake. It is one if the rule would raise at any arguments, or returns an answer of another form,
        except one that leaves out what the function does not use: a polynomial has as many coefficients as it
        has.
        """
        error = probe.failure
        if isinstance(error, RuleShapeError):
            return looks_at_part(probe) or self._ignores_the_rest(probe)
        if isinstance(error, RuleDtypeError) and self._answers_for_tuples(probe):
            return True
        if is_own_fault(error, probe.point.inputs) or isinstance(error, RuleError):
            return False
        return not (is_about_shapes(error) and self._answers_along_another_axis(probe))

    def _answers_for_tuples(self, probe: Probe) -> bool:
        """Whether the rule has an answer if the vectors within its arguments are tuples: it is intended for
        tuples then, as its function may be, which unpacks `p, q = setup["poles"]`.
        """
        inputs = tuple(map(_with_tuples, probe.point.inputs))
        point = dataclasses.replace(probe.point, inputs=inputs)
        y = self._usable(point)
        return y is not None and has_answer_to(self.subject, point, y)

    def _answers_along_another_axis(self, probe: Probe) -> bool:
        """Whether the rule has an answer for the same arrays with another flag or axis: then it is intended
        for arrays of this kind.
        """
        for point in along_each_axis(probe.point, self.subject.names):
            y = self._usable(point)
            if y is not None and has_answer_to(self.subject, point, y):
                return True
        return False

    def _ignores_the_rest(self, probe: Probe) -> bool:
        """Whether the value does not depend on the elements of arrays beyond those for which the rule returns
        cotangents.
        """
        inputs, bars = probe.point.floats, probe.raw if isinstance(probe.raw, tuple) else ()
        moved = tuple(map(_beyond, inputs, bars[max(0, len(bars) - len(inputs)) :]))
        if len(moved) < len(inputs) or all(new is old for new, old in zip(moved, inputs)):
            return False
        try:
            y = value_of(self.subject.primal, moved, probe.point.kwargs)
        except Exception:
            return False
        return bool(np.array_equal(to_vec(y)[0], to_vec(probe.truth.y)[0]))

    def _ask_effects_of_new(self, probe: Probe) -> None:
        """Look for effects of the rule at a point at which other inputs are arrays than before."""
        new = tuple(isinstance(x, np.ndarray) for x in (*probe.point.inputs, probe.truth.y))
        if probe.failure is None and probe.truth.is_smooth and new not in self.effects_seen:
            self.effects_seen.add(new)
            self._ask_effects(probe, None)
        elif probe.failure is None and self.subject.reverse is not None and self._can_be_written(probe):
            # A write may leave the numbers as they were by chance: `y_bar *= mask` where the mask is true.
            self.findings += effects.writes(self.subject, probe)

    def _can_be_written(self, probe: Probe) -> bool:
        """Whether some input, or the value and so its cotangent, is an array, a container or an object."""
        values = (*probe.point.inputs, probe.truth.y)
        return any(not isinstance(x, (numbers.Number, str, type(None))) for x in values)

    def _of_probe(self, probe: Probe) -> Iterator[Finding]:
        forward = self.subject.reverse is None
        self._count("answer")
        if probe.failure is not None:
            yield failure_found(probe)
            return
        self._count("value")
        wrong_value = list(value_findings(probe, self._usual_values(probe)))
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
        if compared.wrong.any() and probe.point.guessed:
            compared = self._without_bends(probe, compared)
        self.compared.append((probe, compared))
        if compared.wrong.any():
            yield from linear_findings(probe, forward)
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

    def _usual_values(self, probe: Probe) -> dict[str, float]:
        """The largest size so far of each part of the value."""
        sizes = value_sizes(probe.truth)
        for other in self.probes:
            for part, size in value_sizes(other.truth).items():
                sizes[part] = max(size, sizes.get(part, 0.0))
        return sizes

    def _is_off_by_rounding(self, probe: Probe) -> bool:
        """Whether the value by the rule is off only by digits that get lost at far points, or by no more than
        function and rule move when their inputs move by their last digits: an angle of nearly zero, computed
        from its cosine.
        """
        one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
        if is_another_kind(probe.y, probe.truth.y):
            return False
        if probe.point.far and is_off_by_digits(probe):
            return True
        noise = np.zeros(one.shape)
        for _ in range(VALUE_NUDGES):
            inputs = nudged(probe.point.inputs, self.rng)
            noise = np.fmax(noise, _moved_by(partial(self._value_at, probe), inputs, one))
            noise = np.fmax(noise, _moved_by(partial(value_again, self.subject, probe), inputs, other))
        with np.errstate(all="ignore"):
            return bool(np.all((one == other) | (np.abs(one - other) <= BARS * noise)))

    def _value_at(self, probe: Probe, inputs: tuple) -> Any:
        return value_of(self.subject.primal, inputs, probe.point.kwargs)

    def _without_lost_digits(self, probe: Probe, compared: Closeness) -> Closeness:
        """The comparison without numbers that are off only by rounding errors of slopes at ordinary points
        and, at far points, without everything that rounding and overflow explain. Where nan and inf are
        excused, the probe is noted separately, since these are not lost digits.
        """
        size = np.maximum(np.abs(compared.found), np.abs(compared.expected))
        with np.errstate(all="ignore"):
            apart = np.abs(compared.found - compared.expected)
            noted = self._noted_for(probe)
            usual = usual_slopes(noted, probe.truth, compared, self._is_forward)
            lost = apart <= LOST * EPS[digits(probe)] * usual
            # `1 + erf(x)` may be no more than a few rounding errors of the 1, and a factor may enlarge these:
            # they are excused more generously at arguments that were not given.
            most = LOST_FAR if probe.point.guessed else LOST
            is_flat = np.abs(compared.expected) <= most * EPS[digits(probe)] * usual
            lost |= (is_flat | probe.point.far) & (apart <= LOST_FAR * EPS[digits(probe)] * usual)
            whole = slopes_of_values(noted, probe.truth, compared, self._is_forward)
            lost |= is_flat & (apart <= LOST_FAR * EPS[digits(probe)] * whole)
            if self.source.drawn and is_near_the_ends_of_floats(probe):
                lost[...] = True
            if probe.point.edge:
                lost |= apart <= AT_EDGES * usual
            if digits(probe) < 8 and probe.point.guessed:
                lost |= apart <= IN_SINGLE * usual
            if probe.point.far:
                lost |= apart <= FAR_OFF * size
                # In the rule of a saturated softmax, products of such large numbers cancel.
                lost |= is_flat & (apart <= LOST_FAR * EPS[digits(probe)] * usual * self._times_larger(probe))
        is_excused = probe.point.far or probe.point.edge
        numberless = compared.wrong & ~np.isfinite(compared.found) & is_excused
        if np.any(lost & compared.wrong & ~numberless):
            self.lost.append(probe)
        if numberless.any():
            self.numberless.append(probe)
        return dataclasses.replace(compared, wrong=compared.wrong & ~lost & ~numberless)

    def _times_larger(self, probe: Probe) -> float:
        """How many times larger than the first arguments those of a point are; at least 1."""
        size, usual = (input_sizes(point).max(initial=0.0) for point in (probe.point, self.first))
        return float(max(size / usual, 1.0)) if usual else 1.0

    def _without_bends(self, probe: Probe, compared: Closeness) -> Closeness:
        """The comparison without nan and inf where equal numbers that were not given put the function at an
        edge at which its slopes change abruptly.
        """
        bad = compared.wrong & ~np.isfinite(compared.found)
        if not bad.any() or not self._has_an_edge_at_ties(probe.point):
            return compared
        self._tell_of(probe.point)
        return dataclasses.replace(compared, wrong=compared.wrong & ~bad)

    def _tell_of(self, point: Point) -> None:
        """Keep the first point at which a right rule has no number, for the report."""
        self.no_number_at = self.no_number_at or self.shown(point)

    def _has_an_edge_at_ties(self, point: Point) -> bool:
        """Whether the function has no second derivatives at a point because numbers are equal there: a
        triangle whose corners coincide. For numbers that are all equal, the point is shifted by one first,
        because all zeros may be an edge by themselves, as for `x * norm(x)`.
        """
        if point.origin not in ODD_ORIGINS:
            if not _are_all_equal(point):
                return False
            point = point.having(revalued(point.inputs, partial(np.add, 1.0)), "all equal")
        return not is_twice_differentiable(self.subject, point, self.rng)

    def _noted_for(self, probe: Probe) -> list[TypicalSizes]:
        """Sizes of values and slopes at ordinary points: here, at earlier points, at the first one, and at
        multiples of it with either sign. Points whose values are incomparably larger than the numbers here
        are left out, since they do not show which digits get lost here.
        """
        if self.noted is None:
            self.noted = []
            vector = to_vec(self.first.floats)[0]
            size = float(np.abs(vector).max(initial=0.0)) or 1.0
            others = (self.first.moved(_divided(self.first.floats, by), "") for by in (-1.0, size, -size))
            for point in (self.first, *others):
                y = self._usable(point)
                if y is not None:
                    self.noted.append(typical_sizes_at(point, truth_at(self.subject, point, self.rng, y)))
        here = typical_sizes_at(probe.point, probe.truth)
        if not probe.point.far:
            self.noted.append(here)
        most = BLOWN_UP * here.largest or math.inf
        return [noted for noted in self.noted if noted.value <= most]

    @property
    def _is_forward(self) -> bool:
        return self.subject.reverse is None

    def _noise(self, probe: Probe, compared: Closeness) -> np.ndarray:
        """How far the rule's answers move when its inputs move by their last digits: its own rounding. Inputs
        that are a special case, by `a == 1.0`, stay: close to it a quotient may be nearly 0 / 0.
        """
        moves = [np.zeros(compared.found.shape)]
        held = equality_numbers(self.subject.codes, self.subject.named)
        for _ in range(NUDGES):
            again = answers_again(self.subject, probe, nudged(probe.point.inputs, self.rng, held))
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
        # One answer that differs from all others is not rounding but a branch for this number only.
        return np.where(spread < ISOLATED * noise, spread, noise)

    def _ask_effects(self, probe: Probe, other: Probe | None) -> None:
        if probe.failure is None:
            self._count("effects")
            self.findings += effects.effects_of(self.subject, probe, other)
            if self.f is not None and self.subject.reverse is not None and self.depth != "quick":
                self.findings += effects.changed_later(probe, self.f)

    def _count(self, check: str) -> None:
        self.times[check] = self.times.get(check, 0) + 1

    def shown(self, point: Point) -> str:
        """The arguments of a point in short form, by name."""
        return self.subject.shown(point.inputs)


def input_sizes(point: Point) -> np.ndarray:
    """The absolute value of the largest number of each input."""
    return np.array([np.abs(to_vec(x)[0]).max(initial=0.0) for x in point.floats])


def _are_all_equal(point: Point) -> bool:
    """Whether there are arrays of several numbers, and each has equal numbers only."""
    arrays = [x for x in point.floats if isinstance(x, np.ndarray) and x.size > 1 and x.dtype.kind in "fc"]
    return bool(arrays) and all(np.ptp(x) == 0 for x in arrays)


def _beyond(x: Any, x_bar: Any) -> Any:
    """An array with its elements moved beyond the shape of an answer that is smaller and of the same rank."""
    if not isinstance(x, np.ndarray):
        return x  # a list of arrays may have no shape
    shape = shape_of_answer(x_bar) or ()
    if len(shape) != x.ndim or not shape < x.shape:
        return x
    if any(found > size for found, size in zip(shape, x.shape)):
        return x
    moved = x + 1.0
    kept = tuple(slice(0, size) for size in shape)
    moved[kept] = x[kept]
    return moved


def _divided(args: tuple, by: float) -> tuple:
    return revalued(args, lambda vector: vector / by)


def _same_in_short(y: Any, like: Any) -> bool:
    """Whether two values are equal up to the loss in single precision, including cancellation."""
    found, wanted = to_vec(y)[0], to_vec(like)[0]
    return bool(np.all(np.abs(found - wanted) <= 1e-3 * np.abs(wanted).max(initial=0.0)))


def _moved_by(value: Callable[[tuple], Any], inputs: tuple, before: np.ndarray) -> np.ndarray:
    """How far each number of a value is from the one before; zero where the value cannot be computed or is
    not finite.
    """
    try:
        with np.errstate(all="ignore"):
            moved = np.abs(to_vec(value(inputs))[0] - before)
    except Exception:
        return np.zeros(before.shape)
    return np.where(np.isfinite(moved), moved, 0.0)


def _with_tuples(x: Any, depth: int = 3) -> Any:
    """An argument in which each vector inside a dict, a list or a tuple is replaced by a tuple."""
    if isinstance(x, dict):
        return {key: _with_tuples(part, depth - 1) for key, part in x.items()}
    if type(x) in (list, tuple) and depth:
        return type(x)(_with_tuples(part, depth - 1) for part in x)
    return tuple(x.tolist()) if depth < 3 and isinstance(x, np.ndarray) and x.ndim == 1 else x


def lies_in(x: Any, low: float, high: float) -> bool:
    """Whether all numbers of an argument lie in a closed interval."""
    numbers = to_vec(x)[0]
    return bool(np.all((low <= numbers) & (numbers <= high)))
