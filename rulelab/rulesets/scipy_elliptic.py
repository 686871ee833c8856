"""Rules for elliptic, hypergeometric and zeta functions of `scipy.special`, and Lambert's.

The slopes of elliptic integrals by their parameter are Carlson's integral `elliprd` (DLMF 19.25.1, 19.25.5,
19.25.9): the classical ones, `(E / (1 - m) - K) / (2 m)` and the like, lose all digits at `m = 0`. Their own
slopes come from the differential equation (DLMF 19.4.8) or, near `m = 0`, from the integral. Others: DLMF
15.5.1, 13.3.15, 13.3.22, 16.3.1 (hypergeometric functions), 25.11.17 (zeta), 4.13.4 (Lambert's).
"""

import math

import numpy as np

from .limits import with_limits
from .numpy_elementwise import over
from .scipy_rows import BY_EXPONENT, BY_PARAMETER, OF_BRANCH, OF_SHIFT, WHOLE, SpecialTable, special, times

TABLE = SpecialTable("scipy_elliptic")

MODULI, ANGLES = (0.3, -1.2, 0.92), (0.3, -1.2, 2.1)
NEAR = 0.1  # parameters for which the integral is summed; beyond, the equation has all digits but two


# -- complete elliptic integrals -----------------------------------------------------------------------------


def ellipk_slope(m):
    """The derivative of the first integral, `elliprd(0, 1, 1 - m) / 6`."""
    return special.elliprd(0.0, 1.0, 1.0 - m) / 6


def ellipe_slope(m):
    """That of the second one, `-elliprd(0, 1 - m, 1) / 6`."""
    return special.elliprd(0.0, 1.0 - m, 1.0) / -6


def ellipk_curvature(m):
    """The second derivative: the series at 0, else by the differential equation."""
    near = np.less(np.abs(m), NEAR)
    small, there = np.where(near, m, 0 * m), np.where(near, 0 * m + 0.5, m)
    series = 9 * math.pi / 64 * special.hyp2f1(2.5, 2.5, 3.0, small)
    rest = special.ellipk(there) / 4 - (1 - 2 * there) * ellipk_slope(there)
    return np.where(near, series, rest / (there * (1 - there)))[()]


def ellipe_curvature(m):
    near = np.less(np.abs(m), NEAR)
    small, there = np.where(near, m, 0 * m), np.where(near, 0 * m + 0.5, m)
    series = -3 * math.pi / 64 * special.hyp2f1(1.5, 2.5, 3.0, small)
    return np.where(near, series, (ellipe_slope(there) + ellipk_slope(there)) / (-2 * there))[()]


def ellipkm1_curvature(p):
    """`ellipk_curvature(1 - p)`, also for small `p`."""
    near = np.greater(p, 1 - NEAR)
    rest = special.ellipkm1(p) / 4 - (2 * p - 1) * special.elliprd(0.0, 1.0, p) / 6
    return np.where(near, ellipk_curvature(1 - p), rest / (p * (1 - p)))[()]


TABLE.scalar(
    ellipk_slope, with_limits(ellipk_slope, lambda out, m: ellipk_curvature(m), {-math.inf: 0.0})
)
TABLE.scalar(
    ellipe_slope,
    with_limits(ellipe_slope, lambda out, m: ellipe_curvature(m), {1.0: lambda m: over(-1, 1 - m)}),
)


def ellipkm1_slope(p):
    """The derivative of `ellipk(1 - p)`."""
    return special.elliprd(0.0, 1.0, p) / -6


TABLE.scalar(
    ellipkm1_slope, with_limits(ellipkm1_slope, lambda out, p: ellipkm1_curvature(p), {math.inf: 0.0})
)
TABLE.row("ellipk", lambda out, m: ellipk_slope(m), MODULI)
TABLE.row("ellipe", lambda out, m: ellipe_slope(m), MODULI)
TABLE.row("ellipkm1", lambda out, p: ellipkm1_slope(p), (0.3, 1.7, 0.04))


# -- incomplete ones -----------------------------------------------------------------------------------------


def _halves(phi):
    """How many half periods an angle has behind it, and what is left of it."""
    count = np.round(phi / math.pi)
    return count, phi - count * math.pi


def ellipkinc_slope(phi, m):
    """The derivative of the first integral by its parameter."""
    count, rest = _halves(phi)
    s, c = np.sin(rest), np.cos(rest)
    return s * s * s * special.elliprd(c * c, 1.0, 1 - m * s * s) / 6 + times(2 * count, ellipk_slope(m))


