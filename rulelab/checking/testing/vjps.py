"""Is this vjp right? The checks of a rule, for any function that gives `(y, pullback)`."""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import Place, RuleCountError, RuleError, RuleLabError, an
from ...rules.registry import Registry
from ...rules.rule import Rule
from ...rules.signatures import ANY, Accepts
from ...shown_options import shows_options_of
from ...tangents.projection import project
from ...tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from ..calling.subjects import Written, codes_of, helper_codes
from ..judgement.reports import RuleCheck
from ..measuring.vectors import cotangent_vec, to_vec
from ..reading.parameters import positional_names
from .testers import Checking, checking, report_of_check, rule_check

Vjp = Callable[..., tuple[Any, Callable[[Any], Any]]]


@shows_options_of(rule_check, but=("mode", "registry"))
def check_vjp(
    f: Callable[..., Any],
    vjp: Vjp,
    *args: Any,
    by: str | None = None,
    seconds: float | None = None,
    **options: Any,
) -> RuleCheck:
    """Whether `vjp` is right for the function `f`, as far as numbers can say: the report that a rule gets.

    Nothing needs to be registered, and no rule of `f` is looked at.

    Parameters
    ----------
    f : callable
        The function.
    vjp : callable
        `vjp(*args)` gives `(y, pullback)`, and `pullback(y_bar)` a tuple of cotangents, one for each argument
        and none for the function itself; for one argument the cotangent alone will do, and None is a zero. A
        `y_bar` has the form of `y`.
    *args
        Where to begin. Without any, arguments are drawn by the names of the parameters of `f`.
    by : str, optional
        What the report calls the vjp.
    seconds : float, optional
        When to stop, and report what was seen by then.
    **options
        The others of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    NoInputsError
        If no arguments are found that `f` takes.
    RuleLabError
        If `f` or `vjp` cannot be called.

    Examples
    --------
    >>> def square(x): return x * x
    >>> def square_vjp(x): return x * x, lambda y_bar: 2 * x * y_bar
    >>> bool(check_vjp(square, square_vjp, 3.0))
    True
    """
    return report_of_check(vjp_checking(f, vjp, *args, by=by, **options), seconds)


def vjp_checking(
    f: Callable,
    vjp: Vjp,
    *args: Any,
    by: str | None = None,
    names: tuple[str, ...] | None = None,
    **options: Any,
) -> Checking:
    """The check of a vjp, not started, for callers that drive it in pieces. See `check_vjp`.

    `names` are those of the arguments, by default the names of the parameters of `f`.
    """
    for given, what in ((f, "the function"), (vjp, "the vjp, which gives (y, pullback),")):
        if not callable(given):
            found = f"{what} is {an(type(given).__name__)}, which cannot be called"
            raise RuleLabError(found, asked="a check of a vjp", fixes=("write check_vjp(f, vjp, x, y)",))
    primal, place = _plain(f), _place(vjp)
    names = positional_names(f) if names is None else names
    name = getattr(vjp, "__name__", "the vjp") if by is None else by
    registry = Registry()  # a separate one: the vjp must not become a rule of f
    rule = Rule(
        getattr(f, "__name__", type(f).__name__),
        "rrule",
        _as_rule(vjp, name, names),
        Accepts((), ANY),
        place,
        takes_keywords=True,
    )
    registry.register(rule, primal)
    check = checking(primal, *args, registry=registry, names=names, **options)
    count = len(check.first.inputs)
    check.subject = dataclasses.replace(
        check.subject,
        names=_padded(names, count),
        rule=None,  # it is stated by a wrapper; the lines to show are those of the vjp
        place=place,
        codes=tuple(dict.fromkeys((*codes_of(vjp), *codes_of(f)))),
        by=name,
        helpers=helper_codes(vjp, f),
        written=(Written(vjp, tuple(zip(_padded(names, count), range(count))), 2, count == 1),),
    )
    return check


def _plain(f: Callable) -> Callable:
    """A function that does what `f` does, but has no rule; `f` may be any callable."""

    @functools.wraps(f)
    def primal(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    primal.__name__ = getattr(f, "__name__", None) or type(f).__name__
    primal.__qualname__ = primal.__name__
    return primal


def _as_rule(vjp: Vjp, name: str, names: tuple[str, ...]) -> Callable:
    """The vjp in the form of a reverse rule whose cotangents share no memory with anything: a vjp may have
    its own conventions for that.
    """

    def rule(*args: Any, **kwargs: Any) -> tuple[Any, Callable]:
        answer = vjp(*args, **kwargs)
        if not (isinstance(answer, tuple) and len(answer) == 2 and callable(answer[1])):
            raise RuleError(f"{name} must return (y, pullback), not {_kind(answer)}")
        y, pullback = answer

        def cotangents(y_bar: Any) -> tuple:
            given = _one_each(pullback(_in_form_of(y, y_bar)), _padded(names, len(args)), name)
            return (NoTangent(), *map(_fitting, args, given, _padded(names, len(args))))

        cotangents.__name__ = f"the pullback of {name}"
        return y, cotangents

    def _fitting(x: Any, x_bar: Any, argument: str) -> Any:
        if x_bar is None or isinstance(x_bar, AbstractZero):
            return ZeroTangent() if x_bar is None else x_bar
        try:
            return copy.deepcopy(project(x, x_bar))
        except RuleError as error:
            raise type(error)(f"the pullback of {name} returned for {argument}: {error.found}") from None

    rule.__name__ = name
    return rule


def _one_each(given: Any, expected: tuple[str, ...], name: str) -> tuple:
    """One cotangent for each argument; RuleCountError if there are more or fewer."""
    if not isinstance(given, tuple) and not (isinstance(given, list) and len(expected) > 1):
        given = (given,)
    if len(given) != len(expected):
        due = f"expected {len(expected)}: for {', '.join(expected)}"
        raise RuleCountError(f"the pullback of {name} returned {len(given)} cotangents, {due}")
    return tuple(given)


def _in_form_of(y: Any, y_bar: Any) -> Any:
    """A cotangent in the form that a vjp expects: numbers and arrays, in tuples where `y` is a tuple."""
    if isinstance(y_bar, (np.ndarray, np.generic, float, complex)):
        return y_bar
    return to_vec(y)[1](cotangent_vec(y, y_bar, "y"))


def _kind(answer: Any) -> str:
    return f"a tuple of {len(answer)}" if isinstance(answer, tuple) else f"{an(type(answer).__name__)}"


def _place(vjp: Callable) -> Place | None:
    return Place.of_function(vjp) if isinstance(getattr(vjp, "__code__", None), types.CodeType) else None


def _padded(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    return names[:count] + tuple(f"argument {i + 1}" for i in range(len(names), count))
