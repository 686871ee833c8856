"""The indices of items in the order of their keys, as `sorted`, `max` and `min` with a `key` determine it.

Keys are compared as by Python's own functions, in the same sequence and with the same errors.
"""

from __future__ import annotations

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


RANKING = (order_of, place_of_greatest, place_of_least)
