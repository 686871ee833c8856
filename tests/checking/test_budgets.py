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
