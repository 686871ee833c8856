"""Which variants of a point are judged, and when: the same point in the forms in which users may have it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...tangents.zeros import AbstractZero, NoTangent
from ..arguments.accidental_lengths import is_longer, is_taken_by_accident
from ..arguments.refusals import casts_to_integers, makes_buffers_like
from ..calling.plain_calls import value_of
from ..calling.subjects import Subject, author_of
from ..measuring.vectors import leaves, shape_of, to_vec
from ..probing.list_lengths import of_other_list_lengths, reads_all_parts
from ..probing.options import Choice, choices_of, of_axes, options_of, with_other_options, with_two_options
from ..probing.perturb import fresh, laid_out_otherwise
from ..probing.probes import Point, Probe, parts_dropped, truth_at, without_warnings
from ..probing.variants import (
    MATRIX,
    OBLONG,
    along_other_axes,
    annotated_complex,
    answered_as_real,
    as_matrices,
    called_complex,
    has_arrays,
    in_complex,
    in_floats,
    in_order,
    in_whole_numbers,
    is_called_complex_by_rule,
    makes_complex,
    may_be_complex,
    meant_complex,
    meant_real,
    mentions_complex,
    of_other_lengths,
    one_in_floats,
    one_in_whole_numbers,
    same_numbers,
    smaller_in_complex,
    twice_as_long,
    with_arrays_for_numbers,
    with_fractions,
    with_keys_turned,
    with_larger_counts,
    with_numbers_for_none,
    with_other_counts,
)
from ..reading.axes_read import ranks_asked
from ..reading.constants import constants_in
from ..reading.counts import range_parameters
from ..reading.options_read import Option
from ..reading.parameters import default_of
from ..reading.ranks import counts_elements, counts_rows, tells_matrices
from ..reading.stated_kinds import complex_said, says_real, says_vectors
from ..reading.usage import rounded_to_whole
from .answer_findings import FAR_OFF, same_form
from .judging import Judging

LENGTHS = {"quick": 5, "normal": 5, "deep": 12}
"""How many points of other lengths than the first one with arrays are judged."""
AMONG_ELEMENTS = 0.55
"""Where in a vector, as a fraction of its length, a number is put that the function rounds to an index."""
COUNTED = {"quick": 1, "normal": 3, "deep": 8}
"""How many points with other whole numbers than those drawn are judged."""


OPTIONS = {"quick": 3, "normal": 14, "deep": 30}
"""At how many points one option that was not given (a word, flag or whole number) has another value."""
PAIRS = {"quick": 0, "normal": 8, "deep": 20}
"""And how many at which two options differ."""

PLAIN = ("given", "near those given", "drawn")


class VariantJudging(Judging):
    """A check that also judges variants of its points: see `variants.py`."""

    def _variants(self) -> Iterator[str]:
        """Judge the variants of the last point and yield their origins. Most variants are judged only at the
        first point with arrays and at the first without.
        """
        probe = self.probes[-1] if self.probes else None
        if probe is None or probe.failure is not None or probe.point.far or probe.point.origin not in PLAIN:
            return
        arrays = has_arrays(probe.point)
        if "axes" not in self.varied:
            yield from self._along_other_axes(probe)
        apart = len({x.shape for x in probe.point.floats if isinstance(x, np.ndarray)}) > 1
        kind = "apart" if apart else "arrays" if arrays else "numbers"
        if (defaults := f"defaults, {kind}") not in self.varied:
            self.varied.add(defaults)
            yield from self._with_other_defaults(probe)
        if ("arrays" if arrays else "numbers") in self.varied:
            if apart and "longer apart" not in self.varied:
                self.varied.add("longer apart")
                yield from self._of_other_lengths(probe, is_longer)
            if arrays and self.asks_whole_numbers and makes_buffers_like(self.subject.rule_codes):
                yield from self._with_one_array_whole(probe, 1)
            return
        self.varied.add("arrays" if arrays else "numbers")
        for point in same_numbers(probe.point, probe.truth.y):
            self._look_like(point, probe)
            yield point.origin
        yield from self._in_whole_numbers(probe)
        yield from self._looked_at(with_keys_turned(probe.point))
        yield from self._with_larger_counts(probe)
        yield from self._of_other_list_lengths(probe)
        if arrays:
            yield from self._of_other_lengths(probe)
            yield from self._with_other_counts(probe)
            yield from self._with_arrays_for_numbers(probe)
            if self.depth != "quick" or self.is_witness:
                yield from self._as_matrices(probe)
        spoken = bool(self._mentions_complex() or called_complex(self.subject))
        spoken = spoken and not says_real(self.subject.primal)
        if "complex" not in self.varied and (spoken or complex_said(self.subject.primal)):
            self.varied.add("complex")
            yield from self._in_complex(probe)

    def _looked_at(
        self,
        points: Iterable[Point],
        meant: Callable[[Point, Any], Point | None] = lambda point, y: point,
        most: int | None = None,
    ) -> Iterator[str]:
        """Judge up to `most` of the points at which the function has a value, and yield their origins.
        `meant` maps a point and its value to the point that is judged, or to None if it is to be skipped.
        """
        looked = 0
        for point in points:
            if looked == most:
                return
            y = self._usable(point)
            one = None if y is None else meant(point, y)
            if one is not None:
                looked += 1
                self._look(one, y)
                yield one.origin

    def _along_other_axes(self, probe: Probe) -> Iterator[str]:
        """Other axes than the default, if none was given."""
        names, keyword = self.subject.names, default_of(self.subject.primal, "axis")
        if "axis" in names[: len(self.source.args)] or "axis" in probe.point.kwargs:
            return
        for point in along_other_axes(probe.point, names, keyword):
            self.varied.add("axes")
            yield from self._looked_at([point])

    def _with_other_defaults(self, probe: Probe) -> Iterator[str]:
        """Other options than the defaults, if none were given, and numbers for defaults that are None."""
        given = len(self.first.inputs) - self._defaults()
        choices = self._choices(probe.point)
        left = OPTIONS[self.depth]
        for origin in self._looked_at_first(with_other_options(probe.point, choices), left):
            left -= 1
            yield origin
        axis = of_axes(probe.point, self.subject.names, self.subject.primal)
        together = [*choices, *([axis] if axis is not None else [])]
        yield from self._looked_at_first(with_two_options(probe.point, together), PAIRS[self.depth])
        worded = {name for name, values in self._options.items() if any(isinstance(v, str) for v in values)}
        left, filled = COUNTED[self.depth], set()
        for i, point in with_numbers_for_none(probe.point, self.subject.names, given, self.rng):
            if i in filled and not shape_of(point.inputs[i]):
                continue  # an array is intended here, and a number would only be broadcast like one
            if left and self.subject.names[i] not in worded:
                for origin in self._looked_at([point], partial(self._as_answered, probe, i)):
                    left -= 1
                    filled.add(i)
                    yield origin
                    beside = with_other_options(self.probes[-1].point, self._choices(self.probes[-1].point))
                    yield from self._looked_at_first(beside, PAIRS[self.depth] // 2)

    def _options_elsewhere(self) -> Iterator[str]:
        """Other options at further arguments of each kind that is judged, because two options may give the
        same result at some lengths, or for numbers of one sign. Nothing if the first point shows that there
        are no options.
        """
        if not self._choices(self.first) or self.depth == "quick":
            return
        left, larger = OPTIONS[self.depth], self.first
        for args in self.source.usual():
            point = self.first.moved(self._inputs(args), "drawn")
            if left > 0 and self._is_usable(point):
                others = with_other_options(point, self._choices(point))
                for origin in self._looked_at_first(others, min(left, PAIRS[self.depth])):
                    left -= 1
                    yield origin
                larger = max(larger, point, key=_count_of_numbers)
        # An array as small as these has only one piece of width three.
        wide = twice_as_long(larger, self.rng)
        widths = [one for one in self._choices(wide) if any(type(x) is int for x in one.others)]
        yield from self._looked_at_first(with_other_options(wide, widths), COUNTED[self.depth])

    def _options_where_it_varies(self) -> Iterator[str]:
        """Other options at the first point at which the function has a slope, if its slopes are zero wherever
        options were varied, so that any rule was right: `max(hp - hit, 0.0)`.
        """
        probes = [probe for probe in self.probes if probe.failure is None and not probe.point.far]
        sloping = [probe.point for probe in probes if np.any(probe.truth.slopes.value)]
        of_options = tuple(f"with {choice.name} =" for choice in self._choices(self.first))
        if self.depth == "quick" or not sloping or not of_options:
            return
        if not any(point.origin.startswith(of_options) for point in sloping):
            others = with_other_options(sloping[0], self._choices(sloping[0]))
            yield from self._looked_at_first(others, PAIRS[self.depth])

    def _defaults_elsewhere(self) -> Iterator[str]:
        """Other numbers than the defaults at one point for each combination of ranks that is judged at the
        defaults: a rule that forgets a factor is right where this is 1 by default.
        """
        usual = [p.point for p in self.probes if p.failure is None and p.point.origin in PLAIN]
        first = {tuple(map(shape_of, p.inputs)): p for p in reversed(usual) if not p.far}
        of_ranks = {tuple(map(len, shapes)): p for shapes, p in first.items()}
        moved = (one for p in of_ranks.values() for one in self._with_other_numbers(p))
        yield from self._looked_at(moved)

    def _with_other_numbers(self, point: Point) -> Iterator[Point]:
        """The point with other numbers for all defaults that are floats and vary, if there are any."""
        defaults = self._positions_of_defaults()
        free = [i for i in defaults if type(point.inputs[i]) is float and i not in self.first.constant]
        if free:
            others = {i: _stretched(point.inputs[i], n) for n, i in enumerate(free)}
            inputs = tuple(others.get(i, x) for i, x in enumerate(point.inputs))
            yield point.moved(inputs, "with other defaults")

    def _looked_at_first(self, several: Iterable[tuple[Point, ...]], most: int) -> Iterator[str]:
        """Judge the first point of each group at which the function has a value, up to `most` in all; yield
        their origins.
        """
        looked = 0
        for points in several:
            if looked >= most:
                return
            for origin in self._looked_at(points, most=1):
                looked += 1
                yield origin

    def _choices(self, point: Point) -> list[Choice]:
        """The options of the function at a point, including those that are drawn."""
        given = len(self.first.inputs) - self._defaults()
        kinds = self.source.choices[0] if self.source.drawn else ()
        drawn = [i for i, kind in enumerate(kinds) if kind.form == "option"]
        positions = [*drawn, *range(given, len(point.inputs))]
        return choices_of(point, self.subject.names, positions, self.subject.primal, self._options)

    @cached_property
    def _options(self) -> Mapping[str, tuple[Option, ...]]:
        """The values of options that the function or its rule distinguishes."""
        return options_of(self.subject)

    def _with_arrays_for_numbers(self, probe: Probe) -> Iterator[str]:
        """Arrays for numbers that are defaults, if the function or the rule tests which of the two it has."""
        asked = frozenset().union(*map(ranks_asked, self.subject.authors))
        given = len(self.first.inputs) - self._defaults()
        arrays = with_arrays_for_numbers(probe.point, self.subject.names, given, asked, self.rng)
        yield from self._looked_at(arrays, partial(_of_same_ranks, probe))

    def _as_answered(self, probe: Probe, i: int, point: Point, y: Any) -> Point | None:
        """The point with an input held fixed if the rule returns NoTangent() for it. None if the rule raises
        for the input, or if the value has another form than at a probe.
        """
        bar = self._cotangent_of(i, point, y)
        if bar is None or not same_form(y, probe.truth.y):
            return None
        constant = point.constant | {i} if isinstance(bar, NoTangent) else point.constant - {i}
        return dataclasses.replace(point, constant=constant)

    def _cotangent_of(self, position: int, point: Point, y: Any) -> Any:
        """The cotangent that the rule returns for an input. None if it raises at these inputs, which were not
        given.
        """
        if self.subject.reverse is None:
            return None
        with contextlib.suppress(Exception), without_warnings():
            _, back = self.subject.reverse(*fresh(point.inputs), **point.kwargs)
            return back(y)[position]
        return None

    def _with_other_counts(self, probe: Probe) -> Iterator[str]:
        """Other whole numbers than those drawn: with a single part, or several parts of equal size, a wrong
        order does not show.
        """
        drawn = enumerate(probe.point.inputs[: len(self.source.args)] if self.source.drawn else ())
        counts = [i for i, x in drawn if type(x) is int and self.subject.names[i] != "axis"]
        others = with_other_counts(probe.point, counts, self.rng)
        yield from self._looked_at(others, partial(_of_same_ranks, probe), COUNTED[self.depth])

    def _with_larger_counts(self, probe: Probe) -> Iterator[str]:
        """Larger whole numbers than those drawn: a rule that stops at five is right for smaller ones."""
        kinds = self.source.choices[0] if self.source.drawn else ()
        counts = [i for i, kind in enumerate(kinds) if kind.form == "integer" and not kind.dims]
        counts = [i for i in counts if np.isinf(kinds[i].high) and type(probe.point.inputs[i]) is int]
        names = {i: self.subject.names[i] for i in counts}
        stay = range_parameters(self.subject.primal).issuperset(names.values())
        larger = with_larger_counts(probe.point, names, self.subject.codes, self.rng, stay)
        yield from self._looked_at(larger, partial(_of_same_ranks, probe))

    def _in_whole_numbers(self, probe: Probe) -> Iterator[str]:
        """Whole numbers instead of floats. The derivative is the same, but a buffer made like the argument
        would truncate.
        """
        if not self.asks_whole_numbers:
            return
        given = self.source.whole if probe.point is self.first else None
        floats = in_floats(probe.point, None if given is None else self._inputs(given))
        yield from self._judged_in_whole_numbers(floats, in_whole_numbers(floats), given is not None)
        rising = in_order(floats) if given is None else None
        if rising is not None and (y := self._usable(floats)) is not None and not np.all(to_vec(y)[0]):
            yield from self._judged_in_whole_numbers(rising, in_whole_numbers(rising), False)
        mixed = with_fractions(floats, probe.point) if given is None else None
        if mixed is not None:
            yield from self._judged_in_whole_numbers(mixed, in_whole_numbers(mixed), False)
        if given is None and makes_buffers_like(self.subject.rule_codes):
            yield from self._with_one_array_whole(probe)

    def _with_one_array_whole(self, probe: Probe, fewest: int = 2) -> Iterator[str]:
        """Whole numbers in one of at least `fewest` arrays, at the first point where the value depends on it.
        If the slopes there are whole numbers, again at the first point where they are not: a buffer made like
        the array does no harm where a slope is zero, nor a buffer for a factor where that is one.
        """
        for position, one in one_in_floats(probe.point, fewest):
            name = self.subject.names[position]
            slopes = _slopes(probe, name)
            found = {"slope"} if np.any(slopes) else set()
            found |= {"fraction"} if np.any(np.abs(slopes - np.round(slopes)) > 1e-3) else set()
            new = {f"whole {name}, {what}" for what in found} - self.varied
            if new:
                self.varied |= new
                yield from self._judged_in_whole_numbers(one, one_in_whole_numbers(one, position), False)

    def _judged_in_whole_numbers(self, floats: Point, whole: Point | None, is_given: bool) -> Iterator[str]:
        """Judge the rule at whole numbers, where it has an answer at the same numbers as floats. If it
        raises, that counts against it if whole numbers were given, or if no arguments were given and it
        writes floats into a buffer that it makes like an argument. If it changes an integer buffer in place,
        that is only noted as unanswered.
        """
        y = self._usable(floats)
        if whole is None or y is None or not self._agrees_in_whole_numbers(whole, y):
            return
        truth = truth_at(self.subject, floats, self.rng, y, self.fdm)
        found = self._probe(whole, truth)
        casts = casts_to_integers(found.failure)
        in_place = casts and not makes_buffers_like(self.subject.rule_codes)
        may_be_meant = is_given or self.source.drawn and casts and not in_place
        if found.failure is not None and may_be_meant:
            self._judge(dataclasses.replace(found, point=dataclasses.replace(whole, guessed=False)))
            yield whole.origin
        elif in_place:
            self.unanswered.append(found)
        elif found.failure is None and not _is_held(found):
            value = _floats_of(found.y)
            if value.shape == to_vec(y)[0].shape:
                # A value in integers is compared as floats.
                found = dataclasses.replace(found, y=to_vec(y)[1](value))
            self._judge(found)
            yield whole.origin

    def _agrees_in_whole_numbers(self, whole: Point, y: Any) -> bool:
        try:
            found = value_of(self.subject.primal, whole.inputs, whole.kwargs)
        except Exception:
            return False
        one, other = _floats_of(found), to_vec(y)[0]
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-12, atol=1e-12))

    def _of_other_lengths(
        self, probe: Probe, is_meant: Callable[[Point, Point], bool] = lambda point, usual: True
    ) -> Iterator[str]:
        """The point at other lengths, restricted to those for which `is_meant(point, usual)` holds."""
        codes = (*self.subject.codes, *self.subject.helpers)
        others = map(self._among_its_elements, of_other_lengths(probe.point, codes, self.rng))
        fitting = (point for point in others if is_meant(point, probe.point))
        most = LENGTHS["normal" if self.is_witness else self.depth]
        yield from self._looked_at(fitting, partial(self._not_by_accident, probe), most)

    def _of_other_list_lengths(self, probe: Probe) -> Iterator[str]:
        """The point with longer and shorter lists, of which the function uses each element. A rule that has
        no answer of the right form for them may be written for a fixed number of parameters.
        """
        for points in of_other_list_lengths(probe.point, self.rng):
            for point in points:
                y = self._usable(point)
                if y is None or _of_same_ranks(probe, point, y) is None:
                    continue
                if reads_all_parts(self.subject, point, y, self.rng):
                    found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
                    if found.failure is None:
                        self._judge(found)
                        yield point.origin
                    else:
                        self.unanswered.append(found)
                break

    def _among_its_elements(self, point: Point) -> Point:
        """A point of other lengths, with each number that the function rounds to an index moved to the later
        half of a vector, if the function has a value there: the elements there may be others than at the
        first point.
        """
        sizes = [len(x) for x in point.inputs if isinstance(x, np.ndarray) and x.ndim]
        intervals, rounded = self.source.intervals(), rounded_to_whole(self.subject.primal)
        places = {
            i: AMONG_ELEMENTS * max(sizes)
            for i, (name, x) in enumerate(zip(self.subject.names, point.inputs))
            if name in rounded and isinstance(x, float) and i not in intervals and sizes
        }
        if not places:
            return point
        moved = point.having(tuple(places.get(i, x) for i, x in enumerate(point.inputs)), point.origin)
        return moved if self._is_usable(moved) else point

    def _not_by_accident(self, probe: Probe, point: Point, y: Any) -> Point | None:
        one = _of_same_ranks(probe, point, y)
        by_accident = one is not None and is_taken_by_accident(self.subject.primal, point, probe.point)
        return None if by_accident else one

    def _as_matrices(self, probe: Probe) -> Iterator[str]:
        """Matrices for vectors, if the function does to each element of a matrix what it does to those of a
        vector. A rule that fails for matrices was written for vectors. If the value is the same number or the
        same vector as for vectors, matrices may not be intended; a rule that is wrong there (`/ len(x)`) is
        then judged only if the code distinguishes matrices from vectors, and one that is right is judged with
        matrices transposed in memory as well. No matrices if the function says that it is for vectors.
        """
        if says_vectors(self.subject.primal):
            return
        for shape in (OBLONG, MATRIX):
            points = as_matrices(probe.point, self.rng, shape)
            judged = None if points is None else self._judged_as_matrix(*points)
            if judged is not None:
                yield judged
            if judged is not None or not self._tells_matrices():
                return  # otherwise go on: a branch for matrices may be one for square matrices

    def _judged_as_matrix(self, point: Point, beside: Point) -> str | None:
        """Judge a point of matrices and return its origin; `beside` has vectors of the same numbers. None if
        the rule fails there, or if the function does something else with vectors.
        """
        y, flat = map(self._usable, (point, beside))
        if y is None or flat is None or not _is_the_same_flat(point, y, flat):
            return None
        found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
        if found.failure is not None:
            return None
        if self._is_of_matrices(y) or not self._is_wrong_at(found):
            self._judge(found)
            turned = laid_out_otherwise(point.inputs, "transposed")
            if turned is not None:
                self._look_like(point.having(turned, f"{point.origin}, transposed in memory"), found)
        else:
            self.not_for_matrices = True
        return point.origin

    def _tells_matrices(self) -> bool:
        with_numbers = any(kind.form == "number" for kinds in self.source.choices for kind in kinds)
        by_helpers = any("ndim" in code.co_names and 2 in constants_in(code) for code in self.subject.helpers)
        return by_helpers or any(tells_matrices(author, with_numbers) for author in self.subject.authors)

    def _is_of_matrices(self, y: Any) -> bool:
        """Whether the value has several axes as the arguments have, or the code distinguishes matrices from
        vectors, or the function counts the elements of an array where the rule counts its rows.
        """
        rule = self.subject.rule
        if rule is not None and counts_elements(self.subject.primal) and counts_rows(author_of(rule)):
            return True
        return len(shape_of(y)) > 1 or self._tells_matrices()

    def _in_complex(self, probe: Probe) -> Iterator[str]:
        """Judge the rule at complex numbers if the code mentions them: in the arguments whose real and
        imaginary parts it takes, in each argument that may be complex beside real ones, and in all arguments.
        A rule that returns real cotangents for some of them was written for real numbers, unless it is right
        except for the imaginary parts, which it drops. If the code does not mention complex numbers, this is
        all that is checked, and only for arguments named `z`.
        """
        meant, called = meant_complex(self.subject), called_complex(self.subject)
        each = [frozenset([i]) for i in may_be_complex(self.subject, probe.point)]
        every = frozenset(i for one in each for i in one) or None  # not all: a rate beside a signal is real
        mentioned, real = self._mentions_complex(), meant_real(self.subject, probe.point)
        answered, measured = self._real_beside_complex(probe.point)
        said = complex_said(self.subject.primal)
        said_at = frozenset(i for i, name in enumerate(self.subject.names) if name in said)
        real |= answered - meant - called - said_at
        of_complex = [*map(_is_made_of_complex, probe.point.inputs)]
        if not self.source.drawn and any(of_complex):  # the real ones were given on purpose
            real |= {i for i, is_complex in enumerate(of_complex) if not is_complex}
        if meant and all(isinstance(probe.point.inputs[i], np.ndarray) for i in meant):  # a bound is real
            real |= {i for i, x in enumerate(probe.point.inputs) if type(x) is float}
        kinds = (*([meant] if meant else []), *each, every) if mentioned else (called,)
        if makes_complex(self.subject):
            # If some arguments are meant to be complex, so may the others be, unless answered as real.
            inputs = frozenset(range(len(probe.point.inputs))) if meant else None
            kinds = tuple(filter(None, (meant, called, inputs)))
        if said:  # and the others are real
            kinds = (said_at,)
        bases = [probe.point, *self._with_moved_defaults(probe.point)]
        ways = list(itertools.product(dict.fromkeys(kinds), bases))
        ask = partial(self._judged_in_complex, ways, mentioned or bool(said), None if said else meant)
        found = list(ask(real | measured - meant - called))
        # A rule with real cotangents is not written for a complex signal beside measured data, nor for a
        # complex window beside a signal whose cotangent it makes real.
        yield from found or (ask(real) if measured and not self.answers_as_real else ())

    def _judged_in_complex(
        self,
        ways: list[tuple[frozenset[int] | None, Point]],
        mentioned: bool,
        meant: frozenset[int] | None,
        real: frozenset[int],
    ) -> Iterator[str]:
        """Judge points with complex numbers at some positions, except for those that are `real`, and yield
        their origins. If the positions are those `meant` to be complex, or `meant` is None, the rule is
        judged whatever it answers.
        """
        for positions, base in ways:
            point = in_complex(base, self.rng, positions, real)
            for one in (point, point and smaller_in_complex(point)):  # on both sides of a bound beside them
                is_meant = meant is None or positions == meant
                if one is None or not self._is_judged_in_complex(one, mentioned, is_meant):
                    break
                yield one.origin

    def _with_moved_defaults(self, point: Point) -> Iterator[Point]:
        """The point with other numbers than the defaults, if some of them vary: a default of 0 or 1 may hide
        what a rule forgets about complex numbers.
        """
        given = len(self.first.inputs) - self._defaults()
        moved = [i for i, x in enumerate(point.inputs) if i >= given and type(x) is float]
        moved = [i for i in moved if i not in point.constant]
        inputs = list(point.inputs)
        for i in moved:
            inputs[i] += float(self.rng.integers(1, 9)) / 8
        if moved:
            yield point.having(tuple(inputs), point.origin)

    def _mentions_complex(self) -> bool:
        """Whether the code, or an annotation of the function, mentions complex numbers."""
        return mentions_complex(self.subject) or bool(annotated_complex(self.subject))

    def _real_beside_complex(self, point: Point) -> tuple[frozenset[int], frozenset[int]]:
        """Two sets of positions. First, the inputs for which the rule returns a real cotangent for a complex
        seed while only another input is complex, such as a bound or a width. Second, the inputs that give a
        complex value if they alone are complex, while others do not, as measured data does beside the size of
        a signal.
        """
        answered: set[int] = set()
        values: dict[int, bool] = {}
        for i in range(len(point.inputs)):
            one = in_complex(point, np.random.default_rng(0), frozenset([i]))
            y = None if one is None else self._in_complex_value(one)
            if one is None or y is None:
                continue
            values[i] = _is_made_of_complex(y)
            if values[i]:
                answered.update(j for j in answered_as_real(self.subject, one, y) if j != i)
        measured = {i for i, is_complex in values.items() if is_complex and not all(values.values())}
        return frozenset(answered), frozenset(measured)

    def _is_judged_in_complex(self, point: Point, mentioned: bool, is_meant: bool) -> bool:
        y = self._in_complex_value(point) if point.is_inside() else None
        if y is None:
            return False
        found = self._probe(point, truth_at(self.subject, point, self.rng, y, self.fdm))
        if found.failure is not None or self._takes_reals_for(found):
            return False
        answers = self.subject.reverse is not None and _answers_in_complex(found)  # not for tangents
        held = mentioned and (is_meant or answers)
        is_judged = held or _drops_imaginary_parts(self.subject, found)
        if is_judged:
            self._judge(found)
        self.answers_as_real |= not is_judged
        return is_judged

    def _takes_reals_for(self, probe: Probe) -> bool:
        """Whether the rule has a real value where that of the function is complex, and only the rule mentions
        complex numbers: it uses them to compute real results.
        """
        is_other = _is_made_of_complex(probe.truth.y) and not _is_made_of_complex(probe.y)
        return is_other and is_called_complex_by_rule(self.subject)


def _stretched(x: float, number: int) -> float:
    """A different number of the same sign, which also depends on `number`. A number between -1 and 1 stays in
    that interval, and 0 becomes positive.
    """
    step = 0.125 * (number % 3)
    return 0.25 + step if x == 0.0 else x * (0.5 + step if abs(x) <= 1.0 else 1.25 + step)


def _count_of_numbers(point: Point) -> int:
    return to_vec(point.floats)[0].size


def _answers_in_complex(probe: Probe) -> bool:
    """Whether the cotangents of complex arguments have imaginary parts, except where these are known to be
    zero.
    """
    slopes = np.where(probe.truth.slopes.known(), probe.truth.slopes.value, 1.0)
    imaginary = [_imaginary(leaf) for leaf in probe.truth.inputs if leaf.dtype.kind == "c"]
    answered = [bool(np.any(probe.answers[:, parts])) for parts in imaginary]
    wanted = [not probe.truth.whole or bool(np.any(slopes[:, parts])) for parts in imaginary]
    return any(answered) and all(has or not wants for has, wants in zip(answered, wanted))


def _drops_imaginary_parts(subject: Subject, probe: Probe) -> bool:
    """Whether a rule for a real value returns only the real parts of the right cotangents, and has written
    complex numbers into a real buffer.
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


