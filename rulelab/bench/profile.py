"""The time and the memory of a gradient by line of the function: both sweeps, beside the source."""

from __future__ import annotations

import copy
import gc
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..ad import reverse
from ..compiler.base.libraries import compiled_function
from ..compiler.base.source import find_source
from ..compiler.calls.cache import DEFAULT, Cache
from ..compiler.calls.entries import Entries
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.memory.operands import describe
from ..errors import Place, RuleLabError, line_of
from ..pieces import Progress, checked_seconds, run
from ..rules.registry import Found
from ..rules.targets import name_of, resolve
from .calls import argument_tuple, copied, has_seed, ones_of
from .clock import Clock, wall
from .held_memory import HeldMemory, memory_held_by
from .lines import FunctionLines, Line, Profile
from .linetimes import (
    LineClock,
    Path,
    ProbeCosts,
    Recorded,
    SiteCosts,
    calibrated,
    copied_record,
    typical_costs,
    without_probes,
)

SECONDS = 1.0
"""The time that the rounds may take in total; a single round may take longer."""
MOST_ROUNDS = 200


def profile(
    f: Callable[..., Any], *args: Any, seconds: float = SECONDS, cache: Cache | None = None, **kwargs: Any
) -> Profile:
    """Time and bytes held, by line, of both sweeps of the gradient of `f` at `args`.

    The passes are those that `gradient` uses, rules included; compiling is not counted. Each round runs the
    call once as it is and once through passes with probes that record the current line, and subtracts the
    probes' own time. There are between 1 and 200 rounds. `f` itself runs twice in each round and three more
    times (four if a new pass is compared with it), so a function that prints does so as often;
    `Profile.calls` has the number. Other threads are not included. Ctrl-C ends it early with the results so
    far.

    Shares agreed to within five percentage points with the same lines measured alone (arrays of sizes
    1:2:5, a loop of scalar lines beside one array line, the same loop in a helper) on a machine with a load
    of three times its number of processors.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *args
        Its positional arguments, which are copied for each run, so that the caller's stay unchanged.
    seconds : float
        The time limit for the rounds.
    cache : Cache, optional
        The cache for compiled code.
    **kwargs
        Its keyword arguments.

    Returns
    -------
    Profile
        The lines of each function, with their times and bytes.

    Raises
    ------
    RuleLabError
        Whatever the gradient of `f` raises.
    MeasurementError
        If `seconds` is invalid.

    Examples
    --------
    >>> def square(x):
    ...     return x * x
    >>> found = profile(square, 3.0, seconds=0.01)
    >>> [(line.number, line.runs, line.text) for line in found.functions[0].lines]
    [(1, 1, 'def square(x):'), (2, 1, '    return x * x')]
    """
    __tracebackhide__ = True
    return profile_call(f, args, kwargs, seconds=seconds, cache=cache)


def profile_call(
    f: Callable,
    args: tuple,
    kwargs: dict,
    *,
    seconds: float = SECONDS,
    cache: Cache | None = None,
    clock: Clock = wall,
    shown: str | None = None,
) -> Profile:
    """Like `profile`, for a call with any keywords; `shown` is its text in the report."""
    __tracebackhide__ = True
    return run(Profiling(f, args, kwargs, seconds=seconds, cache=cache, clock=clock, shown=shown))


# -- the work ------------------------------------------------------------------------------------------------


