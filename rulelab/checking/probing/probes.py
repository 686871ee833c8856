"""One point of a check: the derivative there by differences, the answers of the rule, the lines that ran."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import types
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...tangents.zeros import NoTangent
from ..calling.plain_calls import are_unshared, silencing_warnings, value_function, value_of
from ..calling.subjects import Subject, raw_pullback
from ..measuring import oracles
from ..measuring.copies import PLAIN, own_keywords, share_nothing
from ..measuring.difference_methods import FiniteDifferenceMethod, estimate_step
from ..measuring.measured_once import same_numbers_as
from ..measuring.vectors import (
    Leaf,
    cotangent_like,
    cotangent_reader,
    cotangent_vec,
    leaves,
    shape_of,
    to_vec,
    vector_in,
)
from ..reading.relations import NOTHING_SAID, Related
from . import forms
from .perturb import are_in_order, fresh, laid_out_like, laid_out_otherwise, landmarks

FEW = 64
"""Up to how many numbers in or out the whole Jacobian is measured; beyond that, random directions."""
DIRECTIONS, FEWEST, SEEDS = 8, 3, 3


@dataclass(frozen=True)
class Point:
    """A point at which a function and its rule are called.

    `origin` says in words where the numbers come from. `constant` are the positions of the inputs that are
    held fixed. `bounds` has an open interval for each input, outside which the function is never called, and
    `forms` says which inputs are symmetric. `like` are the inputs as floats, if those that are passed are
    whole numbers. A point is `guessed` if it is not the caller's own, and `is_from_docstring` if the
    docstring describes arrays like these all the same. It is `far` where digits may be lost, and an `edge`
    where overflow is no mistake: at a number of the code, or in single precision. If it is `turned`,
    cotangents are transposed in memory. `ordered` are pairs of positions, of which the first has the smaller
    numbers, `related` is what the function itself states about the numbers it is intended for, and `lengths`
    are the numeric lengths that it states for each input, such as that of points in a plane.
    """

    inputs: tuple
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "given"
    constant: frozenset[int] = frozenset()
    bounds: tuple[tuple[float, float], ...] = ()
    forms: tuple[str | None, ...] = ()
    like: tuple | None = None
    guessed: bool = False
    far: bool = False
    edge: bool = False
    turned: bool = False
    is_from_docstring: bool = False
    ordered: tuple[tuple[int, int], ...] = ()
    related: Related = NOTHING_SAID
    lengths: tuple[tuple[tuple[int | str, ...], ...], ...] = ()

    def held_axes(self, position: int) -> frozenset[int]:
        """The axes of the input at this position that have a length which the function fixes."""
        if not 0 <= position < len(self.lengths):
            return frozenset()
        shape = shape_of(self.floats[position])
        said = next((dims for dims in self.lengths[position] if len(dims) == len(shape)), ())
        return frozenset(axis for axis, (n, length) in enumerate(zip(shape, said)) if n == length)

    @cached_property
    def cotangents_read(self) -> tuple[Callable[[Any], np.ndarray], ...]:
        """For each input, the function that converts a cotangent to a real vector; thousands are converted at
        one point.
        """
        return tuple(map(cotangent_reader, self.floats))

    @property
    def floats(self) -> tuple:
        """The inputs, with floats in place of whole numbers: what derivatives are taken with respect to."""
        return self.inputs if self.like is None else self.like

    def is_inside(self) -> bool:
        """Whether the numbers lie strictly within the bounds of their inputs, and inputs have the form, order
        and relations that are stated.
        """
        pairs = zip(self.floats, self.bounds)
        if not all(np.all((low < to_vec(x)[0]) & (to_vec(x)[0] < high)) for x, (low, high) in pairs):
            return False
        if not are_in_order(self.floats, self.ordered) or not self.related.hold(self.inputs):
            return False
        return all(forms.is_of_form(form, x) for form, x in zip(self.forms, self.floats))

    def moved(self, inputs: tuple, origin: str, **more: Any) -> Point:
        """A guessed point like this one with other inputs. Inputs that are held fixed keep their values
        unless their shapes differ, and symmetric ones are made symmetric.
        """
        pairs = enumerate(zip(self.floats, inputs))
        held = tuple(
            mine if i in self.constant and shape_of(mine) == shape_of(x) else x for i, (mine, x) in pairs
        )
        if any(self.forms):
            held = tuple(forms.conformed(form, x) for form, x in itertools.zip_longest(self.forms, held))
        return self.having(held, origin, **more)

    def having(self, inputs: tuple, origin: str, **more: Any) -> Point:
        """A guessed point like this one with exactly these inputs."""
        usual = {
            "like": None,
            "guessed": True,
            "far": False,
            "edge": False,
            "turned": False,
            "is_from_docstring": False,
        }
        changed = {**usual, **more}
        return dataclasses.replace(self, inputs=inputs, origin=origin, **changed)

    def symmetric(self, position: int) -> bool:
        """Whether the input at this position varies among symmetric matrices only."""
        return position < len(self.forms) and self.forms[position] in forms.SYMMETRIC

    def limits(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds of each number in the vector of what varies; None if there are none."""
        if not self.bounds:
            return None
        sizes = [0 if i in self.constant else to_vec(x)[0].size for i, x in enumerate(self.floats)]
        low, high = (np.repeat([b[side] for b in self.bounds], sizes) for side in (0, 1))
        return low, high


