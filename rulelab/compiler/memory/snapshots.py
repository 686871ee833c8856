"""Snapshots of containers, to be read or compared with later, when the containers may have changed."""

from __future__ import annotations

import pickle
import random
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...errors import An, MutationError, NotDifferentiableError, Place, an
from ...tangents.classes import made_by_python
from ...tangents.contents import own_attributes
from ...tangents.holding import contents, everything_held, inside
from ...tangents.shadows import attributes_of
from ..base import ir
from ..base.classes import is_author_class
from ..base.libraries import is_authors_function, is_library, is_of_library
from .fingerprints import (
    CHANGING,
    Seen,
    array_fingerprint,
    arrays_in_reach,
    is_as_it_was,
    read_outside,
    state_of,
)
from .heap import KINDS, LEAVES, any_made, asked_again, followed, is_own
from .holding import parts_inside
from .outlines import outline, parts_by_key, parts_by_name, reached_from
from .reach import OF_LIBRARIES, reached_by, text_of, walked


def snapshot(x: Any) -> Any:
    """A shallow copy of a list or dict; other values are returned as they are."""
    kind = type(x)
    return kind(x) if kind is list or kind is dict else x


class Snapshots:
    """Deep copies of containers, for a rule that reads its arguments again later; a container that is reached
    twice is copied once.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # identity -> (the original, its copy)

    def of(self, x: Any) -> Any:
        """A value with all containers in it copied."""
        kind = type(x)
        if isinstance(x, LEAVES):
            return x
        if id(x) in self._made:
            return self._made[id(x)][1]
        if kind is tuple:
            return tuple(map(self.of, x))
        if isinstance(x, tuple):
            return kind(*map(self.of, x)) if hasattr(kind, "_fields") else x
        if kind is types.FunctionType:
            return x if outline(x) is None else self._with_copies(x)
        if not is_own(x) and kind not in (list, dict, deque):
            return x
        return self._copied(x)

    def _with_copies(self, function: types.FunctionType) -> types.FunctionType:
        """A copy of the function that captures copies."""
        cells = [types.CellType() for _ in function.__closure__ or ()]
        defaults = tuple(map(self.of, function.__defaults__ or ())) or None
        y = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, defaults, tuple(cells)
        )
        words = function.__kwdefaults__
        y.__kwdefaults__ = {k: self.of(v) for k, v in words.items()} if words else None
        self._made[id(function)] = function, y
        for cell, captured in zip(cells, function.__closure__ or ()):
            if contents(captured) is not ir.UNBOUND:
                cell.cell_contents = self.of(contents(captured))
        return y

    def _copied(self, x: Any) -> Any:
        if isinstance(x, types.CellType):
            return x
        if type(x) in KINDS:
            raise NotDifferentiableError(
                f"{An(type(x).__name__)} is passed to a function that has a rule",
                fixes=("pass what is in it: b[:], or b.copy() at the end",),
                read="limitations#array-mutation",
            )
        y: Any
        if isinstance(x, (list, dict, deque, set)):
            y = x.copy()
            self._made[id(x)] = x, y
            for key, part in () if isinstance(x, set) else parts_by_key(x):
                y[key] = self.of(part)
        else:
            y = type(x).__new__(type(x))  # type: ignore[call-overload]
            self._made[id(x)] = x, y
            for name, part in attributes_of(x).items():
                object.__setattr__(y, name, self.of(part))
        return y

    def refuse_changed(self, name: str) -> None:
        """Raise MutationError if a rule has changed the containers that it was given."""
        for x, y in self._made.values():
            if not self._is_as_copied(x, y):
                raise MutationError(
                    f"The rule of {name} changes its argument, {an(type(x).__name__)} that may be used "
                    "elsewhere",
                    fixes=(
                        f"let the rule and {name} return a new object",
                        f"differentiate {name} without a rule",
                    ),
                    read="limitations#array-mutation",
                )

    def _is_as_copied(self, x: Any, y: Any) -> bool:
        """Whether the copy `y` still holds what it held when it was made from `x`."""
        if isinstance(x, set):
            return x == y
        then, now = map(parts_by_name, (x, y))
        return then.keys() == now.keys() and all(
            now[key] is part
            or isinstance(part, tuple)
            or now[key] is self._made.get(id(part), (None, now))[1]
            for key, part in then.items()
        )

    def refuse_alias(self, y: Any, name: str, depth: int = 3) -> None:
        """Raise NotDifferentiableError if a rule's result is, or holds, a container that it was given."""
        if isinstance(y, LEAVES):
            return
        if any(y is copied for _, copied in self._made.values()):
            raise NotDifferentiableError(
                f"The rule of {name} returns its argument, {an(type(y).__name__)} that may change later",
                fixes=("let it return a copy",),
                read="limitations#array-mutation",
            )
        if depth and self._made and not callable(y):
            for _, part in parts_by_key(y):
                self.refuse_alias(part, name, depth - 1)


