"""Slopes where the formula for them is no number although they have a limit: at infinity, at an end of a
domain, at a pole.

Stated beside the formula, from which all rules come: at a point the slope is that of another function, what
it tends to or grows like, and so are the derivatives of the slope. So the limit of `out - k1e(x)` at 0 is
stated as `-1 / x`, whose derivatives there are infinite, with the signs that they have.

At complex arguments there are more ways to a point than two, and the formula stays as it is.
"""

import math

import numpy as np

from ..rules.rule_table import RuleTable

TABLE = RuleTable("limits")

_ELSEWHERE = 0.5  # an ordinary number, in the place of a point: what is computed of it is not used


def with_limits(f, partial, limits):
    """The derivative `partial(out, x)` of `f`, at the points in `limits` with what is stated there: a number,
    or a function of `x`.
    """
    points = tuple(limits)
    stated = tuple((point, _function(limit)) for point, limit in limits.items())

    def slope(out, x):
        if not is_met(x, points):
            return partial(out, x)
        there = np.where(is_one_of(x, points), _ELSEWHERE, x)
        value = partial(f(there), there)
        for point, limit in stated:
            value = np.where(is_at(x, point), limit(x), value)
        return value[()]

    return lambda out, x: slope(out, x)  # a formula is a call, so that what looks at numbers is not in it


def _function(limit):
    return limit if callable(limit) else lambda x: limit


def is_at(x, point):
    """Where a real `x` is a point; that may be infinite, where numbers of the prover never are."""
    if math.isinf(point) and not np.any(np.isinf(x)):
        return False
    return np.equal(x, point)


def is_one_of(x, points):
    """Where it is one of them."""
    where = is_at(x, points[0])
    for point in points[1:]:
        where = np.logical_or(where, is_at(x, point))
    return where


def is_met(x, points):
    """Whether anything of a real `x` is one of the points."""
    return not np.iscomplexobj(x) and any(bool(np.any(is_at(x, point))) for point in points)


TABLE.non_differentiable(is_at, is_one_of, is_met)
