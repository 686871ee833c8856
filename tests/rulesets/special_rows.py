"""What is checked of the rules for elementwise functions of `scipy.special`, a row at a time: slopes and
their slopes against differences of high order of SciPy's own functions and against mpmath, both modes against
each other, and other forms of the arguments against plain ones.
"""

import functools

import numpy as np
from exact_oracle import WRITTEN
from library_calls import direction, orders, seed_of
from rule_points import inner, rule_at
from scipy import special
from second_order import PULLBACKS
from special_oracle import derivative

from rulelab.rules.registry import DEFAULT
from rulelab.rulesets.catalogue import special_tables
from rulelab.rulesets.scipy_rows import SpecialTable
from rulelab.tangents.missing import NotImplementedTangent
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import AbstractZero, NoTangent, ZeroTangent

TABLES = {table.name: table for table in special_tables() if isinstance(table, SpecialTable)}
EIGHTH = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order eight


def rows(name):
    """The rows of a table, each with its name as pytest shows it."""
    return list(TABLES[name].rows.values())


def name_of_row(row):
    return row.name


def columns_of(row):
    """The arguments of a row as arrays, real ones and complex ones."""
    of_complex = () if row.name == "hyp1f1" and not _knows_complex_hyp1f1() else row.beyond
    return [tuple(map(_column, cols)) for cols in (row.at, of_complex) if cols]


@functools.cache
def _knows_complex_hyp1f1():
    """SciPy 1.13 gives 1 for it."""
    return special.hyp1f1(0.5, 1.5, 0.4 - 0.7j) != 1


def _column(values):
    return np.array(values) if isinstance(values, tuple) else values


def outputs(y):
    return y if isinstance(y, tuple) else (y,)


def slopes(row, args, partials=None):
    """The partials at some arguments: `[k][i]` that of the k-th result by the i-th argument."""
    with np.errstate(all="ignore"):
        y = row.target(*args)
        given = (partials or row.partials)(y, *args)
    given = given if isinstance(y, tuple) else (given,)
    return [part if isinstance(part, tuple) else (part,) for part in given]


def is_missing(partial):
    return isinstance(partial, (AbstractZero, NotImplementedTangent))


def free(row, args):
    """The arguments that there is a slope by."""
    return [i for i, partial in enumerate(slopes(row, args)[0]) if not is_missing(partial)]


def difference(f, args, i):
    """The derivative of `f(*args)`, a tuple of arrays, by the i-th argument, elementwise."""
    x = np.asarray(args[i])
    step = 2e-3 * (np.abs(x) + (0.02 if np.any(np.abs(x) < 0.2) else 0.1))
    total = None
    with np.errstate(all="ignore"):
        for k, weight in EIGHTH.items():
            ahead, behind = (outputs(f(*args[:i], x + s * step, *args[i + 1 :])) for s in (k, -k))
            parts = [weight * (np.asarray(a) - np.asarray(b)) / step for a, b in zip(ahead, behind)]
            total = parts if total is None else [t + p for t, p in zip(total, parts)]
    return total


@functools.cache
def differences(row):
    """`(args, i, the derivatives of the results by the i-th argument)` for all that a row is checked at."""
    return [(args, i, difference(row.target, args, i)) for args in columns_of(row) for i in free(row, args)]


def assert_close(actual, expected, tolerance, told):
    actual, expected = np.asarray(actual), np.asarray(expected)
    scale = tolerance * (1e-2 + float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=scale, err_msg=told)


def check_slopes(row, partials=None, tolerance=2e-7):
    """The partials of a row, or others in their place, against differences of SciPy's function."""
    for args, i, expected in differences(row):
        found = slopes(row, args, partials)
        for k, wanted in enumerate(expected):
            shape = np.shape(wanted)
            assert_close(
                np.broadcast_to(found[k][i], shape), wanted, tolerance, f"{row.name} by argument {i}"
            )


