"""Python text to syntax trees and to code, by several threads at once; the nodes of a tree.

CPython 3.11 counts the depth of its parser for all threads together, and raises SystemError where two meet
there. So we take turns; and try again where we meet somebody who does not, such as `inspect.signature`.
"""

from __future__ import annotations

import ast
import sys
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
PARSING = threading.RLock()
_TRIES = 50
_ROOM = 120_000  # calls within calls for a text that nests as deep as Python itself takes it
_ROOM_LOCK = threading.Lock()
_rooms: list[int] = []  # the limits that were found by those who have asked for room


def parse(text: str, filename: str = "<unknown>", mode: str = "exec") -> Any:
    """The syntax tree of a text; raises what `ast.parse` does."""
    return with_room(lambda: _in_turn(lambda: ast.parse(text, filename, mode)))


def compiled(source: ast.Module | str, filename: str, flags: int = 0) -> types.CodeType:
    """The code of a module, from its tree or its text; raises what `compile` does."""
    return with_room(
        lambda: _in_turn(lambda: compile(source, filename, "exec", flags=flags, dont_inherit=True))
    )


def compiled_within(function: ast.FunctionDef, filename: str, enclosing: Iterable[str]) -> types.CodeType:
    """The code of a function that captures what it mentions of the variables `enclosing`, from its tree."""
    around = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in enclosing]
    outer = ast.FunctionDef("around", ast.arguments([], [], None, [], [], None, []), [*around, function], [])
    for made in (outer, *around):
        ast.copy_location(made, function)
    code = compiled(ast.fix_missing_locations(ast.Module([outer], [])), filename)
    for _ in (outer, function):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return code


def with_room(work: Callable[[], _Result]) -> _Result:
    """What `work` gives; where Python's limit of recursion ends it, it is done again under a higher one.

    A sum of 1,000 terms nests 1,000 deep, and more calls deep is each walk over it. The limit is that of the
    whole process, so it is raised only where it is needed, and as long as anybody needs it.
    """
    try:
        return work()
    except RecursionError:
        pass
    with _ROOM_LOCK:
        _rooms.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_ROOM, _rooms[0]))
    try:
        return work()
    finally:
        with _ROOM_LOCK:
            before = _rooms[0]
            _rooms.pop()
            if not _rooms and sys.getrecursionlimit() == max(_ROOM, before):
                sys.setrecursionlimit(before)


# Fields that hold no node, or one that stands for an operator or a context: these have no place and no parts.
_PLAIN = {"ctx", "op", "ops", "id", "attr", "arg", "name", "asname", "module", "kind", "type_comment", "rest"}
_PARTS = {
    kind: tuple(field for field in kind._fields if field not in _PLAIN and kind is not ast.Constant)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

LEAVES = frozenset({ast.Name, ast.Constant})  # the kinds of most nodes, which have no parts but a context


_CHILDREN: dict[type, Callable[[Any], list[Any]]] = {  # of the most frequent kinds
    **dict.fromkeys(LEAVES, lambda node: []),
    ast.Assign: lambda node: [*node.targets, node.value],
    ast.AugAssign: lambda node: [node.target, node.value],
    ast.For: lambda node: [node.target, node.iter, *node.body, *node.orelse],
    **dict.fromkeys((ast.While, ast.If), lambda node: [node.test, *node.body, *node.orelse]),
    ast.Expr: lambda node: [node.value],
    ast.BinOp: lambda node: [node.left, node.right],
    ast.UnaryOp: lambda node: [node.operand],
    ast.Compare: lambda node: [node.left, *node.comparators],
    ast.Call: lambda node: [node.func, *node.args, *node.keywords],
    ast.Attribute: lambda node: [node.value],
    ast.Subscript: lambda node: [node.value, node.slice],
    **dict.fromkeys((ast.Tuple, ast.List), lambda node: [*node.elts]),
}


def children(node: ast.AST) -> list[Any]:
    """The parts of a node, but for operators and contexts. `ast.iter_child_nodes` takes three times as long.

    >>> [ast.unparse(part) for part in children(parse("f(x) + 1", mode="eval").body)]
    ['f(x)', '1']
    """
    find = _CHILDREN.get(type(node))
    if find is not None:
        return find(node)
    found: list[Any] = []
    for field in _PARTS.get(type(node), node._fields):
        part = getattr(node, field, None)
        if type(part) is list:
            found += [inner for inner in part if isinstance(inner, ast.AST)]
        elif isinstance(part, ast.AST):
            found.append(part)
    return found


def nodes_of(tree: ast.AST) -> list[Any]:
    """A node and all below it, outer before inner, but for operators and contexts.

    >>> [type(node).__name__ for node in nodes_of(parse("f(x) + 1", mode="eval").body)]
    ['BinOp', 'Call', 'Constant', 'Name', 'Name']
    """
    nodes: list[Any] = [tree]
    for node in nodes:  # which grow meanwhile; a call for each would take half of the time
        for field in _PARTS.get(type(node), node._fields):
            part = getattr(node, field, None)
            if type(part) is list:
                nodes += [inner for inner in part if isinstance(inner, ast.AST)]
            elif isinstance(part, ast.AST):
                nodes.append(part)
    return nodes


def cloned(node: Any, memo: dict[int, Any] | None = None) -> Any:
    """What `copy.deepcopy` makes of a tree, in a tenth of its time; with the nodes of `memo` in the place of
    those with these identities. It has the others afterwards, too.

    >>> tree = parse("f(x) + 1", mode="eval").body
    >>> ast.unparse(cloned(tree, {id(tree.left): ast.Name("y", ast.Load())}))
    'y + 1'
    """
    memo = {} if memo is None else memo
    if id(node) in memo:
        return memo[id(node)]
    new = memo[id(node)] = node.__class__.__new__(node.__class__)
    held = new.__dict__
    for name, value in node.__dict__.items():
        if isinstance(value, ast.AST):
            held[name] = cloned(value, memo)
        elif type(value) is list:
            held[name] = [cloned(one, memo) if isinstance(one, ast.AST) else one for one in value]
        else:
            held[name] = value
    return new


def _in_turn(build: Callable[[], _Result]) -> _Result:
    with PARSING:
        for _ in range(_TRIES):
            try:
                return build()
            except SystemError:
                continue
        return build()
