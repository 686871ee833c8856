"""The face of a check: words carry the verdict, a diff is one, the long is folded, a screen is enough."""

import dataclasses
import re

import pytest

from rulelab.checking.judgement.report_page import changed_lines
from rulelab.checking.judgement.reports import CheckSummary, PointShown, RuleCheck
from rulelab.checking.probing.closeness import Worst
from rulelab.checking.probing.findings import UNKNOWN, WARNING, Diagnosis, Finding
from rulelab.errors import Place

PLACE = Place("rules.py", 7, 11, 12, function="mse_pullback", text="    g = 2 * (y - yh)")
DIFF = """\
--- mse_rrule
+++ mse_rrule, corrected
@@ -3,2 +3,2 @@
     def mse_pullback(out_bar):
-        g = 2 * (y - yh)
+        g = 2 * (y - yh) * out_bar
"""
DIAGNOSIS = Diagnosis(
    "ignores_cotangent", "ignores its cotangent", None, PLACE, DIFF, "multiply by <out_bar>"
)
WORST = Finding(
    "cotangent of", "the cotangent of y is wrong", argument="y", worst=Worst("y[2]", 1.5, 3.25, 3e-13, (2.0,))
)


def right(**changes):
    points = tuple(PointShown("drawn", (f"{i}.5",)) for i in range(9))
    checks = (
        CheckSummary("value", "right", 9, "as it should be"),
        CheckSummary("cotangent of y", "right", 9),
    )
    made = RuleCheck(
        "mse", "rrule", "mse_rrule", ("y",), PLACE, checks, points=points, notes=("drawn",), seconds=0.0421
    )
    return dataclasses.replace(made, **changes)


def wrong(**changes):
    checks = (
        CheckSummary("value", "right", 9),
        CheckSummary("cotangent of y", "wrong", 9, "the cotangent of y is wrong"),
    )
    return right(**{"findings": (WORST,), "diagnoses": (DIAGNOSIS,), "checks": checks, **changes})


def test_the_verdict_is_in_words():
    """Right, wrong with the mistake, neither; a stopped one says so."""
    assert right().sentence == "mse_rrule of mse is right at 9 points."
    assert wrong().sentence == "mse_rrule of mse is wrong: ignores its cotangent."
    unknown = right(findings=(Finding("measurement", "noise", UNKNOWN),))
    assert unknown.sentence == "mse_rrule of mse: cannot tell: noise."
    stopped = right(interrupted=True)
    assert stopped.sentence == "mse_rrule of mse: cannot tell: stopped after 9 points, at which it is right."
    assert not stopped and "stopped early" in str(stopped)


def test_the_verdict_in_one_line():
    """For the cell that defines a rule: with the line of the mistake, and the seconds of a right one."""
    assert right().in_short == "right at 9 points, in 42.1 ms"
    assert wrong().in_short == "wrong: ignores its cotangent (rules.py, line 7, in mse_pullback)"


def test_the_text_has_line_caret_correction_and_numbers():
    """In this order."""
    assert str(wrong()).splitlines() == [
        "mse_rrule of mse is wrong: ignores its cotangent.",
        "rules.py, line 7, in mse_pullback: g = 2 * (y - yh)",
        "                                          ^",
        "do: multiply by <out_bar>",
        "corrected, and right at every point of this check:",
        "      def mse_pullback(out_bar):",
        "    -     g = 2 * (y - yh)",
        "    +     g = 2 * (y - yh) * out_bar",
        "cotangent of y[2]: the rule gives 1.5, differences 3.25 ± 3e-13",
        "note: drawn",
        "Checks that are not right",
        "check           verdict    times    in words",
        "--------------  ---------  -------  ---------------------------",
        "cotangent of y  wrong      9        the cotangent of y is wrong",
        "2 checks at 9 points, 42.1 ms",
    ]


def test_the_text_of_a_right_rule_is_short():
    """A verdict, where it was looked, how much."""
    assert len(str(right()).splitlines()) == 3


def test_the_text_never_needs_more_than_a_screen():
    """What is left out is counted."""
    many = tuple(Finding("effects", f"does a thing {i}") for i in range(40))
    checks = tuple(CheckSummary(f"cotangent of x{i}", "wrong", 1, "wrong") for i in range(40))
    diff = DIFF + "".join(f"+        line {i}\n" for i in range(40))
    report = wrong(
        findings=(WORST, *many, Finding("effects", "slow", WARNING)),
        diagnoses=(
            dataclasses.replace(DIAGNOSIS, diff=diff),
            *[Diagnosis("sign", f"sign {i}") for i in range(9)],
        ),
        checks=checks,
    )
    lines = str(report).splitlines()
    assert len(lines) <= 32 and "and 6 more mistakes" in lines
    assert any(re.fullmatch(r"and \d+ more lines", line) for line in lines)
    assert "and 38 more findings" in str(dataclasses.replace(report, diagnoses=()))


def test_findings_that_a_mistake_explains_are_in_the_table_only():
    """Warnings are always told."""
    found = (WORST, Finding("linear", "is not linear"), Finding("output tangent", "all ones", WARNING))
    assert list(wrong(findings=found).other_findings()) == ["warning: all ones"]
    assert "found: is not linear" in str(wrong(findings=found, diagnoses=()))


def test_a_finding_is_said_once():
    """However many points it was seen at, also in a check that was stopped."""
    report = right(findings=(Finding("effects", "writes to x"), *[Finding("effects", "shares x")] * 5))
    assert str(report).count("shares x") == 1 and report.reason == "writes to x"


def test_a_diff_loses_its_headings_and_its_common_indent():
    """The lines keep their signs."""
    assert changed_lines(DIFF) == [
        "  def mse_pullback(out_bar):",
        "-     g = 2 * (y - yh)",
        "+     g = 2 * (y - yh) * out_bar",
    ]
    assert changed_lines("") == []


def test_the_page_shows_a_diff_as_one():
    """Lines that go and lines that come are marked, by a sign as well as by a colour."""
    html = wrong()._repr_html_()
    assert 'rulelab-minus">-     g = 2 * (y - yh)</span>' in html
    assert 'rulelab-plus">+     g = 2 * (y - yh) * out_bar</span>' in html
    assert "multiply by &lt;out_bar&gt;" in html and "<script" not in html
    assert "1.5" in html and "3.25 ± 3e-13" in re.sub("<[^>]*>", "", html)


@pytest.mark.parametrize(("report", "opened"), [(right(), 0), (wrong(), 0), (wrong(diagnoses=()), 1)])
def test_tables_are_folded_where_something_else_says_what_is_wrong(report, opened):
    """The checks of a wrong rule stand open where no mistake was recognised."""
    html = report._repr_html_()
    assert html.count("<details") == 2 and html.count("<details open>") == opened
    assert "Inputs of the 9 points" in html


def test_a_report_without_points_has_no_tables():
    """As of a function that cannot be measured at all."""
    report = RuleCheck("f", "rrule", "f_rrule", findings=(Finding("primal", "is random", UNKNOWN),))
    assert "<table" not in report._repr_html_() and "No point was checked" in str(report)


def test_all_faces_say_the_same():
    """Markdown and LaTeX have the mistake and the numbers, JSON every field."""
    report = wrong()
    for face in (report.to_markdown(), report.to_latex()):
        assert "ignores" in face and "3.25" in face and "corrected" in face
    data = report.to_dict()
    assert data["verdict"] == "wrong" and data["diagnoses"][0]["mistake"] == "ignores_cotangent"
    assert data["findings"][0]["worst"]["expected"] == 3.25 and data["seconds"] == 0.0421
