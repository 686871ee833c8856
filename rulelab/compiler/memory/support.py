"""The helpers of emitted code: zeros, sums, and the cotangents of items, lists and functions."""

from __future__ import annotations

import array
import functools
import itertools
import math
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ...errors import RuleLabError, RuleShapeError
from ...rules import programs
from ...tangents import algebra
from ...tangents.structural import Tangent, class_of, entries_of, is_mapping, make
from ...tangents.thunks import Thunk, unthunk
from ...tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from ..base import ir

__all__ = [
    "NO",
    "ZERO",
    "Items",
    "RuleLabError",
    "add",
    "add_slice",
    "are_finite",
    "both_finite",
    "bound",
    "buffer",
    "buffer_and_view",
    "captured",
    "drop_item",
    "format_string",
    "indexable",
    "over",
    "part",
    "part_of_last",
    "pop_item",
    "positions",
    "pull",
    "pull_both",
    "pull_second",
    "put_each",
    "put_item",
    "put_items",
    "real",
    "real_or_zero",
    "reals",
    "settle",
    "taking",
    "twice",
    "unless_zero",
    "unpack",
    "value",
]

ZERO = ZeroTangent()
NUMPY_ZERO = np.float64(0.0)
NO = NoTangent()
_NOTHING = (ZERO, NO)


class Items(dict[Any, Any]):
    """Cotangents of the items of a list or tuple of known size, by position.

    One pass owns them, and changes them in place.
    """

    __slots__ = ("kind", "size")

    def __init__(self, size: int, kind: type = list) -> None:
        super().__init__()
        self.size = size
        self.kind = kind

    def __iter__(self) -> Any:
        return (self.get(k, ZERO) for k in range(self.size))

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: int) -> Any:
        return self.get(key + self.size if key < 0 else key, ZERO)


value = unthunk  # the cotangent itself if it was delayed


def real(x_bar: Any) -> Any:
    """The cotangent of a real scalar as a real number."""
    if type(x_bar) is float or type(x_bar) is np.float64:
        return x_bar
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, AbstractZero):
        return 0.0
    if isinstance(x_bar, np.ndarray):
        if x_bar.size != 1:
            raise RuleShapeError(f"A real number cannot have a cotangent of shape {x_bar.shape}")
        x_bar = x_bar.reshape(())[()]
    return x_bar.real if isinstance(x_bar, (complex, np.complexfloating)) else x_bar


def real_or_zero(x_bar: Any) -> Any:
    """The cotangent of a real scalar as a real number, or ZERO if nothing flowed to it."""
    return x_bar if x_bar is ZERO else real(x_bar)


def reals(x_bar: Any, count: int) -> Any:
    """The cotangents of the items of a tuple of `count` real scalars, as real numbers.

    A ZERO stays ZERO: at the end of a domain a slope is infinite, and 0.0 times it would be NaN.
    """
    if type(x_bar) is tuple and len(x_bar) == count and _FLOATS.issuperset(map(type, x_bar)):
        return x_bar
    return [real_or_zero(part(x_bar, number)) for number in range(count)]


