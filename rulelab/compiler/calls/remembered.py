"""What one call site remembers: the handlers of functions that only built-in rules answer, each for arguments
of the same kinds, given under the same names.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from ...rules.registry import Found
from ..analysis.effects import Noted, side_effect_of_call
from ..base.question import Handler, Question
from ..memory.handlers import Uncached

# Values that neither hold anything else nor run code of an author's.
_PLAIN = frozenset({float, int, bool, complex, str, types.NoneType, np.float64})
_IN_TUPLES = frozenset({int, types.NoneType})  # those of axes and shapes
_NUMBERS = "biufc"  # dtypes of such values
_MOST = 64

Key = tuple[Any, ...]
Known = dict[Key, tuple[Any, Handler]]


class Remembered:
    """The handlers of one site. `known()` has them as of this moment's rules; `keep` adds one, if nothing but
    the kinds of the arguments was looked at to find it.
    """

    __slots__ = ("_found", "_pullbacks", "_registry")

    def __init__(self, pullbacks: Question) -> None:
        self._pullbacks = pullbacks
        self._registry = pullbacks.cache.registry
        self._found: tuple[int, Known] = (-1, {})  # as of which epoch: both change in one store

    def known(self) -> Known:
        """The handlers by key, to be asked for before one is looked for: a rule that comes meanwhile makes
        it old.
        """
        epoch, known = self._registry.snapshot.epoch, self._found
        if known[0] != epoch:
            self._found = known = (epoch, {})
        return known[1]

    def keep(
        self,
        known: Known,
        key: Key,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        handler: Handler,
    ) -> None:
        """Remember the handler that was found for a call, in what was `known` before."""
        if type(handler) is Uncached or len(known) >= _MOST or self._pullbacks.cache.mode != "auto":
            return
        if not all(map(_is_plain, (*args, *kwargs.values()))) or (args and type(args[0]) is str):
            return
        registry = self._registry
        if registry.built_in_entry(target) is None or registry.stand_in(target) is not None:
            return
        if side_effect_of_call(target, True) is not Noted.NOTHING:
            return  # which is to be told at each call
        if isinstance(self._pullbacks.ask(target, args, kwargs), Found):
            known[key] = (target, handler)


def key_of(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
    """What a handler is remembered by: the target, and the kinds of all that it is handed."""
    if kwargs:
        return (id(target), *kinds_of(args), *kwargs, *kinds_of(kwargs.values()))
    return (id(target), *kinds_of(args))


def kinds_of(values: Iterable[Any]) -> list[Any]:
    """The types of values, of an array the dtype, of a tuple those of its items as well."""
    return [
        x.dtype if (kind := type(x)) is ndarray else kind if kind is not tuple else (tuple, *map(type, x))
        for x in values
    ]


def _is_plain(x: Any) -> bool:
    """Whether nothing but its kind can matter to who looks for a handler."""
    kind = type(x)
    if kind is ndarray:
        return x.dtype.kind in _NUMBERS
    return kind in _PLAIN or (kind is tuple and _IN_TUPLES.issuperset(map(type, x)))
