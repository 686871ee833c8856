"""The arithmetic of cotangents: sum, scaling and accumulation for every pair of kinds."""

from __future__ import annotations

import copy
import dataclasses
import numbers

import numpy as np

from ..errors import RuleDtypeError, RuleError, RuleShapeError
from .missing import NotImplementedTangent
from .structural import (
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
from .thunks import InplaceableThunk, Thunk, unthunk
from .zeros import AbstractZero, ZeroTangent  # noqa: F401 (in doctests)


def is_number(x):
    """Whether a value is a number: Python's or NumPy's, not a bool."""
    if isinstance(x, (bool, np.bool_)):
        return False
    return isinstance(x, (float, complex, int, np.number, numbers.Number))


def _is_leaf(x):
    return isinstance(x, np.ndarray) or is_number(x)


def add(a, b):
    """The sum of two cotangents of one primal; neither is written to, and a zero gives the other as it is.

    Arrays must have one shape: a sum of cotangents never broadcasts (RuleShapeError).

    >>> add(ZeroTangent(), 2.0), add((1.0, None), Tangent(tuple, 1.0, 2.0))
    (2.0, Tangent(tuple, 2.0, 2.0))
    """
    if type(a) is float and type(b) is float:
        return a + b
    if type(a) is np.ndarray and type(b) is np.ndarray and a.shape == b.shape:
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
    )  # a sum is wanted, so the values are; a chain of delayed sums would grow deep
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
    return a + b


def _add_structures(a, b):
    left, right = _as_tangent(a, b), _as_tangent(b, a)
    cls, other = class_of(left), class_of(right)
    if cls is not other:
        if not (is_raw(a) or is_raw(b)) or not _compatible(cls, other):
            raise RuleShapeError(f"a cotangent of {cls.__name__} met one of {other.__name__}")
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
        f"cannot add a {type(x_bar).__name__} and a {type(partner).__name__} as cotangents of one value"
    )


def _compatible(cls, other):
    if cls is other:
        return True
    return is_sequence(cls) and is_sequence(other)


def scale(s, t):
    """`s` times a cotangent, `s` a number: zeros stay what they are, thunks stay thunks.

    >>> scale(2.0, Tangent(tuple, 1.0, ZeroTangent()))
    Tangent(tuple, 2.0, ZeroTangent())
    """
    if isinstance(t, (AbstractZero, NotImplementedTangent)):
        return t
    if np.ndim(s) != 0 and not isinstance(s, Thunk):
        raise RuleShapeError(f"a cotangent is scaled by a number, not by an array of shape {np.shape(s)}")
    if isinstance(t, Thunk):
        return Thunk(lambda: scale(s, t.unthunk()))
    if is_raw(t):
        t = from_raw(t)
    if isinstance(t, Tangent):
        scaled = {key: scale(s, value) for key, value in entries_of(t).items()}
        return make(class_of(t), scaled, len(t) if is_sequence(class_of(t)) else None)
    return s * t


def is_inplaceable(acc):
    """Whether an accumulator may be written to: a writable array of floats, not one that repeats its
    memory."""
    return type(acc) is np.ndarray and acc.dtype.kind in "fc" and acc.flags.writeable and 0 not in acc.strides


def add_into(acc, t):
    """`acc + t`, written into `acc` where that gives the same result; the caller vouches that it owns `acc`.

    Always use what it returns: a zero, a number or a narrower array cannot be written into.

    >>> acc = np.zeros(2)
    >>> add_into(acc, np.ones(2)) is acc
    True
    """
    if not is_inplaceable(acc) or isinstance(t, (AbstractZero, NotImplementedTangent)):
        return add(acc, t)
    if isinstance(t, InplaceableThunk) and not t.evaluated:
        return _add_thunk_into(acc, t)
    t = unthunk(t)
    if isinstance(t, np.ndarray) and t.shape == acc.shape and np.result_type(acc, t) == acc.dtype:
        return np.add(acc, t, out=acc)
    return add(acc, t)


def _add_thunk_into(acc, t):
    total = t.add_into(acc)
    if not isinstance(total, np.ndarray) or total.shape != acc.shape:
        raise RuleError(
            "the add_into of an InplaceableThunk must return the array it added to",
            fixes=("end it with `return acc`",),
        )
    return total


def add_to_primal(x, x_dot):
    """The primal moved by a tangent: `x + x_dot`, structure by structure.

    >>> add_to_primal({"a": 1.0, "b": 2.0}, Tangent(dict, {"a": 0.5}))
    {'a': 1.5, 'b': 2.0}
    """
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero):
        return x
    if isinstance(x_dot, NotImplementedTangent):
        raise x_dot.error()
    if not isinstance(x_dot, Tangent):
        return x + x_dot
    old = parts(x)
    return _rebuilt(x, {key: add_to_primal(old[key], value) for key, value in entries_of(x_dot).items()})


def _rebuilt(x, changes):
    """A copy of the primal `x` with some parts changed, made by its constructor where it has one for all of
    them."""
    cls = type(x)
    if is_namedtuple(cls):
        return x._replace(**changes)
    if is_sequence(cls):
        return cls(changes.get(i, value) for i, value in enumerate(x))
    if is_mapping(cls):
        return cls({**x, **changes})
    if dataclasses.is_dataclass(cls) and all(f.init for f in dataclasses.fields(cls)):
        return dataclasses.replace(x, **changes)
    moved = copy.copy(x)
    for name, value in changes.items():
        object.__setattr__(moved, name, value)
    return moved