@dataclass(frozen=True)
class Truth:
    """What differences show about a function at a point.

    `directions` are columns (unit vectors, for a small function), and `slopes` is the derivative of the
    output along each of them, of shape (numbers out, directions). If they are not unit vectors, each varies a
    single argument, so that it is known whose derivative is wrong; `columns` are the directions by argument.
    `close_by` caches the slopes measured nearby: they belong to the function, and many changes of a rule are
    tried at one point.
    """

    y: Any
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    directions: np.ndarray
    slopes: oracles.Measured
    whole: bool
    columns: tuple[Leaf, ...] = ()
    close_by: list[Any] = field(default_factory=list, repr=False, compare=False)

    @property
    def is_smooth(self) -> bool:
        """Whether a derivative was measured everywhere; at a kink or a jump a rule may return anything."""
        return bool(self.slopes.known().all())

    @property
    def jacobian(self) -> oracles.Measured:
        """The Jacobian of the function, (numbers out, numbers in); ValueError if only a few directions were
        measured.
        """
        if not self.whole:
            raise ValueError("the Jacobian was measured in a few directions only")
        return self.slopes


@dataclass(frozen=True)
class Probe:
    """A point with what was measured there and what the rule answered.

    In reverse mode, row i of `answers` is the cotangent of all inputs for the cotangent `seeds[i]` of the
    output: first `units` unit vectors, if the function is small, then the `odd` seeds (zero, large and tiny
    ones, and numbers of the code), then random ones. In forward mode, row i of `answers` is the tangent of
    the output for `seeds[i]`, a tangent of the inputs. `failure` is the exception that the rule raised
    instead. The pullback is `spent` if it raised for a cotangent to which it would have had an answer in a
    first call. `lines` are the lines of its code that ran.
    """

    point: Point
    truth: Truth
    y: Any = None
    seeds: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    answers: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    units: int = 0
    failure: Exception | None = None
    raw: Any = None
    lines: frozenset[tuple[types.CodeType, int]] = frozenset()
    odd: int = 0
    spent: bool = False

    @property
    def usual(self) -> np.ndarray:
        """The indices of the seeds that are not odd."""
        return np.delete(np.arange(len(self.seeds)), np.s_[self.units : self.units + self.odd])

    def of_usual_seeds(self) -> Probe:
        """The probe without the odd seeds."""
        rows = self.usual
        return dataclasses.replace(self, seeds=self.seeds[rows], answers=self.answers[rows], odd=0)

    @property
    def matrix(self) -> np.ndarray:
        """The Jacobian by the rule, from its answers to unit cotangents: (numbers out, numbers in)."""
        if not self.units:
            raise ValueError("the rule was asked for a few cotangents only")
        return self.answers[: self.units]


