"""Find a module by its name or its file, and the rules that it states when it is imported."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ...errors import Place, RuleLabError
from ...nearest import did_you_mean
from ...own_code import FOLDER
from ...rules.registry import DEFAULT, Registry
from ...rules.rule import Rule
from ...rules.targets import resolve

POINTS = "__rulelab_points__"
"""The name under which a module may give the points at which its rules are checked."""
_OURS = os.path.join(FOLDER, "")


class ModuleError(RuleLabError):
    """A module whose rules were to be checked cannot be imported, or states none."""


class NoRulesError(ModuleError):
    """A module whose rules were to be checked states none."""


@dataclass(frozen=True)
class ModuleLocation:
    """A module as another process finds it: its dotted name, the folder from which it is imported, and its
    file if the name alone is not enough.
    """

    name: str
    folder: str
    file: str = ""

    def __str__(self) -> str:
        return os.path.basename(self.file) or self.name


class StatedRule(NamedTuple):
    """A rule and the function that it is for."""

    target: Any
    rule: Rule


def locate_module(text: str, folder: Path | None = None) -> ModuleLocation:
    """The module that `text` names, by a dotted name or the path of a file, relative to `folder`.

    A file within packages (folders with an `__init__.py`) gets its dotted name, so that its relative imports
    work. ModuleError if the text can be neither.
    """
    folder = Path.cwd() if folder is None else folder
    if text.endswith(".py") or "/" in text or os.sep in text:
        return _located_file(text, (folder / text).resolve())
    if not all(part.isidentifier() for part in text.split(".")):
        raise ModuleError(f"{text!r} is neither the dotted name of a module nor a file that ends with .py")
    return ModuleLocation(text, str(folder))


def _modules_beside(name: str, folder: str) -> list[str]:
    """The modules that exist where one of this name was looked for: in its package, or in the folder."""
    package, _, _ = name.rpartition(".")
    if not package:
        return [found.name for found in pkgutil.iter_modules([folder or "."])]
    inside = getattr(sys.modules.get(package), "__path__", ())
    return [f"{package}.{found.name}" for found in pkgutil.iter_modules(inside)]


def _located_file(text: str, path: Path) -> ModuleLocation:
    if path.is_dir():
        if not (path / "__init__.py").is_file():
            raise ModuleError(f"{text} is a folder: name a file in it")
        path = path / "__init__.py"
    if not path.is_file():
        beside = [file.name for file in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise ModuleError(f"there is no file {text}{did_you_mean(path.name, beside)}")
    names = [] if path.stem == "__init__" else [path.stem]
    above = path.parent
    while (above / "__init__.py").is_file() and above != above.parent:
        names.insert(0, above.name)
        above = above.parent
    in_package = len(names) > 1 or path.stem == "__init__"
    return ModuleLocation(".".join(names), str(above), "" if in_package else str(path))


def load_module(where: ModuleLocation) -> ModuleType:
    """Import a module, once in a process; ModuleError, with a message of one line, if that fails."""
    if where.folder not in sys.path:
        sys.path.insert(0, where.folder)  # as `python -m` does, for the modules beside it
    known = sys.modules.get(where.name)
    if where.file and known is not None:
        if Path(getattr(known, "__file__", None) or "").resolve() == Path(where.file):
            return known
        raise ModuleError(
            f"another module named {where.name} is loaded already, so {where} cannot be", fixes=("rename it",)
        )
    try:
        return _loaded_file(where) if where.file else importlib.import_module(where.name)
    except ModuleNotFoundError as error:
        if error.name and f"{where.name}.".startswith(f"{error.name}."):
            near = did_you_mean(error.name, _modules_beside(error.name, where.folder))
            raise ModuleError(f"there is no module named {error.name}{near}") from None
        raise _not_imported(where, error) from error
    except SystemExit as error:
        raise ModuleError(
            f"{where} cannot be imported: it ends the program with SystemExit({error.code!r})"
        ) from None
    except Exception as error:
        raise _not_imported(where, error) from error


def _loaded_file(where: ModuleLocation) -> ModuleType:
    spec = importlib.util.spec_from_file_location(where.name, where.file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[where.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(where.name, None)
        raise
    return module


def _not_imported(where: ModuleLocation, error: Exception) -> ModuleError:
    said = " ".join((getattr(error, "found", None) or str(error)).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_machinery(f.filename)]
    at = f", at {os.path.basename(frames[-1].filename)}, line {frames[-1].lineno}" if frames else ""
    words = f"{where} cannot be imported: {type(error).__name__}: {said}{at}"
    return ModuleError(words, place=_spot(error, frames))


def _spot(error: Exception, frames: Sequence[traceback.FrameSummary]) -> Place | None:
    """The line at which an import failed: the syntax error, or else the last line that ran."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        before = (error.text or "")[: max(error.offset or 0, 1) - 1]
        return Place(error.filename, error.lineno, len(before.encode(errors="replace")))
    if not frames or frames[-1].lineno is None:
        return None
    return Place(frames[-1].filename, frames[-1].lineno, frames[-1].colno)


def _is_machinery(filename: str) -> bool:
    """Whether a line belongs to Python or rulelab: an author looks for their own."""
    return filename.startswith(("<frozen", _OURS)) or "importlib" in Path(filename).parts


def rules_stated(where: ModuleLocation, registry: Registry = DEFAULT) -> tuple[StatedRule, ...]:
    """The rules that the import of a module states, in their order, for any functions.

    These are all rules that the import adds to the registry, so those of the modules that it imports, too;
    for a module that was imported before, those written in its file or below its folder.
    """
    before = {id(stated.rule) for stated in all_stated(registry)}
    module = load_module(where)
    return tuple(
        s for s in all_stated(registry) if id(s.rule) not in before or _is_written_in(module, s.rule)
    )


def points_stated(module: ModuleType, target: Any) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments `(args, kwargs)` at which a module wants the rules of a function to be checked.

    They are in `__rulelab_points__`, a dict from the name of a function in the module to a list of such
    pairs, of which the first counts. None if the function is not there; ModuleError if the value has another
    form.
    """
    stated = getattr(module, POINTS, {})
    for name, pairs in stated.items() if isinstance(stated, dict) else ():
        if _is_named(module, name, target):
            match pairs:
                case [(tuple(args), dict(kwargs)), *_]:
                    return args, kwargs
                case []:
                    return None
            stated = None
    if not isinstance(stated, dict):
        raise ModuleError(
            f"{POINTS} of {module.__name__} is not a dict of lists of pairs (args, kwargs)",
            fixes=("leave it out",),
        )
    return None


def _is_named(module: ModuleType, name: Any, target: Any) -> bool:
    """Whether a dotted name stands for a function in a module."""
    found: Any = module
    for part in str(name).split("."):
        found = getattr(found, part, None)
    return found is not None and resolve(found)[0] is target


def all_stated(registry: Registry = DEFAULT) -> Iterator[StatedRule]:
    """The rules of all authors, without built-in ones, in the order in which their functions first got
    one.
    """
    for entry in registry.entries():
        target = entry.target()
        if target is not None:
            yield from (StatedRule(target, rule) for rule in entry.user if isinstance(rule, Rule))


def _is_written_in(module: ModuleType, rule: Rule) -> bool:
    if rule.place is None:
        return False
    folders = [os.path.join(folder, "") for folder in getattr(module, "__path__", ())]
    file = rule.place.filename
    return file == getattr(module, "__file__", None) or any(file.startswith(folder) for folder in folders)
