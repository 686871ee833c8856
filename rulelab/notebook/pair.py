"""What the panel shows of one pair, a function and its twin, without widgets: gradients, times, checks, code,
proof.

A `Pair` holds what was requested and the results so far; the functions below turn these into the sections of
the panel, each a sequence of objects with an HTML representation that are text as strings.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..advice import shown_in_magics
from ..bench.calls import copied, name_of
from ..bench.clock import Clock, wall
from ..bench.duel import LEAST_ROUNDS, ROUNDS, Duel, GradientDuel, ratio_in_words
from ..bench.environment import warnings_of
from ..bench.first import FirstGradient, first_gradient_of
from ..bench.scaling import Make, Scaling, ScalingRun, arguments
from ..bench.sizes import size_of, sized, sized_text
from ..checking.comparing.compared import Comparison, Difference
from ..checking.comparing.comparison import compare
from ..checking.judgement.reports import RuleCheck
from ..checking.testing.testers import checking
from ..compiler.base.source import written_lines
from ..compiler.calls.cache import DEFAULT as CACHE
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.calls.reading import AdjointSource, adjoint_source
from ..errors import MeasurementError, RuleError, RuleLabError, printable
from ..pieces import Limited, Progress, run, share_of
from ..rules.registry import Found
from ..rules.targets import resolve
from ..tables import Page, Report, Table, engineering, prose
from ..verdicts import (
    CANNOT_TELL,
    FASTER,
    NOT_JUDGED_BY_AN_ERROR,
    RIGHT,
    SLOWER,
    WRONG,
    said,
    sign_of,
    word_of,
)
from . import figures
from .displays import SOURCE_STYLE, coloured_lines, contradicts, error_in_words, refutes, shapes_of_example
from .running import PROOF_SECONDS, RULE_SECONDS, MeasurementWithBar, QuestionWithBar, waiting_in_words

QUICK = 1.0
"""Seconds that the duel may take when a panel is opened: enough for a first look."""
LOOK_EVERY = 0.02
GRAIN = 1_000_000
"""The number of steps of a progress bar, fine enough to show the pace of a long run."""
SHARES = (1, 20, 20)
"""The shares of the parts of a timing run in the progress bar: the first gradients take only a moment."""
MOST_DRAWN = 3
"""The number of pictures drawn of gradients that agree; each that differs is drawn."""
NO_SIZE = "None of these arguments has a size to change"
SIZES = (10, 1000, 5)
"""The sizes N that are timed by default: the smallest, the largest, how many."""


class Pair:
    """A function, its twin, the arguments, and the results for them so far.

    `make(n)` returns the tuple of arguments of size n, or a pair `(args, kwargs)`; without one, arrays are
    drawn with a first axis of length n. The arguments are copied, so that all results are for the same ones
    even if their owner changes them. Opening a pair compares it. An error of the functions is raised
    unchanged; for a rule whose answer cannot be used, `refused` holds the error. `asked` is how it was
    written: the names of both, and the text of the arguments.
    """

    def __init__(
        self,
        f: Callable,
        f_cr: Callable,
        args: Sequence,
        kwargs: dict | None = None,
        make: Make | None = None,
        rounds: int = ROUNDS,
        rng: np.random.Generator | None = None,
        clock: Clock = wall,
        asked: tuple[str, str, str] | None = None,
    ):
        __tracebackhide__ = True
        self.f, self.f_cr, self.asked = f, f_cr, asked
        self.by_magic = asked is not None
        self.args, self.kwargs = copied(f, tuple(args), kwargs or {})
        self.rng = np.random.default_rng(20) if rng is None else rng
        self.rounds, self.clock = rounds, clock
        self.drawn = None if make is not None else sized(self.args, self.rng, self.kwargs)
        self.make: Make | None = make or self.drawn
        self.make_text = "" if make is not None else sized_text(self.args, self.kwargs) or ""
        self.size = size_of([*self.args, *self.kwargs.values()])
        self.compared_by = self.timed_by = self.checked_by = self.proved_by = self.rule
        start = clock()
        self.comparison: Comparison | None = None
        self.refused: RuleError | None = None
        try:
            self.comparison = compare(f, f_cr, *self.args, **self.kwargs)
        except RuleError as refused:
            self.refused = refused
        self.compared_in = clock() - start
        self.times: Times | None = None
        self.check: Any = None
        self.proof: Any = None
        self.derived: Derived | None = None
        self.cut: list[Any] = []  # reports that ended at their time limit

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called."""
        return name_of(self.f), name_of(self.f_cr)

    @property
    def rule(self) -> Any:
        """The rule currently used for the twin, None without one; results of another rule are outdated."""
        target, bound = resolve(self.f_cr)
        with CACHE.quietly():
            answer = Pullbacks(CACHE).ask(target, (*bound, *self.args), self.kwargs)
        return answer.rule if isinstance(answer, Found) else None

    @property
    def title(self) -> str:
        """Both names, as a heading."""
        return " and ".join(self.names)

    def resize(self, n: int) -> None:
        """Draw arguments of the size `n` and compare again; if that fails, nothing changes."""
        __tracebackhide__ = True
        if self.make is None:
            raise MeasurementError(NO_SIZE)
        args, kwargs = arguments(self.make, n)
        comparison = compare(self.f, self.f_cr, *args, **kwargs)
        self.args, self.kwargs, self.size, self.comparison = args, kwargs, n, comparison
        self.refused = None
        self.compared_by, self.asked = self.rule, None  # the text is that of other arguments

    def cell(self, magic: str, twin_only: bool = False) -> str | None:
        """The line of a magic that does the same for these two; None if the text of the arguments is not
        known.
        """
        if self.asked is None:
            return None
        f, f_cr, at = self.asked
        return f"{magic} {f_cr if twin_only else f'{f} {f_cr}'} --at {at.strip()}"

    def told(self, ask: Callable[[], Any]) -> Any:
        """The result or error of a question, with its advice in the syntax with which the panel was
        opened.
        """
        try:
            return shown_in_magics(ask()) if self.by_magic else ask()
        except RuleLabError as error:
            if self.by_magic:
                shown_in_magics(error)
            raise

    def timing(
        self, *, rounds: int | None = None, seconds: float | None = None, sizes: Sequence[int] = ()
    ) -> Timing:
        """The measurement of the times: of the first gradient, of the duel, and with `sizes` against N."""
        return Timing(self, self.rounds if rounds is None else rounds, seconds, tuple(sizes))

    def time(self, **options: Any) -> None:
        """Measure the times now, to the end or until Ctrl-C, and store the results so far."""
        __tracebackhide__ = True
        run(self.timing(**options))

    def checking(self, *, deep: bool = False) -> PairCheck:
        """The check of the twin's rule by numbers, around the arguments; NoRuleError without a rule."""
        return PairCheck(self, "deep" if deep else "normal")

    def quick_duel(self, seconds: float | None = None) -> None:
        """Run a duel of about a second, for a first look; none if the calls alone would take longer."""
        __tracebackhide__ = True
        quick = QUICK if seconds is None else min(QUICK, seconds)
        if self.compared_in > quick / 4 or self.refused is not None:
            return
        timing, end = self.timing(seconds=quick / 2), self.clock() + quick
        interrupted = False
        try:
            self._run_until(end, timing)
        except KeyboardInterrupt:
            interrupted = True
        times = timing.result(interrupted=interrupted)
        if not times.duel.ratios and not interrupted:
            self.times = None

    def _run_until(self, end: float, timing: Timing) -> None:
        for _ in timing.pieces():
            if self.clock() > end:
                return

    def measure_all(self, seconds: float | None = None) -> None:
        """Time everything, check the rule and ask SymPy; Ctrl-C ends it, and keeps the results so far.

        Half of the `seconds` are for the times, and half of the rest for the check.
        """
        __tracebackhide__ = True
        left = RemainingTime(seconds)
        if self.refused is None:
            self._run_within(self.timing(sizes=sizes_between(*SIZES)), f"times of {self.title}", left.half())
        if self.stopped(self.times):
            return
        try:
            self._run_within(self.checking(), f"check of {self.names[1]}", left.half())
        except RuleLabError as error:
            self.check = Failure(error_in_words(error))
        if self.stopped(self.check):
            return
        try:
            self.prove(min(PROOF_SECONDS, left.all() or PROOF_SECONDS))
        except RuleLabError as error:
            self.proof = Failure(error_in_words(error))

    def _run_within(self, measurement: Any, doing: str, seconds: float | None) -> None:
        __tracebackhide__ = True
        limited = Limited(measurement, seconds)
        found = run(MeasurementWithBar(limited, doing, seconds, beats=1.0))
        if limited.is_over:
            self.cut.append(found)

    def stopped(self, found: Any) -> bool:
        """Whether a user stopped a measurement before its end; reaching its time limit does not count."""
        return getattr(found, "interrupted", False) and not any(found is one for one in self.cut)

    def prove(self, seconds: float = PROOF_SECONDS) -> Any:
        """Ask SymPy about the rule of the twin now, and store the answer. It takes seconds."""
        rule = self.rule
        with QuestionWithBar(f"proof of {self.names[1]}", seconds) as asking:
            self.proof = self._proved(seconds, asking.stop, asking.heard)
        self.proved_by = rule
        return self.proof

    def proving(self, seconds: float = PROOF_SECONDS) -> Waiting:
        """The question to SymPy whether the rule of the twin is right."""
        rule = self.rule

        def keep(report: Any, interrupted: bool) -> None:
            if not interrupted or self.proof is None:
                self.proof, self.proved_by = report, rule

        return Waiting(lambda stop, heard: self._proved(seconds, stop, heard), keep, seconds)

    def _proved(
        self,
        seconds: float,
        stop: Callable[[], bool] = lambda: False,
        heard: Callable[[Any], None] | None = None,
    ) -> Any:
        """The report on the rule at sizes that the prover chooses; at the arguments of the pair if these must
        be known, if nothing else works, or if the rule is wrong there, too, and the example has other shapes.
        """
        from ..symbolic import prove  # here, because SymPy takes most of a second to import

        options: dict[str, Any] = {"kwargs": self.kwargs, "time_limit": seconds, "stop": stop, "heard": heard}
        moving = all(kind_of(arg).startswith("float") for arg in self.args)

        def ask() -> Any:
            found = prove(self.f_cr, at=None if moving else self.args, **options)
            if moving and self._is_elsewhere(found) and not stop():
                here = prove(self.f_cr, at=self.args, **options)
                if found.verdict.word == "REFUTED":
                    return here if here.verdict.word == "REFUTED" else found
                return found if here.verdict.word == "UNSUPPORTED" else here
            return found

        return self.told(ask)

    def _is_elsewhere(self, found: Any) -> bool:
        """Whether a report says nothing about arguments like those of the pair: there is no verdict, or an
        example against the rule has other shapes.
        """
        if found.verdict.word != "REFUTED":
            return found.verdict.word == "UNSUPPORTED"
        return shapes_of_example(found) not in (None, [*map(np.shape, self.args)])

    def deriving(self, seconds: float = RULE_SECONDS) -> Waiting:
        """The question to SymPy for a rule of the twin, derived from its code."""

        def ask(stop: Callable[[], bool], heard: Callable[[Any], None]) -> Derived:
            from ..symbolic import derive_rule  # here, because SymPy takes most of a second to import

            options: dict[str, Any] = {"time_limit": seconds, "stop": stop}
            return Derived(self.told(lambda: derive_rule(self.f_cr, *self.args, **options)))

        def keep(derived: Derived, interrupted: bool) -> None:
            self.derived = derived

        return Waiting(ask, keep, seconds)


