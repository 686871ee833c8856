"""The frameworks among the places where a rule can go: what their files hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import ExportError
from ..parsing import parse
from .gathering import Gathered
from .module_text import text_of
from .translated import Translated


@dataclass(frozen=True)
class InFramework:
    """A file with some rules: its text, the name and the rules of each function there by its own, remarks."""

    text: str
    names: dict[str, str]
    modes: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]


def framework_text(found: Sequence[Gathered], export: Callable[[Gathered], Translated]) -> InFramework:
    """What becomes of some rules; ExportError, with the line, where one of them has no counterpart."""
    made = [export(one) for one in found]
    names = {one.target: each.name for one, each in zip(found, made)}
    notes = [f"{each.name}: NumPy runs behind it ({each.why})" for each in made if not each.native]
    notes += [f"{each.name}: {remark}" for each in made for remark in each.remarks]
    modes = {one.target: each.modes for one, each in zip(found, made)}
    return InFramework(_together(made), names, modes, tuple(notes))


def _together(made: Sequence[Translated]) -> str:
    """Several translations in one file, what they share once; ExportError where one name has two meanings."""
    texts = [one.text for one in made]
    if len(texts) == 1:
        return texts[0]
    if made[0].target == "chainrules":
        return "\n\n".join(texts)
    parts: list[str] = [_heading(made)]
    seen: dict[str, str] = {}
    for text in texts:
        for statement, part in _statements(text):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # the heading of one of them
            name = getattr(statement, "name", None)
            if isinstance(statement, ast.Assign):
                name = ast.unparse(statement.targets[0])
            if name is not None and seen.setdefault(name, part) != part:
                raise ExportError(
                    f"{name} means one thing in the export of one function and another in that of the next",
                    fixes=("write a file for each",),
                )
            if part not in parts:
                parts.append(part)
    return "\n\n\n".join(parts) + "\n"


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
