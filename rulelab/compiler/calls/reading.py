"""The compiled pass of a call as text that a person can read."""

from __future__ import annotations

import types
from typing import Any

from ...errors import RuleLabError
from ...rules.registry import Found
from ...rules.targets import resolve
from ..base.libraries import compiled_function
from ..base.source import written_lines
from ..memory.operands import carries, describe
from ..transform.legend import legend
from .binding import before_rest, bind, slot_number
from .cache import DEFAULT, Cache, Pass
from .call import Call
from .foreign import foreign
from .pullbacks import Pullbacks


class AdjointSource(str):
    """The source of a forward sweep with the pullback it returns; a string whose repr is the text itself.

    `origins` has, for each line, the line of the author's file that it came from, or None. The source of a
    rule is consecutive lines of the author's file, after a first line of ours.
    """

    __slots__ = ("origins",)
    origins: tuple[int | None, ...]

    def __new__(cls, text: str, origins: tuple[int | None, ...]) -> AdjointSource:
        self = super().__new__(cls, text)
        self.origins = origins
        return self

    def __repr__(self) -> str:
        return str(self)


def adjoint_source(f: Any, *args: Any, cache: Cache | None = None, **kwargs: Any) -> AdjointSource:
    """The code that computes `f(*args)` and its pullback, as it is run for arguments of these types.

    Where a rule applies, the source is that of the rule. The function itself is not run. Comments at the head
    of the source say which arguments it is for, and what its helpers do.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *args
        Its positional arguments; only their types matter.
    cache : Cache, optional
        Where compiled code is kept; that of `gradient` by default.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    AdjointSource
        A string that shows itself as Python.

    Raises
    ------
    RuleLabError
        If `f` does what cannot be differentiated; the class of the error says what.

    Examples
    --------
    >>> print(adjoint_source(lambda x: 3.0 * x, 2.0))  # doctest: +ELLIPSIS
    def function(x):
        # function(x: float): the value, and its pullback
    ...
        t_1 = 3.0 * x
    ...
    """
    pullbacks = Pullbacks(DEFAULT if cache is None else cache)
    target, bound = resolve(f)
    given = (*bound, *args)
    answer = pullbacks.ask(target, given, kwargs)
    if isinstance(answer, Found):
        return _of_rule(answer.rule)
    function = compiled_function(target)
    if function is None:
        raise foreign(pullbacks.cache.registry, Call(target, given, kwargs, (), None))
    before = before_rest(function, given, kwargs)
    if before is not None:
        flags = tuple(n >= len(bound) and _may_vary(x) for n, x in enumerate(given))
        made = pullbacks.pass_of(function, given, flags, False, True, None, before)
        if made.before is not None:
            return _with_legend(made, function, given)
    values, where = bind(function, given, kwargs)
    positional = set(map(slot_number, where[len(bound) : len(given)]))
    flags = tuple(
        n in positional and _may_vary(x) for n, x in enumerate(values)
    )
    return _with_legend(pullbacks.pass_of(function, values, flags, False, True, None), function, values)


def _may_vary(x: Any) -> bool:
    return not isinstance(x, types.FunctionType) and carries(x)


def _with_legend(made: Pass, function: types.FunctionType, values: tuple[Any, ...]) -> AdjointSource:
    """The text of a pass with comments at its head."""
    names = made.forward.__code__.co_varnames
    arguments = ", ".join(f"{name}: {describe(x)}" for name, x in zip(names, values))
    comments = [f"    {line}" for line in legend(made.text, arguments)]
    inlined = [held.__name__ for held in (function() for function in made.inlined) if held is not None]
    if inlined:
        comments.append(f"    #   in place of their calls: the statements of {', '.join(inlined)}")
    first, *rest = made.text.splitlines()
    text = "".join(f"{line}\n" for line in (first, *comments, *rest))
    return AdjointSource(text, (made.origins[0], *[None] * len(comments), *made.origins[1:]))


def _of_rule(rule: Any) -> AdjointSource:
    head = f"# by rule: {rule.describe()}\n"
    try:
        lines, first = written_lines(rule.partials or rule.function)
        return AdjointSource(head + "".join(lines), (None, *range(first, first + len(lines))))
    except (OSError, TypeError) as error:
        raise RuleLabError(
            f"The source of the rule of {rule.target_name} cannot be found", place=rule.place
        ) from error
