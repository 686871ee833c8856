"""SciPy is an extra: what does not need it works without, and what does says so."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

PROGRAM = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] == "scipy" else super().find_spec(name, *rest)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]

import importlib, math, pkgutil
import numpy as np
import rulelab as rl
from rulelab.checking import test_rrule
from rulelab.symbolic import derive_rule, prove, sym_check

for module in pkgutil.walk_packages(rl.__path__, "rulelab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

def wave(x):
    return math.sin(x) * x

def mean(x):
    return np.sum(x) / len(x)

rl.rrule_for(wave)(lambda x: (wave(x), lambda s: (rl.NoTangent(), s * (math.sin(x) + x * math.cos(x)))))
test_rrule(wave, 0.5)
print(prove(wave).verdict.word)
print(sym_check(mean, np.array([1.0, 2.0, 4.0])).verdict.word)
print(rl.gradient(lambda x: np.linalg.det(x), np.eye(2))[0].tolist())
print(derive_rule(wave).is_proved)
def bell(x):
    return math.gamma(x)
try:
    print(derive_rule(bell).source)
except rl.RuleLabError as error:
    print("scipy" in str(error).lower())
print("scipy" in sys.modules)
"""


def test_all_but_special_functions_works_without_it(tmp_path):
    """Gradients, checks, proofs and derived rules; what SciPy alone has is refused by its name."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    words = ["PROVED", "PROVED", "[[1.0, 0.0], [0.0, 1.0]]", "True", "True", "False"]
    assert done.stdout.splitlines() == words, done.stderr


def loads_scipy_first(text):
    """Whether a module imports SciPy before it asks pytest whether it is there."""
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [getattr(statement, "module", None) or "", *[alias.name for alias in statement.names]]
            if any(name.partition(".")[0] == "scipy" for name in names):
                return True
        elif "importorskip" in ast.dump(statement) and "scipy" in ast.dump(statement):
            return False
    return False


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("from scipy import stats", True),
        ("import scipy.special as special", True),
        ("def f():\n    import scipy", False),
        ("import pytest\npytest.importorskip('scipy')\nimport scipy", False),
    ],
)
def test_a_module_that_loads_scipy_first_is_noticed(text, does):
    """At its top, and unasked."""
    assert loads_scipy_first(text) is does


def test_each_module_of_tests_can_be_collected_without_it():
    """What names SciPy is skipped there, and the rest is run."""
    modules = TESTS.rglob("test_*.py")
    assert [str(file) for file in modules if loads_scipy_first(file.read_text(encoding="utf-8"))] == []
