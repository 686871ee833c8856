"""Handlers: what stands for a call at run time and gives `(y, back)` for the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import heap, support
from .nesting import enter, leave

NO, ZERO = support.NO, support.ZERO


Handler = Callable[..., Any]


class Unsettled:
    """A handler that was found for these very arguments: others of the same types may need another."""

    __slots__ = ("call",)

    def __init__(self, call: Handler) -> None:
        self.call = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self.call(*args, **kwargs)


def attribute_of(name: str, owner: Any) -> Any:
    return getattr(owner, name)


def method_of(name: str, owner: Any) -> Any:
    """A method taken as a value: what flows to it is the object's, unless it is static or of the class."""
    method = getattr(owner, name)
    if getattr(method, "__self__", None) is not owner:
        return method, no_cotangents
    return method, lambda y_bar: (NO, y_bar)


def real_part(x: Any) -> Any:
    return x.real, lambda y_bar: (NO, support.real(y_bar))


def imaginary_part(x: Any) -> Any:
    return x.imag, lambda y_bar: (
        NO,
        1j * support.real(y_bar) if isinstance(x, (complex, np.complexfloating)) else ZERO,
    )


def constant(target: Any) -> Handler:
    """The handler of a call without derivative: every cotangent is NoTangent."""
    return lambda *args, **kwargs: (target(*args, **kwargs), no_cotangents)


def no_cotangents(y_bar: Any) -> Any:
    return NO  # each of its entries is itself


def with_bound(inner: Handler, bound: tuple[Any, ...]) -> Handler:
    """A handler that brings the object of a bound method along; its cotangent is that of the function."""

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


def without_owner(inner: Handler) -> Handler:
    """The handler of `owner.name(...)` from that of the bound method, whose own cotangent is the object's."""

    def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        y, pullback = inner(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (NO, *got)

        return y, heap.like(pullback, back)

    return call


def without_name(inner: Handler) -> Handler:
    """The handler of `getattr(x, name)` from that of `x.name`."""

    def call(x: Any, name: str) -> Any:
        y, pullback = inner(x)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (*got, NO)

        return y, back

    return call
