"""The one question of the compiler: the pullback of this call, by a rule, a cached pass or a new one."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import (
    CatchBlockError,
    ForeignCallError,
    KeywordError,
    MutationError,
    NotDifferentiableError,
    Place,
    RuleLabError,
)
from ..rules.binding import Binder
from ..rules.calling import apply_rrule
from ..rules.capabilities import RuleConfig
from ..rules.registry import Found
from ..rules.rule import Rule
from ..rules.signatures import types_of
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number
from ..tangents.structural import Tangent
from . import ir, specialise, support
from .activity import Activity
from .adjoint import adjoint
from .cache import Cache, Pass, guard_of
from .emit import calls_leading_here, emit
from .entries import Entries
from .lower import Surroundings, lower
from .source import Source, find_source
from .spelling import readings
from .tidy import prune
from .types import ANY, FUNCTION, LIST, Array, Known, Tuple, Types, is_real, signature_of, type_of_signature

NO, ZERO = support.NO, support.ZERO
Handler = Callable[..., Any]

_SCALARS = (int, float, complex, bool, str, bytes, type(None), np.generic)
_INPLACE = {
    "add": "iadd",
    "sub": "isub",
    "mul": "imul",
    "truediv": "itruediv",
    "floordiv": "ifloordiv",
    "mod": "imod",
    "pow": "ipow",
    "matmul": "imatmul",
    "and_": "iand",
    "or_": "ior",
    "xor": "ixor",
    "lshift": "ilshift",
    "rshift": "irshift",
}


def carries(value: Any) -> bool:
    """Whether a value can have a cotangent: a number that is no bool, an array of them, or a structure
    with such.
    """
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fciuO"
    if is_number(value):
        return True
    if value is None or isinstance(value, (bool, str, bytes, type, types.ModuleType, range, slice, np.dtype)):
        return False
    if isinstance(value, (list, tuple)):
        return any(map(carries, value))
    if isinstance(value, dict):
        return any(map(carries, value.values()))
    if isinstance(value, types.FunctionType):
        return value.__closure__ is not None and any(carries(c) for c in map(_contents, value.__closure__))
    if callable(value) and not _is_callable_object(value):
        return False
    return hasattr(value, "__dict__") or any(map(carries, _slots(value)))


def _is_callable_object(value: Any) -> bool:
    """Whether the author's class makes it callable: then it holds what any object may, and is no function."""
    call = getattr(type(value), "__call__", None)  # noqa: B004 (which one, not whether)
    return isinstance(call, types.FunctionType)