LEAST = 0.1
"""Seconds that each part of a panel is given in any case."""


class RemainingTime:
    """The rest of a time limit in seconds; None for no limit.

    >>> RemainingTime(None).half() is None, round(RemainingTime(10.0).half())
    (True, 5)
    """

    def __init__(self, seconds: float | None, clock: Clock = time.monotonic):
        self._clock, self._end = clock, None if seconds is None else clock() + seconds

    def all(self) -> float | None:
        """The rest."""
        return None if self._end is None else max(LEAST, self._end - self._clock())

    def half(self) -> float | None:
        """Half of the rest, since another part follows."""
        left = self.all()
        return None if left is None else max(LEAST, left / 2)


class Waiting:
    """A question that a thread asks another process, in pieces: each waits briefly for the answer.

    `ask(stop, heard)` is called in a thread of its own. It must return soon after `stop()` is true, and may
    call `heard` with reports of what is known so far, whose `so_far` is shown with the progress. `result`
    passes what it returns to `keep(found, interrupted)`.
    """

    def __init__(self, ask: Callable, keep: Callable[[Any, bool], None], seconds: float):
        self.ask, self.keep, self.seconds = ask, keep, seconds
        self.found: Any = None
        self.error: BaseException | None = None
        self.stopped = threading.Event()
        self.so_far = ""

    def _run_question(self) -> None:
        try:
            self.found = self.ask(self.stopped.is_set, self._keep_partial_report)
        except BaseException as error:  # a thread's own would be printed and lost
            self.error = error

    def _keep_partial_report(self, report: Any) -> None:
        self.so_far = report.so_far

    def pieces(self) -> Iterator[Progress]:
        """Wait, and report for how long; an error of the question is raised here."""
        __tracebackhide__ = True
        thread = threading.Thread(target=self._run_question, daemon=True)
        thread.start()
        try:
            yield from self._progress_while(thread)
        finally:
            self.stopped.set()
            thread.join()
        if self.error is not None:
            raise self.error

    def _progress_while(self, thread: threading.Thread) -> Iterator[Progress]:
        start = time.monotonic()
        while thread.is_alive():
            thread.join(LOOK_EVERY)
            passed = time.monotonic() - start
            share = min(99, round(100 * passed / self.seconds))
            yield Progress(share, 100, waiting_in_words(passed, self.seconds, self.so_far))

    def result(self, *, interrupted: bool = False) -> Any:
        """The answer, if there is one."""
        if self.found is not None:
            self.keep(self.found, interrupted)
        return self.found


