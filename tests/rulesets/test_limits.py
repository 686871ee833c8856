"""Slopes where their formula is no number: what mpmath's derivatives tend to, in both modes and orders."""

import cmath
import math

import numpy as np
import pytest

mp = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")

import rulelab as rl  # noqa: E402
from rulelab.rulesets.limits import with_limits  # noqa: E402

INF = math.inf
STEPS = (8, 12, 16)  # powers of ten: so near to a point, or so far out


def scaled_i(v):
    return lambda x: mp.exp(-abs(x)) * mp.besseli(v, x)


def scaled_k(v):
    """Far out its first term, whose limits are the same."""
    return lambda x: mp.sqrt(mp.pi / (2 * x)) if x > 20 else mp.exp(x) * mp.besselk(v, x)


ENDS = {  # the function of mpmath, and the points with the sides from which it comes to each
    "rgamma": (mp.rgamma, {0.0: 0, -1.0: 0, -4.0: 0, INF: 1}),
    "gamma": (lambda x: mp.exp(x * mp.log(x)), {INF: 1}),  # Stirling's first factor
    "y0": (lambda x: mp.bessely(0, x), {0.0: 1}),
    "y1": (lambda x: mp.bessely(1, x), {0.0: 1}),
    "i0": (lambda x: mp.cosh(x) / mp.sqrt(abs(x)), {INF: 1, -INF: 1}),  # its first term
    "i0e": (scaled_i(0), {INF: 1, -INF: 1}),
    "i1e": (scaled_i(1), {INF: 1, -INF: 1}),
    "k0e": (scaled_k(0), {0.0: 1, INF: 1}),
    "k1e": (scaled_k(1), {0.0: 1, INF: 1}),
    "kei": (lambda x: mp.kei(0, x), {0.0: 1}),
    "it2struve0": (lambda x: -2 / mp.pi * (x - x**3 / 27), {0.0: 0}),  # its series
    "exprel": (lambda x: mp.expm1(x) / x, {INF: 1, -INF: 1}),
    "expi": (mp.ei, {0.0: 1, INF: 1}),
    "erf": (mp.erf, {INF: 1, -INF: 1}),
    "erfc": (mp.erfc, {INF: 1, -INF: 1}),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), {-INF: 1}),
    "ndtr": (mp.ncdf, {INF: 1, -INF: 1}),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), {INF: 1}),
    "ellipk": (mp.ellipk, {-INF: 1}),
    "ellipe": (mp.ellipe, {1.0: -1}),
    "wrightomega": (lambda x: mp.re(mp.lambertw(mp.exp(x))), {INF: 1}),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), {INF: 1, -INF: 1}),
}
CASES = [(name, at) for name, (_, points) in ENDS.items() for at in points]


def limit(function, at, side, order):
    """What a derivative tends to; an infinity where it grows at every step."""
    found = []
    with mp.workdps(60):
        for k in STEPS:
            gap = mp.mpf(10) ** -k
            x = mp.sign(at) * mp.mpf(10) ** (mp.mpf(k) / 6) if math.isinf(at) else at + side * gap
            step = abs(x) * mp.mpf(10) ** -20 if math.isinf(at) or not at else gap * mp.mpf(10) ** -12
            found.append(mp.diff(function, x, order, h=step if side else gap))
    first, second, third = (abs(slope) for slope in found)
    if third > second + 2 > first + 4:
        return math.copysign(INF, found[-1])
    settles = third < second < first and second < 1e-2 * (1 + abs(found[0] - found[1]))
    return 0.0 if settles and third < 1e-2 else float(found[-1])


def slope_of(f):
    return lambda x: rl.gradient(f, x)[0]


FIRST = {
    "backwards": slope_of,
    "forwards": lambda f: lambda x: rl.pushforward(f, x)(1.0),
    "of an array": lambda f: lambda x: rl.gradient(lambda xs: np.sum(f(xs)), np.array([0.4, x]))[0][1],
}
SECOND = {
    "hessian": lambda f: lambda x: rl.hessian(f, x),
    "of an array": lambda f: lambda x: rl.hessian(lambda xs: np.sum(f(xs)), np.array([0.4, x]))[1, 1],
    "forwards over reverse": lambda f: lambda x: rl.pushforward(slope_of(f), x)(1.0),
    "reverse over forwards": lambda f: slope_of(lambda x: rl.pushforward(f, x)(1.0)),
    "forwards over forwards": lambda f: lambda x: rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), x)(1.0),
}


def found_by(modes, f, at):
    with np.errstate(all="ignore"):
        return {mode: float(of(f)(at)) for mode, of in modes.items()}


