"""High-precision values of special functions for which mpmath is much slower than a series: Bessel functions
of the second kind of integer order, tails of the gamma function, Gauss' function left of -1/2.
"""

from __future__ import annotations

from .scalars import CONTEXT

FAR = 100  # beyond this mpmath has fast expansions, and a series loses too many digits
HIGHEST_ORDER = 50
GUARD_DIGITS = 20


def bessely(v, x):
    """Y of order v at x."""
    return _of_whole_order(v, x, -1) if _is_near(v, x) else CONTEXT.bessely(v, x)


def besselk(v, x):
    """K of order v at x."""
    return _of_whole_order(v, x, 1) if _is_near(v, x) else CONTEXT.besselk(v, x)


def _is_near(v, x):
    return CONTEXT.isint(v) and abs(v) <= HIGHEST_ORDER and 0 < x < FAR


def _of_whole_order(v, x, sign):
    """K for the sign 1, Y for -1: order 0 by its series, order 1 by the Wronskian with the function of the
    first kind, the others by the recurrence.
    """
    n = abs(int(v))
    # Digits lost to e**x in the terms, and e**-x in K.
    with CONTEXT.extradps(GUARD_DIGITS + int(0.9 * float(x))):
        first = CONTEXT.besseli if sign > 0 else CONTEXT.besselj
        wronskian = 1 / x if sign > 0 else -2 / (CONTEXT.pi * x)
        at_0, at_1 = first(0, x), first(1, x)
        low = _of_order_0(x, sign, at_0)
        high = (wronskian - sign * at_1 * low) / at_0
        for k in range(1, n):
            low, high = high, 2 * k / x * high + sign * low
    found = low if n == 0 else high
    return +(-found if sign < 0 and v < 0 and n % 2 else found)


def _of_order_0(x, sign, of_first_kind):
    step = sign * x * x / 4
    total, term, harmonic, k = CONTEXT.mpf(0), CONTEXT.mpf(1), CONTEXT.mpf(0), 0
    while term and abs(term) * (harmonic + 1) > CONTEXT.eps * abs(total):
        k += 1
        term = term * step / (k * k)
        harmonic += CONTEXT.mpf(1) / k
        total += term * harmonic
    found = total - (CONTEXT.log(x / 2) + CONTEXT.euler) * of_first_kind
    return found if sign > 0 else -2 / CONTEXT.pi * found


def gammainc(a, x):
    """The regularized lower incomplete gamma function."""
    return CONTEXT.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    """The regularized upper incomplete gamma function."""
    if not (a > 0 and 0 <= x < FAR):
        return CONTEXT.gammainc(a, x, CONTEXT.inf, regularized=True)
    with CONTEXT.extradps(GUARD_DIGITS + int(0.5 * float(x))):  # the digits lost in the difference
        found = 1 - gammainc(a, x)
    return +found


def hyp2f1(a, b, c, x):
    """Gauss' function; by Pfaff's transformation where mpmath's own methods are slow for parameters that
    differ by integers.
    """
    if -4 < x < -0.5:
        with CONTEXT.extradps(GUARD_DIGITS):
            found = (1 - x) ** -a * CONTEXT.hyp2f1(a, c - b, c, x / (x - 1))
        return +found
    return CONTEXT.hyp2f1(a, b, c, x)


def jacobi_am(u, m):
    """The amplitude of u for the parameter m, as a continuous function."""
    sn, cn = (CONTEXT.ellipfun(kind, u, m=m) for kind in ("sn", "cn"))
    turns = CONTEXT.nint(u / (4 * CONTEXT.ellipk(m))) if m < 1 else 0
    return CONTEXT.atan2(sn, cn) + 2 * CONTEXT.pi * turns


def owens_t(h, a):
    """Owen's T function, by its defining integral."""

    def integrand(t):
        return CONTEXT.exp(-h * h * (1 + t * t) / 2) / (1 + t * t)

    return CONTEXT.quad(integrand, [0, a]) / (2 * CONTEXT.pi)
