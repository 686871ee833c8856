"""Whether StopIteration may be raised in a generator expression, which makes RuntimeError of it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tangents.holding import captured
from ..base.libraries import is_library, is_of_library
from ..base.source import names_in
from .lowering import UNBOUND

_STOPPING = frozenset({"next", "StopIteration", "__next__"})
_OF_LIBRARIES = (np.ufunc, types.BuiltinFunctionType, type(np.sum))
# Methods of what holds numbers: whatever has one of that name, it is not for asking an iterator.
_METHODS = frozenset(name for kind in (np.ndarray, list, tuple, dict, set, str) for name in dir(kind))


def may_stop(node: ast.GeneratorExp, known: Callable[[ast.expr], Any]) -> bool:
    """Whether something may raise StopIteration in it, as far as is known."""
    return any(_may_raise(call.func, known(call.func)) for call in _calls_inside(node))


def will_stop(node: ast.GeneratorExp, known: Callable[[ast.expr], Any]) -> bool:
    """Whether it asks iterators for items, or calls a function that does or raises StopIteration: then it
    is no part of a loop with a block of the author's, where this would mean something else.
    """
    return any(_speaks(call.func, known(call.func)) for call in _calls_inside(node))


def _calls_inside(node: ast.GeneratorExp) -> Iterator[ast.Call]:
    """The calls in a generator expression but for those of its first iterable, which is evaluated outside."""
    first, *others = node.generators
    for part in (node.elt, *first.ifs, *others):
        yield from (n for n in ast.walk(part) if isinstance(n, ast.Call))


def _may_raise(node: ast.expr, function: Any) -> bool:
    if _speaks(node, function):
        return True
    if function is UNBOUND:
        return not (isinstance(node, ast.Attribute) and node.attr in _METHODS)
    if isinstance(function, type):
        return not is_of_library(function)
    return not isinstance(function, (*_OF_LIBRARIES, types.FunctionType))


def _speaks(node: ast.expr, function: Any) -> bool:
    if isinstance(function, types.FunctionType):
        return _is_mentioned(function, [])
    return function is next or (isinstance(node, ast.Attribute) and node.attr == "__next__")


def _is_mentioned(function: types.FunctionType, asked: list[types.FunctionType]) -> bool:
    """Whether the text of a function of the author's, or of one that it calls by name, speaks of it."""
    if is_library(function) or any(function is other for other in asked):
        return False
    asked.append(function)
    names = names_in(function.__code__)
    if not _STOPPING.isdisjoint(names):
        return True
    others = [*(function.__globals__.get(name) for name in names), *captured(function).values()]
    return any(_is_mentioned(f, asked) for f in others if isinstance(f, types.FunctionType))