@pytest.mark.parametrize(("name", "at"), CASES)
def test_a_slope_is_its_limit(name, at):
    """The first derivative, as a number that differences of mpmath's function come near to."""
    function, sides = ENDS[name]
    f = getattr(special, name)
    wanted = limit(function, at, sides[at], 1)
    found = found_by(FIRST, lambda x: f(x), at)
    assert found == pytest.approx(dict.fromkeys(FIRST, wanted), rel=1e-6, abs=1e-2), wanted


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "at"), CASES)
def test_so_is_that_of_the_slope(name, at):
    """The second derivative, in every mixture of modes."""
    function, sides = ENDS[name]
    f = getattr(special, name)
    wanted = limit(function, at, sides[at], 2)
    found = found_by(SECOND, lambda x: f(x), at)
    assert found == pytest.approx(dict.fromkeys(SECOND, wanted), rel=1e-6, abs=1e-2), wanted


POLES = [  # where a gamma function in them is infinite, and the whole is smooth
    ("binom", mp.binomial, (0.0, 1.0)),
    ("binom", mp.binomial, (3.0, 5.0)),
    ("binom", mp.binomial, (2.5, -1.0)),
    ("binom", mp.binomial, (0.0, -2.0)),
    ("poch", mp.rf, (0.0, 0.5)),
    ("poch", mp.rf, (-2.0, 3.5)),
    ("poch", mp.rf, (-1.0, 3.0)),
]


@pytest.mark.parametrize(("name", "function", "at"), POLES)
def test_slopes_at_poles_that_cancel(name, function, at):
    """By both arguments, and the second derivatives by both."""
    f = getattr(special, name)
    with mp.workdps(60):
        orders = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
        by_x, by_y, *second = (float(mp.diff(function, at, order, h=1e-15)) for order in orders)
    np.testing.assert_allclose(rl.gradient(lambda x, y: f(x, y), *at), (by_x, by_y), rtol=1e-10, atol=1e-13)
    rows = rl.hessian(lambda both: f(both[0], both[1]), np.array(at))
    np.testing.assert_allclose(rows[np.triu_indices(2)], second, rtol=1e-9, atol=1e-12)


OF_ORDER = {
    "yv": lambda z: special.yv(1.5, z),
    "yn": lambda z: special.yn(2, z),
    "kve": lambda z: special.kve(1.5, z),
}


@pytest.mark.parametrize("name", OF_ORDER)
def test_orders_at_the_pole(name):
    """The slopes of functions of an order that are infinite at 0 are so, with the sign of what they do."""
    f = OF_ORDER[name]
    with np.errstate(all="ignore"):
        value, (slope,) = f(0.0), rl.gradient(f, 0.0)
        assert np.isinf(value) and slope == -value and rl.hessian(f, 0.0) == value


OTHERS = {  # functions of NumPy, and those with several results or a whole number, with mpmath's
    "math.atan": (math.atan, mp.atan, {INF: 1, -INF: 1}),
    "math.asinh": (math.asinh, mp.asinh, {INF: 1, -INF: 1}),
    "math.acosh": (math.acosh, mp.acosh, {INF: 1}),
    "math.cbrt": (math.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), {INF: 1, -INF: 1}),
    "math.erf": (math.erf, mp.erf, {INF: 1, -INF: 1}),
    "math.erfc": (math.erfc, mp.erfc, {INF: 1, -INF: 1}),
    "arctan": (np.arctan, mp.atan, {INF: 1, -INF: 1}),
    "arcsinh": (np.arcsinh, mp.asinh, {INF: 1, -INF: 1}),
    "arccosh": (np.arccosh, mp.acosh, {INF: 1}),
    "cbrt of NumPy": (np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), {INF: 1, -INF: 1}),
    "sici": (lambda x: special.sici(x)[1], mp.ci, {0.0: 1}),
    "shichi": (lambda x: special.shichi(x)[1], mp.chi, {0.0: 1}),
    "spherical_yn": (lambda x: special.spherical_yn(2, x), lambda x: -3 / x**3, {0.0: 1}),  # its first term
    "spherical_yn of 0": (lambda x: special.spherical_yn(0, x), lambda x: -mp.cos(x) / x, {0.0: 1}),
    "spherical_kn of 0": (lambda x: special.spherical_kn(0, x), lambda x: mp.exp(-x) / x, {0.0: 1}),
}


@pytest.mark.parametrize(("name", "at"), [(name, at) for name, row in OTHERS.items() for at in row[2]])
def test_both_slopes_are_limits(name, at):
    """The first and the second derivative, as differences of mpmath's function tend to."""
    f, function, sides = OTHERS[name]
    with np.errstate(all="ignore"):
        found = rl.gradient(lambda x: f(x), at)[0], rl.hessian(lambda x: f(x), at)
    wanted = [limit(function, at, sides[at], order) for order in (1, 2)]
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-2)


FAR = [(1.0, INF), (INF, 1.0), (-INF, 2.0), (-1.0, -INF), (0.0, INF)]