@dataclass(frozen=True, repr=False)
class Times(Report):
    """The timings of a pair: the duel at its arguments, the first gradients, the times against N."""

    duel: Duel
    first: tuple[FirstGradient, ...] = ()
    scaling: Scaling | None = None
    size: int | None = None
    interrupted: bool = False

    @property
    def sentence(self) -> str:
        """How far it got, in words."""
        rounds = f"{len(self.duel.ratios):,} of {self.duel.rounds_wanted:,} rounds"
        if self.scaling is not None:
            rounds += f" and {len(self.scaling.sizes)} of {len(self.scaling.sizes_wanted)} sizes"
        if self.interrupted:
            return f"Stopped after {rounds}; the tables show these."
        return f"Done: {rounds}. Verdict: {self.duel.verdict}."

    def page(self) -> Page:
        first = [FirstGradients(self.first)] if self.first else []
        return _joined([self.duel, *first, *([] if self.scaling is None else [self.scaling])])

    def to_dict(self) -> dict:
        return {
            "size": self.size,
            "interrupted": self.interrupted,
            "duel": self.duel.to_dict(),
            "first": [one.to_dict() for one in self.first],
            "scaling": None if self.scaling is None else self.scaling.to_dict(),
        }


class Timing:
    """The measurement of `Times`, in pieces; complete parts are always stored in the pair."""

    def __init__(self, pair: Pair, rounds: int, seconds: float | None, sizes: tuple[int, ...]):
        self.pair, self.size, rng, clock = pair, pair.size, pair.rng, pair.clock
        f, f_cr, args, kwargs = pair.f, pair.f_cr, pair.args, pair.kwargs
        self.args, self.kwargs = args, kwargs  # the pair may draw others while this runs
        self.duel = GradientDuel(f, f_cr, args, kwargs, rounds=rounds, seconds=seconds, rng=rng, clock=clock)
        self.scaling, self.guessed = None, pair.make is pair.drawn
        if sizes and pair.make is not None:
            self.scaling = ScalingRun(f, f_cr, pair.make, sizes, rng=rng, clock=clock)
        self.rule = pair.rule
        self.first: list[FirstGradient] = []
        self.started: list[Any] = []

    def pieces(self) -> Iterator[Progress]:
        """The first gradients, the rounds of the duel, the sizes, each with its share of the progress."""
        __tracebackhide__ = True
        parts = [self._first_gradients, self.duel.pieces]
        if self.scaling is not None:
            parts.append(self._sizes)
        whole, before = sum(SHARES[: len(parts)]), 0.0
        for part, own in zip(parts, SHARES):
            self.started.append(part)
            for step in part():
                share = (before + own * share_of(step)) / whole
                yield Progress(round(GRAIN * share), GRAIN, step.doing)
            before += own
        yield Progress(GRAIN, GRAIN, "all times")  # a part may end before it was expected to

    def _sizes(self) -> Iterator[Progress]:
        """The times against N. If arguments that we drew fit the function at no size, all other timings are
        kept, and the page says so.
        """
        __tracebackhide__ = True
        assert self.scaling is not None
        try:
            yield from self.scaling.pieces()
        except Exception as error:
            if not self.guessed:
                raise
            self.scaling.give_up(error)

    def _first_gradients(self) -> Iterator[Progress]:
        __tracebackhide__ = True
        for done, f in enumerate((self.pair.f, self.pair.f_cr), 1):
            try:
                self.first.append(first_gradient_of(f, self.args, self.kwargs))
            except RuleLabError:
                pass  # refused: the duel, and the comparison above it, say why
            yield Progress(done, 2, f"first gradient of {name_of(f)}")

    def result(self, *, interrupted: bool = False) -> Times:
        """The complete parts; the pair stores them, unless there are none."""
        begun = len(self.started)
        duel = self.duel.result(interrupted=interrupted and begun <= 2)
        scaling = None
        if self.scaling is not None and begun > 2:
            scaling = self.scaling.result(interrupted=interrupted)
        times = Times(duel, tuple(self.first), scaling, self.size, interrupted)
        if begun > 1 or self.pair.times is None:
            self.pair.times, self.pair.timed_by = times, self.rule
        return times


