"""How a function uses its parameters, read from its code and never by running it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compiler.source import find_source
from ..errors import RuleLabError
from .subjects import codes_of

_OF_NUMBERS = frozenset((*dir(np.ndarray), *dir(complex), *dir(list)))


def names_an_axis(f: Callable) -> bool:
    """Whether the code of a function names an `axis`: then it is for arrays of several axes."""
    words = (word for code in codes_of(f) for word in (*names_of(code), *code.co_varnames))
    return not {"axis", "keepdims", "axes"}.isdisjoint(words)


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names of attributes and of keywords in code."""
    yield from code.co_names
    for constant in code.co_consts:  # the keywords of a call are a tuple
        if isinstance(constant, tuple):
            yield from (name for name in constant if isinstance(name, str))


def keys_read(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The text keys that a function reads of each of its parameters: `params["w"]`."""
    return _parts_read(f, _key)


def attributes_read(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The attributes that a function reads of each of its parameters, and that no number or array has."""
    return _parts_read(f, _attribute)


def taken_apart(f: Callable) -> frozenset[str]:
    """The parameters of which a function reads the real or imaginary part, or the conjugate."""
    return frozenset((*_parts_read(f, _part_attribute), *_handed_to(f, _PARTS)))


_PARTS = frozenset(("real", "imag", "conj", "conjugate"))


def _part_attribute(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) and node.attr in _PARTS else None


def _handed_to(f: Callable, functions: frozenset[str]) -> Iterator[str]:
    """The parameters that are handed, alone, to functions of these names."""
    node, names = _text(f)
    for call in ast.walk(node) if node is not None else ():
        if isinstance(call, ast.Call) and getattr(call.func, "attr", None) in functions:
            yield from (arg.id for arg in call.args if isinstance(arg, ast.Name) and arg.id in names)


def _parts_read(f: Callable, part: Callable[[ast.AST], str | None]) -> Mapping[str, tuple[str, ...]]:
    node, names = _text(f)
    found: dict[str, dict[str, None]] = {}
    for inner in ast.walk(node) if node is not None else ():
        word = part(inner)
        owner = getattr(inner, "value", None)
        if word is not None and isinstance(owner, ast.Name) and owner.id in names:
            found.setdefault(owner.id, {})[word] = None
    return {name: tuple(words) for name, words in found.items()}


def _text(f: Callable) -> tuple[ast.AST | None, frozenset[str]]:
    """The syntax tree of a function, None where its text cannot be had, and the names of its parameters."""
    code = getattr(f, "__code__", None)
    if not isinstance(code, types.CodeType):
        return None, frozenset()
    try:
        return find_source(code).node, frozenset(code.co_varnames[: code.co_argcount])
    except RuleLabError:
        return None, frozenset()


def _key(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        value: Any = node.slice.value
        return value if isinstance(value, str) else None
    return None


def _attribute(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) and node.attr not in _OF_NUMBERS else None
