"""Minima move as the implicit function theorem says of the gradient; those at bounds are refused."""

import math

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")

from implicit_slopes import agree, agree_again, is_refused  # noqa: E402
from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError  # noqa: E402

T = np.linspace(0.0, 2.0, 6)
Y = 2 * np.exp(-1.3 * T) + 0.1 * np.sin(5 * T)
TIGHT = {"xtol": 1e-15, "ftol": 1e-15}
CALLS = [
    call("rosen", optimize.rosen, np.array([0.3, -0.7, 1.2])),
    call("rosen of columns", optimize.rosen, np.array([[0.3, -0.7], [1.2, 0.4], [0.9, 1.1]])),
]


def hollow(x, a):
    return (x[0] - a[0]) ** 2 + 2 * (x[1] - a[1] * x[0]) ** 2 + 0.1 * x[0] ** 4 + np.exp(0.1 * x[1])


def model(t, a, b):
    return a * np.exp(-b * t)


A, A_STEP = np.array([0.7, 1.2]), 0.1
CASES = {
    "minimize": (lambda a: np.sum(optimize.minimize(hollow, np.zeros(2), args=(a,), tol=1e-9).x ** 2), A),
    "its value": (lambda a: optimize.minimize(lambda x: hollow(x, a), np.zeros(2)).fun, A),
    "inside of bounds": (
        lambda a: optimize.minimize(
            lambda x: hollow(x, a), np.zeros(2), bounds=[(-5, 5), (None, 9)], tol=1e-15
        ).x[1],
        A,
    ),
    "minimize_scalar": (
        lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.2 * x**4 + math.cosh(x * a)).x,
        0.7,
    ),
    "its value between bounds": (
        lambda a: (
            optimize.minimize_scalar(lambda x, a: (x - a) ** 2 + 0.2 * x**4, bounds=(-3, 3), args=(a,)).fun
        ),
        0.7,
    ),
    "least_squares": (
        lambda y: np.dot(
            optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * T) - y, [1.0, 1.0], gtol=1e-15, **TIGHT).x,
            [1.0, 2.0],
        ),
        Y,
    ),
    "what is left": (
        lambda y: (
            optimize.least_squares(lambda p, y: p[0] * np.exp(-p[1] * T) - y, [1.0, 1.0], args=(y,)).cost
        ),
        Y,
    ),
    "curve_fit": (lambda y: np.sum(optimize.curve_fit(model, T, y, [1.0, 1.0], **TIGHT)[0] ** 2), Y),
    "where it is measured": (
        lambda t: np.sum(optimize.curve_fit(model, t, Y, [1.0, 1.0], **TIGHT)[0] ** 2),
        T,
    ),
    "how well": (
        lambda s: np.sum(optimize.curve_fit(model, T, Y, [1.0, 1.0], sigma=s, **TIGHT)[0] ** 2),
        1.0 + T / 5,
    ),
}


@pytest.mark.every(11)
@pytest.mark.parametrize("name", CASES)
def test_a_minimum(name):
    """By captured parameters, arguments and data: as exact as the minimum is."""
    f, x = CASES[name]
    assert agree(f, x, 0.02 if np.ndim(x) and len(x) > 2 else A_STEP, 1e-4)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["its value between bounds", "minimize_scalar", "minimize", "curve_fit"])
def test_the_second_derivative_of_a_minimum(name):
    """Third derivatives of the objective are in it."""
    f, x = CASES[name]
    assert agree_again(f, x, 0.02 if np.ndim(x) and len(x) > 2 else A_STEP, 1e-4)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, [0.0], bounds=[(0, 1)]).x[0], "at a bound"),
        (lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0, 1)).x, "not a solution"),
        (lambda a: optimize.least_squares(lambda x: x - a, [0.0], bounds=([-1], [1])).x[0], "at a bound"),
        (lambda a: optimize.curve_fit(model, T, a * Y, [0.5, 0.5], bounds=(0, 0.9))[0][0], "at a bound"),
        (
            lambda a: optimize.minimize(
                lambda x: (x[0] - a) ** 2, [0.0], constraints=[{"type": "ineq", "fun": lambda x: x - 9}]
            ).x[0],
            "constraints=",
        ),
        (lambda a: optimize.minimize_scalar(lambda x: abs(x - a)).x, "singular"),
        (lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 4).x, "singular"),
        (lambda a: optimize.minimize(lambda x: (x[0] + x[1] - a) ** 2, [0.0, 0.0]).x[0], "singular"),
        (
            lambda a: optimize.minimize(
                lambda x: (x[0] - a) ** 2, [9.0], method="Nelder-Mead", options={"maxiter": 3}
            ).x[0],
            "did not converge|not a solution",
        ),
        (lambda a: optimize.least_squares(lambda x: x - a, [0.0], loss="huber").x[0], "loss='huber'"),
        (
            lambda a: optimize.curve_fit(model, T, a * Y, full_output=True)[0][0],
            "full_output=: ask for the parameters only",
        ),
        (lambda a: optimize.curve_fit(model, T, a * Y, nan_policy="omit")[0][0], "nan_policy=: remove NaN"),
    ],
)
def test_what_is_no_regular_minimum_is_refused(f, words):
    """Active bounds, constraints, kinks, flat and long valleys, a search that gave up."""
    is_refused(f, 2.0, words, NotDifferentiableError)


def test_what_a_search_says_besides_is_refused():
    """The approximated Hessian, and the covariance of a fit: NaN forwards, where nobody is told who reads."""
    is_refused(
        lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, [0.0]).hess_inv[0, 0],
        2.0,
        "hess_inv",
        NotImplementedTangentError,
    )
    fit = lambda y: optimize.curve_fit(model, T, y, [1.0, 1.0])[1][0, 0]
    with pytest.raises(NotImplementedTangentError, match="covariance"):
        rl.gradient(fit, Y)
    assert np.isnan(rl.pushforward(fit, Y)(np.ones(6)))


def test_rosenbrocks_function():
    """A plain formula: its gradient is SciPy's."""
    x = np.array([0.3, -0.7, 1.2])
    np.testing.assert_allclose(rl.gradient(optimize.rosen, x)[0], optimize.rosen_der(x), rtol=1e-13)
