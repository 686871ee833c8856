"""Functions of matrices of `scipy.linalg`."""

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")

from library_calls import call, given, takes_stacks  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402
from rulelab.rulesets import scipy_linalg_functions as functions  # noqa: E402

A = np.array([[4.0, 0.5, -1.0], [0.25, 3.5, 0.5], [0.1, -0.75, 5.0]])
Z = A + 0.3j * A[::-1]
V, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 3.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
HERMITIAN = Z + Z.conj().T

G = np.array([[1.0, 2.0, 0.5], [0.25, 3.0, -1.0], [1.5, 0.5, -2.0]])

CALLS = [
    *[
        call(f"{f.__name__} {kind}", f, matrix / 4)
        for f in (
            linalg.expm,
            linalg.cosm,
            linalg.sinm,
            linalg.coshm,
            linalg.sinhm,
            linalg.tanhm,
            linalg.tanm,
        )
        for kind, matrix in (("real", G), ("complex", Z))
    ],
    call("expm stacks", linalg.expm, np.stack([G, A]) / 3),
    call("expm short", linalg.expm, (G / 3).astype(np.float32)),
    call("expm number", linalg.expm, np.array([[0.5]])),
    call("expm triangle", linalg.expm, np.triu(G)),
    call("logm", linalg.logm, A),
    call("logm complex", linalg.logm, Z),
    call("logm of negative", linalg.logm, G),
    call("sqrtm", linalg.sqrtm, A),
    call("sqrtm complex", linalg.sqrtm, Z),
    call("sqrtm of negative", linalg.sqrtm, G),
    call("fractional_matrix_power", linalg.fractional_matrix_power, A, 0.7),
    call("fractional_matrix_power whole", lambda a: linalg.fractional_matrix_power(a, 3), G),
    call("expm_frechet", linalg.expm_frechet, G / 2, A / 3),
    call("expm_frechet alone", given(linalg.expm_frechet, compute_expm=False), Z / 2, A / 3),
]

if takes_stacks():
    STACK = np.stack([A, A.T + np.eye(3)])
    CALLS += [call(f"{f.__name__} stacks", f, STACK) for f in (linalg.sqrtm, linalg.logm)]

WRONG = [
    ("expm real", "along", lambda f, a, e: f(a) @ e),
    ("logm complex", "adjoint", lambda x: x.T),
    ("sqrtm", "adjoint", lambda x: x),
    ("fractional_matrix_power", "along", lambda f, a, e: 0.7 * f(a) @ linalg.inv(a) @ e),
]


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_direction_of_any_size(size):
    """The matrix twice as large that is made of both is not scaled by the direction."""
    along = rl.pushforward(linalg.expm, G)(size * A)
    np.testing.assert_allclose(along / size, linalg.expm_frechet(G, A)[1], rtol=1e-12)


def test_by_complex_steps():
    """Real matrices, and a step into the complex ones."""
    for f in (linalg.expm, linalg.logm, linalg.sqrtm):
        stepped = np.imag(f(A + 1e-25j * G)) / 1e-25 if f is linalg.expm else np.imag(f(A + 1e-8j * G)) / 1e-8
        np.testing.assert_allclose(rl.pushforward(f, A)(G), stepped, rtol=1e-6)


def test_what_is_not_covered_is_refused():
    """A singular matrix has no root with a derivative; options have other results."""
    with pytest.raises(NotDifferentiableError, match="singular"):
        rl.gradient(lambda a: np.sum(linalg.sqrtm(np.ones((2, 2)) * a)), 2.0)


@pytest.mark.parametrize("number", [4.0, np.array(4.0), np.float32(4.0), np.array(0.3 + 1j)])
def test_what_squares_to_another_is_no_root(number):
    """SciPy 1.17 exponentiates numbers; of a matrix of one number it gives the root, which has a slope."""
    for mode in (rl.gradient, lambda f, x: rl.pushforward(f, x)(x)):
        with pytest.raises((NotDifferentiableError, ValueError), match="axes|square"):
            mode(lambda a: np.sum(np.abs(linalg.sqrtm(a))), number)
    matrix = np.array([[4.0]])
    assert rl.gradient(lambda a: np.sum(linalg.sqrtm(a)), matrix)[0] == 0.25


def test_a_value_that_is_no_root_is_refused():
    """What the formula assumes of SciPy's value is looked at; of large and of tiny matrices, too."""
    for size in (1e-150, 1e-9, 1e9, 1e150):
        (of_a,) = rl.gradient(lambda a: np.sum(linalg.sqrtm(a)), size * A)
        (wanted,) = rl.gradient(lambda a: np.sum(linalg.sqrtm(a)), A)
        np.testing.assert_allclose(of_a * np.sqrt(size), wanted, rtol=1e-9)
    for wrong in (lambda y: 1.01 * y, lambda y: y + 0.01, lambda y: y.T):
        with pytest.raises(NotDifferentiableError, match="gives no square root here"):
            functions._check_root(A, wrong(linalg.sqrtm(A)))
    functions._check_root(A, linalg.sqrtm(A))
    functions._check_root(A.astype(np.float16), linalg.sqrtm(A.astype(np.float32)))
