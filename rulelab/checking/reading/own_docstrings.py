"""The docstring that an author wrote for a function; a twin, which only calls another function, has that of
the other. Where a function has none, the docstrings of its rules describe its parameters.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any
from weakref import WeakKeyDictionary

from ...rules.twins import written

_OF_RULES: MutableMapping[Any, str] = WeakKeyDictionary()


def note_rules(f: Any, rules: Iterable[Callable]) -> None:
    """Keep the docstrings of the rules of a function that has none: what they say of its parameters is then
    read as its own.

    >>> def dose(amount, plots): ...
    >>> def dose_rrule(amount, plots):
    ...     "amount: a number; plots: shape (n,)"
    >>> note_rules(dose, [dose_rrule])
    >>> docstring_of(dose)
    'amount: a number; plots: shape (n,)'
    """
    with contextlib.suppress(TypeError):  # not all callables can be kept so
        _OF_RULES[written(f)] = "\n\n".join(doc for rule in rules if (doc := getattr(rule, "__doc__", None)))


def docstring_of(f: Any) -> str:
    """The docstring of a function, or of its rules if it has none; for a twin, that of the function it stands
    for; empty if there is none.

    >>> import rulelab as rl
    >>> def gain(P):
    ...     "P is a covariance."
    >>> docstring_of(rl.twin(gain, "gain_cr"))
    'P is a covariance.'
    """
    function = written(f)
    return getattr(function, "__doc__", None) or _of_rules(function)


def _of_rules(function: Any) -> str:
    try:
        return _OF_RULES.get(function, "")
    except TypeError:
        return ""
