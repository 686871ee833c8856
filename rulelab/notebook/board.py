"""What the pages of one panel share: the event loop, the verdicts, the status line, and the queue of runs.

A browser's message may arrive on a thread of its own (JupyterLab sends those of widgets to a subshell), so
every callback is passed to the event loop on which the panel was opened, and no two of them run at once. Only
Stop is handled on the thread it arrives on. Every failure is reported in the panel's own status line.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from html import escape
from typing import Any

from ..pieces import Progress, percent
from ..tables import prose
from ..verdicts import NOT_JUDGED_BY_AN_ERROR, SIGNS, most_pressing, sign_of
from . import controls, tabs
from .displays import error_in_words
from .pair import Pair
from .request_queue import RUNNING, WAITING, Request, RequestQueue
from .running import Interruption, Runner


class Board:
    """What the tabs of one panel share: the event loop, the verdicts, the status line, the queue of runs, and
    the wording of errors.

    `changed(soon)` is called when what the panel shows has changed, with True if the update may wait a
    moment.
    """

    def __init__(self, pair: Pair, loop: asyncio.AbstractEventLoop | None, changed: Callable[[bool], None]):
        self.pair, self.loop, self.changed = pair, loop, changed
        self.runner = Runner(loop)
        self.turns = RequestQueue(self.runner, self._begin, self._follow)
        self.kit = controls.Kit()
        self.verdicts, self.status = self.kit.html(), self.kit.html()
        self.marked: Callable[[], None] = lambda: None
        self.failed: dict[str, str] = {}
        self.unjudged: set[str] = set()
        self.followed: dict[str, Callable[[str], None]] = {}
        self.opened: dict[str, Callable[[], None]] = {}
        self.closing: list[Callable[[], None]] = []
        self._doing: Interruption | None = None
        self.shell = shell()
        self.thread = threading.get_ident()
        self.closed = False

    def say(self, words: str) -> None:
        """Put words into the status line, which screen readers read out."""
        if not self.closed:
            self.status.value = (
                '<div role="status" class="rulelab-status tex2jax_ignore mathjax_ignore">'
                f"{prose(words)}</div>"
            )

    def show_verdicts(self) -> None:
        """Show the results so far, in a line that stays: the verdict of each page, and the colour of the most
        pressing one.
        """
        if self.closed:
            return
        told = [(tab.name, self.judged(tab)) for tab in tabs.registered()]
        words = [
            f"<span>{sign_of(found[0]).html()}{escape(name)}: {prose(found[1])}</span>"
            for name, found in told
            if found is not None
        ]
        pressing = most_pressing(found[0] for _, found in told if found is not None)
        colour = "#9e9e9e" if pressing is None else SIGNS[pressing].colour
        self.verdicts.value = (
            f'<div class="rulelab-verdicts tex2jax_ignore mathjax_ignore" '
            f'style="border-left-color: {colour}">'
            f"{''.join(words) or 'Nothing is known yet.'}</div>"
        )
        self.marked()

    def judged(self, tab: tabs.Tab) -> tuple[str, str] | None:
        """The verdict of a page and a few words about it; "not judged" for a run that failed."""
        if tab.name in self.unjudged:
            return "error", NOT_JUDGED_BY_AN_ERROR
        return tabs.judged(tab, self.pair)

    def when_opened(self, tab: str, action: Callable[[], None]) -> None:
        """Call this each time the page of this tab is opened."""
        self.opened[tab] = action

    def when_closed(self, action: Callable[[], None]) -> None:
        """Call this when the panel is closed."""
        self.closing.append(action)

    def callback(self, action: Callable[..., None]) -> Callable[..., None]:
        """The action as a widget's callback: it runs on the panel's loop, and its errors are shown in the
        status line.
        """

        def called(*message: Any) -> None:
            if self.loop is None or threading.get_ident() == self.thread:
                self.guarded(action, *message)
            else:
                self.loop.call_soon_threadsafe(self.guarded, action, *message)

        return called

    def guarded(self, action: Callable[..., None], *given: Any) -> None:
        """Run the action; an error, or the kernel's interrupt, is reported and ends nothing else."""
        if self.closed:
            return
        outer = self._doing
        try:
            with Interruption() as self._doing, self._doing.piece():
                action(*given)
        except KeyboardInterrupt:
            self.say("Stopped; what is shown is from an earlier run.")
        except Exception as error:
            self.say(error_in_words(error))
        finally:
            self._doing = outer

    def ask(self, request: Request) -> None:
        """Run what a page requests, now or when its turn comes."""
        if not self.turns.ask(request):
            return  # pressed twice, before the page was updated
        if self.turns.state(request.page) == WAITING and self.turns.running is not None:
            self.say(f"{self.turns.queue.removesuffix('.')}, until {self.turns.running.doing} is done.")

    def _begin(self, request: Request) -> None:
        self.failed.pop(request.page, None)
        if request.judges:
            self.unjudged.discard(request.page)
        try:
            measurement = request.make()
        except Exception as error:
            self._end(request, None, error)
            return
        except KeyboardInterrupt:
            self.turns.begin_next()
            raise
        self.runner.start(
            measurement, request.told, lambda report, error, stopped: self._end(request, report, error)
        )

    def _end(self, request: Request, report: Any, error: Exception | None) -> None:
        """Show what a run has returned, even if it was stopped or has failed, and begin the next."""

        def show() -> None:
            if report is not None:
                request.ended(report)
            if error is not None:
                self._fail(request, error)
            self.show_verdicts()

        self.turns.end()
        self.guarded(show)
        self.turns.begin_next()
        self.guarded(self.changed, False)

    def _fail(self, request: Request, error: Exception) -> None:
        """Show an error in the status line, and on the page until its next run."""
        page = request.page
        self.failed[page] = error_in_words(error)
        if request.judges:
            self.unjudged.add(page)
        self.say(f"{page}: {self.failed[page].partition(chr(10))[0]}")  # the page shows all of it
        if page in self.opened:
            self.opened[page]()

    def _follow(self) -> None:
        for page, follow in self.followed.items():
            follow(self.turns.state(page))
        self.marked()

    def say_progress(self, doing: str, progress: Progress) -> None:
        """Show how far the run is, what it does, when it will be done, and what waits."""
        left = self.turns.left(progress)
        words = f"{doing}, {min(99, percent(progress))}%{f', {left}' if left else ''}: {progress.doing}"
        self.say("\n".join(filter(None, (words, self.turns.queue))))

    def stop(self, page: str) -> None:
        """End the run of a page, or the action of a control, or take the page out of the queue.

        Handled on the thread it arrives on, because the loop may be busy with a long call.
        """
        doing, state = self._doing, self.turns.state(page)
        if doing is not None:  # also while a run waits: the action is what takes long
            doing.ask()
        if state == RUNNING or doing is not None:
            self.runner.stop()
        elif state == WAITING:
            self.callback(self._withdraw)(page)
        else:
            self.callback(lambda: self.say("Nothing is running."))()

    def _withdraw(self, page: str) -> None:
        if self.turns.withdraw(page):
            self.say(f"{page}: no longer waiting. {self.turns.queue}".strip())

    def close(self) -> None:
        """End the run and everything else that the tabs have started."""
        self.closed = True
        self.turns.clear()
        self.runner.close()
        for close in self.closing:
            close()
        self.opened.clear()
        self.closing.clear()
        self.followed.clear()
        self.marked = lambda: None


def shell() -> Any:
    from IPython import get_ipython

    return get_ipython()
