"""Operators on objects of the author's classes: which methods Python tries, and in what order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...errors import Place
from ...rules import programs
from ...rules.registry import Found, NoRule
from ...rules.signatures import types_of
from ..base.classes import (
    BINARY,
    FIRST,
    LIKE_ARRAYS,
    in_class,
    is_author_class,
    is_declined,
    is_generated,
    is_of_c,
    written_in_python,
)
from ..base.question import Question
from ..memory import crossings
from ..memory.handlers import Handler, Uncached, no_cotangents, rearranged
from ..memory.operands import carries
from .call import Call
from .foreign import foreign
from .templates import Forward, Program, Pushed, arg, dot

_NUMBERS = (int, float, complex)


def turns_of(target: Any, left: Any, right: Any) -> list[tuple[Any, bool]]:
    """The author's methods that Python tries for a binary operator, in order, each with whether the operands
    are swapped; empty if the left operand computes the result itself.
    """
    forward, reflected = BINARY[target]
    kind, other = type(left), type(right)
    first, second = written_in_python(kind, forward), written_in_python(other, reflected)
    if kind is other:
        second = None
    # The right operand's class goes first if it inherits from the left one's and overrides the method.
    overrides = (
        second is not None and issubclass(other, kind) and getattr(kind, reflected, None) is not second
    )
    if first is None and not overrides and _answers_itself(left, right, forward):
        return []
    turns = [(first, False), (second, True)]
    if overrides:
        turns.reverse()
    return [turn for turn in turns if turn[0] is not None]


def _answers_itself(left: Any, right: Any, forward: str) -> bool:
    """Whether the left operand, whose method is in C, computes the result itself."""
    if isinstance(left, (np.ndarray, np.generic)):  # works item by item, unless the right operand forbids it
        in_items = isinstance(left, np.ndarray) or any(hasattr(type(right), name) for name in LIKE_ARRAYS)
        return in_items and getattr(type(right), "__array_ufunc__", True) is not None
    if isinstance(left, _NUMBERS):
        return isinstance(right, _NUMBERS)
    return is_author_class(type(left)) and getattr(type(left), forward, None) is not None


def methods_for(target: Any, args: tuple[Any, ...]) -> list[tuple[Any, bool]]:
    """The author's methods that answer for an operator, a conversion or `x[key]`, each with whether the
    operands are swapped; empty if none does. Raises Python's own error if no class answers.
    """
    __tracebackhide__ = True
    if not args or not is_of_c(target):
        return []
    if target in BINARY:
        if len(args) != 2 or not any(is_author_class(type(x)) for x in args):
            return []
        turns = turns_of(target, *args)
        if not turns and is_declined(target, args):
            target(*args)
        return turns
    if target not in FIRST:
        return []
    kind, name = type(args[0]), FIRST[target]
    if target in _OPERATORS and getattr(kind, name, None) is None:
        target(*args)
    method = written_in_python(kind, name) if is_author_class(kind) else None
    return [] if method is None else [(method, False)]


_OPERATORS = (operator.neg, operator.pos, operator.invert, operator.abs, abs, operator.getitem)
_KINDS = (float, complex, int)  # conversions that must return an object of the class


def handed_over(left: Any) -> Any:
    """The left operand as a reflected method gets it: a NumPy number, whose own method is tried first, is
    converted to Python's.
    """
    return left.item() if isinstance(left, np.number) else left


# -- reverse -------------------------------------------------------------------------------------------------


def operator_handler(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of an operator on objects of the author's classes; None if no method of theirs applies."""
    __tracebackhide__ = True
    target, active, place = call.target, call.active, call.place
    turns = [] if call.kwargs else methods_for(target, call.args)

    def run(*args: Any) -> Any:
        __tracebackhide__ = True
        for method, swapped in turns:
            given = (args[1], handed_over(args[0])) if swapped else args
            flags = (active[0], *active[:0:-1]) if swapped else active
            y, back = pullbacks.find_target(method, given, {}, flags, place)(*given)
            if target in _KINDS:
                programs.check_converted(y, target, args[0], method)
            if y is not NotImplemented or target not in BINARY:
                return y, rearranged(back, lambda got: (got[0], got[2], got[1])) if swapped else back
        return _left_to_c(pullbacks, call, args)

    return Uncached(run) if turns else None


def handed_in(handler: Handler, target: Any, args: tuple[Any, ...]) -> Handler:
    """The handler of a function of iterables, holders or operators, whose operands may include containers."""
    adopts = crossings.makes_new(target, args)
    return Uncached(crossings.through_rule(handler, None, adopts))


