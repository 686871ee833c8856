"""The checker of the rulesets: every rule of a table, at every point of the table, against finite
differences.

A test module needs three lines::

    @pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
    def test_rules_agree_with_finite_differences(points):
        at_each(points, check)

and states the values at kinks, where finite differences say nothing, through `cotangents`.
The oracle perturbs the primal only: it knows nothing of the rule.
"""

import copy
import functools
from typing import Any, NamedTuple

import numpy as np

from rulelab.rules.registry import DEFAULT, Registry
from rulelab.rules.signatures import types_of
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables
from rulelab.tangents.structural import Tangent, class_of
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

STEPS = tuple(10.0**-k for k in (1.5, 2, 2.5, 3, 3.5, 4, 5))
LOOSE = {np.dtype(np.float32): 2e-4, np.dtype(np.float16): 2e-2, np.dtype(np.complex64): 2e-4}
TIGHT = 1e-6
CLOSE_ENOUGH = 1e-7  # of the two estimates by one step: the better one is closer to the truth by far


class Case(NamedTuple):
    """One rule at one point: `mode` is "rrule" or "frule"."""

    table: Any
    mode: str
    target: Any
    args: tuple
    kwargs: dict

    def __str__(self):
        name = name_of(self.target)
        shown = ", ".join(
            [_brief(a) for a in self.args] + [f"{k}={_brief(v)}" for k, v in self.kwargs.items()]
        )
        return f"{self.mode}:{name}({shown})"[:110]


def _brief(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 24 else type(value).__name__


# --- finding the rules --------------------------------------------------------------------------------------


def registry_of(*tables):
    """A registry that holds these tables and nothing else."""
    registry = Registry()
    for table in tables:
        table.install(registry)
    return registry


@functools.cache
def registry_of_one(table):
    """The same of one table, made once: nobody states anything in it."""
    return registry_of(table)


def rule_at(registry, target, args, mode):
    """The rule that answers for `target` at these arguments, or None."""
    answer = registry.ask(target, types_of(args), mode)
    return getattr(answer, "rule", None)


def cases(table):
    """Every (rule, point) of the table in both modes, where there is a rule for the mode.

    Raises AssertionError for a point without a reverse rule: it would be checked by nobody.
    """
    registry, found = registry_of_one(table), []
    for target, args, kwargs in table.points:
        if rule_at(registry, target, args, "rrule") is None:
            raise AssertionError(f"the point {Case(table, 'rrule', target, args, kwargs)} meets no rrule")
        found.append(Case(table, "rrule", target, args, kwargs))
        if rule_at(registry, target, args, "frule") is not None:
            found.append(Case(table, "frule", target, args, kwargs))
    return found


def forward_cases():
    """Every check point of a built-in rule at which there is a forward rule."""
    return [
        Case(table, "frule", target, args, kwargs)
        for table in tables()
        for target, args, kwargs in table.points
        if rule_at(DEFAULT, target, args, "frule") is not None
    ]


class Points(NamedTuple):
    """What is to be checked of one function, together: thousands of points are hundreds of functions."""

    name: str
    cases: list

    def __str__(self):
        return self.name


def by_function(cases):
    """The cases, function by function in the order of the first of each."""
    found: dict[str, Points] = {}
    for case in cases:
        name = f"{case.table.name}:{name_of(case.target)}"
        found.setdefault(name, Points(name, [])).cases.append(case)
    return list(found.values())


def by_rule(table):
    """The cases of a table, function by function, in both modes."""
    return by_function(cases(table))


def at_each(points, check):
    """Make the check at every point of a function, and name those at which it fails."""
    failed = []
    for case in points.cases:
        try:
            check(case)
        except Exception as error:
            failed.append((case, error))
    if failed:
        told = "\n".join(f"{case}: {type(error).__name__}: {error}" for case, error in failed)
        raise AssertionError(told) from failed[0][1]


# --- values as real vectors ---------------------------------------------------------------------------------


def is_number(value):
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, (bool, np.bool_))


def is_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufc"


def leaves(value, path=()):
    """The paths of the numbers and numeric arrays inside tuples, lists and dicts."""
    if is_number(value) or is_array(value):
        yield path, value
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))


def at_path(value, path):
    for key in path:
        value = value[key]
    return value


def put_at(value, path, leaf):
    """A copy of the nested value in which the leaf at `path` is another."""
    if not path:
        return leaf
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: put_at(value[key], rest, leaf)}
    items = [put_at(v, rest, leaf) if i == key else v for i, v in enumerate(value)]
    return rebuilt(value, items)


def rebuilt(value, items):
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*items)
    return type(value)(items)


