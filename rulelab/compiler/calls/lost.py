"""Varying values passed to a rule that has no derivative for them: refused, so that none is lost silently."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...errors import KeywordError, NotDifferentiableError, Place
from ...rules.rule import Rule
from ...rules.targets import name_of
from ...tangents.missing import MissingSlope
from ...tangents.structural import Tangent
from ..memory.handlers import NO
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


class LostArgument(MissingSlope):
    """The cotangent of an argument that a built-in rule has no derivative for. It raises where it is used,
    not before, since the argument may turn out to be constant.
    """

    __slots__ = ("name", "target")

    def __init__(self, target: Any, name: str, place: Place | None) -> None:
        self.target, self.name, self.place = target, name, place

    def __repr__(self) -> str:
        return f"LostArgument({name_of(self.target)}, {self.name!r})"

    def error(self) -> Exception:
        return _lost(self.target, self.name, self.place)


def _lost(target: Any, name: str, place: Place | None) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"The rule of {name_of(target)} gives no derivative for its argument {name}",
        place=place,
        fixes=(
            f"use rl.ignore_derivatives({name}) if it is a constant",
            "write a rule for the calling function",
        ),
        read="limitations#keywords",
    )


def lost(call: Call, x: Any, name: str) -> Any:
    """The cotangent of such an argument: a LostArgument for each number, in lists and tuples as well."""
    return _in_form_of(x, LostArgument(call.target, name, here(call.place)[0]), ())


def _in_form_of(x: Any, missing: LostArgument, above: tuple[int, ...]) -> Any:
    if type(x) not in (list, tuple) or id(x) in above:
        return missing if holds_inexact(x) else NO
    return Tangent(type(x), *[_in_form_of(item, missing, (*above, id(x))) for item in x])


def refuse_lost(call: Call, name: str) -> NoReturn:
    """Raises for an argument that a built-in rule has no derivative for; the call's own error if it fails in
    plain Python.
    """
    own = own_error(call.target, call.args, call.kwargs)
    raise own or _lost(call.target, name, here(call.place)[0])


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
        fixes=(f"make {name} a positional parameter", f"use rl.ignore_derivatives({name})"),
        read="rules#keywords",
    )
