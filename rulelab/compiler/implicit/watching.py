"""Implicit parameters: which values hold one, and where their cotangents are put.

In the implicit style nothing that varies is passed in: the loss reaches its parameters through globals,
captured variables, defaults, attributes and containers. The cotangent that the reverse sweep finds for such a
*source* (`sources`) is deposited: cotangent and value are walked together down to the arrays, and the part
that belongs to a parameter is added to a table of the running sweep, by the identity of the array.
"""

from __future__ import annotations

import enum
import functools
import gc
import threading
import types
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, an
from ...tangents.classes import made_by_python
from ...tangents.holding import CACHED, carrier
from ...tangents.structural import Tangent, class_of, parts
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.classes import is_of_c
from ..base.libraries import is_of_library
from ..memory import heap
from ..memory.handlers import NO, Handler, no_cotangents
from ..memory.holding import parts_inside
from ..memory.operands import describe
from ..memory.outlines import entries_in, parts_by_name
from ..memory.support import add, settle
from ..memory.walks import ITERATORS

LEAVES = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype, range, slice, np.ufunc)


class Sweep:
    """The parameters of one gradient, by identity, and the cotangents found for them so far."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = {id(x): x for x in arrays}
        self.found: dict[int, Any] = {}
        self.made: dict[int, types.FunctionType] = {}  # the functions that were made while it ran
        self._known: dict[int, tuple[Any, bool]] = {}

    def matters(self, x: Any) -> bool:
        """Whether a value from outside may hold or return a parameter.

        Functions do not: what they capture is checked when they are called.
        """
        kind = type(x)
        if kind is np.ndarray:
            return id(x) in self.arrays or self.shares_memory(x) or (x.dtype.hasobject and self._holds(x))
        if isinstance(x, (*LEAVES, type, types.ModuleType, types.FunctionType, enum.Enum)):
            return False
        return self._holds(x)

    def _holds(self, x: Any) -> bool:
        known = self._known.get(id(x))
        if known is not None:
            return known[1]
        self._known[id(x)] = (x, False)  # a cycle adds nothing
        found = _runs_authors_code(x) or any(map(self.matters, parts_of(x)))
        if heap.is_own(x):  # it may still be filled
            del self._known[id(x)]
        else:
            self._known[id(x)] = (x, found)
        return found

    def shares_memory(self, x: np.ndarray) -> bool:
        """Whether an array that is not a parameter shares elements with one, as a view of it does."""
        if id(x) in self.arrays:
            return False
        return any(
            (x.base is not None or p.base is not None)
            and np.may_share_memory(x, p)
            and np.shares_memory(x, p)
            for p in self.arrays.values()
        )

    def deposit(self, x: Any, x_bar: Any) -> None:
        """Add the cotangents of the parameters in `x`, as far as its cotangent has any, to those found so
        far.
        """
        x_bar = NO if x_bar is None else settle(unthunk(x_bar))
        if isinstance(x_bar, AbstractZero):
            if x_bar is not NO and id(x) in self.arrays:
                self._add(x, x_bar)
            return
        if isinstance(x, np.ndarray) and not x.dtype.hasobject:
            self._deposit_array(x, x_bar)
        elif (behind := carrier(x)) is not x:
            self.deposit(behind, x_bar)
        elif isinstance(x, np.ndarray):
            for item, item_bar in zip(x.ravel().tolist(), np.asarray(x_bar).ravel().tolist(), strict=False):
                self.deposit(item, item_bar)
        elif not isinstance(x, LEAVES):
            self._deposit_parts(x, x_bar)

    def _deposit_array(self, x: np.ndarray, x_bar: Any) -> None:
        """Deposit the cotangent of an array; refused if it is not a parameter but shares memory with one."""
        if id(x) in self.arrays:
            self._add(x, x_bar)
        elif self.shares_memory(x) and np.any(x_bar):
            raise NotDifferentiableError(
                f"The loss depends on an array {describe(x)} that shares its memory with a parameter, "
                "but is not the parameter itself",
                fixes=("take the view inside the loss", "make the array itself a parameter"),
                read="limitations#implicit-parameters",
            )

    def _add(self, x: np.ndarray, x_bar: Any) -> None:
        self.found[id(x)] = add(self.found[id(x)], x_bar) if id(x) in self.found else x_bar

    def _deposit_parts(self, x: Any, x_bar: Any) -> None:
        """Deposit the parts of a cotangent with the parts of the value; refused if one cannot be traced."""
        structural = isinstance(x_bar, (Tangent, dict, list, tuple))
        fits = isinstance(x, types.FunctionType) == (
            isinstance(x_bar, Tangent) and class_of(x_bar) is types.FunctionType
        )
        if not structural or not fits:
            if self.matters(x):
                raise _lost(f"A cotangent of {an(type(x).__name__)} that holds a parameter")
            return
        held = parts_by_name(x)
        for key, bar in entries_in(x_bar).items():
            if key in held:
                self.deposit(held[key], bar)
            elif not isinstance(bar, AbstractZero) and bar is not None and self.matters(x):
                raise _lost(f"The part {key!r} of {an(type(x).__name__)}")


def _lost(what: str) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"{what} cannot be traced to the parameters",
        fixes=("use the explicit style: pass the parameters as arguments",),
        read="limitations#implicit-parameters",
    )


def _runs_authors_code(x: Any) -> bool:
    """Whether operators, attributes or items of a value may run code of the author's, which may read
    anything.
    """
    kind = type(x)
    if kind is _Code:
        return not is_of_c(x.function) or isinstance(x.function, types.GeneratorType)
    return made_by_python(kind) and not is_of_library(kind)


def parts_of(x: Any) -> Iterator[Any]:
    """The values that a container or an object holds, as far as they are accessible."""
    if isinstance(x, np.ndarray):
        yield from x.ravel().tolist()
    elif isinstance(x, (types.MethodType, types.BuiltinMethodType)):
        yield x.__self__
    elif isinstance(x, dict):
        yield from (*x.keys(), *x.values())
        make = getattr(x, "default_factory", None)
        if make is not None:  # it makes missing entries, from anything
            yield _Code(make)
    elif isinstance(x, (list, tuple, set, frozenset, deque, functools.partial)):
        yield from parts_inside(x)
    elif isinstance(x, ITERATORS):
        yield from (_Code(y) if callable(y) else y for y in gc.get_referents(x))
        if isinstance(x, types.GeneratorType):
            yield _Code(x)
    elif isinstance(x, weakref.ref):
        yield x()
    elif isinstance(x, (np.flatiter, memoryview)):
        yield x.base if isinstance(x, np.flatiter) else x.obj
    elif not isinstance(x, (CACHED, types.FunctionType)):
        held = [y for y in gc.get_referents(x) if not isinstance(y, (type, types.FunctionType))]
        yield from (*parts(x).values(), *(held if is_of_library(type(x)) else ()))


class _Code:
    """Code that a value holds, to be run later: what it reads is unknown."""

    def __init__(self, function: Any) -> None:
        self.function = function


class _State(threading.local):
    """The sweep of this thread; sweeps nest, and threads do not share them."""

    sweep: Sweep | None = None


_STATE = _State()


class Watched:
    """A block in which passes deposit the cotangents that they find in the given sweep."""

    __slots__ = ("_outer", "_sweep")

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def __enter__(self) -> Sweep:
        self._outer = _STATE.sweep
        _STATE.sweep = self._sweep
        return self._sweep

    def __exit__(self, *_: object) -> None:
        _STATE.sweep = self._outer


def matters(x: Any) -> bool:
    """Whether a value from outside may hold a parameter of the running sweep."""
    sweep = _STATE.sweep
    return sweep is not None and sweep.matters(x)


def running() -> Sweep | None:
    """The sweep of this thread, if one runs."""
    return _STATE.sweep


def note_made(function: types.FunctionType) -> None:
    """Record that a pass made this function: cotangents of what it captures go to the code that made it."""
    sweep = _STATE.sweep
    if sweep is not None:
        sweep.made[id(function)] = function


def is_made(function: Any) -> bool:
    """Whether a function was made by a pass of the running sweep."""
    sweep = _STATE.sweep
    return sweep is not None and sweep.made.get(id(function)) is function


def deposit(x: Any, x_bar: Any) -> None:
    """Deposit the cotangent of a source: add it to those of the parameters in it."""
    sweep = _STATE.sweep
    if sweep is not None:
        sweep.deposit(x, x_bar)


# --- handlers that deposit ----------------------------------------------------------------------------------


def unseen(target: Any) -> Handler:
    """The handler of code that is not followed, whose result may hold a parameter."""

    def call(*args: Any, **kwargs: Any) -> Any:
        y = target(*args, **kwargs)
        if not matters(y):
            return y, no_cotangents

        def back(y_bar: Any) -> Any:
            deposit(y, y_bar)
            return NO

        return y, back

    return call


def depositing(handler: Handler, function: Any) -> Handler:
    """The handler of a function from outside: cotangents of what it holds go to the parameters there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        y, pullback = handler(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            if got is NO:
                return NO
            deposit(function, got[0])
            return (NO, *tuple(got)[1:])

        return y, heap.like(pullback, back)

    return call
