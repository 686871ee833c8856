"""Arguments that the differentiated function may change: their contents on entry are saved, and the
cotangents of these contents are collected.

A list, dict or object among the arguments of an outermost call may be changed if its old contents are known
and it can be reached only through the arguments: the sweep then treats it as one of its own (`heap`). A
write to what the code can reach in another way, or to what occurs twice in the arguments, is refused.
"""

from __future__ import annotations

import threading
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from ...errors import MutationError, an, items_refused
from ...rules.targets import resolve
from ...tangents.contents import contents_of, fill
from ...tangents.structural import field_names, is_sequence, make, parts
from ...tangents.zeros import AbstractZero
from ..base.classes import is_authors
from . import heap, outlines
from .handlers import NO, ZERO
from .heap import KINDS, LEAVES, Key
from .holding import holds_iterator, parts_inside
from .reach import only_reads, reached_by
from .support import add

_PLAIN_CODE = (types.FunctionType, types.BuiltinFunctionType, type)
_PLAIN = (list, dict, deque, OrderedDict, defaultdict, types.SimpleNamespace)


def may_lend(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LentArguments | None:
    """The containers among the arguments, if the function seems to change some, else None.

    `f` may have its own first argument, as a bound method or a callable object does.
    """
    looked = look_after(f, args, kwargs)
    return looked if isinstance(looked, LentArguments) else None


def look_after(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LentArguments | OutOfSight | None:
    """The containers among the arguments that the function seems to change (`LentArguments`), or those to
    watch if it may change them in code that is not followed (`OutOfSight`); None if there is neither.
    """
    if all(isinstance(x, LEAVES) for x in (*args, *kwargs.values())) and isinstance(f, _PLAIN_CODE):
        return None
    target, bound = resolve(f)
    given = (*bound, *args, *kwargs.values())
    try:
        found = _Found(given)
    except RecursionError:  # nested too deeply to search: nothing in it may be changed
        return None
    if not found.saved:
        return None
    if not found.code and type(target) is types.FunctionType and only_reads(target):
        return None
    reached = reached_by((target, *found.code))
    if reached.hides:
        return OutOfSight(found.saved)
    if not reached.writes or not reached.complete or holds_iterator(given):
        return None
    for number in reached.objects & found.saved.keys():
        del found.saved[number]
    return LentArguments(len(bound), args, kwargs, found.saved) if found.saved else None


class OutOfSight:
    """The containers among the arguments of a function that may change them in code that is not followed, as
    under `ignore_derivatives`. That code may add to them, but a part that it replaced would be mistaken for
    the original.

    As a context manager, this object checks the containers whenever ignored code has run, since a part that
    was replaced, read and put back would not show at the end.
    """

    def __init__(self, saved: dict[int, tuple[Any, Any]]) -> None:
        self._saved = saved

    def __enter__(self) -> None:
        CHECKS.running.append(self.check)

    def __exit__(self, kind: Any, *_: object) -> None:
        CHECKS.running.remove(self.check)
        if kind is None:
            self.check()

    def check(self) -> None:
        """If a part has been replaced, restore all containers and raise MutationError."""
        for x, before in self._saved.values():
            now = contents_of(x)
            if isinstance(now, list):
                replaced = len(now) < len(before) or any(a is not b for a, b in zip(now, before))
            else:
                replaced = any(now.get(key, now) is not part for key, part in before.items())
            if replaced:
                for container, entered in self._saved.values():
                    fill(container, entered)
                raise MutationError(
                    f"Ignored code replaced a part of an argument, {an(type(x).__name__)}: what is read "
                    "there is no longer what was passed in",
                    fixes=(
                        "let it add to the argument, or change one of its own",
                        "change it in the function itself",
                    ),
                    read="limitations#array-mutation",
                )


def may_be_lent(x: Any) -> bool:
    """Whether the old contents of a container can be saved and restored."""
    return type(x) in _PLAIN or (
        not isinstance(x, (*LEAVES, tuple, list, dict, set, frozenset, types.FunctionType, types.MethodType))
        and is_authors(type(x))
        and type(x) not in KINDS  # a Buffer, whose contents are private
        and type(x).__module__ != "functools"
    )


class _Found:
    """The containers that occur only once in the arguments, by identity, with their contents (`saved`), and
    the classes, functions and other objects there that may give the function access to more (`code`).
    """

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.saved: dict[int, tuple[Any, Any]] = {}
        self.code: list[Any] = []
        self._seen: set[int] = set()
        self._twice: set[int] = set()
        for x in given:
            self._look(x)
        for x in [x for number, (x, _) in self.saved.items() if number in self._twice]:
            self._drop(x)

    def _look(self, x: Any) -> None:
        """Search a value and all that it holds, and note what occurs twice."""
        if isinstance(x, LEAVES):
            if isinstance(x, type):
                self.code.append(x)
            return
        if id(x) in self._seen:
            self._twice.add(id(x))
            return
        self._seen.add(id(x))
        if may_be_lent(x):
            self.saved[id(x)] = x, contents_of(x)
        elif not isinstance(x, tuple):
            self.code.append(x)  # what it holds may be reached under other names
            return
        if type(x) not in _PLAIN:
            self.code.append(type(x))
        for part in parts_inside(x):
            self._look(part)

    def _drop(self, x: Any) -> None:
        """Remove a container that occurs twice, and all that it holds."""
        if self.saved.pop(id(x), None) is not None or isinstance(x, tuple):
            for part in parts_inside(x):
                self._drop(part)


class LentArguments:
    """The arguments of one call, with the containers in them that it may change: `saved` has these by
    identity, each with its contents on entry.
    """

    def __init__(
        self, bound: int, args: tuple[Any, ...], kwargs: dict[str, Any], saved: dict[int, tuple[Any, Any]]
    ) -> None:
        self._bound, self._args, self._kwargs = bound, args, kwargs
        self._saved = saved
        self._asked: tuple[bool, ...] = ()
        self._outlines: list[Any] = []

    def own(self, active: tuple[bool, ...]) -> tuple[bool, ...]:
        """Register the containers as made during the sweep that begins; `active` is as in `Pullbacks.find`.

        Return `active`, set also for the arguments into which a value that varies may be put: the sweep needs
        cotangents for them, too.
        """
        for x, _ in self._saved.values():
            heap.own(x, True)
        self._asked = active[1 : 1 + len(self._args)]
        self._outlines = list(map(outlines.outline, self._args))
        given = (*self._args, *self._kwargs.values())
        wanted = (on or may_be_lent(x) or type(x) is tuple for on, x in zip(active[1:], given, strict=True))
        return (active[0] or bool(self._bound), *wanted)

    def collecting(self, back: Callable[[Any], Any], y: Any) -> Callable[[Any], tuple[Any, ...]]:
        """The pullback that returns the cotangents of the arguments as they were on entry."""
        of_result = outlines.outline(y)

        def collected(y_bar: Any) -> tuple[Any, ...]:
            __tracebackhide__ = True
            got = back(outlines.hand_in(of_result, y_bar))
            bars = (NO,) * (1 + len(self._args)) if isinstance(got, AbstractZero) else tuple(got)
            rest = [outlines.hand_in(where, bar) for where, bar in zip(self._outlines, bars[1:])]
            given = zip(self._args, rest, self._asked, strict=True)
            totals = [(on, self._total(x, bar, on)) for x, bar, on in given]
            return (NO, *(bar if on else NO for on, bar in totals))

        collected.lent = self  # type: ignore[attr-defined]
        return collected

    def _total(self, x: Any, rest: Any, asked: bool) -> Any:
        """The cotangent of `x` as it was on entry: those of its parts, plus `rest`; `asked` says whether the
        caller needs it.
        """
        if isinstance(x, LEAVES):
            return rest
        saved = self._saved.get(id(x))
        entries = heap.take_all(x) if saved is not None else {}
        inner = _parts_of(x, saved)
        found = {}
        for key, part in inner.items():
            bar = self._total(part, entries.get(key, ZERO), asked)
            if bar is not ZERO and bar is not NO:
                found[key] = bar
        if not found:
            return rest
        kind = type(x)
        if asked and kind is deque:
            raise items_refused(kind)
        return add(make(kind, found, len(inner) if is_sequence(kind) else None), rest)

    # -- the arguments as they were --------------------------------------------------------------------------

    def as_it_was(self, x: Any) -> Any:
        """`x` with its contents on entry: a copy, if it is or holds a container that may be changed."""
        return _copied(x, self._saved, {})

    def afresh(self, f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """`(f, args, kwargs)` to repeat the call, with copies of all that it may change."""
        made: dict[int, Any] = {}
        if isinstance(f, types.MethodType):
            f = types.MethodType(f.__func__, _copied(f.__self__, self._saved, made))
        else:
            f = _copied(f, self._saved, made)
        args = tuple(_copied(x, self._saved, made) for x in self._args)
        return f, args, {name: _copied(x, self._saved, made) for name, x in self._kwargs.items()}

    def put_back(self) -> None:
        """Restore the contents that the containers had on entry, after a refusal."""
        for x, contents in self._saved.values():
            fill(x, contents)


def lent_to(back: Any) -> LentArguments | None:
    """The lent arguments of the call that returned this pullback, or None."""
    return getattr(back, "lent", None)


def _parts_of(x: Any, saved: tuple[Any, Any] | None) -> dict[Key, Any]:
    """The parts of `x` that may have a cotangent, by key, as they were on entry."""
    if saved is None:
        return dict(parts(x)) if isinstance(x, tuple) else {}
    contents = saved[1]
    if isinstance(x, (list, deque)):
        return dict(enumerate(contents))
    if isinstance(x, dict):
        return dict(contents)
    names = field_names(type(x))
    return {name: part for name, part in contents.items() if names is None or name in names}


def _copied(x: Any, saved: dict[int, tuple[Any, Any]], made: dict[int, Any]) -> Any:
    """A value with copies of its `saved` containers, as they were on entry; `made` has the copies so far."""
    if isinstance(x, LEAVES):
        return x
    if isinstance(x, tuple):
        inner = [_copied(part, saved, made) for part in x]
        return x if all(a is b for a, b in zip(inner, x)) else getattr(type(x), "_make", tuple)(inner)
    if id(x) not in saved:
        return x
    if id(x) in made:
        return made[id(x)]
    contents = saved[id(x)][1]
    y = made[id(x)] = _empty(x)
    if isinstance(x, (list, deque)):
        y.extend(_copied(part, saved, made) for part in contents)
    else:
        fill(y, {key: _copied(part, saved, made) for key, part in contents.items()})
    return y


def _empty(x: Any) -> Any:
    """A new, empty container or object of the class of `x`."""
    if isinstance(x, defaultdict):
        return defaultdict(x.default_factory)
    if isinstance(x, deque):
        return deque(maxlen=x.maxlen)
    return type(x)() if type(x) in _PLAIN else object.__new__(type(x))


class _Checks(threading.local):
    """The checks to run whenever ignored code has run in this thread."""

    def __init__(self) -> None:
        self.running: list[Callable[[], None]] = []


CHECKS = _Checks()
