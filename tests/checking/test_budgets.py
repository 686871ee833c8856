"""Tests of budgets of time."""

import itertools
import os
import subprocess
import sys
import time

import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.calling.budgets import Budget, Limit, ProcessClock
from rulelab.checking.testing import checks

from .rules import registry_with


def test_work_counts_and_so_does_sleep():
    """Half of it: a function that waits must not be asked for ever."""
    budget = Budget()
    for _ in range(4):
        time.sleep(0.03)
    assert 0.04 < budget.used()
    limit, end = Limit(0.02), time.thread_time() + 0.05
    assert not limit.is_over()
    while time.thread_time() < end:
        pass
    assert limit.is_over()


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="looks into /proc")
def test_a_thread_that_others_keep_from_running_has_used_what_it_ran():
    """Beside busy processes on its one core, with short waits in between: they make it slower, not dearer."""
    core = {min(os.sched_getaffinity(0))}
    others = [subprocess.Popen([sys.executable, "-c", "while True: 1"]) for _ in range(3)]
    usual = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, core)
        for other in others:
            os.sched_setaffinity(other.pid, core)
        budget, own, clock = Budget(), time.thread_time(), time.perf_counter()
        while time.thread_time() - own < 0.1:
            time.sleep(1e-6)  # a wait by itself, and then its turn has to come
            sum(range(20_000))
        used, ran, passed = budget.used(), time.thread_time() - own, time.perf_counter() - clock
        assert passed > 1.5 * ran  # else there was no load
        assert used < ran + 0.25 * (passed - ran)
    finally:
        os.sched_setaffinity(0, usual)
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="looks into /proc")
def test_a_process_that_sleeps_waits_and_one_that_works_does_not():
    """From outside, whatever else the machine has to do."""
    sleeps, burns = "print(flush=True); import time; time.sleep(60)", "print(flush=True)\nwhile True: 1"
    for code, works in ((sleeps, False), (burns, True)):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            watched = ProcessClock(process.pid)
            while watched.used() < 0.3 and watched.on_the_wall() < 60:
                time.sleep(0.02)
            assert watched.running() > watched.waiting() if works else watched.running() < watched.waiting()
        finally:
            process.kill()
            process.communicate()


# -- what has no verdict since it takes too long, and what has one on any machine ----------------------------


def cube(x):
    return x**3


def rule_of(f, factor):
    return lambda x: (f(x), lambda y_bar: (rl.NoTangent(), factor * y_bar * x**2))


def checked_quickly(f, *args, factor=3):
    return rule_check(f, *args, depth="quick", registry=registry_with(f, rule_of(f, factor)))


def test_a_function_that_takes_milliseconds_is_checked_far_from_the_limits():
    """As solvers of equations do: a busy machine, on which they take twice as long, changes no verdict."""
    seconds = checks.QUICK_SECONDS / checks.QUICK_CALLS / 10

    def solver(x):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return x**3

    before = time.thread_time()
    assert checked_quickly(solver, 2.0).verdict == "right"
    assert time.thread_time() - before < checks.MOST_QUICK_SECONDS / 3


def test_a_quick_check_that_takes_too_long_after_all_has_no_verdict(monkeypatch):
    """At how many points it looked depends on the machine; a mistake that it saw is one all the same."""
    monkeypatch.setattr(checks, "MOST_QUICK_SECONDS", 0.0)
    found = checked_quickly(cube, 2.0)
    assert found.verdict == "inconclusive" and "a quick check took more than 0 s" in found.sentence
    assert checked_quickly(cube, 2.0, factor=2).verdict == "wrong"


@pytest.mark.parametrize("factor", [3, 2])
def test_a_search_for_arguments_that_is_cut_short_has_no_verdict(monkeypatch, factor):
    """To which kinds it came depends on the machine, and the rule may be for others."""
    ticks = itertools.count(4)  # it is over when it is asked for the second time
    monkeypatch.setattr(Limit, "used", lambda limit: next(ticks))
    found = checked_quickly(cube, factor=factor)
    assert found.verdict == "inconclusive"
    assert "the search for arguments took more than 4 s: give some" in found.sentence
    assert checked_quickly(cube, 2.0).verdict == "right"
