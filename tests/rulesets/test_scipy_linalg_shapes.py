"""Matrices that `scipy.linalg` makes of vectors."""

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")

from library_calls import call, given  # noqa: E402
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
from rulelab.rulesets import scipy_linalg_shapes as rules  # noqa: E402

SOURCES, COMPANION = rules.sources, rules._companion_sources
A = np.array([[4.0, 0.5, -1.0], [0.25, 3.5, 0.5], [0.1, -0.75, 5.0]])
Z = A + 0.3j * A[::-1]
V, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 3.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
HERMITIAN = Z + Z.conj().T

C, R = np.array([4.0, 1.0, 0.5, -0.3]), np.array([9.0, -0.5, 0.25])

CALLS = [
    call("toeplitz", linalg.toeplitz, C),
    call("toeplitz two", linalg.toeplitz, C, R),
    call("toeplitz complex", linalg.toeplitz, C + 0.3j),
    call("toeplitz number", linalg.toeplitz, 2.0),
    call("hankel", linalg.hankel, C),
    call("hankel two", linalg.hankel, C, R + 1j),
    call("circulant", linalg.circulant, C),
    call("companion", linalg.companion, C),
    call("companion complex", linalg.companion, C + 0.3j * C[::-1]),
    call("fiedler", linalg.fiedler, C),
    call("fiedler_companion", linalg.fiedler_companion, C),
    *[
        call(f"convolution_matrix {mode}", given(linalg.convolution_matrix, n=6, mode=mode), C)
        for mode in ("full", "same", "valid")
    ],
    call("leslie", linalg.leslie, C, R),
    call("diagsvd", lambda s: linalg.diagsvd(s, 4, 6), C),
    call("block_diag", linalg.block_diag, A, V, TALL, 2.0),
    call("block_diag lists", lambda a, v: linalg.block_diag(a, [[v, 2 * v]], []), Z, 0.7),
    call("khatri_rao", linalg.khatri_rao, A, TALL.T[:, :3]),
]

WRONG = [
    ("toeplitz two", "sources", lambda make, *vectors: SOURCES(make, *vectors).T),
    ("companion", "_companion_sources", lambda make, count: COMPANION(make, count)[::-1]),
    (
        "block_diag",
        "selected",
        lambda source, *vectors: np.concatenate([[0.0], *map(np.ravel, vectors[::-1])])[source],
    ),
]


def test_no_blocks():
    """Nothing, and blocks of nothing, are what SciPy makes of them."""
    assert rl.gradient(lambda x: np.sum(linalg.block_diag()) + x, 2.0) == (1.0,)
    f = lambda x: np.sum(linalg.block_diag(np.zeros((0, 2)), x))
    np.testing.assert_array_equal(rl.gradient(f, A)[0], np.ones((3, 3)))


def test_errors_are_those_of_scipy():
    """What it does not take is not differentiated either."""
    with pytest.raises(ValueError, match="zero"):
        rl.gradient(lambda a: np.sum(linalg.companion(a)), np.array([0.0, 1.0, 2.0]))
    with pytest.raises(ValueError):
        rl.gradient(lambda f: np.sum(linalg.leslie(f, C)), C)
    with pytest.raises(NotDifferentiableError, match="axes"):
        rl.gradient(lambda c: np.sum(linalg.toeplitz(c)), np.ones((2, 3)))