def vector_function(subject: Subject, point: Point) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The primal at a point as a function of one real vector, and that vector.

    The primal is called with numbers in double precision, whatever the dtype of the inputs, and with copies
    of everything.
    """
    wide = _widened(point)
    vector, back = to_vec(varied_inputs(wide, point))

    limits = point.limits()
    of_form = [i for i in range(len(wide)) if point.symmetric(i) and i not in point.constant]
    made_anew = all(type(wide[i]) in PLAIN for i in point.constant) and (
        are_unshared(wide) or share_nothing(back(vector.copy()), back(vector.copy()))
    )
    ask = value_function(subject.primal, point.kwargs) if made_anew else partial(_asked, subject, point)

    def as_held(moved: tuple) -> tuple:
        inputs = list(moved)
        for position in of_form:
            inputs[position] = forms.symmetric_part(inputs[position])
        for position in point.constant:
            inputs[position] = wide[position]
        return tuple(inputs)

    def f(moved: np.ndarray) -> np.ndarray:
        if limits is not None and not np.all((limits[0] < moved) & (moved < limits[1])):
            raise ValueError("outside the domain of the check")
        inputs = back(moved)
        return vector_in(ask(as_held(inputs) if of_form or point.constant else inputs))

    return vector, f


def _asked(subject: Subject, point: Point, inputs: tuple) -> Any:
    return value_of(subject.primal, inputs, point.kwargs)


def _widened(point: Point) -> tuple:
    return tuple(_double(x) for x in point.floats)


def _double(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc" and x.dtype.itemsize < 16:
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        if x.dtype != wide:
            return x.astype(wide)
    return x


def varied_inputs(inputs: tuple, point: Point) -> tuple:
    """The inputs, with None for those that are held fixed."""
    return tuple(None if i in point.constant else x for i, x in enumerate(inputs))


@silencing_warnings()
def truth_at(
    subject: Subject,
    point: Point,
    rng: np.random.Generator,
    y: Any = None,
    fdm: FiniteDifferenceMethod | None = None,
) -> Truth:
    """The derivative of the primal at a point by two families of differences, and by `fdm` if given: a number
    counts only if all agree.
    """
    vector, f = vector_function(subject, point)
    y = value_of(subject.primal, point.inputs, point.kwargs) if y is None else y
    outputs = leaves(y, "y")
    count, size = vector.size, (outputs[-1].stop if outputs else 0)
    named = named_leaves(subject, point)
    if not count or not size:
        nothing = oracles.Measured(np.zeros((size, count)), np.zeros((size, count)))
        return Truth(y, named, outputs, np.eye(count), nothing, whole=True)
    if count <= FEW and size <= FEW:
        jumping = _jumping(f, vector, named)
        held = f if not jumping.any() else lambda x: f(np.where(jumping, vector, x))
        measured = _sharp(_jacobian(subject, point, held, vector), y, vector)
        measured = _alike_close_by(held, vector, np.eye(count), measured, rng)
        measured = oracles.Measured(
            np.where(jumping, np.nan, measured.value), np.where(jumping, np.inf, measured.error)
        )
        if fdm is not None:
            own = [_by_method(fdm, f, vector, unit) for unit in np.eye(count)]
            measured = _agreed(measured, np.stack([c for c, _ in own], 1), np.stack([e for _, e in own], 1))
        return Truth(y, named, outputs, np.eye(count), measured, whole=True)
    directions, of_arguments = _directions(rng, named, point)
    columns = [oracles.measured_jvp(f, vector, d, domain=point.limits()) for d in directions.T]
    slopes = oracles.Measured(
        np.stack([c.value for c in columns], 1), np.stack([c.error for c in columns], 1)
    )
    slopes = _alike_close_by(f, vector, directions, _sharp(slopes, y, vector), rng)
    if fdm is not None:
        given = [_by_method(fdm, f, vector, d) for d in directions.T]
        slopes = _agreed(slopes, np.stack([c for c, _ in given], 1), np.stack([e for _, e in given], 1))
    return Truth(y, named, outputs, directions, slopes, whole=False, columns=of_arguments)


def _jacobian(subject: Subject, point: Point, f: Callable, vector: np.ndarray) -> oracles.Measured:
    """The Jacobian of the function at a point; not measured again if the check has been at these numbers
    before.
    """
    wide, limits = _widened(point), point.limits()
    measure = partial(oracles.measured_jacobian, f, vector, domain=limits)
    if point.kwargs or not are_unshared(wide):
        return measure()
    symmetric = tuple(i for i in range(len(wide)) if point.symmetric(i))
    within = () if limits is None else tuple(map(same_numbers_as, limits))
    inputs = tuple(same_numbers_as(x, i not in point.constant) for i, x in enumerate(wide))
    where = (inputs, point.constant, symmetric, within)
    return subject.jacobians.at(subject.primal, where, measure)


CLOSE_BY, NEARER, ALIKE = 2.0**-13, 2.0**-22, 0.05
"""How far from a kink slopes are measured, with which step, and how much they may differ from those at the
kink.
"""
NEIGHBOURS = 32
"""At how many points they are measured: a cell that fills a sixth of the space around is missed once in 300
times.
"""


def _alike_close_by(
    f: Callable,
    x: np.ndarray,
    directions: np.ndarray,
    measured: oracles.Measured,
    rng: np.random.Generator,
) -> oracles.Measured:
    """The measurement without those slopes of outputs with a kink at `x` that are different nearby.

    A partial derivative may exist where the function is not differentiable: `clip(a, b, b)` does not change
    with `a` at a = b, but it does nearby. A rule may return anything in between there.
    """
    known = measured.known()
    kinked = known.any(1) & ~known.all(1)
    error, size = measured.error.copy(), max(1.0, float(np.abs(x).max(initial=0.0)))
    largest = np.fmax.reduce(np.abs(measured.value), 1)
    for j in np.flatnonzero(known[kinked].any(0)):
        step = NEARER * size * directions[:, j]
        for _ in range(NEIGHBOURS):
            point = x + CLOSE_BY * size * rng.choice([-1.0, 1.0], x.size) * rng.uniform(0.5, 1.0, x.size)
            try:
                with np.errstate(all="ignore"):
                    slope = (f(point + step) - f(point - step)) / (2 * NEARER * size)
            except Exception:
                continue  # outside the domain
            there = measured.value[:, j]
            if slope.shape == there.shape:
                bound = ALIKE * (np.abs(slope) + np.abs(there)) + 1e-2 * largest
                error[kinked & (np.abs(slope - there) > bound), j] = np.inf
    return oracles.Measured(np.where(np.isfinite(error), measured.value, np.nan), error)


JUMP = 1e-2
"""A change by this fraction of the largest number, within a millionth of the argument, is a jump."""


def _jumping(f: Callable, x: np.ndarray, named: tuple[Leaf, ...]) -> np.ndarray:
    """The numbers along which the output at the point differs from that nearby: those of the arguments for
    which this holds alone, or else all numbers.

    Differences do not use the value at the point itself, so they may find a slope along other numbers as
    well: of the pseudo-inverse of a singular matrix, or of an eigenvector whose sign is chosen again. Along
    other arguments the slope they find is the right one: an entropy of order 1, which is a special case, has
    a slope with respect to its shares. "Nearby" is relative to each argument: next to a thousand, the same
    step would be too large for a share, and a coefficient of 1e-7 changes completely within a millionth.
    """
    step, jumping = np.full(x.size, 2.0**-20), np.zeros(x.size, bool)
    for leaf in named:
        step[leaf.start : leaf.stop] *= float(np.abs(x[leaf.start : leaf.stop]).max(initial=0.0)) or 1.0
    if not _jumps(f, x, step):
        return jumping
    for leaf in named:
        alone = np.zeros(x.size)
        alone[leaf.start : leaf.stop] = step[leaf.start : leaf.stop]
        jumping[leaf.start : leaf.stop] = _jumps(f, x, alone)
    return jumping if jumping.any() else ~jumping


def _jumps(f: Callable, x: np.ndarray, step: np.ndarray) -> bool:
    here, signs = f(x), np.where(np.arange(x.size) % 2, 1.0, -1.0)
    for direction in (signs, -signs):
        try:
            there = f(x + step * direction)
        except Exception:
            continue
        with np.errstate(all="ignore"):
            if there.shape != here.shape or np.any(np.abs(there - here) > JUMP * np.abs(here).max()):
                return bool(np.abs(here).max() > 0)
    return False


def _by_method(
    fdm: FiniteDifferenceMethod, f: Callable, x: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of `f` along a direction by the caller's method, and its estimated error."""

    def along(t: float) -> np.ndarray:
        return f(x + t * direction)

    step, error = estimate_step(fdm, along, 0.0)
    return np.asarray(fdm(along, 0.0, step)), np.broadcast_to(
        np.nan_to_num(error, nan=0.0), np.shape(along(0.0))
    )


