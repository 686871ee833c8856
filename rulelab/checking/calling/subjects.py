"""The subject of a check: a function, and how its rule is called for a derivative."""

from __future__ import annotations

import dis
import functools
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...advice import to_state
from ...errors import Place, RuleError
from ...rules import authoring
from ...rules.binding import Binder
from ...rules.registry import DEFAULT, Found, OptedOut, Registry
from ...rules.rule import Rule
from ...rules.targets import name_of, resolve
from ...rules.twins import written
from ...tangents.holding import captured
from ...tangents.zeros import NoTangent
from ..measuring.measured_once import Jacobians
from ..measuring.shortening import shortened
from .endless_loops import value_if_it_ends

Reverse = Callable[..., tuple[Any, Callable[[Any], tuple]]]
Forward = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Written:
    """A function whose text computes cotangents, for subjects whose rule is not one of rulelab's.

    The cotangents are what the function returns (`depth` 0), what the function that it returns does (1), or
    what the second of its two results does (2). `positions` gives the position of each argument's cotangent
    among them. If one cotangent is returned `alone`, it is not unpacked.
    """

    function: Callable
    positions: tuple[tuple[str, int], ...]
    depth: int = 0
    alone: bool = False


@dataclass(frozen=True)
class Subject:
    """One function with one way to differentiate it.

    `primal(*inputs, **kwargs)` is the plain function; for a method or a callable object, the object is the
    first input. `reverse(*inputs, **kwargs)` returns `(y, back)`, and `back(y_bar)` one cotangent for each
    input; `forward(tangents, *inputs, **kwargs)` returns `(y, y_dot)`. Either is None if it is not judged.
    `codes` are those of the rule and of the function, whose lines the points of a check should reach;
    `helpers` are those of the functions that these call. `written` says where cotangents are computed, if the
    rule is not one of rulelab's. `jacobians` caches the Jacobians of `primal` measured in this check.
    """

    name: str
    primal: Callable[..., Any]
    reverse: Reverse | None = None
    forward: Forward | None = None
    names: tuple[str, ...] = ()
    rule: Rule | None = None
    place: Place | None = None
    codes: tuple[types.CodeType, ...] = ()
    by: str = "the rule"
    helpers: tuple[types.CodeType, ...] = ()
    written: tuple[Written, ...] = ()
    jacobians: Jacobians = field(default_factory=Jacobians, repr=False, compare=False)

    @property
    def mode(self) -> str:
        """The kind of rule that is judged: "rrule" or "frule"."""
        return "rrule" if self.reverse is not None else "frule"

    @property
    def authors(self) -> tuple[Callable[..., Any], ...]:
        """The functions that the author has written: the function, and the function that is the rule."""
        return (self.primal, author_of(self.rule)) if self.rule is not None else (self.primal,)

    @property
    def rule_codes(self) -> tuple[types.CodeType, ...]:
        """The code of the rule only, with the functions defined in it."""
        return codes_of(author_of(self.rule)) if self.rule is not None else ()

    def shown(self, inputs: Iterable[Any]) -> str:
        """Arguments in short form, by name."""
        return ", ".join(f"{name} = {shortened(x)}" for name, x in zip(self.names, inputs))

    @property
    def named(self) -> dict[str, float]:
        """The numbers that global or captured names stand for in what the author has written."""
        found: dict[str, Any] = {}
        for author in self.authors:
            space, held = getattr(author, "__globals__", {}), captured(author)
            names = (n for code in codes_of(author) for n in (*code.co_names, *code.co_freevars))
            known = ((name, held.get(name, space.get(name))) for name in names)
            found |= {name: x for name, x in known if type(x) in (int, float)}
        return found

    def is_raised_by_rule(self, error: BaseException) -> bool:
        """Whether an exception passed through the code of the rule, so that its author is to blame."""
        codes = frozenset(self.rule_codes)
        return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


class NoRuleError(RuleError):
    """A check was requested for a function that has no rule for these arguments."""


def subject_of(
    f: Any,
    args: tuple,
    kwargs: dict[str, Any],
    mode: str = "rrule",
    config: Any = None,
    registry: Registry = DEFAULT,
) -> tuple[Subject, tuple]:
    """The subject of a check of the rule of `f` for these arguments, and all its inputs.

    Raises NoRuleError if no rule applies: nothing else is used instead.
    """
    target, bound = resolve(f)
    whole = (*bound, *args)
    answer = authoring.ask(target, whole, kwargs, mode, config, registry)
    if not isinstance(answer, Found):
        raise _no_rule(f, whole, mode, isinstance(answer, OptedOut))
    rule = answer.rule
    inputs = whole
    if not rule.built_in:
        inputs, kwargs = Binder.of(target).bind(whole, kwargs)
    names = names_at(target, len(inputs))
    if not rule.differentiable:
        raise _no_derivative(target, rule)

    def reverse(*inputs: Any, **keywords: Any) -> tuple[Any, Callable]:
        ask = functools.partial(authoring.rrule, config=config, registry=registry)
        y, back = value_if_it_ends(target, lambda: ask(target, *inputs, **keywords))
        return y, _without_first(back)

    def forward(tangents: tuple, *inputs: Any, **keywords: Any) -> tuple[Any, Any]:
        dots = (NoTangent(), *tangents)
        ask = functools.partial(authoring.frule, config=config, registry=registry)
        return value_if_it_ends(target, lambda: ask(dots, target, *inputs, **keywords))

    return (
        Subject(
            name=name_of(target) if not bound else getattr(f, "__name__", name_of(target)),
            primal=target,
            reverse=reverse if mode == "rrule" else None,
            forward=forward if mode == "frule" else None,
            names=names,
            rule=rule,
            place=rule.place,
            codes=tuple(dict.fromkeys((*codes_of(author_of(rule)), *codes_of(target)))),
            by=getattr(rule.function, "__name__", "the rule") if rule.partials is None else "the scalar rule",
            helpers=helper_codes(author_of(rule), target),
        ),
        tuple(inputs),
    )


