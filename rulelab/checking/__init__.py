"""Is this rule right? By numbers: finite differences, testers of rules, and two functions side by side."""

from ..own_code import bears_witness
from .checks import Checking
from .compared import Comparison
from .comparison import Settings, compare, compare_without
from .configs import FiniteDifferenceConfig
from .difference_methods import (
    FiniteDifferenceMethod,
    backward_fdm,
    central_fdm,
    estimate_step,
    extrapolate_fdm,
    forward_fdm,
)
from .differences import fd_gradient, fd_jacobian, fd_jvp, fd_vjp
from .gradients import (
    GradientCheck,
    WrongGradientError,
    check_gradient,
    grad_check,
    test_gradient,
)
from .guesser import NoInputsError
from .kinds import DomainError, Kind
from .lint import Lint, rule_lint
from .oracles import (
    Measured,
    complex_step,
    measured_jacobian,
    measured_jvp,
    mp_derivative,
)
from .perturb import rand_tangent, with_tangent
from .reports import InconclusiveCheckError, RuleCheck, WrongRuleError
from .subjects import NoRuleError
from .testers import (
    check_frule,
    check_rrule,
    check_scalar,
    checking,
    rule_check,
    test_frule,
    test_rrule,
    test_scalar,
)
from .vectors import (
    Leaf,
    cotangent_like,
    cotangent_vec,
    gradient_like,
    leaves,
    to_vec,
)
from .vjps import check_vjp

bears_witness(__name__)

__all__ = [
    "Checking",
    "Comparison",
    "DomainError",
    "FiniteDifferenceConfig",
    "FiniteDifferenceMethod",
    "GradientCheck",
    "InconclusiveCheckError",
    "Kind",
    "Leaf",
    "Lint",
    "Measured",
    "NoInputsError",
    "NoRuleError",
    "RuleCheck",
    "Settings",
    "WrongGradientError",
    "WrongRuleError",
    "backward_fdm",
    "central_fdm",
    "check_frule",
    "check_gradient",
    "check_rrule",
    "check_scalar",
    "check_vjp",
    "checking",
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
    "grad_check",
    "gradient_like",
    "leaves",
    "measured_jacobian",
    "measured_jvp",
    "mp_derivative",
    "rand_tangent",
    "rule_check",
    "rule_lint",
    "test_frule",
    "test_gradient",
    "test_rrule",
    "test_scalar",
    "to_vec",
    "with_tangent",
]
