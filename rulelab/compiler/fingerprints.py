"""What arrays, containers and results look like, to notice a change between two looks at them."""

from __future__ import annotations

import array
import dis
import functools
import gc
import itertools
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import MutationError, Place
from ..tangents.contents import contents_of
from ..tangents.holding import cells_of, contents, defaults_of, held_by, inside, keyword_defaults_of
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


def kept_by(back: Any, but: Any = None) -> Iterator[Any]:
    """Every array, container, object and captured variable of the author's that can be reached through the
    variables of a pullback and the tapes it holds, not by way of `but`.
    """
    seen: dict[int, Any] = {id(but): but}  # which also keeps the identities from being used again
    waiting = [back]
    while waiting:
        held = waiting.pop()
        if (
            id(held) in seen
            or isinstance(held, (int, float, complex, str, bytes, bool, type, types.ModuleType))
            or held is None
        ):
            continue
        seen[id(held)] = held
        if isinstance(held, np.ndarray):
            yield held
            if held.dtype.hasobject:
                waiting.extend(held.ravel().tolist())
        elif isinstance(held, types.FunctionType):
            cells = cells_of(held)
            if is_authors_function(held):
                for name in _only_noted(held.__code__):
                    del cells[name]
                yield from cells.values()
            waiting.extend(map(contents, cells.values()))
            waiting += [*defaults_of(held).values(), *keyword_defaults_of(held).values()]
        elif isinstance(held, types.MethodType):
            waiting.extend(inside(held))
        elif isinstance(held, _CHANGING):
            yield held
            waiting.extend(held.values() if isinstance(held, dict) else _items(held))
        elif isinstance(held, (tuple, frozenset)):
            waiting.extend(held)
        elif type(held).__module__.startswith(_WALKED):
            waiting.extend(_fields(held))
        elif type(held).__module__ == "__main__" or not type(held).__module__.startswith(_OPAQUE):
            yield held
            waiting.extend(_fields(held))


@functools.lru_cache(maxsize=256)
def _only_noted(code: types.CodeType) -> frozenset[str]:
    """The captured variables with which code does nothing but add to a list or set: its records."""
    other: set[Any] = set()
    found: set[Any] = set()
    steps = list(dis.get_instructions(code))
    for step, following in itertools.pairwise(steps):
        if step.argval in code.co_freevars and step.opname != "COPY_FREE_VARS":
            notes = following.argval in ("append", "add") and following.opname in ("LOAD_METHOD", "LOAD_ATTR")
            (found if notes and step.opname == "LOAD_DEREF" else other).add(step.argval)
    return frozenset(found - other)  # what a function inside captures is loaded for it, which is another use


_CHANGING = (list, dict, set, deque, bytearray, array.array)


def _items(held: Any) -> Any:
    return () if isinstance(held, (bytearray, array.array)) else held


def state_of(held: Any) -> Any:
    """What something that may change holds now, for `is_as_it_was`: its very parts; of an array a print."""
    if isinstance(held, np.ndarray):
        return print_of(held)
    if isinstance(held, types.CellType):
        return [contents(held)]
    if isinstance(held, (bytearray, array.array)):
        return bytes(held)
    if isinstance(held, set):
        return set(held)
    return contents_of(held)


def is_as_it_was(held: Any, state: Any, may_gain: bool = False) -> bool:
    """Whether something still holds what it held; an object may have more attributes now if it `may_gain`
    some.
    """
    now = state_of(held)
    if isinstance(held, (np.ndarray, set, bytearray, array.array)):
        return now == state
    if isinstance(held, (list, deque, types.CellType)):
        return len(now) == len(state) and _same_parts(state, now)
    if (isinstance(held, dict) or not may_gain) and list(now) != list(state):
        return False
    return now.keys() >= state.keys() and _same_parts(state.values(), [now[key] for key in state])


def _same_parts(then: Iterable[Any], now: Iterable[Any]) -> bool:
    return all(
        a is b or (type(a) is type(b) and isinstance(a, _PLAIN) and a == b) for a, b in zip(then, now)
    )


_PLAIN = (int, float, complex, str, bytes)  # an attribute in C may be made anew each time it is read


_WALKED = ("rulelab.tangents", "rulelab.rules.calling", "rulelab.compiler.walks", "functools")
# All else is an author's object. (An iterator of `itertools` may hold a tuple that is not filled yet.)
_OPAQUE = ("rulelab", "builtins", "numpy", "weakref", "itertools", "_")


def _fields(held: Any) -> list[Any]:
    """What an object holds; not its `__dict__`, but what is in that."""
    named = getattr(held, "__dict__", None)
    fields = [value for value in gc.get_referents(held) if not isinstance(value, type) and value is not named]
    return [*fields, *named.values()] if isinstance(named, dict) else fields


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
            waiting.extend(held_by(held).by_name().values())
            named = (held.__globals__.get(name) for name in _names_in(held.__code__))
            kinds = (np.ndarray, list, tuple, dict)
            waiting += [x for x in named if isinstance(x, kinds) or is_authors_function(x)]
        elif isinstance(held, types.MethodType):
            waiting.extend(inside(held))
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
        self._prints = [(x, print_of(x)) for x in arrays]

    def check(self, where: str, fixes: tuple[str, ...], place: Place | None = None) -> None:
        """MutationError if one of them has changed."""
        for x, seen in self._prints:
            if print_of(x) != seen:
                shape = ", ".join(map(str, x.shape))
                raise MutationError(
                    f"An array {x.dtype}[{shape}] was changed {where}",
                    place=place,
                    fixes=fixes,
                    read="limitations#array-mutation",
                )


def read_outside(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function captures, its defaults and the globals that its code names, functions inside included;
    without the records, to which it does nothing but add.
    """
    names = function.__globals__
    known = {name: names[name] for name in _names_in(function.__code__) if name in names}
    known.update(held_by(function).by_name())
    uses = _uses(function.__code__)
    return ((name, x) for name, x in known.items() if name in uses.names or name not in uses.noted)


def attributes_read(function: types.FunctionType) -> frozenset[str]:
    """The attributes that the code of a function reads, but for records."""
    return _uses(function.__code__).attributes


class _Uses(NamedTuple):
    """The variables from outside to which code adds something, those that it uses in another way, and the
    attributes that it reads.
    """

    noted: frozenset[str]
    names: frozenset[str]
    attributes: frozenset[str]


@functools.lru_cache(maxsize=256)
def _uses(code: types.CodeType) -> _Uses:
    noted: set[str] = set()
    names: set[str] = set()
    attributes: set[str] = set()
    outside = {*code.co_freevars, *code.co_cellvars}
    for step, following in itertools.pairwise(dis.get_instructions(code)):
        adds = following.argval in ("append", "add") and following.opname in _ATTRIBUTES
        if step.opname in _ATTRIBUTES and not adds:
            attributes.add(step.argval)
        elif step.opname == "LOAD_GLOBAL" or (step.argval in outside and step.opname.startswith(_READS)):
            (noted if adds else names).add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found = _uses(inner)
            noted |= found.noted
            names |= found.names
            attributes |= found.attributes
    return _Uses(frozenset(noted), frozenset(names), frozenset(attributes))


_ATTRIBUTES = ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR")
_READS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
