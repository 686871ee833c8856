"""What a contest promises: no wrong gradient is timed, turns are shuffled, nobody waits for the slow."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contest import PLAIN, Contest, Row, disagreement, peak, run  # noqa: E402
from report import time_text  # noqa: E402


class FakeClock:
    """Every reading is some microsecond after the last."""

    now = 0.0

    def __call__(self):
        self.now += 2.0**-19
        return self.now


def test_a_wrong_gradient_is_not_timed():
    """An entrant that differs from the hand, or fails, gets a row that says so and no time."""

    def fails():
        raise ValueError("no")

    contest = Contest(
        "c", lambda: 1.0, lambda: (2.0,), {"right": lambda: (2.0,), "wrong": lambda: (3.0,), "fails": fails}
    )
    rows = {row.entrant: row for row in run(contest, rounds=3, least=1e-6, clock=FakeClock())}
    assert rows["wrong"].failure.startswith("WRONG") and not rows["wrong"].samples
    assert rows["fails"].failure == "ValueError: no"
    assert len(rows["right"].samples) == len(rows[PLAIN].samples) == 3


@pytest.mark.slow
def test_every_entrant_once_per_round():
    """Every entrant is called in every round, in an order that changes."""
    calls = []
    contest = Contest(
        "c", lambda: 1.0, lambda: (2.0,), {k: lambda k=k: calls.append(k) or (2.0,) for k in "abc"}
    )
    run(contest, rounds=6, least=1e-6, clock=FakeClock())
    rounds = ["".join(calls[-18:][i : i + 3]) for i in range(0, 18, 3)]
    assert all(sorted(r) == ["a", "b", "c"] for r in rounds) and len(set(rounds)) > 1


def test_disagreement():
    """A missing entry or another shape is no agreement."""
    assert disagreement((1.0, None), (1.0,)) == 0.0
    assert disagreement((np.ones(2),), (np.ones(3),)) == float("inf")
    assert disagreement((np.array([1.0, 2.1]),), (np.array([1.0, 2.0]),)) == pytest.approx(0.05)


def test_row():
    """A row gives minimum and median."""
    assert (Row("c", "e", [3.0, 1.0, 2.0]).minimum, Row("c", "e", [3.0, 1.0, 2.0]).median) == (1.0, 2.0)


@pytest.mark.slow
def test_a_slow_entrant_sits_out():
    """When its share of the time is spent it has three rounds, and the quick one has all."""
    clock = FakeClock()

    def slow():
        clock.now += 1.0
        return (2.0,)

    contest = Contest("c", lambda: 1.0, lambda: (2.0,), {"slow": slow, "quick": lambda: (2.0,)})
    rows = {row.entrant: row for row in run(contest, seconds=1.0, rounds=9, least=1e-6, clock=clock)}
    assert (len(rows["slow"].samples), len(rows["quick"].samples)) == (3, 9)


@pytest.mark.slow
def test_a_second_call_that_compiles_is_not_timed():
    """What a system does once, at its first or second call, is in no round."""
    clock, calls = FakeClock(), []

    def compiles_twice():
        calls.append(1)
        clock.now += 1.0 if len(calls) in (1, 2) else 1e-4
        return (2.0,)

    contest = Contest("c", clock, None, {"ours": compiles_twice}, gap=lambda answer, call: 0.0)
    rows = {row.entrant: row for row in run(contest, rounds=4, least=2e-4, clock=clock)}
    assert max(rows["ours"].samples) < 2e-4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_memory_at_the_peak():
    """What a call takes and gives back is seen, also the second time."""
    for _ in range(2):
        assert 30.0 < peak(lambda: np.ones(4_000_000).sum()) < 40.0
    assert peak(lambda: None) < 1.0


@pytest.mark.slow
def test_times_have_their_unit():
    assert [time_text(s) for s in (2.5, 2.5e-3, 2.5e-6, 2.5e-9)] == ["2.5 s", "2.5 ms", "2.5 µs", "2.5 ns"]
