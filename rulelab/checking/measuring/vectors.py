"""Any structure of numbers as one real vector and back: its leaves by name, and its cotangents as vectors of
the same length.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import RuleDtypeError, RuleShapeError
from ...tangents.holding import captured, cells_of
from ...tangents.missing import NotImplementedTangent
from ...tangents.projection import FieldGradients, ProjectTo, number_type, to_natural, zeros_like
from ...tangents.structural import (
    Tangent,
    class_of,
    entries_of,
    is_mapping,
    is_namedtuple,
    is_raw,
    is_sequence,
    make,
    parts,
)
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero, NoTangent
from .copies import is_its_attributes, shallow_copy
from .shortening import index_text

_CONSTANT = (
    type(None), bool, int, np.bool_, np.integer, str, bytes, bytearray, type, types.ModuleType,
    types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType, np.ufunc, np.dtype,
    np.random.Generator, np.random.RandomState, range, slice, set, frozenset, np.datetime64, np.timedelta64,
)  # fmt: skip


@dataclass(frozen=True)
class Leaf:
    """A number or an array within a structure, and the position of its entries in the structure's vector.

    Attributes
    ----------
    name : str
        As a person would write it: `x`, `x[0]`, `x['w']`, `p.rate`.
    start, stop : int
        Its entries are `vector[start:stop]`, in C order; a complex number takes two, the real part
        first.
    shape : tuple of int
        The shape of the array; empty for a number.
    dtype : numpy.dtype
        The dtype of the array or of the number.

    Examples
    --------
    >>> leaf, = leaves(np.ones((2, 3)), "a")
    >>> leaf.name, leaf.start, leaf.stop, leaf.where(4)
    ('a', 0, 6, (1, 1))
    """

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def where(self, i: int) -> tuple[int, ...]:
        """The index, within this leaf, of entry `i` of the whole vector; `()` for a number.

        Raises IndexError if entry `i` belongs to another leaf.
        """
        if not self.start <= i < self.stop:
            raise IndexError(f"{self.name} has the entries {self.start} to {self.stop - 1}, not {i}")
        flat = (i - self.start) // self._reals
        return tuple(int(k) for k in np.unravel_index(flat, self.shape))

    def part(self, i: int) -> str:
        """`"re"` or `"im"` if entry `i` of the vector is a part of a complex number; `""` if it is real."""
        self.where(i)
        return ("re", "im")[(i - self.start) % 2] if self._reals == 2 else ""

    def spot(self, i: int) -> str:
        """Entry `i` of the vector as a person would write it: `x[0, 1]`, `z.imag`, `x['w'][2].real`.

        >>> leaves({"z": np.ones(3, complex)})[0].spot(5)
        "x['z'][2].imag"
        """
        part = {"re": ".real", "im": ".imag", "": ""}[self.part(i)]
        return f"{self.name}{index_text(self.where(i))}{part}"

    @property
    def _reals(self) -> int:
        return 2 if self.dtype.kind == "c" else 1


def to_vec(x: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """All numbers of `x` that can vary, as one real vector, and the function that puts a vector back.

    `x` may be a number, an array, or tuples, lists, dicts, NamedTuples, dataclasses, objects with attributes
    and closures of them. The vector has one entry for each float and two for each complex number, real part
    first, in C order and in the order of `leaves(x)`; it is float64 (longdouble where `x` has one). Integers,
    bools, text, None, plain functions and arrays of them have no entry.

    `back(vector)` is a structure of the same kind, shapes and dtypes with these numbers; parts without
    entries are as in `x`. It shares no array with `x`, with the vector, or with another result of `back`. It
    raises ValueError for a vector of another length. `to_vec` raises ValueError for a structure that contains
    itself, and TypeError for an array class that is not NumPy's own.

    After `to_vec` of FiniteDifferences.jl.

    >>> vector, back = to_vec({"w": np.array([1.0, 2.0], np.float32), "z": 3 + 4j, "name": "n"})
    >>> vector
    array([1., 2., 3., 4.])
    >>> back(2 * vector)
    {'w': array([2., 4.], dtype=float32), 'z': (6+8j), 'name': 'n'}
    """
    if _is_plain(x):
        return _plain_vector(x), lambda vector: _plain_like(x, vector, "the vector")
    if type(x) is tuple and all(map(_is_plain_part, x)):
        return _plain_parts(x)
    node, pieces = _read(x, "x")
    vector = _joined(pieces)
    size = vector.size

    def back(vector: np.ndarray) -> Any:
        vector = np.asarray(vector)
        if vector.shape != (size,):
            raise ValueError(f"the vector of this structure has shape ({size},), not {vector.shape}")
        return node.back(vector)

    return vector, back


def vector_in(x: Any) -> np.ndarray:
    """Only the vector of `to_vec(x)`."""
    return _plain_vector(x) if _is_plain(x) else to_vec(x)[0]


def leaves(x: Any, name: str = "x") -> tuple[Leaf, ...]:
    """The numbers and arrays of `x` that can vary, in the order in which `to_vec` has them.

    >>> [leaf.name for leaf in leaves(({"w": 1.0, "n": 3}, [2.0, np.ones(2)]), "p")]
    ["p[0]['w']", 'p[1][0]', 'p[1][1]']
    """
    return tuple(leaf.leaf for leaf in _read(x, name)[0].walk())


def cotangent_vec(x: Any, x_bar: Any, name: str = "x") -> np.ndarray:
    """A tangent or cotangent of `x` as a real vector, with the same entries as that of `to_vec(x)`.

    Parameters
    ----------
    x : object
        The value that it belongs to.
    x_bar : object
        What a rule returns or takes: a number, an array, a Tangent, a thunk, NoTangent or ZeroTangent, a
        tuple, list or dict, or a structure of the class of `x`. Missing parts, and None, are zero; what
        belongs to a part of `x` without entries is left out. As in `ProjectTo`, the imaginary part is
        dropped where `x` is real, and trailing axes of length one are ignored.
    name : str
        The name of `x` in error messages.

    Returns
    -------
    numpy.ndarray
        The vector.

    Raises
    ------
    ValueError
        For another shape, length or key; the message names the leaf.
    TypeError
        For something that is not a cotangent.
    NotImplementedTangentError
        For a cotangent that its author has not implemented.

    Examples
    --------
    >>> cotangent_vec({"w": np.zeros(2), "z": 1j}, {"z": 3 - 1j})
    array([ 0.,  0.,  3., -1.])
    """
    return cotangent_reader(x, name)(x_bar)


def cotangent_reader(x: Any, name: str = "x") -> Callable[[Any], np.ndarray]:
    """`cotangent_vec` for many cotangents of one value, which is analysed only once."""
    read: list[tuple[Any, np.ndarray]] = []

    def vector_of(x_bar: Any) -> np.ndarray:
        if _are_plainly_alike(x, x_bar):
            return _plain_vector(x_bar)
        if not read:
            node, pieces = _read(x, name)
            read.append((node, np.zeros_like(_joined(pieces))))
        node, zeros = read[0]
        vector = zeros.copy()
        node.fill(vector, x_bar)
        return vector

    return vector_of


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a number, an array, or a list of these with equal shapes; `()` if the shapes differ.

    >>> shape_of([1.0, 2.0]), shape_of([np.ones(2), np.ones(3)])
    ((2,), ())
    """
    try:
        return np.shape(x)
    except ValueError:
        return ()


