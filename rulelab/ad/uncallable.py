"""Refuse an object that was passed as a function but cannot be called as one."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from ..compiler.memory.operands import describe
from ..errors import An, RuleLabError
from ..rules.authoring import WithoutRule


def refuse_uncallable(f: Any, asked: str) -> None:
    """Raise RuleLabError unless `f` can be called as a function. A context manager that is callable only as a
    decorator cannot.

    >>> refuse_uncallable(abs, "gradient(f, *args)")
    """
    if not callable(f):
        raise RuleLabError(f"{An(describe(f))} cannot be called, so it has no derivative", asked=asked)
    if isinstance(f, WithoutRule):
        raise f.not_called(asked)
    if isinstance(f, ContextDecorator) and type(f).__call__ is ContextDecorator.__call__:
        raise RuleLabError(
            f"{describe(f)} is for a `with` statement; it is not a function",
            asked=asked,
            fixes=("call the function in the block",),
        )
