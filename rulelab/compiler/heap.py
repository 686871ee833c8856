"""Lists, dicts, objects and variables that are changed: which may be, and their cotangents by identity.

A container made inside a differentiated function may be reached under many names, also by the functions it
is handed to. Its cotangent belongs to the object: while a reverse sweep runs, the cotangents of its parts
are in a table, by the identity of the container and the key of the part. The reverse sweep undoes what
happened, latest first, so at each step the table describes the container as it was then: undoing a write
takes the cotangent of what was written, undoing a removal puts the later ones back in place.
"""

from __future__ import annotations

import copy
import operator
import sys
import threading
import types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import MutationError, NotDifferentiableError, Place
from ..tangents.structural import Tangent, class_of, entries_of, is_sequence, make, parts
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero
from . import ir
from .support import NO, ZERO, Items, Taken, add, gather, settle

Key = Any
_CELL = "cell_contents"
FACTORY = object()  # the key of a defaultdict's factory, which may capture what varies


class _Sweep:
    """What one forward sweep made, and the cotangents that one reverse sweep has found for it."""

    __slots__ = ("bars", "changed", "clock", "factories", "followed", "made", "numbers", "oldest", "settled")

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}  # by identity; held, so that an identity is not used again
        self.numbers: dict[int, int] = {}  # in the order in which they were made
        self.oldest = sys.maxsize  # the number of the oldest one changed since somebody asked
        self.clock = 0  # counts the changes
        self.changed: dict[int, int] = {}  # when each was changed last, the latest at the end
        self.settled: dict[int, int] = {}  # when the call of an iterator ended that made it
        self.followed: set[int] = set()  # those whose changes are recorded
        self.bars: dict[int, dict[Key, Any]] = {}
        self.factories: dict[int, Callable[[], Any]] = {}  # what makes the entries of a defaultdict


_EMPTY = _Sweep()  # stands for a sweep that made nothing yet: never written to


class _State(threading.local):
    """The sweep of this thread; sweeps nest, and none meets another thread's."""

    sweep: _Sweep | None = None


_STATE = _State()


def enter() -> _Sweep | None:
    """Begin a sweep of its own: containers made outside of it may not be changed in it. Give the outer one
    to `leave`.
    """
    outer = _STATE.sweep
    _STATE.sweep = _EMPTY
    return outer


def leave(outer: _Sweep | None) -> None:
    """Go back to the sweep that `enter` gave."""
    _STATE.sweep = outer


def _written() -> _Sweep:
    sweep = _STATE.sweep
    if sweep is None or sweep is _EMPTY:
        sweep = _STATE.sweep = _Sweep()
    return sweep


