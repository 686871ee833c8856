"""Progress of a long computation: a bar that appears after a second and disappears at the end."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, ClassVar, Protocol

DELAY = 1.0  # seconds before a bar appears; a shorter computation needs none
_EVERY = 0.2  # seconds between two updates of a bar in a notebook, each of which is a message to the page
PATIENCE = 1.0  # seconds before a wait without countable steps is reported


class Bar(Protocol):
    """A progress indicator on the screen."""

    def show(self, done: int, words: str) -> None:
        """Show that `done` steps are complete, with `words` (may be empty) about the last one."""

    def close(self) -> None:
        """Remove the bar from the screen."""


class Progress:
    """Use `with Progress(100, "rows of a Jacobian") as progress:` and call `progress.step()` after each of
    the 100 steps; call `progress.reach(n, words)` where steps are not counted one by one, or to show more.

    The bar opens once the block has run for a second, and is removed when the block ends, also by an error or
    Ctrl-C. Nothing is shown outside a notebook if the standard error stream is not a terminal. `clock`
    returns the time in seconds, `opened` makes the bar. With `beats`, a thread looks every that many seconds
    and shows how long the current step has taken, if longer than that; the block must not fork then.

    >>> with Progress(2, "steps") as progress:
    ...     progress.step()
    """

    def __init__(
        self,
        total: int,
        doing: str,
        *,
        clock: Callable[[], float] = monotonic,
        opened: Callable[[int, str, float], Bar] | None = None,
        beats: float | None = None,
    ) -> None:
        self.total, self.doing, self.done = total, doing, 0
        self._clock, self._opened = clock, opened or bar_for_screen
        self._start = clock()
        self._bar: Bar | None = None
        self._beats, self._over, self._showing = beats, threading.Event(), threading.Lock()
        self._beating: threading.Thread | None = None
        self._words, self._reached = "", self._start

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._beating is not None:
            self._beating.join(1.0)
        if self._bar is not None:
            self._bar.close()

    def step(self) -> None:
        """Count one step as done."""
        self.reach(self.done + 1)

    def reach(self, done: int, words: str = "") -> None:
        """Set the number of steps that are done, at most the total, and the words shown beside it."""
        self.done = min(done, self.total)
        opens = self._bar is None
        if self._bar is None:
            elapsed = self._clock() - self._start
            if elapsed < DELAY:
                return
            Waiting.give_way()
            self._bar = self._opened(self.total, self.doing, elapsed)
        with self._showing:
            self._words, self._reached = words, self._clock()
            self._bar.show(self.done, words)
        if opens:  # not earlier: a beat would attribute the elapsed time to the next step
            self._begin_to_beat()

    def _begin_to_beat(self) -> None:
        if self._beats is not None and not isinstance(self._bar, Silent):
            told = contextvars.copy_context().run  # the context holds which cell the output belongs to
            self._beating = threading.Thread(target=told, args=(self._beat, self._beats), daemon=True)
            self._beating.start()

    def _beat(self, every: float) -> None:
        while not self._over.wait(every):
            with self._showing:
                taken = self._clock() - self._reached
                if self._bar is not None and taken >= every and not self._over.is_set():
                    words = self._words or f"{self.done:,} of {self.total:,}"
                    self._bar.show(self.done, f"{words}; the next step has taken {taken:.0f} s")


class Waiting:
    """Use `with Waiting("%gradient"):` around something that may take long and has no steps to count: a call
    of an author's function, a compilation, an import.

    After a second it shows every second how long it has been. It gives way to the bar of a Progress inside
    the block, which shows more, and ends with the block at the latest. A separate thread watches the clock,
    only if there is a screen to show it on.

    >>> with Waiting("a call"):
    ...     pass
    """

    _now: ClassVar[Waiting | None] = None

    def __init__(
        self,
        doing: str,
        *,
        patience: float = PATIENCE,
        every: float = 1.0,
        clock: Callable[[], float] = monotonic,
        opened: Callable[[int, str, float], Bar] | None = None,
    ) -> None:
        self.doing = doing
        self._patience, self._every, self._clock, self._opened = patience, every, clock, opened
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Waiting:
        if Waiting._now is None and (self._opened is not None or _is_looked_at()):
            Waiting._now = self
            told = contextvars.copy_context().run  # the context holds which cell the output belongs to
            self._thread = threading.Thread(target=told, args=(self._tell,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @classmethod
    def give_way(cls) -> None:
        """Remove the indicator that is shown, if any: a better one is about to appear."""
        if cls._now is not None:
            cls._now._end()

    def _end(self) -> None:
        if Waiting._now is self:
            Waiting._now = None
        self._over.set()
        if self._thread is not None:
            self._thread.join(1.0)

    def _tell(self) -> None:
        start = self._clock()
        if self._over.wait(self._patience):
            return
        bar = (self._opened or bar_for_screen)(0, self.doing, self._clock() - start)
        try:
            self._show_until_over(bar, start)
        finally:
            bar.close()

    def _show_until_over(self, bar: Bar, start: float) -> None:
        while True:
            bar.show(0, f"{self._clock() - start:.0f} s")
            if self._over.wait(self._every):
                return


def bar_for_screen(total: int, doing: str, elapsed: float) -> Bar:
    """Return the bar for where the output goes: a notebook, a terminal, or nowhere. A total of 0 means
    unknown.
    """
    if _in_notebook():
        return NotebookBar(total, doing)
    if _is_looked_at():
        return TerminalBar(total, doing, elapsed)
    return Silent()


class Silent:
    """No bar."""

    def show(self, done: int, words: str) -> None:
        pass

    def close(self) -> None:
        pass


class TerminalBar:
    """A tqdm bar on the standard error stream."""

    def __init__(
        self, total: int, doing: str, elapsed: float, clock: Callable[[], float] = monotonic
    ) -> None:
        from tqdm import tqdm  # here, because `import rulelab` must stay light

        class Unwatched(tqdm):
            monitor_interval = 0  # tqdm's monitor thread would outlive this bar

        self._doing, self._clock, self._drawn = doing, clock, float("-inf")
        # The rate is the mean over all steps, since the speed of the first says nothing about the next.
        self._bar = Unwatched(
            total=total or None,
            desc=doing,
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
            miniters=1,
            smoothing=0,
            delay=1e-9,  # draws nothing before there is something to show
        )
        self._bar.start_t -= elapsed

    def show(self, done: int, words: str) -> None:
        if words:  # they say more than the number of steps per second
            self._bar.bar_format = "{desc} {percentage:3.0f}%|{bar}|" if self._bar.total else "{desc}"
            self._bar.set_description_str(f"{self._doing}: {words}", refresh=False)
        more = done - self._bar.n
        if more and self._bar.total:
            self._bar.update(more)
        elif self._clock() - self._drawn >= _EVERY:  # tqdm does not redraw when nothing is counted
            self._drawn = self._clock()
            self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


_left: list[Any] | None = None
"""Handles of the outputs in which bars were shown, oldest first; None if they will not be reused."""


@contextlib.contextmanager
def places_of_bars() -> Iterator[list[Any]]:
    """Collect the outputs in which bars are shown within the block. No message removes a single output, but
    the result of the computation can be shown in it.
    """
    global _left
    before, _left = _left, []
    try:
        yield _left
    finally:
        _left = before


def place_of_bar() -> Any | None:
    """Return the handle of an output in which a bar was shown, each at most once; None if there is none."""
    return _left.pop(0) if _left else None


_begun: tuple[str, int | None] | None = None
"""The run of a cell, and how many messages the kernel had sent when it started."""


def cell_begins() -> None:
    """Record that a cell starts to run, so that earlier messages of the kernel do not count as its output. A
    bar that is the only output of its cell can be removed entirely.
    """
    global _begun
    run = _run_of_cell()
    _begun = (run, _sent()) if run else None


def _sent() -> int | None:
    """The number of messages that the kernel has sent, outputs and others; None if unknown."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()  # buffered output is sent now, so that it counts
    return getattr(getattr(getattr(_shell(), "kernel", None), "session", None), "message_count", None)


