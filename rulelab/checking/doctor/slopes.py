"""The derivatives of parts of a formula, as syntax trees: factors in the chain rule are easily forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...parsing import parse
from ..reading.anatomy import names_in

_OF_CALLS = {
    "exp": "{np}.exp({u})", "expm1": "{np}.exp({u})", "log": "1 / {u}", "log1p": "1 / (1 + {u})",
    "sqrt": "0.5 / {np}.sqrt({u})", "sin": "{np}.cos({u})", "cos": "-{np}.sin({u})",
    "tan": "1 / {np}.cos({u})**2", "sinh": "{np}.cosh({u})", "cosh": "{np}.sinh({u})",
    "tanh": "1 - {np}.tanh({u})**2", "arctan": "1 / (1 + {u}**2)", "arcsin": "1 / {np}.sqrt(1 - {u}**2)",
    "square": "2 * {u}", "erf": "2 / {np}.sqrt({np}.pi) * {np}.exp(-{u}**2)",
    "erfc": "-2 / {np}.sqrt({np}.pi) * {np}.exp(-{u}**2)", "expit": "{f}({u}) * (1 - {f}({u}))",
    "ndtr": "{np}.exp(-{u}**2 / 2) / {np}.sqrt(2 * {np}.pi)", "logit": "1 / ({u} * (1 - {u}))",
}  # fmt: skip
LARGEST = 24
"""Up to how many nodes an expression is differentiated."""


def slopes(node: ast.expr, numpy: str) -> Iterator[ast.expr]:
    """The derivatives of an expression with respect to each of its names, if it is made of known functions.

    >>> [ast.unparse(slope) for slope in slopes(ast.parse("np.log1p(np.exp(3 * x))", mode="eval").body, "np")]
    ['1 / (1 + np.exp(3 * x)) * (np.exp(3 * x) * 3)']
    """
    if sum(1 for _ in ast.walk(node)) > LARGEST:
        return
    for name in sorted(names_in(node) - {numpy}):
        slope = _slope(node, name, numpy)
        if slope is not None and not isinstance(slope, ast.Constant):
            yield slope


def _slope(node: ast.expr, name: str, numpy: str) -> ast.expr | None:
    """The derivative of an expression with respect to one name; None if it uses unknown functions of it."""
    if name not in names_in(node):
        return ast.Constant(0)
    if isinstance(node, ast.Name):
        return ast.Constant(1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _slope(node.operand, name, numpy)
        return None if inner is None else _minus(inner)
    if isinstance(node, ast.BinOp):
        return _of_operator(node, name, numpy)
    return _of_call(node, name, numpy) if isinstance(node, ast.Call) else None


def factor_of_slope(node: ast.Call, numpy: str) -> ast.expr | None:
    """The derivative of a function, or its divisor, without its sign, for functions whose derivative is
    another function or has one more term; otherwise None.

    >>> calls = [ast.parse(text, mode="eval").body for text in ("np.log1p(x)", "np.cos(x)", "np.sqrt(x)")]
    >>> [part and ast.unparse(part) for part in (factor_of_slope(call, "np") for call in calls)]
    ['1 + x', 'np.sin(x)', None]
    """
    slope = _by_its_own(node, numpy) if getattr(node.func, "attr", "") in _TELLING else None
    if isinstance(slope, ast.UnaryOp):
        return slope.operand
    return slope.right if isinstance(slope, ast.BinOp) and isinstance(slope.op, ast.Div) else slope


_TELLING = frozenset("log1p expm1 arctan log tanh sin cos sinh cosh".split())


def _by_its_own(node: ast.Call, numpy: str) -> ast.expr | None:
    """The derivative of a function with respect to its only argument; None if it is not known."""
    called = node.func
    text = _OF_CALLS.get(called.attr) if isinstance(called, ast.Attribute) and len(node.args) == 1 else None
    if text is None:
        return None
    of = ast.unparse(node.args[0])
    of = f"({of})" if isinstance(node.args[0], (ast.BinOp, ast.UnaryOp)) else of
    return parse(text.format(np=numpy, u=of, f=ast.unparse(called)), mode="eval").body


def _of_call(node: ast.Call, name: str, numpy: str) -> ast.expr | None:
    """The derivative of a call with one argument with respect to a name in that argument."""
    own = None if node.keywords else _by_its_own(node, numpy)
    inner = None if own is None else _slope(node.args[0], name, numpy)
    return None if own is None or inner is None else _times(own, inner)


def _of_operator(node: ast.BinOp, name: str, numpy: str) -> ast.expr | None:
    left, right = _slope(node.left, name, numpy), _slope(node.right, name, numpy)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add):
        return _plus(left, right)
    if isinstance(node.op, ast.Sub):
        return _plus(left, _minus(right))
    if isinstance(node.op, ast.Mult):
        return _plus(_times(left, node.right), _times(node.left, right))
    if isinstance(node.op, ast.Div):
        over = _times(node.left, right)
        quotient = over if _is(over, 0) else ast.BinOp(over, ast.Div(), _power(node.right, ast.Constant(2)))
        return _plus(left if _is(left, 0) else ast.BinOp(left, ast.Div(), node.right), _minus(quotient))
    if isinstance(node.op, ast.Pow) and _is(right, 0):
        number = node.right.value if isinstance(node.right, ast.Constant) else None
        less: ast.expr = ast.BinOp(node.right, ast.Sub(), ast.Constant(1))
        if isinstance(number, (int, float)):
            less = ast.Constant(number - 1)
        return _times(_times(node.right, _power(node.left, less)), left)
    return None


def _is(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _power(node: ast.expr, by: ast.expr) -> ast.expr:
    return node if _is(by, 1) else ast.BinOp(node, ast.Pow(), by)


def _minus(node: ast.expr) -> ast.expr:
    return node if _is(node, 0) else ast.UnaryOp(ast.USub(), node)


def _times(one: ast.expr, other: ast.expr) -> ast.expr:
    if _is(one, 0) or _is(other, 0):
        return ast.Constant(0)
    if _is(one, 1) or _is(other, 1):
        return other if _is(one, 1) else one
    return ast.BinOp(one, ast.Mult(), other)


def _plus(one: ast.expr, other: ast.expr) -> ast.expr:
    if _is(one, 0) or _is(other, 0):
        return other if _is(one, 0) else one
    return ast.BinOp(one, ast.Add(), other)
