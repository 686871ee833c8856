"""Every measurement of the bench keeps to what `rulelab.pieces` promises."""

import pytest

from rulelab.bench.duel import DuelRun, GradientDuel
from rulelab.bench.scaling import ScalingRun


def square(x):
    return x * x


@pytest.mark.parametrize(
    "make",
    [
        lambda clock: DuelRun(clock.taking(1e-4), clock.taking(1e-4), rounds=9, clock=clock),
        lambda clock: GradientDuel(square, square, (2.0,), {}, rounds=9),
        lambda clock: ScalingRun(square, square, lambda n: (float(n),), [1, 2], rounds=2),
    ],
    ids=["duel", "gradients", "scaling"],
)
def test_a_result_may_be_asked_for_at_any_moment(make, steady):
    """Before the first piece, between any two, after the last; the pieces are counted up to their total."""
    measurement = make(steady)
    assert "Nothing measured" in str(measurement.result(interrupted=True))
    last = 0
    for progress in measurement.pieces():
        assert last <= progress.done <= progress.total and progress.doing
        last = progress.done
        if progress.done % 7 == 0:
            assert measurement.result(interrupted=True)._repr_html_()
    assert last == progress.total
    assert not measurement.result().interrupted and "Nothing measured" not in str(measurement.result())
