"""Copies in place of what a rule was given, or returns twice: it may write only to what it has made."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from ..reading.anatomy import own_nodes
from ..reading.editing import Edit, as_block, instead
from .slips import is_buffer


def copies(scope: Any, numpy: str) -> Iterator[Edit]:
    """Changes that make a rule work on its own memory. First no `out=`, and a rebound variable in place of
    writing to a whole array; then copies of what is assigned to another name, of a part of it or of each of
    its parts, statements that rebind a variable, and functions that copy.
    """
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and _is_whole(node.targets[0]):
            own_name = ast.Name(node.targets[0].value.id, ast.Store())  # type: ignore[attr-defined]
            anew = ast.copy_location(ast.Assign([own_name], node.value), node)
            yield Edit(node, anew, "writes", instead(anew, node))
        elif isinstance(node, ast.Call) and any(keyword.arg == "out" for keyword in node.keywords):
            plain = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "out"])
            yield Edit(node, plain, "writes", instead(plain, node))
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            if isinstance(node.value, ast.Name):
                each = ast.Attribute(ast.Name(numpy, ast.Load()), "array", ast.Load())
                new = ast.Call(ast.Name("map", ast.Load()), [each, node.value], [])
                yield Edit(node.value, new, "writes", instead(new, node.value))
        elif isinstance(node, ast.Call) and (deep := _of_copies(node, numpy)) is not None:
            yield Edit(node, deep, "writes", instead(deep, node))
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


def _of_copies(node: ast.Call, numpy: str) -> ast.Call | None:
    """A call that makes a new list or tuple of the same arrays, `list(bars)`, with copies of these; otherwise
    None.
    """
    is_plain = isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and not node.keywords
    if not is_plain or len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        return None
    each = ast.Attribute(ast.Name(numpy, ast.Load()), "array", ast.Load())
    copied = ast.Call(ast.Name("map", ast.Load()), [each, node.args[0]], [])
    return ast.Call(node.func, [copied], [])


def _is_whole(node: ast.expr) -> bool:
    """Whether an expression stands for all elements of a variable: `x[:]`, `x[...]`."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and ast.unparse(node.slice) in (":", "...")
    )


def _is_a_view(node: ast.expr) -> bool:
    """Whether an expression may share memory with a variable: itself, a part of it, or its transpose."""
    while isinstance(node, ast.Subscript) or isinstance(node, ast.Attribute) and node.attr == "T":
        node = node.value
    return isinstance(node, ast.Name)


_GROWING = frozenset(("append", "extend", "insert"))


def buffers_moved_into_the_pullback(rule: Any, pullbacks: Iterable[Any]) -> Iterator[Edit]:
    """A list or an array that a pullback fills, made in it for each answer instead of outside it."""
    outside = [one for one in getattr(rule, "body", ()) if isinstance(one, ast.Assign)]
    for pullback in pullbacks:
        yield from _begun_anew(outside, pullback)
        body = getattr(pullback, "body", None)
        body = body if isinstance(body, list) else []  # a lambda makes nothing itself
        filled = set(_filled(pullback))
        for one in outside if body else ():
            target = one.targets[0]
            if isinstance(target, ast.Name) and target.id in filled and len(one.targets) == 1:
                words = f"`{ast.unparse(one)}` is before the pullback, but belongs inside it"
                left, own = ast.copy_location(ast.Pass(), one), ast.copy_location(copy.copy(one), body[0])
                yield Edit(one, left, "stateful", words, (Edit(body[0], as_block(own, body[0])),))


def _begun_anew(outside: list[ast.Assign], pullback: Any) -> Iterator[Edit]:
    """A variable that a pullback carries from call to call, `nonlocal carry`, initialised in the pullback for
    each answer.
    """
    for kept in own_nodes(pullback):
        if not isinstance(kept, ast.Nonlocal):
            continue
        names = kept.names
        begun = [one for one in outside if ast.unparse(one.targets[0]) in names and len(one.targets) == 1]
        if len(begun) != 1 or len(names) != 1:
            continue
        words = f"`{ast.unparse(begun[0])}` is before the pullback, but belongs inside it"
        left, own = ast.copy_location(ast.Pass(), begun[0]), ast.copy_location(copy.copy(begun[0]), kept)
        yield Edit(begun[0], left, "stateful", words, (Edit(kept, own),))


