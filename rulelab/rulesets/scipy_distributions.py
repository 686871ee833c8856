"""Rules for the distribution functions of `scipy.special` in their argument: the density, or one over it.

Numbers of degrees of freedom, of trials and of successes have no derivative in closed form. Densities:
Abramowitz and Stegun, chapter 26.
"""

import math

import numpy as np

from .numpy_elementwise import over
from .scipy_errors import ROOT_2PI
from .scipy_gamma import beta_power, gamma_power
from .scipy_rows import BY_FREEDOM, SpecialTable, special

TABLE = SpecialTable("scipy_distributions")

FREEDOM, OTHER, INSIDE, POSITIVE = (4.0, 1.5, 7.0), (3.0, 2.5, 5.0), (0.3, 0.62, 0.9), (0.3, 1.2, 2.6)


def chi_density(v, x):
    return gamma_power(v / 2 - 1, v / 2, x / 2) / 2


def f_density(dfn, dfd, x):
    """By the beta density at `dfn x / (dfd + dfn x)`."""
    whole = dfd + dfn * x
    u = dfn * x / whole
    return beta_power(dfn / 2 - 1, dfd / 2 - 1, dfn / 2, dfd / 2, u) * dfn * dfd / (whole * whole)


def student_density(df, t):
    log = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * math.pi) / 2
    return np.exp(log - (df + 1) / 2 * np.log1p(t * t / df))


TABLE.row("chdtr", lambda out, v, x: (BY_FREEDOM, chi_density(v, x)), FREEDOM, POSITIVE)
TABLE.row("chdtrc", lambda out, v, x: (BY_FREEDOM, -chi_density(v, x)), FREEDOM, POSITIVE)
TABLE.row("chdtri", lambda out, v, p: (BY_FREEDOM, over(-1, chi_density(v, out))), FREEDOM, INSIDE)
TABLE.row("fdtr", lambda out, n, d, x: (BY_FREEDOM, BY_FREEDOM, f_density(n, d, x)), FREEDOM, OTHER, POSITIVE)
TABLE.row(
    "fdtrc", lambda out, n, d, x: (BY_FREEDOM, BY_FREEDOM, -f_density(n, d, x)), FREEDOM, OTHER, POSITIVE
)
TABLE.row(
    "fdtri",
    lambda out, n, d, p: (BY_FREEDOM, BY_FREEDOM, over(1, f_density(n, d, out))),
    FREEDOM,
    OTHER,
    INSIDE,
)
TABLE.row("stdtr", lambda out, df, t: (BY_FREEDOM, student_density(df, t)), FREEDOM, (0.3, -1.2, 2.6))
TABLE.row("stdtrit", lambda out, df, p: (BY_FREEDOM, over(1, student_density(df, out))), FREEDOM, INSIDE)


def gdtr_partials(out, a, b, x):
    density = gamma_power(b - 1, b, a * x)
    return x * density, BY_FREEDOM, a * density


def gdtrc_partials(out, a, b, x):
    density = gamma_power(b - 1, b, a * x)
    return -x * density, BY_FREEDOM, -a * density


def gdtrix_partials(out, a, b, p):
    """Of `x` such that `gdtr(a, b, x) = p`."""
    return -out / a, BY_FREEDOM, over(1, a * gamma_power(b - 1, b, a * out))


def gdtria_partials(out, p, b, x):
    """Of `a` such that `gdtr(a, b, x) = p`."""
    return over(1, x * gamma_power(b - 1, b, out * x)), BY_FREEDOM, -out / x


TABLE.row("gdtr", gdtr_partials, (0.7, 1.3, 2.0), (1.5, 0.8, 3.0), POSITIVE)
TABLE.row("gdtrc", gdtrc_partials, (0.7, 1.3, 2.0), (1.5, 0.8, 3.0), POSITIVE)
TABLE.row("gdtrix", gdtrix_partials, (0.7, 1.3, 2.0), (1.5, 0.8, 3.0), INSIDE)
TABLE.row("gdtria", gdtria_partials, INSIDE, (1.5, 0.8, 3.0), POSITIVE)


def poisson_density(k, m):
    """The probability of `floor(k)`."""
    whole = np.floor(k)
    return gamma_power(whole, whole + 1, m)


def binomial_density(k, n, p):
    whole = np.floor(k)
    return beta_power(whole, n - whole - 1, whole + 1, n - whole, p)


def negative_density(k, n, p):
    return beta_power(n - 1, k, n, k + 1, p)


TABLE.row("pdtr", lambda out, k, m: (BY_FREEDOM, -poisson_density(k, m)), (2.0, 4.0, 1.0), POSITIVE)
TABLE.row("pdtrc", lambda out, k, m: (BY_FREEDOM, poisson_density(k, m)), (2.0, 4.0, 1.0), POSITIVE)
TABLE.row("bdtr", lambda out, k, n, p: (BY_FREEDOM, BY_FREEDOM, -binomial_density(k, n, p)), 2.0, 5, INSIDE)
TABLE.row("bdtrc", lambda out, k, n, p: (BY_FREEDOM, BY_FREEDOM, binomial_density(k, n, p)), 2.0, 5, INSIDE)
TABLE.row("nbdtr", lambda out, k, n, p: (BY_FREEDOM, BY_FREEDOM, negative_density(k, n, p)), 2, 5, INSIDE)
TABLE.row("nbdtrc", lambda out, k, n, p: (BY_FREEDOM, BY_FREEDOM, -negative_density(k, n, p)), 2, 5, INSIDE)

# Which mean or probability gives a distribution function its value, the counts held.
TABLE.row("pdtri", lambda out, k, y: (BY_FREEDOM, over(-1, poisson_density(k, out))), 2, INSIDE)
TABLE.row(
    "bdtri",
    lambda out, k, n, y: (BY_FREEDOM, BY_FREEDOM, over(-1, binomial_density(k, n, out))),
    2,
    5,
    INSIDE,
)
TABLE.row(
    "nbdtri",
    lambda out, k, n, y: (BY_FREEDOM, BY_FREEDOM, over(1, negative_density(k, n, out))),
    2,
    5,
    INSIDE,
)


def nrdtrimn_partials(out, p, std, x):
    """Of the mean `x - std z` with which a normal variable is below `x` with the probability p, and
    `z = ndtri(p)`.
    """
    z = special.ndtri(p)
    return -std * ROOT_2PI * np.exp(z * z / 2), -z, 1.0


def nrdtrisd_partials(out, mn, p, x):
    """Of the standard deviation `(x - mn) / z`."""
    z = special.ndtri(p)
    return -1 / z, -out / z * ROOT_2PI * np.exp(z * z / 2), 1 / z


TABLE.row("nrdtrimn", nrdtrimn_partials, INSIDE, (0.7, 1.3, 2.0), (0.3, -1.2, 2.6))
TABLE.row("nrdtrisd", nrdtrisd_partials, (0.3, 0.2, -1.0), INSIDE, (-0.4, 1.2, 2.6))
