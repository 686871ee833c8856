"""Wirtinger's derivatives, and the derivative of a holomorphic function."""

import cmath

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import NotDifferentiableError, RuleLabError, ScalarOutputError

POINTS = [0.7 - 0.4j, -1.2 + 0.3j, 1.0]


@pytest.mark.parametrize("z", POINTS)
@pytest.mark.parametrize(
    "f, of_z, of_conjugate",
    [
        (lambda z: z * z, lambda z: 2 * z, lambda z: 0),
        (lambda z: z.conjugate() ** 2, lambda z: 0, lambda z: 2 * z.conjugate()),
        (lambda z: z * z.conjugate(), lambda z: z.conjugate(), lambda z: z),
        (lambda z: z.real, lambda z: 0.5, lambda z: 0.5),
        (lambda z: z.imag, lambda z: -0.5j, lambda z: 0.5j),
        (abs, lambda z: z.conjugate() / abs(z) / 2, lambda z: z / abs(z) / 2),
        (np.exp, cmath.exp, lambda z: 0),
        (lambda z: 3.0 + 1j, lambda z: 0, lambda z: 0),
    ],
)
def test_both_derivatives(f, of_z, of_conjugate, z):
    """Those that one writes down by taking z and its conjugate for two variables."""
    z = complex(z)
    np.testing.assert_allclose(rl.wirtinger(f, z), (of_z(z), of_conjugate(z)), atol=1e-14)


def test_a_real_function_has_its_gradient_twice():
    """The gradient is 2 ∂f/∂z̄."""
    z = np.array([1 + 2j, -0.5j])

    def f(z):
        return np.sum(np.abs(z) ** 2 * np.arange(1, 3))

    first, second = rl.wirtinger(f, z)
    np.testing.assert_allclose(2 * second, rl.gradient(f, z)[0])
    np.testing.assert_allclose(first, second.conj())


@pytest.mark.parametrize("z", POINTS)
@pytest.mark.parametrize(
    "f, slope",
    [
        (np.exp, cmath.exp),
        (lambda z: z**3, lambda z: 3 * z**2),
        (cmath.log, lambda z: 1 / z),
        (lambda z: 2j, lambda z: 0),
    ],
)
def test_the_derivative_of_a_holomorphic_function(f, slope, z):
    """One complex number, also at a real point."""
    assert rl.holomorphic_derivative(f, z) == pytest.approx(slope(complex(z)))


@pytest.mark.parametrize(
    "f", [abs, np.conj, lambda z: z.real, lambda z: z * z.conjugate(), lambda z: z + 1e-6 * z.imag]
)
def test_what_is_not_holomorphic_is_refused(f):
    """The message tells by how much the Cauchy-Riemann equations fail."""
    with pytest.raises(NotDifferentiableError, match=r"is not holomorphic at 0.7-0.4j: ∂f/∂z̄ is"):
        rl.holomorphic_derivative(f, 0.7 - 0.4j)


def test_a_pole_is_refused():
    """NaN is no derivative."""
    with pytest.raises(NotDifferentiableError, match="not holomorphic"):
        rl.holomorphic_derivative(cmath.sqrt, 0j)


def test_what_has_neither():
    """An array as result, and something else as argument, in one line each."""
    with pytest.raises(ScalarOutputError, match="Output is an ndarray"):
        rl.wirtinger(lambda z: z * np.ones(2), 1j)
    with pytest.raises(RuleLabError, match="A str is not a complex number"):
        rl.wirtinger(lambda z: z, "1j")
