"""Rules that users write for functions of SciPy, family by family: right ones are right, and of ten mistakes
in each family none gets by.

All of them, given nothing and before the prover, are `make rule-corpus`.
"""

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("scipy")

import rulelab as rl  # noqa: E402
from rulelab.symbolic import prove  # noqa: E402

from .rule_corpus.campaign import truth  # noqa: E402
from .rule_corpus.judging import arguments  # noqa: E402
from .rule_corpus.scipy_families import LEAST, RULES  # noqa: E402

FAMILIES = (
    "continuous distributions",
    "discrete distributions",
    "distributions of several variables",
    "integrals",
    "differential equations",
    "roots and optimisers",
    "linear algebra",
    "Fourier transforms",
    "signals",
    "reductions",
)
RIGHT = [rule for rule in RULES if rule.meant_right]
WRONG = [rule for rule in RULES if not rule.meant_right]


# All are asked for the verdict alone: the doctor has tests of its own.
pytestmark = pytest.mark.usefixtures("without_diagnoses")


def name_of(rule):
    return rule.name


def asked(rule, path):
    """The function of a rule, and arguments that its author means."""
    module = truth.load(rule, path)
    return getattr(module, rule.function), arguments(rule, module)


def said_of(rule, path):
    function, args = asked(rule, path)
    with np.errstate(all="ignore"):
        return rl.rule_check(function, *args)


def test_each_family_has_ten_mistakes():
    """And a right rule for each function, so that a verdict of "wrong" says something."""
    counts = Counter(rule.kind for rule in WRONG)
    assert set(counts) == set(FAMILIES) == {rule.kind for rule in RIGHT}
    assert min(counts.values()) >= LEAST, counts


@pytest.mark.every(11)
@pytest.mark.parametrize("rule", RIGHT, ids=name_of)
def test_a_right_rule_is_right(rule, tmp_path):
    """At arguments that its author means."""
    report = said_of(rule, tmp_path / "written.py")
    assert report.verdict == "right", str(report)


@pytest.mark.every(82, slow=True)
@pytest.mark.parametrize("rule", WRONG, ids=name_of)
def test_a_mistake_is_caught(rule, tmp_path):
    """A sign, a scale, a term, a transposition, limits in each other's place, a logarithm."""
    report = said_of(rule, tmp_path / "written.py")
    assert report.verdict == "wrong", str(report)


@pytest.mark.campaign
@pytest.mark.parametrize("rule", WRONG, ids=name_of)
def test_a_mistake_is_one_and_is_not_proved(rule, tmp_path):
    """Differences of the function alone say that it is wrong; the prover never says that it is right."""
    function, args = asked(rule, tmp_path / "written.py")
    assert truth.faults(rule, tmp_path / "written.py", seeds=1)
    try:
        word = prove(function, at=args).verdict.word
    except rl.RuleLabError:
        return
    assert word not in ("PROVED", "AGREES")
