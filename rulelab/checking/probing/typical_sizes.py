"""How large a function's values and slopes are at ordinary points, for each part of its value. This shows
which digits are lost at other points. A part that is small beside others, such as an energy in joules beside
a frequency in hertz, has rounding errors of its own size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..measuring.vectors import Leaf, to_vec
from .closeness import Closeness, by_column, most, sizes_of, value_sizes
from .probes import Point, Truth, varied_inputs


@dataclass(frozen=True)
class TypicalSizes:
    """The largest slope at a point of each part of the value with respect to each input, where "" stands for
    all parts or all inputs; and the sizes of the inputs and of the parts of the value.
    """

    slopes: dict[tuple[str, str], float]
    inputs: dict[str, float]
    values: dict[str, float]

    @property
    def value(self) -> float:
        """The size of the whole value."""
        return max(self.values.values(), default=0.0)

    @property
    def largest(self) -> float:
        """The largest of all numbers at the point."""
        return max(self.value, *self.inputs.values(), 0.0)


def typical_sizes_at(point: Point, truth: Truth) -> TypicalSizes:
    """The sizes at a point where the slopes of the function were measured."""
    slopes = np.abs(np.where(truth.slopes.known(), truth.slopes.value, 0.0))
    by_input = {"": slice(None), **_blocks(truth.inputs if truth.whole else ())}
    by_output = {"": slice(None), **_blocks(truth.outputs)}
    largest = {
        (part, name): float(slopes[rows, columns].max(initial=0.0))
        for part, rows in by_output.items()
        for name, columns in by_input.items()
    }
    inputs = sizes_of(truth.inputs, to_vec(varied_inputs(point.floats, point))[0])
    return TypicalSizes(largest, inputs, value_sizes(truth))


def _blocks(leaves: tuple[Leaf, ...]) -> dict[str, slice]:
    return {leaf.name: slice(leaf.start, leaf.stop) for leaf in leaves}


def usual_slopes(noted: list[TypicalSizes], truth: Truth, compared: Closeness, forward: bool) -> np.ndarray:
    """The largest answer, to each seed and for each column, that slopes at these points can give."""

    def slope(part: str, name: str) -> float:
        is_noted = any((part, "") in one.slopes for one in noted)
        found = (one.slopes.get((part if is_noted else "", name), 0.0) for one in noted)
        return max(found, default=0.0)

    if forward:
        return most(compared.seeds) * by_column(compared.columns, lambda name: slope(name, ""))
    return _by_parts(truth, compared, slope)


def slopes_of_values(
    noted: list[TypicalSizes], truth: Truth, compared: Closeness, forward: bool
) -> np.ndarray:
    """The same for slopes estimated as the largest value at these points divided by the size of the column's
    input. If a function is flat at all points that were given, no other estimate is known.
    """
    values: dict[str, float] = {}
    inputs: dict[str, float] = {}
    for one in noted:
        values |= {name: max(size, values.get(name, 0.0)) for name, size in one.values.items()}
        inputs |= {name: max(size, inputs.get(name, 0.0)) for name, size in one.inputs.items()}
    largest, smallest = max(values.values(), default=0.0), min(filter(None, inputs.values()), default=0.0)

    def slope(part: str, name: str) -> float:
        size = inputs.get(name, 0.0) if name else smallest
        return values.get(part, largest) / size if size else 0.0

    if forward:
        return most(compared.seeds) * by_column(compared.columns, lambda name: slope(name, ""))
    return _by_parts(truth, compared, slope)


def _by_parts(truth: Truth, compared: Closeness, slope: Callable[[str, str], float]) -> np.ndarray:
    """The largest answer, to each seed and for each column, that the slopes of one part of the value can
    give.
    """

    def of_column(part: str, name: str) -> float:
        return slope(part, name if compared.whole else "")

    largest = np.zeros(compared.found.shape)
    for part in truth.outputs:
        slopes = by_column(compared.columns, partial(of_column, part.name))
        largest = np.maximum(largest, most(compared.seeds[:, part.start : part.stop]) * slopes)
    return largest
