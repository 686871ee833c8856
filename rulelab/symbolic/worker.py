"""A job in a forked process with limits of time and memory, which hands back results as they ripen.

A fork needs no pickling of the author's closures, and SIGKILL works inside C code and big-integer loops
alike. The process leads a group of its own, so that what the job has started ends with it, and it has clocks
of its own, so that it ends even where nobody is left to kill it. Its time is that of the processor, so that
other work on the machine changes nothing of what it finds. Where there is no fork the job runs in this
process and is asked to watch the clock itself.
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

from ..checking.calling.budgets import Watched, limit_memory
from ..raised import raised_words, who_recurses

MEMORY_LIMIT = 2 << 30  # bytes on top of what the process has already mapped
ASK_EVERY = 0.1  # seconds between two looks whether to stop
GRACE = 2.0  # seconds after the limits at which a process ends that has taken no notice of them
WAITING = 4  # times its limit that a job may do nothing at all, asleep or waiting
ON_THE_WALL = 12  # the same of a clock on the wall, beyond what any other work can explain


TOO_DEEP = "the formulas nest deeper than SymPy can follow, as after many steps of a loop"


class Outcome(NamedTuple):
    """The last result the job reported (None: none), whether it was cut short, and what went wrong.

    Where the job has used up its seconds of the processor nothing went wrong.
    """

    result: Any
    cut: bool
    failure: str | None = None


def run(job, time_limit, stop=None, heard=None):
    """Call `job(report)` where `report(result)` hands over a result, each better than the one before.

    Returns the last one as an `Outcome`; `heard(result)` is called with each as it comes. `time_limit` is for
    seconds of the processor; one that waits four times as long and does nothing is ended, too, and that is
    told as what went wrong. The job's output is swallowed and its changes to global state are lost. `stop()`
    is asked ten times a second whether somebody wants the job to end early; it may be answered from another
    thread. At Ctrl-C, or whatever `heard` and `stop` raise, the process is gone before the exception leaves
    here.
    """
    if not hasattr(os, "fork"):
        return _run_here(job, heard)
    process = status = None
    try:
        with _interrupts_held():
            process = _forked(job, time_limit)
        pid, read_end = process
        outcome = _collect(pid, read_end, time_limit, stop, heard)
    finally:
        if process is not None:
            with _interrupts_held():
                status = _ended(*process)
    if outcome.failure is not _GONE:
        return outcome
    if status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _OVER:
        return outcome._replace(cut=True, failure=None)
    return outcome._replace(failure=_how_it_ended(status))


# What ends a process that has used up its seconds of the processor.
_OVER = {getattr(signal, name) for name in ("SIGPROF", "SIGXCPU") if hasattr(signal, name)}
_GONE = "gone"  # instead of a failure in words until its status is known: it went without a farewell


@contextlib.contextmanager
def _interrupts_held():
    """Ctrl-C waits: between the fork and the `try` that ends the process nobody would know of it.

    The handler is exchanged and not the signal blocked, which would hold for this thread alone.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # nothing is raised here at Ctrl-C
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(signal.SIGINT, arrived[0])


def _forked(job, time_limit):
    """(pid, the end of the pipe to read from) of a process that does the job."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python and JAX warn of a fork beside threads: the child runs Python only, and is ended in time.
        for kind in (DeprecationWarning, RuntimeWarning):
            warnings.simplefilter("ignore", kind)
        pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(job, write_end, time_limit)
    os.close(write_end)
    with contextlib.suppress(OSError):  # the process does the same; whoever comes first
        os.setpgid(pid, pid)
    return pid, read_end


def _ended(pid, read_end):
    """Kill the process and what it started, and take leave of it; returns its status."""
    os.close(read_end)
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:  # somebody else in this process waits for all children
        return None


def _how_it_ended(status):
    if status is not None and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.strsignal(number) or f"signal {number}"
        return f"the checking process was killed ({name.lower()})"
    return "the code ended the checking process"


class TooLong(BaseException):
    """One step of a job has used up its time. Not an `Exception`, which SymPy's heuristics swallow."""


@contextlib.contextmanager
def at_most(seconds):
    """Ends what takes longer of the processor, with `TooLong`; only where the work runs in a process of its
    own.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_):
        raise TooLong

    # A clock of its own, beside that of the whole job.
    before = signal.signal(signal.SIGVTALRM, over)
    started = time.process_time()
    left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if left:  # the clock of a longer step around it goes on
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
    """Never returns: the copied interpreter must not run anybody's exit handlers."""
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        _limit_time(time_limit)
        limit_memory(MEMORY_LIMIT)
        _close_to_the_world(write_end)
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
    """What went wrong; of a recursion that is nobody's but SymPy's, what it is a sign of."""
    if isinstance(failure, RecursionError) and not who_recurses(failure):
        return TOO_DEEP
    return raised_words(failure)


def _limit_time(seconds):
    """The process ends at its seconds of the processor; a bit later where its code stands in the way of that;
    and long after by the clock on the wall, for one that sleeps and whose parent has gone.
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


def _close_to_the_world(write_end):
    """What the job's C code prints goes nowhere, and nothing is asked of the terminal."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in {0, 1, 2} - {write_end}:  # it is one of them where the parent has closed its own
            os.dup2(nowhere, standard)


def _hanging(watched, time_limit):
    """What is said of a process that does not end and does not work either; None of any other one."""
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
    """Read messages until the child is done, hangs, or somebody says stop."""
    watched = Watched(pid)
    buffer, result, failure = b"", None, None
    while True:
        if stop is not None and stop():
            return Outcome(result, True, "stopped before it was decided")
        if (hanging := _hanging(watched, time_limit)) is not None:
            return Outcome(result, True, hanging)
        # Never for long: an interrupt that comes just before the wait begins does not end it.
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
