"""The sweeps of a pass on Python's own floats, for a gradient, or for a value that certainly consists of
numbers.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numpy import float64

from ...errors import RuleLabError
from ...rules.kinds import F8, FLOAT, INT, Array, Tuple, Type, type_of_signature
from ..base.question import Question
from ..memory.support import are_finite
from .cache import Pass
from .captured import constants_captured
from .entries import Entry
from .passes import NotOnFloats, compile_pass

MOST_MISSES = 3  # calls that had to be repeated, after which floats are no longer tried


def may_be_on_floats(pullbacks: Any, made: Pass) -> bool:
    """Whether floats are worth trying: nothing is kept, noted or watched, and some argument is a float64 or
    an array of these, or there is a power that may turn complex.
    """
    watched = pullbacks.implicit or pullbacks.keeps or pullbacks.cache.probes is not None
    if watched or made.noted:
        return False
    kinds = map(type_of_signature, made.signature)
    if made.has_powers:
        return True
    return any(kind == F8 or (isinstance(kind, Array) and kind.dtype == "f8") for kind in kinds)


class OnFloats:
    """The sweeps of a pass on Python's own floats: `run(*args)` returns `(y, back)`.

    If they raise or give numbers that are not finite, the call must be repeated with NumPy's numbers, which
    then warn or raise as usual: the function only computes. Each repetition is a miss; after a few, floats
    are no longer tried.
    """

    __slots__ = ("as_numpys", "misses", "run")

    def __init__(self, run: Callable[..., Any], as_numpys: Callable[[Any], Any] | None) -> None:
        self.run = run
        self.as_numpys = as_numpys  # converts a value to the one on NumPy's numbers, if its type is certain
        self.misses = 0


def pass_on_floats(
    pullbacks: Question, held: weakref.ref[FunctionType], flags: tuple[bool, ...], made: Pass
) -> OnFloats | None:
    """The pass of a function on floats; None if that gains nothing."""
    function = held()
    free = None if function is None else constants_captured(pullbacks.cache, function)
    if function is None or free is None:
        return None
    given = (made.signature, flags, free, False, True)
    try:
        quick = compile_pass(pullbacks, function, *given, on_floats=True, before=made.before)
    except (NotOnFloats, RuleLabError):
        return None
    return OnFloats(quick.bound_to(function), _converter(made.result, quick.result))


def forward_of_gradient(entry: Entry) -> Callable[..., Any]:
    """The forward sweep of an entry, for a caller that does not want the value."""
    forward, quick = entry.forward, None if entry.on_floats is None else entry.on_floats()
    if quick is None:
        return forward

    def forward_on_floats(*args: Any) -> Any:
        if quick.misses >= MOST_MISSES:
            return forward(*args)
        try:
            y, back = quick.run(*args)
            finite = math.isfinite(y)  # silent where a difference of NumPy's numbers would warn
        except Exception:
            finite = False
        if not finite:
            quick.misses += 1
            return forward(*args)

        def back_on_floats(y_bar: Any) -> Any:
            try:
                found = back(y_bar)
                if are_finite(found):
                    return found
            except ArithmeticError:
                pass
            quick.misses += 1
            return forward(*args)[1](y_bar)

        return y, back_on_floats

    return forward_on_floats


def _converter(wanted: Type, given: Type) -> Callable[[Any], Any] | None:
    """A function that converts a value on floats to the type wanted; None if the types are not certain."""
    if isinstance(wanted, Tuple) and isinstance(given, Tuple):
        parts = [_number(*pair) for pair in zip(wanted.items, given.items, strict=True)]
        if None in parts or not parts:
            return None
        if set(parts) == {float64}:
            return lambda y: tuple(map(float64, y))
        return lambda y: tuple([make(x) for make, x in zip(parts, y)])  # type: ignore[misc]
    return _number(wanted, given)


def _number(wanted: Type, given: Type) -> Callable[[Any], Any] | None:
    if wanted == given and given in (FLOAT, INT, F8):
        return _same
    return float64 if wanted == F8 and given == FLOAT else None


def _same(x: Any) -> Any:
    return x
