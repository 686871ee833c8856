"""Solutions of ordinary differential equations, by equations of their own for the slopes.

Forwards `y_dot` solves `y_dot' = f_y y_dot + f_dot` beside y; backwards `λ` solves `λ' = -f_yᵀ λ` from the
last time to the first, and what f holds has the cotangent `∫ λᵀ f_θ dt`. Both are solved by the method and
to the tolerances of the call, so that a slope is as exact as the solution is, of stiff equations, too.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ..rules.programs import push_of
from ..tangents.algebra import add
from ..tangents.missing import NotImplementedTangent
from ..tangents.numbers import numbers_in, with_numbers
from ..tangents.pairings import part_at
from ..tangents.structural import Tangent
from ..tangents.thunks import Thunk, unthunk
from .array_likes import dense, is_zero, like_argument, refuse
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


class SolverOptions(NamedTuple):
    """How differential equations are solved: the method of SciPy's, and its tolerances; whether the right
    side takes the state before the time.
    """

    method: Any
    rtol: float
    atol: Any
    max_step: float = np.inf
    state_first: bool = False

    def solve(self, f, t0, times, y0, **words):
        """SciPy's result for y(t0) = y0, up to the last of the times."""
        options = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_step": self.max_step}
        found = integrate.solve_ivp(f, (t0, times[-1]), y0, **options, **words)
        if not found.success:
            refuse_failure("solve_ivp", found.message)
        return found

    def in_order(self, of_t, of_y, of_args):
        """What belongs to the arguments of a right side, in its order."""
        return (of_y, of_t, *of_args) if self.state_first else (of_t, of_y, *of_args)


# -- the right side ------------------------------------------------------------------------------------------
# It is asked as it was written, and gives lists and numbers as well as arrays: code around it would be
# differentiated at each of some thousand questions.


def rates_of(f, args, how):
    """The right side as a function of t and y alone that gives an array of its own, in the shape of y."""

    def rates(t, y):
        return np.reshape(np.array(f(*how.in_order(t, y, args)), float), np.shape(y))

    return rates


def pulled(config, f, args, how, t, y, lam):
    """The cotangents of y, and of f and its other arguments, for that of what f gives."""
    rate, back = config.rrule_via_ad(f, *how.in_order(t, y, args))
    of_f, first, second, *of_args = back(_formed(rate, lam))
    return (first if how.state_first else second), (of_f, *of_args)


def _formed(rate, lam):
    """The cotangent of numbers in the form in which f gave them."""
    return like_argument(rate, np.reshape(lam, np.shape(rate))[()])


def beside(rate, rate_dot):
    """What f gives, and its tangent, in one array."""
    return np.concatenate((_flat(rate), _flat(dense(rate, rate_dot))))


def _flat(rate):
    return np.reshape(np.asarray(rate, float), -1)


@TABLE.rrule(beside, leading=2)
def beside_rrule(rate, rate_dot):
    def beside_pullback(bar):
        of_rate, of_dot = np.split(bar, 2)
        return NO, _formed(rate, of_rate), NO if is_zero(rate_dot) else _formed(rate_dot, of_dot)

    return beside(rate, rate_dot), beside_pullback


@TABLE.frule(beside)
def beside_frule(tangents, rate, rate_dot):
    moved = NO if is_zero(rate_dot) else dense(rate_dot, tangents[2])
    return beside(rate, rate_dot), beside(dense(rate, tangents[1]), moved)


# -- one trajectory ------------------------------------------------------------------------------------------


def trajectory(f, args, t0, times, y0, how, value):
    """The solution of y' = f(t, y, *args), y(t0) = y0, a column for each time: the `value`, if known."""
    if value is None and t0 == times[-1]:
        return np.repeat(y0[:, None], len(times), axis=1)  # there is no way to go
    if value is None:
        return np.array(how.solve(rates_of(f, args, how), t0, times, y0, t_eval=times).y)
    return np.array(value)


@TABLE.rrule(trajectory, leading=7, requires=REVERSE)
def trajectory_rrule(config, f, args, t0, times, y0, how, value):
    ys = trajectory(f, args, t0, times, y0, how, value)

    def trajectory_pullback(ys_bar):
        if is_zero(ys_bar):
            return (NO,) * 8
        rates = rates_of(f, args, how)
        solved = _followed(rates, t0, times, y0, how)
        back = functools.partial(pulled, config, f, args, how)
        pieces, of_y0 = _adjoint(back, t0, times, solved, how, ys_bar)
        held = Thunk(lambda: _along(back, solved, pieces, how.rtol))
        of_times = np.sum(np.stack(list(map(rates, times, ys.T)), axis=1) * ys_bar, axis=0)
        of_t0 = -float(np.dot(of_y0, rates(t0, y0)))
        of_f, of_args = Thunk(lambda: _of_f(held)), Thunk(lambda: _of_args(held, args))
        return NO, of_f, of_args, of_t0, of_times, of_y0, NO, NO

    return ys, trajectory_pullback


