"""The functions that authors of rules call: to state a rule, to remove it, and to ask which one applies."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from contextlib import ContextDecorator
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple, overload

from ..errors import Place, RuleLabError, RuleRegistrationError, an
from ..tangents.zeros import NoTangent
from .binding import Binder, FunctionBinder
from .calling import apply_frule, apply_rrule
from .capabilities import RuleConfig, capabilities
from .constant import constant_frule, constant_rrule
from .registry import DEFAULT, Found, OptedOut, Registry
from .rule import OptOut, Rule
from .scalar import arity_of, scalar_frule, scalar_rrule
from .signatures import ANY, Accepts, ArrayAtom, ArrayType, accepts_from, accepts_of, types_of
from .targets import name_of, resolve

Stated = TypeVar("Stated", bound=Callable[..., Any])
Inputs = TypeVarTuple("Inputs")
Out = TypeVar("Out")

_MODES = ("rrule", "frule")


def rrule_for(
    f: Callable[..., Any], *, registry: Registry = DEFAULT, requires: Any = None
) -> Callable[[Stated], Stated]:
    """Return a decorator that makes a function the reverse rule of `f`.

    The rule takes the arguments of `f` (its annotations say which types it accepts) and returns `(y,
    pullback)`. The pullback takes ȳ and returns a tuple of cotangents: that of `f` itself (`NoTangent()` for
    a plain function), then one for each positional argument.

    Parameters
    ----------
    f : callable
        The function that gets the rule.
    registry : Registry
        Where the rule is kept; it applies to lookups in that registry.
    requires : str or set of str, optional
        What the calling AD must be able to do, such as {"reverse"}; the rule then takes a `RuleConfig`
        first.

    Returns
    -------
    callable
        A decorator, which returns the rule unchanged.

    Raises
    ------
    RuleRegistrationError
        If `f` cannot carry a rule.

    Examples
    --------
    >>> from rulelab.rules.registry import Registry
    >>> from rulelab.tangents.zeros import NoTangent
    >>> r = Registry()
    >>> def square(x): return x * x
    >>> @rrule_for(square, registry=r)
    ... def square_rrule(x):
    ...     def square_pullback(y_bar):
    ...         return NoTangent(), 2 * x * y_bar
    ...     return x * x, square_pullback
    >>> y, back = rrule(square, 3.0, registry=r)
    >>> y, back(1.0)
    (9.0, (NoTangent(), 6.0))
    """
    return _decorator(f, "rrule", registry, requires)


def frule_for(
    f: Callable[..., Any], *, registry: Registry = DEFAULT, requires: Any = None
) -> Callable[[Stated], Stated]:
    """Return a decorator that makes a function the forward rule of `f`.

    The rule takes the tuple of tangents (that of `f` itself first, then one for each positional argument),
    then the arguments, and returns `(y, y_dot)`: the value and its tangent.

    Parameters
    ----------
    f : callable
        The function that gets the rule.
    registry : Registry
        Where the rule is kept; it applies to lookups in that registry.
    requires : str or set of str, optional
        What the calling AD must be able to do, such as {"forwards"}; the rule then takes a `RuleConfig`
        first.

    Returns
    -------
    callable
        A decorator, which returns the rule unchanged.

    Raises
    ------
    RuleRegistrationError
        If `f` cannot carry a rule.

    Examples
    --------
    >>> from rulelab.rules.registry import Registry
    >>> from rulelab.tangents.zeros import NoTangent
    >>> r = Registry()
    >>> def square(x): return x * x
    >>> @frule_for(square, registry=r)
    ... def square_frule(tangents, x):
    ...     _, x_dot = tangents
    ...     return x * x, 2 * x * x_dot
    >>> frule((NoTangent(), 1.0), square, 3.0, registry=r)
    (9.0, 6.0)
    """
    return _decorator(f, "frule", registry, requires)


def _decorator(f, mode, registry, requires):
    target = target_for_rule(f)

    def stated(function):
        registry.register(make_rule(target, mode, function, requires), target)
        return function

    return stated


def make_rule(target, mode, function, requires=None):
    """Return the Rule that a user's function states for a target, without registering it."""
    _check_rule_function(target, function)
    needed = capabilities(requires)
    leading = ["the config"] * bool(needed) + ["the tangents"] * (mode == "frule")
    accepts = accepts_of(function, len(leading))
    _check_parameters(target, function, accepts, leading)
    return Rule(
        name_of(target),
        mode,
        function,
        accepts,
        Place.of_function(function),
        requires=needed,
        keyword_only=FunctionBinder(function).keyword_only,
        takes_keywords=bool(function.__code__.co_flags & 0x08),
    )


