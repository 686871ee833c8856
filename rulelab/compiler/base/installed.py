"""Which installed package a file belongs to, and where its authors take reports."""

from __future__ import annotations

import functools
import os
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import WIDTH, InternalError, Place, RuleLabError
from .libraries import BY_RULE, INSTALLED_IN

if TYPE_CHECKING:
    from pathlib import Path

# Patterns for the labels of a project's URLs, the best place for a report first.
_LABELS = (r"issue|bug|tracker", r"source|repository|code|github|gitlab", r"home")


@dataclass(frozen=True)
class Installed:
    """An installed package, as described by its metadata."""

    name: str
    version: str | None = None
    tracker: str | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name


def point_to_package(error: RuleLabError) -> None:
    """If the place of an error is in an installed package, which the reader cannot change, name the package
    in the fixes. Bugs in rulelab itself are left alone.
    """
    place = error.place
    if place is None or isinstance(error, InternalError):
        return
    package = installed_package(place.filename)
    if package is None:
        return
    own = _qualified(place)
    ruled = [fix for fix in error.fixes if fix.startswith(("write a rule for", "match its rule"))]
    if own is None:
        fixes = ruled
    else:
        named = f"write a rule for {own} (%rule_stub {own})"
        fixes = [fix for fix in ruled if place.function not in re.findall(r"[\w.]+", fix)] + [named]
    where = package.tracker or "its authors"
    error.fixes = (f"in {package} (installed package): report to {where}", *fixes)
    if len("; or ".join(error.fixes)) > WIDTH - len("do: "):  # the hint about the magic can be spared
        error.fixes = tuple(re.sub(r" \(%rule_stub [^)]*\)$", "", fix) for fix in error.fixes)


@functools.lru_cache(maxsize=1024)
def installed_package(filename: str) -> Installed | None:
    """The installed package that a file is part of; None for the author's own files, including editable
    installs.
    """
    try:
        return _find(filename)
    except Exception:  # a package's broken metadata must not hide the error being reported
        return None


def _find(filename: str) -> Installed | None:
    if filename.startswith("<"):
        return None
    from pathlib import Path  # here, as below, since errors are rare and every import of rulelab would wait

    path = Path(os.path.realpath(filename))
    for home in _homes(path):
        inside = path.relative_to(home)
        if inside.parts[0] in BY_RULE:
            return None  # what cannot be differentiated in NumPy and SciPy is for rulelab to report
        from importlib import metadata  # here, because it loads mail parsers

        for distribution in metadata.distributions(path=[str(home)]):
            if _lists(distribution, inside):
                return _described(distribution)
        if home.name in INSTALLED_IN:  # copied there by hand, or without its metadata
            return Installed(inside.parts[0].removesuffix(".py"))
    return None


def _homes(path: Path) -> Iterator[Path]:
    """The folders from which a file may have been imported, nearest first."""
    searched = {os.path.realpath(entry) for entry in sys.path if entry}
    return (home for home in path.parents if home.name in INSTALLED_IN or str(home) in searched)


def _lists(distribution: Any, inside: Path) -> bool:
    """Whether a distribution installed a file, given by its path relative to the distribution's folder."""
    record = distribution.read_text("RECORD")
    if record:
        return any(line.startswith(f"{inside.as_posix()},") for line in record.splitlines())
    if distribution.read_text("SOURCES.txt") and not distribution.read_text("WHEEL"):
        return False  # a source folder with an egg-info: the author's own
    top = inside.parts[0].removesuffix(".py")
    return top in (distribution.read_text("top_level.txt") or "").split()


def _described(distribution: Any) -> Installed:
    fields = distribution.metadata
    return Installed(fields.get("Name") or "?", distribution.version, _tracker(fields))


def _tracker(fields: Any) -> str | None:
    """Where to report: the project's tracker, or else its source, or else its home page."""
    entries = [entry.partition(",") for entry in fields.get_all("Project-URL") or ()]
    found = [(label.strip().lower(), url.strip()) for label, _, url in entries]
    found.append(("home", (fields.get("Home-page") or "").strip()))
    for wanted in _LABELS:
        for label, url in found:
            if re.search(wanted, label) and re.fullmatch(r"https?://[!-~]+", url):
                return url
    return None


def _qualified(place: Place) -> str | None:
    """The dotted name under which the function of a place can be imported; None if it cannot be found."""
    found = [
        (code.co_firstlineno, name)
        for code, name in _functions_of(place.filename)
        if code.co_name == place.function and code.co_firstlineno <= place.line
    ]
    return max(found)[1] if found else None


def _functions_of(filename: str) -> Iterator[tuple[types.CodeType, str]]:
    """The functions and methods that a file defines, with their dotted names."""
    for module_name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and vars(module).get("__file__") == filename:
            for owner in [module, *(value for value in vars(module).values() if isinstance(value, type))]:
                for value in list(vars(owner).values()):
                    function = getattr(value, "__func__", value)
                    if isinstance(function, types.FunctionType):
                        if function.__code__.co_filename == filename:
                            yield function.__code__, f"{module_name}.{function.__qualname__}"
