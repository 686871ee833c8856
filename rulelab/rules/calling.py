"""Apply one rule to one call, and check what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import KeywordError, Place, RuleCountError, RuleDtypeError, RuleError, RuleShapeError, an
from ..own_code import carries_values
from ..tangents.algebra import is_number
from ..tangents.missing import NotImplementedTangent
from ..tangents.projection import dense, project, zeros_like
from ..tangents.structural import Tangent, entries_of
from ..tangents.thunks import Thunk, unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .binding import Binder
from .lent import DEBUGGING, ForwardWatch, Watch, check_precision, watched_cotangents
from .scalar import check_call

carries_values(__name__)


def apply_rrule(rule, target, args, kwargs, config=None):
    """Return `(y, pullback)` by an rrule.

    The pullback takes any cotangent of `y` and returns a tuple: that of the target, then one per positional
    argument (after binding for a user's rule, as written for a built-in one). What a user's rule returns is
    checked: it must be a tuple of the right length, without None or classes, each entry of the shape of its
    argument.
    """
    __tracebackhide__ = True
    if rule.built_in:
        y, pullback = rule.function(*args, **kwargs)
        return y, BuiltInPullback(rule, pullback, y, len(args))
    positional, keywords = bound_call(rule, target, args, kwargs)
    if rule.doubt:
        rule.doubt.settle(rule, target, positional, keywords)
    watch = Watch.of(rule, target, positional, keywords)
    answer = rule.function(*_with_config(rule, config), *positional, **keywords)
    return checked_answer(rule, target, positional, answer, watch)


def checked_answer(rule, target, positional, answer, watch=None):
    """Return `(y, pullback)` from what a user's rule returned, with a pullback that checks its cotangents;
    RuleError for anything else. The `watch` checks what the rule did to its arguments.
    """
    y, pullback = check_pair(rule, answer)
    if watch is not None:
        watch.after_value(y)
    if watch is not None and DEBUGGING.rules:
        return y, WatchedPullback(rule, pullback, y, target, positional, watch)
    return y, CheckedPullback(rule, pullback, y, target, positional)


def check_pair(rule, answer):
    """Return the value and pullback that a user's rrule returned; RuleError for anything else."""
    y, pullback = _pair(rule, answer, "(y, pullback)")
    if not callable(pullback):
        raise RuleError(
            _said(rule, f"must return a pullback, not {an(type(pullback).__name__)}"), place=rule.place
        )
    return y, pullback


def apply_frule(rule, target, tangents, args, kwargs, config=None):
    """Return `(y, y_dot)` by an frule; `tangents` are those of the target and of `args`, in this order.

    For a built-in rule with `keyword_tangents`, those of the values in `kwargs` may follow.
    """
    __tracebackhide__ = True
    with_keywords = rule.keyword_tangents and len(tangents) == 1 + len(args) + len(kwargs)
    if len(tangents) != 1 + len(args) and not with_keywords:
        raise RuleCountError(
            f"{len(tangents)} tangents for {rule.target_name} and its {len(args)} positional "
            f"argument{'s' * (len(args) != 1)}",
            fixes=("give the tangent of the function itself first: (rl.NoTangent(), x_dot, …)",),
        )
    tangents = tuple([ZeroTangent() if t is None else t for t in tangents])
    if rule.built_in:
        if rule.partials is not None:
            check_call(rule.target_name, rule.partials, len(args), kwargs)
        given = [dense_tangent(x, x_dot) for x, x_dot in zip((*args, *kwargs.values()), tangents[1:])]
        if rule.keyword_tangents and not with_keywords:
            given += [NoTangent()] * len(kwargs)
        return rule.function(*_with_config(rule, config), (tangents[0], *given), *args, **kwargs)
    positional, keywords = bound_call(rule, target, args, kwargs)
    if rule.partials is not None:
        check_call(rule.target_name, rule.partials, len(positional), keywords)
    whole = (*tangents, *[NoTangent()] * (len(positional) - len(args)))
    watch = watch_of_frule(rule, positional, whole[1:])
    answer = rule.function(*_with_config(rule, config), whole, *positional, **keywords)
    return checked_pair(rule, answer, watch)


def watch_of_frule(rule, args, tangents):
    """Return the watch that `checked_pair` takes for a call of a user's frule, with the tangents of its
    arguments; None outside debug mode.
    """
    return ForwardWatch(rule, args, tangents) if DEBUGGING.rules else None


def checked_pair(rule, answer, watch=None):
    """Return the `(y, y_dot)` that a user's frule returned; RuleError, RuleShapeError or RuleDtypeError if
    `y_dot` cannot be the tangent of `y`, or if it returned anything else.
    """
    y, y_dot = _pair(rule, answer, "(y, y_dot)")
    _check_tangent(rule, y, y_dot, "y")
    if watch is not None:
        watch.check(y, y_dot)
    return answer


def _check_tangent(rule, y, y_dot, name):
    y_dot = unthunk(y_dot)
    if isinstance(y_dot, (AbstractZero, NotImplementedTangent)):
        return
    if y_dot is None or (isinstance(y_dot, type) and issubclass(y_dot, AbstractZero)):
        given = "None" if y_dot is None else f"the class {y_dot.__name__}"
        hint = "return rl.ZeroTangent() if it does not change, rl.NoTangent() if it has none"
        text = f"returned {given} for the tangent of {name}"
        raise RuleError(_said(rule, text), place=rule.place, fixes=hint)
    if isinstance(y, np.ndarray) or is_number(y):
        numeric = isinstance(y_dot, np.ndarray) or is_number(y_dot)
        if not numeric or np.asarray(y_dot).dtype.kind not in "fciub":
            text = f"returned {an(type(y_dot).__name__)} for the tangent of {name}, which is {an(_kind(y))}"
            raise RuleDtypeError(_said(rule, text), place=rule.place, fixes="return numbers of its shape")
        if np.shape(y_dot) != np.shape(y):
            text = f"returned a tangent of shape {np.shape(y_dot)} for {name} of shape {np.shape(y)}"
            fix = "give the tangent the shape of its value: it is not broadcast"
            raise RuleShapeError(_said(rule, text), place=rule.place, fixes=fix)
    elif isinstance(y, (list, tuple)):
        if not isinstance(y_dot, (list, tuple, Tangent)) or len(y_dot) != len(y):
            text = f"returned {an(_kind(y_dot))} for the tangent of {name}, which is {an(_kind(y))}"
            fix = "return one tangent for each item"
            raise RuleShapeError(_said(rule, text), place=rule.place, fixes=fix)
        for number, part in enumerate(y):
            _check_tangent(rule, part, y_dot[number], f"{name}[{number}]")


def _kind(x):
    if isinstance(x, np.ndarray):
        return f"{x.dtype} array of shape {x.shape}"
    return f"{type(x).__name__} of {len(x)}" if isinstance(x, (list, tuple)) else type(x).__name__


def dense_tangent(x, x_dot):
    """A tangent in the form that built-in rules need: numbers where `x` has numbers, NoTangent where nothing
    can vary.
    """
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero):
        return zeros_like(x)
    if isinstance(x_dot, Tangent) and isinstance(x, (list, tuple, dict)):
        return _of_container(x, x_dot)
    return x_dot