def _agreed(measured: oracles.Measured, value: np.ndarray, error: np.ndarray) -> oracles.Measured:
    """The measurement where another one agrees with it, within ten times both error bars."""
    with np.errstate(all="ignore"):
        apart = np.abs(measured.value - value)
        agree = apart <= 10 * (error + measured.error) + 1e-6 * np.abs(value)
    return oracles.Measured(np.where(agree, measured.value, np.nan), np.where(agree, measured.error, np.inf))


BLUNT = 1e-3
"""Error bars longer than this fraction of the largest number of their output are useless."""


def _sharp(measured: oracles.Measured, y: Any, x: np.ndarray) -> oracles.Measured:
    """The measurement without numbers of which hardly a digit is known.

    A derivative of zero has no digits; it counts if its error is small relative to the value divided by the
    argument.
    """
    known = measured.known()
    largest = np.where(known, np.abs(measured.value), 0.0).max(1, initial=0.0, keepdims=True)
    size = float(np.abs(to_vec(y)[0]).max(initial=0.0)) / max(1.0, float(np.abs(x).max(initial=0.0)))
    enough = BLUNT * np.maximum(np.abs(measured.value), np.maximum(1e-3 * largest, 0.1 * size)) + 1e-9
    blunt = ~known | (measured.error > enough)
    return oracles.Measured(np.where(blunt, np.nan, measured.value), np.where(blunt, np.inf, measured.error))


