"""Two functions timed against each other so that the verdict can be trusted on a machine that is busy with
other things.

Every round times one block of calls of each, in an order drawn anew; what is compared is the ratio within a
round, so a machine that slows down slows both. A fixed order would not do: with A B A B a 95 % interval
excluded 1 for nearly every pair of equal functions. The ratio comes with a 99 % bootstrap interval, and
differences of less than 3 % are no verdict.
"""

from __future__ import annotations

import copy
import os
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..ad import reverse
from ..errors import RuleLabError
from ..tables import Page, Report, Table, engineering
from .clock import Clock, Memory, calibrate, memory_of, seconds_per_call, wall

ROUNDS = 60
BAND = 1.03
"""Two functions whose times differ by less than this factor count as equally fast."""
CONFIDENCE = 0.99
LEAST_ROUNDS = 8
"""Fewer rounds than this give no verdict: the median of so few says more about chance than about the
functions.
"""

Thunk = Callable[[], object]


@dataclass(frozen=True, repr=False)
class Timings(Report):
    """How long calls of one function took; the names are those of IPython's TimeitResult.

    `all_runs` holds the seconds of each block of `loops` calls.
    """

    name: str
    loops: int
    all_runs: tuple[float, ...]
    memory: Memory | None = None

    @property
    def timings(self) -> list[float]:
        """Seconds per call, one entry for each block."""
        return [run / self.loops for run in self.all_runs]

    @property
    def repeat(self) -> int:
        """The number of blocks."""
        return len(self.all_runs)

    @property
    def best(self) -> float:
        """The fastest block's seconds per call; nan without any."""
        return min(self.timings, default=np.nan)

    @property
    def worst(self) -> float:
        """The slowest block's seconds per call."""
        return max(self.timings, default=np.nan)

    @property
    def median(self) -> float:
        """The middle one of the blocks' seconds per call."""
        return statistics.median(self.timings) if self.all_runs else np.nan

    @property
    def average(self) -> float:
        """The mean seconds per call."""
        return statistics.fmean(self.timings) if self.all_runs else np.nan

    @property
    def stdev(self) -> float:
        """The standard deviation of the blocks' seconds per call."""
        return statistics.pstdev(self.timings) if self.all_runs else np.nan

    def row(self) -> tuple[str, ...]:
        """The cells of this function's line in a table of timings."""
        memory = (
            ("–", "–")
            if self.memory is None
            else (engineering(self.memory.peak_bytes, "B"), f"{self.memory.kept_blocks:,}")
        )
        return self.name, engineering(self.best, "s"), engineering(self.median, "s"), *memory

    def page(self) -> Page:
        return Page(tables=(_timing_table((self,)),))

    def to_dict(self) -> dict:
        memory = (
            None
            if self.memory is None
            else {"peak_bytes": self.memory.peak_bytes, "kept_blocks": self.memory.kept_blocks}
        )
        return {
            "name": self.name,
            "loops": self.loops,
            "all_runs": list(self.all_runs),
            "best": self.best,
            "median": self.median,
            "worst": self.worst,
            "average": self.average,
            "stdev": self.stdev,
            "memory": memory,
        }


class Block(NamedTuple):
    """One timed block: in which round, which contestant, and the seconds all its calls took."""

    round: int
    contestant: int
    seconds: float


