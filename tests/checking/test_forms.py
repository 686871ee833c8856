"""Tests of symmetric arguments."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import DomainError, rule_check
from rulelab.checking.forms import conformed, forms_read, is_of_form

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()
A = np.array([[4.0, 1.0], [1.0, 3.0]])


def chol(A):
    return np.linalg.cholesky(A)


def chol_rrule(half=True, lower=False):
    def rule(A):
        L = np.linalg.cholesky(A)

        def pullback(L_bar):
            P = np.tril(L.T @ L_bar)
            if half:
                P[np.diag_indices(len(L))] /= 2
            inverse = np.linalg.inv(L)
            S = inverse.T @ P @ inverse
            S = (S + S.T) / 2
            return NO, 2 * np.tril(S) - np.diag(np.diag(S)) if lower else S

        return L, pullback

    return rule


@pytest.mark.every(8)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    "at, domain",
    [((A,), None), ((A,), "positive definite"), ((), None), ((), "positive definite")],
)
def test_cholesky_with_a_symmetric_cotangent_is_right(at, domain, lower):
    """And with one in the triangle it looks at; a wrong one is caught."""
    right, wrong = (registry_with(chol, chol_rrule(half, lower)) for half in (True, False))
    assert rule_check(chol, *at, domain=domain, registry=right).verdict == "right"
    assert rule_check(chol, *at, domain=domain, registry=wrong, depth="quick").verdict == "wrong"


def test_of_both_triangles_each_counts():
    """A function that looks at both is one of all matrices, also at a symmetric one."""

    def upper_sum(A):
        return np.sum(np.triu(A, 1)) + 2 * np.sum(np.tril(A, -1))

    def symmetric_rrule(A):
        ones = np.ones(A.shape) - np.eye(len(A))
        return upper_sum(A), lambda y_bar: (NO, 1.5 * ones * y_bar)

    registry = registry_with(upper_sum, symmetric_rrule)
    assert rule_check(upper_sum, A, registry=registry, depth="quick").verdict == "wrong"
    assert rule_check(upper_sum, A, domain="symmetric", registry=registry).verdict == "right"


def test_symmetric_forward_rules():
    """Their tangents are symmetric."""

    def quadratic(A):
        return np.sum(A * A.T)

    def quadratic_frule(dots, A):
        return quadratic(A), 2 * np.sum(A * dots[1])

    registry = registry_with(quadratic, quadratic_frule, "frule")
    assert rule_check(quadratic, A, mode="frule", domain="symmetric", registry=registry).verdict == "right"


def test_what_is_not_of_its_form_is_refused():
    """As are numbers outside an interval."""
    registry = registry_with(chol, chol_rrule())
    with pytest.raises(DomainError, match="do not lie in the domain"):
        rule_check(chol, A + np.eye(2, k=1), domain="positive definite", registry=registry)


def test_points_stay_inside():
    """What is moved is symmetric again, and positive definite where it was to be."""
    moved = conformed("positive definite", np.array([[1.0, 5.0], [-2.0, 1.0]]))
    assert is_of_form("positive definite", moved) and is_of_form(None, 3.0)
    assert not is_of_form("symmetric", np.array([[0.0, 1.0], [2.0, 0.0]]))
    z = conformed("symmetric", np.array([[1.0 + 1j, 2j], [1.0, 3.0]]))
    np.testing.assert_array_equal(z, z.conj().T)


def test_who_looks_at_one_triangle():
    """By trying it; of a matrix that is given and not symmetric nothing is said."""
    rng = np.random.default_rng(0)
    assert forms_read(chol, (A,), {}, rng, False) == {0: "positive definite"}
    assert forms_read(np.linalg.eigvalsh, (-A,), {}, rng, False) == {0: "symmetric"}
    assert forms_read(np.linalg.det, (A,), {}, rng, False) == {}
    assert forms_read(chol, (A + np.eye(2, k=1),), {}, rng, False) == {}
