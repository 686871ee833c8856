"""What one call site remembers: the handlers of functions that only built-in rules answer, by the types and
the names of the arguments; and the finder of the handler of any call.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from ...errors import Place
from ...rules.registry import Found
from ...rules.rule import StandIn
from ...rules.targets import resolve
from ..analysis.effects import Noted, side_effect_of_call
from ..base.classes import chosen_by, is_dispatcher
from ..base.question import Handler, Question
from ..memory.handlers import Uncached
from .constructors import Maker

# Values that neither hold anything else nor run code of an author's.
_PLAIN = frozenset({float, int, bool, complex, str, types.NoneType, np.float64})
_IN_TUPLES = frozenset({int, types.NoneType})  # as in axes and shapes
_NUMBERS = "biufc"  # dtypes of arrays of such values
_MOST = 64

Find = Callable[[], Handler]
Key = tuple[Any, ...]
Known = dict[Key, tuple[Any, Handler]]


class Remembered:
    """The handlers of one site: `known()` returns those that are valid under the present rules, and `keep`
    adds one, if it depends only on the types of the arguments.
    """

    __slots__ = ("_found", "_pullbacks", "_registry")

    def __init__(self, pullbacks: Question) -> None:
        self._pullbacks = pullbacks
        self._registry = pullbacks.cache.registry
        self._found: tuple[int, Known] = (-1, {})  # with its epoch: both change in one assignment

    def known(self) -> Known:
        """The handlers by key. Fetch them before looking for a new one: if a rule is added meanwhile, the
        outdated handler goes into this outdated dict.
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
        looked_at: tuple[Any, ...] | None = None,
    ) -> None:
        """Remember the handler of a call in `known`, which was fetched before the handler was looked for.

        With `looked_at`, only these values are examined, instead of all arguments: for a method whose handler
        depends on no more than the class of its object.
        """
        if type(handler) is Uncached or (args and type(args[0]) is str):
            return
        if side_effect_of_call(target, True) is Noted.NOTHING:  # else it must be noted at each call
            self._keep(known, key, target, args, kwargs, handler, looked_at)

    def of_draw(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], find: Find
    ) -> Handler:
        """The handler of a method that draws random numbers, for an object of one of `GENERATORS`; `find()`
        if no call with such arguments has been answered.

        Only the class of the object matters, which is the library's, so that what was found for one object is
        valid for others.
        """
        known, key = self.known(), key_of(target, args, kwargs)
        asked = known.get(key)
        if asked is None or asked[0] is not target:
            handler = find()
            handler = handler.call if type(handler) is Uncached else handler
            self._keep(known, key, target, args, kwargs, handler)
            return handler
        watches = self._pullbacks.cache.watches
        watches.note_met(target)
        watches.note(side_effect_of_call(target, True))
        return asked[1]

    def _keep(
        self,
        known: Known,
        key: Key,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        handler: Handler,
        looked_at: tuple[Any, ...] | None = None,
    ) -> None:
        """Remember a handler if it can depend only on the types of the arguments."""
        if len(known) >= _MOST or self._pullbacks.cache.mode != "auto":
            return
        if not all(map(_is_plain, (*(args if looked_at is None else looked_at), *kwargs.values()))):
            return
        registry = self._registry
        if registry.built_in_entry(target) is None or registry.stand_in(target) is not None:
            return
        if isinstance(self._pullbacks.ask(target, args, kwargs), Found):
            known[key] = (target, handler)