_FLOATS = algebra.FLOATS


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents; only running sums of items, which the pass owns, are updated in place."""
    if a is ZERO:
        return unthunk(b) if isinstance(b, Thunk) else b
    if type(a) in _FLOATS and type(b) in _FLOATS:  # most often
        return a + b
    if type(a) is Items or type(b) is Items:
        return _add_items(a, b)
    return algebra.add(a, b)


def _pulling(entry: int) -> Callable[..., Any]:
    """`pull(back, y_bar, x_bar)`: the sum of `x_bar` and this `entry` of a pullback's answer; the pullback is
    not called if `y_bar` is zero, unless it has side effects (`heap.effectful`).
    """

    def pull(back: Any, y_bar: Any, x_bar: Any = ZERO) -> Any:
        __tracebackhide__ = True
        idle = (y_bar is ZERO or y_bar is NO) and not getattr(back, "changes", False)
        part = y_bar if idle else back(y_bar)[entry]
        return add(x_bar, part) if x_bar is not ZERO or isinstance(part, Thunk) else part

    return pull


pull, pull_second = _pulling(1), _pulling(2)


def pull_both(back: Any, y_bar: Any, a_bar: Any = ZERO, b_bar: Any = ZERO) -> Any:
    """The sums of `a_bar` and `b_bar` with entries 1 and 2 of a pullback's answer; the pullback is not called
    if `y_bar` is zero, unless it has side effects.
    """
    __tracebackhide__ = True
    if (y_bar is ZERO or y_bar is NO) and not getattr(back, "changes", False):
        first = second = y_bar
    else:
        parts = back(y_bar)
        first, second = parts[1], parts[2]
    if a_bar is not ZERO or isinstance(first, Thunk):
        first = add(a_bar, first)
    if b_bar is not ZERO or isinstance(second, Thunk):
        second = add(b_bar, second)
    return first, second


@functools.cache
def taking(*slots: int) -> Callable[..., Any]:
    """The helper that takes up to three entries of a pullback's answer: `both(parts, a_bar, b_bar)` returns
    `a_bar` plus the first and `b_bar` plus the second.
    """
    first, *others = slots

    def one(parts: Any, x_bar: Any = ZERO) -> Any:
        return add(x_bar, parts[first])

    def two(parts: Any, a_bar: Any = ZERO, b_bar: Any = ZERO) -> Any:
        x, y = parts[first], parts[second]  # most often there is nothing to add, and no thunk
        if a_bar is not ZERO or isinstance(x, Thunk):
            x = add(a_bar, x)
        if b_bar is not ZERO or isinstance(y, Thunk):
            y = add(b_bar, y)
        return x, y

    def three(parts: Any, a_bar: Any = ZERO, b_bar: Any = ZERO, c_bar: Any = ZERO) -> Any:
        return add(a_bar, parts[first]), add(b_bar, parts[second]), add(c_bar, parts[third])

    second, third = (*others, 0, 0)[:2]
    take = (one, two, three)[len(others)]
    take.__name__ = (
        "both" if slots == (1, 2) else "_and_".join(_ENTRIES.get(slot, f"entry_{slot}") for slot in slots)
    )
    return take


_ENTRIES = dict(enumerate(("callee", "first", "second", "third", "fourth")))


def unless_zero(back: Any, y_bar: Any) -> Any:
    """The pullback, if it must be called with this cotangent; else a function that returns the zero.

    The sweep itself makes the call: an author's function may be recursive, so a helper's frames would add up.
    """
    return _same if (y_bar is ZERO or y_bar is NO) and not getattr(back, "changes", False) else back


def twice(parts: Any) -> Any:
    """The sum of the two cotangents that an elementwise rule returned for one value, if possible in the
    memory of the first, which nothing else holds yet.
    """
    first, second = parts[1], parts[2]
    if (
        type(first) is np.ndarray
        and type(second) is np.ndarray
        and first.shape == second.shape
        and first.dtype == second.dtype
        and first.base is None
        and first is not second
    ):
        return np.add(first, second, out=first)
    return add(unthunk(first), second)


def _add_items(a: Any, b: Any) -> Any:
    """The sum of two cotangents of a list or tuple, at least one of them a running sum, which is updated."""
    if isinstance(b, AbstractZero):
        return a
    if isinstance(a, AbstractZero):
        return b
    if type(a) is not Items:
        a, b = b, a
    for key, x_bar in enumerate(unthunk(b)):
        a[key] = add(a.get(key, ZERO), x_bar)
    return a


def _as_items(x_bar: Any, size: int, kind: type = list) -> Items:
    """Cotangents by position, from any form of a sequence's cotangent."""
    if type(x_bar) is Items:
        return x_bar
    items = Items(size, kind)
    x_bar = unthunk(x_bar)
    if not isinstance(x_bar, AbstractZero):
        for key, item_bar in enumerate(x_bar):
            items[key] = NO if item_bar is None else item_bar
        if len(items.keys()) > size:
            raise RuleShapeError(
                f"A sequence of {size} items cannot have a cotangent of {len(items.keys())} items"
            )
    return items


def put_item(x_bar: Any, index: int, size: int, item_bar: Any, kind: type) -> Items:
    """The cotangent `x_bar` of a sequence of `size` items, with `item_bar` added at `index`."""
    items = _as_items(x_bar, size, kind)
    items.size = size
    key = index + size if index < 0 else int(index)
    items[key] = add(items.get(key, ZERO), item_bar)
    return items


