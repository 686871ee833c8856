"""Paths that a cotangent has to take and does not: through an intermediate value of the forward part."""

from __future__ import annotations

from ..anatomy import Anatomy, assignments, names_in
from .suspects import called_after


def path_left_out(anatomy: Anatomy, argument: str | None) -> str:
    """The name of the cotangent of an intermediate value that is made of an argument, which the pullback has
    and does not bring to that argument; empty where there is none.

    The quotient rule forgotten, a normalisation taken for a constant: `D_bar` is there, for others.
    """
    for pullback in anatomy.pullbacks:
        made = assignments(pullback)
        for answer in anatomy.answers(pullback):
            own = [node for name, node in answer.cotangents if name == argument]
            reached = _reached(set().union(*map(names_in, own)), made) if own else set(made)
            for name, values in anatomy.values.items():
                of_it = any(value is not None and argument in names_in(value) for value in values)
                for bar in called_after(name) if of_it else ():
                    if bar in made and bar not in reached:
                        return bar
    return ""


def _reached(names: set[str], made: dict) -> set[str]:
    """Those names and all that they are made of."""
    waiting, found = list(names), set(names)
    while waiting:
        for value in made.get(waiting.pop(), ()):
            new = names_in(value) - found if value is not None else set()
            found |= new
            waiting += new
    return found
