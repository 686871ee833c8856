"""Buffer: an array that differentiated code may write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiler.memory import heap
from ..compiler.memory.containers import InsertedItems
from ..errors import MutationError, NotDifferentiableError
from ..rules.rule_table import RuleTable
from ..tangents.projection import project, unbroadcast
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent

TABLE = RuleTable("buffer")
_FROZEN_FIXES = ("write before copy() is called", "fill a new Buffer")


class Buffer:
    """An array of zeros that differentiated code may write to: `b[i] = v`, `b[i] += v`, `b.append(v)`,
    `b.pop()`.

    Indices are those of NumPy: ints, slices, tuples of them, arrays of ints or bools. Reading gives a copy,
    never a view. An element may be overwritten: its earlier value gets no gradient from then on. At the end
    `b.copy()` returns the array and freezes the Buffer. NumPy's functions and operators do not accept a
    Buffer itself: pass them `b[:]` or `b.copy()`.

    `append` and `pop` work at the end of the first axis. A Buffer may be written to in the function that made
    it, and in functions that it is passed to; one from outside the differentiated function may only be read.

    Parameters
    ----------
    like : array or sequence
        It gives the Buffer its shape and dtype.
    shape : int or tuple of int, optional
        Another shape.
    dtype : optional
        Another dtype.

    Raises
    ------
    TypeError
        If a float is written into a Buffer of ints, where NumPy would truncate it.
    MutationError
        If differentiated code writes to a Buffer from outside it.

    Examples
    --------
    >>> b = Buffer([0.0, 0.0])
    >>> b[0] = 3.0
    >>> b.append(b[0] * 2)
    >>> b
    Buffer([3., 0., 6.])
    >>> b.copy()
    array([3., 0., 6.])
    """

    __slots__ = ("_changes", "_frozen", "_rows", "_size")
    __array_ufunc__ = None  # makes NumPy's operators decline it

    def __init__(self, like: Any, shape: Any = None, dtype: Any = None) -> None:
        known = like if isinstance(like, (Buffer, np.ndarray)) else np.asarray(like)
        kind = np.dtype(known.dtype if dtype is None else dtype)
        if kind.kind not in "fciub":
            raise TypeError(f"a Buffer holds numbers, not {kind}")
        self._rows = np.zeros(known.shape if shape is None else shape, kind)
        self._size = len(self._rows) if self._rows.ndim else 1
        self._frozen = False
        self._changes = 0

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return self._rows.shape and (self._size, *self._rows.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._rows.ndim

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its elements."""
        return self._rows.dtype

    def __len__(self) -> int:
        if not self._rows.ndim:
            raise TypeError("len() of a Buffer without axes")
        return self._size

    def __repr__(self) -> str:
        return f"Buffer{repr(_upto(self._rows, self._size)).removeprefix('array')}"

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("a Buffer is not an array: use b[:], or b.copy() at the end")

    # -- reading and writing ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        y = _upto(self._rows, self._size)[key]
        return np.array(y) if isinstance(y, np.ndarray) else y

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse_frozen()
        _upto(self._rows, self._size)[key] = _fitting(value, self._rows.dtype)
        self._changes += 1

    def append(self, value: Any) -> None:
        """Append one row along the first axis; to a Buffer with one axis, one number."""
        self._refuse_frozen()
        if not self._rows.ndim:
            raise TypeError("append to a Buffer without axes")
        value = _fitting(value, self._rows.dtype)
        if np.shape(value) != self._rows.shape[1:]:
            raise ValueError(f"append of shape {np.shape(value)} to a Buffer of shape {self.shape}")
        if self._size == len(self._rows):
            rows = np.zeros((max(4, 2 * self._size), *self._rows.shape[1:]), self._rows.dtype)
            rows[: self._size] = self._rows
            self._rows = rows
        self._rows[self._size] = value
        self._size += 1
        self._changes += 1

    def pop(self) -> Any:
        """Remove the last row and return it."""
        self._refuse_frozen()
        if not self._rows.ndim or not self._size:
            raise IndexError("pop from an empty Buffer")
        y = self[-1]
        self._size -= 1
        self._changes += 1
        return y

    def copy(self) -> np.ndarray:
        """Return the array, and freeze the Buffer: from now on it may be read but not written to."""
        self._frozen = True
        return np.array(_upto(self._rows, self._size))

    def _refuse_frozen(self) -> None:
        if self._frozen:
            raise MutationError("Buffer is frozen", fixes=_FROZEN_FIXES, read="limitations#array-mutation")


