"""The directions in which a value can move, one for each real number in it, and the cotangent from the
derivatives along them.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from ..compiler.memory import support
from ..errors import NotDifferentiableError, an
from ..tangents.algebra import is_number
from ..tangents.holding import carrier, held_by
from ..tangents.shadows import attributes_of, is_kept_result, kind_of, zero_of
from ..tangents.structural import Tangent, make
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Direction:
    """A unit step of one real number in a value: its path, and the step, 1.0 or 1j."""

    path: Path
    unit: complex

    def tangent(self, x: Any) -> Any:
        """The tangent of `x`, in its inner form, that is this step and zero elsewhere."""
        return _step(x, self.path, self.unit)


def directions(x: Any, path: Path = (), around: tuple[Any, ...] = ()) -> Iterator[Direction]:
    """Yield every direction in which `x` can move: one for each real number in it, two for each complex
    number. An object that occurs twice in `x` can move at each place separately; `around` are the objects
    that contain `x`.
    """
    kind = kind_of(x)
    if kind in ("items", "entries", "object", "function"):
        if kind == "function" and around and x is around[-1]:
            return  # a recursive function captures itself
        if any(x is other for other in around):
            raise _leads_back(x)
        around = (*around, x)
    if kind == "number":
        yield from _units(x, path)
    elif kind == "array":
        for index in np.ndindex(x.shape):
            yield from _units(x, (*path, index))
    elif kind == "items":
        for number, part in enumerate(x):
            yield from directions(part, (*path, number), around)
    elif kind == "entries":
        for key, part in dict.items(x):
            yield from directions(part, (*path, key), around)
    elif kind == "object":
        for name, part in attributes_of(x).items():
            if not is_kept_result(x, name):
                yield from directions(part, (*path, name), around)
    elif kind == "function":
        for where, group in enumerate(held_by(x)):
            for number, part in enumerate(group.values()):
                yield from directions(part, (*path, where, number), around)
    elif kind == "carried":
        yield from directions(carrier(x), path, around)


def _leads_back(x: Any) -> NotDifferentiableError:
    """The error for an object that contains itself, so that there are infinitely many paths to its
    numbers.
    """
    what = f"the function {x.__name__}()" if isinstance(x, FunctionType) else f"{an(type(x).__name__)}"
    return NotDifferentiableError(
        f"forwarddiff cannot tell apart the numbers in {what}, which contains itself",
        fixes=("pass what the function depends on as its argument",),
    )


def _units(x: Any, path: Path) -> Iterator[Direction]:
    yield Direction(path, 1.0)
    if np.iscomplexobj(x):
        yield Direction(path, 1j)


def _step(x: Any, path: Path, unit: complex) -> Any:
    """The tangent of `x` that is `unit` at `path` and zero elsewhere. An object that occurs twice has a
    separate tangent at each place.
    """
    if not path:
        return unit
    x = carrier(x)
    key, rest = path[0], path[1:]
    if isinstance(x, FunctionType):
        groups = [[NoTangent() if y is x else zero_of(y) for y in group.values()] for group in held_by(x)]
        part = list(held_by(x)[key].values())[rest[0]]
        groups[key][rest[0]] = _step(part, rest[1:], unit)
        return tuple(map(tuple, groups))
    x_dot = zero_of(x)
    if isinstance(x, np.ndarray):
        x_dot[key] = unit
    elif isinstance(x, tuple):
        parts = (*x_dot[:key], _step(x[key], rest, unit), *x_dot[key + 1 :])
        return type(x_dot)(*parts) if hasattr(x_dot, "_fields") else parts
    elif isinstance(x_dot, SimpleNamespace):
        setattr(x_dot, key, _step(attributes_of(x)[key], rest, unit))
    else:
        x_dot[key] = _step(x[key], rest, unit)
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
    """The cotangent of `x` with these numbers at these paths, and zero elsewhere."""
    if not found:
        return ZeroTangent()
    x = carrier(x)
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
    values = attributes_of(x)
    return Tangent(type(x), **{name: gathered(values[name], some) for name, some in by_key.items()})


def _of_function(f: Any, by_group: dict[int, list[tuple[Path, complex]]]) -> Any:
    """The cotangent of the captured variables and defaults of a function, by name."""
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
    """Return a copy of a value, with its own arrays and containers; functions are not copied.

    Refuses a tangent of a function that shares a captured variable with others: a copy of the tangent would
    no longer follow that variable.
    """
    if _shares_variables(x):
        raise NotDifferentiableError(
            "forwarddiff is differentiated, and its function sets a captured variable more than once",
            fixes=("pass the variable to the function as an argument", "use a new variable for each value"),
            read="limitations#second-derivatives",
        )
    return copy.deepcopy(x, {id(NoTangent()): NoTangent()})


def _shares_variables(x: Any) -> bool:
    """Whether a value, which may be the tangent of a function, contains a cell."""
    if isinstance(x, (tuple, list)):
        return any(map(_shares_variables, x))
    return type(x) is CellType
