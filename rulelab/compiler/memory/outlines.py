"""Where in a structure the containers made during this sweep are, and cotangents of such structures."""

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
    holds_something,
)
from ...tangents.structural import (
    Tangent,
    class_of,
    entries_of,
    is_sequence,
    make,
    parts,
    plain_attributes,
)
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base import ir
from ..base.classes import in_class
from .heap import (
    CELL,
    LEAVES,
    Key,
    any_made,
    deposit,
    is_own,
    keep_outline,
    kept_outlines,
    may_change_unseen,
    now,
    take_all,
    was_changed,
    written,
)
from .support import NO, ZERO, settle

_CLOSED = (types.BuiltinFunctionType, types.MethodType, range, slice)  # these are not searched
_ENDS = (*LEAVES, *_CLOSED)
Outline = tuple[Any, dict[Key, Any]]  # (the container if it is of this sweep, the outlines of its parts)


class Numbered:
    """A value without outline, whose cotangent goes to where its items came from, by their numbers."""


_WITHOUT_OUTLINE = (*_ENDS, Numbered)


class _Walk:
    """The state of one search, which visits nothing twice, since functions may share what they hold."""

    __slots__ = ("known", "lasting", "met")

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Outline | None]] = {}  # kept alive, so that no identity is reused
        self.met: list[Any] = []  # the containers of this sweep found so far
        self.lasting = True  # False once something was found twice, or may change without a note


def outline(x: Any) -> Outline | None:
    """Where in a structure the containers made during this sweep are; None if there are none."""
    if type(x) in MOST_LEAVES or not any_made():
        return None
    kept = kept_outlines().get(id(x))  # what has one is kept alive, so no other value has its identity
    return _outline(x, _Walk()) if kept is None else kept


def _outline(x: Any, walk: _Walk) -> Outline | None:
    """The outline of a value in a search. The outline of an object made during this sweep is kept until
    something in it changes, since the outlines of the parts of a tree are needed one by one. Those of
    containers with items are not kept, since a list may still grow unseen.
    """
    number = id(x)
    if (kept := kept_outlines().get(number)) is not None:
        walk.met.append(x)
        return kept
    if isinstance(x, _WITHOUT_OUTLINE) or is_without_authors(x):
        return None
    mine = is_own(x)
    if number in walk.known:
        walk.lasting = False
        return walk.known[number][1]
    walk.known[number] = x, None  # a cycle adds nothing
    around, walk.met = walk.met, []
    found = _outline_of_parts(x, mine, walk)
    walk.known[number] = x, found
    inside, walk.met = walk.met, around
    kept = mine and walk.lasting and type(x) not in _WITH_ITEMS
    if kept:
        keep_outline(x, found, inside)
    walk.met += [x] if kept else [x, *inside] if mine else inside
    return found


def _outline_of_parts(x: Any, mine: bool, walk: _Walk) -> Outline | None:
    attributes = plain_attributes(x) if mine and type(x) not in _WITH_ITEMS else None
    pairs: Iterable[tuple[Key, Any]]
    if attributes is not None:  # most objects of an author's
        pairs = list(attributes.items())
    else:
        pairs = cells_and_defaults(x) if isinstance(x, types.FunctionType) else parts_by_key(x)
    walk.lasting = walk.lasting and _is_lasting(x, mine, attributes is not None)
    inner = {}
    for key, part in pairs:
        if type(part) not in MOST_LEAVES and (where := _outline_held(part, walk)) is not None:
            inner[key] = where
    return (x if mine else None, inner) if mine or inner else None


def _is_lasting(x: Any, mine: bool, plain: bool) -> bool:
    """Whether the parts of a value change only by writes to it that are noted; `plain` says that they are its
    attributes.
    """
    kind = type(x)
    if kind is tuple:
        return True
    if kind is types.FunctionType:
        return not holds_something(x)
    if not mine or may_change_unseen(x) or kind.__getattribute__ not in _PLAIN_READS:
        return False
    if plain or kind in _WITH_ITEMS:
        return True
    fields, held = getattr(kind, "__dataclass_fields__", None), getattr(x, "__dict__", None)
    if fields is None or held is None:
        return False
    return all(name in held and not hasattr(type(in_class(kind, name)), "__get__") for name in fields)