def _upto(rows: np.ndarray, size: int) -> np.ndarray:
    """The rows that are in use."""
    return rows[:size] if rows.ndim else rows


def _fitting(value: Any, dtype: np.dtype) -> Any:
    """Return the value as an array; TypeError if conversion to this dtype would lose more than digits of a
    float.
    """
    given = value if isinstance(value, np.ndarray) else np.asarray(value)
    if given.dtype.kind not in "fciub" or not np.can_cast(given.dtype, dtype, "same_kind"):
        raise TypeError(
            f"{given.dtype} does not fit into a Buffer of {dtype}: create it with dtype={given.dtype}"
        )
    return given


# --- in a differentiated function ---------------------------------------------------------------------------
#
# The cotangent of a Buffer is one array, in the table of the reverse sweep. Each step is undone, the latest
# first, so that at every step the array corresponds to the Buffer as it was then.

_NO, _ZERO = NoTangent(), ZeroTangent()
_BAR = "rows"  # the key of that array


def _make(*args: Any, **kwargs: Any) -> Any:
    b = heap.own(Buffer(*args, **kwargs), True)

    def back(b_bar: Any) -> Any:
        left = heap.take_all(b)
        left.pop(_BAR, None)
        if left or not isinstance(b_bar, AbstractZero):
            raise NotDifferentiableError(
                "A Buffer received a cotangent as a whole",
                fixes=("pass on b.copy()", "read it by index"),
                read="limitations#array-mutation",
            )
        return _NO

    return b, heap.effectful(back)


def _read(b: Buffer, key: Any) -> Any:
    key, size = _kept(key), b._size
    y = b[key]

    def read_pullback(y_bar: Any) -> Any:
        _add(b, key, size, y_bar)
        return _NO, _ZERO, _NO

    return y, read_pullback


def _write(b: Buffer, key: Any, value: Any) -> Any:
    key, size, source = _kept(key), b._size, _Source(value)
    b[key] = value
    heap.note_change(b)
    lost = _lost(b, key, size, np.shape(source.value)) if _has_positions(key) else None

    def write_pullback(_: Any) -> Any:
        bar = heap.bars_of(b).get(_BAR)
        if bar is None:
            return _NO, _ZERO, _NO, _ZERO
        part = _upto(bar, size)
        value_bar = np.array(part[key])
        part[key] = 0
        if lost is not None:
            value_bar[lost] = 0
        return _NO, _ZERO, _NO, source.cotangent(value_bar)

    return None, heap.effectful(write_pullback)


def _append(b: Buffer, value: Any) -> Any:
    n, source = b._size, _Source(value)
    b.append(value)
    heap.note_change(b)

    def append_pullback(_: Any) -> Any:
        bar = heap.bars_of(b).get(_BAR)
        if bar is None:
            return _NO, _ZERO, _ZERO
        value_bar = np.array(bar[n])
        bar[n] = 0
        return _NO, _ZERO, source.cotangent(value_bar)

    return None, heap.effectful(append_pullback)


def _pop(b: Buffer) -> Any:
    y = b.pop()
    n = b._size
    heap.note_change(b)

    def pop_pullback(y_bar: Any) -> Any:
        _add(b, n, n + 1, y_bar)
        return _NO, _ZERO

    return y, pop_pullback


