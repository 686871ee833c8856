"""The forward question: the value and the tangent of one call, by a rule, by the tangent of the callee, or by
a transposed rule.

A call is a tuple `(g, g_dot, args, dots, names, method)`: the last arguments are keywords, with these
`names`; with `method`, that method of `g` is called. Each answer is a *program*: a Python function that
returns `(y, y_dot)`, and templates of its arguments, whose Refs are paths into the call. The same answer
serves forward mode, which calls it, reverse over forward, which differentiates it, and the next order, which
takes its tangent.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import (
    An,
    NotDifferentiableError,
    RuleError,
    RuleLabError,
)
from ...own_code import holds_no_authors
from ...rules import programs
from ...rules.calling import checked_pair, watch_of_frule
from ...rules.capabilities import RuleConfig, check_tangents
from ...rules.programs import Seed
from ...rules.recalling import decorated, is_cache_decorator
from ...rules.registry import Found
from ...rules.rule import Rule
from ...rules.signatures import types_of, weakly
from ...rules.targets import resolve
from ...tangents.algebra import is_number
from ...tangents.holding import CACHED, carrier, cells_of, contents
from ...tangents.pairings import (
    STRUCTURES,
    part_at,
    parts_of,
    rebuilt,
    stated_tangent,
)
from ...tangents.projection import project, seed_by_name, to_natural
from ...tangents.shadows import inner, kind_of, natural, zero_kept, zeros_beside
from ...tangents.structural import is_namedtuple
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..analysis.effects import as_again
from ..analysis.spelling import reads_numbers
from ..base.classes import (
    chosen_by,
    container_base,
    is_author_class,
    is_dispatcher,
    makes_empty,
)
from ..base.derived import derived_of, stands_for, tangent_of
from ..base.deriving import derives
from ..base.libraries import compiled_function, is_of_library
from ..base.question import Question
from ..base.refusals import text_read_again
from ..memory import heap
from ..memory.operands import describe
from ..memory.support import settle
from . import attributes, built_in, by_author, constructors, in_place, methods, operators, questions
from .binding import bound_values, by_position, flags_in_order, in_order, takes_just
from .borrowed import PLAIN, hold_answers_anew
from .foreign import foreign, refuse_counts
from .holders import GETTERS
from .own_errors import refuse_misfit
from .protocols import refuse_converted
from .templates import (
    ARGS,
    DOTS,
    G_DOT,
    NO,
    SELF,
    THIS,
    THIS_DOT,
    Default,
    G,
    Program,
    Pushed,
    Raw,
    Ref,
    arg,
    asked_now,
    build,
    carries_and_varies,
    constant_program,
    descend,
    dot,
    has_refs,
    refs_of,
    rewritten,
    tangent_template,
    varies,
)
from .writing import into, refuse_mutation, written_slot

holds_no_authors(__name__)

MOST_KNOWN = 2000  # programs of C functions that are kept


class Push:
    """`push(g, g_dot, args, dots, names, method)`: `(y, y_dot)` of a call, tangents in their inner form."""

    gives_pair = True

    def __init__(self, pullbacks: Question) -> None:
        self.pullbacks = pullbacks
        self.cache = pullbacks.cache
        self.config = RuleConfig(reverse=pullbacks.via_ad, forwards=self.via_ad)
        self.found: tuple[int, dict[Any, Program]] = (-1, {})  # at an epoch of the registry

    def via_ad(self, tangents: tuple[Any, ...], f: Any, *args: Any, **words: Any) -> tuple[Any, Any]:
        """`(y, y_dot)` of a call as rules ask for it; `tangents` has that of `f`, then those of `args`, then
        of keywords.
        """
        check_tangents(len(tangents), args, words)
        dots = (*tangents[1:], *(NO,) * (1 + len(args) + len(words) - len(tangents)))
        return self(f, tangents[0], (*args, *words.values()), dots, tuple(words))

    def __call__(
        self,
        g: Any,
        g_dot: Any,
        args: tuple[Any, ...],
        dots: tuple[Any, ...],
        names: tuple[str, ...] = (),
        method: str | None = None,
    ) -> tuple[Any, Any]:
        __tracebackhide__ = True
        if method is not None and not isinstance(g, tuple):  # `methods` answers for a NamedTuple's own
            function = methods.plain_method(g, method)
            if function is not None:
                return self(function, NO, (g, *args), (g_dot, *dots), names)
        if g is getattr and attributes.is_plain_field(args, dots, names):
            return programs.attribute(args[0], dots[0], args[1])
        if is_dispatcher(g) and g_dot is NO and self.is_left_alone(g) and any(map(varies, args, dots)):
            return self(chosen_by(g, args), NO, args, dots, names)
        call = (g, g_dot, args, dots, names, method)
        if args and type(args[0]) is str and heap.may_spell(args[0]) and reads_numbers(g):
            raise text_read_again(None)  # a text has no tangent to show that one was lost
        usual = _in_order(call) if type(g) is types.FunctionType else None
        entry = None
        if usual is not None:
            entry = self.pullbacks.entries.find_whole(g, usual[0], "pushed", usual[1])
        if entry is not None:
            return _noting_text(entry.forward(*usual[0]), call)  # type: ignore[index]
        program = (self.of_class(call) if type(g) is type else None) or self.program(call)
        values = tuple([build(part, call) for part in program.given])
        if program.derived:
            flags = (False,) * len(values)
            made = self.pullbacks.pass_of(program.function, values, flags, False, False, None)
            if usual is not None and self.is_its_own(g, program) and all(map(operator.is_, values, usual[0])):
                self.pullbacks.entries.add_whole(g, values, "pushed", usual[1], made, program.function)
            return _noting_text(made.bound_to(program.function)(*values), call)
        words = {name: build(part, call) for name, part in program.words.items()}
        if program.asks:
            target, bound = resolve(g if method is None else getattr(g, method))
            of = (*bound, *args)
            y, y_dot = questions.answered(program.function, values, words, None, target, of)
        elif program.rule is None:
            y, y_dot = program.function(*values, **words)
        else:
            watch = watch_of_frule(program.rule, *arguments_of(program, values))
            y, y_dot = checked_pair(program.rule, program.function(*values, **words), watch)
            y_dot = stated_tangent(y, y_dot)
        if program.trusted:
            return y, y_dot
        if program.rule is not None or program.function is programs.transposed:
            return y, beside_stated(y, y_dot, *arguments_of(program, values), program.rule is None)
        if isinstance(y_dot, AbstractZero) and is_number(y):
            return y, NO  # a strong zero: a number would not survive the NaN of a logarithm
        return y, beside(y, y_dot, *arguments_of(program, values))

    def is_its_own(self, g: types.FunctionType, program: Program) -> bool:
        """Whether the program is the tangent of the function's own code, and will be for other arguments of
        these types.
        """
        own = program.closure is not None and program.closure.path == (G,) and derived_of(g.__code__) is None
        return own and self.cache.registry.has_nothing_for(g)

    # -- the answer ------------------------------------------------------------------------------------------

    def is_left_alone(self, g: Any) -> bool:
        """Whether certainly no rule, present or remembered, answers a call."""
        return self.cache.mode == "auto" and self.cache.registry.has_nothing_for(g)

    def of_class(self, call: Raw) -> Program | None:
        """The program of a call of a class if that is an author's and certainly has no rule, as most have
        none: a fast path; else None.
        """
        g: Any = call[G]
        if call[5] is not None or not is_author_class(g) or is_of_library(g):
            return None
        if not self.is_left_alone(g):
            return None
        return constructors.pushed_forward(self, Pushed(call))

    def program(self, call: Raw) -> Program:
        """The program that answers a call."""
        __tracebackhide__ = True
        g, g_dot, args, dots, names, method = call
        if method is not None:
            return methods.pushed_forward(self, Pushed(call), method)
        target, bound = resolve(g)
        if bound and type(g) is not Push and type(g) is not Vjp:
            this = THIS if bound[-1] is g else Ref((G, SELF))
            given = (*bound[:-1], this, *refs_of(ARGS, args))
            dots_given = (*(NO,) * (len(bound) - 1), THIS_DOT, *refs_of(DOTS, args))
            return self.through(call, target, given, dots_given, names)
        if target is not g and not bound:
            return self.program((target, *call[1:]))  # the object that its rules are registered for
        if type(g) is Push:
            return self.of_push(call)
        if type(g) is Vjp:
            return self.of_vjp(g, call)
        if type(g) is types.FunctionType and derived_of(g.__code__) is not None:
            return self.by_tangent(g, call, refs_of(ARGS, args), refs_of(DOTS, args))
        if type(g) in _HOLDERS:
            given, given_dots = (THIS, *refs_of(ARGS, args)), (THIS_DOT, *refs_of(DOTS, args))
            return self.through(call, type(g).__call__, given, given_dots, names)
        varying = tuple(map(varies, args, dots))
        still = g_dot is NO and not any(varying)
        if g is getattr and len(args) == 2 and not still:
            return attributes.pushed_forward(self, call)
        epoch = self.cache.registry.epoch
        if self.found[0] != epoch:
            self.found = (epoch, {})
        known, key = self.found[1], None
        if type(g) in _OF_C and g_dot is NO and not hold_answers_anew(args):
            key = (g, names, varying, *map(weakly, types_of(args)))
            quick = known.get(key)
            if quick is not None and self.cache.mode == "auto":
                return quick
        seen = Pushed(call)
        refuse_misfit(g, seen.args, seen.kwargs)
        slot = written_slot(self.cache.registry, seen)
        if slot is not None:
            return into(self, seen, slot)
        rule = self.rule(g, args, names)
        if rule is not None and not (rule.built_in and args and in_place.of_author(g, args[0])):
            if rule.built_in and rule.differentiable:
                refuse_converted(g, seen.varying(), None)
            made = self.by_rule(rule, seen)
            if key is not None and self.goes_by_types(g, rule, args) and len(known) < MOST_KNOWN:
                known[key] = made
            return made
        if in_place.is_in_place(g, args):
            return in_place.pushed_forward(self, seen)
        return self.still(seen) if still else self.without_rule(seen)

    def goes_by_types(self, g: Any, rule: Rule, args: tuple[Any, ...]) -> bool:
        """Whether all calls with arguments of these types have the same program."""
        stand_in = self.cache.registry.stand_in(g)
        by_value = stand_in is not None and stand_in.instead is not None
        if not rule.built_in or by_value:
            return False
        # The rule for a write to an attribute asks the class of the object itself.
        return g is setattr or not any(is_author_class(type(x)) for x in args)

    def still(self, call: Pushed) -> Program:
        """The program of a call with constants; an object that it makes may be given varying values later."""
        g = call.target
        if isinstance(g, type) and is_author_class(g) and (not is_of_library(g) or container_base(g)):
            made = constructors.pushed_forward(self, call)
            if made is not None:
                return made
        if makes_empty(g, call.args):
            return self.through(call.raw, programs.new_object, call.refs(), call.dot_refs())
        if g is RuleConfig.frule_via_ad:
            return self.without_rule(call)  # its callee makes the answer
        refuse_counts(self.cache.registry, call)
        function = compiled_function(g)
        return constant_program(call.raw) if function is None else self.by_function(function, call)

    def without_rule(self, call: Pushed) -> Program:
        """The program of a call that no rule answers."""
        g, _, args, dots, names, _ = call.raw
        found = operators.pushed_forward(self, call)
        if found is not None:
            return found
        stand_in = self.cache.registry.stand_in(g)
        by_items = stand_in is not None and stand_in.reads_items and stand_in.function is not None
        if stand_in is not None and (by_items or stand_in.answers(args)):
            return self.by_function(stand_in.function, call, stand_in.rest)
        function = compiled_function(g)
        if function is not None:
            return self.by_function(function, call)
        if is_dispatcher(g) and args:
            chosen = chosen_by(g, args)
            return self.through(call.raw, chosen, call.refs(), call.dot_refs(), names)
        if constructors.makes_from_items(g, args) and not names:
            return Program(programs.made_from_items, (self, arg(0), arg(1), dot(1)), trusted=True)
        if is_cache_decorator(g) and not names:
            return self.through(call.raw, decorated, (g, *call.refs()), (NO, *call.dot_refs()))
        if g is super and len(args) == 2:
            return Program(programs.made_super, (arg(0), arg(1), dot(1)), trusted=True)
        if isinstance(g, type):
            made = constructors.pushed_forward(self, call)
            if made is not None:
                return made
        refuse_counts(self.cache.registry, call)
        if not any(map(carries_and_varies, args, dots)):
            return constant_program(call.raw, questions.asks_items(g, args))
        refuse_mutation(self.cache.registry, call)
        raise foreign(self.cache.registry, call)

    def through(
        self,
        call: Any,
        function: Any,
        args: tuple[Any, ...],
        dots: tuple[Any, ...],
        names: tuple[str, ...] = (),
        closure: Ref | None = None,
        closure_dot: Any = NO,
    ) -> Program:
        """The program of another call that answers this one, given by templates.

        If values that the function captures may vary, `closure` is a function that captures the same, and
        `closure_dot` its tangent.
        """
        args = asked_now(args, call)
        other = (
            function,
            build(closure_dot, call),
            tuple([build(part, call) for part in args]),
            tuple([build(part, call) for part in dots]),
            names,
            None,
        )
        found = self.program(other)

        def moved(path: tuple[Any, ...]) -> Any:
            if path[0] in (ARGS, DOTS):
                if len(path) == 1:
                    return args if path[0] == ARGS else dots
                return descend((args if path[0] == ARGS else dots)[path[1]], path[2:])
            if path[0] == G_DOT:
                return descend(closure_dot, path[1:])
            if closure is None:
                return descend(function, path[1:])
            return Ref((*closure.path, *path[1:]))

        return Program(  # `dataclasses.replace` takes three times as long
            found.function,
            rewritten(found.given, moved),
            {name: rewritten(part, moved) for name, part in found.words.items()},
            found.derived,
            found.trusted,
            closure if found.closure is not None else None,
            found.rule,
            found.of_rule,
            found.asks,
        )

    # -- by a rule -------------------------------------------------------------------------------------------

    def rule(self, g: Any, args: tuple[Any, ...], names: tuple[str, ...]) -> Rule | None:
        """The rule for a call: an author's frule, an author's rrule to be transposed, or the built-in frule.
        """
        registry = self.cache.registry
        entry = registry.entry(g)
        if entry is None and (self.cache.mode == "auto" or type(g) is not types.FunctionType):
            return None  # in manual mode, the absence of a rule is an answer to keep
        count = len(args) - len(names)
        positional = args[:count]
        if entry is None or entry.user:
            positional = by_position(g, positional, dict(zip(names, args[count:])))
        given = types_of(positional)
        forward = self.cache.ask(g, given, self.config, "frule")
        if isinstance(forward, Found) and not forward.rule.built_in:
            return forward.rule
        reverse = self.cache.ask(g, given, self.config)
        if isinstance(reverse, Found) and not reverse.rule.built_in:
            return reverse.rule
        if not isinstance(forward, Found):
            return None
        if any(is_author_class(type(x)) for x in args) and operators.has_own_method(g, args):
            return None
        stand_in = registry.stand_in(g)
        if stand_in is not None and stand_in.instead is not None and stand_in.instead(*args):
            return None
        return forward.rule

    def by_rule(self, rule: Rule, call: Pushed) -> Program:
        if not rule.differentiable:
            return constant_program(call.raw, not PLAIN.issuperset(map(type, call.args)))
        if rule.mode == "rrule":
            return by_author.transposed(self, rule, call)
        found = (built_in if rule.built_in else by_author).pushed_forward(self, rule, call)
        asks = rule.built_in and questions.asks_items(call.target, call.args)
        return dataclasses.replace(found, asks=True) if asks else found

    # -- by the tangent of Python code -----------------------------------------------------------------------

    def by_function(self, function: types.FunctionType, call: Pushed, rest: int | None = None) -> Program:
        """The program by the tangent of a Python function, called with the arguments of the call.

        With `rest`, the positional arguments from that number on are passed as one tuple.
        """
        names, plain, code = call.names, len(call.args), function.__code__
        packs = rest is not None and rest < plain
        if not (packs or names) and takes_just(code, plain):
            return self.by_tangent(function, call.raw, call.refs(), call.dot_refs())

        def placed(refs: tuple[Ref, ...]) -> list[Any]:
            first = (*refs[:rest], refs[rest:plain]) if packs else refs[:plain]
            return bound_values(function, first, dict(zip(names, refs[plain:])))

        values, dots = placed(call.refs()), placed(call.dot_refs())
        if code.co_flags & inspect.CO_VARKEYWORDS:  # a dict that is new at each call
            words, word_dots = build(values[-1], call.raw), build(dots[-1], call.raw)
            if not any(varies(words[name], d) for name, d in word_dots.items()):
                dots[-1] = NO
        defaults = function.__defaults__ or ()
        by_keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        kept = [name for name in by_keyword if name in (function.__kwdefaults__ or {})]
        for number, x in enumerate(values):
            if has_refs(x):
                continue
            dots[number] = NO  # a default
            if not code.co_flags & inspect.CO_NESTED or number >= code.co_argcount + code.co_kwonlyargcount:
                continue
            name = code.co_varnames[number]
            by_position = number < code.co_argcount
            where = (1, number - code.co_argcount + len(defaults)) if by_position else (2, kept.index(name))
            values[number] = Default((G,), name, where, x)
            dots[number] = Ref((G_DOT, *where))
        return self.by_tangent(function, call.raw, tuple(values), tuple(dots))

    def by_tangent(
        self, function: types.FunctionType, call: Raw, values: tuple[Any, ...], dots: tuple[Any, ...]
    ) -> Program:
        """The tangent of a Python function as a program: it takes the parameters, then the tangents of those
        that vary, and that of the function if values that it captures may vary.
        """
        varied = tuple([varies(build(x, call), build(d, call)) for x, d in zip(values, dots, strict=True)])
        captured = call[G_DOT] is not NO and bool(function.__closure__)
        own: frozenset[str] = frozenset()
        if captured:
            cells = cells_of(function).items()
            own = frozenset(name for name, cell in cells if stands_for(function, contents(cell)))
        made = tangent_of(function, varied, captured, own)
        given = (*values, *(d for d, on in zip(dots, varied) if on))
        given = (*given, THIS_DOT) if captured else given
        closure = THIS if function is call[G] else None
        return Program(made, given, derived=True, trusted=True, closure=closure)

    # -- the next order --------------------------------------------------------------------------------------

    def of_push(self, call: Raw) -> Program:
        """The tangent of a `push`: that of the program that answers it."""
        found = self.program(call[ARGS])  # type: ignore[arg-type]
        given = (*found.given, *found.words.values())
        args = rewritten(given, lambda path: Ref((ARGS, *path)))
        closure = None if found.closure is None else Ref((ARGS, *found.closure.path))
        closure_dot = NO if found.closure is None else tangent_template(found.closure)
        dots = tangent_template(given)
        made = self.through(call, found.function, args, dots, tuple(found.words), closure, closure_dot)
        return dataclasses.replace(made, of_rule=True) if found.of_rule else made

    def of_vjp(self, vjp: Vjp, call: Raw) -> Program:
        """The tangent of a pullback."""
        words, words_dot = (arg(3), dot(3)) if len(call[ARGS]) > 3 else (None, NO)
        given = (self, vjp, arg(0), dot(0), arg(1), dot(1), arg(2), dot(2), words, words_dot)
        return Program(programs.vjp_forward, given, trusted=True)


class Vjp:
    """`vjp(f, args, seed, words)`: the value of `f(*args, **words)` and the cotangents of `args`, as values
    to compute with; it is differentiable with respect to all four.

    `seed` is the cotangent of the value, or a `Seed`, which computes it from `(y, f, args)`. With `own`, the
    cotangents are in the form that rules compute with, and that of `f` comes first.
    """

    gives_pair = True

    def __init__(self, pullbacks: Question, own: bool = False) -> None:
        self.pullbacks = pullbacks
        self.own = own

    @derives
    def __call__(
        self, f: Any, args: tuple[Any, ...], seed: Any, words: dict[str, Any] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        __tracebackhide__ = True
        if not callable(f):
            raise RuleLabError(f"{An(describe(f))} cannot be called, so it has no derivative")
        if self.own:
            y, back = self.pullbacks.via_ad(f, *args, **(words or {}))
            found = back(seed_by_name(y, seed))
            whole = (carrier(f), *args)  # the cotangent of a method is its object's
            # In the form that rules take, with no thunk left in it.
            bars = [unthunk(project(x, settle(unthunk(found[k])))) for k, x in enumerate(whole)]
            return y, tuple(bars)
        with as_again(f):
            y, back = self.pullbacks.by_arguments(f, args, words or {})
        found = back(seed(y, f, args) if isinstance(seed, Seed) else seed_by_name(y, seed))
        return y, tuple([to_natural(x, found[1 + number]) for number, x in enumerate(args)])


def _in_order(call: Raw) -> tuple[tuple[Any, ...], tuple[bool, ...]] | None:
    """The arguments for the tangent of a Python function in the usual call (the values of all parameters,
    then the tangents of those that vary), and which vary; None for any other call, and where a tuple is among
    them, for which no entry is kept.
    """
    g, g_dot, args, dots, names, method = call
    if g_dot is not NO or method is not None or tuple in map(type, args):
        return None
    count = len(args) - len(names)
    values = in_order(g, args[:count], dict(zip(names, args[count:])))
    if values is None:
        return None
    all_dots = flags_in_order(g, count, names, dots, NO)
    varied = tuple(map(varies, values, all_dots))
    return (*values, *[d for d, on in zip(all_dots, varied) if on]), varied


def _noting_text(found: Any, call: Raw) -> Any:
    """The value and the tangent of a call; a text that may contain varying numbers is recorded as such."""
    if type(found[0]) is str and any(map(varies, call[ARGS], call[DOTS])):
        heap.note_text(found[0])
    return found


def inner_of(args: tuple[Any, ...], dots: Any) -> Any:
    """The tangents of arguments, converted from a caller's form to the inner form."""
    if dots is NO:
        return (NO,) * len(args)
    check_count(args, dots)
    return tuple(
        [
            NO if d is None or isinstance(d, AbstractZero) else inner(x, d, f"argument {number}")
            for number, (x, d) in enumerate(zip(args, dots), start=1)
        ]
    )


