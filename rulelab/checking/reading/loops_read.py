"""What the loops of a function iterate over, in parallel, and the names of the elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .texts import identifier, text_of

Loop = ast.For | ast.comprehension


def loops_in(node: ast.AST | None) -> list[Loop]:
    """The loops in a tree, those of comprehensions included; none for None."""
    return [n for n in ast.walk(node or ast.Pass()) if isinstance(n, (ast.For, ast.comprehension))]


def side_by_side(loop: Loop) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a loop with what each iterates over, also in `zip` and `enumerate`, and in reverse.

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
    """What is iterated over, in reverse or in part: `weights` of `reversed(weights[:-1])`."""
    called = identifier(of.func) if isinstance(of, ast.Call) and len(of.args) == 1 else ""
    if called in ("reversed", "list", "tuple"):
        return _but_for_order(of.args[0])  # type: ignore[attr-defined]
    if isinstance(of, ast.Subscript) and isinstance(of.slice, ast.Slice):
        return _but_for_order(of.value)
    return of


def iterated_name(of: ast.expr) -> str | None:
    """The name of what a loop iterates over, possibly in reverse or in part."""
    return identifier(_but_for_order(of)) or None


def elements_of(node: ast.AST, names: frozenset[str]) -> dict[str, set[str]]:
    """The parameters that a loop iterates over, possibly in `zip` or `enumerate`, or that are indexed, with
    the names of their elements.
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


def zipped_parameters(f: Callable) -> list[frozenset[str]]:
    """The groups of parameters that a function iterates over in parallel: they have the same length, or the
    rest of the longer one is ignored.

    >>> def work(forces, ways, mass):
    ...     return sum(f * w for f, w in zip(forces, ways[::-1])) / mass
    >>> [sorted(those) for those in zipped_parameters(work)]
    [['forces', 'ways']]
    """
    node, names = text_of(f)
    calls = [n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Call)]
    sides = (map(iterated_name, call.args) for call in calls if identifier(call.func) == "zip")
    each = (names.intersection(filter(None, those)) for those in sides)
    return [those for those in each if len(those) > 1]
