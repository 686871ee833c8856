"""Whether the answers of a rule agree with what was measured, within the tolerance and the error bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ..measuring.vectors import Leaf, to_vec
from .probes import Probe, Truth

TOLERANCE = {8: 1e-9, 4: 2e-4, 2: 2e-2}
"""Relative and absolute tolerance by the bytes of the coarsest floating-point number involved."""
LOST = 64.0
"""By how many rounding errors of the largest ordinary slope a number with lost digits may be off."""
LOST_FAR = 4096.0
"""And how many if a tail is lost within the function itself, so that differences show no slope: at far
points, and where they are zero or no larger than so many rounding errors.
"""
BARS = 4.0
"""Within how many error bars of the measurement numbers agree."""


@dataclass(frozen=True)
class Tolerance:
    """How far a number of a rule may be off: `rtol` of its size plus `atol` of the scale of its leaf."""

    rtol: float
    atol: float

    @classmethod
    def of(cls, probe: Probe, rtol: float | None = None, atol: float | None = None) -> Tolerance:
        """The tolerance for the dtypes at a point, except for what the caller specifies."""
        usual = TOLERANCE[digits(probe)]
        return cls(usual if rtol is None else rtol, usual if atol is None else atol)


def digits(probe: Probe) -> int:
    """The bytes of the coarsest floating-point number involved at a point: 8, 4 or 2."""
    return min((_bytes(leaf) for leaf in (*probe.truth.inputs, *probe.truth.outputs)), default=8)


def _bytes(leaf: Leaf) -> int:
    dtype = np.dtype(leaf.dtype)
    return min(8, dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize) if dtype.kind in "fc" else 8


@dataclass(frozen=True)
class Worst:
    """The element of a cotangent (or tangent) that is furthest off, with both numbers and the error bar.

    `name` is written as Python would index it: `x`, `A[1, 2]`, `z.imag`.
    """

    name: str
    found: float
    expected: float
    error: float
    seed: tuple[float, ...] = ()


@dataclass(frozen=True)
class Closeness:
    """Two tables of numbers at one probe, compared: what the rule `found` and what was `expected`.

    Rows correspond to the probe's seeds, columns to its directions (reverse) or to the numbers of the output
    (forward). A number that could not be measured is neither right nor wrong.
    """

    found: np.ndarray
    expected: np.ndarray
    error: np.ndarray
    wrong: np.ndarray
    known: np.ndarray
    columns: tuple[Leaf, ...]
    seeds: np.ndarray
    whole: bool

    def where_finite(self) -> Closeness:
        """The comparison without nan and inf counting as wrong, as is right at a kink, a jump or a pole."""
        return replace(self, wrong=self.wrong & np.isfinite(self.found))

    def with_noise(self, noise: np.ndarray) -> Closeness:
        """The comparison with the noise of the rule's own arithmetic added to the error bars."""
        wrong = self.wrong & (np.abs(self.found - self.expected) > BARS * (self.error + noise))
        return replace(self, wrong=wrong | self.wrong & ~np.isfinite(self.found), error=self.error + noise)

    def of_rows(self, rows: np.ndarray) -> Closeness:
        """The comparison for some of the seeds only."""
        names = ("found", "expected", "error", "wrong", "known", "seeds")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def wrong_leaves(self) -> tuple[Leaf, ...]:
        """The leaves with a wrong number; arguments instead if leaves are not told apart."""
        return tuple(leaf for leaf in self.columns if self.wrong[:, leaf.start : leaf.stop].any())

    def worst(self, leaf: Leaf | None = None) -> Worst | None:
        """The wrong number that is furthest off relative to its error; None if none is wrong."""
        wrong = self.wrong.copy()
        if leaf is not None:
            outside = np.ones(wrong.shape[1], bool)
            outside[leaf.start : leaf.stop] = False
            wrong[:, outside] = False
        if not wrong.any():
            return None
        off = np.abs(self.found - self.expected) / (self.error + 1e-12 * (1 + np.abs(self.expected)))
        off = np.where(wrong, np.where(np.isfinite(off), off, np.inf), -1.0)
        row, column = np.unravel_index(int(np.argmax(off)), off.shape)
        return Worst(
            self._name(int(column)),
            float(self.found[row, column]),
            float(self.expected[row, column]),
            float(self.error[row, column]),
            tuple(map(float, self.seeds[row])) if self.seeds.shape[1] <= 6 else (),
        )

    def _name(self, column: int) -> str:
        leaf = next(one for one in self.columns if one.start <= column < one.stop)
        if not self.whole:
            return f"{leaf.name}, along direction {column - leaf.start + 1}"
        return leaf.spot(column)


