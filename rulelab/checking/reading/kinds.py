"""Kinds of arguments, and the words for them in a domain."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...errors import RuleLabError, an
from ...nearest import did_you_mean

Lengths = tuple[int | str, ...]
"""The lengths of an array: numbers, and letters for lengths that are equal wherever the same letter is
used.
"""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A family of arguments to draw from: their form, and the interval that contains their numbers.

    Attributes
    ----------
    form : str
        "number", "vector", "matrix", "square", "symmetric", "positive definite", "integer", "list",
        "indices", "mask", "flags" (a matrix of booleans), "axis", "option" or "object".
    low, high : float
        Numbers lie strictly between the two; a mask from -1 to 1 holds exactly these two.
    dtype : str
        The dtype of arrays.
    is_asked : bool
        Whether the caller asked for the form.
    dims : tuple of int or str
        The lengths, if given: numbers, letters that mean the same in all arguments, products (`m*n`, `4*n`)
        or sums (`m+n`). Indices (n, m) are n indices below m, or from 1 to m where `low` is 0.5, and
        (n, 2, m) are n pairs of different indices; an integer (m) is that length.
    made : type or None
        The class of an object, which may be dict, list or tuple.
    parts : tuple of (str, Kind)
        The parts of an object by their names; those of a list are numbered.
    options : tuple
        The values of an option; the first is drawn, and the others are tried besides.
    """

    form: str = "number"
    low: float = -math.inf
    high: float = math.inf
    dtype: str = "float64"
    is_asked: bool = dataclasses.field(default=False, compare=False)
    dims: tuple[int | str, ...] = ()
    made: type | None = None
    parts: tuple[tuple[str, Kind], ...] = ()
    options: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.made is not None:
            within = f" of {self._parts_in_words()}" if self.made in (list, tuple) else ""
            return an(self.made.__name__) + within
        if self.form == "option":
            return " or ".join(map(repr, self.options))
        inside = _interval_words(self.low, self.high) if self.form != "indices" else _bound_words(self.high)
        if self.form == "mask" and self.low == -1.0:
            return "a vector of -1 and 1"
        plain = {
            "number": "a number", "integer": "an integer", "axis": "an axis", "list": "a list of numbers",
            "array": "an array", "mask": "a vector of booleans",
            "flags": "a matrix of booleans",
            "columns": "a vector as long as a row of the matrix",
            "rows": "a vector as long as a column of the matrix",
            "indices": "a vector of counts" if self.is_of_counts
            else "an array of indices" if len(self.dims) > 2 else "a vector of indices",
        }  # fmt: skip
        what = plain.get(self.form, an(self.form) + ("" if "matrix" in self.form else _noun(self.form)))
        if self.form in MATRICES and len(self.dims) > 2:
            what = "an array of square matrices"
        word = "complex " if self.dtype.startswith("complex") else ""
        if self.form in MATRICES and self.dtype == "int64":
            inside = f"{inside}, of whole numbers"
        lengths = f" ({', '.join(map(str, lengths_of_axes(self)))})" if self.dims else ""
        if self.form == "indices" and self.dims:
            inside = f", at most {self.dims[-1]}" if self.is_of_counts else f", below {self.dims[-1]}"
        return f"{what.replace('a ', f'a {word}', 1)}{lengths}{inside}"

    @property
    def is_of_counts(self) -> bool:
        """Whether indices are counts, none of which is zero: their interval begins at 0.5."""
        return self.form == "indices" and 0.0 < self.low < 1.0

    def _parts_in_words(self) -> str:
        parts = [part for _, part in self.parts]
        made = next((part.made for part in parts), None)
        if made in (list, tuple):
            return f"{made.__name__}s"
        if made is not None:
            return f"{made.__name__} objects"
        held = dict.fromkeys("numbers" if part.form in _NUMBERS else "arrays" for part in parts)
        return " and ".join(sorted(held, reverse=True)) or "arrays"


