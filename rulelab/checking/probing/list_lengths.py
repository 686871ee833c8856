"""A point with longer and with shorter lists: a rule of `sum(xs) / len(xs)` that divides by 3 is right for
lists of three.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..calling.plain_calls import value_of
from ..calling.subjects import Subject
from ..measuring.vectors import leaves, to_vec
from .perturb import few_digits, revalued
from .probes import Point, without_warnings

LIST_LENGTHS = (4, 2, 3)
"""Lengths that lists are changed to. Longer lists come first: a shorter one may hide a mistake, as where each
element is multiplied by its position.
"""
_SMALLEST, _LARGEST = 0.6, 1.4
"""Further parts are like those that are there, with numbers multiplied by factors in this interval."""


def of_other_list_lengths(point: Point, rng: np.random.Generator) -> Iterator[tuple[Point, ...]]:
    """The point with lists, and tuples, of other lengths, for each of `LIST_LENGTHS`: in turn, with no other
    argument changed, and with arrays of that length changed, too.

    >>> point = Point(([1.0, 2.0, 3.0], np.ones(3)))
    >>> groups = of_other_list_lengths(point, np.random.default_rng(0))
    >>> [[len(x) for one in points for x in one.inputs] for points in groups]
    [[4, 3, 4, 4], [2, 3, 2, 2]]
    """
    varied = {i: x for i, x in enumerate(point.floats) if i not in point.constant and _may_be_longer(x)}
    for old in dict.fromkeys(map(len, varied.values())):
        lists = {i: x for i, x in varied.items() if len(x) == old}
        arrays = {i: x for i, x in enumerate(point.floats) if isinstance(x, np.ndarray)}
        beside = {i: x for i, x in arrays.items() if x.shape[:1] == (old,)}
        for new in (length for length in LIST_LENGTHS if length != old):
            longer = {i: _of_length(x, new, rng) for i, x in lists.items()}
            with_arrays = {i: np.array(_of_length([*x], new, rng)) for i, x in beside.items()} | longer
            several = (longer, with_arrays) if beside else (longer,)
            changed = (tuple(one.get(i, x) for i, x in enumerate(point.floats)) for one in several)
            words = f"with {new} elements in place of {old}"
            yield tuple(point.having(inputs, words) for inputs in changed)


def reads_all_parts(subject: Subject, point: Point, y: Any, rng: np.random.Generator) -> bool:
    """Whether the value of a function depends on the last part of each list and tuple: a function of `p[0]`
    and `p[1]` takes longer lists too, but they are not meant.
    """
    for i, x in enumerate(point.inputs):
        if i in point.constant or not _may_be_longer(x):
            continue
        changed = type(x)((*x[:-1], _like(x[-1], rng)))
        inputs = (*point.inputs[:i], changed, *point.inputs[i + 1 :])
        with without_warnings():
            try:
                moved = to_vec(value_of(subject.primal, inputs, point.kwargs))[0]
            except Exception:
                return False
        if np.array_equal(moved, to_vec(y)[0]):
            return False
    return True


def _may_be_longer(x: Any) -> bool:
    """Whether an argument is a list or tuple whose parts hold numbers and are all of one form."""
    if type(x) not in (list, tuple) or not len(x):
        return False
    return len(set(map(_form, x))) == 1 and all(to_vec(part)[0].size for part in x)


def _form(part: Any) -> tuple:
    return type(part), tuple(len(leaf.shape) for leaf in leaves(part))


def _of_length(x: Any, length: int, rng: np.random.Generator) -> Any:
    """The list with its first parts only, or with further ones like those that are there."""
    further = [_like(x[i % len(x)], rng) for i in range(len(x), length)]
    return type(x)((*x[:length], *further))


def _like(part: Any, rng: np.random.Generator) -> Any:
    """A part with numbers near those of this one, and another number for zero."""

    def moved(numbers: np.ndarray) -> np.ndarray:
        factors = rng.uniform(_SMALLEST, _LARGEST, numbers.shape)
        return few_digits(np.where(numbers == 0.0, factors, numbers * factors))

    (found,) = revalued((part,), moved)
    return found
