"""Callables that hold another: partial and vectorize objects, cached functions, getters of `operator`."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NotDifferentiableError, Place
from ..tangents.projection import unbroadcast
from ..tangents.structural import Tangent
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero
from . import heap, support
from .handlers import NO, ZERO, Handler, Unsettled, constant
from .protocols import is_dispatcher, is_of_c

if TYPE_CHECKING:
    from .pullbacks import Pullbacks

Args = tuple[Any, ...]
Words = dict[str, Any]
# Functions of this package that call what they are given, each with what makes the handler of a call:
# `maker(pullbacks, args, kwargs, active, place)`.
CALLING: dict[Any, Callable[..., Handler]] = {}
_BIND = types.WrapperDescriptorType.__get__


class Holders:
    """Answers for calls of such objects, and for the calls that make them."""

    def __init__(self, pullbacks: Pullbacks) -> None:
        self.pullbacks = pullbacks
        self.callers = {
            functools.partial: self.partial_call,
            operator.itemgetter: self.itemgetter_call,
            operator.attrgetter: self.attrgetter_call,
            operator.methodcaller: self.methodcaller_call,
        }
        self.makers = {
            functools.partial: self.make_partial,
            np.vectorize: self.make_vectorize,
            super: self.make_super,
            getattr: self.getattr_call,
            operator.call: self.call_call,
        }

    def handler(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler | None:
        """What answers for a call of `target`; None if it is nothing of the kind."""
        if isinstance(target, types.FunctionType) and target in CALLING:
            return CALLING[target](self.pullbacks, args, kwargs, active, place)
        if is_dispatcher(target) and args:
            return self.pullbacks.find(target.dispatch(args[0].__class__), args, kwargs, active, place)
        if target is np.vectorize.__call__:
            return self.vectorize_call(args[0], args[1:], kwargs, (False, *active[1:]), place)
        if target is _BIND and args and args[0] is object.__setattr__:
            return constant(target)  # as `__init__` of a frozen attrs class begins
        caller = self.callers.get(type(target))
        if caller is None and is_of_c(target):
            caller = self.makers.get(target)
        return None if caller is None else caller(target, args, kwargs, active, place)

    # -- partial ---------------------------------------------------------------------------------------------

    def partial_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        __tracebackhide__ = True
        held, words = target.args, {**target.keywords, **kwargs}
        given = dict(zip(kwargs, active[1 + len(args) :], strict=True))
        flags = (
            *(active[0],) * (1 + len(held)),
            *active[1 : 1 + len(args)],
            *(given.get(name, active[0]) for name in words),
        )
        inner = self.pullbacks.find(target.func, (*held, *args), words, flags, place)

        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            y, pullback = inner(*held, *args, **words)

            def back(y_bar: Any) -> Any:
                got = tuple(_entries(pullback(y_bar), 1 + len(held) + len(args) + len(words)))
                of_held, of_args = got[1 : 1 + len(held)], got[1 + len(held) : 1 + len(held) + len(args)]
                of_words = dict(zip(words, got[1 + len(held) + len(args) :], strict=True))
                kept = {name: bar for name, bar in of_words.items() if name not in kwargs}
                own = Tangent(
                    functools.partial,
                    func=got[0],
                    args=Tangent(tuple, *of_held),
                    keywords=Tangent(dict, kept),
                )
                return (own, *of_args, *(of_words[name] for name in kwargs))

            return y, heap.like(pullback, back)

        return Unsettled(call)

    def make_partial(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        def call(*args: Any, **kwargs: Any) -> Any:
            y = target(*args, **kwargs)
            inner = args[0] if y.func is not args[0] else None  # a partial of a partial is made flat
            count = len(inner.args) if inner is not None else 0

            def back(y_bar: Any) -> Any:
                func, of_args, words = (support.part(y_bar, name) for name in ("func", "args", "keywords"))
                if inner is not None:
                    func = Tangent(
                        target,
                        func=func,
                        args=Tangent(tuple, *(support.part(of_args, k) for k in range(count))),
                        keywords=Tangent(
                            dict, {k: support.part(words, k) for k in inner.keywords if k not in kwargs}
                        ),
                    )
                rest = (support.part(of_args, count + k) for k in range(len(args) - 1))
                return (NO, func, *rest, *(support.part(words, name) for name in kwargs))

            return y, back

        return Unsettled(call)

    def make_super(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`super(C, self)`: the cotangent of what it gives is that of the object."""
        return Unsettled(lambda *args: (super(*args), lambda y_bar: (NO, NO, y_bar)[: 1 + len(args)]))

    # -- vectorize -------------------------------------------------------------------------------------------

    def make_vectorize(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        def call(*args: Any, **kwargs: Any) -> Any:
            y = target(*args, **kwargs)
            names = [*["pyfunc"][: len(args)], *[""] * (len(args) - 1), *kwargs]
            return y, lambda y_bar: (
                NO,
                *(support.part(y_bar, name) if name == "pyfunc" else NO for name in names),
            )

        return Unsettled(call)

    def vectorize_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`np.vectorize(f)(x, …)`: f on each element of the broadcast arguments, as Python numbers.

        The object itself is the first argument of the call, so `active` tells of it in the second place.
        """
        if kwargs or target.signature is not None or target.excluded or not args:
            raise NotDifferentiableError(
                "np.vectorize with a signature, excluded arguments or keywords is not differentiated",
                place=place,
                fixes=("call the function in a loop or a list comprehension",),
                read="limitations#iteration",
            )

        def call(_: Any, *args: Any) -> Any:
            __tracebackhide__ = True
            spread = np.broadcast_arrays(*[np.asanyarray(x).astype(object) for x in args])
            shape = spread[0].shape
            if not spread[0].size:
                return target(*args), lambda y_bar: NO
            results, backs = [], []
            for values in zip(*(a.ravel().tolist() for a in spread), strict=True):
                y, pullback = self.pullbacks.find(target.pyfunc, values, {}, active[1:], place)(*values)
                results.append(y)
                backs.append(pullback)
            y = self.of_results(target, results, shape, place)

            def back(y_bar: Any) -> Any:
                y_bar = unthunk(y_bar)
                bars = np.broadcast_to(np.asarray(y_bar), shape).ravel()
                own, parts = ZERO, [np.zeros(len(backs), complex) for _ in args]
                for number in range(len(backs) - 1, -1, -1):
                    got = _entries(backs[number](bars[number]), 1 + len(args))
                    own = support.add(own, got[0])
                    for part, bar in zip(parts, tuple(got)[1:], strict=True):
                        bar = unthunk(bar)
                        if not isinstance(bar, AbstractZero):
                            part[number] = bar
                found = [_real(part.reshape(shape), x) for part, x in zip(parts, args, strict=True)]
                return (
                    NO,
                    Tangent(np.vectorize, pyfunc=own),
                    *(unbroadcast(part, x) for part, x in zip(found, args, strict=True)),
                )

            return y, back

        return Unsettled(call)

    def of_results(self, target: Any, results: list[Any], shape: tuple[int, ...], place: Place | None) -> Any:
        if isinstance(results[0], tuple):
            raise NotDifferentiableError(
                "np.vectorize of a function with several results is not differentiated",
                place=place,
                fixes=("one np.vectorize for each result",),
                read="limitations#iteration",
            )
        dtype = np.dtype(target.otypes[0] if target.otypes else np.asarray(results[0]).dtype.char)
        if dtype.kind in "iub" and any(isinstance(y, (float, complex, np.inexact)) for y in results):
            raise NotDifferentiableError(
                f"np.vectorize gives {dtype} here, which cuts off the digits of a float",
                place=place,
                fixes=("give np.vectorize otypes=[float]",),
                read="limitations#iteration",
            )
        whole = np.empty(len(results), object)
        whole[:] = results
        return np.asanyarray(whole.reshape(shape) if shape else whole[0], dtype=dtype)

    # -- getters ---------------------------------------------------------------------------------------------

    def itemgetter_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        keys = target.__reduce__()[1]

        def item(x: Any, key: Any) -> Any:
            return self.pullbacks.find_target(operator.getitem, (x, key), {}, (False, True, False), place)(
                x, key
            )

        return _several(target, args, kwargs, [functools.partial(item, key=key) for key in keys])

    def attrgetter_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        def attribute(x: Any, path: str) -> Any:
            backs = []
            for name in path.split("."):
                x, back = self.pullbacks.attribute(name, x, place)(x)
                backs.append(back)

            def through(y_bar: Any) -> Any:
                for back in reversed(backs):
                    y_bar = back(y_bar)[1]
                return NO, y_bar

            for back in backs:
                heap.like(back, through)
            return x, through

        paths = target.__reduce__()[1]
        return _several(target, args, kwargs, [functools.partial(attribute, path=path) for path in paths])

    def methodcaller_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        maker, held = target.__reduce__()[:2]
        words = maker.keywords if isinstance(maker, functools.partial) else {}
        name = maker.args[0] if isinstance(maker, functools.partial) else held[0]
        rest = held if isinstance(maker, functools.partial) else held[1:]

        def method(x: Any) -> Any:
            flags = (True, *(False,) * (len(rest) + len(words)))
            return self.pullbacks.method(name, (x, *rest), words, flags, place)(x, *rest, **words)

        return _several(target, args, kwargs, [method])

    def getattr_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not 2 <= len(args) <= 3 or kwargs or not isinstance(args[1], str):
                return getattr(*args, **kwargs), lambda y_bar: NO  # raises Python's own error
            owner, name = args[:2]
            if len(args) == 3 and not hasattr(owner, name):
                return args[2], lambda y_bar: (NO, ZERO, NO, y_bar)
            y, back = self.pullbacks.attribute(name, owner, place)(owner)
            return y, heap.like(
                back, lambda y_bar: (*tuple(_entries(back(y_bar), 2)), NO, ZERO)[: 1 + len(args)]
            )

        return Unsettled(call)

    def call_call(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not args:
                return target(*args, **kwargs), lambda y_bar: NO
            y, back = self.pullbacks.find(args[0], args[1:], kwargs, active[1:], place)(*args[1:], **kwargs)
            return y, heap.like(
                back, lambda y_bar: (NO, *tuple(_entries(back(y_bar), len(args) + len(kwargs))))
            )

        return Unsettled(call)


def _entries(got: Any, count: int) -> Any:
    """The answer of a pullback as a tuple of so many entries."""
    return (NO,) * count if got is NO else (tuple(got) + (NO,) * count)[:count]


def _real(part: np.ndarray, x: Any) -> Any:
    return part if np.iscomplexobj(x) else part.real


def _several(target: Any, args: Args, kwargs: Words, getters: list[Any]) -> Handler:
    """A getter with one part gives it, with several a tuple."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return target(*args, **kwargs), lambda y_bar: NO  # raises Python's own error
        found = [getter(args[0]) for getter in getters]
        if len(found) == 1:
            y, back = found[0]
            return y, heap.like(back, lambda y_bar: tuple(_entries(back(y_bar), 2)))

        def back_of_all(y_bar: Any) -> Any:
            total: Any = ZERO
            for number, (_, back) in enumerate(found):
                bar = support.part(y_bar, number)
                if not heap.is_idle(back, bar):
                    total = support.add(total, _entries(back(bar), 2)[1])
            return NO, total

        for _, back in found:
            heap.like(back, back_of_all)
        return tuple(y for y, _ in found), back_of_all

    return Unsettled(call)
