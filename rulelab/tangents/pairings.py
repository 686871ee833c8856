"""The pairing <x̄, ẋ> of a cotangent and a tangent, and conversions between the forms of the two.

Both spaces are treated as real: a complex number is a pair of real numbers. So the gradient of <x̄, ẋ> with
respect to x̄ is ẋ, and with respect to ẋ it is x̄, complex or not; a structure is the sum over its parts.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import An, NotDifferentiableError, an
from .algebra import is_number, scale
from .holding import carrier, held_by
from .missing import NotImplementedTangent
from .projection import FieldGradients, number_type, project, tangent_dtype, zeros_like
from .shadows import inner, kind_of
from .structural import Tangent, class_of, entries_of, is_namedtuple, is_sequence, make, parts
from .thunks import unthunk
from .zeros import AbstractZero, NoTangent, ZeroTangent

NO = NoTangent()
ZERO = ZeroTangent()
_FLOAT = np.dtype(np.float64)
STRUCTURES = ("items", "entries", "object")  # the kinds of values that have parts (see `kind_of`)


def part_at(structure: Any, key: Any) -> Any:
    """The part of a cotangent, or of a tangent in its inner form, for a key; a zero if it has none.

    >>> part_at({"a": 1.0}, "b"), part_at(Tangent(tuple, 1.0, 2.0), 1), part_at([None], 0)
    (ZeroTangent(), 2.0, NoTangent())
    """
    structure = unthunk(structure)
    if isinstance(structure, AbstractZero):
        return structure
    if isinstance(structure, Tangent):
        found = structure[key] if is_sequence(class_of(structure)) else entries_of(structure).get(key, ZERO)
    elif isinstance(structure, dict):
        found = structure.get(key, ZERO)
    elif isinstance(key, str):
        found = getattr(structure, key, ZERO)
    else:
        found = structure[key]
    return NO if found is None else found


def parts_of(x: Any) -> dict[Any, Any] | None:
    """The parts of a primal, tangent or cotangent that is a structure, by key; None for anything else."""
    if isinstance(x, Tangent):
        return entries_of(x)
    if isinstance(x, dict):
        return x
    if isinstance(x, (list, tuple, deque)):
        return dict(zip(type(x)._fields if is_namedtuple(type(x)) else range(len(x)), x, strict=True))  # type: ignore[union-attr]
    if isinstance(x, FieldGradients) or kind_of(x) == "object":
        return parts(x)
    return None


def pairing(x: Any, x_bar: Any, x_dot: Any) -> Any:
    """<x̄, ẋ>, a real number, for a cotangent of `x` as `project` returns it and a tangent in its inner form.

    Raises NotImplementedTangentError if `x` varies and its cotangent has not been derived.

    >>> pairing(1j, 2 + 3j, 1 + 1j)
    5.0
    >>> pairing({"a": 1.0, "b": [2.0]}, Tangent(dict, {"b": Tangent(list, 3.0)}), {"a": 1.0, "b": [2.0]})
    6.0
    """
    if type(x_bar) is float and type(x_dot) is float:
        return x_bar * x_dot
    if _is_plain(x) and _is_plain(x_bar) and _is_plain(x_dot):
        return np.vdot(x_bar, x_dot)
    x_bar = unthunk(x_bar)
    if isinstance(x_dot, AbstractZero) or isinstance(x_bar, AbstractZero):
        return 0.0
    if isinstance(x_bar, NotImplementedTangent):
        raise x_bar.error()
    if isinstance(x, np.ndarray):
        return np.real(np.vdot(x_bar, x_dot))
    if is_number(x):
        return (x_bar.conjugate() * x_dot).real
    if (behind := carrier(x)) is not x:  # a method moves with its object
        return pairing(behind, x_bar, x_dot)
    return sum([pairing(part, bar, dot) for part, bar, dot in _in_step(x, x_bar, x_dot)], 0.0)


def _is_plain(x: Any) -> bool:
    """Whether a value is a float64 array."""
    return type(x) is np.ndarray and x.dtype is _FLOAT


def _in_step(x: Any, x_bar: Any, x_dot: Any) -> list[tuple[Any, Any, Any]]:
    """Each part of `x` with its cotangent and its tangent."""
    if kind_of(x) == "function":
        return [(part, part_at(x_bar, name), dot) for name, part, dot in _held_in_step(x, x_dot)]
    found = parts_of(x)
    if found is None:
        raise NotDifferentiableError(
            f"{An(type(x).__name__)}, which holds what varies, is given to a function that has only an rrule",
            fixes=("pass what it holds to the function as an argument", "write an frule"),
            read="limitations#second-derivatives",
        )
    return [(part, part_at(x_bar, key), part_at(x_dot, key)) for key, part in found.items()]


def _held_in_step(f: Any, f_dot: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, value and tangent of everything that a function holds."""
    for group, dots in zip(held_by(f), f_dot, strict=True):
        whole = (NO,) * len(group) if isinstance(dots, AbstractZero) else dots
        for (name, part), dot in zip(group.items(), whole, strict=True):
            yield name, part, dot.cell_contents if isinstance(dot, types.CellType) else dot


