"""Iteration over a value and its tangent in step: each item is taken together with its tangent.

An iterator and the iterator of its tangents are two objects, which must never get out of step. So code that
takes items takes pairs of them, through `pairs`, and code that returns an iterator makes two from one of
pairs, with `split`. Everything is lazy and built from Python's iterators: an item is made when it is taken,
and the two sides of a split share a queue.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import An, MutationError, NotDifferentiableError
from ..own_code import stands_in
from .shadows import is_constant
from .zeros import NoTangent

stands_in(__file__)

_VALUES: Any = type({}.values())
_ITEMS: Any = type({}.items())
_IN_C = (list, tuple, dict, np.ndarray, _VALUES, _ITEMS)


def pairs(config: Any, x: Any, x_dot: Any) -> Iterator[Any]:
    """Return an iterator of `(item, tangent of the item)` over anything that Python can iterate over.

    `config` gives derivatives of the `__iter__`, `__next__` or `__getitem__` of an author's class.

    >>> list(pairs(None, {"a": 2.0}.items(), {"a": 5.0}.items()))
    [(('a', 2.0), (NoTangent(), 5.0))]
    """
    if is_constant(x_dot):
        return map(beside_nothing, x)
    kind = type(x)
    if authors_method(kind, "__iter__") is not None:
        return _of_object(config, x, x_dot)
    if isinstance(x, dict):  # its keys
        return map(beside_nothing, x)
    if isinstance(x, _ITEMS):
        return zip(x, map(beside_entry, x_dot))
    if not isinstance(x, _IN_C) and not hasattr(kind, "__iter__") and hasattr(kind, "__getitem__"):
        return map(_numbered(config, x, x_dot), itertools.count())
    return zip(x, x_dot)


def authors_method(kind: type, name: str) -> Any:
    """The method of a class if it is an author's Python function, else None."""
    found = getattr(kind, name, None)
    ours = kind.__module__.partition(".")[0] == "rulelab"
    return found if isinstance(found, types.FunctionType) and not ours else None


def _of_object(config: Any, x: Any, x_dot: Any) -> Iterator[Any]:
    """Iterate through the `__iter__` of an author's class, which may return an iterator of an author's
    class.
    """
    items, dots = config.frule_via_ad((NoTangent(), x_dot), type(x).__iter__, x)
    method = authors_method(type(items), "__next__")
    if method is not None:

        def following(_: None) -> Any:  # StopIteration from __next__ ends the map
            return config.frule_via_ad((NoTangent(), dots), method, items)

        return map(following, itertools.repeat(None))
    return pairs(config, items, dots)


def _numbered(config: Any, x: Any, x_dot: Any) -> Callable[[int], Any]:
    def item(number: int) -> Any:
        try:
            zero, method = NoTangent(), type(x).__getitem__
            return config.frule_via_ad((zero, x_dot, zero), method, x, number)
        except IndexError:
            raise StopIteration from None  # ends the map, as IndexError ends an iteration through __getitem__

    return item


def split(rows: Iterator[Any]) -> tuple[Any, Any]:
    """Two iterators, over the first and over the second parts of the pairs in `rows`.

    >>> xs, dots = split(iter([(1.0, 0.5), (2.0, 0.25)]))
    >>> next(xs), next(dots), next(xs), next(dots)
    (1.0, 0.5, 2.0, 0.25)
    """
    one, other = itertools.tee(rows)
    return map(first, one), map(second, other)


def split_rows(rows: Iterator[Any]) -> tuple[Any, Any]:
    """The same for rows of pairs: an iterator of tuples of items, and one of tuples of their tangents."""
    one, other = itertools.tee(rows)
    return map(firsts, one), map(seconds, other)


def beside_nothing(x: Any) -> tuple[Any, Any]:
    """A constant item, paired with its tangent."""
    return x, NoTangent()


class Nothings:
    """Iterator over the tangents of the items of a constant: it ends when the items do."""

    def __init__(self, x: Any) -> None:
        self.items = iter(x)

    def __iter__(self) -> Nothings:
        return self

    def __next__(self) -> Any:
        next(self.items)
        return NoTangent()


def beside_entry(entry: Any) -> tuple[Any, Any]:
    """The tangent of `(key, value)`, from the key and the tangent of the value."""
    return NoTangent(), entry[1]


def beside_number(x_dot: Any) -> tuple[Any, Any]:
    """The tangent of `(number, item)`."""
    return NoTangent(), x_dot


def first(pair: Any) -> Any:
    """The item of a pair."""
    return pair[0]


def second(pair: Any) -> Any:
    """The tangent of a pair."""
    return pair[1]


def firsts(row: Any) -> tuple[Any, ...]:
    """The items of a row of pairs."""
    return tuple([pair[0] for pair in row])


def seconds(row: Any) -> tuple[Any, ...]:
    """The tangents of a row of pairs."""
    return tuple([pair[1] for pair in row])


def is_iterator(x: Any) -> bool:
    """Whether taking an item of `x` changes it, so that its tangent must be taken as well."""
    return hasattr(type(x), "__next__")


def check_in_step(x: Any, x_dot: Any) -> None:
    """Raise MutationError if a container and its tangent differ in length: unobserved code has changed it."""
    if len(x) != len(x_dot):
        raise MutationError(
            f"{An(type(x).__name__)} was changed by a function whose code cannot be followed, and its "
            "tangent was not",
            fixes=("change it in a function of your own", "write an frule for the function that changes it"),
            read="limitations#iteration",
        )


def check_keys(keys: list, keys_dot: Any) -> None:
    """Check each key of a new dict with `check_key`."""
    if not is_constant(keys_dot):
        for key, key_dot in zip(keys, keys_dot, strict=True):
            check_key(key, key_dot)


def check_key(key: Any, key_dot: Any) -> None:
    """Raise NotDifferentiableError for a dict key or set item that is a number and varies."""
    if is_constant(key_dot):
        return
    if isinstance(key, (float, complex, np.inexact)):
        if key_dot != 0.0:
            raise NotDifferentiableError(
                "A number that varies is the key of a dict or an item of a set: its derivative would be lost",
                fixes=("use rl.ignore_derivatives(key) if it is a constant", "use a list of pairs"),
                read="limitations#iteration",
            )
    elif isinstance(key, (tuple, frozenset)):
        for part, part_dot in zip(key, key_dot, strict=True):
            check_key(part, part_dot)
    elif not isinstance(key, (int, np.integer, np.bool_, str, bytes, type(None))):
        raise NotDifferentiableError(
            f"{An(type(key).__name__)} that varies is the key of a dict or an item of a set",
            fixes=("use a list of pairs",),
            read="limitations#iteration",
        )