def watched(
    call: Callable[..., Any], place: Place | None, runs: tuple[Any, ...] = (), changes: bool = False
) -> Callable[..., Any]:
    """Wrap a call that runs functions of the author's (among the arguments, or in `runs`) without following
    them: raise MutationError if they change a container that is followed, or an array that the sweep may have
    read. With `changes`, the call itself may change containers, so these are not checked.
    """

    def watch(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given = (*runs, *args, *kwargs.values())
        arrays = Seen(_may_be_written(given))
        # Even containers whose changes are not recorded: a value that varies could be put there.
        looks = any_made() and not changes
        reached = [*reached_from(call, *args, *kwargs.values()), *followed()] if looks else []
        reached = [*(x for x in reached if not isinstance(x, set)), *_read_by_rules()]
        before = [(x, state_of(x)) for x in reached]
        found = call(*args, **kwargs)
        arrays.check("in code that cannot be followed", _FIXES, place)
        for x, held in before:
            if not is_as_it_was(x, held):
                raise changed_out_of_sight(x, place)
        return found

    return watch


def _read_by_rules() -> list[Any]:
    """The changeable values, captured or global, that pullbacks of users' rules may read when called."""
    found = everything_held((back for _, back in asked_again()), _beside_pullback, (type, types.ModuleType))
    return [x for x in found if isinstance(x, (*CHANGING, np.ndarray)) or is_author_class(type(x))]


def _beside_pullback(x: Any) -> Iterable[Any]:
    if isinstance(x, types.FunctionType):
        return [] if is_library(x) else [part for _, part in read_outside(x)]
    return () if made_by_python(type(x)) and is_of_library(type(x)) else parts_inside(x)


def watched_later(x: Any, place: Place | None) -> Any:
    """The function `x`, which an iterator will call; a watched version of it if it may write to arrays."""
    if not isinstance(x, (types.FunctionType, types.MethodType)) or not _may_be_written((x,)):
        return x
    return watched(x, place, (x,))


_FIXES = ("change it in the function itself", "return the value, and change it there")


def _may_be_written(given: tuple[Any, ...]) -> list[Any]:
    """The arrays that the author's functions among these may write to."""
    called = (getattr(x, "pyfunc", x) for x in given)  # `np.vectorize` has a `pyfunc`
    authors = (x for x in called if is_authors_function(getattr(x, "__func__", x)))
    return [array for x in authors if reached_by((x,)).writes for array in arrays_in_reach(x)]


def changed_out_of_sight(x: Any, place: Place | None = None) -> MutationError:
    """The error for a container that has a derivative and was changed by code that is not followed."""
    name = "captured variable" if isinstance(x, (types.CellType, types.FunctionType)) else type(x).__name__
    return MutationError(
        f"{An(name)} was changed in code that cannot be followed",
        place=place,
        fixes=_FIXES,
        read="limitations#array-mutation",
    )


# --- what a function reads besides its arguments ------------------------------------------------------------


class Outside:
    """What the code of a function reads now besides its arguments: globals, captured variables, and those
    attributes of them that the code names. Arrays are compared by fingerprint.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._states = {key: (x, _held_outside(x)) for key, x in _read_by(function).items()}

    def has_changed(self) -> bool:
        """Whether any of these values is different now."""
        return any(self._is_new(key, x) for key, x in _read_by(self._function).items())

    def _is_new(self, key: Any, x: Any) -> bool:
        if key not in self._states:
            return False  # it was not there before
        then, state = self._states[key]
        if type(x) in _NUMBERS:
            return type(then) is not type(x) or repr(then) != repr(x)  # equal for nan, not for the two zeros
        return then is not x or state != _held_outside(x)


_NUMBERS = (float, int, complex, bool, str, bytes)
_MOST_READ = 2000


def _held_outside(x: Any) -> Any:
    """The state of a random generator or the fingerprint of an array, to compare later; else None."""
    if isinstance(x, (np.random.Generator, np.random.RandomState, random.Random)):
        return pickle.dumps(x)
    return array_fingerprint(x) if isinstance(x, np.ndarray) else None


def _read_by(function: Any) -> dict[Any, Any]:
    """The values that a function's code can read, by the identity of the holder and the key in it."""
    found: dict[Any, Any] = {}
    held = walked((function,))[0]
    names = {name for f in held if isinstance(f, types.FunctionType) for name in text_of(f.__code__).read}

    def read_in(x: Any) -> list[Any]:
        read = _parts_read(x, names)
        found.update(((id(x), key), part) for key, part in read)
        return [part for _, part in read]

    for _ in everything_held([function], read_in, stops=_is_unread):
        if len(found) >= _MOST_READ:
            break
    return found


def _is_unread(x: Any) -> bool:
    """Whether nothing is read through a value, or its contents are tracked by identity."""
    return is_own(x) or (isinstance(x, LEAVES) and not isinstance(x, _NAMESPACES))


_NAMESPACES = (type, types.ModuleType)


def _parts_read(x: Any, names: set[str]) -> list[tuple[Any, Any]]:
    """The parts of a value that code may read, by key; of its attributes, only those in `names`."""
    if isinstance(x, types.FunctionType):
        return list(read_outside(x)) if is_authors_function(x) else []
    if isinstance(x, (list, tuple, deque, dict)):
        return [("len", len(x)), *(x.items() if isinstance(x, dict) else enumerate(x))]
    if callable(x) and (held := list(inside(x))):
        return list(enumerate(held))
    if isinstance(x, _NAMESPACES):
        module = x.__name__ if isinstance(x, types.ModuleType) else x.__module__
        known = {} if module.partition(".")[0] in OF_LIBRARIES else vars(x)
        return [(name, known[name]) for name in names & known.keys()]
    return [(name, part) for name, part in own_attributes(x).items() if name in names]
