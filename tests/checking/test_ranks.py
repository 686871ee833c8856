"""Tests of rules that tell matrices from vectors: those that are wrong for matrices alone are caught, given
nothing, and are not proved; right ones of the same form stay right.
"""

import numpy as np
import pytest

from rulelab.checking.reading.ranks import tells_matrices
from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

HALF_SQUARE = """
def f(x):
    return 0.5 * np.sum(x * x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        {}

    return f(x), back
"""

BY_RANK = {
    "by ndim": """if x.ndim == 2:
            return rl.NoTangent(), {}
        return rl.NoTangent(), y_bar * x""",
    "by a function": "return rl.NoTangent(), y_bar * x if np.ndim(x) < 2 else {}",
    "by the length of the shape": "return rl.NoTangent(), y_bar * x if len(x.shape) == 1 else {}",
    "by a name": "axes = len(np.shape(x))\n        return rl.NoTangent(), {} if 1 < axes else y_bar * x",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", BY_RANK.values(), ids=BY_RANK)
def test_a_branch_for_matrices_is_judged(text):
    right, wrong = (HALF_SQUARE.format(text.format(answer)) for answer in ("x * y_bar", "2 * y_bar * x"))
    assert judged(right).verdict == "right"
    assert judged(wrong).verdict == "wrong"
    made, spoilt = written(right), written(wrong)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "PROVED"
    assert prove(spoilt["f"], registry=spoilt["registry"]).verdict.word == "REFUTED"


COMPUTED = {
    "the larger of two": ("y_bar * x * min(1, max(x.ndim, 1))", "y_bar * x / max(x.ndim, 1)"),
    "a power": ("y_bar * x * 1 ** x.ndim", "y_bar * x * 2.0 ** (1 - x.ndim)"),
    "a factor": ("(x.ndim - x.ndim + 1) * y_bar * x", "y_bar * x / len(x.shape)"),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("answers", COMPUTED.values(), ids=COMPUTED)
def test_a_number_of_axes_that_is_computed_with_is_judged(answers):
    """A rule is right for vectors that divides by the number of axes, and wrong for matrices."""
    right, wrong = (HALF_SQUARE.format(f"return rl.NoTangent(), {answer}") for answer in answers)
    assert judged(right).verdict == "right"
    assert judged(wrong).verdict == "wrong"
    made, spoilt = written(right), written(wrong)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "PROVED"
    assert prove(spoilt["f"], registry=spoilt["registry"]).verdict.word == "REFUTED"


NUMBERS_AND_VECTORS = """
def f(x):
    return np.mean(x) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        {}
        return rl.NoTangent(), 2 * y_bar * np.mean(x) / len(x) * np.ones(np.shape(x))

    return f(x), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "line",
    [
        "if np.ndim(x) == 0:\n            return rl.NoTangent(), 2 * y_bar * x",
        "if np.ndim(x) != 1:\n            return rl.NoTangent(), 2 * y_bar * x",
        "if np.ndim(x) > 1:\n            raise ValueError('vectors alone')",
        "y_bar = np.sum(y_bar, axis=tuple(range(np.ndim(y_bar) - np.ndim(x))))",
        "pass",
    ],
)
def test_a_rule_for_numbers_and_vectors_is_not_condemned_for_matrices(line):
    """`/ len(x)` is wrong for matrices, which it does not say that it is for."""
    assert judged(NUMBERS_AND_VECTORS.format(line)).verdict == "right"


FLAT = """
def f(x):
    return {}


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        return rl.NoTangent(), {}

    return f(x), back
"""

OF_LAYOUTS = {
    "a value that is one vector": (
        "np.ravel(x) ** 2",
        "2 * x * y_bar.reshape(x.shape)",
        "2 * x * y_bar.reshape(x.shape, order='C' if x.flags.c_contiguous else 'F')",
    ),
    "a value that is one number": (
        "np.sum(np.sin(x)) ** 2",
        "2 * y_bar * np.sum(np.sin(x)) * np.cos(np.ravel(x)).reshape(x.shape)",
        "2 * y_bar * np.sum(np.sin(x)) * np.cos(np.ravel(x, order='K')).reshape(x.shape)",
    ),
}


@pytest.mark.parametrize("value, right, wrong", OF_LAYOUTS.values(), ids=OF_LAYOUTS)
def test_matrices_for_vectors_are_judged_transposed_in_memory(value, right, wrong):
    """Where the rule is right for those that are not."""
    assert judged(FLAT.format(value, right)).verdict == "right"
    report = judged(FLAT.format(value, wrong))
    assert report.verdict == "wrong" and "transposed in memory" in str(report.findings[0].probe.point.origin)


def test_what_tells_matrices_from_vectors():
    def by_both(x):
        return x if x.ndim >= 2 else x[None]

    def by_numbers(x):
        return x if np.ndim(x) else [x]  # noqa: F821

    def by_a_sum(x, y):
        return np.sum(x, axis=tuple(range(x.ndim - y.ndim)))

    def by_a_factor(x):
        axes = x.ndim
        return x / (2 * axes)

    assert tells_matrices(by_both, with_numbers=True)
    assert tells_matrices(by_a_factor, with_numbers=True)
    assert not tells_matrices(by_a_sum, with_numbers=False)
    assert not tells_matrices(by_numbers, with_numbers=False)
    assert not tells_matrices(len, with_numbers=False)

MASKED = """
def f(x, keep):
    return np.sum(np.where(keep, np.sin(x), 0.0)) / np.sum(keep)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, keep):
    def back(y_bar):
        x_bar = np.zeros({})
        x_bar.reshape(-1)[keep.reshape(-1)] = y_bar / np.sum(keep) * np.cos(x[keep])
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return f(x, keep), back
"""


@pytest.mark.slow
def test_matrices_are_tried_with_booleans_of_their_shape():
    """What is reshaped of a buffer in another layout is a copy, and nothing is written to the buffer."""
    assert judged(MASKED.format("x.shape")).verdict == "right"
    report = judged(MASKED.replace("np.zeros({})", "np.zeros_like(x, dtype=float)"))
    assert report.verdict == "wrong" and "transposed in memory" in str(report.findings[0].probe.point.origin)


@pytest.mark.first(1)
@pytest.mark.parametrize("rows", ["len(x)", "x.shape[0]"])
def test_a_rule_that_counts_rows_where_its_function_counts_elements_is_wrong(rows):
    """A matrix has more elements than rows; a function that counts rows itself is for vectors."""
    text = """
def f(x):
    return np.sum(x**2) / {}

@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    return f(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar / {})
"""
    assert judged(text.format("x.size", "x.size")).verdict == "right"
    assert judged(text.format("x.size", rows)).verdict == "wrong"
    assert judged(text.format("len(x)", rows)).verdict == "right"
