"""Prove that a rule is right: the author's own code is run on traced numbers, and SymPy decides about the
difference. Also derives rules with SymPy.
"""

from ..own_code import bears_witness
from .caveats import Caveat
from .check import prove
from .derivative_report import AtPoint, DerivativeReport
from .derivatives import sym_check
from .derive import DerivedRule, derive_rule
from .report import SymbolicReport
from .stability import StabilityReport, scan_stability
from .verdicts import Agrees, Converges, Counterexample, Proved, Refuted, Undecided, Unsupported

bears_witness(__name__)

__all__ = [
    "Agrees",
    "AtPoint",
    "Caveat",
    "Converges",
    "Counterexample",
    "DerivativeReport",
    "DerivedRule",
    "Proved",
    "Refuted",
    "StabilityReport",
    "SymbolicReport",
    "Undecided",
    "Unsupported",
    "derive_rule",
    "prove",
    "scan_stability",
    "sym_check",
]
