"""Writes into containers and objects at run time: they are done and recorded if the old value is known, else
refused before they happen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Place
from ..base.classes import is_generated, written_in_python
from ..base.refusals import mutation
from . import containers, heap
from .handlers import NO, ZERO, Handler, rearranged
from .operands import describe

if TYPE_CHECKING:
    from ..base.question import Question

METHODS = {
    "item": "__setitem__",
    "delete item": "__delitem__",
    "attribute": "__setattr__",
    "delete attribute": "__delattr__",
}
_RECORDED: dict[str, Callable[..., Any]] = {
    "item": containers.write_item,
    "delete item": lambda target, key, _: containers.delete_item(target, key),
    "attribute": containers.write_attribute,
    "delete attribute": containers.delete_attribute,
    "cell": containers.write_cell,
}
_OF_PYTHON = frozenset({list, dict})  # no author's method writes their items


def write_finder(pullbacks: Question, kind: str, place: Place | None) -> Handler:
    """A function that finds the handler of a write such as `target[key] = value`, given the three; `kind` is
    a key of `_RECORDED`. The handler returns `(None, back)`.
    """
    of_items, recorded = kind.endswith("item"), _RECORDED[kind]

    def find(target: Any, key: Any, value: Any) -> Handler:
        if kind == "cell":
            return containers.write_cell
        if of_items and type(target) in _OF_PYTHON:
            if not heap.is_followed(target):
                raise refusal(target, kind, key, place)
            return recorded
        method, args = _by_author(kind, target, key, value)
        if method is not None:
            return _by_method(pullbacks.find_target(method, args, {}, (True,) * (1 + len(args)), place), kind)
        has_such = not of_items or isinstance(target, containers.WITH_ITEMS)
        if not heap.is_followed(target) or not has_such:
            raise refusal(target, kind, key, place)
        return recorded

    return find


def attribute_writer(pullbacks: Question, target: Any, place: Place | None) -> Handler:
    """The handler of `setattr(x, name, value)` or `delattr(x, name)` on an object made during this sweep."""
    find = write_finder(pullbacks, "attribute" if target is setattr else "delete attribute", place)

    def write(x: Any, name: str, *value: Any) -> Any:
        given = (x, name, *(value or (None,)))
        nothing, back = find(*given)(*given)

        return nothing, rearranged(back, lambda got: got[: 3 + len(value)])

    return write


def write_plain(pullbacks: Question, kind: str, place: Place) -> Callable[[Any, Any, Any], None]:
    """A function that does a write without recording it, for containers of this sweep without cotangents."""

    def write(target: Any, key: Any, value: Any) -> None:
        if kind == "cell":
            if heap.is_own(target) and not heap.may_change_unseen(target):
                raise refusal(target, kind, key, place)
            containers.write_cell(target, key, value)
            return
        method, args = _by_author(kind, target, key, value)
        if method is not None:
            pullbacks.run_plain(method, args, {}, (False,) * (1 + len(args)), place)
            return
        if not heap.may_change_unseen(target):
            raise refusal(target, kind, key, place)
        _RECORDED[kind](target, key, value)

    return write


def refusal(target: Any, kind: str, key: Any, place: Place | None) -> Exception:
    """The MutationError for a write to a value that was not made during this sweep."""
    owner = "ndarray" if isinstance(target, np.ndarray) else type(target).__name__
    method = METHODS.get(kind, "__setattr__")
    shown = f"({key!r})" if kind.endswith("attribute") else f"({describe(target)})"
    return mutation(f"{owner}.{method}{shown}", place, isinstance(target, np.ndarray))


def _by_author(kind: str, target: Any, key: Any, value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The author's method that a write runs, or None if the class has none, and the arguments for it."""
    found = getattr(type(target), key, None) if kind.endswith("attribute") else None
    if isinstance(found, property):
        return (found.fset, (target, value)) if kind == "attribute" else (found.fdel, (target,))
    given = (target, key, value) if kind in ("item", "attribute") else (target, key)
    method = written_in_python(type(target), METHODS[kind])
    return (None if is_generated(method) else method), given


def _by_method(inner: Handler, kind: str) -> Handler:
    """The handler of a write done by the author's method, which may not take the key or the value."""

    def write(target: Any, key: Any, value: Any) -> Any:
        _, pullback = inner(*_by_author(kind, target, key, value)[1])

        def back(_: Any) -> Any:
            got = ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)
            if got is NO or got is ZERO:
                return NO, ZERO, NO, ZERO
            value_bar = got[-1] if kind in ("item", "attribute") else NO
            return NO, got[1], got[2] if kind.endswith("item") else NO, value_bar

        return None, heap.effectful(back)

    return write
