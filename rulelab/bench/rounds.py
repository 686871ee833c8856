"""Several calls timed in the same rounds: short blocks in random order, each from a random depth of the
stack.

Measurements on CPython 3.11 decided how; `make bench-duels` repeats them:

- Of two equal functions in a fixed order A B A B, one was called faster nearly always; so each round draws
  its order.
- Beside busy processes half of all blocks of 2 ms are interrupted, and the interval of a ratio was as wide
  as 1 to 50. Of four blocks of half a millisecond one is nearly always left in peace; so a round has four
  of each, and the fastest of them counts. Calls of several milliseconds are never left in peace; for them
  the time without a core is taken off (see `clock`).
- Of a hundred pairs of equal functions of 0.1 µs, about two stayed 5 to 10 % apart for as long as they
  were measured, because of where the code of one lay in memory, seen from the interpreter's stack. Most of
  the difference was gone one frame further down; so each block starts from a depth drawn again. What is left
  is rarely more than 3 % (2 of 289 pairs, the worst 4 %).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..pieces import Progress
from .clock import Clock, Memory, calibrated, memory_of, seconds_per_call

BLOCKS = 4
"""Blocks of each contestant in a round; the fastest of them is its time in that round."""
LONG_BLOCK = 2e-3
"""Where a block takes longer than this, which is one slow call then, a round has one block of each."""
DEPTHS = 32
"""A block starts from up to so many frames further down: as many as fill a page of 4 KiB."""
NEAR = 2.5
"""Contestants whose calibrated blocks differ by no more than this factor get blocks of the same length."""

Thunk = Callable[[], object]


@dataclass
class Contestant:
    """One of the calls that are timed; `runs` holds the seconds of its blocks, a tuple a whole round."""

    name: str
    thunk: Thunk
    loops: int = 1
    memory: Memory | None = None
    runs: list[tuple[float, ...]] = field(default_factory=list)

    def best_of_rounds(self) -> np.ndarray:
        """Seconds per call of the fastest block of each round."""
        return np.array([min(blocks) for blocks in self.runs]) / self.loops


class Rounds:
    """Calls that are timed in turns: enter them, then go through `pieces`.

    With `seconds` the rounds end after the one in which so much time was spent, getting ready not counted.
    A round counts when it is whole.
    """

    def __init__(self, wanted: int, seconds: float | None, rng: np.random.Generator, clock: Clock):
        self.wanted, self.seconds = wanted, seconds
        self.contestants: list[Contestant] = []
        self._blocks = BLOCKS
        self._rng, self._clock = rng, clock

    def enter(self, name: str, thunk: Thunk) -> None:
        """Let `thunk` take part."""
        self.contestants.append(Contestant(name, thunk))

    @property
    def whole(self) -> int:
        """The number of whole rounds so far."""
        return min((len(contestant.runs) for contestant in self.contestants), default=0)

    def planned(self, contestants: int) -> int:
        """How many pieces there are for so many contestants, as far as is known."""
        return contestants * (3 + self.wanted * self._blocks)

    def pieces(self) -> Iterator[Progress]:
        """Get ready, then run the rounds."""
        __tracebackhide__ = True
        done = 0
        for doing in self._ready():
            done += 1
            yield Progress(done, self.planned(len(self.contestants)), doing)
        ready, start, total = done, self._clock(), self.planned(len(self.contestants))
        for number in range(1, self.wanted + 1):
            for _ in self._round():
                done += 1
                expected = min(total, ready + self._in_time(done - ready, start))
                # Where the time is over first, the number asked for is none that will be reached.
                of_all = f" of {self.wanted:,}" if expected == total else ""
                yield Progress(min(done, expected), expected, f"round {number:,}{of_all}")
            if self.seconds is not None and self._clock() - start >= self.seconds:
                return

    def _in_time(self, done: int, start: float) -> int:
        """How many pieces the rounds will have within the limit if they go on as the first `done` of them."""
        passed = 0.0 if self.seconds is None else self._clock() - start
        share = min(1.0, passed / self.seconds) if self.seconds else 0.0
        return math.ceil(done / share) if share > 0.0 else sys.maxsize

    def _ready(self) -> Iterator[str]:
        __tracebackhide__ = True
        for one in self.contestants:
            one.thunk()  # compiles whatever is compiled at the first call
            yield f"first call of {one.name}"
        for one in self.contestants:
            one.loops, seconds = calibrated(one.thunk, self._clock)
            if seconds > LONG_BLOCK:
                self._blocks = 1
            yield f"calibrating {one.name}"
        for one in self.contestants:
            one.memory = memory_of(one.thunk)
            yield f"memory of {one.name}"
        own = [one.loops for one in self.contestants]
        for one in self.contestants:
            one.loops = max(loops for loops in own if loops <= NEAR * one.loops)

    def _round(self) -> Iterator[None]:
        """One round, a block at each step; its blocks are kept when the last of them is over."""
        __tracebackhide__ = True
        found: list[list[float]] = [[] for _ in self.contestants]
        for who in self._rng.permutation(np.repeat(np.arange(len(self.contestants)), self._blocks)):
            one = self.contestants[who]
            depth = int(self._rng.integers(DEPTHS))
            found[who].append(_from_depth(depth, one.thunk, one.loops, self._clock))
            if sum(map(len, found)) < self._blocks * len(found):
                yield
        for one, blocks in zip(self.contestants, found):
            one.runs.append(tuple(blocks))
        yield


def _from_depth(depth: int, thunk: Thunk, loops: int, clock: Clock) -> float:
    """The seconds of a block of calls, made from so many frames further down the interpreter's stack."""
    __tracebackhide__ = True
    if depth > 0:
        return _from_depth(depth - 1, thunk, loops, clock)
    return seconds_per_call(thunk, loops, clock) * loops
