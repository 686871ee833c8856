"""What the second derivative is where the first one is that of a kink, by convention 0.

`abs`, `hypot`, a norm and a standard deviation have no slope where they are 0, and get 0. What is made of
such a size may be smooth there: `abs(x) ** 2`, `np.cos(np.hypot(x, y))`. Its second derivative needs that of
the size, which is infinite, times a slope that is 0: no rule that sees one call can know it. So it is NaN
where the slope of what is made of the size is 0, and by convention 0 where that is another number, for then
the whole has a kink. Forward mode over forward mode does not see what is made of it, and says NaN.
"""

import math

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import is_zero

TABLE = RuleTable("kinks", hands_out=True)


def past_kink(y_dot, size, x, x_dot):
    """`y_dot` as it is, the tangent of a size of `x` along `x_dot`, with a slope of 0 where `size` is 0.

    It is there for its derivative by `x`. All four broadcast.
    """
    return y_dot


@TABLE.rrule(past_kink, leading=4)
def past_kink_rrule(y_dot, size, x, x_dot):
    """NaN for what moves at a kink that the result, by its seed, may not have."""

    def past_kink_pullback(y_bar):
        if is_zero(y_bar) or is_zero(x_dot) or not np.any(flat := np.equal(size, 0)):
            return NoTangent(), y_bar, NoTangent(), ZeroTangent(), NoTangent()
        nan = complex(math.nan, math.nan) if np.iscomplexobj(x) else math.nan
        unknown = np.where(flat & np.equal(y_bar, 0) & np.not_equal(x_dot, 0), nan, 0.0)
        return NoTangent(), y_bar, NoTangent(), unbroadcast(unknown[()], x), NoTangent()

    return y_dot, past_kink_pullback


@TABLE.frule(past_kink)
def past_kink_frule(tangents, y_dot, size, x, x_dot):
    if is_zero(tangents[3]) or is_zero(x_dot):
        return y_dot, tangents[1]
    unknown = nan_at_kink(y_dot, size, x_dot, tangents[3])
    return y_dot, form_of(y_dot, unknown if is_zero(tangents[1]) else tangents[1] + unknown)


def nan_at_kink(y_dot, size, x_dot, x_ddot):
    """NaN where `size` is 0 and its argument moves both ways, else 0; of the shape of `y_dot`."""
    moves = np.not_equal(x_dot, 0) & np.not_equal(x_ddot, 0)
    return unbroadcast(np.where(np.equal(size, 0) & moves, math.nan, 0.0)[()], y_dot)


TABLE.non_differentiable(nan_at_kink)


def size_frule(size_of, partials, of=2):
    """The frule of a function that is a size of its first `of` arguments, and does not move with the rest."""

    def frule(tangents, *xs):
        size = size_of(*xs)
        given = partials(size, *xs)
        size_dot = ZeroTangent()
        for partial, x, x_dot in zip(given if isinstance(given, tuple) else (given,), xs[:of], tangents[1:]):
            if not is_zero(x_dot):
                part = past_kink(partial * x_dot, size, x, x_dot)
                size_dot = part if is_zero(size_dot) else size_dot + part
        return size, form_of(size, size_dot)

    return frule
