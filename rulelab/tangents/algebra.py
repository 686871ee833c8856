"""Arithmetic of cotangents: sum, scaling and accumulation for all combinations of kinds."""

from __future__ import annotations

import copy
import dataclasses
import numbers
from typing import Any

import numpy as np

from ..errors import Place, RuleDtypeError, RuleError, RuleShapeError, an
from .missing import NotImplementedTangent
from .structural import (
    SUMS,
    Tangent,
    class_of,
    entries_of,
    from_raw,
    is_mapping,
    is_namedtuple,
    is_raw,
    is_sequence,
    make,
    parts,
)
from .thunks import InplaceableThunk, Thunk, say_whose, unthunk
from .zeros import AbstractZero, ZeroTangent  # noqa: F401 (in doctests)

_FLOAT = np.dtype(np.float64)
FLOATS = frozenset({float, np.float64})


def is_number(x):
    """Whether a value is a Python or NumPy number, but not a bool."""
    kind = type(x)
    if kind is float or kind is np.float64 or kind is int:
        return True
    if kind is np.ndarray or kind is Tangent or kind is list or kind is tuple:
        return False
    if isinstance(x, (bool, np.bool_)):
        return False
    return isinstance(x, (float, complex, int, np.number, numbers.Number))


def _is_leaf(x):
    return isinstance(x, np.ndarray) or is_number(x)


def add(a, b):
    """The sum of two cotangents of one primal. Neither is written to; if one is zero, the other is returned
    as it is.

    Arrays must have the same shape: a sum of cotangents never broadcasts (RuleShapeError).

    >>> add(ZeroTangent(), 2.0), add((1.0, None), Tangent(tuple, 1.0, 2.0))
    (2.0, Tangent(tuple, 2.0, 2.0))
    """
    if type(a) in FLOATS and type(b) in FLOATS:
        return a + b
    if (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.dtype is b.dtype is _FLOAT
        and a.shape == b.shape
    ):
        return a + b
    if isinstance(a, NotImplementedTangent):
        return a
    if isinstance(b, NotImplementedTangent):
        return b
    if isinstance(a, AbstractZero) or isinstance(b, AbstractZero):
        return a + b if isinstance(a, AbstractZero) else b + a
    a, b = (
        unthunk(a),
        unthunk(b),
    )  # the sum needs the values; a chain of delayed sums would nest deeply
    if _is_leaf(a) and _is_leaf(b):
        return _add_leaves(a, b)
    if isinstance(a, (AbstractZero, NotImplementedTangent)) or isinstance(
        b, (AbstractZero, NotImplementedTangent)
    ):
        return add(a, b)
    return _add_structures(a, b)


def _add_leaves(a, b):
    if np.shape(a) != np.shape(b):
        raise RuleShapeError(
            f"two cotangents of one value have shapes {np.shape(a)} and {np.shape(b)}",
            fixes=("undo the broadcasting in the rule: sum over the axes that were repeated",),
        )
    if _kind(a) in "fcO" and _kind(b) in "fcO":
        return a + b
    if type(a) is int and type(b) is int:
        return a + b
    return as_floats(a) + as_floats(b)


def _kind(x):
    """NumPy's kind letter for a number or an array."""
    return "f" if type(x) is float else np.asarray(x).dtype.kind


def as_floats(x):
    """Convert a number or an array of ints or bools to float: sums of ints overflow, and a sum of bools is a
    logical or.

    >>> as_floats(np.array([2**62])) + as_floats(np.array([2**62])) == 2.0**63
    array([ True])
    """
    kind = _kind(x)
    if kind in "iub":
        return x.astype(np.float64) if isinstance(x, (np.ndarray, np.generic)) else float(x)
    if kind not in "fcO":
        raise RuleDtypeError(f"an array of {np.asarray(x).dtype} is not a cotangent")
    return x


def _add_structures(a, b):
    left, right = _as_tangent(a, b), _as_tangent(b, a)
    cls, other = class_of(left), class_of(right)
    if cls is not other:
        if not (is_raw(a) or is_raw(b)) or not _compatible(cls, other):
            raise RuleShapeError(f"a cotangent of {cls.__name__} cannot be added to one of {other.__name__}")
        cls = other if is_raw(a) else cls
    if is_sequence(cls) and len(left) != len(right):
        raise RuleShapeError(
            f"two cotangents of one {cls.__name__} have lengths {len(left)} and {len(right)}"
        )
    total = dict(entries_of(left))
    for key, value in entries_of(right).items():
        total[key] = add(total[key], value) if key in total else value
    return make(cls, total, len(left) if is_sequence(cls) else None)


def _as_tangent(x_bar, partner):
    if isinstance(x_bar, Tangent):
        return x_bar
    if is_raw(x_bar):
        if is_mapping(type(x_bar)) and isinstance(partner, Tangent) and not is_sequence(class_of(partner)):
            return make(class_of(partner), {k: v for k, v in x_bar.items() if v is not None})
        return from_raw(x_bar)
    raise RuleDtypeError(
        f"two cotangents of one value cannot be added: {type(x_bar).__name__} and {type(partner).__name__}"
    )


def _compatible(cls, other):
    if cls is other:
        return True
    return is_sequence(cls) and is_sequence(other)


