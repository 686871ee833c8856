"""Rules for NumPy's elementwise functions: a row each where the derivative is a formula, else a function.

Conventions where the derivative does not exist or is not unique (those of ChainRules, where it has one):

=====================================  ====================================================================
`abs`, `fabs`, `sign`, `hypot` at 0    0
`sqrt`, `cbrt` at 0                    inf
`maximum`, `fmax` of equal values      all to the second argument
`minimum`, `fmin` of equal values      all to the first argument
`clip` on a bound                      counts as inside: all to the clipped value
`x % y`, `fmod` at multiples of `y`    NaN, for both; `fmod` at 0 has no jump: 1 and 0
`floor`, `rint`, `sign`, … at jumps    0
`angle(0)`, `sinc'(0)`                 0
`x ** p`                               the table at `power_partial_base` and `power_partial_exponent`
=====================================  ====================================================================

Keyword arguments that a rule does not name (`where=`, `dtype=`, `out=`, …) are not accepted by it.
"""

import math
from typing import Any

import numpy as np

from ..errors import MutationError
from ..rules.formulas import of_numbers, plain_for_arrays, strong_zero
from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of, laid_out, no_change
from ..tangents.missing import MissingSlope
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk, thunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense, is_zero, refuse
from .kinks import past_kink, size_frule
from .limits import is_at, is_met, with_limits

TABLE = RuleTable("numpy_elementwise")

# `NDArray` written out: the module that has it takes its time to load.
Array = np.ndarray[tuple[Any, ...], np.dtype[np.number]] | np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Number = int | float | complex | np.number | np.bool_ | Array

LN2, LN10 = math.log(2.0), math.log(10.0)


# -- check points --------------------------------------------------------------------------------------------


def unary_points(*values, whole=(), beyond=()):
    """Points for a function of one argument: numbers, 0-d, empty, float32, columns; `whole` integers,
    `beyond` complex.
    """
    values = np.array(values)
    points = [
        (float(values[0]),),
        (np.float64(values[-1]),),
        (values,),
        (np.array(values[0]),),
        (values.astype(np.float32)[:, None],),
        (np.empty((0, 3)),),
    ]
    if len(whole):
        points += [(int(whole[0]),), (np.array(whole),)]
    if len(beyond):
        points += [(complex(beyond[0]),), (np.array(beyond),)]
    return points


def binary_points(xs, ys, *, whole=((), ()), beyond=((), ())):
    """Points for a function of two arguments: numbers against arrays, rows against columns, empty against one
    row.
    """
    xs, ys = np.array(xs), np.array(ys)
    points = [
        (float(xs[0]), float(ys[0])),
        (xs, float(ys[0])),
        (np.float64(xs[0]), ys),
        (xs[:, None], ys),
        (xs, ys[None, :] if len(xs) == len(ys) else ys[:, None]),
        (np.array(xs[0]), ys[:, None]),
        (np.empty((0, len(ys))), ys),
        (xs.astype(np.float32), ys.astype(np.float32)[:, None]),
    ]
    if len(whole[0]):
        points += [
            (int(whole[0][0]), int(whole[1][0])),
            (np.array(whole[0]), float(ys[0])),
            (np.array(whole[0])[:, None], np.array(whole[1])),
        ]
    if len(beyond[0]):
        points += [
            (complex(beyond[0][0]), float(ys[0])),
            (np.array(beyond[0]), np.array(beyond[1])[:, None]),
            (xs, complex(beyond[1][0])),
        ]
    return points


ANY = unary_points(0.3, -1.2, 0.9, whole=(2, -1), beyond=(0.4 - 0.7j, -1.1 + 0.2j))
REAL = unary_points(0.3, -1.2, 0.9, whole=(2, -1))
POSITIVE = unary_points(0.3, 1.2, 2.5, whole=(3, 1), beyond=(0.4 - 0.7j, -1.1 + 0.2j))
INSIDE_ONE = unary_points(0.3, -0.7, 0.9, beyond=(0.4 - 0.7j, -1.1 + 0.2j))
BETWEEN_WHOLE = unary_points(0.3, -1.2, 2.6)
PAIRS = binary_points(
    (0.3, -1.2, 2.0), (1.5, -0.4), whole=((3, -2), (2, 5)), beyond=((1 - 2j, 0.3 + 1j), (2 + 1j, -1j))
)
REAL_PAIRS = binary_points((0.3, -1.2, 2.0), (1.5, -0.4), whole=((3, -2), (2, 5)))


def row(target, partials, points=(), table=TABLE, frule=None, past=None):
    """State in `table` the rule of an elementwise function by its partials, for numbers and arrays of
    numbers.
    """
    names = partials.__code__.co_varnames[1 : partials.__code__.co_argcount]
    partials.__annotations__ = dict.fromkeys(names, Number)
    table.scalar(target, partials, points, frule, past)


@plain_for_arrays
def over(a, x):
    """`a / x` as NumPy divides, also where x is a Python number: infinite at a pole, where Python would
    raise.

    >>> with np.errstate(divide="ignore"):
    ...     over(1, 0.0)
    np.float64(inf)
    """
    return np.divide(a, x) if type(x) in (float, int, bool) and x == 0 else a / x


_FAR = {math.inf: 0.0, -math.inf: 0.0}  # where a slope ends that is infinitely small


def cbrt_slope(out):
    """The slope of `np.cbrt` by its value."""
    return 1 / (3 * out * out)


def arctan_slope(x):
    """`1 / (1 + x**2)`."""
    return 1 / (1 + np.square(x))


def secant(u):
    """`1 / cosh(u)`."""
    return 1 / np.cosh(u)


# Rules of their own: in quotients of quotients what is infinite would be divided by what is so, too.
row(cbrt_slope, with_limits(cbrt_slope, lambda out, u: -6 * u * out * out, _FAR))
row(arctan_slope, with_limits(arctan_slope, lambda out, x: -2 * x * out * out, _FAR))
row(secant, lambda out, u: -out * np.tanh(u))


# -- arithmetic ----------------------------------------------------------------------------------------------

row(np.add, lambda out, x, y: (1.0, 1.0), points=PAIRS)
row(np.subtract, lambda out, x, y: (1.0, -1.0), points=PAIRS)
row(np.multiply, lambda out, x, y: (y, x), points=PAIRS)
row(np.divide, lambda out, x, y: (over(1, y), -out / y), points=PAIRS)
row(np.negative, lambda out, x: -1.0, points=ANY)
row(np.positive, lambda out, x: 1.0, points=ANY)
row(np.square, lambda out, x: 2.0 * x, points=ANY)
row(np.sqrt, lambda out, x: 0.5 / out, points=POSITIVE)
row(np.cbrt, lambda out, x: cbrt_slope(out), points=REAL)


