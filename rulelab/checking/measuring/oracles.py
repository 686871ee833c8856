"""Derivatives measured with an error bar, and returned only where two families of differences agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..findiff import noise_level

RATIO = 3.0
"""The ratio of one step to the next in the ladder of central differences."""
LEVELS = 6
"""The number of steps in the ladder."""
FIRST = 0.3
"""The first step of the ladder, as a fraction of the length on which the function is assumed to change."""
NODES = np.array([0.09, 0.32, 0.66, 1.0])
"""The points of the one-sided differences, as fractions of their largest step."""
ONE_SIDED = 2.0
"""That largest step, as a multiple of the smallest step in the chosen central difference."""
NEAR_NOISE = 1e-6
"""The distance between the points at which noise is measured, as a fraction of the same length."""
JUMP = 1e-9
"""The fraction of its value by which a function has to jump close to `x` to be noticed: less counts as
rounding.
"""
LEAP = 1e-2
"""A change between `x` and the points of the differences is a leap if it exceeds this fraction of the largest
number. If any number of the output leaps, the others are not used either: an eigenvector with another sign.
"""
TOO_NOISY = 1e-3
"""The noise, as a fraction of the values, at which nothing is known: it may be a very fast oscillation."""
LOWER_ORDER = 0.1
"""The fraction of the last extrapolation that counts as error, besides the change from step to step."""
SAFETY = 2.0
"""The ratio of an error bar to the estimated error."""


@dataclass(frozen=True)
class Measured:
    """Numbers found by differences, each with its error bar.

    Attributes
    ----------
    value : ndarray of float64
        The numbers; nan where none is known.
    error : ndarray of float64
        The error bar of each, in the same shape; inf where the function has no value nearby, or where
        two families of differences do not agree, as at a kink, a jump or the edge of a domain.

    Examples
    --------
    >>> found = measured_jacobian(np.abs, np.array([0.0, -2.0]))
    >>> found.known()
    array([[False,  True],
           [ True,  True]])
    """

    value: np.ndarray
    error: np.ndarray

    def known(self) -> np.ndarray:
        """Which numbers are known: true where the error bar is finite."""
        return np.isfinite(self.error)


def measured_jvp(f: Callable[..., Any], x: np.ndarray, v: np.ndarray, *, domain: Any = None) -> Measured:
    """The derivative of `f(x + t * v)` with respect to `t` at 0, for `f` from real vectors to real vectors.

    A point at which `f` raises ArithmeticError or ValueError, or has no finite real value, is left out.

    Parameters
    ----------
    f : callable
        A function from vectors of shape (n,) to vectors of shape (m,). It is called about 27 times, and up
        to 50 times if the first steps were unsuitable, each time with a fresh vector.
    x, v : numpy.ndarray
        The point and the direction, of shape (n,).
    domain : optional
        (lo, hi), numbers or arrays of shape (n,): `f` is only called between them.

    Returns
    -------
    Measured
        `value` and `error`, both of shape (m,).

    Raises
    ------
    ValueError
        If `x` lies outside the domain; also what `f` raises at `x` itself.

    Examples
    --------
    >>> found = measured_jvp(np.sin, np.array([1.0]), np.array([2.0]))
    >>> bool(abs(found.value[0] - 2 * np.cos(1.0)) <= found.error[0] < 1e-9)
    True
    """
    x, v = _vector(x, "x"), _vector(v, "v")
    if v.shape != x.shape:
        raise ValueError(f"the direction has shape {v.shape}, but the point has shape {x.shape}")
    value, error = _Measurement(f, x, v[None, :], domain).run()
    return Measured(value[0], error[0])


def measured_jacobian(f: Callable[..., Any], x: np.ndarray, *, domain: Any = None) -> Measured:
    """The Jacobian of `f`, from real vectors to real vectors, at `x`: `value[k, i]` is d f(x)[k] / d x[i].

    `f` is called about 20 times for each column, and up to 36 times for a few. Everything else is as in
    `measured_jvp`.

    Two families of differences must agree. The first are central differences with six steps, each a third
    of the one before, extrapolated to step zero (as in C. J. F. Ridders, Advances in Engineering Software 4
    (1982) 75-76). The second are extrapolated one-sided differences at other distances, on each side
    separately: at a kink the two sides differ, and the entry is unknown. Six points close to `x` show how
    accurately `f` is computed (see `findiff.noise_level`), and the values there must agree with the
    derivatives: those of a step function do not. The error bar is the last change by the extrapolation, plus
    the noise, plus the distance between the families.

    Parameters
    ----------
    f : callable
        A function from vectors of shape (n,) to vectors of shape (m,).
    x : numpy.ndarray
        The point, of shape (n,).
    domain : optional
        (lo, hi), numbers or arrays of shape (n,): `f` is only called between them.

    Returns
    -------
    Measured
        `value` and `error`, both of shape (m, n).

    Raises
    ------
    ValueError
        If `x` lies outside the domain.

    Examples
    --------
    >>> found = measured_jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]), np.array([2.0, 3.0]))
    >>> np.round(found.value, 8)
    array([[3., 2.],
           [0., 6.]])
    """
    x = _vector(x, "x")
    value, error = _Measurement(f, x, None, domain).run()
    return Measured(np.ascontiguousarray(value.T), np.ascontiguousarray(error.T))


def complex_step(f: Callable[..., Any], x: float) -> Any:
    """The derivative at `x` from one value off the real line, `f(x + ih).imag / h`; None if `f` is not shown
    to be analytic there.

    `f` takes a number and returns a number or an array. The result is exact to rounding. Functions without a
    complex derivative (`abs`, `norm`, `var`, `slogdet`, a conjugate) lose the imaginary part, and would give
    0 or a part of the derivative. So the number counts only if the value is complex, its real part is `f(x)`,
    and it is within the error bar of `measured_jvp`.

    W. Squire and G. Trapp, "Using Complex Variables to Estimate Derivatives of Real Functions", SIAM Review
    40 (1998) 110-112, doi:10.1137/S003614459631241X.

    >>> float(complex_step(np.sin, 1.0)) == float(np.cos(1.0))
    True
    >>> print(complex_step(np.abs, -2.0), complex_step(lambda x: x * np.abs(x), 2.0))
    None None
    """
    x = float(x)
    step = 2.0**-100 * max(abs(x), 1.0)
    try:
        with np.errstate(all="ignore"):
            plain, beside = np.asarray(f(x)), np.asarray(f(complex(x, step)))
    except Exception:  # code for real numbers may raise anything
        return None
    if plain.dtype.kind not in "fiu" or beside.dtype.kind != "c" or beside.shape != plain.shape:
        return None
    if not np.allclose(beside.real, plain, rtol=1e-13, atol=0.0):
        return None
    return _confirmed_by_differences(f, x, beside.imag / step)


def mp_derivative(f: Callable[..., Any], x: float) -> float | None:
    """The derivative at `x` of a scalar function, computed with 50 digits and rounded to a float; None if its
    code does not run on mpmath numbers.

    Code that converts the number to a float on its way (`math.sin`) loses digits, and would give a wrong
    derivative. So the number counts only within the error bar of `measured_jvp`.

    >>> mp_derivative(lambda x: x**3 / (1 + x), 2.0) == 28 / 9
    True
    >>> import math
    >>> print(mp_derivative(lambda x: x * math.sin(x), 2.0))
    None
    """
    import mpmath

    x = float(x)
    try:
        with mpmath.workdps(50):
            value = mpmath.diff(f, mpmath.mpf(x))
    except Exception:  # and so may code for floats
        return None
    if not isinstance(value, mpmath.mpf):
        return None
    return _confirmed_by_differences(f, x, np.asarray(float(value)))


def _confirmed_by_differences(f: Callable, x: float, derivative: np.ndarray) -> Any:
    """The derivative if differences agree with each of its entries, otherwise None."""
    if not np.all(np.isfinite(derivative)):
        return None
    try:
        found = measured_jvp(lambda t: np.ravel(f(float(t[0]))), np.array([x]), np.ones(1))
    except Exception:
        return None
    apart = np.abs(found.value - derivative.ravel())
    if not np.all(apart <= found.error + 1e-14 * np.abs(derivative.ravel())) or not found.known().all():
        return None
    return derivative[()] if derivative.ndim else float(derivative)


def _vector(x: Any, name: str) -> np.ndarray:
    x = np.array(x, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"{name} must be a vector, not of shape {x.shape}")
    return x


@dataclass
class _Found:
    """The result of one family: value and error bar for each (column, output), and the smallest step used."""

    value: np.ndarray
    bar: np.ndarray
    step: np.ndarray

    def or_better(self, other: _Found) -> _Found:
        take = other.bar < self.bar
        return _Found(*(np.where(take, b, a) for a, b in zip(self._all(), other._all())))

    def or_else(self, other: _Found) -> _Found:
        """This result, replaced by the other one where it has no finite error bar."""
        take = ~np.isfinite(self.bar)
        return _Found(*(np.where(take, b, a) for a, b in zip(self._all(), other._all())))

    def _all(self):
        return self.value, self.bar, self.step


@dataclass
class _Measurement:
    """The measurement of one function at one point. Its columns are the directions; None for the unit
    vectors.
    """

    f: Callable
    x: np.ndarray
    directions: np.ndarray | None
    domain: Any
    calls: int = field(default=0, init=False)
    near: np.ndarray = field(init=False)  # the values at `x` and six points close to it
    near_step: np.ndarray = field(init=False)  # from one of these points to the next, for each column
    away: np.ndarray = field(init=False)  # the same as a vector

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """The values and the errors, of shape (columns, outputs)."""
        with np.errstate(all="ignore"):
            self.at_x = self._first()
            if not self.x.size or not self.at_x.size:
                return np.zeros((2, self.columns, self.at_x.size))  # type: ignore[return-value]
            self._set_scales()
            self._look_near()
            return self._answer()

    # --- calling the function

    def _first(self) -> np.ndarray:
        y = np.asarray(self.f(self.x.copy()))
        self.calls += 1
        if y.dtype.kind not in "fiub":
            raise TypeError(f"the function must return a real vector, not one of {y.dtype}")
        y = np.array(y, np.float64)
        if y.ndim != 1:
            raise ValueError(f"the function must return a vector, not something of shape {y.shape}")
        return y

    def _ask(self, point: np.ndarray) -> np.ndarray:
        """The function's values at a point; nan if it has none."""
        self.calls += 1
        try:
            y = np.asarray(self.f(point))
        except Exception:  # of any class: an assertion, the author's own error class
            return self._no_value()
        if y.shape != self.at_x.shape or y.dtype.kind not in "fiub":
            return self._no_value()
        return np.array(y, np.float64)

    def _moved(self, column: int, t: float) -> tuple[np.ndarray, float]:
        """The values at distance `t` in a direction, and the distance after rounding. The values are nan
        outside the domain, and if a step overflows, since no slope can be computed over an infinite distance.
        """
        if not self.below[column] <= t <= self.above[column]:
            return self._no_value(), t
        point = self.x.copy()
        if self.directions is None:
            point[column] += t
            gone = point[column] - self.x[column]
            return self._no_value() if math.isinf(gone) else self._ask(point), gone
        v = self.directions[column]
        moving = v != 0
        point[moving] += t * v[moving]
        is_far = np.isinf(point[moving] - self.x[moving]).any()
        return self._no_value() if is_far else self._ask(point), t

    def _no_value(self) -> np.ndarray:
        return np.full_like(self.at_x, np.nan)

    # --- how far to go

    @cached_property
    def columns(self) -> int:
        return self.x.size if self.directions is None else len(self.directions)

    def _set_scales(self) -> None:
        size = np.abs(self.x)
        small, big = np.where(size == 0, 1.0, np.minimum(size, 1.0)), np.maximum(size, 1.0)
        low, high = (np.broadcast_to(end, self.x.shape) for end in self.domain or (-np.inf, np.inf))
        if np.any((self.x < low) | (high < self.x)):  # written so that nan is not outside
            raise ValueError("the point lies outside the domain")
        ends = np.stack([low, high]) - self.x
        if self.directions is None:
            self.small, self.big, (self.below, self.above) = small, big, ends
            self.unit = np.where(size == 0, 0.0, 2 * np.spacing(size))
            self._set_edge()
            return
        v = self.directions
        speed = np.where(v == 0, np.nan, np.abs(v))
        pair = ends[:, None, :] / np.where(v == 0, np.nan, v)
        self.below = np.fmax.reduce(pair.min(axis=0), axis=1, initial=-np.inf)
        self.above = np.fmin.reduce(pair.max(axis=0), axis=1, initial=np.inf)
        self.small = np.nan_to_num(np.fmin.reduce(small / speed, axis=1), nan=1.0)
        self.big = np.nan_to_num(np.fmin.reduce(big / speed, axis=1), nan=1.0)
        self.unit = np.zeros(self.columns)
        self._set_edge()

    def _set_edge(self) -> None:
        """Find the columns with room on one side only, by the domain; others are found when `f` is called."""
        self.edge = np.minimum(self.above, -self.below) <= 1e-3 * FIRST * self.small

    def _rounded(self, steps: np.ndarray) -> np.ndarray:
        """Steps rounded so that they can be added to `x` exactly, as far as possible. Next to the smallest
        numbers the count of units overflows, and a step stays as it is.
        """
        unit = np.where(self.unit > 0, self.unit, np.nan)
        units = np.round(steps / unit)
        return np.where((np.abs(steps) > 4 * unit) & np.isfinite(units), units * unit, steps)

    def _look_near(self) -> None:
        """Measure the noise of the function, and its direction, at `x` and six points close to it."""
        self._look_along(self._near(NEAR_NOISE * self.small))
        kind: Any = np.finfo(np.float64)
        if _is_single(self.near) and self._is_single_further_off():
            kind = np.finfo(np.float32)
            self._look_along(self._near(np.maximum(1e-3 * self.small, 4 * kind.eps * self.big)))
        self.eps, self.tiny, self.size = float(kind.eps), float(kind.tiny), np.abs(self.at_x)
        found = 2 * noise_level(self.near) + self.tiny
        self.noise = np.where(np.isfinite(found), found, 100 * self.eps * self.size)
        self.noise[self._jumps()] = np.inf

    def _is_single_further_off(self) -> bool:
        """Whether the values have float32 precision also further away, where equal values are less likely."""
        near, step, away = self.near, self.near_step, self.away
        self._look_along(self._near(0.0137 * self.small))
        single = _is_single(self.near)
        self.near, self.near_step, self.away = near, step, away
        return single

    def _jumps(self) -> np.ndarray:
        """Which outputs jump: most of the points close to `x` lie on a line and a few do not, which noise
        does not explain.
        """
        steps = np.diff(self.near, axis=0)
        usual = np.median(steps, axis=0)
        off = np.abs(steps - usual)
        largest = off.max(axis=0)
        alike = (off <= 0.01 * largest).sum(axis=0) >= len(steps) - 2
        rounding = (
            np.abs(usual) * self.eps * np.max(np.abs(self.x / self.away), where=self.away != 0, initial=0.0)
        )
        return alike & (largest > 100 * rounding + max(100 * self.eps, JUMP) * np.abs(self.near).max(axis=0))

    def _near(self, step: np.ndarray) -> np.ndarray:
        """The step for six points on one side of `x`, inside the domain; negative for points below `x`."""
        step = np.maximum(self._rounded(step), self.unit)
        step = np.minimum(step, np.maximum(self.above, -self.below) / 8)
        return step * np.where(self.above > 7 * step, 1.0, -1.0)

    def _look_along(self, step: np.ndarray) -> None:
        """Compute the values at `x` and at six points in equal steps, on the other side if some are missing
        on this one.
        """
        self._ask_along(step)
        other_side = np.where(step > 0, -self.below, self.above)
        lost = np.isfinite(self.near[-1]).sum() < np.isfinite(self.at_x).sum()
        if lost and np.all(other_side > 7 * np.abs(step)):
            self._ask_along(-step)

    def _ask_along(self, step: np.ndarray) -> None:
        self.near_step = step
        self.away = step if self.directions is None else step[0] * self.directions[0]
        self.near = np.stack([self.at_x, *(self._ask(self.x + k * self.away) for k in range(1, 7))])

    # --- the two families

    def _answer(self) -> tuple[np.ndarray, np.ndarray]:
        scale = self._scale()
        found = self._ladder(scale)
        again = self._again(found, scale)
        if again is not None:
            found = found.or_better(again)
        return self._confirmed(found)

    def _scale(self) -> np.ndarray:
        """The length on which the function seems to change. If `x` is far from 1, it may be the size of `x`
        or 1.
        """
        scale = self.small.copy()
        for column in np.flatnonzero(self.big >= 30 * self.small).tolist():
            near = self._slope(column, self.small[column])
            noise = 3 * (self.noise + self.eps * np.abs(self.at_x)) / (0.25 * self.small[column])
            for far in self.big[column] * np.array([1.0, 1 / 30, 1 / 1000]):
                slope = self._slope(column, far) if far > 30 * self.small[column] else np.nan
                if np.all(np.abs(near - slope) <= 0.15 * np.maximum(np.abs(near), np.abs(slope)) + noise):
                    scale[column] = far
                    break
        return scale

    def _slope(self, column: int, scale: float) -> np.ndarray:
        (high, above), (low, below) = self._moved(column, 0.25 * scale), self._moved(column, -0.25 * scale)
        return (high - low) / (above - below)

    def _ladder(self, scale: np.ndarray, wanted: np.ndarray | None = None) -> _Found:
        """Central differences with decreasing steps, extrapolated; one-sided ones at an edge."""
        sides = np.stack([self.above, -self.below])
        room = np.where(self.edge, sides.max(axis=0), sides.min(axis=0))
        first = np.minimum(FIRST * scale, 0.9 * room)
        steps = self._rounded(first * RATIO ** -np.arange(LEVELS)[:, None])
        shape = (LEVELS, self.columns, self.at_x.size)
        high, low = np.full(shape, np.nan), np.full(shape, np.nan)
        up, down = steps.copy(), -steps
        for column in range(self.columns) if wanted is None else np.flatnonzero(wanted).tolist():
            for k in range(LEVELS):
                high[k, column], up[k, column] = self._moved(column, steps[k, column])
                low[k, column], down[k, column] = self._moved(column, -steps[k, column])
        self.size = np.fmax(self.size, np.fmax.reduce(np.fmax(np.abs(high), np.abs(low)), axis=(0, 1)))
        found = self._extrapolated(high, low, up, down, 2)
        if not self.edge.any():
            return found
        middle = np.broadcast_to(self.at_x, shape)
        right = self._extrapolated(high, middle, up, 0 * up, 1)
        left = self._extrapolated(middle, low, 0 * up, down, 1)
        one_sided = right.or_better(left)
        one_sided.bar = np.where(self.edge[:, None], one_sided.bar, np.inf)
        return found.or_else(one_sided)

    def _extrapolated(self, high, low, up, down, power: int) -> _Found:
        """The entry of the table of extrapolated difference quotients with the smallest error bar."""
        table = (high - low) / (up - down)[:, :, None]
        steps = (up - down) / 2 if power == 2 else up - down
        noise = self.noise + self.eps * np.maximum(np.abs(high), np.abs(low))
        noise = noise * (1.0 if power == 2 else 2.0)
        values, bars, smallest = [], [], []
        for j in range(1, LEVELS - 1):
            change = (table[1:] - table[:-1]) / (RATIO ** (power * j) - 1)
            table = table[1:] + change
            off = np.abs(np.diff(table, axis=0)) + LOWER_ORDER * np.abs(change[1:])
            values.append(table[1:])
            bars.append(off + _AMPLIFIED[power][j] * noise[: -j - 1] / steps[j + 1 :, :, None])
            smallest.append(np.broadcast_to(steps[j + 1 :, :, None], off.shape))
        bar = np.concatenate(bars)
        bar = np.where(np.isfinite(bar) & (self.noise <= TOO_NOISY * self.size + self.tiny), bar, np.inf)
        best = bar.argmin(axis=0)[None]
        value, bar, step = (
            np.take_along_axis(part, best, axis=0)[0]
            for part in (np.concatenate(values), bar, np.concatenate(smallest))
        )
        return _Found(value, SAFETY * bar, step)

    def _again(self, found: _Found, scale: np.ndarray) -> _Found | None:
        """A second ladder with smaller steps for the columns in which the first one was inaccurate."""
        noise = 1000 * (self.noise + self.eps * np.abs(self.at_x)) / scale[:, None]
        poor = ~(found.bar <= 1e-8 * np.abs(found.value) + noise) & np.isfinite(self.at_x)
        wanted = poor.any(axis=1)
        if not wanted.any():
            return None
        close = np.where(poor, found.bar <= 1e-3 * np.abs(found.value), True).all(axis=1)
        scale = scale * np.where(close, RATIO**-3, RATIO ** (1 - LEVELS))
        for column in np.flatnonzero(wanted & ~self.edge & ~np.isfinite(found.bar).all(axis=1)).tolist():
            scale[column], self.edge[column] = self._reach(column, scale[column])
        return self._ladder(scale, wanted)

    def _reach(self, column: int, scale: float) -> tuple[float, bool]:
        """A length within which the function has values on both sides, and False; if there is none, so that
        `x` lies at the edge of the function's domain, the given length and True.
        """
        there = np.isfinite(self.at_x)
        for shrink in range(8):
            near = scale * 10.0**-shrink
            ends = [self._moved(column, sign * FIRST * near)[0][there] for sign in (1, -1)]
            if np.all(np.isfinite(ends)):
                return near, False
        return scale, True

    def _confirmed(self, found: _Found) -> tuple[np.ndarray, np.ndarray]:
        """The values of the first family where the second one agrees, on each side that exists."""
        step = ONE_SIDED * np.where(np.isfinite(found.bar), found.step, np.inf).min(axis=1)
        step = np.where(np.isfinite(step), step, 1.0)
        spread = np.zeros_like(found.value)
        sides = np.zeros(found.value.shape, int)
        for sign in (1.0, -1.0):
            value, bar, leaps = self._one_sided(sign * step, np.isfinite(found.bar).any(axis=1))
            found.bar[leaps] = np.inf
            there = np.isfinite(bar)
            apart = np.abs(value - found.value)
            apart = np.where(apart <= bar + found.bar, apart, np.inf)
            spread = np.where(there, np.maximum(spread, apart), spread)
            sides += there
        error = np.where(sides > 0, found.bar + spread, np.inf)
        known = np.isfinite(error) & np.isfinite(self.at_x)
        known &= self._fits_near(np.where(known, found.value, np.nan))
        return np.where(known, found.value, np.nan), np.where(known, error, np.inf)

    def _fits_near(self, slope: np.ndarray) -> np.ndarray:
        """For each output, whether the values close to `x` change as these derivatives predict; true if one
        of them is not known.

        They do not for a step function, nor if the function has derivatives along the axes only, such as the
        median of three equal numbers.
        """
        moves = 6 * self.near_step[:, None] * slope
        seen = 4 * self.near[3] - 3 * self.near[0] - self.near[6]  # a parabola's slope at x, times six steps
        rounding = 16 * (self.noise + self.eps * np.abs(self.at_x))
        return ~(np.abs(moves.sum(axis=0) - seen) > rounding + 0.1 * np.abs(moves).sum(axis=0))

    def _one_sided(self, steps: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Extrapolated one-sided differences on one side, their error bars (inf where there are none), and
        the columns in which a number of the output leaps on the way to `x`.
        """
        values = np.full((len(NODES), self.columns, self.at_x.size), np.nan)
        far = self._rounded(steps * NODES[:, None])
        for column in np.flatnonzero(wanted).tolist():
            for k in range(len(NODES)):
                values[k, column], far[k, column] = self._moved(column, far[k, column])
        quotients = (values - self.at_x) / far[:, :, None]
        noise = 2 * (self.noise + self.eps * np.abs(values)) / np.abs(far)[:, :, None]
        value = _combined(_WEIGHTS, quotients)
        rough, rougher = (_combined(_FEWER[k], quotients[:k]) for k in (3, 2))
        off = np.abs(value - rough) + 1e-3 * np.abs(rough - rougher)  # each alone may vanish by chance
        bar = SAFETY * (off + _combined(np.abs(_WEIGHTS), noise))
        gone = np.where(wanted, steps, np.nan)[:, None] * NODES[:, None, None]
        return value, np.where(np.isfinite(bar), bar, np.inf), self._leaps(quotients * gone)

    def _leaps(self, changes: np.ndarray) -> np.ndarray:
        """For each column, whether the change of some output does not go to zero on the way to `x`."""
        rest, rough = _combined(_WEIGHTS, changes), _combined(_FEWER[3], changes[:3])
        least = LEAP * np.max(np.abs(self.at_x), where=np.isfinite(self.at_x), initial=0.0)
        return np.any((np.abs(rest) > least) & (np.abs(rest - rough) < 0.1 * np.abs(rest)), axis=1)


def _is_single(values: np.ndarray) -> bool:
    return np.array_equal(values, values.astype(np.float32), equal_nan=True)


def _combined(weights: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """The weighted sum of tables: `np.tensordot(weights, tables, 1)` without its overhead."""
    return np.dot(weights[None], tables.reshape(len(weights), -1)).reshape(tables.shape[1:])


def _to_zero(nodes: np.ndarray) -> np.ndarray:
    """The weights of the values at these nodes in the interpolating polynomial at zero."""
    return np.array([np.prod([-b / (a - b) for b in nodes if b != a]) for a in nodes])


def _amplified(power: int) -> list[float]:
    """For each number of extrapolations, the noise of the weighted quotients, if the noise of the last
    quotient is 1.
    """
    nodes = RATIO ** np.arange(LEVELS)
    return [float(np.sum(np.abs(_to_zero(nodes[: j + 1] ** power)) / nodes[: j + 1])) for j in range(LEVELS)]


_WEIGHTS = _to_zero(NODES)
_FEWER = {k: _to_zero(NODES[:k]) for k in (2, 3)}  # the same for the nearest nodes only
_AMPLIFIED = {1: _amplified(1), 2: _amplified(2)}