_NUMBERS = ("number", "integer")


def _noun(form: str) -> str:
    return "" if form == "vector" else " matrix"


def _interval_words(low: float, high: float) -> str:
    if low == -math.inf and high == math.inf:
        return ""
    if (low, high) == (0.0, math.inf):
        return ", positive"
    if high == math.inf:
        return f", above {low:g}"
    return f", below {high:g}" if low == -math.inf else f", between {low:g} and {high:g}"


def _bound_words(high: float) -> str:
    return f" below {high:g}" if 2 <= high < math.inf else ""


INTERVALS = {
    "any": (-math.inf, math.inf),
    "real": (-math.inf, math.inf),
    "positive": (0.0, math.inf),
    "negative": (-math.inf, 0.0),
    "unit": (0.0, 1.0),
    "probability": (0.0, 1.0),
}
AS_LIST = "list"
"""The dtype of indices given as a Python list."""
AS_ROWS = "rows"
"""The length of an array with one element for each row of a matrix."""
FORMS = ("number", "vector", "matrix", "square", "symmetric", "positive definite", "integer", "list")


class DomainError(RuleLabError):
    """A domain that a check cannot draw from."""


def kind_named(words: str | tuple[float, float] | Kind) -> Kind:
    """The kind that words such as "positive", "positive vector", "complex matrix" or `(0, 1)` mean.

    Lengths may follow a form: "vector (4)", "matrix (m, n)"; a letter is one length in all arguments, and
    there may be sums and multiples of them: "matrix (4m, m + n)".

    >>> str(kind_named("positive definite")), str(kind_named((0, 1)))
    ('a positive definite matrix', 'a number, between 0 and 1')
    >>> str(kind_named("positive matrix (m, 2)"))
    'a matrix (m, 2), positive'
    """
    if isinstance(words, Kind):
        return words
    if isinstance(words, tuple) and len(words) == 2:
        low, high = float(words[0]), float(words[1])
        if not low < high:
            raise DomainError(f"a domain must be (low, high) with low < high, not {words!r}")
        return Kind(low=low, high=high)
    if not isinstance(words, str):
        raise DomainError(f"a domain must be a word or (low, high), not {words!r}", fixes=_known_domains())
    rest, kind = " ".join(words.split()), Kind()
    rest, dims = _without_lengths(rest)
    for ending in ("positive definite matrix", "positive definite"):
        if rest.endswith(ending):
            kind = dataclasses.replace(kind, form="positive definite", is_asked=True)
            rest = rest[: -len(ending)]
    for word in rest.split():
        if word in INTERVALS:
            low, high = INTERVALS[word]
            kind = dataclasses.replace(kind, low=low, high=high)
        elif word == "complex":
            kind = dataclasses.replace(kind, dtype="complex128")
        elif word in FORMS:
            if word != "matrix" or kind.form not in ("square", "symmetric"):
                kind = dataclasses.replace(kind, form=word, is_asked=True)
        else:
            near = did_you_mean(word, [*INTERVALS, "complex", *FORMS])
            which = "" if word == words else f": {word!r} is not known"
            raise DomainError(f"{words!r} is not a domain{which}{near}", fixes=_known_domains())
    return _of_lengths(kind, dims, words)


_LENGTHS = re.compile(r"(.*?[a-z])\s*\(([\w\s,+*]*)\)$")


def _without_lengths(words: str) -> tuple[str, tuple[int | str, ...]]:
    """Words without the lengths in parentheses after them, and these lengths."""
    found = _LENGTHS.fullmatch(words)
    if found is None:
        return words, ()
    return found[1], lengths_in(found[2])


