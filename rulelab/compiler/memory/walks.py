"""Walks over values that have items: they record which items were taken, so that the items' cotangents go
back to where the items were.
"""

from __future__ import annotations

import itertools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import MutationError, Place, items_refused
from ...own_code import carries_values
from ...tangents.missing import MissingSlope
from ...tangents.structural import Tangent, entries_of, is_namedtuple, make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .heap import note_read, now, was_written
from .outlines import Numbered, entries_in, hand_in, outline
from .support import add, settle

carries_values(__name__)

NO, ZERO = NoTangent(), ZeroTangent()
Sums = dict[Any, Any]  # the cotangents of items, by the key under which a source knows the item

_EMPTY: dict[Any, Any] = {}
DICT_VALUES, DICT_ITEMS, DICT_KEYS = type(_EMPTY.values()), type(_EMPTY.items()), type(_EMPTY.keys())


class Source:
    """The items of one value, each with a key; this base class is for items that have no cotangent."""

    def __init__(self, owner: Any) -> None:
        self.items = iter(owner)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """`(key, item)` for each item, as it is taken."""
        return enumerate(self.items)

    def cotangent(self, sums: Sums) -> Any:
        """The cotangent of the owner, from those of its items."""
        return NO


class Unfollowed(Source):
    """Items that vary, of a value that is not differentiated."""


class OfNames(Source):
    """The keys of a dict, or the items of a set, made by the function: a cotangent of a number there would be
    lost, so it is refused.
    """

    def __init__(self, owner: Any, place: Place | None) -> None:
        super().__init__(owner)
        self.kind, self.place = type(owner), place
        self.taken: list[Any] = []

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        for number, item in enumerate(self.items):
            self.taken.append(item)
            yield number, item

    def cotangent(self, sums: Sums) -> Any:
        refuse_lost([(self.taken[number], bar) for number, bar in sums.items()], self.kind, self.place)
        return NO


def refuse_lost(pairs: list[tuple[Any, Any]], kind: type, place: Place | None) -> None:
    """Raise NotDifferentiableError if a key or set item that is a number or an array gets a cotangent."""
    if any(_is_lost(item, unthunk(bar)) for item, bar in pairs):
        raise items_refused(kind, place)


def _is_lost(item: Any, bar: Any) -> bool:
    if isinstance(bar, AbstractZero) or bar is None:
        return False
    if type(item) is tuple and isinstance(bar, Tangent):
        return any(_is_lost(item[key], unthunk(part)) for key, part in entries_of(bar).items())
    return isinstance(item, (float, complex, np.inexact, np.ndarray, tuple))


class OfSequence(Source):
    """The items of a list, tuple, NamedTuple or deque, by position.

    A list must not change while it is read, since positions refer to the list at the start.
    """

    def __init__(self, owner: Any) -> None:
        super().__init__(owner)
        self.kind: Any = list if type(owner) is deque else type(owner)
        self.size = len(owner)
        self.owner, self.at_start = owner, tuple(owner)
        self.start = read_from_now(owner)
        self.where = outline(owner) if self.kind is list and type(owner) is deque else None

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        for key, item in enumerate(self.items):
            self.check(key, item)
            yield key, item
        self.check(0, None)

    def check(self, key: int, item: Any) -> None:
        """Raise MutationError if the list has changed."""
        if len(self.owner) != self.size:
            raise changed_while_read("list")
        if item is not None and (item is not self.at_start[key] or was_written(self.owner, key, self.start)):
            raise changed_while_read("list")

    def cotangent(self, sums: Sums) -> Any:
        if is_namedtuple(self.kind):
            return make(self.kind, {self.kind._fields[key]: bar for key, bar in sums.items()})
        bars = make(self.kind, {key: sums.get(key, ZERO) for key in range(self.size)}, self.size)
        if isinstance(self.owner, deque):  # one of this sweep: its cotangent goes by identity only
            return hand_in(self.where, bars)
        return bars


def read_from_now(owner: Any) -> tuple[int, int]:
    """The point from which a container is read by an iterator."""
    note_read(owner)
    return now()


def changed_while_read(what: str) -> MutationError:
    """The error for a container that has changed since an iterator over it was made."""
    return MutationError(
        f"A {what} was changed while an iterator was reading it",
        fixes=(f"read it from a copy: iter(list(...)) of the {what}",),
        read="limitations#iteration",
    )


class OfRows(Source):
    """The rows of an array, along its first axis."""

    def __init__(self, owner: np.ndarray) -> None:
        super().__init__(owner)
        self.shape = owner.shape

    def cotangent(self, sums: Sums) -> Any:
        if all(isinstance(bar, AbstractZero) for bar in sums.values()):
            return ZERO
        return of_rows(self.shape, sums)


