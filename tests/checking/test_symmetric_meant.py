"""A rule for symmetric matrices that nobody spoke of is told from one with a mistake."""

import numpy as np
import pytest

from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

SCHUR = """
def f(A, B):
    return B.T @ np.linalg.solve(A, B)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    W = np.linalg.solve(A, B)

    def back(y_bar):
        return rl.NoTangent(), -W @ y_bar @ W.T, W @ (y_bar + y_bar.T)

    return B.T @ W, back
"""


@pytest.mark.slow
def test_a_rule_for_symmetric_matrices_that_nobody_spoke_of_is_not_called_wrong():
    """It cannot be told; with the domain said it is right."""
    report = judged(SCHUR)
    assert report.verdict == "inconclusive" and "right for symmetric A" in report.sentence
    assert judged(SCHUR, domain={"A": "positive definite"}).verdict == "right"
    made = written(SCHUR)
    verdict = prove(made["f"], registry=made["registry"]).verdict
    assert verdict.word == "UNDECIDED" and "symmetric A" in verdict.sentence()


@pytest.mark.slow
@pytest.mark.diagnosed  # the one change is found by the doctor
def test_a_transposition_is_a_mistake_all_the_same():
    """One change makes the rule right for all matrices."""
    text = SCHUR.replace("B.T @", "").replace("-W @ y_bar @ W.T, W @ (y_bar + y_bar.T)", "-b @ W.T, b")
    right = text.replace("def back(y_bar):\n", "def back(y_bar):\n        b = np.linalg.solve(A.T, y_bar)\n")
    assert judged(right).verdict == "right"
    assert judged(right.replace("solve(A.T", "solve(A")).verdict == "wrong"


RICCATI = """
def f(P, A, B, R):
    BPA = B.T @ P @ A
    return A.T @ P @ A - BPA.T @ np.linalg.solve(R + B.T @ P @ B, BPA)


@rl.rrule_for(f, registry=registry)
def f_rrule(P, A, B, R):
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    C = A - B @ K

    def back(y_bar):
        twice = P @ C @ (y_bar + y_bar.T)
        return rl.NoTangent(), C @ y_bar @ C.T, twice, -twice @ K.T, K @ y_bar @ K.T

    return A.T @ P @ C, back
"""


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize(
    ("text", "verdict"), [(RICCATI, "inconclusive"), (RICCATI.replace("-twice @", "twice @"), "wrong")]
)
def test_two_of_several_square_matrices_may_be_the_symmetric_ones(text, verdict):
    """The value by the rule is another for others, too."""
    report = judged(text)
    assert report.verdict == verdict
    assert ("right for symmetric P and R" in report.sentence) == (verdict == "inconclusive")


COMPLEX_SYSTEM = """
def f(Y, s):
    "Solves Y v = s; Y and s are complex."
    return np.linalg.solve(Y, s)

@rl.rrule_for(f, registry=registry)
def f_rrule(Y, s):
    v = np.linalg.solve(Y, s)

    def f_pullback(v_bar):
        s_bar = np.linalg.solve(TRANSPOSED, v_bar)
        return rl.NoTangent(), -np.outer(s_bar, np.conj(v)), s_bar

    return v, f_pullback
"""


@pytest.mark.slow
def test_a_rule_that_is_right_for_all_real_matrices_is_not_one_for_symmetric_ones():
    """What it is wrong for are complex ones."""
    assert judged(COMPLEX_SYSTEM.replace("TRANSPOSED", "np.conj(Y).T")).verdict == "right"
    assert judged(COMPLEX_SYSTEM.replace("TRANSPOSED", "Y.T")).verdict == "wrong"


@pytest.mark.slow
def test_symmetric_matrices_that_were_given_are_meant_no_less():
    """Moved a little they are symmetric no more, and the rule is not for these; matrices that are not
    symmetric are given as they are meant, and so is a domain.
    """
    A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 2.0], [0.5, -1.0]])
    report = judged(SCHUR, A, B)
    assert report.verdict == "inconclusive" and "right for symmetric A" in report.sentence
    assert judged(SCHUR, A, B, domain={"A": "positive definite"}).verdict == "right"
    assert judged(SCHUR, A + np.array([[0.0, 0.5], [0.0, 0.0]]), B).verdict == "wrong"

ROWS = """
def f(A, B):
    return np.sum(A * B, axis=1) / np.linalg.norm(A, axis=1)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    size = np.linalg.norm(A, axis=1)
    y = np.sum(A * B, axis=1) / size

    def back(y_bar):
        w = (y_bar / size)[:, None]
        return rl.NoTangent(), w * (B - (y / size)[:, None] * A), w * A

    return y, back
"""


@pytest.mark.slow
@pytest.mark.diagnosed
def test_where_the_function_takes_others_than_square_matrices_symmetric_ones_are_not_meant():
    """It is right for symmetric ones by chance, and raises for what the function takes."""
    assert judged(ROWS).verdict == "right"
    wrong = ROWS.replace("size = np.linalg.norm(A, axis=1)", "size = np.linalg.norm(A, axis=0)")
    assert judged(wrong).verdict == "wrong"
    made = written(wrong)
    assert prove(made["f"], registry=made["registry"]).verdict.word != "PROVED"