def ellipeinc_slope(phi, m):
    """That of the second one."""
    count, rest = _halves(phi)
    s, c = np.sin(rest), np.cos(rest)
    return s * s * s * special.elliprd(c * c, 1 - m * s * s, 1.0) / -6 + times(2 * count, ellipe_slope(m))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def _summed(power, rest, m):
    """The integral of `sin**4 / (1 - m sin**2)**power` from 0 to an angle, for small m."""
    total = 0 * rest
    for node, weight in zip(_NODES, _WEIGHTS):
        s = np.square(np.sin(rest * (1 + node) / 2))
        total = total + weight * s * s * (1 - m * s) ** -power
    return total * rest / 2


def ellipkinc_curvature(phi, m):
    near = np.less(np.abs(m), NEAR)
    small, there = np.where(near, m, 0 * m), np.where(near, 0 * m + 0.5, m)
    count, rest = _halves(phi)
    near_0 = 0.75 * _summed(2.5, rest, small) + times(2 * count, ellipk_curvature(small))
    end = np.sin(phi) * np.cos(phi) / (1 - there * np.square(np.sin(phi))) ** 1.5
    equation = special.ellipkinc(phi, there) - (4 - 8 * there) * ellipkinc_slope(phi, there) - end
    return np.where(near, near_0, equation / (4 * there * (1 - there)))[()]


def ellipeinc_curvature(phi, m):
    near = np.less(np.abs(m), NEAR)
    small, there = np.where(near, m, 0 * m), np.where(near, 0 * m + 0.5, m)
    count, rest = _halves(phi)
    near_0 = -0.25 * _summed(1.5, rest, small) + times(2 * count, ellipe_curvature(small))
    equation = (ellipeinc_slope(phi, there) + ellipkinc_slope(phi, there)) / (-2 * there)
    return np.where(near, near_0, equation)[()]


def ellipkinc_slope_partials(out, phi, m):
    s = np.square(np.sin(phi))
    return s / 2 / (1 - m * s) ** 1.5, ellipkinc_curvature(phi, m)


def ellipeinc_slope_partials(out, phi, m):
    s = np.square(np.sin(phi))
    return s / -2 / np.sqrt(1 - m * s), ellipeinc_curvature(phi, m)


TABLE.scalar(ellipkinc_slope, ellipkinc_slope_partials)
TABLE.scalar(ellipeinc_slope, ellipeinc_slope_partials)
TABLE.row(
    "ellipkinc",
    lambda out, phi, m: (1 / np.sqrt(1 - m * np.square(np.sin(phi))), ellipkinc_slope(phi, m)),
    ANGLES,
    MODULI,
)
TABLE.row(
    "ellipeinc",
    lambda out, phi, m: (np.sqrt(1 - m * np.square(np.sin(phi))), ellipeinc_slope(phi, m)),
    ANGLES,
    MODULI,
)


def ellipj_partials(out, u, m):
    """By the amplitude `ph`, of which `u` is the first integral."""
    sn, cn, dn, ph = out
    by_m = -dn * ellipkinc_slope(ph, m)
    by_dn = -(sn * sn + 2 * m * sn * cn * by_m) / (2 * dn)
    return (cn * dn, cn * by_m), (-sn * dn, -sn * by_m), (-m * sn * cn, by_dn), (dn, by_m)


TABLE.row("ellipj", ellipj_partials, ANGLES, (0.3, 0.05, 0.92))


# -- Carlson's -----------------------------------------------------------------------------------------------


def elliprf_partials(out, x, y, z):
    return (
        special.elliprd(y, z, x) / -6,
        special.elliprd(z, x, y) / -6,
        special.elliprd(x, y, z) / -6,
    )


_IN_POWERS = (1.0, 1.5, 1.875, 2.1875, 2.4609375, 2.70703125)  # of (1 - t)**-1.5


def elliprd_slope(out, x, y, z):
    """The derivative of `out = elliprd(x, y, z)` by `x`: by the equation of Euler and Poisson (DLMF 19.18.12)
    or, where that is the difference of numbers that are nearly equal, by a series.
    """
    near = np.less(np.abs(x - z), 0.05 * np.abs(x + z))
    apart = np.where(near, 1.0, 2 * (x - z))
    return np.where(near, _beside(x, y, np.where(near, z, x)), (special.elliprd(y, z, x) - out) / apart)[()]


def _beside(x, y, z):
    """That derivative near `x = z`: the integral of `-3/4 ((t + m)**2 - d * d)**-1.5 (t + y)**-0.5` over all
    positive `t`, where `m` is the mean of `x` and `z` and `d` half their difference, in powers of `d / m`.
    """
    m, d = (x + z) / 2, (x - z) / 2
    square, at, total = (d / m) * (d / m), 1 - y / m, 0.0
    for k in reversed(range(len(_IN_POWERS))):
        power = 2 * k + 2.5
        term = _IN_POWERS[k] / power * special.hyp2f1(0.5, power, power + 1, at)
        total = total * square + term
    return -0.75 * total / (m * m * np.sqrt(m))


