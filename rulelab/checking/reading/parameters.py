"""The parameters of a function that is checked: which need arguments, and their defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...annotations import signature_of_callable
from ...rules.targets import resolve

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(target: Any) -> list[inspect.Parameter]:
    try:
        return list(signature_of_callable(target).parameters.values())
    except (TypeError, ValueError):
        return []


OF_REST = 2
"""How many arguments are guessed for `*layers`."""


def required_names(f: Any) -> tuple[str, ...]:
    """The names of the arguments that a check must find for a function: those without a default, and
    `OF_REST` of a variadic parameter.
    """
    target = resolve(f)[0]
    if isinstance(target, np.ufunc):
        return tuple("xyzw"[: target.nin])
    found = [p for p in _parameters(target) if p.kind in _POSITIONAL]
    names = [p.name for p in found if p.default is p.empty]
    rest = [p.name for p in _parameters(target) if p.kind is p.VAR_POSITIONAL]
    if rest and len(names) == len(found):  # any number is allowed: two are guessed
        names += [f"{rest[0]}[{i}]" for i in range(OF_REST)]
    if not names:
        names = [p.name for p in found[:1]]
    return tuple(names) or ("x",)


OPTIONS_TRIED = (4, 0.5)
"""The values tried for a keyword-only parameter that is required but was not given: a length or a number."""


def options_to_try(f: Any, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Choices for the required keyword arguments that were not given; one empty choice where none are
    missing.

    >>> def scattered(x, rows, *, size): ...
    >>> list(options_to_try(scattered, {})), list(options_to_try(scattered, {"size": 3}))
    ([{'size': 4}, {'size': 0.5}], [{}])
    """
    parameters = [p for p in _parameters(resolve(f)[0]) if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    needed = [p.name for p in parameters if p.name not in given]
    yield from (dict.fromkeys(needed, value) for value in (OPTIONS_TRIED if needed else (None,)))


def all_names(target: Any) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(target))


def positional_names(f: Any) -> tuple[str, ...]:
    """The names of the positional parameters, as far as they are known."""
    return tuple(p.name for p in _parameters(f) if p.kind in _POSITIONAL)


def before_rest(target: Any) -> int | None:
    """How many positional parameters precede `*args`; None where there is no such parameter."""
    kinds = [p.kind for p in _parameters(target)]
    rest = inspect.Parameter.VAR_POSITIONAL
    return kinds.index(rest) if rest in kinds else None


def defaults_after(target: Any, count: int) -> tuple[Any, ...]:
    """The defaults of the positional parameters after the first `count`.

    >>> def turned(z, frequency, phase=0.0): ...
    >>> defaults_after(turned, 2)
    (0.0,)
    """
    found = [p.default for p in _parameters(target) if p.kind in _POSITIONAL]
    return tuple(x for x in found[count:] if x is not inspect.Parameter.empty)


def default_of(target: Any, name: str) -> Any:
    """The default of the parameter of this name; `...` if it has none."""
    found = (p.default for p in _parameters(target) if p.name == name and p.default is not p.empty)
    return next(found, ...)
