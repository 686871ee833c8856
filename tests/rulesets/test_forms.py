"""Short floats, arrays that are strided, empty or without an axis: differentiated wherever they are taken."""

import math
import statistics
import warnings

import numpy as np
import pytest
from forms import check_forms, faults_in_forms, usual_points
from numpy.polynomial import chebyshev, polynomial

import rulelab as rl
from rulelab.errors import NotDifferentiableError


@pytest.mark.every(31)
@pytest.mark.parametrize("points", usual_points(), ids=str)
def test_each_form_of_arrays(points):
    """The numbers are those of the usual form, and cotangents have the form of their arguments."""
    check_forms(points)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_entries(count):
    """None, one and two: what is NaN or constant has no slope."""
    y = np.arange(1.0, 1.0 + count)
    (of_y,) = rl.gradient(lambda y: np.trapezoid(y), y)
    assert of_y.tolist() == [[], [0.0], [0.5, 0.5]][count]
    of_y, of_x = rl.gradient(lambda y, x: np.trapezoid(y, x), y, y)
    assert of_x.tolist() == [[], [0.0], [-1.5, 1.5]][count] and of_y.shape == y.shape
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if not count else np.errstate():
        assert rl.gradient(lambda y: np.median(y), y)[0].tolist() == [[], [1.0], [0.5, 0.5]][count]


def test_a_number_is_repeated_along_an_axis_of_its_own():
    """NumPy lets it have one."""
    for repeat in (np.repeat, np.ndarray.repeat):
        assert rl.gradient(lambda x: np.sum(repeat(x, [2], 0) * np.arange(2.0)), np.array(3.0))[0] == 1.0
        assert rl.pushforward(lambda x: repeat(x, [2], -1), np.array(3.0))(np.array(1.0)).tolist() == [1, 1]


def test_a_remainder_that_is_rounded():
    """NumPy drops leading zeros of it, and not what short floats leave in their place."""
    u, v = np.array([-1.0, -0.2, -0.2, 0.5], np.float32), np.array([0.2, 0.4], np.float32)
    assert len(np.polydiv(u, v)[1]) == 3
    r_dot = rl.pushforward(lambda u: np.polydiv(u, v)[1], u)(np.eye(4, dtype=np.float32)[0])
    np.testing.assert_allclose(r_dot, [0, 0, -8.0], rtol=1e-5)
    (u_bar,) = rl.gradient(lambda u: np.polydiv(u, v)[1][-1], u)
    np.testing.assert_allclose(u_bar, [-8, 4, -2, 1], rtol=1e-5)


@pytest.mark.parametrize(
    "f",
    [np.sinc, np.i0, np.unwrap, np.nan_to_num, lambda x: np.clip(x, 0.1, [0.4, 0.5])]
    + [lambda x: np.linspace(x, 1.0, num=3, axis=1), lambda x: np.geomspace(2.0, x, 3), np.real, np.angle],
)
def test_lists_are_arrays(f):
    """Also where the function of NumPy is made in Python."""
    of_list = rl.gradient(lambda a: np.sum(f([a, 2 * a]) ** 2), 0.3)[0]
    assert of_list == pytest.approx(rl.gradient(lambda a: np.sum(f(np.array([a, 2 * a])) ** 2), 0.3)[0])
    assert of_list == pytest.approx(rl.pushforward(lambda a: np.sum(f([a, 2 * a]) ** 2), 0.3)(1.0))


def test_a_number_is_a_series():
    """NumPy's polynomials take it as one of one coefficient; it has a number for a cotangent."""
    series = np.array([1.0, 2.0])
    assert rl.gradient(lambda a: np.sum(polynomial.polyadd(a, series)), 2.0) == (1.0,)
    assert rl.gradient(lambda a: np.sum(chebyshev.chebmul(series, a)), 2.0) == (3.0,)
    assert rl.pushforward(lambda a: np.sum(polynomial.polymul(a, series)), 2.0)(1.0) == 3.0


def product(x, y):
    return np.sum(x * y)


RULES_OF_PRODUCT = {
    "right": lambda x, y, s: (s * np.conj(y), s * np.conj(x)),
    "not conjugated": lambda x, y, s: (s * y, s * x),
    "of the real parts": lambda x, y, s: (s * np.real(y), s * np.real(x)),
}


@pytest.mark.parametrize("name", RULES_OF_PRODUCT)
def test_a_rule_that_does_not_conjugate_is_caught(name):
    """By the complex form, though all numbers that it is stated at are real."""

    def f(x, y):
        return product(x, y)

    def rule(x, y):
        return f(x, y), lambda s: (rl.NoTangent(), *RULES_OF_PRODUCT[name](x, y, s))

    rl.rrule_for(f)(rule)
    faults = list(faults_in_forms(f, (np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.3, -0.7]))))
    assert any(fault.startswith("complex") for fault in faults) == (name != "right"), faults


def resonance(x):
    """Of a width far below a usual step of differences."""
    return x * 1e-10 / (1e-10 + (x - 0.5) ** 2)


@pytest.mark.parametrize("slope", [1.0, 0.5])
def test_differences_resolve_what_is_narrower_than_their_usual_step(slope):
    """So that a right rule is right there, and a wrong one wrong."""

    def f(x):
        return resonance(x)

    def rule(x):
        peak = 1e-10 / (1e-10 + (x - 0.5) ** 2)
        by_x = slope * peak - 2 * x * (x - 0.5) * peak**2 / 1e-10
        return f(x), lambda y_bar: (rl.NoTangent(), y_bar * by_x)

    rl.rrule_for(f)(rule)
    faults = list(faults_in_forms(f, (np.array([0.5, 0.7]),)))
    assert any(fault.startswith("single") for fault in faults) == (slope != 1.0), faults


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda a, w: np.average(a, weights=w), (np.array([0.5, -1.0, 2.0]), np.array([0.5, 1.2, 2.0]))),
        (np.trapezoid, (np.array([0.5, -1.0, 2.0]), np.array([0.0, 1.2, 2.0]))),
        (lambda y, dx: np.trapezoid(y, dx=dx), (np.array([0.5, -1.0, 2.0]), 0.7)),
        (lambda x, y: np.polyfit(x, y, 1), (np.array([0.0, 0.7, 1.9, 2.4]), np.array([0.5, -1.0, 2.0, 0.3]))),
        (chebyshev.chebmul, (np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.4]))),
        (lambda c: polynomial.polyint(c, scl=1 + 2j), (np.array([0.5 + 1j, -1.0, 2.0]),)),
        (lambda x: chebyshev.chebvander(x, 3), (np.array([0.5, -1.0]),)),
        (math.prod, (np.array([0.5, -1.0, 2.0]),)),
        (lambda d: np.fft.fftfreq(5, d), (0.7,)),
    ],
)
def test_complex_numbers_where_arguments_are_multiplied(f, args):
    """Each cotangent has the conjugate of what it is multiplied by, also that of a number beside arrays."""
    assert list(faults_in_forms(f, args)) == []


@pytest.mark.parametrize(
    "f",
    [
        lambda x: statistics.median(x),
        lambda x: statistics.geometric_mean(x),
        lambda x: statistics.fmean(x),
        lambda x: math.dist(x, x[::-1]),
    ],
)
def test_complex_numbers_that_python_makes_real_are_refused(f):
    """By a typed error in both modes."""
    z = np.array([1.0 + 0.5j, 2.0 - 0.25j, 0.5 + 1j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        for ask in (lambda: rl.gradient(lambda x: np.real(f(x)), z), lambda: rl.pushforward(f, z)(z)):
            with pytest.raises(NotDifferentiableError, match="complex"):
                ask()