def lengths_in(inside: str) -> tuple[int | str, ...]:
    """The lengths between parentheses: numbers, words for other lengths, and their sums and multiples.

    >>> lengths_in("n, 3")
    ('n', 3)
    >>> lengths_in("4m, d + m")
    ('4*m', 'd+m')
    """
    spelled = _AROUND.sub(r"\1", inside)
    words = (_MULTIPLE.sub(r"\1*\2", word.strip()) for word in spelled.split(","))
    return tuple(int(word) if word.isdigit() else word for word in words if word)


_AROUND = re.compile(r" *([+*]) *")
_MULTIPLE = re.compile(r"(?<!\w)(\d+) ?\*?([A-Za-z]\w*)")
_OF_WORDS = re.compile(r"\d+|(?:\d+\*)?[A-Za-z]\w*(?:[+*](?:\d+|[A-Za-z]\w*))*")


def are_lengths(words: Iterable[str]) -> bool:
    """Whether all words are numbers, words, or sums and multiples of words."""
    return all(map(_OF_WORDS.fullmatch, words))


def _of_lengths(kind: Kind, dims: tuple[int | str, ...], words: str) -> Kind:
    """The kind with these lengths; DomainError if it does not have that many axes."""
    square = kind.form in ("square", "symmetric", "positive definite")
    axes = {"vector": 1, "list": 1, "matrix": 2}.get(kind.form, 2 if square else 0)
    if square and len(dims) == 1:
        dims = (*dims, *dims)
    if not dims:
        return kind
    fit = len(dims) == axes and are_lengths(map(str, dims))
    if not fit or (square and dims[0] != dims[1]):
        fixes = ('say "vector (n)", "matrix (m, n)", "symmetric (n)" or numbers: "vector (4)"',)
        raise DomainError(f"{words!r} is not a domain: {kind} does not have these lengths", fixes=fixes)
    return dataclasses.replace(kind, dims=dims)


def _known_domains() -> tuple[str, ...]:
    known = ", ".join([*INTERVALS, "complex", *FORMS])
    return (f"use (low, high), or some of these words: {known}; lengths may follow: matrix (m, n)",)


def is_square(kind: Kind) -> bool:
    """Whether a kind is of matrices with as many rows as columns and no other property."""
    return kind.form == "square" or kind.form == "matrix" and len(set(kind.dims)) == 1


def dims_of(kind: Kind) -> Iterator[int | str]:
    """The lengths of a kind and of its parts."""
    yield from kind.dims
    for _, part in kind.parts:
        yield from dims_of(part)


def of_lengths(dims: Lengths) -> Kind:
    """A number, a vector, a matrix, or an array with more axes, of these lengths.

    >>> [str(of_lengths(dims)) for dims in ((), ("n",), (3, "n"), ("n", "c", "h", "w"))]
    ['a number', 'a vector (n)', 'a matrix (3, n)', 'an array (n, c, h, w)']
    """
    return Kind(("number", "vector", "matrix", "array")[min(len(dims), 3)], dims=dims)


def lengths_of_axes(kind: Kind) -> Lengths:
    """The lengths of the axes of an array, without the bound of indices.

    >>> lengths_of_axes(Kind("indices", dims=("m", 3, "n")))
    ('m', 3)
    """
    return kind.dims[:-1] if kind.form == "indices" else kind.dims


def throughout(kind: Kind, changed: Callable[[Kind], Kind]) -> Kind:
    """The kind with `changed` applied to all of its parts, innermost first, and to itself.

    >>> pair = Kind("object", made=tuple, parts=(("0", Kind("vector", dims=("n",))), ("1", Kind())))
    >>> longer = throughout(pair, lambda one: dataclasses.replace(one, dims=("m",) * len(one.dims)))
    >>> [str(part) for _, part in longer.parts]
    ['a vector (m)', 'a number']
    """
    parts = tuple((name, throughout(part, changed)) for name, part in kind.parts)
    return changed(dataclasses.replace(kind, parts=parts))


SQUARE = ("square", "symmetric", "positive definite")
MATRICES = ("matrix", *SQUARE)
