"""Calls by a built-in rule: its rrule and its frule answer for the same arguments."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

from ...errors import RuleLabError
from ...rules import programs
from ...rules.binding import parameter_names, positional_parameters
from ...rules.capabilities import RuleConfig
from ...rules.registry import Found
from ...rules.rule import Rule
from ...rules.signatures import types_of
from ...rules.targets import name_of
from ..base.classes import is_author_class
from ..memory.crossings import keeps_alive, preserves
from ..memory.handlers import NO, Handler, rearranged
from .borrowed import PLAIN, refuse_asked_often
from .call import Call
from .lost import holds_inexact, lost, refuse_lost, refuse_uncovered
from .templates import ARGS, DOTS, THIS_DOT, Asked, Forward, Program, Pushed, Ref, arg, dot, varies


def covered(rule: Rule) -> tuple[str, ...] | None:
    """The parameter names of a rule; None if it takes any keyword. A rule by partials takes no keywords."""
    return () if rule.partials is not None else parameter_names(rule.function)


def moved_keywords(
    parameters: tuple[str, ...], defaults: dict[str, Any], call: Call, leading: int
) -> dict[str, Any]:
    """The parameters, with their defaults, that must be passed by position because one of them was given by
    name.

    These are the ones after the positional arguments, up to the last of the `leading` ones given by name;
    `leading` counts the parameters that the rule has derivatives for. Empty if the call lacks an argument.
    """
    named = [parameters.index(name) for name in call.kwargs if name in parameters]
    last = 1 + max((k for k in named if k < leading), default=-1)
    moved = {name: defaults.get(name) for name in parameters[len(call.args) : last]}
    # otherwise the call lacks an argument, and will raise Python's own error
    return moved if all(name in call.kwargs or name in defaults for name in moved) else {}


# -- reverse -------------------------------------------------------------------------------------------------


def pulled_back(rule: Rule, call: Call, config: RuleConfig) -> Handler:
    """The handler of a call by an rrule."""
    if rule.requires:
        return functools.partial(rule.function, config)  # part of a stand-in, which gives all by position
    refuse_uncovered(call, covered(rule))
    count = len(call.args)
    leading = rule.leading if rule.leading is not None else count
    flags = call.active[1:]
    if rule.keyword_cotangents or (not call.kwargs and not any(flags[leading:])):
        return rule.function
    return _with_keywords(rule, call, leading)


def _name_at(rule: Rule, number: int) -> str:
    """The name of a positional argument; `args[k]` if it has none, as the spacings of `np.gradient`."""
    names, _ = positional_parameters(rule.function)
    return names[number] if number < len(names) else f"args[{number}]"


def _with_keywords(rule: Rule, call: Call, leading: int) -> Handler:
    """The handler of a rule that answers for its first arguments only: keywords that name these go by
    position.
    """
    names, defaults = positional_parameters(rule.function)
    count = len(call.args)
    missing, named = {}, ""
    for number in range(leading, count):
        if call.active[1 + number] and holds_inexact(call.args[number]):
            named = _name_at(rule, number)
            missing[1 + number] = lost(call, call.args[number], named)
    where = []
    for number, (name, x) in enumerate(call.kwargs.items(), 1 + count):
        slot = names.index(name) if name in names else leading
        where.append(slot + 1 if slot < leading else None)
        if slot >= leading and call.active[number] and holds_inexact(x):
            named = name
            missing[number] = lost(call, x, named)
    moved = moved_keywords(names, defaults, call, leading)

    def by_built_in_rule(*args: Any, **kwargs: Any) -> Any:
        args = (*args, *(kwargs.pop(name) if name in kwargs else moved[name] for name in moved))
        y, pullback = rule.function(*args, **kwargs)

        def as_given(got: tuple[Any, ...]) -> tuple[Any, ...]:
            by_name = (got[slot] if slot is not None and slot < len(got) else NO for slot in where)
            bars = (*got[: 1 + count], *(NO,) * (1 + count - len(got)), *by_name)
            return tuple([missing.get(k, bar) for k, bar in enumerate(bars)]) if missing else bars

        return y, rearranged(pullback, as_given)

    return _refusing(by_built_in_rule, call, named) if missing else by_built_in_rule


def _refusing(handler: Handler, call: Call, name: str) -> Handler:
    """A handler that refuses an argument without a derivative, which the rule takes as an option, if the rule
    fails.
    """

    def by_rule(*args: Any, **kwargs: Any) -> Any:
        try:
            y, pullback = handler(*args, **kwargs)
        except RuleLabError:
            raise
        except Exception:
            refuse_lost(call, name)

        def back(y_bar: Any) -> Any:
            try:
                return pullback(y_bar)
            except RuleLabError:
                raise
            except Exception:
                refuse_lost(call, name)

        return y, rearranged(back, tuple)

    return by_rule


# -- forward -------------------------------------------------------------------------------------------------


def pushed_forward(push: Forward, rule: Rule, call: Pushed) -> Program:
    """The program of a call by an frule."""
    g, args, names, count = call.target, call.raw[ARGS], call.names, len(call.args)
    leading = (push.config,) if rule.requires else ()
    # A rule with `keyword_tangents` answers for all of its arguments.
    counted = len(args) if rule.keyword_tangents else count
    moved = {} if rule.keyword_tangents else _moved_in_forward(push, rule, call)
    refuse_uncovered(call, covered(rule))
    by_keyword = [(k, names[k - count]) for k in range(counted, len(args)) if names[k - count] not in moved]
    still = [(name, dot(k)) for k, name in by_keyword if _might_be_written(call, k, name)]
    active = call.active[1:]
    # The partial with respect to an argument that does not vary need not exist.
    drops = rule.partials is not None
    tangents: list[Any] = [NO if drops and not active[k] else dot(k) for k in range(counted)]
    for number, name in _unanswered(push, rule, call):
        still.append((name, dot(number)))
        tangents[number] = NO
    if any(type(x) not in PLAIN for x in args):
        refuse_asked_often(g, args[:count], args[count:], None)
    handed: list[Any] = [arg(k) if active[k] else _asked(call, k) for k in range(count)]
    for name, default in moved.items():
        handed.append(arg(count + names.index(name)) if name in names else default)
        tangents.append(dot(count + names.index(name)) if name in names else NO)
    given_all = (*leading, (THIS_DOT, *tangents), *handed)
    words = {name: arg(count + k) for k, name in enumerate(names) if name not in moved}
    if still:
        known, along = zip(*still)
        whole = (rule.function, name_of(g), known, along, given_all, words)
        return Program(programs.with_others_still, whole, trusted=rule.hands_out)
    return Program(rule.function, given_all, words, trusted=rule.hands_out)


def _reverse_rule(push: Forward, call: Call) -> Rule | None:
    """The rrule for the same call, which says which arguments have a derivative."""
    answer = push.cache.ask(call.target, types_of(call.args), push.config)
    return answer.rule if isinstance(answer, Found) and answer.rule.built_in else None


def _moved_in_forward(push: Forward, rule: Rule, call: Pushed) -> dict[str, Any]:
    reverse = _reverse_rule(push, call) if call.names else None
    if reverse is None:
        return {}
    parameters, defaults = positional_parameters(rule.function)
    parameters = parameters[2 if rule.requires else 1 :]
    return moved_keywords(parameters, defaults, call, reverse.leading or 0)


def _unanswered(push: Forward, rule: Rule, call: Pushed) -> Iterator[tuple[int, str]]:
    """The arguments, as number and name, for which the rrule has no cotangent: the frule would silently lose
    their tangents.

    Yields arrays that are constant but have a tangent, since they might be written to; raises
    NotDifferentiableError if one varies.
    """
    reverse = None if rule.partials is not None else _reverse_rule(push, call)
    if reverse is None or reverse.leading is None or not reverse.differentiable or reverse.requires:
        return
    if call.args and isinstance(call.args[0], str):
        return  # a formatted text is followed to what reads it (`spelling`)
    for number in range(reverse.leading, len(call.args)):
        if _might_be_written(call, number, _name_at(reverse, number)):
            yield number, _name_at(reverse, number)


def _might_be_written(call: Pushed, number: int, name: str) -> bool:
    """Whether an argument without a derivative is an array that is constant but has a tangent, since it might
    be written to; NotDifferentiableError if it varies.
    """
    x, x_dot = call.raw[ARGS][number], call.raw[DOTS][number]
    if not varies(x, x_dot) or not holds_inexact(x):
        return False
    if not programs.stands_still(x_dot):
        refuse_lost(call, name)
    return True


def _asked(call: Pushed, number: int) -> Ref:
    """The template of a constant argument; an object that converts to a number is asked for it once."""
    g, args = call.target, call.args
    if g is operator.getitem:
        by_position = number == 1 and programs.takes_positions(args[0])
        return Asked((ARGS, number), as_key=True) if by_position else arg(number)
    converted = is_author_class(type(args[number])) and not (keeps_alive(g, args) or preserves(g, args))
    return Asked((ARGS, number)) if converted else arg(number)
