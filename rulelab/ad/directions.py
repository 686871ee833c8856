"""The directions in which a value can move, one for each real number in it, and the way back from what is
found along them to a cotangent.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from ..compiler import support
from ..errors import NotDifferentiableError
from ..tangents.algebra import is_number
from ..tangents.shadows import attributes_of, held_by, kind_of, zero_of
from ..tangents.structural import Tangent, make
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Direction:
    """One real number in a value: where it is, and the step of one in it, 1.0 or 1j."""

    path: Path
    unit: complex

    def tangent(self, x: Any) -> Any:
        """The tangent of `x`, in its inner form, that is this step and zero elsewhere."""
        return _with_step(zero_of(x), self.path, self.unit)


def directions(x: Any, path: Path = ()) -> Iterator[Direction]:
    """Every direction in which `x` can move: that of each number in it, two for a complex one."""
    kind = kind_of(x)
    if kind == "number":
        yield from _units(x, path)
    elif kind == "array":
        for index in np.ndindex(x.shape):
            yield from _units(x, (*path, index))
    elif kind == "items":
        for number, part in enumerate(x):
            yield from directions(part, (*path, number))
    elif kind == "entries":
        for key, part in dict.items(x):
            yield from directions(part, (*path, key))
    elif kind == "object":
        for name, part in attributes_of(x).items():
            yield from directions(part, (*path, name))
    elif kind == "function":
        held = held_by(x)
        for where, group in enumerate(held):
            for number, (name, part) in enumerate(group.items()):
                if isinstance(part, FunctionType) and part is not x and any(directions(part)):
                    raise NotDifferentiableError(
                        f"{x.__name__} captures {name}(), which captures numbers in turn: forwarddiff does "
                        "not follow them",
                        fixes=(f"give {x.__name__} what {name}() depends on as its argument",),
                    )
                if not isinstance(part, FunctionType):
                    yield from directions(part, (*path, where, number))


def _units(x: Any, path: Path) -> Iterator[Direction]:
    yield Direction(path, 1.0)
    if np.iscomplexobj(x):
        yield Direction(path, 1j)


def _with_step(x_dot: Any, path: Path, unit: complex) -> Any:
    """A tangent with the number at `path` set to `unit`; containers are written to, tuples made anew."""
    if not path:
        return unit
    key, rest = path[0], path[1:]
    if isinstance(x_dot, np.ndarray):
        x_dot[key] = unit
    elif isinstance(x_dot, tuple):
        part = _with_step(x_dot[key], rest, unit)
        parts = (*x_dot[:key], part, *x_dot[key + 1 :])
        return type(x_dot)(*parts) if hasattr(x_dot, "_fields") else parts
    elif isinstance(x_dot, SimpleNamespace):
        setattr(x_dot, key, _with_step(getattr(x_dot, key), rest, unit))
    else:
        x_dot[key] = _with_step(x_dot[key], rest, unit)
    return x_dot


def pairing(y_bar: Any, y_dot: Any) -> float:
    """<ȳ, ẏ>, the real inner product of a cotangent and a tangent of one value."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero) or isinstance(y_dot, AbstractZero) or y_bar is None or y_dot is None:
        return 0.0
    if isinstance(y_dot, np.ndarray) or is_number(y_dot):
        return float(np.real(np.vdot(np.asarray(y_bar), np.asarray(y_dot))))
    if isinstance(y_dot, dict):
        return sum(pairing(_part(y_bar, key), part) for key, part in y_dot.items())
    if isinstance(y_dot, SimpleNamespace):
        return sum(pairing(_part(y_bar, name), part) for name, part in vars(y_dot).items())
    names = getattr(type(y_dot), "_fields", range(len(y_dot)))
    return sum(pairing(_part(y_bar, key), part) for key, part in zip(names, y_dot, strict=True))


def _part(y_bar: Any, key: Any) -> Any:
    return support.part(y_bar, key)


def gathered(x: Any, found: list[tuple[Path, complex]]) -> Any:
    """The cotangent of `x` with these numbers at these paths."""
    if not found:
        return ZeroTangent()
    kind = kind_of(x)
    if kind == "number":
        total = sum(value for _, value in found)
        return total if np.iscomplexobj(x) else float(np.real(total))
    if kind == "array":
        x_bar = zero_of(x)
        for (index, *_), value in found:
            x_bar[index] += value if np.iscomplexobj(x_bar) else np.real(value)
        return x_bar
    by_key: dict[Any, list[tuple[Path, complex]]] = {}
    for (key, *rest), value in found:
        by_key.setdefault(key, []).append((tuple(rest), value))
    if kind == "function":
        return _of_function(x, by_key)
    if kind == "items":
        parts = {key: gathered(x[key], some) for key, some in by_key.items()}
        if hasattr(x, "_fields"):
            parts = {x._fields[key]: part for key, part in parts.items()}
            return make(type(x), parts)
        return make(type(x) if not isinstance(x, deque) else list, parts, len(x))
    if kind == "entries":
        return make(type(x), {key: gathered(x[key], some) for key, some in by_key.items()})
    return Tangent(type(x), **{name: gathered(getattr(x, name), some) for name, some in by_key.items()})


def _of_function(f: Any, by_group: dict[int, list[tuple[Path, complex]]]) -> Any:
    """The cotangent of what a function captures and has as defaults, by name."""
    bars: dict[str, Any] = {}
    for where, found in by_group.items():
        group = held_by(f)[where]
        names = list(group)
        by_name: dict[str, list[tuple[Path, complex]]] = {}
        for (number, *rest), value in found:
            by_name.setdefault(names[number], []).append((tuple(rest), value))
        bars |= {name: gathered(group[name], some) for name, some in by_name.items()}
    return support.captured(**bars)


def copied(x: Any) -> Any:
    """A copy of a value, with arrays and containers of its own; functions stay.

    A variable that a function shares with others, in the tangent of that function, would have to move along
    with the variable itself, which stays: it is refused.
    """
    if _shares_variables(x):
        raise NotDifferentiableError(
            "forwarddiff of a function with a captured variable that is set more than once is differentiated",
            fixes=("hand the variable to the function as an argument", "set another variable"),
            read="limitations#second-derivatives",
        )
    return copy.deepcopy(x, {id(NoTangent()): NoTangent()})


def _shares_variables(x: Any) -> bool:
    """Whether there is a cell in what may be the tangent of a function."""
    if isinstance(x, (tuple, list)):
        return any(map(_shares_variables, x))
    return type(x) is CellType