class Profiling:
    """`profile` in steps, so that it can be stopped, or other code can run in between."""

    def __init__(
        self,
        f: Callable,
        args: tuple,
        kwargs: dict,
        *,
        seconds: float = SECONDS,
        cache: Cache | None = None,
        clock: Clock = wall,
        shown: str | None = None,
    ) -> None:
        checked_seconds(seconds)
        reverse.need_positional(f, argument_tuple(args), kwargs)
        self.f, self.seconds, self.clock = f, seconds, clock
        self._given = copied(f, args, kwargs)
        self._given_cache, self._cache = cache, DEFAULT if cache is None else cache
        self._shown = shown if shown is not None else f"{_name(f)}({', '.join(map(describe, args))})"
        self._lines = LineClock(clock)
        self._plain = None if cache is None else Pullbacks(cache)
        self._probed = _RuleWatch(self._cache.probed(self._lines))
        self._seed: Any = None
        self._answered: str | None = None
        self._running: list[Recorded] = []  # the sweeps of the first probed run, perhaps incomplete
        self._unprobed: list[tuple[float, float]] = []
        self._sweeps: list[tuple[Recorded, Recorded]] = []
        self._costs: ProbeCosts | None = None
        self._held: HeldMemory | None = None
        self._calls = 0

    def pieces(self) -> Iterator[Progress]:
        """Compile, run the rounds, measure the memory."""
        __tracebackhide__ = True
        self._compile()
        yield Progress(0, MOST_ROUNDS, "compiling")
        self._first_probed()
        yield Progress(0, MOST_ROUNDS, "compiling with probes")
        self._costs = calibrated(self.clock)
        start, rounds = self.clock(), 0
        while rounds == 0 or (rounds < MOST_ROUNDS and self.clock() - start < self.seconds):
            with self._cache.quietly():
                self._round()
            rounds += 1
            yield Progress(rounds, MOST_ROUNDS, "timing")
        with self._cache.quietly():
            self._account()
        yield Progress(rounds, rounds, "memory")

    def _arguments(self) -> tuple[tuple, dict]:
        return copy.deepcopy(self._given)

    def _compile(self) -> None:
        """Run once as `gradient` does, so that errors and the comparison of new passes are the same."""
        __tracebackhide__ = True
        args, kwargs = self._arguments()
        self._calls += 1
        y, back = reverse.pullback(self.f, *args, cache=self._given_cache, **kwargs)
        ones = ones_of(y) if isinstance(y, (tuple, list, dict)) else None
        self._seed = ones if has_seed(ones) else reverse.seed_for(y, self.f, args)
        back(self._seed)
        self._answered = _answered(Pullbacks(self._cache), self.f, args, kwargs)

    def _first_probed(self) -> None:
        __tracebackhide__ = True
        with self._probed.noting():
            self._run_probed(self._running)

    def _round(self) -> None:
        __tracebackhide__ = True
        collecting = gc.isenabled()
        try:
            gc.disable()
            unprobed = self._run_plain()
            sweeps: list[Recorded] = []
            self._run_probed(sweeps)
        finally:
            if collecting:
                gc.enable()
        self._unprobed.append(unprobed)
        self._sweeps.append((sweeps[0], sweeps[1]))

    def _account(self) -> None:
        """Measure the memory with probed sweeps: there no calls are inlined, so a line has what it calls."""
        __tracebackhide__ = True
        args, kwargs = self._arguments()
        forward = reverse.forward_sweep(self.f, args, kwargs, self._probed)
        self._calls += 1
        lines = {(site.code.co_filename, site.line) for site in self._lines.sites}
        depth = self._lines.deepest()
        self._held = memory_held_by(lambda: forward(*args, **kwargs), self._seed, lines, depth)

    def _run_plain(self) -> tuple[float, float]:
        __tracebackhide__ = True
        args, kwargs = self._arguments()
        forward, clock = reverse.forward_sweep(self.f, args, kwargs, self._plain), self.clock
        self._calls += 1
        begun = clock()
        _, back = forward(*args, **kwargs)
        between = clock()
        bars = back(self._seed)
        ended = clock()
        del bars  # after reading the clock: freeing them is not part of the sweep
        return between - begun, ended - between

    def _run_probed(self, sweeps: list[Recorded]) -> None:
        """Run both sweeps with probes and append costs to `sweeps`, even if interrupted."""
        __tracebackhide__ = True
        args, kwargs = self._arguments()
        forward, lines = reverse.forward_sweep(self.f, args, kwargs, self._probed), self._lines
        self._calls += 1
        lines.start()
        try:
            _, back = forward(*args, **kwargs)
        finally:
            sweeps.append(copied_record(lines.stop()))
        lines.start()
        try:
            bars = back(self._seed)
        finally:
            sweeps.append(copied_record(lines.stop()))
        del bars

    def result(self, *, interrupted: bool = False) -> Profile:
        """The profile over the completed rounds; if there are none, of the first run as far as it came."""
        ran: Sequence[Sequence[Recorded]] = self._sweeps or ([self._running] if self._running else [])
        totals = tuple(min((times[n] for times in self._unprobed), default=float("nan")) for n in (0, 1))
        costs = self._costs or ProbeCosts(0.0, 0.0)
        spent = [typical_costs([sweeps[n] for sweeps in ran if len(sweeps) > n]) for n in (0, 1)]
        seconds = [without_probes(spent[n], totals[n], costs) for n in (0, 1)]
        return Profile(
            self._shown,
            totals[0],
            totals[1],
            seconds[0].get((), 0.0) + seconds[1].get((), 0.0),
            None if self._held is None else self._held.total,
            None if self._held is None else self._held.peak,
            tuple(self._functions(spent[0], seconds)),
            len(self._unprobed),
            self._calls,
            self._answered,
            interrupted,
            self._cache.mode,
        )

    def _functions(
        self, spent: dict[Path, SiteCosts], seconds: list[dict[Path, float]]
    ) -> list[FunctionLines]:
        sites, tally = self._lines.sites, _Tally(self._lines)
        for path, here in spent.items():
            if path:
                tally.count(path[-1], here)
        for n in (0, 1):
            for path, net in seconds[n].items():
                tally.spend(path, n, net)
        codes = {id(sites[number].code): sites[number].code for path in spent for number in path}
        codes |= {id(sites[number].code): sites[number].code for path in seconds[1] for number in path}
        found = [self._function(code, tally) for code in codes.values()]
        return sorted(found, key=lambda function: -function.own)

    def _function(self, code: types.CodeType, tally: _Tally) -> FunctionLines:
        def line(number: int, text: str) -> Line:
            at, place = (id(code), number), (code.co_filename, number)
            if at not in tally.within:  # also for lines of a nested function
                return Line(number, text)
            return Line(
                number,
                text,
                tally.runs(code, number),
                tally.within[at][0],
                tally.within[at][1],
                tally.own[at],
                0 if self._held is None else self._held.within.get(place, 0),
                self._probed.remarks(place),
            )

        texts = _texts(code, [number for of, number in tally.within if of == id(code)])
        place = Place(code.co_filename, code.co_firstlineno).label()
        lines = tuple(line(number, text) for number, text in texts.items())
        return FunctionLines(_short_name(code), code.co_filename, place, tally.calls[id(code)], lines)


