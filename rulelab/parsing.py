"""Parsing and compiling of Python text, safe for several threads; and the nodes of syntax trees.

CPython 3.11 counts the recursion depth of its parser for all threads together, and raises SystemError if two
threads parse at the same time. So parsing takes a lock, and is tried again if other code, such as
`inspect.signature`, parses without it.
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
_ROOM = 120_000  # nested calls, for a text that is nested as deeply as Python allows
_ROOM_LOCK = threading.Lock()
_rooms: list[int] = []  # the recursion limits before each active request for a higher one


def parse(text: str, filename: str = "<unknown>", mode: str = "exec") -> Any:
    """The syntax tree of a text; raises what `ast.parse` does."""
    return with_room(lambda: _in_turn(lambda: ast.parse(text, filename, mode)))


def compiled(source: ast.Module | str, filename: str, flags: int = 0) -> types.CodeType:
    """The code of a module, from its tree or its text; raises what `compile` does."""
    return with_room(
        lambda: _in_turn(lambda: compile(source, filename, "exec", flags=flags, dont_inherit=True))
    )


def compiled_within(function: ast.FunctionDef, filename: str, enclosing: Iterable[str]) -> types.CodeType:
    """The code of a function from its tree; the variables `enclosing` that it uses are free variables."""
    around = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in enclosing]
    outer = ast.FunctionDef("around", ast.arguments([], [], None, [], [], None, []), [*around, function], [])
    for made in (outer, *around):
        ast.copy_location(made, function)
    code = compiled(ast.fix_missing_locations(ast.Module([outer], [])), filename)
    for _ in (outer, function):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return code


def with_room(work: Callable[[], _Result]) -> _Result:
    """The result of `work`, which is run again under a higher recursion limit if it exceeds Python's.

    A sum of 1,000 terms is a tree of depth 1,000, and a walk over it needs even more nested calls. The limit
    applies to the whole process, so it is raised only if necessary and only while it is needed.
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


# Fields without nodes, or with an operator or a context, which have no position and no children.
_PLAIN = {"ctx", "op", "ops", "id", "attr", "arg", "name", "asname", "module", "kind", "type_comment", "rest"}
_PARTS = {
    kind: tuple(field for field in kind._fields if field not in _PLAIN and kind is not ast.Constant)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

LEAVES = frozenset({ast.Name, ast.Constant})  # the most frequent kinds of nodes, with no child but a context


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
    """The children of a node but operators and contexts; `ast.iter_child_nodes` takes three times as long.

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
    """A node and all its descendants, outer before inner, without operators and contexts.

    >>> [type(node).__name__ for node in nodes_of(parse("f(x) + 1", mode="eval").body)]
    ['BinOp', 'Call', 'Constant', 'Name', 'Name']
    """
    nodes: list[Any] = [tree]
    for node in nodes:  # the list grows meanwhile; a call per node would take half of the time
        for field in _PARTS.get(type(node), node._fields):
            part = getattr(node, field, None)
            if type(part) is list:
                nodes += [inner for inner in part if isinstance(inner, ast.AST)]
            elif isinstance(part, ast.AST):
                nodes.append(part)
    return nodes


def cloned(node: Any, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy of a tree, in a tenth of the time of `copy.deepcopy`. `memo` maps ids of nodes to their
    replacements; the copies of all other nodes are added to it.

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
