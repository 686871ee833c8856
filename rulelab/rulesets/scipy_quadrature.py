"""Integrals of functions by Leibniz's rule: `d/dθ ∫ f(t, θ) dt = ∫ f_θ(t, θ) dt + f(b) db/dθ - f(a) da/dθ`.

The slopes are integrals themselves, to the tolerances of the call and each with its own steps: what is easy
to integrate may have a slope that is not. Where the integrand jumps, the place of the jump might move, which
no slope of the integrand tells of: that is refused, unless it is said to stay, by `points=`.
"""

from __future__ import annotations

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
    as_given,
    missing,
    refuse_given,
)
from .scipy_integrate import integrate
from .scipy_jumps import jump_in

TABLE = ImplicitTable("scipy_quadrature")


class How(NamedTuple):
    """How an integral is worked out: the function of SciPy's and its options."""

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
        check_integrand(f, a, b, points, how)

        def along(t):
            at, at_dot = config.frule_via_ad((f_dot, NO), f, t)
            return dense(at, at_dot)

        moved = integral(along, a, b, points, how)[0]
    if not is_zero(b_dot) and is_finite(b):
        moved = moved + f(b) * b_dot
    if not is_zero(a_dot) and is_finite(a):
        moved = moved - f(a) * a_dot
    return (y, error), (moved, NO)


def is_finite(t):
    return bool(np.isfinite(t))


def check_points(points, points_dot):
    """Points where an integrand breaks may not move."""
    if not is_zero(points_dot) and np.any(dense(points, points_dot)):
        raise missing("points=").error()


# -- the slopes by what the integrand holds ------------------------------------------------------------------


def _integrated(config, f, over, how, y_bar):
    """The cotangent of f: number by number the integral of what its pullback gives at each t."""
    check_integrand(f, *over, how)
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
            done[path] = _part_integrated(at, path, np.asarray(numbers_in(whole[0])[path]), over, how, size)
    return with_numbers(whole[0], done)


def _inside(a, b):
    """A number between two, either of which may be infinite."""
    low, high = (min(max(float(t), -1e3), 1e3) for t in (a, b))
    return 0.5 * (low + high)


def _part_integrated(at, path, like, over, how, size):
    """The integral of one number or array of the cotangents."""
    parts = [np.real, np.imag] if np.iscomplexobj(like) else [np.real]
    found = np.zeros(like.shape, complex if len(parts) == 2 else float)
    for index in np.ndindex(like.shape):
        for unit, part in zip((1.0, 1j), parts):

            def number(t, index=index, part=part):
                y = at(t).get(path)
                return 0.0 if y is None else float(part(np.asarray(y)[index]))

            found[index] += unit * _number_integrated(number, over, how, size)
    return found if found.ndim else found[()]


def _number_integrated(number, over, how, size):
    """An integral by QUADPACK, which must succeed."""
    a, b, points = over
    epsabs = max(how.epsabs, 1e-14) * size
    limit = max(50, min(how.limit, 500))
    words = {"epsabs": epsabs, "epsrel": how.epsrel, "limit": limit, "points": points}
    y, error, *told = integrate.quad(number, a, b, full_output=True, **words)
    if len(told) > 1 and not error <= 1e-5 * abs(y) + 1e3 * epsabs:
        refuse(
            f"the slope of the integrand cannot be integrated: {' '.join(str(told[1]).split())[:90]}",
            "substitute, so that the slope has no singularity, or split the integral where it has",
        )
    return y


def check_integrand(f, a, b, points, how):
    """NotDifferentiableError where the integrand jumps between the numbers at which it is asked for."""
    asked = {}

    def noted(t):
        y = f(t)
        asked[t] = np.array(y)
        return y

    how(noted, a, b, points)
    where = jump_in(f, asked, () if points is None else np.ravel(points))
    if where is not None:
        refuse(
            f"the integrand jumps at {where:.6g}, and where it jumps may depend on what varies",
            "split the integral there: where the limit moves, it is differentiated",
            "points= with that number, if the jump stays where it is",
        )


