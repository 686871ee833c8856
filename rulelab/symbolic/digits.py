"""The number of digits to which two numbers agree, and the difference from which on one is wrong."""

from __future__ import annotations

from .scalars import CONTEXT

WRONG = 1e-12  # relative difference between rule and difference quotient beyond which the rule is wrong
EXACT_DIGITS = 30  # with fewer matching digits it is not an identity, whatever the cause
MAX_DIGITS = 40
VALUES = CONTEXT.mpf(10) ** -30  # magnitude of values below which their rounding counts


def agreeing_digits(expected, found, scale):
    """The number of matching digits of two numbers, at most 40; `scale` is the magnitude of what they were
    computed from.

    >>> agreeing_digits(CONTEXT.mpf("1.2345"), CONTEXT.mpf("1.2346"), 1)
    4
    """
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return MAX_DIGITS if alike else 0
    if expected == found:
        return MAX_DIGITS
    off = abs(expected - found) / _size(expected, found, scale)
    return max(0, min(MAX_DIGITS, int(-CONTEXT.log10(off))))


def is_wrong(expected, found, scale):
    """Whether the found number differs by more than `WRONG`; `scale` as in `agreeing_digits`."""
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return not alike
    return abs(expected - found) > WRONG * _size(expected, found, scale)


def _size(expected, found, scale):
    """The magnitude relative to which a difference counts: that of the numbers, unless they cancel to almost
    nothing.
    """
    return max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale


def _beyond_numbers(expected, found):
    """Whether two numbers agree if one is infinite or nan; None if both are finite."""
    if CONTEXT.isfinite(expected) and CONTEXT.isfinite(found):
        return None
    return bool(expected == found or (CONTEXT.isnan(expected) and CONTEXT.isnan(found)))


def is_close(a, b):
    """Whether two numbers agree to 25 digits."""
    return abs(a - b) <= CONTEXT.mpf(10) ** -25 * max(abs(a), abs(b))
