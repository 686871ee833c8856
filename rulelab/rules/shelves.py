"""The rules of a library that need not be there, read when one of its functions is first met."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any


class Shelf:
    """The rules for the functions of one module that others import: `read()` gives their tables.

    Nobody has been told anything about these functions before, so reading them changes no answer that was
    given. Methods of its classes are among them, and of the classes that the modules `beside` it define. What
    rules are made of may have rules itself: the shelves of the modules `after` which this one comes are read
    before it.

    >>> import colorsys
    >>> shelf = Shelf("colorsys", tuple)
    >>> shelf.holds(colorsys.rgb_to_hls), shelf.holds(len)
    (True, False)
    """

    def __init__(
        self,
        module: str,
        read: Callable[[], Any],
        beside: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
    ) -> None:
        self.module = module
        self.read = read
        self.beside = beside
        self.after = after
        self._known: frozenset[int] = frozenset()

    def holds(self, target: Any) -> bool:
        """Whether a target is something that the module has, by identity; without importing it."""
        module = sys.modules.get(self.module)
        if module is None:
            return False
        if self._known:
            return id(target) in self._known
        known = frozenset(map(id, self._targets(module)))
        if not getattr(module.__spec__, "_initializing", False):  # else it has not everything yet
            self._known = known
        return id(target) in known

    def _targets(self, module: types.ModuleType) -> Iterator[Any]:
        """All that can be called of the module, and the methods of classes."""
        for value in vars(module).copy().values():
            if callable(value):
                yield value
            if isinstance(value, type):
                yield from _methods(value)
        for name in self.beside:
            other = sys.modules.get(name)
            for value in [] if other is None else vars(other).copy().values():
                if isinstance(value, type) and value.__module__ == name:
                    yield from _methods(value)

    def __repr__(self) -> str:
        return f"Shelf({self.module!r})"


def _methods(kind: type) -> list[Any]:
    """The functions that a class has of its own."""
    return [value for value in vars(kind).copy().values() if isinstance(value, types.FunctionType)]
