"""The points of a check with arrays in place of numbers, numbers in place of arrays, and vectors in place of
matrices, at which a rule that is right has to stay right; and with more or fewer arguments for `*xs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..measuring.vectors import shape_of
from ..probing.perturb import revalued
from ..probing.probes import Point

LENGTH = 3
"""The length of a vector that replaces a number if there are no arrays."""


def of_other_ranks(point: Point, origin: str, rng: np.random.Generator) -> Iterator[Point]:
    """The point with one float argument of another rank, with all of them, and with all but one: numbers for
    vectors, vectors for matrices, and for numbers vectors or arrays like those beside them.
    """
    inputs = point.floats
    moved = [i for i, x in enumerate(inputs) if _is_float(x) and i not in point.constant]
    if any(point.forms):
        return
    shapes = [shape_of(inputs[i]) for i in moved]
    largest = max(shapes, key=len, default=()) or (LENGTH,)
    fewer = {i: _first(inputs[i], shape) for i, shape in zip(moved, shapes) if shape}
    numbers = {i: inputs[i] for i, shape in zip(moved, shapes) if not shape}
    wider = dict.fromkeys((largest, largest[-1:]))
    more = [{i: x * rng.uniform(0.8, 1.2, shape) for i, x in numbers.items()} for shape in wider]
    wholes = [fewer, *more]
    alone = [{i: x} for kind in wholes for i, x in kind.items()]
    # A function of a total and of its parts takes all but one of its numbers as vectors.
    few = [kind for kind in wholes if 2 < len(kind) <= MOST_BUT_ONE]
    but_one = [{i: x for i, x in kind.items() if i != left} for kind in few for left in kind]
    seen = [tuple(shapes)]
    for changed in (*wholes, *alone, *but_one):
        others = tuple(changed.get(i, x) for i, x in enumerate(inputs))
        shapes_now = tuple(shape_of(others[i]) for i in moved)
        if shapes_now not in seen:
            seen.append(shapes_now)
            yield point.having(others, origin)


MOST_BUT_ONE = 4
"""Up to how many arguments all but one of them are given more or fewer axes."""
MORE = (2, 1, -1)
"""How many more arguments `*xs` gets."""


def of_other_counts(point: Point, fixed: int, origin: str, rng: np.random.Generator) -> Iterator[Point]:
    """The point with more, and with fewer, of the arguments after the `fixed` ones."""
    rest = point.inputs[fixed:]
    kinds = {(type(x), shape_of(x)) for x in rest}
    if len(kinds) != 1 or not _is_float(rest[-1]) or any(i >= fixed for i in point.constant):
        return
    for more in MORE:
        if point.like is not None or any(point.forms) or len(rest) + more < 1:
            return
        added = revalued(rest[-1:] * max(more, 0), lambda vector: vector * rng.uniform(0.8, 1.2, vector.size))
        inputs = (*point.inputs[: len(point.inputs) + min(more, 0)], *added)
        bounds = (*point.bounds[: len(inputs)], *(point.bounds[-1:] * max(more, 0)))
        yield point.having(inputs, origin, bounds=bounds, lengths=(), ordered=())


def _is_float(x: Any) -> bool:
    return type(x) is float or isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size > 0


def _first(x: np.ndarray, shape: tuple[int, ...]) -> Any:
    """The first element of an array along its first axis."""
    return float(x.flat[0]) if len(shape) == 1 else np.array(x[0])
