"""Refusals that several parts of the compiler make, worded once."""

from __future__ import annotations

from ..errors import MutationError, Place
from .emit import calls_leading_here


def mutation(called: str, place: Place | None, of_array: bool = True) -> MutationError:
    """The refusal of a write, worded after the call that would have made it."""
    what = "Mutating arrays" if of_array else "Changing an object that others may hold"
    fixes = ["write it without mutation"]
    if place is not None and place.function and place.function != "<lambda>":
        fixes.append(f"write a rule for {place.function} (%rule_stub {place.function})")
    return MutationError(
        f"{what} is not supported -- called {called}",
        place=place,
        fixes=tuple(fixes),
        read="limitations#array-mutation",
        chain=calls_leading_here()[:-1],
    )
