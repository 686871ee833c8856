"""pytest's door to rulelab: it costs nothing until it is asked, and then fails for what is not right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RULES = """
import rulelab as rl

def cube(x: float): return x**3

@rl.rrule_for(cube)
def cube_rrule(x: float):
    return x**3, lambda y_bar: (rl.NoTangent(), 3 * x**2 * y_bar)
"""
WRONG = """
def square(x: float): return x * x

@rl.rrule_for(square)
def square_rrule(x: float):
    return x * x, lambda y_bar: (rl.NoTangent(), 3 * x * y_bar)
"""
REFUSING = """
import rulelab as rl

def shout(name): return name.upper()

@rl.rrule_for(shout)
def shout_rrule(name):
    return name.upper(), lambda y_bar: (rl.NoTangent(), rl.NoTangent())
"""
TESTS = """
import pytest
from rules import cube, square

def test_cube(rulelab_check):
    assert rulelab_check(cube, 2.0).verdict == "right"

def test_square(rulelab_check):
    with pytest.raises(AssertionError, match="square_rrule of square is wrong"):
        rulelab_check(square, 2.0, depth="quick")

def test_square_fails(rulelab_check):
    rulelab_check(square, 2.0, depth="quick")
"""


def run(folder: Path, repository: Path, *words: str) -> str:
    """What pytest says in a folder, with the plugin loaded by its name; its exit code first."""
    command = [sys.executable, "-m", "pytest", "-p", "rulelab_pytest", "-p", "no:cacheprovider", "-q", *words]
    environment = os.environ | {"PYTHONPATH": str(repository), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return f"{done.returncode} {done.stdout}{done.stderr}"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "rules.py").write_text(RULES + WRONG)
    (tmp_path / "plain.py").write_text("import no_such_module\n")
    (tmp_path / "test_rules.py").write_text(TESTS)
    return tmp_path


def test_rules_are_tests_and_the_fixture_checks_one(project, repository):
    """A wrong rule fails with its report; a module that does not speak of rulelab is not imported."""
    told = run(project, repository, "--rulelab-rules")
    assert told.startswith("1 ") and "2 failed, 3 passed" in told
    assert ">       raise" not in told and ">   " in told  # the author's own line is shown, and none of ours
    assert "square_rrule of square is wrong: " in told and "the rule gives" in told
    assert "rrule of square(x: float)" in told and "no_such_module" not in told


def test_a_rule_without_arguments_fails_with_what_can_be_done_there(tmp_path, repository):
    (tmp_path / "rules.py").write_text(REFUSING)
    told = run(tmp_path, repository, "--rulelab-rules")
    assert told.startswith("1 ") and "no arguments were found that shout takes" in told
    assert "do: give them in __rulelab_points__" in told and "rule_check(" not in told


def test_a_run_that_does_not_ask_does_not_import_rulelab(tmp_path, repository):
    """Neither rulelab nor NumPy: other people's tests do not wait for them."""
    (tmp_path / "test_light.py").write_text(
        "import sys\ndef test_light():\n    assert not {'rulelab', 'numpy'} & set(sys.modules)\n"
    )
    assert "1 passed" in run(tmp_path, repository)


def test_it_is_a_plugin_by_its_entry_point(repository):
    """Installed, pytest finds it by itself; and the hook of pre-commit is the command that there is."""
    text = (repository / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nrulelab = "rulelab_pytest"' in text
    assert "entry: rulelab check --if-any\n" in (repository / ".pre-commit-hooks.yaml").read_text()
