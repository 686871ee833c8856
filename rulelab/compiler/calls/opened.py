"""Gradients by a pass that takes what is in the arguments one by one: the numbers and arrays in tuples, lists
and dicts, such as the parameters of a model (`front/opening`).

Such a pass belongs to the text of a function and not to the function: one that is made anew for each call, a
lambda or a closure over the data of a step, has the same. It is compiled when a call of the same structure
comes again, as a fused pass is, and only for what does nothing but compute.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from numpy import ndarray

from ...errors import RuleLabError
from ...parsing import with_room
from ...rules.kinds import signature_of
from ..base.libraries import is_authors_function
from ..front.opening import NotOpened, Structure
from ..memory.heap import is_own
from .cache import Pass, of_code
from .entries import KEPT, varies
from .on_floats import MOST_MISSES
from .passes import NotFused, compile_pass

MOST = 64  # numbers and arrays in the arguments of a call: the text grows with each
_DEEPEST = 6
_FEW = 64  # structures remembered for one text
_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
CONTAINERS = frozenset({tuple, list, dict})
_KEYS = frozenset({str, int})
_NEW, _CALLED_BEFORE, _UNASKED = object(), object(), object()


@dataclass(eq=False)
class Way:
    """How functions of one text answer calls with arguments of one structure."""

    made: Pass
    fused: Pass | None
    asked: tuple[bool, ...]  # which parts may have a cotangent
    read: tuple[bool, ...]  # which of these are read out of containers
    misses: int = 0

    def closed(self, key: tuple[Any, ...], entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The gradient for the arguments as they are, from that for the parts.

        None where a part of a container has none, or zero, or where all of one have none. There the sweeps on
        containers may say None for zero, or the other way round: it depends on whether anything has flowed
        back on the way that the function took this time. After a few of these they answer at once.
        """
        try:
            found = _closed(key, zip(entries, self.asked, self.read))
        except _NothingInIt:
            self.misses += 1
            return None
        return tuple([None if entry is _UNASKED else entry for entry in found])


class _NothingInIt(Exception):
    """A part of a container has no gradient, or zero, though it was asked for."""


def _closed(
    keys: tuple[Any, ...], parts: Iterator[tuple[Any, bool, bool]], inside: bool = False
) -> list[Any]:
    """What belongs to the parts of a container, or to the arguments, from the next `(entry, asked, read)`."""
    found = []
    for key in keys:
        if not _is_container(key):
            entry, asked, read = next(parts)
            if inside and _is_nothing(entry, read):
                raise _NothingInIt
            found.append(entry if asked else _UNASKED)
            continue
        kind = key[0]
        inner = _closed(_inner(key), parts, True)
        if all(part is _UNASKED for part in inner):
            found.append(_UNASKED)
            continue
        inner = [None if part is _UNASKED else part for part in inner]
        if all(part is None for part in inner):
            raise _NothingInIt
        found.append(dict(zip(key[1], inner)) if kind is dict else kind(inner))
    return found


def _is_nothing(entry: Any, read: bool) -> bool:
    if type(entry) is ndarray:
        return not (entry.size and entry.item(0)) and not entry.any()
    return read if entry is None else not entry


def _is_container(key: Any) -> bool:
    return type(key) is tuple and key[0] in CONTAINERS


