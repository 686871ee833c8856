"""Where to try a rule: sample points in every orthant and size, and on both sides of each comparison seen.

A *cell* is the set of points at which the program decides alike; a verdict holds on the cells that were
visited.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

SIZES = ((Fraction(1, 3), Fraction(5, 2)), (Fraction(1, 50), Fraction(9, 10)), (Fraction(3), Fraction(15)))
MAX_ORTHANTS = 8


class Static(NamedTuple):
    """An argument that is handed on as it is and held fixed (an int, a string, a flag)."""

    value: object


@dataclass(frozen=True)  # not a tuple: it must not equal a shape
class Symmetric:
    """The kind of a symmetric positive definite argument: it has `rows` rows, and moves as symmetric ones
    do."""

    rows: int


@dataclass(frozen=True)
class ComplexNumbers:
    """The kind of a complex argument: a number, or an array of this shape."""

    shape: tuple = ()


@dataclass(frozen=True)
class ComplexNumber:
    """A sample of a complex number, exact; its text is Python that makes the nearest float."""

    real: Fraction
    imag: Fraction

    def __complex__(self):
        return complex(float(self.real), float(self.imag))

    def __str__(self):
        return f"complex({self.real}, {self.imag})"


class Array(NamedTuple):
    """A sample of an array argument: its entries in C order; a symmetric one has its lower triangle free."""

    entries: tuple
    shape: tuple
    symmetric: bool = False

    def leaf_indices(self):
        """The indices of the entries that are free, in order."""
        return [i for i in np.ndindex(self.shape) if not self.symmetric or i[0] >= i[1]]

    @property
    def is_complex(self):
        return any(isinstance(entry, ComplexNumber) for entry in self.entries)


def count_of(kind):
    """How many free numbers an argument of a kind, or a sample of one, has."""
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


def shape_of(kind):
    """The shape of an argument of this kind."""
    if isinstance(kind, Symmetric):
        return (kind.rows, kind.rows)
    if isinstance(kind, ComplexNumbers):
        return kind.shape
    return kind if isinstance(kind, tuple) and not isinstance(kind, Static) else ()


def fraction(rng, low, high):
    """A random fraction between two others, with a denominator that is no power of two."""
    denominator = int(rng.choice((7, 9, 11, 13)))
    lowest, highest = -(-low * denominator // 1), high * denominator // 1
    return Fraction(int(rng.integers(int(lowest), int(highest) + 1)), denominator)


def samples(spec, rng):
    """Sample tuples for `spec`, a tuple of "scalar", a shape, `Symmetric` or `Static` per argument: orthants
    times sizes."""
    scalars = sum(2 if kind == ComplexNumbers() else kind == "scalar" for kind in spec)
    orthants = list(itertools.product((1, -1), repeat=min(scalars, 10)))
    if len(orthants) > MAX_ORTHANTS:
        chosen = rng.choice(len(orthants) - 1, MAX_ORTHANTS - 1, replace=False) + 1
        orthants = [orthants[0], *(orthants[i] for i in chosen)]
    for low, high in SIZES:
        for orthant in orthants:
            signs = itertools.chain(orthant, itertools.repeat(1))
            yield tuple(_sample(kind, signs, rng, low, high) for kind in spec)


def _sample(kind, signs, rng, low, high):
    if isinstance(kind, Static):
        return kind
    if kind == "scalar":
        return next(signs) * fraction(rng, low, high)
    if kind == ComplexNumbers():
        return ComplexNumber(next(signs) * fraction(rng, low, high), next(signs) * fraction(rng, low, high))
    if isinstance(kind, Symmetric):
        return _positive_definite(kind.rows, rng, low, high)
    entries = tuple(int(rng.choice((1, -1))) * fraction(rng, low, high) for _ in range(count_of(kind)))
    if isinstance(kind, ComplexNumbers):
        entries = tuple(map(ComplexNumber, entries[::2], entries[1::2]))
    return Array(entries, shape_of(kind))


def _positive_definite(n, rng, low, high):
    """A product of a triangular matrix with its transpose."""
    factor = np.zeros((n, n), object)
    for i, j in np.ndindex(n, n):
        factor[i, j] = (int(rng.choice((1, -1))) if i != j else 1) * fraction(rng, low, high) if i >= j else 0
    return Array(tuple((factor @ factor.T).ravel()), (n, n), True)


def beside_borders(sample, names, decisions):
    """Samples like `sample` with one scalar moved to both sides of each constant it was compared with."""
    places = {name: i for i, name in enumerate(names)} | {
        f"{name}.{part}": i
        for i, (name, value) in enumerate(zip(names, sample, strict=True))
        if isinstance(value, ComplexNumber)
        for part in ("real", "imag")
    }
    seen = set()
    for decision in decisions:
        for argument, bound in ((decision.left, decision.right), (decision.right, decision.left)):
            if argument.op != "argument" or not bound.is_constant or bound.args is None:
                continue
            i = places.get(argument.args)
            at = (
                bound.args.factor
                if bound.args.name is None
                else Fraction(float(bound.shadow)).limit_denominator(999)
            )
            if i is None or (argument.args, at) in seen:
                continue
            seen.add((argument.args, at))
            for away in (Fraction(1, 7), Fraction(1, 1009)):
                step = away * max(1, abs(at))
                yield tuple(_moved(v, argument, at + step) if j == i else v for j, v in enumerate(sample))
                yield tuple(_moved(v, argument, at - step) if j == i else v for j, v in enumerate(sample))


def _moved(value, argument, to):
    """The sample number `value` with what `argument` stands for, itself or one part of it, put at `to`."""
    if not isinstance(value, ComplexNumber):
        return to
    return replace(value, **{argument.args.rpartition(".")[2]: to})


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def conditions(decisions, show, always, limit=4):
    """The path conditions in words, without repeats; long ones are counted, not shown.

    `show(node)` gives the text of a node, or None where it is too long to be read; `always(left, relation,
    right)` says that a condition holds everywhere.
    """
    texts: dict[tuple[str, str, str], None] = {}
    hidden = 0
    for left, relation, right, outcome in decisions:
        if left.is_constant and right.is_constant:
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
    kept = [t for t in texts if (t[0], _STRICTER.get(t[1]), t[2]) not in texts]
    hidden += max(0, len(kept) - limit)
    words = [" ".join(text) for text in kept[:limit]]
    if hidden:
        words.append(f"{hidden} more conditions")
    return " and ".join(words)


_STRICTER = {">=": ">", "<=": "<"}
