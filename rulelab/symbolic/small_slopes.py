"""Cotangents so small beside the value that their slopes could be rounding: a second difference quotient
tells."""

from __future__ import annotations

from .scalars import CONTEXT

OTHER_STEP = CONTEXT.mpf(10) ** -27  # rounding changes with the step, a slope does not
SHARP = CONTEXT.mpf(10) ** -15
SAME = CONTEXT.mpf(10) ** -12
ROUNDING = CONTEXT.mpf(10) ** -60  # of a cotangent that should be zero


def wrong_though_small(expected, found, slopes):
    """The places in which a cotangent is not the slope, however small both are.

    `slopes(width=…)` gives the difference quotients of another step. A slope counts where both steps have the
    same; a zero one where the cotangent is larger than rounding would make it.
    """
    differing = [i for i, (e, f) in enumerate(zip(expected, found, strict=True)) if _differ(e, f)]
    if not differing:
        return []
    again = slopes(width=OTHER_STEP)
    return [i for i in differing if abs(again[i] - expected[i]) <= SHARP * abs(expected[i])]


def _differ(expected, found):
    if not (CONTEXT.isfinite(expected) and CONTEXT.isfinite(found)):
        return False
    largest = max(abs(expected), abs(found))
    return abs(expected - found) > SAME * largest and (expected != 0 or largest > ROUNDING)
