"""The RuleConfigs under which rules that call back into the AD are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ad import forward, reverse
from ...rules.authoring import frule, rrule
from ...rules.capabilities import RuleConfig
from ...tangents.zeros import NoTangent, ZeroTangent
from .differences import fd_jvp, fd_vjp


def ad_config() -> RuleConfig:
    """The config of rulelab's own AD, which a check passes to rules that take one."""
    return RuleConfig(reverse=_pullback, forwards=_pushforward)


def FiniteDifferenceConfig() -> RuleConfig:
    """A config for testing rules that call back into an AD: it uses rules where they exist, else differences.

    With it a rule is tested on its own, without any other part of an AD.

    >>> import math
    >>> y, back = FiniteDifferenceConfig().rrule_via_ad(lambda x: math.sin(x) * x, 1.0)
    >>> round(back(1.0)[1], 9)
    1.381773291
    """
    return RuleConfig(reverse=_measured_pullback, forwards=_measured_pushforward)


def _pullback(f: Callable, *args: Any, **kwargs: Any) -> tuple[Any, Callable]:
    y, back = reverse.pullback(f, *args, **kwargs)
    return y, lambda y_bar: (NoTangent(), *(_entry(x_bar) for x_bar in back(y_bar)))


def _pushforward(tangents: tuple, f: Callable, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return f(*args, **kwargs), forward.pushforward(f, *args, **kwargs)(*tangents[1:])


def _measured_pullback(f: Callable, *args: Any, **kwargs: Any) -> tuple[Any, Callable]:
    by_rule = rrule(f, *args, **kwargs)
    if by_rule is not None:
        return by_rule

    def called(*xs: Any) -> Any:
        return f(*xs, **kwargs)

    def pullback(y_bar: Any) -> tuple:
        return (NoTangent(), *(_entry(x_bar) for x_bar in fd_vjp(called, y_bar, *args)))

    return f(*args, **kwargs), pullback


def _measured_pushforward(tangents: tuple, f: Callable, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    by_rule = frule(tangents, f, *args, **kwargs)
    if by_rule is not None:
        return by_rule
    return f(*args, **kwargs), fd_jvp(lambda *xs: f(*xs, **kwargs), tuple(tangents[1:]), *args)


def _entry(x_bar: Any) -> Any:
    return ZeroTangent() if x_bar is None else x_bar