def reciprocal_partial(out, x):
    """`-1 / x**2`. The reciprocal of an integer is rounded by NumPy to an integer: refused."""
    if np.asarray(out).dtype.kind not in "fc":
        refuse("np.reciprocal of integers is not differentiated: NumPy rounds the result to an integer",
               "write 1 / x")
    return -out * out


row(np.reciprocal, reciprocal_partial, points=unary_points(0.3, -1.2, 0.9, beyond=(0.4 - 0.7j, -1.1 + 0.2j)))


def conjugate(a):
    """The complex conjugate; a real argument comes back as it is, uncopied."""
    return np.conj(a) if np.iscomplexobj(a) else a


def floating(a):
    """`a` with integers made floats, so that no power or quotient of it is rounded or refused."""
    if type(a) is int:
        return np.asarray(float(a))[()]  # of more than 64 bits, NumPy would make an object of it
    return a if np.asarray(a).dtype.kind in "fc" else np.asarray(a, float)[()]


def is_zeroth_power_at_pole(x, p):
    """Where `p` is 0 and `1 / x` no number: at zero, nearer to it than numbers of full precision come, and
    where `x` is not a number itself.
    """
    zero = np.equal(p, 0)
    return np.logical_and(zero, np.logical_not(np.isfinite(np.divide(1.0, x)))) if zero.any() else zero


TABLE.non_differentiable(is_zeroth_power_at_pole)


def is_power_that_vanishes(x, p):
    """Where the slopes of a real `x ** p` by the base tend to 0, faster than an infinite `p` grows."""
    if np.iscomplexobj(x) or np.iscomplexobj(p) or not np.any(np.isinf(p)):
        return False
    size = np.abs(x)
    return np.logical_or(
        np.logical_and(np.equal(p, math.inf), np.less(size, 1)),
        np.logical_and(np.equal(p, -math.inf), np.greater(size, 1)),
    )


TABLE.non_differentiable(is_power_that_vanishes)


_REALS = (float, int, np.float64)


def is_plain_power(x, p):
    """Whether the slopes of `x ** p`, of numbers, are the textbook's, and far from what overflows."""
    return 0 < x < math.inf and p != 0 and abs(math.log(x) * (abs(p) + 1)) < 600


TABLE.non_differentiable(is_plain_power)


def _is_ordinary(p):
    """Whether an exponent is one of Python's numbers, finite and not 0: the slope is then the textbook's."""
    return type(p) in (int, float) and p != 0 and math.isfinite(p)


def _is_positive(x):
    """Whether a base has a finite logarithm everywhere, by which the slope is the textbook's."""
    if type(x) is np.ndarray:
        return x.dtype == np.float64 and x.size > 0 and 0 < x.min() and x.max() < math.inf
    return type(x) in _REALS and 0 < x < math.inf


def power_partial_base(out, x, p):
    """The derivative of `x ** p` in `x`: `p * x ** (p - 1)`, and 0 where `p` is 0, whatever `x`.

    At `x = 0`: 1 for `p = 1`; 0 for `p = 0` and `p > 1`; inf for `0 < p < 1`; -inf for negative `p`.
    For negative `x` and fractional `p` it is NaN where NumPy's power is, and complex where Python's is.

    >>> power_partial_base(None, np.array([0.0, 0.0, 0.0, -2.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    array([ 0.,  1.,  0., 12.])
    """
    if type(x) in _REALS and type(p) in _REALS and is_plain_power(x, p):
        return p * np.float64(float(x) ** (float(p) - 1))
    if type(x) is np.ndarray and x.dtype == np.float64 and _is_ordinary(p):
        with np.errstate(all="ignore"):
            return (p * np.power(x, p - 1))[()]
    x, p = floating(x), floating(p)
    if np.iscomplexobj(out) and not np.iscomplexobj(x):
        x = np.asarray(x, np.result_type(x, 1j))[()]
    with np.errstate(all="ignore"):
        without = is_zeroth_power_at_pole(x, p)
        if is_power_that_vanishes(x, p) is not False:
            without = np.logical_or(without, is_power_that_vanishes(x, p))
            p = np.where(without, np.ones_like(p), p)[()]
        slope = p * np.power(np.where(without, np.ones_like(x), x)[()], p - 1)
        return np.where(without, np.zeros_like(slope), slope)[()]


def power_partial_exponent(y, x, p):
    """The derivative of `x ** p` in `p`: `x ** p * log(x)`.

    At `x = 0`: 0 for `p > 0`, else NaN; at an infinite `x`: 0 for `p < 0`. For negative real `x` the
    logarithm is complex; its real part counts, `x ** p * log(abs(x))`, which is what is left after projection
    to a real exponent.

    >>> power_partial_exponent(np.array([0.0, 4.0]), np.array([0.0, 2.0]), np.array([1.0, 2.0]))
    array([0.        , 2.77258872])
    """
    if type(x) in _REALS and type(p) in _REALS and is_plain_power(x, p):
        return y * np.log(float(x) if type(x) is int else x)  # of more than 64 bits NumPy has no logarithm
    if _is_positive(x) and type(y) is np.ndarray and y.dtype == np.float64:
        with np.errstate(all="ignore"):
            return (y * np.log(x))[()]
    x = floating(x)
    with np.errstate(all="ignore"):
        if np.iscomplexobj(y):
            slope = y * np.log(np.asarray(nonzero(x), np.result_type(x, 1j)))
        else:
            slope = y * np.log(np.abs(nonzero(x)))
        at_zero = np.where(np.greater(np.real(p), 0), 0.0, math.nan).astype(np.asarray(slope).dtype)
        slope = np.where(np.logical_and(np.isinf(x), np.less(np.real(p), 0)), np.zeros_like(slope), slope)
        return np.where(np.equal(x, 0), at_zero, slope)[()]


