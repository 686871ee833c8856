"""The one question of the compiler: the pullback of this call, by a rule, a cached pass or a new one."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import os
import types
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ForeignCallError, KeywordError, NotDifferentiableError, Place, RuleLabError
from ..parsing import with_room
from ..rules.binding import Binder, parameter_names, positional_parameters
from ..rules.calling import apply_rrule
from ..rules.capabilities import RuleConfig
from ..rules.programs import content_of, new_object
from ..rules.registry import Found, OptedOut
from ..rules.rule import Rule
from ..rules.signatures import types_of
from ..rules.targets import name_of, resolve
from ..tangents.generated import generated, tested
from ..tangents.holding import CACHED, contents, holds_something
from ..tangents.structural import Tangent, entries_of
from ..tangents.tracked import within_reverse
from . import (
    containers,
    copies,
    crossings,
    heap,
    hidden,
    snapshots,
    sources,
    support,
    watching,
)
from .borrowed import (
    PLAIN,
    about_to_run,
    asks_for_copies,
    begin_again,
    draws_into,
    keeping,
    look_at,
    look_at_call,
    needs_to_copy,
    refuse_asked_often,
    remember,
    sweep_around,
)
from .cache import Cache, Pass
from .constructors import constructor, copier, keeps_in_sight, make_plain
from .derived import stands_for
from .effects import LOUD, Noted, loudness, own_error
from .emit import calls_leading_here
from .entries import CopyingEntries, CopyingImplicitEntries, Entries, ImplicitEntries
from .fingerprints import Seen
from .handlers import NO, Handler, Unsettled, constant, with_bound, without_name
from .holders import Holders
from .iterators import Iteration, hands_on_plainly
from .libraries import compiled_function, is_library
from .nesting import enter, leave
from .operands import carries, describe, may_vary
from .passes import compile_pass
from .protocols import hands_out_its_own, is_author_class, is_of_c, operator_handler, refuse_converted
from .purity import seems_to_change
from .pushing import Push, Vjp, build
from .refusals import fault, mutation, text_read_again
from .reversing import is_active, made_new, pulled, pushed, taken_out
from .sites import attribute_finder, method_finder
from .spelling import reads_numbers
from .standing_in import by_stand_in
from .transposing import by_forward_rule, with_zero
from .types import signature_of
from .writes import attribute_writer, write_finder


class Pullbacks:
    """Finds pullbacks over one cache; `implicit` ones reach parameters that nobody hands in (`watching`), and
    one that `keeps` copies of constants stands code that refills them (`borrowed`).
    """

    def __init__(self, cache: Cache, implicit: bool = False, keeps: bool = False) -> None:
        self.cache = cache
        self.implicit = implicit
        self.keeps = keeps
        self.entries = _entries_for(cache, self.find, implicit, keeps)
        self.vjp, self.own_vjp = Vjp(self), Vjp(self, own=True)
        self.push = Push(self)
        # What a rule asks for is its own affair, so that nothing is deposited behind its back.
        self.config: RuleConfig = Pullbacks(cache, keeps=keeps).config if implicit else self.push.config
        self.iteration = Iteration(self)
        self.plain_iteration = Iteration(self, followed=False)
        self.holders = Holders(self)

    @functools.cached_property
    def with_copies(self) -> Pullbacks:
        """The same question, for sweeps that keep copies of the arrays that are not theirs (`borrowed`)."""
        return self if self.keeps else Pullbacks(self.cache, self.implicit, keeps=True)

    def via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """`(y, back)` of a call as rules ask for it: rules where there are, else a compiled pass. `back`
        gives a tuple of the cotangents of f and of `args`; neither keywords nor defaults have one.
        """
        y, inner = self._apart(f, args, kwargs, (True,) * (1 + len(args)))
        count = 1 + len(args)

        def back(y_bar: Any) -> tuple[Any, ...]:
            found = inner(y_bar)
            return (NO,) * count if found is NO else tuple(found[:count])

        return y, back

    def by_arguments(self, f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[Any, Any]:
        """`(y, back)` of a call as `gradient` asks for it: what f captures is a constant, and so is a
        function among the arguments.
        """
        return self._apart(f, args, words, (False, *map(may_vary, args)))

    def _apart(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: tuple[bool, ...]
    ) -> tuple[Any, Any]:
        active = (*wanted, *(False,) * len(kwargs))
        outer = (
            heap.enter()
        )  # a rule may call the pullback as often as it likes, so nothing is shared with it
        keeps = self.with_copies if needs_to_copy(self, f) else self
        happened = LOUD[0]
        try:
            y, inner = keeps.find(f, args, kwargs, active, None)(*args, **kwargs)
        except RuleLabError as error:
            if not asks_for_copies(error) or keeps.keeps:
                raise
            if LOUD[0] != happened or sweep_around():
                remember(self, f)
                raise
            begin_again(self, f)
            y, inner = self.with_copies.find(f, args, kwargs, active, None)(*args, **kwargs)
        finally:
            heap.leave(outer)

        def back(y_bar: Any) -> Any:
            outer = heap.enter()
            try:
                return inner(y_bar)
            finally:
                heap.leave(outer)

        return y, back

    # -- the question ----------------------------------------------------------------------------------------

    def find(
        self,
        g: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """What to call instead of `g` with the same arguments to get `(y, back)`.

        `active` tells of the function, each argument and each keyword whether a cotangent is wanted. `back`
        gives the cotangent of the function first, then one per argument and keyword as far as wanted.
        """
        __tracebackhide__ = True
        if type(g) is Push:
            self.refuse_implicit(place)
            return pushed(self, place, active[1:])
        if type(g) is Vjp:
            self.refuse_implicit(place)
            return pulled(self, g, place, active[1:])
        target, bound = resolve(g)
        if not bound:
            return self.find_target(target, args, kwargs, active, place)
        inner = self.find_target(
            target, (*bound, *args), kwargs, (False, *(active[0],) * len(bound), *active[1:]), place
        )
        return with_bound(inner, bound)

    def refuse_implicit(self, place: Place | None) -> None:
        """A derivative inside of a loss would not know its parameters."""
        if self.implicit:
            raise NotDifferentiableError(
                "A derivative is taken inside of a loss whose gradient is by Params",
                place=place,
                fixes=("the explicit style: give the parameters as arguments",),
                read="limitations#implicit-parameters",
            )

    def find_target(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        __tracebackhide__ = True
        if target is new_object:
            return made_new
        if target is content_of:
            return Unsettled(taken_out)
        if (target is setattr or target is delattr) and not kwargs and heap.is_followed(args[0]):
            return attribute_writer(self, target, place)
        if args and (method := containers.method_of(target, args[0])) is not None:
            if method is containers.read_item and type(args[1]) is not int and is_author_class(type(args[1])):
                look_at(self, args[1:], place)
                return Unsettled(method)
            return method
        if args and containers.changes_set(target, args[0]) and all(map(containers.may_be_in_set, args[1:])):
            return constant(target)
        if target is setattr and len(args) == 3 and not kwargs and heap.is_followed(args[0]):
            return write_finder(self, "attribute", place)(*args)
        if args and type(args[0]) in (str, bytes) and active[1] and reads_numbers(target):
            raise text_read_again(place)
        memory, epoch = self.cache.memory, self.cache.registry.epoch  # as of which the answer is
        answer = self.ask(target, args, kwargs)
        if isinstance(answer, Found):
            if answer.rule.house:
                if answer.rule.differentiable:
                    wanted = [x for x, on in zip((*args, *kwargs.values()), active[1:]) if on]
                    refuse_converted(target, wanted, place)
                handler = self.instead_of_rule(answer.rule, target, args, kwargs, active, place)
                if handler is not None:
                    return _handed_in(handler, target, args)
            self.note_rule(answer.rule, target, args, kwargs)
            # In the implicit style what the rule says of a function that holds something is wanted, too.
            quick = not kwargs and type(target) is types.FunctionType and memory is self.cache.memory
            if quick and not (self.implicit and holds_something(target)):
                self.entries.add_rule(target, args, active[1:], answer.rule, epoch)
            handler = self.by_rule(answer.rule, target, args, kwargs, active, place)
            return self.guarded(handler, answer.rule, target, args, kwargs, active, place)
        forward = None if isinstance(answer, OptedOut) else self.forward_rule(target, args, kwargs)
        if forward is not None and any(active):
            return self.by_transposing(forward, target, args, kwargs, active, place)
        self.refuse_mutation(target, args, kwargs, place)
        function = compiled_function(target)
        if function is not None:
            handler = self.by_pass(function, args, kwargs, active, place)
            return crossings.through_pass(handler, function, (*args, *kwargs.values()))
        if isinstance(target, type):
            made = constructor(self, target, active, place)
        else:
            made = copier(self, target, args, place) or (None if kwargs else copies.conversion(target, args))
        if made is not None:
            return made
        wanted = [x for x, on in zip((*args, *kwargs.values()), active[1:], strict=True) if on]
        if any(active) or self.implicit:
            if type(target) is operator.methodcaller and self.implicit:
                hidden.refuse_reading("a method caller", (target,), place)  # its arguments are constants
            handler = self.without_rule(target, args, kwargs, active, place)
            if handler is not None:
                return _handed_in(handler, target, args)
        if any(map(carries, wanted)):
            if target is getattr and len(args) == 2 and isinstance(args[1], str):
                return without_name(attribute_finder(self, args[1], place)(args[0]))
            if target in (list, tuple) and len(args) == 1 and not np.iterable(args[0]):
                return constant(target)  # which raises what Python raises
            raise self.foreign(target, args, kwargs, place)
        look_at_call(self, target, args, kwargs, place)
        self.cache.watches.note(loudness(target, False))
        if self.implicit:
            hidden.refuse_reading(target, (target, *args, *kwargs.values()), place)
        return self.unseen(target)

    def deposits(self, function: Any) -> bool:
        """Whether what flows to what a function holds goes to parameters at once, and not to who gave the
        function: in the implicit style, unless it was made inside, of values that may vary.
        """
        return self.implicit and not watching.is_made(function)

    def unseen(self, target: Any) -> Handler:
        """The handler of code that nobody looks into and that no cotangent is wanted of."""
        return watching.unseen(target) if self.implicit else constant(target)

    def implicitly(
        self,
        handler: Handler,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The handler by rule in the implicit style: what an author's rule says of captured parameters
        counts, and one of the house may not call what reads a parameter.
        """
        if not rule.house:
            return watching.depositing(handler, target) if self.deposits(target) else handler
        if rule.differentiable and not _only_hands_on(target):
            functions = tuple(hidden.functions_in((*args, *kwargs.values())))
            hidden.refuse_reading(target, functions, place)
        return handler

    def note_rule(self, rule: Rule, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell of a call by rule what a comparison with the plain function has to know."""
        watches = self.cache.watches
        watches.note_met(target)
        if rule.differentiable and not rule.house:
            watches.note_ruled()
        elif (
            isinstance(target, types.FunctionType)
            and not is_library(target)
            or any(isinstance(x, (types.FunctionType, types.MethodType)) for x in (*args, *kwargs.values()))
        ):
            watches.note(Noted.UNSEEN)
        else:
            watches.note(loudness(target, True))

    def instead_of_rule(
        self,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler | None:
        """The handler of a call whose arguments are not what the house's rule is for."""
        if (handler := copies.copier(target, args, lambda x: rule.function(x)[0])) is not None:
            return handler
        if rule.differentiable and any(is_author_class(type(x)) for x in args):
            handler = None if kwargs else operator_handler(self, target, args, active, place)
            stored = isinstance(target, (types.WrapperDescriptorType, types.MethodDescriptorType)) or (
                getattr(target, "__module__", None) == "_operator"
            )  # these read what is stored, whatever the class says
            if handler is None and not stored and any(map(hands_out_its_own, args)):
                handler = self.without_rule(target, args, kwargs, active, place)
                if handler is None and any(map(carries, args)):
                    raise self.foreign(target, args, kwargs, place)
            if handler is not None:
                return handler
            look_at(self, (x for x, on in zip(args, active[1:]) if not on), place)
        stand_in = self.cache.registry.stand_in(target)
        if stand_in is None:
            return None
        if stand_in.reads_items:
            handler = self.iteration.handler(target, args, kwargs, active, place)
            if handler is not None:
                return handler
        look_at(self, (x for x, on in zip(args, active[1:]) if not on), place)
        if stand_in.instead is not None and stand_in.instead(*args):
            return by_stand_in(self, stand_in, target, args, kwargs, active, place)
        return None

    def without_rule(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler | None:
        """The handler of a call of C code that this package knows the doings of; None for any other."""
        __tracebackhide__ = True
        if type(target) is CACHED:  # what it keeps is of other calls, and it may keep nothing that varies
            return self.find(target.__wrapped__, args, kwargs, active, place)
        stand_in = self.cache.registry.stand_in(target)
        if stand_in is not None and stand_in.answers(args):
            if not any(map(carries, (*args, *kwargs.values()))):
                return None
            given = (*args, *kwargs.values())
            look_at(self, (x for x, on in zip(given, active[1:]) if not on), place)
            return by_stand_in(self, stand_in, target, args, kwargs, active, place)
        return (
            (None if kwargs else with_zero(target, args))
            or self.holders.handler(target, args, kwargs, active, place)
            or (None if kwargs else operator_handler(self, target, args, active, place))
            or self.iteration.handler(target, args, kwargs, active, place)
        )

    def attribute(self, name: str, owner: Any, place: Place | None) -> Handler:
        """The handler of `owner.name`."""
        return attribute_finder(self, name, place)(owner)

    def method(
        self,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The handler of `args[0].name(*args[1:])`, called with all of `args`."""
        return method_finder(self, name, active, place)(*args, **kwargs)

    def ask(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entry = self.cache.registry.entry(target)
        positional = args
        # Bound also where there is no rule yet: in manual mode the question must be the same as after one.
        authors = type(target) is types.FunctionType and (entry is None or not entry.house)
        if kwargs or authors or (entry is not None and entry.user):
            try:
                positional, _ = Binder.of(target).bind(args, kwargs)
            except TypeError:  # the call itself is wrong, and will say so in its own words
                positional = args
        return self.cache.ask(target, types_of(positional), self.config)

    def forward_rule(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Rule | None:
        """The author's frule for a call, of which reverse mode makes do where there is no rrule."""
        entry = self.cache.registry.entry(target)
        stated = entry is not None and any(isinstance(r, Rule) and r.mode == "frule" for r in entry.user)
        if not stated and (self.cache.mode == "auto" or type(target) is not types.FunctionType):
            return None
        try:
            positional, _ = Binder.of(target).bind(args, kwargs)
        except TypeError:
            positional = args
        found = self.cache.ask(target, types_of(positional), self.config, "frule")
        return found.rule if isinstance(found, Found) and not found.rule.house else None

    def may_compile(self, function: types.FunctionType) -> bool:
        """Whether a Python function is differentiated through, by its source or a rule."""
        ruled = self.cache.registry.entry_in("rrule", function) is not None
        return compiled_function(function) is not None or ruled

    # -- by a rule -------------------------------------------------------------------------------------------

    def by_rule(
        self,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        if rule.house and (kwargs or self.out_slot(target, len(args)) is not None):
            self.refuse_mutation(target, args, kwargs, place)
        if not rule.differentiable:
            return constant(target)
        if not rule.house:
            return self.by_user_rule(rule, target, args, kwargs, active)
        names = parameter_names(rule.function)
        for name in kwargs:
            if names is not None and name not in names:
                raise KeywordError(
                    f"The rule of {name_of(target)} does not cover the argument {name}=",
                    place=place,
                    fixes=(f"write a rule for the function that calls {name_of(target)} with it",),
                    read="limitations#keywords",
                )
        leading = rule.leading if rule.leading is not None else len(args)
        try:
            for number, x in enumerate(args):
                if number >= leading and active[1 + number]:
                    known = names[number] if names and number < len(names) else f"argument {number + 1}"
                    self.refuse_lost(target, known, x, place)
        except NotDifferentiableError as refusal:
            raise own_error(target, args, kwargs) or refusal from None
        if not kwargs and not any(active[1 + leading :]):
            return rule.function
        return self.house_with_keywords(rule, target, args, kwargs, active, leading, place)

    def house_with_keywords(
        self,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        leading: int,
        place: Place | None,
    ) -> Handler:
        """A house rule answers for its first arguments; keywords that name these go by position."""
        names, defaults = positional_parameters(rule.function)
        where = []
        for number, (name, x) in enumerate(kwargs.items()):
            slot = names.index(name) if name in names else leading
            where.append(slot + 1 if slot < leading else None)
            if slot >= leading and active[1 + len(args) + number]:
                self.refuse_lost(target, name, x, place)
        count = len(args)
        moved = names[count : max((slot for slot in where if slot is not None), default=0)]
        if not all(name in kwargs or name in defaults for name in moved):
            moved = ()  # the call lacks an argument, and will say so in its own words

        def by_house_rule(*args: Any, **kwargs: Any) -> Any:
            args = (*args, *(kwargs.pop(name) if name in kwargs else defaults[name] for name in moved))
            y, pullback = rule.function(*args, **kwargs)

            def back(y_bar: Any) -> tuple[Any, ...]:
                got = tuple(pullback(y_bar))
                positional = (got + (NO,) * (1 + count - len(got)))[: 1 + count]
                return (
                    *positional,
                    *(got[slot] if slot is not None and slot < len(got) else NO for slot in where),
                )

            return y, back

        return by_house_rule

    def refuse_lost(self, target: Any, name: str, x: Any, place: Place | None) -> None:
        """A float that a rule gives no cotangent for must not lose its gradient without a word."""
        if isinstance(x, (float, complex, np.inexact)) or (
            isinstance(x, np.ndarray) and x.dtype.kind in "fc"
        ):
            raise NotDifferentiableError(
                f"The rule of {name_of(target)} gives no derivative for its argument {name}",
                place=place,
                fixes=(
                    f"rl.ignore_derivatives({name}) if it is a constant",
                    "write a rule for the calling function",
                ),
                read="limitations#keywords",
            )

    def by_user_rule(
        self, rule: Rule, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], active: tuple[bool, ...]
    ) -> Handler:
        binder = Binder.of(target)
        for name in (n for n, on in zip(kwargs, active[1 + len(args) :], strict=True) if on):
            if name in binder.keyword_only and carries(kwargs[name]):
                raise KeywordError(
                    f"{name_of(target)} was given a differentiable value for {name}=, "
                    "which its rule takes as a constant",
                    place=rule.place,
                    fixes=(f"make {name} a positional parameter", f"rl.ignore_derivatives({name})"),
                    read="rules#keywords",
                )
        config = self.config

        def by_rule(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            enter()
            try:
                found = apply_rrule(rule, target, args, kwargs, config)
            finally:
                leave()
            if not kwargs:
                return found
            y, pullback = found
            names = binder.names(len(pullback.positional))
            order = [1 + names.index(name) if name in names else None for name in kwargs]

            def back(y_bar: Any) -> tuple[Any, ...]:
                __tracebackhide__ = True
                got = pullback(y_bar)
                return (*got[: 1 + len(args)], *(NO if slot is None else got[slot] for slot in order))

            return y, back

        return by_rule

    def by_transposing(
        self,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The handler by an author's frule (`transposing`); what the function captures counts as constant."""
        if not rule.differentiable:
            return constant(target)
        self.note_rule(rule, target, args, kwargs)
        apart = Pullbacks(self.cache, keeps=self.keeps) if self.implicit else self
        handler = by_forward_rule(apart, rule, target, active, place)
        return self.guarded(handler, rule, target, args, kwargs, active, place)

    def guarded(
        self,
        handler: Handler,
        rule: Rule,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The handler by a rule with what holds for every rule: parameters, functions that it may call, and
        containers.
        """
        if rule.house and rule.differentiable:
            if any(type(x) not in PLAIN for x in (*args, *kwargs.values())):
                refuse_asked_often(target, args, kwargs.values(), place)
        if self.implicit:
            handler = self.implicitly(handler, rule, target, args, kwargs, active, place)
        if any(map(_may_call_authors, (*args, *kwargs.values()))):
            handler = snapshots.watched(handler, place)  # it may call them, and nobody sees what they do
        if self.keeps and rule.differentiable:
            whole = not (crossings.preserves(target, args) or crossings.keeps_alive(target, args))
            handler = keeping(handler, whole, rule.house, place, target is operator.getitem)
        handler = _for_containers(handler, rule, target, args, kwargs)
        if rule.house and any(is_author_class(type(x)) for x in args):
            return Unsettled(handler)  # what runs behind its operators is looked at for each object
        return handler

    # -- by a compiled pass ----------------------------------------------------------------------------------

    def by_pass(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        __tracebackhide__ = True
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        if not kwargs and len(args) == count and not code.co_flags & 0x0C:
            made = self.pass_of(function, args, active[1:], active[0], True, place)
            self.entries.add_pass(function, args, active[1:], made)
            forward = made.bound_to(function)
            deposits = made.slot is not None and self.deposits(function)
            return watching.depositing(forward, function) if deposits else forward
        return self.with_binding(function, args, kwargs, active, place)

    def with_binding(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """Defaults and keywords: the pass takes every parameter, in the order of the code object."""
        __tracebackhide__ = True
        values, where = bind(function, args, kwargs)
        flags = flags_by_slot(len(values), where, active[1:])
        held = _active_defaults(function, values, where) if active[0] else {}
        if self.implicit:
            held |= sources.held_defaults(function, values, set(map(slot_number, where)))
        for slot in held:
            flags[slot] = True
        code = function.__code__
        own_words = bool(code.co_flags & inspect.CO_VARKEYWORDS)  # a dict that is new at each call
        if own_words and seems_to_change(function):
            flags[-1] = True  # what varies may be put there
        forward = self.pass_of(function, values, tuple(flags), active[0], True, place).bound_to(function)
        names = forward.__code__.co_varnames
        as_written = not code.co_kwonlyargcount and not code.co_flags & 0x0C  # no `*args`, no `**kwargs`
        as_written &= not (self.implicit and function.__closure__)
        if not held and where == list(range(len(where))) and as_written:
            if names[: len(values)] == code.co_varnames[: len(values)]:
                forward.__defaults__ = function.__defaults__
                return forward  # which binds as the function does, in no frame more

        def bound(*args: Any, **kwargs: Any) -> Any:
            values, where = bind(function, args, kwargs)
            size = heap.publish(values[-1]) if own_words else None
            enter()
            try:
                y, pullback = forward(*values)
            finally:
                leave()

            def back(y_bar: Any) -> tuple[Any, ...]:
                got = pullback(y_bar)
                if size is not None:
                    got = (*got[:-1], heap.collect(values[-1], got[-1], size))
                own = got[0]
                for slot, name in held.items():
                    own = support.add(own, support.captured(**{name: got[1 + slot]}))
                return (own, *(bar_at(got, slot) for slot in where))

            return y, heap.effectful(back) if own_words else heap.like(pullback, back)

        if self.deposits(function) and (held or function.__closure__):
            return watching.depositing(bound, function)
        return bound

    def pass_of(
        self,
        function: types.FunctionType,
        values: tuple[Any, ...],
        flags: tuple[bool, ...],
        captured: bool,
        differentiate: bool,
        place: Place | None,
    ) -> Pass:
        """The pass for these argument values: cached, or compiled now."""
        signature = tuple(map(signature_of, values))
        free: tuple[Any, ...] = ()
        if function.__closure__:
            free = tuple(_own_signature(function, cell) for cell in function.__closure__)
            captured = captured and any(
                part in ("own", "cell") or carries(contents(cell))
                for part, cell in zip(free, function.__closure__, strict=True)
            )
        wanted: bool | frozenset[str] = captured
        if self.deposits(function):
            wanted = sources.captured_parameters(function, free)
        pattern = sources.pattern(function) if self.implicit else None
        if self.keeps:
            pattern = ("copies", pattern)
        key = (signature, flags, free, wanted, differentiate, pattern)
        found = self.cache.find(function, key)
        if found is not None:
            if found.noted:
                self.cache.watches.note(found.noted)
            return found
        try:
            made = with_room(
                lambda: compile_pass(self, function, signature, flags, free, wanted, differentiate)
            )
        except RuleLabError as error:
            error.chain = error.chain or calls_leading_here()
            raise
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # nothing of the author's runs here, so it is ours
            raise fault(function, error) from error
        self.cache.store(function, key, made)
        self.cache.watches.note(made.noted)
        return made

    # -- calls that nothing is differentiated through --------------------------------------------------------

    def run_plain(
        self,
        g: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        varied: tuple[bool, ...],
        place: Place | None,
    ) -> Any:
        """Call `g`; author's code goes through a pass of its own, so that writes to arrays are still refused.

        `varied` tells which of the function, arguments and keywords depend on what is differentiated: those
        may not go where they could be kept out of sight.
        """
        if type(g) is Push or type(g) is Vjp:
            self.refuse_implicit(place)
            if isinstance(g, Vjp):
                return g(*args)
            if any(varied) or _makes_what_may_change(_called(args)[0]):
                return self.push_plain(args, varied[1:] if any(varied) else (True,) * len(args), place)
            return push_constant(g, args)
        target, bound = resolve(g)
        if target is new_object:
            return heap.own(new_object(*args), False)
        everything = (*bound, *args)
        if target is new_object:
            return heap.own(new_object(*everything), False)
        known = self.cache.registry.entry_in("rrule", target)
        function = compiled_function(target) if known is None else None
        if function is not None:
            values, where = bind(function, everything, kwargs)
            flags = flags_by_slot(len(values), where, (*(varied[0],) * len(bound), *varied[1:]))
            if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
                heap.publish_plain(values[-1])
            forward = self.pass_of(function, values, tuple(flags), varied[0], False, place).bound_to(function)
            enter()
            try:
                return forward(*values)
            finally:
                leave()
        spread = (varied[0], *(varied[0],) * len(bound), *varied[1:])
        if known is None and type(target) is CACHED and any(varied):
            return self.run_plain(target.__wrapped__, everything, kwargs, spread, place)
        if known is None and type(target) is functools.partial:
            held, words = target.args, {**target.keywords, **kwargs}
            of_words = (varied[0] or any(varied[1 + len(args) :]),) * len(words)
            handed = (*(varied[0],) * (1 + len(held)), *varied[1 : 1 + len(args)], *of_words)
            return self.run_plain(target.func, (*held, *args), words, handed, place)
        if known is None and keeps_in_sight(target):
            return make_plain(self, target, args, kwargs, place)
        if target is copy.copy or target is copy.deepcopy:
            return copies.made_plain(target)(target, *everything, **kwargs)
        if everything and heap.may_change_unseen(everything[0]):
            return _watching(g, bound, args, kwargs, place, changes=True)
        if draws_into(target, args, kwargs) and not any(varied):
            about_to_run(self, name_of(target), place)  # as code of C that has no rule may write
            return g(*args, **kwargs)
        self.refuse_mutation(target, everything, kwargs, place)
        stand_in = self.cache.registry.stand_in(target) if known is None and any(varied) else None
        if stand_in is not None and stand_in.answers(everything):
            handler = by_stand_in(self, stand_in, target, everything, kwargs, spread, place, False)
            return handler(*everything, **kwargs)
        hands_on = hands_on_plainly(target, everything)
        carrying = any(varied) and any(map(carries, (*everything, *kwargs.values())))
        if known is None and not hands_on and carrying:
            found = self.plain_iteration.handler(target, everything, kwargs, spread, place)
            found = found or self.without_rule(target, everything, kwargs, spread, place)
            if found is not None:
                return found(*everything, **kwargs)[0]
        reads = target is getattr or hands_on  # as harmless as `x.name`
        if (
            known is None
            and not reads
            and not (isinstance(target, type) and issubclass(target, BaseException))
        ):
            given = [x for x, on in zip((*args, *kwargs.values()), varied[1:], strict=True) if on]
            if varied[0]:  # x.dumps()
                given += [x for x in bound if isinstance(x, (np.ndarray, np.generic))]
            if any(map(carries, given)):
                raise self.foreign(target, everything, kwargs, place)
        self.cache.watches.note_met(target)
        if known is None:
            look_at_call(self, target, everything, kwargs, place)
        else:
            look_at(self, (*everything, *kwargs.values()), place)
        self.cache.watches.note(loudness(target, self.cache.registry.house_entry(target) is not None))
        constant_here = self.implicit and not any(varied)
        if constant_here and not _never_differentiated(known) and not _only_hands_on(target):
            functions = tuple(hidden.functions_in((*args, *kwargs.values())))
            hidden.refuse_reading(target, functions, place)
        y = _watching(g, bound, args, kwargs, place)
        return heap.made_plain(y) if crossings.makes_new(target, everything) else y

    def push_plain(self, call: Any, varied: tuple[bool, ...], place: Place | None) -> Any:
        """What a `push` gives whose result nobody differentiates; a write to what varies is refused."""
        found = self.pushed_plain(call, varied, place)
        if crossings.makes_new(*_called(call)):
            for part in found:
                heap.publish_plain(part)
        return found

    def pushed_plain(self, call: Any, varied: tuple[bool, ...], place: Place | None) -> Any:
        program = self.push.program(call)
        values = tuple([build(part, call) for part in program.given])
        flags = tuple([is_active(part, varied) for part in program.given])
        if program.derived:
            made = self.pass_of(program.function, values, flags, False, False, place)
            return made.bound_to(program.function)(*values)
        words = {name: build(part, call) for name, part in program.words.items()}
        flags = (*flags, *(is_active(part, varied) for part in program.words.values()))
        return self.run_plain(program.function, values, words, (False, *flags), place)

    def refuse_mutation(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
    ) -> None:
        """MutationError for a call that is known to write to its arguments."""
        slot = self.out_slot(target, len(args))
        # A ufunc has one array to write to for each result, and nothing after them.
        last = len(args) if slot is None or isinstance(target, np.ufunc) else slot + 1
        if slot is not None and any(x is not None for x in args[slot:last]):
            raise mutation(f"{name_of(target)}(out={describe(args[slot])})", place)
        if kwargs.get("out") is not None:
            raise mutation(f"{name_of(target)}(out={describe(kwargs['out'])})", place)
        if self.cache.registry.mutator(target) is not None:
            kind = type(args[0]) if args else np.ndarray
            raise mutation(
                f"{name_of(target)}({', '.join(map(describe, args[:1]))})",
                place,
                issubclass(kind, np.ndarray),
                f"make the {kind.__name__} in the function" if kind in heap.KINDS else None,
            )

    def out_slot(self, target: Any, count: int) -> int | None:
        """Which of `count` positional arguments is the array to write to, if one is: `np.add(a, b, out)`."""
        if isinstance(target, np.ufunc):
            return target.nin if count > target.nin else None
        entry = self.cache.registry.entry(target) if count > 1 else None
        for rule in entry.house if entry is not None else ():
            if not isinstance(rule, Rule) or rule.mode != "rrule":
                continue
            names = positional_parameters(rule.function)[0]  # after `*args`, `out` goes by name
            if "out" in names[:count]:
                return names.index("out")
        return None

    def foreign(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
    ) -> Exception:
        """The error for a call that neither a rule nor a pass can take; its own if it fails by itself."""
        own = own_error(target, args, kwargs)
        if own is not None:
            return own
        if isinstance(target, types.FunctionType) and target.__code__.co_filename.startswith(_PACKAGE):
            return NotDifferentiableError(
                f"Second derivatives are not supported yet: {target.__name__} is called in a function "
                "that is differentiated",
                place=place,
                fixes=("write a rule for the function that calls it",),
                read="limitations#second-derivatives",
                chain=calls_leading_here()[:-1],
            )
        name = name_of(target)
        # Where it is no name, it is an object that only the author has a name for.
        known = name.replace(".", "_").isidentifier()
        name = name if known else f"a {type(target).__name__} object"
        if getattr(target, "__module__", None) == "_operator":
            shown = f" {name.removeprefix('operator.').removesuffix('_')} ".join(map(describe, args))
            return NotDifferentiableError(
                f"There is no rule for {shown}",
                place=place,
                read="limitations#operators",
                fixes=("write a rule for the function it stands in",),
            )
        entry = self.cache.registry.entry(target)
        near = (
            [
                rule.describe()
                for rule in (*entry.user, *entry.house)
                if isinstance(rule, Rule) and rule.mode == "rrule"
            ][:2]
            if entry
            else []
        )
        call = (
            f"{name}({', '.join([*map(describe, args), *(f'{k}={describe(v)}' for k, v in kwargs.items())])})"
        )
        ruled = name if known or place is None else place.function
        fixes = [
            *(f"match its rule {line}" for line in near),
            f"write a rule for {ruled} (%rule_stub {ruled})",
            "rl.ignore_derivatives(lambda: ...) around the call, if its derivative is zero",
        ]
        return ForeignCallError(
            f"Can't differentiate foreign call expression {call}",
            place=place,
            fixes=tuple(fixes),
            read="limitations#foreign-calls",
            chain=calls_leading_here()[:-1],
        )


def _entries_for(cache: Cache, find: Any, implicit: bool, keeps: bool) -> Entries:
    kind = ImplicitEntries if implicit else Entries
    if keeps:
        kind = CopyingImplicitEntries if implicit else CopyingEntries
    return kind(cache, find)


# Functions that call what they are given only to put things in order, and those that put it into containers.
_HANDING_ON = (sorted, max, min, list, tuple, dict, set, frozenset, zip, enumerate, reversed, iter, next)


def _only_hands_on(target: Any) -> bool:
    """Whether nothing flows through calls that a function of Python's makes of what it is given."""
    if any(target is known for known in _HANDING_ON):
        return True
    owner = getattr(target, "__objclass__", None) or getattr(target, "__module__", None)
    return owner in (list, dict, tuple, set, deque, "_operator")


def _never_differentiated(entry: Any) -> bool:
    """Whether all the reverse rules of a target say that it has no derivative."""
    rules = [r for r in entry.house if isinstance(r, Rule) and r.mode == "rrule"] if entry is not None else []
    return entry is not None and not any(r.differentiable for r in rules)


def _called(call: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that a `push` calls, and its arguments with the object that it is bound to."""
    g, args, method = call[0], call[2], call[5] if len(call) > 5 else None
    if method is not None and not isinstance(g, types.ModuleType):
        return getattr(type(g), method, None), (g, *args)
    target, bound = resolve(g if method is None else getattr(g, method))
    return target, (*bound, *args)


def _makes_what_may_change(target: Any) -> bool:
    """Whether a function makes a container or an object, of constants perhaps, that may be written later."""
    return isinstance(target, type) and (keeps_in_sight(target) or crossings.makes_new(target, ()))


def push_constant(push: Push, call: Any) -> Any:
    """What a `push` of constants gives. Arrays that others hold may not be written to in it, since the sweep
    around it may have read them.
    """
    if not isinstance(call[0], types.FunctionType):
        return push(*call)
    before = Seen(x for x in call[2] if isinstance(x, np.ndarray))
    with within_reverse():
        found = push(*call)
    before.check("in forward mode, which the reverse mode around it may have read", ("hand over a copy",))
    return found


def _watching(
    g: Any,
    bound: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: Place | None,
    changes: bool = False,
) -> Any:
    """What a function of C or a library gives, which may call functions of the author's."""
    lazy = isinstance(g, type) and issubclass(g, Iterator)
    if lazy or g is generated or g is tested:  # it calls them when it is gone through
        return g(*[snapshots.watched_later(x, place) for x in args], **kwargs)
    held = [x for x in bound if isinstance(x, np.vectorize)]
    if held or any(map(_may_call_authors, (*args, *kwargs.values()))):
        return snapshots.watched(g, place, tuple(held), changes)(*args, **kwargs)
    return g(*args, **kwargs)


def _may_call_authors(x: Any) -> bool:
    """Whether a value is a function of the author's, or holds one to be called."""
    return callable(x) and not is_of_c(x) and not isinstance(x, (type, np.ufunc))


def _for_containers(
    handler: Handler, rule: Rule, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Handler:
    """The handler by a rule where an argument or the result is a container, whose cotangent may go by
    identity.
    """
    adopts = rule.house and crossings.makes_new(target, args)
    if not rule.differentiable or not (adopts or any(map(crossings.is_structure, (*args, *kwargs.values())))):
        return handler
    if rule.house and crossings.keeps_alive(target, args):
        return crossings.through_rule(handler, None, adopts)
    name = "" if rule.house else name_of(target)
    return crossings.through_rule(
        handler, "parts" if rule.house and crossings.preserves(target, args) else "all", adopts, name
    )


def _handed_in(handler: Handler, target: Any, args: tuple[Any, ...]) -> Handler:
    """The handler of a function of iterables, holders or operators, where containers may take part."""
    adopts = crossings.makes_new(target, args)
    return Unsettled(crossings.through_rule(handler, None, adopts))


def flags_by_slot(count: int, where: list[Slot], flags: tuple[bool, ...]) -> list[bool]:
    """One flag for each of `count` parameters, from those of the arguments and the slots these went to."""
    found = [False] * count
    for slot, on in zip(where, flags, strict=True):
        found[slot_number(slot)] |= on
    return found


def bind(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], list[Slot]]:
    """The value of every parameter in the code object's order, and where each argument went: to a
    parameter of its own, or into `*args` or `**kwargs` under a key.
    """
    __tracebackhide__ = True
    code = function.__code__
    positional, given = Binder.of(function).bind(args, kwargs)
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:named]
    values = [*positional[:count], *(given[name] for name in names[count:])]
    if code.co_flags & inspect.CO_VARARGS:
        values.append(tuple(positional[count:]))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        values.append({name: x for name, x in given.items() if name not in names[count:]})
    where: list[Slot] = [number if number < count else (named, number - count) for number in range(len(args))]
    allowed = names[code.co_posonlyargcount :]
    where += [
        code.co_posonlyargcount + allowed.index(name) if name in allowed else (len(values) - 1, name)
        for name in kwargs
    ]
    return tuple(values), where


Slot = int | tuple[int, Any]  # a parameter by number; with a key, an entry of `*args` or `**kwargs`


def slot_number(slot: Slot) -> int:
    """Which parameter an argument went to, or into."""
    return slot if isinstance(slot, int) else slot[0]


def bar_at(got: Any, slot: Slot) -> Any:
    """The cotangent of an argument, from those of the parameters; None inside is no path."""
    if isinstance(slot, int):
        return got[1 + slot]
    bar = support.value(got[1 + slot[0]])
    if isinstance(bar, Tangent):
        return NO if slot[1] not in entries_of(bar) else bar[slot[1]]
    return support.part(bar, slot[1])


def _active_defaults(
    function: types.FunctionType, values: tuple[Any, ...], where: list[Slot]
) -> dict[int, str]:
    """The parameters that a nested function fills in with values it was made with, which may be active:
    slot to name.
    """
    if not function.__code__.co_flags & inspect.CO_NESTED:
        return {}
    names, given = function.__code__.co_varnames, set(map(slot_number, where))
    return {slot: names[slot] for slot, x in enumerate(values) if slot not in given and carries(x)}


_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def _own_signature(function: types.FunctionType, cell: types.CellType) -> Any:
    if heap.is_own(cell):
        return "cell"  # rebound meanwhile: read at each use
    content = contents(cell)
    return "own" if content is function or stands_for(function, content) else signature_of(content)
