"""The project keeps what its README and its wheel promise."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import rulelab

# Written in pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile("/" + "(home|root|Users|work)/|[A-Z]:\\\\" + "Users")
REGISTRY_SETTINGS = re.compile("(--|PIP_|extra-)" + "(index-url|find-links|INDEX_URL|FIND_LINKS)")
RECIPE = re.compile(r"^([a-z-]+):", re.MULTILINE)
LOCAL_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.fixture(scope="module")
def settings(repository: Path) -> dict:
    return tomllib.loads((repository / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built here without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as built:
        yield built


@pytest.fixture(scope="module")
def project_files(repository: Path) -> list[Path]:
    """Every text file that is, or is about to be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    files = [repository / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and file.suffix not in {".png", ".npz"}]


def test_the_tests_run_the_tree_they_stand_in(repository):
    """A copied tree with its old .venv would test the old tree: that is noticed."""
    assert Path(rulelab.__file__).resolve().parents[1] == repository


def test_the_wheel_tells_type_checkers_that_it_is_typed(wheel):
    """A user's type checker reads our annotations."""
    assert "rulelab/py.typed" in wheel.namelist()


def test_the_wheel_brings_the_kernel(wheel):
    """After `pip install` Jupyter offers "Python (rulelab)", with the magics loaded from the first cell."""
    name = "rulelab-0.1.0.data/data/share/jupyter/kernels/rulelab/kernel.json"
    kernel = json.loads(wheel.read(name))
    assert kernel["display_name"] == "Python (rulelab)"
    assert "--ext=rulelab" in kernel["argv"]
    # Jupyter puts the interpreter of its own environment in the place of this bare word.
    assert kernel["argv"][0] == "python"


def test_the_wheel_brings_the_notebooks(wheel, repository):
    """After `pip install` `rulelab lab` finds the first notebook."""
    inside = {Path(name).name for name in wheel.namelist() if "/share/rulelab/notebooks/" in name}
    assert inside == {file.name for file in (repository / "notebooks").glob("*.ipynb")}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    """Installing rulelab puts no `tests` or `docs` beside other people's packages."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"rulelab", "rulelab-0.1.0.dist-info", "rulelab-0.1.0.data"}


def test_the_wheel_brings_the_command(wheel):
    """`rulelab` is a command after `pip install`."""
    entries = wheel.read("rulelab-0.1.0.dist-info/entry_points.txt").decode()
    assert "rulelab = rulelab.notebook.cli:main" in entries


def test_one_version_everywhere(settings, repository):
    """The version installed, the one stated, and the newest in the changelog are one."""
    version = settings["project"]["version"]
    assert importlib.metadata.version("rulelab") == version
    assert getattr(rulelab, "__version__", version) == version
    newest = re.search(r"^## (\S+)", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest and newest[1] == version


def test_the_extras_are_there(settings):
    """The optional parts can be asked for by name, as in `pip install 'rulelab[jit]'`."""
    extras = set(settings["project"]["optional-dependencies"])
    assert extras >= {"jit", "scipy", "cluster", "test", "docs", "dev"}


def test_make_knows_its_targets_and_says_so(repository):
    """Each target exists, and plain `make` lists them."""
    text = (repository / "Makefile").read_text()
    targets = {
        "lab", "test", "lint", "bench", "bench-duels", "docs", "support-table", "magics-table",
        "vocabulary-table", "proved-table", "mutants", "programs", "docstrings", "clean",
    }  # fmt: skip
    assert targets <= set(RECIPE.findall(text))
    done = subprocess.run(["make", "-s"], cwd=repository, check=True, capture_output=True, text=True)
    assert targets == set(re.findall(r"^make ([\w-]+)", done.stdout, re.MULTILINE))


def test_no_file_knows_somebodys_machine(project_files):
    """Nothing in the repository names a folder or a package server of the machine it was written on."""
    found = [
        f"{file.name}: {match[0]}"
        for file in project_files
        for pattern in (MACHINE_PATHS, REGISTRY_SETTINGS)
        if (match := pattern.search(file.read_text(errors="replace")))
    ]
    assert found == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_what_a_page_points_to_exists(page, repository):
    """No link or picture of the front pages leads nowhere."""
    links = LOCAL_LINK.findall((repository / page).read_text())
    assert [link for link in links if not (repository / link).exists()] == []


def test_import_loads_numpy_and_nothing_heavier():
    """`import rulelab` is light enough for any script."""
    heavy = {"IPython", "sympy", "scipy", "matplotlib", "ipywidgets", "numba", "jupyterlab", "jinja2"}
    code = f"import sys, rulelab; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
