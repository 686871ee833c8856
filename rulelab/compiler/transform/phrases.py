"""Pieces of Python text that the transform puts together."""

from __future__ import annotations

import ast

from ...parsing import parse
from ..base import ir
from .terms import is_primary
from .tidy import Node, Region


def bracketed(text: str) -> str:
    """The text as an operand: in brackets unless it is one primary."""
    primary = is_primary(text)
    if primary is not None:
        return text if primary else f"({text})"
    try:
        node = parse(text, mode="eval").body
    except SyntaxError:  # pragma: no cover - emitted text always parses
        return f"({text})"
    return (
        text
        if isinstance(
            node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict)
        )
        else f"({text})"
    )


def joined(names: list[str]) -> str:
    """Names as one value, or as the targets of one: one name goes without brackets."""
    return names[0] if len(names) == 1 else f"({', '.join(names)})" if names else ""


def pattern(iteration: ir.Iteration) -> str:
    """The target of a `for` over an iteration."""
    if isinstance(iteration, ir.Zipped):
        return f"({', '.join(map(pattern, iteration.parts))},)"
    if isinstance(iteration, ir.Enumerated):
        return f"({iteration.counter}, {pattern(iteration.part)})"
    return iteration.item


def branching(test: str, then: list[Node], orelse: list[Node], position: ir.Position) -> list[Node]:
    """Lines that run on a branch, without arms that are empty."""
    if not then and orelse:
        return [Region([(f"if not {bracketed(test)}:", orelse)], position)]
    arms = [(f"if {test}:", then)]
    if orelse:
        arms.append(("else:", orelse))
    return [Region(arms, position)]