@dataclass(frozen=True, repr=False)
class Duel(Report):
    """Who of two is faster, by how much, and how sure that is.

    `ratio` says how many times faster `right` is than `left`: 2.0 means half the time; `interval` holds it
    with 99 % confidence. `verdict` speaks of `right`: "faster", "slower" or "cannot tell". `others` ran in
    the same rounds and take no part in the verdict. `refused` tells why the function that was asked for
    could not be timed, if so.
    """

    left: Timings
    right: Timings
    ratios: tuple[float, ...]
    interval: tuple[float, float]
    rounds_wanted: int
    others: tuple[Timings, ...] = ()
    interrupted: bool = False
    refused: str | None = None
    environment: dict = field(default_factory=dict, compare=False)

    @cached_property
    def ratio(self) -> float:
        """The median over the rounds of the time of `left` over the time of `right`."""
        return float(np.median(self.ratios)) if self.ratios else float("nan")

    @property
    def verdict(self) -> str:
        """ "faster", "slower" or "cannot tell", of `right` beside `left`."""
        low, high = self.interval
        if len(self.ratios) < LEAST_ROUNDS or not low <= high:
            return "cannot tell"
        if low > BAND:
            return "faster"
        return "slower" if high < 1 / BAND else "cannot tell"

    @property
    def sentence(self) -> str:
        """The verdict in words, with the ratio and its interval."""
        if not self.ratios:
            return "Nothing measured: stopped before the first round was over."
        low, high = self.interval
        spread = f"99 % interval {_times(low)} to {_times(high)}"
        sure = f"(ratio {_times(self.ratio)}, {spread}, {len(self.ratios)} rounds)"
        if self.verdict == "faster":
            return f"{self.right.name} is faster than {self.left.name}: {_times(self.ratio)} as fast {sure}."
        if self.verdict == "slower":
            longer = _times(1 / self.ratio)
            return f"{self.right.name} is slower than {self.left.name}: it takes {longer} the time {sure}."
        return f"Cannot tell which of {self.left.name} and {self.right.name} is faster {sure}."

    def page(self) -> Page:
        notes = [] if self.refused is None else [self.refused]
        if self.interrupted:
            notes.append(f"Interrupted after {len(self.ratios)} of {self.rounds_wanted} rounds.")
        return Page((self.sentence,), (_timing_table((self.left, self.right, *self.others)),), tuple(notes))

    def to_dict(self) -> dict:
        return {
            "verdict": self.verdict,
            "ratio": self.ratio,
            "interval": list(self.interval),
            "rounds": len(self.ratios),
            "rounds_wanted": self.rounds_wanted,
            "interrupted": self.interrupted,
            "refused": self.refused,
            "left": self.left.to_dict(),
            "right": self.right.to_dict(),
            "others": [other.to_dict() for other in self.others],
            "environment": self.environment,
        }


def measure(thunk: Thunk, *, name: str = "call", rounds: int = 20, clock: Clock = wall) -> Timings:
    """Time calls of `thunk`: blocks of calibrated length, after one call that is not counted.

    >>> measure(lambda: sum(range(100)), rounds=3).repeat
    3
    """
    thunk()
    loops = calibrate(thunk, clock)
    runs = tuple(seconds_per_call(thunk, loops, clock) * loops for _ in range(rounds))
    return Timings(name, loops, runs, memory_of(thunk))


def duel(
    a: Thunk,
    b: Thunk,
    *,
    rounds: int = ROUNDS,
    rng: np.random.Generator | None = None,
    clock: Clock = wall,
    names: tuple[str, str] = ("a", "b"),
    others: dict[str, Thunk] | None = None,
) -> Duel:
    """Time `a` against `b`, taking turns in random order; Ctrl-C ends it early with the rounds there are.

    `others` (name to function) run in the same rounds, for the table. `rng` draws the order and the
    bootstrap samples.
    """
    others = dict(others or {})
    contestants = _ready([*names, *others], [a, b, *others.values()], clock)
    return _fought(contestants, rounds, np.random.default_rng() if rng is None else rng, clock)


def gradient_duel(
    f: Callable,
    f_cr: Callable,
    *args,
    rounds: int = ROUNDS,
    rng: np.random.Generator | None = None,
    clock: Clock = wall,
    ad=None,
    **kwargs,
) -> Duel:
    """Time the gradient of `f` against the gradient of `f_cr` at `args`, and `f` itself beside them.

    Where `f` is refused by the AD, its plain call takes its place and the result says so. For a function
    that does not return a scalar, value and pullback of a seed of ones are timed. `args` are copied once;
    the caller's stay as they are.
    """
    ad = reverse if ad is None else ad
    args, kwargs = copy.deepcopy(args), copy.deepcopy(kwargs)
    primal = (f"{_name(f)} itself, no gradient", lambda: f(*args, **kwargs))
    left = (f"gradient of {_name(f)}", gradient_thunk(f, args, kwargs, ad))
    right = (f"gradient of {_name(f_cr)}", gradient_thunk(f_cr, args, kwargs, ad))
    entered, refused = [left, right, primal], _refusal(f, left[1])
    if refused is not None:
        entered = [primal, right]
    names, thunks = zip(*entered)
    rng = np.random.default_rng() if rng is None else rng
    return _fought(_ready(names, thunks, clock), rounds, rng, clock, refused)


