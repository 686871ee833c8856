"""Code that is not followed and could read a parameter: found by what it holds and names, and refused."""

from __future__ import annotations

import builtins
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import An, NotDifferentiableError, Place
from ...rules.targets import name_of
from ...tangents.holding import CACHED, held_by, inside
from ..base.classes import is_of_c, written_in_python
from ..base.libraries import is_library, is_of_library
from ..base.source import names_in
from .sources import is_library_module
from .watching import LEAVES, Sweep, parts_of, running

_HARMLESS: tuple[Any, ...] = (type, object, super, setattr, delattr)  # they call nothing that returns a value


def refuse_reading(target: Any, xs: tuple[Any, ...], place: Place | None) -> None:
    """NotDifferentiableError if code that is not followed is passed something that leads to a parameter, such
    as a function that reads one.
    """
    __tracebackhide__ = True
    if any(target is known for known in _HARMLESS):
        return
    name = target if isinstance(target, str) else name_of(target)
    for x in xs:
        if x is target and isinstance(x, weakref.ref):
            continue  # a call of it returns its referent, which is seen
        if not isinstance(x, (*LEAVES, np.ndarray)) and reads(x):
            raise NotDifferentiableError(
                f"{An(type(x).__name__)} that refers to a parameter is passed to {name}, which is not "
                "followed",
                place=place,
                fixes=(
                    "call the function in the loss itself",
                    "use the explicit style: pass the parameters as arguments",
                    "put the call in rl.ignore_derivatives(lambda: ...), if its derivative is zero",
                ),
                read="limitations#implicit-parameters",
            )


def refuse_computed(owner: Any, name: str, place: Place | None) -> None:
    """NotDifferentiableError for an attribute of a module or class that is computed by code which may read a
    parameter: a property of the metaclass, a descriptor, a module's `__getattr__`.
    """
    __tracebackhide__ = True
    if isinstance(owner, types.ModuleType):
        code = [vars(owner).get("__getattr__")] if name not in vars(owner) else []
    else:
        spaces = [vars(cls) for kind in (owner, type(owner)) for cls in getattr(kind, "__mro__", ())]
        found = [space[name] for space in spaces if name in space]
        code = [x for x in found if isinstance(x, property) or written_in_python(type(x), "__get__")]
        if not found:
            code.append(written_in_python(type(owner), "__getattr__"))
    refuse_reading(f"the attribute {name}", tuple(code), place)


def functions_in(xs: Any) -> Iterator[Any]:
    """The author's functions and callable objects among these values, and in lists, tuples and dicts."""
    for x in xs:
        if isinstance(x, (list, tuple)):
            yield from functions_in(x)
        elif isinstance(x, dict):
            yield from functions_in(x.values())
        elif callable(x) and not is_of_c(x) and not isinstance(x, (type, np.ufunc)):
            yield x


def reads(x: Any) -> bool:
    """Whether a value leads to a parameter: by what it holds, or by the names that its code mentions."""
    sweep = running()
    return sweep is not None and _Search(sweep).leads(x)


class _Search:
    """One search through values and code, by names; a computed name could be any."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._seen: dict[int, Any] = {}
        self._names: set[str] = set()
        self._modules: list[types.ModuleType] = []

    def leads(self, x: Any) -> bool:
        waiting = [x]
        while waiting:
            y = waiting.pop()
            if not isinstance(y, LEAVES) and id(y) not in self._seen:
                self._seen[id(y)] = y
                is_array = isinstance(y, np.ndarray)
                if is_array and (id(y) in self._sweep.arrays or self._sweep.shares_memory(y)):
                    return True
                waiting.extend(self._behind(y))
                if not self._names.isdisjoint(("globals", "vars", "locals", "eval", "exec", "__import__")):
                    return True
            waiting = waiting or self._named_in_modules()
        return False

    def _named_in_modules(self) -> list[Any]:
        """The values of these names in the modules found so far, without those already seen."""
        spaces = [vars(module) for module in self._modules]
        found = [space[name] for space in spaces for name in self._names & space.keys()]
        return [y for y in found if id(y) not in self._seen and not isinstance(y, LEAVES)]

    def _behind(self, x: Any) -> list[Any]:
        """The values that a value holds or that its code may read."""
        if isinstance(x, types.ModuleType):
            if not is_library_module(x):
                self._modules.append(x)
            return []
        if isinstance(x, types.FunctionType):
            held = list(held_by(x).by_name().values())
            return held if is_library(x) else [*held, *vars(x).values(), *self._globals_of(x)]
        if isinstance(x, type):
            return [] if is_of_library(x) else [y for cls in x.__mro__ for y in vars(cls).values()]
        if isinstance(x, (property, staticmethod, classmethod)):
            return [x.fget if isinstance(x, property) else x.__func__]
        return list(inside(x)) if isinstance(x, (CACHED, types.MethodType)) else [type(x), *parts_of(x)]

    def _globals_of(self, function: types.FunctionType) -> list[Any]:
        names = list(names_in(function.__code__))
        self._names.update(names)
        namespace = function.__globals__
        return [namespace.get(name, vars(builtins).get(name)) for name in names]