def _directions(
    rng: np.random.Generator, named: tuple[Leaf, ...], point: Point
) -> tuple[np.ndarray, tuple[Leaf, ...]]:
    """For each argument, some dense random directions and then some unit vectors, as columns; and the columns
    by argument.
    """
    sizes = [0 if i in point.constant else to_vec(x)[0].size for i, x in enumerate(point.floats)]
    ends, count = np.cumsum(sizes), sum(sizes)
    each = max(FEWEST, DIRECTIONS // max(1, sum(map(bool, sizes))))
    tables: list[np.ndarray] = []
    found: list[Leaf] = []
    for size, end in zip(sizes, ends.tolist()):
        if not size:
            continue
        first = next(leaf for leaf in named if leaf.stop > end - size)
        dense = max(2, each - DIRECTIONS + 3)
        table = np.zeros((count, dense + min(size, each - dense)))
        signs = rng.choice([-1.0, 1.0], (size, dense))
        table[end - size : end, :dense] = signs * rng.integers(1, 5, (size, dense)) / 4
        picked = rng.choice(size, table.shape[1] - dense, replace=False)
        table[end - size + picked, dense + np.arange(picked.size)] = 1.0
        start = found[-1].stop if found else 0
        name = first.name.split(".")[0].split("[")[0]
        stop = start + table.shape[1]
        found.append(dataclasses.replace(first, name=name, start=start, stop=stop, shape=()))
        tables.append(table)
    return np.concatenate(tables, 1), tuple(found)


def named_leaves(subject: Subject, point: Point) -> tuple[Leaf, ...]:
    found: list[Leaf] = []
    for i, x in enumerate(varied_inputs(point.floats, point)):
        name = subject.names[i] if i < len(subject.names) else f"argument {i + 1}"
        start = found[-1].stop if found else 0
        found += [
            dataclasses.replace(leaf, start=leaf.start + start, stop=leaf.stop + start)
            for leaf in leaves(x, name)
        ]
    return tuple(found)


def probe_reverse(
    subject: Subject,
    point: Point,
    truth: Truth,
    rng: np.random.Generator,
    own: np.ndarray | None = None,
    watched: bool = True,
) -> Probe:
    """The rule called for cotangents at a point with a known derivative. `own` seeds replace the random ones.
    If `watched`, the lines that run are recorded, which takes as long as everything else.
    """
    assert subject.reverse is not None
    size = truth.outputs[-1].stop if truth.outputs else 0
    units = size if truth.whole else 0
    drawn = _random_seeds(rng, SEEDS, size) if own is None else own
    odd = _odd_seeds(subject, truth, drawn) if own is None else drawn[:0]
    seeds = np.concatenate([*([np.eye(size)] if units else []), odd, drawn])
    y: Any = None
    raw: Any = None
    rows: list[np.ndarray] = []
    with watched_lines(subject, watched) as lines, without_warnings():
        try:
            y, back = subject.reverse(*fresh(point.inputs), **own_keywords(point.kwargs))
            like = truth.y
            with contextlib.suppress(Exception):
                raw = raw_pullback(back)(cotangent_like(like, drawn[0]))
            for seed in seeds:
                rows.append(reverse_answer(back, like, seed, point))
        except Exception as error:
            spent = raw is not None and has_answer_to(subject, point, like, seeds[len(rows)])
            return Probe(point, truth, y, seeds, failure=error, raw=raw, lines=frozenset(lines), spent=spent)
    return Probe(point, truth, y, seeds, np.array(rows), units, None, raw, frozenset(lines), len(odd))


def has_answer_to(subject: Subject, point: Point, y: Any, seed: np.ndarray | None = None) -> bool:
    """Whether a reverse rule has an answer to one cotangent at a point with the value `y`."""
    if subject.reverse is None:
        return False
    seed = to_vec(y)[0] if seed is None else seed
    with contextlib.suppress(Exception), without_warnings():
        _, back = subject.reverse(*fresh(point.inputs), **own_keywords(point.kwargs))
        reverse_answer(back, y, seed, point)
        return True
    return False


def answers_again(subject: Subject, probe: Probe, inputs: tuple) -> np.ndarray | None:
    """The rule's answers to the same seeds at other inputs of the same form; None if it fails."""
    point = dataclasses.replace(probe.point, inputs=inputs)
    with without_warnings():
        try:
            if subject.reverse is not None:
                _, back = subject.reverse(*fresh(inputs), **own_keywords(point.kwargs))
                return np.array([reverse_answer(back, probe.truth.y, seed, point) for seed in probe.seeds])
            return np.array([answer_to(seed, subject, point, probe.truth.y)[1] for seed in probe.seeds])
        except Exception:
            return None


def value_again(subject: Subject, probe: Probe, inputs: tuple) -> Any:
    """The value by the rule at other inputs of the same form."""
    point = dataclasses.replace(probe.point, inputs=inputs)
    kwargs = own_keywords(point.kwargs)
    with without_warnings():
        if subject.reverse is not None:
            return subject.reverse(*fresh(inputs), **kwargs)[0]
        assert subject.forward is not None
        return subject.forward(tangents_of(point, probe.seeds[0]), *fresh(inputs), **kwargs)[0]


def parts_dropped(subject: Subject, probe: Probe) -> bool:
    """Whether NumPy warns that a reverse rule puts complex numbers into a real buffer."""
    assert subject.reverse is not None
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):  # exceptions are reported where the answers are computed
            _, back = subject.reverse(*fresh(probe.point.inputs), **own_keywords(probe.point.kwargs))
            raw_pullback(back)(cotangent_like(probe.truth.y, probe.seeds[-1]))
    return any(issubclass(warning.category, np.exceptions.ComplexWarning) for warning in said)