def check_count(args: tuple[Any, ...], dots: tuple[Any, ...]) -> None:
    """RuleError unless there is a tangent for each argument."""
    if len(dots) != len(args):
        raise RuleError(
            f"{len(dots)} tangent{'s' * (len(dots) != 1)} for {len(args)} argument{'s' * (len(args) != 1)}",
            asked="pushforward(f, *args)(*tangents)",
            fixes=("give one tangent for each positional argument, None for one that does not change",),
        )


def natural_of(y: Any, y_dot: Any) -> Any:
    """A tangent in the form that a caller gets."""
    return natural(y, y_dot)


# --- what forward mode makes of results ---------------------------------------------------------------------


def beside(y: Any, y_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], owned: bool = True) -> Any:
    """The tangent of a C function's result, in a form in which it can be written to along with the result.

    That of an array has its own memory, in the same layout, if the array does, and is a view of the
    argument's tangent if the array is a view of the argument. A tangent that is not `owned` may be held
    elsewhere.
    """
    if type(y) in (list, tuple) or is_namedtuple(type(y)):
        if not isinstance(y_dot, (AbstractZero, list, tuple)):
            return y_dot
        parts_dot = [y_dot] * len(y) if isinstance(y_dot, AbstractZero) else y_dot
        parts = [beside(part, d, args, dots, owned) for part, d in zip(y, parts_dot, strict=True)]
        if type(y_dot) is type(y) and all(part is d for part, d in zip(parts, parts_dot)):
            return y_dot  # others may hold it, and append to it
        if owned and type(y_dot) is type(y) is list:
            y_dot[:] = parts
            return y_dot
        return type(y)(*parts) if is_namedtuple(type(y)) else type(y)(parts)
    if not isinstance(y, np.ndarray):
        return zero_kept(y) if isinstance(y_dot, AbstractZero) else y_dot
    known = list(_arrays(args, dots))
    for x, d in known:
        if y is x:
            return d
    of = [d for x, d in known if np.may_share_memory(x, y)]
    still = isinstance(y_dot, AbstractZero)
    if not of:
        # a constant may be held by others
        return NO if still else _own_memory(y, np.asarray(y_dot), known, owned)
    kept = [d for d in of if isinstance(d, np.ndarray)]
    if not kept and (still or not np.any(y_dot)):
        return NO
    if still or not any(np.may_share_memory(d, y_dot) for d in kept):
        if not y.flags.writeable and not still:
            return _own_memory(y, np.asarray(y_dot), known, owned)
        raise NotDifferentiableError(
            "Forward mode lost track of a view of an array", fixes=("copy the array first",)
        )
    return np.asarray(y_dot)


