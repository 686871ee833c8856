"""Whether a function really takes arrays of other lengths, or only because a piece of length 1 happens to be
broadcast, and whether a rule that raises at them is to blame, since the lengths are guessed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..calling.plain_calls import value_of
from ..measuring.vectors import shape_of
from ..probing.probes import Point, Probe
from .refusals import is_about_shapes, is_raised_by


class _Watched(np.ndarray):
    """An array that records for each elementwise call whether a length of 1 is broadcast in it."""

    broadcasts: list[bool]

    def __array_finalize__(self, other: Any) -> None:
        self.broadcasts = getattr(other, "broadcasts", [])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and ufunc.signature is None:
            self.broadcasts.append(_is_broadcast([shape_of(x) for x in inputs]))
        kwargs = {name: _plain(x) for name, x in kwargs.items()}
        y = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        return _watched(y, self.broadcasts) if isinstance(y, np.ndarray) else y


def _is_broadcast(shapes: list[tuple[int, ...]]) -> bool:
    rank = max(map(len, shapes), default=0)
    there = [shape for shape in shapes if len(shape) == rank]
    return any(1 in lengths and len(set(lengths)) > 1 for lengths in zip(*there))


def _plain(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(_plain, x))
    return x.view(np.ndarray) if isinstance(x, _Watched) else x


def _watched(x: np.ndarray, broadcasts: list[bool]) -> _Watched:
    seen = x.view(_Watched)
    seen.broadcasts = broadcasts
    return seen


def _broadcasts(primal: Callable, point: Point) -> list[bool]:
    """Whether a length of 1 is broadcast, for each elementwise call of a function; empty where the function
    raises, as it may at a subclass of arrays.
    """
    noted: list[bool] = []
    arrays = [isinstance(x, np.ndarray) and x.dtype.kind in "fc" for x in point.floats]
    args = tuple(_watched(x.copy(), noted) if is_one else x for x, is_one in zip(point.floats, arrays))
    try:
        value_of(primal, args, point.kwargs)
    except Exception:
        return []
    return noted


def is_taken_by_accident(primal: Callable, point: Point, usual: Point) -> bool:
    """Whether a function takes the arrays of a point, of which none has a length of 1, since a piece of that
    length is broadcast which has the length of what it meets at the `usual` point.

    >>> def coupled(x, s):
    ...     return np.concatenate([x[: len(s)], x[len(s) :] * np.exp(s)])
    >>> usual = Point((np.ones(6), np.ones(3)))
    >>> points = [Point((np.ones(n), np.ones(m))) for n, m in ((4, 3), (4, 2))]
    >>> [is_taken_by_accident(coupled, point, usual) for point in points]
    [True, False]
    """
    shapes = [x.shape for x in point.floats if isinstance(x, np.ndarray)]
    if len(set(shapes)) < 2 or any(1 in shape for shape in shapes):
        return False
    there, before = _broadcasts(primal, point), _broadcasts(primal, usual)
    return len(there) == len(before) and any(here and not was for here, was in zip(there, before))


FEWEST = 2
"""At how many lengths a rule must be right before an exception at longer arrays counts as wrong: a rule right
at only one length may be written for that length.
"""


def raises_when_longer(probe: Probe, right: Iterable[Probe], own: Iterable[types.CodeType]) -> bool:
    """Whether a rule that is right for arrays of several lengths raises at longer ones because of their
    shapes or of an index, and not by a `raise` of its own that refuses them.
    """
    error = probe.failure
    if error is None or probe.spent or not (is_about_shapes(error) or type(error) is IndexError):
        return False
    if is_raised_by(error, frozenset(own)):
        return False
    mine = _lengths(probe.point)
    others = {_lengths(other.point) for other in right}
    return bool(mine) and len({one for one in others if _is_shorter(one, mine)}) >= FEWEST


def is_longer(point: Point, usual: Point) -> bool:
    """Whether the vectors of a point are longer than the usual ones, and ordered alike by length."""
    lengths = _lengths(point)
    return max(map(len, lengths), default=0) == 1 and _is_shorter(_lengths(usual), lengths)


Lengths = tuple[tuple[int, ...], ...]


def _lengths(point: Point) -> Lengths:
    return tuple(map(shape_of, point.floats)) if _has_arrays(point) else ()


def _has_arrays(point: Point) -> bool:
    return any(isinstance(x, np.ndarray) and x.ndim for x in point.floats)


def _is_shorter(one: Lengths, other: Lengths) -> bool:
    """Whether these arrays have as many axes as the others, no length larger, and lengths in the same
    order.
    """
    if list(map(len, one)) != list(map(len, other)):
        return False
    pairs = [pair for shapes in zip(one, other) for pair in zip(*shapes)]
    grows = all(1 < few <= many for few, many in pairs) and one != other
    return grows and all(
        np.sign(a - b) == np.sign(more_a - more_b) for a, more_a in pairs for b, more_b in pairs
    )
