"""Whether a rule that answers with another shape than that of an argument is intended for arrays of one
length, although nothing says so: whoever writes `np.zeros(3)` has points in space in mind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import RuleShapeError
from ..arguments.refusals import is_about_shapes
from ..measuring.vectors import shape_of, shape_of_answer
from ..probing.probes import Point, Probe


def shapes_meant(
    wrong: list[Probe], right: Iterable[Probe], is_written: Callable[[int], bool]
) -> dict[int, tuple[int, ...]]:
    """The shapes of arguments, by position, for which a rule is intended: it answers with these shapes where
    it is wrong, and at a point with these shapes it is right. Empty if there are none. `is_written` says
    whether a whole number is a literal in the text of the rule: a length that the rule computes, and which
    differs by chance, is its mistake.
    """
    if not wrong or not all(isinstance(probe.failure, RuleShapeError) and not probe.spent for probe in wrong):
        return {}
    each = [_answered_otherwise(probe) for probe in wrong]
    meant = {i: shape for answered in each for i, shape in answered.items()}
    if not all(answered and answered.items() <= meant.items() for answered in each):
        return {}
    if not all(is_written(length) for shape in meant.values() for length in shape):
        return {}
    return meant if any(_is_of(probe, meant) for probe in right) else {}


def misses_a_length(probe: Probe, right: Iterable[Probe]) -> bool:
    """Whether a rule that answers with another shape than that of an argument works for various lengths, so
    that the shape is its mistake: it is right at other points with the same shapes, or for several shapes of
    its only array. It is then not made for one length, as the rule of a polynomial is for its number of
    coefficients, nor for two lengths that go together. If there are indices, which say what is used, it
    suffices that it is right for the shape of that argument.
    """
    others = _answered_otherwise(probe) if isinstance(probe.failure, RuleShapeError) else {}
    if not others or probe.spent:
        return False
    given = _shapes(probe)
    shapes = {each for each in map(_shapes, right) if [*map(len, each)] == [*map(len, given)]}
    if any(isinstance(x, np.ndarray) and x.dtype.kind in "iu" for x in probe.point.inputs):
        return any(each[i] == given[i] for each in shapes for i in others)
    return given in shapes or len(shapes) > 1 and sum(map(bool, given)) == 1


def at_last_places(probe: Probe) -> Iterator[Point]:
    """The point with an index at the last element of each array for which a rule has returned a shorter
    cotangent. A rule that sizes its cotangent by the largest index is right there.
    """
    others = _answered_otherwise(probe) if isinstance(probe.failure, RuleShapeError) else {}
    for i, shape in others.items():
        last = np.shape(probe.point.floats[i])[0] - 1
        if shape[0] <= last:
            moved = (_with_first(x, last) for x in probe.point.floats)
            yield probe.point.having(tuple(moved), "at the last place")


def _with_first(x: Any, number: int) -> Any:
    """An array of whole numbers with its first number replaced; anything else unchanged."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iu" or not x.size:
        return x
    return np.concatenate([[number], x.ravel()[1:]]).astype(x.dtype).reshape(x.shape)


def only_length(right: Iterable[Probe], unanswered: Iterable[Probe]) -> int | None:
    """The only length of arrays for which a rule has an answer, if it raises because of shapes at two or more
    other lengths; otherwise None.
    """
    answered = {n for probe in right for n in _all_lengths(probe)}
    raising = (probe for probe in unanswered if probe.failure is not None and is_about_shapes(probe.failure))
    others = {n for probe in raising for n in _all_lengths(probe)}
    return answered.pop() if len(answered) == 1 and len(others - answered) > 1 else None


def _shapes(probe: Probe) -> tuple[tuple[int, ...], ...]:
    return tuple(x.shape if isinstance(x, np.ndarray) else () for x in probe.point.floats)


def _all_lengths(probe: Probe) -> Iterator[int]:
    for x in probe.point.floats:
        yield from x.shape if isinstance(x, np.ndarray) else ()


def _is_of(probe: Probe, shapes: dict[int, tuple[int, ...]]) -> bool:
    return all(shape_of(probe.point.floats[i]) == shape for i, shape in shapes.items())


def _answered_otherwise(probe: Probe) -> dict[int, tuple[int, ...]]:
    """The shapes of cotangents that have as many axes as their arguments but other lengths, by position."""
    inputs = probe.point.floats
    bars: tuple[Any, ...] = probe.raw if isinstance(probe.raw, tuple) else ()
    pairs = zip(inputs, bars[max(0, len(bars) - len(inputs)) :])
    shapes = {
        i: (x.shape, shape_of_answer(bar)) for i, (x, bar) in enumerate(pairs) if isinstance(x, np.ndarray)
    }
    return {i: bar for i, (x, bar) in shapes.items() if bar is not None and bar != x and len(bar) == len(x)}