def _check_rule_function(target, function):
    if type(function) is not types.FunctionType:
        raise RuleRegistrationError(
            f"a rule for {name_of(target)} must be a Python function, not {an(type(function).__name__)}"
        )
    if function.__code__.co_flags & 0x2A0:  # generator, coroutine, asynchronous generator
        raise RuleRegistrationError(
            f"a rule for {name_of(target)} must return its result, but {function.__name__} yields or awaits",
            place=Place.of_function(function),
        )


def _check_parameters(target, function, accepts, leading):
    """Raise RuleRegistrationError for a rule that could never be called, now rather than at the first
    gradient. `leading` names what it is given before the arguments of the target.
    """
    skip = len(leading)
    if function.__code__.co_argcount < skip and accepts.rest is None:
        raise RuleRegistrationError(
            f"{function.__name__} must take {' and then '.join(leading)} before the arguments of "
            f"{name_of(target)}",
            place=Place.of_function(function),
        )
    binder = Binder.of(target)
    if not isinstance(binder, FunctionBinder) or binder.target.__code__.co_flags & 0x04:
        return
    count = binder.target.__code__.co_argcount - binder.hidden
    most = len(accepts.parameters)
    least = most - len(function.__defaults__ or ())
    if count < least or (count > most and accepts.rest is None):
        names = ", ".join(binder.names(count)) or "no arguments"
        after = ("", " after the first", " after the first two")[skip]
        raise RuleRegistrationError(
            f"{function.__name__} takes {_counted(most, 'argument')}{after}, "
            f"but {name_of(target)} has {_counted(count, 'positional one')}: {names}",
            place=Place.of_function(function),
            fixes=("give the rule the same positional parameters, those with defaults included",),
        )


def _counted(number, what):
    return f"{number} {what}" + ("s" if number != 1 else "")


def check_mode(mode):
    """Raise RuleRegistrationError for a mode that does not exist."""
    if mode not in _MODES:
        raise RuleRegistrationError(f"mode must be {' or '.join(map(repr, _MODES))}, not {mode!r}")


def _need_callable(f):
    if not callable(f):
        raise RuleRegistrationError(f"a rule must be for a callable, not for {an(type(f).__name__)}")


def target_for_rule(f):
    """Return the object that a rule for `f` is registered for; RuleRegistrationError, with the reason, if
    none may be.
    """
    _need_callable(f)
    if isinstance(f, functools.partial):
        raise RuleRegistrationError(
            f"{name_of(f.func)} with bound arguments is a new object each time: a rule for it is never found",
            fixes=(f"write the rule for {name_of(f.func)}",),
        )
    target, _ = resolve(f)
    if _catches_everything(target):
        raise RuleRegistrationError(
            f"a rule on {name_of(target)} would apply to every constructor or object there is",
            fixes=("name the class whose constructor you mean", "name its method, such as Bar.__call__"),
        )
    return target


def _catches_everything(target):
    if isinstance(target, type):
        return target is object or issubclass(target, type)
    owner = getattr(target, "__objclass__", None) or getattr(target, "__self__", None)
    return owner in (object, type) if isinstance(owner, type) else False


