"""A job in a forked process with a wall and a memory limit, which hands back results as they ripen.

A fork needs no pickling of the author's closures, and SIGKILL works inside C code and big-integer loops
alike. Where there is no fork the job runs in this process and is asked to watch the clock itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import select
import signal
import struct
import threading
import time
import warnings
from typing import Any, NamedTuple

MEMORY_LIMIT = 2 << 30  # bytes on top of what the process has already mapped
ASK_EVERY = 0.1  # seconds between two questions whether to stop


class Outcome(NamedTuple):
    """The last result the job reported (None: none), and whether the limit cut it short."""

    result: Any
    cut: bool
    failure: str | None = None


def run(job, time_limit, stop=None):
    """Call `job(report)` where `report(result)` hands over a result, each better than the one before.

    Returns the last one as an `Outcome`. The job's output is swallowed and its changes to global state are
    lost. `stop()` is asked ten times a second whether somebody wants the job to end early; it may be
    answered from another thread.
    """
    if not hasattr(os, "fork"):
        return _run_here(job)
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # forking beside threads: the child runs Python only
        pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(job, write_end)
    os.close(write_end)
    try:
        return _collect(read_end, time_limit, stop)
    finally:  # also at Ctrl-C
        os.close(read_end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class TooLong(BaseException):
    """The time of one step of a job is over. Not an `Exception`, which SymPy's heuristics swallow."""


@contextlib.contextmanager
def at_most(seconds):
    """Ends what takes longer, with `TooLong`; only where the work runs in a process of its own."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _run_here(job):
    results = [None]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        job(results.append)
    return Outcome(results[-1], False)


def _child(job, write_end):
    """Never returns: the copied interpreter must not run anybody's exit handlers."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        _limit_memory()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                job(lambda result: _send(write_end, ("result", result)))
            except BaseException as failure:
                _send(write_end, ("failure", f"{type(failure).__name__}: {failure}"))
                raise
        status = 0
    finally:
        os._exit(status)


def _limit_memory():
    try:
        import resource

        with open("/proc/self/statm") as statm:
            mapped = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_LIMIT, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):  # not Linux: the wall limit remains
        pass


def _send(write_end, message):
    data = pickle.dumps(message)
    data = struct.pack("!Q", len(data)) + data
    while data:
        data = data[os.write(write_end, data) :]


def _collect(read_end, time_limit, stop=None):
    """Read messages until the child is done, the clock says stop, or somebody does."""
    deadline = time.monotonic() + time_limit
    buffer, result, failure = b"", None, None
    while True:
        left = deadline - time.monotonic()
        if stop is not None and stop():
            return Outcome(result, True, "stopped before it was decided")
        if left <= 0:
            return Outcome(result, True)
        if not select.select([read_end], [], [], left if stop is None else min(left, ASK_EVERY))[0]:
            continue
        chunk = os.read(read_end, 1 << 16)
        if not chunk:
            return Outcome(result, False, failure)
        buffer += chunk
        while len(buffer) >= 8 and len(buffer) >= 8 + (length := struct.unpack("!Q", buffer[:8])[0]):
            kind, value = pickle.loads(buffer[8 : 8 + length])
            buffer = buffer[8 + length :]
            if kind == "result":
                result = value
            else:
                failure = value
