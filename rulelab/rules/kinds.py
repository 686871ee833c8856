"""What is known of a value before the code runs: a kind of number, an array of a dtype and number of
dimensions, a tuple of kinds, a known object.

A kind is certain: it holds for every possible value.
"""

from __future__ import annotations

import types as python_types
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..tangents.holding import UNBOUND
from .signatures import weakly


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind, identified by name; each is a singleton. `real` is any of float, int and f8 (np.float64):
    derivatives of these may be written out. A `bool` is Python's or NumPy's; `i8` is np.int64.
    """

    name: str


@dataclass(frozen=True)
class Array:
    """Exactly numpy.ndarray, of native byte order and a dtype in `DTYPES`. Only arguments can have no
    dimensions, since NumPy's results may be numbers instead.
    """

    dtype: str
    ndim: int


@dataclass(frozen=True)
class Elements(Array):
    """A view of a float64 array whose items are Python floats."""


@dataclass(frozen=True)
class Tuple:
    items: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """One particular object, guarded by identity."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Itself:
    """An object compared by identity without keeping it alive; once it is gone, equal to none."""

    __slots__ = ("held", "number")

    def __init__(self, value: Any) -> None:
        self.held, self.number = weakref.ref(value), id(value)

    def __call__(self) -> Any:
        return self.held()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Itself) or other.number != self.number:
            return False
        value = self.held()
        return value is not None and value is other.held()

    def __hash__(self) -> int:
        return self.number


@dataclass(frozen=True)
class Literal:
    """A value that is written into a pass; equal to no value of another class."""

    cls: type
    value: Any


@dataclass(frozen=True)
class Text:
    """The signature of a function whose code may be inlined into a pass: the code object, and the signatures
    of what it reads besides its arguments, which the pass takes from the function when it runs.
    """

    code: Itself
    captured: tuple[Any, ...]
    defaults: tuple[Any, ...]
    words: tuple[tuple[str, Any], ...]

    def parts(self) -> tuple[Any, ...]:
        """The signatures of everything that the function holds."""
        return (*self.captured, *self.defaults, *[part for _, part in self.words])


Type = Kind | Array | Tuple | Known

ANY, FLOAT, INT, BOOL, F8, I8, REAL = (Kind(n) for n in ("any", "float", "int", "bool", "f8", "i8", "real"))
STR, NONE, LIST, SLICE, FUNCTION = (Kind(n) for n in ("str", "none", "list", "slice", "function"))
DICT, CELL, ELLIPSIS = Kind("dict"), Kind("cell"), Kind("ellipsis")
NUMERIC = Kind("numeric")  # arrays and numbers, and tuples of them: nothing that contains a mutable container

_REALS = frozenset({FLOAT, INT, F8, REAL})
_NUMBERS = frozenset({NUMERIC, BOOL, I8, *_REALS})
_OF_CLASS = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    np.bool_: BOOL,
    np.float64: F8,
    np.int64: I8,
    str: STR,
    type(None): NONE,
    list: LIST,
    dict: DICT,
    slice: SLICE,
    type(Ellipsis): ELLIPSIS,
    complex: NUMERIC,
}
_VARIES = {float: True, np.float64: True, int: True, complex: True}
_VARIES |= {bool: False, str: False, type(None): False}
_VARIES |= {np.dtype(code).type: True for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]}
_VARIES[np.bool_] = False
# The dtypes that array kinds distinguish, with the kind of a single item.
DTYPES = {"f8": F8, "i8": I8, "b1": BOOL, "f4": NUMERIC, "c16": NUMERIC}
_NAMES = {np.dtype(name): name for name in DTYPES}

Signature = tuple[Any, ...]


class Given(NamedTuple):
    """An operand or an argument of a call: its kind, its value if it is a literal, the items of a tuple or
    list that is written out in the call and that nothing else refers to, or the kind of each item of such a
    list of unknown length.
    """

    kind: Type
    literal: Any = UNBOUND
    items: tuple[Given, ...] | None = None
    each: Type | None = None

    def parts(self) -> tuple[Given, ...] | None:
        """The items of a tuple, or of a list that is written out; None for anything else."""
        if self.items is None and isinstance(self.kind, Tuple):
            return tuple(map(Given, self.kind.items))
        return self.items


def name_of_dtype(dtype: Any) -> str | None:
    """The name of a dtype in kinds of arrays, or None.

    >>> name_of_dtype(np.dtype(float)), name_of_dtype(np.dtype(">f8")), name_of_dtype(np.dtype("i2"))
    ('f8', None, None)
    """
    return _NAMES.get(dtype)


