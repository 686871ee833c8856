"""Passes of stand-ins: the arguments brought into their form, and errors placed at the author's line."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from ..errors import Place, RuleLabError
from ..rules.rule import StandIn
from . import heap, support
from .emit import is_stand_in
from .handlers import NO, Handler, Unsettled

if TYPE_CHECKING:
    from .pullbacks import Pullbacks


def by_stand_in(
    pullbacks: Pullbacks,
    stand_in: StandIn,
    target: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    active: tuple[bool, ...],
    place: Place | None,
    differentiate: bool = True,
) -> Handler:
    """The pass of the stand-in as a handler of the call it stands for; a call that Python refuses is left to
    the original to refuse.
    """
    from .pullbacks import bar_at, bind, flags_by_slot

    function, rest = stand_in.function, stand_in.rest
    assert isinstance(function, types.FunctionType)

    def packed(args: tuple[Any, ...]) -> tuple[Any, ...]:
        return args if rest is None else (*args[:rest], args[rest:])

    flags = active[1:]
    if rest is not None:
        count = len(args)
        flags = (*flags[: min(rest, count)], any(flags[rest:count]), *flags[count:])
    try:
        values, where = bind(function, packed(args), kwargs)
    except TypeError:
        return Unsettled(lambda *args, **kwargs: _refused(pullbacks, target, args, kwargs, place))
    by_slot = tuple(flags_by_slot(len(values), where, flags))
    try:
        made = pullbacks.pass_of(function, values, by_slot, active[0], differentiate, place)
    except RuleLabError as error:
        _place_at_call(error, place)
        raise
    forward = made.bound_to(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        values, where = bind(function, packed(args), kwargs)
        try:
            if not differentiate:
                return forward(*values)
            y, pullback = forward(*values)
        except RuleLabError as error:
            _place_at_call(error, place)
            raise

        def back(y_bar: Any) -> tuple[Any, ...]:
            got = pullback(y_bar)
            bars = [bar_at(got, slot) for slot in where]
            if rest is None:
                return (NO, *bars)
            own = min(rest, len(args))
            tail = [support.part(support.settle(bars[own]), k) for k in range(len(args) - own)]
            return (NO, *bars[:own], *tail, *bars[own + 1 :])

        return y, heap.like(pullback, back)

    return Unsettled(call)


def _refused(
    pullbacks: Pullbacks, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
) -> Any:
    __tracebackhide__ = True
    target(*args, **kwargs)  # raises Python's own error
    raise pullbacks.foreign(target, args, kwargs, place)


def _place_at_call(error: RuleLabError, place: Place | None) -> None:
    """A refusal inside of a stand-in is one of the call that it stands for."""
    if error.place is None or not is_stand_in(error.place.filename):
        return
    if place is not None:
        was, now = (f"for {spot.function} (%rule_stub {spot.function})" for spot in (error.place, place))
        error.fixes = tuple(fix.replace(was, now) for fix in error.fixes)
    error.place = place