def single(row, args):
    """The points of arrays of arguments, number by number."""
    count = max(np.size(a) for a in args)
    return [tuple(a[q].item() if isinstance(a, np.ndarray) else a for a in args) for q in range(count)]


def check_mpmath(row, tolerance=2e-10):
    """The partials of a row against derivatives of mpmath's function, at each number."""
    for args in columns_of(row):
        found = slopes(row, args)
        for q, point in enumerate(single(row, args)):
            for i in free(row, args):
                wanted = derivative(row.name, point, [int(i == j) for j in range(len(point))])
                got = [np.broadcast_to(part[i], np.shape(outputs(row.target(*args))[0]))[q] for part in found]
                assert_close(got, wanted, tolerance, f"{row.name}{point} by argument {i}")


# -- both modes ----------------------------------------------------------------------------------------------


def rule(row, args, mode):
    found = rule_at(DEFAULT, row.target, args, mode)
    assert found is not None, f"no {mode} of {row.name}"
    return found.function


def pulled(row, args, seeds):
    """The value and the cotangents of a row's rrule."""
    with np.errstate(all="ignore"):
        y, back = rule(row, args, "rrule")(*args)
        seed = Tangent(tuple, *seeds) if isinstance(y, tuple) else seeds[0]
        return y, [unthunk(bar) for bar in back(seed)[1:]]


def pushed(row, args, dots):
    """The value and the tangent of a row's frule."""
    with np.errstate(all="ignore"):
        y, y_dot = rule(row, args, "frule")((NoTangent(), *dots), *args)
    return y, [unthunk(part) for part in (y_dot if isinstance(y, tuple) else (y_dot,))]


def _seeds(y, rng):
    return tuple(_drawn(part, rng) for part in outputs(y))


def _drawn(x, rng):
    x = np.asarray(x)
    drawn = rng.uniform(0.5, 2.0, x.shape)
    if x.dtype.kind == "c":
        drawn = drawn + 1j * rng.uniform(0.5, 2.0, x.shape)
    drawn = drawn.astype(x.dtype if x.dtype.kind in "fc" else float)
    return drawn if x.ndim else drawn[()]


def check_modes(row):
    """The pullback and the pushforward are those of the partials, conjugated and not; both say the same of
    what has no slope.
    """
    rng = np.random.default_rng(5)
    for args in columns_of(row):
        found = slopes(row, args)
        y = row.target(*args)
        seeds = _seeds(y, rng)
        value, bars = pulled(row, args, seeds)
        for got, wanted in zip(outputs(value), outputs(y), strict=True):
            np.testing.assert_array_equal(got, wanted)
        movable = free(row, args)
        for i, bar in enumerate(bars):
            if i not in movable:
                missing = found[0][i]
                assert type(bar) is type(missing) or isinstance(bar, NoTangent), f"{row.name}: argument {i}"
                continue
            total = sum(np.conj(part[i]) * seed for part, seed in zip(found, seeds))
            total = total if np.iscomplexobj(args[i]) else np.real(total)
            assert_close(bar, np.broadcast_to(total, np.shape(args[i])), 1e-13, f"{row.name}: pullback")
        for i in movable:
            dots = [_drawn(args[i], rng) if i == j else NoTangent() for j in range(len(args))]
            _, along = pushed(row, args, dots)
            for part, got in zip(found, along, strict=True):
                assert_close(
                    got, part[i] * dots[i] + np.zeros(np.shape(got)), 1e-13, f"{row.name}: pushforward"
                )


