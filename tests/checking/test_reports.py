"""Tests of what a check shows: in words, numbers and files."""

import json

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import RuleCheck, WrongRuleError, rule_check
from rulelab.checking.judgement.reports import CheckSummary, PointShown
from rulelab.checking.probing.findings import WARNING, Diagnosis, Finding
from rulelab.errors import Place

from .rules import cube, cube_rrule, forgetful_rrule, registry_with

POINT = (PointShown("given", ("2",)),)


def report(*findings, diagnoses=(), points=POINT, **more):
    return RuleCheck(
        "f", "rrule", "f_rrule", ("x",), findings=findings, diagnoses=diagnoses, points=points, **more
    )


@pytest.mark.parametrize(
    "found, verdict",
    [
        (report(), "right"),
        (report(Finding("value", "off")), "wrong"),
        (report(Finding("measurement", "no number", "inconclusive")), "inconclusive"),
        (report(Finding("a", "b", "inconclusive"), Finding("value", "off")), "wrong"),
        (report(Finding("output tangent", "all ones", WARNING)), "right"),
        (report(interrupted=True), "inconclusive"),
        (report(points=()), "inconclusive"),
    ],
)
def test_the_verdict(found, verdict):
    """Right only if all was seen, nothing was wrong, and it was not stopped."""
    assert found.verdict == verdict and bool(found) == (verdict == "right")
    assert found.sentence.startswith("f_rrule of f")


def test_the_mistake_leads():
    """It says more than what was found first."""
    place = Place("f.py", 3, 4, 9, text="    return y_bar")
    told = Diagnosis("sign", "has the wrong sign for x", "x", place, "-a\n+b", "negate it")
    text = str(report(Finding("cotangent of", "the cotangent of x is wrong"), diagnoses=(told,)))
    assert text.splitlines()[0] == "f_rrule of f is wrong: has the wrong sign for x."
    assert "do: negate it" in text and "f.py, line 3" in text and "    + b" in text


def test_both_numbers_and_the_error_bar_are_shown():
    """With the place they belong to, and the inputs."""
    found = rule_check(cube, 2.0, registry=registry_with(cube, forgetful_rrule))
    line = next(found.worst_lines())
    assert line.startswith("cotangent of x: the rule gives 12, differences ") and "±" in line


def test_a_report_is_data_too():
    """JSON that can be read again."""
    found = rule_check(cube, 2.0, registry=registry_with(cube, forgetful_rrule))
    read = json.loads(found.to_json())
    assert read["verdict"] == "wrong" and read["findings"][0]["inputs"] == [2.0]
    assert read["points"][0] == {"from": "given", "inputs": ["2"]}


def test_an_error_carries_its_report():
    """And is short: at most six lines."""
    with pytest.raises(WrongRuleError) as caught:
        rule_check(cube, 2.0, registry=registry_with(cube, forgetful_rrule)).raise_unless_right()
    assert caught.value.report.verdict == "wrong" and len(str(caught.value).splitlines()) <= 6
    assert rule_check(cube, 2.0, registry=registry_with(cube, cube_rrule)).raise_unless_right()


def test_hostile_names_are_words():
    """In every face."""
    hostile = "<img src=x onerror=alert(1)>$\\input{y}$"
    found = RuleCheck(
        hostile, "rrule", hostile, (hostile,), findings=(Finding(hostile, hostile),),
        checks=(CheckSummary(hostile, "wrong", 1, hostile),), points=(PointShown(hostile, (hostile,)),),
        notes=(hostile,), diagnoses=(Diagnosis("sign", hostile, hostile, None, hostile, hostile),),
    )  # fmt: skip
    assert "<img" not in found._repr_html_() and "\\input" not in found.to_latex()
    assert hostile[:4] in str(found)


def test_no_verdict_is_said_twice():
    """The word of the verdict comes once, whatever the reason begins with."""
    assert report(Finding("value", "wrong where x holds integers")).in_short == "wrong where x holds integers"
    assert report(Finding("value", "wrongly scaled")).in_short == "wrong: wrongly scaled"


def folded(A, B):
    return A @ B @ A.T + B[:2, :2]


def test_a_check_at_guesses_that_fail_says_what_to_give():
    """In one verdict, with the call that takes arguments."""

    def rule(A, B):
        raise ValueError("unlucky")

    found = rule_check(folded, registry=registry_with(folded, rule))
    assert found.verdict == "inconclusive" and "not judged" not in found.in_short
    assert "raises ValueError: unlucky, at arguments that were guessed" in found.in_short
    assert "give your own: rule_check(folded, A, B)" in found.in_short


def test_what_a_pullback_of_another_shape_says_is_a_sentence():
    """The words of an error of ours follow as they are: only "raises …" has a subject before it."""
    theta, others = np.array([0.1, -0.3, -2.0]), np.linspace(0.5, 2.0, 5)

    def scaled(theta, x):
        return np.exp(theta[0]) * np.sum(x * theta[1]) + theta[2]

    def rule(theta, x):
        def pullback(y_bar):
            s = np.exp(theta[0])
            theta_bar = np.array([s * np.sum(x) * theta[1], s * np.sum(x), 1.0])
            return rl.NoTangent(), theta_bar * y_bar, np.full(len(x), s * theta[1] * y_bar)

        return scaled(theta, x), pullback

    found = rule_check(scaled, theta, others, registry=registry_with(scaled, rule))
    assert "it pullback" not in str(found)
