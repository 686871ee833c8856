"""A rule for arrays of one length that nobody spoke of is told from one with a mistake."""

import pytest

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

LIT = """
def f(normal, light):
    c = normal @ light
    return c**2 if c > 0 else 0.0 * c


@rl.rrule_for(f, registry=registry)
def f_rrule(normal, light):
    c = normal @ light

    def back(y_bar):
        if c <= 0:
            return rl.NoTangent(), np.zeros(3), np.zeros(3)
        return rl.NoTangent(), 2 * c * y_bar * light, 2 * c * y_bar * normal

    return (c**2 if c > 0 else 0.0), back
"""


def test_a_rule_that_answers_with_the_length_in_its_text_is_not_called_wrong():
    """On one side of the branch it is right for all vectors, on the other for those in space alone."""
    report = judged(LIT)
    assert report.verdict == "inconclusive" and "length 3" in report.sentence
    assert judged(LIT.replace("zeros(3)", "zeros(len(normal))")).verdict == "right"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("piece", "instead"),
    [
        ("np.zeros(3), np.zeros(3)", "np.zeros(len(light) + 1), np.zeros(3)"),
        ("y_bar * light, 2", "y_bar * light, -2"),
        ("np.zeros(3), np.zeros(3)", "np.ones(3), np.zeros(3)"),
    ],
)
def test_it_is_wrong_where_it_is_so_for_that_length_too(piece, instead):
    assert judged(LIT.replace(piece, instead)).verdict == "wrong"


def test_nor_is_it_in_a_quick_check():
    assert judged(LIT, depth="quick").verdict != "wrong"

MIRROR = """
def f(d, normal):
    return d - 2 * np.dot(d, normal) / np.dot(normal, normal) * normal


@rl.rrule_for(f, registry=registry)
def f_rrule(d, normal):
    n2 = np.dot(normal, normal)
    mirror = np.eye({}) - 2 * np.outer(normal, normal) / n2
    along = np.dot(d, normal) / n2

    def back(y_bar):
        seen = np.dot(y_bar, normal)
        pull = -2 * (along * y_bar + seen / n2 * d - 2 * along * seen / n2 * normal)
        return rl.NoTangent(), mirror @ y_bar, pull

    return mirror @ d, back
"""


def test_a_rule_that_raises_at_all_lengths_but_one_in_its_text_is_not_called_right():
    """Nobody has said that vectors in space are meant, and the function takes others."""
    report = judged(MIRROR.format(3))
    assert report.verdict == "inconclusive" and "length 3" in report.sentence
    assert judged(MIRROR.format("len(d)")).verdict == "right"
