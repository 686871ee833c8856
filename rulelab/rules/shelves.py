"""The rules of a library that need not be there, read when one of its functions is first met."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class Shelf:
    """The rules for the functions of one module that others import: `read()` gives their tables.

    Nobody has been told anything about these functions before, so reading them changes no answer that was
    given.

    >>> import colorsys
    >>> shelf = Shelf("colorsys", tuple)
    >>> shelf.holds(colorsys.rgb_to_hls), shelf.holds(len)
    (True, False)
    """

    def __init__(self, module: str, read: Callable[[], Any]) -> None:
        self.module = module
        self.read = read
        self._known: frozenset[int] = frozenset()

    def holds(self, target: Any) -> bool:
        """Whether a target is something that the module has, by identity; without importing it."""
        module = sys.modules.get(self.module)
        if module is None:
            return False
        if self._known:
            return id(target) in self._known
        known = frozenset(id(value) for value in vars(module).copy().values() if callable(value))
        if not getattr(module.__spec__, "_initializing", False):  # else it has not everything yet
            self._known = known
        return id(target) in known

    def __repr__(self) -> str:
        return f"Shelf({self.module!r})"
