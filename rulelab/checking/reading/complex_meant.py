"""Whether a function that does not mention complex numbers is as common for these as for real ones. Whether
they are intended is not known, so a report that the rule is right, or proved, must say that it holds for real
numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..calling.subjects import codes_of
from .anatomy import last_name
from .texts import text_of
from .usage import SIZES

_OF_ANY_FIELD = frozenset("vdot inv pinv solve lstsq det slogdet matrix_power cond matrix_rank".split())


def may_be_of_complex(f: Callable) -> bool:
    """Whether the code of a function inverts matrices, solves systems or calls `np.vdot`, which is also done
    with complex numbers, or squares absolute values, which is unnecessary for real ones.

    >>> def power(h, w):
    ...     return np.sum(np.abs(h @ w) ** 2)
    >>> def energy(h, w):
    ...     return np.sum((h @ w) ** 2)
    >>> may_be_of_complex(power), may_be_of_complex(energy)
    (True, False)
    """
    if any(not _OF_ANY_FIELD.isdisjoint(code.co_names) for code in codes_of(f)):
        return True
    node, _ = text_of(f)
    return node is not None and any(map(_is_squared_size, ast.walk(node)))


def _is_squared_size(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _is_size(node.left) and isinstance(node.right, ast.Constant) and node.right.value == 2
    return isinstance(node, ast.Call) and last_name(node.func) == "square" and any(map(_is_size, node.args))


def _is_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in SIZES
