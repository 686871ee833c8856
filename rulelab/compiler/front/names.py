"""The names of values in the intermediate form, and the renaming of variables."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Mapping
from typing import Any

from ...parsing import cloned
from ..base.source import Source, codes_inside
from .jumps import RESULT

BUILTINS = vars(builtins)


class Names:
    """Gives every value a unique name, close to the author's."""

    def __init__(self, own: set[str], others: set[str]) -> None:
        self.own = set(own)
        self.taken = own | others | BUILTINS.keys()
        self.used: set[str] = set()
        self.maybe_unbound: set[str] = set()
        self._hidden = 0
        self._numbers: dict[str, int] = {}  # the last number used for each base

    def exact(self, name: str) -> str:
        """Use this very name."""
        self.used.add(name)
        return name

    def fresh(self, base: str) -> str:
        """A new name made from `base`."""
        base = base.lstrip(".")
        if base in self.own and base not in self.used:
            return self.exact(base)  # the first value of a local variable keeps its name
        number = self._numbers.get(base, 1)
        while (name := f"{base}_{number}") in self.taken or name in self.used:
            number += 1
        self._numbers[base] = number
        self.used.add(name)
        return name

    def hidden(self) -> str:
        """A new name for a variable that only the lowering has."""
        self._hidden += 1
        return f"..v{self._hidden}"


def target_base(target: ast.expr) -> str:
    """The base name for a value assigned to a target: the variable, or `t` if only the lowering has it."""
    if not isinstance(target, ast.Name) or target.id == RESULT or target.id.startswith(".."):
        return "t"
    return target.id.lstrip(".")


def name_base(name: str) -> str:
    """The base name for a value of this variable; `t` for a variable that only the lowering has."""
    return "t" if name.startswith(".") else name


def with_private_names(source: Source, code: types.CodeType) -> Source:
    """The source with private names in full, as in the code object: `__x` in a class is `_Class__x`."""
    codes = (code, *codes_inside(code))
    names = [n for c in codes for n in (*c.co_names, *c.co_varnames, *c.co_freevars, *c.co_cellvars)]
    known = {name for name in names if name.startswith("_") and "__" in name[1:]}
    if not known:
        return source
    private = {
        name
        for node in ast.walk(source.node)
        for name in (getattr(node, field, None) for field in _NAMING)
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__")
    }
    full = {
        name: found
        for name in private - known
        for found in known
        if found.startswith("_") and found.endswith(name)
    }
    if not full:
        return source
    return source.of(renamed(source.node, full, _NAMING))


_NAMING = ("id", "attr", "name", "rest", "asname")


def renamed(node: Any, renames: Mapping[str, str], fields: tuple[str, ...] = ("id",)) -> Any:
    """A copy of a tree with variables renamed; `fields` are the attributes of nodes that may hold a name."""
    new = cloned(node)
    for inner in ast.walk(new):
        for field in fields:
            name = getattr(inner, field, None)
            kept = isinstance(inner, (ast.FunctionDef, ast.alias)) and field == "name"
            if isinstance(name, str) and not kept:
                setattr(inner, field, renames.get(name, name))
    return new