def rrule(
    f: Callable[..., Any],
    *args: Any,
    config: RuleConfig | None = None,
    registry: Registry = DEFAULT,
    **kwargs: Any,
) -> Any:
    """Return `(y, pullback)` by the rule for `f` and these arguments, or None if no rule applies.

    Only the rule is called: nothing is compiled, and no other rule is tried.

    Parameters
    ----------
    f : callable
        The function.
    *args
        Its positional arguments.
    config : RuleConfig, optional
        What the calling AD can do, for rules that require something of it.
    registry : Registry
        Where to look for rules.
    **kwargs
        Its keyword arguments.

    Returns
    -------
    tuple or None
        The value, and the pullback, which returns a tuple: the cotangent of `f` itself (of the object, for a
        bound method or a callable object), then one for each positional argument, including defaults for a
        user's rule.

    Raises
    ------
    AmbiguousRuleError
        If two rules fit equally well.
    RuleError
        If the rule does not return such a pair.

    Examples
    --------
    >>> import rulelab as rl
    >>> y, pullback = rl.rrule(pow, 3.0, 2)
    >>> y, pullback(1.0)[1]
    (9.0, 6.0)
    >>> rl.rrule(open, "data.txt") is None
    True
    """
    target, bound = resolve(f)
    args = (*bound, *args)
    answer = ask(target, args, kwargs, "rrule", config, registry)
    if not isinstance(answer, Found):
        return None
    found = apply_rrule(answer.rule, target, args, kwargs, config)
    return found if not bound else (found[0], _of_bound(found[1], len(bound)))


def frule(
    tangents: tuple[Any, ...],
    f: Callable[..., Any],
    *args: Any,
    config: RuleConfig | None = None,
    registry: Registry = DEFAULT,
    **kwargs: Any,
) -> Any:
    """Return `(y, y_dot)` by the forward rule for `f`, or None if no rule applies.

    Parameters
    ----------
    tangents : tuple
        First the tangent of `f` itself, `NoTangent()` for a plain function, then one for each positional
        argument.
    f : callable
        The function.
    *args
        Its positional arguments.
    config : RuleConfig, optional
        What the calling AD can do, for rules that require something of it.
    registry : Registry
        Where to look for rules.
    **kwargs
        Its keyword arguments.

    Returns
    -------
    tuple or None
        The value and its tangent.

    Raises
    ------
    AmbiguousRuleError
        If two rules fit equally well.
    RuleError
        If the rule does not return such a pair.

    Examples
    --------
    >>> import math
    >>> import rulelab as rl
    >>> rl.frule((rl.NoTangent(), 2.0), math.exp, 0.0)
    (1.0, 2.0)
    """
    target, bound = resolve(f)
    if bound:  # the object varies; the function in its class is a constant
        tangents = (*[NoTangent()] * len(bound), *tangents)
    args = (*bound, *args)
    answer = ask(target, args, kwargs, "frule", config, registry)
    if not isinstance(answer, Found):
        return None
    return apply_frule(answer.rule, target, tuple(tangents), args, kwargs, config)


def _of_bound(pullback, count):
    def bound_pullback(y_bar):
        return pullback(y_bar)[count:]

    bound_pullback.__name__ = pullback.__name__
    bound_pullback.__wrapped__ = pullback  # type: ignore[attr-defined]  # functions accept any attribute
    return bound_pullback


def ask(target, args, kwargs, mode="rrule", config=None, registry=DEFAULT):
    """Return the registry's answer for a call of a target: Found, NoRule or OptedOut."""
    entry = registry.entry(target)
    if entry is None:
        return registry.ask(target, (), mode, config)
    positional = args
    if kwargs or entry.user:
        try:
            positional, _ = Binder.of(target).bind(args, kwargs)
        except TypeError:  # the call itself is wrong, and will raise its own error
            positional = args
    return registry.ask(target, types_of(positional), mode, config)


