"""Check that a part of a function that runs more than once does not change what it is given or captures."""

from __future__ import annotations

import operator
import types
from itertools import chain
from typing import Any

import numpy as np

from ..compiler.memory import heap
from ..compiler.memory.holding import parts_inside
from ..compiler.memory.lending import may_be_lent
from ..compiler.memory.operands import describe
from ..errors import MutationError
from ..tangents.contents import contents_of, fill
from ..tangents.holding import inside as held_inside


class ArgumentSnapshot:
    """A snapshot of the arrays and containers in `x`, and in what the function `f` captures."""

    def __init__(self, f: Any, x: Any) -> None:
        self._arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self._handed: list[tuple[Any, Any]] = []  # containers with their contents
        self._captured: list[tuple[Any, Any]] = []
        self._seen: set[int] = set()
        self._twice: set[int] = set()  # objects that occur twice have a tangent for each place
        self._look(x, self._handed)
        self._look(f, self._captured)

    def _look(self, x: Any, containers: list[tuple[Any, Any]]) -> None:
        if isinstance(x, np.ndarray):
            if x.flags.writeable and id(x) not in self._seen and not x.dtype.hasobject:
                self._arrays.append((x, x.copy()))
                self._seen.add(id(x))
            return
        if isinstance(x, heap.LEAVES):
            return
        if id(x) in self._seen:
            self._twice.add(id(x))
            return
        self._seen.add(id(x))
        if isinstance(x, types.FunctionType):
            for part in held_inside(x):
                self._look(part, self._captured)
        elif held := list(held_inside(x)):
            for part in held:
                self._look(part, containers)
        elif isinstance(x, tuple):
            for part in x:
                self._look(part, containers)
        elif may_be_lent(x):
            containers.append((x, contents_of(x)))
            for part in parts_inside(x):
                self._look(part, containers)

    def check(self, name: str) -> None:
        """Raise MutationError, with everything restored, if an array or a container that was passed has
        changed.

        The reverse sweep would not see such a change. A captured list may change, if it occurs only once: the
        author may keep a record in it.
        """
        arrays = (x for x, before in self._arrays if not _is_same(x, before))
        twice = [pair for pair in self._captured if id(pair[0]) in self._twice]
        containers = (x for x, before in (*self._handed, *twice) if not _has(x, before))
        changed = next(chain(arrays, containers), None)
        if changed is None:
            return
        shown = describe(changed)
        self.put_back()
        raise MutationError(
            f"The function given to {name} changes what may be used elsewhere, {shown}",
            fixes=("let it write to a copy", "create the array inside the function, and return it"),
            read="limitations#array-mutation",
        )

    def put_back(self) -> None:
        """Restore the contents of all of them."""
        for x, before in (*self._handed, *self._captured):
            if not _has(x, before):
                fill(x, before)
        for x, before in self._arrays:
            if not _is_same(x, before):
                x[...] = before


def _is_same(x: np.ndarray, before: np.ndarray) -> bool:
    return x.shape == before.shape and np.array_equal(x, before, equal_nan=x.dtype.kind in "fc")


def _has(x: Any, before: Any) -> bool:
    """Whether a container still holds the same objects."""
    now = contents_of(x)
    if isinstance(now, list):
        return len(now) == len(before) and all(map(operator.is_, now, before))
    return list(now) == list(before) and all(now[key] is before[key] for key in now)
