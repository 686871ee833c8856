"""NumPy's elementwise functions: their derivatives, and their values at kinks."""

import math
import warnings

import numpy as np
import pytest
from library_calls import orders
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets import numpy_elementwise
from rulelab.rulesets.numpy_elementwise import TABLE, bessel_i1, sinc_partial

SHAPES = [(), (1,), (3,), (2, 1), (1, 3), (2, 3), (0, 3), (0, 1)]
BROADCASTS = [(a, b) for a in SHAPES for b in SHAPES if {2, 0} - {*a[:-1], *b[:-1]}]


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every elementwise function has the derivative that its values show, for numbers and arrays of any
    shape.
    """
    at_each(points, check)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "ufunc", [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.hypot]
)
@pytest.mark.parametrize(("left", "right"), BROADCASTS, ids=str)
def test_every_broadcast_gives_cotangents_of_the_operands_shapes(ufunc, left, right):
    """Whatever was broadcast against whatever, a gradient has the shape of its argument."""
    x_bar, y_bar = cotangents(TABLE, ufunc, np.full(left, 1.5), np.full(right, 2.5))
    assert np.shape(x_bar) == left and np.shape(y_bar) == right


@pytest.mark.parametrize(
    ("target", "args", "expected"),
    [
        (np.absolute, (0.0,), (0.0,)),
        (np.absolute, (0j,), (0j,)),
        (np.fabs, (0.0,), (0.0,)),
        (np.sign, (0.0,), None),
        (np.hypot, (0.0, 0.0), (0.0, 0.0)),
        (np.sqrt, (0.0,), (math.inf,)),
        (np.cbrt, (0.0,), (math.inf,)),
        (np.maximum, (1.0, 1.0), (0.0, 1.0)),
        (np.fmax, (1.0, 1.0), (0.0, 1.0)),
        (np.minimum, (1.0, 1.0), (1.0, 0.0)),
        (np.fmin, (1.0, 1.0), (1.0, 0.0)),
        (np.maximum, (math.nan, 1.0), (1.0, 0.0)),
        (np.maximum, (1.0, math.nan), (0.0, 1.0)),
        (np.minimum, (1.0, math.nan), (0.0, 1.0)),
        (np.fmax, (math.nan, 1.0), (0.0, 1.0)),
        (np.fmax, (1.0, math.nan), (1.0, 0.0)),
        (np.fmin, (math.nan, 1.0), (0.0, 1.0)),
        (np.clip, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        (np.clip, (1.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        (np.remainder, (4.0, 2.0), (math.nan, math.nan)),
        (np.fmod, (4.0, 2.0), (math.nan, math.nan)),
        (np.fmod, (0.0, 2.0), (1.0, 0.0)),
        (np.logaddexp, (-math.inf, -math.inf), (0.5, 0.5)),
        (np.logaddexp, (800.0, -800.0), (1.0, 0.0)),
        (np.sinc, (0.0,), (0.0,)),
        (np.angle, (0j,), (0j,)),
        (np.heaviside, (0.0, 0.5), (0.0, 1.0)),
        (np.copysign, (0.0, -1.0), (0.0, 0.0)),
        (np.floor, (2.0,), (0.0,)),
        (np.nan_to_num, (math.inf,), (0.0,)),
    ],
)
def test_conventions_where_there_is_no_one_derivative(target, args, expected):
    """At a kink, a tie or a pole the gradient is the one that the documentation states."""
    got = cotangents(TABLE, target, *args)
    if expected is None:
        assert type(got[0]).__name__ == "ZeroTangent"
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("x", "p", "by_x", "by_p"),
    [
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, math.nan),
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 3, 0.0, 0.0),
        (0.0, 0.5, math.inf, 0.0),
        (0.0, -1.0, -math.inf, math.nan),
        (-2.0, 3.0, 12.0, -8.0 * math.log(2.0)),
        (-2.0, 2, -4.0, 4.0 * math.log(2.0)),
        (-2.0, 0.5, math.nan, math.nan),
        (-2.0, 0.0, 0.0, math.log(2.0)),
    ],
)
def test_power_follows_one_table_of_conventions(x, p, by_x, by_p):
    """`x ** p` at zero and negative `x` has the values of the table, not those of a blind formula."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(cotangents(TABLE, np.power, x, p), (by_x, by_p), rtol=1e-14)


