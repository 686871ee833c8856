"""Rules for the orthogonal polynomials of `scipy.special` by their argument.

Formulas: DLMF 18.9.15-28, which lower the degree by one and raise the parameters; 14.10.5 (Legendre
functions). By a degree or a parameter no closed form of the derivative is known.
"""

import numpy as np

from .scipy_rows import BY_DEGREE, OF_DEGREE, WHOLE, SpecialTable, special

TABLE = SpecialTable("scipy_polynomials")

INSIDE, UNIT = (0.3, -0.62, 0.9), (0.3, 0.05, 0.92)
PLANE = (0.4 - 0.7j, -1.1 + 0.2j)
DEGREES = (2.0, 3.0, 1.5)


def below(n):
    """The degree below, and where there is none."""
    none = np.equal(n, 0)
    return np.subtract(n, np.where(none, 0, 1)), none


def unless(none, slope):
    """A slope, but of a constant: 0."""
    return np.where(none, np.zeros_like(slope), slope)[()]


def legendre_slope(n, x):
    k, none = below(n)
    return unless(none, special.eval_gegenbauer(k, 1.5, x))


def chebyt_slope(n, x):
    k, none = below(n)
    return unless(none, n * special.eval_chebyu(k, x))


def chebyu_slope(n, x):
    k, none = below(n)
    return unless(none, 2 * special.eval_gegenbauer(k, 2.0, x))


def chebyc_slope(n, x):
    k, none = below(n)
    return unless(none, n * special.eval_chebys(k, x))


def genlaguerre_slope(n, alpha, x):
    k, none = below(n)
    return unless(none, -special.eval_genlaguerre(k, np.add(alpha, 1), x))


def gegenbauer_slope(n, alpha, x):
    k, none = below(n)
    return unless(none, 2 * alpha * special.eval_gegenbauer(k, alpha + 1, x))


def jacobi_slope(n, alpha, beta, x):
    k, none = below(n)
    return unless(none, (n + alpha + beta + 1) / 2 * special.eval_jacobi(k, alpha + 1, beta + 1, x))


def sh_jacobi_slope(n, p, q, x):
    """That of `jacobi(n, p - q, q - 1, 2 x - 1) / binom(2 n + p - 1, n)`."""
    return 2 * jacobi_slope(n, p - q, q - 1, 2 * x - 1) / special.binom(2 * n + p - 1, n)


ON_LINE = (0.3, -1.2, 2.6)
_OF_DEGREE = {
    "eval_legendre": (lambda out, n, x: (BY_DEGREE, legendre_slope(n, x)), INSIDE),
    "eval_sh_legendre": (lambda out, n, x: (BY_DEGREE, 2 * legendre_slope(n, 2 * x - 1)), UNIT),
    "eval_chebyt": (lambda out, n, x: (BY_DEGREE, chebyt_slope(n, x)), INSIDE),
    "eval_chebyu": (lambda out, n, x: (BY_DEGREE, chebyu_slope(n, x)), INSIDE),
    "eval_chebyc": (lambda out, n, x: (BY_DEGREE, chebyc_slope(n, x)), INSIDE),
    "eval_chebys": (lambda out, n, x: (BY_DEGREE, chebyu_slope(n, x / 2) / 2), INSIDE),
    "eval_sh_chebyt": (lambda out, n, x: (BY_DEGREE, 2 * chebyt_slope(n, 2 * x - 1)), UNIT),
    "eval_sh_chebyu": (lambda out, n, x: (BY_DEGREE, 2 * chebyu_slope(n, 2 * x - 1)), UNIT),
    "eval_laguerre": (lambda out, n, x: (BY_DEGREE, genlaguerre_slope(n, 0.0, x)), ON_LINE),
}
for _name, (_partials, _points) in _OF_DEGREE.items():
    TABLE.row(_name, _partials, DEGREES, _points, beyond=(DEGREES[:2], PLANE))
    TABLE.also_at(_name, (0, np.array(_points)), (3, _points[0]))


def _state(name, partials, *others, points):
    """The rule of a polynomial with further parameters."""
    shown = tuple(c[:2] for c in (DEGREES, *others))
    TABLE.row(name, partials, DEGREES, *others, points, beyond=(*shown, PLANE))
    first = [c[0] for c in others]
    TABLE.also_at(name, (0, *first, np.array(points)), (3, *first, points[0]))


_state(
    "eval_genlaguerre",
    lambda out, n, alpha, x: (BY_DEGREE, BY_DEGREE, genlaguerre_slope(n, alpha, x)),
    (0.5, 1.2, 2.0),
    points=ON_LINE,
)
_state(
    "eval_gegenbauer",
    lambda out, n, alpha, x: (BY_DEGREE, BY_DEGREE, gegenbauer_slope(n, alpha, x)),
    (0.5, 1.2, 2.0),
    points=INSIDE,
)
_state(
    "eval_jacobi",
    lambda out, n, alpha, beta, x: (BY_DEGREE, BY_DEGREE, BY_DEGREE, jacobi_slope(n, alpha, beta, x)),
    (0.5, 1.2, 2.0),
    (1.5, 0.3, 1.0),
    points=INSIDE,
)
_state(
    "eval_sh_jacobi",
    lambda out, n, p, q, x: (BY_DEGREE, BY_DEGREE, BY_DEGREE, sh_jacobi_slope(n, p, q, x)),
    (2.5, 3.2, 2.0),
    (1.5, 1.3, 1.0),
    points=UNIT,
)


def hermite_slope(n, x):
    k, none = below(n)
    return unless(none, 2 * n * special.eval_hermite(k, x))


def hermitenorm_slope(n, x):
    k, none = below(n)
    return unless(none, n * special.eval_hermitenorm(k, x))


TABLE.row("eval_hermite", lambda out, n, x: (WHOLE, hermite_slope(n, x)), 3, (0.3, -1.2, 2.6))
TABLE.row("eval_hermitenorm", lambda out, n, x: (WHOLE, hermitenorm_slope(n, x)), 3, (0.3, -1.2, 2.6))


def lpmv_partials(out, m, v, x):
    """`(v x P - (v + m) P of the degree below) / (x**2 - 1)`; NaN at -1 and 1."""
    below = special.lpmv(m, v - 1, x)
    return BY_DEGREE, BY_DEGREE, (v * x * out - (v + m) * below) / ((x - 1) * (x + 1))


TABLE.row("lpmv", lpmv_partials, 1.0, (2.5, 3.0, 1.0), INSIDE, note="NaN at -1 and 1")


TABLE.function_row(
    "assoc_laguerre",
    lambda out, x, n, k: (genlaguerre_slope(n, k, x), BY_DEGREE, BY_DEGREE),
    OF_DEGREE,
    ON_LINE,
    3,
    (0.5, 1.2, 2.0),
)
