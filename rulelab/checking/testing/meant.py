"""Whether a function is written for some arguments, as far as its code, its docstring and its names tell: for
those that a check draws if none are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...rules.registry import Registry
from ..arguments.guesser import Guesser, Kinds
from ..arguments.guessing import kinds_of
from ..calling.budgets import Limit
from ..calling.plain_calls import value_of
from ..calling.subjects import authors_of, codes_of, has_loop
from ..judgement.halvings import is_an_end, is_bisection
from ..measuring.configs import ad_config
from ..probing.perturb import are_in_order, revalued
from ..reading.kinds import SQUARE, Kind
from ..reading.parameters import all_names
from ..reading.relations import Related, relations_of
from ..reading.searches import Searches

SECONDS = 2.0
"""Processor time for the search among kinds of arguments."""
DRAWS, MOST_RIGHT = 6, 0.75
"""The number of draws at which a rule must seem right, and the share of them that counts as most."""
BESIDE = 1e-3
"""How far numbers are moved from where they were drawn, relative to their size."""
_RANKS = {
    **dict.fromkeys(("number", "integer"), 0),
    **dict.fromkeys(("vector", "rows", "columns", "list", "mask", "indices"), 1),
    **dict.fromkeys(("matrix", "flags", *SQUARE), 2),
}


class IntendedArguments:
    """The arguments that the rule of a function in a registry is written for. `is_registered` if its author
    registered it, so that its answers must have the form that the AD takes.
    """

    def __init__(
        self, f: Callable, kwargs: Mapping[str, Any], registry: Registry, is_registered: bool = True
    ) -> None:
        self.f, self.kwargs, self.registry = f, kwargs, registry
        self.is_registered = is_registered

    @cached_property
    def guesser(self) -> Guesser:
        rng, end = np.random.default_rng(0), Limit(SECONDS)
        return Guesser(self.f, self.kwargs, {}, rng, "rrule", ad_config(), self.registry, end)

    @cached_property
    def kinds(self) -> tuple[Kinds, ...]:
        """The kinds that are drawn; empty if none were found."""
        try:
            return kinds_of(self.guesser, several=False).kinds
        except RuleLabError:  # none are found, or its parameters are not known
            return ()

    def excludes(self, args: tuple) -> bool:
        """Whether arguments are not among those intended, and the rule seems right for the intended ones:
        what it does elsewhere need not be a mistake.
        """
        if not self.kinds or len(args) < len(self.guesser.names):
            return False
        return not self._has(args) and self._is_right

    def excludes_ranks(self, ranks: tuple[int, ...]) -> bool:
        """Whether arguments with so many axes are not among those intended, and the rule seems right for most
        of the intended ones: where numbers nearly cancel, a difference proves nothing. If it is not known
        what is intended, only matrices are excluded.
        """
        if not self.kinds:
            return max(ranks, default=0) > 1
        known = [tuple(_RANKS.get(kind.form, -1) for kind in kinds) for kinds in self.kinds]
        if not known or ranks[: len(known[0])] in known:
            return False
        return sum(self._seem_right) > len(self._seem_right) * MOST_RIGHT

    def finds_nothing(self, args: tuple) -> bool:
        """Whether a search loop ends without a result, or a bisection at an end of its interval."""
        guesser = self.guesser
        if self._searches.find_nothing(args, guesser.kwargs):
            return True
        if not self._halves:
            return False
        try:
            return is_an_end(value_of(self.f, args, guesser.kwargs), args, codes_of(self.f))
        except Exception:  # it has no value there
            return False

    def intervals(self) -> dict[str, tuple[float, float]]:
        """The intervals of the numbers of parameters, by name, for those that have one."""
        pairs = zip(self.guesser.names, self.kinds[0]) if self.kinds else ()
        said = {name: (kind.low, kind.high) for name, kind in pairs}
        return {name: ends for name, ends in said.items() if np.isfinite(ends).any()}

    def _has(self, args: tuple) -> bool:
        guesser = self.guesser
        drawn = args[: len(guesser.names)]  # the rest have defaults
        if not are_in_order(drawn, guesser.ordered) or not guesser.related.hold(drawn):
            return False
        if not self._related_with_defaults.hold(args):
            return False
        if guesser.iterated is not None and not guesser.iterated.has_ended(args, guesser.kwargs):
            return False
        if self.finds_nothing(args):
            return False
        return any(all(map(_is_of, kinds, drawn)) for kinds in self.kinds)

    @cached_property
    def _related_with_defaults(self) -> Related:
        """The relations between all parameters, including those with defaults: what is clipped lies between
        two bounds.
        """
        return relations_of(self.guesser.target, all_names(self.guesser.target))

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.guesser.target)

    @cached_property
    def _halves(self) -> bool:
        authors = authors_of(self.f, self.registry)
        codes = chain.from_iterable(map(codes_of, authors))
        return is_bisection(self.guesser.target) and not any(map(has_loop, codes))

    @cached_property
    def _is_right(self) -> bool:
        return bool(self._seem_right) and all(self._seem_right)

    @cached_property
    def _seem_right(self) -> list[bool]:
        """For arguments of the intended kinds, whether the rule seems right there."""
        guesser, first = self.guesser, self.kinds[0]
        drawn = [*(guesser.drawn(first) for _ in range(DRAWS)), *guesser.inside(first)]
        return [self._seems_right(args) for args in drawn if not self.finds_nothing(args)]

    def _seems_right(self, args: tuple) -> bool:
        """Whether the rule seems right at some arguments, or very close to them: on the border between two
        branches the function has no derivative.
        """
        return any(
            self.guesser.seems_right(moved) for moved in (args, revalued(args, lambda x: x * (1 - BESIDE)))
        )


def _is_of(kind: Kind, x: Any) -> bool:
    """Whether an argument is of a kind, as far as its rank, its numbers and its symmetry go."""
    if kind.made is not None:
        return not isinstance(x, (float, np.ndarray))
    if kind.form not in _RANKS:
        return True
    numbers = np.asarray(x)
    if numbers.dtype.kind not in "biufc":  # None or a string
        return False
    if numbers.ndim != _RANKS[kind.form] and not (kind.dims and numbers.ndim == len(kind.dims)):
        return False
    if numbers.dtype.kind == "c":
        return True
    if kind.form in ("integer", "indices", "mask", "flags") and np.any(numbers != np.round(numbers)):
        return False
    if kind.form in ("symmetric", "positive definite") and not np.array_equal(numbers, numbers.T):
        return False
    return bool(np.all((kind.low < numbers) & (numbers < kind.high)))
