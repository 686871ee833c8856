"""What the compiler needs to know of a value: whether it can have a cotangent, and its name in messages."""

from __future__ import annotations

import array
import collections
import enum
import functools
import inspect
import sys
import types
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place, an
from ...tangents.algebra import is_number
from ...tangents.classes import made_by_python
from ...tangents.contents import own_attributes
from ...tangents.holding import CACHED, attributes_of_callable, carrier, contents, held_by
from ..base.classes import written_in_python
from . import heap
from .walks import DICT_ITEMS, DICT_VALUES, ITERATORS


def carries(value: Any, asked: set[int] | None = None) -> bool:
    """Whether a value can have a cotangent: a number other than a bool, an array of numbers, or a structure
    that holds some. `asked` has the identities of the functions searched so far: they may hold each other.
    """
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fciuO"
    if is_number(value):
        return True
    if value is None or isinstance(value, (bool, str, bytes, type, types.ModuleType, range, slice, np.dtype)):
        return False
    if heap.is_own(value):
        return True  # numbers may be put in later
    if isinstance(value, (list, tuple, dict)):
        return any(carries(x, asked) for x in (value.values() if isinstance(value, dict) else value))
    if isinstance(value, types.CellType):
        return heap.is_own(value) or carries(contents(value), asked)
    if isinstance(value, types.FunctionType):
        asked = set() if asked is None else asked
        if id(value) in asked:
            return False
        asked.add(id(value))
        cells = value.__closure__ or ()
        return any(map(heap.is_own, cells)) or any(carries(x, asked) for x in _held_by(value))
    if isinstance(value, _HOLDERS):
        return _holder_carries(value)
    if callable(value) and written_in_python(type(value), "__call__") is None:
        return False  # a function, not an author's object, which is searched like any other
    if hasattr(value, "__dict__"):
        return True
    return made_by_python(type(value)) and any(map(carries, own_attributes(value).values()))


def may_vary(x: Any) -> bool:
    """Whether an argument can have a gradient; functions given as arguments are constants."""
    kind = type(x)
    if isinstance(x, np.ndarray) and kind not in (
        np.ndarray,
        np.memmap,
    ):  # NumPy's functions behave differently for these
        raise NotDifferentiableError(
            f"An array of the class {kind.__name__} has no gradient here", fixes=("pass np.asarray of it",)
        )
    return kind is float or kind is np.ndarray or (not isinstance(x, _FUNCTIONS) and carries(x))


_FUNCTIONS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    np.vectorize,
    CACHED,
)


def _held_by(function: types.FunctionType) -> list[Any]:
    """What a function holds: the variables it captures and, if it is nested in another, its defaults."""
    held = held_by(function)
    found = list(held.captured.values())
    if function.__code__.co_flags & inspect.CO_NESTED:
        found += [*held.defaults.values(), *held.keyword_defaults.values()]
    return [x for x in found if x is not function]


_HOLDERS: tuple[type, ...] = (
    types.MethodType,
    types.BuiltinMethodType,
    types.MethodWrapperType,
    CACHED,
    functools.partial,
    np.vectorize,
    enum.Enum,
    DICT_VALUES,
    DICT_ITEMS,
    set,
    frozenset,
    collections.deque,
    array.array,
    *ITERATORS,
)


def _holder_carries(value: Any) -> bool:
    """Whether a value of one of the types in `_HOLDERS` can have a cotangent; an iterator always can."""
    if (behind := carrier(value)) is not value:
        return carries(behind)
    if isinstance(value, types.BuiltinFunctionType):
        return False  # a function of a module
    if (parts := attributes_of_callable(value)) is not None:
        return any(map(carries, parts.values()))
    if isinstance(value, (DICT_VALUES, DICT_ITEMS)):
        return any(map(carries, value.mapping.values()))
    if isinstance(value, (set, frozenset)):  # whole numbers in a set are labels
        return any(isinstance(item, (float, complex, np.inexact)) for item in value)
    if isinstance(value, (collections.deque, array.array)):
        return any(map(carries, value))
    return not isinstance(value, enum.Enum)


def describe(value: Any) -> str:
    """What a message calls a value: `float64[3]`, `MaskedArray float64[3]`, `float`, `list`."""
    if isinstance(value, np.ndarray):
        shown = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
        return shown if type(value) is np.ndarray else f"{type(value).__name__} {shown}"
    return type(value).__name__


def decided(answer: Any) -> Any:
    """The result of a comparison; raise NotDifferentiableError if it is not made of bools and may vary."""
    if answer is True or answer is False:
        return answer
    kind = answer.dtype.kind if isinstance(answer, (np.ndarray, np.generic)) else None
    if kind == "b" or (kind is None and not carries(answer)):
        return answer
    raise NotDifferentiableError(
        f"A comparison of values that vary gives {an(type(answer).__name__)}, which is not differentiated",
        place=Place.of_frame(sys._getframe(1)),
        fixes=("use a method or function for what is not a comparison",),
        read="limitations#attributes",
    )
