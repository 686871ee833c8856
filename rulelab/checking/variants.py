"""The same point as users have it: in single precision, otherwise in memory, in whole numbers, at other
lengths, in complex numbers.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .forms import conformed
from .perturb import in_float32, laid_out_otherwise, landmarks, revalued
from .probes import Point
from .subjects import Subject, author_of, codes_of
from .usage import taken_apart
from .vectors import to_vec

LAYOUTS = {
    "gaps": "with gaps in memory",
    "backwards": "backwards in memory",
    "transposed": "transposed in memory",
}
LENGTHS = (2, 4, 7)
"""Lengths that arguments are brought to, one axis after the other."""
LONGEST = 41
"""The largest number in the code that is tried as a length."""
MOST_APART = 12
"""How many whole numbers are kept apart: of more, the largest would be too large for many a function."""
MATRIX = (3, 3)
"""The shape of the matrix that a vector becomes: of others a product with them would be refused."""
MOST_NUMBERS = 400
"""How many numbers the arguments of a point may have that is made for another length."""
_OF_COMPLEX = frozenset(
    "conj conjugate imag angle iscomplex iscomplexobj vdot fft complex complex128".split()
)
_OF_LENGTHS = frozenset(("len", "shape", "size", "ndim"))


def has_arrays(point: Point) -> bool:
    """Whether an array with numbers that can be moved is among the inputs."""
    return any(isinstance(x, np.ndarray) and x.ndim and to_vec(x)[0].size for x in point.floats)


def same_numbers(point: Point, y: Any) -> Iterator[Point]:
    """The same numbers in single precision, and laid out otherwise in memory; cotangents of the value `y` lie
    as the arrays do, and are transposed where these cannot be.
    """
    single = in_float32(point.inputs)
    turned = [(words, laid_out_otherwise(point.inputs, how)) for how, words in LAYOUTS.items()]
    for words, inputs in (("in single precision", single), *turned):
        if inputs is not None:
            held = tuple(point.inputs[i] if i in point.constant else x for i, x in enumerate(inputs))
            yield point.having(held, f"the first, {words}", edge=inputs is single)
    if turned[-1][1] is None and laid_out_otherwise((y,), "transposed") is not None:
        yield point.having(point.inputs, "the first, cotangents transposed in memory", turned=True)


def in_floats(point: Point, whole: tuple | None = None) -> Point:
    """The point moved to whole numbers, as floats: each to one further from zero and, as that hides mistakes,
    not to 1, and no two to the same, for at a tie a function may have a kink.
    """
    if whole is not None:
        inputs = tuple(np.asarray(x, float) if isinstance(x, np.ndarray) else float(x) for x in whole)
    else:
        inputs = revalued(point.floats, _further_from_zero)
    return point.moved(inputs, "near the first, whole numbers as floats")


def _further_from_zero(vector: np.ndarray) -> np.ndarray:
    found = np.where(vector < 0, np.floor(vector) - 1, np.ceil(vector) + 1)
    if vector.size > MOST_APART:
        return found
    for sign in (1.0, -1.0):
        last = 0.0
        for i in (int(i) for i in np.argsort(np.abs(vector), kind="stable") if found[i] * sign > 0):
            last = max(last + 1.0, abs(found[i]))
            found[i] = sign * last
    return found


def in_whole_numbers(point: Point) -> Point | None:
    """A point of whole numbers with arrays of integers in place of floats, and int for float; None where
    there is nothing to change.
    """
    inputs = tuple(x if i in point.constant else _whole(x) for i, x in enumerate(point.inputs))
    if all(new is old for new, old in zip(inputs, point.inputs)):
        return None
    return point.having(inputs, "near the first, in whole numbers", like=point.inputs)


def _whole(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and np.all(np.abs(x) < 2.0**31):
        return x.astype(np.int64)
    return int(x) if type(x) is float and abs(x) < 2.0**31 else x


def mentions_complex(subject: Subject) -> bool:
    """Whether the code of the function or of its rule has words for complex numbers."""
    return any(
        not _OF_COMPLEX.isdisjoint(code.co_names) or any(isinstance(c, complex) for c in code.co_consts)
        for code in (*subject.codes, *subject.helpers)
    )


def transforms(subject: Subject) -> bool:
    """Whether the function calls Fourier's transformations, of which one factor may be a spectrum."""
    return any("fft" in name for code in codes_of(subject.primal) for name in code.co_names)


def meant_complex(subject: Subject) -> frozenset[int]:
    """The positions of the inputs that the function or its rule takes apart, as complex numbers are."""
    author = None if subject.rule is None else author_of(subject.rule)
    names = [name for one in (subject.primal, author) if one is not None for name in taken_apart(one)]
    return frozenset(i for i, name in enumerate(subject.names) if name in names)


