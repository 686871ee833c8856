"""Calls through which no derivative is taken: they run as they are, and are watched."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...errors import Place
from ...rules.programs import new_object
from ...rules.targets import name_of, resolve
from ...tangents.generator_expressions import generated, tested
from ...tangents.holding import CACHED
from ...tangents.tracked import within_reverse
from ..analysis.effects import Noted, side_effect_of_call
from ..base.classes import GENERATORS, in_class, is_of_c, makes_empty
from ..base.libraries import compiled_function, is_library, is_of_library
from ..base.nesting import enter, leave
from ..base.purity import seems_to_change
from ..base.question import Question
from ..implicit import hidden
from ..memory import copies, crossings, heap, snapshots
from ..memory.fingerprints import Seen
from ..memory.operands import carries
from . import cached, questions
from .binding import before_rest, bind, flags_by_slot, flags_in_order, in_order
from .borrowed import (
    WRITTEN,
    about_to_run,
    draws_into,
    look_at,
    look_at_call,
)
from .call import Call
from .constructors import keeps_in_sight, make_plain
from .entries import KEPT
from .foreign import foreign, refuse_counts
from .holders import held_by_partial
from .iterators import hands_on_plainly
from .methods import may_lend, note_lent
from .pushing import Push, Vjp, build
from .reversing import is_active
from .stand_ins import run_stand_in
from .writing import refuse_mutation


def run_plain(
    pullbacks: Question,
    g: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    varied: tuple[bool, ...],
    place: Place | None,
) -> Any:
    """Call `g` without a derivative; the author's code runs in a pass of its own, so that writes to arrays
    are still refused.

    `varied` says which of the function, arguments and keywords depend on a differentiated input: these must
    not reach code that is not followed.
    """
    if type(g) is Push or type(g) is Vjp:
        pullbacks.refuse_implicit(place)
        if isinstance(g, Vjp):
            return g(*args)
        made = _called(args)[0]
        of_objects = isinstance(made, type) and (keeps_in_sight(made) or crossings.makes_new(made, ()))
        if any(varied) or of_objects:  # which may be written later
            return pullbacks.push_plain(args, varied[1:] if any(varied) else (True,) * len(args), place)
        return _push_constant(g, args)
    if g is getattr and not (any(varied) or pullbacks.implicit) and is_stored(*args, **kwargs):
        return getattr(*args)
    if type(g) is type and keeps_in_sight(g) and pullbacks.cache.registry.entry_in("rrule", g) is None:
        return make_plain(pullbacks, g, args, kwargs, place)
    target, bound = resolve(g)
    everything = (*bound, *args)
    asked_at = pullbacks.cache.registry.snapshot.epoch
    may_know = not (pullbacks.implicit or any(varied))
    key = _key_of(pullbacks, target, bound, args, kwargs) if may_know else None
    if key is not None and (looked := _looked_at(pullbacks, target, key, asked_at)) is not None:
        pullbacks.cache.watches.note_met(target)
        pullbacks.cache.watches.note(looked.noted)
        return g(*args, **kwargs)
    if target is new_object or makes_empty(target, args):
        return heap.own(new_object(*args), False)
    spread = (varied[0], *(varied[0],) * len(bound), *varied[1:])
    count = None
    values = in_order(target, everything, kwargs) if type(target) is types.FunctionType else None
    if values is not None:
        flags = (varied[0], *flags_in_order(target, len(everything), kwargs, spread[1:]))
    elif type(target) is types.FunctionType and not target.__code__.co_flags & inspect.CO_VARKEYWORDS:
        count = before_rest(target, everything, kwargs)
        if count is not None:
            values, flags = everything, spread  # those of `*args` one by one
    if values is not None:
        entry = pullbacks.entries.find_whole(target, values, "plain", flags)
        if entry is not None:
            return _run_pass(entry.forward, target, values, bound)
    known = pullbacks.cache.registry.entry_in("rrule", target)
    function = compiled_function(target) if known is None else None
    if function is not None:
        asked = (values, flags) if values is not None and function is target else None
        if values is None or asked is None or count is not None:
            values, where = bind(function, everything, kwargs)
            flags = (varied[0], *flags_by_slot(len(values), where, spread[1:]))
            if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
                heap.publish_plain(values[-1])
        made = pullbacks.pass_of(function, values, flags[1:], varied[0], False, place)
        if asked is not None:
            pullbacks.entries.add_whole(function, asked[0], "plain", asked[1], made, count=count)
        return _run_pass(made.bound_to(function), function, values, bound)
    spread = (varied[0], *(varied[0],) * len(bound), *varied[1:])
    if known is None and type(target) is CACHED and any(varied):
        behind = functools.partial(pullbacks.run_plain, target.__wrapped__, everything, kwargs, spread, place)
        pullbacks.cache.watches.note_met(target)
        return cached.plain(target, everything, kwargs, behind)
    if known is None and type(target) is functools.partial:
        held = held_by_partial(Call(target, args, kwargs, varied, place))
        return pullbacks.run_plain(held.target, held.args, held.kwargs, held.active, place)
    if known is None and keeps_in_sight(target):
        return make_plain(pullbacks, target, args, kwargs, place)
    if target is copy.copy or target is copy.deepcopy:
        return copies.made_plain(target)(target, *everything, **kwargs)
    if everything and heap.may_change_unseen(everything[0]):
        return _watching(g, bound, args, kwargs, place, changes=True)
    if draws_into(target, args, kwargs) and not any(varied):
        about_to_run(pullbacks, name_of(target), place)  # as C code without a rule may write
        return g(*args, **kwargs)
    call = Call(target, everything, kwargs, spread, place)
    refuse_mutation(pullbacks.cache.registry, call)
    refuse_counts(pullbacks.cache.registry, call)
    stand_in = pullbacks.cache.registry.stand_in(target) if known is None and any(varied) else None
    if stand_in is not None and stand_in.answers(everything):
        return run_stand_in(pullbacks, stand_in, call)
    hands_on = hands_on_plainly(target, everything)
    carrying = any(varied) and any(map(carries, call.values()))
    if known is None and not hands_on and carrying:
        found = pullbacks.plain_iteration.handler(call) or pullbacks.without_rule(call)
        if found is not None:
            y, back = found(*everything, **kwargs)
            if heap.changes(back) and not isinstance(y, Iterator):  # and its pullback will not run
                raise snapshots.changed_out_of_sight([], place)
            return y
    reads = target is getattr or hands_on  # as harmless as `x.name`
    if known is None and not reads and not (isinstance(target, type) and issubclass(target, BaseException)):
        given = [x for x, on in zip((*args, *kwargs.values()), varied[1:], strict=True) if on]
        if varied[0]:  # x.dumps()
            given += [x for x in bound if isinstance(x, (np.ndarray, np.generic))]
        if any(map(carries, given)):
            raise foreign(pullbacks.cache.registry, call)
    pullbacks.cache.watches.note_met(target)
    keeps = not pullbacks.implicit and only_keeps(target, everything, kwargs)
    noted: Noted | None = Noted.NOTHING
    if known is None and not keeps:
        noted = look_at_call(pullbacks, target, everything, kwargs, place)
    elif not keeps:
        look_at(pullbacks, call.values(), place)
    built_in = pullbacks.cache.registry.built_in_entry(target) is not None
    effect = side_effect_of_call(target, built_in)
    pullbacks.cache.watches.note(effect)
    by_kind = key is not None and (known is not None or _are_without_fields((*everything, *kwargs.values())))
    if by_kind and noted is not None and not crossings.makes_new(target, everything):
        _remember(pullbacks, key, _LookedAt(target, asked_at, max(noted, effect)))
    if pullbacks.implicit and not any(varied) and not only_hands_on(target):
        if known is None or any(rule.differentiable for rule in known.built_in_for("rrule")):
            hidden.refuse_reading(target, tuple(hidden.functions_in((*args, *kwargs.values()))), place)
    if (
        known is not None
        and any(varied)
        and not any(rule.differentiable for rule in known.built_in_for("rrule"))
    ):
        g = questions.asking(g, target, place)
    y = g(*args) if keeps else _watching(g, bound, args, kwargs, place)
    return heap.made_plain(y) if crossings.makes_new(target, everything) else y


class _LookedAt(NamedTuple):
    """What was found out about a call of a library's code that runs as it is."""

    target: Any
    epoch: int
    noted: Noted


