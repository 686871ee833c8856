"""A copy in the place of what a rule was lent, or gives twice: it may write to what it has made alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .edits import Edit, instead
from .slips import is_buffer


def copies(scope: Any, numpy: str) -> Iterator[Edit]:
    """The changes with which a rule works on something of its own: a copy of what it gives another name to, a
    statement that makes its variable anew, a function that copies, no `out=`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            own = ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], [])
            yield Edit(node.value, own, "writes", instead(own, node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = ast.Name(node.target.id, ast.Load())
            new = ast.Assign([node.target], ast.BinOp(read, node.op, node.value))
            yield Edit(node, ast.copy_location(new, node), "writes", instead(new, node))
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("asarray", "asanyarray"):
            called = ast.Attribute(ast.Name(numpy, ast.Load()), "array", ast.Load())
            copied = ast.Call(called, node.args, node.keywords)
            yield Edit(node, copied, "writes", instead(copied, node))
        elif isinstance(node, ast.Call) and any(keyword.arg == "out" for keyword in node.keywords):
            plain = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "out"])
            yield Edit(node, plain, "writes", instead(plain, node))


def with_one_each(scope: Any) -> Iterator[Edit]:
    """An array for each of several names that were given one and the same: `a = b = np.zeros(n)`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and len(node.targets) > 1 and is_buffer(node.value):
            each: list[ast.expr] = [node.value for _ in node.targets]
            target = ast.Tuple(list(node.targets), ast.Store())
            new = ast.copy_location(ast.Assign([target], ast.Tuple(each, ast.Load())), node)
            yield Edit(node, new, "overwrites", f"gives one array several names: {instead(new, node)}")
