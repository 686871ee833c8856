"""Which mistake is behind a wrong rule: what is looked at, what is recognised, and the line corrected."""

from .diagnoses import ADVICE, MISTAKES, Strict, diagnose
from .regions import has_branches
from .verifying import OF_OTHER_KINDS

__all__ = ["ADVICE", "MISTAKES", "OF_OTHER_KINDS", "Strict", "diagnose", "has_branches"]
