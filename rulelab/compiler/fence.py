"""Which Python the compiler accepts; the rest is refused with line and caret before anything runs."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator

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
    ast.With,
    ast.Match,
    ast.Delete,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
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
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
    ast.Starred,
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
    ast.Global: "a write to a global",
    ast.ClassDef: "a class definition",
    ast.TryStar: "except*",
}
_GENERATOR_FIXES = ("collect the items in a list and return it",)
_ASYNC_FIXES = ("differentiate the part that computes, in a function without async",)
_HINTS: dict[type, tuple[str, ...]] = {
    ast.Yield: _GENERATOR_FIXES,
    ast.YieldFrom: _GENERATOR_FIXES,
    ast.Await: _ASYNC_FIXES,
    ast.AsyncFor: _ASYNC_FIXES,
    ast.AsyncWith: _ASYNC_FIXES,
    ast.AsyncFunctionDef: _ASYNC_FIXES,
    ast.ClassDef: ("move the class to the top of the file or to a cell of its own",),
    ast.Global: ("return the value instead of writing it to a global",),
    ast.TryStar: ("catch the group with except and look at its exceptions",),
}


def check(source: Source, code: types.CodeType) -> None:
    """Raise UnsupportedSyntaxError at the first construct that the compiler does not take.

    Nested functions are looked at when they are called. What is asked of names (does this name a
    generator consumer?) is settled by the lowering.
    """
    if code.co_flags & 0x280:  # coroutine, asynchronous generator
        raise refusal(source, source.node, "async def", _ASYNC_FIXES)
    if code.co_flags & 0x20:  # generator
        culprit = next(
            (n for n in ast.walk(source.node) if isinstance(n, (ast.Yield, ast.YieldFrom))), source.node
        )
        raise refusal(source, culprit, "yield", _GENERATOR_FIXES)
    body: list[ast.AST] = (
        [*source.node.body] if isinstance(source.node, ast.FunctionDef) else [source.node.body]
    )
    for node in body:
        _visit(source, node)
    for node in body:
        _refuse_global_writes(source, node, body)


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
        for decorator in getattr(node, "decorator_list", ()):
            _visit(source, decorator)
        return
    if isinstance(node, ast.comprehension) and node.is_async:
        raise refusal(source, node.iter, "an asynchronous comprehension", _ASYNC_FIXES)
    for child in ast.iter_child_nodes(node):
        _visit(source, child)


def _refuse_global_writes(source: Source, node: ast.AST, body: list[ast.AST]) -> None:
    """A global that is declared and only read is a global like any other."""
    if isinstance(node, ast.Global):
        written = {name for statement in body for name in bound_names(statement)}
        if written & set(node.names):
            raise refusal(source, node, _WORDS[ast.Global])
    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            _refuse_global_writes(source, child, body)


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement of this function binds or deletes; nested functions are their own."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
        return
    if isinstance(node, ast.comprehension):  # its variables are its own
        for part in (node.iter, *node.ifs):
            yield from bound_names(part)
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from bound_names(child)
