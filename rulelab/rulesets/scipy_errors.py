"""Rules for the error functions of `scipy.special`, the normal distribution, and exponential integrals.

Formulas: DLMF 7.2, 7.10 (error functions), 6.2 (exponential integrals), 7.2.7 (Fresnel's). Where a slope is
the small difference of two large numbers its asymptotic series stands for it, far out.
"""

import math

import numpy as np

from .array_likes import refuse
from .limits import with_limits
from .numpy_elementwise import over
from .scipy_rows import WHOLE, SpecialTable, special

TABLE = SpecialTable("scipy_errors")

SLOPE_AT_0 = 2 / math.sqrt(math.pi)
ROOT_2, ROOT_2PI, ROOT_HALF_PI = math.sqrt(2), math.sqrt(2 * math.pi), math.sqrt(math.pi / 2)
LINE, INSIDE = (0.3, -1.2, 2.1), (0.3, 0.05, 0.92)
PLANE = (0.4 - 0.7j, -1.1 + 0.2j)
FAR = 25.0  # where nine terms of the series have all digits


def _odd_factorials(t):
    """`sum (2n+1)!! t**n` for n from 0 to 8."""
    total, term = 1.0 + 0 * t, 1.0 + 0 * t
    for n in range(1, 9):
        term = term * ((2 * n + 1) * t)
        total = total + term
    return total


def _weighted_odd_factorials(t):
    """`sum (n+1) (2n+1)!! t**n` for n from 0 to 8."""
    total, term = 1.0 + 0 * t, 1.0 + 0 * t
    for n in range(1, 9):
        term = term * ((2 * n + 1) * t)
        total = total + (n + 1) * term
    return total


def mean_of_powers(u):
    """`hyp1f1(2, 3, u) / 2`, the mean of `t exp(t u)` for t from 0 to 1. It is infinite long before 1000, and
    SciPy's function never returns from an infinite number.
    """
    return special.hyp1f1(2.0, 3.0, np.minimum(u, 1e3)) / 2


def _beyond(x):
    """Where the series is taken, and the argument there; elsewhere one that it takes, too."""
    far = np.greater(np.abs(x), FAR)
    return far, np.where(far, x, FAR)


def erfcx_slope(x):
    """The derivative of `erfcx`: `2 x erfcx(x) - 2 / sqrt(pi)`, far right the series of that difference.

    >>> round(float(erfcx_slope(1e6) * 1e12), 12)
    -0.564189583547
    """
    far, there = _beyond(x)
    far = np.logical_and(far, np.greater(np.real(x), 0))
    near = 2 * x * special.erfcx(x) - SLOPE_AT_0
    t = 1 / (there * there)
    return np.where(far, -SLOPE_AT_0 / 2 * t * _odd_factorials(-t / 2), near)[()]


def dawsn_slope(x):
    """The derivative of `dawsn`: `1 - 2 x dawsn(x)`, far out the series of that difference."""
    far, there = _beyond(x)
    if np.iscomplexobj(x):  # it grows along the imaginary axis
        far = np.logical_and(far, np.abs(np.real(x)) > np.abs(np.imag(x)))
    t = 1 / (there * there)
    return np.where(far, -t / 2 * _odd_factorials(t / 2), 1 - 2 * x * special.dawsn(x))[()]


def wofz_slope(z):
    """The derivative of `wofz`: `2i / sqrt(pi) - 2 z wofz(z)`, far up the series of that difference."""
    far, there = _beyond(z)
    far = np.logical_and(far, np.greater(np.imag(z), -1.0))
    t = 1 / (there * there)
    series = -1j * SLOPE_AT_0 / 2 * t * _odd_factorials(t / 2)
    return np.where(far, series, 1j * SLOPE_AT_0 - 2 * z * special.wofz(z))[()]


def wofz_curvature(z):
    """The second derivative of `wofz`: `-2 (w + z w')`, far up the series of that difference."""
    far, there = _beyond(z)
    far = np.logical_and(far, np.greater(np.imag(z), -1.0))
    t = 1 / (there * there)
    series = 1j * SLOPE_AT_0 * t / there * _weighted_odd_factorials(t / 2)
    return np.where(far, series, -2 * (special.wofz(z) + z * wofz_slope(z)))[()]


