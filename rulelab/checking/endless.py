"""Calls that may never come to an end: at arguments of which nobody knows that they are meant."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

MOST_LINES = 400_000
"""Lines of a function's own file, and calls of any, after which it is taken for one without an end."""
FEW_LINES = 5_000
"""The same of one that has gone on and on before."""


class EndlessError(Exception):
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
        yield
    except _TooManyLinesError:
        raise EndlessError(f"it has not ended after {most} lines") from None
    finally:
        sys.settrace(before)


def _counter(filenames: frozenset[str], left: int) -> Callable:

    def count(frame: types.FrameType, event: str, arg: Any) -> Callable | None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooManyLinesError
        return count if frame.f_code.co_filename in filenames else None

    return count
