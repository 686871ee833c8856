"""Where in a structure the containers of this sweep are, and cotangents of structures that hold some."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...own_code import is_without_authors
from ...tangents.holding import (
    attributes_of_callable,
    cells_and_defaults,
    contents,
    everything_held,
    held_by,
)
from ...tangents.structural import Tangent, class_of, entries_of, is_sequence, make, parts
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base import ir
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
_ENDS = (*LEAVES, *_CLOSED)
Outline = tuple[Any, dict[Key, Any]]  # (the container if it is of this sweep, the outlines of its parts)


Known = dict[int, tuple[Any, "Outline | None"]]  # by identity; held, so that an identity is not used again


def outline(x: Any) -> Outline | None:
    """Where in a structure containers of this sweep are; None if there are none."""
    return None if type(x) in MOST_LEAVES or not any_made() else _outline(x, {})


def _outline(x: Any, known: Known) -> Outline | None:
    """The same with those that were looked at on the way, each once: functions may share what they hold."""
    if isinstance(x, _ENDS) or is_without_authors(x):
        return None
    number = id(x)
    if number not in known:
        known[number] = x, None  # what leads back to itself adds nothing
        known[number] = x, _outline_of_parts(x, known)
    return known[number][1]


def _outline_of_parts(x: Any, known: Known) -> Outline | None:
    pairs = cells_and_defaults(x) if isinstance(x, types.FunctionType) else parts_by_key(x)
    inner = {}
    for key, part in pairs:
        if type(part) not in MOST_LEAVES and (where := _outline_held(part, known)) is not None:
            inner[key] = where
    mine = is_own(x)
    return (x if mine else None, inner) if mine or inner else None


def _outline_held(part: Any, known: Known) -> Outline | None:
    """The outline of what a function holds under a name: a variable that is rebound, or a value."""
    if not isinstance(part, types.CellType):
        return _outline(part, known)
    inside = None if contents(part) is ir.UNBOUND else _outline(contents(part), known)
    return (part, {CELL: inside} if inside is not None else {}) if is_own(part) else inside


def parts_by_key(x: Any) -> Iterable[tuple[Key, Any]]:
    """The parts of a structure, each with its key."""
    kind = type(x)
    if kind in _SEQUENCES:
        return () if MOST_LEAVES.issuperset(map(type, x)) else enumerate(x)
    if kind in _MAPPINGS:
        return () if MOST_LEAVES.issuperset(map(type, x.values())) else x.items()
    return enumerate(x) if isinstance(x, deque) else parts(x).items()


def parts_by_name(x: Any) -> dict[Key, Any]:
    """All parts of a value by the keys that its cotangent has: what a callable holds included."""
    if isinstance(x, types.FunctionType):
        return held_by(x).by_name()
    if isinstance(x, (list, deque)):
        return dict(enumerate(x))
    return attributes_of_callable(x) or dict(parts(x))


_SEQUENCES = frozenset({list, tuple, deque})
_MAPPINGS = frozenset({dict, Counter, OrderedDict, defaultdict})
MOST_LEAVES = frozenset({float, int, np.ndarray, np.float64, str, bool, type(None)})  # most of `LEAVES`


def whole(y: Any) -> Outline | None:
    """For a part that is a container of this sweep itself: where what is said of it as a whole goes."""
    return (y, {}) if is_own(y) else None


def hand_in(where: Outline | None, x_bar: Any) -> Any:
    """Put what a structural cotangent says of containers of this sweep into the table; what remains."""
    if where is None or x_bar is None or x_bar is ZERO or isinstance(x_bar, AbstractZero):
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


def taken_from(y: Any, y_bar: Any) -> dict[Key, Any]:
    """The cotangents of the parts of a new container or object, those that are said of it as a whole among
    them.
    """
    hand_in((y, {}), y_bar)
    return take_all(y)


def entries_in(x_bar: Any) -> dict[Key, Any]:
    """What a cotangent says of each part: nothing, if it is zero."""
    x_bar = settle(unthunk(x_bar))
    if isinstance(x_bar, AbstractZero):
        return {}
    if isinstance(x_bar, Tangent):
        return dict(entries_of(x_bar))
    return dict(x_bar) if isinstance(x_bar, dict) else dict(enumerate(x_bar))


def hand_on(y: Any) -> list[Any]:
    """The containers of this sweep in the result of a function that were constant in it: their changes are
    recorded from now on.
    """
    fresh = list(filter(may_change_unseen, _held_in([y]))) if any_made() else []
    if fresh:
        written().followed.update(map(id, fresh))
    return fresh


def reached_from(*holders: Any) -> list[Any]:
    """The containers of this sweep that these values, functions or bound methods hold, each once."""
    return list(filter(is_own, _held_in(getattr(x, "__self__", x) for x in holders))) if any_made() else []


def _held_in(roots: Iterable[Any]) -> Iterable[Any]:
    return everything_held(roots, _parts_inside, _ENDS)


def _parts_inside(x: Any) -> Iterable[Any]:
    """The parts of a value, of a function those that it holds, in cells where they are."""
    if is_without_authors(x):
        return ()
    if isinstance(x, types.CellType):
        return [] if contents(x) is ir.UNBOUND else [contents(x)]
    held = cells_and_defaults(x) if isinstance(x, types.FunctionType) else parts_by_key(x)
    return [part for _, part in held]


def any_changed(point: tuple[int, int], *holders: Any) -> bool:
    """Whether a container that is, or is in, one of these was changed after that point."""
    return now()[0] != point[0] and any(was_changed(x, point) for x in reached_from(*holders))


def forget(handed: list[Any]) -> None:
    """Drop what the reverse sweep found for containers that are constant from here back."""
    for x in handed:
        take_all(x)