def in_complex(
    point: Point, rng: np.random.Generator, positions: frozenset[int] | None = None
) -> Point | None:
    """The point with an imaginary part added to each real number, of those inputs alone at these positions
    if some are named; None where there is none.
    """
    if any(low > -np.inf or high < np.inf for low, high in point.bounds):
        return None

    def one(i: int, x: Any) -> Any:
        if i in point.constant or positions is not None and i not in positions:
            return x
        if isinstance(x, np.ndarray) and x.dtype == np.float64:
            found = x + 1j * rng.choice([-1.0, 1.0], x.shape) * rng.integers(1, 9, x.shape) / 4
            return conformed(point.forms[i], found) if point.symmetric(i) else found
        return complex(x, rng.integers(1, 9) / 4) if type(x) is float else x

    inputs = tuple(one(i, x) for i, x in enumerate(point.floats))
    if all(new is old for new, old in zip(inputs, point.floats)):
        return None
    return point.moved(inputs, "near the first, in complex numbers")


def of_other_lengths(
    point: Point,
    codes: Iterable[types.CodeType],
    rng: np.random.Generator,
    usual: Iterable[int] = LENGTHS,
) -> Iterator[Point]:
    """The point at other lengths: all axes that have one length get another, one such length after the other.

    The lengths are a few `usual` ones, and those on both sides of a number in the code. After the first all
    axes get one length: a rule may be another for square matrices.
    """
    there = sorted(dict.fromkeys(_lengths(point.floats)))
    marked = tuple(_lengths_in(codes))
    matrices = any(isinstance(x, np.ndarray) and x.ndim > 1 for x in point.floats)
    square = iter([_all_of_one_length(point, there, rng)] if len(there) > 1 and matrices else [])
    for new in (*usual, *marked):
        for old in there:
            if new == old or (new in there and len(there) > 1):
                continue
            inputs = tuple(_resized(point, i, x, old, new, rng) for i, x in enumerate(point.floats))
            if to_vec(inputs)[0].size <= MOST_NUMBERS:
                yield point.having(inputs, f"of length {new} for {old}")
                yield from square


def _all_of_one_length(point: Point, there: list[int], rng: np.random.Generator) -> Point:
    inputs, new = point.floats, min(there)
    for old in there:
        inputs = tuple(_resized(point, i, x, old, new, rng) for i, x in enumerate(inputs))
    return point.having(inputs, f"of one length, {new}")


def as_matrices(point: Point, rng: np.random.Generator) -> tuple[Point, Point] | None:
    """The point with a matrix in place of each vector, and with vectors of the same numbers; None where the
    arrays are not vectors of one length.
    """
    arrays = [x for x in point.floats if isinstance(x, np.ndarray) and x.ndim]
    if not arrays or len({x.shape for x in arrays}) > 1 or arrays[0].ndim != 1 or any(point.constant):
        return None
    if any(x.dtype.kind not in "fc" or not x.size for x in arrays):
        return None
    inputs = tuple(
        _drawn_like(x, MATRIX, rng) if isinstance(x, np.ndarray) and x.ndim else x for x in point.floats
    )
    flat = tuple(x.ravel() if isinstance(x, np.ndarray) else x for x in inputs)
    return point.having(inputs, "of matrices for vectors"), point.having(flat, "of vectors")


def _lengths(x: Any) -> Iterator[int]:
    if isinstance(x, np.ndarray):
        yield from (n for n in x.shape if n > 1)
    elif type(x) in (list, tuple):
        for part in x:
            yield from _lengths(part)
    elif type(x) is dict:
        yield from _lengths(tuple(x.values()))


def _lengths_in(codes: Iterable[types.CodeType]) -> Iterator[int]:
    """The whole numbers in code that looks at lengths, and the next above each."""
    codes = [code for code in codes if not _OF_LENGTHS.isdisjoint(code.co_names)]
    marks = sorted({int(m) for m in landmarks(codes) if m == int(m) and 2 <= m < LONGEST})
    yield from dict.fromkeys(n for mark in marks[:3] for n in (mark, mark + 1) if n not in LENGTHS)


def _resized(point: Point, position: int, x: Any, old: int, new: int, rng: np.random.Generator) -> Any:
    """The argument with `new` for `old` in its shape, its numbers like those it had."""
    if type(x) in (list, tuple):
        return type(x)(_resized(point, -1, part, old, new, rng) for part in x)
    if type(x) is dict:
        return {key: _resized(point, -1, part, old, new, rng) for key, part in x.items()}
    if not isinstance(x, np.ndarray) or old not in x.shape or not x.size:
        return x
    shape = tuple(new if n == old else n for n in x.shape)
    found = _drawn_like(x.ravel(), shape, rng)
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        n = np.arange(new)
        found[n, n] = _drawn_like(np.diagonal(x), (new,), rng)
    return conformed(point.forms[position], found) if position >= 0 and point.symmetric(position) else found


def _drawn_like(values: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers of these, each moved a little; integers and the like as they are."""
    found = rng.choice(values, shape)
    if found.dtype.kind not in "fc":
        return found
    zero = np.abs(values).max(initial=0.0) or 1.0
    moved = np.where(found == 0, zero * rng.uniform(0.1, 0.5, shape), found * rng.uniform(0.6, 1.4, shape))
    return moved.astype(found.dtype)
