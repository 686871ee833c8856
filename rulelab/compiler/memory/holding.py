"""What a value holds, and whether it holds iterators, which reading exhausts."""

from __future__ import annotations

import builtins
import inspect
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...tangents.contents import own_attributes
from ...tangents.holding import TooMuch, everything_held, held_by, inside
from ..base.libraries import is_of_rulelab

_MOST_LOOKED_AT = 10_000  # structures
_MOST_WAITING = 1_000_000  # items of all kinds
_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, type(None), type, types.ModuleType, range)

_NO_ITERATORS = {types.FunctionType, types.BuiltinFunctionType, np.ufunc, list, tuple, dict, set, frozenset}


def holds_iterator(values: Iterable[Any]) -> bool:
    """Whether an iterator, which reading exhausts, is among these values or held by one; True if they hold
    too much to search.
    """
    held = everything_held(values, _parts, _PLAIN, most=_MOST_LOOKED_AT, at_once=_MOST_WAITING)
    try:
        return any(type(x) not in _NO_ITERATORS and _is_iterator(type(x)) for x in held)
    except TooMuch:
        return True


def _is_iterator(kind: type) -> bool:
    return inspect.getattr_static(kind, "__next__", None) is not None


def _parts(held: Any) -> Iterator[Any]:
    if not isinstance(held, types.FunctionType):
        yield from parts_inside(held)
        return
    yield from held_by(held).by_name().values()
    if is_of_rulelab(held.__code__.co_filename):
        return  # globals of our own modules lead to the registry with all its rules
    for name in held.__code__.co_names:
        value = held.__globals__.get(name, vars(builtins).get(name))
        if not isinstance(value, (types.FunctionType, types.ModuleType)):
            yield value


def parts_inside(x: Any) -> Iterable[Any]:
    """The values in a container (without keys, but with a defaultdict's factory), those that a callable
    holds, or those of an object's attributes.
    """
    if isinstance(x, dict):
        return (*x.values(), getattr(x, "default_factory", None))
    if isinstance(x, (list, tuple, set, frozenset, deque)):
        return x
    return list(inside(x)) or own_attributes(x).values()


def fields_of(held: Any) -> dict[str, Any]:
    """The fields of an object, even if its class overrides attribute access; empty if it has none."""
    try:
        found = object.__getattribute__(held, "__dict__")
    except Exception:  # it has none, or its class interferes
        return {}
    return found if isinstance(found, dict) else {}