@pytest.mark.parametrize(
    ("y", "x", "by_y", "by_x"),
    [
        (0.0, 1.0, 1.0, 0.0),
        (1.0, 0.0, 0.0, -1.0),
        (0.0, -1.0, -1.0, 0.0),
        (-0.0, -1.0, -1.0, 0.0),
        (-2.0, 0.0, 0.0, 0.5),
        (1e-200, 1e200, 1e-200, 0.0),
        (1e300, 1e300, 5e-301, -5e-301),
        (0.0, 0.0, math.nan, math.nan),
    ],
)
def test_arctan2_at_the_edges_of_its_quadrants(y, x, by_y, by_x):
    """The angle is smooth across the axes and at its jump; at the origin it has no slope."""
    np.testing.assert_allclose(cotangents(TABLE, np.arctan2, y, x), (by_y, by_x), rtol=1e-14)


SAFE = {
    "softplus": (lambda x: np.logaddexp(0.0, x), lambda x: 1.0 if x > 0 else 0.0),
    "softplus by parts": (
        lambda x: np.maximum(0.0, x) + np.log1p(np.exp(-np.abs(x))),
        lambda x: 1.0 if x > 0 else 0.0,
    ),
    "logsumexp": (
        lambda x: (
            np.max(np.stack([x, -x])) + np.log(np.sum(np.exp(np.stack([x, -x]) - np.max(np.stack([x, -x])))))
        ),
        math.tanh,
    ),
    "sigmoid": (lambda x: 0.5 * (1.0 + np.tanh(0.5 * x)), lambda x: 0.0),
    "hypot": (lambda x: np.hypot(x * 1e200, 1.0) / 1e200, lambda x: math.copysign(1.0, x)),
}


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize("x", [800.0, -800.0])
def test_what_is_written_to_be_safe_from_overflow_has_a_safe_gradient(name, x):
    """At ±800 the exponentials overflow; the functions do not, and neither do their slopes."""
    f, slope = SAFE[name]
    assert rl.gradient(f, x)[0] == pytest.approx(slope(x), abs=1e-300)


def test_where_keeps_infinite_slopes_out():
    """`where(x > 0, sqrt(x), 0)` at 0: the branch not taken gets exactly 0, whatever its own derivative."""
    _, taken, other = cotangents(
        TABLE, np.where, np.array([True, False]), np.array([1.0, 2.0]), 3.0, seed=np.array([math.inf, 5.0])
    )
    np.testing.assert_array_equal(taken, [math.inf, 0.0])
    assert other == 5.0


def test_where_with_the_condition_alone_is_refused():
    """Positions have no derivative: `np.where(c)` in differentiated code is an error, not a zero."""
    with pytest.raises(RuleLabError, match="only the condition"):
        cotangents(TABLE, np.where, np.array([True, False]))


def test_reciprocal_of_integers_is_refused():
    """NumPy rounds it to an integer, so any derivative would be wrong."""
    with pytest.raises(RuleLabError, match="integer"):
        cotangents(TABLE, np.reciprocal, np.array([2, 3]))


def test_nan_to_num_in_place_is_refused():
    """`copy=False` writes into the argument."""
    with pytest.raises(RuleLabError, match="Mutating"):
        cotangents(TABLE, np.nan_to_num, np.array([1.0]), copy=False)


@pytest.mark.parametrize("keyword", [{"where": np.array([True])}, {"dtype": float}, {"out": np.zeros(1)}])
def test_keywords_that_a_rule_does_not_state_are_not_swallowed(keyword):
    """`np.multiply(x, y, where=mask)` is never differentiated as if the mask were not there."""
    rule = rule_at(registry_of(TABLE), np.multiply, (np.ones(1), np.ones(1)), "rrule")
    with pytest.raises((TypeError, RuleLabError)):
        rule.function(np.ones(1), np.ones(1), **keyword)


