"""What a pass depends on in the variables that a function captures, and which of these are constants."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from numpy import ndarray

from ...own_code import is_stand_in
from ...rules.kinds import Known, signature_of, varies
from ...tangents.holding import UNBOUND, contents
from ..analysis.types import type_of
from ..base.derived import stands_for
from ..memory.heap import is_own
from ..memory.operands import carries

Guard = Callable[[dict[str, Any]], bool]


def signature_of_captured(function: FunctionType, value: Any) -> Any:
    """What a pass depends on in the value of a captured variable: its signature, or the object itself where
    the pass may take that for granted, as it may of a global variable: a module, a function of NumPy. What
    stands in for many functions has one pass for all: whether they vary is told as it runs.
    """
    found = signature_of(value)
    if found is float or type(found) is tuple or is_stand_in(function.__code__.co_filename):
        return found
    kind = type_of(value)
    return kind if isinstance(kind, Known) else found


def own_signature(function: FunctionType, cell: CellType) -> Any:
    """The same of any cell of a function: one that is assigned later, or rebound meanwhile, is read at each
    use ("cell"), and one may hold the function itself ("own").
    """
    content = contents(cell)
    if content is UNBOUND or is_own(cell):
        return "cell"
    return "own" if stands_for(function, content) else signature_of_captured(function, content)


def may_carry(free: tuple[Any, ...], cells: tuple[CellType, ...]) -> bool:
    """Whether anything that a function captures may have a cotangent; `free` has the signatures."""
    for part, cell in zip(free, cells, strict=True):
        if part is float or part in ("own", "cell") or carries(contents(cell)):
            return True
    return False


def constants_captured(function: FunctionType) -> tuple[Any, ...] | None:
    """The signatures of what a function captures, if that is numbers, arrays, texts and objects that never
    change; None where it is anything more.
    """
    found = []
    for cell in function.__closure__ or ():
        content = contents(cell)
        part = signature_of_captured(function, content)
        settled = type(content) is ndarray or varies(content) is not None or isinstance(part, Known)
        if not settled or content is UNBOUND or is_own(cell):
            return None
        found.append(part)
    return tuple(found)


def with_captured(function: FunctionType, guard: Guard | None) -> Guard | None:
    """The guard of a pass that also takes for granted what the function captures; `guard` where it captures
    nothing.
    """
    cells = function.__closure__
    if not cells:
        return guard
    parts = [(cell, signature_of_captured(function, contents(cell))) for cell in cells]
    exact = [(cell, part.value) for cell, part in parts if isinstance(part, Known)]
    alike = [(cell, part) for cell, part in parts if not isinstance(part, Known)]

    def as_captured(namespace: dict[str, Any]) -> bool:
        try:
            for cell, value in exact:
                if cell.cell_contents is not value:
                    return False
            for cell, part in alike:
                if signature_of(cell.cell_contents) != part:
                    return False
        except ValueError:  # it has been deleted
            return False
        return guard is None or guard(namespace)

    return as_captured
