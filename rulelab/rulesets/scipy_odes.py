"""Initial value problems by `scipy.integrate`: `solve_ivp` and `odeint`."""

from __future__ import annotations

import numpy as np

from .array_likes import dense, is_zero, refuse
from .given_values import as_given
from .scipy_implicit import NO, ImplicitTable, packed, refuse_failure, refuse_given
from .scipy_integrate import integrate
from .scipy_trajectories import SolverOptions, trajectory

TABLE = ImplicitTable("scipy_odes")


def run_solve_ivp(fun, t_span, y0, method, t_eval, vectorized, args, options):
    found = integrate.solve_ivp(
        fun, t_span, y0, method=method, t_eval=t_eval, vectorized=vectorized, args=args, **options
    )
    if not found.success:
        refuse_failure("solve_ivp", found.message)
    rest = {name: value for name, value in found.items() if name not in ("t", "y")}
    how = SolverOptions(method, *(options.get(name, usual) for name, usual in _USUAL.items()))
    return found.t, found.y, type(found), rest, how


_USUAL = {"rtol": 1e-3, "atol": 1e-6, "max_step": np.inf}


def check_real(y0):
    if np.iscomplexobj(y0):
        refuse(
            "scipy's solve_ivp of complex numbers is not differentiated",
            "solve for their real and imaginary parts",
        )


def inner(times):
    """The times between the first and the last, which the solver has chosen."""
    return np.array(times[1:-1])


TABLE.non_differentiable(run_solve_ivp, check_real, inner)


@TABLE.stands_in(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
    args=None, **options,
):  # fmt: skip
    refuse_given("solve_ivp", "ask for the times that you need: t_eval=", dense_output=dense_output)
    refuse_given("solve_ivp", "the time of an event has no rule: find it with root", events=events)
    check_real(y0)
    t, y, kind, rest, how = run_solve_ivp(fun, t_span, y0, method, t_eval, vectorized, args, options)
    t0, t1 = t_span
    start = np.asarray(y0) * 1.0
    rate, given = of_columns(fun) if vectorized else fun, () if args is None else args
    if t_eval is not None:
        times = np.asarray(t_eval) * 1.0
        return packed(kind, ("t", "y"), (times, trajectory(rate, given, t0, times, start, how, y)), rest)
    times = np.concatenate((np.array([t0 * 1.0]), inner(t), np.array([t1 * 1.0])))
    ys = trajectory(rate, given, t0, times, start, how, y)
    return packed(kind, ("t", "y"), (only_ends(times), only_ends(ys)), rest)


def of_columns(fun):
    """A right side that is written for several states at once, of one."""

    def of_one(t, y, *args):
        return fun(t, np.reshape(y, (len(y), 1)), *args)

    return of_one


def only_ends(values):
    """What a solver gives at times of its own choice: only the first and the last have a derivative. The
    cotangents of the others are refused, their tangents are NaN.
    """
    return np.array(values)


@TABLE.rrule(only_ends, leading=1)
def only_ends_rrule(values):
    def only_ends_pullback(bar):
        if not is_zero(bar) and np.any(np.asarray(bar)[..., 1:-1]):
            refuse(
                "the solution of scipy's solve_ivp at times that it chose itself is not differentiated: "
                "they depend on the parameters",
                "give the times: t_eval=",
                "take the last: sol.y[:, -1]",
            )
        return NO, bar

    return only_ends(values), only_ends_pullback


@TABLE.frule(only_ends)
def only_ends_frule(tangents, values):
    at = np.arange(np.shape(values)[-1])
    is_end = np.logical_or(at == 0, at == np.shape(values)[-1] - 1)
    return only_ends(values), np.where(is_end, dense(values, tangents[1]), np.nan)


# -- odeint --------------------------------------------------------------------------------------------------


def run_odeint(func, y0, t, args, tfirst, words):
    found, told = integrate.odeint(func, y0, t, args, full_output=True, tfirst=tfirst, **words)
    if told["message"] != "Integration successful.":
        refuse_failure("odeint", told["message"])
    rtol, atol = (words.get(name) for name in ("rtol", "atol"))
    if np.ndim(rtol):
        refuse("scipy's odeint is not differentiated with an rtol for each number", "give one number")
    usual = 1.49012e-8
    rtol, atol = (usual if told is None else told for told in (rtol, atol))
    return found, SolverOptions("LSODA", rtol, atol, state_first=not tfirst)


TABLE.non_differentiable(run_odeint)


@TABLE.stands_in(integrate.odeint)
def odeint(func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, tfirst=False, **options):
    refuse_given("odeint", "what it reports about its steps has no derivative", full_output=full_output)
    words = {"Dfun": Dfun, "col_deriv": col_deriv, **options}
    given = args if isinstance(args, tuple) else (args,)
    found, how = run_odeint(func, y0, t, given, tfirst, words)
    times, start = np.asarray(t) * 1.0, np.atleast_1d(np.asarray(y0) * 1.0)
    ys = trajectory(func, given, times[0], times, start, how, np.transpose(found))
    return as_given(found, np.transpose(ys))