def test_cotangents_of_real_arguments_are_real():
    """A complex factor does not make the gradient of its real partner complex."""
    x_bar, z_bar = cotangents(TABLE, np.multiply, np.array([1.0, 2.0]), 1 + 2j, seed=np.array([1.0, 1j]))
    assert np.asarray(x_bar).dtype == float and isinstance(complex(z_bar), complex)
    np.testing.assert_allclose(x_bar, [1.0, 2.0])


def test_bessel_function_is_accurate_from_tiny_to_huge():
    """The derivative of `np.i0` keeps its digits: series below, asymptotics above."""
    assert bessel_i1(1e-8) == pytest.approx(5e-9, rel=1e-14)
    assert bessel_i1(600.0) == pytest.approx(
        float(np.i0(600.0)) * (1 - 1 / 1200 - 1 / (8 * 600**2)), rel=1e-8
    )


def test_sinc_has_no_seam_between_series_and_formula():
    """The derivative of sinc is smooth where the formula takes over from the series."""
    at = 0.1 / math.pi
    below, above = (sinc_partial(np.sinc(x), x) for x in (at * (1 - 1e-12), at * (1 + 1e-12)))
    assert below == pytest.approx(above, rel=1e-11)


@pytest.mark.parametrize("f", [lambda x: x % 1.0, lambda x: np.fmod(x, 1.0), lambda x: 1.0 % x])
def test_the_remainder_of_a_python_number_is_as_exact_as_any(f):
    """The slope of a remainder is no float16, whatever it is multiplied with."""
    _, back = rl.pullback(f, 0.3)
    slope = (f(0.3 + 2.0**-10) - f(0.3 - 2.0**-10)) * 2.0**9
    assert back(4.2)[0] == pytest.approx(4.2 * slope, rel=1e-12)


CUTS = {  # points on the branch cuts but for the signed zero, and which way they run
    **{name: ((-2.5, -0.3), 1.0) for name in ("log", "log10", "log2", "sqrt")},
    "log1p": ((-2.5, -1.5), 1.0),
    "power": ((-2.5, -0.3), 1.0),
    **{name: ((-3.0, 2.0), 1.0) for name in ("arcsin", "arccos", "arctanh")},
    **{name: ((-3.0, 2.0), 1j) for name in ("arcsinh", "arctan")},
    "arccosh": ((-3.0, 0.5), 1.0),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("name", CUTS)
def test_on_a_cut_the_derivative_is_that_of_the_side_of_the_value(name, zero):
    """The sign of a zero says on which side of its branch cut a function is taken, and so do its slope and
    its curvature, in both modes, of a number and of an array.
    """
    positions, along = CUTS[name]

    def f(z):
        return np.power(z, 0.3) if name == "power" else getattr(np, name)(z)

    def slope(z):
        return rl.pushforward(f, z)(np.ones_like(z))

    for make in (np.complex128, lambda z: np.array([z])):
        for t in positions:

            def at(s, t=t, make=make):
                return make(complex(t + s, zero) if along == 1.0 else complex(zero, t + s))

            h, z = 1e-4, at(0.0)
            first = (f(at(h)) - f(at(-h))) / (2 * h * along)
            second = (f(at(h)) - 2 * f(z) + f(at(-h))) / (h * along) ** 2
            one = np.ones_like(z)
            np.testing.assert_allclose(np.conj(rl.pullback(f, z)[1](one)[0]), first, atol=1e-5)
            np.testing.assert_allclose(slope(z), first, atol=1e-5)
            np.testing.assert_allclose(rl.pushforward(slope, z)(one), second, atol=1e-4)
            np.testing.assert_allclose(np.conj(rl.pullback(slope, z)[1](one)[0]), second, atol=1e-4)


@pytest.mark.parametrize("p", [-13, -12, -1, 0, 1, 2, 12, 13, 0.5, -0.5, 0.0, -0.0, 1.0, True])
def test_slopes_of_powers_of_floats_are_those_of_numpys_numbers(p):
    """Bit by bit, in the quick way and outside of it, whatever flows back."""
    for x in (0.3, 1.0, 2.5, 1e-19, 1e-21, 1e19, 1e21, -1.5, np.inf):
        for y_bar in (1.0, -0.7, 0.0, -0.0, 1e300, -1e-300, np.inf, np.nan):
            out = x**p
            if isinstance(out, complex):
                continue
            with np.errstate(all="ignore"):
                wanted = float(numpy_elementwise.power_partial_base(out, x, p) * y_bar)
                found = numpy_elementwise.power_base_bar(y_bar, out, x, p)
            assert type(found) is float and repr(found) == repr(wanted)


def as_floats(p):
    return p if np.asarray(p).dtype.kind == "f" else np.asarray(p, float)[()]


def power_below(x, p):
    return np.sum(np.power(x, as_floats(p) - 1))


@pytest.mark.parametrize("p", [np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3])])
def test_an_exponent_of_constants_has_no_logarithm(p):
    """At 0 and below it, in both modes, whatever the exponent is computed by."""
    x, v = np.array([0.0, 0.0, -2.0]), np.array([0.5, 2.0, 3.0])
    with np.errstate(all="ignore"):
        assert rl.gradient(lambda x: power_below(x, p), x)[0].tolist() == [0.0, 1.0, -4.0]
        assert rl.pushforward(lambda x: power_below(x, p), x)(v) == 2.0 - 12.0


