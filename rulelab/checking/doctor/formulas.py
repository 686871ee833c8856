"""Simple expressions of the inputs, the value and the sizes of a function that may explain some numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..calling.subjects import Subject
from .evidence import Block, Case

PER_BLOCK = 16
"""The number of entries of each matrix to which expressions are fitted."""


@dataclass(frozen=True)
class Fit:
    """An expression that equals some numbers at every probe; `text` is Python with the names of the
    arguments.

    `also` is another one, which the sizes of the probes do not distinguish from the first.
    """

    text: str
    constant: float | None = None
    also: str = ""

    @property
    def words(self) -> str:
        """The expression, and the other one if there is one."""
        return f"{self.text} (or {self.also}, which is the same here)" if self.also else self.text


class Sample:
    """Entries of the matrices of one argument, from all its blocks, with the values they may depend on."""

    def __init__(self, case: Case, subject: Subject, only_wrong: bool = False) -> None:
        self.case = case
        self.names = subject.names
        self._spots = [_spots(block, only_wrong) for block in case.blocks]
        self.given = self._joined([block.given for block in case.blocks])
        self.right = self._joined([block.right for block in case.blocks])
        coarse = [np.full(block.given.shape, 10 * block.look.closeness) for block in case.blocks]
        self._closeness = self._joined(coarse)
        self._bars = 8 * self._joined([block.error for block in case.blocks])
        self.keeps_zeros = only_wrong or all(map(_keeps_zeros, case.blocks))
        self._family: _Family | None = None

    def _joined(self, tables: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(table[spots] for table, spots in zip(tables, self._spots))])

    @property
    def size(self) -> int:
        return self.given.size

    def factor(self) -> Fit | None:
        """The rule's numbers divided by the measured ones."""
        if self.size < 2 or not self.keeps_zeros or np.any(self.right == 0):
            return None
        with np.errstate(all="ignore"):
            ratio = self.given / self.right
            loose = self._closeness * np.abs(ratio) + self._bars * (1 + np.abs(ratio)) / np.abs(self.right)
        return self.fit(ratio, loose)

    def excess(self) -> Fit | None:
        """The rule's numbers minus the measured ones."""
        if self.size < 2:
            return None
        scale = np.maximum(np.abs(self.given), np.abs(self.right))
        excess = self.given - self.right
        return self.fit(excess, self._closeness * scale + self._bars)

    def said(self) -> Fit | None:
        """The rule's numbers."""
        return self.fit(self.given, self._closeness * np.abs(self.given) + 1e-300) if self.size > 1 else None

    def measured(self) -> Fit | None:
        """The measured numbers."""
        return (
            self.fit(self.right, self._closeness * np.abs(self.right) + self._bars) if self.size > 1 else None
        )

    def fit(self, target: np.ndarray, limit: np.ndarray) -> Fit | None:
        """The simplest expression that equals all these numbers up to a simple constant factor."""
        if not np.all(np.isfinite(target)) or not np.any(np.abs(target) > limit):
            return None
        if self._family is None:
            self._family = _Family(self)
        return self._family.fit(target, limit)

    def atoms(self) -> Iterator[tuple[str, np.ndarray]]:
        """The inputs and the value, if they can be matched with the entries, by name."""
        inputs = [(name, i) for i, name in enumerate(self.names) if name != "axis"]  # an axis is not a number
        for name, position in inputs:
            yield from self._atom(name, [_input(block, position) for block in self.case.blocks])
        value = "y" if "y" not in self.names else "the value"
        ys = [block.look.probe.truth.y for block in self.case.blocks]
        yield from self._atom(value, ys)
        # Norms come after the value, which is the simpler name if they are equal.
        for name, position in inputs:
            yield from self._totals(name, [_input(block, position) for block in self.case.blocks])
        yield from self._totals(value, ys)

    def _atom(self, name: str, values: list[Any]) -> Iterator[tuple[str, np.ndarray]]:
        columns = [_numbers_at(v, b, s) for v, b, s in zip(values, self.case.blocks, self._spots)]
        known = [column for column in columns if column is not None]
        if len(known) == len(columns):
            yield name, np.concatenate([np.zeros(0), *known])

    def _totals(self, name: str, values: list[Any]) -> Iterator[tuple[str, np.ndarray]]:
        arrays = [
            v for v in values if isinstance(v, np.ndarray) and v.ndim and v.dtype.kind == "f" and v.size
        ]
        if len(arrays) == len(values):
            for text, number in _TOTALS:
                yield text.format(name), self._repeated([number(array) for array in arrays])

    def sizes(self) -> Iterator[tuple[str, np.ndarray]]:
        """The lengths of the axes of inputs and of the value, and their numbers of elements, by name."""
        values = [(name, [_input(b, i) for b in self.case.blocks]) for i, name in enumerate(self.names)]
        values.append(("y", [block.look.probe.truth.y for block in self.case.blocks]))
        for name, each in values:
            shapes = [np.shape(v) if isinstance(v, np.ndarray) else () for v in each]
            if any(shape == () for shape in shapes):
                if any(shapes):  # a number at some probes, where the size is 1, and an array at others
                    yield f"np.size({name})", self._repeated([math.prod(shape) for shape in shapes])
                continue
            yield f"len({name})", self._repeated([shape[0] for shape in shapes])
            if all(len(shape) > 1 for shape in shapes):
                yield f"{name}.shape[1]", self._repeated([shape[1] for shape in shapes])
            if any(len(shape) > 1 for shape in shapes):
                yield f"{name}.size", self._repeated([math.prod(shape) for shape in shapes])

    def _repeated(self, numbers: list[float]) -> np.ndarray:
        return np.concatenate(
            [np.zeros(0), *(np.full(len(s[0]), float(n)) for n, s in zip(numbers, self._spots))]
        )


