"""Run a job in a forked process with limits of time and memory; it reports better and better results.

A fork avoids pickling the author's closures, and SIGKILL ends C code and big-integer loops as well. The
process leads its own process group, so that everything the job has started ends with it, and it has its own
timers, so that it ends even if its parent is gone. Its time is processor time, so that other load on the
machine does not change what it finds. Without fork, the job runs in this process and must watch the clock
itself.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import pickle
import select
import signal
import struct
import threading
import time
import warnings
from typing import Any, NamedTuple

from ..checking.calling.budgets import ProcessClock, limit_memory
from ..raised import raised_words, who_recurses

MEMORY_LIMIT = 2 << 30  # bytes, in addition to what the process has already mapped
ASK_EVERY = 0.1  # seconds between two checks whether to stop
GRACE = 2.0  # seconds after the limits at which a process ends that ignores them
WAITING = 4  # multiple of its limit for which a job may be idle, asleep or waiting
ON_THE_WALL = 12  # the same for elapsed time, more than any other load can explain


TOO_DEEP = "the formulas nest deeper than SymPy can follow, as after many steps of a loop"


class Outcome(NamedTuple):
    """The last result that the job reported (None if none), whether it was cut short, and what went wrong.

    `failure` is None if the job used up its processor time.
    """

    result: Any
    cut: bool
    failure: str | None = None


def run(job, time_limit, stop=None, heard=None):
    """Call `job(report)` in a child process; `report(result)` delivers a result that replaces the one before.

    Returns the last one as an `Outcome`; `heard(result)` is called with each as it arrives. `time_limit` is
    in processor seconds; a process that is idle for four times as long is ended, too, which counts as a
    failure. The job's output is discarded, and its changes to global state are lost. `stop()` is called ten
    times a second and says whether to end the job early; the decision may come from another thread. At
    Ctrl-C, or if `heard` or `stop` raises, the process is ended before the exception leaves this function.
    """
    if not hasattr(os, "fork"):
        return _run_here(job, heard)
    process = status = None
    try:
        with _interrupts_held():
            process = _fork(job, time_limit)
        pid, read_end = process
        outcome = _collect(pid, read_end, time_limit, stop, heard)
    finally:
        if process is not None:
            with _interrupts_held():
                status = _kill(*process)
    if outcome.failure is not _GONE:
        return outcome
    if status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _OVER:
        return outcome._replace(cut=True, failure=None)
    return outcome._replace(failure=_exit_in_words(status))


# The signals that end a process at its limit of processor time.
_OVER = {getattr(signal, name) for name in ("SIGPROF", "SIGXCPU") if hasattr(signal, name)}
_GONE = "gone"  # placeholder for a failure until the exit status is known: it ended without a final message


@contextlib.contextmanager
def _interrupts_held():
    """Delay Ctrl-C: between the fork and the `try` that ends the process, nothing would end it.

    The handler is replaced instead of blocking the signal, which would affect this thread only.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # Ctrl-C raises nothing in this thread
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(signal.SIGINT, arrived[0])


def _fork(job, time_limit):
    """(pid, the read end of the pipe) of a process that does the job."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python and JAX warn about a fork with threads: the child runs Python only, and ends in time.
        for kind in (DeprecationWarning, RuntimeWarning):
            warnings.simplefilter("ignore", kind)
        pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(job, write_end, time_limit)
    os.close(write_end)
    with contextlib.suppress(OSError):  # the child does the same; whichever comes first
        os.setpgid(pid, pid)
    return pid, read_end


def _kill(pid, read_end):
    """Kill the process and its descendants, and wait for it; returns its status."""
    os.close(read_end)
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:  # other code in this process waits for all children
        return None


def _exit_in_words(status):
    if status is not None and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.strsignal(number) or f"signal {number}"
        return f"the checking process was killed ({name.lower()})"
    return "the code ended the checking process"


class TooLong(BaseException):
    """One step of a job has used up its time. Not an `Exception`, since SymPy's heuristics swallow these."""