def widen(leaf):
    """The same number in double precision, so that small steps can be seen; integers as they are."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
        return leaf.astype(np.complex128 if leaf.dtype.kind == "c" else np.float64)
    if isinstance(leaf, np.complexfloating):
        return np.complex128(leaf)
    if isinstance(leaf, np.floating):
        return np.float64(leaf)
    return leaf


def widen_all(value):
    """The nested value anew with each of its numbers in double precision; what holds none is what it was."""
    return _widened(value)[0]


def _widened(value):
    """That, and whether there is a number in it."""
    if is_number(value) or is_array(value):
        return widen(value), True
    if isinstance(value, (tuple, list)):
        parts = [_widened(item) for item in value]
        there = any(found for _, found in parts)
        return (rebuilt(value, [part for part, _ in parts]) if there else value), there
    if isinstance(value, dict):
        named = {key: _widened(item) for key, item in value.items()}
        there = any(found for _, found in named.values())
        return ({key: part for key, (part, _) in named.items()} if there else value), there
    return value, False


def is_unchanging(value):
    """Whether nobody can change a value: a number, a word, or a tuple of such."""
    if isinstance(value, tuple):
        return all(map(is_unchanging, value))
    plain = (bool, np.bool_, int, float, complex, np.number, str, slice, type)
    return value is None or isinstance(value, plain)


def is_complex(leaf):
    return np.asarray(leaf).dtype.kind == "c"


def moved(leaf, step):
    """The leaf plus a step of its shape; an integer becomes a float for it."""
    wide = complex if is_complex(leaf) else float
    if isinstance(leaf, (np.ndarray, np.generic)):
        total = np.asarray(leaf, wide) + np.asarray(step, wide)
        return np.asarray(total) if isinstance(leaf, np.ndarray) else total[()]
    return wide(leaf) + wide(step)


def directions(leaf):
    """The real unit directions of a leaf: ones at each place, and one-js if it is complex."""
    shape = np.shape(leaf)
    for index in np.ndindex(*shape):
        for unit in (1.0, 1j) if is_complex(leaf) else (1.0,):
            step = np.zeros(shape, dtype=complex if is_complex(leaf) else float)
            step[index] = unit
            yield index, unit, step


def random_like(leaf, rng):
    """A direction of the leaf's shape: float64, or the leaf's own inexact dtype; never near one or zero."""
    shape, dtype = np.shape(leaf), np.asarray(leaf).dtype
    draw = lambda: rng.uniform(1.2, 2.5, shape) * rng.choice([-1.0, 1.0], shape)
    value = draw() + 1j * draw() if dtype.kind == "c" else draw()
    value = np.asarray(value, dtype if dtype.kind in "fc" else np.float64)
    return value if isinstance(leaf, np.ndarray) else value[()]


def flat(parts):
    """Leaves as one complex vector."""
    return np.concatenate([np.zeros(0, complex), *[np.ravel(part).astype(complex) for part in parts]])


def size_of(value):
    """The largest magnitude in a value, at least 1: the scale of a step that can be seen."""
    return max([1.0, *[float(np.max(np.abs(leaf), initial=0.0)) for _, leaf in leaves(value)]])


def inner(a, b):
    """The real inner product of two leaves, Re(conj(a) b) summed."""
    return float(np.sum(np.real(np.conj(np.asarray(a, complex)) * np.asarray(b, complex))))


# --- the oracle ---------------------------------------------------------------------------------------------


def derivative(phi, scale=1.0):
    """dphi/dt at 0 by central differences with one Richardson step; of the steps, times `scale`, the best, or
    the first that is much closer than anything is compared.
    """
    quotients = {}

    def quotient(step):
        if step not in quotients:
            quotients[step] = (np.asarray(phi(step)) - np.asarray(phi(-step))) / (2 * step)
        return quotients[step]

    best, smallest = None, np.inf
    for step in [scale * relative for relative in STEPS]:
        try:
            with np.errstate(all="ignore"):
                coarse, fine = quotient(step), quotient(step / 2)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            continue
        estimate = (4 * fine - coarse) / 3
        error = float(np.max(np.abs(estimate - fine), initial=0.0))
        if np.all(np.isfinite(estimate)) and error < smallest:
            best, smallest = estimate, error
            if error < CLOSE_ENOUGH * (1 + float(np.max(np.abs(estimate), initial=0.0))):
                break
    if best is None or smallest > 1e-3 * (1 + float(np.max(np.abs(best), initial=0.0))):
        raise AssertionError(
            "the oracle does not settle at this point: it is a kink or a pole; state it as a convention"
        )
    return best


def each_time(make, value):
    """A function that gives `make(value)`, anew for each call of a function that might write into it.

    Arrays may be shared, if they are arguments themselves and refuse to be written.
    """
    parts = value.values() if isinstance(value, dict) else value
    if all(is_unchanging(part) or type(part) is np.ndarray for part in parts):
        once = frozen(make(value))
        return lambda: once
    return lambda: make(value)


def moving(case, paths):
    """The outputs of the primal of a case as a function of steps of the leaves at these paths."""
    found = [(path, at_path(case.args, path)) for path in paths]
    held, kwargs = each_time(widen_all, case.args), each_time(copy.deepcopy, case.kwargs)

    def at(steps):
        args = held()
        for (path, leaf), step in zip(found, steps, strict=True):
            args = put_at(args, path, moved(leaf, step))
        return outputs(case.target(*args, **kwargs()))

    return at


def outputs(y):
    """The numeric leaves of an output, in order."""
    if type(y) is np.float64 or type(y) is float:
        return [y]
    return [leaf for _, leaf in leaves(y)]


def paired_with(seeds):
    """The sum of the inner products of parts with these seeds, as a function of the parts."""
    wide = [np.asarray(seed, complex if is_complex(seed) else float) for seed in seeds]
    return lambda parts: sum(float(np.vdot(seed, part).real) for seed, part in zip(wide, parts, strict=True))


def expected_cotangent(case, path, seeds):
    """The cotangent of one leaf of the arguments by differences: dL/dRe + i dL/dIm, L = Re<seed, y>."""
    leaf = at_path(case.args, path)
    out = np.zeros(np.shape(leaf), complex)
    at, paired = moving(case, [path]), paired_with(seeds)
    for index, unit, step in directions(leaf):

        def loss(t, step=step):
            return paired(at([t * step]))

        out[index] += unit * derivative(loss, size_of(leaf))
    return out


def close(actual, expected, what, tolerance):
    actual, expected = np.asarray(actual), np.asarray(expected)
    scale = 1.0 + float(np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def tolerance_of(case):
    dtypes = [np.asarray(leaf).dtype for leaf in outputs(case.args)]
    return max([LOOSE.get(d, TIGHT) for d in dtypes], default=TIGHT)


# --- the checks ---------------------------------------------------------------------------------------------


def frozen(value):
    """A deep copy whose arrays refuse to be written."""
    value = copy.deepcopy(value)
    for _, leaf in leaves(value):
        if isinstance(leaf, np.ndarray):
            leaf.flags.writeable = False
    return value


def relaid(value):
    """The same numbers in another layout: every other element of a reversed, Fortran-ordered buffer."""
    for path, leaf in list(leaves(value)):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            buffer = np.zeros([2 * n for n in leaf.shape], leaf.dtype, order="F")
            view = buffer[tuple(slice(None, None, -2) for _ in leaf.shape)]
            view[...] = leaf
            value = put_at(value, path, view)
    return value


def seed_for(y, rng):
    """A random cotangent of the output, and its leaves in order; arrays in it refuse to be written."""
    if isinstance(y, (tuple, list)):
        parts = [seed_for(item, rng) for item in y]
        return Tangent(type(y), *[seed for seed, _ in parts]), [leaf for _, all_ in parts for leaf in all_]
    if not (is_number(y) or is_array(y)):
        return ZeroTangent(), []
    seed = frozen(random_like(y, rng))
    return seed, [seed]


def scaled(seed, factor):
    if isinstance(seed, Tangent):
        return Tangent(class_of(seed), *[scaled(s, factor) for s in seed])
    if isinstance(seed, ZeroTangent):
        return seed
    product = seed * np.asarray(factor, np.asarray(seed).dtype)
    return product if isinstance(seed, np.ndarray) else product[()]


def entry(x_bar, path):
    """The cotangent at a path inside a structural cotangent; zero and absent ones reach all the way down."""
    x_bar = unthunk(x_bar)
    for key in path:
        if isinstance(x_bar, (NoTangent, ZeroTangent)):
            return x_bar
        x_bar = unthunk(x_bar[key])
    return x_bar


def run_pullback(pullback, seed, count):
    """The cotangents of the positional arguments, thunks evaluated; the function's own must be NoTangent."""
    x_bars = pullback(seed)
    assert isinstance(x_bars, tuple), "a pullback returns a tuple"
    assert isinstance(x_bars[0], NoTangent), "the first entry is the cotangent of the function: NoTangent()"
    # A rule answers for its leading parameters, also for those that this call left at their defaults.
    x_bars = [unthunk(x_bar) for x_bar in x_bars[1 : count + 1]]
    assert not any(x_bar is None for x_bar in x_bars), "None is not a cotangent"
    return x_bars


