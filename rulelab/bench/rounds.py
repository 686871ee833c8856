"""Several calls timed in the same rounds: short blocks in random order, each from a random depth of the
stack.

The design follows from measurements on CPython 3.11, which `make bench-duels` repeats:

- Of two equal functions in a fixed order A B A B, one was nearly always reported as faster; so the order of
  each round is random.
- Beside busy processes, half of all blocks of 2 ms are interrupted, and the interval of a ratio was as wide
  as 1 to 50. Of four blocks of half a millisecond, one is nearly always uninterrupted; so a round has four
  of each, and the fastest of them counts. Calls of several milliseconds are always interrupted; for them
  the time without a core is subtracted (see `clock`).
- Of a hundred pairs of equal functions of 0.1 µs, about two remained 5 to 10% apart for as long as they
  were measured, because of the position of their code in memory relative to the interpreter's stack. Most of
  the difference vanished one frame further down; so each block starts from a random depth. The remaining
  difference is rarely more than 3% (2 of 289 pairs, the worst 4%).
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
"""If a block takes longer than this, it is one slow call, and a round has one block of each."""
DEPTHS = 32
"""A block starts from fewer than this many frames further down: as many as fill a page of 4 KiB."""
NEAR = 2.5
"""Contestants whose calibrated blocks differ by no more than this factor get blocks of the same length."""

Thunk = Callable[[], object]


@dataclass
class Contestant:
    """One of the timed calls; `runs` holds the seconds of its blocks, one tuple per complete round."""

    name: str
    thunk: Thunk
    loops: int = 1
    memory: Memory | None = None
    runs: list[tuple[float, ...]] = field(default_factory=list)

    def best_of_rounds(self) -> np.ndarray:
        """Seconds per call of the fastest block of each round."""
        return np.array([min(blocks) for blocks in self.runs]) / self.loops


class Rounds:
    """Calls that are timed alternately: enter them, then iterate over `pieces`.

    With `seconds`, the rounds end with the one in which this limit is reached, preparation not counted. Only
    complete rounds count.
    """

    def __init__(self, wanted: int, seconds: float | None, rng: np.random.Generator, clock: Clock):
        self.wanted, self.seconds = wanted, seconds
        self.contestants: list[Contestant] = []
        self._blocks = BLOCKS
        self._rng, self._clock = rng, clock

    def enter(self, name: str, thunk: Thunk) -> None:
        """Add `thunk` to the calls that are timed."""
        self.contestants.append(Contestant(name, thunk))

    @property
    def whole(self) -> int:
        """The number of complete rounds so far."""
        return min((len(contestant.runs) for contestant in self.contestants), default=0)

    def planned(self, contestants: int) -> int:
        """The expected number of steps for this number of contestants."""
        return contestants * (3 + self.wanted * self._blocks)

    def pieces(self) -> Iterator[Progress]:
        """Prepare the calls, then run the rounds."""
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
                # If the time limit comes first, the requested number of rounds will not be reached.
                of_all = f" of {self.wanted:,}" if expected == total else ""
                yield Progress(min(done, expected), expected, f"round {number:,}{of_all}")
            if self.seconds is not None and self._clock() - start >= self.seconds:
                return

    def _in_time(self, done: int, start: float) -> int:
        """The number of steps within the time limit, extrapolated from the first `done` of them."""
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
        """Run one round, one block per step; its blocks are recorded after the last of them."""
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
    """The seconds of a block of calls, run `depth` frames further down the interpreter's stack."""
    __tracebackhide__ = True
    if depth > 0:
        return _from_depth(depth - 1, thunk, loops, clock)
    return seconds_per_call(thunk, loops, clock) * loops
