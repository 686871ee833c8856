"""Which of two parameters a function refuses to be the larger: `if not p_in > p_out > 0: raise`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .texts import text_of


def larger_by_guards(f: Callable) -> frozenset[tuple[str, str]]:
    """The pairs of parameters of which the second has to be the larger, or a function raises.

    >>> def flow(p_in, p_out):
    ...     if not p_in > p_out > 0:
    ...         raise ValueError("need p_in > p_out > 0")
    ...     return np.sqrt(p_in - p_out)
    >>> def share(x, low, high):
    ...     if low <= 0 or np.any(high <= low):
    ...         raise ValueError("empty")
    ...     return (x - low) / (high - low)
    >>> larger_by_guards(flow), larger_by_guards(share)
    (frozenset({('p_out', 'p_in')}), frozenset({('low', 'high')}))
    """
    node, names = text_of(f)
    found = (pair for one in _guards(node) for pair in _wanted(one, True)) if node is not None else ()
    return frozenset((low, high) for low, high in found if {low, high} <= names)


def _guards(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions under which a function raises."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.body[0], ast.Raise):
            yield inner.test


def _wanted(test: ast.expr, is_refused: bool) -> Iterator[tuple[str, str]]:
    """The orders that have to hold for a condition to be false, where it is refused, or true."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _wanted(test.operand, not is_refused)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.Or) == is_refused:
            for part in test.values:
                yield from _wanted(part, is_refused)
    elif isinstance(test, ast.Call) and getattr(test.func, "attr", "") == ("any" if is_refused else "all"):
        for arg in test.args[:1]:
            yield from _wanted(arg, is_refused)
    elif isinstance(test, ast.Compare) and not (is_refused and len(test.ops) > 1):
        sides = [test.left, *test.comparators]
        for left, sign, right in zip(sides, test.ops, sides[1:]):
            if isinstance(left, ast.Name) and isinstance(right, ast.Name):
                if isinstance(sign, (ast.Lt, ast.LtE)):
                    yield (right.id, left.id) if is_refused else (left.id, right.id)
                elif isinstance(sign, (ast.Gt, ast.GtE)):
                    yield (left.id, right.id) if is_refused else (right.id, left.id)
