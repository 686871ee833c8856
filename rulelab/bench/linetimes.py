"""The time of a pass by line: the seconds at each of the author's lines, recorded by probes in the pass.

The pass itself reports when it reaches another line. `sys.settrace` was tried first: it slows down every
Python instruction meanwhile, rules included, so that its cost cannot be subtracted as a constant per line (an
array operation that took 28% was reported with 59%), and it disables a debugger. A sampler sees CPython
only at calls and at the ends of loops.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from timeit import timeit
from typing import NamedTuple

from .clock import Clock, wall

Path = tuple[int, ...]
"""The numbers of the sites on the way to a place, outermost first; () is outside of all lines."""

PROBES_ARE_LARGE = 0.1
"""Fraction of a probed run above which the probes' cost is corrected by comparison with unprobed runs."""


class Site(NamedTuple):
    """A place where a sweep of a function reaches a line of the author's; a line may have several."""

    code: types.CodeType
    line: int
    sweep: int


@dataclass
class SiteCosts:
    """The costs at one site in one context: seconds, including those of the probes; how often the sweep
    reached the site, how often as its first line, and how often a called sweep returned to it.
    """

    seconds: float = 0.0
    came: int = 0
    entered: int = 0
    returned: int = 0
    calls: dict[int, Context] = field(default_factory=dict)  # by the number of the function

    def clear(self) -> None:
        """Reset to zero, here and in everything that was called from here."""
        self.seconds, self.came, self.entered, self.returned = 0.0, 0, 0, 0
        for context in self.calls.values():
            for spent in context.values():
                spent.clear()

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, SiteCosts]]:
        """Each place that was reached, as its path of site numbers, with its costs."""
        yield path, self
        for context in self.calls.values():
            for number, spent in context.items():
                yield from spent.walk((*path, number))


class Context(dict[int, SiteCosts]):
    """The costs at the sites (by number) of one function, called from one place.

    The costs of a recursive call count where the function was called first, so nothing counts twice and
    recursion does not deepen the tree.
    """

    def __init__(self, above: dict[int, Context]) -> None:
        super().__init__()
        self.above = above

    def __missing__(self, number: int) -> SiteCosts:
        spent = self[number] = SiteCosts()
        return spent

    def of_call(self, spent: SiteCosts, function: int) -> Context:
        """The context of a call of the function with this number from the site whose costs are `spent`."""
        found = self.above.get(function)
        if found is None:
            found = spent.calls.get(function)
        if found is None:
            found = spent.calls[function] = Context(dict(self.above))
            found.above[function] = found
        return found


class LineClock:
    """Follows probed passes (`compiler.probes.Probes`) in one thread, and reads the clock at each probe.

    `start()` begins a sweep; `stop()` returns its costs: the seconds outside of all lines and, through
    `walk`, those at each line.
    """

    enter: Callable[[int], int]
    tick: Callable[[int], None]
    leave: Callable[[int], None]
    start: Callable[[], None]
    stop: Callable[[], SiteCosts]
    deepest: Callable[[], int]  # the maximal depth of nested sweeps

    def __init__(self, clock: Clock = wall) -> None:
        self.sites: list[Site] = []
        self._sweeps: list[types.CodeType] = []
        self._functions: list[int] = []  # by site, the id of its code: two functions may have equal code
        self._make(clock)

    def sweep(self, code: types.CodeType) -> int:
        """Register a sweep of the function with this code, and return its number."""
        self._sweeps.append(code)
        return len(self._sweeps) - 1

    def site(self, sweep: int, line: int) -> int:
        """Register a place where a sweep reaches a line, and return its number."""
        self.sites.append(Site(self._sweeps[sweep], line, sweep))
        self._functions.append(id(self._sweeps[sweep]))
        return len(self.sites) - 1

    def _make(self, clock: Clock) -> None:
        """Make the probes, which are closures because they run at every line."""
        functions = self._functions
        outermost, outside = Context({}), SiteCosts()
        context, spent = outermost, outside
        stack: list[tuple[Context, SiteCosts]] = []
        last = 0.0
        deepest = 0

        def tick(number: int) -> None:
            nonlocal spent, last
            now = clock()
            spent.seconds += now - last
            spent = context[number]
            spent.came += 1
            last = now

        def enter(number: int) -> int:
            nonlocal context, spent, last, deepest
            now = clock()
            spent.seconds += now - last
            depth = len(stack)
            stack.append((context, spent))
            if depth >= deepest:
                deepest = depth + 1
            context = context.of_call(spent, functions[number])
            spent = context[number]
            spent.entered += 1
            last = now
            return depth

        def leave(depth: int) -> None:
            nonlocal context, spent, last
            now = clock()
            spent.seconds += now - last
            context, spent = stack[depth]
            del stack[depth:]  # including what an error left there
            spent.returned += 1
            last = now

        def start() -> None:
            nonlocal context, spent, last
            del stack[:]
            outside.clear()
            context, spent = outermost, outside
            last = clock()

        def stop() -> SiteCosts:
            spent.seconds += clock() - last
            return outside

        self.enter, self.tick, self.leave, self.start, self.stop = enter, tick, leave, start, stop
        self.deepest = lambda: deepest


