"""The fast path of `pullback`, for functions of numbers and arrays that have an entry.

Of what such a pass keeps, only arrays can change between the two sweeps: numbers are immutable, and there are
no containers, provided that the variables of the pullback show this.
"""

from __future__ import annotations

from collections.abc import Callable
from gc import get_referents
from math import isfinite
from operator import itemgetter
from types import CellType, CodeType, FunctionType, NoneType
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ..compiler.analysis.effects import LOUD
from ..compiler.base.deriving import derives
from ..compiler.calls.borrowed import asks_for_copies, sweeping
from ..compiler.calls.cache import DEFAULT as DEFAULT_CACHE
from ..compiler.calls.cache import Cache
from ..compiler.calls.entries import KEPT, Entry, Known, bars_of_rest
from ..compiler.calls.on_floats import MOST_MISSES, OnFloats
from ..compiler.memory.fingerprints import array_fingerprint
from ..compiler.memory.heap import enter, leave
from ..compiler.memory.snapshots import Snapshots
from ..errors import RuleLabError
from ..tangents.structural import make
from .natural import natural_entries
from .operator_arguments import PULLBACKS, complete_error

_FLOATS = frozenset({float, float64})
_PYTHONS = frozenset({float})
_NUMBERS = _FLOATS | {int, bool, complex, np.bool_, np.int64, np.float32, np.complex128, str, NoneType}


def _making_pullbacks(maker: Any) -> Any:
    """Decorator for a function that makes pullbacks: registers their code as code of sweeps. Decorating each
    pullback would take as long as a few of its operations.
    """
    for code in maker.__code__.co_consts:
        if isinstance(code, CodeType) and code.co_name == "back":
            cells = tuple([CellType() for _ in code.co_freevars])
            sweeping(derives(FunctionType(code, {}, "back", None, cells)))
    return maker


