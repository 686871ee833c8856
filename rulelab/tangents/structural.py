"""Cotangents of tuples, lists, dicts, dataclasses and objects: an entry for each part that received one."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from ..errors import RuleShapeError, an
from .holding import attributes_of_callable
from .thunks import unthunk
from .zeros import AbstractZero, ZeroTangent, is_protocol

_WITHOUT_PARTS = (numbers.Number, np.ndarray, np.generic, str, bytes)


def is_namedtuple(cls):
    """Whether a class is a NamedTuple: a tuple with named fields."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_sequence(cls):
    """Whether the parts of `cls` are identified by position only."""
    return cls is tuple or cls is list or (issubclass(cls, (tuple, list)) and not hasattr(cls, "_fields"))


def is_mapping(cls):
    """Whether the parts of `cls` are identified by key."""
    return cls is dict or issubclass(cls, dict)


def field_names(cls):
    """The field names of a NamedTuple or dataclass; None for another class, whose objects may have any."""
    if is_namedtuple(cls):
        return cls._fields
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is None:
        return None
    kind = dataclasses._FIELD  # type: ignore[attr-defined]  # no class variables, no init-only variables
    return tuple([name for name, field in fields.items() if field._field_type is kind])


def parts(x):
    """The parts of a primal structure by key: positions, keys or field names. Empty if it has none."""
    cls = type(x)
    if (plain := plain_attributes(x)) is not None:
        return dict(plain)
    if (by_name := getattr(cls, "__parts_by_name__", None)) is not None:
        return by_name(x)
    if is_namedtuple(cls):
        return dict(zip(cls._fields, x))
    if is_sequence(cls):
        return dict(enumerate(x))
    if is_mapping(cls):
        return x
    return dict(_attributes(x))


def plain_attributes(x):
    """The attribute dict of an object, if it certainly contains all its parts: the class has the memory
    layout of one without slots, and does not define its parts otherwise. None for any other value.
    """
    cls = type(x)
    if (
        _room_of(cls) == _PLAIN_ROOM
        and not hasattr(cls, "__dataclass_fields__")
        and not hasattr(cls, "__parts_by_name__")
        and not isinstance(x, np.vectorize)  # its parts have names of their own
    ):
        return getattr(x, "__dict__", {})
    return None


def _room_of(cls):
    """The memory layout of the objects of a class. If it equals that of a class without slots and bases, its
    objects have no slots and no data of a C class.
    """
    return cls.__basicsize__, cls.__itemsize__, cls.__dictoffset__, cls.__weakrefoffset__


_PLAIN_ROOM = _room_of(type("Plain", (), {}))


def _attributes(x):
    names = field_names(type(x))
    if names is not None:
        yield from ((name, getattr(x, name)) for name in names if hasattr(x, name))
        return
    if (held := attributes_of_callable(x)) is not None:
        yield from held.items()
        return
    yield from getattr(x, "__dict__", {}).items()
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__"):
                try:
                    held = object.__getattribute__(x, name)
                except AttributeError:  # without a value; `__getattr__` may raise another error
                    continue
                yield name, held


class _Sums:
    """How entries are summed and scaled; set by `algebra`, which imports this module."""

    add: Callable[[Any, Any], Any]
    add_to_primal: Callable[[Any, Any], Any]
    scale: Callable[[Any, Any], Any]


SUMS = _Sums()


class _Maker(type):
    """Metaclass that keeps `at` off the instances: a primal may have a field of that name."""

    def at(cls, primal, key, x_bar):
        """The cotangent of `primal` that is `x_bar` for its part `key` and zero for all others.

        >>> Tangent.at([1.0, 2.0], -1, 5.0)
        Tangent(list, ZeroTangent(), 5.0)
        >>> Tangent.at((1.0, 2.0, 3.0), slice(2), (5.0, 6.0))
        Tangent(tuple, 5.0, 6.0, ZeroTangent())
        """
        if isinstance(primal, Tangent):  # as used in the computations of rules
            return one_part(class_of(primal), len(primal), key, x_bar)
        size = len(primal) if isinstance(primal, (tuple, list)) else None
        return one_part(type(primal), size, key, x_bar)


