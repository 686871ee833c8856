"""What a caller asks in forward mode: the pushforward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compiler.heap import enter, leave
from ..errors import RuleLabError
from ..tangents.shadows import inner, natural
from ..tangents.zeros import NoTangent
from .reverse import _PULLBACKS, complete_error

NO = NoTangent()


def jvp(f: Any, args: tuple[Any, ...], tangents: tuple[Any, ...], kwargs: Any = None) -> tuple[Any, Any]:
    """`(y, y_dot)`"""
    words = dict(kwargs or {})
    dots = tuple([NO if t is None else inner(x, t) for x, t in zip(args, tangents, strict=True)])
    outer = enter()
    try:
        y, y_dot = _PULLBACKS.push(
            f, NO, (*args, *words.values()), (*dots, *(NO,) * len(words)), tuple(words)
        )
    except RuleLabError as error:
        complete_error(error, f, args)
        raise
    finally:
        leave(outer)
    return y, natural(y, y_dot)


def pushforward(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    def push(*tangents: Any) -> Any:
        return jvp(f, args, tangents, kwargs)[1]

    return push
