"""Solving and inverting with `scipy.linalg`: each structure, both triangles, stacks, short and complex
numbers.
"""

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")

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
from rulelab.errors import NotDifferentiableError  # noqa: E402

A = np.array([[4.0, 0.5, -1.0], [0.25, 3.5, 0.5], [0.1, -0.75, 5.0]])
Z = A + 0.3j * A[::-1]
V, COLUMNS = np.array([0.5, -1.0, 2.0]), np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 3.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
HERMITIAN = Z + Z.conj().T


def solve(**options):
    return lambda a, b: linalg.solve(a, b, **options)


SOLVES = [
    *[
        call(
            f"solve {kind} {lower} {transposed}",
            solve(assume_a=kind, lower=lower, transposed=transposed),
            A,
            b,
        )
        for kind in ("gen", "sym", "her", "pos")
        for lower, transposed, b in ((False, False, V), (True, True, COLUMNS))
    ],
    call("solve", linalg.solve, A, V),
    call("solve complex", linalg.solve, Z, COLUMNS),
    call("solve real by complex", linalg.solve, A, COLUMNS + 1j),
    call("solve short", linalg.solve, A.astype(np.float32), V.astype(np.float32)),
    call("solve symmetric complex", solve(assume_a="sym", lower=True), Z, V),
    call("solve hermitian complex", solve(assume_a="her"), HERMITIAN, V + 1j),
    call("solve positive complex", solve(assume_a="pos", lower=True), HERMITIAN, COLUMNS),
    call("solve strided", linalg.solve, A[::-1].T, COLUMNS[:, ::-1]),
    call("solve list", lambda b: linalg.solve([[2.0, 1.0], [0.5, 3.0]], [b, 2 * b]), 0.7),
]
TRIANGLES = [
    *[
        call(
            f"solve_triangular {trans} {lower} {unit}",
            lambda a, b, trans=trans, lower=lower, unit=unit: linalg.solve_triangular(
                a, b, trans, lower, unit
            ),
            a,
            b,
        )
        for trans, lower, unit, a, b in (
            (0, False, False, A, V),
            ("N", True, False, Z, COLUMNS),
            (1, True, True, Z, V),
            ("T", False, False, Z, COLUMNS),
            (2, True, False, Z, V),
            ("C", False, True, Z, COLUMNS),
        )
    ],
]
OTHERS = [
    call("inv", linalg.inv, A),
    call("inv complex", linalg.inv, Z),
    call("inv short", linalg.inv, A.astype(np.float32)),
    call("det", linalg.det, A),
    call("det complex", linalg.det, Z),
    call("det singular", linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]])),
    call("det list", lambda x: linalg.det([[x, 1.0], [2.0, x]]), 0.7),
    call("pinv", linalg.pinv, TALL),
    call("pinv complex", linalg.pinv, TALL.T + 0.5j),
    call("pinvh", linalg.pinvh, A),
    call("pinvh upper", lambda a: linalg.pinvh(a, lower=False), HERMITIAN),
    call("lstsq vector", lambda a, b: linalg.lstsq(a, b)[:2], TALL, TALL[:, 0] ** 2),
    call("lstsq", linalg.lstsq, TALL, TALL + 0.5),
    call("lstsq wide", lambda a, b: linalg.lstsq(a, b)[0], TALL.T, V[:2]),
    call("lstsq gelsy", lambda a, b: linalg.lstsq(a, b, lapack_driver="gelsy")[0], TALL, TALL[:, 0] ** 2),
    call("norm", linalg.norm, A),
    call("norm 1", lambda a: linalg.norm(a, 1), A),
    call("norm 2", lambda a: linalg.norm(a, 2), A),
    call("norm of rows", lambda a: linalg.norm(a, 3, axis=1, keepdims=True), A),
]


def stacked():
    """Versions that take stacks of matrices."""
    try:
        return linalg.solve(np.stack([A, A]), np.stack([COLUMNS, COLUMNS])).shape == (2, 3, 2)
    except ValueError:
        return False