def _inner(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """What there is in the key of a container for each of its parts."""
    return key[2:] if key[0] is dict else key[1:]


class _NotTaken(Exception):
    """There is more in the arguments than is taken one by one."""


def _key(x: Any, parts: list[Any], depth: int = 0) -> Any:
    """What the pass depends on in an argument, of which the parts are added to those that came before."""
    kind = type(x)
    if kind is ndarray:
        parts.append(x)
        return (x.dtype, x.ndim)
    if kind not in CONTAINERS:
        if varies(x) is None:
            raise _NotTaken
        parts.append(x)
        return kind
    if depth == _DEEPEST or len(x) + len(parts) > MOST or not x:
        raise _NotTaken
    if kind is not dict:
        return (kind, *[_key(part, parts, depth + 1) for part in x])
    names = tuple(x)
    if not _KEYS.issuperset(map(type, names)):
        raise _NotTaken
    return (dict, names, *[_key(part, parts, depth + 1) for part in x.values()])


def _structure(key: Any) -> Structure | None:
    if not _is_container(key):
        return None
    return Structure(key[0], key[1] if key[0] is dict else (), tuple(map(_structure, _inner(key))))


def _count(structure: Structure | None) -> int:
    """How many parts an argument has."""
    return 1 if structure is None else sum(map(_count, structure.parts))


def may_have_way(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether it is worth a look: where there are containers, or the function has no entries of its own."""
    if type(function) is not FunctionType:
        return False
    return KEPT not in function.__dict__ or not CONTAINERS.isdisjoint(map(type, args))


def way_of(
    pullbacks: Any, function: FunctionType, args: tuple[Any, ...], numbers: tuple[int, ...] | None
) -> tuple[Way, tuple[Any, ...], list[Any]] | None:
    """The way of a call, the structure of its arguments and their parts; None where there is none. With
    `numbers` only these arguments are asked for.
    """
    if not _is_its_text(pullbacks.cache, function):
        return None
    parts: list[Any] = []
    try:
        key = tuple([_key(x, parts) for x in args])
        captured = tuple([_captured(cell) for cell in function.__closure__ or ()])
    except _NotTaken:
        return None
    ways = of_code(pullbacks.cache.memory.ways, function.__code__).by_key
    asked = (numbers, key, captured)
    way = ways.get(asked, _NEW)
    if way is _CALLED_BEFORE:
        way = ways[asked] = _compiled(pullbacks, function, parts, asked)
    elif way is _NEW or (way is not None and way.made.epoch != pullbacks.cache.registry.snapshot.epoch):
        if asked in ways or len(ways) < _FEW:
            ways[asked] = _CALLED_BEFORE
        return None
    if way is None or way.misses >= MOST_MISSES or not way.made.guard(function.__globals__):
        return None
    if not function.__closure__ and CONTAINERS.isdisjoint(map(type, args)):
        pullbacks.entries.open_for(function)  # if it is called again it gets its own, which are quicker
    return way, key, parts


def _is_its_text(cache: Any, function: FunctionType) -> bool:
    """Whether a call of a function runs its text and nothing else, and takes its parameters by position."""
    marks, code = function.__dict__, function.__code__
    if marks and (len(marks) > 1 or KEPT not in marks):
        return False
    if code.co_kwonlyargcount or code.co_flags & _TAKES_MORE or cache.memory.mode != "auto":
        return False
    if cache.copying is not None and code in cache.copying:
        return False  # its sweeps have to keep copies
    known, number = cache.registry.snapshot, id(function)
    return known.entry(function) is None and number not in known.mutators and number not in known.stand_ins


def _captured(cell: Any) -> Any:
    """What the pass depends on in a captured variable."""
    try:
        content = cell.cell_contents
    except ValueError:
        raise _NotTaken from None
    if is_own(cell) or (type(content) is not ndarray and varies(content) is None):
        raise _NotTaken
    return signature_of(content)


def _compiled(
    pullbacks: Any,
    function: FunctionType,
    parts: list[Any],
    asked: tuple[tuple[int, ...] | None, tuple[Any, ...], tuple[Any, ...]],
) -> Way | None:
    """The way by a pass for parts, or None where there is none."""
    numbers, key, free = asked
    if len(key) != function.__code__.co_argcount or not is_authors_function(function):
        return None
    structures = tuple(map(_structure, key))
    wanted = [
        numbers is None or number in numbers
        for number, structure in enumerate(structures)
        for _ in range(_count(structure))
    ]
    flags = tuple([bool(varies(part)) and on for part, on in zip(parts, wanted, strict=True)])
    opened = None if structures == (None,) * len(structures) else structures

    def compiled(fused: int | None) -> Pass:
        signature = tuple(map(signature_of, parts))
        given = (pullbacks, function, signature, flags, free, False, True)
        return with_room(lambda: compile_pass(*given, opened=opened, fused=fused))

    try:
        if opened is None:  # it was compiled when there was no way yet
            made = pullbacks.pass_of(function, tuple(parts), flags, False, True, None)
        else:
            made = compiled(None)
    except (NotOpened, RuleLabError):
        return None
    if not made.computes or made.noted:
        return None
    fused = None
    if not function.__closure__:  # what is captured is no parameter of a fused pass
        with suppress(NotFused, RuleLabError):
            fused = compiled(len(parts))
    read = made.parts_read or (False,) * len(parts)
    return Way(made, fused, flags, tuple([a and b for a, b in zip(read, flags, strict=True)]))
