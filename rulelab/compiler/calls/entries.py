"""Guarded entries: the fast path from a call of a Python function to its pullback, once the slow path has
found it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ...rules.calling import CheckedPullback, check_cotangents, checked_answer
from ...rules.kinds import varies
from ...rules.lent import DEBUGGING
from ...rules.rule import Rule
from ...tangents.structural import Tangent, entries_of
from ...tangents.zeros import NoTangent
from ..analysis.effects import noting
from ..base.nesting import enter, leave
from ..implicit.sources import pattern
from ..memory.heap import LEAVES, collect, effectful, like, note_asked_again, publish
from ..memory.support import part, value
from .cache import Cache, Pass, holds
from .captured import constants_captured, with_captured

NO = NoTangent()
FLOAT64 = np.dtype(float)
KEPT = "__rulelab_entries__"  # a function holds its entries: they refer to its globals, so no cache may
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_FEW = 64  # signatures remembered for one function


@dataclass(eq=False)
class Entry:
    """What runs for calls with one signature, as long as the registry is at `epoch` and the guard holds."""

    epoch: int
    forward: Callable[..., Any]
    guard: Callable[[dict[str, Any]], bool] | None
    projected: bool  # whether every array that the pullback gives has the shape and dtype of its argument
    structured: bool  # whether an argument may be, or hold, a container
    made: CodeType | None  # the code of the pass; None for a rule
    rule: Callable[[], Rule | None] | None = None  # held weakly
    at_once: Callable[..., Any] | None = None  # fast path of `gradient` by this entry, once it has one
    computes: bool = False  # whether the pass only computes (`Pass.computes`)
    whole: Any = None  # the forward sweep of a pass without effects
    count: int | None = None  # how many arguments come before the tuple of `*args`, if the pass takes that
    one_by_one: bool = False  # whether it takes the items of `*args` one by one
    takes_numbers: bool = False  # as in `Pass`
    keeps_numbers: bool = False
    # By the code of its pullbacks: a function that takes their variables from a closure.
    kept: dict[CodeType, Callable[[Any], Any]] = field(default_factory=dict)
    on_floats: Callable[[], Any] | None = None  # gives the sweeps on floats (`OnFloats`), or None
    fuse: Callable[[bool], Any] | None = None  # makes the fused pass (`Fused`); None once it has been tried
    fused: Any = None  # the fused pass, once it has been made


def not_at_once(*_: Any) -> None:
    """Placeholder for a fast path of `gradient` or `pullback` that does not exist."""


class Known:
    """The entries of one function. Copies and pickles of it are empty, and a wrapper to which functools.wraps
    has given this very object makes its own.
    """

    # The last five are the fast paths of `gradient` and `pullback` for the types of arguments last used; each
    # checks whether it is still valid. `of_chosen` is for one `argnums` and one number of arguments.
    __slots__ = (
        *("code", "entries", "era", "function"),
        *("of_chosen", "of_more", "of_numbers", "of_one", "of_two"),
    )

    def __init__(
        self, function: FunctionType | None = None, code: CodeType | None = None, era: object = None
    ) -> None:
        self.function = weakref.ref(function) if function is not None else lambda: None
        self.code = code
        self.era = era
        self.entries: dict[Any, Entry] = {}
        self.of_one: Callable[..., Any] = not_at_once
        self.of_two: Callable[..., Any] = not_at_once
        self.of_more: Callable[..., Any] = not_at_once
        self.of_numbers: Callable[..., Any] = not_at_once
        self.of_chosen: tuple[Any, int, Callable[..., Any]] = (None, 0, not_at_once)

    def __reduce__(self) -> Any:
        return Known, ()

    def __deepcopy__(self, memo: Any) -> Known:
        return Known()


NOTHING_KNOWN = Known()


class Entries:
    """The entries over one cache; it keeps no function and no rule alive. Its argument `find` is the slow
    path.
    """

    def __init__(self, cache: Cache, find: Callable[..., Callable[..., Any]]) -> None:
        self.cache = cache
        self._find = find
        self._registry = cache.registry

    copies = False  # whether the entries are of sweeps that keep copies

    def find(
        self, function: Any, args: tuple[Any, ...], flags: tuple[Any, ...] | None = None
    ) -> Entry | None:
        """The entry of this call, or None if the slow path has to answer.

        `flags` says for which arguments a cotangent is wanted; None means all that can have one.
        """
        if type(function) is not FunctionType:
            return None
        known = function.__dict__.get(KEPT)
        if (
            known is None
            or known.era is not self.cache.memory.era
            or known.code is not function.__code__
            or known.function() is not function
        ):
            return None
        key: tuple[Any, ...]
        if len(args) == 1:  # the most common case, quicker than with a list
            x = args[0]
            key = (flags, (x.dtype, x.ndim) if type(x) is ndarray else type(x))
        else:
            key = (flags, *[(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in args])
        entry = known.entries.get(key)
        if entry is None and flags is not None and tuple in map(type, args):
            entry = known.entries.get(_key_of_tuples(flags, args))
        if entry is None or entry.epoch != self._registry.snapshot.epoch:
            return None
        if entry.guard is not None and not entry.guard(function.__globals__):
            return None
        return entry

    def find_bound(
        self, function: FunctionType, values: tuple[Any, ...], count: int, flags: tuple[Any, ...]
    ) -> Entry | None:
        """The entry of a call that gives its first `count` parameters by position and the others by keyword
        or default; `values` and `flags` cover all parameters.
        """
        return self.find(function, values, _bound_flags(count, flags))

    def add_pass(
        self,
        function: FunctionType,
        args: tuple[Any, ...],
        flags: tuple[bool, ...],
        made: Pass,
        on_floats: Callable[..., Any] | None = None,
        fuse: Callable[..., Any] | None = None,
    ) -> None:
        """Remember a pass of a function that captures only constants, for calls that give the parameters in
        order, perhaps without the last ones that have defaults, and any `*args`.
        """
        if not self._may_be_opened(function):
            return
        with_defaults = len(args) < function.__code__.co_argcount
        if with_defaults and not _are_constants(function.__defaults__):
            return
        known = self.find(function, args, flags)
        if known is not None and known.made is made.forward.__code__:
            return
        whole = made.bound_to(function)
        if with_defaults:
            whole.__defaults__ = function.__defaults__
        with_rest = bool(function.__code__.co_flags & _VARARGS) and made.before is None
        count = function.__code__.co_argcount if with_rest else None
        entry = self._entry(function, made, whole, count)
        if with_defaults:
            entry.guard = _with_defaults(function, entry.guard)
        if on_floats is not None:
            entry.on_floats = functools.partial(on_floats, weakref.ref(function), flags, made)
        if fuse is not None and entry.computes and count is None:
            entry.fuse = functools.partial(fuse, weakref.ref(function), made, len(args))
        self._add(function, args, flags, entry)

    def add_bound(
        self,
        function: FunctionType,
        values: tuple[Any, ...],
        count: int,
        flags: tuple[bool, ...],
        made: Pass,
        fuse: Callable[..., Any] | None = None,
    ) -> None:
        """Remember a pass for the calls that `find_bound` looks up."""
        if not self._may_be_opened(function):
            return
        known = self.find_bound(function, values, count, flags)
        if known is not None and known.made is made.forward.__code__:
            return
        entry = self._entry(function, made, made.bound_to(function), None)
        if fuse is not None and entry.computes:
            entry.fuse = functools.partial(fuse, weakref.ref(function), made, count)
        entry.structured = not all(isinstance(x, LEAVES) for x in values)
        if self._may_keep(function, entry):
            self._keep(function, values, _bound_flags(count, flags), entry)

    def add_worded(
        self, function: FunctionType, args: tuple[Any, ...], flags: tuple[bool, ...], made: Pass
    ) -> None:
        """Remember a pass of a function with `**words` for calls without keywords: the pass takes a dict,
        which is new at each call and which the function may fill.
        """
        defaults = function.__defaults__ or ()
        if not self._may_be_opened(function) or not _are_constants(defaults) or tuple in map(type, args):
            return
        entry = self._entry(function, made, made.bound_to(function), None)
        entry.forward = _without_words(entry.forward, function.__code__.co_argcount, defaults)
        entry.guard = _with_defaults(function, entry.guard)
        entry.whole, entry.computes = None, False
        entry.structured = not all(isinstance(x, LEAVES) for x in args)
        if self._may_keep(function, entry):
            self._keep(function, args, flags, entry)

    def find_whole(
        self, function: FunctionType, values: tuple[Any, ...], way: str, flags: tuple[bool, ...]
    ) -> Entry | None:
        """The entry of a call without a reverse sweep.

        In a "plain" `way` no derivative is taken, and `flags` says whether the function and each parameter
        vary; in a "pushed" one it covers the parameters only, and the tangents of those that vary follow the
        values.
        """
        return self.find(function, values, (way, *flags))

    def add_whole(
        self,
        function: FunctionType,
        values: tuple[Any, ...],
        way: str,
        flags: tuple[bool, ...],
        made: Pass,
        runs: FunctionType | None = None,
        count: int | None = None,
    ) -> None:
        """Remember a pass for the calls that `find_whole` looks up, unless each call would have to check
        captured values or the tangent of a tuple.

        `runs` is the tangent of the function if the pass is that of the tangent. With `count`, the pass takes
        `*args` as a tuple after `count` other parameters, but values and flags are those of the arguments one
        by one.
        """
        more = _VARKEYWORDS if count is not None else _VARARGS | _VARKEYWORDS
        if function.__code__.co_flags & more or (tuple in map(type, values) and way != "plain"):
            return
        if not self._may_be_opened(function):
            return
        entry = self._entry(function, made, made.bound_to(runs or function), None)
        if count is not None:
            entry.forward = _with_rest(entry.forward, count)
        entry.structured = not all(isinstance(x, LEAVES) for x in values)
        if self._may_keep(function, entry):
            self._keep(function, values, (way, *flags), entry)

    def _entry(
        self, function: FunctionType, made: Pass, whole: Callable[..., Any], count: int | None
    ) -> Entry:
        """The entry of a pass whose forward sweep is `whole`; with `count`, that takes `*args` as a tuple
        after `count` arguments.
        """
        forward = whole if count is None else _spreading(whole, count)
        if made.noted:
            forward = noting(self.cache.watches, made.noted, forward)
        guard = with_captured(self.cache, function, None if made.guard is holds else made.guard)
        entry = Entry(made.epoch, forward, guard, False, False, made.forward.__code__, count=count)
        entry.takes_numbers, entry.keeps_numbers = made.takes_numbers, made.keeps_numbers
        entry.one_by_one = made.before is not None
        entry.whole, entry.computes = None if made.noted else whole, made.computes and not made.noted
        return entry

    def add_rule(
        self, function: FunctionType, args: tuple[Any, ...], flags: tuple[bool, ...], rule: Rule, epoch: int
    ) -> None:
        """Remember the user's rule that, at this epoch, applies to a call with all parameters in order.

        A call that leaves out defaults is not remembered: the rule may have cotangents for these too, which
        only the slow path drops.
        """
        if len(args) < function.__code__.co_argcount or tuple in map(type, args):
            return  # a rule may be for tuples with certain items
        if rule.differentiable and not rule.built_in and not rule.requires and not rule.doubt:
            held = weakref.ref(function)

            def again(*args: Any) -> Any:
                return self._find(held(), args, {}, (False, *flags), None)(*args)

            of_rule = weakref.ref(rule)
            entry = Entry(epoch, _by_rule(of_rule, held, again), None, True, False, None, of_rule)
            self._add(function, args, flags, entry)

    def open_for(self, function: FunctionType) -> Known:
        """The entries of a function in its present state; new ones if it has none."""
        known = function.__dict__.get(KEPT)
        if (
            type(known) is not Known
            or known.era is not self.cache.memory.era
            or known.code is not function.__code__
            or known.function() is not function
        ):
            known = function.__dict__[KEPT] = Known(function, function.__code__, self.cache.memory.era)
        return known

    def _may_be_opened(self, function: FunctionType) -> bool:
        """Whether a function may have entries: only if all that it captures is constant.

        A function with captured variables gets them from its second call on, since most are recreated for
        each call.
        """
        if not function.__closure__:
            return True
        if KEPT not in function.__dict__:
            self.open_for(function)
            return False
        return constants_captured(self.cache, function) is not None

    def _add(self, function: FunctionType, args: tuple[Any, ...], flags: Any, entry: Entry) -> None:
        code = function.__code__
        more = code.co_flags & _VARKEYWORDS and not entry.one_by_one
        if more or code.co_kwonlyargcount or not self._may_keep(function, entry):
            return
        takes_rest = entry.count is not None or entry.one_by_one
        if not takes_rest and (code.co_flags & _VARARGS or len(args) > code.co_argcount):
            return
        entry.structured = not all(isinstance(x, LEAVES) for x in args)
        self._keep(function, args, flags, entry)

    def _may_keep(self, function: FunctionType, entry: Entry) -> bool:
        """Whether an entry is valid now, and stays so without a further check."""
        if self.cache.memory.mode != "auto" or entry.epoch != self._registry.epoch:
            return False
        copying = self.cache.copying  # its sweeps may have to keep copies
        return copying is None or self.copies or function.__code__ not in copying

    def _keep(self, function: FunctionType, args: tuple[Any, ...], flags: Any, entry: Entry) -> None:
        known = self.open_for(function)
        if len(known.entries) >= _FEW:
            known.entries.clear()
        if tuple in map(type, args):
            if (of_items := _key_of_tuples(flags, args)) is not None:
                known.entries[of_items] = entry
            return
        if entry.structured:
            kinds = list(map(type, args))
            for key in [key for key in list(known.entries) if any(_is_older(part, kinds) for part in key)]:
                known.entries.pop(key, None)
        signature = [(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in args]
        known.entries[(flags, *signature)] = entry
        if flags == tuple(map(varies, args)):
            known.entries[(None, *signature)] = entry


def _key_of_tuples(flags: Any, args: tuple[Any, ...]) -> Any:
    """The key of a call with tuples among its arguments, by the types of their items too; None if a tuple is
    long or holds anything but numbers, texts, arrays and tuples of these.
    """
    kinds = [_kind_of_tuple(x) if type(x) is tuple else _kind_of(x) for x in args]
    return None if None in kinds else (flags, *kinds)


def _kind_of(x: Any) -> Any:
    return (x.dtype, x.ndim) if type(x) is ndarray else type(x)


def _kind_of_tuple(x: tuple[Any, ...]) -> Any:
    if len(x) > _MOST_ITEMS:
        return None
    kinds = [_kind_of_tuple(part) if type(part) is tuple else _kind_of(part) for part in x]
    known = all(type(kind) is tuple or kind in _CONSTANTS for kind in kinds)
    return (tuple, *kinds) if known else None


_MOST_ITEMS = 16


def _bound_flags(count: int, flags: tuple[bool, ...]) -> tuple[Any, ...]:
    """The part of a key that replaces the flags; no call by position has such a key."""
    return "bound", count, *flags


def _are_constants(defaults: tuple[Any, ...] | None) -> bool:
    """Whether the defaults of a function are all of immutable types."""
    return _CONSTANTS.issuperset(map(type, defaults or ()))


def _with_defaults(
    function: FunctionType, guard: Callable[[dict[str, Any]], bool] | None
) -> Callable[[dict[str, Any]], bool]:
    """The guard of a pass that also relies on the function's defaults."""
    held, defaults = weakref.ref(function), function.__defaults__

    def as_it_was(namespace: dict[str, Any]) -> bool:
        function = held()
        if function is None or function.__defaults__ is not defaults:
            return False
        return guard is None or guard(namespace)

    return as_it_was


