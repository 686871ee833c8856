"""The frameworks to which a rule can be exported: the contents of their files."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..errors import ExportError
from ..parsing import parse
from .gathering import Gathered
from .module_text import checked, text_of
from .translated import Translated


@dataclass(frozen=True)
class InFramework:
    """A file with some rules: its text, the name and the modes of each function in it by the original name,
    and remarks.
    """

    text: str
    names: dict[str, str]
    modes: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]


def framework_text(found: Sequence[Gathered], export: Callable[[Gathered], Translated]) -> InFramework:
    """The translation of some rules; ExportError, with the line, if one of them has no counterpart."""
    made = [export(one) for one in found]
    names = {one.target: each.name for one, each in zip(found, made)}
    notes = [f"{each.name}: NumPy runs behind it ({each.why})" for each in made if not each.native]
    notes += [f"{each.name}: {remark}" for each in made for remark in each.remarks]
    modes = {one.target: each.modes for one, each in zip(found, made)}
    return InFramework(_together(made), names, modes, tuple(notes))


def _together(made: Sequence[Translated]) -> str:
    """Several translations in one file, with common parts only once; ExportError if one name has two
    meanings.
    """
    texts = [one.text for one in made]
    if len(texts) == 1:
        return texts[0]
    if made[0].target == "chainrules":
        return "\n\n".join(texts)
    parts: list[str] = []
    imports: dict[str, None] = {}
    seen: dict[str, str] = {}
    for one in made:
        for statement, part in _statements(one.text):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # the heading of one of them
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                imports[ast.unparse(statement)] = None
                # A comment above the imports concerns the whole rule, and stays with it.
                said = [line for line in part.split("\n") if line.startswith("#")]
                parts += ["\n".join([f"# For {one.name}:", *said])] if said else []
                continue
            name = getattr(statement, "name", None)
            if isinstance(statement, ast.Assign):
                name = ast.unparse(statement.targets[0])
            if name is not None and seen.setdefault(name, part) != part:
                raise ExportError(
                    f"{name} has different meanings in the exports of two functions",
                    fixes=("write a file for each",),
                )
            if part not in parts:
                parts.append(part)
    text = "\n\n\n".join([f"{_heading(made)}\n\n{_first(imports)}", *parts]) + "\n"
    return checked(text, f"an export of {', '.join(one.name for one in made)}")


def _first(imports: Iterable[str]) -> str:
    """The imports of a file, those of the standard library before those of the frameworks."""
    groups: tuple[list[str], list[str]] = ([], [])
    for line in imports:
        own = line.split()[1].partition(".")[0] in sys.stdlib_module_names
        groups[0 if own else 1].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group)


def _heading(made: Sequence[Translated]) -> str:
    names = ", ".join(one.name for one in made)
    return text_of(f"{names} with their derivative rules, for {made[0].target}. Exported by rulelab.")


def _statements(text: str) -> list[tuple[ast.stmt, str]]:
    """The statements of a module with their text, each with the comment and the decorators above it."""
    lines = text.split("\n")
    found, start = [], 0
    for statement in parse(text).body:
        found.append((statement, "\n".join(lines[start : statement.end_lineno]).strip("\n")))
        start = statement.end_lineno or start
    return found
