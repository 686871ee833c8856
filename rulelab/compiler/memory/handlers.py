"""Handlers: functions that replace a call at run time and return `(y, back)` for the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.nesting import enter, leave
from ..base.question import Handler as Handler
from . import heap, support

NO, ZERO = support.NO, support.ZERO


class Uncached:
    """A handler for these very arguments only: others of the same types may need a different one."""

    __slots__ = ("call",)

    def __init__(self, call: Handler) -> None:
        self.call = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self.call(*args, **kwargs)


def attribute_of(name: str, owner: Any) -> Any:
    return getattr(owner, name)


def method_of(name: str, owner: Any) -> Any:
    """A method read as a value: its cotangent is the object's, unless it is a static or class method."""
    method = getattr(owner, name)
    return method, (lambda y_bar: (NO, y_bar)) if is_bound_to(method, owner) else no_cotangents


def is_bound_to(method: Any, owner: Any) -> bool:
    """Whether a method is bound to this object, or to the object of a `super()`."""
    bound = getattr(method, "__self__", None)
    return bound is owner or (isinstance(owner, super) and bound is owner.__self__)  # type: ignore[attr-defined]


def real_part(x: Any) -> Any:
    return x.real, lambda y_bar: (NO, support.real(y_bar))


def imaginary_part(x: Any) -> Any:
    return x.imag, lambda y_bar: (
        NO,
        1j * support.real(y_bar) if isinstance(x, (complex, np.complexfloating)) else ZERO,
    )


def constant(target: Any) -> Handler:
    """The handler of a call without a derivative: every cotangent is NoTangent."""
    return lambda *args, **kwargs: (target(*args, **kwargs), no_cotangents)


def no_cotangents(y_bar: Any) -> Any:
    return NO  # each entry of NoTangent is NoTangent


def with_bound(inner: Handler, bound: tuple[Any, ...]) -> Handler:
    """A handler that also passes a bound method's object, whose cotangent becomes the method's."""

    def call_bound(*args: Any, **kwargs: Any) -> Any:
        enter()
        try:
            y, pullback = inner(*bound, *args, **kwargs)
        finally:
            leave()

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (got[len(bound)], *tuple(got)[1 + len(bound) :])

        return y, heap.like(pullback, back)

    return call_bound


def rearranged(pullback: Any, order: Callable[[tuple[Any, ...]], Any]) -> Callable[[Any], Any]:
    """A pullback that returns `order(cotangents)`, for a call with other arguments, or in another order."""

    def back(y_bar: Any) -> Any:
        __tracebackhide__ = True
        got = pullback(y_bar)
        return got if got is NO else order(tuple(got))

    return heap.like(pullback, back)


def without_owner(inner: Handler) -> Handler:
    """The handler of `owner.name(...)` from that of the bound method, whose cotangent is the owner's."""

    def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        y, pullback = inner(*args, **kwargs)
        return y, rearranged(pullback, lambda got: (NO, *got))

    return call


def without_name(inner: Handler) -> Handler:
    """The handler of `getattr(x, name)`, or with a default, from that of `x.name`."""

    def call(x: Any, name: str, *default: Any) -> Any:
        y, pullback = inner(x)
        return y, rearranged(pullback, lambda got: (*got, NO, *(ZERO for _ in default)))

    return call


def default_of(x: Any, name: str, default: Any) -> Any:
    """`getattr(x, name, default)` for a missing attribute, with its pullback."""
    return default, lambda y_bar: (NO, ZERO, NO, y_bar)
