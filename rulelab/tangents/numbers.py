"""Take the numbers and arrays out of a cotangent, by their paths, and put them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .algebra import is_number
from .missing import NotImplementedTangent
from .pairings import parts_of, rebuilt
from .thunks import unthunk
from .zeros import AbstractZero, ZeroTangent

Path = tuple[Any, ...]


def numbers_in(bar: Any, path: Path = (), missing: bool = False) -> dict[Path, Any]:
    """The numbers and arrays in a cotangent, by their paths; a zero contains none. Raises
    NotImplementedTangentError if one is missing, unless `missing` asks to include its placeholder.

    >>> numbers_in({"a": np.ones(2), "b": (1.0, ZeroTangent())})
    {('a',): array([1., 1.]), ('b', 0): 1.0}
    >>> list(numbers_in((NotImplementedTangent("by the order"), 2.0), missing=True))
    [(0,), (1,)]
    """
    bar = unthunk(bar)
    if isinstance(bar, NotImplementedTangent):
        if missing:
            return {path: bar}
        raise bar.error()
    if isinstance(bar, AbstractZero) or bar is None:
        return {}
    if isinstance(bar, np.ndarray) or is_number(bar):
        return {path: bar}
    found = (parts_of(bar) or {}).items()
    return {at: x for key, part in found for at, x in numbers_in(part, (*path, key), missing).items()}


def with_numbers(bar: Any, numbers: dict[Path, Any], path: Path = ()) -> Any:
    """A cotangent of the same structure with these numbers, and ZeroTangent() where they have none. What is
    missing in it stays missing.

    >>> with_numbers({"a": np.ones(2), "b": (1.0, 2.0)}, {("b", 0): 3.0})
    {'a': ZeroTangent(), 'b': (3.0, ZeroTangent())}
    """
    bar = unthunk(bar)
    if isinstance(bar, NotImplementedTangent):
        return bar
    if isinstance(bar, AbstractZero) or bar is None or isinstance(bar, np.ndarray) or is_number(bar):
        return numbers.get(path, ZeroTangent())
    found = (parts_of(bar) or {}).items()
    return rebuilt(bar, {key: with_numbers(part, numbers, (*path, key)) for key, part in found})
