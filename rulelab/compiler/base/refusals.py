"""Refusals that several parts of the compiler make, worded once."""

from __future__ import annotations

import types

from ...errors import InternalError, MutationError, NotDifferentiableError, Place
from ...own_code import is_stand_in
from .places import calls_leading_here


def mutation(
    called: str,
    place: Place | None,
    of_array: bool = True,
    instead: str | None = None,
    in_forward: bool = False,
) -> MutationError:
    """The refusal of a write, worded after the call that would have made it; `instead` says what to do."""
    calls = calls_leading_here()
    if place is not None and is_stand_in(place.filename) and calls:
        place = calls[-1]  # no line of the built-in forward rules is the author's
    what = "Mutating arrays" if of_array else "Changing an object that may be used elsewhere"
    fixes = ["write it without mutation"]
    if not of_array:
        record = "use rl.ignore_derivatives(lambda: ...) to keep a record"
        fixes = [instead] if instead else ["change a copy: list(x), copy.copy(x)", record]
    if place is not None and place.function and place.function != "<lambda>":
        fixes.append(f"write a rule for {place.function} (%rule_stub {place.function})")
    if of_array and not in_forward:
        fixes += ["put the writes in rl.forwarddiff", "fill an rl.Buffer instead of the array"]
    return MutationError(
        f"{what} is not supported -- called {called}",
        place=place,
        fixes=tuple(fixes),
        read="limitations#array-mutation",
        chain=calls[:-1],
    )


def text_read_again(place: Place | None) -> NotDifferentiableError:
    """The refusal of a varying number that is passed on as text, which loses its derivative."""
    return NotDifferentiableError(
        "A number that varies is converted to text, which may be read back as a number",
        place=place,
        fixes=("pass the number itself", "use rl.ignore_derivatives around it"),
        read="limitations#text",
    )


def fault(function: types.FunctionType, error: Exception) -> InternalError:
    """The error raised if the compiler itself fails."""
    name = function.__code__.co_name
    by_rule = (f"write a rule for {name} (%rule_stub {name})",) if name.isidentifier() else ()
    return InternalError(
        f"A bug in rulelab: compiling {name} failed with {type(error).__name__}: {error}",
        place=Place.of_function(function),
        fixes=("report it, with the function", *by_rule),
        read="limitations#wrong-transform",
        chain=calls_leading_here(),
    )
