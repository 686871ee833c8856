"""Is this rule right? By numbers: finite differences, testers of rules, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without
from .gradients import GradientCheck, WrongGradientError, check_gradient, grad_check, test_gradient
from .lint import Lint, rule_lint
from .perturb import DomainError, Kind, rand_tangent, with_tangent
from .points import NoInputsError
from .reports import InconclusiveCheckError, RuleCheck, WrongRuleError
from .subjects import NoRuleError
from .testers import Checking, check_frule, check_rrule, checking, rule_check, test_frule, test_rrule

__all__ = [
    "Checking",
    "Comparison",
    "DomainError",
    "GradientCheck",
    "InconclusiveCheckError",
    "Kind",
    "Lint",
    "NoInputsError",
    "NoRuleError",
    "RuleCheck",
    "Settings",
    "WrongGradientError",
    "WrongRuleError",
    "check_frule",
    "check_gradient",
    "check_rrule",
    "checking",
    "compare",
    "compare_without",
    "grad_check",
    "rand_tangent",
    "rule_check",
    "rule_lint",
    "test_frule",
    "test_gradient",
    "test_rrule",
    "with_tangent",
]
