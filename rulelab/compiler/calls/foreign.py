"""Calls that cannot be followed: C code and library functions without a rule."""

from __future__ import annotations

import os
import types
from typing import Any

import numpy as np

from ...errors import ForeignCallError, NotDifferentiableError, RuleLabError, an
from ...own_code import FOLDER
from ...python_facts import OPERATORS, PREFIXES
from ...rules.refusals import object_name, reason_for, state_reasons
from ...rules.registry import Registry
from ...rules.rule import Rule
from ...rules.targets import name_of
from ...tangents.holding import CACHED
from ...tangents.missing import NotImplementedTangent
from ..memory.operands import describe
from .call import Call, here
from .own_errors import own_error

_PACKAGE = FOLDER + os.sep
_SIGNS = {
    name: sign
    for each in OPERATORS
    for name, sign in ((each.name.rstrip("_"), each.sign), (each.in_place, f"{each.sign}="))
}
_PREFIXES = {name.rstrip("_"): sign for name, sign in PREFIXES.values()}


state_reasons(CACHED, {"cache_info": "a derivative calls the function a different number of times"})


def refuse_counts(registry: Registry, call: Call) -> None:
    """Refuse `f.cache_info()`: answers for values that vary are not in the cache of `f`."""
    if call.target is CACHED.cache_info:
        raise foreign(registry, call)


def foreign(registry: Registry, call: Call) -> Exception:
    """The error for a call that neither a rule nor a pass can answer: that of a missing derivative among its
    arguments, else the call's own error if it fails in plain Python, else a refusal.
    """
    for x in (*call.args, *call.kwargs.values()):
        if isinstance(x, NotImplementedTangent):
            return x.error()
    return own_error(call.target, call.args, call.kwargs) or _refusal(registry, call)


def _operation(name: str, operands: tuple[Any, ...]) -> str:
    """An operation as it is written: `float64[3] * Matrix`, `-Matrix`, or `operator.getitem(Matrix, int)`."""
    bare, shown = name.removeprefix("operator.").rstrip("_"), list(map(describe, operands))
    if bare in _SIGNS and len(shown) == 2:
        return f"{shown[0]} {_SIGNS[bare]} {shown[1]}"
    if bare in _PREFIXES and len(shown) == 1:
        return f"{_PREFIXES[bare]}{shown[0]}"
    return f"{name}({', '.join(shown)})"


def _refusal(registry: Registry, call: Call) -> RuleLabError:
    target = call.target
    place, chain = here(call.place)
    if isinstance(target, types.FunctionType) and target.__code__.co_filename.startswith(_PACKAGE):
        return NotDifferentiableError(
            f"rulelab's own {target.__name__} is called in a differentiated function, but cannot be "
            "differentiated itself",
            place=place,
            fixes=(
                "put the call in rl.ignore_derivatives(lambda: ...), if its derivative is zero",
                "write a rule for the function that calls it",
            ),
            read="limitations#foreign-calls",
            chain=chain,
        )
    name = name_of(target)
    # A name that is not an identifier belongs to an object that only the author has a name for.
    known = name.replace(".", "_").isidentifier()
    name = name if known else f"{an(type(target).__name__)} object"
    if getattr(target, "__module__", None) == "_operator":
        no_numbers = any(isinstance(x, np.ndarray) and x.dtype.hasobject for x in call.args)
        fix = "make an array of numbers: elements of dtype object have no derivative"
        return NotDifferentiableError(
            f"There is no rule for {_operation(name, call.args)}",
            place=place,
            read="limitations#operators",
            fixes=(fix if no_numbers else "write a rule for the function that contains it",),
        )
    ruled = name if known or place is None else place.function
    near = _near(registry, call)  # also loads the rules of its library, and the reasons why it has none
    why = f": {reason}" if (reason := reason_for(target, *call.args)) else ""
    return ForeignCallError(
        f"Can't differentiate foreign call expression {_expression(name, call)}{why}",
        place=place,
        fixes=(
            *(f"match its rule {rule.describe()}" for rule in near),
            f"write a rule for {ruled} (%rule_stub {ruled})",
            "put the call in rl.ignore_derivatives(lambda: ...), if its derivative is zero",
        ),
        read="limitations#foreign-calls",
        chain=chain,
    )


def _expression(name: str, call: Call) -> str:
    """A call as it would be written; a method of an object that a library has a name for is shown with that
    name.
    """
    args = call.args
    if (owner := object_name(call.target, args)) is not None:
        method = call.target.__name__
        name, args = owner if method == "__call__" else f"{owner}.{method}", args[1:]
    words = (f"{key}={describe(x)}" for key, x in call.kwargs.items())
    return f"{name}({', '.join([*map(describe, args), *words])})"


def _near(registry: Registry, call: Call) -> list[Rule]:
    """Up to two rules for the target that apply to other arguments; a method may be found only through its
    object.
    """
    entry = registry.entry(call.target)
    if call.args:
        registry.entry(call.args[0])
    stated = () if entry is None else (*entry.user, *entry.built_in)
    return [rule for rule in stated if isinstance(rule, Rule) and rule.mode == "rrule"][:2]
