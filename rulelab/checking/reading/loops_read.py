"""What the loops of a function go through, side by side, and what it calls each element there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .texts import identifier, text_of

Loop = ast.For | ast.comprehension


def loops_in(node: ast.AST | None) -> list[Loop]:
    """The loops in a text, those of comprehensions too; none where it cannot be had."""
    return [n for n in ast.walk(node or ast.Pass()) if isinstance(n, (ast.For, ast.comprehension))]


def side_by_side(loop: Loop) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a loop goes through, side by side, and what it calls each element: of `zip` and `enumerate`, too,
    and from its end.

    >>> text = "for k, (x, (a, b)) in enumerate(zip(points, rows[::-1])): pass"
    >>> [(ast.unparse(one), ast.unparse(of)) for one, of in side_by_side(ast.parse(text).body[0])]
    [('x', 'points'), ('(a, b)', 'rows')]
    """
    yield from _taken_apart(loop.target, loop.iter)


def _taken_apart(target: ast.expr, of: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    of = _but_for_order(of)
    called = identifier(of.func) if isinstance(of, ast.Call) else ""
    args = of.args if isinstance(of, ast.Call) else []
    parts = target.elts if isinstance(target, ast.Tuple) else []
    if called == "zip":
        pairs = zip(parts, args) if len(parts) == len(args) else ()
    elif called == "enumerate":
        pairs = zip(parts[1:], args) if len(parts) == 2 else ()
    else:
        yield target, of
        return
    for part, each in pairs:
        yield from _taken_apart(part, each)


def _but_for_order(of: ast.expr) -> ast.expr:
    """What is gone through from its end, or but for some of it: `weights` of `reversed(weights[:-1])`."""
    called = identifier(of.func) if isinstance(of, ast.Call) and len(of.args) == 1 else ""
    if called in ("reversed", "list", "tuple"):
        return _but_for_order(of.args[0])  # type: ignore[attr-defined]
    if isinstance(of, ast.Subscript) and isinstance(of.slice, ast.Slice):
        return _but_for_order(of.value)
    return of


def gone_through(of: ast.expr) -> str | None:
    """The name of what a loop goes through, perhaps but for some of it or from its end."""
    return identifier(_but_for_order(of)) or None


def elements_of(node: ast.AST, names: frozenset[str]) -> dict[str, set[str]]:
    """The parameters that a loop goes through, perhaps numbered or beside others, or of which one is picked,
    with the names of their elements.
    """
    sides = (side for loop in loops_in(node) for side in side_by_side(loop))
    found: dict[str, set[str]] = {}
    for target, of in sides:
        if isinstance(target, ast.Name):
            found.setdefault(identifier(of), set()).add(target.id)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript):
            found.setdefault(identifier(inner.value), set())
    return {name: parts for name, parts in found.items() if name in names}


def zipped(f: Callable) -> list[frozenset[str]]:
    """The parameters that a function goes through beside each other: they are as long, or some of the longer
    is left out.

    >>> def work(forces, ways, mass):
    ...     return sum(f * w for f, w in zip(forces, ways[::-1])) / mass
    >>> [sorted(those) for those in zipped(work)]
    [['forces', 'ways']]
    """
    node, names = text_of(f)
    calls = [n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Call)]
    sides = (map(gone_through, call.args) for call in calls if identifier(call.func) == "zip")
    each = (names.intersection(filter(None, those)) for those in sides)
    return [those for those in each if len(those) > 1]