def put_each(x_bar: Any, size: int, bars: dict[int, Any]) -> Items:
    """The cotangent `x_bar` of a tuple of `size` items, with `bars` added by position."""
    items = _as_items(x_bar, size, tuple)
    items.size = size
    for number, bar in bars.items():
        items[number] = add(items[number], bar) if number in items.keys() else add(ZERO, bar)
    return items


def key(index: Any) -> Any:
    """An index as plain integers, converted once: an object may convert differently the next time."""
    return programs.key_asked_once(index) if isinstance(index, slice) else operator.index(index)


def with_lists_copied(x: Any) -> Any:
    """The value with its lists copied, as well as its deques, bytearrays and arrays of the standard library:
    a rule may read them again in the reverse sweep, and they may have changed by then.
    """
    kind = type(x)
    if kind is array.array or kind is bytearray:
        return x[:]
    if kind is deque:
        return deque(map(with_lists_copied, x), x.maxlen)
    if kind is list:
        return x.copy() if _CHANGING.isdisjoint(map(type, x)) else list(map(with_lists_copied, x))
    if kind is tuple and not _CHANGING.isdisjoint(map(type, x)):
        return tuple(map(with_lists_copied, x))
    return x


_CHANGING = frozenset({list, tuple, deque, array.array, bytearray})  # may change, or hold values that may


def put_items(x_bar: Any, index: Any, size: int, y_bar: Any, kind: type) -> Items:
    """The cotangent `x_bar` of a sequence of `size` items, with that of its slice (or item) `index` added."""
    if not isinstance(index, slice):
        return put_item(x_bar, operator.index(index), size, y_bar, kind)
    items = _as_items(x_bar, size, kind)
    items.size = size
    if isinstance(y_bar, AbstractZero):
        return items
    for key, item_bar in zip(range(size)[index], unthunk(y_bar), strict=True):
        items[key] = add(items.get(key, ZERO), item_bar)
    return items


def pop_item(x_bar: Any, index: int) -> tuple[Any, Any]:
    """The cotangents of a list before item `index` was appended, and of that item."""
    if isinstance(x_bar, AbstractZero):
        return x_bar, x_bar
    items = _as_items(x_bar, index + 1)
    items.size = index
    return items, unthunk(items.pop(index, ZERO))


def add_to_each(bars: list[Any], bar: Any) -> None:
    """Add the cotangent of the sum of a list to those of its items."""
    for index, item_bar in enumerate(bars):
        bars[index] = item_bar + bar


def add_items(bars: list[Any], list_bar: Any) -> None:
    """Add the cotangent of a copy of a list to those of the list's items."""
    list_bar = unthunk(list_bar)
    if isinstance(list_bar, AbstractZero):
        return
    for index, item_bar in enumerate(bars):
        bars[index] = item_bar + real_or_zero(part(list_bar, index))


def sum_of_every(bars: list[Any], first: int, step: int) -> Any:
    """The cotangent of an item of a display that was repeated, from those of the list."""
    total: Any = 0.0
    for index in range(first, len(bars), step):
        total = bars[index] if index == first else total + bars[index]
    return total


def array_of(bars: list[Any]) -> Any:
    """The cotangent of the array that a list was made of, from those of the list's items."""
    return np.array([0.0 if isinstance(bar, AbstractZero) else bar for bar in bars], dtype=float)


def bars_of_numbers(y_bar: Any) -> Any:
    """The cotangents of the real numbers in a list, from that of the array made from it."""
    y_bar = unthunk(y_bar)
    return y_bar if isinstance(y_bar, AbstractZero) else np.real(y_bar).tolist()


def bars_of_rows(y_bar: Any) -> Any:
    """The cotangents of the real arrays in a list, from that of the array made from it."""
    y_bar = unthunk(y_bar)
    return y_bar if isinstance(y_bar, AbstractZero) else np.real(y_bar)


def bar_of_item(bars: Any, index: int) -> Any:
    """The cotangent of item `index` of a list that an array was made from."""
    return bars if isinstance(bars, AbstractZero) else bars[index]


def drop_item(x_bar: Any, index: int) -> Any:
    """The cotangent of a list before item `index`, which is constant, was appended."""
    if isinstance(x_bar, AbstractZero):
        return x_bar
    items = _as_items(x_bar, index + 1)
    items.size = index
    items.pop(index, None)
    return items


