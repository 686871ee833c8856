"""Guarded entries: the quick way from a call of a Python function to its pullback, once the slow way has
found it.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ..rules.calling import CheckedPullback, checked_answer
from ..rules.rule import Rule
from ..tangents.zeros import NoTangent
from .cache import Cache, Pass
from .effects import noting
from .types import signature_of

NO = NoTangent()
FLOAT64 = np.dtype(float)
_FEW = 64  # signatures remembered for one function


@dataclass(eq=False)
class Entry:
    """What a call with one signature runs, as long as the registry is at `epoch` and the guard holds."""

    epoch: int
    forward: Callable[..., Any]
    guard: Callable[[dict[str, Any]], bool] | None
    namespace: dict[str, Any]
    projected: bool  # whether every array that the pullback gives has the shape and dtype of its argument


@dataclass(eq=False)
class _Known:
    function: Callable[[], Any]  # a weak reference
    code: weakref.ref[types.CodeType]
    entries: dict[Any, Entry] = field(default_factory=dict)


class Entries:
    """The entries over one cache. Holds no function and no rule alive."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._registry = cache.registry
        self._known: dict[int, _Known] = {}
        cache.quick_ways.add(self)

    def clear(self) -> None:
        """Forget every entry."""
        self._known.clear()

    def find(
        self, function: Any, args: tuple[Any, ...], flags: tuple[bool, ...] | None = None
    ) -> Entry | None:
        """The entry of this call, or None if only the slow way can tell.

        `flags` tell for which arguments a cotangent is wanted; None means all that can have one.
        """
        known = self._known.get(id(function))
        if known is None or known.function() is not function or known.code() is not function.__code__:
            return None
        entry = known.entries.get(
            (flags, *[(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in args])
        )
        if entry is None or entry.epoch != self._registry.snapshot.epoch:
            return None
        if entry.guard is not None and (
            entry.namespace is not function.__globals__ or not entry.guard(entry.namespace)
        ):
            return None
        return entry

    def add_pass(
        self, function: types.FunctionType, args: tuple[Any, ...], flags: tuple[bool, ...], made: Pass
    ) -> None:
        """Remember a pass of a function that captures nothing, called with all its parameters in order."""
        if self.cache.mode == "auto" and not made.takes_function and made.epoch == self.cache.registry.epoch:
            forward = noting(self.cache.watches, made.noted, made.forward) if made.noted else made.forward
            self._add(function, args, flags, Entry(made.epoch, forward, made.guard, made.namespace, False))

    def add_rule(
        self, function: types.FunctionType, args: tuple[Any, ...], flags: tuple[bool, ...], rule: Rule
    ) -> None:
        """Remember the user's rule that applies to a call with all parameters in order."""
        if self.cache.mode == "auto" and not rule.requires:
            forward = _by_rule(weakref.ref(rule), weakref.ref(function))
            self._add(
                function,
                args,
                flags,
                Entry(self.cache.registry.epoch, forward, None, function.__globals__, True),
            )

    def _add(
        self, function: types.FunctionType, args: tuple[Any, ...], flags: tuple[bool, ...], entry: Entry
    ) -> None:
        code = function.__code__
        if code.co_flags & 0x0C or code.co_kwonlyargcount or len(args) != code.co_argcount:
            return
        known = self._known.get(id(function))
        if known is None or known.function() is not function or known.code() is not code:
            number, every = id(function), self._known
            known = _Known(weakref.ref(function, lambda _: every.pop(number, None)), weakref.ref(code))
            self._known[number] = known
        if len(known.entries) >= _FEW:
            known.entries.clear()
        signature = tuple(map(signature_of, args))
        if tuple in map(type, args):
            return  # the types of its items would have to be looked at
        known.entries[(flags, *signature)] = entry
        if flags == tuple(map(varies, args)):
            known.entries[(None, *signature)] = entry


def varies(x: Any) -> bool | None:
    """Whether values of this type can have a cotangent; None where the type alone does not tell."""
    return x.dtype.kind in "fciu" if type(x) is ndarray else _VARIES.get(type(x))


_VARIES = {float: True, float64: True, int: True, bool: False, str: False, type(None): False}


def _by_rule(held: Callable[[], Any], target: Callable[[], Any]) -> Callable[..., Any]:
    """The forward sweep by a user's rule; function and rule live as long as the entry is found."""

    def by_rule(*args: Any) -> Any:
        rule = held()
        answer = rule.function(*args)
        if type(answer) is not tuple or len(answer) != 2 or not callable(answer[1]):
            return checked_answer(rule, target(), args, answer)
        return answer[0], quick_pullback(rule, target, args, *answer)

    return by_rule


def quick_pullback(
    rule: Rule, target: Callable[[], Any], args: tuple[Any, ...], y: Any, pullback: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The pullback of a user's rule with its answers checked: at a glance where they fit, else in full."""

    def back(y_bar: Any) -> Any:
        if type(y_bar) is not float or (type(y) is not float and type(y) is not float64):
            if not _fits((y,), (None, y_bar)):
                return CheckedPullback(rule, pullback, y, target(), args)(y_bar)
        answer = pullback(y_bar)
        if type(answer) is tuple and len(answer) == 1 + len(args) and answer[0] is NO and _fits(args, answer):
            return answer
        return CheckedPullback(rule, lambda _: answer, y, target(), args)(y_bar)

    return back


def _fits(xs: tuple[Any, ...], bars: tuple[Any, ...]) -> bool:
    """Whether each of `bars`, from the second on, certainly is a cotangent of its x: a float for a float, a
    float64 array of its shape for a float64 array.
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
