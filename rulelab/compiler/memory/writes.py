"""Writes into containers and objects at run time: they are done and recorded if the old value is known, else
refused before they happen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Place
from ..base.classes import in_class, is_generated, written_in_python
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
_WRITERS = {setattr: "attribute", object.__setattr__: "attribute", delattr: "delete attribute"}


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
            return _by_method(pullbacks, method, args, target, kind, place)
        has_such = not of_items or isinstance(target, containers.WITH_ITEMS)
        if not heap.is_followed(target) or not has_such:
            raise refusal(target, kind, key, place)
        return recorded

    return find


def writes_attribute(target: Any) -> bool:
    """Whether a function sets or deletes an attribute of its first argument."""
    return any(target is writer for writer in _WRITERS)


def attribute_writer(pullbacks: Question, target: Any, place: Place | None) -> Handler:
    """The handler of `setattr(x, name, value)`, `object.__setattr__(x, name, value)` or `delattr(x, name)` on
    an object made during this sweep.
    """
    kind = _WRITERS[target]
    find = write_finder(pullbacks, kind, place)

    def write(x: Any, name: str, *value: Any) -> Any:
        given = (x, name, *(value or (None,)))
        if target is object.__setattr__:
            method, args = _by_descriptor(kind, *given)
            done = method and _by_method(pullbacks, method, args, x, kind, place)
            nothing, back = (done or containers.set_attribute)(*given)
        else:
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
    given = (target, key, value) if kind in ("item", "attribute") else (target, key)
    method = written_in_python(type(target), METHODS[kind])
    if method is not None and not is_generated(method):
        return method, given
    if not kind.endswith("attribute") or METHODS[kind] in vars(type(target)):  # that of a frozen class raises
        return None, given
    return _by_descriptor(kind, target, key, value)


def _by_descriptor(kind: str, target: Any, name: str, value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The method of a property or another descriptor that a write to an attribute runs, or None if there is
    none, and its arguments.
    """
    found, sets = in_class(type(target), name), kind == "attribute"
    given = (target, value) if sets else (target,)
    if isinstance(found, property):
        return found.fset if sets else found.fdel, given
    return written_in_python(type(found), "__set__" if sets else "__delete__"), (found, *given)


def _by_method(
    pullbacks: Question, method: Any, args: tuple[Any, ...], target: Any, kind: str, place: Place | None
) -> Handler:
    """The handler of a write done by the author's method, which may not take the key or the value; a
    descriptor belongs to its class and is constant.
    """
    of_target = next(k for k, x in enumerate(args) if x is target)
    flags = (True, *(k >= of_target for k in range(len(args))))
    inner = pullbacks.find_target(method, args, {}, flags, place)

    def write(target: Any, key: Any, value: Any) -> Any:
        _, pullback = inner(*args)

        def back(_: Any) -> Any:
            got = ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)
            if got is NO or got is ZERO:
                return NO, ZERO, NO, ZERO
            value_bar = got[-1] if kind in ("item", "attribute") else NO
            return NO, got[1 + of_target], got[2] if kind.endswith("item") else NO, value_bar

        return None, heap.effectful(back)

    return write
