"""A small installable project around an exported module: its texts."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterable, Sequence

from ..errors import ExportError
from ..tables import Page, Table
from .gathering import is_installed

_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def own_modules(modules: Iterable[str]) -> list[str]:
    """The modules that belong to no installable package."""
    return sorted({m for m in modules if not is_installed(m)})


def requirements(modules: Iterable[str], asked: str) -> list[str]:
    """The distributions that contain these modules; ExportError for a module that none contains."""
    known = importlib.metadata.packages_distributions()
    found = {"numpy", "rulelab"}
    for module in modules:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names:
            continue
        names = [name for name in known.get(top, ()) if _DISTRIBUTION.fullmatch(name)]
        if not names and top not in found:
            raise ExportError(
                f"a package of these rules needs {module}, which belongs to no package that can be installed",
                asked=asked,
                fixes=(
                    "export a module",
                    "import what it needs by `from … import …`: then its text is exported too",
                ),
            )
        found |= set(names[:1])
    return sorted(found, key=str.lower)


def _project(module: str) -> str:
    return module.strip("_").replace("_", "-")


def pyproject_text(module: str, needed: Sequence[str]) -> str:
    """The pyproject.toml of a package with this name. Every inserted word is a name, so that no quoting is
    needed.
    """
    dependencies = "".join(f'    "{name}",\n' for name in needed)
    return f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{_project(module)}"
version = "0.1.0"
description = "Derivative rules, exported by rulelab."
readme = "README.md"
requires-python = ">=3.{sys.version_info.minor}"
dependencies = [
{dependencies}]

[project.optional-dependencies]
test = ["pytest"]

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""


def readme_text(module: str, tables: Sequence[Table]) -> str:
    """The README of a package: how it is installed and tested, and the results of the checks of its rules."""
    found = Page(("Results of the checks when the rules were exported:",), tuple(tables)).markdown()
    return f"""\
# {_project(module)}

Derivative rules, exported by rulelab. Importing `{module}` provides the functions and registers their rules.

They need rulelab in the same environment. If `pip install rulelab` does not find it, install it from a clone
of its repository:

    pip install ./rulelab

Then, in the folder of this file:

    pip install '.[test]'
    pytest
    rulelab check {module}

`python tests/test_{module}.py` times the rules against derivatives computed without them.

{found}
"""