def check_forms(row):
    """Numbers, arrays without dimensions, empty ones, every other entry of a longer one, short floats, and a
    column against a row: the same slopes as of an array, in the shape and dtype of the argument.
    """
    args = columns_of(row)[0]
    movable = free(row, args)
    if not movable:
        return
    plain = _cotangents(row, args)
    arrays = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
    for made in (lambda x: x[1].item(), lambda x: np.array(x[1])):
        bars = _cotangents(row, tuple(made(a) if i in arrays else a for i, a in enumerate(args)))
        for i in movable:
            assert np.shape(bars[i]) == () and np.isclose(bars[i], plain[i][1], rtol=1e-12), row.name
    strided = tuple(np.repeat(a, 2)[::2] if i in arrays else a for i, a in enumerate(args))
    empty = tuple(np.empty((0, 2)) if i in arrays else a for i, a in enumerate(args))
    short = tuple(a.astype(np.float32) if i in arrays else a for i, a in enumerate(args))
    bars, none, narrow = (_cotangents(row, xs) for xs in (strided, empty, short))
    for i in movable:
        np.testing.assert_allclose(bars[i], plain[i], rtol=1e-12)
        assert np.shape(none[i]) == (0, 2)
        assert_close(narrow[i], plain[i], 2e-3, f"{row.name} of float32")
    if len(movable) > 1:
        first, second = movable[:2]
        wide = list(args)
        wide[first] = args[first][:, None]
        bars = _cotangents(row, tuple(wide))
        assert np.shape(bars[first]) == np.shape(wide[first]) and np.shape(bars[second]) == np.shape(
            args[second]
        )


def _cotangents(row, args):
    with np.errstate(all="ignore"):
        y = row.target(*args)
    seeds = tuple(np.ones_like(part) for part in outputs(y))
    return pulled(row, args, seeds)[1]


# -- second order --------------------------------------------------------------------------------------------


def curvatures(row, args):
    """`{(k, i, j): the derivative by i of the slope by j of the k-th result}`, of the compiled frule."""
    found, movable = {}, free(row, args)
    frule = rule(row, args, "frule")
    active = (False, True, *[i in movable for i in range(len(args))])
    for j in movable:
        dots = [np.ones_like(a) if i == j else NoTangent() for i, a in enumerate(args)]
        tangents = (NoTangent(), *dots)
        with np.errstate(all="ignore"):
            (y, _), back = PULLBACKS.find(frule, (tangents, *args), {}, active, None)(tangents, *args)
            for k, part in enumerate(outputs(y)):
                for unit in (1.0, 1j) if np.iscomplexobj(part) and not np.iscomplexobj(args[j]) else (1.0,):
                    bars = back(_second_seed(y, k, np.full_like(part, unit)))[2 : 2 + len(args)]
                    for i in movable:
                        bar = _dense(unthunk(bars[i]), np.shape(args[i]))
                        if unit == 1j:  # the part along i of what a real argument moves
                            found[k, i, j] = found[k, i, j] + 1j * bar
                        else:
                            found[k, i, j] = np.conj(bar)
    return found


def _second_seed(y, k, seed):
    if not isinstance(y, tuple):
        return Tangent(tuple, ZeroTangent(), seed)
    count = len(y)
    still = Tangent(tuple, *[ZeroTangent()] * count)
    return Tangent(tuple, still, Tangent(tuple, *[seed if q == k else ZeroTangent() for q in range(count)]))


def _dense(bar, shape):
    return np.zeros(shape) if bar is None or isinstance(bar, AbstractZero) else np.broadcast_to(bar, shape)


def check_curvatures(row, tolerance=2e-6):
    """The derivatives of a row's slopes against differences of the slopes, which have been checked."""
    for args in columns_of(row):
        found = curvatures(row, args)
        for k, i, j in found:

            def slope(*xs, k=k, j=j):
                return np.asarray(slopes(row, xs)[k][j]) + np.zeros(np.shape(xs[j]))

            (wanted,) = difference(slope, args, i)
            assert_close(found[k, i, j], wanted, tolerance, f"{row.name}: slope {j} by {i}")


def check_curvatures_of_mpmath(row, tolerance=1e-7):
    """The same against second derivatives of mpmath's function."""
    for args in columns_of(row):
        found = curvatures(row, args)
        for q, point in enumerate(single(row, args)):
            for i, j in {(i, j) for _, i, j in found if i >= j}:
                orders = [int(n == i) + int(n == j) for n in range(len(point))]
                for k, wanted in enumerate(derivative(row.name, point, orders)):
                    assert_close(found[k, i, j][q], wanted, tolerance, f"{row.name}{point} by {i} and {j}")


