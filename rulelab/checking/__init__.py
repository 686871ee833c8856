"""Is this rule right? By numbers: finite differences, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without
from .lint import Lint, rule_lint
from .oracles import Measured, measured_jacobian, measured_jvp
from .vectors import Leaf, cotangent_like, cotangent_vec, gradient_like, leaves, to_vec

__all__ = [
    "Comparison",
    "Leaf",
    "Lint",
    "Measured",
    "Settings",
    "compare",
    "compare_without",
    "cotangent_like",
    "cotangent_vec",
    "gradient_like",
    "leaves",
    "measured_jacobian",
    "measured_jvp",
    "rule_lint",
    "to_vec",
]
