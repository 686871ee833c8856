"""The source text of a function and what it contains: names, keys, attributes, and what is assigned to
names.
"""

from __future__ import annotations

import ast
import functools
import re
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...compiler.base.source import find_source
from ...errors import RuleLabError
from ...parsing import cloned
from ...rules.twins import written
from .anatomy import assigned_pairs, last_name
from .own_docstrings import docstring_of

_OF_NUMBERS = frozenset((*dir(np.ndarray), *dir(complex), *dir(list)))


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names of attributes, globals and keywords in code."""
    yield from code.co_names
    for constant in code.co_consts:  # the keywords of a call are a tuple
        if isinstance(constant, tuple):
            yield from (name for name in constant if isinstance(name, str))


def keywords_of(f: Callable) -> Mapping[str, Any]:
    """The defaults of the keyword-only parameters of a function."""
    return dict(getattr(f, "__kwdefaults__", None) or {})


def keys_read(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The string keys that a function reads from each of its parameters, as `params["w"]`, and those that its
    docstring mentions beside them: a dict may hold more than is read.

    >>> def decay(params):
    ...     'Weight decay of a dict with arrays "w" and "b".'
    ...     return np.sum(params["w"] ** 2)
    >>> keys_read(decay)
    {'params': ('w', 'b')}
    """
    sentences = [_QUOTED.findall(part) for part in re.split(r"[.;]\s", docstring_of(f))]
    return {
        name: tuple(dict.fromkeys((*keys, *(x for words in sentences if {*keys} & {*words} for x in words))))
        for name, keys in parts_read(f, _key).items()
    }


_QUOTED = re.compile(r"""["'`](\w+)["'`]""")


def attributes_read(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The attributes that a function reads from each of its parameters, except attributes of numbers, lists
    and arrays.
    """
    return parts_read(f, _attribute)


def values_by_name(node: ast.AST, first: bool = False) -> Mapping[str, ast.expr]:
    """The values assigned to names, also in assignments to several names. Of several values, the last, or the
    `first`, from which a loop may continue.
    """
    assigned = (n for n in ast.walk(node) if isinstance(n, ast.Assign) and len(n.targets) == 1)
    pairs = [pair for n in assigned for pair in assigned_pairs(n.targets[0], n.value)]
    in_order = reversed(pairs) if first else pairs
    return {target.id: value for target, value in in_order if isinstance(target, ast.Name)}


def unpacked_names(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The names under which a function unpacks its parameters: `lo, hi = limits`.

    >>> def limited(x, limits):
    ...     lo, hi = limits
    ...     return np.minimum(np.maximum(x, lo), hi)
    >>> unpacked_names(limited)
    {'limits': ('lo', 'hi')}
    """
    node, names = text_of(f)
    found: dict[str, tuple[str, ...]] = {}
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Tuple):
            parts = [part.id for part in inner.targets[0].elts if isinstance(part, ast.Name)]
            if isinstance(inner.value, ast.Name) and len(parts) == len(inner.targets[0].elts):
                found.setdefault(inner.value.id, tuple(parts))
    return {name: parts for name, parts in found.items() if name in names}


