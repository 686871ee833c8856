"""What cached functions return while a derivative is computed.

A function behind `functools.cache` is differentiated as if it were not cached, so it runs again where a plain
call would be answered from the cache. That is right only if it returns the same again.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, Place


class CachedAnswers:
    """The results of the cached functions that one run of a differentiated function has called."""

    def __init__(self) -> None:
        self._found: dict[Any, Any] = {}  # keeps the functions and arguments, so that no identity is reused

    def check(
        self, held: Any, args: tuple[Any, ...], words: dict[str, Any], y: Any, place: Place | None = None
    ) -> None:
        """Raise NotDifferentiableError unless `y`, the result of a call of the cached function `held`, equals
        that of an earlier call with the same arguments.
        """
        typed = held.cache_parameters()["typed"]
        try:
            key = (held, functools._make_key(args, words, typed))
            before = self._found.setdefault(key, y)
        except TypeError:  # arguments without a hash: Python's own error in a plain call
            return
        if before is not y and not _is_same(before, y, 0):
            name = getattr(held, "__name__", "that is called")
            raise NotDifferentiableError(
                f"The cached function {name} returns something else when it runs again with the same "
                "arguments, which a plain call answers from the cache",
                place=place,
                fixes=("do not change what it reads or returns", "take the cache away"),
                read="limitations#iteration",
            )


_DEPTH = 20


def _is_same(x: Any, y: Any, depth: int) -> bool:
    """Whether two values have equal contents; those of iterators are not known."""
    if x is y:
        return True
    if type(x) is not type(y) or depth > _DEPTH:
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    if isinstance(x, types.FunctionType):
        return x.__code__ is y.__code__
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(_is_same(a, b, depth + 1) for a, b in zip(x, y))
    if isinstance(x, dict):
        return list(x) == list(y) and all(_is_same(a, b, depth + 1) for a, b in zip(x.values(), y.values()))
    if hasattr(x, "__dict__"):
        return _is_same(vars(x), vars(y), depth + 1)
    try:
        return bool(x == y) or bool(x != x and y != y)
    except (TypeError, ValueError):  # objects that cannot be compared
        return False
