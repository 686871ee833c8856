"""Lengths that a function takes by accident are not judged, and a rule that raises at a longer vector than
those that somebody tried is told from one that refuses it, and from one for a single length.
"""

import numpy as np
import pytest

from rulelab.checking.arguments.accidental_lengths import is_taken_by_accident
from rulelab.checking.probing.probes import Point

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

FADED = """
WEIGHTS = 0.5 ** np.arange(6)


def f(x):
    return sum(0.5**k * x_k**2 for k, x_k in enumerate(x))


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        return rl.NoTangent(), 2 * y_bar * 0.5 ** np.arange(len(x)) * x

    return f(x), back
"""
OF_SIX = FADED.replace("0.5 ** np.arange(len(x))", "WEIGHTS[: len(x)]")
ON_PURPOSE = OF_SIX.replace(
    "    def back", '    if len(x) > 6:\n        raise ValueError("for shapes up to (6,)")\n\n    def back'
)
OF_THREE = FADED.replace(
    "        return rl.NoTangent(), 2 * y_bar * 0.5 ** np.arange(len(x)) * x",
    """        x_bar = np.zeros(len(x))
        x_bar[:] = 2 * y_bar * np.array([1.0, 0.5, 0.25]) * x
        return rl.NoTangent(), x_bar""",
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [(FADED, "right"), (OF_SIX, "wrong"), (ON_PURPOSE, "right"), (OF_THREE, "right")],
)
def test_who_is_to_blame_for_what_a_rule_raises_at_longer_vectors(text, verdict):
    """What NumPy raises counts after several lengths at which a rule is right; its own refusal does not."""
    assert judged(text).verdict == verdict


def test_what_is_raised_at_a_length_that_the_function_does_not_read_whole_is_no_mistake():
    """Pairs: of an odd length the last number is left out, and the rule is for even ones."""
    text = """
def f(x):
    pairs = x[: len(x) // 2 * 2].reshape(-1, 2)
    return np.sum(pairs[:, 0] * pairs[:, 1])


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        return rl.NoTangent(), y_bar * x.reshape(-1, 2)[:, ::-1].ravel()

    return f(x), back
"""
    assert judged(text).verdict != "wrong"


def _scaled(x, s):
    return x[len(s) :] * np.exp(s)


@pytest.mark.parametrize(("n", "m", "is_accident"), [(4, 3, True), (4, 2, False), (8, 4, False)])
def test_a_piece_of_one_number_that_is_broadcast_is_an_accident(n, m, is_accident):
    usual = Point((np.ones(6), np.ones(3)))
    assert is_taken_by_accident(_scaled, Point((np.ones(n), np.ones(m))), usual) == is_accident


def test_a_length_of_one_that_is_given_is_none():
    """Nor is what is broadcast at the usual lengths, too."""

    def centred(x, rows):
        return x - np.mean(rows, axis=1, keepdims=True)

    one, usual = Point((np.ones(1), np.ones((3, 2)))), Point((np.ones(4), np.ones((3, 2))))
    assert not is_taken_by_accident(centred, one, usual)
    assert not is_taken_by_accident(centred, Point((np.ones(5), np.ones((2, 3)))), usual)
