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
    size = max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale
    if expected == found:
        return MAX_DIGITS
    return max(0, min(MAX_DIGITS, int(-CONTEXT.log10(abs(expected - found) / size))))


def is_wrong(expected, found, scale):
    """Whether the number found is off by more than `WRONG`; `scale` is as for `agreeing_digits`."""
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return not alike
    size = max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale
    return abs(expected - found) > WRONG * size


def _beyond_numbers(expected, found):
    """Of two numbers of which one is infinite or nan, whether they agree; None for two numbers."""
    if CONTEXT.isfinite(expected) and CONTEXT.isfinite(found):
        return None
    return bool(expected == found or (CONTEXT.isnan(expected) and CONTEXT.isnan(found)))


def is_close(a, b):
    """Whether two numbers agree to 25 digits."""
    return abs(a - b) <= CONTEXT.mpf(10) ** -25 * max(abs(a), abs(b))
