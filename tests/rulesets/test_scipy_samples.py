"""Integrals of samples by the samples, their places, and their distance."""

import numpy as np
import pytest

integrate = pytest.importorskip("scipy.integrate")

from implicit_slopes import agree, agree_again, is_refused  # noqa: E402
from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
)
from library_tests import test_second_derivatives as test_second_derivatives_of_calls  # noqa: E402, F401

import rulelab as rl  # noqa: E402

PLACES = np.array([0.0, 0.3, 1.0, 1.2, 2.0, 2.7])
FAR = 4 * PLACES
SAMPLES = np.array([0.35, -0.8, 0.33, 1.3, 0.9, -0.45])
MATRIX = np.linspace(-1.0, 2.0, 15).reshape(5, 3) ** 2
NAMES = ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson")


def by_all(f):
    """By samples, places, and by their distance."""
    name = f.__name__
    return [
        call(name, lambda y, x: f(y, x=x), SAMPLES[:5], FAR[:5]),
        call(f"{name} even", lambda y, x: f(y, x=x), SAMPLES, FAR),
        call(f"{name} distance", lambda y, dx: f(y, dx=dx), SAMPLES[:5], 0.7),
        call(f"{name} columns", lambda y, x: f(y, x=x, axis=0), MATRIX, FAR[:5]),
        call(f"{name} places for each", lambda y, x: f(y, x=x), MATRIX.T, 0.1 * MATRIX.T + FAR[:5]),
    ]


CALLS = [one for name in NAMES for one in by_all(getattr(integrate, name))]
CALLS += [
    call("cumulative_trapezoid begun", lambda y: integrate.cumulative_trapezoid(y, initial=0), SAMPLES),
    call("cumulative_simpson begun", lambda y, i: integrate.cumulative_simpson(y, initial=i), SAMPLES, 0.3),
    call("romb", integrate.romb, SAMPLES[:5], 0.7),
    call("romb columns", lambda y: integrate.romb(y, axis=0), MATRIX),
]


def weighed(z):
    return np.sum(np.sin(z) * np.cos(np.arange(np.size(z)) + 0.4).reshape(np.shape(z)))


@pytest.mark.every(11)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", NAMES)
def test_by_samples_places_and_distance(name, count):
    """Of an even and an odd number of samples, of two, and of any that are not evenly spaced."""
    f, x, y = getattr(integrate, name), PLACES[:count], SAMPLES[:count]
    assert agree(lambda y: weighed(f(y, x=x)), y)
    assert agree(lambda x: weighed(f(y, x=x)), x, 0.01)
    assert agree(lambda dx: weighed(f(y, dx=dx)), 0.7)


OF_MATRICES = {
    "along an axis": lambda a: [
        weighed(getattr(integrate, name)(a * MATRIX, x=a * PLACES[:5], axis=0)) for name in NAMES
    ],
    "places for each": lambda a: [
        weighed(getattr(integrate, name)(MATRIX, x=a * PLACES[:5, None] + 0.01 * MATRIX, axis=0))
        for name in NAMES
    ],
    "a list": lambda a: [weighed(getattr(integrate, name)([a, 2 * a, a * a])) for name in NAMES],
    "begun": lambda a: [
        weighed(integrate.cumulative_trapezoid(a * MATRIX, axis=0, initial=0)),
        weighed(integrate.cumulative_simpson(a * MATRIX, axis=0, dx=a, initial=a)),
        weighed(integrate.cumulative_simpson(MATRIX, dx=a * np.ones((5, 1)), initial=a * np.ones((5, 1)))),
    ],
    "romb": lambda a: [weighed(integrate.romb(a * MATRIX, dx=a, axis=0))],
}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", OF_MATRICES)
def test_of_whole_arrays(name):
    """Axes, places for each row, lists, and a number to begin with."""
    assert agree(lambda a: sum(OF_MATRICES[name](a)), 0.7, 0.02)


@pytest.mark.every(5)
@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name):
    """By places and distances, in which the integral is not linear."""
    assert agree_again(lambda x: weighed(getattr(integrate, name)(SAMPLES, x=x)), PLACES, 0.004)


def test_samples_at_one_place_are_refused():
    """A parabola through them has no slope by their places."""
    is_refused(lambda a: integrate.simpson(a * SAMPLES[:3], x=[0.0, 0.0, 1.0]), 1.0, "at the same x")


def test_errors_are_those_of_scipy():
    """For samples and places that do not go together."""
    with pytest.raises(ValueError, match="length of x along axis"):
        rl.gradient(lambda y: integrate.simpson(y, x=PLACES[:4]), SAMPLES)
