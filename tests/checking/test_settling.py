"""Tests of what condemns no rule: numbers of signs that nobody gave."""

import numpy as np
import pytest

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

SHARED = """
def f(x, total):
    t = 0.0
    while True:
        step = (total - np.sum(x * t)) / np.sum(x)
        t = t + step
        if abs(step) < 1e-12:
            return t


@rl.rrule_for(f, registry=registry)
def f_rrule(x, total):
    whole = {whole}

    def back(y_bar):
        return rl.NoTangent(), np.full(x.shape, {factor} * y_bar * total / whole**2), y_bar / whole

    return f(x, total), back
"""


@pytest.mark.parametrize(
    ("whole", "factor", "verdict"),
    [("np.sum(x)", "-1", "right"), ("np.sum(np.abs(x))", "-1", "inconclusive"), ("np.sum(x)", "1", "wrong")],
)
def test_signs_are_compared_with_those_of_given_arrays_at_other_lengths_too(whole, factor, verdict):
    """What a loop comes to is asked for longer arrays, too, whose numbers are in no given one's place."""
    report = judged(SHARED.format(whole=whole, factor=factor), np.array([0.5, 1.0, 2.0]), 3.0)
    assert report.verdict == verdict
