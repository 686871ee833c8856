"""Finite differences are close enough to judge a rule by, and say so when they are not."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import findiff
from rulelab.checking.findiff import noise_level
from rulelab.checking.measuring.difference_methods import (
    FiniteDifferenceMethod,
    backward_fdm,
    central_fdm,
    estimate_step,
    extrapolate_fdm,
    forward_fdm,
)
from rulelab.checking.measuring.differences import fd_gradient, fd_jacobian, fd_jvp, fd_vjp


@pytest.mark.parametrize(
    ("f", "x", "exact"),
    [
        (math.sin, 1.0, math.cos(1.0)),
        (math.exp, -3.0, math.exp(-3.0)),
        (math.log, 1e-3, 1e3),
        (math.sqrt, 2.0, 0.5 / math.sqrt(2)),
        (lambda x: x**3, 0.0, 0.0),
        (lambda x: 1e8 * x, 5.0, 1e8),
        (np.tan, 1.3, 1 / math.cos(1.3) ** 2),
    ],
)
def test_derivatives_are_right_to_nine_digits(f, x, exact):
    """Nine digits, at ordinary points and near the edge of a domain."""
    assert findiff.derivative(f, x).value == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_outside_the_domain_there_is_no_number():
    """A function that raises on both sides gives nan, not a guess."""
    assert math.isnan(findiff.derivative(math.sqrt, -1.0).value)


def test_gradient_has_the_structure_of_the_arguments():
    """Arrays, numbers, dicts and tuples come back in their shape; text and flags give None."""

    def loss(w, p, pair, name, flag):
        return float(np.sum(w**2) * p["a"] + pair[0] * pair[1])

    w_bar, p_bar, pair_bar, name_bar, flag_bar = findiff.gradient(
        loss, np.array([[1.0, 2.0]]), {"a": 3.0}, (2.0, 5.0), "n", True
    )
    np.testing.assert_allclose(w_bar, [[6.0, 12.0]], rtol=1e-9)
    assert p_bar == {"a": pytest.approx(5.0)} and pair_bar == pytest.approx((5.0, 2.0))
    assert name_bar is None and flag_bar is None


def test_an_integer_used_as_an_axis_gets_none():
    """An axis or an index has no derivative; an integer that is computed with has one."""
    assert findiff.gradient(lambda x, axis: float(x.sum(axis=axis)[0]), np.ones((2, 2)), 0)[1] is None
    assert findiff.gradient(lambda n: n * 2.5, 3) == (pytest.approx(2.5),)


def test_a_function_that_writes_to_its_arguments_does_no_harm():
    """Each call gets a fresh copy, and the caller's array stays as it was."""

    def addone(x):
        x += 1
        return float((x**2).sum())

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(findiff.gradient(addone, x)[0], [4.0, 6.0], rtol=1e-9)
    assert x.tolist() == [1.0, 2.0]


def test_complex_arguments_follow_the_convention():
    """The gradient of a real function by z is d/dRe + i d/dIm."""
    assert findiff.gradient(lambda z: abs(z) ** 2, 3 + 4j)[0] == pytest.approx(6 + 8j, rel=1e-9)


def test_a_function_that_is_no_scalar_is_refused():
    """Differences of a vector are not a gradient."""
    with pytest.raises(TypeError, match="need a real scalar"):
        findiff.gradient(lambda x: x, np.ones(2))


def log_of_determinant(t):
    return np.linalg.slogdet(np.diag([1.0, 2.0, 3.0]) + t * np.eye(3))[1]


def squire(x):
    return math.exp(x) / math.sqrt(math.sin(x) ** 3 + math.cos(x) ** 3)


