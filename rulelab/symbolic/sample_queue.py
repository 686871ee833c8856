"""The queue of samples at which a rule is judged: those that were given, those that are drawn, and those
beside each border that earlier ones found.
"""

from __future__ import annotations

from typing import Any

from .cells import Array, beside_borders, more_samples, positive_samples, samples, shape_of
from .digits import EXACT_DIGITS
from .far_sides import far_sides
from .tracing import depends_on

EVERY = 4  # every n-th sample is not one beside a border
MORE_SAMPLES = 4  # samples with mixed signs, drawn if the program decides on entries of arrays


class Seeds:
    """Provides seeds: first those that are `wanted`, then new ones; `drawn` lists those provided so far."""

    def __init__(self, new, wanted=()):
        self.new, self.left, self.drawn = new, list(wanted), []

    def __call__(self):
        self.drawn.append(self.left.pop(0) if self.left else self.new())
        return self.drawn[-1]


class SampleQueue:
    """The samples of one size that remain to be tried, each with its seeds; `tried` is the number of samples
    taken so far.
    """

    def __init__(self, names, spec, plan, rng):
        self.names, self.spec, self.rng = names, spec, rng
        self.tried = 0
        self._waiting = [(sample, ()) for sample in (*plan.given, *samples(spec, rng, plan.limits))]
        self._beside: list[Any] = []  # samples beside borders that were found
        self._explored: set[Any] = set()
        self._entries_moved: set[Any] = set()
        self._far_tried: set[Any] = set()  # decisions whose other side was searched for far away
        self._is_mixed = False
        self._positive = list(positive_samples(spec, rng)) if any(map(shape_of, spec)) else []

    def __len__(self):
        return len(self._beside) + len(self._waiting)

    def has_more(self, visits):
        """Whether there is a sample left. If not, further ones are looked for, based on these visits."""
        if not len(self):
            if not visits:
                self._waiting = [(sample, ()) for sample in self._positive]
                self._positive = []
            elif all(v.digits >= EXACT_DIGITS for v in visits):
                # If only some digits agree nothing will be proved anyway.
                self._beside = [(sample, ()) for sample in far_sides(self.names, visits, self._far_tried)]
        return bool(len(self))

    def next(self):
        """Return the next (sample, seeds)."""
        # Not only samples beside borders: `floor` has ever more of them, all in one direction.
        is_beside = self._beside and (self.tried % EVERY or not self._waiting)
        return (self._beside if is_beside else self._waiting).pop(0)

    def follow(self, sample, visit, seeds):
        """Queue samples on the other sides of the decisions of a visit, which was made with this sample and
        these seeds.
        """
        if visit.path in self._explored:
            return
        self._explored.add(visit.path)
        if not self._is_mixed and visit.path and any(isinstance(kind, Array) for kind in visit.sample):
            self._is_mixed = True
            self._waiting += [(more, ()) for more in more_samples(self.spec, self.rng, MORE_SAMPLES)]
        beside = beside_borders(sample, self.names, visit.trace.decisions, self._entries_moved)
        self._beside = [*_other_side(visit, seeds), *((s, ()) for s in beside), *self._beside]


def _other_side(last, seeds):
    """The sample of a visit with the opposite seeds, if the rule decides on them: cotangents are linear in
    the seed, and a proof for seeds of one sign would not be one.
    """
    decided = any(
        depends_on(d.left, last.seeds) or depends_on(d.right, last.seeds) for d in last.trace.decisions
    )
    return [(last.sample, [-seed for seed in seeds])] if decided else []
