"""Rules for the functions of the `math` module.

Where a derivative is infinite (`sqrt(0)`, `asin(1)`) the rule says inf instead of raising; `hypot` and
`dist` have the derivative 0 where they are 0; rounding functions have the derivative 0; `fmod` and
`remainder` have NaN at their jumps. `pow` follows the table in `numpy_elementwise`.
"""

import math

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.structural import Tangent
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import is_zero, refuse
from .kinks import past_kink, size_frule
from .numpy_elementwise import LN2, LN10, power_partial_base, power_partial_exponent

TABLE = RuleTable("python_math")


# -- check points --------------------------------------------------------------------------------------------


def points_at(*values, whole=()):
    """Points for a function of one number: Python and NumPy numbers, a 0-d array, integers."""
    return [
        *[(v,) for v in values],
        (np.float64(values[0]),),
        (np.float32(values[-1]),),
        (np.array(values[-1]),),
        *[(n,) for n in whole],
    ]


ANY = points_at(0.3, -1.2, 2.6, whole=(2, -1))
POSITIVE = points_at(0.3, 1.2, 2.6, whole=(3,))
INSIDE_ONE = points_at(0.3, -0.7, 0.95, whole=(0,))
BETWEEN_WHOLE = points_at(0.3, -1.2, 2.6)
PAIRS = [(0.3, 1.5), (-1.2, 0.4), (2.0, -0.7), (3, 2), (np.float64(0.5), np.array(1.5))]


# -- pieces of formulas --------------------------------------------------------------------------------------


def quotient(a, b):
    """`a / b` with the values of IEEE arithmetic at `b = 0`, where Python raises.

    >>> quotient(1.0, 0.0), quotient(-1.0, 0.0), quotient(1.0, 4.0)
    (inf, -inf, 0.25)
    """
    if b:
        return a / b
    if a == 0 or a != a:
        return math.nan * (a + b)  # so are its derivatives
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


# By a branch of its code an infinite quotient would be a constant.
TABLE.scalar(quotient, lambda out, a, b: (quotient(1.0, b), -quotient(out, b)), points=PAIRS[:2])


def digamma(x):
    """The logarithmic derivative of the gamma function.

    Reflection for `x < 0.5`, the recurrence up to 10, then the asymptotic series (DLMF 5.5.4, 5.5.2, 5.11.2).

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    x = float(x)  # a 0-d array would be written by the recurrence
    if x == -math.inf:
        return math.nan * x  # there are poles all the way
    if x < 0.5:
        return digamma(1.0 - x) - quotient(math.pi, math.tan(math.pi * (x - round(x))))
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    s = (1.0 / x) * (1.0 / x)  # not `1 / x**2`, whose slope far out is nothing times infinity
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760)))))
    return shift + math.log(x) - 0.5 / x - series


def arctan_slope(x):
    """`1 / (1 + x**2)`."""
    return 1.0 / (1.0 + float(x) * x)


def cbrt_slope(out):
    """The slope of `math.cbrt` by its value."""
    return quotient(1.0, 3.0 * out * out)


def bell(x):
    """`exp(-x**2)`."""
    return math.exp(-float(x) * x)


def root_beyond(x):
    """`sqrt(x**2 - 1)`."""
    return math.sqrt(x - 1.0) * math.sqrt(x + 1.0)


# Rules of their own: far out what is infinite would be multiplied by nothing, or divided by what is infinite.
TABLE.scalar(arctan_slope, lambda out, x: -2.0 * x * out * out if out else 0.0)
TABLE.scalar(cbrt_slope, lambda out, u: -6.0 * u * out * out if out else 0.0)
TABLE.scalar(bell, lambda out, x: -2.0 * x * out if out else 0.0)
TABLE.scalar(root_beyond, lambda out, x: quotient(x, out) if out < math.inf else 1.0)


def number(x):
    """`x` as a Python number: NumPy's numbers would bring their warnings into Python arithmetic."""
    if isinstance(x, np.ndarray) and x.size != 1:
        refuse("a function for Python's numbers is called with arrays", "use NumPy's function")
    return x.item() if isinstance(x, (np.generic, np.ndarray)) else x


def real_number(x):
    """The same where Python takes real numbers alone: it drops the imaginary part of NumPy's complex ones."""
    x = number(x)
    if isinstance(x, complex):
        refuse("a function for Python's real numbers is called with complex ones", "pass np.real of them")
    return x


# -- functions of one number ---------------------------------------------------------------------------------

