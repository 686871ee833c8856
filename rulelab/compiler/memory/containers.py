"""Handlers of the operations on lists, deques, dicts, objects and cells made during this sweep: each does
what Python does, and its pullback moves the cotangents to where the parts were before.
"""

from __future__ import annotations

import operator
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, an, items_refused
from ...python_facts import IN_PLACE_METHODS, WRITES, methods_that
from ...rules.programs import key_asked_once, refuse_dict
from ...tangents.structural import Tangent, make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base import ir
from ..base.classes import in_class
from .heap import (
    CELL,
    FACTORY,
    KINDS,
    NEVER_OWN,
    Key,
    bars_of,
    deposit,
    effectful,
    is_followed,
    is_idle,
    is_own,
    note_change,
    own,
    take,
    take_all,
    written,
)
from .operands import carries
from .outlines import entries_in, hand_in, outline, taken_from, whole
from .snapshots import watched
from .support import NO, ZERO, LoopItems
from .walks import RecordedIterator, gather, refuse_lost

_NOTHING = (NO, ZERO, NO)
_BASES = (list, deque, OrderedDict, defaultdict, dict)
WITH_ITEMS = (list, dict, deque)  # their items go by index or key


def base_of(x: Any) -> Any:
    """The built-in class of a container, or the one that it inherits from: its methods access the stored
    items, even if the author's class overrides them.
    """
    kind = type(x)
    if kind not in _BASES:
        for base in _BASES:
            if issubclass(kind, base):
                return base
    return kind


def stored(xs: Any, index: Any) -> Any:
    """The stored item `xs[index]`, whatever the author's class overrides."""
    return xs[index] if type(xs) in _BASES else base_of(xs).__getitem__(xs, index)


def store(xs: Any, index: Any, item: Any) -> None:
    """Store `xs[index] = item`, whatever the author's class overrides."""
    if type(xs) in _BASES:
        xs[index] = item
    else:
        base_of(xs).__setitem__(xs, index, item)


# --- lists and deques ---------------------------------------------------------------------------------------


def _where(xs: Any, index: Any) -> int:
    """An index as a position from the start."""
    return index + len(xs) if index < 0 else int(index)


def _handed_out(xs: Any, key: Key, y: Any, bars: tuple[Any, ...] = _NOTHING) -> Callable[[Any], Any]:
    """The pullback of reading the part `y` at `key`: it adds to the cotangent there, and returns `bars`."""
    where = None if type(y) in NEVER_OWN else whole(y)
    if where is None:

        def back_of_leaf(y_bar: Any) -> Any:
            deposit(xs, key, y_bar)
            return bars

        return back_of_leaf

    def back(y_bar: Any) -> Any:
        deposit(xs, key, hand_in(where, y_bar))
        return bars

    return back


def read_item(xs: Any, index: Any) -> Any:
    """`xs[index]` of a list, dict or deque made during this sweep."""
    if type(xs) is list and type(index) is int:  # most often
        y = xs[index]
        return y, _handed_out(xs, index + len(xs) if index < 0 else index, y)
    if isinstance(xs, dict):
        return _read_entry(xs, index)
    if isinstance(index, slice):
        return _read_items(xs, index)
    if type(index) is not int:
        index = key_asked_once(index)
    y = xs[index] if type(xs) in _BASES else stored(xs, index)
    return y, _handed_out(xs, _where(xs, index), y)


def _read_items(xs: Any, index: slice) -> Any:
    """`xs[index]` for a slice: a new container, whose cotangents go to the items that it was made from."""
    positions = range(len(xs))[index]
    ys = own(stored(xs, index), True)

    def back(y_bar: Any) -> Any:
        for key, part in taken_from(ys, y_bar).items():
            deposit(xs, positions[key], part)
        return _NOTHING

    return ys, effectful(back)