def shape_of_answer(x_bar: Any) -> tuple[int, ...] | None:
    """The shape of a cotangent that is a number or an array; None for zeros without a shape, lists and
    structs.
    """
    x_bar = unthunk(x_bar)
    return np.shape(x_bar) if isinstance(x_bar, (np.ndarray, np.generic, int, float, complex)) else None


def cotangent_like(x: Any, vector: np.ndarray) -> Any:
    """The cotangent of `x` whose real vector is `vector`: the inverse of `cotangent_vec`.

    A number gives a number, an array an array of its shape and dtype, and a structure a `Tangent`, as a
    pullback gets it; a part without entries gives a zero. Raises ValueError for a vector of another length.

    >>> cotangent_like((1.0, np.zeros(2, np.float32), "name"), np.array([1.0, 2.0, 3.0]))
    Tangent(tuple, 1.0, array([2., 3.], dtype=float32), NoTangent())
    """
    return _cotangent(x, vector, _zero_of_constant)


def gradient_like(x: Any, vector: np.ndarray) -> Any:
    """As `cotangent_like`, but as `rl.gradient` returns it: tuples and dicts, None where there is no entry.

    >>> gradient_like((1.0, np.zeros(2), "name", 3), np.array([1.0, 2.0, 3.0]))
    (1.0, array([2., 3.]), None, None)
    """
    return to_natural(x, _cotangent(x, vector, lambda _: NoTangent()))


