"""Containers made from others: dict displays with `**`, dict comprehensions, the rest of a mapping pattern,
the columns of `zip(*rows)`.

Beside each function is its rule, which returns `(y, back)` for the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import items_refused
from ...tangents.structural import make
from ...tangents.zeros import AbstractZero
from . import support, walks
from .outlines import entries_in

NO, ZERO = support.NO, support.ZERO


def merged(*parts: Any) -> dict[Any, Any]:
    """`{**a, **b}`: later parts win."""
    found: dict[Any, Any] = {}
    for part in parts:
        if not hasattr(part, "keys"):
            raise TypeError(f"'{type(part).__name__}' object is not a mapping")
        found.update(part)
    return found


def merged_rule(*parts: Any) -> tuple[dict[Any, Any], Callable[[Any], Any]]:
    """The rule of `merged`: the cotangent of an entry goes to the last part that has its key."""
    y = merged(*parts)
    giver = {key: number for number, part in enumerate(parts) for key in part.keys()}
    kinds = [_kind_of(part) for part in parts]
    return y, lambda y_bar: (NO, *_divided(y_bar, giver, kinds))


def keywords(*parts: Any) -> dict[str, Any]:
    """The keyword arguments of a call with `**`; raises TypeError if one occurs twice."""
    found: dict[str, Any] = {}
    for part in parts:
        if not hasattr(part, "keys"):
            raise TypeError(f"argument after ** must be a mapping, not {type(part).__name__}")
        for key in part.keys():
            if not isinstance(key, str):
                raise TypeError("keywords must be strings")
            if key in found:
                raise TypeError(f"got multiple values for keyword argument '{key}'")
            found[key] = part[key]
    return found


def keywords_rule(*parts: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """The rule of `keywords`: the cotangent of an entry goes to the part that has its key."""
    return keywords(*parts), merged_rule(*parts)[1]


def paired(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """`{k: v for ...}` from its keys and values, in order."""
    return dict(zip(keys, values, strict=True))


def paired_rule(keys: list[Any], values: list[Any]) -> tuple[dict[Any, Any], Callable[[Any], Any]]:
    """The rule of `paired`: a value replaced by a later one with the same key gets no cotangent."""
    place, count = {key: number for number, key in enumerate(keys)}, len(values)

    def paired_pullback(y_bar: Any) -> Any:
        bars = entries_in(y_bar)
        values_bar = {place[key]: bar for key, bar in bars.items() if key in place}
        return NO, NO, make(list, values_bar, count) if bars else ZERO

    return paired(keys, values), paired_pullback


def left_over(mapping: Any, keys: tuple[Any, ...]) -> dict[Any, Any]:
    """What `**rest` of a mapping pattern binds: a dict of all but these keys."""
    rest = dict(mapping)
    for key in keys:
        del rest[key]
    return rest


def left_over_rule(mapping: Any, keys: tuple[Any, ...]) -> tuple[dict[Any, Any], Callable[[Any], Any]]:
    """The rule of `left_over`: the entries keep their keys."""
    kind = _kind_of(mapping)
    return left_over(mapping, keys), lambda y_bar: (NO, make(kind, entries_in(y_bar)), NO)


def transposed(rows: Any) -> Any:
    """The columns of `zip(*rows)`: a list if all rows have lengths, else an iterator."""
    rows = list(rows)
    columns = zip(*rows)
    return list(columns) if all(hasattr(row, "__len__") for row in rows) else columns


def transposed_rule(rows: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The rule of `transposed`: the cotangents of the columns are transposed back into those of the rows."""
    held = list(rows)
    for x in (rows, *held):
        if not isinstance(x, (list, tuple, np.ndarray)):
            raise items_refused(type(x))

    def transposed_pullback(y_bar: Any) -> Any:
        y_bar = support.value(y_bar)
        if isinstance(y_bar, AbstractZero):
            return NO, y_bar
        count = min(map(len, held), default=0)
        columns = [support.part(y_bar, number) for number in range(count)]
        rows_bar = [
            walks.gather(row, [support.part(column, number) for column in reversed(columns)])
            for number, row in enumerate(held)
        ]
        return NO, walks.gather(rows, rows_bar[::-1])

    return transposed(held), transposed_pullback


COLLECTORS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "merged": (merged, merged_rule),
    "keywords": (keywords, keywords_rule),
    "paired": (paired, paired_rule),
    "left_over": (left_over, left_over_rule),
    "transposed": (transposed, transposed_rule),
}


def _kind_of(part: Any) -> type:
    """The class of a part's cotangent."""
    if isinstance(part, dict):
        return type(part)
    if isinstance(part, Mapping):
        raise items_refused(type(part), do="convert it to a dict first")
    return dict


def _divided(y_bar: Any, giver: Mapping[Any, int], kinds: list[type]) -> list[Any]:
    given: list[dict[Any, Any]] = [{} for _ in kinds]
    for key, bar in entries_in(y_bar).items():
        given[giver[key]][key] = bar
    return [make(kind, bars) for kind, bars in zip(kinds, given, strict=True)]
