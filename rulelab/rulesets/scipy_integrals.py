"""Integrals of functions by `scipy.integrate`: one, one in another, of vectors, over fixed nodes."""

from __future__ import annotations

import numpy as np

from .array_likes import refuse
from .given_values import as_given
from .scipy_implicit import ImplicitTable, refuse_given
from .scipy_integrate import integrate
from .scipy_quadrature import IntegrationOptions, integral

TABLE = ImplicitTable("scipy_integrals")


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
    refuse_given("quad", "multiply the integrand by the weight", weight=weight)
    refuse_given("quad", "what it reports about its steps has no derivative", full_output=full_output)
    how = how_quad(epsabs, epsrel, limit, complex_func)
    return integral(of_number(func, args), a, b, points, how)


def how_quad(epsabs, epsrel, limit, complex_func=False):
    return IntegrationOptions(
        integrate.quad, epsabs, epsrel, limit, {"complex_func": True} if complex_func else {}
    )


@TABLE.stands_in(integrate.quad_vec)
def quad_vec(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100000000.0, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    refuse_given("quad_vec", "what it reports about its steps has no derivative", full_output=full_output)
    check_workers(workers)
    how = how_quad_vec(epsabs, epsrel, limit, norm, cache_size, quadrature)
    return integral(of_number(f, args), a, b, points, how)


def how_quad_vec(epsabs, epsrel, limit, norm, cache_size, quadrature):
    options = {"norm": norm, "cache_size": cache_size, "quadrature": quadrature}
    return IntegrationOptions(integrate.quad_vec, epsabs, epsrel, limit, options)


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
