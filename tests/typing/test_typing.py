"""What a user's editor and type checker are told: every public name, with all its parameters."""

from __future__ import annotations

import importlib
import inspect
import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import rulelab

PACKAGES = tuple(
    "rulelab" + part for part in ("", ".bench", ".checking", ".portability", ".symbolic", ".notebook")
)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_it_offers(name):
    """`__all__` has what is there, once, and a type checker takes these names for public."""
    package = importlib.import_module(name)
    assert len(set(package.__all__)) == len(package.__all__)
    assert [public for public in package.__all__ if not hasattr(package, public)] == []


def test_the_front_door_offers_all_that_it_shows():
    """What Tab lists after `rl.` is what `__all__` says, but for packages."""
    shown = {name for name in dir(rulelab) if name[0] != "_"}
    functions = {name for name in shown if not isinstance(getattr(rulelab, name), types.ModuleType)}
    assert functions == set(rulelab.__all__)


def _public_functions():
    for name in PACKAGES:
        package = importlib.import_module(name)
        for public in package.__all__:
            value = getattr(package, public)
            if isinstance(value, types.FunctionType):
                yield f"{name}.{public}", value


@pytest.mark.parametrize("name, function", list(_public_functions()))
def test_every_public_function_is_typed(name, function):
    """Each parameter, and what it returns."""
    signature = inspect.signature(function)
    untyped = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    assert untyped == [] and signature.return_annotation is not signature.empty


STRICT = {"typeCheckingMode": "strict", "include": ["user.py"]}


@pytest.mark.campaign
def test_a_users_file_is_clean_under_strict_pyright(repository: Path, tmp_path: Path):
    """As an editor reads it: no name of ours is of an unknown type. pyright comes with the extra `types`."""
    pytest.importorskip("pyright")
    shutil.copy(repository / "tests" / "typing" / "user.py", tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(STRICT | {"extraPaths": [str(repository)]}))
    command = [sys.executable, "-m", "pyright", "-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.campaign
def test_a_users_file_is_clean_under_strict_mypy(repository: Path):
    """What `make lint` does: the file names what users use."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    command += ["--ignore-missing-imports", str(repository / "tests" / "typing" / "user.py")]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
