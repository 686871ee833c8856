"""Reverse mode over the forward question: the pullbacks of `push` and of `vjp`."""

from __future__ import annotations

import functools
import types
from typing import Any

from ...errors import NotDifferentiableError, Place
from ...own_code import is_stand_in
from ...rules.calling import checked_pair, watch_of_frule
from ...rules.programs import Seed, made_object
from ...tangents.holding import carrier
from ...tangents.missing import not_implemented
from ...tangents.moments import Run, StateSnapshot, not_repeatable
from ...tangents.pairings import in_form_of, stated_tangent
from ...tangents.projection import seed_by_name
from ...tangents.shadows import inner
from ...tangents.structural import make
from ...tangents.zeros import AbstractZero
from ..analysis.effects import running_again
from ..base.question import Question
from ..memory import crossings, heap, outlines, support
from ..memory.handlers import NO, ZERO, Handler, Uncached
from .pushing import Vjp, arguments_of
from .templates import SELF, Default, Ref, build

# For each part of a call, whether its cotangent is wanted; for the arguments perhaps one by one.
Active = tuple[bool | tuple[bool, ...], ...]


def pushed(pullbacks: Question, place: Place | None, active: Active) -> Handler:
    """The handler of `push(g, g_dot, args, dots, names, method)`: that of the program that answers it.

    `active` says for which of these a cotangent is wanted. If all were treated as active, a rule that calls
    its own function would be differentiated forever.
    """

    def handle(*call: Any) -> Any:
        __tracebackhide__ = True
        program = pullbacks.push.program(call)
        values = tuple([build(part, call) for part in program.given])
        words = {name: build(part, call) for name, part in program.words.items()}
        function = program.function
        templates = (*program.given, *program.words.values())
        flags = tuple([is_active(template, active) for template in templates])
        if function is made_object:  # from constants, but it may be given varying
            flags = (flags[0], True, *flags[2:])  # values later: its class is taken as active
        if program.derived:
            # what a built-in program captures is constant, and so is what a rule captures
            fixed = program.of_rule or is_stand_in(function.__code__.co_filename)
            own = not fixed if program.closure is None else is_active(program.closure, active)
            made = pullbacks.pass_of(function, values, flags, own, True, place)
            handler = crossings.through_pass(made.bound_to(function), function, values)
        else:
            handler = pullbacks.find(function, values, words, (False, *flags), place)
        watch = None if program.rule is None else watch_of_frule(program.rule, *arguments_of(program, values))
        pair, back = handler(*values, **words)
        if program.rule is not None:
            stated = checked_pair(program.rule, pair, watch)[1]
            y_dot = stated_tangent(pair[0], stated)
            if y_dot is not stated:
                pair, back = (pair[0], y_dot), heap.like(back, functools.partial(_of_stated, back, stated))

        def push_pullback(pair_bar: Any) -> Any:
            got = back(pair_bar)
            if got is NO:
                return NO
            sinks: Sinks = {}
            got = tuple(got)
            if program.closure is not None:
                _put(sinks, program.closure, got[0], place)
            elif not program.of_rule and carries_something(got[0]):
                raise captured(function, place)
            for template, bar in zip(templates, got[1:], strict=False):
                _put(sinks, template, bar, place)
            return (NO, *(_put_together(sinks, (number,), call[number]) for number in range(4)), NO, NO)

        return pair, heap.like(back, push_pullback)

    return Uncached(handle)


def _of_stated(back: Handler, y_dot: Any, pair_bar: Any) -> Any:
    """The pullback of a pair whose tangent was converted from the form in which a rule stated it."""
    of_y, of_dot = support.part(pair_bar, 0), support.part(pair_bar, 1)
    return back(make(tuple, {0: of_y, 1: in_form_of(y_dot, of_dot)}, 2))


def carries_something(bar: Any) -> bool:
    bar = support.value(bar)
    return bar is not NO and not isinstance(bar, AbstractZero)


def captured(function: Any, place: Place | None) -> NotDifferentiableError:
    """The error for a varying captured value whose cotangent cannot be returned to where it came from."""
    return NotDifferentiableError(
        f"{getattr(function, '__name__', 'a function')} captures a value that varies, in code that cannot be "
        "followed",
        place=place,
        fixes=("pass it as an argument",),
    )


def is_active(template: Any, active: Active) -> bool:
    """Whether a cotangent is wanted for something that a template refers to."""
    kind = type(template)
    if kind is Ref or kind is Default:
        path = template.path
        on = active[path[0]] if path[0] < len(active) else False
        if not isinstance(on, tuple):
            return on
        return on[path[1]] if len(path) > 1 else any(on)
    if kind is tuple:
        return any(is_active(part, active) for part in template)
    return kind is dict and any(is_active(part, active) for part in template.values())


Sinks = dict[tuple[Any, ...], Any]  # the cotangents of parts of a call, by their paths


def _put(sinks: Sinks, template: Any, bar: Any, place: Place | None) -> None:
    """Add the cotangent of what a template builds to those of the parts of the call that it is built from."""
    bar = support.value(bar)
    if bar is NO or bar is ZERO or isinstance(bar, AbstractZero):
        return
    kind = type(template)
    if kind is Default:
        bar = support.captured(**{template.name: bar})
    if kind is Ref or kind is Default:
        path = tuple([key for key in template.path if key is not SELF])
        sinks[path] = support.add(sinks[path], bar) if path in sinks else bar
    elif kind is tuple:
        for number, part in enumerate(template):
            _put(sinks, part, support.part(bar, number), place)
    elif kind is dict:
        for key, part in template.items():
            _put(sinks, part, support.part(bar, key), place)
    elif isinstance(template, types.FunctionType):
        raise captured(template, place)


