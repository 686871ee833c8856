"""What mpmath says of the distributions of `scipy.stats`: the logarithm of each density as textbooks have it,
from which slopes are taken at many digits. It knows nothing of the rules, nor of SciPy's own code.
"""

import mpmath as mp

DIGITS = 30
HALF = mp.mpf(1) / 2


def _log_ndtr(z):
    return mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)


def _normal(z):
    return -z * z / 2 - mp.log(2 * mp.pi) / 2


def _gamma(z, a):
    return (a - 1) * mp.log(z) - z - mp.loggamma(a)


def _log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def _f(z, m, n):
    return (
        m / 2 * mp.log(m / n)
        + (m / 2 - 1) * mp.log(z)
        - (m + n) / 2 * mp.log(1 + m * z / n)
        - _log_beta(m / 2, n / 2)
    )


def _triangle(z, c):
    return mp.log(2 * z / c if z < c else 2 * (1 - z) / (1 - c))


def _truncated(z, a, b):
    return _normal(z) - mp.log(mp.erf(b / mp.sqrt(2)) / 2 - mp.erf(a / mp.sqrt(2)) / 2)


def _extreme(z, c):
    if c == 0:
        return -z - mp.exp(-z)
    t = 1 - c * z
    return (1 / c - 1) * mp.log(t) - t ** (1 / c)