@pytest.mark.parametrize("at", FAR)
@pytest.mark.parametrize("f", [np.arctan2, np.hypot, math.atan2, math.hypot])
def test_slopes_by_two_numbers_far_out(f, at):
    """What they tend to while one grows; their own slopes tend to 0."""
    far = [math.copysign(1e6, x) if math.isinf(x) else x for x in at]
    slopes = rl.gradient(lambda x, y: f(x, y), *at)
    for number in (0, 1):
        step = 1e2 if math.isinf(at[number]) else 1e-3
        above, below = ([x + side * step * (k == number) for k, x in enumerate(far)] for side in (1, -1))
        assert slopes[number] == pytest.approx((f(*above) - f(*below)) / (2 * step), abs=1e-5)
    assert not rl.hessian(lambda both: f(both[0], both[1]), np.array(at)).any()


def test_two_numbers_that_are_infinite_both_have_no_direction():
    """Any slope may be the limit then."""
    assert np.isnan(rl.gradient(lambda x, y: np.hypot(x, y), INF, INF)).all()
    xs = np.array([INF, 3.0, 1.0])
    slope = rl.gradient(lambda xs: np.sum(np.hypot(xs, np.array([1.0, 4.0, -INF]))), xs)[0]
    np.testing.assert_allclose(slope, [1.0, 0.6, 0.0])


@pytest.mark.parametrize("f", [np.hypot, math.hypot])
def test_a_size_that_is_too_large_to_be_a_number(f):
    """Of two numbers that are finite: the slopes are those of the same direction nearer by."""
    with np.errstate(over="ignore"):
        slopes = rl.gradient(lambda x, y: f(x, y), 1.5e308, -1.6e308)
    assert slopes == pytest.approx((1.5 / math.hypot(1.5, 1.6), -1.6 / math.hypot(1.5, 1.6)), rel=1e-12)


@pytest.mark.parametrize(("x", "p"), [(2.0, -INF), (0.5, INF), (-0.5, INF), (INF, -INF), (INF, -1.5)])
@pytest.mark.parametrize("f", [np.power, math.pow, lambda x, p: x**p])
def test_powers_that_vanish(f, x, p):
    """All of their slopes do, of both orders, faster than an infinite number grows."""
    with np.errstate(all="ignore"):
        assert not np.any(rl.gradient(lambda x, p: f(x, p), x, p))
        rows = rl.hessian(lambda both: f(both[0], both[1]), np.array([x, p]))
    assert not rows.any()


def test_three_numbers_far_out():
    """The one that is infinite has a slope; `math.dist` goes the same way, and of two there is none."""
    assert rl.gradient(lambda x, y, z: math.hypot(x, y, z), 1.0, -INF, 2.0) == (0.0, -1.0, 0.0)
    np.testing.assert_array_equal(
        rl.gradient(lambda q: math.dist([1.0, 2.0], q), np.array([INF, 5.0]))[0], [1, 0]
    )
    assert np.isnan(rl.gradient(lambda x, y, z: math.hypot(x, y, z), 1.0, -INF, INF)[1:]).all()
    assert np.isnan(rl.gradient(lambda x: math.lgamma(x), -INF)[0])  # which has poles all the way


def test_a_loss_far_out():
    """`pseudo_huber` is `delta |r| - delta**2` there."""
    for side in (1, -1):
        by_delta, by_r = rl.gradient(lambda delta, r: special.pseudo_huber(delta, r), 1.5, side * INF)
        assert by_delta == INF and by_r == side * 1.5


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_of_nothing(power):
    """`boxcox(0, p)` is `-1 / p`."""
    with np.errstate(all="ignore"):
        assert rl.gradient(lambda p: special.boxcox(0.0, p), power)[0] == pytest.approx(1 / power**2)
        assert rl.gradient(lambda p: special.boxcox1p(-1.0, p), power)[0] == pytest.approx(1 / power**2)


def test_remainders_of_what_is_infinitely_large():
    """A number below that is its own remainder."""
    for f in (np.fmod, np.remainder):
        assert rl.gradient(lambda x, y, f=f: f(x, y), 0.5, INF) == (1.0, 0.0)
        assert not rl.hessian(lambda both, f=f: f(both[0], both[1]), np.array([0.5, INF])).any()


def test_what_is_stated_holds_at_its_points_only():
    """A number or a function, at the points alone; at complex arguments the formula stays as it is."""

    def squared(x):
        return x * x

    slope = with_limits(squared, lambda out, x: 2 * x, {1.0: 7.0, 3.0: lambda x: 5 * x})
    xs = np.array([0.5, 1.0, 3.0])
    np.testing.assert_array_equal(slope(squared(xs), xs), [1.0, 7.0, 15.0])
    assert slope(9.0, 3.0) == 15.0 and slope(0.25, 0.5) == 1.0 and slope(1 + 0j, 1 + 0j) == 2.0
    assert rl.gradient(lambda x: slope(x * x, x), 3.0) == (5.0,)
    assert rl.gradient(lambda x: slope(x * x, x), 1.0) == (0.0,)


