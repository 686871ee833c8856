"""Decides which Python the compiler accepts; the rest is refused with line and caret before anything runs."""

from __future__ import annotations

import ast
import types

from ...errors import UnsupportedSyntaxError
from ...parsing import LEAVES, children
from ...python_facts import EXPRESSIONS, STATEMENTS, Fate, by_kind
from ..base.source import Source
from .bindings import assigned, evaluated_at_once

_WORDS: dict[type, str] = {
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Await: "await",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "async def",
    ast.Global: "a write to a global",
    ast.ClassDef: "a class definition",
    **by_kind(
        {
            "TypeAlias": "a type statement",
            "TemplateStr": "a template string",
            "Interpolation": "what a template string holds",
        }
    ),
}
_FATES: dict[type, Fate] = {**{kind: found.fate for kind, found in STATEMENTS.items()}, **EXPRESSIONS}
_TAKEN = {kind for kind, fate in _FATES.items() if fate is not Fate.REFUSED} - {ast.Global}  # in any case
_ITER_FIXES = ("return iter([...]) of a list instead of yield",)
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
}


def check(source: Source, code: types.CodeType) -> None:
    """Raise UnsupportedSyntaxError at the first construct that the compiler does not accept.

    Nested functions are checked when they are called. Questions about what a name refers to (such as whether
    it is a generator consumer) are left to the lowering.
    """
    if code.co_flags & 0x280:  # coroutine, asynchronous generator
        raise refusal(source, source.node, "async def", _ASYNC_FIXES)
    if code.co_flags & 0x20:  # generator
        culprit = next(
            (n for n in ast.walk(source.node) if isinstance(n, (ast.Yield, ast.YieldFrom))), source.node
        )
        fixes = _ITER_FIXES if code.co_name == "__iter__" else _GENERATOR_FIXES
        raise refusal(source, culprit, "yield", fixes)
    body: list[ast.AST] = (
        [*source.node.body] if isinstance(source.node, ast.FunctionDef) else [source.node.body]
    )
    _look(source, body, body)


def refusal(source: Source, node: ast.AST, what: str, fixes: tuple[str, ...] = ()) -> UnsupportedSyntaxError:
    """The error for a construct that is not accepted, at its position."""
    return UnsupportedSyntaxError(
        f"Differentiating through {what} is not supported, found in {source.name}()",
        place=source.place(node),
        fixes=(
            *(fixes or _HINTS.get(type(node), ())),
            f"write a rule for {source.name} (%rule_stub {source.name})",
        ),
        read="limitations#syntax",
    )


def _look(source: Source, nodes: list[ast.AST], body: list[ast.AST]) -> None:
    """Refuse the first construct in these nodes, at any depth, that is not accepted."""
    for node in nodes:
        kind = type(node)
        if kind in LEAVES:
            continue
        if kind not in _TAKEN:
            _refuse(source, node, body)
        at_once = isinstance(node, (ast.FunctionDef, ast.Lambda))
        _look(source, evaluated_at_once(node) if at_once else children(node), body)  # type: ignore[arg-type]


def _refuse(source: Source, node: ast.AST, body: list[ast.AST]) -> None:
    """Refuse a node that is not accepted; a global that is declared but only read is accepted."""
    kind = type(node)
    if isinstance(node, ast.Global) and not set(node.names).isdisjoint(assigned(body, appends=False)):
        raise refusal(source, node, _WORDS[ast.Global])
    if isinstance(node, (ast.stmt, ast.expr)) and _FATES.get(kind, Fate.REFUSED) is Fate.REFUSED:
        raise refusal(source, node, _WORDS.get(kind, kind.__name__))
    if isinstance(node, ast.comprehension) and node.is_async:
        raise refusal(source, node.iter, "an asynchronous comprehension", _ASYNC_FIXES)
