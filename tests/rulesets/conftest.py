"""Lets the tests of the rulesets import the checker that lies beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