_place: tuple[str, Any] | None = None
"""For calls without a magic: the run of a cell in which a bar was last shown, and its output."""


def _place_of_call() -> Any | None:
    """The output of an earlier bar in this run of a cell, to be reused, so that a loop leaves only one."""
    global _place
    found, _place = _place, None
    return found[1] if found is not None and found[0] == _run_of_cell() else None


def _keep_place(handle: Any) -> None:
    global _place
    if run := _run_of_cell():
        _place = (run, handle)


def _run_of_cell() -> str:
    """The id of the message that the running cell came with; empty if there is none."""
    parent: dict = getattr(_shell(), "get_parent", dict)() or {}
    return (parent.get("header") or {}).get("msg_id", "")


class NotebookBar:
    """A bar of HTML; a widget would leave its state in the notebook file.

    If it was the only output of its cell so far, nothing is left of it. Otherwise an empty output stays,
    since no message removes a single one.
    """

    def __init__(self, total: int, doing: str, clock: Callable[[], float] = monotonic) -> None:
        from IPython.display import clear_output, display

        self._total, self._doing, self._clock, self._clear = total, doing, clock, clear_output
        self._due = 0.0
        self._alone = _begun is not None and _begun == (_run_of_cell(), _sent())
        self._handle: Any = place_of_bar() or _place_of_call()
        if self._handle is None:
            self._handle = display(self._picture(0, ""), raw=True, display_id=True)
        else:
            self._handle.update(self._picture(0, ""), raw=True)
        self._known = _sent()

    def show(self, done: int, words: str) -> None:
        now = self._clock()
        if now >= self._due:
            self._due = now + _EVERY
            self._update(self._picture(done, words))

    def close(self) -> None:
        if _left is None and self._alone and _sent() == self._known:
            self._clear()
            cell_begins()
            return
        self._update({"text/plain": ""})
        if _left is not None:
            _left.append(self._handle)
        else:
            _keep_place(self._handle)

    def _update(self, picture: dict[str, str]) -> None:
        self._alone = self._alone and _sent() == self._known
        self._handle.update(picture, raw=True)
        self._known = _sent()

    def _picture(self, done: int, words: str) -> dict[str, str]:
        from html import escape  # imported here, since few computations take so long

        words = words or (f"{done:,} of {self._total:,}" if self._total else "")
        words = f"{self._doing}: {words}" if words else self._doing
        share = f' max="{self._total}" value="{done}"' if self._total else ""
        bar = f"<progress{share}></progress>"
        return {"text/plain": words, "text/html": f"<label>{escape(words)} {bar}</label>"}


def _is_looked_at() -> bool:
    """Whether there is a screen on which a bar would be seen."""
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    """Whether output goes to a kernel's front end."""
    return getattr(_shell(), "kernel", None) is not None


def _shell() -> Any | None:
    """The IPython shell; None if there is none."""
    ipython: Any = sys.modules.get("IPython")  # not imported: without it there is no notebook
    return None if ipython is None else ipython.get_ipython()
