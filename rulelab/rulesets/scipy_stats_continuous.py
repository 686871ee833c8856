"""The continuous distributions of `scipy.stats` that have rules, a row each.

A row says how the standardised log-density changes with `z` and with each shape, and how the quantile of a
fixed probability moves with each shape. For the rest see `scipy_stats_rows`. Densities: N. L. Johnson,
S. Kotz and N. Balakrishnan, "Continuous univariate distributions", 1994, in the form that SciPy has.
"""

import math

import numpy as np

from .scipy_errors import hazard, shared_logarithm
from .scipy_rows import special
from .scipy_stats_rows import DistributionTable, evaluated, share, stats

TABLE = DistributionTable("scipy_stats_continuous")

POSITIVE, UNIT = (0.0, math.inf), (0.0, 1.0)
LINE, HALF, INSIDE = (0.3, -1.2, 2.1), (0.3, 1.2, 2.6), (0.3, 0.62, 0.9)
psi, xlogy = special.psi, special.xlogy


def psi_slope(x):
    """The derivative of `psi`."""
    return special.polygamma(1, x)


# -- on the whole line ---------------------------------------------------------------------------------------

TABLE.row("norm", LINE, density=(lambda z: -z,), rates=(hazard, lambda z: hazard(-z)))
TABLE.row("laplace", LINE, density=(lambda z: -np.sign(z),), note="0 at the peak")
TABLE.row(
    "logistic",
    LINE,
    density=(lambda z: -np.tanh(z / 2),),
    rates=(lambda z: special.expit(-z), lambda z: special.expit(z)),
)
TABLE.row("hypsecant", LINE, density=(lambda z: -np.tanh(z),))
TABLE.row("cauchy", LINE, density=(lambda z: -2 * z / (1 + z * z),))
TABLE.row("gumbel_r", LINE, density=(lambda z: np.expm1(-z),), rates=(lambda z: np.exp(-z), None))
TABLE.row("gumbel_l", LINE, density=(lambda z: -np.expm1(z),), rates=(None, lambda z: np.exp(z)))
TABLE.row("moyal", LINE, density=(lambda z: np.expm1(-z) / 2,))


def student_by_df(z, df):
    square = z * z
    constant = psi((df + 1) / 2) - psi(df / 2) - 1 / df
    return (constant - np.log1p(square / df) + (df + 1) * square / (df * (df + square))) / 2


TABLE.row(
    "t",
    LINE,
    (4.0, 2.5, 7.0),
    density=(lambda z, df: -(df + 1) * z / (df + z * z), student_by_df),
    mean=(lambda df: 0.0 * df,),
    var=(lambda df: -2 / (df - 2) ** 2,),
    entropy=(lambda df: (df + 1) / 4 * (psi_slope((df + 1) / 2) - psi_slope(df / 2)) + 1 / (2 * df),),
)
TABLE.row(
    "skewnorm",
    LINE,
    (0.7, -1.3, 2.0),
    density=(lambda z, a: a * hazard(a * z) - z, lambda z, a: z * hazard(a * z)),
    moves=(lambda z, a: hazard(a * z) / (1 + a * a),),
)
TABLE.row(
    "vonmises",
    (0.3, -1.2, 2.1),
    (0.7, 1.3, 2.0),
    density=(
        lambda z, kappa: -kappa * np.sin(z),
        lambda z, kappa: np.cos(z) - special.i1e(kappa) / special.i0e(kappa),
    ),
    note="no slope of draws",
)

# -- of what is positive -------------------------------------------------------------------------------------

