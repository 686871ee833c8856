"""To how many digits two numbers agree, and from where on one of them is wrong."""

from __future__ import annotations

from .scalars import CONTEXT

WRONG = 1e-12  # rule against difference quotient: beyond this the rule is wrong
EXACT_DIGITS = 30  # fewer agreeing digits than this: no identity, whatever the cause
MAX_DIGITS = 40
VALUES = CONTEXT.mpf(10) ** -30  # the size of values below which their rounding counts


def agreeing_digits(expected, found, scale):
    """How many digits of two numbers agree, 40 at most; `scale` is the size of what they were made of.

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
    """Whether the number found is off by more than `WRONG`; `scale` is as for `agreeing_digits`."""
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return not alike
    return abs(expected - found) > WRONG * _size(expected, found, scale)


def _size(expected, found, scale):
    """The size beside which a difference counts: that of the numbers, but for what cancels to nothing."""
    return max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale


def _beyond_numbers(expected, found):
    """Of two numbers of which one is infinite or nan, whether they agree; None for two numbers."""
    if CONTEXT.isfinite(expected) and CONTEXT.isfinite(found):
        return None
    return bool(expected == found or (CONTEXT.isnan(expected) and CONTEXT.isnan(found)))


def is_close(a, b):
    """Whether two numbers agree to 25 digits."""
    return abs(a - b) <= CONTEXT.mpf(10) ** -25 * max(abs(a), abs(b))
