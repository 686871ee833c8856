"""The factorisations of `scipy.linalg` by elimination and reflection, and solving with them."""

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

G = np.array([[1.0, 2.0, 0.5], [0.25, 3.0, -1.0], [1.5, 0.5, -2.0]])
P = A @ A.T
B = np.array([[3.0, 0.5 + 0.2j, 0.2], [0.5 - 0.2j, 2.0, -0.4j], [0.2, 0.4j, 2.5]])
COMPLEX = TALL + 0.5j * TALL[::-1]
economic = given(linalg.qr, mode="economic")

CALLS = [
    call("cholesky", linalg.cholesky, P),
    call("cholesky lower", given(linalg.cholesky, lower=True), P),
    call("cholesky complex", linalg.cholesky, B),
    call("cholesky short", linalg.cholesky, P.astype(np.float32)),
    call("cho_factor", lambda a: linalg.cho_factor(a)[0], P),
    call("cho_factor complex", lambda a: linalg.cho_factor(a, lower=True)[0], B),
    call("cho_solve", lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b), P, V),
    call("cho_solve complex", lambda a, b: linalg.cho_solve(linalg.cho_factor(a, True), b), B, COLUMNS),
    call("cho_solve by a factor", lambda c, b: linalg.cho_solve((c, True), b), A, V),
    call("lu", linalg.lu, G),
    call("lu permuted", given(linalg.lu, permute_l=True), G),
    call("lu indices", given(linalg.lu, p_indices=True), Z),
    call("lu tall", linalg.lu, TALL),
    call("lu wide", linalg.lu, COMPLEX.T),
    call("lu short", linalg.lu, G.astype(np.float32)),
    call("lu_factor", lambda a: linalg.lu_factor(a)[0], G),
    call("lu_factor tall", lambda a: linalg.lu_factor(a)[0], TALL),
    call("lu_factor wide", lambda a: linalg.lu_factor(a)[0], TALL.T),
    *[
        call(
            f"lu_solve {way}",
            lambda a, b, way=way: linalg.lu_solve(linalg.lu_factor(a), b, way),
            Z + G,
            COLUMNS,
        )
        for way in (0, 1, 2)
    ],
    call("qr", linalg.qr, G),
    call("qr economic", economic, TALL),
    call("qr r", given(linalg.qr, mode="r"), TALL),
    call("qr wide", linalg.qr, TALL.T),
    call("qr complex", economic, COMPLEX),
    call("qr pivoted", lambda a: linalg.qr(a, mode="economic", pivoting=True)[:2], G),
    call("qr short", linalg.qr, G.astype(np.float32)),
    call("polar", linalg.polar, G),
    call("polar tall", linalg.polar, COMPLEX),
    call("polar left", given(linalg.polar, side="left"), TALL.T),
]

WRONG = [
    (
        "lu",
        "elimination_bar",
        lambda l, u, l_bar, u_bar: linalg.inv(l).T @ (l.T @ l_bar + u_bar @ u.T) @ linalg.inv(u).T,
    ),
    ("lu tall", "_times_inverse", lambda x, u: x),
    ("lu wide", "_adjoint_inverse_times", lambda l, x: linalg.solve_triangular(l, x, 0, True, True)),
    ("qr", "hermitian_part", lambda x: x),
    ("qr complex", "adjoint", lambda x: x.T),
    ("polar", "adjoint", lambda x: x),
]


@pytest.mark.parametrize(
    "f, word",
    [
        (lambda a: linalg.qr(np.ones((3, 2)) * a[0, 0])[1], "full column rank"),
        (lambda a: linalg.qr(a, mode="raw")[1], "raw"),
        (lambda a: linalg.lu(np.ones((3, 3)) * a[0, 0])[2], "full rank"),
        (lambda a: linalg.polar(a[:, :2].T)[0], "left|other side"),
        (lambda a: linalg.polar(np.ones((3, 3)) * a[0, 0])[0], "full rank"),
    ],
)
def test_what_has_no_derivative_is_refused(f, word):
    """In both modes."""
    with pytest.raises(NotDifferentiableError, match=word):
        rl.gradient(lambda a: np.sum(f(a)), A)
    with pytest.raises(NotDifferentiableError, match=word):
        rl.pushforward(f, A)(A)