TABLE.row(
    "expon",
    HALF,
    density=(lambda z: -1.0 + 0.0 * z,),
    support=POSITIVE,
    rates=(None, lambda z: 1.0 + 0.0 * z),
)
TABLE.row("halfnorm", HALF, density=(lambda z: -z,), support=POSITIVE, rates=(None, lambda z: hazard(-z)))
TABLE.row("halfcauchy", HALF, density=(lambda z: -2 * z / (1 + z * z),), support=POSITIVE)
TABLE.row("halflogistic", HALF, density=(lambda z: -np.tanh(z / 2),), support=POSITIVE)
TABLE.row("rayleigh", HALF, density=(lambda z: 1 / z - z,), support=POSITIVE, rates=(None, lambda z: z))
TABLE.row("maxwell", HALF, density=(lambda z: 2 / z - z,), support=POSITIVE)
TABLE.row("levy", HALF, density=(lambda z: (1 / z - 3) / (2 * z),), support=POSITIVE)
TABLE.row("wald", HALF, density=(lambda z: ((1 / z - 3) / z - 1) / 2,), support=POSITIVE)
TABLE.row(
    "gamma",
    HALF,
    (2.0, 0.7, 3.5),
    support=POSITIVE,
    density=(lambda z, a: share(a - 1, z) - 1, lambda z, a: np.log(z) - psi(a)),
    mean=(lambda a: 1.0 + 0.0 * a,),
    var=(lambda a: 1.0 + 0.0 * a,),
    entropy=(lambda a: 1 + (1 - a) * psi_slope(a),),
)
TABLE.row(
    "chi2",
    HALF,
    (4.0, 1.5, 7.0),
    support=POSITIVE,
    density=(
        lambda z, df: share(df / 2 - 1, z) - 0.5,
        lambda z, df: (np.log(z / 2) - psi(df / 2)) / 2,
    ),
    mean=(lambda df: 1.0 + 0.0 * df,),
    var=(lambda df: 2.0 + 0.0 * df,),
    entropy=(lambda df: (1 + (1 - df / 2) * psi_slope(df / 2)) / 2,),
)
TABLE.row(
    "chi",
    HALF,
    (4.0, 1.5, 7.0),
    support=POSITIVE,
    density=(
        lambda z, df: share(df - 1, z) - z,
        lambda z, df: np.log(z) - (math.log(2) + psi(df / 2)) / 2,
    ),
)


def f_by_first(z, n, m):
    whole = m + n * z
    return (np.log(n * z / whole) + 1 - (n + m) * z / whole - psi(n / 2) + psi((n + m) / 2)) / 2


def f_by_second(z, n, m):
    whole = m + n * z
    return (np.log(m / whole) + 1 - (n + m) / whole - psi(m / 2) + psi((n + m) / 2)) / 2


def f_var(n, m):
    return 2 * m**2 * (n + m - 2) / (n * (m - 2) ** 2 * (m - 4))


TABLE.row(
    "f",
    HALF,
    (4.0, 1.5, 7.0),
    (9.0, 5.5, 6.0),
    support=POSITIVE,
    density=(lambda z, n, m: share(n / 2 - 1, z) - (n + m) / 2 * n / (m + n * z), f_by_first, f_by_second),
    mean=(lambda n, m: 0.0 * n, lambda n, m: -2 / (m - 2) ** 2),
    var=(
        lambda n, m: f_var(n, m) * (1 / (n + m - 2) - 1 / n),
        lambda n, m: f_var(n, m) * (2 / m + 1 / (n + m - 2) - 2 / (m - 2) - 1 / (m - 4)),
    ),
)
TABLE.row(
    "lognorm",
    HALF,
    (0.7, 1.3, 0.4),
    support=POSITIVE,
    density=(
        lambda z, s: -(1 + np.log(z) / s**2) / z,
        lambda z, s: ((np.log(z) / s) ** 2 - 1) / s,
    ),
    moves=(lambda z, s: xlogy(z, z) / s,),
    mean=(lambda s: s * np.exp(s * s / 2),),
    var=(lambda s: 2 * s * np.exp(s * s) * (2 * np.exp(s * s) - 1),),
    entropy=(lambda s: 1 / s,),
    draws=True,
)


def weibull_var(c):
    one, two = 1 + 1 / c, 1 + 2 / c
    return 2 * (special.gamma(one) ** 2 * psi(one) - special.gamma(two) * psi(two)) / c**2


