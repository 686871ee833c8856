"""Wider intervals for some of the arguments alone: `x**p` needs positive numbers `x`, and takes any `p`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from ..reading.by_name import interval_of_name
from .guesser import Guesser, Kinds

DRAWS = 3
"""Arguments at which a rule is asked below zero."""


def of_wider_intervals(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """Kinds found in which one argument, where all were taken to be positive because some have to be, may be
    below zero, too: those for which a rule is wrong there, and seems right above.
    """
    if guesser.mode != "rrule":
        return
    for kinds in found:
        for i, kind in enumerate(kinds):
            name = guesser.names[i]
            is_said = name in guesser.domain or interval_of_name(name) != (-math.inf, math.inf)
            is_free = not is_said and kind.form in ("number", "vector", "matrix")
            if len(kinds) < 2 or not is_free or (kind.low, kind.high) != (0.0, math.inf):
                continue
            wider = (*kinds[:i], dataclasses.replace(kind, low=-math.inf), *kinds[i + 1 :])
            if _is_wrong_below_zero(guesser, kinds, wider, i):
                yield wider


def _is_wrong_below_zero(guesser: Guesser, kinds: Kinds, wider: Kinds, i: int) -> bool:
    below = (*kinds[:i], dataclasses.replace(kinds[i], low=-math.inf, high=0.0), *kinds[i + 1 :])
    drawn = [guesser.draw(below, number) for number in range(DRAWS)]
    if len(list(guesser.finite_values(drawn))) < DRAWS or not guesser.takes(wider):
        return False
    is_right = guesser.seems_right(guesser.drawn(kinds))
    return is_right and all(map(guesser.rule_runs, drawn)) and not all(map(guesser.seems_right, drawn))