def _slopes(probe: Probe, name: str) -> np.ndarray:
    """The slopes of the value with respect to an argument at a point, zero where they are not known."""
    slopes = probe.truth.slopes
    known = np.where(slopes.known(), slopes.value, 0.0)
    parts = [known[:, leaf.start : leaf.stop] for leaf in probe.truth.inputs if leaf.name == name]
    return np.concatenate([np.zeros(0), *map(np.ravel, parts)])


def _imaginary(leaf: Any) -> np.ndarray:
    """The indices of the imaginary parts of an argument."""
    return np.arange(leaf.start + 1, leaf.stop, 2) if leaf.dtype.kind == "c" else np.zeros(0, int)


def _is_the_same_flat(point: Point, y: Any, flat: Any) -> bool:
    """Whether the values for matrices (`y`) and for vectors of the same numbers (`flat`) have the same
    elements, and are both one number, or a matrix like the arguments and its vector, or both that vector.
    """
    shapes = [leaf.shape for leaf in leaves(y)], [leaf.shape for leaf in leaves(flat)]
    matrix = next(x.shape for x in point.floats if isinstance(x, np.ndarray) and x.ndim == 2)
    whole = (matrix[0] * matrix[1],)
    if shapes not in (([()], [()]), ([matrix], [whole]), ([whole], [whole])):
        return False
    return bool(np.allclose(to_vec(y)[0], to_vec(flat)[0], rtol=1e-12, atol=0.0))


def _of_same_ranks(probe: Probe, point: Point, y: Any) -> Point | None:
    """The point if its value has as many axes as that of a probe, otherwise None."""
    return point if _ranks(y) == _ranks(probe.truth.y) else None


def _ranks(y: Any) -> list[tuple[str, int]]:
    return [(leaf.name, len(leaf.shape)) for leaf in leaves(y, "y")]


def _is_held(probe: Probe) -> bool:
    """Whether a rule returns a zero tangent, such as NoTangent(), for an argument of whole numbers."""
    bars = probe.raw[1:] if isinstance(probe.raw, tuple) else ()
    return any(
        x is not floats and isinstance(bar, AbstractZero)
        for x, floats, bar in zip(probe.point.inputs, probe.point.floats, bars)
    )


def _floats_of(y: Any) -> np.ndarray:
    """All numbers of a value as floats, including whole numbers."""
    if isinstance(y, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(_floats_of, y)])
    if isinstance(y, (int, np.integer, np.bool_)) or (isinstance(y, np.ndarray) and y.dtype.kind in "iub"):
        return np.asarray(y, float).ravel()
    return to_vec(y)[0]
