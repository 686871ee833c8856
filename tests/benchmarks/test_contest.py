"""What the benchmarks promise: no wrong gradient is timed, turns are shuffled, the hand is right."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from contest import Contest, Row, disagreement, run  # noqa: E402
from corpus.harness import assert_close, finite_differences, flat  # noqa: E402


class FakeClock:
    """Every reading is one microsecond after the last."""

    now = 0.0

    def __call__(self):
        self.now += 1e-6
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
    assert len(rows["right"].samples) == len(rows["primal"].samples) == 3


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


def test_hand_gradients():
    """The hand-written gradients that the others are compared with agree with finite differences."""
    pytest.importorskip("rulelab")
    import bench_arrays
    import bench_mse
    import bench_scalar_loops as loops

    y, yh = np.random.default_rng(0).random((2, 5))
    for f, hand, args in (
        (bench_mse.mse, bench_mse.hand, (y, yh)),
        (loops.sum3, loops.sum3_hand, (y,)),
        (lambda x, r: loops.logistic(x, r, 7), lambda x, r: loops.logistic_hand(x, r, 7), (0.3, 3.2)),
        (loops.trapezoid, loops.trapezoid_hand, (0.1, 1.0, 0.7)),
        (bench_arrays.log_sum_exp, bench_arrays.log_sum_exp_hand, (y,)),
    ):
        for i, g in enumerate(hand(*args)):
            numeric, _ = finite_differences(f, args, i)
            assert_close(flat(g), numeric, 1e-8, f.__name__)
