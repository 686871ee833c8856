"""Read and restore the contents of mutable containers and objects."""

from __future__ import annotations

import types
from collections import deque
from typing import Any


def own_attributes(x: Any) -> dict[str, Any]:
    """All attributes in the instance `__dict__` and the slots of an object, whatever attribute access its
    class defines.
    """
    try:
        found = dict(object.__getattribute__(x, "__dict__"))
    except Exception:  # it has none
        found = {}
    for name, slot in slots_of(type(x)).items():
        try:
            found[name] = slot.__get__(x)
        except AttributeError:  # not assigned
            continue
    return found


def slots_of(cls: type) -> dict[str, types.MemberDescriptorType]:
    return {
        name: part
        for base in reversed(cls.__mro__)
        for name, part in vars(base).items()
        if isinstance(part, types.MemberDescriptorType)
    }


def contents_of(x: Any) -> Any:
    """The contents of a container or object, from which `fill` can restore it."""
    if isinstance(x, (list, deque)):
        return list(x)
    return dict(x) if isinstance(x, dict) else own_attributes(x)


def fill(x: Any, contents: Any) -> None:
    """Replace the contents of `x` by these."""
    if isinstance(x, (list, deque)):
        x.clear()
        x.extend(contents)
    elif isinstance(x, dict):
        x.clear()
        x.update(contents)
    else:
        slots = slots_of(type(x))
        for name in slots.keys() & own_attributes(x).keys() - contents.keys():
            slots[name].__delete__(x)
        for name in slots.keys() & contents.keys():
            slots[name].__set__(x, contents[name])
        if hasattr(x, "__dict__"):
            vars(x).clear()
            vars(x).update((name, part) for name, part in contents.items() if name not in slots)
