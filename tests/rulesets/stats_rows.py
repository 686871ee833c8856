"""What is checked of a distribution of `scipy.stats`, a row at a time: the slopes of all its methods against
differences of high order of SciPy's own methods, in both modes; and mistakes in what a row states.
"""

import contextlib
import functools

import numpy as np
from rule_points import rule_at
from special_rows import assert_close, difference
from stats_oracle import density, slope_of_density, slope_of_moment, slope_of_probability

import rulelab as rl
from rulelab.rules.registry import DEFAULT
from rulelab.rules.targets import resolve
from rulelab.rulesets import scipy_stats_rows
from rulelab.rulesets.catalogue import stats_tables
from rulelab.tangents.missing import NotImplementedTangent
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import AbstractZero, NoTangent

OF_VALUE = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
OF_COUNT = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
OF_PARAMETERS = ("mean", "var", "std", "entropy")
PROBABILITIES = np.array([0.3, 0.62, 0.9])
ROWS = {
    row.name: row
    for table in stats_tables()
    if isinstance(table, scipy_stats_rows.DistributionTable)
    for row in table.rows.values()
}
LOC, SCALE = 0.4, np.array([1.3, 0.7, 1.1])


INTEGRATED = {"vonmises"}  # SciPy finds the moments of these by integrals, which take seconds each


def methods(row):
    """The methods of a distribution that take a value first, and those that take parameters alone."""
    of_parameters = () if row.name in INTEGRATED else OF_PARAMETERS
    return (*(OF_COUNT if row.discrete else OF_VALUE), *of_parameters, "median")


def arguments(row, name):
    """The arguments of a method by position: arrays for the value and each shape, place and scale."""
    shapes = [np.array(column) for column in row.at[1:]]
    values = np.array(row.at[0])
    if row.discrete:
        first, rest = values + 2, [*shapes, 2]
    else:
        first, rest = LOC + SCALE * values, [*shapes, LOC, SCALE]
    if name in OF_PARAMETERS or name == "median":
        return tuple(rest)
    return (PROBABILITIES if name in ("ppf", "isf") else first, *rest)


def free(row, name):
    """Which arguments are numbers that there may be a slope by."""
    args = arguments(row, name)
    kinds = [np.asarray(x).dtype.kind == "f" for x in args]
    whole_first = row.discrete and name in OF_COUNT
    return [i for i, is_real in enumerate(kinds) if is_real and not (whole_first and i == 0)]


@functools.cache
def differences(row, name):
    """The derivatives of a method by each argument, elementwise."""
    method, args = getattr(row.instance, name), arguments(row, name)
    whole = len(np.broadcast_shapes(*map(np.shape, args)))
    spread = [np.broadcast_to(x, (3,)) if whole else x for x in args]
    return {i: difference(lambda *xs: method(*xs), spread, i)[0] for i in free(row, name)}


def bars(row, name, seed=1.0):
    """The cotangents of a method's arguments by its rrule."""
    with np.errstate(all="ignore"):
        y, back = rl.rrule(getattr(row.instance, name), *arguments(row, name))
        return y, [unthunk(bar) for bar in back(np.full(np.shape(y), seed))[1:]]


def pushed(row, name, i):
    """The tangent of a method for that of one argument, by its frule."""
    args, target = arguments(row, name), resolve(getattr(row.instance, name))[0]
    dots = [np.ones(np.shape(x)) if i == k else NoTangent() for k, x in enumerate(args)]
    given = (row.instance, *args)
    with np.errstate(all="ignore"):
        return rule_at(DEFAULT, target, given, "frule").function((NoTangent(), NoTangent(), *dots), *given)[1]


def check_slopes(row, names=None, tolerance=2e-7):
    """All slopes of the methods that there are, against differences; how many were looked at."""
    count = 0
    for name in names or methods(row):
        y, found = bars(row, name)
        for i, wanted in differences(row, name).items():
            if isinstance(found[i], (NotImplementedTangent, AbstractZero)):
                continue
            told = f"{row.name}.{name} by argument {i}"
            keep = np.isfinite(wanted)
            y_dot = np.broadcast_to(pushed(row, name, i), np.shape(wanted))
            assert_close(y_dot[keep], wanted[keep], tolerance, told)
            total = np.asarray(found[i])
            summed = y_dot if np.shape(total) else np.sum(y_dot)
            np.testing.assert_allclose(total, summed, rtol=1e-11, atol=1e-13, err_msg=told)
            count += 1
    return count