def hazard(x):
    """The normal density over its distribution function, `exp(-x**2 / 2) / sqrt(2 pi) / ndtr(x)`.

    >>> round(float(hazard(0.0)), 12), float(hazard(-1e8))
    (0.797884560803, 100000000.0)
    """
    return 1 / (ROOT_HALF_PI * special.erfcx(-x / ROOT_2))


def hazard_slope(x):
    """The derivative of `hazard`, `-h (x + h)`; to the left `x + h` is a ratio, and does not cancel."""
    right = np.greater(np.real(x), 0)
    u = np.where(right, 0 * x, -x / ROOT_2)
    h = hazard(x)
    return np.where(right, -h * (x + h), h * erfcx_slope(u) / (ROOT_2 * special.erfcx(u)))[()]


def bell(x):
    """`exp(-x**2)`."""
    return np.exp(-x * x)


_FLAT = {math.inf: 0.0, -math.inf: 0.0}
TABLE.scalar(
    hazard, with_limits(hazard, lambda out, x: hazard_slope(x), {math.inf: 0.0, -math.inf: -1.0})
)
TABLE.scalar(bell, with_limits(bell, lambda out, x: -2 * x * out, _FLAT))

TABLE.row("erf", lambda out, x: SLOPE_AT_0 * bell(x), LINE, beyond=(PLANE,))
TABLE.row("erfc", lambda out, x: -SLOPE_AT_0 * bell(x), LINE, beyond=(PLANE,))
TABLE.row("erfi", lambda out, x: SLOPE_AT_0 * np.exp(x * x), LINE, beyond=(PLANE,))
erfcx_partial = with_limits(
    special.erfcx, lambda out, x: erfcx_slope(x), {math.inf: 0.0, -math.inf: lambda x: -np.exp(-x)}
)
TABLE.row("erfcx", erfcx_partial, LINE, beyond=(PLANE,))
TABLE.row(
    "dawsn", with_limits(special.dawsn, lambda out, x: dawsn_slope(x), _FLAT), LINE, beyond=(PLANE,)
)
TABLE.row("wofz", lambda out, x: wofz_slope(x), LINE, beyond=(PLANE,))
TABLE.row("erfinv", lambda out, x: np.exp(out * out) / SLOPE_AT_0, (0.3, -0.62, 0.9), note="inf at -1 and 1")
TABLE.row("erfcinv", lambda out, x: -np.exp(out * out) / SLOPE_AT_0, (0.3, 0.95, 1.7), note="-inf at 0 and 2")
TABLE.row("ndtr", lambda out, x: bell(x / ROOT_2) / ROOT_2PI, LINE, beyond=(PLANE,))
TABLE.row("log_ndtr", lambda out, x: hazard(x), LINE, beyond=(PLANE,))
TABLE.row("ndtri", lambda out, p: ROOT_2PI * np.exp(out * out / 2), INSIDE, note="inf at 0 and 1")
ndtri_exp_partial = with_limits(
    special.ndtri_exp,
    lambda out, y: over(1, hazard(out)),
    {0.0: lambda y: over(1, 0.0 - y), -math.inf: 0.0},
)
TABLE.row("ndtri_exp", ndtri_exp_partial, (-0.3, -1.2, -40.0))


def owens_t_partials(out, h, a):
    """The density at `h` times half the error function of what is left, and the integrand at `a`."""
    s = 1 + a * a
    by_h = -np.exp(-h * h / 2) / ROOT_2PI * special.erf(a * h / ROOT_2) / 2
    return by_h, np.exp(-h * h * s / 2) / (2 * math.pi * s)


TABLE.row("owens_t", owens_t_partials, (0.3, -1.2, 1.0), (0.7, 2.2, -0.6))


def voigt_partials(out, x, sigma, gamma):
    """By the Faddeeva function of `z = (x + i gamma) / (sigma sqrt(2))`, of which the profile is the real
    part. The slope by sigma is sigma times the curvature by x, as of all that is smoothed by a normal
    density: the derivative of the quotient would be the difference of two numbers far larger than itself.
    """
    z = (x + 1j * gamma) / (sigma * ROOT_2)
    slope = wofz_slope(z) / (sigma * ROOT_2PI)
    inner = 1 / (sigma * ROOT_2)
    by_sigma = np.real(wofz_curvature(z)) * inner * inner / ROOT_2PI
    return np.real(slope) * inner, by_sigma, -np.imag(slope) * inner