def power_mixed_partial(y, x, p):
    """The derivative of `power_partial_exponent` in `x`: `x ** (p - 1) * (1 + p * log(x))`.

    At `x = 0`: 0 for `p > 1`, -inf for `0 < p <= 1`, else NaN. That of a negative number goes as there. At an
    infinite `x`, and at an infinite `p` where the power vanishes, it is the limit.
    """
    x, p = floating(x), floating(p)
    with np.errstate(all="ignore"):
        if np.iscomplexobj(y):
            there = np.asarray(nonzero(x), np.result_type(x, 1j))
            slope = np.power(there, p - 1) * (1 + p * np.log(there))
        else:
            there = nonzero(x)
            slope = np.power(there, p - 1) * (1 + p * np.log(np.abs(there)))
        ends = np.logical_and(np.isinf(x), np.less(np.real(p), 1))
        slope = np.where(np.logical_or(ends, is_power_that_vanishes(x, p)), np.zeros_like(slope), slope)
        infinite = np.where(np.greater(np.real(p), 0), -math.inf, math.nan)
        return np.where(np.equal(x, 0), np.where(np.greater(np.real(p), 1), 0.0, infinite), slope)[()]


@TABLE.rrule(power_partial_exponent, leading=3)
def power_partial_exponent_rrule(y, x, p):
    """By `x` and `p` alone, of which `y` is made: at 0 it is not the product that it is elsewhere."""
    slope = power_partial_exponent(y, x, p)

    def power_partial_exponent_pullback(bar):
        return (
            NoTangent(),
            NoTangent(),
            unbroadcast(conjugate(power_mixed_partial(y, x, p)) * bar, x),
            unbroadcast(conjugate(power_partial_exponent(slope, x, p)) * bar, p),
        )

    return slope, power_partial_exponent_pullback


@TABLE.frule(power_partial_exponent)
def power_partial_exponent_frule(tangents, y, x, p):
    """Zeros beside a constant array that holds a zero do not meet the infinite slope in `x` there."""
    slope, (x_dot, p_dot) = power_partial_exponent(y, x, p), tangents[2:]
    by_base = x_dot if is_zero(x_dot) else moved_by(power_mixed_partial(y, x, p), x_dot)
    return slope, tangent_sum(slope, (1.0, power_partial_exponent(slope, x, p)), (by_base, p_dot))


def moved_by(slope, p_dot):
    """`slope * p_dot`, and 0 where `p_dot` is, whatever the slope: a constant array that an exponent is
    computed from may have zeros for a tangent, which must not meet the NaN of a logarithm.

    >>> moved_by(np.array([math.nan, 2.0]), np.array([0.0, 3.0]))
    array([0., 6.])
    """
    product = slope * p_dot
    return np.where(np.equal(p_dot, 0), np.zeros_like(product), product)[()]


@TABLE.rrule(moved_by, leading=2)
def moved_by_rrule(slope, p_dot):
    """It is linear in both, also where `p_dot` is 0 and may not stay so."""

    def moved_by_pullback(bar):
        return (
            NoTangent(),
            thunk(lambda: unbroadcast(moved_by(bar, conjugate(p_dot)), slope)),
            thunk(lambda: unbroadcast(conjugate(slope) * bar, p_dot)),
        )

    return moved_by(slope, p_dot), moved_by_pullback


@TABLE.frule(moved_by)
def moved_by_frule(tangents, slope, p_dot):
    y = moved_by(slope, p_dot)
    slope_dot, p_ddot = tangents[1:]
    by_slope = ZeroTangent() if is_zero(slope_dot) else moved_by(slope_dot, p_dot)
    by_p = ZeroTangent() if is_zero(p_ddot) else moved_by(slope, p_ddot)
    return y, form_of(y, by_p if is_zero(by_slope) else by_slope if is_zero(by_p) else by_slope + by_p)


def _is_moderate(x, p):
    """Whether of Python's numbers a power and its slopes are `is_plain_power`, as is seen without a
    logarithm.
    """
    return 1e-20 < x < 1e20 and (type(p) is int or type(p) is float) and -12 <= p <= 12


def _base_bar_of_floats(y_bar, out, x, p):
    """The same of Python's floats. Far from what overflows these numbers are those of NumPy's, without a
    warning.
    """
    if _is_moderate(x, p):
        x_bar = p * x ** (p - 1.0) * y_bar
        if math.isfinite(x_bar):
            return x_bar
    return float(power_partial_base(out, x, p) * y_bar)


@of_numbers
@strong_zero
def power_base_bar(y_bar, result, x, p):
    """The cotangent of `x`, of real numbers, for that of `x ** p`."""
    if type(y_bar) is float and type(x) is float:  # most often
        return _base_bar_of_floats(y_bar, result, x, p)
    if type(x) is np.float64 and type(y_bar) in _REALS and _is_moderate(base := float(x), p) and p:
        return np.float64(p * base ** (p - 1.0)) * y_bar
    return unbroadcast(power_partial_base(result, x, p) * y_bar, x)


@of_numbers
@strong_zero
def power_exponent_bar(y_bar, result, x, p):
    """The cotangent of `p`, of real numbers, for that of `x ** p`."""
    if type(p) is float and type(x) in _REALS and type(y_bar) in _REALS and _is_moderate(float(x), p) and p:
        return float(result * np.log(float(x) if type(x) is int else x) * y_bar)
    return unbroadcast(power_partial_exponent(result, x, p) * y_bar, p)


def state_power(table, target, points):
    """State in `table` that `target(x, p)` is `x ** p` with broadcasting; the logarithm is computed only if
    asked for.
    """

    @table.rrule(target, leading=2, points=points, cotangents=(power_base_bar, power_exponent_bar))
    def power_rrule(x: Number, p: Number, /):
        out = target(x, p)

        def power_pullback(y_bar):
            if type(y_bar) is float and type(x) is float and type(out) in _REALS:
                x_bar = _base_bar_of_floats(y_bar, out, x, p)
            else:
                x_bar = unbroadcast(conjugate(power_partial_base(out, x, p)) * y_bar, x)
            return (
                NoTangent(),
                x_bar,
                thunk(lambda: unbroadcast(conjugate(power_partial_exponent(out, x, p)) * y_bar, p)),
            )

        return out, power_pullback

    @table.frule(target)
    def power_frule(tangents, x: Number, p: Number, /):
        out, x_dot, p_dot = target(x, p), tangents[1], tangents[2]
        out_dot = ZeroTangent()
        # A tangent that is not there is a strong zero: it must not meet the NaN of a logarithm.
        if not is_zero(x_dot):
            out_dot = power_partial_base(out, x, p) * x_dot
        if not is_zero(p_dot):
            by_exponent = moved_by(power_partial_exponent(out, x, p), p_dot)
            out_dot = by_exponent if is_zero(out_dot) else out_dot + by_exponent
        return out, form_of(out, out_dot)