@dataclass
class _Tally:
    """Seconds and runs, summed by function (the identity of its code) and line."""

    clock: LineClock
    own: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))
    within: dict[tuple[int, int], list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0.0, 0.0])
    )
    calls: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    came: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def count(self, number: int, spent: SiteCosts) -> None:
        """Add how often the forward sweep reached a site."""
        self.came[number] += spent.came + spent.entered
        self.calls[id(self.clock.sites[number].code)] += spent.entered

    def spend(self, path: Path, sweep: int, seconds: float) -> None:
        """Add the seconds of a path to its last line, and to each line on the way there."""
        at = [(id(self.clock.sites[n].code), self.clock.sites[n].line) for n in path]
        for line in set(at):
            self.within[line][sweep] += seconds
        if at:
            self.own[at[-1]] += seconds

    def runs(self, code: types.CodeType, line: int) -> int:
        """How often a line ran: in each compiled sweep, as often as the site on it that was reached most."""
        most: dict[int, int] = defaultdict(int)
        for number, came in self.came.items():
            site = self.clock.sites[number]
            if site.code is code and site.line == line:
                most[site.sweep] = max(most[site.sweep], came)
        return sum(most.values())


class _NoEntries(Entries):
    """Entries that never match, so that every call is looked up."""

    def find(self, function, args, flags=None):
        return None


