"""Turns what captured functions hold, their own captured variables and defaults, into captured variables of
the function that captures them."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

from ...rules.kinds import Literal, Text
from ..base import ir
from ..base.liveness import use_counts

Free = tuple[Any, ...]  # the signatures of captured variables, in order


@dataclass(frozen=True)
class Held:
    """A captured function, with the atoms for its captured variables and its defaults."""

    code: types.CodeType
    captured: dict[str, ir.Atom]
    defaults: tuple[ir.Atom, ...]
    words: dict[str, ir.Atom]


def read_held(function: ir.Function, free: Free) -> tuple[Free, dict[str, Held]]:
    """Add what the captured functions hold to the function's captured variables. Returns the signatures of
    all captured variables, and a `Held` for each such function by name.
    """
    signatures, found = list(free), dict[str, Held]()

    def atom(owner: str, name: str, where: str, part: Any) -> ir.Atom:
        if isinstance(part, Literal):
            return ir.Const(part.value)
        given = function.fresh(name)
        function.free.append(given)
        function.within[given] = (owner, where)
        signatures.append(part)
        if isinstance(part, Text):
            take(given, part)
        return given

    def take(owner: str, text: Text) -> None:
        code = text.code()
        if code is None:
            return
        count = code.co_argcount
        names = code.co_varnames[count - len(text.defaults) : count]
        captured = {
            name: atom(owner, name, f".__closure__[{number}].cell_contents", part)
            for number, (name, part) in enumerate(zip(code.co_freevars, text.captured, strict=True))
        }
        defaults = tuple(
            [
                atom(owner, name, f".__defaults__[{number}]", part)
                for number, (name, part) in enumerate(zip(names, text.defaults, strict=True))
            ]
        )
        words = {name: atom(owner, name, f".__kwdefaults__[{name!r}]", part) for name, part in text.words}
        found[owner] = Held(code, captured, defaults, words)

    for name, part in zip(list(function.free), free, strict=True):
        if isinstance(part, Text):
            take(name, part)
    return tuple(signatures), found


def leave_unread(function: ir.Function, free: Free) -> Free:
    """Remove the variables added by `read_held` that are not read. Returns the signatures of the rest."""
    uses = use_counts(function)
    read = {name for name in function.free if name not in function.within or uses[name]}
    for name in reversed(function.free):  # a variable comes after the one from which it is read
        if name in read and name in function.within:
            read.add(function.within[name][0])
    kept = [(name, part) for name, part in zip(function.free, free, strict=True) if name in read]
    function.free = [name for name, _ in kept]
    function.within = {name: where for name, where in function.within.items() if name in read}
    return tuple([part for _, part in kept])