POWERS = binary_points(
    (0.3, 1.2, 2.0), (1.5, -0.4), whole=((3, 2), (2, 5)), beyond=((1 - 2j, 0.3 + 1j), (2 + 1j, -1j))
)
POWERS += [
    (np.array([0.5, 3.0]), 3),
    (np.array([2.0, 0.4]), np.array([1, 0])),
    (3, 2.5),
    (np.array([2, 3]), 0),
]
state_power(TABLE, np.power, POWERS)
state_power(TABLE, np.float_power, POWERS)


def _remainder_partials(out, x, y, jump):
    """1 and what was taken off, both NaN at a jump, and with them their derivatives."""
    total = floating(x) + floating(y)  # of whole numbers it might have more than 64 bits
    moves = np.where(np.isfinite(total), total, 1.0)  # 0 times an infinite one would be NaN
    undefined = np.where(jump, math.nan, 0.0) * moves
    taken_off, dtype = np.round((floating(out) - x) / floating(y)), np.asarray(floating(out)).dtype
    return np.asarray(undefined + 1.0, dtype)[()], np.asarray(undefined + taken_off, dtype)[()]


def remainder_partials(out, x, y):
    """Those of `x - y * n`, `n` the whole number of times: 1 and `-n`; NaN where `x` is a multiple of `y`, a
    jump.

    >>> remainder_partials(np.float64(1.5), 5.5, 2.0)
    (np.float64(1.0), np.float64(-2.0))
    """
    return _remainder_partials(out, x, y, np.equal(out, 0))


def fmod_partials(out, x, y):
    """Those of the remainder with the sign of `x`, which has no jump where `x` is 0."""
    return _remainder_partials(out, x, y, np.equal(out, 0) & np.not_equal(x, 0))


REMAINDERS = binary_points((0.3, -1.2, 7.6), (1.55, -0.7), whole=((7, -8), (5, 3)))
row(np.remainder, remainder_partials, points=REMAINDERS)
row(np.fmod, fmod_partials, points=[*REMAINDERS, (0.0, 1.5)])


# -- exponentials and logarithms -----------------------------------------------------------------------------

row(np.exp, lambda out, x: out, points=ANY)
row(np.exp2, lambda out, x: LN2 * out, points=ANY)
row(np.expm1, lambda out, x: np.exp(x), points=ANY)
row(np.log, lambda out, x: over(1, x), points=POSITIVE)
row(np.log2, lambda out, x: over(1, LN2 * x), points=POSITIVE)
row(np.log10, lambda out, x: over(1, LN10 * x), points=POSITIVE)
row(np.log1p, lambda out, x: over(1, 1.0 + x), points=POSITIVE)


def logistic(t):
    """`1 / (1 + exp(-t))`, without overflow.

    >>> logistic(0.0), logistic(-1e4)
    (np.float64(0.5), np.float64(0.0))
    """
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-t))


row(logistic, lambda out, t: out * logistic(-t))  # of its own: `exp(-t) / (1 + exp(-t))**2` would overflow


def _gap(x, y):
    """`x - y`, and 0 where they are equal, also if infinite."""
    x, y = floating(x), floating(y)  # of unsigned integers, NumPy gives no negative difference
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, y), np.zeros_like(x - y), x - y)[()]


row(_gap, lambda out, x, y: (1.0, -1.0))  # of its own: the 0 where they are equal is a value, and moves
row(
    np.logaddexp,
    lambda out, x, y: (logistic(_gap(x, y)), logistic(_gap(y, x))),
    points=[*REAL_PAIRS, (800.0, -800.0), (np.array([1e4, -1e4]), 3.0)],
)
row(
    np.logaddexp2,
    lambda out, x, y: (logistic(LN2 * _gap(x, y)), logistic(LN2 * _gap(y, x))),
    points=REAL_PAIRS,
)


# -- trigonometry --------------------------------------------------------------------------------------------


def root_of_ends(x):
    """`sqrt(1 - x**2)`; of complex numbers so that the sign of a zero in `x`, the side of a cut, is kept."""
    if isinstance(x, float) or not np.iscomplexobj(x):
        return np.sqrt((1 - x) * (1 + x))
    return np.sqrt(-(x - 1.0)) * np.sqrt(x - -1.0)


def root_beyond(x):
    """`sqrt(x**2 - 1)`; `x + 1.0` would lose the sign of a zero."""
    return np.sqrt(x - 1.0) * np.sqrt(x - -1.0)


def product_of_ends(x):
    """`1 - x**2`, with its digits near 1."""
    return (1 - x) * (1 + x)


# Rules of their own: at an end one factor of each is 0 where the slope by the other is infinite.
row(root_of_ends, lambda out, x: -x / out)
row(root_beyond, with_limits(root_beyond, lambda out, x: x / out, {math.inf: 1.0}))
row(product_of_ends, lambda out, x: -2.0 * x)
row(np.sin, lambda out, x: np.cos(x), points=ANY)
row(np.cos, lambda out, x: -np.sin(x), points=ANY)
row(np.tan, lambda out, x: 1 + out * out, points=ANY)
row(np.arcsin, lambda out, x: 1 / root_of_ends(x), points=INSIDE_ONE)
row(np.arccos, lambda out, x: -1 / root_of_ends(x), points=INSIDE_ONE)
row(np.arctan, lambda out, x: arctan_slope(floating(x)), points=ANY)
row(np.sinh, lambda out, x: np.cosh(x), points=ANY)
row(np.cosh, lambda out, x: np.sinh(x), points=ANY)
row(np.tanh, lambda out, x: 1 - out * out, points=ANY)
row(np.arcsinh, lambda out, x: secant(out), points=ANY)
row(
    np.arccosh,
    lambda out, x: 1 / root_beyond(x),
    points=unary_points(1.3, 2.5, 4.0, whole=(2, 5), beyond=(1.4 - 0.7j, 0.2 + 2j)),
)
row(np.arctanh, lambda out, x: over(1, product_of_ends(x)), points=INSIDE_ONE)
row(np.deg2rad, lambda out, x: math.pi / 180, points=REAL)
row(np.radians, lambda out, x: math.pi / 180, points=REAL)
row(np.rad2deg, lambda out, x: 180 / math.pi, points=REAL)
row(np.degrees, lambda out, x: 180 / math.pi, points=REAL)