TABLE.row(
    "weibull_min",
    HALF,
    (1.7, 0.8, 2.3),
    support=POSITIVE,
    density=(
        lambda z, c: share(c - 1, z) - c * z ** (c - 1),
        lambda z, c: 1 / c + np.log(z) * (1 - z**c),
    ),
    moves=(lambda z, c: -xlogy(z, z) / c,),
    rates=(None, lambda z, c: c * z ** (c - 1)),
    mean=(lambda c: -psi(1 + 1 / c) * special.gamma(1 + 1 / c) / c**2,),
    var=(weibull_var,),
    entropy=(lambda c: (np.euler_gamma / c - 1) / c,),
    draws=True,
)
TABLE.row(
    "weibull_max",
    (-0.3, -1.2, -2.6),
    (1.7, 0.8, 2.3),
    support=(-math.inf, 0.0),
    density=(
        lambda z, c: share(c - 1, z) + c * (-z) ** (c - 1),
        lambda z, c: 1 / c + np.log(-z) * (1 - (-z) ** c),
    ),
    moves=(lambda z, c: xlogy(-z, -z) / c,),
    rates=(lambda z, c: c * (-z) ** (c - 1), None),
    mean=(lambda c: psi(1 + 1 / c) * special.gamma(1 + 1 / c) / c**2,),
    var=(weibull_var,),
    entropy=(lambda c: (np.euler_gamma / c - 1) / c,),
    draws=True,
)
TABLE.row(
    "fisk",
    HALF,
    (1.7, 0.8, 2.3),
    support=POSITIVE,
    density=(
        lambda z, c: -(1 + c * np.tanh(c * np.log(z) / 2)) / z,
        lambda z, c: 1 / c - np.log(z) * np.tanh(c * np.log(z) / 2),
    ),
    moves=(lambda z, c: -xlogy(z, z) / c,),
)
TABLE.row(
    "lomax",
    HALF,
    (1.7, 0.8, 3.3),
    support=POSITIVE,
    density=(lambda z, c: -(c + 1) / (1 + z), lambda z, c: 1 / c - np.log1p(z)),
    moves=(lambda z, c: -(1 + z) * np.log1p(z) / c,),
    rates=(None, lambda z, c: c / (1 + z)),
    draws=True,
)
TABLE.row(
    "invgamma",
    HALF,
    (2.7, 3.8, 4.3),
    support=POSITIVE,
    density=(lambda z, a: (1 / z - a - 1) / z, lambda z, a: -np.log(z) - psi(a)),
    mean=(lambda a: -1 / (a - 1) ** 2,),
    var=(lambda a: -(2 / (a - 1) + 1 / (a - 2)) / ((a - 1) ** 2 * (a - 2)),),
    entropy=(lambda a: 1 - (a + 1) * psi_slope(a),),
)


def inverse_gauss_move(z, mu):
    """By the ratio of Mills: the distribution function changes with `mu` by its second term alone."""
    return 2 / mu**2 * z * np.sqrt(z) / hazard(-(z / mu + 1) / np.sqrt(z))


TABLE.row(
    "invgauss",
    HALF,
    (0.7, 1.3, 2.0),
    support=POSITIVE,
    density=(lambda z, mu: ((1 / z - 3) / z - 1 / mu**2) / 2, lambda z, mu: (z - mu) / mu**3),
    moves=(inverse_gauss_move,),
    mean=(lambda mu: 1.0 + 0.0 * mu,),
    var=(lambda mu: 3 * mu**2,),
)

# -- between bounds, and beyond one --------------------------------------------------------------------------

TABLE.row("uniform", INSIDE, density=(lambda z: 0.0 * z,), support=UNIT)
TABLE.row("arcsine", INSIDE, density=(lambda z: (1 / (1 - z) - 1 / z) / 2,), support=UNIT)
TABLE.row(
    "beta",
    INSIDE,
    (2.0, 0.7, 3.5),
    (1.5, 2.5, 0.8),
    support=UNIT,
    density=(
        lambda z, a, b: share(a - 1, z) - share(b - 1, 1 - z),
        lambda z, a, b: np.log(z) - psi(a) + psi(a + b),
        lambda z, a, b: np.log1p(-z) - psi(b) + psi(a + b),
    ),
    mean=(lambda a, b: b / (a + b) ** 2, lambda a, b: -a / (a + b) ** 2),
    var=(
        lambda a, b: beta_var(a, b) * (1 / a - 2 / (a + b) - 1 / (a + b + 1)),
        lambda a, b: beta_var(a, b) * (1 / b - 2 / (a + b) - 1 / (a + b + 1)),
    ),
    entropy=(
        lambda a, b: (1 - a) * psi_slope(a) + (a + b - 2) * psi_slope(a + b),
        lambda a, b: (1 - b) * psi_slope(b) + (a + b - 2) * psi_slope(a + b),
    ),
)


