"""Python text to syntax trees and to code, by several threads at once.

CPython 3.11 counts the depth of its parser for all threads together, and raises SystemError where two meet
there. So we take turns; and try again where we meet somebody who does not, such as `inspect.signature`.
"""

from __future__ import annotations

import ast
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
PARSING = threading.RLock()
_TRIES = 50
_ROOM = 120_000  # calls within calls for a text that nests as deep as Python itself takes it
_ROOM_LOCK = threading.Lock()
_rooms: list[int] = []  # the limits that were found by those who have asked for room


def parse(text: str, filename: str = "<unknown>", mode: str = "exec") -> Any:
    """The syntax tree of a text; raises what `ast.parse` does."""
    return with_room(lambda: _in_turn(lambda: ast.parse(text, filename, mode)))


def compiled(source: ast.Module | str, filename: str, flags: int = 0) -> types.CodeType:
    """The code of a module, from its tree or its text; raises what `compile` does."""
    return with_room(
        lambda: _in_turn(lambda: compile(source, filename, "exec", flags=flags, dont_inherit=True))
    )


def with_room(work: Callable[[], _Result]) -> _Result:
    """What `work` gives; where Python's limit of recursion ends it, it is done again under a higher one.

    A sum of 1,000 terms nests 1,000 deep, and more calls deep is each walk over it. The limit is that of the
    whole process, so it is raised only where it is needed, and as long as anybody needs it.
    """
    try:
        return work()
    except RecursionError:
        pass
    with _ROOM_LOCK:
        _rooms.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_ROOM, _rooms[0]))
    try:
        return work()
    finally:
        with _ROOM_LOCK:
            before = _rooms[0]
            _rooms.pop()
            if not _rooms and sys.getrecursionlimit() == max(_ROOM, before):
                sys.setrecursionlimit(before)


def _in_turn(build: Callable[[], _Result]) -> _Result:
    with PARSING:
        for _ in range(_TRIES):
            try:
                return build()
            except SystemError:
                continue
        return build()
