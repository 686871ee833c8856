"""Whether a text tells matrices from vectors: then both are meant, whatever else the function takes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from .texts import text_of, values_by_name

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_OF_SEVERAL: dict[str, Callable[..., Any]] = {"max": max, "min": min, "maximum": max, "minimum": min}
_COMPARED: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def tells_matrices(f: Callable, with_numbers: bool) -> bool:
    """Whether the text of a function asks for the number of axes so that matrices are told from vectors; and
    from numbers, where these are judged, too: who writes `if x.ndim == 1` may mean numbers by the rest. Who
    computes with it tells them as well: `y_bar / max(x.ndim, 1)`.

    >>> def sizes(x):
    ...     return np.abs(x) if x.ndim == 1 else np.linalg.norm(x, axis=1)
    >>> tells_matrices(sizes, with_numbers=False), tells_matrices(sizes, with_numbers=True)
    (True, False)
    """
    node, _ = text_of(f)
    if node is None:
        return False
    assigned = values_by_name(node)

    def is_rank(asked: ast.AST) -> bool:
        return _is_rank(assigned.get(_name(asked), asked))

    answers = (*_answers(node, is_rank), *_computed(node, is_rank))
    return any(two != one and not (with_numbers and two == zero) for zero, one, two in answers)


def _answers(node: ast.AST, is_rank: Callable[[ast.AST], bool]) -> Iterator[tuple[bool, ...]]:
    """What each comparison of a number of axes with a whole number comes to, for none, one and two axes."""
    for one in ast.walk(node):
        if not isinstance(one, ast.Compare) or len(one.ops) > 1:
            continue
        left, right = one.left, one.comparators[0]
        compare = _COMPARED.get(type(one.ops[0]))
        if compare is None:
            continue
        if is_rank(left) and isinstance(right, ast.Constant) and type(right.value) is int:
            yield tuple(compare(rank, right.value) for rank in range(3))
        elif is_rank(right) and isinstance(left, ast.Constant) and type(left.value) is int:
            yield tuple(compare(left.value, rank) for rank in range(3))


def _computed(node: ast.AST, is_rank: Callable[[ast.AST], bool]) -> Iterator[tuple[Any, ...]]:
    """What is computed of a number of axes and of literals alone comes to, for none, one and two axes."""
    for one in ast.walk(node):
        parts = _operands(one)
        if any(is_rank(inner) for part in parts for inner in ast.walk(part)):
            whole = _at_each_rank(one, is_rank)
            # a part of it, where the whole is of other numbers, too
            yield from [whole] if whole else filter(None, (_at_each_rank(part, is_rank) for part in parts))


def _at_each_rank(node: ast.AST, is_rank: Callable[[ast.AST], bool]) -> tuple[Any, ...]:
    values = tuple(_value(node, rank, is_rank) for rank in range(3))
    return () if None in values[1:] else values  # of no axis some have none: 1 / x.ndim


def _operands(node: ast.AST) -> list[ast.expr]:
    """What is computed with; none where nothing is."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    is_one = isinstance(node, ast.Call) and getattr(node.func, "attr", _name(node.func)) in _OF_SEVERAL
    return list(node.args) if is_one and isinstance(node, ast.Call) else []


def _value(node: ast.AST, rank: int, is_rank: Callable[[ast.AST], bool]) -> Any:
    """What an expression comes to at a number of axes; None where it is of other things than this."""
    if is_rank(node):
        return rank
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    values = [_value(part, rank, is_rank) for part in _operands(node)]
    if not values or None in values:
        return None
    try:
        if isinstance(node, ast.BinOp):
            return _ARITHMETIC[type(node.op)](*values)
        return _OF_SEVERAL[getattr(node.func, "attr", _name(node.func))](*values)  # type: ignore[attr-defined]
    except (ArithmeticError, KeyError, TypeError):
        return None


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_rank(node: ast.AST) -> bool:
    """Whether an expression is the number of axes of an array: `x.ndim`, `np.ndim(x)`, `len(x.shape)`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called, first = getattr(node.func, "attr", getattr(node.func, "id", "")), node.args[0]
    of_shape = first.func if isinstance(first, ast.Call) else first
    return called == "ndim" or called == "len" and getattr(of_shape, "attr", "") == "shape"
