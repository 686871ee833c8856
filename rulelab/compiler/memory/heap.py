"""Lists, dicts, objects and variables that are changed: which may be, and their cotangents by identity.

A container made inside a differentiated function may be reached under many names, also by the functions it
is passed to. Its cotangent belongs to the object: while a reverse sweep runs, the cotangents of its parts
are in a table, by the identity of the container and the key of the part. The reverse sweep undoes what
happened, latest first, so at each step the table describes the container as it was then: undoing a write
takes the cotangent of what was written, undoing a removal puts the later ones back in place.
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
from ...tangents.structural import make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.deriving import nest_level
from .support import NO, ZERO, Items, add, settle

Key = Any
CELL = "cell_contents"  # the key of what a cell holds
FACTORY = object()  # the key of a defaultdict's factory, which may capture what varies
# What neither is nor holds a container.
NEVER_OWN = frozenset({float, np.float64, np.ndarray, int})  # the types of most operands
LEAVES = (int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, type, types.ModuleType)


class Kind(NamedTuple):
    """A class of containers that this package adds: `make` and `handlers` answer for its constructor and its
    methods as handlers do, `state(x)` tells whether one has changed.
    """

    make: Callable[..., Any]
    handlers: dict[Any, Callable[..., Any]]
    state: Callable[[Any], Any]


KINDS: dict[type, Kind] = {}
_MADE = frozenset(CONTAINERS)


class _Sweep:
    """What one forward sweep made, and the cotangents that one reverse sweep has found for it."""

    __slots__ = (
        *("bars", "changed", "clock", "factories", "followed", "fresh", "holders", "made", "numbers"),
        *("lent", "oldest", "outlines", "settled", "texts"),
    )

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}  # by identity; held, so that an identity is not used again
        self.numbers: dict[int, int] = {}  # in the order in which they were made
        self.oldest = sys.maxsize  # the number of the oldest one changed since somebody asked
        self.clock = 0  # counts the changes
        self.changed: dict[int, int] = {}  # when each was changed last, the latest at the end
        self.settled: dict[int, int] = {}  # when the call of an iterator ended that made it
        self.followed: set[int] = set()  # those whose changes are recorded
        self.bars: dict[int, dict[Key, Any]] = {}
        self.fresh: weakref.WeakValueDictionary[int, np.ndarray] | None = None  # made when first needed
        self.factories: dict[int, Callable[[], Any]] = {}  # what makes the entries of a defaultdict
        self.lent: dict[int, np.ndarray] = {}  # arrays of this sweep that may be used elsewhere
        self.outlines: dict[int, Any] = {}  # of containers that nothing has been changed in since
        self.holders: dict[int, set[int]] = {}  # the containers that such a one is in
        self.texts: dict[int, str] = {}  # forwards: what calls gave to which something varying was given


# Never written to: they stand for being outside of all sweeps, and for a sweep that made nothing yet.
_OUTSIDE, _EMPTY = _Sweep(), _Sweep()


class _Here:
    """The sweep of one thread; sweeps nest."""

    __slots__ = ("asked_again", "depth", "sweep")

    def __init__(self) -> None:
        self.sweep = _OUTSIDE
        self.depth = 0
        self.asked_again: list[tuple[int, Any]] = []  # the pullbacks of users' rules, with the depth


class _State(threading.local):
    """What belongs to this thread, in one object: to ask for anything of a thread takes as long as a call."""

    def __init__(self) -> None:
        self.here = _Here()


_STATE = _State()


Outer = tuple[_Here, _Sweep, int]


def enter() -> Outer:
    """Begin a sweep of its own: containers made outside it may not be changed in it. Give what is around
    it to `leave`.
    """
    here = _STATE.here
    depth = here.depth
    outer = here, here.sweep if depth else _OUTSIDE, depth  # what is made outside of all sweeps is nobody's
    here.sweep = _EMPTY
    here.depth = depth + 1
    return outer


def leave(outer: Outer) -> None:
    """Go back to what was around the sweep."""
    here, sweep, depth = outer
    if here.depth <= depth:  # what was around it has been forgotten meanwhile
        sweep, depth = _OUTSIDE, 0
    here.sweep = sweep
    here.depth = depth
    if here.asked_again:
        held = here.asked_again if depth else ()
        here.asked_again = [(level, back) for level, back in held if level <= depth]


def begin_again() -> None:
    """Begin the sweep that goes on once more: nothing was made in it yet."""
    _STATE.here.sweep = _EMPTY


def is_running() -> bool:
    """Whether a sweep of this thread goes on."""
    return _STATE.here.depth > 0


def is_nested() -> bool:
    """Whether the sweep of this thread runs inside of another one, which may own what is handed in.

    A sweep that nobody works on any more, because a KeyboardInterrupt came before it was left, is forgotten.
    """
    here = _STATE.here
    if here.depth <= 1:
        return False
    if nest_level() > 1:
        return True
    here.depth = 1
    return False


def note_asked_again(pullback: Any) -> None:
    """Note what a user's rule has left to be called in the reverse sweep: what it reads may not change out of
    sight before.
    """
    here = _STATE.here
    if here.depth:
        here.asked_again.append((here.depth, pullback))


def asked_again() -> list[tuple[int, Any]]:
    """Such pullbacks of the sweeps that go on in this thread, each with the depth of its sweep."""
    return _STATE.here.asked_again


def written() -> _Sweep:
    """The sweep of this thread, as one to write to."""
    here = _STATE.here
    if here.sweep is _EMPTY or here.sweep is _OUTSIDE:
        here.sweep = _Sweep()
    return here.sweep


def effectful(back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback, marked as one that must be called even where nothing flowed to the result: it changes the
    table.
    """
    back.changes = True  # type: ignore[attr-defined]
    return back