_TOTALS: tuple[tuple[str, Callable[[np.ndarray], float]], ...] = (
    ("np.sum({})", np.sum),
    ("np.linalg.norm({})", lambda a: float(np.sqrt(np.sum(a * a)))),
)

_FUNCTIONS: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("{}", lambda u: u),
    ("1/{}", lambda u: 1 / u),
    ("{}**2", lambda u: u**2),
    ("1/{}**2", lambda u: u**-2.0),
    ("{}**3", lambda u: u**3),
    ("{}**4", lambda u: u**4),
    ("abs({})", np.abs),
    ("np.sign({})", np.sign),
    ("np.sqrt({})", np.sqrt),
    ("1/np.sqrt({})", lambda u: 1 / np.sqrt(u)),
    ("np.exp({})", np.exp),
    ("np.exp(-{})", lambda u: np.exp(-u)),
    ("np.log({})", np.log),
    ("np.sin({})", np.sin),
    ("np.cos({})", np.cos),
    ("np.tan({})", np.tan),
    ("1/np.cos({})", lambda u: 1 / np.cos(u)),
    ("1/np.cos({})**2", lambda u: np.cos(u) ** -2.0),
    ("np.sinh({})", np.sinh),
    ("np.cosh({})", np.cosh),
    ("np.tanh({})", np.tanh),
    ("(1 - {}**2)", lambda u: 1 - u**2),
    ("(1 + {}**2)", lambda u: 1 + u**2),
    ("1/(1 + {}**2)", lambda u: 1 / (1 + u**2)),
    ("(1 - {})", lambda u: 1 - u),
    ("(1 + {})", lambda u: 1 + u),
    ("{0}*(1 - {0})", lambda u: u * (1 - u)),
)
_PAIRS = 6  # atoms that are combined in products and sums


