"""Wider intervals for single arguments: `x**p` needs positive `x` but takes any `p`, and a function that
compares a height with zero is meant for both sides of zero, even if the docstring mentions one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

from ..calling.subjects import authors_of
from ..reading.by_name import interval_of_name
from ..reading.guards import compared_with
from ..reading.kinds import Kind
from .guesser import Guesser, Kinds

DRAWS = 3
"""The number of draws below zero at which a rule is tried."""


def of_wider_intervals(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found in which one argument may also be below zero, although all were taken as positive
    because some must be: those for which the rule is wrong below zero and seems right above.
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


def of_sides_compared(guesser: Guesser, kinds: Kinds) -> Iterator[Kinds]:
    """The kinds with numbers beyond an end of an interval that the caller did not choose, for each argument
    that both the function and its rule compare with that end: the code has a branch for each side.
    """
    rules = authors_of(guesser.target, guesser.registry)
    compared = compared_with(guesser.target) & frozenset().union(*map(compared_with, rules))
    for i, end in sorted(compared):
        if i < len(kinds) and guesser.names[i] not in guesser.asked and end in (kinds[i].low, kinds[i].high):
            low, high = (end, math.inf) if end == kinds[i].high else (-math.inf, end)
            beyond = (*kinds[:i], dataclasses.replace(kinds[i], low=low, high=high), *kinds[i + 1 :])
            if guesser.takes(beyond):
                yield beyond


def with_other_sides(
    bounds: Mapping[str, Kind], names: tuple[str, ...], found: tuple[Kinds, ...]
) -> Mapping[str, Kind]:
    """The intervals that a function states for its parameters, extended beyond an end where kinds were found
    there.
    """
    said = dict(bounds)
    for name, kinds in zip(names, zip(*found)):
        for kind in kinds if name in said else ():
            if kind.low == said[name].high:
                said[name] = dataclasses.replace(said[name], high=kind.high)
            elif kind.high == said[name].low:
                said[name] = dataclasses.replace(said[name], low=kind.low)
    return said
