"""Which parameter of a Python function each argument of a call is bound to."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable
from typing import Any

from ...rules.binding import Binder
from ...tangents.structural import Tangent, entries_of
from ..front.spreading import MOST, hands_on_words
from ..memory import support
from ..memory.handlers import NO
from ..memory.operands import carries


def flags_by_slot(count: int, where: list[Slot], flags: tuple[bool, ...]) -> list[bool]:
    """One flag for each of `count` parameters, from the flags of the arguments and the slots they went to."""
    found = [False] * count
    for slot, on in zip(where, flags, strict=True):
        found[slot_number(slot)] |= on
    return found


def before_rest(function: types.FunctionType, args: tuple[Any, ...], words: dict[str, Any]) -> int | None:
    """How many arguments come before `*args`, if each argument can be a parameter of its own.

    None unless all are given by position and no default is used; `**words`, then empty, may only be passed
    on.
    """
    code = function.__code__
    if words or not code.co_flags & inspect.CO_VARARGS or code.co_kwonlyargcount:
        return None
    if not code.co_argcount <= len(args) <= code.co_argcount + MOST:
        return None
    if code.co_flags & inspect.CO_VARKEYWORDS and not hands_on_words(code):
        return None
    return code.co_argcount


def by_position(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments bound to positional parameters; `args` unchanged if they do not fit, since the call
    itself will raise Python's own error.
    """
    try:
        return Binder.of(target).bind(args, kwargs)[0]
    except TypeError:
        return args


def takes_just(code: types.CodeType, count: int) -> bool:
    """Whether `count` arguments by position are the parameters of a function, one by one."""
    return code.co_argcount == count and not code.co_kwonlyargcount and not code.co_flags & _REST


def bound_values(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The value of each parameter, in the order of the code object."""
    __tracebackhide__ = True
    code = function.__code__
    positional, given = Binder.of(function).bind(args, kwargs)
    count = code.co_argcount
    names = code.co_varnames[count : count + code.co_kwonlyargcount]
    values = [*positional[:count], *[given[name] for name in names]]
    if code.co_flags & inspect.CO_VARARGS:
        values.append(tuple(positional[count:]))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        values.append({name: x for name, x in given.items() if name not in names})
    return values


def bind(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], list[Slot]]:
    """The value of each parameter, in the order of the code object, and the slot of each argument: a
    parameter of its own, or a key in `*args` or `**kwargs`.
    """
    __tracebackhide__ = True
    code = function.__code__
    values = bound_values(function, args, kwargs)
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:named]
    where: list[Slot] = [number if number < count else (named, number - count) for number in range(len(args))]
    allowed = names[code.co_posonlyargcount :]
    where += [
        code.co_posonlyargcount + allowed.index(name) if name in allowed else (len(values) - 1, name)
        for name in kwargs
    ]
    return tuple(values), where


def in_order(
    function: types.FunctionType, args: tuple[Any, ...], words: dict[str, Any]
) -> tuple[Any, ...] | None:
    """The values of all parameters; None if the function has `*args` or `**kwargs`, or the arguments do not
    fit, for which the call itself will raise.
    """
    code, count = function.__code__, len(args)
    positional = code.co_argcount
    if code.co_flags & _REST or not code.co_posonlyargcount <= count <= positional:
        return None
    names = code.co_varnames[count : positional + code.co_kwonlyargcount]
    left = len(names) - len(words)
    values = list(args)
    defaults, by_name = function.__defaults__ or (), function.__kwdefaults__ or {}
    for number, name in enumerate(names, count):
        if name in words:
            values.append(words[name])
            continue
        left -= 1
        at = number - positional + len(defaults)
        if number < positional and at >= 0:
            values.append(defaults[at])
        elif number >= positional and name in by_name:
            values.append(by_name[name])
        else:
            return None
    return None if left else tuple(values)  # else a keyword fits no parameter that lacks a value


def flags_in_order(
    function: types.FunctionType, count: int, words: Iterable[str], flags: tuple[Any, ...], other: Any = False
) -> tuple[Any, ...]:
    """One flag for each parameter, from those of `count` arguments by position and of the keywords `words`;
    `other` for parameters that are left to their defaults.
    """
    code, named = function.__code__, dict(zip(words, flags[count:], strict=True))
    names = code.co_varnames[count : code.co_argcount + code.co_kwonlyargcount]
    return (*flags[:count], *[named.get(name, other) for name in names])


_REST = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
Slot = int | tuple[int, Any]  # a parameter by number; with a key, an entry of `*args` or `**kwargs`


def slot_number(slot: Slot) -> int:
    """The number of the parameter that an argument is bound to, or goes into."""
    return slot if isinstance(slot, int) else slot[0]


def bar_at(got: Any, slot: Slot) -> Any:
    """The cotangent of an argument, from those of the parameters; a key that is absent has none."""
    if isinstance(slot, int):
        return got[1 + slot]
    bar = support.value(got[1 + slot[0]])
    if isinstance(bar, Tangent):
        return NO if slot[1] not in entries_of(bar) else bar[slot[1]]
    return support.part(bar, slot[1])


def active_defaults(
    function: types.FunctionType, values: tuple[Any, ...], where: list[Slot]
) -> dict[int, str]:
    """The parameters of a nested function, by slot, that are left to their defaults and may be active: these
    are values from the place where it was defined.
    """
    if not function.__code__.co_flags & inspect.CO_NESTED:
        return {}
    names, given = function.__code__.co_varnames, set(map(slot_number, where))
    return {slot: names[slot] for slot, x in enumerate(values) if slot not in given and carries(x)}