def _of_container(x, x_dot):
    """The tangent of a list, tuple, NamedTuple or dict as a container of the same type."""
    if isinstance(x, dict):
        entries = entries_of(x_dot)
        return {key: dense_tangent(value, entries.get(key, ZeroTangent())) for key, value in x.items()}
    parts = [dense_tangent(value, part) for value, part in zip(x, x_dot, strict=True)]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def bound_call(rule, target, args, kwargs):
    """The positional and keyword arguments with which to call a user's rule."""
    positional, keyword_only = Binder.of(target).bind(args, kwargs)
    return positional, taken_keywords(rule, keyword_only, kwargs)


def taken_keywords(rule, keyword_only, given):
    """The keyword-only arguments of a call that a user's rule takes; KeywordError for one that was `given`
    and that it does not take.
    """
    keywords = {}
    for name, value in keyword_only.items():
        if rule.takes_keywords or name in rule.keyword_only:
            keywords[name] = value
        elif name in given:
            raise KeywordError(
                f"{rule.target_name} was called with {name}=…, which its rule does not take",
                place=rule.place,
                fixes=(f"give the rule a keyword-only parameter {name}",),
            )
    return keywords


def pullback_is_anonymous(pullback):
    """Whether a pullback is a lambda, which tracebacks show as `<lambda>`."""
    return getattr(getattr(pullback, "__wrapped__", pullback), "__name__", None) == "<lambda>"


