"""The calls that are timed for a function: the function itself, and its gradient."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..ad import reverse
from ..compiler.memory.lending import may_lend
from ..errors import MeasurementError, RuleLabError


def copied(f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Copies of the arguments of a call of `f`, so that the caller's stay unchanged. Raises MeasurementError
    if one cannot be copied, for example a generator, a lock or an open file.
    """
    try:
        return copy.deepcopy((tuple(args), dict(kwargs)))
    except Exception as error:  # the author's classes may define how they are copied
        raise MeasurementError(
            f"The arguments of {name_of(f)} cannot be copied ({type(error).__name__}: {error}), "
            "and a measurement runs the call several times",
            fixes="create what cannot be copied inside the function",
        ) from error


def argument_tuple(args: Any) -> tuple:
    """The arguments of a call; MeasurementError unless they are a tuple, so that a single array is not taken
    for several arguments.
    """
    if isinstance(args, tuple):
        return args
    raise MeasurementError(
        f"The arguments must be a tuple, not an object of class {type(args).__name__}",
        fixes="give a tuple, even for one argument: (x,)",
    )


class Timed(NamedTuple):
    """A call to time, and its name in a report."""

    name: str
    thunk: Callable[[], object]


def timed_gradient(f: Callable, args: tuple, kwargs: dict, ad: Any, name: str | None = None) -> Timed:
    """The call that is timed as "the gradient of f": `gradient` for a function that returns a real number,
    otherwise `pullback` applied to a seed of ones, which is named "value with pullback of f".

    Raises NotDifferentiableError for a call without a positional argument, ScalarOutputError, as `gradient`
    does, for a function that returns no number at all, MeasurementError if the arguments cannot be copied,
    and whatever `f` raises.
    """
    __tracebackhide__ = True
    reverse.need_positional(f, args, kwargs)
    own_args, own_kwargs = copied(f, args, kwargs)
    y = f(*own_args, **own_kwargs)
    if may_lend(f, args, kwargs) is not None:
        args, kwargs = copied(f, args, kwargs)  # the gradient changes them as the function does
    name = name or name_of(f)
    if isinstance(y, (int, float, np.number, np.ndarray)) and np.ndim(y) == 0 and not np.iscomplexobj(y):

        def gradient():
            __tracebackhide__ = True
            return ad.gradient(f, *args, **kwargs)

        return Timed(f"gradient of {name}", gradient)
    seed = ones_of(y)
    if not has_seed(seed):
        reverse.seed_for(y, f, args)

    def value_and_pullback():
        __tracebackhide__ = True
        _, back = ad.pullback(f, *args, **kwargs)
        return back(seed)

    return Timed(f"value with pullback of {name}", value_and_pullback)


def ones_of(y: Any) -> Any:
    """A seed of ones with the structure of a result; None in place of anything that is not a number."""
    if isinstance(y, dict):
        return {key: ones_of(value) for key, value in y.items()}
    if isinstance(y, (tuple, list)):
        ones = [ones_of(value) for value in y]
        return y._make(ones) if hasattr(y, "_make") else type(y)(ones)
    if isinstance(y, np.ndarray) and y.dtype.kind in "biufc":
        return np.ones_like(y, dtype=np.result_type(y, np.float32))
    if isinstance(y, (complex, np.complexfloating)):
        return 1.0 + 0.0j
    return 1.0 if isinstance(y, (int, float, np.number, np.bool_)) else None


def has_seed(seed: Any) -> bool:
    """Whether a seed made by `ones_of` contains any number."""
    if isinstance(seed, dict):
        return any(map(has_seed, seed.values()))
    return any(map(has_seed, seed)) if isinstance(seed, (tuple, list)) else seed is not None


def refusal(f: Callable | str, gradient_of_f: Callable[[], object]) -> str | None:
    """Why the AD cannot differentiate `f`, in one line, or None if it can."""
    __tracebackhide__ = True
    try:
        gradient_of_f()
    except RuleLabError as error:
        return f"{name_of(f)} has no gradient without a rule ({type(error).__name__}: {headline(error)})."
    return None


def name_of(f: Any) -> str:
    """The name of a function in a report; a string is returned unchanged."""
    return f if isinstance(f, str) else getattr(f, "__name__", None) or type(f).__name__


def gradient_of(f: Any) -> str:
    """The name of the gradient of a function in a report."""
    return f"gradient of {name_of(f)}"


def primal_name(f: Any) -> str:
    """The name of the function itself in a report that also has gradients."""
    return f"{name_of(f)} itself, no gradient"


def headline(error: BaseException) -> str:
    """The first line of an error's message."""
    return str(getattr(error, "found", error)).split("\n", 1)[0]
