"""Cotangents that are so small beside 1 that their slopes could be rounding errors: a second difference
quotient decides.

Below `ROUNDING` it cannot decide: if the value is what remains of a difference such as 1 + tanh(-100), a step
of the argument changes it by less than its hundredth digit, whatever the step. For values as large as e**139
this limit is correspondingly higher.
"""

from __future__ import annotations

from .digits import WRONG
from .scalars import CONTEXT

OTHER_STEP = CONTEXT.mpf(10) ** -27  # rounding errors change with the step, a slope does not
SHARP = CONTEXT.mpf(10) ** -15
ROUNDING = CONTEXT.mpf(10) ** -50


def wrong_though_small(expected, found, slopes, scale=1):
    """The indices at which a cotangent is not the slope, even if both are small beside values of this
    `scale`.

    `slopes(width=…)` returns the difference quotients for another step. A slope counts only if it is the same
    for both steps.
    """
    differing = [i for i, (e, f) in enumerate(zip(expected, found, strict=True)) if _differ(e, f, scale)]
    if not differing:
        return []
    again = slopes(width=OTHER_STEP)
    return [i for i in differing if abs(again[i] - expected[i]) <= SHARP * abs(expected[i])]


def _differ(expected, found, scale):
    if not (CONTEXT.isfinite(expected) and CONTEXT.isfinite(found)):
        return False
    largest = max(abs(expected), abs(found))
    return abs(expected - found) > WRONG * largest and largest > ROUNDING * scale
