"""The rules that come with rulelab, a file for a family of functions."""

from pathlib import Path

from ..own_code import stands_in

stands_in(str(Path(__file__).parent))  # all rules, and what they are written with
