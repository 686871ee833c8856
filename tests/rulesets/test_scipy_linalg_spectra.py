"""Eigenvalues and singular values of `scipy.linalg`, of pairs of matrices too."""

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
from rulelab.rulesets import scipy_linalg_spectra as rules  # noqa: E402

OVER_GAPS = rules.over_gaps
A = np.array([[4.0, 0.5, -1.0], [0.25, 3.5, 0.5], [0.1, -0.75, 5.0]])
Z = A + 0.3j * A[::-1]
V, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 3.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
HERMITIAN = Z + Z.conj().T

G = np.array([[1.0, 2.0, 0.5], [0.25, 3.0, -1.0], [1.5, 0.5, -2.0]])
P = A @ A.T
B = np.array([[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 2.5]])
COMPLEX = B + 0.2j * (np.tri(3) - np.tri(3).T)


def signed(w, v):
    """Vectors whose signs do not depend on LAPACK."""
    return w, v * np.sign(v[..., :1, :])


def without_phases(w, v):
    return w, np.abs(v)


def sizes(w, v):
    return np.sum(w * np.abs(v) ** 2 @ np.diag([1.0, 2.0, -1.0]))


CALLS = [
    call("svd", linalg.svd, G),
    call("svd economic", given(linalg.svd, full_matrices=False), TALL),
    call("svd values", given(linalg.svd, compute_uv=False), TALL + 1j),
    call("svd gesvd", given(linalg.svd, lapack_driver="gesvd"), G),
    call("svdvals", linalg.svdvals, TALL),
    call("eigh", lambda a: signed(*linalg.eigh(a)), P),
    call("eigh upper", lambda a: signed(*linalg.eigh(a, lower=False)), G),
    call("eigh pair", lambda a, b: signed(*linalg.eigh(a, b)), P, B),
    call("eigh pair by name", lambda a, b: signed(*linalg.eigh(a, b=b, lower=False)), P, B),
    call("eigh values", given(linalg.eigh, eigvals_only=True), HERMITIAN, COMPLEX),
    call("eigvalsh", linalg.eigvalsh, P),
    call("eigvalsh pair", given(linalg.eigvalsh, lower=False), HERMITIAN, COMPLEX),
    call("eigvalsh_tridiagonal", linalg.eigvalsh_tridiagonal, V, V[:2]),
    call("eigvals", linalg.eigvals, G),
    call("eigvals complex", linalg.eigvals, G + 0.3j * G.T),
    call("eig", lambda a: signed(*linalg.eig(a)), G),
    call("eig complex", lambda a: without_phases(*linalg.eig(a)), Z + np.diag([0.0, 4.0, -5.0])),
]

if takes_stacks():
    STACK, PAIRS = np.stack([A, A.T + np.eye(3)]), np.stack([P, P + np.diag([1.0, 2.0, 3.0])])
    CALLS += [
        call("eigh stacks", lambda a: signed(*linalg.eigh(a)), PAIRS),
        call("eigh one of a pair", lambda a, b: signed(*linalg.eigh(a, b)), PAIRS, B),
        call("eigvalsh stacks", linalg.eigvalsh, PAIRS),
        call("svd stacks", linalg.svd, STACK),
        call("svdvals stacks", linalg.svdvals, STACK),
        call("eigvals stacks", linalg.eigvals, STACK),
    ]

WRONG = [
    ("eigh pair", "diagonal_of", lambda s: 0 * s[..., None] * np.eye(3)),
    ("eigh pair", "over_gaps", lambda x, values, used, what: -OVER_GAPS(x, values, used, what)),
    ("eigh upper", "onto_triangle", lambda h_bar, lower: h_bar),
    ("svd", "svd_cotangent", lambda u, s, vh, u_bar, s_bar, vh_bar, counted: (u * s_bar) @ vh),
    ("eigvals complex", "adjoint", lambda x: x.T),
]