def _refusal(f: Callable, gradient_of_f: Thunk) -> str | None:
    """Why the AD does not take `f`, in one line, or None if it does."""
    try:
        gradient_of_f()
    except RuleLabError as error:
        return f"{_name(f)} has no gradient without a rule ({type(error).__name__}: {_headline(error)})."
    return None


def gradient_thunk(f: Callable, args: tuple, kwargs: dict, ad) -> Thunk:
    """The call that is timed as "the gradient of f": `gradient` for a scalar function, else `pullback` and
    its use.
    """
    y = f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    if np.ndim(y) == 0 and isinstance(y, (int, float, np.number, np.ndarray)):
        return lambda: ad.gradient(f, *args, **kwargs)
    seed = np.ones_like(y)

    def value_and_pullback():
        _, back = ad.pullback(f, *args, **kwargs)
        return back(seed)

    return value_and_pullback


@dataclass
class Contestant:
    """One of the functions that are timed, with the length of its blocks and the blocks so far, by round."""

    name: str
    thunk: Thunk
    loops: int
    memory: Memory | None
    runs: dict[int, float] = field(default_factory=dict)

    def timings(self, rounds: Sequence[int]) -> Timings:
        """The timings of these rounds."""
        return Timings(self.name, self.loops, tuple(self.runs[r] for r in rounds), self.memory)


def blocks(
    contestants: Sequence[Contestant], rounds: int, rng: np.random.Generator, clock: Clock
) -> Iterator[Block]:
    """Time the contestants one block at a step, so that a caller may stop, or let others run, between any
    two.
    """
    for round_ in range(rounds):
        for who in rng.permutation(len(contestants)):
            contestant = contestants[who]
            seconds = seconds_per_call(contestant.thunk, contestant.loops, clock) * contestant.loops
            contestant.runs[round_] = seconds
            yield Block(round_, int(who), seconds)


def result_of(
    contestants: Sequence[Contestant],
    rounds_wanted: int,
    rng: np.random.Generator,
    *,
    interrupted: bool = False,
    refused: str | None = None,
) -> Duel:
    """The duel of the first two contestants, from the rounds that all of them have finished."""
    done = sorted(set.intersection(*(set(c.runs) for c in contestants)))
    left, right, *others = (c.timings(done) for c in contestants)
    ratios = tuple(a / b if b else float("inf") for a, b in zip(left.timings, right.timings))
    return Duel(
        left,
        right,
        ratios,
        _interval(ratios, rng),
        rounds_wanted,
        tuple(others),
        interrupted,
        refused,
        environment(),
    )


def environment() -> dict:
    """What the numbers depend on: Python, NumPy, the machine."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "system": platform.system(),
        "processors": os.cpu_count(),
    }


def _ready(names: Sequence[str], thunks: Sequence[Thunk], clock: Clock) -> list[Contestant]:
    for thunk in thunks:
        thunk()  # compiles whatever is compiled at the first call
    return [Contestant(n, t, calibrate(t, clock), memory_of(t)) for n, t in zip(names, thunks)]


def _fought(
    contestants: list[Contestant],
    rounds: int,
    rng: np.random.Generator,
    clock: Clock,
    refused: str | None = None,
) -> Duel:
    interrupted = False
    try:
        for _ in blocks(contestants, rounds, rng, clock):
            pass
    except KeyboardInterrupt:
        interrupted = True
    return result_of(contestants, rounds, rng, interrupted=interrupted, refused=refused)


def _interval(
    ratios: tuple[float, ...], rng: np.random.Generator, samples: int = 4000
) -> tuple[float, float]:
    """The bootstrap interval of the median ratio (percentiles; Efron, Annals of Statistics 7 (1979) 1-26)."""
    if not ratios:
        return float("nan"), float("nan")
    drawn = np.asarray(ratios)[rng.integers(0, len(ratios), (samples, len(ratios)))]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.median(drawn, axis=1), [tail, 1 - tail])
    return float(low), float(high)


def _timing_table(rows: Sequence[Timings]) -> Table:
    return Table(
        "Time of one call",
        ("call", "minimum", "median", "peak memory", "blocks kept"),
        tuple(timings.row() for timings in rows),
    )


def _times(ratio: float) -> str:
    if 0.1 <= ratio < 100:
        return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.3g}x"


def _name(f) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


def _headline(error: Exception) -> str:
    return str(getattr(error, "found", error)).split("\n", 1)[0]
