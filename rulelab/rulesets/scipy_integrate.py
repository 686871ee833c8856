"""`scipy.integrate` as far as it has no rule: what is constant, and why the others are refused."""

from ..rules.refusals import state_reasons
from .scipy_implicit import ImplicitTable, NoFunctions, named, reasons_by_name, state_results

try:
    from scipy import integrate
    from scipy.optimize import OptimizeResult
except ImportError:
    integrate, OptimizeResult = NoFunctions(), None

TABLE = ImplicitTable("scipy_integrate")

state_results(TABLE, OptimizeResult)  # what `solve_ivp` gives is one

CONSTANT = named(integrate, "lebedev_rule")
"""Those of whole numbers alone."""

TABLE.non_differentiable(*[getattr(integrate, name) for name in CONSTANT])

REFUSED = reasons_by_name(
    integrate,
    {
        "use dblquad or tplquad, or a quad within a quad": "nquad",
        "use quad, dblquad or quad_vec": "tanhsinh cubature",
        "sum the terms with NumPy": "nsum",
        "random points: the error of a slope would be unknown": "qmc_quad",
        "weights that depend on positions: not derived here": "newton_cotes",
        "use trapezoid, simpson or cumulative_trapezoid": "trapz simps cumtrapz",
        "use quad or fixed_quad": "quadrature romberg",
        "a boundary value problem: use the shooting method, with solve_ivp and root": "solve_bvp",
        "steps taken one by one: use solve_ivp": (
            "ode complex_ode OdeSolver OdeSolution DenseOutput RK23 RK45 DOP853 Radau BDF LSODA"
        ),
    },
)
"""Why each has no rule."""

state_reasons(integrate, REFUSED)
