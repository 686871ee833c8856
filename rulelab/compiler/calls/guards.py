"""The quick test of a guard: one expression that checks that names and attributes still refer to the same
objects.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from ...parsing import compiled

Namespace = dict[str, Any]
WORTH_IT = 8  # calls of a guard, after which a quick test is compiled
_Attributes = tuple[tuple[Any, str, Any], ...]


def never(namespace: Namespace) -> bool:
    """The quick test that always fails, used when there is none."""
    return False


def quick_test(
    exact: dict[str, Any], attributes: _Attributes, namespace: Namespace
) -> Callable[[Namespace], bool]:
    """A quick test that globals and builtins are the objects in `exact`, and that the attributes, given as
    (module or class, attribute, object), are these objects; a failure proves nothing.
    """
    globals_now = {name: name in namespace for name in exact}
    owners = {id(owner): owner for owner, _, _ in attributes}
    numbers = {key: number for number, key in enumerate(owners)}
    named = tuple((numbers[id(owner)], name) for owner, name, _ in attributes)
    make = _maker(tuple(globals_now.items()), named)
    values = tuple(value for *_, value in attributes)
    test = make(vars(builtins), tuple(exact.values()), tuple(owners.values()), values)
    return test if test(namespace) else never


@functools.cache
def _maker(
    names: tuple[tuple[str, bool], ...], attributes: tuple[tuple[int, str], ...]
) -> Callable[..., Any]:
    """A function that makes the test for names, each with whether it is a global, and attributes of numbered
    owners.
    """
    asked = [
        f"namespace[{name!r}] is x{number}"
        if is_global
        else f"{name!r} not in namespace and standard[{name!r}] is x{number}"
        for number, (name, is_global) in enumerate(names)
    ]
    asked += [f"owner{owner}.{name} is y{number}" for number, (owner, name) in enumerate(attributes)]
    owners = sorted({owner for owner, _ in attributes})
    text = [
        "def make(standard, xs, owners, ys):",
        *(f"    x{number} = xs[{number}]" for number in range(len(names))),
        *(f"    owner{number} = owners[{number}]" for number in owners),
        *(f"    y{number} = ys[{number}]" for number in range(len(attributes))),
        "    def test(namespace):",
        "        try:",
        f"            return {' and '.join(asked) or 'True'}",
        "        except (AttributeError, KeyError):",
        "            return False",
        "    return test",
    ]
    made: dict[str, Any] = {}
    exec(compiled("\n".join(text), "<guard>"), made)
    return made["make"]
