"""Rules for the gamma and beta functions of `scipy.special`, complete and incomplete, and their inverses.

Formulas: DLMF 5.2.2 and 5.15 (the digamma function and its derivatives), 8.8.13, 8.17.7 (the integrands of
the incomplete functions). At the poles of the gamma function all derivatives are NaN. Those by the shape of
an incomplete function have no closed form.
"""

import math

import numpy as np

from .limits import with_limits
from .numpy_elementwise import over
from .scipy_rows import BY_SHAPE, OF_DIMENSION, OF_ORDER, WHOLE, SpecialTable, special, times

TABLE = SpecialTable("scipy_gamma")

POSITIVE = (0.4, 1.3, 4.2)
PLANE = (0.7 - 0.4j, 2.1 + 1.3j, -1.4 + 0.6j)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


# -- derivatives of the digamma function ---------------------------------------------------------------------


def polygamma(n, x):
    """The n-th derivative of the digamma function, of complex numbers too, which SciPy's does not take."""
    if n == 0:
        return special.psi(x)
    if np.iscomplexobj(x):
        return _polygamma_of_complex(n, x)
    return special.polygamma(n, x) if np.ndim(x) else special.polygamma(n, x)[()]


TABLE.scalar(polygamma, lambda out, n, x: (WHOLE, polygamma(n + 1, x)))


def _polygamma_of_complex(n, z):
    """By the asymptotic series (DLMF 5.15.8), after the recurrence (5.15.5); left of 0 reflected (5.15.6)."""
    z = np.asarray(z, complex)
    left = np.real(z) < 0.5
    there = np.where(left, 1 - z, z)
    total = np.zeros_like(there)
    for _ in range(20):
        total = total + there ** -(n + 1.0)
        there = there + 1
    total = (-1) ** (n + 1) * math.factorial(n) * total + _polygamma_series(n, there)
    if not np.any(left):
        return total[()]
    reflected = (-1) ** n * (
        total - math.pi ** (n + 1) * _cotangent_slope(n, np.where(left, z, 0.5) * math.pi)
    )
    return np.where(left, reflected, total)[()]


def _polygamma_series(n, z):
    series = math.factorial(n - 1) * z ** -float(n) + math.factorial(n) / 2 * z ** -(n + 1.0)
    for k, b in enumerate(_BERNOULLI, 1):
        series = series + b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * z ** -(2.0 * k + n)
    return (-1) ** (n - 1) * series


def _cotangent_slope(n, t):
    """The n-th derivative of the cotangent with the sign of (-1)**n taken off: a polynomial in it."""
    c, coefficients = 1 / np.tan(t), np.array([0.0, 1.0])
    for _ in range(n):  # the derivative of c**k is -k c**(k - 1) (1 + c**2)
        slope = coefficients[1:] * np.arange(1, len(coefficients))
        coefficients = np.convolve(slope, [1.0, 0.0, 1.0])
    return sum(b * c**k for k, b in enumerate(coefficients))


# -- complete ------------------------------------------------------------------------------------------------

def rgamma_slope(out, x):
    """The derivative of `1 / gamma(x)`: `-out psi(x)`, left of 0, where that is `0 inf` at the poles of the
    gamma function, the same reflected (DLMF 5.5.3).
    """
    left = np.less_equal(np.real(x), 0)
    there, before = np.where(left, 1 - x, x), np.where(left, x, 0 * x)
    slope = special.psi(there)
    sine = np.sin(math.pi * before) / math.pi
    mirrored = special.gamma(np.where(left, there, np.ones_like(x)))
    reflected = mirrored * (np.cos(math.pi * before) - slope * sine)
    return np.where(left, reflected, -out * slope)[()]


gamma_partial = with_limits(special.gamma, lambda out, x: out * special.psi(x), {math.inf: np.exp})
TABLE.row("gamma", gamma_partial, (0.4, 1.3, -1.6), beyond=(PLANE,), note="NaN at poles")
TABLE.row(
    "rgamma", with_limits(special.rgamma, rgamma_slope, {math.inf: 0.0}), (0.4, 1.3, -1.6), beyond=(PLANE,)
)
TABLE.row("gammaln", lambda out, x: special.psi(x), (0.4, 1.3, -1.6))
TABLE.row("loggamma", lambda out, x: special.psi(x), POSITIVE, beyond=(PLANE,))
TABLE.row("psi", lambda out, x: polygamma(1, x), (0.4, 1.3, -1.6), beyond=(PLANE,))
TABLE.row("gammasgn", lambda out, x: 0.0, (0.4, 1.3, -1.6))
TABLE.function_row(
    "polygamma", lambda out, n, x: (WHOLE, special.polygamma(n + 1, x)), OF_ORDER, 2, (0.4, 1.3, -1.6)
)


def multidigamma(a, d):
    """The derivative of `multigammaln(a, d)` by `a`."""
    total = special.psi(a)
    for j in range(1, d):
        total = total + special.psi(np.subtract(a, 0.5 * j))  # of a list, too
    return total


TABLE.function_row(
    "multigammaln", lambda out, a, d: (multidigamma(a, d), WHOLE), OF_DIMENSION, (1.4, 2.3, 4.2), 3
)


def _beta_partials(out, a, b):
    both = special.psi(a + b)
    return out * (special.psi(a) - both), out * (special.psi(b) - both)