def beside_stated(
    y: Any,
    y_dot: Any,
    args: tuple[Any, ...],
    dots: tuple[Any, ...],
    owned: bool,
    around: tuple[Any, ...] = (),
) -> Any:
    """The tangent of an author's rule's result, in a form in which it can be written to along with the
    result.

    Since the rule states it, an array that is also an argument must not have two tangents. A tangent is not
    `owned` if the rule may have kept it.
    """
    if isinstance(y, np.ndarray):
        known = next((d for x, d in _arrays(args, dots) if x is y), y_dot)
        if known is not y_dot and not _is_same(known, y_dot):
            raise NotDifferentiableError(
                "The value of a rule is an array that was passed to it, but its tangent is a different one",
                fixes=("return a copy of the array as the value of the rule: x.copy()",),
                read="limitations#second-derivatives",
            )
    elif kind_of(y) in STRUCTURES and not isinstance(y_dot, AbstractZero) and all(y is not x for x in around):
        found = {
            key: beside_stated(part, part_at(y_dot, key), args, dots, owned, (*around, y))
            for key, part in (parts_of(y) or {}).items()
        }
        before = parts_of(y_dot) or {}
        same = all(found.get(key, part) is part for key, part in before.items())
        return y_dot if same else rebuilt(y_dot, {**before, **{k: found[k] for k in before if k in found}})
    return beside(y, y_dot, args, dots, owned)


