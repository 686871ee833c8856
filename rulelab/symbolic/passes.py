"""The gradient of a whole program, as the AD computes it, evaluated on traced numbers.

`gradient` runs compiled passes, which look up at each call what to do for arguments of these types. Here the
lookup uses plain floats in place of the traced numbers, so that it finds what the plain run finds; the pass,
rule or other handler found is then run on the traced numbers. The plain gradient is that of `gradient`
itself, and the two must agree at every sample.
"""

from __future__ import annotations

import inspect
import types
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ad.reverse import forward_sweep, gradient
from ..checking.measuring.shortening import index_text
from ..compiler.calls import attributes, entries, in_place, methods, remembered, sites
from ..compiler.memory import heap, support
from ..compiler.memory.handlers import Uncached
from ..errors import MutationError, NotDifferentiableError, RuleLabError
from ..rules.calling import apply_rrule
from ..tangents import thunks, zeros
from ..tangents.holding import held_by
from .arrays import TracedArray, filled
from .counterexamples import keywords_text
from .questions import Question, times
from .scalars import Scalar
from .swap import Swap


@dataclass(frozen=True)
class GradientQuestion(Question):
    """Asks whether the gradient by the AD is the derivative. Its "rule" returns `y_bar` times that gradient,
    for the arguments that vary.
    """

    moving: tuple = ()

    def rule_through(self, exchange):
        value_and_gradient = exchange(_Asked(self.primal, self.kwargs))

        def gradient_rule(*xs):
            y, slopes = value_and_gradient(*xs)

            def gradient_pullback(y_bar):
                parts = zip(slopes, self.moving, strict=True)
                return zeros.NoTangent(), *(
                    times(slope, y_bar) if moves else zeros.NoTangent() for slope, moves in parts
                )

            return y, gradient_pullback

        return gradient_rule

    def swap(self, trace, stand_ins):
        return _PassSwap(trace, stand_ins)

    def code(self, arguments, index, seed):
        text = f"{self.ask}{arguments}{keywords_text(self.kwargs)})"
        if not isinstance(index, tuple):
            return text
        number, (item, *_) = index
        return f"{text}[{number - 1}]{index_text(item)}"


class _Asked:
    """A function that returns the value and gradient. With plain arguments it is called; with traced ones, a
    swap follows it.
    """

    def __init__(self, f, kwargs):
        self.f, self.kwargs = f, kwargs

    def __call__(self, *xs):
        y = self.f(*xs, **self.kwargs)
        try:
            found = gradient(self.f, *xs, **self.kwargs)
        except RuleLabError as refusal:  # it gives no number here, so none is wrong
            raise NotDifferentiableError(str(refusal).splitlines()[0]) from refusal
        return y, [zeros.NoTangent() if x_bar is None else x_bar for x_bar in found]


_OF_SITES = {module.__name__ for module in (sites, remembered, attributes, methods, in_place)}
"""Modules with the functions that passes call at call sites; those named find… look up the handler."""


