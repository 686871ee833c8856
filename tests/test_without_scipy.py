"""SciPy is an extra: what does not need it works without, and what does says so."""

import ast
import functools
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


@pytest.mark.slow
def test_all_but_special_functions_works_without_it(tmp_path):
    """Gradients, checks, proofs and derived rules; what SciPy alone has is refused by its name."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    words = ["PROVED", "PROVED", "[[1.0, 0.0], [0.0, 1.0]]", "True", "True", "False"]
    assert done.stdout.splitlines() == words, done.stderr


def loads_scipy_first(text, beside=None):
    """Whether a module imports SciPy before it asks pytest whether it is there, or by what it imports of the
    tests `beside` it.
    """
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if any(name.partition(".")[0] == "scipy" for name in names_imported(statement)):
                return True
            if beside is not None and any(_brings_scipy(file) for file in helpers(statement, beside)):
                return True
        elif "importorskip" in ast.dump(statement) and "scipy" in ast.dump(statement):
            return False
    return False


def names_imported(statement):
    """What may be modules among the names of an import, with dots between the parts."""
    names = [alias.name for alias in statement.names]
    if isinstance(statement, ast.Import):
        return names
    return [statement.module or "", *[".".join(filter(None, (statement.module, name))) for name in names]]


def helpers(statement, beside):
    """The files of tests that an import reads: beside the module, or by their path among the tests."""
    for name in names_imported(statement):
        path = name.removeprefix("tests.").replace(".", "/") + ".py"
        yield from {file for folder in (beside, TESTS) if (file := folder / path).is_file()}


@functools.cache
def _brings_scipy(file):
    return loads_scipy_first(file.read_text(encoding="utf-8"), file.parent)


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


@pytest.mark.slow
def test_each_module_of_tests_can_be_collected_without_it():
    """What names SciPy is skipped there, and the rest is run."""
    assert [str(file) for file in TESTS.rglob("test_*.py") if _brings_scipy(file)] == []


def test_what_a_module_imports_of_the_tests_is_read_too():
    """By its name beside the module, and by its path."""
    special = "import special_rows"
    assert loads_scipy_first(special, TESTS / "rulesets")
    asked = f"import pytest\npytest.importorskip('scipy')\n{special}"
    assert not loads_scipy_first(asked, TESTS / "rulesets")
    assert loads_scipy_first("from tests.rulesets.special_rows import SOURCE", TESTS)
