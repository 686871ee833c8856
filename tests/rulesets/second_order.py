"""The checker of second derivatives: each built-in frule, compiled and differentiated in reverse mode at
a check point, against finite differences of the frule.

An frule is a program for `y, y_dot = f(x), J(x) x_dot`. Its pullback at `(y_bar, y_dot_bar)` gives
`Jᵀ y_dot_bar` for the tangents, and `Jᵀ y_bar + d/dx <y_dot_bar, J(x) x_dot>` for the arguments. Both are
compared along one random direction, which no wrong entry survives but by chance.
"""

import copy

import numpy as np
from rule_points import (
    LOOSE,
    at_path,
    close,
    derivative,
    entry,
    frozen,
    inner,
    leaves,
    moved,
    outputs,
    put_at,
    random_like,
    rule_at,
    size_of,
    widen_all,
)

from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.compiler.memory import heap
from rulelab.rules.registry import DEFAULT
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

TIGHT = 1e-5
PULLBACKS = Pullbacks(Cache(DEFAULT))


def is_inexact(leaf):
    return np.asarray(leaf).dtype.kind in "fc"


def tangent_of(value, path, steps):
    """The tangent of an argument in its inner form: the drawn direction at its leaves, nothing elsewhere."""
    if path in steps:
        return steps[path]
    if isinstance(value, (tuple, list)) and any(p[: len(path)] == path for p in steps):
        items = [tangent_of(v, (*path, i), steps) for i, v in enumerate(value)]
        return type(value)(items)
    if isinstance(value, dict) and any(p[: len(path)] == path for p in steps):
        return {key: tangent_of(v, (*path, key), steps) for key, v in value.items()}
    return NoTangent()


def parts_of(value, like):
    """The numbers and arrays of a tangent, one for each leaf of `like`; zeros where there is no tangent."""
    value = unthunk(value)
    found = []
    for path, leaf in leaves(like):
        part = entry(value, path)
        found.append(np.zeros(np.shape(leaf)) if isinstance(part, (NoTangent, ZeroTangent)) else part)
    return found


def seed_like(y, rng):
    """A random cotangent in the form that a pullback takes, and its parts in order."""
    if isinstance(y, (tuple, list)):
        pairs = [seed_like(item, rng) for item in y]
        return Tangent(type(y), *[seed for seed, _ in pairs]), [part for _, parts in pairs for part in parts]
    if not list(leaves(y)) or not is_inexact(y):
        return ZeroTangent(), [np.zeros(np.shape(leaf)) for _, leaf in leaves(y)]
    seed = random_like(y, rng)
    return seed, [seed]


def varied_paths(case):
    """The leaves of the positional arguments that can be perturbed: those the reverse rule answers for."""
    rule = rule_at(DEFAULT, case.target, case.args, "rrule")
    count = len(case.args) if rule.leading is None else rule.leading
    return [path for path, leaf in leaves(case.args) if path[0] < count and is_inexact(leaf)]


class Frule:
    """An frule at a check point, with drawn directions for the arguments that vary."""

    def __init__(self, case, seed=11):
        self.case, rng = case, np.random.default_rng(seed)
        self.function = rule_at(DEFAULT, case.target, case.args, "frule").function
        self.kwargs = case.kwargs
        steps = {p: random_like(at_path(case.args, p), rng) for p in varied_paths(case)}
        self.steps = steps
        self.dots = tuple(tangent_of(a, (i,), steps) for i, a in enumerate(case.args))
        self.rng = rng

    def __call__(self, args, dots):
        with np.errstate(all="ignore"):
            return self.function((NoTangent(), *dots), *copy.deepcopy(args), **copy.deepcopy(self.kwargs))

    def pulled(self):
        """`(y, y_dot)` and the pullback, of the compiled frule; the arguments may not be written."""
        tangents, args, kwargs = (NoTangent(), *self.dots), frozen(self.case.args), self.kwargs
        varied = {path[0] for path in self.steps}
        active = (False, True, *[i in varied for i in range(len(args))], *[False] * len(kwargs))
        outer = heap.enter()
        try:
            with np.errstate(all="ignore"):
                handler = PULLBACKS.find(self.function, (tangents, *args), kwargs, active, None)
                return handler(tangents, *args, **kwargs)
        finally:
            heap.leave(outer)


def tolerance_of(case):
    dtypes = [np.asarray(leaf).dtype for leaf in outputs(case.args)]
    return max([30 * LOOSE[d] for d in dtypes if d in LOOSE], default=TIGHT)


def check_second(case):
    """The pullback of the compiled frule against finite differences of the frule itself."""
    frule = Frule(case)
    y, y_dot = frule(case.args, frule.dots)
    (y_again, y_dot_again), back = frule.pulled()
    tolerance = tolerance_of(case)
    for got, wanted in zip(outputs(y_again), outputs(y), strict=True):
        close(got, wanted, "the value of the compiled frule", 1e-5)
    for got, wanted in zip(parts_of(y_dot_again, y), parts_of(y_dot, y), strict=True):
        close(got, wanted, "the tangent of the compiled frule", 1e-5)
    y_bar, y_seeds = seed_like(y, frule.rng)
    y_dot_bar, dot_seeds = seed_like(y, frule.rng)
    with np.errstate(all="ignore"):
        bars = back(Tangent(tuple, y_bar, y_dot_bar))
    tangents_bar, *arg_bars = map(unthunk, bars[1 : 2 + len(case.args)])
    directions = {p: random_like(step, frule.rng) for p, step in frule.steps.items()}

    def along_dots(t):
        dots = frule.dots
        for path, direction in directions.items():
            dots = put_at(dots, path, moved(at_path(frule.dots, path), t * direction))
        return sum(inner(s, part) for s, part in zip(dot_seeds, parts_of(frule(case.args, dots)[1], y)))

    def along_args(t):
        args = widen_all(case.args)
        for path, direction in directions.items():
            args = put_at(args, path, moved(at_path(case.args, path), t * direction))
        return weighed(*frule(args, frule.dots))

    def weighed(y, y_dot):
        return sum(inner(s, part) for s, part in zip(y_seeds, parts_of(y, y), strict=True)) + sum(
            inner(s, part) for s, part in zip(dot_seeds, parts_of(y_dot, y), strict=True)
        )

    def paired(bars, lead):
        total = 0.0
        for path, direction in directions.items():
            bar = entry(bars, (path[0] + lead, *path[1:]))
            if bar is not None and not isinstance(bar, (NoTangent, ZeroTangent)):
                assert np.shape(bar) == np.shape(direction), f"{path}: cotangent of shape {np.shape(bar)}"
                total += inner(bar, direction)
        return total

    scale = 0.25 * size_of([at_path(case.args, path) for path in directions])
    if directions:
        close(paired(tangents_bar, 1), derivative(along_dots), "cotangents of the tangents", tolerance)
        close(paired(arg_bars, 0), derivative(along_args, scale), "cotangents of the arguments", tolerance)