def factors_in(node: ast.AST, made: Mapping[str, ast.expr], depth: int = 4) -> Iterator[str]:
    """The names in a product or power, with local names replaced by the names in their values."""
    if isinstance(node, ast.Name):
        inside = made.get(node.id)
        if inside is None or not depth:
            yield node.id
        else:
            yield from factors_in(inside, made, depth - 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield from factors_in(node.left, made, depth)
        yield from factors_in(node.right, made, depth)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield from factors_in(node.left, made, depth)


def parts_read(f: Callable, part: Callable[[ast.AST], str | None]) -> Mapping[str, tuple[str, ...]]:
    node, names = text_of(f)
    found: dict[str, dict[str, None]] = {}
    for inner in ast.walk(node) if node is not None else ():
        word = part(inner)
        owner = getattr(inner, "value", None)
        if word is not None and isinstance(owner, ast.Name) and owner.id in names:
            found.setdefault(owner.id, {})[word] = None
    return {name: tuple(words) for name, words in found.items()}


def text_of(f: Callable) -> tuple[ast.AST | None, frozenset[str]]:
    """The syntax tree of a function, None where its source is not available, and the names of its
    parameters.
    """
    code = getattr(written(f), "__code__", None)
    if not isinstance(code, types.CodeType):
        return None, frozenset()
    try:
        node = find_source(code).node
    except RuleLabError:
        return None, frozenset()
    return _read_as_calls(node), frozenset(code.co_varnames[: code.co_argcount])


_MAKERS = frozenset("r_ c_ s_ mgrid ogrid index_exp".split())
"""Objects that make an array from what is indexed, as a call does: nothing is indexed there."""


class _AsCalls(ast.NodeTransformer):
    """Rewrites `np.r_[a, b]` as `np.r_(a, b)`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if last_name(node.value) not in _MAKERS:
            return node
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.copy_location(ast.Call(node.value, parts, []), node)


@functools.lru_cache(maxsize=256)
def _read_as_calls(node: ast.AST) -> ast.AST:
    """The tree with these as calls; the same object if it contains none."""
    if _MAKERS.isdisjoint(last_name(inner) for inner in ast.walk(node)):
        return node
    return _AsCalls().visit(cloned(node))


def identifier(node: ast.AST) -> str:
    """The name that the node is; empty for any other node."""
    return node.id if isinstance(node, ast.Name) else ""


def text_nodes(f: Callable) -> tuple[list[ast.AST], frozenset[str], Mapping[str, ast.expr]]:
    """All nodes of the syntax tree of a function, the names of its parameters, and the values of its local
    names.

    Empty where the source is not available.
    """
    node, names = text_of(f)
    return (list(ast.walk(node)), names, values_by_name(node)) if node is not None else ([], frozenset(), {})


def calls_in(node: ast.AST | None) -> list[ast.Call]:
    """The calls in a syntax tree; none for None."""
    return [n for n in ast.walk(node) if isinstance(n, ast.Call)] if node is not None else []


def _key(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        value: Any = node.slice.value
        return value if isinstance(value, str) else None
    return None


def _attribute(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) and node.attr not in _OF_NUMBERS else None


def decides_in_a_loop(f: Callable) -> bool:
    """Whether a function has a loop that contains a condition, as a bisection does.

    >>> def halved(x):
    ...     while x > 1.0:
    ...         x = x / 2
    ...     return x
    >>> decides_in_a_loop(halved)
    True
    """
    node, _ = text_of(f)
    loops = [] if node is None else [n for n in ast.walk(node) if isinstance(n, (ast.For, ast.While))]
    decided = (ast.While, ast.If, ast.IfExp)
    return any(isinstance(inner, decided) for loop in loops for inner in ast.walk(loop))


def has_a_raise(f: Callable) -> bool:
    """Whether a function contains a `raise` or an `assert`, so that it may refuse arguments."""
    return any(isinstance(n, (ast.Raise, ast.Assert)) for n in ast.walk(text_of(f)[0] or ast.Pass()))


def whole_number(node: ast.expr | None) -> int | None:
    """The whole number from zero on that a node is; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int and value >= 0 else None


def whole_defaults(f: Callable) -> Mapping[str, int]:
    """The parameters whose defaults are integers, with these defaults.

    >>> dict(whole_defaults(lambda x, width=3, *, groups=2, eps=1e-5: x))
    {'width': 3, 'groups': 2}
    """
    return {name: value for name, value in defaults_of(f).items() if type(value) is int}


def defaults_of(f: Callable) -> dict[str, Any]:
    """The defaults of the parameters of a Python function, by name."""
    positional = zip(names_with_defaults(f), getattr(f, "__defaults__", None) or ())
    return {**dict(positional), **(getattr(f, "__kwdefaults__", None) or {})}


def names_with_defaults(f: Callable) -> tuple[str, ...]:
    """The positional parameters that have defaults; none for a function not written in Python."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, types.CodeType):
        return ()
    count = len(getattr(f, "__defaults__", None) or ())
    return code.co_varnames[code.co_argcount - count : code.co_argcount]


def names_without_defaults(f: Callable) -> tuple[str, ...]:
    """The positional parameters without a default; none for a function not written in Python."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, types.CodeType):
        return ()
    return code.co_varnames[: code.co_argcount - len(names_with_defaults(f))]


def size_of_identity(node: ast.expr) -> int:
    """The number of rows of an identity matrix; 0 for anything else, or where it is not a number in the
    code.
    """
    is_one = isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("eye", "identity")
    return (whole_number(node.args[0]) or 0) if is_one and len(node.args) == 1 else 0  # type: ignore[attr-defined]