def arctan2_partials(out, y, x):
    """`x / r**2` and `-y / r**2`, divided by `r` twice: its square could overflow. NaN at the origin; 0 where
    `r` is infinite, and so are their slopes.
    """
    r = np.hypot(x, y)
    if not is_met(r, (math.inf,)):
        return x / r / r, -(y / r / r)
    far = is_at(r, math.inf)
    x, y = np.where(far, 1.0, x), np.where(far, 1.0, y)
    near = np.hypot(x, y)
    return np.where(far, 0.0, x / near / near)[()], np.where(far, 0.0, -y / near / near)[()]


row(np.arctan2, arctan2_partials, points=[*REAL_PAIRS, (1e200, -2e200)])


def nonzero(r):
    """`r` with its zeros replaced by ones: the guarded denominator of a direction."""
    return np.where(np.equal(r, 0), np.ones_like(r), r)[()]


def share_of(x, size):
    """`x / size`, and 0 where the size is 0, with all its derivatives."""
    return np.where(np.equal(size, 0), np.zeros_like(size), x / nonzero(size))[()]


def hypot_partials(out, x, y):
    """The direction, 0 at the origin; NaN where both are infinite."""
    return share_of_both(x, y, out), share_of_both(y, x, out)


def share_of_both(x, other, size):
    """The share of `x` in the size of both; where that is infinite, its limit, or that of two numbers whose
    size is too large to be one.
    """
    if not is_met(size, (math.inf,)):
        return share_of(x, size)
    far = is_at(size, math.inf)
    end = np.where(np.isinf(other), np.where(np.isinf(x), math.nan, 0.0), np.sign(x))
    large = np.logical_and(far, np.logical_and(np.isfinite(x), np.isfinite(other)))
    part, rest = np.where(large, x, 0.0) / 4, np.where(large, other, 1.0) / 4
    end = np.where(large, share_of(part, np.hypot(part, rest)), end)
    return np.where(far, end, share_of(np.where(far, 0.0, x), np.where(far, 1.0, size)))[()]


row(np.hypot, hypot_partials, REAL_PAIRS, frule=size_frule(np.hypot, hypot_partials), past=past_kink)


def sinc_partial(out, x):
    """`(cos(pi x) - sinc(x)) / x`; near 0, where that cancels, its series.

    >>> round(float(sinc_partial(np.sinc(0.5), 0.5)), 12)
    -1.273239544735
    """
    t = math.pi * floating(x)
    near = np.abs(t) < 0.1
    series = t * (-1 / 3 + t**2 * (1 / 30 + t**2 * (-1 / 840 + t**2 / 45360)))
    return math.pi * np.where(near, series, (np.cos(t) - out) / np.where(near, np.ones_like(t), t))[()]


row(np.sinc, sinc_partial, points=[*ANY, (np.array([0.0, 1e-6, -0.03, 0.032]),)])


def bessel_i1(x):
    """The modified Bessel function of order one, the derivative of `np.i0`.

    The mean of `cos(t) * exp(x * cos(t))` over the circle (DLMF 10.32.3) by the midpoint rule, which
    converges
    exponentially for a periodic integrand: 256 points leave only rounding up to the overflow of `np.i0`.

    >>> round(float(bessel_i1(1.0)), 12)
    0.565159103992
    """
    x = floating(x)
    cosines = [math.cos((k + 0.5) * math.pi / 128) for k in range(64)]
    return sum(c * np.sinh(x * c) for c in cosines) / 64


row(np.i0, lambda out, x: bessel_i1(x), points=[(0.3,), (np.array([-1.2, 0.0, 20.0]),), (np.empty(0),), (2,)])


# -- the larger, the smaller, the nearer ---------------------------------------------------------------------


def choice_partials(first_wins):
    """The partials of a function that returns one of its two arguments: ones where taken, else zeros."""

    def partials(out, x, y):
        first = first_wins(x, y)
        return first, ~first

    return partials


CHOICES = binary_points(
    (0.3, -1.2, 2.0), (1.5, -0.4), whole=((3, -2), (2, 5)), beyond=((1 - 2j, 0.3 + 1j), (2.5 + 1j, -1j))
)
row(np.maximum, choice_partials(lambda x, y: np.greater(x, y) | np.isnan(x)), points=CHOICES)
row(np.minimum, choice_partials(lambda x, y: np.less_equal(x, y) | np.isnan(x)), points=CHOICES)
row(np.fmax, choice_partials(lambda x, y: np.greater(x, y) | np.isnan(y)), points=CHOICES)
row(np.fmin, choice_partials(lambda x, y: np.less_equal(x, y) | np.isnan(y)), points=CHOICES)


def copysign_partials(out, x, y):
    """The sign that was given times the sign that was there; 0 at the kink `x = 0`."""
    return np.sign(x) * np.copysign(1.0, y), 0.0


row(np.copysign, copysign_partials, REAL_PAIRS, frule=size_frule(np.copysign, copysign_partials, of=1))
row(
    np.heaviside,
    lambda out, x, h: (0.0, np.equal(x, 0)),
    points=[(0.3, 0.5), (np.array([-1.2, 0.4]), np.array([[0.5], [1.0]])), (np.empty(0), 0.5)],
)
row(
    np.nextafter,
    lambda out, x, y: (1.0, 0.0),
    points=[(0.3, 2.0), (np.array([0.3, -1.2]), np.array([[5.0]]))],
)


def clip_parts(a, low, high):
    """Where `clip` returns the value, where its lower bound, where its upper one (bounds may be None; on one
    is inside).
    """
    below = np.zeros(np.shape(a), bool) if low is None else np.less(a, low)
    if high is None:
        above = np.zeros(np.shape(a), bool)
    else:
        above = np.greater(a if low is None else np.maximum(a, low), high)
    return ~(below | above), below & ~above, above


CLIPS = [
    (np.array([-1.0, 0.3, 2.0]), 0.0, 1.0),
    (0.3, 0.0, 1.0),
    (2.5, 0.0, 1.0),
    (np.array([[-1.0], [0.4]]), 0.0, None),
    (np.array([0.5, 3.0]), None, 1.0),
    (np.array([0.3, 1.7]), np.array([[0.0], [0.5], [3.0]]), np.array([1.0, 2.0])),
    (np.array([0.5, 3.0]), 2.0, 1.0),
    (np.array([5, -1, 2]), 0, 3),
    (np.empty((0, 2)), 0.0, 1.0),
    (np.array([-1.0, 0.3], np.float32), 0.0, 1.0),
]


def _mask_pullback(masks, operands):
    def pull(y_bar):
        return [
            NoTangent() if x is None else unbroadcast(mask * y_bar, x)
            for mask, x in zip(masks, operands, strict=True)
        ]

    return pull


