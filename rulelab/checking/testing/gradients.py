"""Check the gradient of any real function against finite differences: `grad_check`, `test_gradient`."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ad import reverse
from ...advice import SAYS_MORE
from ...compiler.calls.cache import DEFAULT as DEFAULT_CACHE
from ...compiler.calls.cache import Cache
from ...errors import RuleError
from ...pieces import Limited, Progress, run
from ...raised import raised_words
from ...rules.registry import Found
from ...rules.rule import Rule
from ...shown_options import shows_options_of
from ..calling.plain_calls import value_of
from ..calling.subjects import Subject
from ..comparing.comparison import argument_names
from ..judgement.reports import CheckSummary, PointShown, RuleCheck
from ..measuring import oracles
from ..measuring.shortening import shortened
from ..measuring.vectors import to_vec
from ..probing.closeness import Closeness, Tolerance, Worst, closeness
from ..probing.findings import UNKNOWN, WRONG, Finding
from ..probing.perturb import jittered
from ..probing.probes import Point, Probe, truth_at, vector_function, vector_of, without_warnings

POINTS = 4
"""The number of points of a check: the given one, and others near it."""


class WrongGradientError(RuleError, AssertionError):
    """A test found that a gradient is wrong. `report` is the whole `GradientCheck`."""

    report: GradientCheck


@dataclass(frozen=True, repr=False)
class GradientCheck(RuleCheck):
    """Whether a gradient is right, as far as numbers can say: a `RuleCheck` of the whole function.

    Attributes
    ----------
    rules : tuple of str
        The author's own rules that the gradient was made with, in words.
    function, names, checks, findings, points, notes, seconds, interrupted
        As in `RuleCheck`; `mode` is "gradient".
    """

    rules: tuple[str, ...] = ()

    says = "the AD gives"
    wrong_error = WrongGradientError

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "rules": list(self.rules)}


class GradientChecking:
    """The check of a gradient in pieces, one point each; `result` may be called at any time."""

    def __init__(
        self,
        f: Callable,
        args: tuple,
        kwargs: Mapping[str, Any],
        *,
        points: int = POINTS,
        rng: np.random.Generator,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        self.f, self.kwargs, self.points, self.rng = f, dict(kwargs), points, rng
        self.rtol, self.atol = rtol, atol
        self.name = getattr(f, "__name__", type(f).__name__)
        self.args = copy.deepcopy(tuple(args))
        self.subject = Subject(self.name, self._value, names=tuple(argument_names(f, self.args)))
        self.findings: list[Finding] = []
        self.looked_at: list[PointShown] = []
        self.times: dict[str, int] = {}
        self.known: set[str] = set()
        self.rules: tuple[str, ...] = ()
        self.skipped = 0
        self.seconds = 0.0

    def _value(self, *args: Any, **kwargs: Any) -> Any:
        """The function, with a float as its value also where it returns an integer."""
        y = self.f(*args, **kwargs)
        return float(y) if isinstance(y, (int, np.integer)) and not isinstance(y, bool) else y

    # -- the work --------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[Progress]:
        """Compute the gradient at each point and measure it there."""
        __tracebackhide__ = True
        started = time.perf_counter()
        try:
            first = reverse.gradient(self.f, *copy.deepcopy(self.args), **copy.deepcopy(self.kwargs))
            self.args = tuple(_floating(x, x_bar) for x, x_bar in zip(self.args, first, strict=True))
            self.rules = tuple(rule.describe() for rule in rules_asked(self.f, self.args, self.kwargs))
            for number in range(self.points):
                self._look(number)
                yield Progress(number + 1, self.points, f"point {number + 1}")
            self._say_what_is_unknown()
        finally:
            self.seconds = time.perf_counter() - started

    def _look(self, number: int) -> None:
        args = self.args if number == 0 else jittered(self.args, self.rng, flips=number == self.points - 1)
        point = Point(args, self.kwargs, "given" if number == 0 else "near those given")
        try:
            y = value_of(self._value, args, self.kwargs)
        except Exception:
            if number == 0:
                raise
            self.skipped += 1
            return
        if not np.all(np.isfinite(to_vec(y)[0])):
            self.skipped += 1
            return
        self._judge(point, y)

    def _judge(self, point: Point, y: Any) -> None:
        truth = truth_at(self.subject, point, self.rng, y)
        with without_warnings():
            try:
                found = reverse.gradient(self.f, *copy.deepcopy(point.inputs), **copy.deepcopy(self.kwargs))
            except Exception as error:
                words = f"computing it raises {raised_words(error)}"
                self.findings.append(Finding("gradient", words, probe=Probe(point, truth, y, failure=error)))
                return
        row = vector_of(point, found)
        probe = Probe(point, truth, y, np.ones((1, 1)), row[None, :], 1 if truth.whole else 0)
        compared = closeness(probe, Tolerance.of(probe, self.rtol, self.atol))
        self.looked_at.append(PointShown(point.origin, tuple(shortened(x) for x in point.inputs)))
        self._count_leaves(probe, compared)
        self._along_a_direction(probe, row)

    def _count_leaves(self, probe: Probe, compared: Closeness) -> None:
        for leaf in compared.columns:
            self._count(f"gradient with respect to {leaf.name}")
            block = slice(leaf.start, leaf.stop)
            if compared.known[:, block].any():
                self.known.add(leaf.name)
        for leaf in compared.wrong_leaves():
            words = f"the gradient with respect to {leaf.name} is wrong"
            worst = compared.worst(leaf)
            plain = None if worst is None else Worst(worst.name, worst.found, worst.expected, worst.error)
            self.findings.append(Finding("gradient with respect to", words, WRONG, leaf.name, plain, probe))

    def _along_a_direction(self, probe: Probe, row: np.ndarray) -> None:
        """Measure the slope in one random direction through all arguments at once, independently of the other
        differences.
        """
        if not row.size:
            return
        vector, f = vector_function(self.subject, probe.point)
        direction = self.rng.choice([-1.0, 1.0], row.size) * self.rng.integers(1, 5, row.size) / 4
        measured = oracles.measured_jvp(f, vector, direction)
        value, error = float(measured.value[0]), float(measured.error[0])
        if not np.isfinite(value) or not np.isfinite(error):
            return
        self._count("random direction")
        limit, slope = Tolerance.of(probe, self.rtol, self.atol), float(row @ direction)
        size = float(np.abs(row) @ np.abs(direction))
        if not abs(slope - value) <= limit.rtol * max(size, abs(value)) + 4 * error:
            words = "the slope in a random direction is wrong"
            worst = Worst("of all arguments", slope, value, error)
            self.findings.append(Finding("random direction", words, WRONG, None, worst, probe))

    def _count(self, check: str) -> None:
        self.times[check] = self.times.get(check, 0) + 1

    def _say_what_is_unknown(self) -> None:
        for check in [check for check in self.times if check.startswith("gradient with respect to ")]:
            name = check.removeprefix("gradient with respect to ")
            if name not in self.known:
                words = f"no two differences agree on the {check} at any point: a kink, a jump, or noise"
                self.findings.append(Finding(check, words, UNKNOWN, name))
        if not self.times and not self.findings:
            words = "no argument is a number that can vary"
            self.findings.append(Finding("gradient", words, UNKNOWN))

    # -- the report ------------------------------------------------------------------------------------------

    def result(self, *, interrupted: bool = False) -> GradientCheck:
        """The report of the results so far."""
        return GradientCheck(
            function=self.name,
            mode="gradient",
            by="The gradient",
            names=self.subject.names,
            checks=tuple(self._checks()),
            findings=tuple(_each_once(self.findings)),
            points=tuple(self.looked_at),
            notes=tuple(self._notes()),
            seconds=self.seconds,
            interrupted=interrupted,
            rules=self.rules,
        )

    def _checks(self) -> Iterator[CheckSummary]:
        for name, times in self.times.items():
            found = [f for f in self.findings if name in (f.check, f"{f.check} {f.argument}")]
            yield CheckSummary(
                name, found[0].level if found else "right", times, found[0].words if found else ""
            )

    def _notes(self) -> Iterator[str]:
        yield from (f"made with your rule {rule}" for rule in self.rules)
        if any(finding.level == WRONG for finding in self.findings):
            yield (
                SAYS_MORE
                if self.rules
                else "no rule of yours was used: please report what the AD gets wrong"
            )
        if self.skipped:
            left = "1 point was" if self.skipped == 1 else f"{self.skipped} points were"
            yield f"{left} left out: {self.name} has no finite value there"


def _floating(x: Any, x_bar: Any) -> Any:
    """An integer that has a gradient as the float with which it is differentiated."""
    if x_bar is None or isinstance(x, (bool, np.bool_)):
        return x
    if isinstance(x, (int, np.integer)):
        return float(x)
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else x


def _each_once(findings: list[Finding]) -> Iterator[Finding]:
    shown = set()
    for finding in findings:
        if finding.words not in shown:
            shown.add(finding.words)
            yield finding


class _RuleRecorder(Cache):
    """A new cache that records which of the author's own rules it returned."""

    def __init__(self) -> None:
        super().__init__()
        self.rules: dict[int, Rule] = {}

    def ask(self, target: Any, types_of_arguments: tuple, config: Any = None, mode: str = "rrule") -> Any:
        answer = super().ask(target, types_of_arguments, config, mode)
        if isinstance(answer, Found) and not answer.rule.built_in:
            self.rules[id(answer.rule)] = answer.rule
        return answer


