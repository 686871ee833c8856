"""What one call site remembers: the handlers of functions that only built-in rules answer, each for arguments
of the same kinds, given under the same names; and what finds the handler of any call.
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
_IN_TUPLES = frozenset({int, types.NoneType})  # those of axes and shapes
_NUMBERS = "biufc"  # dtypes of such values
_MOST = 64

Find = Callable[[], Handler]
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
        if type(handler) is Uncached or (args and type(args[0]) is str):
            return
        if side_effect_of_call(target, True) is Noted.NOTHING:  # else it is to be told at each call
            self._keep(known, key, target, args, kwargs, handler)

    def of_draw(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], find: Find
    ) -> Handler:
        """The handler of a method that draws, of an object of one of `GENERATORS`; `find()` where no call
        with such arguments has been answered. All that is known of the object is its class, which is the
        library's: so what was found for these very arguments counts for others.
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
    ) -> None:
        """Remember a handler if nothing but the kinds of the arguments can matter to who looks for it."""
        if len(known) >= _MOST or self._pullbacks.cache.mode != "auto":
            return
        if not all(map(_is_plain, (*args, *kwargs.values()))):
            return
        registry = self._registry
        if registry.built_in_entry(target) is None or registry.stand_in(target) is not None:
            return
        if isinstance(self._pullbacks.ask(target, args, kwargs), Found):
            known[key] = (target, handler)


def key_of(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
    """What a handler is remembered by: the target, and the kinds of all that it is given."""
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


# --- any call -----------------------------------------------------------------------------------------------


def call_finder(pullbacks: Question, active: tuple[bool, ...], place: Place | None) -> Handler:
    """What finds the handler of each call at a site: `finder(g, *args)`."""
    cache, registry = pullbacks.cache, pullbacks.cache.registry
    remembered = Remembered(pullbacks)
    found: tuple[int, dict[Any, tuple[Any, Handler]]] = (-1, {})
    makers: dict[Key, Maker] = {}

    def find(g: Any, /, *args: Any, **kwargs: Any) -> Handler:
        nonlocal found
        if type(g) is types.BuiltinFunctionType and type(g.__self__) is np.ufunc:
            g = resolve(g)[0]  # a ufunc makes its methods anew each time
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
        """For the kinds of the arguments, which a rule would look at; the class itself is asked each time."""
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
        """With keywords, a rule may look at the dtype of what they name; so may one of NumPy's functions."""
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


_DISPATCHED = type(np.sum)  # functions of NumPy that other classes may answer for
_OF_C = (np.ufunc, types.BuiltinFunctionType, _DISPATCHED)


def depends_on_items(stand_in: StandIn | None) -> bool:
    """Whether the types of the arguments do not tell if it is the rule or the stand-in that answers."""
    return stand_in is not None and stand_in.instead is not None


def _of_numbers(
    pullbacks: Question, g: Any, handler: Handler, active: tuple[bool, ...], place: Place | None
) -> Handler:
    """The handler that was found for numbers, and lists and tuples of numbers, as one for all arguments of
    these classes: where there is anything else in them now, the question is asked.
    """

    def call(*args: Any) -> Any:
        __tracebackhide__ = True
        if _are_of_numbers(args):
            return handler(*args)
        return pullbacks.find(g, args, {}, active, place)(*args)

    return call


def _are_of_numbers(args: tuple[Any, ...]) -> bool:
    """Whether there is nothing but numbers in arguments that are lists or tuples, or themselves such."""
    for x in args:
        kind = type(x)
        if kind is list or kind is tuple:
            if not _REAL.issuperset(map(type, x)):
                return False
        elif kind not in _REAL:
            return False
    return True


_REAL = frozenset({float, int, np.float64})