def settle(x_bar: Any) -> Any:
    """A cotangent in the form that rules know: the running sums of a list or tuple become a tangent."""
    if type(x_bar) is not Items:
        return x_bar
    items = dict(x_bar.items())
    if Items in map(type, items.values()):
        items = {key: settle(item) for key, item in items.items()}
    return make(x_bar.kind, items, x_bar.size)


def part(x_bar: Any, key: Any) -> Any:
    """The cotangent of one part of a structure: an item, or a variable that a function captures."""
    if x_bar is ZERO or x_bar is NO:
        return x_bar
    if type(x_bar) is Tangent and type(key) is int and (there := entries_of(x_bar).get(key)) is not None:
        return there
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, AbstractZero):
        return x_bar
    if isinstance(x_bar, Tangent):
        if type(key) is str and class_of(x_bar) is FunctionType:  # a captured variable, most often
            return entries_of(x_bar).get(key, ZERO)
        fields = isinstance(key, str) and not is_mapping(class_of(x_bar))  # rather than keys
        return getattr(x_bar, key, ZERO) if fields else x_bar[key]
    if isinstance(x_bar, dict) and type(x_bar) is not Items:
        found = x_bar.get(key, ZERO)
    else:
        found = x_bar[key]
    return NO if found is None else found


def part_of_last(x_bar: Any, key: Any, later: tuple[Any, ...]) -> Any:
    """The cotangent of an entry of a dict display: ZERO if the key is among the `later` ones, which win."""
    return ZERO if key in later else part(x_bar, key)


def captured(**bars: Any) -> Tangent:
    """The cotangent of a function, from those of the variables that it captures."""
    return make(FunctionType, bars)


def buffer(x: np.ndarray) -> np.ndarray:
    """An array of zeros, in which the cotangents of the elements of `x` are summed."""
    return np.zeros(x.shape)


def buffer_and_view(x: np.ndarray) -> tuple[np.ndarray, memoryview]:
    """An array of zeros to sum the cotangents of the elements of `x`, and a view of it, which is quicker for
    single elements.
    """
    total = np.zeros(x.shape)
    return total, memoryview(total)  # type: ignore[arg-type]  # NumPy's arrays say so from Python 3.12 on


def add_slice(total: np.ndarray, index: Any, y_bar: Any) -> None:
    """Add the cotangent of `x[index]`, a basic index, into the sum for `x`."""
    part = total[index]
    if type(y_bar) is type(part) is np.ndarray and y_bar.dtype is total.dtype and y_bar.shape == part.shape:
        part += y_bar  # a view
        return
    y_bar = unthunk(y_bar)
    if not isinstance(y_bar, AbstractZero):
        if np.shape(y_bar) != part.shape:
            raise RuleShapeError(
                f"An array of shape {part.shape} cannot have a cotangent of shape {np.shape(y_bar)}"
            )
        total[index] = part + np.real(
            y_bar
        )  # not `part +=`: a single element is a number, which that would not write back


def log_of_base(x: float) -> float:
    """The logarithm in the slope of `x ** p` with respect to `p`; raise FloatingPointError unless x > 0.

    >>> log_of_base(1.0)
    0.0
    """
    if x > 0.0:
        return float(np.log(x))
    raise FloatingPointError


@functools.cache
def over(ufunc: np.ufunc) -> Callable[..., Any]:
    """A function that computes `ufunc(a, b)`, in the memory of `a` if the result has its shape.

    >>> a = np.ones(2)
    >>> over(np.add)(a, np.ones(2)) is a, over(np.add)(a, np.zeros((2, 1))).shape
    (True, (2, 2))
    """

    def written_over(a: np.ndarray, b: Any) -> np.ndarray:
        if type(b) is np.ndarray and b.size > a.size:  # an error from NumPy would take longer than this
            return ufunc(a, b)
        try:
            return ufunc(a, b, a)
        except ValueError:  # shapes differ; nothing was written yet
            return ufunc(a, b)

    written_over.__name__ = f"{ufunc.__name__}_over"
    return written_over


class LoopItems:
    """The items that a loop took from a value without positions, in order."""

    __slots__ = ("items", "walk")

    def __init__(self, walk: Any) -> None:
        self.walk = walk
        self.items: list[Any] = []

    def __getitem__(self, position: int) -> Any:
        return self.items[position]

    def positions(self, backwards: bool) -> Iterator[int]:
        """The number of each item, as it is taken."""
        for item in reversed(self.walk) if backwards else self.walk:
            self.items.append(item)
            yield len(self.items) - 1


