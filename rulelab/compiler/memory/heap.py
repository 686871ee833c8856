"""Lists, dicts, objects and variables that are changed: which may be, and their cotangents by identity.

A container made inside a differentiated function may be reached under many names, even by the functions it
is passed to. So its cotangent belongs to the object: while a reverse sweep runs, the cotangents of its parts
are in a table, by the identity of the container and the key of the part. The reverse sweep undoes what
happened, latest first, so at each step the table describes the container as it was then: undoing a write
takes out the cotangent of the written value, undoing a removal moves the later ones back in place.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...python_facts import CONTAINERS
from ...tangents.cached_answers import CachedAnswers
from ...tangents.holding import everything_held, inside
from ...tangents.structural import make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.deriving import nest_level
from .support import NO, ZERO, Items, add, settle

Key = Any
CELL = "cell_contents"  # the key of a cell's content
FACTORY = object()  # the key of a defaultdict's factory, which may capture values that vary
# Types of values that neither are nor hold containers of a sweep.
NEVER_OWN = frozenset({float, np.float64, np.ndarray, int})  # the types of most operands
LEAVES = (int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, type, types.ModuleType)


class Kind(NamedTuple):
    """A class of containers that this package adds: `make` is the handler of its constructor, `handlers` are
    those of its methods, and comparing `state(x)` shows whether one has changed.
    """

    make: Callable[..., Any]
    handlers: dict[Any, Callable[..., Any]]
    state: Callable[[Any], Any]


KINDS: dict[type, Kind] = {}
_MADE = frozenset(CONTAINERS)


class _Sweep:
    """The containers made during one forward sweep, and their cotangents found by one reverse sweep."""

    __slots__ = (
        *("bars", "changed", "clock", "factories", "followed", "fresh", "holders", "made", "numbers"),
        *("answers", "lent", "oldest", "outlines", "read", "settled", "texts"),
    )

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}  # by identity; kept alive, so that no identity is reused
        self.numbers: dict[int, int] = {}  # counts them in the order in which they were made
        self.oldest = sys.maxsize  # the number of the oldest one changed since the last `mark`
        self.clock = 0  # counts the changes
        self.changed: dict[int, int] = {}  # when each was last changed, the latest at the end
        self.settled: dict[int, int] = {}  # if an iterator's call made it: when that call ended
        self.followed: set[int] = set()  # those whose changes are recorded
        self.bars: dict[int, dict[Key, Any]] = {}
        self.fresh: weakref.WeakValueDictionary[int, np.ndarray] | None = None  # made when first needed
        self.factories: dict[int, Callable[[], Any]] = {}  # the functions that make a defaultdict's entries
        self.lent: dict[int, np.ndarray] = {}  # arrays that the author's code may have kept
        self.outlines: dict[int, Any] = {}  # outlines kept: nothing in their containers has changed since
        self.holders: dict[int, set[int]] = {}  # for each container, those with a kept outline that hold it
        self.texts: dict[int, str] = {}  # forward mode: strings that may spell out values that vary
        self.answers = CachedAnswers()
        # For each container that an iterator reads, the clock of the last write to each key; most have none.
        self.read: dict[int, dict[Any, int]] = {}


# Never written to: no sweep at all, and a sweep that has made nothing yet.
_OUTSIDE, _EMPTY = _Sweep(), _Sweep()


class _Here:
    """The current sweep of one thread; sweeps nest."""

    __slots__ = ("asked_again", "depth", "sweep")

    def __init__(self) -> None:
        self.sweep = _OUTSIDE
        self.depth = 0
        self.asked_again: list[tuple[int, Any]] = []  # pullbacks of users' rules, with the sweep's depth


class _State(threading.local):
    """The state of this thread, in one object, since reading any thread-local takes as long as a call."""

    def __init__(self) -> None:
        self.here = _Here()


_STATE = _State()


Outer = tuple[_Here, _Sweep, int]


def enter() -> Outer:
    """Begin a new sweep, in which containers made outside it may not be changed. Return the state around the
    sweep, for `leave`.
    """
    here = _STATE.here
    depth = here.depth
    outer = here, here.sweep if depth else _OUTSIDE, depth  # outside all sweeps, nothing is tracked
    here.sweep = _EMPTY
    here.depth = depth + 1
    return outer


def leave(outer: Outer) -> None:
    """End the sweep and return to the state around it."""
    here, sweep, depth = outer
    if here.depth <= depth:  # the sweep around it has been forgotten meanwhile
        sweep, depth = _OUTSIDE, 0
    here.sweep = sweep
    here.depth = depth
    if here.asked_again:
        held = here.asked_again if depth else ()
        here.asked_again = [(level, back) for level, back in held if level <= depth]


def begin_again() -> None:
    """Restart the current sweep: nothing was made during it yet."""
    _STATE.here.sweep = _EMPTY


def is_running() -> bool:
    """Whether a sweep is running in this thread."""
    return _STATE.here.depth > 0


def is_nested() -> bool:
    """Whether the sweep of this thread runs inside another one, which may own the arguments.

    An outer sweep left over from a KeyboardInterrupt is forgotten.
    """
    here = _STATE.here
    if here.depth <= 1:
        return False
    if nest_level() > 1:
        return True
    here.depth = 1
    return False


def note_asked_again(pullback: Any) -> None:
    """Note the pullback of a user's rule. It runs later, so code that is not followed must not change what
    it reads.
    """
    here = _STATE.here
    if here.depth:
        here.asked_again.append((here.depth, pullback))


def asked_again() -> list[tuple[int, Any]]:
    """The noted pullbacks of users' rules in this thread's running sweeps, each with its sweep's depth."""
    return _STATE.here.asked_again