def rules_asked(f: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The author's own rules that take part in the gradient of a call; none in the manual refresh mode, in
    which other rules may be in use.
    """
    if DEFAULT_CACHE.mode == "manual":
        return ()
    cache = _RuleRecorder()
    with without_warnings():
        reverse.pullback(f, *copy.deepcopy(args), cache=cache, **copy.deepcopy(dict(kwargs)))
    return tuple(cache.rules.values())


def gradient_checking(
    f: Callable,
    *args: Any,
    fkwargs: Mapping[str, Any] | None = None,
    points: int = POINTS,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    rng: np.random.Generator | None = None,
) -> GradientChecking:
    """The check of the gradient of `f`, not started, for callers that drive it in pieces. See
    `grad_check`.
    """
    rng = np.random.default_rng(seed) if rng is None else rng
    return GradientChecking(f, args, fkwargs or {}, points=points, rng=rng, rtol=rtol, atol=atol)


@shows_options_of(gradient_checking)
def grad_check(
    f: Callable[..., Any], *args: Any, seconds: float | None = None, **options: Any
) -> GradientCheck:
    """Whether `rl.gradient(f, *args)` is right, as far as numbers can say.

    The gradient of any real function, with rules of yours in it or without, is compared with two families of
    differences of `f`, at `args` and at some points near them: number by number where there are few, in
    random directions otherwise.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    *args
        Where to begin.
    seconds : float, optional
        When to stop, and report what was seen by then.
    **options
        - `fkwargs`: keyword arguments of `f`.
        - `points`: how many.
        - `rtol`, `atol`: tolerances; by dtype, 1e-9 for float64, unless given.
        - `seed` or `rng`: for the points.

    Returns
    -------
    GradientCheck
        A report that says right, wrong (with the number that is furthest off) or cannot tell. It is true
        where the gradient is right, and names the rules of yours that took part.

    Raises
    ------
    ScalarOutputError
        Unless `f` returns a real number.
    RuleLabError
        What `rl.gradient` raises.

    Examples
    --------
    >>> bool(grad_check(lambda x, y: x * np.sin(y), 2.0, 3.0))
    True
    """
    return run(Limited(gradient_checking(f, *args, **options), seconds))


@shows_options_of(grad_check)
def test_gradient(f: Callable[..., Any], *args: Any, **options: Any) -> GradientCheck:
    """Passes if the gradient of `f` is right at `args` and near them.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    *args
        Where to begin.
    **options
        Those of `grad_check`.

    Returns
    -------
    GradientCheck
        The report.

    Raises
    ------
    WrongGradientError, InconclusiveCheckError
        Unless the gradient is right; both are AssertionErrors.

    Examples
    --------
    >>> bool(test_gradient(lambda x, y: x * np.sin(y), 2.0, 3.0))
    True
    """
    return grad_check(f, *args, **options).raise_unless_right()  # type: ignore[return-value]


test_gradient.__test__ = False  # type: ignore[attr-defined]  # pytest collects what is named test…
check_gradient = test_gradient