def rules_of(target: Any, registry: Registry = DEFAULT) -> list[Rule]:
    """The rules of a target for any arguments, the author's before the built-in ones."""
    entry = registry.entry(target)
    every = (*entry.user, *entry.built_in) if entry is not None else ()
    return [rule for rule in every if isinstance(rule, Rule)]


def require_rule(f: Any, mode: str, registry: Registry = DEFAULT) -> None:
    """Raise NoRuleError if a function has no differentiable rule of this mode for any arguments."""
    target = resolve(f)[0]
    rules = [rule for rule in rules_of(target, registry) if rule.mode == mode]
    if not rules:
        name = name_of(target)
        raise NoRuleError(
            f"{name} has no {mode}",
            asked=f"a check of the {mode} of {name}",
            fixes=(to_state(mode, name),),
        )
    if not any(rule.differentiable for rule in rules):
        raise _no_derivative(target, rules[0])


def _no_derivative(target: Any, rule: Rule) -> NoRuleError:
    return NoRuleError(
        f"{name_of(target)} is declared to have no derivative: there is nothing to compare with",
        place=None if rule.built_in else rule.place,
    )


def _without_first(back: Callable) -> Callable:
    """A pullback without the cotangent of the function itself: the captured values of a closure are constants
    here.
    """

    def cotangents(y_bar: Any) -> tuple:
        return tuple(back(y_bar))[1:]

    cotangents.__wrapped__ = back  # type: ignore[attr-defined]  # for `raw_pullback`
    return cotangents


def raw_pullback(back: Callable) -> Callable:
    """The pullback as its author wrote it, without the layers that check and convert its answers."""
    while (inner := getattr(back, "__wrapped__", None)) is not None:
        back = inner
    return back


def names_at(target: Any, count: int) -> tuple[str, ...]:
    """The names of the first `count` arguments of a function: `xs[0]`, `xs[1]` for those in `*xs`."""
    names = tuple(Binder.of(target).names(count))
    return names + tuple(f"argument {i + 1}" for i in range(len(names), count))


def _no_rule(f: Any, args: tuple, mode: str, opted_out: bool) -> NoRuleError:
    name = name_of(resolve(f)[0])
    kinds = ", ".join(type(x).__name__ for x in args)
    said = f"is opted out of its {mode}s" if opted_out else f"has no {mode} for these arguments ({kinds})"
    return NoRuleError(
        f"{name} {said}",
        asked=f"a check of the {mode} of {name}",
        fixes=(to_state(mode, name), f"see which rule is used: rl.which_rule({name}, …)"),
    )


def author_of(rule: Rule) -> Callable:
    """The function that the author of a rule wrote; for a scalar rule, the function of the partials."""
    return rule.function if rule.partials is None else rule.partials


def authors_of(target: Any, registry: Registry = DEFAULT, mode: str | None = None) -> list[Callable]:
    """The functions that the authors of a target's rules wrote, without built-in rules; only those of one
    mode if it is given.
    """
    rules = (rule for rule in rules_of(target, registry) if not rule.built_in)
    return [author_of(rule) for rule in rules if mode is None or rule.mode == mode]


def codes_of(function: Any) -> tuple[types.CodeType, ...]:
    """The code of a Python function and of the functions defined inside it; for a twin, that of the function
    it copies. Empty for anything else.
    """
    code = getattr(written(function), "__code__", None)
    return tuple(with_inner(code)) if isinstance(code, types.CodeType) else ()


def has_loop(code: types.CodeType) -> bool:
    """Whether some code jumps backwards."""
    return any("JUMP_BACKWARD" in op.opname for op in dis.get_instructions(code))


def makes_functions(code: types.CodeType, returned: set[str]) -> bool:
    """Whether some code makes functions other than those whose names are in `returned`.

    >>> def f(x):
    ...     def pullback(y_bar):
    ...         return sorted(y_bar, key=lambda y: -y)
    ...     return x, pullback
    >>> [makes_functions(code, {"pullback"}) for code in codes_of(f)]
    [False, True, False]
    """
    made = {each.co_name for each in code.co_consts if isinstance(each, types.CodeType)}
    return any(name == "<lambda>" or not name.startswith("<") for name in made - returned)


MOST_HELPERS = 20


def helper_codes(*functions: Any) -> tuple[types.CodeType, ...]:
    """The code of the helpers of these functions (`helpers_of`)."""
    return tuple(code for f in helpers_of(*functions) for code in codes_of(f))


def helpers_of(*functions: Any) -> tuple[types.FunctionType, ...]:
    """The plain functions of the same module that these call by name or have captured, and those that they
    call in turn.
    """
    functions = tuple(map(written, functions))
    waiting, found = list(functions), dict.fromkeys(functions)
    while waiting and len(found) < MOST_HELPERS:
        function = waiting.pop()
        if not isinstance(function, types.FunctionType):
            continue
        space = function.__globals__
        called = [space.get(name) for code in codes_of(function) for name in code.co_names]
        called += captured(function).values()
        for other in called:
            if isinstance(other, types.FunctionType) and other.__globals__ is space and other not in found:
                found[other] = None
                waiting.append(other)
    return tuple(f for f in found if f not in functions)


def with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    """Some code, and that of the functions defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from with_inner(constant)
