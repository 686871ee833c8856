"""Copies of structures: new containers that may be changed, whose cotangents go to the originals."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import NotDifferentiableError, an
from ...tangents.projection import FieldGradients
from ...tangents.structural import is_namedtuple, is_sequence, make, parts
from ..base.classes import is_author_class
from . import heap, outlines
from .handlers import NO, ZERO, Handler, Uncached
from .heap import LEAVES, Key
from .operands import carries
from .support import add

_OF_DATACLASSES = (dataclasses.asdict, dataclasses.astuple)


def copier(target: Any, args: tuple[Any, ...], inner: Callable[..., Any]) -> Handler | None:
    """The handler of a call that copies a structure; None for any other call, and for values that hold no
    others.

    `inner` makes the copy, or refuses.
    """
    if len(args) != 1 or isinstance(args[0], LEAVES):
        return None
    x = args[0]
    holds_items = isinstance(x, (list, dict, deque)) and (target is copy.copy or target is copy.deepcopy)
    if holds_items and any(map(carries, getattr(x, "__dict__", {}).values())):
        raise NotDifferentiableError(
            f"A copy of {an(type(x).__name__)} that has attributes besides its items is not differentiated",
            fixes=("make a new one of the items, and set its attributes",),
            read="limitations#attributes",
        )
    if target is copy.copy and is_author_class(type(x)) and not isinstance(x, (list, tuple, dict)):
        return _following(inner, deep=False)
    if target is copy.deepcopy and (type(x) in (list, tuple, dict, deque) or is_author_class(type(x))):
        return _following(inner, deep=True)
    return None


def conversion(target: Any, args: tuple[Any, ...]) -> Handler | None:
    """The handler of `asdict(x)`, `astuple(x)` and `x._asdict()`; None for any other call."""
    if len(args) != 1 or isinstance(args[0], type):
        return None
    if any(target is known for known in _OF_DATACLASSES) and dataclasses.is_dataclass(args[0]):
        return _following(target, deep=True)
    if target is FieldGradients._asdict:
        return _following(target, deep=False)
    if is_namedtuple(type(args[0])) and target is getattr(type(args[0]), "_asdict", None):
        return _following(args[0]._asdict.__func__, deep=False)
    return None


def made_plain(target: Callable[[Any], Any]) -> Callable[..., Any]:
    """`copy.copy` or `copy.deepcopy` if no cotangent is needed: the copies may be changed."""

    def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        y = target(*args, **kwargs)
        if len(args) == 1 and y is not args[0]:
            _Copy(args[0], y, target is copy.deepcopy, False, {})
        return y

    return call


def _following(inner: Callable[..., Any], deep: bool) -> Handler:
    """The handler of a copy whose changes are recorded."""
    def copied(x: Any) -> Any:
        __tracebackhide__ = True
        y = inner(x)
        made = _Copy(x, y, deep, True, {})
        return y, heap.effectful(lambda y_bar: (NO, made.back(y_bar)))

    return Uncached(copied)


class _Copy:
    """A structure `x` and its copy `y`; for a deep copy, its parts and their copies, too."""

    def __init__(self, x: Any, y: Any, deep: bool, followed: bool, seen: dict[int, _Copy]) -> None:
        seen[id(y)] = self
        self.x, self.y = x, y
        self.mine = heap.is_own(x)
        self.changes = not isinstance(y, tuple)
        if self.changes:
            heap.own(y, followed)
        pairs = list(zip(_parts(x), _parts(y)))
        self.names = {key: of for (of, _), (key, _) in pairs} if type(x) is not type(y) else None
        self.parts: dict[Key, _Copy] = {}
        self.wholes: dict[Key, Any] = {}
        for (key, part), (_, copied) in pairs:
            if isinstance(part, LEAVES):
                continue
            if copied is part:
                self.wholes[key] = outlines.outline(part)
            elif deep and id(copied) not in seen:
                self.parts[key] = _Copy(part, copied, deep, followed, seen)

    def back(self, y_bar: Any) -> Any:
        """The cotangent of the original, from that of the copy as a whole and those of its parts."""
        entries = outlines.entries_in(y_bar)
        for key, bar in (heap.take_all(self.y) if self.changes else {}).items():
            entries[key] = add(entries.get(key, ZERO), bar)
        if self.names is not None:
            entries = {self.names[key]: bar for key, bar in entries.items() if key in self.names}
        for key, part in self.parts.items():
            entries[key] = part.back(entries.get(key, ZERO))
        found = {key: outlines.hand_in(self.wholes.get(key), bar) for key, bar in entries.items()}
        found = {
            key: bar for key, bar in found.items() if bar is not ZERO and bar is not NO and bar is not None
        }
        if self.mine:
            for key, bar in found.items():
                heap.deposit(self.x, key, bar)
            return ZERO
        kind = type(self.x) if not isinstance(self.x, deque) else list
        return make(kind, found, len(self.x) if is_sequence(kind) else None) if found else ZERO


def _parts(x: Any) -> Iterable[tuple[Key, Any]]:
    return enumerate(x) if isinstance(x, deque) else parts(x).items()