@overload
def scalar_rule(
    f: Callable[[*Inputs], Out], partials: Callable[[Out, *Inputs], Any], *, registry: Registry = ...
) -> None: ...
@overload
def scalar_rule(f: Callable[..., Any], partials: Callable[..., Any], *, registry: Registry = ...) -> None: ...
def scalar_rule(f: Callable[..., Any], partials: Callable[..., Any], *, registry: Registry = DEFAULT) -> None:
    """State both rules of an elementwise function by its partial derivatives.

    The partials are conjugated in reverse mode, broadcasting is undone, and real arguments get real
    cotangents.

    Parameters
    ----------
    f : callable
        The function. It may not be a closure, a method or a callable object, whose own parts would need
        cotangents.
    partials : callable
        `lambda out, *xs:` that returns one partial derivative for each argument or, if `f` returns a tuple,
        a tuple of them for each output.
    registry : Registry
        Where the rules are kept.

    Returns
    -------
    None

    Raises
    ------
    RuleRegistrationError
        If `f` cannot carry such a rule.

    Examples
    --------
    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> def cube(x): return x**3
    >>> scalar_rule(cube, lambda out, x: 3 * x**2, registry=r)
    >>> rrule(cube, 2.0, registry=r)[1](1.0)
    (NoTangent(), 12.0)
    """
    target = _plain_target(f)
    name, place = name_of(target), Place.of_function(partials)
    accepts = accepts_of(partials, skip=1)
    rules = [
        Rule(
            name,
            mode,
            make(target, name, partials),
            accepts,
            place,
            partials=partials,
            leading=arity_of(partials),
            takes_keywords=True,
        )
        for mode, make in (("rrule", scalar_rrule), ("frule", scalar_frule))
    ]
    registry.register_all(rules, target)


def _plain_target(f):
    target, bound = target_for_rule(f), resolve(f)[1]
    closure = getattr(f, "__closure__", None)
    if closure or bound:
        why = f"it closes over {', '.join(f.__code__.co_freevars)}" if closure else "it belongs to an object"
        raise RuleRegistrationError(
            f"scalar_rule cannot be used on {name_of(target)}: {why}, which would need its own cotangent",
            fixes=(
                "pass what it closes over as an argument",
                f"write a full rule: @rl.rrule_for({name_of(target)})",
            ),
        )
    return target


def non_differentiable(f: Callable[..., Any], types: Any = None, *, registry: Registry = DEFAULT) -> None:
    """State that `f` has no derivative: its result counts as a constant, whatever its arguments are.

    Parameters
    ----------
    f : callable
        The function.
    types : type or tuple of types, optional
        If given, this holds for arguments of these types only.
    registry : Registry
        Where it is stated.

    Returns
    -------
    None

    Raises
    ------
    RuleRegistrationError
        If `f` cannot carry a rule.

    Examples
    --------
    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> def nearest(x): return float(int(x + 0.5))
    >>> non_differentiable(nearest, registry=r)
    >>> y, pullback = rrule(nearest, 2.7, registry=r)
    >>> y, pullback(1.0)
    (3.0, (NoTangent(), NoTangent()))
    """
    target = target_for_rule(f)
    accepts = Accepts((), ANY) if types is None else accepts_from(types)
    place, name = Place.of_frame(sys._getframe(1)), name_of(target)
    rules = [
        Rule(name, mode, make(target, name), accepts, place, differentiable=False, takes_keywords=True)
        for mode, make in (("rrule", constant_rrule), ("frule", constant_frule))
    ]
    registry.register_all(rules, target)


