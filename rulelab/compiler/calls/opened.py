"""Calls with tuples, lists and dicts of numbers and arrays, such as the parameters of a model.

A function that only reads them gets a pass that takes what is in them one by one (`front/opening`). It is
compiled when a call with the same structure comes again, as a fused pass is.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from numpy import ndarray

from ...errors import RuleLabError
from ...parsing import with_room
from ...rules.kinds import signature_of
from ..front.opening import NotOpened, Structure
from .entries import Entry, varies
from .fused import fused_pass, may_be_fused
from .on_floats import MOST_MISSES
from .passes import compile_pass

MOST = 64  # numbers and arrays in the arguments of a call: the text grows with each
_DEEPEST = 6
_FEW = 64  # structures remembered for one function
CONTAINERS = frozenset({tuple, list, dict})
_KEYS = frozenset({str, int})
_NEW, _CALLED_BEFORE, _UNASKED = object(), object(), object()


@dataclass(eq=False)
class Way:
    """How a function answers calls with arguments of one structure: by the entry for their parts."""

    entry: Entry
    asked: tuple[bool, ...]  # which parts may have a cotangent
    read: tuple[bool, ...]  # which of these are read
    misses: int = 0

    def closed(self, key: tuple[Any, ...], entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The gradient for the arguments as they are, from that for the parts.

        None where it is zero for one, or there is none for one that is read, or for all of a container. There
        the sweeps on containers may say None for zero, or the other way round: it depends on whether anything
        has flowed back on the way that the function took this time. After a few of these they answer at once.
        """
        try:
            if not any(map(_is_nothing, entries, self.read)):
                found = _closed(key, zip(entries, self.asked))
                return tuple([None if entry is _UNASKED else entry for entry in found])
        except _NothingInIt:
            pass
        self.misses += 1
        return None


class _NothingInIt(Exception):
    """No part of a container has a gradient, though some were asked for."""


def _is_nothing(entry: Any, read: bool) -> bool:
    if type(entry) is ndarray:
        return not (entry.size and entry.item(0)) and not entry.any()
    return read if entry is None else not entry


def _closed(keys: tuple[Any, ...], entries: Iterator[tuple[Any, bool]]) -> list[Any]:
    """What belongs to the parts of a container, or to the arguments, from the next pairs (entry, asked)."""
    found = []
    for key in keys:
        if not _is_container(key):
            entry, asked = next(entries)
            found.append(entry if asked else _UNASKED)
            continue
        kind = key[0]
        inner = _closed(key[2:] if kind is dict else key[1:], entries)
        if all(part is _UNASKED for part in inner):
            found.append(_UNASKED)
            continue
        inner = [None if part is _UNASKED else part for part in inner]
        if all(part is None for part in inner):
            raise _NothingInIt
        found.append(dict(zip(key[1], inner)) if kind is dict else kind(inner))
    return found


def _is_container(key: Any) -> bool:
    return type(key) is tuple and key[0] in CONTAINERS


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
    names, inner = (key[1], key[2:]) if key[0] is dict else ((), key[1:])
    return Structure(key[0], names, tuple(map(_structure, inner)))


def _count(key: Any) -> int:
    """How many parts an argument has."""
    structure = _structure(key)
    return 1 if structure is None else sum(map(_count, key[2:] if key[0] is dict else key[1:]))


def way_of(
    pullbacks: Any, function: Any, args: tuple[Any, ...], numbers: tuple[int, ...] | None
) -> tuple[Way, tuple[Any, ...], list[Any]] | None:
    """The way of a call, the structure of its arguments and their parts; None where there is none. With
    `numbers` only these arguments are asked for.
    """
    if type(function) is not FunctionType:
        return None
    known = pullbacks.entries.known_of(function)
    if known is None:
        return None
    parts: list[Any] = []
    try:
        key = tuple([_key(x, parts) for x in args])
    except _NotTaken:
        return None
    ways, asked = known.opened, (numbers, key)
    way = ways.get(asked, _NEW)
    if way is _CALLED_BEFORE:
        way = ways[asked] = _compiled(pullbacks, function, key, parts, numbers)
    elif way is _NEW or (way is not None and not pullbacks.entries.counts(way.entry, function)):
        if asked in ways or len(ways) < _FEW:
            ways[asked] = _CALLED_BEFORE
        return None
    return None if way is None or way.misses >= MOST_MISSES else (way, key, parts)


def _compiled(
    pullbacks: Any,
    function: FunctionType,
    key: tuple[Any, ...],
    parts: list[Any],
    numbers: tuple[int, ...] | None,
) -> Way | None:
    """The way by a pass for parts, or None where there is none."""
    code = function.__code__
    counts = list(map(_count, key))
    if len(key) != code.co_argcount or code.co_kwonlyargcount or code.co_flags & 0x0C or function.__closure__:
        return None
    wanted = [numbers is None or number in numbers for number in range(len(key))]
    asked = [on for on, count in zip(wanted, counts, strict=True) for _ in range(count)]
    flags = tuple([bool(varies(part)) and on for part, on in zip(parts, asked, strict=True)])
    structures = tuple(map(_structure, key))
    signature = tuple(map(signature_of, parts))
    try:
        made = with_room(
            lambda: compile_pass(
                pullbacks, function, signature, flags, (), False, True, opened=structures
            )
        )
    except (NotOpened, RuleLabError):
        return None
    if not may_be_fused(pullbacks, function, made):
        return None
    guard = made.guard_to_ask
    entry = Entry(made.epoch, made.bound_to(function), guard, False, False, made.forward.__code__)
    entry.computes = True
    entry.fuse = functools.partial(
        fused_pass, pullbacks, flags, weakref.ref(function), made, len(parts), opened=structures
    )
    return Way(entry, flags, tuple([a and b for a, b in zip(made.parts_read, flags, strict=True)]))