def array_of(dtype: str | None, ndim: int) -> Type:
    """The kind of an array that NumPy returns; without dimensions it is only known to be numeric.

    >>> array_of("f8", 2), array_of("f8", 0), array_of(None, 1)
    (Array(dtype='f8', ndim=2), Kind(name='numeric'), Kind(name='numeric'))
    """
    return Array(dtype, ndim) if dtype is not None and ndim > 0 else NUMERIC


def item_of(dtype: str | None, ndim: int) -> Type:
    """The same where NumPy returns a number instead of an array without dimensions.

    >>> item_of("f8", 1), item_of("f8", 0)
    (Array(dtype='f8', ndim=1), Kind(name='f8'))
    """
    return DTYPES[dtype] if dtype is not None and ndim == 0 else array_of(dtype, ndim)


def varies(x: Any) -> bool | None:
    """Whether values of this type can have a cotangent; None if the type alone does not tell."""
    return x.dtype.kind in "fciu" if type(x) is np.ndarray else _VARIES.get(type(x))


def varies_by_type(kind: Any) -> bool | None:
    """The same for values of exactly this type."""
    return _VARIES.get(kind)


def signature_of(value: Any) -> Any:
    """The part of a value on which a compiled pass depends; hashable, and keeps neither the value nor an
    author's class alive.
    """
    kind = type(value)
    if kind is float or kind is np.float64:  # the most frequent case
        return kind
    if kind is np.ndarray:
        return (value.dtype, value.ndim)
    if kind is tuple:
        return (tuple, *map(signature_of, value))
    return weakly(kind)


def type_of_signature(signature: Any) -> Type:
    """The kind of every value with this signature.

    >>> type_of_signature(signature_of((np.ones(3), 2)))
    Tuple(items=(Array(dtype='f8', ndim=1), Kind(name='int')))
    """
    if signature == "cell":
        return CELL
    if isinstance(signature, Known):
        return signature
    if isinstance(signature, Text):
        return FUNCTION
    if isinstance(signature, tuple):
        if signature[0] is tuple:
            return Tuple(tuple(map(type_of_signature, signature[1:])))
        dtype, ndim = signature
        named = name_of_dtype(dtype)
        found = array_of(named, ndim) if ndim or named != "f8" else Array("f8", 0)
        return found if isinstance(found, Array) or dtype.kind in "fciub" else ANY
    if signature is python_types.FunctionType:
        return FUNCTION
    if signature in _OF_CLASS:
        return _OF_CLASS[signature]
    return NUMERIC if isinstance(signature, type) and issubclass(signature, np.number) else ANY


def any_part(kind: Type, test: Callable[[Type], bool]) -> bool:
    """Whether the test holds for a kind, or for any item if it is a tuple."""
    return any(any_part(item, test) for item in kind.items) if isinstance(kind, Tuple) else test(kind)


def may_hold_list(kind: Type) -> bool:
    """Whether a value of this kind is known to be a list, or a tuple that contains one."""
    return any_part(kind, lambda part: part == LIST)


def are_floats(a: Type, b: Type) -> bool:
    """Whether one of two kinds is that of Python floats, and the other is that of Python floats or ints."""
    return FLOAT in (a, b) and a in (FLOAT, INT) and b in (FLOAT, INT)


def is_real(kind: Type) -> bool:
    """Whether values of this kind are real scalars, not bools, whose derivatives may be written out."""
    return kind in _REALS


def is_numeric(kind: Type | None) -> bool:
    """Whether values of this kind are numbers or arrays, which contain no mutable container."""
    return isinstance(kind, Array) or kind in _NUMBERS


def is_sequence_of_numbers(kind: Type) -> bool:
    """Whether values of this kind are arrays of real numbers whose items and cotangents have native types."""
    return isinstance(kind, Array) and kind.dtype in ("f8", "i8")


def join(left: Type | None, right: Type | None) -> Type:
    """The most specific kind that covers both.

    >>> join(FLOAT, F8), join(Array("f8", 1), FLOAT), join(FLOAT, NONE)
    (Kind(name='real'), Kind(name='numeric'), Kind(name='any'))
    """
    if left is None or right is None:
        return left or right or ANY
    if left == right:
        return left
    if left in _REALS and right in _REALS:
        return REAL
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
        return Tuple(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)))
    return NUMERIC if is_numeric(left) and is_numeric(right) else ANY


def join_all(kinds: Iterable[Type]) -> Type:
    """The most specific kind that covers all; ANY if there are none."""
    found: Type | None = None
    for kind in kinds:
        found = join(found, kind)
    return ANY if found is None else found
