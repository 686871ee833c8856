"""Whether code distinguishes matrices from vectors: then both are intended, whatever else the function
takes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..calling.subjects import codes_of
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
    """Whether the code of a function tests the number of axes so that matrices differ from vectors and, with
    `with_numbers`, also from numbers: an author who writes `if x.ndim == 1` may mean numbers by the other
    branch. Arithmetic with the number of axes distinguishes them as well: `y_bar / max(x.ndim, 1)`.

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
    return any(_tells(answer, with_numbers) for answer in answers)


def _tells(answer: tuple[Any, ...], with_numbers: bool) -> bool:
    """Whether the result for two axes differs from that for one and, with numbers, from that for none."""
    zero, one, two = answer
    return two != one and not (with_numbers and two == zero)


Path = tuple[str, ...]
"""A parameter by its name, or a part of one by its name and a key."""


def ranks_told(f: Callable, with_numbers: bool) -> Mapping[Path, tuple[bool, bool]]:
    """The parameters, and parts read from them by a key or as an attribute, whose number of axes the code of
    a function tests. The flags tell whether numbers are distinguished from vectors, and whether matrices are
    distinguished from vectors and, with `with_numbers`, also from numbers.

    >>> def sizes(x, layer):
    ...     b = layer["b"]
    ...     return np.abs(x) * b if x.ndim == 1 else x @ (b if np.ndim(b) > 0 else b * np.ones(3))
    >>> sorted(ranks_told(sizes, with_numbers=False).items())
    [(('layer', 'b'), (True, False)), (('x',), (True, True))]
    """
    node, names = text_of(f)
    if node is None:
        return {}
    assigned = values_by_name(node)

    def path_of(asked: ast.AST) -> Path:
        rank = assigned.get(_name(asked), asked)
        path = _path(_ranked(rank), assigned) if _is_rank(rank) else ()
        return path if path and path[0] in names else ()

    told = {}
    for path in {path_of(one) for one in ast.walk(node)} - {()}:
        answers = list(_answers(node, lambda asked, path=path: path_of(asked) == path))  # type: ignore[misc]
        numbers = any(none != one for none, one, _ in answers)
        told[path] = numbers, any(_tells(answer, with_numbers) for answer in answers)
    return told


def _ranked(rank: ast.AST) -> ast.AST | None:
    """The expression whose number of axes is computed."""
    if isinstance(rank, ast.Attribute):
        return rank.value
    of = rank.args[0] if isinstance(rank, ast.Call) else None
    if isinstance(of, ast.Attribute) and of.attr == "shape":
        return of.value
    return of.args[0] if isinstance(of, ast.Call) and len(of.args) == 1 else of


def _path(node: ast.AST | None, assigned: Mapping[str, ast.expr]) -> Path:
    """A name, or a name and a key or attribute of it, possibly through one other name."""
    if isinstance(node, ast.Name):
        within = _within(assigned.get(node.id))
        return within or (node.id,)
    return _within(node)


def _within(node: ast.AST | None) -> Path:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        key = getattr(node.slice, "value", None)
        return (node.value.id, key) if isinstance(key, str) else ()
    return ()


def counts_elements(f: Callable) -> bool:
    """Whether a function counts the elements of arrays with any number of axes, and nowhere their rows.

    >>> counts_elements(lambda x: np.sum(x) / x.size), counts_elements(lambda x: np.sum(x) / len(x))
    (True, False)
    """
    return "size" in _names_in(f) and not counts_rows(f)


def counts_rows(f: Callable) -> bool:
    """Whether a function counts the rows of arrays, which are the elements of a vector."""
    return not _names_in(f).isdisjoint(("len", "shape"))


def _names_in(f: Callable) -> set[str]:
    return {name for code in codes_of(f) for name in code.co_names}


def _answers(node: ast.AST, is_rank: Callable[[ast.AST], bool]) -> Iterator[tuple[bool, ...]]:
    """The result of each comparison of a number of axes with an integer, for none, one and two axes."""
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
    """The values of expressions of a number of axes and literals only, for none, one and two axes."""
    for one in ast.walk(node):
        parts = _operands(one)
        if any(is_rank(inner) for part in parts for inner in ast.walk(part)):
            whole = _at_each_rank(one, is_rank)
            # a part of it, if the whole also has other operands
            yield from [whole] if whole else filter(None, (_at_each_rank(part, is_rank) for part in parts))


def _at_each_rank(node: ast.AST, is_rank: Callable[[ast.AST], bool]) -> tuple[Any, ...]:
    values = tuple(_value(node, rank, is_rank) for rank in range(3))
    return () if None in values[1:] else values  # without axes there may be no value: 1 / x.ndim


def _operands(node: ast.AST) -> list[ast.expr]:
    """The operands of an arithmetic expression; none for anything else."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    is_one = isinstance(node, ast.Call) and getattr(node.func, "attr", _name(node.func)) in _OF_SEVERAL
    return list(node.args) if is_one and isinstance(node, ast.Call) else []


def _value(node: ast.AST, rank: int, is_rank: Callable[[ast.AST], bool]) -> Any:
    """The value of an expression for a number of axes; None if it also depends on anything else."""
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
