"""The places of items in the order of their keys: what `sorted`, `max` and `min` do with a `key`.

They compare the keys as Python's own functions do, in the same order and with the same errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def order_of(keys: Sequence[Any], reverse: Any = False, /) -> np.ndarray:
    """The places of the keys in ascending order, or in descending order.

    >>> order_of([2.0, 1.0, 2.0], True)
    array([0, 2, 1])
    """
    places = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return np.array(places, dtype=np.int64)


def place_of_greatest(keys: Sequence[Any], /) -> int:
    """The place of the greatest key, the first of several.

    >>> place_of_greatest([1.0, 2.0, 2.0])
    1
    """
    return max(range(len(keys)), key=keys.__getitem__) if keys else max(keys)


def place_of_least(keys: Sequence[Any], /) -> int:
    """The place of the least key, the first of several.

    >>> place_of_least([2.0, 1.0, 1.0])
    1
    """
    return min(range(len(keys)), key=keys.__getitem__) if keys else min(keys)


RANKING = (order_of, place_of_greatest, place_of_least)
