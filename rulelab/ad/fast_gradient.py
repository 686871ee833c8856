"""The fastest path of `gradient`, for functions of numbers and arrays, in particular of one or two float64
ones: all checks of an entry in one place, by quick tests.

What the quick tests do not accept is checked in full, and a call that no entry covers takes the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from types import FunctionType
from typing import Any

from numpy import dtype, float64, ndarray

from ..compiler.analysis.effects import LOUD
from ..compiler.base.deriving import derives
from ..compiler.base.places import tell_bodies
from ..compiler.calls.borrowed import sweeping
from ..compiler.calls.cache import Cache, at_a_glance, holds
from ..compiler.calls.captured import constants_captured
from ..compiler.calls.entries import FLOAT64, Entry, Known, not_at_once
from ..compiler.calls.fused import Fused, fused_of
from ..compiler.calls.on_floats import MOST_MISSES, forward_of_gradient
from ..compiler.calls.opened import Way
from ..compiler.memory.heap import enter, is_nested, leave
from ..errors import RuleLabError
from .by_rule import way_by_rule
from .natural import OURS, natural_entries, should_restart
from .operator_arguments import PULLBACKS, seed_of

_Way = Callable[..., "tuple[Any, ...] | None"]
_Otherwise = Callable[[Any, "tuple[Any, ...]", Any], "tuple[Any, ...]"]


def note_way(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> None:
    """From now on, use this entry directly for calls of the function with arguments of these kinds."""
    way = entry.at_once
    if way is None:
        way = entry.at_once = _way(known, entry, args, cache)
    _note(known, way, len(args))


def _note(known: Known, way: _Way, count: int) -> None:
    if count == 1:
        known.of_one = way
    elif count == 2:
        known.of_two = way
    else:
        known.of_more = way


def note_parts(
    f: FunctionType, way: Way, count: int, argnums: Any, cache: Cache, otherwise: _Otherwise
) -> None:
    """The same for `count` arguments with parts, by a way that takes the parts and knows the positions of the
    requested arguments. If it finds no gradient for arguments that it accepts, `otherwise(f, args, argnums)`
    returns it.
    """
    if way.fused is None:
        return
    known = PULLBACKS.entries.open_for(f)
    by_parts = _by_parts(known, f, way, count, argnums, cache, otherwise)
    if way.numbers is None:
        _note(known, by_parts, count)
    else:
        known.of_chosen = argnums, count, by_parts


def note_chosen(
    known: Known, entry: Entry, args: tuple[Any, ...], argnums: Any, numbers: tuple[int, ...], cache: Cache
) -> None:
    """The same for calls that ask for the arguments at these positions (`numbers`) by this very `argnums`
    object.
    """
    if entry.rule is not None:
        return
    if entry.at_once is None:
        entry.at_once = _way(known, entry, args, cache)
    way = entry.at_once
    if way is not_at_once:
        return

    def of_chosen(f: FunctionType, *args: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        found = way(f, *args)
        return None if found is None else tuple([found[number] for number in numbers])

    def of_the_first(f: FunctionType, *args: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        found = way(f, *args)
        return None if found is None else found[:1]

    known.of_chosen = argnums, len(args), of_the_first if numbers == (0,) else of_chosen


def _way(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> _Way:
    kinds = tuple([x.dtype if type(x) is ndarray else type(x) for x in args])
    if entry.structured:
        return not_at_once
    if entry.rule is not None:
        return way_by_rule(known, entry, kinds, cache)
    if len(args) > 2 or not all(map(_has_one_dtype, args)):
        return _by_pass_of_any(known, entry, args, cache)
    ndims = tuple([x.ndim if type(x) is ndarray else None for x in args])
    return (_by_pass_of_one if len(args) == 1 else _by_pass_of_two)(known, entry, kinds, ndims, cache)


def _has_one_dtype(x: Any) -> bool:
    """Whether the dtype of an array is the singleton of its kind."""
    return type(x) is not ndarray or x.dtype is dtype(x.dtype.char)


def _guards(known: Known, entry: Entry) -> tuple[Callable[..., bool] | None, Callable[..., Any]]:
    """The guard of an entry, if it has one, and a quicker test that may replace it if it passes."""
    guard, function = entry.guard, known.function()
    if guard is None:
        return None, holds
    return guard, guard if function is None else at_a_glance(guard, function.__globals__)


def _answers_alone(entry: Entry, fused: Fused | None) -> bool:
    """Whether a fused pass returns a result for every call, and has no effect besides computing it."""
    return fused is not None and not fused.on_floats and entry.computes


def _entries_by(fused: Fused | None) -> tuple[Callable[..., Any] | None, bool]:
    """The function that computes a gradient in one go, if there is one, and whether it returns the entries as
    they are; otherwise it returns the value and the cotangents.
    """
    if fused is None or fused.entries is None:
        return (None if fused is None else fused.run), False
    return fused.entries, True


def _by_pass_of_one(
    known: Known, entry: Entry, kinds: tuple[Any, ...], ndims: tuple[int | None, ...], cache: Cache
) -> _Way:
    registry, epoch, (guard, quick) = cache.registry, entry.epoch, _guards(known, entry)
    fused = fused_of(entry)
    forward = forward_of_gradient(entry) if fused is None else entry.forward
    run, exact = _entries_by(fused)
    alone = entry.computes
    function, code, era = known.function, known.code, known.era
    (kind,), (ndim,) = kinds, ndims

    @sweeping
    @derives
    def of_array(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            type(x) is not ndarray
            or x.dtype is not kind
            or x.ndim != ndim
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        try:
            return run(x)  # type: ignore[misc]
        except RuleLabError as error:
            if should_restart(error, f, (x,), LOUD[0]):  # an entry that only computes has no effects
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise

    @sweeping
    @derives
    def of_float(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            type(x) is not float
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        try:
            found = run(x)  # type: ignore[misc]
        except RuleLabError as error:
            if should_restart(error, f, (x,), LOUD[0]):  # an entry that only computes has no effects
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        return (found[1],) if type(found[1]) is float else natural_entries((x,), found, False)

    if _answers_alone(entry, fused):
        if exact and ndim is not None:
            return of_array
        if not exact and kind is float:
            return of_float

    @sweeping
    @derives
    def by_pass(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            type(x) is not kind
            if ndim is None
            else (type(x) is not ndarray or x.dtype is not kind or x.ndim != ndim)
        ):
            return None
        if (
            registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        happened = LOUD[0]
        outer = None if alone else enter()
        try:
            found = None if run is None else run(x)
            if found is None:
                y, back = forward(x)
                found = back(1.0 if type(y) is float or type(y) is float64 else seed_of(y, f, (x,), False))
                del back  # and any other reference to the cotangent
            elif exact:
                return found
        except RuleLabError as error:
            if should_restart(error, f, (x,), happened):
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        finally:
            if outer is not None:
                leave(outer)
        x_bar = found[1]
        if type(x_bar) is float:
            if kind is float:
                return (x_bar,)
        elif (
            type(x_bar) is ndarray
            and kind is FLOAT64
            and x_bar.dtype is FLOAT64
            and x_bar.base is None
            and getrefcount(found[1]) == OURS
            and x_bar.flags.writeable
            and (len(x_bar) == len(x) if x_bar.ndim == 1 == ndim else x_bar.shape == x.shape)
        ):
            return (x_bar,)
        return natural_entries((x,), found, False)

    return by_pass


def _by_pass_of_two(
    known: Known, entry: Entry, kinds: tuple[Any, ...], ndims: tuple[int | None, ...], cache: Cache
) -> _Way:
    registry, epoch, (guard, quick) = cache.registry, entry.epoch, _guards(known, entry)
    fused = fused_of(entry)
    forward = forward_of_gradient(entry) if fused is None else entry.forward
    run, exact = _entries_by(fused)
    alone, only = entry.computes, _answers_alone(entry, fused)
    function, code, era = known.function, known.code, known.era
    (first, second), (ndim, other) = kinds, ndims

    @sweeping
    @derives
    def by_one_function(f: FunctionType, a: Any, b: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            (
                type(a) is not first
                if ndim is None
                else (type(a) is not ndarray or a.dtype is not first or a.ndim != ndim)
            )
            or (
                type(b) is not second
                if other is None
                else (type(b) is not ndarray or b.dtype is not second or b.ndim != other)
            )
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        try:
            found = run(a, b)  # type: ignore[misc]
        except RuleLabError as error:
            if should_restart(error, f, (a, b), LOUD[0]):  # an entry that only computes has no effects
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        return found if exact else natural_entries((a, b), found, False)

    if only:
        return by_one_function

    @sweeping
    @derives
    def by_pass(f: FunctionType, a: Any, b: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            type(a) is not first
            if ndim is None
            else (type(a) is not ndarray or a.dtype is not first or a.ndim != ndim)
        ) or (
            type(b) is not second
            if other is None
            else (type(b) is not ndarray or b.dtype is not second or b.ndim != other)
        ):
            return None
        if (
            registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        happened = LOUD[0]
        outer = None if alone else enter()
        try:
            found = None if run is None else run(a, b)
            if found is None:
                y, back = forward(a, b)
                found = back(1.0 if type(y) is float or type(y) is float64 else seed_of(y, f, (a, b), False))
                del back  # and any other references to the cotangents
            elif exact:
                return found
        except RuleLabError as error:
            if should_restart(error, f, (a, b), happened):
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        finally:
            if outer is not None:
                leave(outer)
        return natural_entries((a, b), found, False)

    return by_pass


def _by_pass_of_any(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> _Way:
    """The same for any number of arguments, of any dtypes."""
    registry, epoch, (guard, quick) = cache.registry, entry.epoch, _guards(known, entry)
    fused = fused_of(entry)
    forward = forward_of_gradient(entry) if fused is None else entry.forward
    run, exact = _entries_by(fused)
    alone = entry.computes
    function, code, era = known.function, known.code, known.era
    kinds = [(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in args]

    @sweeping
    @derives
    def by_pass(f: FunctionType, *args: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            [(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in args] != kinds
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or cache.memory.era is not era
            or (guard is not None and not quick(f.__globals__) and not guard(f.__globals__))
        ):
            return None
        happened = LOUD[0]
        outer = None if alone else enter()
        try:
            found = None if run is None else run(*args)
            if found is None:
                y, back = forward(*args)
                found = back(1.0 if type(y) is float or type(y) is float64 else seed_of(y, f, args, False))
                del back  # and any other references to the cotangents
            elif exact:
                return found
        except RuleLabError as error:
            if should_restart(error, f, args, happened):
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        finally:
            if outer is not None:
                leave(outer)
        return natural_entries(args, found, False)

    return by_pass


_NOT_FOUND: Any = object()


def _by_parts(
    known: Known, f: FunctionType, way: Way, count: int, argnums: Any, cache: Cache, otherwise: _Otherwise
) -> _Way:
    """Return the fast path through the fused pass of a way, for the contents of containers; its checks are
    those of `way_of`.
    """
    assert way.fused is not None
    numbers = way.numbers
    entries_alone = way.fused.entries_bound_to(f)
    run, exact = entries_alone or way.fused.bound_to(f), entries_alone is not None
    registry, epoch, guard, take = cache.registry, way.made.epoch, way.made.guard, way.take
    captured, marks = way.captured, len(f.__dict__)
    function, code, era = known.function, known.code, known.era

    @sweeping
    @derives
    def found_for(f: FunctionType, args: tuple[Any, ...]) -> Any:
        memory, copying = cache.memory, cache.copying
        if (
            len(args) != count
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or len(f.__dict__) != marks  # no attributes other than those `way_of` has seen
            or memory.era is not era
            or memory.mode != "auto"
            or (copying is not None and code in copying)
            or way.misses >= MOST_MISSES
            or is_nested()
        ):
            return None
        parts = take(*args)
        if parts is None or not guard(f.__globals__):
            return None
        if captured and constants_captured(cache, f) != captured:
            return None
        try:
            found = run(*parts)
        except Exception:
            return _NOT_FOUND
        entries = way.closed(found if exact else natural_entries(parts, found, False))
        if entries is None:
            return _NOT_FOUND
        return entries if numbers is None else tuple([entries[number] for number in numbers])

    def by_parts(f: FunctionType, *args: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        found = found_for(f, args)
        return otherwise(f, args, argnums) if found is _NOT_FOUND else found

    return by_parts


def through_parts(
    f: Any,
    args: tuple[Any, ...],
    way: Way,
    parts: Sequence[Any],
    several: bool,
    numbers: tuple[int, ...] | None,
) -> tuple[Any, tuple[Any, ...]] | None:
    """Value and gradient by a pass that takes the parts of the arguments and only computes; None for the slow
    path, which also reports what is wrong if it fails.
    """
    try:
        found, exact = None, False
        if way.fused is not None:
            found, exact = way.fused.bound_to(f)(*parts), way.fused.exact
        if found is not None:
            y = found[0]
        else:
            exact = False
            y, back = way.made.bound_to(f)(*parts)
            found = back(seed_of(y, f, args, several))
            del back
    except Exception:
        return None
    entries = way.closed(found[1] if exact else natural_entries(tuple(parts), found, False))
    if entries is None:
        return None
    return y, entries if numbers is None else tuple([entries[number] for number in numbers])
