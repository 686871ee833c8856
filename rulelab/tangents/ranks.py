"""The indices of items in the order of their keys, as `sorted`, `max`, `min` and `heapq` determine it.

Keys are compared as by Python's own functions, in the same sequence and with the same errors.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np


def order_of(keys: Sequence[Any], reverse: Any = False, /) -> np.ndarray:
    """The indices of the keys in ascending order, or with `reverse` in descending order.

    >>> order_of([2.0, 1.0, 2.0], True)
    array([0, 2, 1])
    """
    places = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return np.array(places, dtype=np.int64)


def place_of_greatest(keys: Sequence[Any], /) -> int:
    """The index of the greatest key, of the first one if there are several.

    >>> place_of_greatest([1.0, 2.0, 2.0])
    1
    """
    return max(range(len(keys)), key=keys.__getitem__) if keys else max(keys)


def place_of_least(keys: Sequence[Any], /) -> int:
    """The index of the least key, of the first one if there are several.

    >>> place_of_least([2.0, 1.0, 1.0])
    1
    """
    return min(range(len(keys)), key=keys.__getitem__) if keys else min(keys)


def places_of_smallest(count: Any, keys: Sequence[Any], source: Any, /) -> np.ndarray:
    """The indices of the `count` least keys, as `heapq.nsmallest` finds them. It compares in another sequence
    if the iterable passed to it has no length, which shows with keys that have no order, such as nan. That
    iterable is `source`; an empty tuple stands for any with a length.

    >>> places_of_smallest(2, [3.0, 1.0, 2.0], ())
    array([1, 2])
    """
    places = heapq.nsmallest(count, _places(keys, source), key=keys.__getitem__)
    return np.array(places, dtype=np.int64)


def places_of_largest(count: Any, keys: Sequence[Any], source: Any, /) -> np.ndarray:
    """The indices of the `count` greatest keys, as `heapq.nlargest` finds them.

    >>> places_of_largest(2, [3.0, 1.0, 2.0], ())
    array([0, 2])
    """
    places = heapq.nlargest(count, _places(keys, source), key=keys.__getitem__)
    return np.array(places, dtype=np.int64)


def places_merged(items: Sequence[Any], ends: Sequence[int], reverse: bool, /) -> np.ndarray:
    """The indices of the items of several sequences, one after the other, each up to one of the `ends`, in
    the order in which `heapq.merge` finds them.

    >>> places_merged([1.0, 3.0, 2.0], (2, 3), False)
    array([0, 2, 1])
    """
    rows = [range(start, end) for start, end in zip((0, *ends), ends)]
    places = list(heapq.merge(*rows, key=items.__getitem__, reverse=reverse))
    return np.array(places, dtype=np.int64)


def _places(keys: Sequence[Any], source: Any) -> Any:
    places = range(len(keys))
    return places if hasattr(type(source), "__len__") else iter(places)


RANKING = (
    order_of,
    place_of_greatest,
    place_of_least,
    places_of_smallest,
    places_of_largest,
    places_merged,
)
