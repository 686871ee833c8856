"""Spherical harmonics by both angles: all orders, the poles, both modes, and what is refused."""

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")

if not hasattr(special, "sph_harm_y"):
    pytest.skip("this SciPy has another one", allow_module_level=True)

from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, NotDifferentiableError  # noqa: E402

THETA, PHI = np.array([0.3, 1.2, 2.6]), np.array([0.4, -1.7, 2.9])
DEGREES, ORDERS = np.array([1, 3, 4]), np.array([0, -2, 4])


def of_degree(n, m):
    return lambda theta, phi: special.sph_harm_y(n, m, theta, phi)


CALLS = [
    call("sph_harm_y", of_degree(2, 1), THETA, PHI),
    call("sph_harm_y of several", of_degree(DEGREES, ORDERS), THETA, PHI),
    call("sph_harm_y of a grid", of_degree(3, -3), THETA[:, None], PHI),
    call("sph_harm_y of numbers", of_degree(5, 2), 0.7, -0.4),
    call("sph_harm_y beyond a pole", of_degree(3, 2), -THETA, 7 + PHI),
    call("sph_harm_y constant", of_degree(0, 0), THETA, PHI),
    call("sph_harm_y of an order above its degree", of_degree(1, 2), THETA, PHI),
]


def test_the_slopes_are_those_of_the_definition():
    """Where that is simple: of degree 1, at the poles too, where it is that of the inside."""
    c = np.sqrt(3 / (4 * np.pi))

    def f(theta, phi):
        return np.real(special.sph_harm_y(1, 1, theta, phi))

    for theta, phi in ((0.7, 0.4), (0.0, 0.4), (np.pi, 1.0)):
        slopes = rl.gradient(f, theta, phi)
        wanted = -c / np.sqrt(2) * np.array([np.cos(theta) * np.cos(phi), -np.sin(theta) * np.sin(phi)])
        np.testing.assert_allclose(slopes, wanted, rtol=1e-14, atol=1e-16)
        again = rl.hessian(lambda v: f(v[0], v[1]), np.array([theta, phi]))
        np.testing.assert_allclose(np.diag(again), -f(theta, phi), rtol=1e-13, atol=1e-15)


def test_a_harmonic_is_an_eigenfunction():
    """Of the Laplacian on the sphere: third derivatives come out of the same rule."""

    def beltrami(theta, phi, n, m):
        part = lambda t, p: np.imag(special.sph_harm_y(n, m, t, p))  # noqa: E731
        along = lambda t: np.sin(t) * rl.gradient(part, t, phi)[0]  # noqa: E731
        twice = rl.gradient(lambda p: rl.gradient(part, theta, p)[1], phi)
        twice = twice[0] if isinstance(twice, tuple) else twice
        slope = rl.gradient(along, theta)
        slope = slope[0] if isinstance(slope, tuple) else slope
        return slope / np.sin(theta) + twice / np.sin(theta) ** 2

    for n, m in ((1, 1), (4, -3), (6, 2)):
        value = np.imag(special.sph_harm_y(n, m, 0.7, 0.4))
        assert beltrami(0.7, 0.4, n, m) == pytest.approx(-n * (n + 1) * value, rel=1e-11)


def test_whole_numbers_are_constants():
    """Degree and order have no derivative, and are arguments all the same."""
    slopes = rl.gradient(lambda n, m, t: np.real(special.sph_harm_y(n, m, t, 0.4)), 3, 1, 0.7)
    assert slopes[:2] == (None, None) and np.isfinite(slopes[2])


def test_what_is_of_the_same_class_is_refused():
    """Other functions of its kind, and derivatives beside the value."""
    with pytest.raises(ForeignCallError, match="use that at phi = 0"):
        rl.gradient(lambda x: special.legendre_p(2, x)[()], 0.7)
    with pytest.raises(NotDifferentiableError, match="diff_n"):
        rl.gradient(lambda t: np.real(special.sph_harm_y(2, 1, t, 0.4, diff_n=1)[0]), 0.7)


WRONG = [
    ("sph_harm_y", "raising", lambda n, m: np.sqrt(np.maximum((n - m) * (n + m), 0.0))),
    ("sph_harm_y", "raising", lambda n, m: np.sqrt((n + m) * (n - m + 1.0))),
    ("sph_harm_y of several", "raising", lambda n, m: np.maximum((n - m) * (n + m + 1.0), 0.0)),
]