def _is_same(x_dot: Any, other: Any) -> bool:
    """Whether two tangents of one array are equal."""
    if isinstance(x_dot, AbstractZero) or isinstance(other, AbstractZero):
        return not any(np.any(d) for d in (x_dot, other) if not isinstance(d, AbstractZero))
    return np.array_equal(x_dot, other, equal_nan=True)


def _arrays(args: Any, dots: Any) -> Iterator[tuple[np.ndarray, Any]]:
    """The arrays among the arguments, and in their lists and tuples, with their tangents."""
    for number, x in enumerate(args):
        if isinstance(x, np.ndarray):
            yield x, dots[number] if isinstance(dots, (list, tuple)) else NO
        elif type(x) in (list, tuple):
            yield from _arrays(x, dots[number] if isinstance(dots, (list, tuple)) else NO)


def _own_memory(y: Any, y_dot: Any, known: list[tuple[np.ndarray, Any]], owned: bool) -> Any:
    """A tangent that is held nowhere else, in the layout of `y`, and complex if `y` is."""
    fits = y_dot.strides == y.strides and (y_dot.dtype.kind == "c") == (y.dtype.kind == "c")
    shared = y_dot.base is not None or any(y_dot is d for _, d in known)
    if owned and fits and not shared and y_dot.flags.writeable and y_dot.dtype.kind in "fc":
        return y_dot
    made = zeros_beside(y)
    if made.dtype.kind != "c" and y_dot.dtype.kind == "c":
        y_dot = y_dot.real
    made[...] = y_dot
    return made


def arguments_of(program: Program, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments of the call that a rule answers, and their tangents."""
    if program.function is programs.transposed:
        return values[3], values[4]
    if program.function is programs.with_others_still:
        values = values[4]
    at = 1 if isinstance(values[0], RuleConfig) else 0  # before the tangents
    return values[at + 1 :], values[at][1:]


# --- small questions ----------------------------------------------------------------------------------------

_OF_C = (np.ufunc, types.BuiltinFunctionType, types.MethodDescriptorType, type(np.sum))
# Objects of C classes that call others: a rule, or a stand-in, is registered for their `__call__`.
_HOLDERS = (functools.partial, CACHED, *GETTERS)