def key_of(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
    """The key of a handler: the target, and the types of all arguments."""
    if kwargs:
        return (id(target), *kinds_of(args), *kwargs, *kinds_of(kwargs.values()))
    return (id(target), *kinds_of(args))


def kinds_of(values: Iterable[Any]) -> list[Any]:
    """The types of values; for an array the dtype, for a tuple also the types of its items."""
    return [
        x.dtype if (kind := type(x)) is ndarray else kind if kind is not tuple else (tuple, *map(type, x))
        for x in values
    ]


def _is_plain(x: Any) -> bool:
    """Whether a handler can depend only on the type of this value."""
    kind = type(x)
    if kind is ndarray:
        return x.dtype.kind in _NUMBERS
    return kind in _PLAIN or (kind is tuple and _IN_TUPLES.issuperset(map(type, x)))


# --- any call -----------------------------------------------------------------------------------------------


def call_finder(pullbacks: Question, active: tuple[bool, ...], place: Place | None) -> Handler:
    """The function that finds the handler of each call at a site: `finder(g, *args)`."""
    cache, registry = pullbacks.cache, pullbacks.cache.registry
    remembered = Remembered(pullbacks)
    found: tuple[int, dict[Any, tuple[Any, Handler]]] = (-1, {})
    makers: dict[Key, Maker] = {}

    def find(g: Any, /, *args: Any, **kwargs: Any) -> Handler:
        nonlocal found
        if type(g) is types.BuiltinFunctionType and type(g.__self__) is np.ufunc:
            g = resolve(g)[0]  # a ufunc's methods are new at each access
        if type(g) is types.FunctionType:
            return find_function(g, args, kwargs)
        if type(g) is type:
            return find_class(g, args, kwargs)
        if kwargs or type(g) is _DISPATCHED:
            return find_by_kinds(g, args, kwargs)
        asked_at = registry.snapshot.epoch
        of, known = found
        if of != asked_at:
            found = (asked_at, known := {})
        asked = known.get(key := (id(g), *map(type, args)))
        if asked is not None and asked[0] is g:
            return asked[1]
        handler = pullbacks.find(g, args, kwargs, active, place)
        if (
            isinstance(g, (np.ufunc, types.BuiltinFunctionType))
            and cache.mode == "auto"
            and type(handler) is not Uncached
            and registry.built_in_entry(g) is not None
            and len(known) < _MOST
        ):
            if not depends_on_items(registry.stand_in(g)):
                known[key] = (g, handler)
            elif _are_of_numbers(args):
                known[key] = (g, _of_numbers(pullbacks, g, handler, active, place))
        return handler

    def find_function(g: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handler:
        if is_dispatcher(g) and args and cache.mode == "auto" and registry.has_nothing_for(g):
            return find(chosen_by(g, args), *args, **kwargs)
        if kwargs or g.__code__.co_kwonlyargcount:
            found = pullbacks.remembered_bound(g, args, kwargs, active)
            return found or pullbacks.find(g, args, kwargs, active, place)
        return pullbacks.remembered(g, args, active) or pullbacks.find_function(g, args, active, place)

    def find_class(g: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handler:
        """The handler of a class, by the types of the arguments, as a rule would need; the class is checked
        each time.
        """
        if not registry.has_nothing_for(g) or cache.mode != "auto":
            return find_by_kinds(g, args, kwargs)
        key = (id(g), *map(id, map(type, args)), *kwargs)
        maker = makers.get(key)
        handler = None if maker is None else maker.handler(pullbacks, g, active, place)
        if handler is not None:
            return handler
        handler = pullbacks.find(g, args, kwargs, active, place)
        if (maker := Maker.behind(handler)) is not None:
            if len(makers) >= _MOST:
                makers.clear()
            makers[key] = maker
        return handler

    def find_by_kinds(g: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handler:
        """The handler of a call with keywords, or of a NumPy function, whose rule may depend on dtypes."""
        if type(g) is not type and not isinstance(g, _OF_C):
            return pullbacks.find(g, args, kwargs, active, place)
        known, key = remembered.known(), key_of(g, args, kwargs)
        asked = known.get(key)
        if asked is not None and asked[0] is g:
            return asked[1]
        handler = pullbacks.find(g, args, kwargs, active, place)
        remembered.keep(known, key, g, args, kwargs, handler)
        return handler

    return find


_DISPATCHED = type(np.sum)  # NumPy functions that other classes may override
_OF_C = (np.ufunc, types.BuiltinFunctionType, _DISPATCHED)


def depends_on_items(stand_in: StandIn | None) -> bool:
    """Whether more than the types of the arguments decides between the rule and the stand-in."""
    return stand_in is not None and stand_in.instead is not None


def _of_numbers(
    pullbacks: Question, g: Any, handler: Handler, active: tuple[bool, ...], place: Place | None
) -> Handler:
    """The handler found for numbers, and lists and tuples of numbers, made into one for all arguments of
    these types: if they contain anything but numbers, it looks for another handler.
    """

    def call(*args: Any) -> Any:
        __tracebackhide__ = True
        if _are_of_numbers(args):
            return handler(*args)
        return pullbacks.find(g, args, {}, active, place)(*args)

    return call


def _are_of_numbers(args: tuple[Any, ...]) -> bool:
    """Whether the arguments are numbers, or lists and tuples of nothing but numbers."""
    for x in args:
        kind = type(x)
        if kind is list or kind is tuple:
            if not _REAL.issuperset(map(type, x)):
                return False
        elif kind not in _REAL:
            return False
    return True


_REAL = frozenset({float, int, np.float64})