def operator_finder(
    pullbacks: Question, target: Any, active: tuple[bool, ...], place: Place | None
) -> Handler:
    """The function that finds the handlers of an operator at one call site: `finder(*args)`.

    It remembers for which types of operands no author's rule applies; the methods of their classes are looked
    up each time.
    """
    registry = pullbacks.cache.registry
    known: tuple[int, dict[tuple[int, ...], bool]] = (-1, {})  # with its epoch: both change in one assignment

    def find(*args: Any) -> Handler:
        nonlocal known
        asked_at = registry.snapshot.epoch
        of, left = known
        if of != asked_at:
            known = (asked_at, left := {})
        kinds = tuple(map(id, map(type, args)))
        asked = left.get(kinds)
        if asked and not ((stand_in := registry.stand_in(target)) and stand_in.answers(args)):
            handler = operator_handler(pullbacks, Call(target, args, {}, active, place))
            if handler is not None:
                return handed_in(handler, target, args)
        handler = pullbacks.find_target(target, args, {}, active, place)
        if asked is None and type(handler) is Uncached:
            if len(left) >= _MOST:
                left.clear()
            left[kinds] = is_left_to_classes(args)
        return handler

    def is_left_to_classes(args: tuple[Any, ...]) -> bool:
        if target not in BINARY or pullbacks.cache.mode != "auto" or registry.built_in_entry(target) is None:
            return False
        if not (any(active) and methods_for(target, args)):
            return False
        answer = pullbacks.ask(target, args, {})
        return isinstance(answer, NoRule) or (isinstance(answer, Found) and answer.rule.differentiable)

    return find


_MOST = 64  # types of operands that are remembered


def _left_to_c(pullbacks: Question, call: Call, args: tuple[Any, ...]) -> Any:
    """The operator after all of the author's methods have declined: by its rule, or Python's own error."""
    answer = pullbacks.ask(call.target, args, {})
    if isinstance(answer, Found) and answer.rule.built_in:
        return pullbacks.by_rule(answer.rule, call)(*args)
    y = call.target(*args)
    if carries(y) and any(call.active):
        raise foreign(pullbacks.cache.registry, call)
    return y, no_cotangents


# -- forward -------------------------------------------------------------------------------------------------

_WRITES: dict[Any, str] = {
    operator.setitem: "__setitem__",
    operator.delitem: "__delitem__",
    setattr: "__setattr__",
    delattr: "__delattr__",
}


def has_own_method(g: Any, args: tuple[Any, ...]) -> bool:
    """Whether a class of the author's defines an operator for these operands."""
    return bool(methods_for(g, args)) or any(_writing_methods(g, args))


def _writing_methods(g: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The author's property that a write to an attribute sets, and the author's method that does a write."""
    if not args or not is_of_c(g) or g not in _WRITES or not is_author_class(type(args[0])):
        return None, None
    found = in_class(type(args[0]), args[1]) if g in (setattr, delattr) else None
    method = written_in_python(type(args[0]), _WRITES[g])
    generated = method is not None and is_generated(method)
    return found if isinstance(found, property) else None, None if generated else method


def pushed_forward(push: Forward, call: Pushed) -> Program | None:
    """The program of an operator on objects of the author's classes; None if no method of theirs applies."""
    g, args, refs, dot_refs = call.target, call.args, call.refs(), call.dot_refs()
    if call.names:
        return None
    found, method = _writing_methods(g, args)
    setter = None if found is None else found.fset if g is setattr else found.fdel
    if setter is not None and method is None:
        return push.through(call.raw, setter, (refs[0], *refs[2:]), (dot_refs[0], *dot_refs[2:]))
    turns = methods_for(g, args)
    if turns and g in BINARY:
        return _pushed_binary(push, call, turns)
    method = turns[0][0] if turns else method
    if method is not None and g in _KINDS and len(args) == 1:
        return Program(programs.converted, (push, method, g, arg(0), dot(0)), trusted=True)
    return push.through(call.raw, method, refs, dot_refs) if method is not None else None


def _pushed_binary(push: Forward, call: Pushed, turns: list[tuple[Any, bool]]) -> Program:
    """The program of a binary operator: the methods in turn, then the built-in rule if all decline."""
    g, left = call.target, call.args[0]
    methods, orders = zip(*turns)
    rule = _rule_of_c(push, call)
    operands, dots = call.refs(), call.dot_refs()
    convert = _CONVERSIONS.get(type(handed_over(left))) if isinstance(left, np.number) else None
    if convert is not None and any(orders):
        whole = (push, convert, g, rule, methods, orders, operands, dots)
        return Program(programs.operated_from_numpy, whole, trusted=True)
    given = tuple([operands[::-1] if swapped else operands for swapped in orders])
    given_dots = tuple([dots[::-1] if swapped else dots for swapped in orders])
    return Program(
        programs.operated, (push, g, rule, methods, given, given_dots, operands, dots), trusted=True
    )


_CONVERSIONS: dict[type, Any] = {float: float, complex: complex, int: int}


def _rule_of_c(push: Forward, call: Pushed) -> Any:
    """The built-in rule for the operator, used once all of the author's methods have declined, or None."""
    answer = push.cache.ask(call.target, types_of(call.args), push.config, "frule")
    known = isinstance(answer, Found) and answer.rule.built_in and answer.rule.differentiable
    return answer.rule.function if known and not answer.rule.requires else None
