"""Jobs come back at their limit with the best result they had, and leave no trace here."""

import os
import time

import pytest

from rulelab.symbolic import worker

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_the_last_result_is_returned():
    """A job may improve its answer as it goes; the last one counts."""

    def job(report):
        report("first")
        report("second")

    assert worker.run(job, 5.0) == worker.Outcome("second", False)


def test_a_job_is_cut_at_the_limit_with_what_it_had():
    """A job that hangs is killed at the limit, and what it had reported is kept."""

    def job(report):
        report("early")
        while True:
            pass

    started = time.perf_counter()
    assert worker.run(job, 0.3) == worker.Outcome("early", True)
    assert time.perf_counter() - started < 1.5


def test_memory_is_bounded():
    """A job that wants all memory fails by itself."""
    outcome = worker.run(lambda report: report(len(bytearray(8 << 30))), 10.0)
    assert outcome.result is None and "MemoryError" in (outcome.failure or "")


def test_nothing_a_job_does_is_seen_here(capfd):
    """Prints and changed globals stay in the worker."""
    seen = []

    def job(report):
        print("noise")
        seen.append(1)
        report("done")

    assert worker.run(job, 5.0).result == "done"
    assert seen == [] and capfd.readouterr().out == ""


def test_a_failing_job_says_how():
    """An error in a job is told in words."""
    assert "ZeroDivisionError" in worker.run(lambda report: 1 / 0, 5.0).failure


def test_somebody_else_may_end_a_job():
    """The last result is kept, and the reason is that it was stopped, not that the time was over."""
    asked = iter([False, False, True])

    def job(report):
        report("so far")
        time.sleep(60)

    started = time.monotonic()
    outcome = worker.run(job, 30, stop=lambda: next(asked))
    assert outcome == ("so far", True, "stopped before it was decided")
    assert time.monotonic() - started < 5