def reverse_answer(back: Callable, y: Any, seed: np.ndarray, point: Point) -> np.ndarray:
    """The cotangent of all inputs that vary, for one cotangent of the output, as one real vector."""
    cotangents = back(_laid_out_like(cotangent_like(y, seed), point))
    return vector_of(point, cotangents)


def answer_to(seed: np.ndarray, subject: Subject, point: Point, like: Any) -> tuple[Any, np.ndarray]:
    """The value of a rule at a point, and its answer to `seed` as one real vector. The seed is a cotangent of
    a value like `like` or, for a forward rule, a tangent of the inputs.
    """
    inputs, kwargs = fresh(point.inputs), own_keywords(point.kwargs)
    if subject.reverse is not None:
        y, back = subject.reverse(*inputs, **kwargs)
        return y, reverse_answer(back, like, seed, point)
    assert subject.forward is not None
    y, y_dot = subject.forward(tangents_of(point, seed), *inputs, **kwargs)
    return y, cotangent_vec(like, y_dot)


def _laid_out_like(y_bar: Any, point: Point) -> Any:
    """A cotangent with the memory layout of the arrays of a point, or transposed if the point says so."""
    if point.turned:
        turned = laid_out_otherwise((y_bar,), "transposed")
        return y_bar if turned is None else turned[0]
    like = next((x for x in point.inputs if isinstance(x, np.ndarray) and x.ndim), None)
    return y_bar if like is None else laid_out_like(like, y_bar)