TABLE.scalar(math.sin, lambda out, x: math.cos(x), points=ANY)
TABLE.scalar(math.cos, lambda out, x: -math.sin(x), points=ANY)
TABLE.scalar(math.tan, lambda out, x: 1.0 + out * out, points=ANY)
TABLE.scalar(math.asin, lambda out, x: quotient(1.0, math.sqrt((1.0 - x) * (1.0 + x))), points=INSIDE_ONE)
TABLE.scalar(math.acos, lambda out, x: quotient(-1.0, math.sqrt((1.0 - x) * (1.0 + x))), points=INSIDE_ONE)
TABLE.scalar(math.atan, lambda out, x: arctan_slope(x), points=ANY)
TABLE.scalar(math.sinh, lambda out, x: math.cosh(x), points=ANY)
TABLE.scalar(math.cosh, lambda out, x: math.sinh(x), points=ANY)
TABLE.scalar(math.tanh, lambda out, x: 1.0 - out * out, points=ANY)
TABLE.scalar(math.asinh, lambda out, x: 1.0 / math.hypot(1.0, x), points=ANY)
TABLE.scalar(
    math.acosh,
    lambda out, x: quotient(1.0, root_beyond(x)),
    points=points_at(1.3, 2.6, whole=(2,)),
)
TABLE.scalar(math.atanh, lambda out, x: 1.0 / ((1.0 - x) * (1.0 + x)), points=INSIDE_ONE)
TABLE.scalar(math.exp, lambda out, x: out, points=ANY)
TABLE.scalar(math.exp2, lambda out, x: LN2 * out, points=ANY)
TABLE.scalar(math.expm1, lambda out, x: math.exp(x), points=ANY)
TABLE.scalar(math.log2, lambda out, x: 1 / x / LN2, points=POSITIVE)
TABLE.scalar(math.log10, lambda out, x: 1 / x / LN10, points=POSITIVE)
TABLE.scalar(math.log1p, lambda out, x: 1.0 / (1.0 + x), points=POSITIVE)
TABLE.scalar(math.sqrt, lambda out, x: quotient(0.5, out), points=POSITIVE)
TABLE.scalar(math.cbrt, lambda out, x: cbrt_slope(out), points=ANY)
TABLE.scalar(math.erf, lambda out, x: 2.0 / math.sqrt(math.pi) * bell(x), points=ANY)
TABLE.scalar(math.erfc, lambda out, x: -2.0 / math.sqrt(math.pi) * bell(x), points=ANY)


def gamma_partial(out, x):
    """The function times its logarithmic derivative; far out like itself, and so are its slopes."""
    return out if math.isinf(x) else out * digamma(x)


TABLE.scalar(math.gamma, gamma_partial, points=points_at(0.3, -1.2, 2.6, whole=(3,)))
TABLE.scalar(math.lgamma, lambda out, x: digamma(x), points=points_at(0.3, -1.2, 2.6, 40.0, whole=(3,)))
TABLE.scalar(math.degrees, lambda out, x: 180.0 / math.pi, points=ANY)
TABLE.scalar(math.radians, lambda out, x: math.pi / 180.0, points=ANY)


def fabs_partial(out, x):
    """The sign, 0 at the kink."""
    return math.copysign(1.0, x) if x else 0.0


TABLE.scalar(math.fabs, fabs_partial, ANY, size_frule(math.fabs, fabs_partial), past_kink)
for _step in (math.floor, math.ceil, math.trunc):
    TABLE.scalar(_step, lambda out, x: 0.0, points=[(0.3,), (-1.2,), (2.6,), (np.float64(2.6),)])
TABLE.scalar(math.ulp, lambda out, x: 0.0, points=())


# -- functions of two numbers --------------------------------------------------------------------------------


def atan2_partials(out, y, x):
    """`x / r**2` and `-y / r**2`; NaN at the origin."""
    r = math.hypot(x, y)
    return by_square(x, r), -by_square(y, r)


def by_square(x, r):
    """`x / r**2`, divided by `r` twice: its square could overflow; 0 where that is infinite."""
    return 0.0 if math.isinf(r) else quotient(quotient(x, r), r)


def fmod_partials(out, x, y):
    """Those of `x - n * y`: 1 and `-n`. NaN at the multiples of `y`, which are jumps; 0 is none. At `y = inf`
    nothing is ever taken off.
    """
    return at_a_jump(x, y) if not out and x else taken_off(out, x, y)


def remainder_partials(out, x, y):
    """Those of `x - n * y`, `n * y` being the nearest multiple; NaN halfway between two, which is a jump."""
    return at_a_jump(x, y) if abs(out) == abs(y) / 2 else taken_off(out, x, y)