if stacked():
    SOLVES += [
        call("solve stacks", linalg.solve, np.stack([A, A.T]), np.stack([COLUMNS, -COLUMNS])),
        call("solve one matrix", solve(assume_a="sym"), A, np.stack([COLUMNS, -COLUMNS])),
        call("solve one vector", linalg.solve, np.stack([A, A.T]), V),
        *[
            call(f"solve {kind}", solve(assume_a=kind), A, V)
            for kind in ("diagonal", "tridiagonal", "banded", "lower triangular", "upper triangular")
        ],
        call("solve lower transposed", solve(assume_a="lower triangular", transposed=True), A, V),
    ]
    TRIANGLES.append(call("solve_triangular stacks", linalg.solve_triangular, np.stack([A, A.T]), COLUMNS))
    OTHERS += [
        call(
            f"inv {kind} {lower}",
            lambda a, kind=kind, lower=lower: linalg.inv(a, assume_a=kind, lower=lower),
            a,
        )
        for kind, lower, a in (
            ("sym", False, Z),
            ("her", True, HERMITIAN),
            ("pos", False, HERMITIAN),
            ("upper triangular", True, A),
        )
    ]
    OTHERS += [
        call(f"{f.__name__} stacks", f, np.stack([A, A.T])) for f in (linalg.inv, linalg.det, linalg.pinv)
    ]

CALLS = [
    *SOLVES,
    *TRIANGLES,
    *OTHERS,
]

WRONG = [
    ("solve sym False False", "structured_cotangent", lambda bar, structure, lower: bar),
    ("solve pos True True", "onto_triangle", lambda h_bar, lower: h_bar),
    ("solve gen False False", "solved_against", lambda a, y_bar, *rest: linalg.solve(a, y_bar)),
    ("solve_triangular T False False", "_triangle", lambda a, lower, unit: a),
    ("pinv complex", "pinv_bar", lambda p, x, y_bar: -p.conj().T @ y_bar @ p.conj().T),
    ("inv complex", "adjoint", lambda x: x.T),
]


def test_what_is_not_read_has_no_cotangent():
    """One triangle, or the diagonal: the rest is 0."""
    (a_bar,) = rl.gradient(lambda a: np.sum(linalg.solve(a, V, assume_a="pos", lower=True)), A)
    assert a_bar[0, 1] == 0 and a_bar[1, 0] != 0
    (a_bar,) = rl.gradient(lambda a: np.sum(linalg.solve_triangular(a, V, unit_diagonal=True)), A)
    assert np.all(np.tril(a_bar) == 0) and a_bar[0, 1] != 0


@pytest.mark.parametrize(
    "f, word",
    [
        (lambda a: linalg.pinv(a, rtol=0.5), "rtol"),
        (lambda a: linalg.pinv(a, return_rank=True)[0], "return_rank"),
        (lambda a: linalg.pinvh(a, atol=0.5), "atol"),
        (lambda a: linalg.lstsq(np.ones((3, 2)) * a[0, 0], V)[0], "full rank"),
    ],
)
def test_what_is_not_covered_is_refused(f, word):
    """In both modes, by a typed error that names it."""
    with pytest.raises(NotDifferentiableError, match=word):
        rl.gradient(lambda a: np.sum(f(a)), A)
    with pytest.raises(NotDifferentiableError, match=word):
        rl.pushforward(f, A)(A)


def test_a_parameter_that_no_rule_answers_for_is_refused():
    """Never zero in silence."""
    with pytest.raises(NotDifferentiableError, match="ord"):
        rl.gradient(lambda p: linalg.norm(V, p), 3.0)


def test_without_equations():
    """A system of no equations has a gradient of no numbers."""
    a_bar, b_bar = rl.gradient(lambda a, b: np.sum(linalg.solve(a, b)), np.zeros((0, 0)), np.zeros(0))
    assert a_bar.shape == (0, 0) and b_bar.shape == (0,)