@pytest.mark.parametrize("kind", [int, float])
def test_powers_of_zero_have_second_derivatives_in_all_orders(kind):
    """Those of a polynomial, all powers of which are computed at once."""
    x, v, p = np.zeros(4), np.ones(4), np.arange(4).astype(kind)
    with np.errstate(all="ignore"):
        for _, found in orders(lambda x: x**p, (x,), (v,), np.ones(4)):
            assert found == 2.0


@pytest.mark.parametrize(
    "f", [lambda x: np.sum(np.zeros(2) ** x), lambda x: np.sum(np.power(np.arange(3.0), x) * [1.0, 0.0, 0.0])]
)
def test_a_constant_zero_to_a_power_that_varies_stays_zero_in_every_order(f):
    """Zeros are the tangents of a constant array, and meet an infinite slope in its entries."""
    with np.errstate(all="ignore"):
        for slope in (lambda x: rl.pushforward(f, x)(1.0), lambda x: rl.gradient(f, x)[0]):
            assert slope(0.9) == 0.0
            assert rl.pushforward(slope, 0.9)(1.0) == 0.0 and rl.gradient(slope, 0.9)[0] == 0.0


_UFUNCS = [target for target, _ in TABLE.rules if isinstance(target, np.ufunc) and target.nout == 1]


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.uint64, np.int64])
@pytest.mark.parametrize("ufunc", dict.fromkeys(_UFUNCS), ids=lambda f: f.__name__)
def test_whole_numbers_of_any_dtype_have_the_slopes_of_floats(ufunc, dtype):
    """In a partial, sums and differences of such numbers do not wrap around where the value does not."""
    most = np.iinfo(dtype).max
    for given in [(5, 50), (50, 7), (most, 3), (3, most)]:
        whole = [np.array([x], dtype) for x in given[: ufunc.nin]]
        floats = [np.array([x], float) for x in given[: ufunc.nin]]
        with np.errstate(all="ignore"):
            try:
                value, wanted = ufunc(*whole), rl.gradient(lambda *xs: np.sum(ufunc(*xs)), *floats)
                found = rl.gradient(lambda *xs: np.sum(ufunc(*xs)), *whole)
            except (RuleLabError, TypeError):
                continue  # refused, or not for such numbers
            if all(bar is None for bar in wanted):
                assert all(bar is None for bar in found)
            elif np.allclose(value, ufunc(*floats), rtol=1e-4):
                assert np.allclose(found, wanted, rtol=2e-3, atol=1e-4, equal_nan=True), given
