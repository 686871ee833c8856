"""Blocks are timed on the clock that is given, and memory is what a call really holds."""

import numpy as np

from rulelab.bench.clock import calibrate, memory_of, seconds_per_call


class FakeClock:
    """Time that passes only when a thunk says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def taking(self, seconds):
        def thunk():
            self.now += seconds

        return thunk


def test_time_is_read_from_the_clock():
    """A call that takes a microsecond of this clock takes a microsecond."""
    clock = FakeClock()
    assert abs(seconds_per_call(clock.taking(1e-6), 100, clock) - 1e-6) < 1e-12


def test_blocks_are_long_enough_and_not_too_long():
    """Fast calls are repeated until a block lasts, slow ones are called once."""
    clock = FakeClock()
    assert calibrate(clock.taking(1.1e-5), clock, least=2e-3) == 200
    assert calibrate(clock.taking(1.0), clock) == 1


def test_a_clock_that_stands_still_ends():
    """Calibration gives up at a million calls."""
    assert calibrate(lambda: None, lambda: 0.0) == 1_000_000


def test_memory_counts_buffers_of_numpy():
    """The peak holds the arrays a call makes, also those it drops."""
    memory = memory_of(lambda: float(np.ones(100_000).sum()))
    assert 800_000 <= memory.peak_bytes < 900_000
    assert memory_of(lambda: [object() for _ in range(1000)]).kept_blocks >= 1000