def at_a_jump(x, y):
    """NaN, and so is each further derivative by `x` and `y`."""
    return x * math.nan, y * math.nan


def taken_off(out, x, y):
    """1 and `-n`, where `n` times `y` was taken off `x` to leave `out`."""
    return 1.0, -float(round(quotient(x - out, y)))


def pow_partials(out, x, y):
    """The table of `x ** y`, as plain floats."""
    return float(power_partial_base(out, x, y)), float(power_partial_exponent(out, x, y))


def copysign_partials(out, x, y):
    """The sign that was given divided by the sign that was there; 0 at the kink `x = 0`."""
    return math.copysign(1.0, x) * math.copysign(1.0, y) if x else 0.0, 0.0


TABLE.scalar(math.atan2, atan2_partials, points=[*PAIRS, (1e200, -2e200)])
TABLE.scalar(
    math.pow,
    pow_partials,
    points=[(0.3, 1.5), (2.0, -0.7), (3, 2), (1.5, 0.0), (np.float64(0.5), np.array(1.5))],
)
TABLE.scalar(
    math.fmod, fmod_partials, points=[(7.3, 1.5), (-7.3, 1.5), (7.3, -1.5), (1, 2.5), (7, 3), (0.0, 1.5)]
)
TABLE.scalar(
    math.remainder,
    remainder_partials,
    points=[(7.3, 1.5), (-7.3, 1.6), (7.3, -1.5), (1, 2.7), (7, 4.3), (-512.0, 128.0), (0.0, 1.5)],
)
TABLE.scalar(math.copysign, copysign_partials, PAIRS, size_frule(math.copysign, copysign_partials, of=1))


@TABLE.rrule(math.nextafter, leading=2, points=[(0.3, 2.0), (-1.2, 5.0)])
def nextafter_rrule(x, y, /, **steps):
    """The neighbour of `x`: moves as `x` does."""

    def nextafter_pullback(z_bar):
        return NoTangent(), 1.0 * z_bar, ZeroTangent()

    return math.nextafter(x, y, **steps), nextafter_pullback


@TABLE.frule(math.nextafter)
def nextafter_frule(tangents, x, y, /, **steps):
    return math.nextafter(x, y, **steps), tangents[1] if is_zero(tangents[1]) else 1.0 * tangents[1]


@TABLE.rrule(math.ldexp, leading=2, points=[(0.3, 2), (-1.2, -3)])
def ldexp_rrule(x, i, /):
    """`x * 2**i`; the exponent is a whole number."""

    def ldexp_pullback(y_bar):
        return NoTangent(), math.ldexp(y_bar, i), NoTangent()

    return math.ldexp(x, i), ldexp_pullback


@TABLE.frule(math.ldexp)
def ldexp_frule(tangents, x, i, /):
    return math.ldexp(x, i), NoTangent() if is_zero(tangents[1]) else math.ldexp(tangents[1], i)


@TABLE.rrule(math.log, leading=2, points=[*POSITIVE, (0.3, 2.0), (2.5, 10), (3, 0.5)])
def log_rrule(x, base=math.e, /):
    """The natural one, or `ln(x) / ln(base)`: `1 / (x ln(base))` and `-log(x, base) / (base ln(base))`."""
    if base is math.e:

        def natural_log_pullback(y_bar):
            return NoTangent(), 1 / real_number(x) * y_bar

        return math.log(x), natural_log_pullback
    y, scale = math.log(x, base), math.log(base)

    def log_pullback(y_bar):
        return NoTangent(), y_bar / (real_number(x) * scale), -y * y_bar / (real_number(base) * scale)

    return y, log_pullback


@TABLE.frule(math.log)
def log_frule(tangents, x, base=math.e, /):
    y, scale = math.log(x, base) if base is not math.e else math.log(x), math.log(base)
    y_dot = 0.0 if is_zero(tangents[1]) else tangents[1] / (real_number(x) * scale)
    if len(tangents) > 2 and not is_zero(tangents[2]):
        y_dot = y_dot - y * tangents[2] / (real_number(base) * scale)
    return y, y_dot


@TABLE.rrule(math.frexp, leading=1, points=BETWEEN_WHOLE)
def frexp_rrule(x, /):
    """`mantissa = x / 2**exponent`, and the exponent is constant between jumps."""
    mantissa, exponent = math.frexp(x)

    def frexp_pullback(y_bar):
        mantissa_bar = unthunk(y_bar[0])
        return NoTangent(), ZeroTangent() if is_zero(mantissa_bar) else math.ldexp(mantissa_bar, -exponent)

    return (mantissa, exponent), frexp_pullback


