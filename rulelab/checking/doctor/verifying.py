"""Whether a corrected rule is right outside the check: at other sizes, at zero, at edges, at far points."""

from __future__ import annotations

import ast
import dataclasses
import enum
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...annotations import annotations_of, signature_of_callable
from ...errors import RuleEffectsError
from ...tangents.zeros import AbstractZero
from ..arguments.points import heeded_warnings_at, odd_points, value_if_usable
from ..calling.plain_calls import value_of
from ..calling.subjects import Subject, names_at
from ..judgement.answer_findings import is_another_kind
from ..judgement.effects import effects_of, writes
from ..measuring.copies import own_keywords
from ..measuring.vectors import shape_of, to_vec
from ..probing.closeness import LOST, LOST_FAR, Closeness, Tolerance, closeness
from ..probing.kinks import kink_findings
from ..probing.options import Choice, choices_of, options_of, with_other_options
from ..probing.perturb import fresh, jittered, moved_exactly_to, revalued
from ..probing.probes import (
    Point,
    Probe,
    answers_of_changed_rule,
    probe_reverse,
    reverse_answer,
    truth_at,
    without_warnings,
)
from ..probing.variants import (
    as_matrices,
    has_arrays,
    in_complex,
    of_other_lengths,
    same_numbers,
    with_other_counts,
)
from ..reading.anatomy import last_name
from ..reading.parameters import before_rest
from ..reading.texts import names_of
from .other_ranks import of_other_counts, of_other_ranks

AXES = frozenset(("axis", "keepdims"))
"""Names in code for arrays of several dimensions."""
TURNING = frozenset(("T", "transpose", "swapaxes"))
"""Names in code for matrices, which points with vectors do not test."""
COMPLEX = frozenset(("conj", "conjugate", "real", "imag", "angle", "fft"))
"""Names in code for complex numbers."""
LENGTHS = (1, 2, 5, 9, 0)
"""The lengths of arrays at which a corrected rule has to be right, besides those of the check."""
FACTORS = (1.0, -1.0, 30.0, -30.0, 1.0 / 30)
"""The factors by which arguments are larger than those of the check."""
PAIRS = 3
"""How many pairs of arguments are made equal."""
COLUMNS = 3
"""The number of columns of a matrix that replaces a vector."""
OF_OTHER_KINDS, OF_A_MATRIX = "of other kinds", "of a matrix for a vector"
"""The origins of points with arguments of kinds for which a rule may not be intended."""
OF_OTHER_RANKS = "of other ranks"
"""The origin of points of other ranks at which a rule has wrong numbers of the right shapes, and which were
not given.
"""
OF_OWN_LENGTHS = "of lengths of their own"
"""The origin of points at which arrays of one length have several lengths."""
OF_OTHER_COUNTS = "of other numbers of arguments"
"""The origin of points with more or fewer arguments."""
MOST = 40
"""The maximum number of points; their kinds take turns."""
MOST_OPTIONS, MOST_OF_OPTION = 3, 8
"""How many other values of options than those of the first points are tried, and at how many points each."""
ROUGHLY = 1e-5
"""The relative error that numbers at such points may have: digits get lost at far points."""
OF_STEEPEST = 1e-9
"""The fraction of the largest slope of all numbers of a value by which that of another one may be off."""