def append(xs: Any, item: Any) -> Any:
    """`xs.append(item)`"""
    n = len(xs)
    list.append(xs, item)
    note_change(xs, n)
    return None, effectful(lambda _: (NO, ZERO, take(xs, n)))


def write_item(xs: Any, index: Any, item: Any) -> Any:
    """`xs[index] = item`"""
    if type(xs) is list and type(index) is int:  # most often
        xs[index] = item
        position = index + len(xs) if index < 0 else index
        note_change(xs, position)
        return None, effectful(lambda _: (NO, ZERO, NO, take(xs, position)))
    by_key = isinstance(xs, dict)
    if isinstance(index, slice) and not by_key:
        items = InsertedItems(item)
        back = _rearranged(xs, lambda ys, new: list.__setitem__(ys, index, new), items.items)
        return None, effectful(lambda _: (NO, ZERO, NO, items.cotangent(back(_))))
    store(xs, index, item)
    key = index if by_key else _where(xs, index)
    note_change(xs, key)
    return None, effectful(lambda _: (NO, ZERO, NO, take(xs, key)))


def delete_item(xs: Any, index: Any) -> Any:
    """`del xs[index]`"""
    if isinstance(xs, dict):
        base_of(xs).__delitem__(xs, index)
        note_change(xs)
        return None, effectful(lambda _: _NOTHING)
    back = _rearranged(xs, lambda ys, _: base_of(ys).__delitem__(ys, index), ())
    return None, effectful(lambda _: (back(_), _NOTHING)[1])


def pop(xs: Any, *index: Any) -> Any:
    """`xs.pop(index)` of a list or deque"""
    key = _where(xs, index[0]) if index else len(xs) - 1
    return _without(xs, key, base_of(xs).pop(xs, *index), _NOTHING[: 2 + len(index)])


def _without(xs: Any, key: int, y: Any, bars: tuple[Any, ...]) -> Any:
    """The item `y` that was removed at `key`; its pullback moves later cotangents to make room for it."""
    note_change(xs)
    put_back = _handed_out(xs, key, y, bars)

    def back(y_bar: Any) -> Any:
        table = bars_of(xs)
        for later in sorted((k for k in table if k >= key), reverse=True):
            table[later + 1] = table.pop(later)
        return put_back(y_bar)

    return y, effectful(back)


def _mutator(change: Callable[..., Any], brings: int | None = None, many: bool = False) -> Callable[..., Any]:
    """The handler of a method that moves the items of a list: `change(list, *args)` runs on the list and on a
    list of its positions.

    `brings` is the number of the argument that is put in; if `many`, its items are put in.
    """

    def method(xs: Any, *args: Any) -> Any:
        new = args[brings] if brings is not None and len(args) > brings else None
        items = InsertedItems(new) if many else None
        single = () if brings is None else (new,)

        def act(ys: Any, put: list[Any]) -> None:
            given = list(args)
            if brings is not None and len(args) > brings:
                given[brings] = put if many else put[0]
            change(ys, *given)

        put_back = _rearranged(xs, act, single if items is None else items.items)

        def back(_: Any) -> Any:
            added = put_back(ZERO)
            found = next(iter(added), ZERO) if items is None else items.cotangent(added)
            return (NO, ZERO, *(found if k == brings else NO for k in range(len(args))))

        return None, effectful(back)

    return method


class InsertedItems:
    """Items that are put into a list, and how their cotangents go back to where they came from."""

    __slots__ = ("before", "items", "outline", "source")

    def __init__(self, source: Any) -> None:
        self.source = source
        self.before = len(source.drawn) if isinstance(source, RecordedIterator) else 0
        self.items = list(source)
        self.outline = outline(source)

    def cotangent(self, bars: list[Any]) -> Any:
        """The cotangent of the source, from those of its items."""
        kind = type(self.source)
        if kind in (list, tuple, deque) or isinstance(self.source, (list, tuple)):
            found: Any = make(kind if kind is not deque else list, dict(enumerate(bars)), len(bars))
            return hand_in(self.outline, found)
        if isinstance(self.source, np.ndarray):
            return gather(self.source, bars[::-1])
        if isinstance(self.source, RecordedIterator):
            return make(dict, {self.before + number: bar for number, bar in enumerate(bars)})
        return nothing_lost(self.source, self.items, bars)


