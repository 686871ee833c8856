"""How many derivatives are being computed around a call, told by the frames of the running thread."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import CodeType
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


class Codes:
    """Code objects by identity. None of them is kept alive."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[CodeType]] = {}

    def add(self, code: CodeType) -> None:
        number, known = id(code), self._known
        known[number] = weakref.ref(code, lambda _: known.pop(number, None))

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._known


_AT_WORK = Codes()


def derives(function: _Function) -> _Function:
    """Decorator of a function that works a derivative out while it runs.

    Nothing is counted as it runs, so it costs a call nothing; whoever asks looks at the frames.
    """
    _AT_WORK.add(function.__code__)
    return function


def nest_level() -> int:
    """How many nested derivatives are being computed here: 0 outside all of them, 1 in a gradient, 2 in a
    gradient inside another one.

    It looks at the frames of the running thread, so other threads have no part in it. Forwards and backwards
    count alike: a rule and its pullback see the same level.

    >>> nest_level()
    0
    """
    level, frame = 0, sys._getframe(1)
    while frame is not None:
        level += frame.f_code in _AT_WORK
        frame = frame.f_back  # type: ignore[assignment]
    return level


def isderiving() -> bool:
    """Whether a derivative is being computed here: in the function that is differentiated, in all that it
    calls, and in rules and their pullbacks.

    What depends on the answer is run again by rulelab under the same answer, when it compares values.

    >>> isderiving()
    False
    """
    return is_running(_AT_WORK)


def is_running(codes: Codes) -> bool:
    """Whether a function with one of these codes runs around this call, in this thread."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