class Unseen:
    """The points outside the check at which a corrected rule is verified, with the derivative there, measured
    when needed.
    """

    def __init__(
        self,
        subject: Subject,
        probes: list[Probe],
        elsewhere: Sequence[Point] = (),
        others: Sequence[Probe] = (),
    ) -> None:
        self.subject, self.probes, self.elsewhere, self.others = subject, probes, elsewhere, others
        self._rng = np.random.default_rng(29)
        self._made: list[Probe] = []
        self._rest = self._measured()

    def probes_there(self) -> Iterator[Probe]:
        """Each point with its derivative, as a probe without answers."""
        yield from list(self._made)
        for probe in self._rest:
            self._made.append(probe)
            yield probe

    def put_first(self, probe: Probe) -> None:
        """Put a point at which a rule has failed before the others, for the next rule."""
        self._made = [probe, *(p for p in self._made if p is not probe)]

    def _measured(self) -> Iterator[Probe]:
        bases = _bases(self.probes)
        if not bases:
            return
        like, kinds = bases[0].truth.y, [self._kinds(base) for base in bases]
        heeded = heeded_warnings_at(self.subject, bases[0].point)
        yield from self.others
        yield from self._measured_at(self.elsewhere)
        for base in bases:
            yield from self._kept_right(base.point)
        options = [self._kinds_of_option(base) for base in _bases_of_options(self.probes, bases)]
        points = itertools.chain(
            itertools.islice(_in_turns(options), MOST_OF_OPTION * len(options)),
            itertools.islice(_in_turns(kinds), MOST),
        )
        for point in points:
            try:
                y = value_if_usable(self.subject, point, like, heeded)
                if y is None and any(_kind_of(x) == "c" for x in point.inputs):
                    y = value_if_usable(self.subject, point, 1j, heeded)
                if y is not None and not _is_at_pole(self.subject, point):
                    yield Probe(point, truth_at(self._named_at(point), point, self._rng, y))
            except Exception:
                continue  # a point that cannot be measured is skipped

    def _named_at(self, point: Point) -> Subject:
        """The subject with names for as many arguments as a point has."""
        if len(point.inputs) == len(self.subject.names):
            return self.subject
        return dataclasses.replace(self.subject, names=names_at(self.subject.primal, len(point.inputs)))

    def _measured_at(self, points: Iterable[Point]) -> Iterator[Probe]:
        """Probes at points of other kinds, where the value may have another form."""
        for point in points:
            try:
                y = value_of(self.subject.primal, point.inputs, point.kwargs)
                yield Probe(point, truth_at(self.subject, point, self._rng, y))
            except Exception:
                continue  # a point that cannot be measured is skipped

    def _kept_right(self, point: Point) -> Iterator[Probe]:
        """The points of other ranks at which the unchanged rule is right, and those with more axes at which
        its value is right and its cotangents have the right shapes. Others do not count: a rule for vectors
        may take the length of a number, and so raise once it is corrected.
        """
        ranks = of_other_ranks(point, OF_OTHER_KINDS, np.random.default_rng(31))
        for probe in self._measured_at(p for p in ranks if self._answers(p).size):
            asked, close, _ = Answers().of(self.subject, probe)
            if close is not None and _same_value(asked):
                is_right = is_right_at(self.subject, probe, roughly=ROUGHLY)
                if is_right:
                    yield probe
                elif not _has_zeros(asked) and any(
                    len(shape_of(x)) > len(shape_of(old)) for x, old in zip(probe.point.inputs, point.inputs)
                ):
                    other = dataclasses.replace(probe.point, origin=OF_OTHER_RANKS)
                    yield dataclasses.replace(probe, point=other)

    def _kinds_of_option(self, base: Probe) -> list[Iterator[Point]]:
        """Points of a few kinds near one with another value of an option."""
        point, rng = base.point, self._rng
        codes = (*self.subject.codes, *self.subject.helpers)
        lengths = of_other_lengths(point, codes, rng, LENGTHS) if has_arrays(point) else iter(())
        return [lengths, iter([_scaled(point, by, rng) for by in FACTORS[:3]])]

    def _options(self, point: Point) -> list[Choice]:
        """The options of the function at a point, including those that were given."""
        every, names = range(len(point.inputs)), self.subject.names
        return choices_of(point, names, every, self.subject.primal, options_of(self.subject))

    def _kinds(self, base: Probe) -> list[Iterator[Point]]:
        """Points of several kinds near one of the check."""
        point = base.point
        rng, codes = self._rng, (*self.subject.codes, *self.subject.helpers)
        zeros = (point.moved(inputs, "at zero") for inputs in _zeroed(point.floats))
        zero = (point.moved(inputs, "at zero") for inputs in moved_exactly_to(point.floats, 0.0))
        scaled = (_scaled(point, by, rng) for by in FACTORS)
        # Changing a single length shows which length a rule depends on.
        lengths = of_other_lengths(point, codes, rng, LENGTHS) if has_arrays(point) else iter(())
        layouts = same_numbers(point, base.truth.y) if has_arrays(point) else iter(())
        names = {name for code in codes for name in names_of(code)}
        counts = [i for i, x in enumerate(point.inputs) if type(x) is int and self.subject.names[i] != "axis"]
        counted = itertools.chain(
            with_other_counts(point, counts, rng),
            (points[0] for points in with_other_options(point, self._options(point))),
        )
        wider = iter([as_matrices(point, rng)] if names & (AXES | TURNING) else [])
        matrices = [pair[0] for pair in wider if pair is not None and self._answers(pair[0]).size]
        # An argument annotated as a real number stays real, and has a real cotangent.
        called = _called_numbers(self.subject.primal, point)
        may = frozenset(i for i, x in enumerate(point.floats) if _kind_of(x) == "f" and not called[i])
        may = may - self._answered_really(point, may) if not COMPLEX.isdisjoint(names) else may
        some = (may, may) if may and not COMPLEX.isdisjoint(names) else ()
        more = (in_complex(point, rng, positions) for positions in some)
        # A rule with real answers there was written for real numbers.
        turned = (p for p in more if p is not None and np.any(self._answers(p)[1::2]))
        answered = complex_answered(self.subject, base)
        alone = in_complex(point, rng, answered) if answered else None
        both = [in_complex(p, rng, may) for p in matrices if names & TURNING] if some else []
        both = [p for p in both if p is not None and np.any(self._answers(p)[1::2])]
        kinds: list[Iterator[Point]] = [
            iter([*matrices, *(p for p in (*both, alone) if p is not None)]),
            self._widened(point),
            self._counted(point),
            (longer for longer in _longer(point, rng) if self._answers(longer).size),
            _as_annotated(self.subject.primal, point),
            (p for p in turned if p is not None),
            counted,
            lengths,
            zeros,
            scaled,
            odd_points(self.subject, point, rng),
            _of_equals(point, rng),
            zero,
            layouts,
        ]
        return [_as_far_as_they_go(kind) for kind in kinds]

    def _counted(self, point: Point) -> Iterator[Point]:
        """The point with more and with fewer arguments for the function's `*xs`."""
        fixed = before_rest(self.subject.primal)
        return iter(()) if fixed is None else of_other_counts(point, fixed, OF_OTHER_COUNTS, self._rng)

    def _widened(self, point: Point) -> Iterator[Point]:
        """The point with a matrix in place of its only vector, or of one of several that are used row by row,
        if the value of the unchanged rule is right there and its cotangents have the right shapes: then it
        was written for both.
        """
        vectors = [i for i, x in enumerate(point.floats) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
        if any(point.floats[i].ndim != 1 for i in vectors) or any(point.constant):
            return
        for i in vectors:
            x = point.floats[i]
            wide = self._rng.uniform(0.5, 1.5, (len(x), COLUMNS)) * x[:, None]
            for matrix in (wide, wide.T) if len(vectors) == 1 else (wide.T,):
                moved = point.having((*point.floats[:i], matrix, *point.floats[i + 1 :]), OF_A_MATRIX)
                if self._is_for(moved):
                    yield moved

    def _is_for(self, point: Point) -> bool:
        """Whether the unchanged rule has the right value at a point, and answers of the right shapes."""
        if self.subject.reverse is None:
            return False
        try:
            with without_warnings():
                y = value_of(self.subject.primal, point.inputs, point.kwargs)
                truth = truth_at(self.subject, point, self._rng, y)
                asked = probe_reverse(self.subject, point, truth, self._rng, watched=False)
            return asked.failure is None and _same_value(asked) and not _has_zeros(asked)
        except Exception:
            return False

    def _answered_really(self, point: Point, may: frozenset[int]) -> frozenset[int]:
        """Those of the arguments `may` for which the unchanged rule has real cotangents if all are complex,
        while it has complex ones for others: an angle stays real beside complex numbers.
        """
        wide = in_complex(point, np.random.default_rng(0), may) if len(may) > 1 else None
        answer = self._answers(wide) if wide is not None else np.zeros(0)
        if wide is None or not answer.size:
            return frozenset()
        ends = np.cumsum([to_vec(x)[0].size for x in wide.floats])
        parts = dict(enumerate(np.split(answer, ends[:-1]))) if ends[-1] == answer.size else {}
        really = frozenset(i for i in may if i in parts and not np.any(parts[i][1::2]))
        return really if len(really) < len(may) else frozenset()

    def _answers(self, point: Point) -> np.ndarray:
        """The answer of the unchanged rule at a point; empty if it was not written for such points."""
        answer = _answer(self.subject, point)
        return answer if np.all(np.isfinite(answer)) else answer[:0]


def _is_at_pole(subject: Subject, point: Point) -> bool:
    """Whether the function divides by zero on its way and still returns a number by luck, `exp(-(x / s)**2)`
    at `s = 0`, and the rule has no answer there.

    No change helps a rule that contains the same quotient. A rule that has an answer there is not excused.
    """
    with np.errstate(divide="raise", invalid="raise"):
        try:
            subject.primal(*fresh(point.floats), **own_keywords(point.kwargs))
            return False
        except FloatingPointError:
            pass
    return not np.all(np.isfinite(_answer(subject, point)))


def _answer(subject: Subject, point: Point) -> np.ndarray:
    """The answer of a rule at a point to a seed of ones; nan if it fails."""
    with without_warnings():
        try:
            if subject.reverse is None:
                assert subject.forward is not None
                tangents = revalued(point.floats, np.ones_like)
                return to_vec(subject.forward(tangents, *fresh(point.floats), **dict(point.kwargs))[1])[0]
            y, back = subject.reverse(*fresh(point.floats), **own_keywords(point.kwargs))
            return reverse_answer(back, y, np.ones_like(to_vec(y)[0]), point)
        except Exception:
            return np.array([np.nan])


def _longer(point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """The point with one of several arrays longer, along all axes by different amounts, and along a single
    one. If the function accepts this, the lengths of its arrays need not be equal.
    """
    floats = point.floats
    arrays = [i for i, x in enumerate(floats) if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind == "f"]
    if len(arrays) < 2 or any(point.constant) or any(point.forms):
        return
    for i in arrays:
        longer = [2 + axis for axis in range(floats[i].ndim)]
        alone = ([by * (at == axis) for at, by in enumerate(longer)] for axis in range(floats[i].ndim))
        for more in [longer, *(alone if len(longer) > 1 else ())] if floats[i].size else ():
            shape = tuple(n + by for n, by in zip(floats[i].shape, more))
            drawn = rng.choice(floats[i].ravel(), shape) * rng.uniform(0.8, 1.2, shape)
            yield point.having((*floats[:i], drawn, *floats[i + 1 :]), OF_OWN_LENGTHS)


def _called_numbers(function: Any, point: Point) -> list[bool]:
    """Which inputs are annotated as real numbers."""
    said = annotations_of(function)
    try:
        names = list(signature_of_callable(function).parameters)[: len(point.floats)]
    except (TypeError, ValueError):
        names = []
    called = [said.get(name) in (float, "float") for name in names]
    return called + [False] * (len(point.floats) - len(called))


def _as_annotated(function: Any, point: Point) -> Iterator[Point]:
    """The point with a number for each array that is annotated as a number."""
    numbers = tuple(
        float(x.flat[0]) if is_number and isinstance(x, np.ndarray) and x.size and x.dtype.kind == "f" else x
        for x, is_number in zip(point.floats, _called_numbers(function, point))
    )
    if any(new is not old for new, old in zip(numbers, point.floats)):
        yield point.moved(numbers, "as annotated")


def _as_far_as_they_go(points: Iterator[Point]) -> Iterator[Point]:
    """The points up to the first that cannot be made: no matrix without rows is positive definite."""
    try:
        yield from points
    except Exception:
        return


def _bases(probes: list[Probe]) -> list[Probe]:
    """The points of the check from which others are made: the first, and the first with arrays."""
    usual = _usual(probes)
    arrays = [p for p in usual if has_arrays(p.point)]
    return usual[:1] if not arrays or usual[0] is arrays[0] else [usual[0], arrays[0]]


def _usual(probes: list[Probe]) -> list[Probe]:
    return [p for p in probes if p.point.like is None and not p.point.far and p.truth.is_smooth]


def _bases_of_options(probes: list[Probe], bases: list[Probe]) -> list[Probe]:
    """The first points of the check with other values of options than `bases`, with arrays if possible."""
    usual, seen = _usual(probes), {_options_at(p.point) for p in bases}
    found: list[Probe] = []
    for probe in sorted(usual, key=lambda p: not has_arrays(p.point)):
        if (options := _options_at(probe.point)) not in seen:
            seen.add(options)
            found.append(probe)
    return found[:MOST_OPTIONS]


def _in_turns(kinds: Iterable[Iterable[Iterator[Point]]]) -> Iterator[Point]:
    """One point of each kind in turn."""
    rows = itertools.zip_longest(*itertools.chain(*kinds))
    return (point for row in rows for point in row if point is not None)


def _options_at(point: Point) -> tuple[str, ...]:
    """The words, flags and None among the inputs, as text; other whole numbers are not options."""
    words = (str, bool, enum.Enum, type(None))
    held = [repr(x) if isinstance(x, words) else "" for x in point.inputs]
    return (*held, *(f"{name}={x!r}" for name, x in sorted(point.kwargs.items())))


def _scaled(point: Point, by: float, rng: np.random.Generator) -> Point:
    inputs = revalued(jittered(point.floats, rng), lambda vector: vector * by)
    return point.moved(inputs, "far away", far=abs(by) != 1.0)


def _of_equals(point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """Points where two arguments are equal, with all their numbers positive or all negative: if
    `x * (x != y)` is wrongly zero there, it is less than right in one case and more in the other.
    """
    shapes = {
        i: shape_of(x)
        for i, x in enumerate(point.floats)
        if _kind_of(x) == "f" and i not in point.constant and not point.symmetric(i)
    }
    pairs = (pair for pair in itertools.combinations(shapes, 2) if shapes[pair[0]] == shapes[pair[1]])
    for pair in itertools.islice(pairs, PAIRS):
        size = np.abs(jittered((point.floats[pair[0]],), rng)[0])
        for equal in (size, -size):
            inputs = (equal if i in pair else x for i, x in enumerate(point.floats))
            yield point.moved(tuple(inputs), "two arguments equal")


def _zeroed(args: tuple) -> Iterator[tuple]:
    """The arguments with one of them zero, for each in turn, then with all of them zero."""
    for i, x in enumerate(args):
        if to_vec(x)[0].size:
            yield (*args[:i], *revalued((x,), np.zeros_like), *args[i + 1 :])
    if len(args) > 1:
        yield revalued(args, np.zeros_like)


def _has_zeros(asked: Probe) -> bool:
    """Whether a rule has returned one of rulelab's zeros for an argument with numbers: such a zero has no
    shape, so it does not show the shape for which the rule is intended.
    """
    bars = asked.raw[1:] if isinstance(asked.raw, tuple) else ()
    pairs = zip(bars, asked.point.inputs)
    return any(isinstance(bar, AbstractZero) and to_vec(x)[0].size for bar, x in pairs)


class Answers:
    """The answers of one rule at probes, computed only once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Probe, Probe, Closeness | None, dict[str, Any]]] = {}

    def of(self, subject: Subject, probe: Probe) -> tuple[Probe, Closeness | None, np.random.Generator]:
        """The answer at a probe, how close it is, and a generator in the state after it."""
        rng = np.random.default_rng(7)
        if id(probe) not in self._known:
            forward = subject.reverse is None
            again = answers_of_changed_rule(subject, probe, rng)
            close = None if again.failure is not None else closeness(again, Tolerance.of(again), forward)
            self._known[id(probe)] = probe, again, close, dict(rng.bit_generator.state)
        _, again, close, state = self._known[id(probe)]
        rng.bit_generator.state = state
        return again, close, rng


def is_right_at(
    subject: Subject,
    probe: Probe,
    argument: str | None = None,
    with_effects: bool = False,
    roughly: float = 0.0,
    other: Probe | None = None,
    with_kinks: bool = True,
    with_kinds: bool = True,
    excused: frozenset[str] = frozenset(),
    with_writes: bool = False,
    kept: Answers | None = None,
) -> bool:
    """Whether a changed rule is right at a probe: value, cotangents, kinks and, `with_effects`, side effects.

    For an `argument`, whether the value and its cotangent are right, whatever the others are. For effects,
    the rule is called at `other` in between, since only then does it show what it keeps between calls.
    `roughly` is the fraction of the largest number that lost digits may amount to. Without `with_kinds`,
    complex numbers may be returned for real arguments; for `excused` ones always. All effects take several
    calls; `with_writes` looks for writes only. Answers of the rule are taken from `kept`, and stored there.
    """
    forward = subject.reverse is None
    again, close, rng = (Answers() if kept is None else kept).of(subject, probe)
    if again.failure is not None or close is None:
        return False
    close = _without_small(close, roughly, again)
    if argument is not None and forward:
        return not _of_argument(close, probe, argument).wrong.any() and _same_value(again)
    if argument is not None:
        return all(leaf.name != argument for leaf in close.wrong_leaves()) and _same_value(again)
    if close.wrong.any() or not _same_value(again):
        return False
    if with_kinds and complex_for_real(subject, again) - excused:
        return False
    if with_kinks and any(True for _ in kink_findings(subject, again, close, rng)):
        return False
    if with_writes and not forward and any(True for _ in writes(subject, again)):
        return False
    return not with_effects or not any(True for _ in effects_of(subject, again, other))


def _of_argument(close: Closeness, probe: Probe, argument: str) -> Closeness:
    """The comparison of a forward rule for tangents of one argument only."""
    moved = np.zeros(close.seeds.shape[1], bool)
    for leaf in probe.truth.inputs:
        moved[leaf.start : leaf.stop] |= leaf.name == argument
    return close.of_rows(~np.any(close.seeds[:, ~moved] != 0, axis=1)) if probe.truth.whole else close


def fails_alike(
    before: Subject,
    after: Subject,
    probe: Probe,
    accused: frozenset[str | None],
    of_any_size: bool = False,
) -> bool:
    """Whether a rule fails at a point in the same way before and after a change, independently of the
    cotangents of the accused arguments: by the same exception, or with the same nan, inf or rounding for
    others, or with equal errors `of_any_size`.
    """
    one, other = (answers_of_changed_rule(s, probe, np.random.default_rng(7)) for s in (before, after))
    if one.failure is not None or other.failure is not None:
        writes = isinstance(one.failure, RuleEffectsError)  # these are never excused
        return not writes and repr(one.failure) == repr(other.failure)
    close = closeness(other, Tolerance.of(other), before.reverse is None)
    if before.reverse is None or None in accused:
        return False
    if not _same_value(other):  # with a wrong value, cotangents show nothing
        return of_any_size and np.array_equal(to_vec(one.y)[0], to_vec(other.y)[0])
    if one.answers.shape != other.answers.shape:
        return False
    sizes = 1 + np.abs(close.seeds).max(1, initial=0.0, keepdims=True)
    for leaf in close.wrong_leaves():
        columns = slice(leaf.start, leaf.stop)
        rows = one.answers[:, columns], other.answers[:, columns]
        if leaf.name in accused or not np.array_equal(*rows, equal_nan=True):
            return False
        found, expected = close.found[:, columns], close.expected[:, columns]
        with np.errstate(all="ignore"):
            small = ~np.isfinite(found) | (np.abs(found - expected) <= 1e-12 * sizes)
        # An argument that is not accused may be intended to be real.
        small |= any(_kind_of(x) == "c" for x in probe.point.inputs)
        if not of_any_size and not np.all(small | ~close.wrong[:, columns]):
            return False
    return bool(close.wrong.any())


def has_answer(subject: Subject, probe: Probe) -> bool:
    """Whether a rule has an answer of the right kind and shape at a point."""
    return answers_of_changed_rule(subject, probe, np.random.default_rng(7)).failure is None


def has_no_numbers(changed: Subject, probe: Probe) -> bool:
    """Whether answers with nan or inf are all that is wrong with a rule at a point."""
    asked = answers_of_changed_rule(changed, probe, np.random.default_rng(7))
    if asked.failure is not None or not _same_value(asked):
        return False
    close = closeness(asked, Tolerance.of(asked), changed.reverse is None)
    return bool(close.wrong.any()) and not np.any(close.wrong & np.isfinite(close.found))


_WITHOUT_VALUE_AT_ZERO = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


_SUMS = ("sum", "ndim", "shape")
"""Functions that have a value at zero as well."""


def divides(node: ast.AST) -> int:
    """How many different divisions, powers and calls a text has: these may have no value at zero.

    >>> divides(ast.parse("slope / sigma + x * np.log(y)")), divides(ast.parse("range(n - 1)"))
    (2, 1)
    >>> divides(ast.parse("np.log(x) if np.ndim(x) else np.sum(np.log(x))"))
    1
    """
    parts = list(ast.walk(node))
    divided = {ast.dump(n) for n in parts if isinstance(getattr(n, "op", None), _WITHOUT_VALUE_AT_ZERO)}
    calls = {ast.dump(n) for n in parts if isinstance(n, ast.Call) and last_name(n.func) not in _SUMS}
    return len(divided) + len(calls)


def complex_for_real(subject: Subject, probe: Probe) -> frozenset[str]:
    """The real arguments for which a rule returns complex numbers. Dropping their imaginary parts does not
    make them right.
    """
    raw = probe.raw
    if subject.reverse is None or not isinstance(raw, tuple) or len(raw) != 1 + len(probe.point.inputs):
        return frozenset()
    rows = zip(subject.names, raw[1:], probe.point.inputs)
    return frozenset(name for name, bar, x in rows if _kind_of(bar) == "c" and _kind_of(x) in "fiu")


def complex_answered(subject: Subject, probe: Probe) -> frozenset[int]:
    """The positions of the real arguments for which a rule returns complex numbers, if there are others:
    these are intended to be complex beside real ones.
    """
    names = complex_for_real(subject, probe)
    found = frozenset(i for i, name in enumerate(subject.names) if name in names)
    real = [i for i, x in enumerate(probe.point.inputs) if _kind_of(x) in "fc"]
    return found if len(found) < len(real) else frozenset()


def _kind_of(value: Any) -> str:
    """The kind of the dtype of an array or a number; "?" for anything else."""
    return value.dtype.kind if isinstance(value, (np.ndarray, np.generic)) else _KINDS.get(type(value), "?")


_KINDS = {float: "f", int: "i", complex: "c"}


def _without_small(close: Closeness, roughly: float, probe: Probe) -> Closeness:
    """The comparison without errors that lost digits explain: where large numbers cancel, rounding errors
    remain.
    """
    if not close.wrong.any():
        return close
    leaves = (*probe.truth.inputs, *probe.truth.outputs)
    epsilon = max((np.finfo(leaf.dtype).eps for leaf in leaves if leaf.dtype.kind in "fc"), default=0.0)
    with np.errstate(all="ignore"):
        sizes = np.where(close.known, np.abs(close.expected), 0.0).max(1, initial=0.0, keepdims=True)
        seeds = np.abs(close.seeds).max(1, initial=0.0, keepdims=True)
        # The slope of a saturated number of the value is no larger than the rounding errors of the others.
        steepest = np.max(np.where(seeds > 0, sizes / seeds, 0.0), initial=0.0) * seeds
        flat = np.abs(close.expected) <= LOST * epsilon * steepest
        rounded = np.where(flat, LOST_FAR, LOST) * epsilon * steepest
        lost = np.maximum(64 * epsilon * seeds, OF_STEEPEST * steepest if roughly else rounded)
        near = np.abs(close.found - close.expected) <= np.maximum(roughly * sizes, lost)
    return dataclasses.replace(close, wrong=close.wrong & ~near)


def _same_value(probe: Probe) -> bool:
    given = in_floats(probe.y)
    try:
        one, other = to_vec(probe.truth.y)[0], to_vec(given)[0]
        if is_another_kind(given, probe.truth.y):
            return False
    except (TypeError, ValueError):  # an edit may have changed the value to anything
        return False
    limit = Tolerance.of(probe)
    return bool(np.allclose(one, other, rtol=limit.rtol, atol=limit.atol * 1e-3, equal_nan=True))


def in_floats(y: Any) -> Any:
    """A value of whole numbers as floats, as it is in a truth."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu":
        return y.astype(float)
    return float(y) if isinstance(y, (int, np.integer)) and not isinstance(y, bool) else y
