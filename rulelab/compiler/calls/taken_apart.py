"""The structure of arguments as code: functions that take the parts out of such arguments, and put a gradient
of the parts together again. In a call of a few microseconds, walking through lists would take most of the
time.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from numpy import ndarray

from ...parsing import compiled
from ...tangents.holding import attributes_of_callable
from ...tangents.projection import FieldGradients
from ...tangents.structural import field_names, is_namedtuple
from ..base.classes import in_class, is_author_class
from ..front.opening import Named, Object

CONTAINERS = frozenset({tuple, list, dict})
_NUMBERS = frozenset({float, int})
# The key of an argument. A value that is not a container has its type; an array its dtype and number of
# dimensions; a container its kind, with the keys of a dict, or the class (held weakly) and attribute names of
# an object, and then the key of each part.
Key = Any


def is_container(key: Key) -> bool:
    return type(key) is tuple and (key[0] in CONTAINERS or key[0] is Object or key[0] is Named)


def names_in(key: Key) -> tuple[Any, ...]:
    """The keys or names of the parts of a container, if they have any."""
    if key[0] is dict:
        return key[1]
    return key[2] if key[0] in (Object, Named) else ()


def inner(key: Key) -> tuple[Any, ...]:
    """The keys of the parts, from the key of their container."""
    if key[0] in (Object, Named):
        return key[3:]
    return key[2:] if key[0] is dict else key[1:]


def fields_of(x: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The attribute names and values of an object that holds nothing else and whose class lets them be read
    as they are, or those of a NamedTuple; both empty for any other value.
    """
    kind = type(x)
    if not is_author_class(kind):
        return (), ()
    if is_namedtuple(kind):
        return (kind._fields, tuple(x)) if _is_named(kind, kind._fields) else ((), ())
    names = tuple(getattr(x, "__dict__", ()))
    fields = field_names(kind)
    if (fields is not None and fields != names) or attributes_of_callable(x) is not None:
        return (), ()
    return (names, tuple(x.__dict__.values())) if _is_open(kind, names) else ((), ())


def _is_open(kind: type, names: tuple[str, ...]) -> bool:
    """Whether an object of a class has nothing but its dict, and returns its values under these names as they
    are; asked again each time, since a class may change.
    """
    return (
        kind.__getattribute__ is object.__getattribute__
        and not any(hasattr(kind, name) for name in _OF_OTHERS)
        and all(in_class(kind, name) is None or _is_default(kind, name) for name in names)
        and all(is_author_class(base) and "__slots__" not in vars(base) for base in kind.__mro__[:-1])
    )


def _is_default(kind: type, name: str) -> bool:
    """Whether the class attribute of this name is a plain value, such as the default of a field."""
    found = in_class(kind, name)
    return found is not None and not hasattr(type(found), "__get__") and not hasattr(type(found), "__set__")


def _is_named(kind: Any, names: tuple[str, ...]) -> bool:
    """Whether a NamedTuple returns its items as they are, also under these names."""
    return (
        kind._fields == names
        and not any(hasattr(kind, name) for name in _OF_NUMBERS)
        and all(getattr(kind, name) is getattr(tuple, name) for name in _OF_TUPLES)
        and all(type(in_class(kind, name)) is _FIELD for name in names)
    )


_OF_NUMBERS = ("__float__", "__complex__")  # numbers and arrays have one of them
_OF_OTHERS = (*_OF_NUMBERS, "__parts_by_name__", "__wrapped__", "__self__")
_OF_TUPLES = ("__getattribute__", "__iter__", "__getitem__", "__len__")
_FIELD = type(vars(namedtuple("_Point", "x"))["x"])


