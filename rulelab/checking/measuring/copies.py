"""Copies of arguments in a fraction of the time of `copy.deepcopy`: one verdict needs thousands."""

from __future__ import annotations

import copy
import copyreg
import operator
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

PLAIN = frozenset({float, int, complex, bool, str, bytes, type(None), np.float64, np.complex128, np.int64})
"""Classes of numbers and text, which hold no other objects."""
_ATOMS = PLAIN | {types.FunctionType}
"""Classes that `copy.deepcopy` does not copy; a function keeps what it has captured."""


class _Unusual(Exception):
    """A value that `copy.deepcopy` may not copy part by part, such as one that contains an object twice."""


def own_copies(args: tuple) -> tuple:
    """Copies of arguments, equal to those of `copy.deepcopy`.

    >>> weights = [np.zeros(2)]
    >>> copied, = own_copies((weights,))
    >>> copied[0] is weights[0], copied
    (False, [array([0., 0.])])
    """
    seen: set[int] = set()
    try:
        return tuple([_copied(x, seen) for x in args])
    except _Unusual:
        return copy.deepcopy(args)


def own_keywords(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of keyword arguments, as by `own_copies`."""
    return dict(zip(kwargs, own_copies(tuple(kwargs.values())))) if kwargs else {}


def share_nothing(one: Any, other: Any) -> bool:
    """Whether two values share no mutable object, so that what is written into one is not seen in the other.
    False if a part of one cannot be followed.

    >>> x = np.zeros(2)
    >>> share_nothing([x, 1.0], [x.copy(), 1.0]), share_nothing([x, 1.0], [x[:1], 1.0])
    (True, False)
    """
    mine, theirs = _changeable_in(one), _changeable_in(other)
    return mine is not None and theirs is not None and mine.isdisjoint(theirs)


def _changeable_in(value: Any) -> set[int] | None:
    """The ids of all mutable objects in a value, including the bases of views; None if a part cannot be
    followed.
    """
    found: set[int] = set()
    waiting = [value]
    while waiting:
        x = waiting.pop()
        kind = type(x)
        if kind in PLAIN or id(x) in found:
            continue
        if kind is tuple or _is_named_tuple(kind):
            waiting.extend(x)
            continue
        found.add(id(x))
        if kind is np.ndarray and not x.dtype.hasobject:
            waiting.append(x.base)
        elif kind is list:
            waiting.extend(x)
        elif kind is dict:
            waiting.extend((*x, *x.values()))
        elif is_its_attributes(kind):
            waiting.extend(vars(x).values())
        else:
            return None
    return found


def _copied(x: Any, seen: set[int]) -> Any:
    kind = type(x)
    if kind in _ATOMS:
        return x
    if kind is tuple:
        parts = [_copied(part, seen) for part in x]
        return x if all(map(operator.is_, parts, x)) else tuple(parts)
    if _is_named_tuple(kind):
        return tuple.__new__(kind, [_copied(part, seen) for part in x])
    if id(x) in seen:  # an object in two places must be one object in the copies too
        raise _Unusual
    seen.add(id(x))
    if kind is np.ndarray:
        if x.dtype.hasobject:
            raise _Unusual
        return x.copy("K")
    if kind is list:
        return [_copied(part, seen) for part in x]
    if kind is dict:
        return {_copied(key, seen): _copied(part, seen) for key, part in x.items()}
    if not is_its_attributes(kind):
        raise _Unusual
    new = object.__new__(kind)
    new.__dict__.update((name, _copied(part, seen)) for name, part in x.__dict__.items())
    return new


def _is_named_tuple(kind: type) -> bool:
    """Whether a class was made by `collections.namedtuple` or `typing.NamedTuple`, and is copied as usual."""
    made = kind.__mro__[1:2] == (tuple,) and "_make" in vars(kind)
    return made and not hasattr(kind, "__deepcopy__") and kind not in copyreg.dispatch_table


def is_its_attributes(kind: type) -> bool:
    """Whether the objects of a class consist of their attributes only, as those of most dataclasses do."""
    return (
        kind.__new__ is object.__new__
        and kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and kind.__getstate__ is object.__getstate__
        and kind.__getattribute__ is object.__getattribute__
        and not any(hasattr(kind, name) for name in _HOOKS)
        and kind not in copyreg.dispatch_table
        and kind.__dictoffset__ != 0
        and not any("__slots__" in vars(base) for base in kind.__mro__[:-1])
    )


def shallow_copy(x: Any) -> Any:
    """What `copy.copy` makes of an object that consists of its attributes only."""
    new = object.__new__(type(x))
    new.__dict__.update(x.__dict__)
    return new


_HOOKS = ("__deepcopy__", "__setstate__", "__getattr__", "__getnewargs__", "__getnewargs_ex__")
