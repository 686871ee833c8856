"""Blocks are timed on the clock that is given, and memory is what a call really holds."""

import tracemalloc

import numpy as np
import pytest

from rulelab.bench import clock as clock_module
from rulelab.bench.clock import calibrate, memory_of, seconds_per_call, seconds_without_core


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


class BusyMachine(FakeClock):
    """A wall clock on which the thread has to wait for a core now and then, as the system tells."""

    def __init__(self, after_reading=0.0):
        super().__init__()
        self.without_core, self.after_reading = 0.0, after_reading

    def wait(self, seconds):
        self.now += seconds
        self.without_core += seconds

    def waited(self):
        told = self.without_core
        self.wait(self.after_reading)
        return told


@pytest.fixture
def busy(monkeypatch):
    """Makes a busy machine, and its clock the wall's."""

    def make(**how):
        machine = BusyMachine(**how)
        monkeypatch.setattr(clock_module, "wall", machine)
        monkeypatch.setattr(clock_module, "seconds_without_core", machine.waited)
        return machine

    return make


def test_the_wait_for_a_core_is_taken_off(busy):
    """A call of 20 ms that stood in line for 40 ms takes 20 ms."""
    machine = busy()

    def call():
        machine.now += 0.02
        machine.wait(0.04)  # is to end

    assert seconds_per_call(call, 3, machine) == pytest.approx(0.02)


def test_a_wait_outside_the_block_is_not_taken_off_it(busy):
    """Held up between the reading and the block, and again after it, the block keeps its time."""
    machine = busy(after_reading=0.003)
    assert seconds_per_call(machine.taking(0.001), 1, machine) == pytest.approx(0.001)


def test_where_nobody_tells_the_wait_is_counted(busy, monkeypatch):
    """Elsewhere than on Linux a time is that of the wall."""
    machine = busy()
    monkeypatch.setattr(clock_module, "seconds_without_core", lambda: None)
    assert seconds_per_call(lambda: machine.wait(0.02), 1, machine) == pytest.approx(0.02)  # is to end


def test_the_system_is_asked_for_the_wait():
    """A number that never falls, or None where the system has no such account."""
    first, second = seconds_without_core(), seconds_without_core()
    assert (first is None and second is None) or 0.0 <= first <= second


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


def test_an_interrupt_while_memory_is_measured_leaves_no_tracing(monkeypatch):
    """Also where it comes just when tracing has begun."""
    start = tracemalloc.start

    def interrupted(*frames):
        start(*frames)
        raise KeyboardInterrupt

    monkeypatch.setattr(tracemalloc, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        memory_of(lambda: 1)
    assert not tracemalloc.is_tracing()
