"""A run leaves the kernel free, hears Stop and the interrupt, keeps what is whole, puts everything back."""

import asyncio
import os
import signal
import threading
import time

import pytest

from rulelab.notebook.running import LONG_PIECE, Interruption, Refused, Runner, Throttle
from rulelab.pieces import Progress


class Counting:
    """A measurement of so many pieces; each is `piece()`."""

    def __init__(self, pieces, piece=lambda: None):
        self.total, self.piece, self.done, self.closed = pieces, piece, 0, False

    def pieces(self):
        try:
            for number in range(self.total):
                self.piece()
                self.done = number + 1
                yield Progress(self.done, self.total, "counting")
        finally:
            self.closed = True

    def result(self, *, interrupted=False):
        return self.done, interrupted


class Heard:
    """What a runner told."""

    def __init__(self):
        self.progress, self.end = [], None

    def told(self, progress):
        self.progress.append(progress)

    def ended(self, report, error, stopped):
        self.end = report, error, stopped


async def until(condition, seconds=300.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.005)


def driven(measurement, meanwhile=None):
    """Run a measurement on a loop of its own, with something else going on; what was heard."""
    heard = Heard()

    async def main():
        runner = Runner(asyncio.get_running_loop())
        runner.start(measurement, heard.told, heard.ended)
        if meanwhile is not None:
            await meanwhile(runner)
        await until(lambda: heard.end is not None)

    asyncio.run(main())
    return heard


@pytest.fixture(autouse=True)
def the_handler_is_put_back():
    """Whatever a run does, SIGINT is heard afterwards as it was before."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_goes_to_its_end():
    """The report is that of a whole measurement."""
    measurement = Counting(20)
    assert driven(measurement).end == ((20, False), None, False)
    assert measurement.closed


def test_others_run_between_the_pieces():
    """A second task of the same loop has its turns."""
    turns = []

    async def meanwhile(runner):
        while runner.running:
            turns.append(None)
            await asyncio.sleep(0)

    driven(Counting(50), meanwhile)
    assert len(turns) >= 40


def test_stop_keeps_what_is_whole():
    """And the generator is closed, so that a measurement can clean up."""
    measurement = Counting(10**9)

    async def meanwhile(runner):
        await until(lambda: measurement.done > 5)
        runner.stop()

    heard = driven(measurement, meanwhile)
    assert heard.end == ((measurement.done, True), None, True)
    assert measurement.closed and measurement.done > 5


def test_a_second_run_is_refused_in_words():
    """And the first goes on."""

    async def meanwhile(runner):
        with pytest.raises(Refused, match="A measurement is running"):
            runner.start(Counting(1), None, None)

    assert driven(Counting(20), meanwhile).end[0] == (20, False)


def test_an_error_of_the_function_ends_the_run_and_is_handed_on():
    """With the rounds that are whole by then."""
    measurement = Counting(20, piece=lambda: 1 / (7 - measurement.done))
    report, error, stopped = driven(measurement).end
    assert report == (7, True) and isinstance(error, ZeroDivisionError) and not stopped


def test_an_error_of_the_report_is_handed_on_too():
    """Nobody waits for the task, so it would be lost."""

    class Broken(Counting):
        def result(self, *, interrupted=False):
            raise OSError("no report")

    report, error, stopped = driven(Broken(3)).end
    assert report is None and str(error) == "no report" and not stopped


def test_progress_is_told_ten_times_a_second_at_most():
    """By a clock of the test's own: 2 ms a piece."""
    now = iter(n * 0.002 for n in range(10**6))
    heard = Heard()

    async def main():
        runner = Runner(asyncio.get_running_loop(), clock=lambda: next(now))
        runner.start(Counting(500), heard.told, heard.ended)
        await until(lambda: heard.end is not None)

    asyncio.run(main())
    assert 5 <= len(heard.progress) <= 13


def test_without_a_loop_a_run_goes_to_its_end_at_once():
    """A panel in plain Python has nothing else to wait on."""
    heard = Heard()
    Runner(None).start(Counting(5), heard.told, heard.ended)
    assert heard.end == ((5, False), None, False)


def test_closing_drops_the_run_without_a_report():
    """Nobody is there to show it to."""
    measurement, heard = Counting(10**9), Heard()

    async def main():
        runner = Runner(asyncio.get_running_loop())
        runner.start(measurement, heard.told, heard.ended)
        await until(lambda: measurement.done > 3)
        runner.close()
        await until(lambda: not runner.running)

    asyncio.run(main())
    assert heard.end is None and measurement.closed


def test_an_interrupt_ends_one_long_call():
    """In the middle: the call is not waited for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def piece():
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        time.sleep(600)

    started = time.monotonic()
    assert driven(Counting(10, piece=piece)).end == ((0, True), None, True)
    assert time.monotonic() - started < 300


def test_an_interrupt_is_heard_where_a_kernel_ignores_it():
    """As it does whenever no cell runs."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        measurement = Counting(10**9)

        async def meanwhile(runner):
            await until(lambda: measurement.done > 3)
            signal.raise_signal(signal.SIGINT)

        assert driven(measurement, meanwhile).end[2]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_stop_from_another_thread_ends_a_long_call():
    """JupyterLab hands the click to a thread of its own: after a while the call is interrupted."""
    started = time.monotonic()

    async def main():
        heard, runner = Heard(), Runner(asyncio.get_running_loop())

        def piece():
            threading.Timer(0.2, runner.stop).start()
            time.sleep(600)

        runner.start(Counting(10, piece=piece), heard.told, heard.ended)
        await until(lambda: heard.end is not None)
        return heard

    assert asyncio.run(main()).end == ((0, True), None, True)
    assert LONG_PIECE <= time.monotonic() - started < 300


