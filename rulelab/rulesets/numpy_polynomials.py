"""Rules for the functions of `numpy.polynomial` that take series of coefficients to another, and for the
matrices of basis functions.

Derivatives, integrals and sums are linear: the tangent goes through the function itself, the cotangent
through the matrix that it makes of unit vectors. That holds in any basis: one statement serves all six.
"""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of
from ..tangents.thunks import thunk
from ..tangents.zeros import NoTangent
from .array_likes import dense, gradient_dtype, like_argument

TABLE = RuleTable("numpy_polynomials")
NO = NoTangent()

FAMILIES = {
    "poly": np.polynomial.polynomial,
    "cheb": np.polynomial.chebyshev,
    "leg": np.polynomial.legendre,
    "herm": np.polynomial.hermite,
    "herme": np.polynomial.hermite_e,
    "lag": np.polynomial.laguerre,
}
SERIES, OTHER = np.array([1.0, 2.0, -0.5, 0.3]), np.array([0.4, -1.2, 0.7])
COLUMNS = np.array([[1.0, 2.0], [-0.5, 0.3], [0.7, 0.1]])


def filled(series, count):
    """A series with as many coefficients: NumPy leaves out zeros at its end."""
    series = np.atleast_1d(series)
    return np.concatenate([series, np.zeros(max(count - len(series), 0))])[:count]


def as_series(c, bar):
    """The cotangent of a series in its form: a number is one, too."""
    return like_argument(c, np.reshape(bar, np.shape(c))[()])


def units(count, scale):
    """The series of one coefficient each, in numbers that may be multiplied by the scale."""
    return np.eye(count, dtype=np.result_type(float, scale))


def along(matrix, y_bar, axis):
    """The cotangent of what a matrix was applied to along an axis."""
    return np.moveaxis(np.tensordot(np.conj(matrix), y_bar, axes=(0, axis)), 0, axis)


def _state_derivative(der):
    @TABLE.rrule(der, leading=1, points=[(SERIES,), (SERIES, 2, 1.5), (COLUMNS, 1, 1, 1)])
    def derivative_rrule(c, m=1, scl=1, axis=0):
        def derivative_pullback(y_bar):
            count = np.shape(np.atleast_1d(c))[axis]
            if m >= count:  # of which nothing is left, in whichever axis NumPy has it
                return NO, as_series(c, np.zeros(np.shape(c), gradient_dtype(c)))
            return NO, as_series(c, along(der(units(count, scl), m, scl), y_bar, axis))

        return der(c, m, scl, axis), derivative_pullback

    @TABLE.frule(der)
    def derivative_frule(tangents, c, m=1, scl=1, axis=0):
        y = der(c, m, scl, axis)
        return y, form_of(y, der(dense(c, tangents[1]), m, scl, axis))


def _state_integral(integral):
    """The constants of integration are constants."""

    @TABLE.rrule(
        integral, leading=1, points=[(SERIES,), (SERIES, 2, [0.3, 0.1], 0.5, 1.5), (COLUMNS, 1, [], 0, 1, 1)]
    )
    def integral_rrule(c, m=1, k=(), lbnd=0, scl=1, axis=0):
        def integral_pullback(y_bar):
            matrix = integral(units(np.shape(np.atleast_1d(c))[axis], scl), m, [], lbnd, scl)
            return NO, as_series(c, along(matrix, y_bar, axis))

        return integral(c, m, k, lbnd, scl, axis), integral_pullback

    @TABLE.frule(integral)
    def integral_frule(tangents, c, m=1, k=(), lbnd=0, scl=1, axis=0):
        y = integral(c, m, k, lbnd, scl, axis)
        return y, form_of(y, integral(dense(c, tangents[1]), m, [], lbnd, scl, axis))


def _state_sum(target, sign):
    @TABLE.rrule(target, leading=2, points=[(SERIES, OTHER), (OTHER, SERIES)])
    def sum_rrule(c1, c2):
        def sum_pullback(y_bar):
            bars = filled(y_bar, np.size(c1)), sign * filled(y_bar, np.size(c2))
            return NO, as_series(c1, bars[0]), as_series(c2, bars[1])

        return target(c1, c2), sum_pullback

    @TABLE.frule(target)
    def sum_frule(tangents, c1, c2):
        y = target(c1, c2)
        first, second = dense(c1, tangents[1]), dense(c2, tangents[2])
        return y, form_of(y, filled(first, len(y)) + sign * filled(second, len(y)))


def _state_product(mul):
    @TABLE.rrule(mul, leading=2, points=[(SERIES, OTHER)])
    def product_rrule(c1, c2):
        y = mul(c1, c2)

        def against(series, count, y_bar):
            return np.array([y_bar @ np.conj(filled(mul(unit, series), len(y))) for unit in np.eye(count)])

        def product_pullback(y_bar):
            c1_bar = thunk(lambda: as_series(c1, against(c2, np.size(c1), y_bar)))
            c2_bar = thunk(lambda: as_series(c2, against(c1, np.size(c2), y_bar)))
            return NO, c1_bar, c2_bar

        return y, product_pullback

    @TABLE.frule(mul)
    def product_frule(tangents, c1, c2):
        y = mul(c1, c2)
        first = filled(mul(dense(c1, tangents[1]), c2), len(y))
        return y, form_of(y, first + filled(mul(c1, dense(c2, tangents[2])), len(y)))


def _state_shift(mulx):
    """The product with the variable."""

    @TABLE.rrule(mulx, leading=1, points=[(SERIES,)])
    def shift_rrule(c):
        y = mulx(c)

        def shift_pullback(y_bar):
            units = np.eye(np.size(c))
            return NO, as_series(c, np.array([y_bar @ filled(mulx(unit), len(y)) for unit in units]))

        return y, shift_pullback

    @TABLE.frule(mulx)
    def shift_frule(tangents, c):
        y = mulx(c)
        return y, form_of(y, filled(mulx(dense(c, tangents[1])), len(y)))


def _state_matrix(vander, der):
    """The slope of each basis function is a series in them."""

    def slopes(x, y, deg):
        matrix = der(np.eye(deg + 1))
        return y[..., : len(matrix)] @ matrix

    @TABLE.rrule(vander, leading=1, points=[(np.array([0.3, -0.5]), 3), (0.7, 2), (COLUMNS, 1)])
    def matrix_rrule(x, deg):
        y = vander(x, deg)

        def matrix_pullback(y_bar):
            x_bar = np.sum(y_bar * np.conj(slopes(x, y, deg)), axis=-1)
            return NO, like_argument(x, np.reshape(x_bar, np.shape(x))[()])

        return y, matrix_pullback

    @TABLE.frule(vander)
    def matrix_frule(tangents, x, deg):
        y = vander(x, deg)
        x_dot = np.reshape(dense(x, tangents[1]), (*np.shape(y)[:-1], 1))
        return y, form_of(y, slopes(x, y, deg) * x_dot)


for _prefix, _module in FAMILIES.items():
    _der = getattr(_module, f"{_prefix}der")
    _state_derivative(_der)
    _state_integral(getattr(_module, f"{_prefix}int"))
    _state_sum(getattr(_module, f"{_prefix}add"), 1.0)
    _state_sum(getattr(_module, f"{_prefix}sub"), -1.0)
    _state_product(getattr(_module, f"{_prefix}mul"))
    _state_shift(getattr(_module, f"{_prefix}mulx"))
    _state_matrix(getattr(_module, f"{_prefix}vander"), _der)