def elliprd_partials(out, x, y, z):
    """By the first two, and by the last from the degree -3/2."""
    by_x, by_y = elliprd_slope(out, x, y, z), elliprd_slope(out, y, x, z)
    return by_x, by_y, (-1.5 * out - times(x, by_x) - times(y, by_y)) / z


_PARTS = (0.3, 1.2, 2.6), (0.7, 2.2, 0.4), (1.7, 0.6, 1.1)
_PLANES = (0.4 - 0.7j, 1.1 + 0.2j), (1.2 + 0.3j, 0.4 - 0.9j), (0.6 + 0.1j, 2.0 - 0.2j)
TABLE.row("elliprf", elliprf_partials, *_PARTS, beyond=_PLANES)
TABLE.row("elliprd", elliprd_partials, *_PARTS, beyond=_PLANES)


# -- hypergeometric ------------------------------------------------------------------------------------------

TABLE.row(
    "hyp0f1", lambda out, v, z: (BY_PARAMETER, special.hyp0f1(v + 1, z) / v), (0.5, 2.3, 1.0), ANGLES,
    beyond=((0.5, 2.3), (0.4 - 0.7j, 1.1 + 0.2j)),
)  # fmt: skip
TABLE.row(
    "hyp1f1",
    lambda out, a, b, x: (BY_PARAMETER, BY_PARAMETER, a / b * special.hyp1f1(a + 1, b + 1, x)),
    (0.5, 2.3, 1.0), (1.5, 0.7, 2.0), ANGLES, beyond=((0.5, 2.3), (1.5, 0.7), (0.4 - 0.7j, 1.1 + 0.2j)),
)  # fmt: skip
TABLE.row(
    "hyp2f1",
    lambda out, a, b, c, z: (*(BY_PARAMETER,) * 3, a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)),
    (0.5, 2.3, 1.0), (1.5, 0.7, 2.0), (2.2, 1.4, 3.0), (0.3, -1.2, 0.8),
    beyond=((0.5, 2.3), (1.5, 0.7), (2.2, 1.4), (0.4 - 0.7j, 0.3 + 0.2j)),
)  # fmt: skip
TABLE.row(
    "hyperu",
    lambda out, a, b, x: (BY_PARAMETER, BY_PARAMETER, -a * special.hyperu(a + 1, b + 1, x)),
    (0.5, 2.3, 1.0), (1.5, 0.7, 2.0), (0.3, 1.2, 2.6),
)  # fmt: skip
TABLE.row(
    "wright_bessel",
    lambda out, a, b, x: (BY_PARAMETER, BY_PARAMETER, special.wright_bessel(a, a + b, x)),
    (0.5, 2.3, 1.0), (1.5, 0.7, 2.0), (0.3, 1.2, 2.6),
)  # fmt: skip
TABLE.row(
    "log_wright_bessel",
    lambda out, a, b, x: (BY_PARAMETER, BY_PARAMETER, np.exp(special.log_wright_bessel(a, a + b, x) - out)),
    (0.5, 2.3, 1.0), (1.5, 0.7, 2.0), (0.3, 1.2, 2.6),
)  # fmt: skip


# -- zeta and Lambert's --------------------------------------------------------------------------------------


def zeta_partials(out, x, q):
    """That of Hurwitz' function by `q`; by the exponent there is none in closed form."""
    return BY_EXPONENT, WHOLE if q is None else -x * special.zeta(x + 1, q)


TABLE.function_row("zeta", zeta_partials, OF_SHIFT, (2.5, 3.2, 1.6), (0.3, 1.2, 2.6))
TABLE.row("zetac", lambda out, x: BY_EXPONENT, (2.5, 3.2, 1.6))


def lambertw_slope(w):
    """`exp(-w) / (1 + w)`, which is `w / (z (1 + w))` and has no quotient of zeros at `z = 0`."""
    return np.exp(-w) / (1 + w)


TABLE.function_row(
    "lambertw",
    lambda out, z, k, tol: (lambertw_slope(out), WHOLE, WHOLE),
    OF_BRANCH,
    (0.3, 1.2, 2.6),
    0,
    1e-8,
    beyond=((0.4 - 0.7j, -1.1 + 0.2j), 0, 1e-8),
    note="infinite at -1/e",
)
TABLE.also_at("lambertw", (np.array([-0.3, -0.1]), -1), (1.3, 2))
TABLE.also_at("lambertw", (np.array([-0.3, -0.1]),), k=-1)
TABLE.row(
    "wrightomega",
    with_limits(special.wrightomega, lambda out, z: out / (1 + out), {math.inf: 1.0}),
    ANGLES,
    beyond=((0.4 - 0.7j, -1.1 + 0.2j),),
)
