"""Callables that hold another: partials, getters of `operator`, and the calls that make such objects."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...rules.vectorized import check_vectorized, dtype_of_results
from ...tangents.projection import unbroadcast
from ...tangents.structural import Tangent
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.classes import chosen_by, is_dispatcher, is_of_c
from ..memory import heap, support
from ..memory.handlers import NO, ZERO, Handler, Uncached, constant, no_cotangents, with_bound, without_owner
from .attributes import attribute_finder
from .call import Call
from .methods import method_finder
from .piecemeal import entries, found_for_each

if TYPE_CHECKING:
    from ..base.question import Question

# Functions and classes that call their arguments, or make objects that do, each with the maker of the handler
# of a call: `maker(pullbacks, call)`.
CALLING: dict[Any, Callable[..., Handler | None]] = {}
# C classes whose objects read or call a part of their argument; a stand-in for the class says which.
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def handler(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of a call of such an object, or of a call that makes one; None for any other call."""
    target = call.target
    if is_dispatcher(target) and call.args:
        chosen = chosen_by(target, call.args)
        return pullbacks.find(chosen, call.args, call.kwargs, call.active, call.place)
    known = is_of_c(target) or isinstance(target, (types.FunctionType, types.WrapperDescriptorType))
    maker = CALLING.get(target) if known else _BY_CLASS.get(type(target))
    return None if maker is None else maker(pullbacks, call)


def _bind(pullbacks: Question, call: Call) -> Handler | None:
    """`object.__setattr__.__get__(x)`, which starts the `__init__` of a frozen attrs class."""
    return constant(call.target) if call.args and call.args[0] is object.__setattr__ else None


def _call(pullbacks: Question, call: Call) -> Handler | None:
    """`operator.call(f, x)`"""
    if not call.args:
        return None
    inner = pullbacks.find(call.args[0], call.args[1:], call.kwargs, call.active[1:], call.place)
    return without_owner(inner)


# -- partial -------------------------------------------------------------------------------------------------


def held_by_partial(call: Call) -> Call:
    """The call of the held function that a call of a partial amounts to."""
    held, words = call.target.args, {**call.target.keywords, **call.kwargs}
    given = dict(zip(call.kwargs, call.active[1 + len(call.args) :], strict=True))
    flags = (
        *(call.active[0],) * (1 + len(held)),
        *call.active[1 : 1 + len(call.args)],
        *(given.get(name, call.active[0]) for name in words),
    )
    return Call(call.target.func, (*held, *call.args), words, flags, call.place)


def partial_call(pullbacks: Question, call: Call) -> Handler:
    """The handler of a call of a partial, by the function that it holds."""
    __tracebackhide__ = True
    other = held_by_partial(call)
    held, words = call.target.args, other.kwargs
    inner = pullbacks.find(other.target, other.args, words, other.active, call.place)

    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        y, pullback = inner(*held, *args, **words)

        def back(y_bar: Any) -> Any:
            got = tuple(entries(pullback(y_bar), 1 + len(held) + len(args) + len(words)))
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

    return Uncached(run)


def make_partial(pullbacks: Question, call: Call) -> Handler:
    """The handler of `partial(f, ...)`, which makes one."""
    target = call.target

    def run(*args: Any, **kwargs: Any) -> Any:
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

    return Uncached(run)


def make_super(pullbacks: Question, call: Call) -> Handler:
    """`super(C, self)`: its cotangent is that of the object."""
    return Uncached(lambda *args: (super(*args), lambda y_bar: (NO, NO, y_bar)[: 1 + len(args)]))


# -- vectorize -----------------------------------------------------------------------------------------------


def make_vectorize(pullbacks: Question, call: Call) -> Handler:
    def run(*args: Any, **kwargs: Any) -> Any:
        y = call.target(*args, **kwargs)
        names = [*["pyfunc"][: len(args)], *[""] * (len(args) - 1), *kwargs]
        return y, lambda y_bar: (
            NO,
            *(support.part(y_bar, name) if name == "pyfunc" else NO for name in names),
        )

    return Uncached(run)


