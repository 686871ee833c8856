"""The discrete distributions of `scipy.stats` that have rules, a row each.

A row has the slopes of the log-mass by each shape, and of the distribution function by each, as a sign and
a logarithm: N. L. Johnson, A. W. Kemp and S. Kotz, "Univariate discrete distributions", 2005. Counts and
numbers of trials are whole.
"""

import math

import numpy as np

from .scipy_rows import WHOLE, special
from .scipy_stats_rows import BY_SHAPE, DistributionTable, share

TABLE = DistributionTable("scipy_stats_discrete")

COUNTS, PARTS = (2.0, 0.0, 4.0), (0.3, 0.62, 0.9)
gammaln, xlogy, xlog1py = special.gammaln, special.xlogy, special.xlog1py


TABLE.row(
    "poisson",
    COUNTS,
    (0.7, 1.3, 5.0),
    discrete=True,
    support=(0.0, math.inf),
    density=(lambda k, mu: share(k, mu) - 1,),
    moves=((-1.0, lambda k, mu: xlogy(k, mu) - gammaln(k + 1) - mu),),
    mean=(lambda mu: 1.0 + 0.0 * mu,),
    var=(lambda mu: 1.0 + 0.0 * mu,),
)


def binomial_by_p(k, n, p):
    """Of `n` times the mass at `k` in one trial less."""
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k)
    return ways + xlogy(k, p) + xlog1py(n - 1 - k, -p)


TABLE.row(
    "binom",
    COUNTS,
    (5, 3, 7),
    PARTS,
    discrete=True,
    support=lambda n, p: (0.0, n),
    density=(WHOLE, lambda k, n, p: share(k, p) - share(n - k, 1 - p)),
    moves=(WHOLE, (-1.0, binomial_by_p)),
    mean=(WHOLE, lambda n, p: n + 0.0 * p),
    var=(WHOLE, lambda n, p: n * (1 - 2 * p)),
)
TABLE.row(
    "bernoulli",
    (0.0, 1.0, 0.0),
    PARTS,
    discrete=True,
    support=(0.0, 1.0),
    density=(lambda k, p: share(k, p) - share(1 - k, 1 - p),),
    moves=((-1.0, lambda k, p: 0.0 * p),),
    mean=(lambda p: 1.0 + 0.0 * p,),
    var=(lambda p: 1 - 2 * p,),
    entropy=(lambda p: -special.logit(p),),
)
TABLE.row(
    "geom",
    (2.0, 1.0, 4.0),
    PARTS,
    discrete=True,
    support=(1.0, math.inf),
    density=(lambda k, p: 1 / p - share(k - 1, 1 - p),),
    moves=((1.0, lambda k, p: np.log(k) + xlog1py(k - 1, -p)),),
    mean=(lambda p: -1 / p**2,),
    var=(lambda p: (p - 2) / p**3,),
)
TABLE.row(
    "nbinom",
    COUNTS,
    (2.5, 3.0, 0.7),
    PARTS,
    discrete=True,
    support=(0.0, math.inf),
    density=(
        lambda k, n, p: special.psi(n + k) - special.psi(n) + np.log(p),
        lambda k, n, p: n / p - share(k, 1 - p),
    ),
    moves=(
        BY_SHAPE,
        (1.0, lambda k, n, p: xlogy(n - 1, p) + xlog1py(k, -p) - special.betaln(n, k + 1)),
    ),
    mean=(lambda n, p: (1 - p) / p, lambda n, p: -n / p**2),
    var=(lambda n, p: (1 - p) / p**2, lambda n, p: n * (p - 2) / p**3),
)