def _clip(target, a, low, high):
    pull = _mask_pullback(clip_parts(a, low, high), (a, low, high))

    def clip_pullback(y_bar):
        return NoTangent(), *pull(y_bar)

    return target(a, low, high), clip_pullback


def _clip_forward(target, tangents, a, low, high):
    out = target(a, low, high)
    return out, _masked_sum(out, clip_parts(a, low, high), tangents[1:])


def _masked_sum(out, masks, tangents):
    """The sum of the tangents, each where its argument was taken, in the shape of `out`."""
    out_dot = ZeroTangent()
    for mask, x_dot in zip(masks, tangents, strict=False):
        if not is_zero(x_dot):
            part = np.where(mask, x_dot, 0.0)[()]
            out_dot = part if is_zero(out_dot) else out_dot + part
    return form_of(out, out_dot)


def _bounds(a, a_min, a_max, low, high):
    if low is None and high is None and (a_min is np._NoValue) != (a_max is np._NoValue):
        np.clip(a, a_min, a_max)  # which asks for the other one
    a_min, a_max = (None if x is np._NoValue else x for x in (a_min, a_max))
    if (low is not None or high is not None) and (a_min is not None or a_max is not None):
        refuse(
            "np.clip with min= or max= next to a_min or a_max is not differentiated",
            "give both bounds by position",
        )
    return (a_min, a_max) if low is None and high is None else (low, high)


@TABLE.rrule(
    np.clip,
    leading=3,
    points=[*CLIPS, (CLIPS[0][:1], {"min": 0.0, "max": 1.0}), (CLIPS[0][:1], {"max": 0.0})],
)
def clip_rrule(
    a: Number,
    a_min: Number | None = np._NoValue,
    a_max: Number | None = np._NoValue,
    out=None,
    *,
    min: Number | None = None,
    max: Number | None = None,
):
    """`a` within closed bounds: the bounds count as inside; where they cross, the upper one is taken.

    `min=` and `max=` are other names of the bounds.
    """
    return _clip(np.clip, a, *_bounds(a, a_min, a_max, min, max))


@TABLE.frule(np.clip)
def clip_frule(
    tangents,
    a: Number,
    a_min: Number | None = np._NoValue,
    a_max: Number | None = np._NoValue,
    out=None,
    *,
    min: Number | None = None,
    max: Number | None = None,
):
    return _clip_forward(np.clip, tangents, a, *_bounds(a, a_min, a_max, min, max))


@TABLE.rrule(np.ndarray.clip, leading=3, points=[p for p in CLIPS if isinstance(p[0], np.ndarray)])
def ndarray_clip_rrule(a: Array, min: Number | None = None, max: Number | None = None, out=None):
    return _clip(np.ndarray.clip, a, min, max)


@TABLE.frule(np.ndarray.clip)
def ndarray_clip_frule(tangents, a: Array, min: Number | None = None, max: Number | None = None, out=None):
    return _clip_forward(np.ndarray.clip, tangents, a, min, max)


_MISSING = object()
_CONDITION = np.array([True, False, True])


def _refuse_search(x, y):
    if x is _MISSING or y is _MISSING:
        refuse(
            "np.where with only the condition is not differentiated: it returns positions",
            "write np.nonzero(condition)",
            "give all three: np.where(condition, x, y)",
        )


@of_numbers
@strong_zero
def taken_bar(y_bar, condition, x, y):
    """The cotangent of `x` for that of `np.where(condition, x, y)`."""
    return unbroadcast(np.where(condition, y_bar, 0.0), x)


@of_numbers
@strong_zero
def otherwise_bar(y_bar, condition, x, y):
    """The cotangent of `y` for that of `np.where(condition, x, y)`."""
    return unbroadcast(np.where(condition, 0.0, y_bar), y)


@TABLE.rrule(
    np.where,
    leading=3,
    cotangents=(None, taken_bar, otherwise_bar),
    points=[
        (_CONDITION, np.array([1.0, -2.0, 3.0]), np.array([4.0, 5.0, 6.0])),
        (_CONDITION, 1.5, np.array([[2.0], [-1.0]])),
        (True, 1.5, 2.5),
        (_CONDITION[:, None], np.array([1.0, 2.0]), 0),
        (np.zeros(0, bool), np.zeros((2, 0)), 1.0),
        (_CONDITION, np.array([1j, 2.0, -1j]), np.array([4.0, 5.0, 6.0])),
        (_CONDITION, np.array([1, 2, 3]), np.array([1.0, -2.0, 3.0], np.float32)),
    ],
)
def where_rrule(condition, x=_MISSING, y=_MISSING, /):
    """`x` where the condition holds, else `y`; the cotangent of what was not taken is exactly 0, never `0 *
    inf`.
    """
    _refuse_search(x, y)
    taken = np.asarray(condition, bool)

    def where_pullback(y_bar):
        if isinstance(y_bar, MissingSlope):
            return NoTangent(), NoTangent(), y_bar, y_bar
        zero = np.zeros((), np.asarray(y_bar).dtype)
        return (
            NoTangent(),
            NoTangent(),
            Thunk(lambda: unbroadcast(np.where(taken, y_bar, zero), x)),
            Thunk(lambda: unbroadcast(np.where(taken, zero, y_bar), y)),
        )

    return np.where(condition, x, y), where_pullback


@TABLE.frule(np.where)
def where_frule(tangents, condition, x=_MISSING, y=_MISSING, /):
    _refuse_search(x, y)
    out, taken = np.where(condition, x, y), np.asarray(condition, bool)
    return out, _masked_sum(out, (taken, ~taken), tangents[2:])


# -- steps ---------------------------------------------------------------------------------------------------

for _step in (np.floor, np.ceil, np.trunc, np.rint, np.spacing):
    row(_step, lambda out, x: 0.0, points=BETWEEN_WHOLE if _step is not np.spacing else ())
row(np.floor_divide, lambda out, x, y: (0.0, 0.0), points=binary_points((0.3, -1.2, 7.6), (1.55, -0.7)))
row(
    np.fabs,
    lambda out, x: np.sign(x),
    points=REAL,
    frule=size_frule(np.fabs, lambda out, x: np.sign(x)),
    past=past_kink,
)


