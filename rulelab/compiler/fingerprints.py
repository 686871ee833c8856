"""What arrays and results look like, to notice a change between two looks at them."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import MutationError, Place
from ..tangents.structural import parts
from .libraries import is_authors_function


def print_of(array: np.ndarray) -> Any:
    """What tells one content of an array from another."""
    if array.dtype.hasobject:
        return tuple(map(id, array.ravel().tolist()))
    if array.ndim and array.size and not any(array.strides):  # one number, seen as many
        return hash(array[(0,) * array.ndim].tobytes())
    return hash(array.tobytes())


def value_print(x: Any, depth: int = 8) -> Any:
    """What tells one result of a function from another, without keeping it: its kind, shape and content."""
    if isinstance(x, np.ndarray):
        return "array", x.dtype, x.shape, print_of(x)
    if isinstance(x, (int, float, complex, np.generic, str, bytes)) or x is None:
        return type(x), repr(x)  # equal for nan, and apart for the two zeros
    if callable(x) or not depth:
        return type(x)
    return type(x), tuple((repr(key), value_print(part, depth - 1)) for key, part in parts(x).items())


def arrays_of(back: Any) -> Iterator[np.ndarray]:
    """Every array that can be reached through the variables of a pullback and the tapes it holds."""
    seen: set[int] = set()
    waiting = [back]
    while waiting:
        held = waiting.pop()
        if (
            id(held) in seen
            or isinstance(held, (int, float, complex, str, bytes, bool, type, types.ModuleType))
            or held is None
        ):
            continue
        seen.add(id(held))
        if isinstance(held, np.ndarray):
            yield held
        elif isinstance(held, types.FunctionType):
            waiting.extend(_cells(held))
            waiting.extend(held.__defaults__ or ())
        elif isinstance(held, types.MethodType):
            waiting += [held.__func__, held.__self__]
        elif isinstance(held, dict):
            waiting.extend(held.values())
        elif isinstance(held, (list, tuple, set, frozenset)):
            waiting.extend(held)
        elif type(held).__module__.startswith(_WALKED) or not type(held).__module__.startswith(_OPAQUE):
            waiting.extend(_fields(held))


_WALKED = ("rulelab.tangents", "rulelab.rules.calling", "rulelab.compiler.walks", "functools")
# All else is an author's object. (An iterator of `itertools` may hold a tuple that is not filled yet.)
_OPAQUE = ("rulelab", "builtins", "numpy", "weakref", "itertools", "_")


def _cells(function: types.FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return found


def _fields(held: Any) -> list[Any]:
    return [value for value in gc.get_referents(held) if not isinstance(value, type)]


def arrays_in_reach(function: Any) -> list[np.ndarray]:
    """The arrays that a function captures, has as defaults or names among its globals: by themselves, in
    lists, tuples, dicts and functions, and as attributes of objects. What such objects hold in turn is not
    looked through: a figure or a logger leads everywhere.
    """
    found: list[np.ndarray] = []
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        held = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        if isinstance(held, np.ndarray):
            found.append(held)
        elif isinstance(held, types.FunctionType):
            waiting += [*_cells(held), *(held.__defaults__ or ()), *(held.__kwdefaults__ or {}).values()]
            named = (held.__globals__.get(name) for name in _names_in(held.__code__))
            kinds = (np.ndarray, list, tuple, dict)
            waiting += [x for x in named if isinstance(x, kinds) or is_authors_function(x)]
        elif isinstance(held, types.MethodType):
            waiting += [held.__func__, held.__self__]
        elif isinstance(held, dict):
            waiting.extend(held.values())
        elif isinstance(held, (list, tuple)):
            waiting.extend(held)
        elif not isinstance(held, (type, types.ModuleType)):
            waiting += [x for x in getattr(held, "__dict__", {}).values() if isinstance(x, np.ndarray)]
    return [x for x in found if x.flags.writeable]


class Seen:
    """Arrays as they are now."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._prints = [(array, print_of(array)) for array in arrays]

    def check(self, where: str, fixes: tuple[str, ...], place: Place | None = None) -> None:
        """MutationError if one of them has changed."""
        for array, seen in self._prints:
            if print_of(array) != seen:
                shape = ", ".join(map(str, array.shape))
                raise MutationError(
                    f"An array {array.dtype}[{shape}] was changed {where}",
                    place=place,
                    fixes=fixes,
                    read="limitations#array-mutation",
                )


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
