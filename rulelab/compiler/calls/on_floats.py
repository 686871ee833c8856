"""The forward sweep of a pass on Python's own floats, for who wants the gradient and not the value."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...errors import RuleLabError
from ...rules.kinds import Array, type_of_signature
from ..base.question import Question
from .cache import Pass
from .passes import NotOnFloats, compile_pass

_MOST = 3  # calls that had to begin again, after which nobody tries


def may_be_on_floats(pullbacks: Any, function: FunctionType, made: Pass) -> bool:
    """Whether it is worth a try: where nothing is kept, noted, watched or captured."""
    watched = pullbacks.implicit or pullbacks.keeps or pullbacks.cache.probes is not None
    if watched or made.noted or made.slot is not None or function.__closure__:
        return False
    kinds = map(type_of_signature, made.signature)
    return any(isinstance(kind, Array) and kind.dtype == "f8" for kind in kinds)


def sweep_on_floats(
    pullbacks: Question,
    held: weakref.ref[FunctionType],
    flags: tuple[bool, ...],
    made: Pass,
    forward: Callable[..., Any],
) -> Callable[..., Any] | None:
    """What gives `(y, back)` as `forward` does, with a float for the value; None where that gains nothing.

    What raises, or gives a value that is not finite, is done again by `forward`, which then warns or raises
    as NumPy's numbers do: the function only computes.
    """
    function = held()
    if function is None:
        return None
    try:
        quick = compile_pass(
            pullbacks, function, made.signature, flags, (), False, True, on_floats=True, before=made.before
        )
    except (NotOnFloats, RuleLabError):
        return None
    on_floats = quick.bound_to(function)
    misses = 0

    def forward_on_floats(*args: Any) -> Any:
        nonlocal misses
        if misses >= _MOST:
            return forward(*args)
        try:
            y, back = on_floats(*args)
            finite = math.isfinite(y)  # says nothing where a difference of NumPy's numbers would warn
        except Exception:
            misses += 1
            return forward(*args)
        if not finite:
            misses += 1
            return forward(*args)

        def back_on_floats(y_bar: Any) -> Any:
            nonlocal misses
            try:
                return back(y_bar)
            except ArithmeticError:
                misses += 1
            return forward(*args)[1](y_bar)

        return y, back_on_floats

    return forward_on_floats
