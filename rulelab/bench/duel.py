"""Two functions timed against each other, with a verdict that is reliable on a busy machine too.

The verdict is on the ratio of both times within a round (see `rounds`), since a machine that slows down
slows both. The ratio has a 99% bootstrap interval, and differences of less than 4% give no verdict.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..ad import reverse
from ..pieces import Progress, checked_rounds, checked_seconds, run
from ..tables import Page, Report, Table, engineering, saved_number, span
from .calls import Timed, argument_tuple, copied, gradient_of, name_of, primal_name, refusal, timed_gradient
from .clock import Clock, Memory, calibrate, memory_of, seconds_per_call, wall
from .environment import environment, warnings_of
from .rounds import Contestant, Rounds, Thunk

ROUNDS = 60
BAND = 1.04
"""Two functions whose times differ by less than this factor count as equally fast: the position of their code
in memory alone can make a difference of 4% (measured on pairs of equal functions).
"""
CONFIDENCE = 0.99
LEAST_ROUNDS = 8
"""Fewer rounds than this give no verdict: the median of so few is mostly chance."""


@dataclass(frozen=True, repr=False)
class Timings(Report):
    """The timings of one function, with the attribute names of IPython's TimeitResult.

    Attributes
    ----------
    name : str
        The name of the call.
    loops : int
        The number of calls in a block.
    all_runs : tuple of float
        The seconds of each block.
    memory : Memory or None
        The memory that one call uses, if it was measured.
    environment : dict
        The versions, the machine and its load; empty for the timings in a duel, which has its own.
    """

    name: str
    loops: int
    all_runs: tuple[float, ...]
    memory: Memory | None = None
    environment: dict[str, Any] = field(default_factory=dict, compare=False)

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
        """The seconds per call of the fastest block; nan without blocks."""
        return min(self.timings, default=math.nan)

    @property
    def worst(self) -> float:
        """The seconds per call of the slowest block; nan without blocks."""
        return max(self.timings, default=math.nan)

    @property
    def median(self) -> float:
        """The median of the blocks' seconds per call."""
        return statistics.median(self.timings) if self.all_runs else math.nan

    @property
    def average(self) -> float:
        """The mean seconds per call."""
        return statistics.fmean(self.timings) if self.all_runs else math.nan

    @property
    def stdev(self) -> float:
        """The standard deviation of the blocks' seconds per call."""
        return statistics.pstdev(self.timings) if self.all_runs else math.nan

    @property
    def middle_half(self) -> tuple[float, float]:
        """The first and third quartile of the blocks' seconds per call."""
        if not self.all_runs:
            return math.nan, math.nan
        low, high = np.quantile(self.timings, [0.25, 0.75])
        return float(low), float(high)

    def row(self) -> tuple[str, ...]:
        """The row of this function in a table of timings."""
        memory = (
            ("–", "–")
            if self.memory is None
            else (engineering(self.memory.peak_bytes, "B"), f"{self.memory.kept_blocks:,}")
        )
        spread = span(*self.middle_half, "s") if self.all_runs else "–"
        return self.name, engineering(self.best, "s"), engineering(self.median, "s"), spread, *memory

    def page(self) -> Page:
        return Page(tables=(_timing_table((self,)),), notes=tuple(warnings_of(self.environment)))

    def to_dict(self) -> dict[str, Any]:
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
            "middle_half": list(self.middle_half),
            "worst": self.worst,
            "average": self.average,
            "stdev": self.stdev,
            "memory": memory,
            "environment": self.environment,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Timings:
        """The timings written by `to_dict`."""
        memory = saved["memory"]
        if int(saved["loops"]) < 1:
            raise ValueError("a block has at least one call")
        return cls(
            str(saved["name"]),
            int(saved["loops"]),
            tuple(saved_number(seconds) for seconds in saved["all_runs"]),
            None if memory is None else Memory(int(memory["peak_bytes"]), int(memory["kept_blocks"])),
            dict(saved.get("environment", {})),
        )