class _RuleWatch(Pullbacks):
    """Finds pullbacks, and notes for each line what was found: the author's rules, functions with a pass, and
    what had to be looked up at run time because the types were unknown.
    """

    def __init__(self, cache: Cache) -> None:
        super().__init__(cache)
        self._noting = False
        self._found: dict[tuple[str, int], dict[str, dict[str, None]]] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Within the block, note what is found, with the full lookup for every call."""
        quickly = self.entries
        self._noting, self.entries = True, _NoEntries(self.cache, self.find)
        try:
            yield
        finally:
            self._noting, self.entries = False, quickly

    def find_function(self, function, args, active, place):
        if self._noting:
            return self.find(function, args, {}, active, place)
        return super().find_function(function, args, active, place)

    def find_target(self, target, args, kwargs, active, place):
        if self._noting and place is not None:
            kind, name = self._remark(target, args, kwargs)
            at_line = self._found.setdefault((place.filename, place.line), {})
            at_line.setdefault(kind, {})[name] = None
        return super().find_target(target, args, kwargs, active, place)

    def _remark(self, target: Any, args: tuple, kwargs: dict) -> tuple[str, str]:
        answer = self.ask(target, args, kwargs)
        if isinstance(answer, Found) and not answer.rule.built_in:
            return "rule", getattr(answer.rule.function, "__name__", "?")
        if not isinstance(answer, Found) and compiled_function(target) is not None:
            return "calls", name_of(target)
        return "looks up", name_of(target).removeprefix("operator.")

    def remarks(self, line: tuple[str, int]) -> tuple[str, ...]:
        """The remarks on a line: "rule f_rrule", "calls g", "looks up np.log, mul"."""
        found = self._found.get(line, {})
        return tuple(
            f"{kind} {_listed(list(found[kind]))}" for kind in ("rule", "calls", "looks up") if kind in found
        )


def _listed(names: list[str], most: int = 4) -> str:
    names = sorted(names, key=lambda name: "." not in name)  # operators last
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _answered(pullbacks: Pullbacks, f: Any, args: tuple, kwargs: dict) -> str | None:
    """The rule that is used instead of a pass of `f`, in words; None if `f` has a pass."""
    target, bound = resolve(f)
    answer = pullbacks.ask(target, (*bound, *args), kwargs)
    if isinstance(answer, Found):
        rule = answer.rule
        name = getattr(rule.function, "__name__", "?")
        whose = "the built-in rule" if rule.built_in else f"the rule {name}"
        where = "" if rule.built_in or rule.place is None else f" ({rule.place.label()})"
        return f"answered by {whose}{where}"
    return None


def _texts(code: types.CodeType, ran: Iterable[int]) -> dict[int, str]:
    """The lines of a function by number, from its first to its last; without a source, those that ran."""
    try:
        source = find_source(code)
    except RuleLabError:
        return {number: line_of(code.co_filename, number).rstrip() for number in sorted(set(ran))}
    node = source.node
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    numbers = range(first, max([node.end_lineno or first, *ran]) + 1)
    texts = [source.lines[number - 1].rstrip() if number <= len(source.lines) else "" for number in numbers]
    margin = min((len(text) - len(text.lstrip()) for text in texts if text.strip()), default=0)
    return {number: text[margin:] for number, text in zip(numbers, texts)}


def _short_name(code: types.CodeType) -> str:
    return code.co_qualname.rsplit("<locals>.", 1)[-1]


def _name(f: Any) -> str:
    return name_of(resolve(f)[0])
