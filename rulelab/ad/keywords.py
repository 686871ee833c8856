"""Keywords that may be meant for the function instead of for the caller's derivative operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..annotations import signature_of_callable
from ..errors import KeywordError


def refuse_shared(f: Callable[..., Any], asked: str, **given: Any) -> None:
    """Raise KeywordError if a keyword given to `asked` is also the name of a parameter of `f`.

    It would be ambiguous, and `f` would silently be called without it. A keyword that is None counts as not
    given.

    >>> refuse_shared(lambda x, scale=1.0: x, "gradient", argnums=0)
    """
    named = [name for name, value in given.items() if value is not None]
    if not named:
        return
    try:
        parameters = signature_of_callable(f).parameters
    except (TypeError, ValueError):  # a C function without a signature
        return
    for name in named:
        if name in parameters:
            raise KeywordError(
                f"{name}= is a keyword of {asked} and a parameter of the function, so it is ambiguous",
                asked=f"{asked}(f, …, {name}=…)",
                fixes=(f"pass the function its {name} by position", f"wrap it: lambda x: f(x, {name}=…)"),
            )
