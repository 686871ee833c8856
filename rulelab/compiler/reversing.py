"""Reverse mode over the forward question: the pullbacks of `push` and of `vjp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Place
from ..tangents.shadows import inner
from ..tangents.structural import make
from ..tangents.zeros import AbstractZero
from . import crossings, heap, outlines, support
from .handlers import NO, ZERO, Handler, Unsettled
from .pushing import SELF, Default, Ref, build

if TYPE_CHECKING:
    from .pullbacks import Pullbacks


def pushed(pullbacks: Pullbacks, place: Place | None) -> Handler:
    """The handler of `push(g, g_dot, args, dots, names, method)`: that of the program which answers it."""

    def handle(*call: Any) -> Any:
        __tracebackhide__ = True
        program = pullbacks.push.program(call)  # type: ignore[arg-type]
        values = tuple([build(part, call) for part in program.given])
        words = {name: build(part, call) for name, part in program.words.items()}
        function = program.function
        active = (True,) * (len(values) + len(words))
        if program.derived:
            made = pullbacks.pass_of(function, values, active, True, True, place)
            handler = crossings.through_pass(made.bound_to(function), function, values)
        else:
            handler = pullbacks.find(function, values, words, (False, *active), place)
        pair, back = handler(*values, **words)
        templates = (*program.given, *program.words.values())

        def push_pullback(pair_bar: Any) -> Any:
            got = back(pair_bar)
            if got is NO:
                return NO
            sinks = Sinks(call)
            got = tuple(got)
            sinks.put(Ref((0,)), got[0])
            for template, bar in zip(templates, got[1:], strict=False):
                sinks.put(template, bar)
            return (NO, *(sinks.of((number,), call[number]) for number in range(4)), NO, NO)

        return pair, heap.like(back, push_pullback)

    return Unsettled(handle)


class Sinks:
    """Cotangents on their way to the parts of a call."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.bars: dict[tuple[Any, ...], Any] = {}

    def put(self, template: Any, bar: Any) -> None:
        """Hand the cotangent of what a template gives to the parts it was made of."""
        bar = support.value(bar)
        if bar is NO or bar is ZERO or isinstance(bar, AbstractZero):
            return
        kind = type(template)
        if kind is Default:
            template, bar = Ref(template.path), support.captured(**{template.name: bar})
            kind = Ref
        if kind is Ref:
            path = tuple([key for key in template.path if key is not SELF])
            self.bars[path] = support.add(self.bars[path], bar) if path in self.bars else bar
        elif kind is tuple:
            for number, part in enumerate(template):
                self.put(part, support.part(bar, number))
        elif kind is dict:
            for key, part in template.items():
                self.put(part, support.part(bar, key))

    def of(self, path: tuple[Any, ...], value: Any) -> Any:
        """The cotangent of a part of the call."""
        total = self.bars.get(path, ZERO)
        deeper = {other[len(path)] for other in self.bars if len(other) > len(path) and other[: len(path)] == path}
        if deeper:
            entries = {key: self.of((*path, key), value[key]) for key in deeper}
            whole = make(dict, entries) if type(value) is dict else make(tuple, entries, len(value))
            total = whole if total is ZERO else support.add(total, whole)
        return total


def pulled(pullbacks: Pullbacks, place: Place | None) -> Handler:
    """The handler of `vjp(f, args, y_bar)`, x̄ = J'ȳ. With v for the cotangent of x̄, <v, J'ȳ> = <ȳ, J v>: so
    its pullback is that of the pushforward y_dot = J v at ȳ, and the cotangent of ȳ is y_dot itself.
    """

    def handle(f: Any, args: tuple[Any, ...], y_bar: Any) -> Any:
        __tracebackhide__ = True
        x_bars = pullbacks.vjp(f, args, y_bar)

        def vjp_pullback(v: Any) -> Any:
            parts = [support.value(support.part(v, number)) for number in range(len(args))]
            dots = tuple([NO if isinstance(part, AbstractZero) else inner(x, part) for x, part in zip(args, parts)])
            if all(part is NO for part in dots):
                return NO
            outer = heap.enter()
            try:
                (_, y_dot), back = pushed(pullbacks, place)(f, NO, args, dots, (), None)
                got = back(make(tuple, {1: y_bar}, 2))
            finally:
                heap.leave(outer)
            return (NO, got[1], got[3], y_dot)

        return x_bars, vjp_pullback

    return Unsettled(handle)


def made_new(cls: type) -> Any:
    """The handler of `programs.new_object`: an object without attributes, which will be written."""
    x = heap.own(cls.__new__(cls), True)

    def new_pullback(x_bar: Any) -> Any:
        outlines.hand_in((x, {}), x_bar)
        heap.take_all(x)
        return NO

    return x, heap.effectful(new_pullback)
