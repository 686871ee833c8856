"""Is this rule right? By numbers: finite differences, testers of rules, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without
from .configs import FiniteDifferenceConfig
from .lint import Lint, rule_lint
from .perturb import DomainError, Kind, rand_tangent, with_tangent
from .points import NoInputsError
from .reports import InconclusiveCheckError, RuleCheck, WrongRuleError
from .subjects import NoRuleError
from .testers import (
    Checking,
    check_frule,
    check_rrule,
    check_scalar,
    checking,
    rule_check,
    test_frule,
    test_rrule,
    test_scalar,
)

__all__ = [
    "Checking",
    "Comparison",
    "DomainError",
    "FiniteDifferenceConfig",
    "InconclusiveCheckError",
    "Kind",
    "Lint",
    "NoInputsError",
    "NoRuleError",
    "RuleCheck",
    "Settings",
    "WrongRuleError",
    "check_frule",
    "check_rrule",
    "check_scalar",
    "checking",
    "compare",
    "compare_without",
    "rand_tangent",
    "rule_check",
    "rule_lint",
    "test_frule",
    "test_rrule",
    "test_scalar",
    "with_tangent",
]
