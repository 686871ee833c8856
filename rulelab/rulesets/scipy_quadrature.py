"""Integrals of functions by Leibniz's rule: `d/dθ ∫ f(t, θ) dt = ∫ f_θ(t, θ) dt + f(b) db/dθ - f(a) da/dθ`.

The slopes are integrals themselves, to the tolerances of the call and each with its own steps: what is easy
to integrate may have a slope that is not. Where the integrand jumps, the place of the jump might move, which
no slope of the integrand tells of: that is refused, unless it is said to stay, by `points=`.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ..tangents.algebra import add
from ..tangents.numbers import numbers_in, with_numbers
from ..tangents.structural import Tangent
from ..tangents.thunks import Thunk
from .array_likes import dense, is_zero, refuse
from .scipy_implicit import (
    FORWARDS,
    NO,
    REVERSE,
    ImplicitTable,
    missing,
)
from .scipy_integrate import integrate
from .scipy_jumps import jump_in

TABLE = ImplicitTable("scipy_quadrature")


class IntegrationOptions(NamedTuple):
    """How an integral is computed: the function of SciPy's and its options."""

    target: Any
    epsabs: float
    epsrel: float
    limit: int
    options: dict

    def __call__(self, f, a, b, points):
        words = {"epsabs": self.epsabs, "epsrel": self.epsrel, "limit": self.limit, "points": points}
        return self.target(f, a, b, **words, **self.options)[:2]


# -- one integral --------------------------------------------------------------------------------------------


def integral(f, a, b, points, how):
    """The integral of a function of one number, and the error that is estimated for it."""
    return how(f, a, b, points)


@TABLE.rrule(integral, leading=5, requires=REVERSE)
def integral_rrule(config, f, a, b, points, how):
    """The cotangent of each number that f holds is the integral of the one at t."""

    def integral_pullback(bars):
        y_bar = NO if is_zero(bars) else bars[0]
        if is_zero(y_bar):
            return NO, NO, NO, NO, NO, NO
        of_f = Thunk(lambda: _integrated(config, f, (a, b, points), how, y_bar))
        of_a, of_b = (Thunk(lambda t=t, s=s: _at_limit(f, t, s, y_bar)) for t, s in ((a, -1.0), (b, 1.0)))
        return NO, of_f, of_a, of_b, _of_points(points), NO

    return integral(f, a, b, points, how), integral_pullback


def _of_points(points):
    """Nothing is known of what becomes of an integral when these move."""
    if isinstance(points, (list, tuple)):
        return Tangent(type(points), *map(_of_points, points))
    return NO if points is None else missing("points=")


def _at_limit(f, t, sign, y_bar):
    """The cotangent of a limit; nothing moves at infinity."""
    if not np.isfinite(t):
        return 0.0
    return sign * float(np.real(np.vdot(np.asarray(f(t)), np.asarray(y_bar))))


@TABLE.frule(integral, requires=FORWARDS)
def integral_frule(config, tangents, f, a, b, points, how):
    _, f_dot, a_dot, b_dot, points_dot, _ = tangents
    check_points(points, points_dot)
    y, error = integral(f, a, b, points, how)
    moved = 0.0 * y
    if not is_zero(f_dot):

        def along(t):
            at, at_dot = config.frule_via_ad((f_dot, NO), f, t)
            return dense(at, at_dot)

        inner = between(f, a, b, points, how)
        how = no_finer_than(how, f_dot)
        # The limits stay what they are: in a list one that does not vary would count as varying.
        if len(inner) == 0:
            moved = moved + integral(along, a, b, None, how)[0]
        else:
            moved = moved + integral(along, a, inner[0], None, how)[0]
            for k in range(len(inner) - 1):
                moved = moved + integral(along, inner[k], inner[k + 1], None, how)[0]
            moved = moved + integral(along, inner[-1], b, None, how)[0]
    if not is_zero(b_dot) and is_finite(b):
        moved = moved + f(b) * b_dot
    if not is_zero(a_dot) and is_finite(a):
        moved = moved - f(a) * a_dot
    return (y, error), (moved, NO)


def is_finite(t):
    return bool(np.isfinite(t))


_ROUNDINGS = 16  # so many of the tangent's own make a tolerance that can be met


