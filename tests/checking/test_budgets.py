"""Tests of budgets of time."""

import time

from rulelab.checking.budgets import Budget, Limit


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