def scale(s, t):
    """`s` times a cotangent, for a number `s`. Zeros stay zeros, thunks stay thunks.

    >>> scale(2.0, Tangent(tuple, 1.0, ZeroTangent()))
    Tangent(tuple, 2.0, ZeroTangent())
    """
    if isinstance(t, (AbstractZero, NotImplementedTangent)):
        return t
    s = unthunk(s)
    if isinstance(s, AbstractZero):
        return s
    _check_factor(s)
    if isinstance(t, Thunk):
        return Thunk(lambda: scale(s, t.unthunk()))
    if is_raw(t):
        t = from_raw(t)
    if isinstance(t, Tangent):
        scaled = {key: scale(s, value) for key, value in entries_of(t).items()}
        return make(class_of(t), scaled, len(t) if is_sequence(class_of(t)) else None)
    if not _is_leaf(t):
        raise RuleDtypeError(f"{an(type(t).__name__)} is not a cotangent and cannot be scaled")
    return s * as_floats(t) if _kind(t) in "iub" and type(t) is not int else s * t


def _check_factor(s):
    if isinstance(s, NotImplementedTangent):
        raise s.error()
    if isinstance(s, np.ndarray) and s.ndim:
        raise RuleShapeError(f"a cotangent is scaled by a number, not by an array of shape {s.shape}")
    if not _is_leaf(s) and not isinstance(s, (bool, np.bool_)):
        raise RuleDtypeError(f"a cotangent is scaled by a number, not by {an(type(s).__name__)}")


def is_inplaceable(acc: Any) -> bool:
    """Whether an accumulator can be written to: a writable array of floats without overlapping elements.

    Whether it may be written to, its owner must decide: not if other code refers to it.

    >>> is_inplaceable(np.zeros(2)), is_inplaceable(np.broadcast_to(0.0, 2)), is_inplaceable(1.0)
    (True, False, False)
    """
    if type(acc) is not np.ndarray or acc.dtype.kind not in "fc" or not acc.flags.writeable:
        return False
    return acc.flags.c_contiguous or acc.flags.f_contiguous or not _repeats_memory(acc)


def _repeats_memory(acc):
    """Whether two elements of an array may share memory, as in the results of `as_strided`."""
    end = 0
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(acc.strides, acc.shape) if size > 1
    ):
        if stride < end + acc.itemsize:
            return True
        end += stride * (size - 1)
    return False


def add_into(acc: Any, t: Any) -> Any:
    """`acc + t`, written into `acc` if that gives the same result; the caller asserts that it owns `acc`.

    Always use the return value: a zero, a number or an array of lower precision cannot be written into.

    >>> acc = np.zeros(2)
    >>> add_into(acc, np.ones(2)) is acc
    True
    """
    if not is_inplaceable(acc) or isinstance(t, (AbstractZero, NotImplementedTangent)):
        return add(acc, t)
    if isinstance(t, InplaceableThunk) and not t.evaluated:
        return _add_thunk_into(acc, t)
    t = unthunk(t)
    if (
        type(t) is np.ndarray
        and t.shape == acc.shape
        and t.dtype.kind in "fciu"
        and np.result_type(acc, t) == acc.dtype
    ):
        return np.add(acc, t, out=acc)
    return add(acc, t)


def _add_thunk_into(acc, t):
    try:
        total = t.add_into(acc)
    except Exception as error:
        say_whose(error, t.add_into)
        raise
    if not isinstance(total, np.ndarray) or total.shape != acc.shape:
        raise _wrong_in_place(t, f"must return the array it added to, not {_described(total)}")
    return total


def _wrong_in_place(t, said):
    function = t.add_into
    return RuleError(
        f"the add_into of {getattr(function, '__name__', type(function).__name__)} {said}",
        place=Place.of_function(function) if hasattr(function, "__code__") else None,
        fixes=("add the value into acc and end it with `return acc`",),
    )


def _described(total):
    return (
        f"an array of shape {total.shape}" if isinstance(total, np.ndarray) else f"{an(type(total).__name__)}"
    )


def add_to_primal(x, x_dot):
    """The primal moved by a tangent: `x + x_dot`, part by part.

    >>> add_to_primal({"a": 1.0, "b": 2.0}, Tangent(dict, {"a": 0.5}))
    {'a': 1.5, 'b': 2.0}
    """
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero):
        return x
    if isinstance(x_dot, NotImplementedTangent):
        raise x_dot.error()
    if is_raw(x_dot) and is_raw(x):
        x_dot = from_raw(x_dot)
    if not isinstance(x_dot, Tangent):
        return x + x_dot
    old = parts(x)
    _check_parts(x, old, x_dot)
    return _rebuilt(x, {key: add_to_primal(old[key], value) for key, value in entries_of(x_dot).items()})


def _check_parts(x, old, x_dot):
    """Raise RuleShapeError unless the tangent fits a primal with these parts."""
    name, cls = type(x).__name__, class_of(x_dot)
    if is_sequence(cls) and len(x_dot) != len(old):
        raise RuleShapeError(f"{an(name)} of length {len(old)} cannot have a tangent of length {len(x_dot)}")
    for key in entries_of(x_dot):
        if key not in old:
            raise RuleShapeError(f"the {name} has no part {key!r}, but its tangent has one")


def _rebuilt(x, changes):
    """A copy of the primal `x` with some parts changed, made by its constructor if that takes all of them."""
    cls = type(x)
    if is_namedtuple(cls):
        return x._replace(**changes)
    if is_sequence(cls) and not issubclass(cls, list):
        return cls(changes.get(i, value) for i, value in enumerate(x))
    if is_sequence(cls) or is_mapping(cls):
        moved = copy.copy(x)
        for key, value in changes.items():
            moved[key] = value
        return moved
    if dataclasses.is_dataclass(cls) and all(f.init for f in dataclasses.fields(cls)):
        return dataclasses.replace(x, **changes)
    moved = copy.copy(x)
    for name, value in changes.items():
        object.__setattr__(moved, name, value)
    return moved


SUMS.add, SUMS.add_to_primal, SUMS.scale = add, add_to_primal, scale  # for `+` and `*` of structures
