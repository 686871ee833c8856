"""Sample points at which to try a rule: in every orthant and at several magnitudes, and on both sides of each
comparison found.

A *cell* is the set of points at which the program takes the same decisions; a verdict holds on the cells that
were visited.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..checking.measuring.shortening import index_text, shortened

SIZES = ((Fraction(1, 3), Fraction(5, 2)), (Fraction(1, 50), Fraction(9, 10)), (Fraction(3), Fraction(15)))
MAX_ORTHANTS = 8
NEAREST = Fraction(1, 1009)  # smallest relative distance of a sample from a constant


MOST_ENTRIES = 64
"""An array with more entries than this, of which none varies, is displayed by its ends."""


class Static(NamedTuple):
    """An argument that is passed unchanged and held fixed (an int, a string, a flag)."""

    value: object

    def _known(self):
        """The key for comparisons: the identity of arrays and lists, the value of others."""
        try:
            hash(self.value)
        except TypeError:
            return id(self.value)
        return self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self._known() == other._known()

    def __ne__(self, other):  # a tuple defines its own
        return not self == other

    def __hash__(self):
        return hash(self._known())

    def shown(self):
        """Its display form; for a function its name, for an array its entries on one line."""
        if isinstance(self.value, np.ndarray):
            return repr(self.value.tolist()) if self.value.size <= MOST_ENTRIES else shortened(self.value)
        name = getattr(self.value, "__name__", "")
        return name if callable(self.value) and name.isidentifier() else repr(self.value)


@dataclass(frozen=True)  # not a tuple, since it must not equal a shape
class Symmetric:
    """The kind of a symmetric positive definite argument with `rows` rows; it is perturbed symmetrically."""

    rows: int


@dataclass(frozen=True)
class ComplexNumbers:
    """The kind of a complex argument: a number, or an array of this shape."""

    shape: tuple = ()


@dataclass(frozen=True)
class ComplexNumber:
    """An exact sample of a complex number; its text is Python code for the nearest float."""

    real: Fraction
    imag: Fraction

    def __complex__(self):
        return complex(float(self.real), float(self.imag))

    def __str__(self):
        return f"complex({self.real}, {self.imag})"


class Array(NamedTuple):
    """A sample of an array argument: its entries in C order; in a symmetric one the lower triangle is
    free.
    """

    entries: tuple
    shape: tuple
    symmetric: bool = False

    def leaf_indices(self):
        """The indices of the free entries, in order."""
        return [i for i in np.ndindex(self.shape) if not self.symmetric or i[0] >= i[1]]

    @property
    def is_complex(self):
        return any(isinstance(entry, ComplexNumber) for entry in self.entries)


def count_of(kind):
    """The number of free real numbers in an argument of a kind, or in a sample."""
    if isinstance(kind, Array):
        return len(kind.leaf_indices()) * (2 if kind.is_complex else 1)
    if isinstance(kind, ComplexNumbers):
        return 2 * math.prod(kind.shape)
    if isinstance(kind, ComplexNumber):
        return 2
    if isinstance(kind, Static):
        return 0
    if isinstance(kind, Symmetric):
        return kind.rows * (kind.rows + 1) // 2
    return int(np.prod(kind)) if isinstance(kind, tuple) else 1


def is_complex_sample(value):
    """Whether a sample of one argument is a complex number, or an array that contains one."""
    return isinstance(value, ComplexNumber) or isinstance(value, Array) and value.is_complex


def entry_name(name, index):
    """The name of an entry of an array argument.

    >>> entry_name("x", (0, 1))
    'x[0, 1]'
    """
    return f"{name}{index_text(index)}"


def leaf_names(names, sample):
    """The names of the free numbers of a sample, in order."""
    found = []
    for name, value in zip(names, sample, strict=True):
        if isinstance(value, Array):
            found += [entry_name(name, index) for index in value.leaf_indices()]
        elif not isinstance(value, Static):
            found.append(name)
    return found


def complex_part(name):
    """Which part of a complex number a leaf of this name is: 0 for the real, 1 for the imaginary one; None
    for real numbers.
    """
    return {"real": 0, "imag": 1}.get(name.rpartition(".")[2]) if "." in name else None


def shape_of(kind):
    """The shape of an argument of this kind."""
    if isinstance(kind, Symmetric):
        return (kind.rows, kind.rows)
    if isinstance(kind, ComplexNumbers):
        return kind.shape
    return kind if isinstance(kind, tuple) and not isinstance(kind, Static) else ()


def fraction(rng, low, high):
    """A random fraction between two others, whose denominator is not a power of two."""
    denominator = int(rng.choice((7, 9, 11, 13)))
    lowest, highest = -(-low * denominator // 1), high * denominator // 1
    return Fraction(int(rng.integers(int(lowest), int(highest) + 1)), denominator)


def samples(spec, rng, limits=()):
    """Yield sample tuples for `spec`, a tuple of "scalar", a shape, `Symmetric` or `Static` per argument:
    orthants times magnitudes. `limits`, if given, are (low, high) or None per argument: numbers are drawn
    between them, on both sides of zero if they contain it.
    """
    limits = limits or (None,) * len(spec)
    scalars = sum(2 if kind == ComplexNumbers() else kind in ("scalar", ()) for kind in spec)
    orthants = list(itertools.product((1, -1), repeat=min(scalars, 10)))
    if len(orthants) > MAX_ORTHANTS:
        chosen = rng.choice(len(orthants) - 1, MAX_ORTHANTS - 1, replace=False) + 1
        orthants = [orthants[0], *(orthants[i] for i in chosen)]
    for low, high in SIZES:
        for orthant in orthants:
            signs = itertools.chain(orthant, itertools.repeat(1))
            yield tuple(
                _sample(kind, signs, rng, low, high, limit)
                for kind, limit in zip(spec, limits, strict=True)
            )


MOST_TURNS = 12


def more_samples(spec, rng, count):
    """Yield samples for programs that decide on the entries of arrays: all negative, all positive, with each
    entry in turn the largest and the smallest, then `count` with random signs.
    """
    for sign in (-1, 1):
        yield _signed(spec, rng, SIZES[0], lambda length, sign=sign: [sign] * length)
    first = _signed(spec, rng, SIZES[2], lambda length: rng.choice((1, -1), length).tolist())
    turns = max((len(v.entries) for v in first if _turns(v)), default=0)
    for by in range(min(turns, MOST_TURNS)):
        yield tuple(v._replace(entries=v.entries[by:] + v.entries[:by]) if _turns(v) else v for v in first)
    for number in range(count):
        yield _signed(spec, rng, SIZES[number % 3], lambda length: rng.choice((1, -1), length).tolist())


def positive_samples(spec, rng):
    """Yield samples for functions that accept only positive entries of arrays: one of each magnitude."""
    for size in SIZES:
        yield _signed(spec, rng, size, lambda length: [1] * length)


def _turns(value):
    return isinstance(value, Array) and not value.symmetric and not value.is_complex


def _signed(spec, rng, size, signs_of):
    """A sample whose arrays have entries with the given signs."""
    sample = tuple(_sample(kind, itertools.repeat(1), rng, *size) for kind in spec)
    return tuple(
        v._replace(
            entries=tuple(s * abs(e) for s, e in zip(signs_of(len(v.entries)), v.entries, strict=True))
        )
        if _turns(v)
        else v
        for v in sample
    )


def _sample(kind, signs, rng, low, high, limit=None):
    if isinstance(kind, Static):
        return kind
    if kind == "scalar":
        return _between(limit, next(signs), fraction(rng, low, high))
    if kind == ComplexNumbers():
        return ComplexNumber(next(signs) * fraction(rng, low, high), next(signs) * fraction(rng, low, high))
    if isinstance(kind, Symmetric):
        return _positive_definite(kind.rows, rng, low, high)
    if kind == ():
        return Array((_between(limit, next(signs), fraction(rng, low, high)),), ())
    entries = tuple(
        _between(limit, int(rng.choice((1, -1))), fraction(rng, low, high)) for _ in range(count_of(kind))
    )
    if isinstance(kind, ComplexNumbers):
        entries = tuple(map(ComplexNumber, entries[::2], entries[1::2]))
    return Array(entries, shape_of(kind))


def _between(limit, sign, size):
    """The number with this sign and magnitude; within limits, a number at a corresponding distance from one
    end.
    """
    if limit is None:
        return sign * size
    low, high = limit
    if low < 0 < high:
        low, high = (0, high) if sign > 0 else (low, 0)
    if high == math.inf:
        return low + size
    return high - size if low == -math.inf else low + (high - low) * size / (1 + size)


def _positive_definite(n, rng, low, high):
    """The product of a triangular matrix and its transpose."""
    factor = np.zeros((n, n), object)
    for i, j in np.ndindex(n, n):
        factor[i, j] = (int(rng.choice((1, -1))) if i != j else 1) * fraction(rng, low, high) if i >= j else 0
    return Array(tuple((factor @ factor.T).ravel()), (n, n), True)


def beside_borders(sample, names, decisions, of_entries=None):
    """Yield samples like `sample` with one number moved to both sides of each constant that it was compared
    with, and between two constants that are closer together than that.

    In an array, one entry is moved for each constant; `of_entries` is the set of those that were moved
    before.
    """
    places = {name: i for i, name in enumerate(names)} | {
        f"{name}.{part}": i
        for i, (name, value) in enumerate(zip(names, sample, strict=True))
        if isinstance(value, ComplexNumber)
        for part in ("real", "imag")
    }
    seen: set[tuple] = set()
    of_entries = set() if of_entries is None else of_entries
    bounds: dict[str, set[Fraction]] = {}
    for decision in decisions:
        for argument, bound in ((decision.left, decision.right), (decision.right, decision.left)):
            if argument.op != "argument" or not bound.is_constant or bound.args is None:
                continue
            name, _, index = argument.args.partition("[")
            i = places.get(name)
            at = (
                bound.args.factor
                if bound.args.name is None
                else Fraction(float(bound.shadow)).limit_denominator(999)
            )
            value = None if i is None else sample[i]
            met, key = (of_entries, i) if index else (seen, argument.args)
            if i is None or (key, at) in met or (isinstance(value, Array) and value.is_complex):
                continue
            met.add((key, at))
            bounds.setdefault(argument.args, set()).add(at)
            size = max(Fraction(1), abs(at))
            steps = (size / 7, size * NEAREST)
            for beside in (at + side * step for step in steps for side in (1, -1)):
                yield with_moved(sample, i, argument.args, beside)
    for name, met_there in bounds.items():
        for low, high in itertools.pairwise(sorted(met_there)):
            if high - low <= NEAREST * max(Fraction(1), abs(low), abs(high)):
                yield with_moved(sample, places[name.partition("[")[0]], name, (low + high) / 2)


def with_moved(sample, i, name, number):
    """The sample with the number called `name`, in its argument `i`, replaced by `number`."""
    moved = _moved(sample[i], name, number)
    return tuple(moved if j == i else v for j, v in enumerate(sample))


def _moved(value, name, number):
    """A sample of one argument with the number called `name` ("x", "x[0, 1]", "z.real") replaced."""
    if isinstance(value, ComplexNumber):
        return replace(value, **{name.rpartition(".")[2]: number})
    if not isinstance(value, Array):
        return number
    indices = tuple(map(int, filter(None, name.partition("[")[2].rstrip("]").split(","))))
    places = {indices, indices[::-1]} if value.symmetric else {indices}
    entries = zip(np.ndindex(value.shape), value.entries, strict=True)
    return value._replace(entries=tuple(number if i in places else v for i, v in entries))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def conditions(decisions, show, always, limit=4):
    """The path conditions in words, without duplicates; long ones are counted instead of shown.

    `show(node)` returns the text of a node, or None if it is too long to read; `always(left, relation,
    right)` says that a condition always holds.
    """
    texts: dict[tuple[str, str, str], None] = {}
    hidden = 0
    for left, relation, right, outcome in decisions:
        if left is right or (left.is_constant and right.is_constant):
            continue
        holds = relation if outcome is True or relation not in _OPPOSITE else _OPPOSITE[relation]
        if always(left, holds, right):
            continue
        shown = show(left), show(right)
        if None in shown:
            hidden += 1
        elif relation in _OPPOSITE:
            texts[shown[0], holds, shown[1]] = None
        else:
            texts[f"{relation}({shown[0]})", "==", str(outcome)] = None
    kept = [t for t in texts if not any((t[0], strict, t[2]) in texts for strict in _STRICTER.get(t[1], ()))]
    hidden += max(0, len(kept) - limit)
    words = [" ".join(text) for text in kept[:limit]]
    if hidden:
        words.append(f"{hidden} {'more' if words else 'long'} condition{'s' if hidden > 1 else ''}")
    return " and ".join(words)


_STRICTER = {">=": (">",), "<=": ("<",), "!=": ("<", ">")}
