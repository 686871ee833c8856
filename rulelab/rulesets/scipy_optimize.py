"""`scipy.optimize` as far as it has no implicit rule: plain formulas, constants, and why the others are
refused.
"""

import numpy as np

from ..rules.refusals import state_reasons
from .given_values import as_given
from .scipy_implicit import ImplicitTable, NoFunctions, named, reasons_by_name, state_results

try:
    from scipy import optimize
except ImportError:
    optimize = NoFunctions()

TABLE = ImplicitTable("scipy_optimize")

state_results(TABLE, optimize.OptimizeResult)

CONSTANT = named(optimize, "linear_sum_assignment show_options")
"""Those that give places and texts."""

TABLE.non_differentiable(*[getattr(optimize, name) for name in CONSTANT])


def run_rosen(x):
    return optimize.rosen(x)


TABLE.non_differentiable(run_rosen)


@TABLE.stands_in(optimize.rosen)
def rosen(x):
    xs = np.asarray(x)
    valleys, slopes = xs[1:] - xs[:-1] ** 2.0, 1.0 - xs[:-1]
    return as_given(run_rosen(x), np.sum(100.0 * valleys**2.0 + slopes**2.0, axis=0))


REFUSED = reasons_by_name(
    optimize,
    {
        "use minimize, which has the same method": (
            "fmin fmin_bfgs fmin_cg fmin_cobyla fmin_l_bfgs_b fmin_ncg fmin_powell fmin_slsqp fmin_tnc"
        ),
        "use minimize_scalar, which has the same method": "brent golden fminbound",
        "use root, which has the same method": (
            "anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov"
        ),
        "use least_squares": "leastsq",
        "a search from many points: continue from its result with minimize": (
            "basinhopping brute differential_evolution direct dual_annealing shgo"
        ),
        "a solution under constraints, which satisfies other equations": (
            "linprog milp nnls lsq_linear isotonic_regression"
        ),
        "an assignment and its cost: use linear_sum_assignment and sum": "quadratic_assignment",
        "a part of a search, which does not change its result": "bracket line_search",
        "differences: use rl.gradient": "approx_fprime check_grad",
        "slopes of rosen: use rl.gradient of it": "rosen_der rosen_hess rosen_hess_prod",
        "the state of a search, with numbers that are not followed": (
            "BFGS SR1 HessianUpdateStrategy LbfgsInvHessProduct BroydenFirst InverseJacobian KrylovJacobian"
        ),
        "constraints: a solution at one satisfies other equations": (
            "LinearConstraint NonlinearConstraint linprog_verbose_callback"
        ),
    },
)
"""Why each has no rule."""

state_reasons(optimize, REFUSED)

_RECORD = "the record of a solver, with fields that are not followed: use a tuple or a dict"
_CLASSES = {
    "Bounds": "bounds: a solution at one satisfies other equations",
    **dict.fromkeys(("OptimizeResult", "RootResults"), _RECORD),
}
state_reasons(optimize, _CLASSES)
