"""Solutions of ordinary differential equations, by equations of their own for the slopes.

Forwards `y_dot` solves `y_dot' = f_y y_dot + f_dot` beside y; backwards `λ` solves `λ' = -f_yᵀ λ` from the
last time to the first, and what f holds has the cotangent `∫ λᵀ f_θ dt`. Both are solved by the method and
to the tolerances of the call, so that a slope is as exact as the solution is, of stiff equations, too.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ..tangents.algebra import add
from ..tangents.thunks import Thunk
from .array_likes import dense, is_zero, refuse
from .given_values import as_given
from .scipy_implicit import (
    FORWARDS,
    NO,
    REVERSE,
    ImplicitTable,
    refuse_failure,
)
from .scipy_integrate import integrate
from .scipy_jumps import jump_in

TABLE = ImplicitTable("scipy_trajectories")


class How(NamedTuple):
    """How differential equations are solved: the method of SciPy's, and its tolerances."""

    method: Any
    rtol: float
    atol: Any
    max_step: float = np.inf

    def solve(self, f, t0, times, y0, **words):
        """SciPy's result for y(t0) = y0, up to the last of the times."""
        options = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_step": self.max_step}
        found = integrate.solve_ivp(f, (t0, times[-1]), y0, **options, **words)
        if not found.success:
            refuse_failure("solve_ivp", found.message)
        return found


# -- one trajectory ------------------------------------------------------------------------------------------


def trajectory(f, t0, times, y0, how, value):
    """The solution of y' = f(t, y), y(t0) = y0, a column for each time; the `value`, if it is known."""
    if value is None and t0 == times[-1]:
        return np.repeat(y0[:, None], len(times), axis=1)  # there is no way to go
    return np.array(how.solve(f, t0, times, y0, t_eval=times).y if value is None else value)


@TABLE.rrule(trajectory, leading=6, requires=REVERSE)
def trajectory_rrule(config, f, t0, times, y0, how, value):
    ys = trajectory(f, t0, times, y0, how, value)

    def trajectory_pullback(ys_bar):
        if is_zero(ys_bar):
            return NO, NO, NO, NO, NO, NO, NO
        solved = _followed(f, t0, times, y0, how)
        pieces, of_y0 = _adjoint(config, f, t0, times, solved, how, ys_bar)
        of_f = Thunk(lambda: _along(config, f, solved, pieces))
        rates = np.stack([f(t, y) for t, y in zip(times, ys.T, strict=True)], axis=1)
        of_times = np.sum(rates * ys_bar, axis=0)
        return NO, of_f, -float(np.dot(of_y0, f(t0, y0))), of_times, of_y0, NO, NO

    return ys, trajectory_pullback


def _followed(f, t0, times, y0, how):
    """The solution at any time. NotDifferentiableError where the right side jumps on its way."""
    asked = {}

    def noted(t, y):
        asked[float(t)] = None
        return f(t, y)

    found = how.solve(noted, t0, times, y0, dense_output=True)
    low, high = sorted((t0, times[-1]))

    def along(t):
        return f(t, found.sol(t))

    where = jump_in(along, {t: along(t) for t in asked if low <= t <= high})
    if where is not None:
        refuse(
            f"the right-hand side jumps at t = {where:.6g}, and the position of the jump may depend on what "
            "varies",
            "solve up to the jump, and start again from there",
        )
    return found


def _adjoint(config, f, t0, times, solved, how, ys_bar):
    """λ between the times, from the last one on, and at t0."""

    def backwards(t, lam):
        back = config.rrule_via_ad(f, t, solved.sol(t))[1]
        return -dense(lam, back(lam)[2])

    lam, pieces = np.zeros(len(ys_bar)), []
    for k in range(len(times) - 1, -1, -1):
        lam = lam + ys_bar[:, k]
        end = times[k - 1] if k else t0
        if end != times[k] and np.any(lam):
            small = how._replace(atol=1e-3 * how.rtol * float(np.max(np.abs(lam))))
            piece = small.solve(backwards, times[k], (end,), lam, dense_output=True)
            pieces.append(piece)
            lam = piece.y[:, -1]
    return pieces, lam


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


def _along(config, f, solved, pieces):
    """The cotangent of f: the sum over the steps of both solutions, five numbers in each."""
    whole = NO
    for piece in pieces:
        low, high = sorted((piece.t[0], piece.t[-1]))
        inside = solved.t[(low < solved.t) & (solved.t < high)]
        edges = np.unique(np.concatenate((piece.t, inside)))
        sign = 1.0 if piece.t[0] > piece.t[-1] else -1.0
        for start, end in itertools.pairwise(edges):
            half = 0.5 * (end - start)
            for node, weight in zip(_NODES, _WEIGHTS, strict=True):
                t = start + half * (1.0 + node)
                back = config.rrule_via_ad(f, t, solved.sol(t))[1]
                whole = add(whole, back(sign * half * weight * piece.sol(t))[0])
    return whole


@TABLE.frule(trajectory, requires=FORWARDS)
def trajectory_frule(config, tangents, f, t0, times, y0, how, value):
    _, f_dot, t0_dot, times_dot, y0_dot, _, _ = tangents
    ys = trajectory(f, t0, times, y0, how, value)
    check_followed(f, t0, times, y0, how)
    count = len(y0)

    def both(t, z):
        y, y_dot = z[:count], z[count:]
        rate, rate_dot = config.frule_via_ad((f_dot, NO, y_dot), f, t, y)
        return np.concatenate((rate, dense(rate, rate_dot)))

    begun = dense(y0, y0_dot)
    if not is_zero(t0_dot):
        begun = begun - f(t0, y0) * t0_dot
    z0 = np.concatenate((y0, begun))
    zs = trajectory(both, t0, times, z0, how_both(both, times, ys, z0, how), None)
    ys, moved = as_given(ys, zs[:count]), zs[count:]  # so one equation leads both back
    if not is_zero(times_dot):
        rates = np.stack([f(times[k], ys[:, k]) for k in range(len(times))], axis=1)
        moved = moved + rates * dense(times, times_dot)
    return ys, moved


def check_followed(f, t0, times, y0, how):
    _followed(f, t0, times, y0, how)


def how_both(both, times, ys, z0, how):
    """The tolerances of y and of its tangent, of which the size is told by what moves it."""
    count = len(z0) // 2
    some = range(0, len(times), max(1, len(times) // 4))
    moved = [both(times[k], np.concatenate((ys[:, k], z0[count:])))[count:] for k in some]
    size = np.max(np.abs(z0[count:])) + np.max(np.abs(moved)) * abs(times[-1] - times[0])
    small = 1e-3 * how.rtol * float(size) or 1e-3 * how.rtol
    return how._replace(atol=np.concatenate((how.atol + np.zeros(count), np.full(count, small))))


TABLE.non_differentiable(check_followed, how_both)
