"""Counters made during this sweep: `+`, `-`, `|`, `&`, `total`, `most_common`, `update` and `subtract`.

Python has these methods in Python, and each goes through the counts in a loop. A pass of it asks at each step
what answers it. But an entry of the result is an entry of an operand, or the sum or difference of two. So the
method itself runs here, and its pullback adds the cotangent of each entry to those of the entries that it was
made of.
"""

from __future__ import annotations

import collections
import heapq
import operator
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError
from ..base.question import Question
from ..memory import heap, outlines, support
from ..memory.handlers import NO, ZERO, Handler

_REAL = frozenset({float, int, np.float64})
_KEYS = frozenset({str, int, bytes, bool, NoneType})  # these neither vary nor run code of an author's
_DICTS = frozenset({Counter, dict, OrderedDict})
_OPERATORS: dict[Any, str] = {
    operator.add: "__add__",
    operator.sub: "__sub__",
    operator.or_: "__or__",
    operator.and_: "__and__",
}
NAMES = ("total", "most_common", "update", "subtract")
_OF_DICTS = ("items", "values", "get", "__iter__", "__contains__", "__getitem__", "__setitem__")
_PYTHONS = {
    name: getattr(Counter, name)
    for name in (*_OPERATORS.values(), *NAMES, *_OF_DICTS, "__init__", "__new__", "__missing__")
}
_AS_THEY_WERE = tuple(_PYTHONS.items())
# What these methods run: if there is a user's rule for any of it, they have passes, where it counts.
_RUN: tuple[Any, ...] = (
    *(*_PYTHONS.values(), Counter, isinstance, sum, sorted, heapq.nlargest, operator.itemgetter),
    *(dict.__init__, dict.update, operator.add, operator.sub, operator.lt, operator.gt, operator.getitem),
    *(operator.setitem, operator.iadd, operator.contains, operator.or_, operator.and_),
)
Parts = tuple[tuple[int, bool], ...]  # operands by number, each with whether its entry is subtracted
Counts = dict[Any, Any]


class Counting:
    """Finds the handlers of such calls at one site."""

    __slots__ = ("_active", "_epoch", "_pullbacks")

    def __init__(self, pullbacks: Question, active: tuple[bool, ...]) -> None:
        self._pullbacks = pullbacks
        self._active = active  # for each operand
        self._epoch = -1  # of the registry, when it was last seen to have no user's rule for any of these

    def of_operator(self, target: Any, args: tuple[Any, ...]) -> Handler | None:
        """The handler of an operator on two Counters; None if it has to be answered in another way."""
        name = _OPERATORS.get(target)
        if name is None or len(args) != 2 or not self._runs_as_it_does():
            return None
        if type(args[1]) is not Counter or not all(map(_is_followed_if, args, self._active)):
            return None
        return _BINARY[name]

    def of_method(self, name: str, args: tuple[Any, ...], words: dict[str, Any]) -> Handler | None:
        """The handler of a method of a Counter, which comes first in `args`; None if it has to be answered in
        another way.
        """
        if not self._runs_as_it_does() or not _is_followed_if(args[0], True):
            return None
        if name == "total":
            return _total if len(args) == 1 and not words else None
        if name == "most_common":
            return None if words or not all(type(n) in (int, NoneType) for n in args[1:]) else _most_common
        others = [x for x in args[1:] if x is not None]
        if len(args) > 2 or not all(type(x) in _DICTS for x in others) or not _are_counts(words):
            return None
        if not all(map(_is_followed_if, others, self._active[1:])):
            return None
        return _updated if name == "update" else _subtracted

    def _runs_as_it_does(self) -> bool:
        """Whether the methods are Python's own, and nothing that they run has a user's rule."""
        if collections.Counter is not Counter or any(getattr(Counter, n) is not f for n, f in _AS_THEY_WERE):
            return False
        pullbacks = self._pullbacks
        registry = pullbacks.cache.registry
        if self._epoch != (epoch := registry.snapshot.epoch):
            entries = [entry for f in _RUN if (entry := registry.entry(f)) is not None]
            if any(entry.user for entry in entries) or any(map(registry.is_hidden, _RUN)):
                return False
            self._epoch = epoch
        return pullbacks.cache.mode == "auto" and not pullbacks.implicit and not pullbacks.keeps


def _is_followed_if(x: Any, active: bool) -> bool:
    """Whether a mapping holds counts, and its cotangents, if they are wanted, go by identity."""
    return _are_counts(x) and (not active or heap.is_followed(x))


def _are_counts(x: Counts) -> bool:
    """Whether a mapping has nothing but real numbers, under keys that run no code of an author's."""
    if not _REAL.issuperset(map(type, x.values())):
        return False
    return _KEYS.issuperset(map(type, x)) or all(map(_is_plain_key, x))