_OF_C = (types.BuiltinFunctionType, types.MethodDescriptorType)
_MOST = 256


def _key_of(
    pullbacks: Question, target: Any, bound: tuple[Any, ...], args: tuple[Any, ...], words: dict[str, Any]
) -> Any:
    """The key that a call of a library's code, or of a library class, is remembered by; None if an argument
    is anything of which the type does not say all that matters.
    """
    is_function = type(target) is types.FunctionType
    if is_function and KEPT in target.__dict__:  # one of the author's, that has a pass
        return None
    given = (*args, *words.values()) if words else args
    kinds = tuple(map(type, (*bound, *given)))
    if not _TELLING.issuperset(kinds):
        if not _SILENT.isdisjoint(kinds) or pullbacks.keeps:
            return None
        if not all(map(_tells, given)) or not all(_tells(x, True) for x in bound):
            return None
    if words and any(word.startswith(WRITTEN) for word in words):
        return None
    if is_function:
        if not is_library(target) or compiled_function(target) is not None:
            return None
    elif type(target) not in _OF_C and not (type(target) is type and is_of_library(target)):
        return None
    return (id(target), *kinds, *words)


def _tells(x: Any, as_owner: bool = False) -> bool:
    """Whether the type of a value says all that matters: a number or text, or an object of a library class
    that holds no items and was not made during this sweep; nor may it be called, except `as_owner` of the
    method that is called.
    """
    kind = type(x)
    if kind in _TELLING:
        return True
    told = _TOLD.get(kind)
    if told is None:
        closed = type(kind) is type and is_of_library(kind) and kind not in heap.KINDS
        reached = any(in_class(kind, name) is not None for name in _REACHED_BY)
        closed = closed and not reached and not isinstance(x, _HOLDING)
        called = in_class(kind, "__call__")
        in_python = type(called) is types.FunctionType and not kind.__dictoffset__
        told = _TOLD[kind] = closed and called is None, closed and (called is None or in_python)
    return told[as_owner] and not heap.is_own(x)


