"""Jobs come back at their limit with the best result they had, and leave no trace here."""

import os
import signal
import subprocess
import sys
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
    assert time.perf_counter() - started < 300


@pytest.mark.slow
def test_what_a_job_waits_is_not_counted_at_once():
    """The limit is for work: a job that waits longer than that, and then goes on, is not cut."""

    def job(report):
        time.sleep(0.8)
        report("done")

    assert worker.run(job, 0.4) == worker.Outcome("done", False)


def test_a_job_that_does_nothing_is_ended_and_told_of():
    """It does not use its time up, and waits for something that never comes."""
    outcome = worker.run(lambda report: time.sleep(600), 0.1)
    assert outcome.cut and ("did nothing" in outcome.failure or "on the wall" in outcome.failure)


def test_a_step_has_a_limit_of_its_own_in_seconds_of_the_processor():
    """A step that waits is not cut, one that works too long is, and the job goes on after it."""

    def job(report):
        with worker.at_most(0.2):
            time.sleep(0.4)
        report("waited")
        try:
            with worker.at_most(0.2):
                while True:
                    pass
        except worker.TooLong:
            report("cut")

    heard = []
    assert worker.run(job, 20.0, heard=heard.append) == worker.Outcome("cut", False)
    assert heard == ["waited", "cut"]


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
        time.sleep(600)

    started = time.monotonic()
    outcome = worker.run(job, 150, stop=lambda: next(asked))
    assert outcome == ("so far", True, "stopped before it was decided")
    assert time.monotonic() - started < 300


def test_each_result_is_heard_as_it_comes():
    """Who listens knows the first result while the job is still at work."""
    heard = []
    waits, wakes = os.pipe()

    def job(report):
        report("first")
        os.read(waits, 1)
        report("second")

    def hear(result):
        heard.append(result)
        os.write(wakes, b".")

    assert worker.run(job, 60.0, heard=hear) == worker.Outcome("second", False)
    assert heard == ["first", "second"]
    os.close(waits), os.close(wakes)


def test_a_process_that_goes_without_a_word_is_told_of():
    """A job that ends its own process, or is killed by the system, is no silence."""
    assert "ended the checking process" in worker.run(lambda report: os._exit(0), 5.0).failure
    assert "killed" in worker.run(lambda report: os.kill(os.getpid(), signal.SIGKILL), 5.0).failure
    assert worker.run(lambda report: report(1), 5.0).failure is None


@pytest.mark.slow
def test_what_a_job_has_started_ends_with_it(tmp_path):
    """Programs that a job runs do not outlive it."""
    note = tmp_path / "pid"

    def job(report):
        running = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        note.write_text(str(running.pid))
        running.wait()

    assert worker.run(job, 0.5).cut
    assert _soon(lambda: not _is_running(int(note.read_text())))


@pytest.mark.slow
def test_no_process_is_left_behind(left):
    """Neither running nor waiting to be taken leave of, however the job ended."""
    for job in (lambda report: report(1), lambda report: os._exit(3), lambda report: time.sleep(600)):
        worker.run(job, 0.2)
    assert left() == set()


def test_a_listener_that_fails_ends_the_job(left):
    """An error of whoever listens is raised, and the process is gone."""

    def heard(result):
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        worker.run(lambda report: (report(1), time.sleep(600)), 60, heard=heard)
    assert left() == set()


HANGING = """
import os, pathlib, signal, sys, time
from rulelab.symbolic import prove

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the suite runs in the background

def hangs(x):
    pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
    while True:
        try:
            time.sleep(600)
        except BaseException:
            continue

prove(hangs, lambda x: (x, None), time_limit=float(sys.argv[2]))
"""


def _checking(note, seconds):
    """A real process in the middle of a check that hangs, and the number of its worker."""
    parent = subprocess.Popen(
        [sys.executable, "-c", HANGING, str(note), str(seconds)], stderr=subprocess.PIPE, text=True
    )
    assert _soon(lambda: note.exists() and note.read_text())
    return parent, int(note.read_text())


def _soon(question, seconds=300.0):
    ends = time.monotonic() + seconds
    while not question():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def _is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks into /proc")
def test_ctrl_c_ends_a_check_at_once_and_its_process_with_it(tmp_path):
    """An interrupt of a check that hangs, and swallows every exception, is a KeyboardInterrupt right away."""
    parent, child = _checking(tmp_path / "pid", 600)
    started = time.monotonic()
    parent.send_signal(signal.SIGINT)
    _, errors = parent.communicate(timeout=300)
    assert time.monotonic() - started < 300 and "KeyboardInterrupt" in errors
    assert not _is_running(child)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks into /proc")
def test_a_worker_without_a_parent_ends_by_itself(tmp_path):
    """Where the notebook's kernel is killed in the middle of a check, the check ends at its own limit."""
    parent, child = _checking(tmp_path / "pid", 0.2)
    parent.kill()
    parent.communicate()
    assert _soon(lambda: not _is_running(child))


INTERRUPTED = """
import os, random, signal, threading, time
from rulelab.symbolic import worker

signal.signal(signal.SIGINT, signal.default_int_handler)
random.seed(1)
for _ in range(40):
    timer = threading.Timer(random.uniform(0, 0.03), os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        worker.run(lambda report: time.sleep(600), 600)
    except KeyboardInterrupt:
        pass
    timer.join()
try:
    print("left", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("none left")
"""


@pytest.mark.slow
def test_an_interrupt_at_any_moment_leaves_no_process():
    """Forty interrupts, before, during and after the fork: none is lost, and no worker is forgotten."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "none left\n", done.stderr


BESIDE_THREADS = """
import numpy as np
from rulelab.symbolic import worker
product = lambda: float((np.ones((300, 300)) @ np.ones((300, 300)))[0, 0])
print(product(), worker.run(lambda report: report(product()), 60.0), product())
"""


@pytest.mark.slow
def test_a_job_multiplies_matrices_beside_the_threads_of_blas():
    """A fork has none of them; those of this process are as they were. The suite does without: so it is
    asked in a process that has them.
    """
    threads = {f"{library}_NUM_THREADS": "2" for library in ("OPENBLAS", "OMP", "MKL")}
    done = subprocess.run(
        [sys.executable, "-c", BESIDE_THREADS], env=os.environ | threads, capture_output=True, text=True
    )
    assert done.stdout == f"300.0 {worker.Outcome(300.0, False)} 300.0\n", done.stderr


LOADED_BEFORE = """
import sys
from rulelab.symbolic import derive_rule, scan_stability, worker
class Forked(Exception):
    pass
def run(*_):
    print("scipy.special" in sys.modules)
    raise Forked
worker.run = run
for ask in (derive_rule, lambda f: scan_stability(f, lambda x: (x * x, lambda y_bar: (None, 2 * x * y_bar)))):
    sys.modules.pop("scipy.special", None)
    vars(sys.modules.get("scipy", sys)).pop("special", None)
    try:
        ask(lambda x: x * x)
    except Forked:
        pass
"""


@pytest.mark.slow
def test_what_every_worker_needs_is_loaded_before_it_is_forked():
    """SciPy's functions, which printed formulas are run with: each worker would take a third of a second."""
    pytest.importorskip("scipy.special")
    command = [sys.executable, "-c", LOADED_BEFORE]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\nTrue\n"
