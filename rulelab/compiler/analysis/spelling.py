"""Text made from varying values: if it were read back as a number, the derivative would be silently lost. (No
rule makes bytes: a call that makes them from varying values is a call of code without a rule.)"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...python_facts import CONTAINERS, KEEPS, names_that
from ...rules.kinds import STR
from ..base import ir
from ..base.liveness import joins_of, reads_of
from ..base.source import names_in
from .types import Types

_READERS = {  # module, name: functions that make numbers from text
    ("builtins", "float"),
    ("builtins", "int"),
    ("builtins", "complex"),
    ("builtins", "ord"),
    ("ast", "literal_eval"),
    ("json", "loads"),
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("numpy", "fromstring"),
    ("numpy", "float64"),
    ("numpy", "float32"),
}
_WRITERS = frozenset(
    {
        *(builtins.str, builtins.repr, builtins.ascii, builtins.format),
        *(builtins.bin, builtins.hex, builtins.oct, builtins.chr, str.format),
        *(np.array2string, np.array_repr, np.array_str, np.base_repr, np.binary_repr),
        *(np.format_float_positional, np.format_float_scientific),
    }
)
_INTO_FILES = frozenset({np.save, np.savez, np.savetxt})  # writing to their first argument
_KEEPING = names_that(KEEPS, *CONTAINERS) | {"write", "writelines"}  # methods of containers and streams
_CARRIERS = (
    ir.Binary,
    ir.Augmented,
    ir.Build,
    ir.Attribute,
    ir.Move,
    ir.Unpack,
    ir.Append,
    ir.Collect,
)
_MAKERS = (ir.Build, ir.Call, ir.Apply)  # operations that make containers, objects and streams


def reads_numbers(target: Any) -> bool:
    """Whether a function makes numbers from text."""
    return (getattr(target, "__module__", None), getattr(target, "__name__", None)) in _READERS


def readings(
    function: ir.Function, spelled: set[str], types: Types, is_harmless: Callable[[Any], bool]
) -> Iterator[ir.Let]:
    """The calls that are passed one of the names `spelled` and whose result is used other than in a raise: an
    error takes its message out of the function, or to a handler, which is checked for numbers in its turn.
    Nested functions that capture such a text and may read it are included.

    `is_harmless(callee)` says that the result of a known callable does not depend on the numbers in a text.
    """
    if not spelled:
        return
    used = _used(function)
    for statement in function.lets():
        op = statement.op
        if isinstance(op, ir.MakeFunction) and _reads_what_it_captures(op, spelled):
            yield statement
        if isinstance(op, (ir.Call, ir.Apply)) and statement.target not in spelled:
            handed = any(isinstance(atom, str) and atom in spelled for atom in op.operands()[1:])
            if handed and statement.target in used and not _harmless(types.callee(op), is_harmless):
                yield statement


def _used(function: ir.Function) -> set[ir.Atom | None]:
    """What is used other than in a raise. The code of a tangent takes the pair apart that each call returns:
    such a pair is used if one of its parts is.
    """
    found: set[ir.Atom | None] = {function.result}
    parts: list[tuple[str, ir.Atom]] = []
    for statement in function.statements():
        if isinstance(statement, ir.Let) and _takes_apart(statement.op):
            parts.append((statement.target, statement.op.operands()[0]))
        elif not isinstance(statement, ir.Raise):
            found |= set(reads_of(statement))
    while taken := {whole for name, whole in parts if name in found} - found:
        found |= taken
    return found


def _takes_apart(op: ir.Op) -> bool:
    return isinstance(op, ir.Item) and isinstance(op.index, ir.Const)


def _harmless(callee: Any, is_harmless: Callable[[Any], bool]) -> bool:
    if isinstance(callee, type):
        return issubclass(callee, BaseException)
    return callee is not ir.UNBOUND and not reads_numbers(callee) and is_harmless(callee)


def _reads_what_it_captures(op: ir.MakeFunction, spelled: set[str]) -> bool:
    """Whether a nested function captures a spelled text and mentions a function that reads numbers in it."""
    given = any(isinstance(atom, str) and atom in spelled for atom in op.operands())
    return given and not names_in(op.code).keys().isdisjoint({name for _, name in _READERS})


def spelled_out(function: ir.Function, varied: set[str], types: Types) -> set[str]:
    """The names of texts made from varying values, and of values that contain such texts."""
    spelled: set[str] = set()
    if not any(_begins(statement.op, varied, types) for statement in function.lets()):
        return spelled
    made = {s.target for s in function.lets() if isinstance(s.op, _MAKERS)}
    joins = [join for s in function.statements() for join in joins_of(s)]
    size = -1
    while size != len(spelled):
        size = len(spelled)
        for statement in function.lets():
            if _spells(statement.op, varied, spelled, types):
                spelled.add(statement.target)
            spelled |= {name for name in _keepers(statement.op, varied, spelled, types) if name in made}
        spelled |= {name for name, atoms in joins if not spelled.isdisjoint(atoms)}
    return spelled


def _begins(op: ir.Op, varied: set[str], types: Types) -> bool:
    """Whether an operation may make or write a text from a varying value, with no such text before it."""
    if isinstance(op, (ir.Format, ir.Call)) or (isinstance(op, ir.Binary) and op.operator == "mod"):
        return _spells(op, varied, set(), types) or bool(_keepers(op, varied, set(), types))
    return False


def _spells(op: ir.Op, varied: set[str], spelled: set[str], types: Types) -> bool:
    """Whether an operation makes a text from a varying value, or passes one on."""
    names = {atom for atom in op.operands() if isinstance(atom, str)}
    if isinstance(op, ir.Item):
        return op.value in spelled  # what a table holds under a text is not made from it
    if isinstance(op, ir.Binary) and op.operator == "mod" and types(op.left) == STR:
        return bool(names & (varied | spelled))
    if isinstance(op, _CARRIERS):
        return bool(names & spelled)
    if not names & (varied | spelled):
        return False
    if isinstance(op, ir.Format):
        return True
    if not isinstance(op, ir.Call):
        return False
    if op.method is not None and (
        types(op.function) == STR or (isinstance(op.function, str) and op.function in spelled)
    ):
        return True  # "{}".format(x), text.strip()
    if any(types.callee(op) is copier for copier in (list, tuple)):
        return bool(names & spelled)
    return any(types.callee(op) is writer for writer in _WRITERS)


def _keepers(op: ir.Op, varied: set[str], spelled: set[str], types: Types) -> set[ir.Atom]:
    """What contains a spelled text after an operation: a container, an object, or a stream written to."""
    if isinstance(op, ir.Write):
        return {op.target} if op.value in spelled else set()
    if not isinstance(op, ir.Call):
        return set()
    if op.method in _KEEPING:
        given = op.operands()[1:]
        return {op.function} if any(atom in spelled for atom in given) else set()
    callee, words = types.callee(op), dict(op.keywords)
    if callee is builtins.print and "file" in words:
        return {words["file"]} if any(atom in varied | spelled for atom in op.args) else set()
    if any(callee is writer for writer in _INTO_FILES):
        return {*op.args[:1]} if any(atom in varied for atom in op.operands()[2:]) else set()
    return set()
