"""The measurements requested from a panel: one request runs, the others wait their turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..bench.clock import Clock
from ..pieces import Measurement, Pace, Progress, left_in_words, share_of
from .running import Runner

IDLE, RUNNING, WAITING = "idle", "running", "waiting"


@dataclass(frozen=True)
class Request:
    """What a page requests. `make` returns the measurement when its turn comes, `doing` is its name (`the
    check`), `told` receives the progress, `ended` the report. If it does not `judges` anything (a rule is
    derived), a failure leaves the verdict of the page unchanged.
    """

    page: str
    doing: str
    make: Callable[[], Measurement]
    told: Callable[[Progress], None]
    ended: Callable[[Any], None]
    judges: bool = True


class RequestQueue:
    """The requests of one panel, at most one for each page.

    `begin(request)` is called when the turn of a request comes. When it is over, `end()` must be called
    before anything reports that, since a user who reads it may press Run again. Then `begin_next()` starts
    the next. `changed()` is called when the state of a page changes.
    """

    def __init__(
        self,
        runner: Runner,
        begin: Callable[[Request], None],
        changed: Callable[[], None],
        clock: Clock = time.monotonic,
    ):
        self.runner, self.begin, self.changed, self.clock = runner, begin, changed, clock
        self.running: Request | None = None
        self.waiting: list[Request] = []
        self._pace = Pace(0.0)

    def state(self, page: str) -> str:
        """Whether the request of a page is running or waiting; idle where there is none."""
        if self.running is not None and self.running.page == page:
            return RUNNING
        return WAITING if any(request.page == page for request in self.waiting) else IDLE

    def ask(self, request: Request) -> bool:
        """Begin, or wait; False if the page has a request already."""
        if self.state(request.page) != IDLE:
            return False
        self.waiting.append(request)
        if self.running is None:
            self.begin_next()
        else:
            self.changed()
        return True

    def withdraw(self, page: str) -> bool:
        """Remove the waiting request of a page; False if there is none."""
        left = [request for request in self.waiting if request.page != page]
        found, self.waiting = len(left) < len(self.waiting), left
        if found:
            self.changed()
        return found

    def end(self) -> None:
        """End the running request: its page is idle, and the next has not begun."""
        self.running = None
        self.changed()

    def begin_next(self) -> None:
        """Begin the request that has waited longest, if any."""
        self.running = self.waiting.pop(0) if self.waiting else None
        self._pace = Pace(self.clock())
        self.changed()
        if self.running is not None:
            self.begin(self.running)

    def clear(self) -> None:
        """Drop all requests."""
        self.running, self.waiting = None, []

    def left(self, progress: Progress) -> str:
        """About how long it will still take, by its pace so far; empty while that is unknown.

        >>> from rulelab.notebook.running import Runner
        >>> now = iter([0.0, 10.0])
        >>> turns = RequestQueue(Runner(None), lambda request: None, lambda: None, lambda: next(now))
        >>> turns.begin_next()
        >>> turns.left(Progress(25, 100, "round 5"))
        'about 30 s left'
        """
        return left_in_words(self._pace.left(share_of(progress), self.clock()))

    @property
    def queue(self) -> str:
        """The waiting requests, in words; empty if there are none."""
        return f"Waiting: {', then '.join(r.doing for r in self.waiting)}." if self.waiting else ""
