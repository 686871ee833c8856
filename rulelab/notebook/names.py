"""The names in an expression: what it reads from outside, and by which of them it can be called."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator


def free_names(text: str) -> list[str]:
    """The names that an expression reads from outside, as they first appear.

    >>> free_names("sum(w * t for t in x) + (lambda w: w)(y)")
    ['sum', 'w', 'x', 'y']
    """
    inner = {name for table in _tables(symtable.symtable(f"({text})", "?", "eval")) for name in table}
    tree = ast.parse(f"({text})", mode="eval")
    found = sorted((n.lineno, n.col_offset, n.id) for n in ast.walk(tree) if isinstance(n, ast.Name))
    return list(dict.fromkeys(name for *_, name in found if name in inner))


def as_a_call(text: str) -> str:
    """An expression as a call by the names that stand in it as arguments; empty where there are none.

    >>> as_a_call("f(x)[0].sum()"), as_a_call("np.pi + 1")
    ('(lambda x: f(x)[0].sum())(x)', '')
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
    return f"(lambda {listed}: {text})({listed})" if names else ""


def _owners(node: ast.expr) -> Iterator[ast.expr]:
    """The name of a function, and of the module or the object before its dot."""
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def is_method_of_a_result(call: ast.Call) -> bool:
    """Whether a call without arguments is that of a method of what another expression gives: `f(x).sum()`.

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
