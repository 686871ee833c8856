"""Kinds of arguments inferred from the cotangents that a rule returns: a list of cotangents means a list
argument, and a cotangent with more axes means an array argument with as many.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measuring.vectors import shape_of_answer
from ..reading.by_name import names_a_target
from ..reading.kinds import MATRICES, Kind, of_lengths
from ..reading.lists_read import sequence
from .guesser import Guesser, Kinds

_LENGTHS = (3, 4, 2)


def _parts(made: type, form: str, dims: tuple[str, ...] = ()) -> list[Kind]:
    """Lists or tuples of parts of this form, in several lengths."""
    return [sequence(made, [Kind(form, dims=dims)] * length) for length in _LENGTHS]


def _meant(made: type, form: str) -> list[Kind]:
    """The lists or tuples that may be intended where a rule returns a list or tuple of cotangents for an
    array of that form.
    """
    numbers = [Kind("list")] if made is list else _parts(tuple, "number")
    arrays = [*_parts(made, "vector", ("n",)), *_parts(made, "matrix", ("m", "n"))]
    return [*(numbers if form == "vector" else ()), *arrays]


def _rows_of(made: type, bar: Any) -> list[Kind]:
    """The lists of rows with as many numbers in each row as in the rows of the cotangent, if these are lists
    or tuples of one length.
    """
    rows = {(type(row), len(row)) if type(row) in (list, tuple) else (None, 0) for row in bar}
    inner, width = rows.pop() if len(rows) == 1 else (None, 0)
    if inner is None:
        return []
    return [sequence(made, [sequence(inner, [Kind("number")] * width)] * length) for length in _LENGTHS]


def _ragged(guesser: Guesser, kinds: Kinds, those: list[int]) -> list[Kind]:
    """Lists of vectors as long as those in the list that a rule returns for a matrix, where their lengths
    differ, like those of the rows of a triangle; for matrices of several numbers of rows.
    """
    if len(those) != 1 or kinds[those[0]].form not in MATRICES:
        return []
    found = []
    for number in range(len(_LENGTHS)):
        bars = guesser.answered(guesser.draw(kinds, number))
        rows = bars[those[0] + 1] if len(bars) > those[0] + 1 else ()
        lengths = [row.shape for row in rows if isinstance(row, np.ndarray)]
        if len(lengths) == len(rows) > 1 and len(set(lengths)) > 1 and all(len(one) == 1 for one in lengths):
            found.append(sequence(type(rows), [Kind("vector", dims=shape) for shape in lengths]))
    return list(dict.fromkeys(found))


def _one_longer(count: int) -> list[tuple[Kind, ...]]:
    """Kinds of lists of numbers, one of which has one element more than the others: a network has one more
    layer than gaps between layers.
    """
    usual = [Kind("list", dims=("n",))] * count
    return [(*usual[:i], Kind("list", dims=("n+1",)), *usual[i + 1 :]) for i in range(count)]


def _between(kind: Kind, low: float, high: float) -> Kind:
    """A list or tuple of numbers, or of arrays of numbers, in that interval."""
    parts = tuple((name, dataclasses.replace(part, low=low, high=high)) for name, part in kind.parts)
    return dataclasses.replace(kind, low=low, high=high, parts=parts)


def as_lists_answered(guesser: Guesser, kinds: Kinds) -> tuple[Kinds, ...]:
    """The kinds with lists or tuples for those arrays for which the rule returns a list or tuple of
    cotangents, in several lengths if there are several that function and rule take; else the kinds
    themselves.

    The gradient of an array cannot be a list, but a function that iterates over the rows of an array takes a
    list of them as well: that is what the author means.
    """
    if guesser.mode != "rrule":
        return (kinds,)
    bars = guesser.answered(guesser.drawn(kinds))[1 : len(kinds) + 1]
    those = [i for i, bar in enumerate(bars) if type(bar) in (list, tuple) and kinds[i].form in _ARRAYS]
    if not those or any(map(guesser.is_asked, those)):
        return (kinds,)
    forms = {i: "vector" if kinds[i].form == "vector" else "matrix" for i in those}
    rows = {i: _rows_of(type(bars[i]), bars[i]) for i in those}
    choices: list[tuple[Kind, ...]] = [(kind,) for kind in _ragged(guesser, kinds, those)]
    choices += zip(*(rows[i] or _meant(type(bars[i]), forms[i]) for i in those))
    if len(those) > 1 and all(type(bars[i]) is list and forms[i] == "vector" for i in those):
        choices += _one_longer(len(those))
    found = []
    for choice in choices:
        lists = dict(zip(those, choice))
        new = tuple(
            _between(lists[i], kind.low, kind.high) if i in lists else kind for i, kind in enumerate(kinds)
        )
        if not guesser.end.is_over() and guesser.takes(new) and guesser.rule_runs(guesser.drawn(new)):
            found.append(new)
            if len(found) == len(_LENGTHS) or new[those[0]].form == "list":
                break
    return tuple(found) or (kinds,)


def as_axes_answered(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds in which each array has as many axes as the cotangent that the rule returns for it, where
    that has more axes and the cotangents then have the right shapes; else the kinds themselves.

    A function that contracts a vector with the matrices of a stack may take a vector for the stack as well,
    one that compares rows with targets may take a vector for the targets, and one that adds a covariance may
    take a vector for it. Otherwise the argument is repeated along an axis, as a bias is, and the cotangent
    has that axis because the rule lacks a sum.
    """
    arrays = [i for i, kind in enumerate(kinds) if kind.form in _ARRAYS]
    if guesser.mode != "rrule" or any(map(guesser.is_asked, arrays)):
        return kinds
    args = guesser.drawn(kinds)
    answered = {i: shape for i, shape in enumerate(_shapes_answered(guesser, args)) if i in arrays and shape}
    more = {i: shape for i, shape in answered.items() if len(shape) > np.ndim(args[i])}
    squares = {i for i in more if kinds[i].dims and _is_added_to_a_square(np.shape(args[i]), more[i])}
    lacking = (_lacks_a_sum(guesser.names[i], np.shape(args[i]), more[i]) for i in more if i not in squares)
    if not more or any(lacking):
        return kinds
    shapes = {i: more.get(i, np.shape(args[i])) for i in arrays}
    new = _with_letters(kinds, args, shapes)
    if not guesser.takes(new):
        return kinds
    drawn = guesser.drawn(new)
    there = _shapes_answered(guesser, drawn)
    fits = all(shape in (None, np.shape(x)) for shape, x in zip(there, drawn))
    return new if there and fits else kinds


