"""The rules for an optional library, read when one of its functions is first used."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any


class LazyRules:
    """The rules for the functions of one optional module: `read()` returns their tables.

    No question about these functions has been answered before, so reading the rules changes no earlier
    answer. The methods of the module's classes are covered too, and those of classes defined in the modules
    `beside` it. If the rules themselves use functions with rules, these modules are named in
    `after` and are read first.

    >>> import colorsys
    >>> lazy = LazyRules("colorsys", tuple)
    >>> lazy.holds(colorsys.rgb_to_hls), lazy.holds(len)
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
        """Whether a target belongs to the module, by identity; does not import the module."""
        module = sys.modules.get(self.module)
        if module is None:
            return False
        if self._known:
            return id(target) in self._known
        known = frozenset(map(id, self._targets(module)))
        if not getattr(module.__spec__, "_initializing", False):  # otherwise it is incomplete
            self._known = known
        return id(target) in known

    def _targets(self, module: types.ModuleType) -> Iterator[Any]:
        """Yield everything callable in the module, and the methods of classes."""
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
        return f"LazyRules({self.module!r})"


def _methods(kind: type) -> list[Any]:
    """The functions defined in a class itself."""
    return [value for value in vars(kind).copy().values() if isinstance(value, types.FunctionType)]
