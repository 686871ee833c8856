"""Random arguments of given kinds."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..reading.kinds import AS_LIST, AS_ROWS, SQUARE, Kind, dims_of
from .perturb import few_digits

SIZES = ((3, 2, 4), (2, 3, 5), (1, 4, 2), (4, 1, 3), (7, 2, 3))
"""(vectors, rows, columns) for the points of a check: the three always differ, so that every transpose is
noticed.
"""
MORE_LENGTHS = (5, 6, 8, 9)
"""The lengths of further letters in a domain, at each point."""
MANY = 5
"""The least number of elements if edges, triangles or the like join different ones."""

DRAWN_SCALES = (1.0, 1.0, 8.0, 0.125, 1.0, 64.0, 2.0**-6)


def draw_all(
    kinds: tuple[Kind, ...], rng: np.random.Generator, size: int = 0, scale: float = 1.0
) -> tuple[Any, ...]:
    """One argument of each kind; a letter in their lengths stands for the same number everywhere.

    >>> kinds = Kind("matrix", dims=("m", "n")), Kind("vector", dims=("n",))
    >>> A, x = draw_all(kinds, np.random.default_rng(1))
    >>> A.shape, x.shape
    ((3, 2), (2,))
    """
    said = [part for kind in kinds for d in dims_of(kind) for part in re.split(r"[*+]", str(d))]
    letters = dict.fromkeys(part for part in said if not part.isdigit() and part != AS_ROWS)
    lengths = dict(zip(letters, itertools.chain(SIZES[size % len(SIZES)], itertools.cycle(MORE_LENGTHS))))
    for kind in kinds:
        corners = joined_by(kind)
        if corners and isinstance(kind.dims[-1], str) and lengths[kind.dims[-1]] < corners:
            lengths[kind.dims[-1]] = max(MANY, corners)
    rows = SIZES[size % len(SIZES)][1]
    lengths[AS_ROWS] = max(2, rows) if any(kind.form in SQUARE for kind in kinds) else rows
    drawn = [draw(kind, rng, size, scale, lengths) for kind in kinds]
    drawn = _unlike_each_other(kinds, drawn)
    plain = [x for x, kind in zip(drawn, kinds) if kind.made is None]
    arrays = [x for x in plain if isinstance(x, (np.ndarray, list))]
    shortest = min([n for x in arrays for n in np.shape(x) if n], default=None)
    if shortest is None:
        return tuple(drawn)
    # A whole number may be a count of elements, so it does not exceed the shortest array.
    counts = [kind.form == "integer" and not kind.dims for kind in kinds]
    picks = [i for i, kind in enumerate(kinds) if counts[i] and kind.high < math.inf]  # indices
    if len(picks) > 1:  # all different
        for i, place in zip(picks, rng.permutation(len(picks)).tolist()):
            drawn[i] = place
    drawn = [min(x, shortest) if is_count else x for x, is_count in zip(drawn, counts)]
    labels = [kind.form == "indices" and len(kind.dims) < 2 and math.isinf(kind.high) for kind in kinds]
    groups = drawn[counts.index(True)] if sum(counts) == sum(labels) == 1 else 0
    if groups:  # none is empty; two groups or more, one of which has at least two elements
        least = min(len(x) for x, one in zip(drawn, labels) if one)
        groups = drawn[counts.index(True)] = min(max(groups, 2), max(2, least // 2), least)
        drawn = [rng.permutation(np.arange(len(x)) % groups) if one else x for x, one in zip(drawn, labels)]
    return tuple(drawn)


def draw(
    kind: Kind,
    rng: np.random.Generator,
    size: int = 0,
    scale: float = 1.0,
    lengths: Mapping[str, int] | None = None,
) -> Any:
    """One argument of a kind. Its numbers have eleven binary digits, so that they are exact in float32.

    >>> draw(Kind("vector"), np.random.default_rng(1)).shape
    (3,)
    """
    if kind.made is not None:
        parts = dict(kind.parts)
        if (kind.low, kind.high) != (-math.inf, math.inf):  # the interval applies to its parts
            parts = {n: _between(part, kind.low, kind.high) for n, part in kind.parts}
        drawn_parts = {name: draw(part, rng, size, scale, lengths) for name, part in parts.items()}
        if kind.made in (list, tuple):
            return kind.made(drawn_parts.values())
        return kind.made(**_with_other_places(parts, drawn_parts))
    if kind.form == "option":
        return kind.options[0]
    if kind.form == "indices" and kind.dtype == AS_LIST:
        return draw(dataclasses.replace(kind, dtype="int64"), rng, size, scale, lengths).tolist()
    vector, rows, columns = SIZES[size % len(SIZES)]
    shapes = {
        "vector": (vector,), "list": (vector,), "matrix": (rows, columns),
        "columns": (columns,), "rows": ((lengths or {}).get(AS_ROWS, rows),),
    }  # fmt: skip
    said = tuple(_length(d, lengths or {}, vector) for d in kind.dims)
    if kind.form == "axis":
        return int(rng.integers(-1, 2))
    if kind.form == "integer" and said:
        return said[0]
    if corners := joined_by(kind):
        return _joined(said, corners, kind.dims[1] == corners, rng)
    if kind.form == "indices" and len(said) > 1:
        first = int(kind.is_of_counts)
        return rng.integers(first, said[-1] + first, said[:-1])
    if kind.form == "integer":
        return int(rng.integers(*_ends_of_integers(kind)))
    if kind.form == "indices":
        places = int(kind.high) if 2 <= kind.high < math.inf else vector
        first = int(kind.is_of_counts)
        drawn = rng.integers(first, places, vector)
        drawn[-1] = drawn[0]  # an index that occurs twice shows whether contributions are added
        if vector > 1 and not drawn.any():
            drawn[:] = 1  # charges that are all zero are a special case
        if vector > 2 and (drawn == drawn[0]).all():
            # Equal indices are sorted, which would hide a mistake in sorting; the last place need not occur.
            drawn[1] = (drawn[1] + 1) % max(2, places - 1)
        return drawn
    if kind.form in ("mask", "flags"):
        flags = rng.random(said or (vector if kind.form == "mask" else (rows, columns))) < 0.5
        if kind.form == "mask" and flags.size > 2 and np.count_nonzero(flags) == 1:
            flags.flat[np.argmax(flags) - 1] = True  # a softmax of a single element is constant
        if kind.low != -1.0:
            return flags
        signs = np.where(flags, 1, -1)
        signs[-1:] = -signs[0] if signs.size > 1 else signs[-1:]  # both labels occur
        return signs
    if kind.form in SQUARE:
        n = said[-1] if said else max(2, rows)
        drawn = _numbers(kind, rng, said if len(said) > 2 else (n, n), scale)
        if kind.form == "square":
            return drawn + scale * n * np.eye(n)  # far from singular
        symmetric = (drawn + drawn.conj().T) / 2
        return symmetric if kind.form == "symmetric" else symmetric + 4 * n * scale * np.eye(n)
    drawn = _numbers(kind, rng, said or shapes.get(kind.form, ()), scale)
    if kind.form == "number":
        return drawn.item()
    return drawn.tolist() if kind.form == "list" else drawn


def _with_other_places(parts: Mapping[str, Kind], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an object, with whole numbers that all differ as far as possible, such as the two ends of
    a bond.
    """
    found, taken = dict(drawn), set[int]()
    for name, kind in parts.items():
        if kind.form == "integer" and not kind.dims and type(found[name]) is int:
            low, high = _ends_of_integers(kind)
            others = (low + (found[name] - low + step) % (high - low) for step in range(high - low))
            found[name] = next((other for other in others if other not in taken), found[name])
            taken.add(found[name])
    return found


