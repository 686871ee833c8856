"""The rules that come with rulelab, a file for a family of functions."""

import os

from ..own_code import stands_in

stands_in(os.path.dirname(__file__))  # all rules, and what they are written with
