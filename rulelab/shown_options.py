"""Options that a function passes on, shown as its own parameters in completion, `help` and documentation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .nearest import did_you_mean

Shown = TypeVar("Shown", bound=Callable[..., Any])


def shows_options_of(other: Callable[..., Any], *, but: tuple[str, ...] = ()) -> Callable[[Shown], Shown]:
    """A decorator for a function that passes its `**options` on to `other`, except those in `but`, which it
    does not accept. An unknown name raises TypeError with the most similar option; `other` would name only
    itself.

    >>> def drawn(x, *, width=1.0, colour="black"): ...
    >>> @shows_options_of(drawn, but=("colour",))
    ... def drawn_in_red(x, **options): drawn(x, colour="red", **options)
    >>> str(inspect.signature(drawn_in_red))
    '(x, *, width=1.0)'
    >>> drawn_in_red(1, widht=2.0)
    Traceback (most recent call last):
        ...
    TypeError: drawn_in_red() got an unexpected keyword argument 'widht'; did you mean width?
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
        seen = signature.replace(parameters=[*own, *handed_on])
        known = {*seen.parameters, *inspect.signature(other).parameters}

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            for name in kwargs:
                if name not in known:
                    near = did_you_mean(name, [one.name for one in handed_on])
                    said = f"{function.__name__}() got an unexpected keyword argument {name!r}{near}"
                    raise TypeError(said)
            return function(*args, **kwargs)

        checked.__signature__ = seen  # type: ignore[attr-defined]
        return cast(Shown, checked)

    return shown