def check_kind(x_bar, leaf, y, path):
    """A cotangent has its primal's shape; it is real for a real primal, single if all else is."""
    assert isinstance(x_bar, (np.ndarray, int, float, complex, np.number)), (
        f"{path}: {type(x_bar)} is not a cotangent"
    )
    assert np.shape(x_bar) == np.shape(leaf), (
        f"{path}: cotangent {np.shape(x_bar)} for primal {np.shape(leaf)}"
    )
    kind, wanted = np.asarray(x_bar).dtype.kind, np.asarray(leaf).dtype
    assert kind in ("fc" if wanted.kind == "c" else "f"), (
        f"{path}: cotangent of kind {kind} for primal {wanted}"
    )
    if (
        isinstance(leaf, np.ndarray)
        and leaf.ndim
        and wanted == np.float32
        and all(np.asarray(part).dtype == np.float32 for part in outputs(y))
    ):
        assert np.asarray(x_bar).dtype == np.float32, (
            f"{path}: {np.asarray(x_bar).dtype} for float32 throughout"
        )


def check_nothing_shared(x_bars, args):
    """No two cotangents share memory, and none shares it with an argument: the caller may add into either."""
    arrays = [a for x_bar in x_bars for a in _arrays_of(x_bar)]
    for i, a in enumerate(arrays):
        for b in arrays[:i]:
            assert not np.shares_memory(a, b), "one buffer is handed out under two names"
        for _, leaf in leaves(args):
            assert not (isinstance(leaf, np.ndarray) and np.shares_memory(a, leaf)), (
                "a cotangent is a view of an argument"
            )


