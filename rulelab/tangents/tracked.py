"""Which of a caller's arrays have a tangent while a forward sweep runs. A write to their memory under a name
without a tangent would leave the tangent unchanged.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..errors import MutationError
from .cached_answers import CachedAnswers
from .holding import carrier, held_by
from .shadows import attributes_of, kind_of
from .zeros import AbstractZero


class _Tracked(threading.local):
    arrays: tuple[np.ndarray, ...] = ()
    forward = False  # whether a forward run is in progress
    within_reverse = False  # whether it is part of a reverse sweep, which may have read arrays before
    answers: CachedAnswers | None = None  # made when first needed


_NOW = _Tracked()


class tracked:
    """Context in which `check_untracked` knows the arrays in `x` that have a tangent in `x_dot`.

    `others` are what else can be read; `within` says whether another sweep is in progress. Raises
    MutationError at the end if two arrays that were written to share memory while their tangents do not.
    """

    # not a generator: each derivative of a forward sweep enters one of these, and it would take twice as long
    __slots__ = ("answers", "before", "found", "kept", "outer", "within")

    def __init__(self, x: Any, x_dot: Any, others: Iterable[Any] = (), within: bool = False) -> None:
        self.within = within
        self.found = list(_arrays(x, x_dot, set()))
        still = [(a, None) for a in others if isinstance(a, np.ndarray)]
        self.kept = [(a, a.tobytes()) for a in _overlapping([*self.found, *still])] if self.found else []

    def __enter__(self) -> None:
        self.before, self.outer = _NOW.arrays, (_NOW.forward, _NOW.within_reverse)
        self.answers, _NOW.answers = _NOW.answers, None
        _NOW.arrays = (*self.before, *[a for a, _ in self.found])
        _NOW.forward = True
        _NOW.within_reverse = self.outer[1] or (self.within and not self.outer[0])

    def __exit__(self, kind: Any, *_: object) -> None:
        _NOW.arrays, _NOW.answers = self.before, self.answers
        _NOW.forward, _NOW.within_reverse = self.outer
        if kind is None and any(a.tobytes() != was for a, was in self.kept):
            raise MutationError(
                "An argument that varies shares memory with another one, a captured or a global array, and "
                "was written to",
                fixes=("give copies",),
                read="limitations#array-mutation",
            )


@contextlib.contextmanager
def within_reverse() -> Iterator[None]:
    """Context in which a forward run counts as part of a reverse sweep."""
    before = _NOW.within_reverse
    _NOW.within_reverse = True
    try:
        yield
    finally:
        _NOW.within_reverse = before


def cached_answers() -> CachedAnswers | None:
    """What cached functions have returned in the forward run in progress; None if there is none."""
    if _NOW.forward and _NOW.answers is None:
        _NOW.answers = CachedAnswers()
    return _NOW.answers


def check_untracked(a: Any) -> None:
    """Raise MutationError if `a`, which has no tangent, shares memory with an array that has one, or if a
    reverse sweep may have read it.
    """
    if _NOW.within_reverse and isinstance(a, np.ndarray):
        raise MutationError(
            "A function that runs in forward mode changes what may be used elsewhere, "
            f"{a.dtype}{list(a.shape)}, "
            "which the reverse mode around it may have read",
            fixes=("let it write to a copy", "create the array inside the function, and return it"),
            read="limitations#array-mutation",
        )
    if isinstance(a, np.ndarray) and any(np.may_share_memory(a, x) for x in _NOW.arrays):
        raise MutationError(
            "An argument that varies is written to under another name, as a global, a captured variable or "
            "a second argument: its tangent would be lost",
            fixes=("write to the argument itself", "give copies"),
            read="limitations#array-mutation",
        )


def _arrays(x: Any, x_dot: Any, seen: set[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the arrays in a value that have a tangent, each with its tangent."""
    if type(x) is float or isinstance(x_dot, AbstractZero):
        return
    if isinstance(x, np.ndarray):
        if isinstance(x_dot, np.ndarray):
            yield x, x_dot
        return
    kind = kind_of(x)
    if kind == "carried":
        yield from _arrays(carrier(x), x_dot, seen)
        return
    if kind in (None, "number") or id(x) in seen:
        return
    seen.add(id(x))
    for part, part_dot in parts_in_step(kind, x, x_dot):
        yield from _arrays(part, part_dot, seen)


def parts_in_step(kind: str | None, x: Any, x_dot: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a value of this kind, each with its tangent."""
    if kind == "items":
        yield from zip(x, x_dot)
    elif kind == "entries":
        yield from ((part, x_dot[key]) for key, part in dict.items(x))
    elif kind == "function":
        for group, dots in zip(held_by(x), x_dot):
            yield from zip(group.values(), dots)
    elif isinstance(x_dot, SimpleNamespace):
        yield from (
            (part, getattr(x_dot, name)) for name, part in attributes_of(x).items() if hasattr(x_dot, name)
        )


def readable(f: Any, args: tuple[Any, ...]) -> list[Any]:
    """What a call can read under other names: arguments, captured variables, globals."""
    if not isinstance(f, FunctionType):
        return list(args)
    names = f.__code__.co_names
    held = held_by(f)
    found = [x for group in held for x in group.values()]
    return [*args, *found, *(f.__globals__[name] for name in names if name in f.__globals__)]


def _overlapping(found: list[tuple[np.ndarray, np.ndarray | None]]) -> list[np.ndarray]:
    """The arrays with a tangent that share memory with another array, while their tangents do not."""
    spans = sorted((*byte_bounds(a), number) for number, (a, _) in enumerate(found) if a.size)
    shared: set[int] = set()
    near: list[tuple[int, int, int]] = []
    for start, end, number in spans:
        near = [span for span in near if span[1] > start]
        for _, _, other in near:
            one, two = found[number][1], found[other][1]
            if one is None or two is None or not np.may_share_memory(one, two):
                shared |= {number, other}
        near.append((start, end, number))
    return [found[number][0] for number in sorted(shared) if found[number][1] is not None]