def read_from_the_rule(rule: Any, pullbacks: Iterable[Any]) -> Iterator[Edit]:
    """The rule's own variable, or its expression, in place of something that the rule stores elsewhere for
    its pullback and the next call overwrites, as in `kept["y"] = y`. A global variable becomes local.
    """
    inner = [node for pullback in pullbacks for node in ast.walk(pullback)]
    read = {ast.unparse(n) for n in inner if isinstance(n, ast.expr)}
    left = {where: value for where, value in _left_outside(rule) if where in read}
    edits = [
        Edit(node, ast.copy_location(copy.copy(left[text]), node), "stateful")
        for node in inner
        if isinstance(node, _OUTSIDE) and not isinstance(getattr(node, "ctx", None), ast.Store)
        and (text := ast.unparse(node)) in left
    ]  # fmt: skip
    if edits:
        first, *more = edits
        words = f"reads what another call may have left there: {instead(first.new, first.old)}"
        yield Edit(first.old, first.new, "stateful", words, tuple(more))
    for node in own_nodes(rule):
        if isinstance(node, ast.Global) and not read.isdisjoint(node.names):
            words = f"keeps state between calls: `{ast.unparse(node)}` makes one variable for all calls"
            yield Edit(node, ast.copy_location(ast.Pass(), node), "stateful", words)


_OUTSIDE = (ast.Subscript, ast.Attribute, ast.Call)


def _left_outside(rule: Any) -> Iterator[tuple[str, ast.expr]]:
    """(how it is read, what was stored) for all that a rule stores in something that it has not made."""
    stored = {n.id for n in own_nodes(rule) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in own_nodes(rule):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pair: Any = (target, value)
            for one, put in zip(pair[0].elts, pair[1].elts) if several else (pair,):
                if isinstance(one, (ast.Subscript, ast.Attribute)) and _root_of(one) not in stored:
                    yield ast.unparse(one), put
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            of, put = node.func.value, node.args[0]
            if node.func.attr == "append" and _root_of(of) not in stored:
                yield f"{ast.unparse(of)}[-1]", put
                yield f"{ast.unparse(of)}.pop()", put


def _root_of(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def written_apart(scope: Any, names: Iterable[str]) -> Iterator[Edit]:
    """A separate variable for what a statement writes to borrowed memory and later statements read:
    `own_x = np.multiply(x, g)` for `np.multiply(x, g, out=x)`.
    """
    lent = set(names)
    found = getattr(scope, "body", None)
    body = found if isinstance(found, list) else []  # that of a lambda is not a list
    for number, node in enumerate(body):
        name, value = _written_whole(node)
        if value is None or name not in lent:
            continue
        after = [n for one in body[number + 1 :] for n in ast.walk(one)]
        reads = [n for n in after if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        own = f"own_{name}"
        new = ast.copy_location(ast.Assign([ast.Name(own, ast.Store())], value), node)
        others = tuple(Edit(read, ast.copy_location(ast.Name(own, ast.Load()), read)) for read in reads)
        yield Edit(node, new, "writes", f"writes to `{name}`: {instead(new, node)}", others)


def _written_whole(node: Any) -> tuple[str, ast.expr | None]:
    """The name that a statement overwrites as a whole, and the value written; ("", None) for any other
    statement.
    """
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        into = [k.value for k in call.keywords if k.arg == "out"]
        if len(into) == 1 and isinstance(into[0], ast.Name):
            rest = [k for k in call.keywords if k.arg != "out"]
            return into[0].id, ast.Call(call.func, call.args, rest)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        of, cut = node.target.value, ast.unparse(node.target.slice)
        if isinstance(of, ast.Name) and cut in ("...", ":"):
            return of.id, ast.BinOp(ast.Name(of.id, ast.Load()), node.op, node.value)
    return "", None


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
    """Separate arrays for several names of the same array, `a = b = np.zeros(n)`; separate parts for several
    names of the same part, `a = b = bars[0]`; and a copy for a second name of an array that is written to.
    """
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