@TABLE.frule(math.frexp)
def frexp_frule(tangents, x, /):
    mantissa, exponent = math.frexp(x)
    x_dot = 0.0 if is_zero(tangents[1]) else tangents[1]
    return (mantissa, exponent), (math.ldexp(x_dot, -exponent), NoTangent())


@TABLE.rrule(math.modf, leading=1, points=BETWEEN_WHOLE)
def modf_rrule(x, /):
    """`x = fraction + whole`, and the whole part is constant between jumps."""

    def modf_pullback(y_bar):
        fraction_bar = unthunk(y_bar[0])
        return NoTangent(), ZeroTangent() if is_zero(fraction_bar) else 1.0 * fraction_bar

    return math.modf(x), modf_pullback


@TABLE.frule(math.modf)
def modf_frule(tangents, x, /):
    return math.modf(x), (0.0 if is_zero(tangents[1]) else 1.0 * tangents[1], NoTangent())


# -- functions of many numbers -------------------------------------------------------------------------------


def entries(xs, xs_dot):
    """The tangents of the items of a sequence as numbers, zeros where there are none."""
    if is_zero(xs_dot):
        return [0.0] * len(xs)
    return [0.0 if is_zero(x_dot) else x_dot for x_dot in xs_dot]


def cotangent_of(xs, x_bars):
    """Numbers as the cotangent of the sequence they belong to: an array for an array, else a Tangent."""
    if isinstance(xs, np.ndarray):
        return np.array(x_bars, dtype=xs.dtype if xs.dtype.kind in "fc" else float)
    return Tangent(type(xs), *x_bars)


def slopes(xs, r):
    """`x / r` for each; zeros at `r = 0`, and limits where `r` is infinite."""
    xs = [real_number(x) for x in xs]
    return far_slopes(xs) if math.isinf(r) else [x / r if r else 0.0 for x in xs]


def far_slopes(xs):
    """The slopes where the length is infinite: the sign of the one infinite number, NaN for several. Of
    finite numbers, which overflow together, those of a part of them.
    """
    count = sum([1 if math.isinf(x) else 0 for x in xs])
    if not count:
        parts = [x / 2.0**32 for x in xs]
        return slopes(parts, math.hypot(*parts))
    return [0.0 if not math.isinf(x) else math.copysign(1.0, x) if count == 1 else math.nan for x in xs]


@TABLE.rrule(
    math.hypot, leading=8, points=[(0.3, -1.2), (0.3,), (0.3, -1.2, 2.0), (3, 4), (-2.0, 0.0), (1e200, 1e200)]
)
def hypot_rrule(*coordinates):
    """The length of a vector: each coordinate over the length, 0 at the origin."""
    r = math.hypot(*coordinates)

    def hypot_pullback(r_bar):
        return NoTangent(), *[slope * r_bar for slope in slopes(coordinates, r)]

    return r, hypot_pullback


@TABLE.frule(math.hypot)
def hypot_frule(tangents, *coordinates):
    r = math.hypot(*coordinates)
    return r, length_tangent(r, [real_number(x) for x in coordinates], entries(coordinates, tangents[1:]))


def length_tangent(r, xs, xs_dot):
    """That of the length `r` of a vector."""
    return math.fsum([past_kink(s * d, r, x, d) for s, x, d in zip(slopes(xs, r), xs, xs_dot, strict=True)])


def hypot_partials(out, x: float | int, y: float | int):
    """Those of two numbers, which loops call."""
    if out and not math.isinf(out):
        return x / out, y / out
    return tuple(slopes((x, y), out))


TABLE.scalar(
    math.hypot, hypot_partials, frule=size_frule(math.hypot, hypot_partials), past=past_kink, least=2
)

_SPOTS = [([0.3, -1.2], [2.0, 0.4]), ((0.3, 1, 2.0), [1.0, -2.0, 0.5]), (np.array([0.3, -1.2]), (2, 0.4))]


@TABLE.rrule(math.dist, leading=2, points=_SPOTS)
def dist_rrule(p, q, /):
    """The distance of two points: the unit vector from `q` to `p` and its opposite, 0 where they meet."""
    r = math.dist(p, q)

    def dist_pullback(r_bar):
        unit = slopes([a - b for a, b in zip(p, q, strict=True)], r)
        return (
            NoTangent(),
            cotangent_of(p, [u * r_bar for u in unit]),
            cotangent_of(q, [-u * r_bar for u in unit]),
        )

    return r, dist_pullback


