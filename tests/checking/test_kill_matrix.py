"""Wrong rules of every kind are found, and called by their mistake; right ones are left alone."""

import sys
from pathlib import Path

import pytest

from rulelab.checking import doctor
from rulelab.checking.doctor import diagnoses
from rulelab.checking.testing.testers import rule_check

sys.path.insert(0, str(Path(__file__).resolve().parent))
import wrong_rules as rules  # noqa: E402

SLICES = 6
MISSED = 2
"""Of the wrong rules of a slice, the most whose first diagnosis may not be the mistake that was made."""


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over. Corrections have tests of their own."""
    monkeypatch.setattr(doctor.Strict, "raises", True)
    monkeypatch.setattr(diagnoses, "MOST_TRIED", 1)


def report(case):
    return rule_check(case.f, *case.at, **case.options)


@pytest.mark.parametrize("number", range(SLICES))
@pytest.mark.every(7, slow=True)
def test_every_wrong_rule_is_found_and_called_by_its_name(number):
    """Whoever writes one of these mistakes is told that the rule is wrong, without saying where to look, and
    nearly always which mistake it is.
    """
    missed = []
    for case in rules.WRONG[number::SLICES]:
        found = report(case)
        assert found.verdict == "wrong", f"{case.name}: {found.sentence}"
        assert {d.mistake for d in found.diagnoses} <= set(doctor.MISTAKES), case.name  # a page of the manual
        named = found.diagnoses[0].mistake if found.diagnoses else None
        if named not in case.expected:
            missed.append((case.name, named))
    assert len(missed) <= MISSED, missed


def test_there_are_many_wrong_rules_and_many_right_ones():
    """The matrix stays as large as it was meant to be, and says nothing twice."""
    assert len(rules.WRONG) >= 100 and len(rules.RIGHT) >= 25
    assert len({case.name for case in rules.WRONG}) == len(rules.WRONG)


@pytest.mark.every(17)
@pytest.mark.parametrize("case", rules.RIGHT, ids=lambda case: case.name)
def test_right_rules_raise_no_alarm(case):
    """A right rule is never called wrong, at ties, kinks and where numbers cancel."""
    found = rule_check(case.f, *case.at, seed=0, **case.options)
    assert found.verdict == "right", found


@pytest.mark.campaign
@pytest.mark.parametrize("case", rules.RIGHT, ids=lambda case: case.name)
def test_right_rules_raise_no_alarm_from_twenty_seeds(case):
    """The same from many points."""
    for seed in range(20):
        found = rule_check(case.f, *case.at, seed=seed, **case.options)
        assert found.verdict == "right", f"seed {seed}\n{found}"
