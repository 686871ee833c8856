"""Single places at which a rule gives nan or inf, or divides by zero, although its function is smooth there:
zero, one, numbers in its code, and numbers so large that an exponential in the rule overflows.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..calling.budgets import Limit
from ..measuring.shortening import shortened
from ..measuring.vectors import to_vec
from ..probing.at_zero import (
    branching_at_zero,
    compared_with_number,
    ends_allowed_by_docstring,
    slopes_at,
    slopes_if_smooth,
    special_at_zero,
    zero_allowed_by_docstring,
)
from ..probing.closeness import Closeness, Tolerance, closeness
from ..probing.far_numbers import (
    equal_pairs,
    far_points,
    has_no_number,
    has_none_by_its_steps,
    places,
    warns_of_floats,
)
from ..probing.findings import AT_ZERO, NO_NUMBER, UNKNOWN, WRONG, Finding
from ..probing.perturb import landmarks
from ..probing.probes import Point, Probe, truth_at, varied_inputs
from ..reading.by_name import interval_of_name, is_a_guard
from .settling import Settling
from .variant_judging import PLAIN

MARKS = 6
"""How many numbers of the code, the smallest first, are tried as the exact value of single numbers."""
MOST_KINDS = 4
"""For how many kinds of arguments, told apart by which of them are arrays, the first point is moved to such
places.
"""
SECONDS = 5.0
"""The limit of processor time for such places; a tenth of a second suffices if the function is fast."""
AGAIN = 4
"""At how many other points a place is tried again at which the rule was found to be wrong."""
TINY = float(np.finfo(float).tiny)
_ALL = (-np.inf, np.inf)


class NonfinitePlaces(Settling):
    """A check that also tries a rule that is right so far at single places where it may have no number."""

    def _look_for_numberless(self) -> None:
        """Judge the rule at such places. One that has no number where the slopes of its function are known
        and finite is wrong, even if it may not be intended for other arguments at which it has none. Where
        they are not known, where the function itself divides by zero, and far away, this is only mentioned in
        the report.
        """
        is_brief = self.depth == "quick" and not self.is_witness
        open_ones = [finding for finding in self.findings if finding.level in (WRONG, UNKNOWN)]
        if not is_brief and all(map(_is_in_doubt, open_ones)) and self._ask_at_places():
            self.findings = [finding for finding in self.findings if not _is_in_doubt(finding)]
        left = [finding.probe for finding in self.findings if finding.check == NO_NUMBER]
        for probe in (*self.numberless, *filter(None, left)):
            self._tell_of(probe.point)

    def _ask_at_places(self) -> bool:
        """Try the rule at single places until it is found to be wrong; return whether it is."""
        bases, limit = list(self._first_of_each_kind()), Limit(SECONDS)
        for base in bases:
            for position, point in self._places(base):
                if limit.is_over():  # the function is slow
                    return False
                probe = self._numberless_at(point)
                if probe is not None and self._condemns(probe, position, base):
                    self._look_there_again(point, position, base)
                    return True
            if any(map(self._condemns_where_equal, equal_pairs(base) if self.source.drawn else ())):
                return True
        return False

    def _condemns_where_equal(self, point: Point) -> bool:
        """Whether it is a mistake that the rule has no number where two arguments are equal; if so, note a
        finding.
        """
        y = None if point.far else self._usable(point)
        if self.subject.reverse is None or y is None or not has_no_number(self.subject, point, y):
            return False
        slopes = self._slopes_if_ordinary(point, y)
        if slopes is None or has_none_by_its_steps(self.subject, point, y):
            return False
        probe = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
        found = np.full(slopes.shape, np.nan) if probe.failure is not None else probe.matrix
        blocks = {leaf.name: np.s_[:, leaf.start : leaf.stop] for leaf in probe.truth.inputs}
        bad = [name for name, block in blocks.items() if not np.all(np.isfinite(found[block]))]
        if bad and isinstance(probe.failure, (ZeroDivisionError, type(None))):
            what = "gives nan or inf" if probe.failure is None else "raises ZeroDivisionError"
            self.probes.append(probe)
            slope = np.array([float(f"{x:.3g}") for x in slopes[blocks[bad[0]]].ravel()])  # the known digits
            self.findings.append(self._at_zero(probe, bad[0], what, slope))
        return bool(bad)

    def _slopes_if_ordinary(self, point: Point, y: Any) -> np.ndarray | None:
        """The derivative of the function at a point where it is smooth, has a value without zeros, and
        computes it without dividing by zero; otherwise None. A value may be zero at a point that is not
        intended, such as a sum whose step is zero.
        """
        if not np.all(to_vec(y)[0]) or warns_of_floats(self.subject.primal, point.inputs, point.kwargs):
            return None
        return slopes_if_smooth(self.subject, point)

    def _look_there_again(self, point: Point, position: int, base: Point) -> None:
        """Judge the same place at other points, because a correction has to be right there as well."""
        if point.far:
            return
        for other in itertools.islice((p for p in self._usual() if p is not base), AGAIN):
            same = (p for i, p in self._places(other) if i == position and p.origin == point.origin)
            probe = next((self._probe_at(p) for p in same), None)
            if probe is not None and probe.failure is None:
                limit = Tolerance.of(probe, self.rtol, self.atol)
                self.probes.append(probe)
                self.compared.append((probe, closeness(probe, limit, self.subject.reverse is None)))

    def _first_of_each_kind(self) -> Iterator[Point]:
        """For each combination of inputs that are arrays, the first point at which the rule has numbers."""
        usual = self._usual()
        kinds = dict.fromkeys(map(_which_are_arrays, usual))
        for kind in itertools.islice(kinds, MOST_KINDS):
            points = (p for p in usual if _which_are_arrays(p) == kind and self._numberless_at(p) is None)
            yield from itertools.islice(points, 1)

    def _usual(self) -> list[Point]:
        usual = [p.point for p in self.probes if p.failure is None and p.point.origin in PLAIN]
        return [point for point in usual if not point.far and point.like is None]

    def _places(self, base: Point) -> Iterator[tuple[int, Point]]:
        """The places around a point, each with the position of the input that is moved. If arguments were
        given, only zeros of inputs that the function treats specially at zero.
        """
        intervals = self.source.intervals()
        if self.source.drawn:
            codes = (*self.subject.codes, *self.subject.helpers)
            marks = sorted({1.0, *landmarks(codes)[:MARKS]}, key=abs)
            judged = self._judged_between(base, intervals)
            yield from places(base, marks, judged)
            ends = self._ends_at_zero(judged)
            for position, point in places(base, [0.0], ends):
                yield position, dataclasses.replace(point, bounds=_with_end(point.bounds, position, 0.0))
            for i, end in self._closed_ends():
                for position, point in places(base, [end], _only_around(end, i, judged)):
                    yield position, dataclasses.replace(point, bounds=_with_end(point.bounds, position, end))
            yield from far_points(base, {i: _of_signs(*judged[i], *intervals.get(i, _ALL)) for i in judged})
            return
        names, special = self.subject.names, special_at_zero(self.subject.primal)
        for position, point in places(base, [0.0], intervals):
            if position < len(names) and names[position] in special:
                yield position, point

    def _judged_between(
        self, base: Point, intervals: Mapping[int, tuple[float, float]]
    ) -> dict[int, tuple[float, float]]:
        """The smallest and largest number of each argument at which the rule was judged so far, clipped to
        its interval. Places in between are numbers that the function is intended for; zero is not if all
        numbers were positive.
        """
        usual = [p.point for p in self.probes if p.failure is None and p.truth.is_smooth and not p.point.far]
        found = {}
        for i in range(len(base.inputs)):
            numbers = np.concatenate([np.zeros(0), *(to_vec(p.inputs[i])[0] for p in usual)])
            low, high = intervals.get(i, _ALL)
            found[i] = (max(low, numbers.min(initial=np.inf)), min(high, numbers.max(initial=-np.inf)))
        return found

    def _ends_at_zero(self, judged: Mapping[int, tuple[float, float]]) -> dict[int, tuple[float, float]]:
        """A tiny interval around zero for each input that was drawn on one side of zero only, although the
        code of the function treats zero specially or its docstring allows it. An empty interval for the
        others.
        """
        names, special = self.subject.names, special_at_zero(self.subject.primal)
        ends = [i for i, (low, high) in judged.items() if not low < 0.0 < high and i < len(names)]
        said = zero_allowed_by_docstring(self.subject.primal)
        by_name = {name for name in special if interval_of_name(name)[0] == 0.0}
        special -= by_name - branching_at_zero(self.subject.primal)
        special -= {name for name in special if self.source.is_said(name)}
        asked = {i for i in ends if names[i] in special | said}
        return {i: (-TINY, TINY) if i in asked else (np.inf, -np.inf) for i in judged}

    def _closed_ends(self) -> Iterator[tuple[int, float]]:
        """The ends other than zero of intervals that the docstring writes as closed."""
        said = ends_allowed_by_docstring(self.subject.primal)
        for i, name in enumerate(self.subject.names):
            yield from ((i, end) for end in sorted(said.get(name, ())) if end)

    def _ends_said(self, position: int) -> set[float]:
        """The numbers that an argument may have, according to the docstring, although an interval ends
        there.
        """
        names, primal = self.subject.names, self.subject.primal
        if position >= len(names):
            return set()
        ends = set(ends_allowed_by_docstring(primal).get(names[position], ()))
        return ends | ({0.0} if names[position] in zero_allowed_by_docstring(primal) else set())

    def _is_an_end(self, base: Point, position: int) -> bool:
        """Whether zero is not inside the range of numbers of an input at which the rule was judged."""
        if not self.source.drawn:
            return False
        low, high = self._judged_between(base, self.source.intervals())[position]
        return not low < 0.0 < high

    def _numberless_at(self, point: Point) -> Probe | None:
        """The probe at a point where the function has a value and the rule has no number; otherwise None."""
        y = self._usable(point)
        if y is None or not has_no_number(self.subject, point, y) or self._has_an_edge_at_ties(point):
            return None
        return self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))

    def _condemns(self, probe: Probe, position: int, base: Point) -> bool:
        """Whether it is a mistake that the rule has no number at a place. If so, note a finding; if not, note
        the place for the report.
        """
        if probe.failure is not None:
            is_meant = self._is_met_at(probe, base, position)
            found = self._raised_at_zero(probe, position) if is_meant else None
            if found is not None:
                self.probes.append(probe)
                self.findings.append(found)
            elif isinstance(probe.failure, ZeroDivisionError):
                self._tell_of(probe.point)
            return found is not None
        forward = self.subject.reverse is None
        compared = closeness(probe, Tolerance.of(probe, self.rtol, self.atol), forward)
        no_value = not np.all(np.isfinite(to_vec(probe.y)[0]))
        bad = compared.wrong & ~np.isfinite(compared.found)
        if not probe.point.far and not no_value and self._is_lost_by_its_steps(probe, position, base):
            self._tell_of(probe.point)
            return False
        if not no_value and not bad.any():
            found = None if forward or probe.point.far else self._at_a_bend(probe, position, base)
        elif self._is_meant(probe, base, position):
            found = self._without_number(probe, compared, bad)
        else:
            found = None
            self._tell_of(probe.point)
        if found is None:
            return False
        self.probes.append(probe)
        self.compared.append((probe, compared))
        self.findings.append(found)
        return True

    def _is_meant(self, probe: Probe, base: Point, position: int) -> bool:
        """Whether the rule has to have a number at a place. Not at far points that were not given, where an
        exponential in a right formula may overflow.
        """
        is_within = not probe.point.far and self._is_within(probe, base, position)
        return is_within and self._is_met_at(probe, base, position)

    def _is_within(self, probe: Probe, base: Point, position: int) -> bool:
        """Whether a place is inside the domain of the function, or is an end that is stated to be in it."""
        if self._ends_said(position).intersection(to_vec(probe.point.inputs[position])[0].tolist()):
            return True
        return self._is_inside(probe, base, position)

    def _is_inside(self, probe: Probe, base: Point, position: int) -> bool:
        """Whether the slopes with respect to each number that was moved are known and, at zero, equal on both
        sides, so that the place is neither an end of the domain nor a kink.
        """
        known = probe.truth.slopes.known()
        if not probe.truth.whole:
            return bool(known.all())
        floats = [
            i for i in range(len(base.floats)) if i not in base.constant and to_vec(base.floats[i])[0].size
        ]
        start = sum(to_vec(base.floats[i])[0].size for i in floats if i < position)
        there, moved = _moved(probe, base, position)
        if not probe.truth.inputs or not known[:, start + moved].all():
            return False
        zeros = {*np.flatnonzero(there == 0.0).tolist()}
        return zeros <= {at for at, _ in self._slopes_at(probe, position)}

    def _is_met_at(self, probe: Probe, base: Point, position: int) -> bool:
        """Whether the function computes its value at a place without dividing by zero, or treats the place
        specially in its code. Zero need not be intended for one of several arguments, or for a single number
        such as a wavelength or the step of Simpson's rule, by which a rule divides (`y_bar * y / h`): it
        counts only if the function mentions it. A guard, which exists to be nonzero, does not count.
        """
        name = self.subject.names[position] if position < len(self.subject.names) else ""
        if position in self._positions_of_defaults() and is_a_guard(name, self.first.inputs[position]):
            return False
        there, moved = _moved(probe, base, position)
        marks = np.unique(there[moved]).tolist()
        if any(name in compared_with_number(self.subject.primal, mark) for mark in marks):
            return True
        is_special = name in special_at_zero(self.subject.primal)
        divides = warns_of_floats(self.subject.primal, probe.point.inputs, probe.point.kwargs)
        is_one_of_several = sum(to_vec(x)[0].size > 0 for x in varied_inputs(base.floats, base)) > 1
        if is_one_of_several or 0.0 in marks and np.ndim(base.inputs[position]) == 0:
            is_said = 0.0 in marks and is_special or not self._ends_said(position).isdisjoint(marks)
            return is_said and not divides
        if 0.0 in marks and self._is_an_end(base, position):
            is_special = False
        return is_special or not divides

    def _is_lost_by_its_steps(self, probe: Probe, position: int, base: Point) -> bool:
        """Whether differentiating the function step by step gives no number at a place either, and its code
        does not treat the place specially: then a rule that follows the steps is as good as they are.
        """
        name = self.subject.names[position] if position < len(self.subject.names) else ""
        there, moved = _moved(probe, base, position)
        told = (compared_with_number(self.subject.primal, mark) for mark in np.unique(there[moved]).tolist())
        if any(name in names for names in told):
            return False
        return has_none_by_its_steps(self.subject, probe.point, probe.y)

    def _without_number(self, probe: Probe, compared: Closeness, bad: np.ndarray) -> Finding:
        at = self.shown(probe.point)
        if not bad.any():
            words = f"gives {shortened(probe.y)} where the value is {shortened(probe.truth.y)}, at {at}"
            return Finding("value", words, probe=probe)
        column = int(np.argwhere(bad)[0][1])
        leaf = next(one for one in compared.columns if one.start <= column < one.stop)
        words = f"gives nan or inf at {at}, where the derivative for {leaf.name} is finite"
        return Finding(NO_NUMBER, words, argument=leaf.name, worst=compared.worst(leaf), probe=probe)

    def _at_a_bend(self, probe: Probe, position: int, base: Point) -> Finding | None:
        """A finding at zero if the slopes on both sides are equal although differences of higher order do not
        settle, as for `v * abs(v)`. The function must be intended for zero.
        """
        name = self.subject.names[position]
        start = next((leaf.start for leaf in probe.truth.inputs if leaf.name == name), None)
        if start is None or not probe.units or not probe.truth.whole:
            return None
        for at, slope in self._slopes_at(probe, position):
            has_none = not np.all(np.isfinite(probe.matrix[:, start + at]))
            if has_none and self._is_met_at(probe, base, position):
                return self._at_zero(probe, name, "gives nan or inf", slope)
        return None

    def _raised_at_zero(self, probe: Probe, position: int) -> Finding | None:
        if not isinstance(probe.failure, ZeroDivisionError) or self.subject.reverse is None:
            return None
        for _, slope in self._slopes_at(probe, position):
            return self._at_zero(probe, self.subject.names[position], "raises ZeroDivisionError", slope)
        return None

    def _slopes_at(self, probe: Probe, position: int) -> list[tuple[int, np.ndarray]]:
        with np.errstate(all="ignore"):
            return list(slopes_at(self.subject.primal, probe.point, position))

    def _at_zero(self, probe: Probe, name: str, what: str, slope: np.ndarray) -> Finding:
        of = f"{slope[0]:.6g}" if slope.size == 1 else shortened(slope)
        words = f"{what} at {self.shown(probe.point)}, where the derivative for {name} is {of}"
        return Finding(AT_ZERO, words, argument=name, probe=probe)


def _of_signs(smallest: float, largest: float, low: float, high: float) -> tuple[float, float]:
    """An interval without the side of zero on which nothing was judged."""
    return (low if smallest < 0 else max(low, 0.0)), (high if largest > 0 else min(high, 0.0))


def _with_end(
    bounds: tuple[tuple[float, float], ...], position: int, end: float
) -> tuple[tuple[float, float], ...]:
    """Open intervals, of which the one at `position` is extended to contain `end` if it begins or ends
    there.
    """

    below, above = _around(end)

    def extended(low: float, high: float) -> tuple[float, float]:
        return (below if low == end else low), (above if high == end else high)

    return tuple(extended(*ends) if i == position else ends for i, ends in enumerate(bounds))


def _only_around(end: float, position: int, of: Iterable[int]) -> dict[int, tuple[float, float]]:
    """A tiny interval around a number for one input, and empty ones for the others."""
    return {i: _around(end) if i == position else (np.inf, -np.inf) for i in of}


def _around(end: float) -> tuple[float, float]:
    """The smallest open interval of floats around a number; around zero, of those with all digits."""
    if end == 0:
        return -TINY, TINY
    return float(np.nextafter(end, -np.inf)), float(np.nextafter(end, np.inf))


def _moved(probe: Probe, base: Point, position: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of an input at a place, and the indices of those that were moved."""
    there = to_vec(probe.point.floats[position])[0]
    return there, np.flatnonzero(there != to_vec(base.floats[position])[0])


def _is_in_doubt(finding: Finding) -> bool:
    """Whether a finding says that the rule has no number at arguments for which it may not be intended."""
    return finding.level == UNKNOWN and finding.check == NO_NUMBER


def _which_are_arrays(point: Point) -> tuple[bool, ...]:
    return tuple(isinstance(x, np.ndarray) and x.ndim > 0 for x in point.inputs)
