"""Run a measurement on the event loop of the kernel: other cells run meanwhile, and Stop and the kernel's
interrupt end it.

A kernel handles SIGINT only while a cell runs and ignores it otherwise, so an interrupt would not reach a
task. While a task runs, its own handler is therefore installed, and the previous one is restored at its end.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..ad.progress import Progress as Bar
from ..ad.progress import Waiting
from ..bench.clock import Clock
from ..pieces import Measurement, Pace, Progress, left_in_words, percent, share_of

PROOF_SECONDS, RULE_SECONDS, SCAN_SECONDS = 5.0, 40.0, 15.0
"""The default time limits of SymPy for a proof, for deriving a rule, and for a stability scan."""
TELL_EVERY = 0.1
"""Seconds between two reports of progress: one for each piece of 2 ms would flood the browser."""
LONG_PIECE = 0.4
"""Seconds that Stop waits for a piece to end before it interrupts it."""


class Refused(Exception):
    """A control requested something that cannot be done now; the message says why."""


class Interruption:
    """The kernel's interrupt during a run: it ends the piece that is being computed, or the run, if it comes
    between two pieces.

    >>> interruption = Interruption()
    >>> with interruption, interruption.piece():
    ...     pass
    >>> interruption.asked
    False
    """

    def __init__(self) -> None:
        self.asked = False
        self.number = 0  # of the piece that is being computed; 0 between pieces
        self._count = 0
        self._active = False
        self._before: Any = None
        self._own = self._handle

    def __enter__(self) -> Interruption:
        self._active = True
        self.listen()
        return self

    def __exit__(self, *exception) -> None:
        self._active = False
        if _in_main_thread() and signal.getsignal(signal.SIGINT) is self._own:
            signal.signal(signal.SIGINT, self._before)

    def listen(self) -> None:
        """Install the handler; a kernel restores its own after each message it has handled."""
        if _in_main_thread() and (now := signal.getsignal(signal.SIGINT)) is not self._own:
            self._before = signal.SIG_IGN if now is None else now  # None: not set from Python
            signal.signal(signal.SIGINT, self._own)

    def piece(self) -> _Piece:
        """The context in which an interrupt raises KeyboardInterrupt."""
        self.listen()
        return _Piece(self)

    def ask(self) -> None:
        """End the run from any thread: now, if between pieces; a piece that takes long is interrupted."""
        self.asked = True
        if self.number and not _in_main_thread():
            late = threading.Timer(LONG_PIECE, self._end_piece, [self.number])
            late.daemon = True
            late.start()

    def _end_piece(self, number: int) -> None:
        if self._active and self.number == number and signal.getsignal(signal.SIGINT) is self._own:
            _wake_main_thread()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._active:  # restored late by the kernel: the run is over
            if callable(self._before):
                self._before(number, frame)
            return
        self.asked = True
        if self.number:
            raise KeyboardInterrupt


class _Piece:
    def __init__(self, interruption: Interruption):
        self.interruption = interruption

    def __enter__(self) -> None:
        self.interruption._count += 1
        self.interruption.number = self.interruption._count

    def __exit__(self, *exception) -> None:
        self.interruption.number = 0


class Runner:
    """Runs one measurement at a time as a task of `loop`; without a loop, to its end at once.

    `told(progress)` receives the progress, at most ten times a second; `ended(report, error, stopped)` the
    end: the report of the results so far, whatever ended it, and the error of a function that failed. The
    report is None if making it failed.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None, clock: Clock = time.monotonic):
        self.loop, self.clock = loop, clock
        self._interruption: Interruption | None = None
        self._task: asyncio.Task | None = None

    @property
    def running(self) -> bool:
        """Whether a run is in progress."""
        return self._interruption is not None

    def start(
        self,
        measurement: Measurement,
        told: Callable[[Progress], None],
        ended: Callable[[Any, Exception | None, bool], None],
    ) -> None:
        """Begin; raises Refused during another run."""
        if self.running:
            raise Refused("A measurement is running. Press Stop first, or wait until it ends.")
        self._interruption = Interruption()
        driving = self._drive(measurement, told, ended, self._interruption)
        if self.loop is None:
            asyncio.run(driving)
        else:
            self._task = self.loop.create_task(driving)

    def stop(self) -> None:
        """End the run, keeping complete rounds; may be called from any thread."""
        if self._interruption is not None:
            self._interruption.ask()

    def close(self) -> None:
        """Drop the current run, without a report."""
        self.stop()
        if self._task is not None:
            self._task.cancel()

    async def _drive(self, measurement, told, ended, interruption: Interruption) -> None:
        steps, error, stopped = iter(measurement.pieces()), None, False
        try:
            with interruption:
                await self._step_through(steps, told, interruption)
                stopped = interruption.asked
        except KeyboardInterrupt:
            stopped = True
        except Exception as failed:
            error = failed
        finally:
            steps.close()
            self._interruption = self._task = None
        report = None
        try:
            report = measurement.result(interrupted=stopped or error is not None)
        except Exception as failed:  # nothing awaits the task, where it would be lost
            error = error or failed
        ended(report, error, stopped)

    async def _step_through(self, steps, told, interruption: Interruption) -> None:
        last_told = -TELL_EVERY
        while not interruption.asked:
            with interruption.piece():
                progress = next(steps, None)
            if progress is None:
                return
            if self.clock() - last_told >= TELL_EVERY:
                last_told = self.clock()
                told(progress)
            await asyncio.sleep(0)


