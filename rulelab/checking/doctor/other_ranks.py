"""The points of a check with arrays in the place of numbers, numbers in that of arrays, and vectors in that
of matrices: where a rule is right for these as it is, a correction has to leave it so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..probes import Point

LENGTH = 3
"""Of a vector in the place of a number, where there is no other one."""


def of_other_ranks(point: Point, origin: str, rng: np.random.Generator) -> Iterator[Point]:
    """The point with one float argument of another rank, and with all of them: numbers for vectors, vectors
    for matrices, and for numbers vectors, or arrays like those that stand beside them.
    """
    inputs = point.floats
    moved = [i for i, x in enumerate(inputs) if _is_float(x) and i not in point.constant]
    if any(point.forms):
        return
    shapes = [np.shape(inputs[i]) for i in moved]
    largest = max(shapes, key=len, default=()) or (LENGTH,)
    fewer = {i: _first(inputs[i], shape) for i, shape in zip(moved, shapes) if shape}
    numbers = {i: inputs[i] for i, shape in zip(moved, shapes) if not shape}
    wider = dict.fromkeys((largest, largest[-1:]))
    more = [{i: x * rng.uniform(0.8, 1.2, shape) for i, x in numbers.items()} for shape in wider]
    wholes = [fewer, *more]
    alone = [{i: x} for kind in wholes for i, x in kind.items()]
    seen = [tuple(shapes)]
    for changed in (*wholes, *alone):
        others = tuple(changed.get(i, x) for i, x in enumerate(inputs))
        shapes_now = tuple(np.shape(others[i]) for i in moved)
        if shapes_now not in seen:
            seen.append(shapes_now)
            yield point.having(others, origin)


def _is_float(x: Any) -> bool:
    return type(x) is float or isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size > 0


def _first(x: np.ndarray, shape: tuple[int, ...]) -> Any:
    """The first element of an array along its first axis."""
    return float(x.flat[0]) if len(shape) == 1 else np.array(x[0])
