"""Rules for what `scipy.special` makes of logarithms, powers and angles: entropies, the logistic function,
losses, Box-Cox transforms, small differences.

=====================================  ====================================================================
`xlogy`, `xlog1py`, `rel_entr` by `y`   0 where `x` is 0, whatever `y`
`entr`, `rel_entr`, … by `x = 0`       what the formula tends to, infinite
`huber` at `abs(r) = delta`            that of the square
=====================================  ====================================================================
"""

import math

import numpy as np

from .limits import is_met, is_one_of, with_limits
from .numpy_elementwise import LN2, LN10, over, power_partial_base, power_partial_exponent
from .scipy_errors import mean_of_powers
from .scipy_rows import OF_COUNT, OF_ONE, WHOLE, SpecialTable, special

TABLE = SpecialTable("scipy_logarithms")

LINE, POSITIVE, INSIDE = (0.3, -1.2, 2.1), (0.3, 1.2, 2.6), (0.3, 0.62, 0.9)
PLANE = (0.4 - 0.7j, -1.1 + 0.2j)
DEGREE = math.pi / 180
STEEP_IN_X = "-inf with respect to x at 0"


def quotient(x, y):
    """`x / y`, and 0 where `x` is 0, whatever `y`.

    >>> quotient(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([0.  , 0.25])
    """
    none = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return np.divide(x, np.where(none, np.ones_like(y), y))


TABLE.scalar(quotient, lambda out, x, y: (over(1, y), -quotient(out, y)))


# -- logistic ------------------------------------------------------------------------------------------------

TABLE.row("expit", lambda out, x: out * special.expit(-x), LINE)
TABLE.row("log_expit", lambda out, x: special.expit(-x), LINE)
TABLE.function_row("softplus", lambda out, x: special.expit(x), OF_ONE, LINE)
TABLE.row("logit", lambda out, x: over(1, x) + over(1, 1 - x), INSIDE, note="inf at 0 and 1")


# -- entropies -----------------------------------------------------------------------------------------------

PAIR = (0.3, 1.2, 2.6), (1.7, 0.4, 2.6)
PLANES = PLANE, (1.2 + 0.3j, 0.4 - 0.9j)
TABLE.row(
    "xlogy", lambda out, x, y: (np.log(y), quotient(x, y)), (0.3, -1.2, 2.6), (1.7, 0.4, 2.6), beyond=PLANES
)
TABLE.row(
    "xlog1py",
    lambda out, x, y: (special.log1p(y), quotient(x, 1 + y)),
    (0.3, -1.2, 2.6),
    (1.7, -0.4, 2.6),
    beyond=PLANES,
)
TABLE.row("entr", lambda out, x: -np.log(x) - 1, POSITIVE, note="inf at 0")
TABLE.row("rel_entr", lambda out, x, y: (np.log(x / y) + 1, -quotient(x, y)), *PAIR, note=STEEP_IN_X)
TABLE.row("kl_div", lambda out, x, y: (np.log(x / y), 1 - quotient(x, y)), *PAIR, note=STEEP_IN_X)


# -- losses --------------------------------------------------------------------------------------------------


def huber_partials(out, delta, r):
    """What the size of `r` is beyond `delta`, and `r` cut off there."""
    return np.maximum(np.abs(r) - delta, 0.0), np.clip(r, -delta, delta)


def pseudo_huber_partials(out, delta, r):
    """With `s = sqrt(1 + (r / delta)**2)`: `delta (s - 1)**2 / s` and `r / s`; `s - 1` does not cancel. Far
    out it is `delta |r| - delta**2`.
    """
    if not is_met(r, (math.inf, -math.inf)):
        return inner_huber_partials(delta, r)
    far = is_one_of(r, (math.inf, -math.inf))
    by_delta, by_r = inner_huber_partials(delta, np.where(far, 1.0, r))
    size = np.abs(r)
    return np.where(far, size - 2 * delta, by_delta)[()], np.where(far, delta * np.sign(r), by_r)[()]


def inner_huber_partials(delta, r):
    """The same where `r` is finite."""
    q = r / delta
    s = np.sqrt(1 + q * q)
    less = q * q / (1 + s)
    return delta * less * less / s, r / s


TABLE.row("huber", huber_partials, (1.0, 1.5, 0.4), (0.3, -2.2, 1.4))
TABLE.row("pseudo_huber", pseudo_huber_partials, (1.0, 1.5, 0.4), (0.3, -2.2, 1.4), note="NaN for delta = 0")


# -- Box-Cox -------------------------------------------------------------------------------------------------


def mean_slope(s):
    """`(s / (1 + s) - log1p(s)) / s**2`, -1/2 at 0; near 0, where that cancels, its series."""
    near = np.less(np.abs(s), 0.03)
    small = np.where(near, s, 0 * s)
    series = -1 / 2 + small * (
        2 / 3
        - small
        * (
            3 / 4
            - small
            * (4 / 5 - small * (5 / 6 - small * (6 / 7 - small * (7 / 8 - small * (8 / 9 - small * 9 / 10)))))
        )
    )
    there = np.where(near, np.ones_like(s), s)
    return np.where(near, series, (there / (1 + there) - special.log1p(there)) / (there * there))[()]