def _put_together(sinks: Sinks, path: tuple[Any, ...], value: Any) -> Any:
    """The cotangent of a part of the call, whose value is `value`."""
    total = sinks.get(path, ZERO)
    size = len(path)
    deeper = {other[size] for other in sinks if len(other) > size and other[:size] == path}
    if deeper:
        entries = {key: _put_together(sinks, (*path, key), value[key]) for key in deeper}
        whole = make(dict, entries) if type(value) is dict else make(tuple, entries, len(value))
        total = whole if total is ZERO else support.add(total, whole)
    return total


def pulled(pullbacks: Question, vjp: Vjp, place: Place | None, active: tuple[bool, ...]) -> Handler:
    """The handler of `vjp(f, args, ȳ, words)`, which returns y = f(x) and x̄ = J'ȳ.

    With cotangents u of y and v of x̄, <u, y> + <v, J'ȳ> = <u, y> + <ȳ, J v>: so its pullback is that of the
    pushforward (y, J v) at (u, ȳ), and the cotangent of ȳ is J v itself. Keyword arguments have no entry in
    x̄: they are constant in J v, but have cotangents. `active` says for which of the four a cotangent is
    wanted. If the cotangent of f comes first in x̄, v is also a tangent of what f holds.
    """
    of_f, of_words = active[0], len(active) > 3 and active[3]

    def handle(f: Any, args: tuple[Any, ...], seed: Any, words: dict[str, Any] | None = None) -> Any:
        __tracebackhide__ = True
        # Cells, and containers of the running sweep, are restored: only that sweep knows which these are.
        moment = StateSnapshot(f, args, mine=lambda x: isinstance(x, types.CellType) or heap.is_own(x))
        y, x_bars = vjp(f, args, seed, words)
        if any(map(heap.is_own, moment.changed())):  # where varying values may be kept
            raise not_repeatable(f, "changes what it captures or is given")
        run = Run(f, args, words, y)
        names, values = tuple(words or ()), tuple((words or {}).values())
        y_bar = seed(y, f, args) if isinstance(seed, Seed) else seed_by_name(y, seed)

        def vjp_pullback(pair_bar: Any) -> Any:
            u, v = support.value(support.part(pair_bar, 0)), support.value(support.part(pair_bar, 1))
            moved = (carrier(f), *args) if vjp.own else args
            parts = [support.value(support.part(v, number)) for number in range(len(moved))]
            dots = tuple(
                [
                    NO if isinstance(part, AbstractZero | None) else inner(x, part)
                    for x, part in zip(moved, parts)
                ]
            )
            still = all(part is NO for part in dots)
            f_dot, dots = (dots[0], dots[1:]) if vjp.own else (NO, dots)
            if still and isinstance(u, AbstractZero):
                return NO
            outer = heap.enter()
            try:
                call = (f, f_dot, (*args, *values), (*dots, *(NO,) * len(values)), names, None)
                with moment:  # f runs again, and must find the same
                    wanted = (of_f, False, (*(True,) * len(args), *(of_words,) * len(names)), False)
                    with running_again(f, args, words):
                        (again, y_dot), back = pushed(pullbacks, place, wanted)(*call)
                    run.check_value(again)
                    if f_dot is NO:
                        run.check_slope(x_bars[1:] if vjp.own else x_bars, dots, y_bar, y_dot)
                    got = back(make(tuple, {0: u} if still else {0: u, 1: y_bar}, 2))
            finally:
                heap.leave(outer)
            if got is NO:
                return NO
            seed_bar = NO if still or isinstance(seed, Seed) else in_form_of(y_bar, y_dot)
            args_bar = support.settle(support.value(got[3]))
            parts = [support.part(args_bar, number) for number in range(len(call[2]))]
            of_args = make(tuple, dict(enumerate(parts[: len(args)])), len(args))
            words_bar = make(dict, dict(zip(names, parts[len(args) :]))) if of_words else NO
            return (NO, got[1], of_args, seed_bar, words_bar)

        return (y, x_bars), vjp_pullback

    return Uncached(crossings.through_rule(handle, None, False))


def made_new(cls: type) -> Any:
    """The handler of `programs.new_object`: an object without attributes, which are set later."""
    x = heap.own(cls.__new__(cls), True)  # type: ignore[call-overload]

    def new_pullback(x_bar: Any) -> Any:
        outlines.taken_from(x, x_bar)
        return NO

    return x, heap.effectful(new_pullback)


def taken_out(x_dot: Any) -> Any:
    """The handler of `programs.content_of`: the tangent itself, or the content of a cell, for which no
    cotangent is implemented.
    """
    if type(x_dot) is not types.CellType:
        return x_dot, lambda bar: (NO, bar)

    def content_pullback(bar: Any) -> Any:
        if not carries_something(bar):
            return NO
        return NO, not_implemented("by the tangent of a captured variable that is rebound")  # if it is needed

    return x_dot.cell_contents, content_pullback
