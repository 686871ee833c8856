"""Tests of rules that sum over an axis which their function does not: that is for a row beside matrices."""

import pytest

from .written_rules import judged

LAYER_NORM = """
def f(x, gamma, beta):
    mu = x.mean(axis=-1, keepdims=True)
    s = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return gamma * (x - mu) / s + beta


@rl.rrule_for(f, registry=registry)
def f_rrule(x, gamma, beta):
    mu = x.mean(axis=-1, keepdims=True)
    s = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    xhat = (x - mu) / s

    def back(dy):
        dxhat = {}
        dx = dxhat - dxhat.mean(axis=-1, keepdims=True) - xhat * np.mean(dxhat * xhat, axis=-1, keepdims=True)
        return rl.NoTangent(), dx / s, np.sum(dy * xhat, axis=0), np.sum(dy, axis=0)

    return gamma * xhat + beta, back
"""


@pytest.mark.slow
def test_a_factor_for_each_column_is_no_number():
    """As a number it could stand behind the means as well, where it is wrong for a row."""
    assert judged(LAYER_NORM.format("dy * gamma")).verdict == "right"
    report = judged(LAYER_NORM.format("dy"))
    (first, *_) = report.diagnoses
    assert report.verdict == "wrong" and first.place.text.strip() == "dxhat = dy"
    assert "+        dxhat = dy * gamma" in first.diff.splitlines()


SUMMED_LIKE = """
def f(a, b, c):
    return a * b + c


def summed_like(g, like):
    while np.ndim(g) > np.ndim(like):
        g = g.sum(axis=0)
    for i, n in enumerate(np.shape(like)):
        if n == 1:
            g = g.sum(axis=i, keepdims=True)
    return g


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, c):
    y = a * b + c

    def back(y_bar):
        whole = y_bar + np.zeros(np.shape(y))
        return rl.NoTangent(), summed_like(whole * b, a), summed_like(whole * a, b), summed_like(whole, c)

    return y, back
"""
WEIGHED = """
def f(x, w, center):
    return np.sum(w * (x - center) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, w, center):
    d = x - center

    def back(y_bar):
        g = 2 * w * d * y_bar
        return rl.NoTangent(), g, np.sum(d**2, axis=0) * y_bar, -np.sum(g, axis=0)

    return np.sum(w * d**2), back
"""
STANDARD = """
def f(x, mu, sd):
    return (x - mu) / sd


@rl.rrule_for(f, registry=registry)
def f_rrule(x, mu, sd):
    z = (x - mu) / sd

    def back(z_bar):
        return rl.NoTangent(), z_bar / sd, -np.sum(z_bar / sd, axis=0), -np.sum(z_bar * z / sd, axis=0)

    return z, back
"""
LACKING = [
    (SUMMED_LIKE, "summed_like(whole, c)", "whole"),
    (SUMMED_LIKE, "sum(axis=i", "sum(axis=0"),
    (SUMMED_LIKE, "if n == 1", "if n == 0"),
    (SUMMED_LIKE, "while np.ndim(g) > np.ndim(like)", "while np.ndim(g) > 1 > np.ndim(like)"),
    (WEIGHED, "-np.sum(g, axis=0)", "-g"),
    (STANDARD, "-np.sum(z_bar * z / sd, axis=0)", "-z_bar * z / sd"),
]


@pytest.mark.first(1)
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize("text", [SUMMED_LIKE, WEIGHED, STANDARD])
def test_a_rule_that_sums_for_each_smaller_argument_is_right(text):
    """Whatever the shapes are that it compares, or the rows that it sums for."""
    report = judged(text)
    assert report.verdict == "right", report.sentence


@pytest.mark.first(1)
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("text", "piece", "instead"), LACKING)
def test_a_sum_that_is_missing_for_one_smaller_argument_is_missed(text, piece, instead):
    """A row, a column, a matrix of one row and a number each stand once beside larger arrays."""
    assert text.count(piece) == 1
    assert judged(text.replace(piece, instead)).verdict == "wrong"


SAME_FOR_ROWS = '''
def f(x, bias, scale=1.0):
    """{}"""
    return x + scale * bias


@rl.rrule_for(f, registry=registry)
def f_rrule(x, bias, scale=1.0):
    def back(y_bar):
        rows = {}
        return rl.NoTangent(), y_bar, scale * rows, np.dot(rows, bias)

    return f(x, bias, scale), back
'''
FOR_ROWS = "x + scale * bias, the same bias for every row of x."


@pytest.mark.slow
def test_a_docstring_that_speaks_of_each_row_means_a_matrix():
    """Of a vector the sum over its one row comes to nothing. Without such words vectors may be meant."""
    right, wrong = (
        "np.sum(y_bar.reshape(-1, len(bias)), axis=0)",
        "np.sum(y_bar.reshape(len(bias), -1), axis=1)",
    )
    assert judged(SAME_FOR_ROWS.format(FOR_ROWS, right)).verdict == "right"
    assert judged(SAME_FOR_ROWS.format(FOR_ROWS, wrong)).verdict == "wrong"
    assert judged(SAME_FOR_ROWS.format("x + scale * bias.", wrong)).verdict == "right"
