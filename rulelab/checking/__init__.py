"""Is this rule right? By numbers: finite differences, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without
from .lint import Lint, rule_lint

__all__ = ["Comparison", "Lint", "Settings", "compare", "compare_without", "rule_lint"]