def _by_power(log, power_of):
    """The slope by the power; where the logarithm is infinite, and the mean below 0, by the power itself."""

    def slope(out, x, power):
        if not is_met(power_of(x), (0.0, math.inf)):
            return log(x) * log(x) * mean_of_powers(power * log(x))
        at = is_one_of(power_of(x), (0.0, math.inf))
        there = log(np.where(at, 1.0, x))
        base, own = np.where(at, power_of(x), 1.0), np.where(at, power, 1.0)
        settled = np.where(at, out, 1.0)
        ends = (power_partial_exponent(np.power(base, own), base, own) - settled) / own
        value = np.where(np.isfinite(out), ends, settled * settled)
        return np.where(at, value, there * there * mean_of_powers(power * there))[()]

    return slope


boxcox_slope = _by_power(np.log, lambda x: x)
boxcox1p_slope = _by_power(special.log1p, lambda x: 1 + x)


def boxcox_partials(out, x, power):
    """`x**(power - 1)`, and the mean of the square of the logarithm over the powers up to this one."""
    return np.exp(special.xlogy(power - 1, x)), boxcox_slope(out, x, power)


def boxcox1p_partials(out, x, power):
    return np.exp(special.xlog1py(power - 1, x)), boxcox1p_slope(out, x, power)


def inv_boxcox_slope(out, y, power):
    """The slope by the power; at the ends, where `1 + power * y` is 0 or infinite, what it tends to."""
    base = np.where(np.equal(power, 0), np.exp(y), 1 + power * y)
    if not is_met(base, (0.0, math.inf)):
        return out * y * y * mean_slope(power * y)
    at = is_one_of(base, (0.0, math.inf))
    within = np.where(at, 0.0, y)
    usual = np.where(at, 1.0, out) * within * within * mean_slope(power * within)
    own = np.where(np.equal(power, 0), 1.0, power)
    there = np.where(np.equal(base, 0), base, 1.0)
    by_base = np.power(there, 1 / own - 1) * (there - special.xlogy(there, there) - 1) / (own * own)
    settled = np.where(np.equal(out, 0), 0.0, -out)
    ends = np.where(np.equal(base, 0) & np.not_equal(power, 0), by_base, settled)
    return np.where(at, ends, usual)[()]


def inv_boxcox_partials(out, y, power):
    return np.exp(special.xlogy(1 - power, out)), inv_boxcox_slope(out, y, power)


def inv_boxcox1p_partials(out, y, power):
    """Those of `inv_boxcox`: near -1 there are no digits in `1 + out`."""
    return inv_boxcox_partials(special.inv_boxcox(y, power), y, power)


POWERS = (0.7, -1.3, 0.0)
TABLE.row("boxcox", boxcox_partials, POSITIVE, POWERS)
TABLE.row("boxcox1p", boxcox1p_partials, (0.3, -0.4, 2.6), POWERS)
TABLE.row("inv_boxcox", inv_boxcox_partials, (0.3, -0.4, 1.6), POWERS)
TABLE.row("inv_boxcox1p", inv_boxcox1p_partials, (0.3, -0.4, 1.6), POWERS)
TABLE.row(
    "powm1",
    lambda out, x, y: (power_partial_base(out, x, y), power_partial_exponent(np.power(x, y), x, y)),
    (0.3, 1.2, 2.6),
    (1.7, -0.4, 2.0),
)


# -- powers and small differences ----------------------------------------------------------------------------

TABLE.row("exp2", lambda out, x: LN2 * out, LINE)
TABLE.row("exp10", lambda out, x: LN10 * out, LINE)
TABLE.row("expm1", lambda out, x: np.exp(x), LINE, beyond=(PLANE,))
TABLE.row("log1p", lambda out, x: over(1, 1 + x), (0.3, -0.4, 2.6), beyond=(PLANE,))
TABLE.row("cosm1", lambda out, x: -np.sin(x), LINE)
TABLE.row(
    "cbrt",
    with_limits(special.cbrt, lambda out, x: over(1, 3 * out * out), {math.inf: 0.0, -math.inf: 0.0}),
    LINE,
    note="inf at 0",
)


# -- angles --------------------------------------------------------------------------------------------------

TABLE.row("sindg", lambda out, x: DEGREE * special.cosdg(x), (20.0, -70.0, 130.0))
TABLE.row("cosdg", lambda out, x: -DEGREE * special.sindg(x), (20.0, -70.0, 130.0))
TABLE.row("tandg", lambda out, x: DEGREE * (1 + out * out), (20.0, -70.0, 130.0))
TABLE.row("cotdg", lambda out, x: -DEGREE * (1 + out * out), (20.0, -70.0, 130.0))
TABLE.row(
    "radian",
    lambda out, d, m, s: (DEGREE, DEGREE / 60, DEGREE / 3600),
    (20.0, -70.0, 130.0),
    (3.0, 50.0, 0.5),
    (1.0, 2.0, 59.0),
)
TABLE.row("round", lambda out, x: 0.0, LINE)


def diric_slope(x, n):
    """By `diric(x, n) = U(cos(x / 2)) / n`, with Chebyshev's polynomial of degree `n - 1` (DLMF 18.9.19)."""
    cut, half = np.maximum(np.subtract(n, 2), 0), np.divide(x, 2)  # which may be a list
    return (
        -np.sin(half)
        * np.where(np.less(n, 2), 0.0, special.eval_gegenbauer(cut, 2.0, np.cos(half)))[()]
        / n
    )


TABLE.function_row("diric", lambda out, x, n: (diric_slope(x, n), WHOLE), OF_COUNT, LINE, 4)