class PairCheck:
    """The check of the rule of a pair's twin, in pieces; the pair stores the report."""

    def __init__(self, pair: Pair, depth: str):
        self.pair, self.rule = pair, pair.rule
        self.check = checking(pair.f_cr, *pair.args, fkwargs=pair.kwargs, depth=depth)

    def pieces(self) -> Iterator[Progress]:
        """The check, a point at each step."""
        __tracebackhide__ = True
        yield from self.check.pieces()

    def result(self, *, interrupted: bool = False) -> RuleCheck:
        """The report of the results so far."""
        report = self.pair.told(lambda: self.check.result(interrupted=interrupted))
        if report.points or not interrupted or self.pair.check is None:
            self.pair.check, self.pair.checked_by = report, self.rule
        return report


# -- sections ------------------------------------------------------------------------------------------------


class Words(str):
    """A sentence shown as a paragraph."""

    def __new__(cls, words: str = ""):
        return super().__new__(cls, printable(words))

    def to_markdown(self) -> str:
        """The sentence as Markdown, every word of it escaped."""
        return Page((str(self),)).markdown()

    def _repr_html_(self) -> str:
        style = ' style="white-space: pre-line"' if "\n" in self else ""
        return (
            f'<p class="rulelab-words tex2jax_ignore mathjax_ignore"{style}>{self._sign()}{prose(self)}</p>'
        )

    def _sign(self) -> str:
        return ""


class Failure(Words):
    """Why there is nothing else to show, with the sign for it that the tab and the line of verdicts also
    have.
    """

    def _sign(self) -> str:
        return sign_of("error").html()


def gradients(pair: Pair) -> list[Any]:
    """Values and gradients side by side, pictures of large ones, shapes and dtypes."""
    comparison = pair.comparison
    at = [] if pair.size is None else [Words(f"At the size N = {pair.size:,}.")]
    if comparison is None:
        assert pair.refused is not None
        return [*at, Failure(f"Not compared. {error_in_words(pair.refused)}")]
    telling = _telling(comparison)
    differing = [one for one in (*comparison.value, *telling) if not one.agree]
    agreeing = [one for one in telling if one.agree]
    drawn = (
        figures.both_sides(one, comparison.left_name, comparison.right_name)
        for one in (*differing, *agreeing)
    )
    pictures = list(itertools.islice(filter(None, drawn), max(MOST_DRAWN, len(differing))))
    at = [*_outdated(pair, pair.compared_by, "Compared"), *at]
    return [*at, comparison, *pictures, Shapes(pair.args, comparison)]