def check_orders(row, tolerance=1e-8):
    """The four orders of two modes along a direction, against the derivatives of the slopes."""
    rng = np.random.default_rng(3)
    for args in columns_of(row):
        movable = free(row, args)
        if not movable:
            continue
        pattern = "".join("x" if i in movable else "-" for i in range(len(args)))
        f = WRITTEN[pattern](row.target, *[x for i, x in enumerate(args) if i not in movable])
        xs = tuple(args[i] for i in movable)
        along, found = direction(xs, rng), curvatures(row, args)
        by_argument = dict(zip(movable, along, strict=True))
        seed = seed_of(f(*xs), rng)
        wanted = sum(
            inner(outputs(seed)[k], bar * by_argument[i] * by_argument[j]) for (k, i, j), bar in found.items()
        )
        for order, second in orders(f, xs, along, seed):
            assert_close(second, wanted, tolerance, f"{row.name}: {order}")


# -- wrong rules ---------------------------------------------------------------------------------------------


def _each(change):
    """A mistake made with each slope by itself."""

    def spoilt(row):
        def partials(y, *xs):
            given = row.partials(y, *xs)
            if isinstance(y, tuple):
                return tuple(tuple(p if is_missing(p) else change(p, xs) for p in part) for part in given)
            if isinstance(given, tuple):
                return tuple(p if is_missing(p) else change(p, xs) for p in given)
            return given if is_missing(given) else change(given, xs)

        return partials

    return spoilt


def _elsewhere(shift, stretch):
    """The slopes of a neighbouring point, and those of a function with another value."""

    def spoilt(row):
        def partials(y, *xs):
            moved = [x * stretch + shift if np.asarray(x).dtype.kind in "fc" else x for x in xs]
            with np.errstate(all="ignore"):
                return row.partials(row.target(*moved), *moved)

        return partials

    return spoilt


MISTAKES = {
    "sign": _each(lambda p, xs: -p),
    "factor 2": _each(lambda p, xs: 2 * p),
    "a thousandth too much": _each(lambda p, xs: 1.001 * p),
    "a constant added": _each(lambda p, xs: p + 0.01 * (1 + np.abs(p))),
    "zero": _each(lambda p, xs: 0 * p),
    "one": _each(lambda p, xs: np.ones_like(p)),
    "squared": _each(lambda p, xs: p * p),
    "inverse": _each(lambda p, xs: np.divide(1.01, p)),
    "a factor of the argument": _each(lambda p, xs: p * (2.0 + np.abs(xs[-1]))),
    "of a point nearby": _elsewhere(0.01, 1.02),
}


def missed_mistakes(row):
    """The mistakes made with the slopes of a row that its check does not catch, and how many are none."""
    missed, none = [], []
    for told, spoilt in MISTAKES.items():
        wrong = spoilt(row)
        if not _differs(row, wrong):
            none.append(told)
            continue
        try:
            check_slopes(row, wrong)
        except AssertionError:
            continue
        missed.append(told)
    return missed, none


def most_that_are_none(row):
    """How many may be none: two; seven of a slope of 0, its own negative; all where there is no slope."""
    args = columns_of(row)[0]
    found, movable = slopes(row, args), free(row, args)
    if not movable:
        return len(MISTAKES)
    return 2 if any(np.any(part[i]) for part in found for i in movable) else 7


def _differs(row, wrong):
    for args in columns_of(row):
        with np.errstate(all="ignore"):
            right, spoilt = slopes(row, args), slopes(row, args, wrong)
        for i in free(row, args):
            if not all(np.allclose(a[i], b[i], rtol=1e-5, atol=0) for a, b in zip(right, spoilt)):
                return True
    return False
