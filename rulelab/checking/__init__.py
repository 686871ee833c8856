"""Is this rule right? By numbers: finite differences, testers of rules, and two functions side by side.

The rooms, lowest first; each imports only from those above it in this list:

* `measuring`: derivatives measured by finite differences, over arguments of any structure.
* `calling`: the author's function and rule, called on copies, within a budget.
* `reading`: what source text and docstrings say of the parameters.
* `probing`: one point of a check, its variants, and what is found there.
* `arguments`: which arguments a check uses where nobody gave any.
* `judgement`: whether a rule is right at each point, and the report.
* `doctor`: which mistake is behind a wrong rule, and the corrected line.
* `advice`: advice on how a rule is written.
* `comparing`: two functions side by side.
* `testing`: what an author calls.
* `batch`: many checks at once.

`findiff` (one-variable differences) stands below all of them, `many` (every rule of a module) above.
"""

from ..own_code import bears_witness
from .advice.lint import Lint, rule_lint
from .arguments.guesser import NoInputsError
from .calling.subjects import NoRuleError
from .comparing.compared import Comparison
from .comparing.comparison import Settings, compare, compare_without
from .judgement.reports import InconclusiveCheckError, RuleCheck, WrongRuleError
from .measuring.configs import FiniteDifferenceConfig
from .measuring.difference_methods import (
    FiniteDifferenceMethod,
    backward_fdm,
    central_fdm,
    estimate_step,
    extrapolate_fdm,
    forward_fdm,
)
from .measuring.differences import fd_gradient, fd_jacobian, fd_jvp, fd_vjp
from .measuring.oracles import (
    Measured,
    complex_step,
    measured_jacobian,
    measured_jvp,
    mp_derivative,
)
from .measuring.vectors import (
    Leaf,
    cotangent_like,
    cotangent_vec,
    gradient_like,
    leaves,
    to_vec,
)
from .probing.perturb import rand_tangent, with_tangent
from .reading.kinds import DomainError, Kind
from .testing.checks import Checking
from .testing.gradients import (
    GradientCheck,
    WrongGradientError,
    check_gradient,
    grad_check,
    test_gradient,
)
from .testing.testers import (
    check_frule,
    check_rrule,
    check_scalar,
    checking,
    rule_check,
    test_frule,
    test_rrule,
    test_scalar,
)
from .testing.vjps import check_vjp

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
