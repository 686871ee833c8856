"""The skeleton of a rule, to be completed by its author."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..annotations import signature_of_callable
from .authoring import target_for_rule
from .targets import input_parameters


def rule_stub(f: Callable[..., Any], *, name: str | None = None, magic: bool = False) -> str:
    """Return the source of an rrule for `f` in which only the cotangents are missing.

    Until they are filled in, the pullback returns `rl.not_implemented` for each, which raises when it is
    used.

    Parameters
    ----------
    f : callable
        The function that needs a rule.
    name : str, optional
        How `f` is spelled where the rule will be; its own name by default.
    magic : bool
        Whether to write a `%%rrule` cell instead of plain Python.

    Returns
    -------
    str
        The source.

    Raises
    ------
    RuleRegistrationError
        If `f` cannot be called.

    Examples
    --------
    >>> def area(width, height): return width * height
    >>> print(rule_stub(area))
    @rl.rrule_for(area)
    def area_rrule(width, height):
        y = area(width, height)
        def area_pullback(y_bar):
            width_bar = rl.not_implemented("the cotangent of width: y_bar times dy/dwidth")
            height_bar = rl.not_implemented("the cotangent of height: y_bar times dy/dheight")
            return rl.NoTangent(), width_bar, height_bar
        return y, area_pullback
    <BLANKLINE>
    """
    target_for_rule(f)
    spelled = name or written_name(f)
    short = _identifier(spelled)
    parameters = _parameters(f)
    y = _unused(("y", "out", "result", "value"), parameters)
    head = f"%%rrule {spelled}" if magic else f"@rl.rrule_for({spelled})"
    lines = [
        head,
        f"def {short}_rrule({_declared(parameters)}):",
        f"    {y} = {spelled}({_passed(parameters)})",
        f"    def {short}_pullback({y}_bar):",
        *(f"        {line}" for p in _positional(parameters) for line in _cotangent(p, y)),
        f"        return {', '.join(['rl.NoTangent()', *map(_returned, _positional(parameters))])}",
        f"    return {y}, {short}_pullback",
        "",
    ]
    return "\n".join(lines)


def written_name(f: Callable) -> str:
    """How `f` is spelled where its rule will be: by its name, with its module if it comes from another
    one.
    """
    qualified = getattr(f, "__qualname__", None) or type(f).__name__
    own = qualified.rpartition("<locals>.")[2]
    module = getattr(f, "__module__", None)
    if "<lambda>" in own:
        return "f"
    if module in (None, "__main__", "builtins") or "<locals>" in qualified or _is_plain(f):
        return own
    return f"{module}.{own}"


def _is_plain(f) -> bool:
    """Whether `f` is a Python function, which is spelled by its bare name where it is defined."""
    return inspect.isfunction(f)


def _identifier(spelled: str) -> str:
    last = spelled.rpartition(".")[2]
    return last if last.isidentifier() else "f"


def _parameters(f: Callable) -> list[inspect.Parameter]:
    if isinstance(f, np.ufunc):
        return input_parameters(f)
    try:
        return list(signature_of_callable(f).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]


def _positional(parameters) -> list[inspect.Parameter]:
    return [p for p in parameters if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]


def _declared(parameters) -> str:
    """The parameter list, without defaults, since a rule receives all arguments bound, defaults included."""
    words, starred = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not starred:
            words.append("*")
        starred = starred or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
        words.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name)
    return ", ".join(words)


def _passed(parameters) -> str:
    form = {
        inspect.Parameter.VAR_POSITIONAL: "*{0}",
        inspect.Parameter.VAR_KEYWORD: "**{0}",
        inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
    }
    return ", ".join(form.get(p.kind, "{0}").format(p.name) for p in parameters)


def _cotangent(p: inspect.Parameter, y: str) -> list[str]:
    if p.kind is p.VAR_POSITIONAL:
        return [
            f'{p.name}_bar = [rl.not_implemented(f"the cotangent of {p.name}[{{i}}]") '
            f"for i in range(len({p.name}))]"
        ]
    reason = f"the cotangent of {p.name}: {y}_bar times d{y}/d{p.name}"
    return [f'{p.name}_bar = rl.not_implemented("{reason}")']


def _returned(p: inspect.Parameter) -> str:
    return f"*{p.name}_bar" if p.kind is p.VAR_POSITIONAL else f"{p.name}_bar"


def _unused(candidates, parameters) -> str:
    taken = {p.name for p in parameters} | {f"{p.name}_bar" for p in parameters}
    return next(c for c in candidates if c not in taken and f"{c}_bar" not in taken)
