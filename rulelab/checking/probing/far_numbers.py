"""Places at which a rule may have no number: single numbers exactly zero or one, or so large that an
exponential overflows although the function does not: `np.exp(x) / (1 + np.exp(x))` is nan at 800.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...ad.reverse import pullback
from ..calling.subjects import Subject
from ..measuring.vectors import to_vec
from .perturb import fresh, revalued
from .probes import Point, reverse_answer, tangents_of, varied_inputs, without_warnings

FAR_NUMBERS = (800.0, -1000.0, 5000.0)
"""How far an argument is moved: beyond where `np.exp` and `10 ** (x / 10)` overflow."""
MOST_ARGUMENTS = 4
"""How many arguments are moved that far."""
MOST_PAIRS = 6
"""How many pairs of arguments are made equal."""
ONE_BY_ONE = 3
"""How many of the first numbers of an array are moved one by one, besides the last."""


def places(
    point: Point, marks: Iterable[float], intervals: Mapping[int, tuple[float, float]]
) -> Iterator[tuple[int, Point]]:
    """Points at which one number of an argument, or all of them, are exactly at one of some marks inside the
    interval of the argument; each with the position of the argument.

    >>> [p.inputs for _, p in places(Point((2.0, 3.0)), [0.0], {1: (0.0, np.inf)})]
    [(0.0, 3.0)]
    """
    for i in _moved(point):
        low, high = intervals.get(i, (-np.inf, np.inf))
        for mark in marks:
            for these in _numbers_of(point.inputs[i]) if low < mark < high else ():
                yield i, point.having(_with(point, i, these, mark, by=0.0), f"exactly {mark:g}")


def far_points(point: Point, intervals: Mapping[int, tuple[float, float]]) -> Iterator[tuple[int, Point]]:
    """Points at which the numbers of one of the first arguments are moved far away, together and one by one,
    as long as they stay inside its interval; each with the position of the argument.
    """
    for i in _moved(point)[:MOST_ARGUMENTS]:
        low, high = intervals.get(i, (-np.inf, np.inf))
        for far in FAR_NUMBERS:
            for these in _numbers_of(point.inputs[i]):
                inputs = _with(point, i, these, far, by=1.0)
                numbers = to_vec(inputs[i])[0]
                if np.all((low < numbers) & (numbers < high)):
                    yield i, point.moved(inputs, "far away", far=True)


_FAR_FROM_USUAL = 100.0
"""How many times as large a number is that is far away for an argument: a thickness of 24,000 metres."""


def equal_pairs(point: Point) -> Iterator[Point]:
    """Points at which one argument equals another, for the first pairs of numbers or of arrays of one shape.

    >>> [p.inputs for p in equal_pairs(Point((2.0, 3.0, 5)))]
    [(2.0, 2.0, 5)]
    """
    pairs = itertools.combinations(_moved(point), 2)
    alike = ((i, j) for i, j in pairs if np.shape(point.inputs[i]) == np.shape(point.inputs[j]))
    for i, j in itertools.islice(alike, MOST_PAIRS):
        inputs = tuple(point.inputs[i] if k == j else x for k, x in enumerate(point.inputs))
        given, usual = (float(np.max(np.abs(point.inputs[k]))) for k in (i, j))
        yield point.having(fresh(inputs), "all equal", far=given > _FAR_FROM_USUAL * max(usual, 1.0))


def _moved(point: Point) -> list[int]:
    return [i for i, x in enumerate(point.inputs) if i not in point.constant and _is_of_floats(x)]


def _numbers_of(x: Any) -> list[slice]:
    """Slices for all numbers of an argument, for each of the first few, and for the last."""
    size = to_vec(x)[0].size
    single = sorted({*range(min(size, ONE_BY_ONE)), size - 1}) if size > 1 else []
    return [slice(None), *(slice(k, k + 1) for k in single)]


def _with(point: Point, i: int, these: slice, number: float, by: float) -> tuple:
    """The inputs of a point, with some numbers of one multiplied by `by` and then moved by `number`."""

    def moved(vector: np.ndarray) -> np.ndarray:
        found = vector.copy()
        found[these] = by * found[these] + number
        return found

    return (*point.inputs[:i], *revalued(point.inputs[i : i + 1], moved), *point.inputs[i + 1 :])


def _is_of_floats(x: Any) -> bool:
    return isinstance(x, float) or isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size > 0


def has_no_number(subject: Subject, point: Point, y: Any) -> bool:
    """Whether a rule has nan or infinity in its value, or in its answer to one cotangent or tangent, at a
    point with the value `y`, or raises ZeroDivisionError. Any other error is a different matter.
    """
    try:
        return not np.all(np.isfinite(_numbers_at(subject, point, y)))
    except ZeroDivisionError:
        return True
    except Exception:
        return False


def has_none_by_its_steps(subject: Subject, point: Point, y: Any) -> bool:
    """Whether differentiating the function step by step gives no number wherever its rule has none, as for
    `np.sqrt(np.sum(x * x)) ** 3` at zeros: each step except the root has a slope.
    """
    try:
        rule, steps = _numbers_at(subject, point, y), _numbers_at(_by_its_steps(subject), point, y)
    except Exception:
        return False
    return rule.shape == steps.shape and bool(np.all(np.isfinite(rule) | ~np.isfinite(steps)))


def has_numbers_by_its_steps(subject: Subject, point: Point, y: Any) -> bool:
    """Whether differentiating the function step by step gives only finite numbers at a point, so that a
    derivative exists.
    """
    try:
        return bool(np.all(np.isfinite(_numbers_at(_by_its_steps(subject), point, y))))
    except Exception:
        return False


def _by_its_steps(subject: Subject) -> Subject:
    """The function without its rule, which belongs to the object `f`; TypeError if there is no code to
    differentiate.
    """
    f = subject.primal
    if subject.reverse is None or not isinstance(f, types.FunctionType):
        raise TypeError(f"{subject.name} has no steps to follow")
    without = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    without.__kwdefaults__ = f.__kwdefaults__
    return dataclasses.replace(subject, reverse=partial(pullback, without))


def _numbers_at(subject: Subject, point: Point, y: Any) -> np.ndarray:
    """The answer of a rule to one cotangent or tangent, and its value."""
    kwargs = copy.deepcopy(dict(point.kwargs))
    with without_warnings():
        if subject.reverse is not None:
            value, back = subject.reverse(*fresh(point.inputs), **kwargs)
            answer = reverse_answer(back, y, np.ones(to_vec(y)[0].size), point)
        else:
            assert subject.forward is not None
            seed = np.ones(to_vec(varied_inputs(point.floats, point))[0].size)
            value, y_dot = subject.forward(tangents_of(point, seed), *fresh(point.inputs), **kwargs)
            answer = to_vec(y_dot)[0]
        return np.concatenate([answer, to_vec(value)[0]])


def warns_of_floats(f: Callable, inputs: tuple, kwargs: Mapping[str, Any]) -> bool:
    """Whether a function overflows, divides by zero or has an invalid operation during a call, or raises."""
    heard: list[str] = []
    with np.errstate(over="call", divide="call", invalid="call", call=lambda kind, _: heard.append(kind)):
        try:
            f(*fresh(inputs), **copy.deepcopy(dict(kwargs)))
        except Exception:
            return True
    return bool(heard)