def opt_out(
    f: Callable[..., Any], *types: Any, mode: str | None = None, registry: Registry = DEFAULT
) -> None:
    """State that rules of `f` do not apply to arguments of these types: the AD follows the code of `f`
    instead.

    Parameters
    ----------
    f : callable
        The function.
    *types : type
        The types of its arguments, from the first on. Without any, this covers every rule that exists now; a
        rule stated later applies again.
    mode : {"rrule", "frule"}, optional
        Which rules; both by default.
    registry : Registry
        Where the rules are.

    Returns
    -------
    None

    Raises
    ------
    RuleRegistrationError
        If `f` cannot carry a rule, or `mode` is neither of the two.

    Examples
    --------
    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> def cube(x): return x**3
    >>> scalar_rule(cube, lambda out, x: 3 * x**2, registry=r)
    >>> opt_out(cube, int, registry=r)
    >>> has_rrule(cube, 2.0, registry=r), has_rrule(cube, 2, registry=r)
    (True, False)
    """
    target = target_for_rule(f)
    if mode is not None:
        check_mode(mode)
    accepts = accepts_from(types) if types else Accepts((), ANY)
    modes = _MODES if mode is None else (mode,)
    place = Place.of_frame(sys._getframe(1))
    registry.opt_out(target, OptOut(name_of(target), accepts, modes, place, everything=not types))


def remove_rule(f: Callable[..., Any], *, registry: Registry = DEFAULT) -> Any:
    """Remove all your rules and opt-outs for `f`, so that the built-in ones apply again.

    Raises RuleRegistrationError if there were none.

    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> def cube(x): return x**3
    >>> scalar_rule(cube, lambda out, x: 3 * x**2, registry=r)
    >>> remove_rule(cube, registry=r)
    >>> has_rrule(cube, registry=r)
    False
    """
    target, _ = resolve(f)
    gone = registry.remove(target)
    if not gone:
        entry = registry.entry(target)
        built_in = entry is not None and entry.built_in
        raise RuleRegistrationError(
            f"{name_of(target)} has no rule of yours" + (", only the built-in ones" if built_in else ""),
            fixes=(f"use rl.opt_out({name_of(target)}) to disable the built-in rule",) if built_in else (),
        )


def undo_rule(f: Callable[..., Any], *, registry: Registry = DEFAULT) -> Any:
    """Restore your rules and opt-outs for `f` to what they were before the last change to them.

    A rule that was replaced or removed is restored, or the one stated last is removed. The returned `Undone`
    says which. In a notebook the last 16 changes for each function are remembered; elsewhere a replaced rule
    is forgotten, unless `registry.remembers` says how many changes to keep. Raises RuleRegistrationError if
    no change is remembered.

    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> r.remembers = 16
    >>> def cube(x): return x**3
    >>> scalar_rule(cube, lambda out, x: 3 * x**2, registry=r)
    >>> scalar_rule(cube, lambda out, x: 3 * x, registry=r)
    >>> rrule(cube, 2.0, registry=r)[1](1.0)[1]
    6.0
    >>> undone = undo_rule(cube, registry=r)
    >>> rrule(cube, 2.0, registry=r)[1](1.0)[1]
    12.0
    """
    target, _ = resolve(f)
    steps = registry.undo(target)
    if steps is None:
        raise RuleRegistrationError(
            f"no change to the rules for {name_of(target)} is remembered: there is nothing to undo",
            fixes=(
                *(() if registry.remembers else ("use %load_ext rulelab in a notebook",)),
                f"use rl.remove_rule({name_of(target)}) to remove all of yours",
            ),
        )
    before, after = steps
    gone = tuple([e for e in before if not any(e is other for other in after)])
    return Undone(name_of(target), gone, tuple([e for e in after if not any(e is other for other in before)]))


@dataclass(frozen=True)
class Undone:
    """What `undo_rule` did: the rules and opt-outs that are `gone`, and those that are `back`."""

    target_name: str
    gone: tuple
    back: tuple

    def __repr__(self):
        both = (("gone:", self.gone), ("back:", self.back))
        parts = [f"{word} {_all_of(found)}" for word, found in both if found]
        return f"{self.target_name}; {'; '.join(parts)}"