def gradient_by_tangent(x: Any, x_bar: Any, x_dot: Any, factor: Any) -> Any:
    """The cotangent of `x_dot` in `factor` <x̄, ẋ>.

    >>> gradient_by_tangent(1j, 2 + 3j, 1 + 1j, 2.0)
    (4+6j)
    """
    return scale(factor, in_form_of(x_dot, _with_functions(x, x_bar, to_inner=True)))


def gradient_by_cotangent(x: Any, x_bar: Any, x_dot: Any, factor: Any) -> Any:
    """The cotangent of `x_bar` in `factor` <x̄, ẋ>."""
    return scale(factor, in_form_of(x_bar, _with_functions(x, x_dot, to_inner=False)))


def _with_functions(x: Any, moved: Any, to_inner: bool) -> Any:
    """A tangent or cotangent of `x` with the parts for functions converted to the other form: by name, or
    three tuples (the inner form).
    """
    if type(x) is float or type(x) is np.ndarray:
        return moved
    x = carrier(x)
    moved, kind = unthunk(moved), kind_of(x)
    if kind in (None, "number", "array") or isinstance(moved, (AbstractZero, NotImplementedTangent)):
        return moved
    if kind == "function" and not to_inner:
        return {name: _with_functions(part, dot, to_inner) for name, part, dot in _held_in_step(x, moved)}
    if kind == "function":
        return tuple(
            tuple(_with_functions(part, part_at(moved, name), to_inner) for name, part in group.items())
            for group in held_by(x)
        )
    return {
        key: _with_functions(part, part_at(moved, key), to_inner) for key, part in (parts_of(x) or {}).items()
    }


def in_form_of(value: Any, moved: Any) -> Any:
    """`moved`, a tangent or cotangent in the same space as `value`, as the cotangent of `value`: real if
    `value` is, of its shape, and for a structure a Tangent of its class. NoTangent() for a constant.

    >>> in_form_of(1.0, 2 + 3j), in_form_of([1.0, ZeroTangent()], Tangent(tuple, 2.0, 3.0))
    (2.0, Tangent(list, 2.0, NoTangent()))
    """
    if type(value) is float and type(moved) is float:
        return moved
    if type(value) is np.ndarray and type(moved) is np.ndarray:
        return project(value, moved)
    value, moved = unthunk(value), unthunk(moved)
    if isinstance(value, (AbstractZero, NotImplementedTangent)):
        return NO
    if isinstance(moved, NotImplementedTangent):
        raise moved.error()
    if isinstance(moved, AbstractZero):
        return moved
    if isinstance(value, np.ndarray):
        return project(value, moved if isinstance(moved, np.ndarray) or is_number(moved) else _stacked(moved))
    if is_number(value):
        return project(value, moved)
    if isinstance(value, types.CellType):
        raise NotDifferentiableError(
            "The tangent of a captured variable that is set more than once is differentiated",
            fixes=("pass the variable to the function as an argument", "use a new variable for each value"),
            read="limitations#second-derivatives",
        )
    found = parts_of(value)
    if found is None:
        return NO
    kind = class_of(value) if isinstance(value, Tangent) else type(value)
    names = _names(value, moved)
    entries = {key: in_form_of(part, part_at(moved, names.get(key, key))) for key, part in found.items()}
    return make(kind, entries, len(value) if is_sequence(kind) else None)