def _copy(b: Buffer) -> Any:
    y, size = b.copy(), b._size

    def copy_pullback(y_bar: Any) -> Any:
        _add(b, ..., size, y_bar)
        return _NO, _ZERO

    return y, copy_pullback


def _add(b: Buffer, key: Any, size: int, y_bar: Any) -> None:
    """Add to the cotangent of the elements that were read with `key`, when there were `size` rows."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero):
        return
    if b.dtype.kind not in "fc":
        raise NotDifferentiableError(
            f"A Buffer of {b.dtype} holds no values that can be differentiated",
            fixes=("create it with Buffer(like, dtype=float)",),
            read="limitations#array-mutation",
        )
    bars = heap.bars_of(b)
    if _BAR not in bars:
        bars[_BAR] = np.zeros(b._rows.shape, b._rows.dtype)
    part = _upto(bars[_BAR], size)
    y_bar = np.asarray(y_bar) if b.dtype.kind == "c" else np.real(y_bar)
    if _has_positions(key):
        np.add.at(part, key, y_bar)
    else:
        part[key] += y_bar


class _Source:
    """What the cotangent of a written value needs to know about it: a number, the shape of an array, or the
    items of a list.
    """

    __slots__ = ("items", "value")

    def __init__(self, value: Any) -> None:
        self.items = None
        if isinstance(value, np.ndarray):
            value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
        elif isinstance(value, (list, tuple)):
            if any(isinstance(item, (list, tuple)) for item in value):
                raise NotDifferentiableError(
                    "A list of lists is written to a Buffer",
                    fixes=("write np.array(...) of it instead",),
                    read="limitations#array-mutation",
                )
            self.items = InsertedItems(value)
            value = np.broadcast_to(np.zeros(()), np.shape(np.asarray(value)))
        self.value = value

    def cotangent(self, value_bar: np.ndarray) -> Any:
        """The cotangent of the written value, from that of the elements it was written to."""
        more = np.ndim(self.value) - value_bar.ndim  # NumPy drops leading axes of length one
        if more > 0:
            value_bar = value_bar.reshape((1,) * more + value_bar.shape)
        if self.items is None:
            return project(self.value, unbroadcast(value_bar, self.value))
        rows = value_bar if value_bar.shape == self.value.shape else unbroadcast(value_bar, self.value)
        return self.items.cotangent(
            [project(x, unbroadcast(row, x)) for x, row in zip(self.items.items, rows, strict=True)]
        )


def _kept(key: Any) -> Any:
    """A copy of an index, since the arrays in it may change."""
    if isinstance(key, tuple):
        return tuple(map(_kept, key))
    return np.array(key) if isinstance(key, (np.ndarray, list)) else key


def _has_positions(key: Any) -> bool:
    """Whether an index contains an array of positions, which may select an element twice."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind != "b" for part in parts)


def _lost(b: Buffer, key: Any, size: int, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return a mask of the selected elements that were overwritten in the same write: if the index selects an
    element several times, all but the last. None if there are none.
    """
    places = _upto(np.arange(b._rows.size).reshape(b._rows.shape), size)[key]
    last = np.full(b._rows.shape, -1)
    numbers = np.arange(places.size).reshape(places.shape)
    _upto(last, size)[key] = numbers
    lost = last.ravel()[places] != numbers
    return lost if lost.any() else None


heap.KINDS[Buffer] = heap.Kind(
    make=_make,
    handlers={
        Buffer.__setitem__: _write,
        Buffer.__getitem__: _read,
        Buffer.append: _append,
        Buffer.pop: _pop,
        Buffer.copy: _copy,
    },
    state=lambda b: (b._changes, b._frozen),
)
TABLE.mutates(Buffer.__setitem__, Buffer.append, Buffer.pop, Buffer.copy)
TABLE.non_differentiable(Buffer.shape.fget, Buffer.ndim.fget, Buffer.dtype.fget)  # type: ignore[attr-defined]