class _Pullback:
    """A pullback as callers see it: it may be called again, and accepts zeros, thunks and plain tuples."""

    __slots__ = ("__wrapped__", "count", "rule", "y")

    _cotangents: Callable[[Any], tuple[Any, ...]]  # defined in each subclass

    def __init__(self, rule, pullback, y, count):
        self.rule = rule
        self.__wrapped__ = pullback
        self.y = y
        self.count = count

    @property
    def __name__(self):
        return getattr(self.__wrapped__, "__name__", type(self.__wrapped__).__name__)

    def __repr__(self):
        return f"<pullback {self.__name__} of {self.rule.target_name}>"

    def __call__(self, y_bar):
        __tracebackhide__ = True
        y_bar = unthunk(y_bar)
        if y_bar is None or isinstance(y_bar, AbstractZero):
            return (NoTangent(), *[ZeroTangent()] * self.count)  # linear: nothing to compute
        if isinstance(y_bar, NotImplementedTangent):
            return (NoTangent(), *[y_bar] * self.count)
        return self._cotangents(dense(self.y, y_bar))


class BuiltInPullback(_Pullback):
    """The pullback of a built-in rule: trusted, and padded to the positional arguments of the call."""

    __slots__ = ()

    def _cotangents(self, y_bar):
        __tracebackhide__ = True
        answer = tuple(self.__wrapped__(y_bar))
        if self.rule.keyword_cotangents:
            answer = answer[: 1 + self.count]
        return answer + (NoTangent(),) * (1 + self.count - len(answer))


class CheckedPullback(_Pullback):
    """The pullback of a user's rule: what it returns is checked before it is used."""

    __slots__ = ("positional", "target")

    def __init__(self, rule, pullback, y, target, positional):
        super().__init__(rule, pullback, y, len(positional))
        self.target = target
        self.positional = positional

    def _cotangents(self, y_bar):
        __tracebackhide__ = True
        return check_cotangents(
            self.rule, self.target, self.positional, self.__wrapped__(y_bar), self.__wrapped__
        )


class WatchedPullback(CheckedPullback):
    """The pullback of a user's rule in debug mode: everything that it does and returns is checked."""

    __slots__ = ("watch",)

    def __init__(self, rule, pullback, y, target, positional, watch):
        super().__init__(rule, pullback, y, target, positional)
        self.watch = watch

    def _cotangents(self, y_bar):
        __tracebackhide__ = True

        def wrong(text, *fixes, kind=RuleError):
            return _wrong(self.rule, self.__wrapped__, text, *fixes, kind=kind)

        def check(answer):
            checked = check_cotangents(self.rule, self.target, self.positional, answer, self.__wrapped__)
            raw = answer[-len(self.positional) :] if self.positional else ()
            for name, x, x_bar in zip(self.watch.names, self.positional, raw):
                check_precision(wrong, name, x, x_bar)
            # Sharing is checked on the raw arrays, since projection may make new ones.
            pairs = zip(raw, checked[1:])
            return checked[0], *[bar if isinstance(unthunk(bar), np.ndarray) else c for bar, c in pairs]

        answer = watched_cotangents(self.watch, wrong, self.__wrapped__, self.y, y_bar, check)
        return check_cotangents(self.rule, self.target, self.positional, answer, self.__wrapped__)


