"""Calls by an author's rule, with arguments bound to the signature of the function that the rule is for."""

from __future__ import annotations

from typing import Any

from ...rules import programs
from ...rules.binding import Binder
from ...rules.calling import apply_rrule, taken_keywords
from ...rules.capabilities import RuleConfig
from ...rules.lent import DEBUGGING
from ...rules.rule import Rule
from ...tangents.pairings import cotangent_from, leaves_of
from ..base.nesting import enter, leave
from ..memory.handlers import NO, Handler, rearranged
from ..memory.heap import note_asked_again
from ..memory.operands import carries
from .call import Call
from .lost import refuse_keyword
from .templates import ARGS, DOTS, THIS_DOT, Forward, Program, Pushed, Ref, build, refs_of, varies

# -- reverse -------------------------------------------------------------------------------------------------


def pulled_back(rule: Rule, call: Call, config: RuleConfig) -> Handler:
    """The handler of a call by an rrule."""
    target = call.target
    _refuse_keywords_that_vary(rule, call)
    binder = Binder.of(target)

    def by_rule(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        enter()
        try:
            found = apply_rrule(rule, target, args, kwargs, config)
        finally:
            leave()
        if not rule.built_in:
            note_asked_again(getattr(found[1], "__wrapped__", found[1]))  # traced rules leave bare functions
        if not kwargs:
            return found
        y, pullback = found
        names = binder.names(len(pullback.positional))
        count, slots = 1 + len(args), [1 + names.index(name) if name in names else None for name in kwargs]
        return y, rearranged(
            pullback, lambda got: (*got[:count], *(NO if slot is None else got[slot] for slot in slots))
        )

    return by_rule


def _refuse_keywords_that_vary(rule: Rule, call: Call) -> None:
    """KeywordError for a varying keyword that is not a positional parameter: a rule has no cotangent for a
    keyword-only parameter, nor for an entry of `**kwargs`.
    """
    if not call.kwargs:
        return
    flags = call.active[1 + len(call.args) :]
    varying = [name for (name, x), on in zip(call.kwargs.items(), flags) if on and carries(x)]
    if not varying:
        return
    try:
        words = Binder.of(call.target).bind(call.args, call.kwargs)[1]
    except TypeError:  # the call itself is wrong, and will raise Python's own error
        return
    for name in varying:
        if name in words:
            refuse_keyword(call, rule, name)


# -- forward -------------------------------------------------------------------------------------------------


def pushed_forward(push: Forward, rule: Rule, call: Pushed) -> Program:
    """The program of a call by an frule."""
    positional, given, words = _bound(rule, call)
    if rule.partials is not None:  # the partial for a constant argument need not exist
        pairs = zip(positional, given, strict=True)
        given = tuple([d if varies(build(x, call.raw), build(d, call.raw)) else NO for x, d in pairs])
    leading = (push.config,) if rule.requires else ()
    of_author = (*leading, (THIS_DOT, *given), *positional)
    return Program(rule.function, of_author, words, rule=rule, of_rule=True)


def transposed(push: Forward, rule: Rule, call: Pushed) -> Program:
    """The pushforward of a rule that has only a pullback: the transpose of that pullback."""
    positional, given_dots, words = _bound(rule, call)
    leading = (push.config,) if rule.requires else ()
    if DEBUGGING.rules:  # a transposed rule runs inside a program, where its answers cannot be watched
        given, named = build(positional, call.raw), build(words, call.raw)
        y, pullback = apply_rrule(rule, call.target, given, named, push.config)
        pullback(cotangent_from(y, leaves_of(y)))
    stated = programs.Stated(rule, call.target)
    return Program(programs.transposed, (push.pullbacks.vjp, stated, leading, positional, given_dots, words))


def _bound(rule: Rule, call: Pushed) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
    """Templates for calling a rule: each positional parameter (also if defaulted or given by name), the
    tangent of each, and the keyword-only parameters that it takes. KeywordError if one of the latter varies.
    """
    names, count, binder = call.names, len(call.args), Binder.of(call.target)

    def placed(kind: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        __tracebackhide__ = True
        refs = refs_of(kind, call.raw[ARGS])
        return binder.bind(refs[:count], dict(zip(names, refs[count:])))

    positional, words = placed(ARGS)
    _refuse_keywords_that_vary(rule, call)
    given = tuple([x_dot if type(x_dot) is Ref else NO for x_dot in placed(DOTS)[0]])
    return positional, given, taken_keywords(rule, words, names)
