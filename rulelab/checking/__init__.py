"""Is this rule right? By numbers: finite differences, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without
from .findiff import (
    FiniteDifferenceMethod,
    backward_fdm,
    central_fdm,
    estimate_step,
    extrapolate_fdm,
    fd_gradient,
    fd_jacobian,
    fd_jvp,
    fd_vjp,
    forward_fdm,
)
from .lint import Lint, rule_lint
from .oracles import Measured, complex_step, measured_jacobian, measured_jvp, mp_derivative
from .vectors import Leaf, cotangent_like, cotangent_vec, gradient_like, leaves, to_vec

__all__ = [
    "Comparison",
    "FiniteDifferenceMethod",
    "Leaf",
    "Lint",
    "Measured",
    "Settings",
    "backward_fdm",
    "central_fdm",
    "compare",
    "compare_without",
    "complex_step",
    "cotangent_like",
    "cotangent_vec",
    "estimate_step",
    "extrapolate_fdm",
    "fd_gradient",
    "fd_jacobian",
    "fd_jvp",
    "fd_vjp",
    "forward_fdm",
    "gradient_like",
    "leaves",
    "measured_jacobian",
    "measured_jvp",
    "mp_derivative",
    "rule_lint",
    "to_vec",
]
