"""The calls that are timed of a function: itself, and its gradient."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import MeasurementError, RuleLabError


def copied(f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of a call of `f`, copied, so that the caller's stay as they are. Raises MeasurementError
    where one cannot be copied: a generator, a lock, an open file.
    """
    try:
        return copy.deepcopy((tuple(args), dict(kwargs)))
    except Exception as error:  # the author's own classes say how they are copied
        raise MeasurementError(
            f"The arguments of {name_of(f)} cannot be copied ({type(error).__name__}: {error}), "
            "and a measurement runs the call several times",
            fixes="make what cannot be copied inside the function",
        ) from error


def gradient_thunk(f: Callable, args: tuple, kwargs: dict, ad: Any) -> Callable[[], object]:
    """The call that is timed as "the gradient of f": `gradient` for a scalar function, else `pullback` and
    its use with a seed of ones.

    Raises what `f` raises, and MeasurementError where the arguments cannot be copied.
    """
    own_args, own_kwargs = copied(f, args, kwargs)
    y = f(*own_args, **own_kwargs)
    if isinstance(y, (int, float, np.number, np.ndarray)) and np.ndim(y) == 0:
        return lambda: ad.gradient(f, *args, **kwargs)
    seed = _ones(y)

    def value_and_pullback():
        _, back = ad.pullback(f, *args, **kwargs)
        return back(seed)

    return value_and_pullback


def _ones(y: Any) -> Any:
    """A cotangent of ones, of the structure of `y`; None where it holds no numbers."""
    if isinstance(y, dict):
        return {key: _ones(part) for key, part in y.items()}
    if isinstance(y, (tuple, list)):
        parts = [_ones(part) for part in y]
        return y._make(parts) if hasattr(y, "_make") else type(y)(parts)
    return np.ones_like(y) if np.asarray(y).dtype.kind in "biufc" else None


def refusal(f: Callable, gradient_of_f: Callable[[], object]) -> str | None:
    """Why the AD does not take `f`, in one line, or None if it does."""
    try:
        gradient_of_f()
    except RuleLabError as error:
        return f"{name_of(f)} has no gradient without a rule ({type(error).__name__}: {headline(error)})."
    return None


def name_of(f: Any) -> str:
    """What a report calls a function."""
    return getattr(f, "__name__", None) or type(f).__name__


def gradient_of(f: Any) -> str:
    """What a report calls the gradient of a function."""
    return f"gradient of {name_of(f)}"


def plain(f: Any) -> str:
    """What a report calls the function itself where gradients stand beside it."""
    return f"{name_of(f)} itself, no gradient"


def headline(error: BaseException) -> str:
    """The first line of an error's message."""
    return str(getattr(error, "found", error)).split("\n", 1)[0]
