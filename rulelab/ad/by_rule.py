"""The fastest path of `gradient` through an author's rule, for one or two float64 numbers or arrays: the
guards of an entry, and quick tests of everything that a rule returns.

As long as the epoch is that of the entry, the rule is the one that applies, in either refresh mode.

A rule is called with positional arguments and not with `*args`: then the interpreter uses no more of the C
stack, whose end CPython 3.11 does not detect. The returned pullback is called before anything else can run,
so it need not be registered anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from types import FunctionType
from typing import Any

from numpy import float64, ndarray

from ..compiler.analysis.effects import LOUD
from ..compiler.base.deriving import derives
from ..compiler.calls.borrowed import sweeping
from ..compiler.calls.cache import Cache
from ..compiler.calls.entries import FLOAT64, NO, Entry, Known, fits, not_at_once
from ..errors import RuleLabError
from ..rules.calling import check_cotangents, checked_answer
from ..rules.lent import DEBUGGING
from ..rules.rule import Rule
from ..tangents.projection import dense
from .natural import OURS, natural_entries, should_restart
from .operator_arguments import seed_of

Way = Callable[..., "tuple[Any, ...] | None"]
# The number of gradients after which a rule is joined with its pullback: joining costs about as much as it
# saves in that many.
OFTEN = 1000
_KINDS = frozenset({FLOAT64, float})


def way_by_rule(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache) -> Way:
    """Return the fast path for arguments of these kinds, each a dtype or a class."""
    if len(kinds) > 2 or not _KINDS.issuperset(kinds):
        return not_at_once
    if len(kinds) == 1:
        return _until_often_of_one(known, entry, kinds, cache, _of_one(known, entry, kinds[0], cache))
    return _until_often_of_two(known, entry, kinds, cache, _of_two(known, entry, kinds, cache))


def _of_one(known: Known, entry: Entry, kind: Any, cache: Cache) -> Way:
    registry, epoch, held = cache.registry, entry.epoch, entry.rule
    function, code = known.function, known.code

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
            or DEBUGGING.rules
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
                    and getrefcount(found[1]) == OURS
                    and x_bar.flags.writeable
                    # for vectors it is faster to compare the length
                    and (len(x_bar) == len(x) if x_bar.ndim == 1 == x.ndim else x_bar.shape == x.shape)
                ):
                    return (x_bar,)
            return _from_cotangents(rule, f, (x,), found, back)
        except RuleLabError as error:
            if should_restart(error, f, (x,), happened):
                return None
            raise

    return by_rule


def _of_two(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache) -> Way:
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
            or DEBUGGING.rules
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
                    and getrefcount(found[1]) == OURS
                    and getrefcount(found[2]) == OURS
                    and a_bar.flags.writeable
                    and b_bar.flags.writeable
                    and (len(a_bar) == len(a) if a_bar.ndim == 1 == a.ndim else a_bar.shape == a.shape)
                    and (len(b_bar) == len(b) if b_bar.ndim == 1 == b.ndim else b_bar.shape == b.shape)
                ):
                    return (a_bar, b_bar)
            return _from_cotangents(rule, f, (a, b), found, back)
        except RuleLabError as error:
            if should_restart(error, f, (a, b), happened):
                return None
            raise

    return by_rule


# --- the rule joined with its pullback ----------------------------------------------------------------------

_OUTDATED = (
    "{registry}.snapshot.epoch != {epoch} or {function}() is not {f} or {f}.__code__ is not {code} "
    "or {stated}.__code__ is not {text} or {debugging}.rules"
)


def _until_often_of_one(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache, plain: Way) -> Way:
    """The plain path, until it has been called often enough for joining."""
    left = OFTEN

    def by_rule(f: FunctionType, x: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        nonlocal left
        left -= 1
        if left < 0:
            entry.at_once = _joined(known, entry, kinds, cache, plain)
            if known.of_one is by_rule:
                known.of_one = entry.at_once
        return plain(f, x)

    return by_rule


def _until_often_of_two(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache, plain: Way) -> Way:
    left = OFTEN

    def by_rule(f: FunctionType, a: Any, b: Any) -> tuple[Any, ...] | None:
        __tracebackhide__ = True
        nonlocal left
        left -= 1
        if left < 0:
            entry.at_once = _joined(known, entry, kinds, cache, plain)
            if known.of_two is by_rule:
                known.of_two = entry.at_once
        return plain(f, a, b)

    return by_rule


def _joined(known: Known, entry: Entry, kinds: tuple[Any, ...], cache: Cache, plain: Way) -> Way:
    """Join the rule and its pullback into one function if its source allows it; else return the plain
    path.
    """
    from .fused_rule import joined, like_pullback  # a few gradients need not wait for it

    rule = None if entry.rule is None else entry.rule()
    if rule is None or type(rule.function) is not FunctionType:
        return plain
    stated = rule.function  # it captures nothing, so keeping it alive keeps no data

    def seed(f: Any, args: tuple[Any, ...], y: Any) -> Any:
        __tracebackhide__ = True
        return dense(y, seed_of(y, f, args, False))

    def in_full(f: Any, args: tuple[Any, ...], found: tuple[Any, ...]) -> tuple[Any, ...]:
        __tracebackhide__ = True
        return _from_cotangents(rule, f, args, found, like_pullback(stated))

    given = {"registry": cache.registry, "epoch": entry.epoch, "function": known.function, "code": known.code}
    given |= {"stated": stated, "text": stated.__code__, "debugging": DEBUGGING, "plain": plain, "seed": seed}
    given |= {"in_full": in_full, "loud": LOUD, "begins_again": should_restart}
    found = joined(stated, kinds, _OUTDATED, given)
    return plain if found is None else sweeping(derives(found))


# --- what does not fit at a glance --------------------------------------------------------------------------


def _from_value(rule: Rule, f: Any, args: tuple[Any, ...], answer: Any) -> tuple[Any, ...]:
    """Return the gradient from what a rule returned, with the full checks."""
    __tracebackhide__ = True
    y, back = checked_answer(rule, f, args, answer)
    return natural_entries(args, back(seed_of(y, f, args, False)), True)


def _from_cotangents(rule: Rule, f: Any, args: tuple[Any, ...], found: Any, back: Any) -> tuple[Any, ...]:
    """Return the gradient from what a rule's pullback returned, with the full checks."""
    __tracebackhide__ = True
    if type(found) is not tuple or len(found) != 1 + len(args) or found[0] is not NO or not fits(args, found):
        found = check_cotangents(rule, f, args, found, back)
    return natural_entries(args, found, True)