def closeness(probe: Probe, tolerance: Tolerance, forward: bool = False) -> Closeness:
    """The comparison of a rule's answers at a probe with the expected ones."""
    if forward:
        count = probe.truth.slopes.value.shape[1]
        rows = probe.seeds if probe.truth.whole else probe.seeds[:count]
        expected, bars = expected_of(probe.truth, rows if probe.truth.whole else np.eye(count), forward)
        found, columns, seeds = probe.answers[: len(rows)], probe.truth.outputs, rows
        left = rounding(probe, seeds, forward)
        compared = _compared(found, expected, bars, tolerance, columns, seeds, True, left)
        return compared if probe.truth.is_smooth else compared.where_finite()
    expected, bars = expected_of(probe.truth, probe.seeds)
    with np.errstate(all="ignore"):
        found = probe.answers @ probe.truth.directions if not probe.truth.whole else probe.answers
    columns = probe.truth.inputs if probe.truth.whole else probe.truth.columns
    left = rounding(probe, probe.seeds)
    compared = _compared(found, expected, bars, tolerance, columns, probe.seeds, probe.truth.whole, left)
    return compared if probe.truth.is_smooth else compared.where_finite()


def expected_of(truth: Truth, seeds: np.ndarray, forward: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The expected answers to cotangents of the value, one per row, or to tangents of the inputs if
    `forward`; and their error bars.
    """
    value, error = truth.slopes.value, truth.slopes.error
    return weighted(seeds, value.T, error.T) if forward else weighted(seeds, value, error)


def rounding(probe: Probe, seeds: np.ndarray, forward: bool = False) -> np.ndarray:
    """What rounding of the value may leave in the answers to seeds, one per row: a few of the last digits of
    each part of the value that contributes to an answer. A part may be small beside others.
    """
    outputs, largest = probe.truth.outputs, value_sizes(probe.truth)
    eps, tiny = _ROUNDING[digits(probe)]
    if forward:
        return most(seeds) * (tiny + 4 * eps * by_column(outputs, largest.__getitem__))
    parts = (most(seeds[:, leaf.start : leaf.stop]) * largest[leaf.name] for leaf in outputs)
    return tiny * most(seeds) + 4 * eps * reduce(np.maximum, parts, np.zeros((len(seeds), 1)))


def value_sizes(truth: Truth) -> dict[str, float]:
    """The largest number of each part of the value at a point."""
    return sizes_of(truth.outputs, to_vec(truth.y)[0])


def sizes_of(leaves: tuple[Leaf, ...], numbers: np.ndarray) -> dict[str, float]:
    """The largest finite number of each leaf."""
    sizes = np.where(np.isfinite(numbers), np.abs(numbers), 0.0)
    return {leaf.name: float(sizes[leaf.start : leaf.stop].max(initial=0.0)) for leaf in leaves}


def most(seeds: np.ndarray) -> np.ndarray:
    """The largest number of each seed, one per row."""
    return np.abs(seeds).max(1, initial=0.0, keepdims=True)


def by_column(leaves: tuple[Leaf, ...], number: Callable[[str], float]) -> np.ndarray:
    """A number for each name of a leaf, repeated for its columns."""
    return np.array([number(leaf.name) for leaf in leaves for _ in range(leaf.start, leaf.stop)], float)


_ROUNDING = {8: (2.0**-52, 2.0**-1022), 4: (2.0**-23, 2.0**-126), 2: (2.0**-10, 2.0**-14)}


def weighted(weights: np.ndarray, value: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`weights @ value` and its error bars; numbers with weight zero need not be known.

    >>> weighted(np.array([[1.0, 0.0]]), np.array([[2.0], [np.nan]]), np.array([[0.1], [np.inf]]))
    (array([[2.]]), array([[0.1]]))
    """
    known = np.isfinite(value) & np.isfinite(error)
    total = weights @ np.where(known, value, 0.0)
    bars = np.abs(weights) @ np.where(known, error, 0.0)
    lacking = (weights != 0).astype(float) @ (~known).astype(float) > 0
    return np.where(lacking, np.nan, total), np.where(lacking, np.inf, bars)


def _compared(
    found: np.ndarray,
    expected: np.ndarray,
    bars: np.ndarray,
    tolerance: Tolerance,
    columns: tuple[Leaf, ...],
    seeds: np.ndarray,
    whole: bool,
    left: np.ndarray,
) -> Closeness:
    known = np.isfinite(bars) & np.isfinite(expected)
    if not found.size:
        return Closeness(found, expected, bars, np.zeros(found.shape, bool), known, columns, seeds, whole)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(found), np.abs(expected))
        limit = tolerance.rtol * size + tolerance.atol * _scales(expected, known, columns, whole)
        limit = limit + BARS * bars + left
        apart = np.abs(found - expected)
        # nan and inf are wrong where the derivative is known: inf would make its own limit infinite.
        wrong = known & (~(apart <= limit) | ~np.isfinite(found))
    return Closeness(found, expected, bars, wrong, known, columns, seeds, whole)


def _scales(expected: np.ndarray, known: np.ndarray, columns: Iterable[Leaf], whole: bool) -> np.ndarray:
    """The largest number of each leaf in each row: rounding errors of that size are no mistake in small
    numbers.
    """
    sizes = np.where(known, np.abs(expected), 0.0)
    scales = np.zeros_like(sizes)
    if not whole:
        return scales + sizes.max(1, keepdims=True, initial=0.0)
    for leaf in columns:
        block = slice(leaf.start, leaf.stop)
        scales[:, block] = sizes[:, block].max(1, keepdims=True, initial=0.0)
    # If all numbers of a leaf are zero, rounding errors of other leaves may remain.
    return np.maximum(scales, 1e-4 * sizes.max(1, keepdims=True, initial=0.0))
