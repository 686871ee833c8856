"""The values that a rule returns exactly at kinks, ties, zeros and removable singularities, about which a
proof on the open cells says nothing.

The rule is called with floats at such a point. What it should return follows from the function alone:
difference quotients of the traced primal at points 1e-60 away, in many directions. Where all of them agree
there is a derivative, and the rule must return it. Where they differ, the rule must return a point of their
convex hull, which is Clarke's subdifferential as far as the directions show it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..errors import NotDifferentiableError
from .caveats import NOT_A_SUBGRADIENT, SINGULAR_AT, UNSTABLE, Caveat
from .cells import Array, Static, complex_part, leaf_names
from .counterexamples import code_to_paste, exact_arguments, exact_text, position
from .digits import agreeing_digits
from .hulls import from_hull
from .moved_graphs import MovedGraph
from .outcomes import Misfit, Settled, Skipped
from .plain_values import (
    argument_cotangents,
    flat_floats,
    is_zero,
    numbers_in,
    padded_cotangents,
    plain_argument,
    plain_number,
    seed_like,
    without_warnings_or_output,
)  # fmt: skip
from .runs import plain_value
from .scalars import CONTEXT, Stop, shadow_of
from .special_points import special_points
from .tracing import flat_numbers, of_leaves, run_traced, skip_ties, trace_primal, traced_seed
from .verdicts import Counterexample, Refuted
from .worker import TooLong, at_most

# A third-order cancellation at a distance of 1e-60 still leaves twenty of them in a difference quotient.
DIGITS = 320
FAR, NEAR, STEP = Fraction(1, 10**30), Fraction(1, 10**60), Fraction(1, 10**90)
ACROSS = Fraction(1, 500)  # wider than the cases in which code avoids dividing by almost zero
# The seed of one result at a time, and its negative: a rule that ignores the seed must not pass.
SEED = Fraction(5, 2)
TOLERANCE = 1e-6  # relative, for limits, floats and hulls
FEWEST, MOST_LIMITS = 3, 6
# Directions to begin with, and in case of doubt; then further ones towards the rule's answer.
FIRST, MOST, ROUNDS = 2, 24, 4
NOTHING, LARGE = 1e-25, 1e12  # slopes that count as zero, and slopes that may be growing without bound
MAX_RESULTS = 16  # of a function with more results, only the first ones are checked
MAX_FAULTS = 6
MOST_HANGING = 2  # points at which the code does not terminate
POINT_SECONDS = 1.0  # processor time for one point: some code hangs there

# What ends the work on one point, not on the rule: outside the domain, or the code cannot be traced there.
_NOT_THERE = (Skipped, Misfit, Settled, Stop)
_SILENT = (*_NOT_THERE, TimeoutError)


class Borders:
    """The walk over the special points of a rule that is proved on its open cells, as far as `admits(point)`
    and the limit of `work` allow.

    After `walk()`, `refuted` is a verdict if the rule returns a wrong number although a derivative exists;
    `caveats` are the warnings, `exceptions` names their points, and `notes` tell what was left out.
    """

    def __init__(self, question, visits, rng, work, admits=lambda point: True):
        self.question, self.visits, self.rng, self.work = question, visits, rng, work
        self.admits = admits
        self.refuted: Refuted | None = None
        # By fault: the first point that shows a fault stands for all others.
        self.found: dict[tuple, Caveat] = {}
        self.notes: tuple[str, ...] = ()

    def walk(self):
        if not all(map(_stays_real, self.visits)):
            self.notes = ("zeros, ones, ties and borders are tried for real arguments and results only",)
            return
        points = list(filter(self.admits, special_points(self.question.names, self.visits)))
        hanging = 0
        for number, point in enumerate(points):
            if len(self.found) == MAX_FAULTS:
                return
            if self.work.is_over() or hanging == MOST_HANGING:
                done = f"{number} of {len(points)} zeros, ones, ties and borders"
                self.notes += (f"{done} were tried: trying more would take too long",)
                return
            try:
                with contextlib.suppress(*_SILENT), at_most(POINT_SECONDS):  # a loop may not terminate at 0
                    finding = _Point(self.question, point, self.rng, self.work, self.found).judge()
                    if isinstance(finding, Refuted):
                        self.refuted = finding
                        return
                    if finding is not None:
                        fault, caveat = finding
                        self.found.setdefault(fault, caveat)
            except TooLong:
                hanging += 1
                pairs = zip(self.question.names, point, strict=True)
                where = ", ".join(f"{name} = {exact_text(value)}" for name, value in pairs)
                self.notes += (f"not judged at {where}: it took more than {POINT_SECONDS:g} s",)

    @property
    def caveats(self):
        return tuple(self.found.values())

    @property
    def exceptions(self):
        """The points of the caveats as text."""
        return " or ".join(list(dict.fromkeys(c.point for c in self.found.values()))[:2])


class _Slopes(NamedTuple):
    """What one direction shows: the value beside the point, and the slopes there (one row for each
    result).
    """

    direction: list
    value: np.ndarray
    near: np.ndarray


class _Limits(NamedTuple):
    """Whether the slopes of a direction have settled on the way to the point, or grow without bound."""

    settled: np.ndarray
    grows: np.ndarray


class _Point:
    """One special point, and what the function does beside it."""

    def __init__(self, question, sample, rng, work, known):
        self.question, self.sample, self.rng, self.work = question, sample, rng, work
        self.known = known  # faults that need no second point
        self.seed = SEED
        self.leaves = leaf_names(question.names, sample)
        self.plain_y = plain_value(question, sample)
        self.y = flat_floats(self.plain_y)
        self.slopes: list[_Slopes] = []
        self.limits: list[_Limits] = []  # of the first of `slopes`, once there is a doubt
        self.directions = _directions(len(self.leaves), rng)
        self.quadratures: dict[tuple, tuple] = {}  # of the integrals, by path
        self.last_path: tuple = ()

    def judge(self):
        """None, a Refuted, or a pair (fault, its caveat): the first thing that is wrong here."""
        if not self.leaves:
            return None
        for k, seed in itertools.product(range(min(len(self.y), MAX_RESULTS)), (SEED, -SEED)):
            self.seed = seed
            try:
                y, answer = self.answer(k)
            except NotDifferentiableError:  # the rule says so itself
                return None
            except _SILENT:
                raise
            except Exception as raised:
                return self.judge_raised(k, raised)
            if (finding := self.judge_value(k, y) or self.judge_slopes(k, answer)) is not None:
                return finding
        return None

    # --- what the rule returns

    def seeds(self, k):
        return [self.seed if i == k else Fraction(0) for i in range(len(self.y))]

    def answer(self, k):
        """(value, cotangents for result `k` divided by its seed) of the rule on floats."""
        left = iter(map(float, self.seeds(k)))
        y_bar = seed_like(self.plain_y, lambda shape: numbers_in(shape, left))
        with without_warnings_or_output():
            rule = self.question.rule_through(lambda function: function)
            y, pullback = rule(*map(plain_argument, self.sample))
            returned = self.cotangents(pullback(y_bar))
        plain = [np.ravel(plain_number(c)) for c in returned]
        # A complex cotangent of a real argument is projected to its real part before it is used anywhere.
        return flat_floats(y), self.of_leaves(plain, lambda v: float(np.real(v))) / float(self.seed)

    def exact_answer(self, k):
        """The cotangents for result `k` in exact arithmetic, divided by its seed; None if they cannot be
        computed.
        """
        try:
            trace, swap, arguments, _, _ = trace_primal(self.question, self.sample)
            y_bar, _ = traced_seed(trace, self.question.names, self.plain_y, self.seeds(k))
            rule = self.question.rule_through(lambda function: swap.value(function, "rule"))
            returned = run_traced(
                trace, swap, self.question, lambda: self.cotangents(rule(*arguments)[1](y_bar))
            )
            flat = [np.zeros(1) if is_zero(c) else flat_numbers(trace, c) for c in returned]
            return self.of_leaves(flat, lambda v: float(shadow_of(v))) / float(self.seed)
        except _SILENT:
            return None

    def cotangents(self, returned):
        return argument_cotangents(padded_cotangents(self.question, returned, len(self.sample)), self.sample)

    def of_leaves(self, cotangents, number):
        found = []
        for value, entries in zip(self.sample, cotangents, strict=True):
            if isinstance(value, Static):
                continue
            count = len(value.entries) if isinstance(value, Array) else 1
            entries = [number(e) for e in entries]
            found += of_leaves(value, entries if len(entries) == count else entries * count)
        return np.array(found, dtype=float)

    # --- what it should return

    def widen(self, directions):
        """Examine more directions."""
        for direction in directions:
            with contextlib.suppress(*_NOT_THERE):
                value, near = self.jacobian(direction, NEAR)
                self.slopes.append(_Slopes(direction, value, near))

    def settle(self):
        """Find out whether the slopes of the first directions have a limit, by comparing them with slopes
        farther away.
        """
        known = list(zip(self.slopes, self.limits, strict=False))
        others = self.slopes[MOST_LIMITS:]
        for slopes in self.slopes[len(known) : MOST_LIMITS]:
            with contextlib.suppress(*_NOT_THERE):
                known.append((slopes, self.limit(slopes)))
        self.slopes, self.limits = [s for s, _ in known] + others, [limit for _, limit in known]

    def limit(self, slopes):
        near = slopes.near
        _, far = self.jacobian(slopes.direction, FAR)
        with np.errstate(all="ignore"):
            settled = np.abs(near - far) <= TOLERANCE * (1 + np.abs(near))
            return _Limits(settled, (np.abs(near) > 1.5 * np.abs(far)) & (np.abs(near) > 10))

    def jacobian(self, direction, distance):
        """(value, slopes) at this distance, by difference quotients of the traced primal. Their step is so
        much smaller than the distance that one-sided differences suffice.
        """
        if self.work.is_over():
            raise TimeoutError
        beside = _moved(self.sample, [u * distance for u in direction])
        with CONTEXT.workdps(DIGITS):
            step = CONTEXT.mpf(STEP.numerator) / STEP.denominator
            value, path, quadratures, moving = self.values_beside(beside)
            columns = []
            for i in range(len(self.leaves)):
                if (ahead := moving.moved({i: step})) is None:
                    ahead, other, *_ = self.traced_values(beside, {i: step}, quadratures)
                    if other != path:
                        raise Skipped("on the border between two cases")
                columns.append([float((a - b) / step) for a, b in zip(ahead, value, strict=True)])
        slopes = np.array(columns).T
        slopes[np.abs(slopes) < NOTHING] = 0  # it tends to zero
        return np.array([float(v) for v in value]), slopes

    def values_beside(self, beside):
        """(values, path, how its integrals were computed, their graph). On one path the integrals are always
        computed in the same way, so that these values come from the same sums as the shifted ones.
        """
        guess = self.quadratures.get(self.last_path, ())
        value, path, found, moving = self.traced_values(beside, None, guess)
        if path not in self.quadratures:
            if guess:
                value, _, found, moving = self.traced_values(beside)
            self.quadratures[path], guess = found, ()
        known = self.quadratures[path]
        if known and not (guess and path == self.last_path):
            value, *_, moving = self.traced_values(beside, None, known)
        self.last_path = path
        return value, path, known, moving

    def traced_values(self, sample, moved=None, quadratures=()):
        """(values, path, how its integrals were computed, their graph) beside the point, or with a number
        `moved`. With the same sums as in `quadratures`, the integrals of two runs differ by as little as
        their limits do.
        """
        trace, *_, leaves, y = trace_primal(self.question, sample, moved, quadratures)
        if moved is None:
            skip_ties(trace)
        flat = flat_numbers(trace, y)
        values = [v.shadow for v in flat]
        return values, trace.path(), tuple(trace.quadratures), MovedGraph(trace, leaves, flat)

    # --- judging

    def judge_slopes(self, k, answer):
        """What is wrong with the cotangents for result `k`; more directions are examined as long as there is
        a doubt.
        """
        if len(self.slopes) < FIRST:
            self.widen(itertools.islice(self.directions, FIRST))
        doubt = self.doubt(k, answer)
        if doubt is not None and self.fault(doubt) in self.known:
            return None
        if doubt is not None and (further := list(self.directions)):
            self.widen(further)
            doubt = self.doubt(k, answer)
        nearest = np.inf
        for _ in range(ROUNDS):
            if doubt is None or doubt.way is None:
                break
            distances = np.abs(doubt.slopes - answer)[:, np.isfinite(answer)].sum(axis=1)
            if distances.min() >= nearest:
                break  # there is nothing more to find in this direction
            nearest, best = distances.min(), self.slopes[int(distances.argmin())].direction
            self.widen([*_towards(doubt.way, answer, self.rng), *_like(best)])
            doubt = self.doubt(k, answer)
        if doubt is None or len(self.slopes) < min(FEWEST, 2 * len(answer) - 1):
            return None
        return None if self.is_slope_across(k, answer) else self.finding(k, answer, doubt)

    def is_slope_across(self, k, answer):
        """Whether the answer is the slope by differences that are wider than the case of the point, such as
        `abs(a - b) < 1e-6`: the code guards a quotient there, and only the value is right in that case.
        """
        if not np.isfinite(answer).all() or self.jumps(k):
            return False
        with contextlib.suppress(*_NOT_THERE, IndexError):
            wide = [self.slope_across(k, leaf) for leaf in range(len(answer))]
            return bool(np.all(np.abs(wide - answer) <= TOLERANCE * (1 + np.abs(answer))))
        return False

    def slope_across(self, k, leaf):
        """The central difference of result `k` along one number, extrapolated from two steps."""

        def central(step):
            unit = [Fraction(i == leaf) for i in range(len(self.leaves))]
            ends = (_moved(self.sample, [sign * step * u for u in unit]) for sign in (1, -1))
            up, down = (flat_floats(plain_value(self.question, end))[k] for end in ends)
            return (up - down) / float(2 * step)

        return (4 * central(ACROSS / 2) - central(ACROSS)) / 3

    def doubt(self, k, answer):
        """What speaks against the rule's answer, as far as the directions show; None if nothing does."""
        if not self.slopes or self.jumps(k):
            return None
        slopes = np.array([s.near[k] for s in self.slopes])
        finite = np.isfinite(answer)
        if finite.all() and np.abs(slopes).max() < LARGE and _inside(slopes, answer)[0]:
            return None
        self.settle()
        if not self.limits:
            return None
        slopes = np.array([s.near[k] for s in self.slopes])
        # If a number has no limit for one result, that is a matter of that result: 0 * inf turns it into nan
        # for the others.
        settled = np.all([limit.settled.all(axis=0) for limit in self.limits], axis=0)
        spread = np.ptp(slopes, axis=0) > TOLERANCE * (1 + np.abs(slopes).max(axis=0))
        grows = np.all([limit.grows[k] for limit in self.limits], axis=0)
        # A huge answer may be right: `log(x + 1e-300)` is steep on a scale smaller than that of the distances
        # used here.
        steep = grows & finite & (np.abs(answer) < LARGE)
        if steep.any():
            return _Doubt("no derivative", int(np.argmax(steep)), slopes, True)
        # Elsewhere slopes are meaningful only where all of them are bounded.
        if np.abs(slopes).max() >= LARGE or not all(limit.settled[k].all() for limit in self.limits):
            return None
        missing = settled & ~finite
        if missing.any() and not any(map(self.jumps, range(len(self.y)))):
            j = int(np.argmax(missing))
            return _Doubt("no number", j, slopes, bool(spread[j]))
        used = np.flatnonzero(settled & finite)
        inside, way = _inside(slopes[:, used], answer[used])
        if inside:
            return None
        toward = np.zeros(len(answer))
        toward[used] = way
        return _Doubt("wrong", int(np.argmax(np.abs(toward))), slopes, bool(spread[used].any()), -toward)

    def fault(self, doubt):
        """The kind of fault, and the argument that it concerns."""
        return "kink" if doubt.kind == "wrong" and doubt.kink else doubt.kind, _root(self.leaves[doubt.leaf])

    def jumps(self, k):
        """Whether the function is discontinuous here: then there is no derivative, and nothing can be
        said.
        """
        return any(abs(s.value[k] - self.y[k]) > TOLERANCE * (1 + abs(self.y[k])) for s in self.slopes)

    def judge_value(self, k, y):
        """What is wrong with the rule's own y."""
        if len(y) != len(self.y) or abs(y[k] - self.y[k]) <= TOLERANCE * (1 + abs(self.y[k])):
            return None
        words = f"the rule's y is {_shown(y[k])}, but the function's is {_shown(self.y[k])}"
        return ("value",), self.caveat(SINGULAR_AT, words, k, "value", y[k], self.y[k])

    def judge_raised(self, k, raised):
        """An error where a derivative exists; elsewhere raising an error is a correct answer."""
        if self.judge_slopes(k, np.full(len(self.leaves), np.nan)) is None:
            return None
        slopes = np.array([s.near[k] for s in self.slopes])
        if not np.all([limit.settled for limit in self.limits]) or np.ptp(slopes, axis=0).max() > TOLERANCE:
            return None
        name = type(raised).__name__
        words = f"the rule raises {name} ({raised}), but the derivative is {_vector(slopes[0])}"
        return ("raised", name), self.caveat(SINGULAR_AT, words, k, None, None, None)

    def finding(self, k, answer, doubt):
        name, slopes, given = self.leaves[doubt.leaf], doubt.slopes[:, doubt.leaf], answer[doubt.leaf]
        what = f"the slope for {name}{self.of_result(k)}"
        index = position(self.sample, doubt.leaf)
        if doubt.kind == "no derivative":
            words = f"the slopes nearby grow without bound, but {what} is {_shown(given)}"
            return self.fault(doubt), self.caveat(SINGULAR_AT, words, k, index, given, None)
        if doubt.kind == "no number":
            beside = f"the derivative is {_shown(slopes[0])}"
            if doubt.kink:
                beside = f"the slopes nearby range from {_shown(slopes.min())} to {_shown(slopes.max())}"
            words = f"{what} is {_shown(given)}, but {beside}"
            should = None if doubt.kink else slopes[0]
            return self.fault(doubt), self.caveat(SINGULAR_AT, words, k, index, given, should)
        return self.wrong(k, answer, doubt, what, index)

    def wrong(self, k, answer, doubt, what, index):
        """A finite wrong number: refuted if a derivative exists and exact arithmetic returns the wrong number
        too.
        """
        given, name = answer[doubt.leaf], self.leaves[doubt.leaf]
        exact = self.exact_answer(k)
        known = exact is not None and bool(np.isfinite(exact).all())
        if known and self.doubt(k, exact) is None:
            words = (
                f"{what} is {_shown(given)} in floats, but {_shown(exact[doubt.leaf])} in exact arithmetic"
            )
            return self.fault(doubt), self.caveat(UNSTABLE, words, k, index, given, exact[doubt.leaf])
        if doubt.kink:
            return self.fault(doubt), self.no_subgradient(k, answer, doubt, what, index)
        should = doubt.slopes[0, doubt.leaf]
        if not known:
            words = f"{what} is {_shown(given)}, but the derivative is {_shown(should)}"
            return self.fault(doubt), self.caveat(NOT_A_SUBGRADIENT, words, k, index, given, should)
        return self.refuted(k, name, index, given * float(self.seed), should * float(self.seed))

    def no_subgradient(self, k, answer, doubt, what, index):
        if len(answer) > 1:
            beside = f"{_few(doubt.slopes)} (in {len(doubt.slopes)} directions)"
            words = f"the slopes are {_vector(answer)}, which is not a mean of those nearby, {beside}"
            whole = (index[0], [()])
            return self.caveat(NOT_A_SUBGRADIENT, words, k, whole, None, None)
        low, high = _shown(doubt.slopes.min()), _shown(doubt.slopes.max())
        words = f"{what} is {_shown(answer[0])}, but those nearby range from {low} to {high}"
        return self.caveat(NOT_A_SUBGRADIENT, words, k, index, answer[0], None)

    def refuted(self, k, name, index, found, expected):
        seeds = self.seeds(k)
        return Refuted(
            "gradient",
            f"the cotangent of {name} is not y_bar times the derivative at {self.words()}, where two cases "
            "meet",
            Counterexample(
                exact_arguments(self.question, self.sample),
                str(self.seed) if len(seeds) == 1 else str(list(map(str, seeds))),
                f"the cotangent of {name}",
                f"{expected:.15g}",
                f"{found:.15g}",
                agreeing_digits(CONTEXT.mpf(expected), CONTEXT.mpf(found), 0),
                self.code(k, index, found / float(self.seed), expected / float(self.seed)),
            ),
        )

    # --- texts

    def caveat(self, kind, words, k, index, given, should):
        return Caveat(kind, words, self.words(), code=self.code(k, index, given, should))

    def code(self, k, index, given, should):
        code = code_to_paste(self.question, self.sample, self.seeds(k), index, self.plain_y)
        factor = 1.0 if index == "value" or self.has_no_seed(index) else float(self.seed)
        told = [
            f"{word} {_shown(number * factor)}"
            for word, number in (("gives", given), ("should be", should))
            if number is not None
        ]
        return f"{code}    # {', '.join(told)}" if told else code

    def has_no_seed(self, index):
        """Whether the code to paste computes a derivative itself, and not a cotangent."""
        one, two = (self.question.code("", index, seed) for seed in ("1", "2"))
        return one is not None and one == two

    def words(self):
        """The point as text."""
        texts = (
            f"{name} = {exact_text(value)}"
            for name, value in zip(self.question.names, self.sample, strict=True)
            if not isinstance(value, Static)
        )
        return ", ".join(texts)

    def of_result(self, k):
        return f" of result {k}" if len(self.y) > 1 else ""


