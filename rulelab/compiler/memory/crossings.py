"""Containers as arguments of rules and passes: which get copies, and where the resulting cotangents go."""

from __future__ import annotations

import copy
import operator
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ...python_facts import COPIES, VIEWS, methods_that
from ...tangents.holding import cells_and_defaults, contents, holds_something
from ..base.classes import GENERATORS
from .containers import is_hashable
from .heap import LEAVES, any_made, collect, effectful, is_idle, is_own, like, publish
from .outlines import MOST_LEAVES, Outline, hand_in, outline, whole
from .snapshots import Snapshots, snapshot
from .support import NO, settle, with_lists_copied


def through_pass(
    forward: Callable[..., Any], function: types.FunctionType, args: tuple[Any, ...]
) -> Callable[..., Any]:
    """The forward sweep of a pass, wrapped if lists made during this sweep are captured or among the
    arguments: the cotangents that its pullback returns for them go into the table.
    """
    if not any_made():
        return forward
    held = _held_lists(function) if holds_something(function) else None
    if held is None and not _any_lists(args):
        return forward

    def call(*args: Any, **kwargs: Any) -> Any:
        outlines = list(map(first_layer, (*args, *kwargs.values())))
        y, pullback = forward(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return (hand_in(held, got[0]), *map(hand_in, outlines, tuple(got)[1:]))

        return y, like(pullback, back)

    return call


def _any_lists(args: tuple[Any, ...]) -> bool:
    """Whether lists made during this sweep are among the arguments, or in tuples among them."""
    for x in args:  # few are tuples or lists, and this runs for each call of an author's function
        if (type(x) is tuple or isinstance(x, list)) and first_layer(x) is not None:
            return True
    return False


def first_layer(x: Any) -> Outline | None:
    """The outline of an argument whose items may get cotangents by position from a pass."""
    if type(x) is tuple:
        inner = {key: where for key, part in enumerate(x) if (where := first_layer(part)) is not None}
        return (None, inner) if inner else None
    return whole(x) if isinstance(x, list) else None


def _held_lists(function: types.FunctionType) -> Outline | None:
    """The outline of the lists that a function captures or has as defaults."""
    inner = {}
    for cell in function.__closure__ or ():
        if isinstance(contents(cell), _WITH_ITEMS):
            break  # without a list or tuple, captured values have no outline
    else:
        if not function.__kwdefaults__ and MOST_LEAVES.issuperset(map(type, function.__defaults__ or ())):
            return None
    for name, x in cells_and_defaults(function):
        where = first_layer(contents(x) if isinstance(x, types.CellType) else x)
        if where is not None:
            inner[name] = where
    return (None, inner) if inner else None


_WITH_ITEMS = (tuple, list)


def through_rule(
    handler: Callable[..., Any], copied: str | None, adopts: bool, name: str = ""
) -> Callable[..., Any]:
    """Wrap the handler of a rule whose arguments may be containers made during this sweep: the cotangents
    that it returns for them go into the table.

    The rule gets copies, since it may read its arguments again after they have changed. `copied` is "all" for
    deep copies, "parts" for shallow ones if the result holds the very parts of an argument, and None if the
    result is an argument or reads it later. `adopts` says that the result is a new container, which may be
    changed from now on; `name` is the name of the function if the rule is a user's.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        outlines = [outline(x) for x in (*args, *kwargs.values())] if any_made() else []
        if copied is not None and any(outlines):
            copies = Snapshots()
            copy_of = snapshot if copied == "parts" else copies.of
            args = tuple(map(copy_of, args))
            kwargs = {key: copy_of(x) for key, x in kwargs.items()}
        elif copied == "all" and not name:
            args = tuple(map(with_lists_copied, args))
            kwargs = {key: with_lists_copied(x) for key, x in kwargs.items()}
        y, pullback = handler(*args, **kwargs)
        if name and any(outlines):
            copies.refuse_changed(name)
            copies.refuse_alias(y, name)
        if adopts and not is_own(y) and isinstance(y, (list, dict)):
            y = y.copy()  # the rule may read its own result later
        size = publish(y) if adopts else None
        if size is None and not any(outlines):
            return y, pullback

        def back(y_bar: Any) -> Any:
            y_bar = settle(collect(y, y_bar, size))
            if is_idle(pullback, y_bar):
                return NO
            got = pullback(y_bar)
            if got is NO or not any(outlines):
                return got
            return (got[0], *(hand_in(where, x_bar) for where, x_bar in zip(outlines, tuple(got)[1:])))

        return y, effectful(back) if size is not None else like(pullback, back)

    return call


def through_item(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the handler of `x[number]` for a tuple, which needs no copy: only the item's outline matters."""

    def call(x: tuple[Any, ...], number: int) -> Any:
        __tracebackhide__ = True
        y, pullback = handler(x, number)
        where = outline(y)
        if where is None:
            return y, pullback
        number %= len(x)

        def back(y_bar: Any) -> Any:
            y_bar = settle(y_bar)
            if is_idle(pullback, y_bar):
                return NO
            got = pullback(y_bar)
            return got if got is NO else (got[0], hand_in((None, {number: where}), got[1]), *got[2:])

        return y, like(pullback, back)

    return call


# --- what functions do with the containers they are given ---------------------------------------------------


# Functions whose result is a new container of the very parts of their argument.
_PRESERVING = frozenset(
    {list, tuple, dict, sorted, operator.add, operator.concat, operator.mul, operator.getitem, operator.or_}
    | {copy.copy, max, min, *methods_that(COPIES, list, dict, OrderedDict, defaultdict, deque)}
)


def preserves(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether the result of a function holds the very parts of its argument. With an array among the
    arguments it holds numbers instead, and the rule keeps the other arguments (an index with lists, say).
    """
    if any(isinstance(x, np.ndarray) for x in args):
        return False
    return is_hashable(target) and target in _PRESERVING


# Functions whose result reads their argument later, so they must get the argument itself.
_LIVE = frozenset({iter, reversed, enumerate, zip, *methods_that(VIEWS, dict, OrderedDict)})


def keeps_alive(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether the result of a function is one of its arguments, or reads one later."""
    if target is max or target is min:
        return len(args) > 1
    return is_hashable(target) and target in _LIVE


def makes_new(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function returns a new list or dict, which may be changed afterwards."""
    if not is_hashable(target) or target is max or target is min or target is tuple:
        return False
    if target is operator.getitem:
        return isinstance(args[1], slice)
    try:
        return target is np.ndarray.tolist or target in _PRESERVING
    except TypeError:  # an object that holds something unhashable
        return False


def is_structure(x: Any) -> bool:
    """Whether a value may hold containers."""
    if isinstance(x, types.FunctionType):
        return holds_something(x)
    if isinstance(x, LEAVES) or type(x) in GENERATORS:
        return False
    return not callable(x) or is_own(x)
