"""Rules for the functions of the `statistics` module on lists, tuples and arrays of numbers.

The mean, variance and deviation have the derivatives of their formulas; a deviation of 0 has the derivative
0. A median is the middle item, or half of each of the two: ties go to the item that sorting puts there.
"""

import statistics

import numpy as np

from ..python_facts import STATISTICS
from ..rules.kinds import ANY, FLOAT
from ..rules.results import stated_by
from ..rules.rule_table import RuleTable
from ..tangents.zeros import NoTangent
from .kinks import past_kink
from .python_math import cotangent_of, entries, products_of_others, quotient, real_number

TABLE = RuleTable("python_statistics")

Sequence = list | tuple | np.ndarray
_DATA = [0.3, -1.2, 2.0, 0.9]
_LISTS = [(_DATA,), ((2.0, 0.5, 1.5),), (np.array([0.3, 1.7, 0.4]),)]
_POSITIVE = [([0.3, 1.2, 2.0],), ((2.0, 0.5),)]


def _state(target, slopes, points, is_size=False):
    """The rules of a function of one sequence; `slopes(out, xs)` gives the partial for each item.

    One that `is_size` is 0 where the items have no deviations, and has its kink there.
    """

    @TABLE.rrule(target, leading=1, points=points)
    def statistic_rrule(data: Sequence, /):
        out = target(data)

        def statistic_pullback(y_bar):
            xs = list(map(real_number, data))
            return NoTangent(), cotangent_of(data, [s * y_bar for s in slopes(out, xs)])

        return out, statistic_pullback

    @TABLE.frule(target)
    def statistic_frule(tangents, data: Sequence, /):
        out = target(data)
        xs, dots = [real_number(x) for x in data], entries(data, tangents[1])
        out_dot = _weighted(slopes(out, xs), dots)
        if is_size:
            for deviation, x_dot in zip(_deviations(xs), dots, strict=True):
                out_dot = past_kink(out_dot, out, deviation, x_dot)
        return out, out_dot


def _weighted(weights, dots):
    return sum([w * x_dot for w, x_dot in zip(weights, dots, strict=True)], 0.0)


def _deviations(xs):
    middle = sum(xs) / len(xs)
    return [x - middle for x in xs]


def _of_median(which):
    """The slopes of a median that takes the sorted items at `which(n)`."""

    def slopes(out, xs):
        order, taken = sorted(range(len(xs)), key=xs.__getitem__), which(len(xs))
        places = [order[position] for position in taken]
        return [1.0 / len(taken) if i in places else 0.0 for i in range(len(xs))]

    return slopes


def _of_harmonic_mean(out, xs):
    """`(out / x)**2 / n`, by the products of the others where an item is 0; NaN where several are."""
    if all(xs):
        return [out * out / (len(xs) * x * x) for x in xs]
    others = products_of_others(xs, 1.0)
    total = sum(others, 0.0)
    return [len(xs) * quotient(other, total) ** 2 for other in others]


_state(statistics.mean, lambda out, xs: [1.0 / len(xs)] * len(xs), _LISTS)
_state(statistics.variance, lambda out, xs: [2.0 * d / (len(xs) - 1) for d in _deviations(xs)], _LISTS)
_state(statistics.pvariance, lambda out, xs: [2.0 * d / len(xs) for d in _deviations(xs)], _LISTS)
_state(
    statistics.stdev,
    lambda out, xs: [d / (out * (len(xs) - 1)) if out else 0.0 for d in _deviations(xs)],
    _LISTS,
    is_size=True,
)
_state(
    statistics.pstdev,
    lambda out, xs: [d / (out * len(xs)) if out else 0.0 for d in _deviations(xs)],
    _LISTS,
    is_size=True,
)
_state(statistics.geometric_mean, lambda out, xs: [out / (len(xs) * x) for x in xs], _POSITIVE)
_state(statistics.harmonic_mean, _of_harmonic_mean, _POSITIVE)
_state(statistics.median, _of_median(lambda n: (n // 2,) if n % 2 else (n // 2 - 1, n // 2)), _LISTS)
_state(statistics.median_low, _of_median(lambda n: ((n - 1) // 2,)), _LISTS)
_state(statistics.median_high, _of_median(lambda n: (n // 2,)), _LISTS)


@TABLE.rrule(statistics.fmean, leading=2, points=[*_LISTS, (_DATA, [1.0, 2.0, 0.5, 1.5])])
def fmean_rrule(data: Sequence, weights=None, /):
    """The mean, or the weighted one `Σ w x / Σ w`: `w / Σ w` and `(x - mean) / Σ w`."""
    out = statistics.fmean(data, weights)

    def fmean_pullback(y_bar):
        xs = list(map(real_number, data))
        if weights is None:
            return NoTangent(), cotangent_of(data, [y_bar / len(xs)] * len(xs)), NoTangent()
        ws = list(map(real_number, weights))
        total = sum(ws)
        return (
            NoTangent(),
            cotangent_of(data, [w / total * y_bar for w in ws]),
            cotangent_of(weights, [(x - out) / total * y_bar for x in xs]),
        )

    return out, fmean_pullback


@TABLE.frule(statistics.fmean)
def fmean_frule(tangents, data: Sequence, weights=None, /):
    out, xs_dot = statistics.fmean(data, weights), entries(data, tangents[1])
    xs = [real_number(x) for x in data]
    if weights is None:
        return out, sum(xs_dot, 0.0) / len(xs_dot)
    ws = [real_number(w) for w in weights]
    ws_dot = entries(weights, tangents[2] if len(tangents) > 2 else NoTangent())
    moved = _weighted(ws, xs_dot) + _weighted([x - out for x in xs], ws_dot)
    return out, moved / sum(ws)


TABLE.reads_items(
    statistics.mean,
    statistics.fmean,
    statistics.variance,
    statistics.pvariance,
    statistics.stdev,
    statistics.pstdev,
    statistics.geometric_mean,
    statistics.harmonic_mean,
    statistics.median,
    statistics.median_low,
    statistics.median_high,
)


@stated_by(*STATISTICS)
def _of_floats(data, *others):
    """Of floats alone it is one; of others `statistics` chooses a class."""
    parts = data.parts()
    kinds = [data.each] if parts is None else [part.kind for part in parts]
    return FLOAT if not others and kinds and all(kind == FLOAT for kind in kinds) else ANY
