"""Wrong rules made of our right ones, one slip each, put before the prover: none may be proved.

    make mutants

judges all of them (some twenty minutes) and prints what became of them. A mutant that is proved has to be the
right rule in disguise: the transpose of a symmetric cotangent, for instance. Whether it is one is asked of
plain floats alone: the cotangents of both at many random points, with nothing of the prover in between.
"""

from __future__ import annotations

import collections
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from own_rules import ARRAYS, SCALAR, Case, cases

from rulelab.errors import RuleLabError
from rulelab.symbolic import Proved, prove
from rulelab.symbolic.questions import NoRuleFound, find_rule, judged_arguments
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import AbstractZero, ZeroTangent

POINTS = 100  # random ones, for the test of equivalence
DISGUISED = 1e-9  # relative: the smallest slip is 1e-6


class Mutant(NamedTuple):
    """A rule with one slip: `kind` says which, `place` the number of the argument it is in (None: all)."""

    case: Case
    args: tuple
    kwargs: dict
    kind: str
    place: int | None
    rule: Callable
    right: Callable

    def __str__(self):
        place = "" if self.place is None else f" of cotangent {self.place}"
        shapes = ", ".join(str(np.shape(a)) if isinstance(a, np.ndarray) else repr(a) for a in self.args)
        return f"{self.case} at ({shapes}): {self.kind}{place}"


class Fate(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    word: str
    sentence: str
    equivalent: bool | None  # asked of those that were not refuted
    seconds: float


# --- slips in one cotangent: functions of it and of its argument --------------------------------------------


def _transposed(c, x):
    return np.reshape(np.transpose(c), np.shape(c))


def _without_first(c):
    c = np.array(c, copy=True)
    c[(0,) * np.ndim(c)] = 0.0
    return c


def _with(c, value):
    return np.zeros_like(c) + value


def _other_sign_below_zero(c, x):
    return np.where(x > 0, c, -c) if np.ndim(c) else (c if x > 0 else -c)


ANY_COTANGENT = {
    "sign": lambda c, x: -c,
    "doubled": lambda c, x: 2 * c,
    "halved": lambda c, x: c / 2,
    "zero": lambda c, x: 0 * c,
    "a millionth more": lambda c, x: c * (1 + 1e-6),
    "plus one": lambda c, x: c + 1.0,
    "absolute value": lambda c, x: np.abs(c),
    "squared": lambda c, x: c * c,
    "times its argument": lambda c, x: c * x,
    "wrong sign on a half-line": _other_sign_below_zero,
}
SEVERAL_NUMBERS = {
    "reversed": lambda c, x: c[::-1],
    "rolled": lambda c, x: np.roll(c, 1),
    "meaned": lambda c, x: _with(c, np.mean(c)),
    "summed": lambda c, x: _with(c, np.sum(c)),
    "one entry zero": lambda c, x: _without_first(c),
}
MATRIX = {"transposed": _transposed, "columns reversed": lambda c, x: c[:, ::-1]}

# --- slips in the seed --------------------------------------------------------------------------------------

ANY_SEED = {"seed ignored": lambda s: s * 0 + 1.0, "seed squared": lambda s: s * s}
SEVERAL_SEEDS = {
    "seed reversed": lambda s: s[::-1],
    "seed summed": lambda s: _with(s, np.sum(s)),
    "one entry of the seed dropped": _without_first,
}


def with_cotangent(right, kind, change, place):
    """The rule `right` with cotangent number `place` changed."""

    def mutant(*xs, **kwargs):
        y, back = right(*xs, **kwargs)

        def changed_pullback(y_bar):
            x_bars = list(back(y_bar))
            x_bars[place] = change(unthunk(x_bars[place]), xs[place - 1])
            return tuple(x_bars)

        return y, changed_pullback

    mutant.__name__ = kind.replace(" ", "_")
    return mutant


def with_seed(right, kind, change):
    """The rule `right` called with a changed seed."""

    def mutant(*xs, **kwargs):
        y, back = right(*xs, **kwargs)
        return y, lambda y_bar: back(change(y_bar))

    mutant.__name__ = kind.replace(" ", "_")
    return mutant


def with_swap(right, first, second):
    """The rule `right` with two cotangents in each other's place."""

    def mutant(*xs, **kwargs):
        y, back = right(*xs, **kwargs)

        def swapped_pullback(y_bar):
            x_bars = list(back(y_bar))
            x_bars[first], x_bars[second] = x_bars[second], x_bars[first]
            return tuple(x_bars)

        return y, swapped_pullback

    return mutant


def with_value(right):
    """The rule `right` with a value that is off in the eighth digit."""

    def mutant(*xs, **kwargs):
        y, back = right(*xs, **kwargs)
        return y * (1 + 1e-8), back

    return mutant


# --- all of them --------------------------------------------------------------------------------------------


def right_rule(case, args, kwargs):
    """The rule of a case as a function to (y, pullback); None where it has none here."""
    names, (plan, *_) = judged_arguments(case.target, args)
    try:
        question = find_rule(case.target, None, names, plan, None, None, kwargs)
    except NoRuleFound:
        return None
    plain = question.rule_through(lambda function: function)
    leading = question.leading
    if leading is None:
        return plain

    def padded(*xs, **kwargs):
        y, back = plain(*xs, **kwargs)

        def padded_pullback(y_bar):
            return (*back(y_bar), *(ZeroTangent(),) * len(xs))[: len(xs) + 1]

        return y, padded_pullback

    return padded


def _is_numbers(value):
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0
    )


