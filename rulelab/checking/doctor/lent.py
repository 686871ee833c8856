"""A copy in the place of what a rule was lent, or gives twice: it may write to what it has made alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from .edits import Edit, followed, instead
from .slips import is_buffer


def copies(scope: Any, numpy: str) -> Iterator[Edit]:
    """The changes with which a rule works on something of its own: a copy of what it gives another name to,
    of a part of that or of each of its parts, a statement that makes its variable anew, a function that
    copies, no `out=`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            if isinstance(node.value, ast.Name):
                each = ast.Attribute(ast.Name(numpy, ast.Load()), "array", ast.Load())
                new = ast.Call(ast.Name("map", ast.Load()), [each, node.value], [])
                yield Edit(node.value, new, "writes", instead(new, node.value))
        elif isinstance(node, ast.Assign) and _is_a_view(node.value):
            own = ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], [])
            yield Edit(node.value, own, "writes", instead(own, node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = ast.Name(node.target.id, ast.Load())
            anew = ast.copy_location(ast.Assign([node.target], ast.BinOp(read, node.op, node.value)), node)
            yield Edit(node, anew, "writes", instead(anew, node))
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("asarray", "asanyarray"):
            called = ast.Attribute(ast.Name(numpy, ast.Load()), "array", ast.Load())
            copied = ast.Call(called, node.args, node.keywords)
            yield Edit(node, copied, "writes", instead(copied, node))
        elif isinstance(node, ast.Call) and any(keyword.arg == "out" for keyword in node.keywords):
            plain = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "out"])
            yield Edit(node, plain, "writes", instead(plain, node))


def _is_a_view(node: ast.expr) -> bool:
    """Whether an expression may have the memory of what has a name: it, a part of it, or it turned."""
    while isinstance(node, ast.Subscript) or isinstance(node, ast.Attribute) and node.attr == "T":
        node = node.value
    return isinstance(node, ast.Name)


_GROWING = frozenset(("append", "extend", "insert"))


def made_in_the_pullback(rule: Any, pullbacks: Iterable[Any]) -> Iterator[Edit]:
    """A list or an array that the rule makes and a pullback fills, made by the pullback for each answer."""
    outside = [one for one in getattr(rule, "body", ()) if isinstance(one, ast.Assign)]
    for pullback in pullbacks:
        body = getattr(pullback, "body", None)
        body = body if isinstance(body, list) else []  # a lambda makes nothing of its own
        filled = set(_filled(pullback))
        for one in outside if body else ():
            target = one.targets[0]
            if isinstance(target, ast.Name) and target.id in filled and len(one.targets) == 1:
                words = f"`{ast.unparse(one)}` stands before the pullback, but belongs inside it"
                left, own = ast.copy_location(ast.Pass(), one), ast.copy_location(copy.copy(one), body[0])
                yield Edit(one, left, "stateful", words, (Edit(body[0], followed(own, body[0])),))


def _filled(pullback: Any) -> Iterator[str]:
    """The names of what is written to, or grows."""
    for node in ast.walk(pullback):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield from (node.value.id,) if isinstance(node.value, ast.Name) else ()
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value if node.func.attr in _GROWING else None
            of = node.args[0] if node.func.attr == "at" and node.args else of
            yield from (of.id,) if isinstance(of, ast.Name) else ()


def with_one_each(scope: Any) -> Iterator[Edit]:
    """An array for each of several names that were given one and the same: `a = b = np.zeros(n)`; and a part
    for each: `a = b = bars[0]`; and a copy for one that is another's second name and written to."""
    filled = set(_filled(scope))
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and not filled.isdisjoint((target.id, node.value.id)):
                own = ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], [])
                words = f"uses one array under two names: {instead(own, node.value)}"
                yield Edit(node.value, own, "overwrites", words)
        if isinstance(node, ast.Assign) and len(node.targets) > 1 and _is_first_part(node.value):
            parts = ast.Tuple(list(node.targets), ast.Store())
            new = ast.copy_location(ast.Assign([parts], node.value.value), node)  # type: ignore[attr-defined]
            yield Edit(node, new, "wrong_element", f"gives one part several names: {instead(new, node)}")
        if isinstance(node, ast.Assign) and len(node.targets) > 1 and is_buffer(node.value):
            each: list[ast.expr] = [node.value for _ in node.targets]
            target = ast.Tuple(list(node.targets), ast.Store())
            new = ast.copy_location(ast.Assign([target], ast.Tuple(each, ast.Load())), node)
            yield Edit(node, new, "overwrites", f"gives one array several names: {instead(new, node)}")


def _is_first_part(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
