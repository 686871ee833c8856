"""Why library functions have no rule, for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .targets import resolve

# For each function, by id (the function is kept so that the id is not reused): the reason, and its name.
_STATED: dict[int, tuple[Any, str, str]] = {}
_AN_ERROR = "an exception or a warning: give it text, or numbers that do not vary"


def state_reasons(owner: Any, reasons: Mapping[str, str]) -> None:
    """Record why functions of a module or methods of a class, given by name, have no rule; names it does not
    have are skipped.

    A reason stated for a callable object also holds for its methods, and one stated for a method also holds
    for those that override it.
    """
    for name, reason in reasons.items():
        if (value := getattr(owner, name, None)) is not None:
            target, bound = resolve(value)
            target = value if bound and bound[-1] is value else target
            _STATED[id(target)] = target, reason, name


def reason_for(target: Any, *args: Any) -> str | None:
    """The reason stated for a call, or None.

    >>> import colorsys
    >>> state_reasons(colorsys, {"rgb_to_hsv": "use another space", "no_such_function": "there is none"})
    >>> reason_for(colorsys.rgb_to_hsv), reason_for(colorsys.hsv_to_rgb)
    ('use another space', None)
    """
    if isinstance(target, type) and issubclass(target, BaseException):
        return _AN_ERROR
    return next((stated[1] for one in _stated_of(target, args) if (stated := _stated(one))), None)


def object_name(target: Any, args: tuple[Any, ...]) -> str | None:
    """The name of the object whose method is called, if a reason was stated for the object: its methods have
    class names that users do not know.
    """
    stated = _stated(args[0]) if args and _is_method(target, args[0]) else None
    return None if stated is None else stated[2]


def _stated(one: Any) -> tuple[Any, str, str] | None:
    found = _STATED.get(id(one))
    return found if found is not None and found[0] is one else None


def _stated_of(target: Any, args: tuple[Any, ...]) -> Iterator[Any]:
    """Yield everything that may have a reason: the target, the methods that it overrides, the object it
    belongs to.
    """
    yield target
    if args and _is_method(target, args[0]):
        name: str = target.__name__
        for kind in type(args[0]).__mro__:
            yield vars(kind).get(name)
        yield args[0]


def _is_method(target: Any, owner: Any) -> bool:
    name = getattr(target, "__name__", "")
    return any(vars(kind).get(name) is target for kind in type(owner).__mro__)