def no_finer_than(how, f_dot):
    """How to integrate a slope whose numbers may be short: what is finer than their rounding is noise, and an
    adaptive integral that is to resolve it halves its intervals until its limit, for minutes.
    """
    kinds = [np.asarray(number).dtype for number in numbers_in(f_dot).values()]
    rounding = max((np.finfo(kind).eps for kind in kinds if kind.kind in "fc"), default=0.0)
    return how._replace(epsrel=max(how.epsrel, _ROUNDINGS * float(rounding)))


def check_points(points, points_dot):
    """Points where an integrand breaks may not move."""
    if not is_zero(points_dot) and np.any(dense(points, points_dot)):
        raise missing("points=").error()


# -- the slopes by what the integrand holds ------------------------------------------------------------------


def _integrated(config, f, over, how, y_bar):
    """The cotangent of f: number by number the integral of what its pullback gives at each t."""
    ends = [over[0], *between(f, *over, how), over[1]]
    seen: dict[float, dict] = {}
    whole = [NO]

    def at(t):
        found = seen.get(t)
        if found is None:
            of_f = config.rrule_via_ad(f, t)[1](y_bar)[0]
            whole[0] = add(whole[0], of_f)
            found = seen[t] = numbers_in(of_f)
        return found

    at(_inside(*over[:2]))
    size = float(np.max(np.abs(y_bar)))
    done: dict[tuple, Any] = {}
    while missed := [path for path in numbers_in(whole[0]) if path not in done]:
        for path in missed:  # another one may turn up at a t that nobody has asked of yet
            done[path] = _part_integrated(at, path, np.asarray(numbers_in(whole[0])[path]), ends, how, size)
    return with_numbers(whole[0], done)


def _inside(a, b):
    """A number between two, either of which may be infinite."""
    low, high = (min(max(float(t), -1e3), 1e3) for t in (a, b))
    return 0.5 * (low + high)


def _part_integrated(at, path, like, ends, how, size):
    """The integral of one number or array of the cotangents."""
    parts = [np.real, np.imag] if np.iscomplexobj(like) else [np.real]
    found = np.zeros(like.shape, complex if len(parts) == 2 else float)
    for index in np.ndindex(like.shape):
        for unit, part in zip((1.0, 1j), parts):

            def number(t, index=index, real=part):
                y = at(t).get(path)
                return 0.0 if y is None else float(real(np.asarray(y)[index]))

            found[index] += unit * sum(
                _number_integrated(number, *pair, how, size) for pair in itertools.pairwise(ends)
            )
    return found if found.ndim else found[()]


def _number_integrated(number, a, b, how, size):
    """An integral by QUADPACK, which must succeed."""
    epsabs = max(how.epsabs, 1e-14) * size
    limit = max(50, min(how.limit, 500))
    words = {"epsabs": epsabs, "epsrel": how.epsrel, "limit": limit}
    y, error, *told = integrate.quad(number, a, b, full_output=True, **words)
    if len(told) > 1 and not error <= 1e-5 * abs(y) + 1e3 * epsabs:
        refuse(
            f"the derivative of the integrand cannot be integrated: {' '.join(str(told[1]).split())[:90]}",
            "substitute, so that the derivative has no singularity, or split the integral at the singularity",
        )
    return y


_OF_ONE_RULE = 45  # so often an integrand is asked for, if no interval has been halved
_IN_A_PART = 12


def between(f, a, b, points, how):
    """Where the integral of a slope is cut in parts: as dense as the numbers are at which the integrand was
    asked for, since a step that it resolves is a peak of the slope, which one rule for all would miss.
    NotDifferentiableError where the integrand jumps between them.
    """
    asked = {}

    def noted(t):
        y = f(t)
        asked[t] = np.array(y)
        return y

    how(noted, a, b, points)
    where = jump_in(f, asked, () if points is None else np.ravel(points))
    if where is not None:
        refuse(
            f"the integrand jumps at {where:.6g}, and the position of the jump may depend on what varies",
            "split the integral there: where the limit moves, it is differentiated",
            "pass that number in points=, if the jump does not move",
        )
    stays = [] if points is None else [float(p) for p in np.ravel(points)]
    dense_at = sorted(asked)[_IN_A_PART::_IN_A_PART] if len(asked) > _OF_ONE_RULE else []
    low, high = sorted((a, b))
    inner = sorted({t for t in (*stays, *dense_at) if low < t < high})
    return inner if a < b else inner[::-1]


TABLE.non_differentiable(between, check_points, is_finite, no_finer_than)
