"""The frameworks among the places where a rule can go: what their files hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..errors import ExportError
from ..parsing import parse
from .gathering import Gathered
from .translated import Translated


def framework_text(
    found: Sequence[Gathered], export: Callable[[Gathered], Translated]
) -> tuple[str, dict[str, str], list[str]]:
    """The text of a file with some rules, the names of their functions there by their own, and remarks.

    ExportError, with the line, where one of them has no counterpart.
    """
    made = [export(one) for one in found]
    names = {one.target: each.name for one, each in zip(found, made)}
    notes = [f"{each.name}: NumPy runs behind it ({each.why})" for each in made if not each.native]
    notes += [f"{each.name}: {remark}" for each in made for remark in each.remarks]
    return _together(made), names, notes


def _together(made: Sequence[Translated]) -> str:
    """Several translations in one file, what they share once; ExportError where one name has two meanings."""
    texts = [one.text for one in made]
    if len(texts) == 1:
        return texts[0]
    if made[0].target == "chainrules":
        return "\n\n".join(texts)
    parts: list[str] = []
    seen: dict[str, str] = {}
    for text in texts:
        for statement, part in _statements(text):
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


def _statements(text: str) -> list[tuple[ast.stmt, str]]:
    """The statements of a module with their text, each with the comment and the decorators above it."""
    lines = text.split("\n")
    found, start = [], 0
    for statement in parse(text).body:
        found.append((statement, "\n".join(lines[start : statement.end_lineno]).strip("\n")))
        start = statement.end_lineno or start
    return found