def power_of(y, power):
    """The inverse of Box-Cox by its definition."""
    return mp.exp(y) if power == 0 else (1 + power * y) ** (1 / power)


BY_POWER = [  # at an end of the domain, and an argument inside, from where it comes to the end
    ((-1.0, 1.0), lambda h: (h - 1, mp.mpf(1))),
    ((-0.5, 2.0), lambda h: (h - mp.mpf(1) / 2, mp.mpf(2))),
    ((-2.0, 0.5), lambda h: (h - 2, mp.mpf(1) / 2)),
    ((2.0, -0.5), lambda h: (2 - h, -mp.mpf(1) / 2)),
    ((INF, 1.0), lambda h: (1 / h, mp.mpf(1))),
    ((INF, 0.0), lambda h: (-mp.log(h), mp.mpf(0))),
    ((-INF, 0.0), lambda h: (-1 / mp.sqrt(h), mp.mpf(0))),
    ((-INF, -0.5), lambda h: (-1 / h, -mp.mpf(1) / 2)),
]


def slope_by_power(y, power):
    """By the definition; at 0 what it tends to."""
    if power == 0:
        return -y * y / 2 * mp.exp(y)
    u = 1 + power * y
    return u ** (1 / power) * (y / (power * u) - mp.log(u) / power**2)


@pytest.mark.parametrize(("at", "near"), BY_POWER)
@pytest.mark.parametrize("name", ["inv_boxcox", "inv_boxcox1p"])
def test_the_ends_of_box_cox(name, at, near):
    """The slope by the power is what it tends to, in both modes and in arrays."""
    with mp.workdps(60):
        found = [slope_by_power(*near(mp.mpf(10) ** -k)) for k in (8, 12, 16)]
    first, third = abs(found[0]), abs(found[2])
    grows = third > first + 4
    wanted = -INF if grows else 0.0 if third < 1e-5 else float(found[2])
    f = getattr(special, name)
    with np.errstate(all="ignore"):
        assert rl.gradient(lambda p: f(at[0], p), at[1])[0] == pytest.approx(wanted, abs=1e-6)
        assert rl.pushforward(lambda p: f(at[0], p), at[1])(1.0) == pytest.approx(wanted, abs=1e-6)
        powers = np.array([at[1], 0.7])
        (bars,) = rl.gradient(lambda p: np.sum(f(np.array([at[0], 0.3]), p)), powers)
        inside = rl.gradient(lambda p: f(0.3, p), 0.7)[0]
    assert bars == pytest.approx([wanted, inside], abs=1e-6)


@pytest.mark.parametrize("f", [np.arctan2, math.atan2])
@pytest.mark.parametrize("at", [(INF, INF), (-INF, INF), (INF, -INF), (INF, 1.0), (1.0, -INF)])
def test_angles_far_out(f, at):
    """Where either is infinite, the slopes and their slopes are 0, in each order of the modes."""
    with np.errstate(all="ignore"):
        assert rl.gradient(f, *at) == (0.0, 0.0)
        for i in (0, 1):
            slope = lambda y, x, i=i: rl.gradient(f, y, x)[i]
            assert rl.gradient(slope, *at) == (0.0, 0.0)
            assert rl.pushforward(slope, *at)(1.0, 1.0) == 0.0


def test_the_gamma_function_of_math_far_out():
    """It is like itself there, and so are its slopes."""
    for modes in (FIRST, SECOND):
        scalar = {mode: of for mode, of in modes.items() if mode != "of an array"}
        assert set(found_by(scalar, lambda x: math.gamma(x), INF).values()) == {INF}


def angle_of_parts(z):
    return np.arctan2(z.imag, z.real)


@pytest.mark.parametrize("f", [np.angle, cmath.phase, lambda z: cmath.polar(z)[1], angle_of_parts])
@pytest.mark.parametrize("z", [3e200 - 4e200j, 3e-200 + 4e-200j, -1e160 + 0.5j, 3.0 + 4.0j])
def test_angles_of_sizes_whose_squares_are_no_floats(f, z):
    """The slope is as large as one by the size, in both modes."""
    z_bar = 1j * (z / abs(z)) / abs(z)
    (found,) = rl.gradient(f, z)
    assert found == pytest.approx(z_bar, rel=1e-12, abs=0)
    assert rl.pushforward(f, z)(1.0) == pytest.approx(z_bar.real, rel=1e-12, abs=0)
    assert rl.pushforward(f, z)(1j) == pytest.approx(z_bar.imag, rel=1e-12, abs=0)