def _state_rounding(target, points):
    """Rounding to decimals: constant between jumps, so its derivative is zero wherever it has one."""

    @TABLE.rrule(target, leading=1, points=points)
    def rounding_rrule(a, decimals=0, out=None):
        def rounding_pullback(y_bar):
            return NoTangent(), ZeroTangent()

        return target(a, decimals), rounding_pullback

    @TABLE.frule(target)
    def rounding_frule(tangents, a, decimals=0, out=None):
        out = target(a, decimals)
        return out, no_change(out)


_ROUNDINGS = [(np.array([0.3, -1.2]),), (np.array([[0.321]]), 1), (np.empty(0),), (np.array([123.4]), -1)]
for _rounding in (np.round, np.around, np.ndarray.round):
    _state_rounding(_rounding, _ROUNDINGS)


@TABLE.rrule(np.fix, leading=1, points=[(0.3,), (np.array([-1.2, 2.6]),)])
def fix_rrule(x, out=None):
    def fix_pullback(y_bar):
        return NoTangent(), ZeroTangent()

    return np.fix(x), fix_pullback


@TABLE.frule(np.fix)
def fix_frule(tangents, x, out=None):
    out = np.fix(x)
    return out, no_change(out)


# -- several results -----------------------------------------------------------------------------------------


@TABLE.rrule(np.divmod, leading=2, points=REMAINDERS[:9])
def divmod_rrule(x: Number, y: Number, /):
    """The quotient is constant between jumps; the remainder has the partials of `np.remainder`."""
    out = np.divmod(x, y)

    def divmod_pullback(y_bar):
        _, remainder_bar = y_bar
        if is_zero(remainder_bar):
            return NoTangent(), ZeroTangent(), ZeroTangent()
        by_x, by_y = remainder_partials(out[1], x, y)
        return NoTangent(), unbroadcast(by_x * remainder_bar, x), unbroadcast(by_y * remainder_bar, y)

    return out, divmod_pullback


@TABLE.frule(np.divmod)
def divmod_frule(tangents, x: Number, y: Number, /):
    out = np.divmod(x, y)
    partials = remainder_partials(out[1], x, y)
    return out, (no_change(out[0]), tangent_sum(out[1], partials, tangents[1:]))


def tangent_sum(out, partials, tangents):
    """The sum of partials times tangents, in the shape of `out`."""
    out_dot = ZeroTangent()
    for partial, x_dot in zip(partials, tangents, strict=True):
        if not is_zero(x_dot):
            out_dot = partial * x_dot if is_zero(out_dot) else out_dot + partial * x_dot
    return form_of(out, out_dot)


@TABLE.rrule(np.modf, leading=1, points=BETWEEN_WHOLE)
def modf_rrule(x: Number, /):
    """`x = fraction + whole`, and the whole part is constant between jumps."""

    def modf_pullback(y_bar):
        fraction_bar, _ = y_bar
        return NoTangent(), ZeroTangent() if is_zero(fraction_bar) else unbroadcast(fraction_bar * 1.0, x)

    return np.modf(x), modf_pullback


@TABLE.frule(np.modf)
def modf_frule(tangents, x: Number, /):
    out = np.modf(x)
    fraction_dot = tangents[1] if is_zero(tangents[1]) else 1.0 * tangents[1]
    return out, (form_of(out[0], fraction_dot), no_change(out[1]))


@TABLE.rrule(np.frexp, leading=1, points=unary_points(0.3, -1.2, 2.6))
def frexp_rrule(x: Number, /):
    """`mantissa = x / 2**exponent`, and the exponent is constant between jumps."""
    out = np.frexp(x)

    def frexp_pullback(y_bar):
        mantissa_bar, _ = y_bar
        return NoTangent(), ZeroTangent() if is_zero(mantissa_bar) else unbroadcast(
            np.ldexp(mantissa_bar, -out[1]), x
        )

    return out, frexp_pullback


@TABLE.frule(np.frexp)
def frexp_frule(tangents, x: Number, /):
    out = np.frexp(x)
    mantissa_dot = tangents[1] if is_zero(tangents[1]) else np.ldexp(tangents[1], -out[1])
    return out, (form_of(out[0], mantissa_dot), no_change(out[1]))


@TABLE.rrule(
    np.ldexp, leading=2, points=[(0.3, 2), (np.array([0.3, -1.2]), np.array([[3], [-2]])), (np.empty(0), 1)]
)
def ldexp_rrule(x: Number, exponent, /):
    """`x * 2**exponent`; the exponent is a whole number."""

    def ldexp_pullback(y_bar):
        return NoTangent(), unbroadcast(np.ldexp(y_bar, exponent), x), NoTangent()

    return np.ldexp(x, exponent), ldexp_pullback


@TABLE.frule(np.ldexp)
def ldexp_frule(tangents, x: Number, exponent, /):
    out = np.ldexp(x, exponent)
    return out, form_of(out, tangents[1] if is_zero(tangents[1]) else np.ldexp(tangents[1], exponent))


# -- complex numbers -----------------------------------------------------------------------------------------
# A real-valued function of z has the cotangent dL/dRe(z) + i dL/dIm(z); a real argument gets the real part.


@strong_zero
def absolute_bar(y_bar, x):
    """The cotangent of a real array for that of `abs(x)`."""
    return np.sign(x) * y_bar


@TABLE.rrule(np.absolute, leading=1, points=ANY, cotangents=(absolute_bar,))
def absolute_rrule(x: Number, /):
    """`abs(x)`: the direction `x / abs(x)`, 0 at 0."""
    out = np.absolute(x)

    def absolute_pullback(y_bar):
        return NoTangent(), unbroadcast(direction(x, out) * np.real(y_bar), x)

    return out, absolute_pullback


@TABLE.frule(np.absolute)
def absolute_frule(tangents, x: Number, /):
    out = np.absolute(x)
    return out, size_tangent(x, out, tangents[1])


def direction(x, size):
    """`x / abs(x)` for complex `x`, the sign for real; 0 at 0."""
    return share_of(x, size) if np.iscomplexobj(x) else np.sign(floating(x))


def size_tangent(x, size, x_dot):
    """The tangent of `abs(x)`, which is `size`."""
    if is_zero(x_dot):
        return no_change(size)
    size_dot = laid_out(size, np.real(conjugate(direction(x, size)) * x_dot))
    return form_of(size, past_kink(size_dot, size, x, x_dot))