def beta_var(a, b):
    return a * b / ((a + b) ** 2 * (a + b + 1))


TABLE.row(
    "powerlaw",
    INSIDE,
    (1.7, 0.8, 2.3),
    support=UNIT,
    density=(lambda z, a: share(a - 1, z), lambda z, a: 1 / a + np.log(z)),
    moves=(lambda z, a: -xlogy(z, z) / a,),
    rates=(lambda z, a: a / z, None),
    mean=(lambda a: 1 / (a + 1) ** 2,),
    var=(lambda a: (1 - a / (a + 2) - 2 * a / (a + 1)) / ((a + 2) * (a + 1) ** 2),),
    entropy=(lambda a: (1 / a - 1) / a,),
    draws=True,
)
TABLE.row(
    "pareto",
    (1.3, 2.2, 3.6),
    (2.7, 3.8, 2.3),
    support=(1.0, math.inf),
    density=(lambda z, b: -(b + 1) / z, lambda z, b: 1 / b - np.log(z)),
    moves=(lambda z, b: -xlogy(z, z) / b,),
    rates=(None, lambda z, b: b / z),
    mean=(lambda b: -1 / (b - 1) ** 2,),
    var=(lambda b: (1 - 2 * b / (b - 1) - b / (b - 2)) / ((b - 1) ** 2 * (b - 2)),),
    entropy=(lambda b: -(1 / b + 1) / b,),
    draws=True,
)
TABLE.row(
    "triang",
    INSIDE,
    (0.4, 0.3, 0.7),
    support=UNIT,
    density=(
        lambda z, c: np.where(z < c, 1 / z, -1 / (1 - z)),
        lambda z, c: np.where(z < c, -1 / c, 1 / (1 - c)),
    ),
    moves=(lambda z, c: np.where(z < c, z / c, (1 - z) / (1 - c)) / 2,),
    mean=(lambda c: 1 / 3 + 0.0 * c,),
    var=(lambda c: (2 * c - 1) / 18,),
    entropy=(lambda c: 0.0 * c,),
    draws=True,
    note="the right slope at the peak",
)


def edge(x, a, b):
    """The density of a truncated normal distribution where it begins or ends."""
    return evaluated("pdf", stats.truncnorm, x, 0.0, 1.0, a, b)


def cut_move(name, x, z, a, b):
    """How a quantile moves with an end `x`: by the density there and what lies beyond the quantile."""
    beyond = evaluated(name, stats.truncnorm, z, 0.0, 1.0, a, b)
    return edge(x, a, b) * beyond / evaluated("pdf", stats.truncnorm, z, 0.0, 1.0, a, b)


TABLE.row(
    "truncnorm",
    LINE,
    (-1.0, -2.0, 0.5),
    (2.0, 0.5, 3.5),
    support=lambda a, b: (a, b),
    density=(lambda z, a, b: -z, lambda z, a, b: edge(a, a, b), lambda z, a, b: -edge(b, a, b)),
    moves=(
        lambda z, a, b: cut_move("sf", a, z, a, b),
        lambda z, a, b: cut_move("cdf", b, z, a, b),
    ),
    draws=True,
)


def log_ratio(z, a, b):
    return np.log(z / a) / np.log(b / a)


TABLE.row(
    "loguniform",
    (1.3, 2.2, 3.6),
    (0.7, 0.8, 1.3),
    (5.0, 2.5, 4.5),
    support=lambda a, b: (a, b),
    density=(
        lambda z, a, b: -1 / z,
        lambda z, a, b: 1 / (a * np.log(b / a)),
        lambda z, a, b: -1 / (b * np.log(b / a)),
    ),
    moves=(
        lambda z, a, b: z * (1 - log_ratio(z, a, b)) / a,
        lambda z, a, b: z * log_ratio(z, a, b) / b,
    ),
    draws=True,
)