def _all_of(entries):
    """Describe each in one line; a scalar rule, which serves both modes, once."""
    said = {(e.place, str(e.accepts)): e.describe() for e in entries}
    return ", ".join(said.values())


class WithoutRule(ContextDecorator):
    """The return value of `without_rule(f)`: opens a block, or decorates a function so that each call is such
    a block. It is not `f` without its rule, although it reads like that.
    """

    def __init__(self, f: Callable[..., Any], registry: Registry) -> None:
        _need_callable(f)
        self.f, self.registry = f, registry
        self._block = registry.without(resolve(f)[0])

    def __enter__(self) -> None:
        self._block.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        return self._block.__exit__(*raised)

    def _recreate_cm(self) -> WithoutRule:
        return WithoutRule(self.f, self.registry)  # a separate block for each call of a decorated function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return super().__call__(args[0])
        raise self.not_called(f"a call of without_rule({name_of(resolve(self.f)[0])})")

    def not_called(self, asked: str) -> RuleLabError:
        """The error for an attempt to use it as a function."""
        name = name_of(resolve(self.f)[0])
        return RuleLabError(
            f"without_rule({name}) is for a `with` statement; it is not a function",
            asked=asked,
            fixes=(f"call it in the block: with rl.without_rule({name}): rl.gradient({name}, x)",),
        )


def without_rule(f: Callable[..., Any], *, registry: Registry = DEFAULT) -> Any:
    """Return a context manager for a block in which no rule of `f` is found, neither yours nor a built-in
    one.

    The AD follows the code of `f` instead. The rules apply again after the block, also after an error in it.
    The return value is not a function: call `f` in the block.

    >>> import math
    >>> with without_rule(math.exp):
    ...     has_rrule(math.exp, 1.0)
    False
    >>> has_rrule(math.exp, 1.0)
    True
    """
    return WithoutRule(f, registry)


def has_rrule(f: Callable[..., Any], *args: Any, registry: Registry = DEFAULT, **kwargs: Any) -> bool:
    """Whether a reverse rule applies to this call; without arguments, whether `f` has any.

    Parameters
    ----------
    f : callable
        The function.
    *args
        The positional arguments of the call.
    registry : Registry
        Where to look for rules.
    **kwargs
        The keyword arguments of the call.

    Returns
    -------
    bool
        Whether there is a rule. It is not called.

    Raises
    ------
    AmbiguousRuleError
        If two rules fit equally well.

    Examples
    --------
    >>> import math
    >>> has_rrule(math.exp, 1.0), has_rrule(math.exp), has_rrule(open)
    (True, True, False)
    """
    return which_rule(f, *args, registry=registry, **kwargs).found


