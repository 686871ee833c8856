"""Borders between branches of a rule at which its function changes no branch: the two conditions differ, as
`re < 230.0` in a rule for `re < 2300.0`. Few random points lie between two such borders.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator
from typing import NamedTuple

from ..calling.subjects import Subject
from ..probing.leaps import are_a_pair, between
from ..probing.probes import Point
from .points import lines_at

MOST_PAIRS = 8
"""How many pairs of points in different branches of the rule are tried."""
HALVINGS = 40
"""How often the line between two points is halved."""
DISTANCES = tuple(2.0**-k for k in range(4, 28))
"""How far from a border the rule is judged, as a fraction of the line: the largest distance at which both the
function and its rule are still in the branches they have at the border.
"""


class Branches(NamedTuple):
    """The lines, and the arms of conditionals, that the function and its rule run at a point."""

    function: frozenset[tuple[types.CodeType, int]]
    rule: frozenset[tuple[types.CodeType, int]]


def beside_missed_borders(subject: Subject, points: list[Point]) -> Iterator[Point]:
    """Points on both sides of each border of the rule that is none of the function, on the line between two
    of the points.
    """
    found = [(point, branches_at(subject, point)) for point in points]
    pairs = (
        (one, other, here, there)
        for (one, here), (other, there) in itertools.combinations(found, 2)
        if here.rule != there.rule and are_a_pair(one, other)
    )
    for pair in itertools.islice(pairs, MOST_PAIRS):
        yield from _beside_missed_border(subject, *pair)


def branches_at(subject: Subject, point: Point) -> Branches:
    """The branches of the function and of its rule, each without what the other runs."""
    run, own = lines_at(subject, point, with_arms=True), frozenset(subject.rule_codes)
    of_rule = frozenset(place for place in run if place[0] in own)
    return Branches(frozenset(run) - of_rule, of_rule)


def _beside_missed_border(
    subject: Subject, one: Point, other: Point, before: Branches, after: Branches
) -> Iterator[Point]:
    """Such points between two, of which the branches are known."""

    def at(part: float) -> Point:
        return between(one, other, part)

    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        there = branches_at(subject, at(middle))
        if there.rule == before.rule:
            low, before = middle, there
        else:
            high, after = middle, there
    if before.function != after.function:
        return  # the function has a border there, too
    for border, sign, branches in ((low, -1, before), (high, 1, after)):
        parts = (border + sign * distance for distance in DISTANCES)
        inside = (part for part in parts if 0 < part < 1 and branches_at(subject, at(part)) == branches)
        yield from (at(part) for part in itertools.islice(inside, 1))
