"""Calls by the passes of stand-ins: arguments are packed for these, errors are moved to the author's line."""

from __future__ import annotations

import contextlib
from typing import Any

from ...errors import Place, RuleLabError
from ...own_code import is_stand_in
from ...rules.binding import Binder
from ...rules.rule import StandIn
from ..base.question import Question
from ..memory import support
from ..memory.handlers import Handler, Uncached, rearranged
from .call import Call
from .foreign import foreign


def by_stand_in(pullbacks: Question, stand_in: StandIn, call: Call) -> Handler:
    """The handler of a call by the pass of its stand-in."""
    packed, rest, place = _packed(pullbacks, stand_in, call), stand_in.rest, call.place
    handler = _remembered(pullbacks, packed) or _placed(place, pullbacks.by_pass, packed.target, packed)

    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if rest is None or len(args) <= rest:
            return _placed(place, handler, *args, **kwargs)
        own, tail = args[:rest], args[rest:]
        y, pullback = _placed(place, handler, *own, tail, **kwargs)

        def unpacked(got: tuple[Any, ...]) -> tuple[Any, ...]:
            bar, last = support.settle(got[1 + len(own)]), 1 + len(own)
            return (*got[:last], *(support.part(bar, k) for k in range(len(tail))), *got[last + 1 :])

        return y, rearranged(pullback, unpacked)

    return Uncached(run)


def _remembered(pullbacks: Question, packed: Call) -> Handler | None:
    """The handler that was found before for such a call of the stand-in; None if there is none."""
    if packed.kwargs or packed.target.__code__.co_kwonlyargcount:
        return pullbacks.remembered_bound(packed.target, packed.args, packed.kwargs, packed.active)
    return pullbacks.remembered(packed.target, packed.args, packed.active, by_rule=False)


def run_stand_in(pullbacks: Question, stand_in: StandIn, call: Call) -> Any:
    """The result of a call by its stand-in, where no cotangent is wanted."""
    packed = _packed(pullbacks, stand_in, call)
    given = (stand_in.function, packed.args, packed.kwargs, packed.active, call.place)
    return _placed(call.place, pullbacks.run_plain, *given)


def _packed(pullbacks: Question, stand_in: StandIn, call: Call) -> Call:
    """The call of the stand-in; if Python refuses its arguments, the original function raises."""
    __tracebackhide__ = True
    function, rest, count = stand_in.function, stand_in.rest, len(call.args)
    args, active = call.args, call.active
    if rest is not None and count > rest:
        flags = active[1:]
        args = (*args[:rest], args[rest:])
        active = (active[0], *flags[:rest], any(flags[rest:count]), *flags[count:])
    with contextlib.suppress(TypeError):
        Binder.of(function).bind(args, call.kwargs)
        return Call(function, args, call.kwargs, active, call.place)
    call.target(*call.args, **call.kwargs)  # raises Python's own error
    raise foreign(pullbacks.cache.registry, call)


def _placed(place: Place | None, function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a function; a refusal inside a stand-in is moved to the call that it stands in for."""
    __tracebackhide__ = True
    try:
        return function(*args, **kwargs)
    except RuleLabError as error:
        if error.place is not None and is_stand_in(error.place.filename):
            if place is not None:
                spots = (error.place, place)
                was, now = (f"for {spot.function} (%rule_stub {spot.function})" for spot in spots)
                error.fixes = tuple(fix.replace(was, now) for fix in error.fixes)
            error.place = place
        raise
