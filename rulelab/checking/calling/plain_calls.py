"""A function itself called on copies of arguments, with its warnings kept silent, heeded or noted."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..measuring.copies import PLAIN, own_copies, own_keywords
from .endless import ended, may_go_on

HEEDED = (UserWarning, RuntimeWarning, DeprecationWarning)
"""Warnings by which a function may say that it is not meant for some arguments."""


def vouched(
    primal: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    heeded: Iterable[type[Warning]] = HEEDED,
) -> Any:
    """As `plainly`, but the function's own warnings are raised: that an integral or an iteration did not come
    to its end, that arguments of this shape (`np.cross` of vectors of two) are on their way out. What NumPy
    says about floats counts for nothing.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for category in heeded:
            warnings.simplefilter("error", category)
        return _called(primal, args, kwargs)


def heard(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[Any, tuple[type[Warning], ...]]:
    """As `plainly`, and which of the warnings that may be heeded the function gave."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        y = _called(primal, args, kwargs)
    return y, tuple(kind for kind in HEEDED if any(issubclass(each.category, kind) for each in said))


class _Silence(threading.local):
    """How many times a thread has asked for silence."""

    depth = 0


_SILENCE = _Silence()


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keeps warnings silent for all of many calls by `plainly`, which does so for each alone else."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _SILENCE.depth += 1
        try:
            yield
        finally:
            _SILENCE.depth -= 1


def plainly(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """The value of a function for copies of these arguments, its warnings kept silent."""
    if _SILENCE.depth:
        return _called(primal, args, kwargs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _called(primal, args, kwargs)


def _called(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    copies = own_copies(args)
    keywords = own_keywords(kwargs)
    return ended(primal, lambda: primal(*copies, **keywords))


def plainly_lent(primal: Callable, kwargs: Mapping[str, Any]) -> Callable[[tuple], Any]:
    """As `plainly`, for many calls with arguments that were each made for one of them alone: the function may
    write into them.
    """
    go_on = may_go_on(primal)

    def called(args: tuple) -> Any:
        if kwargs or not _SILENCE.depth:
            return plainly(primal, args, kwargs)
        return ended(primal, lambda: primal(*args)) if go_on else primal(*args)

    return called


def are_unshared(args: tuple) -> bool:
    """Whether arguments are numbers, words and arrays of numbers alone, which hold nothing of each other."""
    return all(type(x) in PLAIN or (type(x) is np.ndarray and not x.dtype.hasobject) for x in args)
