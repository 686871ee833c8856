"""Whether a rule is right in the limit of many steps: the order at which its error vanishes, and the
remaining error.

The rule of an integral is not the derivative of the sum that approximates it: for every number of steps it is
off by the error of the sum. With 100 digits this error is known exactly at 8, 16, … 128 steps, which shows
its order, and the Euler-Maclaurin formula extrapolates it to step size zero. The error there must vanish: if
a rule is off by a millionth, so is every digit of the limit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import statistics
from typing import Any, NamedTuple

import numpy as np

from ..annotations import signature_of_callable
from .cells import Static, beside_borders, samples
from .outcomes import Misfit, Settled, Skipped
from .runs import visit_sample
from .scalars import CONTEXT
from .verdicts import Converges, Refuted

SIZES = (8, 16, 32, 64, 128)
TRIED_WITH = 16  # steps, if their number is not given
SAMPLES_NEEDED = 3
FEWEST_SAMPLES, MOST_SAMPLES = 6, 24  # tried within the limit of work
EXACT = CONTEXT.mpf(10) ** -30  # relative: no difference at all
KNOWN = CONTEXT.mpf(10) ** -9  # relative: how accurately the limit must be known
_POWERS = (
    (1, 2, 3, 4),
    (2, 4, 6, 8),
    (1, 2, 4, 6),
)  # powers of the step in the error, by the Euler-Maclaurin formula
SMALL = 0.05  # relative error at the largest number of steps
LEAST_ORDER = 0.8
_STEPS = re.compile(
    r"[nNmM]|.*(steps?|strips?|panels?|intervals?|slices?|pieces|nodes|points|subdivisions)", re.IGNORECASE
)


class Steps(NamedTuple):
    """What holds the number of steps: an argument (number `place`), a keyword or a global constant."""

    name: str
    kind: str
    place: int
    value: Any


def is_step_name(name, asked=None):
    """Whether an int of this name may be a number of steps.

    >>> [is_step_name(name) for name in ("n", "num_steps", "STRIPS", "axis", "order")]
    [True, True, True, False, False]
    """
    return name == asked if asked is not None else _STEPS.fullmatch(name) is not None


def find_steps(question, spec, asked=None):
    """Where a function may have its number of steps; with `asked`, only under that name."""
    found = [
        Steps(name, "argument", place, kind.value)
        for place, (name, kind) in enumerate(zip(question.names, spec, strict=True))
        if isinstance(kind, Static) and _is_count(kind.value)
    ]
    options = question.options().items()
    found += [Steps(name, "keyword", 0, value) for name, value in options if _is_count(value)]
    found += [Steps(name, "global", 0, value) for name, value in _globals_read(question.primal).items()]
    return [steps for steps in found if is_step_name(steps.name, asked)]


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def keyword_defaults(f):
    """The defaults of a function's keyword-only parameters, by name; empty for a ufunc."""
    if isinstance(f, np.ufunc):
        return {}
    with contextlib.suppress(TypeError, ValueError):
        parameters = signature_of_callable(f).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    return {}


def _globals_read(f):
    code, known = getattr(f, "__code__", None), getattr(f, "__globals__", {})
    return {name: known[name] for name in code.co_names if _is_count(known.get(name))} if code else {}


def converges(question, plan, steps, rng, seed, limit):
    """`Converges` if the rule is shown to be that of the limit, False if it is shown not to be, None if
    neither.
    """
    # Simpson's rule needs an even number.
    sizes = SIZES if steps.value % 2 == 0 else tuple(n + 1 for n in SIZES)
    tried, clear = 0, list[_Sample]()
    for seen in _seen_at_samples(question, plan, steps, sizes, rng, seed, limit):
        if seen is not None and seen.is_wrong:
            return False
        tried += 1
        if seen is not None and seen.is_clear:
            clear.append(seen)
    orders = [min(seen.orders) for seen in clear]
    if len(clear) < max(SAMPLES_NEEDED, tried / 2) or len(set(map(round, orders))) > 1:
        return None
    errors = tuple(
        (name, tuple(float(max(seen.errors[name][k] for seen in clear)) for k in range(len(sizes))))
        for name in clear[0].errors
    )
    left = max(float(limit) for seen in clear for limit in seen.limits)
    return Converges(round(statistics.median(orders), 2), steps.name, sizes, errors, left, len(clear))


def _seen_at_samples(question, plan, steps, sizes, rng, seed, limit):
    """Yield the result at each sample, None if it proves nothing, within the `limit` of work."""
    queue = [*plan.given, *_small_first(plan, rng)]
    explored = set()
    longest = begun = 0.0
    for _ in range(MOST_SAMPLES):
        longest, begun = max(longest, limit.used() - begun), limit.used()
        if not queue or begun + longest > limit.seconds:
            return
        sample, again = queue.pop(0), _RepeatedSeeds(seed)
        try:
            by_size = [_results_at(question, sample, steps, n, again.seed()) for n in sizes]
        except Skipped:
            yield None
            continue
        except (Settled, Misfit):
            yield _WRONG
            return
        path = tuple(d.outcome for d in by_size[0].decisions)
        if path not in explored:
            explored.add(path)
            queue = [*beside_borders(sample, question.names, by_size[0].decisions), *queue]
        yield _Sample(sizes, by_size)


