"""The central question of the compiler: the pullback of a call, by a rule, a cached pass or a new one."""

from __future__ import annotations

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...errors import NotDifferentiableError, Place, RuleLabError
from ...own_code import holds_no_authors, is_stand_in
from ...parsing import with_room
from ...rules.capabilities import RuleConfig
from ...rules.kinds import signature_of
from ...rules.programs import content_of, new_object
from ...rules.recalling import is_cache_decorator
from ...rules.registry import Found, NoRule, OptedOut
from ...rules.rule import Rule
from ...rules.signatures import types_of
from ...rules.targets import name_of, resolve
from ...tangents.holding import CACHED, holds_something
from ..analysis.effects import LOUD, Noted, side_effect_of_call
from ..analysis.spelling import reads_numbers
from ..base.classes import hands_out_its_own, is_author_class, makes_empty
from ..base.libraries import compiled_function, is_library
from ..base.nesting import enter, leave
from ..base.places import calls_leading_here
from ..base.purity import seems_to_change
from ..base.refusals import fault, text_read_again
from ..implicit import hidden, sources, watching
from ..memory import containers, copies, crossings, heap, snapshots, support
from ..memory.handlers import NO, Handler, Uncached, constant, default_of, with_bound, without_name
from ..memory.operands import carries, may_vary
from ..memory.writes import attribute_writer, writes_attribute
from . import built_in, by_author, cached, holders, piecemeal, questions
from .attributes import attribute_finder
from .binding import (
    active_defaults,
    bar_at,
    before_rest,
    bind,
    by_position,
    flags_by_slot,
    flags_in_order,
    in_order,
    slot_number,
)
from .borrowed import (
    PLAIN,
    asks_for_copies,
    begin_again,
    keeping,
    look_at,
    look_at_call,
    needs_to_copy,
    refuse_asked_often,
    remember,
    sweep_around,
)
from .cache import Cache, Pass
from .call import Call
from .captured import may_carry, own_signature, told_by_texts
from .constructors import constructor, copier
from .entries import Entries, EntriesBeside
from .foreign import foreign
from .fused import fused_pass, may_be_fused
from .iterators import Iteration
from .on_floats import may_be_on_floats, pass_on_floats
from .operators import handed_in, operator_handler
from .own_errors import refuse_misfit
from .passes import compile_pass
from .plain import may_run_authors, only_hands_on, push_plain, run_plain
from .protocols import refuse_converted
from .pushing import Push, Vjp
from .reversing import made_new, pulled, pushed, taken_out
from .stand_ins import by_stand_in
from .transposing import by_forward_rule
from .writing import out_slot, refuse_mutation

holds_no_authors(__name__)


