"""The kind of the result of an operator, a comparison, a subscript or a ufunc, from the kinds of its
operands.

The dtype of a ufunc's result comes from NumPy itself; the rest is counting dimensions.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..tangents.holding import UNBOUND
from .kinds import (
    ANY,
    BOOL,
    ELLIPSIS,
    F8,
    FLOAT,
    I8,
    INT,
    NONE,
    NUMERIC,
    REAL,
    SLICE,
    STR,
    Array,
    Given,
    Tuple,
    Type,
    array_of,
    is_numeric,
    is_real,
    item_of,
    join_all,
    name_of_dtype,
)

# The arguments of `ufunc.resolve_dtypes` for each kind of number; Python numbers adopt the dtype of an array.
_ASKED: dict[Type, tuple[Any, ...]] = {
    FLOAT: (float,),
    INT: (int,),
    F8: (np.dtype("f8"),),
    REAL: (float, int, np.dtype("f8")),
    I8: (np.dtype("i8"),),
    BOOL: (np.dtype("b1"),),
}
_UFUNCS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.matmul: np.matmul,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    operator.abs: np.absolute,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
}
_OF_REALS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
)
_OF_BITS = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
BINARY = (*_OF_REALS, *_OF_BITS, operator.matmul)
UNARY = (operator.neg, operator.pos, operator.invert, operator.abs, operator.not_)
COMPARING = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


# -- ufuncs --------------------------------------------------------------------------------------------------


def of_ufunc(ufunc: np.ufunc, kinds: Sequence[Type]) -> Type:
    """The kind of the result of a ufunc for its operands, without other arguments.

    >>> of_ufunc(np.add, [Array("f4", 1), FLOAT]), of_ufunc(np.less, [F8, INT])
    (Array(dtype='f4', ndim=1), Kind(name='bool'))
    """
    dtypes = _dtypes_of(ufunc, kinds) if len(kinds) == ufunc.nin else None
    ndims = None if dtypes is None else _dimensions(ufunc, [ndim_of(kind) for kind in kinds])
    if dtypes is None or ndims is None:
        return NUMERIC
    made = tuple(item_of(dtype, ndim) for dtype, ndim in zip(dtypes, ndims, strict=True))
    return made[0] if ufunc.nout == 1 else Tuple(made)


def ndim_of(kind: Type) -> int | None:
    """The number of dimensions of an array or number; None if unknown."""
    return kind.ndim if isinstance(kind, Array) else 0 if kind in _ASKED else None


def _dtypes_of(ufunc: np.ufunc, kinds: Sequence[Type]) -> list[str | None] | None:
    """The dtype of each result, if it is the same for all operands of these kinds; otherwise None."""
    if any(ndim_of(kind) is None for kind in kinds):
        return None
    given = [(np.dtype(k.dtype),) if isinstance(k, Array) else _ASKED[k] for k in kinds]
    found = {_resolved(ufunc, choice) for choice in itertools.product(*given)}
    if len(found) != 1:
        return None
    dtypes = found.pop()
    if dtypes is not None and len(kinds) == 1 and kinds[0] in (INT, REAL) and "f8" not in dtypes:
        return None  # an int beyond int64 becomes an unsigned int or an object
    return None if dtypes is None else list(dtypes)


def _resolved(ufunc: np.ufunc, given: tuple[Any, ...]) -> tuple[str | None, ...] | None:
    try:
        return tuple(map(name_of_dtype, ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))[ufunc.nin :]))
    except TypeError:  # no loop for these dtypes, so there is no result
        return None


def _dimensions(ufunc: np.ufunc, ndims: Sequence[Any]) -> list[int] | None:
    """The number of dimensions of each result."""
    if ufunc is np.matmul:
        found = _of_product(*ndims)
        return None if found is None else [found]
    if ufunc.signature is None:
        return [max(ndims)] * ufunc.nout
    if "?" in ufunc.signature:
        return None
    inputs, outputs = (_core(side) for side in ufunc.signature.split("->"))
    loops = [ndim - core for ndim, core in zip(ndims, inputs, strict=True)]
    return [max(loops) + core for core in outputs] if min(loops) >= 0 else None


def _core(side: str) -> list[int]:
    """The number of core dimensions of each operand in a signature: `(m,n),(n)` gives 2 and 1."""
    return [len([name for name in part.split(",") if name]) for part in side.strip("()").split("),(")]


def _of_product(left: int, right: int) -> int | None:
    """The number of dimensions of `left @ right`."""
    if left == 0 or right == 0:
        return None
    return max(left, right, 2) - (left == 1) - (right == 1)


def promoted(dtypes: Iterable[str | None]) -> str | None:
    """The dtype of an array made by joining arrays of these dtypes; None if one is unknown.

    >>> promoted(["i8", "f8"]), promoted(["i8", None]), promoted(["f4", "i8"])
    ('f8', None, 'f8')
    """
    known = list(dtypes)
    if not known or None in known:
        return None
    return name_of_dtype(np.result_type(*[np.dtype(dtype) for dtype in known]))


# -- operators -----------------------------------------------------------------------------------------------


def of_operator(function: Any, left: Given, right: Given) -> Type:
    """The kind of `left op right`; `function` is that of the module `operator`.

    >>> of_operator(operator.mul, Given(Array("f8", 2)), Given(Array("f8", 1)))
    Array(dtype='f8', ndim=2)
    """
    a, b = left.kind, right.kind
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return Tuple((*a.items, *b.items)) if function is operator.add else ANY
    if not is_numeric(a) or not is_numeric(b):
        return ANY
    if isinstance(a, Array) or isinstance(b, Array):
        return _of_arrays(function, a, b)
    if NUMERIC in (a, b):
        return NUMERIC
    if is_real(a) and is_real(b) and function in _OF_REALS:
        return _of_reals(function, a, b, right.literal)
    if I8 in (a, b) or F8 in (a, b):
        return of_ufunc(_UFUNCS[function], (a, b))
    return _of_truths(function, a, b)


def _of_arrays(function: Any, a: Type, b: Type) -> Type:
    """At least one operand is an array. Powers of f4 and bool arrays depend on the exponent."""
    if function is operator.pow and isinstance(a, Array) and a.dtype in ("f4", "b1"):
        return NUMERIC
    return of_ufunc(_UFUNCS[function], (a, b))


def _of_reals(function: Any, a: Type, b: Type, exponent: Any) -> Type:
    if F8 in (a, b):
        return F8
    if function is operator.pow:
        return _of_power(a, b, exponent)
    if a == INT and b == INT:
        return FLOAT if function is operator.truediv else INT
    return FLOAT if REAL not in (a, b) else REAL


def _of_power(a: Type, b: Type, exponent: Any) -> Type:
    """The power of two Python numbers: complex for (-8.0) ** (1/3), and for ints possibly a float."""
    if b == INT and (a != INT or exponent is UNBOUND):
        return FLOAT if a == FLOAT else REAL
    if exponent is UNBOUND or not float(exponent).is_integer():
        return NUMERIC
    if a == INT and b == INT:
        return INT if exponent >= 0 else REAL
    return FLOAT if REAL not in (a, b) else REAL


def _of_truths(function: Any, a: Type, b: Type) -> Type:
    """For ints and bools; the latter may be NumPy's and then give NumPy numbers."""
    if function in _OF_BITS:
        shifts = function in (operator.lshift, operator.rshift)
        return INT if a == b == INT else BOOL if a == b == BOOL and not shifts else NUMERIC
    if function is operator.truediv or (FLOAT in (a, b) and function not in (operator.pow, operator.matmul)):
        return REAL
    return NUMERIC