class _Written:
    """The lines of a function, and the values that they refer to."""

    def __init__(self, head: str) -> None:
        self.lines = [f"def {head}:"]
        self.values: dict[str, Any] = {"ndarray": ndarray}

    def value(self, x: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = x
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def made(self, name: str) -> Callable[..., Any]:
        namespace: dict[str, Any] = {}
        text = [f"def make({', '.join(self.values)}):", *(f"    {line}" for line in self.lines)]
        exec(compiled("\n".join([*text, f"    return {name}"]), "<structure>"), namespace)
        return namespace["make"](*self.values.values())


def taker(keys: tuple[Key, ...]) -> Callable[..., tuple[Any, ...] | None]:
    """A function that takes the parts out of arguments with these keys; it returns None for arguments that
    seem to have others.
    """
    names = [f"a{number}" for number in range(len(keys))]
    written, parts = _Written(f"take({', '.join(names)})"), list[str]()
    for name, key in zip(names, keys):
        _take(written, name, key, parts)
    written.line(f"return {_tuple(parts)}")
    return written.made("take")


def _take(written: _Written, name: str, key: Key, parts: list[str]) -> None:
    """Write the lines that check an argument against its key and add the names of its parts to `parts`."""
    if not is_container(key):
        if type(key) is tuple:
            dtype, ndim = written.value(key[0]), key[1]
            fits = f"type({name}) is ndarray and {name}.dtype is {dtype} and {name}.ndim == {ndim}"
        else:
            fits = f"type({name}) is {written.value(key)}"
        written.line(f"if not ({fits}): return None")
        parts.append(name)
        return
    names = [f"{name}_{number}" for number in range(len(inner(key)))]
    if key[0] in (Object, Named):
        of_class, given = written.value(key[1]), written.value(key[2])
        test = written.value(_is_open if key[0] is Object else _is_named)
        written.line(f"if type({name}) is not {of_class}() or not {test}(type({name}), {given}): return None")
        if key[0] is Object:
            written.line(f"if tuple({name}.__dict__) != {given}: return None")
        written.line(f"{_tuple(names)} = {name}{'.__dict__.values()' if key[0] is Object else ''}")
        for part, part_key in zip(names, inner(key)):
            _take(written, part, part_key, parts)
        return
    fits = f"type({name}) is {key[0].__name__} and len({name}) == {len(names)}"
    values = name
    if key[0] is dict:  # True equals 1, and a text equals one of NumPy's
        given, kinds = written.value(key[1]), written.value(tuple(map(type, key[1])))
        fits += f" and tuple({name}) == {given} and tuple(map(type, {name})) == {kinds}"
        values = f"{name}.values()"
    written.line(f"if not ({fits}): return None")
    written.line(f"{_tuple(names)} = {values}")
    for part, part_key in zip(names, inner(key)):
        _take(written, part, part_key, parts)


def closer(
    keys: tuple[Key, ...],
    asked: tuple[bool, ...],
    read: tuple[bool, ...],
    reached: tuple[bool, ...] = (),
    through: tuple[bool, ...] = (),
) -> Callable[[tuple[Any, ...]], tuple[Any, ...] | None]:
    """A function that makes the gradient for arguments with these keys from that for the parts: `asked` says
    which parts it is wanted for, and `read` which the function reads.

    It returns None if a part of a container has no gradient, or zero, or if all parts of one have none. A
    number that a cotangent has certainly `reached` may be zero. For the arguments in `through`, each number
    in the container itself has a cotangent: zero, if it has no gradient.
    """
    written = _Written("close(entries)")
    names = [f"e{number}" for number in range(len(asked))]
    written.line(f"{_tuple(names)} = entries")
    given = zip(names, asked, read, reached or (False,) * len(asked))
    _settle_zeros(written, given, keys, through or (False,) * len(keys))
    parts = zip(names, asked, read)
    found = [_close(written, key, parts)[0] or "None" for key in keys]
    written.line(f"return {_tuple(found)}")
    return written.made("close")


def _close(written: _Written, key: Key, parts: Iterator[tuple[str, bool, bool]]) -> tuple[str, bool]:
    """The text of the gradient of an argument or a part, empty if it is not asked for, and whether it is
    certainly not None.
    """
    if not is_container(key):
        name, asked, read = next(parts)
        return (name if asked else ""), asked and read
    found = [_close(written, part, parts) for part in inner(key)]
    texts = [text for text, _ in found]
    if not any(texts):
        return "", False
    if not any(sure for _, sure in found):
        written.line(f"if {' is None and '.join(filter(None, texts))} is None: return None")
    texts = [text or "None" for text in texts]
    if key[0] is Named:
        return f"{written.value(key[1])}()._make({_tuple(texts)})", True
    if key[0] in (dict, Object):
        items = [f"{written.value(name)}: {text}" for name, text in zip(names_in(key), texts)]
        made = f"{{{', '.join(items)}}}"
        if key[0] is dict:
            return made, True
        return f"{written.value(FieldGradients)}({written.value(key[1])}().__name__, {made})", True
    return (f"[{', '.join(texts)}]" if key[0] is list else _tuple(texts)), True


def _settle_zeros(
    written: _Written,
    parts: Iterator[tuple[str, bool, bool, bool]],
    keys: tuple[Key, ...],
    through: tuple[bool, ...],
) -> None:
    """Write the lines that return None if a part of a container has no gradient, or perhaps none; where all
    parts of one are given, those that give the others zeros.
    """
    nothing = written.value(_is_nothing)
    for key, all_given in zip(keys, through, strict=True):
        for name, asked, read, reached in [next(parts) for _ in range(_count(key))]:
            if asked and all_given and is_container(key) and _NUMBERS.issuperset(inner(key)):
                written.line(f"if {name} is None: {name} = 0.0")
            elif asked and is_container(key):
                there = f"type({name}) is ndarray and {name}.size and {name}.item(0)"
                there = f"type({name}) is float" if reached else there
                written.line(f"if not ({there}) and {nothing}({name}, {read}): return None")


def _count(key: Key) -> int:
    return sum(map(_count, inner(key))) if is_container(key) else 1


def _is_nothing(entry: Any, read: bool) -> bool:
    if type(entry) is ndarray:
        return not entry.any()
    return read if entry is None else not entry


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)},)" if texts else "()"
