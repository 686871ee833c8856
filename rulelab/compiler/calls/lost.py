"""Varying values passed to a rule that has no derivative for them: refused, not lost silently."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...errors import KeywordError, NotDifferentiableError
from ...rules.rule import Rule
from ...rules.targets import name_of
from .call import Call, here
from .own_errors import own_error


def is_inexact(x: Any) -> bool:
    """Whether a value is of a type that has a derivative: a float or complex number, or an array of them."""
    return isinstance(x, (float, complex, np.inexact)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def holds_inexact(x: Any) -> bool:
    """Whether a value is of such a type, or lists, tuples and dicts hold one: NumPy makes arrays of them."""
    waiting, seen = [x], set()
    while waiting:
        x = waiting.pop()
        if is_inexact(x):
            return True
        if isinstance(x, (list, tuple, dict)) and id(x) not in seen:
            seen.add(id(x))
            waiting += x.values() if isinstance(x, dict) else x
    return False


def refuse_lost(call: Call, name: str) -> NoReturn:
    """Raises for an argument that a built-in rule has no derivative for; the call's own error if it fails in
    plain Python.
    """
    raise own_error(call.target, call.args, call.kwargs) or NotDifferentiableError(
        f"The rule of {name_of(call.target)} gives no derivative for its argument {name}",
        place=here(call.place)[0],
        fixes=(f"rl.ignore_derivatives({name}) if it is a constant", "write a rule for the calling function"),
        read="limitations#keywords",
    )


def refuse_uncovered(call: Call, known: tuple[str, ...] | None) -> None:
    """KeywordError for a keyword, such as `where=`, that is not among the parameters `known` to a built-in
    rule; the call's own error if it fails in plain Python.
    """
    for name in call.kwargs:
        if known is not None and name not in known:
            raise own_error(call.target, call.args, call.kwargs) or KeywordError(
                f"The rule of {name_of(call.target)} does not cover the argument {name}=",
                place=here(call.place)[0],
                fixes=(f"write a rule for the function that calls {name_of(call.target)} with it",),
                read="limitations#keywords",
            )


def refuse_keyword(call: Call, rule: Rule, name: str) -> NoReturn:
    """Raises KeywordError for a varying keyword that an author's rule treats as a constant."""
    raise KeywordError(
        f"{name_of(call.target)} was given a differentiable value for {name}=, "
        "which its rule takes as a constant",
        place=here(call.place)[0],
        fixes=(f"make {name} a positional parameter", f"rl.ignore_derivatives({name})"),
        read="rules#keywords",
    )
