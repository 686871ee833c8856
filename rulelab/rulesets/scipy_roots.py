"""Root finders of `scipy.optimize` by the implicit function theorem: x solves f(x, θ) = 0, so it moves by
`-f_x⁻¹ f_θ`.

Brackets, first guesses and tolerances do not move a root: nothing depends on them.
"""

from __future__ import annotations

import numpy as np

from .array_likes import refuse
from .given_values import as_given
from .scipy_implicit import ImplicitTable, packed, refuse_failure, solution
from .scipy_optimize import optimize

TABLE = ImplicitTable("scipy_roots")

_XTOL, _RTOL = 2e-12, 4 * np.finfo(float).eps


def root_of(f, x, off=None):
    """The root x, a number or an array of any shape, of a function that gives as many numbers. `off` is how
    far from it the tolerances of the finder let it be.
    """
    shape = np.shape(x)

    def residual(flat):
        return np.ravel(np.asarray(f(np.reshape(flat, shape) if shape else flat[0])))

    found = solution(residual, flat_of(x), off)
    return as_given(x, np.reshape(found, shape) if shape else found[0])


def flat_of(x):
    """The unknowns one after the other; the theorem is stated for real ones."""
    if np.iscomplexobj(x):
        refuse(
            "a root that is a complex number is not differentiated",
            "solve for its real and imaginary parts, two real unknowns",
        )
    return np.ravel(np.asarray(x, dtype=float))


def of_unknown(f, args):
    """f as a function of the unknown alone; `args` may be a single argument."""
    given = args if isinstance(args, tuple) else (args,)

    def of_one(x):
        return f(x, *given)

    return of_one


def first_of(f):
    """A function that gives its slopes besides, without them."""

    def first(x):
        return f(x)[0]

    return first


def within(x, absolute, relative):
    """How far from a root a finder with these tolerances may stop."""
    return float(absolute + relative * np.max(np.abs(x), initial=0.0))


TABLE.non_differentiable(flat_of, within)


# -- one equation --------------------------------------------------------------------------------------------


def run_one(target, *args, **words):
    """The root that a finder gives, and what it says of it: its class, and what is no root."""
    found, said = target(*args, full_output=True, **words)
    if np.ndim(found):
        refuse(f"{target.__name__} with full_output=True of an array is not differentiated", "leave it out")
    return (found, *_told(target.__name__, said))


def _told(name, said):
    if not said.converged:
        refuse_failure(name, said.flag)
    return type(said), {word: value for word, value in said.items() if word != "root"}


TABLE.non_differentiable(run_one)


def _state_bracketing(target):
    @TABLE.stands_in(target)
    def by_bracket(f, a, b, args=(), xtol=_XTOL, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
        words = {"args": args, "xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
        found, kind, rest = run_one(target, f, a, b, **words)
        x = root_of(of_unknown(f, args), found, within(found, xtol, rtol))
        return (x, packed(kind, ("root",), (x,), rest)) if full_output else x


for _target in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder):
    if _target is not None:
        _state_bracketing(_target)


@TABLE.stands_in(optimize.toms748)
def toms748(f, a, b, args=(), k=1, xtol=_XTOL, rtol=_RTOL, maxiter=100, full_output=False, disp=True):
    words = {"args": args, "k": k, "xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    found, kind, rest = run_one(optimize.toms748, f, a, b, **words)
    x = root_of(of_unknown(f, args), found, within(found, xtol, rtol))
    return (x, packed(kind, ("root",), (x,), rest)) if full_output else x


def run_newton(full_output, *args):
    """The root, or roots of an array, that Newton's method or the secant method gives."""
    if full_output or np.ndim(args[1]) == 0:
        return run_one(optimize.newton, *args[:9], disp=args[9])
    return optimize.newton(*args[:9], disp=args[9]), None, {}


TABLE.non_differentiable(run_newton)


@TABLE.stands_in(optimize.newton)
def newton(
    func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, x1=None, rtol=0.0,
    full_output=False, disp=True,
):  # fmt: skip
    found, kind, rest = run_newton(full_output, func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol, disp)
    x = root_of(of_unknown(func, args), found, within(found, tol, rtol))
    return (x, packed(kind, ("root",), (x,), rest)) if full_output else x


def run_root_scalar(*args):
    said = optimize.root_scalar(*args)
    return (said.root, *_told("root_scalar", said))


TABLE.non_differentiable(run_root_scalar)


@TABLE.stands_in(optimize.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None,
    rtol=None, maxiter=None, options=None,
):  # fmt: skip
    found, kind, rest = run_root_scalar(
        f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options
    )
    of_x = of_unknown(f, args)
    x = root_of(first_of(of_x) if fprime is True or fprime2 is True else of_x, found)
    return packed(kind, ("root",), (x,), rest)


# -- several equations ---------------------------------------------------------------------------------------


def run_root(*args):
    said = optimize.root(*args)
    if not said.success:
        refuse_failure("root", said.message)
    return said.x, type(said), {name: value for name, value in said.items() if name != "x"}


def run_fsolve(*args):
    x, told, code, message = optimize.fsolve(*args[:3], fprime=args[3], full_output=True, **args[4])
    if code != 1:
        refuse_failure("fsolve", message)
    return x, told, code, message


def run_fixed_point(*args):
    return optimize.fixed_point(*args)


TABLE.non_differentiable(run_root, run_fsolve, run_fixed_point)


@TABLE.stands_in(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    found, kind, rest = run_root(fun, x0, args, method, jac, tol, callback, options)
    of_x = of_unknown(fun, args)
    x = root_of(first_of(of_x) if jac is True else of_x, found)
    return packed(kind, ("x",), (x,), rest)


@TABLE.stands_in(optimize.fsolve)
def fsolve(
    func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-08, maxfev=0, band=None,
    epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    words = {
        "col_deriv": col_deriv, "xtol": xtol, "maxfev": maxfev, "band": band, "epsfcn": epsfcn,
        "factor": factor, "diag": diag,
    }  # fmt: skip
    found, told, code, message = run_fsolve(func, x0, args, fprime, words)
    x = root_of(of_unknown(func, args), found, within(found, 0.0, xtol))
    return (x, packed(dict, (), (), told, x), code, message) if full_output else x


@TABLE.stands_in(optimize.fixed_point)
def fixed_point(func, x0, args=(), xtol=1e-08, maxiter=500, method="del2"):
    found = run_fixed_point(func, x0, args, xtol, maxiter, method)
    image = of_unknown(func, args)

    def residual(x):
        return x - image(x)

    return root_of(residual, found)