TABLE.row(
    "voigt_profile",
    voigt_partials,
    (0.3, -1.2, 2.0),
    (0.7, 0.4, 1.2),
    (0.2, 1.1, 0.5),
    note="NaN for sigma = 0",
)


# -- exponential integrals -----------------------------------------------------------------------------------


def exponential_integral(n, x):
    """`expn(n, x)`, also for n = 0, -1, …, by the recurrence (DLMF 8.19.12)."""
    if np.ndim(n) or n >= 0:
        return special.expn(n, x)
    return (np.exp(-x) - n * exponential_integral(n + 1, x)) / x


def expn_slope(n, x):
    """`-expn(n - 1, x)`, where n may be an array."""
    if np.ndim(n) == 0:
        return -exponential_integral(int(n) - 1, x)
    if np.any(np.less(n, 1)):
        refuse("scipy.special.expn with an array of orders that contains 0 is not differentiated",
               "call it for each order")
    return -special.expn(np.subtract(n, 1), x)


TABLE.scalar(exponential_integral, lambda out, n, x: (WHOLE, -exponential_integral(n - 1, x)))

TABLE.row("exp1", lambda out, x: -np.exp(-x) / x, (0.3, 1.2, 2.6), beyond=(PLANE,))
expi_partial = with_limits(
    special.expi, lambda out, x: np.exp(x) / x, {0.0: lambda x: over(1, x), math.inf: np.exp}
)
TABLE.row("expi", expi_partial, (0.3, -1.2, 2.6), beyond=(PLANE,))
TABLE.row("expn", lambda out, n, x: (WHOLE, expn_slope(n, x)), 2, (0.3, 1.2, 2.6))


def sinc_of(x):
    """`sin(x) / x`, 1 at 0."""
    return np.sinc(x / math.pi)


def sinhc(x):
    """`sinh(x) / x`, 1 at 0.

    >>> float(sinhc(0.0)), round(float(sinhc(1.0)), 12)
    (1.0, 1.175201193644)
    """
    if np.iscomplexobj(x):
        return np.sinc(1j * x / math.pi)
    return (special.exprel(x) + special.exprel(-x)) / 2


def cosine_over(x):
    """`cos(x) / x`."""
    return np.cos(x) / x


def cosh_over(x):
    """`cosh(x) / x`."""
    return np.cosh(x) / x


# Rules of their own: at 0 the slopes of their numerators would be divided by 0.
TABLE.scalar(cosine_over, lambda out, x: -sinc_of(x) - out / x)
TABLE.scalar(cosh_over, lambda out, x: sinhc(x) - out / x)
TABLE.row("sici", lambda out, x: ((sinc_of(x),), (cosine_over(x),)), (0.3, 1.2, 2.6), beyond=(PLANE,))
TABLE.row("shichi", lambda out, x: ((sinhc(x),), (cosh_over(x),)), (0.3, 1.2, 2.6), beyond=(PLANE,))
TABLE.row(
    "fresnel",
    lambda out, x: ((np.sin(math.pi / 2 * x * x),), (np.cos(math.pi / 2 * x * x),)),
    LINE,
    beyond=(PLANE,),
)
exprel_partial = with_limits(
    special.exprel, lambda out, x: mean_of_powers(x), {-math.inf: 0.0, math.inf: np.exp}
)
TABLE.row("exprel", exprel_partial, (0.3, -1.2, 1e-9))


def shared_logarithm(u):
    """`log1p(u) / u`, 1 at 0."""
    there = np.where(np.equal(u, 0), np.ones_like(u), u)
    return np.where(np.equal(u, 0), np.ones_like(u), special.log1p(there) / there)[()]


TABLE.scalar(shared_logarithm, lambda out, u: special.hyp2f1(2.0, 2.0, 3.0, -u) / -2)
TABLE.row(
    "spence", lambda out, z: -shared_logarithm(z - 1.0), (0.3, 1.4, 2.6), beyond=((0.4 - 0.7j, 1.3 + 0.4j),)
)