def _seed_like(y, rng):
    return rng.uniform(0.5, 2.0, np.shape(y)) if np.ndim(y) else float(rng.uniform(1.2, 2.0))


def mutants_of(case, args, kwargs):
    """Every slip that fits the rule of `case` at one of its points."""
    right = right_rule(case, args, kwargs)
    if right is None:
        return
    with np.errstate(all="ignore"):
        y, back = right(*args, **kwargs)
        if not (_is_numbers(y) or isinstance(y, np.ndarray) and y.dtype == object):
            return
        y_bar = _seed_like(y, np.random.default_rng(0))
        x_bars = [unthunk(x_bar) for x_bar in back(y_bar)]

    def mutant(kind, place, rule):
        return Mutant(case, args, kwargs, kind, place, rule, right)

    movable = [i for i in range(1, len(args) + 1) if _is_numbers(args[i - 1]) and _is_numbers(x_bars[i])]
    for place in movable:
        if not np.any(x_bars[place]):  # twice nothing is nothing
            yield mutant("plus one", place, with_cotangent(right, "plus one", lambda c, x: c + 1.0, place))
            continue
        fitting = dict(ANY_COTANGENT)
        if np.size(x_bars[place]) > 1:
            fitting |= SEVERAL_NUMBERS
        if np.ndim(x_bars[place]) == 2:
            fitting |= MATRIX
        for kind, change in fitting.items():
            yield mutant(kind, place, with_cotangent(right, kind, change, place))
    if not any(np.any(x_bars[place]) for place in movable):
        return
    for kind, change in (ANY_SEED | (SEVERAL_SEEDS if np.size(y) > 1 else {})).items():
        yield mutant(kind, None, with_seed(right, kind, change))
    for first, second in zip(movable, movable[1:]):
        if np.shape(x_bars[first]) == np.shape(x_bars[second]):
            yield mutant("swapped", first, with_swap(right, first, second))
    yield mutant("value", None, with_value(right))


def all_mutants(name):
    """The mutants of the rules of a table that are proved, at one point of numbers and one of arrays."""
    for case in cases(name):
        if isinstance(case.target, type):
            continue
        numbers = [p for p in case.points if not any(isinstance(a, np.ndarray) for a in p[0])]
        arrays = [p for p in case.points if any(isinstance(a, np.ndarray) for a in p[0])]
        for args, kwargs in (*numbers[:1], *arrays[:1]):
            try:
                if isinstance(prove(case.target, at=args, kwargs=kwargs).verdict, Proved):
                    yield from mutants_of(case, args, kwargs)
            except RuleLabError:  # no rule for these arguments
                continue