@TABLE.frule(math.dist)
def dist_frule(tangents, p, q, /):
    r, p_dot, q_dot = math.dist(p, q), entries(p, tangents[1]), entries(q, tangents[2])
    gaps = [real_number(a) - real_number(b) for a, b in zip(p, q, strict=True)]
    return r, length_tangent(r, gaps, [a - b for a, b in zip(p_dot, q_dot, strict=True)])


_LISTS = [([0.3, -1.2, 2.0],), ((3, 0.5),), ([],), (np.array([0.3, -1.2]),), ([2, 3],)]
Sequence = list | tuple | np.ndarray


@TABLE.rrule(math.fsum, leading=1, points=_LISTS)
def fsum_rrule(seq: Sequence, /):
    """The sum without rounding: the seed for every item."""

    def fsum_pullback(y_bar):
        return NoTangent(), cotangent_of(seq, [1.0 * y_bar for _ in seq])

    return math.fsum(seq), fsum_pullback


@TABLE.frule(math.fsum)
def fsum_frule(tangents, seq: Sequence, /):
    return math.fsum(seq), math.fsum(entries(seq, tangents[1]))


def products_of_others(xs, start):
    """For each item the product of `start` and all the others; exact where some are zero.

    >>> products_of_others([2.0, 0.0, 3.0], 1.0)
    [0.0, 6.0, 0.0]
    """
    before, after, n = [start], [1], len(xs)
    for i in range(n - 1):
        before.append(before[-1] * xs[i])
        after.append(after[-1] * xs[n - 1 - i])
    return [before[i] * after[n - 1 - i] for i in range(n)]


@TABLE.rrule(
    math.prod,
    leading=1,
    points=[*_LISTS, ([0.0, 1.5, 2.0],), ([0.0, 0.0, 2.0],), (([0.3, 2.0],), {"start": 5.0})],
)
def prod_rrule(iterable: Sequence, /, *, start=1):
    """The product: for each item the product of the others, by running products, so that zeros are exact."""

    def prod_pullback(y_bar):
        others = products_of_others(list(map(number, iterable)), start) if len(iterable) else []
        return NoTangent(), cotangent_of(iterable, [_against(*pair, y_bar) for pair in zip(iterable, others)])

    return math.prod(iterable, start=start), prod_pullback


@TABLE.frule(math.prod)
def prod_frule(tangents, iterable: Sequence, /, *, start=1):
    others = products_of_others(list(map(number, iterable)), start) if len(iterable) else []
    dots = entries(iterable, tangents[1])
    return math.prod(iterable, start=start), sum(
        (_inexact(o) * d for o, d in zip(others, dots, strict=True)), 0.0
    )


def _inexact(x):
    """A whole number as a float; a complex one as it is."""
    return x if isinstance(x, complex) else float(x)


def _against(x, factor, y_bar):
    """The cotangent of `x` in `factor * x`: real if `x` is."""
    x_bar = _inexact(factor).conjugate() * y_bar
    return x_bar if np.iscomplexobj(x) else x_bar.real


if hasattr(math, "sumprod"):

    @TABLE.rrule(math.sumprod, leading=2, points=[([0.3, -1.2], (2.0, 0.4)), ([1, 2], [0.5, -1.0]), ([], [])])
    def sumprod_rrule(p: Sequence, q: Sequence, /):
        """The inner product of two sequences: each is the other's derivative."""

        def sumprod_pullback(y_bar):
            return (
                NoTangent(),
                cotangent_of(p, [_against(*pair, y_bar) for pair in zip(p, map(number, q))]),
                cotangent_of(q, [_against(*pair, y_bar) for pair in zip(q, map(number, p))]),
            )

        return math.sumprod(p, q), sumprod_pullback

    @TABLE.frule(math.sumprod)
    def sumprod_frule(tangents, p: Sequence, q: Sequence, /):
        p_dot, q_dot = entries(p, tangents[1]), entries(q, tangents[2])
        return math.sumprod(p, q), 0.0 + math.sumprod(p_dot, q) + math.sumprod(p, q_dot)


if hasattr(math, "fma"):
    TABLE.scalar(math.fma, lambda out, x, y, z: (y, x, 1.0), points=[(0.3, -1.2, 2.0), (2, 1.5, -1)])


# -- answers about numbers -----------------------------------------------------------------------------------

TABLE.non_differentiable(
    math.comb,
    math.factorial,
    math.gcd,
    math.isclose,
    math.isfinite,
    math.isinf,
    math.isnan,
    math.isqrt,
    math.lcm,
    math.perm,
)
