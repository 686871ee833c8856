"""Systems of `scipy.linalg` by their diagonals: banded, Toeplitz and circulant matrices."""

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
from rulelab.rulesets import scipy_linalg_banded as rules  # noqa: E402

OUTER = rules.band_outer

AB = np.array([[0.0, 9, 1, -1, 0.5], [0.3, 0.2, 0.7, -0.4, 0.1], [4, 5, 6, 5, 4.0], [1, -0.5, 0.3, 0.2, 9]])
LOW = np.array([[9.0, 2, 0.7, -0.4, 0.1], [4, 5, 6, 5, 4.0], [1, -0.5, 0.3, 0.2, 9], [0.3, 0.4, -0.2, 9, 9]])
HALF = np.array([[9, 9, 0.5, -0.3, 0.2], [7, 0.4, 0.6, -0.7, 0.8], [4, 5, 6, 5, 4.0]])
BELOW = np.array([[4, 5, 6, 5, 4.0], [0.4, 0.6, -0.7, 0.8, 9], [0.5, -0.3, 0.2, 9, 9]])
B5, M5 = np.array([1.0, 2, -1, 0.5, 3]), np.array([[1.0, 2, -1, 0.5, 3], [2, 1, 0.5, -3, 1]]).T
C, R = np.array([4.0, 1.0, 0.5, -0.3]), np.array([9.0, -0.5, 0.25, 0.7])
B4 = np.array([1.0, -2.0, 0.5, 3.0])
M4 = np.stack([B4, B4[::-1]], 1)
OFF = np.array([1.0, 1.0, 0.0])[:, None]


def pair(function):
    return lambda c, r, b: function((c, r), b)


CALLS = [
    call("solve_banded", lambda ab, b: linalg.solve_banded((1, 2), ab, b), AB, B5),
    call("solve_banded complex", lambda ab, b: linalg.solve_banded((1, 2), ab, b), AB + 0.1j, M5),
    call("solve_banded low", lambda ab, b: linalg.solve_banded((2, 1), ab, b), LOW, B5),
    call("solveh_banded", linalg.solveh_banded, HALF, B5),
    call("solveh_banded complex", linalg.solveh_banded, HALF + 0.1j * HALF * OFF, M5),
    call("solveh_banded below", given(linalg.solveh_banded, lower=True), BELOW, M5),
    call(
        "solveh_banded below complex",
        given(linalg.solveh_banded, lower=True),
        BELOW + 0.1j * BELOW * OFF[::-1],
        B5 + 0j,
    ),
    call("solve_toeplitz", pair(linalg.solve_toeplitz), C, R, B4),
    call("solve_toeplitz complex", pair(linalg.solve_toeplitz), C + 0.2j * C[::-1], R, M4),
    call("solve_toeplitz symmetric", linalg.solve_toeplitz, C, B4),
    call("matmul_toeplitz", pair(linalg.matmul_toeplitz), C, R[:3], B4[:3]),
    call("matmul_toeplitz complex", linalg.matmul_toeplitz, C + 0.2j * C[::-1], M4),
    call("solve_circulant", linalg.solve_circulant, C, B4),
    call("solve_circulant complex", linalg.solve_circulant, C + 0.1j * C[::-1], M4),
    call("solve_circulant axes", given(linalg.solve_circulant, baxis=1, outaxis=-1), C, M4.T),
]

WRONG = [
    ("solve_banded", "band_transposed", lambda ab, lower, upper: ab[::-1]),
    ("solve_banded low", "band_outer", lambda x, y, lower, upper: 0.5 * OUTER(x, y, lower, upper)),
    ("solveh_banded", "_of_half", lambda b, y, count, lower: OUTER(b, y, 0, count)),
    ("solve_toeplitz", "diagonals_of_toeplitz", lambda bar, n: (bar[:, 0], bar[0])),
]


def test_corners_are_not_read():
    """What lies outside the matrix has no cotangent."""
    ab_bar, _ = rl.gradient(lambda ab, b: np.sum(linalg.solve_banded((1, 2), ab, b)), AB, B5)
    assert ab_bar[0, 0] == ab_bar[0, 1] == ab_bar[1, 0] == ab_bar[3, 4] == 0 and np.sum(ab_bar != 0) == 16


@pytest.mark.skipif(not takes_stacks(), reason="an older SciPy")
@pytest.mark.parametrize(
    ("f", "b"),
    [
        (lambda b: linalg.solve_banded((1, 2), AB, b), M5),
        (lambda b: linalg.solveh_banded(AB[2:], b, lower=True), M5),
        (lambda b: linalg.solve_toeplitz((C, R), b), np.stack([B4, -B4], axis=1)),
        (lambda b: linalg.matmul_toeplitz((C, R), b), np.stack([B4, -B4], axis=1)),
    ],
)
def test_a_stack_of_right_hand_sides_is_none_of_columns(f, b):
    """As many matrices as each has rows: refused, and no axis is taken for another."""
    stack = np.stack([b * k for k in range(1, 1 + len(b))])
    with pytest.raises(NotDifferentiableError, match="stack of right-hand sides"):
        rl.gradient(lambda b: np.sum(f(b)), stack)
    with pytest.raises(NotDifferentiableError, match="stack of right-hand sides"):
        rl.pushforward(f, stack)(stack)
    np.testing.assert_allclose(rl.pushforward(f, b)(b), f(b), rtol=1e-12)


def test_many_equations_at_once():
    """No whole matrix is made of the diagonals: two hundred thousand equations."""
    n = 200_000
    ab = np.concatenate([np.full((1, n), -1.0), np.full((1, n), 4.0), np.full((1, n), -1.0)])
    ab_bar, b_bar = rl.gradient(lambda ab, b: np.sum(linalg.solve_banded((1, 1), ab, b)), ab, np.ones(n))
    assert b_bar[n // 2] == pytest.approx(0.5) and ab_bar[1, n // 2] == pytest.approx(-0.25)


def test_the_ways_out_of_a_singular_matrix_are_refused():
    """A least squares solution has another derivative."""
    with pytest.raises(NotDifferentiableError, match="singular"):
        rl.gradient(lambda c: np.sum(linalg.solve_circulant(c, B4, singular="lstsq")), C)


def test_a_product_with_a_toeplitz_matrix_is_double():
    """SciPy computes with short vectors in double precision, and so does the pass."""
    c, x = np.array([0.3, 1.1, -0.7], np.float32), np.array([0.2, -1.3, 0.6], np.float32)
    y, back = rl.pullback(linalg.matmul_toeplitz, c, x)
    np.testing.assert_allclose(y, linalg.matmul_toeplitz(c, x), rtol=1e-14)
    c_bar, x_bar = back(np.ones(3))
    np.testing.assert_allclose(x_bar, linalg.toeplitz(c).sum(axis=0), rtol=1e-6)
    assert c_bar.dtype == x_bar.dtype == np.float32
