"""Work that takes long shows itself, can be given a limit, and keeps what it has when it is stopped."""

from __future__ import annotations

import re
import signal
import threading
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.ad import progress
from rulelab.notebook.cells import Interrupted
from rulelab.notebook.magics import RuleLab
from rulelab.notebook.running import MeasurementWithBar, QuestionWithBar
from rulelab.pieces import Limited, Progress

from .conftest import MSE_RULE


class Ways(NamedTuple):
    """How a magic takes its time: a cell that runs it, what its bar is called, whether it has `--seconds`,
    and whether Ctrl-C leaves something to show.
    """

    cell: str
    bar: str
    seconds: bool
    keeps: bool


LONG = {
    "rule_check": Ways("%rule_check mse_cr --at y, yh", "check of mse_cr", True, True),
    "grad_check": Ways("%grad_check mse(y, yh)", "check of mse", True, True),
    "grad_bench": Ways("%grad_bench mse mse_cr --rounds 1 --at y, yh", "mse against mse_cr", True, True),
    "grad_profile": Ways("%grad_profile --seconds 0.01 mse(y, yh)", "profile of mse", True, True),
    "rule_symbolic": Ways("%rule_symbolic area", "proof of area", True, True),
    "sym_check": Ways("%sym_check area(2.0)", "proof of area(2.0)", True, True),
    "rule_scan": Ways("%rule_scan area --seconds 0.5", "scan of area", True, True),
    "rule_derive": Ways("%rule_derive area", "rule of area", True, True),
    "rule_lab": Ways("%rule_lab area area_cr --no-widget --at 2.0", "times of area and area_cr", True, True),
    "jacobian": Ways("%jacobian np.cumsum(y)", "Jacobian, rows", True, True),
    "hessian": Ways("%hessian np.sum(y)", "Hessian, columns", True, True),
}
"""What is done in steps or asked of another process: it says how far it is."""
WAITS = set(
    "rrule frule scalar_rule which_rule rule_undo rule_stub rule_lint rule_export rule_import rules "
    "rule_docs grad_refresh gradient adjoint grad_compare".split()
)
"""What has no steps that could be counted, nor anything to show before its end: what runs is a call of the
author's function, or nothing that takes long. How long it has been is said after two seconds."""


def test_every_magic_says_how_it_takes_its_time():
    """A new magic is entered in one of the two tables, or this fails."""
    assert LONG.keys() | WAITS == set(RuleLab.magics["line"]) and not LONG.keys() & WAITS


@pytest.mark.parametrize("name", LONG)
def test_what_has_a_limit_can_be_given_one(name):
    """`--seconds` is an option of exactly those magics of which the table says so."""
    assert ("--seconds" in getattr(RuleLab, name).parser._option_string_actions) is LONG[name].seconds


@pytest.mark.parametrize("name", sorted(name for name, ways in LONG.items() if ways.keeps))
def test_what_keeps_something_says_so(name):
    """Its help tells what Ctrl-C does."""
    assert "Ctrl-C" in getattr(RuleLab, name).__doc__


AREA = """\
def area(w):
    return w * w
area_cr = rl.twin(area, "area_cr")
rl.scalar_rule(area, lambda out, w: 2 * w)
rl.scalar_rule(area_cr, lambda out, w: 2 * w)
"""


@pytest.fixture
def bars(monkeypatch):
    """The names of the bars that were opened, which they are at once here."""
    seen: list[str] = []

    class Bar(progress.Silent):
        pass

    def opened(total, doing, elapsed):
        seen.append(doing)
        return Bar()

    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "bar_for_screen", opened)
    return seen


@pytest.mark.first(3)
@pytest.mark.parametrize("name", LONG)
def test_it_says_how_far_it_is(name, notebook, bars, monkeypatch):
    """The bar that the table names is opened."""
    monkeypatch.setattr("rulelab.notebook.pair.SIZES", (4, 8, 2))
    notebook.ok(MSE_RULE)
    notebook.ok(AREA)
    notebook.ok(LONG[name].cell)
    assert LONG[name].bar in bars


def test_a_limit_of_seconds_ends_a_check_with_what_it_has(notebook):
    """The report says that it was stopped, and the cells that follow run."""
    notebook.ok(MSE_RULE)
    report = notebook.ok("%rule_check mse_cr --deep --seconds 0.001 --at y, yh")
    assert report.interrupted and report.verdict == "inconclusive" and len(report.points) >= 1
    duel = notebook.ok("%grad_bench mse mse_cr --rounds 100000 --seconds 0.05 --at y, yh")
    assert not duel.interrupted and "at the limit of 0.05 s" in str(duel)


SLOW = """\
import time
@rl.rrule_for(slow := rl.twin(np.sin, "slow"))
def slow_rrule(x):
    def slow_pullback(y_bar):
        time.sleep(0.02)
        return rl.NoTangent(), y_bar * np.cos(x)
    return np.sin(x), slow_pullback
"""