def _unlike_each_other(kinds: Sequence[Kind], drawn: Sequence[Any]) -> list[Any]:
    """The arguments, with different whole numbers in two objects of one class as far as possible, so that
    confusing the objects is noticed.
    """
    found: list[Any] = []
    for kind, x in zip(kinds, drawn):
        alike = [y for one, y in zip(kinds, found) if one.made is kind.made]
        if alike and kind.made not in (None, list, tuple, dict):
            others, fields = dict(_other_numbers(kind, x, alike[-1])), {name for name, _ in kind.parts}
            x = kind.made(**{name: getattr(x, name, None) for name in fields} | others) if others else x
        found.append(x)
    return found


def _other_numbers(kind: Kind, x: Any, other: Any) -> Iterator[tuple[str, int]]:
    """The fields of an object in which another object has the same whole number, each with a different
    number.
    """
    for name, part in kind.parts:
        number = getattr(x, name, None)
        if part.form == "integer" and not part.dims and type(number) is int:
            low, high = _ends_of_integers(part)
            if high - low > 1 and number == getattr(other, name, None):
                yield name, low + (number - low + 1) % (high - low)


def _ends_of_integers(kind: Kind) -> tuple[int, int]:
    """The lowest whole number of a kind, and one more than the highest."""
    picks = math.isfinite(kind.low) and math.isfinite(kind.high)
    low, high = (int(kind.low), int(kind.high)) if picks else (1, 4)
    return low, max(high, low + 1)


