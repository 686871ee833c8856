"""Where in a structure the containers of this sweep are, and cotangents of structures that hold some."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..tangents.holding import cells_and_defaults, contents
from ..tangents.structural import Tangent, class_of, entries_of, is_sequence, make, parts
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero
from . import ir
from .heap import (
    CELL,
    LEAVES,
    Key,
    any_made,
    deposit,
    is_own,
    may_change_unseen,
    now,
    take_all,
    was_changed,
    written,
)
from .support import NO, ZERO, settle

_CLOSED = (types.BuiltinFunctionType, types.MethodType, range, slice)  # nothing is looked for in these
Outline = tuple[Any, dict[Key, Any]]  # (the container if it is of this sweep, the outlines of its parts)


# What our own programs hold, in which nothing of the author's is: the questions of the compiler.
_OURS = (
    "rulelab.compiler.pushing",
    "rulelab.compiler.pullbacks",
    "rulelab.rules.capabilities",
    "rulelab.rules.programs",
)


def _is_ours(x: Any) -> bool:
    return type(x).__module__ in _OURS


Known = dict[int, tuple[Any, "Outline | None"]]  # by identity; held, so that an identity is not used again


def outline(x: Any, known: Known | None = None) -> Outline | None:
    """Where in a structure containers of this sweep are; None if there are none.

    `known` are those that were looked at on the way, each once: functions may share what they hold.
    """
    if isinstance(x, LEAVES) or not any_made() or isinstance(x, _CLOSED) or _is_ours(x):
        return None
    known = {} if known is None else known
    if id(x) not in known:
        known[id(x)] = x, None  # what leads back to itself adds nothing
        known[id(x)] = x, _outline_of_parts(x, known)
    return known[id(x)][1]


def _outline_of_parts(x: Any, known: Known) -> Outline | None:
    if isinstance(x, types.FunctionType):
        outlines = ((name, _outline_held(part, known)) for name, part in cells_and_defaults(x))
        held = {name: where for name, where in outlines if where is not None}
        return (None, held) if held else None
    inner = {}
    for key, part in parts_by_key(x):
        found = outline(part, known)
        if found is not None:
            inner[key] = found
    mine = is_own(x)
    return (x if mine else None, inner) if mine or inner else None


def _outline_held(part: Any, known: Known) -> Outline | None:
    """The outline of what a function holds under a name: a variable that is rebound, or a value."""
    if not isinstance(part, types.CellType):
        return outline(part, known)
    inside = None if contents(part) is ir.UNBOUND else outline(contents(part), known)
    return (part, {CELL: inside} if inside is not None else {}) if is_own(part) else inside


def parts_by_key(x: Any) -> Iterable[tuple[Key, Any]]:
    """The parts of a structure, each with its key."""
    if type(x) in (list, tuple, deque):
        return () if _QUICK.issuperset(map(type, x)) else enumerate(x)
    return enumerate(x) if isinstance(x, deque) else parts(x).items()


_QUICK = frozenset({float, int, np.ndarray, np.float64, str, bool})


def whole(y: Any) -> Outline | None:
    """For a part that is a container of this sweep itself: where what is said of it as a whole goes."""
    return (y, {}) if is_own(y) else None


def hand_in(where: Outline | None, x_bar: Any) -> Any:
    """Put what a structural cotangent says of containers of this sweep into the table; what remains."""
    if where is None or x_bar is None or isinstance(x_bar, AbstractZero):
        return x_bar
    x_bar = settle(unthunk(x_bar))
    if isinstance(x_bar, AbstractZero):
        return x_bar
    owner, inner = where
    if isinstance(owner, types.CellType):
        deposit(owner, CELL, hand_in(inner.get(CELL), x_bar))
        return ZERO
    entries = entries_in(x_bar)
    for key, bar in entries.items():
        rest = hand_in(inner.get(key), NO if bar is None else bar)
        entries[key] = rest
        if owner is not None:
            deposit(owner, key, rest)
    if owner is not None:
        return ZERO
    kind = class_of(x_bar) if isinstance(x_bar, Tangent) else type(x_bar)
    return make(kind, entries, len(x_bar) if is_sequence(kind) else None)


def entries_in(x_bar: Any) -> dict[Key, Any]:
    """What a structural cotangent says of each part."""
    if isinstance(x_bar, Tangent):
        return dict(entries_of(x_bar))
    return dict(x_bar) if isinstance(x_bar, dict) else dict(enumerate(x_bar))


def hand_on(y: Any) -> list[Any]:
    """The containers of this sweep in the result of a function that were constant in it: their changes are
    recorded from now on.
    """
    found: list[Any] = []
    _containers(outline(y), found)
    fresh = [x for x in found if may_change_unseen(x)]
    if fresh:
        written().followed.update(map(id, fresh))
    return fresh


def reached_from(*holders: Any) -> list[Any]:
    """The containers of this sweep that these values, functions or bound methods hold, each once."""
    found: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    waiting = [getattr(x, "__self__", x) for x in holders] if any_made() else []
    while waiting:
        x = waiting.pop()
        if id(x) in seen or isinstance(x, (*LEAVES, *_CLOSED)) or _is_ours(x):
            continue
        seen[id(x)] = x
        if is_own(x):
            found[id(x)] = x
        if isinstance(x, types.CellType):
            waiting.extend([] if contents(x) is ir.UNBOUND else [contents(x)])
        elif isinstance(x, types.FunctionType):
            waiting.extend(part for _, part in cells_and_defaults(x))
        else:
            waiting.extend(part for _, part in parts_by_key(x))
    return list(found.values())


def any_changed(point: tuple[int, int], *holders: Any) -> bool:
    """Whether a container that is, or is in, one of these was changed after that point."""
    return now()[0] != point[0] and any(was_changed(x, point) for x in reached_from(*holders))


def _containers(where: Outline | None, found: list[Any]) -> None:
    if where is not None:
        if where[0] is not None:
            found.append(where[0])
        for inner in where[1].values():
            _containers(inner, found)


def forget(handed: list[Any]) -> None:
    """Drop what the reverse sweep found for containers that are constant from here back."""
    for x in handed:
        take_all(x)
