"""The comparisons in a function: which of two parameters it requires to be larger, as in `if not p_in > p_out
> 0: raise`, and with which numbers it compares parameters.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from .texts import text_of


def larger_by_guards(f: Callable) -> frozenset[tuple[str, str]]:
    """The pairs of parameters of which the second must be the larger, or the function raises.

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


def compared_with(f: Callable) -> frozenset[tuple[int, float]]:
    """The positions of the parameters that a function compares with numbers without raising, and these
    numbers.

    >>> def conductivity(head, scale):
    ...     if scale <= 0.0:
    ...         raise ValueError("scale")
    ...     return 1.0 if head >= 0.0 else np.exp(head / scale)
    >>> compared_with(conductivity)
    frozenset({(0, 0.0)})
    """
    node, _ = text_of(f)
    if not isinstance(node, ast.FunctionDef):
        return frozenset()
    refused = {id(inner) for test in _guards(node) for inner in ast.walk(test)}
    at = {arg.arg: position for position, arg in enumerate((*node.args.posonlyargs, *node.args.args))}
    pairs = (pair for one in ast.walk(node) if id(one) not in refused for pair in _sizes_compared(one))
    return frozenset((at[name], number) for name, number in pairs if name in at)


def _sizes_compared(node: ast.AST) -> Iterator[tuple[str, float]]:
    """The names and numbers next to each other in a comparison by size."""
    if not isinstance(node, ast.Compare):
        return
    sides = itertools.pairwise([node.left, *node.comparators])
    sized = (pair for pair, sign in zip(sides, node.ops) if isinstance(sign, _SIZES))
    for one, other in itertools.chain.from_iterable(((a, b), (b, a)) for a, b in sized):
        if isinstance(one, ast.Name) and (number := _number_in(other)) is not None:
            yield one.id, number


_SIZES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _number_in(node: ast.expr) -> float | None:
    """The number that an expression is, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number_in(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _guards(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions under which a function raises."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.body[0], ast.Raise):
            yield inner.test


def _wanted(test: ast.expr, is_refused: bool) -> Iterator[tuple[str, str]]:
    """The pairs (smaller, larger) that must hold for a condition to be false, if it is refused, or else
    true.
    """
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
