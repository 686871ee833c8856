"""Jobs on other processes: none is lost when one dies, none takes for ever, and the report is the same."""

from __future__ import annotations

import concurrent.futures as futures
import dataclasses
import multiprocessing
import os
import signal
from multiprocessing import connection

import pytest

from rulelab.checking.batch import spreading
from rulelab.checking.batch.jobs import module_jobs, run_job, shipped_jobs
from rulelab.checking.batch.spreading import AGAIN, ExecutorError
from rulelab.checking.many import check_all

from . import written_modules as texts

JOBS = shipped_jobs(["math.sin", "math.hypot", "np.sin", "np.hypot"])[:58:5]  # each a tenth of a second
FEW = JOBS[::3]


def spawned(workers):
    return futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def serial():
    """The reports of JOBS and of FEW, made here one after the other."""
    whole = check_all(JOBS)
    assert len(JOBS) > 9 and len(FEW) > 3
    return {JOBS: whole, FEW: dataclasses.replace(whole, outcomes=whole.outcomes[::3])}


def verdicts(report):
    return {outcome.job.label: outcome.verdict for outcome in report.outcomes}


class Inline(futures.Executor):
    """An executor that runs a job at once, and may be told what goes wrong with each submission."""

    def __init__(self, *troubles):
        self.troubles, self.submitted = list(troubles), 0

    def submit(self, function, *args):
        self.submitted += 1
        trouble = self.troubles.pop(0) if self.troubles else None
        future = futures.Future()
        if trouble is futures.CancelledError:
            future.cancel()
            future.set_running_or_notify_cancel()
        elif trouble == "refused":
            raise RuntimeError("no more")
        elif isinstance(trouble, Exception):
            future.set_exception(trouble)
        elif trouble != "never":
            future.set_result(function(*args))
        return future


@pytest.mark.slow
def test_two_processes_give_the_report_of_one(serial):
    """The same report, in the same order, whichever process was the faster."""
    assert check_all(FEW, workers=2) == serial[FEW]


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing(serial):
    """One of two processes is killed while it works: its check is made again, and the report is the same."""
    killed = []

    def kill_one(done, total):
        if done == 2:
            (*_, child) = multiprocessing.active_children()
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)

    report = check_all(FEW, workers=2, told=kill_one)
    assert killed and report == serial[FEW]


@pytest.mark.slow
def test_a_pool_of_the_caller_that_breaks_loses_nothing(serial):
    """A ProcessPoolExecutor does not recover from a death: the rest is done in new processes."""

    def kill_one(done, total):
        if done == 2 and pool._processes:
            os.kill(next(iter(pool._processes)), signal.SIGKILL)

    with spawned(2) as pool:
        report = check_all(FEW, executor=pool, told=kill_one)
    assert report == serial[FEW]


@pytest.mark.slow
def test_threads_give_the_same_report(serial):
    """Any executor will do: a pool of threads too."""
    with futures.ThreadPoolExecutor(2) as pool:
        assert check_all(FEW, executor=pool) == serial[FEW]


@pytest.mark.slow
def test_a_rule_that_kills_its_process_once_is_judged_the_second_time(write):
    """A death in the middle of a check is no verdict: the check is made again."""
    jobs = module_jobs(write("fatal_once", texts.FATAL.replace("MOST", "1")))
    report = check_all(jobs, workers=2)
    assert set(verdicts(report).values()) == {"right"}
    assert report.events == ("1 job was lost, and sent to a worker again",)


@pytest.mark.slow
def test_a_rule_that_always_kills_its_process_is_an_error_and_the_others_are_judged(write):
    """After three more tries the death is the outcome; it is never "right", and the command survives."""
    jobs = module_jobs(write("fatal", texts.FATAL.replace("MOST", "999")))
    report = check_all(jobs, workers=2)
    assert verdicts(report) == {
        "rrule of steady(x)": "right",
        "frule of steady(x)": "right",
        "frule of fatal(x: float)": "error",
    }
    (bad,) = report.with_verdict("error")
    assert bad.sentence == f"the process that made this check died, {AGAIN + 1} times"
    assert report.verdict == "inconclusive"


@pytest.mark.slow
def test_a_check_that_is_stuck_is_ended_at_its_limit(write):
    """A rule that never returns is inconclusive after its limit; the others are judged."""
    jobs = module_jobs(write("stuck", texts.STUCK))
    report = check_all(jobs, workers=2, limit=1.5)
    assert verdicts(report)["frule of stuck(x: float)"] == "inconclusive"
    (bad,) = report.with_verdict("inconclusive")
    assert bad.sentence == "it took more than 1.5 s, the limit of a check"
    assert report.events == ("1 process was ended at the time limit",)
    assert len(report.with_verdict("right")) == 2


