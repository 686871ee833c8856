"""Which kinds and sizes of arguments a function and its rule accept, tried with floats before anything is
traced.

These are guesses: a rule that fails for them may be intended for other kinds or sizes.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np

from ..checking.reading.by_name import is_a_guard, may_be_a_count
from ..checking.reading.counts import meant_whole
from ..tangents.zeros import NoTangent
from .cells import (
    SIZES,
    Array,
    Static,
    Symmetric,
    count_of,
    fraction,
    is_complex_sample,
    positive_samples,
    samples,
    shape_of,
)
from .kinds import SUPPOSED
from .limits import is_inside_limits
from .outcomes import Misfit, Settled, Skipped
from .plain_values import (
    are_complex,
    argument_cotangents,
    flat_floats,
    numbers_in,
    padded_cotangents,
    plain_argument,
    seed_like,
    without_warnings_or_output,
)
from .questions import exact_sample, kind_of
from .runs import plain_run
from .scalars import Stop

SAMPLES = 4  # of a kind, until one has a value
LENGTHS = tuple(range(2, 25))  # of vectors, if none of the usual lengths fits
SHORT = tuple(range(2, 8))  # of several vectors of different lengths
MOST_TRIALS = 400
COUNT = 101  # numbers from which samples are made
ENOUGH = 2  # number of sizes that fit
ROUGHLY = 1e-4  # relative tolerance of a difference quotient in floats


class Trials:
    """Tries arguments for one question, within `limits`."""

    def __init__(self, question, limits=()):
        self.question, self.limits = question, limits
        self.left = MOST_TRIALS

    def samples(self, spec, rng):
        """A few samples, within the limits."""
        if not self.limits and all(k == "scalar" or type(k) in (tuple, Static) for k in spec):
            return (tuple(_drawn(kind, i, row) for i, kind in enumerate(spec)) for row in number_rows())
        positive = positive_samples(spec, rng) if any(map(shape_of, spec)) else ()
        some = itertools.islice(samples(spec, rng, self.limits), SAMPLES)
        return (sample for sample in itertools.chain(some, positive) if is_inside_limits(sample, self.limits))

    def has_idle_entries(self, spec):
        """Whether the function is independent of some entries of a vector, at every sample."""
        rng = np.random.default_rng(3)
        idle = None
        for sample in self.samples(spec, rng):
            with without_warnings_or_output():
                try:
                    still = self._still(sample)
                except Exception:
                    continue
            idle = still if idle is None else idle & still
        return bool(idle)

    def _still(self, sample):
        """The places (argument, index) of entries that can change without changing the value."""
        f = self.question.value_through(lambda f: f)
        y = flat_floats(f(*map(plain_argument, sample)))
        still = set()
        for i, value in enumerate(sample):
            if not isinstance(value, Array) or len(value.shape) != 1:
                continue
            for k in range(value.shape[0]):
                arguments = list(map(plain_argument, sample))
                arguments[i][k] *= 1.25
                other = flat_floats(f(*arguments))
                if other.shape == y.shape and np.array_equal(other, y, equal_nan=True):
                    still.add((i, k))
        return still

    def misfit(self, spec):
        """Why arguments of these kinds do not fit; None if they do."""
        self.left -= 1
        found: Misfit | None = None
        rng = np.random.default_rng(0)
        for sample in self.samples(spec, rng):
            try:
                plain_run(self.question, sample, _seeds)
            except Skipped as skipped:
                found = found or Misfit(str(skipped))
            except Misfit as misfit:
                if not misfit.raised:
                    return misfit
                found = misfit
            except (Settled, Stop):  # the judge reports it
                return None
            else:
                return self._left_out(spec, sample)
        return found or Misfit("no sample was found")

    def _left_out(self, spec, sample):
        """The misfit if an argument is treated as an int although it varies for the function and for its
        rule; None otherwise. A proof would leave out its cotangent.
        """
        for i, kind in enumerate(spec):
            if kind is SUPPOSED and _takes_fraction(self.question, sample, i):
                if not isinstance(_returned(self.question, sample)[i + 1], NoTangent):
                    name = self.question.names[i]
                    return Misfit(f"{name} is not a whole number: the rule has a cotangent for it")
        return None

    def fitting(self, specs, search=False):
        """(the specs that fit, why the first other one does not). If none fits, `search` allows other lengths
        of vectors to be tried.
        """
        misfits = {spec: self.misfit(spec) for spec in specs if not _is_single(spec)}
        fit = tuple(spec for spec, misfit in misfits.items() if misfit is None)
        if not fit and search and not all(map(_is_of_kind, misfits.values())):
            fit = self.searched(specs[0])
        return fit, next((m for m in misfits.values() if m is not None), None)

    def searched(self, spec):
        """The same kinds with vectors of other lengths: first of one length for all, then of separate
        ones.
        """
        places = [i for i, kind in enumerate(spec) if _is_vector(kind)]
        if not places or len({shape_of(spec[i]) for i in places}) > 1 or not _all_numbers(spec, places):
            return ()
        together = ((n,) * len(places) for n in LENGTHS)
        apart = itertools.product(SHORT, repeat=len(places)) if 1 < len(places) <= 3 else ()
        found: list[tuple] = []
        for lengths in itertools.chain(together, apart):
            if self.left <= 0 or len(found) == ENOUGH:
                break
            sized = iter(lengths)
            other = tuple((next(sized),) if i in places else kind for i, kind in enumerate(spec))
            if other not in found and sum(map(count_of, other)) <= 64 and self.misfit(other) is None:
                found.append(other)
        return tuple(found)

    def held_count(self, spec):
        """The name of an argument that by its name or use is a count, and for which the rule returns
        `NoTangent()`, so that it is meant to be an int; None if there is none.
        """
        used = meant_whole(self.question.primal)
        named = enumerate(self.question.names[: len(spec)])
        counts = [i for i, name in named if name in used or may_be_a_count(name)]
        for sample in self.samples(spec, np.random.default_rng(2)) if counts else ():
            try:
                returned = _returned(self.question, sample)
            except Exception:
                continue
            held = (i for i in counts if spec[i] == "scalar" and isinstance(returned[i + 1], NoTangent))
            return next((self.question.names[i] for i in held), None)
        return None

    def seems_right(self, spec):
        """Whether the rule agrees with a difference quotient along one direction, in floats."""
        rng = np.random.default_rng(1)
        for sample in self.samples(spec, rng):
            try:
                return self._goes_with(sample, rng)
            except (Skipped, Misfit):
                continue
            except (Settled, Stop, ArithmeticError, TypeError, ValueError):
                return False
        return False

    def _goes_with(self, sample, rng):
        along = list(self._along(sample, rng))
        wanted, given = (sum(column) for column in list(zip(*along))[1:]) if along else (0.0, 0.0)
        return bool(abs(wanted - given) <= ROUGHLY * sum(abs(w) + abs(g) for _, w, g in along))

    def _along(self, sample, rng):
        """For each argument that varies, yield its position and its contribution to the directional
        derivative of the value along a direction, by the function and by the rule.
        """
        y, _, found = plain_run(self.question, sample, _seeds)
        y_bar = _flat_seeds(y)
        for i, value in enumerate(sample):
            if isinstance(value, Static) or is_complex_sample(value):
                continue
            step = rng.uniform(0.5, 1.0, value.shape if isinstance(value, Array) else ())
            if isinstance(value, Array) and value.symmetric:
                step = step + step.T
            sides = [self._moved(sample, i, step * h) for h in (1e-6, -1e-6)]
            slope = (flat_floats(sides[0]) - flat_floats(sides[1])) / 2e-6
            yield i, float(np.sum(y_bar * slope)), float(np.sum(found[i] * step))

    def count_wrong(self, spec):
        """The number of arguments whose cotangents do not agree with a difference quotient, in floats."""
        rng = np.random.default_rng(1)
        for sample in self.samples(spec, rng):
            try:
                along = list(self._along(sample, rng))
            except (Skipped, Misfit):
                continue
            except (Settled, Stop, ArithmeticError, TypeError, ValueError):
                return 0
            return sum(abs(w - g) > ROUGHLY * (abs(w) + abs(g)) for _, w, g in along)
        return 0

    def _moved(self, sample, i, step):
        arguments = list(map(plain_argument, sample))
        arguments[i] = arguments[i] + step
        with without_warnings_or_output():
            return self.question.value_through(lambda f: f)(*arguments)


def _is_single(spec):
    """Whether there are vectors of one entry, and no matrices: these are effectively numbers."""
    shapes = [shape_of(kind) for kind in spec]  # () for arguments that are held fixed
    return (1,) in shapes and max(map(len, shapes)) == 1


def _is_of_kind(misfit):
    """Whether arguments of this kind do not fit at any size, because their type is not accepted."""
    return isinstance(misfit.__cause__, (TypeError, AttributeError))


@functools.cache
def number_rows():
    """Rows of numbers from which samples are made: of both signs, positive below 1, positive and larger."""
    rng = np.random.default_rng(5)
    signs = rng.choice((1, -1), COUNT).tolist()
    first, *rows = [[fraction(rng, *size) for _ in range(COUNT)] for size in (SIZES[0], *SIZES, *SIZES)]
    return ([sign * number for sign, number in zip(signs, first, strict=True)], *rows)


def _drawn(kind, place, row):
    """A sample of one argument from a row of numbers, with a different start for each argument."""
    if isinstance(kind, Static):
        return kind
    start = 17 * place
    if kind == "scalar":
        return row[start % COUNT]
    return Array(tuple(row[(start + i) % COUNT] for i in range(math.prod(kind))), kind)


def _seeds(y):
    """A cotangent for a plain result, made of distinct numbers."""
    numbers = map(_seed, itertools.count())
    return seed_like(y, lambda shape: numbers_in(shape, numbers))


def _flat_seeds(y):
    """The same as a vector like the flat result, where complex numbers are pairs."""
    return np.array(
        [s for k, is_wide in enumerate(are_complex(y)) for s in ((_seed(k), 0.0) if is_wide else (_seed(k),))]
    )


def _seed(k):
    return 1.25 + 0.37 * k


def _is_vector(kind):
    return not isinstance(kind, (Static, Symmetric)) and len(shape_of(kind)) == 1


def _all_numbers(spec, places):
    """Whether everything but the vectors at these positions is a number or held fixed."""
    return all(i in places or isinstance(kind, Static) or not shape_of(kind) for i, kind in enumerate(spec))


# --- ints that were given -----------------------------------------------------------------------------------


def with_whole_numbers(question, plan):
    """The plan with the ints among the given arguments free to vary, if the function accepts a fraction and
    the rule does not say that there is no tangent.
    """
    (given,) = plan.given
    free = [i for i, value in enumerate(given) if _is_whole(value) and _takes_fraction(question, given, i)]
    others = any(count_of(value) for value in given)
    for i in free:
        sample = tuple(_freed(v) if j == i else v for j, v in enumerate(given))
        if (others or len(free) > 1) and _has_no_tangent(question, sample, i):
            continue
        given = sample
    if given is plan.given[0]:
        return plan
    return plan._replace(specs=(tuple(map(kind_of, given)),), given=(given,), whole=plan.given[0])


def _is_whole(value):
    if not isinstance(value, Static):
        return False
    held = value.value
    if isinstance(held, np.ndarray):
        return held.dtype.kind in "iu" and held.size > 0
    return isinstance(held, (int, np.integer)) and not isinstance(held, bool)


def _freed(value):
    held = value.value
    if isinstance(held, np.ndarray):
        return exact_sample(held.astype(float))
    return Fraction(int(held))


def _takes_fraction(question, given, i):
    arguments = list(map(plain_argument, given))
    arguments[i] = arguments[i] + 0.37
    with without_warnings_or_output():
        try:
            y = question.value_through(lambda f: f)(*arguments)
            return bool(np.all(np.isfinite(flat_floats(y))))
        except Exception:
            return False


def _has_no_tangent(question, sample, i):
    """Whether the rule says so, or does not accept a fraction."""
    try:
        return isinstance(argument_cotangents(_returned(question, sample, i), sample, [])[i], NoTangent)
    except Exception:
        return True


def with_held_guards(plan, question, defaults):
    """The plan with arguments held at their defaults that only keep a formula from failing, such as
    `eps=1e-12`, and for which the rule returns `NoTangent()`.
    """
    pairs = enumerate(zip(question.names, defaults, strict=False))
    guards = [i for i, (name, default) in pairs if is_a_guard(name, default) and not _is_limited(plan, i)]
    guards = [i for i in guards if plan.specs[0][i] == "scalar"]
    for spec in plan.specs if guards else ():
        held = samples(_with_static(spec, guards, defaults), np.random.default_rng(2), plan.limits)
        for sample in itertools.islice(held, SAMPLES):
            try:
                returned = _returned(question, sample)
            except Exception:
                continue
            fixed = [i for i in guards if isinstance(returned[i + 1], NoTangent)]
            return plan._replace(specs=tuple(_with_static(spec, fixed, defaults) for spec in plan.specs))
    return plan


def _is_limited(plan, i):
    """Whether limits were given for this argument."""
    return bool(plan.limits) and plan.limits[i] is not None


def _with_static(spec, places, values):
    return tuple(Static(values[i]) if i in places else kind for i, kind in enumerate(spec))


def _returned(question, sample, fraction=None):
    """The result of the pullback, with a fraction in place of the argument of that number."""
    arguments = list(map(plain_argument, sample))
    if fraction is not None:
        arguments[fraction] = arguments[fraction] + 0.37
    with without_warnings_or_output():
        y, back = question.rule_through(lambda f: f)(*arguments)
        return padded_cotangents(question, back(_seeds(y)), len(sample))