def fate(mutant, time_limit=5.0):
    """The prover's verdict on a mutant, and for one that is not refuted whether it is the right rule."""
    started = time.perf_counter()
    verdict = prove(
        mutant.case.target, mutant.rule, at=mutant.args, kwargs=mutant.kwargs, time_limit=time_limit
    ).verdict
    seconds = time.perf_counter() - started
    symmetric = "(symmetric)" in verdict.sentence()
    same = None if verdict.word == "REFUTED" else is_equivalent(mutant, symmetric)
    return Fate(mutant, verdict.word, verdict.sentence(), same, seconds)


# --- the test of equivalence --------------------------------------------------------------------------------


def is_equivalent(mutant, symmetric=False):
    """Whether a mutant gives the value and the cotangents of the right rule at every one of many points.

    For matrices that stay `symmetric`, a cotangent and its transpose say the same.
    """
    rng = np.random.default_rng(1)
    compared = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(POINTS):
            scale = 10.0 ** rng.uniform(-2, 1)
            args = [_moved(a, scale, rng) for a in mutant.args]
            right, wrong = _with_one_seed(mutant, args, rng)  # what is held fixed is not judged, nor compared
            if right is None or not all(np.all(np.isfinite(part)) for part in right):
                continue
            compared += 1
            if wrong is not None and symmetric:
                right, wrong = ([b + b.swapaxes(-1, -2) for b in bars[1:]] for bars in (right, wrong))
            if wrong is None or not _alike(right, wrong):
                return False
    return compared > 0


def _both(mutant):
    return mutant.right, mutant.rule


def _with_one_seed(mutant, args, rng):
    number = int(rng.integers(1 << 30))
    return [_floats(rule, args, mutant.kwargs, number) for rule in _both(mutant)]


def _moved(value, scale, rng):
    """Another argument of the same shape: of any sign, or square and positive definite if it is."""
    if not _is_numbers(value):
        return value
    if not isinstance(value, np.ndarray):
        return float(rng.normal() * scale)
    if value.ndim == 2 and len(set(value.shape)) == 1 and np.array_equal(value, value.T):
        half = rng.normal(size=value.shape) * scale
        return half @ half.T + 0.1 * np.eye(len(half))
    return rng.normal(size=value.shape) * scale


def _floats(rule, args, kwargs, number):
    """The value and the cotangents as plain arrays; None where the rule raises there."""
    try:
        y, back = rule(*args, **kwargs)
        y_bar = _seed_like(y, np.random.default_rng(number))
        x_bars = [unthunk(x_bar) for x_bar, x in zip(back(y_bar)[1:], args) if _is_numbers(x)]
        return [np.asarray(p, float) for p in (y, *(b for b in x_bars if not isinstance(b, AbstractZero)))]
    except Exception:  # outside the domain
        return None


def _alike(right, wrong):
    return len(right) == len(wrong) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=DISGUISED, atol=1e-300) for a, b in zip(right, wrong)
    )


# --- the campaign -------------------------------------------------------------------------------------------


def summary(fates):
    """What became of the mutants, by the kind of slip."""
    words = ("REFUTED", "PROVED", "UNDECIDED", "UNSUPPORTED")
    kinds: dict[str, Any] = collections.defaultdict(collections.Counter)
    for f in fates:
        kinds[f.mutant.kind][f.word] += 1
    yield f"{'slip':32}" + "".join(f"{word:>13}" for word in words)
    for kind, counts in (*sorted(kinds.items()), ("all", sum(kinds.values(), collections.Counter()))):
        yield f"{kind:32}" + "".join(f"{counts[word]:13}" for word in words)
    yield ""
    for f in fates:
        if f.word != "REFUTED":
            same = "the right rule in disguise" if f.equivalent else "a WRONG rule"
            yield f"{f.word:12} {f.mutant}: {same}; {f.sentence[:160]}"
    seconds = sorted(f.seconds for f in fates)
    yield f"{len(fates)} mutants, {sum(seconds):.0f} s, median {seconds[len(seconds) // 2] * 1000:.0f} ms"


def escaped(fates):
    """The mutants that were proved and are not the right rule."""
    return [f for f in fates if f.word == "PROVED" and not f.equivalent]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    judged = [fate(mutant) for name in sys.argv[1:] or (*SCALAR, *ARRAYS) for mutant in all_mutants(name)]
    print("\n".join(summary(judged)))
    if missed := escaped(judged):
        sys.exit(f"{len(missed)} wrong rules were proved")