@pytest.mark.skipif(not takes_stacks(), reason="an older SciPy")
@pytest.mark.parametrize(
    ("one", "stack"),
    [
        (lambda a: linalg.cho_solve((a, True), V), np.stack([A, A.T, A + np.eye(3)])),
        (lambda b: linalg.cho_solve((A, True), b), np.stack([COLUMNS, 2 * COLUMNS, COLUMNS - 1.0])),
        (lambda b: linalg.lu_solve((A, np.array([2, 1, 2])), b), np.stack([COLUMNS, -COLUMNS, COLUMNS / 2])),
    ],
)
def test_stacks_are_solved_one_by_one(one, stack):
    """Of factors with one vector, and of right-hand sides, as many as each has rows."""
    each = lambda x: np.stack([one(item) for item in x])
    seed = np.cos(np.arange(np.size(one(stack)))).reshape(np.shape(one(stack)))
    (found,), (wanted,) = rl.pullback(one, stack)[1](seed), rl.pullback(each, stack)[1](seed)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    found, wanted = rl.pushforward(one, stack)(stack), rl.pushforward(each, stack)(stack)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_full_factor_has_its_defined_columns():
    """Those of the matrix are differentiated; the others LAPACK chooses."""
    full, small = (rl.gradient(lambda a: np.sum(f(a)[0][:, :2] ** 3), TALL)[0] for f in (linalg.qr, economic))
    np.testing.assert_allclose(full, small)
    assert rl.gradient(lambda a: np.sum(linalg.qr(a)[1]), TALL)[0].shape == (4, 2)
    with pytest.raises(NotDifferentiableError, match="chooses"):
        rl.gradient(lambda a: np.sum(linalg.qr(a)[0]), TALL)


def test_a_triangle_that_is_not_cleared():
    """`cho_factor` leaves there what was there, since SciPy 1.18 zeros: either has its derivative."""
    (a_bar,) = rl.gradient(lambda a: linalg.cho_factor(a, lower=True)[0][0, 2] + 0.0 * np.sum(a), P)
    stays = linalg.cho_factor(P, lower=True)[0][0, 2] != 0
    assert a_bar[0, 2] == stays and np.sum(a_bar != 0) == stays


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (linalg.cholesky, P),
        (linalg.cho_factor, P),
        (lambda x, **words: linalg.cho_solve((P, True), x, **words), V),
        (linalg.lu, A),
        (linalg.lu_factor, A),
        (lambda x, **words: linalg.lu_solve(linalg.lu_factor(A), x, **words), V),
        (linalg.qr, A),
        (linalg.svdvals, A),
        (linalg.eigvals, A),
        (linalg.eig, A),
        (linalg.inv, A),
        (lambda x, **words: linalg.solve_toeplitz(x, V, **words), V),
        (lambda x, **words: linalg.matmul_toeplitz(x, V, check_finite=True), V),
        (lambda x, **words: linalg.eigvalsh_tridiagonal(x, V[:2], **words), V),
    ],
)
def test_what_is_not_finite_is_scipys_error(f, x):
    """In both modes, where SciPy looks for it."""
    x = x.copy()
    x.flat[0] = np.nan
    with pytest.raises(ValueError, match="infs or NaNs"):
        rl.gradient(lambda x: np.sum(np.abs(f(x)[0])), x)
    with pytest.raises(ValueError, match="infs or NaNs"):
        rl.pushforward(lambda x: f(x)[0], x)(x)


def test_nobody_looks_for_what_is_not_asked_for():
    """`check_finite=False`: the values are as SciPy's are."""
    broken = np.where(np.eye(3) * np.arange(3) == 2, np.nan, P)
    y, _ = rl.pullback(lambda a: linalg.cholesky(a, lower=True, check_finite=False), broken)
    assert np.isnan(y[2, 2]) and y[0, 0] == pytest.approx(P[0, 0] ** 0.5)
