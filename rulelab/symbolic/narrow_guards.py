"""A rule inside a narrow guard such as `if abs(v) < 1e-6`, where a limit or the first terms of a series
replace a formula that fails nearby.

The author means the function outside. A rule may have the slope of the replacement, or that of the intended
function, which a constant replacement does not have; the two agree only up to the width of the guard.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import sympy as sp

from .far_sides import closest_beyond, value_at
from .formulas import expression
from .outcomes import Misfit, Settled, Skipped
from .plain_values import are_complex
from .runs import plain_value
from .scalars import CONTEXT, Stop
from .tracing import difference_quotients, trace_primal

WIDEST = Fraction(1, 5000)
"""The largest distance from a sample inside to the closest one outside."""
SLOPES = 4
"""The number of guard widths by which a cotangent may change across the guard, for values of magnitude 1."""


class Guard(NamedTuple):
    """A condition `abs(form) < bound`."""

    form: sp.Expr
    bound: float

    def words(self):
        shown = -self.form if self.form.could_extract_minus_sign() else self.form
        return f"abs({sp.sstr(shown)}) < {self.bound:g}"

    def holds(self, sample, names):
        value = value_at(self.form, sample, names)
        return value is not None and bool(abs(value) < self.bound)


def guard_around(settled, question, sample):
    """The narrow guard that contains a sample, if the error of the rule there is at most of the order of the
    guard's width; None if the error is larger, or if there is no such guard.
    """
    leaves, found, y, seeds = settled.graphs
    scale = 1 + sum(abs(seed.shadow * value.shadow) for seed, value in zip(seeds, y, strict=True))
    for decision in leaves[0].trace.decisions:
        narrow = _of_a_small_number(decision)
        for outside, distance in closest_beyond(decision, sample, question.names) if narrow else ():
            slopes = _slopes(question, outside, seeds) if distance <= WIDEST else None
            if slopes is None:
                continue
            near = SLOPES * CONTEXT.mpf(distance.numerator) / distance.denominator * scale
            numbers = zip([f.shadow for f in found], settled.expected, slopes, strict=True)
            if all(min(abs(f - inside), abs(f - beyond)) <= near for f, inside, beyond in numbers):
                return Guard(expression(narrow[0], {}, {}), abs(float(narrow[1].shadow)))
    return None


def _of_a_small_number(decision):
    """(the small expression, the small number that it is compared with) in a decision; None for any other."""
    for other, bound in ((decision.left, decision.right), (decision.right, decision.left)):
        if bound.is_constant and not other.is_constant:
            is_small = 0 < abs(bound.shadow) <= float(WIDEST) and abs(other.shadow) <= abs(bound.shadow)
            return (other, bound) if is_small else None
    return None


def _slopes(question, sample, seeds):
    """The slopes of the function at a sample, from difference quotients; None if it has none."""
    try:
        wide = are_complex(plain_value(question, sample))
        trace, _, _, leaves, _ = trace_primal(question, sample)
        return difference_quotients(question, sample, leaves, seeds, trace.path(), wide=wide)
    except (Settled, Skipped, Misfit, Stop):
        return None