@TABLE.rrule(np.sign, leading=1, points=ANY)
def sign_rrule(x: Number, /):
    """`x / abs(x)`: constant for real `x`; for complex `x` only the angle moves it."""
    out = np.sign(x)

    def sign_pullback(y_bar):
        if not np.iscomplexobj(x):
            return NoTangent(), ZeroTangent()
        return NoTangent(), 1j * out * np.imag(np.conj(out) * y_bar) / nonzero(np.abs(x))

    return out, sign_pullback


@TABLE.frule(np.sign)
def sign_frule(tangents, x: Number, /):
    out = np.sign(x)
    if is_zero(tangents[1]):
        return out, no_change(out)
    if not np.iscomplexobj(x):
        return out, form_of(out, 0.0)
    return out, 1j * out * share_of(np.imag(np.conj(out) * tangents[1]), np.abs(x))


def _state_conjugate(target, points):
    @TABLE.rrule(target, leading=1, points=points)
    def conj_rrule(x: Number, /):
        def conj_pullback(y_bar):
            return NoTangent(), unbroadcast(np.conj(y_bar), x)

        return target(x), conj_pullback

    @TABLE.frule(target)
    def conj_frule(tangents, x: Number, /):
        return target(x), target(dense(x, tangents[1]))  # of a real array, the method gives the array itself


_ARRAYS = [p for p in ANY if isinstance(p[0], np.ndarray)]
_state_conjugate(np.conj, ANY)
_state_conjugate(np.ndarray.conj, _ARRAYS)
_state_conjugate(np.ndarray.conjugate, _ARRAYS)


@TABLE.rrule(np.real, leading=1, points=ANY)
def real_rrule(val: Number):
    def real_pullback(y_bar):
        return NoTangent(), y_bar + 0j if np.iscomplexobj(val) else y_bar

    return np.real(val), real_pullback


@TABLE.frule(np.real)
def real_frule(tangents, val: Number):
    return np.real(val), np.real(dense(val, tangents[1]))


@TABLE.rrule(np.imag, leading=1, points=ANY)
def imag_rrule(val: Number):
    def imag_pullback(y_bar):
        return NoTangent(), 1j * y_bar if np.iscomplexobj(val) else ZeroTangent()

    return np.imag(val), imag_pullback


@TABLE.frule(np.imag)
def imag_frule(tangents, val: Number):
    out = np.imag(val)
    return out, np.imag(dense(val, tangents[1])) if np.iscomplexobj(val) else no_change(out)


@TABLE.rrule(
    np.real_if_close, leading=1, points=[(np.array([0.3, -1.2]),), (np.array([0.4 - 0.7j]),), (0.3,)]
)
def real_if_close_rrule(a: Number, tol=100):
    """The real part, or `a` itself where an imaginary part matters."""
    out = np.real_if_close(a, tol)

    def real_if_close_pullback(y_bar):
        return NoTangent(), y_bar + 0j if np.iscomplexobj(a) else y_bar

    return out, real_if_close_pullback


@TABLE.frule(np.real_if_close)
def real_if_close_frule(tangents, a: Number, tol=100):
    out = np.real_if_close(a, tol)
    a_dot = np.asarray(dense(a, tangents[1]))  # an array like the value, also of a number
    return out, a_dot if np.iscomplexobj(out) else np.real(a_dot)


def _angle_unit(deg):
    return 180 / math.pi if deg else 1.0


@TABLE.rrule(np.angle, leading=1, points=[*ANY, (np.array([1 - 2j, -1 - 1j]), True)])
def angle_rrule(z: Number, deg=False):
    """The angle of `z`: `i z / r**2`, divided by `r = abs(z)` twice, as its square could overflow or vanish.
    It is 0 at 0, and that of a real number is constant.
    """

    def angle_pullback(y_bar):
        if not np.iscomplexobj(z):
            return NoTangent(), ZeroTangent()
        r = nonzero(np.abs(z))
        return NoTangent(), (_angle_unit(deg) * y_bar) * (1j * z / r / r)

    return np.angle(z, deg), angle_pullback


@TABLE.frule(np.angle)
def angle_frule(tangents, z: Number, deg=False):
    out = np.angle(z, deg)
    if not np.iscomplexobj(z) or is_zero(tangents[1]):
        return out, no_change(out)
    r = np.abs(z)
    return out, _angle_unit(deg) * share_of(np.imag(np.conj(share_of(z, r)) * tangents[1]), r)


# -- cleaning and converting ---------------------------------------------------------------------------------


def _keep_argument(copy):
    if not copy:
        raise MutationError(
            "Mutating arrays is not supported -- called np.nan_to_num(..., copy=False)",
            fixes=("leave out copy=False",),
        )


@TABLE.rrule(np.nan_to_num, leading=1, points=REAL)
def nan_to_num_rrule(x: Number, copy=True, nan=0.0, posinf=None, neginf=None):
    """`x` where it is finite; what replaces the rest is constant, so its cotangent is exactly 0 there."""
    _keep_argument(copy)
    finite = np.isfinite(x)

    def nan_to_num_pullback(y_bar):
        return NoTangent(), unbroadcast(np.where(finite, y_bar, np.zeros((), np.asarray(y_bar).dtype)), x)

    return np.nan_to_num(x, True, nan, posinf, neginf), nan_to_num_pullback


@TABLE.frule(np.nan_to_num)
def nan_to_num_frule(tangents, x: Number, copy=True, nan=0.0, posinf=None, neginf=None):
    _keep_argument(copy)
    out = np.nan_to_num(x, True, nan, posinf, neginf)
    return out, _masked_sum(out, (np.isfinite(x),), tangents[1:])


@TABLE.rrule(
    np.unwrap,
    leading=1,
    points=[(np.array([0.3, 0.9, 7.0, 13.5, -1.0]),), (np.array([[0.3, 9.0], [1.0, 2.0]]), None, 0)],
)
def unwrap_rrule(p: Number, discont=None, axis=-1, *, period=2 * math.pi):
    """`p` plus whole periods, which are constant between jumps."""

    def unwrap_pullback(y_bar):
        return NoTangent(), y_bar

    return np.unwrap(p, discont, axis, period=period), unwrap_pullback


@TABLE.frule(np.unwrap)
def unwrap_frule(tangents, p: Number, discont=None, axis=-1, *, period=2 * math.pi):
    return np.unwrap(p, discont, axis, period=period), 1.0 * dense(p, tangents[1])


for _dtype in (np.float16, np.longdouble, np.complex64, np.complex128):
    row(_dtype, lambda out, x: 1.0, points=[(0.5,), (1 - 2j,)] if _dtype is np.complex128 else ())
for _dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    row(_dtype, lambda out, x: 0.0)