def _outline_held(part: Any, walk: _Walk) -> Outline | None:
    """The outline of a part; that of a function may be the cell of a variable that is rebound."""
    if not isinstance(part, types.CellType):
        return _outline(part, walk)
    walk.lasting = False
    inside = None if contents(part) is ir.UNBOUND else _outline(contents(part), walk)
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
    """All parts of a value, including what a callable holds, by the keys that its cotangent has for them."""
    if isinstance(x, types.FunctionType):
        return held_by(x).by_name()
    if isinstance(x, (list, deque)):
        return dict(enumerate(x))
    return attributes_of_callable(x) or dict(parts(x))


_SEQUENCES = frozenset({list, tuple, deque})
_MAPPINGS = frozenset({dict, Counter, OrderedDict, defaultdict})
_WITH_ITEMS = _SEQUENCES | _MAPPINGS
_PLAIN_READS = frozenset({object.__getattribute__, *(kind.__getattribute__ for kind in _WITH_ITEMS)})
MOST_LEAVES = frozenset({float, int, np.ndarray, np.float64, str, bool, type(None)})  # most of `LEAVES`


def whole(y: Any) -> Outline | None:
    """The outline of a container made during this sweep, without its parts; None for other values."""
    return (y, {}) if is_own(y) else None


def hand_in(where: Outline | None, x_bar: Any) -> Any:
    """Move the cotangents that a structural cotangent has for containers of this sweep into the table; return
    the rest.
    """
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
    """Remove and return the cotangents of the parts of a new container or object, including those in `y_bar`,
    the cotangent of the whole.
    """
    hand_in((y, {}), y_bar)
    return take_all(y)


def entries_in(x_bar: Any) -> dict[Key, Any]:
    """The cotangents of the parts by key, from that of the whole; empty if that is zero."""
    x_bar = settle(unthunk(x_bar))
    if isinstance(x_bar, AbstractZero):
        return {}
    if isinstance(x_bar, Tangent):
        return dict(entries_of(x_bar))
    return dict(x_bar) if isinstance(x_bar, dict) else dict(enumerate(x_bar))


def hand_on(y: Any) -> list[Any]:
    """Start recording changes of the containers in a function's result that were constant in it; return
    these containers.
    """
    fresh = list(filter(may_change_unseen, _held_in([y]))) if any_made() else []
    if fresh:
        written().followed.update(map(id, fresh))
    return fresh


def reached_from(*holders: Any) -> list[Any]:
    """The containers made during this sweep that are among, or held by, these values, functions or (objects
    of) bound methods, each once.
    """
    return list(filter(is_own, _held_in(getattr(x, "__self__", x) for x in holders))) if any_made() else []


def _held_in(roots: Iterable[Any]) -> Iterable[Any]:
    return everything_held(roots, _parts_inside, _ENDS)


def _parts_inside(x: Any) -> Iterable[Any]:
    """The parts of a value; a function's are what it holds, with cells for the variables it captures."""
    if is_without_authors(x):
        return ()
    if isinstance(x, types.CellType):
        return [] if contents(x) is ir.UNBOUND else [contents(x)]
    held = cells_and_defaults(x) if isinstance(x, types.FunctionType) else parts_by_key(x)
    return [part for _, part in held]


def any_changed(point: tuple[int, int], *holders: Any) -> bool:
    """Whether a container that is, or is in, one of these values was changed after that point."""
    return now()[0] != point[0] and any(was_changed(x, point) for x in reached_from(*holders))


def forget(handed: list[Any]) -> None:
    """Drop the cotangents of containers that were constant before this point."""
    for x in handed:
        take_all(x)
