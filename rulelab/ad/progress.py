"""How far a long computation is: a bar that is shown after a second and gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from time import monotonic
from typing import Any, Protocol

DELAY = 1.0  # seconds in which nothing is shown: what is over by then needs no bar
_EVERY = 0.2  # seconds between two pictures of a bar in a notebook, each of which is a message to the page


class Bar(Protocol):
    """Something on the screen that says how far a computation is."""

    def show(self, done: int, words: str) -> None:
        """Say that `done` steps are over, and in `words`, which may be empty, what the last one was."""

    def close(self) -> None:
        """Leave the screen as it was."""


class Progress:
    """`with Progress(100, "rows of a Jacobian") as progress:` and `progress.step()` after each of the 100;
    `progress.reach(n, words)` where steps are not counted one by one, or where there is more to say.

    The bar opens once the block has run for a second, and is taken away when the block ends, be it by an
    error or by Ctrl-C. Nothing is shown where nobody looks: without a notebook, and where the standard
    error stream is no terminal. `clock` tells the time in seconds, `opened` makes the bar.

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
    ) -> None:
        self.total, self.doing, self.done = total, doing, 0
        self._clock, self._opened = clock, opened or bar_for_screen
        self._start = clock()
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def step(self) -> None:
        """Count one step as done."""
        self.reach(self.done + 1)

    def reach(self, done: int, words: str = "") -> None:
        """Say how many steps are done, at most all of them, and what is to be said beside."""
        self.done = min(done, self.total)
        if self._bar is None:
            elapsed = self._clock() - self._start
            if elapsed < DELAY:
                return
            self._bar = self._opened(self.total, self.doing, elapsed)
        self._bar.show(self.done, words)


def bar_for_screen(total: int, doing: str, elapsed: float) -> Bar:
    """The bar for where the output goes: a notebook, a terminal, or nowhere."""
    if _in_notebook():
        return NotebookBar(total, doing)
    if sys.stderr is not None and sys.stderr.isatty():
        return TerminalBar(total, doing, elapsed)
    return Silent()


class Silent:
    """No bar."""

    def show(self, done: int, words: str) -> None:
        pass

    def close(self) -> None:
        pass


class TerminalBar:
    """A bar of tqdm on the standard error stream."""

    def __init__(self, total: int, doing: str, elapsed: float) -> None:
        from tqdm import tqdm  # here, because `import rulelab` must stay light

        class Unwatched(tqdm):
            monitor_interval = 0  # the thread that would watch over slow bars would outlive this one

        self._doing = doing
        # One step is looked at as any other, for the speed of the first says nothing of the next.
        self._bar = Unwatched(
            total=total, desc=doing, leave=False, file=sys.stderr, dynamic_ncols=True, miniters=1, smoothing=0
        )
        self._bar.start_t -= elapsed

    def show(self, done: int, words: str) -> None:
        if words:  # which say more than how many steps there are in a second
            self._bar.bar_format = "{desc} {percentage:3.0f}%|{bar}|"
            self._bar.set_description_str(f"{self._doing}: {words}", refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class NotebookBar:
    """A bar of HTML; a widget would leave its remains in the file."""

    def __init__(self, total: int, doing: str, clock: Callable[[], float] = monotonic) -> None:
        from IPython.display import display

        self._total, self._doing, self._clock = total, doing, clock
        self._due = 0.0
        self._handle = display(self._picture(0, ""), raw=True, display_id=True)

    def show(self, done: int, words: str) -> None:
        now = self._clock()
        if now >= self._due:
            self._due = now + _EVERY
            self._handle.update(self._picture(done, words), raw=True)

    def close(self) -> None:
        self._handle.update({"text/plain": ""}, raw=True)

    def _picture(self, done: int, words: str) -> dict[str, str]:
        words = f"{self._doing}: {words or f'{done:,} of {self._total:,}'}"
        bar = f'<progress max="{self._total}" value="{done}"></progress>'
        return {"text/plain": words, "text/html": f"<label>{escape(words)} {bar}</label>"}


def _in_notebook() -> bool:
    """Whether output goes to a kernel's front end."""
    ipython: Any = sys.modules.get("IPython")  # not imported: where it is not loaded there is no notebook
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
