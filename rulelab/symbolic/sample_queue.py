"""The samples at which a rule is judged: those that were given, those that are drawn, and those beside each
border that the earlier ones met."""

from __future__ import annotations

from typing import Any

from .cells import Array, beside_borders, more_samples, positive_samples, samples, shape_of
from .digits import EXACT_DIGITS
from .far_sides import far_sides
from .tracing import mentions

EVERY = 4  # of the samples are one beyond those beside borders
MORE_SAMPLES = 4  # with signs in any mixture, where the program decides by the entries of arrays


class Seeds:
    """Makes seeds: those that are `wanted`, else new ones; `drawn` are those that it has made."""

    def __init__(self, new, wanted=()):
        self.new, self.left, self.drawn = new, list(wanted), []

    def __call__(self):
        self.drawn.append(self.left.pop(0) if self.left else self.new())
        return self.drawn[-1]


class SampleQueue:
    """The samples of one size that are still to be tried, each with the seeds that it is to be tried with;
    `tried` is how many were.
    """

    def __init__(self, names, spec, plan, rng):
        self.names, self.spec, self.rng = names, spec, rng
        self.tried = 0
        self._waiting = [(sample, ()) for sample in (*plan.given, *samples(spec, rng, plan.limits))]
        self._beside: list[Any] = []  # borders that were met
        self._explored: set[Any] = set()
        self._entries_moved: set[Any] = set()
        self._far_tried: set[Any] = set()  # decisions of which the other side was looked for far away
        self._is_mixed = False
        self._positive = list(positive_samples(spec, rng)) if any(map(shape_of, spec)) else []

    def __len__(self):
        return len(self._beside) + len(self._waiting)

    def has_more(self, visits):
        """Whether there is a sample left; where there is none after these visits, others are looked for."""
        if not len(self):
            if not visits:
                self._waiting = [(sample, ()) for sample in self._positive]
                self._positive = []
            elif all(v.digits >= EXACT_DIGITS for v in visits):
                # Of what agrees to some digits nothing is proved anyhow.
                self._beside = [(sample, ()) for sample in far_sides(self.names, visits, self._far_tried)]
        return bool(len(self))

    def next(self):
        """(sample, seeds) of the next one."""
        # Not the borders alone: `floor` has ever more of them, all in one direction.
        is_beside = self._beside and (self.tried % EVERY or not self._waiting)
        return (self._beside if is_beside else self._waiting).pop(0)

    def follow(self, sample, visit, seeds):
        """Have the other sides of what a visit decided tried, which it made of a sample with these seeds."""
        if visit.path in self._explored:
            return
        self._explored.add(visit.path)
        if not self._is_mixed and visit.path and any(isinstance(kind, Array) for kind in visit.sample):
            self._is_mixed = True
            self._waiting += [(more, ()) for more in more_samples(self.spec, self.rng, MORE_SAMPLES)]
        beside = beside_borders(sample, self.names, visit.trace.decisions, self._entries_moved)
        self._beside = [*_other_side(visit, seeds), *((s, ()) for s in beside), *self._beside]


def _other_side(last, seeds):
    """The sample of a visit once more with the opposite seeds, where the rule decides by them: cotangents are
    linear in the seed, and a proof for seeds of one sign would be none."""
    decided = any(mentions(d.left, last.seeds) or mentions(d.right, last.seeds) for d in last.trace.decisions)
    return [(last.sample, [-seed for seed in seeds])] if decided else []
