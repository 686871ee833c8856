"""The fused pass of an entry: both sweeps in one function, for a gradient without a pullback."""

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
    """A fused pass: `run(*args)` returns the value and the cotangents as `(y, x_bar, …)`, or as
    `(y, (x_bar, …))` if these are `exact`, that is, the entries of the gradient as they are. None means that
    the two sweeps must answer.
    """

    run: Callable[..., Any]
    exact: bool
    entries: Callable[..., Any] | None  # returns the entries without the value
    on_floats: bool  # whether the value may be a Python number where the function's own is NumPy's


def may_be_fused(pullbacks: Any, made: Pass) -> bool:
    """Whether fusing is worth trying: the pass only computes, and nothing is noted or watched."""
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
    """The fused pass of a function that is called with `count` arguments, with `flags` for all of its
    parameters; None if there is none.
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
    """The fused pass of an entry, compiled when first asked for; None if it has none."""
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
    """A pass on floats that, like `OnFloats`, answers only where NumPy's numbers would not have warned."""
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
            if found is None:  # a number that is not finite, or an error of Python's numbers
                misses += 1
            return found

        return run

    entries = None if quick.entries is None else until_it_misses(quick.entries)
    return Fused(until_it_misses(quick.run), quick.exact, entries, True)
