"""Wrong rules of every kind are found, and called by their mistake; right ones are left alone."""

import functools
import importlib.util
import sys
from pathlib import Path

import pytest

from rulelab.checking import corrections, doctor
from rulelab.checking.testers import rule_check

sys.path.insert(0, str(Path(__file__).resolve().parent))
import wrong_rules as rules  # noqa: E402

WAITING = {"max_counts_ties", "sort", "softmax", "two_values"}
"""Cases for checks that always look at points with ties, and at kinks by the slopes nearby."""
CHECKS_LOOK_AT_TIES = importlib.util.find_spec("rulelab.checking.checks") is not None
NAMED = 0.9
"""The part of the wrong rules of which the first diagnosis must be the right one."""


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over. Corrections have tests of their own."""
    monkeypatch.setattr(doctor.Strict, "raises", True)
    monkeypatch.setattr(corrections, "SECONDS", 0.01)


def cases(of):
    wait = pytest.mark.xfail(not CHECKS_LOOK_AT_TIES, reason="needs checks that look at ties", strict=False)
    return [pytest.param(c, marks=wait if c.name in WAITING else (), id=c.name) for c in of]


@functools.cache
def report(case):
    return rule_check(case.f, *case.at, **case.options)


@pytest.mark.parametrize("case", cases(rules.WRONG))
def test_every_wrong_rule_is_found_wrong(case):
    """Whoever writes one of these mistakes is told that the rule is wrong, without saying where to look."""
    assert report(case).verdict == "wrong", report(case).sentence


def test_there_are_many_wrong_rules_and_many_right_ones():
    """The matrix stays as large as it was meant to be, and says nothing twice."""
    assert len(rules.WRONG) >= 100 and len(rules.RIGHT) >= 25
    assert len({case.name for case in rules.WRONG}) == len(rules.WRONG)


def test_mistakes_are_called_by_their_name():
    """Of nearly all wrong rules the first diagnosis is the mistake that was made."""
    missed = [
        (case.name, [d.mistake for d in report(case).diagnoses][:1])
        for case in rules.WRONG
        if not report(case).diagnoses or report(case).diagnoses[0].mistake not in case.expected
    ]
    assert len(missed) <= (1 - NAMED) * len(rules.WRONG), missed


def test_every_diagnosis_is_in_the_list_of_mistakes():
    """A reader who looks a mistake up finds it in the manual."""
    for case in rules.WRONG:
        assert {d.mistake for d in report(case).diagnoses} <= set(doctor.MISTAKES), case.name


@pytest.mark.parametrize("case", cases(rules.RIGHT))
def test_right_rules_raise_no_alarm(case):
    """A right rule is never called wrong, at ties, kinks and where numbers cancel."""
    for seed in range(3):
        found = rule_check(case.f, *case.at, seed=seed, **case.options)
        assert found.verdict == "right", f"seed {seed}\n{found}"


@pytest.mark.campaign
@pytest.mark.parametrize("case", cases(rules.RIGHT))
def test_right_rules_raise_no_alarm_from_twenty_seeds(case):
    """The same from many points."""
    for seed in range(20):
        found = rule_check(case.f, *case.at, seed=seed, **case.options)
        assert found.verdict == "right", f"seed {seed}\n{found}"