def are_finite(found: Iterable[Any]) -> bool:
    """Whether all floats and arrays among cotangents are certainly finite. If not, the caller repeats the
    work with NumPy's numbers, which warn of an overflow.
    """
    arrays = []
    for bar in found:
        if type(bar) is np.ndarray:
            arrays.append(bar)
        elif type(bar) is float and not math.isfinite(bar):
            return False
    if len(arrays) == 2:
        return both_finite(*arrays)
    return all(math.isfinite(np.vdot(bar, bar)) for bar in arrays)


def both_finite(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are certainly finite. A sum of products is not finite if any of the numbers is not,
    and is quicker than a test of each number; unlike other products, `vdot` does not warn.
    """
    if a.shape == b.shape:
        return math.isfinite(np.vdot(a, b))
    return math.isfinite(np.vdot(a, a)) and math.isfinite(np.vdot(b, b))


def indexable(x: Any) -> Any:
    """The value that a loop runs over, or a `LoopItems` of it, so that its items go by position."""
    by_position = isinstance(x, (list, tuple, deque)) or (isinstance(x, np.ndarray) and x.ndim > 0)
    return x if by_position else LoopItems(x)


def positions(sequence: Any, backwards: bool = False) -> Iterator[int]:
    """The positions that a loop over a sequence visits, even if that grows or shrinks meanwhile."""
    if type(sequence) is LoopItems:
        yield from sequence.positions(backwards)
        return
    position = len(sequence) - 1 if backwards else 0
    size = len(sequence) if type(sequence) is deque else None
    while 0 <= position < len(sequence):
        yield position
        if size is not None and len(sequence) != size:
            raise RuntimeError("deque mutated during iteration")
        position += -1 if backwards else 1


def unpack(sequence: Any, count: int, *, or_more: bool = False) -> Any:
    """The value as a sequence of `count` items (at least, if `or_more`); else raises Python's own error."""
    whole = sequence
    if not isinstance(sequence, (tuple, list)) and not (isinstance(sequence, np.ndarray) and sequence.ndim):
        sequence = _first_items(sequence, None if or_more else count + 1)
    if len(sequence) < count:
        least = "at least " if or_more else ""
        raise ValueError(f"not enough values to unpack (expected {least}{count}, got {len(sequence)})")
    if len(sequence) > count and not or_more:
        got = f", got {len(whole)}" if type(whole) in _COUNTED else ""
        raise ValueError(f"too many values to unpack (expected {count}{got})")
    return sequence


# The types for which Python's error says how many items there are.
_COUNTED = (tuple, list, dict) if sys.version_info >= (3, 14) else ()


def _first_items(x: Any, most: int | None) -> tuple[Any, ...]:
    """The items of an iterable, read no further than Python's unpacking reads, since it may be infinite."""
    try:
        items = iter(x)
    except TypeError as error:
        if hasattr(type(x), "__iter__"):
            raise
        name = str(error).split("'")[1]  # the name as C has it: "'numpy.float64' object is not iterable"
        raise TypeError(f"cannot unpack non-iterable {name} object") from None
    return tuple(itertools.islice(items, most))


def bound(x: Any, name: str) -> Any:
    """The value of a variable; raises UnboundLocalError if none was assigned."""
    if x is ir.UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    return x


_CONVERSIONS: dict[int, Callable[[Any], Any]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


def is_in(x: Any, xs: Any) -> Any:
    """`x in xs`."""
    return x in xs


def is_not_in(x: Any, xs: Any) -> Any:
    """`x not in xs`."""
    return x not in xs


def set_of(*items: Any) -> set[Any]:
    """`{x, y, ...}`."""
    return set(items)


def dict_of(*items: Any) -> dict[Any, Any]:
    """`{key: value, ...}` of keys and values in turn."""
    return dict(zip(items[::2], items[1::2], strict=True))


def format_string(parts: list[tuple[Any, int, str]]) -> str:
    """An f-string from its values, conversions and format specs."""
    return "".join(format(_CONVERSIONS.get(conversion, _same)(x), spec) for x, conversion, spec in parts)


def _same(x: Any) -> Any:
    return x
