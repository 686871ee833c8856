"""Where the answer of a rule leaps between two points, at the border between two of its branches.

If the function has the same border, both sides are right; if its border is elsewhere, one side is wrong. Few
random points lie between two borders that are close to each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..calling.subjects import Subject
from ..measuring.vectors import leaves, to_vec
from .perturb import fresh
from .probes import Point, reverse_answer, without_warnings

BESIDE = "beside a border of the rule"
PARTS, HALVINGS = 16, 20
"""Into how many sections the line between two points is divided, and how often a section is halved."""
MOST = 4
"""How many sections, those with the largest changes first, are halved."""
LEAPS = 0.05
"""The fraction of a section's change that must remain after halving for it to be a leap; of a slope almost
nothing remains.
"""
APART = 0.01
"""The distance from a leap at which the rule is judged, as a fraction of the line."""
WAYS = 8
"""Along how many lines leaps are looked for; half of them are the longest ones."""


def beside_leaps(subject: Subject, one: Point, other: Point) -> Iterator[Point]:
    """Points on both sides of each leap of a rule's answer along the line from one point to another."""

    def at(part: float) -> Point:
        return between(one, other, part)

    for leap in leaps(lambda part: _answer(subject, at(part))):
        yield from (at(part) for part in (leap - APART, leap + APART) if 0 < part < 1)


def between(one: Point, other: Point, part: float) -> Point:
    """The point at a fraction of the line from one point to another."""
    return one.moved(tuple(_between(x, y, part) for x, y in zip(one.floats, other.floats)), BESIDE)


def point_pairs(points: list[Point]) -> list[tuple[Point, Point]]:
    """Pairs of points between which leaps are looked for: the first point of each form paired with the others
    of that form, some of the farthest pairs and then the first ones.
    """
    starts: list[Point] = []
    found: list[tuple[Point, Point]] = []
    for point in points:
        start = next((one for one in starts if are_a_pair(one, point)), None)
        if start is None:
            starts.append(point)
        else:
            found.append((start, point))
    far = sorted(found, key=lambda pair: -_apart(*(to_vec(one.floats)[0] for one in pair)))
    chosen = {id(pair): pair for pair in (*far[: WAYS // 2], *found)}
    return list(chosen.values())[:WAYS]


def are_a_pair(one: Point, other: Point) -> bool:
    """Whether all points between two points have valid arguments: the same shapes, and equal constants."""
    pairs = list(zip(one.floats, other.floats))
    if len(pairs) != len(one.floats) or len(pairs) != len(other.floats) or one.constant != other.constant:
        return False
    return all(_are_alike(x, y) for x, y in pairs)


def _are_alike(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return True
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.shape == y.shape and x.dtype == y.dtype and (x.dtype.kind in "fc" or np.array_equal(x, y))
    try:
        return type(x) is type(y) and (_shapes(x) == _shapes(y) if to_vec(x)[0].size else bool(x == y))
    except Exception:  # the comparison may be elementwise
        return False


def _shapes(x: Any) -> list[tuple[str, tuple[int, ...], str]]:
    return [(leaf.name, leaf.shape, leaf.dtype.kind) for leaf in leaves(x)]


def _between(x: Any, y: Any, part: float) -> Any:
    vector, back = to_vec(x)
    return back((1 - part) * vector + part * to_vec(y)[0]) if vector.size else x


def leaps(along: Callable[[float], np.ndarray]) -> list[float]:
    """The places between 0 and 1 at which the function `along` leaps.

    >>> leaps(lambda t: np.array([t**2 + (t > 0.3)]))[0].__format__(".5f")
    '0.30000'
    >>> leaps(lambda t: np.array([np.exp(9 * t)]))
    []
    """
    parts = np.linspace(0.0, 1.0, PARTS + 1)
    rows = [along(part) for part in parts]
    changes = np.array([_apart(a, b) for a, b in itertools.pairwise(rows)])
    found = []
    for i in np.argsort(-changes)[:MOST]:
        low, high, before, after = parts[i], parts[i + 1], rows[i], rows[i + 1]
        for _ in range(HALVINGS if changes[i] > 0 else 0):
            middle = (low + high) / 2
            row = along(middle)
            if _apart(before, row) >= _apart(row, after):
                high, after = middle, row
            else:
                low, before = middle, row
        if changes[i] > 0 and _apart(before, after) >= LEAPS * changes[i]:
            found.append(float(low + high) / 2)
    return found


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest change of a number; 0 if one of the two is no valid answer."""
    if one.shape != other.shape or not np.all(np.isfinite(one) & np.isfinite(other)):
        return 0.0
    return float(np.abs(one - other).max(initial=0.0))


def _answer(subject: Subject, point: Point) -> np.ndarray:
    """The rule's answer at a point to one cotangent whose elements all differ; nan if it raises."""
    try:
        with without_warnings():
            assert subject.reverse is not None
            y, back = subject.reverse(*fresh(point.floats), **dict(point.kwargs))
            return reverse_answer(back, y, np.linspace(0.5, 1.5, to_vec(y)[0].size), point)
    except Exception:
        return np.array([np.nan])