def test_a_limit_of_seconds_ends_a_matrix_with_the_rows_it_has(notebook):
    """The others are nan, and whoever reads it is told; the cells that follow run."""
    notebook.ok(SLOW)
    found = notebook.ok("%jacobian --seconds 0.05 --mode reverse slow(np.ones(200))")
    (J,), (n, total) = found, re.search(r"(\d+) of (200) rows", found.partial).groups()
    done = int(n)
    assert 1 <= done < 200 and "at the limit of 0.05 s" in str(found) and "partial" in found.to_markdown()
    assert "Jacobian: partial, at the limit of 0.05 s" in notebook.text
    assert np.array_equal(J[:done], np.cos(1.0) * np.eye(200)[:done]) and np.isnan(J[done:]).all()
    notebook.ok("def quartic(x): return np.sum(x**4)")
    H = notebook.ok("%hessian --seconds 1e-9 quartic(np.ones(30))")
    assert H.partial.startswith("partial, at the limit of 1e-09 s: 1 of 30 columns")
    assert np.array_equal(H[:, 0], 12 * np.eye(30)[0]) and np.isnan(H[:, 1:]).all()
    assert notebook.ok("%jacobian --seconds 60 np.cumsum(np.ones(3))").partial == ""


def test_a_limit_of_seconds_opens_a_panel_with_what_there_is(notebook, monkeypatch):
    """Times and check end early, nobody is said to have stopped them, and the cells that follow run."""
    monkeypatch.setattr("rulelab.notebook.pair.SIZES", (4, 8, 2))
    notebook.ok(AREA)
    shown = notebook.ok("%rule_lab area area_cr --no-widget --seconds 0.2 --at 2.0")
    assert not shown.interrupted and "area" in str(shown)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Steps:
    """A measurement of four pieces of ten seconds each."""

    def __init__(self, clock):
        self.clock, self.done = clock, 0

    def pieces(self):
        for number in range(1, 5):
            self.clock.now += 10.0
            self.done = number
            yield Progress(number, 4, f"step {number}")

    def result(self, *, interrupted=False):
        return self.done, interrupted


def test_a_bar_says_how_long_it_may_still_take(bars, monkeypatch):
    """As long as the steps so far took, or what is left of the limit."""
    clock, said = Clock(), []
    monkeypatch.setattr(progress.Silent, "show", lambda self, done, words: said.append((done, words)))
    list(MeasurementWithBar(Steps(clock), "steps", clock=clock).pieces())
    assert said[0] == (25, "step 1, about 30 s left") and said[-1] == (100, "step 4")
    said.clear()
    list(MeasurementWithBar(Steps(clock), "steps", 15.0, clock=clock).pieces())
    assert said[0] == (25, "step 1, about 5 s left")


def test_a_limit_cuts_between_two_pieces_and_not_at_the_end():
    """What was done in time is whole; a measurement that is done was not cut."""
    clock = Clock()
    cut = Limited(Steps(clock), 15.0, clock)
    assert len(list(cut.pieces())) == 2 and cut.is_over and cut.result() == (2, True)
    whole = Limited(Steps(clock), 40.0, clock)
    assert len(list(whole.pieces())) == 4 and not whole.is_over and whole.result() == (4, False)


@pytest.mark.parametrize("name", ["rule_scan", "rule_derive"])
def test_what_was_known_is_shown_at_the_first_ctrl_c(name, notebook, monkeypatch):
    """The question is told to stop, and answers with what it has; the cells that follow do not run."""
    notebook.ok(AREA)
    stop, asked = QuestionWithBar.stop, []

    def stopped(self):
        if self.doing_words not in asked:
            asked.append(self.doing_words)
            signal.raise_signal(signal.SIGINT)
        return stop(self)

    monkeypatch.setattr(QuestionWithBar, "doing_words", property(lambda self: self._bar.doing), raising=False)
    monkeypatch.setattr(QuestionWithBar, "stop", stopped)
    result = notebook.run(f"%{name} area")
    assert isinstance(result.error_in_exec, Interrupted) and asked
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_at_once():
    """Where nothing hears the first one."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), QuestionWithBar("a question", 5.0, keeps=True) as asking:
        signal.raise_signal(signal.SIGINT)
        assert asking.stop()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


class Bar(progress.Silent):
    def __init__(self):
        self.seen, self.shown, self.closed = [], threading.Event(), False

    def show(self, done, words):
        self.seen.append(words)
        self.shown.set()

    def close(self):
        self.closed = True


def test_what_has_no_steps_says_how_long_it_has_been():
    """And nothing of it is left: no bar, no thread."""
    bar, threads = Bar(), threading.active_count()
    with progress.Waiting("a call", patience=0.0, every=0.01, opened=lambda *_: bar):
        assert bar.shown.wait(300)
        assert not bar.closed
    assert bar.seen[0] == "0 s" and bar.closed and threading.active_count() == threads


def test_what_is_over_soon_says_nothing():
    """A bar that flashes up helps nobody."""
    opened = []
    with progress.Waiting("a call", patience=300.0, opened=lambda *_: opened.append(1)):
        pass
    assert opened == []


def test_waiting_gives_way_to_steps_that_are_counted(monkeypatch):
    """Two bars are never there at once, and magics within magics do not wait twice."""
    monkeypatch.setattr(progress, "DELAY", 0.0)
    bar = Bar()
    with progress.Waiting("a call", patience=0.0, every=0.01, opened=lambda *_: bar):
        assert bar.shown.wait(300)
        with progress.Waiting("an inner call", patience=0.0, opened=lambda *_: pytest.fail("two")):
            pass
        with progress.Progress(2, "steps", opened=lambda *_: Bar()) as steps:
            steps.step()
            assert bar.closed
