"""Is this rule right? By proof: the author's own code run on traced numbers, and SymPy asked about the
difference."""

from .check import prove
from .report import SymbolicReport
from .verdicts import Counterexample, Proved, Refuted, Undecided, Unsupported

__all__ = ["Counterexample", "Proved", "Refuted", "SymbolicReport", "Undecided", "Unsupported", "prove"]