class EntriesBeside(Entries):
    """The entries of sweeps in the implicit style, of sweeps that keep copies, or of both.

    An implicit entry is valid for one choice of what holds parameters. In sweeps that keep copies, a call by
    a user's rule always takes the slow path.
    """

    def __init__(
        self, implicit: bool, copies: bool, cache: Cache, find: Callable[..., Callable[..., Any]]
    ) -> None:
        super().__init__(cache, find)
        self.implicit = implicit
        self.copies = copies

    def find(
        self, function: Any, args: tuple[Any, ...], flags: tuple[Any, ...] | None = None
    ) -> Entry | None:
        if type(function) is not FunctionType or KEPT not in function.__dict__:
            return None
        return super().find(function, args, self._flags(function, flags))

    def _may_be_opened(self, function: FunctionType) -> bool:
        return not function.__closure__  # what it captures may hold parameters, or be refilled

    def add_rule(self, *asked: Any) -> None:
        if not self.copies:
            super().add_rule(*asked)

    def _keep(self, function: FunctionType, args: tuple[Any, ...], flags: Any, entry: Entry) -> None:
        super()._keep(function, args, self._flags(function, flags), entry)

    def _flags(self, function: FunctionType, flags: Any) -> Any:
        return (self.copies, self.implicit, pattern(function) if self.implicit else None, flags)


