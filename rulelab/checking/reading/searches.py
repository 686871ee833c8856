"""Whether a search loop ends without a result: `for k in ...: ... if fits: break`. An author who wrote no
`else` for it may have assumed that there is always one.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from ...parsing import cloned
from ..calling.plain_calls import value_of
from .anatomy import last_name
from .editing import code_of, function_of
from .texts import text_of

_STOP = "_nothing_was_found"


class _NothingFoundError(BaseException):
    """A loop has ended without its `break`. A BaseException, so that a function that catches any Exception
    does not catch it.
    """


class Searches:
    """The search loops of a function; `has_any` tells whether there are any.

    >>> def first_above(x, limit):
    ...     for k in range(len(x)):
    ...         found = x[k]
    ...         if found > limit:
    ...             break
    ...     return found
    >>> searches = Searches(first_above)
    >>> searches.find_nothing(([1.0, 3.0], 2.0), {}), searches.find_nothing(([1.0, 3.0], 4.0), {})
    (False, True)
    """

    def __init__(self, f: Callable) -> None:
        self.f = f

    @property
    def has_any(self) -> bool:
        return self._strict is not None

    def find_nothing(self, args: tuple, kwargs: Mapping[str, Any]) -> bool:
        """Whether one of the loops ends without a result at some arguments."""
        if self._strict is None:
            return False
        try:
            value_of(self._strict, args, kwargs)
        except _NothingFoundError:
            return True
        except Exception:  # which the function itself raises
            return False
        return False

    @cached_property
    def _strict(self) -> Callable | None:
        """The function with an error where a search ends without a result; None if it has no search."""
        node, _ = text_of(self.f)
        if not isinstance(self.f, types.FunctionType) or not isinstance(node, ast.FunctionDef):
            return None
        changed = cloned(node)
        loops = [loop for loop in _own(changed) if isinstance(loop, ast.For) and _is_search(loop)]
        if not loops:
            return None
        for loop in loops:
            stop = ast.Raise(ast.Name(_STOP, ast.Load()), None)
            loop.orelse = [ast.fix_missing_locations(ast.copy_location(stop, loop))]
        return function_of(code_of(changed, self.f.__code__), self.f, {_STOP: _NothingFoundError})


def _is_search(loop: ast.For) -> bool:
    """Whether a loop tries candidates until one fits: its last statement is `if ...: break`. Not a search is
    a loop that tests first and then works on, or one that adds up elements until there are enough.
    """
    counts = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) in ("range", "count")
    if not counts and any(isinstance(inner, ast.AugAssign) for inner in ast.walk(loop)):
        return False
    last = loop.body[-1]
    leaves = isinstance(last, ast.If) and not last.orelse and isinstance(last.body[-1], ast.Break)
    return leaves and not loop.orelse


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of inner functions and classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _own(child)
