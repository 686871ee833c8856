"""One call, as both modes see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import Place
from ..base.places import calls_leading_here


@dataclass(slots=True, eq=False)
class Call:
    """The call `target(*args, **kwargs)`, once `target` is what rules sit on: the object of a method is its
    first argument.

    `active` tells of the target, each argument and each keyword whether it varies and its derivative is
    wanted. `place` is the author's line, as far as it is known beforehand; see `here`.
    """

    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    active: tuple[bool, ...]
    place: Place | None

    in_forward = False  # whether its tangent is asked for, not its pullback

    def values(self) -> tuple[Any, ...]:
        """All that is passed, by position and by name."""
        return (*self.args, *self.kwargs.values()) if self.kwargs else self.args

    def constants(self) -> list[Any]:
        """What is passed and does not vary."""
        return [x for x, on in zip(self.values(), self.active[1:]) if not on]

    def varying(self) -> list[Any]:
        """What is passed and varies."""
        return [x for x, on in zip(self.values(), self.active[1:]) if on]


def here(place: Place | None) -> tuple[Place | None, tuple[Place, ...]]:
    """The author's line of a call, `place` if it is known, and the lines that led there, outermost first.

    Forward mode does not tell beforehand: there it is the line that the innermost pass is at.
    """
    calls = calls_leading_here()
    if place is None and calls:
        place = calls[-1]
    return place, calls[:-1]
