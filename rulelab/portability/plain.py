"""A rule as plain NumPy, without rulelab: the code that exports call when they call back into Python."""

from __future__ import annotations

import ast

from ..errors import ExportError
from ..parsing import cloned, nodes_of
from .gathering import Gathered
from .naming import Names
from .pieces import FRULE, RRULE, Piece
from .translation import is_zero, unwrapped


class Plain(ast.NodeTransformer):
    """Turns `NoTangent()` into None, thunks into their contents, and cotangents of tuples, lists and dicts
    into tuples, lists and dicts.
    """

    def __init__(self, piece: Piece, names: Names):
        self.piece, self.names = piece, names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_zero(self.names, node):
            return ast.copy_location(ast.Constant(None), node)
        inner = unwrapped(self.names, node)
        if inner is not node:
            return self.visit(inner)
        if self.names.dotted(node.func) == "rulelab.Tangent" and node.args:
            kind, items = node.args[0], [self.visit(x) for x in node.args[1:]]
            word = kind.id if isinstance(kind, ast.Name) else None
            if word in ("tuple", "list") and not node.keywords:
                return ast.copy_location(
                    (ast.Tuple if word == "tuple" else ast.List)(items, ast.Load()), node
                )
            if word == "dict" and len(items) + bool(node.keywords) == 1:
                if items:
                    return items[0]
                keys = [ast.Constant(k.arg) for k in node.keywords]
                return ast.copy_location(ast.Dict(keys, [self.visit(k.value) for k in node.keywords]), node)  # type: ignore[arg-type]
        return self.generic_visit(node)


def plain_function(piece: Piece, names: Names) -> ast.stmt:
    """The function of a piece without names from rulelab; ExportError if it needs one of them."""
    tree = Plain(piece, names).visit(cloned(piece.tree))
    for node in nodes_of(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and (names.dotted(node) or "").startswith("rulelab"):
            raise ExportError(
                f"{ast.unparse(node)} has no counterpart outside rulelab", place=piece.place(node)
            )
    return tree


def plain_pieces(found: Gathered, names: Names) -> list[ast.stmt]:
    """All functions and classes of an export as plain NumPy, its rules included."""
    for piece in found.rules:
        if piece.kind not in (RRULE, FRULE):
            raise ExportError(
                f"{piece.name} states partial derivatives, no rule of its own", place=piece.place()
            )
    return [plain_function(piece, names) for piece in found.functions]


def plain_imports(found: Gathered) -> list[str]:
    """The imports of an export except those from rulelab."""
    return [line for line in found.imports if "rulelab" not in line]
