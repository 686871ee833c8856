"""The fused pass of an entry: both sweeps as one function, for a gradient without a pullback."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ...errors import RuleLabError
from ..base.question import Question
from .cache import Pass
from .captured import constants_captured
from .entries import Entry
from .on_floats import MOST_MISSES
from .passes import NotFused, NotOnFloats, compile_pass


@dataclass(frozen=True, eq=False)
class Fused:
    """`run(*args)` gives the value and the cotangents, `(y, x_bar, …)`, or `(y, (x_bar, …))` if these are
    `exact`: the entries of the gradient as they are. It gives None where the two sweeps have to answer.
    """

    run: Callable[..., Any]
    exact: bool
    entries: Callable[..., Any] | None  # gives these without the value
    on_floats: bool  # whether the value may be a number of Python's where that of the function is NumPy's


def may_be_fused(pullbacks: Any, made: Pass) -> bool:
    """Whether it is worth a try: where the pass only computes, and nothing is noted or watched."""
    watched = pullbacks.implicit or pullbacks.keeps or pullbacks.cache.probes is not None
    return made.computes and not watched and not made.noted


def fused_pass(
    pullbacks: Question,
    flags: tuple[bool, ...],
    held: weakref.ref[FunctionType],
    made: Pass,
    count: int,
    on_floats: bool,
) -> Fused | None:
    """The fused pass of a function that is called with so many arguments, `flags` for all its parameters;
    None where there is none.
    """
    function = held()
    free = None if function is None else constants_captured(pullbacks.cache, function)
    if function is None or free is None:
        return None
    given = (made.signature, flags, free, False, True)
    try:
        found = compile_pass(
            pullbacks, function, *given, on_floats=on_floats, before=made.before, fused=count
        )
    except (NotFused, NotOnFloats, RuleLabError):
        return None
    run, entries = found.bound_to(function), found.entries_bound_to(function)
    for one in (run, entries):
        if one is not None:
            one.__defaults__ = function.__defaults__
    return Fused(run, found.exact, entries, on_floats)


def fused_of(entry: Entry) -> Fused | None:
    """The fused pass by which an entry answers, compiled when it is first asked for; None if it has none."""
    fuse = entry.fuse
    if fuse is not None:
        entry.fuse = None
        quick = fuse(True) if entry.on_floats is not None else None
        if quick is not None:
            entry.fused = _as_long_as_finite(quick)
        elif entry.on_floats is None or entry.on_floats() is None:  # else two sweeps on floats are quicker
            entry.fused = fuse(False)
    return entry.fused


def _as_long_as_finite(quick: Fused) -> Fused:
    """A pass on floats that answers only where NumPy's numbers would not have warned, as `OnFloats` does."""
    misses = 0

    def until_it_misses(compute: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            nonlocal misses
            if misses >= MOST_MISSES:
                return None
            try:
                found = compute(*args)
            except Exception:
                found = None
            if found is None:  # a number that is not finite, or what Python's numbers raise
                misses += 1
            return found

        return run

    entries = None if quick.entries is None else until_it_misses(quick.entries)
    return Fused(until_it_misses(quick.run), quick.exact, entries, True)
