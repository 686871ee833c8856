"""Run many jobs in many processes: no job is lost when a process dies, and none runs for ever."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import RuleLabError, an
from ..calling.budgets import ProcessClock
from .jobs import ERROR, UNKNOWN, Job, over_limit_message, run_job

AGAIN = 3
"""How many times a job is run again after its process died, before that is reported as its outcome."""
PATIENCE = 30.0
"""Seconds beyond the limit of a job for which an executor may return nothing at all."""

_GLANCE = 0.25  # seconds between two checks of the time

Settle = Callable[[int, dict[str, Any]], None]


class ExecutorError(RuleLabError):
    """An executor that takes no jobs."""


def _counted(number: int, one: str, several: str, what: str) -> tuple[str, ...]:
    return (f"{number} {one if number == 1 else several} {what}",) if number else ()


@dataclass
class Events:
    """What happened on the way and is not part of the result: jobs run again, processes ended."""

    again: int = 0
    late: int = 0
    words: list[str] = field(default_factory=list)

    def lines(self) -> tuple[str, ...]:
        """The events in words; nothing for those that did not happen."""
        again = _counted(self.again, "job was", "jobs were", "lost, and sent to a worker again")
        late = _counted(self.late, "process was", "processes were", "ended at the time limit")
        return (*again, *late, *self.words)


# --- processes of our own -----------------------------------------------------------------------------------


class Slot:
    """A process of ours with at most one job, so that it is known which job it died of."""

    def __init__(self) -> None:
        self.pool: futures.ProcessPoolExecutor | None = None
        self.pid: futures.Future[int] | None = None
        self.job: futures.Future[dict[str, Any]] | None = None
        self.index = -1
        self.watched: ProcessClock | None = None
        self.is_late = False

    def send_job(self, index: int, job: Job, limit: float | None) -> None:
        """Send it a job; a process is started if there is none."""
        if self.pool is None:
            self.pool = futures.ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
            )
            self.pid = self.pool.submit(os.getpid)
        self.index, self.watched, self.is_late = index, None, False
        self.job = self.pool.submit(run_job, job, limit)

    def end_if_overdue(self, limit: float | None) -> None:
        """End the process if its job has taken too long. What counts are the seconds since the process was up
        in which it ran or waited, not those in which other processes had its core.
        """
        assert self.pid is not None and self.job is not None
        if limit is None or self.job.done() or not self.pid.done():
            return
        if self.watched is None:
            self.watched = ProcessClock(self.pid.result())
        # A job ends itself between two points: only one that is stuck within a point is left to be ended.
        if self.watched.used() > limit + min(5.0, limit):
            self.is_late = True
            self.kill()

    def kill(self) -> None:
        """End the process at once, even one that is still starting and has not sent its process id."""
        if self.pid is not None and self.pid.done() and not self.pid.cancelled():
            if self.pid.exception() is None:
                _kill(self.pid.result())
        else:
            for process in list((getattr(self.pool, "_processes", None) or {}).values()):
                process.kill()

    def forget_process(self) -> None:
        """Give up a process that has died; the next job gets a new one."""
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = self.pid = self.job = None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self.job is not None and not self.job.done():
            self.kill()
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which in a terminal reaches every process of a command: only the first process responds
    to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    except ProcessLookupError:
        pass


@dataclass
class Work:
    """Jobs to settle, each by one call of `settle`, and how often each was lost."""

    jobs: Sequence[Job]
    limit: float | None
    settle: Settle
    events: Events = field(default_factory=Events)
    tries: dict[int, int] = field(default_factory=dict)

    def run_in_this_process(self) -> None:
        """Run the checks one by one in this process; the limit applies between two points."""
        for index, job in enumerate(self.jobs):
            self.settle(index, run_job(job, self.limit))

    # -- on processes of our own -----------------------------------------------------------------------------

    def in_processes(self, workers: int, indices: Iterable[int] | None = None) -> None:
        """Run the checks in up to `workers` processes of ours, each with one job at a time."""
        queue = deque(range(len(self.jobs)) if indices is None else indices)
        slots = [Slot() for _ in range(min(workers, len(queue)))]
        try:
            self._work_off(queue, slots)
        finally:
            for slot in slots:
                slot.close()

    def _work_off(self, queue: deque[int], slots: Sequence[Slot]) -> None:
        while queue or any(slot.job is not None for slot in slots):
            for slot in slots:
                if slot.job is None and queue:
                    index = queue.popleft()
                    slot.send_job(index, self.jobs[index], self.limit)
            busy = [slot for slot in slots if slot.job is not None]
            futures.wait([slot.job for slot in busy if slot.job], _GLANCE, futures.FIRST_COMPLETED)
            for slot in busy:
                slot.end_if_overdue(self.limit)
                queue.extend(self._collected(slot))

    def _collected(self, slot: Slot) -> Iterator[int]:
        """Settle the finished job of a slot; yield its index if it must be run again."""
        if slot.job is None or not slot.job.done():
            return
        lost = _lost(slot.job)
        if lost is None:
            self.settle(slot.index, slot.job.result())
            slot.job = None
            return
        slot.forget_process()
        if slot.is_late and self.limit is not None:
            self.events.late += 1
            self.settle(slot.index, _no_answer(UNKNOWN, over_limit_message(self.limit), self.limit))
        elif self._once_more(slot.index, lost):
            yield slot.index

    def _once_more(self, index: int, lost: BaseException) -> bool:
        """Whether a lost job may be run again; if not, the loss is its outcome."""
        self.tries[index] = self.tries.get(index, 0) + 1
        if self.tries[index] > AGAIN:
            self.settle(index, _no_answer(ERROR, f"{_said(lost)}, {self.tries[index]} times"))
            return False
        self.events.again += 1
        return True

    # -- on anybody's executor -------------------------------------------------------------------------------

    def on_executor(self, executor: futures.Executor, workers: int) -> None:
        """Run the checks on a given executor, and those that it drops in processes of ours.

        ExecutorError if it does not take the first job. A job that is stuck there cannot be ended: if nothing
        comes back for the limit and `PATIENCE` seconds more, the jobs still running are reported as
        inconclusive.
        """
        if not callable(getattr(executor, "submit", None)):
            kind = type(executor).__name__
            raise ExecutorError(f"executor= takes a concurrent.futures.Executor, not {an(kind)}")
        out: dict[futures.Future[dict[str, Any]], int] = {}
        left: list[int] = []
        try:
            for index in range(len(self.jobs)):
                self._hand_out(executor, index, out, left)
            self._take_back(executor, out, left)
        finally:
            for future in out:
                future.cancel()
        if left:
            words = f"the executor took no more jobs: {len(left)} were run in local processes"
            self.events.words.append(words)
            self.in_processes(workers, sorted(left))

    def _hand_out(self, executor: futures.Executor, index: int, out: dict, left: list[int]) -> None:
        if left:
            left.append(index)  # it has refused one, and a broken pool refuses them all
            return
        try:
            out[executor.submit(run_job, self.jobs[index], self.limit)] = index
        except Exception as error:
            if not out and not self.tries:
                text = " ".join(str(error).split()) or type(error).__name__
                raise ExecutorError(f"the executor takes no jobs: {text}") from None
            left.append(index)

    def _take_back(self, executor: futures.Executor, out: dict, left: list[int]) -> None:
        while out:
            patience = None if self.limit is None else self.limit + PATIENCE
            finished, _ = futures.wait(out, patience, futures.FIRST_COMPLETED)
            if not finished:
                self._give_up(out)
                return
            for future in finished:
                index, lost = out.pop(future), _lost(future)
                if lost is None:
                    self.settle(index, future.result())
                elif self._once_more(index, lost):
                    self._hand_out(executor, index, out, left)

    def _give_up(self, out: dict) -> None:
        assert self.limit is not None
        for index in sorted(out.values()):
            self.settle(
                index,
                _no_answer(
                    UNKNOWN, f"{over_limit_message(self.limit)}, and its worker does not respond", self.limit
                ),
            )
        self.events.words.append("workers may still be busy with checks that were abandoned")


def _lost(future: futures.Future) -> BaseException | None:
    """Why a finished job has no answer; None if it has one."""
    try:
        return future.exception()
    except futures.CancelledError as error:
        return error


def _said(lost: BaseException) -> str:
    """How a job was lost, in words."""
    if isinstance(lost, futures.BrokenExecutor) or type(lost).__name__ == "KilledWorker":
        return "the process that made this check died"
    if isinstance(lost, futures.CancelledError):
        return "the executor dropped this check"
    text = " ".join(str(lost).split())
    return f"the worker could not start ({type(lost).__name__}: {text})"[:300]


def _no_answer(verdict: str, words: str, seconds: float = 0.0) -> dict[str, Any]:
    return {"verdict": verdict, "sentence": words, "lines": [], "report": None, "seconds": seconds}
