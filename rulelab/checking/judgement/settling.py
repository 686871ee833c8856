"""Which findings remain once all points have been judged: those at arguments that were not given or stated
may not count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...advice import TO_JUDGE, checked_with, with_domain
from ...errors import RuleShapeError
from ..arguments.accidental_lengths import raises_when_longer
from ..arguments.alternative_kinds import NUMBERS, SHAPE, AlternativeAnswer, doubtful_argument
from ..calling.subjects import has_loop
from ..measuring.vectors import leaves, shape_of, to_vec
from ..probing.at_zero import compared_with_number
from ..probing.closeness import Tolerance, closeness
from ..probing.far_numbers import has_no_number, has_numbers_by_its_steps, warns_of_floats
from ..probing.findings import NO_NUMBER, UNKNOWN, WRONG, Finding
from ..probing.probes import Point, Probe, truth_at
from ..probing.variants import in_complex
from ..reading.arrays_said import arrays_told
from ..reading.complex_meant import may_be_of_complex
from ..reading.constants import constants_in
from ..reading.searches import Searches
from ..reading.stated_kinds import says_real
from ..reading.usage import elements_taken
from .answer_findings import failure_found, has_axis_of_one, is_odd, is_refusal, looks_at_part
from .halvings import is_an_end, is_bisection, repeats_until
from .judging import Judging, input_sizes
from .kept_state import state_that_raises
from .lengths_meant import at_last_places, misses_a_length, only_length, shapes_meant
from .symmetric_meant import is_symmetric_matrix, meant_symmetric, shortened_matrices
from .variant_judging import PLAIN

NOTHING = 1e-30
"""If slopes at usual numbers are at most this fraction of the slope at another point, any rule is right at
usual numbers.
"""
BESIDE_A_DEFAULT = (0.97, 1.03)
"""Factors of a default at which the function is called to see whether it has a value for other numbers."""


class Settling(Judging):
    """A check that weighs its findings, once all points have been judged, by what was given or stated."""

    def _settle_valueless(self) -> None:
        """Drop or keep findings at arrays of length one. It is no mistake that a rule divides by zero there,
        where all vectors are collinear, or has another value there, where the first element is also the last,
        if it is judged at longer arrays. A rule that was judged at length one only is judged by these
        findings.
        """
        if any(not has_axis_of_one(probe.point.inputs) for probe in self.probes):
            return
        for probe, findings, compared in self.valueless:
            self.probes.append(probe)
            self.compared.append(compared)
            self.findings += findings
        self.valueless = []

    def _settle_far_off(self) -> None:
        """Findings at far points confirm findings elsewhere. Alone they do not make a rule wrong, since the
        function itself may have lost its digits there. They do count at smooth points where no number is
        larger than at the other points, since small numbers are not far away, and where the slopes at usual
        numbers are negligible, since the function is intended for numbers at which it has a slope.
        """
        wrong = [finding for finding in self.far_off if finding.level == WRONG]
        is_meant = any(self._is_small(finding) or self._is_first_to_tell(finding) for finding in wrong)
        if not wrong or self._wrong() or is_meant:
            self.findings += self.far_off
            return
        self.findings += [finding for finding in self.far_off if finding.level != WRONG]
        words = f"right at ordinary numbers, but not far from them: {wrong[0].words}"
        self.findings.append(dataclasses.replace(wrong[0], check="far away", words=words, level=UNKNOWN))

    def _is_small(self, finding: Finding) -> bool:
        """Whether a rule is wrong at numbers no larger than usual ones, where the slope of its function is
        known.
        """
        probe = finding.probe
        if probe is None or probe.failure is not None or not probe.truth.is_smooth:
            return False
        usual = [input_sizes(p.point) for p in self.probes if p.failure is None and not p.point.far]
        return bool(usual) and bool(np.all(input_sizes(probe.point) <= np.max(usual, axis=0)))

    def _is_first_to_tell(self, finding: Finding) -> bool:
        """Whether a rule is wrong where the slope of its function is known, while slopes at usual numbers are
        so small that any rule is right, as for `np.exp(-9000 / T)` at temperatures of about one.
        """
        probe = finding.probe
        if probe is None or probe.failure is not None or not probe.truth.is_smooth:
            return False
        usual = [p for p in self.probes if p.truth.is_smooth and not p.point.far]
        largest = max((_largest_slope(p) for p in usual), default=np.inf)
        return largest <= NOTHING * _largest_slope(probe)

    def _settle_longer(self) -> None:
        """A rule that is right at several lengths, and raises because of shapes at a longer one, is wrong
        there if the value depends on each number of the arguments: it only works for the lengths that its
        author tried. So is a rule that returns a cotangent of another shape where the function drops the rest
        of an argument.
        """
        if self._wrong():
            return
        off = {id(probe) for probe, compared in self.compared if compared.wrong.any()}
        right = [p for p in self.probes if p.failure is None and id(p) not in off]
        own = (*self.subject.rule_codes, *self.subject.helpers)
        for probe in self.unanswered:
            counts = probe.truth.whole and not looks_at_part(probe)
            if (
                misses_a_length(probe, right)
                or any(map(self._is_right_at, at_last_places(probe)))
                or counts and raises_when_longer(probe, right, own)
            ):
                self.unanswered = [one for one in self.unanswered if one is not probe]
                self.probes.append(probe)
                self.findings.append(failure_found(probe))
                return

    def _is_right_at(self, point: Point) -> bool:
        """Whether the rule answers at a further point, and is right there."""
        probe = self._probe_at(point)
        return probe is not None and probe.failure is None and not self._is_wrong_at(probe)

    def _settle_refusals(self) -> None:
        """A rule that raises at most points cannot be called right because of the few others."""
        if self.probes and len(self.unanswered) > len(self.probes):
            why = failure_found(self.unanswered[0]).words
            by = "the rule " if why.startswith("raises") else ""
            words = f"not judged at most of the points: {by}{why}"
            self.findings.append(Finding("answer", words, UNKNOWN, probe=self.unanswered[0]))

    def _settle_ties(self) -> None:
        """At ties that were not given, a rule may give each of several equal numbers the slope on one side.
        If it is right elsewhere, that is reported but does not make the rule wrong.
        """
        wrong = self._wrong()
        if wrong and all(one.of_several for one in wrong) and self._right_elsewhere(wrong):
            self.findings = [finding for finding in self.findings if finding.level != WRONG]
            self.at_ties = wrong[0].words

    def _settle_numberless(self) -> None:
        """A rule that gives nan or inf at arguments that were not given, and is right at others, may not be
        intended for them, so the verdict is "cannot tell". If the function itself divides by zero there, the
        points are left out and mentioned. The rule stays wrong if only whole numbers are the cause, and the
        function's own steps have a derivative there.
        """
        wrong = self._wrong()
        if not wrong or any(np.any(c.wrong & np.isfinite(c.found)) for _, c in self.compared):
            return
        if not all(map(_has_no_number, wrong)):
            return
        off = self._probes_off(wrong)
        if any(self._is_lost_by_whole_numbers(probe) for probe in self.probes if id(probe) in off):
            return
        by_itself = (one.probe is not None and self._divides_itself(one.probe) for one in wrong)
        if self.source.drawn and all(by_itself) and self._points_right(wrong):
            self._leave_out(wrong)
            self._tell_of(wrong[0].probe.point)  # type: ignore[union-attr]
        elif points := self._right_elsewhere(wrong):
            at = self.shown(wrong[0].probe.point)  # type: ignore[union-attr]
            words = (
                f"right at {points} points, and nan or infinite where the derivative is finite, at {at}: "
                f"{TO_JUDGE} there"
            )
            self._cannot_tell(wrong, NO_NUMBER, words)

    def _leave_out(self, wrong: list[Finding]) -> None:
        """Remove the wrong findings and the points at which they were made."""
        off = self._probes_off(wrong)
        self.findings = [finding for finding in self.findings if finding.level != WRONG]
        self.probes = [probe for probe in self.probes if id(probe) not in off]
        self.compared = [(probe, compared) for probe, compared in self.compared if id(probe) not in off]

    def _divides_itself(self, probe: Probe) -> bool:
        """Whether a function of indices or flags divides by zero at a point although it has a value there,
        and its code does not treat zero as a special case: a node without edges, of which it makes nothing.
        """
        picks = any(np.asarray(x).dtype.kind in "iub" for x in self.first.inputs if np.ndim(x))
        primal, point = self.subject.primal, probe.point
        return (
            picks
            and not compared_with_number(primal, 0.0)
            and warns_of_floats(primal, point.inputs, point.kwargs)
        )

    def _is_lost_by_whole_numbers(self, probe: Probe) -> bool:
        """Whether a rule has no number because of the whole numbers of a point: with them it has none at
        points at which it is right otherwise either. Whole numbers do not lie in an interval that its author
        may have had in mind.
        """
        inputs = enumerate(probe.point.inputs)
        whole = {i: x for i, x in inputs if isinstance(x, np.ndarray) and x.dtype.kind in "iu"}
        if not whole or not has_numbers_by_its_steps(self.subject, probe.point, probe.y):
            return False
        off = self._probes_off(self._wrong())
        right = [p.point for p in self.probes if p.failure is None and id(p) not in off]
        kinds = [*map(_kind_of, probe.point.inputs)]
        alike = [p for p in right if [*map(_kind_of, p.inputs)] == kinds]
        points = [p.having(_with_whole(p.inputs, whole), p.origin) for p in alike]
        values = [(point, self._usable(point)) for point in points]
        there = [has_no_number(self.subject, point, y) for point, y in values if y is not None]
        return bool(there) and all(there)

    def _settle_searches(self) -> None:
        """A rule that is wrong only, and always, where a search loop of its function finds nothing may not be
        intended for such arguments, if they were not given.
        """
        wrong = self._wrong()
        searches = Searches(self.subject.primal)
        if not wrong or not searches.has_any or any(one.probe is None for one in wrong):
            return
        off = self._probes_off(wrong)
        in_vain = [p for p in self.probes if searches.find_nothing(p.point.inputs, p.point.kwargs)]
        is_throughout = all(id(probe) in off for probe in in_vain if probe.truth.is_smooth)
        is_all = is_throughout and off <= set(map(id, in_vain))
        if is_all and (points := self._right_elsewhere(wrong)):
            at = self.shown(wrong[0].probe.point)  # type: ignore[union-attr]
            words = (
                f"right at {points} points, and wrong where a loop of {self.subject.name} never meets "
                f"its break condition, as at {at}: {TO_JUDGE} there"
            )
            self._cannot_tell(wrong, "answer", words)

    def _settle_repeated(self) -> None:
        """A rule for the limit of a `while` loop that is wrong only at numbers of other signs than those
        given, or at negative numbers if none were given, may not be intended for them: the loop may end
        elsewhere, or never run.
        """
        wrong = self._wrong()
        if not wrong or any(one.probe is None for one in wrong) or not self._is_of_a_limit():
            return
        off = self._probes_off(wrong)
        same = [probe for probe in self.probes if not self._has_other_signs(probe.point)]
        if len(same) > 2 and off.isdisjoint(map(id, same)):
            at = self.shown(wrong[0].probe.point)  # type: ignore[union-attr]
            words = (
                f"right at {len(same)} points, and wrong at numbers of other signs, as at {at}, where a loop "
                f"of {self.subject.name} may not find what it looks for: give a domain"
            )
            self._cannot_tell(wrong, "answer", words)

    def _settle_ends(self) -> None:
        """A rule for the limit of a bisection may not be intended for arguments at which the limit is an end
        of the searched interval, or a pole at which the rule has no number: nothing was to be found between
        the ends.
        """
        wrong = self._wrong()
        is_search = is_bisection(self.subject.primal) and not any(map(has_loop, self.subject.rule_codes))
        if not wrong or any(one.probe is None for one in wrong) or not is_search:
            return
        off = self._probes_off(wrong)
        ended = [probe for probe in self.probes if id(probe) in off and _has_numbers(probe)]
        if not ended or not all(map(self._is_at_an_end, ended)):
            return
        if points := self._right_elsewhere(wrong, fewest=1):
            at = self.shown(ended[0].point)
            words = (
                f"right at {points} point{'s' * (points > 1)}, and wrong where {self.subject.name} ends at "
                f"an end of the interval that it searches, as at {at}: {TO_JUDGE} there"
            )
            self._cannot_tell(wrong, "answer", words)

    def _is_at_an_end(self, probe: Probe) -> bool:
        """Whether the bisection found nothing between the ends of its interval."""
        return is_an_end(probe.truth.y, probe.point.floats, self.subject.codes)

    def _is_of_a_limit(self) -> bool:
        """Whether the function has a `while` loop, and its rule has no loop."""
        return repeats_until(self.subject.primal) and not any(map(has_loop, self.subject.rule_codes))

    def _settle_defaults(self) -> None:
        """A rule that is wrong only at numbers of other signs than those given or drawn may not be intended
        for them, if the function has a value there for the default of a parameter and none for numbers close
        to it: 1 / 0.5 happens to be whole, so that the power of a negative number exists. A default that is
        whole itself, as in `x**2.0`, is no such accident.
        """
        wrong = self._wrong()
        defaults = self._fractional_defaults()
        if not wrong or not defaults or any(one.probe is None for one in wrong):
            return
        off = self._probes_off(wrong)
        strange = [probe.point for probe in self.probes if id(probe) in off]
        usual = [p.point for p in self.probes if id(p) not in off and p.point.origin in PLAIN]
        if len(usual) < 3 or not all(map(self._has_signs_of_nobody, strange)):
            return
        for i in defaults:
            if all(self._is_alone(point, i) for point in strange) and not self._is_alone(usual[0], i):
                name, at = self.subject.names[i], self.shown(strange[0])
                words = (
                    f"right at {len(self.probes) - len(off)} points, and wrong at numbers of other signs, as "
                    f"at {at}, where {self.subject.name} has a value for {name} = {strange[0].inputs[i]:g}, "
                    "and none for numbers close to it: give a domain"
                )
                self._cannot_tell(wrong, "answer", words)
                return

    def _has_signs_of_nobody(self, point: Point) -> bool:
        """Whether a number has a sign that was neither given nor drawn."""
        is_drawn = self.source.drawn and point.origin in PLAIN
        return not is_drawn and self._has_other_signs(point)

    def _fractional_defaults(self) -> list[int]:
        """The positions of the inputs that are defaults and not whole numbers."""
        inputs = self.first.inputs
        those = self._positions_of_defaults()
        return [i for i in those if isinstance(inputs[i], float) and not inputs[i].is_integer()]

    def _is_alone(self, point: Point, i: int) -> bool:
        """Whether the function has a value at a number but none on either side of it."""
        x = point.inputs[i]
        if not isinstance(x, (int, float)):
            return False
        beside = (_replaced(point.inputs, i, x * factor) for factor in BESIDE_A_DEFAULT)
        return not any(self._is_usable(point.moved(inputs, "beside")) for inputs in beside)

    def _has_other_signs(self, point: Point) -> bool:
        """Whether a number has another sign than the one given or, if none was given, is negative."""
        pairs = ((x, first) for x, first in zip(point.inputs, self.first.inputs) if _is_real(x))
        if self.source.drawn:
            return any(np.any(np.sign(x) < 0) for x, _ in pairs)
        return any(_has_another_sign(x, first) for x, first in pairs)

    def _settle_lengths(self) -> None:
        """A rule that is right for arrays of a length that is a literal in its text, and answers with that
        length for other arrays, may be intended for that length only: nothing says that others are.
        """
        wrong = self._wrong()
        if any(one.probe is None for one in wrong) or not self.source.drawn or not self.source.is_guessed:
            return
        right = [probe for probe in self.probes if probe.failure is None]
        literals = {c for code in self.subject.rule_codes for c in constants_in(code) if type(c) is int}
        meant = shapes_meant([one.probe for one in wrong if one.probe], right, literals.__contains__)
        if meant:
            names = [self.subject.names[i] for i in meant]
            lengths = " x ".join(map(str, next(iter(meant.values()))))
            words = (
                f"right for {' and '.join(names)} of length {lengths}, and gives cotangents of that length "
                f"for others: {TO_JUDGE} at lengths that it is for"
            )
            self._cannot_tell(wrong, "answer", words)

    def _settle_one_length(self) -> None:
        """A rule that is right for arrays of one length, which is a literal in its text, and raises for all
        other lengths that its function takes, may be intended for that length only.
        """
        is_open = self.source.drawn and self.source.is_guessed
        if not is_open or any(finding.level in (WRONG, UNKNOWN) for finding in self.findings):
            return
        own = {c for code in self.subject.rule_codes for c in constants_in(code) if type(c) is int}
        functions = (code for code in self.subject.codes if code not in self.subject.rule_codes)
        written = own - {c for code in functions for c in constants_in(code)}
        length = only_length(self.probes, self.unanswered)
        is_read = length in elements_taken(self.subject.primal).values()  # it reads `c[0]` and `c[1]`
        if length in written and not is_read:
            words = (
                f"right for arrays of length {length}, a length written into the rule, and raises for "
                "others: "
                f"{TO_JUDGE} at lengths that it is for"
            )
            self.findings.append(Finding("answer", words, UNKNOWN, probe=self.unanswered[0]))

    def _settle_symmetric(self) -> None:
        """A rule that is wrong for square matrices in several cotangents, and right for symmetric ones, is
        intended for symmetric matrices if no single change makes it right for others. This concerns matrices
        that were drawn, and points near symmetric matrices that were given.
        """
        if any(one.diff for one in self.diagnoses) or not (those := self._right_if_symmetric()):
            return
        domain = with_domain("say which it is for", dict.fromkeys(those, "symmetric"))
        words = f'right for symmetric {" and ".join(those)}, and wrong for others: {domain} or "square"'
        self._cannot_tell(self._wrong(), "answer", words)
        self.diagnoses = ()

    def _right_if_symmetric(self) -> list[str]:
        """The names of the arguments for which a rule that is wrong in several cotangents is right if they
        are symmetric; none if other matrices are intended.
        """
        wrong = self._wrong()
        if self.source.drawn:
            is_open = self.source.is_guessed
        else:
            is_open = any(map(is_symmetric_matrix, self.first.inputs))
        is_of_numbers = all(one.argument is not None or one.check == "value" for one in wrong)
        is_of_one = len({finding.argument for finding in wrong}) < 2
        if not is_open or self.subject.reverse is None or is_of_one or not is_of_numbers:
            return []
        drawn = [self.first, *(self._point(number) for number in range(1, 3))]
        found = meant_symmetric(drawn, self._probe_at)
        if not self.source.drawn and not all(is_symmetric_matrix(self.first.inputs[i]) for i in found):
            return []
        if self.source.drawn and all(map(self._is_usable, shortened_matrices(self.first))):
            return []
        return [self.subject.names[i] for i in found]

    def _wrong(self) -> list[Finding]:
        """The findings that say that the rule is wrong."""
        return [finding for finding in self.findings if finding.level == WRONG]

    def _cannot_tell(self, wrong: list[Finding], check: str, words: str) -> None:
        """Replace the wrong findings by one that says "cannot tell", since nothing says whether such
        arguments are intended.
        """
        self.set_aside = words
        self.findings = [finding for finding in self.findings if finding.level != WRONG]
        self.findings.append(Finding(check, words, UNKNOWN, probe=wrong[0].probe))

    def _probes_off(self, wrong: list[Finding]) -> set[int]:
        """The identities of the probes at which something is wrong."""
        off = {id(probe) for probe, compared in self.compared if compared.wrong.any()}
        return off | {id(finding.probe) for finding in wrong}

    def _right_elsewhere(self, wrong: list[Finding], fewest: int = 2) -> int:
        """The number of points at which a rule is right that is wrong at points that were not given; 0 if
        arguments were given, or if there are too few ordinary points among them.
        """
        is_guessed = self.source.drawn and self.source.is_guessed
        return self._points_right(wrong, fewest) if is_guessed else 0

    def _points_right(self, wrong: list[Finding], fewest: int = 2) -> int:
        """The number of points at which nothing is wrong; 0 if too few of them are ordinary ones."""
        found = self._probes_off(wrong)
        usual = [p for p in self.probes if id(p) not in found and p.failure is None and not is_odd(p.point)]
        return len(self.probes) - len(found) if len(usual) >= fewest else 0

    def _look_beside(self) -> None:
        """Note for which kinds of arguments close to those judged a right rule answers with another shape or
        wrong numbers: nothing says whether they are intended.
        """
        is_right = not any(finding.level in (WRONG, UNKNOWN) for finding in self.findings)
        is_brief = self.depth == "quick" or self.is_witness
        if not is_right or is_brief or self.subject.reverse is None:
            return
        self._look_at_complex()
        for one, args in self.source.beside():
            found = self._probe_at(self._point_of(args))
            if found is None or is_refusal(found.failure, odd=True):
                continue
            if isinstance(found.failure, RuleShapeError):
                self.beside.append(AlternativeAnswer(one, SHAPE))
            elif found.failure is None:
                compared = closeness(found, Tolerance.of(found, self.rtol, self.atol), forward=False)
                if compared.wrong.any():
                    self.beside.append(AlternativeAnswer(one, NUMBERS))
        name = doubtful_argument(self.beside, self.subject.names, self.first.constant)
        is_said = name in arrays_told(self.subject.primal)
        if name is not None and not is_said and any(shape_of(probe.truth.y) for probe in self.probes):
            words = (
                f"right if {name} is an array; if it is a number, as its name suggests, it lacks a sum: "
                f'{with_domain("say which it is for", {name: "number"})} or "vector"'
            )
            self.findings.append(Finding("answer", words, UNKNOWN))

    def _look_at_complex(self) -> None:
        """Note whether the rule is wrong for complex numbers, if its function usually takes them and does not
        mention them. This is tried at the ordinary point whose arrays have the most axes.
        """
        primal = self.subject.primal
        if "complex" in self.varied or not may_be_of_complex(primal) or says_real(primal):
            return
        plain = [p.point for p in self.probes if p.failure is None and not is_odd(p.point)]
        first = max(plain, key=_most_axes, default=None)
        point = None if first is None else in_complex(first, np.random.default_rng(0))
        y = None if point is None else self._in_complex_value(point)
        if point is not None and y is not None:
            found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
            self.not_for_complex = found.failure is None and self._is_wrong_at(found)

    def _point_of(self, args: tuple) -> Point:
        """The point of arguments that were drawn from kinds close to those judged."""
        first = dataclasses.replace(self.first, forms=())  # forms belong to the kinds that are judged
        return first.moved(self._inputs(args), "of other kinds", guessed=True)

    def _unknown_findings(self) -> Iterator[Finding]:
        """Findings about what could not be judged: rules that raise or refuse everywhere, cotangents that are
        not implemented, and arguments whose derivative could not be measured at any point.
        """
        if self.unanswered and not self.probes:
            words = failure_found(self.unanswered[0]).words
            raised = words.startswith("raises ")
            more = checked_with("give your own", self.subject.name, self.subject.names)
            held = state_that_raises(self.subject, self.unanswered[0])
            if held is not None:
                words = f"{words}, but only with what earlier calls have left in `{held}`"
                yield Finding("effects", words, probe=self.unanswered[0])
            else:
                words = f"{'it ' * raised}{words}, at arguments that were guessed; {more}"
                yield Finding("answer", words, UNKNOWN)
        if self.refused and not self.probes:
            words = f"the rule refuses every point: {failure_found(self.refused[0]).words}"
            yield Finding("answer", words, UNKNOWN)
        if self.missing and self.probes:
            of = " and ".join(self.missing)
            words = f"the cotangent of {of} is not implemented; only the others were judged"
            yield Finding("answer", words, UNKNOWN)
        if self.probes and not any(probe.truth.inputs for probe in self.probes):
            words = "no number among the arguments can vary"
            yield Finding("measurement", words, UNKNOWN)
        forward = self.subject.reverse is None
        known: dict[str, bool] = {}
        usual = [(p, c) for p, c in self.compared if not is_odd(p.point)]
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


def _with_whole(inputs: tuple, whole: Mapping[int, np.ndarray]) -> tuple:
    """The inputs with the given whole numbers at some positions, repeated or cut to the shapes there."""
    return tuple(np.resize(whole[i], x.shape) if i in whole else x for i, x in enumerate(inputs))


def _kind_of(x: Any) -> tuple[int, str]:
    """The number of axes of an argument, and the kind of its dtype if it is an array."""
    return len(shape_of(x)), x.dtype.kind if isinstance(x, np.ndarray) else ""


def _largest_slope(probe: Probe) -> float:
    return float(np.abs(probe.truth.slopes.value).max(initial=0.0))


def _has_no_number(finding: Finding) -> bool:
    """Whether a wrong finding is about an answer or a value with nan or inf."""
    probe = finding.probe
    if probe is None or probe.failure is not None:
        return False
    return not np.all(np.isfinite(probe.answers)) or not np.all(np.isfinite(to_vec(probe.y)[0]))


def _has_numbers(probe: Probe) -> bool:
    """Whether the rule raised, or all its answers are finite."""
    return probe.failure is not None or bool(np.all(np.isfinite(probe.answers)))


def _has_another_sign(x: Any, first: Any) -> bool:
    """Whether a number has another sign than the number at the same index of `first` or, if the shapes
    differ, a sign that no number of `first` has.
    """
    if np.shape(x) == np.shape(first):
        return bool(np.any(np.sign(x) * np.sign(first) < 0))
    return any(bool(np.any(np.sign(x) == sign)) and not np.any(np.sign(first) == sign) for sign in (-1, 1))


def _replaced(inputs: tuple, i: int, x: Any) -> tuple:
    """The inputs with another value at one position."""
    return (*inputs[:i], x, *inputs[i + 1 :])


def _most_axes(point: Point) -> int:
    """The largest number of axes of an array, including arrays in structs."""
    return max((len(leaf.shape) for leaf in leaves(point.inputs)), default=0)


def _is_real(x: Any) -> bool:
    """Whether an argument is a real number or an array of real numbers."""
    return isinstance(x, (int, float, np.generic, np.ndarray)) and np.asarray(x).dtype.kind in "if"