@_making_pullbacks
def pulled(
    f: Any,
    args: tuple[Any, ...],
    watched: Callable[[Any], Any],
    changed: Callable[[Any, Any], None],
    seed_for: Callable[[Any, Any], Any],
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
    """Return `(y, back)` as `pullback` does, if there is an entry for this call; None for the slow path.

    `watched(back)` watches everything that a pullback keeps, `changed(f, array)` raises the error for an
    array that has changed, and `seed_for(y, y_bar)` checks a cotangent.
    """
    __tracebackhide__ = True
    entry = PULLBACKS.entries.find(f, args)
    if entry is None or entry.structured or (entry.whole is None and entry.made is not None):
        return None
    happened = LOUD[0]
    outer = enter()
    try:
        count = entry.count
        y, inner = entry.forward(*args) if count is None else entry.whole(*args[:count], args[count:])
        arrays = arrays_kept(entry, inner)
        kept = watched(inner) if arrays is None else None
    except RuleLabError as error:
        if asks_for_copies(error) and LOUD[0] == happened:
            return None
        complete_error(error, f, args)
        raise
    finally:
        leave(outer)
    is_float = type(y) is float or type(y) is float64
    kinds = tuple(map(type, y)) if type(y) is tuple and _are_floats(y, len(y)) else None
    shown = y if is_float or kinds is not None else Snapshots().of(y)

    def back(y_bar: Any) -> tuple[Any, ...]:
        __tracebackhide__ = True
        if kept is not None:
            kept.check(f)
        elif arrays:
            for x, seen in arrays:
                if array_fingerprint(x) != seen:
                    changed(f, x)
        if is_float and type(y_bar) is float:
            seed: Any = y_bar
        elif kinds is not None and type(y_bar) is tuple and _are_floats(y_bar, len(kinds)):
            seed = _of_kinds(y_bar, kinds)
            if not entry.takes_numbers:
                seed = make(tuple, dict(enumerate(seed)), len(kinds))
        else:
            seed = seed_for(shown, y_bar)
        outer = enter()
        try:
            found = inner(seed)
        finally:
            leave(outer)
            if kept is not None:
                kept.take_again()
        if count is not None:
            found = (*found[: 1 + count], *bars_of_rest(found[1 + count], len(args) - count))
        return natural_entries(args, found, False)

    note_way(f.__dict__[KEPT], entry, args, DEFAULT_CACHE)
    back.__name__ = _name_for(f)
    return y, back


def _name_for(f: FunctionType) -> str:
    """The name of the pullback of a function."""
    return f"{f.__name__}_pullback" if f.__name__.isidentifier() else "back"


def note_way(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> None:
    """From now on, use this entry directly for calls of the function with numbers of these types, provided
    that neither sweep keeps anything or has an effect that must be watched.
    """
    kinds = tuple(map(type, args))
    fits = entry.made is not None and entry.whole is not None and entry.count is None and entry.computes
    if fits and entry.keeps_numbers and _FLOATS.issuperset(kinds):
        known.of_numbers = _way_of_numbers(known, entry, kinds, cache)


def _way_of_numbers(known: Known, entry: Entry, kinds: tuple[type, ...], cache: Cache) -> Callable[..., Any]:
    registry, epoch, guard, forward = cache.registry, entry.epoch, entry.guard, entry.whole
    function, code, era = known.function, known.code, known.era
    quick = None if entry.on_floats is None else entry.on_floats()
    numpys = [place for place, kind in enumerate(kinds) if kind is float64]
    name = ""

    @sweeping
    @derives
    def pulled_back(f: FunctionType, args: tuple[Any, ...], seed_for: Callable[[Any, Any], Any]) -> Any:
        __tracebackhide__ = True
        nonlocal name
        if (
            tuple(map(type, args)) != kinds
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not guard(f.__globals__))
        ):
            return None
        if quick is not None and quick.misses < MOST_MISSES and quick.as_numpys is not None:
            try:
                y, inner = quick.run(*args)
                finite = isfinite(sum(y) if type(y) is tuple else y)
            except Exception:
                finite = False
            if finite:
                y = quick.as_numpys(y)
                back = _back_on_floats(f, args, numpys, y, inner, quick, again, seed_for)
                back.__name__ = name = name or _name_for(f)
                return y, back
            quick.misses += 1
        return again(f, args, seed_for)

    def again(f: FunctionType, args: tuple[Any, ...], seed_for: Callable[[Any, Any], Any]) -> Any:
        """The same without conversion to Python floats."""
        happened = LOUD[0]
        try:
            y, inner = forward(*args)
        except RuleLabError as error:
            if asks_for_copies(error) and LOUD[0] == happened:
                return None
            complete_error(error, f, args)
            raise
        back = _back_of_numbers(args, kinds, y, inner, entry.takes_numbers, seed_for)
        back.__name__ = _name_for(f)
        return y, back

    return pulled_back


@_making_pullbacks
def _back_of_numbers(
    args: tuple[Any, ...],
    kinds: tuple[type, ...],
    y: Any,
    inner: Callable[[Any], Any],
    takes_numbers: bool,
    seed_for: Callable[[Any, Any], Any],
) -> Callable[[Any], Any]:
    is_float = type(y) is float or type(y) is float64
    seeds = tuple(map(type, y)) if type(y) is tuple else ()
    if not _FLOATS.issuperset(seeds):
        seeds = ()
    shown = y if seeds or is_float else Snapshots().of(y)

    def back(y_bar: Any) -> tuple[Any, ...]:
        __tracebackhide__ = True
        if seeds and type(y_bar) is tuple and _are_floats(y_bar, len(seeds)):
            seed: Any = _of_kinds(y_bar, seeds)
            if not takes_numbers:
                seed = make(tuple, dict(enumerate(seed)), len(seeds))
        elif is_float and type(y_bar) is float:
            seed = y_bar
        else:
            seed = seed_for(shown, y_bar)
        found = inner(seed)
        bars = found[1:]
        if len(bars) == len(kinds) and _FLOATS.issuperset(map(type, bars)):
            return _of_kinds(bars, kinds)
        return natural_entries(args, found, False)

    return back


@_making_pullbacks
def _back_on_floats(
    f: FunctionType,
    args: tuple[Any, ...],
    numpys: list[int],
    y: Any,
    inner: Callable[[Any], Any],
    quick: OnFloats,
    again: Callable[..., Any],
    seed_for: Callable[[Any, Any], Any],
) -> Callable[[Any], Any]:
    """Like `_back_of_numbers`, for sweeps on Python floats; if one overflows, it is repeated with NumPy's
    numbers.
    """
    count = len(y) if type(y) is tuple else 0

    def back(y_bar: Any) -> tuple[Any, ...]:
        __tracebackhide__ = True
        if type(y_bar) is float if not count else type(y_bar) is tuple and _are_floats(y_bar, count):
            try:
                bars = inner(tuple(map(float, y_bar)) if count else y_bar)[1:]
                if isfinite(sum(bars)):
                    if set(map(type, bars)) == _PYTHONS:  # entries for NumPy arguments are converted back
                        entries = list(bars)
                        for place in numpys:
                            entries[place] = float64(bars[place])
                        return tuple(entries)
                    return natural_entries(args, (None, *bars), False)
            except (ArithmeticError, TypeError):  # None, where no cotangent flows back, cannot be summed
                pass
            quick.misses += 1
        return again(f, args, seed_for)[1](y_bar)

    return back


def _of_kinds(numbers: tuple[Any, ...], kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert numbers to these types."""
    if tuple(map(type, numbers)) == kinds:
        return numbers
    return tuple([x if type(x) is kind else kind(x) for x, kind in zip(numbers, kinds)])


def _are_floats(xs: tuple[Any, ...], count: int) -> bool:
    """Whether there are `count` items and each is a float."""
    return len(xs) == count and _FLOATS.issuperset(map(type, xs))


def arrays_kept(entry: Entry, back: Any) -> list[tuple[ndarray, Any]] | None:
    """Return the arrays that the pullback of a pass keeps, with their fingerprints; None if it may keep other
    objects that can change, or if this cannot be decided quickly.
    """
    if entry.made is None or type(back) is not FunctionType:
        return None
    own_cells = entry.kept.get(back.__code__)
    if own_cells is None:
        own_cells = entry.kept[back.__code__] = _own_cells(entry, back)
    # get_referents reads the contents of cells, skipping empty ones (of branches not taken), at a tenth of
    # the cost.
    values = get_referents(*own_cells(back.__closure__ or ()))
    if _NUMBERS.issuperset(map(type, values)):
        return []
    arrays = []
    for x in values:
        kind = type(x)
        if kind is ndarray and not x.dtype.hasobject:
            arrays.append((x, array_fingerprint(x)))
        elif kind not in _NUMBERS and not (kind is tuple and _NUMBERS.issuperset(map(type, x))):
            return None
    return arrays


def _own_cells(entry: Entry, back: FunctionType) -> Callable[[Any], Any]:
    """Return a function that selects the variables of a pullback from its closure: all cells except those of
    the helpers of the pass.
    """
    helpers = set(map(id, entry.whole.__closure__ or ()))
    places = [place for place, cell in enumerate(back.__closure__ or ()) if id(cell) not in helpers]
    return itemgetter(*places) if len(places) > 1 else lambda cells: [cells[place] for place in places]