class _Family:
    """All expressions for one sample, the simplest first."""

    def __init__(self, sample: Sample) -> None:
        self.sizes = list(sample.sizes())
        atoms = [(name, values) for name, values in sample.atoms() if "the " not in name or values.size]
        found: list[tuple[str, np.ndarray]] = []
        with np.errstate(all="ignore"):
            for text, values in self.sizes:
                found += [(text, values), (f"1/{text}", 1 / values)]
            for text, function in _FUNCTIONS:
                found += [(text.format(name), function(values)) for name, values in atoms]
            single = [(name, values) for name, values in atoms if "(" not in name][:_PAIRS]
            for i, (one, a) in enumerate(single):
                for other, b in single[i + 1 :]:
                    found += [(f"{one}*{other}", a * b), (f"{one}/{other}", a / b), (f"{other}/{one}", b / a)]
                    found += [(f"{one}**2*{other}", a**2 * b), (f"{one}*{other}**2", a * b**2)]
                    found += [(f"({one} + {other})", a + b), (f"({one} - {other})", a - b)]
                    found += [(f"{one}/{other}**2", a / b**2), (f"{other}/{one}**2", b / a**2)]
        ones = np.ones(sample.size)
        kept = [(text, values) for text, values in found if np.all(np.isfinite(values)) and np.any(values)]
        self.texts = [text for text, _ in kept]
        self.table = np.array([ones, *(values for _, values in kept)])

    def fit(self, target: np.ndarray, limit: np.ndarray) -> Fit | None:
        constant = self._constant(target, limit)
        if constant is not None:
            return constant
        table = self.table[1:]
        if not table.size or np.any(
            (np.abs(target) <= limit) & (np.abs(table) > limit).all(0) & (target == 0)
        ):
            return None
        with np.errstate(all="ignore"):
            weights = np.abs(table)
            constants = (target[None, :] * np.sign(table)).sum(1) / weights.sum(1)
            off = np.abs(target[None, :] - constants[:, None] * table)
            fits = np.flatnonzero(np.all(off <= limit[None, :], 1))
        varied = np.ptp(table, 1) > 1e-6 * np.max(np.abs(table), 1)
        for number in fits:
            plain = _plain_fraction(float(constants[number]))
            if plain is not None and varied[number]:
                return Fit(_times(plain, self.texts[number]))
        return None

    def _constant(self, target: np.ndarray, limit: np.ndarray) -> Fit | None:
        c = float(np.mean(target))
        if np.any(np.abs(target - c) > limit):
            return None
        also = ""
        for text, values in self.sizes:
            if np.ptp(values) == 0 and values[0] > 1:
                if abs(c - values[0]) < 1e-6:
                    also = text
                elif abs(c - 1 / values[0]) < 1e-6:
                    also = f"1/{text}"
            if also:
                break
        if not also:
            for text, values in self.sizes:
                if np.ptp(values) and (np.all(np.abs(target - values) <= limit)):
                    return Fit(text)
        return Fit(named_constant(c), c, also)


def _times(c: Fraction, text: str) -> str:
    sign = "-" if c < 0 else ""
    c = abs(c)
    if c == 1:
        return f"{sign}{text}"
    if c.numerator == 1 and not text.startswith("1/"):
        return f"{sign}{text}/{c.denominator}"
    if c.denominator == 1:
        return f"{sign}{c.numerator}{text[1:]}" if text.startswith("1/") else f"{sign}{c.numerator}*{text}"
    return f"{sign}{c}*{text}"


def _plain_fraction(c: float) -> Fraction | None:
    if not math.isfinite(c) or abs(c) > 12 or abs(c) < 1 / 12:
        return None
    near = Fraction(c).limit_denominator(6)
    return near if near and abs(near) <= 6 and abs(float(near) - c) <= 1e-6 * abs(c) else None


_BASES = (("", 1.0), ("pi", math.pi), ("1/pi", 1 / math.pi), ("sqrt(2)", math.sqrt(2)),
          ("sqrt(pi)", math.sqrt(math.pi)),
          ("1/sqrt(pi)", 1 / math.sqrt(math.pi)), ("log(2)", math.log(2)), ("log(10)", math.log(10)),
          ("1/log(2)", 1 / math.log(2)), ("1/log(10)", 1 / math.log(10)),
          ("pi**2", math.pi**2), ("1/pi**2", math.pi**-2), ("log(2)**2", math.log(2) ** 2),
          ("log(10)**2", math.log(10) ** 2), ("1/log(2)**2", math.log(2) ** -2),
          ("1/log(10)**2", math.log(10) ** -2))  # fmt: skip

