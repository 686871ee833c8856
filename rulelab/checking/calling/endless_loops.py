"""Calls that may never end, at arguments for which the function may not be intended."""

from __future__ import annotations

import dis
import functools
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .budgets import limit_memory

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MOST_MORE = 1_000_000
"""By how many kilobytes the memory of this process may grow before such a call counts as endless: something
that doubles in each iteration fills it within a few lines.
"""
MOST_AT_ONCE = 2 << 30
"""How many bytes it may map: more than that, so that a single array that is far too large ends it too."""
MOST_LINES = 400_000
"""After how many lines of a function's own file, and calls of any function, it counts as endless."""
FEW_LINES = 5_000
"""The same for a function that has already been endless."""


AFTER_ONE = 20_000
"""The same for a function with a `while` loop that has already been endless: a small change of its arguments
can cause that.
"""


class EndlessError(ArithmeticError):
    """A function has not ended after very many lines."""


class _TooManyLinesError(BaseException):
    """The same while it passes through the function, which may catch any Exception."""


@contextmanager
def raising_if_endless(function: Any, most: int = MOST_LINES, others: tuple[Any, ...] = ()) -> Iterator[None]:
    """Raise EndlessError in the body if it does not end: `while len(v) > 1` where nothing makes `v` shorter.
    The lines of the function's file and of those of the `others` are counted.

    Lines are counted instead of seconds, so that a slow machine changes nothing. Nothing is counted under a
    debugger.
    """
    before = sys.gettrace()
    if before is not None:
        yield
        return
    codes = (getattr(one, "__code__", None) for one in (function, *others))
    sys.settrace(_counter(frozenset(getattr(code, "co_filename", "") for code in codes), most))
    try:
        with _CEILING:
            yield
    except _TooManyLinesError:
        raise EndlessError(f"it had not ended after running {most:,} lines") from None
    except MemoryError:
        raise EndlessError("it takes far more memory than it should need") from None
    finally:
        sys.settrace(before)


class _Ceiling:
    """The limit on mapped memory while such calls run in any threads: the first call sets it, and the last
    one removes it.
    """

    def __init__(self) -> None:
        self._lock, self._within = threading.Lock(), 0
        self._before: tuple[int, int] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                self._before = limit_memory(MOST_AT_ONCE)
            self._within += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within and self._before is not None:
                resource.setrlimit(resource.RLIMIT_AS, self._before)


_CEILING = _Ceiling()


_GONE_ON: weakref.WeakSet[Any] = weakref.WeakSet()
"""The functions of which a call was endless since `forget_endless_calls`."""


def forget_endless_calls(function: Any) -> None:
    """Forget that a call was endless, so that one check of a function does not influence the next."""
    if isinstance(function, types.FunctionType):
        _GONE_ON.discard(function)


def value_if_it_ends(function: Any, call: Callable[[], Any]) -> Any:
    """The result of a call of a function. EndlessError if a `while` loop does not end, as an iteration to a
    tolerance may not, next to arguments at which it does. Functions without such loops are called as they
    are.
    """
    if not may_loop_endlessly(function):
        return call()
    try:
        with raising_if_endless(function, AFTER_ONE if function in _GONE_ON else MOST_LINES):
            return call()
    except EndlessError:
        _GONE_ON.add(function)
        raise


def may_loop_endlessly(function: Any) -> bool:
    """Whether a function, or a plain one of the same module that it calls by name, has a `while` loop.

    >>> def halved(x):
    ...     while abs(x) > 1:
    ...         x = x / 2
    ...     return x
    >>> may_loop_endlessly(halved), may_loop_endlessly(lambda xs: [x for x in xs])
    (True, False)
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    if _has_while(code):
        return True
    space = getattr(function, "__globals__", {})
    for name in code.co_names:  # this runs at each call, so other objects are not searched for code
        called = space.get(name)
        if isinstance(called, types.FunctionType) and _has_while(called.__code__):
            return True
    return False


@functools.lru_cache(512)
def _has_while(code: types.CodeType) -> bool:
    """Whether some code jumps back to anything but the start of a `for` iteration."""
    operations = list(dis.get_instructions(code))
    nexts = {op.offset for op in operations if op.opname == "FOR_ITER"}
    back = (op for op in operations if "JUMP_BACKWARD" in op.opname and "INTERRUPT" not in op.opname)
    return any(op.argval not in nexts for op in back)


def _counter(filenames: frozenset[str], left: int) -> Callable:
    most_memory = _peak_of_memory() + MOST_MORE

    def count(frame: types.FrameType, event: str, arg: Any) -> Callable | None:
        nonlocal left
        if frame.f_code.co_filename not in filenames:
            return None  # the code that leaves the `with` is traced too, and must not raise
        left -= 1
        if left < 0 or (not left % _EACH and _peak_of_memory() > most_memory):
            raise _TooManyLinesError
        return count

    return count


def _peak_of_memory() -> int:
    """The peak memory of this process so far in kilobytes; 0 if the system does not report it."""
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _UNIT


_EACH = 4
"""After how many lines the memory is read, which takes as long as a line."""
_UNIT = 1024 if sys.platform == "darwin" else 1
"""The unit of what the system reports: bytes on macOS, kilobytes elsewhere."""