def _betaln_partials(out, a, b):
    both = special.psi(a + b)
    return special.psi(a) - both, special.psi(b) - both


def _outside_slopes(n, gap):
    """Those of `beta(n + 1, gap) sin(pi gap) / pi` by both."""
    beta, whole = special.beta(n + 1, gap), special.psi(n + 1 + gap)
    sine = np.sin(math.pi * gap) / math.pi
    by_gap = beta * ((special.psi(gap) - whole) * sine + np.cos(math.pi * gap))
    return beta * (special.psi(n + 1) - whole) * sine, by_gap


def binom_slopes(out, n, k):
    """By the digamma function; where k is above n or below 0, and one of them at its poles infinite, by the
    reflected form (DLMF 5.5.3), in the distance from there.
    """
    whole = np.greater(n, -1)
    above = np.logical_and(whole, np.greater_equal(k - n, 0.5))
    below = np.logical_and(whole, np.less_equal(k, -0.5))
    outside = np.logical_or(above, below)
    gap = np.where(above, k - n, np.where(below, -k, 1.0))
    by_n, by_gap = _outside_slopes(np.where(outside, n, 0.0), gap)
    upper, lower = (special.psi(np.where(outside, 1.0, x)) for x in (n - k + 1, k + 1))
    return (
        np.where(outside, by_n - np.where(above, by_gap, 0.0), out * (special.psi(n + 1) - upper))[()],
        np.where(above, by_gap, np.where(below, -by_gap, out * (upper - lower)))[()],
    )


def poch_slopes(out, z, m):
    """By the digamma function; by z, left of 0 and where `z + m` is right of it, reflected (DLMF 5.5.3)."""
    whole = special.psi(z + m)
    left = np.logical_and(np.less_equal(z, 0), np.greater(z + m, 0))
    before = np.where(left, z, 0.5)
    sine = np.sin(math.pi * before) / math.pi
    both = special.gamma(np.where(left, z + m, 1.0)) * special.gamma(1 - before)
    reflected = both * ((whole - special.psi(1 - before)) * sine + np.cos(math.pi * before))
    return np.where(left, reflected, out * (whole - special.psi(np.where(left, 1.0, z))))[()], out * whole


PAIR = (0.4, 1.3, 4.2), (2.2, 0.7, 1.6)
TABLE.row("beta", _beta_partials, *PAIR)
TABLE.row("betaln", _betaln_partials, *PAIR)
TABLE.row("binom", binom_slopes, (2.2, 3.4, 4.2), (1.3, 0.7, 2.6), note="NaN with respect to n at -1, -2, …")
TABLE.row("poch", poch_slopes, *PAIR)


# -- incomplete ----------------------------------------------------------------------------------------------


def gamma_power(p, a, x):
    """`x**p * exp(-x) / gamma(a)`, by logarithms: the integrand of `gammainc(a, x)` for `p = a - 1`."""
    return np.exp(special.xlogy(p, x) - x - special.gammaln(a))


TABLE.scalar(
    gamma_power,
    lambda out, p, a, x: (BY_SHAPE, BY_SHAPE, times(p, gamma_power(p - 1, a, x)) - out),
)


def beta_power(p, q, a, b, x):
    """`x**p * (1 - x)**q / beta(a, b)`: the integrand of `betainc(a, b, x)` for one less than both."""
    return np.exp(special.xlogy(p, x) + special.xlog1py(q, -x) - special.betaln(a, b))


TABLE.scalar(
    beta_power,
    lambda out, p, q, a, b, x: (
        *(BY_SHAPE,) * 4,
        times(p, beta_power(p - 1, q, a, b, x)) - times(q, beta_power(p, q - 1, a, b, x)),
    ),
)

SHAPES, INSIDE = (2.5, 0.7, 1.0), (0.3, 0.62, 0.9)
TABLE.row("gammainc", lambda out, a, x: (BY_SHAPE, gamma_power(a - 1, a, x)), SHAPES, (0.3, 2.2, 1.4))
TABLE.row("gammaincc", lambda out, a, x: (BY_SHAPE, -gamma_power(a - 1, a, x)), SHAPES, (0.3, 2.2, 1.4))
TABLE.row("gammaincinv", lambda out, a, p: (BY_SHAPE, over(1, gamma_power(a - 1, a, out))), SHAPES, INSIDE)
TABLE.row("gammainccinv", lambda out, a, p: (BY_SHAPE, over(-1, gamma_power(a - 1, a, out))), SHAPES, INSIDE)

BOTH = (2.5, 0.7, 1.0), (1.5, 0.8, 3.0), INSIDE
TABLE.row("betainc", lambda out, a, b, x: (BY_SHAPE, BY_SHAPE, beta_power(a - 1, b - 1, a, b, x)), *BOTH)
TABLE.row("betaincc", lambda out, a, b, x: (BY_SHAPE, BY_SHAPE, -beta_power(a - 1, b - 1, a, b, x)), *BOTH)
TABLE.row(
    "betaincinv",
    lambda out, a, b, y: (BY_SHAPE, BY_SHAPE, over(1, beta_power(a - 1, b - 1, a, b, out))),
    *BOTH,
)
TABLE.row(
    "betainccinv",
    lambda out, a, b, y: (BY_SHAPE, BY_SHAPE, over(-1, beta_power(a - 1, b - 1, a, b, out))),
    *BOTH,
)