def _zero_of_constant(value: Any) -> Any:
    """What the AD passes to a pullback for a part without entries: zeros for integers and arrays, otherwise
    NoTangent.
    """
    counts = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return zeros_like(value) if counts or isinstance(value, np.ndarray) else NoTangent()


def _cotangent(x, vector, of_constant):
    if _is_plain(x):
        return _plain_like(x, vector, "a cotangent")
    node, pieces = _read(x, "x")
    vector = np.asarray(vector)
    size = sum(piece.size for piece in pieces)
    if vector.shape != (size,):
        raise ValueError(f"a cotangent of this structure has shape ({size},), not {vector.shape}")
    return node.cotangent(vector, of_constant)


# One check calls a function thousands of times, and most functions return a number or an array.

_DOUBLE = np.dtype(np.float64)
_NUMBERS = (float, np.float64)


def _is_plain(x: Any) -> bool:
    """Whether a structure is just a float, or a contiguous float64 array."""
    is_array = type(x) is np.ndarray and x.dtype is _DOUBLE and x.flags.c_contiguous
    return is_array or type(x) in _NUMBERS


def _plain_vector(x: Any) -> np.ndarray:
    return np.array([x]) if type(x) in _NUMBERS else x.flatten()


def _plain_like(x: Any, vector: np.ndarray, what: str) -> Any:
    vector, size = np.asarray(vector), x.size if type(x) is np.ndarray else 1
    if vector.shape != (size,):
        raise ValueError(f"{what} of this structure has shape ({size},), not {vector.shape}")
    return type(x)(vector[0]) if type(x) in _NUMBERS else vector.reshape(x.shape).astype(np.float64)


def _is_plain_part(x: Any) -> bool:
    """Whether a part of a tuple is plain, or has no entry and need not be copied."""
    return _is_plain(x) or type(x) in (type(None), int, bool, str)


def _plain_parts(x: tuple) -> tuple[np.ndarray, Callable[[np.ndarray], tuple]]:
    """The result of `to_vec` for a tuple of plain parts, which the arguments of most functions are."""
    plain = [part for part in x if _is_plain(part)]
    ends = iter(np.cumsum([part.size if type(part) is np.ndarray else 1 for part in plain]).tolist())
    layout: list[tuple[Any, int, int]] = []  # each part with its start and stop in the vector
    size = 0
    for part in x:
        start, size = (size, next(ends)) if _is_plain(part) else (0, size)
        layout.append((part, start, size))

    def back(vector: np.ndarray) -> tuple:
        vector = np.asarray(vector, np.float64)
        if vector.shape != (size,):
            raise ValueError(f"the vector of this structure has shape ({size},), not {vector.shape}")
        return tuple([_part_of(vector, *placed) for placed in layout])

    return np.concatenate([np.empty(0), *map(_plain_vector, plain)]), back


def _part_of(vector: np.ndarray, part: Any, start: int, stop: int) -> Any:
    """A fresh part like this one, with its entries taken from a vector of doubles."""
    if type(part) is np.ndarray:
        return vector[start:stop].reshape(part.shape).copy()
    return type(part)(vector[start]) if type(part) in _NUMBERS else part


def _are_plainly_alike(x: Any, x_bar: Any) -> bool:
    """Whether both are floats, or float64 arrays of one shape, so that the vector is just that of the
    cotangent.
    """
    if type(x_bar) is np.ndarray:
        doubles = type(x) is np.ndarray and x.dtype is _DOUBLE and x_bar.dtype is _DOUBLE
        return doubles and x_bar.shape == x.shape
    return type(x_bar) in _NUMBERS and type(x) in _NUMBERS