class Tangent(metaclass=_Maker):
    """The cotangent of a structure: it has the keys or fields of its primal, and may omit those that received
    nothing.

    It unpacks, has a length and is indexed as its primal is, and that of a dict has `items`, `keys`, `values`
    and `get`, which omit missing entries; `+` and a scalar `*` act on entries; `primal + tangent` is a
    primal. A missing entry reads as ZeroTangent.

    Parameters
    ----------
    cls : type
        The class of the primal: `tuple`, `list`, `dict`, a NamedTuple, a dataclass or another class.
    *items
        The entries of a tuple or a list; for a dict, one dict of them.
    **fields
        The fields of any other class, as in `Tangent(Point, x=1.0)`.

    Examples
    --------
    >>> t = Tangent(tuple, 1.0, 2.0)
    >>> a, b = t + t
    >>> a, b, len(t), t[-1]
    (2.0, 4.0, 2, 2.0)
    >>> (10.0, 20.0) + t
    (11.0, 22.0)
    """

    __slots__ = ("_cls", "_entries", "_length")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]  # makes it unhashable

    def __init__(self, cls, /, *items: Any, **fields: Any) -> None:
        if (cls is list or cls is tuple) and not fields:  # the most frequent case
            _fill(self, cls, dict(enumerate(items)), len(items))
            return
        _refuse_mixture(cls, items, fields)
        length = None
        if is_mapping(cls):
            entries = dict(items[0]) if items else dict(fields)
        elif is_sequence(cls):
            entries, length = dict(enumerate(items)), len(items)
        elif is_namedtuple(cls) and items:
            entries = dict(zip(cls._fields, items, strict=True))
        else:
            entries = fields
        _fill(self, cls, entries, length)

    def __getattr__(self, name):
        # Not methods, since other classes may have such fields.
        if name in _OF_MAPPINGS and is_mapping(self._cls):
            return getattr(MappingProxyType(self._entries), name)
        if is_protocol(name) or is_sequence(self._cls) or is_mapping(self._cls):
            raise AttributeError(f"the cotangent of {an(self._cls.__name__)} has no field {name!r}")
        names = field_names(self._cls)
        if names is not None and name not in names:
            raise AttributeError(_no_field(self._cls, name, names))  # so that hasattr works
        return self._entries.get(name, ZeroTangent())

    def __setattr__(self, name, value):
        raise TypeError("a Tangent cannot be changed; make a new one")

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Tangent(self._cls if is_sequence(self._cls) else tuple, *list(self)[key])
        if is_sequence(self._cls):
            key = _position(key, self._length)
        elif is_namedtuple(self._cls):
            key = self._cls._fields[_position(key, len(self._cls._fields))]
        elif not is_mapping(self._cls):
            _check_field(self._cls, key)
        return self._entries.get(key, ZeroTangent())

    def __iter__(self):
        if is_mapping(self._cls):
            return iter(self._entries)
        names = range(self._length) if is_sequence(self._cls) else field_names(self._cls)
        if names is None:
            names = self._entries
        return iter([self._entries.get(name, ZeroTangent()) for name in names])

    def __len__(self):
        if self._length is not None:
            return self._length
        names = None if is_mapping(self._cls) else field_names(self._cls)
        return len(self._entries if names is None else names)

    def __bool__(self):
        return True  # the cotangent of an empty tuple still is one

    def __eq__(self, other):
        if not isinstance(other, Tangent):
            return NotImplemented
        return (
            self._cls is other._cls and self._length == other._length and _same(self._entries, other._entries)
        )

    def __repr__(self):
        name = self._cls.__name__
        if is_mapping(self._cls):
            return f"Tangent({name}, {self._entries!r})"
        if is_sequence(self._cls):
            shown = [repr(self[i]) for i in range(min(self._length, 8))] + ["…"] * (self._length > 8)
            return f"Tangent({', '.join([name, *shown])})"
        return f"Tangent({', '.join([name, *(f'{k}={v!r}' for k, v in self._entries.items())])})"

    def __reduce__(self):
        return make, (self._cls, self._entries, self._length)

    def __add__(self, other):
        return SUMS.add(self, other)

    def __radd__(self, other):
        is_primal = type(other) is self._cls
        return SUMS.add_to_primal(other, self) if is_primal else SUMS.add(other, self)

    def __mul__(self, other):
        return SUMS.scale(other, self)

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + SUMS.scale(-1, other)

    def __truediv__(self, other):
        return self * (1 / other)


_OF_MAPPINGS = frozenset(("get", "items", "keys", "values"))


def one_part(cls, size, key, x_bar):
    """What `Tangent.at` returns for a structure of this class and, for a list or tuple, of this size.

    >>> one_part(dict, None, "a", 5.0)
    Tangent(dict, {'a': 5.0})
    """
    if isinstance(key, slice):
        return by_positions(cls, size, dict(zip(range(size)[key], x_bar, strict=True)))
    by_position = is_sequence(cls) or (is_namedtuple(cls) and not isinstance(key, str))
    return by_positions(cls, size, {key: x_bar}) if by_position else make(cls, {key: x_bar})


def by_positions(cls, size, bars):
    """The cotangent of a list, tuple or NamedTuple with these entries by position.

    >>> by_positions(tuple, 2, {-1: 5.0})
    Tangent(tuple, ZeroTangent(), 5.0)
    """
    entries = {_position(key, size): x_bar for key, x_bar in bars.items()}
    if is_namedtuple(cls):
        return make(cls, {cls._fields[position]: x_bar for position, x_bar in entries.items()})
    return make(cls, entries, size)


