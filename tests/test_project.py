"""The project keeps what its README and its wheel promise."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

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


def test_the_wheel_brings_the_stored_run_of_the_notebook(wheel):
    """Where a framework is not installed the notebook on taking a rule along shows it."""
    assert "rulelab/portability/stored_run.json" in wheel.namelist()


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
    beside = {"rulelab_command.py", "rulelab_pytest.py"}
    assert tops == {"rulelab", *beside, "rulelab-0.1.0.dist-info", "rulelab-0.1.0.data"}


def test_the_wheel_brings_the_command(wheel):
    """`rulelab` is a command after `pip install`."""
    entries = wheel.read("rulelab-0.1.0.dist-info/entry_points.txt").decode()
    assert "rulelab = rulelab_command:main" in entries


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
    assert extras >= {"jit", "scipy", "cluster", "test", "docs", "peers", "dev"}


def test_make_knows_its_targets_and_says_so(repository):
    """Each target exists, and plain `make` lists them."""
    text = (repository / "Makefile").read_text()
    targets = {
        "lab", "check", "test", "test-slow", "test-all", "test-core", "test-oldest", "test-pythons", "lint",
        "bench", "bench-page", "bench-duels", "docs", "support-table", "magics-table", "vocabulary-table",
        "proved-table", "scipy-table", "scipy-forms", "frameworks", "framework-table", "mutants",
        "rule-corpus", "load", "programs", "guards", "docstrings", "points", "pictures",
        "clean",
    }  # fmt: skip
    assert targets <= set(RECIPE.findall(text))
    done = subprocess.run(["make", "-s"], cwd=repository, check=True, capture_output=True, text=True)
    assert targets == set(re.findall(r"^make ([\w-]+)", done.stdout, re.MULTILINE))


# -- which Python ------------------------------------------------------------------------------------------


@pytest.fixture
def bare(repository: Path, tmp_path: Path) -> Path:
    """A folder with what `make` reads of the project, and no environment."""
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "tests/oldest.txt", "tests/pythons.py"):
        shutil.copyfile(repository / name, folder / name)
    return folder


def make(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    left_out = ("PYTHON", "OLDEST", "ARGS", "MAKEFLAGS")
    given = {name: value for name, value in os.environ.items() if name not in left_out} | environment
    command = ["make", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=given, timeout=300)


def script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def no_python(path: Path) -> Path:
    """What pyenv puts on the path for each Python that it has, chosen or not."""
    return script(path, 'echo "pyenv: python3: command not found" >&2', 'echo "Note: more" >&2', "exit 127")


def another_python(path: Path, version: str) -> Path:
    """This Python, which says that it is another version."""
    numbers = tuple(map(int, version.split(".")))
    lie = f"import sys; sys.version_info = {numbers}; sys.version = '{version} (x)'; exec(sys.argv[1])"
    return script(path, f'[ "$1" = -c ] && exec {sys.executable} -c "{lie}" "$2"', 'echo "$0 $*"')


def test_the_python_that_is_asked_for_is_the_one_used(bare, tmp_path):
    """An environment of another Python is there already: neither used nor touched."""
    script(bare / ".venv/bin/python", "exit 1")
    (bare / ".venv/installed-dev").touch()
    other = another_python(tmp_path / "other", "3.99.1")
    for how in ({"words": [f"PYTHON={other}"]}, {"PYTHON": str(other)}):
        done = make(bare, "-n", "test", *how.pop("words", ()), **how)
        assert done.returncode == 0 and f"{other} -m venv --clear .venv-3.99.1\n" in done.stdout
        assert ".venv-3.99.1/bin/python -m pytest" in done.stdout and ".venv/" not in done.stdout
    for nothing in ((), ("PYTHON=",)):
        assert ".venv/bin/python -m pytest" in make(bare, "-n", "test", *nothing).stdout
    mine = make(bare, "-n", "test", f"PYTHON={sys.executable}").stdout
    assert f".venv-{'.'.join(map(str, sys.version_info[:3]))}" in mine


def test_what_is_no_python_is_said_in_one_line(bare, tmp_path):
    """A shim of pyenv, a slip of the pen, a Python that is too old: a line each, and nothing is set up."""
    shim = no_python(tmp_path / "shims" / "python3")
    for asked in (str(shim), "pythn3"):
        done = make(bare, "test", f"PYTHON={asked}")
        (line,) = done.stderr.splitlines()
        assert done.returncode and f"*** PYTHON={asked} is no Python that runs here" in line
    done = make(bare, "test", PATH=f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode and done.stderr.startswith("python3 is no Python that runs here. Name another:")
    assert "pyenv" not in done.stderr
    done = make(bare, "test", f"PYTHON={another_python(tmp_path / 'old', '3.10.13')}")
    assert done.returncode and "needs Python 3.11 or newer, and this is 3.10.13" in done.stderr
    done = make(bare, "test-oldest", f"PYTHON={another_python(tmp_path / 'new', '3.99.0')}")
    assert done.returncode and "are those for Python 3.11, and this is 3.99" in done.stderr
    assert not list(bare.glob(".venv*"))


def test_an_environment_whose_python_is_gone_is_made_anew(bare):
    """After a Python was taken away, its stamps do not say that all is set up."""
    (bare / ".venv/bin").mkdir(parents=True)
    (bare / ".venv/bin/python").symlink_to(bare / "gone")
    (bare / ".venv/installed-dev").touch()
    assert "-m venv --clear .venv\n" in make(bare, "-n", "test").stdout


@pytest.fixture(scope="module")
def pythons(repository: Path):
    """The module tests/pythons.py."""
    specification = importlib.util.spec_from_file_location("pythons", repository / "tests" / "pythons.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_python_is_found_only_where_it_runs(pythons, tmp_path, monkeypatch):
    """On the path behind a shim that does not work, else under pyenv, the newest; and else not at all."""
    first, second, pyenv = tmp_path / "shims", tmp_path / "bin", tmp_path / "pyenv"
    no_python(first / "python3.99")
    monkeypatch.setenv("PATH", os.pathsep.join((str(first), str(second), os.environ["PATH"])))
    monkeypatch.setenv("PYENV_ROOT", str(pyenv))
    assert pythons.find("3.99") is None
    for patch in ("3.99.2", "3.99.10"):
        another_python(pyenv / "versions" / patch / "bin" / "python3.99", patch)
    no_python(pyenv / "versions" / "3.99.11" / "bin" / "python3.99")
    assert pythons.find("3.99") == pyenv / "versions" / "3.99.10" / "bin" / "python3.99"
    another_python(second / "python3.99", "3.98.0")
    assert pythons.find("3.99") == pyenv / "versions" / "3.99.10" / "bin" / "python3.99"
    another_python(second / "python3.99", "3.99.0")
    assert pythons.find("3.99") == second / "python3.99"
    assert pythons.find("%d.%d" % sys.version_info[:2]) == Path(sys.executable)


def test_each_supported_python_is_tested_or_said_to_be_missing(pythons, tmp_path, monkeypatch, capfd):
    """A line for each; one failure does not keep the others from their turn, and is not forgotten."""
    monkeypatch.setattr(pythons, "supported", lambda: ["3.97", "3.98", "3.99"])
    there = {version: tmp_path / version for version in ("3.97", "3.99")}
    monkeypatch.setattr(pythons, "find", there.get)
    fails = f'case "$*" in *{tmp_path}/3.97) exit 2; esac'
    monkeypatch.setenv("MAKE", str(script(tmp_path / "make", f'echo "$*" >>{tmp_path}/asked', fails)))
    assert pythons.main() == 1
    assert capfd.readouterr().out.splitlines() == [
        f"Python 3.97: {tmp_path}/3.97",
        "Python 3.98: none found here, not tested",
        f"Python 3.99: {tmp_path}/3.99",
    ]
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"--no-print-directory test-core PYTHON={tmp_path}/3.97",
        f"--no-print-directory test-core PYTHON={tmp_path}/3.99",
    ]
    there.clear()
    assert pythons.main() == 0


def test_the_oldest_python_is_one(settings, pythons, repository):
    """What pip demands, what the classifiers offer and what `make` takes begin with the same version."""
    supported = pythons.supported()
    allowed = SpecifierSet(settings["project"]["requires-python"])
    oldest = supported[0]
    major, minor = oldest.split(".")
    assert oldest in allowed and f"{major}.{int(minor) - 1}" not in allowed
    text = (repository / "Makefile").read_text()
    assert f"OLDEST_PYTHON := {oldest}\n" in text and f"< ({major}, {minor}) and" in text
    for page in ("README.md", "docs/tutorial/three-cells.md"):
        assert f"Python {oldest} or newer" in (repository / page).read_text()


def test_each_lower_end_is_one_that_is_tested(settings, repository):
    """What pyproject.toml says is enough is what `make test-oldest` installs, each and all."""
    project = settings["project"]
    stated = [*project["dependencies"], *(r for rs in project["optional-dependencies"].values() for r in rs)]
    lowest = {}
    for one in map(Requirement, stated):
        for bound in one.specifier:
            assert bound.operator in (">=", "=="), str(one)
            if bound.operator == ">=":
                lowest[one.name] = Version(bound.version)
    pins = [line for line in (repository / "tests/oldest.txt").read_text().splitlines() if line[0] != "#"]
    pinned = {name: Version(version) for name, version in (pin.split("==") for pin in pins)}
    assert pinned.pop("distributed") == pinned["dask"]
    assert {name: pinned.get(name) for name in lowest} == lowest


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
