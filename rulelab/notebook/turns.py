"""What a panel has been asked to measure: one request runs, the others wait their turn."""

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
    """What a page asks for. `make` gives the measurement when its turn has come, `doing` is what it is called
    (`the check`), `told` hears how far it is, `ended` hears the report. Where it `judges` nothing (a rule is
    derived), the verdict of the page stays when it fails.
    """

    page: str
    doing: str
    make: Callable[[], Measurement]
    told: Callable[[Progress], None]
    ended: Callable[[Any], None]
    judges: bool = True


class Turns:
    """The requests of one panel, one of each page at most.

    `begin(request)` is called when the turn of a request has come. At its end `end()` is to be called, before
    anybody is told of it: whoever reads that a run is done can press Run again. Then `begin_next()` begins
    the next. `changed()` hears that somebody's state is another one.
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
        """Begin, or wait; False where the page has a request already."""
        if self.state(request.page) != IDLE:
            return False
        self.waiting.append(request)
        if self.running is None:
            self.begin_next()
        else:
            self.changed()
        return True

    def withdraw(self, page: str) -> bool:
        """Take the request of a page out of those that wait; False where none does."""
        left = [request for request in self.waiting if request.page != page]
        found, self.waiting = len(left) < len(self.waiting), left
        if found:
            self.changed()
        return found

    def end(self) -> None:
        """The one that ran is over, and its page is idle; the next has not begun."""
        self.running = None
        self.changed()

    def begin_next(self) -> None:
        """Begin the one that has waited longest, if there is one."""
        self.running = self.waiting.pop(0) if self.waiting else None
        self._pace = Pace(self.clock())
        self.changed()
        if self.running is not None:
            self.begin(self.running)

    def clear(self) -> None:
        """Forget all of them."""
        self.running, self.waiting = None, []

    def left(self, progress: Progress) -> str:
        """About how long it will still take, by its pace so far; empty before one can tell.

        >>> from rulelab.notebook.running import Runner
        >>> now = iter([0.0, 10.0])
        >>> turns = Turns(Runner(None), lambda request: None, lambda: None, lambda: next(now))
        >>> turns.begin_next()
        >>> turns.left(Progress(25, 100, "round 5"))
        'about 30 s left'
        """
        return left_in_words(self._pace.left(share_of(progress), self.clock()))

    @property
    def queue(self) -> str:
        """Who waits, in words; empty where nobody does."""
        return f"Waiting: {', then '.join(r.doing for r in self.waiting)}." if self.waiting else ""