def of_rows(shape: tuple[int, ...], sums: Sums) -> np.ndarray | MissingSlope:
    """The cotangent of an array, from those of its rows."""
    bars = {key: bar for key, bar in sums.items() if not isinstance(bar, AbstractZero)}
    for bar in bars.values():
        if isinstance(bar, MissingSlope):  # which no array holds
            return bar
    x_bar = np.zeros(shape, np.result_type(float, *{np.asarray(bar).dtype for bar in bars.values()}))
    for key, bar in bars.items():
        x_bar[key] = bar
    return x_bar


class OfView(Source):
    """The values or items of a dict; the cotangent of a view is that of its dict.

    A view shows the dict as it is when read: if the dict may change (then it is `own`), its cotangents go
    straight into the table.
    """

    def __init__(self, owner: Any, own: Any = None) -> None:
        super().__init__(owner)
        self.own, self.where = own, outline(own)  # the pullback may run in a sweep that has no outline
        self.of_items = isinstance(owner, DICT_ITEMS)
        self.at_start = dict(owner.mapping)
        self.start = read_from_now(own)
        self.keys = list(self.at_start)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        for key, item in zip(self.keys, self.items, strict=True):
            value = item[1] if self.of_items else item
            if value is not self.at_start[key] or was_written(self.own, key, self.start):
                raise changed_while_read("dict")
            yield key, item

    def cotangent(self, sums: Sums) -> Any:
        bars = {key: sums.get(key, ZERO) for key in self.keys}
        if self.of_items:
            if self.own is not None:
                refuse_lost([(key, bar[0]) for key, bar in bars.items()], dict, None)
            bars = {key: bar[1] for key, bar in bars.items()}
        if self.own is None:
            return make(dict, bars)
        return hand_in(self.where, make(dict, bars))


class Backwards:
    """The sequence of tokens that `reversed` reads in place of a list, tuple, array or range."""

    def __init__(self, source: Source, owner: Any) -> None:
        self.owner, self.start = owner, read_from_now(owner)
        self.tokens = list(tokens(source))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, number: int) -> Token:
        token, owner = self.tokens[number], self.owner
        if isinstance(owner, list):
            changed = len(owner) != len(self) or owner[number] is not token.value
            if changed or was_written(owner, number, self.start):
                raise changed_while_read("list")
        return token


class OfIterator(Source):
    """The remaining items of one of our iterators."""

    def __init__(self, owner: RecordedIterator) -> None:
        super().__init__(owner)
        self.owner = owner

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        for item in self.owner:
            yield len(self.owner.drawn) - 1, item

    def cotangent(self, sums: Sums) -> Any:
        return make(dict, dict(sums))


class OfObject(Source):
    """The items of an author's object, read from the iterator that its `__iter__` returned."""

    def __init__(self, inner: Source, back: Callable[[Any], Any]) -> None:
        self.inner, self.back = inner, back

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        return self.inner.pairs()

    def cotangent(self, sums: Sums) -> Any:
        return self.back(self.inner.cotangent(sums))[1]


class OfIndexed(Source):
    """The items of an author's object that has only `__getitem__`; `take(k)` returns item and pullback."""

    def __init__(self, take: Callable[[int], tuple[Any, Any]]) -> None:
        self.take = take
        self.backs: list[Any] = []

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        while True:
            try:
                item, back = self.take(len(self.backs))
            except IndexError:
                return
            self.backs.append(back)
            yield len(self.backs) - 1, item

    def cotangent(self, sums: Sums) -> Any:
        total: Any = ZERO
        for key, bar in sums.items():
            if not isinstance(bar, AbstractZero):
                total = add(total, self.backs[key](bar)[1])
        return total


# -- tokens: stand-ins for items in a function that only passes them on --------------------------------------


class Token:
    """Represents one item of a source, or a whole argument (a source of one item)."""

    __slots__ = ("key", "source", "value")

    def __init__(self, source: Any, key: Any, value: Any) -> None:
        self.source, self.key, self.value = source, key, value

    def give(self, bar: Any, sums: dict[Any, Sums]) -> None:
        """Add the cotangent of the item to the sums of its source."""
        own = sums.setdefault(self.source, {})
        own[self.key] = add(own[self.key], bar) if self.key in own else bar


class Whole:
    """The source of an argument that is passed on as it is."""

    def cotangent(self, sums: Sums) -> Any:
        return sums.get(0, ZERO)


def tokens(source: Source) -> Iterator[Token]:
    """A token for each item, as it is taken."""
    return (Token(source, key, item) for key, item in source.pairs())


def valued(shape: Any) -> Any:
    """The value that a structure of tokens represents."""
    if hasattr(shape, "give"):
        return shape.value
    return tuple(map(valued, shape)) if type(shape) is tuple else shape


def give(shape: Any, bar: Any, sums: dict[Any, Sums]) -> None:
    """Pass the cotangent of a structure of tokens on to the tokens."""
    bar = settle(unthunk(bar))
    if isinstance(bar, AbstractZero) or bar is None:
        if type(shape) is Called and getattr(shape.back, "changes", False):
            shape.give(ZERO, sums)
        return
    if hasattr(shape, "give"):
        shape.give(bar, sums)
    elif type(shape) is tuple:
        for number, inner in enumerate(shape):
            give(inner, bar[number], sums)