class ProbeCosts(NamedTuple):
    """The seconds that a probe takes: at a line, and at the beginning or the end of a sweep."""

    line: float
    call: float

    def of(self, spent: SiteCosts) -> float:
        """The seconds of the probes at one place."""
        return spent.came * self.line + (spent.entered + spent.returned) * self.call

    def times(self, factor: float) -> ProbeCosts:
        """These costs on a machine that is slower by a factor."""
        return ProbeCosts(self.line * factor, self.call * factor)


def calibrated(clock: Clock = wall, loops: int = 2000, repeat: int = 5) -> ProbeCosts:
    """The costs of the probes on this machine at this time, measured with the same clock."""
    lines = LineClock(clock)
    number = lines.site(lines.sweep(calibrated.__code__), 1)
    tick, enter, leave = lines.tick, lines.enter, lines.leave

    def ticking() -> None:
        for _ in range(loops):
            tick(number)

    def calling() -> None:
        for _ in range(loops):
            leave(enter(number))

    def idle() -> None:
        for _ in range(loops):
            pass

    lines.start()
    ticks, calls, nothing = (
        min(timeit(run, timer=clock, number=1) for _ in range(repeat)) / loops
        for run in (ticking, calling, idle)
    )
    return ProbeCosts(max(0.0, ticks - nothing), max(0.0, (calls - nothing) / 2))


Recorded = dict[Path, SiteCosts]
"""One probed sweep: the costs at each path."""


def copied_record(outside: SiteCosts) -> Recorded:
    """A copy of the result of `LineClock.stop()`, which the next sweep would change."""
    return {
        path: SiteCosts(spent.seconds, spent.came, spent.entered, spent.returned)
        for path, spent in outside.walk()
        if not path or spent.came or spent.entered or spent.returned
    }


def typical_costs(runs: list[Recorded]) -> Recorded:
    """The typical costs of several runs: at each path the minimum of the seconds and the median counts.

    The minimum, because other programs can only add time.
    """
    paths = dict.fromkeys(path for run in runs for path in run)
    found = {}
    for path in paths:
        here = [run[path] for run in runs if path in run]
        found[path] = SiteCosts(
            min(s.seconds for s in here),
            int(median(s.came for s in here)),
            int(median(s.entered for s in here)),
            int(median(s.returned for s in here)),
        )
    return found


def without_probes(spent: Recorded, total: float, costs: ProbeCosts) -> dict[Path, float]:
    """The seconds at each path without probes: the probes' cost is subtracted, the rest scaled to `total`.

    If the probes are a large part of the measured time, their calibrated cost is corrected so that the rest
    is the total of the runs without probes, unless that changes the cost by half or more: then the runs
    differed in something else.
    """
    measured = sum(s.seconds for s in spent.values())
    probing = sum(map(costs.of, spent.values()))
    if total == total and probing > PROBES_ARE_LARGE * measured:
        factor = (measured - total) / probing
        costs = costs.times(factor) if 0.5 < factor < 1.5 else costs
    net = {path: max(0.0, s.seconds - costs.of(s)) for path, s in spent.items()}
    left = sum(net.values())
    scale = total / left if left and total == total else 1.0
    return {path: seconds * scale for path, seconds in net.items()}