def test_what_does_not_depend_on_phases():
    """Of complex vectors, of a pair of matrices as well; in both modes, and by differences."""

    def f(t):
        w, v = linalg.eigh(HERMITIAN + t * COMPLEX, COMPLEX + t * B)
        return sizes(w, v)

    step = 1e-4
    wanted = (f(0.3 + step) - f(0.3 - step)) / (2 * step)
    assert rl.gradient(f, 0.3)[0] == pytest.approx(wanted, rel=1e-6)
    assert rl.pushforward(f, 0.3)(1.0) == pytest.approx(wanted, rel=1e-6)
    second = (f(0.3 + step) - 2 * f(0.3) + f(0.3 - step)) / step**2
    twice = rl.pushforward(lambda t: rl.pushforward(f, t)(1.0), 0.3)(1.0)
    assert [rl.hessian(f, 0.3), twice] == pytest.approx([second, second], rel=1e-5)

    def part(t):
        return np.imag(linalg.eigh(HERMITIAN + t * COMPLEX)[1][2, 0])

    for ask in (lambda: rl.gradient(part, 0.3), lambda: rl.pushforward(part, 0.3)(1.0)):
        with pytest.raises(NotDifferentiableError, match="depends on the phases"):
            ask()


def test_complex_vectors_of_general_matrices_forwards():
    """Singular vectors and eigenvectors of SciPy's, where their phases do not matter."""

    def of_svd(t):
        u, s, vh = linalg.svd(COMPLEX + t * B)
        return np.real((u * np.sqrt(s)) @ vh)

    def of_eig(t):
        w, v = linalg.eig(COMPLEX @ B + t * HERMITIAN)
        return np.abs(v) * np.real(w)

    for f in (of_svd, of_eig):
        wanted = (f(0.3 + 1e-5) - f(0.3 - 1e-5)) / 2e-5
        np.testing.assert_allclose(rl.pushforward(f, 0.3)(1.0), wanted, rtol=1e-6, atol=1e-7)


def test_values_that_coincide():
    """They have a derivative, and their vectors have none."""
    np.testing.assert_allclose(rl.gradient(lambda a: np.sum(linalg.eigvalsh(a)), np.eye(2))[0], np.eye(2))
    assert np.all(rl.pushforward(linalg.eigvalsh, np.eye(2))(np.eye(2)) == 1)
    for f in (linalg.eigh, linalg.svd):
        with pytest.raises(NotDifferentiableError, match="coincide"):
            rl.gradient(lambda a, f=f: np.sum(f(a)[0] if f is linalg.svd else f(a)[1]), np.eye(2))


@pytest.mark.parametrize(
    "values",
    [linalg.eigvalsh, linalg.svdvals, lambda a: linalg.eigvals(a).real, lambda a: linalg.eigvalsh(a, B)],
)
def test_second_derivatives_of_values_that_coincide(values):
    """By slopes of 0 they are not 0."""
    at = B if values(B)[0] == pytest.approx(values(B)[-1]) else np.eye(2)
    with pytest.raises(NotDifferentiableError, match="coincide"):
        rl.hessian(lambda a: np.sum((values(a) - 1.0) ** 2), at)


@pytest.mark.parametrize("split", [linalg.eigh, linalg.eig, linalg.svd])
def test_vectors_whose_factor_is_zero(split):
    """`(v * (w - 1)) @ v.T` is `a - 1`."""

    def f(a):
        parts = split(a)
        left, values = parts[:2]
        right = parts[2] if len(parts) == 3 else None
        if split is not linalg.svd:
            left, values, right = values, left, np.linalg.inv(values)
        return np.sum(np.real((left * (values - 1.0)) @ right) * np.array([[1.0, 2.0], [0.3, -1.0]]))

    with pytest.raises(NotDifferentiableError, match="coincide"):
        rl.gradient(f, np.eye(2))


@pytest.mark.parametrize(
    "f, word",
    [
        (lambda a: linalg.eigh(a, B, type=2)[0], "type"),
        (lambda a: linalg.eigh(a, subset_by_index=[0, 1])[0], "subset_by_index"),
        (lambda a: linalg.eigvalsh(a, subset_by_value=[0, 9]), "subset_by_value"),
        (lambda a: np.abs(linalg.eig(a, B)[0]), "b="),
        (lambda a: np.abs(linalg.eig(a, left=True)[0]), "left"),
        (lambda a: np.abs(linalg.eigvals(np.eye(3), a)), "b="),
        (lambda a: linalg.eigvalsh_tridiagonal(a[0], a[1, :2], select="i", select_range=(0, 1)), "select"),
        (lambda a: linalg.svd(a[:, :2])[0], "full_matrices"),
    ],
)
def test_what_is_not_covered_is_refused(f, word):
    """In both modes, by a typed error that names it."""
    with pytest.raises(NotDifferentiableError, match=word):
        rl.gradient(lambda a: np.sum(f(a)), P)
    with pytest.raises(NotDifferentiableError, match=word):
        rl.pushforward(f, P)(P)