def make(cls, entries, length=None):
    """Return a Tangent of class `cls` with these entries by key; `length` for a tuple or a list."""
    tangent = object.__new__(Tangent)
    _fill(tangent, cls, entries, length)
    return tangent


def _fill(tangent, cls, entries, length):
    # The most frequent cases.
    if cls is not tuple and cls is not list and cls is not dict and cls is not FunctionType:
        names = None if is_sequence(cls) or is_mapping(cls) else field_names(cls)
        if names is not None:
            for name in entries:
                _check_field(cls, name)
    put = object.__setattr__
    put(tangent, "_cls", cls)
    put(tangent, "_entries", entries)
    put(tangent, "_length", length)


def _refuse_mixture(cls, items, fields):
    if not isinstance(cls, type):
        raise RuleShapeError(f"Tangent takes the class of its primal first, not {cls!r}")
    if issubclass(cls, _WITHOUT_PARTS):
        raise RuleShapeError(
            f"{an(cls.__name__)} has no parts, so it has no Tangent",
            fixes=("use a number as the cotangent of a number, an array as that of an array",),
        )
    if is_mapping(cls) and (len(items) > 1 or not isinstance((*items, {})[0], Mapping)):
        raise RuleShapeError(
            f"the entries of {an(cls.__name__)} go by key: Tangent({cls.__name__}, {{'a': 1.0}})"
        )
    positional = is_sequence(cls) or is_mapping(cls) or is_namedtuple(cls)
    if items and (fields or not positional):
        raise RuleShapeError(f"the fields of {cls.__name__} go by name: Tangent({cls.__name__}, x=…)")
    if fields and is_sequence(cls):
        raise RuleShapeError(
            f"the entries of {an(cls.__name__)} go by position: Tangent({cls.__name__}, 1.0, 2.0)"
        )
    if is_namedtuple(cls) and items and len(items) != len(field_names(cls)):
        raise RuleShapeError(
            f"{cls.__name__} has {len(field_names(cls))} fields, but its Tangent got {len(items)}"
        )


def _check_field(cls, name):
    names = field_names(cls)
    if not isinstance(name, str):
        raise RuleShapeError(f"the fields of {cls.__name__} go by name, not by {name!r}")
    if names is not None and name not in names:
        raise RuleShapeError(_no_field(cls, name, names))


def _no_field(cls, name, names):
    return f"{cls.__name__} has no field {name!r}; it has {', '.join(names)}"


def _position(key, size):
    try:
        return range(size)[key]
    except IndexError:
        raise RuleShapeError(f"position {key} of a cotangent with {size} entries") from None


def _same(left, right):
    zero = ZeroTangent()
    pairs = [(left.get(key, zero), right.get(key, zero)) for key in left.keys() | right.keys()]
    return all(a is b or _equal(a, b) for a, b in pairs)


def _equal(a, b):
    if isinstance(a, (AbstractZero, Tangent)) or isinstance(b, (AbstractZero, Tangent)):
        return bool(a == b)
    return np.shape(a) == np.shape(b) and bool(np.all(a == b))


def entries_of(tangent):
    """The entries that are present, by key. Must not be written to."""
    return tangent._entries


def class_of(tangent):
    """The class of the primal of a Tangent."""
    return tangent._cls


def from_raw(x_bar):
    """A plain tuple, list, dict or NamedTuple of cotangents as a Tangent; None in it counts as missing."""
    cls = type(x_bar)
    given = {key: value for key, value in parts(x_bar).items() if value is not None}
    return make(cls, given, len(x_bar) if is_sequence(cls) else None)


def is_raw(x_bar):
    """Whether a value is a plain container that may hold cotangents."""
    return isinstance(x_bar, (tuple, list, dict))


def canonicalize(tangent: Any) -> Tangent:
    """The same cotangent with every field present, in the order of the primal; anything else is returned
    unchanged.

    The entries themselves are not changed, not even Tangents among them. Dicts, and objects of a plain class,
    do not define which parts they have, so theirs are returned unchanged.

    >>> canonicalize(Tangent.at((1.0, 2.0), 1, 5.0))
    Tangent(tuple, ZeroTangent(), 5.0)
    """
    tangent = unthunk(tangent)
    if not isinstance(tangent, Tangent):
        return tangent
    cls = tangent._cls
    if is_mapping(cls):
        return tangent
    names = range(tangent._length) if is_sequence(cls) else field_names(cls)
    if names is None:
        return tangent
    return make(cls, {name: tangent._entries.get(name, ZeroTangent()) for name in names}, tangent._length)
