"""The quickest way of `gradient`, for functions of numbers and arrays, of one or two of float64 above all:
every question that an entry asks, and every check of what a rule gives, in one place and at a glance.

What does not fit at a glance is looked at in full, and what an entry is not for goes the way of all others.
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
from ..compiler.calls.borrowed import asks_for_copies, sweeping
from ..compiler.calls.cache import Cache, at_a_glance, holds
from ..compiler.calls.entries import FLOAT64, NO, Entry, Known, fits, not_at_once
from ..compiler.calls.fused import Fused, fused_of
from ..compiler.calls.on_floats import MOST_MISSES, forward_of_gradient
from ..compiler.calls.opened import Way
from ..compiler.memory.heap import enter, is_nested, leave
from ..errors import RuleLabError
from ..rules.calling import check_cotangents, checked_answer
from ..rules.lent import Debugging
from ..rules.rule import Rule
from ..tangents.projection import to_natural
from .asked import PULLBACKS, complete_error, seed_of

_Way = Callable[..., "tuple[Any, ...] | None"]
_Otherwise = Callable[[Any, "tuple[Any, ...]", Any], "tuple[Any, ...]"]
# References to a cotangent that nobody else holds: the tuple it came in, our variable, and the count itself.
_OURS = 3


def note_way(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> None:
    """From now on calls of one function with arguments of these kinds go by this entry at once."""
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
    """The same for so many arguments with parts, by a way for these, which has the numbers of those that are
    asked for. Where it finds no gradient for arguments that it takes, `otherwise(f, args, argnums)` gives it.
    """
    if way.fused is None or f.__closure__:
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
    """The same of calls that ask for the arguments with these `numbers` by this very `argnums`."""
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

    known.of_chosen = argnums, len(args), of_chosen


def _way(known: Known, entry: Entry, args: tuple[Any, ...], cache: Cache) -> _Way:
    kinds = tuple([x.dtype if type(x) is ndarray else type(x) for x in args])
    if entry.structured or (entry.rule is not None and (len(args) > 2 or not _BY_RULE.issuperset(kinds))):
        return not_at_once
    if entry.rule is not None:
        return (_by_rule_of_one if len(args) == 1 else _by_rule_of_two)(known, entry, kinds, cache)
    if len(args) > 2 or not all(map(_has_one_dtype, args)):
        return _by_pass_of_any(known, entry, args, cache)
    ndims = tuple([x.ndim if type(x) is ndarray else None for x in args])
    return (_by_pass_of_one if len(args) == 1 else _by_pass_of_two)(known, entry, kinds, ndims, cache)


_BY_RULE = frozenset({FLOAT64, float})


def _has_one_dtype(x: Any) -> bool:
    """Whether the dtype of an array is the one object that all arrays of that kind have."""
    return type(x) is not ndarray or x.dtype is dtype(x.dtype.char)


# As long as the epoch is that of the entry, the rule is the one that applies, in either refresh mode.
#
# A rule is called by position and not with `*args`: the interpreter then needs no more of the C stack, which
# CPython 3.11 does not see the end of. What it leaves to be called is called before anything else can run, so
# nobody has to be told of it.


def _by_rule_of_one(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache) -> _Way:
    registry, epoch, held = cache.registry, entry.epoch, entry.rule
    function, code = known.function, known.code
    (kind,) = kinds

    @sweeping
    @derives
    def by_rule(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            (x.dtype if type(x) is ndarray else type(x)) is not kind
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or (rule := held()) is None  # type: ignore[misc]
            or Debugging.rules
        ):
            return None
        happened = LOUD[0]
        try:
            answer = rule.function(x)
            if type(answer) is not tuple or len(answer) != 2:
                return _from_value(rule, f, (x,), answer)
            y, back = answer
            if type(back) is not FunctionType or (type(y) is not float64 and type(y) is not float):
                return _from_value(rule, f, (x,), answer)
            found = back(1.0)
            if type(found) is not tuple or len(found) != 2:
                return _from_cotangents(rule, f, (x,), found, back)
            own, x_bar = found
            if own is NO:
                if kind is float:
                    if type(x_bar) is float:
                        return (x_bar,)
                elif (
                    type(x_bar) is ndarray
                    and x_bar.dtype is FLOAT64
                    and x_bar.base is None
                    and getrefcount(x_bar) == _OURS
                    and x_bar.flags.writeable
                    # of vectors it is quicker to ask for the length
                    and (len(x_bar) == len(x) if x_bar.ndim == 1 == x.ndim else x_bar.shape == x.shape)
                ):
                    return (x_bar,)
            return _from_cotangents(rule, f, (x,), found, back)
        except RuleLabError as error:
            if _begins_again(error, f, (x,), happened):
                return None
            raise

    return by_rule


def _by_rule_of_two(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache) -> _Way:
    registry, epoch, held = cache.registry, entry.epoch, entry.rule
    function, code = known.function, known.code
    first, second = kinds
    arrays = first is second is FLOAT64

    @sweeping
    @derives
    def by_rule(f: FunctionType, a: Any, b: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            (a.dtype if type(a) is ndarray else type(a)) is not first
            or (b.dtype if type(b) is ndarray else type(b)) is not second
            or registry.snapshot.epoch != epoch
            or function() is not f
            or f.__code__ is not code
            or (rule := held()) is None  # type: ignore[misc]
            or Debugging.rules
        ):
            return None
        happened = LOUD[0]
        try:
            answer = rule.function(a, b)
            if type(answer) is not tuple or len(answer) != 2:
                return _from_value(rule, f, (a, b), answer)
            y, back = answer
            if type(back) is not FunctionType or (type(y) is not float64 and type(y) is not float):
                return _from_value(rule, f, (a, b), answer)
            found = back(1.0)
            if type(found) is not tuple or len(found) != 3:
                return _from_cotangents(rule, f, (a, b), found, back)
            own, a_bar, b_bar = found
            if own is NO:
                if type(a_bar) is float and type(b_bar) is float:
                    if first is second is float:
                        return (a_bar, b_bar)
                elif (
                    arrays
                    and type(a_bar) is ndarray
                    and type(b_bar) is ndarray
                    and a_bar.dtype is FLOAT64
                    and b_bar.dtype is FLOAT64
                    and a_bar.base is None
                    and b_bar.base is None
                    and getrefcount(a_bar) == _OURS
                    and getrefcount(b_bar) == _OURS
                    and a_bar.flags.writeable
                    and b_bar.flags.writeable
                    and (len(a_bar) == len(a) if a_bar.ndim == 1 == a.ndim else a_bar.shape == a.shape)
                    and (len(b_bar) == len(b) if b_bar.ndim == 1 == b.ndim else b_bar.shape == b.shape)
                ):
                    return (a_bar, b_bar)
            return _from_cotangents(rule, f, (a, b), found, back)
        except RuleLabError as error:
            if _begins_again(error, f, (a, b), happened):
                return None
            raise

    return by_rule


def _guards(known: Known, entry: Entry) -> tuple[Callable[..., bool] | None, Callable[..., Any]]:
    """The guard of an entry, if it has one, and what may answer in its place if that says yes."""
    guard, function = entry.guard, known.function()
    if guard is None:
        return None, holds
    return guard, guard if function is None else at_a_glance(guard, function.__globals__)


def _answers_alone(entry: Entry, fused: Fused | None) -> bool:
    """Whether a fused pass always answers, and does nothing but compute."""
    return fused is not None and not fused.on_floats and entry.computes


def _by_pass_of_one(
    known: Known, entry: Entry, kinds: tuple[Any, ...], ndims: tuple[int | None, ...], cache: Cache
) -> _Way:
    registry, epoch, (guard, quick) = cache.registry, entry.epoch, _guards(known, entry)
    fused = fused_of(entry)
    forward = forward_of_gradient(entry) if fused is None else entry.forward
    run, exact = (None, False) if fused is None else (fused.run, fused.exact)
    alone = entry.computes
    function, code, era = known.function, known.code, known.era
    (kind,), (ndim,) = kinds, ndims
    only = _answers_alone(entry, fused) and (exact or kind is float)

    @sweeping
    @derives
    def by_one_function(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        if (
            (
                type(x) is not kind
                if ndim is None
                else (type(x) is not ndarray or x.dtype is not kind or x.ndim != ndim)
            )
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
            if _begins_again(error, f, (x,), LOUD[0]):  # it only computes: nothing has happened
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        if exact:
            return found[1]
        return (found[1],) if type(found[1]) is float else natural_entries((x,), found, False)

    if only:
        return by_one_function

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
                del back  # and with it whatever else holds the cotangent
            elif exact:
                return found[1]
        except RuleLabError as error:
            if _begins_again(error, f, (x,), happened):
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
            and getrefcount(x_bar) == _OURS
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
    run, exact = (None, False) if fused is None else (fused.run, fused.exact)
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
            if _begins_again(error, f, (a, b), LOUD[0]):  # it only computes: nothing has happened
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
        return found[1] if exact else natural_entries((a, b), found, False)

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
                del back  # and with it whatever else holds the cotangents
            elif exact:
                return found[1]
        except RuleLabError as error:
            if _begins_again(error, f, (a, b), happened):
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
    run, exact = (None, False) if fused is None else (fused.run, fused.exact)
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
                del back  # and with it whatever else holds the cotangents
            elif exact:
                return found[1]
        except RuleLabError as error:
            if _begins_again(error, f, args, happened):
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
    """By the fused pass of a way for what is in containers; the questions are those of `way_of`."""
    assert way.fused is not None
    numbers = way.numbers
    run, exact = way.fused.bound_to(f), way.fused.exact
    registry, epoch, guard, take = cache.registry, way.made.epoch, way.made.guard, way.take
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
            or len(f.__dict__) != 1  # nothing but these entries: no marks
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
        try:
            found = run(*parts)
        except Exception:
            return _NOT_FOUND
        entries = way.closed(found[1] if exact else natural_entries(parts, found, False))
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
    """Value and gradient by a pass that takes the parts of the arguments and does nothing but compute; None
    for the slow way, which also says what is wrong where something is.
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