class MeasurementWithBar:
    """A measurement that shows a progress bar once it has taken a second: for a magic, which waits.

    `seconds` is its time limit, if any. During a long step, a thread shows how long it has taken, every
    `beats` seconds; None for timings, which nothing may disturb.
    """

    def __init__(
        self,
        measurement: Measurement,
        doing: str,
        seconds: float | None = None,
        *,
        beats: float | None = None,
        clock: Clock = time.monotonic,
    ):
        self.measurement, self.doing, self.seconds, self.clock = measurement, doing, seconds, clock
        self.beats = beats
        self.result = measurement.result

    def pieces(self) -> Iterator[Progress]:
        """The pieces of the measurement."""
        __tracebackhide__ = True
        pace = Pace(self.clock())
        with Bar(100, self.doing, beats=self.beats) as bar:
            for step in self.measurement.pieces():
                left = left_in_words(self._left(pace, share_of(step)))
                bar.reach(percent(step), f"{step.doing}, {left}" if left else step.doing)
                yield step

    def _left(self, pace: Pace, share: float) -> float | None:
        """The seconds that are left by the pace, and at most those up to the limit."""
        now = self.clock()
        left = pace.left(share, now)
        if self.seconds is None:
            return left
        limit = max(0.0, self.seconds - (now - pace.started))
        return limit if left is None else min(left, limit)


class QuestionWithBar:
    """`with Asking("proof of f", 5.0) as asking:` around a question that another process answers, for a
    magic, which waits: `stop` and `heard` are passed to the question, and show how long it has taken and what
    is known so far. `known` is the last report received, None before the first with content.

    With `keeps`, the question itself returns what it has when it is stopped: the first Ctrl-C then makes
    `stop` return True and sets `asked`, instead of raising KeyboardInterrupt. A second one raises it.
    """

    def __init__(self, doing: str, seconds: float, *, keeps: bool = False, clock: Clock = time.monotonic):
        self.seconds, self.clock, self.start = seconds, clock, clock()
        self.known: Any = None
        self.asked = False
        self._keeps = keeps
        self._before: Callable | None = None
        self._bar = Bar(100, doing, clock=clock)

    def __enter__(self) -> QuestionWithBar:
        Waiting.give_way()  # the question forks: no thread may be in the middle of something
        if self._keeps and _in_main_thread() and callable(before := signal.getsignal(signal.SIGINT)):
            self._before = before
            signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
        self._bar.__exit__(*exception)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self._restore()

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def stop(self) -> bool:
        """Whether Ctrl-C was pressed. Called now and then, which also moves the bar."""
        passed = self.clock() - self.start
        words = waiting_in_words(passed, self.seconds, "" if self.known is None else self.known.so_far)
        self._bar.reach(round(100 * passed / self.seconds), words)
        return self.asked

    def heard(self, report: Any) -> None:
        """Store a report of what is known before the end."""
        if report.so_far:
            self.known = report


def waiting_in_words(passed: float, most: float, so_far: str) -> str:
    """How long a question has taken, in seconds, and what is known, in few words, which share the line with a
    bar. The limit is one of processor time, of which a busy machine provides less.

    >>> waiting_in_words(2.2, 5.0, "agrees to 40 digits"), waiting_in_words(7.1, 5.0, "")
    ('2 s of 5 s at most; so far: agrees to 40 digits', '7 s, 5 s of processor time at most')
    """
    words = f"{passed:.0f} s of {most:g} s at most"
    if passed > most:
        words = f"{passed:.0f} s, {most:g} s of processor time at most"
    return words + (f"; so far: {so_far}" if so_far else "")


class Throttle:
    """Calls `action` soon after it was last requested, at most once in `least` seconds: of many quick changes
    the last one always takes effect.
    """

    def __init__(
        self,
        action: Callable[[], None],
        loop: asyncio.AbstractEventLoop | None,
        least: float = 0.06,
    ):
        self.action, self.loop, self.least = action, loop, least
        self._waiting: asyncio.TimerHandle | None = None
        self._ready = float("-inf")

    def __call__(self) -> None:
        if self.loop is None:
            self.action()
        elif self._waiting is None:
            self._waiting = self.loop.call_at(max(self._ready, self.loop.time()), self._act)

    def _act(self) -> None:
        self._waiting = None
        try:
            self.action()
        finally:
            if self.loop is not None:
                self._ready = self.loop.time() + self.least

    def cancel(self) -> None:
        """Drop a request that was not carried out yet."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _wake_main_thread() -> None:
    """Make the main thread handle SIGINT now, even during a blocking system call."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:  # Windows
        _thread.interrupt_main()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
