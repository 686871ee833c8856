"""The export of a rule: it is gathered, checked, written, run in a separate process, and then moved to its
place.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from ..advice import BY_FORCE, NO_PACKAGE
from ..errors import ExportError
from ..files import write_all
from ..rules.registry import DEFAULT, Registry
from ..tables import Page, Report, Table, filled
from ..verdicts import NOT_JUDGED, RIGHT, WRONG, word_of
from . import autograd_asked, jax_asked, module_asked, torch_asked
from .autograd_rules import autograd_export
from .chainrules import chainrules_export
from .checked import CheckedRule, Point, checked_rule
from .framework_targets import InFramework, framework_text
from .framework_tests import cases_of, text_of_framework_tests
from .gathering import Gathered, gathered
from .jax_rules import jax_export
from .module_text import Tested, module_text, text_of_tests
from .package_text import own_modules, pyproject_text, readme_text, requirements
from .pieces import checked_name
from .running import Ours, Row, answers_again, run_export, table_of
from .torch_rules import torch_export
from .translated import Translated


@dataclass(frozen=True)
class Leaving:
    """A function whose rules are exported: gathered and checked, with the texts of its points."""

    checked: CheckedRule
    texts: tuple[str, ...]
    points: tuple[Point, ...]
    proved: bool = False

    @property
    def gathered(self) -> Gathered:
        """The function, its rules, and everything they need."""
        return self.checked.gathered

    @property
    def name(self) -> str:
        """The function's name in the exported files."""
        return self.gathered.name

    def tested(self, registry: Registry) -> Tested:
        """What tests state about it."""
        answers = CheckedRule(self.gathered, self.checked.checks, self.points).answers(registry)
        return Tested(
            self.gathered.target, self.texts, answers, self.checked.right if self.texts else (), self.proved
        )

    def ours(self, registry: Registry) -> list[Ours]:
        """What an export of it is compared with, for each mode."""
        points = tuple((p.args, p.kwargs) for p in self.points)
        f, target = self.gathered.primal, self.gathered.target
        return [
            Ours(f, target, mode, points, self.texts, registry, self.checked.symmetric)
            for mode, _ in self.checked.checks
        ]


@dataclass(frozen=True)
class Made:
    """The files of an export by their paths below its folder, and which of them is run.

    `modes` names the rules that are included for each function, for functions whose rules are not all
    included.
    """

    files: dict[str, str]
    main: str
    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, name: str, mode: str) -> bool:
        """Whether a rule is included."""
        return mode in self.modes.get(name, (mode,))


@dataclass(frozen=True)
class Target:
    """A destination for rules: the suffix of its files, the function that makes them, and the module that
    queries them when they are run.

    `make(leaving, stem, registry)` returns the files, or raises ExportError. Without an `entry` nothing is
    run.
    """

    suffix: str
    make: Callable[[Sequence[Leaving], str, Registry], Made]
    entry: ModuleType | None = None


def _as_module(leaving: Sequence[Leaving], stem: str, registry: Registry) -> Made:
    every = [one.gathered for one in leaving]
    points = {one.gathered.target: one.texts for one in leaving if one.texts}
    tested = [one.tested(registry) for one in leaving if one.texts]
    files = {f"{stem}.py": module_text(every, points)}
    if tested:
        files[f"test_{stem}.py"] = text_of_tests(stem, every, tested)
    return Made(files, f"{stem}.py")


def _in_framework(
    to: str, suffix: str, translate: Callable[[Gathered], Translated], entry: ModuleType | None = None
) -> Target:
    """The target for a framework, with `translate` turning what was gathered into its text."""

    def make(leaving: Sequence[Leaving], stem: str, registry: Registry) -> Made:
        made = framework_text([one.gathered for one in leaving], translate)
        main = f"{stem}{suffix}"
        files, notes = {main: made.text}, made.notes
        if entry is not None:
            cases, untested = _cases(leaving, made, registry)
            notes = (
                *notes,
                *(
                    f"{name} has no tests: its results cannot be written as text"
                    for name in untested
                ),
            )
            if any(cases.values()):
                symmetric = {made.names[one.gathered.target]: one.checked.symmetric for one in leaving}
                files[f"test_{main}"] = text_of_framework_tests(to, stem, cases, symmetric)
        return Made(files, main, {"names": made.names}, notes, made.modes)

    return Target(suffix, make, entry)


