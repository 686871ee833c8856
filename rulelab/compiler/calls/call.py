"""One call, as both modes see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import Place
from ..base.places import calls_leading_here


@dataclass(slots=True, eq=False)
class Call:
    """The call `target(*args, **kwargs)` of a target that rules are registered for: the object of a method
    call is its first argument.

    `active` says whether the target, each argument and each keyword varies and its derivative is wanted.
    `place` is the author's line if it is known before the call runs; see `here`.
    """

    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    active: tuple[bool, ...]
    place: Place | None

    in_forward = False  # whether the tangent is asked for, rather than the pullback

    def values(self) -> tuple[Any, ...]:
        """All arguments, by position and by keyword."""
        return (*self.args, *self.kwargs.values()) if self.kwargs else self.args

    def constants(self) -> list[Any]:
        """The arguments that do not vary."""
        return [x for x, on in zip(self.values(), self.active[1:]) if not on]

    def varying(self) -> list[Any]:
        """The arguments that vary."""
        return [x for x, on in zip(self.values(), self.active[1:]) if on]


def here(place: Place | None) -> tuple[Place | None, tuple[Place, ...]]:
    """The author's line of a call, `place` if that is known, and the lines that led there, outermost first.

    In forward mode the line is not known before the call runs: it is the current line of the innermost pass.
    """
    calls = calls_leading_here()
    if place is None and calls:
        place = calls[-1]
    return place, calls[:-1]