def _of_f(held):
    return part_at(unthunk(held), 0)


def _of_args(held, args):
    return Tangent(tuple, *[part_at(unthunk(held), 1 + number) for number in range(len(args))])


def _followed(rates, t0, times, y0, how):
    """The solution at any time. NotDifferentiableError where the right side jumps on its way."""
    asked = {}

    def noted(t, y):
        asked[float(t)] = None
        return rates(t, y)

    found = how.solve(noted, t0, times, y0, dense_output=True)
    low, high = sorted((t0, times[-1]))

    def along(t):
        return rates(t, found.sol(t))

    where = jump_in(along, {t: along(t) for t in asked if low <= t <= high})
    if where is not None:
        refuse(
            f"the right-hand side jumps at t = {where:.6g}, and the position of the jump may depend on what "
            "varies",
            "solve up to the jump, and start again from there",
        )
    return found


def _adjoint(back, t0, times, solved, how, ys_bar):
    """λ between the times, from the last one on, and at t0."""

    def backwards(t, lam):
        return -dense(lam, back(t, solved.sol(t), lam)[0])

    lam, pieces, step = np.zeros(len(ys_bar)), [], None
    for k in range(len(times) - 1, -1, -1):
        lam = lam + ys_bar[:, k]
        end = times[k - 1] if k else t0
        if end != times[k] and np.any(lam):
            small = how._replace(atol=1e-3 * how.rtol * float(np.max(np.abs(lam))))
            first = None if step is None else min(step, abs(end - times[k]))
            piece = small.solve(backwards, times[k], (end,), lam, dense_output=True, first_step=first)
            pieces.append(piece)
            lam, step = piece.y[:, -1], np.max(np.abs(np.diff(piece.t)))
    return pieces, lam


# Kronrod's five nodes on (-1, 1), which are right to degree 7, and two rules on some of them that are right
# to degree 3: that one agrees may be by accident.
_FAR, _NEAR = math.sqrt(6 / 7), math.sqrt(1 / 3)
_NODES = np.array([-_FAR, -_NEAR, 0.0, _NEAR, _FAR])
_WEIGHTS = np.array([98 / 495, 27 / 55, 28 / 45, 27 / 55, 98 / 495])
_COARSE = (np.array([0, 1, 0, 1, 0]), np.array([7 / 18, 0, 22 / 18, 0, 7 / 18]))
_DIFFERENCES = np.stack([weights / _WEIGHTS - 1.0 for weights in _COARSE])
# Of the tolerance, for the error of an integral; it is less than a hundredth of it in half a step.
_SHARE, _SHARE_IN_DOUBT = 1e-2, 1e-4
MOST_HALVED = 100_000  # steps: about a minute, and far more than a right side that the solver sees needs


def _along(back, solved, pieces, rtol):
    """The cotangents of f and of its other arguments: the integral of what f is pulled back to, over the
    steps of both solutions. It may vary faster than these do, so steps are halved where rules differ, until
    they agree at two sizes: at one they may by accident.
    """
    total, whole, halved = _Total(), sum(abs(piece.t[-1] - piece.t[0]) for piece in pieces), 0
    for piece in pieces:
        sign = 1.0 if piece.t[0] > piece.t[-1] else -1.0
        left = [(*ends, False) for ends in itertools.pairwise(_edges(solved, piece))]
        while left:
            start, end, in_doubt = left.pop()
            half, middle = 0.5 * (end - start), 0.5 * (start + end)
            nodes = middle + half * _NODES
            lams, states = sign * half * _WEIGHTS * piece.sol(nodes), solved.sol(nodes)
            bars = [back(nodes[k], states[:, k], lams[:, k])[1] for k in range(len(nodes))]
            terms = total.terms([Tangent(tuple, *bar) for bar in bars])
            share = _SHARE_IN_DOUBT if in_doubt else _SHARE
            is_off = total.is_off(terms, share * rtol, 2.0 * half / whole)
            if (is_off or in_doubt) and start < middle < end:
                halved += 1
                if halved > MOST_HALVED:
                    refuse(
                        f"the right-hand side depends so steeply on a parameter near t = {middle:.6g} that "
                        f"its derivative takes more than {MOST_HALVED} steps at rtol={rtol:g}",
                        "solve with a larger rtol, or over a shorter time",
                    )
                left += [(start, middle, is_off), (middle, end, is_off)]
            else:
                total.add(terms)
    return total.cotangent()


def _edges(solved, piece):
    """The times of the steps of both solutions, as far as a piece goes."""
    low, high = sorted((piece.t[0], piece.t[-1]))
    inside = solved.t[(low < solved.t) & (solved.t < high)]
    return np.unique(np.concatenate((piece.t, inside)))