def _are_without_fields(values: tuple[Any, ...]) -> bool:
    """Whether no object among the arguments has fields, in which there might be arrays."""
    return all(kind in _TELLING or not kind.__dictoffset__ for kind in map(type, values))


_SILENT = frozenset({list, tuple, dict, set, np.ndarray, types.FunctionType})  # most of what tells nothing
_REACHED_BY = (
    *("__get__", "__iter__", "__next__", "__getitem__", "__array__", "__buffer__", "__float__", "__index__"),
    *("__await__", "__wrapped__"),
)
_HOLDING = (types.ModuleType, types.CellType, types.FrameType, type, slice, BaseException)
_TOLD: weakref.WeakKeyDictionary[type, tuple[bool, bool]] = weakref.WeakKeyDictionary()
_TELLING = GENERATORS | {float, int, bool, complex, str, type(None), np.float64}


def _looked_at(pullbacks: Question, target: Any, key: Any, epoch: int) -> _LookedAt | None:
    """What is known of a call with this key under the rules of this epoch; None if nothing."""
    found: _LookedAt | None = pullbacks.cache.looked_at.get(key)
    if found is None or found.target is not target or found.epoch != epoch or heap.asked_again():
        return None
    return found


def _remember(pullbacks: Question, key: Any, looked: _LookedAt) -> None:
    cache, target = pullbacks.cache, looked.target
    if cache.mode != "auto" or target is getattr or (type(target) is type and issubclass(target, Iterator)):
        return
    if len(cache.looked_at) >= _MOST:
        cache.looked_at.clear()
    cache.looked_at[key] = looked


def is_stored(owner: Any, name: Any, *default: Any) -> bool:
    """Whether `getattr` only reads what an object of a plain class stores under a name: no code runs for it,
    and no rule answers.
    """
    kind = type(owner)
    return (
        kind.__getattribute__ is object.__getattribute__
        and type(name) is str
        and name in getattr(owner, "__dict__", ())
        and in_class(kind, name) is None
        and not callable(owner)
    )


def _run_pass(
    forward: Callable[..., Any], function: types.FunctionType, values: tuple[Any, ...], bound: tuple[Any, ...]
) -> Any:
    """The result of a function by its pass without a derivative; it may be a method, with its `bound`
    objects.
    """
    enter()
    try:
        y = forward(*values)
    finally:
        leave()
    given = values[len(bound) :]
    if bound and may_lend(function, given):
        note_lent(seems_to_change(function), given, y)
    return y