def _slots(value: Any) -> list[Any]:
    """What an object keeps in slots instead of a dict."""
    names = [
        name
        for cls in type(value).__mro__
        for name in _listed(cls.__dict__.get("__slots__", ()))
        if not name.startswith("__")
    ]
    return [getattr(value, name) for name in names if hasattr(value, name)]


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def describe(value: Any) -> str:
    """A value in a message: `float64[3]`, `float`, `list`."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    return type(value).__name__


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return ir.UNBOUND


class Pullbacks:
    """Finds pullbacks over one cache."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.entries = Entries(cache)
        self.config = RuleConfig(reverse=self.via_ad)

    def via_ad(self, f: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """`(y, back)` of a call as rules ask for it: rules where there are, else a compiled pass."""
        active = (True,) * (1 + len(args)) + (False,) * len(kwargs)
        return self.find(f, args, kwargs, active, None)(*args, **kwargs)

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
        target, bound = resolve(g)
        if not bound:
            return self.find_target(target, args, kwargs, active, place)
        inner = self.find_target(
            target, (*bound, *args), kwargs, (False, *(active[0],) * len(bound), *active[1:]), place
        )
        return _binding(inner, bound)

    def find_target(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        __tracebackhide__ = True
        answer = self.ask(target, args, kwargs)
        if isinstance(answer, Found):
            return self.by_rule(answer.rule, target, args, kwargs, active, place)
        self.refuse_mutation(target, args, kwargs, place)
        if isinstance(target, types.FunctionType) and not is_library(target):
            return self.by_pass(target, args, kwargs, active, place)
        wanted = [x for x, on in zip((*args, *kwargs.values()), active[1:], strict=True) if on]
        if any(map(carries, wanted)):
            raise self.foreign(target, args, kwargs, place)
        return _constant(target)

    def ask(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entry = self.cache.registry.entry(target)
        if entry is None:
            return self.cache.ask(target, types_of(args), self.config)
        positional = args
        if kwargs or entry.user:
            try:
                positional, _ = Binder.of(target).bind(args, kwargs)
            except TypeError:  # the call itself is wrong, and will say so in its own words
                positional = args
        return self.cache.ask(target, types_of(positional), self.config)

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
        if not rule.differentiable:
            return _constant(target)
        if not rule.house:
            return self.by_user_rule(rule, target, args, kwargs, active)
        if kwargs or self.out_slot(target, len(args)) is not None:
            self.refuse_mutation(target, args, kwargs, place)
        names = _parameter_names(rule.function)
        for name in kwargs:
            if names is not None and name not in names:
                raise KeywordError(
                    f"The rule of {name_of(target)} does not cover the argument {name}=",
                    place=place,
                    fixes=(f"write a rule for the function that calls {name_of(target)} with it",),
                    read="limitations#keywords",
                )
        leading = rule.leading if rule.leading is not None else len(args)
        for number, x in enumerate(args):
            if number >= leading and active[1 + number]:
                self.refuse_lost(
                    target,
                    names[number] if names and number < len(names) else f"argument {number + 1}",
                    x,
                    place,
                )
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
        """A house rule answers for its first arguments; keywords that name one of them are given by
        position.
        """
        names, defaults = _positional_parameters(rule.function)
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
        if not kwargs and type(target) is types.FunctionType:
            self.entries.add_rule(target, args, active[1:], rule)

        def by_rule(*args: Any, **kwargs: Any) -> Any:
            found = apply_rrule(rule, target, args, kwargs, config)
            if found is None:
                raise RuleLabError(
                    f"The rule of {name_of(target)} declined this call by returning None", place=rule.place
                )
            if not kwargs:
                return found
            y, pullback = found
            names = binder.names(len(pullback.positional))
            order = [1 + names.index(name) if name in names else None for name in kwargs]

            def back(y_bar: Any) -> tuple[Any, ...]:
                got = pullback(y_bar)
                return (*got[: 1 + len(args)], *(NO if slot is None else got[slot] for slot in order))

            return y, back

        return by_rule

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
            return functools.partial(made.forward, function) if made.takes_function else made.forward
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
        flags = [False] * len(values)
        for slot, on in zip(where, active[1:], strict=True):
            flags[slot] = on
        held = _active_defaults(function, values, where) if active[0] else {}
        for slot in held:
            flags[slot] = True
        made = self.pass_of(function, values, tuple(flags), active[0], True, place)

        def bound(*args: Any, **kwargs: Any) -> Any:
            values, where = bind(function, args, kwargs)
            y, pullback = made.forward(function, *values) if made.takes_function else made.forward(*values)

            def back(y_bar: Any) -> tuple[Any, ...]:
                got = pullback(y_bar)
                own = got[0]
                for slot, name in held.items():
                    own = support.add(own, support.captured(**{name: got[1 + slot]}))
                return (own, *(got[1 + slot] for slot in where))

            return y, back

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
        free = ()
        if function.__closure__:
            contents = list(map(_contents, function.__closure__))
            free = tuple(_own_signature(function, c) for c in contents)
            captured = captured and any(c is function or carries(c) for c in contents)
        key = (signature, flags, free, captured, differentiate)
        found = self.cache.find(function, key)
        if found is not None:
            return found
        try:
            made = compile_pass(self, function, signature, flags, free, captured, differentiate)
        except RuleLabError as error:
            error.chain = error.chain or calls_leading_here()
            raise
        self.cache.store(function, key, made)
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

        `varied` tells which of the function, arguments and keywords depend on what is differentiated:
        those may
        not go where they could be kept out of sight.
        """
        target, bound = resolve(g)
        everything = (*bound, *args)
        known = self.cache.registry.entry(target)
        if isinstance(target, types.FunctionType) and not is_library(target) and known is None:
            values, where = bind(target, everything, kwargs)
            flags = [False] * len(values)
            for slot, on in zip(where, (*(varied[0],) * len(bound), *varied[1:]), strict=True):
                flags[slot] = on
            made = self.pass_of(target, values, tuple(flags), varied[0], False, place)
            return made.forward(target, *values) if made.takes_function else made.forward(*values)
        self.refuse_mutation(target, everything, kwargs, place)
        if known is None and not (isinstance(target, type) and issubclass(target, BaseException)):
            handed = [x for x, on in zip((*args, *kwargs.values()), varied[1:], strict=True) if on]
            if any(map(carries, handed)):
                raise self.foreign(target, everything, kwargs, place)
        return g(*args, **kwargs)

    def refuse_mutation(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
    ) -> None:
        """MutationError for a call that is known to write to its arguments."""
        slot = self.out_slot(target, len(args))
        if slot is not None and any(x is not None for x in args[slot:]):
            raise mutation(f"{name_of(target)}(out={describe(args[slot])})", place)
        if kwargs.get("out") is not None:
            raise mutation(f"{name_of(target)}(out={describe(kwargs['out'])})", place)
        if self.cache.registry.mutator(target) is not None:
            raise mutation(
                f"{name_of(target)}({', '.join(map(describe, args[:1]))})",
                place,
                not args or isinstance(args[0], np.ndarray),
            )

    def out_slot(self, target: Any, count: int) -> int | None:
        """Which of `count` positional arguments is the array to write to, if one is: `np.add(a, b, out)`."""
        if isinstance(target, np.ufunc):
            return target.nin if count > target.nin else None
        entry = self.cache.registry.entry(target) if count > 2 else None
        for rule in entry.house if entry is not None else ():
            names = (
                _parameter_names(rule.function) if isinstance(rule, Rule) and rule.mode == "rrule" else None
            )
            if names is not None and "out" in names[:count]:
                return names.index("out")
        return None

    def foreign(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
    ) -> RuleLabError:
        """The error for a call that neither a rule nor a pass can take."""
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
        known = name.replace(
            ".", "_"
        ).isidentifier()  # else it is an object that only the author has a name for
        name = name if known else f"a {type(target).__name__} object"
        if getattr(target, "__module__", None) == "_operator":
            shown = f" {name.removeprefix('_operator.').removesuffix('_')} ".join(map(describe, args))
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


# --- one call site ------------------------------------------------------------------------------------------


class Sites:
    """What the transform asks for one function that is being compiled; notes what it relied on."""

    def __init__(
        self, pullbacks: Pullbacks, source: Source, types_: Types, namespace: dict[str, Any]
    ) -> None:
        self.pullbacks = pullbacks
        self.source = source
        self.types = types_
        self.namespace = namespace
        self.trail: dict[int, tuple[Any, Any]] = {}

    def place(self, position: ir.Position) -> Place:
        line, end_line, column, end_column = position
        lines = self.source.lines
        text = lines[line - 1].rstrip("\n") if 0 < line <= len(lines) else None
        if end_line != line:
            end_column = len(text) if text is not None else None
        return Place(self.source.filename, line, column, end_column, self.source.name, text)

    def relies_on_house(self, target: Any) -> Any:
        """The entry of a target for which only the house has rules, noted in the trail; else None."""
        try:
            entry = self.pullbacks.cache.registry.entry(target)
        except TypeError:
            return None
        self.trail[id(target)] = (target, self.pullbacks.cache.state_of(target))
        registry = self.pullbacks.cache.registry
        return entry if entry is not None and not entry.user and not registry.is_hidden(target) else None

    def target(self, op: ir.Op) -> Any:
        """What a site certainly calls, or UNBOUND."""
        if isinstance(op, ir.Call):
            callee = self.types.callee(op)
            if callee is ir.UNBOUND and op.method is not None and isinstance(self.types(op.function), Array):
                return getattr(np.ndarray, op.method, ir.UNBOUND)
            return callee
        if isinstance(op, ir.Attribute):
            found = getattr(np.ndarray, op.name, None) if isinstance(self.types(op.value), Array) else None
            return (
                found if isinstance(found, types.GetSetDescriptorType) else ir.UNBOUND
            )  # a method is not called yet
        return specialise.operator_of(op) or ir.UNBOUND

    def is_constant(self, op: ir.Op) -> bool:
        target = self.target(op)
        return target is not ir.UNBOUND and self.is_declared_constant(target)

    def is_declared_constant(self, target: Any) -> bool:
        """Whether the house, and nobody else, says that a function has no derivative."""
        entry = self.relies_on_house(target)
        rules = (
            [r for r in entry.house if isinstance(r, Rule) and r.mode == "rrule"] if entry is not None else []
        )
        return bool(rules) and not any(r.differentiable for r in rules)

    def inline(self, op: ir.Op) -> bool:
        return self.relies_on_house(specialise.operator_of(op)) is not None

    def partials(self, op: ir.Op) -> Callable[..., Any] | None:
        if not isinstance(op, ir.Call) or op.keywords:
            return None
        rule = self.certain_rule(op)
        return rule.partials if rule is not None else None

    def bound_rule(self, op: ir.Op, active: tuple[bool, ...]) -> Callable[..., Any] | None:
        """The house rule that certainly applies at a site, to be called without looking it up."""
        if isinstance(op, ir.Augmented) or (isinstance(op, ir.Call) and op.keywords):
            return None
        if (
            isinstance(op, ir.Binary)
            and self.target(op) in specialise.OF_REALS
            and all(is_real(self.types(a)) for a in op.operands())
        ):
            return None  # those of real scalars, found at run time, also divide by NumPy's zeros
        rule = self.certain_rule(op)
        if rule is None or not rule.house or not rule.differentiable:
            return None
        if self.pullbacks.out_slot(self.target(op), len(op.operands())) is not None:
            return None  # whether it writes is seen at run time
        method = isinstance(op, ir.Call) and op.method is not None and self.types.callee(op) is ir.UNBOUND
        flags = active if not isinstance(op, ir.Call) or method else active[1:]
        leading = rule.leading if rule.leading is not None else len(flags)
        return None if any(flags[leading:]) else rule.function

    def certain_rule(self, op: ir.Op) -> Rule | None:
        target = self.target(op)
        if target is ir.UNBOUND or self.relies_on_house(target) is None:
            return None
        atoms = op.operands()
        if isinstance(op, ir.Call) and self.types.callee(op) is not ir.UNBOUND:
            atoms = atoms[1:]
        samples = [_sample(self.types(atom), atom) for atom in atoms]
        if any(sample is _NO_SAMPLE for sample in samples):
            return None
        answer = self.pullbacks.cache.registry.ask(target, types_of(tuple(samples)))
        return answer.rule if isinstance(answer, Found) else None

    def finder(self, op: ir.Op, position: ir.Position, active: tuple[bool, ...]) -> Handler:
        """The inline cache of a call site."""
        place = self.place(position)
        if isinstance(op, ir.Augmented):
            return _augmented_finder(self.pullbacks, op, active, place)
        if isinstance(op, ir.Build):
            return _refuse_set(place)
        if isinstance(op, ir.Attribute):
            return _attribute_finder(self.pullbacks, op.name, place)
        if isinstance(op, ir.Call):
            if op.method is None or isinstance(self.types(op.function), Known):
                return _call_finder(self.pullbacks, active, place)
            return _method_finder(self.pullbacks, op.method, active, place)
        return _operator_finder(self.pullbacks, specialise.operator_of(op), (False, *active), place)

    def plain(
        self, op: ir.Call, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any] | None:
        """None if the call may be made as it stands, else what makes it after a look at what is called."""
        target = self.target(op)
        writes = any(name == "out" for name, _ in op.keywords) or (
            target is not ir.UNBOUND and self.pullbacks.out_slot(target, 1 + len(op.args)) is not None
        )
        if target is not ir.UNBOUND and not writes:
            mutator = self.pullbacks.cache.registry.mutator(target) is not None
            if not mutator and (
                self.relies_on_house(target) is not None
                or (isinstance(target, type) and target.__module__ == "builtins")
            ):
                return None
        place, pullbacks, method = self.place(position), self.pullbacks, op.method

        def call(function: Any, *args: Any, **kwargs: Any) -> Any:
            return pullbacks.run_plain(
                function if method is None else getattr(function, method), args, kwargs, varied, place
            )

        return call

    def writer(self, op: ir.Write, position: ir.Position) -> Callable[..., Any]:
        place, kind = self.place(position), op.kind

        def write(target: Any, key: Any, value: Any) -> None:
            what = "__setitem__" if kind == "item" else f"__setattr__({key!r})"
            owner = "ndarray" if isinstance(target, np.ndarray) else type(target).__name__
            raise mutation(
                f"{owner}.{what}({describe(target)})" if kind == "item" else f"{owner}.{what}",
                place,
                isinstance(target, np.ndarray),
            )

        return write

    def caught(self, positions: list[ir.Position]) -> Callable[..., Any]:
        places = list(map(self.place, positions))

        def refuse_caught(number: int, *bars: Any) -> None:
            if any(_is_something(bar) for bar in bars):
                place = places[number - 1]
                raise CatchBlockError(
                    f"Can't differentiate function execution in catch block at {place.label()}",
                    place=place,
                    fixes=(
                        "return a sentinel value instead of raising and catching",
                        f"write a rule for {place.function}",
                    ),
                    read="limitations#try-and-except",
                )

        return refuse_caught

    def iterate(self, position: ir.Position) -> Callable[..., Any]:
        place = self.place(position)

        def iterate(sequence: Any) -> Any:
            if isinstance(sequence, (np.ndarray, list, tuple, range, str)):
                return sequence
            raise NotDifferentiableError(
                f"The items of a {type(sequence).__name__} cannot be differentiated",
                place=place,
                fixes=("make a list of them first",),
                read="limitations#iteration",
            )

        return iterate

    def function_maker(self, op: ir.MakeFunction) -> Callable[..., Any]:
        code, namespace, names = op.code, self.namespace, [name for name, _ in op.keyword_defaults]

        def make_function(
            captured: list[Any], defaults: list[Any], keyword_defaults: dict[str, Any]
        ) -> types.FunctionType:
            cells = tuple(types.CellType() if x is ir.UNBOUND else types.CellType(x) for x in captured)
            made = types.FunctionType(code, namespace, code.co_name, tuple(defaults) or None, cells)
            made.__kwdefaults__ = keyword_defaults if names else None
            for cell, x in zip(cells, captured, strict=True):
                if x is ir.UNBOUND:  # the function's own name
                    cell.cell_contents = made
            return made

        return make_function


def _operator_finder(pullbacks: Pullbacks, target: Any, active: tuple[bool, ...], place: Place) -> Handler:
    known: dict[Any, Handler] = {}
    registry = pullbacks.cache.registry
    epoch = -1

    def find(*args: Any) -> Handler:
        nonlocal epoch
        if epoch == registry.epoch:
            handler = known.get(tuple(map(type, args)))
            if handler is not None:
                return handler
        else:
            known.clear()
        asked_at = (
            registry.epoch
        )  # before asking: a rule that another thread defines meanwhile makes the answer old
        handler = pullbacks.find_target(target, args, {}, active, place)
        entry = registry.entry(target)
        if (
            entry is not None
            and not entry.user
            and not registry.is_hidden(target)
            and pullbacks.cache.mode == "auto"
        ):
            epoch = asked_at
            if target in specialise.OF_REALS and all(type(x) is float or type(x) is np.float64 for x in args):
                handler = specialise.OF_REALS[target]
            known[tuple(map(type, args))] = handler
        return handler

    return find


def _call_finder(pullbacks: Pullbacks, active: tuple[bool, ...], place: Place) -> Handler:
    known: dict[Any, tuple[Any, Handler]] = {}
    cache, registry = pullbacks.cache, pullbacks.cache.registry
    epoch = -1

    def find(g: Any, *args: Any, **kwargs: Any) -> Handler:
        nonlocal epoch
        if not kwargs and epoch == registry.epoch:
            asked = known.get((id(g), *map(type, args)))
            if asked is not None and asked[0] is g:
                return asked[1]
        elif epoch != registry.epoch:
            known.clear()
        if not kwargs and type(g) is types.FunctionType:
            entry = pullbacks.entries.find(g, args, active[1:])
            return entry.forward if entry is not None else pullbacks.find(g, args, kwargs, active, place)
        asked_at = registry.epoch
        handler = pullbacks.find(g, args, kwargs, active, place)
        if not kwargs and isinstance(g, (np.ufunc, types.BuiltinFunctionType)) and cache.mode == "auto":
            entry = registry.entry(g)
            if entry is not None and not entry.user and not registry.is_hidden(g) and len(known) < 64:
                epoch = asked_at
                known[(id(g), *map(type, args))] = (g, handler)
        return handler

    return find


def _method_finder(pullbacks: Pullbacks, name: str, active: tuple[bool, ...], place: Place) -> Handler:
    """`x.name(...)`: the object is the first argument, so its cotangent is that of an argument."""

    def find(owner: Any, *args: Any, **kwargs: Any) -> Handler:
        method = getattr(owner, name)  # a static method is no method of its object
        if not isinstance(owner, (types.ModuleType, type)) and getattr(method, "__self__", None) is owner:
            found = getattr(method, "__func__", None) or getattr(type(owner), name, None)
            if isinstance(found, (types.FunctionType, types.MethodDescriptorType)):
                return pullbacks.find_target(found, (owner, *args), kwargs, (False, *active), place)
        return _without_owner(pullbacks.find(method, args, kwargs, active, place))

    return find


def _attribute_finder(pullbacks: Pullbacks, name: str, place: Place) -> Handler:
    """`x.name`: by the rule of its descriptor for arrays; of an object, its field."""

    def find(owner: Any) -> Handler:
        kind = type(owner)
        found = getattr(kind, name, None)
        if (
            isinstance(found, types.GetSetDescriptorType)
            and pullbacks.cache.registry.entry(found) is not None
        ):
            answer = pullbacks.cache.ask(found, types_of((owner,)))
            if isinstance(answer, Found):
                return (
                    _constant(functools.partial(_attribute_of, name))
                    if not answer.rule.differentiable
                    else answer.rule.function
                )
        if isinstance(owner, (types.ModuleType, type)):
            return _constant(functools.partial(_attribute_of, name))
        if name in ("real", "imag") and is_number(owner):
            return _real_part if name == "real" else _imaginary_part
        if found is not None and callable(found) and name not in getattr(owner, "__dict__", ()):
            return lambda x: (getattr(x, name), lambda y_bar: (NO, y_bar))
        if isinstance(owner, (np.ndarray, np.generic)) or is_number(owner):
            raise NotDifferentiableError(
                f"There is no rule for the attribute {name} of {describe(owner)}",
                place=place,
                read="limitations#attributes",
            )
        if isinstance(found, property):
            raise NotDifferentiableError(
                f"The property {name} of a {kind.__name__} is not differentiated through",
                place=place,
                fixes=("call a function instead",),
                read="limitations#attributes",
            )
        return lambda x: (getattr(x, name), lambda y_bar: (NO, Tangent.at(x, name, y_bar)))

    return find


def _attribute_of(name: str, owner: Any) -> Any:
    return getattr(owner, name)


def _refuse_set(place: Place) -> Handler:
    def find(*items: Any) -> Handler:
        raise NotDifferentiableError(
            "The items of a set cannot be differentiated: equal ones are one",
            place=place,
            fixes=("make a list of them",),
            read="limitations#iteration",
        )

    return find


def _augmented_finder(
    pullbacks: Pullbacks, op: ir.Augmented, active: tuple[bool, ...], place: Place
) -> Handler:
    """`left op= right`: on an array of this function's own, the in-place operation on a copy; else a
    rebinding.
    """
    target = getattr(operator, op.operator)
    in_place = getattr(operator, _INPLACE[op.operator])
    rebinding = _operator_finder(pullbacks, target, (False, *active), place)

    def find(left: Any, right: Any) -> Handler:
        if any(active) and (type(left) is float or type(left) is np.float64):
            return rebinding(left, right)
        if isinstance(left, (list, dict, set, np.ndarray)) and not op.owned:
            called = (
                f"ndarray.__{_INPLACE[op.operator]}__"
                if isinstance(left, np.ndarray)
                else f"{type(left).__name__}.__{_INPLACE[op.operator]}__"
            )
            raise mutation(f"{called}({describe(left)})", place, isinstance(left, np.ndarray))
        if not isinstance(left, (list, dict, set, np.ndarray)) and hasattr(
            type(left), f"__{_INPLACE[op.operator]}__"
        ):
            raise mutation(
                f"{type(left).__name__}.__{_INPLACE[op.operator]}__", place, False
            )  # changes itself, or anything
        if isinstance(left, list) and op.operator == "add" and not isinstance(right, list) and any(active):
            raise NotDifferentiableError(
                f"There is no rule for list += {describe(right)}",
                place=place,
                read="limitations#operators",
                fixes=("make a list of what is added first: l += list(...)",),
            )
        if not any(active):
            plain = (
                (lambda a, b: in_place(a.copy(), b))
                if isinstance(left, (np.ndarray, list, dict, set))
                else target
            )
            return lambda a, b: (plain(a, b), NO.__getitem__)
        handler = pullbacks.find_target(target, (left, right), {}, (False, *active), place)
        if not isinstance(left, np.ndarray):
            return handler

        def updated(left: Any, right: Any) -> Any:
            _, back = handler(left, right)
            return in_place(left.copy(), right), back

        return updated

    return find


def mutation(called: str, place: Place | None, of_array: bool = True) -> MutationError:
    """The refusal of a write, worded after the call that would have made it."""
    what = "Mutating arrays" if of_array else "Changing an object that others may hold"
    fixes = ["write it without mutation"]
    if place is not None and place.function and place.function != "<lambda>":
        fixes.append(f"write a rule for {place.function} (%rule_stub {place.function})")
    return MutationError(
        f"{what} is not supported -- called {called}",
        place=place,
        fixes=tuple(fixes),
        read="limitations#array-mutation",
        chain=calls_leading_here()[:-1],
    )


def _is_something(bar: Any) -> bool:
    bar = support.value(bar)
    if bar is NO or bar is ZERO:
        return False
    return not (isinstance(bar, (int, float, complex, np.ndarray, np.generic)) and not np.any(bar))


def _with_self(y: Any, pullback: Any) -> Any:
    return y, lambda y_bar: (NO, pullback(y_bar))


def _real_part(x: Any) -> Any:
    return x.real, lambda y_bar: (NO, support.real(y_bar))


def _imaginary_part(x: Any) -> Any:
    return x.imag, lambda y_bar: (
        NO,
        1j * support.real(y_bar) if isinstance(x, (complex, np.complexfloating)) else ZERO,
    )


def _constant(target: Any) -> Handler:
    """The handler of a call without derivative: every cotangent is NoTangent."""
    return lambda *args, **kwargs: (target(*args, **kwargs), _no_cotangents)


def _no_cotangents(y_bar: Any) -> Any:
    return NO  # each of its entries is itself


def _binding(inner: Handler, bound: tuple[Any, ...]) -> Handler:
    """A handler that brings the object of a bound method along; its cotangent is that of the function."""

    def call_bound(*args: Any, **kwargs: Any) -> Any:
        y, pullback = inner(*bound, *args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (got[len(bound)], *tuple(got)[1 + len(bound) :])

        return y, back

    return call_bound


def _without_owner(inner: Handler) -> Handler:
    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        y, pullback = inner(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (NO, *got)

        return y, back

    return call


def _parameter_names(function: Any) -> tuple[str, ...] | None:
    """The parameter names of a rule function; None if it takes any keyword or has no Python code."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & 0x08:
        return None
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _positional_parameters(function: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of the positional parameters of a rule function, in order, and the defaults among them."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return (), {}
    names, defaults = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return names, dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))


def bind(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], list[int]]:
    """The value of every parameter in the order of the code object, and which of them each argument
    became.
    """
    __tracebackhide__ = True
    code = function.__code__
    if code.co_flags & 0x0C:
        raise find_star_refusal(function)
    positional, keyword_only = Binder.of(function).bind(args, kwargs)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = (*positional, *(keyword_only[name] for name in names[code.co_argcount :]))
    return values, [*range(len(args)), *(names.index(name) for name in kwargs)]


def _active_defaults(
    function: types.FunctionType, values: tuple[Any, ...], where: list[int]
) -> dict[int, str]:
    """The parameters that a nested function fills in with values it was made with, which may be active:
    slot to name.
    """
    if not function.__code__.co_flags & inspect.CO_NESTED:
        return {}
    names = function.__code__.co_varnames
    return {slot: names[slot] for slot, x in enumerate(values) if slot not in where and carries(x)}


def find_star_refusal(function: types.FunctionType) -> RuleLabError:
    from .fence import refusal

    source = find_source(function.__code__)
    return refusal(
        source, source.node.args.vararg or source.node.args.kwarg or source.node, "* and ** parameters"
    )


def is_library(function: types.FunctionType) -> bool:
    """Whether a Python function belongs to NumPy, SciPy, the standard library or this package."""
    top = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if top == "rulelab":
        return function.__code__.co_filename.startswith(_PACKAGE)  # its examples are an author's functions
    return top in ("numpy", "scipy") or (top in sys.stdlib_module_names and top != "__main__")


_PACKAGE = str(Path(__file__).parent.parent)


def _own_signature(function: types.FunctionType, content: Any) -> Any:
    return "own" if content is function else signature_of(content)


_NO_SAMPLE = object()


def _sample(kind: Any, atom: ir.Atom) -> Any:
    """A value of a type, for asking which rule such values have."""
    if isinstance(atom, ir.Const):
        return atom.value
    if isinstance(kind, Array):
        return np.empty((1,) * kind.ndim, kind.dtype)
    if is_real(kind):
        return {"f8": np.float64(0.0), "int": 0}.get(kind.name, 0.0)
    if kind == LIST:
        return []
    if isinstance(kind, Tuple):
        return ()
    if kind.name in ("bool", "str", "slice", "none") if not isinstance(kind, Known) else False:
        return {"bool": True, "str": "", "slice": slice(None), "none": None}[kind.name]
    return _NO_SAMPLE


# --- a new pass ---------------------------------------------------------------------------------------------

# Not list, tuple and sorted: the rows that they take from an array are views.
_READ_ONLY: frozenset[Any] = frozenset(
    {
        len,
        sum,
        max,
        min,
        abs,
        print,
        float,
        np.sum,
        np.mean,
        np.prod,
        np.max,
        np.min,
        np.std,
        np.var,
        np.dot,
        np.array,
        np.stack,
        np.concatenate,
        np.vstack,
        np.hstack,
        np.linalg.norm,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.outer,
        np.trace,
        np.cumsum,
    }
)
_FRESH: frozenset[Any] = frozenset(
    {
        list,
        np.zeros,
        np.ones,
        np.empty,
        np.full,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.full_like,
        np.array,
        np.arange,
        np.linspace,
        np.copy,
        np.dot,
        np.concatenate,
        np.stack,
        np.outer,
        np.eye,
        np.sum,
        np.mean,
        np.prod,
        np.cumsum,
        float,
        int,
    }
)


def _in(value: Any, known: frozenset[Any]) -> bool:
    try:
        return isinstance(value, np.ufunc) or (value is not ir.UNBOUND and value in known)
    except TypeError:  # not hashable, so none of these
        return False


def compile_pass(
    pullbacks: Pullbacks,
    function: types.FunctionType,
    signature: tuple[Any, ...],
    flags: tuple[bool, ...],
    free: tuple[Any, ...],
    captured: bool,
    differentiate: bool,
) -> Pass:
    """Source, fence, lower, types, activity, adjoint, tidy, emit."""
    namespace, code = function.__globals__, function.__code__
    epoch = pullbacks.cache.registry.epoch
    looked_up: dict[str, Any] = {}

    def find_global(name: str) -> Any:
        import builtins

        value = namespace[name] if name in namespace else vars(builtins).get(name, ir.UNBOUND)
        looked_up[name] = value
        return value

    source = find_source(code)
    lowered = lower(
        source, code, Surroundings(find_global, lambda v: _in(v, _READ_ONLY), lambda v: _in(v, _FRESH))
    )
    prune(lowered)
    given = {name: type_of_signature(part) for name, part in zip(lowered.parameters, signature, strict=True)}
    given |= {
        name: type_of_signature(part) if part != "own" else type_of_signature(types.FunctionType)
        for name, part in zip(lowered.free, free, strict=True)
    }
    kinds = Types(lowered, given, find_global)
    sites = Sites(pullbacks, source, kinds, namespace)
    start = {name for name, on in zip(lowered.parameters, flags, strict=True) if on}
    start |= set(lowered.free) if captured else set()
    active = Activity(lowered, kinds, start, sites.is_constant, differentiate)
    for reading in readings(lowered, active.varied, kinds, sites.is_declared_constant):
        raise NotDifferentiableError(
            "A number that varies is written as text and handed on, perhaps to be read as a number again",
            place=sites.place(reading.position),
            fixes=("pass the number itself", "rl.ignore_derivatives around it"),
            read="limitations#text",
        )
    parameters = [*lowered.free, *lowered.parameters]
    emitted = adjoint(lowered, kinds, active, parameters, sites, differentiate)
    own = [name for name, part in zip(lowered.free, free, strict=True) if part == "own"]
    made = emit(emitted, lowered.free, own, source.filename, source.node.lineno, namespace)
    return Pass(
        code.co_name,
        made.forward,
        namespace,
        _guard(looked_up, lowered, kinds),
        tuple(sites.trail.values()),
        epoch,
        made.text,
        bool(lowered.free),
        signature,
    )


def _guard(looked_up: dict[str, Any], lowered: ir.Function, kinds: Types) -> Callable[[dict[str, Any]], bool]:
    """What the pass took for granted about names outside of the function."""
    from .types import type_of

    names: dict[str, tuple[str, Any]] = {}
    for name, value in looked_up.items():
        kind = type_of(value) if value is not ir.UNBOUND else None
        if isinstance(kind, Known):
            names[name] = ("is", value)
        elif kind is not None and kind not in (ANY, FUNCTION):
            names[name] = ("like", signature_of(value))
    for name, value in lowered.assumed.items():
        names[name] = ("is", value)
    attributes = []
    for statement in ir.walk(lowered.body):
        if isinstance(statement, ir.Let):
            op = statement.op
            owner, attribute = (
                (op.value, op.name)
                if isinstance(op, ir.Attribute)
                else ((op.function, op.method) if isinstance(op, ir.Call) else (None, None))
            )
            if owner is not None and attribute is not None:
                kind = kinds(owner)
                if isinstance(kind, Known) and hasattr(kind.value, attribute):
                    attributes.append((kind.value, attribute, getattr(kind.value, attribute)))
    return guard_of(names, attributes)
