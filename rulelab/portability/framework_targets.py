"""The frameworks among the places where a rule can go: their files, and who runs them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ExportError
from ..rules.registry import Registry
from .translated import Translated


def made_of(export: Callable[..., Translated]) -> Callable[[Sequence[Any], str, Registry], tuple]:
    """What `Target.make` is for a framework, but for the class of its answer: files, main file, options, notes."""

    def make(leaving: Sequence[Any], stem: str, registry: Registry) -> tuple:
        found = [export(one.gathered) for one in leaving]
        names = {one.gathered.target: each.name for one, each in zip(leaving, found)}
        suffix = ".jl" if found[0].target == "chainrules" else ".py"
        notes = [f"{each.name}: NumPy runs behind it ({each.why})" for each in found if not each.native]
        notes += [f"{each.name}: {remark}" for each in found for remark in each.remarks]
        return {f"{stem}{suffix}": together(found)}, f"{stem}{suffix}", {"names": names}, tuple(notes)

    return make


def together(found: Sequence[Translated]) -> str:
    """Several translations in one file; ExportError where they mean different things by one name."""
    if len(found) == 1:
        return found[0].text
    if found[0].target == "chainrules":
        return "\n\n".join(one.text for one in found)
    imports: dict[str, None] = {}
    seen: dict[str, str] = {}
    parts: list[str] = []
    for one in found:
        for chunk in one.text.split("\n\n\n"):
            tree = ast.parse(chunk).body
            name = getattr(tree[0], "name", None) if len(tree) == 1 else None
            if name is not None and name in seen:
                if seen[name] != chunk:
                    raise ExportError(f"{name} means different things in the two exports", fixes=("write a file for each",))
                continue
            if name is not None:
                seen[name] = chunk
            parts.append(chunk.rstrip("\n"))
    del imports
    return "\n\n\n".join(parts) + "\n"
