"""Fingerprints of arrays, containers and results, to notice that they have changed."""

from __future__ import annotations

import array
import gc
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import MutationError, Place
from ...own_code import is_carrier
from ...tangents.contents import contents_of
from ...tangents.holding import (
    cells_of,
    contents,
    defaults_of,
    everything_held,
    held_by,
    inside,
    keyword_defaults_of,
)
from ...tangents.structural import parts
from ..base.libraries import is_authors_function
from ..base.source import names_in
from .heap import KINDS
from .holding import parts_inside
from .reach import text_of


def array_fingerprint(array: np.ndarray) -> Any:
    """A value that differs if the contents of an array differ."""
    if array.dtype.hasobject:
        return tuple(map(id, array.ravel().tolist()))
    if array.ndim and array.size and not any(array.strides):  # one number, broadcast
        return hash(array[(0,) * array.ndim].tobytes())
    return hash(array.tobytes())


def value_fingerprint(x: Any, depth: int = 8) -> Any:
    """A value that differs if two results of a function do, in type, shape or content; it holds neither."""
    if isinstance(x, np.ndarray):
        return "array", x.dtype, x.shape, array_fingerprint(x)
    if isinstance(x, (int, float, complex, np.generic, str, bytes)) or x is None:
        return type(x), repr(x)  # equal for nan, different for the two zeros
    if callable(x) or not depth:
        return type(x)
    return type(x), tuple((repr(key), value_fingerprint(part, depth - 1)) for key, part in parts(x).items())


def kept_by(back: Any, but: Any = None) -> list[Any]:
    """Every array, and every container, object and captured variable of the author's, that can be reached
    through the variables of a pullback and the tapes it holds, except through `but`.
    """
    kept: list[Any] = []

    def leads_to(held: Any) -> Iterable[Any]:
        if isinstance(held, np.ndarray):
            kept.append(held)
            return held.ravel().tolist() if held.dtype.hasobject else ()
        if isinstance(held, types.FunctionType):
            cells = cells_of(held)
            if is_authors_function(held):
                text = text_of(held.__code__)
                cells = {name: cell for name, cell in cells.items() if name not in text.noted - text.used}
                kept.extend(cells.values())
            variables = map(contents, cells.values())
            return (*variables, *defaults_of(held).values(), *keyword_defaults_of(held).values())
        if isinstance(held, types.MethodType):
            return inside(held)
        if isinstance(held, CHANGING):
            kept.append(held)
            if isinstance(held, dict):
                return held.values()
            return () if isinstance(held, (bytearray, array.array)) else held
        if isinstance(held, (tuple, frozenset)):
            return held
        module = type(held).__module__
        if is_carrier(type(held)) or module == "functools":
            return _fields(held)
        if module != "__main__" and module.startswith(_OPAQUE):
            return ()
        kept.append(held)
        return _fields(held)

    for _ in everything_held([back], leads_to, _NEITHER, but=(but,)):
        pass
    return kept


_NEITHER = (int, float, complex, str, bytes, bool, type, types.ModuleType, type(None))


CHANGING = (list, dict, set, deque, bytearray, array.array)


def state_of(held: Any) -> Any:
    """What a changeable value holds now, for `is_as_it_was`: its very parts, or an array's fingerprint."""
    if isinstance(held, np.ndarray):
        return array_fingerprint(held)
    if type(held) in KINDS:
        return KINDS[type(held)].state(held)
    if isinstance(held, types.CellType):
        return [contents(held)]
    if isinstance(held, (bytearray, array.array)):
        return bytes(held)
    if isinstance(held, set):
        return set(held)
    return contents_of(held)


def is_as_it_was(held: Any, state: Any, may_gain: bool = False) -> bool:
    """Whether a value still holds what it held in `state`; with `may_gain`, new attributes are allowed."""
    now = state_of(held)
    if isinstance(held, (np.ndarray, set, bytearray, array.array, *KINDS)):
        return bool(now == state)
    if isinstance(held, (list, deque, types.CellType)):
        return len(now) == len(state) and _same_parts(state, now)
    if (isinstance(held, dict) or not may_gain) and list(now) != list(state):
        return False
    return now.keys() >= state.keys() and _same_parts(state.values(), [now[key] for key in state])


def _same_parts(then: Iterable[Any], now: Iterable[Any]) -> bool:
    return all(a is b or (type(a) is type(b) and isinstance(a, _PLAIN) and a == b) for a, b in zip(then, now))


_PLAIN = (int, float, complex, str, bytes)  # reading an attribute defined in C may return a new object


# Objects of other modules are the author's. (An iterator of `itertools` may hold a tuple not filled yet.)
_OPAQUE = ("rulelab", "builtins", "numpy", "weakref", "itertools", "_")


def _fields(held: Any) -> list[Any]:
    """The values that an object refers to, with those in its `__dict__` in place of that."""
    named = getattr(held, "__dict__", None)
    fields = [value for value in gc.get_referents(held) if not isinstance(value, type) and value is not named]
    return [*fields, *named.values()] if isinstance(named, dict) else fields


def arrays_in_reach(function: Any) -> list[np.ndarray]:
    """The writable arrays that a function captures, has as defaults or names as globals: directly, in lists,
    tuples, dicts and functions, and as attributes of objects. Objects are not searched any deeper, since a
    figure or a logger leads everywhere.
    """
    reached = everything_held([function], _beside)
    found = [x for x in reached if isinstance(x, np.ndarray)]
    return [x for x in found if x.flags.writeable]


def _beside(held: Any) -> Iterable[Any]:
    """The values that `arrays_in_reach` visits next from one value."""
    if isinstance(held, types.FunctionType):
        named = (held.__globals__.get(name) for name in names_in(held.__code__))
        kinds = (np.ndarray, list, tuple, dict)
        near = (x for x in named if isinstance(x, kinds) or is_authors_function(x))
        return (*held_by(held).by_name().values(), *near)
    if isinstance(held, (types.MethodType, dict, list, tuple)):
        return parts_inside(held)
    if isinstance(held, (type, types.ModuleType, np.ndarray)):
        return ()
    return [x for x in getattr(held, "__dict__", {}).values() if isinstance(x, np.ndarray)]


class Seen:
    """The contents of some arrays now, to check later."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._prints = [(x, array_fingerprint(x)) for x in arrays]

    def check(self, where: str, fixes: tuple[str, ...], place: Place | None = None) -> None:
        """Raise MutationError if one of the arrays has changed."""
        for x, seen in self._prints:
            if array_fingerprint(x) != seen:
                shape = ", ".join(map(str, x.shape))
                raise MutationError(
                    f"An array {x.dtype}[{shape}] was changed {where}",
                    place=place,
                    fixes=fixes,
                    read="limitations#array-mutation",
                )


def read_outside(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The names and values of what a function captures, of its defaults, and of the globals that its code and
    nested functions name. Records, that is, variables to which it only adds, are left out.
    """
    names = function.__globals__
    known = {name: names[name] for name in names_in(function.__code__) if name in names}
    known.update(held_by(function).by_name())
    text = text_of(function.__code__)
    return ((name, x) for name, x in known.items() if name in text.used or name not in text.noted)