def _telling(comparison: Comparison) -> list[Difference]:
    """The difference shown as a picture for each argument: its gradient, or its pullback if only that is
    wrong.
    """
    pullbacks = comparison.pullbacks or comparison.gradients
    pairs = zip(comparison.gradients, pullbacks, strict=True)
    return [back if one.agree and not back.agree else one for one, back in pairs]


def times(pair: Pair) -> list[Any]:
    """The duel, the first gradients, the times against N with their figure."""
    found = pair.times
    if found is None and pair.refused is not None:
        return [Words("Nothing timed: the rule gives no answer that could be timed.")]
    if found is None:
        return [Words("Nothing timed yet. Run times both gradients, and both against the size N.")]
    at = [] if found.size is None else [Words(f"At the size N = {found.size:,}.")]
    duel = found.duel
    spread = figures.spread_picture((duel.left, duel.right, *duel.others))
    parts: list[Any] = [*_outdated(pair, pair.timed_by, "Timed"), *at, duel]
    parts.append(spread)
    if found.first:
        parts.append(FirstGradients(found.first))
    if found.scaling is not None:
        parts += [figures.scaling_picture(found.scaling), _without_repeated_warning(found.scaling, duel)]
    return [part for part in parts if part is not None]


def _without_repeated_warning(scaling: Scaling, duel: Duel) -> Scaling:
    """The times against N without a warning about the machine that is already shown above."""
    told = warnings_of(scaling.environment)
    again = bool(told) and told == warnings_of(duel.environment)
    return dataclasses.replace(scaling, environment={}) if again else scaling


def checks(pair: Pair) -> list[Any]:
    """The results of the check of the twin's rule by numbers, once it was checked."""
    if pair.check is None:
        return [Words("Not checked yet. Run checks the rule at many points, against differences.")]
    return [*_differing(pair), *_outdated(pair, pair.checked_by, "Checked"), pair.check]


def code(pair: Pair) -> list[Any]:
    """The function and the rule of its twin, and beside them the pass compiled from the function."""
    return [Listings((_primal(pair.f), _pass(pair.f_cr, pair)), (_pass(pair.f, pair),))]


def symbolic(pair: Pair) -> list[Any]:
    """What SymPy says about the rule, if it was asked, and the rule that it derived, if it was asked to."""
    derived = [] if pair.derived is None else [pair.derived]
    if pair.proof is None:
        return [Words("SymPy has not answered yet whether the rule is right. Prove asks it."), *derived]
    took = [Words(f"Answered in {engineering(s, 's')}.")] if (s := getattr(pair.proof, "seconds", 0)) else []
    return [
        *_differing(pair),
        *_outdated(pair, pair.proved_by, "Answered"),
        pair.proof,
        *took,
        *derived,
    ]


def _differing(pair: Pair) -> list[Words]:
    """A sentence about the check by numbers and the proof, if the rule is wrong according to only one of
    them.
    """
    if pair.checked_by is not pair.proved_by:
        return []
    if contradicts(pair.check, pair.proof):
        return [Words(f"The rule is wrong, as the check by numbers shows: {pair.check.in_short}.")]
    if refutes(pair.check, pair.proof):
        return [Words("The rule is wrong, as the proof shows, though the check by numbers did not find it.")]
    return []


def _outdated(pair: Pair, rule: Any, found: str) -> list[Words]:
    """A warning if what was `found` with one rule is shown while another one is in use."""
    if rule is pair.rule:
        return []
    return [Words(f"{found} before the rule of {pair.names[1]} was changed, so it may no longer hold.")]


def judged_gradients(pair: Pair) -> tuple[str, str] | None:
    """The verdict on values and gradients, and which of them differ."""
    comparison = pair.comparison
    if pair.compared_by is not pair.rule:
        return None
    if comparison is None:
        return "error", NOT_JUDGED_BY_AN_ERROR
    if comparison.word != WRONG:
        return comparison.word, f"{RIGHT}, {comparison.verdict}" if comparison.word == RIGHT else CANNOT_TELL
    differing = [one.name for one in comparison.differences if not one.agree]
    where = f"differ in the {differing[0]}" if differing else "the cotangent is ignored"
    return WRONG, f"{WRONG}, {where}"


def judged_times(pair: Pair) -> tuple[str, str] | None:
    """The verdict of the duel, and by how much; None for a first look that had no time for enough rounds."""
    if pair.times is None or pair.timed_by is not pair.rule or len(pair.times.duel.ratios) < LEAST_ROUNDS:
        return None
    duel = pair.times.duel
    words = {
        FASTER: f", {ratio_in_words(duel.ratio)} as fast",
        SLOWER: f", {ratio_in_words(1 / duel.ratio)} the time",
    }
    return duel.verdict, duel.verdict + words.get(duel.verdict, "")