class _PassSwap(Swap):
    """A `Swap` that follows compiled passes as well: lookups at their call sites use plain numbers."""

    def __init__(self, trace, stand_ins):
        self._originals: dict[int, Any] = {}
        self._plain_ones: dict[int, Any] = {}  # kept alive, so that their ids are not reused
        super().__init__(trace, (*stand_ins, *_STAND_INS))

    def value(self, value, name):
        swapped = super().value(value, name)
        if swapped is not value:
            self._originals[id(swapped)] = value
        return swapped

    def _swap(self, value, name):
        if isinstance(value, _Asked):
            return lambda *xs: self._value_and_gradient(value, xs)
        if isinstance(value, types.FunctionType) and value.__module__ in _OF_SITES:
            return self._site(value) if value.__name__.startswith("find") else value
        if value is apply_rrule:
            return lambda rule, target, args, kwargs, config=None: self._rule(rule)(*args, **kwargs)
        if isinstance(value, weakref.ref):
            return lambda: self.value(value(), name)
        return super()._swap(value, name)

    def _value_and_gradient(self, asked, xs):
        outer = heap.enter()
        try:
            forward = forward_sweep(asked.f, tuple(map(self._plain, xs)), asked.kwargs)
            y, back = self._followed(forward)(*xs, **asked.kwargs)
            return y, [thunks.unthunk(x_bar) for x_bar in tuple(back(1.0))[1 : 1 + len(xs)]]
        finally:
            heap.leave(outer)

    def _site(self, find):
        """The lookup function of a call site, called with plain numbers; its result is followed."""

        def find_plainly(*args, **kwargs):
            try:
                found = find(*map(self._plain, args), **self._plain(kwargs))
            except MutationError:  # for a container made in this sweep, which is known by identity
                found = find(*map(self._plain_or_own, args), **self._plain(kwargs))
            return self._followed(found)

        return find_plainly

    def _followed(self, handler):
        while isinstance(handler, Uncached):
            handler = handler.call
        if not isinstance(handler, types.FunctionType):
            return self.value(handler, "a rule")
        if handler.__module__ == remembered.__name__:  # a wrapper for the plain numbers of the lookup
            return self._followed(inspect.getclosurevars(handler).nonlocals["handler"])
        if handler.__module__ == entries.__name__:  # a user's rule, held weakly
            held = inspect.getclosurevars(handler).nonlocals.get("held")
            if held is not None:
                return self._rule(held())
        if self._holds_plain(handler):
            self.trace_stop(f"a call of {handler.__name__}, which depends on what it is called with")
        followed = self.function(handler)
        self._originals[id(followed)] = handler
        return followed

    def _rule(self, rule):
        if rule.requires:
            self.trace_stop("a rule that asks for a RuleConfig")
        return self.value(rule.function, rule.target_name)

    def _plain(self, value):
        """`value` as in the plain run: floats for traced numbers, the author's functions for the rebuilt
        ones.
        """
        value = self._originals.get(id(value), value)
        if isinstance(value, Scalar):
            return self._noted(float(value.shadow))
        if isinstance(value, np.ndarray) and (bare := value.view(np.ndarray)).dtype == object:
            numbers = [float(self._plain(number)) for number in bare.ravel()]
            return self._noted(np.array(numbers).reshape(bare.shape))
        if isinstance(value, types.FunctionType) and any(map(_is_traced, held_by(value).captured.values())):
            self.trace_stop(f"the function {value.__name__}, which captures what varies")
        if type(value) in (tuple, list):
            return type(value)(map(self._plain, value))
        if type(value) is dict:
            return {key: self._plain(part) for key, part in value.items()}
        return value

    def _plain_or_own(self, value):
        return value if heap.is_own(value) else self._plain(value)

    def _noted(self, plain):
        self._plain_ones[id(plain)] = plain
        return plain

    def _holds_plain(self, handler):
        """Whether a handler holds a plain number that replaces a traced one: its result would not depend on
        that.
        """
        seen, stack = set(), [handler]
        while stack:
            top = stack.pop()
            if id(top) in self._plain_ones:
                return True
            if id(top) in seen:
                continue
            seen.add(id(top))
            if isinstance(top, (tuple, list)):
                stack.extend(top)
            elif isinstance(top, types.FunctionType):
                stack.extend(held_by(top).captured.values())
        return False


def _is_traced(value):
    return isinstance(value, (Scalar, TracedArray))


def _real(x_bar):
    """Like `support.real`, for traced numbers."""
    x_bar = thunks.unthunk(x_bar)
    if isinstance(x_bar, zeros.AbstractZero):
        return 0.0
    return x_bar.view(np.ndarray).reshape(()).item() if isinstance(x_bar, np.ndarray) else x_bar


_STAND_INS = (
    (support.value, thunks.unthunk),
    (support.real, _real),
    (support.buffer, lambda x: filled(x.shape, 0.0)),
    (support.buffer_and_view, lambda x: (filled(x.shape, 0.0),) * 2),
)