class _Total:
    """The sum of cotangents of one form, of which each number and array is a part of one long array."""

    def __init__(self):
        self.form = NO
        self.parts = {}  # zeros in the shape of each number and array, by path
        self.sum = self.size = np.zeros(0)  # the size is that of what was added, each number without its sign

    def terms(self, bars):
        """The numbers of each cotangent in a row; what is missing in one stays missing in the sum."""
        found = [numbers_in(bar, missing=True) for bar in bars]
        for numbers, bar in zip(found, bars, strict=True):
            if not numbers.keys() <= self.parts.keys():
                self._widen(numbers, bar)
        return np.stack([self._row(numbers) for numbers in found])

    def _widen(self, numbers, bar):
        self.form = add(self.form, bar)
        for path, x in numbers.items():
            if path not in self.parts:
                gone = isinstance(x, NotImplementedTangent)
                self.parts[path] = np.zeros(0) if gone else np.zeros_like(x)
                more = self.parts[path].size
                self.sum, self.size = (np.concatenate((old, np.zeros(more))) for old in (self.sum, self.size))

    def _row(self, numbers):
        rows = [numbers.get(path, zeros) for path, zeros in self.parts.items()]
        rows = [
            zeros if isinstance(x, NotImplementedTangent) else x
            for x, zeros in zip(rows, self.parts.values())
        ]
        return np.concatenate([np.ravel(x) for x in rows]) if rows else np.zeros(0)

    def is_off(self, terms, rtol, share):
        """Whether the sum of some terms is less certain than `rtol` says, of the size of a number here or,
        for so great a `share` of the whole, of its size so far.
        """
        size = self._largest(np.sum(np.abs(terms), axis=0))
        off = self._largest(np.max(np.abs(_DIFFERENCES @ terms), axis=0))
        so_far = share * self._largest(self.size)
        return bool(np.any(off * off > rtol * size * np.maximum(size, so_far)))

    def _largest(self, sizes):
        """The largest number of each part."""
        ends = np.cumsum([zeros.size for zeros in self.parts.values()])
        return np.array([np.max(part, initial=0.0) for part in np.split(sizes, ends[:-1])])

    def add(self, terms):
        self.sum = self.sum + np.sum(terms, axis=0)
        self.size = self.size + np.sum(np.abs(terms), axis=0)

    def cotangent(self):
        sums, begin = {}, 0
        for path, zeros in self.parts.items():
            part = self.sum[begin : begin + zeros.size]
            begin += zeros.size
            sums[path] = np.reshape(part if np.iscomplexobj(zeros) else np.real(part), zeros.shape)[()]
        return with_numbers(self.form, sums)


@TABLE.frule(trajectory, requires=FORWARDS)
def trajectory_frule(config, tangents, f, args, t0, times, y0, how, value):
    _, f_dot, args_dot, t0_dot, times_dot, y0_dot, _, _ = tangents
    ys = trajectory(f, args, t0, times, y0, how, value)
    check_followed(f, args, t0, times, y0, how)
    both = with_tangent(
        push_of(config), f, f_dot, args, tangents_of(args, args_dot), len(y0), how.state_first
    )
    begun = dense(y0, y0_dot)
    if not is_zero(t0_dot):
        begun = begun - rates_of(f, args, how)(t0, y0) * t0_dot
    z0 = np.concatenate((y0, begun))
    zs = trajectory(both, (), t0, times, z0, how_both(both, times, ys, z0, how), None)
    ys, moved = as_given(ys, zs[: len(y0)]), zs[len(y0) :]  # so one equation leads both back
    if not is_zero(times_dot):
        rates = rates_of(f, args, how)
        columns = np.stack([rates(times[k], ys[:, k]) for k in range(len(times))], axis=1)
        moved = moved + columns * dense(times, times_dot)
    return ys, moved


def with_tangent(push, f, f_dot, args, args_dot, count, state_first):
    """The right side for y and its tangent, one after the other."""

    def both(t, z):
        y, y_dot = z[:count], z[count:]
        if state_first:
            rate, rate_dot = push(f, f_dot, (y, t, *args), (y_dot, NO, *args_dot), (), None)
        else:
            rate, rate_dot = push(f, f_dot, (t, y, *args), (NO, y_dot, *args_dot), (), None)
        return beside(rate, rate_dot)

    return both


def tangents_of(args, args_dot):
    """A tangent for each argument."""
    return (NO,) * len(args) if is_zero(args_dot) else args_dot


def check_followed(f, args, t0, times, y0, how):
    _followed(rates_of(f, args, how), t0, times, y0, how)


def how_both(both, times, ys, z0, how):
    """The tolerances of y and of its tangent, of which the size is told by what moves it."""
    count = len(z0) // 2
    some = range(0, len(times), max(1, len(times) // 4))
    moved = [both(times[k], np.concatenate((ys[:, k], z0[count:])))[count:] for k in some]
    size = np.max(np.abs(z0[count:])) + np.max(np.abs(moved)) * abs(times[-1] - times[0])
    small = 1e-3 * how.rtol * float(size) or 1e-3 * how.rtol
    tolerances = np.concatenate((how.atol + np.zeros(count), np.full(count, small)))
    return how._replace(atol=tolerances, state_first=False)


TABLE.non_differentiable(check_followed, how_both)
