"""Many checks give one report: in the order of the jobs, the same wherever they were made."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from rulelab.checking.many import ManyChecks, Outcome, WorkersError, check_all, module_jobs, shipped_jobs

from . import written_modules as texts
from .test_junit import assert_valid


def made(write, *named):
    return [job for name in named for job in module_jobs(write(f"many_{name}", getattr(texts, name.upper())))]


def with_verdicts(*verdicts):
    jobs = shipped_jobs(["np.sin"])[: len(verdicts)]
    return ManyChecks(tuple(Outcome(job, v, f"it is {v}") for job, v in zip(jobs, verdicts)), seconds=1.5)


@pytest.mark.slow
def test_the_report_of_right_rules_is_true(write):
    """All right: one sentence that counts, and a row for each check."""
    report = check_all(made(write, "right"))
    assert report and report.verdict == "right" and not report.interrupted
    assert report.sentence == "3 checks of 3 rules: all right."
    assert "rrule of cube(x: float)" in str(report) and "many_right.py, line 6" in str(report)


@pytest.mark.slow
def test_a_wrong_rule_makes_the_whole_wrong_and_comes_first(write):
    """The verdict is that of the worst rule, whose report stands above all tables."""
    report = check_all(made(write, "right", "wrong"))
    assert not report and report.verdict == "wrong"
    assert report.sentence == "4 checks of 4 rules: 1 wrong, 3 right."
    lines = str(report).splitlines()
    assert lines[1].startswith("wrong: rrule of square(x: float): square_rrule of square is wrong:")
    assert any("the rule gives" in line and "differences" in line for line in lines[2:14])


@pytest.mark.parametrize(
    "verdicts, whole",
    [
        (["right", "right"], "right"),
        (["right", "inconclusive"], "inconclusive"),
        (["right", "error"], "inconclusive"),
        (["error", "wrong", "inconclusive"], "wrong"),
        ([], "inconclusive"),
    ],
)
def test_the_verdict_of_many(verdicts, whole):
    """Wrong outweighs unknown, unknown outweighs right, and nothing at all is not right."""
    assert with_verdicts(*verdicts).verdict == whole


@pytest.mark.slow
def test_two_runs_give_equal_reports_though_their_seconds_differ(write):
    """Reports are compared by what they say; the same jobs say the same each time."""
    jobs = [*made(write, "right", "wrong"), *shipped_jobs(["math.sin"])[:2]]
    first, second = check_all(jobs), check_all(jobs)
    assert first == second and first.seconds != second.seconds
    assert first.to_json() == second.to_json()
    assert check_all(jobs[-1:]) != first


@pytest.mark.slow
def test_progress_is_told_after_each_check(write):
    """`told` hears how many of how many are done."""
    heard = []
    check_all(made(write, "right"), told=lambda *n: heard.append(n))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_an_interrupt_gives_the_report_of_what_there_is(write):
    """Ctrl-C loses nothing that was done, and a partial report is never right."""

    def stop_after_two(done, total):
        if done == 2:
            raise KeyboardInterrupt

    jobs = made(write, "right")
    report = check_all(jobs, told=stop_after_two)
    assert report.interrupted and report.verdict == "inconclusive"
    assert [o.verdict for o in report.outcomes] == ["right"] * 2 and report.waiting == (jobs[2],)
    assert report.sentence == "3 checks of 3 rules: 1 not reached, 2 right."
    assert "stopped early: 1 check not made" in str(report)
    assert ElementTree.fromstring(report.to_junit()).find(".//skipped").get("message") == "not reached"


def test_no_more_than_a_screen_of_what_is_wrong_is_told_at_length():
    """A hundred wrong rules do not scroll away the sentence: the rest is in the table."""
    report = with_verdicts(*["wrong"] * 18)
    assert len(report.page().lead) == 14 and "and 6 more that are not right" in report.page().lead[-1]
    assert len(report.page().tables[0].rows) == 18


def test_many_right_ones_are_folded():
    """Hundreds of right rules are one line in the text; in HTML they can be unfolded."""
    jobs = shipped_jobs(["np.add"])
    report = ManyChecks(tuple(Outcome(job, "right", "") for job in jobs))
    assert len(jobs) > 40 and len(str(report).splitlines()) == 3
    assert "<details>" in report._repr_html_()


@pytest.mark.slow
def test_all_faces_of_the_report(write):
    """Text, HTML without script, JSON and JUnit XML, escaped."""
    report = check_all(made(write, "right", "wrong"))
    data = json.loads(report.to_json())
    assert [o["verdict"] for o in data["outcomes"]] == ["right", "right", "right", "wrong"]
    assert data["outcomes"][3]["report"]["function"] == "square"
    assert "<script" not in report._repr_html_() and "<table>" in report._repr_html_()
    root = ElementTree.fromstring(report.to_junit())
    assert_valid(root)
    assert [c.get("classname") for c in root.iter("testcase")] == ["many_right"] * 3 + ["many_wrong"]
    assert "the rule gives" in root.find(".//failure").text


@pytest.mark.parametrize(
    "options, words",
    [
        ({"workers": 0}, "workers must be a whole number of at least 1, not 0"),
        ({"workers": 1.5}, "workers must be a whole number, not 1.5"),
        ({"limit": 0}, "limit must be a positive number of seconds, or None, not 0"),
        ({"limit": "long"}, "limit must be a positive number of seconds, or None, not 'long'"),
    ],
)
def test_wrong_numbers_are_refused(options, words):
    """A number of processes or seconds that cannot be is refused before anything runs."""
    with pytest.raises(WorkersError) as refused:
        check_all([], **options)
    assert refused.value.found == words
