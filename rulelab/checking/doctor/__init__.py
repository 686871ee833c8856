"""Which mistake is behind a wrong rule: what is looked at, what is recognised, and the line corrected."""

from .diagnoses import ADVICE, MISTAKES, Strict, diagnose

__all__ = ["ADVICE", "MISTAKES", "Strict", "diagnose"]