def judged_check(pair: Pair) -> tuple[str, str] | None:
    """The verdict of the check by numbers, and at how many points."""
    if not isinstance(pair.check, RuleCheck) or pair.checked_by is not pair.rule:
        return None
    found = word_of(pair.check.verdict)
    count = len(pair.check.points)
    return found, f"{found} at {count} point{'s' if count != 1 else ''}" if found == RIGHT else found


def judged_proof(pair: Pair) -> tuple[str, str] | None:
    """The verdict of the proof, in words."""
    verdict = getattr(pair.proof, "verdict", None)
    if verdict is None or pair.proved_by is not pair.rule:
        return None
    return verdict.word, said(verdict.word)


class Shapes(Report):
    """Kind and shape of each argument, value and gradient on both sides."""

    def __init__(self, args: tuple, comparison: Comparison):
        self.names = (comparison.left_name, comparison.right_name)
        told: tuple[Difference, ...] = (*comparison.value, *comparison.gradients)
        arguments = [(f"argument {number}", kind_of(arg), kind_of(arg)) for number, arg in enumerate(args, 1)]
        self.rows = (*arguments, *((d.name, kind_of(d.left), kind_of(d.right)) for d in told))

    @property
    def same(self) -> bool:
        """Whether both sides have the same kinds and shapes everywhere."""
        return all(left == right for _, left, right in self.rows)

    def page(self) -> Page:
        words = ("same" if left == right else "differ" for _, left, right in self.rows)
        rows = tuple((*row, word) for row, word in zip(self.rows, words))
        caption = "Shapes and dtypes" + (", the same on both sides" if self.same else ", which differ")
        return Page(tables=(Table(caption, ("", *self.names, "verdict"), rows, folded=self.same),))

    def to_dict(self) -> dict:
        return {name: {"left": left, "right": right} for name, left, right in self.rows}


@dataclass(frozen=True)
class Listing:
    """Source under a heading, each line with the number of the author's line that it comes from."""

    heading: str
    source: str
    numbers: tuple[int | None, ...] = ()
    note: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """(number or an empty string, line), without the blank lines at the end."""
        lines = self.source.rstrip("\n").split("\n")
        numbers = [*self.numbers, *[None] * len(lines)]
        return [("" if n is None else str(n), line) for n, line in zip(numbers, lines)]

    def __str__(self) -> str:
        width = max((len(number) for number, _ in self.rows()), default=0)
        body = [f"{number:>{width}} | {line}".rstrip() for number, line in self.rows()]
        return printable("\n".join([self.heading, *([self.note] if self.note else []), *body]))

    def _repr_html_(self) -> str:
        lines = coloured_lines(printable(self.source.rstrip("\n")))
        heading, about = escape(printable(self.heading)), escape(printable(self.note))
        if width := max((len(number) for number, _ in self.rows()), default=0):
            lines = [
                f'<span class="rulelab-n">{number:>{width}} </span>{line}'
                for (number, _), line in zip(self.rows(), lines)
            ]
        body = "\n".join(lines)
        note = f"<p>{about}</p>" if about else ""
        return (
            f'<div class="rulelab-listing"><p class="rulelab-heading">{heading}</p>{note}'
            f'<pre tabindex="0" role="article" aria-label="{heading}">{body}</pre></div>'
        )

    def to_dict(self) -> dict:
        """Heading, source and numbers in plain types."""
        return {"heading": self.heading, "source": str(self.source), "lines": list(self.numbers)}


_LISTINGS_STYLE = """\
<style>
.rulelab-source:has(> .rulelab-listings) { container-type: inline-size; }
@container (min-width: 62em) { .rulelab-listings { display: grid; gap: 0 2em; justify-content: start;
  grid-template-columns: minmax(0, auto) minmax(0, auto); } }
.rulelab-listings > div { min-width: 0; }
.rulelab-listings p { width: 0; min-width: 100%; }
.rulelab-listing .rulelab-heading { font-weight: 600; margin: 0.5em 0 0.2em;
  color: var(--jp-content-font-color1, inherit); }
.rulelab-listing p { color: var(--jp-content-font-color1, inherit); margin: 0.2em 0; }
.rulelab-listing.rulelab-listing pre { padding: 0.4em 0;
  border-top: 1px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-listing .rulelab-n { user-select: none;
  color: var(--jp-content-font-color2, color-mix(in srgb, currentColor 75%, transparent));
  border-right: 1px solid var(--jp-border-color2, #bdbdbd); margin-right: 0.7em; }
</style>"""


@dataclass(frozen=True)
class Listings:
    """What the author wrote beside what was compiled from it, if there is room; else above it."""

    written: tuple[Listing, ...]
    compiled: tuple[Listing, ...]

    @property
    def parts(self) -> tuple[Listing, ...]:
        """All of them, in order."""
        return self.written + self.compiled

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.parts))

    def _repr_html_(self) -> str:
        columns = ("".join(part._repr_html_() for part in column) for column in (self.written, self.compiled))
        body = "".join(f"<div>{column}</div>" for column in columns)
        words = "Each line of the compiled pass has the number of the line that it came from."
        return (
            f'<div class="rulelab-source tex2jax_ignore mathjax_ignore">{SOURCE_STYLE}{_LISTINGS_STYLE}'
            f'<p class="rulelab-words">{words}</p>'
            f'<div class="rulelab-listings">{body}</div></div>'
        )

    def to_markdown(self) -> str:
        """The listings as Markdown."""
        return "\n\n".join(_fenced(str(part)) for part in self.parts)

    def to_dict(self) -> dict:
        """The listings in plain types."""
        return {"listings": [part.to_dict() for part in self.parts]}


