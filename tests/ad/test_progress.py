"""What the note on a long computation promises: seen after a second, gone at the end, nothing left behind."""

import io
import sys
import threading

import pytest

from rulelab.ad import progress
from rulelab.ad.progress import NotebookBar, Progress, Silent, TerminalBar, bar_for_screen


class Clock:
    """Seconds that pass when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Bar:
    def __init__(self, total, doing, elapsed):
        self.made, self.seen, self.closed = (total, doing, elapsed), [], 0

    def show(self, done, words):
        self.seen.append(f"{done} {words}" if words else done)

    def close(self):
        self.closed += 1


@pytest.fixture
def opened():
    bars = []

    def make(*args):
        bars.append(Bar(*args))
        return bars[-1]

    make.bars = bars
    return make


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_short_computation_shows_nothing(opened):
    """Up to a second nobody needs a bar."""
    clock = Clock()
    with Progress(3, "rows", clock=clock, opened=opened) as note:
        for _ in range(3):
            clock.now += 0.3
            note.step()
    assert opened.bars == []


def test_a_long_one_shows_a_bar_after_a_second(opened):
    """With all that was done before it, and it is closed at the end."""
    clock = Clock()
    with Progress(4, "rows", clock=clock, opened=opened) as note:
        for _ in range(4):
            clock.now += 0.5
            note.step()
    (bar,) = opened.bars
    assert bar.made == (4, "rows", 1.0) and bar.seen == [2, 3, 4] and bar.closed == 1


def test_a_bar_may_say_more_and_never_goes_beyond_its_end(opened):
    """Where steps are not counted one by one, as of a wait of some seconds at most."""
    clock = Clock()
    with Progress(10, "waiting", clock=clock, opened=opened) as note:
        for done, words in ((3, "unseen"), (7, "half known"), (12, "")):
            clock.now += 0.6
            note.reach(done, words)
    assert opened.bars[0].seen == ["7 half known", 10] and note.done == 10


def test_a_step_that_takes_long_says_so(opened):
    """Silence looks like a crash; the words of the last step stay, and the thread ends with the block."""
    clock, shown = Clock(), threading.Event()
    threads = threading.active_count()

    class Heard(Bar):
        def show(self, done, words):
            super().show(done, words)
            if "has taken" in words:
                shown.set()

    def make(*args):
        opened.bars.append(Heard(*args))
        return opened.bars[-1]

    with Progress(4, "points", clock=clock, opened=make, beats=0.01) as note:
        clock.now += 2.0
        note.reach(1, "point 1")
        clock.now += 7.0
        assert shown.wait(120)
    assert opened.bars[0].seen[:2] == ["1 point 1", "1 point 1; the next step has taken 7 s"]
    assert opened.bars[0].closed == 1 and threading.active_count() == threads


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_takes_the_bar_away(opened, error):
    """Ctrl-C leaves nothing on the screen either."""
    clock = Clock()
    with pytest.raises(error), Progress(4, "rows", clock=clock, opened=opened) as note:
        clock.now += 2.0
        note.step()
        raise error
    assert opened.bars[0].closed == 1


def test_nothing_is_written_where_nobody_looks(monkeypatch):
    """A log file gets no bar, nor does a program without an error stream."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(bar_for_screen(3, "rows", 1.0), Silent)
    monkeypatch.setattr(sys, "stderr", None)
    assert isinstance(bar_for_screen(3, "rows", 1.0), Silent)


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch):
    """It is drawn over itself, its last picture is blank, and no thread stays."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    threads = threading.active_count()
    bar = bar_for_screen(8, "Jacobian, rows", 1.0)
    assert isinstance(bar, TerminalBar)
    bar.show(3, "")
    bar._bar.refresh()
    assert "Jacobian, rows" in screen.getvalue() and "3/8" in screen.getvalue()
    bar.show(4, "row <4>")
    bar._bar.refresh()
    assert "Jacobian, rows: row <4>  50%" in screen.getvalue()
    bar.close()
    shown = screen.getvalue()
    assert "\n" not in shown and shown.split("\r")[-2].strip() == "" and shown.endswith("\r")
    assert threading.active_count() == threads


def test_the_speed_counts_from_the_beginning(monkeypatch):
    """Not from the moment at which the bar was opened."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = TerminalBar(100, "rows", 50.0)
    bar.show(50, "")
    assert bar._bar.format_dict["elapsed"] >= 50.0
    bar.close()


def test_a_notebook_gets_a_bar_without_a_widget(monkeypatch):
    """One output that is drawn anew at most five times a second, and is empty in the end."""
    pytest.importorskip("IPython")
    pictures = []

    class Handle:
        def update(self, data, raw):
            pictures.append(data)

    def display(data, raw, display_id):
        pictures.append(data)
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(progress, "_in_notebook", lambda: True)
    assert isinstance(bar_for_screen(9, "rows", 1.0), NotebookBar)
    pictures.clear()
    clock = Clock()
    bar = NotebookBar(9, "rows of <f>", clock)
    for done, seconds in ((1, 0.3), (2, 0.1), (3, 0.3)):
        clock.now += seconds
        bar.show(done, "the <third>" if done == 3 else "")
    bar.close()
    first, one, three, last = pictures
    assert one["text/plain"] == "rows of <f>: 1 of 9" and 'value="3"' in three["text/html"]
    assert three["text/plain"] == "rows of <f>: the <third>"
    assert not any(tag in three["text/html"] for tag in ("<f>", "<third>", "<script"))
    assert last == {"text/plain": ""}


def test_a_bar_that_counts_nothing_says_so_in_no_picture(monkeypatch):
    """Nothing is counted from the first moment on: no "0 of 0" where the steps are not known."""
    pytest.importorskip("IPython")
    pictures = []

    class Handle:
        def update(self, data, raw):
            pictures.append(data)

    shown = Handle()
    shown_by = lambda data, raw, display_id: shown.update(data, raw) or shown  # noqa: E731
    monkeypatch.setattr("IPython.display.display", shown_by)
    bar = NotebookBar(0, "%gradient")
    bar.show(0, "2 s")
    bar.close()
    assert [picture["text/plain"] for picture in pictures] == ["%gradient", "%gradient: 2 s", ""]
    assert all("<progress></progress>" in picture["text/html"] for picture in pictures[:2])
