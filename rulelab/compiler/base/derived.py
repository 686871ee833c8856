"""Code objects that represent the tangent of other code, and what their passes are compiled from.

The tangent of a function is a function object with the author's globals and captured variables, and with a
code object of its own as the key for cached passes. That code is never run: it only identifies what is to be
compiled.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Derived:
    """The tangent of the code `base` for one choice of varying parameters.

    `varied` has one flag for each parameter, in the code object's order; `captured` says that the tangents of
    captured variables are passed as a last argument, and `own` names the captured variables that hold the
    function itself.
    """

    of: weakref.ref[types.CodeType]
    varied: tuple[bool, ...]
    captured: bool
    own: frozenset[str]

    @property
    def base(self) -> types.CodeType:
        code = self.of()
        assert code is not None  # the function being compiled has the same constants and names
        return code


_DERIVED: dict[int, tuple[weakref.ref[types.CodeType], Derived]] = {}
_TANGENTS: dict[int, tuple[weakref.ref[types.CodeType], dict[object, types.CodeType]]] = {}


def derived_of(code: types.CodeType) -> Derived | None:
    """The `Derived` that describes this code if it represents a tangent; None for an author's own code."""
    found = _DERIVED.get(id(code))
    return found[1] if found is not None and found[0]() is code else None


def base_of(code: types.CodeType) -> types.CodeType:
    """The author's code that this code is, or is a tangent of (of any order)."""
    derived = derived_of(code)
    return code if derived is None else base_of(derived.base)


def stands_for(function: types.FunctionType, other: object) -> bool:
    """Whether a function is the other one, or a tangent of it (of any order)."""
    if function is other:
        return True
    if derived_of(function.__code__) is None or not isinstance(other, types.FunctionType):
        return False
    cells, others = function.__closure__ or (), other.__closure__ or ()
    same = len(cells) == len(others) and all(a is b for a, b in zip(cells, others))
    return same and base_of(function.__code__) is other.__code__


def tangent_of(
    function: types.FunctionType, varied: tuple[bool, ...], captured: bool, own: frozenset[str]
) -> types.FunctionType:
    """The function that represents the tangent of this one: it is to be compiled, not called."""
    code = function.__code__
    key = (varied, captured, own)
    held = _TANGENTS.get(id(code))
    if held is None or held[0]() is not code:
        held = _TANGENTS[id(code)] = (weakref.ref(code, _forget(id(code), _TANGENTS)), {})
    made = held[1].get(key)
    if made is None:
        made = code.replace(co_name=code.co_name)
        number = id(made)
        derived = Derived(weakref.ref(code), varied, captured, own)
        _DERIVED[number] = (weakref.ref(made, _forget(number, _DERIVED)), derived)
        held[1][key] = made
    return types.FunctionType(made, function.__globals__, function.__name__, None, function.__closure__)


def _forget(number: int, table: dict[int, Any]) -> Callable[[Any], None]:
    def forget(gone: object) -> None:
        known = table.get(number)
        if known is not None and known[0] is gone:
            table.pop(number, None)

    return forget
