"""Difference methods in one variable that estimate their own steps and errors, and extrapolation.

A method is a grid of points and exact weights for them. The distance of the points is computed from the size
of a higher derivative of the function and from the accuracy of its values, as in FiniteDifferences.jl.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...shown_options import shows_options_of
from ..findiff import noise_level

INSIDE = 0.9
"""The fraction of the distance to an end of the domain that the points may use: the end may not belong to the
domain.
"""


SHRINKS = 12
"""How often the points move closer, each time to an eighth of the distance, if a function has no value."""

WIDER_TRIES = 3
"""How often the step is tried and doubled with which the size of a high derivative is estimated, if rounding
hides it.
"""

_EVERYWHERE = (-math.inf, math.inf)


# --- methods: a grid and its weights


@lru_cache(maxsize=512)
def _weights(grid: tuple[int, ...], q: int) -> tuple[Fraction, ...]:
    """The exact weights of the values at the points of a grid in the `q`-th derivative at zero."""
    weights = [[Fraction(0)] * len(grid) for _ in range(q + 1)]
    weights[0][0] = Fraction(1)
    product, near = Fraction(1), Fraction(grid[0])
    for n in range(1, len(grid)):
        newer, before, at = Fraction(1), near, Fraction(grid[n])
        near = at
        for m in range(n):
            gap = at - grid[m]
            newer *= gap
            if m == n - 1:
                for k in range(min(n, q), -1, -1):
                    below = weights[k - 1][n - 1] if k else 0
                    weights[k][n] = product / newer * (k * below - before * weights[k][n - 1])
            for k in range(min(n, q), -1, -1):
                below = weights[k - 1][m] if k else 0
                weights[k][m] = (at * weights[k][m] - k * below) / gap
        product = newer
    return tuple(weights[q])


@lru_cache(maxsize=512)
def _rounded_weights(grid: tuple[int, ...], q: int) -> np.ndarray:
    """The same as longdoubles, which are converted to narrower precisions where needed; read-only by
    convention.
    """
    return np.array([np.longdouble(w.numerator) / np.longdouble(w.denominator) for w in _weights(grid, q)])


@lru_cache(maxsize=512)
def _noise_weight(grid: tuple[int, ...], q: int) -> float:
    """By which factor the rounding error of a `q`-th derivative is larger than that of a value, for the step
    1.
    """
    return float(sum(abs(c) for c in _weights(grid, q)))


@lru_cache(maxsize=512)
def _bend_weight(grid: tuple[int, ...], q: int) -> float:
    """The coefficient of the first neglected derivative in the error of the `q`-th one, for the step 1."""
    p = len(grid)
    return float(sum(abs(c * g**p) for c, g in zip(_weights(grid, q), grid)) / math.factorial(p))


@dataclass(frozen=True)
class FiniteDifferenceMethod:
    """A method for the `q`-th derivative: a weighted sum of the values of a function at the points of a grid.

    `m(f, x)` is the derivative of `f` at `x` with an estimated step, `m(f, x, step)` with a given one. `f`
    takes a number and returns a number or an array, of which each entry is then differentiated, all with one
    step: the smallest of those estimated for the entries.

    Where `f` raises ArithmeticError or ValueError, or has no finite real value at a point, the points move
    closer to `x`, or to one side of it, and a RuntimeWarning says so; the derivative is nan where that does
    not help.

    After FiniteDifferences.jl (W. Bruinsma and others); the weights by B. Fornberg, "Generation of finite
    difference formulas on arbitrarily spaced grids", Mathematics of Computation 51 (1988) 699-706,
    doi:10.1090/S0025-5718-1988-0935077-0.

    Parameters
    ----------
    grid : sequence of int
        Different integers, multiples of the step. Their number `p`, greater than `q`, is the order of the
        method.
    q : int
        Which derivative.
    adapt : int
        How often the size of the `p`-th derivative, on which the step depends, is itself estimated by
        differences; with 0 it is taken to be `condition`.
    condition : float
        The size of the `p`-th derivative relative to the function, if nothing is known.
    factor : float or "auto"
        The error of the values of `f` as a multiple of rounding; "auto" measures it.
    max_range : float
        No point lies further from `x` than this.
    domain : tuple of float
        (lo, hi), between which `f` is called. Near an end the points move closer, or to the other side.
    geom : bool
        Whether the grid's distances grow geometrically; only used if `adapt` is positive.

    Raises
    ------
    ValueError
        For a grid that makes no sense, and from a call for `x` outside the domain.

    Examples
    --------
    >>> m = FiniteDifferenceMethod([-2, 0, 5], 1)
    >>> [str(weight) for weight in m.coefs]
    ['-5/14', '3/10', '2/35']
    >>> round(m(math.sin, 1.0), 10) == round(math.cos(1.0), 10)
    True
    """

    grid: tuple[int, ...]
    q: int
    adapt: int = 1
    condition: float = 10.0
    factor: float | str = 1.0
    max_range: float = math.inf
    domain: tuple[float, float] = _EVERYWHERE
    geom: bool = False

    def __post_init__(self):
        grid = tuple(int(g) for g in self.grid)
        if any(g != given for g, given in zip(grid, self.grid)) or len(set(grid)) != len(grid):
            raise ValueError(f"a grid must consist of different integers, not {list(self.grid)}")
        if self.q < 0:
            raise ValueError(f"the order of a derivative must be at least 0, not {self.q}")
        if self.q >= len(grid):
            raise ValueError(f"a derivative of order {self.q} needs more than {len(grid)} points")
        if self.factor != "auto" and not (isinstance(self.factor, (int, float)) and self.factor > 0):
            raise ValueError(f'factor must be a positive number or "auto", not {self.factor!r}')
        object.__setattr__(self, "grid", grid)

    @property
    def p(self) -> int:
        """The number of points, which is the order of the method."""
        return len(self.grid)

    @cached_property
    def coefs(self) -> tuple[Fraction, ...]:
        """The weights of the values at the grid's points, for the step 1."""
        return _weights(self.grid, self.q)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the points are symmetric about zero, so that the error has even powers of the step only."""
        return sorted(self.grid) == sorted(-g for g in self.grid)

    def __call__(self, f: Callable[..., Any], x: float, step: float | None = None) -> Any:
        x = _point(self, x)
        if self.q == 0:
            return f(x)
        if step is not None:
            return self._value(f, x, step)
        plan = _planned(self, f, x)
        return plan.method._value(f, x, plan.step)

    def _value(self, f: Callable, x: Any, step: float) -> Any:
        sample = _sampled(self, f, x, step)
        return math.nan if sample is None else sample.derivative(self.q)

    @cached_property
    def _spread(self) -> int:
        return max(abs(g) for g in self.grid)

    @property
    def _noise_weight(self) -> float:
        return _noise_weight(self.grid, self.q)

    @property
    def _bend_weight(self) -> float:
        return _bend_weight(self.grid, self.q)

    @cached_property
    def _bound_estimator(self) -> FiniteDifferenceMethod:
        """The method that estimates the `p`-th derivative, with two more points."""
        return replace(self, grid=_wider(self.grid, self.geom), q=self.p, adapt=self.adapt - 1)


@shows_options_of(FiniteDifferenceMethod, but=("grid",))
def central_fdm(p: int, q: int = 1, *, geom: bool = False, **options: Any) -> FiniteDifferenceMethod:
    """The method with `p` points on both sides of `x` for the `q`-th derivative.

    Parameters
    ----------
    p : int
        How many points; with an even number, `x` itself is not among them.
    q : int
        Which derivative.
    geom : bool
        Whether the distances are powers of 3.
    **options
        Those of `FiniteDifferenceMethod`.

    Returns
    -------
    FiniteDifferenceMethod
        The method, to be called as `method(f, x)`.

    Raises
    ------
    ValueError
        If there are not more points than the order of the derivative.

    Examples
    --------
    >>> central_fdm(5).grid, central_fdm(4).grid, central_fdm(5, geom=True).grid
    ((-2, -1, 0, 1, 2), (-2, -1, 1, 2), (-3, -1, 0, 1, 3))
    >>> abs(central_fdm(5)(math.sin, 1.0) - math.cos(1.0)) < 1e-13
    True
    """
    half = p // 2
    return _method([g for g in range(-half, half + 1) if g or p % 2], q, geom, options)


@shows_options_of(FiniteDifferenceMethod, but=("grid",))
def forward_fdm(p: int, q: int = 1, *, geom: bool = False, **options: Any) -> FiniteDifferenceMethod:
    """The method with `p` points at `x` and above for the `q`-th derivative.

    Parameters
    ----------
    p : int
        How many points.
    q : int
        Which derivative.
    geom : bool
        Whether the distances are powers of 3.
    **options
        Those of `FiniteDifferenceMethod`.

    Returns
    -------
    FiniteDifferenceMethod
        The method, to be called as `method(f, x)`.

    Raises
    ------
    ValueError
        If there are not more points than the order of the derivative.

    Examples
    --------
    >>> forward_fdm(3).grid, abs(forward_fdm(5)(math.log, 1.0) - 1.0) < 1e-10
    ((0, 1, 2), True)
    """
    return _method(range(p), q, geom, options)


@shows_options_of(FiniteDifferenceMethod, but=("grid",))
def backward_fdm(p: int, q: int = 1, *, geom: bool = False, **options: Any) -> FiniteDifferenceMethod:
    """The method with `p` points at `x` and below for the `q`-th derivative.

    Parameters
    ----------
    p : int
        How many points.
    q : int
        Which derivative.
    geom : bool
        Whether the distances are powers of 3.
    **options
        Those of `FiniteDifferenceMethod`.

    Returns
    -------
    FiniteDifferenceMethod
        The method, to be called as `method(f, x)`.

    Raises
    ------
    ValueError
        If there are not more points than the order of the derivative.

    Examples
    --------
    >>> backward_fdm(3).grid
    (-2, -1, 0)
    """
    return _method(range(1 - p, 1), q, geom, options)


def _method(grid, q, geom, options) -> FiniteDifferenceMethod:
    points = tuple(_geometric(g) if geom else g for g in grid)
    return FiniteDifferenceMethod(points, q, geom=geom, **options)


def _geometric(g: int) -> int:
    return int(math.copysign(3 ** (abs(g) - 1), g)) if g else 0


def _wider(grid: tuple[int, ...], geom: bool) -> tuple[int, ...]:
    """The grid with two more points: one beyond each end, or both beyond the end of a one-sided grid."""

    def beyond(end: int, sign: int) -> int:
        return end * 3 if geom and end * sign > 0 else end + sign

    low, high = min(grid), max(grid)
    if low >= 0:
        return (*grid, beyond(high, 1), beyond(beyond(high, 1), 1))
    if high <= 0:
        return (beyond(beyond(low, -1), -1), beyond(low, -1), *grid)
    return (beyond(low, -1), *grid, beyond(high, 1))


# --- values at the points


@dataclass(frozen=True)
class _Sample:
    """The values of a function at `x + step * g` for each `g` of a grid; an array of shape (p, …)."""

    grid: tuple[int, ...]
    step: Any
    values: np.ndarray

    def derivative(self, q: int, around: int = 0) -> Any:
        """The `q`-th derivative, `around` steps away from `x`."""
        weights = _rounded_weights(tuple(g - around for g in self.grid), q)
        with np.errstate(all="ignore"):
            value = np.tensordot(weights.astype(self.values.real.dtype), self.values, 1) / self.step**q
        return value[()] if value.ndim else value.item() if value.dtype == np.float64 else value[()]

    def largest(self, q: int) -> np.ndarray:
        """The largest size of the `q`-th derivative at `x` and one step to each side, or two to one side."""
        first = 0 if min(self.grid) >= 0 else -2 if max(self.grid) <= 0 else -1
        return np.max([np.abs(self.derivative(q, place)) for place in range(first, first + 3)], axis=0)

    def rounding(self, m: FiniteDifferenceMethod) -> float:
        """The error of the derivative by `m` from the rounding of the values."""
        last_digit = np.spacing(np.max(np.abs(self.values), axis=0))
        return _norm(last_digit) * m._noise_weight / float(self.step) ** m.q


def _point(m: FiniteDifferenceMethod, x: Any) -> Any:
    x = x if isinstance(x, np.floating) and x.dtype != np.float64 else float(x)
    low, high = m.domain
    if not low <= x <= high:
        raise ValueError(f"{x:g} is not between {low:g} and {high:g}, where the function may be called")
    return x


def _eps(x: Any) -> float:
    return float(np.finfo(x.dtype if isinstance(x, np.floating) else np.float64).eps)


def _sampled(m: FiniteDifferenceMethod, f: Callable, x: Any, step: float) -> _Sample | None:
    """The values at the grid's points; at points closer to `x`, or on one side, if some have no value. None
    if even these have none.
    """
    if not step > 0 or not math.isfinite(step):
        return None
    grid, failure = m.grid, None
    for side in (None, 1, -1):
        if side is not None:
            if not _works(f, x + side * step * 1e-6):
                continue
            grid = tuple(side * (abs(g - min(m.grid))) for g in m.grid)
        for shrink in range(SHRINKS):
            h = type(x)(step / 8**shrink)
            values, failed = _asked(f, x, grid, h)
            if failed is None:
                if failure is not None:
                    _warn(f, failure, grid, h)
                return _Sample(grid, h, values)
            failure = failure or failed
    if failure is not None:
        said = f"{name_shown(f)} has no value at {failure}, nor close to {x:g}"
        warnings.warn(said, RuntimeWarning, stacklevel=5)
    return None


def _works(f: Callable, point: Any) -> bool:
    return _asked(f, point, (0,), 0.0)[1] is None


def _asked(f: Callable, x: Any, grid: tuple[int, ...], step: Any) -> tuple[np.ndarray, str | None]:
    """The values at the points, with None; or no values, with the first point that has none, in words."""
    values: list[np.ndarray] = []
    for g in grid:
        point = x + step * g
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(f(point))
        except TypeError:  # a mistake in the call, not a point without a value
            raise
        except Exception as error:  # of any class: an assertion, the author's own error class
            return np.empty(0), f"{point:.6g} ({error or type(error).__name__})"
        if value.dtype.kind in "iub":
            value = value.astype(np.float64)
        if not np.all(np.isfinite(value)):
            return np.empty(0), f"{point:.6g}"
        if values and (value.dtype.kind == "c") != (values[0].dtype.kind == "c"):
            return np.empty(0), f"{point:.6g} (it is complex there, and real elsewhere)"
        values.append(value)
    return np.array(values), None


def _warn(f: Callable, failure: str, grid: tuple[int, ...], step: Any) -> None:
    sides = "both sides" if min(grid) < 0 < max(grid) else "one side"
    reach = step * max(abs(g) for g in grid)
    warnings.warn(
        f"{name_shown(f)} has no value at {failure}; it is called within {reach:.2g} on {sides} instead",
        RuntimeWarning,
        stacklevel=6,
    )


def name_shown(f: Any) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


# --- steps


def estimate_step(m: FiniteDifferenceMethod, f: Callable[..., Any], x: float) -> tuple[float, Any]:
    """The step that `m` takes for `f` at `x`, and the estimated error of the derivative.

    The step balances the rounding of the values against the terms that the method neglects.

    Parameters
    ----------
    m : FiniteDifferenceMethod
        The method.
    f : callable
        A function of one number.
    x : float
        The point.

    Returns
    -------
    tuple
        The step, and the error, which has the shape of the values of `f`. The error is nan if the step was
        limited by `max_range`, or to 1000 times the step for a function about which nothing is known.

    Raises
    ------
    ValueError
        If `x` lies outside the domain of the method.

    Examples
    --------
    >>> step, error = estimate_step(central_fdm(5), math.sin, 1.0)
    >>> step, round(float(error), 14)
    (0.0009765625, 2e-13)
    """
    plan = _planned(m, f, _point(m, x))
    return float(plan.step), plan.error * math.nan if plan.limited else plan.error


def _planned(m: FiniteDifferenceMethod, f: Callable, x: Any) -> _Plan:
    """The method to be used (another one near the end of a domain), with its step."""
    if m.factor == "auto":
        m = replace(m, factor=1.0)
        m = replace(m, factor=_noise_factor(m, f, x))
    plan, *others = [_plan(placed, room, f, x) for placed, room in _placements(m, x)]
    for other in others:
        if _worst(other.error) < _worst(plan.error) and _confirms(other, plan, f, x):
            plan = other
    return plan


def _confirms(other: _Plan, plan: _Plan, f: Callable, x: Any) -> bool:
    """Whether the derivative by another placement lies within the error of the first one. Its own error
    estimate does not suffice, since it may miss a singularity at the end of the domain.
    """
    ours, theirs = (each.method._value(f, x, each.step) for each in (plan, other))
    return bool(np.all(np.abs(ours - theirs) <= 3 * plan.error)) or not np.all(np.isfinite(ours))


def _worst(error: Any) -> float:
    worst = float(np.max(error, initial=0.0))
    return worst if math.isfinite(worst) else math.inf


def _placements(m: FiniteDifferenceMethod, x: Any) -> list[tuple[FiniteDifferenceMethod, float]]:
    """The method and, if the domain leaves it little room, its variants with all points on one side; each
    with the largest step that fits.
    """
    low, high = m.domain

    def room(grid: tuple[int, ...]) -> float:
        return INSIDE * min(
            (high - x) / max(grid) if max(grid) > 0 else math.inf,
            (low - x) / min(grid) if min(grid) < 0 else math.inf,
        )

    found = [(m, room(m.grid))]
    if found[0][1] < _default(m, x)[0]:
        shifted = (tuple(g - min(m.grid) for g in m.grid), tuple(g - max(m.grid) for g in m.grid))
        found += [(replace(m, grid=grid), room(grid)) for grid in shifted]
    return [(placed, space) for placed, space in found if space > 0] or found


class _Plan(NamedTuple):
    """A method with its step, the estimated error of the derivative, and whether the step was limited by
    something other than the domain.
    """

    method: FiniteDifferenceMethod
    step: float
    error: Any
    limited: bool


def _plan(m: FiniteDifferenceMethod, room: float, f: Callable, x: Any) -> _Plan:
    step, _ = _default(m, x)
    longest = min(m.max_range / m._spread, 1000 * step)
    bend, noise = np.asarray(m.condition), np.asarray(_eps(x))
    if m.adapt >= 1:
        bend, noise = _magnitudes(m, f, x)
        counts = (bend > 0) & (noise > 0) & np.isfinite(bend)
        if np.any(counts):
            step = float(np.min(_balanced(m, bend[counts], noise[counts])))
    limited = step > longest
    step = _exact(step, min(longest, room))
    with np.errstate(all="ignore"):
        error = _error(m, bend, noise, step) if step > 0 else np.full(bend.shape, math.inf)
    return _Plan(m, step, error[()], limited)


def _exact(step: float, longest: float) -> float:
    """The nearest power of two that is no more than `longest`, so that `x` plus its multiples is often exact;
    the step itself if there is none.
    """
    step = min(step, longest)
    if not 0 < step < math.inf:
        return step
    rounded = 2.0 ** round(math.log2(step))
    return rounded if rounded <= longest else step


def _default(m: FiniteDifferenceMethod, x: Any) -> tuple[float, float]:
    """The step and the error for a function of which only `condition` is known."""
    step = _balanced(m, m.condition, _eps(x))
    return step, _error(m, m.condition, _eps(x), step)


def _balanced(m: FiniteDifferenceMethod, bend: Any, noise: Any) -> Any:
    """The step that minimises the sum of the rounding error and the neglected terms."""
    ratio = noise * m._noise_weight * m.factor / (bend * m._bend_weight)
    return (m.q / (m.p - m.q) * ratio) ** (1 / m.p)


def _error(m: FiniteDifferenceMethod, bend: Any, noise: Any, step: float) -> Any:
    noise, bend = noise * m._noise_weight * m.factor, bend * m._bend_weight
    return noise * step**-m.q + bend * step ** (m.p - m.q)


def _magnitudes(m: FiniteDifferenceMethod, f: Callable, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The size of the `p`-th derivative around `x`, and the rounding of the values there, for each entry."""
    estimator, step, _, limited = _planned(m._bound_estimator, f, x)
    once = limited or estimator.domain != _EVERYWHERE
    bend = size = np.asarray(math.nan)
    for _ in range(1 if once else WIDER_TRIES):
        sample = _sampled(estimator, f, x, step)
        if sample is None:
            break
        found, size = sample.largest(estimator.q), np.max(np.abs(sample.values), axis=0)
        bend = np.fmin(bend, found)
        if np.all(found > 2 * sample.rounding(estimator)) or step * 2 * estimator._spread > m.max_range:
            break
        step *= 2  # the result was rounding error, which is less at a larger step
    return np.asarray(bend, float), np.where(size > 0, np.spacing(size), 0.0).astype(float)