def _joined(pieces: list[np.ndarray]) -> np.ndarray:
    wide = any(piece.dtype == np.longdouble for piece in pieces)
    return np.concatenate([np.empty(0), *pieces], dtype=np.longdouble if wide else np.float64)


def _reals(x: np.ndarray) -> np.ndarray:
    """The entries of a float or complex array as a real vector, in C order, as float64 or longdouble."""
    kind = np.longdouble if x.dtype in (np.longdouble, np.clongdouble) else np.float64
    if x.dtype.kind != "c":
        return x.astype(kind).ravel()
    return np.stack([x.real, x.imag], axis=-1).astype(kind).ravel()


def _from_reals(vector: np.ndarray, leaf: Leaf) -> np.ndarray:
    """A fresh array of the leaf's shape and dtype, with its entries taken from the vector."""
    own = vector[leaf.start : leaf.stop]
    if leaf.dtype.kind != "c":
        return own.reshape(leaf.shape).astype(leaf.dtype)
    whole = np.empty(leaf.shape, leaf.dtype)
    whole.real, whole.imag = own[0::2].reshape(leaf.shape), own[1::2].reshape(leaf.shape)
    return whole


# --- the nodes of a structure: `back`, `walk`, `fill` and `cotangent` of each kind of part


@dataclass
class _Constant:
    """A part that has no entry."""

    value: Any

    def walk(self):
        return iter(())

    def back(self, vector):
        return self.value.copy() if isinstance(self.value, np.ndarray) else self.value

    def fill(self, vector, x_bar):
        pass

    def cotangent(self, vector, of_constant):
        return of_constant(self.value)


@dataclass
class _Array:
    leaf: Leaf
    fortran: bool

    def walk(self):
        yield self

    def back(self, vector):
        whole = _from_reals(vector, self.leaf)
        return np.asfortranarray(whole) if self.fortran else whole

    def fill(self, vector, x_bar):
        vector[self.leaf.start : self.leaf.stop] = _reals(self._projected(x_bar))

    def cotangent(self, vector, of_constant):
        return self.back(vector)

    def _projected(self, x_bar) -> np.ndarray:
        x_bar = _plain(x_bar)
        if x_bar is None:
            return np.zeros(self.leaf.shape, self.leaf.dtype)
        wide = np.result_type(self.leaf.dtype, np.float64)
        try:
            return np.asarray(ProjectTo(np.empty(self.leaf.shape, wide))(x_bar))
        except RuleShapeError:
            given = np.shape(x_bar)
            words = f"{self.leaf.name} has shape {self.leaf.shape}, but its cotangent has shape {given}"
            raise ValueError(words) from None
        except RuleDtypeError:
            raise TypeError(f"{self.leaf.name} cannot have a cotangent of kind {_kind(x_bar)}") from None


@dataclass
class _Number(_Array):
    kind: type

    def back(self, vector):
        start = self.leaf.start
        if self.kind is float:
            return float(vector[start])
        return self.kind(_from_reals(vector, self.leaf)[()])


@dataclass
class _Structure:
    name: str
    cls: type
    children: dict[Any, Any]  # by key, in order
    rebuild: Callable[[dict[Any, Any]], Any]

    def walk(self):
        for child in self.children.values():
            yield from child.walk()

    def back(self, vector):
        return self.rebuild({key: child.back(vector) for key, child in self.children.items()})

    def fill(self, vector, x_bar):
        x_bar = _plain(x_bar)
        if x_bar is None:
            return
        for key, entry in _entries(self, x_bar).items():
            if key not in self.children:
                raise ValueError(f"{self.name} has no part {key!r}, but its cotangent has one")
            self.children[key].fill(vector, entry)

    def cotangent(self, vector, of_constant):
        entries = {key: child.cotangent(vector, of_constant) for key, child in self.children.items()}
        return make(self.cls, entries, len(entries) if is_sequence(self.cls) else None)


