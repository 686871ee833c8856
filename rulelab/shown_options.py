"""The options that a function hands on, shown as parameters of its own: with Tab, in `help`, on pages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Shown = TypeVar("Shown", bound=Callable[..., Any])


def shows_options_of(other: Callable[..., Any], *, but: tuple[str, ...] = ()) -> Callable[[Shown], Shown]:
    """A decorator for a function that ends in `**options`, which `other` takes; those in `but` it does not.

    >>> def drawn(x, *, width=1.0, colour="black"): ...
    >>> @shows_options_of(drawn, but=("colour",))
    ... def drawn_in_red(x, **options): drawn(x, colour="red", **options)
    >>> str(inspect.signature(drawn_in_red))
    '(x, *, width=1.0)'
    """

    def shown(function: Shown) -> Shown:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        taken = {*but, *(one.name for one in own)}
        handed_on = [
            one.replace(kind=one.KEYWORD_ONLY)
            for one in inspect.signature(other).parameters.values()
            if one.name not in taken and one.default is not one.empty
        ]
        function.__signature__ = signature.replace(parameters=[*own, *handed_on])  # type: ignore[attr-defined]
        return function

    return shown
