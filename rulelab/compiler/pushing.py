"""The forward question: the value and the tangent of one call, by a rule, by the tangent of the callee, or by
a rule turned round.

A call is a tuple `(g, g_dot, args, dots, names, method)`: the last of the arguments go under `names`; with
`method`, that method of `g` is called. Each answer is a *program*: a Python function that gives `(y, y_dot)`,
and templates of what it is given, whose Refs are paths into the call. So the same answer serves forward mode,
where it is called, reverse over forward, where it is differentiated, and the next order, where it is taken to
its own tangent.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
import typing
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    ForeignCallError,
    KeywordError,
    MutationError,
    NotDifferentiableError,
    RuleError,
    RuleLabError,
)
from ..rules import programs
from ..rules.binding import Binder, parameter_names, positional_parameters
from ..rules.calling import apply_rrule, checked_pair, taken_keywords, watch_of_frule
from ..rules.capabilities import RuleConfig, check_tangents
from ..rules.lent import Debugging
from ..rules.programs import Seed
from ..rules.registry import Found
from ..rules.rule import Rule
from ..rules.signatures import types_of, weakly
from ..rules.targets import name_of, resolve
from ..tangents.holding import CACHED, carrier, contents
from ..tangents.pairings import (
    STRUCTURES,
    cotangent_from,
    leaves_of,
    part_at,
    parts_of,
    rebuilt,
    stated_tangent,
)
from ..tangents.projection import FieldGradients, project, to_natural
from ..tangents.shadows import inner, kind_of, natural, zero_kept, zeros_beside
from ..tangents.structural import is_namedtuple
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent
from . import heap
from .borrowed import PLAIN, refuse_asked_often
from .constructors import container_base, is_generated
from .crossings import keeps_alive, preserves
from .derived import derived_of, stands_for, tangent_of
from .deriving import derives
from .effects import as_again, own_error
from .libraries import compiled_function, is_of_library
from .operands import carries, describe
from .protocols import (
    BINARY,
    FIRST,
    asked_once,
    dispatched,
    holds_callable,
    in_class,
    is_author_class,
    is_dispatcher,
    refuse_converted,
    written_in_python,
)
from .refusals import text_read_again
from .spelling import reads_numbers
from .support import settle

if TYPE_CHECKING:
    from .pullbacks import Pullbacks

NO = NoTangent()
Call = tuple[Any, Any, tuple[Any, ...], tuple[Any, ...], tuple[str, ...], Any]
G, G_DOT, ARGS, DOTS = range(4)
MOST_KNOWN = 2000  # programs of functions of C code that are kept


@dataclass(frozen=True)
class Ref:
    """A part of a call, by its path."""

    path: tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """`function(*given, **words)` gives `(y, y_dot)`; `given` and `words` are templates.

    A `derived` function is the tangent of a callee, to be compiled; it captures what the function at
    `closure` captures. Of a `trusted` one the tangent is as forward mode wants it. `rule` is the author's
    rule that it is, whose answer is checked; what a function that is `of_rule`, or a tangent of one, captures
    is constant.
    """

    function: Any
    given: tuple[Any, ...]
    words: dict[str, Any] = field(default_factory=dict)
    derived: bool = False
    trusted: bool = False
    closure: Ref | None = None
    rule: Rule | None = None
    of_rule: bool = False


@dataclass(frozen=True)
class Default:
    """A default value of a nested function, which the function at `path` was made with: a part of that."""

    path: tuple[Any, ...]
    name: str
    where: tuple[Any, ...]  # in the tangent of the function
    value: Any


@dataclass(frozen=True)
class Asked(Ref):
    """What an object that does not vary stands for, asked once for the value and its tangent; `as_key`
    where it is the key in `x[key]`.
    """

    as_key: bool = False

    def of(self, x: Any) -> Any:
        return programs.key_asked_once(x) if self.as_key else asked_once(x)


class _Self:
    """In a path: the object of a bound method or a `super()`, whose tangent and cotangent are its own."""

    def __repr__(self) -> str:
        return "SELF"


SELF = _Self()


def arg(k: int) -> Ref:
    return Ref((ARGS, k))


def dot(k: int) -> Ref:
    return Ref((DOTS, k))


def build(template: Any, call: Any) -> Any:
    """A template with its Refs replaced; a part of what has no tangent has none."""
    kind = type(template)
    if kind is Ref or kind is Asked:
        found = call
        for key in template.path:
            if found is NO:
                return NO
            found = found.__self__ if key is SELF else found[key]
        return found if kind is Ref else template.of(found)
    if kind is tuple:
        return tuple([build(part, call) for part in template])
    if kind is dict:
        return {key: build(part, call) for key, part in template.items()}
    return template.value if kind is Default else template


def asked_now(template: Any, call: Any) -> Any:
    """A template in which the objects that stand for others have answered: they are asked once, and a program
    is both found and run for what they answer.
    """
    kind = type(template)
    if kind is Asked:
        return build(template, call)
    if kind is tuple and any(type(part) in (Asked, tuple) for part in template):
        return tuple([asked_now(part, call) for part in template])
    return template


def rewritten(template: Any, function: Any) -> Any:
    """A template with `function(path)` in place of each Ref."""
    kind = type(template)
    if kind is Ref:
        return function(template.path)
    if kind is Asked:
        found = function(template.path)
        return dataclasses.replace(template, path=found.path) if type(found) is Ref else template.of(found)
    if kind is tuple:
        return tuple([rewritten(part, function) for part in template])
    if kind is dict:
        return {key: rewritten(part, function) for key, part in template.items()}
    if kind is Default:
        owner = function(template.path)
        return dataclasses.replace(template, path=owner.path) if type(owner) is Ref else template.value
    return template


def tangent_template(template: Any) -> Any:
    """The template of the tangent of what a template gives, where the call is an argument of a `push`."""
    kind = type(template)
    if kind is Ref:
        return Ref((DOTS, *(key for key in template.path if key is not SELF)))
    if kind is tuple:
        return tuple([tangent_template(part) for part in template])
    if kind is dict:
        return {key: tangent_template(part) for key, part in template.items()}
    if kind is Default:
        return Ref((DOTS, *template.path, *template.where))
    return NO


def _value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value.__self__ if key is SELF else value[key]
    return value


def _descend(template: Any, path: tuple[Any, ...]) -> Any:
    for number, key in enumerate(path):
        if type(template) is Ref:
            return Ref((*template.path, *path[number:]))
        if template is NO:
            return NO
        template = template[key]
    return template


class Push:
    """`push(g, g_dot, args, dots, names, method)`: `(y, y_dot)` of a call, tangents in their inner form."""

    gives_pair = True

    def __init__(self, pullbacks: Pullbacks) -> None:
        self.pullbacks = pullbacks
        self.cache = pullbacks.cache
        self.config = RuleConfig(reverse=pullbacks.via_ad, forwards=self.via_ad)
        self.found: tuple[int, dict[Any, Program]] = (-1, {})  # at an epoch of the registry

    def via_ad(self, tangents: tuple[Any, ...], f: Any, *args: Any, **words: Any) -> tuple[Any, Any]:
        """`(y, y_dot)` of a call as rules ask for it; the tangents of keywords follow those of `args`."""
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
        call = (g, g_dot, args, dots, names, method)
        if args and type(args[0]) is str and heap.may_spell(args[0]) and reads_numbers(g):
            raise text_read_again(None)  # a text has no tangent that could tell of the one that is lost
        program = self.program(call)
        values = tuple([build(part, call) for part in program.given])
        if program.derived:
            flags = (False,) * len(values)
            made = self.pullbacks.pass_of(program.function, values, flags, False, False, None)
            found = made.bound_to(program.function)(*values)
            if type(found[0]) is str and any(map(_varies, args, dots)):
                heap.note_text(found[0])
            return found
        words = {name: build(part, call) for name, part in program.words.items()}
        if program.rule is None:
            y, y_dot = program.function(*values, **words)
        else:
            watch = watch_of_frule(program.rule, *arguments_of(program, values))
            y, y_dot = checked_pair(program.rule, program.function(*values, **words), watch)
            y_dot = stated_tangent(y, y_dot)
        if program.trusted:
            return y, y_dot
        if program.rule is not None or program.function is programs.turned:
            return y, beside_stated(y, y_dot, *arguments_of(program, values), program.rule is None)
        return y, beside(y, y_dot, *arguments_of(program, values))

    # -- the answer ------------------------------------------------------------------------------------------

    def program(self, call: Call) -> Program:
        """What answers a call."""
        __tracebackhide__ = True
        g, g_dot, args, dots, names, method = call
        if method is not None:
            return self.by_method(call)
        target, bound = resolve(g)
        if bound and type(g) is not Push and type(g) is not Vjp:
            this = Ref((G,)) if bound[-1] is g else Ref((G, SELF))
            given = (*bound[:-1], this, *_refs(ARGS, args))
            dots_given = (*(NO,) * (len(bound) - 1), Ref((G_DOT,)), *_refs(DOTS, args))
            return self.through(call, target, given, dots_given, names)
        if target is not g and not bound:
            return self.program((target, *call[1:]))  # the object that rules for it sit on
        if type(g) is Push:
            return self.of_push(call)
        if type(g) is Vjp:
            return self.of_vjp(g, call)
        if type(g) is types.FunctionType and derived_of(g.__code__) is not None:
            return self.by_tangent(g, call, _refs(ARGS, args), _refs(DOTS, args))
        if type(g) in _HOLDERS and self.cache.registry.entry(type(g).__call__) is not None:
            given, given_dots = (Ref((G,)), *_refs(ARGS, args)), (Ref((G_DOT,)), *_refs(DOTS, args))
            return self.through(call, type(g).__call__, given, given_dots, names)
        varies = tuple(map(_varies, args, dots))
        still = g_dot is NO and not any(varies)
        if g is getattr and len(args) == 2 and not still:
            return self.by_attribute(call)
        epoch = self.cache.registry.epoch
        if self.found[0] != epoch:
            self.found = (epoch, {})
        known, key = self.found[1], None
        if type(g) in _OF_C and g_dot is NO:
            key = (g, names, varies, *map(weakly, types_of(args)))
            quick = known.get(key)
            if quick is not None and self.cache.mode == "auto":
                return quick
        slot = self.out_slot(g, args, names)
        if slot is not None:
            return self.into(call, slot)
        rule = self.rule(g, args, names)
        if rule is not None:
            if rule.house and rule.differentiable:
                refuse_converted(g, [x for x, on in zip(args, varies) if on], None)
            made = self.by_turning(rule, call) if rule.mode == "rrule" else self.by_frule(rule, call)
            if key is not None and self.goes_by_types(g, rule, args) and len(known) < MOST_KNOWN:
                known[key] = made
            return made
        if _is_hashable(g) and g in _IN_PLACE and not isinstance(args[0], (set, bytearray, memoryview)):
            return self.in_place(call)
        return self.still(call) if still else self.without_rule(call)

    def goes_by_types(self, g: Any, rule: Rule, args: tuple[Any, ...]) -> bool:
        """Whether calls with arguments of these types have the same program."""
        stand_in = self.cache.registry.stand_in(g)
        by_value = stand_in is not None and stand_in.instead is not None
        return rule.house and not by_value and not any(is_author_class(type(x)) for x in args)

    def still(self, call: Call) -> Program:
        """A call with constants: what it makes may be given something that varies later."""
        g = call[G]
        if isinstance(g, type) and is_author_class(g) and (not is_of_library(g) or container_base(g)):
            made = self.by_class(call)
            if made is not None:
                return made
        if g is RuleConfig.frule_via_ad:
            return self.without_rule(call)  # the answer is made by what it calls
        function = compiled_function(g)
        return _constant(call) if function is None else self.by_function(function, call)

    def without_rule(self, call: Call) -> Program:
        g, _g_dot, args, dots, _names, _ = call
        if g in _WITH_ZERO and any(isinstance(x, AbstractZero) for x in args) and len(args) == 2:
            return Program(programs.beside_zero, (g, arg(0), arg(1), dot(0), dot(1)), trusted=True)
        found = self.by_operator(call)
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
            chosen = g.dispatch(args[0].__class__)
            return self.through(call, chosen, _refs(ARGS, args), _refs(DOTS, args), _names)
        if g is super and len(args) == 2:
            return Program(programs.made_super, (arg(0), arg(1), dot(1)), trusted=True)
        if isinstance(g, type):
            made = self.by_class(call)
            if made is not None:
                return made
        if not any(map(_carries, args, dots)):
            return _constant(call)
        raise self.foreign(call)

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

        If what the function captures may vary, `closure` is a function that captures the same, and
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
                return _descend((args if path[0] == ARGS else dots)[path[1]], path[2:])
            if path[0] == G_DOT:
                return _descend(closure_dot, path[1:])
            if closure is None:
                return _value_at(function, path[1:])
            return Ref((*closure.path, *path[1:]))

        return dataclasses.replace(
            found,
            closure=closure if found.closure is not None else None,
            given=rewritten(found.given, moved),
            words={name: rewritten(part, moved) for name, part in found.words.items()},
        )

    def by_method(self, call: Call) -> Program:
        """`g.method(*args)`: the object is the first argument."""
        owner, _, args, _, names, method = call
        refs, dot_refs = _refs(ARGS, args), _refs(DOTS, args)
        if isinstance(owner, (types.ModuleType, type, np.ufunc)):
            return self.through(call, getattr(owner, method), refs, dot_refs, names)
        if holds_callable(owner, method):
            chosen = dispatched(owner, method, args)
            if chosen is not None:
                this, this_dot = Ref((G,)), Ref((G_DOT,))
                return self.through(call, chosen, (this, *refs), (this_dot, *dot_refs), names)
            return Program(
                programs.called_attribute,
                (self, Ref((G,)), Ref((G_DOT,)), method, refs, dot_refs, names),
                trusted=True,
            )
        if method in ("_replace", "_asdict") and is_namedtuple(type(owner)):
            words = dict(zip(names, refs))
            word_dots = dict(zip(names, dot_refs))
            of = (method, Ref((G,)), Ref((G_DOT,)), words, word_dots)
            return Program(programs.of_namedtuple, of, trusted=True)
        found = getattr(owner, method)
        if isinstance(owner, super) and getattr(found, "__self__", None) is owner.__self__:  # type: ignore[attr-defined]
            this = Ref((G, SELF))
            return self.through(call, resolve(found)[0], (this, *refs), (Ref((G_DOT,)), *dot_refs), names)
        if getattr(found, "__self__", None) is owner:
            target = getattr(found, "__func__", None) or getattr(type(owner), method, None)
            if isinstance(target, _METHODS):
                return self.through(call, target, (Ref((G,)), *refs), (Ref((G_DOT,)), *dot_refs), names)
        return self.through(call, found, refs, dot_refs, names)

    def out_slot(self, g: Any, args: tuple[Any, ...], names: tuple[str, ...]) -> int | None:
        """Which argument is an array that a function of the house is to write its result to."""
        entry = self.cache.registry.entry(g)
        if entry is None or entry.user:
            return None
        if any(isinstance(rule, Rule) and rule.keyword_tangents for rule in entry.house):
            return None  # it hands its keywords on
        count = len(args) - len(names)
        if "out" in names:
            return count + names.index("out")
        at = self.pullbacks.out_slot(g, count) if count > 1 else None
        return at if at is not None and at < count else None

    def into(self, call: Call, slot: int) -> Program:
        """`g(..., out=array)`: the value and its tangent, each written where it belongs."""
        g, _, args, _dots, names, _ = call
        several = isinstance(g, np.ufunc) and g.nout > 1
        if several and not _is_nothing(args[slot]):
            raise KeywordError(
                f"{name_of(g)} has {g.nout} results, and is given arrays to write them to",
                fixes=("assign what it returns: a[...], b[...] = …",),
                read="limitations#keywords",
            )
        rest = [k for k in range(len(args)) if k != slot]
        left = tuple([name for k, name in enumerate(names) if k != slot - (len(args) - len(names))])
        given = tuple([arg(k) for k in rest])
        given_dots = tuple([dot(k) for k in rest])
        if _is_nothing(args[slot]):
            return self.through(call, g, given, given_dots, left)
        refs = _refs(ARGS, args)
        count = len(args) - len(names)
        words = dict(zip(names, refs[count:]))
        if isinstance(args[slot], tuple) and len(args[slot]) == 1:
            out, out_dot = Ref((ARGS, slot, 0)), Ref((DOTS, slot, 0))
        else:
            out, out_dot = arg(slot), dot(slot)
        rule = self.rule(g, tuple([args[k] for k in rest]), left)
        if rule is not None and not rule.differentiable:
            constant = (g, refs[:count], words, out, out_dot)
            return Program(programs.constant_into_out, constant, trusted=True)
        written = (self, g, given, given_dots, left, refs[:count], words, out, out_dot)
        return Program(programs.into_out, written, trusted=True)

    # -- by a rule -------------------------------------------------------------------------------------------

    def rule(self, g: Any, args: tuple[Any, ...], names: tuple[str, ...]) -> Rule | None:
        """The rule for a call: an author's frule, an author's rrule to be turned, or the house's frule."""
        registry = self.cache.registry
        entry = registry.entry(g)
        if entry is None and (self.cache.mode == "auto" or type(g) is not types.FunctionType):
            return None  # in manual mode that there was no rule is an answer to keep
        count = len(args) - len(names)
        positional = args[:count]
        if entry is None or entry.user:
            try:
                positional, _ = Binder.of(g).bind(positional, dict(zip(names, args[count:])))
            except TypeError:  # the call itself is wrong, and will say so in its own words
                pass
        given = types_of(positional)
        forward = self.cache.ask(g, given, self.config, "frule")
        if isinstance(forward, Found) and not forward.rule.house:
            return forward.rule
        reverse = self.cache.ask(g, given, self.config)
        if isinstance(reverse, Found) and not reverse.rule.house:
            return reverse.rule
        if not isinstance(forward, Found):
            return None
        if any(is_author_class(type(x)) for x in args) and _has_own_method(g, args):
            return None
        stand_in = registry.stand_in(g)
        if stand_in is not None and stand_in.instead is not None and stand_in.instead(*args):
            return None
        return forward.rule

    def by_frule(self, rule: Rule, call: Call) -> Program:
        g, _g_dot, args, dots, names, _ = call
        if not rule.differentiable:
            return _constant(call)
        leading = (self.config,) if rule.requires else ()
        if not rule.house:
            positional, given, words = self.bound(rule, call)
            if rule.partials is not None:  # of one that does not vary the partial need not exist
                pairs = zip(positional, given, strict=True)
                given = tuple([d if _varies(build(x, call), build(d, call)) else NO for x, d in pairs])
            of_author = (*leading, (Ref((G_DOT,)), *given), *positional)
            return Program(rule.function, of_author, words, rule=rule, of_rule=True)
        count = len(args) - len(names)
        counted = len(args) if rule.keyword_tangents else count
        moved = {} if rule.keyword_tangents else self.moved_keywords(rule, call)
        still = []
        for k, (name, x, x_dot) in enumerate(zip(names, args[count:], dots[count:]), start=count):
            if name in moved:
                continue
            if counted == count and _varies(x, x_dot) and _is_inexact(x):
                if _is_whole_zero(x_dot):
                    still.append((name, dot(k)))
                    continue
                raise KeywordError(
                    f"The forward rule of {name_of(g)} takes {name}= as a constant, and it varies",
                    fixes=(f"give {name} by position",),
                    read="limitations#keywords",
                )
        tangents: list[Any] = []
        for number, x in enumerate(args[:counted]):
            if rule.partials is not None and not _varies(x, dots[number]):
                tangents.append(NO)  # its partial need not exist
            else:
                tangents.append(dot(number))
        self.check_covered(g, rule, names)
        for number, name in self.unanswered(g, rule, call):
            still.append((name, dot(number)))
            tangents[number] = NO
        if any(type(x) not in PLAIN for x in args):
            refuse_asked_often(g, args[:count], args[count:], None)
        handed: list[Any] = [_asked(g, args, dots, k) for k in range(count)]
        for name, default in moved.items():
            handed.append(arg(count + names.index(name)) if name in names else default)
            tangents.append(dot(count + names.index(name)) if name in names else NO)
        given_all = (*leading, (Ref((G_DOT,)), *tangents), *handed)
        words = {name: arg(count + k) for k, name in enumerate(names) if name not in moved}
        if still:
            known, along = zip(*still)
            whole = (rule.function, name_of(g), known, along, given_all, words)
            return Program(programs.with_others_still, whole, trusted=rule.hands_out)
        return Program(rule.function, given_all, words, trusted=rule.hands_out)

    def bound(self, rule: Rule, call: Call) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
        """What an author's rule is called with: each positional parameter, also one by default or by name,
        the tangent of each, and the keyword-only ones that it takes; KeywordError where one of these varies.
        """
        g, _, args, _dots, names, _ = call
        count = len(args) - len(names)

        def placed(kind: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            refs = _refs(kind, args)
            return Binder.of(g).bind(refs[:count], dict(zip(names, refs[count:])))

        positional, words = placed(ARGS)
        positional_dots, word_dots = placed(DOTS)
        for name, x in words.items():
            if type(x) is Ref and _varies(build(x, call), build(word_dots[name], call)):
                raise KeywordError(
                    f"{name_of(g)} was given a differentiable value for {name}=, "
                    "which its rule takes as a constant",
                    fixes=(f"make {name} a positional parameter", f"rl.ignore_derivatives({name})"),
                    read="rules#keywords",
                )
        given = tuple([x_dot if type(x_dot) is Ref else NO for x_dot in positional_dots])
        return positional, given, taken_keywords(rule, words, names)

    def moved_keywords(self, rule: Rule, call: Call) -> dict[str, Any]:
        """The parameters of a rule of the house, with their defaults, that are given by position because one
        of them was given by name: those up to the last that the reverse rule answers for.
        """
        g, _, args, _, names, _ = call
        count = len(args) - len(names)
        reverse = self.cache.ask(g, types_of(args[:count]), self.config)
        if not names or not isinstance(reverse, Found) or not reverse.rule.house:
            return {}
        parameters, defaults = positional_parameters(rule.function)
        parameters = parameters[2 if rule.requires else 1 :]
        named = [parameters.index(name) for name in names if name in parameters]
        last = 1 + max((k for k in named if k < (reverse.rule.leading or 0)), default=-1)
        moved = {name: defaults.get(name) for name in parameters[count:last]}
        return moved if all(name in names or name in defaults for name in moved) else {}

    def unanswered(self, g: Any, rule: Rule, call: Call) -> Iterator[tuple[int, str]]:
        """The arguments for which the reverse rule of the house has no cotangent: the forward rule has no use
        for their tangents either, and would lose them without a word. Numbers and names of arrays that stand
        still, though they might be written to; NotDifferentiableError where one varies.
        """
        _, _, args, dots, names, _ = call
        positional = args[: len(args) - len(names)]
        reverse = self.cache.ask(g, types_of(positional), self.config)
        if rule.partials is not None or not isinstance(reverse, Found) or not reverse.rule.house:
            return
        leading = reverse.rule.leading
        if leading is None or not reverse.rule.differentiable or (args and isinstance(args[0], str)):
            return  # formatting a text is followed by what reads it (`spelling`)
        for number, (x, x_dot) in enumerate(zip(positional, dots)):
            if number >= leading and _varies(x, x_dot) and _is_inexact(x):
                known = parameter_names(reverse.rule.function) or ()
                name = known[number] if number < len(known) else f"argument {number + 1}"
                if _is_whole_zero(x_dot):
                    yield number, name
                    continue
                try:
                    self.pullbacks.refuse_lost(g, name, x, None)
                except NotDifferentiableError as refusal:
                    raise own_error(g, positional, {}) or refusal from None

    def check_covered(self, g: Any, rule: Rule, names: tuple[str, ...]) -> None:
        """KeywordError for a keyword that a rule of the house does not know: `where=`, `dtype=`."""
        known = parameter_names(rule.function)
        for name in names:
            if known is not None and name not in known:
                raise KeywordError(
                    f"The forward rule of {name_of(g)} does not cover the argument {name}=",
                    fixes=(f"write an frule for the function that calls {name_of(g)} with it",),
                    read="limitations#keywords",
                )

    def by_turning(self, rule: Rule, call: Call) -> Program:
        """The pushforward of an author's rule that has only a pullback: the transpose of that."""
        if not rule.differentiable:
            return _constant(call)
        positional, given_dots, words = self.bound(rule, call)
        leading = (self.config,) if rule.requires else ()
        if Debugging.rules:  # what is turned is a program, which nobody can watch while it runs
            y, pullback = apply_rrule(rule, call[G], build(positional, call), build(words, call), self.config)
            pullback(cotangent_from(y, leaves_of(y)))
        return Program(
            programs.turned,
            (self.pullbacks.vjp, programs.Stated(rule, call[G]), leading, positional, given_dots, words),
        )

    # -- by the tangent of Python code -----------------------------------------------------------------------

    def by_function(self, function: types.FunctionType, call: Call, rest: int | None = None) -> Program:
        """The tangent of a Python function that is given arguments as the call has them."""
        from .pullbacks import bind

        _, _g_dot, args, _, names, _ = call
        plain = len(args) - len(names)

        def placed(kind: int) -> tuple[Any, ...]:
            refs = _refs(kind, args)
            first = refs[:plain] if rest is None else (*refs[: min(rest, plain)], refs[rest:plain])
            return bind(function, first, dict(zip(names, refs[plain:])))[0]

        values, dots = list(placed(ARGS)), list(placed(DOTS))
        code = function.__code__
        if code.co_flags & inspect.CO_VARKEYWORDS:  # a dict that is new at each call
            words, word_dots = build(values[-1], call), build(dots[-1], call)
            if not any(_varies(words[name], d) for name, d in word_dots.items()):
                dots[-1] = NO
        defaults = function.__defaults__ or ()
        by_keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        kept = [name for name in by_keyword if name in (function.__kwdefaults__ or {})]
        for number, x in enumerate(values):
            if _has_refs(x):
                continue
            dots[number] = NO  # a default
            if not code.co_flags & inspect.CO_NESTED or number >= code.co_argcount + code.co_kwonlyargcount:
                continue
            name = code.co_varnames[number]
            by_position = number < code.co_argcount
            where = (1, number - code.co_argcount + len(defaults)) if by_position else (2, kept.index(name))
            values[number] = Default((G,), name, where, x)
            dots[number] = Ref((G_DOT, *where))
        return self.by_tangent(function, call, tuple(values), tuple(dots))

    def by_tangent(
        self, function: types.FunctionType, call: Call, values: tuple[Any, ...], dots: tuple[Any, ...]
    ) -> Program:
        """The tangent of a Python function: its parameters, then the tangents of those that vary."""
        varied = tuple([_varies(build(x, call), build(d, call)) for x, d in zip(values, dots, strict=True)])
        captured = call[G_DOT] is not NO and bool(function.__closure__)
        own: frozenset[str] = frozenset()
        if captured:
            cells = zip(function.__code__.co_freevars, function.__closure__ or ())
            own = frozenset(name for name, cell in cells if _is_itself(function, contents(cell)))
        made = tangent_of(function, varied, captured, own)
        given = (*values, *(d for d, on in zip(dots, varied) if on))
        given = (*given, Ref((G_DOT,))) if captured else given
        closure = Ref((G,)) if function is call[G] else None
        return Program(made, given, derived=True, trusted=True, closure=closure)

    # -- attributes, operators and objects -------------------------------------------------------------------

    def by_attribute(self, call: Call) -> Program:
        """`x.name`"""
        args = call[ARGS]
        x, name = args[0], args[1]
        kind = type(x)
        refs = (arg(0), dot(0), name)
        if isinstance(x, (types.ModuleType, type)) or len(args) > 2:
            return _constant(call)
        found = in_class(kind, name)
        if isinstance(found, types.GetSetDescriptorType) and self.cache.registry.entry(found) is not None:
            answer = self.cache.ask(found, types_of((x,)), self.config, "frule")
            if isinstance(answer, Found):
                if not answer.rule.differentiable:
                    return _constant(call)
                return Program(answer.rule.function, ((NO, dot(0)), arg(0)))
            raise self.no_attribute(x, name)
        if isinstance(x, _NUMERIC):
            if name in ("real", "imag"):
                return self.through(call, np.real if name == "real" else np.imag, (arg(0),), (dot(0),))
            if callable(getattr(x, name)):
                return Program(programs.method, refs, trusted=True)
            if not self.is_fixed(x, name):
                raise self.no_attribute(x, name)
            return _constant(call)
        if type(x) is FieldGradients:
            return Program(programs.attribute, refs, trusted=True)
        if isinstance(x, super):
            return self.of_super(call, x, name)
        if isinstance(kind.__getattribute__, types.FunctionType):
            raise self.no_attribute(x, name)
        if name == "default_factory" and isinstance(x, defaultdict):
            return Program(programs.factory_of, (arg(0), dot(0)), trusted=True)
        if isinstance(x, programs.WITH_PARTS) or (kind is CACHED and name == "__wrapped__"):
            return Program(programs.part_of_callable, refs, trusted=True)
        in_instance = name in getattr(x, "__dict__", ())
        if isinstance(found, property) and found.fget is not None:
            return self.through(call, found.fget, (arg(0),), (dot(0),))
        if isinstance(found, functools.cached_property):
            return Program(programs.cached, (self, found.func, arg(0), dot(0), name), trusted=True)
        getter = written_in_python(type(found), "__get__") if found is not None else None
        if getter is not None and (hasattr(type(found), "__set__") or not in_instance):
            return self.through(call, getter, (found, arg(0), kind), (NO, dot(0), NO))
        if found is None and not in_instance:
            fallback = written_in_python(kind, "__getattr__")
            if fallback is not None:
                return self.through(call, fallback, (arg(0), name), (dot(0), NO))
        if not in_instance and (callable(found) or isinstance(found, (staticmethod, classmethod))):
            bound = getattr(getattr(x, name), "__self__", None) is x
            return Program(programs.method, refs, trusted=True) if bound else _constant(call)
        if not in_instance and found is not None and not hasattr(type(found), "__get__"):
            return _constant(call)
        return Program(programs.attribute, refs, trusted=True)

    def is_fixed(self, x: Any, name: str) -> bool:
        """Whether an attribute of a number or an array is known for one that does not vary: shape, dtype."""
        if not isinstance(x, (np.ndarray, np.generic)):
            return True
        entry = self.cache.registry.entry(getattr(np.ndarray, name, None))
        rules = [rule for rule in entry.house if isinstance(rule, Rule)] if entry is not None else []
        return bool(rules) and not any(rule.differentiable for rule in rules)

    def of_super(self, call: Call, x: Any, name: str) -> Program:
        """`super().name`: what the classes behind have, for the object."""
        kinds = x.__self_class__.__mro__
        behind = kinds[kinds.index(x.__thisclass__) + 1 :]
        found = next((cls.__dict__[name] for cls in behind if name in cls.__dict__), None)
        if isinstance(found, property) and found.fget is not None:
            return self.through(call, found.fget, (Ref((ARGS, 0, SELF)),), (dot(0),))
        if found is not None and (callable(found) or isinstance(found, (staticmethod, classmethod))):
            bound = getattr(getattr(x, name), "__self__", None) is x.__self__
            return (
                Program(programs.method, (arg(0), dot(0), name), trusted=True) if bound else _constant(call)
            )
        return _constant(call)

    def no_attribute(self, x: Any, name: str) -> NotDifferentiableError:
        return NotDifferentiableError(
            f"There is no forward rule for the attribute {name} of {describe(x)}",
            read="limitations#attributes",
        )

    def in_place(self, call: Call) -> Program:
        """`left op= right`: on both sides where Python changes the left operand, else a rebinding."""
        g: Any = call[G]
        args = call[ARGS]
        if isinstance(args[0], np.ndarray):
            given = (self, g, _IN_PLACE[g], arg(0), dot(0), arg(1), dot(1))
            return Program(programs.in_place_array, given, trusted=True)
        method = written_in_python(type(args[0]), f"__{g.__name__.strip('_')}__")
        return self.through(call, method or _IN_PLACE[g], (arg(0), arg(1)), (dot(0), dot(1)))

    def by_operator(self, call: Call) -> Program | None:
        """What answers for an operator on objects of the author's classes."""
        g, args = call[G], call[ARGS]
        if not _is_hashable(g) or not args:
            return None
        refs, dot_refs = _refs(ARGS, args), _refs(DOTS, args)
        if g in BINARY and len(args) == 2 and any(is_author_class(type(x)) for x in args):
            turns = _turns(g, args)
            if not turns:
                return None
            methods = tuple([method for method, _ in turns])
            orders = [(0, 1) if not swapped else (1, 0) for _, swapped in turns]
            given = tuple([(arg(a), arg(b)) for a, b in orders])
            given_dots = tuple([(dot(a), dot(b)) for a, b in orders])
            return Program(programs.operated, (self, g, methods, given, given_dots), trusted=True)
        method = None
        if g in FIRST and is_author_class(type(args[0])):
            method = written_in_python(type(args[0]), FIRST[g])
        elif g in _WRITES and is_author_class(type(args[0])):
            method = written_in_python(type(args[0]), _WRITES[g])
            if method is not None and is_generated(method):
                method = None
            found = in_class(type(args[0]), args[1]) if g in (setattr, delattr) else None
            if isinstance(found, property):
                setter = found.fset if g is setattr else found.fdel
                if setter is not None:
                    return self.through(call, setter, (refs[0], *refs[2:]), (dot_refs[0], *dot_refs[2:]))
        return self.through(call, method, refs, dot_refs) if method is not None else None

    def by_class(self, call: Call) -> Program | None:
        """The making of an object of an author's class."""
        cls, _, args, _, names, _ = call
        if issubclass(cls, BaseException):
            return _constant(call)  # who catches it may not take numbers from it (`check_caught`)
        if type(cls).__call__ is not type.__call__:
            return None
        count = len(args) - len(names)
        refs, dot_refs = _refs(ARGS, args), _refs(DOTS, args)
        words = dict(zip(names, refs[count:]))
        if is_namedtuple(cls) and is_generated(cls.__new__):
            fields = dict(zip(cls._fields, dot_refs)) | dict(zip(names, dot_refs[count:]))
            whole = tuple([fields.get(name, NO) for name in cls._fields])
            return Program(programs.made_tuple, (cls, refs[:count], words, whole), trusted=True)
        base = container_base(cls)
        if base is not None and base is not set:
            return Program(programs.made_items, (self, cls, base, refs, dot_refs, names), trusted=True)
        if cls.__new__ not in (object.__new__, typing.Generic.__new__):
            return None
        if dataclasses.is_dataclass(cls) and is_generated(cls.__init__):  # type: ignore[misc]
            init = [f.name for f in dataclasses.fields(cls) if f.init]
            fields = dict(zip(init, dot_refs[:count])) | dict(zip(names, dot_refs[count:]))
            given = (self, cls, refs[:count], words, dict(fields))
            post = getattr(cls, "__post_init__", None)
            made = programs.made_fields if post is None else programs.made_with_post_init
            return Program(made, given, trusted=True)
        without_init = cls.__init__ is object.__init__ and not args and cls.__new__ is object.__new__
        if not isinstance(cls.__init__, types.FunctionType) and not without_init:
            return None
        return Program(programs.made_object, (self, cls, refs, dot_refs, names), trusted=True)

    # -- the next order --------------------------------------------------------------------------------------

    def of_push(self, call: Call) -> Program:
        """The tangent of a `push`: that of the program which answers it."""
        found = self.program(call[ARGS])  # type: ignore[arg-type]
        given = (*found.given, *found.words.values())
        args = rewritten(given, lambda path: Ref((ARGS, *path)))
        closure = None if found.closure is None else Ref((ARGS, *found.closure.path))
        closure_dot = NO if found.closure is None else tangent_template(found.closure)
        dots = tangent_template(given)
        made = self.through(call, found.function, args, dots, tuple(found.words), closure, closure_dot)
        return dataclasses.replace(made, of_rule=True) if found.of_rule else made

    def of_vjp(self, vjp: Vjp, call: Call) -> Program:
        """The tangent of a pullback."""
        words, words_dot = (arg(3), dot(3)) if len(call[ARGS]) > 3 else (None, NO)
        given = (self, vjp, arg(0), dot(0), arg(1), dot(1), arg(2), dot(2), words, words_dot)
        return Program(programs.vjp_forward, given, trusted=True)

    def foreign(self, call: Call) -> Exception:
        g, _, args, _, names, _ = call
        count = len(args) - len(names)
        own = own_error(g, args[:count], dict(zip(names, args[count:])))
        if own is not None:
            return own
        if self.cache.registry.mutator(g) is not None:
            return MutationError(f"Mutating arrays is not supported -- called {name_of(g)}")
        return ForeignCallError(
            f"Can't differentiate foreign call expression {name_of(g)}({', '.join(map(describe, args))})"
            " in forward mode",
            fixes=(f"write an frule for {name_of(g)}",),
            read="limitations#foreign-calls",
        )


class Vjp:
    """`vjp(f, args, seed, words)`: the value of `f(*args, **words)` and the cotangents of `args`, as values
    to compute with. It has derivatives by all four.

    `seed` is the cotangent of the value, or a function of ours that gives it for `(y, f, args)`. With `own`
    the cotangents are those that rules compute with, and that of `f` itself comes first.
    """

    gives_pair = True

    def __init__(self, pullbacks: Pullbacks, own: bool = False) -> None:
        self.pullbacks = pullbacks
        self.own = own

    @derives
    def __call__(
        self, f: Any, args: tuple[Any, ...], seed: Any, words: dict[str, Any] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        __tracebackhide__ = True
        if not callable(f):
            raise RuleLabError(f"{describe(f)} cannot be called, so it has no gradient")
        if self.own:
            y, back = self.pullbacks.via_ad(f, *args, **(words or {}))
            found = back(seed)
            whole = (carrier(f), *args)  # what flows to a method is its object's
            return y, tuple([_to_compute_with(x, found[number]) for number, x in enumerate(whole)])
        with as_again(f):
            y, back = self.pullbacks.by_arguments(f, args, words or {})
        found = back(seed(y, f, args) if isinstance(seed, Seed) else seed)
        return y, tuple([to_natural(x, found[1 + number]) for number, x in enumerate(args)])


def _to_compute_with(x: Any, x_bar: Any) -> Any:
    """A cotangent of `x` in the form that rules know, with nothing delayed in it."""
    return unthunk(project(x, settle(unthunk(x_bar))))


def inner_of(args: tuple[Any, ...], dots: Any) -> Any:
    """The tangents of arguments, as a caller gives them, in their inner form."""
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
            f"{len(dots)} tangents for {len(args)} arguments",
            asked="pushforward(f, *args)(*tangents)",
            fixes=("give one tangent for each positional argument, None for one that stands still",),
        )


def natural_of(y: Any, y_dot: Any) -> Any:
    """A tangent as a caller gets it."""
    return natural(y, y_dot)


# --- what forward mode makes of results ---------------------------------------------------------------------


def beside(y: Any, y_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], owned: bool = True) -> Any:
    """The tangent of a result of C code, in the form in which it can be written to beside the result.

    An array gets memory of its own where the result has, laid out alike, and a view of the argument's tangent
    where the result is a view of the argument. A tangent that is not `owned` may be known to others.
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
    """The same of the result of an author's rule, which says how the result moves: what it shares with an
    argument cannot move in two ways. A tangent is not `owned` where the rule may have kept it.
    """
    if isinstance(y, np.ndarray):
        known = next((d for x, d in _arrays(args, dots) if x is y), y_dot)
        if known is not y_dot and not _is_same(known, y_dot):
            raise NotDifferentiableError(
                "The value of a rule is an array that was given to it, and its tangent another one",
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
    """Whether two tangents of one array say the same."""
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
    """A tangent that nobody else knows, of the layout of `y` and complex where that is."""
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
    if program.function is programs.turned:
        return values[3], values[4]
    if program.function is programs.with_others_still:
        values = values[4]
    at = 1 if isinstance(values[0], RuleConfig) else 0  # before the tangents
    return values[at + 1 :], values[at][1:]


# --- small questions ----------------------------------------------------------------------------------------

_NUMERIC = (int, float, complex, np.number, np.ndarray)
_IN_PLACE = {
    getattr(operator, f"i{name.rstrip('_')}"): getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and_", "or_", "xor", "lshift", "rshift"),
    )
}
_WITH_ZERO = (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul)
_OF_C = (np.ufunc, types.BuiltinFunctionType, types.MethodDescriptorType, type(np.sum))
_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, CACHED)
# Objects of C code that call others: a rule sits on their `__call__`.
_HOLDERS = (functools.partial, operator.itemgetter, operator.attrgetter, operator.methodcaller, CACHED)
_WRITES: dict[Any, str] = {
    operator.setitem: "__setitem__",
    operator.delitem: "__delitem__",
    setattr: "__setattr__",
    delattr: "__delattr__",
}


def _is_inexact(x: Any) -> bool:
    """Whether a value has a derivative by its kind: a float or complex number, or an array of them."""
    return isinstance(x, (float, complex, np.inexact)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def _refs(kind: int, args: tuple[Any, ...]) -> tuple[Ref, ...]:
    return tuple([Ref((kind, k)) for k in range(len(args))])


def _asked(g: Any, args: tuple[Any, ...], dots: tuple[Any, ...], number: int) -> Ref:
    """The template of an argument of a rule of the house."""
    if _varies(args[number], dots[number]):
        return arg(number)
    if g is operator.getitem:
        by_position = number == 1 and programs.takes_positions(args[0])
        return Asked((ARGS, number), as_key=True) if by_position else arg(number)
    kind = type(args[number])
    converted = is_author_class(kind) and not (keeps_alive(g, args) or preserves(g, args))
    return Asked((ARGS, number)) if converted else arg(number)


def _constant(call: Call) -> Program:
    """The call as it is; its tangent is zero."""
    g, _, args, _, names, _ = call
    refs, count = _refs(ARGS, args), len(args) - len(names)
    given = (g, refs[:count], dict(zip(names, refs[count:])))
    makes_new = isinstance(g, np.ufunc) or str(getattr(g, "__module__", "")).partition(".")[0] == "numpy"
    makes_new = makes_new or g is programs.zero_beside or g is programs.zero_of
    return Program(programs.constant_of_numpy if makes_new else programs.constant, given, trusted=True)


def _varies(x: Any, x_dot: Any) -> bool:
    """Whether a tangent says that its value varies; a whole number that stands still does not."""
    kind = type(x_dot)
    if kind is NoTangent:
        return False
    if kind is tuple and type(x) is tuple:
        return any(map(_varies, x, x_dot)) if len(x) == len(x_dot) else any(d is not NO for d in x_dot)
    if kind is float and isinstance(x, (int, np.integer)):
        return x_dot != 0.0
    return not isinstance(x_dot, AbstractZero)


def _is_whole_zero(x_dot: Any) -> bool:
    """Whether this is the tangent of an array that might be written to and has not been."""
    return isinstance(x_dot, np.ndarray) and not np.any(x_dot)


def _carries(x: Any, x_dot: Any) -> bool:
    return carries(x) and _varies(x, x_dot)


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _is_nothing(out: Any) -> bool:
    """Whether what was given for `out=` names no array."""
    return out is None or (isinstance(out, tuple) and all(x is None for x in out))


def _has_refs(template: Any) -> bool:
    if type(template) is tuple:
        return any(map(_has_refs, template))
    if type(template) is dict:
        return any(map(_has_refs, template.values()))
    return type(template) is Ref


def _may_be_written(g: Any) -> bool:
    """Whether a call with constants makes an object whose attributes may be given what varies, later."""
    if not isinstance(g, type) or not is_author_class(g):
        return False
    return dataclasses.is_dataclass(g) or compiled_function(g.__init__) is not None  # type: ignore[misc]


def _is_itself(function: types.FunctionType, content: Any) -> bool:
    """Whether a function that a cell holds is the one that captures it, or what that is a tangent of."""
    return content is function or stands_for(function, content)


def _has_own_method(g: Any, args: tuple[Any, ...]) -> bool:
    """Whether a class of the author's says what an operator means for these operands."""
    if not _is_hashable(g):
        return False
    if g in BINARY and len(args) == 2:
        return bool(_turns(g, args))
    if g in _WRITES and is_author_class(type(args[0])):
        found = in_class(type(args[0]), args[1]) if g in (setattr, delattr) else None
        method = written_in_python(type(args[0]), _WRITES[g])
        return isinstance(found, property) or (method is not None and not is_generated(method))
    return g in FIRST and written_in_python(type(args[0]), FIRST[g]) is not None


def _turns(g: Any, args: tuple[Any, ...]) -> list[tuple[Any, bool]]:
    """The methods of the author's that Python asks for a binary operator, each with whether the operands are
    swapped.
    """
    forward, reflected = BINARY[g]
    left, right = type(args[0]), type(args[1])
    first, second = written_in_python(left, forward), written_in_python(right, reflected)
    if left is right:
        second = None
    turns = [(first, False), (second, True)]
    if second is not None and issubclass(right, left) and getattr(left, reflected, None) is not second:
        turns.reverse()
    return [turn for turn in turns if turn[0] is not None]