def _arrays_of(x_bar):
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, Tangent):
        return [a for item in x_bar for a in _arrays_of(item)]
    return [x_bar] if isinstance(x_bar, np.ndarray) and x_bar.size else []


def same(a, b, what):
    """Two nested values are bitwise alike, NaN included."""
    for (path, left), (other, right) in zip(leaves(a), leaves(b), strict=True):
        assert path == other, what
        np.testing.assert_array_equal(left, right, err_msg=what)
        assert np.asarray(left).dtype == np.asarray(right).dtype, f"{what}: dtype"


def check(case):
    """Run the check that belongs to the case's mode."""
    (check_rrule if case.mode == "rrule" else check_frule)(case)


def check_rrule(case, seed=20):
    """The pullback against finite differences of the primal, and its manners.

    The primal is exact, the cotangents have shape and kind of their arguments, the pullback is linear and may
    be
    called again, inputs and seed are not written (they are read-only here), nothing is shared, and the layout
    of the arguments in memory changes nothing.
    """
    rng = np.random.default_rng(seed)
    rule = rule_at(registry_of_one(case.table), case.target, case.args, "rrule")
    args, plain = frozen(case.args), case.target(*copy.deepcopy(case.args), **copy.deepcopy(case.kwargs))
    with np.errstate(all="ignore"):
        y, pullback = rule.function(*args, **frozen(case.kwargs))
    assert type(y) is type(plain), f"the rule returns {type(y)}, the primal {type(plain)}"
    for got, wanted in zip(outputs(y), outputs(plain), strict=True):
        assert np.asarray(got).dtype == np.asarray(wanted).dtype and np.shape(got) == np.shape(wanted)
        close(got, wanted, "the rule's primal", 1e-12 if tolerance_of(case) == TIGHT else 1e-5)
    y_bar, seeds = seed_for(y, rng)
    with np.errstate(all="ignore"):
        x_bars = run_pullback(pullback, y_bar, len(args))
        again = run_pullback(pullback, y_bar, len(args))
        double = run_pullback(pullback, scaled(y_bar, 2.0), len(args))
        _, other = rule.function(*relaid(frozen(case.args)), **frozen(case.kwargs))
        relaid_bars = run_pullback(other, y_bar, len(args))
    check_nothing_shared(x_bars, args)
    same(args, case.args, "the rule writes its arguments")
    tolerance, compared = tolerance_of(case), 0
    for path, leaf in leaves(case.args):
        if path[0] >= len(x_bars):
            continue
        x_bar = entry(x_bars[path[0]], path[1:])
        if isinstance(x_bar, NoTangent):
            assert np.asarray(leaf).dtype.kind in "iu", f"{path}: no cotangent for a {np.asarray(leaf).dtype}"
            continue
        expected = expected_cotangent(case, path, seeds)
        compared += 1
        if isinstance(x_bar, ZeroTangent):
            close(np.zeros(np.shape(leaf)), expected, f"{path}: zero cotangent", tolerance)
            continue
        check_kind(x_bar, leaf, y, path)
        close(x_bar, expected, f"{path}: pullback and finite differences", tolerance)
        close(entry(again[path[0]], path[1:]), x_bar, f"{path}: second call of the pullback", 1e-12)
        close(entry(double[path[0]], path[1:]), 2 * x_bar, f"{path}: the pullback is not linear", 1e-5)
        close(entry(relaid_bars[path[0]], path[1:]), x_bar, f"{path}: depends on the memory layout", 1e-5)
    assert compared or not list(leaves(case.args)), "no argument of this point was compared"