def nothing_lost(x: Any, items: Iterable[Any], bars: Iterable[Any]) -> Any:
    """NoTangent for a source whose items have no positions; raises if an item would lose its cotangent."""
    for item, bar in zip(items, bars):
        if bar is not None and not isinstance(unthunk(bar), AbstractZero) and not may_be_in_set(item):
            raise items_refused(type(x))
    return NO


def _rearranged(xs: Any, act: Callable[[Any, list[Any]], Any], new: Any) -> Callable[[Any], Any]:
    """Do `act(xs, items)`; the pullback moves the cotangents back to where the items were, and returns those
    of the new items.
    """
    positions: Any = list(range(len(xs)))
    if isinstance(xs, deque):
        positions = deque(positions, xs.maxlen)
    act(xs, list(new))
    note_change(xs)
    act(positions, [~k for k in range(len(new))])

    def back(_: Any) -> Any:
        bars = take_all(xs)
        added = [ZERO] * len(new)
        for place, origin in enumerate(positions):
            if place in bars:
                if origin >= 0:
                    deposit(xs, origin, bars[place])
                else:
                    added[~origin] = bars[place]
        return added

    return back


def remove(xs: Any, item: Any) -> Any:
    """`xs.remove(item)`"""
    return delete_item(xs, base_of(xs).index(xs, item))


def sort(xs: list[Any], *, key: Any = None, reverse: bool = False) -> Any:
    """`xs.sort(key=…, reverse=…)`, by the permutation that sorts it"""
    ranks = list(xs) if key is None else watched(lambda: [key(x) for x in xs], None, (key,))()
    order = sorted(range(len(xs)), key=ranks.__getitem__, reverse=reverse)

    def put_in_order(ys: Any, _: list[Any]) -> None:
        list.__setitem__(ys, slice(None), [stored(ys, k) for k in order])

    back = _rearranged(xs, put_in_order, ())
    return None, effectful(lambda _: (back(_), (NO, ZERO, NO, NO))[1])