@pytest.mark.slow
def test_lost_jobs_are_handed_to_the_same_executor_again(serial):
    """An executor that loses a job, by whatever error, gets it again."""
    executor = Inline(futures.CancelledError, OSError("connection lost"), futures.BrokenExecutor())
    report = check_all(FEW, executor=executor)
    assert report == serial[FEW] and executor.submitted == len(FEW) + 3
    assert report.events == ("3 jobs were lost, and sent to a worker again",)


@pytest.mark.parametrize(
    "trouble, words",
    [
        (futures.CancelledError, "the executor dropped this check, 4 times"),
        (OSError("no\nroute"), "the worker could not start (OSError: no route), 4 times"),
        (futures.BrokenExecutor("gone"), "the process that made this check died, 4 times"),
    ],
)
def test_a_job_that_is_always_lost_is_an_error(trouble, words):
    """What became of a lost job is said in words, and it is not right."""
    (outcome,) = check_all(FEW[:1], executor=Inline(*[trouble] * 4)).outcomes
    assert (outcome.verdict, outcome.sentence) == ("error", words)


@pytest.mark.slow
def test_an_executor_that_stops_taking_jobs_is_done_without(serial):
    """What an executor refuses in the middle is done in processes of our own."""
    report = check_all(FEW, executor=Inline(None, "refused"))
    assert report == serial[FEW]
    words = f"the executor took no more jobs: {len(FEW) - 1} were run in local processes"
    assert report.events == (words,)


@pytest.mark.slow
def test_a_silent_executor_is_given_up(monkeypatch):
    """A worker that never answers does not hold the report for ever; what was answered counts."""
    monkeypatch.setattr(spreading, "PATIENCE", 0.1)
    report = check_all(FEW, executor=Inline("never"), limit=0.5)
    first = report.outcomes[0]
    assert first.verdict == "inconclusive"
    assert first.sentence == "it took more than 0.5 s, the limit of a check, and its worker does not respond"
    assert len(report.outcomes) == len(FEW) and not report.waiting


def test_an_executor_that_is_shut_down_is_refused():
    """An executor that takes nothing at all is the caller's mistake, told in one line."""
    pool = futures.ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorError) as refused:
        check_all(FEW, executor=pool)
    assert refused.value.found == "the executor takes no jobs: cannot schedule new futures after shutdown"
    with pytest.raises(ExecutorError, match="executor= takes a concurrent.futures.Executor, not a list"):
        check_all(FEW, executor=[])


@pytest.mark.slow
def test_an_interrupt_ends_the_processes_and_keeps_what_was_done():
    """After Ctrl-C no process is left, and the report holds what was there."""

    def stop(done, total):
        if done == 4:
            raise KeyboardInterrupt

    report = check_all(JOBS, workers=2, told=stop)
    assert len(report.outcomes) == 4 and len(report.waiting) == len(JOBS) - 4
    for child in multiprocessing.active_children():
        # `is_alive` says yes of a process that the pool's own thread is just joining.
        assert connection.wait([child.sentinel], 60)


# --- a cluster ----------------------------------------------------------------------------------------------


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


def on_cluster(cluster, jobs, kill_at):
    """The report by a cluster, one of whose workers is killed after so many answers; and the pid of that."""
    from distributed import Client

    killed = []

    def kill_one(done, total):
        if done == kill_at:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with Client(cluster) as client:
        report = check_all(jobs, executor=client.get_executor(), told=kill_one)
    return report, killed


@pytest.mark.campaign
def test_a_cluster_with_a_worker_killed_gives_the_same_report(cluster):
    """On a local Dask cluster of two processes, one killed half-way, nothing is lost and nothing differs."""
    jobs = shipped_jobs()[::397]
    report, killed = on_cluster(cluster, jobs, 6)
    assert killed and report == check_all(jobs)


@pytest.mark.campaign
def test_all_shipped_rules_serial_on_processes_and_on_a_cluster(cluster):
    """Every built-in rule at every check point: the same report in one process, in two of which one is
    killed, and on a cluster of which a worker is killed.
    """
    jobs = shipped_jobs()
    serial = check_all(jobs)

    def kill_one(done, total):
        if done == 500:
            (*_, child) = multiprocessing.active_children()
            os.kill(child.pid, signal.SIGKILL)

    processes = check_all(jobs, workers=2, told=kill_one)
    report, _ = on_cluster(cluster, jobs, 500)
    print(serial.sentence, serial.seconds, processes.seconds, processes.events, report.seconds, report.events)
    assert serial == processes == report
    assert not serial.with_verdict("wrong", "error")


def test_what_a_worker_runs_is_a_name():
    """The function that travels is found by its module and name, never sent as code."""
    assert (run_job.__module__, run_job.__qualname__) == ("rulelab.checking.batch.jobs", "run_job")
