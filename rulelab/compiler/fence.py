"""Which Python the compiler accepts; the rest is refused with line and caret before anything runs."""

from __future__ import annotations

import ast
import types

from ..errors import UnsupportedSyntaxError
from .source import Source

_STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Return,
    ast.If,
    ast.For,
    ast.While,
    ast.Break,
    ast.Continue,
    ast.Pass,
    ast.Expr,
    ast.FunctionDef,
    ast.Try,
    ast.Raise,
    ast.Assert,
    ast.Nonlocal,
)
_EXPRESSIONS = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Lambda,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.GeneratorExp,
    ast.JoinedStr,
    ast.FormattedValue,
)
_WORDS = {
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Await: "await",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "async def",
    ast.Global: "global",
    ast.With: "with",
    ast.Match: "match",
    ast.Delete: "del",
    ast.NamedExpr: "the walrus :=",
    ast.Starred: "a starred expression",
    ast.ClassDef: "a class definition",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.TryStar: "except*",
}
_HINTS: dict[type, tuple[str, ...]] = {
    ast.Import: ("move the import to the top of the file or to a cell of its own",),
    ast.ImportFrom: ("move the import to the top of the file or to a cell of its own",),
    ast.Global: ("return the value instead of writing it to a global",),
    ast.NamedExpr: ("assign on a line of its own",),
}
# These consume a generator expression at once, so that it may be read as a list comprehension.
CONSUMERS = frozenset({"sum", "max", "min", "list", "tuple"})


def check(source: Source, code: types.CodeType) -> None:
    """Raise UnsupportedSyntaxError at the first construct that the compiler does not take.

    Nested functions are looked at when they are called. What is asked of names (does this name a
    generator consumer?) is settled by the lowering.
    """
    if code.co_flags & 0x280:  # coroutine, asynchronous generator
        raise refusal(source, source.node, "async def")
    if code.co_flags & 0x20:  # generator
        culprit = next(
            (n for n in ast.walk(source.node) if isinstance(n, (ast.Yield, ast.YieldFrom))), source.node
        )
        raise refusal(source, culprit, "yield")
    body = source.node.body if isinstance(source.node, ast.FunctionDef) else [source.node.body]
    for node in body:
        _visit(source, node)


def refusal(source: Source, node: ast.AST, what: str, fixes: tuple[str, ...] = ()) -> UnsupportedSyntaxError:
    """The error for a construct that is not taken, at its place."""
    return UnsupportedSyntaxError(
        f"Differentiating through {what} is not supported, found in {source.name}()",
        place=source.place(node),
        fixes=(
            *(fixes or _HINTS.get(type(node), ())),
            f"write a rule for {source.name} (%rule_stub {source.name})",
        ),
        read="limitations#syntax",
    )


def _visit(source: Source, node: ast.AST) -> None:
    if isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS):
        raise refusal(source, node, _WORDS.get(type(node), type(node).__name__.lower()))
    if isinstance(node, ast.expr) and not isinstance(node, _EXPRESSIONS):
        raise refusal(source, node, _WORDS.get(type(node), type(node).__name__.lower()))
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            _visit(source, default)
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            raise refusal(source, node.decorator_list[0], "a decorator inside a function")
        return
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        raise refusal(source, node.orelse[0], "the else of a loop")
    if isinstance(node, ast.Try):
        if node.orelse:
            raise refusal(source, node.orelse[0], "the else of a try")
        if node.finalbody:
            raise refusal(source, node.finalbody[0], "finally")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise refusal(source, node.iter, "an asynchronous comprehension")
    if isinstance(node, ast.keyword) and node.arg is None:
        raise refusal(source, node.value, "** in a call")
    for child in ast.iter_child_nodes(node):
        _visit(source, child)
