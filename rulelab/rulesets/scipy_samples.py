"""Integrals of samples (`trapezoid`, `simpson`, `romb` and the cumulative ones) as sums over intervals: plain
NumPy, which is differentiated by the samples, their places and their distance.
"""

from __future__ import annotations

import numpy as np

from .array_likes import only_real, refuse
from .given_values import as_given
from .scipy_implicit import ImplicitTable, refuse_given
from .scipy_integrate import integrate

TABLE = ImplicitTable("scipy_samples")


def run_plainly(target, *args, **words):
    """What SciPy gives, or its own error for samples and places that do not go together."""
    return target(*args, **words)


def check_apart(steps):
    """Refuse samples at the same place, with respect to which a parabola has no slope."""
    if np.any(np.equal(steps, 0)):
        refuse("Simpson's rule with two samples at the same x is not differentiated", "leave one of them out")


def check_places(x):
    """Refuse one place for all samples, of which SciPy makes widths of 0."""
    if x is not None and np.ndim(x) == 0:
        refuse(
            "an integral of samples with a single number for their positions is not differentiated",
            "give a position for each of them",
        )


TABLE.non_differentiable(run_plainly, check_apart, check_places)


def along_last(y, x, dx, axis):
    """The samples along the last axis, as floats, and the distances between them."""
    ys = np.moveaxis(np.asarray(y) * 1.0, axis, -1)
    if x is None:
        return ys, dx + np.zeros(ys.shape[-1] - 1)
    places = np.asarray(x)
    return ys, np.diff(places if places.ndim == 1 else np.moveaxis(places, axis, -1)) * 1.0


@TABLE.stands_in(integrate.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    check_places(x)
    return as_given(run_plainly(integrate.trapezoid, y, x, dx, axis), np.trapezoid(y, x, dx, axis))


@TABLE.stands_in(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    value = run_plainly(integrate.cumulative_trapezoid, y, x, dx, axis, initial)
    ys, steps = along_last(y, x, dx, axis)
    found = np.cumsum(steps * (ys[..., 1:] + ys[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        found = np.concatenate((np.zeros_like(ys[..., :1]), found), axis=-1)
    return as_given(value, np.moveaxis(found, -1, axis))


# -- by parabolas --------------------------------------------------------------------------------------------


@TABLE.stands_in(integrate.simpson)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    only_real("scipy.integrate.simpson", x)
    value = run_plainly(integrate.simpson, y, x=x, dx=dx, axis=axis)
    return as_given(value, _simpson(y, x, dx, axis))


def _simpson(y, x, dx, axis):
    ys, steps = along_last(y, x, dx, axis)
    check_apart(steps)
    count = ys.shape[-1]
    if count == 2:
        return 0.5 * steps[..., 0] * (ys[..., 0] + ys[..., 1])
    last = count if count % 2 else count - 1
    h, k = steps[..., 0 : last - 1 : 2], steps[..., 1 : last - 1 : 2]
    first, middle, end = ys[..., 0 : last - 2 : 2], ys[..., 1 : last - 1 : 2], ys[..., 2:last:2]
    whole = np.sum(_below_parabola(first, middle, end, h, k), axis=-1)
    if count % 2:
        return whole
    return whole + _last_below_parabola(ys[..., -3], ys[..., -2], ys[..., -1], steps[..., -2], steps[..., -1])


def _below_parabola(first, middle, last, h, k):
    """The integral over both of two neighbouring intervals, h and k long."""
    both = h + k
    return both / 6.0 * (first * (2.0 - k / h) + middle * both**2 / (h * k) + last * (2.0 - h / k))


def _last_below_parabola(first, middle, last, h, k):
    """The integral over the second of two neighbouring intervals (Cartwright 2017, equation 8)."""
    of_last = (2.0 * k**2 + 3.0 * h * k) / (6.0 * (h + k))
    of_middle = (k**2 + 3.0 * h * k) / (6.0 * h)
    of_first = k**3 / (6.0 * h * (h + k))
    return of_last * last + of_middle * middle - of_first * first


@TABLE.stands_in(integrate.cumulative_simpson)
def cumulative_simpson(y, *, x=None, dx=1.0, axis=-1, initial=None):
    value = run_plainly(integrate.cumulative_simpson, y, x=x, dx=dx, axis=axis, initial=initial)
    if np.ndim(dx):
        dx = np.moveaxis(np.asarray(dx), axis, -1)
    ys, steps = along_last(y, x, dx, axis)
    if ys.shape[-1] < 3:
        found = np.cumsum(steps * (ys[..., 1:] + ys[..., :-1]) / 2.0, axis=-1)
    else:
        found = np.cumsum(_over_each(ys, steps), axis=-1)
    if initial is not None:
        before = np.moveaxis(np.asarray(initial) * 1.0, axis, -1) if np.ndim(initial) else initial
        found = found + before
        found = np.concatenate((before + np.zeros_like(ys[..., :1]), found), axis=-1)
    return as_given(value, np.moveaxis(found, -1, axis))


def _over_each(ys, steps):
    """The integral over each interval: the even ones by the parabola that goes on after them, the others and
    the last by the one before.
    """
    h, k = steps[..., :-1], steps[..., 1:]
    first, middle, last = ys[..., :-2], ys[..., 1:-1], ys[..., 2:]
    before = _last_below_parabola(first, middle, last, h, k)
    after = _last_below_parabola(last, middle, first, k, h)
    odd = np.arange(ys.shape[-1] - 1) % 2 == 1
    return np.where(
        odd,
        np.concatenate((after[..., :1], before), axis=-1),
        np.concatenate((after, before[..., -1:]), axis=-1),
    )


@TABLE.stands_in(integrate.romb)
def romb(y, dx=1.0, axis=-1, show=False):
    refuse_given("romb", "it prints a table", show=show)
    only_real("scipy.integrate.romb(dx=)", dx)
    value = run_plainly(integrate.romb, y, dx, axis)
    ys = np.moveaxis(np.asarray(y) * 1.0, axis, -1)
    return as_given(value, np.sum(ys * weights_of_romb(ys.shape[-1]), axis=-1) * dx)


def weights_of_romb(count):
    """What each sample counts for."""
    return integrate.romb(np.eye(count), axis=0)


TABLE.non_differentiable(weights_of_romb)
