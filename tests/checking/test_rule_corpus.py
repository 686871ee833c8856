"""A sample of the corpus of rules: one wrong rule for each kind of mistake, and some right ones.

All of it is `make rule-corpus`.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.symbolic import prove, scan_stability
from rulelab.verdicts import HEADLINE

from .rule_corpus.campaign import RULES, truth

NOT_CAUGHT = "broadcast sum"  # some are: where a rule is right for arrays of one shape, these are looked at
KINDS = sorted({rule.kind for rule in RULES if not rule.meant_right} - {NOT_CAUGHT})
WRONG = [
    [rule for rule in RULES if not rule.meant_right and rule.kind == kind][7 * number % 2]
    for number, kind in enumerate(KINDS)
]
RIGHT = [rule for rule in RULES if rule.meant_right and rule.through == "rule"][::40]


# The doctor has tests of its own.
pytestmark = pytest.mark.usefixtures("without_diagnoses")


def checked(rule, path):
    with np.errstate(all="ignore"):
        return rl.rule_check(getattr(truth.load(rule, path), rule.function))


@pytest.mark.every(23)
@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.name)
def test_wrong_rules_are_caught_given_nothing(rule, tmp_path):
    """Of each kind of mistake, one."""
    report = checked(rule, tmp_path / "written.py")
    assert report.verdict == "wrong", str(report)


@pytest.mark.every(2)
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_right_rules_are_right_given_nothing(rule, tmp_path):
    """Of numbers, arrays, matrices, objects."""
    report = checked(rule, tmp_path / "written.py")
    assert report.verdict == "right", str(report)


@pytest.mark.parametrize("rule", [RIGHT[0], WRONG[0], WRONG[-1]], ids=lambda rule: rule.name)
def test_the_truth_is_what_the_author_meant(rule, tmp_path):
    """By differences alone."""
    faults = truth.faults(rule, tmp_path / "written.py", seeds=1)
    assert faults.points and bool(faults) != rule.meant_right, faults.why


@pytest.mark.every(83)
@pytest.mark.parametrize("rule", [r for r in RULES if r.through == "rule"][::10], ids=lambda rule: rule.name)
def test_what_is_said_of_a_rule_begins_with_a_line(rule, tmp_path):
    """By a check, a proof and a scan, of right rules and wrong ones."""
    function = getattr(truth.load(rule, tmp_path / "written.py"), rule.function)
    for ask in (lambda f: rl.rule_check(f, depth="quick"), prove, scan_stability):
        try:
            with np.errstate(all="ignore"):
                said = str(ask(function))
        except RuleLabError:  # no arguments are found, or there is nothing to scan
            continue
        assert len(said.splitlines()[0]) <= HEADLINE, said
