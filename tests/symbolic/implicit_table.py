"""The part of docs/reference/scipy.md on `scipy.integrate` and `scipy.optimize`: what their rules are by, and
the functions that have none.
"""

from __future__ import annotations

import collections

from scipy import integrate, optimize

from rulelab.rules.rule import StandIn
from rulelab.rulesets import scipy_integrate, scipy_optimize
from rulelab.rulesets.catalogue import integral_tables, solver_tables

FUNCTION = "what the function holds"
BY = {
    "trapezoid": ("`y`, `x`, `dx`", ""),
    "cumulative_trapezoid": ("`y`, `x`, `dx`", ""),
    "simpson": ("`y`, `x`, `dx`", "two samples at one place are refused"),
    "cumulative_simpson": ("`y`, `x`, `dx`, `initial`", ""),
    "romb": ("`y`, `dx`", "`show=` is refused"),
    "quad": (
        f"{FUNCTION}, `args`, `a`, `b`",
        "`weight=`, `full_output=`, jumps and moving `points=` are refused",
    ),
    "quad_vec": (f"{FUNCTION}, `args`, `a`, `b`", "as `quad`; `workers=` is refused"),
    "dblquad": (
        f"{FUNCTION}, its limits and theirs, `args`",
        "an integral within an integral: at least 21² slopes",
    ),
    "tplquad": (f"{FUNCTION}, its limits and theirs, `args`", "at least 21³ slopes, which takes seconds"),
    "fixed_quad": (f"{FUNCTION}, `args`, `a`, `b`", "the sum over the nodes, exactly"),
    "solve_ivp": (
        f"{FUNCTION}, `args`, `y0`, `t_span`, `t_eval`",
        "`.y`, `.t`; without `t_eval=` only their first and last; events and `dense_output=` are refused",
    ),
    "odeint": (f"{FUNCTION}, `args`, `y0`, `t`", "`full_output=` is refused"),
    "root_scalar": (f"{FUNCTION}, `args`", "`.root`"),
    "newton": (f"{FUNCTION}, `args`", "numbers and arrays of them; `full_output=` of numbers"),
    "root": (f"{FUNCTION}, `args`", "`.x`, of real numbers"),
    "fsolve": (f"{FUNCTION}, `args`", "of real numbers"),
    "fixed_point": (f"{FUNCTION}, `args`", "numbers and arrays of them"),
    "minimize": (f"{FUNCTION}, `args`", "`.x`, `.fun`; constraints and active bounds are refused"),
    "minimize_scalar": (f"{FUNCTION}, `args`", "`.x`, `.fun`; active bounds are refused"),
    "least_squares": (
        f"{FUNCTION}, `args`, `kwargs`",
        "`.x`, `.fun`, `.cost`; active bounds and losses that are not linear are refused",
    ),
    "curve_fit": (
        f"{FUNCTION}, `xdata`, `ydata`, `sigma`",
        "the parameters; the covariance, active bounds and a matrix for `sigma` are refused",
    ),
    "rosen": ("`x`", ""),
}
for _name in ("brentq", "brenth", "bisect", "ridder", "toms748"):
    BY[_name] = (f"{FUNCTION}, `args`", "a double root, a jump or a pole is refused")

HEAD = """## Integrals, equations, minima

Functions of `scipy.integrate` and `scipy.optimize` run unchanged, and their results are differentiated by
rules: Leibniz's for integrals, the implicit function theorem for roots and minima, equations for the
slopes of trajectories ([why](../design/scipy.md#implicit-rules)). All of these exist in both modes; each
is checked against differences of order eight of the whole function and, in first and second order,
against a closed form or a solution in fifty digits; higher orders use the same rules. What a function
*holds* is what it captures, its defaults, and what an object or a partial keeps. Slopes are as exact as
the solution, that is, to the tolerances of the call. A solution does not depend on first guesses,
brackets and tolerances: its slope with respect to them is zero. Further numbers of a solver (residuals,
an approximate Hessian) depend on the parameters and are refused; the estimated error of an integral,
counts and messages are constants.

| function | differentiable in | conventions |
| --- | --- | --- |
"""


def stated(tables, module):
    """The names of a module that a table has a stand-in for."""
    targets = {id(t) for table in tables for t, stand_in in table.stand_ins if isinstance(stand_in, StandIn)}
    return [name for name in module.__all__ if id(getattr(module, name)) in targets]


def sections():
    """The text of this part of the page."""
    names = [*stated(integral_tables(), integrate), *stated(solver_tables(), optimize)]
    rows = "\n".join(f"| `{name}` | {BY[name][0]} | {BY[name][1]} |" for name in names)
    by_reason = collections.defaultdict(list)
    for lists in (scipy_integrate, scipy_optimize):
        for name, why in lists.REFUSED.items():
            by_reason[why].append(f"`{name}`")
    refused = "\n".join(f"| {', '.join(given)} | {why} |" for why, given in by_reason.items())
    constant = ", ".join(f"`{name}`" for name in (*scipy_integrate.CONSTANT, *scipy_optimize.CONSTANT))
    without = (
        f"Constants: {constant}. Refused if an argument varies:\n\n"
        f"| names | why |\n| --- | --- |\n{refused}\n"
    )
    return f"{HEAD}{rows}\n\n{without}"