def which_rule(
    f: Callable[..., Any], *args: Any, mode: str = "rrule", registry: Registry = DEFAULT, **kwargs: Any
) -> Any:
    """Return which rule applies to a call and where it was written, or why none does.

    Parameters
    ----------
    f : callable
        The function.
    *args
        The positional arguments of the call; without any, any rule of `f` counts.
    mode : {"rrule", "frule"}
        Which kind of rule to look for.
    registry : Registry
        Where to look for rules.
    **kwargs
        The keyword arguments of the call.

    Returns
    -------
    WhichRule
        An object that is true if a rule was found; its repr says in a sentence what was found.

    Raises
    ------
    AmbiguousRuleError
        If two rules fit equally well.
    RuleRegistrationError
        If `mode` is neither of the two.

    Examples
    --------
    >>> import math
    >>> answer = which_rule(math.exp, 1.0)
    >>> bool(answer), answer.mode
    (True, 'rrule')
    >>> which_rule(input, "a number: ")
    no rrule for input(str)
    """
    check_mode(mode)
    target, bound = resolve(f)
    entry = registry.entry(target)
    known = (
        tuple(r for r in (*entry.user, *entry.built_in) if isinstance(r, Rule) and r.mode == mode)
        if entry
        else ()
    )
    if registry.is_hidden(target):
        return WhichRule(name_of(target), mode, None, known, hidden=True)
    if not args and not kwargs and not bound:
        config = _EVERYTHING
        usable = [r for r in known if isinstance(registry.ask(target, _some_types(r), mode, config), Found)]
        others = [r for r in entry.user if isinstance(r, Rule) and r.mode != mode] if entry else []
        derived = others[0] if others and not any(not r.built_in for r in usable) else None
        found = usable[0] if usable and (derived is None or mode == "rrule") else None
        return WhichRule(name_of(target), mode, found, known, derived=None if found is not None else derived)
    args = (*bound, *args)
    answer = ask(target, args, kwargs, mode, _EVERYTHING, registry)
    shown = ", ".join(type(x).__name__ for x in args)
    if isinstance(answer, Found):
        rule = answer.rule
        # Forward mode tries an author's rule of either mode before a built-in one.
        turned = mode == "frule" and rule.built_in
        derived = _of_author(target, args, kwargs, "rrule", registry) if turned else None
        found = rule if derived is None else None
        return WhichRule(name_of(target), mode, found, known, shown, derived=derived)
    if isinstance(answer, OptedOut):
        derived = _of_author(target, args, kwargs, "rrule", registry) if mode == "frule" else None
        return WhichRule(name_of(target), mode, None, known, shown, opt_out=answer.opt_out, derived=derived)
    derived = _of_author(target, args, kwargs, _MODES[mode == "rrule"], registry)
    return WhichRule(name_of(target), mode, None, known, shown, derived=derived)


def _of_author(target, args, kwargs, mode, registry):
    """The author's rule in `mode` for a call, from which the other mode is derived; None if there is none."""
    answer = ask(target, args, kwargs, mode, _EVERYTHING, registry)
    return answer.rule if isinstance(answer, Found) and not answer.rule.built_in else None


@dataclass(frozen=True)
class WhichRule:
    """The answer of `which_rule`: `rule` or None, the rules that `f` has in this mode (`known`), and what
    keeps them from applying. `derived` is your rule of the other mode, from which the AD derives one for this
    mode if there is none.
    """

    target_name: str
    mode: str
    rule: Rule | None
    known: tuple = ()
    types: str | None = None
    opt_out: OptOut | None = None
    hidden: bool = False
    derived: Rule | None = None

    @property
    def found(self):
        """Whether a rule applies."""
        return self.rule is not None

    @property
    def place(self):
        """Where the rule was written."""
        return self.rule.place if self.rule is not None else None

    def __bool__(self):
        return self.found

    def __repr__(self):
        if self.rule is not None:
            return f"{'built-in ' if self.rule.built_in else ''}{self.mode} {self.rule.describe()}"
        call = f"{self.target_name}({self.types})" if self.types is not None else self.target_name
        if self.hidden:
            return f"the rules for {self.target_name} are disabled by without_rule"
        if self.derived is not None:
            other = self.derived
            return f"no {self.mode} for {call}; it is derived from the {other.mode} {other.describe()}"
        if self.opt_out is not None:
            return f"{call}: {self.opt_out.describe()}"
        near = f"; there is {'; '.join(r.describe() for r in self.known)}" if self.known else ""
        return f"no {self.mode} for {call}{near}"


def _some_types(rule):
    """Types that a rule accepts, used to test whether it is opted out of."""
    return tuple([_example(alternatives[0]) for alternatives in rule.accepts.parameters])


def _example(atom):
    return ArrayType(atom.cls, atom.scalar) if isinstance(atom, ArrayAtom) else atom.cls


class _Everything:
    """A config for questions about rules: it provides whatever a rule requires."""

    traits = frozenset({"everything"})

    @staticmethod
    def provides(requires):
        return True


_EVERYTHING = _Everything()
