"""Time goes to the line that took it, and to the lines that called; the probes' own time is taken off."""

import pytest

from rulelab.bench.linetimes import (
    LineClock,
    ProbeCosts,
    SiteCosts,
    calibrated,
    copied_record,
    typical_costs,
    without_probes,
)


class Clock:
    """Time that passes only when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clocked():
    """A clock, and a line clock with the lines 1 and 2 of f and line 5 of g."""
    clock = Clock()
    lines = LineClock(clock)
    f, g = (lambda: None).__code__, (lambda: 0).__code__
    in_f, in_g = lines.sweep(f), lines.sweep(g)
    return clock, lines, [lines.site(in_f, 1), lines.site(in_f, 2), lines.site(in_g, 5)]


def run(clocked, *steps):
    """Seconds by path after these steps: ("enter" | "tick" | "leave", number or depth, seconds after it)."""
    clock, lines, _ = clocked
    lines.start()
    for what, number, seconds in steps:
        getattr(lines, what)(number)
        clock.now += seconds
    return {path: spent.seconds for path, spent in copied_record(lines.stop()).items()}


def test_time_belongs_to_the_line_that_was_told_last(clocked):
    """And after a call to the line that called."""
    one, two, other = clocked[2]
    steps = [("enter", one, 1.0), ("tick", two, 2.0), ("enter", other, 4.0), ("leave", 1, 8.0)]
    found = run(clocked, *steps, ("leave", 0, 16.0))
    assert found == {(): 16.0, (one,): 1.0, (two,): 10.0, (two, other): 4.0}


def test_recursion_counts_where_the_function_was_first_called(clocked):
    """However deep it goes, the lines have one account."""
    one, two, other = clocked[2]
    steps = [("enter", one, 1.0), ("tick", two, 2.0), ("enter", one, 4.0), ("tick", two, 8.0)]
    found = run(clocked, *steps, ("leave", 1, 16.0), ("leave", 0, 0.0))
    assert found == {(): 0.0, (one,): 5.0, (two,): 26.0}


def test_a_sweep_that_an_error_broke_off_is_forgotten(clocked):
    """The next `leave` goes back to its own caller."""
    one, two, other = clocked[2]
    steps = [("enter", one, 1.0), ("enter", other, 2.0), ("tick", two, 4.0), ("leave", 0, 8.0)]
    assert run(clocked, *steps)[()] == 8.0


def test_each_sweep_begins_with_nothing(clocked):
    """What an earlier one spent, or left open, is not in it."""
    one, *_ = clocked[2]
    run(clocked, ("enter", one, 1.0))
    assert run(clocked, ("enter", one, 2.0), ("leave", 0, 0.0)) == {(): 0.0, (one,): 2.0}


def test_probes_are_taken_off_and_the_rest_is_the_total():
    """A line that was told of a thousand times has a thousand probes less."""
    spent = {(): SiteCosts(0.0), (1,): SiteCosts(3.0, came=1000), (2,): SiteCosts(2.0, came=1)}
    found = without_probes(spent, 4.0 - 1e-3, ProbeCosts(1e-3, 0.0))
    assert found[(1,)] == pytest.approx(2.0, rel=1e-2) and found[(2,)] == pytest.approx(2.0, rel=1e-2)
    assert sum(found.values()) == pytest.approx(4.0 - 1e-3)


def test_a_calibration_that_is_a_little_off_is_put_right_by_the_total():
    """Runs without probes say how much all of them took; if that cannot be, the calibration stands."""
    spent = {(1,): SiteCosts(3.0, came=1000), (2,): SiteCosts(2.0)}
    assert without_probes(spent, 4.0, ProbeCosts(0.8e-3, 0.0))[(1,)] == pytest.approx(2.0)
    found = without_probes(spent, 8.0, ProbeCosts(1e-3, 0.0))
    assert found[(1,)] == pytest.approx(4.0) and sum(found.values()) == pytest.approx(8.0)


def test_no_time_is_below_zero():
    """Also where the probes seem to have taken more than there was."""
    assert without_probes({(1,): SiteCosts(1.0, came=5000)}, float("nan"), ProbeCosts(1e-3, 0.0)) == {
        (1,): 0.0
    }


def test_of_several_runs_the_least_time_and_the_usual_counts():
    """Other programs only add time."""
    runs = [{(1,): SiteCosts(seconds, came=came)} for seconds, came in ((3.0, 5), (1.0, 5), (2.0, 6))]
    found = typical_costs(runs)[(1,)]
    assert (found.seconds, found.came) == (1.0, 5)


def test_probes_cost_what_a_clock_and_a_call_cost():
    """Some tens of nanoseconds to a few microseconds on any machine; nothing on a clock that stands."""
    costs = calibrated()
    assert 1e-8 < costs.line < 2e-5 and 1e-8 < costs.call < 2e-5
    assert calibrated(Clock()) == ProbeCosts(0.0, 0.0)