def _between(kind: Kind, low: float, high: float) -> Kind:
    """The kind restricted to an interval; whole numbers, which are mostly indices, stay as they are."""
    is_whole = kind.form in ("integer", "indices", "mask", "flags", "axis", "option")
    return kind if is_whole else dataclasses.replace(kind, low=low, high=high)


def _length(said: int | str, lengths: Mapping[str, int], otherwise: int) -> int:
    """A length given as a number, a letter, a product (`m*n` for a flattened matrix, `4*n` for four
    concatenated vectors) or a sum (`m+n` where it must exceed `m`).
    """
    if isinstance(said, int):
        return said
    terms = (term.split("*") for term in said.split("+"))
    numbers = ([int(p) if p.isdigit() else lengths.get(p, otherwise) for p in term] for term in terms)
    return sum(map(math.prod, numbers))


def joined_by(kind: Kind) -> int:
    """How many elements each row or column of an array of indices joins: two for edges, three for triangles,
    0 for other indices.
    """
    corners = [d for d in kind.dims[:2] if isinstance(d, int)] if len(kind.dims) == 3 else []
    return corners[-1] if kind.form == "indices" and corners else 0


def _joined(said: tuple[int, ...], corners: int, in_rows: bool, rng: np.random.Generator) -> np.ndarray:
    """Rows or columns of indices of different elements, because the distance of an element from itself has no
    derivative. None are joined if there are too few elements.
    """
    count, size = said[0] if in_rows else said[1], said[-1]
    rows = [rng.permutation(size)[:corners] for _ in range(count if size >= corners else 0)]
    drawn = np.array(rows, int).reshape(-1, corners)
    return drawn if in_rows else drawn.T


def _numbers(kind: Kind, rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    real = _reals(kind, rng, shape, scale)
    if kind.dtype == "int64":
        return np.round(real).astype(np.int64)
    return real + 1j * _reals(kind, rng, shape, scale) if kind.dtype.startswith("complex") else real


def _reals(kind: Kind, rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    low, high = kind.low, kind.high
    if math.isfinite(low) and math.isfinite(high):
        drawn = low + (high - low) * rng.uniform(0.05, 0.95, shape)
    else:
        drawn = scale * rng.uniform(0.25, 2.5, shape)
        if math.isfinite(low):
            drawn = low + drawn
        elif math.isfinite(high):
            drawn = high - drawn
        else:
            drawn = drawn * rng.choice([-1.0, 1.0], shape)
    short = few_digits(drawn)
    return np.asarray(np.where((low < short) & (short < high), short, drawn))
