"""Tests of budgets of time."""

import os
import subprocess
import sys
import time

import pytest

from rulelab.checking.budgets import Budget, Limit, Watched


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
            watched = Watched(process.pid)
            while watched.used() < 0.3 and watched.on_the_wall() < 60:
                time.sleep(0.02)
            assert watched.running() > watched.waiting() if works else watched.running() < watched.waiting()
        finally:
            process.kill()
            process.communicate()
