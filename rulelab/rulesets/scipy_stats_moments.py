"""Both rules of the mean, the variance, its root and the entropy of a distribution of `scipy.stats`."""

from __future__ import annotations

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.missing import NotImplementedTangent
from ..tangents.zeros import NoTangent
from .scipy_stats_rows import bars_of, called, dot_of, row_of, valid

TABLE = RuleTable("scipy_stats_moments")
NO = NoTangent()


def evaluated(name, distribution, nothing, loc, scale, a, b, /):
    """The mean, `var`, `std` or `entropy` of a distribution."""
    return called(distribution, name, (), loc, scale, a, b)


def by_shape(row, name):
    """The slopes by each shape: those of the deviation are made of those of the variance."""
    return {"mean": row.mean, "var": row.var, "std": row.var, "entropy": row.entropy}[name]


def missing(row, name, i):
    """What stands for a slope that nobody has stated; None where there is one."""
    slope = by_shape(row, name)[i - 3] if i > 2 else None
    return slope if isinstance(slope, (NotImplementedTangent, NoTangent)) else None


def stated(row, slope, a, b):
    return slope(a) if len(row.shapes) == 1 else slope(a, b)


def slope_of(row, name, i, y, loc, scale, a, b):
    """The slope of a moment by place, scale (1, 2) and the shapes."""
    with np.errstate(all="ignore"):
        scale = 1.0 if scale is None else scale
        if i == 1:
            slope = 1.0 if name == "mean" else 0.0
        elif i == 2:
            slope = of_scale(name, y, loc, scale)
        else:
            slope = stated(row, by_shape(row, name)[i - 3], a, b)
            if name == "mean":
                slope = scale * slope
            elif name == "var":
                slope = scale * scale * slope
            elif name == "std":
                slope = scale * scale * slope / (2 * y)
        return valid(0.0 * y) * slope


def of_scale(name, y, loc, scale):
    """The slope by scale, from the moment itself."""
    if name == "mean":
        return np.subtract(y, loc) / scale
    if name == "var":
        return 2 * y / scale
    return np.divide(y, scale) if name == "std" else np.divide(1.0, scale)


@TABLE.rrule(evaluated, leading=7)
def evaluated_rrule(name, distribution, nothing, loc, scale, a, b, /):
    row, y = row_of(distribution), evaluated(name, distribution, nothing, loc, scale, a, b)

    def moment_pullback(y_bar):
        def slope(i):
            return slope_of(row, name, i, y, loc, scale, a, b)

        return NO, NO, NO, *bars_of(slope, lambda i: missing(row, name, i), (None, loc, scale, a, b), y_bar)

    return y, moment_pullback


@TABLE.frule(evaluated)
def evaluated_frule(tangents, name, distribution, nothing, loc, scale, a, b, /):
    y = evaluated(name, distribution, nothing, loc, scale, a, b)
    return y, tangent_of(tangents[3:], name, distribution, y, nothing, loc, scale, a, b)


def tangent_of(dots, name, distribution, y, nothing, loc, scale, a, b):
    """The tangent of a moment."""
    row = row_of(distribution)
    return dot_of(
        lambda i: slope_of(row, name, i, y, loc, scale, a, b), lambda i: missing(row, name, i), dots, y
    )


TABLE.non_differentiable(by_shape, missing)
