"""Numbers so far away that an exponential in a rule overflows, or nothing is left of it, where the function
itself has a value and a slope: `np.exp(x) / (1 + np.exp(x))` is nan at 800.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .perturb import fresh, revalued
from .probes import Point, moving, quiet, reverse_answer, tangents_of
from .subjects import Subject
from .vectors import to_vec

FAR_NUMBERS = (800.0, -1000.0, 5000.0)
"""How far an argument is moved: beyond where `np.exp` overflows, and `10 ** (x / 10)`."""
MOST_ARGUMENTS = 4
"""Arguments that are moved so far."""


def far_points(point: Point, intervals: Mapping[int, tuple[float, float]]) -> Iterator[Point]:
    """A point with the numbers of one argument moved far away, for each of the first that are floats in turn,
    where no interval keeps them at home.
    """
    floats = [i for i, x in enumerate(point.inputs) if i not in point.constant and _is_of_floats(x)]
    for i in floats[:MOST_ARGUMENTS]:
        low, high = intervals.get(i, (-np.inf, np.inf))
        for far in FAR_NUMBERS:
            moved = revalued(point.inputs[i : i + 1], partial(np.add, far))
            numbers = to_vec(moved)[0]
            if np.all((low < numbers) & (numbers < high)):
                inputs = (*point.inputs[:i], *moved, *point.inputs[i + 1 :])
                yield point.moved(inputs, "far away", far=True)


def _is_of_floats(x: Any) -> bool:
    return isinstance(x, float) or isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size > 0


def has_no_number(subject: Subject, point: Point, y: Any) -> bool:
    """Whether a rule has nan or infinity in its value, or in its answer to one cotangent or tangent, at a
    point with the value `y`; one that raises gives no such number.
    """
    kwargs = copy.deepcopy(dict(point.kwargs))
    with quiet():
        try:
            if subject.reverse is not None:
                value, back = subject.reverse(*fresh(point.inputs), **kwargs)
                answer = reverse_answer(back, y, np.ones(to_vec(y)[0].size), point)
            else:
                assert subject.forward is not None
                seed = np.ones(to_vec(moving(point.floats, point))[0].size)
                value, y_dot = subject.forward(tangents_of(point, seed), *fresh(point.inputs), **kwargs)
                answer = to_vec(y_dot)[0]
            return not (np.all(np.isfinite(answer)) and np.all(np.isfinite(to_vec(value)[0])))
        except Exception:
            return False
