"""Generator expressions as functions of what makes each item and of the iterable.

They return generators, so that laziness, errors and the meaning of StopIteration are Python's; as in a
generator expression, `iter` is called on the iterable immediately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def generated(make: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
    """`(make(x) for x in items)`

    >>> list(generated(abs, [-1, 2]))
    [1, 2]
    """
    return _made(make, iter(items))


def _made(make: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
    for x in items:
        yield make(x)


def tested(test: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
    """`(x for x in items if test(x))`

    >>> list(tested(abs, [0, 2]))
    [2]
    """
    return _passing(test, iter(items))


def _passing(test: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
    for x in items:
        if test(x):
            yield x