def vectorize_call(pullbacks: Question, call: Call) -> Handler:
    """`np.vectorize(f)(x, …)`: f on each element of the broadcast arguments, as Python numbers.

    The object itself is the first argument of the call, so its flag is the second in `active`.
    """
    target, active, place = call.args[0], call.active, call.place
    check_vectorized(target, call.kwargs, place)
    if not call.args[1:]:
        return Uncached(lambda _: (target(), no_cotangents))  # raises Python's own error
    function, flags = target.pyfunc, active[1:]

    def run(_: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        spread = np.broadcast(*[np.asanyarray(x).astype(object) for x in args])
        if not spread.size:
            return target(*args), no_cotangents
        rows = found_for_each(pullbacks, function, spread, flags, place)
        results = [row[0] for row in rows]
        dtype = dtype_of_results(target, results, place)
        whole = np.empty(len(results), object)
        whole[:] = results
        y = np.asanyarray(whole.reshape(spread.shape) if spread.shape else whole[0], dtype=dtype)

        def back(y_bar: Any) -> Any:
            whole_bar = 0.0 if y_bar is ZERO else unthunk(y_bar)  # calls may change what others read
            bars = np.broadcast_to(np.asarray(whole_bar), np.shape(y)).ravel()
            got = [entries(row[1](bar), 1 + len(args)) for row, bar in zip(rows[::-1], bars[::-1])]
            own = functools.reduce(support.add, (part[0] for part in got), ZERO)
            of_columns = zip(*[part[1:] for part in reversed(got)])
            found = [_gathered(bars, np.shape(y), x) for bars, x in zip(of_columns, args, strict=True)]
            return (NO, Tangent(np.vectorize, pyfunc=own), *found)

        return y, heap.like(next((inner for _, inner in rows if heap.changes(inner)), None), back)

    return Uncached(run)


# -- getters -------------------------------------------------------------------------------------------------


def getter_call(pullbacks: Question, call: Call) -> Handler:
    """The handler of a getter call; a getter of several items is answered by the stand-in for its class."""
    if (handler := read_one(pullbacks, call)) is not None:
        return handler
    given, of_class = (call.target, *call.args), type(call.target).__call__
    inner = pullbacks.find_target(of_class, given, call.kwargs, (False, *call.active), call.place)
    return with_bound(inner, (call.target,))


def read_one(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of a getter that reads one item; None if it reads several, or the call is wrong."""
    (maker, held), kind = call.target.__reduce__()[:2], type(call.target)
    if len(call.args) != 1 or call.kwargs:
        return None
    rest: tuple[Any, ...] = ()
    words: dict[str, Any] = getattr(maker, "keywords", {})
    if kind is operator.methodcaller:  # with keywords, it is pickled as a partial
        held = (*getattr(maker, "args", ()), *held)
        name, rest = held[0], held[1:]
        flags = (True, *(False,) * (len(rest) + len(words)))
        inner = method_finder(pullbacks, name, flags, call.place)(*call.args, *rest, **words)
    elif len(held) > 1:
        return None
    elif kind is operator.itemgetter:
        rest, of_item = held, (False, True, False)
        inner = pullbacks.find_target(operator.getitem, (*call.args, *held), {}, of_item, call.place)
    else:
        if "." in held[0]:
            return None
        inner = attribute_finder(pullbacks, held[0], call.place)(*call.args)

    def run(x: Any) -> Any:
        __tracebackhide__ = True
        y, pullback = inner(x, *rest, **words)
        return y, heap.like(pullback, lambda y_bar: tuple(entries(pullback(y_bar), 2)))

    return Uncached(run)


def _gathered(bars: Any, shape: tuple[int, ...], x: Any) -> Any:
    """The cotangent of an array argument, from those of the numbers it was split into."""
    found = np.array([0.0 if isinstance(bar, AbstractZero) else bar for bar in map(unthunk, bars)])
    return unbroadcast((found if np.iscomplexobj(x) else found.real).reshape(shape), x)


CALLING |= {
    functools.partial: make_partial,
    np.vectorize: make_vectorize,
    np.vectorize.__call__: vectorize_call,
    super: make_super,
    operator.call: _call,
    types.WrapperDescriptorType.__get__: _bind,
}
_BY_CLASS = {functools.partial: partial_call, **dict.fromkeys(GETTERS, getter_call)}
