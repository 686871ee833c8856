"""Lets the tests of the rules import the forms of rules that lie beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