def _names(value: Any, moved: Any) -> dict[Any, Any]:
    """Map the keys of the parts of `value` to those in `moved`, if one uses names and the other positions."""
    kind = class_of(value) if isinstance(value, Tangent) else type(value)
    other = class_of(moved) if isinstance(moved, Tangent) else type(moved)
    if is_namedtuple(kind) and is_sequence(other):
        return {name: number for number, name in enumerate(kind._fields)}
    if is_sequence(kind) and is_namedtuple(other):
        return dict(enumerate(other._fields))
    return {}


def _stacked(moved: Any) -> Any:
    """Stack the parts of a list or tuple into an array, of which they are the rows."""
    rows = [0.0 if isinstance(row, AbstractZero) or row is None else row for row in map(unthunk, moved)]
    return np.stack(np.broadcast_arrays(*rows)) if rows else np.zeros(0)


def added(first: Any, second: Any) -> Any:
    """The sum of two tangents of one value in their inner form; either may be absent, as a whole or in any
    part.

    >>> added({"a": 1.0, "b": None}, {"a": 2.0, "b": None}), added((1.0, NO), (NO, 2.0))
    ({'a': 3.0, 'b': NoTangent()}, (1.0, 2.0))
    """
    if first is None or isinstance(first, AbstractZero):
        return NO if second is None else second
    if second is None or isinstance(second, AbstractZero):
        return first
    if isinstance(first, np.ndarray) or is_number(first):
        return first + second
    found = parts_of(first) or {}
    return rebuilt(first, {key: added(part, part_at(second, key)) for key, part in found.items()})


def rebuilt(like: Any, parts: dict[Any, Any]) -> Any:
    """A structure of tangents like `like`, with other parts."""
    if isinstance(like, Tangent):
        return make(class_of(like), parts, len(like) if is_sequence(class_of(like)) else None)
    if isinstance(like, FieldGradients):
        return like.with_parts(parts)
    if isinstance(like, types.SimpleNamespace):
        return types.SimpleNamespace(**parts)
    if is_namedtuple(type(like)):
        return type(like)(**parts)
    if isinstance(like, dict):
        return dict(parts)
    return deque(parts.values()) if isinstance(like, deque) else type(like)(parts.values())


def moving(x_bar: Any) -> Any:
    """A gradient as a caller gets it, converted to a tangent: None becomes NoTangent(), in any part.

    >>> moving({"a": 1.0, "b": None})
    {'a': 1.0, 'b': NoTangent()}
    """
    if x_bar is None:
        return NO
    found = None if isinstance(x_bar, np.ndarray) or is_number(x_bar) else parts_of(x_bar)
    return x_bar if found is None else rebuilt(x_bar, {key: moving(part) for key, part in found.items()})


# -- the numbers in a structure, in order --------------------------------------------------------------------


def leaves_of(y: Any) -> tuple[Any, ...]:
    """Ones for each number and array in `y`, in the type of its cotangents.

    Raises NotDifferentiableError for a value that holds numbers but is not a structure: a closure, an
    iterator.

    >>> leaves_of([1.0, {"a": 2j, "b": "text"}])
    (1.0, (1+0j))
    """
    return tuple(_ones(y, ()))


def _ones(y: Any, around: tuple[Any, ...]) -> Iterator[Any]:
    kind = kind_of(y)
    if kind == "array":
        yield np.ones(y.shape, tangent_dtype(y.dtype))
    elif kind == "number":
        yield number_type(y)(1.0)
    elif any(y is x for x in around):
        raise _no_structure(y, "holds itself")
    elif kind in STRUCTURES:
        for part in (parts_of(y) or {}).values():
            yield from _ones(part, (*around, y))
    elif kind == "function":
        for _ in (
            one for group in held_by(y) for part in group.values() for one in _ones(part, (*around, y))
        ):
            raise _no_structure(y, "holds numbers")
    elif not isinstance(zeros_like(y), NoTangent):
        raise _no_structure(y, "may hold numbers that cannot be inspected")


