"""Whether a generator expression may raise StopIteration, which Python turns into RuntimeError."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tangents.holding import captured
from ..base import ir
from ..base.libraries import is_library, is_of_library
from ..base.source import names_in
from .bindings import Comprehension
from .consumers import calls_inside

_STOPPING = frozenset({"next", "StopIteration", "__next__"})
_OF_LIBRARIES = (np.ufunc, types.BuiltinFunctionType, type(np.sum))
# Methods of arrays; a method of this name of any other class is taken to compute only, too.
_COMPUTING = frozenset(
    {"all", "any", "conj", "cumsum", "dot", "max", "mean", "min", "prod", "round", "std", "sum", "var"}
)


def may_stop(node: Comprehension, known: Callable[[ast.expr], Any]) -> bool:
    """Whether anything that a comprehension calls may raise StopIteration; unknown callees may."""
    return any(_may_raise(callee, known(callee)) for callee in calls_inside(node))


def will_stop(node: ast.GeneratorExp, known: Callable[[ast.expr], Any]) -> bool:
    """Whether a generator expression calls `next`, or a function whose code mentions it or StopIteration. It
    is then not merged into a loop with a block of the author's, where StopIteration would mean something
    else.
    """
    return any(_speaks(callee, known(callee)) for callee in calls_inside(node))


def _may_raise(node: ast.expr, function: Any) -> bool:
    if _speaks(node, function):
        return True
    if function is ir.UNBOUND:
        return not (isinstance(node, ast.Attribute) and node.attr in _COMPUTING)
    if isinstance(function, type):
        return not is_of_library(function)
    return not isinstance(function, (*_OF_LIBRARIES, types.FunctionType))


def _speaks(node: ast.expr, function: Any) -> bool:
    if isinstance(function, types.FunctionType):
        return _is_mentioned(function, [])
    return function is next or (isinstance(node, ast.Attribute) and node.attr == "__next__")


def _is_mentioned(function: types.FunctionType, asked: list[types.FunctionType]) -> bool:
    """Whether the code of a function, or of one that it refers to, mentions `next` or StopIteration."""
    if is_library(function) or any(function is other for other in asked):
        return False
    asked.append(function)
    names = names_in(function.__code__)
    if not _STOPPING.isdisjoint(names):
        return True
    others = [*(function.__globals__.get(name) for name in names), *captured(function).values()]
    return any(_is_mentioned(f, asked) for f in others if isinstance(f, types.FunctionType))
