"""Parts an iterator into what Python evaluates when it makes it, and what it evaluates as items are taken.

Of `(v * v for v in [a, b])` the list is made at once, and the squares are computed when they are read. Only
what an iterator runs over can be evaluated ahead: a list, tuple, set or dict that nobody else can change, or
a list that is bound to a variable, since an iterator over a list sees later changes of it.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable
from typing import Any

from ..base.copying import shallow
from .making import assign, variable

_NEW = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
STAYS = ".items"  # the beginning of the names of what only the iterator refers to
_OVER_EACH = (zip, heapq.merge)  # those that run over all their arguments
_CALLING = (map, filter)  # those that run over all but the first
_WORDS = frozenset({"strict", "reverse", "key"})


class Parting:
    """Parts the iterators that the statements of one function make."""

    def __init__(
        self,
        known: Callable[[ast.expr], Any],
        holds_list: Callable[[ast.Name], bool],
        fresh: Callable[[str], str],
    ) -> None:
        """`known` gives what a global name refers to, `holds_list` tells whether a variable certainly refers
        to a list, and `fresh` makes names of variables.
        """
        self._known = known
        self._holds_list = holds_list
        self._fresh = fresh

    def __call__(self, made: ast.expr) -> tuple[list[ast.stmt], ast.expr] | None:
        """The statements that evaluate the first part, and the iterator without it; None if what an iterator
        runs over may be anything, since making an iterator over it then has effects of its own.
        """
        before: list[ast.stmt] = []
        late = self._iterator(made, before)
        return None if late is None else (before, late)

    def _iterator(self, made: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        if isinstance(made, ast.GeneratorExp):
            first, *others = made.generators
            over = self._over(first.iter, before)
            if over is None:
                return None
            new, through = shallow(made), shallow(first)
            through.iter, new.generators = over, [through, *others]
            return new
        return self._called(made, before) if isinstance(made, ast.Call) else None

    def _called(self, made: ast.Call, before: list[ast.stmt]) -> ast.expr | None:
        if not made.args or not all(word.arg in _WORDS and _is_steady(word.value) for word in made.keywords):
            return None
        function, (first, *others) = self._known(made.func), made.args
        if any(function is each for each in _OVER_EACH):
            kept, through = [], made.args
        elif any(function is each for each in _CALLING) and _is_steady(first):
            kept, through = [first], others
        elif function is reversed and isinstance(first, _NEW):
            kept, through = [], made.args
        else:
            return None
        new = shallow(made)
        new.args = kept
        for each in through:
            over = self._over(each, before)
            if over is None:
                return None
            new.args = [*new.args, over]
        return new

    def _over(self, items: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        """What stands for an iterable once `before` has run."""
        if isinstance(items, _NEW) or (isinstance(items, ast.Name) and self._holds_list(items)):
            name = self._fresh(STAYS[1:] if isinstance(items, _NEW) else "list")
            before.append(assign(name, items, items))
            return variable(name, items)
        if isinstance(items, ast.Constant) or self._is_steady_range(items):
            return items
        return self._iterator(items, before)

    def _is_steady_range(self, items: ast.expr) -> bool:
        if not isinstance(items, ast.Call) or self._known(items.func) is not range or items.keywords:
            return False
        return all(isinstance(end, ast.Constant) for end in items.args)


def _is_steady(function: ast.expr) -> bool:
    """Whether an argument is a constant, or a lambda, which reads its variables only when it is called."""
    if isinstance(function, ast.Lambda):
        return not (function.args.defaults or any(function.args.kw_defaults))
    return isinstance(function, ast.Constant)
