"""Timings as a function of the size N: the function, its gradient by AD, and the gradient with a rule."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..ad import reverse
from ..errors import MeasurementError
from ..pieces import Progress, checked_rounds, checked_seconds, run
from ..tables import Page, Report, Table, engineering, saved_number
from .calls import Timed, copied, gradient_of, headline, name_of, primal_name, refusal, timed_gradient
from .clock import Clock, wall
from .duel import Timings, timings_of
from .environment import environment, warnings_of
from .rounds import Rounds

SIZES = (10, 32, 100, 316, 1000, 3162, 10_000)
"""The default sizes, half a power of ten apart."""
ROUNDS = 10
LONGEST_CALL = 0.1
"""With the default sizes, the one at which a call takes more seconds than this is the last."""
SECONDS_PER_SIZE = 0.5
"""The time limit in seconds for each size, if none is given for all of them."""

Make = Callable[[int], Any]


@dataclass(frozen=True)
class ScalingLine:
    """One curve: the times of one kind of call as a function of the size N.

    Attributes
    ----------
    name : str
        The name of the call.
    sizes : tuple of int
        The sizes N at which it was measured.
    medians, minima : tuple of float
        The median and the minimum of the seconds per call over the blocks, for each size.
    refused : str or None
        Why the curve ends, or is empty, if the function could not be differentiated.
    """

    name: str
    sizes: tuple[int, ...] = ()
    medians: tuple[float, ...] = ()
    minima: tuple[float, ...] = ()
    refused: str | None = None

    @cached_property
    def exponent(self) -> float:
        """The exponent p of the growth N^p of the time: the least-squares slope of log time over log N in
        the upper half of the sizes, where the constant cost of a call matters least.

        It is fitted to the minima, which a busy machine affects least; nan with fewer than two sizes.
        """
        sizes, seconds = self.fitted
        if len(sizes) < 2 or min(seconds) <= 0 or min(sizes) <= 0:
            return math.nan
        return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])

    @property
    def fitted(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The sizes to which the exponent is fitted, at least two if possible, and their minima."""
        start = min(len(self.sizes) // 2, max(0, len(self.sizes) - 2))
        return self.sizes[start:], self.minima[start:]

    def cell(self, size: int) -> str:
        """The minimum and the median at a size, as the text of a table cell."""
        if size not in self.sizes:
            return "–"
        at = self.sizes.index(size)
        return f"{engineering(self.minima[at], 's')}, {engineering(self.medians[at], 's')}"

    def to_dict(self) -> dict[str, Any]:
        """The numbers in plain Python types."""
        return {
            "name": self.name,
            "sizes": list(self.sizes),
            "medians": list(self.medians),
            "minima": list(self.minima),
            "exponent": self.exponent,
            "refused": self.refused,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> ScalingLine:
        """The line written by `to_dict`."""
        refused = saved["refused"]
        if not len(saved["sizes"]) == len(saved["medians"]) == len(saved["minima"]):
            raise ValueError("each size has one median and one minimum")
        return cls(
            str(saved["name"]),
            tuple(int(size) for size in saved["sizes"]),
            tuple(saved_number(seconds) for seconds in saved["medians"]),
            tuple(saved_number(seconds) for seconds in saved["minima"]),
            None if refused is None else str(refused),
        )


@dataclass(frozen=True, repr=False)
class Scaling(Report):
    """How the times grow with N.

    Attributes
    ----------
    lines : tuple of ScalingLine
        The plain function, the gradient of f, and the gradient of f_cr with its rule.
    sizes_wanted : tuple of int
        The requested sizes N.
    stopped : str or None
        Why planned sizes are missing, if any are.
    interrupted : bool
        Whether it was stopped before its end.
    environment : dict
        The versions, the machine and its load.
    """

    lines: tuple[ScalingLine, ...]
    sizes_wanted: tuple[int, ...]
    stopped: str | None = None
    interrupted: bool = False
    environment: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were measured."""
        return tuple(sorted({size for line in self.lines for size in line.sizes}))

    def page(self) -> Page:
        rows = [(f"{size:,}", *(line.cell(size) for line in self.lines)) for size in self.sizes]
        table = Table(
            "Time of one call against N: minimum, median",
            ("N", *(line.name for line in self.lines)),
            tuple(rows),
        )
        notes = [line.refused for line in self.lines if line.refused is not None]
        if self.stopped is not None:
            notes.append(self.stopped)
        if self.interrupted:
            notes.append(f"Stopped after {len(self.sizes)} of {len(self.sizes_wanted)} sizes.")
        nothing = "Nothing measured: stopped before the first size finished."
        lead = () if self.sizes or self.stopped is not None else (nothing,)
        notes += warnings_of(self.environment)
        return Page(lead, (table, self._growth()) if self.sizes else (), tuple(notes))

    def _growth(self) -> Table:
        rows = []
        for line in self.lines:
            sizes, _ = line.fitted
            known = not math.isnan(line.exponent)
            over = f"{sizes[0]:,} to {sizes[-1]:,}" if known else "too few sizes"
            rows.append((line.name, f"N^{line.exponent:.2f}" if known else "–", over))
        return Table("Growth in the upper half of the sizes", ("call", "grows like", "N"), tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        return {
            "sizes_wanted": list(self.sizes_wanted),
            "lines": [line.to_dict() for line in self.lines],
            "stopped": self.stopped,
            "interrupted": self.interrupted,
            "environment": self.environment,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Scaling:
        """The scaling written by `to_dict`."""
        stopped = saved["stopped"]
        return cls(
            tuple(ScalingLine.from_dict(line) for line in saved["lines"]),
            tuple(int(size) for size in saved["sizes_wanted"]),
            None if stopped is None else str(stopped),
            bool(saved["interrupted"]),
            dict(saved["environment"]),
        )


class ScalingRun:
    """`scaling` in steps, so that it can be stopped, or other code can run in between.

    Parameters
    ----------
    f, f_cr : callable
        The function, and its copy that carries the rule.
    make : callable
        `make(n)` returns the tuple of arguments of size n, or a pair `(args, kwargs)` of a tuple and a dict.
    sizes : iterable of int, optional
        The sizes; by default from 10 to 10,000, until a call takes more than 0.1 s.
    rounds : int
        The number of rounds at each size.
    seconds : float, optional
        The time limit: no measurement begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order of the calls.
    clock : callable
        A function that returns the time in seconds.
    ad : object, optional
        An object with `gradient` and `pullback`, which differentiates; by default rulelab's reverse mode.

    Examples
    --------
    >>> run = ScalingRun(np.sum, np.sum, lambda n: (np.ones(n),), [10, 20], rounds=2)
    >>> for step in run.pieces(): pass
    >>> run.result().sizes
    (10, 20)
    """

    def __init__(
        self,
        f: Callable[..., Any],
        f_cr: Callable[..., Any],
        make: Make,
        sizes: Iterable[int] | None = None,
        *,
        rounds: int = ROUNDS,
        seconds: float | None = None,
        rng: np.random.Generator | None = None,
        clock: Clock = wall,
        ad: Any = None,
    ):
        self._f, self._f_cr, self._make, self._ad = f, f_cr, make, reverse if ad is None else ad
        self._sizes, self._limited = (SIZES, True) if sizes is None else (_checked_sizes(sizes), False)
        self._rounds, self._seconds = checked_rounds(rounds), checked_seconds(seconds)
        self._rng = np.random.default_rng() if rng is None else rng
        self._clock = clock
        self._lines = [
            ScalingLine(primal_name(f)),
            ScalingLine(gradient_of(f)),
            ScalingLine(gradient_of(f_cr)),
        ]
        self._stopped: str | None = None

    def pieces(self) -> Iterator[Progress]:
        """Time all three at one size after the other, a block at each step."""
        __tracebackhide__ = True
        start, total = self._clock(), len(self._sizes) * self._one_size().planned(3)
        for count, size in enumerate(self._sizes):
            done = count * total // len(self._sizes)
            yield Progress(done, total, f"N = {size:,}: making the arguments")
            try:
                yield from self._at(size, done, total)
            except Exception as error:
                if count == 0 or isinstance(error, MeasurementError):
                    raise
                self._stopped = f"Ended before N = {size:,}: {type(error).__name__}: {headline(error)}"
                return
            if count + 1 < len(self._sizes) and self._enough(size, self._clock() - start):
                return

    def give_up(self, error: Exception) -> None:
        """End without any size: the arguments that were drawn do not suit f."""
        self._stopped = (
            f"Not timed against N: {type(error).__name__} at the arguments drawn for N = {self._sizes[0]:,}: "
            f"{headline(error)}. Give arguments as an expression in n."
        )

    def result(self, *, interrupted: bool = False) -> Scaling:
        """The sizes that are complete."""
        return Scaling(tuple(self._lines), self._sizes, self._stopped, interrupted, environment())

    def _one_size(self) -> Rounds:
        share = SECONDS_PER_SIZE if self._seconds is None else self._seconds / len(self._sizes)
        return Rounds(self._rounds, share, self._rng, self._clock)

    def _at(self, size: int, done: int, total: int) -> Iterator[Progress]:
        __tracebackhide__ = True
        args, kwargs = arguments(self._make, size)
        rounds, entered = self._one_size(), []
        for which, (name, thunk) in self._calls(args, kwargs):
            self._lines[which] = replace(self._lines[which], name=name)
            yield Progress(done, total, f"N = {size:,}: first call of {name}")
            why = None if which == 0 else refusal((self._f, self._f_cr)[which - 1], thunk)
            if why is None:
                entered.append(which)
                rounds.enter(name, thunk)
            else:
                self._lines[which] = replace(self._lines[which], refused=why)
        for progress in rounds.pieces():
            yield Progress(done + progress.done, total, f"N = {size:,}: {progress.doing}")
        for which, one in zip(entered, rounds.contestants):
            self._lines[which] = _longer(self._lines[which], size, timings_of(one, rounds.whole))

    def _calls(self, args: tuple, kwargs: dict) -> Iterator[tuple[int, Timed]]:
        """The calls to time, with the numbers of their lines; what was refused once is not asked again."""
        __tracebackhide__ = True
        f = self._f
        own_args, own_kwargs = copied(f, args, kwargs)  # f itself may change its arguments

        def primal():
            __tracebackhide__ = True
            return f(*own_args, **own_kwargs)

        yield 0, Timed(primal_name(f), primal)
        for which, g in ((1, f), (2, self._f_cr)):
            if self._lines[which].refused is None:
                yield which, timed_gradient(g, args, kwargs, self._ad)

    def _enough(self, size: int, spent: float) -> bool:
        longest = max(line.minima[-1] for line in self._lines if line.sizes[-1:] == (size,))
        if self._limited and longest > LONGEST_CALL:
            self._stopped = (
                f"Ended at N = {size:,}: a call takes {engineering(longest, 's')} there; "
                "give sizes to go further."
            )
        elif self._seconds is not None and spent >= self._seconds:
            self._stopped = f"Stopped at N = {size:,}, at the limit of {self._seconds:g} s."
        return self._stopped is not None


def scaling(
    f: Callable[..., Any],
    f_cr: Callable[..., Any],
    make: Make,
    sizes: Iterable[int] | None = None,
    *,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    rng: np.random.Generator | None = None,
    clock: Clock = wall,
    ad: Any = None,
) -> Scaling:
    """Time `f`, the gradient of `f` and the gradient of `f_cr` at growing sizes.

    Ctrl-C ends it early with the sizes measured so far. So does an error after the first size, and the report
    says so.

    Parameters
    ----------
    f, f_cr : callable
        The function, and its copy that carries the rule.
    make : callable
        `make(n)` returns the tuple of arguments of size n, or a pair `(args, kwargs)` of a tuple and a dict.
    sizes : iterable of int, optional
        The sizes; by default from 10 to 10,000, until a call takes more than 0.1 s.
    rounds : int
        The number of rounds at each size.
    seconds : float, optional
        The time limit: no measurement begins after this many seconds.
    rng : numpy.random.Generator, optional
        The generator for the order of the calls.
    clock : callable
        A function that returns the time in seconds.
    ad : object, optional
        An object with `gradient` and `pullback`, which differentiates; by default rulelab's reverse mode.

    Returns
    -------
    Scaling
        One curve of times for each.

    Raises
    ------
    MeasurementError
        If `sizes`, `rounds` or `seconds` is invalid.
    RuleLabError
        Whatever the gradients raise at the first size.

    Examples
    --------
    >>> import rulelab as rl
    >>> def total(x):
    ...     return float((x * x).sum())
    >>> found = scaling(total, total, lambda n: (np.ones(n),), sizes=[10, 20], rounds=2)
    >>> found.sizes, [line.name for line in found.lines][0]
    ((10, 20), 'total itself, no gradient')
    """
    __tracebackhide__ = True
    return run(ScalingRun(f, f_cr, make, sizes, rounds=rounds, seconds=seconds, rng=rng, clock=clock, ad=ad))


def arguments(make: Make, size: int) -> tuple[tuple, dict]:
    """The result of `make` for a size, as positional and keyword arguments."""
    __tracebackhide__ = True
    made = make(size)
    if not isinstance(made, tuple):
        raise MeasurementError(
            f"{name_of(make)}({size}) must return the tuple of arguments, but returned {_article(made)}",
            fixes="return a tuple, even for one argument: `return (x,)`",
        )
    if len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict):
        return made
    return made, {}


def _article(made: object) -> str:
    return "None" if made is None else f"an object of class {type(made).__name__}"


def _checked_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """The sizes in ascending order, without duplicates."""
    try:
        found = sorted({operator.index(size) for size in sizes})
    except TypeError:
        raise MeasurementError(f"sizes must be whole numbers, not {sizes!r}") from None
    if not found or found[0] < 1:
        raise MeasurementError("sizes must be one or more whole numbers of at least 1")
    return tuple(found)


def _longer(line: ScalingLine, size: int, timings: Timings) -> ScalingLine:
    return replace(
        line,
        sizes=(*line.sizes, size),
        medians=(*line.medians, timings.median),
        minima=(*line.minima, timings.best),
    )