def handing_on(y: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback of a function that gives `y` as a callee gave it, marked if that may be a container."""
    return back if isinstance(y, LEAVES) else effectful(back)


def like(inner: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`back`, which calls the pullback `inner`, marked as that is."""
    return effectful(back) if changes(inner) else back


def changes(back: Any) -> bool:
    """Whether a pullback is to be asked although nothing flowed to the result."""
    return getattr(back, "changes", False)


def is_idle(back: Any, y_bar: Any) -> bool:
    """Whether a pullback need not be asked: nothing flowed to the result, and it does no more than answer."""
    return (y_bar is ZERO or y_bar is NO) and not changes(back)


# --- which containers may be changed ------------------------------------------------------------------------


def own(x: Any, followed: bool) -> Any:
    """Note that `x` was made in this sweep; `followed` says that its changes are recorded."""
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
    """Whether a container was made in this sweep, so that its old contents are known."""
    sweep = _STATE.here.sweep
    return sweep is not _EMPTY and sweep.made.get(id(x)) is x  # each operation asks, mostly of nothing


def is_followed(x: Any) -> bool:
    """Whether the changes of a container are recorded."""
    sweep = _STATE.here.sweep
    return id(x) in sweep.followed and sweep.made.get(id(x)) is x


def fresh(x: Any) -> Any:
    """Note of an array that nobody but the running statement has it; gives the array."""
    if _STATE.here.sweep is not _OUTSIDE and isinstance(x, np.ndarray):
        sweep = written()
        if sweep.fresh is None:
            sweep.fresh = weakref.WeakValueDictionary()
        sweep.fresh[id(x)] = x
    return x


def note_text(text: Any) -> None:
    """Note of a text that it may spell out what varies; of anything else nothing."""
    if type(text) is str:
        written().texts[id(text)] = text


def may_spell(x: Any) -> bool:
    """Whether a text has been noted in this sweep."""
    return _STATE.here.sweep.texts.get(id(x)) is x


def is_fresh(x: Any) -> bool:
    """Whether nobody but the running statement has an array."""
    known = _STATE.here.sweep.fresh
    return known is not None and known.get(id(x)) is x


_LENT = [0]  # how many arrays were ever noted, which is quick to see


def note_lent(x: np.ndarray) -> None:
    """Note of an array that the author's code may have kept, where it seemed that nobody does."""
    _LENT[0] += 1
    written().lent[id(x)] = x


def is_lent(x: Any) -> bool:
    """Whether an array was noted as one that may be used elsewhere."""
    return bool(_LENT[0]) and _STATE.here.sweep is not None and _STATE.here.sweep.lent.get(id(x)) is x


def any_made() -> bool:
    """Whether any container was made in this sweep."""
    sweep = _STATE.here.sweep
    return sweep is not _EMPTY and sweep is not _OUTSIDE


def may_change_unseen(x: Any) -> bool:
    """Whether a container of this sweep may be changed without a record."""
    return is_own(x) and id(x) not in _STATE.here.sweep.followed


def followed() -> list[Any]:
    """The containers of this sweep whose changes are recorded."""
    sweep = _STATE.here.sweep
    return [sweep.made[number] for number in sweep.followed]


def note_change(x: Any) -> None:
    """Note that a container has been changed, for `changed_since`."""
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


def _forget_outlines(sweep: _Sweep, changed: int) -> None:
    """What was found of a container that has been changed, and of all that it is in, is out of date."""
    waiting = [changed]
    while waiting:
        number = waiting.pop()
        sweep.outlines.pop(number, None)
        waiting += sweep.holders.pop(number, ())


def keep_outline(x: Any, found: Any, inside: list[Any]) -> None:
    """Keep the outline of a container of this sweep, until that or one of those `inside` of it is changed."""
    sweep, number = _STATE.here.sweep, id(x)
    sweep.outlines[number] = found
    for part in inside:
        sweep.holders.setdefault(id(part), set()).add(number)


def kept_outlines() -> dict[int, Any]:
    """The outlines that still count, by the identity of what they are of."""
    return _STATE.here.sweep.outlines


def now() -> tuple[int, int]:
    """A point in the forward sweep, for `was_changed`: how many changes and containers there were."""
    sweep = _STATE.here.sweep
    return sweep.clock, len(sweep.numbers)


def was_changed(x: Any, point: tuple[int, int]) -> bool:
    """Whether a container of this sweep was changed after that point; of one made later, in a call of an
    iterator, after that call.
    """
    sweep = _STATE.here.sweep
    clock, count = point
    later = sweep.numbers.get(id(x), 0) >= count
    return sweep.changed.get(id(x), 0) > (max(clock, sweep.settled.get(id(x), 0)) if later else clock)


def settle_made(point: tuple[int, int]) -> None:
    """What was made since that point is from now on as the call of an iterator has left it."""
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
    """Whether a container that was there at that point has been changed since."""
    sweep = _STATE.here.sweep
    if not any_made():
        return False
    count, oldest = point
    changed = sweep.oldest < count
    sweep.oldest = min(sweep.oldest, oldest)
    return changed


def made_by(x: Any, make: Callable[[], Any]) -> None:
    """Note what makes the missing entries of the defaultdict `x`: `make()` gives `(entry, back)`."""
    written().factories[id(x)] = make


def publish(x: Any) -> Any:
    """A list or dict is complete and may be passed on; gives its length, for `collect`.

    One that has been noted before, where a call made it, may have grown unseen since.
    """
    return published(x)[1]


def published(x: Any) -> tuple[Any, int | None]:
    """The same with the list or dict itself, which has just been made."""
    if type(x) is not list and type(x) is not dict:
        return x, None
    sweep = _STATE.here.sweep
    if sweep.made.get(id(x)) is not x:
        own(x, True)
    elif id(x) not in sweep.followed:  # it may be changed without a record
        return x, None
    return x, len(x)


def publish_plain(x: Any) -> Any:
    """As `publish`, where no cotangent is wanted; gives the container."""
    return own(x, False) if type(x) in _MADE and not is_own(x) else x


def made_plain(x: Any) -> Any:
    """A container that an operation has just made, where no cotangent is wanted."""
    return own(x, False) if type(x) in _MADE else x


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


def bars_of(x: Any) -> dict[Key, Any]:
    """The cotangents of the parts of `x`, to be changed."""
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
    """The cotangent of the part `key`, which was written here: before, the part was another."""
    bars = _STATE.here.sweep.bars.get(id(x))
    return bars.pop(key, ZERO) if bars else ZERO


def take_all(x: Any) -> dict[Key, Any]:
    """The cotangents of all parts, where the container was made."""
    bars = _STATE.here.sweep.bars
    return bars.pop(id(x)) if id(x) in bars else {}


def any_cotangent() -> bool:
    """Whether any container has a cotangent other than zero."""
    return any(
        not isinstance(bar, AbstractZero) and not (_is_plain(bar) and not np.any(bar))
        for bars in written().bars.values()
        for bar in bars.values()
    )


def _is_plain(bar: Any) -> bool:
    return isinstance(bar, (int, float, complex, np.ndarray, np.generic))
