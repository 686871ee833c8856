"""Cotangents so small beside 1 that their slopes could be rounding: a second difference quotient tells.

Below `ROUNDING` nothing tells: a step of the argument changes the value by less than its hundredth digit,
whatever the step, wherever the value is what remains of a difference such as 1 + tanh(-100). Of values as
large as e**139 the hundredth digit lies so much higher.
"""

from __future__ import annotations

from .digits import WRONG
from .scalars import CONTEXT

OTHER_STEP = CONTEXT.mpf(10) ** -27  # rounding changes with the step, a slope does not
SHARP = CONTEXT.mpf(10) ** -15
ROUNDING = CONTEXT.mpf(10) ** -50


def wrong_though_small(expected, found, slopes, scale=1):
    """The places in which a cotangent is not the slope, small as both may be beside values of this `scale`.

    `slopes(width=…)` gives the difference quotients of another step. A slope counts where both steps have the
    same.
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
