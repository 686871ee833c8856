"""A sample of the corpus of rules: one wrong rule for each kind of mistake, and some right ones.

All of it is `make rule-corpus`.
"""

import numpy as np
import pytest

import rulelab as rl

from .rule_corpus.campaign import RULES, truth

NOT_CAUGHT = "broadcast sum"  # some are: where a rule is right for arrays of one shape, these are looked at
KINDS = sorted({rule.kind for rule in RULES if not rule.meant_right} - {NOT_CAUGHT})
WRONG = [
    [rule for rule in RULES if not rule.meant_right and rule.kind == kind][7 * number % 2]
    for number, kind in enumerate(KINDS)
]
RIGHT = [rule for rule in RULES if rule.meant_right and rule.through == "rule"][::40]


def checked(rule, path):
    with np.errstate(all="ignore"):
        return rl.rule_check(getattr(truth.load(rule, path), rule.function))


@pytest.mark.every(5)
@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.name)
def test_wrong_rules_are_caught_given_nothing(rule, tmp_path):
    """Of each kind of mistake, one."""
    report = checked(rule, tmp_path / "written.py")
    assert report.verdict == "wrong", str(report)


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