@dataclass
class _Objects(_Structure):
    """An array of objects, some of which are numbers."""

    shape: tuple[int, ...]

    def fill(self, vector, x_bar):
        x_bar = _plain(x_bar)
        if x_bar is None:
            return
        x_bar = np.asarray(x_bar)
        if x_bar.shape != self.shape:
            raise ValueError(f"{self.name} has shape {self.shape}, but its cotangent has shape {x_bar.shape}")
        for key, child in self.children.items():
            child.fill(vector, x_bar[key])

    def cotangent(self, vector, of_constant):
        return _objects(self.shape, {k: c.cotangent(vector, of_constant) for k, c in self.children.items()})


def _objects(shape: tuple[int, ...], entries: dict) -> np.ndarray:
    whole = np.empty(shape, object)
    for key, entry in entries.items():
        whole[key] = entry
    return whole


def _plain(x_bar):
    """A cotangent with its thunk evaluated; None for a zero."""
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, NotImplementedTangent):
        raise x_bar.error()
    return None if isinstance(x_bar, AbstractZero) else x_bar


def _kind(x_bar) -> str:
    if isinstance(x_bar, np.ndarray):
        return f"{x_bar.dtype} array"
    return x_bar.__name__ if isinstance(x_bar, type) else type(x_bar).__name__


def _entries(node: _Structure, x_bar) -> Mapping[Any, Any]:
    """The parts of a structure's cotangent by the keys of the structure, whatever form the cotangent has."""
    cls, keys = node.cls, list(node.children)
    given = class_of(x_bar) if isinstance(x_bar, Tangent) else type(x_bar)
    found: Mapping[Any, Any] | None = None
    if isinstance(x_bar, Tangent):
        if given is cls or (is_sequence(given) and is_sequence(cls)) or is_mapping(given):
            found = entries_of(x_bar)
            _check_length(node, len(x_bar) if is_sequence(given) else None)
    elif isinstance(x_bar, FieldGradients) or (is_mapping(given) and not is_sequence(cls)):
        found = parts(x_bar)
    elif is_raw(x_bar) and (is_sequence(cls) or is_namedtuple(cls)):
        _check_length(node, len(x_bar))
        found = dict(zip(keys, x_bar))
    elif isinstance(x_bar, np.ndarray) and x_bar.ndim and is_sequence(cls):
        _check_length(node, len(x_bar))
        found = dict(enumerate(x_bar))
    elif given is cls:
        found = parts(x_bar)
    if found is None:
        kind = f"Tangent of {given.__name__}" if isinstance(x_bar, Tangent) else _kind(x_bar)
        raise TypeError(f"{node.name}, of class {cls.__name__}, cannot have a cotangent of kind {kind}")
    return found


def _check_length(node: _Structure, size: int | None) -> None:
    if size is not None and size != len(node.children):
        raise ValueError(f"{node.name} has length {len(node.children)}, but its cotangent has length {size}")


# --- reading a structure


def _read(x: Any, name: str) -> tuple[Any, list[np.ndarray]]:
    """The tree of nodes for `x`, and the entries of its leaves in order."""
    reader = _Reader()
    return reader.node(x, name), reader.pieces