def _noise_factor(m: FiniteDifferenceMethod, f: Callable, x: Any) -> float:
    """The noise of `f` near `x` as a multiple of rounding, for the entry in which it is largest."""
    distance = type(x)(1e-4 * min(_default(m, x)[0], INSIDE * max(m.domain[1] - x, x - m.domain[0])))
    for sign in (1, -1):
        values, failed = _asked(f, x, tuple(sign * k for k in range(7)), distance)
        if failed is None and m.domain[0] <= x + 6 * sign * distance <= m.domain[1]:
            size = np.max(np.abs(values), axis=0)
            factors = noise_level(values) / np.where(size > 0, np.spacing(size), math.inf)
            return float(max(1.0, np.max(factors, initial=1.0)))
    return 1.0


# --- extrapolation


def extrapolate_fdm(
    m: FiniteDifferenceMethod,
    f: Callable[..., Any],
    x: float,
    initial_step: float = 10.0,
    power: int = 1,
    breaktol: float = math.inf,
    contract: float = 0.125,
) -> tuple[Any, float]:
    """The derivative by `m` with smaller and smaller steps, extrapolated to the step zero, and its error.

    It ends when the error (the change by the last extrapolation plus the rounding) is at most 1.5e-8 of the
    value, when the smallest change in a row is more than `breaktol` times the error, or when rounding alone
    is more than the error. Arrays are compared by norm. A step at which `f` has no value is skipped.

    This is Richardson extrapolation in Neville's tableau, as in Richardson.jl by S. G. Johnson.

    Parameters
    ----------
    m : FiniteDifferenceMethod
        The method.
    f : callable
        A function of one number.
    x : float
        The point.
    initial_step : float
        The first step.
    power : int
        The error is a series in this power of the step. For a method whose points are symmetric it is 2,
        whatever is given.
    breaktol : float
        When to stop: see above.
    contract : float
        The ratio of each step to the one before.

    Returns
    -------
    tuple
        The derivative and its error; `(nan, inf)` if `f` has no value.

    Raises
    ------
    ValueError
        If `x` lies outside the domain of the method.

    Examples
    --------
    >>> value, error = extrapolate_fdm(central_fdm(2), math.sin, 1.0)
    >>> abs(value - math.cos(1.0)) < 1e-13
    True
    """
    if not 0 < contract < 1:
        raise ValueError(f"contract must be between 0 and 1, so that steps become smaller, not {contract!r}")
    x, step = _point(m, x), float(initial_step)
    best, error = math.nan, math.inf
    ratio = contract ** -(2 if m.symmetric else power)
    row: list[Any] = []
    while step > _eps(x) * max(abs(x), 1e-300) and step > 1e-300:
        sample = _at_step(m, f, x, step)
        step *= contract
        if sample is None:
            continue
        value, noise = sample.derivative(m.q), sample.rounding(m)
        if noise > error:
            break
        row, changes = _extended(row, value, ratio)
        changes = [(candidate, change + noise) for candidate, change in changes]
        smallest = min((change for _, change in changes), default=math.inf)
        for candidate, change in changes:
            if change < error:
                best, error = candidate, change
        if len(row) == 1:
            best = value
        elif smallest > breaktol * error or error <= 2.0**-26 * _norm(best):
            break
    return best, error


def _at_step(m: FiniteDifferenceMethod, f: Callable, x: Any, step: float) -> _Sample | None:
    low, high = m.domain
    if not all(low <= x + step * g <= high and abs(step * g) <= m.max_range for g in m.grid):
        return None
    values, failed = _asked(f, x, m.grid, type(x)(step))
    return None if failed is not None else _Sample(m.grid, type(x)(step), values)


def _extended(row: list[Any], value: Any, ratio: float) -> tuple[list[Any], list[tuple[Any, float]]]:
    """The next row of the tableau, and each new entry with its change from the entry it replaces."""
    new, changes, factor = [value], [], ratio
    for old in reversed(row):
        new.insert(0, new[0] + (new[0] - old) / (factor - 1))
        changes.append((new[0], _norm(new[0] - old)))
        factor *= ratio
    return new, changes


def _norm(value: Any) -> float:
    """The Euclidean norm, also of numbers whose squares are zero or infinite."""
    numbers = np.ravel(value)
    largest = float(np.max(np.abs(numbers), initial=0.0))
    return largest * float(np.linalg.norm(numbers / largest)) if 0.0 < largest < np.inf else largest