class _Doubt(NamedTuple):
    """What speaks against an answer: `kind` in short, the leaf that shows it, the slopes beside the point,
    whether it is a kink, and the direction in which to look for slopes that would acquit the answer.
    """

    kind: str
    leaf: int
    slopes: np.ndarray
    kink: bool
    way: np.ndarray | None = None


def _inside(slopes, answer):
    """Whether the answer is in the hull of the slopes, as far as floats tell, and the direction to the
    hull.
    """
    distance, way = from_hull(slopes, answer)
    return distance <= TOLERANCE * (1 + np.abs(slopes).max(initial=0)), way


def _stays_real(visit):
    return all(map(_is_real, visit.sample)) and not any(complex_part(seed.args) for seed in visit.seeds)


def _is_real(value):
    entries = value.entries if isinstance(value, Array) else (value,)
    return isinstance(value, Static) or all(isinstance(v, (Fraction, int)) for v in entries)


# --- directions ---------------------------------------------------------------------------------------------


def _directions(count, rng):
    """Directions as fractions, each with its negative; every fourth one lies in the first orthant, since many
    functions are defined nowhere else. At most points the first two suffice, and the others are not drawn.
    """
    if count == 1:
        yield from ([Fraction(1)], [Fraction(-1)])
        return
    for number in range(MOST // 2):
        sizes = [Fraction(int(n), 997) for n in rng.choice(600, count, replace=False) + 300]
        signs = [1] * count if number % 4 == 0 else rng.choice((1, -1), count).tolist()
        direction = [size * sign for size, sign in zip(sizes, signs, strict=True)]
        yield direction
        yield [-u for u in direction]


def _towards(way, answer, rng):
    """Directions along `way` and along the answer: there convex and concave functions have the slopes
    wanted.
    """
    for vector in (way, answer):
        largest = np.abs(vector[np.isfinite(vector)]).max(initial=0.0)
        if largest == 0 or not np.isfinite(vector).all():
            continue
        noise = rng.uniform(-1e-3, 1e-3, len(vector))  # away from ties between the numbers
        for shown in (vector / largest, vector / largest + noise):
            direction = [Fraction(float(u)).limit_denominator(10**6) for u in shown]
            yield direction
            yield [-u for u in direction]


def _like(direction):
    """Directions in which two numbers of this one are swapped, or one is negated: the cells next to its
    cell.
    """
    for i, j in itertools.combinations(range(len(direction)), 2):
        yield [direction[{i: j, j: i}.get(n, n)] for n in range(len(direction))]
    for i in range(len(direction)):
        yield [-u if n == i else u for n, u in enumerate(direction)]


def _moved(sample, by):
    """The sample with `by` added to its numbers, in order."""
    left = iter(by)
    moved: list[object] = []
    for value in sample:
        if isinstance(value, Array):
            shifts = {index: next(left) for index in value.leaf_indices()}
            entries = tuple(
                v + shifts.get(index, 0)
                for v, index in zip(value.entries, np.ndindex(value.shape), strict=True)
            )
            moved.append(value._replace(entries=entries))
        else:
            moved.append(value if isinstance(value, Static) else value + next(left))
    return tuple(moved)


# --- texts --------------------------------------------------------------------------------------------------


def _root(name):
    return name.partition("[")[0]


def _shown(number):
    number = float(number)
    return f"{number:.6g}" if math.isfinite(number) else str(number)


def _vector(numbers):
    return _shown(numbers[0]) if len(numbers) == 1 else f"[{', '.join(map(_shown, numbers))}]"


def _few(rows):
    distinct = list(dict.fromkeys(_vector(row) for row in np.round(rows, 6) + 0.0))
    return ", ".join(distinct[:3]) + (", …" if len(distinct) > 3 else "")
