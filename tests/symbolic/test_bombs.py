"""Whatever a function does, its check ends in time, says something true, and leaves nothing behind."""

import os
import time

import pytest
from bombs import BOMBS, rule_from

from rulelab.errors import RuleLabError
from rulelab.symbolic import Refuted, derive_rule, prove, scan_stability

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits of Linux")

LIMIT = 0.3
RIGHT = {name for name in BOMBS if name.startswith("a right")}
A_FEW = ("power_of_sum", "swell", "recursive", "memory_of_array", "for_ever_whatever_comes", "in_c", "leaves")


def _ended_in_time(started, limit, left):
    """With much more than was asked for, as others work here too: what is hopeless takes for ever."""
    assert time.monotonic() - started < 5 * limit + 300
    assert left() == set()


@pytest.mark.every(13)
@pytest.mark.parametrize("name", BOMBS)
def test_a_check_ends_in_time(name, left):
    """Towers, large powers, loops without end, deaf and dying programs: a verdict within the limit, no
    process left, and none of the wrong rules proved."""
    f, cotangents = BOMBS[name]
    started = time.monotonic()
    report = prove(f, rule_from(f, *cotangents), time_limit=LIMIT)
    _ended_in_time(started, LIMIT, left)
    assert name in RIGHT or report.verdict.word != "PROVED"
    assert name not in RIGHT or report.verdict.word in ("PROVED", "UNDECIDED")
    assert len(str(report)) < 5000 and len(report._repr_html_()) < 20_000


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["a right large product", "a right power of a sum", "a right tower"])
def test_large_powers_are_no_obstacle(name):
    """The 200th power of a sum is proved without being multiplied out."""
    f, cotangents = BOMBS[name]
    assert prove(f, rule_from(f, *cotangents), time_limit=20).verdict.word == "PROVED"


def test_a_refutation_is_kept_where_its_formulas_take_too_long():
    """Of a rule that is wrong I hear so, though no formula of it can be made in time."""
    f, cotangents = BOMBS["swell"]
    heard = []
    report = prove(f, rule_from(f, *cotangents), time_limit=20, heard=heard.append)
    assert isinstance(report.verdict, Refuted) and report.verdict.counterexample is not None
    assert any(isinstance(early.verdict, Refuted) for early in heard)


def test_what_is_known_is_told_before_the_end():
    """First that the samples agree, then the proof; of a wrong rule that it is refuted, then the formulas."""
    heard = []
    f, cotangents = BOMBS["a right tower"]
    report = prove(f, rule_from(f, *cotangents), time_limit=20, heard=heard.append)
    assert [r.verdict.word for r in heard[:1]] == ["UNDECIDED"] and heard[-1].verdict == report.verdict
    heard.clear()
    prove(lambda x: x * x, rule_from(lambda x: x * x, lambda b, y, x: 2 * x), heard=heard.append)
    assert [bool(r.cells) for r in heard if isinstance(r.verdict, Refuted)] == [False, True]


def test_memory_that_is_not_there_is_no_verdict_on_the_rule():
    """A function that wants more memory than a check may have is named as what stopped it."""
    f, cotangents = BOMBS["memory_of_array"]
    assert "MemoryError" in prove(f, rule_from(f, *cotangents), time_limit=10).verdict.sentence()


@pytest.mark.every(7)
@pytest.mark.parametrize("name", A_FEW)
def test_deriving_and_scanning_end_in_time(name, left):
    """The other two questions to a hopeless function end with an answer or an error of ours."""
    f, cotangents = BOMBS[name]
    for ask in (
        lambda: derive_rule(f, time_limit=LIMIT),
        lambda: scan_stability(f, rule_from(f, *cotangents), time_limit=LIMIT),
    ):
        started = time.monotonic()
        try:
            ask()
        except RuleLabError as refused:
            assert str(refused)
        _ended_in_time(started, LIMIT + 2, left)
