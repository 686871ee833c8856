"""What is made of what was measured: verdicts, the comparison of two runs, the page of the manual."""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bytecodes  # noqa: E402
import compare  # noqa: E402
import corpus_ratios  # noqa: E402
import measuring  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import special  # noqa: E402
import systems  # noqa: E402
import workloads  # noqa: E402
from contest import HAND, PLAIN, Row, disagreement  # noqa: E402


def entry(to_plain, noise=0.0):
    seconds = to_plain * 1e-6
    return {
        "value": to_plain,
        "to_plain": to_plain,
        "seconds": seconds,
        "median_seconds": seconds * (1 + noise),
    }


def row(ours, goal=2.0, **peers):
    return {"name": "a row", "unit": "P", "goal": goal, "aim": None, "entrants": {"rulelab": ours} | peers}


def record(ours, count=100, python="3.11.7"):
    machine = {"python": python, "peers": {}}
    counts = {"a row": {"gradient": count, "plain": 10}}
    return {"machine": machine, "rows": [row(ours)], "long": [], "bytecodes": counts}


# --- verdicts ----------------------------------------------------------------------------------------------


def test_a_goal_is_reached_or_not():
    assert report.reached(row(entry(2.0))) == "yes"
    assert report.reached(row(entry(2.1))) == "no"
    assert report.reached(row({"failure": "ValueError"})) == "no"
    assert report.reached(row(entry(9.0), goal=None)) == ""


def test_who_is_faster_by_more_than_noise():
    """JAX is shown and not counted: it compiles. A peer that fails is faster than nobody."""
    peers = {"autograd": entry(1.99), "PyTorch": entry(1.8), "JAX": entry(0.1)}
    assert report.faster_peers(row(entry(2.0), **peers)) == ["PyTorch"]
    assert report.faster_peers(row(entry(2.0), tangent={"failure": "no"})) is None
    assert report.faster_peers(row({"failure": "wrong"}, mygrad=entry(900.0))) == ["mygrad"]


def test_a_row_has_values_in_its_unit():
    """Times of plain or of the hand, or what is beyond the hand."""
    plain, hand, ours = Row("c", PLAIN, [1e-6]), Row("c", HAND, [2e-6]), Row("c", "rulelab", [5e-6, 6e-6])
    values = {unit: measuring.entry(ours, plain, hand, unit)["value"] for unit in measuring.UNITS}
    assert values == pytest.approx({"P": 5.0, "G": 5.0, "H": 2.5, "µs": 5.0, "µs over H": 3.0})
    assert measuring.entry(Row("c", "x", failure="no"), plain, hand, "P") == {"failure": "no"}


def test_memory_has_its_own_row():
    timed = [{"name": "chain 1000000", "entrants": {"rulelab": {"megabytes": 80.0}, "x": {"failure": "no"}}}]
    (found,) = measuring.memory_rows(timed)
    assert found["entrants"] == {"rulelab": {"value": 80.0}, "x": {"failure": "no"}}
    assert (found["unit"], report.reached(found)) == ("MB", "no")


def test_the_table_has_every_entrant():
    """Ours first, and what fails says why."""
    text = report.table(record(entry(3.0)) | {"rows": [row(entry(3.0), mygrad={"failure": "TypeError: x"})]})
    assert "TypeError: x" in text and text.index("rulelab") < text.index("mygrad")
    assert report.wrong({"rows": [row({"failure": "no"})]}) == ["a row"]


# --- two runs ----------------------------------------------------------------------------------------------


def test_what_moved_beyond_the_noise_is_said():
    assert "slower" in compare.told(record(entry(2.0)), record(entry(3.0)))
    assert "faster" in compare.told(record(entry(3.0)), record(entry(2.0)))
    assert compare.told(record(entry(2.0)), record(entry(2.05))).startswith("Nothing")
    assert compare.told(record(entry(2.0, noise=0.3)), record(entry(2.5))).startswith("Nothing")
    assert "works, before no" in compare.told(record({"failure": "no"}), record(entry(2.0)))


def test_bytecodes_are_compared_exactly():
    """Of one version of Python, and of workloads that have stayed as they were."""
    assert "101 bytecodes, before 100" in compare.told(record(entry(2.0)), record(entry(2.0), 101))
    other = record(entry(2.0), 101, python="3.12.1")
    assert compare.told(record(entry(2.0)), other).startswith("Nothing")


