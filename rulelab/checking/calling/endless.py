"""Calls that may never come to an end: at arguments of which nobody knows that they are meant."""

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
"""Kilobytes by which the memory of this process may grow before such a call is taken for one without an end:
what doubles in each round of a loop has filled it after few lines."""
MOST_AT_ONCE = 2 << 30
"""Bytes that it may map: more than that, so that one array which is far too large ends it, too."""
MOST_LINES = 400_000
"""Lines of a function's own file, and calls of any, after which it is taken for one without an end."""
FEW_LINES = 5_000
"""The same of one that has gone on and on before."""


AFTER_ONE = 20_000
"""The same of one with a `while` loop that has not ended before: a step beside its arguments is enough."""


class EndlessError(ArithmeticError):
    """A function has not come to its end after very many lines."""


class _TooManyLinesError(BaseException):
    """The same where it goes through the function, which may catch any Exception."""


@contextmanager
def brought_to_an_end(function: Any, most: int = MOST_LINES, others: tuple[Any, ...] = ()) -> Iterator[None]:
    """EndlessError for what goes on and on: `while len(v) > 1` where nothing makes `v` shorter. Counted are
    the lines of the file of the function, and of those of the `others`.

    Lines are counted, and no seconds: a slow machine changes nothing. Nothing is counted under a debugger.
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
        raise EndlessError(f"it has not ended after {most} lines") from None
    except MemoryError:
        raise EndlessError("it takes far more memory than it should need") from None
    finally:
        sys.settrace(before)


class _Ceiling:
    """What this process may map while such calls run, in whatever threads: the first sets it, and the last
    takes it away."""

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
"""The functions of which a call has not ended since they were last looked at anew."""


def looked_at_anew(function: Any) -> None:
    """Forgets that a call has not ended, so that one check of a function changes nothing about the next."""
    if isinstance(function, types.FunctionType):
        _GONE_ON.discard(function)


def ended(function: Any, call: Callable[[], Any]) -> Any:
    """What a call of a function gives; EndlessError if it goes on and on in a `while` loop, as one to a
    tolerance may beside arguments at which it ends. Others are called as they are.
    """
    if not may_go_on(function):
        return call()
    try:
        with brought_to_an_end(function, AFTER_ONE if function in _GONE_ON else MOST_LINES):
            return call()
    except EndlessError:
        _GONE_ON.add(function)
        raise


def may_go_on(function: Any) -> bool:
    """Whether a function, or a plain one of the same module that it calls by name, has a `while` loop.

    >>> def halved(x):
    ...     while abs(x) > 1:
    ...         x = x / 2
    ...     return x
    >>> may_go_on(halved), may_go_on(lambda xs: [x for x in xs])
    (True, False)
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    if _has_while(code):
        return True
    space = getattr(function, "__globals__", {})
    for name in code.co_names:  # asked at each call: a module is not asked for code that it has not
        called = space.get(name)
        if isinstance(called, types.FunctionType) and _has_while(called.__code__):
            return True
    return False


@functools.lru_cache(512)
def _has_while(code: types.CodeType) -> bool:
    """Whether some code goes back to anything but the next one of a `for` loop."""
    operations = list(dis.get_instructions(code))
    nexts = {op.offset for op in operations if op.opname == "FOR_ITER"}
    back = (op for op in operations if "JUMP_BACKWARD" in op.opname and "INTERRUPT" not in op.opname)
    return any(op.argval not in nexts for op in back)


def _counter(filenames: frozenset[str], left: int) -> Callable:
    most_memory = _peak_of_memory() + MOST_MORE

    def count(frame: types.FrameType, event: str, arg: Any) -> Callable | None:
        nonlocal left
        if frame.f_code.co_filename not in filenames:
            return None  # what leaves the `with` is called, too: nothing may be raised there
        left -= 1
        if left < 0 or (not left % _EACH and _peak_of_memory() > most_memory):
            raise _TooManyLinesError
        return count

    return count


def _peak_of_memory() -> int:
    """The most kilobytes that this process has had so far; zero where nobody tells."""
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _UNIT


_EACH = 4
"""Lines after which it is asked: to ask takes as long as a line."""
_UNIT = 1024 if sys.platform == "darwin" else 1
"""Of what is told there: bytes, and kilobytes elsewhere."""
