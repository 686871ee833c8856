"""How rules for the distributions of `scipy.stats` are stated: one row each, from which all methods come.

A row has the slopes of the standardised log-density, by its argument and by each shape parameter, and how a
quantile moves with each shape. From these come pdf, cdf, sf, their logarithms, ppf and isf, by the value, the
shapes, place and scale, in both modes. Values are SciPy's own, those of the density within slopes as well.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import by_missing, form_of
from ..tangents.missing import NotImplementedTangent
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk, unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .scipy_rows import without_slope

try:
    from scipy import stats
    from scipy.stats import _distn_infrastructure as infrastructure
except ImportError:
    # The modules of these rules can be imported all the same: no distribution has a row.
    stats = infrastructure = type("NoFunctions", (), {"__getattr__": lambda self, name: None})()

NO = NoTangent()
BY_SHAPE = without_slope("the shape parameter of a distribution function, of its inverse or of its draws")
BY_MOMENT = without_slope("the shape parameter of a moment or an entropy for which no formula is stated")


class Row(NamedTuple):
    """What is stated of one distribution, in standard form: place 0 and scale 1.

    `density` are the slopes of the log-density: by `z`, then by each shape; of a discrete one by the shapes.
    `moves` says how the quantile of a fixed probability moves with each shape. `rates` are the density over
    the distribution function, and over what is left, where that is simpler than their quotient. `spreads` are
    the slopes of the quantile by its probability, and by what is left, where the density at the quantile has
    too few digits.
    `mean`, `var` and `entropy` have slopes by each shape.
    """

    name: str
    instance: Any
    shapes: tuple
    support: Any
    density: tuple
    moves: tuple
    rates: tuple
    spreads: tuple
    mean: tuple
    var: tuple
    entropy: tuple
    draws: bool
    discrete: bool
    at: tuple
    note: str


class DistributionTable(RuleTable):
    """The rows of a family of distributions."""

    def __init__(self, name):
        super().__init__(name)
        self.rows = {}  # by name

    def row(
        self,
        name,
        *at,
        density,
        support=(-math.inf, math.inf),
        moves=(),
        rates=(None, None),
        spreads=(None, None),
        mean=(),
        var=(),
        entropy=(),
        draws=False,
        discrete=False,
        note="",
    ):
        """State a distribution; an older SciPy has not all of them.

        `at` has numbers to check it at: a tuple for the value, then one for each shape. `support` is a pair,
        or a function of the shapes that gives one. Draws move with the shapes as quantiles do if `draws` says
        so.
        """
        instance = getattr(stats, name, None)
        if instance is None:
            return
        shapes = tuple(instance.shapes.split(", ")) if instance.shapes else ()
        facts = (density, moves or (BY_SHAPE,) * len(shapes), rates, spreads)
        moments = [given or (BY_MOMENT,) * len(shapes) for given in (mean, var, entropy)]
        made = Row(name, instance, shapes, support, *facts, *moments, draws, discrete, at, note)
        self.rows[name] = _ROWS[type(instance)] = made


_ROWS: dict[type, Row] = {}


def row_of(distribution):
    """The row of a distribution, or of a copy of it; None for one that nothing is stated of."""
    row = _ROWS.get(type(distribution))
    same = row is not None and (distribution.a, distribution.b) == (row.instance.a, row.instance.b)
    return row if same else None


def parameter_names(row):
    """The names of the parameters, in the order in which they are given by position."""
    return (*row.shapes, "loc") if row.discrete else (*row.shapes, "loc", "scale")


def called(distribution, name, first, loc, scale, a, b):
    """What a method of SciPy's gives, by the parameters that there are."""
    words = {"loc": loc} if scale is None else {"loc": loc, "scale": scale}
    return getattr(distribution, name)(*first, *[s for s in (a, b) if s is not None], **words)


# -- where a distribution has mass ---------------------------------------------------------------------------


def support_of(row, a, b):
    """Where a standardised distribution begins and ends."""
    return row.support(*(a, b)[: len(row.shapes)]) if callable(row.support) else row.support


def place(row, z, a, b):
    """Whether `z` is a number in the support, and a point that is, to be taken where it is not."""
    with np.errstate(all="ignore"):
        low, high = support_of(row, a, b)
        inside = (z >= low) & (z <= high) & np.isfinite(z)
        if np.all(inside):
            return inside, None
        point = np.where(np.isfinite(low), low + np.minimum(1.0, (high - low) / 2), high - 1.0)
        return inside, np.where(np.isfinite(point), point, 0.5)


def within(z, inside, point):
    """`z`, and a point of the support where it is outside."""
    return z if point is None else np.where(inside, z, point)


