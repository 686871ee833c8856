"""Whether a rule that is wrong for square matrices is intended for symmetric ones, if nothing says so."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..probing.closeness import Tolerance, closeness
from ..probing.forms import conformed, is_symmetric, symmetric_part
from ..probing.probes import Point, Probe

MOST_SQUARE = 4
"""Up to this many square matrices, all subsets are tried as the symmetric ones; of more, each one and all of
them.
"""
DRAWS = 3
"""The number of points with symmetric matrices at which the rule has to be right."""


def meant_symmetric(points: list[Point], look: Callable[[Point], Probe | None]) -> tuple[int, ...]:
    """The positions of the square matrices for which a rule is right in all cotangents if they are symmetric.
    Empty if it is wrong there too or cannot be called, and if it is right for other matrices as well, so that
    its mistake is a different one. `look` calls the rule at a point.
    """
    square = [i for i, x in enumerate(points[0].floats) if _is_square(x) and not points[0].symmetric(i)]
    if not square or _is_right(points[:DRAWS], (), look):
        return ()
    counts = range(1, len(square) + 1) if len(square) <= MOST_SQUARE else (1, len(square))
    for those in (those for count in counts for those in itertools.combinations(square, count)):
        if _is_right(points[:DRAWS], those, look):
            return those
    return ()


def shortened_matrices(point: Point) -> list[Point]:
    """The point with all square matrices one row shorter, and with all one column shorter. A function that
    takes both is not intended for symmetric matrices.
    """
    cuts = (slice(None, -1), slice(None)), (slice(None), slice(None, -1))
    inputs = [tuple(x[cut] if _is_square(x) else x for x in point.floats) for cut in cuts]
    free = dataclasses.replace(point, forms=())
    return [free.having(cut, "with matrices that are not square") for cut in inputs]


def _is_right(points: list[Point], those: tuple[int, ...], look: Callable[[Point], Probe | None]) -> bool:
    right = 0
    for point in points:
        probe = look(_as_symmetric(point, those))
        if probe is None:
            continue
        if probe.failure is not None or closeness(probe, Tolerance.of(probe), False).wrong.any():
            return False
        right += 1
    return right > 1


def _as_symmetric(point: Point, those: tuple[int, ...]) -> Point:
    inputs = tuple(_definite(x) if i in those else x for i, x in enumerate(point.floats))
    held = dict(enumerate(point.forms))
    forms = tuple("positive definite" if i in those else held.get(i) for i in range(len(inputs)))
    return dataclasses.replace(point, forms=forms).having(inputs, "with symmetric matrices")


def _definite(x: Any) -> Any:
    return conformed("positive definite", symmetric_part(x))


def is_symmetric_matrix(x: Any) -> bool:
    """Whether an argument is a square matrix of several rows that is exactly symmetric."""
    return _is_square(x) and is_symmetric(x)


def _is_square(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f" and 1 < x.shape[0] == x.shape[1]
