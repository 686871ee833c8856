"""Whatever a function does, its check ends in time, says something true, and leaves nothing behind."""

import math
import os
import time

import pytest
from bombs import BOMBS, rule_from

from rulelab.errors import RuleLabError
from rulelab.symbolic import Refuted, cell_proofs, derive_rule, formulas, prove, scan_stability, worker

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


@pytest.mark.every(7, slow=True)
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


def _root_by_newton(a):
    """The root of z + exp(z) = a."""
    z = 0.5
    for _ in range(40):
        z = z - (z + math.exp(z) - a) / (1 + math.exp(z))
    return z


@pytest.mark.parametrize(
    ("slope", "word"), [(lambda b, y, a: b / (1 + math.exp(y)), "UNDECIDED"), (lambda b, y, a: b, "REFUTED")]
)
def test_what_an_iteration_comes_to_is_no_matter_of_time(slope, word):
    """Of a rule of the limit I hear at once that it agrees and is not proved, and of a wrong one that it is:
    each step stands four times in the next one, and nobody writes that out."""
    report = prove(_root_by_newton, rule_from(_root_by_newton, slope), time_limit=100)
    assert report.verdict.word == word
    assert "took more" not in str(report)
    assert word == "REFUTED" or (report.verdict.digits == 40 and "too large" in report.verdict.why)


@pytest.mark.slow
def test_formulas_are_made_once_for_what_is_shown(monkeypatch):
    """A rule that is wrong for several kinds of arguments is shown with the formulas of one, and these alone
    are made; so are those of a proof for numbers and vectors, of which one kind is shown."""
    monkeypatch.setattr(worker, "run", lambda job, limit, stop, heard: worker._run_here(job, heard))
    made = []
    monkeypatch.setattr(cell_proofs, "formula", lambda expr: made.append(expr) or formulas.formula(expr))

    def share(x, a, b):
        return x * a / (b + x)

    for wrong, word in ((2, "REFUTED"), (1, "PROVED")):
        made.clear()
        slopes = (
            lambda v, y, x, a, b: wrong * v * a * b / (b + x) ** 2,
            lambda v, y, x, a, b: v * x / (b + x),
            lambda v, y, x, a, b: -v * x * a / (b + x) ** 2,
        )
        report = prove(share, rule_from(share, *slopes))
        rows = sum(len(cell.arguments) for cell in report.cells)
        assert report.verdict.word == word and rows
        assert len(made) == (3 if word == "REFUTED" else 2) * rows


@pytest.mark.slow
def test_several_sums_of_exponentials_are_not_brought_to_one(monkeypatch):
    """SymPy is asked for the shortest form of a formula with one such divisor, or few powers in them."""
    asked = []
    simplify = formulas.sp.simplify
    monkeypatch.setattr(formulas.sp, "simplify", lambda expr: asked.append(expr) or simplify(expr))
    a, b, c, d, x, y = formulas.sp.symbols("a b c d x y")

    def bump(u):
        return formulas.sp.exp(-u) / (1 + formulas.sp.exp(-u)) ** 2

    def half(u):
        return 1 / (1 + formulas.sp.exp(u))

    few = x * bump((a - b) / c) * (x + y + a)
    assert formulas.shortest_form(few).count_ops() < few.count_ops() and asked
    formulas.shortest_form(x * (half(a - b) + half(a - c)) / (x + y + a))
    assert len(asked) == 2
    asked.clear()
    for several in (
        x * (bump((a - b) / c) + bump((a - d) / y)),
        x * formulas.sp.tanh(a + b * y) ** 2 + d * formulas.sp.tanh(x - c * y) ** 2,
    ):
        assert formulas.shortest_form(several).equals(several) and not asked