def written() -> _Sweep:
    """The sweep of this thread for writing; makes one if there is none."""
    here = _STATE.here
    if here.sweep is _EMPTY or here.sweep is _OUTSIDE:
        here.sweep = _Sweep()
    return here.sweep


def effectful(back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Mark a pullback that must be called even if nothing flowed to the result, as it changes the table."""
    back.changes = True  # type: ignore[attr-defined]
    return back


def handing_on(y: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback `back`, marked as effectful if `y` may be a container, which a callee may have made."""
    return back if isinstance(y, LEAVES) else effectful(back)


def like(inner: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`back`, which calls the pullback `inner`, marked as effectful if `inner` is."""
    return effectful(back) if changes(inner) else back


def changes(back: Any) -> bool:
    """Whether a pullback must be called even if nothing flowed to the result."""
    return getattr(back, "changes", False)


def is_idle(back: Any, y_bar: Any) -> bool:
    """Whether a pullback need not be called: nothing flowed to the result, and it has no side effects."""
    return (y_bar is ZERO or y_bar is NO) and not changes(back)


# --- which containers may be changed ------------------------------------------------------------------------


def own(x: Any, followed: bool) -> Any:
    """Note that `x` was made during this sweep, and return it; `followed` says whether to record changes."""
    sweep = _STATE.here.sweep
    if sweep is not _OUTSIDE:
        if sweep is _EMPTY:
            sweep = written()
        number, numbers = id(x), sweep.numbers
        sweep.made[number] = x
        numbers[number] = len(numbers)
        if followed:
            sweep.followed.add(number)
    return x


def is_own(x: Any) -> bool:
    """Whether a container was made during this sweep, so that its old contents are known."""
    sweep = _STATE.here.sweep
    return sweep is not _EMPTY and sweep.made.get(id(x)) is x  # called often, mostly when nothing was made


def is_followed(x: Any) -> bool:
    """Whether the changes of a container are recorded."""
    sweep = _STATE.here.sweep
    return id(x) in sweep.followed and sweep.made.get(id(x)) is x


def fresh(x: Any) -> Any:
    """Note that only the running statement holds a value, if it is an array; returns the value."""
    if _STATE.here.sweep is not _OUTSIDE and isinstance(x, np.ndarray):
        sweep = written()
        if sweep.fresh is None:
            sweep.fresh = weakref.WeakValueDictionary()
        sweep.fresh[id(x)] = x
    return x


def note_text(text: Any) -> None:
    """Note that a string may spell out a value that varies; other values are ignored."""
    if type(text) is str:
        written().texts[id(text)] = text


def may_spell(x: Any) -> bool:
    """Whether a value is a string that was noted during this sweep as one that may spell out what varies."""
    return _STATE.here.sweep.texts.get(id(x)) is x


def answers() -> CachedAnswers:
    """What cached functions have returned during this sweep."""
    return written().answers


def keep(x: Any) -> None:
    """Note that a value is kept, and may be used again."""
    known = _STATE.here.sweep.fresh
    if known is not None:
        known.pop(id(x), None)


def is_fresh(x: Any) -> bool:
    """Whether only the running statement holds an array."""
    known = _STATE.here.sweep.fresh
    return known is not None and known.get(id(x)) is x


_LENT = [0]  # how many arrays were ever noted: a quick test


def note_lent(x: np.ndarray) -> None:
    """Note that the author's code may have kept an array that seemed to be held by nothing else."""
    _LENT[0] += 1
    written().lent[id(x)] = x


def is_lent(x: Any) -> bool:
    """Whether an array was noted as one that may be used elsewhere."""
    return bool(_LENT[0]) and _STATE.here.sweep is not None and _STATE.here.sweep.lent.get(id(x)) is x


def any_made() -> bool:
    """Whether the table of this sweep is in use: usually, because a container was made during it."""
    sweep = _STATE.here.sweep
    return sweep is not _EMPTY and sweep is not _OUTSIDE


def may_change_unseen(x: Any) -> bool:
    """Whether a container was made during this sweep and its changes are not recorded."""
    return is_own(x) and id(x) not in _STATE.here.sweep.followed


def followed() -> list[Any]:
    """The containers made during this sweep whose changes are recorded."""
    sweep = _STATE.here.sweep
    return [sweep.made[number] for number in sweep.followed]


EVERY_KEY = object()


def note_change(x: Any, at: Any = EVERY_KEY) -> None:
    """Note that a container was changed, perhaps only under one key, for `changed_since`, `was_changed` and
    `was_written`.
    """
    sweep = _STATE.here.sweep
    if sweep is _EMPTY or sweep is _OUTSIDE:
        sweep = written()
    key = id(x)
    number = sweep.numbers.get(key, 0)
    if number < sweep.oldest:
        sweep.oldest = number
    sweep.clock = clock = sweep.clock + 1
    changed = sweep.changed
    changed.pop(key, None)
    changed[key] = clock
    if sweep.outlines:
        _forget_outlines(sweep, key)
    if sweep.read and key in sweep.read:
        sweep.read[key][at] = clock


def _forget_outlines(sweep: _Sweep, changed: int) -> None:
    """Drop the outlines of a changed container and of all containers that it is in."""
    waiting = [changed]
    while waiting:
        number = waiting.pop()
        sweep.outlines.pop(number, None)
        waiting += sweep.holders.pop(number, ())


def keep_outline(x: Any, found: Any, inside: list[Any]) -> None:
    """Keep the outline of a container until it, or one of the containers `inside` it, is changed."""
    sweep, number = _STATE.here.sweep, id(x)
    sweep.outlines[number] = found
    for part in inside:
        sweep.holders.setdefault(id(part), set()).add(number)


def kept_outlines() -> dict[int, Any]:
    """The outlines that are still valid, by the identity of their container."""
    return _STATE.here.sweep.outlines


def now() -> tuple[int, int]:
    """A point in the forward sweep, for `was_changed`: the number of changes and of containers so far."""
    sweep = _STATE.here.sweep
    return sweep.clock, len(sweep.numbers)


def was_changed(x: Any, point: tuple[int, int]) -> bool:
    """Whether a container was changed after that point, or, if an iterator's call has made it since, after
    that call.
    """
    sweep = _STATE.here.sweep
    clock, count = point
    later = sweep.numbers.get(id(x), 0) >= count
    return sweep.changed.get(id(x), 0) > (max(clock, sweep.settled.get(id(x), 0)) if later else clock)


def note_read(x: Any) -> None:
    """Note that an iterator reads a container, so that the keys of later writes are noted."""
    if is_own(x):
        written().read.setdefault(id(x), {})


def was_written(x: Any, key: Any, point: tuple[int, int]) -> bool:
    """Whether what a container read by an iterator has under a key may have been put there after that point,
    even if it is the same object.
    """
    noted = _STATE.here.sweep.read.get(id(x))
    return noted is not None and max(noted.get(key, 0), noted.get(EVERY_KEY, 0)) > point[0]


def settle_made(point: tuple[int, int]) -> None:
    """Treat the containers made since that point as unchanged so far; for the end of an iterator's call."""
    clock, count = point
    sweep = _STATE.here.sweep
    for key in reversed(sweep.changed):
        if sweep.changed[key] <= clock:
            return
        if sweep.numbers.get(key, 0) >= count:
            sweep.settled[key] = sweep.clock


def mark() -> tuple[int, int]:
    """A point in the forward sweep, for `changed_since`."""
    sweep = _STATE.here.sweep
    found = len(sweep.numbers), sweep.oldest
    if any_made():
        sweep.oldest = sys.maxsize
    return found


def changed_since(point: tuple[int, int]) -> bool:
    """Whether a container that existed at that point has been changed since."""
    sweep = _STATE.here.sweep
    if not any_made():
        return False
    count, oldest = point
    changed = sweep.oldest < count
    sweep.oldest = min(sweep.oldest, oldest)
    return changed


def made_by(x: Any, make: Callable[[], Any]) -> None:
    """Note the function that makes missing entries of the defaultdict `x`; it returns `(entry, back)`."""
    written().factories[id(x)] = make


def publish(x: Any) -> Any:
    """Note that a list or dict is complete and may be passed on. Return its length, for `collect`, or None
    if it is not a list or dict, or was noted before as one whose changes are not recorded.
    """
    return published(x)[1]


def published(x: Any) -> tuple[Any, int | None]:
    """Like `publish`, but return both the value and the length or None."""
    if type(x) is not list and type(x) is not dict:
        return x, None
    sweep = _STATE.here.sweep
    if sweep.made.get(id(x)) is not x:
        own(x, True)
    elif id(x) not in sweep.followed:  # it may be changed without a record
        return x, None
    return x, len(x)


def publish_plain(x: Any) -> Any:
    """Like `publish`, if no cotangent is needed; returns the container."""
    return own(x, False) if type(x) in _MADE and not is_own(x) else x


def made_plain(x: Any) -> Any:
    """Note a container that an operation has just made, if no cotangent is needed; returns it."""
    return own(x, False) if type(x) in _MADE else x


def collect(x: Any, x_bar: Any, size: int | None) -> Any:
    """The whole cotangent of a container as of when it was published with `size` parts: `x_bar` plus what the
    table has.
    """
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


def bars_of(x: Any) -> dict[Key, Any]:
    """The table entry for `x`: the cotangents of its parts, which the caller may change."""
    return written().bars.setdefault(id(x), {})


def deposit(x: Any, key: Key, x_bar: Any) -> None:
    """Add to the cotangent of the part `key` of the container `x`."""
    if x_bar is ZERO or x_bar is NO:
        return
    sweep = _STATE.here.sweep
    if sweep is _EMPTY or sweep is _OUTSIDE:
        sweep = written()
    bars = sweep.bars.get(id(x))
    if bars is None:
        bars = sweep.bars[id(x)] = {}
    if type(x_bar) is not float:
        x_bar = settle(unthunk(x_bar))
    bars[key] = add(bars[key], x_bar) if key in bars else x_bar


def take(x: Any, key: Key) -> Any:
    """Remove and return the cotangent of the part `key`, where the write that set this part is undone."""
    bars = _STATE.here.sweep.bars.get(id(x))
    return bars.pop(key, ZERO) if bars else ZERO


def take_all(x: Any) -> dict[Key, Any]:
    """Remove and return the cotangents of all parts, for example where making the container is undone."""
    bars = _STATE.here.sweep.bars
    return bars.pop(id(x)) if id(x) in bars else {}


def any_cotangent() -> bool:
    """Whether any container has a nonzero cotangent."""
    return any(map(_are_nonzero, written().bars.values()))


def has_cotangent(x: Any) -> bool:
    """Whether a value, or anything that it holds, is a container or object with a nonzero cotangent."""
    bars = written().bars
    held = everything_held([x], inside, LEAVES) if bars else ()
    return any(_are_nonzero(bars[id(part)]) for part in held if id(part) in bars)


def _are_nonzero(bars: dict[Key, Any]) -> bool:
    found = (bar for bar in bars.values() if not isinstance(bar, AbstractZero))
    return any(not _is_plain(bar) or np.any(bar) for bar in found)


def _is_plain(bar: Any) -> bool:
    return isinstance(bar, (int, float, complex, np.ndarray, np.generic))