def masked(slope, inside, point):
    """A slope, and 0 outside the support."""
    return slope if point is None else np.where(inside, slope, 0.0)


def valid(y):
    """1, and NaN where a value is NaN."""
    return np.where(np.isnan(y), np.nan, 1.0)


def stated(row, slope, z, a, b):
    """A stated slope, of `z` and as many shapes as there are."""
    if len(row.shapes) == 0:
        return slope(z)
    if len(row.shapes) == 1:
        return slope(z, a)
    return slope(z, a, b)


def share(k, z):
    """`k / z`, and 0 where both are 0.

    >>> share(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    array([0. , 0.5])
    """
    return k / np.where((np.equal(k, 0)) & (np.equal(z, 0)), 1.0, z)


def product(x, factor):
    """`x * factor`, and 0 where `x` is 0 and the factor infinite."""
    return x * np.where((np.equal(x, 0)) & ~np.isfinite(factor), 1.0, factor)


# -- slopes of the standardised functions --------------------------------------------------------------------
# Arguments by number: the value is 0, place 1, scale 2, the shapes 3 and 4.


def density_slope(row, i, z, scale, a, b):
    """The slope of the log-density by an argument."""
    if i == 0:
        return stated(row, row.density[0], z, a, b) / scale
    if i == 1:
        return -stated(row, row.density[0], z, a, b) / scale
    if i == 2:
        return -(1.0 + z * stated(row, row.density[0], z, a, b)) / scale
    return stated(row, row.density[i - 2], z, a, b)


def quantile_slope(row, i, z, scale, a, b):
    """How the quantile moves with place, scale and the shapes."""
    if i == 1:
        return 1.0 + 0.0 * z
    if i == 2:
        return z
    return scale * stated(row, row.moves[i - 3], z, a, b)


def level_slope(row, i, z, scale, a, b):
    """The slope of a probability over the density: what makes up for the quantile's move."""
    return 1.0 + 0.0 * z if i == 0 else -quantile_slope(row, i, z, scale, a, b)


def missing(row, name, i):
    """What stands for a slope by a shape that has no closed form; None where there is one."""
    if i < 3 or name in ("pdf", "logpdf"):
        return None
    if name == "rvs" and not row.draws:
        return BY_SHAPE
    move = row.moves[i - 3]
    return move if isinstance(move, NotImplementedTangent) else None


FEWEST = 1e-6 / np.finfo(float).eps
"""How much longer than a rounding the logarithm of a density may move while the density keeps six digits."""


def over_density(row, distribution, probability, z, a, b):
    """1 over the density at a standardised quantile; NaN where that was rounded so near to an end that the
    density there has lost its digits.
    """
    density = evaluated("pdf", distribution, z, 0.0, 1.0, a, b)
    within_ends = np.greater(probability, 0) & np.less(probability, 1)
    rounded = np.equal(density, 0) | (np.abs(z * stated(row, row.density[0], z, a, b)) > FEWEST)
    return np.where(rounded & within_ends, np.nan, np.divide(1.0, density))[()]


def quantile(name, distribution, y, x, loc, scale, a, b):
    """The standardised quantile: beside a large `loc` what SciPy gives has lost its digits."""
    if name in ("ppf", "isf") and np.any(np.not_equal(loc, 0)):
        return evaluated(name, distribution, x, 0.0, 1.0, a, b)
    return np.subtract(y, loc) / scale


def spread(row, name, distribution, y, x, loc, scale, a, b):
    """How a quantile moves with its probability."""
    side, sign = (0, 1.0) if name == "ppf" else (1, -1.0)
    if row.spreads[side] is not None:
        return sign * scale * stated(row, row.spreads[side], x, a, b)
    z = quantile(name, distribution, y, x, loc, scale, a, b)
    return sign * scale * over_density(row, distribution, x, z, a, b)


def factor_of(row, name, distribution, y, x, loc, scale, a, b):
    """What these slopes are multiplied by."""
    with np.errstate(all="ignore"):
        if name == "logpdf" or name == "rvs" or name == "median":
            return 1.0
        if name == "pdf":
            return y
        if name == "cdf":
            return evaluated("pdf", distribution, x, loc, scale, a, b)
        if name == "sf":
            return -evaluated("pdf", distribution, x, loc, scale, a, b)
        if name == "ppf" or name == "isf":
            return spread(row, name, distribution, y, x, loc, scale, a, b)
        side, sign = (0, 1.0) if name == "logcdf" else (1, -1.0)
        if row.rates[side] is None:
            return sign * np.exp(evaluated("logpdf", distribution, x, loc, scale, a, b) - y)
        z = np.subtract(x, loc) / scale
        inside, point = place(row, z, a, b)
        return sign * stated(row, row.rates[side], within(z, inside, point), a, b) / scale