OF_CONSTANTS = frozenset(("pi", "sqrt", "log"))
"""The names used in constants, which are NumPy's."""


def named_constant(c: float) -> str:
    """A number as a person would write it.

    >>> named_constant(0.5), named_constant(3.141592653589793 / 180), named_constant(0.7312)
    ('1/2', 'pi/180', '0.7312')
    """
    for name, base in _BASES:
        near = Fraction(c / base).limit_denominator(360) if math.isfinite(c) else Fraction(0)
        small = near.denominator in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 180, 360)
        if near and small and abs(near.numerator) <= 360 and abs(float(near) * base - c) <= 1e-7 * abs(c):
            if not name:
                return str(near)
            if name.startswith("1/"):
                return f"{near.numerator}/{name[2:]}" if near.denominator == 1 else f"{near}/{name[2:]}"
            sign, top = ("-" if near < 0 else ""), abs(near.numerator)
            return f"{sign}{name if top == 1 else f'{top}*{name}'}" + (
                f"/{near.denominator}" if near.denominator > 1 else ""
            )
    return f"{c:.6g}"


def _spots(block: Block, only_wrong: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of some entries that are known and not zero on both sides; only of wrong ones if
    so requested.
    """
    given, right = block.given, block.right
    scale = max(_largest(given), _largest(right)) * 1e-5
    with np.errstate(all="ignore"):
        known = np.isfinite(block.error) & np.isfinite(right) & np.isfinite(given)
        there = known & ((np.abs(right) > scale) | (np.abs(given) > scale))
        if only_wrong:
            there &= block.wrong
    rows, columns = np.nonzero(there)
    if len(rows) > PER_BLOCK:
        kept = np.unique(np.linspace(0, len(rows) - 1, PER_BLOCK).astype(int))
        rows, columns = rows[kept], columns[kept]
    return rows, columns


def _largest(table: np.ndarray) -> float:
    finite = np.abs(table[np.isfinite(table)])
    return float(finite.max(initial=0.0))


def _keeps_zeros(block: Block) -> bool:
    """Whether the rule gives zero exactly where zero was measured."""
    with np.errstate(all="ignore"):
        known = np.isfinite(block.error) & np.isfinite(block.right)
        given, right = np.abs(block.given), np.abs(block.right)
        lost = (given <= 1e-14 * _largest(given)) & (right > 1e-6 * _largest(right))
        gained = (right <= 8 * block.error + 1e-14 * _largest(right)) & (given > 1e-6 * _largest(given))
        return not np.any((lost | gained) & known)


def _input(block: Block, position: int) -> Any:
    inputs = block.look.probe.point.inputs
    return inputs[position] if position < len(inputs) else None


def _numbers_at(value: Any, block: Block, spots: tuple[np.ndarray, np.ndarray]) -> np.ndarray | None:
    """A value as one number for each of some entries of a block, by row or by column."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.ndarray, np.number)):
        return None
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiu":
        return None
    numbers = numbers.astype(float)
    rows, columns = spots
    if numbers.ndim == 0:
        return np.full(len(rows), float(numbers))
    leaf, y = block.leaf, block.look.probe.truth.y
    if leaf is None or leaf.dtype.kind == "c" or not isinstance(y, (np.ndarray, float, np.floating)):
        return None
    for shape, places in ((leaf.shape, columns), (block.look.y_shape, rows)):
        if numbers.shape == shape or (numbers.ndim < len(shape) and _fits(numbers.shape, shape)):
            return np.broadcast_to(numbers, shape).ravel()[places]
    for shape, places in ((leaf.shape, columns), (block.look.y_shape, rows)):
        if _fits(numbers.shape, shape):
            return np.broadcast_to(numbers, shape).ravel()[places]
    return None


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, into) == into
    except ValueError:
        return False