def vector_of(point: Point, cotangents: tuple) -> np.ndarray:
    """Cotangents, one for each input, as one real vector; those of constant inputs are left out."""
    parts = [
        _met(point, i, x, read(x_bar))
        for i, (x, read, x_bar) in enumerate(
            zip(point.floats, point.cotangents_read, cotangents, strict=False)
        )
        if i not in point.constant
    ]
    return np.concatenate([np.zeros(0), *parts])


def _met(point: Point, position: int, x: Any, vector: np.ndarray) -> np.ndarray:
    """The part of a tangent or cotangent that counts for an input: the symmetric part if the input is
    symmetric.
    """
    if not point.symmetric(position):
        return vector
    return to_vec(forms.symmetric_part(to_vec(x.astype(np.result_type(x, float)))[1](vector)))[0]


def probe_forward(
    subject: Subject, point: Point, truth: Truth, rng: np.random.Generator, watched: bool = True
) -> Probe:
    """The forward rule called for tangents at a point with a known derivative."""
    assert subject.forward is not None
    count = truth.inputs[-1].stop if truth.inputs else 0
    seeds = np.concatenate([truth.directions.T, _random_seeds(rng, 2, count)])
    rows: list[np.ndarray] = []
    y: Any = None
    with watched_lines(subject, watched) as lines, without_warnings():
        try:
            for seed in seeds:
                tangents = tangents_of(point, seed)
                y, y_dot = subject.forward(
                    tangents, *fresh(point.inputs), **own_keywords(point.kwargs)
                )
                rows.append(cotangent_vec(truth.y, y_dot))
        except Exception as error:
            return Probe(point, truth, y, seeds, failure=error, lines=frozenset(lines))
    return Probe(point, truth, y, seeds, np.array(rows), 0, None, None, frozenset(lines))


def answers_of_changed_rule(subject: Subject, probe: Probe, rng: np.random.Generator) -> Probe:
    """A changed rule called at a probe again, only for its answers: the lines that run are not recorded."""
    if subject.reverse is None:
        return probe_forward(subject, probe.point, probe.truth, rng, watched=False)
    return probe_reverse(subject, probe.point, probe.truth, rng, watched=False)


def tangents_of(point: Point, vector: np.ndarray) -> tuple:
    """A real vector as tangents of the inputs, with NoTangent for those that are held fixed."""
    found, start = [], 0
    for i, x in enumerate(point.floats):
        size = 0 if i in point.constant else to_vec(x)[0].size
        part = vector[start : start + size]
        found.append(cotangent_like(x, _met(point, i, x, part)) if size else NoTangent())
        start += size
    return tuple(found)


