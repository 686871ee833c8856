"""Summaries of data, integrals of samples, and densities of several numbers by their definitions, in the
arithmetic of mpmath.

As in `definitions.py` each takes vectors and matrices of mpmath and gives a list of numbers. The summaries
are those of one sample, a vector.
"""

from definitions import flat, from_lower
from mpmath import mp

# -- means ---------------------------------------------------------------------------------------------------


def mean(xs, weights=None):
    weights = [1] * len(xs) if weights is None else list(weights)
    return mp.fsum(w * x for w, x in zip(weights, xs, strict=True)) / mp.fsum(weights)


def gmean(x, w):
    return [mp.exp(mean([mp.log(v) for v in x], w))]


def hmean(x, w):
    return [1 / mean([1 / v for v in x], w)]


def pmean(x, p):
    return [mean([v ** p[0] for v in x]) ** (1 / p[0])]


def trim_mean(x):
    """Of five numbers without the smallest and the largest."""
    return [mean(sorted(x)[1:-1])]


# -- moments and scores --------------------------------------------------------------------------------------


def central(x, order):
    middle = mean(x)
    return mean([(v - middle) ** order for v in x])


def deviation(x, ddof=0):
    return mp.sqrt(central(x, 2) * len(x) / (len(x) - ddof))


def moment(x):
    return [central(x, 3)]


def skew(x):
    return [central(x, 3) / central(x, 2) ** mp.mpf(1.5)]


def kurtosis(x):
    return [central(x, 4) / central(x, 2) ** 2 - 3]


def sem(x):
    return [deviation(x, 1) / mp.sqrt(len(x))]


def variation(x):
    return [deviation(x) / mean(x)]


def zmap(scores, compare):
    return [(v - mean(compare)) / deviation(compare) for v in scores]


def zscore(x):
    return zmap(x, x)


def gzscore(x):
    return zscore([mp.log(v) for v in x])


def gstd(x):
    return [mp.exp(deviation([mp.log(v) for v in x], 1))]


def iqr(x):
    """Of five numbers: the second largest less the second smallest."""
    return [sorted(x)[3] - sorted(x)[1]]


def median_abs_deviation(x):
    middle = sorted(x)[2]
    return [sorted(abs(v - middle) for v in x)[2]]


# -- distances and transforms --------------------------------------------------------------------------------


def entropy(p, q):
    """Of what is made to add up to one, against another."""
    p, q = ([v / mp.fsum(z) for v in z] for z in (p, q))
    return [mp.fsum(v * mp.log(v / w) for v, w in zip(p, q, strict=True))]


def _between(x, y, power):
    """The integral of a power of the distance between two empirical distribution functions."""
    places, total = sorted([*x, *y]), 0
    for left, right in zip(places, places[1:]):
        shares = [mp.mpf(sum(v <= left for v in z)) / len(z) for z in (x, y)]
        total += (right - left) * abs(shares[0] - shares[1]) ** power
    return total


def wasserstein_distance(x, y):
    return [_between(x, y, 1)]


def energy_distance(x, y):
    return [mp.sqrt(2 * _between(x, y, 2))]


def boxcox(x, power):
    return [(v ** power[0] - 1) / power[0] for v in x]


def boxcox_llf(power, x):
    changed = boxcox(x, power)
    return [(power[0] - 1) * mp.fsum(mp.log(v) for v in x) - len(x) * mp.log(central(changed, 2)) / 2]


# -- densities -----------------------------------------------------------------------------------------------


def log_normal(x, m, cov):
    """The logarithm of the density of several normal numbers; of the covariance one triangle is read."""
    cov, off = from_lower(cov), x - m
    square = mp.fsum(a * b for a, b in zip(off, mp.lu_solve(cov, off), strict=True))
    return [-(square + mp.log(mp.det(cov)) + len(x) * mp.log(2 * mp.pi)) / 2]


def log_dirichlet(x, alpha):
    """Of shares, of which the last is what is left of one."""
    shares = [*x, 1 - mp.fsum(x)]
    total = mp.loggamma(mp.fsum(alpha)) - mp.fsum(mp.loggamma(a) for a in alpha)
    return [total + mp.fsum((a - 1) * mp.log(s) for a, s in zip(alpha, shares, strict=True))]


# -- integrals of five samples -------------------------------------------------------------------------------


def panels(y, x):
    return [(x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2 for i in range(len(y) - 1)]


def trapezoid(y, x):
    return [mp.fsum(panels(y, x))]


def running(parts):
    return [mp.fsum(parts[: i + 1]) for i in range(len(parts))]


def cumulative_trapezoid(y, x):
    return running(panels(y, x))


def under_parabola(y, x, low, high):
    """The integral of the parabola through three samples between two of them, by moments."""
    powers = mp.matrix([[v**k for k in range(3)] for v in x])
    coefficients = mp.lu_solve(powers, mp.matrix(y))
    return mp.fsum(c * (x[high] ** (k + 1) - x[low] ** (k + 1)) / (k + 1) for k, c in enumerate(coefficients))


def arcs(y, x):
    """For each panel the parabola through the three samples of its pair of panels."""
    y, x = list(y), list(x)
    for i in range(0, len(y) - 2, 2):
        for low in (0, 1):
            yield under_parabola(y[i : i + 3], x[i : i + 3], low, low + 1)


def simpson(y, x):
    return [mp.fsum(arcs(y, x))]


def cumulative_simpson(y, x):
    return running(list(arcs(y, x)))


def romb(y, dx):
    """Boole's rule."""
    return [2 * dx[0] / 45 * mp.fsum(w * v for w, v in zip((7, 32, 12, 32, 7), y, strict=True))]


# -- a test function -----------------------------------------------------------------------------------------


def rosen(x):
    x = flat(x)
    return [mp.fsum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))]
