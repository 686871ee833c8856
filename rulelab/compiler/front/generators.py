"""Generator expressions that are passed on: each becomes a generator that calls functions made of its parts.

`(e for t in xs if c)` is `generated(item, tested(test, xs))`, where `item` is a function from `t` to `e`
and `test` one from `t` to `c`. Generator expressions that are consumed immediately, and only once, are
lowered to loops (`loops`).
"""

from __future__ import annotations

import ast
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ...parsing import compiled_within
from ..base.source import Source, remember
from .names import renamed

# The code of functions made here, by enclosing code object and position, so that all passes share it.
_MADE: weakref.WeakValueDictionary[Any, types.CodeType] = weakref.WeakValueDictionary()


def item_of(node: ast.GeneratorExp) -> ast.FunctionDef:
    """The function from an item of the first iterable to what the generator expression yields for it."""
    first, *others = node.generators
    made: ast.expr = node.elt
    if others:
        made = ast.copy_location(ast.GeneratorExp(node.elt, others), node)
    return _function(node, first.target, made)


def test_of(node: ast.GeneratorExp) -> ast.FunctionDef | None:
    """The function that tests the items of the first iterable; None if there is no condition."""
    first = node.generators[0]
    if not first.ifs:
        return None
    test = first.ifs[0] if len(first.ifs) == 1 else ast.copy_location(ast.BoolOp(ast.And(), first.ifs), node)
    return _function(node, first.target, test)


_UNUSED = [f"item_{number}" for number in range(1000)]


def _function(node: ast.GeneratorExp, target: ast.expr, result: ast.expr) -> ast.FunctionDef:
    """A function of one item, which is unpacked into `target`, that returns `result`."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    given = target.id if isinstance(target, ast.Name) else next(name for name in _UNUSED if name not in names)
    body: list[ast.stmt] = [ast.copy_location(ast.Return(result), result)]
    if not isinstance(target, ast.Name):
        read = ast.copy_location(ast.Name(given, ast.Load()), target)
        body.insert(0, ast.copy_location(ast.Assign([target], read), target))
    parameter = ast.copy_location(ast.arg(given), target)
    function = ast.FunctionDef("genexpr", ast.arguments([], [parameter], None, [], [], None, []), body, [])
    return ast.copy_location(function, node)


def code_of(
    function: ast.FunctionDef, source: Source, outer: types.CodeType, around: set[str]
) -> tuple[types.CodeType, dict[str, str]]:
    """The code of a function made here, and the mapping from the names it captures to the names used around
    it. Its source is registered with `find_source`; `around` are the variables in the enclosing scope.
    """
    names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    # Variables of comprehensions have names that are not valid in Python source.
    hidden = {name: f"_{name.lstrip('.')}" for name in names if name.startswith("..")}
    function = renamed(function, hidden)
    for parameter in function.args.args:
        parameter.arg = hidden.get(parameter.arg, parameter.arg)
    enclosing = sorted(hidden.get(name, name) for name in around & names)
    place = (function.lineno, function.col_offset, function.end_lineno, function.end_col_offset)
    key = (outer, place, ast.dump(function), tuple(enclosing))
    code = _MADE.get(key)
    if code is None:
        code = _MADE[key] = compiled_within(function, source.filename, enclosing)
        remember(code, Source(function, source.filename, source.lines, "<genexpr>"))
    return code, {short: name for name, short in hidden.items()}


def handed_on(tree: ast.AST, reads_first: Callable[[ast.Call], bool]) -> list[ast.GeneratorExp]:
    """The generator expressions in a tree that may be read elsewhere, perhaps later. `reads_first` says
    whether a call consumes its first argument immediately, or becomes a loop that does.
    """
    found = [node for node in ast.walk(tree) if isinstance(node, ast.GeneratorExp)]
    if not found:
        return []
    read = {id(node) for parent in ast.walk(tree) for node in _read_at_once(parent, reads_first)}
    return [node for node in found if id(node) not in read]


def _read_at_once(parent: ast.AST, reads_first: Callable[[ast.Call], bool]) -> Iterator[ast.AST]:
    """The expressions that a node consumes immediately."""
    if isinstance(parent, ast.Call) and parent.args:
        if isinstance(parent.args[0], ast.GeneratorExp) and reads_first(parent):
            yield parent.args[0]
    elif isinstance(parent, (ast.For, ast.comprehension)):
        yield parent.iter
    elif isinstance(parent, ast.Starred):
        yield parent.value
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List)):
        yield parent.value