def in_place(function: Any, left: Given, right: Given) -> Type:
    """The kind of the left operand after `left op= right`."""
    if isinstance(left.kind, Array):
        return left.kind if ndim_of(right.kind) is not None else ANY
    if ndim_of(left.kind) == 0 and ndim_of(right.kind) == 0:
        return of_operator(function, left, right)
    return of_operator(function, left, right) if isinstance(left.kind, Tuple) else ANY


def of_unary(function: Any, value: Type) -> Type:
    """The kind of `-x` and other unary operators, and of `abs(x)`."""
    if function is operator.not_:
        return BOOL
    if isinstance(value, Array) or value == I8:
        return of_ufunc(_UFUNCS[function], (value,))
    if is_real(value) and (function is not operator.invert or value == INT):
        return value
    return NUMERIC if is_numeric(value) else ANY


_ALWAYS_COMPARED = frozenset({STR, NONE, BOOL, I8, INT, FLOAT, F8, REAL})


def of_comparison(function: Any, left: Type, right: Type) -> Type:
    """The kind of `left < right` and other comparisons."""
    if left in _ALWAYS_COMPARED and right in _ALWAYS_COMPARED:
        return BOOL
    if isinstance(left, Array) or isinstance(right, Array):
        return of_ufunc(_UFUNCS[function], (left, right)) if is_numeric(left) and is_numeric(right) else ANY
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        return BOOL if function in (operator.eq, operator.ne) else ANY
    return NUMERIC if is_numeric(left) and is_numeric(right) else ANY


# -- subscripts ----------------------------------------------------------------------------------------------


