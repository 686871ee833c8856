"""Sylvester's and Lyapunov's equations of `scipy.linalg`."""

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

A = np.array([[4.0, 0.5, -1.0], [0.25, 3.5, 0.5], [0.1, -0.75, 5.0]])
Z = A + 0.3j * A[::-1]
V, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 3.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
HERMITIAN = Z + Z.conj().T

ZA = np.array([[0.3, -0.4, 0.1], [0.5, 0.2, 0.0], [0.1, 0.3, -0.2]])

CALLS = [
    call("solve_sylvester", linalg.solve_sylvester, A, TALL[:2], COLUMNS),
    call("solve_sylvester complex", linalg.solve_sylvester, Z, TALL[:2] + 0j, COLUMNS + 1j),
    call("solve_sylvester real eigenvalues", linalg.solve_sylvester, Z, np.diag([1.0, 2.0]), COLUMNS),
    call("solve_continuous_lyapunov", linalg.solve_continuous_lyapunov, A, COLUMNS @ COLUMNS.T),
    call("solve_continuous_lyapunov complex", linalg.solve_continuous_lyapunov, Z, A),
    call("solve_discrete_lyapunov", linalg.solve_discrete_lyapunov, ZA, A),
    call("solve_discrete_lyapunov direct", given(linalg.solve_discrete_lyapunov, method="direct"), Z / 9, A),
    call(
        "solve_discrete_lyapunov bilinear", given(linalg.solve_discrete_lyapunov, method="bilinear"), Z / 9, A
    ),
]

if takes_stacks():
    STACK = np.stack([A, A.T + np.eye(3)])
    CALLS += [
        call("solve_sylvester stacks", linalg.solve_sylvester, STACK, STACK, STACK[::-1]),
        call("solve_discrete_lyapunov one of a pair", linalg.solve_discrete_lyapunov, STACK / 9, A),
        call("solve_discrete_lyapunov of both kinds", linalg.solve_discrete_lyapunov, STACK / 9, A + 0.5j),
    ]

WRONG = [
    ("solve_sylvester complex", "adjoint", lambda x: x.T),
    ("solve_sylvester", "of_one_kind", lambda a, b, q: (a.T, b.T, q)),
    ("solve_continuous_lyapunov", "adjoint", lambda x: x),
    ("solve_discrete_lyapunov", "adjoint", lambda x: -x.T),
]


def test_what_scipy_does_not_solve_is_refused():
    """Real matrices with complex eigenvalues beside complex ones: its solution is none."""
    turn, q = np.array([[1.0, -3.0], [2.0, 1.0]]), Z[:2, :2]
    assert np.abs(turn @ (x := linalg.solve_sylvester(turn, q, q)) + x @ q - q).max() > 0.1
    with pytest.raises(NotDifferentiableError, match="real and complex"):
        rl.gradient(lambda q: np.abs(np.sum(linalg.solve_sylvester(turn, q, q))), q)
    with pytest.raises(NotDifferentiableError, match="real and complex"):
        rl.pushforward(lambda q: linalg.solve_sylvester(turn, q, q), q)(q)
    assert rl.gradient(lambda q: np.abs(np.sum(linalg.solve_sylvester(turn + 0j, q, q))), q)[0].shape == (
        2,
        2,
    )
