"""Calls of cached functions in reverse mode: a call that Python answers from its cache gets the same answer
again, and its cotangent joins that of the first call, whose pullback runs last.

Two calls with equal keys are known to be one only if nothing among their arguments varies, except what was
made during this sweep: equal numbers may be different variables. Otherwise the function runs again, and must
do the same.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import Place
from ...rules.recalling import recalled
from ...tangents.cached_answers import (
    IS_NEW,
    READS_CHANGED,
    Answer,
    changed_answer,
    check_again,
    identity,
    is_made_within,
    key_of,
    note_made,
    value_of,
    without_effects,
)
from ...tangents.holding import CACHED
from ...tangents.moments import StateSnapshot
from ...tangents.zeros import AbstractZero
from ..memory import heap
from ..memory.handlers import NO, Handler, Uncached, rearranged
from ..memory.outlines import hand_in, whole
from .call import Call
from .holders import CALLING

if TYPE_CHECKING:
    from ..base.question import Question

_BAR = "answer"  # the key of the cotangents of later calls, in the table
_PLAIN = "plain"  # in place of what varies: an answer without a pullback


def handler(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of a call of a cached function, or of what `functools.lru_cache(...)` returns."""
    held = call.target
    if type(held) is not CACHED:
        return made(pullbacks, call)

    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        pullbacks.cache.watches.note_met(held)

        def ask() -> Any:
            asked = pullbacks.find(held.__wrapped__, args, kwargs, call.active, call.place)
            return asked(*args, **kwargs)

        key = key_of(held, args, kwargs)
        inputs = (*args, *kwargs.values())
        inner = None
        if (not call.active[0] or is_made_within(held)) and all(map(_is_one, inputs, call.active[1:])):
            inner = 0, call.active, identity(inputs)
        return _answered(held, key, inner, 0, inputs, ask, call.place)

    return Uncached(run)


def _recalled(pullbacks: Question, call: Call) -> Handler:
    """The handler of a call of a cached function in forward mode, as part of a differentiated function."""

    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        config, held, key, depth, tangents, f, *rest = args
        pullbacks.cache.watches.note_met(held)

        def ask() -> Any:
            given = (tangents, f, *rest)
            active = (False, call.active[5], *call.active[6:])
            asked = pullbacks.find(config.frule_via_ad, given, kwargs, active, call.place)
            y, back = asked(*given, **kwargs)
            return y, rearranged(back, lambda got: (NO, NO, NO, NO, NO, *got[1:]))

        inputs, inner = (tangents, *rest, *kwargs.values()), None
        active = call.active[5], *call.active[7:]
        of_held = tangents[0]  # each function that is made has one
        one = isinstance(of_held, AbstractZero) or (depth == 1 and is_made_within(held))
        if one and all(map(_is_one, (tangents[1:], *inputs[1:]), active)):
            inner = depth, active, id(of_held), identity((tangents[1:], *inputs[1:]))
        return _answered(held, key, inner, depth, inputs, ask, call.place)

    return Uncached(run)


def made(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of `functools.cache(f)`: the wrapper has the cotangent of what it wraps."""
    if not call.args or not callable(call.args[0]):
        return None

    def run(*args: Any, **kwargs: Any) -> Any:
        y = call.target(*args, **kwargs)
        note_made(y)
        return y, lambda y_bar: (NO, y_bar, *(NO,) * (len(args) + len(kwargs) - 1))

    return Uncached(run)


CALLING.update({functools.cache: made, functools.lru_cache: made, recalled: _recalled})


def plain(held: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
    """The answer of a cached function whose derivative is not needed."""
    answers, key = heap.answers(), key_of(held, args, kwargs)
    for (depth, *_), answer in answers.of(held, key).items():
        return value_of(answer.y, depth)
    y = run()
    answers.keep(held, key, (0, _PLAIN), Answer(y, args, heap.now()))
    return y


def _answered(
    held: Any,
    key: Any,
    inner: Any,
    depth: int,
    inputs: tuple[Any, ...],
    ask: Callable[[], Any],
    place: Place | None,
) -> Any:
    __tracebackhide__ = True
    answers = heap.answers()
    known = answers.of(held, key)
    if inner is not None and inner in known:
        return known[inner].y, _joining(known[inner])
    before = next(iter(known.items()), None)
    y, back = ask() if before is None else without_effects(held, ask, place)
    if before is not None:
        _check_again(held, before, (depth, y), inputs, place)
    answer = Answer(y, inputs, heap.now())
    heap.keep(y)
    if inner is None:
        if before is None:
            answers.keep(held, key, (depth, id(answer)), answer)
        return y, back
    answers.keep(held, key, inner, answer)
    return y, _joined(answer, back)


def _is_one(x: Any, active: bool) -> bool:
    """Whether what is equal to this argument is the same variable."""
    if not active or isinstance(x, (int, str, AbstractZero)) or heap.is_own(x):
        return True
    return type(x) is tuple and all(_is_one(part, True) for part in x)


def _joining(answer: Answer) -> Callable[[Any], Any]:
    """The pullback of a later call."""
    where = whole(answer.y)

    def back(y_bar: Any) -> Any:
        heap.deposit(answer, _BAR, y_bar if where is None else hand_in(where, y_bar))
        return NO

    return back


def _joined(answer: Answer, inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback of the first call, which is undone last."""

    def back(y_bar: Any) -> Any:
        __tracebackhide__ = True
        heap.deposit(answer, _BAR, y_bar)
        total = heap.take(answer, _BAR)
        return NO if heap.is_idle(inner, total) else inner(total)

    return heap.effectful(back)


def _check_again(
    held: Any,
    before: tuple[Any, Answer],
    now: tuple[int, Any],
    args: tuple[Any, ...],
    place: Place | None,
) -> None:
    """Raise NotDifferentiableError unless running the function again made no difference."""
    answer = before[1]
    first, second = check_again(held, before, now, place)
    if isinstance(second, types.FunctionType) and first is not second:  # its variables are new
        raise changed_answer(held, IS_NEW, place)
    if answer.clock is None:
        raise changed_answer(held, READS_CHANGED, place)
    if heap.now()[0] != answer.clock[0]:
        reached = StateSnapshot(held.__wrapped__, args).objects()
        if any(heap.was_changed(x, answer.clock) for x in reached):
            raise changed_answer(held, READS_CHANGED, place)