def check_mpmath(row, tolerance=1e-10):
    """The slopes of the logarithm of the density by everything, and those of probabilities and quantiles by
    the value, against what mpmath says of the density; how many were looked at.
    """
    name = "logpmf" if row.discrete else "logpdf"
    found, count = bars(row, name)[1], 0
    for i in free(row, name):
        if not isinstance(found[i], (NotImplementedTangent, AbstractZero)):
            wanted = [slope_of_density(row.name, xs, i, row.discrete) for xs in points(row, name)]
            assert_close(along(row, name, i), wanted, tolerance, f"{row.name}.{name} by argument {i}")
            count += 1
    if not row.discrete:
        wanted = [density(row.name, xs) for xs in points(row, "cdf")]
        assert_close(along(row, "cdf", 0), wanted, tolerance, f"{row.name}.cdf by its value")
        assert_close(along(row, "sf", 0), -np.array(wanted), tolerance, f"{row.name}.sf by its value")
        values = np.broadcast_to(row.instance.ppf(*arguments(row, "ppf")), (3,))
        at_quantiles = [density(row.name, (x, *xs[1:])) for x, xs in zip(values, points(row, "ppf"))]
        assert_close(along(row, "ppf", 0) * at_quantiles, np.ones(3), tolerance, f"{row.name}.ppf")
        count += 3
    return count


def check_integrals(row, tolerance=1e-7):
    """The slopes by shapes of probabilities, means, variances and entropies, against integrals of the density
    as mpmath has it; how many were looked at.
    """
    count = 0
    for name in ("cdf", *[name for name in methods(row) if name in ("mean", "var", "entropy")]):
        found, first = bars(row, name)[1], int(name == "cdf")
        for i in range(len(row.shapes)):
            bar = found[first + i]
            if isinstance(bar, (NotImplementedTangent, AbstractZero)):
                continue
            told = f"{row.name}.{name} by {row.shapes[i]}"
            wanted = [_by_shape(row, name, xs, i) for xs in points(row, name)]
            assert_close(along(row, name, first + i), wanted, tolerance, told)
            count += 1
    return count


def _by_shape(row, name, xs, i):
    """At one point: of the standardised distribution, and stretched."""
    value, shapes = (xs[0], xs[1:]) if name == "cdf" else (None, xs)
    shapes, (loc, *scale) = shapes[: len(row.shapes)], shapes[len(row.shapes) :]
    scale = scale[0] if scale else 1.0
    if name == "cdf":
        return slope_of_probability(row.name, (value - loc) / scale, shapes, i)
    return slope_of_moment(row.name, name, shapes, i) * {"mean": scale, "var": scale**2}.get(name, 1.0)


def points(row, name):
    """The arguments of a method, number by number."""
    return list(zip(*[np.broadcast_to(x, (3,)) for x in arguments(row, name)], strict=True))


def along(row, name, i):
    """The slope by one argument at each of the three values, by the frule."""
    return np.broadcast_to(pushed(row, name, i), (3,))


# -- wrong rows ----------------------------------------------------------------------------------------------

MISTAKES = {
    "sign": lambda slope: -slope,
    "factor 2": lambda slope: 2 * slope,
    "a thousandth too much": lambda slope: 1.001 * slope,
    "a constant added": lambda slope: slope + 0.01 * (1 + np.abs(slope)),
    "zero": lambda slope: 0 * slope,
    "squared": lambda slope: slope * slope + 0.01,
}


@contextlib.contextmanager
def stated_as(row, spoilt):
    """A block in which another row is stated of a distribution."""
    kind = type(row.instance)
    try:
        scipy_stats_rows._ROWS[kind] = spoilt
        yield
    finally:
        scipy_stats_rows._ROWS[kind] = row


def spoilt_rows(row, change):
    """A row with one of its slopes changed, for each that it states, and the methods that show it."""

    def wrong(slope):
        if isinstance(slope, tuple):
            return slope[0], lambda *xs: slope[1](*xs) + 0.01
        return lambda *xs: change(slope(*xs))

    shown = {
        "density": ("logpmf",) if row.discrete else ("logpdf",),
        "moves": ("cdf",) if row.discrete else ("ppf",),
        "rates": ("logcdf", "logsf"),
        "mean": ("mean",),
        "var": ("var",),
        "entropy": ("entropy",),
    }
    for field, names in shown.items():
        stated = getattr(row, field)
        for i, slope in enumerate(stated):
            if slope is None or isinstance(slope, (NotImplementedTangent, AbstractZero)):
                continue
            changed = (*stated[:i], wrong(slope), *stated[i + 1 :])
            yield f"{field} {i}", row._replace(**{field: changed}), names


def missed_mistakes(row):
    """The mistakes made with what a row states that its check does not see, and that are none: 0 for 0."""
    missed = []
    for told, change in MISTAKES.items():
        for where, spoilt, names in spoilt_rows(row, change):
            if not differs(row, spoilt, names):
                continue
            with stated_as(row, spoilt):
                try:
                    check_slopes(spoilt, names)
                except AssertionError:
                    continue
            missed.append((told, where))
    return missed


def differs(row, spoilt, names):
    """Whether a changed row gives other slopes."""
    for name in names:
        right = bars(row, name)[1]
        with stated_as(row, spoilt):
            wrong = bars(spoilt, name)[1]
        for a, b in zip(right, wrong, strict=True):
            if isinstance(a, (float, np.ndarray, np.generic)) and not np.allclose(a, b, rtol=1e-5, atol=0):
                return True
    return False
