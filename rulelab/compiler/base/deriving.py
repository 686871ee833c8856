"""How many derivatives are being computed around a call, as seen from the frames of the running thread."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import CodeType
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


class Codes:
    """A set of code objects by identity that keeps none of them alive."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[CodeType]] = {}

    def add(self, code: CodeType) -> None:
        number, known = id(code), self._known
        known[number] = weakref.ref(code, lambda _: known.pop(number, None))

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._known


_AT_WORK = Codes()


def derives(function: _Function) -> _Function:
    """Decorator for a function that computes a derivative while it runs.

    Nothing is counted at run time, so a call costs nothing extra; `nest_level` looks at the frames instead.
    """
    _AT_WORK.add(function.__code__)
    return function


def nest_level() -> int:
    """How many nested derivatives are being computed here: 0 outside all of them, 1 in a gradient, 2 in a
    gradient inside another one.

    Only the frames of the running thread count. Forward and backward sweeps count alike: a rule and its
    pullback see the same level.

    >>> nest_level()
    0
    """
    level, frame = 0, sys._getframe(1)
    while frame is not None:
        level += frame.f_code in _AT_WORK
        frame = frame.f_back  # type: ignore[assignment]
    return level


def isderiving() -> bool:
    """Whether a derivative is being computed here: in the function that is differentiated, in everything it
    calls, and in rules and their pullbacks.

    The answer is the same when rulelab runs code again to compare values.

    >>> isderiving()
    False
    """
    return is_running(_AT_WORK)


def is_running(codes: Codes) -> bool:
    """Whether a function with one of these codes is running around this call, in this thread."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
