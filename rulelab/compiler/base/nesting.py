"""How deep calls may nest through C code: CPython 3.11 does not notice the end of the C stack by itself."""

from __future__ import annotations

import threading

MOST = 3000  # a level takes up to 1 kB of the 8 MB stack, forwards and backwards


class _Levels(threading.local):
    now = 0


_LEVELS = _Levels()


def enter() -> None:
    """One level deeper; RecursionError where the C stack could end. Follow it with `leave` in a `finally`."""
    now = _LEVELS.now
    if now >= MOST:
        raise RecursionError("maximum recursion depth exceeded through rules, objects or keywords")
    _LEVELS.now = now + 1


def leave() -> None:
    """Back from a level."""
    _LEVELS.now -= 1
