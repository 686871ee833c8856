"""Expressions that nobody would write although their numbers are right: `min(n, n)`, `x / x`,
`a if c else a`, `x * 1`, `mode < "same"`, `x = x`, `np.mean(np.mean(x))`.
"""

from __future__ import annotations

import ast
import itertools

from ..reading.anatomy import last_name

_OF_EQUALS = frozenset("min max minimum maximum fmin fmax where clip".split())
"""Functions that nobody calls with two equal last arguments."""
_OF_ONE = frozenset("mean sum max min abs conj real".split())
"""Functions that nobody applies twice in a row to one argument."""
_OF_FLAGS = (ast.BitOr, ast.BitAnd)
_OF_TWO = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)


def has_no_effect(node: ast.AST) -> bool:
    """Whether a text contains an expression that has no effect, such as one of two equal parts.

    >>> has_no_effect(ast.parse("min(n, n) * x")), has_no_effect(ast.parse("min(n, m) * x * x"))
    (True, False)
    >>> has_no_effect(ast.parse("np.where(x > 0, y, y)")), has_no_effect(ast.parse("x[:n] / x[:n]"))
    (True, True)
    >>> has_no_effect(ast.parse("y if mode < 'same' else z")), has_no_effect(ast.parse("slope = slope"))
    (True, True)
    >>> has_no_effect(ast.parse("np.mean(np.mean(x))")), has_no_effect(ast.parse("np.sum(np.sum(x, 0))"))
    (True, False)
    """
    return any(map(_is_of_equals, ast.walk(node)))


def _is_of_equals(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and _does_nothing(node):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (*_OF_TWO, *_OF_FLAGS)):
        is_of_flags = isinstance(node.op, _OF_FLAGS)
        return _are_equal(node.left, node.right) or is_of_flags and _are_opposite(node.left, node.right)
    if isinstance(node, ast.IfExp):
        return _are_equal(node.body, node.orelse) or _is_inverted(node.test)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return isinstance(node.value, ast.Name) and node.value.id == node.targets[0].id
    if isinstance(node, (ast.If, ast.While)):
        return _is_inverted(node.test)
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        return _are_equal(node.left, node.comparators[0]) or _orders_words(node)
    if isinstance(node, ast.BoolOp):
        pairs = list(itertools.combinations(node.values, 2))
        return any(_are_equal(*pair) or _are_opposite(*pair) for pair in pairs)
    if not isinstance(node, ast.Call):
        return False
    if last_name(node.func) in _OF_ONE and len(node.args) == 1 and not node.keywords:
        inner = node.args[0]
        if isinstance(node.func, ast.Name) or not isinstance(inner, ast.Call) or inner.keywords:
            return False  # Python's own `sum(sum(rows))` is of a matrix
        return len(inner.args) == 1 and ast.dump(inner.func) == ast.dump(node.func)
    if last_name(node.func) not in _OF_EQUALS:
        return False
    args = node.args[1:] if last_name(node.func) == "where" else node.args
    return any(itertools.starmap(_are_equal, itertools.combinations(args, 2)))


def _orders_words(node: ast.Compare) -> bool:
    """Whether a string is compared by order: the words of an option have no order."""
    ordered = all(isinstance(operation, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for operation in node.ops)
    sides = [node.left, *node.comparators]
    return ordered and any(isinstance(s, ast.Constant) and isinstance(s.value, str) for s in sides)


def _does_nothing(node: ast.BinOp) -> bool:
    """Whether a number is multiplied by 1, or has 0 added to it."""
    left, right = (part.value if isinstance(part, ast.Constant) else None for part in (node.left, node.right))
    if isinstance(node.op, ast.Mult):
        return 1 in (left, right)
    if isinstance(node.op, (ast.Div, ast.Pow)):
        return right == 1
    return isinstance(node.op, ast.Add) and 0 in (left, right) or isinstance(node.op, ast.Sub) and right == 0


def _is_inverted(test: ast.expr) -> bool:
    """Whether a test is negated by `~`, which turns Python's own False into -1."""
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Invert)


def _are_opposite(one: ast.expr, other: ast.expr) -> bool:
    """Whether one of two conditions is the negation of the other."""
    return any(
        isinstance(whole, ast.UnaryOp) and isinstance(whole.op, (ast.Invert, ast.Not))
        and _are_equal(whole.operand, part)
        for whole, part in ((one, other), (other, one))
    )  # fmt: skip


def _are_equal(one: ast.expr, other: ast.expr) -> bool:
    return not isinstance(one, ast.Constant) and ast.dump(one) == ast.dump(other)