def _binomial(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


DENSITIES = {
    "norm": _normal,
    "laplace": lambda z: -abs(z) - mp.log(2),
    "logistic": lambda z: -z - 2 * mp.log(1 + mp.exp(-z)),
    "hypsecant": lambda z: -mp.log(mp.pi * mp.cosh(z)),
    "cauchy": lambda z: -mp.log(mp.pi * (1 + z * z)),
    "gumbel_r": lambda z: -z - mp.exp(-z),
    "gumbel_l": lambda z: z - mp.exp(z),
    "moyal": lambda z: -(z + mp.exp(-z)) / 2 - mp.log(2 * mp.pi) / 2,
    "t": lambda z, n: (
        -(n + 1) / 2 * mp.log(1 + z * z / n) - mp.log(n) / 2 - _log_beta(HALF, n / 2)
    ),
    "skewnorm": lambda z, a: mp.log(2) + _normal(z) + _log_ndtr(a * z),
    "vonmises": lambda z, k: k * mp.cos(z) - mp.log(2 * mp.pi * mp.besseli(0, k)),
    "expon": lambda z: -z,
    "halfnorm": lambda z: mp.log(2) + _normal(z),
    "halfcauchy": lambda z: mp.log(2 / mp.pi / (1 + z * z)),
    "halflogistic": lambda z: mp.log(2) - z - 2 * mp.log(1 + mp.exp(-z)),
    "rayleigh": lambda z: mp.log(z) - z * z / 2,
    "maxwell": lambda z: mp.log(2 / mp.pi) / 2 + 2 * mp.log(z) - z * z / 2,
    "levy": lambda z: -1 / (2 * z) - mp.log(2 * mp.pi * z**3) / 2,
    "wald": lambda z: -((z - 1) ** 2) / (2 * z) - mp.log(2 * mp.pi * z**3) / 2,
    "gamma": _gamma,
    "chi2": lambda z, n: _gamma(z / 2, n / 2) - mp.log(2),
    "chi": lambda z, n: _gamma(z * z / 2, n / 2) + mp.log(z),
    "f": _f,
    "lognorm": lambda z, s: _normal(mp.log(z) / s) - mp.log(s * z),
    "weibull_min": lambda z, c: mp.log(c) + (c - 1) * mp.log(z) - z**c,
    "weibull_max": lambda z, c: mp.log(c) + (c - 1) * mp.log(-z) - (-z) ** c,
    "fisk": lambda z, c: mp.log(c) + (c - 1) * mp.log(z) - 2 * mp.log(1 + z**c),
    "lomax": lambda z, c: mp.log(c) - (c + 1) * mp.log(1 + z),
    "invgamma": lambda z, a: -(a + 1) * mp.log(z) - 1 / z - mp.loggamma(a),
    "invgauss": lambda z, m: -((z - m) ** 2) / (2 * z * m * m) - mp.log(2 * mp.pi * z**3) / 2,
    "uniform": lambda z: 0 * z,
    "arcsine": lambda z: -mp.log(mp.pi) - mp.log(z * (1 - z)) / 2,
    "beta": lambda z, a, b: (a - 1) * mp.log(z) + (b - 1) * mp.log(1 - z) - _log_beta(a, b),
    "powerlaw": lambda z, a: mp.log(a) + (a - 1) * mp.log(z),
    "pareto": lambda z, b: mp.log(b) - (b + 1) * mp.log(z),
    "triang": _triangle,
    "truncnorm": _truncated,
    "loguniform": lambda z, a, b: -mp.log(z * mp.log(b / a)),
    "genextreme": _extreme,
    "genpareto": lambda z, c: -z if c == 0 else -(1 + 1 / c) * mp.log(1 + c * z),
    "poisson": lambda k, m: k * mp.log(m) - m - mp.loggamma(k + 1),
    "binom": lambda k, n, p: _binomial(n, k) + k * mp.log(p) + (n - k) * mp.log(1 - p),
    "bernoulli": lambda k, p: mp.log(p if k else 1 - p),
    "geom": lambda k, p: (k - 1) * mp.log(1 - p) + mp.log(p),
    "nbinom": lambda k, n, p: (
        mp.loggamma(k + n) - mp.loggamma(k + 1) - mp.loggamma(n) + n * mp.log(p) + k * mp.log(1 - p)
    ),
}
"""The logarithm of the density at a standardised value, or of the probability of a count, by shapes."""


def slope_of_density(name, args, i, discrete):
    """The derivative of the logarithm of the density at `(x, *shapes, loc, scale)`, or of a probability at
    `(k, *shapes, loc)`, by the i-th of them.
    """
    with mp.workdps(DIGITS):
        args = [mp.mpf(float(x)) for x in args]
        return float(mp.diff(lambda x: _density(name, [*args[:i], x, *args[i + 1 :]], discrete), args[i]))


def density(name, args, discrete=False):
    """The density itself."""
    with mp.workdps(DIGITS):
        return float(mp.exp(_density(name, [mp.mpf(float(x)) for x in args], discrete)))


def _density(name, args, discrete):
    if discrete:
        k, *shapes, loc = args
        return DENSITIES[name](k - loc, *shapes)
    x, *shapes, loc, scale = args
    return DENSITIES[name]((x - loc) / scale, *shapes) - mp.log(scale)


# -- integrals of densities ----------------------------------------------------------------------------------

STEP = mp.mpf(10) ** -6
ON_THE_LINE = "norm laplace logistic hypsecant cauchy gumbel_r gumbel_l moyal t skewnorm".split()
ENDS = {  # of the others than these: from 0 to infinity
    **dict.fromkeys(ON_THE_LINE, (-mp.inf, mp.inf)),
    **dict.fromkeys("uniform arcsine beta powerlaw".split(), (0, 1)),
    "triang": lambda c: (0, c, 1),
    "vonmises": (-mp.pi, mp.pi),
    "pareto": (1, mp.inf),
    "weibull_max": (-mp.inf, 0),
    "truncnorm": lambda a, b: (a, b),
    "loguniform": lambda a, b: (a, b),
    # To the left it falls like exp(-exp(-x)), which mpmath follows for ever: from where it is e**-400.
    "genextreme": lambda c: ((1 - mp.mpf(400) ** c) / c, 0, 1 / c if c > 0 else mp.inf),
    "genpareto": lambda c: (0, mp.inf) if c >= 0 else (0, -1 / c),
}


def _places(name, shapes, until=None):
    """Where a density begins, has a kink and ends; up to a value."""
    ends = ENDS.get(name, (0, mp.inf))
    places = ends(*shapes) if callable(ends) else ends
    return places if until is None else [*[x for x in places[:-1] if x < until], until]


def _probability(name, z, shapes):
    if name in COUNTS:
        return mp.fsum(mp.exp(DENSITIES[name](k, *shapes)) for k in range(COUNTS[name], int(z) + 1))
    of = lambda x: mp.re(mp.exp(DENSITIES[name](x, *shapes)))  # complex where an end is rounded
    return mp.quad(of, _places(name, shapes, z))


def _expected(name, f, shapes):
    """The mean of a function of the value and of the logarithm of its density."""

    def weighed(x):
        log_density = DENSITIES[name](x, *shapes)
        return mp.re(f(x, log_density) * mp.exp(log_density))

    if name in COUNTS:
        last = int(shapes[0]) if name == "binom" else 1 if name == "bernoulli" else 400
        return mp.fsum(weighed(mp.mpf(k)) for k in range(COUNTS[name], last + 1))
    first, *rest = _places(name, shapes)
    middle = 0 if first == -mp.inf else first + 1
    return mp.quad(weighed, (first, middle, *rest) if rest == [mp.inf] else (first, *rest))


def _mean(name, shapes):
    return _expected(name, lambda x, log_density: x, shapes)


def _variance(name, shapes):
    mean = _mean(name, shapes)
    return _expected(name, lambda x, log_density: (x - mean) ** 2, shapes)


COUNTS = {"poisson": 0, "binom": 0, "bernoulli": 0, "geom": 1, "nbinom": 0}
"""Where the discrete ones begin."""

OF_SHAPES = {
    "mean": _mean,
    "var": _variance,
    "entropy": lambda name, shapes: -_expected(name, lambda x, log_density: log_density, shapes),
}


def _slope_by_shape(f, shapes, i):
    """By a difference: an integral by the same nodes is a smooth function of a parameter."""
    with mp.workdps(DIGITS):
        shapes = [mp.mpf(float(x)) for x in shapes]
        moved = lambda step: [*shapes[:i], shapes[i] + step, *shapes[i + 1 :]]
        return float((f(moved(STEP)) - f(moved(-STEP))) / (2 * STEP))


def slope_of_probability(name, z, shapes, i):
    """The derivative of the probability up to a standardised value, or a count, by the i-th shape."""
    with mp.workdps(DIGITS):
        z = mp.mpf(float(z))
        return _slope_by_shape(lambda at: _probability(name, z, at), shapes, i)


def slope_of_moment(name, moment, shapes, i):
    """The derivative of the mean, the variance or the entropy of the standardised distribution."""
    return _slope_by_shape(lambda at: OF_SHAPES[moment](name, at), shapes, i)