def push_plain(pullbacks: Question, call: Any, varied: tuple[bool, ...], place: Place | None) -> Any:
    """The result of a `push` that is not differentiated itself; a write to a varying array is refused."""
    program = pullbacks.push.program(call)
    values = tuple([build(part, call) for part in program.given])
    flags = tuple([is_active(part, varied) for part in program.given])
    if program.derived:
        made = pullbacks.pass_of(program.function, values, flags, False, False, place)
        found = made.bound_to(program.function)(*values)
    else:
        words = {name: build(part, call) for name, part in program.words.items()}
        flags = (False, *flags, *(is_active(part, varied) for part in program.words.values()))
        found = pullbacks.run_plain(program.function, values, words, flags, place)
    if crossings.makes_new(*_called(call)):
        for part in found:
            heap.publish_plain(part)
    return found


# Functions that call their arguments only to order items, and those that put arguments into containers.
_HANDING_ON = (sorted, max, min, list, tuple, dict, set, frozenset, zip, enumerate, reversed, iter, next)


def only_hands_on(target: Any) -> bool:
    """Whether nothing flows through the calls that a built-in function makes to its arguments."""
    if any(target is known for known in _HANDING_ON):
        return True
    owner = getattr(target, "__objclass__", None) or getattr(target, "__module__", None)
    return owner in (list, dict, tuple, set, deque, "_operator")


def _called(call: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that a `push` calls, and its arguments with the object that it is bound to."""
    g, args, method = call[0], call[2], call[5] if len(call) > 5 else None
    if method is not None and not isinstance(g, types.ModuleType):
        return getattr(type(g), method, None), (g, *args)
    target, bound = resolve(g if method is None else getattr(g, method))
    return target, (*bound, *args)


def _push_constant(push: Push, call: Any) -> Any:
    """The result of a `push` of constants, in which arrays of the caller's must not be written to, since the
    sweep around it may have read them.
    """
    if not isinstance(call[0], types.FunctionType):
        return push(*call)
    before = Seen(x for x in call[2] if isinstance(x, np.ndarray))
    with within_reverse():
        found = push(*call)
    before.check("in forward mode, which the reverse mode around it may have read", ("pass a copy",))
    return found


def _watching(
    g: Any,
    bound: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: Place | None,
    changes: bool = False,
) -> Any:
    """The result of a C or library function, which may call functions of the author's."""
    lazy = isinstance(g, type) and issubclass(g, Iterator)
    if lazy or g is generated or g is tested:  # calls them during iteration
        return g(*[snapshots.watched_later(x, place) for x in args], **kwargs)
    held = [x for x in bound if isinstance(x, np.vectorize)]
    if held or heap.asked_again() or any(map(may_call_authors, (*args, *kwargs.values()))):
        return snapshots.watched(g, place, tuple(held), changes)(*args, **kwargs)
    return g(*args, **kwargs)


def only_keeps(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call makes an object that holds a function without running it."""
    return (
        (target is functools.partial or target is np.vectorize)
        and not kwargs
        and len(args) == 1
        and isinstance(args[0], (types.FunctionType, types.BuiltinFunctionType))
    )


def may_run_authors(given: tuple[Any, ...]) -> bool:
    """Whether a C function may run code of the author's that is among its arguments or in them.

    An itemgetter that only takes items of lists and tuples of plain values, to order them, runs none.
    """
    called = [x for x in given if may_call_authors(x)]
    if not called or any(type(x) is not operator.itemgetter for x in called):
        return bool(called)
    return not all(map(_holds_plain_rows, (x for x in given if not callable(x))))


def _holds_plain_rows(x: Any) -> bool:
    """Whether a value is plain, or contains only lists and tuples of plain values."""
    if type(x) in _PLAIN:
        return True
    if type(x) not in _OF_ROWS:
        return False
    return all(type(row) in (list, tuple) and _PLAIN.issuperset(map(type, row)) for row in x)


_PLAIN = questions.PLAIN - {np.ndarray}  # whose items may be objects
_OF_ROWS = frozenset({list, tuple, type({}.items())})


def may_call_authors(x: Any) -> bool:
    """Whether a value is a function of the author's, or holds one to be called."""
    return callable(x) and not is_of_c(x) and not isinstance(x, (type, np.ufunc))
