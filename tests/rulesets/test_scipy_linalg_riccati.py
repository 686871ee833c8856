"""Riccati's equations of `scipy.linalg`."""

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")

from library_calls import call, takes_stacks  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=(3, 2))
Q, R, E, S = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 2)), RNG.normal(size=(3, 3)) / 4, B / 8
EYE, TURNED = np.eye(3), (E - 0.1j, S + 0.1j)


def definite(m):
    """A Hermitian matrix that is positive definite, of any matrix: SciPy takes no other costs."""
    return m @ np.conj(np.swapaxes(m, -1, -2)) + np.eye(m.shape[-1])


def of(solve):
    """A solution by the matrices that may vary."""
    return lambda a, b, q, r: solve(a, b, definite(q), definite(r))


def of_pair(solve):
    return lambda a, b, q, r, e, s: solve(a, b, definite(q), definite(r), EYE + e, s)


def by_words(solve):
    return lambda a, b, q, r, s: solve(a, b, definite(q), definite(r), s=s, balanced=False)


def calls_of(solve):
    name = solve.__name__
    found = [
        call(name, of(solve), A, B, Q, R),
        call(f"{name} pair", of_pair(solve), A, B, Q, R, E, S),
        call(f"{name} words", by_words(solve), A, B, Q, R, S),
        call(f"{name} complex", of_pair(solve), A + 0.2j * A.T, B - 0.1j, Q + 0.3j * E, R, *TURNED),
        call(f"{name} complex beside real", of(solve), A, B + 0.2j, Q, R),
        call(f"{name} numbers", lambda a, b, q, r: solve(a, b, q, r), 0.3, 1.2, 0.7, 1.5),
        call(f"{name} vector", lambda a, b: solve([[a]], b, [[1.0]], np.eye(2)), 0.3, np.array([1.2, 0.7])),
    ]
    if takes_stacks():
        found.append(call(f"{name} stacks", of(solve), np.stack([A, A.T]), B, Q, np.stack([R, R.T])))
    return found


CALLS = [*calls_of(linalg.solve_continuous_are), *calls_of(linalg.solve_discrete_are)]

WRONG = [
    ("solve_continuous_are", "continuous_sides", lambda loop: (loop.left, loop.x)),
    ("solve_discrete_are pair", "discrete_sides", lambda loop: (loop.left.T @ loop.x, loop.x)),
    ("solve_continuous_are complex", "hermitian_part", lambda x: 0.5 * (x + np.swapaxes(x, -1, -2))),
    ("solve_discrete_are", "hermitian_part", lambda x: x),
]


@pytest.mark.parametrize("solve", [linalg.solve_continuous_are, linalg.solve_discrete_are])
def test_a_cost_that_is_symmetric_has_a_symmetric_cotangent(solve):
    """In both modes as much: what is not symmetric is no cost."""
    weights = np.arange(9.0).reshape(3, 3)
    (q_bar,) = rl.gradient(lambda q: np.sum(weights * solve(A, B, q, definite(R))), definite(Q))
    assert q_bar == pytest.approx(q_bar.T)
    q_dot = definite(E)
    x_dot = rl.pushforward(lambda q: solve(A, B, q, definite(R)), definite(Q))(q_dot)
    assert np.sum(weights * x_dot) == pytest.approx(np.sum(q_bar * q_dot))


@pytest.mark.parametrize("solve", [linalg.solve_continuous_are, linalg.solve_discrete_are])
def test_errors_are_those_of_scipy(solve):
    """Where there is no finite solution, and for a cost that is none."""
    with pytest.raises(ValueError, match="symmetric"):
        rl.gradient(lambda q: np.sum(solve(A, B, q, definite(R))), Q)
    with pytest.raises(np.linalg.LinAlgError):
        rl.gradient(lambda a: np.sum(solve(a, 0 * B, definite(Q), definite(R))), 3 * EYE)