def _shapes_answered(guesser: Guesser, args: tuple) -> list[tuple[int, ...] | None]:
    """The shapes of the cotangents of some arguments; none where the rule returns no answer."""
    return [*map(shape_of_answer, guesser.answered(args)[1 : len(args) + 1])]


def _is_added_to_a_square(own: tuple[int, ...], there: tuple[int, ...]) -> bool:
    """Whether the cotangent of a vector is a square matrix, as that of a covariance that is added to another
    one: a vector is hardly added to each row of a matrix that is always square.
    """
    return len(own) == 1 and there == own * 2


def _lacks_a_sum(name: str, own: tuple[int, ...], there: tuple[int, ...]) -> bool:
    """Whether a cotangent ends with the axes of its argument after further ones, as where the argument is
    repeated along those and the rule lacks the sum.
    """
    return there[-len(own) :] == own and not names_a_target(name)


def _with_letters(kinds: Kinds, args: tuple, shapes: Mapping[int, tuple[int, ...]]) -> Kinds:
    """The kinds with letters for the lengths of some arrays: the letter that one of them already has for that
    length, and else a new one.
    """
    pairs = (pair for i in shapes for pair in zip(np.shape(args[i]), kinds[i].dims))
    known = {n: letter for n, letter in pairs if isinstance(letter, str)}
    others = (letter for letter in _LETTERS if letter not in known.values())
    lengths = {n: known.get(n) or next(others) for n in sorted({n for s in shapes.values() for n in s})}
    new = list(kinds)
    for i, shape in shapes.items():
        dims = tuple(lengths[n] for n in shape)
        if len(shape) > np.ndim(args[i]):
            new[i] = of_lengths(dims)
        elif not kinds[i].dims:
            new[i] = dataclasses.replace(kinds[i], dims=dims)
    return tuple(new)


_LETTERS = "nmpqrstuvwabcdefgh"
_ARRAYS = ("vector", *MATRICES)