def test_bytecodes_are_counted_exactly():
    """The same number each time, more for more work, and what is called counts."""

    def loop(n):
        for _ in range(n):
            pass

    counts = {n: {bytecodes.executed(lambda: loop(n)) for _ in range(3)} for n in (1, 11)}
    assert [len(found) for found in counts.values()] == [1, 1]
    assert 10 <= min(counts[11]) - min(counts[1]) <= 40
    small = workloads.WORKLOADS[:1]
    assert bytecodes.counts(small, systems.OURS.entrant) == bytecodes.counts(small, systems.OURS.entrant)
    assert sys.gettrace() is None or "coverage" in sys.modules or "pydevd" in sys.modules


# --- the page ----------------------------------------------------------------------------------------------


def test_the_page_is_that_of_the_stored_run():
    """`make bench-page` writes it anew."""
    stored = json.loads(page.STORED.read_text(encoding="utf-8"))
    assert page.PAGE.read_text(encoding="utf-8") == page.page(stored), "run `make bench-page`"


def test_the_stored_run_has_every_row():
    """A workload that is added is measured before it is committed."""
    stored = json.loads(page.STORED.read_text(encoding="utf-8"))
    names = {one["name"] for one in stored["rows"]}
    assert {problem.name for problem in measuring.problems()} <= names
    assert set(stored["bytecodes"]) == {workload.name for workload in workloads.WORKLOADS}
    assert not report.wrong(stored)


def test_the_figure_is_drawn(tmp_path):
    stored = json.loads(page.STORED.read_text(encoding="utf-8"))
    page.figure(stored, tmp_path / "speed.png")
    assert 5_000 < (tmp_path / "speed.png").stat().st_size < 200_000


# --- rows that are no workload -----------------------------------------------------------------------------


def test_our_entrants_of_special_rows_are_right():
    """A rule, what is over a rule, a Hessian."""
    for problem in special.problems():
        contest = problem.contest(True)
        wanted = contest.hand and contest.hand()
        for call in contest.entrants.values():
            gap = contest.gap(call(), call) if contest.gap else disagreement(call(), wanted)
            assert gap <= contest.tolerance, problem.name


def test_a_peer_that_is_missing_or_fails_stops_nothing():
    """One is no entrant, the other a call that fails with its words."""

    def make(name):
        if name == "missing":
            raise systems.Missing
        if name == "fails":
            raise ValueError("cannot")
        return name

    calls = systems.made({name: name for name in ("missing", "fails", "works")}, make)
    assert list(calls) == ["fails", "works"]
    with pytest.raises(ValueError, match="cannot"):
        calls["fails"]()
    with pytest.raises(systems.Missing, match="not installed"):
        systems.found("no_such_peer_of_ours")


def test_functions_are_given_to_peers_with_their_names():
    """Also the functions that they call, and those that are called inside a local function."""

    class Louder:
        @staticmethod
        def exp(x):
            return 2.0 * np.exp(x)

        def __getattr__(self, name):
            return getattr(np, name)

    other = systems.rebound(workloads.lstm, {"np": Louder()})
    assert other.__globals__["sigmoid"](0.0) == pytest.approx(1 / 3)
    assert workloads.sigmoid(0.0) == 0.5
    assert other.__code__ is workloads.lstm.__code__
    assert systems.rebound(workloads.simpson, {})(0.2, 2.5, 0.7) == workloads.simpson(0.2, 2.5, 0.7)


# --- the corpus --------------------------------------------------------------------------------------------


def test_programs_of_the_corpus_are_timed():
    """All are found by name; one that changes its arguments is none."""
    found = corpus_ratios.records(["while_halving"])
    assert [one["name"] for one in found] == ["loops.while_halving"]
    assert found[0]["to_plain"] > 0 and "while_halving" in corpus_ratios.table(found)

    def grows(xs):
        xs.append(1.0)
        return sum(xs)

    with pytest.raises(corpus_ratios.Changed):
        corpus_ratios.measured(grows, ([1.0],), {})


def test_the_summary_of_programs():
    """Short ones apart from long ones."""
    found = [
        {"name": "a", "seconds": 1e-6, "to_plain": 7.0},
        {"name": "b", "seconds": 9e-6, "to_plain": 3.0},
        {"name": "c", "seconds": 8e-6, "to_plain": 5.0},
        {"name": "d", "failure": "Changed"},
    ]
    told = corpus_ratios.summary(copy.deepcopy(found))
    assert told["5 µs and more"] == {"programs": 2, "median": 4.0, "worst": 5.0, "whose": "c"}
    assert told["shorter"]["programs"] == 1
    assert told["shorter, but for a call"]["median"] == 5.0
    lines = corpus_ratios.table(found).splitlines()
    assert "4 (6)" in lines[2] and "5 (15)" in lines[2]
    assert [line.split()[0] for line in lines if line[:2] in ("a ", "b ", "c ")] == ["a", "c", "b"]