class _Reader:
    def __init__(self) -> None:
        self.pieces: list[np.ndarray] = []
        self.size = 0
        self.above: list[int] = []  # the structures that contain the present one

    def node(self, x: Any, name: str):
        if type(x) is np.ndarray or isinstance(x, np.memmap):
            return self._array(x, name)
        if isinstance(x, np.ndarray):
            raise TypeError(f"{name} is an array of class {type(x).__name__}; pass np.asarray of it")
        if isinstance(x, _CONSTANT):
            return _Constant(x)
        if isinstance(x, (float, complex, np.inexact)):
            return self._number(x, name)
        if id(x) in self.above:
            raise ValueError(f"{name} contains itself, so it cannot be written as a vector")
        self.above.append(id(x))
        try:
            return self._structure(x, name)
        finally:
            self.above.pop()

    def _leaf(self, x: np.ndarray, name: str) -> Leaf:
        entries = _reals(x)
        start, self.size = self.size, self.size + entries.size
        self.pieces.append(entries)
        return Leaf(name, start, self.size, x.shape, x.dtype)

    def _array(self, x: np.ndarray, name: str):
        if x.dtype.kind in "fc":
            return _Array(self._leaf(x, name), x.flags.f_contiguous and not x.flags.c_contiguous)
        if x.dtype.kind != "O":
            return _Constant(np.array(x))
        names = {index: f"{name}{index_text(index)}" for index in np.ndindex(x.shape)}
        children = {index: self.node(x[index], each) for index, each in names.items()}
        return _Objects(name, np.ndarray, children, lambda entries: _objects(x.shape, entries), x.shape)

    def _number(self, x: Any, name: str):
        return _Number(self._leaf(np.asarray(x), name), False, number_type(x))

    def _structure(self, x: Any, name: str):
        keyed, rebuild = parts_and_rebuild(x)
        if keyed is None:
            return _Constant(x)
        children = {key: self.node(part, _part_name(name, x, key)) for key, part in keyed.items()}
        node = _Structure(name, type(x), children, rebuild)
        if not isinstance(x, (tuple, list, dict)) and not any(True for _ in node.walk()):
            return _Constant(x)  # an object without numbers, whose identity may matter
        return node


def _part_name(name: str, x: Any, key: Any) -> str:
    if is_sequence(type(x)) or is_mapping(type(x)):
        return f"{name}[{key!r}]"
    return f"{name}.{key}"


def parts_and_rebuild(x: Any) -> tuple[Mapping[Any, Any] | None, Callable[[dict], Any]]:
    """The parts of `x` by key, and a function that makes such a structure from new parts; None and `dict` if
    `x` is not a structure.
    """
    cls = type(x)
    if isinstance(x, types.FunctionType):
        return _captured(x), lambda entries: _with_captured(x, entries)
    if is_namedtuple(cls):
        return parts(x), lambda entries: cls._make(entries.values())
    if cls in (tuple, list):
        return dict(enumerate(x)), lambda entries: cls(entries.values())
    if cls is dict:
        return dict(x), dict
    if issubclass(cls, tuple):
        return dict(enumerate(x)), lambda entries: cls(entries.values())
    if issubclass(cls, (list, dict)):
        keyed, held = dict(parts(x)), copy.copy(x)
        return keyed, lambda entries: _with_items(held, entries)
    if dataclasses.is_dataclass(x) or hasattr(x, "__dict__") or hasattr(cls, "__slots__"):
        keyed, held = dict(parts(x)), _copied(x)
        if keyed and held is not x:
            copied = shallow_copy if is_its_attributes(cls) and not hasattr(cls, "__copy__") else copy.copy
            return keyed, lambda entries: _with_attributes(copied(held), entries)
    return None, dict


def _copied(x: Any) -> Any:
    """A shallow copy; `x` itself if there is no copy, or only one such object (the member of an Enum)."""
    try:
        return copy.copy(x)
    except (TypeError, copy.Error):
        return x


def _with_items(held: Any, entries: dict) -> Any:
    fresh = copy.copy(held)
    for key, entry in entries.items():
        fresh[key] = entry
    return fresh


def _with_attributes(fresh: Any, entries: dict) -> Any:
    """A copy with other attributes. The constructor is not called, as it may check, compute or count."""
    for name, entry in entries.items():
        object.__setattr__(fresh, name, entry)
    return fresh


def _captured(f: types.FunctionType) -> dict[str, Any] | None:
    """The numbers and arrays that a function has captured, by name; None if there are none."""
    numbers = (float, complex, np.inexact, np.ndarray)
    return {name: value for name, value in captured(f).items() if isinstance(value, numbers)} or None


def _with_captured(f: types.FunctionType, entries: dict) -> types.FunctionType:
    cells = tuple(
        types.CellType(entries[name]) if name in entries else cell for name, cell in cells_of(f).items()
    )
    fresh = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells)
    fresh.__kwdefaults__ = f.__kwdefaults__
    fresh.__dict__.update(f.__dict__)
    return fresh
