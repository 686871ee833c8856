"""Which kinds and sizes of arguments a function and its rule take, tried on floats before anything is traced.

What is tried here are guesses of ours: a rule that fails for them may be for other kinds or sizes.
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
from .limits import inside
from .outcomes import Misfit, Settled, Skipped
from .plain import (
    are_complex,
    flat_floats,
    numbers_in,
    opened,
    padded,
    plain_argument,
    quietly,
    seed_like,
)
from .questions import exact_sample, kind_of
from .runs import plain_run
from .scalars import Stop

SAMPLES = 4  # of a kind, until one has a value
LENGTHS = tuple(range(2, 25))  # of vectors, where none of the usual ones fits
SHORT = tuple(range(2, 8))  # of several vectors, each apart
MOST_TRIALS = 400
COUNT = 101  # numbers to make samples of
ENOUGH = 2  # sizes that fit
ROUGHLY = 1e-4  # relative: of a difference quotient in floats


class Trials:
    """What fits one question, within `limits`."""

    def __init__(self, question, limits=()):
        self.question, self.limits = question, limits
        self.left = MOST_TRIALS

    def samples(self, spec, rng):
        """A few samples, within the limits."""
        if not self.limits and all(k == "scalar" or type(k) in (tuple, Static) for k in spec):
            return (tuple(_drawn(kind, i, row) for i, kind in enumerate(spec)) for row in number_rows())
        positive = positive_samples(spec, rng) if any(map(shape_of, spec)) else ()
        some = itertools.islice(samples(spec, rng, self.limits), SAMPLES)
        return (sample for sample in itertools.chain(some, positive) if inside(sample, self.limits))

    def has_idle_entries(self, spec):
        """Whether the function does not depend on some entries of a vector, at any sample."""
        rng = np.random.default_rng(3)
        idle = None
        for sample in self.samples(spec, rng):
            with quietly():
                try:
                    still = self._still(sample)
                except Exception:
                    continue
            idle = still if idle is None else idle & still
        return bool(idle)

    def _still(self, sample):
        """The places (argument, index) of the entries that may change while the value does not."""
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
        """Why arguments of these kinds do not fit; None where they do."""
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
            except (Settled, Stop):  # the judge will say
                return None
            else:
                return self._left_out(spec, sample)
        return found or Misfit("no sample was found")

    def _left_out(self, spec, sample):
        """That a whole number is supposed in the place of what varies, by the function and by its rule; None
        where none is: a proof would leave its cotangent out.
        """
        for i, kind in enumerate(spec):
            if kind is SUPPOSED and _takes_fraction(self.question, sample, i):
                if not isinstance(_returned(self.question, sample)[i + 1], NoTangent):
                    name = self.question.names[i]
                    return Misfit(f"{name} is not a whole number: the rule has a cotangent for it")
        return None

    def fitting(self, specs, search=False):
        """(those of the specs that fit, why the first other one does not); where none does, other lengths of
        vectors may be searched."""
        misfits = {spec: self.misfit(spec) for spec in specs if not _is_single(spec)}
        fit = tuple(spec for spec, misfit in misfits.items() if misfit is None)
        if not fit and search and not all(map(_is_of_kind, misfits.values())):
            fit = self.searched(specs[0])
        return fit, next((m for m in misfits.values() if m is not None), None)

    def searched(self, spec):
        """The same kinds with vectors of other lengths: one for all of them, then one for each."""
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
        """The name of an argument that is called or used as counts are and for which the rule says
        `NoTangent()`, so that it is meant to be a whole number; None where there is none."""
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
        """Whether the rule goes with a difference quotient along one direction, in floats."""
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
        """For each argument that moves, its place, and what the value moves by along a direction of it, by
        the function and by the rule."""
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
        """Of how many arguments the cotangent does not go with a difference quotient, in floats."""
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
        with quietly():
            return self.question.value_through(lambda f: f)(*arguments)


def _is_single(spec):
    """Whether there are vectors of one entry, and no matrices: such are numbers in disguise."""
    shapes = [shape_of(kind) for kind in spec]  # of what is held it is ()
    return (1,) in shapes and max(map(len, shapes)) == 1


def _is_of_kind(misfit):
    """Whether arguments of this kind do not fit at any size: it is their type that is not taken."""
    return isinstance(misfit.__cause__, (TypeError, AttributeError))


@functools.cache
def number_rows():
    """Rows of numbers to make samples of: of both signs, positive below 1, positive and larger."""
    rng = np.random.default_rng(5)
    signs = rng.choice((1, -1), COUNT).tolist()
    first, *rows = [[fraction(rng, *size) for _ in range(COUNT)] for size in (SIZES[0], *SIZES, *SIZES)]
    return ([sign * number for sign, number in zip(signs, first, strict=True)], *rows)


def _drawn(kind, place, row):
    """A sample of one argument out of a row of numbers, beginning elsewhere for each argument."""
    if isinstance(kind, Static):
        return kind
    start = 17 * place
    if kind == "scalar":
        return row[start % COUNT]
    return Array(tuple(row[(start + i) % COUNT] for i in range(math.prod(kind))), kind)


def _seeds(y):
    """A cotangent for a plain result: numbers that are all different."""
    numbers = map(_seed, itertools.count())
    return seed_like(y, lambda shape: numbers_in(shape, numbers))


def _flat_seeds(y):
    """The same as a vector beside that of the result, where complex numbers are pairs."""
    return np.array(
        [s for k, is_wide in enumerate(are_complex(y)) for s in ((_seed(k), 0.0) if is_wide else (_seed(k),))]
    )


def _seed(k):
    return 1.25 + 0.37 * k


def _is_vector(kind):
    return not isinstance(kind, (Static, Symmetric)) and len(shape_of(kind)) == 1


def _all_numbers(spec, places):
    """Whether everything but the vectors in these places is a number or held."""
    return all(i in places or isinstance(kind, Static) or not shape_of(kind) for i, kind in enumerate(spec))


# --- whole numbers that were given --------------------------------------------------------------------------


def with_whole_numbers(question, plan):
    """The plan with the whole numbers among the given arguments free to vary: those for which the function
    takes a fraction and the rule does not say that there is no tangent."""
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
    with quietly():
        try:
            y = question.value_through(lambda f: f)(*arguments)
            return bool(np.all(np.isfinite(flat_floats(y))))
        except Exception:
            return False


def _has_no_tangent(question, sample, i):
    """Whether the rule says so, or does not take a fraction."""
    try:
        return isinstance(opened(_returned(question, sample, i), sample, [])[i], NoTangent)
    except Exception:
        return True


def with_held_guards(plan, question, defaults):
    """The plan with those arguments at their default that are there for a formula not to fail, as `eps=1e-12`
    is, and for which the rule says `NoTangent()`."""
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
    """Whether somebody has said where this argument lies."""
    return bool(plan.limits) and plan.limits[i] is not None


def _with_static(spec, places, values):
    return tuple(Static(values[i]) if i in places else kind for i, kind in enumerate(spec))


def _returned(question, sample, fraction=None):
    """What the pullback returns, with a fraction in the place of that number."""
    arguments = list(map(plain_argument, sample))
    if fraction is not None:
        arguments[fraction] = arguments[fraction] + 0.37
    with quietly():
        y, back = question.rule_through(lambda f: f)(*arguments)
        return padded(question, back(_seeds(y)), len(sample))