def _cases(
    leaving: Sequence[Leaving], made: InFramework, registry: Registry
) -> tuple[dict[str, list[str]], list[str]]:
    """The test cases for the functions in a framework's file, by mode, and the functions that have none
    because their results have no text.
    """
    every: dict[str, list[str]] = {"rrule": [], "frule": []}
    untested = []
    for one in leaving:
        target, points = one.gathered.target, [(p.args, p.kwargs) for p in one.points]
        found = {
            mode: cases_of(one.gathered.primal, made.names[target], points, registry, mode)
            for mode in made.modes[target]
        }
        for mode, cases in found.items():
            every[mode] += cases
        if one.texts and not any(found.values()):  # otherwise its arguments have no text, as `_notes` says
            untested.append(target)
    return every, untested


TARGETS: dict[str, Target] = {
    "module": Target(".py", _as_module, module_asked),
    "jax": _in_framework("jax", ".py", jax_export, jax_asked),
    "torch": _in_framework("torch", ".py", torch_export, torch_asked),
    "autograd": _in_framework("autograd", ".py", autograd_export, autograd_asked),
    "chainrules": _in_framework("chainrules", ".jl", chainrules_export),
}
"""The destinations for rules, by the word after `--to`."""


@dataclass(frozen=True, repr=False)
class Exported(Report):
    """The outcome of an export: its files, the checks of the rules, and how the export agrees with them.

    Attributes
    ----------
    to : str
        The destination: "module", "jax", "torch", "autograd" or "chainrules".
    names : tuple of str
        The functions.
    files : tuple of Path
        The files written.
    checks : tuple of CheckedRule
        The checks of the rules before they were exported.
    proved : tuple of str
        The functions whose rules are proved.
    rows : tuple of Row
        The answers of the export compared with the rule here, with a verdict each.
    notes : tuple of str
        Further remarks.
    """

    to: str
    names: tuple[str, ...]
    files: tuple[Path, ...]
    checks: tuple[CheckedRule, ...]
    proved: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it was run, and agrees wherever it can be tested."""
        verdicts = {row.verdict for row in self.rows}
        return RIGHT in verdicts and verdicts <= {RIGHT, NOT_JUDGED}

    def page(self) -> Page:
        files = ", ".join(str(file) for file in self.files)
        where = "as a module" if self.to == "module" else f"to {self.to}"
        lead = (f"{', '.join(self.names)}, exported {where}: {files}",)
        tables = [checks_table(self.checks, self.proved)]
        if self.rows:
            tables.append(table_of(self.rows))
        return Page(lead, tuple(tables), self.notes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "to": self.to,
            "names": list(self.names),
            "files": [str(file) for file in self.files],
            "checks": [check.to_dict() for one in self.checks for _, check in one.checks],
            "proved": list(self.proved),
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


def checks_table(checks: Iterable[CheckedRule], proved: Iterable[str]) -> Table:
    """The checks of the rules before they were exported."""
    known = frozenset(proved)
    rows = [
        (
            f"{mode} of {one.gathered.target}",
            word_of(check.verdict),
            str(len(check.points)),
            "PROVED" if one.gathered.name in known and mode == "rrule" else "",
            check.reason,
        )
        for one in checks
        for mode, check in one.checks
    ]
    columns, cells = filled(("rule", "verdict", "points", "by SymPy", ""), rows)
    return Table("The rules, by numbers", columns, cells, verdicts=tuple(row[1] for row in rows))


At = Mapping[Any, tuple[tuple[Any, ...], Mapping[str, Any]]]


def export(
    f: Any,
    to: str = "module",
    file: str | os.PathLike[str] = "",
    *,
    force: bool = False,
    package: str | os.PathLike[str] | None = None,
    at: tuple[Any, ...] | At | None = None,
    prove: Callable[..., Any] | None = None,
    depth: str = "normal",
    registry: Registry = DEFAULT,
) -> Exported:
    """Write the rules of `f`, or of each function in a list, to a file of their own.

    Each rule is checked first, and a wrong rule is not exported. The written files are run once in a separate
    process, and compared with the rule here and with differences. Either all files are written or none.

    Parameters
    ----------
    f : callable or list of callables
        The functions with the rules.
    to : {"module", "jax", "torch", "autograd", "chainrules"}
        For "module", `file` becomes a module with the function, its rules and whatever these name, and
        `test_….py` is written beside it. For a framework it is a module of that framework, translated to it
        if the body of the rule allows that, otherwise calling NumPy, and with tests that need no rulelab.
        "chainrules" is for Julia, and is not run.
    file : str or path
        The file to write.
    force : bool
        Whether to replace existing files.
    package : str or path, optional
        A folder, which becomes an installable project.
    at : tuple or dict, optional
        The arguments to check at; for several functions a dict of `(args, kwargs)` by name. Drawn by default.
    prove : callable, optional
        For example `rulelab.symbolic.prove`: if it finds a proof, the proof becomes a test.
    depth : {"quick", "normal", "deep"}
        As for `rule_check`.
    registry : Registry
        Where to look for rules.

    Returns
    -------
    Exported
        A report, which is true if everything agreed.

    Raises
    ------
    ExportError
        For whatever cannot be exported, with its line, before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> import rulelab as rl
    >>> def cube(x): return x**3
    >>> rl.scalar_rule(cube, lambda out, x: 3 * x**2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = export(cube, "module", f"{folder}/cubes.py", at=(2.0,))
    ...     sorted(path.name for path in report.files), bool(report)
    (['cubes.py', 'test_cubes.py'], True)
    """
    functions = list(f) if isinstance(f, (list, tuple)) else [f]
    target, path = _target(to, file)
    folder = path.parent if package is None else Path(package)
    _check_folder(folder)
    # Cheap checks come first, so that no time is wasted on an export that must fail.
    if package is not None:
        _check_package(to, path)
    _refuse_existing([path] if package is None else [folder / "pyproject.toml"], force)
    leaving = [_leaving(one, _at(at, one, len(functions)), prove, depth, registry) for one in functions]
    _check_stem(path, leaving)
    made = target.make(leaving, path.stem, registry)
    if package is not None:
        made = _packaged(path, made, leaving)
    places = {folder / name: text for name, text in made.files.items()}
    _refuse_existing(places, force)
    try:
        rows = _run(target, made, leaving, path.parent, registry)
        write_all(places, force=force)
    except OSError as error:
        said = f"it cannot be written: {error.strerror or error}: {error.filename or folder}"
        raise ExportError(said, asked=_asked(leaving)) from None
    return Exported(
        to,
        tuple(one.gathered.target for one in leaving),
        tuple(places),
        tuple(one.checked for one in leaving),
        tuple(one.name for one in leaving if one.proved),
        rows,
        (*made.notes, *_notes(leaving, made)),
    )


def _asked(leaving: Sequence[Leaving]) -> str:
    return f"an export of {', '.join(one.gathered.target for one in leaving)}"


def _target(to: str, file: str | os.PathLike[str]) -> tuple[Target, Path]:
    if to not in TARGETS:
        found = f"rules can be exported to one of {', '.join(TARGETS)}, not to {to!r}"
        raise ExportError(found, asked="an export")
    target, path = TARGETS[to], Path(file)
    if path.suffix != target.suffix:
        raise ExportError(
            f"the name of the file must end with {target.suffix}, not be {str(file)!r}", asked="an export",
            fixes=(f"name it {path.name}{target.suffix}",) if path.name and not path.suffix else (),
        )  # fmt: skip
    checked_name(path.stem, "a module")
    return target, path


def _check_folder(folder: Path) -> None:
    """Refuse a folder whose name the system cannot have, or that is not writable, before the slow checks
    run.
    """
    try:
        possible = b"\0" not in os.fsencode(folder)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ExportError(f"a folder cannot be called {str(folder)!r}", asked="an export")
    there = next((place for place in (folder, *folder.absolute().parents) if os.path.exists(place)), None)
    if there is not None and not os.access(there, os.W_OK):
        raise ExportError(
            f"{there} cannot be written into", asked="an export", fixes=("name another folder",)
        )


def _check_stem(path: Path, leaving: Sequence[Leaving]) -> None:
    """Refuse a module name that hides a module imported here or one of Python's, or that other programs
    run.
    """
    stem, python = path.stem, path.suffix == ".py"
    used = {m.partition(".")[0] for one in leaving for m in one.gathered.modules}
    used |= {"numpy", "pytest", "rulelab", "jax", "torch", "autograd"}
    if python and (stem in used or stem in sys.stdlib_module_names):
        why = f"a module named {stem} would hide the {stem} that other code imports"
    elif python and stem in _RUN_BY_OTHERS:
        why = f"a file named {stem}.py is run by {_RUN_BY_OTHERS[stem]}, which is not what rules are for"
    elif stem.lower() in _OF_DEVICES:
        why = f"a file named {stem} cannot exist on Windows, where that names a device"
    else:
        return
    raise ExportError(why, asked=_asked(leaving), fixes=("give the file another name",))


_RUN_BY_OTHERS = {
    "__init__": "Python as the folder's package",
    "__main__": "Python as the folder's program",
    "sitecustomize": "Python whenever it starts",
    "usercustomize": "Python whenever it starts",
    "conftest": "pytest before all tests",
    "setup": "pip when it installs the folder",
}
_OF_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def _refuse_existing(places: Iterable[Path], force: bool) -> None:
    there = [str(path) for path in places if os.path.lexists(path)]
    if there and not force:
        raise ExportError(
            f"{there[0]} already exists" + (f", and {len(there) - 1} more" if there[1:] else ""),
            asked="an export",
            fixes=("give another name", BY_FORCE),
        )


def _at(at: Any, f: Any, count: int) -> tuple[tuple, Mapping[str, Any]]:
    """The arguments at which a function is to be checked; empty if they are to be drawn."""
    if at is None:
        return (), {}
    if isinstance(at, Mapping):
        return at.get(id(f), at.get(getattr(f, "__name__", ""), ((), {})))
    if count > 1:
        raise ExportError(
            "for several functions, `at` must be a dict of points by function name", asked="an export"
        )
    return tuple(at), {}


def _leaving(f: Any, at: tuple, prove: Any, depth: str, registry: Registry) -> Leaving:
    """A function gathered, checked, and gathered again with the arguments of its points."""
    first = gathered(f, registry=registry)  # what cannot be exported is refused before anything is checked
    checked = checked_rule(first, *at, depth=depth, registry=registry)
    whole = first
    points: list[Point] = []
    for point in checked.points:
        try:
            whole = gathered(f, registry=registry, values=[(p.args, p.kwargs) for p in (*points, point)])
        except ExportError:
            continue  # arguments that cannot be written as text
        points.append(point)
    if len(whole.values) != len(points):
        whole = gathered(f, registry=registry, values=[(p.args, p.kwargs) for p in points])
    proved = bool(points) and prove is not None and _is_proved(prove, first, points[0], registry)
    return Leaving(replace(checked, gathered=whole), whole.values, tuple(points), proved)


def _is_proved(prove: Callable[..., Any], one: Gathered, point: Point, registry: Registry) -> bool:
    try:
        found = prove(one.primal, at=point.args, kwargs=point.kwargs, registry=registry)
    except Exception:  # if `prove` raises, the rule is not proved
        return False
    return found.verdict.word == "PROVED"


def _check_package(to: str, path: Path) -> None:
    stem, asked = path.stem, "an export as a package"
    if to != "module":
        raise ExportError(
            f"only a module can be exported as a package, not {to}", asked=asked, fixes=(NO_PACKAGE,)
        )
    if path.parent != Path():
        raise ExportError(
            f"the module of a package is named without a folder, not {path}", asked=asked, fixes=(path.name,)
        )
    if not stem.isascii() or not stem.strip("_"):
        raise ExportError(f"a package cannot be called {stem}", asked=asked, fixes=("use plain letters",))


def _packaged(path: Path, made: Made, leaving: Sequence[Leaving]) -> Made:
    """The same files as a project: the module as a package below `src`, and the tests beside it."""
    stem = path.stem
    needed = requirements((m for one in leaving for m in one.gathered.modules), _asked(leaving))
    checks = checks_table([one.checked for one in leaving], [one.name for one in leaving if one.proved])
    main = f"src/{stem}/__init__.py"
    files = {
        "pyproject.toml": pyproject_text(stem, needed),
        "README.md": readme_text(stem, [checks]),
        main: made.files[made.main],
        **{f"tests/{name}": text for name, text in made.files.items() if name != made.main},
    }
    return Made(files, main, made.options)


def _run(
    target: Target, made: Made, leaving: Sequence[Leaving], beside: Path, registry: Registry
) -> tuple[Row, ...]:
    """The answers of the export before it is moved to its place; ExportError if they are wrong."""
    ours = [one for each in leaving if each.texts for one in each.ours(registry)]
    if target.entry is None or not ours:
        return ()
    left_out = [one for one in ours if not made.has(one.name, one.mode)]
    ours = [one for one in ours if made.has(one.name, one.mode)]
    with tempfile.TemporaryDirectory(prefix="rulelab-") as there:
        places = {Path(there) / name: text for name, text in made.files.items()}
        write_all(places)
        folders = [beside, *_folders_of(_own_modules(leaving))]
        rows = run_export(Path(there) / made.main, ours, target.entry, folders=folders, options=made.options)
    for row in rows:
        if row.verdict == WRONG:
            _refuse_unsteady([one for one in ours if (one.name, one.mode) == (row.name, row.mode)], leaving)
            raise ExportError(
                f"the export of the {row.mode} of {row.name} gives a different answer: {row.why}",
                asked=_asked(leaving),
                fixes=("please report it; the file was not written",),
            )
    return (*rows, *map(_left_out, left_out))


def _refuse_unsteady(ours: Sequence[Ours], leaving: Sequence[Leaving]) -> None:
    """Refuse a function that returns different numbers at each call: then the export is not at fault."""
    for one in ours:
        if all(answers_again(one, *point) for point in one.points):
            continue
        pieces = next(each.gathered.functions for each in leaving if each.gathered.target == one.name)
        raise ExportError(
            f"{one.name} returns different numbers when it is called again, so no export of it can be "
            "compared",
            asked=_asked(leaving),
            place=pieces[-1].place(),
            fixes=("draw random numbers outside it and pass them in", "seed the generator inside it"),
        )


def _left_out(ours: Ours) -> Row:
    """The row of a rule that the framework does not get because it gets the other one."""
    kind = "forward" if ours.mode == "frule" else "reverse"
    return Row(ours.name, ours.mode, "plain", "float64", 0, why=f"the {kind} rule is not in the export")


def _own_modules(leaving: Sequence[Leaving]) -> list[str]:
    return own_modules(module for one in leaving for module in one.gathered.modules)


def _folders_of(modules: Iterable[str]) -> list[Path]:
    """The folders from which modules were imported here: they may be missing where the export is placed."""
    found = []
    for name in modules:
        top = sys.modules.get(name.partition(".")[0])
        places = [*getattr(top, "__path__", ())][:1] or [getattr(top, "__file__", None) or ""]
        found += [Path(place).parent for place in places if place]
    return found


def _imports(line: str, module: str) -> bool:
    return line.split()[:2] in (["import", module], ["from", module])


def _notes(leaving: Sequence[Leaving], made: Made) -> list[str]:
    # The exported text need not import everything that the rule does.
    lines = made.files[made.main].splitlines()
    own = [m for m in _own_modules(leaving) if any(_imports(line, m) for line in lines)]
    return [
        *(note for one in leaving for note in one.checked.notes),
        *(f"it imports {module}, a file of yours: keep that beside it" for module in own),
        *(
            f"{one.gathered.target} was checked at arguments that cannot be written as text: it has no tests"
            for one in leaving
            if not one.texts
        ),
    ]