class Pullbacks:
    """Finds pullbacks over one cache; with `implicit`, cotangents reach parameters that are not passed in
    (`watching`), and with `keeps`, sweeps keep copies of constants, so that code that overwrites these may
    run (`borrowed`).
    """

    def __init__(self, cache: Cache, implicit: bool = False, keeps: bool = False) -> None:
        self.cache = cache
        self.implicit = implicit
        self.keeps = keeps
        kind = functools.partial(EntriesBeside, implicit, keeps) if implicit or keeps else Entries
        self.entries: Entries = kind(cache, self.find)
        self.vjp: Vjp = Vjp(self)
        self.own_vjp: Vjp = Vjp(self, own=True)
        self.push: Push = Push(self)
        # The derivatives that a rule asks for deposit nothing.
        self.config: RuleConfig = Pullbacks(cache, keeps=keeps).config if implicit else self.push.config
        self.iteration = Iteration(self)
        self.plain_iteration = Iteration(self, followed=False)

    @functools.cached_property
    def with_copies(self) -> Pullbacks:
        """The same finder for sweeps that keep copies of arrays which are not their own (`borrowed`)."""
        return self if self.keeps else Pullbacks(self.cache, self.implicit, keeps=True)

    def via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """`(y, back)` of a call as rules ask for it: by a rule if there is one, else by a compiled pass.
        `back` returns the cotangents of f and of `args`; keywords and defaults have none.
        """
        return self._apart(f, args, kwargs, (True,) * (1 + len(args)))

    def by_arguments(self, f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[Any, Any]:
        """`(y, back)` of a call as `gradient` asks for it: what f captures is constant, and so is a function
        among the arguments. `back` returns the cotangents of f and of `args`.
        """
        return self._apart(f, args, words, (False, *map(may_vary, args)))

    def _apart(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: tuple[bool, ...]
    ) -> tuple[Any, Any]:
        """`(y, back)` of a call apart from the sweep around it; restarted if it turns out to need copies."""
        active, count = (*wanted, *(False,) * len(kwargs)), 1 + len(args)
        outer = heap.enter()  # shares nothing with the sweep around: a rule may call `back` several times
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

        def back(y_bar: Any) -> tuple[Any, ...]:
            outer = heap.enter()
            try:
                found = inner(y_bar)
            finally:
                heap.leave(outer)
            return (NO,) * count if found is NO else tuple(found[:count])

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
        """The handler of a call of `g`: called with the same arguments, it returns `(y, back)`.

        `active` says for the function, each argument and each keyword whether a cotangent is wanted. `back`
        returns the cotangent of the function first, then one per argument and keyword, as far as wanted.
        """
        __tracebackhide__ = True
        if type(g) is Push:
            self.refuse_implicit(place)
            return pushed(self, place, active[1:])
        if type(g) is Vjp:
            self.refuse_implicit(place)
            return pulled(self, g, place, active[1:])
        if type(g) is types.FunctionType:
            refuse_misfit(g, args, kwargs)
            return self.find_target(g, args, kwargs, active, place)
        target, bound = resolve(g)
        given = (*bound, *args) if bound else args
        refuse_misfit(target, given, kwargs)
        if not bound:
            return self.find_target(target, args, kwargs, active, place)
        flags = (False, *(active[0],) * len(bound), *active[1:])
        return with_bound(self.find_target(target, given, kwargs, flags, place), bound)

    def find_function(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The handler of a Python function without an entry, called by position: usually a closure, new at
        each call, which only its own code answers.
        """
        __tracebackhide__ = True
        code = function.__code__
        if (
            len(args) == code.co_argcount
            and not code.co_kwonlyargcount
            and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
            and self.cache.is_text_alone(function)
            and compiled_function(function) is function
            and not (args and (type(args[0]) in _TEXTS or containers.method_of(function, args[0])))
        ):
            call = Call(function, args, {}, active, place)
            return crossings.through_pass(self.by_pass(function, call), function, args)
        return self.find(function, args, {}, active, place)

    def refuse_implicit(self, place: Place | None) -> None:
        """Raises in the implicit style: a derivative taken inside a loss would not know the parameters."""
        if self.implicit:
            raise NotDifferentiableError(
                "A derivative is taken inside a loss whose gradient is with respect to Params",
                place=place,
                fixes=("use the explicit style: pass the parameters as arguments",),
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
        """`find` for a target that is already resolved, with arguments that it accepts."""
        __tracebackhide__ = True
        if type(target) is not types.FunctionType or _is_looked_at(target, args):
            handler = self._by_value(target, args, kwargs, active, place)
            if handler is not None:
                return handler
        if type(target) is types.FunctionType:
            by_name = kwargs or target.__code__.co_kwonlyargcount
            found = (
                self.remembered_bound(target, args, kwargs, active)
                if by_name
                else self.remembered(target, args, active, by_rule=False)
            )
            if found is not None:
                return found
            if not kwargs and self.cache.is_text_alone(target) and compiled_function(target) is target:
                call = Call(target, args, kwargs, active, place)
                return crossings.through_pass(self.by_pass(target, call), target, args)
        memory, epoch = self.cache.memory, self.cache.registry.epoch  # that the answer is for
        call = Call(target, args, kwargs, active, place)
        answer = self.ask(target, args, kwargs)
        if isinstance(answer, Found):
            if answer.rule.built_in:
                if answer.rule.differentiable:
                    refuse_converted(target, call.varying(), place)
                handler = self.instead_of_rule(answer.rule, call)
                if handler is not None:
                    return handed_in(handler, target, args)
            self.note_rule(answer.rule, call)
            # In the implicit style, the cotangent that a rule gives for what a function holds is wanted, too.
            quick = not kwargs and type(target) is types.FunctionType and memory is self.cache.memory
            if quick and not (self.implicit and holds_something(target)):
                self.entries.add_rule(target, args, active[1:], answer.rule, epoch)
            return self.guarded(self.by_rule(answer.rule, call), answer.rule, call)
        forward = None if isinstance(answer, OptedOut) else self.forward_rule(target, args, kwargs)
        if forward is not None and any(active):
            return self.by_transposing(forward, call)
        refuse_mutation(self.cache.registry, call)
        if target is vars and len(args) == 1:
            return attribute_finder(self, "__dict__", place)(args[0])
        function = compiled_function(target)
        if function is not None:
            if function is target and isinstance(answer, NoRule):
                self.cache.note_text(function)
            return crossings.through_pass(self.by_pass(function, call), function, call.values())
        if isinstance(target, type):
            made = constructor(self, target, active, place)
        else:
            made = copier(target, args) or (None if kwargs else copies.conversion(target, args))
        if made is not None:
            return made
        if any(active) or self.implicit:
            if type(target) is operator.methodcaller and self.implicit:
                hidden.refuse_reading("a method caller", (target,), place)  # its arguments are constants
            handler = self.without_rule(call)
            if handler is not None:
                return handed_in(handler, target, args)
        if any(map(carries, call.varying())):
            raise foreign(self.cache.registry, call)
        look_at_call(self, target, args, kwargs, place)
        self.cache.watches.note(side_effect_of_call(target, False))
        if self.implicit:
            hidden.refuse_reading(target, (target, *args, *kwargs.values()), place)
        handler = self.unseen(target)
        return Uncached(snapshots.watched(handler, place)) if heap.asked_again() else handler

    def _by_value(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler | None:
        """The handler of a call that its first argument decides: a container made during this sweep, an
        object that is written to, a text; None for any other.
        """
        if target is new_object or makes_empty(target, args):
            return made_new
        if target is content_of:
            return Uncached(taken_out)
        if args and not kwargs and writes_attribute(target) and heap.is_followed(args[0]):
            return attribute_writer(self, target, place)
        if args and (method := containers.method_of(target, args[0])) is not None:
            if method is containers.read_item and type(args[1]) is not int and is_author_class(type(args[1])):
                look_at(self, args[1:], place)
                return Uncached(questions.asking(method, target, place))
            if questions.asks_parts(target, args):
                return Uncached(questions.asking(method, target, place))
            return method
        if args and containers.changes_set(target, args[0]) and all(map(containers.may_be_in_set, args[1:])):
            if questions.asks_parts(target, args):
                return Uncached(questions.asking(constant(target), target, place))
            return constant(target)
        if args and type(args[0]) in (str, bytes) and active[1] and reads_numbers(target):
            raise text_read_again(place)
        return None

    def remembered(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        active: tuple[bool, ...],
        by_rule: bool = True,
    ) -> Handler | None:
        """The handler that was found before for such a call and is still valid; None if there is none.
        Without `by_rule`, entries of rules are left out: an invalid one would ask this question again.
        """
        if active[0] and function.__closure__:  # what it captures may be wanted
            return None
        entry = self.entries.find(function, args, active[1:])
        if entry is None:
            return None
        if entry.projected and (not by_rule or any(map(crossings.is_structure, args))):
            return None
        return crossings.through_pass(entry.forward, function, args)

    def remembered_bound(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        words: dict[str, Any],
        active: tuple[bool, ...],
    ) -> Handler | None:
        """The handler that was found before for a call with keywords or defaults; None if there is none, or
        if a default of a nested function may vary.
        """
        values = None if self.implicit else in_order(function, args, words)
        if values is None or (active[0] and function.__closure__):
            return None
        count = len(args)
        nested = active[0] and function.__code__.co_flags & inspect.CO_NESTED
        if nested and count + len(words) < len(values):
            return None
        flags = flags_in_order(function, count, words, active[1:])
        entry = self.entries.find_bound(function, values, count, flags)
        if entry is None:
            return None
        forward = crossings.through_pass(entry.forward, function, values)
        names = function.__code__.co_varnames
        slots = [1 + names.index(name) for name in words]

        def bound(*args: Any, **words: Any) -> Any:
            __tracebackhide__ = True
            enter()
            try:
                y, pullback = forward(*(in_order(function, args, words) or ()))
            finally:
                leave()

            def back(y_bar: Any) -> tuple[Any, ...]:
                __tracebackhide__ = True
                got = pullback(y_bar)
                return (*got[: 1 + count], *[got[slot] for slot in slots])

            return y, heap.like(pullback, back)

        return bound

    def deposits(self, function: Any) -> bool:
        """Whether the cotangents of what a function holds go straight to parameters, not to the code that
        passed it: in the implicit style, unless the function was made inside, from values that may vary.
        """
        return self.implicit and not watching.is_made(function)

    def unseen(self, target: Any) -> Handler:
        """The handler of code that is not followed and from which no cotangent is wanted."""
        return watching.unseen(target) if self.implicit else constant(target)

    def note_rule(self, rule: Rule, call: Call) -> None:
        """Record what a comparison with the plain function has to know of a call by rule."""
        watches, target = self.cache.watches, call.target
        watches.note_met(target)
        if rule.differentiable and not rule.built_in:
            watches.note_ruled()
        elif (
            isinstance(target, types.FunctionType)
            and not is_library(target)
            or any(isinstance(x, (types.FunctionType, types.MethodType)) for x in call.values())
        ):
            watches.note(Noted.UNSEEN)
        else:
            watches.note(side_effect_of_call(target, True))

    def instead_of_rule(self, rule: Rule, call: Call) -> Handler | None:
        """The handler of a call whose arguments are not what the built-in rule is for; None if they are."""
        target, args, place = call.target, call.args, call.place
        if (handler := copies.copier(target, args, lambda x: rule.function(x)[0])) is not None:
            return handler
        if rule.differentiable and any(is_author_class(type(x)) for x in args):
            handler = operator_handler(self, call)
            stored = isinstance(target, (types.WrapperDescriptorType, types.MethodDescriptorType)) or (
                getattr(target, "__module__", None) == "_operator"
            )  # these read what is stored, whatever the class defines
            if handler is None and not stored and any(map(hands_out_its_own, args)):
                handler = self.without_rule(call)
                if handler is None and any(map(carries, args)):
                    raise foreign(self.cache.registry, call)
            if handler is not None:
                return handler
            look_at(self, call.constants(), place)
        stand_in = self.cache.registry.stand_in(target)
        if stand_in is None:
            return None
        if stand_in.reads_items and (handler := self.iteration.handler(call)) is not None:
            return handler
        look_at(self, call.constants(), place)
        if stand_in.instead is not None and stand_in.instead(*args):
            return by_stand_in(self, stand_in, call)
        return None

    def without_rule(self, call: Call) -> Handler | None:
        """The handler of a call of C code whose behaviour is known to this package; None for any other."""
        __tracebackhide__ = True
        target, args, kwargs, place = call.target, call.args, call.kwargs, call.place
        if type(target) is CACHED or is_cache_decorator(target):
            return cached.handler(self, call)
        if target is getattr and 2 <= len(args) <= 3 and not kwargs and isinstance(args[1], str):
            if len(args) == 3 and not questions.answered(hasattr, args[:2], {}, place):
                return Uncached(default_of)
            return without_name(attribute_finder(self, args[1], place)(args[0]))
        stand_in = self.cache.registry.stand_in(target)
        if stand_in is not None and stand_in.answers(args):
            if not any(map(carries, call.values())):
                return None
            look_at(self, call.constants(), place)
            return piecemeal.handler(self, call) or by_stand_in(self, stand_in, call)
        return holders.handler(self, call) or operator_handler(self, call) or self.iteration.handler(call)

    def ask(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The registry's answer for a call, by the types of its positional arguments."""
        entry = self.cache.registry.entry(target)
        # Bound even if there is no rule yet: in manual mode the question must be the same as after one.
        authors = type(target) is types.FunctionType and (entry is None or not entry.built_in)
        if kwargs or authors or (entry is not None and entry.user):
            args = by_position(target, args, kwargs)
        return self.cache.ask(target, types_of(args), self.config)

    def forward_rule(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Rule | None:
        """The author's frule for a call, on which reverse mode falls back without an rrule; else None."""
        entry = self.cache.registry.entry(target)
        stated = entry is not None and any(isinstance(r, Rule) and r.mode == "frule" for r in entry.user)
        if not stated and (self.cache.mode == "auto" or type(target) is not types.FunctionType):
            return None
        given = types_of(by_position(target, args, kwargs))
        found = self.cache.ask(target, given, self.config, "frule")
        return found.rule if isinstance(found, Found) and not found.rule.built_in else None

    # -- by a rule -------------------------------------------------------------------------------------------

    def by_rule(self, rule: Rule, call: Call) -> Handler:
        """The handler of a call by a rule, without what `guarded` adds."""
        registry = self.cache.registry
        if rule.built_in and (call.kwargs or out_slot(registry, call.target, len(call.args)) is not None):
            refuse_mutation(registry, call)
        if not rule.differentiable:
            asks = any(call.active) and not PLAIN.issuperset(map(type, call.values()))
            return constant(questions.asking(call.target, call.target, call.place) if asks else call.target)
        if rule.built_in:
            return built_in.pulled_back(rule, call, self.config)
        return by_author.pulled_back(rule, call, self.config)

    def by_transposing(self, rule: Rule, call: Call) -> Handler:
        """The handler by an author's frule (`transposing`); what the function captures counts as constant."""
        if not rule.differentiable:
            return constant(call.target)
        self.note_rule(rule, call)
        apart = Pullbacks(self.cache, keeps=self.keeps) if self.implicit else self
        handler = by_forward_rule(apart, rule, call.target, call.active, call.place)
        return self.guarded(handler, rule, call)

    def guarded(self, handler: Handler, rule: Rule, call: Call) -> Handler:
        """Wrap the handler of a rule in what every rule needs: for implicit parameters, functions that it may
        call, and containers.
        """
        target, args, kwargs, place = call.target, call.args, call.kwargs, call.place
        by_house = rule.built_in and rule.differentiable
        if by_house and any(type(x) not in PLAIN for x in call.values()):
            refuse_asked_often(target, args, kwargs.values(), place)
        if self.implicit and by_house and not only_hands_on(target):  # must not call readers of parameters
            hidden.refuse_reading(target, tuple(hidden.functions_in(call.values())), place)
        if not rule.built_in and self.deposits(target):  # its cotangents of captured parameters count
            handler = watching.depositing(handler, target)
        if may_run_authors(call.values()):
            handler = snapshots.watched(handler, place)  # it may call them, unobserved
        if self.keeps and rule.differentiable:
            whole = not (crossings.preserves(target, args) or crossings.keeps_alive(target, args))
            handler = keeping(handler, whole, rule.built_in, place, target is operator.getitem)
        of_author = rule.built_in and any(is_author_class(type(x)) for x in args)
        if of_author or questions.asks_items(target, args):  # with copies, if it gets such
            handler = questions.asking(handler, target, place)
        handler = _for_containers(handler, rule, target, args, kwargs)
        # The code behind the object's operators is checked each time.
        return Uncached(handler) if of_author else handler

    # -- by a compiled pass ----------------------------------------------------------------------------------

    def by_pass(self, function: types.FunctionType, call: Call) -> Handler:
        """The handler of a call by the pass of its Python function."""
        __tracebackhide__ = True
        code, args, active = function.__code__, call.args, call.active
        before = None
        takes_more = code.co_kwonlyargcount or code.co_flags & 0x0C  # keyword-only, or any number
        as_they_are = not call.kwargs and len(args) == code.co_argcount and not takes_more
        if not as_they_are and not self.implicit:
            before = before_rest(function, args, call.kwargs)
        made = None
        if as_they_are or before is not None:
            made = self.pass_of(function, args, active[1:], active[0], True, call.place, before)
        if made is not None and made.before == before:
            if not (active[0] and function.__closure__):  # else what it captures may be wanted
                on_floats = may_be_on_floats(self, made)
                try_floats = functools.partial(pass_on_floats, self) if on_floats else None
                fuse = self.fusing(active[1:], made)
                self.entries.add_pass(function, args, active[1:], made, try_floats, fuse)
            forward = made.bound_to(function)
            deposits = function.__closure__ is not None and self.deposits(function)
            return watching.depositing(forward, function) if deposits else forward
        return self.with_binding(function, call, None if code.co_flags & inspect.CO_VARKEYWORDS else made)

    def fusing(self, flags: tuple[bool, ...], made: Pass) -> Callable[..., Any] | None:
        """The maker of the fused pass of a function for the parameters in `flags`; None if not possible."""
        return functools.partial(fused_pass, self, flags) if may_be_fused(self, made) else None

    def with_binding(self, function: types.FunctionType, call: Call, made: Pass | None) -> Handler:
        """The handler of a call with defaults, keywords or items for `*args`: the pass takes every parameter,
        in the order of the code object. `made` is that pass if it already exists.
        """
        __tracebackhide__ = True
        active = call.active
        values, where = bind(function, call.args, call.kwargs)
        flags = flags_by_slot(len(values), where, active[1:])
        held = active_defaults(function, values, where) if active[0] else {}
        if self.implicit:
            held |= sources.held_defaults(function, values, set(map(slot_number, where)))
        for slot in held:
            flags[slot] = True
        code = function.__code__
        # A dict that is new at each call and, outside stand-ins, the function's own.
        own_words = bool(code.co_flags & inspect.CO_VARKEYWORDS) and not is_stand_in(code.co_filename)
        if own_words and seems_to_change(function):
            flags[-1] = True  # varying values may be put there
        if made is None:
            made = self.pass_of(function, values, tuple(flags), active[0], True, call.place)
        fuse = None if code.co_flags & 0x0C else self.fusing(tuple(flags), made)
        with_own_rest = len(call.args) >= code.co_argcount or not code.co_flags & 0x0C
        alone = not held and not (active[0] and function.__closure__)  # only the arguments are asked for
        if alone and own_words and not (call.kwargs or code.co_kwonlyargcount or code.co_flags & 0x04):
            self.entries.add_worded(function, call.args, active[1:], made)
        elif alone and not call.kwargs and with_own_rest and not code.co_kwonlyargcount:
            self.entries.add_pass(function, call.args, active[1:], made, None, fuse)
        elif alone and not code.co_flags & 0x0C:
            self.entries.add_bound(function, values, len(call.args), tuple(flags), made, fuse)
        forward = made.bound_to(function)
        names = forward.__code__.co_varnames
        as_written = not code.co_kwonlyargcount and not code.co_flags & 0x0C  # no `*args`, no `**kwargs`
        as_written &= not (self.implicit and function.__closure__)
        as_written &= names[: len(values)] == code.co_varnames[: len(values)]
        if not held and where == list(range(len(where))) and as_written:
            forward.__defaults__ = function.__defaults__
            return forward  # binds as the function does, without an extra frame

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
        before: int | None = None,
    ) -> Pass:
        """The pass for these argument values, from the cache or compiled now. With `before`, `values` are the
        arguments one by one, and `*args` has those after the first `before`.
        """
        signature = tuple(map(signature_of, values))
        free: tuple[Any, ...] = ()
        if function.__closure__:
            free = tuple([own_signature(function, cell) for cell in function.__closure__])
            captured = captured and may_carry(free, function.__closure__)
        wanted: bool | frozenset[str] = captured
        if self.deposits(function):
            wanted = sources.captured_parameters(function, free)
        told: list[types.FunctionType] = []
        if not wanted:
            by_texts, told = told_by_texts(self.cache, function, free)
        pattern = sources.pattern(function) if self.implicit else None
        if self.keeps:
            pattern = ("copies", pattern)
        key = (signature, flags, by_texts if told else free, wanted, differentiate, pattern, before)
        found = self.cache.find(function, key, told)
        if told and found is None and self.cache.mode == "manual":
            key, told = (signature, flags, free, wanted, differentiate, pattern, before), []
            found = self.cache.find(function, key)
        if found is not None:
            if found.noted:
                self.cache.watches.note(found.noted)
            return found
        try:
            made = with_room(
                lambda: compile_pass(
                    self, function, signature, flags, key[2], wanted, differentiate, before=before
                )
            )
        except RuleLabError as error:
            error.chain = error.chain or calls_leading_here()
            raise
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # nothing of the author's runs here, so it is ours
            raise fault(function, error) from error
        made.inlined = (*made.inlined, *map(weakref.ref, told))
        self.cache.store(function, key, made)
        self.cache.watches.note(made.noted)
        return made

    run_plain, push_plain = run_plain, push_plain


def _for_containers(
    handler: Handler, rule: Rule, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Handler:
    """The handler by a rule, adapted to arguments or results whose cotangents may go by identity."""
    adopts = rule.built_in and crossings.makes_new(target, args)
    if not rule.differentiable or not (adopts or any(map(crossings.is_structure, (*args, *kwargs.values())))):
        return handler
    if not rule.built_in:
        return crossings.through_rule(handler, "all", adopts, name_of(target))
    if target is operator.getitem and not kwargs and tuple(map(type, args)) == (tuple, int):
        return crossings.through_item(handler)
    copied = "parts" if crossings.preserves(target, args) else "all"
    return crossings.through_rule(handler, None if crossings.keeps_alive(target, args) else copied, adopts)


_TEXTS = (str, bytes)
_OF_PROGRAMS = (new_object, content_of)


def _is_looked_at(target: types.FunctionType, args: tuple[Any, ...]) -> bool:
    """Whether the arguments, too, decide what answers a call of a Python function; the handlers for methods
    of Python's own containers never apply to one.
    """
    if target in _OF_PROGRAMS:
        return True
    return bool(args) and (type(args[0]) in _TEXTS or type(args[0]) in heap.KINDS)