def check_frule(case, seed=21):
    """The pushforward against finite differences along a random direction, and against the pullback."""
    rng = np.random.default_rng(seed)
    registry = registry_of_one(case.table)
    args, kwargs = frozen(case.args), frozen(case.kwargs)
    reverse = rule_at(registry, case.target, case.args, "rrule").function
    with np.errstate(all="ignore"):
        y, pullback = reverse(*args, **kwargs)
        y_bar, seeds = seed_for(y, rng)
        x_bars = run_pullback(pullback, y_bar, len(args))
    x_bars += [NoTangent()] * (len(args) - len(x_bars))
    steps = {
        path: random_like(leaf, rng)
        for path, leaf in leaves(case.args)
        if not isinstance(entry(x_bars[path[0]], path[1:]), NoTangent)
    }
    dots = tuple(_tangent_of(a, (i,), steps) for i, a in enumerate(args))
    rule = rule_at(registry, case.target, case.args, "frule")
    with np.errstate(all="ignore"):
        y_again, y_dot = rule.function((NoTangent(), *frozen(dots)), *args, **kwargs)
    for got, wanted in zip(outputs(y_again), outputs(y), strict=True):
        close(got, wanted, "the primals of rrule and frule", 1e-12 if tolerance_of(case) == TIGHT else 1e-5)
    got = _dot_leaves(y_dot, y)

    at = moving(case, steps)

    def along(t):
        return flat(at([t * step for step in steps.values()]))

    expected, tolerance = (
        derivative(along, size_of([at_path(case.args, path) for path in steps])),
        tolerance_of(case),
    )
    close(flat(got), expected, "pushforward", tolerance)
    left = sum(inner(s, d) for s, d in zip(seeds, got, strict=True))
    right = sum(inner(_full(entry(x_bars[p[0]], p[1:])), step) for p, step in steps.items())
    close(left, right, "<y_bar, y_dot> and <x_bar, x_dot> differ", tolerance)


def _full(x_bar):
    return 0.0 if isinstance(x_bar, (NoTangent, ZeroTangent)) else x_bar


def _tangent_of(value, path, steps):
    """The tangent of one argument, in its inner form: the drawn direction at its leaves."""
    if path in steps:
        return steps[path]
    if isinstance(value, (tuple, list)) and any(p[: len(path)] == path for p in steps):
        return type(value)([_tangent_of(v, (*path, i), steps) for i, v in enumerate(value)])
    if isinstance(value, dict):
        return {key: _tangent_of(v, (*path, key), steps) for key, v in value.items()}
    return NoTangent()


def _dot_leaves(y_dot, y):
    y_dot = unthunk(y_dot)
    if isinstance(y, (tuple, list)):
        if isinstance(y_dot, (NoTangent, ZeroTangent)):
            return [leaf for item in y for leaf in _dot_leaves(y_dot, item)]
        return [leaf for dot, item in zip(y_dot, y, strict=True) for leaf in _dot_leaves(dot, item)]
    if isinstance(y_dot, (NoTangent, ZeroTangent)):
        return [np.zeros(np.shape(y))]
    assert np.shape(y_dot) == np.shape(y), f"tangent {np.shape(y_dot)} of an output {np.shape(y)}"
    return [y_dot]


def cotangents(table, target, *args, seed=1.0, **kwargs):
    """The cotangents that the table's rule gives at one point: for conventions at kinks, stated as plain
    numbers.

    `seed` is the cotangent of the output: a Tangent, or a number or array that is broadcast to the output's
    shape.
    """
    rule = rule_at(registry_of(table), target, args, "rrule")
    assert rule is not None, f"no rrule for {target} at {args}"
    with np.errstate(all="ignore"):
        y, pullback = rule.function(*args, **kwargs)
        y_bar = np.broadcast_to(seed, y.shape).copy() if isinstance(y, np.ndarray) else seed
        return tuple(run_pullback(pullback, y_bar, len(args)))