class Called:
    """The result of one call, with the function and the arguments."""

    __slots__ = ("back", "function", "given", "value")

    def __init__(self, function: Token, given: tuple[Any, ...], value: Any, back: Any) -> None:
        self.function, self.given, self.value, self.back = function, given, value, back

    def give(self, bar: Any, sums: dict[Any, Sums]) -> None:
        got = self.back(bar)
        give(self.function, got[0], sums)
        for number, shape in enumerate(self.given):
            give(shape, got[1 + number], sums)


class Part:
    """An item of an item."""

    __slots__ = ("key", "row", "value")

    def __init__(self, row: Token, key: int, value: Any) -> None:
        self.row, self.key, self.value = row, key, value

    def give(self, bar: Any, sums: dict[Any, Sums]) -> None:
        row = self.row.value
        if isinstance(row, np.ndarray):
            whole = np.zeros(row.shape, np.result_type(float, np.asarray(bar).dtype))
            whole[self.key] = bar
            self.row.give(whole, sums)
        else:
            self.row.give(Tangent.at(row, self.key, bar), sums)


class RecordedIterator(Numbered):
    """The iterator that `map`, `zip` and their like return inside a pass: it remembers the items it gave.

    It is read once, as lazily as Python's own. Its cotangent has those of the items by their number.
    """

    def __init__(self, shapes: Iterator[Any]) -> None:
        self.shapes = shapes
        self.drawn: list[Any] = []

    def __iter__(self) -> RecordedIterator:
        return self

    def __next__(self) -> Any:
        __tracebackhide__ = True
        shape = next(self.shapes)
        self.drawn.append(shape)
        return valued(shape)

    def spread(self, y_bar: Any, sums: dict[Any, Sums]) -> None:
        """Pass the cotangents of the items on to the sources that they came from, the last item first."""
        entries = entries_in(y_bar)
        for number in reversed(range(len(self.drawn))):
            give(self.drawn[number], entries.get(number, ZERO), sums)


_NAMED: dict[str, type] = {}


def drawn(shapes: Iterator[Any], name: str) -> RecordedIterator:
    """A recorded iterator whose class is named like what it replaces (`map`, `zip`), for Python's errors."""
    kind = _NAMED.get(name)
    if kind is None:
        kind = _NAMED[name] = type(name, (RecordedIterator,), {"__module__": __name__})
    return kind(shapes)


class Walk:
    """A replacement for the value that a loop runs over, which records the items taken."""

    def __init__(self, source: Source, owner: Any = ()) -> None:
        self.source = source
        self.owner = owner
        self.keys: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        for key, item in self.source.pairs():
            self.keys.append(key)
            yield item

    def __reversed__(self) -> Iterator[Any]:
        reversed(self.owner)  # raises Python's own error
        for key, item in reversed(list(self.source.pairs())):
            self.keys.append(key)
            yield item

    def cotangent(self, bars: Iterable[Any]) -> Any:
        """The cotangent of the value, from those of the items, in the order in which they were taken."""
        return self.source.cotangent(dict(zip(self.keys, bars, strict=False)))


# Python's own iterators: their items cannot be known without taking them.
ITERATORS: tuple[type, ...] = (
    map,
    filter,
    zip,
    enumerate,
    reversed,
    types.GeneratorType,
    type(iter([])),
    type(iter(())),
    type(iter({}.values())),
    type(iter({}.items())),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
)


def gather_numbers(x: Any, items: list[Any], backwards: bool = False) -> np.ndarray:
    """Like `gather`, for a vector whose items a loop read as Python numbers; the result is new memory.

    >>> gather_numbers(memoryview(np.ones(3)), [2.0, 1.0])
    array([1., 2., 0.])
    """
    if not _NUMBERS.issuperset(map(type, items)):
        items = [0.0 if isinstance(item, AbstractZero) else item for item in items]
    numbers = np.array(items if backwards else items[::-1], float)
    if len(numbers) == len(x):
        return numbers
    whole = np.zeros(len(x))
    whole[len(x) - len(numbers) if backwards else 0 :][: len(numbers)] = numbers
    return whole


_NUMBERS = frozenset({float, np.float64})


def gather(x: Any, items: list[Any], backwards: bool = False) -> Any:
    """The cotangent of the value that a loop ran over, from those of the items, given last iteration first.

    A loop that ran `backwards` began with the last item of `x`.
    """
    items = [settle(unthunk(item)) for item in reversed(items)]
    if isinstance(x, Walk):
        return x.cotangent(items)
    if backwards:
        items = [ZERO] * (len(x) - len(items)) + items[::-1]
    if isinstance(x, np.ndarray):
        return of_rows(x.shape, dict(enumerate(items)))
    if isinstance(x, (list, tuple)):
        return Tangent(type(x), *items, *[ZERO] * (len(x) - len(items)))
    if all(isinstance(item, AbstractZero) for item in items):
        return ZERO
    raise items_refused(type(x))
