"""The calls that are timed of a function: itself, and its gradient."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ad import reverse
from ..errors import RuleLabError


def gradient_thunk(f: Callable, args: tuple, kwargs: dict, ad: Any) -> Callable[[], object]:
    """The call that is timed as "the gradient of f": `gradient` for a scalar function, else `pullback` and
    its use with a seed of ones.
    """
    reverse.need_positional(f, args, kwargs)
    y = f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    if np.ndim(y) == 0 and isinstance(y, (int, float, np.number, np.ndarray)):
        return lambda: ad.gradient(f, *args, **kwargs)
    seed = np.ones_like(y)

    def value_and_pullback():
        _, back = ad.pullback(f, *args, **kwargs)
        return back(seed)

    return value_and_pullback


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
