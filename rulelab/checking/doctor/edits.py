"""Small changes of a rule's syntax tree, and of its text: what an author may have meant to write."""

from __future__ import annotations

import ast
import copy
import itertools
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...parsing import compiled, parse

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Edit:
    """One expression of a rule's text and what to write in its place."""

    old: ast.expr
    new: ast.expr


def replaced(lines: list[str], old: ast.expr, text: str) -> list[str]:
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before = lines[first].encode()[: old.col_offset].decode()
    after = lines[last].encode()[old.end_col_offset :].decode()
    return [*lines[:first], before + text + after, *lines[last + 1 :]]


def dump_of(lines: list[str], node: Any, fewer: int) -> str:
    """The tree of a function after its text was changed; empty where that is no Python any more."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    last = (node.end_lineno or node.lineno) - fewer
    text = textwrap.dedent("\n".join(lines[first - 1 : last]))
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        try:
            tree = parse(f"({text.strip()})")
        except (SyntaxError, ValueError):
            return ""
    for found in ast.walk(tree):
        if type(found) is type(node) and getattr(found, "name", "") == getattr(node, "name", ""):
            return ast.dump(found)
    return ""


def with_edits(tree: Any, edits: list[Edit]) -> Any:
    """A copy of a tree with the edits made in it."""
    memo: dict[int, Any] = {id(edit.old): copy.deepcopy(edit.new) for edit in edits}
    return copy.deepcopy(tree, memo)


def code_of(tree: Any, like: types.CodeType) -> types.CodeType | None:
    """The code of a function or a lambda from its tree alone, its free names as cells of those that are.

    The tree is used up.
    """
    if isinstance(tree, ast.Lambda):
        inner: Any = ast.Expr(tree)
    else:
        tree.decorator_list, inner = [], tree
    binders = [ast.arg(name) for name in like.co_freevars]
    arguments = ast.arguments([], binders, None, [], [], None, [])
    outer = ast.FunctionDef("around", arguments, [inner], [], None)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compiled(module, f"<corrected rule {next(_numbers)}>")
    (around,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    inside = [c for c in around.co_consts if isinstance(c, types.CodeType) and c.co_name == like.co_name]
    return inside[0] if len(inside) == 1 else None


def left_out(within: ast.expr) -> Iterator[Edit]:
    """A sign or a factor left out, which reads better than another one to make up for it."""
    for node in ast.walk(within):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Edit(node, node.operand)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            yield Edit(node, node.left)
            yield Edit(node, node.right)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield Edit(node, node.left)


def is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.MatMult, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
}
OTHER_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OTHER_FUNCTIONS = {
    "sin": ("cos",), "cos": ("sin",), "sinh": ("cosh",), "cosh": ("sinh",), "sum": ("mean",),
    "mean": ("sum",), "max": ("min",), "min": ("max",), "argmax": ("argmin",), "argmin": ("argmax",),
    "log": ("exp",), "exp": ("log",), "cumsum": ("cumprod",), "floor": ("ceil",),
}  # fmt: skip


def other_calls(node: ast.Call) -> Iterator[ast.expr]:
    """Another function of the same owner, another axis, or the argument alone."""
    called = node.func
    if isinstance(called, ast.Attribute):
        for name in _OTHER_FUNCTIONS.get(called.attr, ()):
            yield ast.Call(ast.Attribute(called.value, name, ast.Load()), node.args, node.keywords)
        if called.attr in ("conj", "conjugate") and not node.args:
            yield called.value
    for keyword in node.keywords:
        if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant):
            for axis in {0, 1, -1} - {keyword.value.value}:
                others = [k for k in node.keywords if k is not keyword]
                yield ast.Call(called, node.args, [*others, ast.keyword("axis", ast.Constant(axis))])
    if len(node.args) == 1 and not node.keywords:
        yield node.args[0]
