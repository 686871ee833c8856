"""`x.name(...)`: a call of a method, with `x` as first argument, or of a value that `x` holds."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import Place
from ...rules import programs
from ...rules.targets import resolve
from ...tangents.holding import CACHED
from ...tangents.structural import is_namedtuple, make
from ..base.classes import GENERATORS, dispatched, holds_callable, in_class
from ..base.purity import seems_to_change
from ..base.question import Question
from ..front.ownership import SAFE_METHODS
from ..memory import heap
from ..memory.containers import append
from ..memory.handlers import NO, ZERO, Handler, Uncached, rearranged, without_owner
from .attributes import attribute_finder
from .counting import NAMES, Counting
from .own_errors import refuse_misfit
from .remembered import Remembered, key_of
from .templates import SELF, THIS, THIS_DOT, Forward, G, Program, Pushed, Ref

_CONTAINERS = frozenset({list, dict, deque, set})  # whose objects have no attributes
_DICTS = frozenset({dict, Counter, OrderedDict, defaultdict})
_VIEWS = ("keys", "values", "items")  # what these do depends on no more than the class
_OWNING = (types.ModuleType, type, np.ufunc)  # their attributes are functions of their own, not methods
_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, CACHED)


def function_behind(owner: Any, name: str, method: Any) -> Any:
    """The function that `owner.name` (the value `method`) runs with `owner` as its first argument; None if it
    does not pass `owner`: a static method, or a function of a module, class or ufunc.
    """
    if isinstance(owner, _OWNING) or getattr(method, "__self__", None) is not owner:
        return None
    found = getattr(method, "__func__", None) or getattr(type(owner), name, None)
    return found if isinstance(found, _METHODS) else None


def plain_method(owner: Any, name: str) -> types.FunctionType | None:
    """The Python function that `owner.name(...)` certainly runs with `owner` as its first argument, else
    None: a fast path, since most of the author's methods are of this kind.
    """
    if type(owner).__getattribute__ is not object.__getattribute__ or name in getattr(owner, "__dict__", ()):
        return None
    found = in_class(type(owner), name)
    return found if type(found) is types.FunctionType else None


# -- reverse -------------------------------------------------------------------------------------------------


def method_finder(pullbacks: Question, name: str, active: tuple[bool, ...], place: Place | None) -> Handler:
    """The function that finds the handler of `x.name(...)`, where the object is the first argument and has
    that argument's cotangent.
    """

    remembered, of_arrays, appends = Remembered(pullbacks), getattr(np.ndarray, name, None), name == "append"
    counting = Counting(pullbacks, active) if name in NAMES else None
    views = name in _VIEWS

    def find(owner: Any, /, *args: Any, **kwargs: Any) -> Handler:
        if type(owner) is np.ndarray and type(of_arrays) is types.MethodDescriptorType:
            return find_of_kind(of_arrays, owner, args, kwargs, (owner, *args))
        if appends and type(owner) is list and len(args) == 1 and not kwargs and heap.is_followed(owner):
            return append
        if views and active[0] and type(owner) in _DICTS and not getattr(owner, "__dict__", None):
            if type(view := getattr(type(owner), name)) is types.MethodDescriptorType and not kwargs:
                return find_of_kind(view, owner, args, {}, args)
        of_container = getattr(type(owner), name, None) if type(owner) in _CONTAINERS else None
        if type(of_container) is types.MethodDescriptorType:
            if active[0] and not kwargs and not heap.is_followed(owner):
                return find_of_kind(of_container, owner, args, {}, args)
            refuse_misfit(of_container, (owner, *args), kwargs)
            return pullbacks.find_target(of_container, (owner, *args), kwargs, (False, *active), place)
        if type(owner) in GENERATORS and callable(drawing := in_class(type(owner), name)):
            if name not in getattr(owner, "__dict__", ()):
                return find_of_generator(owner, drawing, args, kwargs)
        if counting is not None and type(owner) is Counter and heap.is_followed(owner):
            if (counted := counting.of_method(name, (owner, *args), kwargs)) is not None:
                return counted
        plain = plain_method(owner, name)
        if plain is None and holds_callable(owner, name):
            chosen = dispatched(owner, name, args)
            if chosen is not None:
                return pullbacks.find_target(chosen, (owner, *args), kwargs, (False, *active), place)
            return _of_attribute(pullbacks, name, active, place)(owner, *args, **kwargs)
        method = None if plain is not None else getattr(owner, name)
        target = plain or function_behind(owner, name, method)
        if target is not None:
            refuse_misfit(target, (owner, *args), kwargs)
            handler = pullbacks.find_target(target, (owner, *args), kwargs, (False, *active), place)
            return _lending(target, handler) if may_lend(target, (*args, *kwargs.values())) else handler
        return without_owner(pullbacks.find(method, args, kwargs, active, place))

    def find_of_kind(
        method: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], plain: tuple[Any, ...]
    ) -> Handler:
        """The handler of a C method, remembered by type if `plain` and the keywords are plain values."""
        given = (owner, *args)
        known, key = remembered.known(), key_of(method, given, kwargs)
        asked = known.get(key)
        if asked is not None:
            return asked[1]
        refuse_misfit(method, given, kwargs)
        handler = pullbacks.find_target(method, given, kwargs, (False, *active), place)
        remembered.keep(known, key, method, given, kwargs, handler, plain)
        return handler

    def find_of_generator(owner: Any, drawing: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handler:
        def find_anew() -> Handler:
            refuse_misfit(drawing, (owner, *args), kwargs)
            return pullbacks.find_target(drawing, (owner, *args), kwargs, (False, *active), place)

        return remembered.of_draw(drawing, args, kwargs, find_anew)

    return find


def may_lend(target: Any, given: Iterable[Any]) -> bool:
    """Whether an author's method is passed an array and has the name of an array method that keeps nothing of
    its arguments: `ownership` assumes that it is that method.
    """
    named = type(target) is types.FunctionType and target.__name__ in SAFE_METHODS
    return named and any(isinstance(x, np.ndarray) for x in given)


def note_lent(changes: bool, given: Iterable[Any], y: Any) -> None:
    """Record the arrays that such a method may have kept, if it `changes` something, or that its result may
    share.
    """
    for x in given:
        if isinstance(x, np.ndarray):
            apart = not np.may_share_memory(x, y) if isinstance(y, np.ndarray) else isinstance(y, heap.LEAVES)
            if changes or not apart:
                heap.note_lent(x)


def _lending(target: Any, handler: Handler) -> Handler:
    """The handler of such a method, which records the arrays that it may have kept or returned."""
    changes = seems_to_change(target)

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        y, back = handler(*args, **kwargs)
        note_lent(changes, (*args, *kwargs.values()), y)
        return y, back

    return Uncached(call) if isinstance(handler, Uncached) else call


def apply_finder(pullbacks: Question, name: str | None, active: tuple[bool, ...], place: Place) -> Handler:
    """The function that finds the handler of `g(*args, **kwargs)`, or of the method `name` of `g`: the tuple
    and the dict have one cotangent each.
    """

    def find(g: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Handler:
        words = kwargs or {}
        flags = (active[0], *(active[1],) * len(args), *(active[2],) * len(words))
        if name is None or isinstance(g, (types.ModuleType, type)):
            target = g if name is None else getattr(g, name)
            return _applied(pullbacks.find(target, args, words, flags, place), False)
        return _applied(method_finder(pullbacks, name, flags, place)(g, *args, **words), True)

    return find


def _of_attribute(pullbacks: Question, name: str, active: tuple[bool, ...], place: Place | None) -> Handler:
    """`x.name(...)` where `x.name` is not a method: read as an attribute, then called."""

    def find(owner: Any, /, *args: Any, **kwargs: Any) -> Handler:
        function, of_attribute = attribute_finder(pullbacks, name, place)(owner)(owner)
        inner = pullbacks.find(function, args, kwargs, active, place)

        def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            y, pullback = inner(*args, **kwargs)

            def to_owner(got: tuple[Any, ...]) -> Any:
                own = got[0]
                return (NO, own if own is NO or own is ZERO else of_attribute(own)[1], *got[1:])

            return y, rearranged(pullback, to_owner)

        return Uncached(call)

    return find


def _applied(inner: Handler, of_method: bool) -> Handler:
    """Turns the handler of a call into one that takes a tuple and a dict; with `of_method`, it takes the
    object first.
    """
    shift = 2 if of_method else 1

    def apply(g: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        words = kwargs or {}
        y, pullback = inner(*((g,) if of_method else ()), *args, **words)

        def to_tuple_and_dict(got: tuple[Any, ...]) -> Any:
            after = shift + len(args)
            bars = dict(zip(words, got[after:], strict=False))  # a rule may leave off the last ones
            return got[shift - 1], make(tuple, dict(enumerate(got[shift:after])), len(args)), make(dict, bars)

        return y, rearranged(pullback, to_tuple_and_dict)

    return apply


# -- forward -------------------------------------------------------------------------------------------------


def pushed_forward(push: Forward, call: Pushed, name: str) -> Program:
    """The program of `x.name(...)`, where the target of the call is `x`."""
    owner, names, refs, dot_refs = call.target, call.names, call.refs(), call.dot_refs()
    this, this_dot = THIS, THIS_DOT
    if isinstance(owner, _OWNING):
        return push.through(call.raw, getattr(owner, name), refs, dot_refs, names)
    if holds_callable(owner, name):
        chosen = dispatched(owner, name, call.args)
        if chosen is not None:
            return push.through(call.raw, chosen, (this, *refs), (this_dot, *dot_refs), names)
        whole = (push, this, this_dot, name, refs, dot_refs, names)
        return Program(programs.called_attribute, whole, trusted=True)
    if name in ("_replace", "_asdict") and is_namedtuple(type(owner)):
        refuse_misfit(getattr(type(owner), name), (owner, *call.args), call.kwargs)
        of = (name, this, this_dot, dict(zip(names, refs)), dict(zip(names, dot_refs)))
        return Program(programs.of_namedtuple, of, trusted=True)
    method = getattr(owner, name)
    if isinstance(owner, super) and getattr(method, "__self__", None) is owner.__self__:  # type: ignore[attr-defined]
        target, this = resolve(method)[0], Ref((G, SELF))
    else:
        target = function_behind(owner, name, method)
    if target is None:
        return push.through(call.raw, method, refs, dot_refs, names)
    return push.through(call.raw, target, (this, *refs), (this_dot, *dot_refs), names)
