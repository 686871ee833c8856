"""What a value is to the compiler: whether it can have a cotangent, and what a message calls it."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..tangents.algebra import is_number
from . import heap


def carries(value: Any) -> bool:
    """Whether a value can have a cotangent: a number that is no bool, an array of them, or a structure
    with such.
    """
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fciuO"
    if is_number(value):
        return True
    if value is None or isinstance(value, (bool, str, bytes, type, types.ModuleType, range, slice, np.dtype)):
        return False
    if heap.is_own(value):
        return True  # it may be filled with such later
    if isinstance(value, (list, tuple)):
        return any(map(carries, value))
    if isinstance(value, dict):
        return any(map(carries, value.values()))
    if isinstance(value, types.FunctionType):
        return value.__closure__ is not None and any(
            heap.is_own(cell) or carries(heap.contents(cell)) for cell in value.__closure__
        )
    if callable(value) and not _is_callable_object(value):
        return False
    return hasattr(value, "__dict__") or any(map(carries, _slots(value)))


def _is_callable_object(value: Any) -> bool:
    """Whether the author's class makes it callable: then it holds what any object may, and is no function."""
    call = getattr(type(value), "__call__", None)  # noqa: B004 (which one, not whether)
    return isinstance(call, types.FunctionType)


def _slots(value: Any) -> list[Any]:
    """What an object keeps in slots instead of a dict."""
    names = [
        name
        for cls in type(value).__mro__
        for name in _listed(cls.__dict__.get("__slots__", ()))
        if not name.startswith("__")
    ]
    return [getattr(value, name) for name in names if hasattr(value, name)]


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def describe(value: Any) -> str:
    """A value in a message: `float64[3]`, `float`, `list`."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    return type(value).__name__