def _small_first(plan, rng):
    """Samples with short ranges, which need few steps, before those with longer ones."""
    every = list(samples(plan.specs[0], rng, plan.limits))
    third = len(every) // 3
    return [*every[third : 2 * third], *every[: max(0, FEWEST_SAMPLES - third)]]


class _RepeatedSeeds:
    """Provides the same cotangents for each number of steps."""

    def __init__(self, seed):
        self.fresh, self.numbers = seed, []

    def seed(self):
        """A seed that starts with the first cotangent again."""
        places = itertools.count()

        def number():
            place = next(places)
            if place == len(self.numbers):
                self.numbers.append(self.fresh())
            return self.numbers[place]

        return number


class _ResultsAtSteps(NamedTuple):
    """The results for one number of steps: values, derivatives and the rule's cotangents."""

    names: tuple
    y: list
    expected: list
    found: list
    decisions: list


def _results_at(question, sample, steps, n, seed):
    if steps.kind == "argument":
        sample = tuple(Static(n) if i == steps.place else value for i, value in enumerate(sample))
    elif steps.kind == "keyword":
        question = dataclasses.replace(question, kwargs={**question.kwargs, steps.name: n})
    with _global_set(question, steps, n):
        try:
            seen = visit_sample(question, sample, seed)
            leaves, found, y, expected = seen.leaves, seen.found, seen.y, seen.expected
        except Settled as settled:
            if not isinstance(settled.verdict, Refuted) or settled.verdict.kind != "gradient":
                raise
            leaves, found, y, _ = settled.graphs
            expected = settled.expected
    names = tuple(leaf.args for leaf in leaves)
    decisions = leaves[0].trace.decisions if leaves else []
    return _ResultsAtSteps(names, [v.shadow for v in y], expected, [v.shadow for v in found], decisions)


@contextlib.contextmanager
def _global_set(question, steps, n):
    if steps.kind != "global":
        yield
        return
    known = question.primal.__globals__
    before = known[steps.name]
    known[steps.name] = n
    try:
        yield
    finally:
        known[steps.name] = before


class _Sample:
    """The errors of all cotangents at one sample, for each number of steps."""

    def __init__(self, sizes, seen):
        self.errors: dict[str, list] = {}
        self.orders: list[float] = []
        self.limits: list[Any] = []
        self.is_wrong, self.is_clear = False, True
        values = [_order([s.y[i] for s in seen]) for i in range(len(seen[0].y))]
        value_order = min(filter(CONTEXT.isfinite, values), default=0)
        for i, name in enumerate(seen[0].names):
            scale = max(abs(seen[-1].expected[i]), abs(seen[-1].found[i]))
            gaps = [s.expected[i] - s.found[i] for s in seen]
            if not all(map(CONTEXT.isfinite, gaps)):
                self.is_wrong = True
                return
            self.errors[name] = [abs(gap) / scale if scale else gap for gap in gaps]
            if max(self.errors[name]) > EXACT:
                self.judge(sizes, gaps, scale, value_order)
        self.is_clear = self.is_clear and bool(self.orders)

    def judge(self, sizes, gaps, scale, value_order):
        """Include the errors of one cotangent."""
        limit, doubt = _limit(sizes, gaps)
        limit, doubt = abs(limit) / scale, doubt / scale
        self.is_wrong |= limit > max(1000 * doubt, EXACT)
        order, before = _ratio(gaps[-2], gaps[-1]), _ratio(gaps[-3], gaps[-2])
        self.is_clear &= (
            limit <= max(10 * doubt, EXACT)
            and doubt <= KNOWN
            and abs(gaps[-1]) <= SMALL * scale
            and LEAST_ORDER <= order
            # A rule that converges more slowly than the sum is not that of the limit.
            and order >= value_order - 0.5
            and abs(order - before) <= 0.2
            and abs(order - round(order)) <= 0.2
        )
        self.orders.append(float(order))
        self.limits.append(max(limit, doubt))


class _OtherwiseWrong:
    """Represents a sample at which something else is wrong."""

    is_wrong, is_clear = True, False


_WRONG = _OtherwiseWrong()


def _ratio(before, after):
    """The power of the number of steps with which an error falls when that number doubles."""
    if before == 0 or after == 0:
        return CONTEXT.inf
    return CONTEXT.log(abs(before / after), 2)


def _order(values):
    """The order at which a sequence over doubled numbers of steps converges."""
    return _ratio(values[-2] - values[-3], values[-1] - values[-2])


def _limit(sizes, values):
    """(limit, doubt): the extrapolation of the values to step size zero, and how much it changes without the
    smallest number of steps and the highest power. The step may be 1/n or 1/(n - 1).
    """
    answers = []
    for off in (0, 1):
        steps = [CONTEXT.mpf(1) / (n - off) for n in sizes]
        for powers in _POWERS:
            limit = _constant_term(steps, values, powers)
            answers.append((limit, abs(limit - _constant_term(steps[1:], values[1:], powers[:-1]))))
    return min(answers, key=lambda answer: answer[1])


def _constant_term(steps, values, powers):
    """The constant term of the polynomial in these powers of the step that has these values."""
    rows = CONTEXT.matrix([[step**power for power in (0, *powers)] for step in steps])
    return CONTEXT.lu_solve(rows, CONTEXT.matrix(values))[0]