def natural_entries(args: tuple[Any, ...], found: Any, projected: bool) -> tuple[Any, ...]:
    """What a gradient gives, from the cotangents in `found`, the first of which is that of the function.
    `projected` ones have the shape and dtype of their arguments.
    """
    entries = []
    number = 0
    for x in args:
        number += 1
        x_bar = found[number]
        kind = type(x_bar)
        if kind is float and type(x) is float:  # of numbers there are many
            entries.append(x_bar)
        elif (
            kind is ndarray
            and x_bar.base is None
            and getrefcount(x_bar) == _OURS
            and x_bar.flags.writeable
            and (projected or (type(x) is ndarray and x_bar.dtype is x.dtype and x_bar.shape == x.shape))
        ):
            entries.append(x_bar)
        elif (kind is float or kind is float64) and (type(x) is float or type(x) is float64):
            entries.append(x_bar if kind is type(x) else type(x)(x_bar))
        elif x_bar is NO:
            entries.append(None)
        else:
            entries.append(to_natural(x, x_bar))
    return tuple(entries)


def _from_value(rule: Rule, f: Any, args: tuple[Any, ...], answer: Any) -> tuple[Any, ...]:
    """The gradient from what a rule returned, looked at in full."""
    __tracebackhide__ = True
    y, back = checked_answer(rule, f, args, answer)
    return natural_entries(args, back(seed_of(y, f, args, False)), True)


def _from_cotangents(rule: Rule, f: Any, args: tuple[Any, ...], found: Any, back: Any) -> tuple[Any, ...]:
    """The gradient from what a rule's pullback returned, looked at in full."""
    __tracebackhide__ = True
    if type(found) is not tuple or len(found) != 1 + len(args) or found[0] is not NO or not fits(args, found):
        found = check_cotangents(rule, f, args, found, back)
    return natural_entries(args, found, True)


def _begins_again(error: RuleLabError, f: Any, args: tuple[Any, ...], happened: int) -> bool:
    """Whether the sweep is to begin again, with copies; else the error says what was asked, and is raised."""
    if asks_for_copies(error) and LOUD[0] == happened:
        return True
    complete_error(error, f, args)
    return False