def effectful(back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback, marked as one that must be called even where nothing flowed to the result: it changes the
    table.
    """
    back.changes = True  # type: ignore[attr-defined]
    return back


def handing_on(y: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback of a function that gives `y` as a callee gave it, marked if that may be a container."""
    return back if isinstance(y, _LEAVES) else effectful(back)


def like(inner: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`back`, which calls the pullback `inner`, marked as that is."""
    return effectful(back) if getattr(inner, "changes", False) else back


def is_idle(back: Any, y_bar: Any) -> bool:
    """Whether a pullback need not be asked: nothing flowed to the result, and it does no more than answer."""
    return (y_bar is ZERO or y_bar is NO) and not getattr(back, "changes", False)


# --- which containers may be changed ------------------------------------------------------------------------


def own(x: Any, followed: bool) -> Any:
    """Note that `x` was made in this sweep; `followed` says that its changes are recorded."""
    if _STATE.sweep is not None:
        sweep = _written()
        sweep.made[id(x)] = x
        sweep.numbers[id(x)] = len(sweep.numbers)
        if followed:
            sweep.followed.add(id(x))
    return x


def is_own(x: Any) -> bool:
    """Whether a container was made in this sweep, so that its old contents are known."""
    sweep = _STATE.sweep
    return sweep is not None and sweep is not _EMPTY and sweep.made.get(id(x)) is x


def is_followed(x: Any) -> bool:
    """Whether the changes of a container are recorded."""
    sweep = _STATE.sweep
    return sweep is not None and id(x) in sweep.followed and sweep.made.get(id(x)) is x


def any_made() -> bool:
    """Whether any container was made in this sweep."""
    sweep = _STATE.sweep
    return sweep is not None and sweep is not _EMPTY


def may_change_unseen(x: Any) -> bool:
    """Whether a container of this sweep may be changed without a record."""
    return is_own(x) and id(x) not in _written().followed


def _note_change(x: Any) -> None:
    sweep = _written()
    number = sweep.numbers.get(id(x), 0)
    if number < sweep.oldest:
        sweep.oldest = number
    sweep.clock += 1
    sweep.changed.pop(id(x), None)
    sweep.changed[id(x)] = sweep.clock


def now() -> tuple[int, int]:
    """A point in the forward sweep, for `any_changed`: how many changes and containers there were."""
    sweep = _STATE.sweep
    return (sweep.clock, len(sweep.numbers)) if sweep is not None else (0, 0)


def any_changed(point: tuple[int, int], *holders: Any) -> bool:
    """Whether a container that is, or is in, one of these was changed after that point; of one made later,
    in a call of an iterator, after that call.
    """
    clock, count = point
    if now()[0] == clock:
        return False
    sweep, found = _written(), list[Any]()
    for x in holders:
        _containers(outline(getattr(x, "__self__", x)), found)
    return any(
        sweep.changed.get(id(x), 0) > (max(clock, sweep.settled.get(id(x), 0)) if later else clock)
        for x in found
        for later in [sweep.numbers[id(x)] >= count]
    )


def settle_made(point: tuple[int, int]) -> None:
    """What was made since that point is from now on as the call of an iterator has left it."""
    clock, count = point
    sweep = _STATE.sweep
    if sweep is None:
        return
    for key in reversed(sweep.changed):
        if sweep.changed[key] <= clock:
            return
        if sweep.numbers.get(key, 0) >= count:
            sweep.settled[key] = sweep.clock


def mark() -> tuple[int, int]:
    """A point in the forward sweep, for `changed_since`."""
    sweep = _STATE.sweep
    if sweep is None:
        return 0, sys.maxsize
    found = len(sweep.numbers), sweep.oldest
    if sweep is not _EMPTY:
        sweep.oldest = sys.maxsize
    return found


def changed_since(point: tuple[int, int]) -> bool:
    """Whether a container that was there at that point has been changed since."""
    sweep = _STATE.sweep
    if sweep is None or sweep is _EMPTY:
        return False
    count, oldest = point
    changed = sweep.oldest < count
    sweep.oldest = min(sweep.oldest, oldest)
    return changed


def made_by(x: Any, make: Callable[[], Any]) -> None:
    """Note what makes the missing entries of the defaultdict `x`: `make()` gives `(entry, back)`."""
    _written().factories[id(x)] = make


def publish(x: Any) -> Any:
    """A list or dict is complete and may be handed on; gives its length, for `collect`.

    One that has been noted before, where a call made it, may have grown unseen since.
    """
    if type(x) is not list and type(x) is not dict or may_change_unseen(x):
        return None
    if not is_own(x):
        own(x, True)
    return len(x)


def publish_plain(x: Any) -> None:
    """As `publish`, where no cotangent is wanted."""
    if (type(x) is list or type(x) is dict or type(x) is set) and not is_own(x):
        own(x, False)


def hand_on(y: Any) -> list[Any]:
    """The containers of this sweep in the result of a function that were constant in it: their changes are
    recorded from now on.
    """
    found: list[Any] = []
    _containers(outline(y), found)
    fresh = [x for x in found if may_change_unseen(x)]
    if fresh:
        _written().followed.update(map(id, fresh))
    return fresh


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


def made_plain(x: Any) -> Any:
    """A list or dict that an operation has just made, where no cotangent is wanted."""
    return own(x, False) if type(x) is list or type(x) is dict or type(x) is set else x


def collect(x: Any, x_bar: Any, size: int | None) -> Any:
    """The cotangent of a container at the point where it was published, when it had `size` parts."""
    if size is None:
        return x_bar
    found = take_all(x)
    if not found:
        return x_bar
    if type(x) is not list:
        return add(x_bar, make(dict, found))
    items = Items(size)
    items.update(found)
    return add(items, x_bar)


# --- the table of cotangents --------------------------------------------------------------------------------


def _bars_of(x: Any) -> dict[Key, Any]:
    return _written().bars.setdefault(id(x), {})


def deposit(x: Any, key: Key, x_bar: Any) -> None:
    """Add to the cotangent of the part `key` of the container `x`."""
    if x_bar is ZERO or x_bar is NO:
        return
    bars = _bars_of(x)
    x_bar = settle(unthunk(x_bar))
    bars[key] = add(bars[key], x_bar) if key in bars else x_bar


def take(x: Any, key: Key) -> Any:
    """The cotangent of the part `key`, which was written here: before, the part was another."""
    bars = _written().bars.get(id(x))
    return bars.pop(key, ZERO) if bars else ZERO


def take_all(x: Any) -> dict[Key, Any]:
    """The cotangents of all parts, where the container was made."""
    return _written().bars.pop(id(x), {})


def any_cotangent() -> bool:
    """Whether any container has a cotangent other than zero."""
    return any(
        not isinstance(bar, AbstractZero) and not (_is_plain(bar) and not np.any(bar))
        for bars in _written().bars.values()
        for bar in bars.values()
    )


def _is_plain(bar: Any) -> bool:
    return isinstance(bar, (int, float, complex, np.ndarray, np.generic))


# --- cotangents of structures that hold containers ----------------------------------------------------------

Outline = tuple[Any, dict[Key, Any]]  # (the container if it is of this sweep, the outlines of its parts)
_LEAVES = (int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, type, types.ModuleType)


def outline(x: Any, seen: frozenset[int] = frozenset()) -> Outline | None:
    """Where in a structure containers of this sweep are; None if there are none."""
    if isinstance(x, _LEAVES) or not any_made() or id(x) in seen:
        return None
    if isinstance(x, types.BuiltinFunctionType | types.MethodType | range | slice):
        return None
    seen = seen | {id(x)}
    if isinstance(x, types.FunctionType):
        held = {name: where for name, part in _held(x) if (where := _outline_held(part, seen)) is not None}
        return (None, held) if held else None
    inner = {}
    for key, part in _parts(x):
        found = outline(part, seen)
        if found is not None:
            inner[key] = found
    mine = is_own(x)
    return (x if mine else None, inner) if mine or inner else None


def _outline_held(part: Any, seen: frozenset[int]) -> Outline | None:
    """The outline of what a function holds under a name: a variable that is rebound, or a value."""
    if not isinstance(part, types.CellType):
        return outline(part, seen)
    inside = None if contents(part) is ir.UNBOUND else outline(contents(part), seen)
    return (part, {_CELL: inside} if inside is not None else {}) if is_own(part) else inside


def _held(function: types.FunctionType) -> Iterable[tuple[str, Any]]:
    """What a function holds: the cells of what it captures, and its defaults, by name."""
    code, defaults = function.__code__, function.__defaults__ or ()
    yield from zip(code.co_freevars, function.__closure__ or (), strict=True)
    yield from zip(
        code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True
    )
    yield from (function.__kwdefaults__ or {}).items()


def contents(cell: types.CellType) -> Any:
    """What a cell holds, or UNBOUND."""
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return ir.UNBOUND


def _parts(x: Any) -> Iterable[tuple[Key, Any]]:
    if type(x) in (list, tuple, deque):
        return () if _QUICK.issuperset(map(type, x)) else enumerate(x)
    return enumerate(x) if isinstance(x, deque) else parts(x).items()


_QUICK = frozenset({float, int, np.ndarray, np.float64, str, bool})


def hand_in(where: Outline | None, x_bar: Any) -> Any:
    """Put what a structural cotangent says of containers of this sweep into the table; what remains."""
    if where is None or x_bar is None or isinstance(x_bar, AbstractZero):
        return x_bar
    x_bar = settle(unthunk(x_bar))
    if isinstance(x_bar, AbstractZero):
        return x_bar
    owner, inner = where
    if isinstance(owner, types.CellType):
        deposit(owner, _CELL, hand_in(inner.get(_CELL), x_bar))
        return ZERO
    entries = _entries(x_bar)
    for key, bar in entries.items():
        rest = hand_in(inner.get(key), NO if bar is None else bar)
        entries[key] = rest
        if owner is not None:
            deposit(owner, key, rest)
    if owner is not None:
        return ZERO
    kind = class_of(x_bar) if isinstance(x_bar, Tangent) else type(x_bar)
    return make(kind, entries, len(x_bar) if is_sequence(kind) else None)


def _entries(x_bar: Any) -> dict[Key, Any]:
    if isinstance(x_bar, Tangent):
        return dict(entries_of(x_bar))
    return dict(x_bar) if isinstance(x_bar, dict) else dict(enumerate(x_bar))


def snapshot(x: Any) -> Any:
    """A container of this sweep as it is now, with the very parts that it has."""
    kind = type(x)
    return kind(x) if kind is list or kind is dict else x


class _Snapshots:
    """Containers of this sweep as they are now, to all depths, for a rule that looks at its arguments again
    later; what is reached twice is copied once.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # identity -> (the original, its copy)

    def of(self, x: Any) -> Any:
        kind = type(x)
        if isinstance(x, _LEAVES):
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
        """The function as one that captures copies."""
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
        y: Any
        if isinstance(x, (list, dict, deque, set)):
            y = x.copy()
            self._made[id(x)] = x, y
            for key, part in () if isinstance(x, set) else _parts(x):
                y[key] = self.of(part)
        else:
            y = type(x).__new__(type(x))  # type: ignore[call-overload]
            self._made[id(x)] = x, y
            for name, part in parts(x).items():
                object.__setattr__(y, name, self.of(part))
        return y

    def refuse_changed(self, name: str) -> None:
        """MutationError if a rule has written to the containers that it was given."""
        for x, y in self._made.values():
            if not self._is_as_copied(x, y):
                raise MutationError(
                    f"The rule of {name} changes its argument, a {type(x).__name__} that others may hold",
                    fixes=(
                        f"let the rule and {name} return what is new",
                        f"differentiate {name} without a rule",
                    ),
                    read="limitations#array-mutation",
                )

    def _is_as_copied(self, x: Any, y: Any) -> bool:
        if isinstance(x, set):
            return x == y
        then, now = map(_all_parts, (x, y))
        return then.keys() == now.keys() and all(
            now[key] is part
            or isinstance(part, tuple)
            or now[key] is self._made.get(id(part), (None, now))[1]
            for key, part in then.items()
        )

    def refuse_alias(self, y: Any, name: str, depth: int = 3) -> None:
        """NotDifferentiableError if the result of a rule is, or holds, a container that it was given."""
        if isinstance(y, _LEAVES):
            return
        if any(y is copied for _, copied in self._made.values()):
            raise NotDifferentiableError(
                f"The rule of {name} gives back its argument, a {type(y).__name__} that may change later",
                fixes=("let it return a copy",),
                read="limitations#array-mutation",
            )
        if depth and self._made and not callable(y):
            for _, part in _parts(y):
                self.refuse_alias(part, name, depth - 1)


def _whole(y: Any) -> Outline | None:
    """For a part that is a container of this sweep itself: where what is said of it as a whole goes."""
    return (y, {}) if is_own(y) else None


def _first_layer(x: Any) -> Outline | None:
    """The outline of an argument whose items a pass may speak of by position."""
    if type(x) is tuple:
        inner = {key: where for key, part in enumerate(x) if (where := _first_layer(part)) is not None}
        return (None, inner) if inner else None
    return _whole(x) if type(x) is list else None


def _held_lists(function: types.FunctionType) -> Outline | None:
    """The outline of the lists that a function captures or has as defaults."""
    if not (function.__closure__ or function.__defaults__ or function.__kwdefaults__):
        return None
    inner: dict[Key, Any] = {}
    for name, part in _held(function):
        where = _first_layer(contents(part) if isinstance(part, types.CellType) else part)
        if where is not None:
            inner[name] = where
    return (None, inner) if inner else None


def through_pass(
    forward: Callable[..., Any], function: types.FunctionType, args: tuple[Any, ...]
) -> Callable[..., Any]:
    """The forward sweep of a pass where lists of this sweep are captured or among the arguments: what the
    pullback says of them as wholes goes into the table.
    """
    if not any_made():
        return forward
    held = _held_lists(function)
    if held is None and not any(_first_layer(x) is not None for x in args):
        return forward

    def call(*args: Any, **kwargs: Any) -> Any:
        outlines = list(map(_first_layer, (*args, *kwargs.values())))
        y, pullback = forward(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return (hand_in(held, got[0]), *map(hand_in, outlines, tuple(got)[1:]))

        return y, like(pullback, back)

    return call


def _all_parts(x: Any) -> dict[Key, Any]:
    if isinstance(x, types.FunctionType):
        return {k: contents(v) if isinstance(v, types.CellType) else v for k, v in _held(x)}
    return dict(enumerate(x) if isinstance(x, (list, deque)) else parts(x))


def through_rule(
    handler: Callable[..., Any], copied: str | None, adopts: bool, name: str = ""
) -> Callable[..., Any]:
    """A handler by rule for arguments that may be containers of this sweep: what the rule says of them goes
    into the table.

    The rule gets copies, for it may look at its arguments again when they have changed: of "all" there is in
    them, of the arguments alone where the result holds their very "parts", of nothing (None) where the result
    is one of them or looks into them later. `adopts` says that the result is a new container, which may be
    changed from now on; `name` is that of the function if the rule is a user's.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        outlines = [outline(x) for x in (*args, *kwargs.values())] if any_made() else []
        if copied is not None and any(outlines):
            copies = _Snapshots()
            copy_of = snapshot if copied == "parts" else copies.of
            args = tuple(map(copy_of, args))
            kwargs = {key: copy_of(x) for key, x in kwargs.items()}
        y, pullback = handler(*args, **kwargs)
        if name and any(outlines):
            copies.refuse_changed(name)
            copies.refuse_alias(y, name)
        if adopts and not is_own(y) and isinstance(y, (list, dict)):
            y = y.copy()  # the rule may look at its own later
        size = publish(y) if adopts else None
        if size is None and not any(outlines):
            return y, pullback

        def back(y_bar: Any) -> Any:
            y_bar = settle(collect(y, y_bar, size))
            if is_idle(pullback, y_bar):
                return NO
            got = pullback(y_bar)
            if got is NO or not any(outlines):
                return got
            return (got[0], *(hand_in(where, x_bar) for where, x_bar in zip(outlines, tuple(got)[1:])))

        return y, effectful(back) if size is not None else like(pullback, back)

    return call


# --- lists and deques ---------------------------------------------------------------------------------------


def _where(xs: Any, index: Any) -> int:
    return index + len(xs) if index < 0 else int(index)


def read_item(xs: Any, index: Any) -> Any:
    """`xs[index]` of a list, dict or deque of this sweep."""
    if isinstance(xs, dict):
        return _read_entry(xs, index)
    if isinstance(index, slice):
        return _read_items(xs, index)
    y = xs[index]
    key, where = _where(xs, index), _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(xs, key, hand_in(where, y_bar))
        return _NOTHING

    return y, back


_NOTHING = (NO, ZERO, NO)


def _read_items(xs: Any, index: slice) -> Any:
    positions = range(len(xs))[index]
    ys = own(xs[index], True)

    def back(y_bar: Any) -> Any:
        for key, part in _parts_taken(ys, y_bar).items():
            deposit(xs, positions[key], part)
        return _NOTHING

    return ys, effectful(back)


def _parts_taken(ys: Any, y_bar: Any) -> dict[Key, Any]:
    """The cotangents of the parts of a new container, from the table and from a cotangent of the whole."""
    if not isinstance(y_bar, AbstractZero):
        for key, part in _entries(settle(unthunk(y_bar))).items():
            deposit(ys, key, part)
    return take_all(ys)


def append(xs: Any, item: Any) -> Any:
    """`xs.append(item)`"""
    n = len(xs)
    xs.append(item)
    _note_change(xs)
    return None, effectful(lambda _: (NO, ZERO, take(xs, n)))


def write_item(xs: Any, index: Any, item: Any) -> Any:
    """`xs[index] = item`"""
    _note_change(xs)
    if isinstance(xs, dict):
        xs[index] = item
        return None, effectful(lambda _: (NO, ZERO, NO, take(xs, index)))
    if isinstance(index, slice):
        items = Given(item)
        back = _rearranged(xs, lambda ys, new: ys.__setitem__(index, new), items)
        return None, effectful(lambda _: (NO, ZERO, NO, back(_)))
    xs[index] = item
    key = _where(xs, index)
    return None, effectful(lambda _: (NO, ZERO, NO, take(xs, key)))


def delete_item(xs: Any, index: Any) -> Any:
    """`del xs[index]`"""
    _note_change(xs)
    if isinstance(xs, dict):
        del xs[index]
        return None, effectful(lambda _: _NOTHING)
    back = _rearranged(xs, lambda ys, _: ys.__delitem__(index), ())
    return None, effectful(lambda _: (back(_), _NOTHING)[1])


def pop(xs: Any, *index: Any) -> Any:
    """`xs.pop(index)` of a list"""
    key = _where(xs, index[0]) if index else len(xs) - 1
    y = xs.pop(*index)
    _note_change(xs)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        bars = _bars_of(xs)
        for later in sorted((k for k in bars if k >= key), reverse=True):
            bars[later + 1] = bars.pop(later)
        deposit(xs, key, hand_in(where, y_bar))
        return (NO, ZERO, NO)[: 2 + len(index)]

    return y, effectful(back)


def popleft(xs: Any) -> Any:
    """`xs.popleft()` of a deque"""
    y = xs[0]
    where = _whole(y)
    put_back = _rearranged(xs, lambda ys, _: ys.popleft(), ())

    def back(y_bar: Any) -> Any:
        put_back(ZERO)
        deposit(xs, 0, hand_in(where, y_bar))
        return NO, ZERO

    return y, effectful(back)


def _mutator(change: Callable[..., Any], brings: int | None = None, many: bool = False) -> Callable[..., Any]:
    """A method that moves the items of a list: `change(list, *args)` done on it and on its positions.

    `brings` is the argument that is put in, or whose items are, if `many`.
    """

    def method(xs: Any, *args: Any) -> Any:
        new = args[brings] if brings is not None and len(args) > brings else None
        items = Given(new) if many else ((new,) if brings is not None else ())

        def act(ys: Any, put: list[Any]) -> None:
            given = list(args)
            if brings is not None and len(args) > brings:
                given[brings] = put if many else put[0]
            change(ys, *given)

        put_back = _rearranged(xs, act, items)

        def back(_: Any) -> Any:
            found = put_back(ZERO)
            if not many:
                found = found[0] if brings is not None and len(found) else ZERO
            return (NO, ZERO, *(found if k == brings else NO for k in range(len(args))))

        return None, effectful(back)

    return method


class Given:
    """Items that are put into a list, with the way their cotangent goes back."""

    __slots__ = ("items", "outline", "source")

    def __init__(self, source: Any) -> None:
        self.source = source
        self.items = list(source)
        self.outline = outline(source)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Any:
        return iter(self.items)

    def cotangent(self, bars: list[Any]) -> Any:
        kind = type(self.source)
        if kind in (list, tuple, deque) or isinstance(self.source, (list, tuple)):
            found: Any = make(kind if kind is not deque else list, dict(enumerate(bars)), len(bars))
            return hand_in(self.outline, found)
        if isinstance(self.source, np.ndarray):
            return gather(self.source, bars[::-1])
        return nothing_lost(self.source, self.items, bars)


def nothing_lost(x: Any, items: Iterable[Any], bars: Iterable[Any]) -> Any:
    """NoTangent for what something without positions handed out, if its items cannot lose anything."""
    for item, bar in zip(items, bars):
        if bar is not None and not isinstance(unthunk(bar), AbstractZero) and not may_be_in_set(item):
            raise NotDifferentiableError(
                f"The items of a {type(x).__name__} cannot be differentiated",
                fixes=("make a list of them first",),
                read="limitations#iteration",
            )
    return NO


def _rearranged(xs: Any, act: Callable[[Any, list[Any]], Any], new: Any) -> Callable[[Any], Any]:
    """Do `act(xs, items)`; the pullback moves the cotangents to where the items were, and gives those of the
    new ones.
    """
    count = len(new)
    positions: Any = list(range(len(xs)))
    if isinstance(xs, deque):
        positions = deque(positions, xs.maxlen)
    act(xs, list(new))
    _note_change(xs)
    act(positions, [~k for k in range(count)])

    def back(_: Any) -> Any:
        bars = take_all(xs)
        added = [ZERO] * count
        for place, origin in enumerate(positions):
            if place in bars:
                if origin >= 0:
                    deposit(xs, origin, bars[place])
                else:
                    added[~origin] = bars[place]
        return new.cotangent(added) if isinstance(new, Given) else added

    return back


def remove(xs: Any, item: Any) -> Any:
    """`xs.remove(item)`"""
    key = xs.index(item)
    _, back = delete_item(xs, key)
    return None, back


def sort(xs: list[Any], *, key: Any = None, reverse: bool = False) -> Any:
    """`xs.sort(key=…, reverse=…)`, by the permutation that sorts it"""
    ranks = list(xs) if key is None else watched(lambda: [key(x) for x in xs], None)()
    order = sorted(range(len(xs)), key=ranks.__getitem__, reverse=reverse)
    back = _rearranged(xs, lambda ys, _: ys.__setitem__(slice(None), [ys[k] for k in order]), ())
    return None, effectful(lambda _: (back(_), (NO, ZERO, NO, NO))[1])


def watched(call: Callable[..., Any], place: Place | None) -> Callable[..., Any]:
    """A call that runs functions of the author's out of sight, refused if they change what is followed."""

    def watch(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        sweep = _STATE.sweep
        if sweep is None or not sweep.made:
            return call(*args, **kwargs)
        reached: list[Any] = []  # also those not followed: what varies could be put there
        for x in (call, *args, *kwargs.values()):
            _containers(outline(getattr(x, "__self__", x)), reached)
        reached += [sweep.made[number] for number in sweep.followed]
        before = [(x, _print_of(x)) for x in reached if not isinstance(x, set)]
        found = call(*args, **kwargs)
        for x, seen in before:
            if _print_of(x) != seen:
                raise MutationError(
                    f"A {type(x).__name__} was changed where that cannot be followed",
                    place=place,
                    fixes=("change it in the function itself", "return the value, and change it there"),
                    read="limitations#array-mutation",
                )
        return found

    return watch


def _print_of(x: Any) -> Any:
    """What tells one state of a container from another: which objects it holds, and where."""
    if isinstance(x, types.CellType):
        return id(contents(x))
    if isinstance(x, (list, deque)):
        return list(map(id, x))
    return [(key, id(part)) for key, part in (x if isinstance(x, dict) else parts(x)).items()]


def extend_in_place(xs: Any, items: Any) -> Any:
    """`xs += items` of a list of this sweep: the same list, longer."""
    _, back = _EXTEND(xs, items)
    return xs, effectful(lambda y_bar: (hand_in((xs, {}), y_bar), back(y_bar))[1])


def repeat_in_place(xs: Any, n: Any) -> Any:
    """`xs *= n` of a list of this sweep: the same list, repeated."""
    back = _rearranged(xs, lambda ys, _: ys.__imul__(n), ())
    return xs, effectful(lambda y_bar: (hand_in((xs, {}), y_bar), back(ZERO), _NOTHING)[2])


def update_in_place(d: Any, other: Any) -> Any:
    """`d |= other` of a dict of this sweep: the same dict, changed."""
    _, back = update(d, other)
    return d, effectful(lambda y_bar: (hand_in((d, {}), y_bar), back(y_bar))[1])


def has_items(x: Any) -> bool:
    """Whether the items of `x` go by index or key as those of Python's own containers do."""
    return isinstance(x, (list, dict, deque))


_EXTEND = _mutator(lambda xs, items: xs.extend(items), brings=0, many=True)


# --- dicts --------------------------------------------------------------------------------------------------


def _read_entry(d: Any, key: Key) -> Any:
    if isinstance(d, defaultdict) and key not in d:
        return _make_entry(d, key)
    y = d[key]
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(d, key, hand_in(where, y_bar))
        return _NOTHING

    return y, back


def _make_entry(d: defaultdict[Any, Any], key: Key) -> Any:
    """`d[key]` where the factory of a defaultdict makes the entry."""
    make = _written().factories.get(id(d))
    if make is None:
        y, made = d[key], lambda y_bar: _NOTHING
        if type(y) in (list, dict):
            own(y, True)
    else:
        y, made = make()
        d[key] = y
    _note_change(d)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(d, key, hand_in(where, y_bar))
        y_bar = take(d, key)
        if not is_idle(made, y_bar):
            deposit(d, FACTORY, made(y_bar)[0])
        return _NOTHING

    return y, effectful(back)


def get(d: Any, key: Key, *default: Any) -> Any:
    """`d.get(key, default)`"""
    if key in d:
        y = d[key]
        where = _whole(y)

        def back(y_bar: Any) -> Any:
            deposit(d, key, hand_in(where, y_bar))
            return (NO, ZERO, NO, *(ZERO for _ in default))

        return y, back
    return (default[0] if default else None), lambda y_bar: (NO, ZERO, NO, *(y_bar for _ in default))


def pop_entry(d: Any, key: Key, *default: Any) -> Any:
    """`d.pop(key, default)` of a dict"""
    if key not in d and default:
        return default[0], lambda y_bar: (NO, ZERO, NO, y_bar)
    y = d.pop(key)
    _note_change(d)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(d, key, hand_in(where, y_bar))
        return (NO, ZERO, NO, *(ZERO for _ in default))

    return y, effectful(back)


def popitem(d: dict[Any, Any]) -> Any:
    """`d.popitem()`"""
    key, y = d.popitem()
    _note_change(d)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        if not isinstance(y_bar, AbstractZero):
            deposit(d, key, hand_in(where, _entries(settle(unthunk(y_bar))).get(1, ZERO)))
        return NO, ZERO

    return (key, y), effectful(back)


def setdefault(d: Any, key: Key, default: Any = None) -> Any:
    """`d.setdefault(key, default)`"""
    if key in d:
        y = d[key]
        where = _whole(y)

        def present(y_bar: Any) -> Any:
            deposit(d, key, hand_in(where, y_bar))
            return NO, ZERO, NO, ZERO

        return y, present
    d[key] = default
    _note_change(d)
    where = _whole(default)

    def back(y_bar: Any) -> Any:
        deposit(d, key, hand_in(where, y_bar))
        return NO, ZERO, NO, take(d, key)

    return default, effectful(back)


def update(d: Any, *others: Any, **more: Any) -> Any:
    """`d.update(other, **more)`, with a dict or with pairs"""
    other = others[0] if others else {}
    is_dict = isinstance(other, dict)
    given = Given(other.values() if is_dict else other)
    keys = list(other) if is_dict else [key for key, _ in given.items]
    where = outline(other)
    d.update(dict(zip(keys, given.items)) if is_dict else given.items)
    d.update(more)
    _note_change(d)

    def back(_: Any) -> Any:
        words = [take(d, key) for key in more]
        found = [take(d, key) for key in reversed(keys)][::-1]  # of equal keys the last one counts
        if is_dict:
            bar = hand_in(where, make(dict, dict(zip(keys, found))))
        else:
            pairs = [make(type(pair), {1: x_bar}, 2) for pair, x_bar in zip(given.items, found)]
            bar = given.cotangent(pairs)
        return (NO, ZERO, *((bar,) if others else ()), *words)

    return None, effectful(back)


def clear(xs: Any) -> Any:
    """`xs.clear()`"""
    xs.clear()
    _note_change(xs)
    return None, effectful(lambda _: (NO, ZERO))


# --- objects ------------------------------------------------------------------------------------------------


def read_attribute(o: Any, name: str) -> Any:
    """`o.name` of an object of this sweep."""
    y = getattr(o, name)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(o, name, hand_in(where, y_bar))
        return NO, ZERO

    return y, back


def write_attribute(o: Any, name: str, value: Any) -> Any:
    """`o.name = value`"""
    setattr(o, name, value)
    _note_change(o)
    return None, effectful(lambda _: (NO, ZERO, NO, take(o, name)))


def delete_attribute(o: Any, name: str, _: Any = None) -> Any:
    """`del o.name`"""
    delattr(o, name)
    _note_change(o)
    return None, effectful(lambda _: (NO, ZERO, NO, NO))


# --- variables that nested functions share ------------------------------------------------------------------


def make_cell(x: Any) -> Any:
    """A variable that is rebound while nested functions see it, with its first value."""
    cell = types.CellType() if x is ir.UNBOUND else types.CellType(x)
    own(cell, True)
    return cell, effectful(lambda _: (NO, take(cell, _CELL)))


def plain_cell(x: Any) -> types.CellType:
    """As `make_cell`, where no cotangent is wanted."""
    return own(types.CellType() if x is ir.UNBOUND else types.CellType(x), False)


def cell_value(cell: types.CellType, name: str, free: bool) -> Any:
    """The value of a shared variable, or Python's own error where it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        missing = f"variable '{name}' where it is not associated with a value"
        if free:
            raise NameError(f"cannot access free {missing} in enclosing scope") from None
        raise UnboundLocalError(f"cannot access local {missing}") from None


def read_cell(cell: types.CellType, name: str, free: bool) -> Any:
    """The value of a shared variable and its pullback."""
    y = cell_value(cell, name, free)
    where = _whole(y)

    def back(y_bar: Any) -> Any:
        deposit(cell, _CELL, hand_in(where, y_bar))
        return NO, ZERO

    return y, back


def write_cell(cell: types.CellType, name: str, value: Any) -> Any:
    """The assignment to a shared variable."""
    if value is ir.UNBOUND:
        del cell.cell_contents
    else:
        cell.cell_contents = value
    _note_change(cell)
    return None, effectful(lambda _: (NO, ZERO, NO, take(cell, _CELL)))


def set_attribute(o: Any, name: str, value: Any) -> Any:
    """`object.__setattr__(o, name, value)`, as `__post_init__` of a frozen class calls it"""
    object.__setattr__(o, name, value)
    return None, effectful(lambda _: (NO, ZERO, NO, take(o, name)))


# What stands for a method or operator whose first argument is a container of this sweep.
_LIST: dict[Any, Callable[..., Any]] = {
    list.append: append,
    list.pop: pop,
    list.insert: _mutator(lambda xs, k, item: xs.insert(k, item), brings=1),
    list.extend: _EXTEND,
    list.remove: remove,
    list.clear: clear,
    list.reverse: _mutator(lambda xs: xs.reverse()),
    list.sort: sort,
    list.__setitem__: write_item,
    list.__delitem__: delete_item,
    list.__getitem__: read_item,
    deque.append: _mutator(lambda xs, item: xs.append(item), brings=0),
    deque.appendleft: _mutator(lambda xs, item: xs.appendleft(item), brings=0),
    deque.extend: _mutator(lambda xs, items: xs.extend(items), brings=0, many=True),
    deque.extendleft: _mutator(lambda xs, items: xs.extendleft(items), brings=0, many=True),
    deque.pop: pop,
    deque.popleft: popleft,
    deque.rotate: _mutator(lambda xs, n=1: xs.rotate(n)),
    deque.reverse: _mutator(lambda xs: xs.reverse()),
    deque.clear: clear,
}
_DICT: dict[Any, Callable[..., Any]] = {
    dict.get: get,
    dict.pop: pop_entry,
    dict.popitem: popitem,
    dict.setdefault: setdefault,
    dict.update: update,
    dict.clear: clear,
    dict.__setitem__: write_item,
    dict.__delitem__: delete_item,
    dict.__getitem__: read_item,
}


# Functions whose result is a new container of the very parts of their argument.
_PRESERVING = frozenset(
    {list, tuple, dict, sorted, operator.add, operator.concat, operator.mul, operator.getitem, operator.or_}
    | {list.copy, dict.copy, copy.copy, max, min}
)


def preserves(target: Any) -> bool:
    """Whether the result of a function holds the very parts of its argument."""
    return _hashable(target) and target in _PRESERVING


# Functions whose result looks into their argument when it is read, so that it must be the argument itself.
_LIVE = frozenset({dict.items, dict.values, dict.keys, iter, reversed, enumerate, zip})


def keeps_alive(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether the result of a function is an argument itself, or reads it later."""
    if target is max or target is min:
        return len(args) > 1
    return _hashable(target) and target in _LIVE


# Those of them, and others, that take what is no container of this sweep and make one.
_MAKERS = (list, dict, sorted, np.ndarray.tolist, list.copy, dict.copy, copy.copy)


def makes_new(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function makes a new list or dict, which may be changed from then on."""
    if not _hashable(target) or target is max or target is min or target is tuple:
        return False
    if target is operator.getitem:
        return isinstance(args[1], slice)
    return target in _MAKERS or target in _PRESERVING


def is_structure(x: Any) -> bool:
    """Whether a value may hold containers."""
    if isinstance(x, types.FunctionType):
        return bool(x.__closure__ or x.__defaults__ or x.__kwdefaults__)
    return not isinstance(x, _LEAVES) and (not callable(x) or is_own(x))


def _hashable(x: Any) -> bool:
    return type(x).__hash__ is not None


def method_of(target: Any, x: Any) -> Callable[..., Any] | None:
    """What stands for a method or operator on the container `x`, if that is of this sweep and followed."""
    if not is_followed(x):
        return None
    if target is operator.getitem:
        return read_item if isinstance(x, (list, dict, deque, Taken)) else None
    return _METHODS.get(target) if _hashable(target) else None


_METHODS = {**_LIST, **_DICT, object.__setattr__: set_attribute}

_OF_SETS = frozenset(
    {set.add, set.discard, set.remove, set.pop, set.clear, set.update, set.intersection_update}
    | {set.difference_update, set.symmetric_difference_update}
)


def changes_set(target: Any, x: Any) -> bool:
    """Whether `target` is a method that changes the set `x` of this sweep."""
    return type(x) is set and is_own(x) and _hashable(target) and target in _OF_SETS


def may_be_in_set(x: Any) -> bool:
    """Whether nothing is lost if `x` is an item of a set: it has no cotangent, or keeps it by identity."""
    if isinstance(x, (tuple, set, frozenset, list, range, dict)):
        return all(map(may_be_in_set, x))
    return isinstance(x, (int, str, bytes, type(None), np.integer, np.bool_)) or is_own(x) or callable(x)
