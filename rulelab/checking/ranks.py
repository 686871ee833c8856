"""Whether a text tells matrices from vectors: then both are meant, whatever else the function takes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator

from .texts import text_of, values_by_name

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
    from numbers, where these are judged, too: who writes `if x.ndim == 1` may mean numbers by the rest.

    >>> def sizes(x):
    ...     return np.abs(x) if x.ndim == 1 else np.linalg.norm(x, axis=1)
    >>> tells_matrices(sizes, with_numbers=False), tells_matrices(sizes, with_numbers=True)
    (True, False)
    """
    node, _ = text_of(f)
    if node is None:
        return False
    assigned = values_by_name(node)
    return any(
        two != one and not (with_numbers and two == zero)
        for zero, one, two in _answers(node, lambda asked: _is_rank(assigned.get(_name(asked), asked)))
    )


def _answers(node: ast.AST, is_rank: Callable[[ast.expr], bool]) -> Iterator[tuple[bool, ...]]:
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


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_rank(node: ast.expr) -> bool:
    """Whether an expression is the number of axes of an array: `x.ndim`, `np.ndim(x)`, `len(x.shape)`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called, first = getattr(node.func, "attr", getattr(node.func, "id", "")), node.args[0]
    of_shape = first.func if isinstance(first, ast.Call) else first
    return called == "ndim" or called == "len" and getattr(of_shape, "attr", "") == "shape"