def _is_plain_key(key: Any) -> bool:
    return _KEYS.issuperset(map(type, key)) if type(key) is tuple else type(key) in _KEYS


# -- operators -----------------------------------------------------------------------------------------------


def _of_sum(key: Any, a: Counts, b: Counts) -> Parts:
    return (*(((0, False),) if key in a else ()), *(((1, False),) if key in b else ()))


def _of_difference(key: Any, a: Counts, b: Counts) -> Parts:
    return (*(((0, False),) if key in a else ()), *(((1, True),) if key in b else ()))


def _of_larger(key: Any, a: Counts, b: Counts) -> Parts:
    if key in a and not a[key] < b[key]:
        return ((0, False),)
    return ((1, False),) if key in b else ()  # a missing count is the constant 0


def _of_smaller(key: Any, a: Counts, b: Counts) -> Parts:
    if a[key] < b[key]:
        return ((0, False),)
    return ((1, False),) if key in b else ()


def _binary(name: str, parts_of: Callable[[Any, Counts, Counts], Parts]) -> Handler:
    """The handler of an operator of which each entry is made of these parts."""
    method = _PYTHONS[name]

    def call(a: Any, b: Any) -> Any:
        y = heap.own(method(a, b), True)
        parts = {key: parts_of(key, a, b) for key in y}
        operands = _followed(a), _followed(b)

        def back(y_bar: Any) -> Any:
            for key, bar in outlines.taken_from(y, y_bar).items():
                bar = support.real_or_zero(bar)
                for number, negated in parts.get(key, ()):
                    _give(operands[number], key, -bar if negated else bar)
            return NO, ZERO, ZERO

        return y, heap.effectful(back)

    return call


_BINARY = {
    "__add__": _binary("__add__", _of_sum),
    "__sub__": _binary("__sub__", _of_difference),
    "__or__": _binary("__or__", _of_larger),
    "__and__": _binary("__and__", _of_smaller),
}


def _followed(x: Any) -> Any:
    """The mapping if its cotangents go by identity, else None: a pullback may be called in another sweep."""
    return x if heap.is_followed(x) else None


def _give(x: Any, key: Any, bar: Any) -> None:
    """Add to the cotangent of an entry, if those of the mapping are wanted."""
    if x is not None:
        heap.deposit(x, key, bar)


# -- methods -------------------------------------------------------------------------------------------------


def _total(x: Any) -> Any:
    """`x.total()`"""
    y, keys = _PYTHONS["total"](x), list(x)

    def back(y_bar: Any) -> Any:
        bar = support.real_or_zero(y_bar)
        for key in keys:
            heap.deposit(x, key, bar)
        return NO, ZERO

    return y, back


def _most_common(x: Any, *count: Any) -> Any:
    """`x.most_common(n)`: a new list of pairs, whose second items are the counts."""
    y = heap.own(_PYTHONS["most_common"](x, *count), True)
    keys = [key for key, _ in y]

    def back(y_bar: Any) -> Any:
        for number, bar in outlines.taken_from(y, y_bar).items():
            heap.deposit(x, keys[number], support.real_or_zero(support.part(bar, 1)))
        return (NO, ZERO, *(NO for _ in count))

    return y, heap.effectful(back)


def _changing(name: str, negated: bool) -> Handler:
    """The handler of a method that adds counts to those of a Counter, or subtracts them."""
    method = _PYTHONS[name]

    def call(x: Any, *others: Any, **words: Any) -> Any:
        known, new = set(x), []  # for each mapping its keys, each with whether it was new to the Counter
        for other in (*others, words):
            new.append([(key, key not in known) for key in other or ()])
            known.update(other or ())
        given = [*map(_followed, others), words]
        try:
            method(x, *others, **words)
        except Exception as error:  # an overflow: what was counted before it has no pullback
            raise NotDifferentiableError(
                f"Counter.{name} failed half-way: {error}", read="limitations#attributes"
            ) from error
        heap.note_change(x)

        def back(_: Any) -> Any:
            of_words: dict[str, Any] = {}
            for other, keys in zip(given[::-1], new[::-1]):
                table = heap.bars_of(x)
                bars = [(key, support.real_or_zero(table.get(key, ZERO))) for key, _ in keys]
                for key, is_new in keys:
                    if is_new:
                        table.pop(key, None)
                for key, bar in bars:
                    bar = -bar if negated else bar
                    if other is words:
                        of_words[key] = bar
                    else:
                        _give(other, key, bar)
            return (NO, ZERO, *(ZERO for _ in others), *(of_words[key] for key in words))

        return None, heap.effectful(back)

    return call


_updated, _subtracted = _changing("update", False), _changing("subtract", True)
