"""A function itself, called on copies of arguments, with its warnings silenced, raised or recorded."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..measuring.copies import PLAIN, own_copies, own_keywords
from .endless_loops import may_loop_endlessly, value_if_it_ends

HEEDED = (UserWarning, RuntimeWarning, DeprecationWarning)
"""Warnings by which a function may say that it is not intended for some arguments."""


def value_raising_warnings(
    primal: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    heeded: Iterable[type[Warning]] = HEEDED,
) -> Any:
    """As `value_of`, but the function's own warnings are raised, such as that an integral or an iteration did
    not converge, or that arguments of this shape are deprecated (`np.cross` of vectors of two). NumPy's
    warnings about floats are ignored.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for category in heeded:
            warnings.simplefilter("error", category)
        return _called(primal, args, kwargs)


def value_and_warnings(
    primal: Callable, args: tuple, kwargs: Mapping[str, Any]
) -> tuple[Any, tuple[type[Warning], ...]]:
    """As `value_of`, and which of the warnings in HEEDED the function gave."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        y = _called(primal, args, kwargs)
    return y, tuple(kind for kind in HEEDED if any(issubclass(each.category, kind) for each in said))


class _Silence(threading.local):
    """How many `silencing_warnings` blocks a thread is in."""

    depth = 0


_SILENCE = _Silence()


@contextlib.contextmanager
def silencing_warnings() -> Iterator[None]:
    """Silence warnings for many calls of `value_of` at once, which otherwise does so in each call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _SILENCE.depth += 1
        try:
            yield
        finally:
            _SILENCE.depth -= 1


def value_of(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """The value of a function for copies of these arguments, without its warnings."""
    if _SILENCE.depth:
        return _called(primal, args, kwargs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _called(primal, args, kwargs)


def _called(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    copies = own_copies(args)
    keywords = own_keywords(kwargs)
    return value_if_it_ends(primal, lambda: primal(*copies, **keywords))


def value_function(primal: Callable, kwargs: Mapping[str, Any]) -> Callable[[tuple], Any]:
    """As `value_of`, for many calls with arguments that were each made for a single call, so that the
    function may write to them.
    """
    go_on = may_loop_endlessly(primal)

    def called(args: tuple) -> Any:
        if kwargs or not _SILENCE.depth:
            return value_of(primal, args, kwargs)
        return value_if_it_ends(primal, lambda: primal(*args)) if go_on else primal(*args)

    return called


def are_unshared(args: tuple) -> bool:
    """Whether all arguments are numbers, text or arrays of numbers, which do not contain each other."""
    return all(type(x) in PLAIN or (type(x) is np.ndarray and not x.dtype.hasobject) for x in args)
