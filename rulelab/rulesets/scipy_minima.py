"""Minimisers of `scipy.optimize` by the implicit function theorem: at a minimum the gradient is zero, so x
solves `f_x(x, θ) = 0` and moves by `-f_xx⁻¹ f_xθ`.

First guesses, brackets, tolerances and slopes given beside the function do not move a minimum: nothing
depends on them. A minimum at a bound or a constraint solves other equations and is refused.
"""

from __future__ import annotations

import numpy as np

from .array_likes import refuse
from .given_values import as_given
from .scipy_implicit import (
    ImplicitTable,
    asking,
    packed,
    refuse_failure,
    refuse_given,
    unanswered,
)
from .scipy_optimize import optimize
from .scipy_roots import first_of, of_unknown, root_of

TABLE = ImplicitTable("scipy_minima")


def minimum_of(objective, x):
    """The minimum x of a function of a number or of an array of numbers."""
    return asking(stationary, objective, x)


def stationary(config, objective, x):
    """What x is where the objective has a horizontal tangent."""

    def slope(x):
        return config.rrule_via_ad(objective, x)[1](1.0)[1]

    return root_of(slope, x)


# -- functions of several numbers ----------------------------------------------------------------------------


def run_minimize(fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options):
    said = optimize.minimize(
        fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options
    )
    # To a loss of digits a minimum is often found before a solver says so; whether it is one, is looked at.
    if not said.success and said.status != 2:
        refuse_failure("minimize", said.message)
    return _told(said, "x", "fun")


def _told(said, *names):
    """These entries of a result, its class, and the other entries."""
    rest = {name: value for name, value in said.items() if name not in names}
    return (*[said[name] for name in names], type(said), rest)


def check_inside(name, x, bounds):
    """NotDifferentiableError for a solution at a bound, which stays there while the parameters move."""
    if bounds is None:
        return
    low, high = _ends_of(bounds)
    low, high, x = (np.atleast_1d(np.asarray(end, dtype=float)) for end in (low, high, x))
    with np.errstate(invalid="ignore"):
        near = 1e-7 * np.maximum(1.0, np.abs(x))
        at_end = (x - low <= near) | (high - x <= near)
    if np.any(at_end):
        refuse(
            f"the minimum that {name} found is at a bound of unknown {int(np.argmax(at_end))}, where "
            "other equations hold",
            "leave out the unknowns that are at their bounds, and pass them as parameters",
        )


def _ends_of(bounds):
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    ends = [(-np.inf if lo is None else lo, np.inf if hi is None else hi) for lo, hi in bounds]
    return [lo for lo, _ in ends], [hi for _, hi in ends]


TABLE.non_differentiable(run_minimize, check_inside)

_CONSTRAINED = "a minimum under constraints satisfies other equations, with multipliers"


@TABLE.stands_in(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None,
    callback=None, options=None,
):  # fmt: skip
    refuse_given("minimize", _CONSTRAINED, constraints=constraints)
    found, least, kind, rest = run_minimize(
        fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options
    )
    check_inside("minimize", found, bounds)
    of_x = of_unknown(fun, args)
    objective = scalar_of(first_of(of_x) if jac is True else of_x)
    x = minimum_of(objective, found)
    return packed(kind, ("x", "fun"), (x, as_given(least, objective(x))), rest)


def scalar_of(f):
    """An objective that may give an array of one number, as a number."""

    def objective(x):
        y = f(x)
        return y if np.ndim(y) == 0 else np.reshape(np.asarray(y), ())[()]

    return objective


def run_minimize_scalar(*args):
    said = optimize.minimize_scalar(*args)
    if not said.success:
        refuse_failure("minimize_scalar", said.message)
    return _told(said, "x", "fun")


TABLE.non_differentiable(run_minimize_scalar)


@TABLE.stands_in(optimize.minimize_scalar)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    found, least, kind, rest = run_minimize_scalar(fun, bracket, bounds, args, method, tol, options)
    check_inside("minimize_scalar", found, None if bounds is None else [bounds])
    objective = scalar_of(of_unknown(fun, args))
    x = minimum_of(objective, found)
    return packed(kind, ("x", "fun"), (x, as_given(least, objective(x))), rest)


# -- least squares -------------------------------------------------------------------------------------------


def run_least_squares(fun, x0, args, words, rest):
    said = optimize.least_squares(fun, x0, args=args, kwargs=words, **rest)
    if not said.success:
        refuse_failure("least_squares", said.message)
    if np.any(said.active_mask):
        refuse(
            "the minimum that least_squares found is at a bound, where other equations hold",
            "leave out the unknowns that are at their bounds, and pass them as parameters",
        )
    return _told(said, "x", "fun", "cost")


def check_loss(loss):
    if loss != "linear":
        refuse(
            f"scipy's least_squares is not differentiated with loss={loss!r}",
            "use minimize, with the sum of the losses",
        )


TABLE.non_differentiable(run_least_squares, check_loss)


@TABLE.stands_in(optimize.least_squares)
def least_squares(fun, x0, jac="2-point", *, args=(), kwargs=None, loss="linear", **rest):
    check_loss(loss)
    words = {} if kwargs is None else kwargs
    found, left, least, kind, told = run_least_squares(fun, x0, args, words, {"jac": jac, **rest})

    def residuals(x):
        return np.atleast_1d(fun(x, *args, **words))

    def cost(x):
        return 0.5 * np.sum(residuals(x) ** 2)

    x = minimum_of(cost, found)
    values = (x, as_given(left, residuals(x)), as_given(least, cost(x)))
    return packed(kind, ("x", "fun", "cost"), values, told)


def run_curve_fit(f, xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds, rest):
    found, covariance = optimize.curve_fit(
        f, xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds, **rest
    )
    if np.ndim(sigma) > 1:
        refuse("scipy's curve_fit is not differentiated with a sigma that is a matrix", "whiten the data")
    low, high = _ends_of(bounds) if hasattr(bounds, "lb") else bounds
    if np.any(np.isfinite(low)) or np.any(np.isfinite(high)):
        ends = [np.broadcast_to(end, found.shape) for end in (low, high)]
        check_inside("curve_fit", found, list(zip(*ends, strict=True)))
    return found, covariance


TABLE.non_differentiable(run_curve_fit)


@TABLE.stands_in(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=None, bounds=(-np.inf, np.inf),
    method=None, jac=None, *, full_output=False, nan_policy=None, **rest,
):  # fmt: skip
    refuse_given("curve_fit", "ask for the parameters only", full_output=full_output)
    refuse_given("curve_fit", "remove NaN first, and leave it out", nan_policy=nan_policy)
    options = {"method": method, "jac": jac, **rest}
    found, covariance = run_curve_fit(
        f, xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds, options
    )
    at = np.asarray(xdata) if isinstance(xdata, (list, tuple)) else xdata

    def cost(p):
        r = f(at, *[p[k] for k in range(len(found))]) - np.asarray(ydata)
        return 0.5 * np.sum((r if sigma is None else r / np.asarray(sigma)) ** 2)

    best = minimum_of(cost, found)
    return best, unanswered(covariance, "the covariance of curve_fit", best)