def check_cotangents(rule, target, positional, answer, pullback=None):
    """Check the cotangents that a pullback returned, one for the target and one per positional argument, and
    return them projected.

    For a rule on a `__call__` the cotangent of the object may come first, in place of that of the function,
    instead of after NoTangent. Raises RuleError, RuleCountError, RuleShapeError or RuleDtypeError, each
    naming the argument.
    """
    if type(answer) is not tuple:
        raise _wrong(
            rule,
            pullback,
            f"must return a tuple of cotangents, not {an(type(answer).__name__)}",
            "return rl.NoTangent(), x_bar",
        )
    count = len(positional)
    if len(answer) == count and count and rule.target_name.endswith("__call__"):
        answer = (NoTangent(), *answer)
    if len(answer) != 1 + count:
        raise _wrong_count(rule, target, positional, answer, pullback)
    for index, x_bar in enumerate(answer):
        if x_bar is None or (isinstance(x_bar, type) and issubclass(x_bar, AbstractZero)):
            raise _not_a_cotangent(rule, target, positional, index, x_bar, pullback)
    if type(answer[0]) is not NoTangent and (isinstance(answer[0], np.ndarray) or is_number(answer[0])):
        raise _wrong(
            rule,
            pullback,
            f"returned {_shown(answer[0])} for {rule.target_name} itself, which holds no numbers",
            "return rl.NoTangent(), x_bar: the cotangent of the function comes first",
        )
    call = (rule, target, positional, pullback)
    return answer[0], *[
        _projected(call, i, x, x_bar) for i, (x, x_bar) in enumerate(zip(positional, answer[1:]))
    ]


def _projected(call, index, x, x_bar):
    if isinstance(x_bar, (AbstractZero, NotImplementedTangent)):
        return x_bar
    if isinstance(x_bar, Thunk):
        return Thunk(lambda: _projected(call, index, x, unthunk(x_bar)))
    try:
        return project(x, x_bar)
    except RuleError as error:
        rule, target, positional, pullback = call
        which = Binder.of(target).names(len(positional))[index]
        text = f"returned for {which}: {error.found}"
        raise _wrong(rule, pullback, text, *error.fixes, kind=type(error)) from None


def _shown(x_bar):
    return f"an array of shape {x_bar.shape}" if isinstance(x_bar, np.ndarray) else f"the number {x_bar:g}"


def _wrong(rule, pullback, text, *fixes, kind=RuleError):
    """The error for a pullback, with its own line."""
    name = getattr(pullback, "__name__", "the pullback")
    place = Place.of_function(pullback) if hasattr(pullback, "__code__") else rule.place
    return kind(f"{name} {text}", asked=f"pullback of {rule.target_name}", place=place, fixes=fixes)


def _wrong_count(rule, target, positional, answer, pullback):
    expected = ", ".join([f"{rule.target_name} itself", *Binder.of(target).names(len(positional))])
    text = f"returned {len(answer)} cotangents, expected {1 + len(positional)}: for {expected}"
    fix = "return rl.NoTangent() first, for the function itself, then one for each positional argument"
    return _wrong(rule, pullback, text, fix, kind=RuleCountError)


def _not_a_cotangent(rule, target, positional, index, given, pullback):
    which = (f"{rule.target_name} itself", *Binder.of(target).names(len(positional)))[index]
    if given is not None:
        hint = f"call it: rl.{given.__name__}()"
        return _wrong(rule, pullback, f"returned the class {given.__name__} for {which}", hint)
    if index == 0:
        text = f"returned None first, where the cotangent of the function {rule.target_name} itself belongs"
        return _wrong(rule, pullback, text, "return rl.NoTangent() first: a function has no cotangent")
    hint = "return rl.ZeroTangent() if its derivative is zero, rl.NoTangent() if it has none"
    return _wrong(rule, pullback, f"returned None for {which}", hint)


def _with_config(rule, config):
    return (config,) if rule.requires else ()


def _pair(rule, answer, wanted):
    if type(answer) is tuple and len(answer) == 2:
        return answer
    if answer is None:
        raise RuleError(
            _said(rule, f"returned None, not {wanted}"),
            place=rule.place,
            fixes=(
                f"end it with `return {wanted.strip('()')}`",
                f"use rl.opt_out({rule.target_name}, types) for calls that the rule is not for",
            ),
        )
    raise RuleError(
        _said(rule, f"must return {wanted}, not {an(type(answer).__name__)}"),
        place=rule.place,
        fixes=(f"end it with `return {wanted.strip('()')}`",),
    )


def _said(rule, text):
    return f"the {rule.mode} {getattr(rule.function, '__name__', '')} of {rule.target_name} {text}"