@contextlib.contextmanager
def at_most(seconds):
    """Context that raises `TooLong` after this much processor time; only for code that runs in a process of
    its own.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_):
        raise TooLong

    # a timer separate from that of the whole job
    before = signal.signal(signal.SIGVTALRM, over)
    started = time.process_time()
    left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if left:  # restart the timer of an enclosing step
            signal.setitimer(signal.ITIMER_VIRTUAL, max(0.01, left - (time.process_time() - started)))


def _run_here(job, heard=None):
    results = [None]

    def report(result):
        results.append(result)
        if heard is not None:
            heard(result)

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        job(report)
    return Outcome(results[-1], False)


def _child(job, write_end, time_limit):
    """Run the job in the child; never returns, since the copied interpreter must not run any exit
    handlers.
    """
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills the child
        _limit_time(time_limit)
        limit_memory(MEMORY_LIMIT)
        _disconnect_terminal(write_end)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                job(lambda result: _send(write_end, ("result", result)))
            except BaseException as failure:
                _send(write_end, ("failure", _in_words(failure)))
                raise
        _send(write_end, ("end", None))
        status = 0
    finally:
        os._exit(status)


def _in_words(failure):
    """The failure in words; a recursion error inside SymPy gets its own explanation."""
    if isinstance(failure, RecursionError) and not who_recurses(failure):
        return TOO_DEEP
    return raised_words(failure)


def _limit_time(seconds):
    """Let the process end at its processor time; a little later if its code prevents that; and much later by
    elapsed time, in case it sleeps and its parent has gone.
    """
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))
    signal.setitimer(signal.ITIMER_REAL, ON_THE_WALL * seconds + GRACE)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        at_work = math.ceil(seconds + GRACE)
        resource.setrlimit(resource.RLIMIT_CPU, (at_work, at_work))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _disconnect_terminal(write_end):
    """Discard what the job's C code prints, and disconnect the terminal."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in {0, 1, 2} - {write_end}:  # it is one of them if the parent has closed its own
            os.dup2(nowhere, standard)


def _stuck_failure(watched, time_limit):
    """What to report about a process that neither ends nor works; None for any other."""
    longest = WAITING * time_limit
    waiting = watched.waiting()
    if waiting is not None and waiting > longest:
        return f"it did nothing for more than {longest:g} s: asleep, or waiting for a lock or a device"
    if watched.on_the_wall() > (longest := ON_THE_WALL * time_limit):
        return f"it had not ended after {longest:g} s of elapsed time"
    return None


def _send(write_end, message):
    data = pickle.dumps(message)
    data = struct.pack("!Q", len(data)) + data
    while data:
        data = data[os.write(write_end, data) :]


def _collect(pid, read_end, time_limit, stop=None, heard=None):
    """Read messages until the child is done, hangs, or `stop` says so."""
    watched = ProcessClock(pid)
    buffer, result, failure = b"", None, None
    while True:
        if stop is not None and stop():
            return Outcome(result, True, "stopped before it was decided")
        if (hanging := _stuck_failure(watched, time_limit)) is not None:
            return Outcome(result, True, hanging)
        # a short wait, since an interrupt just before it does not end it
        if not select.select([read_end], [], [], ASK_EVERY)[0]:
            continue
        chunk = os.read(read_end, 1 << 16)
        if not chunk:
            return Outcome(result, False, failure or _GONE)
        buffer += chunk
        while len(buffer) >= 8 and len(buffer) >= 8 + (length := struct.unpack("!Q", buffer[:8])[0]):
            kind, value = pickle.loads(buffer[8 : 8 + length])
            buffer = buffer[8 + length :]
            if kind == "end":
                return Outcome(result, False, failure)
            if kind == "failure":
                failure = value
                continue
            result = value
            if heard is not None:
                heard(value)