# -- of extremes ---------------------------------------------------------------------------------------------
# Both are made of `log1p(c z) / c`, which goes over into `z` where c is 0.


def logarithm_slope(u):
    """`-d/du log1p(u) / u`: near 0 as a hypergeometric function, since the difference cancels.

    >>> float(logarithm_slope(0.0)), round(float(logarithm_slope(1.0)), 12)
    (0.5, 0.19314718056)
    """
    near = np.less(np.abs(u), 0.3)
    small, large = np.where(near, u, 0.0), np.where(near, 1.0, u)
    far = (np.log1p(large) - large / (1 + large)) / (large * large)
    return np.where(near, special.hyp2f1(2.0, 2.0, 3.0, -small) / 2, far)


def weighted_slope(x):
    """`(1 + x) logarithm_slope(x)`, which is 1 at -1: at the end of a support.

    >>> float(weighted_slope(-1.0)), float(weighted_slope(0.0)), round(float(weighted_slope(1.0)), 12)
    (1.0, 0.5, 0.38629436112)
    """
    near = np.less(np.abs(x), 0.3)
    small, large = np.where(near, x, 0.0), np.where(near, 1.0, x)
    far = (special.xlogy(1 + large, 1 + large) - large) / (large * large)
    return np.where(near, (1 + small) * logarithm_slope(small), far)


def extreme_support(c):
    end = 1 / np.where(np.equal(c, 0), 1.0, c)
    return np.where(np.less(c, 0), end, -np.inf), np.where(np.greater(c, 0), end, np.inf)


def reduced(z, c):
    """The variable in which the distribution is a standard Gumbel one, and infinite at its end."""
    return -z * shared_logarithm(-c * z)


def extreme_spread(q, y, c):
    """The slope of the quantile by the probability `q`, whose negative logarithm is `y`."""
    return np.where(np.equal(q, 0), np.inf, y ** (c - 1.0) / q)


def extreme_by_c(z, c):
    u = reduced(z, c)
    return -u - (1 - c - np.exp(u)) * z * z * logarithm_slope(-c * z)


TABLE.row(
    "genextreme",
    (0.3, -1.2, 1.1),
    (0.4, -0.3, 0.0),
    support=extreme_support,
    density=(lambda z, c: -(1 - c - np.exp(reduced(z, c))) / (1 - c * z), extreme_by_c),
    moves=(lambda z, c: -z * z * weighted_slope(-c * z),),
    rates=(lambda z, c: np.exp((1 - c) * reduced(z, c)), None),
    spreads=(
        lambda q, c: extreme_spread(q, -np.log(q), c),
        lambda p, c: extreme_spread(1 - p, -np.log1p(-p), c),
    ),
    draws=True,
)


def excess_support(c):
    falls = np.less(c, 0)
    return 0.0, np.where(falls, -1 / np.where(falls, c, -1.0), np.inf)


def excess_by_c(z, c):
    return z * ((1 + c) * z * logarithm_slope(c * z) - shared_logarithm(c * z))


TABLE.row(
    "genpareto",
    HALF,
    (0.4, -0.3, 0.0),
    support=excess_support,
    density=(lambda z, c: -(1 + c) / (1 + c * z), excess_by_c),
    moves=(lambda z, c: z * z * weighted_slope(c * z),),
    rates=(None, lambda z, c: 1 / (1 + c * z)),
    spreads=(lambda q, c: (1 - q) ** (-c - 1.0), lambda p, c: p ** (-c - 1.0)),
    mean=(lambda c: 1 / (1 - c) ** 2,),
    var=(lambda c: 2 * (1 / (1 - c) + 1 / (1 - 2 * c)) / ((1 - c) ** 2 * (1 - 2 * c)),),
    entropy=(lambda c: 1.0 + 0.0 * c,),
    draws=True,
)
