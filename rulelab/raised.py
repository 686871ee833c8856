"""Exceptions raised by other people's code, described in one line."""

from __future__ import annotations

import re
import sysconfig
import traceback
from pathlib import Path
from types import FrameType

_OURS = str(Path(__file__).parent)
_LIBRARIES = (_OURS, *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")))
_OFTEN = 20
"""The number of nested calls of a function from which it counts as recursive."""


def raised_words(error: BaseException | None) -> str:
    """An exception as its class and its message, or for a RecursionError the functions that call each other;
    empty for None.

    Python's own message of a RecursionError names only the last operation, which differs each time.

    >>> raised_words(ValueError("two\\nlines"))
    'ValueError: two lines'
    >>> raised_words(KeyError())
    'KeyError'
    >>> def endless(x):
    ...     return endless(x) + 1
    >>> try:
    ...     endless(2.0)
    ... except RecursionError as error:
    ...     print(raised_words(error))
    RecursionError: endless calls itself until Python's recursion limit is reached
    """
    if error is None:
        return ""
    said = who_recurses(error) if isinstance(error, RecursionError) else ""
    said = said or " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def who_recurses(error: RecursionError) -> str:
    """The author's functions that call each other in a recursion, in words; empty if there are none."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    calls: dict[str, int] = {}
    for frame in frames:
        if not is_of_a_library(frame):
            name = _function(frame)
            calls[name] = calls.get(name, 0) + 1
    again = [name for name, times in calls.items() if times >= _OFTEN]
    end = "until Python's recursion limit is reached"
    if not again:
        return ""
    if sum(frame.f_code.co_filename.startswith(_OURS) for frame in frames) >= _OFTEN:
        return f"{again[0]} asks for a derivative that calls {again[0]} again, {end}"
    if len(again) == 1:
        return f"{again[0]} calls itself {end}"
    return f"{', '.join(again[:-1])} and {again[-1]} call each other {end}"


def is_of_a_library(frame: FrameType) -> bool:
    """Whether a frame belongs to rulelab, an installed package or Python's standard library."""
    return frame.f_code.co_filename.startswith(_LIBRARIES)


def _function(frame: FrameType) -> str:
    """The name of the author's function that runs in a frame, without the number that is appended to the name
    of a pass if the function calls itself.
    """
    name = frame.f_code.co_name
    without = re.sub(r"_\d+$", "", name)
    return without if name not in frame.f_globals and without in frame.f_globals else name