def _is_older(part: Any, kinds: list[type]) -> bool:
    """Whether part of a key is an earlier version of one of these classes, whose cell has been run again."""
    return isinstance(part, type) and any(
        kind is not part and kind.__qualname__ == part.__qualname__ and kind.__module__ == part.__module__
        for kind in kinds
    )


_CONSTANTS = frozenset({float, float64, int, bool, str, type(None)})


def _spreading(whole: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The forward sweep, for arguments one by one, of a pass that takes `*args` as a tuple after `count`
    others.
    """

    def forward(*args: Any) -> Any:
        __tracebackhide__ = True
        enter()
        try:
            y, pullback = whole(*args[:count], args[count:])
        finally:
            leave()

        def back(y_bar: Any) -> tuple[Any, ...]:
            __tracebackhide__ = True
            got = pullback(y_bar)
            return (*got[: 1 + count], *bars_of_rest(got[1 + count], len(args) - count))

        return y, like(pullback, back)

    return forward


def _without_words(whole: Callable[..., Any], count: int, defaults: tuple[Any, ...]) -> Callable[..., Any]:
    """The forward sweep, for arguments by position, of a function with `**words` and `count` other
    parameters: the pass takes the words as a dict, to which the function may add.
    """

    def forward(*args: Any) -> Any:
        __tracebackhide__ = True
        words: dict[str, Any] = {}
        size, missing = publish(words), count - len(args)
        enter()
        try:
            y, pullback = whole(*args, *defaults[len(defaults) - missing :], words)
        finally:
            leave()

        def back(y_bar: Any) -> tuple[Any, ...]:
            __tracebackhide__ = True
            got = pullback(y_bar)
            if size is not None:
                collect(words, got[-1], size)
            return tuple(got[: 1 + len(args)])

        return y, effectful(back)

    return forward


def _with_rest(whole: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A pass without a reverse sweep, for arguments one by one, that takes `*args` as a tuple after `count`
    others.
    """

    def forward(*args: Any) -> Any:
        __tracebackhide__ = True
        return whole(*args[:count], args[count:])

    return forward


def bars_of_rest(bar: Any, count: int) -> list[Any]:
    """The cotangents of the `count` items of `*args`, from that of the tuple; an item that is absent there
    has none.
    """
    bar = value(bar)
    if isinstance(bar, Tangent):
        entries = entries_of(bar)
        return [entries.get(number, NO) for number in range(count)]
    return [part(bar, number) for number in range(count)]


def _by_rule(
    held: Callable[[], Any], target: Callable[[], Any], again: Callable[..., Any]
) -> Callable[..., Any]:
    """The forward sweep by a user's rule; `again` answers if another thread has just removed the rule, or in
    debug mode.
    """

    def by_rule(*args: Any) -> Any:
        __tracebackhide__ = True
        rule = held()
        if rule is None or DEBUGGING.rules:
            return again(*args)
        enter()
        try:
            answer = rule.function(*args)
        finally:
            leave()
        if type(answer) is not tuple or len(answer) != 2 or not callable(answer[1]):
            return checked_answer(rule, target(), args, answer)
        note_asked_again(answer[1])
        return answer[0], quick_pullback(rule, target, args, *answer)

    return by_rule


def quick_pullback(
    rule: Rule, target: Callable[[], Any], args: tuple[Any, ...], y: Any, pullback: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The pullback of a user's rule with its answers checked: quickly if they certainly fit, else in full."""

    def back(y_bar: Any) -> Any:
        __tracebackhide__ = True
        if type(y_bar) is not float or (type(y) is not float and type(y) is not float64):
            if not fits((y,), (None, y_bar)):
                return CheckedPullback(rule, pullback, y, target(), args)(y_bar)
        answer = pullback(y_bar)
        if type(answer) is tuple and len(answer) == 1 + len(args) and answer[0] is NO and fits(args, answer):
            return answer
        return check_cotangents(rule, target(), args, answer, pullback)

    return back


def fits(xs: tuple[Any, ...], bars: tuple[Any, ...]) -> bool:
    """Whether each of `bars` after the first certainly is a cotangent of its x: a float for a float, a
    float64 array of the same shape for a float64 array.
    """
    number = 0
    for x in xs:
        number += 1
        x_bar = bars[number]
        kind = type(x_bar)
        if kind is ndarray:
            if (
                type(x) is not ndarray
                or x.dtype is not FLOAT64
                or x_bar.dtype is not FLOAT64
                or x_bar.shape != x.shape
            ):
                return False
        elif (kind is not float and kind is not float64) or (type(x) is not float and type(x) is not float64):
            return False
    return True