def of_item(owner: Given, index: Given) -> Type:
    """The kind of `owner[index]`.

    >>> of_item(Given(Array("f8", 2)), Given(Tuple((INT, SLICE))))
    Array(dtype='f8', ndim=1)
    >>> of_item(Given(Array("f8", 2)), Given(Tuple((Array("i8", 1), Array("i8", 1)))))
    Array(dtype='f8', ndim=1)
    """
    if isinstance(owner.kind, Tuple):
        return _of_part(owner.kind, index)
    if owner.items is not None and isinstance(index.literal, int):
        return _of_part(Tuple(tuple(item.kind for item in owner.items)), index)
    if isinstance(owner.kind, Array):
        parts = index.parts() if isinstance(index.kind, Tuple) else (index,)
        assert parts is not None
        return _indexed(owner.kind, parts)
    if owner.kind == F8:
        return _of_number(index.parts() if isinstance(index.kind, Tuple) else (index,))
    return NUMERIC if owner.kind == NUMERIC else ANY


def _of_number(index: Sequence[Given] | None) -> Type:
    """The kind of the result of indexing a NumPy scalar, which acts as an array without dimensions."""
    kinds = [part.kind for part in index or ()]
    if index is None or not all(kind in (NONE, ELLIPSIS) for kind in kinds) or kinds.count(ELLIPSIS) > 1:
        return ANY
    return (array_of if ELLIPSIS in kinds else item_of)("f8", kinds.count(NONE))


def is_basic_index(index: Type) -> bool:
    """Whether indexing an array with an index of this kind gives a view or one of its numbers."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    return all(part in (INT, I8, SLICE, NONE, ELLIPSIS) for part in parts)


def _of_part(owner: Tuple, index: Given) -> Type:
    if isinstance(index.literal, slice):
        return Tuple(owner.items[index.literal])
    if isinstance(index.literal, int):
        inside = -len(owner.items) <= index.literal < len(owner.items)
        return owner.items[index.literal] if inside else ANY
    return join_all(owner.items) if index.kind in (INT, I8) else ANY


def _indexed(owner: Array, index: Sequence[Given]) -> Type:
    """Count the dimensions that the index removes and adds."""
    used = added = 0
    fancy: list[int] = []
    is_view = False
    for part in index:
        kind = part.kind
        if kind in (INT, I8):
            used += 1
        elif kind == SLICE:
            used, added = used + 1, added + 1
        elif kind == NONE:
            added += 1
        elif kind == ELLIPSIS:
            is_view = True
        elif (array := _index_array(part)) is not None:
            used += array.ndim if array.dtype == "b1" else 1
            fancy.append(1 if array.dtype == "b1" else array.ndim)
        else:
            return NUMERIC
    if used > owner.ndim:
        return NUMERIC  # such an index raises an error
    ndim = owner.ndim - used + added + max(fancy, default=0)
    return array_of(owner.dtype, ndim) if is_view or fancy else item_of(owner.dtype, ndim)


def _index_array(part: Given) -> Array | None:
    """The array of ints or bools that is used as an index; a list of ints is one, too."""
    if isinstance(part.kind, Array):
        return part.kind if part.kind.dtype in ("i8", "b1") else None
    if part.items and all(item.kind in (INT, I8) for item in part.items):
        return Array("i8", 1)
    return None


_OF_ARRAYS = {"size": INT, "ndim": INT, "nbytes": INT, "itemsize": INT}


def of_attribute(owner: Type, name: str) -> Type:
    """The kind of an attribute of an array or a number.

    >>> of_attribute(Array("f8", 2), "shape")
    Tuple(items=(Kind(name='int'), Kind(name='int')))
    """
    if isinstance(owner, Array):
        if name == "shape":
            return Tuple((INT,) * owner.ndim)
        if name == "T" or (name == "mT" and owner.ndim >= 2):
            return owner
        if name in ("real", "imag"):
            return Array("f8" if owner.dtype == "c16" else owner.dtype, owner.ndim)
        if name in _OF_ARRAYS:
            return _OF_ARRAYS[name]
    if is_real(owner) and name in ("real", "imag"):
        return owner
    return NUMERIC if is_numeric(owner) and name in ("T", "mT", "real", "imag") else ANY


def element_of(kind: Type) -> Type:
    """The kind of the items in a loop over a value.

    >>> element_of(Array("f8", 2)), element_of(Array("f8", 1))
    (Array(dtype='f8', ndim=1), Kind(name='f8'))
    """
    if isinstance(kind, Array):
        return item_of(kind.dtype, kind.ndim - 1)
    if isinstance(kind, Tuple):
        return join_all(kind.items)
    return NUMERIC if kind == NUMERIC else ANY
