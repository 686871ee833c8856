"""The names in an expression: those it reads from outside, and those by which it can be called."""

from __future__ import annotations

import ast
import inspect
import symtable
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..annotations import signature_of_callable


def free_names(text: str) -> list[str]:
    """The names that an expression reads from outside, in the order of their first use.

    >>> free_names("sum(w * t for t in x) + (lambda w: w)(y)")
    ['sum', 'w', 'x', 'y']
    """
    inner = {name for table in _tables(symtable.symtable(f"({text})", "?", "eval")) for name in table}
    tree = ast.parse(f"({text})", mode="eval")
    found = sorted((n.lineno, n.col_offset, n.id) for n in ast.walk(tree) if isinstance(n, ast.Name))
    return list(dict.fromkeys(name for *_, name in found if name in inner))


def as_a_call(text: str) -> str:
    """An expression as a call with the names in it as arguments; empty if there are none.

    >>> as_a_call("f(x)[0].sum()"), as_a_call("np.pi + 1")
    ('(lambda x: f(x)[0].sum())(x)', '')
    >>> as_a_call("f(x), x")
    '(lambda x: (f(x), x))(x)'
    """
    tree = ast.parse(f"({text})", mode="eval")
    called = {id(part) for n in ast.walk(tree) if isinstance(n, ast.Call) for part in _owners(n.func)}
    modules = {id(part) for n in ast.walk(tree) if isinstance(n, ast.Attribute) for part in _owners(n)}
    names = [
        n.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and id(n) not in called | modules and n.id in free_names(text)
    ]
    listed = ", ".join(sorted(set(names), key=free_names(text).index))
    body = f"({text})" if isinstance(tree.body, ast.Tuple) else text
    return f"(lambda {listed}: {body})({listed})" if names else ""


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters_of(f: Any) -> str:
    """The arguments that a function needs, as written in a call."""
    try:
        parameters = signature_of_callable(f).parameters.values()
    except (TypeError, ValueError):
        return "x"
    needed = [one.name for one in parameters if one.default is one.empty and one.kind in _BY_POSITION]
    return ", ".join(needed) or "x"


def may_vary(value: Any) -> bool:
    """Whether a value is a float or an array of floats."""
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def computed_arguments(call: ast.Call, namespace: Mapping) -> list[str]:
    """The positional arguments of a call that are computed from names which may vary, as source text: in
    `f(g(x), x[0])` the first. A gradient of the call is with respect to these arguments, not to the names.

    >>> call = ast.parse("f(g(x) + 1, x[0], x.copy(), n - 1, np.array([2.0]))", mode="eval").body
    >>> computed_arguments(call, {"x": 1.0, "n": 3, "np": np})
    ['g(x) + 1']
    """
    return [ast.unparse(arg) for arg in call.args if any(_operands_vary(n, namespace) for n in ast.walk(arg))]


def _operands_vary(node: ast.AST, namespace: Mapping) -> bool:
    """Whether a node computes something from a name that may vary, rather than selecting a part of it."""
    operands: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        operands = [node.operand]
    elif isinstance(node, ast.Call):
        operands = [*node.args, *(keyword.value for keyword in node.keywords)]
    names = {n.id for operand in operands for n in ast.walk(operand) if isinstance(n, ast.Name)}
    return any(may_vary(namespace.get(name)) for name in names)


def _owners(node: ast.expr) -> Iterator[ast.expr]:
    """The expression for a function, and for the modules or objects before its dots."""
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def is_method_of_a_result(call: ast.Call) -> bool:
    """Whether a call without arguments calls a method of the result of another expression: `f(x).sum()`.

    >>> [is_method_of_a_result(ast.parse(t, mode="eval").body) for t in ("f(x)[0].sum()", "a.sum()", "f()")]
    [True, False, False]
    """
    if call.args or not isinstance(call.func, ast.Attribute):
        return False
    *_, first = _owners(call.func)
    return not isinstance(first, ast.Name)


def _tables(table):
    top = table.get_type() == "module"
    yield [
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (not symbol.is_assigned() if top else symbol.is_global())
    ]
    for child in table.get_children():
        yield from _tables(child)