SQUIRE_SLOPE = 4.053427893898621  # at 1.5, by mpmath with 40 digits
DOCUMENTED = {  # the examples of FiniteDifferences.jl's README: what is computed, and the error it prints
    "first": (lambda: central_fdm(5, 1)(math.sin, 1) - math.cos(1), -2.4313884239290928e-14),
    "second": (lambda: central_fdm(5, 2)(math.sin, 1) + math.sin(1), -8.767431225464861e-11),
    "second by 12 points": (lambda: central_fdm(12, 2)(math.sin, 1) + math.sin(1), 5.240252676230739e-14),
    "log forward": (lambda: forward_fdm(5, 1)(math.log, 1e-3) - 1000, -3.741856744454708e-7),
    "log range": (lambda: central_fdm(5, 1, max_range=9e-4)(math.log, 1e-3) - 1000, -4.027924660476856e-10),
    "logdet forward": (lambda: forward_fdm(5, 1)(log_of_determinant, 0) - 11 / 6, -4.222400207254395e-12),
    "logdet range": (
        lambda: central_fdm(5, 1, max_range=9e-1)(log_of_determinant, 0) - 11 / 6,
        -1.283417816466681e-13,
    ),
    "extrapolated": (
        lambda: extrapolate_fdm(central_fdm(2, 1), math.sin, 1)[0] - math.cos(1),
        1.6653345369377348e-14,
    ),
    "fourth extrapolated": (
        lambda: extrapolate_fdm(central_fdm(5, 4), math.sin, 1)[0] - math.sin(1),
        -1.626274487942503e-5,
    ),
    "fourth slowly extrapolated": (
        lambda: extrapolate_fdm(central_fdm(5, 4), math.sin, 1, contract=0.8)[0] - math.sin(1),
        2.0725743343774639e-10,
    ),
    "fourth by 10 points": (lambda: central_fdm(10, 4)(math.sin, 1) - math.sin(1), -1.0301381969668455e-10),
    "fourth by 10 points, extrapolated": (
        lambda: extrapolate_fdm(central_fdm(10, 4), math.sin, 1, contract=0.8)[0] - math.sin(1),
        5.673617131662922e-10,
    ),
    # It prints -5.3e-14, which was luck: the last bits of values and sums, which are not the same on every
    # processor, are 1.6e-11 there.
    "fourth by 20 points": (lambda: central_fdm(20, 4)(math.sin, 1) - math.sin(1), 3e-12),
    "custom grid": (  # the figure of the first README; the later one, 3.7e-13, is below the method's rounding
        lambda: FiniteDifferenceMethod([-2, 0, 5], 1)(math.sin, 1) - math.cos(1),
        -2.05648831297367e-11,
    ),
    "exp by sqrt": (lambda: central_fdm(5, 1)(squire, 1.5) - SQUIRE_SLOPE, 1e-12),
    "exp by sqrt, extrapolated": (
        lambda: extrapolate_fdm(central_fdm(2, 1), squire, 1.5, initial_step=0.1)[0] - SQUIRE_SLOPE,
        1e-12,
    ),
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_documented_figures_are_reproduced(name):
    """The examples of FiniteDifferences.jl have errors of the order that its manual prints, or smaller."""
    computed, documented = DOCUMENTED[name]
    assert abs(computed()) <= 5 * abs(documented)


TESTED_UPSTREAM = [  # what FiniteDifferences.jl's own tests ask of it: computed, true, absolute tolerance
    (lambda: central_fdm(2, 1)(lambda x: 0, 0), 0.0, 1e-10),
    (lambda: central_fdm(5, 1)(lambda x: 5, 0), 0.0, 1e-12),
    (lambda: forward_fdm(5, 1)(math.log, 0.001), 1000.0, 1e-5),
    (lambda: central_fdm(10, 1, max_range=9e-4)(math.log, 1e-3), 1000.0, 1e-5),
    (lambda: central_fdm(5, 1)(abs, 0.001), 1.0, 1e-8),
    (lambda: central_fdm(9, 5, adapt=4)(math.exp, 1.0), math.e, 1e-6),  # 3e-7 there; last bits are 1.5e-6
    (lambda: central_fdm(15, 5, adapt=2)(math.exp, 1.0), math.e, 1e-10),
    (lambda: central_fdm(9, 3, adapt=4)(lambda x: 4 * x**3 + 3 * x**2 + 2 * x + 1, 1.0), 24.0, 1e-9),
    (lambda: central_fdm(5, 1, geom=True)(math.sin, 1.0), math.cos(1.0), 1e-12),
    (lambda: backward_fdm(5, 1)(math.sin, 1.0), math.cos(1.0), 1e-10),
    (lambda: central_fdm(3, 0)(math.sin, 1.0), math.sin(1.0), 0.0),
]


@pytest.mark.parametrize("number", range(len(TESTED_UPSTREAM)))
def test_what_its_model_promises_it_keeps(number):
    """Constants, integers, singularities nearby, high orders with several adaptations, geometric grids."""
    computed, true, tolerance = TESTED_UPSTREAM[number]
    assert abs(computed() - true) <= tolerance


def test_adaptation_improves_the_step():
    """Without it the step is that of a function of which nothing is known, and near a singularity bad."""
    assert abs(forward_fdm(5, 1, adapt=0)(math.log, 0.001) - 1000) > 1


@pytest.mark.parametrize(
    ("grid", "q", "weights"),
    [
        ((-1, 1), 1, "-1/2 1/2"),
        ((-1, 0, 1), 2, "1 -2 1"),
        ((-2, -1, 0, 1, 2), 1, "1/12 -2/3 0 2/3 -1/12"),
        ((-2, 0, 5), 1, "-5/14 3/10 2/35"),
        ((0, 1, 2, 3), 2, "2 -5 4 -1"),
        ((5, 0, -2), 1, "2/35 3/10 -5/14"),
    ],
)
def test_weights_are_exact(grid, q, weights):
    """The weights are fractions, those of the tables, whatever order the grid is written in."""
    assert FiniteDifferenceMethod(grid, q).coefs == tuple(map(Fraction, weights.split()))


@pytest.mark.parametrize("p", [6, 13, 22])
def test_weights_take_polynomials_exactly(p):
    """A method of p points is exact for every polynomial of a degree below p."""
    for q in (0, 1, 3, 5):
        m = central_fdm(p, q)
        moments = [sum(c * g**k for c, g in zip(m.coefs, m.grid)) for k in range(p)]
        assert moments == [math.factorial(q) if k == q else 0 for k in range(p)]


def test_arrays_are_differentiated_entry_by_entry():
    """A function that returns an array has each entry's derivative, with the step of the fastest one."""
    f = lambda x: np.array([[math.sin(x), x**2], [3.0, math.exp(20 * x)]])  # noqa: E731
    true = [[math.cos(1), 2.0], [0.0, 20 * math.exp(20)]]
    found = central_fdm(5)(f, 1.0)
    np.testing.assert_allclose(found, true, rtol=1e-11, atol=1e-11)
    step, error = estimate_step(central_fdm(5), f, 1.0)
    assert error.shape == (2, 2) and step < 1e-3 and np.all(np.abs(found - true) <= 10 * error)


@pytest.mark.parametrize(
    ("f", "x", "true"),
    [
        (math.sin, 1.0, math.cos(1.0)),
        (math.exp, 3.0, math.exp(3.0)),
        (math.atan, 0.3, 1 / 1.09),
        (math.log, 7.0, 1 / 7),
    ],
)
def test_the_error_is_about_as_estimated(f, x, true):
    """The true error is not more than ten times the estimated one, which is small."""
    for p in (3, 5, 8):
        error = estimate_step(central_fdm(p), f, x)[1]
        assert abs(central_fdm(p)(f, x) - true) <= 10 * error <= 1e-4


def test_a_limited_step_has_no_estimated_error():
    """With `max_range` the error is nan and no point lies further away; with no range at all there is no
    value.
    """
    seen = []

    def watched(x):
        seen.append(x)
        return math.sin(x)

    m = central_fdm(5, adapt=0, max_range=1e-5)
    step, error = estimate_step(m, watched, 1.0)
    m(watched, 1.0)
    assert math.isnan(error) and step <= 0.5e-5 and max(abs(x - 1) for x in seen) <= 1e-5
    assert math.isnan(central_fdm(5, max_range=0)(abs, 0.001))


def test_a_given_step_is_the_step():
    """The points lie where they are said to lie."""
    seen = []
    value = central_fdm(3)(lambda x: seen.append(x) or x * x, 1.0, 0.25)
    assert seen == [0.75, 1.0, 1.25] and value == 2.0


def test_single_and_extended_precision_are_kept():
    """A float32 is moved as one, with steps for its precision; a longdouble gains digits."""
    single = central_fdm(5)(np.sin, np.float32(1))
    assert single.dtype == np.float32 and abs(single - math.cos(1)) < 1e-5
    x = np.longdouble(1)
    if np.finfo(x).eps < 1e-18:
        assert abs(central_fdm(5)(np.sin, x) - np.cos(x)) < 1e-15


NEAR_AN_END = [
    (math.log, 1e-3, (0.0, math.inf), 1e3, 1e-11),
    (math.log, 1e-6, (0.0, math.inf), 1e6, 1e-11),
    (lambda x: x**2 + math.exp(x), 0.0, (0.0, 1.0), 1.0, 1e-11),
    (lambda x: x**2 + math.exp(x), 1.0, (0.0, 1.0), 2.0 + math.e, 1e-11),
    (math.asin, 0.999, (-1.0, 1.0), 1 / math.sqrt(1 - 0.999**2), 1e-10),
    (lambda x: math.cos(x) + x, 1e-9, (0.0, math.inf), 1.0, 1e-8),
    (math.exp, 5e-10, (0.0, 1e-9), 1.0, 1e-5),
]


@pytest.mark.parametrize("number", range(len(NEAR_AN_END)))
def test_a_domain_is_not_left(number):
    """Near the end of a domain the points move closer or to one side, and the derivative stays right."""
    f, x, (low, high), true, tolerance = NEAR_AN_END[number]
    seen = []

    def watched(x):
        seen.append(x)
        return f(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = central_fdm(5, domain=(low, high))(watched, x)
    assert abs(found - true) <= tolerance * abs(true)
    assert all(low < point < high or point == x for point in seen)


def test_outside_of_the_domain_is_refused():
    """A point outside is the caller's mistake, and said."""
    with pytest.raises(ValueError, match="-1 is not between 0 and inf"):
        central_fdm(5, domain=(0.0, math.inf))(math.sqrt, -1.0)


@pytest.mark.parametrize(
    ("f", "x", "true", "side"),
    [
        (math.log, 1e-3, 1e3, "both sides"),
        (math.log, 1e-9, 1e9, "both sides"),
        (lambda x: math.log(1 - x), 0.99, -100.0, "both sides"),
        (lambda x: x**1.5 + x, 0.0, 1.0, "one side"),
        (lambda x: np.sqrt(x) ** 3 + x, 0.0, 1.0, "one side"),
        (lambda x: math.sqrt(-x) ** 3 + x, 0.0, 1.0, "one side"),
    ],
)
def test_where_a_function_has_no_value_the_points_move(f, x, true, side):
    """A domain error, nan or a complex value moves the points, and is said in a warning."""
    with pytest.warns(RuntimeWarning, match=f"has no value at .*; it is called within .* on {side} instead"):
        found = central_fdm(5)(f, x)
    assert abs(found - true) <= 3e-3 * abs(true)


def test_where_there_is_no_derivative_there_is_nan():
    """A function without values around gives nan, with a warning, and no guess."""
    with pytest.warns(RuntimeWarning, match="nor close to -1"):
        assert math.isnan(central_fdm(5)(math.sqrt, -1.0))


@pytest.mark.parametrize("method", [forward_fdm(5), backward_fdm(5), central_fdm(5), central_fdm(4, 3)])
def test_the_function_is_never_asked_at_nan(method):
    """An infinite value makes no step nan (FiniteDifferences.jl issue 239)."""

    def blows_up(x):
        assert math.isfinite(x)
        return math.inf if x != 1.0 else 1.0

    def huge(x):
        assert math.isfinite(x)
        return 1e308 * math.sin(1e6 * x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(method(blows_up, 1.0))
        method(huge, 1.0)


def test_noise_is_allowed_for():
    """With 1e-6 of noise, factor=1e10 finds the derivative that is lost without it, and "auto" finds it
    unasked.
    """
    rng = np.random.default_rng(5)

    def noisy(x):
        return math.sin(x) * (1 + 1e-6 * rng.standard_normal())

    def worst(**options):
        return max(abs(central_fdm(5, **options)(noisy, 1.0) - math.cos(1.0)) for _ in range(20))

    assert worst() > 1e-4 > worst(factor=1e10)
    assert worst(factor="auto") < 1e-4
    assert abs(central_fdm(5, factor="auto")(math.sin, 1.0) - math.cos(1.0)) < 1e-12


def test_noise_is_measured():
    """The level is right to a factor of three; of a slope and a parabola it is zero."""
    rng = np.random.default_rng(1)
    level = np.median([noise_level(1 + 1e-9 * rng.standard_normal(7)) for _ in range(100)])
    assert 0.5e-9 < level < 3e-9
    k = np.arange(7.0)
    np.testing.assert_allclose(noise_level(np.stack([3 * k, k**2], axis=1)), 0.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: FiniteDifferenceMethod([0, 0, 1], 1), "different integers"),
        (lambda: FiniteDifferenceMethod([0, 0.5], 1), "different integers"),
        (lambda: central_fdm(2, 2), "needs more than 2 points"),
        (lambda: central_fdm(2, -1), "must be at least 0, not -1"),
        (lambda: central_fdm(5, factor="much"), 'factor must be a positive number or "auto"'),
        (lambda: central_fdm(5, factor=0), "factor must be a positive number"),
        (lambda: extrapolate_fdm(central_fdm(2), math.sin, 1.0, contract=2.0), "contract must be between"),
        (lambda: fd_jvp(math.sin, (1.0, 2.0), 1.0), "tangents must be a tuple of 1"),
    ],
)
def test_a_method_that_is_none_is_refused(given, message):
    """Each mistake in the making of a method is a ValueError in one line."""
    with pytest.raises(ValueError, match=message):
        given()


def test_extrapolation_takes_arrays_and_stops():
    """It ends with its error, also where rounding is all there is, and leaves out steps without a value."""
    value, error = extrapolate_fdm(central_fdm(2), lambda x: np.array([math.sin(x), x**3]), 1.0)
    np.testing.assert_allclose(value, [math.cos(1), 3.0], rtol=1e-10)
    assert 0 < error < 1e-6
    assert abs(extrapolate_fdm(central_fdm(2), math.log, 1e-3)[0] - 1000) < 1e-4
    assert abs(extrapolate_fdm(forward_fdm(2), math.exp, 0.0)[0] - 1) < 1e-8
    assert math.isnan(extrapolate_fdm(central_fdm(2), math.sqrt, -1.0)[0])


def test_a_gradient_has_the_structure_of_each_argument():
    """Numbers, arrays, dicts, complex numbers in their form; None for what cannot be moved."""

    def loss(w, p, z, n, name):
        return float(np.sum(w**2) * p["a"] + abs(z) ** n)

    w = np.array([[1.0, 2.0]])
    w_bar, p_bar, z_bar, n_bar, name_bar = fd_gradient(loss, w, {"a": 3.0, "k": 1}, 3 + 4j, 2, "n")
    np.testing.assert_allclose(w_bar, [[6.0, 12.0]], rtol=1e-11)
    assert p_bar == {"a": pytest.approx(5.0), "k": None} and z_bar == pytest.approx(6 + 8j)
    assert n_bar is None and name_bar is None
    with pytest.raises(TypeError, match="the function must return a real number, not ndarray"):
        fd_gradient(np.sin, np.ones(2))


def test_products_with_the_jacobian_agree_with_the_ad():
    """jvp, vjp and Jacobian by differences are those that the AD computes, for structures in and out."""

    def f(x, p):
        return {"y": np.tanh(x) * p[0], "s": p[1] * np.sum(x)}

    x, p = np.array([0.3, -1.2]), (2.0, 0.5)
    y_bar = {"y": np.array([1.0, 10.0]), "s": 3.0}
    x_bar, p_bar = fd_vjp(f, y_bar, x, p)
    ours = rl.pullback(f, x, p)[1](y_bar)
    np.testing.assert_allclose(x_bar, ours[0], rtol=1e-10)
    np.testing.assert_allclose(p_bar, ours[1], rtol=1e-10)
    y_dot = fd_jvp(f, (np.array([1.0, 2.0]), rl.Tangent(tuple, 3.0, rl.ZeroTangent())), x, p)
    np.testing.assert_allclose(y_dot["y"], (1 - np.tanh(x) ** 2) * [1, 2] * 2 + np.tanh(x) * 3, rtol=1e-10)
    assert y_dot["s"] == pytest.approx(1.5)
    by_x, by_p = fd_jacobian(f, x, p)
    assert by_x.shape == (3, 2) and by_p.shape == (3, 2)
    np.testing.assert_allclose(by_x.T @ [1.0, 10.0, 3.0], x_bar, rtol=1e-9)
    (none,) = fd_jacobian(lambda n: np.ones(2), 3)
    assert none.shape == (2, 0)


def test_arguments_are_left_as_they_were():
    """A function that writes to its arguments harms neither the caller's array nor the derivative."""

    def addone(x):
        x += 1
        return float((x**2).sum())

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(fd_gradient(addone, x)[0], [4.0, 6.0], rtol=1e-10)
    np.testing.assert_allclose(fd_vjp(addone, 1.0, x)[0], [4.0, 6.0], rtol=1e-10)
    assert x.tolist() == [1.0, 2.0]


def test_a_method_given_is_the_method_used():
    """`fdm=` with a domain keeps each number within it."""
    seen = []

    def f(x):
        seen.extend(x)
        return float(np.log(x).sum())

    (x_bar,) = fd_gradient(f, np.array([1e-4, 2.0]), fdm=central_fdm(7, domain=(0.0, math.inf)))
    np.testing.assert_allclose(x_bar, [1e4, 0.5], rtol=1e-9)
    assert min(seen) > 0