def standing(row, name, distribution, y, x, loc, scale, a, b):
    """The standardised value, its place in the support, and what makes NaN of the slopes of a NaN."""
    with np.errstate(all="ignore"):
        if name in ("ppf", "isf", "rvs", "median"):
            return quantile(name, distribution, y, x, loc, scale, a, b), True, None, valid(y)
        z = np.subtract(x, loc) / scale
        inside, point = place(row, z, a, b)
        return within(z, inside, point), inside, point, valid(y)


def slope_of(row, name, factor, at, i, scale, a, b):
    """The slope of a method by an argument: outside the support 0, NaN where the value is NaN."""
    z, inside, point, ones = at
    with np.errstate(all="ignore"):
        if name in ("ppf", "isf", "rvs", "median"):
            return ones * (factor if i == 0 else quantile_slope(row, i, z, scale, a, b))
        if name == "logpdf":
            return ones * masked(density_slope(row, i, z, scale, a, b), inside, point)
        if name == "pdf":
            slope = density_slope(row, i, z, scale, a, b)
        else:
            slope = level_slope(row, i, z, scale, a, b)
        return ones * product(masked(slope, inside, point), factor)


# -- both rules of a method ----------------------------------------------------------------------------------


def evaluated(name, distribution, x, loc, scale, a, b, /):
    """A method of a continuous distribution at `x`; without an `x` its median."""
    return called(distribution, name, () if x is None else (x,), loc, scale, a, b)


TABLE = RuleTable("scipy_stats_rows")

# By `k` it is infinite where `z` is 0, which the formula that leaves 0 / 0 out does not say.
TABLE.scalar(share, lambda out, k, z: (np.divide(1.0, z), -share(out, z)))


def bars_of(slope, lacking, given, y_bar):
    """A cotangent for each argument by its slope, computed if somebody wants it; `lacking(i)` stands for one
    that has none.
    """

    def bar(i, of):
        def found():
            with np.errstate(all="ignore"):
                return unbroadcast(slope(i) * y_bar, of)

        if of is None:
            return NO
        instead = lacking(i)
        return Thunk(found) if instead is None else instead

    return [bar(i, of) for i, of in enumerate(given)]


def dot_of(slope, lacking, dots, y):
    """The tangent of a result by the slopes of the arguments that move, their counterpart forwards."""
    y_dot = ZeroTangent()
    for i in range(5):
        x_dot = dots[i]
        if not isinstance(x_dot, AbstractZero):
            instead = lacking(i)
            if isinstance(instead, NotImplementedTangent):
                moved = by_missing(instead, x_dot)
                if isinstance(moved, NotImplementedTangent):
                    return moved
                y_dot = y_dot + moved
            elif instead is None:
                y_dot = y_dot + slope(i) * x_dot
    return form_of(y, y_dot)


@TABLE.rrule(evaluated, leading=7)
def evaluated_rrule(name, distribution, x, loc, scale, a, b, /):
    row, y = row_of(distribution), evaluated(name, distribution, x, loc, scale, a, b)
    return y, pullback_of(row, name, distribution, y, x, loc, scale, a, b)


def pullback_of(row, name, distribution, y, x, loc, scale, a, b):
    """The pullback of a method that gave `y`; the first two cotangents are those of its name and owner."""
    factor = Thunk(lambda: factor_of(row, name, distribution, y, x, loc, scale, a, b))
    at = Thunk(lambda: standing(row, name, distribution, y, x, loc, scale, a, b))

    def evaluated_pullback(y_bar):
        def slope(i):
            return slope_of(row, name, unthunk(factor), unthunk(at), i, scale, a, b)

        return NO, NO, NO, *bars_of(slope, lambda i: missing(row, name, i), (x, loc, scale, a, b), y_bar)

    return evaluated_pullback


@TABLE.frule(evaluated)
def evaluated_frule(tangents, name, distribution, x, loc, scale, a, b, /):
    y = evaluated(name, distribution, x, loc, scale, a, b)
    return y, tangent_of(tangents[3:], name, distribution, y, x, loc, scale, a, b)


def tangent_of(dots, name, distribution, y, x, loc, scale, a, b):
    """The tangent of what a method gave."""
    row = row_of(distribution)
    factor = factor_of(row, name, distribution, y, x, loc, scale, a, b)
    at = standing(row, name, distribution, y, x, loc, scale, a, b)
    return dot_of(
        lambda i: slope_of(row, name, factor, at, i, scale, a, b), lambda i: missing(row, name, i), dots, y
    )


TABLE.non_differentiable(row_of, parameter_names, support_of, place, missing, valid)
