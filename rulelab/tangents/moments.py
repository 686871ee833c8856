"""What a function reaches that may change, as it was at one moment: to compare with, or put back for a while.

The derivative of a derivative runs a function again, later. It has to find what the function found.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError
from .classes import made_by_python
from .contents import contents_of, fill
from .holding import UNBOUND, contents, inside

# It remembers what it has compiled.
_MACHINERY = ("rulelab.compiler", "rulelab.rules", "rulelab.tangents.moments")


class Moment:
    """The contents of every container, object and captured variable that can be reached from `roots`.

    As a context it puts back for the time of the block what `mine` says yes to. With `arrays` it also knows
    whether the numbers in an array have changed, which it cannot put back.
    """

    def __init__(
        self, *roots: Any, arrays: bool = False, mine: Callable[[Any], bool] = lambda x: True
    ) -> None:
        self._now: list[tuple[Any, Any]] = []
        self._roots, self._arrays = roots, arrays
        self.take(mine)

    def take(self, mine: Callable[[Any], bool] = lambda x: True) -> None:
        """Take everything as it is now."""
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._mine: set[int] = set()
        seen: dict[int, Any] = {}  # which also keeps the identities from being used again
        waiting = list(self._roots)
        while waiting:
            x = waiting.pop()
            if id(x) in seen:
                continue
            seen[id(x)] = x
            state = self._state(x)
            if state is not None:
                self._kept[id(x)] = x, state
                if mine(x):
                    self._mine.add(id(x))
            waiting.extend(_inside(x, state))

    def changed(self) -> list[Any]:
        """What has other contents now."""
        return [x for x, state in self._kept.values() if not _same(state, self._state(x))]

    def __enter__(self) -> Moment:
        self._now = [(x, self._state(x)) for x in self.changed() if id(x) in self._mine]
        for x, _ in self._now:
            _fill(x, self._kept[id(x)][1])
        return self

    def __exit__(self, *_: object) -> None:
        changed, self._now = self._now, []
        for x in self.changed():
            if id(x) in self._mine:
                _fill(x, self._kept[id(x)][1])
        for x, now in changed:
            _fill(x, now)

    def _state(self, x: Any) -> Any:
        """The contents of what may change; None for anything else."""
        if isinstance(x, types.CellType):
            return [contents(x)]
        if isinstance(x, np.ndarray):
            return [x.shape, x.dtype.str, x.tobytes()] if self._arrays and not x.dtype.hasobject else None
        return contents_of(x) if isinstance(x, (list, deque, dict)) or _is_object(x) else None


def _inside(x: Any, state: Any) -> Iterator[Any]:
    """What can be reached from a value in one step."""
    if isinstance(x, np.ndarray):
        return
    if isinstance(state, dict):
        yield from state.values()
    elif state is not None or isinstance(x, tuple):
        yield from state if state is not None else x
    else:
        yield from inside(x, cells=True)
    if isinstance(x, dict) and hasattr(x, "default_factory"):
        yield x.default_factory


def _is_object(x: Any) -> bool:
    kind = type(x)
    if kind.__module__.startswith(_MACHINERY):
        return False
    if kind is types.SimpleNamespace:
        return True
    return made_by_python(kind) and not isinstance(x, (type, tuple, BaseException, np.generic))


def _same(then: Any, now: Any) -> bool:
    """Whether two states have the very same parts."""
    if type(then) is not type(now) or len(then) != len(now):
        return False
    if isinstance(then, dict):
        return list(then) == list(now) and all(map(_is, then.values(), now.values()))
    return all(map(_is, then, now))


def _is(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bytes, str, int, tuple)) and a == b)


def _fill(x: Any, state: Any) -> None:
    """Make these the contents of `x`, whatever it has now."""
    if not isinstance(x, types.CellType):
        fill(x, state)
    elif state[0] is UNBOUND:
        del x.cell_contents
    else:
        x.cell_contents = state[0]


def check_value(f: Any, y: Any, again: Any) -> None:
    """NotDifferentiableError where a second run of `f` gave something else."""
    if not agree(y, again):
        raise not_repeatable(f, "gives another value when it runs again")


@dataclass(frozen=True, slots=True)
class Run:
    """A call that has been made, and its value."""

    f: Any
    args: tuple[Any, ...]
    words: dict[str, Any] | None
    y: Any


def run_behind(g: Any) -> Run | None:
    """The run with which a function compares its own."""
    for cell in getattr(g, "__closure__", None) or ():
        if isinstance(cell.cell_contents, Run):
            return cell.cell_contents
    return None


def not_repeatable(f: Any, what: str) -> NotDifferentiableError:
    """The error for a function whose derivative cannot be differentiated, because that runs it again."""
    return NotDifferentiableError(
        f"{getattr(f, '__name__', 'A function')} {what}, and its derivative is differentiated",
        fixes=("let it compute from its arguments alone, and return what it finds",),
        read="limitations#second-derivatives",
    )


def agree(a: Any, b: Any) -> bool:
    """Whether two runs of a function gave the same value, up to the last digits."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, (int, float, complex, np.number, np.ndarray)) and np.shape(a) == np.shape(b):
        if getattr(a, "dtype", np.dtype(float)).kind not in "fciub":
            return True
        most = float(np.max(np.abs(a), initial=1.0))
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9 * most, equal_nan=True))
    return np.shape(a) == np.shape(b) if isinstance(a, np.ndarray) else True
