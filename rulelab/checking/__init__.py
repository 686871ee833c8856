"""Is this rule right? By numbers: finite differences, and two functions side by side."""

from .comparison import Comparison, Settings, compare, compare_without

__all__ = ["Comparison", "Settings", "compare", "compare_without"]
