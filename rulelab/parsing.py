"""Python text to syntax trees and to code, by several threads at once.

CPython 3.11 counts the depth of its parser for all threads together, and raises SystemError where two meet
there. So we take turns; and try again where we meet somebody who does not, such as `inspect.signature`.
"""

from __future__ import annotations

import ast
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
PARSING = threading.RLock()
_TRIES = 50


def parse(text: str, filename: str = "<unknown>", mode: str = "exec") -> Any:
    """The syntax tree of a text; raises what `ast.parse` does."""
    return _in_turn(lambda: ast.parse(text, filename, mode))


def compiled(tree: ast.Module, filename: str, flags: int = 0) -> types.CodeType:
    """The code of a module; raises what `compile` does."""
    return _in_turn(lambda: compile(tree, filename, "exec", flags=flags, dont_inherit=True))


def _in_turn(build: Callable[[], _Result]) -> _Result:
    with PARSING:
        for _ in range(_TRIES):
            try:
                return build()
            except SystemError:
                continue
        return build()