@dataclass(frozen=True, repr=False)
class Duel(Report):
    """Which of two functions is faster, by how much, and with which certainty.

    Attributes
    ----------
    left, right : Timings
        The timings of both functions; `verdict` is about `right`.
    ratios : tuple of float
        The time of `left` divided by that of `right` in each complete round; `ratio` is their median, and
        2.0 means that `right` takes half the time.
    interval : tuple of two floats
        The bounds of the 99% confidence interval of the ratio; nan without enough rounds.
    rounds_wanted : int
        The number of rounds requested.
    others : tuple of Timings
        The timings of other calls in the same rounds, which do not affect the verdict.
    interrupted : bool
        Whether it was stopped before its end.
    refused : str or None
        Why the requested function could not be timed, if so.
    time_limit : float or None
        The time limit in seconds, if there was one.
    environment : dict
        The versions, the machine and its load.
    remark : str or None
        Anything else worth knowing about the two, for instance that their gradients differ.
    """

    left: Timings
    right: Timings
    ratios: tuple[float, ...]
    interval: tuple[float, float]
    rounds_wanted: int
    others: tuple[Timings, ...] = ()
    interrupted: bool = False
    refused: str | None = None
    time_limit: float | None = None
    environment: dict[str, Any] = field(default_factory=dict, compare=False)
    remark: str | None = None

    @cached_property
    def ratio(self) -> float:
        """The median over the rounds of the time of `left` divided by the time of `right`."""
        return float(np.median(self.ratios)) if self.ratios else float("nan")

    @property
    def verdict(self) -> str:
        """ "faster", "slower" or "cannot tell": `right` compared with `left`."""
        low, high = self.interval
        if len(self.ratios) < LEAST_ROUNDS or not low <= high:
            return "cannot tell"
        if low > BAND:
            return "faster"
        return "slower" if high < 1 / BAND else "cannot tell"

    @property
    def sentence(self) -> str:
        """The verdict in words, with the ratio and its interval."""
        return f"{self._headline} ({self._sure})." if self.ratios else f"{self._headline}."

    @property
    def _headline(self) -> str:
        """The verdict in words."""
        if not self.ratios:
            return "Nothing measured: stopped before the first round finished"
        left, right = _with_article(self.left.name), _with_article(self.right.name)
        subject = right[0].upper() + right[1:] if right != self.right.name else right
        if len(self.ratios) < LEAST_ROUNDS:
            return f"Too few rounds for a verdict on {left} and {right}: {LEAST_ROUNDS} are needed"
        if self.verdict == "faster":
            times = ratio_in_words(self.ratio)
            return f"{subject} is faster than {left}: {times} as fast"
        if self.verdict == "slower":
            longer = ratio_in_words(1 / self.ratio)
            return f"{subject} is slower than {left}: it takes {longer} the time"
        return f"Cannot tell which of {left} and {right} is faster{self._nearly_equal}"

    @property
    def _nearly_equal(self) -> str:
        """Why there is no verdict although the interval may lie on one side of 1, in words."""
        low, high = self.interval
        is_within = 1 / BAND <= low and high <= BAND
        return f": they differ by less than {100 * (BAND - 1):.0f}%" if is_within else ""

    @property
    def _sure(self) -> str:
        """The ratio, its interval and the number of rounds, in words."""
        low, high, ratio = *self.interval, self.ratio
        what = {"faster": "speed", "slower": "time"}.get(self.verdict, "ratio of the times")
        if self.verdict == "slower":  # in the sense of the headline
            low, high, ratio = 1 / high, 1 / low, 1 / ratio
        spread = f"99% interval {ratio_in_words(low)} to {ratio_in_words(high)}"
        return f"{what} {ratio_in_words(ratio)}, {spread}, {rounds_in_words(len(self.ratios))}"

    def page(self) -> Page:
        notes = [] if self.refused is None else [self.refused]
        if len(self.ratios) < self.rounds_wanted:
            is_limit = not self.interrupted and self.time_limit is not None
            limit = f", at the limit of {self.time_limit:g} s" if is_limit else ""
            wanted = rounds_in_words(self.rounds_wanted)
            notes.append(f"Stopped after {len(self.ratios):,} of {wanted}{limit}.")
        notes += warnings_of(self.environment)
        sure = (f"{self._sure[0].upper()}{self._sure[1:]}.",) if self.ratios else ()
        lead = (f"{self._headline}.", *sure, *([] if self.remark is None else [self.remark]))
        table = _timing_table((self.left, self.right, *self.others))
        return Page(lead, (table,), tuple(notes), self.verdict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "ratio": self.ratio,
            "interval": list(self.interval),
            "rounds": len(self.ratios),
            "rounds_wanted": self.rounds_wanted,
            "ratios": list(self.ratios),
            "interrupted": self.interrupted,
            "time_limit": self.time_limit,
            "refused": self.refused,
            "remark": self.remark,
            "left": self.left.to_dict(),
            "right": self.right.to_dict(),
            "others": [other.to_dict() for other in self.others],
            "environment": self.environment,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Duel:
        """The duel written by `to_dict`."""
        low, high = saved["interval"]
        refused, limit = saved["refused"], saved["time_limit"]
        return cls(
            Timings.from_dict(saved["left"]),
            Timings.from_dict(saved["right"]),
            tuple(saved_number(ratio) for ratio in saved["ratios"]),
            (saved_number(low), saved_number(high)),
            int(saved["rounds_wanted"]),
            tuple(Timings.from_dict(other) for other in saved["others"]),
            bool(saved["interrupted"]),
            None if refused is None else str(refused),
            None if limit is None else saved_number(limit),
            dict(saved["environment"]),
            None if saved.get("remark") is None else str(saved["remark"]),
        )


def _with_article(name: str) -> str:
    """The name of a call within a sentence.

    >>> _with_article("gradient of f"), _with_article("value with pullback of f"), _with_article("f(x)")
    ('the gradient of f', 'the value with pullback of f', 'f(x)')
    """
    return f"the {name}" if name.startswith(("gradient of ", "value with pullback of ")) else name


def measure(thunk: Thunk, *, name: str = "call", rounds: int = 20, clock: Clock = wall) -> Timings:
    """Time calls of `thunk` in blocks of calibrated length, after one call that is not counted.

    Parameters
    ----------
    thunk : callable
        A function of no arguments.
    name : str
        The name of the call in the report.
    rounds : int
        The number of blocks.
    clock : callable
        A function that returns the time in seconds.

    Returns
    -------
    Timings
        The times of the blocks.

    Raises
    ------
    MeasurementError
        If `rounds` is not a positive whole number.

    Examples
    --------
    >>> measure(lambda: sum(range(100)), rounds=3).repeat
    3
    """
    __tracebackhide__ = True
    rounds = checked_rounds(rounds)
    thunk()
    loops = calibrate(thunk, clock)
    runs = []
    for _ in range(rounds):
        runs.append(seconds_per_call(thunk, loops, clock) * loops)
    return Timings(name, loops, tuple(runs), memory_of(thunk), environment())


class DuelRun:
    """`duel` in steps, so that it can be stopped, or other code can run in between.

    Parameters
    ----------
    a, b : callable
        Functions of no arguments.
    rounds : int
        The number of rounds.
    seconds : float, optional
        The time limit: no round begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order and the bootstrap.
    clock : callable
        A function that returns the time in seconds.
    names : tuple of str
        The names of the two in the report.
    others : dict of callables, optional
        Other functions by name, which run in the same rounds and appear in the table.

    Examples
    --------
    >>> run = DuelRun(lambda: sum(range(100)), lambda: sum(range(100)), rounds=2)
    >>> for step in run.pieces(): pass
    >>> len(run.result().ratios)
    2
    """

    def __init__(
        self,
        a: Thunk,
        b: Thunk,
        *,
        rounds: int = ROUNDS,
        seconds: float | None = None,
        rng: np.random.Generator | None = None,
        clock: Clock = wall,
        names: tuple[str, str] = ("a", "b"),
        others: dict[str, Thunk] | None = None,
    ):
        self._rounds, self._samples = _prepared(rounds, seconds, rng, clock)
        for name, thunk in ((names[0], a), (names[1], b), *(others or {}).items()):
            self._rounds.enter(name, thunk)

    def pieces(self) -> Iterator[Progress]:
        """Calibrate and run the rounds, one block per step."""
        return self._rounds.pieces()

    def result(self, *, interrupted: bool = False) -> Duel:
        """The duel over the rounds completed so far."""
        return _result(self._rounds, self._samples, interrupted=interrupted)


class GradientDuel:
    """`gradient_duel` in steps, so that it can be stopped, or other code can run in between.

    The arguments are copied immediately; everything else happens in `pieces`.

    Parameters
    ----------
    f, f_cr : callable
        The function, and its copy that carries the rule.
    args : tuple
        Their positional arguments.
    kwargs : dict, optional
        Their keyword arguments.
    rounds : int
        The number of rounds.
    seconds : float, optional
        The time limit: no round begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order and the bootstrap.
    clock : callable
        A function that returns the time in seconds.
    names : tuple of str, optional
        The names of the two in the report; by default their own names.
    ad : object, optional
        An object with `gradient` and `pullback`, which differentiates; by default rulelab's reverse mode.

    Examples
    --------
    >>> run = GradientDuel(lambda x: x * x, lambda x: x**2, (3.0,), rounds=2)
    >>> for step in run.pieces(): pass
    >>> len(run.result().ratios)
    2
    """

    def __init__(
        self,
        f: Callable[..., Any],
        f_cr: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        rounds: int = ROUNDS,
        seconds: float | None = None,
        rng: np.random.Generator | None = None,
        clock: Clock = wall,
        names: tuple[str, str] | None = None,
        ad: Any = None,
    ):
        self._f, self._f_cr, self._ad = f, f_cr, reverse if ad is None else ad
        self._names = (name_of(f), name_of(f_cr)) if names is None else names
        reverse.need_positional(f, argument_tuple(args), kwargs or {})
        self._rounds, self._samples = _prepared(rounds, seconds, rng, clock)
        self._args, self._kwargs = copied(f, args, kwargs or {})
        self._refused: str | None = None

    def pieces(self) -> Iterator[Progress]:
        """Prepare the calls, calibrate and run the rounds, one block per step."""
        __tracebackhide__ = True
        f, f_cr, args, kwargs, names = self._f, self._f_cr, self._args, self._kwargs, self._names
        own_args, own_kwargs = copied(f, args, kwargs)  # f itself may change its arguments
        total = self._rounds.planned(3)
        left = timed_gradient(f, args, kwargs, self._ad, names[0])
        yield Progress(0, total, f"calling {names[0]}")
        self._refused = refusal(names[0], left.thunk)
        yield Progress(0, total, f"compiling the gradient of {names[0]}")
        right = timed_gradient(f_cr, args, kwargs, self._ad, names[1])
        yield Progress(0, total, f"calling {names[1]}")

        def primal():
            __tracebackhide__ = True
            return f(*own_args, **own_kwargs)

        plainly = Timed(primal_name(names[0]), primal)
        for one in [plainly, right] if self._refused is not None else [left, right, plainly]:
            self._rounds.enter(one.name, one.thunk)
        yield from self._rounds.pieces()

    def result(self, *, interrupted: bool = False) -> Duel:
        """The duel over the rounds completed so far."""
        names = (gradient_of(self._names[0]), gradient_of(self._names[1]))
        return _result(
            self._rounds, self._samples, interrupted=interrupted, refused=self._refused, names=names
        )


def duel(
    a: Thunk,
    b: Thunk,
    *,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    rng: np.random.Generator | None = None,
    clock: Clock = wall,
    names: tuple[str, str] = ("a", "b"),
    others: dict[str, Thunk] | None = None,
) -> Duel:
    """Time `a` against `b`, alternating in random order; Ctrl-C ends it early with the rounds completed.

    Parameters
    ----------
    a, b : callable
        Functions of no arguments.
    rounds : int
        The number of rounds.
    seconds : float, optional
        The time limit: no round begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order and the bootstrap.
    clock : callable
        A function that returns the time in seconds.
    names : tuple of str
        The names of the two in the report.
    others : dict of callables, optional
        Other functions by name, which run in the same rounds and appear in the table.

    Returns
    -------
    Duel
        The times of both, with a verdict: faster, slower or cannot tell.

    Raises
    ------
    MeasurementError
        If `rounds` or `seconds` is invalid.

    Examples
    --------
    >>> found = duel(lambda: sum(range(100)), lambda: sum(range(100)), rounds=2)
    >>> len(found.ratios)
    2
    """
    __tracebackhide__ = True
    return run(
        DuelRun(a, b, rounds=rounds, seconds=seconds, rng=rng, clock=clock, names=names, others=others)
    )


def gradient_duel(
    f: Callable[..., Any],
    f_cr: Callable[..., Any],
    *args: Any,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    rng: np.random.Generator | None = None,
    clock: Clock = wall,
    ad: Any = None,
    **kwargs: Any,
) -> Duel:
    """Time the gradient of `f` against the gradient of `f_cr` at `args`, and `f` itself as well.

    If the AD refuses `f`, the plain call of `f` takes the place of its gradient, and the result says so. For
    a function that does not return a real number, the value and the pullback of a seed of ones are timed, and
    named accordingly. For a function with a keyword such as `rounds`, use `GradientDuel`, which takes the
    arguments as a tuple and a dict.

    Parameters
    ----------
    f, f_cr : callable
        The function, and its copy that carries the rule.
    *args
        Their positional arguments, which are copied once, so that the caller's stay unchanged.
    rounds : int
        The number of rounds.
    seconds : float, optional
        The time limit: no round begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order and the bootstrap.
    clock : callable
        A function that returns the time in seconds.
    ad : object, optional
        An object with `gradient` and `pullback`, which differentiates; by default rulelab's reverse mode.
    **kwargs
        Their keyword arguments.

    Returns
    -------
    Duel
        The times of both, with a verdict: faster, slower or cannot tell.

    Raises
    ------
    MeasurementError
        If `rounds` or `seconds` is invalid.
    RuleLabError
        Whatever the gradient of `f_cr` raises.

    Examples
    --------
    >>> def square(x):
    ...     return x * x
    >>> found = gradient_duel(square, lambda x: x**2, 3.0, rounds=2)
    >>> len(found.ratios)
    2
    """
    __tracebackhide__ = True
    return run(
        GradientDuel(f, f_cr, args, kwargs, rounds=rounds, seconds=seconds, rng=rng, clock=clock, ad=ad)
    )


def _prepared(
    rounds: int, seconds: float | None, rng: np.random.Generator | None, clock: Clock
) -> tuple[Rounds, int]:
    """The rounds to run, and the seed of the bootstrap, fixed here so that results agree when repeated."""
    rounds, seconds = checked_rounds(rounds), checked_seconds(seconds)
    rng = np.random.default_rng() if rng is None else rng
    return Rounds(rounds, seconds, rng, clock), int(rng.integers(2**63))


def _result(
    rounds: Rounds,
    samples: int,
    *,
    interrupted: bool,
    refused: str | None = None,
    names: tuple[str, str] = ("a", "b"),
) -> Duel:
    """The duel of the first two contestants, from the complete rounds."""
    if len(rounds.contestants) < 2:  # interrupted between the first and the second
        left, right, *others = (Timings(name, 1, ()) for name in names)
        ratios: tuple[float, ...] = ()
    else:
        left, right, *others = (timings_of(one, rounds.whole) for one in rounds.contestants)
        a, b = (one.best_of_rounds()[: rounds.whole] for one in rounds.contestants[:2])
        ratios = tuple(float(x / y) if y else math.inf for x, y in zip(a, b))
    return Duel(
        left,
        right,
        ratios,
        interval_of_median(ratios, np.random.default_rng(samples)),
        rounds.wanted,
        tuple(others),
        interrupted,
        refused,
        rounds.seconds,
        environment(),
    )


def timings_of(one: Contestant, rounds: int) -> Timings:
    """The timings of a contestant's blocks in the first `rounds` rounds."""
    runs = tuple(seconds for blocks in one.runs[:rounds] for seconds in blocks)
    return Timings(one.name, one.loops, runs, one.memory)


def interval_of_median(
    ratios: tuple[float, ...], rng: np.random.Generator, samples: int = 4000
) -> tuple[float, float]:
    """The bootstrap interval of the median ratio (percentiles; Efron, Annals of Statistics 7 (1979) 1-26)."""
    if not ratios or not np.isfinite(ratios).all():  # the clock is too coarse for these calls
        return math.nan, math.nan
    drawn = np.asarray(ratios)[rng.integers(0, len(ratios), (samples, len(ratios)))]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.median(drawn, axis=1), [tail, 1 - tail])
    return float(low), float(high)


def _timing_table(rows: Sequence[Timings]) -> Table:
    return Table(
        "Time of one call",
        ("call", "minimum", "median", "middle half", "peak memory", "blocks kept"),
        tuple(timings.row() for timings in rows),
    )


def rounds_in_words(count: int) -> str:
    """A number of rounds in words.

    >>> rounds_in_words(1), rounds_in_words(100_000)
    ('1 round', '100,000 rounds')
    """
    return f"{count:,} round{'' if count == 1 else 's'}"


def ratio_in_words(ratio: float) -> str:
    """A ratio in readable form: "1.25x"."""
    if ratio != ratio:
        return "–"
    if 0.1 <= ratio < 100:
        return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.3g}x"