def cotangent_from(y: Any, leaves: tuple[Any, ...]) -> Any:
    """The cotangent of `y` with these leaves in place of its numbers and arrays, as a pullback gets it.

    >>> cotangent_from([1.0, {"a": 2j, "b": "text"}], (0.5, 3j))
    Tangent(list, 0.5, Tangent(dict, {'a': 3j, 'b': NoTangent()}))
    """
    return _cotangent(y, iter(leaves))


def _cotangent(y: Any, leaves: Iterator[Any]) -> Any:
    kind = kind_of(y)
    if kind in ("array", "number"):
        return next(leaves)
    if kind not in STRUCTURES:
        return zeros_like(y)
    entries = {key: _cotangent(part, leaves) for key, part in (parts_of(y) or {}).items()}
    return make(type(y), entries, len(y) if is_sequence(type(y)) else None)


def leaves_in(y: Any, y_bar: Any) -> tuple[Any, ...]:
    """The parts of a tangent or cotangent of `y` that belong to its numbers and arrays, in order.

    >>> leaves_in([1.0, {"a": 2j, "b": "text"}], Tangent(list, 0.5, {"a": 3j}))
    (0.5, 3j)
    """
    y_bar, kind = unthunk(y_bar), kind_of(y)
    if kind in ("array", "number"):
        return (y_bar,)
    found = (parts_of(y) or {}) if kind in STRUCTURES else {}
    return tuple([leaf for key, part in found.items() for leaf in leaves_in(part, part_at(y_bar, key))])


def tangent_from(y: Any, leaves: tuple[Any, ...]) -> Any:
    """The tangent of `y` in its inner form with these leaves in place of its numbers and arrays; None means
    zero.

    A part that occurs twice has one tangent; anything but numbers and structures has none.

    >>> tangent_from([1.0, {"a": 2j, "b": "text"}], (0.5, None))
    [0.5, {'a': 0j, 'b': NoTangent()}]
    """
    if kind_of(y) in ("array", "number") and not isinstance(leaves[0], AbstractZero | None):
        return leaves[0]
    return inner(y, _for_inner(y, iter(leaves), {}), "the value of the rule")


def _for_inner(y: Any, leaves: Iterator[Any], seen: dict[int, Any]) -> Any:
    """The same in the form that `inner` reads, with the same tangent object wherever an object occurs."""
    kind = kind_of(y)
    if kind == "number":
        return next(leaves)
    if kind != "array" and kind not in STRUCTURES:
        return None
    if kind == "array":
        found = next(leaves)
    else:
        found = {key: _for_inner(part, leaves, seen) for key, part in (parts_of(y) or {}).items()}
        if kind == "items" and not is_namedtuple(type(y)):
            found = list(found.values())
    return seen.setdefault(id(y), found)


def _no_structure(y: Any, why: str) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"The value of a rule is, or holds, {an(type(y).__name__)}, which {why}",
        fixes=("return numbers, arrays, and lists, dicts or objects of them", "write an frule"),
        read="limitations#second-derivatives",
    )


def stated_tangent(y: Any, y_dot: Any) -> Any:
    """The tangent of `y` that an author's frule returned, in the inner form: real if `y` is, with Tangents
    converted. A tangent already in that form is returned as it is.

    >>> stated_tangent(2.0, 1 + 1j), stated_tangent([2.0], Tangent(list, 3.0))
    (1.0, [3.0])
    """
    y_dot = unthunk(y_dot)
    if type(y) is float and type(y_dot) is float or isinstance(y_dot, (AbstractZero, NotImplementedTangent)):
        return y_dot
    if isinstance(y, np.ndarray) or is_number(y):
        return y_dot.real if np.iscomplexobj(y_dot) and not np.iscomplexobj(y) else y_dot
    if kind_of(y) not in STRUCTURES:
        return y_dot
    if isinstance(y_dot, Tangent):
        return inner(y, y_dot, "the value")
    before = parts_of(y_dot) or {}
    found = {
        key: stated_tangent(part, before[key]) for key, part in (parts_of(y) or {}).items() if key in before
    }
    changed = any(part is not before[key] for key, part in found.items())
    return rebuilt(y_dot, {**before, **found}) if changed else y_dot