def _giving_itself(method: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of an in-place operator, such as `xs += items`, from that of the method that does the same:
    it returns the container.
    """

    def in_place(xs: Any, other: Any) -> Any:
        _, back = method(xs, other)
        return xs, effectful(lambda y_bar: (hand_in((xs, {}), y_bar), back(y_bar))[1])

    return in_place


_EXTEND = _mutator(lambda xs, items: base_of(xs).extend(xs, items), brings=0, many=True)
extend_in_place = _giving_itself(_EXTEND)
repeat_in_place = _giving_itself(_mutator(lambda xs, n: base_of(xs).__imul__(xs, n)))


# --- dicts --------------------------------------------------------------------------------------------------


def _read_entry(d: Any, key: Key) -> Any:
    if isinstance(d, defaultdict) and key not in d:
        return _make_entry(d, key)
    if type(d) not in _BASES and key not in d:
        return _missing(d, key)
    y = d[key] if type(d) in _BASES else stored(d, key)
    return y, _handed_out(d, key, y)


NOT_COUNTED = Counter.__missing__  # which gives 0


def _missing(d: Any, key: Key) -> Any:
    """`d[key]` if there is no such key: the value that the class's `__missing__` returns must be constant."""
    y = d[key]  # or Python's own error
    if type(d).__missing__ is not NOT_COUNTED and carries(y):
        raise NotDifferentiableError(
            f"What __missing__ of {an(type(d).__name__)} makes for a key is not differentiated",
            fixes=("look the key up with get(key, default)",),
            read="limitations#attributes",
        )
    return y, lambda y_bar: _NOTHING


def _make_entry(d: defaultdict[Any, Any], key: Key) -> Any:
    """`d[key]` if the factory of a defaultdict makes the entry."""
    make = written().factories.get(id(d))
    if make is None:
        y, made = d[key], lambda y_bar: _NOTHING
        if type(y) in (list, dict):
            own(y, True)
    else:
        y, made = make()
        d[key] = y
    note_change(d)
    read_back = _handed_out(d, key, y)

    def back(y_bar: Any) -> Any:
        read_back(y_bar)
        y_bar = take(d, key)
        if not is_idle(made, y_bar):
            deposit(d, FACTORY, made(y_bar)[0])
        return _NOTHING

    return y, effectful(back)


def get(d: Any, key: Key, *default: Any) -> Any:
    """`d.get(key, default)`"""
    if key in d:
        y = stored(d, key)
        return y, _handed_out(d, key, y, (*_NOTHING, *(ZERO,) * len(default)))
    return (default[0] if default else None), lambda y_bar: (NO, ZERO, NO, *(y_bar for _ in default))


def pop_entry(d: Any, key: Key, *default: Any) -> Any:
    """`d.pop(key, default)` of a dict"""
    if key not in d and default:
        return default[0], lambda y_bar: (NO, ZERO, NO, y_bar)
    y = base_of(d).pop(d, key)
    note_change(d)
    return y, effectful(_handed_out(d, key, y, (*_NOTHING, *(ZERO,) * len(default))))


def popitem(d: dict[Any, Any]) -> Any:
    """`d.popitem()`"""
    key, y = base_of(d).popitem(d)
    note_change(d)
    where = whole(y)

    def back(y_bar: Any) -> Any:
        if not isinstance(y_bar, AbstractZero):
            bars = entries_in(y_bar)
            refuse_lost([(key, bars.get(0, ZERO))], dict, None)
            deposit(d, key, hand_in(where, bars.get(1, ZERO)))
        return NO, ZERO

    return (key, y), effectful(back)


def setdefault(d: Any, key: Key, default: Any = None) -> Any:
    """`d.setdefault(key, default)`"""
    if key in d:
        y = stored(d, key)
        return y, _handed_out(d, key, y, (*_NOTHING, ZERO))
    store(d, key, default)
    note_change(d)
    put_back = _handed_out(d, key, default)
    return default, effectful(lambda y_bar: (put_back(y_bar), (NO, ZERO, NO, take(d, key)))[1])


def update(d: Any, /, *others: Any, **more: Any) -> Any:
    """`d.update(other, **more)`, with a dict or with pairs"""
    other = others[0] if others else {}
    is_dict = isinstance(other, dict)
    given = InsertedItems(other.values() if is_dict else other)
    keys = list(other) if is_dict else [key for key, _ in given.items]
    where = outline(other)
    base_of(d).update(d, dict(zip(keys, given.items)) if is_dict else given.items)
    base_of(d).update(d, more)
    note_change(d)

    def back(_: Any) -> Any:
        words = [take(d, key) for key in more]
        found = [take(d, key) for key in reversed(keys)][::-1]  # the last of equal keys counts
        if is_dict:
            bar = hand_in(where, make(dict, dict(zip(keys, found))))
        else:
            pairs = [Tangent.at(pair, 1, x_bar) for pair, x_bar in zip(given.items, found)]
            bar = given.cotangent(pairs)
        return (NO, ZERO, *((bar,) if others else ()), *words)

    return None, effectful(back)


def clear(xs: Any) -> Any:
    """`xs.clear()`"""
    base_of(xs).clear(xs)
    note_change(xs)
    return None, effectful(lambda _: (NO, ZERO))


update_in_place = _giving_itself(update)


def fill_list(xs: Any, *items: Any) -> Any:
    """`list.__init__(xs, items)` of a new list"""
    return _EXTEND(xs, *items) if items else (None, lambda _: (NO, ZERO))


def fill_deque(xs: Any, iterable: Any = (), maxlen: Any = None) -> Any:
    """`deque.__init__(xs, iterable, maxlen)` of a new deque"""
    deque.__init__(xs, (), maxlen)
    _, back = _EXTEND(xs, iterable)
    return None, effectful(lambda _: (*back(_), NO))


# --- objects ------------------------------------------------------------------------------------------------


def read_attribute(o: Any, name: str) -> Any:
    """`o.name` of an object made during this sweep."""
    y, owner = getattr(o, name), _keeper(o) if isinstance(o, WITH_ITEMS) else o
    return y, _handed_out(owner, name, y, (NO, ZERO))


def _keeper(o: Any) -> Any:
    """The owner of the cotangents of a container's attributes: its `__dict__`, since the container itself
    owns those of its items.
    """
    return getattr(o, "__dict__", o)


def write_attribute(o: Any, name: str, value: Any) -> Any:
    """`o.name = value`"""
    _check_dict(o, name, value)
    setattr(o, name, value)
    note_change(o)
    owner = _keeper(o) if isinstance(o, WITH_ITEMS) else o
    return None, effectful(lambda _: (NO, ZERO, NO, take(owner, name)))


def _check_dict(o: Any, name: str, value: Any) -> None:
    """NotDifferentiableError if `o.__dict__ = value` replaces attributes, also those of the class: what is
    read from then on would be taken for what was there before.
    """
    if name == "__dict__" and isinstance(value, dict):
        own = getattr(o, name, ())
        if any(key in own or isinstance(key, str) and in_class(type(o), key) is not None for key in value):
            refuse_dict(o)


def delete_attribute(o: Any, name: str, _: Any = None) -> Any:
    """`del o.name`"""
    delattr(o, name)
    note_change(o)
    return None, effectful(lambda _: (NO, ZERO, NO, NO))


def set_attribute(o: Any, name: str, value: Any) -> Any:
    """`object.__setattr__(o, name, value)`, as `__post_init__` of a frozen class calls it"""
    _check_dict(o, name, value)
    object.__setattr__(o, name, value)
    note_change(o)
    owner = _keeper(o) if isinstance(o, WITH_ITEMS) else o
    return None, effectful(lambda _: (NO, ZERO, NO, take(owner, name)))


# --- variables that nested functions share ------------------------------------------------------------------


def make_cell(x: Any) -> Any:
    """A cell, with its first value, for a variable that is rebound while nested functions share it."""
    cell = types.CellType() if x is ir.UNBOUND else types.CellType(x)
    own(cell, True)
    return cell, effectful(lambda _: (NO, take(cell, CELL)))


def plain_cell(x: Any) -> types.CellType:
    """Like `make_cell`, if no cotangent is needed."""
    return own(types.CellType() if x is ir.UNBOUND else types.CellType(x), False)


def cell_value(cell: types.CellType, name: str, free: bool) -> Any:
    """The value of a shared variable; raises Python's own error if it is unbound."""
    try:
        return cell.cell_contents
    except ValueError:
        missing = f"variable '{name}' where it is not associated with a value"
        if free:
            raise NameError(f"cannot access free {missing} in enclosing scope") from None
        raise UnboundLocalError(f"cannot access local {missing}") from None


def read_cell(cell: types.CellType, name: str, free: bool) -> Any:
    """The value of a shared variable and its pullback."""
    y = cell_value(cell, name, free)
    return y, _handed_out(cell, CELL, y, (NO, ZERO))


def write_cell(cell: types.CellType, name: str, value: Any) -> Any:
    """Assign to a shared variable, or unbind it."""
    if value is ir.UNBOUND:
        del cell.cell_contents
    else:
        cell.cell_contents = value
    note_change(cell)
    return None, effectful(lambda _: (NO, ZERO, NO, take(cell, CELL)))


# --- methods and operators ----------------------------------------------------------------------------------


# The handlers of methods and operators whose first argument is a container made during this sweep.
_LIST: dict[Any, Callable[..., Any]] = {
    list.append: append,
    list.pop: pop,
    list.insert: _mutator(lambda xs, k, item: list.insert(xs, k, item), brings=1),
    list.extend: _EXTEND,
    list.remove: remove,
    list.clear: clear,
    list.reverse: _mutator(lambda xs: list.reverse(xs)),
    list.sort: sort,
    list.__setitem__: write_item,
    list.__delitem__: delete_item,
    list.__getitem__: read_item,
    list.__init__: fill_list,
    deque.__init__: fill_deque,
    list.__iadd__: extend_in_place,
    list.__imul__: repeat_in_place,
    deque.__imul__: repeat_in_place,
    deque.append: _mutator(lambda xs, item: deque.append(xs, item), brings=0),
    deque.appendleft: _mutator(lambda xs, item: deque.appendleft(xs, item), brings=0),
    deque.extend: _EXTEND,
    deque.extendleft: _mutator(lambda xs, items: deque.extendleft(xs, items), brings=0, many=True),
    deque.pop: pop,
    deque.popleft: lambda xs: _without(xs, 0, deque.popleft(xs), (NO, ZERO)),
    deque.rotate: _mutator(lambda xs, n=1: deque.rotate(xs, n)),
    deque.reverse: _mutator(lambda xs: deque.reverse(xs)),
    deque.clear: clear,
}


_DICT: dict[Any, Callable[..., Any]] = {
    dict.get: get,
    dict.pop: pop_entry,
    dict.popitem: popitem,
    dict.setdefault: setdefault,
    dict.update: update,
    dict.clear: clear,
    dict.__setitem__: write_item,
    dict.__delitem__: delete_item,
    dict.__getitem__: read_item,
    dict.__init__: update,
    OrderedDict.__init__: update,
    dict.__ior__: update_in_place,
}


def _move_to_end(d: Any, key: Key, last: bool = True) -> Any:
    """`d.move_to_end(key, last)`: the entries keep their keys."""
    OrderedDict.move_to_end(d, key, last)
    note_change(d)
    return None, lambda _: (NO, ZERO, NO, NO)


_DICT[OrderedDict.move_to_end] = _move_to_end
_DICT |= {
    getattr(OrderedDict, name): _DICT[getattr(dict, name)]
    for name in ("pop", "setdefault", "update", "clear", "__setitem__", "__delitem__")
}
_METHODS = {**_LIST, **_DICT}


def method_of(target: Any, x: Any) -> Callable[..., Any] | None:
    """The handler of a method or operator on the container `x`; None if there is none, or if the changes of
    `x` are not recorded during this sweep.
    """
    if type(x) in NEVER_OWN or not is_followed(x):
        return None
    if (kind := KINDS.get(type(x))) is not None:
        target = type(x).__getitem__ if target is operator.getitem else target
        return kind.handlers.get(target) if is_hashable(target) else None
    if target is operator.getitem:
        return read_item if isinstance(x, (list, dict, deque, LoopItems)) else None
    return _METHODS.get(target) if is_hashable(target) else None


def is_hashable(x: Any) -> bool:
    """Whether the type of a value has a hash."""
    return type(x).__hash__ is not None


_OF_SETS = frozenset(name for name in methods_that(WRITES, set) if name.__name__ not in IN_PLACE_METHODS)


def changes_set(target: Any, x: Any) -> bool:
    """Whether `target` is a method that changes `x`, a set made during this sweep."""
    return isinstance(x, set) and is_own(x) and is_hashable(target) and target in _OF_SETS


def may_be_in_set(x: Any) -> bool:
    """Whether `x` can be in a set without losing its cotangent: it has none, or keeps it by identity."""
    if isinstance(x, (tuple, set, frozenset, list, range, dict)):
        return all(map(may_be_in_set, x))
    return isinstance(x, (int, str, bytes, type(None), np.integer, np.bool_)) or is_own(x) or callable(x)
