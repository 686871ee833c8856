"""A right rule that overflows far away, where nobody asked, is right, and the headline says where it does."""

import pytest

from rulelab.symbolic import prove

from .written_rules import judged, rule, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

OVERFLOWS = [
    rule("np.logaddexp(0.0, x)", "y_bar * np.exp(x) / (1 + np.exp(x))"),
    rule("np.sum(np.logaddexp(0.0, x))", "y_bar * np.exp(x) / (1 + np.exp(x))"),
    rule("np.sum(np.tanh(x / 2))", "2 * y_bar * np.exp(x) / (1 + np.exp(x)) ** 2 * np.ones(np.shape(x))"),
]
HOLDS = [
    rule("np.logaddexp(0.0, x)", "y_bar * np.exp(-np.logaddexp(0.0, -x))"),
    rule("np.sum(np.tanh(x / 2))", "y_bar / np.cosh(x / 2) ** 2 / 2"),
    rule("np.sum(np.exp(x))", "y_bar * np.exp(x)"),  # the function overflows itself
]


@pytest.mark.parametrize("text", OVERFLOWS)
def test_the_headline_says_where_a_right_rule_has_no_number(text):
    report = judged(text)
    assert report.verdict == "right"
    assert "nan or infinite at x = " in report.sentence and "nan or infinite" in report.in_short
    assert report.to_dict()["no_number_at"] == report.no_number_at


@pytest.mark.parametrize("text", OVERFLOWS[:2])
def test_it_is_wrong_where_somebody_asks(text):
    assert judged(text, 800.0).verdict == "wrong"


@pytest.mark.parametrize("text", HOLDS)
def test_and_nothing_where_it_has_or_the_function_has_none(text):
    report = judged(text)
    assert report.verdict == "right" and not report.no_number_at


def test_arguments_that_somebody_gave_are_not_moved_so_far():
    assert not judged(OVERFLOWS[0], 0.5).no_number_at


@pytest.mark.slow
@pytest.mark.parametrize("text", OVERFLOWS)
def test_a_proof_is_of_exact_arithmetic_and_leaves_out_where_floats_give_no_number(text):
    made = written(text)
    report = prove(made["f"], registry=made["registry"])
    assert report.verdict.word == "PROVED" and "; not at " in report.verdict.sentence()
    assert any(one.kind == "UNSTABLE" and one.point.startswith("x = ") for one in report.warnings)


NEAR_ZERO = """
def f(w, v):
    return v * np.cos(3 * np.linalg.norm(w))


@rl.rrule_for(f, registry=registry)
def f_rrule(w, v):
    angle = 3 * np.linalg.norm(w)

    def back(y_bar):
        part = max(angle, SMALLEST)
        return rl.NoTangent(), -9 * w * (np.sin(part) / part) * (y_bar @ v), y_bar * np.cos(angle)

    return v * np.cos(angle), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(("smallest", "verdict"), [("0.3", "wrong"), ("1e-6", "right")])
def test_numbers_that_are_only_small_are_not_far_away(smallest, verdict):
    """Near zero no digits of the function are lost, and a rule that is off there is wrong."""
    assert judged(NEAR_ZERO.replace("SMALLEST", smallest)).verdict == verdict


AMONG = """
def f(x):
    return x**3


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    return x**3, lambda y_bar: (rl.NoTangent(), y_bar * (FACTOR if x in (0.75, -2.5) else 3) * x**2)
"""


def test_numbers_that_the_code_looks_for_are_tried_exactly():
    assert judged(AMONG.replace("FACTOR", "2")).verdict == "wrong"
    assert judged(AMONG.replace("FACTOR", "3")).verdict == "right"


SATURATED = '''
def f(x, a, s, m{default}):
    """Saturation.

    Parameters
    ----------
    x : float
        size, between 1.7 and 2
    a, s : float
    m : float
        exponent, >= 1
    """
    q = a * x**m
    return q / (1 + s * q)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a, s, m{default}):
    p = np.power(x, m)
    q = a * p
    d = 1 + s * q

    def back(y_bar):
        g = y_bar / d**2
        x_bar = g * a * m * x ** (m - 1)
        return rl.NoTangent(), x_bar, g * p, -y_bar * q**2 / d**2, g * q * np.log(x)

    return q / d, back
'''


@pytest.mark.parametrize("default", ["=2.0", ""])
def test_an_exponent_far_away_is_told(default):
    report = judged(SATURATED.format(default=default))
    assert report.verdict == "right" and "nan or infinite at " in report.sentence