def test_a_handler_that_is_put_back_late_hands_on():
    """A kernel restores after a message what it found before it; ours may be that, when the run is over."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("before"))
    try:
        interruption = Interruption()
        with interruption:
            ours = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, ours)
        signal.raise_signal(signal.SIGINT)
        assert heard == ["before"] and not interruption.asked
    finally:
        signal.signal(signal.SIGINT, before)


class FakeLoop:
    """The part of a loop that a throttle uses, on a clock that the test moves."""

    def __init__(self):
        self.now, self.waiting = 0.0, []

    def time(self):
        return self.now

    def call_at(self, when, action):
        handle = type("Handle", (), {"cancel": lambda _: self.waiting.remove(entry)})()
        entry = (when, action)
        self.waiting.append(entry)
        return handle

    def move_to(self, then):
        for when, action in sorted(self.waiting, key=lambda entry: entry[0]):
            if when <= then:
                self.waiting.remove((when, action))
                self.now = max(self.now, when)
                action()
        self.now = then


@pytest.mark.parametrize("pause", [0.0001, 0.001, 0.01])
def test_of_a_thousand_changes_few_are_acted_on_and_the_last_one_is(pause):
    """At most 20 times in any second, and the last value within a fifth of a second."""
    loop, value, acted = FakeLoop(), None, []
    throttle = Throttle(lambda: acted.append((loop.now, value)), loop)
    for number in range(1000):
        loop.move_to(number * pause)
        value = number
        throttle()
    changed = loop.now
    loop.move_to(changed + 1.0)
    last, shown = acted[-1]
    assert shown == 999 and last - changed <= 0.2
    for start, _ in acted:
        assert sum(start <= at < start + 1.0 for at, _ in acted) <= 20


def test_an_action_that_fails_does_not_stop_the_next_one():
    """The throttle is ready again."""
    loop, calls = FakeLoop(), []

    def act():
        calls.append(None)
        raise ValueError

    throttle = Throttle(act, loop)
    for _ in range(2):
        throttle()
        with pytest.raises(ValueError):
            loop.move_to(loop.now + 1.0)
    assert len(calls) == 2


def test_a_throttle_can_forget():
    """When its panel is closed."""
    loop, calls = FakeLoop(), []
    throttle = Throttle(lambda: calls.append(None), loop)
    throttle()
    throttle.cancel()
    loop.move_to(1.0)
    assert calls == []


# -- in a real kernel ----------------------------------------------------------------------------------------

RUN = """\
import asyncio, signal, time
from rulelab.pieces import Progress
from rulelab.notebook.running import Runner

class Counting:
    done = 0
    def __init__(self, seconds): self.seconds = seconds
    def pieces(self):
        while True:
            time.sleep(self.seconds)
            self.done += 1
            yield Progress(self.done, 10**9, "counting")
    def result(self, *, interrupted=False): return self.done, interrupted

before = signal.getsignal(signal.SIGINT)
ended = None
def end(*given):
    global ended
    ended = given
runner, counting = Runner(asyncio.get_running_loop()), Counting({seconds})
runner.start(counting, lambda progress: None, end)
"""


@pytest.fixture
def started(kernel):
    """A function that starts a run with pieces of so many seconds."""
    yield lambda seconds: kernel.run(RUN.replace("{seconds}", str(seconds)))
    kernel.run("runner.close()")


def said(kernel, expression):
    reply, shown = kernel.run(f"print({expression})")
    assert reply["status"] == "ok", shown
    return shown["stdout"].strip()


def wait_until_said(kernel, expression, words, seconds=300.0):
    deadline = time.monotonic() + seconds
    while said(kernel, expression) != words:
        assert time.monotonic() < deadline, f"{expression} is {said(kernel, expression)}"
        time.sleep(0.1)


def test_in_a_kernel_other_cells_run_meanwhile(kernel, started):
    """They see the run go on, and may stop it."""
    started(0.002)
    first = int(said(kernel, "counting.done"))
    wait_until_said(kernel, f"counting.done > {first} and runner.running", "True")
    kernel.run("runner.stop()")
    wait_until_said(kernel, "ended[2]", "True")


@pytest.mark.parametrize("seconds", [0.002, 60])
def test_in_a_kernel_its_interrupt_ends_the_run(kernel, started, seconds):
    """Between two pieces and in the middle of a long one; afterwards it is ignored again, as before."""
    kernel.run("import signal")
    handler = said(kernel, "signal.getsignal(signal.SIGINT)") if seconds != 0.002 else None
    started(seconds)
    time.sleep(0.5)
    kernel.manager.interrupt_kernel()
    wait_until_said(kernel, "ended is not None and ended[2] and ended[1] is None", "True")
    assert said(kernel, "6 * 7") == "42"
    if handler is not None:
        assert said(kernel, "signal.getsignal(signal.SIGINT)") == handler


def test_in_a_kernel_an_interrupt_of_a_cell_leaves_the_run(kernel, started):
    """It belongs to the cell that is running."""
    started(0.002)
    reply, _ = kernel.interrupted_after(0.7, "time.sleep(30)")
    assert reply["ename"] == "KeyboardInterrupt"
    assert said(kernel, "runner.running and ended is None") == "True"
