"""Handlers: what stands for a call at run time and gives `(y, back)` for the same arguments."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from . import heap, support

NO, ZERO = support.NO, support.ZERO


Handler = Callable[..., Any]


def attribute_of(name: str, owner: Any) -> Any:
    return getattr(owner, name)


def method_of(name: str, owner: Any) -> Any:
    """A method taken as a value: what flows to it is the object's, unless it is static or of the class."""
    method = getattr(owner, name)
    if getattr(method, "__self__", None) is not owner:
        return method, no_cotangents
    return method, lambda y_bar: (NO, y_bar)


def indexable(x: Any) -> Any:
    """What a loop runs over, as something with positions; what flows to it is its own if it has them."""
    y = support.indexable(x)
    if y is x:
        return y, lambda y_bar: (NO, y_bar)
    return y, lambda y_bar: _nothing_lost(x, y, y_bar)


def _nothing_lost(x: Any, items: tuple[Any, ...], y_bar: Any) -> Any:
    """NoTangent for what was handed out by something without positions; an error if that is not all."""
    y_bar = support.settle(support.value(y_bar))
    return NO if y_bar is ZERO or y_bar is NO else heap.nothing_lost(x, items, y_bar)


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
        y, pullback = inner(*bound, *args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            return got if got is NO else (got[len(bound)], *tuple(got)[1 + len(bound) :])

        return y, heap.like(pullback, back)

    return call_bound


def of_attribute(inner: Handler, name: str) -> Handler:
    """A handler of `owner.name(...)` where that is no method but a value: the cotangent of what is called is
    that of the attribute.
    """

    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        y, pullback = inner(*args, **kwargs)
        is_part = name in getattr(owner, "__dict__", ()) and not isinstance(owner, (types.ModuleType, type))

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            if got is NO:
                return got
            return (NO, heap.put_attribute(owner, name, got[0]) if is_part else NO, *tuple(got)[1:])

        return y, heap.like(pullback, back)

    return call
