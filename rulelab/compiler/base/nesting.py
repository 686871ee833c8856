"""A limit on calls nested through C code: CPython 3.11 does not detect the overflow of the C stack itself."""

from __future__ import annotations

import threading

MOST = 3000  # a level takes up to 1 kB of the 8 MB stack, forward and backward


class _Levels(threading.local):
    now = 0


_LEVELS = _Levels()


def enter() -> None:
    """Enter a level; raises RecursionError if the C stack might run out. Call `leave` in a `finally`."""
    now = _LEVELS.now
    if now >= MOST:
        raise RecursionError("maximum recursion depth exceeded through rules, objects or keywords")
    _LEVELS.now = now + 1


def leave() -> None:
    """Leave a level."""
    _LEVELS.now -= 1
