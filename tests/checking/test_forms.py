"""Tests of symmetric arguments."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import DomainError, rule_check
from rulelab.checking.probing.forms import conformed, forms_read, is_of_form
from rulelab.rules.registry import Registry
from rulelab.symbolic import prove

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


def log_density(K, y):
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return -0.5 * a @ a - np.sum(np.log(np.diag(L)))


def with_bars(share, factor):
    """The rule of `log_density`: `share` of the upper triangle's cotangent goes to the lower one, and the
    cotangent of K is multiplied by a factor.
    """
    twin = rl.twin(log_density, "log_density_cr")

    @rl.rrule_for(twin)
    def log_density_cr_rrule(K, y):
        inverse = np.linalg.inv(K)
        a = inverse @ y

        def back(bar):
            whole = 0.5 * (np.outer(a, a) - inverse)
            moved = share * np.triu(whole, 1)
            return NO, factor * bar * (whole - moved + moved.T), -bar * a

        return log_density(K, y), back

    return twin


@pytest.mark.first(1)
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_symmetric_matrices_are_compared_by_what_reaches_them(share):
    """The triangle in which a cotangent stands is its author's choice where the function reads one only; the
    check and the comparison say the same of such a rule, and of which matrices.
    """
    y = np.array([0.5, -1.0])
    found = rl.compare(log_density, with_bars(share, 1.0), A, y)
    assert found.agree and found.verdict.endswith("for symmetric K")
    assert "K is symmetric: a rule may divide its gradient" in str(found)
    assert "K: kept symmetric" in str(rule_check(with_bars(share, 1.0), A, y))
    assert rl.compare(log_density, with_bars(share, 1.1), A, y).word == "wrong"


def gaussian(y, K):
    """Log likelihood; K is a positive definite covariance matrix."""
    L = np.linalg.cholesky(K)
    return -0.5 * y @ np.linalg.solve(K, y) - np.sum(np.log(np.diag(L)))


def gaussian_rule(factor):
    def rule(y, K):
        inverse = np.linalg.inv(K)
        a = inverse @ y
        return gaussian(y, K), lambda bar: (NO, -bar * a, factor * bar * (np.outer(a, a) - inverse))

    return rule


@pytest.mark.parametrize("copied", [False, True])
def test_what_a_docstring_calls_symmetric_is_judged_so_wherever_it_is_given(copied):
    """Also where the function reads both triangles, once each: with arguments and without, compared and
    proved, of a copy as of the function itself.
    """
    y = np.array([0.5, -1.0])
    verdicts = {}
    for factor in (0.5, 0.7):
        registry = Registry()
        f = rl.twin(gaussian, "gaussian_cr") if copied else gaussian
        rl.rrule_for(f, registry=registry)(gaussian_rule(factor))
        checks = [rule_check(f, registry=registry), rule_check(f, y, A, registry=registry)]
        proofs = [prove(f, registry=registry), prove(f, at=(y, A), registry=registry)]
        verdicts[factor] = [check.verdict for check in checks] + [proof.verdict.word for proof in proofs]
    assert verdicts[0.5] == ["right", "right", "PROVED", "PROVED"]
    assert verdicts[0.7] == ["wrong", "wrong", "REFUTED", "REFUTED"]


def test_what_a_docstring_calls_symmetric_is_compared_so():
    twin = rl.twin(gaussian, "gaussian_cr")
    rl.rrule_for(twin)(gaussian_rule(0.5))
    found = rl.compare(gaussian, twin, np.array([0.5, -1.0]), A)
    assert found.agree and found.verdict.endswith("for symmetric K")


def test_a_matrix_that_is_read_whole_or_is_not_symmetric_is_compared_by_element():
    y = np.array([0.5, -1.0])
    skew = np.array([[4.0, 1.0], [1.001, 3.0]])
    assert rl.compare(log_density, with_bars(0.0, 1.0), skew, y).word == "wrong"

    def quadratic(K, y):
        return y @ K @ y + K[0, 1]

    twin = rl.twin(quadratic, "quadratic_cr")
    rule = lambda K, y: (  # noqa: E731
        quadratic(K, y),
        lambda b: (NO, b * (np.outer(y, y) + np.array([[0, 0.5], [0.5, 0]])), b * (K + K.T) @ y),
    )
    rl.rrule_for(twin)(rule)
    assert rl.compare(quadratic, twin, A, y).word == "wrong"
