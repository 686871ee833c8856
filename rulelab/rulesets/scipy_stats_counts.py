"""Both rules of the methods of a discrete distribution of `scipy.stats`: slopes by its shapes, since counts
and their place are whole numbers.
"""

from __future__ import annotations

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.missing import NotImplementedTangent
from ..tangents.zeros import NoTangent
from .scipy_stats_rows import (
    bars_of,
    called,
    dot_of,
    masked,
    place,
    product,
    row_of,
    stated,
    support_of,
    valid,
    within,
)

TABLE = RuleTable("scipy_stats_counts")
NO = NoTangent()


def evaluated(name, distribution, k, loc, scale, a, b, /):
    """A method of a discrete distribution at `k`; without one its median."""
    return called(distribution, name, () if k is None else (k,), loc, None, a, b)


def by_shape(row, name):
    """The slopes by each shape, of the log-mass or of the distribution function."""
    return row.density if name == "pmf" or name == "logpmf" else row.moves


def missing(row, name, i):
    """What stands for a slope that there is not; counts, their place and medians have none."""
    if i < 3 or name in ("ppf", "isf", "median"):
        return NO
    slope = by_shape(row, name)[i - 3]
    return slope if isinstance(slope, (NotImplementedTangent, NoTangent)) else None


def slope_of(row, name, i, y, k, loc, a, b):
    """The slope of a method by a shape: outside the support 0, NaN where the value is NaN."""
    with np.errstate(all="ignore"):
        k = np.subtract(k, loc)
        if name == "pmf" or name == "logpmf":
            inside, point = place(row, np.where(np.equal(k, np.floor(k)), k, np.nan), a, b)
            slope = stated(row, row.density[i - 3], within(k, inside, point), a, b)
            slope = masked(slope, inside, point)
            return valid(y) * (slope if name == "logpmf" else product(slope, y))
        k = np.floor(k)
        below = np.less(k, support_of(row, a, b)[1])  # at the end and beyond nothing is left
        inside, point = place(row, np.where(below, k, np.nan), a, b)
        sign, logarithm = row.moves[i - 3]
        log = stated(row, logarithm, within(k, inside, point), a, b)
        slope = np.exp(log - y if name == "logcdf" or name == "logsf" else log)
        sign = -sign if name == "sf" or name == "logsf" else sign
        return valid(y) * masked(sign * slope, inside, point)


@TABLE.rrule(evaluated, leading=7)
def evaluated_rrule(name, distribution, k, loc, scale, a, b, /):
    row, y = row_of(distribution), evaluated(name, distribution, k, loc, scale, a, b)

    def count_pullback(y_bar):
        def slope(i):
            return slope_of(row, name, i, y, k, loc, a, b)

        return NO, NO, NO, *bars_of(slope, lambda i: missing(row, name, i), (k, loc, None, a, b), y_bar)

    return y, count_pullback


@TABLE.frule(evaluated)
def evaluated_frule(tangents, name, distribution, k, loc, scale, a, b, /):
    y = evaluated(name, distribution, k, loc, scale, a, b)
    return y, tangent_of(tangents[3:], name, distribution, y, k, loc, scale, a, b)


def tangent_of(dots, name, distribution, y, k, loc, scale, a, b):
    """The tangent of what a method gave."""
    row = row_of(distribution)
    return dot_of(lambda i: slope_of(row, name, i, y, k, loc, a, b), lambda i: missing(row, name, i), dots, y)


TABLE.non_differentiable(by_shape, missing)