TABLE.non_differentiable(check_integrand, check_points, is_finite)


# -- the functions of SciPy ----------------------------------------------------------------------------------


def of_number(func, args):
    """func as a function of its first argument alone."""
    given = args if isinstance(args, tuple) else (args,)

    def of_one(t):
        return func(t, *given)

    return of_one


_TOLERANCE = 1.49e-8


@TABLE.stands_in(integrate.quad)
def quad(
    func, a, b, args=(), full_output=0, epsabs=_TOLERANCE, epsrel=_TOLERANCE, limit=50, points=None,
    weight=None, wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False,
):  # fmt: skip
    refuse_given("quad", "multiply the integrand with the weight", weight=weight)
    refuse_given("quad", "what it tells of its steps has no derivative", full_output=full_output)
    how = how_quad(epsabs, epsrel, limit, complex_func)
    return integral(of_number(func, args), a, b, points, how)


def how_quad(epsabs, epsrel, limit, complex_func=False):
    return How(integrate.quad, epsabs, epsrel, limit, {"complex_func": True} if complex_func else {})


@TABLE.stands_in(integrate.quad_vec)
def quad_vec(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100000000.0, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    refuse_given("quad_vec", "what it tells of its steps has no derivative", full_output=full_output)
    check_workers(workers)
    how = how_quad_vec(epsabs, epsrel, limit, norm, cache_size, quadrature)
    return integral(of_number(f, args), a, b, points, how)


def how_quad_vec(epsabs, epsrel, limit, norm, cache_size, quadrature):
    options = {"norm": norm, "cache_size": cache_size, "quadrature": quadrature}
    return How(integrate.quad_vec, epsabs, epsrel, limit, options)


def check_workers(workers):
    if workers != 1:
        refuse("scipy's quad_vec is not differentiated with workers=", "leave it out")


def run_plainly(target, *args):
    """What a function of SciPy gives."""
    return target(*args)


TABLE.non_differentiable(how_quad, how_quad_vec, check_workers, run_plainly)


@TABLE.stands_in(integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=_TOLERANCE, epsrel=_TOLERANCE):
    how = how_quad(epsabs, epsrel, 50)
    given = args if isinstance(args, tuple) else (args,)

    def over_y(x):
        def of_y(y):
            return func(y, x, *given)

        return integral(of_y, end_at(gfun, x), end_at(hfun, x), None, how)[0]

    value, error = run_plainly(integrate.dblquad, func, a, b, gfun, hfun, args, epsabs, epsrel)
    return as_given(value, integral(over_y, a, b, None, how)[0]), error


def end_at(end, *xs):
    """A limit of an inner integral, a number or a function of the outer variables."""
    return end(*xs) if callable(end) else end


@TABLE.stands_in(integrate.tplquad)
def tplquad(func, a, b, gfun, hfun, qfun, rfun, args=(), epsabs=_TOLERANCE, epsrel=_TOLERANCE):
    how = how_quad(epsabs, epsrel, 50)
    given = args if isinstance(args, tuple) else (args,)

    def over_y(x):
        def over_z(y):
            def of_z(z):
                return func(z, y, x, *given)

            return integral(of_z, end_at(qfun, x, y), end_at(rfun, x, y), None, how)[0]

        return integral(over_z, end_at(gfun, x), end_at(hfun, x), None, how)[0]

    ends = (a, b, gfun, hfun, qfun, rfun)
    value, error = run_plainly(integrate.tplquad, func, *ends, args, epsabs, epsrel)
    return as_given(value, integral(over_y, a, b, None, how)[0]), error


@TABLE.stands_in(integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    value = run_plainly(integrate.fixed_quad, func, a, b, args, n)[0]
    nodes, weights = np.polynomial.legendre.leggauss(n)
    at = (b - a) * (nodes + 1) / 2.0 + a
    return as_given(value, (b - a) / 2.0 * np.sum(weights * func(at, *args), axis=-1)), None
