"""What a callable holds: captured variables, defaults, the object of a bound method, the function and
arguments of a partial, the wrapped function.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np


class _Unbound:
    """The value of a variable that has not been assigned yet."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = _Unbound()
CACHED = type(functools.lru_cache(len))
_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def contents(cell: types.CellType) -> Any:
    """The contents of the cell of a captured variable, or UNBOUND."""
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return UNBOUND


class Held(NamedTuple):
    """What a function holds, by name, in the order of its code object."""

    captured: dict[str, Any]
    defaults: dict[str, Any]
    keyword_defaults: dict[str, Any]

    def by_name(self) -> dict[str, Any]:
        """All of them in one dict; no two have the same name."""
        return {**self.captured, **self.defaults, **self.keyword_defaults}


def held_by(f: types.FunctionType) -> Held:
    """The captured variables, defaults and keyword defaults of a function, by name; a variable without a
    value yet is UNBOUND.

    >>> held_by((lambda a: lambda x, y=2.0, *, z=3.0: a)(1.0))
    Held(captured={'a': 1.0}, defaults={'y': 2.0}, keyword_defaults={'z': 3.0})
    """
    cells, defaults, by_keyword = cells_of(f), defaults_of(f), keyword_defaults_of(f)
    return Held({name: contents(cell) for name, cell in cells.items()}, defaults, by_keyword)


def cells_of(f: Any) -> dict[str, types.CellType]:
    """The cells of the variables that a function captures, by name; empty for anything but a Python
    function.
    """
    return dict(zip(f.__code__.co_freevars, f.__closure__ or ())) if isinstance(f, types.FunctionType) else {}


def captured(f: Any) -> dict[str, Any]:
    """The captured variables of a function that have been assigned, by name.

    >>> captured((lambda a: lambda: a)(1.0)), captured(len)
    ({'a': 1.0}, {})
    """
    held = {name: contents(cell) for name, cell in cells_of(f).items()}
    return {name: x for name, x in held.items() if x is not UNBOUND}


def defaults_of(f: types.FunctionType) -> dict[str, Any]:
    """The defaults of the positional parameters of a function, by name."""
    code, defaults = f.__code__, f.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    return dict(zip(names, defaults, strict=True))


def keyword_defaults_of(f: types.FunctionType) -> dict[str, Any]:
    """The defaults of the keyword-only parameters of a function, by name, in the order of the parameters."""
    code, words = f.__code__, f.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: words[name] for name in names if name in words}


def cells_and_defaults(f: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The cells of captured variables and the defaults of a function, with their names."""
    yield from cells_of(f).items()
    yield from defaults_of(f).items()
    yield from keyword_defaults_of(f).items()


def holds_something(f: types.FunctionType) -> bool:
    """Whether a function captures variables or has defaults."""
    return bool(f.__closure__ or f.__defaults__ or f.__kwdefaults__)


def carrier(x: Any) -> Any:
    """The object that represents a callable among tangents and cotangents: the object of a bound method, the
    function wrapped by a cached function; any other value itself.

    >>> carrier([1.0].append), carrier(functools.cache(len)), carrier(2.0)
    ([1.0], <built-in function len>, 2.0)
    """
    while True:
        if isinstance(x, _METHODS):
            if x.__self__ is None or isinstance(x.__self__, types.ModuleType):
                return x
            x = x.__self__
        elif isinstance(x, CACHED):
            x = x.__wrapped__
        else:
            return x


def attributes_of_callable(x: Any) -> dict[str, Any] | None:
    """The parts of a callable that is composed of others, by attribute name; None for any other."""
    if isinstance(x, functools.partial):
        return {"func": x.func, "args": x.args, "keywords": x.keywords}
    return {"pyfunc": x.pyfunc} if isinstance(x, np.vectorize) else None


def inside(x: Any, cells: bool = False) -> Iterator[Any]:
    """Yield everything that a callable holds, one level deep, whether it can vary or not; nothing for a value
    that is not a function, method, partial or the like. With `cells`, the cells of captured variables instead
    of their contents.

    >>> list(inside(functools.partial(max, 1.0, key=abs)))
    [<built-in function max>, 1.0, <built-in function abs>]
    """
    if isinstance(x, types.FunctionType):
        found = cells_of(x).values()
        yield from found if cells else (y for y in map(contents, found) if y is not UNBOUND)
        yield from x.__defaults__ or ()
        yield from (x.__kwdefaults__ or {}).values()
        if "__wrapped__" in vars(x):  # the other attributes are the author's notes, or rulelab's
            yield vars(x)["__wrapped__"]
    elif isinstance(x, types.MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, CACHED):
        yield x.__wrapped__
    elif isinstance(x, functools.partial):
        yield from (x.func, *x.args, *x.keywords.values())
    elif carrier(x) is not x:
        yield carrier(x)
    elif (parts := attributes_of_callable(x)) is not None:
        yield from parts.values()


class TooMuch(Exception):
    """More values are held than the caller wants to visit."""


def everything_held(
    roots: Iterable[Any],
    inside: Callable[[Any], Iterable[Any]],
    leaves: tuple[type, ...] = (),
    stops: Callable[[Any], bool] | None = None,
    but: Iterable[Any] = (),
    most: int | None = None,
    at_once: int | None = None,
) -> Iterator[Any]:
    """Yield the values that can be reached from the roots, each once, even if they refer to one another.

    `inside(x)` gives the parts of a value through which the walk continues; it is called after the value has
    been yielded. Values of the classes in `leaves`, those for which `stops(x)` holds, and those in `but` are
    neither yielded nor followed. Raises TooMuch for more than `most` values, or if more than `at_once` are
    waiting.

    >>> xs = [1.0, (2.0,)]
    >>> xs.append(xs)
    >>> list(everything_held([xs], iter, leaves=(float,))) == [xs, (2.0,)]
    True
    """
    seen = {id(x): x for x in but}  # also keeps the objects alive, so that their ids are not reused
    waiting = list(roots)
    while waiting:
        x = waiting.pop()
        if isinstance(x, leaves) or id(x) in seen or (stops is not None and stops(x)):
            continue
        if most is not None and len(seen) >= most:
            raise TooMuch
        seen[id(x)] = x
        yield x
        waiting.extend(inside(x))
        if at_once is not None and len(waiting) > at_once:
            raise TooMuch