class Derived(Report):
    """A derived rule, as a cell to be copied, with the results of its checks."""

    def __init__(self, rule: Any):
        self.rule = rule
        heading = f"A rule for {rule.function}, derived: copy it into a cell"
        self.listing = Listing(heading, rule.cell)

    @property
    def words(self) -> tuple[str, ...]:
        """The verdicts and the notes, a line for each."""
        return (self.rule.sentence, self.rule.checked, *(f"note: {note}" for note in self.rule.notes))

    def page(self) -> Page:
        return self.rule.page()

    def __str__(self) -> str:
        listing = f"{self.listing.heading}\n{textwrap.indent(self.rule.cell.rstrip(), '    ')}"
        return printable("\n".join((listing, *self.words)))

    def _repr_html_(self) -> str:
        words = "".join(Words(line)._repr_html_() for line in self.words)
        return (
            f'<div class="rulelab-source tex2jax_ignore mathjax_ignore">{SOURCE_STYLE}{_LISTINGS_STYLE}'
            f"{self.listing._repr_html_()}{words}</div>"
        )

    def to_dict(self) -> dict:
        return self.rule.to_dict()


def _fenced(text: str) -> str:
    """The text as a block of code in Markdown, whatever backticks it contains."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


class FirstGradients(Report):
    """The time of the first gradient of each function, with compiling, beside that of a later one."""

    beside = True

    def __init__(self, first: tuple[FirstGradient, ...]):
        self.first = first

    def page(self) -> Page:
        rows = tuple(
            (one.name, *(engineering(seconds, "s") for seconds in (one.first, one.second, one.compiling)))
            for one in self.first
        )
        columns = ("gradient of", "first call", "later call", "only at the first")
        return Page(tables=(Table("Time to the first gradient", columns, rows),))

    def to_dict(self) -> dict:
        return {"first": [one.to_dict() for one in self.first]}


def _primal(f: Callable) -> Listing:
    heading = f"{name_of(f)}, as it was written"
    target = f if inspect.isroutine(f) or isinstance(f, type) else type(f).__call__
    try:
        lines, first = written_lines(target)
    except (OSError, TypeError):
        return Listing(heading, "", note="Its source cannot be found.")
    first = max(first, 1)
    return Listing(heading, textwrap.dedent("".join(lines)), tuple(range(first, first + len(lines))))


def _pass(f: Callable, pair: Pair) -> Listing:
    """The code that computes a gradient: the pass compiled from the function, or its rule."""
    name = name_of(f)
    try:
        source: AdjointSource = adjoint_source(f, *pair.args, **pair.kwargs)
    except RuleLabError as error:
        reason = str(getattr(error, "found", error)).split("\n", 1)[0]
        return Listing(f"{name}, compiled", "", note=f"There is no pass: {type(error).__name__}: {reason}.")
    if source.startswith("# by rule: "):
        head, _, body = source.partition("\n")
        rule = head.removeprefix("# by rule: ")
        return Listing(f"{name}, by its rule", textwrap.dedent(body), source.origins[1:], rule)
    text, origins = _with_short_comments(str(source), source.origins)
    return Listing(f"{name}, compiled: value and pullback", text, origins)


COMMENT = 58
"""Columns of the comments at the head of a listing, which has half the width of the panel."""


def _with_short_comments(source: str, origins: tuple[int | None, ...]) -> tuple[str, tuple[int | None, ...]]:
    """The lines of a compiled pass with their origins, its comments broken so that they are read without
    moving the listing sideways.

    >>> print(_with_short_comments(f"# {'word ' * 14}", (None,))[0])
    # word word word word word word word word word word word
    #     word word word
    """
    lines: list[tuple[str, int | None]] = []
    for line, origin in itertools.zip_longest(source.rstrip("\n").split("\n"), origins):
        bare = line.lstrip(" ")
        if len(line) <= COMMENT or not bare.startswith("# "):
            lines.append((line, origin))
            continue
        after = f"{' ' * (len(line) - len(bare))}#     "
        parts = textwrap.wrap(
            line, COMMENT, subsequent_indent=after, break_long_words=False, break_on_hyphens=False
        )
        lines += [(part, origin) for part in parts]
    return "\n".join(line for line, _ in lines), tuple(origin for _, origin in lines)


# -- the whole -----------------------------------------------------------------------------------------------

_OVERVIEW_STYLE = """\
<style>
.rulelab-overview { color: var(--jp-content-font-color1, inherit); }
.rulelab-overview summary { cursor: pointer; }
.rulelab-overview .rulelab-words { margin: 0.3em 0; }
.rulelab-overview .rulelab-section { font-weight: 600; margin: 0.8em 0 0.2em; padding-bottom: 0.1em;
  border-bottom: 2px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-overview .rulelab-wide { overflow-x: auto; container-type: inline-size; }
</style>"""
_BESIDE_STYLE = """\
<style>
.rulelab-beside { display: flex; flex-wrap: wrap; gap: 0 2em; align-items: flex-start; }
.rulelab-beside { container-type: inline-size; }
.rulelab-beside > .rulelab-report { flex: 0 1 auto; min-width: min-content; container-type: normal; }
.rulelab-beside > figure { flex: 0 1 auto; min-width: 0; margin-right: 0; }
@container (max-width: 54em) { .rulelab-beside > .rulelab-report { flex-basis: 100%; min-width: 0; } }
</style>"""
# JupyterLab shows "Loading widget..." in place of a panel whose kernel is gone, and leaves it there.
_NO_PANEL_STYLE = """\
<style>
.jp-OutputArea-child:has(+ .jp-OutputArea-child .rulelab-copy):not(:has(.rulelab-panel))
  .jp-OutputArea-output { font-size: 0; }
.jp-OutputArea-child:has(+ .jp-OutputArea-child .rulelab-copy):not(:has(.rulelab-panel))
  .jp-OutputArea-output::after { font-size: var(--jp-content-font-size1, 14px);
  color: var(--jp-content-font-color1, inherit);
  content: "A panel is live while its kernel runs: run this cell again for a new one. "
    "What it showed is below."; }
</style>"""


@dataclass(frozen=True, repr=False)
class Overview(Report):
    """What the panel shows, as one page without widgets; a snapshot of the moment when it was made.

    `sections` are (name, parts); with `folded` the HTML is closed behind a line to click on; `interrupted`
    says that its measurements were ended early.
    """

    title: str
    sections: tuple[tuple[str, tuple[Any, ...]], ...]
    folded: bool = False
    interrupted: bool = False

    def page(self) -> Page:
        """Verdicts, tables and notes of all parts that are reports."""
        return _joined([part for _, parts in self.sections for part in parts if hasattr(part, "page")])

    def __str__(self) -> str:
        blocks = [
            f"{name}\n{'=' * len(name)}\n" + "\n".join(map(str, parts)) for name, parts in self.sections
        ]
        return printable("\n\n".join(blocks))

    def to_markdown(self) -> str:
        """The page as Markdown: a heading for each section, pictures included."""
        blocks = []
        for name, parts in self.sections:
            blocks += [f"## {name}", *(part.to_markdown() for part in parts)]
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        body = "".join(_section_html(name, parts) for name, parts in self.sections)
        if self.folded:
            summary = f"What the panel showed of {escape(printable(self.title))}"
            summary = f'<summary class="tex2jax_ignore mathjax_ignore">{summary}</summary>'
            body = f"{_NO_PANEL_STYLE}<details>{summary}{body}</details>"
        kind = "rulelab-overview rulelab-copy" if self.folded else "rulelab-overview"
        return f'<div class="{kind}">{_OVERVIEW_STYLE}{body}</div>'

    def to_dict(self) -> dict:
        return {
            name.lower(): [part.to_dict() for part in parts if hasattr(part, "to_dict")]
            for name, parts in self.sections
        }


def _joined(reports: Sequence[Any]) -> Page:
    """The pages of several reports as one."""
    pages = [report.page() for report in reports]
    lead = tuple(line for page in pages for line in page.lead)
    tables = tuple(table for page in pages for table in page.tables)
    notes = tuple(dict.fromkeys(note for page in pages for note in page.notes))
    return Page(lead, tables, notes, pages[0].verdict if pages and pages[0].lead else "")


def _section_html(name: str, parts: Sequence[Any]) -> str:
    heading = f'<p class="rulelab-section tex2jax_ignore mathjax_ignore">{escape(name)}</p>'
    return heading + html_of(name, parts)


def html_of(name: str, parts: Sequence[Any]) -> str:
    """The parts of a section as HTML; what is too wide can be scrolled, also by keyboard."""
    shown: list[list[str]] = []
    for part in parts:
        html = part._repr_html_()
        if shown and getattr(part, "beside", False):
            shown[-1].append(html)
        else:
            shown.append([html])
    body = "".join(map(_beside, shown))
    return f'<div class="rulelab-wide" tabindex="0" role="article" aria-label="{escape(name)}">{body}</div>'


def _beside(parts: list[str]) -> str:
    """Parts next to each other if there is room, else below each other."""
    html = "".join(parts)
    return html if len(parts) == 1 else f'{_BESIDE_STYLE}<div class="rulelab-beside">{html}</div>'


def sizes_between(smallest: int, largest: int, count: int) -> tuple[int, ...]:
    """Whole numbers in equal ratios from the smallest to the largest.

    >>> sizes_between(10, 1000, 5)
    (10, 32, 100, 316, 1000)
    """
    if smallest > largest:
        raise MeasurementError(f"The smallest N, {smallest:,}, is larger than the largest, {largest:,}")
    return tuple(sorted({round(n) for n in np.geomspace(smallest, largest, count).tolist()}))


def kind_of(value: Any) -> str:
    """The type or dtype of a value, and its shape.

    >>> kind_of(np.zeros((2, 3))), kind_of(1.5), kind_of(None)
    ('float64[2, 3]', 'float', 'None')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    return "None" if value is None else type(value).__name__