def _random_seeds(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Cotangents with two decimals, away from 0 and 1, which hide mistakes. If there are several, their sums
    have both signs; otherwise a rule that takes the absolute value of a number would pass.
    """
    seeds = rng.choice([-1.0, 1.0], (count, size)) * rng.integers(130, 480, (count, size)) / 100
    signs = np.sign(seeds.sum(1))
    if count > 1 and np.all(signs == signs[0]):
        seeds[-1] *= -1
    return seeds


LARGE, TINY = 2.0**20, 2.0**-30
"""By which factor a cotangent is larger or smaller than the others, to find rules that clip or drop some."""
MARKS = 4
"""How many numbers of the rule's code are tried as cotangents."""


def _odd_seeds(subject: Subject, truth: Truth, drawn: np.ndarray) -> np.ndarray:
    """Cotangents on which a rule may branch: zero, a large one, a tiny one, and the numbers in its code,
    large ones with a number on each side.
    """
    dtypes = [np.dtype(leaf.dtype) for leaf in (*truth.inputs, *truth.outputs)]
    if np.float16 in dtypes:
        return drawn[:0]
    codes = (*(subject.rule_codes or subject.codes), *subject.helpers)
    lowest = max((_least_factor(dtype) for dtype in dtypes if dtype.kind in "fc"), default=0.0)
    marks = [mark for mark in landmarks(codes) if abs(mark) > lowest][:MARKS]
    flat = [factor * mark for mark in marks for factor in ((1.0, 0.75, 1.25) if abs(mark) > 4 else (1.0,))]
    rows = [0.0 * drawn[0], LARGE * drawn[0], TINY * drawn[-1]]
    return np.array([*rows, *(np.full_like(drawn[0], number) for number in flat)])


def _least_factor(dtype: np.dtype) -> float:
    """The smallest number whose square has full precision."""
    return float(np.sqrt(np.finfo(dtype).tiny))


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Run a rule without its warnings: those about odd points are of no use to the author."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def watched_lines(subject: Subject, wanted: bool = True) -> Iterator[set[tuple[types.CodeType, int]]]:
    """Record which lines of the subject's code run; nothing if a debugger or coverage uses the trace hook, or
    if that is not wanted.
    """
    lines: set[tuple[types.CodeType, int]] = set()
    watched = frozenset(subject.codes if wanted else ())
    if sys.gettrace() is not None or not watched:
        yield lines
        return

    def in_function(frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code, frame.f_lineno))
        return in_function

    def at_call(frame: types.FrameType, event: str, arg: Any) -> Any:
        return in_function if frame.f_code in watched else None

    with _traced(at_call):
        yield lines


@contextlib.contextmanager
def _traced(at_call: Callable[[types.FrameType, str, Any], Any]) -> Iterator[None]:
    """Pass calls to `at_call`, and restore the previous trace function at the end."""
    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def watching_opcodes(
    wanted: Container[types.CodeType], in_function: Callable[[types.FrameType, str, Any], Any]
) -> Iterator[None]:
    """Pass each opcode that runs in some code to `in_function`, which has to return itself to continue."""

    def at_call(frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in wanted:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return in_function

    with _traced(at_call):
        yield


MOST_STEPS = 20_000
"""How many opcodes are traced at a point: later in a long loop nothing new runs."""


@contextlib.contextmanager
def watched_steps(
    wanted: Mapping[types.CodeType, Container[int]],
) -> Iterator[set[tuple[types.CodeType, int]]]:
    """Record which of the `wanted` opcodes of some code run, as the negatives of their offsets; nothing if a
    debugger or coverage uses the trace hook.
    """
    steps: set[tuple[types.CodeType, int]] = set()
    left = itertools.count(MOST_STEPS, -1)
    if sys.gettrace() is not None:
        yield steps
        return

    def in_function(frame: types.FrameType, event: str, arg: Any) -> Any:
        if next(left) <= 0:
            sys.settrace(None)
            return None
        if event == "opcode" and -frame.f_lasti in wanted[frame.f_code]:
            steps.add((frame.f_code, -frame.f_lasti))
        return in_function

    with watching_opcodes(wanted, in_function):
        yield steps
